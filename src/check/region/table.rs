//! Rules over the table of a region: entries without sectors, beyond the end of the file, overlapping, with gaps.

use crate::bytes::Span;
use crate::check::report::Report;
use crate::damage::{Code, Damage, Value};
use crate::godot::slots;
use crate::printable::{grouped, triple};
use crate::save::{Listed, Region};
use crate::source::Source;

pub(super) fn check<S: Source>(region: &Region<S>, by_sector: &[Listed], report: &mut Report) {
    let file_end = region.source.len();
    let sectors_in_file = region.sectors_in_file();
    // The furthest end so far, and its owner.
    let mut reach: Option<(u32, u32)> = None;
    let mut sum = 0u64;
    let mut gaps = Vec::new();
    for listed in by_sector {
        let (slot, entry) = (listed.slot, listed.entry);
        let at = region.entry_span(slot);
        if entry.count() == 0 {
            let found = Value::Words("0, with a first sector");
            report.slot(slot, Damage::new(Code::TableCountZero, at, "sector count of the entry").found(found), None);
            continue;
        }
        sum += u64::from(entry.count());
        let span = region.span(entry);
        if span.end > file_end {
            beyond(region, listed, span, file_end, report);
        }
        let start = entry.first();
        match reach {
            Some((end, owner)) if start < end => overlap(region, listed, end, owner, report),
            _ => {
                let end = reach.map_or(0, |(end, _)| end);
                if start > end && u64::from(start) < sectors_in_file {
                    gaps.push((end, *listed));
                }
            }
        }
        if reach.is_none_or(|(end, _)| entry.end() > end) {
            reach = Some((entry.end(), slot));
        }
    }
    if gaps.is_empty() {
        return;
    }
    let next_save = next_save(region, sum, by_sector);
    for (end, next) in gaps {
        gap(region, end, &next, &next_save, report);
    }
}

fn beyond<S: Source>(region: &Region<S>, listed: &Listed, span: Span, file_end: u64, report: &mut Report) {
    // If the last sector lacks only padding, the block is whole.
    let mut prefix = Vec::new();
    let read = region.source.read_into(span.start, 4, &mut prefix);
    let size = prefix.first_chunk::<4>().filter(|_| read.is_ok()).map(|p| u64::from(u32::from_le_bytes(*p)));
    let whole = size.is_some_and(|size| span.start + 4 + size <= file_end && 4 + size <= span.len());
    let code = if whole { Code::SectorCut } else { Code::TableBeyondEnd };
    let damage = Damage::new(code, span, "end of the block's sectors")
        .expected(Value::AtMost(file_end))
        .found(Value::Number(span.end));
    let missing = if span.start >= file_end {
        "Nothing of the block is in the file.".to_owned()
    } else {
        format!("{} of its {} bytes are in the file.", grouped(file_end - span.start), grouped(span.len()))
    };
    report.slot(listed.slot, damage, Some(missing));
}

fn overlap<S: Source>(region: &Region<S>, listed: &Listed, end: u32, owner: u32, report: &mut Report) {
    let (start, own_end) = (listed.entry.first(), listed.entry.end());
    let shared = u64::from(own_end.min(end).saturating_sub(start));
    let span = region.header.sector_span(u64::from(start), shared);
    let damage = Damage::new(Code::TableOverlap, span, "first sector of the block")
        .expected(Value::AtLeast(u64::from(end)))
        .found(Value::Number(u64::from(start)));
    let other = slots::position(region.header.format.region_size, owner);
    let remark = other.map(|inside| {
        let (n, s) = (shared, if shared == 1 { "" } else { "s" });
        format!("It shares {n} sector{s} with the block in slot {} of the region.", triple(inside))
    });
    report.slot(listed.slot, damage, remark);
}

fn gap<S: Source>(region: &Region<S>, end: u32, next: &Listed, next_save: &str, report: &mut Report) {
    let count = u64::from(next.entry.first().saturating_sub(end));
    let span = region.header.sector_span(u64::from(end), count);
    let damage = Damage::new(Code::TableGap, span, "sectors without a block")
        .expected(Value::Number(0))
        .found(Value::Number(count));
    report.file(damage, Some(next_save.to_owned()));
}

/// The effect of the game's next save on a region with gaps: the engine appends at the sum of all counts.
fn next_save<S: Source>(region: &Region<S>, sum: u64, by_sector: &[Listed]) -> String {
    let hit = by_sector.iter().find(|l| u64::from(l.entry.first()) <= sum && sum < u64::from(l.entry.end()));
    let place = hit.and_then(|l| slots::position(region.header.format.region_size, l.slot));
    match place {
        Some(inside) => format!(
            "The game will append its next block at sector {sum}, over the block in slot {} of the region.",
            triple(inside)
        ),
        None => format!("The game will append its next block at sector {sum}."),
    }
}
