//! The compressed container of a block.

use std::io;
use std::path::Path;

use crate::damage::Code;
use crate::demo::Sample;
use crate::demo::draft::{container, put, put_u32, region};
use crate::godot::container::{Mode, encode};

pub(super) const SAMPLES: &[Sample] = &[
    Sample::damaged("container-empty", "A block's size is zero.", &[Code::ContainerEmpty], |dir| {
        region(dir, |bytes, _, at| put_u32(bytes, at.start, 0))
    }),
    Sample::damaged("container-mode", "A block's first byte names no compression.", &[Code::ContainerMode], |dir| {
        region(dir, |bytes, _, at| put(bytes, at.start + 4, &[9]))
    }),
    Sample::damaged("container-cut", "A block ends in the size that it declares.", &[Code::ContainerCut], |dir| {
        container(dir, Mode::Lz4, |_, packed| packed.extend([2, 0x07, 0x40]))
    }),
    Sample::damaged(
        "container-declared",
        "A block declares 2 GiB, which its bytes cannot give.",
        &[Code::ContainerDeclared],
        |dir| packed(dir, Mode::Lz4, |bytes| put_u32(bytes, 1, 0x7fff_ffff)),
    ),
    Sample::damaged(
        "over-limit",
        "A block of a few kilobytes declares 1 GiB, and its compression cannot tell whether that may be.",
        &[Code::OverLimit],
        |dir| packed(dir, Mode::Zstd, |bytes| put_u32(bytes, 1, 1 << 30)),
    ),
    Sample::damaged("container-corrupt", "The second half of a block is zero.", &[Code::ContainerCorrupt], |dir| {
        packed(dir, Mode::Lz4, |bytes| {
            let half = bytes.len() / 2;
            bytes[half..].fill(0);
        })
    }),
    Sample::damaged(
        "container-corrupt-zstd",
        "The second half of a block packed with Zstandard is zero.",
        &[Code::ContainerCorrupt],
        |dir| {
            packed(dir, Mode::Zstd, |bytes| {
                let half = bytes.len() / 2;
                bytes[half..].fill(0);
            })
        },
    ),
    Sample::damaged("container-length", "A block declares 100 bytes too many.", &[Code::ContainerLength], |dir| {
        container(dir, Mode::Lz4, |plain, packed| {
            encode(Mode::Lz4, plain, packed);
            put_u32(packed, 1, plain.len() as u32 + 100);
        })
    }),
    Sample::damaged(
        "container-checksum",
        "A block decodes, but not to what was saved.",
        &[Code::ContainerChecksum],
        |dir| {
            packed(dir, Mode::Zstd, |bytes| {
                if let Some(last) = bytes.last_mut() {
                    *last ^= 0x55;
                }
            })
        },
    ),
    Sample::damaged(
        "container-byte-order",
        "A block whose LZ4 data has a little-endian size under mode 1, as release 1.6 could write it.",
        &[Code::ContainerByteOrder],
        |dir| container(dir, Mode::Lz4WrongOrder, |plain, packed| encode(Mode::Lz4WrongOrder, plain, packed)),
    ),
    Sample::damaged("container-trailing", "Bytes follow a block's frame.", &[Code::ContainerTrailing], |dir| {
        packed(dir, Mode::Zstd, |bytes| bytes.extend(b"more"))
    }),
];

/// Alters a container that is whole.
fn packed(dir: &Path, mode: Mode, change: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
    container(dir, mode, |plain, packed| {
        encode(mode, plain, packed);
        change(packed);
    })
}
