//! A table that contradicts the order of the sectors.
//!
//! The order explains a file that one engine wrote and did not finish. A disk, a copy or a second writer leaves other files,
//! for which it still finds an explanation, a wrong one. Entries that lead exactly to whole blocks show that.

use std::collections::{HashMap, HashSet};

use crate::recover::assemble::{Assembled, Start};
use crate::recover::decide::Certainty;
use crate::recover::region::{Case, Listing};
use crate::recover::shifts::{Lengths, Shifts};
use crate::recover::weights::{SHIFT, Weights};

/// The share of the entries that must lead to whole blocks of their own so that a table that may be of two times is believed, or that
/// the seams of a region that is in no order say more than a candidate.
pub(super) const NEARLY_ALL: f64 = 0.8;

/// The most entries that are looked up for a share by chance.
const MOST_LOOKUPS: usize = 1 << 20;

/// Whether an order of the sectors is contradicted by the table: entries of uncommon lengths lead exactly to whole blocks of these
/// lengths, more of them than chance allows, and the order has other blocks in their slots, or none. The order of a killed game
/// explains far more blocks than the old table, which leads to some by chance.
pub(super) fn table_contradicts(case: &Case, exact: &[(u32, usize)], placed: &[(u32, usize)]) -> bool {
    if exact.len() * 2 < placed.len() {
        return false;
    }
    let Some(lengths) = Lengths::count(case) else { return false };
    let is_uncommon = |count: u32| lengths.is_uncommon(count);
    let count = |&(_, block): &(u32, usize)| case.walk.blocks[block].count;
    let by_slot: HashMap<u32, usize> = placed.iter().copied().collect();
    let is_kept = |&(slot, block): &(u32, usize)| {
        by_slot.get(&slot).is_some_and(|&other| case.content(other) == case.content(block))
    };
    let uncommon = exact.iter().copied().filter(|pair| is_uncommon(count(pair)));
    let (kept, against): (Vec<_>, Vec<_>) = uncommon.partition(is_kept);
    // Behind a block that was taken out of a row of blocks of one length, each entry leads to the next one.
    let distinct = against.iter().map(count).collect::<HashSet<u32>>().len();
    if against.len() < SHIFT.against_order.0 || distinct < SHIFT.against_order.1 {
        return false;
    }
    let kept: HashSet<u32> = kept.into_iter().map(|(slot, _)| slot).collect();
    let others = case.entries.iter().filter(|entry| !kept.contains(&entry.slot) && is_uncommon(entry.count)).count();
    let by_chance = others as f64 * share_by_chance(case, is_uncommon);
    against.len() as f64 > by_chance + SHIFT.beyond_chance * by_chance.sqrt()
}

/// How often an entry for which `is_asked` leads exactly to a block of its length by chance: to the block of another entry, after
/// others were taken out before both. The larger share of two: over all single blocks that may have been taken out, and that of
/// nearly all distances that several of them leave.
fn share_by_chance(case: &Case, is_asked: impl Fn(u32) -> bool) -> f64 {
    let listed: HashSet<(u32, u32)> = case.sectors().into_iter().collect();
    let asked: Vec<&Listing> = case.entries.iter().filter(|entry| is_asked(entry.count)).collect();
    let mut removed: HashMap<u32, usize> = HashMap::new();
    case.entries.iter().for_each(|entry| *removed.entry(entry.count).or_default() += 1);
    let leads = |entry: &Listing, by: u32| {
        entry.first.checked_sub(by).is_some_and(|first| listed.contains(&(first, entry.count)))
    };
    let hits = |(&by, &times): (&u32, &usize)| asked.iter().filter(|entry| leads(entry, by)).count() * times;
    let all = asked.len() * case.entries.len();
    let of_one = removed.iter().map(hits).sum::<usize>() as f64 / all.max(1) as f64;
    let most = (MOST_LOOKUPS / asked.len().max(1)).clamp(1, SHIFT.chance_distances) as u32;
    let mut of_several: Vec<usize> =
        (1..=most).map(|by| asked.iter().filter(|entry| leads(entry, by)).count()).collect();
    of_several.sort_unstable();
    let nearly_all = (of_several.len() as f64 * SHIFT.chance_share) as usize;
    let of_several = of_several.get(nearly_all).map_or(0.0, |hits| *hits as f64 / asked.len().max(1) as f64);
    of_one.max(of_several)
}

/// Limits what seams alone say of a region that is neither as its table has it nor in an order that a killed game leaves: it may hold
/// blocks of other positions, or of several states, so a block must be as far from its entry as the blocks beside it.
pub(super) fn doubt_seams(case: &Case, start: &Start, shifts: &Shifts, made: &mut Assembled, weights: &Weights) {
    let listed: HashSet<(u32, usize)> = start.anchors.iter().copied().collect();
    let is_nearly_all = listed.len() as f64 >= NEARLY_ALL * case.entries.len() as f64;
    let most = if is_nearly_all { Certainty::Likely } else { Certainty::Candidate };
    for fit in &mut made.fits {
        let is_hinted = || shifts.of(fit.block).iter().any(|(slot, _)| *slot == fit.slot);
        if fit.certainty > most && !listed.contains(&(fit.slot, fit.block)) && !is_hinted() {
            (fit.certainty, fit.voxels) = (most, fit.voxels.min(most));
            if most == Certainty::Candidate {
                fit.p = fit.p.min(weights.candidate);
            }
        }
    }
}
