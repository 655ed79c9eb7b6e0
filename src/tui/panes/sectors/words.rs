//! The texts of the sector map: the figures above, what is under the cursor, the legend.

use unicode_width::UnicodeWidthStr;

use super::super::marks::{Marks, SectorKind};
use super::grid::{Grid, GridCell};
use crate::printable::{count, triple};
use crate::save::{Owner, PageKind};
use crate::tui::App;
use crate::tui::data::{Opened, Slot};
use crate::tui::numbers::grouped;
use crate::tui::theme::{Role, level_role};

/// A line in pieces.
pub type TextLine = Vec<(Role, String)>;

/// The figures of the file, as far as there is room for them.
#[must_use]
pub fn summary(app: &App, opened: &Opened, marks: &Marks, grid: &Grid, width: u16) -> TextLine {
    let map = &opened.sectors;
    let unit = opened.unit();
    let mut out: TextLine = Vec::new();
    // What no page has is the file's as such; the header of a stream is a part of its first page.
    let header = match map.header_bytes {
        0 if opened.stream().is_some() => "the file as such".to_owned(),
        bytes => format!("header {} B", grouped(bytes)),
    };
    let header = match marks.header.and_then(|number| app.findings.list.get(number)) {
        Some(finding) => {
            let level = Some(finding.level());
            Some((level_role(level), format!("{} {header}", app.glyphs.level(level))))
        }
        None if map.header_bytes > 0 => Some((Role::Dim, header)),
        None => None,
    };
    out.push((Role::Text, format!("{} of {} B", count(map.in_file, unit), grouped(map.sector_size.into()))));
    for kind in [
        SectorKind::Damaged,
        SectorKind::Warning,
        SectorKind::Beyond,
        SectorKind::Unowned,
        SectorKind::Shared,
        SectorKind::Free,
        SectorKind::Stale,
    ] {
        let (_, role, words) = kind.appearance(&app.glyphs);
        if marks.count(kind) > 0 {
            let words = if kind == SectorKind::Warning { "with a warning" } else { words };
            out.push((role, format!("{} {words}", grouped(marks.count(kind)))));
        }
    }
    out.extend(header);
    // What is last goes first when there is no room; the scale is always said where a cell is not a sector.
    let scale = format!("1 cell = {}", count(grid.per, unit));
    let dot = app.glyphs.dot;
    let room = usize::from(width).saturating_sub(scale.width() + 2);
    let mut line: TextLine = Vec::new();
    let mut used = 0;
    for (role, text) in out {
        if used + text.width() + dot.width() > room {
            continue;
        }
        used += text.width() + dot.width();
        line.push((role, text));
        line.push((Role::Dim, dot.to_owned()));
    }
    line.push((Role::Dim, scale));
    line
}

/// What occurs in the map and what it looks like, in lines of a width.
#[must_use]
pub fn legend(app: &App, marks: &Marks, width: u16, several: bool, wide: bool) -> Vec<TextLine> {
    let glyphs = &app.glyphs;
    let mut entries: Vec<(&str, Role, &str)> = Vec::new();
    for kind in SectorKind::ALL {
        if marks.count(kind) == 0 {
            continue;
        }
        if kind == SectorKind::Block {
            // Every second block has the other colour.
            entries.extend(match wide {
                true => [("x,y,z", Role::BlockArea, ""), ("x,y,z", Role::BlockOtherArea, "blocks")],
                false => [("abc", Role::Block, ""), ("def", Role::BlockOther, "blocks")],
            });
            if several {
                entries.push(("+", Role::Block, "several"));
            }
        } else {
            entries.push(kind.appearance(glyphs));
        }
    }
    if [SectorKind::Block, SectorKind::Warning, SectorKind::Damaged].iter().any(|kind| marks.count(*kind) > 0) {
        entries.push((if wide { "[x,y,z]" } else { "A" }, Role::Selected, "selected"));
    }
    let mut lines: Vec<TextLine> = vec![Vec::new()];
    let mut used = 0;
    for (glyph, role, words) in entries {
        let len = glyph.width() + words.width() + 3;
        if used > 0 && used + len > usize::from(width) {
            lines.push(Vec::new());
            used = 0;
        }
        used += len;
        if let Some(line) = lines.last_mut() {
            line.push((role, glyph.to_owned()));
            line.push((Role::Dim, if words.is_empty() { " ".to_owned() } else { format!(" {words}  ") }));
        }
    }
    lines
}

/// What is under the cursor.
#[must_use]
pub fn under_cursor(
    app: &App,
    opened: &Opened,
    marks: &Marks,
    cell: Option<GridCell>,
    sector: u64,
    width: u16,
) -> TextLine {
    let narrow = width < 60;
    let dot = app.glyphs.dot;
    let Some(run) = marks.run_at(sector).and_then(|at| Some((at, *marks.runs.get(at)?))) else { return Vec::new() };
    let (at, run) = run;
    let kind = marks.kind(at);
    let several = if cell.is_some_and(|cell| cell.several) && !narrow { "first of several: " } else { "" };
    let what = match run.owner {
        Owner::Block(slot) | Owner::BeyondEnd(slot) => {
            let part = opened.slot(slot).map_or_else(String::new, |slot| {
                let part = sector.saturating_sub(slot.first).saturating_add(1);
                if narrow {
                    format!("{part}/{} of {}", slot.count, name(slot))
                } else {
                    format!("part {part} of {} of {}", slot.count, name(slot))
                }
            });
            format!("{several}{part}")
        }
        Owner::Shared => {
            let holds = |slot: &&Slot| slot.first <= sector && sector < slot.first.saturating_add(slot.count);
            let mut names = opened.slots.iter().filter(holds).map(name);
            let some: Vec<String> = names.by_ref().take(3).collect();
            let more = if names.next().is_some() { " and others" } else { "" };
            format!("shared by {}{more}", some.join(" and "))
        }
        Owner::Header if opened.stream().is_some() => "header of the database, and its schema".into(),
        Owner::Header => "header".into(),
        Owner::Free => "free: no block owns it".into(),
        Owner::Stale => "stale: old bytes after the last block".into(),
        Owner::Lost if opened.stream().is_some() => "a page that nothing leads to".into(),
        Owner::Lost => "a whole block that no table entry points to".into(),
        Owner::Page(PageKind::Leaf) => {
            let mut names = opened.slots.iter().filter(|slot| slot.first == sector).map(name);
            let some: Vec<String> = names.by_ref().take(2).collect();
            let more = names.count();
            let more =
                if more > 0 { format!(" and {} more", crate::printable::grouped(more as u64)) } else { String::new() };
            if some.is_empty() { "rows of a table".into() } else { format!("rows: {}{more}", some.join(", ")) }
        }
        Owner::Page(kind) => kind.name().into(),
    };
    let label = if narrow { opened.shown_sector(sector).to_string() } else { opened.sector_name(sector) };
    let mut out = vec![(Role::Text, format!("{label}{dot}")), (Role::Strong, what)];
    if let Some(finding) = marks.finding(at).and_then(|number| app.findings.list.get(number)) {
        let level = Some(finding.level());
        let text = format!("{dot}{} {}", app.glyphs.level(level), finding.code().title());
        out.push((level_role(level), text));
    } else if kind == Some(SectorKind::Beyond) {
        out.push((Role::Beyond, format!("{dot}the file ends before it")));
    }
    let bytes = format!("{dot}{}{}", if narrow { "" } else { "bytes " }, opened.sector_span(sector, 1));
    let used: usize = out.iter().map(|(_, text)| text.width()).sum();
    if used + bytes.width() < usize::from(width) {
        out.push((Role::Dim, bytes));
    }
    out
}

fn name(slot: &Slot) -> String {
    slot.position.map_or_else(|| format!("block {}", slot.slot), |position| format!("block {}", triple(position)))
}
