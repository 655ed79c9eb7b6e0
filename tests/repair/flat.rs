//! Repair of pak regions and voxel maps: what is exact is put right, what is not lies in `lost+found`, and nothing else
//! is touched.

use std::collections::BTreeMap;

use voxscope::damage::Code;
use voxscope::save::{Options, Save};

use crate::common::samples;
use crate::common::trees::{content, mend_twice, trouble};

/// Samples whose copy still has something to say, and why it must.
const LEFT: &[(&str, &[Code])] = &[
    // Another version is nothing that the file tells; the chunks are whole.
    ("pak-version", &[Code::PakVersion]),
    // The chunks are whole, and nothing says what shape they have.
    ("pak-shape", &[Code::PakShape]),
    // More than is read: it may be whole.
    ("pak-bomb", &[Code::OverLimit]),
    // Which of the two files is right, they do not show.
    ("pak-copied", &[Code::PakCopied]),
    // Which place the file has, only who moved it knows.
    ("pak-place", &[Code::PakPlace]),
    // Nothing but the description has the step of the cells.
    ("map-field", &[Code::MapField]),
    // Another word may be that of a newer exporter; put right at `--level likely`.
    ("map-format", &[Code::MapFormat]),
    // Nothing of the global layer's voxels is left, and a map has no other global layer.
    ("npy-cut", &[Code::NpyCut]),
    // Voxels are data: they are copied as they are.
    ("map-beyond-dim", &[Code::MapBeyondDim]),
    ("map-flag-unknown", &[Code::MapFlagUnknown]),
    ("map-water-depth", &[Code::MapWaterDepth]),
    ("map-packed-depth", &[Code::MapWaterDepth]),
];

#[test]
fn every_damaged_pak_and_map_of_the_demo_gets_a_clean_copy() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("demo");
    let mut left = BTreeMap::new();
    let (mut mended, mut all) = (0, 0);
    for sample in samples::write(&root).iter().filter(|sample| !sample.healthy) {
        let source = root.join(sample.path());
        let Ok(save) = Save::open(&source, &Options::default()) else { continue };
        if save.pak_dirs.is_empty() && save.maps.is_empty() {
            continue;
        }
        all += 1;
        let damaged = !trouble(&source).is_empty();
        let (outcome, _) = mend_twice(&source, &dir.path().join(sample.name), false);
        let codes = trouble(&dir.path().join(sample.name));
        mended += usize::from(damaged && codes.is_empty());
        assert!(damaged || outcome.plan.changes_nothing(), "{}: healthy", sample.name);
        if !codes.is_empty() {
            left.insert(sample.name, codes);
        }
    }
    let expected: BTreeMap<&str, Vec<Code>> = LEFT.iter().map(|(name, codes)| (*name, codes.to_vec())).collect();
    assert_eq!(left, expected);
    println!("{mended} mended of {all}");
    assert!(mended > 25, "{mended} of {all}");
}

#[test]
fn every_healthy_pak_and_map_of_the_demo_is_copied_byte_by_byte() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("demo");
    let mut seen = 0;
    for sample in samples::write(&root).iter().filter(|sample| sample.healthy) {
        let source = root.join(sample.path());
        let save = Save::open(&source, &Options::default()).unwrap();
        if save.pak_dirs.is_empty() && save.maps.is_empty() {
            continue;
        }
        seen += 1;
        let to = dir.path().join(sample.name);
        let (outcome, _) = mend_twice(&source, &to, true);
        assert!(outcome.plan.changes_nothing(), "{}", sample.name);
        assert_eq!(content(&source), content(&to), "{}", sample.name);
    }
    assert!(seen > 6, "{seen}");
}

mod paks {
    use std::fs;
    use std::path::{Path, PathBuf};

    use serde_json::{Value as Json, json};
    use tempfile::TempDir;
    use voxscope::damage::{Code, Level};
    use voxscope::repair::Action;
    use voxscope::save::{Options, PakScratch, Save};
    use voxscope::{check, pak};

    use crate::common::trees::{mend_twice, trouble};

    const NAME: &str = "x0_y0_z0.region";

    /// A chunk of 16 x 16 x 16 voxels that compresses to a length of its own.
    fn plain(seed: u32) -> Vec<u8> {
        let mut word = seed.wrapping_mul(2_654_435_761) | 1;
        let noisy = 300 + seed as usize * 211;
        (0..4096)
            .map(|i| {
                word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if i < noisy { (word >> 24) as u8 } else { seed as u8 }
            })
            .collect()
    }

    fn stream(seed: u32) -> Vec<u8> {
        pak::payload::encode(&plain(seed))
    }

    fn record(offset: i16, blocks: i16, length: i32) -> Vec<u8> {
        [&offset.to_le_bytes()[..], &blocks.to_le_bytes(), &length.to_le_bytes()].concat()
    }

    /// Version 7, 1,024 records, first block 3: chunks in records 2, 40 and 700, by the notes on the format.
    struct File {
        bytes: Vec<u8>,
        /// Number of the record, first block and length of each chunk.
        chunks: Vec<(usize, usize, usize)>,
    }

    const RECORDS: [usize; 3] = [2, 40, 700];

    fn file() -> File {
        let mut bytes = b"what".to_vec();
        for n in [7i32, 1024, 3] {
            bytes.extend(n.to_le_bytes());
        }
        bytes.extend(record(-1, 0, 0).repeat(1024));
        bytes.resize(3 * 4096, 0);
        let mut file = File { bytes, chunks: Vec::new() };
        for (seed, number) in RECORDS.into_iter().enumerate() {
            let stream = stream(seed as u32);
            let block = file.bytes.len() / 4096 - 3;
            let count = stream.len().div_ceil(4096);
            file.put_record(number, &record(block as i16, count as i16, stream.len() as i32));
            file.chunks.push((number, block, stream.len()));
            file.append(&stream);
        }
        file
    }

    impl File {
        fn put(&mut self, at: usize, bytes: &[u8]) {
            self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        }

        fn put_record(&mut self, number: usize, bytes: &[u8]) {
            self.put(16 + number * 8, bytes);
        }

        fn append(&mut self, stream: &[u8]) {
            self.bytes.extend(stream);
            self.bytes.resize(self.bytes.len().next_multiple_of(4096), 0);
        }

        fn start(&self, chunk: usize) -> usize {
            (3 + self.chunks[chunk].1) * 4096
        }

        fn write(&self) -> (TempDir, PathBuf) {
            let dir = tempfile::tempdir().unwrap();
            let room = dir.path().join("room");
            fs::create_dir(&room).unwrap();
            fs::write(room.join(NAME), &self.bytes).unwrap();
            (dir, room)
        }
    }

    /// The decompressed chunks of a file by their records.
    fn chunks(room: &Path) -> Vec<(u32, Vec<u8>)> {
        let save = Save::open(room, &Options::default()).unwrap();
        let pak = save.pak(&save.pak_dirs[0], &save.pak_dirs[0].files[0], &mut Vec::new()).unwrap().unwrap();
        let mut scratch = PakScratch::default();
        pak.present()
            .map(|(number, record)| {
                let view = pak.view(number, record, &mut scratch).unwrap();
                assert!(view.payload.unwrap().whole);
                (number, view.payload.unwrap().plain.to_vec())
            })
            .collect()
    }

    fn lost(to: &Path) -> Vec<(Json, Vec<u8>, Vec<u8>)> {
        let read = |path: &Path| fs::read(path).unwrap();
        crate::common::files_below(&to.join("lost+found"))
            .iter()
            .filter(|path| path.extension().is_some_and(|e| e == "json"))
            .map(|path| (serde_json::from_slice(&read(path)).unwrap(), path))
            .filter(|(about, _): &(Json, _)| about["plain"].is_u64())
            .map(|(about, path)| (about, read(&path.with_extension("zlib")), read(&path.with_extension("bin"))))
            .collect()
    }

    fn whole(records: &[usize]) -> Vec<(u32, Vec<u8>)> {
        records.iter().map(|n| (*n as u32, plain(RECORDS.iter().position(|r| r == n).unwrap() as u32))).collect()
    }

    /// Checks a file, repairs it and its copy; gives the report of the first repair.
    fn repaired(file: &File, found: &[Code]) -> (TempDir, PathBuf, Json) {
        let (dir, room) = file.write();
        assert_eq!(trouble(&room), found);
        let to = dir.path().join("copy");
        let (outcome, report) = mend_twice(&room, &to, false);
        assert!(outcome.plan.paks.iter().all(|p| p.action == Action::Rebuild));
        assert_eq!(trouble(&to), [], "{report}");
        (dir, to, report["paks"][0].clone())
    }

    #[test]
    fn a_file_without_faults_is_left_as_it_is() {
        let (dir, room) = file().write();
        assert_eq!(trouble(&room), []);
        let (outcome, _) = mend_twice(&room, &dir.path().join("copy"), false);
        assert!(outcome.plan.changes_nothing());
        assert_eq!(chunks(&dir.path().join("copy")), whole(&RECORDS));
    }

    #[test]
    fn a_number_of_records_that_was_lowered_is_put_right() {
        let mut file = file();
        file.put(8, &100i32.to_le_bytes());
        let (_dir, to, report) = repaired(&file, &[Code::PakCountLow]);
        assert_eq!(chunks(&to), whole(&RECORDS));
        assert_eq!(report["header"], json!([{ "field": "record_count", "was": 100, "is": 1024 }]));
        assert_eq!((&report["missing"], &report["lost_and_found"]), (&json!([]), &json!(0)));
    }

    #[test]
    fn records_that_were_wiped_leave_their_chunks_without_an_owner() {
        let mut file = file();
        for number in 500..1024 {
            file.put_record(number, &[0; 8]);
        }
        let codes = [Code::PageZeroed, Code::PakOrphan];
        let (_dir, to, report) = repaired(&file, &codes);
        assert_eq!(chunks(&to), whole(&RECORDS[..2]));
        assert_eq!(report["missing"].as_array().unwrap().len(), 524);
        let lost = lost(&to);
        assert_eq!(lost.len(), 1);
        assert_eq!((&lost[0].1, &lost[0].2), (&stream(2), &plain(2)));
        assert_eq!(lost[0].0["whole"], true);
        // Most records of a region have no chunk, so nothing shows how many of these had one.
        let whole: Json = serde_json::from_slice(&fs::read(to.join("repair.json")).unwrap()).unwrap();
        assert_eq!((&whole["totals"]["source"], &whole["totals"]["lost"]), (&json!(2), &json!(0)));
    }

    #[test]
    fn a_wiped_record_is_no_claim_to_the_first_block() {
        // Block 0 is that of record 2, which is wiped, and so is another one.
        for other in [2, 900] {
            let mut file = file();
            file.put_record(2, &[0; 8]);
            file.put_record(other, &[0; 8]);
            let codes = [Code::PakRecordBlocks, Code::PakFileLength, Code::PakOrphan];
            let (_dir, to, report) = repaired(&file, &codes);
            assert_eq!(chunks(&to), whole(&RECORDS[1..]));
            assert_eq!(report["put_right"], json!([]));
            assert_eq!((lost(&to).len(), &lost(&to)[0].2), (1, &plain(0)));
        }
    }

    #[test]
    fn two_records_of_one_chunk_both_lose_it() {
        let mut file = file();
        let (_, block, len) = file.chunks[1];
        file.put_record(41, &record(block as i16, len.div_ceil(4096) as i16, len as i32));
        let (_dir, to, report) = repaired(&file, &[Code::PakOverlap, Code::PakOrphan]);
        assert_eq!(chunks(&to), whole(&[2, 700]));
        let missing = report["missing"].as_array().unwrap();
        assert_eq!(missing.iter().map(|m| m["record"].as_u64().unwrap()).collect::<Vec<_>>(), [40, 41]);
        let lost = lost(&to);
        assert_eq!((lost.len(), &lost[0].2), (1, &plain(1)));
        let candidates = lost[0].0["candidates"].as_array().unwrap();
        assert_eq!(candidates.len(), 2);
        assert!(candidates.iter().all(|c| c["probability"] == 0.5));
    }

    #[test]
    fn a_record_that_fits_keeps_its_chunk_from_one_that_does_not() {
        let mut file = file();
        let (_, block, len) = file.chunks[1];
        file.put_record(41, &record(block as i16, 9, len as i32 - 40));
        let (_dir, to, report) = repaired(&file, &[Code::PakOverlap]);
        assert_eq!(chunks(&to), whole(&RECORDS));
        assert_eq!(report["missing"][0]["record"], 41);
        assert_eq!(report["missing"][0]["listed"], json!([block, 9, len - 40]));
    }

    #[test]
    fn a_record_beyond_the_end_gets_the_only_chunk_of_its_length() {
        let mut file = file();
        let (number, _, len) = file.chunks[0];
        file.put_record(number, &record(9000, len.div_ceil(4096) as i16, len as i32));
        let (_dir, to, report) = repaired(&file, &[Code::PakBeyondEnd]);
        assert_eq!(chunks(&to), whole(&RECORDS));
        assert_eq!(report["put_right"][0]["record"], number);
        assert_eq!(report["put_right"][0]["certainty"], "certain");
    }

    #[test]
    fn chunks_in_each_others_blocks_go_to_the_records_of_their_lengths() {
        // Two of them, and three in a ring. Each takes one block. Another record whose chunk has the same length has its own.
        for (order, has_another) in [(vec![1, 0, 2], false), (vec![1, 2, 0], false), (vec![1, 0, 2], true)] {
            let mut file = file();
            let at = file.bytes.len() / 4096 - 3;
            if has_another {
                let again = stream(0);
                file.put_record(900, &record(at as i16, 1, again.len() as i32));
                file.append(&again);
            }
            let blocks: Vec<Vec<u8>> = (0..3).map(|n| file.bytes[file.start(n)..][..4096].to_vec()).collect();
            for (to, from) in order.into_iter().enumerate() {
                file.put(file.start(to), &blocks[from]);
            }
            let (dir, room) = file.write();
            assert!(!trouble(&room).is_empty());
            let to = dir.path().join("copy");
            let (_, report) = mend_twice(&room, &to, false);
            let mut expected = whole(&RECORDS);
            if has_another {
                expected.push((900, plain(0)));
            }
            assert_eq!((chunks(&to), trouble(&to)), (expected, Vec::new()), "{report}");
        }
    }

    #[test]
    fn a_chunk_that_was_copied_over_another_one_is_written_once() {
        let mut file = file();
        let block = file.bytes[file.start(0)..][..4096].to_vec();
        file.put(file.start(1), &block);
        let (dir, room) = file.write();
        assert!(!trouble(&room).is_empty());
        let to = dir.path().join("copy");
        let (_, report) = mend_twice(&room, &to, false);
        assert_eq!(chunks(&to), whole(&[2, 700]), "{report}");
        assert_eq!(report["paks"][0]["missing"][0]["record"], 40);
    }

    #[test]
    fn where_two_chunks_have_that_length_none_is_taken() {
        let mut file = file();
        let (number, _, len) = file.chunks[0];
        file.put_record(number, &record(9000, len.div_ceil(4096) as i16, len as i32));
        // An old copy of the chunk.
        file.append(&stream(0));
        let (_dir, to, report) = repaired(&file, &[Code::PakBeyondEnd, Code::PakOrphan]);
        assert_eq!(chunks(&to), whole(&RECORDS[1..]));
        assert_eq!(report["missing"][0]["record"], number);
        let lost = lost(&to);
        assert_eq!(lost.len(), 2);
        assert!(lost.iter().all(|l| l.2 == plain(0) && l.0["candidates"][0]["record"] == number));
    }

    #[test]
    fn a_file_that_was_cut_keeps_what_inflates() {
        let mut file = file();
        let (start, len) = (file.start(2), file.chunks[2].2);
        file.bytes.truncate(start + len / 2);
        let (_dir, to, report) = repaired(&file, &[Code::PakBeyondEnd, Code::PakZlibCut]);
        assert_eq!(chunks(&to), whole(&RECORDS[..2]));
        assert_eq!(report["missing"][0]["record"], 700);
        let lost = lost(&to);
        assert_eq!((lost.len(), &lost[0].0["record"], &lost[0].0["whole"]), (1, &json!(700), &json!(false)));
        assert_eq!(lost[0].1, stream(2)[..len / 2]);
        assert!(lost[0].2.len() > 100 && plain(2).starts_with(&lost[0].2));
    }

    #[test]
    fn a_first_block_that_no_chunk_fits_is_found_again() {
        for first in [-1, 0, 2, 1000, i32::MAX] {
            let mut file = file();
            file.put(12, &first.to_le_bytes());
            let (dir, room) = file.write();
            assert!(!trouble(&room).is_empty(), "{first}");
            let to = dir.path().join("copy");
            let (_, report) = mend_twice(&room, &to, false);
            assert_eq!((chunks(&to), trouble(&to)), (whole(&RECORDS), Vec::new()), "{first}: {report}");
            assert_eq!(report["paks"][0]["header"][0]["is"], 3);
        }
    }

    #[test]
    fn lengths_are_those_of_the_streams() {
        for length in [1, 100, 4096, 100_000, 0, -5, i32::MAX] {
            let mut file = file();
            let (number, block, len) = file.chunks[1];
            file.put_record(number, &record(block as i16, len.div_ceil(4096) as i16, length));
            let (dir, room) = file.write();
            assert!(!trouble(&room).is_empty(), "{length}");
            let to = dir.path().join("copy");
            let (_, report) = mend_twice(&room, &to, false);
            assert_eq!((chunks(&to), trouble(&to)), (whole(&RECORDS), Vec::new()), "{length}: {report}");
            assert_eq!(report["paks"][0]["put_right"][0]["record"], number, "{length}");
        }
    }

    #[test]
    fn a_chunk_with_another_checksum_is_only_likely() {
        let mut file = file();
        let (start, len) = (file.start(1), file.chunks[1].2);
        file.put(start + len - 4, &[1, 2, 3, 4]);
        let (dir, to, report) = repaired(&file, &[Code::PakZlibChecksum]);
        assert_eq!(chunks(&to), whole(&[2, 700]));
        assert_eq!((&report["missing"][0]["record"], lost(&to)[0].2 == plain(1)), (&json!(40), true));
        let likely = dir.path().join("likely");
        let (_, report) = mend_twice(&dir.path().join("room"), &likely, true);
        assert_eq!((chunks(&likely), trouble(&likely)), (whole(&RECORDS), Vec::new()));
        assert_eq!(report["paks"][0]["put_right"][0]["certainty"], "likely");
    }

    #[test]
    fn old_chunks_in_free_blocks_are_normal_until_something_is_wrong() {
        let mut file = file();
        file.append(&stream(9));
        let (dir, room) = file.write();
        assert_eq!(trouble(&room), []);
        let save = Save::open(&room, &Options::default()).unwrap();
        let mut notes = Vec::new();
        check::run(&save, &check::Options::default(), |f| notes.push((f.code(), f.level())));
        assert_eq!(notes, [(Code::PakUnlisted, Level::Note)]);
        let (outcome, _) = mend_twice(&room, &dir.path().join("copy"), false);
        assert!(outcome.plan.changes_nothing());
        // The same with a record that is damaged, and bytes that are nothing at all.
        file.put_record(40, &record(-9, 1, 77));
        file.bytes.extend(b"neither a chunk nor zero");
        let codes = [Code::PakRecordOffset, Code::PakOrphan];
        let (_dir, to, report) = repaired(&file, &codes);
        assert_eq!(chunks(&to), whole(&[2, 700]));
        assert_eq!(lost(&to).iter().map(|l| l.2.clone()).collect::<Vec<_>>(), [plain(1), plain(9)]);
        assert_eq!(report["other_bytes"], 24);
        let rest = to.join("lost+found").join(format!("{NAME}.rest.bin"));
        assert_eq!(fs::read(rest).unwrap(), b"neither a chunk nor zero");
    }

    #[test]
    fn damage_that_comes_after_a_repair_is_repaired_beside_what_was_lost_before() {
        let mut first = file();
        first.put_record(40, &record(-9, 1, 77));
        let (dir, to, _) = repaired(&first, &[Code::PakRecordOffset, Code::PakOrphan]);
        let mut bytes = fs::read(to.join(NAME)).unwrap();
        bytes[16 + 700 * 8..][..8].copy_from_slice(&record(-9, 1, 77));
        fs::write(to.join(NAME), bytes).unwrap();
        let next = dir.path().join("next");
        mend_twice(&to, &next, false);
        assert_eq!((chunks(&next), trouble(&next)), (whole(&[2]), Vec::new()));
        assert_eq!(lost(&next).len(), 2, "both chunks are still there");
    }

    #[test]
    fn a_file_that_is_named_itself_is_repaired_into_a_directory() {
        let mut file = file();
        let (number, block, _) = file.chunks[1];
        file.put_record(number, &record(block as i16, 1, 7));
        let (dir, room) = file.write();
        let to = dir.path().join("copy");
        mend_twice(&room.join(NAME), &to, false);
        assert_eq!(chunks(&to), whole(&RECORDS));
    }
}
