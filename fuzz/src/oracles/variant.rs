//! Variants of both engine generations.

use voxscope::bytes::{Cursor, len64};
use voxscope::damage::{Code, Damage, Space};
use voxscope::godot::variant::{self, Budget, Dialect, Object, Variant};
use voxscope::printable::printable;

use crate::naive::Bytes;
use crate::naive::variant::{Stop, walk};

use super::{Reach, damage_inside, limits};

/// Codes that leave no value.
const FATAL: [Code; 5] = [Code::VariantCut, Code::VariantType, Code::VariantFlags, Code::VariantDepth, Code::OverLimit];

/// The input is one Variant of Godot 3 and whatever follows it.
pub fn check_3(data: &[u8]) -> Reach {
    one(data, Dialect::Godot3)
}

/// The input is one Variant of Godot 4 and whatever follows it.
pub fn check_4(data: &[u8]) -> Reach {
    one(data, Dialect::Godot4)
}

fn decode(data: &[u8], dialect: Dialect, mut budget: Budget) -> (Option<Variant<'_>>, usize, usize, Vec<Damage>) {
    let (mut cursor, mut damage, before) = (Cursor::new(data), Vec::new(), budget.values);
    let found = variant::decode(&mut cursor, dialect, &mut budget).report_to(&mut damage);
    (found, data.len() - cursor.remaining(), before - budget.values, damage)
}

pub(super) fn one(data: &[u8], dialect: Dialect) -> Reach {
    let all = Budget::from(&limits());
    let (found, used, values, damage) = decode(data, dialect, all);
    damage_inside(&damage, Space::Block, data.len());
    walked(data, dialect, found.is_some().then_some(used), &damage);
    let fatal = damage.iter().filter(|d| FATAL.contains(&d.code)).count();
    let Some(found) = found else {
        assert!(fatal == 1 && damage.last().is_some_and(|d| FATAL.contains(&d.code)), "no value, and why: {damage:?}");
        return match (used, values) {
            (0..=4, _) | (_, 0) => Reach::Refused,
            (5..=8, _) => Reach::Header,
            _ => Reach::Content,
        };
    };
    assert_eq!(fatal, 0, "a value in spite of {damage:?}");
    let read = &data[..used];
    assert!(used >= 4 && used.is_multiple_of(4) && values >= 1, "{used} bytes, {values} values");

    assert!(depth(&found) <= all.depth, "nested deeper than allowed");

    let mut again = Vec::new();
    found.encode(dialect, &mut again);
    assert!(again == read, "{} writes other bytes than it read: {found:?}", dialect.name());
    // The other dialect cannot express every value, but asking must not panic.
    let other = if dialect == Dialect::Godot3 { Dialect::Godot4 } else { Dialect::Godot3 };
    let mut foreign = Vec::new();
    found.encode(other, &mut foreign);
    assert!(foreign.len().is_multiple_of(4), "{} writes {} bytes", other.name(), foreign.len());

    shown(&found, dialect);
    shown(&found, other);

    // One byte less is reported as cut, a limit of one value less as over the limit; the exact limits are enough.
    let (cut, _, _, why) = decode(&read[..used - 1], dialect, all);
    assert!(cut.is_none() && why.last().is_some_and(|d| d.code == Code::VariantCut), "cut by a byte: {why:?}");
    let (tight, ..) = decode(read, dialect, Budget { values, ..all });
    assert!(tight.as_ref() == Some(&found), "a budget of just what it needs is not enough");
    let (poor, _, _, why) = decode(read, dialect, Budget { values: values - 1, ..all });
    assert!(poor.is_none() && why.last().is_some_and(|d| d.code == Code::OverLimit), "one value too many: {why:?}");

    if damage.is_empty() && used as u64 == len64(data) { Reach::Healthy } else { Reach::Content }
}

/// The naive walk reads as far as the library does, or fails where it fails.
fn walked(data: &[u8], dialect: Dialect, used: Option<usize>, damage: &[Damage]) {
    // It has no caps.
    if damage.iter().any(|d| matches!(d.code, Code::OverLimit | Code::VariantDepth)) {
        return;
    }
    let mut bytes = Bytes::new(data);
    match walk(&mut bytes, dialect == Dialect::Godot4, &mut Vec::new()) {
        Err(Stop::Deep) => {}
        Ok(()) => assert_eq!(used, Some(bytes.at), "a naive walk ends elsewhere, {damage:?}"),
        Err(stop) => assert_eq!(used, None, "a naive walk stops with {stop:?}, and the library reads it"),
    }
}

/// How deep a value is nested.
fn depth(value: &Variant<'_>) -> usize {
    let below = match value {
        Variant::Array(array) => array.items.iter().map(depth).max(),
        Variant::Dictionary(dictionary) => dictionary.pairs.iter().map(|(k, v)| depth(k).max(depth(v))).max(),
        Variant::Object(Object::Whole { properties, .. }) => properties.iter().map(|(_, v)| depth(v)).max(),
        _ => None,
    };
    below.map_or(0, |below| below + 1)
}

/// Neither form panics, and the text has no control characters. Line feeds are the text's own: the engine writes
/// dictionaries in lines.
fn shown(found: &Variant<'_>, dialect: Dialect) {
    let text = found.text(dialect);
    assert!(!text.is_empty(), "a value without a text");
    for line in text.split('\n') {
        assert_eq!(printable(line), line, "the text is not fit for a terminal");
    }
    std::hint::black_box(found.to_json(dialect));
}
