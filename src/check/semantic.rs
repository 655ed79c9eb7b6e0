//! What the sectors of regions say of their tables: blocks that decode and belong elsewhere, torn ones, and places in
//! doubt.
//!
//! A region that its table explains says nothing. Of the others each entry is reported whose place is not certain: a
//! block given wrongly without a word is worse than a warning too many in a region that is damaged anyway.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::bytes::Span;
use crate::check::Options;
use crate::damage::{Code, Damage, Value};
use crate::godot::region::Header;
use crate::godot::slots::Slots;
use crate::printable::triple;
use crate::save::{Forest, Region, RegionFile, Save, Scratch};
use crate::source::FileSource;
use crate::trace::decide::{Certainty, Placed, decide};
use crate::trace::explained::{is_explained, listed};
use crate::trace::region::{Case, Listing, tell_of_each_other};
use crate::trace::slots::{self, Told};
use crate::trace::solve::Solver;
use crate::trace::walk;

/// Bytes that the blocks of one file may decode to while it is walked over.
const BUDGET: u64 = 64 << 30;

/// The least probability of a place that is told of; how likely it is stands beside it.
const TOLD: f64 = 0.6;
/// The least probability at which a block counts as saved since the table was written.
const SAVED: f64 = 0.2;

/// What is to be said of one entry.
pub(super) struct Doubt {
    pub position: Option<[i32; 3]>,
    pub damage: Damage,
    pub remark: Option<String>,
    /// Whether it has nothing to add to an error of the same block.
    pub weak: bool,
}

/// What is to be said of all files.
#[derive(Default)]
pub(super) struct Doubts(HashMap<PathBuf, Vec<Doubt>>);

impl Doubts {
    pub fn of(&self, path: &Path) -> &[Doubt] {
        self.0.get(path).map_or(&[], Vec::as_slice)
    }
}

/// Walks over the regions of a save but those that are explained already, and asks for the places of their blocks. What
/// cannot be read is left out: the other rules say so.
pub(super) fn ask(save: &Save, options: &Options<'_>, explained: &HashSet<PathBuf>) -> Doubts {
    let mut told = Doubts::default();
    for forest in &save.forests {
        let files: Vec<&RegionFile> =
            save.regions().filter(|(of, _)| std::ptr::eq(*of, forest)).map(|(_, file)| file).collect();
        if let Some((path, doubt)) = slots(save, forest, options) {
            told.0.entry(path).or_default().push(doubt);
        }
        // At first without the faces of blocks: most files have nothing wrong.
        let broken: Vec<(u8, [i32; 3])> = files
            .par_iter()
            .filter(|file| {
                let known = explained.contains(&forest.dir.join(&file.name));
                if known {
                    options.advance(file.len);
                }
                !known
            })
            .filter_map(|file| {
                let walked = open(save, forest, file, false, options);
                options.advance(file.len);
                (!walked?.1.is_intact()).then_some((file.lod, file.position))
            })
            .collect();
        // Their neighbours help to tell.
        let near =
            |file: &RegionFile| broken.iter().any(|broken| tell_of_each_other(*broken, (file.lod, file.position)));
        let mut opened: Vec<(&RegionFile, Header, Case)> = files
            .par_iter()
            .filter(|file| near(file))
            .filter_map(|file| {
                open(save, forest, file, true, options).map(|(region, case)| (*file, region.header, case))
            })
            .collect();
        opened.sort_by_key(|(file, ..)| (file.lod, file.position));
        let cases: Vec<&Case> = opened.iter().map(|(.., case)| case).collect();
        let solver = Solver::solve(&cases);
        for (r, (file, header, case)) in opened.iter().enumerate() {
            if !case.is_intact() && !options.cancelled() {
                told.0.entry(forest.dir.join(&file.name)).or_default().extend(judge(header, case, &solver, r));
            }
        }
    }
    told
}

/// Which formula placed the blocks of negative coordinates, where the seams tell it: said of the first file that has some.
fn slots(save: &Save, forest: &Forest, options: &Options<'_>) -> Option<(PathBuf, Doubt)> {
    let Told::Seams { slots, seams, odds } = slots::told(save, forest, &|| options.cancelled()) else { return None };
    let file = forest.regions.iter().find(|file| file.position.iter().any(|&p| p < 0))?;
    let span = file.header.as_ref().map_or_else(Span::default, |header| header.table);
    let words = match slots {
        Slots::Old => "the old formula",
        Slots::New => "the formula of today",
    };
    let found = Damage::new(Code::SlotsTold, span, "slots of negative coordinates").found(Value::Words(words));
    let remark = format!("{seams} seams were compared; the odds are {:.1} to 1 for each", odds.abs().exp());
    Some((forest.dir.join(&file.name), Doubt { position: None, damage: found, remark: Some(remark), weak: false }))
}

fn open(
    save: &Save,
    forest: &Forest,
    file: &RegionFile,
    faces: bool,
    options: &Options<'_>,
) -> Option<(Region<FileSource>, Case)> {
    if options.cancelled() {
        return None;
    }
    let mut region = save.region(forest, file).ok()??;
    if region.header.table.end > file.len {
        return None;
    }
    let slots = region.slots(&mut Scratch::default()).ok()?;
    let options = walk::Options { faces, budget: BUDGET };
    let case = Case::read(&region, slots, &save.options.limits, options).ok()?;
    Some((region, case))
}

fn judge(header: &Header, case: &Case, solver: &Solver<'_>, r: usize) -> Vec<Doubt> {
    let placed: HashMap<u32, Placed> = decide(solver, r).into_iter().map(|p| (p.slot, p)).collect();
    if is_explained(case, &placed) {
        return Vec::new();
    }
    // Where each content belongs.
    let mut owners: HashMap<u128, Placed> = HashMap::new();
    for p in placed.values().filter(|p| p.p >= TOLD) {
        let owner = owners.entry(case.content(p.block)).or_insert(*p);
        if (p.p, p.slot) > (owner.p, owner.slot) {
            *owner = *p;
        }
    }
    let torn = |i: usize| solver.states.get(r).and_then(|s| s.posterior.torn.get(i)).is_some_and(|p| *p > 0.5);
    let entries = case.entries.iter().enumerate();
    let mut doubts: Vec<Doubt> =
        entries.filter_map(|(i, e)| doubt(header, case, e, placed.get(&e.slot), torn(i), &owners)).collect();
    doubts.extend(unowned(header, case, solver, r, &placed));
    doubts
}

/// Whole blocks to which no entry leads: saved since the table was written and nobody's, or there a second time.
fn unowned(header: &Header, case: &Case, solver: &Solver<'_>, r: usize, placed: &HashMap<u32, Placed>) -> Vec<Doubt> {
    let blocks = &case.walk.blocks;
    let likely = || placed.values().filter(|p| p.certainty >= Certainty::Likely);
    let mut owned: HashMap<u128, Vec<Placed>> = HashMap::new();
    likely().for_each(|p| owned.entry(case.content(p.block)).or_default().push(*p));
    let mut copies: HashMap<u128, usize> = HashMap::new();
    blocks.iter().for_each(|block| *copies.entry(block.content).or_default() += 1);
    // The finding of the entry that leads to a block says all there is to say, but not that it is its own second copy.
    let listed_by: HashMap<usize, u32> = case.entries.iter().filter_map(|e| Some((listed(case, e)?, e.slot))).collect();
    let taken: HashSet<usize> = likely().map(|p| p.block).collect();
    // What stands behind the last block that has an owner, and is a copy of one, is an old tail.
    let end = likely().filter_map(|p| blocks.get(p.block)).map(walk::Walked::end).max().unwrap_or(0);
    let saved = |b: usize| solver.states.get(r).and_then(|s| s.posterior.appended.get(b)).is_some_and(|p| *p > SAVED);
    let doubt = |(b, block): (usize, &walk::Walked)| {
        let owners = owned.get(&block.content).map_or(&[][..], Vec::as_slice);
        let slot = listed_by.get(&b);
        let (code, position, remark) = match (owners, slot) {
            ([owner, ..], _) => {
                let own = owners.iter().find(|owner| Some(&owner.slot) == slot);
                let more = copies.get(&block.content).is_some_and(|n| *n > owners.len());
                if block.first >= end || !more || (slot.is_some() && own.is_none()) {
                    return None;
                }
                let owner = own.unwrap_or(owner);
                let sector = blocks.get(owner.block).map_or(0, |own| own.first);
                let remark = format!("The same block stands at sector {sector}, where it has its owner.");
                (Code::BlockDoubled, Some(owner.position), Some(remark))
            }
            ([], None) if saved(b) || block.first < case.table_end() => (Code::BlockOwnerless, None, None),
            _ => return None,
        };
        let span = header.sector_span(block.first.into(), block.count.into());
        let damage = Damage::new(code, span, "first sector of the block").found(Value::Number(block.first.into()));
        Some(Doubt { position, damage, remark, weak: false })
    };
    blocks.iter().enumerate().filter(|(b, _)| !taken.contains(b)).filter_map(doubt).collect()
}

fn doubt(
    header: &Header,
    case: &Case,
    entry: &Listing,
    placed: Option<&Placed>,
    torn: bool,
    owners: &HashMap<u128, Placed>,
) -> Option<Doubt> {
    let here = listed(case, entry);
    let likely = placed.filter(|p| p.p >= TOLD);
    let same = |p: &Placed| here.is_some_and(|b| case.content(b) == case.content(p.block));
    let block = likely.and_then(|p| case.walk.blocks.get(p.block).map(|block| (p, block)));
    let stands =
        block.map(|(p, block)| format!("That of this position stands at sector {}: {}.", block.first, evidence(p)));
    let (code, remark) = match (block, here) {
        (Some((p, _)), Some(_)) if same(p) && p.certainty == Certainty::Certain => return None,
        (Some((p, _)), Some(_)) if same(p) => {
            (Code::PlaceDoubt, Some(format!("It is the likeliest one for its place: {}.", evidence(p))))
        }
        (Some((_, block)), _) if block.splice.is_some() => (Code::BlockHalfMoved, stands),
        (stood, Some(b)) => match owners.get(&case.content(b)).filter(|owner| owner.slot != entry.slot) {
            Some(owner) => {
                let own = format!("It belongs to {}: {}.", triple(owner.position), evidence(owner));
                (Code::BlockMisplaced, Some([Some(own), stands].into_iter().flatten().collect::<Vec<_>>().join(" ")))
            }
            None if stood.is_some() => (Code::BlockMisplaced, stands),
            None => (Code::PlaceDoubt, None),
        },
        (Some(_), None) => (Code::BlockMoved, stands),
        (None, None) if torn => (Code::BlockTorn, None),
        (None, None) => (Code::PlaceDoubt, Some("No whole block stands there.".to_owned())),
    };
    let span = header.sector_span(entry.first.into(), entry.count.into());
    let damage = Damage::new(code, span, "first sector of the block").found(Value::Number(entry.first.into()));
    let weak = block.is_none() && here.is_none() && code != Code::BlockTorn;
    Some(Doubt { position: Some(entry.position), damage, remark, weak })
}

/// How likely a place is, and by what, in words.
fn evidence(placed: &Placed) -> String {
    let by = if placed.moved {
        "its borders fit those of the neighbours, and it was appended"
    } else {
        "by the order of the blocks in the file and the borders with the neighbours"
    };
    // Never more than the pass can know.
    format!("{:.1} % likely, {by}", (placed.p * 100.0).min(99.9))
}
