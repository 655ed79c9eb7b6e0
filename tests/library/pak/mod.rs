//! Pak regions, byte by byte from the notes on the format: opened, mapped, listed, shown and checked.

mod commands;
mod hurt;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value as Json;
use tempfile::{TempDir, tempdir};
use voxscope::check::{self, Finding};
use voxscope::damage::Code;
use voxscope::pak::How;
use voxscope::pak::chunk::{Order, Shape, Voxels};
use voxscope::pak::offset::Reading;
use voxscope::save::{Options, Owner, Pak, PakScratch, Save};
use voxscope::source::FileSource;

/// The place of the file that most tests look at, and of its two chunks, in records 0 and 33.
const NAME: &str = "x-1_y0_z2.region";
const A: [i32; 3] = [-32, 0, 64];
const B: [i32; 3] = [-31, 0, 65];

/// Where record 33 stands, and the streams.
const RECORD: usize = 16 + 33 * 8;
const STREAM_A: usize = 3 * 4096;
const STREAM_B: usize = 5 * 4096;
/// Two bytes of zlib, five of deflate, 4,096 of data, four of checksum.
const LEN: usize = 2 + 5 + 4096 + 4;

/// A zlib stream in stored blocks, by RFC 1950 and 1951.
fn zlib(plain: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let parts: Vec<&[u8]> = plain.chunks(65_535).collect();
    for (i, part) in parts.iter().enumerate() {
        let len = u16::try_from(part.len()).unwrap();
        out.push(u8::from(i + 1 == parts.len()));
        out.extend(len.to_le_bytes());
        out.extend((!len).to_le_bytes());
        out.extend(*part);
    }
    let (mut a, mut b) = (1u32, 0u32);
    for &byte in plain {
        a = (a + u32::from(byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    out.extend((b << 16 | a).to_be_bytes());
    out
}

fn record(offset: i16, blocks: i16, length: i32) -> Vec<u8> {
    [&offset.to_le_bytes()[..], &blocks.to_le_bytes(), &length.to_le_bytes()].concat()
}

/// Header and records, padded to whole blocks.
fn head(version: i32, count: i32, first: i32, records: &[(usize, i16, i16, usize)]) -> Vec<u8> {
    let mut out = b"what".to_vec();
    for n in [version, count, first] {
        out.extend(n.to_le_bytes());
    }
    for _ in 0..count {
        out.extend(record(-1, 0, 0));
    }
    for &(number, offset, blocks, length) in records {
        put(&mut out, 16 + number * 8, &record(offset, blocks, i32::try_from(length).unwrap()));
    }
    out.resize(out.len().next_multiple_of(4096), 0);
    out
}

fn put(bytes: &mut [u8], at: usize, new: &[u8]) {
    bytes[at..at + new.len()].copy_from_slice(new);
}

fn with(bytes: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    put(&mut bytes, at, new);
    bytes
}

/// Streams, each padded to whole blocks.
fn blocks(streams: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    for stream in streams {
        out.extend(*stream);
        out.resize(out.len().next_multiple_of(4096), 0);
    }
    out
}

/// 4,096 bytes: 16 x 16 x 16 voxels of one byte, no two neighbours alike.
fn plain(seed: u8) -> Vec<u8> {
    (0..4096u32).map(|i| (i % 251) as u8 ^ seed).collect()
}

/// Version 7, 1,024 records, the first block counted in blocks: A in blocks 3 and 4, B in 5 and 6.
fn layer() -> Vec<u8> {
    let mut file = head(7, 1024, 3, &[(0, 0, 2, LEN), (33, 2, 2, LEN)]);
    file.extend(blocks(&[&zlib(&plain(1)), &zlib(&plain(2))]));
    assert_eq!(file.len(), 7 * 4096);
    file
}

struct Saved {
    _dir: TempDir,
    root: PathBuf,
}

fn saved(files: &[(&str, &[u8])]) -> Saved {
    let dir = tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for (name, bytes) in files {
        fs::write(root.join(name), bytes).unwrap();
    }
    Saved { _dir: dir, root }
}

impl Saved {
    fn open(&self) -> Save {
        Save::open(&self.root, &Options::default()).unwrap()
    }

    fn path(&self) -> &str {
        self.root.to_str().unwrap()
    }
}

fn pak(save: &Save, file: usize) -> Pak<FileSource> {
    let mut damage = Vec::new();
    let pak = save.pak(&save.pak_dirs[0], &save.pak_dirs[0].files[file], &mut damage).unwrap().unwrap();
    assert_eq!(damage, []);
    pak
}

fn findings(save: &Save) -> Vec<Finding> {
    let mut findings = Vec::new();
    check::run(save, &check::Options::default(), |finding| findings.push(finding));
    findings
}

type Seen = (Code, Option<(u64, u64)>, Option<[i32; 3]>);

fn seen(findings: &[Finding]) -> Vec<Seen> {
    let of = |f: &Finding| (f.code(), f.span.map(|s| (s.start, s.end)), f.block.and_then(|b| b.position));
    findings.iter().map(of).collect()
}

fn chunk(pak: &Pak<FileSource>, number: u32) -> Vec<u8> {
    let mut scratch = PakScratch::default();
    let view = pak.view(number, pak.records[number as usize], &mut scratch).unwrap();
    assert!(view.damage.is_empty() && view.payload.unwrap().whole);
    view.payload.unwrap().plain.to_vec()
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxscope"));
    command.args(arguments).stdin(Stdio::null()).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn lines(text: &str) -> Vec<Json> {
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON"));
    lines.filter(|line: &Json| line["type"] == "finding").collect()
}

#[test]
fn a_region_of_today() {
    let saved = saved(&[(NAME, &layer())]);
    let save = saved.open();
    assert_eq!(findings(&save), []);
    let pak = pak(&save, 0);
    assert_eq!((pak.header.tag, pak.header.version, pak.region), (*b"what", 7, [-1, 0, 2]));
    assert_eq!((pak.reading.value, pak.reading.how), (Reading::Blocks, How::Inferred));
    assert_eq!((chunk(&pak, 0), chunk(&pak, 33)), (plain(1), plain(2)));
    assert_eq!((pak.chunk(0), pak.chunk(33), pak.chunk(1023)), (Some(A), Some(B), Some([-1, 0, 95])));
    let mut scratch = PakScratch::default();
    let view = pak.view(33, pak.records[33], &mut scratch).unwrap();
    let shape = view.shape.unwrap().value;
    assert_eq!(shape, Shape { size: [16; 3], voxel_bytes: 1 });
    let voxels = Voxels { data: view.payload.unwrap().plain, shape, order: Order::default() };
    assert_eq!(voxels.get([1, 2, 3]), Some(u64::from(plain(2)[1 + 16 * (3 + 16 * 2)])), "x, then z, then y");
    let map = pak.sector_map();
    let runs: Vec<_> = map.runs.iter().map(|run| (run.first, run.count, run.owner)).collect();
    assert_eq!(runs, [(0, 3, Owner::Header), (3, 2, Owner::Block(0)), (5, 2, Owner::Block(33))]);

    let rows = check::rows(&save, save.files().next().unwrap(), &check::Options::default()).unwrap();
    let listed = |i: usize| (rows[i].position, rows[i].slot, rows[i].sector.unwrap(), rows[i].sectors, rows[i].bytes);
    assert_eq!((rows.len(), listed(0), listed(1)), (2, (Some(A), 0, 3, 2, 4107), (Some(B), 33, 5, 2, 4107)));
    assert_eq!(
        (rows[0].plain, rows[0].version, rows[0].container, rows[0].state()),
        (4096, Some(7), Some("zlib"), "ok")
    );
}

#[test]
fn a_first_block_in_bytes() {
    // A multiple of a block, and just behind the records.
    let streams = blocks(&[&zlib(&plain(1)), &zlib(&plain(2))]);
    let records = [(0, 0, 2, LEN), (33, 2, 2, LEN)];
    let aligned = [head(7, 1024, 3 * 4096, &records), streams.clone()].concat();
    let tight = [head(7, 1024, 8208, &records)[..8208].to_vec(), streams].concat();
    for (file, at) in [(aligned, 12_288), (tight, 8208)] {
        let saved = saved(&[(NAME, &file)]);
        let save = saved.open();
        assert_eq!(seen(&findings(&save)), [(Code::PakOffsetReading, Some((12, 16)), None)]);
        let pak = pak(&save, 0);
        assert_eq!((pak.reading.value, pak.reading.how), (Reading::Bytes, How::Inferred));
        assert_eq!((chunk(&pak, 0), chunk(&pak, 33)), (plain(1), plain(2)));
        let located = pak.locate(33, pak.records[33], &mut Vec::new()).unwrap();
        assert_eq!((located.stored.start, located.stored.len()), (at + 8192, 4107));
        assert_eq!(pak.sector_map().count(|owner| owner == Owner::Header), 3);
    }
}

#[test]
fn a_region_of_version_6() {
    // 16 x 48 x 16 voxels, in records 0, x + 16 * (z + 16 * y) for (3, 2, 1), and the last.
    let plain: Vec<u8> = (0..16 * 48 * 16).map(|i| (i % 13) as u8).collect();
    let stream = zlib(&plain);
    let (blocks_each, len) = (i16::try_from(stream.len().div_ceil(4096)).unwrap(), stream.len());
    let number = 3 + 16 * (1 + 16 * 2);
    let records =
        [(0, 0, blocks_each, len), (number, blocks_each, blocks_each, len), (4095, 2 * blocks_each, blocks_each, len)];
    let file = [head(6, 4096, 9, &records), blocks(&[&stream, &stream, &stream])].concat();
    let saved = saved(&[("x-2_y-1_z0.region", &file)]);
    let save = saved.open();
    assert_eq!(findings(&save), []);
    let pak = pak(&save, 0);
    assert_eq!(pak.grid.as_ref().unwrap().how, How::Assumed);
    assert_eq!(pak.chunk(0), Some([-32, -16, 0]));
    assert_eq!(pak.chunk(u32::try_from(number).unwrap()), Some([-29, -14, 1]));
    assert_eq!(pak.chunk(4095), Some([-17, -1, 15]));
    let mut scratch = PakScratch::default();
    let view = pak.view(4095, pak.records[4095], &mut scratch).unwrap();
    assert_eq!(view.shape.unwrap().value, Shape { size: [16, 48, 16], voxel_bytes: 1 });
    assert_eq!(view.payload.unwrap().plain, plain);
}

#[test]
fn other_numbers_of_records_have_no_places() {
    let file = [head(7, 3, 1, &[(2, 0, 2, LEN)]), blocks(&[&zlib(&plain(1))])].concat();
    let saved = saved(&[("x0_y5_z0.region", &file)]);
    let save = saved.open();
    assert_eq!(seen(&findings(&save)), [(Code::PakRecordsOther, Some((8, 12)), None)]);
    let rows = check::rows(&save, save.files().next().unwrap(), &check::Options::default()).unwrap();
    assert_eq!((rows.len(), rows[0].position, rows[0].slot), (1, None, 2));
    assert_eq!(pak(&save, 0).grid, None);
}

#[test]
fn every_finding_is_where_it_should_be() {
    use Code::*;
    let file = layer();
    let cut = |len: usize| file[..len].to_vec();
    let of_33 = |offset, blocks, length| with(&file, RECORD, &record(offset, blocks, length));
    let i = |n: usize| i32::try_from(n).unwrap();
    let (whole, offset, count, length) = (Some((280, 288)), Some((280, 282)), Some((282, 284)), Some((284, 288)));
    let [a, b] = [STREAM_A, STREAM_B].map(|n| n as u64);
    let len = LEN as u64;
    let note = (PakOffsetReading, Some((12, 16)), None);
    let stream = |stream: &[u8]| with(&of_33(2, 2, i(stream.len())), STREAM_B, stream);
    let bomb = voxscope::pak::payload::encode(&vec![7; (16 << 20) + 1]);
    let bomb_len = bomb.len() as u64;
    let bombed = [of_33(2, 9, i(bomb.len()))[..STREAM_B].to_vec(), blocks(&[&bomb])].concat();
    let two = |one: Seen, other: Seen| vec![one, other];
    let cases: Vec<(&str, Vec<u8>, Vec<Seen>)> = vec![
        ("empty", cut(0), vec![(PakHeaderCut, None, None)]),
        ("header", cut(10), vec![(PakHeaderCut, Some((0, 10)), None)]),
        ("version", with(&file, 4, &[9]), vec![(PakVersion, Some((4, 8)), None)]),
        ("version", with(&file, 4, &[0xff; 4]), vec![(PakVersion, Some((4, 8)), None)]),
        ("count", with(&file, 8, &[0xff; 4]), vec![(PakRecordCount, Some((8, 12)), None)]),
        ("count", with(&file, 8, &[0, 0, 0, 0x7f]), vec![(PakRecordCount, Some((8, 12)), None)]),
        ("count", with(&file, 8, &[0; 4]), vec![(PakRecordCount, Some((8, 12)), None)]),
        (
            "records",
            cut(276),
            vec![(PakRecordsCut, Some((16, 276)), None), note, (PakBeyondEnd, Some((16, 24)), Some(A))],
        ),
        (
            "first",
            with(&file, 12, &(-3i32).to_le_bytes()),
            vec![
                (PakFirstBlock, Some((12, 16)), None),
                note,
                (PakInHeader, Some((16, 24)), Some(A)),
                (PakInHeader, whole, Some(B)),
            ],
        ),
        ("offset", of_33(-7, 2, i(LEN)), vec![(PakRecordOffset, offset, Some(B))]),
        ("blocks", of_33(2, 0, i(LEN)), vec![(PakRecordBlocks, count, Some(B))]),
        ("blocks", of_33(2, -2, i(LEN)), vec![(PakRecordBlocks, count, Some(B))]),
        ("length", of_33(2, 2, -5), vec![(PakFileLength, length, Some(B))]),
        ("length", of_33(2, 2, 0), vec![(PakFileLength, length, Some(B))]),
        ("length", of_33(2, 2, 8193), vec![(PakFileLength, length, Some(B))]),
        ("both", of_33(2, 0, 0), two((PakRecordBlocks, count, Some(B)), (PakFileLength, length, Some(B)))),
        (
            "in header",
            with(&file, 12, &[1]),
            vec![note, (PakInHeader, Some((16, 24)), Some(A)), (PakZlib, Some((4098, 4096 + len)), Some(A))],
        ),
        ("beyond", of_33(5000, 2, i(LEN)), vec![(PakBeyondEnd, whole, Some(B))]),
        ("cut", cut(24_000), two((PakBeyondEnd, whole, Some(B)), (PakZlibCut, Some((b, 24_000)), Some(B)))),
        ("overlap", of_33(0, 2, i(LEN)), [A, B].map(|at| (PakOverlap, Some((a, b)), Some(at))).to_vec()),
        ("overlap", with(&file, 18, &[3]), [A, B].map(|at| (PakOverlap, Some((b, b + 4096)), Some(at))).to_vec()),
        ("zlib", with(&file, STREAM_B, &[0x79]), vec![(PakZlib, Some((b + 2, b + len)), Some(B))]),
        ("zlib cut", of_33(2, 2, 4000), vec![(PakZlibCut, Some((b, b + 4000)), Some(B))]),
        ("trailing", of_33(2, 2, i(LEN) + 3), vec![(PakZlibTrailing, Some((b + len, b + len + 3)), Some(B))]),
        ("sum", with(&file, STREAM_B + LEN - 1, &[0]), vec![(PakZlibChecksum, Some((b + len - 4, b + len)), Some(B))]),
        ("data", with(&file, STREAM_B + 99, &[0]), vec![(PakZlibChecksum, Some((b + len - 4, b + len)), Some(B))]),
        ("shape", stream(&zlib(&plain(2)[..1000])), vec![(PakShape, Some((b, b + 1011)), Some(B))]),
        ("bomb", bombed, vec![(OverLimit, Some((b, b + bomb_len)), Some(B))]),
    ];
    // Chunks without an owner, which most of these leave, are looked at where they are repaired.
    let mut shown: Vec<Code> = vec![
        PakCopied,
        PakName,
        PakDuplicate,
        PakPlace,
        PakOrphan,
        PakUnlisted,
        PakCountLow,
        PakMisplaced,
        PakShifted,
        PakRecordsOther,
        PakSizesDiffer,
    ];
    for (what, bytes, expected) in cases {
        let saved = saved(&[(NAME, &bytes)]);
        let mut findings = findings(&saved.open());
        findings.retain(|finding| finding.code() != PakOrphan);
        assert_eq!(seen(&findings), expected, "{what}");
        assert!(findings.iter().all(|finding| &*finding.file == NAME), "{what}");
        shown.extend(findings.iter().map(Finding::code));
    }
    for code in Code::ALL.iter().filter(|code| code.name().starts_with("pak-")) {
        assert!(shown.contains(code), "{code}");
    }
}

#[test]
fn both_readings_fit() {
    // One block of data at 4096 bytes or at 4096 blocks: a sparse file that has both.
    let file = [head(7, 4, 4096, &[(1, 0, 2, LEN)]), blocks(&[&zlib(&plain(3))])].concat();
    let saved = saved(&[("x0_y0_z0.region", &file)]);
    let path = saved.root.join("x0_y0_z0.region");
    let records = (Code::PakRecordsOther, Some((8, 12)), None);
    assert_eq!(seen(&findings(&saved.open())), [(Code::PakOffsetReading, Some((12, 16)), None), records]);
    fs::File::options().write(true).open(&path).unwrap().set_len(4100 * 4096).unwrap();
    let save = saved.open();
    assert_eq!(pak(&save, 0).reading.alternatives, [Reading::Bytes]);
    let found = findings(&save);
    assert_eq!(found[0].code(), Code::PakOffsetReading);
    assert_eq!((found[1].code(), found[2].code()), (Code::PakRecordsOther, Code::PakZlib));
    let bytes = run(&["check", saved.path(), "--pak-offset", "bytes", "--format", "jsonl"]);
    assert_eq!((bytes.0, lines(&bytes.1).len()), (0, 1), "{}", bytes.1);
    assert_eq!(run(&["check", saved.path(), "--pak-offset", "blocks"]).0, 4);
}

#[test]
fn regions_whose_names_begin_with_a_room_are_a_room_of_their_own() {
    let file = layer();
    let saved = saved(&[
        ("x0_y0_z0.region", &file),
        ("cavex0_y0_z0.region", &file),
        ("cavex1_y0_z0.region", &file),
        ("cavex2_y0_z0.region", &[head(6, 4096, 9, &[(0, 0, 2, LEN)]), blocks(&[&zlib(&plain(1))])].concat()),
    ]);
    let save = saved.open();
    let rooms: Vec<(&str, usize)> = save.pak_dirs.iter().map(|dir| (&*dir.room, dir.files.len())).collect();
    assert_eq!(rooms, [("", 1), ("cave", 3)]);
    assert_eq!(save.pak_dirs[1].files[1].region, [1, 0, 0]);
    let found = findings(&save);
    assert_eq!(seen(&found), [(Code::PakSizesDiffer, Some((8, 12)), None)]);
    assert_eq!(&*found[0].file, "cavex2_y0_z0.region");
}

#[test]
fn names_of_files() {
    let file = layer();
    let saved = saved(&[
        ("x0_y0_z0.region", &file),
        ("x00_y0_z0.region", &file),
        ("x-0_y0_z0.region", &file),
        ("x1_y0_z0.region (copy)", &file),
        ("X5_Y0_Z0.REGION", &file),
        ("backup.region", &file),
        ("x0_y1_z0.region", &file),
        ("x2147483647_y0_z0.region", &file),
        ("x7_y0_z0.region", &file),
        ("notes.txt", b"nothing"),
    ]);
    let mut found: Vec<(String, Code)> =
        findings(&saved.open()).iter().map(|finding| (finding.file.to_string(), finding.code())).collect();
    found.sort();
    let expected = [
        ("X5_Y0_Z0.REGION", Code::PakName),
        ("backup.region", Code::PakName),
        ("x-0_y0_z0.region", Code::PakDuplicate),
        ("x00_y0_z0.region", Code::PakDuplicate),
        ("x0_y1_z0.region", Code::PakPlace),
        ("x1_y0_z0.region (copy)", Code::PakName),
        ("x2147483647_y0_z0.region", Code::PakPlace),
    ];
    assert_eq!(found, expected.map(|(name, code)| (name.to_owned(), code)));
    // One file, named as such.
    for name in ["x7_y0_z0.region", "X5_Y0_Z0.REGION", "x1_y0_z0.region (copy)"] {
        let save = Save::open(&saved.root.join(name), &Options::default()).unwrap();
        assert_eq!((save.pak_dirs.len(), save.pak_dirs[0].files.len(), save.forests.len()), (1, 1, 0), "{name}");
        assert_eq!(findings(&save).len(), usize::from(name != "x7_y0_z0.region"), "{name}");
    }
}
