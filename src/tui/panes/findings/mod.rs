//! Findings as they come, grouped by file, and by what happened once that is known. Only the lines that are seen are built.

mod filter;
mod groups;
mod headings;
mod words;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::Click;
use crate::check::{Advised, Cause, Finding, saves_of};
use crate::damage::{Code, Level, Space};
use crate::export;
use crate::parallel;
use crate::tui::App;
use crate::tui::action::Action;
use crate::tui::canvas::Canvas;
use crate::tui::findings::Findings;
use crate::tui::jobs::JobKind;
use crate::tui::numbers::grouped;
use crate::tui::pane::{InspectorLines, Pane};
use crate::tui::theme::{Role, level_role};
use crate::tui::{go, scroll};
use filter::FindingFilter;
use groups::{FileKey, FindingLine, Groups, Rank};
use headings::Headings;

pub use words::cause_words;

/// Lines that a step of the wheel moves.
const WHEEL: usize = 3;

/// The state of the pane.
#[derive(Debug, Default)]
pub struct FindingsState {
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
    /// Whether the user moved the cursor; until then it is on the first finding.
    moved: bool,
    /// Whether something else was selected since the check began: the worst finding is no longer selected by itself.
    pub selected_elsewhere: bool,
    /// How many causes they are grouped by.
    causes: usize,
    /// The headings of the list, while it is grouped by causes.
    headings: Headings,
    /// The causes of blocks: what else is found about a block that a cause explains follows from it too.
    of_blocks: HashMap<BlockKey, usize>,
    /// The heading that the cursor is on.
    at_heading: Option<usize>,
}

/// A block: its file, its LOD, its position.
type BlockKey = (Arc<str>, u8, [i32; 3]);

fn block_key(finding: &Finding) -> Option<BlockKey> {
    let block = finding.block?;
    Some((Arc::clone(&finding.file), block.lod, block.position?))
}

/// Findings up to which all causes are unfolded from the start.
const FEW: usize = 12;

/// The areas of the pane: the line above, the list, the selected finding in full below.
struct Areas {
    summary: u16,
    rows: u16,
    details: u16,
}

fn areas(app: &App, height: u16) -> Areas {
    let summary = u16::from(height >= 3);
    let details = match (app.panes.findings.at_heading, app.selection.finding) {
        _ if height < 6 => 0,
        // A cause is shown in full, before its findings.
        (Some(_), _) => {
            let lines = cause_at_cursor(app).map_or(0, |cause| words::cause_lines(app, cause));
            // A third of the pane stays for its findings.
            lines.min(height.saturating_sub(summary + (height / 3).max(2)))
        }
        (None, Some(number)) => {
            // The pane shows in full what the inspector has no room for.
            let finding = app.findings.list.get(number);
            finding.map_or(0, |finding| words::detail_lines(app, finding).min(height / 2))
        }
        (None, None) => 0,
    };
    Areas { summary, rows: height.saturating_sub(summary + details), details }
}

fn file_key(findings: &Findings, number: usize) -> Option<FileKey> {
    match findings.items.get(number)? {
        Some(item) => Some(FileKey::Item(*item)),
        None => Some(FileKey::Name(Arc::clone(&findings.list.get(number)?.file))),
    }
}

/// The number of the heading that the user moved to, while the pane is shown.
fn chosen_heading(app: &App) -> Option<usize> {
    let state = &app.panes.findings;
    let number = state.at_heading.filter(|_| app.pane == Pane::Findings && state.causes > 0 && state.moved)?;
    state.headings.get(number).map(|_| number)
}

/// Whether the user moved to a heading.
pub fn is_at_heading(app: &App) -> bool {
    chosen_heading(app).is_some()
}

/// The heading that the user moved to: its title, and how many findings are below it.
pub fn heading_words(app: &App) -> Option<(String, InspectorLines)> {
    let state = &app.panes.findings;
    let number = chosen_heading(app)?;
    let title = cause_at_cursor(app).map_or_else(|| "Other findings".to_owned(), |cause| cause.kind.name().to_owned());
    let count = |level| {
        let n = state.groups.count_below(number, level);
        let text = format!("{} {}", app.glyphs.level(Some(level)), grouped(n));
        (n > 0).then(|| (level.name(), text, level_role(Some(level))))
    };
    let counts = [Level::Error, Level::Warning, Level::Note].into_iter().filter_map(count);
    let what = if state.groups.is_open(number) { "Enter folds its findings." } else { "Enter lists its findings." };
    Some((title, counts.chain([("", what.to_owned(), Role::Dim)]).collect()))
}

/// The cause that the cursor is on.
pub fn cause_at_cursor(app: &App) -> Option<&Cause> {
    let state = &app.panes.findings;
    let heading = state.headings.get(state.at_heading.filter(|_| state.causes > 0)?)?;
    app.findings.verdict.causes.get(heading.cause?)
}

/// The number of the heading of a finding, where findings are grouped by causes.
fn heading_of(app: &App, finding: &Finding) -> Option<usize> {
    let state = &app.panes.findings;
    if state.causes == 0 {
        return None;
    }
    let causes = &app.findings.verdict.causes;
    let number = causes.iter().position(|cause| cause.explains(&finding.file, finding.code()));
    let number = number.or_else(|| state.of_blocks.get(&block_key(finding)?).copied());
    let heading = number.and_then(|cause| state.headings.of_cause(cause));
    Some(heading.unwrap_or_else(|| state.headings.of_other(&finding.file)))
}

/// The number of the heading of findings of a code that are not listed: that of one which is, unless the code alone shows it.
fn heading_of_unlisted(app: &App, file: &str, code: Code) -> Option<usize> {
    let headings = &app.panes.findings.headings;
    let causes = &app.findings.verdict.causes;
    let number = causes.iter().position(|cause| cause.explains(file, code));
    let listed = || app.findings.list.iter().find(|finding| finding.code() == code && *finding.file == *file);
    let heading = number.and_then(|cause| headings.of_cause(cause)).or_else(|| heading_of(app, listed()?));
    (app.panes.findings.causes > 0).then(|| heading.unwrap_or_else(|| headings.of_other(file)))
}

/// The causes of the blocks that findings are about.
fn causes_of_blocks(findings: &Findings) -> HashMap<BlockKey, usize> {
    let causes = &findings.verdict.causes;
    let explained = findings.list.iter().filter_map(|finding| {
        let number = causes.iter().position(|cause| cause.explains(&finding.file, finding.code()))?;
        Some((block_key(finding)?, number))
    });
    explained.collect()
}

/// The line of the selected finding or heading, or the first one with either.
fn cursor(app: &App) -> Option<usize> {
    let groups = &app.panes.findings.groups;
    if let Some(line) = app.panes.findings.at_heading.and_then(|heading| groups.line_of_heading(heading)) {
        return Some(line);
    }
    let line = app.selection.finding.and_then(|number| {
        let finding = app.findings.list.get(number)?;
        groups.line_of(
            heading_of(app, finding),
            &file_key(&app.findings, number)?,
            u32::try_from(number).ok()?,
            Rank::of(finding),
        )
    });
    line.or_else(|| groups.stop_from(0, true))
}

/// Takes in what the check has found since.
fn refresh(app: &mut App) {
    let state = &mut app.panes.findings;
    if state.run != app.findings.run {
        (state.groups, state.seen, state.run, state.filtering) = (Groups::default(), 0, app.findings.run, None);
        state.made_with.clone_from(&state.filter);
        (state.moved, state.selected_elsewhere) = (false, false);
    }
    let all = app.findings.list.len();
    // Of findings that a filter lets through, the cause is not the question.
    let causes = if state.filter.is_empty() { app.findings.verdict.causes.len() } else { 0 };
    if state.causes != causes {
        (state.seen, state.causes, state.at_heading) = (0, causes, None);
        (state.groups, state.headings, state.of_blocks) = (Groups::default(), Headings::default(), HashMap::new());
        if causes > 0 {
            let saves = app.index.as_ref().map(|index| saves_of(&index.save)).unwrap_or_default();
            state.headings = Headings::new(&app.findings.verdict.causes, &saves);
            state.of_blocks = causes_of_blocks(&app.findings);
            state.groups = Groups::below(state.headings.are_causes());
            // The first cause is shown in full, until the user goes on.
            if !state.moved && !state.selected_elsewhere {
                state.at_heading = Some(0);
            }
        }
    }
    let changed = state.made_with != state.filter;
    if !changed && state.seen >= all {
        return;
    }
    if state.filter.is_empty() {
        if changed {
            state.groups = if causes > 0 { Groups::below(state.headings.are_causes()) } else { Groups::default() };
            state.seen = 0;
            state.made_with.clear();
        }
        state.filtering = None;
        let numbers = (state.seen..all).filter_map(|number| u32::try_from(number).ok()).collect();
        add_findings(app, numbers, all);
        return;
    }
    let wanted = (app.findings.run, state.filter.clone());
    if state.filtering.as_ref() == Some(&wanted) {
        return;
    }
    state.filtering = Some(wanted.clone());
    let from = if changed { 0 } else { state.seen };
    let findings: Vec<Arc<Finding>> = app.findings.list.iter().skip(from).cloned().collect();
    app.job(
        JobKind::Findings,
        move |worker| {
            let words = FindingFilter::new(&wanted.1);
            let fits = parallel::map(&findings, |finding| words.fit(finding));
            let fitting = (from..).zip(fits).filter(|(_, fits)| *fits);
            let numbers: Vec<u32> = fitting.filter_map(|(at, _)| u32::try_from(at).ok()).collect();
            let upto = from + findings.len();
            worker.answer(move |app| {
                let state = &mut app.panes.findings;
                if state.filtering.as_ref() == Some(&wanted) && app.findings.run == wanted.0 {
                    state.filtering = None;
                    if from == 0 {
                        state.groups = Groups::default();
                        state.made_with = wanted.1;
                    }
                    add_findings(app, numbers, upto);
                }
            });
        },
        |app, why| {
            (app.panes.findings.filter, app.panes.findings.filtering) = (String::new(), None);
            app.show_message(why);
        },
    );
}

/// Adds findings, and keeps the line under the cursor where it is on the screen.
fn add_findings(app: &mut App, numbers: Vec<u32>, upto: usize) {
    let selected = app.selection.finding.is_some();
    let before = cursor(app);
    for number in numbers {
        let Ok(at) = usize::try_from(number) else { continue };
        if let (Some(file), Some(finding)) = (file_key(&app.findings, at), app.findings.list.get(at)) {
            let (heading, rank) = (heading_of(app, finding), Rank::of(finding));
            let finding = Arc::clone(finding);
            app.panes.findings.groups.add(heading, file.clone(), number, rank);
            // A filter looks at listed findings only.
            let unlisted = finding.unlisted.iter().filter(|_| app.panes.findings.filter.is_empty());
            for &(code, n) in unlisted {
                let heading = heading_of_unlisted(app, &finding.file, code);
                app.panes.findings.groups.add_unlisted(heading, file.clone(), number, code.level(), n);
            }
        }
    }
    let moved = app.panes.findings.moved;
    let state = &mut app.panes.findings;
    state.groups.sort();
    // If there are many findings, only those below the first heading are unfolded.
    if state.groups.findings() <= FEW || moved {
        state.groups.unfold_all();
    }
    state.seen = upto;
    if let (true, Some(before), Some(now)) = (selected, before, cursor(app)) {
        let state = &mut app.panes.findings;
        state.first = (state.first + now).saturating_sub(before);
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
    let height = app.pane_inside().height;
    let page = usize::from(areas(app, height).rows).max(1);
    let groups = &app.panes.findings.groups;
    let last = groups.lines().saturating_sub(1);
    let (to, forward) = match action {
        Action::Up => (at.saturating_sub(1), false),
        Action::Down => (at + 1, true),
        Action::PageUp => (at.saturating_sub(page), false),
        Action::PageDown => ((at + page).min(last), true),
        Action::First => (0, true),
        Action::Last => (last, false),
        Action::Left | Action::Right | Action::Enter if app.panes.findings.at_heading.is_some() => {
            let state = &mut app.panes.findings;
            if let Some(heading) = state.at_heading {
                let is_open = state.groups.is_open(heading);
                if action == Action::Right && is_open {
                    to_line(app, at + 1, true);
                } else {
                    state.groups.unfold(heading, action == Action::Right || (action == Action::Enter && !is_open));
                    state.moved = true;
                }
            }
            return true;
        }
        Action::Left => (groups.other_part(at, false).unwrap_or(0), true),
        Action::Right => (groups.other_part(at, true).unwrap_or(at), true),
        Action::Enter => {
            if let Some((_, number)) = groups.finding_from(at, true) {
                open_selected(app, number);
            }
            return true;
        }
        _ => return false,
    };
    to_line(app, to, forward);
    true
}

/// Puts the cursor on the finding of a line.
fn to_line(app: &mut App, line: usize, forward: bool) {
    let groups = &app.panes.findings.groups;
    let found = groups.stop_from(line, forward).or_else(|| groups.stop_from(line, !forward));
    let Some(line) = found else { return };
    let to = groups.line(line);
    app.panes.findings.moved = true;
    app.panes.findings.at_heading = match to {
        Some(FindingLine::Heading(heading)) => Some(heading),
        _ => None,
    };
    if let Some(FindingLine::Finding(number)) = to
        && let Ok(number) = usize::try_from(number)
    {
        go::link_finding(app, number);
    }
    scroll_to(app, line);
}

fn scroll_to(app: &mut App, line: usize) {
    let rows = areas(app, app.pane_inside().height).rows;
    let state = &mut app.panes.findings;
    // The name of the file is seen with its first finding.
    let upper = if matches!(line.checked_sub(1).and_then(|above| state.groups.line(above)), Some(FindingLine::File(_)))
    {
        line.saturating_sub(1)
    } else {
        line
    };
    let first = scroll::follow(state.first, upper, rows.into(), state.groups.lines());
    state.first = scroll::follow(first, line, rows.into(), state.groups.lines());
}

/// Enter: opens the place of a finding in the pane that shows most of it.
fn open_selected(app: &mut App, number: u32) {
    let Ok(number) = usize::try_from(number) else { return };
    let Some(finding) = app.findings.list.get(number).cloned() else { return };
    app.remember();
    app.panes.findings.moved = true;
    go::to_finding(app, number);
    if app.findings.items.get(number).copied().flatten().is_none() {
        app.show_message("This finding is about a file that cannot be opened here. e explains it.".into());
        return;
    }
    app.pane = pane_for(&finding);
}

/// The pane that shows most of a finding: sectors where it is about their owners, bytes otherwise.
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
        Code::MetadataCustom | Code::MetadataDialect | Code::MetadataPort | Code::MetadataPosition
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
    let parts = areas(app, app.pane_inside().height);
    let Some(row) = y.checked_sub(parts.summary).filter(|row| *row < parts.rows) else { return };
    let state = &app.panes.findings;
    let first = scroll::follow(state.first, at, parts.rows.into(), state.groups.lines());
    let line = first + usize::from(row);
    match state.groups.line(line) {
        Some(FindingLine::Heading(heading)) => {
            let state = &mut app.panes.findings;
            state.groups.unfold(heading, !state.groups.is_open(heading));
            (state.at_heading, state.moved) = (Some(heading), true);
        }
        Some(FindingLine::Finding(number)) if line == at && app.panes.findings.moved => open_selected(app, number),
        Some(_) => to_line(app, line, true),
        None => {}
    }
}

/// Requests what the pane needs and does not have.
pub fn request_missing(app: &mut App) {
    refresh(app);
    let state = &app.panes.findings;
    if state.moved || state.selected_elsewhere {
        return;
    }
    // Until the user moves, the worst finding so far is selected.
    let first = state.groups.finding_from(0, true).and_then(|(_, number)| usize::try_from(number).ok());
    match first {
        Some(first) if app.selection.finding != Some(first) => {
            go::link_finding(app, first);
        }
        _ => {}
    }
}

/// Draws the pane.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let state = &app.panes.findings;
    let parts = areas(app, canvas.height());
    let groups = &state.groups;
    let has_any = groups.lines() > 0;
    if parts.summary > 0 && (has_any || app.findings.running || app.findings.stopped || !state.filter.is_empty()) {
        let pieces = words::summary(app, &state.filter, groups.count(), groups.files());
        let pieces: Vec<(Role, &str)> = pieces.iter().map(|(role, text)| (*role, text.as_str())).collect();
        canvas.line(1, 0, &pieces);
    }
    let Some(at) = cursor(app) else {
        words::draw_empty(app, canvas, &state.filter);
        return;
    };
    let rows = usize::from(parts.rows);
    // Without a selection the list shows its beginning, with the name of the first file.
    let first = if app.selection.finding.is_none() && state.at_heading.is_none() {
        0
    } else {
        scroll::follow(state.first, at, rows, groups.lines())
    };
    let seen = first..groups.lines().min(first.saturating_add(rows));
    let places = words::place_width(app, groups, seen.clone(), canvas.width());
    for (y, line) in (parts.summary..).zip(seen) {
        words::draw_line(app, (groups, &state.headings), line, (places, y), canvas);
        if line == at {
            canvas.cursor_row(y, app.focus == crate::tui::Focus::Pane);
        }
    }
    canvas.part(0, parts.summary, canvas.width(), parts.rows).scrollbar(first, rows, groups.lines());
    if parts.details > 0
        && let Some(cause) = cause_at_cursor(app)
    {
        let mut part = canvas.part(0, parts.summary + parts.rows, canvas.width(), parts.details);
        words::draw_cause_details(app, cause, &mut part);
    } else if parts.details > 0
        && state.at_heading.is_none()
        && let Some(finding) = app.selection.finding.and_then(|number| app.findings.list.get(number))
    {
        words::draw_details(
            app,
            finding,
            &mut canvas.part(0, parts.summary + parts.rows, canvas.width(), parts.details),
        );
    }
}

/// Goes to the next finding in the order in which they are shown, or to the one before, and shows its place.
pub fn step(app: &mut App, forward: bool) {
    refresh(app);
    // Findings of every cause are gone through.
    app.panes.findings.groups.unfold_all();
    app.panes.findings.at_heading = None;
    let groups = &app.panes.findings.groups;
    let last = groups.lines().saturating_sub(1);
    let at = app.selection.finding.filter(|_| app.panes.findings.moved).and(cursor(app));
    let next = match (at, forward) {
        (Some(at), true) if at < last => groups.finding_from(at + 1, true),
        (Some(at), false) => at.checked_sub(1).and_then(|before| groups.finding_from(before, false)),
        (Some(_) | None, true) => groups.finding_from(0, true),
        (None, false) => None,
    };
    let next = next.or_else(|| groups.finding_from(last, false));
    let Some((line, number)) = next else {
        if !app.panes.findings.filter.is_empty() {
            app.show_message(format!("No finding fits the filter `{}`.", app.panes.findings.filter));
        }
        return;
    };
    app.remember();
    app.panes.findings.moved = true;
    scroll_to(app, line);
    if let Ok(number) = usize::try_from(number) {
        go::to_finding(app, number);
    }
    if !matches!(app.pane, Pane::Sectors | Pane::Blocks | Pane::Hex) {
        app.pane = Pane::Sectors;
    }
    app.focus = crate::tui::Focus::Pane;
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
    let advice = app.findings.advice.clone();
    app.job(
        JobKind::Export,
        move |worker| {
            let advised: Vec<Advised<'_>> = findings.iter().map(|finding| advice.about(finding)).collect();
            let lines = advised.iter();
            let written = export::to_new_file(Path::new(&name), &index.save.path, format, lines, &worker.watch());
            let said = match written {
                Ok(1) => format!("Wrote 1 finding to {}.", crate::printable::printable(&name)),
                Ok(count) => format!("Wrote {} findings to {}.", grouped(count), crate::printable::printable(&name)),
                Err(error) => format!("{error}."),
            };
            worker.answer(move |app| app.show_message(said));
        },
        App::show_message,
    );
    Ok(())
}
