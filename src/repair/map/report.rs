//! What is done with voxel maps, as `repair.json` and in words.

use serde_json::{Value, json};

use crate::printable::{self, triple};
use crate::repair::Action;
use crate::repair::map::{LayerPlan, MapPlan};
use crate::voxel_map::map_json::FILE_NAME;

/// Blocks that are listed by their places.
const LISTED: usize = 100_000;

/// The maps that are not copied: see OUTPUT.md.
pub(in crate::repair) fn json(plans: &[MapPlan]) -> Vec<Value> {
    plans.iter().filter(|plan| plan.action != Action::Copy).map(one).collect()
}

fn one(plan: &MapPlan) -> Value {
    json!({
        "file": printable::path(&plan.name.join(FILE_NAME)),
        "action": plan.action.name(),
        "why": plan.why,
        "description": plan.description.is_some(),
        "layers": plan.layers.iter().map(layer).collect::<Vec<_>>(),
        "files_lost_and_found": plan.aside.iter().map(|name| printable::printable(name)).collect::<Vec<_>>(),
    })
}

fn layer(layer: &LayerPlan) -> Value {
    let fields = layer.fields.iter().map(|(field, value)| json!({ "field": field, "is": value }));
    let notes = layer.notes.iter().map(|(file, what)| json!({ "file": file, "what": what }));
    let rows = layer.taken_out.iter().take(LISTED);
    let rows = rows.map(|t| json!({ "row": t.row, "block": t.block, "why": t.why, "lost_and_found": t.voxels }));
    json!({
        "number": layer.number,
        "name": layer.name,
        "left_out": layer.left_out,
        "description": fields.collect::<Vec<_>>(),
        "arrays": notes.collect::<Vec<_>>(),
        "filled_with_zero": layer.lost_numbers,
        "blocks_taken_out": rows.collect::<Vec<_>>(),
    })
}

/// The same, a line a sentence.
pub(in crate::repair) fn words(plans: &[MapPlan]) -> Vec<String> {
    let mut lines = Vec::new();
    for plan in plans.iter().filter(|plan| plan.action != Action::Copy) {
        let name = printable::path(&plan.name.join(FILE_NAME));
        let kept = if plan.action == Action::SetAside { "; the map is kept in lost+found" } else { "" };
        lines.push(format!("{name}: {}{kept}.", plan.why));
        for layer in &plan.layers {
            if let Some(why) = layer.left_out {
                lines.push(format!("  layer {}: left out, {why}.", layer.name));
            }
            for (field, value) in &layer.fields {
                lines.push(format!(
                    "  layer {}: {field} put right to {}.",
                    layer.name,
                    printable::printable(&value.to_string())
                ));
            }
            for (file, what) in &layer.notes {
                lines.push(format!("  {file}: {what}."));
            }
            for t in layer.taken_out.iter().take(8) {
                let place = t.block.map(|at| format!(", block {}", triple(at))).unwrap_or_default();
                lines.push(format!("  row {}{place}: {}.", t.row, t.why));
            }
            if layer.taken_out.len() > 8 {
                lines.push(format!("  and {} more; repair.json lists them.", layer.taken_out.len() - 8));
            }
        }
        if plan.action == Action::Rebuild {
            for name in &plan.aside {
                lines.push(format!("  {}: to lost+found.", printable::printable(name)));
            }
        }
    }
    lines
}
