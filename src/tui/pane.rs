//! The panes that the middle of the screen can show.

/// A pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pane {
    /// Who owns which part of the file.
    Sectors,
    /// The table of blocks.
    Blocks,
    /// A cut through the voxels.
    Slice,
    /// The channels of a block, or the arrays of a layer.
    Channels,
    /// Metadata.
    Meta,
    /// Bytes.
    Hex,
    /// What is wrong.
    Findings,
    /// The depth map of a layer.
    Depth,
    /// What a repair would do.
    Repair,
    /// What differs between two saves.
    Diff,
}

impl Pane {
    /// All panes, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Sectors,
        Self::Blocks,
        Self::Slice,
        Self::Channels,
        Self::Meta,
        Self::Hex,
        Self::Findings,
        Self::Depth,
        Self::Repair,
        Self::Diff,
    ];

    /// Its number, which is its key: from 1, and 0 for the tenth.
    #[must_use]
    pub fn number(self) -> usize {
        Self::ALL.iter().position(|pane| *pane == self).map_or(0, |at| (at + 1) % 10)
    }

    /// Its title.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Sectors => "Sectors",
            Self::Blocks => "Blocks",
            Self::Slice => "Slice",
            Self::Channels => "Channels",
            Self::Meta => "Meta",
            Self::Hex => "Hex",
            Self::Findings => "Findings",
            Self::Depth => "Depth",
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
