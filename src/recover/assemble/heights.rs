//! At which heights which blocks are: air above, stone below, the surface between.
//!
//! Seams are weighed against blocks of the same height, so they say nothing of the height itself. A block is classed by
//! what its lower and its upper side look like, and each height by the classes of the blocks that are known there.

use std::collections::HashMap;
use std::sync::Arc;

use crate::recover::assemble::board::Node;
use crate::recover::assemble::links::Sides;

/// Blocks of any height that count as known at each one: a class that none of 200 known blocks of a height has is some 14 times less
/// likely there. Blocks of one class and height are neighbours, so they are lost together and no known block shows them. Measured on
/// smooth worlds that lost a run of entries: with 4, a missing hill fitted better elsewhere than in its place. With 40, fewer places of
/// scattered lost entries were certain.
const PRIOR: f64 = 15.0;

/// The class of a block: what its lower and its upper side look like.
type Class = (u16, u16);

/// How often blocks of each class are at each height.
#[derive(Clone, Debug, Default)]
pub(super) struct Heights {
    /// The class of each block, by case.
    classes: Vec<Vec<Option<Class>>>,
    /// Known blocks by LOD and height: how many there are, and how many of each class.
    known: HashMap<(u8, i32), (f64, HashMap<Class, f64>)>,
    /// The share of each class among all blocks.
    share: HashMap<Class, f64>,
}

impl Heights {
    pub fn new(sides: &[Vec<Option<Arc<Sides>>>]) -> Self {
        let class = |sides: &Option<Arc<Sides>>| {
            let [_, [lower, upper], _] = &sides.as_ref()?.outer;
            Some((lower.classify(), upper.classify()))
        };
        let classes: Vec<Vec<Option<Class>>> = sides.iter().map(|of| of.iter().map(class).collect()).collect();
        let mut share: HashMap<Class, f64> = HashMap::new();
        let all = classes.iter().flatten().flatten();
        all.for_each(|class| *share.entry(*class).or_default() += 1.0);
        let n: f64 = share.values().sum();
        share.values_mut().for_each(|of| *of /= n.max(1.0));
        Self { classes, known: HashMap::new(), share }
    }

    /// Counts the blocks whose places are known.
    pub fn learn(&mut self, placed: impl Iterator<Item = ((u8, [i32; 3]), Node)>) {
        self.known.clear();
        for ((lod, position), (r, b)) in placed {
            let Some(class) = self.classes.get(r).and_then(|of| *of.get(b)?) else { continue };
            let (n, of) = self.known.entry((lod, position[1])).or_default();
            *n += 1.0;
            *of.entry(class).or_default() += 1.0;
        }
    }

    /// How much likelier a block is at a height than at any other, as log-odds.
    pub fn odds(&self, (r, b): Node, lod: u8, height: i32) -> f64 {
        let Some(class) = self.classes.get(r).and_then(|of| *of.get(b)?) else { return 0.0 };
        let Some((n, of)) = self.known.get(&(lod, height)) else { return 0.0 };
        let share = self.share.get(&class).copied().unwrap_or(1.0);
        let here = of.get(&class).copied().unwrap_or(0.0);
        ((here + PRIOR * share) / (n + PRIOR) / share).ln()
    }
}
