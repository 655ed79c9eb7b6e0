//! What shows that a program read or wrote a damaged file as text, where the changes cannot be undone.

use std::path::Path;
use std::sync::Arc;

use crate::check::causes::Findings;
use crate::check::causes::codes::UNREADABLE;
use crate::check::causes::evidence::{Files, SEARCHED, count};
use crate::check::causes::start::path_of;
use crate::damage::Code;
use crate::recover::map::SEVEN_BITS;
use crate::save::{File, Save};
use crate::source::{FileSource, Source, text_of_prefix, wide_characters};

/// Bytes of a damaged file that are searched.
const PREFIX: usize = 256 << 10;

/// Line feeds from which on their neighbours show something: of random bytes, one in 256 is a carriage return.
const LINE_FEEDS: usize = 8;

/// Ends of lines of one kind, in a file that has none of the other kind, that show something. Of compressed data one byte in 256 is a
/// carriage return and one a line feed, so there are about twice as many of the kind that is left, and data with one frequent
/// value has more.
const ENDS: usize = 16;
const BYTES_PER_END: std::ops::RangeInclusive<usize> = 64..=256;

/// Characters of several bytes in a file that is text as a whole. Compressed data is never valid UTF-8 for so long.
const CHARACTERS: usize = 8;

/// Bytes other than zero, and different ones among them, from which on it shows something that none is above 127: in
/// compressed data every second one is.
const BYTES: usize = 1024;
const DIFFERENT: usize = 96;

/// The marks at the beginning of UTF-16 text.
const UTF_16: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];

/// How a file was changed that was read or written as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// Every line feed follows a carriage return.
    ReturnsAdded,
    /// There is no line feed, and there are as many carriage returns as a file has of both.
    FeedsReplaced,
    /// There is no carriage return, and there are as many line feeds as a file has of both.
    ReturnsReplaced,
    /// The file is valid UTF-8, with replacement characters.
    BytesReplaced,
    /// The file is valid UTF-8, with other characters of several bytes.
    Encoded,
    /// No byte is above 127.
    SevenBits,
    /// A text file begins with the mark of UTF-16.
    Utf16,
}

/// A damaged file that was converted as text: its name in findings, and what shows it.
pub(super) type Converted = (Arc<str>, String);

/// Searches the beginnings of some damaged files for the traces of a conversion of text.
pub(super) fn find_converted(findings: &Findings, save: &Save, files: &Files<'_>) -> Vec<Converted> {
    let is_unreadable = |counts| count(counts, &UNREADABLE) > 0 || count(counts, &[Code::MapUnreadable]) > 0;
    let suspect = findings.files.iter().filter(|(_, found)| is_unreadable(&found.counts));
    let suspect = suspect.filter_map(|(name, _)| Some((name, path_of(save, files, name)?))).take(SEARCHED);
    let is_text = |name: &str| matches!(files.get(name), Some(File::Map(_)));
    let converted =
        suspect.filter_map(|(name, path)| Some((Arc::clone(name), say(name, read_sign(&path, is_text(name))?))));
    converted.collect()
}

/// What shows a conversion, as a clause.
fn say(name: &str, sign: Sign) -> String {
    match sign {
        Sign::ReturnsAdded => format!("every line feed in {name} follows a carriage return"),
        Sign::FeedsReplaced => format!("{name} has carriage returns and no line feed"),
        Sign::ReturnsReplaced => format!("{name} has line feeds and no carriage return"),
        Sign::BytesReplaced => format!("the bytes above 127 in {name} were replaced by a character"),
        Sign::Encoded => format!("the bytes above 127 in {name} were written as UTF-8"),
        Sign::SevenBits => format!("{name} has no byte above 127"),
        Sign::Utf16 => format!("{name} is in UTF-16"),
    }
}

fn read_sign(path: &Path, is_text: bool) -> Option<Sign> {
    let mut bytes = Vec::new();
    let source = FileSource::open(path).ok()?;
    source.read_into(0, PREFIX, &mut bytes).ok()?;
    if bytes.starts_with(SEVEN_BITS) {
        return Some(Sign::SevenBits);
    }
    if is_text {
        return UTF_16.iter().any(|mark| bytes.starts_with(mark)).then_some(Sign::Utf16);
    }
    find_sign(&bytes, bytes.len() as u64 == source.len())
}

/// What the bytes at the beginning of a binary file show; `all` says that these are all of its bytes.
fn find_sign(bytes: &[u8], all: bool) -> Option<Sign> {
    let (returns, feeds) = (count_byte(bytes, b'\r'), count_byte(bytes, b'\n'));
    let pairs = bytes.windows(2).filter(|pair| pair == b"\r\n").count();
    if feeds >= LINE_FEEDS && pairs == feeds {
        return Some(Sign::ReturnsAdded);
    }
    let data = bytes.iter().filter(|byte| **byte != 0).count();
    let is_usual = |ends: usize| ends >= ENDS && BYTES_PER_END.contains(&(data / ends));
    if feeds == 0 && is_usual(returns) {
        return Some(Sign::FeedsReplaced);
    }
    if returns == 0 && is_usual(feeds) {
        return Some(Sign::ReturnsReplaced);
    }
    let text = text_of_prefix(bytes, all)?;
    let characters = wide_characters(text);
    if characters >= CHARACTERS {
        let is_replaced = text.contains(char::REPLACEMENT_CHARACTER);
        return Some(if is_replaced { Sign::BytesReplaced } else { Sign::Encoded });
    }
    let mut seen = [false; 256];
    text.bytes().for_each(|byte| seen[usize::from(byte)] = true);
    let different = seen.iter().filter(|seen| **seen).count();
    (characters == 0 && data >= BYTES && different >= DIFFERENT).then_some(Sign::SevenBits)
}

fn count_byte(bytes: &[u8], one: u8) -> usize {
    bytes.iter().filter(|byte| **byte == one).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes as compressed data has them.
    fn noise() -> Vec<u8> {
        (0u32..20_000).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }

    #[test]
    fn data_that_no_program_converted_shows_nothing() {
        assert_eq!(find_sign(&noise(), true), None);
        assert_eq!(find_sign(&[0; 9000], true), None);
        assert_eq!(find_sign(&[13; 9], true), None);
        assert_eq!(find_sign(b"", true), None);
        // One type of voxel, whose number is that of a carriage return, in stored blocks.
        for kind in [b'\r', b'\n'] {
            let types: Vec<u8> = (0..9000).map(|i| if i % 3 == 0 { kind } else { 200 + (i % 40) as u8 }).collect();
            assert_eq!(find_sign(&types, true), None, "one of three voxels is of type {kind}");
        }
    }

    #[test]
    fn each_conversion_is_recognized() {
        let of = |bytes: &[u8]| find_sign(bytes, true);
        let crlf: Vec<u8> =
            noise().iter().flat_map(|byte| if *byte == b'\n' { vec![13, 10] } else { vec![*byte] }).collect();
        assert_eq!(of(&crlf), Some(Sign::ReturnsAdded));
        let cr: Vec<u8> = noise().iter().map(|byte| if *byte == b'\n' { 13 } else { *byte }).collect();
        assert_eq!(of(&cr), Some(Sign::FeedsReplaced));
        let universal: Vec<u8> = noise().iter().map(|byte| if *byte == 13 { b'\n' } else { *byte }).collect();
        assert_eq!(of(&universal), Some(Sign::ReturnsReplaced));
        assert_eq!(of(String::from_utf8_lossy(&noise()).as_bytes()), Some(Sign::BytesReplaced));
        let twice = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes();
        assert_eq!(of(&twice(&twice(&noise()))), Some(Sign::Encoded));
        let stripped: Vec<u8> = noise().iter().map(|byte| byte & 0x7f).collect();
        assert_eq!(of(&stripped), Some(Sign::SevenBits));
        // The beginning of a longer file may end within a character.
        let encoded = twice(&noise());
        let end = (1000..).find(|end| std::str::from_utf8(&encoded[..*end]).is_err()).unwrap();
        assert_eq!(find_sign(&encoded[..end], false), Some(Sign::Encoded));
        assert_eq!(find_sign(&encoded[..end], true), None);
    }
}
