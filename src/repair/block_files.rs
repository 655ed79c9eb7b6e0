//! Saves of `VoxelStreamBlockFiles`: every block is a file of its own, so each file is copied, set aside or replaced by that of
//! a backup. A meta file that is missing or not valid is written anew if the blocks say their layout.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bytes::index;
use crate::damage::Code;
use crate::draft;
use crate::godot::block_files::{Meta, name_of, parse_position};
use crate::godot::region::Format;
use crate::repair::backup::{Owners, corresponding};
use crate::repair::decision::{Action, RegionPlan, simple};
use crate::repair::out::below;
use crate::repair::same_world::hash_content;
use crate::repair::why::FileReason;
use crate::repair::{Error, MetaFile, Options, Plan};
use crate::save::{Fault, Forest, RegionFile, Save, Scratch, View};
use crate::source::Source;

/// What is done with a file, and why.
type Choice = (Action, FileReason);

const UNREADABLE: Choice = (Action::SetAside, FileReason::Other("its block cannot be read"));

const RESTORED: FileReason = FileReason::Other("a copy changed its bytes");

/// The block files of a backup.
pub(super) struct Backup {
    /// The whole blocks, by LOD and position, with their files.
    files: BTreeMap<(u8, [i32; 3]), Arc<Path>>,
    /// The position of each content.
    pub owners: Owners,
    format: Option<Format>,
    meta: Option<PathBuf>,
}

impl Backup {
    /// Reads the save of block files of a backup that corresponds to one of the save.
    pub fn read(save: &Save, forest: &Forest, backup: &Save, options: &Options<'_>) -> Result<Option<Self>, Error> {
        let Some(other) = corresponding(save, forest, backup) else { return Ok(None) };
        let (mut files, mut owners, mut scratch) = (BTreeMap::new(), Owners::new(), Scratch::default());
        for file in &other.regions {
            options.go_on()?;
            let (mut content, place) = (None, (file.lod, file.position));
            // The file is copied as it is.
            let read = |view: &View<'_>| content = hash_content(view).filter(|_| !view.has_inferred_order());
            look(backup, other, file, &mut scratch, read)?;
            let Some(content) = content else { continue };
            owners.entry(content).and_modify(|owner| *owner = None).or_insert(Some(place));
            files.insert(place, other.dir.join(&file.name).into());
        }
        let meta = other.kind.meta_name().filter(|_| other.meta.is_some()).map(|name| other.dir.join(name));
        Ok(Some(Self { files, owners, format: other.format, meta }))
    }

    /// The file of a block, if the backup has the layout of the save.
    fn file(&self, forest: &Forest, place: (u8, [i32; 3])) -> Option<Arc<Path>> {
        let layout = |format: Format| (format.block_size_po2, format.depths);
        let is_other = |(own, other)| layout(own) != layout(other);
        let is_other = forest.format.zip(self.format).is_some_and(is_other);
        self.files.get(&place).filter(|_| !is_other).map(Arc::clone)
    }
}

/// The position of a block file in its name; `None` for any other file.
pub(super) fn position_of(path: &Path) -> Option<[i32; 3]> {
    path.extension().filter(|ending| *ending == "vxb")?;
    path.file_stem().and_then(OsStr::to_str).and_then(parse_position)
}

/// Plans the files of one save of block files.
pub(super) fn plan(
    save: &Save,
    forest: &Forest,
    backup: Option<&Backup>,
    options: &Options<'_>,
    plan: &mut Plan,
) -> Result<(), Error> {
    let mut scratch = Scratch::default();
    for file in &forest.regions {
        options.go_on()?;
        let (action, why) = look(save, forest, file, &mut scratch, |_| {})?;
        let mut region = simple(save, forest, &file.name, file.lod, action, why);
        let held = backup.filter(|_| action == Action::SetAside && position_of(&file.name).is_some());
        if let Some(held) = held.and_then(|backup| backup.file(forest, (file.lod, file.position))) {
            region.action = Action::FromBackup;
            region.backup = Some(held);
        }
        plan.add_region(region);
    }
    plan.regions.extend(backup.into_iter().flat_map(|backup| missing(save, forest, backup)));
    let Some(name) = forest.kind.meta_name().map(|name| forest.dir.join(name)) else { return Ok(()) };
    let is_wrong = |code| matches!(code, Code::BlockFilesMeta | Code::NotAFile | Code::LinkSkipped);
    let is_of_meta = |fault: &Fault| {
        // Of a LOD that the meta file does not count, its directory has the finding.
        let is_lod = fault.damage.code == Code::BlockFilesMeta && fault.path.starts_with(&forest.dir);
        (fault.path == name || is_lod) && is_wrong(fault.damage.code)
    };
    let wrong = save.faults.iter().any(is_of_meta);
    if !wrong && forest.format_against_meta(&save.options).is_none() {
        return Ok(());
    }
    let new = match (forest.format, backup.and_then(|backup| backup.meta.as_deref())) {
        (Some(format), _) => {
            let own = plan.regions.iter().filter(|region| region.path.starts_with(&forest.dir));
            let all = own.map(|region| region.lod).chain(forest.regions.iter().map(|file| file.lod));
            let lods = all.max().unwrap_or(0).saturating_add(1);
            let counted = forest.meta.as_ref().and_then(|meta| meta.lod_count).unwrap_or(0);
            let meta = Meta::new(lods.max(counted), format.block_size_po2, format.depths);
            (meta.encode(), "written anew from the blocks")
        }
        (None, Some(path)) => {
            let (source, mut bytes) = (draft::open(path)?, Vec::new());
            source.read_into(0, index(source.len()), &mut bytes).map_err(draft::Error::read(path))?;
            (bytes, "taken from the backup")
        }
        (None, None) => return Ok(()),
    };
    plan.metas.push(MetaFile {
        name: below(&save.path, &name),
        bytes: new.0,
        from: new.1,
        old: std::fs::symlink_metadata(&name).is_ok_and(|data| data.is_file()),
    });
    Ok(())
}

/// The blocks of a backup whose files the save does not have. The engine never deletes the file of a block.
fn missing(save: &Save, forest: &Forest, backup: &Backup) -> Vec<RegionPlan> {
    let is_loose = |file: &RegionFile| file.name.components().count() == 1;
    if !save.path.is_dir() || forest.regions.iter().any(is_loose) {
        return Vec::new();
    }
    let own: HashSet<(u8, [i32; 3])> = forest.regions.iter().map(|file| (file.lod, file.position)).collect();
    let lods = forest.meta.as_ref().and_then(|meta| meta.lod_count).unwrap_or(u8::MAX);
    // What a link leads to was not read, and may be newer than the backup.
    let is_linked = |path: &Path| {
        let links = save.faults.iter().filter(|fault| fault.damage.code == Code::LinkSkipped);
        links.map(|fault| &fault.path).any(|link| path.starts_with(link))
    };
    let places = backup.files.keys().filter(|place| place.0 < lods && !own.contains(*place));
    let planned = places.filter_map(|&(lod, position)| {
        let name = Path::new("blocks").join(format!("lod{lod}")).join(name_of(position));
        let held = backup.file(forest, (lod, position)).filter(|_| !is_linked(&forest.dir.join(&name)))?;
        let mut region = simple(save, forest, &name, lod, Action::FromBackup, FileReason::Missing);
        region.backup = Some(held);
        Some(region)
    });
    planned.collect()
}

/// What is done with a file without a backup; passes on its block if that is readable.
fn look(
    save: &Save,
    forest: &Forest,
    file: &RegionFile,
    scratch: &mut Scratch,
    readable: impl FnOnce(&View<'_>),
) -> Result<Choice, Error> {
    let path = forest.dir.join(&file.name);
    let open = |source| Error::Build(draft::Error::Open { path: path.clone(), source });
    let Some(region) = save.region(forest, file).map_err(open)? else { return Ok(UNREADABLE) };
    let Some(listed) = region.entries.first() else { return Ok(UNREADABLE) };
    let view = region.view(listed.entry, scratch).map_err(draft::Error::read(&path))?;
    Ok(match () {
        () if view.is_readable() => {
            readable(&view);
            let is_restored = region.source.restoration().is_some();
            if is_restored { (Action::Restore, RESTORED) } else { (Action::Copy, FileReason::Healthy) }
        }
        () if view.damage.iter().any(|damage| damage.code == Code::RegionFormatUnknown) => {
            (Action::Copy, FileReason::UnknownLayout)
        }
        () => UNREADABLE,
    })
}
