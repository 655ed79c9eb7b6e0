//! Draws the popups: help, the command palette, the explanation of a finding.

use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use super::App;
use super::action::{ACTIONS, Group};
use super::canvas::Canvas;
use super::keys::short;
use super::layout::Size;
use super::panes::findings::cause_words;
use super::panes::marks::SectorKind;
use super::popup::{Explained, Popup, commands};
use super::theme::{Role, level_role};
use super::wrap::wrap;
use crate::check::Cause;
use crate::damage::{Code, Level};
use crate::picture::Mark;

/// A line in pieces.
type Pieces = Vec<(Role, String)>;

/// Columns that a column of the help needs.
const HELP_COLUMN: usize = 56;

/// Columns of the keys in the help.
const KEYS: usize = 19;

/// Columns of a popup, at most; help may be wider.
const MAX_WIDTH: u16 = 112;

/// Columns beside a popup from which on what is there can still be read.
const BESIDE: u16 = 8;

/// A popup of lines that scroll.
struct Scrolled {
    title: &'static str,
    lines: Vec<Pieces>,
    columns: usize,
}

impl Scrolled {
    /// Rows of all lines, where so many are seen. Short lists use one column; long ones scroll all columns together.
    fn rows(&self, seen: usize) -> usize {
        self.lines.len().div_ceil(self.columns.max(1)).max(seen)
    }

    /// The lines of the popup that is open, in so many columns; `None` if it has none that scroll.
    fn measure(app: &App, width: u16) -> Option<Self> {
        match app.popup.as_ref()? {
            Popup::Help { search, .. } => Some(help(app, search, width)),
            Popup::Explain(Explained::Code(code), _) => Some(explain(app, *code, width)),
            Popup::Explain(Explained::Cause(cause), _) => Some(explain_cause(cause, width)),
            Popup::Commands(_) => None,
        }
    }

    /// Draws the lines from one on, in a frame, flowing through columns.
    fn draw(&self, line: u16, canvas: &mut Canvas<'_>) {
        let title = format!(" {} ", self.title);
        let mut inside = canvas.frame(&[(Role::Strong, &title)], true);
        let seen = usize::from(inside.height());
        let rows = self.rows(seen);
        let first = usize::from(line).min(rows.saturating_sub(seen));
        let width = inside.width() / u16::try_from(self.columns.max(1)).unwrap_or(1);
        for (column, lines) in self.lines.chunks(rows.max(1)).enumerate() {
            let x = u16::try_from(column).unwrap_or(0).saturating_mul(width);
            let mut part = inside.part(x, 0, width, u16::MAX);
            for (y, pieces) in (0u16..).zip(lines.iter().skip(first).take(seen)) {
                let pieces: Vec<(Role, &str)> = pieces.iter().map(|(role, text)| (*role, text.as_str())).collect();
                part.line(1, y, &pieces);
            }
        }
        inside.scrollbar(first, seen, rows);
    }
}

/// Where a popup is on the screen. An explanation leaves the verdict visible.
fn area(app: &App, popup: &Popup) -> Rect {
    let Size { columns: width, rows } = app.size;
    let verdict = if matches!(popup, Popup::Explain(..)) { app.layout().verdict.height } else { 0 };
    let height = rows.saturating_sub(verdict);
    let most = if matches!(popup, Popup::Help { .. }) { width } else { MAX_WIDTH };
    let w = width.saturating_sub(4).min(most);
    let h = height.saturating_sub(4).max(height.min(3));
    Rect::new((width - w) / 2, height.saturating_sub(h) / 2, w, h)
}

/// The first line of the popup that is open when its end is seen.
#[must_use]
pub fn last_line(app: &App) -> u16 {
    let Some(popup) = &app.popup else { return 0 };
    let area = area(app, popup);
    let seen = usize::from(area.height.saturating_sub(2));
    let last = Scrolled::measure(app, area.width).map_or(0, |scrolled| scrolled.rows(seen) - seen);
    u16::try_from(last).unwrap_or(u16::MAX)
}

/// Draws the popup that is open.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let Some(popup) = &app.popup else { return };
    let width = canvas.width();
    let Rect { x, y, width: w, height: h } = area(app, popup);
    // What little is left beside a popup would only be single letters.
    if x < BESIDE {
        canvas.part(0, y, width, h).clear();
    }
    let mut top = canvas.part(x, y, w, h);
    top.clear();
    match popup {
        Popup::Commands(chosen) => palette(app, *chosen, &mut top),
        Popup::Help { line, .. } | Popup::Explain(_, line) => {
            if let Some(scrolled) = Scrolled::measure(app, w) {
                scrolled.draw(*line, &mut top);
            }
        }
    }
}

/// All keys by group, then the marks; only lines that match a search.
fn help(app: &App, search: &str, width: u16) -> Scrolled {
    let inside = usize::from(width.saturating_sub(2));
    let columns = (inside / HELP_COLUMN).clamp(1, 3);
    let width = (inside / columns).saturating_sub(2);
    let search = search.trim().to_lowercase();
    let mut lines: Vec<Pieces> = Vec::new();
    let mut section = |heading: &str, entries: Vec<(Role, String, &str)>| {
        // The name of a section finds all of it.
        let fits = |key: &str, text: &str| format!("{heading}\n{key} {text}").to_lowercase().contains(&search);
        let found: Vec<_> = entries.into_iter().filter(|(_, key, text)| fits(key, text)).collect();
        if found.is_empty() {
            return;
        }
        if !lines.is_empty() {
            lines.push(Vec::new());
        }
        lines.push(vec![(Role::Strong, heading.to_owned())]);
        for (role, key, text) in found {
            let key = format!("  {key:<KEYS$}");
            let room = width.saturating_sub(key.width()).max(10);
            for (i, text) in wrap(text, room).into_iter().enumerate() {
                let before = if i == 0 { key.clone() } else { " ".repeat(key.width()) };
                lines.push(vec![(role, before), (Role::Text, text)]);
            }
        }
    };
    for (group, heading) in Group::ALL {
        let specs = ACTIONS.iter().filter(|spec| spec.group == group);
        let entries = specs.map(|spec| {
            let keys = app.settings.keymap.keys(spec.action);
            let keys: Vec<String> = keys.iter().map(|key| short(*key, app.glyphs.ascii)).collect();
            (Role::Key, keys.join(" "), spec.help)
        });
        section(heading, entries.collect());
    }
    section("Marks", marks(app));
    if lines.is_empty() {
        lines.push(vec![(Role::Dim, "Nothing matches; esc shows everything.".to_owned())]);
    }
    Scrolled { title: "Help  (/ searches, esc closes)", lines, columns }
}

/// What the marks on the screen mean.
fn marks(app: &App) -> Vec<(Role, String, &'static str)> {
    let glyphs = &app.glyphs;
    let levels = [
        (Some(Level::Error), "error: something cannot be read"),
        (Some(Level::Warning), "warning: against the format"),
        (Some(Level::Note), "note: worth knowing"),
        (None, "checked, and nothing is wrong"),
    ];
    let mut out: Vec<(Role, String, &'static str)> =
        levels.into_iter().map(|(level, text)| (level_role(level), glyphs.level(level).to_owned(), text)).collect();
    for kind in SectorKind::ALL {
        let (glyph, role, words) = kind.appearance(glyphs);
        out.push((role, format!("sectors  {glyph}"), words));
    }
    for mark in [
        Mark::Torn,
        Mark::Misplaced,
        Mark::Doubtful,
        Mark::Absent,
        Mark::NoFile,
        Mark::Unreadable,
        Mark::Unowned,
        Mark::Warning,
    ] {
        out.push((Role::Warning, format!("world    {}", mark.letter()), mark.words()));
    }
    for (role, mark, words) in [
        (Role::Good, "=", "put right: put in place, or rewritten"),
        (Role::Warning, "~", "in a likely place"),
        (Role::Error, "x", "missing from the copy"),
        (Role::Unowned, "?", "goes to lost+found (in the pane)"),
    ] {
        out.push((role, format!("repair   {mark}"), words));
    }
    for (role, mark, words) in [
        (Role::Good, "+", "only in the second save"),
        (Role::Error, "-", "only in the first save"),
        (Role::Warning, "~", "changed"),
        (Role::Key, ">", "moved"),
        (Role::Unowned, "?", "unreadable in one of the saves"),
    ] {
        out.push((role, format!("diff     {mark}"), words));
    }
    out
}

fn palette(app: &App, chosen: usize, canvas: &mut Canvas<'_>) {
    let typed = app.prompt.as_ref().map_or("", |prompt| prompt.text());
    let found = commands(app, typed);
    let mut inside = canvas.frame(&[(Role::Strong, " Commands  (type a part of the name) ")], true);
    let chosen = chosen.min(found.len().saturating_sub(1));
    let seen = usize::from(inside.height());
    let first = super::scroll::follow(0, chosen, seen, found.len());
    for (i, spec) in found.iter().enumerate().skip(first).take(seen) {
        let y = u16::try_from(i - first).unwrap_or(u16::MAX);
        let key = app.settings.keymap.keys(spec.action).first().map(|key| short(*key, app.glyphs.ascii));
        inside.put(1, y, &key.unwrap_or_default(), Role::Key);
        inside.put(13, y, spec.name, Role::Strong);
        let width = inside.width().saturating_sub(33);
        inside.put_within(32, y, width, spec.help, Role::Text);
        if i == chosen {
            inside.cursor_row(y, true);
        }
    }
    if found.is_empty() {
        inside.put(1, 0, "There is no such command here.", Role::Dim);
    }
}

/// A heading, and paragraphs with an empty row before each.
fn explanation(heading: (Role, String), paragraphs: Vec<(Role, String)>, width: u16) -> Scrolled {
    let width = usize::from(width.saturating_sub(5));
    let mut lines = vec![vec![heading]];
    for (role, text) in paragraphs {
        lines.push(Vec::new());
        lines.extend(wrap(&text, width).into_iter().map(|row| vec![(role, row)]));
    }
    Scrolled { title: "Explain  (esc closes)", lines, columns: 1 }
}

/// All that is known of a cause.
fn explain_cause(cause: &Cause, width: u16) -> Scrolled {
    explanation((Role::Dim, format!("cause: {}", cause.kind.name())), cause_words(cause), width)
}

fn explain(app: &App, code: Code, width: u16) -> Scrolled {
    let level = Some(code.level());
    let heading = format!("{} {} {}", app.glyphs.level(level), code.level().name(), code.name());
    let finding = app.selection.finding.and_then(|at| app.findings.list.get(at)).filter(|f| f.code() == code);
    let mut paragraphs: Vec<(Role, String)> = Vec::new();
    paragraphs.extend(finding.map(|finding| (Role::Text, finding.to_string())));
    paragraphs.push((Role::Strong, code.title().to_owned()));
    paragraphs.extend(code.explanation().split("\n\n").map(|text| (Role::Text, text.to_owned())));
    paragraphs.push((Role::Strong, "What to do".to_owned()));
    let next = finding.map_or_else(|| app.findings.advice.next_of(code), |finding| app.findings.advice.next(finding));
    paragraphs.push((Role::Text, next));
    explanation((level_role(level), heading), paragraphs, width)
}
