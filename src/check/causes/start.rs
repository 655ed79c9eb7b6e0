//! What the beginnings of files show whose headers, or whose text, cannot be read.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::bytes::index;
use crate::check::causes::evidence::{Files, SEARCHED, array_path, count};
use crate::check::causes::{Counts, Findings};
use crate::damage::Code;
use crate::save::Save;
use crate::source::{FileSource, Source};

/// Codes of files that were created, and into which nothing was written.
pub(super) const BARE: [Code; 2] = [Code::RegionEmpty, Code::StreamEmpty];

/// Codes of files whose headers cannot be read.
const UNREAD: [Code; 9] = [
    Code::RegionHeaderCut,
    Code::RegionNotRegion,
    Code::StreamNotDatabase,
    Code::PakHeaderCut,
    Code::PakRecordCount,
    Code::NpyCut,
    Code::NpyMagic,
    Code::BlockFileHeader,
    Code::BlockFilesMeta,
];

/// Codes of text files that cannot be read.
pub(super) const UNREAD_TEXT: [Code; 2] = [Code::MapUnreadable, Code::MetaUnreadable];

/// Bytes of a file that are looked at: as many as a page of a disk.
const PREFIX: u64 = 4096;

/// Bytes from which on it shows something that all of them are zero, or text.
const FEW: usize = 8;

/// Whether the header or the text of a file cannot be read, by the codes of its findings.
pub(super) fn is_unread(counts: &Counts) -> bool {
    [&BARE[..], &UNREAD, &UNREAD_TEXT].into_iter().any(|codes| count(counts, codes) > 0)
}

/// What the beginning of a file shows that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// There is no byte.
    Empty,
    /// It is zero, or a text has zeros in it.
    Zeros,
    /// A text ends too early.
    Cut,
    /// It is text, in the place of something else.
    Text,
}

/// The beginnings of unreadable files that show something, by the names of the files in findings.
pub(super) type Starts = HashMap<Arc<str>, Start>;

/// Reads the beginnings of some files that cannot be read.
pub(super) fn read_starts(findings: &Findings, save: &Save, files: &Files<'_>) -> Starts {
    let bare = findings.files.iter().filter(|(_, found)| count(&found.counts, &BARE) > 0);
    let mut starts: Starts = bare.map(|(name, _)| (Arc::clone(name), Start::Empty)).collect();
    let unread = findings.files.iter().filter(|(_, found)| is_unread(&found.counts));
    for (name, found) in unread.take(SEARCHED) {
        let source = path_of(save, files, name).and_then(|path| FileSource::open(&path).ok());
        let start = source.and_then(|source| match count(&found.counts, &UNREAD_TEXT) {
            0 => of_data(&prefix(&source)?),
            _ if source.is_empty() => Some(Start::Empty),
            // Text has no zeros.
            _ if has_zeros(&prefix(&source)?) => Some(Start::Zeros),
            _ => found.is_cut_text.then_some(Start::Cut),
        });
        starts.extend(start.map(|start| (Arc::clone(name), start)));
    }
    starts
}

/// The path of a file, by its name in findings.
pub(super) fn path_of(save: &Save, files: &Files<'_>, name: &str) -> Option<PathBuf> {
    let fault = || save.faults.iter().map(|fault| &fault.path).find(|path| save.shown(path) == name).cloned();
    files.get(name).map(|file| file.path()).or_else(fault).or_else(|| array_path(save, name))
}

fn prefix(source: &FileSource) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    source.read_into(0, index(source.len().min(PREFIX)), &mut bytes).ok()?;
    Some(bytes)
}

/// What the first bytes of a binary file show.
fn of_data(bytes: &[u8]) -> Option<Start> {
    let is_printable = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    match bytes {
        [] => Some(Start::Empty),
        bytes if bytes.len() < FEW => None,
        bytes if bytes.iter().all(|byte| *byte == 0) => Some(Start::Zeros),
        bytes if bytes.iter().all(is_printable) => Some(Start::Text),
        _ => None,
    }
}

/// Whether there are several zeros in a row.
fn has_zeros(bytes: &[u8]) -> bool {
    bytes.windows(FEW).any(|some| some.iter().all(|byte| *byte == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_shows_what_happened_to_a_file() {
        for (bytes, expected) in [
            (&b""[..], Some(Start::Empty)),
            (&[0; 16], Some(Start::Zeros)),
            (&[0; 4096], Some(Start::Zeros)),
            (b"This is no save.\n", Some(Start::Text)),
            (b"VXR_\x03\x04\x04\0\0\0\0\0", None),
            (b"VXR_", None),
            (&[0, 0, 0], None),
        ] {
            assert_eq!(of_data(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn characters_of_two_bytes_are_no_zeros_in_a_row() {
        let wide: Vec<u8> = b"{\"version\": 3}".iter().flat_map(|byte| [*byte, 0]).collect();
        assert!(!has_zeros(&wide));
        assert!(has_zeros(b"{\"version\": \0\0\0\0\0\0\0\0\0, \"lods\": 1}"));
    }
}
