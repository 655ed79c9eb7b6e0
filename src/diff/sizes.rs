//! Compares saves with different block sizes: larger blocks are cut into parts of the smaller size.
//!
//! All smaller blocks inside one larger block are compared together, so that the larger one is decoded once.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::compare::{BlockChange, ChannelChange, change};
use super::{Buffers, Change, Compared, Side, Summary, What, readable};
use crate::axes;
use crate::godot::block::Block;
use crate::godot::channel::{CHANNELS, Depth};
use crate::godot::metadata::{Item, Metadata, VoxelItem};
use crate::parallel;
use crate::printable::triple;
use crate::resize::{Cube, Fill};
use crate::watch::Step;
use crate::world::{At, Buffer, Index, World, order};

/// Smaller blocks that may be compared before their changes are handed on.
const WINDOW: usize = 2048;

/// Which save has the larger blocks, and how many smaller blocks fit along each axis.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    large: Side,
    n: u16,
    /// Voxels along each axis of a smaller block.
    small: u16,
}

/// A larger block and the smaller blocks inside it.
struct Unit<'i> {
    place: [i32; 3],
    large: Option<At>,
    small: &'i [At],
}

/// The result of comparing it.
#[derive(Default)]
struct Outcome {
    changes: Vec<([i32; 3], u16, What)>,
    same: u64,
    holes: u64,
}

impl Sizes {
    /// `None` if neither size is a multiple of the other.
    pub fn new(a: u16, b: u16) -> Option<Self> {
        let (large, big, small) = if a > b { (Side::A, a, b) } else { (Side::B, b, a) };
        (big.checked_rem(small) == Some(0)).then(|| Self { large, n: big / small, small })
    }

    /// Compares a LOD; passes on differences in the order of the larger blocks.
    pub fn lod(
        self,
        compared: &Compared<'_>,
        ia: &Index,
        ib: &Index,
        summary: &mut Summary,
        sink: &mut impl FnMut(Change),
    ) {
        let (large, small) = if self.large == Side::A { (ia, ib) } else { (ib, ia) };
        let mut sorted = small.blocks.clone();
        sorted.sort_by_key(|at| (order(self.containing_block(at)), order(at.position)));
        let all = usize::from(self.n).pow(3);
        let units: Vec<Unit<'_>> = self.units(&large.blocks, &sorted).collect();
        let world = if self.large == Side::A { compared.b } else { compared.a };
        let in_part = |unit: &Unit<'_>| unit.large.is_some() && !unit.small.is_empty() && unit.small.len() < all;
        let fill = if units.iter().any(in_part) {
            Fill::measure(world, small, &compared.options.watch)
        } else {
            Fill::default()
        };
        let mut instances = self.instances(compared, ia.lod);
        let places = units.iter().filter(|unit| unit.large.is_some() || !unit.small.is_empty()).map(|unit| unit.place);
        let in_units: Vec<[i32; 3]> = places.filter(|place| instances.remove(place)).collect();
        let differing: HashSet<[i32; 3]> = in_units.into_iter().collect();
        let watch = &compared.options.watch;
        let mut left = ia.blocks.len().max(ib.blocks.len()) as u64;
        watch.begin(Step::Comparing, left);
        for window in units.chunks((WINDOW / all).max(2)) {
            let outcomes = parallel::map_with(window, |buffers: &mut Buffers, unit| {
                if watch.is_cancelled() {
                    return Outcome::default();
                }
                Comparing { sizes: self, lod: ia.lod, compared, fill: &fill, instances: &differing }.unit(unit, buffers)
            });
            for Outcome { changes, same, holes } in outcomes {
                summary.same += same;
                summary.holes += holes;
                for (position, across, what) in changes {
                    summary.count(&what);
                    sink(Change { lod: ia.lod, position, across, what });
                }
            }
            let more = window.iter().map(|unit| unit.small.len().max(1) as u64).sum::<u64>().min(left);
            left -= more;
            watch.advance(more);
            if watch.is_cancelled() {
                return;
            }
        }
        // Places that have instances and no voxels.
        let mut bare: Vec<[i32; 3]> = instances.into_iter().collect();
        bare.sort_by_key(|place| order(*place));
        for place in bare {
            let (position, across) = self.reported(place);
            let what = What::Changed(BlockChange { instances: true, ..BlockChange::default() });
            summary.count(&what);
            sink(Change { lod: ia.lod, position, across, what });
        }
    }

    /// Positions of larger blocks in which the two saves have different numbers of instances, by kind. Data that cannot be
    /// read completely differs from all that can.
    fn instances(self, compared: &Compared<'_>, lod: u8) -> HashSet<[i32; 3]> {
        type Counts = HashMap<[i32; 3], Option<BTreeMap<u16, u64>>>;
        let count = |world: &World<'_>, side: Side| -> Counts {
            let mut counts = Counts::new();
            let mut buffer = Buffer::default();
            for at in world.rows_with_instances(lod) {
                if compared.options.watch.is_cancelled() {
                    break;
                }
                let of_row = match world.fetch(&at, &mut buffer) {
                    Ok(()) => world.count_instances(&mut buffer),
                    Err(_) => None,
                };
                if of_row.as_ref().is_some_and(BTreeMap::is_empty) {
                    continue;
                }
                let place = if side == self.large { at.position } else { self.containing_block(&at) };
                let all = counts.entry(place).or_insert_with(|| Some(BTreeMap::new()));
                *all = match (all.take(), of_row) {
                    (Some(mut all), Some(of_row)) => {
                        of_row.into_iter().for_each(|(id, n)| *all.entry(id).or_default() += n);
                        Some(all)
                    }
                    _ => None,
                };
            }
            counts
        };
        let (a, b) = (count(compared.a, Side::A), count(compared.b, Side::B));
        let places: HashSet<[i32; 3]> = a.keys().chain(b.keys()).copied().collect();
        places.into_iter().filter(|place| a.get(place) != b.get(place)).collect()
    }

    /// The position in the first save under which a larger block is reported, and how many positions it takes there.
    fn reported(self, place: [i32; 3]) -> ([i32; 3], u16) {
        match self.large {
            Side::A => (place, 1),
            Side::B => (place.map(|v| v.saturating_mul(self.n.into())), self.n),
        }
    }

    /// The first and the last position of the smaller blocks in a larger one.
    fn small_blocks(self, place: [i32; 3]) -> [[i32; 3]; 2] {
        let first = place.map(|v| v.saturating_mul(self.n.into()));
        [first, first.map(|v| v.saturating_add(i32::from(self.n) - 1))]
    }

    /// The position of the smaller block at a corner of a larger one.
    fn small_position(self, place: [i32; 3], corner: [u16; 3]) -> [i32; 3] {
        let [first, _] = self.small_blocks(place);
        axes::combine(first, corner, |n, at| n.saturating_add(i32::from(at / self.small.max(1))))
    }

    /// Position of the larger block that contains a smaller one.
    fn containing_block(self, at: &At) -> [i32; 3] {
        at.position.map(|v| v.div_euclid(self.n.into()))
    }

    /// The corner of a smaller block in the larger one, in voxels.
    fn corner(self, position: [i32; 3]) -> [u16; 3] {
        position.map(|v| u16::try_from(v.rem_euclid(self.n.into())).unwrap_or(0).saturating_mul(self.small))
    }

    /// Both lists, side by side.
    fn units<'i>(self, large: &'i [At], small: &'i [At]) -> impl Iterator<Item = Unit<'i>> + 'i {
        let mut large = large.iter().peekable();
        let mut small = small.chunk_by(move |a, b| self.containing_block(a) == self.containing_block(b)).peekable();
        std::iter::from_fn(move || {
            let own = large.peek().map(|at| at.position);
            let theirs = small.peek().and_then(|of| of.first()).map(|at| self.containing_block(at));
            let place = match (own, theirs) {
                (None, None) => return None,
                (Some(place), None) | (None, Some(place)) => place,
                (Some(one), Some(other)) if order(one) <= order(other) => one,
                (_, Some(other)) => other,
            };
            Some(Unit {
                place,
                large: large.next_if(|at| at.position == place).copied(),
                small: small
                    .next_if(|of| of.first().is_some_and(|at| self.containing_block(at) == place))
                    .unwrap_or_default(),
            })
        })
    }
}

struct Comparing<'c> {
    sizes: Sizes,
    lod: u8,
    compared: &'c Compared<'c>,
    fill: &'c Fill,
    /// Positions of larger blocks whose instances differ.
    instances: &'c HashSet<[i32; 3]>,
}

impl Comparing<'_> {
    fn unit(&self, unit: &Unit<'_>, buffers: &mut Buffers) -> Outcome {
        let Sizes { large: side, .. } = self.sizes;
        let mut outcome = Outcome::default();
        let (whole, across) = self.sizes.reported(unit.place);
        let Compared { a, b, .. } = self.compared;
        let (world, other, theirs) = if side == Side::A { (a, b, Side::B) } else { (b, a, Side::A) };
        let Buffers { a: one, b: two, .. } = buffers;
        let Some(large) = &unit.large else {
            // Where a file was not read, nothing says that the block is missing.
            let unread = unread_at(world, side, self.lod, [unit.place; 2]);
            let mut readable = true;
            for at in unit.small {
                let place = if side == Side::A { whole } else { at.position };
                match block(other, at, two, theirs) {
                    Err(what) => {
                        readable = false;
                        outcome.changes.push((place, 1, what));
                    }
                    Ok(_) if side == Side::B => {
                        outcome.changes.push((place, 1, unread.clone().unwrap_or(What::Removed)));
                    }
                    Ok(_) => {}
                }
            }
            if side == Side::A && readable {
                outcome.changes.push((whole, 1, unread.unwrap_or(What::Added)));
            }
            return outcome;
        };
        if unit.small.is_empty() {
            let what = if side == Side::A { What::Removed } else { What::Added };
            let unread = || unread_at(other, theirs, self.lod, self.sizes.small_blocks(unit.place));
            let what = block(world, large, one, side).map_or_else(|what| what, |_| unread().unwrap_or(what));
            outcome.changes.push((whole, across, what));
            return outcome;
        }
        match block(world, large, one, side) {
            Ok(block) => self.parts(block, unit, other, two, (whole, across), &mut outcome),
            Err(what) if side == Side::A => outcome.changes.push((whole, 1, what)),
            Err(what) => outcome.changes.extend(unit.small.iter().map(|at| (at.position, 1, what.clone()))),
        }
        outcome
    }

    /// Compares a larger block with the smaller ones inside it.
    fn parts(
        &self,
        mut large: Block<'_>,
        unit: &Unit<'_>,
        world: &World<'_>,
        buffer: &mut Buffer,
        (whole, across): ([i32; 3], u16),
        outcome: &mut Outcome,
    ) {
        let Sizes { large: side, n, small } = self.sizes;
        let mut parts = ItemsByPart::split(large.metadata.take(), small);
        let mut uniform = Vec::new();
        // Differences of the larger block as a whole, and of smaller blocks that are missing.
        let (mut all, mut unread) = (BlockChange::default(), false);
        all.instances = self.instances.contains(&unit.place);
        for at in unit.small {
            let corner = self.sizes.corner(at.position);
            let part = Cube::cut(&large, corner.map(usize::from), small);
            let part = parts.attach_items(corner, Block { version: large.version, ..part.block(&mut uniform) });
            match block(world, at, buffer, side.other()) {
                Ok(other) if side == Side::A => {
                    self.merge(&mut all, corner, self.change(&part, &other));
                }
                Ok(other) => match self.change(&other, &part) {
                    change if change.is_empty() => outcome.same += 1,
                    change => outcome.changes.push((at.position, 1, What::Changed(change))),
                },
                Err(What::Unreadable { side: Side::B, why, .. }) => {
                    unread = true;
                    let why = format!("block {}: {why}", triple(at.position));
                    outcome.changes.push((whole, 1, What::Unreadable { side: Side::B, why, other: None }));
                }
                Err(what) => outcome.changes.push((at.position, 1, what)),
            }
        }
        if unit.small.len() < usize::from(n).pow(3) {
            let there: HashSet<[u16; 3]> = unit.small.iter().map(|at| self.sizes.corner(at.position)).collect();
            let mut depths = [Depth::Bits8; CHANNELS];
            for (depth, channel) in depths.iter_mut().zip(&large.channels) {
                *depth = channel.depth;
            }
            let nothing = Cube::filled(small, depths, self.fill);
            let mut filled = Vec::new();
            let nothing = nothing.block(&mut filled);
            let step = |i: u16| i.saturating_mul(small);
            let theirs = side.other();
            let may_be_unread = unread_at(world, theirs, self.lod, self.sizes.small_blocks(unit.place)).is_some();
            for corner in (0..n).flat_map(|z| (0..n).flat_map(move |x| (0..n).map(move |y| [x, y, z].map(step)))) {
                if there.contains(&corner) {
                    continue;
                }
                let position = self.sizes.small_position(unit.place, corner);
                let missing = if may_be_unread { unread_at(world, theirs, self.lod, [position; 2]) } else { None };
                if let Some(what) = missing {
                    unread = true;
                    outcome.changes.push((if side == Side::A { whole } else { position }, 1, what));
                    continue;
                }
                outcome.holes += 1;
                let part = Cube::cut(&large, corner.map(usize::from), small);
                let part = parts.attach_items(corner, Block { version: large.version, ..part.block(&mut uniform) });
                let change = if side == Side::A { self.change(&part, &nothing) } else { self.change(&nothing, &part) };
                self.merge(&mut all, corner, change);
            }
        }
        if !all.is_empty() {
            outcome.changes.push((whole, across, What::Changed(all)));
        } else if side == Side::A && !unread {
            outcome.same += 1;
        }
    }

    fn change(&self, a: &Block<'_>, b: &Block<'_>) -> BlockChange {
        change(a, b, &self.compared.options.channels, self.compared.options.list)
    }

    /// Adds the differences of a part to those of the whole.
    fn merge(&self, all: &mut BlockChange, corner: [u16; 3], part: BlockChange) {
        let inside = |v: [u16; 3]| axes::combine(v, corner, u16::saturating_add);
        all.voxels += part.voxels;
        if let Some(bounds) = part.bounds {
            let [low, high] = bounds.map(inside);
            let [first, last] = all.bounds.unwrap_or([low, high]);
            all.bounds = Some([axes::combine(first, low, u16::min), axes::combine(last, high, u16::max)]);
        }
        for ChannelChange { channel, voxels } in part.channels {
            match all.channels.iter_mut().find(|of| of.channel == channel) {
                Some(of) => of.voxels += voxels,
                None => all.channels.push(ChannelChange { channel, voxels }),
            }
        }
        all.channels.sort_by_key(|of| of.channel);
        // A list is complete or empty.
        if all.voxels <= self.compared.options.list as u64 {
            all.list.extend(part.list.into_iter().map(|mut voxel| {
                voxel.position = inside(voxel.position);
                voxel
            }));
            all.list.sort_by_key(|v| (v.position[2], v.position[0], v.position[1], v.channel));
        } else {
            all.list = Vec::new();
        }
        all.metadata.extend(part.metadata.into_iter().map(|mut metadata| {
            metadata.voxel = metadata.voxel.map(inside);
            metadata
        }));
    }
}

/// The metadata items of a larger block, by part.
struct ItemsByPart<'m> {
    whole: Option<Metadata<'m>>,
    voxels: HashMap<[u16; 3], Vec<VoxelItem<'m>>>,
}

impl<'m> ItemsByPart<'m> {
    fn split(mut metadata: Option<Metadata<'m>>, side: u16) -> Self {
        let mut voxels: HashMap<[u16; 3], Vec<VoxelItem<'m>>> = HashMap::new();
        for mut voxel in metadata.iter_mut().flat_map(|metadata| metadata.voxels.drain(..)) {
            let inside = voxel.position.map(|v| v % side.max(1));
            let corner = axes::combine(voxel.position, inside, |n, inside| n - inside);
            voxel.position = inside;
            voxels.entry(corner).or_default().push(voxel);
        }
        Self { whole: metadata, voxels }
    }

    /// Adds its items to a part; the block's own item goes to the part at the block's corner.
    fn attach_items<'b>(&mut self, corner: [u16; 3], part: Block<'b>) -> Block<'b>
    where
        'm: 'b,
    {
        let voxels = self.voxels.remove(&corner).unwrap_or_default();
        let metadata = self.whole.as_mut().map(|whole| Metadata {
            declared: 0,
            dialect: whole.dialect,
            block: if corner == [0; 3] { whole.block.take() } else { Some(Item::Empty) },
            voxels,
            unread: (0, &[]),
        });
        Block { metadata, ..part }
    }
}

/// What was not read of a save and may hold a block that its index does not have, at one of the positions from the first to
/// the last.
fn unread_at(world: &World<'_>, side: Side, lod: u8, positions: [[i32; 3]; 2]) -> Option<What> {
    let fault = world.may_be_unread_in(lod, positions)?;
    Some(What::Unreadable { side, why: format!("{}: {}", fault.file, fault.why), other: None })
}

/// Reads a block, or says why it cannot be compared.
fn block<'b>(world: &World<'_>, at: &At, buffer: &'b mut Buffer, side: Side) -> Result<Block<'b>, What> {
    let view =
        world.read(at, buffer).map_err(|error| What::Unreadable { side, why: error.to_string(), other: None })?;
    let mut changes = Vec::new();
    let block = readable(world, Some(view), side, &mut changes);
    let unread = || What::Unreadable { side, why: "it cannot be read".to_owned(), other: None };
    block.ok_or_else(|| changes.pop().unwrap_or_else(unread))
}
