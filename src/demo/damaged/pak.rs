//! Pak regions: header, records, blocks, streams, chunks and names.

use std::fs;
use std::io;
use std::path::Path;

use crate::damage::Code;
use crate::demo::Sample;
use crate::demo::draft::{put, put_u32};
use crate::demo::forest::write_new;
use crate::demo::pak::{PakSpec, alter, stream};
use crate::limits::Limits;
use crate::pak::payload::encode;

pub(super) const SAMPLES: &[Sample] = &[
    Sample::damaged("pak-header-cut", "A pak region ends inside its header.", &[Code::PakHeaderCut], |dir| {
        alter(dir, |file, _| file.truncate(10))
    }),
    Sample::damaged("pak-version", "A pak region of version 9.", &[Code::PakVersion], |dir| {
        alter(dir, |file, _| put_u32(file, 4, 9))
    }),
    Sample::damaged("pak-record-count", "A pak region of -1 records.", &[Code::PakRecordCount], |dir| {
        alter(dir, |file, _| put_u32(file, 8, u32::MAX))
    }),
    Sample::damaged("pak-records-cut", "A pak region ends inside its records.", &[Code::PakRecordsCut], |dir| {
        alter(dir, |file, _| file.truncate(4001))
    }),
    Sample::damaged("pak-first-block", "The first block of a pak region is -3.", &[Code::PakFirstBlock], |dir| {
        alter(dir, |file, _| put_u32(file, 12, -3i32 as u32))
    }),
    Sample::damaged("pak-record-offset", "A chunk in block -7.", &[Code::PakRecordOffset], |dir| {
        alter(dir, |file, at| put(file, at.record, &(-7i16).to_le_bytes()))
    }),
    Sample::damaged("pak-record-blocks", "A chunk in no blocks.", &[Code::PakRecordBlocks], |dir| {
        alter(dir, |file, at| put(file, at.record + 2, &[0, 0]))
    }),
    Sample::damaged("pak-file-length", "A chunk longer than its blocks.", &[Code::PakFileLength], |dir| {
        alter(dir, |file, at| put_u32(file, at.record + 4, 1 << 20))
    }),
    Sample::damaged("pak-in-header", "The first block lies among the records.", &[Code::PakInHeader], |dir| {
        alter(dir, |file, _| put_u32(file, 12, 1))
    }),
    Sample::damaged(
        "pak-beyond-end",
        "A chunk in a block that the file does not have.",
        &[Code::PakBeyondEnd],
        |dir| alter(dir, |file, at| put(file, at.record, &5000i16.to_le_bytes())),
    ),
    Sample::damaged("pak-file-cut", "A pak region that was cut in its last chunk.", &[Code::PakBeyondEnd], |dir| {
        alter(dir, |file, _| file.truncate(file.len() - 4096))
    }),
    Sample::damaged("pak-overlap", "Two records of the same blocks.", &[Code::PakOverlap], |dir| {
        alter(dir, |file, at| file.copy_within(at.record..at.record + 8, at.record + 8))
    }),
    Sample::damaged("pak-unlisted", "A chunk whose record says that there is none.", &[Code::PakUnlisted], |dir| {
        alter(dir, |file, at| put(file, at.record, &[0xff, 0xff, 0, 0, 0, 0, 0, 0]))
    }),
    Sample::damaged("pak-orphan", "Zeros where the first records were.", &[Code::PakOrphan], |dir| {
        alter(dir, |file, at| put(file, at.record - 8, &[0; 16]))
    }),
    Sample::damaged("pak-misplaced", "Two records were exchanged.", &[Code::PakMisplaced], |dir| {
        let spec = PakSpec { chunks: &SQUARE, ..PakSpec::default() };
        let mut file = spec.build()?;
        let [a, b] = [33, 99].map(|number| 16 + 8 * number);
        (0..8).for_each(|i| file.swap(a + i, b + i));
        write_new(dir, Path::new(&spec.name()), &file)
    }),
    Sample::damaged("pak-shifted", "Seven bytes were put into a pak region.", &[Code::PakShifted], |dir| {
        let spec = PakSpec { chunks: &SQUARE, ..PakSpec::default() };
        let mut file = spec.build()?;
        let at = file.len() / 2 + 10;
        file.splice(at..at, *b"garbage").for_each(drop);
        write_new(dir, Path::new(&spec.name()), &file)
    }),
    Sample::damaged(
        "pak-count-low",
        "A pak region that counts 16 of its 1,024 records.",
        &[Code::PakCountLow],
        |dir| alter(dir, |file, _| put_u32(file, 8, 16)),
    ),
    Sample::damaged("pak-zlib", "Noise in the middle of a zlib stream.", &[Code::PakZlib], |dir| {
        alter(dir, |file, at| put(file, at.start + 2, &[0xff; 20]))
    }),
    Sample::damaged("pak-zlib-cut", "The record of a chunk is short of its stream.", &[Code::PakZlibCut], |dir| {
        alter(dir, |file, at| put_u32(file, at.record + 4, at.len as u32 - 20))
    }),
    Sample::damaged("pak-zlib-trailing", "Bytes after a zlib stream.", &[Code::PakZlibTrailing], |dir| {
        stream(dir, |plain| [encode(&plain), b"left over".to_vec()].concat())
    }),
    Sample::damaged("pak-zlib-checksum", "A wrong Adler-32.", &[Code::PakZlibChecksum], |dir| {
        alter(dir, |file, at| put(file, at.start + at.len - 4, b"\0\0\0\0"))
    }),
    Sample::damaged("pak-shape", "A chunk of 1,000 bytes.", &[Code::PakShape], |dir| {
        stream(dir, |plain| encode(plain.get(..1000).unwrap_or_default()))
    }),
    Sample::damaged("pak-bomb", "A chunk that decompresses to more than the cap.", &[Code::OverLimit], |dir| {
        stream(dir, |_| encode(&vec![0; Limits::DEFAULT.block_bytes as usize + 1]))
    }),
    Sample::damaged("pak-name", "A copy of a pak region made by hand.", &[Code::PakName], |dir| {
        pair(dir, "x1_y0_z0.region (copy)")
    }),
    Sample::damaged("pak-place", "A region of a layer that no file has.", &[Code::PakPlace], |dir| {
        pair(dir, "x0_y1_z0.region")
    }),
    Sample::damaged("pak-copied", "A pak region was copied over another one.", &[Code::PakCopied], |dir| {
        let chunks = &[0, 1, 32, 33, 1023][..];
        for region in [[0; 3], [1, 0, 0], [0, 0, 1]] {
            PakSpec { region, chunks, ..PakSpec::default() }.write(dir)?;
        }
        fs::copy(dir.join("x0_y0_z0.region"), dir.join("x1_y0_z0.region")).map(drop)
    }),
    Sample::damaged("pak-duplicate", "Two files for one region.", &[Code::PakDuplicate], |dir| {
        pair(dir, "x00_y0_z0.region")
    }),
];

/// The records of a square of five by five chunks.
const SQUARE: [u32; 25] = {
    let mut all = [0; 25];
    let mut i = 0;
    while i < 25 {
        all[i] = i as u32 % 5 + 32 * (i as u32 / 5);
        i += 1;
    }
    all
};

/// A healthy region, and a second one of another name.
fn pair(dir: &Path, second: &str) -> io::Result<()> {
    let spec = PakSpec::default();
    spec.write(dir)?;
    write_new(dir, Path::new(second), &spec.build()?)
}
