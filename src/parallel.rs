//! Work on all threads of the current pool, with results in the order of the items.
//!
//! `rayon` shares out the indices of the items by one piece of code for the whole program: its parallel iterators are compiled
//! anew for each use, which would make the program larger by half a megabyte.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

/// The number of threads.
#[must_use]
pub fn threads() -> usize {
    rayon::current_num_threads().max(1)
}

/// Does the work for each index below `count`.
pub fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

/// What the work makes of each index below `count`.
pub fn map_indices<R: Send>(count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let results: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
    each(count, &|i| {
        let result = work(i);
        if let Some(place) = results.get(i) {
            *lock(place) = Some(result);
        }
    });
    results.into_iter().filter_map(|place| place.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// What the work makes of each item.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map_indices(items.len(), |i| items.get(i).map(&work)).into_iter().flatten().collect()
}

/// What the work makes of each item of which it makes something.
pub fn filter_map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Option<R> + Sync) -> Vec<R> {
    map(items, work).into_iter().flatten().collect()
}

/// As [`map`], with buffers that no two threads use at once.
pub fn map_with<T: Sync, S: Default + Send, R: Send>(items: &[T], work: impl Fn(&mut S, &T) -> R + Sync) -> Vec<R> {
    let spare = Spare::default();
    map(items, |item| spare.lend(|buffers| work(buffers, item)))
}

/// Does the work for each item, with buffers that no two threads use at once.
pub fn each_with<T: Sync, S: Default + Send>(items: &[T], work: impl Fn(&mut S, &T) + Sync) {
    let spare = Spare::default();
    each(items.len(), &|i| {
        if let Some(item) = items.get(i) {
            spare.lend(|buffers| work(buffers, item));
        }
    });
}

/// Buffers that are not in use: as many as threads have used at once.
#[derive(Default)]
struct Spare<S>(Mutex<Vec<S>>);

impl<S: Default> Spare<S> {
    /// Lends buffers to the work; new ones if all are in use.
    fn lend<R>(&self, work: impl FnOnce(&mut S) -> R) -> R {
        let taken = lock(&self.0).pop();
        let mut buffers = taken.unwrap_or_default();
        let result = work(&mut buffers);
        lock(&self.0).push(buffers);
        result
    }
}

fn lock<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does the work for each item, which it may change.
pub fn each_mut<T: Send>(items: &mut [T], work: impl Fn(&mut T) + Sync) {
    let items: Vec<Mutex<&mut T>> = items.iter_mut().map(Mutex::new).collect();
    each(items.len(), &|i| {
        if let Some(item) = items.get(i) {
            work(&mut lock(item));
        }
    });
}

/// What the work makes of each item.
///
/// # Errors
/// The first one, in the order of the items that were begun: after an error, no more are.
pub fn try_map<T: Sync, R: Send, E: Send>(items: &[T], work: impl Fn(&T) -> Result<R, E> + Sync) -> Result<Vec<R>, E> {
    let failed = AtomicBool::new(false);
    let results = map(items, |item| {
        if failed.load(Ordering::Relaxed) {
            return None;
        }
        let result = work(item);
        if result.is_err() {
            failed.store(true, Ordering::Relaxed);
        }
        Some(result)
    });
    results.into_iter().flatten().collect()
}

/// As [`try_map`], with buffers that no two threads use at once.
///
/// # Errors
/// As [`try_map`].
pub fn try_map_with<T: Sync, S: Default + Send, R: Send, E: Send>(
    items: &[T],
    work: impl Fn(&mut S, &T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let spare = Spare::default();
    try_map(items, |item| spare.lend(|buffers| work(buffers, item)))
}

/// Does the work for each item.
///
/// # Errors
/// As [`try_map`].
pub fn try_each<T: Sync, E: Send>(items: &[T], work: impl Fn(&T) -> Result<(), E> + Sync) -> Result<(), E> {
    try_map(items, work).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        let doubled: Vec<usize> = items.iter().map(|n| n * 2).collect();
        assert_eq!(map(&items, |n| n * 2), doubled);
        let with = map_with(&items, |buffer: &mut Vec<usize>, n| {
            buffer.push(*n);
            buffer.last().map(|n| n * 2)
        });
        assert_eq!(with.into_iter().flatten().collect::<Vec<_>>(), doubled);
        let mut changed = items;
        each_mut(&mut changed, |n| *n *= 2);
        assert_eq!(changed, doubled);
        assert!(map(&[], |n: &u8| *n).is_empty());
    }

    #[test]
    fn an_error_ends_the_work() {
        let items: Vec<usize> = (0..100_000).collect();
        let begun = AtomicUsize::new(0);
        let result = try_map(&items, |n| {
            begun.fetch_add(1, Ordering::Relaxed);
            if *n < 10 { Ok(*n) } else { Err(*n) }
        });
        assert!(result.is_err_and(|n| n >= 10));
        assert!(begun.into_inner() < items.len());
        assert_eq!(try_map(&items, |n| Ok::<_, ()>(n + 1)).map(|all| all.len()), Ok(items.len()));
    }
}
