//! Cancelling and progress of long work: the one shape that all commands and jobs share.
//!
//! Whoever starts work sets a flag to cancel it and a function that receives its progress. The work itself begins a step,
//! reports every part of it that is done, from any thread, and asks now and then whether it goes on. It knows neither a
//! progress bar nor a screen.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// A step of long work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Step {
    /// Compares the table of every region file with its sectors.
    Looking,
    /// Walks the sectors of regions whose table does not match, and of their neighbours.
    Walking,
    /// Writes a repaired copy.
    Building,
    /// Checks a save, or a copy that was just written.
    Checking,
    /// Compares the blocks of one LOD of two saves.
    Comparing,
    /// Writes the blocks of one LOD in another form.
    Converting,
    /// Writes arrays, pictures or tables.
    Exporting,
    /// Draws a picture of a world.
    Drawing,
    /// Writes a sample save.
    Writing,
}

impl Step {
    /// The name that a progress bar shows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Looking => "looking",
            Self::Walking => "walking over sectors",
            Self::Building => "building",
            Self::Checking => "checking",
            Self::Comparing => "comparing",
            Self::Converting => "converting",
            Self::Exporting => "exporting",
            Self::Drawing => "drawing",
            Self::Writing => "writing",
        }
    }

    /// Whether it counts bytes of files; the other steps count blocks, files or rows of pixels.
    #[must_use]
    pub const fn counts_bytes(self) -> bool {
        matches!(self, Self::Looking | Self::Walking | Self::Building | Self::Checking)
    }
}

/// A report of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A step begins.
    Began {
        /// The step.
        step: Step,
        /// How much there is to do in it.
        all: u64,
    },
    /// So much of the step was done since the last report. Threads report on their own, in any order.
    Advanced(u64),
}

/// Cancels long work and receives its progress.
#[derive(Clone, Copy, Default)]
pub struct Watch<'a> {
    cancel: Option<&'a AtomicBool>,
    progress: Option<&'a (dyn Fn(Progress) + Sync)>,
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

impl<'a> Watch<'a> {
    /// Sets the flag that cancels the work soon after it is set.
    #[must_use]
    pub const fn cancel(mut self, cancel: &'a AtomicBool) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Sets the function that receives the progress.
    #[must_use]
    pub fn progress(mut self, progress: &'a (dyn Fn(Progress) + Sync)) -> Self {
        self.progress = Some(progress);
        self
    }

    /// The same flag without progress: for work that is a part of another step.
    #[must_use]
    pub const fn quiet(self) -> Self {
        Self { cancel: self.cancel, progress: None }
    }

    /// Whether the work was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    /// Begins a step with `all` units to do.
    pub fn begin(&self, step: Step, all: u64) {
        self.report(Progress::Began { step, all });
    }

    /// Reports `more` units of the step as done.
    pub fn advance(&self, more: u64) {
        self.report(Progress::Advanced(more));
    }

    fn report(&self, progress: Progress) {
        if let Some(report) = self.progress {
            report(progress);
        }
    }
}
