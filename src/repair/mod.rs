//! Repair: a whole, healthy copy of a save, built beside it from what the sectors tell.
//!
//! [`plan`] reads and decides; [`run`] builds what was planned in a temporary directory, checks it and gives it its name.
//! The save itself is never written to. What is sure is written, what is likely only when it is asked for, and what has
//! no owner goes to `lost+found`, so that nothing that was found stays unreadable.

mod accept;
mod backup;
pub(crate) mod lost;
mod map;
mod mend;
mod meta;
mod older;
mod out;
mod pack;
mod pak;
mod parts;
mod place;
mod plan;
mod progress;
mod report;
mod stream;
mod survey;
mod torn;
mod torn_table;
mod write;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::beside;
use crate::check;
use crate::save::{self, Save};

pub use accept::Accepted;
pub use map::{ArrayPlan, LayerPlan, MapPlan, TakenOut};
pub use mend::Mend;
pub use meta::MetaFile;
pub use pak::{Chunk, Lost, Missing, PakPlan};
pub use plan::{Action, Decision, LostBlock, Origin, Plan, RegionPlan, plan};
pub use progress::{Progress, Step};
pub use report::words;
pub use stream::{LostPart, LostRow, Older, Part, Setting, StreamDecision, StreamPlan};

/// What is done with voxel maps, a line a sentence.
#[must_use]
pub fn map_words(maps: &[MapPlan]) -> Vec<String> {
    map::words(maps)
}

/// What is done with streams, a line a sentence.
#[must_use]
pub fn stream_words(streams: &[StreamPlan]) -> Vec<String> {
    stream::words(streams)
}

/// What is sure enough to be written.
pub use crate::trace::decide::Certainty;

/// What temporary directories are named for.
const WHAT: &str = "repair";

/// How to repair.
#[derive(Default)]
pub struct Options<'a> {
    /// Whether blocks that are only likely to be in their place are written too.
    pub likely: bool,
    /// A backup of the same save: it tells owners of blocks, and gives older states of those that are lost.
    pub backup: Option<&'a Save>,
    /// Blocks without an owner that were looked at and put in their places, whatever the level.
    pub accept: &'a [Accepted],
    /// Stops the repair soon after it is set.
    pub cancel: Option<&'a AtomicBool>,
    /// Told how far it is, after each file.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
}

/// Temporary directories for a destination that a repair which was killed left behind, or that are being built now.
#[must_use]
pub fn leftovers(destination: &Path) -> Vec<PathBuf> {
    beside::leftovers(destination, WHAT)
}

/// The directories that are read from.
fn sources<'s>(save: &'s Save, options: &Options<'s>) -> Vec<&'s Path> {
    std::iter::once(save).chain(options.backup).map(|save| save.path.as_path()).collect()
}

impl Options<'_> {
    fn go_on(&self) -> Result<(), beside::Error> {
        let stopped = self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed));
        if stopped { Err(beside::Error::Interrupted) } else { Ok(()) }
    }

    fn least(&self) -> Certainty {
        if self.likely { Certainty::Likely } else { Certainty::Certain }
    }
}

/// Why a repair gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The result could not be built, or a file of the save not be read.
    #[error(transparent)]
    Build(#[from] beside::Error),
    /// A stream has to be written anew, and this build has no library for it.
    #[error("{}: it has to be written anew, and this build cannot write SQLite streams", crate::printable::path(.0))]
    NoLibrary(PathBuf),
    /// A block cannot be put where it was accepted.
    #[error("--accept {}: {why}", crate::printable::printable(accepted))]
    Accept {
        /// What was asked for.
        accepted: String,
        /// Why not.
        why: &'static str,
    },
    /// The result cannot be opened again.
    #[error(transparent)]
    Result(#[from] save::Error),
}

/// What a repair came to.
#[derive(Debug)]
pub struct Outcome {
    /// What was done.
    pub plan: Plan,
    /// What the check of the result says.
    pub check: check::Summary,
}

/// Repairs a save into `destination`, which must not exist: a directory, or where the save is one stream a file, beside
/// which the report and `lost+found` stand under its name.
///
/// # Errors
/// When the destination cannot be used, or something cannot be read or written. There is nothing under the
/// destination's name then.
pub fn run(save: &Save, destination: &Path, options: &Options<'_>) -> Result<Outcome, Error> {
    beside::usable(&sources(save, options), destination)?;
    if is_stream(save) {
        write::usable_beside(&sources(save, options), destination)?;
    }
    let mut plan = plan(save, options)?;
    let check = write::write(save, &mut plan, destination, options)?;
    Ok(Outcome { plan, check })
}

/// Whether what was opened is one stream, whose copy is a file and no directory.
#[must_use]
pub fn is_stream(save: &Save) -> bool {
    save.streams.iter().any(|file| file.path == save.path)
}

/// A file that a repair of one stream makes beside the copy: its report, or what nobody owns.
#[must_use]
pub fn beside_copy(destination: &Path, name: &str) -> PathBuf {
    let mut path = destination.as_os_str().to_owned();
    path.push(".");
    path.push(name);
    path.into()
}
