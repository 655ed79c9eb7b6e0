//! The panes: a file or folder each, with its state, its actions and clicks, its requests, its drawing.

pub mod blocks;
pub mod channels;
pub mod diff;
pub mod findings;
pub mod hex;
pub(super) mod marks;
pub mod meta;
pub mod repair;
pub mod sectors;
pub mod tree;
pub mod world;

use super::App;
use super::action::Action;
use super::canvas::Canvas;
use super::data::LoadState;
use super::pane::Pane;
use super::theme::Role;

/// What all panes state.
#[derive(Debug, Default)]
pub struct Panes {
    /// The tree.
    pub tree: tree::TreeState,
    /// The findings about the sectors of the open file.
    pub marks: marks::MarksState,
    /// The sector map.
    pub sectors: sectors::SectorsState,
    /// The table of blocks.
    pub blocks: blocks::BlocksState,
    /// The channels.
    pub channels: channels::ChannelsState,
    /// Metadata.
    pub meta: meta::MetaState,
    /// The bytes.
    pub hex: hex::HexState,
    /// The findings.
    pub findings: findings::FindingsState,
    /// The preview of a repair.
    pub repair: repair::RepairState,
    /// What differs between two saves.
    pub diff: diff::DiffState,
    /// The world.
    pub world: world::WorldState,
}

impl Panes {
    /// Makes the panes show the selection, which was moved from elsewhere.
    pub fn follow_selection(&mut self) {
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
    /// The mouse moves with the left button held.
    Drag,
    /// The wheel, upward or downward.
    Wheel(bool),
}

/// Does an action in the pane that is shown; true when it meant something there.
pub fn act(app: &mut App, action: Action) -> bool {
    match app.pane {
        Pane::Sectors => sectors::act(app, action),
        Pane::Blocks => blocks::act(app, action),
        Pane::Channels => channels::act(app, action),
        Pane::Meta => meta::act(app, action),
        Pane::Hex => hex::act(app, action),
        Pane::Findings => findings::act(app, action),
        Pane::World => world::act(app, action),
        Pane::Repair => repair::act(app, action),
        Pane::Diff => diff::act(app, action),
    }
}

/// Does a click in the pane that is shown, at a place inside its frame.
pub fn click(app: &mut App, click: Click, x: u16, y: u16) {
    match app.pane {
        Pane::Sectors => sectors::click(app, click, x, y),
        Pane::Blocks => blocks::click(app, click, x, y),
        Pane::Channels => channels::click(app, click, x, y),
        Pane::Meta => meta::click(app, click, x, y),
        Pane::Hex => hex::click(app, click, x, y),
        Pane::Findings => findings::click(app, click, x, y),
        Pane::World => world::click(app, click, x, y),
        Pane::Repair => repair::click(app, click, x, y),
        Pane::Diff => diff::click(app, click, x, y),
    }
}

/// Requests what the pane that is shown needs.
pub fn request_missing(app: &mut App) {
    match app.pane {
        Pane::Sectors => sectors::request_missing(app),
        Pane::Blocks => blocks::request_missing(app),
        Pane::Channels => channels::request_missing(app),
        Pane::Meta => meta::request_missing(app),
        Pane::Hex => hex::request_missing(app),
        Pane::Findings => {
            findings::request_missing(app);
            // The verdict below the findings is that of the save that the World pane shows.
            world::follow_selection(app);
        }
        Pane::World => world::request_missing(app),
        Pane::Repair => repair::request_missing(app),
        Pane::Diff => diff::request_missing(app),
    }
    repair::follow_selection(app);
}

/// Draws the pane that is shown.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    match app.pane {
        Pane::Sectors => sectors::draw(app, canvas),
        Pane::Blocks => blocks::draw(app, canvas),
        Pane::Channels => channels::draw(app, canvas),
        Pane::Meta => meta::draw(app, canvas),
        Pane::Hex => hex::draw(app, canvas),
        Pane::Findings => findings::draw(app, canvas),
        Pane::World => world::draw(app, canvas),
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
        Pane::World => world::copy(app),
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

/// Draws why the selected file has nothing to show; true when there is nothing else to draw.
pub fn draw_item_placeholder(app: &App, canvas: &mut Canvas<'_>) -> bool {
    let Some(key) = app.item_key() else {
        canvas.wrap(1, 1, "There is no file of a save here.", Role::Dim);
        return true;
    };
    draw_state(&app.item.state(&key), "Reading the file.", canvas)
}

/// Draws why something is not there, or that it is being read; true when it is not there.
fn draw_state<T>(state: &LoadState<'_, T>, reading: &str, canvas: &mut Canvas<'_>) -> bool {
    match state {
        LoadState::Ready(_) => return false,
        LoadState::Failed(why) => canvas.wrap(1, 1, why, Role::Error),
        LoadState::Loading | LoadState::NotRequested => canvas.wrap(1, 1, reading, Role::Dim),
    };
    true
}

/// Draws why the selected block has nothing to show; true when there is nothing else to draw.
pub fn draw_block_placeholder(app: &App, canvas: &mut Canvas<'_>) -> bool {
    if draw_item_placeholder(app, canvas) {
        return true;
    }
    let Some(key) = app.block_key() else {
        canvas.wrap(1, 1, "This file has no block that could be shown.", Role::Dim);
        return true;
    };
    draw_state(&app.block.state(&key), "Reading the block.", canvas)
}
