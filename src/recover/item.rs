//! The sectors of a walk as a row of blocks, with the holes between them.

use crate::godot::region::MOST_SECTORS;
use crate::recover::walk::Walk;

/// One place in the sequence of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// First sector.
    pub first: u32,
    /// Sectors.
    pub count: u32,
    /// Index of the whole block that is there; `None` for one that is torn.
    pub block: Option<usize>,
}

/// A hole: sectors without a whole block.
#[derive(Clone, Copy, Debug)]
pub struct Hole {
    /// First sector.
    pub first: u32,
    /// The sector after its last.
    pub end: u32,
    /// The index of the block behind it.
    pub next: usize,
}

impl Hole {
    /// Sectors.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.end - self.first
    }
}

/// The holes of a walk, up to the end of the file.
#[must_use]
pub fn holes(walk: &Walk) -> Vec<Hole> {
    let mut holes = Vec::new();
    let mut at = 0;
    for (next, block) in walk.blocks.iter().enumerate() {
        if block.first > at {
            holes.push(Hole { first: at, end: block.first, next });
        }
        at = block.end();
    }
    if walk.sectors > at {
        holes.push(Hole { first: at, end: walk.sectors, next: walk.blocks.len() });
    }
    holes
}

/// Whether a table entry can have so many sectors.
#[must_use]
pub fn fits_entry(sectors: u32) -> bool {
    u64::from(sectors) <= MOST_SECTORS
}
