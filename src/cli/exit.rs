//! Exit codes, as `fsck` has them, and what ends a command.

use std::io;
use std::process::ExitCode;

/// An exit code; several are OR-ed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(u8);

impl Exit {
    /// No damage.
    pub const CLEAN: Self = Self(0);
    /// Damage was repaired, and the result checked.
    pub const REPAIRED: Self = Self(1);
    /// Damage was found, or is left after a repair.
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

    /// The number.
    pub const fn code(self) -> i32 {
        self.0 as i32
    }

    /// Both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This code if `condition` is true, otherwise the code of a clean end.
    pub const fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::CLEAN }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.0)
    }
}

/// Why a command failed. Each message is a sentence.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The reader of the output closed it; nothing is printed.
    #[error("the output was closed")]
    ClosedPipe,
    /// Writing the output failed.
    #[error("the output cannot be written: {0}")]
    Output(io::Error),
    /// Another failure.
    #[error("{0}")]
    Failed(String),
    /// `diff` could not compare the saves.
    #[error("{0}")]
    Trouble(String),
    /// The arguments do not fit together, or do not fit the save.
    #[error("{0}")]
    Usage(String),
}

impl Failure {
    /// The exit code of the failure.
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

impl From<voxscope::world::Error> for Failure {
    fn from(error: voxscope::world::Error) -> Self {
        match error {
            // The argument has to name one of them.
            voxscope::world::Error::Several(..) => Self::Usage(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<voxscope::save::Error> for Failure {
    fn from(error: voxscope::save::Error) -> Self {
        let mut text = error.to_string();
        if let voxscope::save::Error::NotASave(path) = &error
            && std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0)
        {
            text = format!("{}: the file is empty; copy it from a backup", voxscope::printable::path(path));
        } else if let voxscope::save::Error::NotASave(path) = &error
            && let Some(what) = voxscope::save::bare::describe_lone(path, &voxscope::limits::Limits::DEFAULT)
        {
            let [name, argument] = [voxscope::printable::path(path), voxscope::printable::argument(path)];
            text = format!("{name}: this is no save; it looks like {what}: `voxscope show {argument}` reads it");
        }
        if let voxscope::save::Error::NothingHere(dir) = &error {
            let limits = voxscope::limits::Limits::DEFAULT;
            for line in voxscope::save::bare::describe_directory(dir, &limits) {
                text.push_str("\n  ");
                text.push_str(&line);
            }
        }
        Self::Failed(text)
    }
}
