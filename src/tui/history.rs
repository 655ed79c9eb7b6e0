//! Locations that were visited, and the way back.

use super::Selection;
use super::data::NodeId;
use super::pane::Pane;

/// Places that are remembered.
const MAX_LOCATIONS: usize = 200;

/// A place: what was selected, and how it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// What was selected.
    pub selection: Selection,
    /// The pane.
    pub pane: Pane,
}

/// The places before and after this one.
#[derive(Debug, Default)]
pub struct History {
    back: Vec<Location>,
    forward: Vec<Location>,
}

impl History {
    /// Remembers a place that is being left.
    pub fn push(&mut self, place: Location) {
        self.forward.clear();
        if self.back.last() != Some(&place) {
            self.back.push(place);
        }
        if self.back.len() > MAX_LOCATIONS {
            self.back.remove(0);
        }
    }

    /// Whether there is a place before.
    #[must_use]
    pub const fn has_back(&self) -> bool {
        !self.back.is_empty()
    }

    /// Whether there is a place after.
    #[must_use]
    pub const fn has_forward(&self) -> bool {
        !self.forward.is_empty()
    }

    /// The place before; `here` becomes the one after it.
    pub fn back(&mut self, here: Location) -> Option<Location> {
        let place = self.back.pop()?;
        self.forward.push(here);
        Some(place)
    }

    /// The place after; `here` becomes the one before it.
    pub fn forward(&mut self, here: Location) -> Option<Location> {
        let place = self.forward.pop()?;
        self.back.push(here);
        Some(place)
    }

    /// Maps the lines of the tree to those of the save as it was read again.
    pub fn map(&mut self, node: impl Fn(NodeId) -> NodeId) {
        for place in self.back.iter_mut().chain(&mut self.forward) {
            place.selection.node = node(place.selection.node);
            place.selection.item = None;
            place.selection.finding = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(node: NodeId) -> Location {
        Location { selection: Selection { node, ..Selection::default() }, pane: Pane::Hex }
    }

    #[test]
    fn back_and_forward_are_each_others_way_back() {
        let mut history = History::default();
        history.push(place(1));
        history.push(place(2));
        assert_eq!(history.back(place(3)), Some(place(2)));
        assert_eq!(history.back(place(2)), Some(place(1)));
        assert_eq!(history.back(place(1)), None);
        assert_eq!(history.forward(place(1)), Some(place(2)));
        assert_eq!(history.forward(place(2)), Some(place(3)));
        assert!(!history.has_forward());
        history.back(place(3));
        history.push(place(9));
        assert!(!history.has_forward(), "another way was taken");
    }

    #[test]
    fn places_are_not_remembered_for_ever() {
        let mut history = History::default();
        (0..1000).for_each(|node| history.push(place(node)));
        assert_eq!(history.back.len(), MAX_LOCATIONS);
    }
}
