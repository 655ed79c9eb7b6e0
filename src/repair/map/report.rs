//! What is done with voxel maps, as `repair.json` and in words.

use serde::Serialize;
use serde_json::Value;

use crate::printable::{self, triple};
use crate::repair::map::{LayerPlan, MapPlan, TakenOut};
use crate::repair::{Action, listed};
use crate::voxel_map::map_json::FILE_NAME;

/// Blocks that are listed by their places.
const LISTED: usize = 100_000;

/// A map that is not just copied: see OUTPUT.md.
#[derive(Serialize)]
pub(in crate::repair) struct MapReport<'p> {
    file: String,
    action: &'static str,
    why: &'static str,
    description: bool,
    layers: Vec<LayerReport<'p>>,
    files_lost_and_found: Vec<String>,
}

#[derive(Serialize)]
struct LayerReport<'p> {
    number: usize,
    name: &'p str,
    left_out: Option<&'static str>,
    kept_as_it_is: Option<&'static str>,
    description: Vec<FieldReport<'p>>,
    arrays: Vec<ArrayReport<'p>>,
    filled_with_zero: u64,
    blocks_taken_out: Vec<RowReport>,
}

/// A field of the description that is corrected.
#[derive(Serialize)]
struct FieldReport<'p> {
    field: &'p str,
    is: &'p Value,
}

/// What is done with an array.
#[derive(Serialize)]
struct ArrayReport<'p> {
    file: &'p str,
    what: &'p str,
}

/// A row of an array that is taken out; whether its voxels are kept in `lost+found`.
#[derive(Serialize)]
struct RowReport {
    row: u64,
    block: Option<[i32; 3]>,
    why: &'static str,
    lost_and_found: bool,
}

/// The maps that are not just copied.
pub(in crate::repair) fn reports(plans: &[MapPlan]) -> Vec<MapReport<'_>> {
    plans.iter().filter(|plan| plan.action != Action::Copy || !plan.layers.is_empty()).map(MapReport::new).collect()
}

impl<'p> MapReport<'p> {
    fn new(plan: &'p MapPlan) -> Self {
        Self {
            file: printable::path(&plan.name.join(FILE_NAME)),
            action: plan.action.name(),
            why: plan.why,
            description: plan.description.is_some(),
            layers: plan.layers.iter().map(LayerReport::new).collect(),
            files_lost_and_found: plan.aside.iter().map(|name| printable::printable(name)).collect(),
        }
    }
}

impl<'p> LayerReport<'p> {
    fn new(layer: &'p LayerPlan) -> Self {
        let row = |t: &TakenOut| RowReport { row: t.row, block: t.block, why: t.why, lost_and_found: t.voxels };
        Self {
            number: layer.number,
            name: &layer.name,
            left_out: layer.left_out,
            kept_as_it_is: layer.stays,
            description: layer.fields.iter().map(|(field, is)| FieldReport { field, is }).collect(),
            arrays: layer.notes.iter().map(|(file, what)| ArrayReport { file, what }).collect(),
            filled_with_zero: layer.lost_numbers,
            blocks_taken_out: layer.taken_out.iter().take(LISTED).map(row).collect(),
        }
    }
}

/// The same as text, one sentence per line.
pub(in crate::repair) fn words(plans: &[MapPlan]) -> Vec<String> {
    let mut lines = Vec::new();
    for plan in plans.iter().filter(|plan| plan.action != Action::Copy || !plan.layers.is_empty()) {
        let name = printable::path(&plan.name.join(FILE_NAME));
        if plan.action == Action::Copy {
            lines.extend(
                plan.layers.iter().filter_map(|layer| {
                    Some(format!("{name}: layer {} is kept as it is, {}.", layer.name, layer.stays?))
                }),
            );
            continue;
        }
        let kept = if plan.action == Action::SetAside { "; the map is kept in lost+found" } else { "" };
        lines.push(format!("{name}: {}{kept}.", plan.why));
        for layer in &plan.layers {
            if let Some(why) = layer.left_out {
                lines.push(format!("  layer {}: left out, {why}.", layer.name));
            }
            if let Some(why) = layer.stays {
                lines.push(format!("  layer {}: kept as it is, {why}.", layer.name));
            }
            for (field, value) in &layer.fields {
                let value = match value.as_str() {
                    Some("") => "nothing".to_owned(),
                    _ => printable::printable(&value.to_string()),
                };
                lines.push(format!("  layer {}: {field} put right to {value}.", layer.name));
            }
            for (file, what) in &layer.notes {
                lines.push(format!("  {file}: {what}."));
            }
            for t in layer.taken_out.iter().take(listed::LISTED) {
                let place = t.block.map(|at| format!(", block {}", triple(at))).unwrap_or_default();
                lines.push(format!("  row {}{place}: {}.", t.row, t.why));
            }
            lines.extend(listed::more(layer.taken_out.len(), ""));
        }
        if plan.action == Action::Rebuild {
            for name in &plan.aside {
                lines.push(format!("  {}: to lost+found.", printable::printable(name)));
            }
            match plan.unnamed {
                0 => {}
                1 => {
                    lines
                        .push("  1 layer has arrays, and nothing that is left of the description names it.".to_owned());
                }
                n => lines
                    .push(format!("  {n} layers have arrays, and nothing that is left of the description names them.")),
            }
        }
    }
    lines
}
