//! What a repair leaves: files that were not read, and findings of files that it copies as they are.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::check::Finding;
use crate::damage::{self, Code};
use crate::repair::{Action, MapPlan, PakPlan, Plan, RegionPlan};
use crate::save::{Fault, LOST, Save};
use crate::source::{FileSource, OpenError};

/// What of a save was not read, and is neither in the copy of a repair nor in its `lost+found`.
pub fn uncopied(save: &Save) -> impl Iterator<Item = &Fault> {
    save.unread().filter(|fault| !fault.is_misnamed())
}

/// What is in `lost+found` of an earlier repair and is neither a file nor a directory: it is not copied. Each with the reason.
#[must_use]
pub fn uncopied_of_lost(save: &Save) -> Vec<(PathBuf, OpenError)> {
    let mut uncopied = Vec::new();
    let list = |dir: &Path| -> Vec<PathBuf> {
        fs::read_dir(dir).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect()
    };
    let is_lost = |path: &PathBuf| path.as_os_str().as_encoded_bytes().ends_with(LOST.as_bytes());
    let mut left: Vec<PathBuf> = if save.path.is_dir() { list(&save.path) } else { Vec::new() };
    left.retain(|path| is_lost(path) && fs::symlink_metadata(path).is_ok_and(|data| data.is_dir()));
    while let Some(path) = left.pop() {
        match fs::symlink_metadata(&path).map(|data| data.file_type()) {
            Ok(kind) if kind.is_dir() => left.extend(list(&path)),
            Ok(kind) if kind.is_file() => {}
            // The copy reports files that it cannot read.
            _ => uncopied.extend(FileSource::open(&path).err().map(|error| (path, error))),
        }
    }
    uncopied.sort_by(|a, b| a.0.cmp(&b.0));
    uncopied
}

/// The printable names of the files that a plan does not copy as they are.
fn changed_files(save: &Save, plan: &Plan) -> HashSet<String> {
    let regions = plan.regions.iter().filter(|region| !RegionPlan::is_unchanged(region)).map(|region| &region.path);
    let paks = plan.paks.iter().filter(|pak| !PakPlan::is_unchanged(pak)).map(|pak| &pak.path);
    let streams = plan.streams.iter().filter(|stream| stream.action != Action::Copy).map(|stream| &stream.path);
    let whole = regions.chain(paks).chain(streams).map(|path| save.shown(path));
    let handled = plan.maps.iter().flat_map(|map: &MapPlan| &map.handled);
    let metas = plan.metas.iter().map(|meta| &meta.name);
    let below = handled.chain(metas).chain(&plan.strange).chain(&plan.no_files);
    whole.chain(below.map(|name| save.shown(&save.path.join(name)))).collect()
}

/// The printable names of the files that a plan copies as they are under another name.
fn renamed_files(save: &Save, plan: &Plan) -> HashSet<String> {
    let regions = plan.regions.iter().filter(|region| region.action == Action::Copy && region.region.is_some());
    let paks = plan.paks.iter().filter(|pak| pak.action == Action::Copy && pak.is_renamed);
    let paths = regions.map(|region| &region.path).chain(paks.map(|pak| &pak.path));
    paths.map(|path| save.shown(path)).collect()
}

/// The printable names of the region files that a plan builds anew with the slots that they have.
fn rebuilt_regions(save: &Save, plan: &Plan) -> HashSet<String> {
    let is_rebuilt = |region: &&RegionPlan| region.action == Action::Rebuild && !region.changes_slots;
    plan.regions.iter().filter(is_rebuilt).map(|region| save.shown(&region.path)).collect()
}

/// Codes of names of files.
const NAMES: [Code; 5] = [Code::CopyName, Code::NameRegion, Code::RegionMisnamed, Code::PakName, Code::PakDuplicate];

/// The printable names of files and directories that the copy of a plan has although the save lacks them.
fn added_files(save: &Save, plan: &Plan) -> HashSet<String> {
    let mut added = HashSet::new();
    for region in plan.regions.iter().filter(|region| region.action != Action::SetAside) {
        let path = save.path.join(&region.name);
        added.extend(path.parent().map(|dir| save.shown(dir)));
        added.insert(save.shown(&path));
    }
    added.extend(plan.metas.iter().map(|meta| save.shown(&save.path.join(&meta.name))));
    added
}

/// Whether findings of a code are about something that is not there.
const fn is_of_absence(code: Code) -> bool {
    matches!(code, Code::RegionMissing | Code::LodGap | Code::MetaMissing | Code::BlockFilesMeta | Code::MapFileMissing)
}

/// A test of findings of a save: whether a copy by this plan has them too. They are errors and warnings of files that are
/// copied as they are, of what is missing, and those that building a file anew does not mend; findings about files that cannot be
/// read are not among them.
pub(super) fn stays<'p>(save: &'p Save, plan: &Plan) -> impl Fn(&Finding) -> bool + Sync + use<'p> {
    let changed = changed_files(save, plan);
    let (renamed, rebuilt, added) = (renamed_files(save, plan), rebuilt_regions(save, plan), added_files(save, plan));
    // What disagrees with a meta file agrees with the one that is written, which counts all LODs.
    let metas = !plan.metas.is_empty();
    move |finding| {
        let path = if save.path.is_file() { save.path.clone() } else { save.path.join(&*finding.file) };
        let is_settled = metas && matches!(finding.code(), Code::MetaDiffers | Code::MetaLods | Code::BlockFilesMeta);
        let file = &*finding.file;
        // What is in the place of a region file is set aside.
        let is_as_it_was = finding.code() == Code::RegionMissing
            || !changed.contains(file)
            || (renamed.contains(file) && !NAMES.contains(&finding.code()))
            || (rebuilt.contains(file) && finding.code() == Code::SlotsMixed);
        let is_there = path.is_file() || (is_of_absence(finding.code()) && !added.contains(file));
        finding.level() != damage::Level::Note && !is_settled && !finding.code().is_unread() && is_as_it_was && is_there
    }
}
