//! What is wrong: findings as they come, in groups by file.

use super::Click;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::canvas::Canvas;
use crate::tui::go;

/// What the pane keeps.
#[derive(Debug, Default)]
pub struct Keep {
    filter: String,
}

/// Does an action; true when it meant something here.
pub fn act(_app: &mut App, _action: Action) -> bool {
    false
}

/// Does a click.
pub fn click(_app: &mut App, _click: Click, _x: u16, _y: u16) {}

/// Asks for what is needed.
pub fn want(_app: &mut App) {}

/// Draws the pane.
pub fn draw(_app: &App, _canvas: &mut Canvas<'_>) {}

/// Goes to the next finding, or to the one before.
pub fn step(app: &mut App, forth: bool) {
    let all = app.findings.list.len();
    let next = match (app.selection.finding, forth) {
        (None, true) => 0,
        (None, false) => all.saturating_sub(1),
        (Some(at), true) => (at + 1) % all.max(1),
        (Some(at), false) => at.checked_sub(1).unwrap_or(all.saturating_sub(1)),
    };
    go::to_finding(app, next);
}

/// Filters the findings.
pub fn filter(app: &mut App, text: &str) {
    app.panes.findings.filter = text.to_owned();
}

/// The filter as it was typed.
pub fn filter_text(app: &App) -> String {
    app.panes.findings.filter.clone()
}

/// Writes the findings that are shown.
///
/// # Errors
/// A sentence that says why not.
pub fn export(_app: &mut App, _name: &str) -> Result<(), String> {
    Ok(())
}
