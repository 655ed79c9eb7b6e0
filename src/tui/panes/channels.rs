//! TITLE

use super::Click;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::canvas::Canvas;

/// What the pane keeps.
#[derive(Debug, Default)]
pub struct Keep {
    /// Whether the view goes to where the selection is.
    pub follow: bool,
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
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    super::nothing_yet(app, canvas);
}
