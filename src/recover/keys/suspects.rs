//! Which blocks of a stream of many rows the solver has to compare.

use std::collections::BTreeSet;
use std::io;

use crate::godot::stream::loc::Place;
use crate::recover::keys::blocks::step;
use crate::recover::keys::look::{Sketches, cells_between};
use crate::recover::keys::{FEW, keyed_rows};
use crate::recover::screen::{RING, directions, find_better, is_exchange};
use crate::recover::sketch::Sketch;
use crate::save::Stream;
use crate::source::Source;

/// The steps from a block that seems to have another key to the blocks that are compared with it. Chosen.
const NEAR: usize = 2;

/// Edge of the groups of blocks from which seams are learned, in blocks. Chosen.
const GROUP: i32 = 4;

/// The rows that have to be compared to find those with each other's keys, by their numbers in ascending order; none if no two of the
/// blocks that fit worst fit each other's keys better, nor several of them others' keys.
///
/// # Errors
/// I/O errors.
pub(super) fn find_suspects<S: Source>(stream: &Stream<S>, odd: &[u32]) -> io::Result<Vec<u32>> {
    let exchanged = find_fitting(stream, odd)?;
    Ok(if exchanged.is_empty() { Vec::new() } else { with_others(stream, &exchanged) })
}

/// The rows beside another one.
fn beside<S: Source>(stream: &Stream<S>, number: u32) -> impl Iterator<Item = u32> {
    let place = stream.rows.get(number as usize).and_then(|row| row.place);
    let places = directions().filter_map(move |(axis, upper)| step(place?, axis, upper));
    places.filter_map(|place| u32::try_from(stream.find(place)?).ok())
}

/// A block that does not fit its key, and the blocks beside it.
struct Suspect<'s> {
    number: u32,
    place: Place,
    sketch: &'s Sketch,
    beside: Vec<(usize, bool, Place, &'s Sketch)>,
}

impl<'s> Suspect<'s> {
    fn new(number: u32, place: Place, sketch: &'s Sketch, all: &'s Sketches) -> Self {
        let beside = directions().filter_map(|(axis, upper)| {
            let next = step(place, axis, upper)?;
            Some((axis, upper, next, all.get(next)?))
        });
        Self { number, place, sketch, beside: beside.collect() }
    }

    /// The cells that differ between another block in its place and those beside it, and how many of these there are; without the
    /// place of one of them.
    fn misfit_of(&self, block: &Self, but: Option<&Self>) -> (u32, u32) {
        let beside = self.beside.iter().filter(|(_, _, place, _)| but.is_none_or(|but| but.place != *place));
        let cells = beside.map(|&(axis, upper, _, other)| cells_between(block.sketch, other, axis, upper));
        cells.fold((0, 0), |(differ, seams), cells| (differ + cells, seams + 1))
    }
}

/// Rows among some whose blocks fit each other's keys much better than their own.
fn find_fitting<S: Source>(stream: &Stream<S>, odd: &[u32]) -> io::Result<Vec<u32>> {
    let needed: BTreeSet<u32> = odd.iter().flat_map(|&number| beside(stream, number).chain([number])).collect();
    let sketches = Sketches::read(stream, needed.into_iter())?;
    let read = |number: &u32| {
        let place = stream.rows.get(*number as usize)?.place?;
        Some(Suspect::new(*number, place, sketches.get(place)?, &sketches))
    };
    let odd: Vec<Suspect<'_>> = odd.iter().filter_map(read).collect();
    // How much a block would differ from those beside the place of another one.
    let misfit = |block: usize, at: usize, but: Option<usize>| {
        let (Some(block), Some(at)) = (odd.get(block), odd.get(at)) else { return (0, 0) };
        at.misfit_of(block, but.and_then(|but| odd.get(but)))
    };
    let all: Vec<(u32, usize)> = (0..odd.len()).map(|k| (misfit(k, k, None).0, k)).collect();
    let mut found: BTreeSet<usize> = BTreeSet::new();
    for a in 0..odd.len() {
        let partner = (0..odd.len()).find(|&b| b != a && is_exchange(a, b, &misfit));
        found.extend(partner.into_iter().flat_map(|b| [a, b]));
    }
    let ring: Vec<(usize, usize)> =
        all.iter().filter_map(|of| Some((of.1, find_better(*of, &all, &misfit)?))).collect();
    if ring.len() >= RING {
        found.extend(ring.into_iter().flat_map(|(a, b)| [a, b]));
    }
    Ok(found.into_iter().filter_map(|k| odd.get(k)).map(|of| of.number).collect())
}

/// Some rows with those near them, and others to learn from, as many as the solver compares with each other.
fn with_others<S: Source>(stream: &Stream<S>, exchanged: &[u32]) -> Vec<u32> {
    let mut rows: BTreeSet<u32> = exchanged.iter().copied().collect();
    let mut last: Vec<u32> = exchanged.to_vec();
    for near in 0..NEAR {
        let next: BTreeSet<u32> = last.iter().flat_map(|&number| beside(stream, number)).collect();
        last = next.into_iter().filter(|number| !rows.contains(number)).collect();
        if near > 0 && rows.len() + last.len() > FEW {
            break;
        }
        rows.extend(&last);
    }
    let groups = stream.rows.len().div_ceil(FEW.saturating_sub(rows.len()).max(1)) as u64;
    let is_drawn = |place: Place| {
        let group = place.position.map(|v| v.div_euclid(GROUP) as u32);
        let mixed = group.iter().fold(0u64, |sum, &v| (sum ^ u64::from(v)).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (mixed >> 32).is_multiple_of(groups.max(1))
    };
    let drawn = keyed_rows(stream).filter(|(_, row)| row.place.is_some_and(is_drawn)).map(|(number, _)| number);
    let drawn: Vec<u32> = drawn.filter(|number| !rows.contains(number)).take(FEW.saturating_sub(rows.len())).collect();
    rows.extend(drawn);
    rows.into_iter().collect()
}
