//! What is wrong: findings as they come, in groups by file. Only the lines that are seen are built.

mod filter;
mod groups;
mod words;

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::Click;
use crate::check::Finding;
use crate::damage::{Code, Space};
use crate::export;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::canvas::Canvas;
use crate::tui::draw::pane_inside;
use crate::tui::findings::Findings;
use crate::tui::inspector::grouped;
use crate::tui::jobs::Kind;
use crate::tui::pane::Pane;
use crate::tui::theme::Role;
use crate::tui::{go, scroll};
use filter::Words;
use groups::{FileKey, Groups, Line};

/// Lines that a step of the wheel moves.
const WHEEL: usize = 3;

/// What the pane keeps.
#[derive(Debug, Default)]
pub struct Keep {
    filter: String,
    groups: Groups,
    /// The check that they are of.
    run: u64,
    /// Findings that were looked at.
    seen: usize,
    /// The filter that they passed.
    made_with: String,
    /// Whether a filter is at work, and on which text.
    filtering: Option<(u64, String)>,
    /// The first line that is seen.
    first: usize,
}

/// Where the parts lie: the line above, the list, the story below.
struct Geometry {
    summary: u16,
    rows: u16,
    story: u16,
}

fn geometry(app: &App, height: u16) -> Geometry {
    let summary = u16::from(height >= 3);
    let story = match app.selection.finding.and_then(|number| app.findings.list.get(number)) {
        // What the inspector has no room for is told here in full.
        Some(finding) if height >= 6 => words::story_lines(app, finding).min(height / 2),
        _ => 0,
    };
    Geometry { summary, rows: height.saturating_sub(summary + story), story }
}

fn file_key(findings: &Findings, number: usize) -> Option<FileKey> {
    match findings.items.get(number)? {
        Some(item) => Some(FileKey::Item(*item)),
        None => Some(FileKey::Name(Arc::clone(&findings.list.get(number)?.file))),
    }
}

/// The line of the selected finding, or the first one with a finding.
fn cursor(app: &App) -> Option<usize> {
    let groups = &app.panes.findings.groups;
    let line = app.selection.finding.and_then(|number| {
        let finding = app.findings.list.get(number)?;
        groups.line_of(&file_key(&app.findings, number)?, u32::try_from(number).ok()?, finding.level())
    });
    line.or_else(|| groups.finding_from(0, true).map(|(line, _)| line))
}

/// Takes in what the check has found since.
fn refresh(app: &mut App) {
    let keep = &mut app.panes.findings;
    if keep.run != app.findings.run {
        (keep.groups, keep.seen, keep.run, keep.filtering) = (Groups::default(), 0, app.findings.run, None);
        keep.made_with.clone_from(&keep.filter);
    }
    let all = app.findings.list.len();
    let changed = keep.made_with != keep.filter;
    if !changed && keep.seen >= all {
        return;
    }
    if keep.filter.is_empty() {
        if changed {
            (keep.groups, keep.seen) = (Groups::default(), 0);
            keep.made_with.clear();
        }
        keep.filtering = None;
        let numbers = (keep.seen..all).filter_map(|number| u32::try_from(number).ok()).collect();
        take(app, numbers, all);
        return;
    }
    let wanted = (app.findings.run, keep.filter.clone());
    if keep.filtering.as_ref() == Some(&wanted) {
        return;
    }
    keep.filtering = Some(wanted.clone());
    let from = if changed { 0 } else { keep.seen };
    let findings: Vec<Arc<Finding>> = app.findings.list.iter().skip(from).cloned().collect();
    app.job(
        Kind::Findings,
        move |worker| {
            let words = Words::new(&wanted.1);
            let fits = findings.par_iter().enumerate().filter(|(_, finding)| words.fit(finding));
            let numbers: Vec<u32> = fits.filter_map(|(at, _)| u32::try_from(from + at).ok()).collect();
            let upto = from + findings.len();
            worker.answer(move |app| {
                let keep = &mut app.panes.findings;
                if keep.filtering.as_ref() == Some(&wanted) && app.findings.run == wanted.0 {
                    keep.filtering = None;
                    if from == 0 {
                        keep.groups = Groups::default();
                        keep.made_with = wanted.1;
                    }
                    take(app, numbers, upto);
                }
            });
        },
        |app, why| {
            (app.panes.findings.filter, app.panes.findings.filtering) = (String::new(), None);
            app.say(why);
        },
    );
}

/// Adds findings, and keeps the line under the cursor where it is on the screen.
fn take(app: &mut App, numbers: Vec<u32>, upto: usize) {
    let selected = app.selection.finding.is_some();
    let before = cursor(app);
    let keep = &mut app.panes.findings;
    for number in numbers {
        let Ok(at) = usize::try_from(number) else { continue };
        if let (Some(file), Some(finding)) = (file_key(&app.findings, at), app.findings.list.get(at)) {
            keep.groups.add(file, number, finding.level());
        }
    }
    keep.groups.sort();
    keep.seen = upto;
    if let (true, Some(before), Some(now)) = (selected, before, cursor(app)) {
        let keep = &mut app.panes.findings;
        keep.first = (keep.first + now).saturating_sub(before);
    }
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    refresh(app);
    if action == Action::Close && !app.panes.findings.filter.is_empty() {
        app.panes.findings.filter.clear();
        refresh(app);
        return true;
    }
    let Some(at) = cursor(app) else { return false };
    let height = pane_inside(app).height;
    let page = usize::from(geometry(app, height).rows).max(1);
    let groups = &app.panes.findings.groups;
    let last = groups.lines().saturating_sub(1);
    let (to, forth) = match action {
        // What is under the cursor at the start is selected by the first key.
        _ if app.selection.finding.is_none() && matches!(action, Action::Up | Action::Down) => (at, true),
        Action::Up => (at.saturating_sub(1), false),
        Action::Down => (at + 1, true),
        Action::PageUp => (at.saturating_sub(page), false),
        Action::PageDown => ((at + page).min(last), true),
        Action::First => (0, true),
        Action::Last => (last, false),
        Action::Left => (groups.other_file(at, false).unwrap_or(0), true),
        Action::Right => (groups.other_file(at, true).unwrap_or(at), true),
        Action::Enter => {
            if let Some((_, number)) = groups.finding_from(at, true) {
                look(app, number);
            }
            return true;
        }
        _ => return false,
    };
    to_line(app, to, forth);
    true
}

/// Puts the cursor on the finding of a line.
fn to_line(app: &mut App, line: usize, forth: bool) {
    let groups = &app.panes.findings.groups;
    let found = groups.finding_from(line, forth).or_else(|| groups.finding_from(line, !forth));
    let Some((line, number)) = found else { return };
    app.selection.finding = usize::try_from(number).ok();
    scroll_to(app, line);
}

fn scroll_to(app: &mut App, line: usize) {
    let rows = geometry(app, pane_inside(app).height).rows;
    let keep = &mut app.panes.findings;
    // The name of the file is seen with its first finding.
    let upper = if matches!(line.checked_sub(1).and_then(|above| keep.groups.line(above)), Some(Line::File(_))) {
        line.saturating_sub(1)
    } else {
        line
    };
    let first = scroll::follow(keep.first, upper, rows.into(), keep.groups.lines());
    keep.first = scroll::follow(first, line, rows.into(), keep.groups.lines());
}

/// Enter: the place of a finding, in the pane that tells most of it.
fn look(app: &mut App, number: u32) {
    let Ok(number) = usize::try_from(number) else { return };
    let Some(finding) = app.findings.list.get(number).cloned() else { return };
    app.remember();
    go::to_finding(app, number);
    if app.selected_item().is_none() {
        app.say("This is about a file that is no part of what can be opened. e tells more.".into());
        return;
    }
    app.pane = pane_for(&finding);
}

/// The pane that tells most of a finding: the sectors where it is about who owns them, the bytes for all else.
fn pane_for(finding: &Finding) -> Pane {
    match finding.code() {
        Code::TableEmpty
        | Code::TableCountZero
        | Code::TableBeyondEnd
        | Code::SectorCut
        | Code::TableOverlap
        | Code::TableCount
        | Code::TableGap
        | Code::StaleTail
        | Code::BlockUnlisted
        | Code::BlockOrphan
        | Code::PakInHeader
        | Code::PakBeyondEnd
        | Code::PakOverlap => Pane::Sectors,
        Code::MetadataCustom | Code::MetadataDialect | Code::MetadataPosition
            if finding.damage.space == Space::Block =>
        {
            Pane::Meta
        }
        _ => Pane::Hex,
    }
}

/// Does a click.
pub fn click(app: &mut App, click: Click, _x: u16, y: u16) {
    let Some(at) = cursor(app) else { return };
    if let Click::Wheel(up) = click {
        to_line(app, if up { at.saturating_sub(WHEEL) } else { at + WHEEL }, !up);
        return;
    }
    let parts = geometry(app, pane_inside(app).height);
    let Some(row) = y.checked_sub(parts.summary).filter(|row| *row < parts.rows) else { return };
    let keep = &app.panes.findings;
    let first = scroll::follow(keep.first, at, parts.rows.into(), keep.groups.lines());
    let line = first + usize::from(row);
    match keep.groups.line(line) {
        Some(Line::Finding(number)) if line == at && app.selection.finding.is_some() => look(app, number),
        Some(_) => to_line(app, line, true),
        None => {}
    }
}

/// Asks for what is needed.
pub fn want(app: &mut App) {
    refresh(app);
}

/// Draws the pane.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let keep = &app.panes.findings;
    let parts = geometry(app, canvas.height());
    let groups = &keep.groups;
    let has_any = groups.lines() > 0;
    if parts.summary > 0 && (has_any || app.findings.running || app.findings.stopped || !keep.filter.is_empty()) {
        let pieces = words::summary(app, &keep.filter, groups.findings(), groups.files());
        let pieces: Vec<(Role, &str)> = pieces.iter().map(|(role, text)| (*role, text.as_str())).collect();
        canvas.line(1, 0, &pieces);
    }
    let Some(at) = cursor(app) else {
        words::nothing(app, canvas, &keep.filter);
        return;
    };
    let rows = usize::from(parts.rows);
    // Without a selection the list stands at its beginning, with the name of the first file.
    let first = if app.selection.finding.is_none() { 0 } else { scroll::follow(keep.first, at, rows, groups.lines()) };
    for (y, line) in (parts.summary..).zip(first..groups.lines()).take(rows) {
        match groups.line(line) {
            Some(Line::File(group)) => {
                if let Some(group) = groups.group(group) {
                    words::file(app, group, y, canvas);
                }
            }
            Some(Line::Finding(number)) => {
                let finding = usize::try_from(number).ok().and_then(|number| app.findings.list.get(number));
                if let Some(finding) = finding {
                    words::finding(app, finding, y, canvas);
                }
            }
            None => {}
        }
        if line == at {
            canvas.cursor_row(y, app.focus == crate::tui::app::Focus::Pane);
        }
    }
    canvas.part(0, parts.summary, canvas.width(), parts.rows).scrollbar(first, rows, groups.lines());
    if parts.story > 0
        && let Some(finding) = app.selection.finding.and_then(|number| app.findings.list.get(number))
    {
        words::story(app, finding, &mut canvas.part(0, parts.summary + parts.rows, canvas.width(), parts.story));
    }
}

/// Goes to the next finding in the order in which they are shown, or to the one before, and shows its place.
pub fn step(app: &mut App, forth: bool) {
    refresh(app);
    let groups = &app.panes.findings.groups;
    let last = groups.lines().saturating_sub(1);
    let next = match (app.selection.finding.and(cursor(app)), forth) {
        (Some(at), true) if at < last => groups.finding_from(at + 1, true),
        (Some(at), false) => at.checked_sub(1).and_then(|before| groups.finding_from(before, false)),
        (Some(_) | None, true) => groups.finding_from(0, true),
        (None, false) => None,
    };
    let next = next.or_else(|| groups.finding_from(last, false));
    let Some((line, number)) = next else {
        if !app.panes.findings.filter.is_empty() {
            app.say(format!("No finding fits the filter `{}`.", app.panes.findings.filter));
        }
        return;
    };
    app.remember();
    scroll_to(app, line);
    if let Ok(number) = usize::try_from(number) {
        go::to_finding(app, number);
    }
    if !matches!(app.pane, Pane::Sectors | Pane::Blocks | Pane::Hex) {
        app.pane = Pane::Sectors;
    }
    app.focus = crate::tui::app::Focus::Pane;
}

/// Filters the findings.
pub fn filter(app: &mut App, text: &str) {
    text.trim().clone_into(&mut app.panes.findings.filter);
    refresh(app);
}

/// The filter as it was typed.
pub fn filter_text(app: &App) -> String {
    app.panes.findings.filter.clone()
}

/// Writes the findings that are shown.
///
/// # Errors
/// A sentence that says why not.
pub fn export(app: &mut App, name: &str) -> Result<(), String> {
    refresh(app);
    let name = name.trim().to_owned();
    let format = export::Format::of_name(&name).ok_or("give a name that ends in .csv or .jsonl")?;
    let index = app.index.clone().ok_or("nothing is open")?;
    if app.findings.running {
        return Err("the check still runs: wait for its end".into());
    }
    let numbers = app.panes.findings.groups.numbers().filter_map(|number| usize::try_from(number).ok());
    let findings: Vec<Arc<Finding>> = numbers.filter_map(|number| app.findings.list.get(number).cloned()).collect();
    app.job(
        Kind::Export,
        move |worker| {
            let findings = findings.iter().map(|finding| &**finding);
            let go_on = || !worker.is_cancelled();
            let written = export::to_new_file(Path::new(&name), &index.save.path, format, findings, &go_on);
            let said = match written {
                Ok(1) => format!("Wrote 1 finding to {}.", crate::printable::printable(&name)),
                Ok(count) => format!("Wrote {} findings to {}.", grouped(count), crate::printable::printable(&name)),
                Err(error) => format!("{error}."),
            };
            worker.answer(move |app| app.say(said));
        },
        App::say,
    );
    Ok(())
}
