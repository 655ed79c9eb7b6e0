//! The texts of the findings pane: a line for each file and finding, the line above, the details below.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use super::groups::{FindingLine, Group, Groups};
use super::headings::{Heading, Headings};
use crate::check::{Cause, Finding};
use crate::damage::Level;
use crate::printable::count;
use crate::printable::triple;
use crate::tui::App;
use crate::tui::canvas::Canvas;
use crate::tui::layout::inside;
use crate::tui::numbers::{bytes, grouped};
use crate::tui::theme::{Role, level_role};
use crate::tui::verdict::{self, Conclusion};
use crate::tui::wrap::wrap;

/// From this width on there is room for the word of the level.
const WIDE: u16 = 60;

/// Columns of the places at least, so that the messages of most lists begin in one column.
const PLACE: u16 = 16;

/// The line above: how far the check is, or what it came to.
pub fn summary(app: &App, filter: &str, shown: u64, files: usize) -> Vec<(Role, String)> {
    let findings = &app.findings;
    let dot = app.glyphs.dot;
    let mut out = Vec::new();
    if !filter.is_empty() {
        let counts = &findings.counts;
        let all = counts.errors + counts.warnings + counts.notes;
        out.push((Role::Text, format!("{} of {}{dot}filter ", grouped(shown), count(all, "finding"))));
        out.push((Role::Key, filter.to_owned()));
        out.push((Role::Dim, format!("{dot}esc clears it")));
    }
    let before = |out: &Vec<(Role, String)>| if out.is_empty() { "" } else { dot };
    if findings.running && !findings.stopped {
        let percent = (findings.share() * 100.0).floor();
        let text = format!("{}checking, {percent:.0} % of {}", before(&out), bytes(findings.total));
        out.push((Role::Note, text));
        out.push((Role::Dim, format!("{dot}ctrl-c stops")));
    } else if findings.running {
        out.push((Role::Warning, format!("{}stopping the check", before(&out))));
    } else if findings.stopped {
        out.push((Role::Warning, format!("{}the check was stopped, C begins it again", before(&out))));
    } else if filter.is_empty() {
        let words = format!("{} in {}", count(shown, "finding"), count(files as u64, "file"));
        out.push((Role::Text, words));
        if let Some(summary) = &findings.summary {
            out.push((Role::Dim, format!("{dot}{} checked", count(summary.files, "file"))));
        }
    }
    if findings.dropped > 0 {
        out.push((Role::Warning, format!("{dot}{} more: `voxscope check` lists all", grouped(findings.dropped))));
    }
    out
}

/// Draws that nothing is wrong, or that nothing is known yet.
pub fn draw_empty(app: &App, canvas: &mut Canvas<'_>, filter: &str) {
    let findings = &app.findings;
    if !findings.list.is_empty() {
        canvas.wrap(1, 2, &format!("No finding fits the filter `{filter}`. Esc clears it."), Role::Dim);
        return;
    }
    match &findings.summary {
        Some(summary) if !findings.running && !summary.interrupted => {
            let y = match verdict::conclusion(app) {
                Conclusion::Empty => canvas.wrap(1, 2, "Nothing to check: there is no block.", Role::Warning),
                Conclusion::Healthy => canvas.wrap(1, 2, &format!("{} Nothing is wrong.", app.glyphs.good), Role::Good),
                _ => canvas.wrap(1, 2, "There are no errors or warnings.", Role::Warning),
            };
            let what = format!(
                "Checked: {} with {}; {} stored, {} decompressed.",
                count(summary.files, "file"),
                count(summary.stats.blocks, "block"),
                bytes(summary.stats.stored_bytes),
                bytes(summary.stats.plain_bytes),
            );
            let y = canvas.wrap(1, y + 1, &what, Role::Text);
            canvas.wrap(
                1,
                y + 1,
                "Tab goes to the tree, 1 to the world, 2 to the blocks and 3 to the sectors of what is selected.",
                Role::Dim,
            );
        }
        Some(_) => {
            canvas.wrap(1, 2, "Nothing was found before the check was stopped.", Role::Dim);
        }
        None => {
            canvas.wrap(1, 2, "Nothing was found so far.", Role::Dim);
        }
    }
}

/// How many findings there are of each level that has some.
fn level_counts(app: &App, count: impl Fn(Level) -> u64) -> Vec<(Role, String)> {
    let levels = [Level::Error, Level::Warning, Level::Note].map(|level| (level, count(level)));
    let words = |(level, n): (Level, u64)| {
        let text = format!("  {} {}", app.glyphs.level(Some(level)), grouped(n));
        (level_role(Some(level)), text)
    };
    levels.into_iter().filter(|(_, n)| *n > 0).map(words).collect()
}

/// Draws a heading: a cause, or the findings that none explains.
fn draw_heading(app: &App, groups: &Groups, heading: (usize, &Heading), y: u16, canvas: &mut Canvas<'_>) {
    let (number, heading) = heading;
    let cause = heading.cause.and_then(|cause| app.findings.verdict.causes.get(cause));
    let text = match (cause, &heading.save) {
        (Some(cause), _) => cause.sentence_with_save(),
        (None, Some(save)) => format!("{save}: other findings"),
        (None, None) => "Other findings".to_owned(),
    };
    let fold = match (groups.is_open(number), app.glyphs.ascii) {
        (true, false) => "▾ ",
        (false, false) => "▸ ",
        (true, true) => "v ",
        (false, true) => "> ",
    };
    let counts = level_counts(app, |level| groups.count_below(number, level));
    let width: usize = counts.iter().map(|(_, text)| text.width()).sum();
    let room = canvas.width().saturating_sub(u16::try_from(width).unwrap_or(u16::MAX) + 4);
    let x = canvas.put(1, y, fold, Role::Key);
    canvas.put_within(x, y, room.saturating_sub(x), &text, Role::Strong);
    let wide = u16::try_from(text.width()).unwrap_or(u16::MAX).min(room.saturating_sub(x));
    let pieces: Vec<(Role, &str)> = counts.iter().map(|(role, text)| (*role, text.as_str())).collect();
    canvas.line(x + wide, y, &pieces);
}

/// What there is to say of a cause.
pub fn cause_words(cause: &Cause) -> Vec<(Role, String)> {
    let mut out = vec![(Role::Strong, format!("{}.", cause.sentence_with_save()))];
    out.push((Role::Text, format!("Evidence: {}.", cause.evidence.join("; "))));
    out.push((Role::Text, format!("Lost: {}.", cause.kind.lost())));
    out.push((Role::Text, format!("What can come back: {}.", cause.kind.comes_back())));
    out.extend(cause.tell_apart().map(|text| (Role::Dim, format!("{text}."))));
    out
}

/// Lines that the words on a cause take, with the line above them.
pub fn cause_lines(app: &App, cause: &Cause) -> u16 {
    let width = usize::from(inside(app.layout().pane).width.saturating_sub(2)).max(1);
    let lines: usize = cause_words(cause).iter().map(|(_, text)| wrap(text, width).len()).sum();
    u16::try_from(lines).unwrap_or(u16::MAX).saturating_add(1)
}

/// Draws what there is to say of a cause.
pub fn draw_cause_details(app: &App, cause: &Cause, canvas: &mut Canvas<'_>) {
    let line = if app.glyphs.ascii { "-" } else { "─" }.repeat(canvas.width().into());
    canvas.put(0, 0, &line, Role::Border);
    let width = canvas.width().saturating_sub(2);
    let rows = |(role, text): (Role, String)| wrap(&text, usize::from(width)).into_iter().map(move |row| (role, row));
    let all: Vec<(Role, String)> = cause_words(cause).into_iter().flat_map(rows).collect();
    let room = usize::from(canvas.height().saturating_sub(1));
    for (y, (role, row)) in (1..).zip(all.iter().take(room)) {
        // `e` shows what has no row here.
        let is_cut = usize::from(y) == room && all.len() > room;
        let row = if is_cut { format!("{row} {}", canvas.glyphs.more) } else { row.clone() };
        canvas.put_within(1, y, width, &row, *role);
    }
}

/// Draws the line of a file.
fn draw_file(app: &App, group: &Group, y: u16, canvas: &mut Canvas<'_>) {
    let Some(finding) = usize::try_from(group.first).ok().and_then(|first| app.findings.list.get(first)) else {
        return;
    };
    let counts = level_counts(app, |level| group.count(level));
    let width: usize = counts.iter().map(|(_, text)| text.width()).sum();
    let width = u16::try_from(width).unwrap_or(u16::MAX);
    let room = canvas.width().saturating_sub(width + 3);
    // Paths differ at their ends.
    let name = shorten_start(&finding.file, room.into(), app.glyphs.more);
    let x = canvas.put(1, y, &name, Role::Strong);
    let pieces: Vec<(Role, &str)> = counts.iter().map(|(role, text)| (*role, text.as_str())).collect();
    canvas.line(x, y, &pieces);
}

fn shorten_start(text: &str, room: usize, more: &str) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut from = text.len();
    for (at, _) in text.char_indices().rev() {
        if text.get(at..).is_none_or(|end| end.width() + more.width() > room) {
            break;
        }
        from = at;
    }
    format!("{more}{}", text.get(from..).unwrap_or_default())
}

/// The finding of a line, if it has one.
fn finding_of<'a>(app: &'a App, groups: &Groups, line: usize) -> Option<&'a Finding> {
    let FindingLine::Finding(number) = groups.line(line)? else { return None };
    app.findings.list.get(usize::try_from(number).ok()?).map(|finding| &**finding)
}

/// Columns of the places in some lines: the longest one fits, unless it takes more than half of the width. Steps of four columns keep
/// the messages where they are while most lists scroll.
pub fn place_width(app: &App, groups: &Groups, lines: Range<usize>, width: u16) -> u16 {
    let places = lines.filter_map(|line| finding_of(app, groups, line)).map(|finding| place(finding).width());
    let longest = places.max().unwrap_or(0).next_multiple_of(4);
    u16::try_from(longest).unwrap_or(u16::MAX).max(PLACE).min(width / 2)
}

/// Draws a line: a heading, a file, or a finding with so many columns for its place.
pub fn draw_line(
    app: &App,
    (groups, headings): (&Groups, &Headings),
    line: usize,
    (places, y): (u16, u16),
    canvas: &mut Canvas<'_>,
) {
    match groups.line(line) {
        Some(FindingLine::Heading(number)) => {
            if let Some(heading) = headings.get(number) {
                draw_heading(app, groups, (number, heading), y, canvas);
            }
        }
        Some(FindingLine::File(group)) => {
            if let Some(group) = groups.group(group) {
                draw_file(app, group, y, canvas);
            }
        }
        Some(FindingLine::Finding(_)) => {
            if let Some(finding) = finding_of(app, groups, line) {
                draw_finding(app, finding, (places, y), canvas);
            }
        }
        None => {}
    }
}

/// Draws the line of a finding, with so many columns for its place.
fn draw_finding(app: &App, finding: &Finding, (places, y): (u16, u16), canvas: &mut Canvas<'_>) {
    let level = Some(finding.level());
    let (mark, role) = (app.glyphs.level(level), level_role(level));
    let mut x = canvas.put(3, y, mark, role);
    let wide = canvas.width() >= WIDE;
    if wide {
        canvas.put(x + 1, y, finding.level().name(), role);
        x += 9;
    } else {
        x += 1;
    }
    let place = place(finding);
    let room = if wide { places } else { u16::try_from(place.width()).unwrap_or(places).min(places) };
    canvas.put_within(x, y, room, &place, Role::Text);
    x = x.saturating_add(room + 1);
    let width = canvas.width().saturating_sub(x + 1);
    canvas.put_within(x, y, width, &finding.damage.to_string(), Role::Dim);
}

/// The place in few characters.
fn place(finding: &Finding) -> String {
    match (finding.block.and_then(|block| block.position), finding.span) {
        (Some(position), _) => format!("block {}", triple(position)),
        (None, Some(span)) => format!("bytes {span}"),
        (None, None) => "the file".into(),
    }
}

/// Lines that the story of a finding takes in the pane; none where the inspector has room for all of it.
pub fn detail_lines(app: &App, finding: &Finding) -> u16 {
    let each = |width: u16| {
        let width = usize::from(width).max(1);
        [finding.message(), app.findings.advice.next(finding)].map(|text| wrap(&text, width).len())
    };
    let lines = |width: u16| each(width).iter().sum::<usize>();
    let inspector = inside(app.layout().inspector);
    let height = usize::from(inspector.height);
    // The inspector puts the level before the message. In two columns, each of the texts must fit one.
    let fits = if inspector.width >= 70 {
        each((inspector.width / 2).saturating_sub(2)).iter().all(|lines| *lines < height)
    } else {
        lines(inspector.width.saturating_sub(12)) <= height
    };
    if inspector.area() > 0 && fits {
        return 0;
    }
    let pane = inside(app.layout().pane);
    u16::try_from(lines(pane.width.saturating_sub(1))).unwrap_or(u16::MAX).saturating_add(1).max(3)
}

/// Draws the selected finding in full where no inspector does.
pub fn draw_details(app: &App, finding: &Finding, canvas: &mut Canvas<'_>) {
    let width = canvas.width();
    let line = if app.glyphs.ascii { "-" } else { "─" }.repeat(width.into());
    canvas.put(0, 0, &line, Role::Border);
    let level = Some(finding.level());
    let y = canvas.wrap(1, 1, &finding.message(), level_role(level));
    canvas.wrap(1, y, &app.findings.advice.next(finding), Role::Dim);
}
