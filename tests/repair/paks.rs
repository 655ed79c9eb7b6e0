//! Pak regions that are damaged otherwise than by the game: bytes put in, cut out or changed by a copy, and records that
//! are lost or exchanged. The voxels of a made-up terrain tell what belongs where.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;
use voxscope::damage::Code;
use voxscope::pak::build::Builder;
use voxscope::pak::offset::Reading;
use voxscope::pak::place::LAYER_RECORDS;
use voxscope::pak::record::Record;
use voxscope::save::{Options, PakScratch, Save};

use crate::common::trees::{mend_twice, trouble};

const NAME: &str = "x0_y0_z0.region";
/// Chunks along x and z.
const SIDE: u32 = 12;

/// A smooth field of the given period, from 0 to 255.
fn field(x: u32, z: u32, period: u32, salt: u32) -> u32 {
    let corner = |cx: u32, cz: u32| {
        let mut n = cx.wrapping_mul(0x9e37_79b1) ^ cz.wrapping_mul(0x85eb_ca77) ^ salt.wrapping_mul(0xc2b2_ae3d);
        n ^= n >> 15;
        n = n.wrapping_mul(0x2c1b_3c6d);
        (n ^ n >> 12) % 256
    };
    let (cx, cz, fx, fz) = (x / period, z / period, x % period, z % period);
    let row = |cz: u32| (corner(cx, cz) * (period - fx) + corner(cx + 1, cz) * fx) / period;
    (row(cz) * (period - fz) + row(cz + 1) * fz) / period
}

/// A chunk of 32 x 32 x 32 voxels of hills; `noise` of a thousand voxels below the ground are of another kind.
fn plain(cx: u32, cz: u32, noise: u32) -> Vec<u8> {
    let mut word = cx * 131 + cz * 7919 + 1;
    let mut next = || {
        word ^= word << 13;
        word ^= word >> 17;
        word ^= word << 5;
        word
    };
    let column = |i: u32| {
        let (x, z) = (cx * 32 + i % 32 + 1000, cz * 32 + i / 32 + 1000);
        (3 + field(x, z, 41, 1) / 16 + field(x, z, 13, 2) / 40 + field(x, z, 5, 3) / 90, field(x, z, 37, 4) / 64)
    };
    let columns: Vec<(u32, u32)> = (0..1024).map(column).collect();
    let voxel = |y: u32, (height, kind): (u32, u32), word: u32| match height.checked_sub(y) {
        None | Some(0) => 0,
        Some(1) => 1 + kind as u8,
        Some(2..=4) => 10 + kind as u8,
        Some(_) if word % 1000 < noise => 30 + (word / 1000 % 8) as u8,
        Some(_) => 20,
    };
    (0..32u32).flat_map(|y| columns.iter().map(move |column| (y, *column))).map(|(y, c)| voxel(y, c, next())).collect()
}

fn numbers() -> Vec<u32> {
    (0..SIDE).flat_map(|z| (0..SIDE).map(move |x| x + 32 * z)).collect()
}

/// A region of 144 chunks, written in another order than that of their records.
fn region(noise: u32) -> Vec<u8> {
    let mut builder = Builder::new(*b"test", 7, LAYER_RECORDS, Reading::Blocks);
    let numbers = numbers();
    for i in 0..numbers.len() {
        let number = numbers[i * 55 % numbers.len()];
        builder.push(number, &plain(number % 32, number / 32, noise)).unwrap();
    }
    builder.finish()
}

fn record(file: &[u8], number: u32) -> Record {
    let at = 16 + 8 * number as usize;
    Record::decode(*file[at..].first_chunk().unwrap())
}

fn put(file: &mut [u8], number: u32, record: Record) {
    let at = 16 + 8 * number as usize;
    file[at..at + 8].copy_from_slice(&record.encode());
}

/// The chunks of a file by their records.
fn chunks(path: &Path) -> BTreeMap<u32, Vec<u8>> {
    let save = Save::open(path, &Options::default()).unwrap();
    let dir = &save.pak_dirs[0];
    let pak = save.pak(dir, &dir.files[0], &mut Vec::new()).unwrap().unwrap();
    let mut scratch = PakScratch::default();
    let mut all = BTreeMap::new();
    for (number, record) in pak.present() {
        let view = pak.view(number, record, &mut scratch).unwrap();
        all.extend(view.payload.filter(|payload| payload.whole).map(|payload| (number, payload.plain.to_vec())));
    }
    all
}

struct Done {
    _dir: TempDir,
    codes: Vec<Code>,
    /// Chunks that are in their places, and records with other chunks.
    right: usize,
    wrong: Vec<u32>,
    lost: usize,
}

/// Repairs a file, and counts what came back where.
fn mend(file: &[u8], noise: u32) -> Done {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("save");
    fs::create_dir(&source).unwrap();
    fs::write(source.join(NAME), file).unwrap();
    let codes = trouble(&source);
    let copy = dir.path().join("copy");
    let (outcome, _) = mend_twice(&source, &copy, false);
    let lost = outcome.plan.paks.iter().map(|plan| plan.lost.len()).sum();
    let got = chunks(if copy.join(NAME).exists() { &copy } else { &source });
    let is_right = |(number, chunk): &(&u32, &Vec<u8>)| **chunk == plain(**number % 32, **number / 32, noise);
    let right = got.iter().filter(is_right).count();
    let wrong = got.iter().filter(|entry| !is_right(entry)).map(|(number, _)| *number).collect();
    Done { _dir: dir, codes, right, wrong, lost }
}

const ALL: usize = (SIDE * SIDE) as usize;

#[test]
fn bytes_put_into_a_pak_region_are_taken_out_again() {
    let file = region(0);
    // Within the records of chunks, before the file, and a whole block and more.
    for (at, inserted) in [(file.len() / 2 + 100, 7), (file.len() / 3 + 9, 5000), (0, 7), (0, 4096)] {
        let mut with = file.clone();
        with.splice(at..at, (0..inserted).map(|i| (i * 37 + 11) as u8)).for_each(drop);
        let done = mend(&with, 0);
        assert_eq!((done.right, &done.wrong[..]), (ALL, &[][..]), "{inserted} bytes at {at}: {:?}", done.codes);
        assert!(done.codes.contains(&Code::PakShifted), "{:?}", done.codes);
    }
}

#[test]
fn bytes_cut_out_of_a_pak_region_cost_the_chunks_that_they_were_of() {
    let file = region(0);
    for (at, missing, cost) in [(file.len() / 2 + 100, 100, 1), (file.len() / 3, 9000, 4), (0, 7, 0)] {
        let mut without = file.clone();
        without.drain(at..at + missing);
        let done = mend(&without, 0);
        assert!(done.right >= ALL - cost, "{missing} bytes at {at}: {} of {ALL}, {:?}", done.right, done.codes);
        assert!(done.wrong.is_empty(), "{missing} bytes at {at}: {:?}", done.wrong);
        assert!(done.codes.contains(&Code::PakShifted), "{:?}", done.codes);
    }
}

#[test]
fn lost_carriage_returns_of_a_pak_region_are_put_back() {
    let file = region(300);
    let mut lf: Vec<u8> = Vec::new();
    for byte in &file {
        if *byte == b'\n' && lf.last() == Some(&b'\r') {
            lf.pop();
        }
        lf.push(*byte);
    }
    assert!(lf.len() + 4 < file.len(), "the file has ends of lines");
    let done = mend(&lf, 300);
    assert!(done.right * 100 >= ALL * 98, "{} of {ALL}, {:?}", done.right, done.codes);
    assert!(done.wrong.is_empty(), "{:?}", done.wrong);
    assert!(done.codes.contains(&Code::CopyLf), "{:?}", done.codes);
    // A program that leaves pairs alone, and puts a carriage return before every other line feed.
    let mut crlf: Vec<u8> = Vec::new();
    for byte in &file {
        if *byte == b'\n' && crlf.last() != Some(&b'\r') {
            crlf.push(b'\r');
        }
        crlf.push(*byte);
    }
    let done = mend(&crlf, 300);
    assert!(done.right * 100 >= ALL * 98, "{} of {ALL}, {:?}", done.right, done.codes);
    assert!(done.wrong.is_empty(), "{:?}", done.wrong);
    assert!(done.codes.contains(&Code::CopyCrlf), "{:?}", done.codes);
}

#[test]
fn emptied_records_get_their_chunks_from_the_known_ones_inward() {
    let numbers = numbers();
    // One in ten, and one in three, with the least share that comes back.
    for (step, least) in [(10, 90), (3, 70)] {
        let chosen = numbers.iter().copied().enumerate().filter(|(i, _)| i * 7 % step == 0);
        let emptied: Vec<u32> = chosen.map(|(_, number)| number).collect();
        let mut file = region(0);
        emptied.iter().for_each(|number| put(&mut file, *number, Record::ABSENT));
        let done = mend(&file, 0);
        assert!(done.wrong.is_empty(), "{:?}", done.wrong);
        let back = done.right + emptied.len() - ALL;
        assert!(back * 100 >= emptied.len() * least, "{back} of {}", emptied.len());
        assert_eq!(done.lost, ALL - done.right, "what has no place is kept");
        assert!(done.codes.contains(&Code::PakOrphan), "{:?}", done.codes);
    }
}

#[test]
fn exchanged_records_of_a_pak_region_are_put_right() {
    let mut file = region(0);
    // Three that changed places in a ring, and two pairs.
    let ring = [33 + 1, 32 * 4 + 7, 32 * 9 + 3];
    let pairs = [(32 * 2 + 9, 32 * 8 + 9), (32 * 6 + 2, 32 * 10 + 6)];
    let old = file.clone();
    for i in 0..3 {
        put(&mut file, ring[i], record(&old, ring[(i + 1) % 3]));
    }
    for (a, b) in pairs {
        put(&mut file, a, record(&old, b));
        put(&mut file, b, record(&old, a));
    }
    let done = mend(&file, 0);
    assert_eq!((done.right, &done.wrong[..]), (ALL, &[][..]), "{:?}", done.codes);
    assert!(done.codes.contains(&Code::PakMisplaced), "{:?}", done.codes);
    let done = mend(&old, 0);
    assert_eq!((done.right, done.lost, &done.codes[..]), (ALL, 0, &[][..]), "a healthy file");
}

/// A directory with the name of a pak region goes to `lost+found`, and the copy is repaired into itself.
#[test]
fn a_directory_in_the_place_of_a_pak_region() {
    for alone in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let (world, to, again) = (dir.path().join("world"), dir.path().join("copy"), dir.path().join("again"));
        let sample = voxscope::demo::samples().find(|sample| sample.name == "pak-room").unwrap();
        (sample.make)(&world).unwrap();
        let names = crate::common::files_below(&world);
        for path in names.iter().take(if alone { names.len() } else { 1 }) {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }
        let outcome = crate::mend(&world, &to, false);
        assert_eq!(outcome.plan.no_files.len(), if alone { names.len() } else { 1 });
        assert_eq!(outcome.check.unread, 0);
        assert!(to.join("lost+found").is_dir());
        assert!(crate::mend(&to, &again, false).plan.changes_nothing(), "{alone}");
    }
}

/// An unknown version alone may be that of a newer game. If the other fields of the header are lost too, it is damage.
#[test]
fn a_zeroed_header_gets_the_version_of_the_files_beside() {
    let read = |dir: &Path| fs::read(dir.join(NAME)).unwrap();
    for (damaged, is_restored) in [(0..16, true), (4..12, true), (4..8, false)] {
        let dir = tempfile::tempdir().unwrap();
        let (world, to) = (dir.path().join("world"), dir.path().join("copy"));
        let sample = voxscope::demo::samples().find(|sample| sample.name == "pak-room").unwrap();
        (sample.make)(&world).unwrap();
        let whole = read(&world);
        let mut bytes = whole.clone();
        bytes[damaged.clone()].fill(0);
        fs::write(world.join(NAME), &bytes).unwrap();
        let outcome = crate::mend(&world, &to, false);
        let expected = if is_restored { &whole } else { &bytes };
        assert_eq!(read(&to)[..16], expected[..16], "{damaged:?}");
        assert_eq!(outcome.check.unread, 0, "{damaged:?}");
    }
}
