//! Writing the result: built beside its destination, checked, and only then given its name.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::beside::{self, Draft, Input, Writer};
use crate::check;
use crate::repair::out::{self, aside};
use crate::repair::plan::{Action, Plan, RegionPlan};
use crate::repair::progress::{Step, Told};
use crate::repair::{Error, Options, WHAT, beside_copy, is_stream, lost, map, pack, pak, report, sources, stream};
use crate::save::{self, LOST, Save};

/// The report.
const REPORT: &str = "repair.json";

/// Whether what stands beside the copy of one stream can be made: its report and its `lost+found`. A journal of that name
/// would be put into the copy by SQLite.
pub(super) fn usable_beside(sources: &[&Path], destination: &Path) -> Result<(), beside::Error> {
    for name in [REPORT, LOST] {
        beside::usable(sources, &beside_copy(destination, name))?;
    }
    for ending in ["-journal", "-wal", "-shm"] {
        let mut path = destination.as_os_str().to_owned();
        path.push(ending);
        beside::usable(sources, Path::new(&path))?;
    }
    Ok(())
}

/// Builds the result of a plan and gives what its check says.
pub(super) fn write(
    save: &Save,
    plan: &mut Plan,
    destination: &Path,
    options: &Options<'_>,
) -> Result<check::Summary, Error> {
    let draft = Draft::new(&sources(save, options), destination, WHAT, options.cancel)?;
    others(&draft, save, plan)?;
    let len = |region: &RegionPlan| fs::metadata(&region.path).map_or(0, |metadata| metadata.len());
    let told = Told::new(options, Step::Building, plan.regions.iter().map(len).sum());
    plan.regions.par_iter().try_for_each(|r| {
        let done = region(&draft, save, r);
        told.advance(len(r));
        done
    })?;
    for meta in &plan.metas {
        if meta.old {
            draft.copy(&save.path.join(&meta.name), &aside(&draft, &meta.name))?;
        }
        draft.file(&meta.name, &meta.bytes)?;
    }
    pak::write(&draft, &plan.paks, &save.options.limits)?;
    map::write(&draft, &plan.maps)?;
    let left_out = stream::write(&draft, &plan.streams, &save.options.limits)?;
    for (plan, left_out) in plan.streams.iter_mut().zip(left_out) {
        plan.left_out = left_out;
    }
    // What was given to read the save was given for that one only: the result has the slots of today.
    let reading = save::Options { slots: None, ..save.options.clone() };
    let mut summary = match Save::open(draft.root(), &reading) {
        Ok(opened) => {
            let level = check::Level::default();
            let told = Told::new(options, Step::Checking, check::total_bytes(&opened, level));
            let progress = |bytes| told.advance(bytes);
            let how = check::Options { level, cancel: options.cancel, progress: Some(&progress) };
            check::run(&opened, &how, drop)
        }
        // All that there was is in `lost+found`.
        Err(save::Error::NothingHere(_)) => check::Summary::default(),
        Err(error) => return Err(error.into()),
    };
    summary.interrupted = false;
    draft.go_on()?;
    let json = report::json(plan, options, &summary);
    draft.file(Path::new(REPORT), &out::json(&json))?;
    match plan.streams.first().filter(|_| is_stream(save)) {
        // The copy of one stream is a file; it gets its name last.
        Some(plan) => {
            let beside = [REPORT, LOST].map(|name| (PathBuf::from(name), beside_copy(destination, name)));
            let all = beside.into_iter().chain([(plan.name.clone(), destination.to_owned())]);
            let made: Vec<_> = all.filter(|(name, _)| draft.root().join(name).exists()).collect();
            let made: Vec<(&Path, &Path)> = made.iter().map(|(name, to)| (name.as_path(), to.as_path())).collect();
            draft.finish_files(&made)?;
        }
        None => draft.finish()?,
    }
    Ok(summary)
}

fn region(draft: &Draft<'_>, save: &Save, region: &RegionPlan) -> Result<(), beside::Error> {
    let shown = region.name.to_string_lossy();
    match region.action {
        Action::Copy => draft.copy(&region.path, &region.name),
        Action::SetAside => draft.copy(&region.path, &aside(draft, &region.name)),
        Action::FromBackup => {
            if fs::symlink_metadata(&region.path).is_ok_and(|m| m.is_file()) {
                draft.copy(&region.path, &aside(draft, &region.name))?;
            }
            region.backup.as_deref().map_or(Ok(()), |from| draft.copy(from, &region.name))
        }
        Action::Rebuild => {
            let (Some(from), Some(to)) = (&region.source, &region.header) else { return Ok(()) };
            let input = Input::open(&region.path)?;
            if !region.blocks.is_empty() {
                let mut writer = Writer::new(draft, &region.name)?;
                let (out, path) = writer.parts();
                let mut blocks = pack::Blocks::new(region, &input.source, &save.options.limits);
                pack::pack(&mut blocks, from, to, out).map_err(|failed| match failed {
                    pack::Failed::Read(path, error) => beside::Error::read(&path)(error),
                    pack::Failed::Write(error) => beside::Error::write(path)(error),
                })?;
                writer.done()?;
            }
            let mut stored = Vec::new();
            for block in &region.lost {
                draft.go_on()?;
                pack::read(&input.source, &block.pieces, &mut stored).map_err(beside::Error::read(&region.path))?;
                for (ending, bytes) in lost::files(from, block, &stored, &shown, &save.options.limits) {
                    let kind = if block.whole { "" } else { ".torn" };
                    let sector = block.sector;
                    let flat = PathBuf::from(shown.replace(['/', '\\'], "_"));
                    let name = out::lost_name(draft, &flat, &format!(".sector-{sector:06}{kind}{ending}"));
                    draft.file(&name, &bytes)?;
                }
            }
            input.unchanged()
        }
    }
}

/// Every regular file of the save that the plan says nothing of. Links are not followed and not copied.
fn others(draft: &Draft<'_>, save: &Save, plan: &Plan) -> Result<(), beside::Error> {
    if save.path.is_file() {
        return Ok(());
    }
    let planned: HashSet<&Path> = plan
        .regions
        .iter()
        .map(|r| r.name.as_path())
        .chain(plan.metas.iter().map(|meta| meta.name.as_path()))
        .chain(plan.paks.iter().map(|p| p.name.as_path()))
        .chain(plan.maps.iter().flat_map(|m| m.handled.iter().map(PathBuf::as_path)))
        .chain(plan.streams.iter().flat_map(|s| s.handled.iter().map(PathBuf::as_path)))
        .chain(plan.streams.iter().map(|s| s.name.as_path()))
        .chain([Path::new(REPORT)])
        .collect();
    let strange: HashSet<&Path> = plan.strange.iter().map(PathBuf::as_path).collect();
    let mut dirs = vec![PathBuf::new()];
    let mut apart = Vec::new();
    while let Some(dir) = dirs.pop() {
        for (name, kind) in entries(draft, &save.path.join(&dir))? {
            let name = dir.join(name);
            if strange.contains(name.as_path()) {
                apart.push((name, kind));
            } else if kind.is_dir() {
                draft.directory(&name)?;
                dirs.push(name);
            } else if kind.is_file() && !planned.contains(name.as_path()) {
                draft.copy(&save.path.join(&name), &name)?;
            }
        }
    }
    // Last, so that what an earlier repair kept has its name first.
    let mut left: Vec<_> = apart.into_iter().map(|(name, kind)| (aside(draft, &name), name, kind)).collect();
    while let Some((to, name, kind)) = left.pop() {
        let from = save.path.join(&name);
        if kind.is_dir() {
            draft.directory(&to)?;
            let inside = entries(draft, &from)?.into_iter();
            left.extend(inside.map(|(entry, kind)| (to.join(&entry), name.join(entry), kind)));
        } else if kind.is_file() {
            draft.copy(&from, &to)?;
        }
    }
    Ok(())
}

/// What is in a directory, in the order of the names.
fn entries(draft: &Draft<'_>, dir: &Path) -> Result<Vec<(OsString, FileType)>, beside::Error> {
    draft.go_on()?;
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(beside::Error::read(dir))? {
        let entry = entry.map_err(beside::Error::read(dir))?;
        found.push((entry.file_name(), entry.file_type().map_err(beside::Error::read(dir))?));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}
