//! What differs between two saves, as much of it as a map and a list need: a position, a kind and counts for each block.

use std::collections::HashMap;
use std::sync::Arc;

use crate::diff::{Change, Side, Summary, What};
use crate::printable::printable;
use crate::resize;
use crate::save::Save;
use crate::world::{At, Index, order};

/// Different reasons for blocks that cannot be compared that are kept; there are as many as there are codes.
const MOST_TEXTS: usize = 1000;

/// What became of a block. Of several in one cell of a map the greatest is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// It is in both and differs.
    Changed,
    /// It is elsewhere in the second save.
    Moved,
    /// It is in the second save only.
    Added,
    /// It is in the first save only.
    Removed,
    /// It cannot be compared.
    Unreadable,
}

impl Fate {
    /// All of them, in the order of the legend.
    pub const ALL: [Self; 5] = [Self::Added, Self::Removed, Self::Changed, Self::Moved, Self::Unreadable];

    /// In a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Moved => "moved",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Unreadable => "unreadable",
        }
    }
}

/// How many blocks of the first save along each axis one of the second may take; of larger ones only the first is shown.
const MOST_ACROSS: u16 = 16;

/// A block that differs: 24 bytes, since there may be as many as there are blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its position, in blocks; of a moved one, where it was.
    pub position: [i32; 3],
    /// What became of it.
    pub fate: Fate,
    /// A bit a channel that differs.
    pub channels: u8,
    /// Whether metadata differs.
    pub metadata: bool,
    /// Whether instances differ.
    pub instances: bool,
    /// Voxels that differ.
    pub voxels: u32,
    /// The number of where it went, or of why it cannot be read.
    more: u32,
}

/// The details of a change beside its numbers.
#[derive(Clone, Debug)]
pub enum More {
    /// Nothing.
    Nothing,
    /// Where the block is in the second save.
    To([i32; 3]),
    /// In which save it cannot be read, and why.
    Why(Side, String),
}

/// A change on its way to the list.
#[derive(Clone, Debug)]
pub struct FoundChange {
    lod: u8,
    changed: Changed,
    more: More,
}

impl FoundChange {
    /// What is kept of a change: one for each position that it takes.
    pub fn all(change: &Change) -> impl Iterator<Item = Self> + use<> {
        let one = Self::new(change);
        covered(change.position, change.across).map(move |position| {
            let changed = Changed { position, ..one.changed };
            Self { changed, ..one.clone() }
        })
    }

    /// What is kept of a change at its position.
    #[must_use]
    fn new(change: &Change) -> Self {
        let mut changed = Changed {
            position: change.position,
            fate: Fate::Changed,
            channels: 0,
            metadata: false,
            instances: false,
            voxels: 0,
            more: 0,
        };
        let (fate, more) = match &change.what {
            What::Added => (Fate::Added, More::Nothing),
            What::Removed => (Fate::Removed, More::Nothing),
            What::Moved { to } => (Fate::Moved, More::To(*to)),
            What::Unreadable { side, why, other } => {
                let other = other.map_or_else(String::new, |other| format!("; {}", other.words(*side, Side::letter)));
                (Fate::Unreadable, More::Why(*side, printable(&format!("{why}{other}"))))
            }
            What::Changed(block) => {
                let bit = |channel: usize| u32::try_from(channel).ok().and_then(|n| 1u8.checked_shl(n)).unwrap_or(0);
                changed.channels = block.channels.iter().fold(0, |bits, c| bits | bit(c.channel));
                changed.metadata = !block.metadata.is_empty();
                changed.instances = block.instances;
                changed.voxels = u32::try_from(block.voxels).unwrap_or(u32::MAX);
                (Fate::Changed, More::Nothing)
            }
        };
        changed.fate = fate;
        Self { lod: change.lod, changed, more }
    }
}

/// The blocks of a LOD.
#[derive(Debug)]
pub struct Lod {
    /// Its number.
    pub lod: u8,
    /// What differs, in the order of the positions.
    pub changes: Vec<Changed>,
    /// The blocks of both saves.
    pub blocks: [Arc<Index>; 2],
    /// The lowest and the highest position of all blocks; `None` where there is none.
    pub extent: Option<[[i32; 3]; 2]>,
    /// The positions at which either save has a block, in their order; those of the second save in blocks of the size that
    /// the first one has.
    pub places: Vec<[i32; 3]>,
}

impl Lod {
    /// A LOD with these blocks of these sizes, of which nothing is compared yet.
    #[must_use]
    pub fn new(lod: u8, blocks: [Arc<Index>; 2], sizes: [u16; 2]) -> Self {
        let [a, b] = &blocks;
        let [to, from] = sizes.map(|size| size.max(1));
        let in_first = |at: &At| {
            let position = resize::containing_block(at.position, from, to);
            position.into_iter().flat_map(move |position| covered(position, (from / to).max(1)))
        };
        let mut places: Vec<[i32; 3]> = a.blocks.iter().map(|at| at.position).collect();
        places.extend(b.blocks.iter().flat_map(in_first));
        places.sort_unstable_by_key(|at| order(*at));
        places.dedup();
        let bare = a.bare.iter().map(|at| at.position).chain(b.bare.iter().flat_map(in_first));
        let extent = places.iter().copied().chain(bare).map(|at| [at; 2]).reduce(join);
        Self { lod, changes: Vec::new(), blocks, extent, places }
    }

    /// The number of the first change at a position or behind it.
    #[must_use]
    pub fn from(&self, position: [i32; 3]) -> usize {
        self.changes.partition_point(|change| order(change.position) < order(position))
    }
}

/// The positions that something takes which begins at one, up to [`MOST_ACROSS`] along each axis.
fn covered(from: [i32; 3], across: u16) -> impl Iterator<Item = [i32; 3]> {
    let n = if across > MOST_ACROSS { 1 } else { i32::from(across) };
    let steps = (0..n).flat_map(move |z| (0..n).flat_map(move |x| (0..n).map(move |y| [x, y, z])));
    steps.map(move |step| [0, 1, 2].map(|i| from[i].saturating_add(step[i])))
}

fn join([low_a, high_a]: [[i32; 3]; 2], [low_b, high_b]: [[i32; 3]; 2]) -> [[i32; 3]; 2] {
    let [ax, ay, az] = low_a;
    let [bx, by, bz] = low_b;
    let [cx, cy, cz] = high_a;
    let [dx, dy, dz] = high_b;
    [[ax.min(bx), ay.min(by), az.min(bz)], [cx.max(dx), cy.max(dy), cz.max(dz)]]
}

/// What differs between two saves.
#[derive(Debug, Default)]
pub struct Difference {
    /// The readings of the two saves that it is of.
    pub of: (u64, u64),
    /// The saves.
    pub saves: Option<[Arc<Save>; 2]>,
    /// The LODs, in order.
    pub lods: Vec<Lod>,
    /// Voxels along each axis of a block, where that is known.
    pub side: Option<u16>,
    /// How many changes there are of each kind, in the order of [`Fate::ALL`].
    pub counts: [u64; 5],
    /// What it came to, once it is all there.
    pub summary: Option<Summary>,
    /// Blocks that were compared, and how many there are.
    pub done: [u64; 2],
    /// Grows with everything that comes.
    pub version: u64,
    places: Vec<[i32; 3]>,
    texts: Vec<(Side, Box<str>)>,
    known: HashMap<(bool, Box<str>), u32>,
}

impl Difference {
    /// Of two saves, of these readings; nothing is compared yet.
    #[must_use]
    pub fn new(readings: (u64, u64), saves: [Arc<Save>; 2]) -> Self {
        Self { of: readings, saves: Some(saves), ..Self::default() }
    }

    /// Adds what was found since.
    pub fn add(&mut self, all: Vec<FoundChange>) {
        self.version += 1;
        for found in all {
            let mut changed = found.changed;
            changed.more = match found.more {
                More::Nothing => 0,
                More::To(place) => {
                    self.places.push(place);
                    u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX)
                }
                More::Why(side, why) => self.text(side, why),
            };
            if let Some(count) =
                Fate::ALL.iter().position(|f| *f == changed.fate).and_then(|at| self.counts.get_mut(at))
            {
                *count += 1;
            }
            if let Some(lod) = self.lods.iter_mut().find(|lod| lod.lod == found.lod) {
                lod.changes.push(changed);
            }
        }
        for lod in &mut self.lods {
            // A few runs that are in order each, which is what this sort is quick with.
            if !lod.changes.is_sorted_by_key(|change| order(change.position)) {
                lod.changes.sort_by_key(|change| order(change.position));
            }
        }
    }

    fn text(&mut self, side: Side, why: String) -> u32 {
        let next = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        let key = (side == Side::A, Box::from(why));
        if let Some(number) = self.known.get(&key) {
            return *number;
        }
        if self.texts.len() >= MOST_TEXTS {
            return u32::MAX;
        }
        self.texts.push((side, key.1.clone()));
        self.known.insert(key, next);
        next
    }

    /// How many blocks differ in a way.
    #[must_use]
    pub fn count(&self, fate: Fate) -> u64 {
        Fate::ALL.iter().position(|f| *f == fate).and_then(|at| self.counts.get(at)).copied().unwrap_or(0)
    }

    /// Where a moved block is in the second save.
    #[must_use]
    pub fn went(&self, change: &Changed) -> Option<[i32; 3]> {
        let place = usize::try_from(change.more).ok().and_then(|at| self.places.get(at));
        place.copied().filter(|_| change.fate == Fate::Moved)
    }

    /// In which save a block cannot be read, and why.
    #[must_use]
    pub fn why(&self, change: &Changed) -> Option<(Side, &str)> {
        let text = usize::try_from(change.more).ok().and_then(|at| self.texts.get(at));
        text.filter(|_| change.fate == Fate::Unreadable).map(|(side, why)| (*side, &**why))
    }

    /// Voxels of a block.
    #[must_use]
    pub fn volume(&self) -> Option<u64> {
        self.side.map(|side| u64::from(side).pow(3))
    }

    /// How many changes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lods.iter().map(|lod| lod.changes.len()).sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The share that has been compared, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        let [done, all] = self.done;
        if all == 0 { 0.0 } else { (done as f64 / all as f64).min(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_small_and_the_list_is_in_order() {
        assert_eq!(size_of::<Changed>(), 24);
        let mut all = Difference::default();
        let blocks = [Arc::new(Index::default()), Arc::new(Index::default())];
        all.lods.push(Lod::new(0, blocks, [16; 2]));
        let change = |position, what| FoundChange::new(&Change { lod: 0, position, across: 1, what });
        let unreadable = |why: &str| What::Unreadable { side: Side::B, why: why.into(), other: None };
        all.add(vec![change([1, 0, 0], What::Added), change([0, 0, 1], What::Moved { to: [5, 6, 7] })]);
        all.add(vec![change([0, 5, 0], unreadable("torn")), change([0, 6, 0], unreadable("torn"))]);
        let positions: Vec<_> = all.lods[0].changes.iter().map(|change| change.position).collect();
        assert_eq!(positions, [[0, 5, 0], [0, 6, 0], [1, 0, 0], [0, 0, 1]]);
        let at = |n: usize| all.lods[0].changes[n];
        assert_eq!((all.why(&at(0)), all.why(&at(1))), (Some((Side::B, "torn")), Some((Side::B, "torn"))));
        assert_eq!((all.went(&at(3)), all.went(&at(2))), (Some([5, 6, 7]), None));
        assert_eq!((all.count(Fate::Unreadable), all.count(Fate::Added), all.len()), (2, 1, 4));
        assert_eq!((all.lods[0].from([0, 6, 0]), all.lods[0].from([0, 7, 0])), (1, 2));
    }

    #[test]
    fn reasons_are_not_kept_without_an_end() {
        let mut all = Difference::default();
        let why = |n: u32| What::Unreadable { side: Side::A, why: n.to_string(), other: None };
        all.add(
            (0..5000)
                .map(|n| FoundChange::new(&Change { lod: 0, position: [0; 3], across: 1, what: why(n) }))
                .collect(),
        );
        assert_eq!(all.texts.len(), MOST_TEXTS);
        assert_eq!(all.count(Fate::Unreadable), 5000);
    }
}
