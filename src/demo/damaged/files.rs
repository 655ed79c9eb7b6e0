//! Files that are missing, strange or not files, and the meta file.

use std::fs;
use std::io;
use std::path::Path;

use crate::bytes::{index, len64};
use crate::damage::Code;
use crate::demo::Sample;
use crate::demo::draft::{META, REGION, alter, alter_of, meta, put_u32, spec};
use crate::demo::forest::{Extent, ForestSpec};
use crate::demo::terrain::Terrain;
use crate::godot::region::{Entry, HEADER_BYTES, Header};

pub(super) const SAMPLES: &[Sample] = &[
    Sample::damaged("not-a-file", "A directory has the name of a region file.", &[Code::NotAFile], |dir| {
        alter(dir, |_| Ok(()))?;
        fs::create_dir(dir.join("regions/lod0/r.1.0.0.vxr"))
    }),
    #[cfg(unix)]
    Sample::damaged("link-skipped", "A region file is a symbolic link.", &[Code::LinkSkipped], |dir| {
        alter(dir, |_| Ok(()))?;
        std::os::unix::fs::symlink("r.0.0.0.vxr", dir.join("regions/lod0/r.1.0.0.vxr"))
    }),
    Sample::damaged("region-misnamed", "Two region files have each other's names.", &[Code::RegionMisnamed], |dir| {
        alter_of(&wide(), dir, |draft| {
            let [a, b] = ["regions/lod0/r.0.0.0.vxr", "regions/lod0/r.1.0.1.vxr"];
            let first = std::mem::take(draft.file(a)?);
            let second = std::mem::replace(draft.file(b)?, first);
            *draft.file(a)? = second;
            Ok(())
        })
    }),
    Sample::damaged("table-foreign", "Two region files have each other's tables.", &[Code::TableForeign], |dir| {
        let two = ForestSpec { lods: vec![Extent { from: [0, 0, 0], to: [8, 2, 4] }], ..wide() };
        alter_of(&two, dir, |draft| {
            let [a, b] = ["regions/lod0/r.0.0.0.vxr", "regions/lod0/r.1.0.0.vxr"];
            let end = |bytes: &[u8]| {
                Header::decode(bytes, len64(bytes), None).value.map_or(0, |header| index(header.table.end))
            };
            let (first_end, second_end) = (end(draft.file(a)?), end(draft.file(b)?));
            let blocks = draft.file(a)?.split_off(first_end);
            let others = draft.file(b)?.split_off(second_end);
            draft.file(a)?.extend(others);
            draft.file(b)?.extend(blocks);
            // The names as well, so that it is the tables that change places.
            let first = std::mem::take(draft.file(a)?);
            let second = std::mem::replace(draft.file(b)?, first);
            *draft.file(a)? = second;
            Ok(())
        })
    }),
    Sample::damaged("region-copied", "A region file was copied over another one.", &[Code::RegionCopied], |dir| {
        alter_of(&wide(), dir, |draft| {
            let copy = draft.file("regions/lod0/r.0.0.0.vxr")?.clone();
            *draft.file("regions/lod0/r.1.0.1.vxr")? = copy;
            Ok(())
        })
    }),
    Sample::damaged("name-region", "A copy of a region file made by hand.", &[Code::NameRegion], |dir| {
        alter(dir, |draft| {
            let copy = draft.file(REGION)?.clone();
            draft.put("regions/lod0/r.0.0.0 (1).vxr", copy);
            Ok(())
        })
    }),
    Sample::damaged("name-foreign", "A file that a desktop left behind.", &[Code::NameForeign], |dir| {
        alter(dir, |draft| {
            draft.put("regions/lod0/Thumbs.db", *b"not a region");
            Ok(())
        })
    }),
    Sample::damaged(
        "findings-cut",
        "A table with more impossible entries than are listed.",
        &[Code::TableBeyondEnd, Code::FindingsCut],
        findings_cut,
    ),
    Sample::damaged("meta-missing", "The meta file is gone.", &[Code::MetaMissing], |dir| {
        alter(dir, |draft| {
            draft.remove(META);
            Ok(())
        })
    }),
    Sample::damaged("meta-unreadable", "The meta file was cut while it was written.", &[Code::MetaUnreadable], |dir| {
        alter(dir, |draft| {
            draft.file(META)?.truncate(60);
            Ok(())
        })
    }),
    Sample::damaged("meta-empty", "The meta file is empty.", &[Code::MetaUnreadable], |dir| {
        alter(dir, |draft| {
            draft.file(META)?.clear();
            Ok(())
        })
    }),
    Sample::damaged("meta-version", "The meta file has version 9.", &[Code::MetaVersion], |dir| {
        meta(dir, "\"version\": 3", "\"version\": 9")
    }),
    Sample::damaged("meta-field", "The meta file has blocks of 2^40 voxels.", &[Code::MetaField], |dir| {
        meta(dir, "\"block_size_po2\": 4", "\"block_size_po2\": 40")
    }),
    Sample::damaged("meta-sector-size", "The meta file has a sector size of 65,536.", &[Code::MetaField], |dir| {
        meta(dir, "\"sector_size\": 512", "\"sector_size\": 65536")
    }),
    Sample::damaged("meta-extra", "The meta file has a field that nobody knows.", &[Code::MetaExtra], |dir| {
        meta(dir, "{", "{\n\t\"generator\": \"none\",")
    }),
    Sample::damaged(
        "meta-differs",
        "The meta file has another sector size than the region files.",
        &[Code::MetaDiffers],
        |dir| meta(dir, "\"sector_size\": 512", "\"sector_size\": 1024"),
    ),
    Sample::damaged(
        "conversion-left",
        "A conversion was killed: half of the save is new, all of it is beside it under its old name.",
        &[Code::ConversionLeft],
        |dir| {
            alter(&dir.join("world_old"), |_| Ok(()))?;
            alter(&dir.join("world"), |draft| {
                draft.remove(REGION);
                Ok(())
            })
        },
    ),
    Sample::damaged(
        "region-missing",
        "A region file is gone whose blocks a coarser LOD has.",
        &[Code::RegionMissing],
        |dir| {
            let lods = vec![Extent { from: [-4, 0, 0], to: [4, 2, 4] }, Extent { from: [-2, 0, 0], to: [2, 1, 2] }];
            alter_of(&ForestSpec { lods, ..spec() }, dir, |draft| {
                draft.remove("regions/lod0/r.-1.0.0.vxr");
                Ok(())
            })
        },
    ),
    Sample::damaged(
        "forest-empty",
        "There is a meta file, and nothing of the directory `regions` was copied.",
        &[Code::ForestEmpty],
        |dir| {
            alter_of(&spec(), dir, |draft| {
                draft.remove_all("regions");
                Ok(())
            })
        },
    ),
    Sample::damaged("lod-gap", "The region files of LOD 0 were not copied.", &[Code::LodGap], |dir| {
        let lods = vec![Extent { from: [-4, 0, 0], to: [4, 2, 4] }, Extent { from: [-2, 0, 0], to: [2, 1, 2] }];
        alter_of(&ForestSpec { lods, ..spec() }, dir, |draft| {
            draft.remove_all("regions/lod0");
            Ok(())
        })
    }),
    Sample::damaged("meta-lods", "There is a LOD that the meta file does not count.", &[Code::MetaLods], |dir| {
        let mut lods = spec().lods;
        lods.push(Extent { from: [0; 3], to: [1; 3] });
        let spec = ForestSpec { lods, lod_count: true, ..spec() };
        alter_of(&spec, dir, |draft| {
            let file = draft.file(META)?;
            *file = String::from_utf8_lossy(file).replace("\"lod_count\": 2", "\"lod_count\": 1").into_bytes();
            Ok(())
        })
    }),
];

/// 12,000 entries that point beyond the end, in a region of 32 x 32 x 32 blocks.
fn findings_cut(dir: &Path) -> io::Result<()> {
    let lods = vec![Extent { from: [0; 3], to: [1; 3] }];
    alter_of(&ForestSpec { region_size_po2: 5, lods, ..spec() }, dir, |draft| {
        let bytes = draft.file(REGION)?;
        for slot in 1..12_000 {
            put_u32(bytes, HEADER_BYTES as usize + slot as usize * 4, Entry::new(1000 + slot, 1).0);
        }
        Ok(())
    })
}

/// Hills of eight regions, so that their borders show which one is next to which.
fn wide() -> ForestSpec {
    let terrain = Terrain { base: 7.0, relief: 30.0, reach: 8.25, ..Terrain::new(20_480) };
    ForestSpec { terrain, lods: vec![Extent { from: [0, -2, 0], to: [8, 2, 8] }], ..spec() }
}
