//! Popups: help, the command palette, the explanation of a code or of a cause.

use super::App;
use super::action::{ACTIONS, Group, Spec};
use crate::check::Cause;
use crate::damage::Code;

/// What is explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explained {
    /// A code, with the selected finding if it has the code.
    Code(Code),
    /// What happened to a save.
    Cause(Cause),
}

/// A popup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Popup {
    /// All keys and marks, from a line on; only those that match a search.
    Help {
        /// The first line.
        line: u16,
        /// The words that were searched for.
        search: String,
    },
    /// The commands that a typed line fits, and the one that is chosen.
    Commands(usize),
    /// A detailed explanation, from a line on.
    Explain(Explained, u16),
}

/// The commands that work now and that a typed line fits, the best first: the line's words must be in the name or in
/// the sentence.
#[must_use]
pub fn commands(app: &App, typed: &str) -> Vec<&'static Spec> {
    let typed = typed.to_lowercase();
    let words: Vec<&str> = typed.split_whitespace().collect();
    let fits = |spec: &&Spec| {
        let sentence = spec.help.to_lowercase();
        (spec.works)(app) && words.iter().all(|word| spec.name.contains(word) || sentence.contains(word))
    };
    let mut found: Vec<&'static Spec> = ACTIONS.iter().filter(fits).collect();
    let first = words.first().copied().unwrap_or_default();
    // Nobody opens this to move the cursor.
    let moves = |spec: &Spec| typed.is_empty() && spec.group == Group::Move;
    found.sort_by_key(|spec| (moves(spec), !spec.name.starts_with(first), !spec.name.contains(first)));
    found
}
