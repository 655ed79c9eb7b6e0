//! Blocks that differ in nothing but their metadata, such as air with chests in it: seams say where their voxels belong,
//! but not which of them.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::recover::assemble::Assembled;
use crate::recover::assemble::board::Board;
use crate::recover::assemble::growth::{Grown, Growth, OLD_COPY};
use crate::recover::decide::Certainty;
use crate::recover::weights::Weights;

/// Most possible places of one block, and most blocks of one place, that are listed.
const LISTED: usize = 64;

/// A place of blocks with the same voxels.
#[derive(Clone, Debug)]
pub(super) struct Alike {
    /// The slot, and the block that was put into it.
    pub slot: u32,
    pub block: usize,
    /// The probability that it is this block if it is one of them.
    pub p: f64,
    /// For each of the blocks that it may be, that probability.
    pub blocks: Vec<(usize, f64)>,
}

impl Growth {
    /// The places of a region for which there are several blocks with the same voxels and different metadata.
    pub fn find_alike(&self, board: &Board<'_>, r: usize) -> Vec<Alike> {
        let (case, loose) = (board.cases[r], &self.loose[r]);
        let mut places: BTreeMap<u128, Vec<&Grown>> = BTreeMap::new();
        for grown in self.grown.iter().filter(|grown| grown.case == r) {
            places.entry(case.voxels(loose[grown.loose].block)).or_default().push(grown);
        }
        let mut alike = Vec::new();
        for (voxels, places) in places {
            let copies = self.copies.get(&(r, voxels)).map_or(&[][..], Vec::as_slice);
            let live = copies.iter().map(|&i| loose[i].live).fold(f64::NEG_INFINITY, f64::max);
            let copies: Vec<usize> = copies.iter().copied().filter(|&i| loose[i].live > live - OLD_COPY).collect();
            let contents: HashSet<u128> = copies.iter().map(|&i| case.content(loose[i].block)).collect();
            if contents.len() < 2 {
                continue;
            }
            for grown in places {
                let hint = |i: usize| loose[i].hints.iter().find(|(slot, _)| *slot == grown.slot).map_or(0.0, |h| h.1);
                let most = copies.iter().map(|&i| hint(i)).fold(hint(grown.loose), f64::max);
                let share = |i: usize| (hint(i) - most).exp();
                let all: f64 = copies.iter().map(|&i| share(i)).sum();
                let own = case.content(loose[grown.loose].block);
                let same = copies.iter().filter(|&&i| case.content(loose[i].block) == own);
                let p = same.map(|&i| share(i)).sum::<f64>() / all;
                let blocks = copies.iter().take(LISTED).map(|&i| (loose[i].block, share(i) / all)).collect();
                alike.push(Alike { slot: grown.slot, block: loose[grown.loose].block, p, blocks });
            }
        }
        alike
    }
}

impl Assembled {
    /// Makes blocks less certain than their voxels where others have the same, and lists all of these as possible.
    /// `withdrawn` are the blocks of slots whose entries may be right.
    pub(super) fn doubt(&mut self, alike: &[Alike], withdrawn: &HashMap<u32, usize>, weights: &Weights) {
        let of_slot: HashMap<u32, &Alike> = alike.iter().map(|alike| (alike.slot, alike)).collect();
        for fit in &mut self.fits {
            let Some(alike) = of_slot.get(&fit.slot).filter(|alike| alike.block == fit.block) else { continue };
            if withdrawn.get(&fit.slot) == Some(&fit.block) {
                continue;
            }
            let most = match alike.p {
                p if p >= weights.certain => Certainty::Certain,
                p if p >= weights.likely => Certainty::Likely,
                _ => Certainty::Candidate,
            };
            fit.certainty = fit.certainty.min(most);
            if most < Certainty::Certain {
                self.candidates.extend(alike.blocks.iter().map(|&(block, p)| (block, fit.slot, p * fit.p)));
                fit.p *= alike.p;
            }
        }
    }
}
