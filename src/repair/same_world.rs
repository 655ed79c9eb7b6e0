//! Whether a backup is of the same world: it has contents that the save has too.

use std::collections::HashSet;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use crate::repair::backup::Owners;
use crate::save::{Forest, Save, Scratch, View};

/// Blocks of a forest that are looked for in the backup.
const MOST: usize = 256;

/// Blocks below which nothing is said.
const LEAST: usize = 5;

/// Blocks from which on a backup that has none of them is of another world.
const MANY: usize = 32;

/// A backup of the same world has at least one of so many blocks.
const ONE_OF: usize = 20;

/// Blocks of a save, no two of one content, that were looked for in its backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// Blocks that were looked for.
    pub blocks: usize,
    /// Those of them that the backup has, wherever.
    pub same: usize,
}

/// The hash of the content of a block; `None` if it cannot be read completely.
pub(super) fn hash_content(view: &View<'_>) -> Option<u128> {
    let container = view.container.as_ref().filter(|container| container.whole && view.is_readable())?;
    Some(xxh3_128(container.plain))
}

impl Compared {
    /// Whether the backup may be of another world.
    #[must_use]
    pub const fn is_strange(self) -> bool {
        self.blocks >= LEAST && self.same * ONE_OF < self.blocks
    }

    /// Whether the backup is of another world beyond doubt: it has none of many blocks. Nothing is taken from it then.
    #[must_use]
    pub const fn is_of_another_world(self) -> bool {
        self.blocks >= MANY && self.same == 0
    }

    pub(super) const fn add(&mut self, other: Self) {
        self.blocks = self.blocks.saturating_add(other.blocks);
        self.same = self.same.saturating_add(other.same);
    }

    /// Looks for blocks of all files of a forest in its backup. Ignores contents that the backup has several times,
    /// such as air: any world has them.
    pub(super) fn new(save: &Save, forest: &Forest, owners: &Owners) -> Self {
        let mut scratch = Scratch::default();
        let mut contents = HashSet::new();
        let each = MOST.div_ceil(forest.regions.len().max(1));
        let step = forest.regions.len().div_ceil(MOST).max(1);
        for file in forest.regions.iter().step_by(step) {
            // What cannot be read is reported where it is repaired.
            let Ok(Some(region)) = save.region(forest, file) else { continue };
            let step = region.entries.len().div_ceil(each).max(1);
            for listed in region.entries.iter().step_by(step) {
                let Ok(view) = region.view(listed.entry, &mut scratch) else { continue };
                contents.extend(hash_content(&view));
            }
        }
        let mut compared = Self::default();
        for content in contents {
            match owners.get(&content) {
                Some(None) => continue,
                Some(Some(_)) => compared.same += 1,
                None => {}
            }
            compared.blocks += 1;
        }
        compared
    }
}
