//! Finding pak regions.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::Scan;
use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::pak::place;
use crate::parallel;
use crate::save::{Fault, PakDir, PakFile};
use crate::source::{FileSource, Source};

/// Ending of pak regions.
const ENDING: &str = "region";

/// Whether the name of a file is that of a pak region, or close to it.
pub(super) fn is_pak(path: &Path) -> bool {
    let close = |name: &OsStr| place::is_close(&name.to_string_lossy());
    path.extension() == Some(OsStr::new(ENDING)) || path.file_name().is_some_and(close)
}

/// Reads the numbers of records of all files.
pub(super) fn read_record_counts(pak_dir: &mut PakDir) {
    let dir = &pak_dir.dir;
    parallel::each_mut(&mut pak_dir.files, |file| {
        let mut prefix = Vec::new();
        let source = FileSource::open(&dir.join(&file.name));
        file.refused = source.and_then(|source| Ok(source.read_into(0, 16, &mut prefix)?)).err();
        if let Some(bytes) = prefix.get(8..12).and_then(<[u8]>::first_chunk::<4>) {
            file.records = u32::try_from(i32::from_le_bytes(*bytes)).ok();
        }
    });
    find_usual_records(pak_dir);
}

/// Finds the number of records that most files have.
pub(super) fn find_usual_records(pak_dir: &mut PakDir) {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    pak_dir.files.iter().filter_map(|file| file.records).for_each(|n| *counts.entry(n).or_default() += 1);
    // Of counts that are equally frequent, the largest one.
    pak_dir.usual_records = counts.into_iter().max_by_key(|(records, files)| (*files, *records)).map(|(n, _)| n);
}

impl PakFile {
    fn named(name: &Path, region: Option<[i32; 3]>, len: u64) -> Self {
        let is_placed = region.is_some();
        let region = region.unwrap_or_default();
        Self { name: name.into(), region, is_placed, len, records: None, refused: None }
    }
}

impl Scan<'_> {
    /// The pak regions of one directory.
    pub(super) fn pak_dir(&mut self, dir: &Path, paths: &[PathBuf]) {
        let mut rooms: BTreeMap<&str, Vec<PakFile>> = BTreeMap::new();
        for path in paths {
            let Some(name) = path.file_name() else { continue };
            let text = name.to_str().unwrap_or_default();
            let found = place::parse_room_name(text);
            if found.is_none() {
                self.odd_name(path, text, paths);
            }
            let found = found.or_else(|| Some(("", place::parse_meant_name(text)?)));
            let (room, region) = found.map_or(("", None), |(room, region)| (room, Some(region)));
            let len = fs::symlink_metadata(path).map_or(0, |metadata| metadata.len());
            rooms.entry(room).or_default().push(PakFile::named(Path::new(name), region, len));
        }
        for (room, mut files) in rooms {
            files.sort_by(|a, b| {
                let by_place = |file: &PakFile| (file.region[2], file.region[1], file.region[0]);
                // Of two files of a region, the game reads the one with its own name.
                let is_odd = |file: &PakFile| file.name.to_str().and_then(place::parse_room_name).is_none();
                let by_name = || is_odd(a).cmp(&is_odd(b)).then_with(|| a.name.cmp(&b.name));
                by_place(a).cmp(&by_place(b)).then_with(by_name)
            });
            self.pak_dirs.push(PakDir { dir: dir.to_owned(), room: room.to_owned(), usual_records: None, files });
        }
    }

    /// Reports a name that the game does not write: a second file of a region, or not a region at all.
    fn odd_name(&mut self, path: &Path, name: &str, paths: &[PathBuf]) {
        let region = place::parse_meant_name(name);
        let twin = region.filter(|region| {
            let canonical = place::name(*region);
            paths.iter().any(|other| other.file_name() == Some(OsStr::new(&canonical)))
        });
        let code = if twin.is_some() { Code::PakDuplicate } else { Code::PakName };
        let mut damage = Damage::new(code, Span::default(), "name of the file");
        if let Some(region) = region {
            damage = damage.found(Value::triple(region));
        }
        let detail = region.filter(|_| twin.is_none());
        let detail = detail.map(|region| format!("The game looks for `{}`.", place::name(region)));
        self.faults.push(Fault { path: path.to_owned(), damage, detail });
    }
}
