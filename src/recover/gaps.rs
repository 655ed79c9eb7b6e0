//! How many entries were lost in each gap of a table, and which entries lead behind the end of a file that was cut off.
//!
//! A gap shows only how many sectors the lost entries had. The blocks of the walk show the rest: the table's sectors, from the first
//! to the last, are followed together with the blocks, and the likeliest way is taken. An entry keeps its block, or the block is gone;
//! a block in a gap was that of a lost entry.

use crate::recover::evidence::Rates;
use crate::recover::walk::Walk;
use crate::recover::weights::GAPS;

/// Most pairs of a place in the table and a block that are kept.
const MOST_CELLS: usize = 1 << 22;

/// Most places in the table: entries and sectors of gaps.
const MOST_PLACES: u64 = 1 << 16;

/// What the likeliest way through a table and the blocks says.
pub(super) struct Followed {
    /// The first sectors and lengths of the lost entries.
    pub lost: Vec<(u32, u32)>,
    /// How many entries lead to blocks that the file had before its end was cut off.
    pub inside: usize,
    /// How many of these have no block any more, and how many have one of fewer sectors.
    gone: usize,
    shrunk: usize,
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

/// How a cell is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Never,
    /// An entry, or a lost one, has the block before.
    Kept,
    /// So many sectors have no block any more.
    Gone(u8),
    /// The block before belongs to no entry.
    Skipped,
}

/// The ways to one place, for each number of blocks before it in a band.
struct Row {
    first: u32,
    place: Place,
    from: usize,
    odds: Vec<f32>,
    steps: Vec<Step>,
}

impl Row {
    fn clear(&mut self) {
        self.odds.fill(f32::NEG_INFINITY);
        self.steps.fill(Step::Never);
    }

    fn at(&self, block: usize) -> f32 {
        block.checked_sub(self.from).and_then(|k| self.odds.get(k)).copied().unwrap_or(f32::NEG_INFINITY)
    }

    fn step(&self, block: usize) -> Step {
        block.checked_sub(self.from).and_then(|k| self.steps.get(k)).copied().unwrap_or(Step::Never)
    }

    fn offer(&mut self, block: usize, odds: f32, step: Step) {
        let Some(k) = block.checked_sub(self.from).filter(|k| *k < self.odds.len()) else { return };
        if odds > self.odds[k] {
            (self.odds[k], self.steps[k]) = (odds, step);
        }
    }
}

/// Follows `entries` (their first sectors and lengths), which are in a row but for `gaps`. `None` where there is too much to
/// compare.
pub(super) fn follow(walk: &Walk, entries: &[(u32, u32)], gaps: &[(u32, u32)]) -> Option<Followed> {
    let mut rows = rows(walk, entries, gaps)?;
    let mut search = Search { walk, lengths: Lengths::count(walk, entries), rates: GAPS.rates };
    let mut made = None;
    for _ in 0..GAPS.rounds {
        rows.iter_mut().for_each(Row::clear);
        let followed = search.run(&mut rows)?;
        search.rates = Rates::estimate(followed.gone as f64, followed.shrunk as f64, followed.inside);
        made = Some(followed);
    }
    made
}

/// The places of a table, each with its band of blocks: the game moves blocks down only.
fn rows(walk: &Walk, entries: &[(u32, u32)], gaps: &[(u32, u32)]) -> Option<Vec<Row>> {
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
    let blocks = &walk.blocks;
    let mut cells = 0;
    let row = |(first, place): (u32, Place)| {
        let from = blocks.partition_point(|block| block.first < first.saturating_sub(GAPS.distance));
        let to = match place {
            Place::End => blocks.len(),
            _ => blocks.partition_point(|block| block.first <= first),
        };
        cells += to + 1 - from;
        let n = to + 1 - from;
        (cells <= MOST_CELLS).then(|| Row { first, place, from, odds: vec![0.0; n], steps: vec![Step::Never; n] })
    };
    places.into_iter().map(row).collect()
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
            entries.iter().map(|entry| entry.1).filter(|count| (1..=255).contains(count)).collect();
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
    lengths: Lengths,
    rates: Rates,
}

impl Search<'_> {
    /// The likeliest way.
    fn run(&self, rows: &mut [Row]) -> Option<Followed> {
        rows.first_mut()?.offer(0, 0.0, Step::Skipped);
        for at in 0..rows.len() {
            let (here, behind) = rows.split_at_mut(at + 1);
            let here = here.last_mut()?;
            for k in 0..here.odds.len() {
                self.go_on(here, here.from + k, behind);
            }
        }
        let (end, block) = self.end(rows)?;
        Some(self.trace(rows, end, block))
    }

    fn go_on(&self, here: &mut Row, block: usize, behind: &mut [Row]) {
        let odds = here.at(block);
        if odds == f32::NEG_INFINITY {
            return;
        }
        let next = self.walk.blocks.get(block).filter(|next| next.first <= here.first);
        if next.is_some() && !matches!(here.place, Place::End) {
            here.offer(block + 1, odds + GAPS.skipped as f32, Step::Skipped);
        }
        let Rates { gone, shrunk } = self.rates;
        let logs = |share: f64| share.ln() as f32;
        match here.place {
            Place::Entry(count) => {
                let Some(row) = behind.first_mut() else { return };
                let kept = next.filter(|next| next.count <= count).map(|next| match next.count == count {
                    true => logs(1.0 - gone - shrunk),
                    false => logs(shrunk / f64::from((count - 1).max(1))),
                });
                if let Some(kept) = kept {
                    row.offer(block + 1, odds + kept, Step::Kept);
                }
                row.offer(block, odds + logs(gone), Step::Gone(u8::try_from(count).unwrap_or(u8::MAX)));
            }
            Place::Gap(rest) => {
                if let Some(next) = next.filter(|next| next.count <= rest)
                    && let Some(row) = behind.get_mut(next.count as usize - 1)
                {
                    row.offer(block + 1, odds + logs(1.0 - gone) + self.lengths.of(next.count), Step::Kept);
                }
                for &count in self.lengths.listed.iter().take_while(|count| **count <= rest) {
                    if let Some(row) = behind.get_mut(count as usize - 1) {
                        let step = Step::Gone(u8::try_from(count).unwrap_or(u8::MAX));
                        row.offer(block, odds + logs(gone) + self.lengths.of(count), step);
                    }
                }
            }
            Place::End => {}
        }
    }

    /// Where the likeliest way ends: at the end of the table, with blocks behind it that were appended, or, where the file was cut
    /// off before that, with the last block.
    fn end(&self, rows: &[Row]) -> Option<(usize, usize)> {
        let blocks = &self.walk.blocks;
        let last = rows.last()?;
        let mut best: Option<(f32, usize, usize)> = None;
        let mut offer = |odds: f32, row: usize, block: usize| {
            if odds > f32::NEG_INFINITY && best.is_none_or(|(most, ..)| odds > most) {
                best = Some((odds, row, block));
            }
        };
        let mut appended = 0.0;
        for block in (last.from..=blocks.len()).rev() {
            if let Some(block) = blocks.get(block) {
                appended += self.lengths.of(block.count) + GAPS.appended as f32;
            }
            offer(last.at(block) + appended, rows.len() - 1, block);
        }
        if last.first > self.walk.sectors {
            rows.iter().enumerate().for_each(|(n, row)| offer(row.at(blocks.len()), n, blocks.len()));
        }
        best.map(|(_, row, block)| (row, block))
    }

    fn trace(&self, rows: &[Row], end: usize, block: usize) -> Followed {
        let (mut at, mut block) = (end, block);
        let entries = rows[..end].iter().filter(|row| matches!(row.place, Place::Entry(_))).count();
        let mut followed = Followed { lost: Vec::new(), inside: entries, gone: 0, shrunk: 0 };
        while at > 0 || block > 0 {
            let step = rows[at].step(block);
            let count = match step {
                Step::Never => break,
                Step::Skipped if block == 0 => break,
                Step::Skipped => {
                    block -= 1;
                    continue;
                }
                Step::Kept => {
                    block -= 1;
                    None
                }
                Step::Gone(count) => Some(u32::from(count)),
            };
            // An entry is one place, whatever its length; a lost one is as many places as sectors.
            let from = at - 1;
            if let Place::Entry(listed) = rows[from].place {
                followed.gone += usize::from(count.is_some());
                followed.shrunk += usize::from(count.is_none() && self.walk.blocks[block].count < listed);
                at = from;
            } else {
                let count = count.unwrap_or_else(|| self.walk.blocks[block].count);
                followed.lost.push((rows[at].first - count, count));
                at -= count as usize;
            }
        }
        followed.lost.reverse();
        followed
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
