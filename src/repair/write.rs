//! Writes the result: it is built next to its destination, checked, and only then renamed to its final name.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use crate::bytes::Span;
use crate::check;
use crate::draft::{self, Draft, Input, Writer};
use crate::godot::stream::loc::KeyRule;
use crate::parallel;
use crate::recover::walk;
use crate::repair::decision::{Action, RegionPlan};
use crate::repair::out::{self, aside, below};
use crate::repair::plan::{Plan, copied_regions};
use crate::repair::report::Report;
use crate::repair::stamps::Stamps;
use crate::repair::totals::totals;
use crate::repair::{Error, Options, beside_copy, is_stream, lost, map, pack, pak, sources, stream};
use crate::save::{self, Forest, LOST, REPORT, RegionFile, Save};
use crate::source::Source;
use crate::watch::Step;

/// Checks that the files next to the copy of one stream can be created: its report and its `lost+found`. SQLite would apply
/// a journal of that name to the copy.
pub(super) fn usable_beside(sources: &[&Path], destination: &Path) -> Result<(), draft::Error> {
    for name in [REPORT, LOST] {
        draft::check_beside(&beside_copy(destination, name))?;
    }
    draft::check_database(sources, destination)
}

/// Bytes that the result of a plan has at least: the files that it copies.
fn least_bytes(save: &Save, plan: &Plan) -> u64 {
    let copied = |action, path: &Path| match action {
        Action::Copy | Action::SetAside => fs::metadata(path).map_or(0, |metadata| metadata.len()),
        _ => 0,
    };
    let healthy = copied_regions(save, plan).map(|(forest, file)| copied(Action::Copy, &forest.dir.join(&file.name)));
    let regions = plan.regions.iter().map(|region| copied(region.action, &region.path)).chain(healthy);
    let paks = plan.paks.iter().map(|pak| copied(pak.action, &pak.path));
    let streams = plan.streams.iter().map(|stream| copied(stream.action, &stream.path));
    let blocks = plan.regions.iter().flat_map(|region| &region.blocks).flat_map(|block| &block.pieces);
    regions.chain(paks).chain(streams).chain(blocks.map(|span| span.len())).fold(0, u64::saturating_add)
}

/// Builds the result of a plan and returns the summary of its check, and whether that shows that something happened to the save.
pub(super) fn write(
    save: &Save,
    plan: &mut Plan,
    stamps: &Stamps,
    destination: &Path,
    options: &Options<'_>,
) -> Result<(check::Summary, bool), Error> {
    draft::check_space(destination, least_bytes(save, plan))?;
    let draft = Draft::new(&sources(save, options), destination, &options.watch)?;
    let copied: Vec<(&Forest, &RegionFile)> = copied_regions(save, plan).collect();
    others(&draft, save, plan, &copied)?;
    let len = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let bytes = |(_, file): &(&Forest, &RegionFile)| file.len;
    let planned = plan.regions.iter().map(|region| len(&region.path));
    options.watch.begin(Step::Building, planned.chain(copied.iter().map(bytes)).sum());
    parallel::try_each(&copied, |(forest, file)| {
        let path = forest.dir.join(&file.name);
        let done = draft.copy(&path, &below(&save.path, &path));
        options.watch.advance(file.len);
        done
    })?;
    drop(copied);
    parallel::try_each(&plan.regions, |r| {
        let done = region(&draft, save, r);
        options.watch.advance(len(&r.path));
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
    // Options for reading the save do not apply to the result, which uses the new slot formula and the new rule of keys.
    let reading = save::Options {
        slots: None,
        inferred_slots: None,
        key_rule: save.options.key_rule.map(|_| KeyRule::New),
        ..save.options.clone()
    };
    let (mut summary, has_cause) = match Save::open(draft.root(), &reading) {
        Ok(opened) => {
            let all = check::Options::default().level(check::Level::Semantic).watch(options.watch);
            let mut findings = check::Findings::default();
            let summary = check::run(&opened, &all, |finding| findings.add(&finding));
            (summary, !findings.causes(&opened).is_empty())
        }
        // Everything is in `lost+found`.
        Err(save::Error::NothingHere(_)) => (check::Summary::default(), false),
        Err(error) => return Err(error.into()),
    };
    summary.interrupted = false;
    draft.go_on()?;
    stamps.unchanged(save)?;
    write_report(&draft, &Report { save, plan, options, totals: &totals(save, plan), check: Some(&summary) })?;
    permit(&draft, save)?;
    match plan.streams.first().filter(|_| is_stream(save)) {
        // The copy of one stream is a file; it is renamed last.
        Some(plan) => {
            let beside = [REPORT, LOST].map(|name| (PathBuf::from(name), beside_copy(destination, name)));
            let all = beside.into_iter().chain([(plan.name.clone(), destination.to_owned())]);
            let made: Vec<_> = all.filter(|(name, _)| draft.root().join(name).exists()).collect();
            let made: Vec<(&Path, &Path)> = made.iter().map(|(name, to)| (name.as_path(), to.as_path())).collect();
            draft.finish_files(&made)?;
        }
        None => draft.finish()?,
    }
    Ok((summary, has_cause))
}

fn write_report(draft: &Draft<'_>, report: &Report<'_>) -> Result<(), draft::Error> {
    let mut writer = Writer::new(draft, Path::new(REPORT))?;
    let (out, path) = writer.parts();
    crate::printable::write_json_pretty(&mut *out, report).map_err(draft::Error::write(path))?;
    writer.done()
}

/// Gives the files and directories of the result the permissions of those of the save that they replace.
fn permit(draft: &Draft<'_>, save: &Save) -> Result<(), draft::Error> {
    let from = if save.path.is_dir() { save.path.clone() } else { draft::parent(&save.path) };
    let mut dirs = if save.path.is_dir() { vec![PathBuf::new()] } else { Vec::new() };
    if dirs.is_empty() {
        return save.path.file_name().map_or(Ok(()), |name| match draft.root().join(name).is_file() {
            true => draft.permit(&save.path, Path::new(name)),
            false => Ok(()),
        });
    }
    let mut inside = Vec::new();
    while let Some(dir) = dirs.pop() {
        let path = draft.root().join(&dir);
        for entry in fs::read_dir(&path).map_err(draft::Error::read(&path))? {
            let entry = entry.map_err(draft::Error::read(&path))?;
            let (name, kind) = (dir.join(entry.file_name()), entry.file_type().map_err(draft::Error::read(&path))?);
            // What the save does not have keeps the permissions of new files.
            let like = fs::symlink_metadata(from.join(&name)).ok().filter(|like| like.file_type() == kind);
            if kind.is_dir() {
                inside.extend(like.map(|_| name.clone()));
                dirs.extend((name != Path::new(LOST)).then_some(name));
            } else if like.is_some() {
                draft.permit(&from.join(&name), &name)?;
            }
        }
    }
    // Last: a directory may not be writable then.
    inside.iter().rev().try_for_each(|name| draft.permit(&from.join(name), name))?;
    draft.permit(&from, Path::new(""))
}

/// A file of the save, read as it was before a copy changed its bytes.
pub(super) fn open_input(path: &Path) -> Result<Input, draft::Error> {
    let opened = save::open_region(path).map_err(|source| draft::Error::Open { path: path.to_owned(), source });
    opened.map(|(source, _)| Input::new(path, source))
}

fn region(draft: &Draft<'_>, save: &Save, region: &RegionPlan) -> Result<(), draft::Error> {
    let shown = region.name.to_string_lossy();
    match region.action {
        Action::Copy => draft.copy(&region.path, &region.name),
        Action::Restore => {
            let input = open_input(&region.path)?;
            let mut writer = Writer::new(draft, &region.name)?;
            writer.span(&input, Span::sized(0, input.source.len()))?;
            writer.done()?;
            input.unchanged()
        }
        Action::SetAside => draft.copy(&region.path, &aside(draft, &region.name)),
        Action::FromBackup => {
            if fs::symlink_metadata(&region.path).is_ok_and(|m| m.is_file()) {
                draft.copy(&region.path, &aside(draft, &region.name))?;
            }
            region.backup.as_deref().map_or(Ok(()), |from| draft.copy(from, &region.name))
        }
        Action::Rebuild => {
            let (Some(from), Some(to)) = (&region.source, &region.header) else { return Ok(()) };
            let input = open_input(&region.path)?;
            if !region.blocks.is_empty() {
                let mut writer = Writer::new(draft, &region.name)?;
                let (out, path) = writer.parts();
                let mut blocks = pack::Blocks::new(region, &input.source, &save.options.limits);
                pack::pack(&mut blocks, from, to, out).map_err(|failed| match failed {
                    pack::Failed::Read(path, error) => draft::Error::read(&path)(error),
                    pack::Failed::Write(error) => draft::Error::write(path)(error),
                })?;
                writer.done()?;
            }
            let mut stored = Vec::new();
            for block in &region.lost {
                draft.go_on()?;
                walk::read_pieces(&input.source, &block.pieces, &mut stored)
                    .map_err(draft::Error::read(&region.path))?;
                for (ending, bytes) in lost::files(from, block, &stored, &shown, &save.options.limits) {
                    let kind = if block.whole { "" } else { ".torn" };
                    let flat = PathBuf::from(shown.replace(['/', '\\'], "_"));
                    let start = region.start_of(&block.pieces).suffix();
                    let name = out::lost_name(draft, &flat, &format!(".{start}{kind}{ending}"));
                    draft.file(&name, &bytes)?;
                }
            }
            input.unchanged()
        }
    }
}

/// Copies every regular file of the save that the plan does not mention and that is not among the region files that are `copied`.
/// Links are neither followed nor copied.
fn others(draft: &Draft<'_>, save: &Save, plan: &Plan, copied: &[(&Forest, &RegionFile)]) -> Result<(), draft::Error> {
    if save.path.is_file() {
        return Ok(());
    }
    // By the directories of their forests, so that no path is kept for each.
    let mut healthy: HashMap<&Path, HashSet<&Path>> = HashMap::new();
    for (forest, file) in copied {
        let dir = forest.dir.strip_prefix(&save.path).unwrap_or(&forest.dir);
        healthy.entry(dir).or_default().insert(&file.name);
    }
    let is_healthy = |name: &Path| {
        let is_in =
            |(dir, names): (&&Path, &HashSet<&Path>)| name.strip_prefix(dir).is_ok_and(|name| names.contains(name));
        healthy.iter().any(is_in)
    };
    let planned: HashSet<&Path> = plan
        .regions
        .iter()
        .flat_map(|r| [Some(r.name.as_path()), r.path.strip_prefix(&save.path).ok()].into_iter().flatten())
        .chain(plan.metas.iter().map(|meta| meta.name.as_path()))
        .chain(plan.paks.iter().flat_map(|p| [Some(p.name.as_path()), p.path.strip_prefix(&save.path).ok()]).flatten())
        .chain(plan.maps.iter().flat_map(|m| m.handled.iter().map(PathBuf::as_path)))
        .chain(plan.streams.iter().flat_map(|s| s.handled.iter().map(PathBuf::as_path)))
        .chain(plan.streams.iter().map(|s| s.name.as_path()))
        .chain([Path::new(REPORT)])
        .collect();
    let strange: HashSet<&Path> = plan.strange.iter().chain(&plan.no_files).map(PathBuf::as_path).collect();
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
            } else if kind.is_file() && !planned.contains(name.as_path()) && !is_healthy(&name) {
                draft.copy(&save.path.join(&name), &name)?;
            }
        }
    }
    // Last, so that files of an earlier repair keep their names.
    set_aside(draft, save, apart)
}

/// Copies files and directories of the save, by their paths below it, to `lost+found`.
fn set_aside(draft: &Draft<'_>, save: &Save, apart: Vec<(PathBuf, FileType)>) -> Result<(), draft::Error> {
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

/// Copies what the repair replaces or does not look at to `lost+found`: old meta files, and what has the place or the name of
/// something else.
pub(super) fn write_lost(draft: &Draft<'_>, save: &Save, plan: &Plan) -> Result<(), draft::Error> {
    for meta in plan.metas.iter().filter(|meta| meta.old) {
        draft.copy(&save.path.join(&meta.name), &aside(draft, &meta.name))?;
    }
    let kind = |name: &PathBuf| Some(fs::symlink_metadata(save.path.join(name)).ok()?.file_type());
    let apart = plan.strange.iter().chain(&plan.no_files).filter_map(|name| Some((name.clone(), kind(name)?)));
    set_aside(draft, save, apart.collect())
}

/// The entries of a directory, in the order of their names.
fn entries(draft: &Draft<'_>, dir: &Path) -> Result<Vec<(OsString, FileType)>, draft::Error> {
    draft.go_on()?;
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(draft::Error::read(dir))? {
        let entry = entry.map_err(draft::Error::read(dir))?;
        found.push((entry.file_name(), entry.file_type().map_err(draft::Error::read(dir))?));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}
