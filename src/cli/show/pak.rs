//! `show` for pak regions: a chunk by its coordinates or the number of its record, or a voxel of one.

use std::io::{self, Write};

use serde_json::json;
use voxscope::check::{self, BlockAt, Finding, LeftOut, SaveArguments};
use voxscope::damage::Code;
use voxscope::pak::chunk::{Shape, Voxels};
use voxscope::pak::place::Grid;
use voxscope::pak::record::{self, Record};
use voxscope::pak::{Inferred, strings};
use voxscope::printable::{printable, triple};
use voxscope::save::{Pak, PakDir, PakScratch, PakView, Save};
use voxscope::source::FileSource;

use super::{Arguments, Format, Request};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{BOLD, DIM, complain_of_parts, count, grouped};

/// Strings of a chunk that are listed.
const STRINGS: usize = 100;

/// The requested chunk, if it has a record.
struct FoundChunk<'s> {
    file: String,
    pak: &'s Pak<FileSource>,
    number: u32,
    record: Record,
    /// The requested voxel: its position in the world, and in the chunk.
    voxel: Option<([i32; 3], [u32; 3])>,
}

/// Shows the requested chunk in each file of a pak directory; returns how many were shown, and the exit code for chunks of these
/// files whose records the header does not count.
pub fn show(
    out: &mut impl Write,
    Request { arguments, subject, .. }: &Request<'_>,
    save: &Save,
    pak_dir: &PakDir,
) -> Result<(usize, Exit), Failure> {
    let mut scratch = PakScratch::default();
    let (mut shown, mut exit) = (0, Exit::CLEAN);
    for file in &pak_dir.files {
        let name = save.shown(&pak_dir.dir.join(&file.name));
        let failed = |error: String| Failure::Failed(format!("{name}: {error}"));
        let Some(pak) = save.pak(pak_dir, file, &mut Vec::new()).map_err(|error| failed(error.to_string()))? else {
            continue;
        };
        let uncounted = pak.uncounted().map_err(|error| failed(error.to_string()))?;
        // By the number of records that the file has, not by the one that its header gives.
        let counted = uncounted.and_then(|uncounted| Grid::from_record_count(uncounted.records));
        let grid = counted.or_else(|| pak.grid.clone()).map(|grid| grid.value);
        let Some((number, voxel)) = wanted(arguments, &pak, grid, &mut scratch) else { continue };
        if uncounted.is_some() {
            let why = check::uncounted_chunks(&pak).map_err(|error| failed(error.to_string()))?;
            let left_out: Vec<LeftOut> = why.map(|why| LeftOut { file: name.clone(), why }).into_iter().collect();
            exit = exit.and(complain_of_parts(&left_out));
        }
        let Some(record) = pak.records.get(number as usize).copied().filter(|record| !record.is_absent()) else {
            continue;
        };
        let place = FoundChunk { file: name.clone(), pak: &pak, number, record, voxel };
        let view = pak.view(number, record, &mut scratch).map_err(|error| failed(error.to_string()))?;
        shown += 1;
        match arguments.format {
            Format::Json | Format::Jsonl => arguments.format.write(out, &to_json(&place, &view, subject))?,
            Format::Text => {
                print(out, &place, &view, subject)?;
                if let Some(located) = view.located.filter(|_| arguments.hex) {
                    writeln!(out)?;
                    super::print_hex(out, &pak.source, &name, located.stored)?;
                }
            }
        }
    }
    Ok((shown, exit))
}

/// The requested record, and the voxel in it.
#[allow(clippy::type_complexity)]
fn wanted(
    arguments: &Arguments,
    pak: &Pak<FileSource>,
    grid: Option<Grid>,
    scratch: &mut PakScratch,
) -> Option<(u32, Option<([i32; 3], [u32; 3])>)> {
    if let Some(number) = arguments.record {
        return Some((number, None));
    }
    let grid = grid?;
    let (chunk, voxel) = match arguments.voxel {
        None => (arguments.block?, None),
        Some(voxel) => {
            let size = pak.first_shape(scratch)?.value.size.map(|n| i32::try_from(n).unwrap_or(i32::MAX).max(1));
            let chunk = [0, 1, 2].map(|i| voxel[i].div_euclid(size[i]));
            let inside = [0, 1, 2].map(|i| voxel[i].rem_euclid(size[i]).unsigned_abs());
            (chunk, Some((voxel, inside)))
        }
    };
    let (region, record) = grid.find(chunk);
    Some((record.filter(|_| region == pak.region)?, voxel))
}

fn print(out: &mut impl Write, place: &FoundChunk<'_>, view: &PakView<'_>, subject: &SaveArguments) -> io::Result<()> {
    let chunk = place.pak.chunk(place.number).map_or_else(String::new, |chunk| format!("chunk {} · ", triple(chunk)));
    writeln!(out, "{BOLD}{chunk}record {}{BOLD:#} · {}", place.number, place.file)?;
    let Record { block_offset, block_length, file_length } = place.record;
    // Damaged records have negative numbers.
    let s = if block_length == 1 { "" } else { "s" };
    writeln!(out, "  block offset {block_offset} · {block_length} block{s} · length {file_length}")?;
    inferred(out, "first block", &place.pak.reading, |reading| reading.name().to_owned())?;
    if let Some(grid) = &place.pak.grid {
        inferred(out, "records", grid, |grid| format!("{} chunks", sizes(grid.size())))?;
    }
    if let (Some(located), Some(payload)) = (view.located, view.payload) {
        let whole = if payload.whole { "" } else { ", not whole" };
        writeln!(
            out,
            "  bytes {} · {} stored, {} decompressed{whole}",
            located.stored,
            count(located.stored.len(), "byte"),
            grouped(payload.plain.len() as u64),
        )?;
    }
    if let (Some(shape), Some(payload)) = (&view.shape, view.payload) {
        inferred(out, "shape", shape, shape_words)?;
        let order = place.pak.order(&shape.value);
        inferred(out, "order of voxels, the last axis fastest", &order, |order| order.name().to_owned())?;
        if let Some((world, inside)) = place.voxel {
            let voxels = Voxels { data: payload.plain, shape: shape.value, order: order.value };
            let value = voxels.get(inside).map_or_else(|| "not there".to_owned(), |n| format!("{n} (0x{n:x})"));
            writeln!(out, "  voxel {} · {} in the chunk: {value}", triple(world), triple(inside))?;
        }
    }
    if let Some(payload) = view.payload.filter(|_| place.pak.header.version >= 7 && place.voxel.is_none()) {
        let found = strings::find(payload.plain, STRINGS);
        for text in &found.texts {
            writeln!(out, "  {DIM}text at 0x{:x}{DIM:#} {}", text.offset, printable(text.text))?;
        }
        if found.total > found.texts.len() as u64 {
            writeln!(out, "  and {} more", count(found.total - found.texts.len() as u64, "text"))?;
        }
    }
    writeln!(out)?;
    super::print_findings_of_data(out, "chunk", &findings(place, view), subject)
}

fn inferred<T>(out: &mut impl Write, what: &str, value: &Inferred<T>, words: impl Fn(&T) -> String) -> io::Result<()> {
    let others: Vec<String> = value.alternatives.iter().map(&words).collect();
    let others = if others.is_empty() { String::new() } else { format!("; also possible: {}", others.join(", ")) };
    writeln!(out, "  {what}: {} {DIM}· {}: {}{others}{DIM:#}", words(&value.value), value.how.name(), value.why)
}

fn sizes([x, y, z]: [u32; 3]) -> String {
    format!("{x} x {y} x {z}")
}

fn shape_words(shape: &Shape) -> String {
    format!("{} voxels of {}", sizes(shape.size), count(shape.voxel_bytes.into(), "byte"))
}

fn findings(place: &FoundChunk<'_>, view: &PakView<'_>) -> Vec<Finding> {
    let file: std::sync::Arc<str> = place.file.as_str().into();
    let at = BlockAt { lod: 0, position: place.pak.chunk(place.number) };
    // If the record locates nothing, the finding points to the record.
    let stored = view.located.map_or(record::span(place.number), |located| located.stored);
    let shared = place.pak.overlap(place.number).map(|shared| {
        let finding = Finding::of_block(file.clone(), at, stored, shared.damage);
        Finding { remark: Some(shared.words()), ..finding }
    });
    let own = view.damage.iter().filter(|damage| damage.code != Code::PakOverlap);
    let own = own.map(|damage| Finding::of_block(file.clone(), at, stored, *damage));
    shared.into_iter().chain(own).collect()
}

fn to_json(place: &FoundChunk<'_>, view: &PakView<'_>, subject: &SaveArguments) -> serde_json::Value {
    let payload = view.payload;
    let texts = payload.filter(|_| place.pak.header.version >= 7).map(|payload| {
        let found = strings::find(payload.plain, STRINGS);
        found.texts.iter().map(|text| json!({ "offset": text.offset, "text": text.text })).collect::<Vec<_>>()
    });
    let voxel = place.voxel.zip(payload).zip(view.shape.as_ref()).map(|(((world, inside), payload), shape)| {
        let order = place.pak.order(&shape.value);
        let voxels = Voxels { data: payload.plain, shape: shape.value, order: order.value };
        json!({ "voxel": world, "inside": inside, "value": voxels.get(inside), "order": order.value })
    });
    json!({
        "file": place.file,
        "record": place.number,
        "chunk": place.pak.chunk(place.number),
        "version": place.pak.header.version,
        "block_offset": place.record.block_offset,
        "block_length": place.record.block_length,
        "file_length": place.record.file_length,
        "bytes": view.located.map(|located| [located.stored.start, located.stored.end]),
        "plain": payload.map(|payload| payload.plain.len()),
        "whole": payload.map(|payload| payload.whole),
        "reading": place.pak.reading,
        "grid": place.pak.grid,
        "shape": view.shape,
        "order": view.shape.as_ref().map(|shape| place.pak.order(&shape.value)),
        "voxel": voxel,
        "texts": texts,
        "findings": super::findings_json(&findings(place, view), subject),
    })
}
