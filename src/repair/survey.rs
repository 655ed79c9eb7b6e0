//! Walking over the regions of a save and asking for the places of their blocks.

use std::collections::HashSet;
use std::path::PathBuf;

use rayon::prelude::*;

use crate::beside;
use crate::bytes::Span;
use crate::check;
use crate::damage::{Code, Damage};
use crate::godot::region::{Format, Header, MAX_HEADER_BYTES};
use crate::godot::slots::Slots;
use crate::repair::parts::{self, Parts, doubled, may_be_moving};
use crate::repair::progress::{Step, Told};
use crate::repair::torn_table::Split;
use crate::repair::{Error, Options};
use crate::save::{Forest, Region, RegionFile, Save, Scratch};
use crate::source::{FileSource, Source};
use crate::trace::decide::{Certainty, Placed, decide};
use crate::trace::explained::{is_explained, listed};
use crate::trace::quick;
use crate::trace::region::{Case, Listing, Option_, tell_of_each_other};
use crate::trace::solve::Solver;
use crate::trace::walk;

/// Bytes that the blocks of one file may decode to while it is walked over.
const BUDGET: u64 = 64 << 30;

/// Places that are tried where a file may go on a few bytes further.
const TRIES: usize = 256;

/// A region that was walked over.
pub(super) struct Walk<'s> {
    pub forest: &'s Forest,
    pub file: &'s RegionFile,
    pub region: Region<Parts>,
    pub slots: Slots,
    pub case: Case,
    /// What had to be done before its blocks could be found.
    pub remark: Option<&'static str>,
    /// Its entries of two generations, when the table was written in part.
    pub split: Option<Split>,
}

/// What is known of the places of a region's blocks.
pub(super) struct Solved {
    /// The places, by slot.
    pub placed: Vec<Placed>,
    /// For each entry, how likely its block is torn.
    pub torn: Vec<f64>,
    /// For each entry its possible blocks.
    pub options: Vec<Vec<Option_>>,
    /// For each block, how likely it was saved since the table was written.
    pub appended: Vec<f64>,
}

/// What a first look says of a region file.
pub(super) enum Look {
    /// No block can be located in it.
    Nothing,
    /// Its table explains its sectors, and nothing is odd.
    Healthy,
    /// Its table explains its sectors, but its header or its blocks have to be written anew.
    Odd,
    /// Its table does not explain its sectors.
    Broken,
}

impl Walk<'_> {
    pub fn path(&self) -> PathBuf {
        self.forest.dir.join(&self.file.name)
    }

    /// Whether its header is as it must be, all entries have sectors, and the last one is there to its end.
    pub fn is_sound(&self) -> bool {
        let (header, end) = (&self.region.header, u64::from(self.case.table_end()));
        let whole = header.sector_span(end, 0).start <= self.region.source.len();
        let listed = self.case.entries.len() == self.region.entries.len();
        // What was not known when the save was opened is no fault of the file.
        let unknown = |damage: &Damage| damage.code == Code::RegionFormatUnknown;
        self.file.damage.iter().all(unknown) && self.remark.is_none() && whole && listed
    }

    fn look(&self, format: Option<&Format>) -> Look {
        let other = format.is_some_and(|format| *format != self.region.header.format);
        if !self.case.is_intact() {
            Look::Broken
        } else if other || !self.is_sound() || self.is_odd() {
            Look::Odd
        } else {
            Look::Healthy
        }
    }

    pub fn is_odd(&self) -> bool {
        self.case.walk.blocks.iter().any(|block| block.odd) || self.is_displaced()
    }

    /// Whether its blocks stand in the slots of the old formula although their version does not say so.
    pub fn is_displaced(&self) -> bool {
        self.slots == Slots::Old
            && self.region.is_negative()
            && self.region.header.version == 3
            && self.case.walk.blocks.iter().all(|block| block.version >= 4)
    }
}

/// Looks at all region files, without the outer layers of their blocks: most have nothing wrong.
pub(super) fn look(
    save: &Save,
    files: &[(&Forest, &RegionFile, Option<Format>)],
    options: &Options<'_>,
) -> Result<Vec<Look>, Error> {
    let told = Told::new(options, Step::Looking, files.iter().map(|(_, file, _)| file.len).sum());
    let glance = |(forest, file, format): &(&Forest, &RegionFile, Option<Format>)| {
        options.go_on()?;
        let look = glance(save, forest, file, format.as_ref(), options);
        // The first of two looks.
        told.advance(file.len / 2);
        look
    };
    let glances = files.par_iter().map(glance).collect::<Result<Vec<_>, Error>>()?;
    let explained = quick::explained(&glances.iter().collect::<Vec<_>>());
    let one = |((forest, file, format), explained): (&(&Forest, &RegionFile, Option<Format>), &bool)| {
        options.go_on()?;
        let walk = if *explained { None } else { open(save, forest, file, format.as_ref(), false)? };
        told.advance(file.len - file.len / 2);
        Ok(match walk {
            _ if *explained => Look::Healthy,
            Some(walk) => walk.look(format.as_ref()),
            None => Look::Nothing,
        })
    };
    files.par_iter().zip(&explained).map(one).collect()
}

/// What one look says of a region file.
fn glance(
    save: &Save,
    forest: &Forest,
    file: &RegionFile,
    format: Option<&Format>,
    options: &Options<'_>,
) -> Result<quick::Look, Error> {
    let usual = file.header.as_ref().is_some_and(|header| format.is_none_or(|format| *format == header.format));
    if !usual || !file.damage.is_empty() || save.options.slots.is_some() {
        return Ok(quick::Look::Unclear);
    }
    let path = forest.dir.join(&file.name);
    let failed = |source| beside::Error::Open { path: path.clone(), source };
    let Some(region) = save.region(forest, file).map_err(failed)? else { return Ok(quick::Look::Unclear) };
    let look = check::look(&region, options.cancel);
    beside::unchanged(&region.source, &path)?;
    Ok(look)
}

/// Walks over the regions that are not healthy and those beside broken ones, which help to tell.
pub(super) fn walks<'s>(
    save: &Save,
    files: &[(&'s Forest, &'s RegionFile, Option<Format>)],
    looks: &[Look],
    options: &Options<'_>,
) -> Result<Vec<Walk<'s>>, Error> {
    let broken: HashSet<(u8, [i32; 3])> = files
        .iter()
        .zip(looks)
        .filter(|(_, look)| matches!(look, Look::Broken))
        .map(|((_, file, _), _)| (file.lod, file.position))
        .collect();
    let near = |file: &RegionFile| broken.iter().any(|broken| tell_of_each_other(*broken, (file.lod, file.position)));
    let needed = |file: &RegionFile, look: &Look| match look {
        Look::Nothing => false,
        Look::Healthy => near(file),
        Look::Odd | Look::Broken => true,
    };
    let needed: Vec<_> = files.iter().zip(looks).filter(|((_, file, _), look)| needed(file, look)).collect();
    let told = Told::new(options, Step::Walking, needed.iter().map(|((_, file, _), _)| file.len).sum());
    let walks: Vec<Option<Walk<'_>>> = needed
        .par_iter()
        .map(|((forest, file, format), _)| {
            options.go_on()?;
            let walk = open(save, forest, file, format.as_ref(), near(file));
            told.advance(file.len);
            walk
        })
        .collect::<Result<_, Error>>()?;
    let mut walks: Vec<Walk<'_>> = walks.into_iter().flatten().collect();
    walks.sort_by_key(|walk| (walk.file.lod, walk.file.position));
    Ok(walks)
}

/// The places of the blocks of walked regions of one forest.
pub(super) fn solve(walks: &[&Walk<'_>]) -> Vec<Solved> {
    let mut cases: Vec<&Case> = Vec::new();
    let mut from = Vec::new();
    for walk in walks {
        from.push(cases.len());
        match &walk.split {
            None => cases.push(&walk.case),
            Some(split) => cases.extend([&split.trusted.case, &split.rest.case]),
        }
    }
    let solver = Solver::solve(&cases);
    walks.iter().zip(from).map(|(walk, r)| solved(walk, &solver, r)).collect()
}

fn solved(walk: &Walk<'_>, solver: &Solver<'_>, r: usize) -> Solved {
    let (entries, blocks) = (walk.case.entries.len(), walk.case.walk.blocks.len());
    let mut solved = Solved {
        placed: Vec::new(),
        torn: vec![0.0; entries],
        options: vec![Vec::new(); entries],
        appended: vec![0.0; blocks],
    };
    let all = [(0..entries).collect(), (0..blocks).collect()];
    let parts: Vec<(usize, &[Vec<usize>; 2])> = match &walk.split {
        None => vec![(r, &all)],
        Some(split) => vec![(r, &split.trusted.of), (r + 1, &split.rest.of)],
    };
    for (r, [entries, blocks]) in parts {
        let state = &solver.states[r];
        for (k, &i) in entries.iter().enumerate() {
            solved.torn[i] = state.posterior.torn.get(k).copied().unwrap_or(0.0);
            let options = state.options.get(k).into_iter().flatten();
            solved.options[i] = options.map(|o| Option_ { block: blocks[o.block], ..*o }).collect();
        }
        for (k, &b) in blocks.iter().enumerate() {
            solved.appended[b] = state.posterior.appended.get(k).copied().unwrap_or(0.0);
        }
        solved.placed.extend(decide(solver, r).into_iter().map(|p| Placed { block: blocks[p.block], ..p }));
    }
    if walk.split.as_ref().is_some_and(|split| !split.sure) {
        for placed in &mut solved.placed {
            placed.certainty = placed.certainty.min(Certainty::Likely);
        }
    }
    solved.placed.sort_by_key(|p| p.slot);
    solved
}

/// Whether the table explains all that stands in the sectors.
pub(super) fn stands_as_listed(walk: &Walk<'_>, solved: &Solved) -> bool {
    let by_slot = solved.placed.iter().map(|p| (p.slot, *p)).collect();
    walk.split.is_none() && is_explained(&walk.case, &by_slot)
}

/// The places that are sure enough. Where the table explains all that stands there, what speaks for nothing better is no
/// reason to take a block out.
pub(super) fn sure(walk: &Walk<'_>, solved: &Solved, least: Certainty) -> Vec<Placed> {
    let case = &walk.case;
    if !stands_as_listed(walk, solved) {
        return solved.placed.iter().filter(|p| p.certainty >= least).copied().collect();
    }
    let (certainty, p, moved) = (Certainty::Certain, 1.0, false);
    let place =
        |e: &Listing| Some(Placed { slot: e.slot, position: e.position, block: listed(case, e)?, certainty, p, moved });
    case.entries.iter().filter_map(place).collect()
}

/// Opens a region file and walks over it; `format` is the layout that its header should have. `None` when no block can
/// be located.
pub(super) fn open<'s>(
    save: &Save,
    forest: &'s Forest,
    file: &'s RegionFile,
    format: Option<&Format>,
    faces: bool,
) -> Result<Option<Walk<'s>>, Error> {
    let path = forest.dir.join(&file.name);
    if file.detail.is_some() {
        return Ok(None);
    }
    let source = || FileSource::open(&path).map_err(|source| beside::Error::Open { path: path.clone(), source });
    let read = |header: Header, source: Parts| -> Result<Option<Walk<'s>>, Error> {
        if header.table.end > source.len() {
            return Ok(None);
        }
        let failed = beside::Error::read;
        let region = Region::load(source, header, file.lod, file.position, &save.options);
        let mut region = region.map_err(failed(&path))?;
        let slots = region.slots(&mut Scratch::default()).map_err(failed(&path))?;
        let options = walk::Options { faces, budget: BUDGET };
        let case = Case::read(&region, slots, &save.options.limits, options).map_err(failed(&path))?;
        let split = Split::of(&region, &case);
        Ok(Some(Walk { forest, file, region, slots, case, remark: None, split }))
    };
    let mut walk = match &file.header {
        Some(header) => read(header.clone(), Parts::whole(source()?))?,
        None => None,
    };
    if walk.is_none()
        && let Some(header) = again(&source()?, format).map_err(beside::Error::read(&path))?
    {
        walk = read(header, Parts::whole(source()?))?;
    }
    if let Some(old) = &walk
        && may_be_moving(&old.region.header)
        && !explained(&old.case)
    {
        let header = &old.region.header;
        for gap in gaps(old).map_err(beside::Error::read(&path))? {
            let other = read(header.clone(), Parts::whole(source()?).without(gap))?;
            if let Some(mut other) = other.filter(|other| explained(&other.case)) {
                other.remark = Some("the game was killed while it made room for a longer header");
                walk = Some(other);
                break;
            }
        }
    } else if walk.is_none()
        && let Some(format) = format
    {
        // What the other files say of this one's header.
        let other = read(Header::new(3, *format), Parts::whole(source()?))?;
        let other = other.filter(|other| !other.case.walk.blocks.is_empty());
        let known = file.damage.iter().all(|d| d.code != Code::RegionVersion);
        walk = other.filter(|other| known || explained(&other.case)).map(|mut other| {
            other.remark = Some("its header was damaged, and is that of the other files now");
            other
        });
    }
    if let Some(walk) = &walk {
        beside::unchanged(walk.region.source.file(), &path)?;
    }
    Ok(walk)
}

/// The header of a file of version 1 or 2, when its layout is known now and was not when the save was opened.
fn again(source: &FileSource, format: Option<&Format>) -> std::io::Result<Option<Header>> {
    let mut prefix = Vec::new();
    source.read_into(0, MAX_HEADER_BYTES, &mut prefix)?;
    let header = Header::decode(&prefix, source.len(), format, &mut Vec::new());
    Ok(header.filter(|header| header.version < 3))
}

/// Whether every entry of the table leads to a whole block of its length, and there is one.
pub(super) fn explained(case: &Case) -> bool {
    let whole = |e: &Listing| {
        let blocks = &case.walk.blocks;
        let at = blocks.binary_search_by_key(&e.first, |block| block.first);
        at.is_ok_and(|at| blocks[at].count == e.count && blocks[at].splice.is_none())
    };
    !case.entries.is_empty() && case.entries.iter().all(whole)
}

/// Where a file whose first entries are right may go on further behind.
fn gaps(walk: &Walk<'_>) -> std::io::Result<Vec<Span>> {
    let (header, case) = (&walk.region.header, &walk.case);
    let blocks = &case.walk.blocks;
    let right = case.entries.iter().zip(blocks).take_while(|(e, b)| (e.first, e.count) == (b.first, b.count)).count();
    let from = match right.checked_sub(1).and_then(|i| case.entries.get(i)) {
        Some(last) => header.sector_span(last.first.into(), 0).start,
        None => 5,
    };
    let end = case.entries.get(right).map_or(0, |e| e.first + e.count);
    let end = header.sector_span(end.into(), 0).start.max(header.table.end);
    doubled(walk.region.source.file(), Span::new(from, end.max(from) + parts::ROOM), TRIES)
}
