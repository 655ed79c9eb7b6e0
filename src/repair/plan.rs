//! What a repair does with a save: which files are copied as they are, which are built anew, and from which blocks.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bytes::Span;
use crate::damage::Code;
use crate::godot::region::{Format, Header};
use crate::godot::slots::Slots;
use crate::repair::backup::Store;
use crate::repair::mend::Mend;
use crate::repair::meta::{MetaFile, Target};
use crate::repair::out::below;
use crate::repair::place::region_plan;
use crate::repair::survey::{self, Look, Walk};
use crate::repair::{Accepted, Error, MapPlan, Options, PakPlan, StreamPlan, accept, map, pak, stream};
use crate::save::{self, Fault, Forest, Kind, RegionFile, Save};
use crate::trace::decide::Certainty;
use crate::trace::slots::{self, Told};

/// Seams, and odds of each as logarithms, from which on blocks are moved out of the slots of the old formula: all of a
/// save would be in wrong places if that was wrong.
const OLD_SEAMS: usize = 16;
const OLD_ODDS: f64 = 0.5;

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is copied byte by byte.
    Copy,
    /// It is built anew from the blocks that were found.
    Rebuild,
    /// It holds nothing that the game could use; it is kept in `lost+found`.
    SetAside,
    /// It is taken from the backup; what stands there instead, if anything, is kept in `lost+found`.
    FromBackup,
}

impl Action {
    /// As it stands in `repair.json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Rebuild => "rebuild",
            Self::SetAside => "set aside",
            Self::FromBackup => "from backup",
        }
    }
}

/// How a block came to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was found whole, and its place is as sure as the decision says.
    Found,
    /// Somebody looked at it and said that it belongs here.
    Accepted,
    /// The backup had the same bytes at this position.
    Matched,
    /// It is torn; what is whole of it is kept.
    Salvaged,
    /// It is the backup's, and so an older state.
    Backup,
}

/// A block that is written.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Its slot.
    pub slot: u32,
    /// Its position in the world, in blocks of its LOD.
    pub position: [i32; 3],
    /// Its bytes in the source, or in the file of the backup: the size and the container, in one or more pieces.
    pub pieces: Vec<Span>,
    /// First sector there.
    pub sector: u32,
    /// Where the table had it, when that was elsewhere.
    pub listed_at: Option<u32>,
    /// How sure it is.
    pub certainty: Certainty,
    /// How likely it is, 0 to 1.
    pub probability: f64,
    /// Whether it was taken out and appended since the table was written.
    pub moved: bool,
    /// How it came to be written.
    pub origin: Origin,
    /// The file of the backup that it is read from, with its header.
    pub backup: Option<Arc<(PathBuf, Header)>>,
    /// How it is written anew; `None` when its bytes are written as they are.
    pub mend: Option<Mend>,
}

/// A block, or what is left of one, that is kept in `lost+found`.
#[derive(Clone, Debug)]
pub struct LostBlock {
    /// First sector in the source.
    pub sector: u32,
    /// Its bytes in the source.
    pub pieces: Vec<Span>,
    /// Whether it is whole.
    pub whole: bool,
    /// Why it is there.
    pub why: &'static str,
    /// Positions that it may belong to, the likeliest first, with their probabilities.
    pub candidates: Vec<([i32; 3], f64)>,
}

/// What is done with a region file.
#[derive(Debug)]
pub struct RegionPlan {
    /// Its path below the save.
    pub name: PathBuf,
    /// Where it is.
    pub path: PathBuf,
    /// Its LOD.
    pub lod: u8,
    /// What is done.
    pub action: Action,
    /// Why, in words.
    pub why: &'static str,
    /// The header by which it is read, when it is built anew.
    pub source: Option<Header>,
    /// The header that is written, when it is built anew.
    pub header: Option<Header>,
    /// The file of the backup that takes its place.
    pub backup: Option<Arc<Path>>,
    /// The blocks that are written, in the order of their sectors, those of the backup last.
    pub blocks: Vec<Decision>,
    /// What goes to `lost+found`.
    pub lost: Vec<LostBlock>,
    /// Positions that the table has and that are left out, with what is known of each.
    pub missing: Vec<([i32; 3], &'static str)>,
}

/// What is done with a save.
#[derive(Debug, Default)]
pub struct Plan {
    /// The region files.
    pub regions: Vec<RegionPlan>,
    /// Meta files that are written anew.
    pub metas: Vec<MetaFile>,
    /// Blocks that were put in their places because somebody said so.
    pub accepted: Vec<Accepted>,
    /// The pak regions.
    pub paks: Vec<PakPlan>,
    /// The voxel maps.
    pub maps: Vec<MapPlan>,
    /// The SQLite streams.
    pub streams: Vec<StreamPlan>,
    /// Files and directories with names that the game does not look for, or that are no files: their paths below the
    /// save. They are kept in `lost+found`.
    pub strange: Vec<PathBuf>,
    /// Symbolic links, which are not followed and not copied: their paths below the save.
    pub links: Vec<PathBuf>,
}

impl Plan {
    /// Whether the save is copied as it is.
    #[must_use]
    pub fn changes_nothing(&self) -> bool {
        self.metas.is_empty()
            && self.strange.is_empty()
            && self.regions.iter().all(|r| r.action == Action::Copy)
            && self.paks.iter().all(|p| p.action == Action::Copy)
            && self.maps.iter().all(|m| m.action == Action::Copy)
            && self.streams.iter().all(|s| s.action == Action::Copy)
    }

    /// Whether something could not be brought back.
    #[must_use]
    pub fn leaves_damage(&self) -> bool {
        let older = |d: &Decision| matches!(d.origin, Origin::Salvaged | Origin::Backup);
        let left = |r: &RegionPlan| {
            let unused = r.lost.iter().any(|lost| lost.why != crate::repair::place::AS_IT_WAS);
            !r.missing.is_empty() || unused || r.blocks.iter().any(older)
        };
        self.regions.iter().any(|r| left(r) || matches!(r.action, Action::SetAside | Action::FromBackup))
            || self.paks.iter().any(PakPlan::leaves_damage)
            || self.maps.iter().any(MapPlan::leaves_damage)
            || self.streams.iter().any(StreamPlan::leaves_damage)
    }
}

/// Reads a save and decides what a repair does with it.
///
/// # Errors
/// When a file cannot be read, or changed while it was read.
pub fn plan(save: &Save, options: &Options<'_>) -> Result<Plan, Error> {
    let displaced = by_old_slots(save, options)?;
    let save = displaced.as_ref().unwrap_or(save);
    let mut plan = Plan::default();
    for forest in &save.forests {
        let store = match options.backup {
            Some(backup) => Store::read(save, forest, backup, options)?,
            None => None,
        };
        let target = Target::of(save, forest, store.as_ref())?;
        one_forest(save, forest, &target, store.as_ref(), options, &mut plan)?;
        plan.metas.extend(target.meta);
    }
    let below = |path: &Path| path.strip_prefix(&save.path).map(Path::to_path_buf).ok();
    let forests = || save.forests.iter().filter(|forest| forest.kind == Kind::Forest);
    let strange = |fault: &&Fault| {
        let named = matches!(fault.damage.code, Code::NameRegion | Code::NotAFile);
        named && forests().any(|forest| fault.path.starts_with(&forest.dir))
    };
    plan.strange = save.faults.iter().filter(strange).filter_map(|f| below(&f.path)).collect();
    let link = |code| code == Code::LinkSkipped;
    plan.links = save.faults.iter().filter(|f| link(f.damage.code)).filter_map(|f| below(&f.path)).collect();
    plan.strange.retain(|path| !path.as_os_str().is_empty());
    accept::apply(&mut plan, options.accept)?;
    plan.paks = pak::plan(save, options)?;
    plan.maps = map::plan(save, options)?;
    plan.streams = stream::plan(save, options)?;
    Ok(plan)
}

/// The save as it is read by the old formula of slots, when its seams leave no doubt that this one placed its blocks.
fn by_old_slots(save: &Save, options: &Options<'_>) -> Result<Option<Save>, Error> {
    let [forest] = &save.forests[..] else { return Ok(None) };
    if save.options.slots.is_some() {
        return Ok(None);
    }
    match slots::told(save, forest, &|| options.go_on().is_err()) {
        Told::Seams { slots: Slots::Old, seams, odds } if seams >= OLD_SEAMS && odds >= OLD_ODDS => {
            let reading = save::Options { slots: Some(Slots::Old), ..save.options.clone() };
            Ok(Some(Save::open(&save.path, &reading)?))
        }
        _ => Ok(None),
    }
}

fn one_forest(
    save: &Save,
    forest: &Forest,
    target: &Target,
    store: Option<&Store>,
    options: &Options<'_>,
    plan: &mut Plan,
) -> Result<(), Error> {
    let layout = |file: &RegionFile| target.format.filter(|format| is_near(file, format));
    let files: Vec<_> = forest.regions.iter().map(|file| (forest, file, layout(file))).collect();
    let looks = survey::look(save, &files, options)?;
    let walks = survey::walks(save, &files, &looks, options)?;
    let all: Vec<&Walk<'_>> = walks.iter().collect();
    let mut ready: HashMap<PathBuf, RegionPlan> = HashMap::new();
    for (walk, solved) in walks.iter().zip(survey::solve(&all)) {
        options.go_on()?;
        let format = layout(walk.file);
        ready.insert(walk.path(), region_plan(save, walk, &solved, format.as_ref(), store, options)?);
    }
    let names: HashSet<&Path> = forest.regions.iter().map(|file| &*file.name).collect();
    for (file, look) in forest.regions.iter().zip(looks) {
        let path = forest.dir.join(&file.name);
        let mut region = match look {
            Look::Nothing => {
                simple(save, forest, &file.name, file.lod, Action::SetAside, "no block can be located in it")
            }
            _ => ready
                .remove(&path)
                .unwrap_or_else(|| simple(save, forest, &file.name, file.lod, Action::Copy, "healthy")),
        };
        if region.action == Action::SetAside
            && let Some(held) = whole_file(store, target, &file.name)
        {
            region.action = Action::FromBackup;
            region.backup = Some(held);
        }
        plan.regions.push(region);
    }
    for held in store.iter().flat_map(|store| &store.files).filter(|held| !names.contains(&*held.name)) {
        if let Some(path) = whole_file(store, target, &held.name) {
            let why = "it was missing";
            let mut region = simple(save, forest, &held.name, held.lod, Action::FromBackup, why);
            region.backup = Some(path);
            plan.regions.push(region);
        }
    }
    Ok(())
}

/// The healthy file of that name in a backup, when it has the layout of the forest.
fn whole_file(store: Option<&Store>, target: &Target, name: &Path) -> Option<Arc<Path>> {
    let held = store?.files.iter().find(|held| held.name == name && held.healthy)?;
    let same = target.format.is_none_or(|format| format == held.header.format);
    same.then(|| Arc::clone(&held.path))
}

/// Whether a file has the layout of its forest but for what can be written anew: the size of its sectors, or a header
/// that is damaged.
fn is_near(file: &RegionFile, format: &Format) -> bool {
    match &file.header {
        Some(header) => {
            *format == Format { sector_size: format.sector_size, ..header.format } || !file.damage.is_empty()
        }
        None => true,
    }
}

pub(super) fn simple(
    save: &Save,
    forest: &Forest,
    file: &Path,
    lod: u8,
    action: Action,
    why: &'static str,
) -> RegionPlan {
    let path = forest.dir.join(file);
    let name = below(&save.path, &path);
    RegionPlan {
        name,
        path,
        lod,
        action,
        why,
        source: None,
        header: None,
        backup: None,
        blocks: Vec::new(),
        lost: Vec::new(),
        missing: Vec::new(),
    }
}
