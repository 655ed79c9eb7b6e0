//! Places unowned blocks one after the other, the surest first.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::parallel;
use crate::recover::assemble::board::{Board, Node, Suspect};
use crate::recover::assemble::judge::Around;
use crate::recover::assemble::links::{Few, Link, SIDES, around};
use crate::recover::assemble::matching::{self, Edge, Group};
use crate::recover::assemble::{Loose, Moved, Start};
use crate::recover::decide::Certainty;
use crate::watch::Watch;

/// Blocks that are compared cell by cell for one slot.
const FULL: usize = 64;

/// Comparisons of sides by some of their cells, for one save.
const STEPS: u64 = 400_000_000;

/// Pairs of a slot and a content that are compared when places are revised, for one save. Measured on full regions: where a run of a
/// third of the entries is lost, 5 million are compared at most, and where all are lost, 250 million in about a minute; of two such
/// regions 693 and 71 places were certain with all of them, 689 and 96 with this limit.
const REVISIONS: u64 = 16_000_000;

/// A copy of a block is an old one if its log-odds of being in use are so much lower than those of the likeliest copy. Chosen.
const OLD_COPY: f64 = 6.0;

/// Log-odds of a block that fits another slot better to belong to that of its entry, and to the other one: its seams shall decide.
/// Measured on 8 kinds of exchanged entries: with more for the other slot more places were wrong.
const OWN_ENTRY: f64 = 3.0;
const FITS_BETTER: f64 = 2.0;

/// The least probability of a guess, and the part of all guesses that is placed before the others are made anew. Chosen.
const GUESS: f64 = 0.05;
const GUESSED: usize = 8;

/// The least probability of a place that is listed as a possible one.
const LISTED: f64 = 0.005;

/// A slot that may be filled.
pub(super) struct Open {
    case: usize,
    slot: u32,
    links: Vec<(Link, Node)>,
    /// Occupied neighbours.
    pub beside: usize,
    /// How many of the neighbours count in an estimate: those that were found before the budget was used up.
    estimated: usize,
    /// Unowned blocks by their index among them, with log-odds.
    candidates: Vec<(usize, f64)>,
    /// The sums of the seams of some of them.
    sums: SeamSums,
    stale: bool,
}

/// Sums for which room is made at once: there are thousands of slots, so room for twice as many would be large.
const MORE_SUMS: usize = 16;

/// For some unowned blocks the sum of their seams with the neighbours of a slot.
#[derive(Default)]
struct SeamSums(Vec<SeamSum>);

struct SeamSum {
    /// The index of the block among the unowned ones. The sums are in its order.
    block: u32,
    /// How many neighbours count in it.
    links: u32,
    odds: f64,
}

impl SeamSums {
    /// The sum of a block; 0 from no neighbour if there was none.
    fn find_or_add(&mut self, block: usize) -> &mut SeamSum {
        let at = self.0.binary_search_by_key(&block, |sum| sum.block as usize);
        let at = at.unwrap_or_else(|at| {
            if self.0.len() == self.0.capacity() {
                self.0.reserve_exact(MORE_SUMS);
            }
            self.0.insert(at, SeamSum { block: block as u32, links: 0, odds: 0.0 });
            at
        });
        &mut self.0[at]
    }
}

/// A block that was placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grown {
    pub case: usize,
    pub slot: u32,
    pub loose: usize,
    pub certainty: Certainty,
    pub p: f64,
}

/// The state of the search.
pub(super) struct Growth {
    /// Unowned blocks of each case.
    pub loose: Vec<Vec<Loose>>,
    /// Whether each of them is placed.
    pub used: Vec<Vec<bool>>,
    /// For each case and side some cells of each unowned block.
    pub few: Vec<Vec<Few>>,
    pub filled: Vec<HashSet<u32>>,
    pub damaged: Vec<HashSet<u32>>,
    pub open: BTreeMap<(usize, u32), Open>,
    pub grown: Vec<Grown>,
    /// For each case, the slots and blocks that were taken out.
    pub withdrawn: Vec<Vec<(u32, usize)>>,
    /// For each case, whether its entries were mixed up.
    pub mixed: Vec<bool>,
    /// The slots of those that fit another one better: cases and slots.
    moved: HashSet<(usize, u32)>,
    /// Comparisons that are left.
    pub budget: u64,
    /// Pairs of a slot and a content that may still be compared when places are revised.
    pub revisions: u64,
    /// Unowned blocks by case and voxels.
    pub copies: HashMap<(usize, u128), Vec<usize>>,
    /// For each case the possible places: probability, slot and unowned block; `None` when they have to be found anew.
    pub possible: Vec<Option<Vec<(f64, u32, usize)>>>,
}

impl Growth {
    pub fn new(board: &Board<'_>, starts: &[Start], mixed: Vec<bool>, effort: u64) -> Self {
        let loose: Vec<Vec<Loose>> = starts.iter().map(|start| start.loose.clone()).collect();
        let n = board.cases.len();
        Self {
            used: loose.iter().map(|of| vec![false; of.len()]).collect(),
            few: vec![Vec::new(); n],
            filled: starts.iter().map(|start| start.anchors.iter().map(|(slot, _)| *slot).collect()).collect(),
            damaged: starts.iter().map(|start| start.damaged.clone()).collect(),
            open: BTreeMap::new(),
            grown: Vec::new(),
            withdrawn: vec![Vec::new(); n],
            mixed,
            moved: HashSet::new(),
            budget: STEPS.saturating_mul(effort),
            revisions: REVISIONS.saturating_mul(effort),
            copies: HashMap::new(),
            possible: vec![None; n],
            loose,
        }
    }

    /// For each case, about how many blocks in use have no place.
    pub fn missing(&self) -> Vec<f64> {
        let live = |loose: &Loose| 1.0 / (1.0 + (-loose.live).exp());
        let of_case = |(loose, used): (&Vec<Loose>, &Vec<bool>)| {
            loose.iter().zip(used).filter(|(_, used)| !**used).map(|(loose, _)| live(loose)).sum()
        };
        self.loose.iter().zip(&self.used).map(of_case).collect()
    }

    /// Takes out anchors that the seams contradict, to be placed with the others.
    pub fn withdraw(&mut self, board: &mut Board<'_>, suspects: Vec<Suspect>) {
        for (r, slot, block) in suspects {
            if !self.moved.contains(&(r, slot)) {
                let hints = vec![(slot, board.weights.entry_right)];
                self.withdraw_one(board, (r, slot, block), hints);
            }
        }
    }

    /// Takes out anchors that fit another slot better, to be placed with the others.
    pub fn withdraw_moved(&mut self, board: &mut Board<'_>, moved: Vec<Moved>) {
        for Moved { case, slot, block, to } in moved {
            if self.moved.insert((case, slot)) {
                self.withdraw_one(board, (case, slot, block), vec![(slot, OWN_ENTRY), (to, FITS_BETTER)]);
            }
        }
    }

    /// Takes out an anchor. `hints` are the slots that something supports, with log-odds.
    fn withdraw_one(&mut self, board: &mut Board<'_>, (r, slot, block): Suspect, hints: Vec<(u32, f64)>) {
        let case = board.cases[r];
        if let Some(at) = case.shape.position(slot) {
            board.placed.remove(&(case.lod, at));
        }
        self.filled[r].remove(&slot);
        self.withdrawn[r].push((slot, block));
        self.damaged[r].insert(slot);
        let live = board.weights.live_tiled;
        self.loose[r].push(Loose { block, live, hints });
        self.used[r].push(false);
    }

    fn prepare(&mut self, board: &Board<'_>) {
        for (r, loose) in self.loose.iter().enumerate() {
            for (i, loose) in loose.iter().enumerate() {
                self.copies.entry((r, board.cases[r].voxels(loose.block))).or_default().push(i);
            }
        }
        // Those that are likeliest in use come first.
        for ((r, _), copies) in &mut self.copies {
            let live = |i: usize| self.loose[*r][i].live;
            copies.sort_unstable_by(|&a, &b| live(b).total_cmp(&live(a)).then(a.cmp(&b)));
        }
        for (r, loose) in self.loose.iter().enumerate() {
            let of_side = |side: usize| {
                let few = parallel::map(loose, |loose| Some(board.sides_of((r, loose.block))?.few(side)));
                few.into_iter().collect()
            };
            self.few[r] = (0..SIDES).map(of_side).collect();
        }
        self.reopen(board);
    }

    /// Finds the slots that may be filled, and what is beside them.
    pub fn reopen(&mut self, board: &Board<'_>) {
        self.open.clear();
        self.possible.iter_mut().for_each(|of| *of = None);
        let mut placed: Vec<((u8, [i32; 3]), Node)> = board.placed.iter().map(|(at, node)| (*at, *node)).collect();
        placed.sort_unstable();
        for (r, loose) in self.loose.iter().enumerate() {
            let slots: HashSet<u32> = loose.iter().flat_map(|loose| &loose.hints).map(|(slot, _)| *slot).collect();
            for slot in slots.into_iter().filter(|slot| !self.filled[r].contains(slot)) {
                self.open.insert((r, slot), Open::new(r, slot));
            }
        }
        for (at, node) in placed {
            self.add_links(board, at, node);
        }
    }

    /// Adds a placed block to the slots beside it.
    fn add_links(&mut self, board: &Board<'_>, (lod, position): (u8, [i32; 3]), node: Node) {
        for (link, at) in around(lod, position, board.lods) {
            let Some((r, slot)) = board.slot_at(at.0, at.1) else { continue };
            if self.loose[r].is_empty() || self.filled[r].contains(&slot) {
                continue;
            }
            let n = self.loose[r].len();
            let open = self.open.entry((r, slot)).or_insert_with(|| Open::new(r, slot));
            open.links.push((link.reversed(), node));
            open.beside += usize::from(matches!(link, Link::Beside(..)));
            open.stale = true;
            if n <= FULL {
                continue;
            }
            if self.budget < n as u64 {
                self.budget = 0;
                continue;
            }
            self.budget -= n as u64;
            open.estimated = open.links.len();
        }
    }

    /// The slots of a region that may be filled.
    pub fn open_slots(&self, r: usize) -> impl Iterator<Item = (u32, &Open)> {
        self.open.range((r, 0)..(r + 1, 0)).map(|((_, slot), open)| (*slot, open))
    }

    /// The log-odds that a slot holds a block, by its entry and how many of the slots beside it do.
    pub fn occupied(&self, board: &Board<'_>, r: usize, slot: u32, beside: usize) -> f64 {
        let odds = board.occupancy[beside.min(6)];
        if self.damaged[r].contains(&slot) { board.weights.damaged_entry.max(odds) } else { odds }
    }

    /// Compares the best unowned blocks of slots cell by cell.
    fn refresh(&mut self, board: &Board<'_>) {
        let occupied: HashMap<(usize, u32), f64> = self
            .open
            .values()
            .filter(|open| open.stale)
            .map(|open| ((open.case, open.slot), self.occupied(board, open.case, open.slot, open.beside)))
            .collect();
        let (loose, used, few) = (&self.loose, &self.used, &self.few);
        // Of each content one.
        let mut unused: Vec<Vec<usize>> = vec![Vec::new(); loose.len()];
        for ((r, _), copies) in &self.copies {
            let mut copies = copies.iter().copied().filter(|&i| !used[*r][i]);
            unused[*r].extend(copies.next());
            unused[*r].extend(copies.filter(|&i| !loose[*r][i].hints.is_empty()));
        }
        unused.iter_mut().for_each(|of| of.sort_unstable());
        let mut stale: Vec<&mut Open> = self.open.values_mut().filter(|open| open.stale).collect();
        stale.iter().for_each(|open| self.possible[open.case] = None);
        parallel::each_mut(&mut stale, |open| {
            let r = open.case;
            let case = board.cases[r];
            let height = case.shape.position(open.slot).map_or(0, |position| position[1]);
            let at_height = |i: usize| board.heights.odds((r, loose[r][i].block), case.lod, height);
            let mut order: Vec<usize> = unused[r].clone();
            if order.len() > FULL {
                let around = open.estimated_by(board);
                // Computed each time: the estimates of all blocks for all slots would take too much memory.
                let estimate = |i: usize| {
                    let odds = around.iter().filter_map(|of| of.odds(board, &few[r], i));
                    f64::from(odds.fold(0.0, |sum, odds| sum + odds)) + at_height(i)
                };
                let mut ranked: Vec<(f64, usize)> = order.iter().map(|&i| (estimate(i), i)).collect();
                ranked.select_nth_unstable_by(FULL, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                order = ranked.iter().map(|(_, i)| *i).collect();
                let rest = order.split_off(FULL);
                order.extend(rest.into_iter().filter(|&i| loose[r][i].has_hint(open.slot)));
            }
            let occupied = occupied.get(&(r, open.slot)).copied().unwrap_or(0.0);
            open.candidates = order
                .into_iter()
                .map(|i| {
                    let block = &loose[r][i];
                    let hint = block.hints.iter().find(|(slot, _)| *slot == open.slot).map_or(0.0, |(_, odds)| *odds);
                    let sum = open.sums.find_or_add(i);
                    let new = open.links.get(sum.links as usize..).unwrap_or_default();
                    sum.odds += board.seams((r, block.block), new).0;
                    sum.links = open.links.len() as u32;
                    (i, sum.odds + occupied + hint + at_height(i))
                })
                .collect();
            open.stale = false;
        });
    }

    pub fn grow(&mut self, board: &mut Board<'_>, watch: &Watch<'_>) {
        self.prepare(board);
        let weights = board.weights;
        // Each block that is back in its place says more about the others, so the surest come first.
        for least in [weights.entry_right, 0.0, -weights.entry_right] {
            loop {
                self.fill(board, &[(Certainty::Certain, weights.certain)], watch);
                if !self.restore(board, least) {
                    break;
                }
            }
        }
        self.fill(board, &[(Certainty::Likely, weights.likely), (Certainty::Candidate, weights.candidate)], watch);
    }

    /// Places what is left, down to guesses, all of which are looked at again. Returns whether any was placed.
    pub fn guess(&mut self, board: &mut Board<'_>, watch: &Watch<'_>) -> bool {
        let weights = board.weights;
        let levels = [weights.likely, weights.candidate, GUESS].map(|least| (Certainty::Candidate, least));
        let before = self.grown.len();
        self.fill(board, &levels, watch);
        self.grown.len() > before
    }

    /// Places blocks, level by level: the certainty that they get, and the least probability.
    fn fill(&mut self, board: &mut Board<'_>, levels: &[(Certainty, f64)], watch: &Watch<'_>) {
        let mut level = 0;
        while let Some(&(certainty, least)) = levels.get(level).filter(|_| !watch.is_cancelled()) {
            self.refresh(board);
            let mut best = self.best(board, least);
            if certainty == Certainty::Certain {
                best.retain(|&(_, r, slot, i)| !self.rests_on_entry(board, r, slot, i));
            }
            if best.is_empty() {
                level += 1;
                continue;
            }
            if least < board.weights.candidate {
                // Each makes the next surer.
                best.truncate(best.len().div_ceil(GUESSED));
            }
            for (p, case, slot, i) in best {
                if self.filled[case].contains(&slot) {
                    continue;
                }
                let Some(loose) = self.choose_copy(board, case, slot, i) else { continue };
                self.place(board, Grown { case, slot, loose, certainty, p });
            }
        }
    }

    /// Whether only an entry supports a block in a slot of a region whose entries were mixed up: its seams do not, or no neighbour is placed.
    fn rests_on_entry(&self, board: &Board<'_>, r: usize, slot: u32, i: usize) -> bool {
        let is_own = self.mixed[r] && self.loose[r][i].has_hint(slot);
        let links = self.open.get(&(r, slot)).map_or(&[][..], |open| &open.links);
        is_own && board.seams((r, self.loose[r][i].block), links).0 <= 0.0
    }

    /// Chooses an unused block of the same voxels for a slot: the given one if it has a hint for that slot, or else one without
    /// hints for other slots.
    fn choose_copy(&self, board: &Board<'_>, case: usize, slot: u32, i: usize) -> Option<usize> {
        let loose = &self.loose[case];
        let copies = self.copies.get(&(case, board.cases[case].voxels(loose[i].block))).map_or(&[][..], Vec::as_slice);
        let is_here = loose[i].has_hint(slot);
        let here = is_here.then_some(i).into_iter();
        let free = |&i: &usize| loose[i].hints.is_empty();
        let mut all = here.chain(copies.iter().copied().filter(free)).chain([i]).chain(copies.iter().copied());
        all.find(|&i| !self.used[case][i])
    }

    /// Puts back blocks that were taken out and have no place that is better beyond doubt, where the seams with what is
    /// beside them by now are more than `least`. Returns whether there was one. If entries were mixed up, too many
    /// of them are wrong.
    fn restore(&mut self, board: &mut Board<'_>, least: f64) -> bool {
        let mut any = false;
        for (r, case) in board.cases.iter().enumerate() {
            if self.mixed[r] {
                continue;
            }
            for (slot, block) in self.withdrawn[r].clone() {
                if self.moved.contains(&(r, slot)) {
                    continue;
                }
                let found = self.loose[r].iter().rposition(|loose| loose.block == block);
                let Some(loose) = found.filter(|&i| !self.used[r][i] && !self.filled[r].contains(&slot)) else {
                    continue;
                };
                let links = case.shape.position(slot).map(|at| board.links(case.lod, at)).unwrap_or_default();
                let (sum, _) = board.seams((r, block), &links);
                if sum > least {
                    self.place(board, Grown { case: r, slot, loose, certainty: Certainty::Certain, p: 1.0 });
                    any = true;
                }
            }
        }
        any
    }

    fn place(&mut self, board: &mut Board<'_>, grown: Grown) {
        let Grown { case, slot, loose, .. } = grown;
        self.used[case][loose] = true;
        self.possible[case] = None;
        self.filled[case].insert(slot);
        self.open.remove(&(case, slot));
        self.grown.push(grown);
        let lod = board.cases[case].lod;
        if let Some(at) = board.cases[case].shape.position(slot) {
            let node = (case, self.loose[case][loose].block);
            board.placed.insert((lod, at), node);
            self.add_links(board, (lod, at), node);
        }
    }

    /// The pairs of slots and blocks whose probability is at least `least`, the likeliest first.
    fn best(&mut self, board: &Board<'_>, least: f64) -> Vec<(f64, usize, u32, usize)> {
        let asked: Vec<usize> = (0..self.possible.len()).filter(|&r| self.possible[r].is_none()).collect();
        let found: Vec<_> = parallel::map(&asked, |&r| self.match_region(board, r));
        for (r, found) in asked.into_iter().zip(found) {
            self.possible[r] = Some(found);
        }
        let mut best: BTreeMap<(usize, u32), (f64, usize)> = BTreeMap::new();
        for (r, possible) in self.possible.iter().enumerate() {
            for &(p, slot, i) in possible.iter().flatten().filter(|(p, ..)| *p >= least) {
                let own = best.entry((r, slot)).or_insert((p, i));
                if p > own.0 {
                    *own = (p, i);
                }
            }
        }
        let mut found: Vec<_> = best.into_iter().map(|((r, slot), (p, i))| (p, r, slot, i)).collect();
        found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        found
    }

    /// How likely the unowned blocks of a region belong to its open slots: probability, slot and block.
    fn match_region(&self, board: &Board<'_>, r: usize) -> Vec<(f64, u32, usize)> {
        let voxels = |i: usize| board.cases[r].voxels(self.loose[r][i].block);
        let open: Vec<&Open> = self.open_slots(r).map(|(_, open)| open).collect();
        let elsewhere = self.elsewhere(board, r);
        let mut index: HashMap<u128, u32> = HashMap::new();
        let mut groups: Vec<Group> = Vec::new();
        let mut edges: Vec<Edge> = Vec::new();
        // Slots, and blocks by their index among the unowned ones.
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (s, open) in open.iter().enumerate() {
            let from = edges.len();
            let s = s as u32;
            for &(i, odds) in &open.candidates {
                let group = *index.entry(voxels(i)).or_insert_with(|| {
                    let copies = self.copies.get(&(r, voxels(i))).map_or(&[][..], Vec::as_slice);
                    let left = copies.iter().filter(|&&i| !self.used[r][i]).map(|&i| self.loose[r][i].live);
                    let live = left.clone().fold(f64::NEG_INFINITY, f64::max);
                    // Old copies are no further blocks to place.
                    let copies = left.filter(|other| *other > live - OLD_COPY).count();
                    groups.push(Group { copies, needed: needed(live, elsewhere) });
                    groups.len() as u32 - 1
                });
                if groups[group as usize].copies == 0 {
                    continue;
                }
                // Of each content the copy that something else supports.
                match (from..edges.len()).find(|&e| edges[e].group == group) {
                    Some(e) if edges[e].odds >= odds => {}
                    Some(e) => {
                        edges[e].odds = odds;
                        pairs[e].1 = i as u32;
                    }
                    None => {
                        edges.push(Edge { slot: s, group, odds });
                        pairs.push((open.slot, i as u32));
                    }
                }
            }
        }
        let found = matching::probabilities(&edges, &groups);
        let listed = found.into_iter().zip(pairs).filter(|(p, _)| *p >= LISTED);
        listed.map(|(p, (slot, i))| (p, slot, i as usize)).collect()
    }

    /// The odds of a block to belong to some slot of the region that is not open, against an open one of odds 1.
    pub fn elsewhere(&self, board: &Board<'_>, r: usize) -> f64 {
        let closed = board.cases[r].shape.volume().saturating_sub(self.filled[r].len() + self.open_slots(r).count());
        let damaged = self.damaged[r].iter().filter(|&&slot| !self.open.contains_key(&(r, slot))).count().min(closed);
        let left = self.used[r].iter().filter(|used| !**used).count().saturating_sub(1) as f64;
        // Each slot is wanted by all blocks.
        let each = |odds: f64| odds.exp() / (1.0 + left * odds.exp());
        let plain = board.occupancy[0];
        (closed - damaged) as f64 * each(plain) + damaged as f64 * each(plain.max(board.weights.damaged_entry))
    }
}

/// Log-odds that a block is in an open slot of odds 1 instead of nowhere: `live` are the log-odds that it is in use, and
/// `elsewhere` the odds that it belongs to another slot.
pub(super) fn needed(live: f64, elsewhere: f64) -> f64 {
    -((-live).exp() + elsewhere).ln()
}

/// Keeps the blocks that rank highest.
pub(super) fn keep_best(ranked: &mut Vec<(f64, usize)>, most: usize) {
    if ranked.len() > most {
        ranked.select_nth_unstable_by(most, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked.truncate(most);
    }
}

impl Open {
    fn new(case: usize, slot: u32) -> Self {
        Self {
            case,
            slot,
            links: Vec::new(),
            beside: 0,
            estimated: 0,
            candidates: Vec::new(),
            sums: SeamSums::default(),
            stale: true,
        }
    }

    /// The sides of the neighbours that count in an estimate.
    fn estimated_by(&self, board: &Board<'_>) -> Vec<Around> {
        Around::of_links(board, self.links.get(..self.estimated).unwrap_or_default())
    }
}
