//! Examines each row: which parts are whole, and how a damaged block can be rewritten.

use std::cell::RefCell;
use std::io;

use xxhash_rust::xxh3::Xxh3;

use crate::bytes::Span;
use crate::check::row_batches;
use crate::damage::{Code, Damage, Level};
use crate::godot::block::Block;
use crate::godot::byte_order::ByteOrder;
use crate::godot::channel::{CHANNELS, Depth};
use crate::godot::region::{Format, Header};
use crate::godot::stream::loc::Key;
use crate::limits::Limits;
use crate::parallel;
use crate::repair::mend::{Common, Job, Mend};
use crate::repair::stream::plain::PlainRows;
use crate::save::{Blob, OwnedKey, Scratch, Stream, StreamRow, StreamScratch};
use crate::source::FileSource;
use crate::sqlite::walk::{Owners, Use};
use crate::watch::Watch;

/// Number of blocks from which the most frequent values of channels are taken.
const SAMPLES: usize = 256;

/// The largest sector size. A block of a stream has no sectors; only one that no region could hold is too large.
const SECTOR: u32 = 65_535;

/// The state of a row's blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// NULL.
    Null,
    /// Healthy.
    Whole,
    /// Readable, but it violates the format.
    Odd,
    /// The engine refuses it.
    Broken(BlobFault),
}

/// Why the engine refuses a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlobFault {
    /// It has this damage.
    Damage(Code),
    /// Its end is missing.
    Cut,
    /// The block is of another type than a blob.
    NoBlob,
    /// The instances are of another type than a blob.
    NoInstanceBlob,
    /// The block has another size than those of the stream.
    Size,
}

impl BlobFault {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Damage(code) => code.title(),
            Self::Cut => "it breaks off",
            Self::NoBlob => "it is no blob",
            Self::NoInstanceBlob => "they are no blob",
            Self::Size => "its block has another size than those of the stream",
        }
    }
}

impl State {
    pub const fn is_read(self) -> bool {
        matches!(self, Self::Whole | Self::Odd)
    }

    fn new(damage: &[Damage], whole: bool) -> Self {
        let worst = damage.iter().max_by_key(|d| (d.code.hides_data(), d.code.level()));
        match worst {
            Some(d) if d.code.hides_data() => Self::Broken(BlobFault::Damage(d.code)),
            _ if !whole => Self::Broken(BlobFault::Cut),
            Some(d) if d.code.level() >= Level::Warning => Self::Odd,
            _ => Self::Whole,
        }
    }
}

/// An examined row.
#[derive(Debug)]
pub(super) struct Seen {
    pub key: OwnedKey,
    /// Whether its columns can be read.
    pub readable: bool,
    pub voxels: State,
    pub instances: State,
    /// Whether the instances are complete but in a container that the engine refuses.
    pub rewrap_instances: bool,
    /// Voxels along an axis of its block, if it is a cube.
    pub side: u16,
    /// Hash of all values except the key.
    pub content: u128,
    /// Hash of the stored block; 0 if there is none.
    pub block: u128,
    /// Whether another row shares some of its pages.
    pub shared: bool,
    /// Whether the chain of its pages is damaged, even if no byte is lost.
    pub broken: bool,
    /// Whether its chain begins in pages of something else, so that they were not read.
    pub refused: bool,
}

/// Examined rows by their numbers: all rows of a stream, or some of them.
#[derive(Debug, Default)]
pub(super) struct SeenRows {
    /// The numbers in ascending order; `None` if all rows are there.
    numbers: Option<Vec<u32>>,
    seen: Vec<Seen>,
}

impl SeenRows {
    /// Some rows with their numbers in ascending order.
    pub const fn some(numbers: Vec<u32>, seen: Vec<Seen>) -> Self {
        Self { numbers: Some(numbers), seen }
    }

    /// A row by its number, if it is one of these.
    pub fn get(&self, number: u32) -> Option<&Seen> {
        match &self.numbers {
            Some(numbers) => self.seen.get(numbers.binary_search(&number).ok()?),
            None => self.seen.get(number as usize),
        }
    }

    /// The rows with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Seen)> {
        let number = |(at, seen)| {
            let number = self.numbers.as_ref().and_then(|numbers| numbers.get(at as usize).copied());
            (number.unwrap_or(at), seen)
        };
        (0u32..).zip(&self.seen).map(number)
    }

    pub fn as_slice(&self) -> &[Seen] {
        &self.seen
    }
}

thread_local! {
    static BUFFERS: RefCell<StreamScratch> = RefCell::default();
}

/// Below this, a float has every whole number exactly.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// Hash of values, including their types and lengths.
pub(super) fn hash<'k>(values: impl Iterator<Item = Key<'k>>) -> u128 {
    let mut hasher = Xxh3::new();
    let mut put = |kind: u8, bytes: &[u8]| {
        hasher.update(&[kind]);
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    for value in values {
        match value {
            Key::Null => put(0, &[]),
            Key::Int(n) => put(1, &n.to_le_bytes()),
            // In a column of the type REAL, SQLite may store a whole number as an integer or as a float.
            Key::Float(n) if n.fract() == 0.0 && n.abs() < WHOLE => put(1, &(n as i64).to_le_bytes()),
            Key::Float(n) => put(2, &n.to_bits().to_le_bytes()),
            Key::Text(bytes) => put(3, bytes),
            Key::Blob(bytes) => put(4, bytes),
        }
    }
    hasher.digest128()
}

/// Examines rows without comparing the sizes of their blocks with that of the settings, which may be wrong.
pub(super) fn without_size<T>(stream: &mut Stream<FileSource>, examine: impl FnOnce(&Stream<FileSource>) -> T) -> T {
    let said = std::mem::take(&mut stream.meta.block_size_po2);
    let examined = examine(stream);
    stream.meta.block_size_po2 = said;
    examined
}

/// Examines every row. Also returns the owners of pages.
pub(super) fn all(stream: &Stream<FileSource>, watch: &Watch<'_>) -> io::Result<(SeenRows, Owners)> {
    let mut found: Vec<Option<Seen>> = stream.rows.iter().map(|_| None).collect();
    let (shared, owners) = each(stream, watch, &mut |number, seen| {
        if let Some(found) = found.get_mut(number as usize) {
            *found = Some(seen);
        }
        true
    })?;
    let mut seen: Vec<Seen> = found.into_iter().flatten().collect();
    for number in shared {
        if let Some(seen) = seen.get_mut(number as usize) {
            seen.shared = true;
        }
    }
    Ok((SeenRows { numbers: None, seen }, owners))
}

/// Examines some rows again whose chains of pages were whole.
pub(super) fn again(
    stream: &Stream<FileSource>,
    rows: impl Iterator<Item = (u32, StreamRow)>,
) -> io::Result<Vec<(u32, Seen)>> {
    let mut owners = stream.owners.clone();
    clear_free(&mut owners);
    let mut scratch = StreamScratch::default();
    rows.map(|(number, row)| Ok((number, one(stream, &owners, &row, &mut scratch)?.0))).collect()
}

/// If the list of free pages contains pages in use, the list is wrong, not the rows. Returns the pages of the list.
fn clear_free(owners: &mut Owners) -> Vec<u32> {
    let free: Vec<u32> = owners.iter().filter(|(_, is)| *is == Use::Free).map(|(page, _)| page).collect();
    free.iter().for_each(|page| owners.set(*page, Use::Nothing));
    free
}

/// Passes every examined row to `take` with its number, until it returns false. Returns the rows that share pages with others,
/// and the owners of pages.
pub(super) fn each(
    stream: &Stream<FileSource>,
    watch: &Watch<'_>,
    take: &mut dyn FnMut(u32, Seen) -> bool,
) -> io::Result<(Vec<u32>, Owners)> {
    let mut owners = stream.owners.clone();
    let free = clear_free(&mut owners);
    let mut shared: Vec<u32> = Vec::new();
    'rows: for part in row_batches(stream) {
        if watch.is_cancelled() {
            break;
        }
        let before = &owners;
        let look = |(_, row): &(u32, StreamRow)| {
            let one = |scratch: &mut StreamScratch| one(stream, before, row, scratch);
            BUFFERS.with_borrow_mut(|scratch| stream.with_row(row, scratch, one))
        };
        let seen: Vec<io::Result<(Seen, Vec<u32>)>> = parallel::map(&part, look);
        for ((number, _), seen) in part.iter().zip(seen) {
            let (seen, pages) = seen?;
            for page in pages {
                match owners.page_use(page) {
                    Some(is) if is.can_be_payload() => owners.set(page, Use::Overflow(Some(*number))),
                    Some(Use::Overflow(Some(other))) if other != *number => shared.extend([other, *number]),
                    _ => shared.push(*number),
                }
            }
            if !take(*number, seen) {
                break 'rows;
            }
        }
    }
    for page in free {
        if owners.page_use(page) == Some(Use::Nothing) {
            owners.set(page, Use::Free);
        }
    }
    Ok((shared, owners))
}

fn one(
    stream: &Stream<FileSource>,
    owners: &Owners,
    row: &StreamRow,
    scratch: &mut StreamScratch,
) -> io::Result<(Seen, Vec<u32>)> {
    stream.fetch_from(&stream.pages, Some(owners), row, scratch)?;
    let pages = scratch.pages().to_vec();
    let key = OwnedKey::from_utf8(stream.key(scratch));
    let content = hash(stream.values(scratch).skip(1));
    let block = stream.voxel_bytes(scratch).map_or(0, |bytes| hash([Key::Blob(bytes)].into_iter()));
    let readable = stream.values(scratch).len() > 0;
    let (voxels_there, instances_there) = (stream.voxel_bytes(scratch), stream.instance_bytes(scratch));
    let there = |found: Option<&[u8]>, wanted: Blob| found.is_some_and(|b| b.len() as u64 == u64::from(wanted.len()));
    let all_voxels = there(voxels_there, row.voxels);
    let all_instances = there(instances_there, row.instances);
    let refused = !scratch.is_whole() && pages.is_empty() && stream.spills(row);
    let broken = !scratch.is_whole();
    let mut side = 0;
    let voxels = match row.voxels {
        Blob::Null => State::Null,
        Blob::Other => State::Broken(BlobFault::NoBlob),
        Blob::Bytes(_) => {
            let view = stream.block(scratch);
            let size = view.block.as_ref().map_or([0; 3], |block| block.size);
            let end = view.container.is_some_and(|c| c.whole) && view.block.is_some_and(|b| b.epilogue.is_some());
            if size == [size[0]; 3] && size[0].is_power_of_two() {
                side = size[0];
            }
            State::new(view.damage, end && all_voxels)
        }
    };
    let mut rewrap_instances = false;
    let instances = match row.instances {
        Blob::Null => State::Null,
        Blob::Other => State::Broken(BlobFault::NoInstanceBlob),
        Blob::Bytes(_) => {
            let view = stream.instances(scratch);
            rewrap_instances = view.is_in_wrong_order();
            State::new(view.damage, view.is_complete() && all_instances)
        }
    };
    let seen = Seen {
        key,
        readable,
        voxels,
        instances,
        rewrap_instances,
        side,
        content,
        block,
        shared: false,
        broken,
        refused,
    };
    Ok((seen, pages))
}

/// A block of a stream in the form of a region's block, with a size prefix, so that the same code can rewrite it.
pub(super) struct Stored {
    bytes: Vec<u8>,
    header: Header,
}

impl Stored {
    /// Wraps the bytes of `vb`, for a stream of this block size and byte order.
    pub fn new(
        voxels: &[u8],
        block_size_po2: u8,
        depths: &[Depth; CHANNELS],
        byte_order: ByteOrder,
        limits: &Limits,
    ) -> Self {
        let mut bytes = u32::try_from(voxels.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
        bytes.extend_from_slice(voxels);
        let format = Format { block_size_po2, region_size: [1; 3], depths: *depths, sector_size: SECTOR };
        let mut header = Header { table: Span::default(), byte_order, ..Header::new(3, format) };
        // Every block has its own depths.
        let mut scratch = Scratch::default();
        let own =
            scratch.interpret_bytes(&bytes, 0, &header, None, limits).block.map(|block| own_depths(&block, depths));
        header.format.depths = own.unwrap_or(*depths);
        Self { bytes, header }
    }

    fn job<'j>(&'j self, limits: &'j Limits) -> Job<'j> {
        Job { stored: &self.bytes, from: &self.header, to: &self.header.format, limits }
    }

    /// The rewritten bytes of `vb`.
    #[cfg_attr(not(feature = "sqlite"), allow(dead_code))]
    pub fn apply(&self, mend: &Mend, limits: &Limits) -> Option<Vec<u8>> {
        self.job(limits).apply(mend).and_then(|bytes| bytes.get(4..).map(<[u8]>::to_vec))
    }

    /// How to rewrite a block that violates the format.
    pub fn set_right(&self, limits: &Limits) -> Option<Mend> {
        self.job(limits).set_right()
    }

    /// How to rewrite a block that the engine refuses: nothing of it is missing, or it was cut off at a
    /// known place (`cut`), so that all bytes before that are as written.
    pub fn salvage(&self, cut: bool, common: &Common, limits: &Limits) -> Option<Mend> {
        let mut scratch = Scratch::default();
        let view = scratch.interpret_bytes(&self.bytes, 0, &self.header, None, limits);
        let complete = view.container.is_some_and(|c| c.whole)
            && view.block.is_some_and(|block| block.whole_channels() == CHANNELS);
        (complete || cut).then(|| self.job(limits).salvage(common)).flatten()
    }

    fn count(&self, common: &mut Common, limits: &Limits, scratch: &mut Scratch) {
        common.add(&self.bytes, &self.header, limits, scratch);
    }
}

fn own_depths(block: &Block<'_>, others: &[Depth; CHANNELS]) -> [Depth; CHANNELS] {
    let mut depths = *others;
    for (depth, channel) in depths.iter_mut().zip(&block.channels) {
        if channel.is_whole() {
            *depth = channel.depth;
        }
    }
    depths
}

/// The most frequent depths and uniform values of a stream's blocks.
#[derive(Default)]
pub(super) struct Usual {
    pub depths: [Depth; CHANNELS],
    pub common: Common,
}

impl Usual {
    /// Statistics of some whole rows; those in `plain` are whole if they have a block.
    pub fn estimate(
        stream: &Stream<FileSource>,
        seen: &SeenRows,
        plain: &PlainRows,
        block_size_po2: u8,
    ) -> io::Result<Self> {
        let is_whole = |(number, row): &(u32, StreamRow)| match plain.contains(*number) {
            true => row.voxels != Blob::Null,
            false => seen.get(*number).is_some_and(|seen| seen.voxels == State::Whole),
        };
        let whole = || (0u32..).zip(&stream.rows).filter(is_whole);
        let step = whole().count().div_ceil(SAMPLES).max(1);
        let mut usual = Self::default();
        let (mut rows, mut scratch) = (StreamScratch::default(), Scratch::default());
        for (nth, (_, row)) in whole().step_by(step).enumerate() {
            stream.fetch(&row, &mut rows)?;
            let Some(bytes) = stream.voxel_bytes(&rows) else { continue };
            let stored = Stored::new(bytes, block_size_po2, &usual.depths, stream.byte_order(), &stream.limits);
            if nth == 0 {
                usual.depths = stored.header.format.depths;
            }
            stored.count(&mut usual.common, &stream.limits, &mut scratch);
        }
        Ok(usual)
    }
}
