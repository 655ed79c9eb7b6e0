//! The header of a region file.

use std::io;
use std::path::Path;

use crate::damage::Code;
use crate::demo::Sample;
use crate::demo::draft::{META, alter_of, put, region, spec};
use crate::demo::forest::ForestSpec;

pub(super) const SAMPLES: &[Sample] = &[
    Sample::damaged("region-empty", "A region file has no byte.", &[Code::RegionEmpty], |dir| cut(dir, 0)),
    Sample::damaged("region-not-region", "The start of a region file is zero.", &[Code::RegionNotRegion], |dir| {
        set(dir, 0, &[0; 16])
    }),
    Sample::damaged(
        "region-voxedit",
        "A rig of VoxEdit was put in the place of a region file.",
        &[Code::RegionVoxedit],
        |dir| {
            region(dir, |bytes, _, _| {
                bytes.clear();
                bytes.extend_from_slice(b"VXR9\x04\x00\x00\x00walk\x01\x00\x00\x00body.vxm\x00");
            })
        },
    ),
    Sample::damaged("region-version", "A region file has version 7.", &[Code::RegionVersion], |dir| set(dir, 4, &[7])),
    Sample::damaged("region-header-cut", "A region file ends in its header.", &[Code::RegionHeaderCut], |dir| {
        cut(dir, 12)
    }),
    Sample::damaged(
        "region-never-stored",
        "A region file has a header and nothing else: it was cut off there, or the engine refused the settings.",
        &[Code::RegionNeverStored],
        |dir| cut(dir, 20),
    ),
    Sample::damaged(
        "region-refused",
        "Blocks of 32 x 32 x 32 voxels in sectors of 512 bytes: the engine refuses to save.",
        &[Code::RegionRefused],
        |dir| alter_of(&ForestSpec { block_size_po2: 5, sector_size: 512, ..spec() }, dir, |_| Ok(())),
    ),
    Sample::damaged("region-block-size", "A header has blocks of 2^32 voxels.", &[Code::RegionBlockSize], |dir| {
        set(dir, 5, &[32])
    }),
    Sample::damaged("region-size", "A header has no blocks along y.", &[Code::RegionSize], |dir| set(dir, 7, &[0])),
    Sample::damaged("region-sector-size", "A header has sectors of 0 bytes.", &[Code::RegionSectorSize], |dir| {
        set(dir, 17, &[0, 0])
    }),
    Sample::damaged("region-depth", "A header has an impossible depth.", &[Code::RegionDepth], |dir| {
        set(dir, 11, &[9])
    }),
    Sample::damaged(
        "region-layout",
        "A header has another block size than its blocks.",
        &[Code::RegionLayout],
        |dir| set(dir, 5, &[6]),
    ),
    Sample::damaged("region-shifted", "Seven bytes were put into a region file.", &[Code::RegionShifted], |dir| {
        region(dir, |bytes, _, _| {
            let at = bytes.len() / 2;
            bytes.splice(at..at, *b"garbage").for_each(drop);
        })
    }),
    Sample::damaged("region-palette", "A header has an impossible palette byte.", &[Code::RegionPalette], |dir| {
        set(dir, 19, &[0x7f])
    }),
    Sample::damaged(
        "region-format-unknown",
        "Region files of version 2, and the meta file that says how to read them is gone.",
        &[Code::MetaMissing, Code::RegionFormatUnknown],
        |dir| {
            alter_of(&ForestSpec { region_version: 2, ..spec() }, dir, |draft| {
                draft.remove(META);
                Ok(())
            })
        },
    ),
    Sample::damaged("region-table-cut", "A region file ends in its table.", &[Code::RegionTableCut], |dir| {
        cut(dir, 90)
    }),
];

fn cut(dir: &Path, len: usize) -> io::Result<()> {
    region(dir, |bytes, _, _| bytes.truncate(len))
}

fn set(dir: &Path, at: usize, new: &[u8]) -> io::Result<()> {
    region(dir, |bytes, _, _| put(bytes, at, new))
}
