//! Rows that have the keys of other blocks, as seams show them.

use std::collections::HashMap;
use std::io;

use crate::godot::stream::loc::Place;
use crate::recover::decide::Certainty as Sureness;
use crate::recover::keys::{self, WrongKey};
use crate::repair::{Certainty, Options};
use crate::save::Stream;
use crate::source::FileSource;

/// Rows with the keys of other blocks, by their numbers.
#[derive(Debug, Default)]
pub(super) struct WrongKeys(HashMap<u32, WrongKey>);

impl WrongKeys {
    /// Compares the seams of a stream.
    ///
    /// # Errors
    /// I/O errors.
    pub fn find(stream: &Stream<FileSource>, options: &Options<'_>) -> io::Result<Self> {
        let found = keys::find_wrong_keys(stream, options.effort.factor(), &options.watch)?;
        Ok(Self(found.into_iter().map(|wrong| (wrong.row, wrong)).collect()))
    }

    /// Whether every row has its own key, as far as seams show.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a row has the key of another block.
    pub fn contains(&self, row: u32) -> bool {
        self.0.contains_key(&row)
    }

    /// The place of the block of a row with another key, and how sure that is.
    pub fn place(&self, row: u32) -> Option<(Place, Certainty)> {
        let wrong = self.0.get(&row)?;
        let certainty = if wrong.certainty == Sureness::Certain { Certainty::Certain } else { Certainty::Likely };
        Some((wrong.place, certainty))
    }
}
