//! The kinds of the cells of a side, and which of them meet on two sides.
//!
//! Most sides show few kinds. Their cells are kept as bits by kind, so that the cells of two sides are compared 64 at a time.

/// Kinds of a side up to which its cells are kept as bits. Chosen: with more of them, one byte a cell is smaller and compared as fast.
const MOST: usize = 12;

/// The kinds of the cells of a side.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kinds {
    /// Each kind with the number of its cells, in the order of the kinds, and for each of them the cells that have it as bits.
    Bits { kinds: Box<[(u8, u32)]>, bits: Box<[u64]> },
    /// One a cell.
    Cells(Box<[u8]>),
}

impl Default for Kinds {
    fn default() -> Self {
        Self::Cells(Box::default())
    }
}

impl Kinds {
    /// The kinds of some cells; of a side that shows one kind only, one cell.
    pub fn new(cells: &[u8]) -> Self {
        let mut counts = [0u32; 256];
        cells.iter().for_each(|kind| counts[usize::from(*kind)] += 1);
        let kinds: Box<[(u8, u32)]> = (0..=u8::MAX).zip(counts).filter(|(_, n)| *n > 0).collect();
        if kinds.is_empty() || kinds.len() > MOST {
            return Self::Cells(cells.into());
        }
        let words = cells.len().div_ceil(64);
        let mut bits = vec![0u64; words * kinds.len()];
        for (i, kind) in cells.iter().enumerate() {
            let at = kinds.partition_point(|(of, _)| of < kind);
            bits[at * words + i / 64] |= 1 << (i % 64);
        }
        Self::Bits { kinds, bits: bits.into() }
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        match self {
            Self::Bits { kinds, .. } => kinds.iter().map(|(_, n)| *n as usize).sum(),
            Self::Cells(cells) => cells.len(),
        }
    }

    /// The kind of a cell.
    pub fn at(&self, cell: usize) -> Option<u8> {
        match self {
            Self::Bits { kinds, bits } => {
                let has = |bits: &[u64]| bits.get(cell / 64).is_some_and(|word| word >> (cell % 64) & 1 == 1);
                kinds.iter().zip(rows(kinds, bits)).find(|(_, bits)| has(bits)).map(|((kind, _), _)| *kind)
            }
            Self::Cells(cells) => cells.get(cell).copied(),
        }
    }

    /// Gives each kind and the number of its cells. A kind may be given several times.
    pub fn each(&self, mut each: impl FnMut(u8, u32)) {
        match self {
            Self::Bits { kinds, .. } => kinds.iter().for_each(|&(kind, n)| each(kind, n)),
            Self::Cells(cells) => cells.iter().for_each(|&kind| each(kind, 1)),
        }
    }

    /// Gives the kinds of cells that meet, and how many such cells there are. A side of one cell meets all cells of the other.
    pub fn pairs(&self, other: &Self, mut each: impl FnMut(u8, u8, u32)) {
        match (self, other) {
            (own, _) if own.len() == 1 => {
                let kind = own.at(0).unwrap_or_default();
                other.each(|of, n| each(kind, of, n));
            }
            (_, other) if other.len() == 1 => {
                let kind = other.at(0).unwrap_or_default();
                self.each(|of, n| each(of, kind, n));
            }
            (Self::Bits { kinds: own, bits: a }, Self::Bits { kinds: others, bits: b })
                if self.len() == other.len() =>
            {
                pair_bits((own, a), (others, b), each);
            }
            _ => {
                let cells = (0..self.len()).map_while(|i| Some((self.at(i)?, other.at(i)?)));
                cells.for_each(|(a, b)| each(a, b, 1));
            }
        }
    }
}

/// The cells of each kind, as bits.
fn rows<'b>(kinds: &[(u8, u32)], bits: &'b [u64]) -> impl Iterator<Item = &'b [u64]> {
    bits.chunks_exact((bits.len() / kinds.len().max(1)).max(1))
}

/// Gives the kinds of two sides with as many cells that meet. Each side is given by its kinds with their numbers of cells, and by its
/// bits. What is not counted for the last kind of either side is what the others leave.
fn pair_bits((own, a): (&[(u8, u32)], &[u64]), (others, b): (&[(u8, u32)], &[u64]), mut each: impl FnMut(u8, u8, u32)) {
    let mut left = [0u32; MOST];
    left.iter_mut().zip(others).for_each(|(left, (_, n))| *left = *n);
    let Some((&(last, _), first)) = own.split_last() else { return };
    for (&(kind, n), a) in first.iter().zip(rows(own, a)) {
        let mut rest = n;
        for (m, (&(of, _), b)) in others.iter().zip(rows(others, b)).enumerate() {
            let is_last = m + 1 == others.len();
            let both = if is_last { rest } else { a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum() };
            rest -= both;
            left[m] -= both;
            if both > 0 {
                each(kind, of, both);
            }
        }
    }
    left.iter().zip(others).filter(|(n, _)| **n > 0).for_each(|(n, (of, _))| each(last, *of, *n));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many cells of each two kinds meet.
    fn count(a: &Kinds, b: &Kinds) -> Vec<((u8, u8), u32)> {
        let mut counts = std::collections::BTreeMap::new();
        a.pairs(b, |a, b, n| *counts.entry((a, b)).or_default() += n);
        counts.into_iter().collect()
    }

    #[test]
    fn cells_meet_in_whatever_form_they_are_kept() {
        let cells =
            |kinds: u32, by: u32| -> Vec<u8> { (0..256u32).map(|i| (i * by % 251 % kinds) as u8 * 3).collect() };
        for (kinds, by, others, other) in [(2, 7, 2, 5), (3, 11, 5, 3), (12, 5, 1, 1), (40, 9, 3, 7), (30, 5, 50, 13)] {
            let (a, b) = (cells(kinds, by), cells(others, other));
            let mut expected = std::collections::BTreeMap::new();
            a.iter().zip(&b).for_each(|(a, b)| *expected.entry((*a, *b)).or_default() += 1);
            let expected: Vec<((u8, u8), u32)> = expected.into_iter().collect();
            let (a, b) = (Kinds::new(&a), Kinds::new(&b));
            assert_eq!(count(&a, &b), expected, "{kinds} and {others} kinds");
            assert_eq!(a.len(), 256);
        }
    }

    #[test]
    fn one_cell_meets_all_cells() {
        let (one, some) = (Kinds::new(&[4]), Kinds::new(&[1, 1, 2]));
        assert_eq!(count(&one, &some), [((4, 1), 2), ((4, 2), 1)]);
        assert_eq!(count(&some, &one), [((1, 4), 2), ((2, 4), 1)]);
        assert_eq!(count(&Kinds::default(), &some), [], "no cell meets none");
    }

    #[test]
    fn cells_keep_their_kinds() {
        let cells: Vec<u8> = (0..100).map(|i| i % 7).collect();
        let kinds = Kinds::new(&cells);
        assert!((0..100).all(|i| kinds.at(i) == Some(cells[i])));
        assert_eq!(kinds.at(100), None);
        // Sides of different sizes have the cells in common that both have.
        assert_eq!(count(&kinds, &Kinds::new(&cells[..3])), [((0, 0), 1), ((1, 1), 1), ((2, 2), 1)]);
    }
}
