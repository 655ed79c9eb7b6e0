//! Which findings about settings show that the engine refuses them, and which show that a meta file or a header was changed.

use std::collections::BTreeSet;

use crate::check::causes::Counts;
use crate::check::causes::codes::SETTINGS;
use crate::check::causes::evidence::Files;
use crate::damage::Code;
use crate::godot::region::Header;
use crate::save::{File, Forest, META, REGIONS, RegionFile, Save};

/// The largest sector size that a header stores.
const MOST_SECTOR_BYTES: u32 = u16::MAX as u32;

/// The code of a finding about a file which shows that the engine refuses the settings of the save.
pub(super) fn refused_code(save: &Save, files: &Files<'_>, name: &str, counts: &Counts) -> Option<Code> {
    let mut codes = SETTINGS.into_iter().filter(|code| counts.contains_key(code)).peekable();
    codes.peek()?;
    let (forest, file) = match files.get(name) {
        Some(File::Region(forest, file)) => (*forest, Some(*file)),
        _ => (save.forests.iter().find(|forest| save.shown(&forest.dir.join(META)) == name)?, None),
    };
    codes.find(|code| match code {
        // The engine leaves such a file only where it refuses the settings.
        Code::RegionNeverStored => file.and_then(|file| file.header.as_ref()).is_some_and(is_refused),
        Code::RegionSectorSize => {
            let is_stored = |bytes| (1..=MOST_SECTOR_BYTES).contains(&bytes);
            let has_meta = forest.meta.as_ref().and_then(|meta| meta.sector_size).is_some_and(is_stored);
            !has_meta && whole_headers(forest).next().is_none()
        }
        _ => whole_headers(forest).all(is_refused),
    })
}

fn is_refused(header: &Header) -> bool {
    header.format.refusal().is_some()
}

/// Whether a region file holds blocks, and its header, which stores their layout, has no damage.
fn is_whole(file: &RegionFile) -> bool {
    let holds_blocks = |header: &Header| header.version >= 3 && file.len > header.table.end;
    file.damage.is_empty() && file.header.as_ref().is_some_and(holds_blocks)
}

fn whole_headers(forest: &Forest) -> impl Iterator<Item = &Header> {
    forest.regions.iter().filter(|file| is_whole(file)).filter_map(|file| file.header.as_ref())
}

/// The forest whose meta file differs from a region file, or does not count a LOD that has region files, as the findings about a
/// file or a directory say.
pub(super) fn differing_forest<'s>(
    save: &'s Save,
    files: &Files<'s>,
    name: &str,
    counts: &Counts,
) -> Option<&'s Forest> {
    if counts.contains_key(&Code::MetaLods) {
        let is_above = |forest: &&Forest| {
            let lods: BTreeSet<u8> = forest.regions.iter().map(|file| file.lod).collect();
            lods.into_iter().any(|lod| save.shown(&forest.dir.join(format!("{REGIONS}/lod{lod}"))) == name)
        };
        return save.forests.iter().find(is_above);
    }
    match files.get(name) {
        Some(File::Region(forest, file)) if counts.contains_key(&Code::MetaDiffers) && is_whole(file) => Some(forest),
        _ => None,
    }
}

/// How many region files of a forest have the same layout; `None` where two of them differ, or there is one only.
pub(super) fn agreeing_files(forest: &Forest) -> Option<u64> {
    let mut formats = whole_headers(forest).map(|header| header.format);
    let first = formats.next()?;
    let mut count = 1u64;
    for format in formats {
        if format != first {
            return None;
        }
        count += 1;
    }
    (count > 1).then_some(count)
}
