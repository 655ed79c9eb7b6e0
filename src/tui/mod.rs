//! The explorer: a terminal UI over a save.
//!
//! State, update, view, in that order: [`update::update`] lets an event change the [state](App) and asks for jobs,
//! [`draw::draw`] draws it; neither knows a terminal. One [table of actions](action::ACTIONS) makes keys, help, hints and
//! palette. What is read is read by [jobs], off the screen's thread. One [selection](Selection) links all panes.
//!
//! Takes events of the terminal; gives screens. Only its modules `run` and `terminal` know a real terminal.

mod able;
pub mod action;
mod canvas;
mod check;
pub mod compare;
pub mod config;
pub mod data;
pub mod draw;
pub mod driver;
#[cfg(debug_assertions)]
mod fault;
pub mod findings;
mod go;
pub mod graphics;
pub mod history;
#[cfg(unix)]
mod input;
mod inspector;
pub mod jobs;
pub mod keys;
pub mod layout;
mod numbers;
mod overlay;
pub mod pane;
mod panes;
pub mod popup;
pub mod prompt;
mod query;
mod run;
mod scroll;
mod selection;
mod sequences;
mod shorten;
mod terminal;
pub mod theme;
pub mod update;
pub mod verdict;
mod watch;
mod wrap;

pub use compare::CompareWith;
pub use driver::Driver;
pub use run::{End, Error, run};
pub use selection::{Bytes, Selection};

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::picture::Part;
use crate::picture::palette::Palette;
use crate::recover::effort::Effort;
use crate::recover::slots::{Purpose, by_old_formula};
use crate::save::{Options, Save};
use action::{Action, Keymap};
use compare::Comparison;
use data::{BlockData, Counts, Index, ItemId, Loaded, Opened};
use findings::Findings;
use history::History;
use jobs::{Job, JobKind, Worker, run_in_own_pool};
use layout::{ScreenAreas, Size};
use pane::Pane;
use panes::Panes;
use popup::Popup;
use prompt::Prompt;
use ratatui::layout::Rect;
use theme::{ColorMode, Glyphs, Theme};

/// What the program is started with.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Makes what is to be opened, where that has to be made first; in the background, and once.
    pub prepare: Option<fn(&Path) -> std::io::Result<()>>,
    /// What to open.
    pub path: PathBuf,
    /// How.
    pub options: Options,
    /// How much work to spend on places that are hard to decide.
    pub effort: Effort,
    /// Colours.
    pub theme: Theme,
    /// Whether the terminal is asked for its background, which then chooses between dark and light.
    pub detect_background: bool,
    /// Letters only.
    pub ascii: bool,
    /// Whether the mouse is left to the terminal.
    pub no_mouse: bool,
    /// The keys.
    pub keymap: Keymap,
    /// The colours that the terminal has.
    pub colors: ColorMode,
    /// Names and colours of voxels.
    pub names: Palette,
    /// What to say of worlds, by their directories below the save.
    pub notes: Vec<(PathBuf, &'static str)>,
    /// A sentence to begin with.
    pub greeting: Option<String>,
    /// What to compare it with.
    pub against: Option<CompareWith>,
}

/// What the areas of the screen follow from: its size, the focus, the pane, and the rows of the verdict.
type AreasBy = (Size, Focus, Pane, u16);

/// The part of the screen that has the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Focus {
    /// The tree.
    Tree,
    /// The pane in the middle.
    Pane,
}

/// A request to the terminal or to the runner of jobs.
pub enum Effect {
    /// Do this in the background.
    Job(Job),
    /// Stop what is done in the background of this kind.
    Cancel(JobKind),
    /// Put this on the clipboard.
    Copy(String),
    /// Redraw the whole screen.
    Redraw,
    /// Stop until the shell resumes the program.
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
    /// Why the save could not be read again, for example because it was deleted: what is shown was read before that.
    pub outdated: Option<String>,
    /// How often the save was read; what was read before belongs to the past.
    pub generation: u64,
    /// The last areas of the screen, with what they follow from: every key asks for them, and solving the constraints takes long.
    areas: Cell<Option<(AreasBy, ScreenAreas)>>,
    /// The selection that all panes share.
    pub selection: Selection,
    /// The part of the screen that has the keys.
    pub focus: Focus,
    /// The pane in the middle.
    pub pane: Pane,
    /// The file that is open.
    pub item: Loaded<ItemKey, Opened>,
    /// The block that is looked at.
    pub block: Loaded<(ItemKey, u32), BlockData>,
    /// The counts of the flags of the layer.
    pub counts: Counts,
    /// What is wrong, as far as it is known.
    pub findings: Findings,
    /// The save that is compared with, and what differs.
    pub comparison: Comparison,
    /// The states of the panes.
    pub panes: Panes,
    /// A line that is being typed.
    pub prompt: Option<Prompt>,
    /// Lines that were typed before.
    pub prompt_history: prompt::History,
    /// The popup that is open.
    pub popup: Option<Popup>,
    /// The message in the bottom line.
    pub message: Option<String>,
    /// The file whose first block was selected when it was opened.
    first_selected: Option<ItemKey>,
    /// The target that is selected once its file is open.
    pub pending_target: Option<go::PendingTarget>,
    /// The place on the picture of the world that is shown once its tables are there.
    pub world_target: Option<go::WorldTarget>,
    /// The locations before and after this one.
    pub history: History,
    /// The size of the terminal.
    pub size: Size,
    /// How the terminal draws pixels, where it does.
    pub graphics: Option<graphics::Graphics>,
    /// Requests to the terminal and to the runner of jobs.
    pub effects: Vec<Effect>,
}

impl App {
    /// The last key of an action, as hints name it; `None` if it has none.
    #[must_use]
    pub fn key_name(&self, action: Action) -> Option<String> {
        self.settings.keymap.keys(action).last().map(|key| keys::short(*key, self.glyphs.ascii))
    }

    /// The state at the start. Asks for the save to be opened.
    #[must_use]
    pub fn new(settings: Settings, size: Size) -> Self {
        let glyphs = if settings.ascii { Glyphs::ASCII } else { Glyphs::UNICODE };
        let message = settings.greeting.clone();
        let pane = if settings.against.is_some() { Pane::Diff } else { Pane::World };
        let mut app = Self {
            settings,
            glyphs,
            index: None,
            failure: None,
            outdated: None,
            generation: 0,
            selection: Selection::default(),
            focus: Focus::Pane,
            pane,
            item: Loaded::default(),
            block: Loaded::default(),
            counts: Counts::default(),
            findings: Findings::default(),
            comparison: Comparison::default(),
            panes: Panes::default(),
            prompt: None,
            prompt_history: prompt::History::default(),
            popup: None,
            message,
            first_selected: None,
            pending_target: None,
            world_target: None,
            history: History::default(),
            size,
            graphics: None,
            areas: Cell::new(None),
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
            JobKind::Save,
            move |worker| {
                let prepared = prepare.map_or(Ok(()), |prepare| prepare(&path).map_err(|error| error.to_string()));
                let index = prepared.and_then(|()| match Save::open(&path, &options) {
                    Err(crate::save::Error::NotASave(_) | crate::save::Error::ForeignDatabase { .. }) => {
                        Index::of_bytes(&path, &options)
                    }
                    opened => opened.map(Index::new).map_err(|error| error.to_string()),
                });
                let first = index.as_ref().ok().map(|index| Arc::clone(&index.save));
                worker.answer(move |app| app.opened(index));
                if let Some(save) = first {
                    // In the threads that all jobs share, the tables of the first picture would wait for it.
                    run_in_own_pool(|| open_as_placed(&save, worker));
                }
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
                (self.failure, self.outdated) = (None, None);
                let item = self.selected_item();
                match self.index.replace(Arc::clone(&index)) {
                    Some(old) => {
                        self.keep_selection(&old, &index, item);
                        self.history.map(|node| old.same_node(&index, node));
                        self.panes.tree.reopen(&old, &index);
                    }
                    None => {
                        self.panes.tree.open_all(&index);
                        // A save of one file needs no choosing.
                        if let (1, Some(node)) = (index.items.len(), index.node_of(0)) {
                            self.selection.node = node;
                        }
                    }
                }
                self.selection.finding = None;
                if index.is_save() {
                    check::start(self);
                } else {
                    (self.pane, self.focus) = (Pane::Hex, Focus::Pane);
                    let message = match index.bare.is_empty() {
                        true => "This file is not recognized; the inspector lists what was tried.",
                        false => "This file is bare data; the inspector says what was read.",
                    };
                    self.show_message(message.into());
                }
            }
            Err(why) if self.index.is_none() => self.failure = Some(why),
            Err(why) => {
                self.message = None;
                self.outdated = Some(why);
            }
        }
    }

    /// Keeps the selection when the save is read again; `item` is the selected file.
    fn keep_selection(&mut self, old: &Index, new: &Index, item: Option<ItemId>) {
        let node = old.same_node(new, self.selection.node);
        let same = item.and_then(|item| new.item_of(old.same_node(new, old.node_of(item)?)));
        if item.is_some() && same.is_none() {
            // The file is gone: its block is in no other one.
            self.selection = Selection { node, ..Selection::default() };
            return;
        }
        self.selection.node = node;
        self.selection.item = same.filter(|_| self.selects_directory());
    }

    /// Shows a message in the bottom line.
    pub fn show_message(&mut self, sentence: String) {
        self.message = Some(sentence);
    }

    /// Asks for something to be done in the background.
    pub fn job(
        &mut self,
        kind: JobKind,
        work: impl FnOnce(&Worker<'_>) + Send + 'static,
        failed: fn(&mut Self, String),
    ) {
        self.effects.push(Effect::Job(Job { kind, work: Box::new(work), failed }));
    }

    /// Asks for the selected file, if it is not there or on its way.
    pub fn request_item(&mut self) {
        let (Some(key), Some(index)) = (self.item_key(), self.index.clone()) else { return };
        if !self.item.request(&key) {
            return;
        }
        self.job(
            JobKind::Item,
            move |worker| {
                let opened = Opened::open(&index, key.1);
                worker.answer(move |app| app.item.store(key, opened));
            },
            |app, why| app.item.fail(why),
        );
    }

    /// Asks for the selected block, if it is not there or on its way.
    pub fn request_block(&mut self) {
        let (Some(key), Some(opened)) = (self.block_key(), self.opened_item().cloned()) else { return };
        if !self.block.request(&key) {
            return;
        }
        self.job(
            JobKind::Block,
            move |worker| {
                let block = BlockData::read(&opened, key.1);
                worker.answer(move |app| app.block.store(key, block));
            },
            |app, why| app.block.fail(why),
        );
    }

    /// The areas of the screen.
    #[must_use]
    pub fn layout(&self) -> ScreenAreas {
        let by = (self.size, self.focus, self.pane, verdict::rows(self));
        match self.areas.get() {
            Some((last, areas)) if last == by => areas,
            _ => {
                let areas = ScreenAreas::new(by.0, by.1, by.2, by.3);
                self.areas.set(Some((by, areas)));
                areas
            }
        }
    }

    /// How many rows the table of blocks has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.panes.blocks.rows()
    }

    /// Goes to another pane, remembering this place.
    pub fn show(&mut self, pane: Pane) {
        if pane == Pane::Diff && !self.has_other() {
            self.show_message("There is one save only: voxscope A --against B compares two.".into());
            return;
        }
        if self.pane != pane || self.focus != Focus::Pane {
            self.remember();
        }
        if self.pane == Pane::Diff && pane != Pane::Diff {
            panes::diff::left(self);
        }
        self.panes.findings.selected_elsewhere |= pane != Pane::Findings;
        self.pane = pane;
        self.focus = Focus::Pane;
    }

    /// Remembers this place for the way back.
    pub fn remember(&mut self) {
        let place = history::Location { selection: self.selection.clone(), pane: self.pane };
        self.history.push(place);
    }

    /// Does an action that a key, a click or the palette asked for.
    pub fn act(&mut self, action: Action) {
        update::act(self, action);
    }

    /// The area inside the frame of the pane.
    #[must_use]
    pub fn pane_inside(&self) -> Rect {
        layout::inside(self.layout().pane)
    }

    /// Forgets the picture in pixels, since the terminal forgets it where the screen is cleared.
    fn redraw_pixels(&mut self) {
        #[cfg(feature = "graphics")]
        self.panes.world.forget_pixels();
    }

    /// Says that the world on the screen is read by the old slot formula, if the borders of its blocks show it. The tour has its own
    /// sentences.
    fn announce_old_formula(&mut self) {
        let Some(index) = self.index.as_ref().filter(|_| self.settings.notes.is_empty()) else { return };
        let part = self.panes.world.part().or_else(|| Part::first(&index.save));
        let Some(Part::Forest(number)) = part else { return };
        let Some(forest) = index.save.forests.get(number) else { return };
        // A single save is read again only if the borders of its blocks show the old formula.
        let name = match index.has_several_saves() {
            true if forest.inferred_slots.is_none() => return,
            true => index.save.shown(&forest.dir),
            false => "The save".to_owned(),
        };
        self.show_message(format!("{name} is read by the old slot formula, as the borders of its blocks show."));
    }

    /// Goes to a block on the map of what differs.
    ///
    /// # Errors
    /// A sentence, when it is outside of both saves.
    pub fn go_to_difference(&mut self, position: [i32; 3]) -> Result<(), String> {
        panes::diff::to_block(self, position)
    }
}

/// Reads the save again by the slot formula that the borders of its blocks show, where that is the old one.
fn open_as_placed(save: &Arc<Save>, worker: &Worker<'_>) {
    let placed = by_old_formula(save, Purpose::Reading, &|| worker.is_cancelled());
    let Ok(Some(placed)) = placed else { return };
    let index = Index::read_as(placed, Arc::clone(save));
    worker.answer(move |app| {
        app.opened(Ok(index));
        app.announce_old_formula();
    });
}
