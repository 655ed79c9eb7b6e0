//! How far a repair is.

use crate::repair::Options;

/// What a repair is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Looking at every region file for whether its table explains it.
    Looking,
    /// Walking over the sectors of those that are not explained, and those beside them.
    Walking,
    /// Writing the copy.
    Building,
    /// Checking it.
    Checking,
}

impl Step {
    /// In a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Looking => "looking",
            Self::Walking => "walking over sectors",
            Self::Building => "building",
            Self::Checking => "checking",
        }
    }
}

/// How far a step is; steps follow each other in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The step.
    pub step: Step,
    /// Bytes of files that were done since the last call.
    pub more: u64,
    /// Bytes of files in the whole step.
    pub all: u64,
}

/// Tells how far one step is.
pub(super) struct Told<'t> {
    options: &'t Options<'t>,
    step: Step,
    all: u64,
}

impl<'t> Told<'t> {
    pub fn new(options: &'t Options<'t>, step: Step, all: u64) -> Self {
        let told = Self { options, step, all };
        told.advance(0);
        told
    }

    /// Some bytes more are done.
    pub fn advance(&self, more: u64) {
        if let Some(progress) = self.options.progress {
            progress(Progress { step: self.step, more, all: self.all });
        }
    }
}
