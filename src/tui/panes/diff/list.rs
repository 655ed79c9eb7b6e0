//! What differs in words: the legend with its counts, the list of the blocks, a line about one of them.

use unicode_width::UnicodeWidthStr;

use super::look;
use crate::godot::channel::{CHANNELS, NAMES};
use crate::printable::triple;
use crate::tui::canvas::Canvas;
use crate::tui::data::difference::{Changed, Difference, Fate, Lod};
use crate::tui::numbers::grouped;
use crate::tui::pane::InspectorLines;
use crate::tui::scroll::follow;
use crate::tui::theme::Role;
use crate::tui::{App, Focus};

/// Columns of the position in the list, at most.
const PLACE: u16 = 24;

/// A mark, its role and its meaning.
type Item = (&'static str, Role, String);

/// The legend, with as many lines as a width asks for.
pub(super) fn legend(app: &App, width: u16) -> Vec<Vec<Item>> {
    let Some(difference) = app.comparison.difference() else { return Vec::new() };
    let glyphs = &app.glyphs;
    let mut items: Vec<Item> = Vec::new();
    for fate in Fate::ALL {
        let count = difference.count(fate);
        // What is not there is left out, except for what is looked for first.
        if count > 0 || matches!(fate, Fate::Added | Fate::Removed | Fate::Changed) {
            let (mark, role) = look(fate);
            items.push((mark, role, format!("{} {}", grouped(count), fate.name())));
        }
    }
    if difference.count(Fate::Moved) > 0 {
        items.push(("<", look(Fate::Moved).1, "came here".into()));
    }
    match &difference.summary {
        Some(summary) => {
            items.push((glyphs.good, Role::Dim, format!("{} the same", grouped(summary.same))));
            let files = summary.faults.len();
            if files > 0 {
                items.push(("!", Role::Error, format!("{files} {} unread", plural(files, "file"))));
            }
            for (side, n) in ["A", "B"].iter().zip(summary.unowned).filter(|(_, n)| *n > 0) {
                items.push(("?", Role::Unowned, format!("{} unowned in {side}", grouped(n))));
            }
        }
        None => items.push((glyphs.good, Role::Dim, "the same".into())),
    }
    let room = usize::from(width.saturating_sub(2));
    let mut lines: Vec<Vec<Item>> = vec![Vec::new()];
    let mut x = 0;
    for item in items {
        let len = item.2.width() + 4;
        if x > 0 && x + len - 2 > room {
            lines.push(Vec::new());
            x = 0;
        }
        x += len;
        if let Some(line) = lines.last_mut() {
            line.push(item);
        }
    }
    lines
}

/// Draws the legend.
pub(super) fn draw_legend(app: &App, top: u16, canvas: &mut Canvas<'_>) {
    for (y, line) in (top..top.saturating_add(3)).zip(legend(app, canvas.width())) {
        let mut x = 1;
        for (mark, role, text) in line {
            x = canvas.line(x, y, &[(role, mark), (Role::Text, " "), (Role::Text, &text), (Role::Text, "  ")]);
        }
    }
}

fn plural(n: usize, word: &str) -> String {
    if n == 1 { word.to_owned() } else { format!("{word}s") }
}

/// The channels of a change, by name.
fn channels(change: &Changed) -> Vec<&'static str> {
    let is =
        |channel: &usize| u32::try_from(*channel).is_ok_and(|n| change.channels.checked_shr(n).unwrap_or(0) & 1 == 1);
    (0..CHANNELS).filter(is).filter_map(|channel| NAMES.get(channel)).copied().collect()
}

/// What else than voxels differs.
fn other_changes(change: &Changed) -> Vec<&'static str> {
    let all = [(change.metadata, "metadata"), (change.instances, "instances")];
    all.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect()
}

/// A share in words.
fn percent(some: u64, all: u64) -> String {
    if all == 0 {
        return String::new();
    }
    let share = some as f64 / all as f64 * 100.0;
    if share < 0.1 { ", less than 0.1 %".into() } else { format!(", {share:.1} %") }
}

/// What became of a block, without its position.
pub(super) fn says(difference: &Difference, change: &Changed) -> String {
    match change.fate {
        Fate::Added => "added: in B only".into(),
        Fate::Removed => "removed: in A only".into(),
        Fate::Moved => {
            let to = difference.went(change).map_or_else(|| "elsewhere".into(), triple);
            format!("moved to {to}")
        }
        Fate::Unreadable => match difference.why(change) {
            Some((of, why)) => format!("unreadable in {}: {}", of.letter(), crate::damage::with_titles(why)),
            None => "unreadable".into(),
        },
        Fate::Changed => {
            let voxels = match change.voxels {
                0 => None,
                1 => Some("1 voxel".to_owned()),
                n => Some(format!("{} voxels", grouped(n.into()))),
            };
            let parts = voxels.into_iter().map(|voxels| format!("{voxels} {}", channels(change).join(" ")));
            let parts: Vec<String> = parts.chain(other_changes(change).into_iter().map(str::to_owned)).collect();
            parts.join(", ")
        }
    }
}

/// Draws the list.
pub(super) fn draw(app: &App, area: [u16; 4], difference: &Difference, lod: &Lod, canvas: &mut Canvas<'_>) {
    let [left, top, width, height] = area;
    let mut part = canvas.part(left, top, width, height);
    if lod.changes.is_empty() {
        let (role, words) = empty(app, difference);
        part.wrap(1, 0, &words, role);
        return;
    }
    let at = super::current(app);
    let rows = usize::from(height);
    let first = first(app, lod, height);
    let seen = lod.changes.get(first..).unwrap_or_default();
    let places = seen.iter().take(rows).map(|change| triple(change.position).width());
    let room = places.max().and_then(|width| u16::try_from(width).ok()).unwrap_or(PLACE).min(PLACE);
    for (y, (number, change)) in (0u16..).zip((first..).zip(seen).take(rows)) {
        let (mark, role) = look(change.fate);
        part.put(1, y, mark, role);
        part.put_within(3, y, PLACE, &triple(change.position), Role::Text);
        let x = 5 + room;
        part.put_within(x, y, width.saturating_sub(x + 2), &says(difference, change), Role::Dim);
        if Some(number) == at {
            part.cursor_row(y, app.focus == Focus::Pane);
        }
    }
    part.scrollbar(first, rows, lod.changes.len());
}

/// The first line of the list that is seen.
pub(super) fn first(app: &App, lod: &Lod, rows: u16) -> usize {
    let state = &app.panes.diff;
    let (rows, all) = (usize::from(rows), lod.changes.len());
    // Between two of them, where none is under the cursor.
    let shown = super::current(app)
        .unwrap_or_else(|| state.cursor.map_or(0, |cursor| lod.from(cursor)))
        .min(all.saturating_sub(1));
    follow(shown.saturating_sub(rows / 2), shown, rows, all)
}

/// What is said where nothing differs, or nothing that is known yet.
pub(super) fn empty(app: &App, difference: &Difference) -> (Role, String) {
    if app.comparison.running && difference.summary.is_none() {
        return (Role::Dim, "Comparing. What differs comes as it is found.".into());
    }
    if app.comparison.stopped {
        return (Role::Warning, "Stopped before its end: R begins again.".into());
    }
    if !difference.is_empty() {
        return (Role::Dim, "Nothing differs in this LOD: d goes to the next one.".into());
    }
    match &difference.summary {
        Some(summary) if !summary.faults.is_empty() => {
            (Role::Warning, "Nothing differs in what can be read; some files cannot.".into())
        }
        Some(summary) if summary.unowned != [0; 2] => {
            (Role::Warning, "Nothing differs in what the tables lead to; unowned blocks are not compared.".into())
        }
        _ => (Role::Good, "Nothing differs: every block is the same in both.".into()),
    }
}

/// What is under the cursor, for the inspector.
pub(super) fn inspected(difference: &Difference, lod: &Lod, change: Changed) -> Option<(String, InspectorLines)> {
    let mut out: InspectorLines = Vec::new();
    let change = &change;
    let (mark, role) = look(change.fate);
    out.push(("is", format!("{mark} {}", change.fate.name()), role));
    match change.fate {
        Fate::Changed => {
            let voxels = u64::from(change.voxels);
            let of = difference.volume();
            let share = of.map_or_else(String::new, |all| format!(" of {}{}", grouped(all), percent(voxels, all)));
            if voxels > 0 {
                out.push(("voxels", format!("{}{share}", grouped(voxels)), Role::Text));
                out.push(("channels", channels(change).join(", "), Role::Text));
            }
            let beside = other_changes(change);
            if !beside.is_empty() {
                out.push(("and", beside.join(", "), Role::Text));
                if voxels == 0 {
                    out.push(("", "No voxel differs. `voxscope diff` prints what does.".into(), Role::Dim));
                }
            }
        }
        _ => out.push(("", says(difference, change), Role::Text)),
    }
    if lod.lod > 0 {
        out.push(("LOD", lod.lod.to_string(), Role::Text));
    }
    Some((format!("Block {}", triple(change.position)), out))
}
