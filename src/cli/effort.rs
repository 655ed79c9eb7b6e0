//! `--effort`, as `check`, `repair` and the explorer take it.

use voxscope::recover;

/// How much work to spend on blocks whose places are hard to decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Effort {
    /// Enough for all but the largest problems
    #[default]
    Normal,
    /// 16 times as many steps
    High,
}

impl Effort {
    /// The effort of the library.
    pub const fn to_library(self) -> recover::effort::Effort {
        match self {
            Self::Normal => recover::effort::Effort::NORMAL,
            Self::High => recover::effort::Effort::HIGH,
        }
    }
}
