//! Compares two saves of any format, block by block and voxel by voxel.
//!
//! Blocks with equal stored bytes are equal. Other blocks are decoded and compared channel by channel
//! ([`blocks`]), which also gives each changed voxel to whoever wants to draw it. A block that moved
//! is recognised by its content, if only one position can be meant.
//!
//! If the saves have different block sizes, larger blocks are cut into parts of the smaller size.
//!
//! Rooms of pak regions are compared chunk by chunk ([`chunks`](chunks())).
//!
//! Takes two [worlds](crate::world::World) or rooms; gives differences in the order of positions, and totals. It knows neither
//! repair nor a terminal. Of the findings it needs only the number of blocks to which no table leads.

mod chunks;
mod compare;
mod moved;
mod sizes;

use std::path::PathBuf;

use crate::check;
use crate::godot::block::Block;
use crate::parallel;
use crate::save::View;
use crate::watch::{Step, Watch};
use crate::world::{self, At, Buffer, Index, World, order, unreadable};

pub use chunks::chunks;
pub use compare::{BlockChange, ChannelChange, MetadataChange, VoxelChange, blocks};
use moved::Moves;
use sizes::Sizes;

/// Blocks that are compared before their changes are handed on.
const WINDOW: usize = 1024;

/// How to compare.
#[derive(Default)]
#[non_exhaustive]
pub struct Options<'a> {
    /// The LODs; all when it is empty.
    pub lods: Vec<u8>,
    /// The channels; all when it is empty.
    pub channels: Vec<usize>,
    /// Voxels of a block that are listed one by one when no more than that changed.
    pub list: usize,
    /// Cancels the comparison, and receives its progress in blocks, LOD by LOD.
    pub watch: Watch<'a>,
}

impl<'a> Options<'a> {
    /// Sets the LODs that are compared.
    #[must_use]
    pub fn lods(mut self, lods: Vec<u8>) -> Self {
        self.lods = lods;
        self
    }

    /// Sets the channels that are compared.
    #[must_use]
    pub fn channels(mut self, channels: Vec<usize>) -> Self {
        self.channels = channels;
        self
    }

    /// Sets up to how many changed voxels of a block are listed.
    #[must_use]
    pub fn list(mut self, list: usize) -> Self {
        self.list = list;
        self
    }

    /// Sets what cancels the comparison and receives its progress.
    #[must_use]
    pub fn watch(mut self, watch: Watch<'a>) -> Self {
        self.watch = watch;
        self
    }
}

/// One of the two saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// How a block differs.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// It is in the second save only.
    Added,
    /// It is in the first save only.
    Removed,
    /// It is in both and differs.
    Changed(BlockChange),
    /// The second save has its content at another position, and at no other.
    Moved {
        /// Where it is in the second save.
        to: [i32; 3],
    },
    /// It cannot be compared.
    Unreadable {
        /// In which save it cannot be read.
        side: Side,
        /// Why, in words.
        why: String,
        /// What the other save has there; `None` where blocks of different sizes are compared.
        other: Option<Other>,
    },
}

/// What a save has at the position of a block that cannot be read in the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Other {
    /// The block, and it can be read.
    Whole,
    /// No block.
    Missing,
    /// A block that cannot be read either.
    Unreadable,
}

/// One difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The LOD.
    pub lod: u8,
    /// The position of the block of the first save; of a moved one, where it was.
    pub position: [i32; 3],
    /// How many positions of the first save it takes along each axis, from that one on: more than one where it has no block
    /// and the second save has a larger one.
    pub across: u16,
    /// How it differs.
    pub what: What,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Blocks in the first and in the second save.
    pub blocks: [u64; 2],
    /// Blocks that are the same.
    pub same: u64,
    /// Blocks that differ.
    pub changed: u64,
    /// Blocks in the second save only, those that moved not counted.
    pub added: u64,
    /// Blocks in the first save only, those that moved not counted.
    pub removed: u64,
    /// Blocks that moved.
    pub moved: u64,
    /// Blocks that cannot be compared.
    pub unreadable: u64,
    /// Those of them that only the other save cannot read: they are whole in the first and in the second save.
    pub whole_in: [u64; 2],
    /// Those of them that the first and the second save do not have.
    pub missing_in: [u64; 2],
    /// Voxels that differ in blocks that are in both.
    pub voxels: u64,
    /// Where blocks have different sizes: smaller ones that are not there, in larger ones that are.
    pub holes: u64,
    /// Blocks of the first and of the second save that are left out because another one has their position.
    pub twice: [u64; 2],
    /// Whole blocks of the first and of the second save to which no table leads, so that they are not compared.
    pub unowned: [u64; 2],
    /// Files that could not be read.
    pub faults: Vec<(Side, world::Fault)>,
    /// Files that are damaged and were read nevertheless: see [`Index::corrected`].
    pub corrected: Vec<(Side, world::Fault)>,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
}

impl Other {
    /// What the save that `side` is not has, with its name.
    #[must_use]
    pub fn words(self, side: Side, name: impl Fn(Side) -> &'static str) -> String {
        let other = name(side.other());
        match self {
            Self::Whole => format!("whole in {other}"),
            Self::Missing => format!("missing in {other}"),
            Self::Unreadable => format!("unreadable in {other} too"),
        }
    }
}

impl Side {
    /// The side that this is not.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// `A` or `B`.
    #[must_use]
    pub const fn letter(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }

    /// `a` or `b`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
        }
    }
}

impl Summary {
    /// Counts a difference.
    fn count(&mut self, what: &What) {
        match what {
            What::Added => self.added += 1,
            What::Removed => self.removed += 1,
            What::Moved { .. } => self.moved += 1,
            What::Changed(change) => {
                self.changed += 1;
                self.voxels += change.voxels;
            }
            What::Unreadable { side, other, .. } => {
                self.unreadable += 1;
                let counts = match other {
                    Some(Other::Whole) => &mut self.whole_in,
                    Some(Other::Missing) => &mut self.missing_in,
                    Some(Other::Unreadable) | None => return,
                };
                let [in_a, in_b] = counts;
                *(if *side == Side::A { in_b } else { in_a }) += 1;
            }
        }
    }

    /// Whether something differs, as far as the saves could be compared.
    #[must_use]
    pub const fn differs(&self) -> bool {
        self.changed + self.added + self.removed + self.moved > 0
    }

    /// Whether something could not be compared.
    #[must_use]
    pub const fn trouble(&self) -> bool {
        let left_out = self.twice[0] + self.twice[1] + self.unowned[0] + self.unowned[1];
        self.unreadable > 0 || !self.faults.is_empty() || left_out > 0
    }
}

/// Why two saves cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Their block sizes differ, and neither is a multiple of the other.
    #[error(
        "the blocks of the first save have {0} voxels along each axis, those of the second {1}: one does not go into the other"
    )]
    Sizes(u16, u16),
    /// Something cannot be read.
    #[error(transparent)]
    World(#[from] world::Error),
    /// A file changed during the comparison.
    #[error("{}: the file changed while it was read; stop the game first", crate::printable::path(.0))]
    Changed(PathBuf),
}

/// Buffers of one thread.
#[derive(Default)]
struct Buffers {
    a: Buffer,
    b: Buffer,
    /// Rows with instances that are not in the row of their block.
    apart_a: Buffer,
    apart_b: Buffer,
}

/// A position with the blocks that are there.
#[derive(Clone, Copy)]
struct Pair {
    a: Option<At>,
    b: Option<At>,
}

/// The result of comparing a pair.
enum Outcome {
    Same,
    Skipped,
    /// What differs, with hashes of the contents that were removed and added.
    Differs(Vec<What>, [Option<u64>; 2]),
}

/// Compares two worlds and passes on differences, LOD by LOD, in the order of the positions: first the changed blocks,
/// then those that moved, were removed and were added.
///
/// # Errors
/// If the worlds cannot be compared, or a file changes meanwhile. A block that cannot be read is listed and is not an error.
///
/// If block sizes differ, positions are those of the first save. A missing smaller block inside a
/// larger one counts as what [`convert`](crate::convert) fills it with; moved blocks are not recognised, and
/// of instances their numbers are compared, by kind.
pub fn run(
    a: &World<'_>,
    b: &World<'_>,
    options: &Options<'_>,
    mut sink: impl FnMut(Change),
) -> Result<Summary, Error> {
    let sizes = match (a.block_size(), b.block_size()) {
        (Some(one), Some(other)) if one != other => Some(Sizes::new(one, other).ok_or(Error::Sizes(one, other))?),
        _ => None,
    };
    let mut lods = a.lods();
    lods.extend(b.lods());
    lods.sort_unstable();
    lods.dedup();
    lods.retain(|lod| options.lods.is_empty() || options.lods.contains(lod));
    let unread = |side, world: &World<'_>| world.unread().into_iter().map(move |fault| (side, fault));
    let mut summary = Summary { faults: unread(Side::A, a).chain(unread(Side::B, b)).collect(), ..Summary::default() };
    let compared = Compared { a, b, options };
    for lod in lods {
        let (ia, ib) = (a.index(lod), b.index(lod));
        for (side, index) in [(Side::A, &ia), (Side::B, &ib)] {
            let of_side =
                |faults: &[world::Fault]| faults.iter().map(|fault| (side, fault.clone())).collect::<Vec<_>>();
            world::add_new(&mut summary.faults, of_side(&index.faults));
            world::add_new(&mut summary.corrected, of_side(&index.corrected));
        }
        summary.blocks[0] += ia.blocks.len() as u64;
        summary.blocks[1] += ib.blocks.len() as u64;
        summary.twice[0] += ia.twice;
        summary.twice[1] += ib.twice;
        match sizes {
            None => compared.lod(lod, &ia, &ib, &mut summary, &mut sink),
            Some(sizes) => sizes.lod(&compared, &ia, &ib, &mut summary, &mut sink),
        }
        if options.watch.is_cancelled() {
            summary.interrupted = true;
            break;
        }
    }
    if !summary.interrupted {
        let watch = options.watch.quiet();
        summary.unowned = [a, b].map(|world| check::unowned(world.save, world.forest(), &options.lods, &watch));
        summary.interrupted = options.watch.is_cancelled();
    }
    match a.changed().or_else(|| b.changed()) {
        Some(file) => Err(Error::Changed(file.into())),
        None => Ok(summary),
    }
}

struct Compared<'c> {
    a: &'c World<'c>,
    b: &'c World<'c>,
    options: &'c Options<'c>,
}

impl Compared<'_> {
    fn lod(&self, lod: u8, ia: &Index, ib: &Index, summary: &mut Summary, sink: &mut impl FnMut(Change)) {
        let mut moves = Moves::default();
        let mut pairs = pairs(&ia.blocks, &ib.blocks);
        let mut left = ia.blocks.len().max(ib.blocks.len()) as u64;
        self.options.watch.begin(Step::Comparing, left);
        loop {
            let window: Vec<Pair> = pairs.by_ref().take(WINDOW).collect();
            if window.is_empty() || self.options.watch.is_cancelled() {
                break;
            }
            let outcomes = parallel::map_with(&window, |buffers: &mut Buffers, pair| {
                if self.options.watch.is_cancelled() {
                    return Outcome::Skipped;
                }
                self.pair(pair, [ia, ib], buffers)
            });
            for (pair, outcome) in window.iter().zip(outcomes) {
                let (changes, hashes) = match outcome {
                    Outcome::Same => {
                        summary.same += 1;
                        continue;
                    }
                    Outcome::Skipped => continue,
                    Outcome::Differs(changes, hashes) => (changes, hashes),
                };
                // A block that only one save has and that cannot be read is listed once, as unreadable.
                let is_alone = pair.a.is_none() || pair.b.is_none();
                if !(is_alone && changes.iter().any(|what| matches!(what, What::Unreadable { .. }))) {
                    moves.note(pair.a, pair.b, hashes);
                }
                for what in changes {
                    summary.count(&what);
                    if let Some(at) = pair.a.or(pair.b) {
                        sink(Change { lod, position: at.position, across: 1, what });
                    }
                }
            }
            // There are more pairs than blocks of either save where the two hold different positions.
            let more = left.min(window.len() as u64);
            left -= more;
            self.options.watch.advance(more);
        }
        if self.options.watch.is_cancelled() {
            return;
        }
        self.bare(lod, ia, ib, summary, sink);
        let settled = moves.match_moves(|from, to| self.is_same_content(from, to));
        for (position, to) in settled.moved {
            let what = What::Moved { to };
            summary.count(&what);
            sink(Change { lod, position, across: 1, what });
        }
        for (positions, what, other) in
            [(settled.removed, What::Removed, (Side::B, self.b)), (settled.added, What::Added, (Side::A, self.a))]
        {
            for position in positions {
                // Where a file was not read, nothing says that the block is missing.
                let unread = other.1.may_be_unread(lod, position);
                let unread = unread.map(|f| What::Unreadable {
                    side: other.0,
                    why: format!("{}: {}", f.file, f.why),
                    other: Some(Other::Whole),
                });
                let what = unread.unwrap_or_else(|| what.clone());
                summary.count(&what);
                sink(Change { lod, position, across: 1, what });
            }
        }
    }

    /// Compares positions that have instances but no voxels in at least one of the saves.
    fn bare(&self, lod: u8, ia: &Index, ib: &Index, summary: &mut Summary, sink: &mut impl FnMut(Change)) {
        let mut buffers = Buffers::default();
        for Pair { a, b } in pairs(&ia.bare, &ib.bare) {
            let Some(position) = a.or(b).map(|at| at.position) else { continue };
            // If the other save has voxels, the comparison of blocks reports it.
            if ia.find(position).is_some() || ib.find(position).is_some() {
                continue;
            }
            let read = |world: &World<'_>, at: Option<At>, buffer: &mut Buffer| {
                at.and_then(|at| world.fetch(&at, buffer).ok())
                    .filter(|()| world.are_instances(buffer))
                    .and_then(|()| world.instances(buffer).map(<[u8]>::to_vec))
            };
            if read(self.a, a, &mut buffers.a) != read(self.b, b, &mut buffers.b) {
                let what = What::Changed(BlockChange { instances: true, ..BlockChange::default() });
                summary.count(&what);
                sink(Change { lod, position, across: 1, what });
            }
        }
    }

    fn pair(&self, pair: &Pair, [ia, ib]: [&Index; 2], buffers: &mut Buffers) -> Outcome {
        let Buffers { a, b, apart_a, apart_b } = buffers;
        let mut changes = Vec::new();
        let mut fetch = |world: &World<'_>, at: Option<At>, buffer: &mut Buffer, side| {
            let at = at?;
            match world.fetch(&at, buffer) {
                Ok(()) => Some(at),
                Err(error) => {
                    changes.push(What::Unreadable { side, why: error.to_string(), other: None });
                    None
                }
            }
        };
        let (at_a, at_b) = (fetch(self.a, pair.a, a, Side::A), fetch(self.b, pair.b, b, Side::B));
        let both = at_a.zip(at_b);
        let same_instances = both.is_none_or(|(at_a, at_b)| {
            own_instances(self.a, ia, &at_a, a, apart_a) == own_instances(self.b, ib, &at_b, b, apart_b)
        });
        if let Some((at_a, at_b)) = &both
            && self.a.container(a) == self.b.container(b)
            // A block whose size runs past its sectors counts as unreadable, although its bytes can be read.
            && self.a.fits_sectors(at_a, a) == self.b.fits_sectors(at_b, b)
            && same_instances
            && self.a.layout(at_a) == self.b.layout(at_b)
            && !self.a.container(a).is_empty()
            && self.a.byte_order(at_a) == self.b.byte_order(at_b)
        {
            return Outcome::Same;
        }
        // Data without a layer is the same as none.
        let instances = !same_instances
            && both.is_some_and(|(at_a, at_b)| {
                has_layers(self.a, ia, &at_a, a, apart_a) || has_layers(self.b, ib, &at_b, b, apart_b)
            });
        let view_a = at_a.map(|at| self.a.decode(&at, a));
        let view_b = at_b.map(|at| self.b.decode(&at, b));
        let block_a = readable(self.a, view_a, Side::A, &mut changes);
        let block_b = readable(self.b, view_b, Side::B, &mut changes);
        let state = |listed: bool, readable: bool| match (listed, readable) {
            (false, _) => Other::Missing,
            (true, true) => Other::Whole,
            (true, false) => Other::Unreadable,
        };
        let states = [state(pair.a.is_some(), block_a.is_some()), state(pair.b.is_some(), block_b.is_some())];
        for what in &mut changes {
            if let What::Unreadable { side, other, .. } = what {
                let [in_a, in_b] = states;
                *other = Some(if *side == Side::A { in_b } else { in_a });
            }
        }
        let hashes = [block_a.as_ref().and_then(compare::content), block_b.as_ref().and_then(compare::content)];
        if pair.a.is_none() || pair.b.is_none() {
            return Outcome::Differs(changes, hashes);
        }
        let (Some(block_a), Some(block_b)) = (block_a, block_b) else { return Outcome::Differs(changes, [None, None]) };
        let mut change = compare::change(&block_a, &block_b, &self.options.channels, self.options.list);
        change.instances = instances;
        if change.is_empty() {
            return Outcome::Same;
        }
        changes.push(What::Changed(change));
        Outcome::Differs(changes, hashes)
    }

    /// Whether a block of the first save has the same content as one of the second.
    fn is_same_content(&self, from: &At, to: &At) -> bool {
        let mut buffers = Buffers::default();
        let (Ok(a), Ok(b)) = (self.a.read(from, &mut buffers.a), self.b.read(to, &mut buffers.b)) else { return false };
        let (Some(a), Some(b)) = (&a.block, &b.block) else { return false };
        a.size == b.size && compare::change(a, b, &[], 0).is_empty()
    }
}

/// The instances that belong to a block whose row is in `row`. With keys of the old rule they may be in another row, which
/// is read into `apart`; those of its own row belong to another block then.
fn own_instances<'b>(
    world: &World<'_>,
    index: &Index,
    at: &At,
    row: &'b Buffer,
    apart: &'b mut Buffer,
) -> Option<&'b [u8]> {
    let of_row = if world.instances_are_of_another(at) { None } else { world.instances(row) };
    of_row.or_else(|| {
        let bare = index.find_bare(at.position)?;
        world.fetch(bare, apart).ok()?;
        world.instances(apart)
    })
}

/// Whether the instances that belong to a block have at least one layer.
fn has_layers(world: &World<'_>, index: &Index, at: &At, row: &mut Buffer, apart: &mut Buffer) -> bool {
    if !world.instances_are_of_another(at) && world.instances(row).is_some() {
        return world.are_instances(row);
    }
    index.find_bare(at.position).is_some_and(|bare| world.fetch(bare, apart).is_ok() && world.are_instances(apart))
}

/// The block of a view; a block that cannot be compared is reported in `changes`.
fn readable<'v>(world: &World<'_>, view: Option<View<'v>>, side: Side, changes: &mut Vec<What>) -> Option<Block<'v>> {
    let view = view?;
    match unreadable(&view, world.block_size()) {
        None => view.block,
        Some(why) => {
            changes.push(What::Unreadable { side, why, other: None });
            None
        }
    }
}

/// Both indexes, side by side.
fn pairs<'i>(a: &'i [At], b: &'i [At]) -> impl Iterator<Item = Pair> + 'i {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    std::iter::from_fn(move || {
        let first = match (a.peek(), b.peek()) {
            (None, None) => return None,
            (Some(at), None) | (None, Some(at)) => order(at.position),
            (Some(one), Some(other)) => order(one.position).min(order(other.position)),
        };
        let here = |at: &&At| order(at.position) == first;
        Some(Pair { a: a.next_if(here).copied(), b: b.next_if(here).copied() })
    })
}
