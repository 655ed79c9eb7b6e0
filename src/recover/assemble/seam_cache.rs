//! Log-odds of seams that were computed before. Many blocks have the same sides, and each pair of sides is compared many times.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use crate::parallel;
use crate::recover::assemble::links::Sides;
use crate::recover::cells::Side;

/// The fewest and the most entries of the cache, as powers of 2: the most take 4 MiB. Each takes the place of another one with the same
/// index. With fewer, an entry has too few bits to tell its key.
const LEAST_BITS: u32 = 17;
const MOST_BITS: u32 = 20;

/// Log-odds are kept as whole numbers of this part.
const UNITS: f64 = 100.0;

/// The bits of the number of a side in a key. The seams of sides with larger numbers are computed each time.
const NUMBER_BITS: u32 = 15;

/// The sides of blocks by number, and what was computed of pairs of them.
pub(super) struct SeamCache {
    /// For each case and block, for each axis the numbers of its lower and its upper side. Equal sides have the same number.
    numbers: Vec<Vec<[[u32; 2]; 3]>>,
    /// How many entries there are, as a power of 2: about as many as there are pairs.
    bits: u32,
    /// Each what its index does not show of the hash of its key, plus one, and a value.
    entries: OnceLock<Box<[AtomicU32]>>,
}

impl SeamCache {
    pub fn new(sides: &[Vec<Option<Arc<Sides>>>]) -> Self {
        let mut numbers: Vec<Vec<[[u32; 2]; 3]>> = sides.iter().map(|of| vec![Default::default(); of.len()]).collect();
        let found = parallel::map_indices(6, |k| {
            let mut number_of: HashMap<&Side, u32> = HashMap::new();
            let mut found = Vec::new();
            for sides in sides.iter().flatten() {
                let next = number_of.len() as u32;
                let side = sides.as_ref().map(|sides| &sides.outer[k / 2][k % 2]);
                found.push(side.map_or(0, |side| *number_of.entry(side).or_insert(next)));
            }
            found
        });
        let count = |k: usize| found[k].iter().max().map_or(0, |most| *most as usize + 1);
        let pairs: usize = (0..3).map(|axis| count(2 * axis) * count(2 * axis + 1)).sum();
        let bits = (usize::BITS - pairs.leading_zeros()).clamp(LEAST_BITS, MOST_BITS);
        for (k, found) in found.into_iter().enumerate() {
            for (numbers, number) in numbers.iter_mut().flatten().zip(found) {
                numbers[k / 2][k % 2] = number;
            }
        }
        Self { numbers, bits, entries: OnceLock::new() }
    }

    /// Forgets what was computed.
    pub fn clear(&mut self) {
        self.entries = OnceLock::new();
    }

    /// The number of a side of a block.
    pub fn number(&self, (r, b): (usize, usize), axis: usize, upper: bool) -> u32 {
        self.numbers.get(r).and_then(|of| of.get(b)).map_or(0, |of| of[axis][usize::from(upper)])
    }

    /// The log-odds of an upper side with the lower side of the next block, computed unless they are known.
    pub fn odds(&self, axis: usize, upper: u32, lower: u32, compute: impl FnOnce() -> f64) -> f64 {
        if (upper | lower) >> NUMBER_BITS != 0 {
            return compute();
        }
        let key = (axis as u32) << (2 * NUMBER_BITS) | upper << NUMBER_BITS | lower;
        // An odd factor: no two keys have the same hash.
        let hash = key.wrapping_mul(0x9e37_79b1);
        let (at, rest) = (hash >> (u32::BITS - self.bits), hash & (u32::MAX >> self.bits));
        let entries = self.entries.get_or_init(|| (0..1usize << self.bits).map(|_| AtomicU32::new(0)).collect());
        let entry = &entries[at as usize];
        let found = entry.load(Ordering::Relaxed);
        let value = if found >> 16 == rest + 1 {
            found as u16 as i16
        } else {
            let value = (compute() * UNITS).round() as i16;
            entry.store((rest + 1) << 16 | u32::from(value as u16), Ordering::Relaxed);
            value
        };
        f64::from(value) / UNITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_of_sides_is_computed_once() {
        let mut cache = SeamCache::new(&[]);
        assert_eq!(cache.odds(0, 1, 2, || 4.567), 4.57);
        assert_eq!(cache.odds(0, 1, 2, || panic!("it is known")), 4.57);
        assert_eq!(cache.odds(0, 2, 1, || -9.314), -9.31);
        assert_eq!(cache.odds(2, 1, 2, || 0.0), 0.0);
        assert_eq!(cache.odds(0, 1, 2, || panic!("others do not replace it")), 4.57);
        cache.clear();
        assert_eq!(cache.odds(0, 1, 2, || 1.0), 1.0);
    }

    #[test]
    fn what_is_known_never_depends_on_what_was_asked_before() {
        let cache = SeamCache::new(&[]);
        let odds = |k: u32| f64::from(k % 1000) / 100.0 - 5.0;
        for _ in 0..2 {
            // More pairs than the cache has entries for.
            for k in 0..400_000u32 {
                let found = cache.odds(1, k / 500, k % 500, || odds(k));
                assert!((found - odds(k)).abs() < 0.005);
            }
        }
    }
}
