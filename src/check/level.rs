//! How deep a check looks.

/// How deep a check looks; each level has what those before it have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Headers, descriptions and meta files.
    Header,
    /// Tables, records and sectors too, without decoding blocks.
    Structure,
    /// Every block too.
    #[default]
    Decode,
    /// The walk over the sectors of a region held against its table too: blocks that decode and belong elsewhere.
    Semantic,
}
