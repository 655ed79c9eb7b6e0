//! The byte order of blocks that show none, inferred from other blocks of their file, or of their save.
//!
//! A few blocks of a file are read for it, once, when the file is opened. Two little-endian blocks settle it, so that a healthy
//! save costs next to nothing.

use std::sync::OnceLock;

use crate::damage::Code;
use crate::godot::byte_order::{ByteOrder, has_order};
use crate::godot::byte_order_votes::Votes;
use crate::godot::channel::Depth;
use crate::godot::region::Header;
use crate::limits::Limits;
use crate::save::{Forest, Region, RegionFile, Save, Scratch, View};
use crate::source::Source;

/// Places in a file, evenly spread, at which a block is read.
const PLACES: usize = 64;
/// The next place, as a step that reaches all of them: neighbours in a file were often saved together.
const STEP: usize = 27;

/// Blocks with raw values of more than 8 bits that are read, whether they show an order or not, unless types alone show one.
const BLOCKS: u32 = 16;

/// Stored bytes of a block that is read, and decompressed bytes of all of them.
pub(super) const MOST_STORED: u64 = 1 << 20;
const MOST_PLAIN: u64 = 16 << 20;

/// Files, evenly spread, whose blocks stand for those of a forest.
const FILES: usize = 32;

/// What the blocks of a region file show, and the header with their order if they are big-endian.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderOfFile {
    votes: OnceLock<Votes>,
    /// Boxed, since hardly any save is big-endian.
    header: OnceLock<Box<Header>>,
}

/// The votes of a sample of blocks, as long as more are needed.
pub(super) struct Sample {
    pub votes: Votes,
    blocks: u32,
    plain: u64,
}

impl Sample {
    pub fn new() -> Self {
        Self { votes: Votes::default(), blocks: 0, plain: 0 }
    }

    /// Caps for the blocks of a sample.
    pub fn limits(limits: &Limits) -> Limits {
        Limits { block_bytes: limits.block_bytes.min(MOST_PLAIN), ..*limits }
    }

    /// The items to read, one after the other, until the sample [is complete](Self::is_complete).
    pub fn pick<T>(items: &[T]) -> impl Iterator<Item = &T> {
        Self::pick_of(items.len()).filter_map(|n| items.get(n))
    }

    /// The same of so many items, by their numbers.
    pub fn pick_of(items: usize) -> impl Iterator<Item = usize> {
        let places = PLACES.min(items);
        let step = if places < PLACES { 1 } else { STEP };
        (0..places).filter_map(move |n| {
            let place = n.saturating_mul(step).checked_rem(places)?;
            place.saturating_mul(items).checked_div(places)
        })
    }

    /// Whether more blocks need not be read. Types alone are checked at all places.
    pub fn is_complete(&self) -> bool {
        let are_read = self.blocks >= BLOCKS && !self.votes.are_big_by_types();
        self.votes.are_enough() || are_read || self.plain >= MOST_PLAIN
    }

    /// Counts a block that was read as little-endian unless it shows otherwise.
    pub fn add(&mut self, view: &View<'_>) {
        self.plain =
            self.plain.saturating_add(view.container.map_or(0, |container| crate::bytes::len64(container.plain)));
        let Some(block) = view.block.as_ref().filter(|block| view.is_readable() && block.epilogue.is_some()) else {
            return;
        };
        self.blocks = self.blocks.saturating_add(u32::from(has_order(block)));
        if view.damage.iter().any(|damage| damage.code == Code::BlockByteOrder) {
            self.votes.add(ByteOrder::Big);
        } else {
            self.votes.add_block(block);
        }
    }
}

impl Save {
    /// The header of a region file, with the byte order that its blocks have if they show none themselves.
    #[must_use]
    pub fn header<'f>(&self, forest: &Forest, file: &'f RegionFile) -> Option<&'f Header> {
        let header = file.header.as_ref()?;
        Some(match self.byte_order(forest, file) {
            ByteOrder::Little => header,
            order @ ByteOrder::Big => {
                file.order.header.get_or_init(|| Box::new(Header { byte_order: order, ..header.clone() }))
            }
        })
    }

    /// The byte order of blocks of a region file that show none themselves: that of its other blocks; that of other files of the
    /// forest, if those show none either.
    #[must_use]
    pub fn byte_order(&self, forest: &Forest, file: &RegionFile) -> ByteOrder {
        self.order_with(forest, file, || self.votes(forest, file))
    }

    /// The same for a file that is open.
    pub(super) fn byte_order_of_open<S: Source>(
        &self,
        forest: &Forest,
        file: &RegionFile,
        region: &Region<S>,
    ) -> ByteOrder {
        self.order_with(forest, file, || file.order.votes.get_or_init(|| sample(region)))
    }

    fn order_with<'f>(&self, forest: &Forest, file: &RegionFile, votes: impl FnOnce() -> &'f Votes) -> ByteOrder {
        let own = match &file.header {
            Some(header) if !may_have_order(header) => return ByteOrder::Little,
            // The only block of a file cannot show the order of another one, and types of one file do not show that no other
            // file contradicts them.
            Some(header) if !header.is_single_block() => Some(votes()).filter(|v| !v.are_big_by_types()),
            _ => None,
        };
        let own = own.and_then(Votes::order);
        own.or_else(|| self.votes_of_forest(forest).order()).unwrap_or_default()
    }

    /// What the blocks of a file show; nothing if it cannot be read.
    fn votes<'f>(&self, forest: &Forest, file: &'f RegionFile) -> &'f Votes {
        file.order.votes.get_or_init(|| match self.open_region_file(forest, file) {
            Ok(Some(region)) => sample(&region),
            _ => Votes::default(),
        })
    }

    /// What the files of a forest show. They are read by one thread: one that waits for others here could be given work of
    /// another file, which would wait for this.
    fn votes_of_forest<'f>(&self, forest: &'f Forest) -> &'f Votes {
        forest.order.get_or_init(|| {
            let mut votes = Votes::default();
            let step = forest.regions.len().div_ceil(FILES).max(1);
            for file in forest.regions.iter().step_by(step) {
                if file.header.as_ref().is_some_and(may_have_order) {
                    votes.add_file(self.votes(forest, file));
                }
                if votes.are_enough() {
                    break;
                }
            }
            votes
        })
    }
}

/// Whether blocks may have values of more than 8 bits. A block file does not store its depths.
fn may_have_order(header: &Header) -> bool {
    header.is_single_block() || header.format.depths.iter().any(|depth| *depth > Depth::Bits8)
}

fn sample<S: Source>(region: &Region<S>) -> Votes {
    let (mut sample, mut scratch) = (Sample::new(), Scratch::default());
    let limits = Sample::limits(&region.limits);
    for listed in Sample::pick(&region.entries) {
        let span = region.span(listed.entry);
        if span.len() > MOST_STORED || scratch.read(&region.source, span, &limits).is_err() {
            continue;
        }
        sample.add(&scratch.interpret(&region.header, Some(listed.entry), &limits));
        if sample.is_complete() {
            break;
        }
    }
    sample.votes
}
