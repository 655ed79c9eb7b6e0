//! Traces of the forest's settings: saves left by a conversion, and settings that the engine refuses.

use std::fs;
use std::path::Path;

use crate::bytes::Span;
use crate::check::Finding;
use crate::damage::{Code, Damage};
use crate::godot::region::{Format, refusal_words};
use crate::save::{Kind, META, REGIONS, Save};

/// Where a header of version 3 stores the sector size.
const SECTOR_SIZE_AT: u64 = 17;

/// Finds saves next to a forest that a conversion left: `NAME_old`, `NAME_old1`, ...
pub(in crate::check) fn left(save: &Save) -> Vec<Finding> {
    let mut findings = Vec::new();
    for forest in save.forests.iter().filter(|forest| forest.kind == Kind::Forest) {
        let Ok(real) = fs::canonicalize(&forest.dir) else { continue };
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else { continue };
        let start = format!("{}_old", name.to_string_lossy());
        let is_old = |other: &str| {
            let number = other.strip_prefix(&start);
            number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
        };
        let entries = fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok);
        let mut old: Vec<String> = entries
            .filter(|e| is_old(&e.file_name().to_string_lossy()) && e.path().join(REGIONS).is_dir())
            .map(|e| crate::printable::path(Path::new(&e.file_name())))
            .collect();
        old.sort_unstable();
        for old in old {
            let damage = Damage::new(Code::ConversionLeft, Span::default(), "save");
            findings.push(Finding::of_file(
                save.shown(&forest.dir).into(),
                damage,
                Some(format!("It is the directory `{old}`.")),
            ));
        }
    }
    findings
}

/// Settings that the engine refuses, one finding for each that a forest has: in the meta file, and in region files of
/// other settings, the first of them.
pub(in crate::check) fn refused(save: &Save) -> Vec<Finding> {
    let mut findings = Vec::new();
    for forest in &save.forests {
        let mut known: Vec<Format> = Vec::new();
        // The files are read by the layout that an option gives in place of another one of the meta file.
        let meta = forest.format_against_meta(&save.options).or_else(|| forest.meta.as_ref()?.format());
        let meta = meta.map(|format| (forest.dir.join(META), format, 0));
        let headers = forest.regions.iter().filter_map(|file| {
            let header = file.header.as_ref().filter(|header| header.version >= 3)?;
            Some((forest.dir.join(&file.name), header.format, SECTOR_SIZE_AT))
        });
        for (path, format, at) in meta.into_iter().chain(headers) {
            let Some(why) = refusal_words(&format).filter(|_| !known.contains(&format)) else { continue };
            known.push(format);
            let span = if at > 0 { Span::sized(at, 2) } else { Span::default() };
            let damage = Damage::new(Code::RegionRefused, span, "settings");
            findings.push(Finding::of_file(save.shown(&path).into(), damage, Some(why)));
        }
    }
    findings
}
