//! Which block belongs where, for the regions of a forest that were walked over: the one survey behind `check` and
//! `repair`.
//!
//! Each region is asked in the way that fits it. Where its table leads to whole blocks, the table is believed, and only
//! what is left over is placed by seams. Where a table that the engine wrote does not fit the sectors, the engine was
//! killed after it wrote the table: then the order of the sectors says which block is whose, and seams say the rest.

use std::collections::{HashMap, HashSet};

use crate::godot::region::Entry;
use crate::parallel;
use crate::recover::assemble::{self, Assembled, Loose, Start};
use crate::recover::bits;
use crate::recover::contradicted::{NEARLY_ALL, doubt_seams, table_contradicts};
use crate::recover::decide::{Certainty, Placed, decide};
use crate::recover::explained::{self, listed, table_matches_sectors};
use crate::recover::item::holes;
use crate::recover::mended::{Mended, is_gap};
use crate::recover::reading;
use crate::recover::region::{Candidate, Case};
use crate::recover::settled;
use crate::recover::shifts::Shifts;
use crate::recover::solve;
use crate::recover::solved::{Solved, from_table, is_listed, join};
use crate::recover::solver::Solver;
use crate::recover::torn_table::{Part, Split, own, part};
use crate::recover::twins;
use crate::recover::walk::Walked;
use crate::recover::weights::{DECISION, Weights};
use crate::watch::Watch;

/// Entries from which on the order of the sectors is asked only where it explains more than the table.
const LARGE: usize = 1024;

/// How many entries before and after one, in the order of their sectors, are compared with it: if it does not lead to a block by chance,
/// nearly all of them lead to blocks as well. Chosen.
const BESIDE: usize = 16;

/// How many different lengths the blocks of these entries have at least. Chosen.
const LENGTHS: usize = 4;

/// The least share of entries that keep a block in the order of the sectors alone where blocks were moved. Chosen.
const MOVED: f64 = 0.02;

/// The least probability from which on a block placed by the order helps to place others.
const KNOWN: f64 = 0.999;

/// A region that is solved, or that is next to one.
#[derive(Clone, Copy, Debug)]
pub struct Member<'c> {
    /// The region.
    pub case: &'c Case,
    /// Its entries of two times, if its table was written in part.
    pub split: Option<&'c Split>,
    /// Whether it only supplies seams: its table is believed, and nothing is placed in it.
    pub near: bool,
}

/// How the places in a region are found.
#[derive(Debug)]
enum Way {
    /// Its table is believed where it leads to whole blocks.
    Table(Part),
    /// By the order of its sectors.
    Order,
    /// The same, with the table as it was before entries of it were damaged.
    Mended(Mended),
}

/// The entries that alone lead to a whole block of their length: their indices, and those of the blocks.
fn exact(case: &Case) -> Vec<(usize, usize)> {
    let own: Vec<Option<usize>> = case.entries.iter().map(|entry| own(case, entry)).collect();
    let mut claims = vec![0u32; case.walk.blocks.len()];
    own.iter().flatten().for_each(|&block| claims[block] += 1);
    own.iter().enumerate().filter_map(|(i, block)| block.filter(|&b| claims[b] == 1).map(|b| (i, b))).collect()
}

/// The slots of the entries that alone lead to a whole block of their length, and these blocks. If some do so `by_chance`, only of those
/// among others.
fn exact_anchors(case: &Case, by_chance: bool) -> Vec<(u32, usize)> {
    let exact = exact(case);
    let anchor = |&(i, block): &(usize, usize)| (case.entries[i].slot, block);
    if !by_chance {
        return exact.iter().map(anchor).collect();
    }
    let is_among_others = |&&(i, _): &&(usize, usize)| {
        let (from, to) = (i.saturating_sub(BESIDE), (i + BESIDE + 1).min(case.entries.len()));
        let [first, end] = [from, to].map(|at| exact.partition_point(|(i, _)| *i < at));
        // In a row of blocks of one length, an entry leads to a block even if the row was moved.
        let lengths: HashSet<u32> = exact[first..end].iter().map(|(i, _)| case.entries[*i].count).collect();
        (end - first) as f64 >= NEARLY_ALL * (to - from) as f64 && lengths.len() >= LENGTHS
    };
    exact.iter().filter(is_among_others).map(anchor).collect()
}

/// Whether the entries of a large region that lead to whole blocks may do so by chance: the engine moved blocks after it wrote the table,
/// so many other entries lead to none. If blocks are only damaged, the order of the sectors keeps no more of them.
fn leads_by_chance(case: &Case) -> bool {
    if !case.is_large() || !is_packed(case) {
        return false;
    }
    let (exact, all) = (exact(case).len() as f64, case.entries.len() as f64);
    exact < NEARLY_ALL * all && case.follow().is_none_or(|by_order| by_order.kept as f64 > exact + MOVED * all)
}

/// Whether the entries lead to sectors in a row, as the engine writes them, none of them behind the end of the file.
fn is_packed(case: &Case) -> bool {
    let end = case.entries.iter().try_fold(0, |at, entry| (entry.first == at).then_some(at + entry.count));
    end.is_some_and(|end| end <= case.walk.sectors)
}

/// The slots and blocks that a table gives, if it is believed.
pub(super) fn anchors_of_table(case: &Case) -> Option<Vec<(u32, usize)>> {
    if repeated_pairs(case).next().is_some() || !matches!(way(case, None, &Weights::default(), false), Way::Table(_)) {
        return None;
    }
    let anchors = exact_anchors(case, leads_by_chance(case));
    if anchors.len() < case.walk.blocks.len() {
        let mut shifts = Shifts::find(case);
        shifts.compare(case, &anchors);
        if shifts.is_mixed {
            return None;
        }
    }
    Some(anchors)
}

/// Whether damage to a few entries explains all: each other one leads to a block of its own, and each block that is left is where
/// a damaged entry leads, or would lead with a bit or two changed. At most one entry in 50 may be damaged: where more are, they may be
/// those of blocks that moved.
fn only_entries_are_damaged(case: &Case, weights: &Weights) -> bool {
    let anchors = exact_anchors(case, false);
    let damaged = damaged_entries(case, &anchors);
    let owned: HashSet<usize> = anchors.iter().map(|(_, block)| *block).collect();
    let left: Vec<usize> = (0..case.walk.blocks.len()).filter(|block| !owned.contains(block)).collect();
    if left.len() > damaged.len() || damaged.len() > (case.raw.len() / 50).max(1) {
        return false;
    }
    let hints = bits::hints(case, left.iter().copied(), &damaged, weights);
    left.iter().all(|block| hints.contains_key(block))
}

/// The fewest unowned blocks of which it is no chance that they are as many as the slots without an entry. Chosen.
const NO_CHANCE: usize = 64;

/// Whether there are just as many unowned blocks as slots without an entry: a part of the table of a full region is lost. A
/// game that was killed after it appended new blocks leaves some slots empty.
fn fills_all_slots(case: &Case, owned: usize) -> bool {
    let unowned = case.walk.blocks.len().saturating_sub(owned);
    unowned >= NO_CHANCE && unowned == case.shape.volume().saturating_sub(case.raw.len())
}

/// Believes the entries that alone lead to a whole block of their length.
fn believe_table(case: &Case, exact: &[(usize, usize)]) -> Way {
    let (entries, blocks) = exact.iter().copied().unzip();
    Way::Table(part(case, entries, blocks, false))
}

fn way(case: &Case, split: Option<&Split>, weights: &Weights, near: bool) -> Way {
    let exact = exact(case);
    let table = || believe_table(case, &exact);
    if near || case.is_intact() || !case.garbage().is_empty() || fills_all_slots(case, exact.len()) {
        return table();
    }
    if !is_packed(case) {
        let by_page = split.is_some_and(|split| split.by_page);
        if only_entries_are_damaged(case, weights) {
            return table();
        }
        if let Some(mended) = Mended::find(case).filter(|_| !by_page) {
            return Way::Mended(mended);
        }
        // The engine never writes such a table; but it may have been killed between two pages of a new one.
        let torn = by_page && case.entries.len() <= LARGE;
        let share = exact.len() as f64 / case.entries.len().max(1) as f64;
        return if torn && share < NEARLY_ALL { Way::Order } else { table() };
    }
    let unowned = case.walk.blocks.len() - exact.len();
    let damaged = unowned == 0 && exact.len() < case.entries.len();
    if case.entries.len() > LARGE && (damaged || !moves_blocks(case, exact.len())) { table() } else { Way::Order }
}

/// Whether more blocks are in the order of the table than where its entries lead, `exact` in number.
fn moves_blocks(case: &Case, exact: usize) -> bool {
    if holes(&case.walk).len() <= reading::BREAKS {
        return true;
    }
    case.follow().is_some_and(|followed| followed.is_in_order() && followed.kept > exact)
}

/// Finds the places of the blocks of regions of one forest. Regions that need nothing help to place the others.
///
/// `watch` can stop it; what it gives then is not complete.
#[must_use]
pub fn solve(members: &[Member<'_>], weights: &Weights, effort: u64, watch: &Watch<'_>) -> Vec<Solved> {
    let cases: Vec<&Case> = members.iter().map(|member| member.case).collect();
    let splits: Vec<Option<&Split>> = members.iter().map(|member| member.split).collect();
    let (cases, splits) = (&cases[..], &splits[..]);
    let shifts = |member: &Member<'_>| {
        if member.near || member.case.is_intact() { Shifts::default() } else { Shifts::find(member.case) }
    };
    let mut shifts: Vec<Shifts> = parallel::map(members, shifts);
    let mut ways: Vec<Way> =
        members.iter().map(|member| way(member.case, member.split, weights, member.near)).collect();
    let by_chance: Vec<bool> = cases.iter().map(|case| leads_by_chance(case)).collect();
    // Whether the table contradicts the order of the sectors, or is followed although most of it may fit by chance.
    let mut by_table = parallel::map_indices(ways.len(), |r| {
        let case = cases[r];
        match &ways[r] {
            Way::Table(_) => !members[r].near && by_chance[r],
            Way::Order if splits[r].is_none() && !case.is_large() => {
                table_contradicts(case, &exact_anchors(case, false), &solve::likely_in_order(case))
            }
            Way::Order | Way::Mended(_) => false,
        }
    });
    for r in (0..ways.len()).filter(|r| by_table[*r]) {
        if matches!(ways[r], Way::Order) {
            ways[r] = believe_table(cases[r], &exact(cases[r]));
        }
    }
    let mut by_order: Vec<Option<Solved>> = order(cases, splits, &ways, weights, watch);
    let regions = cases.iter().zip(&by_chance).zip(&mut by_order).zip(&mut shifts).zip(&mut by_table);
    for ((((case, &by_chance), order), shifts), by_table) in regions {
        let certain: Vec<(u32, usize)> = match &*order {
            Some(order) if order.as_listed => continue,
            Some(order) => {
                let certain = order.placed.iter().filter(|p| p.certainty == Certainty::Certain);
                certain.map(|p| (p.slot, p.block)).collect()
            }
            None => exact_anchors(case, by_chance),
        };
        shifts.compare(case, &certain);
        let is_contradicted = |order: &Solved| {
            let placed: Vec<(u32, usize)> = order.placed.iter().map(|placed| (placed.slot, placed.block)).collect();
            table_contradicts(case, &exact_anchors(case, by_chance), &placed)
        };
        *by_table = !shifts.is_mixed && (*by_table || order.as_ref().is_some_and(is_contradicted));
        if shifts.is_mixed || *by_table {
            *order = None;
        }
    }
    // Seams alone are not enough to be certain of a block whose entry is lost beside blocks that moved.
    let lost_entries: Vec<bool> =
        ways.iter().map(|way| matches!(way, Way::Mended(mended) if !mended.is_complete())).collect();
    drop(ways);
    let start = |r: usize| match members[r].near {
        true => start_near(cases[r], by_chance[r]),
        false => start(cases[r], by_order[r].as_ref(), &shifts[r], by_chance[r], weights),
    };
    let starts: Vec<Start> = (0..members.len()).map(start).collect();
    let needed = starts.iter().any(|start| !start.loose.is_empty());
    let check = starts.iter().any(|start| start.check);
    let made = if needed || check {
        assemble::assemble(cases, &starts, weights, effort, watch)
    } else {
        vec![Assembled::default(); cases.len()]
    };
    let asked = needed || check;
    let made = members.iter().zip(made).zip(&by_order).map(|((member, made), order)| {
        let fits = member.case.is_intact() || order.as_ref().is_some_and(|order| order.as_listed);
        let kept = fits && asked && !member.near && !settled::has_exchanges(member.case, &made);
        if kept { settled::as_listed(member.case, made) } else { made }
    });
    let mut made: Vec<Assembled> = made.collect();
    for (made, shifts) in made.iter_mut().zip(&shifts) {
        for fit in &mut made.fits {
            match shifts.most(fit.slot, fit.block) {
                Certainty::Certain => {}
                Certainty::Likely => fit.lower(Certainty::Likely, weights.likely),
                Certainty::Candidate => fit.lower(Certainty::Candidate, weights.candidate),
            }
        }
    }
    for r in (0..cases.len()).filter(|r| by_table[*r]) {
        doubt_seams(cases[r], &starts[r], &shifts[r], &mut made[r], weights);
    }
    let again: Vec<bool> = members.iter().zip(&by_order).map(|(member, order)| is_asked_again(member, order)).collect();
    let all = members.iter().zip(made).zip(by_order.iter_mut()).zip(starts.iter().zip(lost_entries));
    let solved = all.map(|(((&Member { case, near, .. }, made), order), (start, lost_entries))| match order.take() {
        _ if near => Solved::default(),
        Some(order) => {
            let mut solved = join(case, order, start, &made, lost_entries, weights);
            exchange_as_likely(&mut solved, &made.exchanged, weights);
            // A game that was killed may leave such a table, but so do worlds in which the same block is twice.
            let is_shown = !explained::is_exact(case) || settled::moves_any(case, &solved.placed);
            if is_shown { solved } else { from_table(case, &settled::as_listed(case, made)) }
        }
        None if asked => from_table(case, &made),
        None => from_table(case, &as_started(start)),
    });
    let mut solved: Vec<Solved> = solved.collect();
    if again.contains(&true) && !watch.is_cancelled() {
        exchange_again(members, &again, &mut solved, weights, effort, watch);
    }
    for (member, solved) in members.iter().zip(&mut solved) {
        if !member.near && !solved.as_listed {
            twins::doubt(member.case, solved, weights);
            doubt_garbage(member.case, solved, weights);
        }
    }
    solved
}

/// In a table that is mostly garbage, only a place to which its entry leads is certain: garbage makes places possible that had no block,
/// and so does a wrong region size. Measured: 42 of some 500 blocks were put into such places.
fn doubt_garbage(case: &Case, solved: &mut Solved, weights: &Weights) {
    if case.garbage().is_empty() {
        return;
    }
    let led_to: HashMap<u32, usize> = case.entries.iter().filter_map(|e| Some((e.slot, listed(case, e)?))).collect();
    for placed in &mut solved.placed {
        let is_led_to = led_to.get(&placed.slot).is_some_and(|&b| case.content(b) == case.content(placed.block));
        if !is_led_to {
            placed.lower(Certainty::Likely, weights.likely);
        }
    }
}

/// Whether the seams are asked again for entries that were exchanged, once the blocks of a region whose table is damaged are placed. In
/// large regions too many blocks look alike.
fn is_asked_again(member: &Member<'_>, order: &Option<Solved>) -> bool {
    let is_changed = match order {
        Some(order) => !order.as_listed,
        None => !member.case.is_intact(),
    };
    is_changed && !member.near && !member.case.is_large()
}

/// Exchanges blocks that were left in each other's places: the order of the sectors believes entries that lead to whole blocks, and seams
/// show little while neighbours are missing.
fn exchange_again(
    members: &[Member<'_>],
    again: &[bool],
    solved: &mut [Solved],
    weights: &Weights,
    effort: u64,
    watch: &Watch<'_>,
) {
    let cases: Vec<&Case> = members.iter().map(|member| member.case).collect();
    let start = |(r, member): (usize, &Member<'_>)| {
        if member.near {
            return start_near(member.case, leads_by_chance(member.case));
        }
        let certain = solved[r].placed.iter().filter(|placed| placed.certainty == Certainty::Certain);
        let anchors: Vec<(u32, usize)> = certain.map(|placed| (placed.slot, placed.block)).collect();
        let is_partial = anchors.len() < member.case.walk.blocks.len();
        Start { anchors, is_partial, check: again[r], ..Start::default() }
    };
    let starts: Vec<Start> = members.iter().enumerate().map(start).collect();
    let made = assemble::assemble(&cases, &starts, weights, effort, watch);
    for (r, made) in made.iter().enumerate().filter(|(r, _)| again[*r]) {
        let table: HashMap<u32, usize> = starts[r].anchors.iter().copied().collect();
        let slots = settled::exchanged(cases[r], &table, made);
        let fits: Vec<&assemble::Fit> = made.fits.iter().filter(|fit| slots.contains(&fit.slot)).collect();
        // Exchanged blocks rest on each other: none is surer than the least sure one.
        let Some(most) = fits.iter().map(|fit| fit.certainty).min() else { continue };
        for fit in fits {
            let placed = solved[r].placed.iter_mut().find(|placed| placed.slot == fit.slot);
            if let Some(placed) = placed {
                (placed.block, placed.p, placed.moved) = (fit.block, fit.p, !is_listed(cases[r], fit));
                (placed.certainty, placed.voxels) = (most, fit.voxels.min(most));
            }
        }
    }
}

/// Exchanges the blocks of pairs of slots, as likely.
fn exchange_as_likely(solved: &mut Solved, pairs: &[[u32; 2]], weights: &Weights) {
    for slots in pairs {
        let [Some(a), Some(b)] = slots.map(|slot| solved.placed.iter().position(|placed| placed.slot == slot)) else {
            continue;
        };
        let blocks = [solved.placed[a].block, solved.placed[b].block];
        for (at, block) in [(a, blocks[1]), (b, blocks[0])] {
            let placed = &mut solved.placed[at];
            (placed.block, placed.moved) = (block, true);
            placed.lower(Certainty::Likely, weights.likely);
        }
    }
}

/// What is taken for right and nothing else.
fn as_started(start: &Start) -> Assembled {
    let fit = |&(slot, block): &(u32, usize)| assemble::Fit::known(slot, block, 1.0);
    Assembled { fits: start.anchors.iter().map(fit).collect(), ..Assembled::default() }
}

/// Asks for the order of the sectors where that is the way.
fn order(
    cases: &[&Case],
    splits: &[Option<&Split>],
    ways: &[Way],
    weights: &Weights,
    watch: &Watch<'_>,
) -> Vec<Option<Solved>> {
    if ways.iter().all(|way| matches!(way, Way::Table(_))) {
        return ways.iter().map(|_| None).collect();
    }
    let mut all: Vec<&Case> = Vec::new();
    let mut from = Vec::new();
    for ((case, split), way) in cases.iter().zip(splits).zip(ways) {
        from.push(all.len());
        match (way, split) {
            (Way::Table(trusted), _) => all.push(&trusted.case),
            (Way::Mended(mended), _) => all.push(&mended.case),
            (Way::Order, None) => all.push(case),
            (Way::Order, Some(split)) => all.extend([&split.trusted.case, &split.rest.case]),
        }
    }
    let solver = solve::solve(&all, watch);
    let each = |((case, split), (way, r)): ((&&Case, &Option<&Split>), (&Way, usize))| match way {
        Way::Table(_) => None,
        Way::Order => Some(ordered(case, *split, None, &solver, r)),
        Way::Mended(mended) => {
            let mut solved = ordered(case, None, Some(mended), &solver, r);
            if mended.is_doubtful {
                doubt_moved(case, &mut solved, weights);
            }
            Some(solved)
        }
    };
    cases.iter().zip(splits).zip(ways.iter().zip(from)).map(each).collect()
}

/// Where entries lead to blocks of others, a moved block may be that of one of these slots, which the order does not know: seams decide.
/// Of few entries the order says little then.
fn doubt_moved(case: &Case, solved: &mut Solved, weights: &Weights) {
    let few = case.entries.len() < DECISION.many;
    for placed in solved.placed.iter_mut().filter(|placed| placed.moved || few) {
        placed.lower(Certainty::Likely, weights.likely);
    }
}

/// What the order says of one region; its own case is the one from `r` on.
fn ordered(case: &Case, split: Option<&Split>, mended: Option<&Mended>, solver: &Solver<'_>, r: usize) -> Solved {
    let (entries, blocks) = (case.entries.len(), case.walk.blocks.len());
    let mut solved = Solved {
        torn: vec![0.0; entries],
        options: vec![Vec::new(); entries],
        appended: vec![0.0; blocks],
        ..Solved::default()
    };
    // The entries of gaps are not in the table.
    let own = mended.map(|mended| mended.of.iter().map(|of| of.unwrap_or(usize::MAX)).collect());
    let all: [Vec<usize>; 2] = [own.unwrap_or_else(|| (0..entries).collect()), (0..blocks).collect()];
    let parts: Vec<(usize, &[Vec<usize>; 2])> = match split {
        None => vec![(r, &all)],
        Some(split) => vec![(r, &split.trusted.of), (r + 1, &split.rest.of)],
    };
    for (r, [entries, blocks]) in parts {
        let state = &solver.states[r];
        for (k, &i) in entries.iter().enumerate().filter(|(_, i)| **i < case.entries.len()) {
            solved.torn[i] = state.posterior.torn.get(k).copied().unwrap_or(0.0);
            let options = state.options.get(k).into_iter().flatten();
            solved.options[i] = options.map(|o| Candidate { block: blocks[o.block], ..*o }).collect();
        }
        for (k, &b) in blocks.iter().enumerate() {
            solved.appended[b] = state.posterior.appended.get(k).copied().unwrap_or(0.0);
        }
        let placed = decide(solver, r).into_iter().filter(|placed| !is_gap(placed.slot));
        solved.placed.extend(placed.map(|p| Placed { block: blocks[p.block], ..p }));
    }
    if split.is_some_and(|split| !split.sure) {
        for placed in &mut solved.placed {
            placed.certainty = placed.certainty.min(Certainty::Likely);
            placed.voxels = placed.voxels.min(Certainty::Likely);
        }
    }
    solved.placed.sort_by_key(|p| p.slot);
    let by_slot = solved.placed.iter().map(|p| (p.slot, *p)).collect();
    solved.as_listed = split.is_none() && mended.is_none() && table_matches_sectors(case, &by_slot);
    solved
}

/// What is known of a region next to those that are solved.
fn start_near(case: &Case, by_chance: bool) -> Start {
    let anchors = exact_anchors(case, by_chance);
    let is_partial = anchors.len() < case.entries.len().max(case.walk.blocks.len());
    Start { anchors, is_partial, ..Start::default() }
}

/// The entries of slots that have no block.
fn damaged_entries(case: &Case, anchors: &[(u32, usize)]) -> Vec<(u32, Entry)> {
    let filled: HashSet<u32> = anchors.iter().map(|(slot, _)| *slot).collect();
    case.raw.iter().copied().filter(|(slot, _)| !filled.contains(slot)).collect()
}

/// The slots whose entry is repeated in the next one.
fn repeated_pairs(case: &Case) -> impl Iterator<Item = u32> + '_ {
    let pairs = case.raw.windows(2).filter(|pair| pair[0].0 + 1 == pair[1].0 && pair[0].1 == pair[1].1);
    pairs.map(|pair| pair[0].0)
}

/// The same without entries that are repeated more than once, which are garbage.
fn repeated(case: &Case) -> Vec<u32> {
    let all: HashSet<u32> = repeated_pairs(case).collect();
    let is_pair =
        |slot: &u32| !all.contains(&(slot + 1)) && slot.checked_sub(1).is_none_or(|before| !all.contains(&before));
    repeated_pairs(case).filter(is_pair).collect()
}

/// What is known of a region before its unowned blocks are placed.
fn start(case: &Case, order: Option<&Solved>, shifts: &Shifts, by_chance: bool, weights: &Weights) -> Start {
    let blocks = &case.walk.blocks;
    let mut start = Start::default();
    match order {
        Some(order) if order.as_listed => {
            start.anchors = case.entries.iter().filter_map(|e| Some((e.slot, listed(case, e)?))).collect();
            start.check = true;
        }
        Some(order) => {
            let known = order.placed.iter().filter(|p| p.certainty == Certainty::Certain || p.p >= KNOWN);
            start.anchors = known.map(|p| (p.slot, p.block)).collect();
            start.repeated = repeated(case);
            start.by_order = true;
        }
        None if shifts.is_mixed => {
            start.anchors.clone_from(&shifts.sure);
            start.repeated = repeated(case);
            (start.by_order, start.check) = (true, true);
        }
        None => {
            start.anchors = exact_anchors(case, by_chance);
            start.check = true;
            start.gap = case.gap;
            start.repeated = repeated(case);
            let damaged = damaged_entries(case, &start.anchors);
            let doubtful = bits::doubtful(case, &start.anchors, &damaged);
            start.anchors.retain(|(slot, _)| !doubtful.contains(slot));
        }
    }
    let mut owned: HashSet<usize> = start.anchors.iter().map(|(_, block)| *block).collect();
    let filled: HashSet<u32> = start.anchors.iter().map(|(slot, _)| *slot).collect();
    let contents: HashSet<u128> = owned.iter().map(|&b| blocks[b].content).collect();
    let end = match fills_all_slots(case, owned.len()) {
        true => u32::MAX,
        false => owned.iter().map(|&b| blocks[b].end()).max().unwrap_or(u32::MAX),
    };
    let before = blocks.iter().take_while(|block| block.first < end);
    let tiled = before.clone().map(|block| block.count).sum::<u32>() == before.last().map_or(0, Walked::end);
    let damaged = damaged_entries(case, &start.anchors);
    start.damaged = damaged.iter().map(|(slot, _)| *slot).collect();
    let mut options: HashMap<usize, Vec<(u32, f64)>> = HashMap::new();
    if let Some(order) = order {
        for (entry, of) in case.entries.iter().zip(&order.options).filter(|(e, _)| !filled.contains(&e.slot)) {
            for option in of.iter().filter(|option| option.p > 0.01) {
                let odds = (option.p / (1.0 - option.p).max(0.001)).ln() + 3.0;
                options.entry(option.block).or_default().push((entry.slot, odds));
            }
        }
    }
    if order.is_none() {
        options = bits::hints(case, (0..blocks.len()).filter(|b| !owned.contains(b)), &damaged, weights);
    }
    // In a large region too many blocks of one sector are at the distance of many entries.
    let by_shift = shifts.is_mixed || (order.is_some_and(|order| !order.as_listed) && !case.is_large());
    for b in (0..blocks.len()).filter(|_| by_shift) {
        for &(slot, odds) in shifts.of(b).iter().filter(|(slot, _)| !filled.contains(slot)) {
            let of = options.entry(b).or_default();
            match of.iter_mut().find(|(other, _)| *other == slot) {
                Some((_, other)) => *other = other.max(odds),
                None => of.push((slot, odds)),
            }
        }
    }
    for (b, block) in blocks.iter().enumerate() {
        // Copies behind blocks that are right as they are listed are what the engine leaves.
        let settled = order.is_some_and(|order| order.as_listed) && contents.contains(&block.content);
        // A region of several moments also holds older states of blocks.
        let is_other_state = shifts.leads(b) && shifts.of(b).iter().any(|(slot, _)| filled.contains(slot));
        if settled || is_other_state || !owned.insert(b) {
            continue;
        }
        let appended =
            order.filter(|order| case.is_large() && !order.as_listed).and_then(|order| order.appended.get(b));
        let live = match contents.contains(&block.content) {
            // The engine appended it, or it is an old copy.
            _ if appended.is_some() => {
                let p = appended.copied().unwrap_or(0.0);
                (p / (1.0 - p).max(1e-9)).max(1e-9).ln().clamp(-weights.live_tiled, weights.live_tiled)
            }
            // A region of several moments holds many blocks in several states.
            false if shifts.is_mixed => weights.live_behind,
            _ if block.first < end && tiled => weights.live_tiled,
            _ if block.first < end => weights.live_inside,
            true => weights.live_copy,
            false => weights.live_behind,
        };
        let hints = options.remove(&b).unwrap_or_default();
        start.loose.push(Loose { block: b, live, hints });
    }
    start
}
