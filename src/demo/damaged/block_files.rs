//! Saves of `VoxelStreamBlockFiles`: the meta file, and files of blocks.

use std::io;
use std::path::{Path, PathBuf};

use crate::damage::Code;
use crate::demo::Sample;
use crate::demo::block_files::{Files, write};
use crate::demo::draft::spec;

/// The block that samples alter.
const BLOCK: &str = "blocks/lod0/+1+0+0.vxb";

pub(super) const SAMPLES: &[Sample] = &[
    Sample::damaged(
        "block-files-meta",
        "The meta file of a save of block files has blocks of 2^40 voxels.",
        &[Code::BlockFilesMeta, Code::BlockFilesRemoved],
        |dir| alter(dir, "meta.vxbm", |bytes| bytes[6] = 40),
    ),
    Sample::damaged(
        "block-files-meta-missing",
        "The meta file of a save of block files is gone.",
        &[Code::BlockFilesMeta],
        |dir| {
            write(dir, &spec(), |files| {
                files.remove(Path::new("meta.vxbm"));
                Ok(())
            })
        },
    ),
    Sample::damaged("block-file-name", "A copy of a block file made by hand.", &[Code::BlockFileName], |dir| {
        write(dir, &spec(), |files| {
            let copy = file(files, BLOCK)?.clone();
            files.insert(PathBuf::from("blocks/lod0/+1+0+0 (1).vxb"), copy);
            Ok(())
        })
    }),
    Sample::damaged(
        "block-file-header",
        "The game was killed after it had opened a block file: the file is empty.",
        &[Code::BlockFileHeader],
        |dir| alter(dir, BLOCK, Vec::clear),
    ),
    Sample::damaged(
        "block-file-cut",
        "The game was killed while it wrote a block file.",
        &[Code::BlockPrefix],
        |dir| alter(dir, BLOCK, |bytes| bytes.truncate(bytes.len() / 2)),
    ),
    Sample::damaged(
        "block-file-trailing",
        "A block file is longer than its block.",
        &[Code::BlockFileTrailing],
        |dir| alter(dir, BLOCK, |bytes| bytes.extend([0; 64])),
    ),
];

fn file<'f>(files: &'f mut Files, name: &str) -> io::Result<&'f mut Vec<u8>> {
    files.get_mut(Path::new(name)).ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn alter(dir: &Path, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
    write(dir, &spec(), |files| {
        change(file(files, name)?);
        Ok(())
    })
}
