//! Damage of voxel maps: their descriptions, their arrays, and the voxels in these.

use std::io;
use std::path::Path;

use crate::damage::Code;
use crate::demo::Sample;
use crate::demo::draft::{put, unmade};
use crate::demo::maps::{Arrays, Draft, Lake, array};
use crate::voxel_map::map_json::{Format, Layer};
use crate::voxel_map::npy::{Dtype, Npy};

const DATA: &str = "Lake_Global.npy";
const INDEX: &str = "Lake_Global_index.npy";
const DEPTH: &str = "Lake_Global_depth.npy";

/// Bytes of the header of each array.
const HEADER: usize = 80;

const SMALL: Arrays = Arrays { dtype: Dtype::I32, ..Arrays::PLAIN };

pub(super) const SAMPLES: &[Sample] = &[
    Sample::damaged("map-unreadable", "The map's description is cut off.", &[Code::MapUnreadable], |dir| {
        let draft = sparse();
        let text = draft.data.encode();
        draft.write_with(dir, text.get(..text.len() / 2).unwrap_or_default())
    }),
    Sample::damaged("map-field", "A layer has a step of 0 along y.", &[Code::MapField], |dir| {
        text(dir, "\"step\": [\n            0.5,\n            0.5", "\"step\": [\n            0.5,\n            0")
    }),
    Sample::damaged("map-format", "A layer is stored as an octree.", &[Code::MapFormat], |dir| {
        text(dir, "\"block_sparse\"", "\"octree\"")
    }),
    Sample::damaged("map-extra", "A layer has a field that nobody knows.", &[Code::MapExtra], |dir| {
        text(dir, "\"blockSize\"", "\"season\": \"winter\", \"blockSize\"")
    }),
    Sample::damaged("map-layer-type", "The global layer has the type of a local one.", &[Code::MapLayerType], |dir| {
        layer(dir, |layer| layer.kind = Some("LocalStock".to_owned()))
    }),
    Sample::damaged("map-name", "A data file has the id of another map.", &[Code::MapName], |dir| {
        alter(dir, |draft| {
            let bytes = draft.files.remove(DATA).unwrap_or_default();
            let name = format!("Lake_{}_Global.npy", draft.data.map_id.unwrap_or(1000) + 1);
            draft.files.insert(name.clone(), bytes);
            draft.data.global.iter_mut().for_each(|layer| layer.data_file = Some(name.clone()));
        })
    }),
    Sample::damaged("map-file-unnamed", "An array of an earlier export.", &[Code::MapFileUnnamed], |dir| {
        alter(dir, |draft| {
            draft.files.insert("Lake_Old.npy".to_owned(), array(&Npy::new(Dtype::I32, &[2, 2, 2]), |_| 1));
        })
    }),
    Sample::damaged("map-layer-outside", "A layer lies outside of the global one.", &[Code::MapLayerOutside], |dir| {
        alter(dir, |draft| {
            let Some(mut layer) = draft.data.global.clone() else { return };
            (layer.name, layer.kind) = (Some("Moved".to_owned()), Some("LocalStock".to_owned()));
            layer.origin = layer.origin.map(|[x, y, z]| [x + 500.0, y, z]);
            draft.data.locals.push(layer);
        })
    }),
    Sample::damaged(
        "map-layer-disagrees",
        "A layer is upside down: it has water where the global one has none.",
        &[Code::MapLayerDisagrees],
        |dir| {
            write_changed(dense(), dir, |draft| {
                let Some(mut other) = draft.data.global.clone() else { return };
                let Some([dx, dy, dz]) = other.dim else { return };
                (other.name, other.kind) = (Some("Inverted".to_owned()), Some("LocalStock".to_owned()));
                other.data_file = Some("Lake_Inverted.npy".to_owned());
                let lake = Lake::new(8, [dx, dy, dz]);
                let shape = [dx, dy, dz].map(u64::from);
                let water = |at: &[u64]| u64::from(lake.flags([at[0], at[1], at[2]].map(|n| n as u32)) & 1 == 0);
                draft.files.insert("Lake_Inverted.npy".to_owned(), array(&Npy::new(Dtype::I32, &shape), water));
                draft.data.locals.push(other);
            })
        },
    ),
    Sample::damaged("map-layer-name", "Two layers have one name.", &[Code::MapLayerName], |dir| {
        alter(dir, |draft| {
            let again = draft.data.global.clone();
            draft.data.locals.extend(again);
        })
    }),
    Sample::damaged(
        "map-file-name",
        "A layer names a file outside the map's directory.",
        &[Code::MapFileName],
        |dir| layer(dir, |layer| layer.depth_file = Some("../../secret.npy".to_owned())),
    ),
    Sample::damaged("map-file-missing", "The depth map was left behind.", &[Code::MapFileMissing], |dir| {
        alter(dir, |draft| drop(draft.files.remove(DEPTH)))
    }),
    Sample::damaged("map-dtype", "The depth map holds integers.", &[Code::MapDtype], |dir| {
        alter(dir, |draft| {
            draft.files.insert(DEPTH.to_owned(), array(&Npy::new(Dtype::I32, &[12, 16]), |_| 3));
        })
    }),
    Sample::damaged("map-shape", "The description has another size than the data.", &[Code::MapShape], |dir| {
        write_changed(dense(), dir, |draft| draft.data.global.iter_mut().for_each(|layer| layer.dim = Some([9, 6, 7])))
    }),
    Sample::damaged("map-block-size", "Blocks of 32 in the description.", &[Code::MapBlockSize], |dir| {
        layer(dir, |layer| layer.block_size = Some(32))
    }),
    Sample::damaged("map-block-count", "A block more than the data has.", &[Code::MapBlockCount], |dir| {
        layer(dir, |layer| layer.block_count = layer.block_count.map(|n| n + 1))
    }),
    Sample::damaged("map-index-twice", "Two blocks at one place.", &[Code::MapIndexTwice], |dir| {
        write_changed(with(SMALL, [20, 9, 16]), dir, |draft| {
            for (_, bytes) in draft.files.iter_mut().filter(|(name, _)| *name == INDEX) {
                let row = bytes.get(HEADER..HEADER + 12).unwrap_or_default().to_vec();
                put(bytes, HEADER + 12, &row);
            }
        })
    }),
    Sample::damaged("map-index-range", "A block at x = -1.", &[Code::MapIndexRange], |dir| {
        write_changed(with(SMALL, [20, 9, 16]), dir, |draft| {
            for (_, bytes) in draft.files.iter_mut().filter(|(name, _)| *name == INDEX) {
                put(bytes, HEADER, &[0xff; 4]);
            }
        })
    }),
    Sample::damaged("map-beyond-dim", "Water beyond the extent.", &[Code::MapBeyondDim], |dir| {
        // The last voxel of the last block is at (15, 15, 15).
        bytes(dir, DATA, |bytes| last(bytes, &1u32.to_le_bytes()))
    }),
    Sample::damaged("map-flag-unknown", "A flag that has no meaning.", &[Code::MapFlagUnknown], |dir| {
        bytes(dir, DATA, |bytes| put(bytes, HEADER + 3, &[0x40]))
    }),
    Sample::damaged("map-flag-dry", "A stone outside the water.", &[Code::MapFlagDry], |dir| {
        bytes(dir, DATA, |bytes| put(bytes, HEADER, &4u32.to_le_bytes()))
    }),
    Sample::damaged(
        "map-water-depth",
        "Water whose depth is 0, below 0, or no number.",
        &[Code::MapWaterDepth],
        |dir| {
            bytes(dir, DEPTH, |bytes| {
                for (n, depth) in [0.0, -1.5, f32::NAN, f32::INFINITY].into_iter().enumerate() {
                    put(bytes, HEADER + n * 4, &depth.to_le_bytes());
                }
            })
        },
    ),
    Sample::damaged(
        "map-packed-depth",
        "Depths in the upper half of the voxels, some of them 0.",
        &[Code::MapPackedDepth, Code::MapWaterDepth],
        |dir| {
            let mut draft = Draft::new();
            let arrays = Arrays { packed: true, ..Arrays::PLAIN };
            draft.add(&Lake::new(8, [8, 6, 7]), [0.0; 3], Format::Dense, arrays, false);
            write_changed(draft, dir, |draft| {
                for bytes in draft.files.values_mut() {
                    let voxels = bytes.split_at_mut(HEADER).1.chunks_exact_mut(8);
                    voxels.filter(|v| v[0] & 1 != 0).take(5).for_each(|v| v[4..].fill(0));
                }
            })
        },
    ),
    Sample::damaged("map-no-depth", "Sparse blocks without depths.", &[Code::MapNoDepth], |dir| {
        alter(dir, |draft| {
            draft.files.remove(DEPTH);
            draft.data.global.iter_mut().for_each(|layer| layer.depth_file = None);
        })
    }),
    Sample::damaged("npy-cut", "An array that ends in its header.", &[Code::NpyCut], |dir| {
        bytes(dir, DATA, |bytes| bytes.truncate(50))
    }),
    Sample::damaged("npy-magic", "Zeros where an array should begin.", &[Code::NpyMagic], |dir| {
        bytes(dir, DATA, |bytes| put(bytes, 0, &[0; HEADER]))
    }),
    Sample::damaged("npy-version", "An array of version 9.", &[Code::NpyVersion], |dir| {
        bytes(dir, DATA, |bytes| put(bytes, 6, &[9]))
    }),
    Sample::damaged("npy-header", "A header with a name that is none.", &[Code::NpyHeader], |dir| {
        header(dir, "'descr'", "'desar'")
    }),
    Sample::damaged("npy-shape", "A shape of five dimensions.", &[Code::NpyShape], |dir| {
        header(dir, "(1, 16, 16, 16), }", "(1, 16, 16, 16,1)}")
    }),
    Sample::damaged("npy-dtype", "An array of 64-bit floating-point numbers.", &[Code::NpyDtype], |dir| {
        header(dir, "'<i4'", "'<f8'")
    }),
    Sample::damaged("npy-truncated", "An array without its second half.", &[Code::NpyTruncated], |dir| {
        bytes(dir, DATA, |bytes| bytes.truncate(bytes.len() / 2))
    }),
    Sample::damaged("npy-trailing", "Bytes behind the array.", &[Code::NpyTrailing], |dir| {
        bytes(dir, DATA, |bytes| bytes.extend([0x55; 100]))
    }),
    Sample::damaged("npy-big-endian", "Arrays with the highest byte first.", &[Code::NpyBigEndian], |dir| {
        write_changed(with(Arrays { big_endian: true, ..SMALL }, [20, 9, 16]), dir, |_| {})
    }),
    Sample::damaged("npy-fortran", "Arrays in Fortran order.", &[Code::NpyFortran], |dir| {
        write_changed(with(Arrays { fortran: true, ..SMALL }, [20, 9, 16]), dir, |_| {})
    }),
];

/// One block with a depth map; what is beyond 12 x 9 x 16 cells does not count.
fn sparse() -> Draft {
    with(SMALL, [12, 9, 16])
}

fn with(arrays: Arrays, dim: [u32; 3]) -> Draft {
    let mut draft = Draft::new();
    draft.add(&Lake::new(8, dim), [-5.0, 0.0, 2.5], Format::BlockSparse, arrays, true);
    draft
}

fn dense() -> Draft {
    let mut draft = Draft::new();
    draft.add(&Lake::new(8, [8, 6, 7]), [0.0; 3], Format::Dense, SMALL, false);
    draft
}

fn write_changed(mut draft: Draft, dir: &Path, change: impl FnOnce(&mut Draft)) -> io::Result<()> {
    change(&mut draft);
    draft.write(dir)
}

fn alter(dir: &Path, change: impl FnOnce(&mut Draft)) -> io::Result<()> {
    write_changed(sparse(), dir, change)
}

fn layer(dir: &Path, change: impl FnOnce(&mut Layer)) -> io::Result<()> {
    alter(dir, |draft| {
        if let Some(layer) = &mut draft.data.global {
            change(layer);
        }
    })
}

fn bytes(dir: &Path, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
    let mut draft = sparse();
    change(draft.files.get_mut(name).ok_or_else(|| unmade("an array is not there"))?);
    draft.write(dir)
}

/// Replaces the end of the file.
fn last(bytes: &mut [u8], with: &[u8]) {
    let at = bytes.len().saturating_sub(with.len());
    put(bytes, at, with);
}

/// Replaces a part of the text of the description.
fn text(dir: &Path, from: &str, to: &str) -> io::Result<()> {
    let draft = sparse();
    let text = String::from_utf8_lossy(&draft.data.encode()).into_owned();
    if !text.contains(from) {
        return Err(unmade("a text that is not in the description"));
    }
    draft.write_with(dir, text.replacen(from, to, 1).as_bytes())
}

/// Replaces a part of the header of the data by one of the same length.
fn header(dir: &Path, from: &str, to: &str) -> io::Result<()> {
    bytes(dir, DATA, |bytes| {
        let at = bytes.windows(from.len()).position(|part| part == from.as_bytes());
        put(bytes, at.unwrap_or(0), to.as_bytes());
    })
}
