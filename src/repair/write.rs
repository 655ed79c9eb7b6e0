//! Writing the result: in a temporary directory beside the destination, synced, checked, and only then given its name.
//! This is the only part of the library besides the demo that writes, and it writes only there.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::bytes::index;
use crate::check;
use crate::repair::plan::{Action, Plan, RegionPlan};
use crate::repair::{Error, Options, lost, map, pack, pak, report};
use crate::save::{self, Save};
use crate::source::{FileSource, Source};

/// What has no owner.
const LOST: &str = "lost+found";

/// The report.
const REPORT: &str = "repair.json";

/// Bytes that are copied at once.
const CHUNK: usize = 1 << 20;

/// Whether a destination can be used: it must not exist, its directory must, and it must not lie inside the save.
pub(super) fn usable(save: &Save, destination: &Path) -> Result<(), Error> {
    let refuse = |why| Err(Error::Destination { path: destination.to_owned(), why });
    if fs::symlink_metadata(destination).is_ok() {
        return refuse("it exists already; a repair never overwrites");
    }
    if destination.file_name().is_none() {
        return refuse("it has no name");
    }
    let parent = parent(destination);
    let Ok(real) = fs::canonicalize(&parent) else {
        return refuse("the directory that it should be in does not exist");
    };
    let source = fs::canonicalize(&save.path).map_err(Error::io(&save.path))?;
    if real.starts_with(&source) {
        return refuse("it lies inside the save");
    }
    Ok(())
}

fn parent(path: &Path) -> PathBuf {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// A directory that is gone again when it was not given its final name.
struct Temporary(Option<PathBuf>);

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // It is our own, made a moment ago; what cannot be removed has a name that says what it is.
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Builds the result of a plan and gives what its check says.
pub(super) fn write(
    save: &Save,
    plan: &Plan,
    destination: &Path,
    options: &Options<'_>,
) -> Result<check::Summary, Error> {
    let parent = parent(destination);
    let name = destination.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let path = parent.join(format!(".{name}.repair-{}", std::process::id()));
    fs::create_dir(&path).map_err(Error::io(&path))?;
    let mut temporary = Temporary(Some(path.clone()));
    let tree = Tree { root: &path, options };
    tree.others(save, plan)?;
    plan.regions.par_iter().try_for_each(|region| tree.region(region))?;
    for (name, bytes) in &plan.metas {
        tree.file(name, bytes)?;
    }
    pak::write(&tree, &plan.paks, &save.options.limits)?;
    map::write(&tree, &plan.maps)?;
    let mut summary = match Save::open(&path, &save.options) {
        Ok(opened) => check::run(&opened, &check::Options { cancel: options.cancel, ..Default::default() }, drop),
        // All that there was is in `lost+found`.
        Err(save::Error::NothingHere(_)) => check::Summary::default(),
        Err(error) => return Err(error.into()),
    };
    summary.interrupted = false;
    options.go_on()?;
    let json = report::json(plan, options.likely, &summary);
    let mut text = serde_json::to_vec_pretty(&json).unwrap_or_default();
    text.push(b'\n');
    tree.file(Path::new(REPORT), &text)?;
    sync_directories(&path)?;
    if fs::symlink_metadata(destination).is_ok() {
        return Err(Error::Destination { path: destination.to_owned(), why: "it was made meanwhile" });
    }
    fs::rename(&path, destination).map_err(Error::io(destination))?;
    temporary.0 = None;
    sync_directory(&parent)?;
    Ok(summary)
}

pub(super) struct Tree<'t> {
    root: &'t Path,
    options: &'t Options<'t>,
}

impl Tree<'_> {
    pub(super) fn root(&self) -> &Path {
        self.root
    }

    pub(super) fn go_on(&self) -> Result<(), Error> {
        self.options.go_on()
    }

    pub(super) fn create(&self, name: &Path) -> Result<(File, PathBuf), Error> {
        self.options.go_on()?;
        let path = self.root.join(name);
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir).map_err(Error::io(dir))?;
        }
        let file = File::create_new(&path).map_err(Error::io(&path))?;
        Ok((file, path))
    }

    pub(super) fn file(&self, name: &Path, bytes: &[u8]) -> Result<(), Error> {
        let (mut file, path) = self.create(name)?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(Error::io(&path))
    }

    fn region(&self, region: &RegionPlan) -> Result<(), Error> {
        let shown = region.name.to_string_lossy();
        match region.action {
            Action::Copy => self.copy(&region.path, &region.name)?,
            Action::SetAside => self.copy(&region.path, &Path::new(LOST).join("files").join(&region.name))?,
            Action::Rebuild => {
                let Some(header) = &region.header else { return Ok(()) };
                let source = open(&region.path)?;
                if !region.blocks.is_empty() {
                    let (file, path) = self.create(&region.name)?;
                    let mut out = BufWriter::with_capacity(CHUNK, file);
                    let packed = pack::pack(&source, header, &region.blocks, &mut out).and_then(|()| out.flush());
                    packed.and_then(|()| out.get_ref().sync_all()).map_err(Error::io(&path))?;
                }
                let mut stored = Vec::new();
                for block in &region.lost {
                    pack::read(&source, &block.pieces, &mut stored).map_err(Error::io(&region.path))?;
                    for (ending, bytes) in lost::files(header, block, &stored, &shown) {
                        let name = format!("{}.sector-{:06}{ending}", shown.replace(['/', '\\'], "_"), block.sector);
                        self.file(&Path::new(LOST).join(name), &bytes)?;
                    }
                }
                if source.changed().map_err(Error::io(&region.path))? {
                    return Err(Error::Changed(region.path.clone()));
                }
            }
        }
        Ok(())
    }

    pub(super) fn copy(&self, from: &Path, name: &Path) -> Result<(), Error> {
        let source = open(from)?;
        let (mut file, path) = self.create(name)?;
        let mut buffer = Vec::new();
        let mut at = 0;
        while at < source.len() {
            self.options.go_on()?;
            source.read_into(at, CHUNK.min(index(source.len() - at)), &mut buffer).map_err(Error::io(from))?;
            if buffer.is_empty() {
                return Err(Error::Changed(from.to_owned()));
            }
            file.write_all(&buffer).map_err(Error::io(&path))?;
            at += buffer.len() as u64;
        }
        if source.changed().map_err(Error::io(from))? {
            return Err(Error::Changed(from.to_owned()));
        }
        file.sync_all().map_err(Error::io(&path))
    }

    /// Every regular file of the save that the plan says nothing of. Links are not followed and not copied.
    fn others(&self, save: &Save, plan: &Plan) -> Result<(), Error> {
        if save.path.is_file() {
            return Ok(());
        }
        let planned: std::collections::HashSet<&Path> = plan
            .regions
            .iter()
            .map(|r| r.name.as_path())
            .chain(plan.metas.iter().map(|(name, _)| name.as_path()))
            .chain(plan.paks.iter().map(|p| p.name.as_path()))
            .chain(plan.maps.iter().flat_map(|m| m.handled.iter().map(PathBuf::as_path)))
            .chain([Path::new(REPORT)])
            .collect();
        let mut dirs = vec![PathBuf::new()];
        while let Some(dir) = dirs.pop() {
            self.options.go_on()?;
            let full = save.path.join(&dir);
            let mut names = Vec::new();
            for entry in fs::read_dir(&full).map_err(Error::io(&full))? {
                let entry = entry.map_err(Error::io(&full))?;
                names.push((dir.join(entry.file_name()), entry.file_type().map_err(Error::io(&full))?));
            }
            names.sort_by(|a, b| a.0.cmp(&b.0));
            for (name, kind) in names {
                if kind.is_dir() {
                    let path = self.root.join(&name);
                    fs::create_dir_all(&path).map_err(Error::io(&path))?;
                    dirs.push(name);
                } else if kind.is_file() && !planned.contains(name.as_path()) {
                    self.copy(&save.path.join(&name), &name)?;
                }
            }
        }
        Ok(())
    }
}

fn open(path: &Path) -> Result<FileSource, Error> {
    FileSource::open(path).map_err(|source| Error::Open { path: path.to_owned(), source })
}

fn sync_directories(dir: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(dir).map_err(Error::io(dir))? {
        let path = entry.map_err(Error::io(dir))?.path();
        if path.is_dir() {
            sync_directories(&path)?;
        }
    }
    sync_directory(dir)
}

/// Makes sure that the names in a directory are on the disk.
fn sync_directory(dir: &Path) -> Result<(), Error> {
    if cfg!(unix) {
        let synced = File::open(dir).and_then(|dir| dir.sync_all());
        // Some file systems cannot sync a directory; that is no reason to throw the result away.
        match synced {
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => return Err(Error::io(dir)(error)),
            _ => {}
        }
    }
    Ok(())
}
