//! Which rows of those whose blocks change places get another key.

use std::collections::{HashMap, HashSet};

/// The keys that get the block of another key, with that key. `moves` gives for each key that takes part the one whose block it gets, and
/// has each of them once on both sides. Blocks of the same bytes are interchangeable: a key that has the right bytes keeps its block, and
/// the block that it would have got goes to the key that would have got its own.
pub(super) fn settle(moves: &HashMap<usize, usize>, is_same: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let changed: HashSet<usize> = moves.iter().filter(|(to, from)| !is_same(**to, **from)).map(|(to, _)| *to).collect();
    let source = |to: usize| {
        let mut from = *moves.get(&to)?;
        for _ in 0..moves.len() {
            if changed.contains(&from) {
                return Some(from);
            }
            from = *moves.get(&from)?;
        }
        None
    };
    let mut settled: Vec<(usize, usize)> = changed.iter().filter_map(|&to| Some((to, source(to)?))).collect();
    settled.sort_unstable();
    settled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_the_right_bytes_keep_their_blocks() {
        let moves: HashMap<usize, usize> = (0..6).map(|key| (key, (key + 1) % 6)).collect();
        let bytes = [1, 0, 0, 0, 2, 3];
        let settled = settle(&moves, |a, b| bytes[a] == bytes[b]);
        assert_eq!(settled, [(0, 3), (3, 4), (4, 5), (5, 0)]);
        assert!(settle(&moves, |_, _| true).is_empty());
    }
}
