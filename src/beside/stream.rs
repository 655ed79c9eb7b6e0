//! An SQLite stream that is being written, by the library of SQLite: as the engine lays one out, into a file that is
//! there already and empty.

use std::fs::File;
use std::io;
use std::path::Path;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, Statement, ToSql, params};

use crate::godot::channel::{CHANNELS, Depth};
use crate::godot::stream::loc::{Format, Key, Owned};

/// What a stream says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// 0, which has no column for the format of keys and keys of format 0, or 1.
    pub version: u8,
    /// Voxels along an axis of a block, as a power of two.
    pub block_size_po2: u8,
    /// How keys are written.
    pub format: Format,
}

/// A key, or any other value of a row, as SQLite takes it.
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

/// The statement that makes the table of settings.
#[must_use]
pub const fn meta_sql(version: u8) -> &'static str {
    if version == 0 {
        "CREATE TABLE meta (version INTEGER, block_size_po2 INTEGER)"
    } else {
        "CREATE TABLE meta (version INTEGER, block_size_po2 INTEGER, coordinate_format INTEGER)"
    }
}

/// The statement that makes the table of blocks.
#[must_use]
pub const fn blocks_sql(format: Format) -> &'static str {
    match format {
        Format::Int16 | Format::Int19 => "CREATE TABLE blocks (loc INTEGER PRIMARY KEY, vb BLOB, instances BLOB)",
        Format::Text => "CREATE TABLE blocks (loc TEXT PRIMARY KEY, vb BLOB, instances BLOB)",
        Format::Blob => "CREATE TABLE blocks (loc BLOB PRIMARY KEY, vb BLOB, instances BLOB)",
    }
}

/// The statement that makes the table of channels, which the engine fills and never reads.
pub const CHANNELS_SQL: &str = "CREATE TABLE channels (idx INTEGER PRIMARY KEY, depth INTEGER)";

/// Makes the tables of a stream and its settings; the table of blocks is empty.
///
/// # Errors
/// What SQLite says.
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

/// The statement that puts a row into the table of blocks.
///
/// # Errors
/// What SQLite says.
pub fn insert(db: &Connection) -> rusqlite::Result<Statement<'_>> {
    db.prepare("INSERT INTO blocks VALUES (?1, ?2, ?3)")
}

/// Puts a row into the table of blocks.
///
/// # Errors
/// What SQLite says.
pub fn put(
    insert: &mut Statement<'_>,
    key: &Owned,
    voxels: Option<&[u8]>,
    instances: Option<&[u8]>,
) -> rusqlite::Result<()> {
    insert.execute(params![SqlKey(key.as_key()), voxels, instances]).map(drop)
}

/// Opens an empty file as a database of which nobody else knows, and begins. Where it fails it is thrown away, so that
/// no journal is needed on the disk; nothing that a schema asks for is held against the rows that are put in.
///
/// # Errors
/// What SQLite says.
pub fn begin(path: &Path, page_size: Option<u32>) -> rusqlite::Result<Connection> {
    // The file is there, empty: SQLite must not make another one.
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

/// Ends what was begun, and makes sure that it is on the disk.
///
/// # Errors
/// What SQLite and the operating system say.
pub fn finish(db: Connection, file: &File) -> io::Result<()> {
    db.execute_batch("COMMIT").map_err(io::Error::other)?;
    db.close().map_err(|(_, error)| io::Error::other(error))?;
    file.sync_all()
}

/// What SQLite itself finds wrong with a database; `None` when it is sound.
///
/// # Errors
/// What SQLite says when it cannot look.
pub fn unsound(path: &Path) -> rusqlite::Result<Option<String>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    let said: String = db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    Ok((said != "ok").then_some(said))
}
