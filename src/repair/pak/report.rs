//! The report on pak regions, in `repair.json` and as text.

use std::path::Path;

use serde::Serialize;

use crate::printable::{self, triple};
use crate::repair::listed::{LISTED, more};
use crate::repair::pak::{Chunk, PakPlan};
use crate::repair::{Action, Certainty};

/// A pak region that is not just copied: see OUTPUT.md.
#[derive(Serialize)]
pub(in crate::repair) struct PakReport {
    file: String,
    renamed_from: Option<String>,
    action: &'static str,
    why: &'static str,
    header: Vec<FieldReport>,
    chunks: usize,
    put_right: Vec<ChunkReport>,
    missing: Vec<MissingReport>,
    lost_and_found: usize,
    other_bytes: u64,
}

/// A field of the header that is corrected.
#[derive(Serialize)]
struct FieldReport {
    field: &'static str,
    was: i32,
    is: i32,
}

/// A chunk whose record is corrected.
#[derive(Serialize)]
struct ChunkReport {
    record: u32,
    position: Option<[i32; 3]>,
    bytes: [u64; 2],
    why: &'static str,
    certainty: &'static str,
}

/// A record without a chunk; `listed` is the record as stored.
#[derive(Serialize)]
struct MissingReport {
    record: u32,
    position: Option<[i32; 3]>,
    listed: [i32; 3],
    why: &'static str,
}

/// The name that a file has in the save.
fn own_name(plan: &PakPlan) -> String {
    printable::path(Path::new(plan.path.file_name().unwrap_or_default()))
}

/// The pak regions that are not just copied.
pub(in crate::repair) fn reports(plans: &[PakPlan]) -> Vec<PakReport> {
    plans.iter().filter(|plan| !plan.is_unchanged()).map(PakReport::new).collect()
}

impl PakReport {
    fn new(plan: &PakPlan) -> Self {
        let put_right = plan.chunks.iter().filter_map(|chunk| {
            Some(ChunkReport {
                record: chunk.record,
                position: chunk.position,
                bytes: [chunk.span.start, chunk.span.end],
                why: chunk.put_right?,
                certainty: if chunk.certainty == Certainty::Certain { "certain" } else { "likely" },
            })
        });
        let missing = plan.missing.iter().map(|m| MissingReport {
            record: m.record,
            position: m.position,
            listed: [i32::from(m.listed.block_offset), i32::from(m.listed.block_length), m.listed.file_length],
            why: m.why,
        });
        Self {
            file: printable::path(&plan.name),
            renamed_from: plan.is_renamed.then(|| own_name(plan)),
            action: plan.action.name(),
            why: plan.why,
            header: plan.fields.iter().map(|&(field, was, is)| FieldReport { field, was, is }).collect(),
            chunks: plan.chunks.len(),
            put_right: put_right.collect(),
            missing: missing.collect(),
            lost_and_found: plan.lost.len(),
            other_bytes: plan.rest.iter().map(crate::bytes::Span::len).sum(),
        }
    }
}

/// The same as text, one sentence per line.
pub(in crate::repair) fn words(plans: &[PakPlan]) -> Vec<String> {
    let mut lines = Vec::new();
    for plan in plans.iter().filter(|plan| !plan.is_unchanged()) {
        let name = printable::path(&plan.name);
        if plan.is_renamed {
            lines.push(format!("{name}: the copy of {}, which the game does not look for.", own_name(plan)));
        }
        if plan.action == Action::Copy {
            continue;
        }
        if plan.action == Action::SetAside {
            lines.push(format!("{name}: {}; kept in lost+found.", plan.why));
            continue;
        }
        // A chunk is counted once.
        let is_likely = |chunk: &&Chunk| chunk.certainty < Certainty::Certain;
        let mended = plan.chunks.iter().filter(|chunk| chunk.put_right.is_some() && !is_likely(chunk)).count();
        let likely = plan.chunks.iter().filter(is_likely).count();
        let mut line = format!("{name}: {}", plan.written_words());
        for (n, what) in
            [(mended, "put right by a new record"), (likely, "only likely"), (plan.lost.len(), "to lost+found")]
        {
            if n > 0 {
                line.push_str(&format!(", {n} {what}"));
            }
        }
        line.push('.');
        lines.push(line);
        for (field, old, new) in &plan.fields {
            lines.push(format!("  {field}: {old}, put right to {new}."));
        }
        for missing in plan.known_missing().take(LISTED) {
            let place = missing.position.map(|at| format!(", chunk {}", triple(at))).unwrap_or_default();
            lines.push(format!("  record {}{place}: {}.", missing.record, missing.why));
        }
        lines.extend(more(plan.known_missing().count(), ""));
        lines.extend(plan.unknown_words().map(|words| format!("  {words}.")));
    }
    lines
}
