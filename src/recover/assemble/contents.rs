//! Blocks of equal voxels, which are interchangeable.

use std::collections::HashMap;

use crate::recover::assemble::board::Board;
use crate::recover::assemble::growth::Growth;

/// Blocks of equal voxels: the hash of these, and the blocks by their index among the unowned ones.
pub(super) type Content = (u128, Vec<usize>);

impl Growth {
    /// Unowned blocks of a region by content, in the order of the first block of each.
    pub fn group_by_content(&self, board: &Board<'_>, r: usize, blocks: impl Iterator<Item = usize>) -> Vec<Content> {
        let mut index: HashMap<u128, usize> = HashMap::new();
        let mut contents: Vec<Content> = Vec::new();
        for i in blocks {
            let voxels = board.cases[r].voxels(self.loose[r][i].block);
            let at = *index.entry(voxels).or_insert_with(|| {
                contents.push((voxels, Vec::new()));
                contents.len() - 1
            });
            contents[at].1.push(i);
        }
        contents
    }
}
