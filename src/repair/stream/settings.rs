//! The row of settings: its fields, corrected by keys and blocks where needed.

use std::collections::BTreeSet;

use crate::bytes::Span;
use crate::damage::Code;
use crate::godot::stream::loc::{Format, Key};
use crate::godot::stream::meta::{FORMAT_FIELD, Meta};
use crate::repair::stream::examine::{Seen, State};
use crate::repair::stream::keys::FormatCounts;
use crate::save::{OwnedKey, Stream};
use crate::source::FileSource;

/// Number of blocks that must agree to overrule a valid row of settings.
const OVERRULE: u64 = 4;

/// A field of the settings that is corrected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub field: &'static str,
    /// The old value; `None` if there was none.
    pub was: Option<String>,
    /// The new value.
    pub is: i64,
    /// Why, in words.
    pub why: &'static str,
}

/// The decided settings.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// The settings that are written; `None` for unknown fields.
    pub meta: Meta,
    pub put_right: Vec<Setting>,
    /// Why the rows of settings are not changed.
    pub unsettled: Option<&'static str>,
    /// The rows of the table, unchanged.
    pub rows: Vec<Vec<OwnedKey>>,
}

/// The common value of all that have one.
fn agreed<T: Ord + Copy>(all: impl Iterator<Item = T>) -> Option<T> {
    let set: BTreeSet<T> = all.collect();
    (set.len() == 1).then(|| set.first().copied()).flatten()
}

/// What the rows of a stream show of its settings.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// The keys of the rows that can be read.
    keys: FormatCounts,
    /// Those of rows with whole blocks.
    whole_keys: FormatCounts,
    readable: u64,
    /// The sizes of whole blocks, and how many blocks have one.
    sides: BTreeSet<u16>,
    sized: u64,
}

impl Evidence {
    /// Collects the evidence of some rows.
    pub fn of<'s>(rows: impl IntoIterator<Item = &'s Seen>) -> Self {
        let mut evidence = Self::default();
        rows.into_iter().for_each(|seen| evidence.add(seen));
        evidence
    }

    /// Adds the evidence of a row.
    pub fn add(&mut self, seen: &Seen) {
        let is_whole = seen.voxels == State::Whole;
        if seen.readable {
            self.readable += 1;
            self.keys.add(seen.key.as_key());
            if is_whole {
                self.whole_keys.add(seen.key.as_key());
            }
        }
        if is_whole && seen.side > 1 {
            self.sized += 1;
            self.sides.insert(seen.side);
        }
    }
}

/// Reads the settings of a stream and compares them with its rows.
pub(super) fn decide_settings(stream: &Stream<FileSource>, evidence: &Evidence) -> std::io::Result<Settled> {
    let mut rows: Vec<Vec<OwnedKey>> = Vec::new();
    let table = stream.tables.iter().find(|table| table.is("meta"));
    if let Some(table) = table {
        stream.each_row::<std::io::Error>(table, &mut |_, values| {
            rows.push(values.iter().map(|value| OwnedKey::stored(*value, &stream.pages.header)).collect());
            Ok(())
        })?;
    }
    let decode = |row: &Vec<OwnedKey>| {
        let columns: Vec<(Key<'_>, Span)> = row.iter().map(|value| (value.as_key(), Span::default())).collect();
        Meta::decode(&columns).report_to(&mut Vec::new())
    };
    let mut metas: Vec<Meta> = rows.iter().map(decode).collect();
    if metas.is_empty() && stream.damage.iter().all(|d| d.code != Code::StreamMetaMissing) {
        // The row was found on a page that its table lost.
        metas.push(stream.meta);
    }
    let exact = |format: Format| evidence.keys.of(format);
    let said_format = agreed(metas.iter().filter_map(|meta| meta.format));
    let said_size = agreed(metas.iter().filter_map(|meta| meta.block_size_po2));
    let said_version = agreed(metas.iter().filter_map(|meta| meta.version));
    let readable = evidence.readable;
    // The settings may be wrong only if a key is not a position with them.
    let is_contradicted = stream.damage.iter().any(|d| d.code == Code::StreamMetaField && d.field == FORMAT_FIELD);
    let doubted = is_contradicted || said_format.is_none_or(|format| exact(format) < readable);
    // If several formats fit the keys of all rows, those of the whole rows may decide: the copy has only these.
    let told_format =
        if doubted { evidence.keys.infer_format().or_else(|| evidence.whole_keys.infer_format()) } else { None };
    let told_size = agreed(evidence.sides.iter()).and_then(|side| u8::try_from(side.trailing_zeros()).ok());
    let format = match (said_format, told_format) {
        // A valid format is overruled if hardly any key has it, or if blocks have neighbours by another one only.
        (Some(said), Some(told)) if said != told && (is_contradicted || 2 * exact(said) < readable) => {
            Some(if readable >= OVERRULE { told } else { said })
        }
        (said, told) => said.or(told),
    };
    let block_size_po2 = match (said_size, told_size) {
        (Some(said), Some(told)) if said != told && evidence.sized >= OVERRULE => Some(told),
        (said, told) => said.or(told),
    };
    let has_format = table.is_none_or(|table| table.columns().len() > 2);
    let version = said_version.or(Some(u8::from(has_format)));
    // Version 0 has keys of format 0 only.
    let version = if format.is_some_and(|format| format != Format::Int16) { Some(1) } else { version };
    let mut settled = Settled { meta: Meta { version, block_size_po2, format }, rows, ..Settled::default() };
    settled.unsettled = match (format, block_size_po2) {
        (None, _) if readable == 0 => Some("no row is left to infer the settings from"),
        (None, _) => Some("its keys leave a choice of formats"),
        (_, None) => Some("no block states the size of blocks, or they disagree"),
        _ => None,
    };
    if settled.unsettled.is_none() {
        settled.compare(&metas);
    }
    Ok(settled)
}

impl Settled {
    /// The settings that differ from the row.
    fn compare(&mut self, metas: &[Meta]) {
        let one = (self.rows.len() == 1).then(|| metas.first().copied()).flatten();
        let raw = |at: usize| {
            let row = self.rows.first().filter(|_| self.rows.len() == 1)?;
            row.get(at).map(|value| in_words(value.as_key()))
        };
        let why = |by: &'static str| match self.rows.len() {
            0 => "the row was missing",
            1 => by,
            _ => "there were several rows",
        };
        let Meta { version, block_size_po2, format } = self.meta;
        let fields = [
            ("version", 0, version.map(i64::from), one.and_then(|m| m.version).map(i64::from), "it was impossible"),
            (
                "block_size_po2",
                1,
                block_size_po2.map(i64::from),
                one.and_then(|m| m.block_size_po2).map(i64::from),
                "the blocks say so",
            ),
            (
                "coordinate_format",
                2,
                format.map(|f| f.code().into()),
                one.and_then(|m| m.format).map(|f| f.code().into()),
                "the keys say so",
            ),
        ];
        let mut put_right = Vec::new();
        for (field, at, is, was, by) in fields {
            let Some(is) = is.filter(|is| was != Some(*is)) else { continue };
            let was = raw(at);
            // A right value may be there and not be used because of another field.
            if was.as_ref() != Some(&is.to_string()) {
                put_right.push(Setting { field, was, is, why: why(by) });
            }
        }
        self.put_right = put_right;
    }
}

fn in_words(value: Key<'_>) -> String {
    match value {
        Key::Null => "NULL".to_owned(),
        Key::Int(n) => n.to_string(),
        Key::Float(n) => n.to_string(),
        Key::Text(_) => "a text".to_owned(),
        Key::Blob(_) => "a blob".to_owned(),
    }
}
