//! The tables of a new database: those of a stream as the old one has them where that serves, and those of others.

use std::collections::HashMap;
use std::io;

use rusqlite::{Connection, params_from_iter};

use super::{can_be_made, is_kept_by_sqlite, is_plain};
use crate::beside::stream::{CHANNELS_SQL, SqlKey, blocks_sql, meta_sql};
use crate::bytes::index;
use crate::godot::stream::loc::{Format, Key};
use crate::repair::stream::{Work, foreign};
use crate::save::{OwnedKey, Stream, Table};
use crate::source::FileSource;

/// What stands in the way: of reading, or of writing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error("{0}")]
    Read(#[from] io::Error),
    #[error("{0}")]
    Write(#[from] rusqlite::Error),
}

/// A name as it stands in a statement.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The statement that makes the table of blocks: that of the source where keys keep their type by it.
pub(super) fn blocks(work: &Work) -> String {
    let table = work.stream.tables.iter().find(|table| table.is("blocks"));
    let format = work.meta.format.or(work.stream.format);
    let kind = match format {
        Some(Format::Int16 | Format::Int19) => Some("INTEGER"),
        Some(Format::Text) => Some("TEXT"),
        Some(Format::Blob) => Some("BLOB"),
        None => None,
    };
    let fits = |table: &&Table| {
        let upper = table.sql.to_ascii_uppercase();
        let key = upper.split_once('(').and_then(|(_, rest)| rest.split(',').next()).unwrap_or_default();
        let typed = kind.is_none_or(|kind| key.split_whitespace().any(|word| word == kind));
        let free = !["NOT", "UNIQUE", "STRICT"]
            .iter()
            .any(|word| upper.split(|c: char| !c.is_alphanumeric()).any(|w| w == *word));
        let named = table.columns.iter().map(String::as_str).take(3).eq(["loc", "vb", "instances"]);
        typed && free && named && key.contains("PRIMARY KEY") && is_plain(&table.sql, 2)
    };
    if let Some(table) = table.filter(fits) {
        return table.sql.clone();
    }
    let sql = blocks_sql(format.unwrap_or(Format::Int16));
    let more: Vec<String> = table.iter().flat_map(|t| t.columns.iter().skip(3)).map(|name| quoted(name)).collect();
    match (more.as_slice(), sql.strip_suffix(')')) {
        ([_, ..], Some(start)) => format!("{start}, {})", more.join(", ")),
        _ => sql.to_owned(),
    }
}

/// Makes the table of settings, with the row that was settled or the rows as they were.
pub(super) fn settings(db: &Connection, work: &Work, unsettled: bool) -> rusqlite::Result<()> {
    let version = work.meta.version.unwrap_or(1);
    let table = work.stream.tables.iter().find(|table| table.is("meta"));
    let expected = ["version", "block_size_po2", "coordinate_format"];
    let needed = if version == 0 { 2 } else { 3 };
    let fits = |table: &&Table| {
        let same = table.columns.iter().zip(expected).take_while(|(a, b)| a == b).count();
        same >= needed && is_plain(&table.sql, 2)
    };
    db.execute_batch(table.filter(fits).map_or(meta_sql(version), |table| table.sql.as_str()))?;
    let columns = column_names(db, "meta")?.len();
    let rows: Vec<Vec<OwnedKey>> = if unsettled {
        work.settings.clone()
    } else {
        let mut row = work.settings.last().cloned().unwrap_or_default();
        let meta = &work.meta;
        let fields = [
            meta.version.map(i64::from),
            meta.block_size_po2.map(i64::from),
            meta.format.map(|format| format.code().into()),
        ];
        for (at, field) in fields.into_iter().enumerate().take(columns) {
            let value = field.map_or(OwnedKey::Null, OwnedKey::Int);
            match row.get_mut(at) {
                Some(place) => *place = value,
                None => row.push(value),
            }
        }
        vec![row]
    };
    for row in rows {
        let row = row.get(..columns).unwrap_or(&row);
        insert_row(db, "meta", &column_names(db, "meta")?, None, row)?;
    }
    Ok(())
}

fn column_names(db: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut select = db.prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid")?;
    select.query_map([table], |row| row.get(0))?.collect()
}

/// The column that stands for the number of the row, if one does.
fn alias(db: &Connection, table: &str) -> rusqlite::Result<Option<usize>> {
    let mut select = db.prepare("SELECT cid, upper(type) FROM pragma_table_info(?1) WHERE pk > 0")?;
    let keys: Vec<(i64, String)> =
        select.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
    let [(at, kind)] = keys.as_slice() else { return Ok(None) };
    Ok((kind == "INTEGER").then(|| index(u64::try_from(*at).unwrap_or(0))))
}

fn insert_row(
    db: &Connection,
    table: &str,
    columns: &[String],
    rowid: Option<i64>,
    values: &[OwnedKey],
) -> rusqlite::Result<()> {
    // A row that is shorter than its table has the usual values in the columns that were added later.
    let mut names: Vec<String> = columns.iter().take(values.len()).map(|name| quoted(name)).collect();
    let mut all: Vec<Key<'_>> = values.iter().take(names.len()).map(OwnedKey::as_key).collect();
    if let Some(rowid) = rowid {
        names.push("rowid".to_owned());
        all.push(Key::Int(rowid));
    }
    let marks = vec!["?"; names.len()].join(", ");
    let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", quoted(table), names.join(", "));
    db.prepare_cached(&sql)?.execute(params_from_iter(all.into_iter().map(SqlKey))).map(drop)
}

/// Copies the rows of a table that was made already.
fn copy_rows(db: &Connection, stream: &Stream<FileSource>, table: &Table) -> Result<bool, Failed> {
    let columns = column_names(db, &table.name)?;
    let alias = alias(db, &table.name)?;
    let named = columns.iter().any(|name| name.eq_ignore_ascii_case("rowid"));
    stream.each_row::<Failed>(table, &mut |rowid, values| {
        let mut values: Vec<OwnedKey> =
            values.iter().map(|value| OwnedKey::stored(*value, &stream.pages.header)).collect();
        if let Some(key) = alias.and_then(|at| values.get_mut(at)) {
            *key = OwnedKey::Int(rowid);
        }
        let rowid = (alias.is_none() && !named).then_some(rowid);
        Ok(insert_row(db, &table.name, &columns, rowid, &values)?)
    })
}

/// Makes the table of channels with its rows, and what others keep in the database. Gives the names of what could not be
/// made, or not with all of its rows.
pub(super) fn others(db: &Connection, work: &Work) -> Result<Vec<String>, io::Error> {
    let tables = &work.stream.tables;
    let mut left_out = Vec::new();
    if tables.is_empty() {
        let depths = work.depths;
        db.execute_batch(CHANNELS_SQL).map_err(io::Error::other)?;
        for (channel, depth) in (0i64..).zip(depths) {
            let row = [OwnedKey::Int(channel), OwnedKey::Int(depth.code().into())];
            insert_row(db, "channels", &["idx".to_owned(), "depth".to_owned()], None, &row)
                .map_err(io::Error::other)?;
        }
    }
    let channels = tables.iter().filter(|table| table.is("channels"));
    let theirs = foreign(tables).filter(|t| t.root > 0 && !t.is_index && !is_kept_by_sqlite(t));
    let theirs = theirs.filter(|t| can_be_made(t, tables));
    for table in channels.chain(theirs) {
        let own = table.is("channels");
        let sql = if own && !is_plain(&table.sql, 2) { CHANNELS_SQL } else { table.sql.as_str() };
        let made = db.execute_batch(sql).map_err(Failed::from).and_then(|()| copy_rows(db, &work.stream, table));
        match made {
            Ok(true) => {}
            // What can be read of it is there.
            Ok(false) => left_out.extend((!own).then(|| table.name.clone())),
            Err(Failed::Read(error)) => return Err(error),
            Err(Failed::Write(_)) => {
                left_out.push(table.name.clone());
                // It may not be there at all.
                let _ = db.execute_batch(&format!("DROP TABLE IF EXISTS {}", quoted(&table.name)));
            }
        }
    }
    let made: HashMap<String, ()> = left_out.iter().map(|name| (name.to_ascii_lowercase(), ())).collect();
    let rest = tables.iter().filter(|t| t.root == 0 || t.is_index && !t.sql.is_empty());
    for part in rest.filter(|t| can_be_made(t, tables) && !made.contains_key(&t.of.to_ascii_lowercase())) {
        if db.execute_batch(&part.sql).is_err() {
            left_out.push(part.name.clone());
        }
    }
    // Numbers that were given once are not given again.
    if let Some(table) = tables.iter().find(|t| t.name.eq_ignore_ascii_case("sqlite_sequence") && t.root > 0)
        && db.execute_batch("DELETE FROM sqlite_sequence").is_ok()
        && !matches!(copy_rows(db, &work.stream, table), Ok(true))
    {
        left_out.push(table.name.clone());
    }
    Ok(left_out)
}
