//! The table of all blocks as an SQLite database.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, Result, params};

use crate::check::{Advice, FileTable, Finding, Row};
use crate::damage::Space;
use crate::godot::channel::NAMES;
use crate::godot::stream::loc::Format;
use crate::picture::palette::Palette;

/// One transaction without a journal: a draft that fails is deleted.
const SCHEMA: &str = "BEGIN;
    CREATE TABLE blocks (id INTEGER PRIMARY KEY, file TEXT, lod INTEGER, x INTEGER, y INTEGER, z INTEGER,
        slot INTEGER, sector INTEGER, sectors INTEGER, bytes INTEGER, plain INTEGER, version INTEGER,
        container TEXT, state TEXT, flags TEXT, instances INTEGER, size_x INTEGER, size_y INTEGER, size_z INTEGER,
        metadata_bytes INTEGER, metadata_items INTEGER, coordinate_format INTEGER,
        \"offset\" INTEGER);
    CREATE TABLE channels (block INTEGER REFERENCES blocks (id), channel INTEGER, name TEXT, depth INTEGER,
        storage TEXT, PRIMARY KEY (block, channel)) WITHOUT ROWID;
    CREATE TABLE types (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE findings (block INTEGER REFERENCES blocks (id), code TEXT, level TEXT, file TEXT, start INTEGER,
        \"end\" INTEGER, block_start INTEGER, block_end INTEGER, message TEXT, next TEXT);";

/// A database that is being written.
pub(super) struct Database {
    connection: Connection,
    advice: Advice,
}

impl Database {
    /// Creates a database in an empty file.
    pub fn create(path: &Path, advice: Advice) -> Result<Self> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.pragma_update(None, "journal_mode", "OFF")?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self { connection, advice })
    }

    /// Writes the names of types.
    pub fn types(&self, names: &Palette) -> Result<()> {
        let mut insert = self.connection.prepare_cached("INSERT INTO types VALUES (?, ?)")?;
        // Ids above the range of signed numbers are no types of any engine.
        for (id, name) in names.names().filter_map(|(id, name)| Some((i64::try_from(id).ok()?, name))) {
            insert.execute(params![id, name])?;
        }
        Ok(())
    }

    /// Writes the blocks and findings of a file.
    pub fn file(&self, table: &FileTable) -> Result<()> {
        let mut first = None;
        for row in table.rows.iter() {
            let id = self.block(&row)?;
            first.get_or_insert(id);
        }
        for (slot, finding) in &table.findings {
            let row = slot.and_then(|slot| table.rows.find(slot));
            let id = row.zip(first).and_then(|(row, first)| Some(first + i64::try_from(row).ok()?));
            self.finding(id, finding)?;
        }
        Ok(())
    }

    /// Writes a block; returns its number.
    fn block(&self, row: &Row) -> Result<i64> {
        let [x, y, z] = row.position.map_or([None; 3], |p| p.map(Some));
        let [size_x, size_y, size_z] = row.inside().size.map_or([None; 3], |p| p.map(Some));
        let flags = super::flags(row, "=", " ");
        self.connection
            .prepare_cached(
                "INSERT INTO blocks VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![
                &*row.file,
                row.lod,
                x,
                y,
                z,
                row.slot,
                row.sector,
                row.sectors,
                whole(row.bytes),
                whole(row.plain),
                row.version,
                row.container,
                row.state(),
                (!flags.is_empty()).then_some(flags),
                row.instances.map(whole),
                size_x,
                size_y,
                size_z,
                row.inside().metadata_bytes,
                row.inside().metadata_items,
                row.key.map(Format::code),
                row.offset.map(whole),
            ])?;
        let id = self.connection.last_insert_rowid();
        let mut channel = self.connection.prepare_cached("INSERT INTO channels VALUES (?, ?, ?, ?, ?)")?;
        for (n, depth, storage) in row.inside().channels() {
            channel.execute(params![id, n as i64, NAMES[n], depth.bits(), storage.name()])?;
        }
        Ok(id)
    }

    /// Writes a finding, with the number of its block.
    pub fn finding(&self, block: Option<i64>, finding: &Finding) -> Result<()> {
        let inside = (finding.damage.space == Space::Block).then_some(finding.damage.span);
        let mut insert =
            self.connection.prepare_cached("INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
        insert.execute(params![
            block,
            finding.code().name(),
            finding.level().name(),
            &*finding.file,
            finding.span.map(|span| whole(span.start)),
            finding.span.map(|span| whole(span.end)),
            inside.map(|span| whole(span.start)),
            inside.map(|span| whole(span.end)),
            finding.message(),
            self.advice.next(finding),
        ])?;
        Ok(())
    }

    /// Writes what is still buffered.
    pub fn finish(self) -> Result<()> {
        self.connection.execute_batch("COMMIT")?;
        self.connection.close().map_err(|(_, error)| error)
    }
}

/// SQLite has signed numbers only.
fn whole(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
