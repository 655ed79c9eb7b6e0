//! What a repair does, as `repair.json` and in words.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::check;
use crate::godot::channel::NAMES;
use crate::printable::{self, triple};
use crate::repair::lost::rounded;
use crate::repair::plan::{Action, Decision, Origin, Plan, RegionPlan};
use crate::repair::{Options, map, pak, stream};
use crate::trace::decide::Certainty;

/// `repair.json`: see OUTPUT.md.
pub(super) fn json(plan: &Plan, options: &Options<'_>, check: &check::Summary) -> Value {
    let regions: Vec<Value> = plan.regions.iter().filter(|r| r.action != Action::Copy).map(region).collect();
    let paths = |paths: &[PathBuf]| paths.iter().map(|path| printable::path(path)).collect::<Vec<_>>();
    json!({
        "type": "repair",
        "level": if options.likely { "likely" } else { "certain" },
        "backup": options.backup.is_some(),
        "copied": plan.regions.iter().filter(|r| r.action == Action::Copy).count(),
        "regions": regions,
        "paks": pak::json(&plan.paks),
        "maps": map::json(&plan.maps),
        "streams": stream::json(&plan.streams),
        "meta_files": plan.metas.iter().map(|meta| printable::path(&meta.name)).collect::<Vec<_>>(),
        "set_aside": paths(&plan.strange),
        "links": paths(&plan.links),
        "check": {
            "errors": check.counts.errors,
            "warnings": check.counts.warnings,
            "notes": check.counts.notes,
            "blocks": check.stats.blocks,
        },
    })
}

fn region(region: &RegionPlan) -> Value {
    let put_right = |b: &&Decision| {
        let sure = matches!(b.origin, Origin::Found) && b.certainty == Certainty::Certain;
        b.listed_at.is_some() || b.moved || !sure || b.mend.is_some()
    };
    json!({
        "file": printable::path(&region.name),
        "lod": region.lod,
        "action": region.action.name(),
        "why": region.why,
        "blocks": region.blocks.len(),
        "put_right": region.blocks.iter().filter(put_right).map(decision).collect::<Vec<_>>(),
        "salvaged": region.blocks.iter().filter(|b| b.origin == Origin::Salvaged).map(salvaged).collect::<Vec<_>>(),
        "missing": region.missing.iter().map(|(at, why)| json!({"position": at, "why": why})).collect::<Vec<_>>(),
        "lost_and_found": region.lost.len(),
    })
}

fn decision(b: &Decision) -> Value {
    json!({
        "position": b.position,
        "slot": b.slot,
        "sector": b.sector,
        "listed_sector": b.listed_at,
        "moved": b.moved,
        "certainty": certainty(b.origin, b.certainty),
        "probability": rounded(b.probability),
        "from_backup": b.origin == Origin::Backup,
        "matched_by_backup": b.origin == Origin::Matched,
        "rewritten": b.mend.is_some(),
    })
}

fn salvaged(b: &Decision) -> Value {
    let filled: &[(usize, u64)] = b.mend.as_ref().map_or(&[], |mend| &mend.filled);
    let is_filled = |i: &usize| filled.iter().any(|(channel, _)| channel == i);
    let name = |i: usize| NAMES.get(i).copied().unwrap_or_default();
    json!({
        "position": b.position,
        "sector": b.sector,
        "kept": (0..NAMES.len()).filter(|i| !is_filled(i)).map(name).collect::<Vec<_>>(),
        "filled": filled.iter().map(|(i, n)| json!({"channel": name(*i), "value": n.to_string()})).collect::<Vec<_>>(),
        "metadata": b.mend.as_ref().is_some_and(|mend| mend.metadata),
    })
}

/// What a repair does, a line a sentence.
#[must_use]
pub fn words(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for meta in &plan.metas {
        lines.push(format!("{}: {}.", printable::path(&meta.name), meta.from));
    }
    for path in &plan.strange {
        lines.push(format!("{}: the game does not look for it; kept in lost+found.", printable::path(path)));
    }
    for path in &plan.links {
        lines.push(format!("{}: a symbolic link; it is not followed and not copied.", printable::path(path)));
    }
    for region in plan.regions.iter().filter(|r| r.action != Action::Copy) {
        let name = printable::path(&region.name);
        match whole(region.action, &name, region.why) {
            Some(line) => lines.push(line),
            None => rebuilt(region, &name, &mut lines),
        }
    }
    lines.extend(pak::words(&plan.paks));
    lines.extend(map::words(&plan.maps));
    lines.extend(stream::words(&plan.streams));
    lines
}

/// How sure what is written is, in the word that the report has for it.
pub(super) const fn certainty(origin: Origin, certainty: Certainty) -> &'static str {
    match (origin, certainty) {
        (Origin::Salvaged, _) => "salvaged",
        (Origin::Backup, _) => "backup",
        (Origin::Accepted, _) => "accepted",
        (_, Certainty::Certain) => "certain",
        _ => "likely",
    }
}

/// What is said of a file with which one thing is done as a whole.
pub(super) fn whole(action: Action, name: &str, why: &str) -> Option<String> {
    match action {
        Action::SetAside => Some(format!("{name}: {why}; kept in lost+found.")),
        Action::FromBackup => Some(format!("{name}: {why}; that of the backup, an older state, takes its place.")),
        Action::Copy | Action::Rebuild => None,
    }
}

fn rebuilt(region: &RegionPlan, name: &str, lines: &mut Vec<String>) {
    let count = |is: &dyn Fn(&Decision) -> bool| region.blocks.iter().filter(|b| is(b)).count();
    let all = region.blocks.len() + region.missing.len();
    let mut line = format!("{name}: {} of {all} blocks in place", region.blocks.len());
    for (n, what) in [
        (count(&|b| b.listed_at.is_some() && !b.moved), "stood at other sectors than the table says"),
        (count(&|b| b.moved), "had been moved to the end"),
        (count(&|b| b.origin == Origin::Matched), "known by the backup"),
        (count(&|b| b.origin == Origin::Backup), "from the backup, an older state"),
        (count(&|b| b.origin == Origin::Salvaged), "damaged, written with what is whole of them"),
        (count(&|b| b.origin == Origin::Found && b.mend.is_some()), "rewritten without what is against the format"),
        (count(&|b| b.origin == Origin::Found && b.certainty < Certainty::Certain), "only likely"),
        (region.lost.len(), "to lost+found"),
    ] {
        if n > 0 {
            line.push_str(&format!(", {n} {what}"));
        }
    }
    lines.push(format!("{line}: {}.", region.why));
    for (at, why) in region.missing.iter().take(8) {
        lines.push(format!("  {}: {why}.", triple(*at)));
    }
    if region.missing.len() > 8 {
        lines.push(format!("  and {} more; repair.json lists them.", region.missing.len() - 8));
    }
}
