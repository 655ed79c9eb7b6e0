//! The same terrain in SQLite streams, written by SQLite's library.

use std::fs;
use std::io;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::bytes::len64;
use crate::demo::forest::{Extent, ForestSpec, Stats};
use crate::demo::noise;
use crate::demo::terrain::Terrain;
use crate::godot::container;
use crate::godot::instances::{INSTANCE_BYTES, Instances};
use crate::godot::stream::loc::{Format, Owned, Place};
use crate::godot::stream::write as stream;
use crate::parallel;
use crate::watch::{Step, Watch};

/// Blocks that are made before they are written.
const BATCH: usize = 1024;

/// The specification of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSpec {
    /// Its blocks and their compression; the layout of regions is ignored.
    pub blocks: ForestSpec,
    /// 0 or 1.
    pub version: u8,
    /// The format of keys.
    pub format: Format,
    /// Bytes of a page, a power of two from 512 to 65,536.
    pub page_size: u32,
    /// Whether blocks of LOD 0 have instances.
    pub instances: bool,
}

impl Default for StreamSpec {
    /// A stream with the defaults of the current engine.
    fn default() -> Self {
        let blocks = ForestSpec { metadata: true, ..ForestSpec::default() };
        Self { blocks, version: 1, format: Format::Int16, page_size: 4096, instances: false }
    }
}

fn failed(error: &rusqlite::Error) -> io::Error {
    io::Error::other(format!("SQLite: {error}"))
}

impl StreamSpec {
    /// A small stream with small pages, so that it has many.
    #[must_use]
    pub fn small(format: Format) -> Self {
        let blocks = ForestSpec {
            terrain: Terrain { reach: 4.0, ..Terrain::new(1) },
            lods: vec![Extent { from: [-1, 0, 0], to: [2, 2, 1] }, Extent { from: [-1, 0, 0], to: [1, 1, 1] }],
            block_size_po2: 3,
            metadata: false,
            ..ForestSpec::default()
        };
        Self { blocks, format, page_size: 1024, instances: true, ..Self::default() }
    }

    /// The tables, empty.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn create(&self, path: &Path) -> io::Result<Connection> {
        self.tables(path).map_err(|error| failed(&error))
    }

    fn tables(&self, path: &Path) -> rusqlite::Result<Connection> {
        let db = Connection::open(path)?;
        db.pragma_update(None, "page_size", self.page_size)?;
        db.pragma_update(None, "synchronous", "OFF")?;
        let Self { version, format, blocks, .. } = self;
        let settings = stream::Settings { version: *version, block_size_po2: blocks.block_size_po2, format: *format };
        stream::make_tables(&db, &settings, &blocks.depths)?;
        Ok(db)
    }

    /// The positions of its blocks.
    fn places(&self) -> Vec<Place> {
        let lods = (0u8..).zip(&self.blocks.lods);
        lods.flat_map(|(lod, extent)| extent.positions().map(move |position| Place { lod, position })).collect()
    }

    /// The container of a block, and its decompressed size.
    fn voxels(&self, place: Place) -> (Vec<u8>, u64) {
        let plain = self.blocks.block(place.lod, place.position).encode();
        let mut packed = Vec::new();
        container::encode(self.blocks.mode, &plain, &mut packed);
        (packed, len64(&plain))
    }

    /// The container of the instances of a block.
    #[must_use]
    pub fn instances_of(&self, place: Place) -> Option<Vec<u8>> {
        if !self.instances || place.lod > 0 {
            return None;
        }
        let mut packed = Vec::new();
        container::encode(self.blocks.mode, &instances(place, self.blocks.format().block_size()), &mut packed);
        Some(packed)
    }
}

/// The key of a position as a parameter for SQLite.
#[must_use]
pub fn key(format: Format, place: Place) -> Option<Value> {
    format.encode(place).map(|key| match key {
        Owned::Int(n) => Value::Integer(n),
        Owned::Text(text) => Value::Text(text),
        Owned::Blob(bytes) => Value::Blob(bytes.to_vec()),
    })
}

/// Instance data of some plants and stones.
#[must_use]
pub fn instances(place: Place, side: u16) -> Vec<u8> {
    let range = f32::from(side);
    let mut out = vec![1, 2];
    out.extend_from_slice(&range.to_le_bytes());
    for (id, count) in [(3u16, 5u16), (7, 2)] {
        out.extend_from_slice(&id.to_le_bytes());
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&0.5f32.to_le_bytes());
        out.extend_from_slice(&1.5f32.to_le_bytes());
        out.push(0);
        for number in 0..count {
            let random = |part: i64| {
                noise::hash(
                    u64::from(id),
                    [i64::from(number) + part * 100, place.position[0].into(), place.position[2].into()],
                )
            };
            let bytes = [random(0).to_le_bytes(), random(1).to_le_bytes()].concat();
            out.extend(bytes.into_iter().take(INSTANCE_BYTES));
        }
    }
    out.extend_from_slice(&[0x0d, 0xf0, 0x0d, 0x90]);
    debug_assert!(Instances::decode(&out).report_to(&mut Vec::new()).epilogue.is_some());
    out
}

/// Writes a stream into a file that must not be there yet. Blocks are made in parallel; the bytes do not depend on the
/// number of threads.
///
/// # Errors
/// If the file exists, if a position does not fit the format of keys, and errors of SQLite.
pub fn write_stream(path: &Path, spec: &StreamSpec, watch: Option<&Watch<'_>>) -> io::Result<Stats> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    // Fails if the file exists; SQLite treats the empty file as a new database.
    fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    let mut db = spec.create(path)?;
    let places = spec.places();
    let watch = watch.copied().unwrap_or_default();
    watch.begin(Step::Writing, places.len() as u64);
    let mut stats = Stats { files: 1, ..Stats::default() };
    for batch in places.chunks(BATCH) {
        let made = parallel::map(batch, |place| (spec.voxels(*place), spec.instances_of(*place)));
        insert(&mut db, spec.format, batch, &made)?;
        stats.blocks += batch.len() as u64;
        stats.plain_bytes += made.iter().map(|((_, plain), _)| plain).sum::<u64>();
        watch.advance(batch.len() as u64);
    }
    db.close().map_err(|(_, error)| failed(&error))?;
    stats.stored_bytes = fs::metadata(path)?.len();
    Ok(stats)
}

type Made = ((Vec<u8>, u64), Option<Vec<u8>>);

fn insert(db: &mut Connection, format: Format, places: &[Place], made: &[Made]) -> io::Result<()> {
    let outside = || io::Error::new(io::ErrorKind::InvalidInput, "a block whose position has no key in this format");
    let transaction = db.transaction().map_err(|error| failed(&error))?;
    let mut rows = stream::insert(&transaction).map_err(|error| failed(&error))?;
    for (place, ((voxels, _), instances)) in places.iter().zip(made) {
        let key = format.encode(*place).ok_or_else(outside)?;
        stream::put(&mut rows, &key, Some(voxels), instances.as_deref()).map_err(|error| failed(&error))?;
    }
    drop(rows);
    transaction.commit().map_err(|error| failed(&error))
}

/// Writes a small stream and changes it by SQL, as another program would.
///
/// # Errors
/// As [`write_stream`].
pub fn write_changed(path: &Path, spec: &StreamSpec, sql: &str) -> io::Result<()> {
    write_stream(path, spec, None)?;
    let db = Connection::open(path).map_err(|error| failed(&error))?;
    db.execute_batch(sql).map_err(|error| failed(&error))?;
    db.close().map_err(|(_, error)| failed(&error))
}
