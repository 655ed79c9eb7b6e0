//! The places of a region that are not certain, as tables of numbers: which blocks may be exchanged, and what each seam says.

use std::collections::HashMap;

use crate::parallel;
use crate::recover::assemble::board::{Board, Node};
use crate::recover::assemble::contents::Content;
use crate::recover::assemble::growth::needed;
use crate::recover::assemble::links::{Link, around};
use crate::recover::assemble::revise::Places;

/// Log-odds are kept as whole numbers of this part.
pub(super) const UNITS: f64 = 10.0;

/// The most pairs of sides of one axis, and of slots and contents. Chosen: as many can be compared in about two seconds.
const MOST_PAIRS: usize = 1 << 22;

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// What is known of slots and blocks. Contents are blocks of equal voxels; all log-odds are multiples of 1 / [`UNITS`].
pub(super) struct Puzzle {
    /// The slots of the region.
    pub slots: Vec<u32>,
    /// Their positions in the world, in blocks of their LOD.
    pub positions: Vec<[i32; 3]>,
    /// The indices of the slots beside each one, for each axis the lower and the upper one, or [`NONE`].
    pub beside: Vec<[u32; 6]>,
    /// Unowned blocks by their index among them.
    pub blocks: Vec<usize>,
    /// The content of each block.
    pub content: Vec<u32>,
    /// The log-odds that each block is in use.
    pub live: Vec<i32>,
    /// For each axis the numbers of the lower and the upper side of each content.
    pub sides: [[Vec<u32>; 2]; 3],
    /// For each axis the log-odds of each upper side of a block with each lower side of the next one.
    pub seams: [Seams; 3],
    /// For each slot and content the log-odds of the seams with what is certain, and of what else is known of the slot.
    pub own: Vec<i16>,
    /// The number of contents.
    pub contents: usize,
    /// The index of the block in each slot, or [`NONE`].
    pub held: Vec<u32>,
}

/// A table of log-odds.
#[derive(Default)]
pub(super) struct Seams {
    odds: Vec<i8>,
    width: usize,
}

impl Seams {
    /// Log-odds by row, each `width` long.
    pub const fn new(odds: Vec<i8>, width: usize) -> Self {
        Self { odds, width }
    }

    /// The most of them, or 0.
    pub fn most(&self) -> i32 {
        self.odds.iter().max().map_or(0, |most| i32::from(*most).max(0))
    }

    pub fn odds(&self, upper: u32, lower: u32) -> i32 {
        self.odds.get(upper as usize * self.width + lower as usize).map_or(0, |odds| i32::from(*odds))
    }
}

fn units(odds: f64) -> f64 {
    (odds * UNITS).round()
}

impl Puzzle {
    /// Reads the places of a region; `None` if the tables would be too large.
    pub fn new(places: &Places<'_>, board: &Board<'_>) -> Option<Self> {
        let growth = places.growth;
        let r = places.case;
        let slots: Vec<u32> = places.held.keys().copied().collect();
        let index: HashMap<u32, u32> = slots.iter().copied().zip(0..).collect();
        let blocks: Vec<usize> = (0..growth.loose[r].len()).filter(|&i| places.is_movable(i)).collect();
        let groups = growth.group_by_content(board, r, blocks.iter().copied());
        let contents = groups.len();
        let number =
            |(content, (_, blocks)): (u32, &Content)| blocks.iter().map(move |&i| (i, content)).collect::<Vec<_>>();
        let content_of: HashMap<usize, u32> = (0..).zip(&groups).flat_map(number).collect();
        let content: Vec<u32> = blocks.iter().map(|i| content_of[i]).collect();
        let one_of: Vec<usize> = groups.iter().map(|(_, blocks)| blocks[0]).collect();
        if contents.checked_mul(slots.len())? > MOST_PAIRS {
            return None;
        }
        // For each axis and side, a number and one of its blocks.
        let mut shown: [[Vec<Node>; 2]; 3] = Default::default();
        let sides: [[Vec<u32>; 2]; 3] = std::array::from_fn(|axis| {
            std::array::from_fn(|upper| {
                let mut numbers: HashMap<u32, u32> = HashMap::new();
                let number = |&i: &usize| {
                    let node = places.node(i);
                    *numbers.entry(board.cache.number(node, axis, upper == 1)).or_insert_with(|| {
                        shown[axis][upper].push(node);
                        shown[axis][upper].len() as u32 - 1
                    })
                };
                one_of.iter().map(number).collect()
            })
        });
        let mut seams: [Seams; 3] = Default::default();
        for (axis, [lower, upper]) in shown.iter().enumerate() {
            if lower.len().checked_mul(upper.len())? > MOST_PAIRS {
                return None;
            }
            let row = |own: &Node| -> Vec<i8> {
                let odds = |other: &Node| units(board.side_odds(*own, Link::Beside(axis, true), *other)) as i8;
                lower.iter().map(odds).collect()
            };
            seams[axis] = Seams::new(parallel::map(upper, row).concat(), lower.len());
        }
        let mut positions = Vec::with_capacity(slots.len());
        let mut beside = Vec::with_capacity(slots.len());
        let mut fixed = Vec::with_capacity(slots.len());
        for &slot in &slots {
            let mut near = [NONE; 6];
            let mut known = Vec::new();
            let (lod, at) = places.position(board, slot)?;
            for (link, at) in around(lod, at, board.lods) {
                let there = board.slot_at(at.0, at.1).filter(|(of, _)| *of == r).and_then(|(_, slot)| index.get(&slot));
                match (link, there) {
                    (Link::Beside(axis, upper), Some(&other)) => near[axis * 2 + usize::from(upper)] = other,
                    _ => known.extend(board.placed.get(&at).map(|node| (link, *node))),
                }
            }
            positions.push(at);
            beside.push(near);
            fixed.push(known);
        }
        let lod = board.cases[r].lod;
        let own = parallel::map_indices(slots.len(), |s| {
            let known = &fixed[s];
            let full = beside[s].iter().filter(|other| **other != NONE).count()
                + known.iter().filter(|(link, _)| matches!(link, Link::Beside(..))).count();
            let occupied = growth.occupied(board, r, slots[s], full);
            let value = |c: usize| {
                let node = places.node(one_of[c]);
                let seams: f64 = known.iter().map(|&(link, other)| board.side_odds(node, link, other)).sum();
                let height = board.heights.odds(node, lod, positions[s][1]);
                units(seams + occupied + height).clamp(-30_000.0, 30_000.0) as i16
            };
            (0..contents).map(value).collect::<Vec<i16>>()
        });
        let mut own = own.concat();
        let mut live = Vec::with_capacity(blocks.len());
        for (b, &i) in blocks.iter().enumerate() {
            let loose = &growth.loose[r][i];
            live.push(units(needed(loose.live, places.elsewhere())) as i32);
            for (slot, odds) in &loose.hints {
                let Some(&s) = index.get(slot) else { continue };
                let own = &mut own[s as usize * contents + content[b] as usize];
                *own = own.saturating_add(units(*odds) as i16);
            }
        }
        let at: HashMap<usize, u32> = blocks.iter().copied().zip(0..).collect();
        let held = places.held.values().map(|block| block.and_then(|i| at.get(&i).copied()).unwrap_or(NONE)).collect();
        Some(Self { slots, positions, beside, blocks, content, live, sides, seams, own, contents, held })
    }
}
