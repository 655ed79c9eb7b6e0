//! The likeliest way through a table and a walk of which parts are missing: how many entries were lost in each gap of the table, which
//! entries lead behind the end of a file that was cut off, and whose blocks are damaged in each hole of the walk.
//!
//! A gap or a hole shows only how many sectors it has. The table's sectors, from the first to the last, are followed together with those
//! of the walk, and the likeliest way is taken. An entry keeps its block, its block is damaged, or the block is gone; a block in a gap was
//! that of a lost entry.

use crate::recover::evidence::Rates;
use crate::recover::item::{Hole, Item, fits_entry, holes};
use crate::recover::random::Random;
use crate::recover::walk::Walk;
use crate::recover::weights::GAPS;

/// Most pairs of a place in the table and one in the walk that are kept.
const MOST_CELLS: usize = 1 << 22;

/// Most places in the table or the walk: entries, blocks, and sectors of gaps and holes.
const MOST_PLACES: u64 = 1 << 16;

/// A way to a place is not followed if its log-odds are so much lower than those of the best way there.
const BEAM: f32 = 60.0;

/// What the likeliest way through a table and a walk says.
pub(super) struct Followed {
    /// The first sectors and lengths of the lost entries.
    pub lost: Vec<(u32, u32)>,
    /// How many entries lead to blocks that the file had before its end was cut off.
    pub inside: usize,
    /// The blocks that entries keep and the damaged ones, in the order of their sectors, then the other blocks of the walk.
    pub items: Vec<Item>,
    /// How many of the items are blocks that entries keep.
    pub kept: usize,
    /// The log-odds of the whole way.
    pub odds: f32,
    /// How many entries inside have a damaged block, which says nothing of the order.
    pub damaged: usize,
    /// How many whole blocks and sectors of holes before the last of these belong to no entry.
    skipped: usize,
    /// How many entries inside have no block any more, and how many have one of fewer sectors.
    gone: usize,
    shrunk: usize,
}

impl Followed {
    /// Whether the order of the table is that of the blocks. In a file with pages of several moments it is not.
    pub const fn is_in_order(&self) -> bool {
        self.skipped * GAPS.kept_per_skipped <= self.kept && self.inside - self.damaged <= 2 * self.kept
    }
}

/// A place in the table's sectors.
#[derive(Clone, Copy)]
enum Place {
    /// The beginning of an entry of so many sectors.
    Entry(u32),
    /// A sector of a gap, with the sectors to its end.
    Gap(u32),
    End,
}

/// A place in the walk's sectors.
#[derive(Clone, Copy)]
struct Found {
    first: u32,
    of: Of,
}

/// What is at a place of the walk.
#[derive(Clone, Copy)]
enum Of {
    /// A whole block, by its index, of so many sectors.
    Block(usize, u32),
    /// A sector of a hole, with the sectors to its end.
    Hole(u32),
}

/// How a cell is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Never,
    /// An entry, or a lost one, has the block before.
    Kept,
    /// An entry, or a lost one, has the damaged block in so many sectors before.
    Damaged(u8),
    /// So many sectors have no block any more.
    Gone(u8),
    /// The place of the walk before belongs to no entry.
    Skipped,
}

/// The ways to one place of the table, for those places of the walk that likely ways lead to.
struct Row {
    first: u32,
    place: Place,
    /// The first of these places.
    from: usize,
    odds: Vec<f32>,
    steps: Vec<Step>,
}

impl Row {
    fn clear(&mut self) {
        self.odds.clear();
        self.steps.clear();
    }

    fn at(&self, found: usize) -> f32 {
        found.checked_sub(self.from).and_then(|k| self.odds.get(k)).copied().unwrap_or(f32::NEG_INFINITY)
    }

    fn step(&self, found: usize) -> Step {
        found.checked_sub(self.from).and_then(|k| self.steps.get(k)).copied().unwrap_or(Step::Never)
    }

    fn offer(&mut self, found: usize, odds: f32, step: Step) {
        if self.odds.is_empty() {
            self.from = found;
        }
        let before = self.from.saturating_sub(found);
        self.odds.splice(..0, std::iter::repeat_n(f32::NEG_INFINITY, before));
        self.steps.splice(..0, std::iter::repeat_n(Step::Never, before));
        self.from -= before;
        let k = found - self.from;
        if k >= self.odds.len() {
            self.odds.resize(k + 1, f32::NEG_INFINITY);
            self.steps.resize(k + 1, Step::Never);
        }
        if odds > self.odds[k] {
            (self.odds[k], self.steps[k]) = (odds, step);
        }
    }
}

/// Follows `entries` (their first sectors and lengths), which are in a row but for `gaps`. `None` where there is too much to
/// compare.
pub(super) fn follow(walk: &Walk, entries: &[(u32, u32)], gaps: &[(u32, u32)]) -> Option<Followed> {
    search(walk, entries, gaps, None)
}

/// Follows entries without gaps: by the likeliest way, which is 0, or by another likely one.
pub(super) fn follow_way(walk: &Walk, entries: &[(u32, u32)], way: u64) -> Option<Followed> {
    search(walk, entries, &[], (way > 0).then_some(way))
}

fn search(walk: &Walk, entries: &[(u32, u32)], gaps: &[(u32, u32)], way: Option<u64>) -> Option<Followed> {
    let found = places_of_walk(walk)?;
    let mut rows = rows(entries, gaps)?;
    let mut search = Search { walk, found: &found, lengths: Lengths::count(walk, entries), rates: GAPS.rates, way };
    let mut made = None;
    for _ in 0..GAPS.rounds {
        rows.iter_mut().for_each(Row::clear);
        let followed = search.run(&mut rows)?;
        search.rates = Rates::estimate(followed.gone as f64, followed.shrunk as f64, followed.inside);
        made = Some(followed);
    }
    made
}

/// The blocks of a walk and the sectors of its holes, in order.
fn places_of_walk(walk: &Walk) -> Option<Vec<Found>> {
    let holes = holes(walk);
    let sectors: u64 = holes.iter().map(|hole| u64::from(hole.count())).sum();
    if walk.blocks.len() as u64 + sectors > MOST_PLACES {
        return None;
    }
    let blocks = walk.blocks.iter().enumerate();
    let blocks = blocks.map(|(b, block)| Found { first: block.first, of: Of::Block(b, block.count) });
    let of_hole =
        |Hole { first, end, .. }: Hole| (first..end).map(move |at| Found { first: at, of: Of::Hole(end - at) });
    let mut found: Vec<Found> = blocks.chain(holes.into_iter().flat_map(of_hole)).collect();
    found.sort_by_key(|found| found.first);
    Some(found)
}

/// The places of a table.
fn rows(entries: &[(u32, u32)], gaps: &[(u32, u32)]) -> Option<Vec<Row>> {
    let sectors = gaps.iter().map(|(_, count)| u64::from(*count)).sum::<u64>();
    if entries.len() as u64 + sectors > MOST_PLACES {
        return None;
    }
    let mut places: Vec<(u32, Place)> = entries
        .iter()
        .map(|&(first, count)| (first, Place::Entry(count)))
        .chain(gaps.iter().flat_map(|&(first, count)| (0..count).map(move |k| (first + k, Place::Gap(count - k)))))
        .collect();
    places.sort_by_key(|(first, _)| *first);
    let end = places.last().map_or(0, |&(first, place)| first + place.sectors());
    places.push((end, Place::End));
    let row = |(first, place)| Row { first, place, from: 0, odds: Vec::new(), steps: Vec::new() };
    Some(places.into_iter().map(row).collect())
}

impl Place {
    const fn sectors(self) -> u32 {
        match self {
            Self::Entry(count) => count,
            Self::Gap(_) => 1,
            Self::End => 0,
        }
    }
}

/// How common lengths are.
struct Lengths {
    /// Logarithms of the shares.
    odds: Vec<f32>,
    /// The lengths that entries have.
    listed: Vec<u32>,
}

impl Lengths {
    fn count(walk: &Walk, entries: &[(u32, u32)]) -> Self {
        let all = || entries.iter().map(|entry| entry.1).chain(walk.blocks.iter().map(|block| block.count));
        let most = all().max().unwrap_or(0) as usize;
        let mut times = vec![0.5f32; most + 1];
        all().for_each(|count| times[count as usize] += 1.0);
        let sum: f32 = times.iter().sum();
        let mut listed: Vec<u32> =
            entries.iter().map(|entry| entry.1).filter(|count| *count > 0 && fits_entry(*count)).collect();
        listed.sort_unstable();
        listed.dedup();
        Self { odds: times.iter().map(|n| (n / sum).ln()).collect(), listed }
    }

    fn of(&self, count: u32) -> f32 {
        self.odds.get(count as usize).copied().unwrap_or(GAPS.rare as f32)
    }
}

struct Search<'a> {
    walk: &'a Walk,
    found: &'a [Found],
    lengths: Lengths,
    rates: Rates,
    /// Which way is taken, other than the likeliest.
    way: Option<u64>,
}

/// Logarithms of the odds of what an entry of some sectors may have.
struct Odds {
    kept: f32,
    /// A block of fewer sectors.
    shorter: f32,
    damaged: f32,
    gone: f32,
    /// A lost entry that keeps its block.
    kept_lost: f32,
}

impl Search<'_> {
    /// The likeliest way.
    fn run(&self, rows: &mut [Row]) -> Option<Followed> {
        rows.first_mut()?.offer(0, 0.0, Step::Skipped);
        let mut random = self.way.map(Random::new);
        let mut cells = 0;
        for at in 0..rows.len() {
            let (here, behind) = rows.split_at_mut(at + 1);
            let here = here.last_mut()?;
            let mut odds = self.odds(here.place.sectors());
            if let Some(random) = &mut random {
                odds.damaged += random.gumbel() as f32;
                odds.gone += random.gumbel() as f32;
            }
            let best = here.odds.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let mut k = 0;
            // What is skipped makes the row longer.
            while let Some(&so_far) = here.odds.get(k) {
                if so_far > best - BEAM {
                    self.go_on(here, here.from + k, behind, &odds);
                }
                k += 1;
            }
            cells += here.odds.len();
            if cells > MOST_CELLS {
                return None;
            }
        }
        let (odds, end, found) = self.end(rows)?;
        Some(self.trace(rows, end, found, odds))
    }

    fn odds(&self, count: u32) -> Odds {
        let Rates { gone, shrunk } = self.rates;
        let log = |share: f64| share.ln() as f32;
        let kept = log(1.0 - gone - shrunk);
        Odds {
            kept,
            shorter: log(shrunk / f64::from(count.saturating_sub(1).max(1))),
            damaged: kept + GAPS.damaged as f32,
            gone: log(gone),
            kept_lost: log(1.0 - gone),
        }
    }

    fn go_on(&self, here: &mut Row, at: usize, behind: &mut [Row], each: &Odds) {
        let odds = here.at(at);
        let next = self.found.get(at).filter(|next| next.first <= here.first).map(|next| next.of);
        if let Some(next) = next.filter(|_| !matches!(here.place, Place::End)) {
            let skipped = if matches!(next, Of::Block(..)) { GAPS.skipped } else { GAPS.skipped_sector };
            here.offer(at + 1, odds + skipped as f32, Step::Skipped);
        }
        let short = |count: u32| u8::try_from(count).unwrap_or(u8::MAX);
        match here.place {
            Place::Entry(count) => {
                let Some(row) = behind.first_mut() else { return };
                match next {
                    Some(Of::Block(_, own)) if own == count => {
                        row.offer(at + 1, odds + each.kept, Step::Kept);
                    }
                    Some(Of::Block(_, own)) if own < count => {
                        row.offer(at + 1, odds + each.shorter, Step::Kept);
                    }
                    Some(Of::Hole(sectors)) if count > 0 && fits_entry(count) && count <= sectors => {
                        row.offer(at + count as usize, odds + each.damaged, Step::Damaged(short(count)));
                    }
                    _ => {}
                }
                row.offer(at, odds + each.gone, Step::Gone(short(count)));
            }
            Place::Gap(rest) => {
                if let Some(Of::Block(_, count)) =
                    next.filter(|next| matches!(next, Of::Block(_, count) if *count <= rest))
                    && let Some(row) = behind.get_mut(count as usize - 1)
                {
                    row.offer(at + 1, odds + each.kept_lost + self.lengths.of(count), Step::Kept);
                }
                let hole = if let Some(Of::Hole(sectors)) = next { sectors } else { 0 };
                for &count in self.lengths.listed.iter().take_while(|count| **count <= rest) {
                    let Some(row) = behind.get_mut(count as usize - 1) else { continue };
                    let length = self.lengths.of(count);
                    row.offer(at, odds + each.gone + length, Step::Gone(short(count)));
                    if count <= hole {
                        row.offer(at + count as usize, odds + each.damaged + length, Step::Damaged(short(count)));
                    }
                }
            }
            Place::End => {}
        }
    }

    /// The log-odds of the likeliest way, and the places where it ends: at the end of the table, with blocks behind it that were
    /// appended, or, where the file was cut off before that, with the last block.
    fn end(&self, rows: &[Row]) -> Option<(f32, usize, usize)> {
        let all = self.found.len();
        let last = rows.last()?;
        let mut best: Option<(f32, usize, usize)> = None;
        let mut offer = |odds: f32, row: usize, found: usize| {
            if odds > f32::NEG_INFINITY && best.is_none_or(|(most, ..)| odds > most) {
                best = Some((odds, row, found));
            }
        };
        let mut appended = 0.0;
        for at in (last.from..=all).rev() {
            if let Some(Of::Block(_, count)) = self.found.get(at).map(|found| found.of) {
                appended += self.lengths.of(count) + GAPS.appended as f32;
            }
            offer(last.at(at) + appended, rows.len() - 1, at);
        }
        if last.first > self.walk.sectors {
            rows.iter().enumerate().for_each(|(n, row)| offer(row.at(all), n, all));
        }
        best
    }

    fn trace(&self, rows: &[Row], end: usize, found: usize, odds: f32) -> Followed {
        let (mut at, mut left) = (end, found);
        let entries = rows[..end].iter().filter(|row| matches!(row.place, Place::Entry(_))).count();
        let mut followed = Followed {
            lost: Vec::new(),
            inside: entries,
            items: Vec::new(),
            kept: 0,
            odds,
            skipped: 0,
            damaged: 0,
            gone: 0,
            shrunk: 0,
        };
        while at > 0 || left > 0 {
            let step = rows[at].step(left);
            let (passed, count) = match step {
                Step::Never => break,
                Step::Skipped if left == 0 => break,
                Step::Skipped => {
                    left -= 1;
                    followed.skipped += 1;
                    continue;
                }
                Step::Kept => (1, self.found[left - 1].sectors()),
                Step::Damaged(count) => (usize::from(count), u32::from(count)),
                Step::Gone(count) => (0, u32::from(count)),
            };
            left -= passed;
            if passed > 0 {
                let Found { first, of } = self.found[left];
                let block = if let Of::Block(b, _) = of { Some(b) } else { None };
                followed.items.push(Item { first, count, block });
            }
            // An entry is one place, whatever its length; a lost one is as many places as sectors.
            let from = at - 1;
            if let Place::Entry(listed) = rows[from].place {
                followed.kept += usize::from(step == Step::Kept);
                followed.damaged += usize::from(matches!(step, Step::Damaged(_)));
                followed.gone += usize::from(passed == 0);
                followed.shrunk += usize::from(passed > 0 && count < listed);
                at = from;
            } else {
                followed.lost.push((rows[at].first - count, count));
                at -= count as usize;
            }
        }
        followed.lost.reverse();
        followed.items.reverse();
        followed.items.extend(self.appended(found));
        followed
    }

    /// The blocks behind the table's order. A hole between them is taken for one block.
    fn appended(&self, from: usize) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        for &Found { first, of } in &self.found[from..] {
            match of {
                Of::Block(block, count) => items.push(Item { first, count, block: Some(block) }),
                Of::Hole(count) => {
                    let is_new = items.last().is_none_or(|item| item.first + item.count <= first);
                    if is_new && fits_entry(count) {
                        items.push(Item { first, count, block: None });
                    }
                }
            }
        }
        items
    }
}

impl Found {
    const fn sectors(self) -> u32 {
        match self.of {
            Of::Block(_, count) => count,
            Of::Hole(_) => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recover::walk::Walked;

    /// Blocks of these lengths in a row, to the end of the file.
    fn walk(lengths: &[u32]) -> Walk {
        let mut walk = Walk::default();
        for (content, &count) in (0u128..).zip(lengths) {
            walk.blocks.push(Walked::whole(walk.sectors, count, content));
            walk.sectors += count;
        }
        walk
    }

    /// Entries of these lengths in a row.
    fn row(lengths: &[u32]) -> Vec<(u32, u32)> {
        let place = |first: &mut u32, &count: &u32| {
            let entry = (*first, count);
            *first += count;
            Some(entry)
        };
        lengths.iter().scan(0, place).collect()
    }

    /// How many entries keep a block.
    fn kept(followed: &Followed) -> usize {
        followed.inside - followed.gone
    }

    const LENGTHS: [u32; 12] = [5, 3, 9, 1, 7, 2, 8, 4, 6, 3, 9, 5];

    #[test]
    fn a_gap_has_as_many_lost_entries_as_blocks() {
        let mut entries = row(&LENGTHS);
        let lost: Vec<(u32, u32)> = entries.drain(4..7).collect();
        let gap = (lost[0].0, lost.iter().map(|entry| entry.1).sum());
        let followed = follow(&walk(&LENGTHS), &entries, &[gap]).unwrap();
        assert_eq!((kept(&followed), followed.inside), (9, 9));
        assert_eq!(followed.lost, lost);
    }

    #[test]
    fn lost_entries_are_counted_where_blocks_moved_down() {
        let mut entries = row(&LENGTHS);
        let lost: Vec<(u32, u32)> = entries.drain(6..8).collect();
        let gap = (lost[0].0, lost.iter().map(|entry| entry.1).sum());
        // The third block grew, and was appended.
        let mut blocks = LENGTHS.to_vec();
        blocks.remove(2);
        blocks.push(10);
        let followed = follow(&walk(&blocks), &entries, &[gap]).unwrap();
        assert_eq!(kept(&followed), 9);
        assert_eq!(followed.lost, lost);
    }

    #[test]
    fn entries_behind_a_cut_have_no_block() {
        let entries = row(&LENGTHS);
        let mut blocks = LENGTHS.to_vec();
        blocks.remove(1);
        let followed = follow(&walk(&blocks[..7]), &entries, &[]).unwrap();
        assert_eq!((followed.inside, kept(&followed)), (8, 7));
        assert!(followed.lost.is_empty());
    }

    /// The lengths of the items, those of damaged blocks negative.
    fn lengths(followed: &Followed) -> Vec<i64> {
        let length = |item: &Item| i64::from(item.count) * if item.block.is_some() { 1 } else { -1 };
        followed.items.iter().map(length).collect()
    }

    /// Damages blocks of a walk.
    fn without(mut walk: Walk, damaged: &[usize]) -> Walk {
        let mut b = 0;
        walk.blocks.retain(|_| {
            b += 1;
            !damaged.contains(&(b - 1))
        });
        walk
    }

    #[test]
    fn holes_have_the_damaged_blocks_of_entries_where_blocks_moved_down() {
        let entries = row(&LENGTHS);
        // The third block grew, and was appended.
        let mut blocks = LENGTHS.to_vec();
        blocks.remove(2);
        blocks.push(10);
        let followed = follow(&without(walk(&blocks), &[3, 4, 8]), &entries, &[]).unwrap();
        assert_eq!(lengths(&followed), [5, 3, 1, -7, -2, 8, 4, 6, -3, 9, 5, 10]);
        assert_eq!((followed.kept, followed.gone), (8, 1));
        assert!(followed.is_in_order());
    }

    #[test]
    fn a_hole_behind_the_table_is_one_appended_block() {
        let entries = row(&LENGTHS[1..]);
        let mut blocks = LENGTHS[1..].to_vec();
        blocks.extend([10, 11]);
        let followed = follow(&without(walk(&blocks), &[11]), &entries, &[]).unwrap();
        assert_eq!(lengths(&followed)[10..], [5, -10, 11]);
    }

    #[test]
    fn blocks_of_two_tables_are_in_the_order_of_none() {
        let mut blocks: Vec<u32> = LENGTHS.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
        blocks.extend(LENGTHS);
        assert!(!follow(&walk(&blocks), &row(&LENGTHS), &[]).unwrap().is_in_order());
    }

    #[test]
    fn a_gap_of_millions_of_sectors_is_not_followed() {
        assert!(follow(&walk(&LENGTHS), &[(1 << 23, 1)], &[(0, 1 << 23)]).is_none());
    }

    #[test]
    fn a_file_without_blocks_keeps_no_entry() {
        let followed = follow(&Walk::default(), &row(&LENGTHS), &[]).unwrap();
        assert_eq!((followed.inside, kept(&followed)), (0, 0));
    }
}
