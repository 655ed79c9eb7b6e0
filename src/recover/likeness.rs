//! How well region files go together: the borders of neighbours, and a region with those of the next LOD at the same place.

use std::collections::{BTreeMap, HashMap};

use crate::recover::scaled;
use crate::recover::screen::{Border, Screened, Tally, directions};
use crate::recover::sketch;
use crate::recover::weights::LIKENESS;

/// The place of a region: its LOD and its position.
pub(super) type Place = (u8, [i32; 3]);

/// How two places are linked: with the first one below the other along an axis, or as the octant of the next coarser LOD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Link {
    /// Neighbours along an axis.
    Side(usize),
    /// The first one is an octant of the other, x + 2 * (y + 2 * z).
    Octant(usize),
}

impl Link {
    /// Whether it links two LODs.
    pub const fn is_octant(self) -> bool {
        matches!(self, Self::Octant(_))
    }
}

/// The places that are linked with a place. Of each also whether it is the second one of the link.
pub(super) fn linked((lod, at): Place) -> impl Iterator<Item = (Link, bool, Place)> {
    let sides = directions().filter_map(move |(axis, upper)| {
        let mut beside = at;
        beside[axis] = if upper { at[axis].checked_add(1)? } else { at[axis].checked_sub(1)? };
        Some((Link::Side(axis), upper, (lod, beside)))
    });
    let octant = (0..3).map(|axis| usize::from(at[axis] & 1 == 1) << axis).sum();
    let parent = lod.checked_add(1).map(|lod| (Link::Octant(octant), true, (lod, at.map(|v| v.div_euclid(2)))));
    let children = (0..8).filter_map(move |octant| {
        let child = |axis: usize| at[axis].checked_mul(2)?.checked_add((octant >> axis & 1) as i32);
        let [Some(x), Some(y), Some(z)] = [0, 1, 2].map(child) else { return None };
        Some((Link::Octant(octant), false, (lod.checked_sub(1)?, [x, y, z])))
    });
    sides.chain(parent).chain(children)
}

/// How two regions go together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Joint {
    /// Seams or blocks that were compared.
    pub blocks: u32,
    /// The number of these times a value from 1 (like neighbours) to -1 (like strangers).
    pub weight: f64,
    pub joined: bool,
    /// Blocks that were compared and differ as strangers do, as many as add to the weight.
    pub refuted: u32,
}

impl Joint {
    /// Of so many blocks, with a score of 0 for neighbours and 1 for strangers; `all` also counts those without a partner.
    fn new(blocks: u32, all: u32, strange: f64) -> Self {
        Self {
            blocks,
            weight: (1.0 - 2.0 * strange).clamp(-1.0, 1.0) * f64::from(all.min(LIKENESS.most)),
            joined: strange <= LIKENESS.joined && blocks >= LIKENESS.fewest,
            refuted: 0,
        }
    }
}

/// Why the seams of a LOD show no wrong names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Silent {
    /// There are too few.
    TooFew,
    /// Those of strangers do not differ more than those of neighbours.
    Alike,
}

/// Along each axis the share of cells that differ between neighbours, and by how much that of strangers exceeds it; `None` where they
/// differ as much, so that borders show nothing.
type Axes = [Option<(f64, f64)>; 3];

/// How much neighbours and strangers differ, as the regions of a forest show it.
pub(super) struct Measure {
    axes: HashMap<u8, Result<Axes, Silent>>,
    /// The share of cells in which blocks differ from what other LODs have of them, and by how much that of other places exceeds it;
    /// `None` where that shows nothing.
    scaled: Option<(f64, f64)>,
}

impl Measure {
    /// Learns from files, each given with its LOD and what is known of its blocks. `pairs` are the shares of cells that differ between
    /// regions and what other LODs have of them, as the files are named.
    pub fn new<'s>(files: impl Iterator<Item = (u8, &'s Screened)>, mut pairs: Vec<f64>) -> Self {
        let mut tallies: BTreeMap<u8, [[Tally; 2]; 3]> = BTreeMap::new();
        let mut random = Tally::default();
        for (lod, screened) in files {
            let of_lod = tallies.entry(lod).or_default();
            for (axis, [near, random]) in of_lod.iter_mut().enumerate() {
                near.merge(screened.near[axis].into());
                random.merge(screened.random[axis].into());
            }
            if let Some(scaled) = screened.scaled() {
                random.merge(scaled.random);
            }
        }
        pairs.sort_unstable_by(f64::total_cmp);
        // Most files have their own names; where they have not, a LOD that fits is assumed to differ little.
        let near = pairs.get(pairs.len() / 2).map_or(0.0, |near| near.min(random.share() * LIKENESS.near));
        let telling = random.share() - near;
        let scaled = (random.cells >= LIKENESS.scaled * scaled::CELLS as u64 && telling >= LIKENESS.telling)
            .then_some((near, telling));
        Self { axes: tallies.into_iter().map(|(lod, tallies)| (lod, axes(&tallies))).collect(), scaled }
    }

    /// Why the seams of a LOD show nothing; `None` if they do.
    pub fn silent(&self, lod: u8) -> Option<Silent> {
        self.axes.get(&lod).map_or(Some(Silent::TooFew), |axes| axes.err())
    }

    /// Whether LODs can be compared.
    pub const fn has_scaled(&self) -> bool {
        self.scaled.is_some()
    }

    /// How two regions go together that are linked so; `lod` is that of the first one.
    pub fn compare(&self, link: Link, lod: u8, first: &Screened, second: &Screened) -> Joint {
        match link {
            Link::Side(axis) => {
                let axes = self.axes.get(&lod).and_then(|axes| axes.ok());
                let shares = axes.and_then(|axes| axes[axis % 3]);
                let borders = (first.border(axis, true), second.border(axis, false));
                shares.map_or_else(Joint::default, |shares| compare_borders(shares, borders.0, borders.1))
            }
            Link::Octant(octant) => {
                let other = second;
                let Some(((near, telling), (first, second))) = self.scaled.zip(first.scaled().zip(other.scaled()))
                else {
                    return Joint::default();
                };
                let likeness = first.own.compare(&second.finer[octant % 8]);
                if likeness.blocks < LIKENESS.fewest {
                    // The engine makes a block of the next LOD whenever it saves one.
                    let is_known = likeness.has_coarser && !other.has_unknown();
                    let missing = if is_known { likeness.alone.min(LIKENESS.most / 2) } else { 0 };
                    return Joint { weight: -f64::from(missing), ..Joint::default() };
                }
                let strange = (likeness.share() - near) / telling;
                let joint = Joint::new(likeness.blocks, likeness.blocks, strange);
                Joint { weight: joint.weight * LIKENESS.of_block, refuted: refuted(likeness.blocks, strange), ..joint }
            }
        }
    }
}

/// What seams between neighbours and between strangers show along each axis.
fn axes(tallies: &[[Tally; 2]; 3]) -> Result<Axes, Silent> {
    let sum = |which: usize| {
        tallies.iter().fold(Tally::default(), |mut all, tallies| {
            all.merge(tallies[which]);
            all
        })
    };
    let all = [sum(0), sum(1)];
    if all.iter().any(|all| all.cells < LIKENESS.seams * sketch::CELLS as u64) {
        return Err(Silent::TooFew);
    }
    // Noise that is the same at all heights continues upwards and nowhere else.
    let axes = [0, 1, 2].map(|axis| {
        let own = tallies[axis];
        let is_known = own.iter().all(|own| own.cells >= LIKENESS.seams * sketch::CELLS as u64 / 3);
        let [near, random] = if is_known { own } else { all };
        let telling = random.share() - near.share();
        (telling >= LIKENESS.telling).then(|| (near.share(), telling))
    });
    if axes.iter().all(Option::is_none) { Err(Silent::Alike) } else { Ok(axes) }
}

/// How two borders go together. `near` is the share of cells that differ between neighbours, and `telling` by how much that of
/// strangers exceeds it.
fn compare_borders((near, telling): (f64, f64), lower: Border<'_>, upper: Border<'_>) -> Joint {
    let (mut differ, mut common) = (0, 0);
    let has = |border: Border<'_>, at: &[u16; 2]| border.sides.iter().position(|(other, _)| other == at);
    for (at, side) in lower.sides {
        if let Some(k) = has(upper, at) {
            differ += side.differ(&upper.sides[k].1);
            common += 1;
        }
    }
    // If a border has all its telling sides, one without a partner shows that the terrain ends there.
    let alone = |own: Border<'_>, other: Border<'_>| {
        let is_missing = |at: &[u16; 2]| has(other, at).is_none() && !other.unknown.contains(at);
        let missing = own.sides.iter().filter(|(at, _)| is_missing(at)).count() as u32;
        if other.is_complete { missing } else { 0 }
    };
    let alone = alone(lower, upper) + alone(upper, lower);
    let seams = common + alone;
    if seams < LIKENESS.fewest {
        return Joint::default();
    }
    let half = f64::from(alone) * sketch::CELLS as f64 / 2.0;
    let share = (f64::from(differ) + half) / (f64::from(seams) * sketch::CELLS as f64);
    let share_of_common = f64::from(differ) / (f64::from(common.max(1)) * sketch::CELLS as f64);
    let refuted = refuted(common, (share_of_common - near) / telling);
    Joint { refuted, ..Joint::new(common, seams, (share - near) / telling) }
}

/// How many blocks show that two regions do not go together, of so many that were compared.
fn refuted(blocks: u32, strange: f64) -> u32 {
    if strange >= LIKENESS.refuted && blocks >= LIKENESS.fewest { blocks.min(LIKENESS.most) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::{Extent, ForestSpec};
    use crate::recover::sketch::Sketch;

    const SIZE: [u16; 3] = [8, 2, 8];

    /// The blocks of a region around the surface of a world that satisfy a condition; of the others nothing is known.
    fn region(x: i32, is_known: impl Fn([u16; 3]) -> bool) -> Screened {
        let spec = ForestSpec { lods: vec![Extent { from: [0, 0, 0], to: [16, 2, 8] }], ..ForestSpec::default() };
        let all = (0..8).flat_map(|x| (0..2).flat_map(move |y| (0..8).map(move |z| [x, y, z])));
        let (known, unknown): (Vec<[u16; 3]>, Vec<[u16; 3]>) = all.partition(|at| is_known(*at));
        let sketch = |at: [u16; 3]| {
            let [dx, y, z] = at.map(i32::from);
            Some((at, Sketch::draw(&spec.block(0, [x * 8 + dx, y, z]).view())?))
        };
        let sketches: Vec<_> = known.into_iter().filter_map(sketch).collect();
        Screened::new(&sketches, SIZE).with_unknown(&unknown, SIZE)
    }

    #[test]
    fn blocks_of_which_nothing_is_known_say_nothing_about_a_border() {
        let files = [region(0, |_| true), region(1, |_| true)];
        let measure = Measure::new(files.iter().map(|file| (0, file)), Vec::new());
        let joint = |second: &Screened| measure.compare(Link::Side(0), 0, &files[0], second);
        let whole = joint(&files[1]);
        assert!(whole.joined && whole.weight > 3.0, "{whole:?}");
        let half = joint(&region(1, |at| at[2] < 4));
        assert!(half.joined && half.weight > 0.0 && half.blocks < whole.blocks, "{half:?}");
        assert_eq!(joint(&region(1, |_| false)).weight, 0.0, "no block has a known place");
        assert!(joint(&Screened::new(&[], SIZE)).weight < 0.0, "no block was ever stored");
    }
}
