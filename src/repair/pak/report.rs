//! What is done with pak regions, as `repair.json` and in words.

use serde_json::{Value, json};

use crate::printable::{self, triple};
use crate::repair::pak::PakPlan;
use crate::repair::{Action, Certainty};

/// The files that are not copied: see OUTPUT.md.
pub(in crate::repair) fn json(plans: &[PakPlan]) -> Vec<Value> {
    plans.iter().filter(|plan| plan.action != Action::Copy).map(one).collect()
}

fn one(plan: &PakPlan) -> Value {
    let put_right = plan.chunks.iter().filter_map(|chunk| {
        Some(json!({
            "record": chunk.record,
            "position": chunk.position,
            "bytes": [chunk.span.start, chunk.span.end],
            "why": chunk.put_right?,
            "certainty": if chunk.certainty == Certainty::Certain { "certain" } else { "likely" },
        }))
    });
    let missing = plan.missing.iter().map(|m| {
        let listed = [i32::from(m.listed.block_offset), i32::from(m.listed.block_length), m.listed.file_length];
        json!({ "record": m.record, "position": m.position, "listed": listed, "why": m.why })
    });
    let fields = plan.fields.iter().map(|(field, old, new)| json!({ "field": field, "was": old, "is": new }));
    json!({
        "file": printable::path(&plan.name),
        "action": plan.action.name(),
        "why": plan.why,
        "header": fields.collect::<Vec<_>>(),
        "chunks": plan.chunks.len(),
        "put_right": put_right.collect::<Vec<_>>(),
        "missing": missing.collect::<Vec<_>>(),
        "lost_and_found": plan.lost.len(),
        "other_bytes": plan.rest.iter().map(crate::bytes::Span::len).sum::<u64>(),
    })
}

/// The same, a line a sentence.
pub(in crate::repair) fn words(plans: &[PakPlan]) -> Vec<String> {
    let mut lines = Vec::new();
    for plan in plans.iter().filter(|plan| plan.action != Action::Copy) {
        let name = printable::path(&plan.name);
        if plan.action == Action::SetAside {
            lines.push(format!("{name}: {}; kept in lost+found.", plan.why));
            continue;
        }
        let mended = plan.chunks.iter().filter(|chunk| chunk.put_right.is_some()).count();
        let likely = plan.chunks.iter().filter(|chunk| chunk.certainty < Certainty::Certain).count();
        let mut line =
            format!("{name}: {} of {} chunks kept", plan.chunks.len(), plan.chunks.len() + plan.missing.len());
        for (n, what) in
            [(mended, "with their records put right"), (likely, "only likely"), (plan.lost.len(), "to lost+found")]
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
        for missing in plan.missing.iter().take(8) {
            let place = missing.position.map(|at| format!(", chunk {}", triple(at))).unwrap_or_default();
            lines.push(format!("  record {}{place}: {}.", missing.record, missing.why));
        }
        if plan.missing.len() > 8 {
            lines.push(format!("  and {} more; repair.json lists them.", plan.missing.len() - 8));
        }
    }
    lines
}
