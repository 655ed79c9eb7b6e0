//! The whole screen, drawn from the state. Drawing changes nothing and reads nothing.

use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use super::action::{Action, hints};
use super::canvas::Canvas;
use super::keys::short;
use super::pane::Pane;
use super::panes::world;
use super::shorten::shorten_place;
use super::theme::{Role, level_role};
use super::verdict::Conclusion;
use super::wrap::wrap;
use super::{App, Focus};
use super::{inspector, overlay, panes, verdict};
use crate::damage::Level;
use crate::printable::grouped;

/// Draws everything.
pub fn draw(app: &App, buffer: &mut Buffer) {
    let layout = app.layout();
    let theme = app.settings.theme;
    let glyphs = app.glyphs;
    let mut on = |area: Rect, draw: &dyn Fn(&App, &mut Canvas<'_>)| {
        if area.area() > 0 {
            draw(app, &mut Canvas::new(buffer, area, theme, glyphs));
        }
    };
    on(layout.path, &path_line);
    on(layout.tree, &|app, canvas| panes::tree::draw(app, canvas, layout.folded));
    on(layout.pane, &pane);
    on(layout.inspector, &inspector::draw);
    on(layout.verdict, &verdict::draw);
    on(layout.hints, &bottom);
    if let Some(message) = long_message(app, layout.hints) {
        // The message takes the rows above the keys.
        let rows = u16::try_from(message.len()).unwrap_or(u16::MAX).min(layout.hints.y);
        let area = Rect { y: layout.hints.y - rows, height: rows, ..layout.hints };
        on(area, &|_, canvas| {
            canvas.clear();
            for (y, row) in (0..rows).zip(&message) {
                canvas.put(1, y, row, Role::Strong);
            }
        });
    }
    if app.popup.is_some() {
        let all = Rect::new(0, 0, app.size.columns, app.size.rows);
        on(all, &overlay::draw);
    }
}

/// The line on top: the path of the selection and the result of the check.
fn path_line(app: &App, canvas: &mut Canvas<'_>) {
    let width = canvas.width();
    let state = check_words(app);
    let room = state.iter().map(|(_, text)| text.width()).sum::<usize>();
    let room = u16::try_from(room).unwrap_or(u16::MAX);
    let left = width.saturating_sub(room + 2);
    let names = place(app);
    let mut x = canvas.put(0, 0, " ", Role::Text);
    // The place says more than the program's name.
    if left >= 30 {
        x = canvas.put(x, 0, "voxscope  ", Role::Dim);
    }
    let free = left.saturating_sub(x);
    canvas.put_within(
        x,
        0,
        free,
        &shorten_place(&names, usize::from(free), app.glyphs.into, app.glyphs.more),
        Role::Strong,
    );
    if width > room {
        let pieces: Vec<(Role, &str)> = state.iter().map(|(role, text)| (*role, text.as_str())).collect();
        canvas.line(width - room - 1, 0, &pieces);
    }
}

/// The names from the save down to what is selected.
fn place(app: &App) -> Vec<String> {
    let Some(index) = &app.index else {
        let path = &app.settings.path;
        let name = path.file_name().map(Path::new).filter(|_| !app.settings.notes.is_empty());
        return vec![crate::printable::path(name.unwrap_or(path))];
    };
    let mut names = Vec::new();
    // The panes show a file even if a directory is selected in the tree.
    let in_tree = app.focus == Focus::Tree && app.selects_directory();
    let shown = app.selected_item().filter(|_| !in_tree).and_then(|item| index.node_of(item));
    let mut node = Some(shown.unwrap_or(app.selection.node));
    while let Some(at) = node.and_then(|id| index.nodes.get(id)) {
        names.push(at.label.to_string());
        node = at.parent;
    }
    names.reverse();
    if let Some(slot) = app.selected_slot().filter(|_| !in_tree) {
        names.push(slot.position.map_or_else(|| format!("block {}", slot.slot), crate::printable::triple));
    }
    names
}

/// Columns from which on there is room for a bar of progress.
const BAR: u16 = 100;

fn check_words(app: &App) -> Vec<(Role, String)> {
    if app.index.is_none() {
        let words = if app.failure.is_some() { "" } else { "opening " };
        return vec![(Role::Dim, words.into())];
    }
    if app.outdated.is_some() {
        let mark = app.glyphs.level(Some(Level::Error));
        return vec![(Role::Error, format!("{mark} cannot be read any more "))];
    }
    if let Some(words) = words_on_shown_save(app) {
        return words;
    }
    let findings = &app.findings;
    let counts = &findings.counts;
    let mut out = Vec::new();
    let wide = app.size.columns >= 60;
    for (level, n) in [(Level::Error, counts.errors), (Level::Warning, counts.warnings), (Level::Note, counts.notes)] {
        if n > 0 && (wide || level != Level::Note) {
            let name = if !wide {
                String::new()
            } else if n == 1 {
                format!(" {}", level.name())
            } else {
                format!(" {}s", level.name())
            };
            let mark = app.glyphs.level(Some(level));
            out.push((level_role(Some(level)), format!("{mark} {}{name}  ", grouped(n))));
        }
    }
    if app.comparison.running {
        out.push((Role::Text, format!("comparing {:.0} %  ", (app.comparison.share() * 100.0).floor())));
    }
    if findings.running {
        let share = findings.share();
        out.push((Role::Text, format!("checking {:.0} % ", (share * 100.0).floor())));
        if app.size.columns >= BAR {
            let eighths = (share * 64.0).floor();
            let full = (0..8).map(|cell| (eighths - f64::from(cell) * 8.0).clamp(0.0, 8.0));
            let bar: String = full.map(|n| horizontal(app.glyphs.ascii, n)).collect();
            out.push((
                Role::Good,
                format!(
                    "{}{bar}{} ",
                    if app.glyphs.ascii { "[" } else { "▕" },
                    if app.glyphs.ascii { "]" } else { "▏" }
                ),
            ));
        }
    } else if findings.stopped {
        out.push((Role::Warning, "check stopped ".into()));
    } else if findings.summary.is_some() {
        out.push(match verdict::conclusion(app) {
            Conclusion::Healthy => (Role::Good, "nothing wrong ".into()),
            Conclusion::Empty => (Role::Warning, "nothing to check ".into()),
            Conclusion::NoDamage => (Role::Warning, "no errors or warnings ".into()),
            Conclusion::Damaged => (Role::Dim, "checked ".into()),
        });
    }
    out
}

/// Of several saves, what the check found in the one that the World pane shows, and the worst that it found in all of them.
fn words_on_shown_save(app: &App) -> Option<Vec<(Role, String)>> {
    let findings = &app.findings;
    let is_checked = findings.summary.is_some() && !findings.running && !findings.stopped && !app.comparison.running;
    if app.pane != Pane::World || app.size.columns < 60 || !is_checked {
        return None;
    }
    let tally = findings.tally(world::node_of_shown(app)?);
    let counted = [(Level::Error, tally.errors), (Level::Warning, tally.warnings)];
    let mut out: Vec<(Role, String)> = Vec::new();
    for (level, n) in counted.into_iter().filter(|(_, n)| *n > 0) {
        let mark = app.glyphs.level(Some(level));
        out.push((level_role(Some(level)), format!("{mark} {}  ", crate::printable::count(n.into(), level.name()))));
    }
    if out.is_empty() {
        out.push((Role::Good, "nothing wrong here  ".into()));
    }
    let counts = &findings.counts;
    for (level, n) in [(Level::Error, counts.errors), (Level::Warning, counts.warnings)] {
        if n > 0 {
            let mark = app.glyphs.level(Some(level));
            out.push((Role::Dim, format!("in all {mark} {} ", grouped(n))));
            return Some(out);
        }
    }
    out.push((Role::Dim, "checked ".into()));
    Some(out)
}

/// A cell that is filled from the left, in eighths.
fn horizontal(ascii: bool, eighths: f64) -> &'static str {
    const CELLS: [&str; 9] = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];
    if ascii {
        return if eighths >= 4.0 { "#" } else { "." };
    }
    let at = (0u8..9).rev().find(|n| f64::from(*n) <= eighths).unwrap_or(0);
    CELLS.get(usize::from(at)).copied().unwrap_or(" ")
}

/// The panes whose names are shortened where not all have room, the first ones first.
const SHORTENED: [Pane; 4] = [Pane::Findings, Pane::Channels, Pane::Sectors, Pane::Repair];

/// The tabs, each with the columns that it takes, in a frame that begins at 0.
fn tabs(app: &App, width: u16) -> Vec<(Pane, u16, String)> {
    let all: Vec<Pane> = Pane::ALL.into_iter().filter(|pane| app.has_pane(*pane)).collect();
    let room = usize::from(width).saturating_sub(2);
    let long = |pane: &Pane| format!(" {} {}", pane.number(), pane.title());
    let mut texts: Vec<String> = all.iter().map(long).collect();
    let taken = |texts: &[String]| texts.iter().map(|text| text.width()).sum::<usize>();
    let short = |pane: Pane| format!(" {} {}", pane.number(), pane.short_title());
    let set = |texts: &mut Vec<String>, pane: Pane, text: String| {
        if let Some(to) = all.iter().position(|other| *other == pane).and_then(|at| texts.get_mut(at)) {
            *to = text;
        }
    };
    // Shorter names first, that of the pane which is shown only where all have one then; otherwise numbers, the last first.
    for pane in SHORTENED.into_iter().filter(|pane| *pane != app.pane) {
        if taken(&texts) > room {
            set(&mut texts, pane, short(pane));
        }
    }
    let saved = long(&app.pane).width().saturating_sub(short(app.pane).width());
    if taken(&texts) > room && taken(&texts).saturating_sub(saved) <= room {
        set(&mut texts, app.pane, short(app.pane));
    }
    for pane in all.iter().rev().filter(|pane| **pane != app.pane) {
        if taken(&texts) > room {
            set(&mut texts, *pane, format!(" {}", pane.number()));
        }
    }
    let mut x = 1u16;
    let mut out = Vec::new();
    for (pane, text) in all.into_iter().zip(texts) {
        let len = u16::try_from(text.width()).unwrap_or(0);
        out.push((pane, x, text));
        x = x.saturating_add(len);
    }
    out
}

/// The pane whose tab is at a column of the screen.
#[must_use]
pub fn tab_at(app: &App, area: Rect, x: u16) -> Option<Pane> {
    let x = x.checked_sub(area.x)?;
    let tabs = tabs(app, area.width);
    let found = tabs.into_iter().find(|(_, from, text)| {
        let width = u16::try_from(text.width()).unwrap_or(0);
        (*from..from.saturating_add(width)).contains(&x)
    });
    found.map(|(pane, ..)| pane)
}

/// The frame with the tabs, and the pane in it.
fn pane(app: &App, canvas: &mut Canvas<'_>) {
    let focused = app.focus == Focus::Pane;
    let tabs = tabs(app, canvas.width());
    let mut title: Vec<(Role, &str)> = Vec::new();
    for (pane, _, text) in &tabs {
        title.push((if *pane == app.pane { Role::Cursor } else { Role::Dim }, text));
    }
    let mut inside = canvas.frame(&title, focused);
    if inside.is_empty() {
        return;
    }
    if let Some(why) = &app.failure {
        let y = inside.wrap(1, 1, why, Role::Error);
        inside.wrap(1, y + 1, "R tries again, q leaves.", Role::Dim);
    } else if app.index.is_none() {
        inside.wrap(1, 1, "Opening the save.", Role::Dim);
    } else {
        panes::draw(app, &mut inside);
    }
}

/// Columns that a message may take beside help and the way out.
fn message_room(width: u16, last: usize) -> usize {
    let most = usize::from(width.saturating_sub(2));
    if most > 2 * last { most - last - 2 } else { most }
}

/// The rows of a message that does not fit beside the keys.
fn long_message(app: &App, area: Rect) -> Option<Vec<String>> {
    let message = app.message.as_ref().filter(|_| app.prompt.is_none() && area.area() > 0)?;
    let room = message_room(area.width, last_width(&keys(app)));
    (message.width() > room).then(|| wrap(message, usize::from(area.width.saturating_sub(2))))
}

/// The keys at the bottom, each with what it does.
fn keys(app: &App) -> Vec<(String, String)> {
    let moves = if app.glyphs.ascii { "arrows" } else { "←↑↓→" };
    let moved = if app.popup.is_some() { "scroll" } else { "move" };
    let mut pieces = vec![(moves.to_owned(), moved.to_owned())];
    for spec in hints(app) {
        let Some(key) = app.settings.keymap.keys(spec.action).first() else { continue };
        let hint = match spec.action {
            Action::NextFocus if app.focus == Focus::Tree => "pane",
            Action::Right if app.focus == Focus::Tree => "open",
            Action::Left if app.focus == Focus::Tree => "close",
            Action::Close if app.focus == Focus::Tree && app.popup.is_none() => "pane",
            Action::Filter if app.popup.is_some() => "search",
            Action::Filter if app.in_hex() && app.focus == Focus::Pane => "find bytes",
            Action::Close if app.popup.is_none() => "back",
            Action::NextChange if panes::repair::has_candidate(app) => "next place",
            Action::WholeSave => panes::repair::turn_hint(app),
            _ => spec.hint,
        };
        pieces.push((short(*key, app.glyphs.ascii), hint.to_owned()));
    }
    pieces
}

/// Columns of help and the way out, the last keys.
fn last_width(pieces: &[(String, String)]) -> usize {
    pieces.get(pieces.len().saturating_sub(2)..).map_or(0, pieces_width)
}

/// Columns of keys with what they do.
fn pieces_width(pieces: &[(String, String)]) -> usize {
    pieces.iter().map(|(key, hint)| key.width() + hint.width() + 3).sum()
}

/// The line at the bottom: what is typed, what was said, or what can be done.
fn bottom(app: &App, canvas: &mut Canvas<'_>) {
    if let Some(prompt) = &app.prompt {
        let x = canvas.line(1, 0, &[(Role::Key, prompt.purpose.label()), (Role::Dim, ": ")]);
        let (text, cursor) = (prompt.text(), prompt.cursor());
        let before: String = text.chars().take(cursor).collect();
        let at: String = text.chars().skip(cursor).take(1).collect();
        let after: String = text.chars().skip(cursor + 1).collect();
        // What is before the cursor is cut from the left, so that the cursor is always seen.
        let room = usize::from(canvas.width().saturating_sub(x + 2));
        let skip = before.chars().count().saturating_sub(room);
        let before: String = before.chars().skip(skip).collect();
        let cursor = if at.is_empty() { " " } else { &at };
        let x = canvas.line(x, 0, &[(Role::Text, &before), (Role::Cursor, cursor), (Role::Text, &after)]);
        let rest = prompt.error.as_deref().map_or((Role::Dim, prompt.purpose.example()), |error| (Role::Error, error));
        let width = canvas.width().saturating_sub(x + 2);
        canvas.put_within(x + 2, 0, width, rest.1, rest.0);
        return;
    }
    let mut x = 1;
    let mut pieces = keys(app);
    let mut room = usize::from(canvas.width().saturating_sub(1));
    let most = message_room(canvas.width(), last_width(&pieces));
    if let Some(message) = app.message.as_ref().filter(|message| message.width() <= most) {
        // A message leaves the keys what room it does not need.
        let taken = message.width() + 2;
        canvas.put(x, 0, message, Role::Strong);
        (x, room) = (x.saturating_add(u16::try_from(taken).unwrap_or(u16::MAX)), room.saturating_sub(taken));
    }
    // The last ones, help and the way out, are always there: what is in the middle gives way.
    while pieces_width(&pieces) > room && pieces.len() > 3 {
        pieces.remove(pieces.len() - 4);
    }
    while pieces_width(&pieces) > room && !pieces.is_empty() {
        pieces.remove(0);
    }
    for (key, hint) in &pieces {
        x = canvas.line(x, 0, &[(Role::Key, key), (Role::Text, " "), (Role::Dim, hint), (Role::Text, "  ")]);
    }
}
