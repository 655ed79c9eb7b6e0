//! Writes the rows of a new database and reads them back.

use std::io;
use std::path::Path;

use rusqlite::{Connection, params_from_iter};
use xxhash_rust::xxh3::Xxh3;

use super::tables;
use crate::draft::{self, Draft};
use crate::godot::container;
use crate::godot::stream::loc::{Format, Key, KeyRule, Place};
use crate::godot::stream::write::{self as stream, SqlKey};
use crate::limits::Limits;
use crate::repair::Error;
use crate::repair::stream::examine::{Stored, hash};
use crate::repair::stream::{Part, StreamDecision, StreamPlan, Work};
use crate::save::{Beside, OwnedKey, Stream, StreamLayout, StreamScratch};
use crate::source::FileSource;

/// Builds the database and reads it back. Returns the parts of the schema that are not in it.
pub(super) fn rebuild(
    draft: &Draft<'_>,
    plan: &StreamPlan,
    work: &Work,
    limits: &Limits,
) -> Result<Vec<String>, Error> {
    let (file, path) = draft.create(&plan.name)?;
    let sql = |error: rusqlite::Error| Error::from(draft::Error::write(&path)(io::Error::other(error)));
    let read = |error| Error::from(draft::Error::read(&plan.path)(error));
    let db = stream::begin(&path, Some(work.stream.pages.header.page_size)).map_err(sql)?;
    numbers(&db, work).map_err(sql)?;
    tables::settings(&db, work, plan.unsettled.is_some()).map_err(sql)?;
    tables::blocks(&db, work).map_err(sql)?;
    let columns = tables::column_names(&db, "blocks").map_err(sql)?;
    let mut source = Source { plan, work, limits, scratch: [StreamScratch::default(), StreamScratch::default()] };
    let mut written = Written::default();
    for decision in plan.decisions() {
        draft.go_on()?;
        let Some(values) = source.values(&decision).map_err(read)? else { continue };
        let names: Vec<String> = columns.iter().take(values.len()).map(|name| tables::quoted(name)).collect();
        // A row has no more values than its table has columns, unless it is damaged.
        let values = values.get(..names.len()).unwrap_or(&values);
        let marks = vec!["?"; values.len()].join(", ");
        let insert = format!("INSERT INTO blocks ({}) VALUES ({marks})", names.join(", "));
        let mut insert = db.prepare_cached(&insert).map_err(sql)?;
        insert.execute(params_from_iter(values.iter().map(|value| SqlKey(value.as_key())))).map_err(sql)?;
        let content = hash(values.iter().skip(1).map(OwnedKey::as_key));
        written.add(decision.place, values.len(), content);
    }
    let names: Vec<String> = columns.iter().take(2).map(|name| tables::quoted(name)).collect();
    if let (Some(format), [key, voxels]) = (work.meta.format.or(work.stream.format), names.as_slice()) {
        stream::mark_rule(&db, format, [key, voxels]).map_err(sql)?;
    }
    let left_out = tables::others(&db, work).map_err(read)?;
    stream::finish(db, &file).map_err(draft::Error::write(&path))?;
    verify(&path, &written, work.stream.format, limits)?;
    Ok(left_out)
}

/// The numbers that a game may keep in the header of a database.
fn numbers(db: &Connection, work: &Work) -> rusqlite::Result<()> {
    let mut head = Vec::new();
    let known =
        work.stream.pages.read_some(1, 100, &mut head).is_ok() && head.starts_with(crate::sqlite::header::MAGIC);
    for (name, at) in [("user_version", 60), ("application_id", 68)] {
        let number = head.get(at..).and_then(<[u8]>::first_chunk::<4>).map(|bytes| i32::from_be_bytes(*bytes));
        if let Some(number) = number.filter(|number| known && *number != 0) {
            db.pragma_update(None, name, number)?;
        }
    }
    Ok(())
}

/// The sources of rows: the stream and its backup.
struct Source<'s> {
    plan: &'s StreamPlan,
    work: &'s Work,
    limits: &'s Limits,
    scratch: [StreamScratch; 2],
}

impl Source<'_> {
    /// The values of a row that are written.
    fn values(&mut self, decision: &StreamDecision) -> io::Result<Option<Vec<OwnedKey>>> {
        let Self { plan, work, limits, scratch: [own, other] } = self;
        let format = work.meta.format.or(work.stream.format);
        let Some(key) = format.and_then(|format| format.encode(decision.place)) else { return Ok(None) };
        let row = decision.row.and_then(|row| work.stream.rows.get(row as usize));
        if let Some(row) = &row {
            work.stream.fetch(row, own)?;
        }
        let mut older = |part: &Part, instances: bool| -> io::Result<OwnedKey> {
            let (Part::Older(number), Some(older)) = (part, plan.backup.as_deref()) else { return Ok(OwnedKey::Null) };
            let Some(row) = older.stream.rows.get(*number as usize) else { return Ok(OwnedKey::Null) };
            older.stream.fetch(&row, other)?;
            let stream = &older.stream;
            let bytes = if instances { stream.instance_bytes(other) } else { stream.voxel_bytes(other) };
            Ok(bytes.map_or(OwnedKey::Null, |bytes| OwnedKey::Blob(bytes.into())))
        };
        let stored = |value: Key<'_>| OwnedKey::stored(value, &work.stream.pages.header);
        let own_value = |at: usize| match row {
            Some(_) => work.stream.values(own).nth(at).map_or(OwnedKey::Null, stored),
            None => OwnedKey::Null,
        };
        let voxels = match &decision.voxels {
            Part::Kept => own_value(1),
            Part::LeftOut => OwnedKey::Null,
            Part::Mended(mend) => {
                let po2 = work.meta.block_size_po2.unwrap_or(4);
                let bytes = row.and_then(|_| work.stream.voxel_bytes(own));
                let order = work.stream.byte_order();
                let stored = bytes.map(|bytes| Stored::new(bytes, po2, &work.depths, order, limits));
                stored
                    .and_then(|stored| stored.apply(mend, limits))
                    .map_or(OwnedKey::Null, |bytes| OwnedKey::Blob(bytes.into()))
            }
            part @ Part::Older(_) => older(part, false)?,
            Part::Other(_) => OwnedKey::Null,
        };
        let instances = match &decision.instances {
            Part::Kept => own_value(2),
            Part::LeftOut => OwnedKey::Null,
            Part::Mended(_) => row
                .and_then(|_| work.stream.instance_bytes(own))
                .map_or(OwnedKey::Null, |bytes| OwnedKey::Blob(container::with_readable_mode(bytes).into())),
            part @ Part::Older(_) => older(part, true)?,
            Part::Other(number) => {
                let row = work.stream.rows.get(*number as usize).ok_or(io::ErrorKind::NotFound)?;
                work.stream.fetch(&row, other)?;
                let bytes = work.stream.instance_bytes(other);
                bytes.map_or(OwnedKey::Null, |bytes| OwnedKey::Blob(bytes.into()))
            }
        };
        let mut values = vec![OwnedKey::from_utf8(key.as_key()), voxels, instances];
        if row.is_some() {
            values.extend(work.stream.values(own).skip(3).map(stored));
        }
        Ok(Some(values))
    }
}

/// The rows that were written, in the order of their places.
#[derive(Default)]
struct Written {
    rows: usize,
    /// Hash of the places, and of the values except the keys.
    content: Xxh3,
    /// Number of written values, and how many rows in a row have it; later columns have default values.
    values: Vec<(usize, usize)>,
}

impl Written {
    fn add(&mut self, place: Place, values: usize, content: u128) {
        self.rows += 1;
        update(&mut self.content, place, content);
        match self.values.last_mut().filter(|(last, _)| *last == values) {
            Some((_, rows)) => *rows += 1,
            None => self.values.push((values, 1)),
        }
    }
}

/// Adds a row to the hash of all rows.
fn update(all: &mut Xxh3, place: Place, content: u128) {
    all.update(&[place.lod]);
    place.position.iter().for_each(|v| all.update(&v.to_le_bytes()));
    all.update(&content.to_le_bytes());
}

/// Reads the result with this library's reader and with SQLite.
fn verify(path: &Path, written: &Written, format: Option<Format>, limits: &Limits) -> Result<(), Error> {
    let wrong = |why: String| Error::from(draft::Error::write(path)(io::Error::other(why)));
    if let Some(said) = stream::unsound(path).map_err(|error| wrong(error.to_string()))? {
        return Err(wrong(format!("SQLite finds fault with it: {said}")));
    }
    let source: FileSource = draft::open(path)?;
    // Keys are written by the rule of today, whatever the remaining rows look like.
    let layout = StreamLayout::with_rule(KeyRule::New);
    let read = Stream::load_as(source, Beside::default(), limits, &layout, &mut Vec::new());
    let read = read.map_err(draft::Error::read(path))?;
    let differs = || wrong("it reads back otherwise than it was written".to_owned());
    let Some(read) = read else { return if written.rows == 0 { Ok(()) } else { Err(differs()) } };
    if read.rows.len() != written.rows {
        return Err(differs());
    }
    // If the settings are unknown, the remaining rows may fit another key format.
    if read.meta.format.is_none() && read.format != format {
        return Ok(());
    }
    let mut scratch = StreamScratch::default();
    let mut content = Xxh3::new();
    let values = written.values.iter().flat_map(|(values, rows)| std::iter::repeat_n(*values, *rows));
    for (row, values) in read.rows.iter().zip(values) {
        let place = row.place.ok_or_else(differs)?;
        read.fetch(&row, &mut scratch).map_err(draft::Error::read(path))?;
        update(&mut content, place, hash(read.values(&scratch).take(values).skip(1)));
    }
    if content.digest128() != written.content.digest128() {
        return Err(differs());
    }
    Ok(())
}
