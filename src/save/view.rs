//! One stored block: its size prefix, its container, its data, with buffers that are used again.

use std::io;

use crate::bytes::{Span, index, len64};
use crate::damage::{Code, Damage, Level, Value};
use crate::godot::block::{self, Block, Layout};
use crate::godot::container::{Container, Decoder};
use crate::godot::region::{Entry, Header, sectors_for};
use crate::limits::Limits;
use crate::source::Source;

/// Buffers above this are given back after a block that needed more.
const KEEP: usize = 1 << 20;

/// Buffers for reading block after block, and what was wrong with the last one.
#[derive(Default)]
pub struct Scratch {
    /// Damage of the last block, in the order it was met.
    pub damage: Vec<Damage>,
    stored: Vec<u8>,
    stored_at: u64,
    decoder: Decoder,
}

/// Where a block is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The size that stands before it, in bytes; `None` when even that is cut.
    pub size: Option<u32>,
    /// The bytes of the prefix and of the container, as far as they are in the file.
    pub span: Span,
}

/// A block with all that is around it.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// Where it is stored.
    pub stored: Stored,
    /// The bytes of the prefix, where there is one, and of the container, as far as they are in the file.
    pub bytes: &'a [u8],
    /// Its container, when there is one.
    pub container: Option<Container<'a>>,
    /// Its data, as far as it decodes; `None` when nothing was decompressed.
    pub block: Option<Block<'a>>,
    /// What is wrong with it, in the order it was met.
    pub damage: &'a [Damage],
}

impl View<'_> {
    /// Whether everything of it can be read: nothing is wrong that is worse than a warning.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        self.block.is_some() && self.damage.iter().all(|d| d.code.level() < Level::Error)
    }
}

/// A view before its damage is complete.
type Parts<'a> = (Stored, Option<Container<'a>>, Option<Block<'a>>);

fn view<'a>((stored, container, block): Parts<'a>, bytes: &'a [u8], damage: &'a [Damage]) -> View<'a> {
    let bytes = bytes.get(..index(stored.span.len())).unwrap_or(bytes);
    View { stored, bytes, container, block, damage }
}

impl Scratch {
    /// Reads the sectors at `span`, and beyond them when the size prefix asks for more, as the engine does.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn read<S: Source + ?Sized>(&mut self, source: &S, span: Span, limits: &Limits) -> io::Result<()> {
        self.forget_large();
        self.stored_at = span.start;
        source.read_into(span.start, index(span.len()), &mut self.stored)?;
        let wanted = wanted(&self.stored, limits);
        if wanted > self.stored.len() && len64(&self.stored) == span.len() {
            source.read_into(span.start, wanted, &mut self.stored)?;
        }
        Ok(())
    }

    /// Decodes what was read last.
    pub fn interpret<'a>(&'a mut self, header: &Header, entry: Option<Entry>, limits: &Limits) -> View<'a> {
        let Self { damage, stored, stored_at, decoder } = self;
        damage.clear();
        let parts = interpret(stored, *stored_at, header, entry, decoder, limits, damage);
        view(parts, stored, damage)
    }

    /// Decodes bytes that were read elsewhere, which begin at offset `at` of the file. When the size prefix asks for
    /// more bytes than are given, the block is cut there.
    pub fn interpret_bytes<'a>(
        &'a mut self,
        bytes: &'a [u8],
        at: u64,
        header: &Header,
        entry: Option<Entry>,
        limits: &Limits,
    ) -> View<'a> {
        self.forget_large();
        let Self { damage, decoder, .. } = self;
        damage.clear();
        let parts = interpret(bytes, at, header, entry, decoder, limits, damage);
        view(parts, bytes, damage)
    }

    fn forget_large(&mut self) {
        self.decoder.shrink(KEEP);
        if self.stored.capacity() > KEEP {
            self.stored = Vec::new();
        }
    }
}

/// Bytes that a block takes by its size prefix, with the prefix.
pub(crate) fn wanted(bytes: &[u8], limits: &Limits) -> usize {
    let Some(prefix) = bytes.first_chunk::<4>() else { return 0 };
    index(u64::from(u32::from_le_bytes(*prefix)).min(limits.stored_bytes).saturating_add(4))
}

fn interpret<'a>(
    bytes: &'a [u8],
    at: u64,
    header: &Header,
    entry: Option<Entry>,
    decoder: &'a mut Decoder,
    limits: &Limits,
    damage: &mut Vec<Damage>,
) -> Parts<'a> {
    let Some((prefix, rest)) = bytes.split_first_chunk::<4>() else {
        let span = Span::sized(at, len64(bytes));
        damage.push(
            Damage::new(Code::BlockPrefixCut, span, "size before the block")
                .expected(Value::Bytes(4))
                .found(Value::Bytes(len64(bytes))),
        );
        return (Stored { size: None, span }, None, None);
    };
    let size = u32::from_le_bytes(*prefix);
    if size == 0 && rest.iter().all(|&b| b == 0) {
        let span = Span::sized(at, len64(bytes));
        damage.push(Damage::new(Code::BlockZeroed, span, "sectors of the block").found(Value::Words("all zero")));
        return (Stored { size: Some(0), span }, None, None);
    }
    let there = len64(rest);
    let room = sector_room(header, entry).min(there);
    let overrun = check_prefix(size, Span::sized(at, 4), there, header, entry, damage);
    let channels = header.format.most_channel_bytes().unwrap_or(limits.block_bytes);
    let block_bytes = channels.saturating_add(limits.metadata_bytes).min(limits.block_bytes);
    let limits = Limits { block_bytes, ..*limits };
    let layout = (header.format.block_size_po2 > 0).then(|| header.format.layout());
    // A size that is too large is most often none at all: the entry points at something else. What it asks for is
    // decoded when that gives a whole block; otherwise the sectors of the entry are all that there is to go by.
    let mut len = u64::from(size).min(there);
    if overrun && !is_whole(rest, len, layout.as_ref(), decoder, &limits) {
        len = len.min(room);
    }
    let packed = rest.get(..index(len)).unwrap_or(rest);
    let stored = Stored { size: Some(size), span: Span::sized(at, len64(packed).saturating_add(4)) };
    let from = damage.len();
    let container = decoder.decode(packed, &limits, damage);
    for d in damage.iter_mut().skip(from) {
        *d = d.shifted(at.saturating_add(4));
    }
    // Where nothing was decompressed, the container's damage says all there is to say.
    let block = (container.mode.is_some() && (container.whole || !container.plain.is_empty()))
        .then(|| block::decode(container.plain, layout.as_ref(), None, &limits, damage));
    if overrun {
        // The wrong size says it all; what follows from it would only hide it.
        damage.truncate(from);
    }
    (stored, Some(container), block)
}

/// Whether `len` bytes are a container that decodes to a block without errors.
fn is_whole(bytes: &[u8], len: u64, layout: Option<&Layout>, decoder: &mut Decoder, limits: &Limits) -> bool {
    let mut damage = Vec::new();
    let packed = bytes.get(..index(len)).unwrap_or(bytes);
    let container = decoder.decode(packed, limits, &mut damage);
    if container.whole {
        let block = block::decode(container.plain, layout, None, limits, &mut damage);
        return block.epilogue.is_some() && damage.iter().all(|d| d.code.level() < Level::Error);
    }
    false
}

/// Bytes that an entry's sectors leave for a container.
fn sector_room(header: &Header, entry: Option<Entry>) -> u64 {
    let sectors = entry.map_or(u64::MAX, |entry| u64::from(entry.count()));
    sectors.saturating_mul(u64::from(header.format.sector_size)).saturating_sub(4)
}

/// Holds the size prefix against what is there and against the table's entry; true when it is too large for the
/// entry's sectors.
fn check_prefix(
    size: u32,
    span: Span,
    there: u64,
    header: &Header,
    entry: Option<Entry>,
    damage: &mut Vec<Damage>,
) -> bool {
    let size = u64::from(size);
    let found = Value::Number(size);
    if let Some(entry) = entry {
        let sectors = u64::from(entry.count());
        let needed = sectors_for(size, header.format.sector_size);
        if needed > sectors {
            let expected = Value::AtMost(sector_room(header, Some(entry)).min(there));
            damage.push(Damage::new(Code::BlockPrefix, span, "size before the block").expected(expected).found(found));
            return true;
        }
        if needed < sectors {
            damage.push(
                Damage::new(Code::TableCount, span, "sector count of the block's entry")
                    .expected(Value::Number(needed))
                    .found(Value::Number(sectors)),
            );
        }
    }
    if size > there {
        let expected = Value::AtMost(there);
        damage.push(Damage::new(Code::BlockPrefix, span, "size before the block").expected(expected).found(found));
    }
    false
}
