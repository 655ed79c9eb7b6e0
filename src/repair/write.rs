//! Writing the result: built beside its destination, checked, and only then given its name.

use std::collections::HashSet;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::beside::{self, CHUNK, Draft};
use crate::check;
use crate::repair::plan::{Action, Plan, RegionPlan};
use crate::repair::{Error, Options, WHAT, lost, pack, report, sources};
use crate::save::{self, Save};

/// What has no owner.
const LOST: &str = "lost+found";

/// The report.
const REPORT: &str = "repair.json";

/// Builds the result of a plan and gives what its check says.
pub(super) fn write(
    save: &Save,
    plan: &Plan,
    destination: &Path,
    options: &Options<'_>,
) -> Result<check::Summary, Error> {
    let draft = Draft::new(&sources(save, options), destination, WHAT, options.cancel)?;
    others(&draft, save, plan)?;
    plan.regions.par_iter().try_for_each(|r| region(&draft, save, r))?;
    for meta in &plan.metas {
        if meta.old {
            draft.copy(&save.path.join(&meta.name), &aside(&meta.name))?;
        }
        draft.file(&meta.name, &meta.bytes)?;
    }
    // What was given to read the save was given for that one only: the result has the slots of today.
    let reading = save::Options { slots: None, ..save.options.clone() };
    let opened = Save::open(draft.root(), &reading)?;
    let mut summary = check::run(&opened, &check::Options { cancel: options.cancel, ..Default::default() }, drop);
    summary.interrupted = false;
    draft.go_on()?;
    let json = report::json(plan, options, &summary);
    let mut text = serde_json::to_vec_pretty(&json).unwrap_or_default();
    text.push(b'\n');
    draft.file(Path::new(REPORT), &text)?;
    draft.finish()?;
    Ok(summary)
}

fn region(draft: &Draft<'_>, save: &Save, region: &RegionPlan) -> Result<(), beside::Error> {
    let shown = region.name.to_string_lossy();
    match region.action {
        Action::Copy => draft.copy(&region.path, &region.name),
        Action::SetAside => draft.copy(&region.path, &aside(&region.name)),
        Action::FromBackup => {
            if fs::symlink_metadata(&region.path).is_ok_and(|m| m.is_file()) {
                draft.copy(&region.path, &aside(&region.name))?;
            }
            region.backup.as_deref().map_or(Ok(()), |from| draft.copy(from, &region.name))
        }
        Action::Rebuild => {
            let (Some(from), Some(to)) = (&region.source, &region.header) else { return Ok(()) };
            let source = beside::open(&region.path)?;
            if !region.blocks.is_empty() {
                let (file, path) = draft.create(&region.name)?;
                let mut out = BufWriter::with_capacity(CHUNK, file);
                let mut blocks = pack::Blocks::new(region, &source, &save.options.limits);
                pack::pack(&mut blocks, from, to, &mut out).map_err(|failed| match failed {
                    pack::Failed::Read(path, error) => beside::Error::read(&path)(error),
                    pack::Failed::Write(error) => beside::Error::write(&path)(error),
                })?;
                out.flush().and_then(|()| out.get_ref().sync_all()).map_err(beside::Error::write(&path))?;
            }
            let mut stored = Vec::new();
            for block in &region.lost {
                draft.go_on()?;
                pack::read(&source, &block.pieces, &mut stored).map_err(beside::Error::read(&region.path))?;
                for (ending, bytes) in lost::files(from, block, &stored, &shown, &save.options.limits) {
                    let kind = if block.whole { "" } else { ".torn" };
                    let sector = block.sector;
                    let name = format!("{}.sector-{sector:06}{kind}{ending}", shown.replace(['/', '\\'], "_"));
                    draft.file(&Path::new(LOST).join(name), &bytes)?;
                }
            }
            beside::unchanged(&source, &region.path)
        }
    }
}

/// Where a file is kept that does not go to its own place.
fn aside(name: &Path) -> PathBuf {
    Path::new(LOST).join("files").join(name)
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
        .chain([Path::new(REPORT)])
        .collect();
    let strange: HashSet<&Path> = plan.strange.iter().map(PathBuf::as_path).collect();
    // Directories, and whether what is in them is kept apart.
    let mut dirs = vec![(PathBuf::new(), false)];
    while let Some((dir, apart)) = dirs.pop() {
        draft.go_on()?;
        let full = save.path.join(&dir);
        let mut names = Vec::new();
        for entry in fs::read_dir(&full).map_err(beside::Error::read(&full))? {
            let entry = entry.map_err(beside::Error::read(&full))?;
            names.push((dir.join(entry.file_name()), entry.file_type().map_err(beside::Error::read(&full))?));
        }
        names.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, kind) in names {
            let apart = apart || strange.contains(name.as_path());
            let to = if apart { aside(&name) } else { name.clone() };
            if kind.is_dir() {
                draft.directory(&to)?;
                dirs.push((name, apart));
            } else if kind.is_file() && (apart || !planned.contains(name.as_path())) {
                draft.copy(&save.path.join(&name), &to)?;
            }
        }
    }
    Ok(())
}
