//! Repair: builds a healthy copy of a save next to it, from the data that its sectors hold.
//!
//! [`plan`] reads and decides; [`run`] builds the planned result in a temporary directory, checks it and renames it.
//! The save itself is never changed. Blocks with a certain position are written, likely ones only on request, and
//! unowned blocks go to `lost+found`, so that everything that was found can be read.
//!
//! Takes a save, maybe a backup; gives a plan, and from it a copy with a report. It knows no terminal.

mod accept;
mod backup;
mod block_files;
mod decision;
mod expected;
mod fate;
mod layout;
mod left;
mod listed;
mod lost;
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
pub mod preview;
mod report;
mod same_world;
mod stamps;
mod stream;
mod survey;
mod torn;
mod totals;
mod unowned;
mod why;
mod write;

use std::path::{Path, PathBuf};

use crate::check;
use crate::draft;
use crate::recover::effort::Effort;
use crate::recover::solutions::Solutions;
use crate::save::{self, Save};
use crate::watch::Watch;

pub use accept::Accepted;
pub use decision::{Action, Decision, LostBlock, Origin, RegionPlan};
pub use expected::{Expected, expected_check};
pub use fate::{BlockFate, Fate, fates};
pub use left::{uncopied, uncopied_of_lost};
pub use map::{ArrayPlan, LayerPlan, MapPlan, TakenOut};
pub use mend::Mend;
pub use meta::MetaFile;
pub use pak::{Chunk, Lost, Missing, PakPlan};
pub use plan::{Plan, plan, plan_both};
pub use report::{report, words};
pub use same_world::Compared;
pub use stream::{LostPart, LostRow, Older, Part, Setting, StreamDecision, StreamPlan};
pub use totals::{
    Written, advice_on_copy, expected_copy, expected_totals, is_region_file, loss_words, outlook, total_words, totals,
    totals_of_file,
};
pub use unowned::{Unowned, export_unowned};
pub use why::{FileReason, KeptReason, MissingReason, RowReason};

/// The plan for voxel maps as text, one sentence per line.
#[must_use]
pub fn map_words(maps: &[MapPlan]) -> Vec<String> {
    map::words(maps)
}

/// The plan for streams as text, one sentence per line.
#[must_use]
pub fn stream_words(streams: &[StreamPlan]) -> Vec<String> {
    stream::words(streams)
}

/// The certainty with which something is written.
pub use crate::recover::decide::Certainty;

/// How to repair.
#[derive(Default)]
#[non_exhaustive]
pub struct Options<'a> {
    /// Whether blocks whose position is only likely are written too.
    pub likely: bool,
    /// A backup of the same save: it identifies blocks and supplies older states of lost ones.
    pub backup: Option<&'a Save>,
    /// Blocks that the user accepted for a position, independent of the level.
    pub accept: &'a [Accepted],
    /// How much work to spend on places that are hard to decide.
    pub effort: Effort,
    /// Cancels the repair, and receives its progress in bytes of files, step by step.
    pub watch: Watch<'a>,
    solutions: Option<&'a Solutions>,
}

impl<'a> Options<'a> {
    /// Sets whether blocks that are only likely to be in their place are written too.
    #[must_use]
    pub fn likely(mut self, likely: bool) -> Self {
        self.likely = likely;
        self
    }

    /// Sets a backup of the same save.
    #[must_use]
    pub fn backup(mut self, backup: impl Into<Option<&'a Save>>) -> Self {
        self.backup = backup.into();
        self
    }

    /// Sets the blocks whose places were decided by hand.
    #[must_use]
    pub fn accept(mut self, accept: &'a [Accepted]) -> Self {
        self.accept = accept;
        self
    }

    /// Sets how much work to spend on places that are hard to decide.
    #[must_use]
    pub const fn effort(mut self, effort: Effort) -> Self {
        self.effort = effort;
        self
    }

    /// Sets what cancels the repair and receives its progress.
    #[must_use]
    pub const fn watch(mut self, watch: Watch<'a>) -> Self {
        self.watch = watch;
        self
    }

    /// Sets where results of regions are kept, for a check and plans of the same save: each region is solved once for all of them.
    #[must_use]
    pub const fn solutions(mut self, solutions: &'a Solutions) -> Self {
        self.solutions = Some(solutions);
        self
    }
}

/// The directories that are read.
fn sources<'s>(save: &'s Save, options: &Options<'s>) -> Vec<&'s Path> {
    std::iter::once(save).chain(options.backup).map(|save| save.path.as_path()).collect()
}

impl Options<'_> {
    fn go_on(&self) -> Result<(), draft::Error> {
        if self.watch.is_cancelled() { Err(draft::Error::Interrupted) } else { Ok(()) }
    }

    fn least(&self) -> Certainty {
        if self.likely { Certainty::Likely } else { Certainty::Certain }
    }
}

/// Why a repair failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The result could not be built, or a file of the save could not be read.
    #[error(transparent)]
    Build(#[from] draft::Error),
    /// A stream must be rewritten, and this build cannot write streams.
    #[error("{}: it has to be written anew, and this build cannot write SQLite streams", crate::printable::path(.0))]
    NoLibrary(PathBuf),
    /// A block cannot be written to the position that it was accepted for.
    #[error("--accept {}: {why}", crate::printable::printable(accepted))]
    Accept {
        /// The request.
        accepted: String,
        /// Why not.
        why: &'static str,
    },
    /// Files or directories of the save cannot be read. A repair must not replace them, nor leave them out.
    #[error(
        "{}: {} of it cannot be read: nothing is repaired before it can, because a repair must not replace what it could not read",
        crate::printable::path(path), crate::printable::count(*parts, "part")
    )]
    Unread {
        /// The save.
        path: PathBuf,
        /// How many.
        parts: u64,
    },
    /// The layout of region files is in the meta file of a forest above the save, so that a copy of the save could not be read.
    #[error(
        "{}: a copy of it could not be read, because the layout of its region files is in {}: run `{}`, which repairs the whole save",
        crate::printable::path(path), crate::printable::path(&forest.join(save::META)), command
    )]
    PartOfForest {
        /// What was to be repaired.
        path: PathBuf,
        /// The directory of the forest.
        forest: PathBuf,
        /// The command that repairs the forest.
        command: String,
    },
    /// Options do not fit the save, so that its blocks are taken for damaged or for those of other places.
    #[error(
        "{}: nothing is repaired, because an option does not fit the save: {what}; leave it out, or give the value of the save",
        crate::printable::path(path)
    )]
    Misfit {
        /// The save.
        path: PathBuf,
        /// Which file shows that, and which option it is.
        what: String,
    },
    /// The meta file does not fit the files that it describes, so that their blocks are taken for damaged or for those of other places.
    #[error(
        "{}: nothing is repaired, because the meta file describes another layout than the files have: {what}; restore the meta file from a backup, or give these options",
        crate::printable::path(path)
    )]
    MetaMisfit {
        /// The save.
        path: PathBuf,
        /// Which file shows that, and the options that fit.
        what: String,
    },
    /// The result cannot be opened again.
    #[error(transparent)]
    Result(#[from] save::Error),
}

/// The result of a repair.
#[derive(Debug)]
pub struct Outcome {
    /// The plan that was carried out.
    pub plan: Plan,
    /// The summary of the check of the result.
    pub check: check::Summary,
    /// Whether the findings of that check, such as notes, show that something happened to the save.
    pub has_cause: bool,
}

/// Refuses a part of a forest whose copy could not be read without the forest.
///
/// # Errors
/// When the save is such a part.
pub fn check_alone(save: &Save) -> Result<(), Error> {
    match save.forest_above() {
        Some(forest) => {
            let command = check::SaveArguments::new(save).repair_command();
            Err(Error::PartOfForest { path: save.path.clone(), forest, command })
        }
        None => Ok(()),
    }
}

/// Repairs a save into `destination`, which must not exist: a directory, or if the save is one stream a file, next to
/// which the report and `lost+found` are written under its name.
///
/// # Errors
/// When the destination cannot be used, or something cannot be read or written. There is nothing under the
/// destination's name then.
pub fn run(save: &Save, destination: &Path, options: &Options<'_>) -> Result<Outcome, Error> {
    check_alone(save)?;
    draft::check_destination(&sources(save, options), destination)?;
    if is_stream(save) {
        write::usable_beside(&sources(save, options), destination)?;
    }
    let stamps = stamps::Stamps::read(save);
    let mut plan = plan(save, options)?;
    let (check, has_cause) =
        write::write(save, &mut plan, &stamps, destination, options).map_err(|error| match stamps.unchanged(save) {
            // What went wrong may come from that.
            Err(changed) if !matches!(error, Error::Build(draft::Error::Interrupted)) => changed.into(),
            _ => error,
        })?;
    Ok(Outcome { plan, check, has_cause })
}

/// Whether the save is one stream, whose copy is a file rather than a directory.
#[must_use]
pub fn is_stream(save: &Save) -> bool {
    save.streams.iter().any(|file| file.path == save.path)
}

/// A path next to the copy of one stream: its report or its `lost+found`.
#[must_use]
pub fn beside_copy(destination: &Path, name: &str) -> PathBuf {
    let mut path = destination.as_os_str().to_owned();
    path.push(".");
    path.push(name);
    path.into()
}
