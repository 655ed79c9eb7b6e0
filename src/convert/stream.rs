//! Writing an SQLite stream, as the engine lays one out.

use std::path::{Path, PathBuf};

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, OpenFlags, ToSql, params};

use crate::beside::{self, Draft};
use crate::convert::groups::{all, has_holes, units};
use crate::convert::make::{Made, Maker};
use crate::convert::report::{Kind, Report};
use crate::convert::{Error, Layout, Work};
use crate::godot::stream::loc::{Format, Owned, Place};
use crate::resize::Fill;
use crate::world::{Buffer, World};

/// The database in the directory that is being built.
pub(super) const NAME: &str = "stream";

/// Blocks of the source that are read before what came of them is written.
const BLOCKS: usize = 1024;

/// How positions are written where nothing is asked for: as in the source, or by numbers, where they do.
pub(super) fn keys(world: &World<'_>, layout: &Layout) -> Format {
    let [low, high] = Format::Int19.range();
    let [from, to] = [layout.from, layout.to].map(i64::from);
    let fits = |position: [i32; 3]| {
        let ends = position.map(|n| [i64::from(n) * from, (i64::from(n) + 1) * from - 1]);
        ends.iter().flatten().all(|n| (i64::from(low)..=i64::from(high)).contains(&n.div_euclid(to)))
    };
    let all_fit =
        || world.lods().iter().all(|&lod| world.index(lod).extent().is_none_or(|ends| ends.into_iter().all(fits)));
    world
        .keys()
        .filter(|_| layout.from == layout.to)
        .unwrap_or_else(|| if all_fit() { Format::Int19 } else { Format::Text })
}

struct SqlKey(Owned);

impl ToSql for SqlKey {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match &self.0 {
            Owned::Int(n) => n.to_sql(),
            Owned::Text(text) => text.to_sql(),
            Owned::Blob(bytes) => bytes.as_slice().to_sql(),
        }
    }
}

/// Writes the database; gives its path.
pub(super) fn write(work: &Work<'_>, draft: &Draft<'_>, report: &mut Report) -> Result<PathBuf, Error> {
    let (file, path) = draft.create(Path::new(NAME))?;
    let keys = work.layout.keys.unwrap_or(Format::Int19);
    let mut writing = Writing { work, keys, lod: 0 };
    // The file is there, empty: SQLite must not make another one, and may trust it to be thrown away when this fails.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let for_errors = path.clone();
    let failed = failed(&for_errors);
    let database = Connection::open_with_flags(&path, flags).map_err(&failed)?;
    writing.begin(&database).map_err(&failed)?;
    for lod in work.world.lods() {
        writing.lod = lod;
        writing.lod(draft, &database, report, &failed)?;
    }
    database.execute_batch("COMMIT").map_err(&failed)?;
    database.close().map_err(|(_, error)| failed(error))?;
    file.sync_all().map_err(beside::Error::write(&path))?;
    Ok(path)
}

fn failed(path: &Path) -> impl Fn(rusqlite::Error) -> Error + '_ {
    |error| beside::Error::write(path)(std::io::Error::other(error)).into()
}

struct Writing<'w> {
    work: &'w Work<'w>,
    keys: Format,
    lod: u8,
}

impl Writing<'_> {
    fn begin(&self, database: &Connection) -> rusqlite::Result<()> {
        let key = match self.keys {
            Format::Int16 | Format::Int19 => "INTEGER",
            Format::Text => "TEXT",
            Format::Blob => "BLOB",
        };
        database.pragma_update(None, "journal_mode", "OFF")?;
        database.pragma_update(None, "synchronous", "OFF")?;
        database.execute_batch(&format!(
            "BEGIN;
             CREATE TABLE meta (version INTEGER, block_size_po2 INTEGER, coordinate_format INTEGER);
             CREATE TABLE blocks (loc {key} PRIMARY KEY, vb BLOB, instances BLOB);
             CREATE TABLE channels (idx INTEGER PRIMARY KEY, depth INTEGER);"
        ))?;
        let po2 = self.work.layout.to.trailing_zeros();
        database.execute("INSERT INTO meta VALUES (1, ?1, ?2)", params![po2, self.keys.code()])?;
        for (channel, depth) in (0..).zip(self.work.layout.depths) {
            let channel: i64 = channel;
            database.execute("INSERT INTO channels VALUES (?1, ?2)", params![channel, depth.code()])?;
        }
        Ok(())
    }

    fn lod(
        &self,
        draft: &Draft<'_>,
        database: &Connection,
        report: &mut Report,
        failed: &impl Fn(rusqlite::Error) -> Error,
    ) -> Result<(), Error> {
        let (work, lod) = (self.work, self.lod);
        let index = work.world.index(lod);
        report.index(&index);
        let sources = all(work, &index, report);
        let fill =
            if has_holes(work, &sources) { Fill::of(work.world, &index, &|| work.stopped()) } else { Fill::default() };
        let bare = index.bare;
        drop(index.blocks);
        let maker = Maker { work, lod, fill: &fill, window: BLOCKS };
        let (mut done, total) = (0, sources.len() as u64);
        let mut insert = database.prepare("INSERT INTO blocks VALUES (?1, ?2, ?3)").map_err(failed)?;
        let mut sink = |Made { position, container, instances, .. }: Made, report: &mut Report| {
            let Some(key) = self.keys.encode(Place { lod, position }) else {
                report.written -= 1;
                report.list(Kind::TooLarge, lod, position, "its position does not fit the keys".to_owned());
                return Ok(());
            };
            insert.execute(params![SqlKey(key), container, instances]).map(drop).map_err(failed)
        };
        let mut progress = |read| {
            done += read;
            if let Some(progress) = work.options.progress {
                progress(done, total);
            }
        };
        maker.all(&units(work, &sources), draft, &|_| true, report, &mut sink, &mut progress)?;
        let mut buffer = Buffer::default();
        for at in &bare {
            work.world.fetch(at, &mut buffer)?;
            let key = self.keys.encode(Place { lod, position: at.position });
            match (key, maker.instances(at, &mut buffer, report)) {
                (Some(key), Some(bytes)) => {
                    insert.execute(params![SqlKey(key), None::<Vec<u8>>, bytes]).map_err(failed)?;
                }
                (None, Some(_)) => {
                    let why = "their position does not fit the keys".to_owned();
                    report.list(Kind::Instances, lod, at.position, why);
                }
                // They are listed.
                (_, None) => {}
            }
        }
        Ok(())
    }
}
