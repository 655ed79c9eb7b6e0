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
}

impl Pane {
    /// All panes, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::Sectors,
        Self::Blocks,
        Self::Slice,
        Self::Channels,
        Self::Meta,
        Self::Hex,
        Self::Findings,
        Self::Depth,
        Self::Repair,
    ];

    /// Its number, from 1.
    #[must_use]
    pub fn number(self) -> usize {
        Self::ALL.iter().position(|pane| *pane == self).map_or(0, |at| at + 1)
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
        }
    }
}
