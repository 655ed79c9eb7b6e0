//! How much worse everything would fit if a group of blocks were exchanged with others.
//!
//! Blocks of one group fit each other wherever they are: a column of ground fits nearly as well beside its own place, and
//! each of its blocks holds the others there. So whole groups are compared with what else could be in their places.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::parallel;
use crate::recover::assemble::board::Board;
use crate::recover::assemble::growth;
use crate::recover::assemble::judge::Around;
use crate::recover::assemble::links::{Link, around};
use crate::recover::assemble::revise::{Held, Places};

/// Places of a group that are compared cell by cell.
const PLACES: usize = 24;

/// The least odds of a seam that joins two blocks to a group, and the most blocks of one. Chosen.
const BOND: f64 = 1.0;
const MOST: usize = 24;

/// How much higher or lower a group may be: blocks of other heights look different.
const HIGHER: i32 = 1;

impl Places<'_> {
    /// For each slot whose block is in a group, the largest sum of the odds of all exchanges of such a group. Only groups with a
    /// slot that is asked for are weighed.
    pub fn weigh_groups(&self, board: &Board<'_>, asked: &HashSet<u32>) -> HashMap<u32, f64> {
        let groups = self.find_groups(board);
        let asked: Vec<&BTreeSet<u32>> =
            groups.iter().filter(|group| group.iter().any(|slot| asked.contains(slot))).collect();
        let odds: Vec<f64> = parallel::map(&asked, |group| self.weigh_group(board, group));
        let mut of: HashMap<u32, f64> = HashMap::new();
        for (group, odds) in asked.into_iter().zip(odds) {
            for slot in group {
                let most = of.entry(*slot).or_default();
                *most = most.max(odds);
            }
        }
        of
    }

    /// The groups that arise when blocks are joined, those with the surest seam first.
    fn find_groups(&self, board: &Board<'_>) -> Vec<BTreeSet<u32>> {
        let mut seams: Vec<(f64, u32, u32)> = Vec::new();
        for (&slot, &block) in &self.held {
            let (Some(i), Some((lod, position))) = (block, self.position(board, slot)) else { continue };
            for (link, at) in
                around(lod, position, false).into_iter().filter(|(link, _)| matches!(link, Link::Beside(_, true)))
            {
                let Some((r, other)) = board.slot_at(at.0, at.1) else { continue };
                let Some(Some(j)) = self.held.get(&other).filter(|_| r == self.case) else { continue };
                let odds = board.side_odds(self.node(i), link, self.node(*j));
                if odds >= BOND {
                    seams.push((odds, slot, other));
                }
            }
        }
        seams.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut group_of: HashMap<u32, usize> = HashMap::new();
        let mut members: Vec<BTreeSet<u32>> = Vec::new();
        let mut groups = Vec::new();
        for (_, a, b) in seams {
            let mut group = |slot: u32| {
                *group_of.entry(slot).or_insert_with(|| {
                    members.push([slot].into());
                    members.len() - 1
                })
            };
            let (a, b) = (group(a), group(b));
            if a == b {
                continue;
            }
            let (keep, drop) = if members[a].len() >= members[b].len() { (a, b) } else { (b, a) };
            let moved = std::mem::take(&mut members[drop]);
            group_of.extend(moved.iter().map(|slot| (*slot, keep)));
            members[keep].extend(moved);
            if members[keep].len() <= MOST {
                groups.push(members[keep].clone());
            }
        }
        groups
    }

    /// The sum of the odds of all exchanges of a group.
    fn weigh_group(&self, board: &Board<'_>, group: &BTreeSet<u32>) -> f64 {
        let Some(&first) = group.first() else { return 0.0 };
        let Some((lod, from)) = self.position(board, first) else { return 0.0 };
        let sides: Vec<(u32, usize)> =
            group.iter().filter_map(|slot| Some((*slot, self.held.get(slot).copied().flatten()?))).collect();
        let mut ranked: Vec<(f64, usize)> = Vec::new();
        let targets: Vec<u32> = self.held.keys().copied().collect();
        for (t, target) in targets.iter().enumerate() {
            let Some((_, to)) = self.position(board, *target).filter(|_| *target != first) else { continue };
            let by: [i32; 3] = std::array::from_fn(|axis| to[axis] - from[axis]);
            if by[1].abs() > HIGHER {
                continue;
            }
            let (mut sum, mut fits) = (0.0, true);
            for &(slot, i) in &sides {
                let Some((_, at)) = self.position(board, slot) else { continue };
                let at: [i32; 3] = std::array::from_fn(|axis| at[axis] + by[axis]);
                let there = board.slot_at(lod, at).filter(|(r, slot)| *r == self.case && self.held.contains_key(slot));
                fits &= there.is_some();
                if !fits {
                    break;
                }
                let around: Vec<Around> = around(lod, at, false)
                    .into_iter()
                    .filter(|(_, (_, at))| {
                        let back = std::array::from_fn(|axis| at[axis] - by[axis]);
                        board.slot_at(lod, back).is_none_or(|(r, slot)| r != self.case || !group.contains(&slot))
                    })
                    .filter_map(|(link, at)| Around::new(board, &(link, *board.placed.get(&at)?, 1.0)))
                    .collect();
                sum +=
                    self.growth.estimate(board, self.case, i, &around) + board.heights.odds(self.node(i), lod, at[1]);
            }
            if fits {
                ranked.push((sum, t));
            }
        }
        growth::keep_best(&mut ranked, PLACES);
        let odds = ranked.into_iter().filter_map(|(_, t)| {
            let (_, to) = self.position(board, targets[t])?;
            self.exchange(board, group, std::array::from_fn(|axis| to[axis] - from[axis]))
        });
        odds.map(f64::exp).sum()
    }

    /// What is gained if the blocks of some slots move; `None` if one of them cannot.
    fn exchange(&self, board: &Board<'_>, group: &BTreeSet<u32>, by: [i32; 3]) -> Option<f64> {
        let step = |slot: u32, sign: i32| -> Option<u32> {
            let (lod, at) = self.position(board, slot)?;
            let at = std::array::from_fn(|axis| at[axis] + sign * by[axis]);
            board.slot_at(lod, at).filter(|(r, _)| *r == self.case).map(|(_, slot)| slot)
        };
        let mut slots = Held::new();
        for &slot in group {
            let to = step(slot, 1)?;
            let there = *self.held.get(&to)?;
            slots.insert(to, *self.held.get(&slot)?);
            if !group.contains(&to) {
                // What is in the way goes to the first place that is left.
                let mut first = slot;
                while let Some(before) = step(first, -1).filter(|before| group.contains(before)) {
                    first = before;
                }
                slots.insert(first, there);
            }
        }
        Some(self.sum_around(board, &slots, true) - self.sum_around(board, &slots, false))
    }

    /// The log-odds of everything in some slots and beside them, before or after an exchange.
    fn sum_around(&self, board: &Board<'_>, slots: &Held, after: bool) -> f64 {
        let mut sum = 0.0;
        for (&slot, &new) in slots {
            let held =
                |slot: u32, new: Option<usize>| if after { new } else { self.held.get(&slot).copied().flatten() };
            let Some((lod, position)) = self.position(board, slot) else { continue };
            let Some(i) = held(slot, new) else { continue };
            let node = self.node(i);
            let mut beside = 0;
            for (link, at) in around(lod, position, board.lods) {
                let other = match board.slot_at(at.0, at.1).filter(|(r, _)| *r == self.case) {
                    Some((_, other)) if slots.contains_key(&other) => {
                        held(other, slots.get(&other).copied().flatten()).map(|i| (self.node(i), true))
                    }
                    _ => board.placed.get(&at).map(|node| (*node, false)),
                };
                let Some((other, inside)) = other else { continue };
                beside += usize::from(matches!(link, Link::Beside(..)));
                // Seams within the group are met from both sides.
                let share = if inside { 0.5 } else { 1.0 };
                sum += if other == node { 0.0 } else { share * board.side_odds(node, link, other) };
            }
            let hint =
                self.growth.loose[self.case][i].hints.iter().find(|(of, _)| *of == slot).map_or(0.0, |(_, odds)| *odds);
            sum += hint
                + self.growth.occupied(board, self.case, slot, beside)
                + board.heights.odds(node, lod, position[1]);
        }
        sum
    }
}
