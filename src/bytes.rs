//! A cursor over a slice that checks bounds and tracks its offset.

use std::fmt;

/// A half-open range of byte offsets. Which bytes it counts (those of a file or those of a decompressed block) is
/// depends on the type that contains the span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset just past the last byte.
    pub end: u64,
}

impl Span {
    /// The span from `start` up to, not including, `end`; an `end` before `start` gives an empty span.
    #[must_use]
    pub const fn new(start: u64, end: u64) -> Self {
        Self { start, end: if end < start { start } else { end } }
    }

    /// The span of `len` bytes from `start`.
    #[must_use]
    pub const fn sized(start: u64, len: u64) -> Self {
        Self { start, end: start.saturating_add(len) }
    }

    /// Number of bytes.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether it holds no byte.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.end <= self.start
    }

    /// Whether every byte of `other` is inside.
    #[must_use]
    pub const fn contains(&self, other: &Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:x}..0x{:x}", self.start, self.end)
    }
}

/// The error of a read that needed more bytes than were left. Nothing was consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// Offset at which the read began.
    pub offset: u64,
    /// Bytes that were needed.
    pub needed: u64,
    /// Bytes that were left.
    pub left: u64,
}

/// The length of a slice as an offset.
#[must_use]
pub fn len64(data: &[u8]) -> u64 {
    u64::try_from(data.len()).unwrap_or(u64::MAX)
}

/// An offset or size as an index; a value that does not fit `usize` becomes `usize::MAX`, which no slice reaches.
#[must_use]
pub fn index(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// Reads little-endian values one after the other from a slice. A read that does not fit returns [`Short`] and leaves
/// the cursor where it was.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    offset: u64,
}

macro_rules! little_endian {
    ($($(#[$doc:meta])* $name:ident: $type:ty),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// [`Short`] when fewer bytes are left.
        pub fn $name(&mut self) -> Result<$type, Short> {
            self.array().map(<$type>::from_le_bytes)
        }
    )*};
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `data`, whose first byte has offset 0.
    #[must_use]
    pub const fn new(data: &'a [u8]) -> Self {
        Self::at(data, 0)
    }

    /// A cursor at the start of `data`, whose first byte has offset `base`.
    #[must_use]
    pub const fn at(data: &'a [u8], base: u64) -> Self {
        Self { rest: data, offset: base }
    }

    /// Offset of the next byte.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes left.
    #[must_use]
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Whether nothing is left.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The span of what is left.
    #[must_use]
    pub fn span(&self) -> Span {
        Span::sized(self.offset, len64(self.rest))
    }

    /// The bytes that are left, without consuming them.
    #[must_use]
    pub const fn peek(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `n` bytes.
    ///
    /// # Errors
    /// [`Short`] when fewer are left.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Short> {
        let Some((head, tail)) = self.rest.split_at_checked(n) else {
            return Err(self.short(n));
        };
        self.rest = tail;
        self.offset = self.offset.saturating_add(len64(head));
        Ok(head)
    }

    /// The next `N` bytes as an array.
    ///
    /// # Errors
    /// [`Short`] when fewer are left.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Short> {
        let Some((head, tail)) = self.rest.split_first_chunk::<N>() else {
            return Err(self.short(N));
        };
        self.rest = tail;
        self.offset = self.offset.saturating_add(len64(head));
        Ok(*head)
    }

    /// A cursor over the next `n` bytes alone, which are consumed here.
    ///
    /// # Errors
    /// [`Short`] when fewer are left.
    pub fn scope(&mut self, n: usize) -> Result<Self, Short> {
        let base = self.offset;
        self.take(n).map(|data| Self::at(data, base))
    }

    /// Consumes and returns all bytes that are left.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = self.rest;
        self.offset = self.offset.saturating_add(len64(rest));
        self.rest = &[];
        rest
    }

    little_endian! {
        /// One byte.
        u8: u8,
        /// Two bytes, little-endian.
        u16: u16,
        /// Four bytes, little-endian.
        u32: u32,
        /// Eight bytes, little-endian.
        u64: u64,
        /// Four bytes, little-endian, two's complement.
        i32: i32,
        /// Eight bytes, little-endian, two's complement.
        i64: i64,
        /// Four bytes, little-endian IEEE 754.
        f32: f32,
        /// Eight bytes, little-endian IEEE 754.
        f64: f64,
    }

    fn short(&self, needed: usize) -> Short {
        Short { offset: self.offset, needed: u64::try_from(needed).unwrap_or(u64::MAX), left: len64(self.rest) }
    }
}

/// The first `len` bytes of `buffer`, which grows if needed. Old bytes are not cleared.
pub(crate) fn grow(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        if buffer.try_reserve(len.saturating_sub(buffer.len())).is_err() {
            return &mut [];
        }
        buffer.resize(len, 0);
    }
    buffer.get_mut(..len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_does_not_fit_says_where_and_leaves_the_cursor() {
        let mut c = Cursor::at(&[1, 2, 3], 100);
        assert_eq!(c.u16(), Ok(0x0201));
        assert_eq!(c.u32(), Err(Short { offset: 102, needed: 4, left: 1 }));
        assert_eq!(c.u8(), Ok(3));
        assert!(c.is_empty());
        assert_eq!(c.offset(), 103);
    }

    #[test]
    fn a_scope_ends_where_it_was_told() {
        let mut c = Cursor::new(&[1, 2, 3, 4, 5, 6]);
        let mut inner = c.scope(4).unwrap();
        assert_eq!(inner.u32(), Ok(0x0403_0201));
        assert_eq!(inner.u8(), Err(Short { offset: 4, needed: 1, left: 0 }));
        assert_eq!(c.u16(), Ok(0x0605));
        assert!(c.scope(1).is_err());
    }

    #[test]
    fn a_length_no_slice_has_is_refused_without_overflow() {
        let mut c = Cursor::at(&[0; 4], u64::MAX - 1);
        assert!(c.take(usize::MAX).is_err());
        assert_eq!(c.take(4).map(<[u8]>::len), Ok(4));
        assert_eq!(c.offset(), u64::MAX);
    }
}
