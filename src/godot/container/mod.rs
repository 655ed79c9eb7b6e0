//! The compressed container around block data (and around instance data).
//!
//! ```text
//! mode: u8   0  the data as it is
//!            1  u32 big-endian size of the decompressed data · one LZ4 block         (old, only read by the engine)
//!            2  u32 little-endian size · one LZ4 block                               (what is written today)
//!            3  u32 little-endian size · one Zstandard frame
//! before 2021-01-31 ("headerless"):  u32 little-endian size · one LZ4 block
//! 2025-10-18 to 2026-05-14, by some programs:  1 · u32 little-endian size · one LZ4 block
//! ```
//!
//! Source: Godot Voxel's page "Compressed container format" and, for the headerless form, the engine's history. What
//! the first byte names is used if decompression gives exactly the declared size and the epilogue is at its end; otherwise
//! the headerless form is tried by the same test, and if neither passes, the better of the two is reported.
//!
//! Mode 0 declares no size, so its test is weak, and LZ4 stores the last bytes of its data as they are: a headerless
//! container whose size begins with a zero byte ends with the epilogue too. So with mode 0 the headerless form is
//! always tried, and used if it passes.
//!
//! Mode 1 with a little-endian size is what `VoxelBlockSerializer` (release 1.6 among others) and streams of master builds
//! wrote when LZ4 was chosen. The engine refuses it. An LZ4 block decodes to exactly one size, so at most one of the two
//! byte orders fits unless both give the same number, and then the engine reads it.

use crate::bytes::{Cursor, Span, grow, index, len64};
use crate::damage::{Code, Damage, Decoded, Value};
use crate::godot::block::EPILOGUE;
use crate::godot::{lz4, zstd};
use crate::limits::Limits;

/// How the data is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Mode 0: not compressed.
    Plain,
    /// Mode 1: a big-endian size, then LZ4.
    Lz4BigEndian,
    /// Mode 2: LZ4.
    Lz4,
    /// Mode 3: Zstandard.
    Zstd,
    /// Before there were modes: a size, then LZ4.
    Headerless,
    /// Mode byte 1 with a little-endian size, then LZ4: what some programs wrote, and no engine reads.
    Lz4WrongOrder,
}

impl Mode {
    /// Every mode that the engine reads or read.
    pub const ALL: [Self; 5] = [Self::Plain, Self::Lz4BigEndian, Self::Lz4, Self::Zstd, Self::Headerless];

    /// `plain`, `lz4-be`, `lz4`, `zstd`, `headerless`, `lz4-wrong-order`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Lz4BigEndian => "lz4-be",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
            Self::Headerless => "headerless",
            Self::Lz4WrongOrder => "lz4-wrong-order",
        }
    }

    /// The mode to write where this one was read: the same, unless the engine refuses it.
    #[must_use]
    pub const fn writable(self) -> Self {
        match self {
            Self::Lz4WrongOrder => Self::Lz4,
            other => other,
        }
    }

    const fn of_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Plain),
            1 => Some(Self::Lz4BigEndian),
            2 => Some(Self::Lz4),
            3 => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// The content of a container.
#[derive(Clone, Copy, Debug)]
pub struct Container<'a> {
    /// Its compression; `None` if the first byte names no mode and the data is not headerless either.
    pub mode: Option<Mode>,
    /// The decompressed size that it declares, in bytes; mode 0 declares none.
    pub declared: Option<u32>,
    /// The bytes of the compressed data in the input.
    pub body: Span,
    /// The decompressed bytes, or as many as could be decoded.
    pub plain: &'a [u8],
    /// Whether all data decoded to exactly the declared size.
    pub whole: bool,
}

/// A decoder with its buffers, to be used again for block after block.
#[derive(Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    second: Vec<u8>,
    zstd: zstd::Decoder,
}

/// One reading of a container.
struct Attempt {
    mode: Mode,
    declared: Option<u32>,
    body: Span,
    plain: Plain,
    whole: bool,
    damage: Option<Damage>,
}

/// Where the decompressed bytes are.
enum Plain {
    Input,
    Buffer(usize),
}

impl Decoder {
    /// Decodes `input`; spans of damage count bytes of the input.
    ///
    /// Allocates at most `limits.block_bytes` for the decompressed data, and no more than the input can give.
    pub fn decode<'a>(&'a mut self, input: &'a [u8], limits: &Limits) -> Decoded<Container<'a>> {
        Decoded::collect(|damage| self.decode_into(input, limits, damage))
    }

    fn decode_into<'a>(&'a mut self, input: &'a [u8], limits: &Limits, damage: &mut Vec<Damage>) -> Container<'a> {
        let Some(&byte) = input.first() else {
            damage.push(Damage::new(Code::ContainerEmpty, Span::new(0, 0), "container"));
            return Container { mode: None, declared: None, body: Span::new(0, 0), plain: &[], whole: false };
        };
        let first = Mode::of_byte(byte).map(|mode| attempt(input, mode, &mut self.buffer, &mut self.zstd, limits));
        let sure = first.as_ref().is_some_and(|first| first.mode != Mode::Plain && holds(first, input, &self.buffer));
        if byte == 1 && first.as_ref().is_some_and(|first| !first.whole) {
            let mut other = attempt(input, Mode::Lz4WrongOrder, &mut self.second, &mut self.zstd, limits);
            if other.whole {
                let big_endian = first.as_ref().and_then(|first| first.declared).unwrap_or_default();
                other.damage = Some(
                    Damage::new(Code::ContainerByteOrder, Span::new(1, 5), "declared size")
                        .expected(Value::Bytes(len64(plain(&other, input, &self.second))))
                        .found(Value::Bytes(big_endian.into())),
                );
                return finish(&other, input, &self.second, damage);
            }
        }
        if !sure && could_be_headerless(input, limits) {
            let second = attempt(input, Mode::Headerless, &mut self.second, &mut self.zstd, limits);
            let better = holds(&second, input, &self.second)
                || (second.whole && first.as_ref().is_none_or(|first| !first.whole));
            if better {
                return finish(&second, input, &self.second, damage);
            }
        }
        if let Some(first) = first {
            return finish(&first, input, &self.buffer, damage);
        }
        let found = Value::Hex8(byte);
        let expected = Value::Range(0, 3);
        damage
            .push(Damage::new(Code::ContainerMode, Span::new(0, 1), "container mode").expected(expected).found(found));
        Container { mode: None, declared: None, body: Span::new(1, len64(input)), plain: &[], whole: false }
    }

    /// Frees memory above `keep` bytes, after an unusually large block.
    pub fn shrink(&mut self, keep: usize) {
        self.buffer.truncate(keep);
        self.buffer.shrink_to(keep);
        self.second.truncate(keep);
        self.second.shrink_to(keep);
        self.zstd.shrink(keep);
    }
}

fn finish<'a>(attempt: &Attempt, input: &'a [u8], buffer: &'a [u8], damage: &mut Vec<Damage>) -> Container<'a> {
    damage.extend(attempt.damage);
    Container {
        mode: Some(attempt.mode),
        declared: attempt.declared,
        body: attempt.body,
        plain: plain(attempt, input, buffer),
        whole: attempt.whole,
    }
}

fn plain<'a>(attempt: &Attempt, input: &'a [u8], buffer: &'a [u8]) -> &'a [u8] {
    match attempt.plain {
        Plain::Input => input.get(1..).unwrap_or_default(),
        Plain::Buffer(n) => buffer.get(..n).unwrap_or_default(),
    }
}

/// The test of `docs/formats.md`: exactly the declared size, and the epilogue at its end.
fn holds(attempt: &Attempt, input: &[u8], buffer: &[u8]) -> bool {
    attempt.whole && plain(attempt, input, buffer).ends_with(&EPILOGUE.to_le_bytes())
}

/// Whether the headerless reading is worth a try: its declared size must be one that the bytes can give.
fn could_be_headerless(input: &[u8], limits: &Limits) -> bool {
    let mut cursor = Cursor::new(input);
    cursor.u32().is_ok_and(|declared| {
        let declared = u64::from(declared);
        declared >= 4 && declared <= limits.block_bytes && declared <= most_from_lz4(cursor.peek())
    })
}

fn most_from_lz4(body: &[u8]) -> u64 {
    len64(body).saturating_mul(lz4::MAX_EXPANSION)
}

fn attempt(input: &[u8], mode: Mode, buffer: &mut Vec<u8>, zstd: &mut zstd::Decoder, limits: &Limits) -> Attempt {
    let mut cursor = Cursor::new(input);
    if mode != Mode::Headerless {
        cursor.take(1).ok();
    }
    if mode == Mode::Plain {
        return Attempt { mode, declared: None, body: cursor.span(), plain: Plain::Input, whole: true, damage: None };
    }
    let field = Span::sized(cursor.offset(), 4);
    let declared = match cursor.array::<4>() {
        Ok(bytes) if mode == Mode::Lz4BigEndian => u32::from_be_bytes(bytes),
        Ok(bytes) => u32::from_le_bytes(bytes),
        Err(short) => {
            let damage = Some(Damage::short(Code::ContainerCut, short, "declared size"));
            return Attempt {
                mode,
                declared: None,
                body: cursor.span(),
                plain: Plain::Buffer(0),
                whole: false,
                damage,
            };
        }
    };
    let body = cursor.span();
    let packed = cursor.peek();
    let (len, damage) = if mode == Mode::Zstd {
        zstd.decode(packed, declared, buffer, limits)
    } else {
        decode_lz4(packed, declared, buffer, limits)
    };
    // The decoders count from the start of the packed data, except for faults of the declared size itself.
    let damage = damage.map(|d| match d.code {
        Code::ContainerDeclared | Code::OverLimit => Damage { span: field, ..d },
        _ => d.shifted(body.start),
    });
    // Bytes after the frame do not affect the data, which is whole.
    let whole = damage.is_none_or(|d| d.code == Code::ContainerTrailing);
    Attempt { mode, declared: Some(declared), body, plain: Plain::Buffer(len), whole, damage }
}

/// Decodes an LZ4 block of a declared size; returns the number of decoded bytes of `buffer`, and the damage.
fn decode_lz4(packed: &[u8], declared: u32, buffer: &mut Vec<u8>, limits: &Limits) -> (usize, Option<Damage>) {
    let claim = u64::from(declared);
    let justified = most_from_lz4(packed);
    if claim <= justified.min(limits.block_bytes) {
        let out = grow(buffer, index(claim));
        if lz4::decode_into(packed, out) == Some(out.len()) {
            return (out.len(), None);
        }
    }
    let walk = lz4::walk(packed, justified.min(limits.block_bytes));
    let damage = if claim > justified {
        Damage::new(Code::ContainerDeclared, Span::default(), "declared size")
            .expected(Value::AtMost(justified))
            .found(Value::Number(claim))
    } else if claim > limits.block_bytes {
        Damage::new(Code::OverLimit, Span::default(), "declared size")
            .expected(Value::AtMost(limits.block_bytes))
            .found(Value::Number(claim))
    } else if let Some((at, what)) = walk.fault {
        Damage::new(Code::ContainerCorrupt, Span::new(at, len64(packed)), "LZ4 data").found(Value::Words(what))
    } else {
        Damage::new(Code::ContainerLength, Span::sized(0, len64(packed)), "decompressed data")
            .expected(Value::Bytes(claim))
            .found(Value::Bytes(walk.output))
    };
    let out = grow(buffer, index(walk.output));
    let mended;
    let input = if walk.fault.is_some() {
        mended = lz4::salvage(packed, &walk);
        mended.as_slice()
    } else {
        packed
    };
    (lz4::decode_into(input, out).unwrap_or(0), Some(damage))
}

/// The bytes of a container in [`Mode::Lz4WrongOrder`] as mode 2, which has the same fields.
#[must_use]
pub fn with_readable_mode(container: &[u8]) -> Vec<u8> {
    let mut bytes = container.to_vec();
    if let Some(mode) = bytes.first_mut() {
        *mode = 2;
    }
    bytes
}

/// The least bytes of a block's container: eight uniform channels and the epilogue, compressed.
pub(crate) const LEAST: u32 = 8;

/// Whether the first bytes of something of `size` bytes look like a container: a mode and a block version, or a declared size that LZ4 can give.
#[must_use]
pub(crate) fn is_container(head: &[u8], size: u32) -> bool {
    let Some((&mode, rest)) = head.split_first() else { return false };
    let can_give = |declared: Option<u32>| {
        declared.is_some_and(|n| (LEAST..=1 << 26).contains(&n) && u64::from(n) <= u64::from(size) * 255)
    };
    let little = rest.first_chunk::<4>().map(|b| u32::from_le_bytes(*b));
    let by_mode = match mode {
        0 => rest.first().is_some_and(|&version| version <= 4),
        // Some programs wrote the size little-endian.
        1 => can_give(rest.first_chunk::<4>().map(|b| u32::from_be_bytes(*b))) || can_give(little),
        2 => can_give(little),
        3 => little.is_some_and(|n| (LEAST..=1 << 26).contains(&n)),
        _ => false,
    };
    by_mode || can_give(head.first_chunk::<4>().map(|b| u32::from_le_bytes(*b)))
}

/// Packs `plain` and appends the container to `out`. `plain` may have at most 4 GiB.
pub fn encode(mode: Mode, plain: &[u8], out: &mut Vec<u8>) {
    let size = u32::try_from(plain.len()).unwrap_or(u32::MAX);
    match mode {
        Mode::Plain => {
            out.push(0);
            out.extend_from_slice(plain);
        }
        Mode::Lz4BigEndian => {
            out.push(1);
            out.extend_from_slice(&size.to_be_bytes());
            lz4::encode(plain, out);
        }
        Mode::Lz4 => {
            out.push(2);
            out.extend_from_slice(&size.to_le_bytes());
            lz4::encode(plain, out);
        }
        Mode::Zstd => {
            out.push(3);
            out.extend_from_slice(&size.to_le_bytes());
            zstd::encode(plain, out);
        }
        Mode::Headerless => {
            out.extend_from_slice(&size.to_le_bytes());
            lz4::encode(plain, out);
        }
        Mode::Lz4WrongOrder => {
            out.push(1);
            out.extend_from_slice(&size.to_le_bytes());
            lz4::encode(plain, out);
        }
    }
}

#[cfg(test)]
mod tests;
