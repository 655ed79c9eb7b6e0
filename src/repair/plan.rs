//! Deciding what is written: which files are copied as they are, which are built anew, and from which blocks.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use rayon::prelude::*;

use crate::bytes::Span;
use crate::godot::region::Header;
use crate::limits::Limits;
use crate::repair::{Accepted, Error, MapPlan, Options, PakPlan, accept, map, meta, pak};
use crate::save::{Forest, Region, RegionFile, Save, Scratch};
use crate::source::{FileSource, Source};
use crate::trace::decide::{Certainty, decide};
use crate::trace::region::{Case, Listing};
use crate::trace::solve::Solver;
use crate::trace::walk::{self, Walked};

/// Bytes that the blocks of one file may decode to while it is walked over.
const BUDGET: u64 = 64 << 30;

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is copied byte by byte.
    Copy,
    /// It is built anew from the blocks that were found.
    Rebuild,
    /// It holds nothing that the game could use; it is kept in `lost+found`.
    SetAside,
}

impl Action {
    /// As it stands in `repair.json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Rebuild => "rebuild",
            Self::SetAside => "set aside",
        }
    }
}

/// A block that is written.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Its slot.
    pub slot: u32,
    /// Its position in the world, in blocks of its LOD.
    pub position: [i32; 3],
    /// Its bytes in the source: the size and the container, in one or two pieces.
    pub pieces: Vec<Span>,
    /// First sector in the source.
    pub sector: u32,
    /// Where the table had it, when that was elsewhere.
    pub listed_at: Option<u32>,
    /// How sure it is.
    pub certainty: Certainty,
    /// How likely it is, 0 to 1.
    pub probability: f64,
    /// Whether it was taken out and appended since the table was written.
    pub moved: bool,
}

/// A block that was found and has no owner.
#[derive(Clone, Debug)]
pub struct LostBlock {
    /// First sector in the source.
    pub sector: u32,
    /// Its bytes in the source.
    pub pieces: Vec<Span>,
    /// Whether it is whole.
    pub whole: bool,
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
    /// The header that is written, when it is built anew.
    pub header: Option<Header>,
    /// The blocks that are written, in the order of their sectors.
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
    /// Meta files that are written anew: their paths below the save, and their bytes.
    pub metas: Vec<(PathBuf, Vec<u8>)>,
    /// Blocks that were put in their places because somebody said so.
    pub accepted: Vec<Accepted>,
    /// The pak regions.
    pub paks: Vec<PakPlan>,
    /// The voxel maps.
    pub maps: Vec<MapPlan>,
}

impl Plan {
    /// Whether the save is copied as it is.
    #[must_use]
    pub fn changes_nothing(&self) -> bool {
        self.metas.is_empty()
            && self.regions.iter().all(|r| r.action == Action::Copy)
            && self.paks.iter().all(|p| p.action == Action::Copy)
            && self.maps.iter().all(|m| m.action == Action::Copy)
    }

    /// Whether something could not be brought back.
    #[must_use]
    pub fn leaves_damage(&self) -> bool {
        self.regions.iter().any(|r| !r.missing.is_empty() || !r.lost.is_empty() || r.action == Action::SetAside)
            || self.paks.iter().any(PakPlan::leaves_damage)
            || self.maps.iter().any(MapPlan::leaves_damage)
    }
}

/// A region that was walked over.
struct Walk<'s> {
    forest: &'s Forest,
    file: &'s RegionFile,
    region: Region<FileSource>,
    case: Case,
}

/// Reads a save and decides what a repair does with it.
///
/// # Errors
/// When a file cannot be read, or changed while it was read.
pub fn plan(save: &Save, options: &Options<'_>) -> Result<Plan, Error> {
    let files: Vec<(&Forest, &RegionFile)> = save.regions().collect();
    // At first without the faces of blocks: most files have nothing wrong.
    let quick: Vec<Option<bool>> = files
        .par_iter()
        .map(|(forest, file)| {
            options.go_on()?;
            Ok(open(save, forest, file, false)?.map(|walk| walk.case.is_intact() && walk.is_sound()))
        })
        .collect::<Result<_, Error>>()?;
    let broken: HashSet<(u8, [i32; 3])> =
        files.iter().zip(&quick).filter(|(_, q)| **q == Some(false)).map(|((_, f), _)| (f.lod, f.position)).collect();
    // Their neighbours help to tell.
    let near = |file: &RegionFile| {
        let close = |a: i32, b: i32| a.abs_diff(b) <= 1;
        broken.iter().any(|(lod, at)| *lod == file.lod && (0..3).all(|k| close(at[k], file.position[k])))
    };
    let walks: Vec<Option<Walk<'_>>> = files
        .par_iter()
        .zip(&quick)
        .map(|((forest, file), quick)| {
            options.go_on()?;
            if quick.is_some() && near(file) { open(save, forest, file, true) } else { Ok(None) }
        })
        .collect::<Result<_, Error>>()?;
    let mut plan = Plan::default();
    let mut solved: HashMap<PathBuf, RegionPlan> = HashMap::new();
    for forest in &save.forests {
        // Regions of different forests have nothing to do with each other.
        let (mut cases, mut rest) = (Vec::new(), Vec::new());
        let mut walks: Vec<&Walk<'_>> =
            walks.iter().flatten().filter(|walk| std::ptr::eq(walk.forest, forest)).collect();
        walks.sort_by_key(|walk| (walk.file.lod, walk.file.position));
        for walk in walks {
            cases.push(&walk.case);
            rest.push(walk);
        }
        let solver = Solver::solve(&cases);
        for (r, walk) in rest.iter().enumerate() {
            solved.insert(walk.path(), region_plan(save, walk, &solver, r, options));
        }
    }
    for ((forest, file), quick) in files.iter().zip(quick) {
        let path = forest.dir.join(&file.name);
        let ready = match quick {
            Some(_) => solved.remove(&path).unwrap_or_else(|| simple(save, forest, file, Action::Copy, "healthy")),
            None => simple(save, forest, file, Action::SetAside, "no block can be located in it"),
        };
        plan.regions.push(ready);
    }
    for forest in &save.forests {
        plan.metas.extend(meta::mend(save, forest));
    }
    accept::apply(&mut plan, options.accept)?;
    plan.paks = pak::plan(save, options)?;
    plan.maps = map::plan(save, options)?;
    Ok(plan)
}

fn simple(save: &Save, forest: &Forest, file: &RegionFile, action: Action, why: &'static str) -> RegionPlan {
    let path = forest.dir.join(&file.name);
    let name = path.strip_prefix(&save.path).map_or_else(|_| file.name.to_path_buf(), std::path::Path::to_path_buf);
    RegionPlan {
        name,
        path,
        lod: file.lod,
        action,
        why,
        header: None,
        blocks: Vec::new(),
        lost: Vec::new(),
        missing: Vec::new(),
    }
}

fn open<'s>(save: &Save, forest: &'s Forest, file: &'s RegionFile, faces: bool) -> Result<Option<Walk<'s>>, Error> {
    let path = forest.dir.join(&file.name);
    let failed = |source| Error::Open { path: path.clone(), source };
    let Some(mut region) = save.region(forest, file).map_err(failed)? else { return Ok(None) };
    if region.header.table.end > file.len {
        return Ok(None);
    }
    let slots = region.slots(&mut Scratch::default()).map_err(Error::io(&path))?;
    let options = walk::Options { faces, budget: BUDGET };
    let case = Case::read(&region, slots, &Limits::DEFAULT, options).map_err(Error::io(&path))?;
    if region.source.changed().map_err(Error::io(&path))? {
        return Err(Error::Changed(path));
    }
    Ok(Some(Walk { forest, file, region, case }))
}

impl Walk<'_> {
    /// Whether its header is as it must be, and the last sector is there to its end.
    fn is_sound(&self) -> bool {
        let (header, end) = (&self.region.header, u64::from(self.case.table_end()));
        self.file.damage.is_empty() && header.sector_span(end, 0).start <= self.region.source.len()
    }

    fn path(&self) -> PathBuf {
        self.forest.dir.join(&self.file.name)
    }
}

fn region_plan(save: &Save, walk: &Walk<'_>, solver: &Solver<'_>, r: usize, options: &Options<'_>) -> RegionPlan {
    let mut plan = simple(save, walk.forest, walk.file, Action::Copy, "healthy");
    let (case, header) = (&walk.case, &walk.region.header);
    let sound = walk.is_sound();
    if case.is_intact() && sound {
        return plan;
    }
    let decisions = decide(solver, r);
    let sure: Vec<_> = decisions.iter().filter(|d| d.certainty >= options.least()).collect();
    let by_slot: HashMap<u32, &Listing> = case.entries.iter().map(|e| (e.slot, e)).collect();
    let as_listed = sure.len() == case.entries.len()
        && sure.iter().all(|d| {
            let block = &case.walk.blocks[d.block];
            by_slot.get(&d.slot).is_some_and(|e| (e.first, e.count) == (block.first, block.count))
        });
    let packed = case.entries.iter().try_fold(0, |at, e| (e.first == at).then_some(at + e.count)).is_some();
    let placed: HashSet<u128> = sure.iter().map(|d| case.content(d.block)).collect();
    let homeless = |b: usize| !placed.contains(&case.content(b));
    let state = &solver.states[r];
    let unlisted = case.entries.is_empty() && !case.walk.blocks.is_empty();
    let appended = unlisted || (0..case.walk.blocks.len()).any(|b| homeless(b) && state.posterior.appended[b] > 0.2);
    if as_listed && packed && !appended && sound {
        return plan;
    }
    plan.action = Action::Rebuild;
    plan.why = if sound { "the table does not fit the sectors" } else { "the header or the last sector is damaged" };
    plan.header = Some(header.clone());
    for d in &sure {
        let block = &case.walk.blocks[d.block];
        let listed = by_slot.get(&d.slot).map(|e| e.first);
        plan.blocks.push(Decision {
            slot: d.slot,
            position: d.position,
            pieces: walk::pieces(header, block),
            sector: block.first,
            listed_at: listed.filter(|first| *first != block.first),
            certainty: d.certainty,
            probability: d.p,
            moved: d.moved,
        });
    }
    plan.blocks.sort_by_key(|b| (b.sector, b.slot));
    let slots: HashSet<u32> = sure.iter().map(|d| d.slot).collect();
    for (i, entry) in case.entries.iter().enumerate().filter(|(_, e)| !slots.contains(&e.slot)) {
        let why = if state.posterior.torn[i] > 0.5 {
            "its block is torn"
        } else if state.options[i].is_empty() {
            "no block was found for it"
        } else {
            "its block cannot be told for certain"
        };
        plan.missing.push((entry.position, why));
    }
    plan.missing.sort_unstable();
    let mut seen = HashSet::new();
    for (b, block) in case.walk.blocks.iter().enumerate() {
        if homeless(b) && seen.insert(block.content) {
            plan.lost.push(lost(case, header, solver, r, b, block, &slots));
        }
    }
    plan
}

fn lost(
    case: &Case,
    header: &Header,
    solver: &Solver<'_>,
    r: usize,
    b: usize,
    block: &Walked,
    taken: &HashSet<u32>,
) -> LostBlock {
    let options = solver.states[r].options.iter().zip(&case.entries);
    let free = options.filter(|(_, entry)| !taken.contains(&entry.slot));
    let mut candidates: Vec<([i32; 3], f64)> = free
        .filter_map(|(options, entry)| {
            let p: f64 = options.iter().filter(|o| o.block == b).map(|o| o.p).sum();
            (p > 0.005).then_some((entry.position, p))
        })
        .collect();
    candidates.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    LostBlock { sector: block.first, pieces: walk::pieces(header, block), whole: true, candidates }
}
