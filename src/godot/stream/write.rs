//! Writes an SQLite stream with SQLite's own library, with the tables of the engine, into an existing
//! empty file.

use std::fs::File;
use std::io;
use std::path::Path;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, Statement, ToSql, params};

use crate::godot::channel::{CHANNELS, Depth};
use crate::godot::stream::loc::{Format, Key, KeyRule, NEW_RULE_MARK, Owned, Place, RuleEvidence};

/// The settings of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// 0, which has no column for the format of keys and keys of format 0, or 1.
    pub version: u8,
    /// Voxels along an axis of a block, as a power of two.
    pub block_size_po2: u8,
    /// The format of keys.
    pub format: Format,
}

/// A key or another value of a row, as a parameter for SQLite.
#[derive(Clone, Copy, Debug)]
pub struct SqlKey<'k>(pub Key<'k>);

impl ToSql for SqlKey<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Key::Null => ValueRef::Null,
            Key::Int(n) => ValueRef::Integer(n),
            Key::Float(n) => ValueRef::Real(n),
            Key::Text(bytes) => ValueRef::Text(bytes),
            Key::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// The statement that creates the table of settings.
#[must_use]
pub const fn meta_sql(version: u8) -> &'static str {
    if version == 0 {
        "CREATE TABLE meta (version INTEGER, block_size_po2 INTEGER)"
    } else {
        "CREATE TABLE meta (version INTEGER, block_size_po2 INTEGER, coordinate_format INTEGER)"
    }
}

/// The statement that creates the table of blocks.
#[must_use]
pub const fn blocks_sql(format: Format) -> &'static str {
    match format {
        Format::Int16 | Format::Int19 => "CREATE TABLE blocks (loc INTEGER PRIMARY KEY, vb BLOB, instances BLOB)",
        Format::Text => "CREATE TABLE blocks (loc TEXT PRIMARY KEY, vb BLOB, instances BLOB)",
        Format::Blob => "CREATE TABLE blocks (loc BLOB PRIMARY KEY, vb BLOB, instances BLOB)",
    }
}

/// The statement that creates the table of channels, which the engine fills and never reads.
pub const CHANNELS_SQL: &str = "CREATE TABLE channels (idx INTEGER PRIMARY KEY, depth INTEGER)";

/// Creates the tables of a stream and writes its settings; the table of blocks is empty.
///
/// # Errors
/// Errors of SQLite.
pub fn make_tables(db: &Connection, settings: &Settings, depths: &[Depth; CHANNELS]) -> rusqlite::Result<()> {
    let Settings { version, block_size_po2, format } = *settings;
    db.execute_batch(meta_sql(version))?;
    db.execute_batch(blocks_sql(format))?;
    db.execute_batch(CHANNELS_SQL)?;
    if version == 0 {
        db.execute("INSERT INTO meta VALUES (?, ?)", params![version, block_size_po2])?;
    } else {
        db.execute("INSERT INTO meta VALUES (?, ?, ?)", params![version, block_size_po2, format.code()])?;
    }
    for (channel, depth) in (0u8..).zip(depths) {
        db.execute("INSERT INTO channels VALUES (?, ?)", params![channel, depth.code()])?;
    }
    Ok(())
}

/// The statement that inserts a row into the table of blocks.
///
/// # Errors
/// Errors of SQLite.
pub fn insert(db: &Connection) -> rusqlite::Result<Statement<'_>> {
    db.prepare("INSERT INTO blocks VALUES (?1, ?2, ?3)")
}

/// Inserts a row into the table of blocks.
///
/// # Errors
/// Errors of SQLite.
pub fn put(
    insert: &mut Statement<'_>,
    key: &Owned,
    voxels: Option<&[u8]>,
    instances: Option<&[u8]>,
) -> rusqlite::Result<()> {
    insert.execute(params![SqlKey(key.as_key()), voxels, instances]).map(drop)
}

/// The statement that inserts instances, or adds them to the row of their block.
///
/// # Errors
/// Errors of SQLite.
pub fn insert_instances(db: &Connection) -> rusqlite::Result<Statement<'_>> {
    db.prepare(
        "INSERT INTO blocks VALUES (?1, NULL, ?2) ON CONFLICT (loc) DO UPDATE SET instances = excluded.instances",
    )
}

/// Inserts instances into the table of blocks.
///
/// # Errors
/// Errors of SQLite.
pub fn put_instances(insert: &mut Statement<'_>, key: &Owned, instances: &[u8]) -> rusqlite::Result<()> {
    insert.execute(params![SqlKey(key.as_key()), instances]).map(drop)
}

/// Opens an empty file as a private database and begins a transaction. A failed database is deleted, so
/// no journal is needed on the disk; constraints of the schema are not checked.
///
/// # Errors
/// Errors of SQLite.
pub fn begin(path: &Path, page_size: Option<u32>) -> rusqlite::Result<Connection> {
    // The empty file exists; SQLite must not create another one.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    if let Some(size) = page_size {
        db.pragma_update(None, "page_size", size)?;
    }
    db.pragma_update(None, "journal_mode", "MEMORY")?;
    db.pragma_update(None, "synchronous", "OFF")?;
    db.pragma_update(None, "foreign_keys", "OFF")?;
    db.pragma_update(None, "ignore_check_constraints", "ON")?;
    db.pragma_update(None, "trusted_schema", "OFF")?;
    db.execute_batch("BEGIN")?;
    Ok(db)
}

/// Marks a database with keys of the new rule as such, where they would otherwise be read by the old one. A number that another
/// program put there stays. `columns` are those of the table of blocks: the key and the voxels, as SQL names. Keys are read
/// from the database, so that only those above LOD 0 are held in memory.
///
/// # Errors
/// Errors of SQLite.
pub fn mark_rule(db: &Connection, format: Format, columns: [&str; 2]) -> rusqlite::Result<()> {
    let taken: i64 = db.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if taken != 0 {
        return Ok(());
    }
    let mut above = Vec::new();
    each_place(db, format, columns, &mut |place| {
        if place.lod > 0 {
            above.push(place);
        }
    })?;
    let Some(mut evidence) = RuleEvidence::new(above) else { return Ok(()) };
    each_place(db, format, columns, &mut |place| {
        if place.lod == 0 {
            evidence.add(place);
        }
    })?;
    if evidence.rule() == KeyRule::Old {
        db.pragma_update(None, "application_id", NEW_RULE_MARK)?;
    }
    Ok(())
}

/// Passes on the places of all rows with voxels, as their keys have them.
fn each_place(
    db: &Connection,
    format: Format,
    [key, voxels]: [&str; 2],
    take: &mut dyn FnMut(Place),
) -> rusqlite::Result<()> {
    let mut keys = db.prepare(&format!("SELECT {key} FROM blocks WHERE {voxels} IS NOT NULL"))?;
    let mut rows = keys.query([])?;
    while let Some(row) = rows.next()? {
        let key = match row.get_ref(0)? {
            ValueRef::Null => Key::Null,
            ValueRef::Integer(n) => Key::Int(n),
            ValueRef::Real(n) => Key::Float(n),
            ValueRef::Text(bytes) => Key::Text(bytes),
            ValueRef::Blob(bytes) => Key::Blob(bytes),
        };
        if let Ok(place) = format.decode(key) {
            take(place);
        }
    }
    Ok(())
}

/// Commits and syncs the database.
///
/// # Errors
/// Errors of SQLite, and I/O errors.
pub fn finish(db: Connection, file: &File) -> io::Result<()> {
    db.execute_batch("COMMIT").map_err(io::Error::other)?;
    db.close().map_err(|(_, error)| io::Error::other(error))?;
    file.sync_all()
}

/// The first fault that SQLite's own check finds; `None` if the database is sound.
///
/// # Errors
/// Errors of SQLite if it cannot check.
pub fn unsound(path: &Path) -> rusqlite::Result<Option<String>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    let said: String = db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    Ok((said != "ok").then_some(said))
}
