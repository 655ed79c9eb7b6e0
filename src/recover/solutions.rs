//! Results of regions that were solved before: the check of a save and the plan of its repair solve the same regions.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use xxhash_rust::xxh3::Xxh3;

use crate::recover::region::Candidate;
use crate::recover::solved::Solved;
use crate::recover::survey::{Member, solve};
use crate::recover::weights::Weights;
use crate::watch::Watch;

/// The most bytes that all results may take. Chosen: about 20 full regions.
const MOST: usize = 8 << 20;

/// Keeps the results of regions that are solved together, up to a limit of memory. What it was not asked to keep, or has no room
/// for, is solved anew.
#[derive(Default)]
pub struct Solutions(Mutex<Held>);

#[derive(Default)]
struct Held {
    /// By the hash of all that the result depends on.
    solved: HashMap<u128, Arc<[Solved]>>,
    bytes: usize,
}

impl fmt::Debug for Solutions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Solutions").field("clusters", &held.solved.len()).field("bytes", &held.bytes).finish()
    }
}

impl Solutions {
    fn find(&self, key: u128) -> Option<Arc<[Solved]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).solved.get(&key).cloned()
    }

    fn keep(&self, key: u128, solved: &Arc<[Solved]>) {
        let bytes: usize = solved.iter().map(bytes_of).sum();
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.bytes.saturating_add(bytes) <= MOST && held.solved.insert(key, Arc::clone(solved)).is_none() {
            held.bytes += bytes;
        }
    }
}

/// Finds the places of the blocks of regions of one forest, as [`solve`] does, unless the same regions were solved before.
#[must_use]
pub fn solve_once(
    members: &[Member<'_>],
    weights: &Weights,
    effort: u64,
    watch: &Watch<'_>,
    solutions: Option<&Solutions>,
) -> Arc<[Solved]> {
    let Some(solutions) = solutions else { return solve(members, weights, effort, watch).into() };
    let key = key(members, weights, effort);
    if let Some(solved) = solutions.find(key) {
        return solved;
    }
    let solved: Arc<[Solved]> = solve(members, weights, effort, watch).into();
    if !watch.is_cancelled() {
        solutions.keep(key, &solved);
    }
    solved
}

/// A hash of all that the places of blocks depend on.
fn key(members: &[Member<'_>], weights: &Weights, effort: u64) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(format!("{weights:?}").as_bytes());
    effort.hash(&mut hash);
    for member in members {
        member.near.hash(&mut hash);
        member.case.hash(&mut hash);
        member.split.hash(&mut hash);
    }
    hash.digest128()
}

/// About the memory that a result takes.
fn bytes_of(solved: &Solved) -> usize {
    let options: usize = solved.options.iter().map(|of| size_of_val(of) + size_of::<Candidate>() * of.len()).sum();
    size_of::<Solved>()
        + size_of_val(&solved.placed[..])
        + size_of_val(&solved.torn[..])
        + size_of_val(&solved.appended[..])
        + size_of_val(&solved.candidates[..])
        + size_of_val(&solved.contradicted[..])
        + options
}
