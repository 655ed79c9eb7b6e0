//! Writing the result: built beside its destination, checked, and only then given its name.

use std::collections::HashSet;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::beside::{self, CHUNK, Draft};
use crate::check;
use crate::repair::plan::{Action, Plan, RegionPlan};
use crate::repair::{Error, Options, WHAT, lost, pack, report};
use crate::save::Save;

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
    let draft = Draft::new(&[&save.path], destination, WHAT, options.cancel)?;
    others(&draft, save, plan)?;
    plan.regions.par_iter().try_for_each(|r| region(&draft, r))?;
    for (name, bytes) in &plan.metas {
        draft.file(name, bytes)?;
    }
    let opened = Save::open(draft.root(), &save.options)?;
    let mut summary = check::run(&opened, &check::Options { cancel: options.cancel, ..Default::default() }, drop);
    summary.interrupted = false;
    draft.go_on()?;
    let json = report::json(plan, options.likely, &summary);
    let mut text = serde_json::to_vec_pretty(&json).unwrap_or_default();
    text.push(b'\n');
    draft.file(Path::new(REPORT), &text)?;
    draft.finish()?;
    Ok(summary)
}

fn region(draft: &Draft<'_>, region: &RegionPlan) -> Result<(), beside::Error> {
    let shown = region.name.to_string_lossy();
    match region.action {
        Action::Copy => draft.copy(&region.path, &region.name),
        Action::SetAside => draft.copy(&region.path, &Path::new(LOST).join("files").join(&region.name)),
        Action::Rebuild => {
            let Some(header) = &region.header else { return Ok(()) };
            let source = beside::open(&region.path)?;
            if !region.blocks.is_empty() {
                let (file, path) = draft.create(&region.name)?;
                let mut out = BufWriter::with_capacity(CHUNK, file);
                let packed = pack::pack(&source, header, &region.blocks, &mut out).and_then(|()| out.flush());
                packed.and_then(|()| out.get_ref().sync_all()).map_err(beside::Error::write(&path))?;
            }
            let mut stored = Vec::new();
            for block in &region.lost {
                pack::read(&source, &block.pieces, &mut stored).map_err(beside::Error::read(&region.path))?;
                for (ending, bytes) in lost::files(header, block, &stored, &shown) {
                    let name = format!("{}.sector-{:06}{ending}", shown.replace(['/', '\\'], "_"), block.sector);
                    draft.file(&Path::new(LOST).join(name), &bytes)?;
                }
            }
            beside::unchanged(&source, &region.path)
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
        .chain(plan.metas.iter().map(|(name, _)| name.as_path()))
        .chain([Path::new(REPORT)])
        .collect();
    let mut dirs = vec![PathBuf::new()];
    while let Some(dir) = dirs.pop() {
        draft.go_on()?;
        let full = save.path.join(&dir);
        let mut names = Vec::new();
        for entry in fs::read_dir(&full).map_err(beside::Error::read(&full))? {
            let entry = entry.map_err(beside::Error::read(&full))?;
            names.push((dir.join(entry.file_name()), entry.file_type().map_err(beside::Error::read(&full))?));
        }
        names.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, kind) in names {
            if kind.is_dir() {
                draft.directory(&name)?;
                dirs.push(name);
            } else if kind.is_file() && !planned.contains(name.as_path()) {
                draft.copy(&save.path.join(&name), &name)?;
            }
        }
    }
    Ok(())
}
