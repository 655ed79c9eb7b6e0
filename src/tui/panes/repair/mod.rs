//! What a repair would do: the sectors before and after, what is put right, what is missing, what goes to `lost+found`,
//! and the command that does it. Nothing is written here.

mod candidate;
mod link;
mod strip;
mod wait;
mod words;

pub use candidate::{act_on_trial, has_other_places, trial, trial_words, tried, tried_file, tried_mark};
pub use link::follow_selection;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Click;
use crate::check::Totals;
use crate::picture::Marks;
use crate::printable::{argument, capitalize, shell_word, triple};
use crate::recover::decide::how_likely;
use crate::repair::preview::{Preview, PreviewLine, Subject};
use crate::repair::{self, Accepted, Plan};
use crate::save::File;
use crate::tui::action::Action;
use crate::tui::canvas::Canvas;
use crate::tui::data::{Item, LoadState, Loaded, NodeId, NodeKind, Part};
use crate::tui::jobs::{JobKind, run_in_own_pool};
use crate::tui::scroll::follow;
use crate::tui::theme::Role;
use crate::tui::wrap::wrap;
use crate::tui::{App, Focus};
use unicode_width::UnicodeWidthStr;

/// Columns of the names in the list, at most.
const NAME: u16 = 22;

/// From this width on the sectors before and after are drawn side by side.
const SIDE_BY_SIDE: u16 = 84;

/// The first line of the tree: all that was opened.
const WHOLE: NodeId = 0;

/// Lines that a step of the mouse's wheel moves.
const WHEEL: usize = 3;

/// What a plan is made for: which reading of the save, and whether likely blocks are written.
type PlanKey = (u64, bool);

/// What a preview is of: a plan, the selected line of the tree, and whether the whole save is shown.
type PreviewKey = (PlanKey, NodeId, bool);

/// A plan, what the copy lacks beside blocks, and what to do with it, a sentence each.
#[derive(Debug)]
struct Planned {
    plan: Arc<Plan>,
    losses: Vec<String>,
    advice: Option<String>,
    totals: Totals,
}

/// The state of the pane.
#[derive(Debug, Default)]
pub struct RepairState {
    /// Whether blocks that are only likely are written too.
    likely: bool,
    /// What is done with the save.
    plan: Loaded<PlanKey, Planned>,
    /// How far the plan is.
    progress: wait::PlanProgress,
    /// What is done with the selected file.
    preview: Option<(PreviewKey, Arc<Preview>)>,
    /// The line of the tree for which the other one of file and whole save is shown.
    turned: Option<NodeId>,
    /// Columns that the names of its lines take in the list.
    names: u16,
    /// The line under the cursor.
    cursor: usize,
    /// Whether the cursor has followed the selection since the list is shown.
    followed: bool,
    /// Blocks that were put in their places by hand.
    accepted: Vec<Accepted>,
    /// The block that is tried in a place that it may belong to.
    candidate: Option<candidate::CandidateState>,
}

fn key(app: &App) -> PlanKey {
    (app.generation, app.panes.repair.likely)
}

/// What is done with what is selected.
fn preview(app: &App) -> Option<&Arc<Preview>> {
    let wanted = (key(app), app.selection.node, shows_whole(app));
    app.panes.repair.preview.as_ref().filter(|(key, _)| *key == wanted).map(|(_, preview)| preview)
}

/// Whether the whole save is shown, and not one file.
fn shows_whole(app: &App) -> bool {
    let has_file = app.selected_item().is_some();
    // In a directory of several saves, a line below the first one selects a file of its save.
    let is_several = app.index.as_ref().is_some_and(|index| index.has_several_saves());
    let begins_whole = app.selects_directory() && (!is_several || app.selected_kind() == Some(NodeKind::Save));
    !has_file || begins_whole != (app.panes.repair.turned == Some(app.selection.node))
}

/// The save that the preview is of: in a directory of several saves, that of the file that is shown.
fn path_of_save(app: &App) -> PathBuf {
    let root = app.findings.advice.root().path();
    let Some(index) = app.index.as_ref().filter(|index| index.has_several_saves() && !shows_whole(app)) else {
        return root.to_owned();
    };
    let file = app.selected_item().and_then(|item| index.file(item));
    let dir = match (file, app.selected_item().and_then(|item| index.paths.get(item))) {
        (Some(File::Region(forest, _)), _) => Some(forest.dir.as_path()),
        (Some(File::Pak(dir, _)), _) => Some(dir.dir.as_path()),
        (Some(File::Map(map)), _) => Some(map.dir.as_path()),
        (Some(File::Stream(stream)), _) => Some(stream.path.as_path()),
        (None, path) => path.and_then(|path| path.parent()),
    };
    // The path as it was given, with the names below it.
    let below = dir.and_then(|dir| dir.strip_prefix(&index.save.path).ok()).filter(|below| *below != Path::new(""));
    below.map_or_else(|| root.to_owned(), |below| root.join(below))
}

/// What the preview is of, in the row on top.
fn heading(app: &App) -> String {
    let Some(index) = &app.index else { return String::new() };
    if !shows_whole(app) {
        return app.selected_item().map_or_else(String::new, |item| index.shown(item));
    }
    if index.has_several_saves() { "all saves of the directory".to_owned() } else { "the whole save".to_owned() }
}

/// The plan, when it is there.
#[must_use]
pub fn plan(app: &App) -> Option<&Arc<Plan>> {
    app.panes.repair.plan.get(&key(app)).map(|planned| &planned.plan)
}

/// Whether there is a plan to look at.
#[must_use]
pub fn has_plan(app: &App) -> bool {
    plan(app).is_some()
}

/// Whether blocks that are only likely are written too.
#[must_use]
pub const fn is_likely(app: &App) -> bool {
    app.panes.repair.likely
}

/// What the plan does with each block, for the picture of the world.
#[must_use]
pub fn marks(app: &App) -> Marks {
    plan(app).map(|plan| Marks::of_plan(plan)).unwrap_or_default()
}

/// Whether the plan is being made.
#[must_use]
pub fn is_planning(app: &App) -> bool {
    matches!(app.panes.repair.plan.state(&key(app)), LoadState::Loading)
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    let lines = preview(app).map_or(0, |preview| preview.lines.len());
    let page = usize::from(Areas::new(app, app.pane_inside().width, app.pane_inside().height).rows).max(1);
    let at = app.panes.repair.cursor.min(lines.saturating_sub(1));
    if let Some(to) = action.over_lines(at, lines.saturating_sub(1), page) {
        app.panes.repair.cursor = to;
        link::select_line(app);
        return true;
    }
    app.panes.repair.cursor = match action {
        Action::Enter if matches!(app.panes.repair.plan.state(&key(app)), LoadState::Failed(_)) => {
            app.panes.repair.plan.clear();
            0
        }
        Action::Enter => {
            if !candidate::open(app, at) {
                let line = preview(app).and_then(|preview| preview.lines.get(at));
                let words = match line.map(|line| (line.subject, line.region)) {
                    None | Some((Subject::Words, _)) => "This line is about no block.",
                    Some((Subject::Missing, _)) => "There is no block to look at: the copy has none here.",
                    Some((Subject::Lost, Some(_))) => "No place is known for the block of this line.",
                    Some(_) => "Only blocks of region files are tried in the world.",
                };
                app.show_message(words.into());
            }
            at
        }
        Action::Accept => {
            let words = candidate::explain_accept(app, at);
            app.show_message(words.into());
            at
        }
        Action::Certainty => {
            app.panes.repair.likely = !app.panes.repair.likely;
            0
        }
        Action::WholeSave => {
            turn(app, at);
            0
        }
        _ => return false,
    };
    true
}

/// Goes from the whole save to the file of a line, or to the selected one, and back.
fn turn(app: &mut App, at: usize) {
    let Some(index) = app.index.clone() else { return };
    let node = app.selection.node;
    if !shows_whole(app) {
        if let Some(item) = app.selected_item().filter(|_| node != WHOLE) {
            // Select the line of the tree that has this list; the file and the block in it stay selected.
            (app.selection.node, app.selection.item) = (WHOLE, Some(item));
            app.panes.tree.show(&index, WHOLE);
            app.panes.repair.turned = None;
            return;
        }
    } else if let Some(line) = preview(app).and_then(|preview| preview.lines.get(at))
        && let Some(item) = line.file.as_ref().and_then(|name| index.by_name(name))
        && app.selected_item() != Some(item)
    {
        app.select_item(item);
    }
    let node = app.selection.node;
    app.panes.repair.turned = if app.panes.repair.turned == Some(node) { None } else { Some(node) };
}

/// Does a click.
pub fn click(app: &mut App, click: Click, _x: u16, y: u16) {
    if let Click::Wheel(up) = click {
        for _ in 0..WHEEL {
            act(app, if up { Action::Up } else { Action::Down });
        }
        return;
    }
    let area = app.pane_inside();
    let parts = Areas::new(app, area.width, area.height);
    let Some(preview) = preview(app) else { return };
    let first = parts.first(app.panes.repair.cursor, preview.lines.len());
    if let Some(row) = y.checked_sub(parts.list).filter(|row| *row < parts.rows) {
        app.panes.repair.cursor = (first + usize::from(row)).min(preview.lines.len().saturating_sub(1));
        link::select_line(app);
    }
}

/// Whether a block is looked at in a place that it may belong to.
#[must_use]
pub fn has_candidate(app: &App) -> bool {
    app.in_world() && candidate::is_open(app)
}

/// Whether a block is looked at that can be put in a place by hand.
#[must_use]
pub fn can_accept(app: &App) -> bool {
    app.in_world() && candidate::can_accept(app)
}

/// Whether the preview can change between a file and the whole save.
#[must_use]
pub fn can_turn(app: &App) -> bool {
    app.in_repair() && app.selected_item().is_some()
}

/// The word of the key that leads to the whole save and back.
#[must_use]
pub fn turn_hint(app: &App) -> &'static str {
    if shows_whole(app) { "one file" } else { "whole save" }
}

/// Whether the line under the cursor can be looked at.
#[must_use]
pub fn can_look(app: &App) -> bool {
    let line = preview(app).and_then(|preview| preview.lines.get(app.panes.repair.cursor));
    app.in_repair() && line.is_some_and(|line| !line.pieces.is_empty() && !line.candidates.is_empty())
}

/// Asks for the plan, if it is not there or on its way.
pub fn request_plan(app: &mut App) {
    let Some(index) = app.index.clone() else { return };
    let (wanted, effort) = (key(app), app.settings.effort);
    if app.panes.repair.plan.request(&wanted) {
        app.panes.repair.progress = None;
        app.job(
            JobKind::Plan,
            move |worker| {
                let progress = wait::report_progress(worker);
                let watch = worker.watch().progress(&progress);
                let (save, solutions) = (&index.checked, &index.solutions);
                let options =
                    repair::Options::default().likely(wanted.1).effort(effort).watch(watch).solutions(solutions);
                let planned = run_in_own_pool(|| {
                    let plan = repair::plan(save, &options).map_err(|error| error.to_string())?;
                    let totals = repair::totals(save, &plan);
                    let losses = repair::loss_words(&totals);
                    let written = repair::expected_copy(save, &totals);
                    let advice = repair::advice_on_copy(&totals, written, false);
                    let advice = (!plan.changes_nothing()).then_some(advice);
                    Ok(Planned { plan: Arc::new(plan), losses, advice, totals })
                });
                worker.answer(move |app| app.panes.repair.plan.store(wanted, planned));
            },
            |app, why| app.panes.repair.plan.fail(why),
        );
    }
}

/// Requests what the pane needs and does not have.
pub fn request_missing(app: &mut App) {
    request_plan(app);
    let Some(index) = app.index.clone() else { return };
    let wanted = key(app);
    let whole = shows_whole(app);
    let key = (wanted, app.selection.node, whole);
    if app.panes.repair.preview.as_ref().is_some_and(|(there, _)| *there == key) {
        return;
    }
    let Some(plan) = app.panes.repair.plan.get(&wanted).map(|planned| Arc::clone(&planned.plan)) else { return };
    let preview = match app.selected_item().filter(|_| !whole) {
        None => Preview::for_save(&plan),
        Some(item) => {
            let Some(opened) = app.opened_item() else { return };
            let path = index.paths.get(item).cloned().unwrap_or_default();
            let map = match index.items.get(item) {
                Some(Item::Layer(map, _)) => index.save.maps.get(*map).map(|map| map.dir.clone()),
                _ => None,
            };
            Preview::for_file(&index.checked, &plan, &path, map.as_deref(), opened.len(Part::Data))
        }
    };
    app.panes.repair.followed = false;
    app.panes.repair.cursor = link::line_of_selection(app, &preview).unwrap_or(0);
    let longest = preview.lines.iter().map(|line| line.name.width()).max().unwrap_or(0);
    app.panes.repair.names = u16::try_from(longest).unwrap_or(NAME).min(NAME);
    app.panes.repair.preview = Some((key, Arc::new(preview)));
}

/// Columns that the level takes, at the right of the summary.
const LEVEL: u16 = 17;

/// Rows that a long summary leaves to the list.
const LIST_ROWS: u16 = 4;

/// Columns of the summary; without a heading above it, the level is beside it.
const fn words_room(width: u16, heading: u16) -> u16 {
    width.saturating_sub(if heading > 0 { 2 } else { LEVEL + 2 })
}

/// The areas of the pane.
struct Areas {
    /// The first row of the summary.
    words: u16,
    /// Rows of the heading and of the summary.
    top: u16,
    /// Rows of sectors, of each of the two pictures.
    sectors: u16,
    /// Whether the two maps are side by side.
    beside: bool,
    /// The line of the legend.
    legend: Option<u16>,
    /// The first line of the list.
    list: u16,
    /// Lines of the list.
    rows: u16,
    /// The line of the command.
    command: u16,
}

impl Areas {
    fn new(app: &App, width: u16, height: u16) -> Self {
        let has_sectors = preview(app).is_some_and(|preview| preview.before.1 + preview.after.1 > 0);
        let beside = width >= SIDE_BY_SIDE;
        let wrapped = wrap(&command(app), usize::from(width.saturating_sub(4))).len();
        let lines = if height >= 12 { u16::try_from(wrapped).unwrap_or(1).clamp(1, (height / 5).max(3)) } else { 1 };
        let command = height.saturating_sub(lines);
        let words = preview(app).map(|preview| words::summary(app, preview)).unwrap_or_default();
        let heading = u16::from(height >= 8);
        let wrapped = wrap(&words, usize::from(words_room(width, heading))).len();
        // The summary warns of a copy that lacks most blocks: it is cut only to leave a few rows to the list.
        let most = command.saturating_sub(heading + LIST_ROWS).max(1);
        let top = if height >= 12 { u16::try_from(wrapped).unwrap_or(1).clamp(1, most) } else { 1 };
        let top = top + heading;
        // The summary, the command, and the list have what they need; the pictures have what is left.
        let room = command.saturating_sub(top);
        let list = preview(app).map_or(1, |preview| u16::try_from(preview.lines.len()).unwrap_or(u16::MAX));
        let titles = if beside { 1 } else { 2 };
        let most = if beside { room / 2 } else { room / 4 };
        let sectors = if has_sectors && height >= 10 {
            let needed = room.saturating_sub(list.clamp(3, 12) + titles + 1) / if beside { 1 } else { 2 };
            let half = if beside { width / 2 } else { width };
            let longest = preview(app).map_or(0, |preview| preview.before.1.max(preview.after.1));
            let all = u16::try_from(longest.div_ceil(strip::columns(half))).unwrap_or(u16::MAX);
            needed.clamp(1, most.max(1)).min(all.max(1))
        } else {
            0
        };
        let pictures = if sectors == 0 { 0 } else { titles + if beside { sectors } else { 2 * sectors } };
        let legend = (sectors > 0).then_some(top + pictures);
        let list = top + pictures + u16::from(legend.is_some());
        Self { words: heading, top, sectors, beside, legend, list, rows: command.saturating_sub(list), command }
    }

    fn first(&self, cursor: usize, lines: usize) -> usize {
        follow(0, cursor, usize::from(self.rows), lines)
    }
}

/// The command that does what is shown.
#[must_use]
pub fn command(app: &App) -> String {
    let level = if app.panes.repair.likely { "likely" } else { "certain" };
    let (advice, effort) = (&app.findings.advice, app.settings.effort.argument());
    let accepted = app.panes.repair.accepted.iter().map(|one| {
        let one = Accepted { file: advice.below_root(&one.file), ..one.clone() };
        format!(" --accept {}", shell_word(one.to_string()))
    });
    let path = path_of_save(app);
    let command = format!(
        "voxscope repair {} --out {} --level {level}{effort}{}",
        argument(&path),
        crate::check::repaired_path(&path),
        accepted.collect::<String>()
    );
    advice.root().with_options(command)
}

/// The command, to be copied.
#[must_use]
pub fn copy(app: &App) -> Option<String> {
    preview(app).filter(|_| repairs_something(app)).map(|_| command(app))
}

/// Whether a repair would do more than copy the save.
fn repairs_something(app: &App) -> bool {
    !app.panes.repair.accepted.is_empty() || plan(app).is_some_and(|plan| !plan.changes_nothing())
}

/// Draws the pane.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let state = &app.panes.repair;
    let Some(preview) = preview(app) else {
        let (words, role) = match state.plan.state(&key(app)) {
            LoadState::Failed(why) => (format!("{why}. Enter tries again."), Role::Error),
            LoadState::Ready(_) => ("Reading the file.".to_owned(), Role::Dim),
            _ => return wait::draw(state.progress, canvas),
        };
        canvas.part(1, 1, canvas.width().saturating_sub(2), canvas.height()).wrap(0, 0, &words, role);
        return;
    };
    let width = canvas.width();
    let level = if state.likely { "likely" } else { "certain" };
    let level_width = u16::try_from(level.len()).unwrap_or(8) + 10;
    let parts = Areas::new(app, width, canvas.height());
    let room = width.saturating_sub(LEVEL + 2);
    if parts.words > 0 {
        canvas.put_within(1, 0, room, &heading(app), Role::Dim);
    }
    let mut words = canvas.part(1, parts.words, words_room(width, parts.words), parts.top - parts.words);
    words.wrap(0, 0, &words::summary(app, preview), Role::Strong);
    canvas.line(width.saturating_sub(level_width), 0, &[(Role::Dim, "level "), (Role::Key, level), (Role::Dim, "  t")]);
    let at = state.cursor.min(preview.lines.len().saturating_sub(1));
    if parts.sectors > 0 {
        let half = if parts.beside { width / 2 } else { width };
        let after = if parts.beside { (half, parts.top) } else { (0, parts.top + 1 + parts.sectors) };
        for ((x, y), title, map) in [((0, parts.top), "Before", &preview.before), (after, "After", &preview.after)] {
            let mut part = canvas.part(x, y, half, parts.sectors + 1);
            strip::draw(app, title, map, preview.lines.get(at).map(|_| at), &mut part);
        }
    }
    if let Some(y) = parts.legend {
        strip::legend(app, y, canvas);
    }
    list(app, preview, &parts, at, canvas);
    if !repairs_something(app) {
        return;
    }
    let command = command(app);
    let x = canvas.put(1, parts.command, "$ ", Role::Dim);
    let room = width.saturating_sub(x + 1);
    let rows = wrap(&command, usize::from(room));
    let seen = usize::from(canvas.height().saturating_sub(parts.command));
    for (y, row) in (parts.command..).zip(rows.iter().take(seen)) {
        canvas.put_within(x, y, room, row, Role::Key);
    }
    if rows.len() > seen {
        // The copy is not cut.
        let words = format!("{} Y copies it", app.glyphs.more);
        canvas.put_right(width.saturating_sub(1), canvas.height().saturating_sub(1), &words, Role::Strong);
    }
}

/// The mark of a line, as the picture of the repair has it.
const fn mark(subject: Subject) -> (&'static str, Role) {
    match subject {
        Subject::Missing => ("x", Role::Error),
        Subject::Lost => ("?", Role::Unowned),
        Subject::Likely => ("~", Role::Warning),
        Subject::PutRight => ("=", Role::Good),
        Subject::InPart => ("%", Role::Warning),
        Subject::Words => (" ", Role::Text),
    }
}

fn list(app: &App, preview: &Preview, parts: &Areas, at: usize, canvas: &mut Canvas<'_>) {
    if preview.lines.is_empty() {
        let words = if preview.unchanged { "Nothing is changed here." } else { "Every block is in the copy." };
        canvas.put(1, parts.list, words, Role::Good);
        return;
    }
    let rows = usize::from(parts.rows);
    let first = parts.first(at, preview.lines.len());
    let width = canvas.width();
    let names = app.panes.repair.names;
    for (y, (number, line)) in (parts.list..).zip(preview.lines.iter().enumerate().skip(first).take(rows)) {
        let (mark, role) = mark(line.subject);
        canvas.put(1, y, mark, role);
        let x = if line.name.is_empty() {
            1
        } else {
            canvas.put_within(3, y, names, &line.name, Role::Text);
            4 + names
        };
        let room = width.saturating_sub(x + 1);
        let mut words = says(app, line, &line.text);
        if words.width() > usize::from(room) && !line.short.is_empty() {
            words = says(app, line, &line.short);
        }
        canvas.put_within(x, y, room, &words, Role::Dim);
        if number == at {
            canvas.cursor_row(y, app.focus == Focus::Pane);
        }
    }
    canvas.part(0, parts.list, width, parts.rows).scrollbar(first, rows, preview.lines.len());
}

/// What is under the cursor, in full, for the inspector: a title, and lines with their labels.
#[must_use]
pub fn under_cursor(app: &App) -> Option<(String, Vec<(&'static str, String)>)> {
    if !app.in_repair() {
        return None;
    }
    let preview = preview(app)?;
    let line = preview.lines.get(app.panes.repair.cursor.min(preview.lines.len().saturating_sub(1)))?;
    let mut out = vec![("", says(app, line, &line.text))];
    let bytes: Vec<String> = line.pieces.iter().map(ToString::to_string).collect();
    if !bytes.is_empty() {
        out.push(("bytes", bytes.join(", ")));
    }
    if line.subject == Subject::Lost {
        for (at, p) in line.candidates.iter().take(4) {
            out.push(("may be", format!("{}, {}", triple(*at), how_likely(*p))));
        }
    }
    // The name of a field is written as the file has it.
    let title = match line.name.as_str() {
        "" => "Repair".to_owned(),
        name if name.contains('_') => name.to_owned(),
        name => capitalize(name),
    };
    Some((title, out))
}

/// Where the block of a line was put by hand.
fn accepted_place(app: &App, line: &PreviewLine) -> Option<[i32; 3]> {
    let (lod, file, start) = line.place.as_ref()?;
    let is_of_line = |a: &&Accepted| (a.lod, &a.file, a.start) == (*lod, file, *start);
    app.panes.repair.accepted.iter().find(is_of_line).map(|accepted| accepted.position)
}

/// The text of a line, or what is said in place of it, with its kind in a word: a mark alone does not suffice.
fn says(app: &App, line: &PreviewLine, text: &str) -> String {
    if let Some(position) = accepted_place(app, line).filter(|_| line.subject == Subject::Lost) {
        return format!("accepted: goes to {}", triple(position));
    }
    let kind = match line.subject {
        Subject::Missing => "missing: ",
        Subject::Lost => "lost+found: ",
        Subject::Likely => "likely: ",
        Subject::InPart => "in part: ",
        Subject::PutRight | Subject::Words => "",
    };
    format!("{kind}{text}")
}
