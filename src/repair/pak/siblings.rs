//! What the headers of the other pak regions of a directory say about a damaged one.

use std::collections::BTreeSet;

use crate::pak::HEADER_BYTES;
use crate::pak::header::{Header, VERSIONS};
use crate::save::{PakDir, PakFile};
use crate::source::{FileSource, Source};

/// Files that are read at most: the first ones tell as much as all.
const FILES: usize = 64;

/// The tag and the version that all other files of a directory with a known version have; `None` if they differ or there is none.
fn common(dir: &PakDir, file: &PakFile) -> Option<([u8; 4], i32)> {
    let read = |other: &PakFile| {
        let source = FileSource::open(&dir.dir.join(&other.name)).ok()?;
        let mut bytes = Vec::new();
        source.read_into(0, crate::bytes::index(HEADER_BYTES), &mut bytes).ok()?;
        let header = Header::decode(&bytes, source.len()).value?;
        VERSIONS.contains(&header.version).then_some((header.tag, header.version))
    };
    let others = dir.files.iter().filter(|other| other.name != file.name).take(FILES);
    let found: BTreeSet<_> = others.filter_map(read).collect();
    found.first().copied().filter(|_| found.len() == 1)
}

/// Gives a header of an unknown version the version of the other files, and their tag if its own is zero. Adds each field that this
/// changes, with its number before and after.
pub(super) fn complete(header: &mut Header, fields: &mut Vec<(&'static str, i32, i32)>, dir: &PakDir, file: &PakFile) {
    if VERSIONS.contains(&header.version) {
        return;
    }
    let Some((tag, version)) = common(dir, file) else { return };
    if header.tag == [0; 4] && tag != header.tag {
        fields.push(("tag", 0, i32::from_le_bytes(tag)));
        header.tag = tag;
    }
    fields.push(("version_number", header.version, version));
    header.version = version;
}
