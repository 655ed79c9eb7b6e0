//! Region files that have each other's tables: the entries of one lead to the whole blocks of another, each of its length, while its own
//! table leads to few of them.
//!
//! Such a region is solved by the table that fits it, and what was found is then described by the table that the file has. Where a table
//! was copied over another one, the region is solved without a table. Only files whose own tables do not fit are asked: worlds that
//! repeat themselves have equal tables in many regions.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::mem;

use xxhash_rust::xxh3::xxh3_64;

use crate::godot::region::{Entry, Format};
use crate::godot::slots::SlotFormula;
use crate::recover::cluster::{self, Broken, Sides, has_lods};
use crate::recover::decide::Placed;
use crate::recover::explained::PLAIN;
use crate::recover::region::{Case, Listing};
use crate::recover::solved::Solved;
use crate::recover::torn_table::own;
use crate::recover::weights::FOREIGN_TABLE;
use crate::save::{Forest, Region, RegionFile, Save};
use crate::source::Source;

/// A sample of first sectors and counts. Two files with the same pairs have the same sample.
#[derive(Clone, Debug)]
struct Sample {
    /// Hashes of pairs, ascending.
    drawn: Vec<u32>,
    /// Whether these are all of them.
    is_whole: bool,
    /// The sector after the last.
    end: u32,
}

/// Samples of a table that does not fit its region and of the region's blocks, to be compared with those of other files.
#[derive(Clone, Debug)]
pub struct Sectors {
    format: Format,
    table: Sample,
    blocks: Sample,
    fit: Fit,
    /// The hash of the table, with its slots; `None` if it may be that of another file by chance.
    raw: Option<u64>,
}

/// How many entries of a table lead to whole blocks of their length.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// The entries that do.
    pub fitting: usize,
    /// All of its entries.
    pub entries: usize,
}

/// The table of another region, which fits the blocks of one better than its own, or is its own as well.
#[derive(Clone, Copy, Debug)]
pub struct TableOf {
    /// The index of the other region.
    pub index: usize,
    /// Whether both files have this table, so that the region's own one is lost.
    pub is_copy: bool,
    /// How it fits the blocks of this region or, if it is a copy, those of the other one.
    pub fit: Fit,
    /// How the table that the file has fits the blocks of this region.
    pub own: Fit,
}

/// What a region is read by in place of its own table.
#[derive(Clone, Copy, Debug)]
pub enum Instead<'f> {
    /// The table of another file.
    Table(&'f RegionFile),
    /// No table.
    Nothing,
}

impl TableOf {
    /// What the region is read by, if `file` is the other one.
    #[must_use]
    pub const fn instead<'f>(&self, file: &'f RegionFile) -> Instead<'f> {
        if self.is_copy { Instead::Nothing } else { Instead::Table(file) }
    }
}

impl Sample {
    fn new(pairs: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut sample = Self { drawn: Vec::new(), is_whole: true, end: 0 };
        for (first, count) in pairs {
            sample.end = sample.end.max(first.saturating_add(count));
            sample.drawn.push(mixed(first, count));
        }
        sample.drawn.sort_unstable();
        sample.drawn.dedup();
        sample.is_whole = sample.drawn.len() <= FOREIGN_TABLE.drawn;
        sample.drawn.truncate(FOREIGN_TABLE.drawn);
        sample.drawn.shrink_to_fit();
        sample
    }

    /// The last hash up to which all pairs are drawn.
    fn last(&self) -> u32 {
        self.drawn.last().copied().filter(|_| !self.is_whole).unwrap_or(u32::MAX)
    }

    /// How many pairs another sample has as well, and of how many.
    fn common(&self, other: &Self) -> (usize, usize) {
        let last = self.last().min(other.last());
        let asked = self.drawn.partition_point(|hash| *hash <= last);
        let found = self.drawn[..asked].iter().filter(|hash| other.drawn.binary_search(hash).is_ok());
        (found.count(), asked)
    }
}

/// A hash of a pair. Its order says nothing about that of the pairs.
fn mixed(first: u32, count: u32) -> u32 {
    let mixed = (u64::from(first) << 8 ^ u64::from(count)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32
}

/// A hash of a table with its slots; `None` if so few entries, or so few lengths, are in it that another file may have the same one by
/// chance.
fn hash_of_table(raw: &[(u32, Entry)]) -> Option<u64> {
    let lengths: HashSet<u8> = raw.iter().map(|(_, entry)| entry.count()).collect();
    let is_enough = raw.len() >= FOREIGN_TABLE.entries && lengths.len() >= FOREIGN_TABLE.lengths;
    let words = raw.iter().flat_map(|(slot, entry)| [*slot, entry.0]);
    is_enough.then(|| xxh3_64(&words.flat_map(u32::to_le_bytes).collect::<Vec<u8>>()))
}

/// The hash of the table of a file, as [`Sectors`] have it.
#[must_use]
pub fn hash_of_file(save: &Save, forest: &Forest, file: &RegionFile) -> Option<u64> {
    let region = save.region(forest, file).ok()??;
    hash_of_table(&region.entries.iter().map(|listed| (listed.slot, listed.entry)).collect::<Vec<_>>())
}

impl Sectors {
    /// Those of a region; `None` if so many of its entries lead to whole blocks that the table is its own.
    #[must_use]
    pub fn new(case: &Case, format: Format) -> Option<Self> {
        let fit = Fit::new(case);
        if fit.share() > FOREIGN_TABLE.own {
            return None;
        }
        let table = Sample::new(case.entries.iter().map(|entry| (entry.first, entry.count)));
        let blocks = Sample::new(case.walk.blocks.iter().map(|block| (block.first, block.count)));
        Some(Self { format, table, blocks, fit, raw: hash_of_table(&case.raw) })
    }

    /// Whether a table fits these blocks, and that cannot be chance.
    fn is_fit_by(&self, table: &Self) -> bool {
        let (found, asked) = table.table.common(&self.blocks);
        let by_chance = self.fit.share().max(FOREIGN_TABLE.chance);
        let odds = -(found as f64) * by_chance.ln();
        self.format == table.format && found as f64 >= FOREIGN_TABLE.other * asked as f64 && odds >= FOREIGN_TABLE.sure
    }

    /// Whether clearly more entries of a table lead to these blocks than of the one that the file has.
    fn is_nearer(&self, table: &Self) -> bool {
        let (found, asked) = table.table.common(&self.blocks);
        let share = found as f64 / asked.max(1) as f64;
        self.format == table.format && share >= self.fit.share() + FOREIGN_TABLE.nearer
    }
}

impl Fit {
    fn new(case: &Case) -> Self {
        let fitting = case.entries.iter().filter(|entry| own(case, entry).is_some()).count();
        Self { fitting, entries: case.entries.len() }
    }

    fn share(self) -> f64 {
        self.fitting as f64 / self.entries.max(1) as f64
    }
}

/// Of the files of a forest whose tables do not fit them, those that another one's table fits, or that have the table of another one,
/// by their indexes. `walk` walks over a file, by the table of the second one if it is given; `hash` is that of the table of a file.
///
/// # Errors
/// Those of `walk`.
pub fn find<E>(
    files: &[Option<&Broken>],
    mut walk: impl FnMut(usize, Option<usize>) -> Result<Option<Case>, E>,
    hash: impl Fn(usize) -> Option<u64>,
) -> Result<Vec<(usize, Broken)>, E> {
    let sectors: Vec<Option<&Sectors>> = files.iter().map(|broken| broken.as_ref()?.sectors.as_ref()).collect();
    let mut found = Vec::new();
    let Exchanged { by_other, lost } = exchanged(&sectors);
    let mut fits: HashMap<usize, Fit> = HashMap::new();
    for (&file, &index) in &by_other {
        if let (Some(case), Some(own)) = (walk(file, Some(index))?, sectors[file]) {
            let table = TableOf { index, is_copy: false, fit: Fit::new(&case), own: own.fit };
            if table.fit.share() > table.own.share() {
                fits.insert(file, table.fit);
                found.push((file, Broken::by_table_of(&case, table)));
            }
        }
    }
    for (&file, &index) in &lost {
        if let (Some(&fit), Some(own), Some(case)) = (fits.get(&index), sectors[file], walk(file, None)?) {
            found.push((file, without_table(case, TableOf { index, is_copy: true, fit, own: own.fit })));
        }
    }
    let rest = (0..files.len()).filter(|i| !by_other.contains_key(i) && !lost.contains_key(i));
    let rest: Vec<(usize, u64)> = rest.filter_map(|i| Some((i, sectors[i]?.raw?))).collect();
    if rest.is_empty() {
        return Ok(found);
    }
    let mut owners: HashMap<u64, Vec<usize>> = HashMap::new();
    for (i, sectors) in sectors.iter().enumerate() {
        let hash = if let Some(sectors) = sectors { sectors.raw } else { hash(i) };
        hash.into_iter().for_each(|hash| owners.entry(hash).or_default().push(i));
    }
    for (file, raw) in rest {
        // In a world that repeats itself, several regions have a table.
        let [index] = owners.get(&raw).into_iter().flatten().filter(|&&i| i != file).collect::<Vec<_>>()[..] else {
            continue;
        };
        let index = *index;
        let (Some(case), Some(other)) = (walk(file, None)?, walk(index, None)?) else { continue };
        let table = TableOf { index, is_copy: true, fit: Fit::new(&other), own: Fit::new(&case) };
        // A game that was killed may have moved blocks of the region that has this table.
        let is_owner = table.fit.share() >= FOREIGN_TABLE.other
            || (table.fit.entries >= FOREIGN_TABLE.many
                && table.fit.share() >= table.own.share() + FOREIGN_TABLE.owner);
        if is_owner && !is_alike(&case, &other) {
            found.push((file, without_table(case, table)));
        }
    }
    Ok(found)
}

/// What a region shows once its table, which is that of another one, is set aside.
fn without_table(mut case: Case, table: TableOf) -> Broken {
    (case.raw, case.entries) = (Vec::new(), Vec::new());
    Broken::by_table_of(&case, table)
}

/// Whether two regions have many blocks in common, so that they may have the same table as well.
fn is_alike(case: &Case, other: &Case) -> bool {
    let contents = |case: &Case| -> HashSet<u128> {
        case.walk.blocks.iter().filter(|block| block.size > PLAIN).map(|block| block.content).collect()
    };
    let (a, b) = (contents(case), contents(other));
    2 * a.intersection(&b).count() >= a.len().min(b.len())
}

/// Files that have each other's tables, by their indexes.
#[derive(Debug)]
struct Exchanged {
    /// For each file the one whose table fits it.
    by_other: BTreeMap<usize, usize>,
    /// For each file whose own table is in no file, the file that its table fits.
    lost: BTreeMap<usize, usize>,
}

/// Of some files whose tables do not fit them, those that the table of another one fits. A table that fits several files, and a file that
/// several tables fit, are left alone.
fn exchanged(files: &[Option<&Sectors>]) -> Exchanged {
    let known: Vec<(usize, &Sectors)> = files.iter().enumerate().filter_map(|(i, file)| Some((i, (*file)?))).collect();
    let mut by_end: HashMap<u32, Vec<usize>> = HashMap::new();
    for (k, (_, file)) in known.iter().enumerate() {
        by_end.entry(file.table.end).or_default().push(k);
    }
    let all: Vec<usize> = (0..known.len()).collect();
    let mut found: BTreeMap<usize, usize> = BTreeMap::new();
    let mut times: HashMap<usize, u32> = HashMap::new();
    for &(i, file) in &known {
        // Of very many files only those are compared that end at the same sector.
        let asked = match known.len() <= FOREIGN_TABLE.files {
            true => &all,
            false => by_end.get(&file.blocks.end).map_or(&[][..], Vec::as_slice),
        };
        let mut fitting = asked.iter().map(|&k| known[k]).filter(|(j, other)| *j != i && file.is_fit_by(other));
        if let (Some((j, _)), None) = (fitting.next(), fitting.next()) {
            found.insert(i, j);
            *times.entry(j).or_default() += 1;
        }
    }
    found.retain(|_, j| times.get(j) == Some(&1));
    // The file whose table is known to be another's has the table of that one, or of a third, or its own table is lost.
    let mut lost = BTreeMap::new();
    let taken: Vec<(usize, usize)> =
        found.iter().map(|(&i, &j)| (i, j)).filter(|(_, j)| !found.contains_key(j)).collect();
    for (i, j) in taken {
        let (Some(file), Some(table)) = (files[j], files[i]) else { continue };
        let is_free = !found.values().any(|&other| other == i);
        if is_free && file.is_nearer(table) {
            found.insert(j, i);
        } else {
            lost.insert(j, i);
        }
    }
    Exchanged { by_other: found, lost }
}

/// The table that a region file has, while its blocks are placed by that of another one.
#[derive(Debug)]
pub struct OwnTable {
    raw: Vec<(u32, Entry)>,
    entries: Vec<Listing>,
    /// Whether they are placed without a table.
    is_lost: bool,
}

/// Walks over a region, as [`cluster::read`] does, and reads its blocks by what is given in place of its own table, if anything is.
///
/// # Errors
/// I/O errors.
pub fn read<S: Source>(
    save: &Save,
    forest: &Forest,
    region: &mut Region<S>,
    instead: Option<Instead<'_>>,
    slots: SlotFormula,
    sides: Sides<'_>,
) -> io::Result<(Case, Option<OwnTable>)> {
    let other = match instead {
        Some(Instead::Table(file)) => save.region(forest, file).ok().flatten().map(|other| other.entries),
        Some(Instead::Nothing) => Some(Vec::new()),
        None => None,
    };
    let lods = has_lods(forest);
    let Some(other) = other else { return Ok((cluster::read(save, region, slots, sides, lods)?, None)) };
    let is_lost = other.is_empty();
    let own = mem::replace(&mut region.entries, other);
    let read = cluster::read(save, region, slots, sides, lods);
    region.entries = own;
    let case = read?;
    let (raw, entries) = Case::table(region, slots, &case.walk);
    Ok((case, Some(OwnTable { raw, entries, is_lost })))
}

/// Gives a case the table of its file back, and describes by it what was solved with that of another one.
pub fn restore(case: &mut Case, table: OwnTable, solved: &Solved) -> Solved {
    let OwnTable { raw, entries, is_lost } = table;
    case.raw = raw;
    let other = mem::replace(&mut case.entries, entries);
    let at: HashMap<u32, usize> = other.iter().enumerate().map(|(i, entry)| (entry.slot, i)).collect();
    let of_entry = |entry: &Listing| at.get(&entry.slot).copied();
    let mut placed: Vec<Placed> = match solved.as_listed {
        true => other.iter().filter_map(|entry| Placed::as_listed(case, entry)).collect(),
        false => solved.placed.clone(),
    };
    placed.sort_unstable_by_key(|placed| placed.slot);
    let named: HashSet<u32> = case.entries.iter().map(|entry| entry.slot).collect();
    placed.iter_mut().for_each(|placed| placed.moved |= !named.contains(&placed.slot));
    let void = case.entries.iter().map(|entry| entry.slot).filter(|slot| !at.contains_key(slot));
    let mut void: Vec<u32> = void.collect();
    void.sort_unstable();
    let torn = |entry: &Listing| of_entry(entry).and_then(|i| solved.torn.get(i)).copied().unwrap_or(0.0);
    let options = |entry: &Listing| of_entry(entry).and_then(|i| solved.options.get(i)).cloned().unwrap_or_default();
    Solved {
        placed,
        torn: case.entries.iter().map(torn).collect(),
        options: if solved.options.is_empty() { Vec::new() } else { case.entries.iter().map(options).collect() },
        as_listed: false,
        by_other_table: !is_lost,
        void,
        ..solved.clone()
    }
}
