//! The data of a block, and blocks that do not fit their region.

use std::io;
use std::path::Path;

use crate::damage::Code;
use crate::demo::Sample;
use crate::demo::draft::{REGION, alter_of, plain, spec, unmade, victim};
use crate::demo::forest::{Extent, ForestSpec};
use crate::demo::game::Game;
use crate::demo::owned::{OwnedBlock, OwnedChannel};
use crate::godot::channel::Depth;
use crate::godot::slots::{self, SlotFormula};
use crate::godot::{block, byte_order};
use crate::limits::Limits;

/// Bytes of a block's version and size.
const HEADER: usize = 7;
/// A channel of raw 16-bit values in a block of 16 x 16 x 16, with its format byte.
const RAW: usize = 1 + 8192;
/// A region file of negative coordinates.
const NEGATIVE: &str = "regions/lod0/r.-1.0.0.vxr";

pub(super) const SAMPLES: &[Sample] = &[
    Sample::damaged("block-version", "A block has version 9.", &[Code::BlockVersion], |dir| {
        plain(dir, |data| data[0] = 9)
    }),
    Sample::damaged("block-header-cut", "A block ends in its size.", &[Code::BlockHeaderCut], |dir| {
        plain(dir, |data| data.truncate(3))
    }),
    Sample::damaged("block-size-zero", "A block has no voxels along x.", &[Code::BlockSizeZero], |dir| {
        plain(dir, |data| data[1..3].fill(0))
    }),
    Sample::damaged("block-size", "A block of 8 voxels in a region of 16.", &[Code::BlockSize], |dir| {
        instead(dir, |spec| spec.terrain.block(0, [1, 1, 1], 8, &spec.depths, spec.block_version))
    }),
    Sample::damaged("block-depth", "A block of 8-bit types in a region of 16 bits.", &[Code::BlockDepth], |dir| {
        instead(dir, |spec| {
            let mut depths = spec.depths;
            depths[0] = Depth::Bits8;
            spec.terrain.block(0, [1, 1, 1], 16, &depths, spec.block_version)
        })
    }),
    Sample::damaged(
        "block-byte-order",
        "A block as a big-endian machine writes it: its raw values have that byte order.",
        &[Code::BlockByteOrder],
        |dir| {
            plain(dir, |data| {
                let copy = data.clone();
                let block = block::decode(&copy, None, None, &Limits::DEFAULT).report_to(&mut Vec::new());
                byte_order::reverse(&block, data);
            })
        },
    ),
    Sample::damaged("channel-storage", "A channel is neither raw nor uniform.", &[Code::ChannelStorage], |dir| {
        plain(dir, |data| data[HEADER + RAW] = 0x15)
    }),
    Sample::damaged("channel-depth", "A channel has 1,024 bits a voxel.", &[Code::ChannelDepth], |dir| {
        plain(dir, |data| data[HEADER + RAW] = 0x70)
    }),
    Sample::damaged("channel-cut", "A block ends in its distances.", &[Code::ChannelCut], |dir| {
        plain(dir, |data| data.truncate(HEADER + RAW + RAW / 2))
    }),
    Sample::damaged("block-epilogue", "A block ends with other bytes.", &[Code::BlockEpilogue], |dir| {
        plain(dir, |data| {
            if let Some(last) = data.last_mut() {
                *last = 0;
            }
        })
    }),
    Sample::damaged("block-epilogue-missing", "A block lacks its last bytes.", &[Code::BlockEpilogueMissing], |dir| {
        plain(dir, |data| data.truncate(data.len() - 2))
    }),
    Sample::damaged(
        "slots-old",
        "Blocks of version 3 with negative coordinates, which an engine of today shows moved by one.",
        &[Code::SlotsOld],
        |dir| alter_of(&ForestSpec { block_version: 3, slots: SlotFormula::Legacy, ..spec() }, dir, |_| Ok(())),
    ),
    Sample::damaged(
        "slots-mixed",
        "A region of negative coordinates that an engine of today has saved into after an old one.",
        &[Code::SlotsMixed],
        |dir| {
            let lods = vec![Extent { from: [-2, 0, 0], to: [1, 2, 2] }];
            let spec = ForestSpec { block_version: 3, slots: SlotFormula::Legacy, lods, ..spec() };
            alter_of(&spec, dir, |draft| {
                let at = victim(&draft.blocks(NEGATIVE)?)?;
                let block = ForestSpec { block_version: 4, ..spec.clone() }.block(0, [-1, 1, 1]);
                draft.replace(NEGATIVE, at.slot, &block.pack(spec.mode))
            })
        },
    ),
    Sample::damaged(
        "block-unlisted",
        "A block was saved at the end and the table was never written.",
        &[Code::BlockUnlisted],
        |dir| {
            alter_of(&spec(), dir, |draft| {
                let position = [0, 0, 2];
                let mut game = Game::open(draft.read(REGION)?);
                let slot = slots::index(spec().format().region_size, position.map(|n| n as u16));
                let slot = slot.ok_or_else(|| unmade("a block outside the region"))?;
                game.save(slot, &spec().block(0, position).pack(spec().mode));
                draft.put(REGION, game.bytes);
                Ok(())
            })
        },
    ),
    Sample::damaged("stale-tail", "Old bytes stand after the last block.", &[Code::StaleTail], |dir| {
        alter_of(&spec(), dir, |draft| {
            let bytes = draft.file(REGION)?;
            bytes.extend((0..1024u32).map(|i| ((i * 37) >> 3) as u8));
            Ok(())
        })
    }),
    Sample::damaged(
        "uniform-block",
        "A block whose channels are all uniform has lost its end.",
        &[Code::BlockEpilogueMissing],
        |dir| {
            instead_bytes(dir, |spec| {
                let mut block = spec.block(0, [1, 1, 1]);
                block.channels = spec.depths.map(|depth| OwnedChannel::uniform(depth, 1));
                let mut data = block.encode();
                data.truncate(data.len() - 4);
                data
            })
        },
    ),
];

/// Puts another block in the place of one.
fn instead(dir: &Path, make: impl FnOnce(&ForestSpec) -> OwnedBlock) -> io::Result<()> {
    instead_bytes(dir, |spec| make(spec).encode())
}

fn instead_bytes(dir: &Path, make: impl FnOnce(&ForestSpec) -> Vec<u8>) -> io::Result<()> {
    let new = make(&spec());
    plain(dir, |data| *data = new)
}
