//! The ways to read what the walk found: which blocks follow each other in the file, once what was being
//! written when the game was killed is set apart.

use std::collections::HashMap;
use std::ops::Range;

use crate::recover::gaps::{self, Followed};
use crate::recover::item::{Hole, Item, fits_entry, holes};
use crate::recover::walk::Walk;
use crate::recover::weights::{GAPS, LARGE, ORDER, READING};

/// Readings that are followed.
const MOST: usize = 24;

/// How many ways through the holes of a small region are followed. Entries often tile a long hole in several ways, and seams decide
/// between the readings. Measured on saves of killed games with pages of zeros or garbage, 25,128 blocks: one way puts 17 into wrong
/// places as certain, four ways 4, ten ways 3.
const WAYS: u64 = 8;

/// The first holes, which are read in every way; later ones only in one. With more of them, or a longer one than an entry can be, likely
/// ways through all are followed as well. Large regions are read in the likeliest way alone: the cost of the others grows with the holes.
pub(super) const BREAKS: usize = 3;

/// A sequence of blocks without anything between.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The blocks.
    pub items: Vec<Item>,
    /// Logarithm of how likely this way to read is, before anything else.
    pub prior: f64,
    /// Sectors of a second copy that was set apart: the game was killed while it moved sectors by so many.
    pub moving: Option<u32>,
    /// Items that are torn.
    pub torn: usize,
    /// Log-odds of each of them where an entry keeps it.
    pub torn_odds: f64,
    /// The least and the most entries that may be gone by it.
    pub gone: (usize, usize),
}

impl Reading {
    const fn new(items: Vec<Item>) -> Self {
        Self { items, prior: 0.0, moving: None, torn: 0, torn_odds: ORDER.torn_odds, gone: ANY }
    }
}

/// The entries that may be gone before anything is known.
const ANY: (usize, usize) = (0, usize::MAX);

/// Every way to read a walk, the likelier first. `entries` are the first sectors and counts of the table's entries in
/// the order of their sectors.
#[must_use]
pub fn readings(walk: &Walk, entries: &[(u32, u32)]) -> Vec<Reading> {
    let holes = holes(walk);
    let mut done: Vec<Reading> = Vec::new();
    let inside = || holes.iter().filter(|hole| hole.next < walk.blocks.len());
    let is_large = entries.len() > LARGE;
    let is_open = holes.len() > BREAKS || inside().any(|hole| !fits_entry(hole.count()));
    if is_open || inside().next().is_some() {
        let made = followed(walk, entries, is_large);
        // A page of zeros leaves one hole in place of several blocks. The loop below reads holes of one block each.
        done.extend(made.into_iter().filter(|reading| is_open || reading.torn > holes.len()));
    }
    if is_open && is_large {
        return with_moves(walk, done);
    }
    let mut open = vec![Reading::new(Vec::new())];
    let mut from = 0;
    for (n, hole) in holes.iter().enumerate() {
        for reading in &mut open {
            reading.items.extend((from..hole.next).map(|b| item(walk, b)));
        }
        from = hole.next;
        let mut next = Vec::new();
        for reading in open {
            let size = hole.count();
            // Everything from here on is old.
            let mut end = reading.clone();
            end.prior -= if hole.next < walk.blocks.len() { READING.rest_is_old } else { 0.0 };
            done.push(end);
            if let Some(tiles) = tiles(entries, hole) {
                let mut torn = reading.clone();
                torn.prior -= READING.tiled + READING.tile * tiles.len() as f64;
                torn.torn += tiles.len();
                torn.items.extend(tiles);
                next.push(torn);
            } else if fits_entry(size) && n < BREAKS {
                let mut torn = reading.clone();
                torn.prior -= READING.torn;
                torn.torn += 1;
                torn.items.push(Item { first: hole.first, count: size, block: None });
                next.push(torn);
            }
            if fits_entry(size) && n < BREAKS && reading.moving.is_none() && hole.next < walk.blocks.len() {
                let mut moved = reading;
                moved.prior -= READING.moved;
                moved.moving = Some(size);
                next.push(moved);
            }
        }
        next.sort_by(|a, b| b.prior.total_cmp(&a.prior));
        next.truncate(MOST);
        open = next;
    }
    for mut reading in open {
        reading.items.extend((from..walk.blocks.len()).map(|b| item(walk, b)));
        done.push(reading);
    }
    with_moves(walk, done)
}

/// Likely ways to read a walk with many or long holes: the damaged blocks in them have the lengths of entries.
fn followed(walk: &Walk, entries: &[(u32, u32)], is_large: bool) -> Vec<Reading> {
    // If each of hundreds of torn blocks counted as rare, together they would outweigh all other evidence.
    let (ways, torn_odds) = if is_large { (1, GAPS.damaged) } else { (WAYS, ORDER.torn_odds) };
    let mut made: Vec<Reading> = Vec::new();
    for way in 0..ways {
        let Some(followed) = gaps::follow_way(walk, entries, way).filter(Followed::is_in_order) else { continue };
        // A killed game leaves holes behind the last block that an entry keeps.
        if !is_large && followed.damaged == 0 {
            continue;
        }
        let items = followed.items;
        if made.iter().any(|other| other.items == items) {
            continue;
        }
        let torn = items.iter().filter(|item| item.block.is_none()).count();
        let other = if way > 0 { READING.other_way } else { 0.0 };
        let prior = -READING.tiled - READING.tile * torn as f64 - other;
        made.push(Reading { prior, torn, torn_odds, ..Reading::new(items) });
    }
    made
}

/// Adds the readings in which sectors are there twice.
fn with_moves(walk: &Walk, mut done: Vec<Reading>) -> Vec<Reading> {
    for reading in &mut done {
        let splice = reading.items.iter().filter_map(|i| walk.blocks.get(i.block?)?.splice).next();
        reading.moving = reading.moving.or(splice.map(|s| s.gap));
    }
    let mut all = Vec::new();
    for reading in done {
        if reading.moving.is_none() {
            all.extend(doubled(walk, &reading));
        }
        all.push(reading);
    }
    all.sort_by(|a, b| b.prior.total_cmp(&a.prior));
    all.truncate(2 * MOST);
    all
}

fn item(walk: &Walk, block: usize) -> Item {
    let b = &walk.blocks[block];
    Item { first: b.first, count: b.count, block: Some(block) }
}

/// The entries of the table that fill a hole just so.
fn tiles(entries: &[(u32, u32)], hole: &Hole) -> Option<Vec<Item>> {
    let from = entries.partition_point(|(first, _)| *first < hole.first);
    let mut at = hole.first;
    let mut tiles = Vec::new();
    for &(first, count) in entries.get(from..)? {
        if first != at || count == 0 || at >= hole.end {
            break;
        }
        tiles.push(Item { first, count, block: None });
        at += count;
    }
    // The last one may reach beyond the end of the file.
    (at >= hole.end && !tiles.is_empty()).then_some(tiles)
}

/// The same walk without sectors that are there twice: the game was killed while it moved sectors down by as many.
fn doubled(walk: &Walk, reading: &Reading) -> Vec<Reading> {
    let items = &reading.items;
    let content = |i: usize| items[i].block.map(|b| walk.blocks[b].content);
    let mut common: HashMap<u128, f64> = HashMap::new();
    for i in 0..items.len() {
        if let Some(content) = content(i) {
            *common.entry(content).or_default() += 1.0;
        }
    }
    let by_first: HashMap<u32, usize> = walk.blocks.iter().enumerate().map(|(b, block)| (block.first, b)).collect();
    let rows = rows(walk);
    let mut found: Vec<Doubled> = Vec::new();
    for at in 0..items.len() {
        // The sector up to which they were moved.
        let tear = items[at].first + items[at].count;
        for by in 1..=255u32 {
            let rest = by_first.get(&(tear + by));
            if tear + by > walk.sectors || !walk.same(tear - 1, tear + by - 1, 1) {
                continue;
            }
            let moved = (1..by.min(tear)).take_while(|k| walk.same(tear - 1 - k, tear + by - 1 - k, 1)).count() + 1;
            // Or it was the end that was being moved.
            if rest.is_none() && tear + by < walk.sectors {
                continue;
            }
            let behind = &walk.blocks[walk.blocks.partition_point(|b| b.first < tear)..];
            let twice = behind.iter().take_while(|b| b.end() <= tear + by);
            let doubled: Vec<u128> = twice.clone().map(|b| b.content).collect();
            let covered: u32 = twice.map(|b| b.count).sum();
            let broken = covered < by;
            // Blocks that are common are often side by side; others are not.
            let chance: f64 = doubled
                .iter()
                .map(|c| ((common.get(c).unwrap_or(&1.0) - 2.0) / items.len() as f64).clamp(1e-4, 1.0).ln())
                .sum();
            if !broken && at > 0 && content(at).is_some() && doubled.len() == 1 && content(at) == content(at - 1) {
                // In a row of the same blocks it does not matter which is taken for the second one.
                continue;
            }
            if moved < by as usize && !broken {
                continue;
            }
            let rest = rest.map_or(0..0, |&rest| rest..rows[rest]);
            let mut prior = reading.prior - READING.doubled;
            prior -= if broken {
                READING.doubled_broken
            } else {
                ((at + 1 + rest.len()) as f64).ln() + chance.max(-READING.common)
            };
            // One sector that is there twice may be chance: with every further one that grows less likely.
            let short = (by as usize - moved).min(8);
            prior -= if broken { READING.doubled_short * short as f64 } else { 0.0 };
            found.push(Doubled { at, rest, prior, by });
        }
    }
    found.sort_by(|a, b| b.prior.total_cmp(&a.prior));
    found.truncate(MOST);
    let build = |Doubled { at, rest, prior, by }: Doubled| {
        let items: Vec<Item> = items[..=at].iter().copied().chain(rest.map(|b| item(walk, b))).collect();
        let torn = items.iter().filter(|i| i.block.is_none()).count();
        Reading { prior, moving: Some(by), torn, torn_odds: reading.torn_odds, ..Reading::new(items) }
    };
    let mut found: Vec<Reading> = found.into_iter().map(build).collect();
    found.extend(overlaid(walk, reading));
    found.sort_by(|a, b| b.prior.total_cmp(&a.prior));
    found.truncate(MOST);
    found
}

/// The same reading without a block over which the start of another one was being moved, and which decodes all the same.
fn overlaid(walk: &Walk, reading: &Reading) -> Vec<Reading> {
    let items = &reading.items;
    let plain = |i: usize| items[i].block.map(|b| &walk.blocks[b]).filter(|b| b.splice.is_none());
    let pairs = |reach: u32| {
        (0..items.len()).flat_map(move |i| {
            let near = move |j: &usize| items[*j].first - items[i].first <= reach;
            (i + 1..items.len()).take_while(near).map(move |j| (i, j))
        })
    };
    let starts_alike = |(i, j): (usize, usize)| match (plain(i), plain(j)) {
        (Some(a), Some(b)) => a.content != b.content && walk.alike(a.first, b.first),
        _ => false,
    };
    let found: Vec<(usize, usize)> = pairs(255).filter(|pair| starts_alike(*pair)).take(256).collect();
    // Small sectors are alike by themselves.
    let chance = ((found.len() as f64 - 1.0) / items.len().max(1) as f64).clamp(1e-4, 1.0).ln();
    let each = |(i, j): (usize, usize)| {
        let mut rest = items[..i].to_vec();
        rest.extend_from_slice(&items[j..]);
        let prior = reading.prior - READING.overlaid - (items.len() as f64).ln() - chance;
        let moving = Some(items[j].first - items[i].first);
        Reading { prior, moving, torn: reading.torn, torn_odds: reading.torn_odds, ..Reading::new(rest) }
    };
    found.into_iter().map(each).collect()
}

/// A reading without sectors that occur twice: the items up to one, and then some blocks of the walk.
struct Doubled {
    at: usize,
    rest: Range<usize>,
    prior: f64,
    by: u32,
}

/// For each block of a walk, the end of the row of blocks without a gap that begins with it.
fn rows(walk: &Walk) -> Vec<usize> {
    let blocks = &walk.blocks;
    let mut ends = vec![blocks.len(); blocks.len()];
    for b in (0..blocks.len().saturating_sub(1)).rev() {
        ends[b] = if blocks[b].end() == blocks[b + 1].first { ends[b + 1] } else { b + 1 };
    }
    ends
}

/// Whether a run of blocks that are not common is there twice.
#[must_use]
pub fn is_doubled(walk: &Walk, entries: &[(u32, u32)]) -> bool {
    let items = (0..entries.len().min(walk.blocks.len())).map(|b| item(walk, b)).collect();
    let reading = Reading::new(items);
    walk.hashed() && doubled(walk, &reading).iter().any(|r| r.prior > READING.is_doubled)
}
