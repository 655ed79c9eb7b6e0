//! Sorts rows without holding all of them unpacked.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::packed::PART;
use super::rows::StreamRow;
use super::stream_rows::StreamRows;

/// The rows sorted by a key; those of the same key stay in their order. Sorts as many rows as a part has at once, and merges
/// the results.
pub(super) fn sort<K: Ord>(mut rows: impl Iterator<Item = StreamRow>, key: impl Fn(&StreamRow) -> K) -> StreamRows {
    let mut runs: Vec<StreamRows> = Vec::new();
    let mut last: Option<K> = None;
    let mut chunk: Vec<StreamRow> = Vec::new();
    loop {
        chunk.clear();
        chunk.extend(rows.by_ref().take(PART));
        chunk.sort_by_key(&key);
        let (Some(first), Some(end)) = (chunk.first(), chunk.last()) else { break };
        // Rows that are sorted already are one run.
        if last.is_none_or(|last| last > key(first)) {
            runs.push(StreamRows::default());
        }
        last = Some(key(end));
        if let Some(run) = runs.last_mut() {
            chunk.iter().for_each(|row| run.push(row));
        }
    }
    drop(chunk);
    let mut sorted = if runs.len() < 2 { runs.pop().unwrap_or_default() } else { merge(runs, key) };
    sorted.fit();
    sorted
}

/// Merges sorted runs; of rows with the same key, that of an earlier run comes first.
fn merge<K: Ord>(runs: Vec<StreamRows>, key: impl Fn(&StreamRow) -> K) -> StreamRows {
    let mut merged = StreamRows::default();
    let mut rest: Vec<_> = runs.into_iter().map(StreamRows::into_rows).collect();
    let mut next: Vec<Option<StreamRow>> = rest.iter_mut().map(Iterator::next).collect();
    let heads = next.iter().enumerate().filter_map(|(run, row)| Some(Reverse((key(row.as_ref()?), run))));
    let mut heap: BinaryHeap<Reverse<(K, usize)>> = heads.collect();
    while let Some(Reverse((_, run))) = heap.pop() {
        let (Some(next), Some(rest)) = (next.get_mut(run), rest.get_mut(run)) else { continue };
        if let Some(row) = next.take() {
            merged.push(&row);
        }
        *next = rest.next();
        heap.extend(next.as_ref().map(|row| Reverse((key(row), run))));
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::save::stream::packed::NO_ROW;

    #[test]
    fn rows_of_the_same_key_stay_in_their_order() {
        let row = |n: u32| StreamRow { page: n.wrapping_mul(0x9e37_79b9) >> 20, rowid: n.into(), payload: n, ..NO_ROW };
        for count in [0, 1, 1000, 200_000] {
            let rows: Vec<StreamRow> = (0..count).map(row).collect();
            let mut expected = rows.clone();
            expected.sort_by_key(|row| row.page);
            assert!(sort(rows.iter().copied(), |row| row.page).iter().eq(expected.iter().copied()), "{count}");
            assert!(sort(expected.iter().copied(), |row| row.page).iter().eq(expected), "{count}");
        }
    }
}
