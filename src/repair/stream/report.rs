//! What is done with streams, as `repair.json` and in words.

use serde_json::{Value, json};

use super::write::part_name;
use crate::godot::channel::NAMES;
use crate::godot::stream::loc::Place;
use crate::printable::{self, triple};
use crate::repair::plan::Origin;
use crate::repair::report::{certainty, whole};
use crate::repair::stream::{Part, StreamDecision, StreamPlan};
use crate::repair::{Action, Certainty};

/// Things that are listed in words.
const LISTED: usize = 8;

/// The streams that are not copied: see OUTPUT.md.
pub(in crate::repair) fn json(plans: &[StreamPlan]) -> Vec<Value> {
    plans.iter().filter(|plan| plan.action != Action::Copy).map(one).collect()
}

fn one(plan: &StreamPlan) -> Value {
    let settings = plan.settings.iter();
    let settings = settings.map(|s| json!({ "field": s.field, "was": s.was, "is": s.is, "why": s.why }));
    let lost = plan.lost.iter().map(|lost| {
        json!({
            "row": lost.row,
            "part": part_name(lost.part),
            "lod": lost.place.map(|place| place.lod),
            "position": lost.place.map(|place| place.position),
            "why": lost.why,
        })
    });
    let missing = plan.missing.iter();
    let missing = missing.map(|(at, why)| json!({ "lod": at.lod, "position": at.position, "why": why }));
    json!({
        "file": printable::path(&plan.name),
        "action": plan.action.name(),
        "why": plan.why,
        "read_through": plan.through,
        "settings": settings.collect::<Vec<_>>(),
        "settings_left": plan.unsettled,
        "rows": plan.rows.len(),
        "put_right": plan.rows.iter().filter(|row| row.why.is_some()).map(decision).collect::<Vec<_>>(),
        "doubled": plan.doubled,
        "missing": missing.collect::<Vec<_>>(),
        "lost_and_found": lost.collect::<Vec<_>>(),
        "pages_lost_and_found": plan.pages,
        "schema_left_out": plan.left_out.iter().map(|name| printable::printable(name)).collect::<Vec<_>>(),
    })
}

fn decision(row: &StreamDecision) -> Value {
    let filled = match &row.voxels {
        Part::Mended(mend) => mend.filled.as_slice(),
        _ => &[],
    };
    let name = |at: usize| NAMES.get(at).copied().unwrap_or_default();
    json!({
        "lod": row.place.lod,
        "position": row.place.position,
        "row": row.row,
        "page": row.page,
        "why": row.why,
        "certainty": certainty(row.origin, row.certainty),
        "from_backup": row.origin == Origin::Backup,
        "matched_by_backup": row.origin == Origin::Matched,
        "vb": part(&row.voxels),
        "instances": part(&row.instances),
        "filled": filled.iter().map(|(at, n)| json!({"channel": name(*at), "value": n.to_string()})).collect::<Vec<_>>(),
    })
}

const fn part(part: &Part) -> &'static str {
    match part {
        Part::Kept => "kept",
        Part::LeftOut => "left out",
        Part::Mended(_) => "rewritten",
        Part::Older(_) => "from backup",
    }
}

/// The same, a line a sentence.
pub(in crate::repair) fn words(plans: &[StreamPlan]) -> Vec<String> {
    let mut lines = Vec::new();
    for plan in plans.iter().filter(|plan| plan.action != Action::Copy) {
        let name = printable::path(&plan.name);
        match whole(plan.action, &name, plan.why) {
            Some(line) => lines.push(line),
            None => rebuilt(plan, &name, &mut lines),
        }
    }
    lines
}

/// LOD and position of a row, in words.
pub(crate) fn place_name(place: Place) -> String {
    format!("block {} of LOD {}", triple(place.position), place.lod)
}

fn rebuilt(plan: &StreamPlan, name: &str, lines: &mut Vec<String>) {
    let count = |is: &dyn Fn(&StreamDecision) -> bool| plan.rows.iter().filter(|row| is(row)).count();
    let all = plan.rows.iter().map(|row| row.place).chain(plan.missing.iter().map(|(place, _)| *place));
    let all = all.collect::<std::collections::BTreeSet<_>>().len();
    let mut line = format!("{name}: {} of {all} rows kept", plan.rows.len());
    let mended = |row: &StreamDecision| row.why.is_some() && row.origin == Origin::Found;
    for (n, what) in [
        (count(&|row| mended(row) && row.certainty == Certainty::Certain), "put right"),
        (count(&|row| row.origin == Origin::Matched), "known by the backup"),
        (count(&|row| row.origin == Origin::Backup), "from the backup, an older state"),
        (count(&|row| row.origin == Origin::Salvaged), "damaged, written with what is whole of them"),
        (count(&|row| row.origin == Origin::Found && row.certainty < Certainty::Certain), "only likely"),
        (plan.doubled, "doubled to the byte and left out"),
        (plan.lost.len(), "to lost+found"),
    ] {
        if n > 0 {
            line.push_str(&format!(", {n} {what}"));
        }
    }
    lines.push(format!("{line}: {}.", plan.why));
    if let Some(through) = plan.through {
        lines.push(format!("  It is written as it stands with {through} beside it, which is kept in lost+found."));
    }
    for setting in &plan.settings {
        let was = setting.was.as_deref().map(|was| format!(" from {was}")).unwrap_or_default();
        lines.push(format!("  {} put right{was} to {}: {}.", setting.field, setting.is, setting.why));
    }
    if let Some(why) = plan.unsettled {
        lines.push(format!("  The settings stay as they are: {why}."));
    }
    if !plan.pages.is_empty() {
        let s = if plan.pages.len() == 1 { "" } else { "s" };
        lines.push(format!("  {} page{s} that nothing can be made of: kept in lost+found.", plan.pages.len()));
    }
    for part in plan.left_out.iter().take(LISTED) {
        let part = printable::printable(part);
        lines.push(format!("  {part}: not carried over; the whole file is kept in lost+found."));
    }
    for (place, why) in plan.missing.iter().take(LISTED) {
        lines.push(format!("  {}: {why}.", place_name(*place)));
    }
    if plan.missing.len() > LISTED {
        lines.push(format!("  and {} more; repair.json lists them.", plan.missing.len() - LISTED));
    }
}
