//! Finding pak regions.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::Scan;
use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::pak::place;
use crate::save::{Fault, PakFile, Room};

/// Ending of pak regions.
const ENDING: &str = "region";

/// Whether a file is meant to be a pak region, by its name.
pub(super) fn is_pak(path: &Path) -> bool {
    let close = |name: &OsStr| place::is_close(&name.to_string_lossy());
    path.extension() == Some(OsStr::new(ENDING)) || path.file_name().is_some_and(close)
}

impl Scan<'_> {
    /// The pak regions of one directory.
    pub(super) fn room(&mut self, dir: &Path, paths: &[PathBuf]) {
        let mut files: Vec<PakFile> = Vec::new();
        for path in paths {
            let Some(name) = path.file_name() else { continue };
            let text = name.to_str().unwrap_or_default();
            let region = place::parse_name(text);
            if region.is_none() {
                self.odd_name(path, text, paths);
            }
            let region = region.or_else(|| place::parse_close_name(text)).unwrap_or_default();
            let len = fs::symlink_metadata(path).map_or(0, |metadata| metadata.len());
            files.push(PakFile { name: Path::new(name).into(), region, len });
        }
        files.sort_by(|a, b| {
            let by_place = |file: &PakFile| (file.region[2], file.region[1], file.region[0]);
            by_place(a).cmp(&by_place(b)).then_with(|| a.name.cmp(&b.name))
        });
        self.rooms.push(Room { dir: dir.to_owned(), files });
    }

    /// A name that the game does not write: a second file of a region, or none of a region.
    fn odd_name(&mut self, path: &Path, name: &str, paths: &[PathBuf]) {
        let region = place::parse_close_name(name);
        let twin = region.filter(|region| {
            let canonical = place::name(*region);
            paths.iter().any(|other| other.file_name() == Some(OsStr::new(&canonical)))
        });
        let code = if twin.is_some() { Code::PakDuplicate } else { Code::PakName };
        let mut damage = Damage::new(code, Span::default(), "name of the file");
        if let Some(region) = twin {
            damage = damage.found(Value::triple(region));
        }
        self.faults.push(Fault { path: path.to_owned(), damage, detail: None });
    }
}
