//! What can be done now: the conditions of the table of actions.

use super::pane::Pane;
use super::popup::Popup;
use super::{App, Focus, panes};

impl App {
    /// Whether the focus can go between tree and pane.
    #[must_use]
    pub fn can_change_focus(&self) -> bool {
        self.index.is_some()
    }

    /// Whether the world is shown.
    #[must_use]
    pub fn in_world(&self) -> bool {
        self.pane == Pane::World && panes::world::is_ready(self)
    }

    /// Whether there is a place to go to by typing it.
    #[must_use]
    pub fn can_go_to(&self) -> bool {
        self.opened_item().is_some() || self.has_difference() || panes::world::is_ready(self)
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
        self.selection.finding.is_some() || panes::findings::is_at_heading(self)
    }

    /// Whether there is something to filter.
    #[must_use]
    pub fn can_filter(&self) -> bool {
        self.popup_can_search()
            || self.index.is_some()
                && (self.focus == Focus::Tree || matches!(self.pane, Pane::Blocks | Pane::Findings | Pane::Hex))
    }

    /// Whether the popup can be searched.
    #[must_use]
    pub const fn popup_can_search(&self) -> bool {
        matches!(self.popup, Some(Popup::Help { .. }))
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
        self.is_checking() || panes::repair::is_planning(self) || self.comparison.running
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
        panes::repair::can_accept(self)
    }

    /// Whether there is a cut that can be moved.
    #[must_use]
    pub fn has_cut(&self) -> bool {
        self.in_world()
    }

    /// Whether the cut can be moved.
    #[must_use]
    pub fn can_move_cut(&self) -> bool {
        self.in_world() && panes::world::is_cut(self)
    }

    /// Whether the pane has a scale.
    #[must_use]
    pub fn can_zoom(&self) -> bool {
        self.pane == Pane::World || self.pane == Pane::Sectors && !self.selects_directory()
    }

    /// Whether bytes are shown.
    #[must_use]
    pub fn in_hex(&self) -> bool {
        self.pane == Pane::Hex
    }

    /// Whether an unowned block is shown in a place that it may belong to.
    #[must_use]
    pub fn has_candidate(&self) -> bool {
        panes::repair::has_candidate(self)
    }

    /// Whether the line of the repair under the cursor can be shown closer.
    #[must_use]
    pub fn can_show_candidate(&self) -> bool {
        panes::repair::can_look(self)
    }
}
