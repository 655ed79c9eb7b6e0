//! A first look at a stream of many rows: which blocks seem to have each other's keys, and which other ones the solver needs to
//! decide that.
//!
//! The rows are read in the order of their places. Of the last ones some voxels of each side are kept, so that memory does not grow
//! with the stream: beside a block are mostly blocks that were read a short time before it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, VecDeque};
use std::io;

use crate::godot::stream::loc::Place;
use crate::recover::keys::blocks::read_blocks;
use crate::recover::keys::{FEW, keyed_rows};
use crate::recover::screen::{MISFIT, RING, SUSPECTS, directions, find_better, is_exchange};
use crate::recover::sketch::{CELLS, Sketch};
use crate::save::{Stream, StreamRow, View};
use crate::source::Source;
use crate::watch::Watch;

/// Rows that are read before their blocks are compared.
const STEP: usize = 512;

/// Blocks of which some voxels are kept, some 700 bytes each. Chosen.
const WINDOW: usize = 1 << 14;

/// Blocks that fit worst, from which those with more than the usual misfit are taken at the end. Chosen.
const WORST: usize = 4 * SUSPECTS;

/// The steps from a block that seems to have another key to the blocks that are compared with it. Chosen.
const NEAR: usize = 2;

/// Edge of the groups of blocks from which seams are learned, in blocks.
const GROUP: i32 = 4;

/// A block in the window.
struct Seen {
    number: u32,
    sketch: Sketch,
    misfit: Misfit,
}

/// Cells that differ between a block and the blocks beside it, and how many of those there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Misfit {
    differ: u32,
    seams: u32,
}

impl Misfit {
    const fn add(&mut self, differ: u32) {
        self.differ += differ;
        self.seams += 1;
    }
}

/// The last blocks of a LOD, in the order of their places.
#[derive(Default)]
struct Window {
    blocks: HashMap<Place, Seen>,
    order: VecDeque<Place>,
    /// All seams of the LOD.
    differ: u64,
    seams: u64,
    /// The blocks that fit worst, and their numbers.
    worst: BinaryHeap<Reverse<(Misfit, u32)>>,
}

impl Window {
    /// Adds a block, and compares it with those before it.
    fn add(&mut self, number: u32, place: Place, sketch: Sketch) {
        let mut misfit = Misfit::default();
        for axis in 0..3 {
            let Some(other) = step(place, axis, false).and_then(|at| self.blocks.get_mut(&at)) else { continue };
            let differ = other.sketch.side(axis, true).differ(sketch.side(axis, false));
            misfit.add(differ);
            other.misfit.add(differ);
            self.differ += u64::from(differ);
            self.seams += 1;
        }
        self.blocks.insert(place, Seen { number, sketch, misfit });
        self.order.push_back(place);
        while self.order.len() > WINDOW {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        let Some(Seen { number, misfit, .. }) = self.order.pop_front().and_then(|place| self.blocks.remove(&place))
        else {
            return;
        };
        if misfit.seams >= 2 && misfit.differ > 0 {
            self.worst.push(Reverse((misfit, number)));
            if self.worst.len() > WORST {
                self.worst.pop();
            }
        }
    }

    /// The blocks of the LOD that fit much worse than is usual, each with the cells that differ.
    fn finish(mut self) -> Vec<(u32, u32)> {
        while !self.order.is_empty() {
            self.drop_first();
        }
        let usual = self.differ as f64 / (self.seams.max(1) * CELLS as u64) as f64;
        let is_odd =
            |misfit: Misfit| f64::from(misfit.differ) >= (usual + MISFIT) * f64::from(misfit.seams) * CELLS as f64;
        let worst = self.worst.into_iter().map(|Reverse(of)| of);
        worst.filter(|(misfit, _)| is_odd(*misfit)).map(|(misfit, number)| (misfit.differ, number)).collect()
    }
}

/// The rows that have to be compared to find those with each other's keys, by their numbers in ascending order; none if no
/// block seems to fit another key better.
///
/// # Errors
/// I/O errors.
pub(super) fn find_suspects<S: Source>(stream: &Stream<S>, watch: &Watch<'_>) -> io::Result<Vec<u32>> {
    let mut odd = find_odd(stream, watch)?;
    odd.sort_unstable_by(|a, b| b.cmp(a));
    odd.truncate(SUSPECTS);
    let numbers: Vec<u32> = odd.iter().map(|(_, number)| *number).collect();
    let exchanged = find_fitting(stream, &numbers)?;
    Ok(if exchanged.is_empty() { Vec::new() } else { with_others(stream, &exchanged) })
}

/// The rows whose blocks fit much worse than is usual, each with the cells that differ.
fn find_odd<S: Source>(stream: &Stream<S>, watch: &Watch<'_>) -> io::Result<Vec<(u32, u32)>> {
    let mut odd = Vec::new();
    let mut rows = keyed_rows(stream).peekable();
    let (mut window, mut lod) = (Window::default(), None);
    while rows.peek().is_some() && !watch.is_cancelled() {
        let part: Vec<(u32, StreamRow)> = rows.by_ref().take(STEP).collect();
        let only: Vec<StreamRow> = part.iter().map(|(_, row)| *row).collect();
        let sketches = read_blocks(stream, &only, draw)?;
        for ((number, row), sketch) in part.iter().zip(sketches) {
            let (Some(place), Some(sketch)) = (row.place, sketch) else { continue };
            if lod.replace(place.lod).is_some_and(|lod| lod != place.lod) {
                odd.extend(std::mem::take(&mut window).finish());
            }
            window.add(*number, place, sketch);
        }
    }
    odd.extend(window.finish());
    Ok(odd)
}

fn draw(view: &View<'_>) -> Option<Sketch> {
    Sketch::draw(view.block.as_ref()?)
}

/// The place beside another one.
fn step(place: Place, axis: usize, upper: bool) -> Option<Place> {
    let mut position = place.position;
    position[axis] = if upper { position[axis].checked_add(1)? } else { position[axis].checked_sub(1)? };
    Some(Place { position, ..place })
}

/// The rows beside another one.
fn beside<S: Source>(stream: &Stream<S>, number: u32) -> impl Iterator<Item = u32> {
    let place = stream.rows.get(number as usize).and_then(|row| row.place);
    let places = directions().filter_map(move |(axis, upper)| step(place?, axis, upper));
    places.filter_map(|place| u32::try_from(stream.find(place)?).ok())
}

/// Rows among some whose blocks fit each other's keys much better than their own.
fn find_fitting<S: Source>(stream: &Stream<S>, odd: &[u32]) -> io::Result<Vec<u32>> {
    let needed: BTreeSet<u32> = odd.iter().flat_map(|&number| beside(stream, number).chain([number])).collect();
    let rows: Vec<StreamRow> = needed.iter().filter_map(|number| stream.rows.get(*number as usize)).collect();
    let drawn = rows.iter().zip(read_blocks(stream, &rows, draw)?);
    let sketches: HashMap<Place, Sketch> = drawn.filter_map(|(row, sketch)| Some((row.place?, sketch?))).collect();
    let place = |number: &u32| stream.rows.get(*number as usize).and_then(|row| row.place);
    let odd: Vec<(u32, Place)> = odd.iter().filter_map(|number| Some((*number, place(number)?))).collect();
    // How much a block would differ from those beside the place of another one.
    let misfit = |block: usize, at: usize, but: Option<usize>| {
        let mut misfit = Misfit::default();
        let (Some((_, own)), Some((_, at))) = (odd.get(block), odd.get(at)) else { return (0, 0) };
        let Some(sketch) = sketches.get(own) else { return (0, 0) };
        let but = but.and_then(|but| odd.get(but)).map(|(_, place)| *place);
        for (axis, upper) in directions() {
            let next = step(*at, axis, upper).filter(|next| Some(*next) != but);
            let Some(other) = next.and_then(|next| sketches.get(&next)) else { continue };
            let (own, other) = (sketch.side(axis, upper), other.side(axis, !upper));
            misfit.add(if upper { own.differ(other) } else { other.differ(own) });
        }
        (misfit.differ, misfit.seams)
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
    Ok(found.into_iter().filter_map(|k| odd.get(k)).map(|(number, _)| *number).collect())
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
