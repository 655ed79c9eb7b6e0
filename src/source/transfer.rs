//! Recognising a file whose bytes were rewritten by a copy: as text with other ends of lines, or as text in UTF-8.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::{FileSource, OpenError, Recoding, Restoration, Source};
use crate::bytes::{Span, index};
use crate::damage::{Code, Damage, Value};

/// Bytes that are read at once until it is clear that a file was not rewritten.
const FIRST: u64 = 1 << 12;
/// Bytes that are looked at in any case.
const MOST: u64 = 1 << 20;
/// Files above this are not read as a whole to undo what a copy did.
const LARGEST: u64 = 4 << 30;
/// Ends of lines, or characters of several bytes, that must be there.
const LEAST: u32 = 3;
/// How often a file may have been converted in the same way.
const MOST_TIMES: usize = 3;
/// What the header of a NumPy array, which ends with a line feed behind a space, begins with after its first byte.
const NUMPY: &[u8] = b"NUMPY";

impl FileSource {
    /// Opens a regular file, and reads it as it was before a copy rewrote its bytes; gives what is undone.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open_restored(path: &Path) -> Result<(Self, Vec<Damage>), OpenError> {
        let file = Self::open(path)?;
        let (restoration, damage) = recognize(&file)?;
        Ok((file.restored(restoration.map(Arc::new)), damage))
    }
}

/// What turns the bytes of a file back into those that it had before a copy; `None` where it was not rewritten.
///
/// # Errors
/// I/O errors.
pub fn recognize<S: Source>(source: &S) -> io::Result<(Option<Restoration>, Vec<Damage>)> {
    let read = |at: u64, buf: &mut [u8]| source.read_at(at, buf);
    let len = source.len();
    let mut restoration = Restoration::default();
    let all = Span::sized(0, len);
    if len > LARGEST {
        return Ok((None, Vec::new()));
    }
    // What is text after one conversion was converted twice.
    for _ in 0..MOST_TIMES {
        if !looks(&View { source, restoration: &restoration }, is_utf8)? || !undo_utf8(&mut restoration, len, &read)? {
            break;
        }
    }
    let encoded = restoration.len(len);
    for _ in 0..MOST_TIMES {
        let mut with = restoration.clone();
        if !looks(&View { source, restoration: &restoration }, is_crlf)? || !with.undo(Recoding::Crlf, len, &read)? {
            break;
        }
        restoration = with;
    }
    let added = [
        (Code::CopyEncoding, "bytes above 127, written as UTF-8", len.saturating_sub(encoded)),
        (Code::CopyCrlf, "carriage returns before line feeds", encoded.saturating_sub(restoration.len(len))),
    ];
    let added = added.into_iter().filter(|(.., bytes)| *bytes > 0);
    let damage: Vec<Damage> =
        added.map(|(code, what, bytes)| Damage::new(code, all, what).found(Value::Number(bytes))).collect();
    Ok(((!restoration.is_empty()).then_some(restoration), damage))
}

/// Adds the step that turns UTF-8 back into bytes; false where other characters are in the file.
fn undo_utf8(
    restoration: &mut Restoration,
    len: u64,
    read: &dyn Fn(u64, &mut [u8]) -> io::Result<usize>,
) -> io::Result<bool> {
    for recoding in [Recoding::Latin1, Recoding::Windows1252] {
        if restoration.undo(recoding, len, read)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A source read through a restoration.
pub(crate) struct View<'v, S> {
    /// The file.
    pub source: &'v S,
    /// How it is read.
    pub restoration: &'v Restoration,
}

impl<S: Source> Source for View<'_, S> {
    fn len(&self) -> u64 {
        self.restoration.len(self.source.len())
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.restoration.read(offset, buf, &|at, buf| self.source.read_at(at, buf))
    }
}

/// Whether the first bytes of a file all look as a recoding leaves them, and enough of them are changed ones. `seen` gives
/// how many those are, or `None` for bytes that the recoding does not leave.
fn looks<S: Source>(source: &S, seen: fn(&[u8], bool) -> Option<u32>) -> io::Result<bool> {
    let (mut bytes, mut part) = (Vec::new(), FIRST);
    loop {
        source.read_into(0, index(part), &mut bytes)?;
        let all = bytes.len() as u64 >= source.len();
        let numpy = bytes.get(1..6) == Some(NUMPY) || bytes.get(2..7) == Some(NUMPY);
        let least = if numpy { 1 } else { LEAST };
        match seen(&bytes, all) {
            None => return Ok(false),
            Some(count) if all || part >= MOST => return Ok(count >= least),
            Some(count) if count >= 4 * LEAST => return Ok(true),
            Some(_) => part = (part * 8).min(MOST),
        }
    }
}

/// Line feeds behind carriage returns; `None` where one is not.
fn is_crlf(bytes: &[u8], _: bool) -> Option<u32> {
    let mut count = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'\n' {
            if at == 0 || bytes.get(at - 1) != Some(&b'\r') {
                return None;
            }
            count += 1;
        }
    }
    Some(count)
}

/// Characters of several bytes; `None` where bytes are no UTF-8.
fn is_utf8(bytes: &[u8], all: bool) -> Option<u32> {
    u32::try_from(wide_characters(text_of_prefix(bytes, all)?)).ok()
}

/// The text of the first bytes of a file; `None` where they are no UTF-8. `all` says that these are all of its bytes: otherwise the last
/// character may go on behind them.
pub(crate) fn text_of_prefix(bytes: &[u8], all: bool) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if !all && error.error_len().is_none() => {
            std::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()
        }
        Err(_) => None,
    }
}

/// How many characters of a text take several bytes.
pub(crate) fn wide_characters(text: &str) -> usize {
    text.chars().filter(|c| !c.is_ascii()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restored(file: &[u8]) -> (Option<Vec<u8>>, Vec<Code>) {
        let (restoration, damage) = recognize(&file).unwrap();
        let bytes = restoration.map(|restoration| {
            let mut bytes = Vec::new();
            View { source: &file, restoration: &restoration }.read_into(0, 1 << 20, &mut bytes).unwrap();
            bytes
        });
        (bytes, damage.iter().map(|d| d.code).collect())
    }

    #[test]
    fn rewritten_bytes_are_recognized_and_others_left_alone() {
        let original: Vec<u8> = (0u32..40_000).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let crlf = |bytes: &[u8]| -> Vec<u8> {
            bytes.iter().flat_map(|b| if *b == b'\n' { vec![13, 10] } else { vec![*b] }).collect()
        };
        let utf8 = |bytes: &[u8]| bytes.iter().map(|b| char::from(*b)).collect::<String>().into_bytes();
        assert_eq!(restored(&original), (None, vec![]));
        assert_eq!(restored(&crlf(&original)), (Some(original.clone()), vec![Code::CopyCrlf]));
        assert_eq!(restored(&utf8(&original)), (Some(original.clone()), vec![Code::CopyEncoding]));
        assert_eq!(
            restored(&utf8(&crlf(&original))),
            (Some(original.clone()), vec![Code::CopyEncoding, Code::CopyCrlf])
        );
        assert_eq!(restored(&utf8(&utf8(&original))), (Some(original.clone()), vec![Code::CopyEncoding]), "twice");
        assert_eq!(restored(&crlf(&crlf(&original))), (Some(original.clone()), vec![Code::CopyCrlf]), "twice");
        assert_eq!(restored(b"a\r\nb\r\n"), (None, vec![]), "too few to tell");
        assert_eq!(restored(&[0; 9000]), (None, vec![]));
    }
}
