//! Finds regions whose entries were mixed up: so many entries lead to blocks of other slots that an entry is weak evidence for a block
//! that seams contradict.
//!
//! In a world whose blocks do not continue each other, seams contradict many blocks too, but no other block fits their slots better.

use std::ops::RangeInclusive;

use crate::parallel;
use crate::recover::assemble::Start;
use crate::recover::assemble::board::{Board, Suspect};
use crate::recover::assemble::growth::keep_best;
use crate::recover::assemble::judge::Around;
use crate::recover::cells::Side;

/// Of so many blocks of small regions one in a wrong place spoils what is learned from all. Chosen.
const MANY_SUSPECTS: usize = 50;

/// How often seams are learned again without contradicted blocks if entries were mixed up, as long as that finds more of them. Chosen.
const ROUNDS: usize = 8;

/// The least and the largest share of the anchors of a region that seams contradict at first if its entries were mixed up. If more are
/// contradicted, the others teach too little, and placing so many blocks takes long. Chosen.
const SHARES: RangeInclusive<f64> = 0.02..=0.4;

/// Places of such anchors that are looked at, and blocks that are compared cell by cell for each.
const PLACES: usize = 256;
const RIVALS: usize = 8;

/// The log-odds above the logarithm of the number of blocks that another block must gain in a place, and the share of the places, as one
/// in so many, in which one must gain that. If odds are right, 2 % gain that by chance. Measured: of 128 places in worlds of noise, of steps
/// between all blocks and of plain blocks none gained more than 4.9. With a fifth of the entries exchanged, 32 % of the places gained enough
/// in smooth worlds and 8 to 15 % in worlds of trees, tunnels, ores and plates.
const GAIN: f64 = 4.0;
const FITTING: usize = 20;

impl Board<'_> {
    /// Finds the anchors that seams contradict, learns the seams again without them if that helps, and looks again. Also returns for each
    /// region whether its entries were mixed up. `inside` are sides within blocks.
    pub fn find_suspects(&mut self, starts: &[Start], inside: &[(Side, Side, usize)]) -> (Vec<Suspect>, Vec<bool>) {
        let mut suspects = self.suspects(starts);
        let mixed = self.find_mixed(starts, &suspects);
        let anchors: usize = starts.iter().map(|start| start.anchors.len()).sum();
        let rounds = match () {
            () if mixed.contains(&true) => ROUNDS,
            // If blocks do not continue each other, seams learned from those that happen to fit contradict all others.
            () if suspects.iter().any(|(r, ..)| self.cases[*r].is_large()) => 0,
            () if suspects.len() * MANY_SUSPECTS > anchors => 1,
            () => 0,
        };
        for _ in 0..rounds {
            let before = suspects.len();
            self.learn_without(&suspects, inside);
            suspects = self.suspects(starts);
            if suspects.len() <= before {
                break;
            }
        }
        (suspects, mixed)
    }

    /// The large regions whose entries were mixed up.
    fn find_mixed(&self, starts: &[Start], suspects: &[Suspect]) -> Vec<bool> {
        let is_mixed = |(r, start): (usize, &Start)| {
            let own: Vec<Suspect> = suspects.iter().filter(|(of, ..)| *of == r).copied().collect();
            let share = own.len() as f64 / start.anchors.len().max(1) as f64;
            self.cases[r].is_large() && SHARES.contains(&share) && self.fit_each_other(r, &own)
        };
        starts.iter().enumerate().map(is_mixed).collect()
    }

    /// Whether some of these blocks fit the places of others among them much better than the others do.
    fn fit_each_other(&self, r: usize, suspects: &[Suspect]) -> bool {
        let case = self.cases[r];
        let few = self.few_of(r, &suspects.iter().map(|of| of.2).collect::<Vec<_>>());
        let least = (suspects.len() as f64).ln() + GAIN;
        let height = |block: usize, at: [i32; 3]| self.heights.odds((r, block), case.lod, at[1]);
        let tried: Vec<usize> = (0..suspects.len()).step_by(suspects.len().div_ceil(PLACES)).collect();
        let gains = parallel::map(&tried, |&i| {
            let (_, slot, own) = suspects[i];
            let position = case.shape.position(slot)?;
            let links = self.links(case.lod, position);
            let fits = |block: usize| self.seams((r, block), &links).0 + height(block, position);
            let around = Around::of_links(self, &links);
            let others = (0..suspects.len()).filter(|&k| case.voxels(suspects[k].2) != case.voxels(own));
            let estimate = |k: usize| Around::sum(&around, self, &few, k) + height(suspects[k].2, position);
            let mut ranked: Vec<(f64, usize)> = others.map(|k| (estimate(k), k)).collect();
            keep_best(&mut ranked, RIVALS);
            let best = ranked.into_iter().map(|(_, k)| fits(suspects[k].2)).fold(f64::NEG_INFINITY, f64::max);
            Some(best - fits(own))
        });
        let fitting = gains.iter().flatten().filter(|gain| **gain >= least).count();
        fitting * FITTING > tried.len()
    }
}
