//! What differs between two saves, as a list. The World pane shows it.

mod list;

use std::path::{Path, PathBuf};

use super::Click;
use crate::printable::triple;
use crate::tui::App;
use crate::tui::action::Action;
use crate::tui::canvas::Canvas;
use crate::tui::data::difference::{Changed, Difference, Fate, Lod};
use crate::tui::data::pair::{Request, find_spot};
use crate::tui::go;
use crate::tui::jobs::JobKind;
use crate::tui::pane::InspectorLines;
use crate::tui::theme::Role;

/// The state of the pane. Places are positions, so that they hold when everything is compared again.
#[derive(Debug, Default)]
pub struct DiffState {
    /// The LOD of the list.
    lod: Option<u8>,
    /// The block under the cursor.
    cursor: Option<[i32; 3]>,
    /// Which of several changes at its position.
    nth: usize,
}

/// The mark of a block that differs, and how it is drawn.
const fn look(fate: Fate) -> (&'static str, Role) {
    match fate {
        Fate::Added => ("+", Role::Good),
        Fate::Removed => ("-", Role::Error),
        Fate::Changed => ("~", Role::Warning),
        Fate::Moved => (">", Role::Key),
        Fate::Unreadable => ("?", Role::Unowned),
    }
}

/// What is shown: all of what differs, and the LOD with its number in the list of LODs.
fn shown(app: &App) -> Option<(&Difference, &Lod, usize)> {
    let difference = app.comparison.difference()?;
    let wanted = app.panes.diff.lod;
    let number = difference.lods.iter().position(|lod| Some(lod.lod) == wanted).unwrap_or(0);
    Some((difference, difference.lods.get(number)?, number))
}

/// The number of the change under the cursor.
fn current(app: &App) -> Option<usize> {
    let (_, lod, _) = shown(app)?;
    let cursor = app.panes.diff.cursor?;
    let from = lod.from(cursor);
    let here = lod.changes.get(from..).unwrap_or_default();
    let same = here.iter().take_while(|change| change.position == cursor).count();
    (same > 0).then(|| from + app.panes.diff.nth.min(same - 1))
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    let Some((_, lod, _)) = shown(app) else { return false };
    let last = lod.changes.len().saturating_sub(1);
    let at = current(app).unwrap_or(0);
    let page = usize::from(app.pane_inside().height / 2).max(1);
    if let Some(to) = action.over_lines(at, last, page) {
        choose(app, to);
        return true;
    }
    match action {
        Action::NextChange => {
            next(app, true);
        }
        Action::PreviousChange => {
            next(app, false);
        }
        Action::NextLod => next_lod(app),
        Action::Enter => open(app),
        _ => return false,
    }
    true
}

/// The change under the cursor.
fn change(app: &App) -> Option<Changed> {
    let (_, lod, _) = shown(app)?;
    lod.changes.get(current(app)?).copied()
}

/// Puts the cursor on a change of the LOD that is shown, by its number.
fn choose(app: &mut App, number: usize) {
    let Some((_, lod, _)) = shown(app) else { return };
    let Some(position) = lod.changes.get(number).map(|change| change.position) else { return };
    let (nth, name) = (number.saturating_sub(lod.from(position)), lod.lod);
    app.panes.diff = DiffState { lod: Some(name), cursor: Some(position), nth };
}

/// Shows the change under the cursor on the picture of the world: of a block that both saves have, the cut in which most
/// differs.
pub fn open(app: &mut App) {
    let Some(change) = change(app) else {
        app.show_message("Nothing differs here.".into());
        return;
    };
    let Some((difference, lod, _)) = shown(app) else { return };
    let (number, position) = (lod.lod, change.position);
    let Some(saves) = difference.saves.clone().filter(|_| change.fate == Fate::Changed) else {
        go::to_world(app, go::WorldTarget::Change(number, position, None));
        return;
    };
    let channels = app.settings.against.as_ref().map(|against| against.channels.clone()).unwrap_or_default();
    let request = Request { saves, blocks: lod.blocks.clone(), position, channels };
    app.job(
        JobKind::Pair,
        move |worker| {
            let spot = find_spot(&request);
            worker.answer(move |app| match spot {
                Ok(spot) => go::to_world(app, go::WorldTarget::Change(number, position, spot)),
                Err(why) => app.show_message(why),
            });
        },
        App::show_message,
    );
}

/// The next change, or the one before, also of other LODs; false when there is none.
pub fn next(app: &mut App, forward: bool) -> bool {
    let Some((difference, lod, number)) = shown(app) else { return false };
    let at = current(app);
    let from = at.unwrap_or_else(|| app.panes.diff.cursor.map_or(0, |cursor| lod.from(cursor)));
    let to = match (forward, at) {
        (true, Some(_)) => from.checked_add(1),
        (true, None) => Some(from),
        (false, _) => from.checked_sub(1),
    };
    if let Some(to) = to.filter(|to| *to < lod.changes.len()) {
        choose(app, to);
        return true;
    }
    let mut others = (0..difference.lods.len()).filter(|n| if forward { *n > number } else { *n < number });
    let has = |n: &usize| difference.lods.get(*n).is_some_and(|lod| !lod.changes.is_empty());
    let found = if forward { others.find(has) } else { others.rfind(has) };
    let Some(other) = found.and_then(|n| difference.lods.get(n)) else {
        app.show_message(if forward { "This is the last change." } else { "This is the first change." }.into());
        return false;
    };
    let (name, last) = (other.lod, other.changes.len().saturating_sub(1));
    app.show_message(format!("LOD {name}."));
    app.panes.diff.lod = Some(name);
    choose(app, if forward { 0 } else { last });
    true
}

fn next_lod(app: &mut App) {
    let Some((difference, _, number)) = shown(app) else { return };
    let next = (number + 1) % difference.lods.len().max(1);
    let Some(lod) = difference.lods.get(next).map(|lod| lod.lod) else { return };
    if next == number {
        app.show_message(format!("There is only LOD {lod}."));
        return;
    }
    app.panes.diff = DiffState { lod: Some(lod), cursor: None, nth: 0 };
    choose(app, 0);
}

/// Goes to the change at a position, or behind it.
///
/// # Errors
/// A sentence, when the position is outside of both saves.
pub fn to_block(app: &mut App, position: [i32; 3]) -> Result<(), String> {
    let Some((_, lod, _)) = shown(app) else { return Err("nothing is compared yet".into()) };
    let [low, high] = lod.extent.ok_or("there is no block in either save")?;
    if (0..3).any(|i| !(low[i]..=high[i]).contains(&position[i])) {
        let (at, low, high) = (triple(position), triple(low), triple(high));
        return Err(format!("there is no block at {at}: both saves have {low} to {high}"));
    }
    (app.panes.diff.cursor, app.panes.diff.nth) = (Some(position), 0);
    Ok(())
}

/// What became of the block at a voxel of the world, for the inspector of the picture.
pub fn says_at(app: &App, voxel: [i64; 3]) -> Option<String> {
    let difference = app.comparison.difference()?;
    let side = i64::from(difference.side?);
    difference.lods.iter().find_map(|lod| {
        let block = side.checked_shl(lod.lod.into()).filter(|block| *block > 0)?;
        let at = voxel.map(|n| i32::try_from(n.div_euclid(block)).unwrap_or(i32::MAX));
        let change = lod.changes.get(lod.from(at)).filter(|change| change.position == at)?;
        let of = if lod.lod > 0 { format!("LOD {}, ", lod.lod) } else { String::new() };
        Some(format!("{of}{}", list::says(difference, change)))
    })
}

/// Called when another pane is shown: selects the block under the cursor, where the first save has it.
pub fn left(app: &mut App) {
    let Some((_, lod, _)) = shown(app) else { return };
    let Some(change) = change(app) else { return };
    let number = lod.lod;
    if lod.blocks.first().is_some_and(|blocks| blocks.find(change.position).is_some()) {
        go::to_block(app, number, change.position);
    }
}

/// Puts the cursor on the first change.
pub fn request_missing(app: &mut App) {
    let Some(difference) = app.comparison.difference().filter(|_| app.panes.diff.cursor.is_none()) else { return };
    let wanted = app.panes.diff.lod;
    // Where something differs, first of all.
    let lod = difference.lods.iter().find(|lod| wanted.map_or(!lod.changes.is_empty(), |wanted| lod.lod == wanted));
    if let Some((lod, position)) = lod.and_then(|lod| Some((lod.lod, lod.changes.first()?.position))) {
        app.panes.diff = DiffState { lod: Some(lod), cursor: Some(position), nth: 0 };
    }
}

/// The first line of the list, and how many there are.
fn rows(app: &App, width: u16, height: u16) -> [u16; 2] {
    let legend = u16::try_from(list::legend(app, width).len()).unwrap_or(1).min(3);
    let top = if height >= 10 { 2 + legend } else { 1 };
    [top, height.saturating_sub(top)]
}

/// Does a click.
pub fn click(app: &mut App, click: Click, _: u16, y: u16) {
    let Some((_, lod, _)) = shown(app) else { return };
    match click {
        Click::Wheel(up) => {
            act(app, if up { Action::Up } else { Action::Down });
        }
        Click::Drag => {}
        Click::Press => {
            let area = app.pane_inside();
            let [top, rows] = rows(app, area.width, area.height);
            let first = list::first(app, lod, rows);
            if let Some(row) = y.checked_sub(top) {
                let number = first.saturating_add(usize::from(row));
                if current(app) == Some(number) {
                    open(app);
                } else {
                    choose(app, number);
                }
            }
        }
    }
}

/// The names of the two saves: the shortest ends of their paths that differ.
fn names(app: &App) -> [String; 2] {
    let (a, b) = (&app.settings.path, app.settings.against.as_ref().map(|against| &against.path));
    let Some(b) = b else { return [crate::printable::path(a), String::new()] };
    let end = |path: &Path, n: usize| {
        let parts: Vec<_> = path.iter().collect();
        let from = parts.len().saturating_sub(n);
        parts.get(from..).unwrap_or_default().iter().collect::<PathBuf>()
    };
    let longest = a.iter().count().max(b.iter().count()).max(1);
    let enough = (1..longest).find(|n| end(a, *n) != end(b, *n)).unwrap_or(longest);
    [a, b].map(|path| crate::printable::path(&end(path, enough)))
}

/// Draws the pane.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    if let Some(why) = &app.comparison.failure {
        let y = canvas.wrap(1, 1, why, Role::Error);
        if app.has_pair() {
            canvas.wrap(1, y + 1, "R tries again.", Role::Dim);
        }
        return;
    }
    let Some((difference, lod, _)) = shown(app) else {
        let words = match app.comparison.difference() {
            Some(difference) if difference.summary.is_some() => "There is no block in either save.",
            Some(_) => "Comparing the two saves.",
            None => "Opening the save that is compared with.",
        };
        canvas.wrap(1, 1, words, Role::Dim);
        return;
    };
    let (width, height) = (canvas.width(), canvas.height());
    let [top, rows] = rows(app, width, height);
    let mut y = 0;
    if height >= 10 {
        let [a, b] = names(app);
        let half = width / 2;
        for (x, letter, name) in [(1, "A ", a), (half, "B ", b)] {
            let at = canvas.put(x, 0, letter, Role::Key);
            canvas.put_within(at, 0, half.saturating_sub(4), &name, Role::Strong);
        }
        list::draw_legend(app, 1, canvas);
        y = top - 1;
    }
    let changes = match lod.changes.len() {
        1 => "1 change".to_owned(),
        n => format!("{} changes", crate::tui::numbers::grouped(n as u64)),
    };
    let shows = format!("{}enter shows a block on the picture of the world", canvas.glyphs.dot);
    let of = format!("LOD {}{}{changes}", lod.lod, canvas.glyphs.dot);
    canvas.line(1, y, &[(Role::Strong, &of), (Role::Dim, &shows)]);
    list::draw(app, [0, top, width, rows], difference, lod, canvas);
}

/// What is under the cursor, for the inspector.
#[must_use]
pub fn under_cursor(app: &App) -> Option<(String, InspectorLines)> {
    if !app.in_diff() {
        return None;
    }
    let (difference, lod, _) = shown(app)?;
    list::inspected(difference, lod, change(app)?)
}

/// What is copied.
#[must_use]
pub fn copy(app: &App) -> Option<String> {
    let (difference, lod, _) = shown(app)?;
    let change = change(app)?;
    let [a, b] = [&app.settings.path, &app.settings.against.as_ref()?.path].map(|path| crate::printable::path(path));
    let says = list::says(difference, &change);
    Some(format!("{a} and {b}, LOD {}, block {}: {says}", lod.lod, triple(change.position)))
}
