//! The files next to the arrays: metadata, and a description of the export.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use crate::check::MisplacedFile;
use crate::draft::{Draft, Error};
use crate::godot::block::Block;
use crate::printable::{self, write_json_pretty};
use crate::save::EXPORT_REPORT;
use crate::world::{Fault, World};

use super::{Area, Odd, Request, Summary, Written};

/// Name of the metadata file.
const METADATA: &str = "metadata.jsonl";

/// The metadata of a block as a line, as far as it is in the box; voxels have their position in the world.
pub(super) fn of_block(block: &Block<'_>, position: [i32; 3], corner: [i64; 3], area: Area) -> Option<Vec<u8>> {
    let metadata = block.metadata.as_ref()?;
    let mut line = Vec::new();
    // Writing to memory cannot fail.
    let _ = write!(line, "{{\"block\":{},\"item\":", json!(position));
    match &metadata.block {
        Some(item) => item.write_json(metadata.dialect, &mut line),
        None => line.extend_from_slice(b"null"),
    }
    line.extend_from_slice(b",\"voxels\":[");
    let mut is_first = true;
    for voxel in &metadata.voxels {
        let at = [0, 1, 2].map(|i| corner[i].saturating_add(i64::from(voxel.position[i])));
        if (0..3).all(|i| (area[0][i]..area[1][i]).contains(&at[i])) {
            let _ = write!(line, "{}{{\"voxel\":{},\"item\":", if is_first { "" } else { "," }, json!(at));
            voxel.item.write_json(metadata.dialect, &mut line);
            line.push(b'}');
            is_first = false;
        }
    }
    let _ = write!(line, "],\"unread_bytes\":{}}}", metadata.unread.1.len());
    let mut text = printable::json::escape_json(&String::from_utf8_lossy(&line)).into_bytes();
    text.push(b'\n');
    Some(text)
}

/// The metadata file, once there is metadata.
pub(super) type Lines = Option<(BufWriter<File>, PathBuf)>;

pub(super) fn metadata(draft: &Draft<'_>, lines: &mut Lines, of: &[u8]) -> Result<(), Error> {
    if of.is_empty() {
        return Ok(());
    }
    let (out, path) = match lines {
        Some(open) => open,
        None => {
            let (file, path) = draft.create(Path::new(METADATA))?;
            lines.insert((BufWriter::new(file), path))
        }
    };
    out.write_all(of).map_err(Error::write(path))
}

pub(super) fn finish(lines: Lines) -> Result<(), Error> {
    let Some((mut out, path)) = lines else { return Ok(()) };
    out.flush().and_then(|()| out.get_ref().sync_all()).map_err(Error::write(&path))
}

/// `export.json`: see OUTPUT.md.
#[derive(Serialize)]
struct ExportReport<'s> {
    r#type: &'static str,
    source: String,
    lod: u8,
    r#box: Area,
    axes: &'static str,
    block_size: u16,
    /// As text: JSON numbers do not hold 64 bits everywhere.
    fill: String,
    /// Names of types by id, in text as keys of JSON are.
    types: BTreeMap<u64, &'s str>,
    arrays: &'s [Written],
    blocks: u64,
    holes: u64,
    damaged: &'s [Odd],
    files_unread: &'s [Fault],
    files_corrected: &'s [Fault],
    positions_twice: u64,
    misplaced: u64,
    files_misplaced: &'s [MisplacedFile],
    unowned: u64,
}

/// Writes `export.json`.
pub(super) fn write(
    draft: &Draft<'_>,
    world: &World<'_>,
    request: &Request,
    summary: &Summary,
    side: u16,
) -> Result<(), Error> {
    let json = ExportReport {
        r#type: "export",
        source: printable::path(world.path()),
        lod: request.lod,
        r#box: summary.area,
        axes: "z, x, y",
        block_size: side,
        fill: request.fill.to_string(),
        types: request.names.names().collect(),
        arrays: &summary.arrays,
        blocks: summary.blocks,
        holes: summary.holes,
        damaged: &summary.damaged,
        files_unread: &summary.faults,
        files_corrected: &summary.corrected,
        positions_twice: summary.twice,
        misplaced: summary.misplaced.blocks,
        files_misplaced: &summary.misplaced.files,
        unowned: summary.misplaced.unowned,
    };
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_json_pretty(&mut text, &json);
    draft.file(Path::new(EXPORT_REPORT), &text)
}
