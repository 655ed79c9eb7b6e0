//! The rows of bytes that a screen shows: runs of equal rows are squeezed into one line.

use crate::bytes::index;
use crate::tui::data::field::Window;

/// A line of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HexRow {
    /// The bytes from an offset on.
    Bytes(u64),
    /// Rows that equal the one above: the offset of the first, and how many.
    Equal(u64, u64),
}

impl HexRow {
    /// The offset of the first byte.
    #[must_use]
    pub const fn start(self) -> u64 {
        match self {
            Self::Bytes(start) | Self::Equal(start, _) => start,
        }
    }
}

/// Where rows come from: bytes in a window of a file of some length, so many in a row.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// The bytes that were read.
    pub window: Window<'a>,
    /// Bytes of the file or block.
    pub len: u64,
    /// Bytes in a row.
    pub columns: u64,
    /// The row with the cursor, which is always shown.
    pub cursor: u64,
}

impl Rows<'_> {
    fn get(&self, row: u64) -> Option<&[u8]> {
        let start = row.checked_mul(self.columns)?;
        let from = index(start.checked_sub(self.window.start)?);
        let len = self.columns.min(self.len.checked_sub(start).filter(|left| *left > 0)?);
        self.window.bytes.get(from..from.checked_add(index(len))?)
    }

    /// Whether a row is left out: it equals the one before it, and is neither the last one nor the cursor's.
    fn is_equal(&self, row: u64) -> bool {
        let last = self.len.div_ceil(self.columns).saturating_sub(1);
        let before = row.checked_sub(1).and_then(|before| self.get(before));
        row != self.cursor && row != last && before.is_some() && before == self.get(row)
    }

    /// Lines of the screen such that the cursor's is at a line, as far as the file allows it.
    #[must_use]
    pub fn lines(&self, at: usize, lines: usize) -> Vec<HexRow> {
        let mut above: Vec<HexRow> = Vec::new();
        let mut row = self.cursor;
        while above.len() < lines {
            let Some(before) = row.checked_sub(1).filter(|before| self.get(*before).is_some()) else { break };
            let mut first = before;
            while self.is_equal(first) {
                first -= 1;
            }
            if first == before {
                above.push(HexRow::Bytes(before * self.columns));
                row = before;
            } else {
                above.push(HexRow::Equal((first + 1) * self.columns, before - first));
                row = first + 1;
            }
        }
        above.reverse();
        let mut out = vec![HexRow::Bytes(self.cursor * self.columns)];
        let mut row = self.cursor + 1;
        while out.len() < lines && self.get(row).is_some() {
            let mut end = row;
            while self.is_equal(end) {
                end += 1;
            }
            if end == row {
                out.push(HexRow::Bytes(row * self.columns));
                row += 1;
            } else {
                out.push(HexRow::Equal(row * self.columns, end - row));
                row = end;
            }
        }
        // Where the file ends early there is room for more above.
        let wanted = at.max(lines.saturating_sub(out.len()));
        let from = above.len().saturating_sub(wanted);
        let mut shown = above.split_off(from);
        shown.append(&mut out);
        shown.truncate(lines);
        shown
    }

    /// The row that a step leads to: over rows that are squeezed.
    #[must_use]
    pub fn step(&self, down: bool) -> Option<u64> {
        let mut row = self.cursor;
        loop {
            row = if down { row + 1 } else { row.checked_sub(1)? };
            if row.checked_mul(self.columns)? >= self.len {
                return None;
            }
            if !self.is_equal(row) {
                return Some(row);
            }
        }
    }
}

/// Bytes to search for: each may be any, or any in one of its digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<(u8, u8)>);

impl Pattern {
    /// Reads hexadecimal digits with `?` for any digit, or a text in quotes.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Some(quoted) = text.strip_prefix('"') {
            let quoted = quoted.strip_suffix('"').unwrap_or(quoted);
            let bytes: Vec<(u8, u8)> = quoted.bytes().map(|byte| (byte, 0xff)).collect();
            return if bytes.is_empty() { Err("type a text between the quotes".into()) } else { Ok(Self(bytes)) };
        }
        let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
        if digits.is_empty() || digits.len() % 2 == 1 {
            return Err("bytes have two digits each: 0d f0 ?? 90".into());
        }
        let digit = |c: char| match c {
            '?' => Ok((0u8, 0u8)),
            _ => match c.to_digit(16).and_then(|n| u8::try_from(n).ok()) {
                Some(n) => Ok((n, 0xf)),
                None => Err(format!("`{}` is not a hexadecimal digit", crate::printable::printable(&c.to_string()))),
            },
        };
        let mut out = Vec::new();
        for pair in digits.chunks_exact(2) {
            if let [high, low] = *pair {
                let ((high, high_mask), (low, low_mask)) = (digit(high)?, digit(low)?);
                out.push((high << 4 | low, high_mask << 4 | low_mask));
            }
        }
        Ok(Self(out))
    }

    /// How many bytes match.
    #[must_use]
    pub fn len(&self) -> u64 {
        u64::try_from(self.0.len()).unwrap_or(u64::MAX)
    }

    /// The first match in some bytes, from an index on.
    #[must_use]
    pub fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let matches = |part: &[u8]| part.iter().zip(&self.0).all(|(byte, (value, mask))| byte & mask == *value);
        let found = bytes.get(from..)?.windows(self.0.len()).position(matches)?;
        Some(from + found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::len64;

    fn rows(bytes: &[u8], cursor: u64) -> Rows<'_> {
        Rows { window: Window { start: 0, bytes }, len: len64(bytes), columns: 2, cursor }
    }

    #[test]
    fn equal_rows_are_squeezed_around_the_cursor() {
        let bytes = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2];
        let all = |cursor| rows(&bytes, cursor).lines(3, 10);
        assert_eq!(all(0), [HexRow::Bytes(0), HexRow::Bytes(2), HexRow::Equal(4, 3), HexRow::Bytes(10)]);
        let middle = [HexRow::Bytes(0), HexRow::Bytes(2), HexRow::Equal(4, 1), HexRow::Bytes(6), HexRow::Equal(8, 1)];
        assert_eq!(all(3)[..5], middle);
        assert_eq!(rows(&bytes, 1).step(true), Some(5));
        assert_eq!(rows(&bytes, 5).step(false), Some(1));
        assert_eq!((rows(&bytes, 5).step(true), rows(&bytes, 0).step(false)), (None, None));
        assert_eq!(rows(&bytes, 5).lines(1, 3).len(), 3);
    }

    #[test]
    fn patterns_have_wildcards() {
        let bytes = [0x0d, 0xf0, 0x0d, 0x90, b'h', b'i'];
        let find = |text: &str| Pattern::parse(text).unwrap().find(&bytes, 0);
        assert_eq!((find("0d f0"), find("0d??90"), find("9? 6?"), find("\"hi\"")), (Some(0), None, Some(3), Some(4)));
        assert_eq!(Pattern::parse("f0 ?? 90").unwrap().find(&bytes, 0), Some(1));
        for text in ["", "0", "0g", "\"\""] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }
}
