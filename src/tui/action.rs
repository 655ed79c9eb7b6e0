//! Everything that can be done, in one table: keys, help, hints, the command palette and the README are made from it.

use std::collections::HashMap;

use super::keys::Key;
use super::pane::Pane;
use super::{App, Focus};

/// Something that can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the table below says what each does")]
pub enum Action {
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    First,
    Last,
    Enter,
    Close,
    NextFocus,
    PreviousFocus,
    Pane(Pane),
    NextPane,
    PreviousPane,
    NextFinding,
    PreviousFinding,
    Explain,
    GoBack,
    GoForward,
    GoTo,
    Filter,
    Sort,
    Reverse,
    Export,
    Copy,
    ZoomIn,
    ZoomOut,
    PanLeft,
    PanRight,
    PanUp,
    PanDown,
    NextLook,
    HealthMarks,
    AxisX,
    AxisY,
    AxisZ,
    CutDown,
    CutUp,
    NextChange,
    PreviousChange,
    NextLod,
    NextChannel,
    LegendUp,
    LegendDown,
    Toggle,
    Bytes,
    Certainty,
    /// From the preview of a file to that of the whole save, and back.
    WholeSave,
    Accept,
    Commands,
    Help,
    Check,
    Cancel,
    Reload,
    Theme,
    Ascii,
    Redraw,
    Suspend,
    Quit,
}

/// The section of the help that lists an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// Moving the cursor.
    Move,
    /// Where to look.
    Look,
    /// Tables and findings.
    Tables,
    /// The picture of the world.
    Slice,
    /// Everything else.
    Program,
}

impl Group {
    /// All groups with their headings.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Move, "Move"),
        (Self::Look, "Look"),
        (Self::Tables, "Tables and findings"),
        (Self::Slice, "Pictures"),
        (Self::Program, "Program"),
    ];
}

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The action.
    pub action: Action,
    /// Its name in the palette and in the configuration.
    pub name: &'static str,
    /// Its keys.
    pub keys: &'static [&'static str],
    /// A word or two for the hint line.
    pub hint: &'static str,
    /// What it does.
    pub help: &'static str,
    /// Its section of the help.
    pub group: Group,
    /// Whether it does something now.
    pub works: fn(&App) -> bool,
}

const fn always(_: &App) -> bool {
    true
}

macro_rules! actions {
    ($($group:ident: $action:expr, $name:literal, [$($key:literal),*], $hint:literal, $help:literal, $works:expr;)*) => {
        /// Every action.
        pub const ACTIONS: &[Spec] = &[$(Spec {
            action: $action,
            name: $name,
            keys: &[$($key),*],
            hint: $hint,
            help: $help,
            group: Group::$group,
            works: $works,
        }),*];
    };
}

actions! {
    Move: Action::Up, "up", ["up", "k"], "up", "Cursor up", always;
    Move: Action::Down, "down", ["down", "j"], "down", "Cursor down", always;
    Move: Action::Left, "left", ["left", "h"], "left", "Cursor left; closes a branch of the tree", always;
    Move: Action::Right, "right", ["right", "l"], "right", "Cursor right; opens a branch of the tree", always;
    Move: Action::PageUp, "page-up", ["pageup", "ctrl-u"], "page up", "A page up", always;
    Move: Action::PageDown, "page-down", ["pagedown", "ctrl-d"], "page down", "A page down", always;
    Move: Action::First, "first", ["home", "g"], "first", "To the beginning", always;
    Move: Action::Last, "last", ["end", "G"], "last", "To the end", always;
    Look: Action::Enter, "enter", ["enter"], "look", "Looks closer at what is under the cursor", always;
    Look: Action::Close, "close", ["esc"], "close", "One step back: closes a popup, clears a filter, leaves a closer look, goes back, then to the tree", always;
    Look: Action::NextFocus, "next-focus", ["tab"], "tree", "From the tree to the pane and back", App::can_change_focus;
    Look: Action::PreviousFocus, "previous-focus", ["backtab"], "tree", "From the pane to the tree and back", App::can_change_focus;
    Look: Action::Pane(Pane::World), "world", ["1"], "world", "The world as one picture", always;
    Look: Action::Pane(Pane::Blocks), "blocks", ["2"], "blocks", "The table of blocks", always;
    Look: Action::Pane(Pane::Sectors), "sectors", ["3"], "sectors", "The sector map: who owns which part of the file", always;
    Look: Action::Pane(Pane::Channels), "channels", ["4"], "channels", "The channels of a block, or the arrays of a map", always;
    Look: Action::Pane(Pane::Meta), "metadata", ["5"], "metadata", "The metadata of a block and of its voxels", always;
    Look: Action::Pane(Pane::Hex), "hex", ["6"], "hex", "The bytes, with the field under the cursor", always;
    Look: Action::Pane(Pane::Findings), "findings", ["7"], "findings", "What is wrong", always;
    Look: Action::Pane(Pane::Repair), "repair", ["8", "p"], "preview repair", "What a repair would do; nothing is written", App::can_preview;
    Look: Action::Pane(Pane::Diff), "diff", ["9"], "diff", "What differs between the two saves, with voxscope A --against B", App::has_other;
    Look: Action::NextPane, "next-pane", ["L"], "next pane", "The next pane", always;
    Look: Action::PreviousPane, "previous-pane", ["H"], "previous pane", "The pane before", always;
    Look: Action::GoTo, "go-to", ["@", "ctrl-g"], "go to", "Goes to a place: 0x1f40, s12, b3, x,y,z, end-16", App::can_go_to;
    Look: Action::GoBack, "back", ["backspace", "alt-left"], "back", "Back to where you were before", App::can_go_back;
    Look: Action::GoForward, "forward", ["alt-right", "\\"], "forward", "Forward again", App::can_go_forward;
    Tables: Action::NextFinding, "next-finding", ["n"], "next finding", "Goes to the next finding and shows its place", App::has_findings;
    Tables: Action::PreviousFinding, "previous-finding", ["N"], "previous finding", "Goes to the finding before", App::has_findings;
    Tables: Action::NextChange, "next-change", ["."], "next change", "Of two saves: goes to the next block that differs; of a block that is tried, to its next place", App::can_step;
    Tables: Action::PreviousChange, "previous-change", [","], "change before", "Goes to the block before that differs, or to the place before", App::can_step;
    Tables: Action::Explain, "explain", ["e"], "explain", "A detailed explanation of the finding, and what to do", App::can_explain;
    Tables: Action::Filter, "filter", ["/"], "filter", "Filters the tree, blocks (lod=0 bytes>4096 state!=ok) or findings; searches bytes and this help", App::can_filter;
    Tables: Action::Sort, "sort", ["s"], "sort", "Sorts the table by its next column", App::in_blocks;
    Tables: Action::Reverse, "reverse", ["S"], "reverse", "Sorts the other way round", App::in_blocks;
    Tables: Action::Export, "export", ["w"], "write rows", "Writes the rows that are shown to a new file, as CSV or JSON lines", App::can_export;
    Tables: Action::Check, "check", ["C"], "check again", "Checks the whole save again", App::can_check;
    Tables: Action::Cancel, "cancel", ["ctrl-c"], "stop", "Stops the check, the preview or the comparison; a second time, leaves the program", App::is_busy;
    Slice: Action::AxisX, "axis-x", ["x"], "cut x", "Cuts along x", App::has_cut;
    Slice: Action::AxisY, "axis-y", ["y"], "cut y", "Cuts along y", App::has_cut;
    Slice: Action::AxisZ, "axis-z", ["z"], "cut z", "Cuts along z", App::has_cut;
    Slice: Action::CutDown, "cut-down", ["["], "cut -", "The cut before", App::can_move_cut;
    Slice: Action::CutUp, "cut-up", ["]"], "cut +", "The next cut", App::can_move_cut;
    Slice: Action::NextLod, "next-lod", ["d"], "LOD", "Of two saves: the changes of the next LOD", App::has_difference;
    Slice: Action::NextChannel, "next-channel", ["c"], "channel", "The next channel", App::has_cut;
    Slice: Action::LegendUp, "legend-up", ["{", "<"], "legend -", "Lets the line of the legend before stand out", App::in_world;
    Slice: Action::LegendDown, "legend-down", ["}", ">"], "legend +", "Lets the next line of the legend stand out: only what it means keeps its colour", App::in_world;
    Slice: Action::Toggle, "toggle", ["space"], "A or B", "Of two saves: shows what differs, the second one, or the first one", App::can_switch;
    Slice: Action::ZoomIn, "zoom-in", ["+", "="], "nearer", "Nearer: fewer sectors or voxels a cell", App::can_zoom;
    Slice: Action::ZoomOut, "zoom-out", ["-"], "farther", "Farther: more sectors or voxels a cell", App::can_zoom;
    Slice: Action::PanLeft, "pan-left", ["shift-left"], "pan", "Moves the picture of the world, with the cursor staying", App::in_world;
    Slice: Action::PanRight, "pan-right", ["shift-right"], "pan", "The same to the right", App::in_world;
    Slice: Action::PanUp, "pan-up", ["shift-up"], "pan", "The same upward", App::in_world;
    Slice: Action::PanDown, "pan-down", ["shift-down"], "pan", "The same downward", App::in_world;
    Slice: Action::NextLook, "next-look", ["v"], "look", "The next look of the world: surface, cut, height, depth, health, coverage, size, difference, repair", App::in_world;
    Slice: Action::HealthMarks, "health-marks", ["!"], "health", "Marks the blocks with findings on the picture of the world, or not", App::in_world;
    Slice: Action::Bytes, "bytes", ["b"], "file/block", "From the bytes of the file to those of the decompressed block, and back", App::in_hex;
    Tables: Action::Certainty, "certainty", ["t"], "certain/likely", "In the preview of a repair: only what is certain, or what is likely too", App::in_repair;
    Tables: Action::WholeSave, "whole-save", ["a"], "whole save", "In the preview of a repair: from the file to the whole save, and back", crate::tui::panes::repair::can_turn;
    Tables: Action::Accept, "accept", ["o"], "accept", "Accepts this place for the block: the command of the repair gets an argument", App::can_accept;
    Program: Action::Commands, "commands", [":"], "commands", "Everything that can be done now, by name", always;
    Program: Action::Help, "help", ["?", "f1"], "help", "All keys and marks", always;
    Program: Action::Copy, "copy", ["Y", "ctrl-y"], "copy", "Copies what is selected to the terminal's clipboard", always;
    Program: Action::Reload, "reload", ["R", "f5"], "reload", "Reads everything again and keeps the place", always;
    Program: Action::Theme, "theme", ["T"], "theme", "The next set of colours", always;
    Program: Action::Ascii, "ascii", ["A"], "ascii", "Letters only, or lines and shapes too", always;
    Program: Action::Redraw, "redraw", ["ctrl-l"], "redraw", "Draws the whole screen anew", always;
    Program: Action::Suspend, "suspend", ["ctrl-z"], "suspend", "Back to the shell; `fg` returns", always;
    Program: Action::Quit, "quit", ["q"], "quit", "Leaves the program", always;
}

impl Action {
    /// Where it moves a cursor over a picture, in cells to the right and down; `page` is what a page has.
    #[must_use]
    pub const fn over_cells(self, page: i64) -> Option<[i64; 2]> {
        match self {
            Self::Left => Some([-1, 0]),
            Self::Right => Some([1, 0]),
            Self::Up => Some([0, -1]),
            Self::Down => Some([0, 1]),
            Self::PageUp => Some([0, -page]),
            Self::PageDown => Some([0, page]),
            _ => None,
        }
    }

    /// The line to which it moves a cursor over lines, of which `last` is the last one; `None` where it moves none.
    #[must_use]
    pub fn over_lines(self, at: usize, last: usize, page: usize) -> Option<usize> {
        let to = match self {
            Self::Up => at.saturating_sub(1),
            Self::Down => at.saturating_add(1),
            Self::PageUp => at.saturating_sub(page),
            Self::PageDown => at.saturating_add(page),
            Self::First => 0,
            Self::Last => last,
            _ => return None,
        };
        Some(to.min(last))
    }

    /// Its line in the table.
    #[must_use]
    pub fn spec(self) -> Option<&'static Spec> {
        ACTIONS.iter().find(|spec| spec.action == self)
    }

    /// The action of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        ACTIONS.iter().find(|spec| spec.name == name).map(|spec| spec.action)
    }
}

/// Which key means what.
#[derive(Clone, Debug)]
pub struct Keymap {
    by_key: HashMap<Key, Action>,
    by_action: HashMap<Action, Vec<Key>>,
}

impl Default for Keymap {
    fn default() -> Self {
        let mut map = Self { by_key: HashMap::new(), by_action: HashMap::new() };
        for spec in ACTIONS {
            map.bind(spec.action, spec.keys.iter().filter_map(|key| Key::parse(key).ok()).collect());
        }
        map
    }
}

impl Keymap {
    /// Binds an action to these keys alone; other actions lose them.
    pub fn bind(&mut self, action: Action, keys: Vec<Key>) {
        for key in self.by_action.remove(&action).unwrap_or_default() {
            self.by_key.remove(&key);
        }
        for key in &keys {
            if let Some(before) = self.by_key.insert(*key, action)
                && let Some(others) = self.by_action.get_mut(&before)
            {
                others.retain(|other| other != key);
            }
        }
        self.by_action.insert(action, keys);
    }

    /// What a key means.
    #[must_use]
    pub fn action(&self, key: Key) -> Option<Action> {
        self.by_key.get(&key).copied()
    }

    /// The keys of an action, the one to show first.
    #[must_use]
    pub fn keys(&self, action: Action) -> &[Key] {
        self.by_action.get(&action).map_or(&[], Vec::as_slice)
    }
}

/// What the hint line offers, the most useful first: actions that do something right now.
#[must_use]
pub fn hints(app: &App) -> Vec<&'static Spec> {
    use Action as A;
    if app.popup.is_some() {
        let specs = [A::Filter, A::Close, A::Quit].into_iter().filter(|a| *a != A::Filter || app.popup_can_search());
        return specs.filter_map(Action::spec).collect();
    }
    let by_pane: &[A] = match (app.focus, app.pane) {
        (Focus::Tree, _) => &[A::Enter, A::Right, A::Left, A::Filter, A::Close],
        (Focus::Pane, Pane::Sectors) => &[A::Enter, A::ZoomOut, A::ZoomIn],
        (Focus::Pane, Pane::Blocks) => &[A::Enter, A::Filter, A::Sort, A::Reverse, A::Export],
        (Focus::Pane, Pane::Channels) => &[A::Enter],
        (Focus::Pane, Pane::Meta) => &[A::Enter, A::Copy],
        (Focus::Pane, Pane::Hex) => &[A::Filter, A::GoTo, A::Bytes, A::Copy],
        (Focus::Pane, Pane::Findings) => &[A::Enter, A::Pane(Pane::Repair), A::Filter],
        (Focus::Pane, Pane::World) if app.has_candidate() => {
            &[A::Accept, A::Close, A::NextChange, A::CutUp, A::AxisX, A::AxisY, A::AxisZ, A::NextChannel]
        }
        (Focus::Pane, Pane::World) => &[
            A::ZoomIn,
            A::ZoomOut,
            A::NextLook,
            A::HealthMarks,
            A::CutUp,
            A::AxisY,
            A::Toggle,
            A::NextChange,
            A::Enter,
            A::NextChannel,
        ],
        (Focus::Pane, Pane::Repair) if app.can_show_candidate() => &[A::Enter, A::WholeSave, A::Certainty, A::Copy],
        (Focus::Pane, Pane::Repair) => &[A::WholeSave, A::Certainty, A::Copy],
        (Focus::Pane, Pane::Diff) => &[A::Enter, A::NextChange, A::NextLod],
    };
    let rest = [A::NextFinding, A::Explain, A::NextFocus, A::GoTo, A::GoBack, A::Cancel, A::Commands, A::Help, A::Quit];
    // What these panes have nothing for.
    let is_empty = || crate::tui::panes::copy(app).is_none();
    let idle: &[A] = match (app.focus, app.pane) {
        (Focus::Pane, Pane::Meta) if is_empty() => &[A::Enter, A::Copy],
        (Focus::Pane, Pane::Repair) if is_empty() => &[A::Copy],
        _ => &[],
    };
    let mut out: Vec<&'static Spec> = Vec::new();
    for action in by_pane.iter().copied().chain(rest) {
        if let Some(spec) = action.spec().filter(|spec| (spec.works)(app) && !idle.contains(&action))
            && !out.iter().any(|other| other.action == action)
        {
            out.push(spec);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things_and_every_key_can_be_read() {
        let mut seen = HashMap::new();
        for spec in ACTIONS {
            for key in spec.keys {
                let key = Key::parse(key).unwrap();
                assert_eq!(seen.insert(key, spec.name), None, "{key} of {}", spec.name);
            }
        }
    }

    #[test]
    fn every_action_has_a_key_a_name_of_its_own_and_a_sentence() {
        for spec in ACTIONS {
            assert!(!spec.keys.is_empty(), "{}", spec.name);
            assert!(spec.help.starts_with(char::is_uppercase) && !spec.help.ends_with('.'), "{}", spec.help);
            assert_eq!(ACTIONS.iter().filter(|other| other.name == spec.name).count(), 1, "{}", spec.name);
            assert_eq!(Action::from_name(spec.name), Some(spec.action));
        }
    }

    #[test]
    fn a_key_that_is_bound_anew_is_taken_from_what_it_meant() {
        let mut map = Keymap::default();
        let q = Key::parse("q").unwrap();
        map.bind(Action::Reload, vec![q]);
        assert_eq!(map.action(q), Some(Action::Reload));
        assert!(map.keys(Action::Quit).is_empty());
        assert_eq!(map.action(Key::parse("R").unwrap()), None);
    }
}
