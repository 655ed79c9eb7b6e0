//! Finds rows of a stream that have each other's keys. The key of a row is all that gives the position of its block, so only the
//! seams between blocks can show that keys were exchanged.
//!
//! The keys are taken for the slots of one virtual region ([`layout`]) and the rows for its blocks, so that the solver for regions
//! ([`assemble`](super::assemble)) decides. Of a large stream a first look ([`look`]) has to show which blocks are asked about.

mod blocks;
mod exchange;
mod layout;
mod look;

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
    if stream.rule == KeyRule::Old {
        return Ok(Vec::new());
    }
    let few: Vec<u32> = keyed_rows(stream).map(|(number, _)| number).take(FEW + 1).collect();
    let rows = if few.len() <= FEW { few } else { look::find_suspects(stream, watch)? };
    if watch.is_cancelled() {
        return Ok(Vec::new());
    }
    exchange::find_exchanged(stream, &rows, effort, watch)
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
