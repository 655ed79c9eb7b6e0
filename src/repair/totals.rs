//! What a plan adds up to, block by block.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::check::{Totals, identical_words};
use crate::damage::Code;
use crate::godot::stream::loc::Place;
use crate::printable::{are, grouped};
use crate::repair::decision::{Action, RegionPlan};
use crate::repair::fate::{Fate, fates, fates_in};
use crate::repair::pak::PakPlan;
use crate::repair::plan::{Plan, check_options, plan_both_of_readable};
use crate::repair::why::FileReason;
use crate::repair::{Error, KeptReason, LayerPlan, LostPart, Options};
use crate::save::Save;

/// Blocks of a save by what a plan does with them. Blocks of maps are not counted.
///
/// Reads the tables of files that the plan copies. A file that cannot be read is left out: the check reports it.
#[must_use]
pub fn totals(save: &Save, plan: &Plan) -> Totals {
    let mut totals = Totals::default();
    let aside = plan.regions.iter().filter(|region| region.action == Action::SetAside);
    let aside: HashSet<&Path> = aside.map(|region| region.name.as_path()).collect();
    // Files that are set aside and of which blocks are counted.
    let mut named: HashSet<&Path> = HashSet::new();
    // If a file is renamed, its chunks are in the wrong place, and their records are right.
    let renamed: HashSet<&Path> = plan.paks.iter().filter(|pak| pak.is_renamed).map(|pak| pak.name.as_path()).collect();
    totals.is_backup_strange =
        plan.compared.is_some_and(|compared| compared.is_strange() && !compared.is_of_another_world());
    let mut by_save = BySave::new(save);
    fates(save, plan, &mut |block| {
        totals.source += 1;
        by_save.add(block.file, block.fate == Fate::Lost);
        totals.added += u64::from(block.added);
        named.extend(aside.get(block.file));
        *count_of_fate(&mut totals, block.fate) += 1;
        totals.torn += u64::from(block.torn);
        totals.beyond_end += u64::from(block.beyond_end);
        totals.not_found += u64::from(block.not_found);
        totals.damaged += u64::from(block.torn && !block.is_of_region);
        totals.odd_rows += u64::from(block.odd && !block.is_of_region);
        let is_gone = block.torn || block.beyond_end || block.not_found;
        let is_elsewhere = !is_gone && !block.odd && block.fate != Fate::Kept;
        let is_of_pak = block.record.is_some() && !renamed.contains(block.file);
        totals.wrong_records += u64::from(is_elsewhere && is_of_pak);
        totals.unowned += u64::from(is_elsewhere && block.unowned);
        totals.in_doubt += u64::from(block.in_doubt);
        totals.lost_chunks += u64::from(block.fate == Fate::Lost && block.record.is_some());
        totals.odd += u64::from(block.odd);
    });
    let rebuilt = |action| action == Action::Rebuild;
    totals.set_aside_identical =
        plan.regions.iter().filter(|region| rebuilt(region.action)).map(RegionPlan::identical).sum();
    let regions = plan.regions.iter().filter(|region| rebuilt(region.action)).map(|region| n(region.lost.len()));
    let paks = plan.paks.iter().filter(|pak| rebuilt(pak.action)).map(|pak| n(pak.lost.len()));
    let streams = plan.streams.iter().filter(|stream| rebuilt(stream.action)).map(|stream| n(stream.lost.len()));
    totals.set_aside += regions.chain(paks).chain(streams).sum::<u64>();
    totals.set_aside += plan.maps.iter().flat_map(|map| &map.layers).map(|layer| n(layer.taken_out.len())).sum::<u64>();
    let (chunks, unread) = paks_set_aside(save, plan);
    totals.misnamed = chunks + plan.misnamed.iter().map(|(_, blocks)| blocks).sum::<u64>();
    totals.set_aside += totals.misnamed;
    // Files of other programs are moved away, which mends nothing.
    let foreign = save.regions().filter(|(_, file)| file.is_rig());
    let foreign: HashSet<PathBuf> = foreign.map(|(forest, file)| forest.dir.join(&file.name)).collect();
    totals.foreign = n(foreign.len());
    let is_aside = |action| action == Action::SetAside;
    let held_none = save.regions().filter(|(_, file)| file.damage.iter().any(|d| d.code == Code::RegionNeverStored));
    let held_none: HashSet<PathBuf> = held_none.map(|(forest, file)| forest.dir.join(&file.name)).collect();
    let regions =
        plan.regions.iter().filter(|region| is_aside(region.action) && !named.contains(region.name.as_path()));
    let held = |path: &PathBuf| !foreign.contains(path) && !held_none.contains(path);
    let regions = regions.filter(|region| held(&region.path)).count();
    let streams = plan.streams.iter().filter(|stream| is_aside(stream.action)).count();
    let maps = plan.maps.iter().filter(|map| is_aside(map.action)).count();
    totals.files_lost = n(regions + streams + maps) + unread;
    let unplaced = unplaced(save, plan);
    totals.unplaced = unplaced.iter().map(|(_, blocks)| blocks).sum();
    let identical = plan.regions.iter().filter(|region| rebuilt(region.action) && region.identical() > 0);
    let identical = identical.map(|region| (region.name.as_path(), region.identical()));
    unplaced.into_iter().chain(identical).for_each(|(file, blocks)| by_save.add_unplaced(file, blocks));
    totals.saves_lacking = by_save.lacking();
    totals.instances_lost = plan.streams.iter().map(|stream| n(stream.without_instances().count())).sum();
    let unread = plan.streams.iter().filter(|stream| stream.action == Action::Rebuild && !stream.pages_read);
    totals.pages_aside = n(unread.map(|stream| stream.pages.len()).sum());
    totals.pages_lost = plan.streams.iter().map(|stream| stream.pages_lost).sum();
    let layers = plan.maps.iter().filter(|map| !is_aside(map.action)).flat_map(|map| &map.layers);
    let is_lost = |layer: &&LayerPlan| layer.left_out.is_some() || layer.stays.is_some();
    let unnamed: usize = plan.maps.iter().map(|map| map.unnamed).sum();
    totals.layers_lost = n(layers.clone().filter(is_lost).count() + unnamed);
    totals.depths_lost = n(layers.clone().filter(|layer| !is_lost(layer) && layer.loses_depths).count());
    totals.values_lost = layers.filter(|layer| !is_lost(layer)).map(|layer| layer.lost_numbers).sum();
    let regions =
        plan.regions.iter().filter(|region| !region.is_unchanged() && !foreign.contains(&region.path)).count();
    let paks = plan.paks.iter().filter(|pak| !pak.is_unchanged()).count();
    // Of a map, only some files change.
    let maps: usize = plan.maps.iter().map(|map| map.handled.len()).sum();
    let changed = plan.streams.iter().filter(|stream| stream.action != Action::Copy).count() + maps;
    totals.files_changed =
        n(regions) + n(paks) + n(changed) + n(plan.metas.len()) + n(plan.strange.len()) + n(plan.no_files.len());
    let regions =
        plan.regions.iter().filter(|region| is_aside(region.action) && !foreign.contains(&region.path)).count();
    let paks = plan.paks.iter().filter(|pak| is_aside(pak.action)).count();
    let all = plan.regions.iter().filter(|region| rebuilt(region.action)).flat_map(|region| &region.lost);
    totals.set_aside_rewritten = n(all.filter(|lost| lost.why == KeptReason::Rewritten).count());
    totals.files_aside = n(regions + paks + streams + plan.strange.len() + plan.no_files.len());
    totals.has_maps = plan.maps.iter().any(|map| map.action != Action::SetAside);
    let is_zeroed = |pak: &&PakPlan| pak.missing.iter().any(|missing| missing.is_unknown);
    totals.tables_lost = n(plan.regions.iter().filter(|region| region.loses_table()).count())
        + n(plan.paks.iter().filter(is_zeroed).count());
    totals.unreadable = n(save.unread().filter(|fault| fault.damage.code.is_failure()).count());
    totals.refuses_backup = save.forests.is_empty() && save.streams.is_empty();
    totals.unknown_layout = n(plan.regions.iter().filter(|region| region.why == FileReason::UnknownLayout).count());
    totals
}

/// Blocks of one file by what a plan does with them, and what of it goes to `lost+found`; `None` unless the file is rebuilt. Nothing
/// is read.
#[must_use]
pub fn totals_of_file(save: &Save, plan: &Plan, path: &Path) -> Option<Totals> {
    let mut totals = Totals::default();
    let set_aside = fates_in(save, plan, path, &mut |block| {
        totals.source += 1;
        *count_of_fate(&mut totals, block.fate) += 1;
    });
    totals.set_aside = n(set_aside?);
    Some(totals)
}

/// The number of blocks that have a fate.
const fn count_of_fate(totals: &mut Totals, fate: Fate) -> &mut u64 {
    match fate {
        Fate::Kept => &mut totals.kept,
        Fate::PutRight => &mut totals.put_right,
        Fate::Likely => &mut totals.likely,
        Fate::Older => &mut totals.older,
        Fate::Salvaged => &mut totals.salvaged,
        Fate::Lost => &mut totals.lost,
    }
}

/// Blocks of each save of a directory of several.
struct BySave<'s> {
    /// The paths of the saves below the directory, in order.
    saves: Vec<&'s Path>,
    totals: Vec<Totals>,
    /// The file of the last block, and the save that it is of: blocks come file by file.
    last: Option<(PathBuf, Option<usize>)>,
}

impl<'s> BySave<'s> {
    fn new(save: &'s Save) -> Self {
        let forests = save.forests.iter().map(|forest| &forest.dir);
        let paks = save.pak_dirs.iter().map(|dir| &dir.dir);
        let paths = forests.chain(paks).chain(save.streams.iter().map(|stream| &stream.path));
        let mut saves: Vec<&Path> = paths.filter_map(|path| path.strip_prefix(&save.path).ok()).collect();
        saves.sort_unstable();
        saves.dedup();
        // Of one save, the totals are those of all.
        if saves.len() < 2 {
            saves.clear();
        }
        let totals = vec![Totals::default(); saves.len()];
        Self { saves, totals, last: None }
    }

    /// The totals of the save that a file is of.
    fn of(&mut self, file: &Path) -> Option<&mut Totals> {
        if !self.saves.is_empty() && self.last.as_ref().is_none_or(|(last, _)| last != file) {
            // Of a save within another one, the inner one.
            let owner = file.ancestors().find_map(|path| self.saves.binary_search(&path).ok());
            self.last = Some((file.to_path_buf(), owner));
        }
        let owner = self.last.as_ref().and_then(|(_, owner)| *owner)?;
        self.totals.get_mut(owner)
    }

    fn add(&mut self, file: &Path, is_lost: bool) {
        if let Some(totals) = self.of(file) {
            totals.source += 1;
            totals.lost += u64::from(is_lost);
        }
    }

    fn add_unplaced(&mut self, file: &Path, blocks: u64) {
        if let Some(totals) = self.of(file) {
            totals.unplaced += blocks;
        }
    }

    /// How many saves lack most of their blocks.
    fn lacking(&self) -> u64 {
        n(self.totals.iter().filter(|totals| totals.lacks_most(totals.lost)).count())
    }
}

/// Whole blocks that go to `lost+found` because their positions are not known, or because no table leads to them any more: the files
/// that hold some, and how many.
fn unplaced<'p>(save: &'p Save, plan: &'p Plan) -> Vec<(&'p Path, u64)> {
    let of =
        |region: &RegionPlan| region.lost.iter().filter(|lost| lost.whole && lost.why != KeptReason::Rewritten).count();
    let regions = plan.regions.iter().map(|region| (region.name.as_path(), of(region)));
    let chunks = plan.paks.iter().map(|pak| {
        let chunks = pak.lost.iter().filter(|lost| lost.whole && lost.record.is_none());
        (pak.name.as_path(), chunks.count())
    });
    let rows = plan.streams.iter().filter(|stream| stream.action == Action::Rebuild).map(|stream| {
        let whole = stream.lost.iter().filter(|lost| lost.part == LostPart::Row && lost.why != KeptReason::Rewritten);
        let mut places: HashSet<Place> = whole.filter_map(|lost| lost.place).collect();
        // Of a position that has a row, or is counted as lost, nothing more is missing.
        stream.rows.iter().for_each(|row| _ = places.remove(&row.place));
        stream.missing.iter().for_each(|(place, _)| _ = places.remove(place));
        (stream.path.strip_prefix(&save.path).unwrap_or(&stream.path), places.len())
    });
    let all = regions.chain(chunks).chain(rows);
    all.filter(|(_, blocks)| *blocks > 0).map(|(file, blocks)| (file, n(blocks))).collect()
}

/// Chunks of pak regions that are set aside as they are, because of their names, and how many of these files cannot be read.
fn paks_set_aside(save: &Save, plan: &Plan) -> (u64, u64) {
    let (unreadable, others): (Vec<&PakPlan>, Vec<&PakPlan>) =
        plan.paks.iter().filter(|pak| pak.action == Action::SetAside).partition(|pak| pak.is_unreadable);
    let aside: HashSet<&Path> = others.iter().map(|pak| pak.path.as_path()).collect();
    let files = save.pak_dirs.iter().flat_map(|dir| dir.files.iter().map(move |file| (dir, file)));
    let files = files.filter(|(dir, file)| aside.contains(dir.dir.join(&file.name).as_path()));
    let opened = files.filter_map(|(dir, file)| save.pak(dir, file, &mut Vec::new()).ok().flatten());
    (opened.map(|pak| n(pak.present().count())).sum(), n(unreadable.len()))
}

/// The totals of a save at both levels: what is right as it is, what is wrong with the other blocks and what is put right are those
/// of a plan without `likely`; what a plan with `likely` writes beyond it, and what is left then, are those of that plan.
#[must_use]
pub fn outlook(certain: Totals, likely: Totals) -> Totals {
    let source = certain.source.max(likely.source);
    let salvaged = certain.salvaged.max(likely.salvaged);
    let settled = certain.kept + certain.put_right + certain.older + salvaged + likely.lost;
    Totals {
        source,
        kept: certain.kept,
        put_right: certain.put_right,
        likely: source.saturating_sub(settled),
        older: certain.older,
        added: certain.added,
        salvaged,
        salvaged_likely: salvaged - certain.salvaged,
        torn: certain.torn,
        beyond_end: certain.beyond_end,
        not_found: certain.not_found,
        odd: certain.odd,
        damaged: certain.damaged,
        odd_rows: certain.odd_rows,
        // Without `likely` a plan leaves out blocks whose positions are only likely.
        unowned: certain.unowned.max(likely.unowned),
        wrong_records: certain.wrong_records,
        files_aside: certain.files_aside,
        files_likely: likely.files_changed.saturating_sub(certain.files_changed),
        set_aside_likely: certain.set_aside.saturating_sub(likely.set_aside),
        needs_likely: certain.lacks_most(certain.lost) && !likely.lacks_most(likely.lost),
        ..likely
    }
}

/// What a repair would bring back at both levels.
///
/// # Errors
/// When a file changed while it was read.
pub fn expected_totals(save: &Save, options: &Options<'_>) -> Result<Totals, Error> {
    check_options(save)?;
    let [certain, likely] = plan_both_of_readable(save, options)?.map(|plan| totals(save, &plan));
    Ok(outlook(certain, likely))
}

fn n(len: usize) -> u64 {
    len as u64
}

/// What a repair wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// A copy without a block.
    NoBlock,
    /// A copy of the save.
    Save,
    /// A copy of one region file of a forest, in a directory.
    RegionFile,
}

/// What the copy lacks beside blocks, a line a sentence: files, instances, pages, and layers and values of voxel maps.
#[must_use]
pub fn loss_words(totals: &Totals) -> Vec<String> {
    let mut lines = Vec::new();
    if totals.files_lost > 0 {
        let (files, have) =
            (crate::printable::count(totals.files_lost, "file"), if totals.files_lost == 1 { "has" } else { "have" });
        lines.push(format!("{files} {have} no block in the copy, and how many blocks were in there is not known."));
    }
    if totals.instances_lost > 0 {
        let (blocks, have) = match totals.instances_lost {
            1 => ("1 block", "has"),
            n => (&*format!("{} blocks", grouped(n)), "have"),
        };
        lines.push(format!("{blocks} {have} no instances in the copy, because these are damaged."));
    }
    if totals.pages_lost > 0 {
        let (pages, them) =
            (crate::printable::count(totals.pages_lost, "page"), if totals.pages_lost == 1 { "it" } else { "them" });
        lines.push(format!("{pages} of tables cannot be read, and how many rows were on {them} is not known."));
    }
    if totals.tables_lost > 0 {
        let tables = crate::printable::count(totals.tables_lost, "lost table");
        lines.push(format!("How many blocks {tables} listed is not known."));
    }
    if totals.layers_lost > 0 {
        let (layers, are) =
            (crate::printable::count(totals.layers_lost, "layer"), if totals.layers_lost == 1 { "is" } else { "are" });
        lines.push(format!("{layers} of voxel maps {are} lost."));
    }
    if totals.depths_lost > 0 {
        let (layers, have) = (
            crate::printable::count(totals.depths_lost, "layer"),
            if totals.depths_lost == 1 { "has" } else { "have" },
        );
        lines.push(format!("{layers} of voxel maps {have} no depths in the copy."));
    }
    if totals.values_lost > 0 {
        let (values, are) =
            (crate::printable::count(totals.values_lost, "value"), if totals.values_lost == 1 { "is" } else { "are" });
        lines.push(format!("{values} of voxel maps {are} lost: the copy has 0 in their place."));
    }
    lines
}

/// The totals at the end of a repair, a line a sentence; `done` is `None` for a plan.
#[must_use]
pub fn total_words(totals: &Totals, done: Option<Written>) -> Vec<String> {
    let mut parts = Vec::new();
    let older = match totals.added {
        0 => "taken from the backup, in an older state".to_owned(),
        n => format!("taken from the backup, in an older state ({} in files that the save does not have)", grouped(n)),
    };
    for (n, words) in [
        (totals.kept, "kept unchanged"),
        (totals.put_right, "put right"),
        (totals.likely, "written although only likely"),
        (totals.older, &*older),
        (totals.salvaged, "salvaged in part"),
        (totals.lost, "without a block in the copy"),
    ] {
        if n > 0 {
            parts.push(format!("{} {words}", grouped(n)));
        }
    }
    let mut lines = Vec::new();
    // Blocks of maps are not counted.
    if totals.source > 0 {
        let own = crate::printable::count(totals.source.saturating_sub(totals.added), "block");
        let more = match totals.added {
            0 => String::new(),
            n => format!(", and the backup {} more", grouped(n)),
        };
        lines.push(format!("The source has {own}{more}: {}.", parts.join(", ")));
    }
    if totals.set_aside > 0 && totals.set_aside == totals.set_aside_rewritten {
        let blocks = crate::printable::count(totals.set_aside, "rewritten block");
        let are = if done.is_some() { "are" } else { "would be" };
        lines.push(format!("The old bytes of {blocks} {are} in lost+found."));
    } else if totals.set_aside > 0 {
        let (blocks, kept) = match totals.set_aside {
            1 => ("block or part of a block", "is"),
            _ => ("blocks or parts of blocks", "are"),
        };
        let will = if done.is_some() { kept } else { "would be" };
        let identical = identical_words(totals.set_aside_identical);
        lines.push(format!("{} {blocks} {will} in lost+found{identical}.", grouped(totals.set_aside)));
    }
    if totals.pages_aside > 0 {
        let pages = crate::printable::count(totals.pages_aside, "page");
        let they = if totals.pages_aside == 1 { "it" } else { "they" };
        let are = match done {
            None => "would be",
            Some(_) => are(totals.pages_aside),
        };
        lines.push(format!("{pages} of unknown content {are} in lost+found: {they} may hold blocks."));
    }
    lines.extend(loss_words(totals));
    // Where most blocks are lost, the advice on the copy names the backup.
    if totals.has_backup && totals.lost > totals.lost_chunks {
        lines.push("The backup has no whole block for positions that lack theirs.".to_owned());
    }
    lines.extend(totals.backup_advice().map(str::to_owned));
    lines.extend(done.map(|written| advice_on_copy(totals, written, true)));
    lines
}

/// What to do with the copy, once it is there.
#[must_use]
pub fn advice_on_copy(totals: &Totals, written: Written, is_done: bool) -> String {
    let leave = |lack: [&str; 2], instead: String| {
        let lacks = lack[usize::from(!is_done)];
        format!("The copy {lacks}. Leave the save where it is{instead}.")
    };
    let backup = || format!(", and {}", totals.backup_words());
    let most = ["lacks most blocks of the save", "would lack most blocks of the save"];
    let words = match (written, is_done) {
        (Written::NoBlock, _) => return leave(["has no block", "would have no block"], backup()),
        (Written::Save, true) if totals.is_backup_strange => {
            "Look at the copy before you use it, and keep the original: the backup may be of another world."
        }
        (Written::Save, false) if totals.is_backup_strange => {
            "Look at the copy before you use it: the backup may be of another world."
        }
        (Written::Save, _) if totals.needs_likely => {
            let instead =
                ": a copy made with `--level likely` has most blocks, some of them where they are only likely";
            return leave(most, instead.to_owned());
        }
        (Written::Save, _) if totals.lacks_most(totals.lost) => return leave(most, backup()),
        (Written::Save, _) if totals.saves_lacking > 0 => {
            let saves = crate::printable::count(totals.saves_lacking, "save");
            let lacks = if is_done { "lacks" } else { "would lack" };
            return format!(
                "Of {saves} the copy {lacks} most blocks: leave {} where {} and look for a backup. \
                 Move the copies of the others to where the saves were, and keep the originals.",
                if totals.saves_lacking == 1 { "that one" } else { "those" },
                if totals.saves_lacking == 1 { "it is" } else { "they are" },
            );
        }
        (Written::Save, true) => "Move the copy to where the save was, and keep the original.",
        (Written::Save, false) => "Then move the copy to where the save was, and keep the original.",
        (Written::RegionFile, _) => {
            "It is a copy of this region file alone: move the file to where the old one was, and keep the original."
        }
    };
    words.to_owned()
}

/// Whether a save is one region file that was opened alone.
#[must_use]
pub fn is_region_file(save: &Save) -> bool {
    save.path.is_file() && save.path.extension().is_some_and(|ending| ending == "vxr" || ending == "region")
}

/// What a plan for a save would write.
#[must_use]
pub fn expected_copy(save: &Save, totals: &Totals) -> Written {
    let written = totals.kept + totals.put_right + totals.likely + totals.older + totals.salvaged;
    if written == 0 && !totals.has_maps {
        Written::NoBlock
    } else if is_region_file(save) {
        Written::RegionFile
    } else {
        Written::Save
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_likely_is_advised_where_nothing_comes_back_for_certain() {
        let none = Totals { source: 8, kept: 4, lost: 4, ..Totals::default() };
        let likely = Totals { likely: 2, lost: 2, ..none };
        let file = Totals { files_changed: 1, files_likely: 1, ..Totals::default() };
        for (totals, expected) in [
            (none, false),
            (likely, true),
            (Totals { salvaged: 1, salvaged_likely: 1, lost: 3, ..none }, true),
            (Totals { put_right: 1, lost: 1, ..likely }, false),
            (Totals { salvaged: 1, lost: 1, ..likely }, false),
            (Totals { older: 1, lost: 1, ..likely }, false),
            (Totals { put_right: 1, lost: 1, needs_likely: true, ..likely }, true),
            (file, true),
            (Totals { files_changed: 2, ..file }, false),
        ] {
            assert_eq!(totals.advises_likely(), expected, "{totals:?}");
        }
    }
}
