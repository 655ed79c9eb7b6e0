//! Chunks of pak regions as arrays, each in a file of its own: a chunk says neither its shape nor the order of its
//! voxels, and one need not have those of the next.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use rayon::prelude::*;
use serde_json::{Value as Json, json};

use super::voxels::Error;
use crate::beside::{self, Draft, Watch, Writer};
use crate::pak::chunk::{Order, Shape};
use crate::pak::record::Record;
use crate::printable;
use crate::save::{Pak, PakFile, PakScratch, PakView, Room, Save};
use crate::source::FileSource;
use crate::voxel_map::npy;
use crate::world::Fault;

/// What stands in every chunk's line.
const LINES: &str = "chunks.jsonl";

/// The order in which voxels are assumed to be: x fastest, then z, then y.
const AXES: &str = "y, z, x";

/// What was exported.
#[derive(Debug, Default)]
pub struct Summary {
    /// Chunks.
    pub chunks: u64,
    /// Arrays; the bytes of chunks without a shape are written as they are.
    pub arrays: u64,
    /// Chunks that are not whole.
    pub damaged: u64,
    /// Files that could not be read.
    pub faults: Vec<Fault>,
}

/// Writes the chunk at a position, or all of a directory of pak regions, into a new directory: `FILE.record-N.npy` of
/// shape (y, z, x), or `.bin` where nothing tells the shape; `chunks.jsonl` and `export.json`.
///
/// # Errors
/// When there is no such chunk, there are several directories of pak regions, the destination cannot be used, or something
/// cannot be written.
pub fn chunks(save: &Save, at: Option<[i32; 3]>, to: &Path, watch: &Watch<'_>) -> Result<Summary, Error> {
    let room = room(save)?;
    let draft = Draft::new(&[&save.path], to, "export", watch.cancel)?;
    let mut summary = Summary::default();
    let mut lines = Writer::new(&draft, Path::new(LINES))?;
    for (done, file) in (0..).zip(&room.files) {
        draft.go_on()?;
        watch.tell(done, room.files.len() as u64);
        match region(save, room, file, at, &draft) {
            Ok(written) => {
                for line in written {
                    summary.chunks += 1;
                    summary.arrays += u64::from(line["dtype"].is_string());
                    summary.damaged += u64::from(line["whole"] == false);
                    let mut text = Vec::new();
                    // Writing to memory cannot fail.
                    let _ = super::write_json(&mut text, &line);
                    lines.put(&text)?;
                }
            }
            Err(Failed::Fault(fault)) => summary.faults.push(fault),
            Err(Failed::Beside(error)) => return Err(error.into()),
        }
    }
    if let (Some(at), 0) = (at, summary.chunks) {
        return Err(Error::Request(format!("there is no chunk {}", printable::triple(at))));
    }
    lines.done()?;
    let faults: Vec<Json> = summary.faults.iter().map(|f| json!({ "file": f.file, "why": f.why })).collect();
    let mut text = Vec::new();
    let json = json!({
        "type": "chunks",
        "source": printable::path(&save.path),
        "axes": AXES,
        "order": { "value": Order::default().name(), "how": "assumed", "why": "it is that of the records" },
        "chunks": summary.chunks,
        "arrays": summary.arrays,
        "damaged": summary.damaged,
        "files_unread": faults,
    });
    let _ = super::write_json_pretty(&mut text, &json);
    draft.file(Path::new("export.json"), &text)?;
    draft.finish()?;
    Ok(summary)
}

/// The one directory of pak regions, or file of one, that a save is.
pub(super) fn room(save: &Save) -> Result<&Room, Error> {
    match save.rooms.as_slice() {
        [room] => Ok(room),
        _ => {
            let why = "there are several saves here, or no pak regions: name one directory or file of them";
            Err(Error::Request(why.to_owned()))
        }
    }
}

/// A region with its records; `None` when its header cannot be read.
pub(super) fn open(save: &Save, room: &Room, file: &PakFile) -> Result<Option<Pak<FileSource>>, Error> {
    let failed = |error| Error::Request(format!("{}: {error}", save.shown(&room.dir.join(&file.name))));
    save.pak(room, file, &mut Vec::new()).map_err(failed)
}

/// Why the chunks of a file were not written.
enum Failed {
    Fault(Fault),
    Beside(beside::Error),
}

/// Writes the chunks of one file; gives their lines, by record.
fn region(
    save: &Save,
    room: &Room,
    file: &PakFile,
    at: Option<[i32; 3]>,
    draft: &Draft<'_>,
) -> Result<Vec<Json>, Failed> {
    let path = room.dir.join(&file.name);
    let shown = save.shown(&path);
    let fault = |why: String| Failed::Fault(Fault { file: shown.clone(), why });
    let mut damage = Vec::new();
    let pak = save.pak(room, file, &mut damage).map_err(|error| fault(error.to_string()))?;
    let Some(pak) = pak else {
        return Err(fault(damage.first().map_or_else(|| "nothing in it can be read".to_owned(), ToString::to_string)));
    };
    let stem = file.name.file_stem().unwrap_or_default();
    let wanted: Vec<(u32, Record)> =
        pak.present().filter(|(number, _)| at.is_none_or(|at| pak.chunk(*number) == Some(at))).collect();
    let written = wanted.into_par_iter().map_init(PakScratch::default, |scratch, (number, record)| {
        draft.go_on().map_err(Failed::Beside)?;
        let view = pak.view(number, record, scratch).map_err(|error| fault(error.to_string()))?;
        let mut name = OsString::from(stem);
        // Writing to memory cannot fail.
        let _ = write!(name, ".record-{number}");
        chunk(&pak, &shown, number, &view, name, draft).map_err(Failed::Beside)
    });
    let written: Result<Vec<Json>, Failed> = written.collect();
    if pak.source.changed().unwrap_or(true) {
        return Err(Failed::Beside(beside::Error::Changed(path)));
    }
    written
}

fn chunk(
    pak: &Pak<FileSource>,
    file: &str,
    number: u32,
    view: &PakView<'_>,
    mut name: OsString,
    draft: &Draft<'_>,
) -> Result<Json, beside::Error> {
    let plain = view.payload.map_or(&[][..], |payload| payload.plain);
    let shape = view.shape.as_ref().map(|shape| shape.value).filter(|shape| shape.bytes() == plain.len() as u64);
    name.push(if shape.is_some() { ".npy" } else { ".bin" });
    let (dtype, axes) = match shape {
        Some(Shape { size: [x, y, z], voxel_bytes }) => (dtype(voxel_bytes), [y, z, x].map(u64::from)),
        None => (String::new(), [0; 3]),
    };
    let mut out = Writer::new(draft, Path::new(&name))?;
    if shape.is_some() {
        out.put(&npy::header(&dtype, &axes))?;
    }
    out.put(plain)?;
    out.done()?;
    Ok(json!({
        "file": file,
        "record": number,
        "chunk": pak.chunk(number),
        "array": printable::path(Path::new(&name)),
        "dtype": shape.map(|_| dtype),
        "shape": shape.map(|_| axes),
        "shape_is": view.shape,
        "bytes": plain.len(),
        "whole": view.payload.is_some_and(|payload| payload.whole),
        "findings": view.damage.iter().map(|d| d.code.name()).collect::<Vec<_>>(),
    }))
}

/// NumPy's name of numbers of so many bytes, little-endian; of other sizes, of bytes that mean nothing to it.
fn dtype(voxel_bytes: u8) -> String {
    match voxel_bytes {
        1 => "|u1".to_owned(),
        2 | 4 | 8 => format!("<u{voxel_bytes}"),
        n => format!("|V{n}"),
    }
}
