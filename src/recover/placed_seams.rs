//! The seams of a region with its blocks where the solver placed them.
//!
//! The table of a damaged region puts other blocks at its borders, so that these continue no neighbour. With the blocks in their
//! places, the borders show whether the file has the name of another region.

use std::collections::HashSet;
use std::io;

use crate::godot::region::Header;
use crate::godot::slots::{self, SlotFormula};
use crate::limits::Limits;
use crate::recover::decide::Certainty;
use crate::recover::region::Case;
use crate::recover::scaled::Drawn;
use crate::recover::screen::{self, Screened};
use crate::recover::sketch::Sketch;
use crate::recover::solved::Solved;
use crate::recover::walk;
use crate::save::Scratch;
use crate::source::Source;

/// The seams of the blocks whose places are certain; `None` if the table is right as it is, if its slots are those of the old formula,
/// or if the region has too many blocks for a first look.
///
/// # Errors
/// What the operating system says.
pub fn screen_placed(
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
    let (mut scratch, mut stored) = (Scratch::default(), Vec::new());
    let (mut sketches, mut drawn) = (Vec::new(), Vec::new());
    let blocks = case.entries.len();
    let mut unknown: HashSet<u32> = case.raw.iter().map(|(slot, _)| *slot).collect();
    for placed in solved.placed.iter().filter(|placed| placed.certainty == Certainty::Certain) {
        let (Some(block), Some(at)) = (case.walk.blocks.get(placed.block), slots::position(size, placed.slot)) else {
            continue;
        };
        walk::read_pieces(source, &walk::pieces(header, block), &mut stored)?;
        let view = scratch.interpret_bytes(&stored, 0, header, None, limits);
        let Some(block) = &view.block else { continue };
        unknown.remove(&placed.slot);
        sketches.extend(Sketch::draw(block).map(|sketch| (at, sketch)));
        drawn.extend(Drawn::draw(block, at, size, blocks).map(|drawn| (at, drawn)));
    }
    let mut unknown: Vec<[u16; 3]> = unknown.into_iter().filter_map(|slot| slots::position(size, slot)).collect();
    unknown.sort_unstable();
    Ok(Some(Screened::new(&sketches, size).with_scaled(&drawn, size, blocks).with_unknown(&unknown, size)))
}
