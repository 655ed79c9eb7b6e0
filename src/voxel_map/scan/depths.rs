//! The depth map: its range, and columns where water would have no depth.

use crate::bytes::index;
use crate::damage::{Code, Damage, Value};
use crate::limits::Limits;
use crate::source::Source;
use crate::voxel_map::grid::{Array, Fault, LayerFile};
use crate::voxel_map::scan::CHUNK;

/// Columns in a word.
const SIXTEEN: u64 = 16;

/// Statistics of a depth map.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DepthStats {
    /// Cells that were read.
    pub cells: u64,
    /// Smallest and largest depth above 0, in metres.
    pub range: Option<(f32, f32)>,
    /// Cells that are 0.
    pub zero: u64,
    /// Cells below 0.
    pub negative: u64,
    /// Cells that are infinite or not a number.
    pub no_number: u64,
}

impl DepthStats {
    /// Counts a cell; whether it is a depth that water can have.
    fn add(&mut self, depth: f32) -> bool {
        self.cells = self.cells.saturating_add(1);
        let other = if !depth.is_finite() {
            &mut self.no_number
        } else if depth < 0.0 {
            &mut self.negative
        } else if depth == 0.0 {
            &mut self.zero
        } else {
            self.range = Some(self.range.map_or((depth, depth), |(a, b)| (a.min(depth), b.max(depth))));
            return true;
        };
        *other = other.saturating_add(1);
        false
    }
}

/// The columns where water would have no depth: a bit each, sixteen along z in a word, as blocks have them.
#[derive(Debug, Default)]
pub(super) struct Shallow {
    words: Vec<u16>,
    /// Words for one x.
    stride: u64,
}

impl Shallow {
    fn word(&self, x: u64, z: u64) -> Option<usize> {
        let z = z / SIXTEEN;
        let at = || x.checked_mul(self.stride)?.checked_add(z);
        at().filter(|_| z < self.stride).map(index)
    }

    /// The sixteen columns from z, a multiple of 16.
    pub(super) fn sixteen(&self, x: u64, z: u64) -> u16 {
        self.word(x, z).and_then(|at| self.words.get(at)).copied().unwrap_or(0)
    }

    /// Whether this column is one.
    pub(super) fn is(&self, x: u64, z: u64) -> bool {
        self.sixteen(x, z) & bit(z) != 0
    }
}

/// The bit of a column in its word.
fn bit(z: u64) -> u16 {
    u32::try_from(z % SIXTEEN).ok().and_then(|z| 1u16.checked_shl(z)).unwrap_or(0)
}

/// Reads the whole depth map. Keeps one bit per cell, or nothing if there are too many cells or all have a depth.
pub(super) fn read<S: Source>(
    array: &Array<S>,
    limits: &Limits,
    faults: &mut Vec<Fault>,
) -> (DepthStats, Option<Shallow>) {
    let Array { source, npy } = array;
    let mut stats = DepthStats::default();
    let &[dx, dz] = npy.shape.as_slice() else { return (stats, None) };
    let there = npy.there();
    let stride = dz.div_ceil(SIXTEEN);
    // Memory is at most half of the file, also if dim z is small.
    let words = dx.saturating_mul(stride);
    let fits = words <= limits.map_depth_cells / SIXTEEN && words <= there;
    if words > limits.map_depth_cells / SIXTEEN {
        let damage = Damage::new(Code::OverLimit, npy.data, "cells of the depth map");
        let damage = damage.expected(Value::AtMost(limits.map_depth_cells)).found(Value::Number(dx.saturating_mul(dz)));
        faults.push(Fault::new(LayerFile::Depth, damage));
    }
    let words = if fits { vec![0; index(words)] } else { Vec::new() };
    let mut shallow = Shallow { words, stride };
    let mut any = false;
    let mut buffer = Vec::new();
    let mut place = 0u64;
    while place < there {
        let some = CHUNK / 4;
        if let Err(error) = npy.read(source, place, some, &mut buffer) {
            faults.push(Fault::unreadable(LayerFile::Depth, &error));
            break;
        }
        for (place, depth) in (place..).zip(npy.floats(&buffer)) {
            if stats.add(depth) {
                continue;
            }
            any = true;
            let fast = if npy.fortran { dx } else { dz };
            let (Some(slow), Some(fast)) = (place.checked_div(fast), place.checked_rem(fast)) else { continue };
            let (x, z) = if npy.fortran { (fast, slow) } else { (slow, fast) };
            if let Some(word) = shallow.word(x, z).and_then(|at| shallow.words.get_mut(at)) {
                *word |= bit(z);
            }
        }
        place = place.saturating_add(some);
    }
    (stats, (any && fits).then_some(shallow))
}
