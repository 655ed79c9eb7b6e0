//! The panes that the middle of the screen can show.

use super::theme::Role;

/// Lines of the inspector: a label, a text, and how it looks; without a label the text is a sentence.
pub type InspectorLines = Vec<(&'static str, String, Role)>;

/// A pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pane {
    /// The world as one picture.
    World,
    /// Who owns which part of the file.
    Sectors,
    /// The table of blocks.
    Blocks,
    /// The channels of a block, or the arrays of a layer.
    Channels,
    /// Metadata.
    Meta,
    /// Bytes.
    Hex,
    /// What is wrong.
    Findings,
    /// What a repair would do.
    Repair,
    /// What differs between two saves.
    Diff,
}

impl Pane {
    /// All panes, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::World,
        Self::Blocks,
        Self::Sectors,
        Self::Channels,
        Self::Meta,
        Self::Hex,
        Self::Findings,
        Self::Repair,
        Self::Diff,
    ];

    /// Its number, which is its key, from 1.
    #[must_use]
    pub fn number(self) -> usize {
        Self::ALL.iter().position(|pane| *pane == self).map_or(0, |at| at + 1)
    }

    /// Its title.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::World => "World",
            Self::Sectors => "Sectors",
            Self::Blocks => "Blocks",
            Self::Channels => "Channels",
            Self::Meta => "Meta",
            Self::Hex => "Hex",
            Self::Findings => "Findings",
            Self::Repair => "Repair",
            Self::Diff => "Diff",
        }
    }

    /// A shorter one, for tabs that have little room.
    #[must_use]
    pub const fn short_title(self) -> &'static str {
        match self {
            Self::Sectors => "Sect",
            Self::Channels => "Chan",
            Self::Findings => "Find",
            Self::Repair => "Rep",
            other => other.title(),
        }
    }
}
