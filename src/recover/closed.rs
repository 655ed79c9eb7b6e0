//! Moves that only change places among each other.

use std::collections::HashSet;
use std::hash::Hash;

/// Drops the moves that bring something from nowhere that changes, or take it to nowhere that does, until only closed ones are left.
/// `here` gives what a move finds in its place, and `comes` what it brings there.
pub(super) fn keep_closed<M, K: Eq + Hash>(moves: &mut Vec<M>, here: impl Fn(&M) -> K, comes: impl Fn(&M) -> K) {
    loop {
        let before = moves.len();
        let from: HashSet<K> = moves.iter().map(&here).collect();
        let to: HashSet<K> = moves.iter().map(&comes).collect();
        moves.retain(|of| from.contains(&comes(of)) && to.contains(&here(of)));
        if moves.len() == before {
            return;
        }
    }
}
