//! Rewrites blocks from their whole channels; fills other channels and drops what violates
//! the format.

use crate::damage::{Code, Level};
use crate::godot::block::{self, Block};
use crate::godot::byte_order::ByteOrder;
use crate::godot::channel::{CHANNELS, Channel, Depth, Storage};
use crate::godot::container::{self, Mode};
use crate::godot::metadata::Metadata;
use crate::godot::region::{Format, Header, MOST_SECTORS, sectors_for};
use crate::limits::Limits;
use crate::save::{Scratch, wanted};

/// Channels whose values are plain numbers in every depth: TYPE and DATA5 to DATA7. The others mean something else in
/// another depth.
const NUMBERS: [usize; 4] = [0, 5, 6, 7];

/// The write size of the C library: a page of the file.
const PAGE: u64 = 4096;

/// Number of zero bytes at the end of a torn block from which on they count as never written.
const ZEROS: usize = 8;

/// How a block is rewritten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mend {
    /// Channels that are filled, each with one value.
    pub filled: Vec<(usize, u64)>,
    /// Whether the readable part of its metadata is kept.
    pub metadata: bool,
}

/// The most frequent uniform value of each channel in a region.
#[derive(Debug, Default)]
pub(super) struct Common {
    seen: usize,
    values: [Vec<(u64, usize)>; CHANNELS],
}

impl Common {
    /// Counts a stored block.
    pub fn add(&mut self, stored: &[u8], header: &Header, limits: &Limits, scratch: &mut Scratch) {
        let view = scratch.interpret_bytes(stored, 0, header, None, limits);
        let Some(block) = view.block else { return };
        self.seen += 1;
        for (channel, values) in block.channels.iter().zip(&mut self.values) {
            let Some(value) = channel.value(0).filter(|_| channel.storage == Storage::Uniform) else { continue };
            match values.iter_mut().find(|(v, _)| *v == value) {
                Some((_, n)) => *n += 1,
                None => values.push((value, 1)),
            }
        }
    }

    /// The uniform value of more than half of the blocks.
    fn value(&self, channel: usize) -> Option<u64> {
        let most = self.values.get(channel)?.iter().max_by_key(|(_, n)| *n)?;
        (2 * most.1 > self.seen).then_some(most.0)
    }
}

/// A block of a source region for a target region.
#[derive(Clone, Copy)]
pub(super) struct Job<'j> {
    /// The size prefix and the container, as far as they are in the file.
    pub stored: &'j [u8],
    /// The header of the source region.
    pub from: &'j Header,
    /// The layout of the target region.
    pub to: &'j Format,
    pub limits: &'j Limits,
}

impl Job<'_> {
    /// Rewrites the block: its size prefix and its container. `None` if that is not possible.
    pub fn apply(&self, mend: &Mend) -> Option<Vec<u8>> {
        let mut scratch = Scratch::default();
        let view = scratch.interpret_bytes(self.stored, 0, self.from, None, self.limits);
        let (container, block) = (view.container?, view.block?);
        if block.size != self.to.layout().size {
            return None;
        }
        let mut data: Vec<(Depth, Storage, Vec<u8>)> = Vec::with_capacity(CHANNELS);
        for i in 0..CHANNELS {
            let depth = *self.to.depths.get(i)?;
            let fill = mend.filled.iter().find(|(channel, _)| *channel == i);
            data.push(match fill {
                Some((_, value)) => (depth, Storage::Uniform, value.to_le_bytes().get(..depth.bytes())?.to_vec()),
                None => fitted(block.channels.get(i).filter(|c| c.is_whole())?, i, depth),
            });
        }
        let channel = |(depth, storage, data): &'_ (Depth, Storage, Vec<u8>)| (*depth, *storage, data.len() as u64);
        let channels = data.iter().map(|part| {
            let (depth, storage, size) = channel(part);
            Channel { depth, storage, data: &part.2, offset: 0, size }
        });
        let metadata = block.metadata.clone().filter(|_| mend.metadata).map(|metadata| Metadata {
            voxels: metadata
                .voxels
                .into_iter()
                .filter(|item| item.position.iter().zip(block.size).all(|(at, size)| *at < size))
                .collect(),
            ..metadata
        });
        let block =
            Block { version: block.version, size: block.size, channels: channels.collect(), metadata, epilogue: None };
        let mut plain = Vec::new();
        block::encode(&block, &mut plain);
        // If the compression is unknown, use the current engine's default.
        [container.mode.map_or(Mode::Lz4, Mode::writable), Mode::Lz4].into_iter().find_map(|mode| {
            let mut out = vec![0; 4];
            container::encode(mode, &plain, &mut out);
            let size = u32::try_from(out.len() - 4).ok()?;
            out[..4].copy_from_slice(&size.to_le_bytes());
            (sectors_for(size.into(), self.to.sector_size) <= MOST_SECTORS).then_some(out)
        })
    }

    /// Whether a stored block is whole and has the target's layout.
    pub fn is_healthy(&self) -> bool {
        let header = Header { format: *self.to, ..self.from.clone() };
        let mut scratch = Scratch::default();
        let view = scratch.interpret_bytes(self.stored, 0, &header, None, self.limits);
        let whole = view.container.is_some_and(|c| c.whole) && view.block.is_some_and(|b| b.epilogue.is_some());
        let fits = sectors_for((self.stored.len() as u64).saturating_sub(4), self.to.sector_size) <= MOST_SECTORS;
        whole && fits && view.damage.iter().all(|d| d.code.level() < Level::Warning)
    }

    /// How to rewrite a block that can be read completely but violates the format.
    pub fn set_right(&self) -> Option<Mend> {
        let mend = Mend { filled: Vec::new(), metadata: true };
        self.try_out(mend)
    }

    /// The number of reliable bytes of a torn block that begins at offset `at` of its file;
    /// `to_the_end` says that the file ends with these bytes.
    ///
    /// New bytes over the start of a block may continue to decode into the old bytes after them, giving nonsense.
    /// The C library writes pages of the file, so nothing after the first border between two pages is reliable.
    pub fn reliable(&self, at: u64, to_the_end: bool) -> usize {
        let mut scratch = Scratch::default();
        let view = scratch.interpret_bytes(self.stored, 0, self.from, None, self.limits);
        let all = self.stored.len();
        let channels = view.block.as_ref().map_or(0, Block::whole_channels);
        let end = view.container.is_some_and(|c| c.whole) || view.block.is_some_and(|b| b.epilogue.is_some());
        let complete = end && channels == CHANNELS;
        if complete || to_the_end {
            return all;
        }
        let size = wanted(self.stored, self.limits).min(all);
        let data = self.stored[..size].iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
        if size - data >= ZEROS {
            return data;
        }
        let border = PAGE - at % PAGE;
        usize::try_from(border).ok().filter(|&n| n < size).unwrap_or(0)
    }

    /// How to rewrite a torn block: keeps whole channels, and fills the others with
    /// the most frequent value of the region. `None` if no channel is whole, if most blocks have no such value, or
    /// if this block is known to have another one.
    pub fn salvage(&self, common: &Common) -> Option<Mend> {
        let mut scratch = Scratch::default();
        let view = scratch.interpret_bytes(self.stored, 0, self.from, None, self.limits);
        let lost = view.damage.iter().any(|d| matches!(d.code, Code::ContainerChecksum | Code::BlockSize));
        let whole = view.block.as_ref().map_or(0, Block::whole_channels);
        // A raw channel is not uniform like those of the other blocks.
        let raw = view.block.and_then(|block| block.channels.get(whole).map(|c| c.storage == Storage::Raw));
        if whole == 0 || lost || raw == Some(true) {
            return None;
        }
        let filled: Option<Vec<(usize, u64)>> = (whole..CHANNELS).map(|i| Some((i, common.value(i)?))).collect();
        let mend = Mend { filled: filled?, metadata: whole == CHANNELS };
        self.try_out(mend.clone()).or_else(|| self.try_out(Mend { metadata: false, ..mend }))
    }

    /// How to rewrite a whole block without its metadata.
    pub fn voxels_alone(&self) -> Option<Mend> {
        self.try_out(Mend::default())
    }

    fn try_out(&self, mend: Mend) -> Option<Mend> {
        let stored = self.apply(&mend)?;
        // What is written is little-endian.
        let from = &Header { byte_order: ByteOrder::Little, ..self.from.clone() };
        Job { stored: &stored, from, ..*self }.is_healthy().then_some(mend)
    }
}

/// A channel converted to a depth, if its values are plain numbers; otherwise unchanged.
fn fitted(channel: &Channel<'_>, index: usize, depth: Depth) -> (Depth, Storage, Vec<u8>) {
    let bits = u32::from(depth.bits());
    let fits = |value: u64| bits == 64 || value >> bits == 0;
    if channel.depth == depth || !NUMBERS.contains(&index) || !channel.values().all(fits) {
        return (channel.depth, channel.storage, channel.data.to_vec());
    }
    let mut data = Vec::with_capacity(channel.data.len() / channel.depth.bytes() * depth.bytes());
    for value in channel.values() {
        data.extend(value.to_le_bytes().into_iter().take(depth.bytes()));
    }
    (depth, channel.storage, data)
}
