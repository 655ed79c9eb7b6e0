//! What a plan does with each block: the list that totals count, and that a repaired copy can be compared with.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::recover::decide::Certainty;
use crate::repair::decision::{Action, Decision, Origin, RegionPlan};
use crate::repair::out::below;
use crate::repair::plan::{Plan, copied_regions};
use crate::repair::stream::Part;
use crate::repair::why::FileReason;
use crate::repair::{Chunk, MissingReason, PakPlan, StreamDecision, StreamPlan, block_files};
use crate::save::{File, Kind, Options, Region, Save, Scratch};
use crate::source::{FileSource, Source};

/// What a plan does with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// It is copied as it is, to where the table has it.
    Kept,
    /// It is written to another place than the table has, or encoded again, for certain.
    PutRight,
    /// It is written although its place is only likely.
    Likely,
    /// An older state of it is written, from a backup.
    Older,
    /// Those of its channels that are whole are written.
    Salvaged,
    /// The copy has no block there.
    Lost,
}

/// A block of a save, and what a plan does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockFate<'p> {
    /// The path of its file in the copy, below the copy.
    pub file: &'p Path,
    /// Its LOD.
    pub lod: u8,
    /// Its position in blocks of that LOD; in pak regions in chunks. `None` where nothing says which it is.
    pub position: Option<[i32; 3]>,
    /// The number of its record; only in pak regions.
    pub record: Option<u32>,
    /// What is done with it.
    pub fate: Fate,
    /// Whether it is in a region file: what is damaged there is torn between sectors.
    pub is_of_region: bool,
    /// Whether it is torn in the save.
    pub torn: bool,
    /// Whether it is of a file that the save does not have, and comes from a backup.
    pub added: bool,
    /// Whether its file ends before it.
    pub beyond_end: bool,
    /// Whether its file has no whole block for its position.
    pub not_found: bool,
    /// Whether it is where the table has it, but against the format.
    pub odd: bool,
    /// Whether it is whole and the table of its region has no entry for its position.
    pub unowned: bool,
    /// Whether it is where the table has it, which is not certain.
    pub in_doubt: bool,
    /// Whether it is right except for its slot, which is that of the old formula.
    pub in_old_slot: bool,
}

impl<'p> BlockFate<'p> {
    /// A block that is not in a region file, without any other property.
    const fn new(file: &'p Path, lod: u8, position: Option<[i32; 3]>, fate: Fate) -> Self {
        Self {
            file,
            lod,
            position,
            record: None,
            fate,
            is_of_region: false,
            torn: false,
            added: false,
            beyond_end: false,
            not_found: false,
            odd: false,
            unowned: false,
            in_doubt: false,
            in_old_slot: false,
        }
    }
}

/// The files of a save that a plan lists, by path.
type Files<'s> = HashMap<PathBuf, File<'s>>;

/// Passes on each block for which a save lists or holds data, and what a plan does with it. Blocks of maps are left out.
///
/// Reads the tables of files that the plan copies. A file that cannot be read is left out: the check reports it.
pub fn fates(save: &Save, plan: &Plan, each: &mut dyn FnMut(BlockFate<'_>)) {
    for (forest, file) in copied_regions(save, plan) {
        let name = below(&save.path, &forest.dir.join(&file.name));
        let is_of_region = forest.kind != Kind::BlockFiles;
        let fate = BlockFate { is_of_region, ..BlockFate::new(&name, file.lod, None, Fate::Kept) };
        if let Ok(Some(own)) = save.region(forest, file) {
            listed(own, &mut |position| each(BlockFate { position, ..fate }));
        }
    }
    let regions = plan.regions.iter().map(|region| region.path.as_path());
    let planned: HashSet<&Path> = regions.chain(plan.paks.iter().map(|pak| pak.path.as_path())).collect();
    let files = save.files().map(|file| (file.path(), file));
    let files: Files<'_> = files.filter(|(path, _)| planned.contains(path.as_path())).collect();
    plan.regions.iter().for_each(|region| of_region(save, &files, region, each));
    plan.paks.iter().for_each(|pak| of_pak(save, &files, pak, each));
    plan.streams.iter().for_each(|stream| of_stream(save, stream, each));
}

/// Passes on each block of one file that a plan rebuilds, and gives the number of blocks of it that go to `lost+found`; `None` for other
/// files. Nothing is read.
pub fn fates_in(save: &Save, plan: &Plan, path: &Path, each: &mut dyn FnMut(BlockFate<'_>)) -> Option<usize> {
    let is_here = |action, file: &Path| action == Action::Rebuild && file == path;
    if let Some(region) = plan.regions.iter().find(|region| is_here(region.action, &region.path)) {
        // Only files that are copied, restored or set aside are read.
        of_region(save, &Files::new(), region, each);
        return Some(region.lost.len());
    }
    if let Some(pak) = plan.paks.iter().find(|pak| is_here(pak.action, &pak.path)) {
        of_pak(save, &Files::new(), pak, each);
        return Some(pak.lost.len());
    }
    let stream = plan.streams.iter().find(|stream| is_here(stream.action, &stream.path))?;
    of_stream(save, stream, each);
    Some(stream.lost.len())
}

/// The positions that the table of a region lists.
fn listed<S: Source>(mut region: Region<S>, each: &mut dyn FnMut(Option<[i32; 3]>)) {
    let slots = region.slots(&mut Scratch::default()).unwrap_or_default();
    region.entries.iter().for_each(|listed| each(region.block_position(listed.slot, slots)));
}

fn of_region(save: &Save, files: &Files<'_>, region: &RegionPlan, each: &mut dyn FnMut(BlockFate<'_>)) {
    let is_of_region =
        !matches!(files.get(&region.path), Some(File::Region(forest, _)) if forest.kind == Kind::BlockFiles);
    let fate = |position, fate, torn, odd| BlockFate {
        is_of_region,
        torn,
        odd,
        ..BlockFate::new(&region.name, region.lod, position, fate)
    };
    let own = || -> Option<Region<FileSource>> {
        let &File::Region(forest, file) = files.get(&region.path)? else { return None };
        let mut own = save.region(forest, file).ok()??;
        own.position = region.region.unwrap_or(own.position);
        Some(own)
    };
    // If the file is renamed, its blocks move with it.
    let kept = if region.region.is_some() || region.changes_slots { Fate::PutRight } else { Fate::Kept };
    match region.action {
        Action::Copy | Action::Restore => {
            own().into_iter().for_each(|own| listed(own, &mut |at| each(fate(at, kept, false, false))));
        }
        Action::SetAside => match (own(), files.get(&region.path)) {
            // The blocks of a copy are whole, in the wrong place.
            (Some(own), _) => {
                listed(own, &mut |at| each(fate(at, Fate::Lost, region.why != FileReason::Copied, false)));
            }
            // The name of a block file is the position of its block.
            (None, Some(File::Region(forest, file))) if forest.kind == Kind::BlockFiles => {
                each(fate(Some(file.position), Fate::Lost, true, false));
            }
            _ => {}
        },
        Action::FromBackup => {
            // The name of a block file is the position of its block.
            let added = !files.contains_key(&region.path);
            if let Some(at) = block_files::position_of(&region.name) {
                return each(BlockFate { added, ..fate(Some(at), Fate::Older, true, false) });
            }
            let open = |path| Save::open(path, &Options { slots: save.options.slots, ..save.options.clone() }).ok();
            let backup = region.backup.as_deref().and_then(open);
            let all = backup.iter().flat_map(|backup| {
                backup.regions().filter_map(|(forest, file)| backup.region(forest, file).ok().flatten())
            });
            let of_backup = |at| BlockFate { added, ..fate(at, Fate::Older, true, false) };
            all.for_each(|held| listed(held, &mut |at| each(of_backup(at))));
        }
        Action::Rebuild => {
            for block in &region.blocks {
                let (what, torn, odd) = of_decision(block);
                // Another table of the save leads to such a block.
                let has_entry = block.listed_at.is_some() || region.by_other_table;
                let unowned = block.origin == Origin::Found && block.moved && !has_entry;
                let fate = fate(Some(block.position), if what == Fate::Kept { kept } else { what }, torn, odd);
                let in_doubt = what == Fate::Likely && block.listed_at.is_none() && !block.moved;
                let in_old_slot = what == Fate::Kept && region.changes_slots && region.region.is_none();
                each(BlockFate { unowned, in_doubt, in_old_slot, ..fate });
            }
            for (position, why) in &region.missing {
                let lost = fate(Some(*position), Fate::Lost, *why == MissingReason::Torn, false);
                let beyond_end = *why == MissingReason::BeyondEnd;
                let (not_found, in_doubt) = (*why == MissingReason::NotFound, *why == MissingReason::InDoubt);
                each(BlockFate { beyond_end, not_found, in_doubt, ..lost });
            }
        }
    }
}

/// What is done with a block, whether it is torn, and whether it is against the format.
fn of_decision(block: &Decision) -> (Fate, bool, bool) {
    let elsewhere = block.listed_at.is_some() || block.moved;
    match (block.origin, block.certainty) {
        (Origin::Salvaged, _) => (Fate::Salvaged, true, false),
        (Origin::Voxels, _) => (Fate::Salvaged, false, false),
        (Origin::Backup, _) => (Fate::Older, true, false),
        (Origin::Found, Certainty::Likely | Certainty::Candidate) => (Fate::Likely, false, false),
        (Origin::Found, Certainty::Certain) if !elsewhere && !block.is_changed() => (Fate::Kept, false, false),
        _ => (Fate::PutRight, false, !elsewhere && block.origin == Origin::Found),
    }
}

fn of_pak(save: &Save, files: &Files<'_>, pak: &PakPlan, each: &mut dyn FnMut(BlockFate<'_>)) {
    let fate = |record, position, fate, torn| BlockFate {
        record: Some(record),
        torn,
        ..BlockFate::new(&pak.name, 0, position, fate)
    };
    let stored = |what: Fate, each: &mut dyn FnMut(BlockFate<'_>)| {
        let Some(&File::Pak(dir, file)) = files.get(&pak.path) else { return };
        let Ok(Some(open)) = save.pak(dir, file, &mut Vec::new()) else { return };
        open.present().for_each(|(record, _)| each(fate(record, open.chunk(record), what, false)));
    };
    // If the file is renamed, its chunks move with it.
    let kept = if pak.is_renamed { Fate::PutRight } else { Fate::Kept };
    match pak.action {
        Action::Copy | Action::Restore => stored(kept, each),
        // The game reads no file of such a name, so it holds no position of the save.
        Action::SetAside | Action::FromBackup => {}
        Action::Rebuild => {
            let of = |chunk: &Chunk| match () {
                () if chunk.put_right.is_none() && !chunk.new_checksum => kept,
                () if chunk.certainty < Certainty::Certain => Fate::Likely,
                () => Fate::PutRight,
            };
            pak.chunks.iter().for_each(|chunk| each(fate(chunk.record, chunk.position, of(chunk), false)));
            pak.known_missing().for_each(|gone| each(fate(gone.record, gone.position, Fate::Lost, true)));
        }
    }
}

fn of_stream(save: &Save, stream: &StreamPlan, each: &mut dyn FnMut(BlockFate<'_>)) {
    let fate =
        |lod, position, fate, torn, odd| BlockFate { torn, odd, ..BlockFate::new(&stream.name, lod, position, fate) };
    match stream.action {
        Action::Copy | Action::Restore => {
            let Some(file) = save.streams.iter().find(|file| file.path == stream.path) else { return };
            let Ok(Some(open)) = save.stream(file, &mut Vec::new()) else { return };
            for row in &open.rows {
                let (lod, position) = row.place.map_or((0, None), |place| (place.lod, Some(place.position)));
                each(fate(lod, position, Fate::Kept, false, false));
            }
        }
        Action::SetAside | Action::FromBackup => {}
        Action::Rebuild => {
            // A block that is lost is there in part if its row keeps its instances.
            let missing = stream.missing_places();
            let mut written = HashSet::new();
            for row in stream.decisions() {
                let in_part = missing.contains(&row.place);
                let (what, torn, odd) = if in_part { (Fate::Salvaged, true, false) } else { of_row(&row) };
                each(fate(row.place.lod, Some(row.place.position), what, torn, odd));
                written.extend(in_part.then_some(row.place));
            }
            for (place, _) in stream.missing.iter().filter(|(place, _)| !written.contains(place)) {
                each(fate(place.lod, Some(place.position), Fate::Lost, true, false));
            }
        }
    }
}

/// What is done with a row, whether it is torn, and whether it is against the format.
fn of_row(row: &StreamDecision) -> (Fate, bool, bool) {
    let plain = row.why.is_none() && row.voxels == Part::Kept && row.instances == Part::Kept;
    match (row.origin, row.certainty) {
        (Origin::Salvaged, _) => (Fate::Salvaged, true, false),
        (Origin::Backup, _) => (Fate::Older, true, false),
        (Origin::Found, Certainty::Certain) if plain => (Fate::Kept, false, false),
        (Origin::Found, Certainty::Likely | Certainty::Candidate) => (Fate::Likely, false, !row.had_wrong_key()),
        _ => (Fate::PutRight, false, !row.had_wrong_key()),
    }
}
