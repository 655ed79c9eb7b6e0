//! A first look at whether the blocks of a region continue each other, although its table fits its sectors.
//!
//! It costs little. If two blocks fit each other's places much better than their own, the region is solved with whole sides,
//! which decides. The borders are for [`names`](super::names), which compares regions.

use std::collections::HashMap;

use crate::godot::slots;
use crate::recover::scaled::{Drawn, Scaled};
use crate::recover::sketch::{CELLS, Side, Sketch};

/// The blocks that fit worst are tried in each other's places: the most of them.
pub(super) const SUSPECTS: usize = 256;

/// A block is one of them if its share of cells that differ exceeds the share of all blocks by this much.
pub(super) const MISFIT: f64 = 0.2;

/// Two blocks seem exchanged if at least so many fewer cells differ in each other's places, and at most this share of those
/// that differed before.
const GAIN: u32 = 20;
const REST: f64 = 0.4;

/// This many places that another block would fit much better show that blocks changed places in a ring.
pub(super) const RING: usize = 3;

/// Blocks at each side of a region that are kept to compare it with its neighbours.
const BORDER: usize = 24;

/// The most blocks of a region that is screened.
pub const MOST: usize = 1 << 13;

/// The most bytes of the borders of all files of a save, and the fewest blocks of a side that are worth keeping.
const BYTES: usize = 16 << 20;
const FEWEST: usize = 4;

/// How often cells differ that should not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cells that differ.
    pub differ: u64,
    /// Cells that were compared.
    pub cells: u64,
}

impl Tally {
    /// Adds another tally.
    pub const fn merge(&mut self, other: Self) {
        self.differ += other.differ;
        self.cells += other.cells;
    }

    /// The share of cells that differ.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.differ as f64 / self.cells.max(1) as f64
    }
}

/// The tally of one region. It is small, since there is one for each file of a save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionTally {
    differ: u32,
    cells: u32,
}

impl RegionTally {
    fn add(&mut self, differ: u32) {
        self.differ = self.differ.saturating_add(differ);
        self.cells = self.cells.saturating_add(CELLS as u32);
    }
}

impl From<RegionTally> for Tally {
    fn from(RegionTally { differ, cells }: RegionTally) -> Self {
        Self { differ: differ.into(), cells: cells.into() }
    }
}

/// A side of a block at a border, with its two coordinates along it.
type BorderSide = ([u16; 2], Side);

/// Blocks at each border of a region, by their two coordinates along it: for each axis at the lower and the upper one.
type UnknownBlocks = [[Vec<[u16; 2]>; 2]; 3];

/// Blocks at one side of a region that show something, by their two coordinates along it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Border<'s> {
    /// Some of them, in an order that depends on their coordinates alone.
    pub sides: &'s [BorderSide],
    /// Whether these are all of them.
    pub is_complete: bool,
    /// Where blocks are of which nothing is known.
    pub unknown: &'s [[u16; 2]],
}

/// What a first look at the seams of a region shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screened {
    /// Whether two blocks fit each other's places much better than their own.
    pub has_exchanged: bool,
    /// Whether its borders have all blocks that show something: for each axis the lower and the upper one.
    is_complete: [[bool; 2]; 3],
    /// The blocks at its borders; `None` if there are none. Boxed, since of very many files none are kept.
    sides: Option<Box<[[Vec<BorderSide>; 2]; 3]>>,
    /// Blocks at its borders of which nothing is known; `None` if something is known of all blocks of the region.
    unknown: Option<Box<UnknownBlocks>>,
    /// A number that only files with the same blocks have; `None` if too few of them show something.
    pub content: Option<u64>,
    /// What its blocks have in common with those of other LODs; `None` if that shows nothing.
    scaled: Option<Box<Scaled>>,
    /// Seams between neighbours in the region, along each axis.
    pub near: [RegionTally; 3],
    /// The same sides against those of other blocks of the same height.
    pub random: [RegionTally; 3],
}

/// The blocks of a region, by their positions in it.
struct Blocks<'s> {
    all: &'s [([u16; 3], Sketch)],
    /// Size of the region.
    size: [u16; 3],
    /// For each slot up to the last one in use, one more than the index of its block; 0 for an empty one.
    slots: Vec<u32>,
}

/// Regions that show nothing: of some not all blocks at the borders are known, of others there is none that shows something.
static PLAIN: [Screened; 2] = [Screened::without_blocks(false), Screened::without_blocks(true)];

/// A look at a region as a save with very many files keeps it: most of them show nothing.
#[derive(Clone, Debug)]
pub enum KeptSeams {
    /// It shows what many others show.
    Plain(&'static Screened),
    /// It shows something.
    Own(Box<Screened>),
}

impl KeptSeams {
    /// The look.
    #[must_use]
    pub fn screened(&self) -> &Screened {
        match self {
            Self::Plain(screened) => screened,
            Self::Own(screened) => screened,
        }
    }
}

impl From<Screened> for KeptSeams {
    fn from(screened: Screened) -> Self {
        match PLAIN.iter().find(|plain| **plain == screened) {
            Some(plain) => Self::Plain(plain),
            None => Self::Own(Box::new(screened)),
        }
    }
}

impl Screened {
    const fn without_blocks(is_complete: bool) -> Self {
        const NONE: RegionTally = RegionTally { differ: 0, cells: 0 };
        Self {
            has_exchanged: false,
            is_complete: [[is_complete; 2]; 3],
            sides: None,
            unknown: None,
            content: None,
            scaled: None,
            near: [NONE; 3],
            random: [NONE; 3],
        }
    }

    /// Looks at the blocks of a region, given with their positions in it, in a region of `size` blocks.
    #[must_use]
    pub fn new(blocks: &[([u16; 3], Sketch)], size: [u16; 3]) -> Self {
        let all = Blocks::new(blocks, size);
        let (near, random) = all.tallies();
        let mut screened = Self { has_exchanged: all.has_exchanged(), near, random, ..Self::default() };
        let mut sides: Box<[[Vec<BorderSide>; 2]; 3]> = Box::default();
        for (axis, upper) in directions() {
            let end = usize::from(upper);
            let mut here = sides_at(blocks, size, axis, upper);
            screened.is_complete[axis][end] = here.len() <= BORDER;
            here.truncate(BORDER);
            sides[axis][end] = here;
        }
        screened.sides = Some(sides);
        screened.drop_empty();
        screened
    }

    /// The same with what the region has in common with other LODs, given with the positions of the blocks in it; so many are in use.
    #[must_use]
    pub fn with_scaled(mut self, drawn: &[([u16; 3], Drawn)], size: [u16; 3], blocks: usize) -> Self {
        let scaled = Scaled::new(drawn, size, blocks);
        self.scaled = (!scaled.is_empty()).then(|| Box::new(scaled));
        self
    }

    /// The same for a region that also has blocks at some positions of which nothing is known: they cannot be read, or have no known
    /// place.
    #[must_use]
    pub fn with_unknown(mut self, unknown: &[[u16; 3]], size: [u16; 3]) -> Self {
        if unknown.is_empty() {
            return self;
        }
        let mut borders = Box::<UnknownBlocks>::default();
        for (axis, upper) in directions() {
            let end = usize::from(upper);
            let here = unknown.iter().filter(|at| is_at_border(**at, size, axis, upper)).map(|at| along(*at, axis));
            borders[axis][end] = here.take(BORDER + 1).collect();
            self.is_complete[axis][end] &= borders[axis][end].len() <= BORDER;
        }
        self.unknown = Some(borders);
        self
    }

    /// Whether it has blocks of which nothing is known.
    #[must_use]
    pub const fn has_unknown(&self) -> bool {
        self.unknown.is_some()
    }

    /// What its blocks have in common with those of other LODs; `None` if that shows nothing.
    #[must_use]
    pub fn scaled(&self) -> Option<&Scaled> {
        self.scaled.as_deref()
    }

    /// The border at one side; `upper` is the one towards larger coordinates.
    #[must_use]
    pub fn border(&self, axis: usize, upper: bool) -> Border<'_> {
        let (axis, end) = (axis % 3, usize::from(upper));
        let sides = self.sides.as_ref().map_or(&[][..], |sides| &sides[axis][end]);
        let unknown = self.unknown.as_ref().map_or(&[][..], |unknown| &unknown[axis][end]);
        Border { sides, is_complete: self.is_complete[axis][end], unknown }
    }

    /// Drops sides so that the borders of so many files fit the memory that they may take.
    pub fn shorten(&mut self, files: usize) {
        let most = BYTES / (6 * size_of::<BorderSide>() * files.max(1));
        let most = if most < FEWEST { 0 } else { most };
        let all = self.sides.iter_mut().flat_map(|sides| sides.iter_mut().flatten());
        for (sides, is_complete) in all.zip(self.is_complete.iter_mut().flatten()) {
            if sides.len() > most {
                sides.truncate(most);
                sides.shrink_to_fit();
                *is_complete = false;
            }
        }
        self.drop_empty();
        if let Some(scaled) = &mut self.scaled {
            scaled.shorten(files);
        }
        self.scaled = self.scaled.take().filter(|scaled| !scaled.is_empty());
    }

    /// Drops the list of the borders if there is no block in any.
    fn drop_empty(&mut self) {
        self.sides = self.sides.take().filter(|sides| sides.iter().flatten().any(|sides| !sides.is_empty()));
    }
}

/// The six directions: axis, and whether towards larger coordinates.
pub(super) fn directions() -> impl Iterator<Item = (usize, bool)> {
    (0..3).flat_map(|axis| [(axis, false), (axis, true)])
}

/// The next position along an axis.
fn step(mut at: [u16; 3], axis: usize, upper: bool) -> Option<[u16; 3]> {
    at[axis] = if upper { at[axis].checked_add(1)? } else { at[axis].checked_sub(1)? };
    Some(at)
}

impl<'s> Blocks<'s> {
    fn new(all: &'s [([u16; 3], Sketch)], size: [u16; 3]) -> Self {
        let slot = |at| slots::index(size, at);
        let count = all.iter().filter_map(|(at, _)| slot(*at)).max().map_or(0, |last| last as usize + 1);
        let mut slots = vec![0; count];
        for (number, (at, _)) in (1..).zip(all) {
            if let Some(to) = slot(*at).and_then(|slot| slots.get_mut(slot as usize)) {
                *to = number;
            }
        }
        Self { all, size, slots }
    }

    /// The block at a position, if there is one.
    fn at(&self, position: [u16; 3]) -> Option<&'s Sketch> {
        let inside = position.iter().zip(self.size).all(|(at, size)| *at < size);
        let slot = slots::index(self.size, position).filter(|_| inside)?;
        let number = self.slots.get(slot as usize)?.checked_sub(1)?;
        self.all.get(number as usize).map(|(_, sketch)| sketch)
    }

    /// The cells that differ between a block at a position and the neighbours there, and how many neighbours there are.
    /// `but` is a position whose block is not compared.
    fn misfit(&self, sketch: &Sketch, at: [u16; 3], but: Option<[u16; 3]>) -> (u32, u32) {
        let (mut differ, mut seams) = (0, 0);
        for (axis, upper) in directions() {
            let Some(next) = step(at, axis, upper).filter(|next| Some(*next) != but) else { continue };
            let Some(other) = self.at(next) else { continue };
            let (own, other) = (sketch.side(axis, upper), other.side(axis, !upper));
            differ += if upper { own.differ(other) } else { other.differ(own) };
            seams += 1;
        }
        (differ, seams)
    }

    /// Whether some two blocks fit each other's places much better than their own.
    fn has_exchanged(&self) -> bool {
        let blocks = self.all;
        let misfits: Vec<(u32, u32)> = blocks.iter().map(|(at, sketch)| self.misfit(sketch, *at, None)).collect();
        let (differ, seams) =
            misfits.iter().fold((0u64, 0u64), |(d, s), &(differ, seams)| (d + u64::from(differ), s + u64::from(seams)));
        let usual = differ as f64 / (seams.max(1) * CELLS as u64) as f64;
        let is_odd = |&(differ, seams): &(u32, u32)| {
            seams >= 2 && f64::from(differ) >= (usual + MISFIT) * f64::from(seams) * CELLS as f64
        };
        let mut odd: Vec<(u32, usize)> =
            misfits.iter().enumerate().filter(|(_, misfit)| is_odd(misfit)).map(|(i, misfit)| (misfit.0, i)).collect();
        odd.sort_unstable_by(|a, b| b.cmp(a));
        odd.truncate(SUSPECTS);
        let misfit =
            |i: usize, at: usize, but: Option<usize>| self.misfit(&blocks[i].1, blocks[at].0, but.map(|b| blocks[b].0));
        let has_pair =
            odd.iter().enumerate().any(|(k, &(_, a))| odd.iter().skip(k + 1).any(|&(_, b)| is_exchange(a, b, &misfit)));
        has_pair || odd.iter().filter(|of| find_better(**of, &odd, &misfit).is_some()).take(RING).count() == RING
    }

    /// How often sides that are not plain differ from their neighbours, and from other sides of the same height.
    fn tallies(&self) -> ([RegionTally; 3], [RegionTally; 3]) {
        let (mut near, mut random) = ([RegionTally::default(); 3], [RegionTally::default(); 3]);
        for axis in 0..3 {
            let mut levels: HashMap<u16, Vec<(&Side, &Side)>> = HashMap::new();
            for (at, sketch) in self.all {
                let Some(other) = step(*at, axis, true).and_then(|next| self.at(next)) else { continue };
                let (lower, upper) = (sketch.side(axis, true), other.side(axis, false));
                if !lower.is_plain() || !upper.is_plain() {
                    levels.entry(at[1]).or_default().push((lower, upper));
                }
            }
            for level in levels.values() {
                for (i, (lower, upper)) in level.iter().enumerate() {
                    near[axis].add(lower.differ(upper));
                    let (_, other) = level[(i + level.len() / 2) % level.len()];
                    if level.len() > 1 {
                        random[axis].add(lower.differ(other));
                    }
                }
            }
        }
        (near, random)
    }
}

fn is_at_border(at: [u16; 3], size: [u16; 3], axis: usize, upper: bool) -> bool {
    at[axis] == if upper { size[axis].saturating_sub(1) } else { 0 }
}

/// The two coordinates of a position along a border.
const fn along(at: [u16; 3], axis: usize) -> [u16; 2] {
    [at[(axis + 1) % 3], at[(axis + 2) % 3]]
}

/// The sides at one border of a region that show something.
fn sides_at(blocks: &[([u16; 3], Sketch)], size: [u16; 3], axis: usize, upper: bool) -> Vec<BorderSide> {
    let is_here = |(at, sketch): &&([u16; 3], Sketch)| {
        is_at_border(*at, size, axis, upper) && !sketch.side(axis, upper).is_plain()
    };
    let here = blocks.iter().filter(is_here);
    let mut sides: Vec<BorderSide> = here.map(|(at, sketch)| (along(*at, axis), *sketch.side(axis, upper))).collect();
    // The same choice at both sides of a border.
    sides.sort_unstable_by_key(|(at, _)| (mix(*at), *at));
    sides
}

/// Whether two blocks fit each other's places much better than their own. `misfit` gives the cells that differ and the neighbours that
/// are compared if the first block were in the place of the second one, without the neighbour in the place of the third one.
pub(super) fn is_exchange(a: usize, b: usize, misfit: &impl Fn(usize, usize, Option<usize>) -> (u32, u32)) -> bool {
    let sum = |first: usize, second: usize| {
        let (first, second) = (misfit(first, a, Some(b)), misfit(second, b, Some(a)));
        (first.0 + second.0, first.1.min(second.1))
    };
    let ((before, seams), (after, _)) = (sum(a, b), sum(b, a));
    seams >= 2 && is_much_better(before, after)
}

/// A block among some that fits the place of one of them much better: if more than two changed places, hardly any two fit each
/// other's. Each block is given with the cells that differ in its place, and `misfit` is as for [`is_exchange`].
pub(super) fn find_better(
    (before, own): (u32, usize),
    odd: &[(u32, usize)],
    misfit: &impl Fn(usize, usize, Option<usize>) -> (u32, u32),
) -> Option<usize> {
    let mut others = odd.iter().map(|(_, other)| *other).filter(|other| *other != own);
    others.find(|&other| is_much_better(before, misfit(other, own, None).0))
}

/// Whether so many fewer cells differ than before that the other blocks fit much better.
pub(super) fn is_much_better(before: u32, after: u32) -> bool {
    before >= after + GAIN && f64::from(after) <= f64::from(before) * REST
}

/// A number that looks random, of two coordinates.
fn mix([u, v]: [u16; 2]) -> u32 {
    (u32::from(u) << 16 | u32::from(v)).wrapping_mul(0x9e37_79b1).rotate_left(15).wrapping_mul(0x85eb_ca77)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::{Extent, ForestSpec};

    const SIZE: [u16; 3] = [8, 4, 8];

    /// The blocks of a world of one region around its surface.
    fn blocks() -> Vec<([u16; 3], Sketch)> {
        let spec = ForestSpec { lods: vec![Extent { from: [0, -2, 0], to: [8, 2, 8] }], ..ForestSpec::default() };
        let all = (0..8).flat_map(|x| (0..4).flat_map(move |y| (0..8).map(move |z| [x, y, z])));
        let sketch = |at: [u16; 3]| {
            let [x, y, z] = at.map(i32::from);
            Some((at, Sketch::draw(&spec.block(0, [x, y - 2, z]).view())?))
        };
        all.filter_map(sketch).collect()
    }

    fn exchange(blocks: &mut [([u16; 3], Sketch)], a: [u16; 3], b: [u16; 3]) {
        for block in blocks.iter_mut() {
            block.0 = match block.0 {
                at if at == a => b,
                at if at == b => a,
                at => at,
            };
        }
    }

    #[test]
    fn blocks_that_fit_each_others_places_better_are_noticed() {
        let mut blocks = blocks();
        assert_eq!(blocks.len(), 256);
        assert!(!Screened::new(&blocks, SIZE).has_exchanged, "as they belong");
        exchange(&mut blocks, [2, 2, 2], [5, 1, 4]);
        assert!(Screened::new(&blocks, SIZE).has_exchanged, "blocks of two heights");
    }

    #[test]
    fn blocks_that_changed_places_in_a_ring_are_noticed() {
        let mut blocks = blocks();
        let ring = [[2, 2, 2], [5, 1, 4], [1, 3, 6], [6, 0, 1]];
        for block in &mut blocks {
            if let Some(at) = ring.iter().position(|at| *at == block.0) {
                block.0 = ring[(at + 1) % ring.len()];
            }
        }
        assert!(Screened::new(&blocks, SIZE).has_exchanged);
    }

    #[test]
    fn a_region_differs_less_from_itself_than_from_others() {
        let screened = Screened::new(&blocks(), SIZE);
        for (near, random) in screened.near.map(Tally::from).iter().zip(screened.random.map(Tally::from)) {
            assert!(near.cells > 500 && near.share() < 0.5 * random.share(), "{near:?}, {random:?}");
        }
    }

    #[test]
    fn borders_are_cut_to_what_so_many_files_may_take() {
        let mut screened = Screened::new(&blocks(), SIZE);
        let kept = |screened: &Screened| {
            directions().map(|(axis, upper)| screened.border(axis, upper).sides.len()).sum::<usize>()
        };
        let before = kept(&screened);
        screened.shorten(100);
        assert!(before > 0 && kept(&screened) == before, "few files");
        screened.shorten(5_000);
        assert!(kept(&screened) <= 6 * 5 && kept(&screened) > 0, "a few blocks of each side");
        screened.shorten(1_000_000);
        assert_eq!(kept(&screened), 0, "too few to show anything");
    }
}
