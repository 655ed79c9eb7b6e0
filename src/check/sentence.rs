//! The sentences of a verdict, in parts, so that the explorer can shorten them.

use std::fmt;

use crate::printable::capitalize;

/// A sentence at the end of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sentence {
    /// What happened, without a full stop, and the figures that follow from it.
    Cause(String, Option<Figures>),
    /// Figures that follow from several causes, or from one that has a sentence of its own.
    Figures(Figures),
    /// What distinguishes similar causes.
    TellApart(String),
    /// The command that repairs the save, and what it does.
    Repair(RepairWords),
    /// Anything else.
    Plain(String),
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cause(cause, Some(figures)) => write!(f, "{cause}: {}.", figures.full),
            Self::Figures(figures) => write!(f, "{}.", capitalize(&figures.full)),
            Self::Cause(cause, None) => write!(f, "{cause}."),
            Self::Repair(words) => words.fmt(f),
            Self::TellApart(text) | Self::Plain(text) => f.write_str(text),
        }
    }
}

/// How many blocks there are, right and damaged, without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// As a clause.
    pub full: String,
    /// In as few words as possible.
    pub short: String,
}

/// What a repair does, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairWords {
    /// The command, without the level.
    pub command: String,
    /// Whether it has `--level likely`: it does nothing without that, or the copy would lack most blocks.
    pub only_likely: bool,
    /// What it does: a verb and its objects.
    pub does: String,
    /// A clause that says that this is only likely, or nothing.
    pub doubt: &'static str,
    /// A clause that says what is lost at the level `likely`, or nothing.
    pub lost: String,
    /// What is lost whose number of blocks is not known, and what is lost of blocks and layers: clauses, or nothing.
    pub unknown: String,
    /// The loss without `--level likely`, and what goes to `lost+found`: the rest of the sentence without its full stop.
    pub rest: String,
    /// Another sentence, with a space before it, or nothing.
    pub advice: String,
    /// A sentence about a backup, with a space before it, or nothing.
    pub backup: String,
}

impl RepairWords {
    /// The command with its level.
    #[must_use]
    pub fn command_with_level(&self) -> String {
        let level = if self.only_likely { " --level likely" } else { "" };
        format!("{}{level}", self.command)
    }
}

impl fmt::Display for RepairWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { does, doubt, lost, unknown, rest, advice, backup, .. } = self;
        write!(f, "{} {does}{doubt}{lost}{unknown}{rest}.{advice}{backup}", self.command_with_level())
    }
}

/// A sentence of its own.
pub(super) fn plain(text: impl Into<String>) -> Sentence {
    Sentence::Plain(text.into())
}
