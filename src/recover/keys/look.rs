//! A first look at the seams of a stream: some voxels of each side of its blocks, and the blocks that fit their keys worst.
//!
//! The rows are read in the order of their places. Only the last ones are kept, so that memory does not grow with the stream:
//! beside a block are mostly blocks that were read a short time before it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::io;

use xxhash_rust::xxh3::xxh3_128;

use crate::godot::stream::loc::Place;
use crate::recover::keys::blocks::{read_blocks, step};
use crate::recover::keys::keyed_rows;
use crate::recover::screen::{MISFIT, SUSPECTS, directions};
use crate::recover::sketch::{CELLS, Sketch};
use crate::save::{Stream, StreamRow, View};
use crate::source::Source;
use crate::watch::Watch;

/// Rows that are read before their blocks are compared.
const STEP: usize = 512;

/// Blocks of which some voxels are kept, some 700 bytes each. Chosen.
const WINDOW: usize = 1 << 15;

/// Blocks that fit worst, from which those with more than the usual misfit are taken at the end. Chosen.
const WORST: usize = 4 * SUSPECTS;

/// Cells that differ between a block and the blocks beside it, and how many of those there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Misfit {
    pub differ: u32,
    pub seams: u32,
}

impl Misfit {
    const fn add(&mut self, differ: u32) {
        self.differ += differ;
        self.seams += 1;
    }

    /// The share of cells that differ.
    pub fn share(self) -> f64 {
        f64::from(self.differ) / (f64::from(self.seams.max(1)) * CELLS as f64)
    }
}

/// Some voxels of the sides of a block, and a hash of its bytes.
struct Drawn {
    sketch: Sketch,
    content: u128,
}

/// Some voxels of the sides of blocks, by their places.
#[derive(Default)]
pub(super) struct Sketches(HashMap<Place, Drawn>);

impl Sketches {
    /// Those of some rows.
    ///
    /// # Errors
    /// I/O errors.
    pub fn read<S: Source>(stream: &Stream<S>, numbers: impl Iterator<Item = u32>) -> io::Result<Self> {
        let rows: Vec<StreamRow> = numbers.filter_map(|number| stream.rows.get(number as usize)).collect();
        let drawn = rows.iter().zip(read_blocks(stream, &rows, draw)?);
        Ok(Self(drawn.filter_map(|(row, sketch)| Some((row.place?, sketch?))).collect()))
    }

    pub fn get(&self, place: Place) -> Option<&Sketch> {
        self.0.get(&place).map(|drawn| &drawn.sketch)
    }

    /// The same with a hash of the bytes of the block.
    pub fn drawn(&self, place: Place) -> Option<(&Sketch, u128)> {
        self.0.get(&place).map(|drawn| (&drawn.sketch, drawn.content))
    }

    /// How much a block differs from those beside a place. `content` gives the block at each place.
    pub fn misfit<'s>(own: &Sketch, at: Place, content: impl Fn(Place) -> Option<&'s Sketch>) -> Misfit {
        let mut misfit = Misfit::default();
        for (axis, upper) in directions() {
            let Some(other) = step(at, axis, upper).and_then(&content) else { continue };
            misfit.add(cells_between(own, other, axis, upper));
        }
        misfit
    }
}

/// The cells that differ between a block and the one beside it.
pub(super) fn cells_between(own: &Sketch, other: &Sketch, axis: usize, upper: bool) -> u32 {
    let (own, other) = (own.side(axis, upper), other.side(axis, !upper));
    if upper { own.differ(other) } else { other.differ(own) }
}

/// What a first look shows.
pub(super) struct Look {
    /// The blocks that fit much worse than is usual, the worst first, by the numbers of their rows.
    pub odd: Vec<u32>,
    /// The share of cells that differ between neighbours, by LOD.
    pub usual: BTreeMap<u8, f64>,
    /// All blocks, if they are few enough.
    pub all: Option<Sketches>,
}

/// A block in the window.
struct Seen {
    number: u32,
    drawn: Drawn,
    misfit: Misfit,
}

/// The last blocks, in the order of their places.
#[derive(Default)]
struct Window {
    blocks: HashMap<Place, Seen>,
    order: VecDeque<Place>,
    /// Whether blocks were dropped.
    is_partial: bool,
    /// All seams by LOD: the cells that differ, and the number of seams.
    all: BTreeMap<u8, (u64, u64)>,
    /// The blocks that fit worst, with their LODs and the numbers of their rows.
    worst: BinaryHeap<Reverse<(Misfit, u8, u32)>>,
}

impl Window {
    /// Adds a block, and compares it with those before it.
    fn add(&mut self, number: u32, place: Place, drawn: Drawn) {
        let mut misfit = Misfit::default();
        let all = self.all.entry(place.lod).or_default();
        for axis in 0..3 {
            let Some(other) = step(place, axis, false).and_then(|at| self.blocks.get_mut(&at)) else { continue };
            let differ = cells_between(&drawn.sketch, &other.drawn.sketch, axis, false);
            misfit.add(differ);
            other.misfit.add(differ);
            all.0 += u64::from(differ);
            all.1 += 1;
        }
        self.blocks.insert(place, Seen { number, drawn, misfit });
        self.order.push_back(place);
        if self.order.len() > WINDOW
            && let Some(first) = self.order.pop_front()
            && let Some(seen) = self.blocks.remove(&first)
        {
            self.is_partial = true;
            self.rank(first.lod, &seen);
        }
    }

    /// Keeps a block if it is one of those that fit worst.
    fn rank(&mut self, lod: u8, &Seen { number, misfit, .. }: &Seen) {
        if misfit.seams >= 2 && misfit.differ > 0 {
            self.worst.push(Reverse((misfit, lod, number)));
            if self.worst.len() > WORST {
                self.worst.pop();
            }
        }
    }

    fn finish(mut self) -> Look {
        let left = std::mem::take(&mut self.blocks);
        left.iter().for_each(|(place, seen)| self.rank(place.lod, seen));
        let share = |(differ, seams): (u64, u64)| differ as f64 / (seams.max(1) * CELLS as u64) as f64;
        let usual: BTreeMap<u8, f64> = self.all.iter().map(|(lod, all)| (*lod, share(*all))).collect();
        let is_odd = |misfit: Misfit, lod| misfit.share() >= usual.get(&lod).copied().unwrap_or(0.0) + MISFIT;
        let worst = self.worst.into_sorted_vec().into_iter().map(|Reverse(of)| of);
        let odd = worst.filter(|(misfit, lod, _)| is_odd(*misfit, *lod)).map(|(.., number)| number);
        let odd = odd.take(SUSPECTS).collect();
        let all = left.into_iter().map(|(place, seen)| (place, seen.drawn));
        let all = (!self.is_partial).then(|| Sketches(all.collect()));
        Look { odd, usual, all }
    }
}

impl Look {
    /// Reads all blocks of a stream once.
    ///
    /// # Errors
    /// I/O errors.
    pub fn new<S: Source>(stream: &Stream<S>, watch: &Watch<'_>) -> io::Result<Self> {
        let mut rows = keyed_rows(stream).peekable();
        let mut window = Window::default();
        while rows.peek().is_some() && !watch.is_cancelled() {
            let part: Vec<(u32, StreamRow)> = rows.by_ref().take(STEP).collect();
            let only: Vec<StreamRow> = part.iter().map(|(_, row)| *row).collect();
            let drawn = read_blocks(stream, &only, draw)?;
            for ((number, row), drawn) in part.iter().zip(drawn) {
                if let Some((place, drawn)) = row.place.zip(drawn) {
                    window.add(*number, place, drawn);
                }
            }
        }
        Ok(window.finish())
    }
}

fn draw(view: &View<'_>) -> Option<Drawn> {
    Some(Drawn { sketch: Sketch::draw(view.block.as_ref()?)?, content: xxh3_128(view.container.as_ref()?.plain) })
}
