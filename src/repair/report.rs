//! What a repair does, as `repair.json` and in words.

use serde_json::{Value, json};

use crate::check;
use crate::printable::{self, triple};
use crate::repair::lost::rounded;
use crate::repair::plan::{Action, Plan};
use crate::repair::{map, pak};
use crate::trace::decide::Certainty;

/// `repair.json`: see OUTPUT.md.
pub(super) fn json(plan: &Plan, likely: bool, check: &check::Summary) -> Value {
    let regions: Vec<Value> =
        plan.regions.iter().filter(|r| r.action != Action::Copy).map(|r| region(plan, r)).collect();
    json!({
        "type": "repair",
        "level": if likely { "likely" } else { "certain" },
        "copied": plan.regions.iter().filter(|r| r.action == Action::Copy).count(),
        "regions": regions,
        "paks": pak::json(&plan.paks),
        "maps": map::json(&plan.maps),
        "meta_files": plan.metas.iter().map(|(name, _)| printable::path(name)).collect::<Vec<_>>(),
        "check": {
            "errors": check.counts.errors,
            "warnings": check.counts.warnings,
            "notes": check.counts.notes,
            "blocks": check.stats.blocks,
        },
    })
}

fn region(plan: &Plan, region: &super::RegionPlan) -> Value {
    let accepted = |b: &super::Decision| plan.accepted.iter().any(|a| (a.lod, a.position) == (region.lod, b.position));
    let blocks: Vec<Value> = region
        .blocks
        .iter()
        .filter(|b| b.listed_at.is_some() || b.moved || b.certainty < Certainty::Certain)
        .map(|b| {
            json!({
                "position": b.position,
                "slot": b.slot,
                "sector": b.sector,
                "listed_sector": b.listed_at,
                "moved": b.moved,
                "certainty": match b.certainty {
                    _ if accepted(b) => "accepted",
                    Certainty::Certain => "certain",
                    _ => "likely",
                },
                "probability": rounded(b.probability),
            })
        })
        .collect();
    json!({
        "file": printable::path(&region.name),
        "lod": region.lod,
        "action": region.action.name(),
        "why": region.why,
        "blocks": region.blocks.len(),
        "put_right": blocks,
        "missing": region.missing.iter().map(|(at, why)| json!({"position": at, "why": why})).collect::<Vec<_>>(),
        "lost_and_found": region.lost.len(),
    })
}

/// What a repair does, a line a sentence.
#[must_use]
pub fn words(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, _) in &plan.metas {
        lines.push(format!("{}: written anew from the headers of the region files.", printable::path(name)));
    }
    for region in plan.regions.iter().filter(|r| r.action != Action::Copy) {
        let name = printable::path(&region.name);
        if region.action == Action::SetAside {
            lines.push(format!("{name}: {}; kept in lost+found.", region.why));
            continue;
        }
        let shifted = region.blocks.iter().filter(|b| b.listed_at.is_some() && !b.moved).count();
        let moved = region.blocks.iter().filter(|b| b.moved).count();
        let likely = region.blocks.iter().filter(|b| b.certainty < Certainty::Certain).count();
        let mut line = format!(
            "{name}: {} of {} blocks in place",
            region.blocks.len(),
            region.blocks.len() + region.missing.len()
        );
        for (n, what) in [
            (shifted, "stood at other sectors than the table says"),
            (moved, "had been moved to the end"),
            (likely, "only likely"),
            (region.lost.len(), "to lost+found"),
        ] {
            if n > 0 {
                line.push_str(&format!(", {n} {what}"));
            }
        }
        line.push('.');
        lines.push(line);
        for (at, why) in region.missing.iter().take(8) {
            lines.push(format!("  ({}): {why}.", triple(*at)));
        }
        if region.missing.len() > 8 {
            lines.push(format!("  and {} more; repair.json lists them.", region.missing.len() - 8));
        }
    }
    lines.extend(pak::words(&plan.paks));
    lines.extend(map::words(&plan.maps));
    lines
}
