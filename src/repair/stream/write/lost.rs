//! Rows and parts of rows in `lost+found`: their stored bytes, their voxels as arrays, and a description.

use serde::Serialize;
use serde_json::{Value, json};

use crate::draft::{self, Draft};
use crate::godot::stream::loc::Key;
use crate::repair::KeptReason;
use crate::repair::lost::{AXES, ChannelReport, arrays};
use crate::repair::out::{json as pretty, lost_name};
use crate::repair::stream::{LostPart, LostRow, StreamPlan, Work};
use crate::save::StreamScratch;

/// The description of a row in `lost+found`.
#[derive(Serialize)]
struct RowReport {
    file: String,
    row: u32,
    rowid: i64,
    page: u32,
    bytes: Vec<[u64; 2]>,
    key: Value,
    lod: Option<u8>,
    position: Option<[i32; 3]>,
    parts: Vec<PartReport>,
    whole: bool,
    version: Option<u8>,
    size: Option<[u16; 3]>,
    axes: &'static str,
    channels: Vec<ChannelReport>,
    other_values: Vec<ColumnReport>,
}

#[derive(Serialize)]
struct PartReport {
    part: &'static str,
    why: KeptReason,
}

/// The value of a column that is no blob.
#[derive(Serialize)]
struct ColumnReport {
    column: usize,
    value: Value,
}

/// Writes the files of everything that a plan sets aside.
pub(super) fn write(draft: &Draft<'_>, plan: &StreamPlan, work: &Work) -> Result<(), draft::Error> {
    let mut scratch = StreamScratch::default();
    let mut rest = plan.lost.as_slice();
    while let Some(first) = rest.first() {
        draft.go_on()?;
        // Parts of a row are adjacent and share their files.
        let same = rest.iter().take_while(|lost| lost.row == first.row).count();
        let (parts, after) = rest.split_at_checked(same).unwrap_or((rest, &[]));
        rest = after;
        row(draft, plan, work, parts, &mut scratch)?;
    }
    Ok(())
}

fn row(
    draft: &Draft<'_>,
    plan: &StreamPlan,
    work: &Work,
    parts: &[LostRow],
    scratch: &mut StreamScratch,
) -> Result<(), draft::Error> {
    let stream = &work.stream;
    let Some(first) = parts.first() else { return Ok(()) };
    let Some(row) = stream.rows.get(first.row as usize) else { return Ok(()) };
    stream.fetch(&row, scratch).map_err(draft::Error::read(&plan.path))?;
    let name = |ending: &str| lost_name(draft, &plan.name, &format!(".row-{:06}{ending}", first.row));
    let has = |part: LostPart| parts.iter().any(|lost| lost.part == part || lost.part == LostPart::Row);
    let (voxels, instances) = (has(LostPart::Voxels), has(LostPart::Instances));
    let whole = scratch.is_whole();
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut put = |ending: &str, bytes: Option<&[u8]>| files.extend(bytes.map(|b| (ending.to_owned(), b.to_vec())));
    if voxels {
        put(".vb", stream.voxel_bytes(scratch));
    }
    if instances {
        put(".instances", stream.instance_bytes(scratch));
    }
    let key = value(stream.key(scratch));
    // Values that are not blobs, and columns that the game added.
    let is_blob = |at: usize, value: &Key<'_>| at < 3 && matches!(value, Key::Blob(_));
    let others: Vec<ColumnReport> = stream
        .values(scratch)
        .enumerate()
        .skip(1)
        .filter(|(at, value)| !is_blob(*at, value) && *value != Key::Null)
        .map(|(column, v)| ColumnReport { column, value: value(v) })
        .collect();
    let bytes: Vec<[u64; 2]> = scratch.parts().iter().map(|span| [span.start, span.end]).collect();
    let view = stream.block(scratch);
    let block = view.block.as_ref().filter(|_| voxels);
    let (channels, made) = block.map(arrays).unwrap_or_default();
    let about = RowReport {
        file: crate::printable::path(&plan.name),
        row: first.row,
        rowid: row.rowid,
        page: first.page,
        bytes,
        key,
        lod: first.place.map(|place| place.lod),
        position: first.place.map(|place| place.position),
        parts: parts.iter().map(|lost| PartReport { part: part_name(lost.part), why: lost.why }).collect(),
        whole,
        version: block.map(|block| block.version),
        size: block.map(|block| block.size),
        axes: AXES,
        channels,
        other_values: others,
    };
    files.extend(made);
    for (ending, bytes) in files {
        draft.file(&name(&ending), &bytes)?;
    }
    draft.file(&name(".json"), &pretty(&about))
}

/// Its name in reports.
pub(in crate::repair::stream) const fn part_name(part: LostPart) -> &'static str {
    match part {
        LostPart::Row => "row",
        LostPart::Voxels => "vb",
        LostPart::Instances => "instances",
    }
}

fn value(value: Key<'_>) -> Value {
    match value {
        Key::Null => Value::Null,
        Key::Int(n) => json!(n),
        Key::Float(n) => json!(n),
        Key::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => json!(crate::printable::printable(text)),
            Err(_) => json!({ "text": crate::printable::hex(bytes) }),
        },
        Key::Blob(bytes) => json!({ "blob": crate::printable::hex(bytes) }),
    }
}
