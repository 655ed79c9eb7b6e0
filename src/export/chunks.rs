//! Chunks of pak regions as arrays, each in its own file: a chunk stores neither its shape nor the order of its
//! voxels, and both may differ between chunks.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use super::voxels::Error;
use crate::bytes::index;
use crate::check::{self, Misplaced};
use crate::draft::{self, Draft, Writer};
use crate::pak::Inferred;
use crate::pak::chunk::{Order, Shape, Voxels};
use crate::pak::record::Record;
use crate::parallel;
use crate::printable;
use crate::save::{EXPORT_REPORT, Pak, PakDir, PakFile, PakScratch, PakView, Save};
use crate::source::FileSource;
use crate::voxel_map::npy;
use crate::watch::{Step, Watch};
use crate::world::Fault;

/// The common part of every chunk's line.
const LINES: &str = "chunks.jsonl";

/// The assumed order of voxels: x fastest, then z, then y.
const AXES: &str = "y, z, x";

/// What was exported.
#[derive(Debug, Default)]
pub struct Summary {
    /// Chunks.
    pub chunks: u64,
    /// Arrays; chunks of unknown shape are written as bytes.
    pub arrays: u64,
    /// Chunks that are not whole.
    pub damaged: u64,
    /// The first ones of these, with the codes of their findings.
    pub first_damaged: Vec<(String, String)>,
    /// Chunks that their records put where they do not belong, or may not.
    pub misplaced: Misplaced,
    /// Files that could not be read, or not completely.
    pub faults: Vec<Fault>,
}

/// `export.json`: see OUTPUT.md.
#[derive(Serialize)]
struct ChunksReport<'s> {
    r#type: &'static str,
    source: String,
    axes: &'static str,
    chunks: u64,
    arrays: u64,
    damaged: u64,
    misplaced: u64,
    files_unread: &'s [Fault],
}

/// A line of `chunks.jsonl`.
#[derive(Serialize)]
struct Line {
    file: String,
    record: u32,
    chunk: Option<[i32; 3]>,
    array: String,
    dtype: Option<String>,
    shape: Option<[u64; 3]>,
    shape_is: Option<Inferred<Shape>>,
    order: Option<Inferred<Order>>,
    bytes: usize,
    whole: bool,
    /// Whether it belongs to another place, or may.
    misplaced: bool,
    findings: Vec<&'static str>,
}

/// Writes the chunk at a position, or all of a directory of pak regions, into a new directory: `FILE.record-N.npy` of
/// shape (y, z, x), or `.bin` if the shape is unknown; `chunks.jsonl` and `export.json`. A directory may hold several rooms.
///
/// # Errors
/// When there is no such chunk, there are several directories with pak regions, the destination cannot be used, or something
/// cannot be written.
pub fn chunks(save: &Save, at: Option<[i32; 3]>, to: &Path, watch: &Watch<'_>) -> Result<Summary, Error> {
    let dir = match save.pak_dirs.as_slice() {
        [first, others @ ..] if others.iter().all(|other| other.dir == first.dir) => &first.dir,
        _ => return Err(not_one()),
    };
    chunks_in(save, dir, at, to, watch)
}

/// As [`chunks`], of one of several directories with pak regions.
///
/// # Errors
/// As those of [`chunks`].
pub fn chunks_in(
    save: &Save,
    dir: &Path,
    at: Option<[i32; 3]>,
    to: &Path,
    watch: &Watch<'_>,
) -> Result<Summary, Error> {
    let rooms = || save.pak_dirs.iter().filter(|pak_dir| pak_dir.dir == dir);
    let draft = Draft::new(&[&save.path], to, watch)?;
    let mut summary = Summary::default();
    summary.faults.extend(save.unread().map(|fault| Fault { file: save.shown(&fault.path), why: fault.why() }));
    let mut lines = Writer::new(&draft, Path::new(LINES))?;
    let files = || {
        let all = rooms().flat_map(|pak_dir| pak_dir.files.iter().map(move |file| (pak_dir, file)));
        all.filter(|(_, file)| file.refused.is_none())
    };
    watch.begin(Step::Exporting, files().count() as u64);
    for (pak_dir, file) in files() {
        draft.go_on()?;
        watch.advance(1);
        match region(save, pak_dir, file, at, &draft, watch) {
            Ok((written, uncounted)) => {
                summary.faults.extend(uncounted);
                for line in written {
                    summary.chunks += 1;
                    summary.arrays += u64::from(line.dtype.is_some());
                    summary.damaged += u64::from(!line.whole);
                    if !line.whole && summary.first_damaged.len() < super::NAMED {
                        summary.first_damaged.push((line.title(), line.findings.join(", ")));
                    }
                    summary.misplaced.blocks += u64::from(line.misplaced);
                    let mut text = Vec::new();
                    // Writing to memory cannot fail.
                    let _ = printable::write_json(&mut text, &line);
                    lines.put(&text)?;
                }
            }
            Err(Failed::Fault(fault)) => summary.faults.push(fault),
            Err(Failed::Beside(error)) => return Err(error.into()),
        }
    }
    if let (Some(at), 0) = (at, summary.chunks) {
        return Err(Error::Missing(format!("there is no chunk {}", printable::triple(at))));
    }
    lines.done()?;
    let json = ChunksReport {
        r#type: "chunks",
        source: printable::path(&save.path),
        axes: AXES,
        chunks: summary.chunks,
        arrays: summary.arrays,
        damaged: summary.damaged,
        misplaced: summary.misplaced.blocks,
        files_unread: &summary.faults,
    };
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = printable::write_json_pretty(&mut text, &json);
    draft.file(Path::new(EXPORT_REPORT), &text)?;
    draft.finish()?;
    Ok(summary)
}

/// The one directory of pak regions, or file of one, that a save is.
pub(super) fn pak_dir(save: &Save) -> Result<&PakDir, Error> {
    match save.pak_dirs.as_slice() {
        [pak_dir] => Ok(pak_dir),
        _ => Err(not_one()),
    }
}

fn not_one() -> Error {
    Error::Request("there are several saves here, or no pak regions: name one directory or file of them".to_owned())
}

/// A region with its records; `None` if its header cannot be read.
pub(super) fn open(save: &Save, pak_dir: &PakDir, file: &PakFile) -> Result<Option<Pak<FileSource>>, Error> {
    let failed = |error| Error::Missing(format!("{}: {error}", save.shown(&pak_dir.dir.join(&file.name))));
    save.pak(pak_dir, file, &mut Vec::new()).map_err(failed)
}

/// Why the chunks of a file were not written.
enum Failed {
    Fault(Fault),
    Beside(draft::Error),
}

/// Writes the chunks of one file; returns their lines, by record.
fn region(
    save: &Save,
    pak_dir: &PakDir,
    file: &PakFile,
    at: Option<[i32; 3]>,
    draft: &Draft<'_>,
    watch: &Watch<'_>,
) -> Result<(Vec<Line>, Option<Fault>), Failed> {
    let path = pak_dir.dir.join(&file.name);
    let shown = save.shown(&path);
    let fault = |why: String| Failed::Fault(Fault { file: shown.clone(), why });
    let mut damage = Vec::new();
    let pak = save.pak(pak_dir, file, &mut damage).map_err(|error| fault(error.to_string()))?;
    let Some(pak) = pak else {
        return Err(fault(damage.first().map_or_else(|| "nothing in it can be read".to_owned(), ToString::to_string)));
    };
    // A name in the save may have characters that a terminal acts on.
    let stem = printable::file_name(Path::new(file.name.file_stem().unwrap_or_default()));
    let wanted: Vec<(u32, Record)> =
        pak.present().filter(|(number, _)| at.is_none_or(|at| pak.chunk(*number) == Some(at))).collect();
    let misplaced = check::misplaced_chunks(&pak, watch).map_err(|error| fault(error.to_string()))?;
    let uncounted = check::uncounted_chunks(&pak).map_err(|error| fault(error.to_string()))?;
    let uncounted = uncounted.map(|why| Fault { file: shown.clone(), why });
    let line = |scratch: &mut PakScratch, &(number, record): &(u32, Record)| {
        draft.go_on().map_err(Failed::Beside)?;
        let view = pak.view(number, record, scratch).map_err(|error| fault(error.to_string()))?;
        let mut name = OsString::from(&stem);
        // Writing to memory cannot fail.
        let _ = write!(name, ".record-{number}");
        let line = chunk(&pak, &shown, number, &view, name, draft).map_err(Failed::Beside)?;
        let code = misplaced.get(&number);
        Ok::<_, Failed>(Line { misplaced: code.is_some(), ..line }.with_finding(code.map(|code| code.name())))
    };
    let written = parallel::try_map_with(&wanted, line);
    if pak.source.changed().unwrap_or(true) {
        return Err(Failed::Beside(draft::Error::Changed(path)));
    }
    Ok((written?, uncounted))
}

impl Line {
    /// What a sentence calls it.
    fn title(&self) -> String {
        match self.chunk {
            Some(at) => format!("chunk {}", printable::triple(at)),
            None => format!("the chunk of record {} of {}", self.record, self.file),
        }
    }

    fn with_finding(mut self, code: Option<&'static str>) -> Self {
        let code = code.filter(|code| !self.findings.contains(code));
        self.findings.extend(code);
        self
    }
}

fn chunk(
    pak: &Pak<FileSource>,
    file: &str,
    number: u32,
    view: &PakView<'_>,
    mut name: OsString,
    draft: &Draft<'_>,
) -> Result<Line, draft::Error> {
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
    let order = shape.map(|shape| pak.order(&shape));
    match (shape, &order) {
        (Some(shape), Some(order)) if order.value != Order::Yzx => out.put(&by_rows(plain, shape, order.value))?,
        _ => out.put(plain)?,
    }
    out.done()?;
    Ok(Line {
        file: file.to_owned(),
        record: number,
        chunk: pak.chunk(number),
        array: printable::path(Path::new(&name)),
        dtype: shape.map(|_| dtype),
        shape: shape.map(|_| axes),
        shape_is: view.shape.clone(),
        order,
        bytes: plain.len(),
        whole: view.payload.is_some_and(|payload| payload.whole),
        misplaced: false,
        findings: view.damage.iter().map(|d| d.code.name()).collect(),
    })
}

/// The voxels of a chunk in the order of the arrays: y slowest, x fastest.
fn by_rows(plain: &[u8], shape: Shape, order: Order) -> Vec<u8> {
    let voxels = Voxels { data: plain, shape, order };
    let [sx, sy, sz] = shape.size;
    let mut rows = Vec::with_capacity(plain.len());
    for (y, z, x) in (0..sy).flat_map(|y| (0..sz).flat_map(move |z| (0..sx).map(move |x| (y, z, x)))) {
        let bytes = voxels.span([x, y, z]).and_then(|span| plain.get(index(span.start)..index(span.end)));
        rows.extend_from_slice(bytes.unwrap_or_default());
    }
    rows
}

/// NumPy's name for little-endian numbers of this many bytes; for other sizes its type for opaque bytes.
fn dtype(voxel_bytes: u8) -> String {
    match voxel_bytes {
        1 => "|u1".to_owned(),
        2 | 4 | 8 => format!("<u{voxel_bytes}"),
        n => format!("|V{n}"),
    }
}
