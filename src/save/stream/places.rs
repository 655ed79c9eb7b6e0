//! The places of rows: from their keys, by the format and the rule of the stream, which are inferred if nothing gives them.

use std::collections::HashSet;

use super::Stream;
use super::packed::{Entry, Packed, StoredKey};
use super::rows::{Blob, StreamRow};
use crate::axes;
use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::godot::stream::loc::{Format, FormatEvidence, Key, KeyRule, NEW_RULE_MARK, Place};
use crate::godot::stream::meta::FORMAT_FIELD;
use crate::source::Source;

/// The format of keys by the keys themselves.
pub(super) fn infer_format(rows: &Packed) -> Option<Format> {
    let mut evidence = FormatEvidence::default();
    for Entry { row, key } in rows.iter() {
        match key {
            StoredKey::Rowid => evidence.add_key(Key::Int(row.rowid)),
            StoredKey::Int(n) => evidence.add_key(Key::Int(n)),
            StoredKey::Text => row.place.filter(|_| !row.odd).into_iter().for_each(|p| evidence.add(Format::Text, p)),
            StoredKey::Blob => row.place.filter(|_| !row.odd).into_iter().for_each(|p| evidence.add(Format::Blob, p)),
            StoredKey::Other => {}
        }
    }
    evidence.format()
}

/// The rows with the places of their keys, and those of them stale of which `stale` says so: in it, each lost row has its
/// turn. `misplaced` has the numbers of the rows that are out of order.
pub(super) fn place_rows(
    entries: impl Iterator<Item = Entry>,
    format: Option<Format>,
    (stale, misplaced): (&[bool], &[u32]),
) -> impl Iterator<Item = StreamRow> {
    let (mut stale, mut misplaced) = (stale.iter(), misplaced.iter().peekable());
    (0u32..).zip(entries).map(move |(number, Entry { mut row, key })| {
        row.misplaced = misplaced.next_if(|row| **row == number).is_some();
        let int = match (format, key) {
            (Some(Format::Int16 | Format::Int19), StoredKey::Rowid) => Some(row.rowid),
            (Some(Format::Int16 | Format::Int19), StoredKey::Int(n)) => Some(n),
            _ => None,
        };
        let has_place =
            matches!((format, key), (Some(Format::Text), StoredKey::Text) | (Some(Format::Blob), StoredKey::Blob));
        if let Some((format, n)) = format.zip(int) {
            let exact = format.decode(Key::Int(n)).ok();
            row.odd = exact.is_none();
            row.place = exact.or_else(|| format.decode_close(Key::Int(n)));
        } else if !has_place {
            (row.place, row.odd) = (None, true);
        }
        if row.lost {
            row.stale = stale.next().copied().unwrap_or(false);
        }
        row
    })
}

/// Infers the rule of keys above LOD 0 if it is not given, and reports the old one and keys that only the other rule fits.
pub(super) fn apply_rule<S: Source, R: Iterator<Item = StreamRow>>(
    stream: &mut Stream<S>,
    rule: Option<KeyRule>,
    rows: impl Fn() -> R,
) {
    let keys = || rows().filter(|row| !row.stale && row.voxels != Blob::Null).filter_map(|row| row.place);
    let marked = (stream.pages.header.application == NEW_RULE_MARK).then_some(KeyRule::New);
    stream.rule = rule.or(marked).unwrap_or_else(|| KeyRule::infer(keys));
    let root = stream.tables.iter().find(|table| table.is("blocks")).map_or(0, |table| table.root);
    let span = if root == 0 { Span::default() } else { stream.pages.span_in_file(root) };
    let mut report = |code, field, count: u64| {
        if count > 0 {
            stream.damage.push(Damage::new(code, span, field).found(Value::Number(count)));
        }
    };
    if stream.rule == KeyRule::Old {
        let [mut by_old, mut by_new] = [0u64; 2];
        for (_, rule) in rows().map(by_old_rule) {
            match rule {
                Some(KeyRule::Old) => by_old = by_old.saturating_add(1),
                Some(KeyRule::New) => by_new = by_new.saturating_add(1),
                None => {}
            }
        }
        report(Code::StreamKeyRule, "keys of rows above LOD 0", by_old);
        report(Code::StreamKeyMixed, "keys by the new rule", by_new);
    } else {
        let count = KeyRule::count_old(keys);
        report(Code::StreamKeyMixed, "keys by the rule of 2021", u64::try_from(count).unwrap_or(u64::MAX));
    }
}

/// Rows that are read to see whether the format of keys is another one, and the fewest that show it. Chosen.
const SAMPLED: usize = 4096;
const LEAST: usize = 6;

/// How much nearer to the origin blocks are by the right format. An integer key that is read in the wrong format has coordinates that are
/// at least 64 times as large along one axis.
const NEARER: u64 = 8;

/// Reports the format of integer keys in the settings if no block has a neighbour by it, while most have one by the other format.
pub(super) fn report_other_format<S: Source>(stream: &mut Stream<S>) {
    let Some(format) = stream.meta.format else { return };
    let other = match format {
        Format::Int16 => Format::Int19,
        Format::Int19 => Format::Int16,
        Format::Text | Format::Blob => return,
    };
    let exact = stream.rows.iter().filter(|row| !row.odd && !row.moved).filter_map(|row| row.place);
    let own: HashSet<Place> = exact.take(SAMPLED).collect();
    let read = |place: &Place| other.decode(format.encode(*place)?.as_key()).ok();
    let others: HashSet<Place> = own.iter().filter_map(read).collect();
    // Along z, keys differ by one in both formats.
    let count_beside = |all: &HashSet<Place>| {
        let is_beside = |place: &&Place| {
            [0, 1].iter().any(|&axis| all.contains(&Place { position: axes::next(place.position, axis), ..**place }))
        };
        all.iter().filter(is_beside).count()
    };
    let reach = |all: &HashSet<Place>| -> u64 {
        all.iter().flat_map(|place| place.position).map(|v| u64::from(v.unsigned_abs())).sum()
    };
    let is_other = others.len() == own.len()
        && own.len() >= LEAST
        && count_beside(&own) == 0
        && count_beside(&others) * 2 >= others.len()
        && reach(&others).saturating_mul(NEARER) <= reach(&own);
    if is_other {
        let damaged = Damage::new(Code::StreamMetaField, Span::default(), FORMAT_FIELD);
        let [found, expected] = [format, other].map(|format| Value::Number(format.code().into()));
        stream.damage.push(damaged.found(found).expected(expected));
    }
}

/// A row with its place by the old rule, and by which rule its key is if it has voxels above LOD 0: by the new one if no block has
/// such a key by the old one. A newer engine wrote these, and they keep the position of their key. Instances were always
/// stored under the position of their block, so rows without voxels keep theirs.
pub(super) fn by_old_rule(mut row: StreamRow) -> (StreamRow, Option<KeyRule>) {
    let Some(key) = row.place.filter(|place| row.voxels != Blob::Null && place.lod > 0) else { return (row, None) };
    let Some(place) = KeyRule::Old.place(key) else { return (row, Some(KeyRule::New)) };
    row.place = Some(place);
    row.moved = place != key;
    (row, Some(KeyRule::Old))
}
