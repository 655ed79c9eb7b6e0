//! Which formula placed the blocks of negative coordinates, where neither the file nor their version settles it: by what goes
//! on from block to block.
//!
//! The two formulas agree on most neighbours. Where they do not, at the edges of regions, the seams between blocks that
//! one formula makes neighbours are compared with those that only the other one does, by odds that are learnt from the
//! rest of the save.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use crate::godot::region::Entry;
use crate::godot::slots::SlotFormula;
use crate::parallel;
use crate::recover::faces::Faces;
use crate::recover::seam::{Odds, inner, seam};
use crate::save::{self, Forest, Kind, Region, RegionFile, Save, Scratch};
use crate::source::FileSource;

/// How much of a LOD is looked at.
#[derive(Clone, Copy)]
struct Sampling {
    /// Blocks whose places are compared, rounded up to whole regions.
    blocks: usize,
    /// Seams of each kind.
    seams: usize,
    /// How many times the least sum of odds, and the least odds of each seam, count as evidence.
    times: f64,
}

/// The first look at a LOD, which suffices where the evidence is clear, and the second one.
const FIRST: Sampling = Sampling { blocks: 1 << 12, seams: 24, times: 4.0 };
const SECOND: Sampling = Sampling { blocks: 1 << 20, seams: 64, times: 1.0 };

/// The least number of seams on each side, the least sum of their odds, and the least of these for each seam.
const SEAMS: usize = 8;
const SUM: f64 = 8.0;
const EACH: f64 = 0.15;

/// The least difference of the means for the old formula, in standard errors (chosen). Wrong entries break seams under the right
/// formula as well, and a few under the wrong one fit by chance.
const ERRORS: f64 = 4.0;

/// The least number of seams and the least odds of each by which a repair moves blocks: what it writes is read by the new formula.
const SEAMS_TO_MOVE: usize = 16;
const EACH_TO_MOVE: f64 = 0.5;

/// What settles the formula.
#[derive(Clone, Debug, PartialEq)]
pub enum FormulaEvidence {
    /// It makes no difference, is given, or follows from the version of the blocks.
    Known,
    /// The seams settle it.
    Seams {
        /// Which one it is.
        slots: SlotFormula,
        /// Seams that were compared.
        seams: usize,
        /// What the odds of the seams of both formulas differ by for each of them, as logarithms; positive for the old one.
        odds: f64,
    },
    /// Nothing settles it.
    Nothing,
}

impl FormulaEvidence {
    /// The formula, when the seams settle it.
    #[must_use]
    pub const fn slots(&self) -> Option<SlotFormula> {
        match self {
            Self::Seams { slots, .. } => Some(*slots),
            Self::Known | Self::Nothing => None,
        }
    }

    /// Whether it shows the old formula well enough for a purpose.
    fn is_old_formula(&self, purpose: Purpose) -> bool {
        let Self::Seams { slots: SlotFormula::Legacy, seams, odds } = self else { return false };
        purpose == Purpose::Reading || (*seams >= SEAMS_TO_MOVE && odds.abs() >= EACH_TO_MOVE)
    }
}

/// What a save is reread for by [`by_old_formula`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To show it: what is likely is enough.
    Reading,
    /// To write a copy in which the blocks are placed by the new formula.
    Moving,
}

/// Opens a save again, read by the old formula, where no option gives a formula and the seams show that this one placed its
/// blocks. `None` where it is read as it should be. `stop` ends the search. Of several forests, each is read by its own formula.
///
/// # Errors
/// As those of [`Save::open`].
pub fn by_old_formula(
    save: &Save,
    purpose: Purpose,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Save>, save::Error> {
    if save.forests.len() > 1 {
        return each_by_its_formula(save, purpose, stop);
    }
    let evidence = find_evidence(save, stop);
    evidence.map_or(Ok(None), |evidence| read_by_old_formula(save, &evidence, purpose))
}

/// Opens a save of several forests again, where the seams show that the old formula placed the blocks of some.
fn each_by_its_formula(
    save: &Save,
    purpose: Purpose,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Save>, save::Error> {
    if save.options.has_slots() || save.forests.iter().any(|forest| forest.inferred_slots.is_some()) {
        return Ok(None);
    }
    let is_old =
        |forest: &&Forest| forest.kind != Kind::BlockFiles && infer_formula(save, forest, stop).is_old_formula(purpose);
    let key = |forest: &Forest| (forest.dir.clone(), forest.kind == Kind::Loose);
    let old: HashSet<(PathBuf, bool)> = save.forests.iter().filter(is_old).map(key).collect();
    if old.is_empty() {
        return Ok(None);
    }
    let mut placed = Save::open(&save.path, &save.options)?;
    for forest in &mut placed.forests {
        forest.inferred_slots = old.contains(&key(forest)).then_some(SlotFormula::Legacy);
    }
    Ok(Some(placed))
}

/// What settles the formula of a save of one forest; `None` where it is given, or there is no such save. `stop` ends the search.
pub(crate) fn find_evidence(save: &Save, stop: &(dyn Fn() -> bool + Sync)) -> Option<FormulaEvidence> {
    let [forest] = &save.forests[..] else { return None };
    (!save.options.has_slots() && forest.kind != Kind::BlockFiles).then(|| infer_formula(save, forest, stop))
}

/// As [`by_old_formula`], with the evidence that was found.
pub(crate) fn read_by_old_formula(
    save: &Save,
    evidence: &FormulaEvidence,
    purpose: Purpose,
) -> Result<Option<Save>, save::Error> {
    if !evidence.is_old_formula(purpose) {
        return Ok(None);
    }
    let options = save::Options { inferred_slots: Some(SlotFormula::Legacy), ..save.options.clone() };
    Save::open(&save.path, &options).map(Some)
}

/// A block, by its number among all of the LOD.
type Member = usize;

/// Two blocks that one formula makes neighbours, and the axis from the first to the second.
type Pair = (usize, Member, Member);

/// The odds of the seams of one formula.
#[derive(Clone, Copy, Default)]
struct Tally {
    seams: usize,
    sum: f64,
    squares: f64,
}

impl Tally {
    fn add(&mut self, odds: f64) {
        self.seams += 1;
        self.sum += odds;
        self.squares += odds * odds;
    }

    fn merge(&mut self, other: Self) {
        self.seams += other.seams;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    fn mean(&self) -> f64 {
        self.sum / self.seams as f64
    }

    /// The square of the standard error of the mean, of two seams or more.
    fn variance_of_mean(&self) -> f64 {
        let n = self.seams as f64;
        ((self.squares - self.sum * self.sum / n) / (n - 1.0) / n).max(0.0)
    }
}

/// Compares the seams of both formulas; `None` if they do not settle which one is right.
fn compare([old, new]: [Tally; 2], times: f64) -> Option<FormulaEvidence> {
    if old.seams < SEAMS || new.seams < SEAMS {
        return None;
    }
    let each = old.mean() - new.mean();
    let all = each * old.seams.min(new.seams) as f64;
    let is_sure = each < 0.0 || each >= ERRORS * (old.variance_of_mean() + new.variance_of_mean()).sqrt();
    (is_sure && all.abs() >= SUM * times && each.abs() >= EACH * times).then(|| FormulaEvidence::Seams {
        slots: if all > 0.0 { SlotFormula::Legacy } else { SlotFormula::Euclidean },
        seams: old.seams + new.seams,
        odds: each,
    })
}

struct Lod<'s> {
    regions: Vec<Region<FileSource>>,
    /// The region of each block, its entry there, and its places by the old and by the new formula.
    members: Vec<(usize, Entry, [[i32; 3]; 2])>,
    save: &'s Save,
    sampling: Sampling,
}

/// Looks at the seams of a forest, one LOD after the other until they settle it together. `stop` ends the search.
#[must_use]
pub fn infer_formula(save: &Save, forest: &Forest, stop: &(dyn Fn() -> bool + Sync)) -> FormulaEvidence {
    let mut open = false;
    let mut together = [Tally::default(); 2];
    let mut lods: Vec<u8> = forest.regions.iter().map(|file| file.lod).collect();
    lods.dedup();
    for lod in lods {
        let files: Vec<&RegionFile> = forest.regions.iter().filter(|file| file.lod == lod).collect();
        if files.iter().all(|file| file.position.iter().all(|&p| p >= 0)) {
            continue;
        }
        let mut last = together;
        for sampling in [FIRST, SECOND] {
            let Some(lod) = Lod::open(save, forest, &files, sampling) else { continue };
            open = true;
            if stop() {
                return FormulaEvidence::Nothing;
            }
            let Some(tallies) = lod.tallies() else { continue };
            let mut with_others = together;
            with_others.iter_mut().zip(tallies).for_each(|(all, of)| all.merge(of));
            if let Some(evidence) = compare(with_others, sampling.times) {
                return evidence;
            }
            last = with_others;
        }
        together = last;
    }
    if open { FormulaEvidence::Nothing } else { FormulaEvidence::Known }
}

impl<'s> Lod<'s> {
    /// Opens the regions of a LOD; `None` when no block of it is in question.
    fn open(save: &'s Save, forest: &Forest, files: &[&RegionFile], sampling: Sampling) -> Option<Self> {
        let mut lod = Self { regions: Vec::new(), members: Vec::new(), save, sampling };
        let mut open = false;
        let mut scratch = Scratch::default();
        for file in files {
            // What cannot be read is reported by the checker's other rules.
            let Ok(Some(mut region)) = save.region(forest, file) else { continue };
            let Ok(known) = region.own_slots(&mut scratch) else { continue };
            open |= known.is_none() && !region.entries.is_empty();
            let number = lod.regions.len();
            lod.members.extend(region.entries.iter().filter_map(|listed| {
                let place = |formula| region.block_position(listed.slot, known.unwrap_or(formula));
                Some((number, listed.entry, [place(SlotFormula::Legacy)?, place(SlotFormula::Euclidean)?]))
            }));
            // A LOD may have more region files than a process may have open.
            region.source.close();
            lod.regions.push(region);
            if lod.members.len() > sampling.blocks {
                break;
            }
        }
        open.then_some(lod)
    }

    /// Neighbours by one formula: those by it alone, and those by both.
    fn pairs(&self, formula: usize) -> [Vec<Pair>; 2] {
        let mut at: Vec<([i32; 3], Member)> = (0..).zip(&self.members).map(|(n, (.., at))| (at[formula], n)).collect();
        at.sort_unstable();
        let find = |position: [i32; 3]| {
            // Of several blocks at one position the last one.
            let next = at.partition_point(|(other, _)| *other <= position);
            at.get(next.checked_sub(1)?).filter(|(other, _)| *other == position).map(|(_, member)| *member)
        };
        let mut pairs = [Vec::new(), Vec::new()];
        let after = |mut position: [i32; 3], axis: usize| {
            position[axis] = position[axis].checked_add(1)?;
            Some(position)
        };
        for (a, (.., of)) in self.members.iter().enumerate() {
            for axis in 0..3 {
                if let Some(b) = after(of[formula], axis).and_then(find) {
                    let other = 1 - formula;
                    let both = after(of[other], axis) == Some(self.members[b].2[other]);
                    pairs[usize::from(both)].push((axis, a, b));
                }
            }
        }
        pairs.map(|pairs| thin(pairs, self.sampling.seams))
    }

    /// The odds of the seams of each formula; `None` where there are few.
    fn tallies(&self) -> Option<[Tally; 2]> {
        let [only_old, _] = self.pairs(0);
        let [only_new, both] = self.pairs(1);
        if only_old.len() < SEAMS || only_new.len() < SEAMS {
            return None;
        }
        let faces = self.faces([&only_old, &only_new, &both].into_iter().flatten());
        let seam_of = |(axis, a, b): &Pair| Some(seam(faces.get(a)?, faces.get(b)?, *axis));
        let mut odds = Odds::default();
        for of in faces.values() {
            inner(of).for_each(|seam| odds.add_inside(seam));
        }
        both.iter().filter_map(seam_of).for_each(|seam| odds.add_neighbours(seam));
        // Blocks far from each other in the list have nothing to do with each other.
        let mut members: Vec<&Member> = faces.keys().collect();
        members.sort_unstable();
        for (i, a) in members.iter().enumerate() {
            let b = members[(i * 7919 + members.len() / 2) % members.len()];
            if *a != b {
                odds.add_random(seam(&faces[*a], &faces[b], i % 3));
            }
        }
        odds.learn();
        let tally = |pairs: &[Pair]| {
            let mut tally = Tally::default();
            pairs.iter().filter_map(seam_of).for_each(|seam| tally.add(odds.weigh(seam)));
            tally
        };
        Some([tally(&only_old), tally(&only_new)])
    }

    /// The faces of the blocks of pairs.
    fn faces<'p>(&self, pairs: impl Iterator<Item = &'p Pair>) -> HashMap<Member, Faces> {
        let mut members: Vec<Member> = pairs.flat_map(|(_, a, b)| [*a, *b]).collect();
        members.sort_unstable();
        members.dedup();
        let read = |scratch: &mut Scratch, member: &Member| {
            let (region, entry, _) = self.members.get(*member)?;
            let view = self.regions.get(*region)?.view(*entry, scratch).ok()?;
            let block = view.block.as_ref().filter(|_| view.is_readable())?;
            // Of a size that nothing bears out: hostile.
            let fits = block.volume() <= self.save.options.limits.block_bytes;
            fits.then(|| Faces::read_sides(block, true))?.map(|faces| (*member, faces))
        };
        parallel::map_with(&members, read).into_iter().flatten().collect()
    }
}

/// No more than `most`, spread over all.
fn thin<T: Copy>(all: Vec<T>, most: usize) -> Vec<T> {
    let step = all.len().div_ceil(most).max(1);
    all.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seams of which half are better and half worse than the mean by `spread`.
    fn tally(seams: usize, mean: f64, spread: f64) -> Tally {
        let mut tally = Tally::default();
        (0..seams).for_each(|n| tally.add(mean + if n % 2 == 0 { spread } else { -spread }));
        tally
    }

    fn formula(old: Tally, new: Tally) -> Option<SlotFormula> {
        compare([old, new], SECOND.times).and_then(|evidence| evidence.slots())
    }

    /// The figures are those of saves whose region files have six of nine entries exchanged.
    #[test]
    fn broken_seams_of_the_new_formula_are_no_evidence_of_the_old_one() {
        assert_eq!(formula(tally(31, 0.64, 2.0), tally(43, -0.31, 2.0)), None);
        assert_eq!(formula(tally(30, 0.44, 2.0), tally(45, -0.41, 2.0)), None);
        assert_eq!(formula(tally(20, 2.94, 2.0), tally(20, -2.45, 2.0)), Some(SlotFormula::Legacy));
        assert_eq!(formula(tally(19, -0.11, 2.0), tally(26, 2.58, 2.0)), Some(SlotFormula::Euclidean));
        assert_eq!(formula(tally(7, 2.94, 2.0), tally(20, -2.45, 2.0)), None, "too few");
    }
}
