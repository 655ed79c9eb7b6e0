//! Whether a table explains its region at one look: by the hashes of its blocks as they are stored, without a walk.
//!
//! Where the whole blocks of the table follow each other from the first sector to the end of the file, a walk would find
//! just these. What it could say beyond that is that something is there twice, because the game was killed while it
//! moved sectors; where that cannot be ruled out, one look is not enough.

use std::collections::{BTreeSet, HashMap};

use xxhash_rust::xxh3::xxh3_64;

/// A block as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Print {
    /// Hash of its first sector, as far as it is its own.
    pub head: u64,
    /// Hash of all of it.
    pub all: u64,
}

impl Print {
    /// That of a block: its size prefix and its container.
    #[must_use]
    pub fn new(stored: &[u8], sector_size: u32) -> Self {
        let head = stored.get(..sector_size as usize).unwrap_or(stored);
        Self { head: xxh3_64(head), all: xxh3_64(stored) }
    }
}

/// What one look says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Glance {
    /// The table does not explain the sectors, or that cannot be inferred without a walk.
    #[default]
    Unclear,
    /// The table explains the sectors, but blocks that are the same are side by side: hashes of their first sectors, and
    /// how many there are of each in the region.
    Repeats(Vec<(u64, u32)>),
    /// The table explains the sectors.
    Explained,
}

/// Copies of a block in a save from which on it is common.
const COMMON: u32 = 4;

/// Which regions of a save are explained by what a look says of each. Where nothing is unclear, blocks that are common
/// are often side by side; where something is, that may be a sign of what happened.
#[must_use]
pub fn tables_match(glances: &[&Glance]) -> Vec<bool> {
    let mut copies: HashMap<u64, u32> = HashMap::new();
    for look in glances {
        if let Glance::Repeats(heads) = look {
            heads.iter().for_each(|(head, n)| *copies.entry(*head).or_default() += n);
        }
    }
    let common = |(head, _): &(u64, u32)| copies.get(head).is_some_and(|n| *n >= COMMON);
    let calm = glances.iter().all(|look| match look {
        Glance::Unclear => false,
        Glance::Repeats(heads) => heads.iter().all(common),
        Glance::Explained => true,
    });
    glances.iter().map(|look| calm || matches!(look, Glance::Explained)).collect()
}

/// Looks at whole blocks, given as first sectors, counts and prints in the order of their sectors, in a file of
/// `sectors` sectors.
#[must_use]
pub fn glance(blocks: &[(u32, u32, Print)], sectors: u64) -> Glance {
    let mut at = 0u32;
    let in_row = blocks.iter().all(|&(first, count, _)| {
        let here = first == at && count > 0;
        at = at.saturating_add(count);
        here
    });
    if in_row && u64::from(at) == sectors { repeats(blocks) } else { Glance::Unclear }
}

/// Whether two blocks within reach of a move, 255 sectors, are the same or begin the same.
fn repeats(blocks: &[(u32, u32, Print)]) -> Glance {
    let mut heads: HashMap<u64, (u32, u32)> = HashMap::with_capacity(blocks.len());
    let mut near = BTreeSet::new();
    for &(first, _, print) in blocks {
        let (last, copies) = heads.entry(print.head).or_insert((first, 0));
        if *copies > 0 && first.abs_diff(*last) <= 255 {
            near.insert(print.head);
        }
        (*last, *copies) = (first, *copies + 1);
    }
    if near.is_empty() {
        return Glance::Explained;
    }
    Glance::Repeats(near.into_iter().filter_map(|head| Some((head, heads.get(&head)?.1))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(of: &[(&[u8], u32)]) -> Vec<(u32, u32, Print)> {
        let mut at = 0;
        let each = |&(bytes, count): &(&[u8], u32)| {
            let first = at;
            at += count;
            (first, count, Print::new(bytes, 4))
        };
        of.iter().map(each).collect()
    }

    #[test]
    fn only_a_full_row_without_repeats_is_explained() {
        let row = blocks(&[(b"first block", 3), (b"2nd", 1), (b"3rd one", 2)]);
        assert_eq!(glance(&row, 6), Glance::Explained);
        assert_eq!(glance(&row, 7), Glance::Unclear, "something behind the last one");
        assert_eq!(glance(&row, 5), Glance::Unclear, "the last one is cut");
        assert_eq!(glance(&row[1..], 6), Glance::Unclear, "a gap");
        let repeats = |of: &[(&[u8], u32)], sectors| matches!(glance(&blocks(of), sectors), Glance::Repeats(_));
        assert!(repeats(&[(b"same", 1), (b"same", 1)], 2), "perhaps moved half-way");
        assert!(repeats(&[(b"same1", 2), (b"same2", 2)], 4), "perhaps overrun");
        let far = blocks(&[(b"same", 1), (b"long", 255), (b"same", 1)]);
        assert_eq!(glance(&far, 257), Glance::Explained, "too far for a move");
    }

    #[test]
    fn common_blocks_side_by_side_are_a_sign_only_where_something_else_is() {
        let (twice, often) = (glance(&blocks(&[(&b"one"[..], 1); 2]), 2), glance(&blocks(&[(&b"air"[..], 1); 4]), 4));
        assert_eq!(tables_match(&[&often, &Glance::Explained]), [true, true]);
        assert_eq!(tables_match(&[&twice, &often, &Glance::Explained]), [false, false, true]);
        assert_eq!(tables_match(&[&twice, &twice]), [true, true], "common in the save");
        assert_eq!(tables_match(&[&often, &Glance::Unclear, &Glance::Explained]), [false, false, true]);
    }
}
