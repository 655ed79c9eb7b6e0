//! The levels of a check.

/// How deep a check looks; each level includes the ones before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Headers, descriptions and meta files.
    Header,
    /// Also tables, records and sectors, without decoding blocks.
    Structure,
    /// Also the data of every block.
    #[default]
    Decode,
    /// Also the walk of a region's sectors, compared with its table, and the seams of pak regions and streams: blocks that decode but
    /// belong elsewhere.
    Semantic,
}

impl Level {
    /// Its name, as an argument has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Structure => "structure",
            Self::Decode => "decode",
            Self::Semantic => "semantic",
        }
    }
}
