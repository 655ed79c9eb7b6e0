//! Damage that disks, copies and people do to healthy region files, without regard to the rules of the writer.
#![allow(clippy::single_range_in_vec_init)] // Kinds of damage give the ranges of bytes that they hit, often one.

use std::ops::Range;

use voxscope::godot::region::{Entry, Header, MAX_HEADER_BYTES};

use super::writer::Random;

/// Damage to the table of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableDamage {
    /// One entry is zero.
    One,
    /// A tenth of the entries are zero, anywhere.
    Tenth,
    /// Three tenths of the entries are zero, anywhere.
    Third,
    /// A third of the entries are zero, one after the other.
    Run,
    /// 1,024 entries are zero: a page of the table.
    Page,
    /// 1,024 entries are random numbers.
    Garbage,
    /// A bit each of three entries is flipped.
    Flips,
    /// A fifth of the entries, two at least, are exchanged pair by pair.
    Swaps,
    /// All entries after one are moved up by one.
    Slide,
    /// All entries are zero.
    All,
}

impl TableDamage {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::One,
        Self::Tenth,
        Self::Third,
        Self::Run,
        Self::Page,
        Self::Garbage,
        Self::Flips,
        Self::Swaps,
        Self::Slide,
        Self::All,
    ];

    /// Damages the table of a region file; gives the slots whose entries changed, in order.
    pub fn apply(self, file: &mut [u8], random: &mut Random) -> Vec<u32> {
        let old = entries(file);
        let mut table = old.clone();
        let used: Vec<usize> = (0..table.len()).filter(|&slot| table[slot].is_used()).collect();
        assert!(!used.is_empty(), "the table is empty");
        let page = used[random.below(used.len())] / 1024 * 1024;
        let page = page..(page + 1024).min(table.len());
        match self {
            Self::One => zero(&mut table, &sample(&used, 1, random)),
            Self::Tenth => zero(&mut table, &sample(&used, (used.len() / 10).max(1), random)),
            Self::Third => zero(&mut table, &sample(&used, (used.len() * 3 / 10).max(1), random)),
            Self::Run => {
                let from = random.below((used.len() * 2 / 3).max(1));
                zero(&mut table, &used[from..(from + (used.len() / 3).max(1)).min(used.len())]);
            }
            Self::Page => table[page].fill(Entry::default()),
            Self::Garbage => table[page].fill_with(|| Entry(random.next() as u32)),
            Self::Flips => {
                for slot in sample(&used, 3, random) {
                    table[slot].0 ^= 1 << random.below(32);
                }
            }
            Self::Swaps => {
                for pair in sample(&used, (used.len() / 10 * 2).max(2), random).chunks_exact(2) {
                    table.swap(pair[0], pair[1]);
                }
            }
            Self::Slide => {
                let from = used[random.below(used.len())] + 1;
                if from < table.len() {
                    table[from - 1..].rotate_right(1);
                    table[from - 1] = old[from - 1];
                }
            }
            Self::All => table.fill(Entry::default()),
        }
        let at = table_at(file);
        for (to, entry) in file[at].chunks_exact_mut(4).zip(&table) {
            to.copy_from_slice(&entry.0.to_le_bytes());
        }
        (0..).zip(old.iter().zip(&table)).filter(|(_, (old, new))| old != new).map(|(slot, _)| slot).collect()
    }
}

/// Damage to the bytes of a region file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileDamage {
    /// The header is zero.
    HeaderZeroed,
    /// A bit of this byte of the header is flipped.
    HeaderBit(usize),
    /// A bit in every 30,000 bytes of the sectors is flipped.
    Flips,
    /// A page of 4,096 bytes of the sectors is zero.
    PageZeroed,
    /// Seven bytes come before the header.
    BytesBefore,
    /// Seven bytes come in the middle of the sectors.
    BytesWithin,
    /// The first 100 bytes are gone.
    CutBefore,
    /// 100 bytes are gone in the middle of the sectors.
    CutWithin,
    /// The last quarter of the sectors is gone.
    TailCut,
    /// A page of the sectors is where another one was, and the last eighth of the sectors is there once more behind the end.
    PageDoubledAndTail,
}

impl FileDamage {
    /// Every kind that keeps whole blocks in their order; a bit of the magic, the version, the sizes, a depth, the sector size and
    /// the palette's mark.
    pub const ALL: [Self; 15] = [
        Self::HeaderZeroed,
        Self::HeaderBit(0),
        Self::HeaderBit(4),
        Self::HeaderBit(5),
        Self::HeaderBit(6),
        Self::HeaderBit(9),
        Self::HeaderBit(17),
        Self::HeaderBit(19),
        Self::Flips,
        Self::PageZeroed,
        Self::BytesBefore,
        Self::BytesWithin,
        Self::CutBefore,
        Self::CutWithin,
        Self::TailCut,
    ];

    /// Damages a region file; gives the slots of the blocks whose bytes are no longer whole and in a row, in order.
    pub fn apply(self, file: &mut Vec<u8>, random: &mut Random) -> Vec<u32> {
        let whole = file.clone();
        let sectors = table_at(file).end..file.len();
        let middle = sectors.start + sectors.len() / 2;
        let flip = |file: &mut [u8], at: usize, random: &mut Random| {
            file[at] ^= 1 << random.below(8);
            at..at + 1
        };
        // Bytes of the healthy file that changed or are gone; an empty range is where others came between.
        let hurt: Vec<Range<usize>> = match self {
            Self::HeaderZeroed => {
                file[..20].fill(0);
                vec![0..20]
            }
            Self::HeaderBit(at) => vec![flip(file, at, random)],
            Self::Flips => (0..(file.len() / 30_000).max(1))
                .map(|_| flip(file, sectors.start + random.below(sectors.len()), random))
                .collect(),
            Self::PageZeroed => {
                let from = ((sectors.start + random.below(sectors.len())) / 4096 * 4096).max(sectors.start);
                let page = from..(from + 4096).min(file.len());
                file[page.clone()].fill(0);
                vec![page]
            }
            Self::BytesBefore => {
                file.splice(0..0, *b"garbage");
                vec![0..0]
            }
            Self::BytesWithin => {
                file.splice(middle..middle, *b"garbage");
                vec![middle..middle]
            }
            Self::CutBefore => {
                file.drain(..100);
                vec![0..100]
            }
            Self::CutWithin => {
                file.drain(middle..middle + 100);
                vec![middle..middle + 100]
            }
            Self::PageDoubledAndTail => {
                let pages = sectors.len() / 4096;
                let [one, other] = [0, 1].map(|_| sectors.start + random.below(pages.max(1)) * 4096);
                let page = |at: usize| at..(at + 4096).min(whole.len());
                let len = page(one).len().min(page(other).len());
                file[other..other + len].copy_from_slice(&whole[one..one + len]);
                file.extend_from_slice(&whole[whole.len() - sectors.len() / 8..]);
                vec![other..other + len]
            }
            Self::TailCut => {
                let from = sectors.start + sectors.len() * 3 / 4;
                file.truncate(from);
                vec![from..whole.len()]
            }
        };
        let span = |entry: Entry| {
            let start = header(&whole).sector_span(entry.first().into(), 1).start as usize;
            let size = u32::from_le_bytes(whole[start..start + 4].try_into().unwrap()) as usize;
            start..start + 4 + size
        };
        let touches = |block: &Range<usize>, hurt: &Range<usize>| match hurt.is_empty() {
            true => block.start < hurt.start && hurt.start < block.end,
            false => hurt.start < block.end && block.start < hurt.end,
        };
        let entries = (0..).zip(entries(&whole)).filter(|(_, entry)| entry.is_used());
        let lost = entries.filter(|(_, entry)| hurt.iter().any(|hurt| touches(&span(*entry), hurt)));
        lost.map(|(slot, _)| slot).collect()
    }
}

/// The header of a healthy region file of version 3.
pub fn header(file: &[u8]) -> Header {
    let prefix = &file[..file.len().min(MAX_HEADER_BYTES)];
    Header::decode(prefix, file.len() as u64, None).value.expect("a healthy header")
}

/// Bytes of the table.
pub fn table_at(file: &[u8]) -> Range<usize> {
    let table = header(file).table;
    table.start as usize..table.end as usize
}

/// The table of a healthy region file, slot by slot.
pub fn entries(file: &[u8]) -> Vec<Entry> {
    file[table_at(file)].chunks_exact(4).map(|bytes| Entry(u32::from_le_bytes(bytes.try_into().unwrap()))).collect()
}

fn zero(table: &mut [Entry], slots: &[usize]) {
    slots.iter().for_each(|&slot| table[slot] = Entry::default());
}

/// Some of the slots, each once.
fn sample(slots: &[usize], count: usize, random: &mut Random) -> Vec<usize> {
    let mut left = slots.to_vec();
    let count = count.min(left.len());
    for i in 0..count {
        let other = i + random.below(left.len() - i);
        left.swap(i, other);
    }
    left.truncate(count);
    left
}
