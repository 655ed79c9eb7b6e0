//! A file read as it was before a copy changed its bytes.
//!
//! A [`Restoration`] is a list of steps, each over the bytes of the one before it: removing the carriage returns that a
//! conversion of line ends put in, turning UTF-8 back into bytes, and pieces that leave out inserted bytes or fill gaps
//! with zeros. It keeps no bytes of the file, only where to read them.

use std::io;

/// Restored bytes between two marks of a [`Step::Recode`].
const MARK: usize = 1 << 12;

/// Bytes that are read at once while a restoration is prepared.
const CHUNK: usize = 1 << 16;

/// How a copy changed the bytes, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recoding {
    /// Every line feed became a carriage return and a line feed.
    Crlf,
    /// Every byte became the character of its number (ISO 8859-1), in UTF-8.
    Latin1,
    /// Every byte became its character of Windows code page 1252, in UTF-8.
    Windows1252,
}

/// Where a piece of the restored bytes comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceFrom {
    /// The bytes from this offset on.
    At(u64),
    /// This byte, once or several times.
    Byte(u8),
}

/// A piece of the restored bytes; it ends where the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins in the restored bytes.
    pub start: u64,
    /// What is there.
    pub from: PieceFrom,
}

/// One step from the bytes of the file to those that it had.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// A recoding to undo, with the offset of every 4,096th restored byte.
    Recode { recoding: Recoding, marks: Vec<u64>, len: u64 },
    /// Pieces, by their starts.
    Pieces { pieces: Vec<Piece>, len: u64 },
}

/// What reads bytes at an offset.
type Read<'r> = dyn Fn(u64, &mut [u8]) -> io::Result<usize> + 'r;

/// How the bytes of a file become those that it had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restoration {
    steps: Vec<Step>,
}

impl Restoration {
    /// Number of restored bytes, of a file of so many.
    #[must_use]
    pub fn len(&self, file: u64) -> u64 {
        match self.steps.last() {
            None => file,
            Some(Step::Recode { len, .. } | Step::Pieces { len, .. }) => *len,
        }
    }

    /// Whether the bytes are those of the file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Adds the steps of another one, which is over the bytes that this one restores.
    pub fn append(&mut self, mut other: Self) {
        self.steps.append(&mut other.steps);
    }

    /// Adds a step that takes the restored bytes in pieces.
    pub fn take_pieces(&mut self, mut pieces: Vec<Piece>, len: u64) {
        pieces.sort_by_key(|piece| piece.start);
        self.steps.push(Step::Pieces { pieces, len });
    }

    /// Adds a step that undoes a recoding of all bytes read so far. False, with nothing added, when bytes are there that
    /// the recoding never leaves.
    ///
    /// # Errors
    /// I/O errors.
    pub fn undo(&mut self, recoding: Recoding, file: u64, read: &Read<'_>) -> io::Result<bool> {
        let total = self.len(file);
        let (mut marks, mut len, mut at) = (Vec::new(), 0u64, 0u64);
        let (mut input, mut out) = (vec![0; CHUNK], Vec::new());
        while at < total {
            let n = self.read(at, &mut input, read)?;
            let there = input.get(..n).unwrap_or_default();
            let last = at.saturating_add(n as u64) >= total;
            out.clear();
            let (mut used, mut left) = (0, there);
            while !left.is_empty() {
                let before = out.len();
                let Some(taken) = recoding.decode(left, last, &mut out) else { return Ok(false) };
                if taken == 0 {
                    break;
                }
                if out.len() > before {
                    if len.is_multiple_of(MARK as u64) {
                        marks.push(at + used as u64);
                    }
                    len += 1;
                }
                used += taken;
                left = left.get(taken..).unwrap_or_default();
            }
            if used == 0 {
                return Ok(false);
            }
            at += used as u64;
        }
        self.steps.push(Step::Recode { recoding, marks, len });
        Ok(true)
    }

    /// Where a restored byte is in the file; `None` where the file does not have it, or has text for it.
    #[must_use]
    pub fn stored_offset(&self, mut offset: u64) -> Option<u64> {
        for step in self.steps.iter().rev() {
            let Step::Pieces { pieces, .. } = step else { return None };
            let piece = pieces.get(pieces.partition_point(|piece| piece.start <= offset).checked_sub(1)?)?;
            let PieceFrom::At(from) = piece.from else { return None };
            offset = from.saturating_add(offset - piece.start);
        }
        Some(offset)
    }

    /// Reads restored bytes; fewer than asked for only at the end.
    ///
    /// # Errors
    /// I/O errors.
    pub fn read(&self, offset: u64, buf: &mut [u8], read: &Read<'_>) -> io::Result<usize> {
        read_steps(&self.steps, offset, buf, read)
    }
}

fn read_steps(steps: &[Step], offset: u64, buf: &mut [u8], read: &Read<'_>) -> io::Result<usize> {
    let Some((step, before)) = steps.split_last() else { return read(offset, buf) };
    let below = |at: u64, buf: &mut [u8]| read_steps(before, at, buf, read);
    let len = match step {
        Step::Recode { len, .. } | Step::Pieces { len, .. } => *len,
    };
    let there = usize::try_from(len.saturating_sub(offset)).unwrap_or(usize::MAX);
    let n = buf.len().min(there);
    let buf = buf.get_mut(..n).unwrap_or_default();
    match step {
        Step::Recode { recoding, marks, .. } => read_recoded(*recoding, marks, offset, buf, &below),
        Step::Pieces { pieces, len } => read_pieces(pieces, *len, offset, buf, &below),
    }
}

fn read_recoded(recoding: Recoding, marks: &[u64], offset: u64, buf: &mut [u8], below: &Read<'_>) -> io::Result<usize> {
    let mark = usize::try_from(offset / MARK as u64).unwrap_or(usize::MAX);
    let Some(mut at) = marks.get(mark).copied() else { return Ok(0) };
    let mut skip = usize::try_from(offset % MARK as u64).unwrap_or(0);
    let (mut done, mut input, mut out) = (0, Vec::new(), Vec::new());
    while done < buf.len() {
        let wanted = (buf.len() - done + skip).min(CHUNK) + 8;
        input.resize(wanted, 0);
        let n = below(at, &mut input)?;
        let last = n < wanted;
        let mut left = input.get(..n).unwrap_or_default();
        out.clear();
        while !left.is_empty() && out.len() < buf.len() - done + skip {
            let Some(taken) = recoding.decode(left, last, &mut out) else {
                return Err(io::ErrorKind::InvalidData.into());
            };
            if taken == 0 {
                break;
            }
            at += taken as u64;
            left = left.get(taken..).unwrap_or_default();
        }
        if out.is_empty() {
            break;
        }
        let from = skip.min(out.len());
        skip -= from;
        let new = out.get(from..).unwrap_or_default();
        if let Some(to) = buf.get_mut(done..done + new.len()) {
            to.copy_from_slice(new);
        }
        done += new.len();
    }
    Ok(done)
}

fn read_pieces(pieces: &[Piece], len: u64, offset: u64, buf: &mut [u8], below: &Read<'_>) -> io::Result<usize> {
    let mut done = 0;
    while done < buf.len() {
        let at = offset + done as u64;
        let next = pieces.partition_point(|piece| piece.start <= at);
        let Some(piece) = next.checked_sub(1).and_then(|i| pieces.get(i)) else { break };
        let end = pieces.get(next).map_or(len, |piece| piece.start);
        let n = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX).min(buf.len() - done);
        let part = buf.get_mut(done..done + n).unwrap_or_default();
        match piece.from {
            PieceFrom::Byte(byte) => part.fill(byte),
            PieceFrom::At(from) => {
                let there = below(from + (at - piece.start), part)?;
                if there < n {
                    return Ok(done + there);
                }
            }
        }
        if n == 0 {
            break;
        }
        done += n;
    }
    Ok(done)
}

impl Recoding {
    /// Takes what one restored byte became off the front: gives how many bytes those are, 0 where more are needed, and
    /// `None` where the recoding never leaves such bytes. A removed byte gives nothing to `out`.
    fn decode(self, input: &[u8], last: bool, out: &mut Vec<u8>) -> Option<usize> {
        match (self, input) {
            (Self::Crlf, [b'\r', b'\n', ..]) => Some(1),
            (Self::Crlf, [b'\r']) if !last => Some(0),
            (Self::Crlf, [byte, ..]) | (_, [byte @ 0..0x80, ..]) => {
                out.push(*byte);
                Some(1)
            }
            (_, [lead @ 0xc2..=0xc3, next @ 0x80..=0xbf, ..]) => {
                let byte = ((lead & 3) << 6) | (next & 0x3f);
                // The characters of these numbers are others in code page 1252, but for five that it leaves out.
                let other = self == Self::Windows1252 && (0x80..0xa0).contains(&byte);
                if other && !matches!(byte, 0x81 | 0x8d | 0x8f | 0x90 | 0x9d) {
                    return None;
                }
                out.push(byte);
                Some(2)
            }
            (Self::Windows1252, [a @ 0xc4..=0xef, ..]) => {
                let need = if *a < 0xe0 { 2 } else { 3 };
                let Some(bytes) = input.get(..need) else { return if last { None } else { Some(0) } };
                let character = std::str::from_utf8(bytes).ok()?.chars().next()?;
                let at = WINDOWS_1252.iter().position(|c| *c == character)?;
                out.push(u8::try_from(at).ok()? | 0x80);
                Some(need)
            }
            (_, [0xc2..=0xc3]) if !last => Some(0),
            _ => None,
        }
    }
}

/// The characters of 0x80 to 0x9f in code page 1252; those that it leaves out as the controls of these numbers.
const WINDOWS_1252: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}', '\u{2030}',
    '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}', '\u{2019}', '\u{201c}',
    '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}',
    '\u{17e}', '\u{178}',
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    fn read_all(restoration: &Restoration, file: &[u8], chunk: usize) -> Vec<u8> {
        let read = |at: u64, buf: &mut [u8]| file.read_at(at, buf);
        let (mut out, mut buf) = (Vec::new(), vec![0; chunk]);
        loop {
            let n = restoration.read(out.len() as u64, &mut buf, &read).unwrap();
            out.extend_from_slice(&buf[..n]);
            if n < chunk {
                return out;
            }
        }
    }

    fn noise(len: usize) -> Vec<u8> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn recodings_are_undone_to_the_byte() {
        let original = [noise(150_000), b"\n\r\r\n\r".to_vec()].concat();
        let crlf: Vec<u8> = original.iter().flat_map(|b| if *b == b'\n' { vec![13, 10] } else { vec![*b] }).collect();
        let latin: Vec<u8> = original.iter().map(|b| char::from(*b)).collect::<String>().into_bytes();
        let windows = original.iter().map(|b| match b {
            0x80..0xa0 => WINDOWS_1252[usize::from(*b) - 0x80],
            b => char::from(*b),
        });
        let windows = windows.collect::<String>().into_bytes();
        for (recoding, file) in [(Recoding::Crlf, crlf), (Recoding::Latin1, latin), (Recoding::Windows1252, windows)] {
            let mut restoration = Restoration::default();
            let read = |at: u64, buf: &mut [u8]| file.read_at(at, buf);
            assert!(restoration.undo(recoding, file.len() as u64, &read).unwrap());
            for chunk in [1 << 20, 4096, 977] {
                assert!(read_all(&restoration, &file, chunk) == original, "{recoding:?} by {chunk}");
            }
            let mut some = [0; 9];
            let n = restoration.read(100_001, &mut some, &read).unwrap();
            assert_eq!((n, &some[..]), (9, &original[100_001..100_010]));
        }
        let mut none = Restoration::default();
        let read = |at: u64, buf: &mut [u8]| original.read_at(at, buf);
        assert!(!none.undo(Recoding::Latin1, original.len() as u64, &read).unwrap(), "noise is no UTF-8");
        assert!(none.is_empty());
    }

    #[test]
    fn pieces_leave_out_fill_and_follow_a_recoding() {
        let file = b"ab\r\ncdXXef";
        let read = |at: u64, buf: &mut [u8]| file.read_at(at, buf);
        let mut restoration = Restoration::default();
        assert!(restoration.undo(Recoding::Crlf, 10, &read).unwrap());
        let piece = |start, from| Piece { start, from };
        let pieces = vec![piece(0, PieceFrom::At(0)), piece(5, PieceFrom::Byte(0)), piece(7, PieceFrom::At(7))];
        restoration.take_pieces(pieces, 9);
        assert_eq!(read_all(&restoration, file, 4), b"ab\ncd\0\0ef");
        assert_eq!(restoration.len(10), 9);
    }
}
