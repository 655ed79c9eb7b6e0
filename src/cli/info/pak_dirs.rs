//! What directories of pak regions are made of.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use voxscope::check::{self, LeftOut};
use voxscope::pak::Inferred;
use voxscope::pak::chunk::{Order, Shape};
use voxscope::pak::offset::Reading;
use voxscope::pak::place::Grid;
use voxscope::printable::{printable, triple};
use voxscope::save::{Owner, PakDir, PakScratch, Save};

use crate::cli::output::{Align, BOLD, DIM, count, grouped, size, table, write_table};

/// The column of the first block.
const FIRST_BLOCK: usize = 7;

/// Files that are listed one by one.
const FILES: usize = 200;

#[derive(Serialize)]
pub struct PakDirInfo {
    path: String,
    /// What the text calls it.
    #[serde(skip)]
    title: String,
    /// The name of the room, which the names of its files begin with.
    room: Option<String>,
    files: Vec<FileInfo>,
}

#[derive(Serialize)]
struct FileInfo {
    name: String,
    bytes: u64,
    /// `None` if the name of the file does not show it.
    region: Option<[i32; 3]>,
    /// What is known when the header can be read.
    header: Option<HeaderInfo>,
    /// What is left out of the file although it holds chunks.
    left_out: Option<String>,
}

#[derive(Serialize)]
struct HeaderInfo {
    tag: String,
    version: i32,
    records: usize,
    chunks: usize,
    reading: Inferred<Reading>,
    grid: Option<Inferred<Grid>>,
    /// The shape of the first chunk that implies one.
    shape: Option<Inferred<Shape>>,
    /// The order of the voxels of chunks of that shape.
    order: Option<Inferred<Order>>,
    /// Blocks of 4,096 bytes.
    blocks: Blocks,
}

#[derive(Serialize)]
struct Blocks {
    in_file: u64,
    header: u64,
    used: u64,
    shared: u64,
    free: u64,
    beyond_end: u64,
}

impl PakDirInfo {
    /// Whether it has a chunk, or a file that cannot be read as a whole.
    pub fn has_chunks(&self) -> bool {
        let has = |file: &FileInfo| file.left_out.is_some() || file.header.as_ref().is_none_or(|h| h.chunks > 0);
        self.files.iter().any(has)
    }

    /// Whether the header of each file can be read, in the order of the files.
    pub fn is_read(&self) -> impl Iterator<Item = bool> {
        self.files.iter().map(|file| file.header.is_some())
    }

    /// What is left out of the files although they hold chunks.
    pub fn left_out(&self) -> impl Iterator<Item = LeftOut> {
        self.files.iter().filter_map(|file| Some(LeftOut { file: file.name.clone(), why: file.left_out.clone()? }))
    }
}

pub fn gather(save: &Save, pak_dir: &PakDir, given: &Path) -> PakDirInfo {
    let files = pak_dir.files.iter().map(|file| {
        let path = pak_dir.dir.join(&file.name);
        let pak = save.pak(pak_dir, file, &mut Vec::new()).ok().flatten();
        // What cannot be read is reported with the file.
        let left_out = pak.as_ref().and_then(|pak| check::uncounted_chunks(pak).ok().flatten());
        let header = pak.map(|pak| {
            let map = pak.sector_map();
            let shape = pak.first_shape(&mut PakScratch::default());
            HeaderInfo {
                tag: pak.header.tag.escape_ascii().to_string(),
                version: pak.header.version,
                records: pak.records.len(),
                chunks: pak.present().count(),
                blocks: Blocks {
                    in_file: map.in_file,
                    header: map.count(|owner| owner == Owner::Header),
                    used: map.count(|owner| matches!(owner, Owner::Block(_))),
                    shared: map.count(|owner| owner == Owner::Shared),
                    free: map.count(|owner| owner == Owner::Free),
                    beyond_end: map.count(|owner| matches!(owner, Owner::BeyondEnd(_))),
                },
                order: shape.as_ref().map(|shape| pak.order(&shape.value)),
                shape,
                reading: pak.reading,
                grid: pak.grid,
            }
        });
        let region = file.is_placed.then_some(file.region);
        FileInfo { name: save.shown(&path), bytes: file.len, region, header, left_out }
    });
    let [path, title] = [super::shown_by, super::title].map(|name| name(save, given, &pak_dir.dir));
    PakDirInfo {
        path,
        title,
        room: (!pak_dir.room.is_empty()).then(|| printable(&pak_dir.room)),
        files: files.collect(),
    }
}

pub fn print(out: &mut impl Write, pak_dir: &PakDirInfo) -> io::Result<()> {
    let room = pak_dir.room.as_ref().map_or_else(String::new, |room| format!(" · room {room}"));
    writeln!(out, "{BOLD}{}{BOLD:#}{room} · {}", pak_dir.title, count(pak_dir.files.len() as u64, "pak region"))?;
    writeln!(out)?;
    let columns = [
        ("  region", Align::Left),
        ("size", Align::Right),
        ("version", Align::Right),
        ("chunks", Align::Right),
        ("of", Align::Right),
        ("blocks", Align::Right),
        ("free", Align::Right),
        ("first block", Align::Left),
        ("tag", Align::Left),
    ];
    let mut rows = table(&columns);
    for file in pak_dir.files.iter().take(FILES) {
        let region =
            file.region.map_or_else(|| format!("  {}, region unknown", file.name), |at| format!("  {}", triple(at)));
        let Some(header) = &file.header else {
            // The columns between are numbers, aligned to the right.
            let mut row = vec![String::new(); columns.len()];
            [row[0], row[1], row[FIRST_BLOCK]] = [region, size(file.bytes), "cannot be read".to_owned()];
            rows.add_row(row);
            continue;
        };
        rows.add_row([
            region,
            size(file.bytes),
            header.version.to_string(),
            grouped(header.chunks as u64),
            grouped(header.records as u64),
            grouped(header.blocks.in_file),
            grouped(header.blocks.free),
            format!("in {}, {}", header.reading.value.name(), header.reading.how.name()),
            header.tag.clone(),
        ]);
    }
    write_table(out, &rows)?;
    let headers = || pak_dir.files.iter().filter_map(|file| file.header.as_ref());
    let shapes = headers().filter_map(|header| header.shape.as_ref());
    write_inferred(out, "shape of chunks", shapes, |shape| {
        let [x, y, z] = shape.size;
        format!("{x} x {y} x {z} voxels of {}", count(shape.voxel_bytes.into(), "byte"))
    })?;
    let orders = headers().filter_map(|header| header.order.as_ref());
    write_inferred(out, "order of voxels, the last axis fastest", orders, |order| order.name().to_owned())?;
    if pak_dir.files.len() > FILES {
        writeln!(out, "  {DIM}and {} more{DIM:#}", count((pak_dir.files.len() - FILES) as u64, "file"))?;
    }
    Ok(())
}

/// Writes each distinct value once, with how it is known and the number of regions that have it if they differ.
fn write_inferred<'a, T: PartialEq + 'a>(
    out: &mut impl Write,
    what: &str,
    values: impl Iterator<Item = &'a Inferred<T>>,
    words: impl Fn(&T) -> String,
) -> io::Result<()> {
    let mut distinct: Vec<(&Inferred<T>, u64)> = Vec::new();
    for value in values {
        match distinct.iter_mut().find(|(known, _)| *known == value) {
            Some((_, n)) => *n += 1,
            None => distinct.push((value, 1)),
        }
    }
    for (value, n) in &distinct {
        let regions = if distinct.len() > 1 { format!(" in {}", count(*n, "region")) } else { String::new() };
        let (value, how, why) = (words(&value.value), value.how.name(), value.why);
        writeln!(out, "  {what}: {value}{regions} {DIM}· {how}: {why}{DIM:#}")?;
    }
    Ok(())
}
