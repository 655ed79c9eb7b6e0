//! Repair: a whole, healthy copy of a save, built beside it from what the sectors tell.
//!
//! [`plan`] reads and decides; [`run`] builds what was planned in a temporary directory, checks it and gives it its name.
//! The save itself is never written to. What is sure is written, what is likely only when it is asked for, and what has
//! no owner goes to `lost+found`, so that nothing that was found stays unreadable.

mod accept;
mod lost;
mod map;
mod meta;
mod out;
mod pack;
mod pak;
mod plan;
mod report;
mod write;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::check;
use crate::save::{self, Save};
use crate::source::OpenError;

pub use accept::Accepted;
pub use map::{ArrayPlan, LayerPlan, MapPlan, TakenOut};
pub use pak::{Chunk, Lost, Missing, PakPlan};
pub use plan::{Action, Decision, LostBlock, Plan, RegionPlan, plan};
pub use report::words;

/// What is done with voxel maps, a line a sentence.
#[must_use]
pub fn map_words(maps: &[MapPlan]) -> Vec<String> {
    map::words(maps)
}

/// What is sure enough to be written.
pub use crate::trace::decide::Certainty;

/// How to repair.
#[derive(Default)]
pub struct Options<'a> {
    /// Whether blocks that are only likely to be in their place are written too.
    pub likely: bool,
    /// Blocks without an owner that were looked at and put in their places, whatever the level.
    pub accept: &'a [Accepted],
    /// Stops the repair soon after it is set.
    pub cancel: Option<&'a AtomicBool>,
}

impl Options<'_> {
    fn go_on(&self) -> Result<(), Error> {
        if self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn least(&self) -> Certainty {
        if self.likely { Certainty::Likely } else { Certainty::Certain }
    }
}

/// Why a repair gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The destination cannot be used.
    #[error("{}: {why}", crate::printable::path(path))]
    Destination {
        /// The destination.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// A file of the save cannot be opened.
    #[error("{}: {source}", crate::printable::path(path))]
    Open {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: OpenError,
    },
    /// Reading or writing failed.
    #[error("{}: {source}", crate::printable::path(path))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// A block cannot be put where it was accepted.
    #[error("--accept {}: {why}", crate::printable::printable(accepted))]
    Accept {
        /// What was asked for.
        accepted: String,
        /// Why not.
        why: &'static str,
    },
    /// A file of the save changed while it was read.
    #[error("{}: the file changed while it was read; stop the game first", crate::printable::path(.0))]
    Changed(PathBuf),
    /// The result cannot be opened again.
    #[error(transparent)]
    Result(#[from] save::Error),
    /// It was stopped.
    #[error("interrupted; nothing was written")]
    Interrupted,
}

impl Error {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}

/// What a repair came to.
#[derive(Debug)]
pub struct Outcome {
    /// What was done.
    pub plan: Plan,
    /// What the check of the result says.
    pub check: check::Summary,
}

/// Repairs a save into `destination`, which must not exist.
///
/// # Errors
/// When the destination cannot be used, or something cannot be read or written. There is nothing under the
/// destination's name then.
pub fn run(save: &Save, destination: &Path, options: &Options<'_>) -> Result<Outcome, Error> {
    write::usable(save, destination)?;
    let plan = plan(save, options)?;
    let check = write::write(save, &plan, destination, options)?;
    Ok(Outcome { plan, check })
}
