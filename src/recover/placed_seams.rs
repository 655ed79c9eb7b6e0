//! The seams of a region whose blocks are taken where they were solved to be.
//!
//! The table of a damaged region leads to the wrong blocks, so that its borders continue no neighbour. Only with its blocks in
//! their places do they show whether the file has the name of another region.

use std::io;

use crate::bytes::index;
use crate::godot::region::Header;
use crate::godot::slots::{self, SlotFormula};
use crate::limits::Limits;
use crate::recover::decide::Certainty;
use crate::recover::region::Case;
use crate::recover::screen::{self, Screened};
use crate::recover::sketch::Sketch;
use crate::recover::survey::Solved;
use crate::recover::walk;
use crate::save::Scratch;
use crate::source::Source;

/// The seams of the blocks whose places are certain; `None` where the table has all of them in their places, or in slots of the
/// old formula.
///
/// # Errors
/// What the operating system says.
pub fn of_placed(
    source: &impl Source,
    header: &Header,
    case: &Case,
    solved: &Solved,
    limits: &Limits,
) -> io::Result<Option<Screened>> {
    let is_large = solved.placed.len() > screen::MOST;
    if solved.as_listed || is_large || case.shape.formula == SlotFormula::Legacy {
        return Ok(None);
    }
    let size = header.format.region_size;
    let (mut scratch, mut stored, mut piece) = (Scratch::default(), Vec::new(), Vec::new());
    let mut sketches = Vec::new();
    for placed in solved.placed.iter().filter(|placed| placed.certainty == Certainty::Certain) {
        let (Some(block), Some(at)) = (case.walk.blocks.get(placed.block), slots::position(size, placed.slot)) else {
            continue;
        };
        stored.clear();
        for span in walk::pieces(header, block) {
            source.read_into(span.start, index(span.len()), &mut piece)?;
            stored.extend_from_slice(&piece);
        }
        let view = scratch.interpret_bytes(&stored, 0, header, None, limits);
        sketches.extend(view.block.as_ref().and_then(Sketch::draw).map(|sketch| (at, sketch)));
    }
    Ok(Some(Screened::new(&sketches, size)))
}
