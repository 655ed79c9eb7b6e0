//! The blocks of a sparse layer, found by their coordinates.

use std::io;

use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::source::Source;
use crate::voxel_map::grid::{Array, BLOCK, Fault, LayerFile, at};
use crate::voxel_map::npy::Npy;

/// Rows that are read at once.
const ROWS: u64 = 1 << 13;

/// The coordinates of all blocks: 16 bytes a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    rows: Vec<[i32; 3]>,
    /// Rows by their coordinates, and of the same ones the first row first.
    order: Vec<u32>,
}

impl Index {
    /// The index of these rows.
    #[must_use]
    pub fn new(rows: Vec<[i32; 3]>) -> Self {
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_unstable_by_key(|&row| (rows.get(at(row)).copied(), row));
        Self { rows, order }
    }

    /// Reads at most `limit` rows, as far as the file has them. Memory is proportional to the rows in the file.
    pub(super) fn read<S: Source>(array: &Array<S>, limit: usize) -> io::Result<Self> {
        Self::read_rows(&array.source, &array.npy, limit)
    }

    /// Reads at most `limit` rows of an array of coordinates, as far as the file has them.
    ///
    /// # Errors
    /// I/O errors.
    pub fn read_rows<S: Source>(source: &S, npy: &Npy, limit: usize) -> io::Result<Self> {
        let count = npy.shape.first().copied().unwrap_or(0);
        let there = count.min(npy.there() / 3).min(u64::try_from(limit).unwrap_or(u64::MAX));
        let mut rows: Vec<[i32; 3]> = Vec::new();
        let mut buffer = Vec::new();
        let small = |n: i64| i32::try_from(n).unwrap_or(if n < 0 { i32::MIN } else { i32::MAX });
        let mut row = 0;
        while row < there {
            let some = ROWS.min(there.saturating_sub(row));
            let before = rows.len();
            if npy.fortran {
                let mut columns = [const { Vec::new() }; 3];
                for (column, to) in (0u64..).zip(&mut columns) {
                    npy.read(source, column.saturating_mul(count).saturating_add(row), some, &mut buffer)?;
                    to.extend(npy.integers(&buffer).map(small));
                }
                let [x, y, z] = columns;
                rows.extend(x.into_iter().zip(y).zip(z).map(|((x, y), z)| [x, y, z]));
            } else {
                npy.read(source, row.saturating_mul(3), some.saturating_mul(3), &mut buffer)?;
                let numbers: Vec<i32> = npy.integers(&buffer).map(small).collect();
                rows.extend(numbers.as_chunks::<3>().0);
            }
            if rows.len() == before {
                break;
            }
            row = row.saturating_add(some);
        }
        Ok(Self::new(rows))
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> u32 {
        u32::try_from(self.rows.len()).unwrap_or(u32::MAX)
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The coordinates of the block of a row.
    #[must_use]
    pub fn get(&self, row: u32) -> Option<[i32; 3]> {
        self.rows.get(at(row)).copied()
    }

    /// The row of the block at these coordinates; the first if there are several.
    #[must_use]
    pub fn find(&self, block: [i32; 3]) -> Option<u32> {
        let from = self.order.partition_point(|&row| self.get(row) < Some(block));
        self.order.get(from).copied().filter(|&row| self.get(row) == Some(block))
    }

    /// All rows with their coordinates, in the order of the file.
    pub fn rows(&self) -> impl Iterator<Item = (u32, [i32; 3])> {
        (0u32..).zip(self.rows.iter().copied())
    }

    /// Damage of the rows: repeated ones, and those outside `dim`.
    pub(super) fn check<S>(&self, array: &Array<S>, dim: Option<[u32; 3]>, faults: &mut Vec<Fault>) {
        let mut add = |code, field, rows: &mut dyn Iterator<Item = u32>| {
            let (mut count, mut first) = (0u64, None);
            for row in rows {
                count = count.saturating_add(1);
                first = Some(first.map_or(row, |first: u32| first.min(row)));
            }
            let Some(first) = first else { return };
            let span = self.row_span(array, first);
            let damage = Damage::new(code, span, field).found(Value::Number(count));
            let place = self.get(first).map(|at| at.map(i64::from));
            faults.push(Fault { count, first: place, ..Fault::new(LayerFile::Index, damage) });
        };
        let pairs = self.order.iter().zip(self.order.iter().skip(1));
        let mut twice = pairs.filter(|&(&a, &b)| self.get(a) == self.get(b)).map(|(_, &b)| b);
        add(Code::MapIndexTwice, "index rows with coordinates that were there before", &mut twice);
        if let Some(dim) = dim {
            let mut outside = self.rows().filter(|&(_, block)| !is_inside(block, dim)).map(|(row, _)| row);
            add(Code::MapIndexRange, "index rows outside the layer", &mut outside);
        }
    }

    fn row_span<S>(&self, array: &Array<S>, row: u32) -> Span {
        let npy = &array.npy;
        npy.place(&[u64::from(row), 0])
            .map(|place| npy.span(place, if npy.fortran { 1 } else { 3 }))
            .unwrap_or_default()
    }
}

/// Whether a block has a cell inside `dim`.
#[must_use]
pub fn is_inside(block: [i32; 3], dim: [u32; 3]) -> bool {
    block.iter().zip(dim).all(|(&b, size)| u32::try_from(b).is_ok_and(|b| b < size.div_ceil(BLOCK)))
}
