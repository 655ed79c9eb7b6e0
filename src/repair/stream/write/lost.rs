//! Rows and parts of rows in `lost+found`: their bytes as stored, their voxels as arrays, and what is known of them.

use serde_json::{Value, json};

use crate::beside::{self, Draft};
use crate::godot::stream::loc::Key;
use crate::repair::lost::arrays;
use crate::repair::out::{json as pretty, lost_name};
use crate::repair::stream::{LostPart, LostRow, StreamPlan, Work};
use crate::save::StreamScratch;

/// Writes the files of everything that a plan loses.
pub(super) fn write(draft: &Draft<'_>, plan: &StreamPlan, work: &Work) -> Result<(), beside::Error> {
    let mut scratch = StreamScratch::default();
    let mut rest = plan.lost.as_slice();
    while let Some(first) = rest.first() {
        draft.go_on()?;
        // The parts of a row stand side by side, and share their files.
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
) -> Result<(), beside::Error> {
    let stream = &work.stream;
    let Some(first) = parts.first() else { return Ok(()) };
    let Some(row) = stream.rows.get(first.row as usize) else { return Ok(()) };
    stream.fetch(row, scratch).map_err(beside::Error::read(&plan.path))?;
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
    // What is no blob, and columns that the game added.
    let is_blob = |at: usize, value: &Key<'_>| at < 3 && matches!(value, Key::Blob(_));
    let others: Vec<Value> = stream
        .values(scratch)
        .enumerate()
        .skip(1)
        .filter(|(at, value)| !is_blob(*at, value) && *value != Key::Null)
        .map(|(at, v)| json!({ "column": at, "value": value(v) }))
        .collect();
    let bytes: Vec<[u64; 2]> = scratch.parts().iter().map(|span| [span.start, span.end]).collect();
    let view = stream.block(scratch);
    let block = view.block.as_ref().filter(|_| voxels);
    let (channels, made) = block.map(arrays).unwrap_or_default();
    let about = json!({
        "file": crate::printable::path(&plan.name),
        "row": first.row,
        "rowid": row.rowid,
        "page": first.page,
        "bytes": bytes,
        "key": key,
        "lod": first.place.map(|place| place.lod),
        "position": first.place.map(|place| place.position),
        "parts": parts.iter().map(|lost| json!({ "part": part_name(lost.part), "why": lost.why })).collect::<Vec<_>>(),
        "whole": whole,
        "version": block.map(|block| block.version),
        "size": block.map(|block| block.size),
        "axes": "z, x, y",
        "channels": channels,
        "other_values": others,
    });
    files.extend(made);
    for (ending, bytes) in files {
        draft.file(&name(&ending), &bytes)?;
    }
    draft.file(&name(".json"), &pretty(&about))
}

/// As it stands in reports.
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
