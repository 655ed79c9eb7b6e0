//! One stored block: its size prefix, its container and its data, with buffers that are reused.

use std::io;

use crate::bytes::{Span, index, len64};
use crate::damage::{Code, Damage, Value};
use crate::godot::block::{self, Block, BlockLayout};
use crate::godot::byte_order::{self, ByteOrder};
use crate::godot::channel::{Depth, Storage};
use crate::godot::container::{Container, Decoder};
use crate::godot::region::{Entry, Header, sectors_for};
use crate::limits::Limits;
use crate::source::Source;

/// Buffers larger than this are freed after a block that needed more.
const KEEP: usize = 1 << 20;

/// The field of the finding about a big-endian block that does not show its order itself.
pub(crate) const INFERRED_ORDER: &str = "raw values that show no byte order";

/// Reusable buffers for reading blocks, and the damage of the last one.
#[derive(Default)]
pub struct Scratch {
    /// Damage of the last block, in the order in which it was found.
    pub damage: Vec<Damage>,
    stored: Vec<u8>,
    stored_at: u64,
    decoder: Decoder,
    /// Decompressed bytes of a big-endian block, with little-endian channels.
    reversed: Vec<u8>,
}

/// Where a block is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its size prefix, in bytes; `None` if the prefix is cut short.
    pub size: Option<u32>,
    /// The bytes of the prefix and of the container, as far as they are in the file.
    pub span: Span,
}

/// A block with its container and its damage.
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
    /// Its damage, in the order in which it was found.
    pub damage: &'a [Damage],
}

impl View<'_> {
    /// Whether all of it can be read: no damage hides any of its data.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        self.block.is_some() && self.damage.iter().all(|d| !d.code.hides_data())
    }

    /// Whether it is read as big-endian because of other blocks. Beside little-endian blocks, its bytes would be read as they are.
    pub(crate) fn has_inferred_order(&self) -> bool {
        self.damage.iter().any(|damage| damage.field == INFERRED_ORDER)
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
    /// I/O errors.
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

    /// Decodes the bytes that were read last.
    pub fn interpret<'a>(&'a mut self, header: &Header, entry: Option<Entry>, limits: &Limits) -> View<'a> {
        let Self { damage, stored, stored_at, decoder, reversed } = self;
        damage.clear();
        let parts = interpret(stored, *stored_at, header, entry, (decoder, reversed), limits, damage);
        view(parts, stored, damage)
    }

    /// Decodes bytes of the file from offset `at` that the caller has read. If the size prefix asks for
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
        let Self { damage, decoder, reversed, .. } = self;
        damage.clear();
        let parts = interpret(bytes, at, header, entry, (decoder, reversed), limits, damage);
        view(parts, bytes, damage)
    }

    fn forget_large(&mut self) {
        self.decoder.shrink(KEEP);
        for buffer in [&mut self.stored, &mut self.reversed] {
            if buffer.capacity() > KEEP {
                *buffer = Vec::new();
            }
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
    (decoder, reversed): (&'a mut Decoder, &'a mut Vec<u8>),
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
        let field = if header.is_single_block() { "bytes of the block file" } else { "sectors of the block" };
        damage.push(Damage::new(Code::BlockZeroed, span, field).found(Value::Words("all zero")));
        return (Stored { size: Some(0), span }, None, None);
    }
    let there = len64(rest);
    let fits = sector_room(header, entry).min(there);
    let overrun = check_prefix(size, Span::sized(at, 4), there, header, entry, damage);
    // A block that stands alone and whose size nothing tells may have any size.
    let is_lone = header.format.region_size == [1; 3];
    let most = header.format.most_channel_bytes().filter(|_| header.format.block_size_po2 > 0 || !is_lone);
    let channels = most.unwrap_or(limits.block_bytes);
    let block_bytes = channels.saturating_add(limits.metadata_bytes).min(limits.block_bytes);
    let limits = Limits { block_bytes, ..*limits };
    let layout = (header.format.block_size_po2 > 0).then(|| header.format.layout());
    // A size that is too large is usually not a size: the entry points to something else. The bytes it asks for are
    // decoded if that gives a whole block; otherwise only the sectors of the entry are.
    let mut len = u64::from(size).min(there);
    if overrun && !is_whole(rest, len, layout.as_ref(), decoder, &limits) {
        len = len.min(fits);
    }
    let packed = rest.get(..index(len)).unwrap_or(rest);
    let stored = Stored { size: Some(size), span: Span::sized(at, len64(packed).saturating_add(4)) };
    let from = damage.len();
    let mut container = decoder.decode(packed, &limits).report_to(damage);
    for d in damage.iter_mut().skip(from) {
        *d = d.shifted(at.saturating_add(4));
    }
    // If nothing was decompressed, the container's damage is the only finding.
    let block = (container.mode.is_some() && (container.whole || !container.plain.is_empty())).then(|| {
        let of_file = || header.byte_order;
        decode_in_order(&mut container.plain, reversed, layout.as_ref(), &limits, damage, of_file)
    });
    if overrun {
        // The wrong size is the cause; its consequences are not reported.
        damage.truncate(from);
    }
    (stored, Some(container), block)
}

/// Decodes block data. A big-endian block is decoded from `reversed`, which `plain` then is as well: whatever reads values
/// from it gets little-endian ones. A block that shows no order has that of its file, which is asked for only then.
pub(in crate::save) fn decode_in_order<'a>(
    plain: &mut &'a [u8],
    reversed: &'a mut Vec<u8>,
    layout: Option<&BlockLayout>,
    limits: &Limits,
    damage: &mut Vec<Damage>,
    of_file: impl FnOnce() -> ByteOrder,
) -> Block<'a> {
    let from = damage.len();
    let block = block::decode(plain, layout, None, limits).report_to(damage);
    let is_inferred =
        || byte_order::has_order(&block) && of_file() == ByteOrder::Big && !byte_order::is_little_endian(&block);
    let field = if byte_order::is_big_endian(&block) {
        "raw values"
    } else if is_inferred() {
        INFERRED_ORDER
    } else {
        return block;
    };
    reversed.clear();
    reversed.extend_from_slice(plain);
    byte_order::reverse(&block, reversed);
    // Values that are the same in either order are as they must be.
    if *plain == reversed.as_slice() {
        return block;
    }
    damage.truncate(from);
    *plain = reversed;
    let block = block::decode(plain, layout, None, limits).report_to(damage);
    let raw = block.channels.iter().filter(|c| c.storage == Storage::Raw && c.depth > Depth::Bits8);
    let span = raw.map(|channel| Span::sized(channel.offset, channel.size)).reduce(|a, b| Span::new(a.start, b.end));
    let found = Damage::new(Code::BlockByteOrder, span.unwrap_or_default(), field).in_block();
    damage.push(found.expected(Value::Words("little-endian")).found(Value::Words("big-endian")));
    block
}

/// Whether `len` bytes are a container that decodes to a block without errors.
fn is_whole(bytes: &[u8], len: u64, layout: Option<&BlockLayout>, decoder: &mut Decoder, limits: &Limits) -> bool {
    let mut damage = Vec::new();
    let packed = bytes.get(..index(len)).unwrap_or(bytes);
    let container = decoder.decode(packed, limits).report_to(&mut damage);
    if container.whole {
        let block = block::decode(container.plain, layout, None, limits).report_to(&mut damage);
        return block.epilogue.is_some() && damage.iter().all(|d| !d.code.hides_data());
    }
    false
}

/// Bytes that an entry's sectors can hold of a container.
fn sector_room(header: &Header, entry: Option<Entry>) -> u64 {
    let sectors = entry.map_or(u64::MAX, |entry| u64::from(entry.count()));
    sectors.saturating_mul(u64::from(header.format.sector_size)).saturating_sub(4)
}

/// Compares the size prefix with the bytes in the file and with the table entry; true if it is too large for the
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
    let field = if header.is_single_block() { "size in the block file" } else { "size before the block" };
    if let Some(entry) = entry {
        let sectors = u64::from(entry.count());
        let needed = sectors_for(size, header.format.sector_size);
        if needed > sectors {
            let expected = Value::AtMost(sector_room(header, Some(entry)).min(there));
            damage.push(Damage::new(Code::BlockPrefix, span, field).expected(expected).found(found));
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
        damage.push(Damage::new(Code::BlockPrefix, span, field).expected(expected).found(found));
    }
    false
}
