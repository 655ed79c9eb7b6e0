//! The state of the explorer. Nothing here draws, reads files or knows a terminal.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::action::{Action, Keymap};
use super::compare::{self, Against, Comparison};
use super::data::{BlockData, Cell, Counts, Index, ItemId, NodeId, NodeKind, Opened, Part, Slot, Store};
use super::findings::Findings;
use super::history::History;
use super::jobs::{Job, Kind};
use super::layout::{Layout, Size};
use super::pane::Pane;
use super::panes::Panes;
use super::popup::Popup;
use super::prompt::Prompt;
use super::theme::{Glyphs, Theme};
use crate::bytes::Span;
use crate::damage::Space;
use crate::save::{Options, Save};

/// What the program is started with.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Makes what is to be opened, where that has to be made first; in the background, and once.
    pub prepare: Option<fn(&Path) -> std::io::Result<()>>,
    /// What to open.
    pub path: PathBuf,
    /// How.
    pub options: Options,
    /// Colours.
    pub theme: Theme,
    /// Letters only.
    pub ascii: bool,
    /// The keys.
    pub keymap: Keymap,
    /// A sentence to begin with.
    pub greeting: Option<String>,
    /// What to compare it with.
    pub against: Option<Against>,
}

/// What has the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Focus {
    /// The tree.
    Tree,
    /// The pane in the middle.
    Pane,
}

/// Bytes that are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// Of the file, or of the decompressed block.
    pub space: Space,
    /// Of a layer: which of its files.
    pub part: Part,
    /// Which.
    pub span: Span,
}

/// What all panes speak of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The line of the tree.
    pub node: NodeId,
    /// The block.
    pub slot: Option<u32>,
    /// The sector.
    pub sector: Option<u64>,
    /// The voxel: its place in the block, or in the layer of a map.
    pub voxel: Option<[u32; 3]>,
    /// The bytes.
    pub bytes: Option<Bytes>,
    /// The finding, by its number.
    pub finding: Option<usize>,
}

/// What the terminal, or the runner of jobs, is asked to do.
pub enum Effect {
    /// Do this in the background.
    Job(Job),
    /// Stop what is done in the background of this kind.
    Cancel(Kind),
    /// Put this on the clipboard.
    Copy(String),
    /// Draw everything anew.
    Redraw,
    /// Stop until the shell says go on.
    Suspend,
    /// Leave.
    Quit,
}

/// The key of what belongs to a file: which, and of which reading of the save.
pub type ItemKey = (u64, ItemId);

/// The state.
pub struct App {
    /// What it was started with; the theme, glyphs and keys are those in use.
    pub settings: Settings,
    /// The characters in use.
    pub glyphs: Glyphs,
    /// The tree, once the save is open.
    pub index: Option<Arc<Index>>,
    /// Why the save could not be opened.
    pub failure: Option<String>,
    /// How often the save was read; what was read before belongs to the past.
    pub generation: u64,
    /// What all panes speak of.
    pub selection: Selection,
    /// What has the keys.
    pub focus: Focus,
    /// The pane in the middle.
    pub pane: Pane,
    /// The file that is open.
    pub item: Cell<ItemKey, Opened>,
    /// The block that is looked at.
    pub block: Cell<(ItemKey, u32), BlockData>,
    /// What the voxels of the layer come to.
    pub counts: Counts,
    /// What is wrong, as far as it is known.
    pub findings: Findings,
    /// The save that is compared with, and what differs.
    pub comparison: Comparison,
    /// What each pane keeps.
    pub panes: Panes,
    /// A line that is being typed.
    pub prompt: Option<Prompt>,
    /// What lies on top.
    pub popup: Option<Popup>,
    /// What was said last.
    pub message: Option<String>,
    /// Where the selection goes once the file is open.
    pub going: Option<super::go::Going>,
    /// Where we were.
    pub history: History,
    /// The size of the terminal.
    pub size: Size,
    /// What is asked of the outside.
    pub effects: Vec<Effect>,
}

impl App {
    /// The state at the start. Asks for the save to be opened.
    #[must_use]
    pub fn new(settings: Settings, size: Size) -> Self {
        let glyphs = if settings.ascii { Glyphs::ASCII } else { Glyphs::UNICODE };
        let message = settings.greeting.clone();
        let pane = if settings.against.is_some() { Pane::Diff } else { Pane::Findings };
        let mut app = Self {
            settings,
            glyphs,
            index: None,
            failure: None,
            generation: 0,
            selection: Selection { node: 0, slot: None, sector: None, voxel: None, bytes: None, finding: None },
            focus: Focus::Pane,
            pane,
            item: Cell::default(),
            block: Cell::default(),
            counts: Counts::default(),
            findings: Findings::default(),
            comparison: Comparison::default(),
            panes: Panes::default(),
            prompt: None,
            popup: None,
            message,
            going: None,
            history: History::default(),
            size,
            effects: Vec::new(),
        };
        app.open_save();
        app
    }

    /// Reads the save, again if it was read before; the place is kept.
    pub fn open_save(&mut self) {
        let path = self.settings.path.clone();
        let options = self.settings.options.clone();
        let prepare = self.settings.prepare.take();
        let against = self.settings.against.clone();
        self.job(
            Kind::Save,
            move |worker| {
                let prepared = prepare.map_or(Ok(()), |prepare| prepare(&path).map_err(|error| error.to_string()));
                let index = prepared
                    .and_then(|()| Save::open(&path, &options).map_err(|error| error.to_string()))
                    .map(Index::new);
                worker.answer(move |app| app.opened(index));
                if let Some(against) = against {
                    compare::open(&against, worker);
                }
            },
            |app, why| app.failure = Some(why),
        );
    }

    fn opened(&mut self, index: Result<Index, String>) {
        match index {
            Ok(index) => {
                let index = Arc::new(index);
                self.generation += 1;
                self.failure = None;
                match self.index.replace(Arc::clone(&index)) {
                    Some(old) => {
                        self.selection.node = old.same_node(&index, self.selection.node);
                        self.history.map(|node| old.same_node(&index, node));
                        self.panes.tree.reopen(&old, &index);
                    }
                    None => {
                        self.panes.tree.open_all_but_many(&index);
                        // A save of one file needs no choosing.
                        if let (1, Some(node)) = (index.items.len(), index.node_of(0)) {
                            self.selection.node = node;
                        }
                    }
                }
                self.selection.finding = None;
                super::check::start(self);
            }
            Err(why) if self.index.is_none() => self.failure = Some(why),
            Err(why) => self.say(why),
        }
    }

    /// Says something in the bottom line.
    pub fn say(&mut self, sentence: String) {
        self.message = Some(sentence);
    }

    /// Asks for something to be done in the background.
    pub fn job(
        &mut self,
        kind: Kind,
        work: impl FnOnce(&super::jobs::Worker<'_>) + Send + 'static,
        failed: fn(&mut Self, String),
    ) {
        self.effects.push(Effect::Job(Job { kind, work: Box::new(work), failed }));
    }

    /// The item of the selected line.
    #[must_use]
    pub fn selected_item(&self) -> Option<ItemId> {
        self.index.as_ref()?.item_of(self.selection.node)
    }

    /// The key of the selected item.
    #[must_use]
    pub fn item_key(&self) -> Option<ItemKey> {
        Some((self.generation, self.selected_item()?))
    }

    /// The file that is open, when it is the selected one.
    #[must_use]
    pub fn opened_item(&self) -> Option<&Arc<Opened>> {
        self.item.get(&self.item_key()?)
    }

    /// The block that is selected, in its file's table.
    #[must_use]
    pub fn selected_slot(&self) -> Option<Slot> {
        self.opened_item()?.slot(self.selection.slot?).copied()
    }

    /// The key of the selected block.
    #[must_use]
    pub fn block_key(&self) -> Option<(ItemKey, u32)> {
        Some((self.item_key()?, self.selection.slot?))
    }

    /// The selected block, when it has been read.
    #[must_use]
    pub fn selected_block(&self) -> Option<&Arc<BlockData>> {
        self.block.get(&self.block_key()?)
    }

    /// Asks for the selected file, if it is not there or on its way.
    pub fn want_item(&mut self) {
        let (Some(key), Some(index)) = (self.item_key(), self.index.clone()) else { return };
        if !self.item.want(&key) {
            return;
        }
        self.job(
            Kind::Item,
            move |worker| {
                let opened = Opened::open(&index, key.1);
                worker.answer(move |app| app.item.put(key, opened));
            },
            |app, why| app.item.fail(why),
        );
    }

    /// Asks for the selected block, if it is not there or on its way.
    pub fn want_block(&mut self) {
        let (Some(key), Some(opened)) = (self.block_key(), self.opened_item().cloned()) else { return };
        if !self.block.want(&key) {
            return;
        }
        self.job(
            Kind::Block,
            move |worker| {
                let block = BlockData::read(&opened, key.1);
                worker.answer(move |app| app.block.put(key, block));
            },
            |app, why| app.block.fail(why),
        );
    }

    /// Selects a line of the tree; what was selected inside another file is forgotten.
    pub fn select_node(&mut self, node: NodeId) {
        if self.selection.node != node {
            self.selection =
                Selection { node, slot: None, sector: None, voxel: None, bytes: None, finding: self.selection.finding };
        }
    }

    /// Selects a block of the open file, with its sectors and its bytes.
    pub fn select_slot(&mut self, slot: u32) {
        if self.selection.slot == Some(slot) {
            return;
        }
        self.selection.slot = Some(slot);
        self.selection.voxel = None;
        self.selection.bytes = None;
        if let Some(opened) = self.opened_item().cloned()
            && let Some(at) = opened.slot(slot)
        {
            self.selection.sector = Some(at.first);
            let span = opened.sector_span(at.first, at.count);
            self.selection.bytes = Some(Bytes { space: Space::File, part: Part::Data, span });
        }
    }

    /// Where the parts of the screen lie.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout::new(self.size, self.focus)
    }

    /// Whether the focus can go between tree and pane.
    #[must_use]
    pub fn can_change_focus(&self) -> bool {
        self.index.is_some()
    }

    /// Whether the selected layer has a depth map.
    #[must_use]
    pub fn has_depth(&self) -> bool {
        self.opened_item().and_then(|opened| opened.grid()).is_some_and(|grid| grid.depth.is_some() || grid.packed)
    }

    /// Whether there is a place to go to by typing it.
    #[must_use]
    pub fn can_go_to(&self) -> bool {
        self.opened_item().is_some() || self.has_difference()
    }

    /// Whether there is a place before this one.
    #[must_use]
    pub fn can_go_back(&self) -> bool {
        self.history.has_back()
    }

    /// Whether there is a place after this one.
    #[must_use]
    pub fn can_go_forward(&self) -> bool {
        self.history.has_forward()
    }

    /// Whether anything is wrong.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        !self.findings.is_empty()
    }

    /// Whether a finding is selected.
    #[must_use]
    pub fn can_explain(&self) -> bool {
        self.selection.finding.is_some()
    }

    /// Whether there is something to filter.
    #[must_use]
    pub fn can_filter(&self) -> bool {
        self.index.is_some() && matches!(self.pane, Pane::Blocks | Pane::Findings)
    }

    /// Whether the table of blocks is shown.
    #[must_use]
    pub fn in_blocks(&self) -> bool {
        self.pane == Pane::Blocks
    }

    /// Whether there are rows that can be written.
    #[must_use]
    pub fn can_export(&self) -> bool {
        matches!(self.pane, Pane::Blocks | Pane::Findings) && self.index.is_some()
    }

    /// Whether the save can be checked now.
    #[must_use]
    pub fn can_check(&self) -> bool {
        self.index.is_some() && !self.is_checking()
    }

    /// Whether a check runs.
    #[must_use]
    pub fn is_checking(&self) -> bool {
        self.findings.running
    }

    /// Whether the check or the preview of a repair is at work.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.is_checking() || super::panes::repair::is_planning(self) || self.comparison.running
    }

    /// Whether there is something that a repair could look at.
    #[must_use]
    pub const fn can_preview(&self) -> bool {
        self.index.is_some()
    }

    /// Whether the preview of a repair is shown.
    #[must_use]
    pub fn in_repair(&self) -> bool {
        self.pane == Pane::Repair
    }

    /// Whether a block is looked at that can be put in a place by hand.
    #[must_use]
    pub fn can_accept(&self) -> bool {
        super::panes::repair::can_accept(self)
    }

    /// Whether voxels are shown.
    #[must_use]
    pub fn in_slice(&self) -> bool {
        self.pane == Pane::Slice
    }

    /// Whether there is a cut that can be moved.
    #[must_use]
    pub fn has_cut(&self) -> bool {
        self.in_slice() || super::panes::repair::has_candidate(self) || self.has_difference()
    }

    /// Whether the slice can go from the block to all of the file, or the map to all layers.
    #[must_use]
    pub fn can_widen(&self) -> bool {
        super::panes::diff::can_widen(self)
            || self.in_slice()
                && self.opened_item().is_some_and(|opened| matches!(opened.store, Store::Region(..) | Store::Layer(..)))
    }

    /// Whether there is a legend of flags.
    #[must_use]
    pub fn can_toggle(&self) -> bool {
        self.in_slice() && self.opened_item().is_some_and(|opened| opened.grid().is_some())
    }

    /// Whether the pane has a scale.
    #[must_use]
    pub fn can_zoom(&self) -> bool {
        matches!(self.pane, Pane::Sectors | Pane::Slice | Pane::Depth | Pane::Diff)
    }

    /// Whether bytes are shown.
    #[must_use]
    pub fn in_hex(&self) -> bool {
        self.pane == Pane::Hex
    }

    /// How many rows the table of blocks has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.panes.blocks.rows()
    }

    /// Goes to another pane, remembering this place.
    pub fn show(&mut self, pane: Pane) {
        if pane == Pane::Depth && !self.has_depth() {
            self.say("There is no depth map here: only layers of maps have one.".into());
            return;
        }
        if pane == Pane::Diff && !self.has_other() {
            self.say("There is one save only: voxscope A --against B compares two.".into());
            return;
        }
        if self.pane != pane || self.focus != Focus::Pane {
            self.remember();
        }
        if self.pane == Pane::Diff && pane != Pane::Diff {
            super::panes::diff::left(self);
        }
        self.pane = pane;
        self.focus = Focus::Pane;
    }

    /// Remembers this place for the way back.
    pub fn remember(&mut self) {
        let place = super::history::Place { selection: self.selection.clone(), pane: self.pane };
        self.history.push(place);
    }

    /// The files below the selected line, as their numbers.
    #[must_use]
    pub fn selected_items(&self) -> std::ops::Range<ItemId> {
        let node = self.index.as_ref().and_then(|index| index.nodes.get(self.selection.node));
        node.map_or(0..0, |node| node.items.clone())
    }

    /// The kind of the selected line.
    #[must_use]
    pub fn selected_kind(&self) -> Option<NodeKind> {
        Some(self.index.as_ref()?.nodes.get(self.selection.node)?.kind)
    }

    /// Does an action that a key, a click or the palette asked for.
    pub fn act(&mut self, action: Action) {
        super::update::act(self, action);
    }
}
