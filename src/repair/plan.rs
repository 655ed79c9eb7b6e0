//! What a repair does with a save: which files are copied as they are, which are built anew, and from which blocks.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::check;
use crate::damage::Code;
use crate::godot::region::Format;
use crate::recover::effort::Effort;
use crate::recover::names::Misnamed;
use crate::recover::screen::Screened;
use crate::recover::slots::{Purpose, by_old_formula};
use crate::repair::backup::{File, Store};
use crate::repair::decision::{Action, RegionPlan, simple};
use crate::repair::left::uncopied_of_lost;
use crate::repair::meta::{MetaFile, Target};
use crate::repair::out::below;
use crate::repair::place::region_plan;
use crate::repair::survey::{self, Standing};
use crate::repair::why::{FileReason, KeptReason};
use crate::repair::{
    Accepted, Compared, Error, MapPlan, Options, PakPlan, StreamPlan, accept, block_files, map, pak, stream,
};
use crate::save::{Fault, Forest, Kind, RegionFile, Save};

/// What is done with a save.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Plan {
    /// The region files, without healthy ones that are copied as they are: a save may have very many of those.
    pub regions: Vec<RegionPlan>,
    /// How many region files are healthy and copied as they are.
    pub copied: u64,
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
    /// Files and directories with names that the game does not look for: their paths below the save. They are kept in
    /// `lost+found`.
    pub strange: Vec<PathBuf>,
    /// Those of them that hold blocks of a region, with their number.
    pub misnamed: Vec<(PathBuf, u64)>,
    /// Directories in the place of a file: their paths below the save. They are kept in `lost+found`.
    pub no_files: Vec<PathBuf>,
    /// Pipes, sockets and devices in the place of a file or directory, which are not copied: their paths below the save.
    pub special: Vec<PathBuf>,
    /// Symbolic links, which are not followed and not copied: their paths below the save.
    pub links: Vec<PathBuf>,
    /// What the backup has of the save; `None` without a backup.
    pub compared: Option<Compared>,
    /// The effort that was made for it.
    pub effort: Effort,
}

impl Plan {
    /// Adds the plan of a region file.
    pub(super) fn add_region(&mut self, region: RegionPlan) {
        if region.is_plain() {
            self.copied += 1;
        } else {
            self.regions.push(region);
        }
    }

    fn add_compared(&mut self, compared: Option<Compared>) {
        if let Some(compared) = compared {
            self.compared.get_or_insert_default().add(compared);
        }
    }

    /// Whether the save is copied as it is.
    #[must_use]
    pub fn changes_nothing(&self) -> bool {
        self.metas.is_empty()
            && self.strange.is_empty()
            && self.no_files.is_empty()
            && self.regions.iter().all(RegionPlan::is_unchanged)
            && self.paks.iter().all(PakPlan::is_unchanged)
            && self.maps.iter().all(|m| m.action == Action::Copy)
            && self.streams.iter().all(|s| s.action == Action::Copy)
    }

    /// Whether something could not be recovered.
    #[must_use]
    pub fn leaves_damage(&self) -> bool {
        let left = |r: &RegionPlan| {
            let unused = r.lost.iter().any(|lost| lost.why != KeptReason::Rewritten);
            !r.missing.is_empty()
                || unused
                || r.loses_table()
                || r.blocks.iter().any(|block| !block.origin.is_complete())
        };
        self.regions.iter().any(|r| left(r) || r.loses_file() || r.action == Action::FromBackup)
            || !self.misnamed.is_empty()
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
    check_readable(save)?;
    check_options(save)?;
    plan_of_readable(save, options)
}

/// The same for what of a save can be read. Nothing may be written by it.
pub(super) fn plan_of_readable(save: &Save, options: &Options<'_>) -> Result<Plan, Error> {
    let [plan] = plans(save, options, [options.likely])?;
    Ok(plan)
}

/// Refuses a save of which files or directories cannot be read: what is in them is not known to be damaged.
fn check_readable(save: &Save) -> Result<(), Error> {
    match save.unread().filter(|fault| fault.damage.code.is_failure()).count() as u64 {
        0 => Ok(()),
        parts => Err(Error::Unread { path: save.path.clone(), parts }),
    }
}

/// Refuses options by which the save is not read as it was written.
pub(super) fn check_options(save: &Save) -> Result<(), Error> {
    if let Some(what) = check::misfit_of_regions(save).or_else(|| check::misfit_of_paks(save)) {
        return Err(Error::Misfit { path: save.path.clone(), what });
    }
    match check::misfit_of_meta(save) {
        Some(what) => Err(Error::MetaMisfit { path: save.path.clone(), what }),
        None => Ok(()),
    }
}

/// Decides what a repair does with a save without and with blocks whose places are only likely. The regions are solved
/// once for both.
///
/// # Errors
/// When a file cannot be read, or changed while it was read.
pub fn plan_both(save: &Save, options: &Options<'_>) -> Result<[Plan; 2], Error> {
    check_readable(save)?;
    check_options(save)?;
    plan_both_of_readable(save, options)
}

/// The same for what of a save can be read.
pub(super) fn plan_both_of_readable(save: &Save, options: &Options<'_>) -> Result<[Plan; 2], Error> {
    plans(save, options, [false, true])
}

fn plans<const N: usize>(save: &Save, options: &Options<'_>, likely: [bool; N]) -> Result<[Plan; N], Error> {
    let displaced = by_old_formula(save, Purpose::Moving, &|| options.go_on().is_err())?;
    let save = displaced.as_ref().unwrap_or(save);
    let all = likely.map(|likely| Options { likely, ..*options });
    let mut plans: [Plan; N] = std::array::from_fn(|_| Plan::default());
    for forest in save.forests.iter().filter(|forest| forest.kind == Kind::BlockFiles) {
        let held = match options.backup {
            Some(backup) => block_files::Backup::read(save, forest, backup, options)?,
            None => None,
        };
        let compared = held.as_ref().map(|held| Compared::new(save, forest, &held.owners));
        plans.iter_mut().for_each(|plan| plan.add_compared(compared));
        let held = held.filter(|_| !compared.is_some_and(Compared::is_of_another_world));
        for (plan, options) in plans.iter_mut().zip(&all) {
            block_files::plan(save, forest, held.as_ref(), options, plan)?;
        }
    }
    for forest in save.forests.iter().filter(|forest| forest.kind != Kind::BlockFiles) {
        let mut store = match options.backup {
            Some(backup) => Store::read(save, forest, backup, options)?,
            None => None,
        };
        let compared = store.as_ref().map(|store| Compared::new(save, forest, &store.owners));
        plans.iter_mut().for_each(|plan| plan.add_compared(compared));
        store = store.filter(|_| !compared.is_some_and(Compared::is_of_another_world));
        let target = Target::new(save, forest, store.as_ref())?;
        one_forest(save, forest, &target, store.as_ref(), &all, &mut plans)?;
        for plan in &mut plans {
            let meta = target.meta.clone().or_else(|| target.meta_of_plan(save, forest, &plan.regions));
            plan.metas.extend(meta);
        }
    }
    for (plan, options) in plans.iter_mut().zip(&all) {
        plan.effort = options.effort;
        finish(save, plan, options)?;
    }
    Ok(plans)
}

/// Adds all that is not a region.
fn finish(save: &Save, plan: &mut Plan, options: &Options<'_>) -> Result<(), Error> {
    let below = |path: &Path| path.strip_prefix(&save.path).map(Path::to_path_buf).ok();
    let forests = || save.forests.iter().filter(|forest| forest.kind != Kind::Loose);
    let strange = |fault: &&Fault| {
        let is_named = || forests().any(|forest| fault.path.starts_with(&forest.dir));
        // What a directory of region files has is copied as a forest of its own.
        let is_read = || save.forests.iter().any(|forest| forest.dir == fault.path);
        fault.damage.code == Code::NotAFile || (fault.damage.code == Code::NameRegion && is_named() && !is_read())
    };
    let special = |fault: &&Fault| {
        let is_copied = |data: fs::Metadata| data.is_dir() || data.is_file();
        fault.damage.code == Code::NotAFile && !fs::symlink_metadata(&fault.path).is_ok_and(is_copied)
    };
    let renamed = |fault: &&Fault| {
        let is = |forest: &Forest| {
            forest.regions.iter().any(|file| file.is_renamed && forest.dir.join(&file.name) == fault.path)
        };
        forests().any(is)
    };
    let (other, named): (Vec<&Fault>, Vec<&Fault>) = save.faults.iter().filter(strange).partition(special);
    plan.special = other.into_iter().filter_map(|fault| below(&fault.path)).collect();
    let kept = named.into_iter().filter(|fault| !renamed(fault));
    let kept = kept.filter_map(|fault| Some((fault.damage.code, below(&fault.path)?)));
    for (code, path) in kept.filter(|(_, path)| !path.as_os_str().is_empty()) {
        let is_directory = code == Code::NotAFile && save.path.join(&path).is_dir();
        let list = if is_directory { &mut plan.no_files } else { &mut plan.strange };
        list.push(path);
    }
    // A directory in the place of an array. What it holds is no part of the map.
    let is_in_map = |fault: &&Fault| save.maps.iter().any(|map| fault.path.parent() == Some(&map.dir));
    let no_arrays = save.unopened.iter().filter(|fault| fault.damage.code == Code::NotAFile).filter(is_in_map);
    for fault in no_arrays.filter(|fault| fs::symlink_metadata(&fault.path).is_ok_and(|data| data.is_dir())) {
        plan.no_files.extend(below(&fault.path));
    }
    let unread: HashSet<&Path> = save.unread().filter(|f| f.is_misnamed()).map(|f| f.path.as_path()).collect();
    let misnamed = plan.strange.iter().filter(|path| unread.contains(save.path.join(path).as_path()));
    plan.misnamed = misnamed.map(|path| (path.clone(), blocks_of_file(save, &save.path.join(path)))).collect();
    let link = |code| code == Code::LinkSkipped;
    plan.links = save.faults.iter().filter(|f| link(f.damage.code)).filter_map(|f| below(&f.path)).collect();
    for (path, error) in uncopied_of_lost(save) {
        let list = if error.code() == Code::LinkSkipped { &mut plan.links } else { &mut plan.special };
        list.extend(below(&path));
    }
    accept::apply(save, &mut plan.regions, options.accept)?;
    plan.accepted = options.accept.to_vec();
    plan.paks = pak::plan(save, options)?;
    plan.maps = map::plan(save, options)?;
    plan.streams = stream::plan(save, options)?;
    Ok(())
}

/// The region files of a save that are not in the list of a plan: they are healthy and copied as they are.
pub(super) fn copied_regions<'s>(save: &'s Save, plan: &Plan) -> impl Iterator<Item = (&'s Forest, &'s RegionFile)> {
    let planned: HashSet<&Path> = plan.regions.iter().map(|region| region.path.as_path()).collect();
    let is_planned = move |(forest, file): &(&Forest, &RegionFile)| planned.contains(&*forest.dir.join(&file.name));
    save.regions().filter(move |file| !is_planned(file))
}

/// The number of blocks that the table of a region file has; 0 if it cannot be read.
fn blocks_of_file(save: &Save, path: &Path) -> u64 {
    let Ok(alone) = Save::open(path, &save.options) else { return 0 };
    let opened = alone.regions().filter_map(|(forest, file)| alone.region(forest, file).ok().flatten());
    opened.map(|region| region.entries.len() as u64).sum()
}

fn one_forest(
    save: &Save,
    forest: &Forest,
    target: &Target,
    store: Option<&Store>,
    all: &[Options<'_>],
    plans: &mut [Plan],
) -> Result<(), Error> {
    let Some(options) = all.first() else { return Ok(()) };
    let layout = |file: &RegionFile| {
        target.format.filter(|format| is_near(file, format) || survey::has_other_layout(forest, file, format))
    };
    let files: Vec<_> = forest.regions.iter().map(|file| (forest, file, layout(file))).collect();
    let (looks, mut seams) = survey::look(save, &files, options)?;
    let mut misnamed = survey::misnamed(forest, &seams);
    let mut named = with_names(forest, &misnamed);
    let doubtful = LazyCell::new(|| survey::in_doubt(forest, &seams));
    let sure = HashSet::new();
    let files = Solving { layout: &layout, looks: &looks, doubted: &sure };
    let (mut ready, placed) = solve(save, &named, files, store, all, &|number| {
        // The blocks of a region with the table of another one may as well be those of that region.
        looks[number].has_other_table() || doubtful.contains(&number)
    })?;
    if !placed.is_empty() {
        let mut changed = HashSet::new();
        for (number, screened) in placed {
            seams[number] = screened.into();
            changed.insert(number);
        }
        // The table of a damaged region puts other blocks at its borders, so the names are asked again with its blocks in place.
        // With another name it has other neighbours, which must confirm the name.
        let again = survey::misnamed(forest, &seams);
        let place = |found: &Misnamed| (found.file, found.lod, found.region);
        if !again.iter().map(place).eq(misnamed.iter().map(place)) {
            named = with_names(forest, &again);
            let placed;
            (ready, placed) = solve(save, &named, files, store, all, &|number| changed.contains(&number))?;
            placed.into_iter().for_each(|(number, screened)| seams[number] = screened.into());
        }
        misnamed = again;
        // No place in a file is certain if the file itself seems to be in a wrong one.
        let moved = survey::misnamed(&named, &seams).into_iter().map(|found| found.file);
        let by_other = (0..looks.len()).filter(|&file| looks[file].has_other_table());
        let unsupported = survey::unsupported(&named, &seams, misnamed.iter().map(|found| found.file).chain(by_other));
        let doubted = survey::contradicted(&named, &seams).into_iter().chain(moved).chain(unsupported);
        let doubted: HashSet<usize> = doubted.filter(|file| changed.contains(file)).collect();
        if !doubted.is_empty() {
            (ready, _) = solve(save, &named, Solving { doubted: &doubted, ..files }, store, all, &|_| false)?;
        }
    }
    let forest = &*named;
    let is_misnamed = |file: usize| misnamed.iter().any(|found| found.file == file);
    let copied = survey::copied(forest, &seams).into_iter().filter(|found| found.is_contradicted);
    let aside: HashSet<usize> = copied.map(|found| found.file).filter(|&file| !is_misnamed(file)).collect();
    for (plan, ready) in plans.iter_mut().zip(ready) {
        of_files(save, forest, target, store, (&looks, &aside), ready, plan);
        for found in &misnamed {
            let name = forest.dir.join(&forest.regions[found.file].name);
            let planned = plan.regions.iter_mut().filter(|region| region.path == name);
            for region in planned {
                region.region = Some(found.region);
                if region.action == Action::Copy {
                    region.why = FileReason::Other("the file has the name of another region");
                }
            }
        }
    }
    Ok(())
}

/// What is planned for the regions of a forest that are not healthy, by their paths, for each of several sets of options.
type Ready = Vec<HashMap<PathBuf, RegionPlan>>;

/// What is known of the files of a forest before they are solved.
#[derive(Clone, Copy)]
struct Solving<'p> {
    /// The layout that the header of a file should have.
    layout: &'p dyn Fn(&RegionFile) -> Option<Format>,
    looks: &'p [Standing],
    /// The numbers of files in which no place is certain.
    doubted: &'p HashSet<usize>,
}

/// Solves the regions of a forest that are not healthy, each with the coordinates that its blocks belong to, and plans them. Also
/// returns the numbers and the seams of those that `is_doubtful` accepts and whose blocks are not where their tables have them.
fn solve<'s>(
    save: &Save,
    forest: &'s Forest,
    Solving { layout, looks, doubted }: Solving<'_>,
    store: Option<&Store>,
    all: &[Options<'_>],
    is_doubtful: &dyn Fn(usize) -> bool,
) -> Result<(Ready, Vec<(usize, Screened)>), Error> {
    let Some(options) = all.first() else { return Ok((Vec::new(), Vec::new())) };
    let files: Vec<survey::Listed<'s>> = forest.regions.iter().map(|file| (forest, file, layout(file))).collect();
    let mut ready: Ready = all.iter().map(|_| HashMap::new()).collect();
    let mut placed = Vec::new();
    survey::solve_all(save, &files, looks, options, |number, walk, solved| {
        let format = layout(walk.file);
        let solved = if doubted.contains(&number) { &solved.at_most_likely() } else { solved };
        for (ready, options) in ready.iter_mut().zip(all) {
            ready.insert(walk.path(), region_plan(save, walk, solved, format.as_ref(), store, options)?);
        }
        if is_doubtful(number)
            && let Some(mut screened) = walk.placed_seams(solved, &save.options.limits)?
        {
            screened.shorten(files.len());
            placed.push((number, screened));
        }
        Ok(())
    })?;
    Ok((ready, placed))
}

/// A forest with the files that have the names of others where their blocks belong.
fn with_names<'f>(forest: &'f Forest, misnamed: &[Misnamed]) -> Cow<'f, Forest> {
    let mut forest = Cow::Borrowed(forest);
    for found in misnamed {
        let file = &mut forest.to_mut().regions[found.file];
        (file.lod, file.position) = (found.lod, found.region);
        file.is_renamed = true;
    }
    forest
}

/// Adds the plans of all region files of a forest: those that were walked over, and the others. Those of `aside`, by their numbers, have
/// the blocks of other files.
fn of_files(
    save: &Save,
    forest: &Forest,
    target: &Target,
    store: Option<&Store>,
    (looks, aside): (&[Standing], &HashSet<usize>),
    mut ready: HashMap<PathBuf, RegionPlan>,
    plan: &mut Plan,
) {
    for (number, (file, look)) in forest.regions.iter().zip(looks).enumerate() {
        let path = forest.dir.join(&file.name);
        let mut region = match look {
            _ if aside.contains(&number) => {
                simple(save, forest, &file.name, file.lod, Action::SetAside, FileReason::Copied)
            }
            // Nothing is wrong with the file, and its blocks are not lost: the layout is missing.
            Standing::Nothing if target.format.is_none() && has_unknown_layout(file) => {
                simple(save, forest, &file.name, file.lod, Action::Copy, FileReason::UnknownLayout)
            }
            Standing::Nothing => simple(save, forest, &file.name, file.lod, Action::SetAside, why_aside(file)),
            _ => ready
                .remove(&path)
                .unwrap_or_else(|| simple(save, forest, &file.name, file.lod, Action::Copy, FileReason::Healthy)),
        };
        if (region.action == Action::SetAside || region.why == FileReason::UnknownLayout)
            && let Some(held) = whole_file(store, target, &file.right_name())
        {
            region.action = Action::FromBackup;
            region.backup = Some(held);
        }
        if file.is_renamed {
            region.name = below(&save.path, &forest.dir.join(file.right_name()));
            plan.regions.push(region);
        } else {
            plan.add_region(region);
        }
    }
    let Some(backup) = store else { return };
    let names: HashSet<PathBuf> = forest.regions.iter().map(RegionFile::right_name).collect();
    // What a link leads to was not read, and may be newer than the backup.
    let links: Vec<&Fault> = save.faults.iter().filter(|fault| fault.damage.code == Code::LinkSkipped).collect();
    let is_linked = |name: &Path| links.iter().any(|fault| forest.dir.join(name).starts_with(&fault.path));
    let missing = |held: &&File| !names.contains(&*held.name) && !is_linked(&held.name);
    for held in backup.files.iter().filter(missing) {
        if let Some(path) = whole_file(store, target, &held.name) {
            let why = FileReason::Missing;
            let mut region = simple(save, forest, &held.name, held.lod, Action::FromBackup, why);
            region.backup = Some(path);
            plan.regions.push(region);
        }
    }
}

/// Why a region file without a block is set aside.
fn why_aside(file: &RegionFile) -> FileReason {
    let has = |code| file.damage.iter().any(|damage| damage.code == code);
    match () {
        () if has(Code::RegionVoxedit) => FileReason::NoRegion,
        () if has(Code::RegionNeverStored) => FileReason::NeverStored,
        () => FileReason::Other("no block can be located in it"),
    }
}

/// Whether blocks of a file cannot be located because its version does not store the layout.
fn has_unknown_layout(file: &RegionFile) -> bool {
    file.header.is_none() && file.damage.iter().any(|damage| damage.code == Code::RegionFormatUnknown)
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
