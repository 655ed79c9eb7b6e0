//! Arrays of numbers, `.npy`.
//!
//! ```text
//! 0x93 "NUMPY"  major u8  minor u8  header length u16 (version 1.0) or u32 (2.0, 3.0)
//! header: {'descr': '<i4', 'fortran_order': False, 'shape': (134, 8, 134), } spaces, line break
//! data:   the product of shape times the size of a number, directly after the header
//! ```
//!
//! Source: NumPy's page "numpy.lib.format". Unity's exporter aligns the header to 16 bytes instead of 64, and may leave
//! bytes after the data. This module reads the header, and passes it to `npyz` only to confirm it:
//! that crate takes minutes for a nested header and trusts its sizes.

mod header;

use std::io;

use crate::bytes::{Cursor, Span, index, len64};
use crate::damage::{Code, Damage, Decoded, Value};
use crate::source::Source;

/// The bytes that a file begins with.
pub const MAGIC: [u8; 6] = *b"\x93NUMPY";

/// A header of this length or more is refused, as NumPy does.
pub const HEADER_BYTES: u64 = 10_000;

/// Dimensions that an array of a map has at most.
pub const DIMENSIONS: usize = 4;

/// Bytes from the start of a file that are enough for every header that is read.
pub const PREFIX_BYTES: usize = 10_012;

/// A type of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// `i4`
    I32,
    /// `i8`
    I64,
    /// `f4`
    F32,
    /// `i1`
    I8,
    /// `i2`
    I16,
    /// `u1`
    U8,
    /// `u2`
    U16,
    /// `u4`
    U32,
    /// `u8`
    U64,
}

impl Dtype {
    /// Every type.
    pub const ALL: [Self; 9] =
        [Self::I32, Self::I64, Self::F32, Self::I8, Self::I16, Self::U8, Self::U16, Self::U32, Self::U64];

    /// Whether its numbers are integers.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        !matches!(self, Self::F32)
    }

    /// Bytes of one number.
    #[must_use]
    pub const fn size(self) -> u64 {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 => 8,
        }
    }

    /// NumPy's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::F32 => "float32",
            Self::I8 => "int8",
            Self::I16 => "int16",
            Self::U8 => "uint8",
            Self::U16 => "uint16",
            Self::U32 => "uint32",
            Self::U64 => "uint64",
        }
    }

    const fn code(self) -> &'static str {
        match self {
            Self::I32 => "i4",
            Self::I64 => "i8",
            Self::F32 => "f4",
            Self::I8 => "i1",
            Self::I16 => "i2",
            Self::U8 => "u1",
            Self::U16 => "u2",
            Self::U32 => "u4",
            Self::U64 => "u8",
        }
    }
}

/// The header of an array whose numbers can be located.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Npy {
    /// 1, 2 or 3.
    pub version: u8,
    /// The type of its numbers.
    pub dtype: Dtype,
    /// Whether the highest byte comes first.
    pub big_endian: bool,
    /// Whether the first index runs fastest.
    pub fortran: bool,
    /// Its size, at most [`DIMENSIONS`] of them; their product times the size of a number fits 64 bits.
    pub shape: Vec<u64>,
    /// The bytes of its numbers in the file, which may be fewer than the shape declares.
    pub data: Span,
}

impl Npy {
    /// Reads the header of a file of `len` bytes from `prefix`, its first [`PREFIX_BYTES`] (all, if it is shorter);
    /// `None` when no number can be found by it.
    pub fn decode(prefix: &[u8], len: u64) -> Decoded<Option<Self>> {
        Decoded::collect(|damage| Self::decode_into(prefix, len, damage))
    }

    fn decode_into(prefix: &[u8], len: u64, damage: &mut Vec<Damage>) -> Option<Self> {
        let text = header_text(prefix, len, damage)?;
        let (version, text) = (text.version, text.span);
        let bytes = prefix.get(index(text.start)..index(text.end)).unwrap_or_default();
        let dictionary = match header::parse(bytes) {
            Ok(dictionary) => dictionary,
            Err(fault) => {
                let at = text.start.saturating_add(u64::try_from(fault.at).unwrap_or(u64::MAX));
                damage.push(
                    Damage::new(Code::NpyHeader, Span::new(at, text.end), fault.field)
                        .expected(Value::Words(fault.expected)),
                );
                return None;
            }
        };
        let Some((dtype, big_endian)) = header::dtype(dictionary.descr) else {
            let found = header::describe(dictionary.descr);
            damage.push(
                Damage::new(Code::NpyDtype, text, "descr")
                    .expected(Value::Words("an integer of 8 to 64 bits, or float32"))
                    .found(found),
            );
            return None;
        };
        let shape = dictionary.shape;
        if shape.len() > DIMENSIONS {
            damage.push(
                Damage::new(Code::NpyShape, text, "number of dimensions")
                    .expected(Value::AtMost(4))
                    .found(Value::Number(u64::try_from(shape.len()).unwrap_or(u64::MAX))),
            );
            return None;
        }
        // Skip zeros, so that the product overflows independently of the order.
        let product = shape.iter().try_fold(dtype.size(), |n, &d| n.checked_mul(d.max(1)));
        let Some(product) = product else {
            damage.push(
                Damage::new(Code::NpyShape, text, "shape").expected(Value::Words("a size in bytes that fits 64 bits")),
            );
            return None;
        };
        let declared = if shape.contains(&0) { 0 } else { product };
        let data = Span::sized(text.end, declared.min(len.saturating_sub(text.end)));
        let npy = Self { version, dtype, big_endian, fortran: dictionary.fortran, shape, data };
        npy.report(declared, len, damage);
        if data.len() == declared && !npy.second_opinion(prefix, dictionary.descr) {
            damage.push(
                Damage::new(Code::NpyHeader, text, "header")
                    .found(Value::Words("the library `npyz` reads it differently")),
            );
        }
        Some(npy)
    }

    /// Reads the header of a file.
    ///
    /// # Errors
    /// I/O errors.
    pub fn open<S: Source + ?Sized>(source: &S) -> io::Result<Decoded<Option<Self>>> {
        let mut prefix = Vec::new();
        source.read_into(0, PREFIX_BYTES, &mut prefix)?;
        Ok(Self::decode(&prefix, source.len()))
    }

    /// Notes and damage of a header that can be read.
    fn report(&self, declared: u64, len: u64, damage: &mut Vec<Damage>) {
        let data = self.data;
        if data.len() < declared {
            damage.push(
                Damage::new(Code::NpyTruncated, data, "data")
                    .expected(Value::Bytes(declared))
                    .found(Value::Bytes(data.len())),
            );
        } else if data.end < len {
            let rest = Span::new(data.end, len);
            damage
                .push(Damage::new(Code::NpyTrailing, rest, "bytes behind the array").found(Value::Number(rest.len())));
        }
        let header = Span::new(0, data.start);
        if self.big_endian {
            let fault = Damage::new(Code::NpyBigEndian, header, "byte order");
            damage.push(fault.found(Value::Words("big-endian")));
        }
        // With one dimension or none the order makes no difference.
        if self.fortran && self.shape.iter().filter(|&&d| d > 1).count() > 1 {
            let fault = Damage::new(Code::NpyFortran, header, "order of the array");
            damage.push(fault.found(Value::Words("Fortran")));
        }
    }

    /// Whether `npyz` reads the header, which has passed every check, to the same. Types without a byte order
    /// (`i4`, `|i4`, `=i4`, and those of one byte), which NumPy reads and that crate does not, are not shown to it.
    fn second_opinion(&self, prefix: &[u8], descr: &str) -> bool {
        if !descr.starts_with(['<', '>']) || self.dtype.size() == 1 {
            return true;
        }
        let head = prefix.get(..index(self.data.start)).unwrap_or_default();
        let Ok(other) = npyz::NpyHeader::from_reader(head) else { return false };
        let order = if self.fortran { npyz::Order::Fortran } else { npyz::Order::C };
        other.shape() == self.shape
            && other.order() == order
            && other.dtype().descr() == format!("'{descr}'")
            && other.dtype().num_bytes().and_then(|n| u64::try_from(n).ok()) == Some(self.dtype.size())
    }

    /// A header of version 1 for an array of this shape, little-endian and in C order, whose data follows it.
    #[must_use]
    pub fn new(dtype: Dtype, shape: &[u64]) -> Self {
        let shape = shape.to_vec();
        Self { version: 1, dtype, big_endian: false, fortran: false, shape, data: Span::default() }
    }

    /// Encodes the header, its length a multiple of `align`: NumPy writes 64, Unity's exporter 16.
    #[must_use]
    pub fn encode(&self, align: usize) -> Vec<u8> {
        let sign = if self.dtype.size() == 1 {
            '|'
        } else if self.big_endian {
            '>'
        } else {
            '<'
        };
        header_of(self.version, &format!("{sign}{}", self.dtype.code()), self.fortran, &self.shape, align)
    }

    /// The number of numbers that the shape declares.
    #[must_use]
    pub fn declared(&self) -> u64 {
        self.shape.iter().fold(1, |n, &d| n.saturating_mul(d))
    }

    /// How many whole numbers are in the file.
    #[must_use]
    pub fn there(&self) -> u64 {
        self.data.len().checked_div(self.dtype.size()).unwrap_or(0)
    }

    /// The place in the order of the file of the number at `at`; `None` outside the shape.
    #[must_use]
    pub fn place(&self, at: &[u64]) -> Option<u64> {
        if at.len() != self.shape.len() || at.iter().zip(&self.shape).any(|(at, size)| at >= size) {
            return None;
        }
        let step = |n: u64, (&at, &size): (&u64, &u64)| n.checked_mul(size)?.checked_add(at);
        let mut pairs = at.iter().zip(&self.shape);
        if self.fortran { pairs.rev().try_fold(0, step) } else { pairs.try_fold(0, step) }
    }

    /// The indices of the number at `place` in the order of the file, which is what [`Self::place`] reverses; those beyond its dimensions
    /// are 0. `None` outside the shape.
    #[must_use]
    pub fn indices(&self, place: u64) -> Option<[u64; DIMENSIONS]> {
        let (mut rest, mut all) = (place, [0; DIMENSIONS]);
        let at = all.get_mut(..self.shape.len())?;
        let take = |(to, &size): (&mut u64, &u64)| {
            *to = rest.checked_rem(size)?;
            rest = rest.checked_div(size)?;
            Some(())
        };
        let mut pairs = at.iter_mut().zip(&self.shape);
        let all_taken = if self.fortran { pairs.try_for_each(take) } else { pairs.rev().try_for_each(take) };
        all_taken?;
        (rest == 0).then_some(all)
    }

    /// The bytes of `count` numbers from the one at `place` in the order of the file, as far as they are there.
    #[must_use]
    pub fn span(&self, place: u64, count: u64) -> Span {
        let size = self.dtype.size();
        let start = self.data.start.saturating_add(place.saturating_mul(size)).min(self.data.end);
        let whole = self.data.start.saturating_add(self.there().saturating_mul(size));
        Span::new(start, start.saturating_add(count.saturating_mul(size)).min(whole))
    }

    /// The bits of the numbers in `bytes`, which are whole ones of this array; the bits above those of the type are 0.
    pub fn bits<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = u64> + use<'a> {
        let big = self.big_endian;
        let of = |size: u64| if self.dtype.size() == size { bytes } else { &[] };
        let (one, two) = (of(1), of(2).as_chunks::<2>().0);
        let (four, eight) = (of(4).as_chunks::<4>().0, of(8).as_chunks::<8>().0);
        let two = two.iter().map(move |b| if big { u16::from_be_bytes(*b) } else { u16::from_le_bytes(*b) });
        let four = four.iter().map(move |b| if big { u32::from_be_bytes(*b) } else { u32::from_le_bytes(*b) });
        let eight = eight.iter().map(move |b| if big { u64::from_be_bytes(*b) } else { u64::from_le_bytes(*b) });
        let small = one.iter().map(|b| u64::from(*b)).chain(two.map(u64::from));
        small.chain(four.map(u64::from)).chain(eight)
    }

    /// The integers in `bytes`, signed as they are, and those above 63 bits as the largest number; none for another type.
    pub fn integers<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = i64> + use<'a> {
        let dtype = self.dtype;
        let bytes = if dtype == Dtype::F32 { &[] } else { bytes };
        self.bits(bytes).map(move |bits| match dtype {
            Dtype::I8 => i64::from(bits.to_le_bytes()[0].cast_signed()),
            Dtype::I16 => i64::from(u16::try_from(bits).unwrap_or_default().cast_signed()),
            Dtype::I32 => i64::from(low(bits).cast_signed()),
            Dtype::I64 => bits.cast_signed(),
            _ => i64::try_from(bits).unwrap_or(i64::MAX),
        })
    }

    /// The floating-point numbers in `bytes`; none for another type.
    pub fn floats<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = f32> + use<'a> {
        let bytes = if self.dtype == Dtype::F32 { bytes } else { &[] };
        self.bits(bytes).map(|bits| f32::from_bits(low(bits)))
    }

    /// Reads `count` numbers from the one at `place` in the order of the file into `buffer`, as far as they are there.
    ///
    /// # Errors
    /// I/O errors.
    pub fn read<S: Source + ?Sized>(&self, source: &S, place: u64, count: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
        let span = self.span(place, count);
        source.read_into(span.start, index(span.len()), buffer)
    }
}

/// A header of version 1, as NumPy writes it, for an array in C order of numbers that `descr` names, such as `<u2`.
#[must_use]
pub fn header(descr: &str, shape: &[u64]) -> Vec<u8> {
    header_of(1, descr, false, shape, 64)
}

fn header_of(version: u8, descr: &str, fortran: bool, shape: &[u64], align: usize) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let shape = match shape {
        [one] => format!("({one},)"),
        many => format!("({})", many.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    let fixed = if version == 1 { 10usize } else { 12 };
    let used = fixed.saturating_add(text.len()).saturating_add(1);
    let padding = used.checked_next_multiple_of(align).unwrap_or(used).saturating_sub(used);
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    let mut out = MAGIC.to_vec();
    out.extend([version, 0]);
    if version == 1 {
        out.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
    } else {
        out.extend(u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    }
    out.extend(text.into_bytes());
    out
}

/// The lower 32 bits.
pub(crate) const fn low(bits: u64) -> u32 {
    let [a, b, c, d, ..] = bits.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// The upper 32 bits.
pub(crate) const fn high(bits: u64) -> u32 {
    low(bits >> 32)
}

struct Text {
    version: u8,
    span: Span,
}

/// The bytes of the dictionary.
fn header_text(prefix: &[u8], len: u64, damage: &mut Vec<Damage>) -> Option<Text> {
    let mut cursor = Cursor::new(prefix);
    let mut cut = |short| {
        damage.push(Damage::short(Code::NpyCut, short, "header"));
    };
    let magic = match cursor.array::<6>() {
        Ok(magic) => magic,
        Err(short) => {
            cut(short);
            return None;
        }
    };
    if magic != MAGIC {
        let fault = Damage::new(Code::NpyMagic, Span::sized(0, 6), "magic");
        damage.push(fault.expected(Value::Words("0x93 and NUMPY")).found(Value::Words("other bytes")));
        return None;
    }
    let version = match cursor.array::<2>() {
        Ok(version) => version,
        Err(short) => {
            cut(short);
            return None;
        }
    };
    let length = match version {
        [1, 0] => cursor.u16().map(u32::from),
        [2 | 3, 0] => cursor.u32(),
        [major, _] => {
            damage.push(
                Damage::new(Code::NpyVersion, Span::sized(6, 2), "version")
                    .expected(Value::Words("1.0, 2.0 or 3.0"))
                    .found(Value::Number(u64::from(major))),
            );
            return None;
        }
    };
    let length = match length {
        Ok(length) => u64::from(length),
        Err(short) => {
            cut(short);
            return None;
        }
    };
    let span = Span::sized(cursor.offset(), length);
    if length >= HEADER_BYTES {
        damage.push(
            Damage::new(Code::NpyHeader, Span::new(8, span.start), "length of the header")
                .expected(Value::AtMost(HEADER_BYTES.saturating_sub(1)))
                .found(Value::Number(length)),
        );
        return None;
    }
    if span.end > len64(prefix).min(len) {
        let there = Span::new(span.start, len64(prefix));
        damage.push(
            Damage::new(Code::NpyCut, there, "header").expected(Value::Bytes(length)).found(Value::Bytes(there.len())),
        );
        return None;
    }
    let [version, _] = version;
    Some(Text { version, span })
}

#[cfg(test)]
mod tests;
