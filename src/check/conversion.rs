//! What the engine leaves beside a forest, or refuses, because of its settings.

use std::fs;
use std::path::Path;

use crate::bytes::Span;
use crate::check::Finding;
use crate::damage::{Code, Damage};
use crate::godot::region::Format;
use crate::save::{Kind, Save};

/// Sectors that a table's entry can count, and the highest first sector.
const MOST_SECTORS: u64 = 255;
const LAST_SECTOR: u64 = (1 << 24) - 1;

/// Saves beside a forest of whose names its own is the beginning: `NAME_old`, `NAME_old1`, ...
pub(super) fn left(save: &Save) -> Vec<Finding> {
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
            .filter(|e| is_old(&e.file_name().to_string_lossy()) && e.path().join("regions").is_dir())
            .map(|e| crate::printable::path(Path::new(&e.file_name())))
            .collect();
        old.sort();
        for old in old {
            let damage = Damage::new(Code::ConversionLeft, Span::default(), "save");
            findings.push(Finding::of_file(save.shown(&forest.dir).into(), damage, Some(format!("It is `{old}`."))));
        }
    }
    findings
}

/// Which setting the engine refuses to store a block with, in words.
pub(super) fn refused(format: &Format) -> Option<String> {
    let side = u64::from(format.block_size());
    let volume = side.saturating_mul(side).saturating_mul(side);
    let voxel: u64 = format.depths.iter().map(|depth| u64::from(depth.bits() / 8)).sum();
    let bytes = volume.saturating_mul(voxel);
    let sector = u64::from(format.sector_size.max(1));
    let most = bytes.div_ceil(sector);
    if most > MOST_SECTORS {
        let least = bytes.div_ceil(MOST_SECTORS);
        return Some(format!(
            "The sector size of {sector} bytes is too small: a block can take {most} sectors, and the table counts to \
             {MOST_SECTORS}. It must be at least {least}."
        ));
    }
    let sectors = most.saturating_mul(u64::from(format.slots()));
    let size = format.region_size.map(i64::from);
    (sectors > LAST_SECTOR).then(|| {
        format!(
            "The region size of {} blocks is too large: they can take {sectors} sectors, and the table counts to \
             {LAST_SECTOR}.",
            crate::damage::Value::Triple(size)
        )
    })
}
