//! The keys of a stream as slots of one virtual region.
//!
//! A block may belong to any key, so all LODs are in one region: side by side along the x axis, with slots between them that no
//! key has. Keys may be far apart, so of a gap along an axis only the slots beside its ends are there.

use std::collections::{BTreeMap, BTreeSet};

use crate::godot::slots::{self, SlotFormula};
use crate::godot::stream::loc::Place;
use crate::save::SlotPositions;

/// The most slots of the region. Only those beside blocks take memory.
const SLOTS: u64 = 1 << 31;

/// The most slots from one coordinate in use to the next one: those beside both, and one between.
const GAP: i64 = 4;

/// The slots along an axis.
#[derive(Debug)]
struct Axis {
    /// The coordinate of each slot; `None` within a gap.
    coordinates: Vec<Option<i32>>,
    slots: BTreeMap<i32, u16>,
}

impl Axis {
    /// The slots of coordinates in use, and those beside them; `None` if there are too many.
    fn new(used: &BTreeSet<i32>) -> Option<Self> {
        let mut coordinates: Vec<Option<i32>> = Vec::new();
        let mut last: Option<i32> = None;
        for &at in used {
            let gap = last.map_or(GAP, |last| (i64::from(at) - i64::from(last)).min(GAP));
            if gap >= 3 {
                coordinates.extend(last.map(|last| last.checked_add(1)));
                coordinates.extend((gap == GAP).then_some(None));
            }
            if gap >= 2 {
                coordinates.push(at.checked_sub(1));
            }
            coordinates.push(Some(at));
            last = Some(at);
        }
        coordinates.push(last.and_then(|last| last.checked_add(1)));
        coordinates.push(None);
        u16::try_from(coordinates.len()).ok()?;
        let slots = (0..).zip(&coordinates).filter_map(|(slot, at)| Some(((*at)?, slot))).collect();
        Some(Self { coordinates, slots })
    }
}

/// The keys of a stream as slots.
#[derive(Debug)]
pub(super) struct Layout {
    /// The slots of each LOD, and its first one along x.
    lods: BTreeMap<u8, (u16, [Axis; 3])>,
    size: [u16; 3],
}

impl Layout {
    /// The slots of some places and of those beside them; `None` if there are too many.
    pub fn new(places: impl Iterator<Item = Place>) -> Option<Self> {
        let mut used: BTreeMap<u8, [BTreeSet<i32>; 3]> = BTreeMap::new();
        for Place { lod, position } in places {
            let axes = used.entry(lod).or_default();
            for (axis, at) in axes.iter_mut().zip(position) {
                axis.insert(at);
            }
        }
        let mut size = [0u16; 3];
        let mut lods = BTreeMap::new();
        for (lod, [x, y, z]) in &used {
            let axes = [Axis::new(x)?, Axis::new(y)?, Axis::new(z)?];
            let len = |axis: &Axis| u16::try_from(axis.coordinates.len()).unwrap_or(u16::MAX);
            let first = size[0];
            size = [size[0].checked_add(len(&axes[0]))?, size[1].max(len(&axes[1])), size[2].max(len(&axes[2]))];
            lods.insert(*lod, (first, axes));
        }
        let volume = size.iter().map(|&n| u64::from(n)).try_fold(1u64, u64::checked_mul)?;
        (volume <= SLOTS).then_some(Self { lods, size })
    }

    /// Where its slots are.
    pub const fn shape(&self) -> SlotPositions {
        SlotPositions { region: [0; 3], size: self.size, formula: SlotFormula::Euclidean }
    }

    /// The slot of a place.
    pub fn slot(&self, Place { lod, position: [x, y, z] }: Place) -> Option<u32> {
        let (first, [along_x, along_y, along_z]) = self.lods.get(&lod)?;
        let x = first.checked_add(*along_x.slots.get(&x)?)?;
        slots::index(self.size, [x, *along_y.slots.get(&y)?, *along_z.slots.get(&z)?])
    }

    /// The place of a slot; `None` for one that no key has.
    pub fn place(&self, slot: u32) -> Option<Place> {
        let at = slots::position(self.size, slot)?;
        let (&lod, (first, axes)) = self.lods.iter().rfind(|(_, (first, _))| *first <= at[0])?;
        let [x, y, z] = [at[0].checked_sub(*first)?, at[1], at[2]];
        let along = |axis: &Axis, slot: u16| *axis.coordinates.get(usize::from(slot))?;
        Some(Place { lod, position: [along(&axes[0], x)?, along(&axes[1], y)?, along(&axes[2], z)?] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_slots_are_each_others_inverse() {
        let place = |lod, position| Place { lod, position };
        let all = [
            place(0, [0, 0, 0]),
            place(0, [1, 0, 0]),
            place(0, [3, 2, 0]),
            place(0, [-70_000, 0, 900]),
            place(3, [i32::MAX, i32::MIN, 5]),
        ];
        let layout = Layout::new(all.iter().copied()).unwrap();
        for place in all {
            assert_eq!(layout.place(layout.slot(place).unwrap()), Some(place));
        }
        assert!(layout.size.iter().all(|n| *n < 32), "{:?}", layout.size);
        let beside = layout.slot(place(0, [2, 0, 0])).unwrap();
        assert_eq!(layout.place(beside), Some(place(0, [2, 0, 0])), "a slot beside blocks");
        assert_eq!(layout.slot(place(0, [500, 0, 0])), None, "far from all");
    }

    #[test]
    fn neighbours_stay_neighbours_and_no_others_become_some() {
        let used: Vec<i32> = vec![-9, -8, -4, -1, 0, 2, 9];
        let places = || used.iter().map(|&x| Place { lod: 1, position: [x, 0, 0] });
        let layout = Layout::new(places()).unwrap();
        let x = |place: Place| slots::position(layout.size, layout.slot(place).unwrap()).unwrap()[0];
        for (a, b) in places().zip(places().skip(1)) {
            let (apart, slots) = (b.position[0] - a.position[0], i32::from(x(b)) - i32::from(x(a)));
            assert_eq!(slots, apart.min(4), "{a:?} {b:?}");
        }
    }
}
