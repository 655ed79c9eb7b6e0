//! Damage of the table of blocks, and of its sectors.

use crate::damage::Code;
use crate::demo::Sample;
use crate::demo::draft::{At, put, put_u32, region};
use crate::godot::region::Entry;

pub(super) const SAMPLES: &[Sample] = &[
    Sample::damaged(
        "table-empty",
        "The game was killed before it wrote the table for the first time.",
        &[Code::TableEmpty],
        |dir| {
            region(dir, |bytes, blocks, _| {
                for at in blocks {
                    put_u32(bytes, at.entry_at, 0);
                }
            })
        },
    ),
    Sample::damaged("table-count-zero", "An entry has no sectors.", &[Code::TableCountZero], |dir| {
        region(dir, |bytes, _, at| put_u32(bytes, at.entry_at, Entry::new(at.entry.first(), 0).0))
    }),
    Sample::damaged(
        "table-beyond-end",
        "An entry points beyond the end of the file.",
        &[Code::TableBeyondEnd],
        |dir| region(dir, |bytes, _, at| put_u32(bytes, at.entry_at, Entry::new(70_000, at.entry.count()).0)),
    ),
    Sample::damaged("sector-cut", "The file ends in the padding of its last sector.", &[Code::SectorCut], |dir| {
        region(dir, |bytes, blocks, _| {
            if let Some(last) = blocks.last() {
                bytes.truncate(last.end);
            }
        })
    }),
    Sample::damaged("table-overlap", "Two entries claim the same sectors.", &[Code::TableOverlap], |dir| {
        region(dir, |bytes, blocks, at| {
            if let Some(first) = blocks.first() {
                put_u32(bytes, at.entry_at, first.entry.0);
            }
        })
    }),
    Sample::damaged("table-count", "An entry claims a sector more than its block needs.", &[Code::TableCount], |dir| {
        region(dir, |bytes, blocks, _| {
            if let Some(last) = blocks.last() {
                put_u32(bytes, last.entry_at, Entry::new(last.entry.first(), last.entry.count() + 1).0);
                bytes.resize(bytes.len() + sector(last), 0);
            }
        })
    }),
    Sample::damaged(
        "table-gap",
        "An entry was lost: its block is unowned, and the next save writes over the last block.",
        &[Code::TableGap, Code::BlockOrphan],
        |dir| region(dir, |bytes, _, at| put_u32(bytes, at.entry_at, 0)),
    ),
    Sample::damaged(
        "block-prefix-cut",
        "The file ends in the size of its last block.",
        &[Code::BlockPrefixCut],
        |dir| {
            region(dir, |bytes, blocks, _| {
                if let Some(last) = blocks.last() {
                    bytes.truncate(last.start + 2);
                }
            })
        },
    ),
    Sample::damaged("block-prefix", "A block's size is larger than its sectors.", &[Code::BlockPrefix], |dir| {
        region(dir, |bytes, _, at| put_u32(bytes, at.start, 0x00ff_ffff))
    }),
    Sample::damaged(
        "block-zeroed",
        "A power loss left zero bytes in a block's sectors.",
        &[Code::BlockZeroed],
        |dir| region(dir, |bytes, _, at| bytes[at.start..at.sectors_end].fill(0)),
    ),
    Sample::damaged("block-zeroed-run", "A power loss left zero bytes up to the end.", &[Code::BlockZeroed], |dir| {
        region(dir, |bytes, _, at| bytes[at.start..].fill(0))
    }),
    Sample::damaged(
        "table-garbage",
        "Every entry of the table is noise.",
        &[Code::TableBeyondEnd, Code::TableOverlap],
        |dir| {
            region(dir, |bytes, blocks, _| {
                for (i, at) in blocks.iter().enumerate() {
                    let first = if i % 2 == 0 { 1 } else { 0x00a0_0000 + i as u32 };
                    put(bytes, at.entry_at, &Entry::new(first, 3).0.to_le_bytes());
                }
            })
        },
    ),
];

fn sector(at: &At) -> usize {
    (at.sectors_end - at.start) / usize::from(at.entry.count()).max(1)
}
