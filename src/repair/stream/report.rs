//! The report on streams, in `repair.json` and as text.

use serde::Serialize;

use super::write::part_name;
use crate::godot::stream::loc::Place;
use crate::printable::{self, triple};
use crate::repair::decision::Origin;
use crate::repair::listed::{LISTED, count_of, more};
use crate::repair::report::{FilledChannel, certainty, whole};
use crate::repair::stream::{LostPart, LostRow, Part, Setting, StreamDecision, StreamPlan};
use crate::repair::{Action, Certainty, KeptReason, RowReason};

/// A stream that is not just copied: see OUTPUT.md.
#[derive(Serialize)]
pub(in crate::repair) struct StreamReport<'p> {
    file: String,
    action: &'static str,
    why: &'static str,
    read_through: Option<&'static str>,
    settings: Vec<SettingReport<'p>>,
    settings_left: Option<&'static str>,
    rows: usize,
    put_right: Vec<RowReport>,
    doubled: usize,
    missing: Vec<MissingReport>,
    lost_and_found: Vec<LostReport>,
    pages_lost_and_found: &'p [u32],
    schema_left_out: Vec<String>,
}

/// A setting that is corrected.
#[derive(Serialize)]
struct SettingReport<'p> {
    field: &'p str,
    was: Option<&'p str>,
    is: i64,
    why: &'static str,
}

/// A row that is not written as it was.
#[derive(Serialize)]
struct RowReport {
    lod: u8,
    position: [i32; 3],
    row: Option<u32>,
    page: u32,
    why: Option<&'static str>,
    certainty: &'static str,
    from_backup: bool,
    matched_by_backup: bool,
    vb: &'static str,
    instances: &'static str,
    filled: Vec<FilledChannel>,
}

#[derive(Serialize)]
struct MissingReport {
    lod: u8,
    position: [i32; 3],
    why: &'static str,
}

/// A row, or a part of one, in `lost+found`.
#[derive(Serialize)]
struct LostReport {
    row: u32,
    part: &'static str,
    lod: Option<u8>,
    position: Option<[i32; 3]>,
    why: KeptReason,
}

/// The streams that are not just copied, or are copied with settings that nothing shows.
pub(in crate::repair) fn reports(plans: &[StreamPlan]) -> Vec<StreamReport<'_>> {
    let is_told = |plan: &&StreamPlan| plan.action != Action::Copy || plan.unsettled.is_some();
    plans.iter().filter(is_told).map(StreamReport::new).collect()
}

impl<'p> StreamReport<'p> {
    fn new(plan: &'p StreamPlan) -> Self {
        let setting = |s: &'p Setting| SettingReport { field: s.field, was: s.was.as_deref(), is: s.is, why: s.why };
        let lost = |lost: &LostRow| LostReport {
            row: lost.row,
            part: part_name(lost.part),
            lod: lost.place.map(|place| place.lod),
            position: lost.place.map(|place| place.position),
            why: lost.why,
        };
        let missing = |(at, why): &(Place, &'static str)| MissingReport { lod: at.lod, position: at.position, why };
        let put_right = plan.rows.iter().filter(|row| row.why.is_some());
        Self {
            file: printable::path(&plan.name),
            action: plan.action.name(),
            why: plan.why,
            read_through: plan.through,
            settings: plan.settings.iter().map(setting).collect(),
            settings_left: plan.unsettled,
            rows: plan.written(),
            put_right: put_right.map(RowReport::new).collect(),
            doubled: plan.doubled,
            missing: plan.missing.iter().map(missing).collect(),
            lost_and_found: plan.lost.iter().map(lost).collect(),
            pages_lost_and_found: &plan.pages,
            schema_left_out: plan.left_out.iter().map(|name| printable::printable(name)).collect(),
        }
    }
}

impl RowReport {
    fn new(row: &StreamDecision) -> Self {
        let filled = match &row.voxels {
            Part::Mended(mend) => mend.filled.as_slice(),
            _ => &[],
        };
        Self {
            lod: row.place.lod,
            position: row.place.position,
            row: row.row,
            page: row.page,
            why: row.why.map(RowReason::words),
            certainty: certainty(row.origin, row.certainty),
            from_backup: row.origin == Origin::Backup,
            matched_by_backup: row.origin == Origin::Matched,
            vb: part(&row.voxels),
            instances: part(&row.instances),
            filled: FilledChannel::all(filled),
        }
    }
}

const fn part(part: &Part) -> &'static str {
    match part {
        Part::Kept => "kept",
        Part::LeftOut => "left out",
        Part::Mended(_) => "rewritten",
        Part::Older(_) => "from backup",
        Part::Other(_) => "from another row",
    }
}

/// The same as text, one sentence per line.
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

/// The rows that are written of those that are known; rows on pages that cannot be read are not.
pub(crate) fn written_rows(plan: &StreamPlan) -> String {
    let all = plan.rows.iter().map(|row| row.place).chain(plan.missing.iter().map(|(place, _)| *place));
    let all = all.collect::<std::collections::BTreeSet<_>>().len() + plan.plain.count();
    let row = if plan.pages_lost > 0 && all > 0 { "known row" } else { "row" };
    count_of(plan.written(), all, row, "written")
}

/// Says of pages of tables that cannot be read that their rows are not known.
pub(crate) fn page_loss(plan: &StreamPlan) -> Option<String> {
    let pages = printable::count(plan.pages_lost, "page");
    let them = if plan.pages_lost == 1 { "it" } else { "them" };
    (plan.pages_lost > 0)
        .then(|| format!("{pages} of tables cannot be read: how many rows were on {them} is not known"))
}

fn rebuilt(plan: &StreamPlan, name: &str, lines: &mut Vec<String>) {
    let count = |is: &dyn Fn(&StreamDecision) -> bool| plan.rows.iter().filter(|row| is(row)).count();
    let mut line = format!("{name}: {}", written_rows(plan));
    let missing = plan.missing_places();
    let in_part = |row: &StreamDecision| missing.contains(&row.place);
    // A row is counted once, also if both of its parts are damaged.
    let salvaged = |row: &StreamDecision| row.origin == Origin::Salvaged && !in_part(row);
    let lacks = |row: &StreamDecision| row.instances == Part::LeftOut;
    let whole = count(&|row| salvaged(row) && !lacks(row));
    let without_instances = count(&|row| salvaged(row) && lacks(row) && row.voxels == Part::Kept);
    let part = count(&|row| salvaged(row) && lacks(row) && row.voxels != Part::Kept);
    let [of_whole, of_instances, of_part] = [whole, without_instances, part].map(|n| printable::its(n as u64));
    let mended = |row: &StreamDecision| row.why.is_some() && row.origin == Origin::Found && !in_part(row);
    let rows_lost = plan.lost.iter().filter(|lost| lost.part == LostPart::Row).count();
    let parts_lost = plan.lost.len() - rows_lost;
    for (n, what) in [
        (count(&|row| mended(row) && row.certainty == Certainty::Certain), "put right"),
        (count(&in_part), "without the voxels of the block"),
        (count(&|row| row.origin == Origin::Matched), "known by the backup"),
        (count(&|row| row.origin == Origin::Backup), "from the backup, an older state"),
        (whole, &*format!("damaged, written with {of_whole} whole channels")),
        (without_instances, &*format!("without {of_instances} damaged instances")),
        (part, &*format!("damaged, written with {of_part} whole channels and without {of_part} instances")),
        (count(&|row| row.origin == Origin::Found && row.certainty < Certainty::Certain), "only likely"),
        (plan.doubled, "doubled to the byte and left out"),
        (rows_lost, "to lost+found"),
        (parts_lost, if parts_lost == 1 { "part of a row to lost+found" } else { "parts of rows to lost+found" }),
    ] {
        if n > 0 {
            line.push_str(&format!(", {n} {what}"));
        }
    }
    lines.push(format!("{line}: {}.", plan.why));
    if let Some(through) = plan.through {
        lines.push(format!("  It is written as it is, with {through} beside it, which is kept in lost+found."));
    }
    for setting in &plan.settings {
        let was = setting.was.as_deref().map(|was| format!(" from {was}")).unwrap_or_default();
        lines.push(format!("  {} put right{was} to {}: {}.", setting.field, setting.is, setting.why));
    }
    if let Some(why) = plan.unsettled {
        lines.push(format!("  The settings stay as they are: {why}."));
    }
    lines.extend(page_loss(plan).map(|words| format!("  {words}.")));
    if !plan.pages.is_empty() {
        let s = if plan.pages.len() == 1 { "" } else { "s" };
        let what = if plan.pages_read { "with the damaged header" } else { "of unknown content" };
        lines.push(format!("  {} page{s} {what}: kept in lost+found.", plan.pages.len()));
    }
    for part in plan.left_out.iter().take(LISTED) {
        let part = printable::printable(part);
        lines.push(format!("  {part}: not carried over; the whole file is kept in lost+found."));
    }
    for (place, why) in plan.missing.iter().take(LISTED) {
        lines.push(format!("  {}: {why}.", place_name(*place)));
    }
    lines.extend(more(plan.missing.len(), ""));
}
