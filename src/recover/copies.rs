//! Finds region files that are copies of others: the same blocks in the same slots, so that one of the two files is not what the game
//! saved.
//!
//! Worlds may repeat themselves. So nothing is reported if the borders and other LODs of all files with the same blocks fit, or if
//! much of a save is like the rest of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::recover::likeness::Joint;
use crate::recover::names::{Named, Table};
use crate::recover::weights::COPY;

/// The blocks of a region file that show something, in their slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    sum: u64,
    blocks: BTreeSet<u64>,
    /// The bytes of their sectors.
    bytes: u64,
}

impl Content {
    /// Adds a block that shows something, with the hash of its stored bytes and the size of its sectors.
    pub fn add(&mut self, slot: u32, hash: u64, bytes: u64) {
        let mixed = (hash ^ u64::from(slot).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        self.sum = self.sum.wrapping_add(mixed ^ mixed >> 29);
        if self.blocks.len() < COPY.blocks && self.blocks.insert(hash) {
            self.bytes = self.bytes.saturating_add(bytes);
        }
    }

    /// A number that only files with the same blocks have; `None` if few of them differ and these are small.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        (self.blocks.len() >= COPY.blocks || self.bytes >= COPY.bytes).then_some(self.sum)
    }
}

/// A region file with the blocks of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Its index.
    pub file: usize,
    /// The index of the other file.
    pub other: usize,
    /// Whether the blocks belong to the place of the other file: its borders or other LODs fit there, and not here.
    pub is_of_other: bool,
    /// Whether they contradict the place of this file for certain.
    pub is_contradicted: bool,
}

/// Files with the same content.
pub(crate) struct Same {
    /// Their groups, without those of so many files that they are a pattern.
    pub groups: Vec<Vec<usize>>,
    /// Whether so many of all files are like others that the world may repeat itself. One pair of files beside others shows no
    /// pattern, however few the others are.
    pub repeats: bool,
}

impl Same {
    /// Groups files by the numbers of their contents; there are `all` files.
    pub fn group(contents: impl IntoIterator<Item = (usize, u64)>, all: usize) -> Self {
        let mut same: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        contents.into_iter().for_each(|(file, content)| same.entry(content).or_default().push(file));
        same.retain(|_, files| files.len() > 1);
        let repeated: usize = same.values().map(Vec::len).sum();
        let is_one_pair = repeated == 2 && all > 2;
        let groups = same.into_values().filter(|files| files.len() <= COPY.files).collect();
        Self { groups, repeats: repeated * COPY.share > all && !is_one_pair }
    }
}

/// Finds the files with the blocks of others, in their order.
#[must_use]
pub fn copied(files: &[Named<'_>]) -> Vec<Copied> {
    let contents = || files.iter().enumerate().filter_map(|(i, file)| Some((i, file.screened.content?)));
    let same = Same::group(contents(), contents().count());
    if same.groups.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(files);
    let mut found = Vec::new();
    for group in &same.groups {
        // What supports the place of each of them, and what contradicts it. What they show of each other says nothing.
        let weights: Vec<(f64, f64)> = group.iter().map(|&file| weigh(&table.joints_of(file, group))).collect();
        let is_supported = |&(support, against): &(f64, f64)| support > 0.0 && against * COPY.against <= support;
        let is_contradicted = |&(support, against): &(f64, f64)| against > support;
        let is_repeated = same.repeats && !weights.iter().any(is_contradicted);
        if is_repeated || weights.iter().all(is_supported) {
            continue;
        }
        let right = weights.iter().position(is_supported);
        for (k, &file) in group.iter().enumerate().filter(|(k, _)| right != Some(*k)) {
            let other = right.unwrap_or(usize::from(k == 0));
            let is_of_other = right.is_some() && !is_supported(&weights[k]);
            let is_contradicted = is_of_other && weights[k].1 >= COPY.sure && is_contradicted(&weights[k]);
            found.push(Copied { file, other: group[other], is_of_other, is_contradicted });
        }
    }
    found.sort_unstable_by_key(|found| found.file);
    found
}

/// What supports a place, and what contradicts it.
fn weigh(joints: &[Joint]) -> (f64, f64) {
    joints.iter().fold((0.0, 0.0), |(support, against), joint| {
        (support + joint.weight.max(0.0), against - joint.weight.min(0.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_blocks_in_the_same_slots_have_the_same_number() {
        let number = |blocks: &[(u32, u64)]| {
            let mut content = Content::default();
            blocks.iter().for_each(|&(slot, hash)| content.add(slot, hash, 512));
            content.number()
        };
        let all = [(1, 11), (2, 12), (3, 13), (4, 14)];
        let [a, b, c, d] = all;
        assert_eq!(number(&all), number(&[d, b, a, c]), "in any order");
        assert!(number(&all).is_some());
        assert_ne!(number(&all), number(&[(1, 12), (2, 11), c, d]), "in other slots");
        assert_eq!(number(&[a, b, c]), None, "too few");
        assert_eq!(number(&[(1, 11), (2, 11), (3, 11), (4, 11), (5, 11)]), None, "a flat world");
        let mut large = Content::default();
        large.add(1, 11, 20_000);
        assert!(large.number().is_some(), "so many bytes are not equal by chance");
    }
}
