//! The tables of a new database: those of a stream, with the old definitions where they are usable, and foreign ones.

use std::collections::HashMap;
use std::io;

use rusqlite::{Connection, params_from_iter};

use super::{can_be_made, is_kept_by_sqlite, is_plain};
use crate::bytes::index;
use crate::godot::stream::loc::{Format, Key};
use crate::godot::stream::write::{CHANNELS_SQL, SqlKey, blocks_sql, meta_sql};
use crate::repair::stream::{Work, foreign};
use crate::save::{OwnedKey, Stream, Table};
use crate::source::FileSource;

/// An error of reading or of writing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error("{0}")]
    Read(#[from] io::Error),
    #[error("{0}")]
    Write(#[from] rusqlite::Error),
}

/// A name as written in a statement.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A column as SQLite understands the statement of its table.
struct Column {
    name: String,
    /// In upper case.
    kind: String,
    /// Whether a row must have a value there that a row without one does not get by itself.
    needed: bool,
    /// Its number in the primary key, from 1 on; 0 where it is not in it.
    key: i64,
    /// Whether it is computed from others.
    generated: bool,
}

/// What SQLite makes of the statement of a table, in a database of its own. `None` if the statement computes something,
/// makes another table, or constrains more than names and types do.
fn describe(table: &Table) -> Option<Vec<Column>> {
    if !is_plain(&table.sql, 2) {
        return None;
    }
    let db = Connection::open_in_memory().ok()?;
    db.execute_batch(&table.sql).ok()?;
    let strict = "SELECT strict FROM pragma_table_list(?1) WHERE schema = 'main'";
    let strict: bool = db.query_row(strict, [&table.name], |row| row.get(0)).ok()?;
    let unique = "SELECT count(*) FROM pragma_index_list(?1) WHERE origin = 'u'";
    let unique: i64 = db.query_row(unique, [&table.name], |row| row.get(0)).ok()?;
    if strict || unique > 0 {
        return None;
    }
    let columns =
        "SELECT name, upper(type), \"notnull\" AND dflt_value IS NULL, pk, hidden FROM pragma_table_xinfo(?1)";
    let mut select = db.prepare(columns).ok()?;
    let columns = select.query_map([&table.name], |row| {
        Ok(Column {
            name: row.get(0)?,
            kind: row.get(1)?,
            needed: row.get(2)?,
            key: row.get(3)?,
            generated: row.get::<_, i64>(4)? != 0,
        })
    });
    columns.ok()?.collect::<rusqlite::Result<_>>().ok()
}

/// Creates the table of blocks: by the statement of the source if the engine can use the table and keys keep their type
/// with it, otherwise by the engine's own with the names of the columns that were added.
pub(super) fn blocks(db: &Connection, work: &Work) -> rusqlite::Result<()> {
    let table = work.stream.tables.iter().find(|table| table.is("blocks"));
    let format = work.meta.format.or(work.stream.format);
    let kind = match format {
        Some(Format::Int16 | Format::Int19) => Some("INTEGER"),
        Some(Format::Text) => Some("TEXT"),
        Some(Format::Blob) => Some("BLOB"),
        None => None,
    };
    let columns = table.and_then(describe);
    let fits = |columns: &Vec<Column>| {
        let named = columns.iter().map(|column| column.name.to_ascii_lowercase()).take(3);
        named.eq(["loc", "vb", "instances"])
            && columns.iter().enumerate().all(|(at, column)| {
                let key = at == 0;
                (column.key == 1) == key && (column.key == 0) != key && (key || !column.needed) && !column.generated
            })
            && columns.first().is_some_and(|key| kind.is_none_or(|kind| key.kind == kind))
    };
    if let (Some(table), true) = (table, columns.as_ref().is_some_and(fits)) {
        return db.execute_batch(&table.sql);
    }
    let sql = blocks_sql(format.unwrap_or(Format::Int16));
    let names: Vec<String> = match (columns, table) {
        (Some(columns), _) => columns.into_iter().filter(|c| !c.generated).map(|column| column.name).collect(),
        (None, Some(table)) => table.columns(),
        (None, None) => Vec::new(),
    };
    let more: Vec<String> = names.iter().skip(3).map(|name| quoted(name)).collect();
    match (more.as_slice(), sql.strip_suffix(')')) {
        ([_, ..], Some(start)) => db.execute_batch(&format!("{start}, {})", more.join(", "))),
        _ => db.execute_batch(sql),
    }
}

/// Creates the table of settings, with the corrected row or the old rows.
pub(super) fn settings(db: &Connection, work: &Work, unsettled: bool) -> rusqlite::Result<()> {
    let version = work.meta.version.unwrap_or(1);
    let table = work.stream.tables.iter().find(|table| table.is("meta"));
    let expected = ["version", "block_size_po2", "coordinate_format"];
    let needed = if version == 0 { 2 } else { 3 };
    let fits = |table: &&Table| {
        describe(table).is_some_and(|columns| {
            let same = columns.iter().zip(expected).take_while(|(a, b)| a.name.eq_ignore_ascii_case(b)).count();
            same >= needed && columns.iter().skip(same).all(|column| !column.needed && !column.generated)
        })
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

pub(super) fn column_names(db: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut select = db.prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid")?;
    select.query_map([table], |row| row.get(0))?.collect()
}

/// The column that is an alias of the row number, if there is one.
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
    // A row that is shorter than its table has default values in columns that were added later.
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

/// Copies the rows of a table that exists already.
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

/// Creates the table of channels with its rows, and foreign tables. Returns the names of those that could not be
/// created, or not with all rows.
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
            // The readable rows were written.
            Ok(false) => left_out.extend((!own).then(|| table.name.clone())),
            Err(Failed::Read(error)) => return Err(error),
            Err(Failed::Write(_)) => {
                left_out.push(table.name.clone());
                // It may not exist.
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
    // Row numbers that were used once are not used again.
    if let Some(table) = tables.iter().find(|t| t.name.eq_ignore_ascii_case("sqlite_sequence") && t.root > 0)
        && db.execute_batch("DELETE FROM sqlite_sequence").is_ok()
        && !matches!(copy_rows(db, &work.stream, table), Ok(true))
    {
        left_out.push(table.name.clone());
    }
    Ok(left_out)
}
