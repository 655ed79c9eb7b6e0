//! Rows of a stream in little memory: each is stored as its differences from the row before it.
//!
//! A row whose fields all follow from the row before it takes one byte, another one some ten bytes, where [`StreamRow`] takes
//! some fifty. Every [`GROUP`] rows, one is stored without the row before it, so that a row is found by its number.
//!
//! ```text
//! bits of the fields that do not follow u8 · those fields:
//! place (LOD + 1, or 0 without a place; differences of x, y, z) · difference of the page, cell · difference of the row number ·
//! flags u8 · voxels · instances · bytes of the row beside them · key u8 (with a number: the number)
//! ```
//!
//! Numbers have 7 bits a byte, the lowest first; differences are signed, with the sign in the lowest bit.

use super::rows::{Blob, StreamRow};
use crate::godot::stream::loc::Place;

/// Rows of which only the first is stored without the row before it.
const GROUP: usize = 32;

/// Rows of a part, which is given back as a whole.
pub(super) const PART: usize = 1 << 16;

/// Bits of the fields of a row that do not follow from the row before it.
const PLACE: u8 = 1;
const CELL: u8 = 2;
const ROWID: u8 = 4;
const FLAGS: u8 = 8;
const VOXELS: u8 = 16;
const INSTANCES: u8 = 32;
const REST: u8 = 64;
const KEY: u8 = 128;

/// The key of a row, as far as its place does not show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StoredKey {
    /// The number of the row.
    #[default]
    Rowid,
    /// Another integer.
    Int(i64),
    /// A text. The place of the row is that of the text, if it has one.
    Text,
    /// A blob. The place of the row is that of the blob, if it has one.
    Blob,
    /// A value that is no key of any format.
    Other,
}

/// A row with its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub row: StreamRow,
    pub key: StoredKey,
}

/// A row without anything.
pub(super) const NO_ROW: StreamRow = StreamRow {
    place: None,
    page: 0,
    cell: 0,
    rowid: 0,
    odd: false,
    moved: false,
    lost: false,
    stale: false,
    misplaced: false,
    voxels: Blob::Null,
    instances: Blob::Null,
    payload: 0,
};

/// The row before the first one.
const START: Entry = Entry { row: NO_ROW, key: StoredKey::Rowid };

/// Rows in a fixed order.
#[derive(Clone, Default)]
pub(super) struct Packed {
    parts: Vec<Part>,
    len: usize,
    /// The row that was added last.
    last: Option<Entry>,
}

/// Up to [`PART`] rows.
#[derive(Clone, Default)]
struct Part {
    bytes: Vec<u8>,
    /// Where each group begins.
    starts: Vec<u32>,
}

impl Packed {
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Adds a row.
    pub fn push(&mut self, entry: &Entry) {
        if self.len.is_multiple_of(PART) {
            self.fit();
            self.parts.push(Part::default());
        }
        if let Some(part) = self.parts.last_mut() {
            if self.len.is_multiple_of(GROUP) {
                part.starts.push(u32::try_from(part.bytes.len()).unwrap_or(u32::MAX));
                self.last = None;
            }
            encode(self.last.as_ref().unwrap_or(&START), entry, &mut part.bytes);
            self.last = Some(*entry);
            self.len += 1;
        }
    }

    /// Gives back the memory that no row needs, when none is added to the last part any more.
    pub fn fit(&mut self) {
        if let Some(part) = self.parts.last_mut() {
            part.bytes.shrink_to_fit();
            part.starts.shrink_to_fit();
        }
    }

    /// The first row of a group.
    fn first_of(&self, group: usize) -> Option<Entry> {
        self.cursor(group)?.next(&START)
    }

    fn cursor(&self, group: usize) -> Option<Cursor<'_>> {
        let groups = PART / GROUP;
        let part = self.parts.get(group / groups)?;
        let start = *part.starts.get(group % groups)?;
        Some(Cursor { bytes: part.bytes.get(start as usize..)? })
    }

    pub fn get(&self, row: usize) -> Option<Entry> {
        self.iter_from(row).next()
    }

    pub fn iter(&self) -> Entries<'_> {
        self.iter_from(0)
    }

    /// The rows from one on.
    pub fn iter_from(&self, row: usize) -> Entries<'_> {
        let group = row / GROUP;
        let mut entries = Entries { packed: self, next: group * GROUP, cursor: Cursor { bytes: &[] }, last: START };
        for _ in 0..row % GROUP {
            entries.next();
        }
        entries
    }

    /// How many rows at the beginning have a property that no row after them has.
    pub fn partition_point(&self, has: impl Fn(&StreamRow) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len.div_ceil(GROUP));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.first_of(middle).is_some_and(|entry| has(&entry.row)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // The first row without it is in the group before.
        let from = low.saturating_sub(1) * GROUP;
        from + self.iter_from(from).take_while(|entry| has(&entry.row)).count()
    }

    /// The rows, whose memory is given back part by part.
    pub fn into_entries(self) -> impl Iterator<Item = Entry> {
        let mut rest = self.len;
        self.parts.into_iter().flat_map(move |part| {
            let len = rest.min(PART);
            rest -= len;
            let part = Self { parts: vec![part], len, last: None };
            let (mut at, mut last) = (0, START);
            let mut used = 0;
            std::iter::from_fn(move || {
                if at >= part.len {
                    return None;
                }
                let bytes = part.parts.first()?.bytes.get(used..)?;
                let mut cursor = Cursor { bytes };
                let before = if at % GROUP == 0 { START } else { last };
                let entry = cursor.next(&before)?;
                used += bytes.len() - cursor.bytes.len();
                (at, last) = (at + 1, entry);
                Some(entry)
            })
        })
    }
}

/// Iterator over rows.
pub(super) struct Entries<'p> {
    packed: &'p Packed,
    next: usize,
    cursor: Cursor<'p>,
    last: Entry,
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.next >= self.packed.len {
            return None;
        }
        if self.next.is_multiple_of(GROUP) {
            self.cursor = self.packed.cursor(self.next / GROUP)?;
            self.last = START;
        }
        self.last = self.cursor.next(&self.last)?;
        self.next += 1;
        Some(self.last)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let rest = self.packed.len.saturating_sub(self.next);
        (rest, Some(rest))
    }
}

/// The place that follows one: the next one along z, which keys vary first.
fn place_after(place: Option<Place>) -> Option<Place> {
    place.map(|Place { lod, position: [x, y, z] }| Place { lod, position: [x, y, z.wrapping_add(1)] })
}

/// Bytes of a row that are neither voxels nor instances.
const fn rest_of(row: &StreamRow) -> u32 {
    row.payload.wrapping_sub(row.voxels.len()).wrapping_sub(row.instances.len())
}

fn flags_of(row: &StreamRow) -> u8 {
    u8::from(row.odd)
        | u8::from(row.moved) << 1
        | u8::from(row.lost) << 2
        | u8::from(row.stale) << 3
        | u8::from(row.misplaced) << 4
}

fn encode(before: &Entry, entry: &Entry, out: &mut Vec<u8>) {
    let (last, row) = (&before.row, &entry.row);
    let bit = |differs: bool, bit: u8| if differs { bit } else { 0 };
    let has = bit(row.place != place_after(last.place), PLACE)
        | bit((row.page, row.cell) != (last.page, last.cell.wrapping_add(1)), CELL)
        | bit(row.rowid != last.rowid.wrapping_add(1), ROWID)
        | bit(flags_of(row) != flags_of(last), FLAGS)
        | bit(row.voxels != last.voxels, VOXELS)
        | bit(row.instances != last.instances, INSTANCES)
        | bit(rest_of(row) != rest_of(last), REST)
        | bit(entry.key != before.key, KEY);
    out.push(has);
    if has & PLACE != 0 {
        match row.place {
            None => put(out, 0),
            Some(Place { lod, position }) => {
                put(out, u64::from(lod) + 1);
                let from = last.place.map_or([0; 3], |place| place.position);
                for (to, from) in position.into_iter().zip(from) {
                    put_signed(out, to.wrapping_sub(from).into());
                }
            }
        }
    }
    if has & CELL != 0 {
        put_signed(out, i64::from(row.page) - i64::from(last.page));
        put(out, row.cell.into());
    }
    if has & ROWID != 0 {
        put_signed(out, row.rowid.wrapping_sub(last.rowid));
    }
    if has & FLAGS != 0 {
        out.push(flags_of(row));
    }
    for (bit, blob) in [(VOXELS, row.voxels), (INSTANCES, row.instances)] {
        if has & bit != 0 {
            match blob {
                Blob::Null => put(out, 0),
                Blob::Other => put(out, 1),
                Blob::Bytes(len) => put(out, u64::from(len) + 2),
            }
        }
    }
    if has & REST != 0 {
        put(out, rest_of(row).into());
    }
    if has & KEY != 0 {
        match entry.key {
            StoredKey::Rowid => out.push(0),
            StoredKey::Text => out.push(1),
            StoredKey::Blob => out.push(2),
            StoredKey::Other => out.push(3),
            StoredKey::Int(n) => {
                out.push(4);
                put_signed(out, n);
            }
        }
    }
}

fn put(out: &mut Vec<u8>, mut n: u64) {
    while n > 0x7f {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn put_signed(out: &mut Vec<u8>, n: i64) {
    put(out, (n << 1 ^ n >> 63).cast_unsigned());
}

/// Encoded rows that are not read yet.
#[derive(Clone, Copy)]
struct Cursor<'p> {
    bytes: &'p [u8],
}

impl Cursor<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let (mut n, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(n);
            }
            shift = (shift + 7) & 63;
        }
    }

    fn signed(&mut self) -> Option<i64> {
        self.number().map(|n| (n >> 1).cast_signed() ^ -(n & 1).cast_signed())
    }

    fn blob(&mut self) -> Option<Blob> {
        Some(match self.number()? {
            0 => Blob::Null,
            1 => Blob::Other,
            n => Blob::Bytes(u32::try_from(n - 2).ok()?),
        })
    }

    fn place(&mut self, last: Option<Place>) -> Option<Option<Place>> {
        let Some(lod) = self.number()?.checked_sub(1) else { return Some(None) };
        let mut position = last.map_or([0; 3], |place| place.position);
        for v in &mut position {
            *v = v.wrapping_add(self.signed()? as i32);
        }
        Some(Some(Place { lod: u8::try_from(lod).ok()?, position }))
    }

    /// The next row; `None` after the last one.
    fn next(&mut self, before: &Entry) -> Option<Entry> {
        let has = self.byte()?;
        let mut entry = *before;
        let Entry { row, key } = &mut entry;
        let mut rest = rest_of(row);
        row.place = if has & PLACE == 0 { place_after(row.place) } else { self.place(row.place)? };
        if has & CELL == 0 {
            row.cell = row.cell.wrapping_add(1);
        } else {
            row.page = u32::try_from(i64::from(row.page).wrapping_add(self.signed()?)).ok()?;
            row.cell = u16::try_from(self.number()?).ok()?;
        }
        row.rowid = row.rowid.wrapping_add(if has & ROWID == 0 { 1 } else { self.signed()? });
        if has & FLAGS != 0 {
            let flags = self.byte()?;
            let [odd, moved, lost, stale, misplaced] = [1, 2, 4, 8, 16].map(|bit| flags & bit != 0);
            (row.odd, row.moved, row.lost, row.stale, row.misplaced) = (odd, moved, lost, stale, misplaced);
        }
        if has & VOXELS != 0 {
            row.voxels = self.blob()?;
        }
        if has & INSTANCES != 0 {
            row.instances = self.blob()?;
        }
        if has & REST != 0 {
            rest = u32::try_from(self.number()?).ok()?;
        }
        row.payload = rest.wrapping_add(row.voxels.len()).wrapping_add(row.instances.len());
        if has & KEY != 0 {
            *key = match self.byte()? {
                0 => StoredKey::Rowid,
                1 => StoredKey::Text,
                2 => StoredKey::Blob,
                4 => StoredKey::Int(self.signed()?),
                _ => StoredKey::Other,
            };
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows with all kinds of values, by number.
    fn entry(n: u32) -> Entry {
        let mix = u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let wide = |shift: u32| (mix >> shift) as i32;
        let blob = |n: u64| match n % 5 {
            0 => Blob::Null,
            1 => Blob::Other,
            2 => Blob::Bytes(u32::MAX),
            n => Blob::Bytes(n as u32),
        };
        let place = Place { lod: (n % 24) as u8, position: [wide(0), wide(16), wide(32)] };
        let row = StreamRow {
            place: (n % 7 != 3).then_some(place),
            page: (mix >> 32) as u32,
            cell: (mix >> 5) as u16,
            rowid: mix.cast_signed() >> (n % 60),
            odd: mix & 1 != 0,
            moved: mix & 2 != 0,
            lost: mix & 4 != 0,
            stale: mix & 8 != 0,
            misplaced: mix & 32 != 0,
            voxels: blob(mix >> 8),
            instances: blob(mix >> 11),
            payload: (mix >> 20) as u32,
        };
        let key = match n % 6 {
            0 => StoredKey::Int(mix.cast_signed()),
            1 => StoredKey::Text,
            2 => StoredKey::Blob,
            3 => StoredKey::Other,
            _ => StoredKey::Rowid,
        };
        Entry { row, key }
    }

    #[test]
    fn rows_are_read_as_they_were_stored() {
        for count in [0, 1, 31, 32, 33, 1000, PART + 1, 2 * PART + 50] {
            let mut packed = Packed::default();
            let entries: Vec<Entry> = (0..).take(count).map(entry).collect();
            entries.iter().for_each(|entry| packed.push(entry));
            packed.fit();
            assert_eq!(packed.len(), count);
            assert!(packed.iter().eq(entries.iter().copied()), "{count}");
            assert!(packed.clone().into_entries().eq(entries.iter().copied()), "{count}");
            for at in [0, 1, 31, 32, 999, PART - 1, PART, 2 * PART + 49, 2 * PART + 50] {
                assert_eq!(packed.get(at), entries.get(at).copied(), "{at} of {count}");
            }
            assert_eq!(packed.iter_from(40).count(), count.saturating_sub(40));
        }
    }

    #[test]
    fn rows_that_follow_one_another_take_little_memory() {
        let mut packed = Packed::default();
        for n in 0..100_000u32 {
            let place = Some(Place { lod: 0, position: [0, 0, n.cast_signed()] });
            let (page, cell) = (n / 400 + 3, (n % 400) as u16);
            let row = StreamRow { place, page, cell, rowid: n.into(), payload: 4, ..START.row };
            packed.push(&Entry { row, key: StoredKey::Rowid });
        }
        let bytes: usize = packed.parts.iter().map(|part| part.bytes.len() + 4 * part.starts.len()).sum();
        assert!(bytes < 200_000, "{bytes} bytes");
        for at in [0, 1, 31, 32, 33, 65_535, 65_536, 99_999, 100_000] {
            let is_below = |row: &StreamRow| row.rowid < i64::from(at);
            assert_eq!(packed.partition_point(is_below), at as usize);
        }
        assert_eq!(packed.partition_point(|_| true), 100_000);
    }
}
