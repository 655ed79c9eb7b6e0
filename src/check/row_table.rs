//! Rows of a file in columns: a table of a million blocks takes an eighth of the memory of as many [`Row`]s.

use std::collections::HashMap;
use std::sync::Arc;

use crate::check::{Inside, Row};
use crate::damage::{Code, CodeSet};
use crate::godot::channel::{CHANNELS, Depth, Storage};
use crate::godot::stream::loc::Format;
use crate::save::SlotPositions;
use crate::voxel_map::flags::Histogram;

/// Takes the rows of a file as they are made.
pub(super) trait TakeRows {
    /// Prepares for so many rows.
    fn reserve(&mut self, rows: usize);
    /// Adds a row.
    fn push(&mut self, row: Row);
    /// The row that was added last.
    fn last(&self) -> Option<Row>;
    /// Says where sectors begin: the first one, and bytes of each. Other offsets take more memory.
    fn expect_offsets(&mut self, first: u64, size: u64);
    /// Whether rows may be arranged several times: those that were added since, each time.
    fn passes_on(&self) -> bool {
        false
    }
    /// Sorts the rows by slot, gives them the codes of their slots, and positions if those of slots are known.
    fn arrange(&mut self, codes: &[(u32, Code)], positions: Option<SlotPositions>);
}

impl TakeRows for Vec<Row> {
    fn reserve(&mut self, rows: usize) {
        self.reserve_exact(rows);
    }

    fn push(&mut self, row: Row) {
        self.push(row);
    }

    fn last(&self) -> Option<Row> {
        self.as_slice().last().cloned()
    }

    fn expect_offsets(&mut self, _: u64, _: u64) {}

    fn arrange(&mut self, codes: &[(u32, Code)], positions: Option<SlotPositions>) {
        self.sort_unstable_by_key(|row| row.slot);
        if let Some(positions) = positions {
            self.iter_mut().for_each(|row| row.position = positions.position(row.slot));
        }
        for (slot, code) in codes {
            if let Ok(at) = self.binary_search_by_key(slot, |row| row.slot)
                && let Some(row) = self.get_mut(at)
            {
                row.codes.insert(*code);
            }
        }
    }
}

/// The rows of a file.
#[derive(Debug, Default)]
pub struct RowTable {
    slots: Vec<u32>,
    /// Positions of the slots, if slots have positions.
    places: Option<SlotPositions>,
    /// Positions otherwise.
    positions: Rare<[i32; 3]>,
    /// First sectors.
    sectors: Vec<u32>,
    /// How many sectors.
    sector_counts: Small,
    /// Where the first sector begins, and bytes of a sector.
    grid: Option<[u64; 2]>,
    /// Offsets that are not those of the first sectors.
    offsets: Rare<Option<u64>>,
    /// Stored and plain bytes: the lowest 16 bits, which have all of it in blocks of 16 x 16 x 16 voxels.
    sizes: Vec<[u16; 2]>,
    /// The next 16 bits.
    middle_sizes: Rare<[u16; 2]>,
    /// The upper halves, which only layers of maps need.
    upper_sizes: Rare<[u32; 2]>,
    /// Declared bytes and items of metadata.
    metadata: Rare<[u32; 2]>,
    instances: Rare<Option<u64>>,
    flags: Rare<Option<Box<Histogram>>>,
    /// Which of the values of a row there are.
    has: Vec<u8>,
    /// By row: the number of what it has in common with others.
    of_common: Small,
    common: Vec<Common>,
    numbers: HashMap<Common, u32>,
}

/// Bits of [`RowTable::has`].
const SECTOR: u8 = 1;
const OFFSET: u8 = 2;
const POSITION: u8 = 4;

/// Marks a place that has its value, while columns are sorted.
const DONE: u32 = 1 << 31;

/// What many rows have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Common {
    file: Arc<str>,
    lod: u8,
    version: Option<u8>,
    container: Option<&'static str>,
    key: Option<Format>,
    codes: CodeSet,
    size: Option<[u32; 3]>,
    channels: [Option<(Depth, Storage)>; CHANNELS],
}

/// A column of which most tables have no value.
#[derive(Debug, Default)]
struct Rare<T>(Vec<T>);

impl<T: Clone + Default + PartialEq> Rare<T> {
    fn set(&mut self, row: usize, value: T) {
        if value != T::default() {
            self.0.resize(row + 1, T::default());
            if let Some(place) = self.0.get_mut(row) {
                *place = value;
            }
        }
    }

    fn get(&self, row: usize) -> T {
        self.0.get(row).cloned().unwrap_or_default()
    }

    fn sort(&mut self, order: &mut [u32]) {
        if !self.0.is_empty() {
            self.0.resize(order.len(), T::default());
            sort(&mut self.0, order);
        }
    }
}

/// A column of numbers that are below 256 in most tables.
#[derive(Debug, Default)]
struct Small {
    lower: Vec<u8>,
    /// What is above the lowest 8 bits.
    upper: Rare<u32>,
}

impl Small {
    fn push(&mut self, n: u32) {
        self.upper.set(self.lower.len(), n >> 8);
        self.lower.push(n as u8);
    }

    fn get(&self, row: usize) -> Option<u32> {
        Some(self.upper.get(row) << 8 | u32::from(*self.lower.get(row)?))
    }

    fn replace(&mut self, row: usize, n: u32) {
        let Some(lower) = self.lower.get_mut(row) else { return };
        *lower = n as u8;
        if n >> 8 != self.upper.get(row) {
            let rows = self.upper.0.len().max(row + 1);
            self.upper.0.resize(rows, 0);
            self.upper.0.get_mut(row).into_iter().for_each(|upper| *upper = n >> 8);
        }
    }

    fn sort(&mut self, order: &mut [u32]) {
        sort(&mut self.lower, order);
        self.upper.sort(order);
    }
}

/// Puts a column in another order, in place. `order` has for each place the one whose value belongs there, and stays as it is.
fn sort<T>(column: &mut [T], order: &mut [u32]) {
    for first in 0..column.len() {
        let mut at = first;
        while let Some(next) = order.get_mut(at).filter(|next| **next & DONE == 0) {
            let from = *next as usize;
            *next |= DONE;
            if from == first {
                break;
            }
            column.swap(at, from);
            at = from;
        }
    }
    order.iter_mut().for_each(|from| *from &= !DONE);
}

/// Two numbers in parts: the lowest 16 bits of each, the next 16 bits, and the upper halves.
const fn split([a, b]: [u64; 2]) -> ([u16; 2], [u16; 2], [u32; 2]) {
    ([a as u16, b as u16], [(a >> 16) as u16, (b >> 16) as u16], [(a >> 32) as u32, (b >> 32) as u32])
}

impl RowTable {
    /// Number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// A row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<Row> {
        let has = *self.has.get(row)?;
        let common = self.common.get(self.of_common.get(row)? as usize)?;
        let (sector, sectors) = (*self.sectors.get(row)?, self.sector_counts.get(row)?);
        let (slot, sector) = (*self.slots.get(row)?, (has & SECTOR != 0).then_some(sector));
        let [metadata_bytes, metadata_items] = self.metadata.get(row);
        let size = |i: usize| {
            let lower = self.sizes.get(row).map_or(0, |sizes| sizes[i]);
            let (middle, upper) = (self.middle_sizes.get(row)[i], self.upper_sizes.get(row)[i]);
            u64::from(upper) << 32 | u64::from(middle) << 16 | u64::from(lower)
        };
        let inside = Inside { size: common.size, channels: common.channels, metadata_bytes, metadata_items };
        Some(Row {
            file: Arc::clone(&common.file),
            lod: common.lod,
            position: match self.places {
                Some(places) => places.position(slot),
                None => (has & POSITION != 0).then(|| self.positions.get(row)),
            },
            slot,
            sector,
            sectors,
            offset: self.offsets.get(row).or_else(|| self.offset(sector)).filter(|_| has & OFFSET != 0),
            bytes: size(0),
            plain: size(1),
            version: common.version,
            container: common.container,
            codes: common.codes,
            flags: self.flags.get(row),
            instances: self.instances.get(row),
            known: inside.boxed(),
            key: common.key,
        })
    }

    /// All rows, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = Row> {
        (0..self.len()).filter_map(|row| self.get(row))
    }

    /// The number of the row of a slot; rows are sorted by slot.
    #[must_use]
    pub fn find(&self, slot: u32) -> Option<usize> {
        self.slots.binary_search(&slot).ok()
    }

    /// Where a sector begins.
    fn offset(&self, sector: Option<u32>) -> Option<u64> {
        let [first, size] = self.grid?;
        u64::from(sector?).checked_mul(size)?.checked_add(first)
    }

    /// The number of what a row has in common with others.
    fn number(&mut self, common: Common) -> u32 {
        let known = self.of_common.lower.len().checked_sub(1).and_then(|last| self.of_common.get(last));
        if let Some(last) = known.filter(|last| self.common.get(*last as usize) == Some(&common)) {
            return last;
        }
        let next = u32::try_from(self.common.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(common.clone()).or_insert(next);
        if number == next {
            self.common.push(common);
        }
        number
    }
}

impl TakeRows for RowTable {
    fn reserve(&mut self, rows: usize) {
        self.slots.reserve_exact(rows);
        self.sectors.reserve_exact(rows);
        self.sizes.reserve_exact(rows);
        self.has.reserve_exact(rows);
        self.of_common.lower.reserve_exact(rows);
        self.sector_counts.lower.reserve_exact(rows);
    }

    fn push(&mut self, row: Row) {
        let at = self.len();
        let Inside { size, channels, metadata_bytes, metadata_items } = *row.inside();
        let Row { file, lod, version, container, key, codes, .. } = row;
        let number = self.number(Common { file, lod, version, container, key, codes, size, channels });
        let bit = |is_there: bool, bit: u8| if is_there { bit } else { 0 };
        let has = bit(row.sector.is_some(), SECTOR) | bit(row.offset.is_some(), OFFSET);
        let has = has | bit(row.position.is_some(), POSITION);
        let (lower, middle, upper) = split([row.bytes, row.plain]);
        self.slots.push(row.slot);
        self.positions.set(at, row.position.unwrap_or_default());
        self.sectors.push(row.sector.unwrap_or_default());
        self.sector_counts.push(row.sectors);
        self.offsets.set(at, row.offset.filter(|offset| self.offset(row.sector) != Some(*offset)));
        self.sizes.push(lower);
        self.middle_sizes.set(at, middle);
        self.upper_sizes.set(at, upper);
        self.metadata.set(at, [metadata_bytes, metadata_items]);
        self.instances.set(at, row.instances);
        self.flags.set(at, row.flags);
        self.has.push(has);
        self.of_common.push(number);
    }

    fn last(&self) -> Option<Row> {
        self.get(self.len().checked_sub(1)?)
    }

    fn expect_offsets(&mut self, first: u64, size: u64) {
        self.grid = Some([first, size]);
    }

    fn arrange(&mut self, codes: &[(u32, Code)], positions: Option<SlotPositions>) {
        if !self.slots.is_sorted() {
            let mut order: Vec<u32> = (0..).take(self.len()).collect();
            order.sort_unstable_by_key(|row| self.slots.get(*row as usize));
            sort(&mut self.slots, &mut order);
            sort(&mut self.sectors, &mut order);
            sort(&mut self.sizes, &mut order);
            sort(&mut self.has, &mut order);
            self.sector_counts.sort(&mut order);
            self.of_common.sort(&mut order);
            self.middle_sizes.sort(&mut order);
            self.positions.sort(&mut order);
            self.offsets.sort(&mut order);
            self.upper_sizes.sort(&mut order);
            self.metadata.sort(&mut order);
            self.instances.sort(&mut order);
            self.flags.sort(&mut order);
        }
        if positions.is_some() {
            (self.places, self.positions) = (positions, Rare::default());
        }
        for (slot, code) in codes {
            let Some(row) = self.find(*slot) else { continue };
            let of_common = self.of_common.get(row).and_then(|number| self.common.get(number as usize));
            let Some(mut common) = of_common.cloned() else { continue };
            common.codes.insert(*code);
            let number = self.number(common);
            self.of_common.replace(row, number);
        }
        // No row is added after that.
        self.numbers = HashMap::new();
        self.middle_sizes.0.shrink_to_fit();
    }
}

impl FromIterator<Row> for RowTable {
    fn from_iter<I: IntoIterator<Item = Row>>(rows: I) -> Self {
        let rows = rows.into_iter();
        let mut table = Self::default();
        table.reserve(rows.size_hint().0);
        rows.for_each(|row| TakeRows::push(&mut table, row));
        table.numbers = HashMap::new();
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::{Extent, ForestSpec, write_forest};
    use crate::godot::slots::SlotFormula;
    use crate::save::Save;

    fn row(slot: u32) -> Row {
        let channels = std::array::from_fn(|n| (n < 3).then_some((Depth::Bits16, Storage::Raw)));
        let inside = Inside { size: Some([16; 3]), channels, metadata_bytes: slot % 3, metadata_items: slot % 2 };
        Row {
            file: "regions/lod0/r.0.0.0.vxr".into(),
            lod: 0,
            position: (!slot.is_multiple_of(7)).then_some([1, 2, 3]),
            slot,
            sector: (!slot.is_multiple_of(5)).then_some(slot),
            sectors: if slot % 11 == 7 { 1000 + slot } else { 2 },
            // Most begin at their sectors.
            offset: (!slot.is_multiple_of(4))
                .then_some(1000 + u64::from(slot) * if slot % 13 == 1 { 1 << 33 } else { 512 }),
            bytes: u64::from(slot) << if slot % 10 == 9 { 30 } else { 4 },
            plain: u64::from(slot) * 100,
            version: Some(4).filter(|_| !slot.is_multiple_of(6)),
            container: Some("lz4").filter(|_| !slot.is_multiple_of(6)),
            codes: CodeSet::default(),
            flags: (slot == 8).then(|| Box::new(Histogram { voxels: 9, ..Histogram::default() })),
            instances: (slot % 9 == 5).then_some(77),
            known: inside.boxed().filter(|_| !slot.is_multiple_of(8)),
            key: None,
        }
    }

    #[test]
    fn a_table_has_the_same_rows_as_a_list() {
        let order: Vec<u32> = (0..60).map(|n| n * 37 % 60).collect();
        let codes = [(3, Code::TableCount), (3, Code::StaleTail), (59, Code::TableCount), (60, Code::TableCount)];
        let positions = SlotPositions { region: [-1, 0, 5], size: [4; 3], formula: SlotFormula::Euclidean };
        assert_eq!((positions.position(1), positions.position(64)), (Some([-4, 1, 20]), None));
        for positions in [None, Some(positions)] {
            let (mut table, mut list) = (RowTable::default(), Vec::new());
            for taker in [&mut table as &mut dyn TakeRows, &mut list] {
                taker.reserve(order.len());
                taker.expect_offsets(1000, 512);
                order.iter().for_each(|slot| taker.push(row(*slot)));
                assert_eq!(taker.last(), Some(row(order[59])));
                taker.arrange(&codes, positions);
            }
            assert_eq!(table.iter().collect::<Vec<_>>(), list);
            assert_eq!((table.find(41), table.find(60)), (Some(41), None));
            assert!(table.get(59).unwrap().codes.contains(Code::TableCount));
        }
        assert_eq!(
            (0..60).map(row).collect::<RowTable>().iter().collect::<Vec<_>>(),
            (0..60).map(row).collect::<Vec<_>>()
        );
    }

    #[test]
    fn the_row_of_a_healthy_block_takes_15_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let lods = vec![Extent { from: [0, -4, 0], to: [8, 4, 8] }];
        let spec = ForestSpec { lods, metadata: false, ..ForestSpec::default() };
        write_forest(dir.path(), &spec, None).unwrap();
        let save = Save::open(dir.path(), &crate::save::Options::default()).unwrap();
        let mut count = 0;
        for file in save.files() {
            let options = crate::check::Options::default();
            let table = crate::check::row_table(&save, file, &options).unwrap();
            assert_eq!(table.iter().collect::<Vec<_>>(), crate::check::rows(&save, file, &options).unwrap());
            count += table.len();
            let RowTable { slots, sectors, sector_counts, sizes, has, of_common, .. } = &table;
            let bytes = size_of_val(slots.as_slice()) + size_of_val(sectors.as_slice()) + size_of_val(sizes.as_slice());
            let bytes = bytes + has.len() + of_common.lower.len() + sector_counts.lower.len();
            assert_eq!(bytes, 15 * table.len());
            assert!(
                of_common.upper.0.is_empty() && sector_counts.upper.0.is_empty() && table.middle_sizes.0.is_empty()
            );
            assert!(slots.capacity() == slots.len() && table.common.len() < 10, "{}", table.common.len());
            assert!(table.positions.0.is_empty() && table.offsets.0.is_empty() && table.upper_sizes.0.is_empty());
            assert!(table.metadata.0.is_empty() && table.instances.0.is_empty() && table.flags.0.is_empty());
        }
        assert_eq!(count, 512);
    }
}
