//! The row of settings: what it says, and what keys and blocks say where it does not.

use std::collections::BTreeSet;

use crate::bytes::Span;
use crate::damage::Code;
use crate::godot::stream::loc::{Format, Key};
use crate::godot::stream::meta::Meta;
use crate::repair::stream::examine::{Seen, State};
use crate::repair::stream::keys;
use crate::save::{OwnedKey, Stream};
use crate::source::FileSource;

/// Blocks that must agree to overrule a row of settings that is possible by itself.
const OVERRULE: usize = 4;

/// A field of the settings that is put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub field: &'static str,
    /// What it said; `None` where it said nothing.
    pub was: Option<String>,
    /// What it says now.
    pub is: i64,
    /// Why, in words.
    pub why: &'static str,
}

/// What the settings come to.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// What is written; `None` for what nothing tells.
    pub meta: Meta,
    pub put_right: Vec<Setting>,
    /// Why the rows of settings stay as they are.
    pub unsettled: Option<&'static str>,
    /// The rows of the table, as they are.
    pub rows: Vec<Vec<OwnedKey>>,
}

/// The only value of all that have one.
fn agreed<T: Ord + Copy>(all: impl Iterator<Item = T>) -> Option<T> {
    let set: BTreeSet<T> = all.collect();
    (set.len() == 1).then(|| set.first().copied()).flatten()
}

/// Reads the settings of a stream and holds them against its rows.
pub(super) fn settle(stream: &Stream<FileSource>, seen: &[Seen]) -> std::io::Result<Settled> {
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
        Meta::decode(&columns, &mut Vec::new())
    };
    let mut metas: Vec<Meta> = rows.iter().map(decode).collect();
    if metas.is_empty() && stream.damage.iter().all(|d| d.code != Code::StreamMetaMissing) {
        // Found on a page that its table has lost.
        metas.push(stream.meta);
    }
    let exact = |format: Format| seen.iter().filter(|s| format.decode(s.key.as_key()).is_ok()).count();
    let said_format = agreed(metas.iter().filter_map(|meta| meta.format));
    let said_size = agreed(metas.iter().filter_map(|meta| meta.block_size_po2));
    let said_version = agreed(metas.iter().filter_map(|meta| meta.version));
    let readable = seen.iter().filter(|s| s.readable).count();
    // Only where a key is no place by what the settings say, they may be wrong.
    let doubted = said_format.is_none_or(|format| exact(format) < readable);
    let told_format = doubted.then(|| tell(seen)).flatten();
    let whole = || seen.iter().filter(|s| s.voxels == State::Whole && s.side > 1);
    let told_size = agreed(whole().map(|s| s.side)).and_then(|side| u8::try_from(side.trailing_zeros()).ok());
    let format = match (said_format, told_format) {
        // A possible format is overruled where it is that of hardly any key.
        (Some(said), Some(told)) if said != told && 2 * exact(said) < readable && readable >= OVERRULE => Some(told),
        (said, told) => said.or(told),
    };
    let block_size_po2 = match (said_size, told_size) {
        (Some(said), Some(told)) if said != told && whole().count() >= OVERRULE => Some(told),
        (said, told) => said.or(told),
    };
    let has_format = table.is_none_or(|table| table.columns.len() > 2);
    let version = said_version.or(Some(u8::from(has_format)));
    // Version 0 has keys of format 0 only.
    let version = if format.is_some_and(|format| format != Format::Int16) { Some(1) } else { version };
    let mut settled = Settled { meta: Meta { version, block_size_po2, format }, rows, ..Settled::default() };
    settled.unsettled = match (format, block_size_po2) {
        (None, _) if readable == 0 => Some("there is no row to tell the settings from"),
        (None, _) => Some("its keys leave a choice of formats"),
        (_, None) => Some("no block tells the size of blocks, or they disagree"),
        _ => None,
    };
    if settled.unsettled.is_none() {
        settled.compare(&metas);
    }
    Ok(settled)
}

fn tell(seen: &[Seen]) -> Option<Format> {
    let keys: Vec<Key<'_>> = seen.iter().filter(|s| s.readable).map(|s| s.key.as_key()).collect();
    keys::tell(&keys)
}

impl Settled {
    /// What of the settings is another than the one row of them says.
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
            put_right.push(Setting { field, was: raw(at), is, why: why(by) });
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
