//! The panes: a file each, with what it keeps, what it does with actions and clicks, what it asks for, how it is drawn.

pub mod blocks;
pub mod channels;
pub mod depth;
pub mod diff;
pub mod findings;
pub mod hex;
mod marks;
pub mod meta;
mod raster;
pub mod repair;
pub mod sectors;
pub mod slice;
pub mod tree;

use super::action::Action;
use super::app::App;
use super::canvas::Canvas;
use super::data::State;
use super::pane::Pane;
use super::theme::Role;

/// What all panes keep.
#[derive(Debug, Default)]
pub struct Panes {
    /// The tree.
    pub tree: tree::Keep,
    /// What the check says of the sectors of the open file.
    pub marks: marks::Keep,
    /// The sector map.
    pub sectors: sectors::Keep,
    /// The table of blocks.
    pub blocks: blocks::Keep,
    /// The slice.
    pub slice: slice::Keep,
    /// The channels.
    pub channels: channels::Keep,
    /// Metadata.
    pub meta: meta::Keep,
    /// The bytes.
    pub hex: hex::Keep,
    /// The findings.
    pub findings: findings::Keep,
    /// The depth map.
    pub depth: depth::Keep,
    /// The preview of a repair.
    pub repair: repair::Keep,
    /// What differs between two saves.
    pub diff: diff::Keep,
}

impl Panes {
    /// The selection went to another place: the panes look there.
    pub fn arrived(&mut self) {
        self.hex.follow = true;
        self.blocks.follow = true;
        self.sectors.follow = true;
        self.meta.follow = true;
    }
}

/// What the mouse did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Click {
    /// The left button.
    Press,
    /// The wheel, upward or downward.
    Wheel(bool),
}

/// Does an action in the pane that is shown; true when it meant something there.
pub fn act(app: &mut App, action: Action) -> bool {
    match app.pane {
        Pane::Sectors => sectors::act(app, action),
        Pane::Blocks => blocks::act(app, action),
        Pane::Slice => slice::act(app, action),
        Pane::Channels => channels::act(app, action),
        Pane::Meta => meta::act(app, action),
        Pane::Hex => hex::act(app, action),
        Pane::Findings => findings::act(app, action),
        Pane::Depth => depth::act(app, action),
        Pane::Repair => repair::act(app, action),
        Pane::Diff => diff::act(app, action),
    }
}

/// Does a click in the pane that is shown, at a place inside its frame.
pub fn click(app: &mut App, click: Click, x: u16, y: u16) {
    match app.pane {
        Pane::Sectors => sectors::click(app, click, x, y),
        Pane::Blocks => blocks::click(app, click, x, y),
        Pane::Slice => slice::click(app, click, x, y),
        Pane::Channels => channels::click(app, click, x, y),
        Pane::Meta => meta::click(app, click, x, y),
        Pane::Hex => hex::click(app, click, x, y),
        Pane::Findings => findings::click(app, click, x, y),
        Pane::Depth => depth::click(app, click, x, y),
        Pane::Repair => repair::click(app, click, x, y),
        Pane::Diff => diff::click(app, click, x, y),
    }
}

/// Asks for what the pane that is shown needs.
pub fn want(app: &mut App) {
    match app.pane {
        Pane::Sectors => sectors::want(app),
        Pane::Blocks => blocks::want(app),
        Pane::Slice => slice::want(app),
        Pane::Channels => channels::want(app),
        Pane::Meta => meta::want(app),
        Pane::Hex => hex::want(app),
        Pane::Findings => findings::want(app),
        Pane::Depth => depth::want(app),
        Pane::Repair => repair::want(app),
        Pane::Diff => diff::want(app),
    }
}

/// Draws the pane that is shown.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    match app.pane {
        Pane::Sectors => sectors::draw(app, canvas),
        Pane::Blocks => blocks::draw(app, canvas),
        Pane::Slice => slice::draw(app, canvas),
        Pane::Channels => channels::draw(app, canvas),
        Pane::Meta => meta::draw(app, canvas),
        Pane::Hex => hex::draw(app, canvas),
        Pane::Findings => findings::draw(app, canvas),
        Pane::Depth => depth::draw(app, canvas),
        Pane::Repair => repair::draw(app, canvas),
        Pane::Diff => diff::draw(app, canvas),
    }
}

/// What is copied of what is selected.
#[must_use]
pub fn copy(app: &App) -> Option<String> {
    let finding = |app: &App| Some(app.findings.list.get(app.selection.finding?)?.to_string());
    match app.pane {
        Pane::Findings => finding(app),
        Pane::Hex => hex::copy(app),
        Pane::Meta => meta::copy(app),
        Pane::Slice => slice::copy(app),
        Pane::Depth => depth::copy(app),
        Pane::Repair => repair::copy(app),
        Pane::Diff => diff::copy(app),
        _ => {
            let index = app.index.as_ref()?;
            let file =
                app.selected_item().map_or_else(|| crate::printable::path(&index.save.path), |item| index.shown(item));
            let position = app.selected_slot().and_then(|slot| slot.position);
            Some(position.map_or(file.clone(), |at| format!("{file}, block {}", crate::printable::triple(at))))
        }
    }
}

/// Writes the rows that the pane shows to a new file.
///
/// # Errors
/// A sentence that says why not.
pub fn export(app: &mut App, name: &str) -> Result<(), String> {
    match app.pane {
        Pane::Findings => findings::export(app, name),
        _ => blocks::export(app, name),
    }
}

/// Says that a file has to be chosen, or what became of the one that is; true when there is nothing else to draw.
pub fn nothing_yet(app: &App, canvas: &mut Canvas<'_>) -> bool {
    let Some(key) = app.item_key() else {
        canvas.wrap(1, 1, "Choose a file in the tree: tab, then the arrows.", Role::Dim);
        return true;
    };
    match app.item.state(&key) {
        State::Ready(_) => false,
        State::Failed(why) => {
            canvas.wrap(1, 1, why, Role::Error);
            true
        }
        State::Reading | State::Unasked => {
            canvas.wrap(1, 1, "Reading the file.", Role::Dim);
            true
        }
    }
}

/// The same for the selected block.
pub fn no_block_yet(app: &App, canvas: &mut Canvas<'_>) -> bool {
    if nothing_yet(app, canvas) {
        return true;
    }
    let Some(key) = app.block_key() else {
        canvas.wrap(1, 1, "Choose a block: 2 has the table, 1 the map; Enter there looks at one.", Role::Dim);
        return true;
    };
    match app.block.state(&key) {
        State::Ready(_) => false,
        State::Failed(why) => {
            canvas.wrap(1, 1, why, Role::Error);
            true
        }
        State::Reading | State::Unasked => {
            canvas.wrap(1, 1, "Reading the block.", Role::Dim);
            true
        }
    }
}
