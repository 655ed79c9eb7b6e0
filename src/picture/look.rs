//! What a picture shows, and which voxels it needs for that.

use crate::godot::channel::{NAMES, SDF};

/// The channel whose values are colours.
pub const COLOR: usize = 2;

/// The channels that can distinguish matter from air, in the order in which they are tried.
pub const SOLID: [usize; 3] = [0, SDF, COLOR];

/// What a picture shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Look {
    /// The world from above: the highest matter of each column in its colour, with light from the north-west.
    #[default]
    Surface,
    /// A cut along an axis through the values of a channel.
    Cut,
    /// The y of the highest matter of each column.
    Height,
    /// The depth of the water, in maps.
    Depth,
    /// The worst finding of each block.
    Health,
    /// Which LODs exist.
    Coverage,
    /// Bytes that the blocks of a column take in the save.
    Size,
    /// What differs from a second save.
    Difference,
    /// What a repair would change.
    Repair,
}

impl Look {
    /// Every look, in the order in which the explorer goes through them.
    pub const ALL: [Self; 9] = [
        Self::Surface,
        Self::Cut,
        Self::Height,
        Self::Depth,
        Self::Health,
        Self::Coverage,
        Self::Size,
        Self::Difference,
        Self::Repair,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Surface => "surface",
            Self::Cut => "cut",
            Self::Height => "height",
            Self::Depth => "depth",
            Self::Health => "health",
            Self::Coverage => "coverage",
            Self::Size => "size",
            Self::Difference => "difference",
            Self::Repair => "repair",
        }
    }

    /// The look of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|look| look.name() == name)
    }
}

/// How matter is distinguished from air.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Matter {
    /// By a channel: SDF below 0, COLOR with an alpha above 0, any other channel not 0.
    Channel(usize),
    /// By the flags of a map or the values of a pak chunk: not 0.
    Value,
}

impl Matter {
    /// The name of what it goes by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Channel(channel) => NAMES.get(channel).copied().unwrap_or("?"),
            Self::Value => "value",
        }
    }
}

/// A kind of pixels: what a tile holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// The highest matter of each column, from above.
    Top(Matter),
    /// The values of a channel on a plane: the axis that it is square to, and where on it, in voxels of the world.
    Cut {
        /// 0, 1, 2 for x, y, z.
        axis: u8,
        /// The place on the axis.
        at: i64,
        /// The channel; 0 in maps and pak chunks.
        channel: u8,
    },
    /// Stored bytes of the blocks of a column.
    Size,
    /// Which LODs exist, a bit each.
    Coverage,
}

impl Layer {
    /// The axes that run to the right and downward: 0, 1, 2 for x, y, z. A y axis is shown upward.
    #[must_use]
    pub const fn axes(self) -> [usize; 2] {
        match self {
            Self::Cut { axis: 0, .. } => [2, 1],
            Self::Cut { axis: 2, .. } => [0, 1],
            _ => [0, 2],
        }
    }

    /// Whether the picture's vertical axis is y, which is shown upward.
    #[must_use]
    pub const fn rises(self) -> bool {
        self.axes()[1] == 1
    }
}
