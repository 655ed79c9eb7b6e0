//! Finds blocks that moved to another position.

use std::collections::HashMap;

use crate::world::At;

/// Contents that were removed and added at positions that differ.
#[derive(Default)]
pub(super) struct Moves {
    /// Contents of each save that the other save does not have at the same position.
    went: Vec<(u64, At)>,
    came: Vec<(u64, At)>,
    removed: Vec<[i32; 3]>,
    added: Vec<[i32; 3]>,
}

/// The result.
pub(super) struct Settled {
    /// Moved blocks: the old and the new position.
    pub moved: Vec<([i32; 3], [i32; 3])>,
    /// Blocks in the first save only.
    pub removed: Vec<[i32; 3]>,
    /// Blocks in the second save only.
    pub added: Vec<[i32; 3]>,
}

impl Moves {
    /// Records the contents at a position.
    pub fn note(&mut self, a: Option<At>, b: Option<At>, [went, came]: [Option<u64>; 2]) {
        if let (Some(at), None) = (a, b) {
            self.removed.push(at.position);
        }
        if let (None, Some(at)) = (a, b) {
            self.added.push(at.position);
        }
        if let (Some(at), Some(hash)) = (a, went) {
            self.went.push((hash, at));
        }
        if let (Some(at), Some(hash)) = (b, came) {
            self.came.push((hash, at));
        }
    }

    /// Pairs contents that were removed at exactly one position and added at exactly one, if `same` is true for them.
    pub fn match_moves(mut self, same: impl Fn(&At, &At) -> bool) -> Settled {
        let once = |all: &[(u64, At)]| {
            let mut places: HashMap<u64, Option<At>> = HashMap::new();
            for (hash, at) in all {
                places.entry(*hash).and_modify(|place| *place = None).or_insert(Some(*at));
            }
            places
        };
        let came = once(&self.came);
        let went = once(&self.went);
        let mut moved = Vec::new();
        for (hash, at) in &self.went {
            if let (Some(Some(from)), Some(Some(to))) = (went.get(hash), came.get(hash))
                && from == at
                && from.position != to.position
                && same(from, to)
            {
                moved.push((from.position, to.position));
            }
        }
        let from: std::collections::HashSet<_> = moved.iter().map(|(from, _)| *from).collect();
        let to: std::collections::HashSet<_> = moved.iter().map(|(_, to)| *to).collect();
        self.removed.retain(|position| !from.contains(position));
        self.added.retain(|position| !to.contains(position));
        Settled { moved, removed: self.removed, added: self.added }
    }
}
