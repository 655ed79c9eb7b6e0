//! The layout that a forest should have, and its meta file, which is rewritten if it differs: the headers of region
//! files of version 3 store the whole layout.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::bytes::index;
use crate::damage::{Code, Damage};
use crate::draft;
use crate::godot::channel::{CHANNELS, Depth};
use crate::godot::forest::{Meta, REGION_SIZE_PO2};
use crate::godot::region::{Format, Header};
use crate::repair::backup::Store;
use crate::repair::decision::{Action, RegionPlan};
use crate::repair::out::below;
use crate::save::{Forest, Kind, META, Save, layout_of_blocks};
use crate::source::Source;

/// The sector size of a forest whose meta file has 65,536, which does not fit the 16 bits of a region header.
const SECTOR: u32 = 1 << 15;

/// Where a meta file comes from that region files show.
const FROM_HEADERS: &str = "written anew from the headers of the region files";

/// The target layout of a forest.
#[derive(Debug, Default)]
pub(super) struct Target {
    /// The layout of its region files, if known.
    pub format: Option<Format>,
    /// Its meta file, if that must be rewritten.
    pub meta: Option<MetaFile>,
}

/// A meta file that is rewritten.
#[derive(Clone, Debug)]
pub struct MetaFile {
    /// Its path below the save.
    pub name: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its origin, in words.
    pub from: &'static str,
    /// Whether there is an old one, which is kept in `lost+found`.
    pub old: bool,
}

impl Target {
    pub fn new(save: &Save, forest: &Forest, backup: Option<&Store>) -> Result<Self, draft::Error> {
        let votes = votes(forest);
        let most = votes.iter().max_by_key(|(_, n)| *n).map(|(format, _)| *format);
        let readable = forest.meta.as_ref().or(forest.salvaged.as_ref());
        let said = readable.and_then(Meta::format);
        let usable = said.is_some_and(|f| f.sector_size < 1 << 16)
            && forest.meta.as_ref().is_some_and(|meta| matches!(meta.version, Some(1..=3)));
        let share = |format: &Format| votes.iter().find(|(f, _)| f == format).map_or(0, |(_, n)| *n);
        // Files of versions 1 and 2 have no layout but that of the meta file.
        let old_files = forest.regions.iter().filter(|file| file.damage.is_empty() && is_old(file)).count();
        let format = match (said.filter(|_| usable), most) {
            // A meta file is right if no other layout has more region files than its own.
            (Some(said), Some(most)) if share(&said) + old_files < share(&most) => Some(most),
            (Some(said), _) => Some(said),
            (None, Some(most)) => Some(most),
            (None, None) => said
                .map(|said| Format { sector_size: said.sector_size.min(SECTOR), ..said })
                .or_else(|| with_depths_of_blocks(save, forest, readable?)),
        };
        let given = forest.format_against_meta(&save.options);
        let format = given.or(format);
        // A layout given by an option applies to the whole forest.
        let format = format.or(forest.format);
        let mut target = Self { format, meta: None };
        let lods = lods_of(forest);
        let counted = readable.and_then(|meta| meta.lod_count);
        let short = counted.is_some_and(|n| n < lods);
        if forest.kind != Kind::Forest || (usable && said == format && !short) {
            return Ok(target);
        }
        let path = forest.dir.join(META);
        let name = below(&save.path, &path);
        let old = std::fs::symlink_metadata(&path).is_ok_and(|m| m.is_file());
        let file = |bytes, from| Some(MetaFile { name: name.clone(), bytes, from, old });
        let from_backup =
            backup.filter(|_| given.is_none() && most.is_none() && !usable).and_then(|store| store.meta.as_ref());
        if let Some(path) = from_backup {
            let source = draft::open(path)?;
            let mut bytes = Vec::new();
            source.read_into(0, index(source.len()), &mut bytes).map_err(draft::Error::read(path))?;
            target.format = backup.and_then(|store| store.format).or(target.format);
            target.meta = file(bytes, "taken from the backup");
            return Ok(target);
        }
        let from = match (most.is_some(), forest.meta.is_some()) {
            _ if given.is_some() => "written anew with the layout that was given",
            (true, _) => FROM_HEADERS,
            (false, true) => "corrected",
            (false, false) => "written anew from what is left of it",
        };
        target.meta = format.and_then(|format| meta_of(forest, &format)).and_then(|meta| file(meta.encode(), from));
        Ok(target)
    }

    /// The meta file of a forest whose layout was unknown before its region files were put right, by the headers that they get.
    pub fn meta_of_plan(&self, save: &Save, forest: &Forest, regions: &[RegionPlan]) -> Option<MetaFile> {
        if self.format.is_some() || self.meta.is_some() || forest.kind != Kind::Forest {
            return None;
        }
        let path = forest.dir.join(META);
        let own = regions.iter().filter(|region| region.path.starts_with(&forest.dir));
        let mut headers =
            own.filter(|region| region.action == Action::Rebuild).filter_map(|region| region.header.as_ref());
        let first = headers.next()?.format;
        let meta = meta_of(forest, &first).filter(|_| headers.all(|header| header.format == first))?;
        let old = std::fs::symlink_metadata(&path).is_ok_and(|m| m.is_file());
        Some(MetaFile { name: below(&save.path, &path), bytes: meta.encode(), from: FROM_HEADERS, old })
    }
}

/// The meta file that a layout asks for; `None` where no meta file can have it.
fn meta_of(forest: &Forest, format: &Format) -> Option<Meta> {
    let &Format { block_size_po2, region_size: [x, y, z], depths, sector_size } = format;
    let region_size_po2 = u8::try_from(x.trailing_zeros()).ok()?;
    let is_valid = REGION_SIZE_PO2.contains(&region_size_po2.into());
    if x != y || y != z || !x.is_power_of_two() || !is_valid {
        return None;
    }
    let readable = forest.meta.as_ref().or(forest.salvaged.as_ref());
    // Without the version, only the files' own versions show version 1.
    let version = readable.and_then(|meta| meta.version).filter(|v| matches!(v, 1..=3));
    let all_old = !forest.regions.is_empty() && forest.regions.iter().all(is_old);
    let version = version.unwrap_or(if all_old { 2 } else { 3 });
    Some(Meta {
        version: Some(version),
        block_size_po2: Some(block_size_po2),
        region_size_po2: Some(region_size_po2),
        sector_size: Some(sector_size),
        depths: (version > 1).then_some(depths),
        lod_count: readable.and_then(|meta| meta.lod_count).map(|n| n.max(lods_of(forest))),
        extra: Vec::new(),
    })
}

/// The number of LODs that a forest has files of, those without any below them included.
fn lods_of(forest: &Forest) -> u8 {
    forest.regions.iter().map(|file| file.lod.saturating_add(1)).max().unwrap_or(0)
}

/// The layout by a meta file that has lost the depths: blocks store their own.
fn with_depths_of_blocks(save: &Save, forest: &Forest, meta: &Meta) -> Option<Format> {
    let any = [Depth::Bits8; CHANNELS];
    let format = Meta { depths: Some(meta.depths.unwrap_or(any)), ..meta.clone() }.format()?;
    let side = 1u16.checked_shl(format.block_size_po2.into())?;
    let by = |file, version| {
        let (own, n) = layout_of_blocks(file, &forest.dir, &Header::new(version, format), &save.options)?;
        // One block alone may be the damaged one.
        (own.size == [side; 3] && n > 1).then_some(Format { depths: own.depths, ..format })
    };
    forest.regions.iter().find_map(|file| by(file, 3).or_else(|| by(file, 2)))
}

fn is_old(file: &crate::save::RegionFile) -> bool {
    file.header.as_ref().is_some_and(|h| h.version < 3)
}

/// The layouts that undamaged headers of version 3 have, with the number of files of each. Where no file is undamaged, those
/// that are cut off after the layout count.
fn votes(forest: &Forest) -> Vec<(Format, usize)> {
    // What the blocks of a file contradicted is theirs now.
    let whole = votes_of(forest, |damage| damage.iter().all(|damage| damage.code == Code::RegionLayout));
    let cut = |damage: &[Damage]| damage.iter().all(|damage| damage.code == Code::RegionTableCut);
    if whole.is_empty() { votes_of(forest, cut) } else { whole }
}

fn votes_of(forest: &Forest, counts: impl Fn(&[Damage]) -> bool) -> Vec<(Format, usize)> {
    let mut votes: BTreeMap<Vec<u8>, (Format, usize)> = BTreeMap::new();
    let sound = forest.regions.iter().filter(|file| counts(&file.damage)).filter_map(|file| file.header.as_ref());
    for header in sound.filter(|h| h.version == 3) {
        let mut key = Vec::new();
        // What was decoded fits.
        if header.encode(&mut key).is_err() {
            continue;
        }
        key.truncate(19);
        votes.entry(key).or_insert((header.format, 0)).1 += 1;
    }
    votes.into_values().collect()
}
