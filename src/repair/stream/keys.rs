//! Reads keys: infers their format, and the position of a key with another type or width.

use std::collections::HashSet;

use crate::godot::stream::loc::{Format, FormatEvidence, Key, Place};
use crate::repair::RowReason;

/// Least ratio between the distances from the origin of a wrong and a right format.
const FARTHER: u64 = 8;

/// A key as read with a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The key that the engine writes for a position.
    Exact(Place),
    /// A key that can only mean this position, and what is wrong with it.
    Meant(Place, RowReason),
    /// No position, or several.
    Nothing(&'static str),
}

/// Reads a key of a stream.
pub(super) fn read(format: Format, key: Key<'_>) -> Reading {
    if let Ok(place) = format.decode(key) {
        return Reading::Exact(place);
    }
    if let Some(place) = format.decode_close(key) {
        return Reading::Meant(place, RowReason::KeySpelling);
    }
    let other = RowReason::KeyType;
    // A key whose type implies its format, and fits the format of the stream.
    let found = match key {
        Key::Text(text) => said_by_text(format, text),
        Key::Float(n) => whole(n).and_then(|n| format.decode(Key::Int(n)).ok()),
        // A text that is stored as a blob may have ten bytes too.
        Key::Blob(bytes) => {
            let by_text = said_by_text(format, bytes);
            let by_bits = Format::Blob.decode(key).ok();
            match (by_text, by_bits) {
                (Some(a), Some(b)) if a != b => None,
                (a, b) => a.or(b),
            }
        }
        Key::Int(_) | Key::Null => None,
    };
    match found.filter(|place| format.encode(*place).is_some()) {
        Some(place) => Reading::Meant(place, other),
        None => Reading::Nothing("its key is no place"),
    }
}

/// `x,y,z,lod`, or the digits of a number that is a key itself.
fn said_by_text(format: Format, text: &[u8]) -> Option<Place> {
    let number = || std::str::from_utf8(text).ok()?.trim().parse::<i64>().ok();
    let numbers = matches!(format, Format::Int16 | Format::Int19);
    Format::Text
        .decode_close(Key::Text(text))
        .or_else(|| number().filter(|_| numbers).and_then(|n| format.decode(Key::Int(n)).ok()))
}

/// The number that a floating-point number is exactly.
fn whole(n: f64) -> Option<i64> {
    let exact = n.fract() == 0.0 && n.abs() < 9_007_199_254_740_992.0;
    exact.then_some(n as i64)
}

/// Integer keys that are compared with each other: the first ones. Rows are in the order of their keys, so these have neighbours if
/// any have. Chosen for their memory.
const COMPARED: usize = 1 << 18;

/// How often keys are positions by each format.
#[derive(Debug, Default)]
pub(super) struct FormatCounts {
    /// Keys that are not NULL.
    keys: u64,
    positions: FormatEvidence,
    /// The integers, as far as they are compared. Only these can be positions by several formats.
    integers: Vec<i64>,
}

impl FormatCounts {
    /// Adds a key.
    pub fn add(&mut self, key: Key<'_>) {
        self.keys += u64::from(key != Key::Null);
        self.positions.add_key(key);
        if let Key::Int(n) = key
            && self.integers.len() < COMPARED
        {
            self.integers.push(n);
        }
    }

    /// How many keys are positions by a format.
    pub fn of(&self, format: Format) -> u64 {
        self.positions.positions(format)
    }

    /// Infers the only possible format: the only one in which nearly all keys are positions, or the one in which blocks are adjacent
    /// while they are scattered in the other.
    pub fn infer_format(&self) -> Option<Format> {
        let mut possible = Format::ALL.into_iter().filter(|format| 2 * self.of(*format) > self.keys);
        let (first, second) = (possible.next()?, possible.next());
        let nearly_all = |format: Format| (10 * self.of(format) >= 9 * self.keys).then_some(format);
        let Some(second) = second else { return nearly_all(first) };
        let places = [first, second].map(|format| self.places(format));
        let beside = [count_neighbours(&places[0]), count_neighbours(&places[1])];
        let reach = [reach(&places[0], &places[1]), reach(&places[1], &places[0])];
        let nearer = |near: u64, far: u64| far > 0 && near.saturating_mul(FARTHER) <= far;
        match (beside, reach) {
            ([a, 0], _) if a > 0 => nearly_all(first),
            ([0, b], _) if b > 0 => nearly_all(second),
            ([0, 0], [a, b]) if nearer(a, b) => nearly_all(first),
            ([0, 0], [a, b]) if nearer(b, a) => nearly_all(second),
            _ => None,
        }
    }

    fn places(&self, format: Format) -> Vec<Option<Place>> {
        self.integers.iter().map(|n| format.decode(Key::Int(*n)).ok()).collect()
    }
}

/// Number of block pairs that are adjacent along x or y. Along z, keys differ by one in both integer formats.
fn count_neighbours(places: &[Option<Place>]) -> usize {
    let all: HashSet<Place> = places.iter().flatten().copied().collect();
    let next = |place: &Place, axis: usize| {
        let mut position = place.position;
        position[axis] = position[axis].saturating_add(1);
        all.contains(&Place { position, ..*place })
    };
    all.iter().map(|place| usize::from(next(place, 0)) + usize::from(next(place, 1))).sum()
}

/// Sum of the distances from the origin of blocks that are positions in both formats.
fn reach(places: &[Option<Place>], others: &[Option<Place>]) -> u64 {
    let both = places.iter().zip(others).filter(|(_, other)| other.is_some()).filter_map(|(place, _)| *place);
    both.map(|place| place.position.iter().map(|n| u64::from(n.unsigned_abs())).sum::<u64>()).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn place(lod: u8, position: [i32; 3]) -> Place {
        Place { lod, position }
    }

    fn infer_format(keys: &[Key<'_>]) -> Option<Format> {
        let mut counts = FormatCounts::default();
        keys.iter().for_each(|key| counts.add(*key));
        counts.infer_format()
    }

    fn keys(format: Format, places: &[Place]) -> Vec<crate::godot::stream::loc::Owned> {
        places.iter().map(|place| format.encode(*place).unwrap()).collect()
    }

    #[test]
    fn keys_tell_their_format() {
        let boxes: Vec<Place> =
            (-2..3).flat_map(|x| (-1..2).flat_map(move |y| (0..3).map(move |z| place(0, [x, y, z])))).collect();
        let upward: Vec<Place> = (0..4).flat_map(|x| (0..4).map(move |y| place(1, [x, y, 0]))).collect();
        for places in [boxes, upward] {
            for format in Format::ALL {
                let keys = keys(format, &places);
                let keys: Vec<Key<'_>> = keys.iter().map(|key| key.as_key()).collect();
                assert_eq!(infer_format(&keys), Some(format));
            }
        }
        // A block at the origin has the same key in both integer formats.
        assert_eq!(infer_format(&[Key::Int(0)]), None);
        assert_eq!(infer_format(&[]), None);
    }

    #[test]
    fn a_key_of_another_type_means_a_place_only_where_there_is_no_choice() {
        let at = place(1, [2, -1, 3]);
        let other = RowReason::KeyType;
        for format in [Format::Int16, Format::Int19, Format::Blob] {
            assert_eq!(read(format, Key::Text(b"2,-1,3,1")), Reading::Meant(at, other));
        }
        let blob = Format::Blob.encode(at).unwrap();
        assert_eq!(read(Format::Text, blob.as_key()), Reading::Meant(at, other));
        assert_eq!(read(Format::Text, Key::Blob(b"2,-1,3,1")), Reading::Meant(at, other));
        // An integer may be of either format; ten bytes may also be a text.
        assert!(matches!(read(Format::Text, Key::Int(5)), Reading::Nothing(_)));
        assert!(matches!(read(Format::Int16, Key::Blob(&[0; 9])), Reading::Nothing(_)));
        assert!(matches!(read(Format::Text, Key::Blob(b"12,-1,30,1")), Reading::Nothing(_)));
        assert_eq!(read(Format::Int16, Key::Float(5.0)), Reading::Meant(place(0, [0, 0, 5]), other));
        // A position that does not fit the keys of the stream cannot be written.
        assert!(matches!(read(Format::Int16, Key::Text(b"100000,0,0,0")), Reading::Nothing(_)));
    }
}
