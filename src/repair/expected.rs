//! What a check of the copy will find, before the copy is written: findings of files that a repair copies as they are, and those
//! of the files that it writes anew, which are checked in memory.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::check::{self, Counts, Finding, Summary, WrittenTable};
use crate::damage::{Code, Level};
use crate::pak::place;
use crate::repair::left::stays;
use crate::repair::preview::takes_from_backup;
use crate::repair::{Action, Error, MapPlan, Plan, RegionPlan, map, pak};
use crate::save::{PakFile, Save};
use crate::voxel_map::Map;
use crate::voxel_map::map_json::FILE_NAME;

/// What a check of the copy of a plan will find.
#[derive(Debug)]
pub struct Expected {
    /// The summary of a check of the save, with the errors and warnings that the copy will have.
    pub summary: Summary,
    /// Whether files of the save are missing that a backup may have.
    pub lacks_files: bool,
}

/// What a check of the copy of a plan will find; `None` if the check was cancelled.
///
/// # Errors
/// When a file that is written anew cannot be read.
pub fn expected_check(save: &Save, plan: &Plan, options: &check::Options<'_>) -> Result<Option<Expected>, Error> {
    let mut counts = Counts::default();
    let mut add = |finding: &Finding| match finding.level() {
        Level::Error => counts.errors += 1,
        Level::Warning => counts.warnings += 1,
        Level::Note => {}
    };
    let (is_same, stays, rewritten) = (plan.changes_nothing(), stays(save, plan), files_of_rebuilt_maps(save, plan));
    let written = written_tables(plan);
    let mut lacks_files = false;
    let summary = check::run(save, options, |finding| {
        lacks_files |= takes_from_backup(finding.code());
        // Which files are missing depends on the tables that are written.
        if finding.code() == Code::RegionMissing && !written.is_empty() {
            return;
        }
        // The copy has nothing of what is not read, so the check of it does not find that.
        let is_left =
            if is_same { !finding.code().is_unread() } else { stays(&finding) && !rewritten.contains(&*finding.file) };
        if is_left {
            add(&finding);
        }
    });
    if summary.interrupted {
        return Ok(None);
    }
    if !written.is_empty() {
        check::missing_in_copy(save, &written).iter().filter(|finding| stays(finding)).for_each(&mut add);
    }
    let quiet = options.watch(options.watch.quiet());
    for map in plan.maps.iter().filter(|map| map.action == Action::Rebuild) {
        if let Some(written) = written_map(save, map)? {
            check::of_map(save, &written, &quiet).iter().for_each(&mut add);
        }
    }
    for pak in plan.paks.iter().filter(|pak| pak.action == Action::Rebuild) {
        if let Some(bytes) = pak::as_written(pak, &save.options.limits)? {
            let region = match pak.is_renamed {
                true => pak.name.file_name().and_then(|name| place::parse_meant_name(name.to_str()?)),
                false => pak_file(save, &pak.path).filter(|file| file.is_placed).map(|file| file.region),
            };
            let name = save.shown(&pak.path);
            check::of_pak(&bytes, &name, region, &save.options, &quiet).iter().for_each(&mut add);
        }
    }
    let summary = Summary { counts, ..summary };
    Ok((!options.watch.is_cancelled()).then_some(Expected { summary, lacks_files }))
}

/// The tables of the region files that are built anew, by their paths in the save.
fn written_tables(plan: &Plan) -> HashMap<PathBuf, WrittenTable> {
    let rebuilt = plan.regions.iter().filter(|region| region.action == Action::Rebuild && region.region.is_none());
    let table = |region: &RegionPlan| {
        let region_size = region.header.as_ref()?.format.region_size.map(i32::from);
        let positions = region.blocks.iter().map(|block| block.position).collect();
        Some((region.path.clone(), WrittenTable { region_size, positions }))
    };
    rebuilt.filter_map(table).collect()
}

/// The printable names of the files of maps that are written anew.
fn files_of_rebuilt_maps(save: &Save, plan: &Plan) -> HashSet<String> {
    let mut names = HashSet::new();
    for (map, _) in save.maps.iter().zip(&plan.maps).filter(|(_, plan)| plan.action == Action::Rebuild) {
        let layers = map.layers().flat_map(|layer| [&layer.data_file, &layer.index_file, &layer.depth_file]);
        let files = layers.flatten().map(String::as_str).chain([FILE_NAME]);
        names.extend(files.map(|name| save.shown(&map.dir.join(name))));
    }
    names
}

/// A map as it is written.
fn written_map(save: &Save, plan: &MapPlan) -> Result<Option<Map>, Error> {
    let Some(old) = save.maps.iter().find(|map| map.dir == plan.dir) else { return Ok(None) };
    let mut written = old.clone();
    written.rewritten.clear();
    if let Some(bytes) = &plan.description {
        written.decode(bytes);
    }
    for layer in plan.layers.iter().filter(|layer| layer.left_out.is_none()) {
        for array in &layer.arrays {
            written.rewritten.insert(array.name.clone(), Arc::new(map::as_written(plan, array)?));
        }
    }
    Ok(Some(written))
}

fn pak_file<'s>(save: &'s Save, path: &Path) -> Option<&'s PakFile> {
    let mut files = save.pak_dirs.iter().flat_map(|dir| dir.files.iter().map(move |file| (dir, file)));
    files.find(|(dir, file)| dir.dir.join(&file.name) == path).map(|(_, file)| file)
}
