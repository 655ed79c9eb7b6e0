//! Which rows have each other's keys, by the solver for regions.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;

use crate::godot::stream::loc::Place;
use crate::recover::assemble::{self, Assembled, Fit, Start};
use crate::recover::keys::WrongKey;
use crate::recover::keys::blocks::{step, walk_rows};
use crate::recover::keys::layout::Layout;
use crate::recover::keys::permutation::settle;
use crate::recover::region::{Case, Listing};
use crate::recover::screen::directions;
use crate::recover::settled;
use crate::recover::walk::Walk;
use crate::recover::weights::Weights;
use crate::save::{Stream, StreamRow};
use crate::source::Source;
use crate::watch::Watch;

/// The rows among some, given by their numbers, that have each other's keys. Nothing is moved to the key of a row that is not
/// among them.
pub(super) fn find_exchanged<S: Source>(
    stream: &Stream<S>,
    numbers: &[u32],
    effort: u64,
    watch: &Watch<'_>,
) -> io::Result<Vec<WrongKey>> {
    let numbered = |&number: &u32| Some((number, stream.rows.get(number as usize)?));
    let numbered: Vec<(u32, StreamRow)> = numbers.iter().filter_map(numbered).collect();
    let rows: Vec<StreamRow> = numbered.iter().map(|(_, row)| *row).collect();
    let (blocks, of_row) = walk_rows(stream, &rows)?;
    let keys: Vec<(u32, Place)> = of_row
        .iter()
        .filter_map(|row| numbered.get(*row))
        .filter_map(|(number, row)| Some((*number, row.place?)))
        .collect();
    let Some(layout) = Layout::new(keys.iter().map(|(_, place)| *place)) else { return Ok(Vec::new()) };
    let slots: Vec<u32> = keys.iter().filter_map(|(_, place)| layout.slot(*place)).collect();
    if slots.len() < blocks.len() || watch.is_cancelled() {
        return Ok(Vec::new());
    }
    let listing = |(first, &slot): (u32, &u32)| {
        let position = layout.shape().position(slot)?;
        Some(Listing { slot, first, count: 1, position })
    };
    let case = Case {
        lod: 0,
        shape: layout.shape(),
        raw: Vec::new(),
        entries: (0..).zip(&slots).filter_map(listing).collect(),
        walk: Walk::of_blocks(blocks),
        gap: 0,
        taken: find_taken(stream, &layout, &keys),
    };
    let anchors: Vec<(u32, usize)> = slots.iter().copied().zip(0..).collect();
    let start = Start { anchors, check: true, is_partial: !case.taken.is_empty(), ..Start::default() };
    let made = assemble::assemble(&[&case], &[start], &Weights::default(), effort, watch);
    let Some(made) = made.first().filter(|made| !watch.is_cancelled() && settled::has_exchanges(&case, made)) else {
        return Ok(Vec::new());
    };
    let mut found: Vec<WrongKey> = find_moves(&case, &slots, made)
        .into_iter()
        .filter_map(|(block, fit)| {
            let (row, _) = *keys.get(block)?;
            Some(WrongKey { row, place: layout.place(fit.slot)?, certainty: fit.certainty, p: fit.p })
        })
        .collect();
    found.sort_unstable_by_key(|of| of.row);
    Ok(found)
}

/// The slots beside the blocks that have keys of other rows, which take no part.
fn find_taken<S: Source>(stream: &Stream<S>, layout: &Layout, keys: &[(u32, Place)]) -> BTreeSet<u32> {
    let own: HashSet<Place> = keys.iter().map(|(_, place)| *place).collect();
    let beside = |place: &Place| {
        let place = *place;
        directions().filter_map(move |(axis, upper)| step(place, axis, upper))
    };
    let is_taken = |place: &Place| !own.contains(place) && stream.find(*place).is_some();
    let taken = own.iter().flat_map(beside).filter(is_taken);
    taken.filter_map(|place| layout.slot(place)).collect()
}

/// The blocks that change places among each other, and where each belongs. Every place that a block leaves is filled by another one of
/// them, so that the rest of the stream stays as it is. `slots` are the slots of the blocks by their keys.
fn find_moves(case: &Case, slots: &[u32], made: &Assembled) -> Vec<(usize, Fit)> {
    let own: HashMap<u32, usize> = slots.iter().copied().zip(0..).collect();
    let changed = settled::exchanged(case, &own, made);
    let fits: HashMap<usize, Fit> = made.fits.iter().filter_map(|fit| Some((*own.get(&fit.slot)?, *fit))).collect();
    let mut moves: HashMap<usize, usize> = fits.iter().map(|(to, fit)| (*to, fit.block)).collect();
    loop {
        let before = moves.len();
        let left: HashSet<usize> = moves.values().copied().collect();
        let filled: HashSet<usize> = moves.keys().copied().collect();
        moves.retain(|to, from| left.contains(to) && filled.contains(from));
        if moves.len() == before {
            break;
        }
    }
    let settled = settle(&moves, |a, b| case.content(a) == case.content(b));
    let is_changed = |to: &usize| slots.get(*to).is_some_and(|slot| changed.contains(slot));
    let moved = settled.into_iter().filter(|(to, _)| is_changed(to));
    moved.filter_map(|(to, from)| Some((from, *fits.get(&to)?))).collect()
}
