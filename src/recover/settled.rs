//! What seams may change in a region whose table fits its sectors.
//!
//! Nothing but seams speaks against such a table, and players build what breaks seams. So a region keeps its table unless blocks
//! change places among each other: each of them goes to the slot of another one that moves too. A block that would leave its
//! slot empty, or go to an empty one, stays, as do blocks that fit nowhere better.

use std::collections::{HashMap, HashSet};

use crate::recover::assemble::{Assembled, Fit};
use crate::recover::closed::keep_closed;
use crate::recover::decide::{Certainty, Placed};
use crate::recover::explained::listed;
use crate::recover::region::Case;

/// The blocks of a table that fits its sectors, by slot.
fn table(case: &Case) -> HashMap<u32, usize> {
    case.entries.iter().filter_map(|entry| Some((entry.slot, listed(case, entry)?))).collect()
}

/// If entries were mixed up, this many blocks that are certain in the slots of others show that blocks changed places, although some of
/// them have no place yet. Chosen.
const MANY: usize = 8;

/// Whether blocks change places among each other, at least one of them for certain, or, if entries were mixed up, many are certain in the
/// slots of others.
#[must_use]
pub fn has_exchanges(case: &Case, made: &Assembled) -> bool {
    let table = table(case);
    let certain = |fit: &&Fit| fit.certainty == Certainty::Certain;
    if made.is_mixed && made.fits.iter().filter(certain).filter_map(|fit| change(case, &table, fit)).count() >= MANY {
        return true;
    }
    let slots = exchanged(case, &table, made);
    made.fits.iter().any(|fit| certain(&fit) && slots.contains(&fit.slot))
}

/// The slot of a block that fits where another one is, with the content of that one and its own.
fn change(case: &Case, table: &HashMap<u32, usize>, fit: &Fit) -> Option<(u32, u128, u128)> {
    let own = case.content(*table.get(&fit.slot)?);
    let new = case.content(fit.block);
    (own != new).then_some((fit.slot, own, new))
}

/// The slots whose blocks change places among each other, by the block that each slot has.
#[must_use]
pub fn exchanged(case: &Case, table: &HashMap<u32, usize>, made: &Assembled) -> HashSet<u32> {
    let likely = made.fits.iter().filter(|fit| fit.certainty >= Certainty::Likely);
    let mut moves: Vec<(u32, u128, u128)> = likely.filter_map(|fit| change(case, table, fit)).collect();
    keep_closed(&mut moves, |(_, own, _)| *own, |(.., new)| *new);
    moves.into_iter().map(|(slot, ..)| slot).collect()
}

/// Whether a block is for certain in a slot for which the table has another one.
#[must_use]
pub fn moves_any(case: &Case, placed: &[Placed]) -> bool {
    let table = table(case);
    let is_other =
        |placed: &&Placed| table.get(&placed.slot).is_none_or(|own| case.content(*own) != case.content(placed.block));
    placed.iter().filter(is_other).any(|placed| placed.certainty == Certainty::Certain)
}

/// The table as it is, with the places that were found for blocks which it does not list.
#[must_use]
pub fn as_listed(case: &Case, made: Assembled) -> Assembled {
    let table = table(case);
    let owned: HashSet<usize> = table.values().copied().collect();
    let is_new = |fit: &Fit| !table.contains_key(&fit.slot) && !owned.contains(&fit.block);
    let mut fits: Vec<Fit> = made.fits.into_iter().filter(is_new).collect();
    fits.extend(table.iter().map(|(slot, block)| Fit::known(*slot, *block, 1.0)));
    fits.sort_unstable_by_key(|fit| fit.slot);
    let candidates = made.candidates.into_iter().filter(|(block, ..)| !owned.contains(block)).collect();
    Assembled { fits, contradicted: Vec::new(), candidates, ..made }
}
