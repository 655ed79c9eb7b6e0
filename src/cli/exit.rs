//! Exit codes, as `fsck` has them, and what ends a command.

use std::io;
use std::process::ExitCode;

/// An exit code; several are OR-ed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(u8);

impl Exit {
    /// Nothing is wrong.
    pub const CLEAN: Self = Self(0);
    /// Damage was repaired, and the result checked.
    pub const REPAIRED: Self = Self(1);
    /// Damage was found, and left.
    pub const DAMAGED: Self = Self(4);
    /// Something could not be done: read, opened, written; or a file changed while it was read.
    pub const FAILED: Self = Self(8);
    /// Wrong usage.
    pub const USAGE: Self = Self(16);
    /// Interrupted before its end.
    pub const INTERRUPTED: Self = Self(32);

    /// `diff`: something differs.
    pub const DIFFERENT: Self = Self(1);
    /// `diff`: something could not be compared.
    pub const TROUBLE: Self = Self(2);

    /// Both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This code when `condition` holds, otherwise that of a clean end.
    pub const fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::CLEAN }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.0)
    }
}

/// Why a command ended before its end. Everything that a person sees is a sentence.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The reader of the output has gone; nothing is said.
    #[error("the output was closed")]
    ClosedPipe,
    /// Writing the output failed.
    #[error("the output cannot be written: {0}")]
    Output(io::Error),
    /// Something else could not be done.
    #[error("{0}")]
    Failed(String),
    /// `diff` could not compare.
    #[error("{0}")]
    Trouble(String),
    /// The arguments do not fit together, or do not fit the save.
    #[error("{0}")]
    Usage(String),
}

impl Failure {
    /// The exit code for it.
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::USAGE,
            Self::Trouble(_) => Exit::TROUBLE,
            _ => Exit::FAILED,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::ClosedPipe } else { Self::Output(error) }
    }
}

impl From<voxscope::save::Error> for Failure {
    fn from(error: voxscope::save::Error) -> Self {
        Self::Failed(error.to_string())
    }
}
