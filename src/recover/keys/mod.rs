//! Finds rows of a stream that have each other's keys. The key of a row is all that gives the position of its block, so only the
//! seams between blocks can show that keys were exchanged.
//!
//! A first look (`look`) reads all blocks once. Where the values of a run of keys moved on by one, `run` finds it. Everything
//! else is left to the solver for regions ([`assemble`](super::assemble)): the keys are taken for the slots of one virtual region
//! (`layout`) and the rows for its blocks. Of a large stream the first look has to show which blocks are compared (`suspects`).
//! What the solver says counts only if every block fits its new place (`confirm`).

mod blocks;
mod confirm;
mod exchange;
mod layout;
mod look;
mod permutation;
mod run;
mod suspects;

use std::io;

use crate::godot::stream::loc::{KeyRule, Place};
use crate::recover::decide::Certainty;
use crate::save::{Blob, Stream, StreamRow};
use crate::source::Source;
use crate::watch::Watch;

/// Rows up to which all blocks of a stream are compared without a first look. As many as a region that is solved as a whole.
const FEW: usize = 1024;

/// A row whose block belongs to another key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrongKey {
    /// The number of the row.
    pub row: u32,
    /// The place of its block.
    pub place: Place,
    /// How sure that is.
    pub certainty: Certainty,
    /// Its probability.
    pub p: f64,
}

/// Finds the rows of a stream whose blocks belong to the keys of other rows, by their numbers in ascending order.
///
/// # Errors
/// I/O errors.
pub fn find_wrong_keys<S: Source>(stream: &Stream<S>, effort: u64, watch: &Watch<'_>) -> io::Result<Vec<WrongKey>> {
    // By the rule of 2021 two LODs of a block share a row.
    if stream.rule == KeyRule::Old || keyed_rows(stream).nth(1).is_none() {
        return Ok(Vec::new());
    }
    let look = look::Look::new(stream, watch)?;
    let moved = look.all.as_ref().map_or_else(Vec::new, |all| run::find_moved(stream, all, watch));
    if !moved.is_empty() || watch.is_cancelled() {
        return Ok(moved);
    }
    let few: Vec<u32> = keyed_rows(stream).map(|(number, _)| number).take(FEW + 1).collect();
    let rows = if few.len() <= FEW { few } else { suspects::find_suspects(stream, &look.odd)? };
    let found = exchange::find_exchanged(stream, &rows, effort, watch)?;
    confirm::keep_fitting(stream, found, &look.usual)
}

/// The rows with voxels whose keys are beyond doubt, with their numbers and places: of each place the row that the game finds.
fn keyed_rows<S: Source>(stream: &Stream<S>) -> impl Iterator<Item = (u32, StreamRow)> {
    let mut last = None;
    (0u32..).zip(&stream.rows).filter(move |(_, row)| {
        let is_first = row.place.is_some() && row.place != last;
        last = row.place;
        is_first && !row.lost && !row.misplaced && matches!(row.voxels, Blob::Bytes(_))
    })
}
