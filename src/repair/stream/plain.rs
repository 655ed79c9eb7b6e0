//! Rows of very large streams that are written as they are. Only their numbers are kept: one bit a row.

use std::collections::BTreeSet;

use super::examine::{self, Seen, SeenRows, State};
use super::healthy::CertainSettings;
use super::keys::{self, Reading};
use super::settings::{self, Evidence, Settled};
use super::wrong_keys::WrongKeys;
use crate::godot::stream::loc::KeyRule;
use crate::repair::Options;
use crate::save::Stream;
use crate::source::FileSource;
use crate::sqlite::walk::Owners;

/// A set of rows by their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct PlainRows {
    bits: Vec<u64>,
    count: usize,
}

impl PlainRows {
    /// How many rows there are.
    pub const fn count(&self) -> usize {
        self.count
    }

    pub fn contains(&self, row: u32) -> bool {
        self.bits.get((row / 64) as usize).is_some_and(|bits| bits >> (row % 64) & 1 != 0)
    }

    fn insert(&mut self, row: u32) {
        let at = (row / 64) as usize;
        if self.bits.len() <= at {
            self.bits.resize(at + 1, 0);
        }
        if let Some(bits) = self.bits.get_mut(at).filter(|bits| **bits >> (row % 64) & 1 == 0) {
            *bits |= 1 << (row % 64);
            self.count += 1;
        }
    }

    fn remove(&mut self, row: u32) {
        if let Some(bits) = self.bits.get_mut((row / 64) as usize).filter(|bits| **bits >> (row % 64) & 1 != 0) {
            *bits &= !(1 << (row % 64));
            self.count -= 1;
        }
    }
}

/// What is known of the rows of a stream.
pub(super) struct Sorted {
    /// The rows that are written as they are.
    pub plain: PlainRows,
    /// The other ones.
    pub seen: SeenRows,
    pub owners: Owners,
    pub settled: Settled,
}

/// Whether a row is written as it is if no other one has its position or one of its pages.
pub(super) fn is_plain(seen: &Seen, certain: &CertainSettings) -> bool {
    let voxels = seen.voxels == State::Null || seen.voxels == State::Whole && seen.side == certain.side;
    let instances = matches!(seen.instances, State::Null | State::Whole) && !seen.rewrap_instances;
    seen.readable && voxels && instances && !seen.broken && certain.format.decode(seen.key.as_key()).is_ok()
}

/// Tells the rows of a very large stream that are written as they are from those that need a decision. `None` if the rows are
/// to be decided together: most of them need a decision, the stream has the old rule, or there is a backup.
///
/// # Errors
/// I/O errors.
pub(super) fn sort(
    stream: &mut Stream<FileSource>,
    certain: CertainSettings,
    wrong_keys: &WrongKeys,
    options: &Options<'_>,
) -> std::io::Result<Option<Sorted>> {
    if stream.rule != KeyRule::New || options.backup.is_some() {
        return Ok(None);
    }
    let mut plain = alone(stream, wrong_keys);
    let mut has_block = false;
    let mut others: Vec<(u32, Seen)> = Vec::new();
    // `is_plain` compares the block sizes.
    let (shared, owners) = examine::without_size(stream, |stream| {
        examine::each(stream, &options.watch, &mut |number, seen| {
            if plain.contains(number) && is_plain(&seen, &certain) {
                has_block |= seen.voxels == State::Whole;
            } else {
                plain.remove(number);
                others.push((number, seen));
            }
            // If most rows need a decision, all rows are decided together.
            others.len() <= plain.count()
        })
    })?;
    if others.len() > plain.count() {
        return Ok(None);
    }
    let shared: BTreeSet<u32> = shared.into_iter().collect();
    let mut contested = shared.clone();
    for (_, seen) in &others {
        let (Reading::Exact(place) | Reading::Meant(place, _)) = keys::read(certain.format, seen.key.as_key()) else {
            continue;
        };
        contested.extend(stream.find(place).and_then(|row| u32::try_from(row).ok()));
    }
    contested.retain(|number| plain.contains(*number));
    contested.iter().for_each(|number| plain.remove(*number));
    others.extend(examine::without_size(stream, |stream| {
        let rows = contested.into_iter().filter_map(|number| Some((number, stream.rows.get(number as usize)?)));
        examine::again(stream, rows)
    })?);
    for (number, seen) in &mut others {
        seen.shared |= shared.contains(number);
    }
    if others.len() > plain.count() {
        return Ok(None);
    }
    others.sort_by_key(|(number, _)| *number);
    let (numbers, seen) = others.into_iter().unzip();
    let seen = SeenRows::some(numbers, seen);
    // Plain rows have keys of this format, and blocks of this size if they have any. Only without a block of theirs can the
    // other rows show another size.
    if certain.by_rows || has_block {
        return Ok(Some(Sorted { plain, seen, owners, settled: certain.settled }));
    }
    let settled = settings::decide_settings(stream, &Evidence::of(seen.as_slice()))?;
    let is_same = settled.unsettled.is_none() && settled.put_right.is_empty();
    Ok(is_same.then_some(Sorted { plain, seen, owners, settled }))
}

/// The rows that the game finds and that are the only ones of their position, which is that of their block.
fn alone(stream: &Stream<FileSource>, wrong_keys: &WrongKeys) -> PlainRows {
    let mut alone = PlainRows::default();
    let mut before = None;
    let mut rows = (0u32..).zip(&stream.rows).peekable();
    while let Some((number, row)) = rows.next() {
        let is_first = row.place != before;
        let is_last = rows.peek().is_none_or(|(_, next)| next.place != row.place);
        before = row.place;
        let is_sound = !row.odd && !row.lost && !row.moved && !row.misplaced && !wrong_keys.contains(number);
        if row.place.is_some() && is_first && is_last && is_sound {
            alone.insert(number);
        }
    }
    alone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_once() {
        let mut rows = PlainRows::default();
        for row in [3, 64, 200, 64] {
            rows.insert(row);
        }
        assert_eq!(
            (rows.count(), rows.contains(64), rows.contains(65), rows.contains(100_000)),
            (3, true, false, false)
        );
        for row in [64, 64, 100_000] {
            rows.remove(row);
        }
        assert_eq!((rows.count(), rows.contains(64), rows.contains(200)), (2, false, true));
    }
}
