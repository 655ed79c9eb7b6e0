//! Cuts and flipped bytes: nothing is altered unsaid.

use std::collections::BTreeMap;

use voxscope::check::{self, Finding};
use voxscope::damage::Level;
use voxscope::save::{Options, Pak, PakScratch};

use super::{LEN, RECORD, blocks, head, layer, plain, with, zlib};

/// A file of four records and two chunks, the last block not padded.
fn small() -> Vec<u8> {
    let mut file = head(7, 4, 1, &[(0, 2, 2, LEN), (3, 0, 2, LEN)]);
    file.extend(blocks(&[&zlib(&plain(1))]));
    file.extend(zlib(&plain(2)));
    file
}

fn worst(bytes: &[u8]) -> Option<Level> {
    check::pak_bytes(bytes, "p", [0; 3], &Options::default()).iter().map(Finding::level).max()
}

#[test]
fn a_cut_at_every_length_is_told() {
    let file = small();
    // Four records have no known layout, which is a note.
    assert_eq!(worst(&file), Some(Level::Note));
    for len in 0..file.len() {
        assert_eq!(worst(&file[..len]), Some(Level::Error), "cut at {len}");
    }
}

/// What each record decodes to, as far as it does.
fn chunks(bytes: &[u8]) -> BTreeMap<u32, Vec<u8>> {
    let options = Options::default();
    let pak = Pak::load(bytes, [0; 3], &options.pak, &options.limits, &mut Vec::new()).unwrap();
    let mut scratch = PakScratch::default();
    let Some(pak) = pak else { return BTreeMap::new() };
    let mut view = |(number, record)| {
        let payload = pak.view(number, record, &mut scratch).unwrap().payload;
        (number, payload.map_or_else(Vec::new, |payload| payload.plain.to_vec()))
    };
    pak.present().map(&mut view).collect()
}

#[test]
fn no_flip_in_header_or_records_alters_a_chunk_unsaid() {
    let (small, layer) = (small(), layer());
    for (file, places) in [
        (&small, (0..48).collect::<Vec<usize>>()),
        (&layer, (0..32).chain(RECORD - 8..RECORD + 16).chain(8192..8208).collect()),
    ] {
        let before = chunks(file);
        assert_eq!(before.len(), 2);
        for at in places {
            for flip in (0..8).map(|bit| 1u8 << bit).chain([0xff]) {
                let altered = with(file, at, &[file[at] ^ flip]);
                if chunks(&altered) != before {
                    assert!(worst(&altered) > Some(Level::Note), "byte {at} with {flip:#x}");
                }
            }
        }
    }
}

#[test]
fn no_flip_in_a_stream_alters_a_chunk_unsaid() {
    let stream = voxscope::pak::payload::encode(&plain(9));
    let file = [head(7, 4, 1, &[(1, 0, 1, stream.len())]), stream].concat();
    let before = chunks(&file);
    assert_eq!((worst(&file), before.len()), (Some(Level::Note), 1));
    for at in 4096..file.len() {
        for bit in 0..8 {
            let altered = with(&file, at, &[file[at] ^ 1 << bit]);
            if chunks(&altered) != before {
                assert_eq!(worst(&altered), Some(Level::Error), "byte {at}, bit {bit}");
            }
        }
    }
}
