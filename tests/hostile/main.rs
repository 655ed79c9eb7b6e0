//! Saves that are made to hurt: each is answered with a finding or an error, in less than 64 MiB.
//!
//! The program runs as it is, with a cap on its data that the system enforces, while its peak is read again and again;
//! a hang ends after a while as a failure. Elsewhere than on Linux nothing is measured, so nothing is run.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/deep.rs"]
mod deep;
mod files;
#[path = "../common/limited.rs"]
mod limited;
mod maps;
mod paks;
#[path = "../common/random.rs"]
#[allow(dead_code)]
mod random;
mod streams;
mod tables;
#[path = "../common/terrain.rs"]
#[allow(dead_code)]
mod terrain;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use limited::{Limits, Run};
use tempfile::{TempDir, tempdir};
use voxscope::demo::{ForestSpec, OwnedChannel};
use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::container::{self, Mode};
use voxscope::godot::region::{Builder, Entry, Format, Header};
use voxscope::godot::variant::{Dialect, Variant};

const BIN: &str = env!("CARGO_BIN_EXE_voxscope");

/// What the program may need, in KiB.
const MOST: u64 = 64 << 10;

/// What the system lets it have for heap and stacks, in KiB: the stacks of its threads count in full, used or not.
const HARD: u64 = 160 << 10;

fn run_capped(arguments: &[&OsStr]) -> Run {
    let limits = Limits { data: HARD, processor: None };
    limited::run(limited::command(BIN.as_ref(), arguments, limits))
}

/// Runs the program, which must end by itself, within its bounds, and without a character that a terminal acts on.
fn run(arguments: &[&OsStr]) -> Run {
    let run = run_capped(arguments);
    let what = format!("{arguments:?}: {:?}\n{}", run.status, head(&run.err));
    assert!(run.status.code().is_some_and(|code| code & !0b1100 == 0), "{what}");
    // Other commands hold what they print.
    let most = if arguments.first().is_some_and(|first| *first == OsStr::new("check")) { MOST } else { 2 * MOST };
    assert!(run.peak < most, "{} KiB: {what}", run.peak);
    plain(&run.out);
    plain(&run.err);
    println!("{:>6} KiB {:?} {arguments:?}", run.peak, run.status.code().unwrap());
    run
}

/// Repairs a save into a copy that is checked again. The report, with all that is left out, stands in memory.
fn repairs(path: &Path) {
    let to = path.with_extension("repaired");
    let run = run_capped(&["repair".as_ref(), path.as_ref(), "--out".as_ref(), to.as_ref()]);
    let what = format!("repair: {:?} {} KiB\n{}", run.status, run.peak, head(&run.err));
    assert!(run.status.code().is_some_and(|code| code & !0b1101 == 0) && run.peak < 2 * MOST, "{what}");
    assert!(to.join("repair.json").is_file(), "{what}");
    fs::remove_dir_all(to).unwrap();
}

fn head(text: &str) -> String {
    text.chars().take(600).collect()
}

fn plain(text: &str) {
    let bad = text.chars().find(|&c| c != '\n' && !voxscope::printable::is_plain(c));
    assert_eq!(bad, None, "{}", text.escape_debug().take(2000).collect::<String>());
}

/// Checks a path in both formats; says what was found, as JSON, and the exit code.
fn check(path: &Path) -> (Vec<serde_json::Value>, i32) {
    // Comparing a region's sectors with its table costs more memory; every decoder is run without it.
    let human = run(&["check".as_ref(), "--level=decode".as_ref(), path.as_ref()]);
    let json = run(&["check".as_ref(), "--level=decode".as_ref(), "--format=jsonl".as_ref(), path.as_ref()]);
    assert_eq!(human.status, json.status);
    assert!(!human.out.is_empty() || !human.err.is_empty());
    let lines = json.out.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    (lines, json.status.code().unwrap())
}

/// Checks a path that is a save: its findings have `code`, and the exit code is 4, 8 or 12.
fn finds(path: &Path, code: &str) {
    let (lines, exit) = check(path);
    assert!(exit != 0, "{code}: {exit}");
    assert!(lines.iter().any(|line| line["code"] == code), "{code}: {}", head(&format!("{lines:?}")));
}

/// Every command that reads a save, for what it prints and needs.
fn every_command(path: &Path) {
    for arguments in [
        &["info"][..],
        &["info", "--format=json"],
        &["check", "--level=decode", "--notes"],
        &["check", "--level=decode", "--format=jsonl"],
        &["ls"],
        &["ls", "--format=json"],
        &["ls", "--format=csv"],
        &["show", "--block=0,0,0"],
        &["show", "--block=0,0,0", "--format=json"],
        &["show", "--block=0,0,0", "--hex"],
        &["show", "--voxel=1,1,1"],
        &["show", "--voxel=1,1,1", "--format=json"],
    ] {
        let mut arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        arguments.insert(1, path.as_ref());
        run(&arguments);
    }
}

fn temp() -> (TempDir, PathBuf) {
    let dir = tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    (dir, path)
}

fn format(side: u16) -> Format {
    Format { block_size_po2: 4, region_size: [side; 3], depths: [Depth::Bits8; CHANNELS], sector_size: 512 }
}

/// Header and table of a region of `side` blocks along each axis, every entry being what `entry` says for its slot.
fn head_of(side: u16, entry: impl Fn(u32) -> Entry) -> Vec<u8> {
    let header = Header::new(3, format(side));
    let mut out = Vec::new();
    header.encode(&mut out).unwrap();
    out.extend((0..header.format.table_len()).flat_map(|slot| entry(slot).0.to_le_bytes()));
    out
}

/// A region file of one such container in each of its first `count` slots.
fn filled(format: Format, count: u32, container: &[u8]) -> Vec<u8> {
    let mut builder = Builder::new(Header::new(3, format));
    for slot in 0..count {
        builder.push(slot, container).expect("a slot");
    }
    builder.finish().unwrap()
}

/// A block whose metadata is `metadata`, in block 0 0 0 of a region file.
fn with_metadata(metadata: &[u8]) -> Vec<u8> {
    let mut plain = block();
    let epilogue = plain.split_off(plain.len() - 4);
    plain.extend(u32::try_from(metadata.len()).unwrap().to_le_bytes());
    plain.extend(metadata);
    plain.extend(epilogue);
    let mut packed = Vec::new();
    container::encode(Mode::Lz4, &plain, &mut packed);
    filled(format(2), 1, &packed)
}

/// The data of a uniform block of 16 x 16 x 16 voxels.
fn block() -> Vec<u8> {
    let mut block = ForestSpec::default().block(0, [0; 3]);
    block.channels = std::array::from_fn(|_| OwnedChannel::uniform(Depth::Bits8, 0));
    block.metadata = None;
    block.encode()
}

fn region_at(dir: &Path) -> PathBuf {
    let path = dir.join("r.0.0.0.vxr");
    assert!(!path.exists());
    path
}

fn file(data: &[u8]) -> (TempDir, PathBuf) {
    let (dir, path) = temp();
    let path = region_at(&path);
    fs::write(&path, data).unwrap();
    (dir, path)
}

#[test]
fn a_block_that_claims_4_gib() {
    let claims = |mode: u8, rest: &[u8]| [&[mode], &[0xff; 4][..], rest].concat();
    // A frame of Zstandard with a content size of 4 GiB less one.
    let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000][..], &[0xff; 4], &[0x01, 0, 0]].concat();
    for container in [claims(1, &[0; 40]), claims(2, &[0x1f, 0, 1, 0, 255, 255]), claims(3, &frame), claims(3, &[])] {
        let (_dir, path) = file(&filled(format(2), 8, &container));
        let (lines, exit) = check(&path);
        let errors = lines.iter().filter(|line| line["level"] == "error").count();
        assert!(exit == 4 && errors >= 8, "{lines:?}");
        every_command(&path);
    }
    // The size before the block.
    let mut data = filled(format(2), 1, &claims(2, &[0; 40]));
    let at = data.len() - 512;
    data[at..at + 4].fill(0xff);
    let (_dir, path) = file(&data);
    finds(&path, "block-prefix");
    every_command(&path);
}

#[test]
fn a_table_of_255_cubed_over_a_short_file() {
    let mut data = head_of(2, |_| Entry::default());
    data[6..9].fill(255);
    let (_dir, path) = file(&data);
    finds(&path, "region-table-cut");
    every_command(&path);
}

#[test]
fn a_whole_table_of_255_cubed() {
    // Every entry in use; and none, in a file without anything on disk.
    let (_dir, path) = file(&head_of(255, |slot| Entry::new(slot, 1)));
    finds(&path, "over-limit");
    every_command(&path);
    // A quarter of a million blocks of zeros, as many as a table may have, all of them in the file, one after the other and with gaps.
    for step in [1, 2] {
        let (_dir, path) = file(&head_of(64, |slot| Entry::new(slot * step, 1)));
        let len = fs::metadata(&path).unwrap().len() + 512 * 262_144 * u64::from(step);
        File::options().write(true).open(&path).unwrap().set_len(len).unwrap();
        finds(&path, if step == 1 { "block-zeroed" } else { "table-gap" });
        every_command(&path);
    }
    let mut data = head_of(2, |_| Entry::default());
    data[6..9].fill(255);
    let (_dir, path) = file(&data);
    File::options().write(true).open(&path).unwrap().set_len(20 + 4 * 255 * 255 * 255 + (1 << 20)).unwrap();
    let (_, exit) = check(&path);
    assert_eq!(exit, 4, "an empty region with a stale tail has nothing to check");
    every_command(&path);
}

#[test]
fn a_sparse_file_of_4_gib() {
    let (_dir, path) = file(&head_of(2, |_| Entry::default()));
    File::options().write(true).open(&path).unwrap().set_len(4 << 30).unwrap();
    let (lines, exit) = check(&path);
    assert_eq!((exit, &lines[0]["code"]), (4, &"stale-tail".into()), "there is nothing to check");
    let (_dir, path) = file(b"");
    File::options().write(true).open(&path).unwrap().set_len(4 << 30).unwrap();
    finds(&path, "region-not-region");
    every_command(&path);
}

/// Old bytes that look like the beginnings of blocks at every sector, and blocks among them.
#[test]
fn a_stale_tail_of_200_mb() {
    let mut container = Vec::new();
    container::encode(Mode::Lz4, &block(), &mut container);
    let (_dir, path) = file(&filled(format(2), 1, &container));
    let end = fs::metadata(&path).unwrap().len();
    let mut file = File::options().write(true).open(&path).unwrap();
    file.set_len(end + (200 << 20)).unwrap();
    // 20 MB of sectors that each promise four megabytes in 100,000 bytes, of which only the first run on.
    let mut sector = vec![0; 512];
    sector[..4].copy_from_slice(&100_000u32.to_le_bytes());
    sector[4] = 2;
    sector[5..9].copy_from_slice(&4_000_000u32.to_le_bytes());
    sector[9..].fill(255);
    file.seek(SeekFrom::Start(end + (1 << 20))).unwrap();
    for _ in 0..100 {
        file.write_all(&sector.repeat(400)).unwrap();
    }
    let mut whole = u32::try_from(container.len()).unwrap().to_le_bytes().to_vec();
    whole.extend(&container[..container.len() - 1]);
    whole.resize(512, 0);
    file.write_all(&whole.repeat(1000)).unwrap();
    let (lines, _) = check(&path);
    assert!(lines.iter().any(|line| line["code"] == "stale-tail"), "{}", head(&format!("{lines:?}")));
    every_command(&path);
}

#[test]
fn variants_nested_100_000_deep() {
    for (kind, count) in [(28u32, 1u32), (27, 1)] {
        let mut body = vec![32];
        for _ in 0..100_000 {
            body.extend(kind.to_le_bytes());
            body.extend(count.to_le_bytes());
        }
        let (_dir, path) = file(&with_metadata(&body));
        finds(&path, "variant-depth");
        every_command(&path);
    }
}

#[test]
fn metadata_of_a_great_many_values() {
    // Arrays that claim four thousand million values, and 900,000 that are there.
    let claim = [&[32][..], &28u32.to_le_bytes(), &u32::MAX.to_le_bytes()].concat();
    let (_dir, path) = file(&with_metadata(&claim));
    finds(&path, "variant-cut");
    let mut many = [&[32][..], &28u32.to_le_bytes(), &900_000u32.to_le_bytes()].concat();
    many.resize(many.len() + 4 * 900_000, 0);
    let (_dir, path) = file(&with_metadata(&many));
    finds(&path, "over-limit");
    every_command(&path);
}

#[test]
fn bombs_in_every_block() {
    // Zeros: four megabytes in 16 KB with LZ4, in a few hundred bytes with Zstandard.
    let zeros = vec![0; 4 << 20];
    for (mode, side) in [(Mode::Lz4, 6u16), (Mode::Zstd, 6), (Mode::Lz4BigEndian, 6)] {
        let mut container = Vec::new();
        container::encode(mode, &zeros, &mut container);
        let slots = u32::from(side).pow(3);
        let (_dir, path) = file(&filled(format(side), slots, &container));
        let (lines, exit) = check(&path);
        assert_eq!(exit, 4);
        assert!(lines.iter().filter(|line| line["level"] == "error").count() >= slots as usize);
        run(&["ls".as_ref(), path.as_ref()]);
        run(&["show".as_ref(), path.as_ref(), "--block=0,0,0".as_ref()]);
    }
    // Blocks whose size nobody knows may be larger.
    let zeros = vec![0; 16 << 20];
    for mode in [Mode::Lz4, Mode::Zstd] {
        let mut container = Vec::new();
        container::encode(mode, &zeros, &mut container);
        for po2 in [8, 0] {
            let (_dir, path) =
                file(&filled(Format { block_size_po2: po2, sector_size: 8192, ..format(3) }, 27, &container));
            let (lines, exit) = check(&path);
            assert_eq!(exit, 4);
            assert!(lines.iter().filter(|line| line["level"] == "error").count() >= 27);
            run(&["show".as_ref(), path.as_ref(), "--block=0,0,0".as_ref()]);
        }
    }
}

#[test]
fn a_million_findings() {
    let (_dir, path) = temp();
    // 10,648 entries beyond the end of the file, a hundred times.
    let data = head_of(22, |slot| Entry::new(slot + 5000, 1));
    for i in 0..100 {
        fs::write(path.join(format!("r.{i}.0.0.vxr")), &data).unwrap();
    }
    let (lines, exit) = check(&path);
    assert_eq!(exit, 4);
    // The last lines are the cause and the summary.
    assert_eq!(lines.len(), 100 * 10_001 + 2);
    let summary = lines.last().unwrap();
    assert_eq!(summary["errors"], 100 * 10_648);
    run(&["info".as_ref(), path.as_ref()]);
    run(&["ls".as_ref(), path.as_ref(), "--format=csv".as_ref()]);
}

/// A baseline of some 60 MiB, nearly the most that is read.
#[test]
fn a_baseline_of_a_great_many_findings() {
    let ((_dir, region), (_other, other)) = (file(&[]), temp());
    let (save, known) = (region.parent().unwrap(), other.join("known.jsonl"));
    let mut lines = std::io::BufWriter::new(File::create(&known).unwrap());
    for n in 0..440_000 {
        let file = format!(r#""file":"regions/lod0/r.{n}.0.0.vxr","lod":0,"block":[{n},0,0],"field":"size prefix""#);
        writeln!(lines, r#"{{"type":"finding","code":"block-size","level":"error",{file}}}"#).unwrap();
    }
    drop(lines);
    assert!((58 << 20..64 << 20).contains(&fs::metadata(&known).unwrap().len()));
    let check: [&OsStr; 4] = ["check".as_ref(), "--baseline".as_ref(), known.as_ref(), save.as_ref()];
    assert!(!run(&check).err.contains("baseline"));
    // A line without an end is no finding.
    fs::write(&known, vec![b' '; 60 << 20]).unwrap();
    let refused = run_capped(&check);
    assert!(refused.status.code() == Some(16) && refused.peak < MOST, "{:?} {} KiB", refused.status, refused.peak);
}

#[test]
fn three_thousand_empty_files() {
    let (_dir, path) = temp();
    for i in 0..3000 {
        fs::write(path.join(format!("r.{i}.0.0.vxr")), b"").unwrap();
    }
    let (lines, exit) = check(&path);
    // A finding of each, their cause, and the summary.
    assert_eq!((exit, lines.len()), (4, 3002));
    run(&["info".as_ref(), path.as_ref()]);
    run(&["ls".as_ref(), path.as_ref()]);
}

#[test]
fn directories_very_deep() {
    let (_dir, root) = temp();
    let deep = root.join("d/".repeat(1500));
    fs::create_dir_all(&deep).unwrap();
    let error = run(&["check".as_ref(), root.as_ref()]);
    assert_eq!(error.status.code(), Some(8));
    assert!(error.err.contains("no save here"), "{}", error.err);
    fs::write(root.join("r.0.0.0.vxr"), b"").unwrap();
    finds(&root, "region-empty");
}

#[test]
fn a_meta_file_of_brackets() {
    let values = [&b"{\"a\":["[..], &b"[0],".repeat((1 << 18) - 10), b"0]}"].concat();
    for (code, text) in [
        ("meta-unreadable", vec![b'['; 1 << 20]),
        ("meta-unreadable", b"{\"version\":".repeat(90_000)),
        ("over-limit", vec![b'['; (1 << 20) + 1]),
        ("over-limit", values),
    ] {
        let (_dir, path) = temp();
        fs::create_dir(path.join("regions")).unwrap();
        fs::write(path.join("meta.vxrm"), &text).unwrap();
        finds(&path, code);
        every_command(&path);
    }
}

#[test]
fn things_that_are_no_files() {
    let (_dir, path) = temp();
    let lod = path.join("regions/lod0");
    fs::create_dir_all(lod.join("r.0.0.0.vxr")).unwrap();
    fs::write(path.join("meta.vxrm"), b"{}").unwrap();
    let fifo = lod.join("r.1.0.0.vxr");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    symlink(lod.join("r.2.0.0.vxr"), lod.join("r.2.0.0.vxr")).unwrap();
    symlink("/dev/zero", lod.join("r.3.0.0.vxr")).unwrap();
    symlink(&path, path.join("regions/lod1")).unwrap();
    let (lines, _) = check(&path);
    let code = |name: &str| {
        let name = format!("regions/{name}");
        lines.iter().find(|line| line["file"] == name).map(|line| line["code"].as_str().unwrap().to_owned())
    };
    assert_eq!(code("lod0/r.0.0.0.vxr").as_deref(), Some("not-a-file"));
    assert_eq!(code("lod0/r.1.0.0.vxr").as_deref(), Some("not-a-file"));
    assert_eq!(code("lod0/r.2.0.0.vxr").as_deref(), Some("link-skipped"));
    assert_eq!(code("lod0/r.3.0.0.vxr").as_deref(), Some("link-skipped"));
    assert_eq!(code("lod1").as_deref(), Some("link-skipped"));
    every_command(&path);
    // Named themselves. A device and a pipe are no files; a loop leads nowhere; a directory of that name is empty.
    for path in [fifo, lod.join("r.2.0.0.vxr"), lod.join("r.3.0.0.vxr"), lod.join("r.0.0.0.vxr"), "/dev/zero".into()] {
        let run = run(&["check".as_ref(), path.as_ref()]);
        assert_eq!(run.status.code(), Some(8), "{path:?}");
        assert!(run.err.contains(path.file_name().unwrap().to_str().unwrap()), "{path:?}: {}", run.err);
    }
}

/// A meta file that is a pipe, and loops where directories should be.
#[test]
fn a_forest_of_pipes_and_loops() {
    let (_dir, path) = temp();
    assert!(Command::new("mkfifo").arg(path.join("meta.vxrm")).status().unwrap().success());
    symlink("regions", path.join("regions")).unwrap();
    finds(&path, "not-a-file");
    finds(&path, "link-skipped");
    every_command(&path);
    let meta = path.join("meta.vxrm");
    let (_, exit) = check(&meta);
    assert_ne!(exit, 0);
}

#[test]
fn a_file_that_cannot_be_opened() {
    let (_dir, path) = temp();
    let loose = path.join("loose");
    fs::create_dir(&loose).unwrap();
    for name in ["r.0.0.0.vxr", "r.10.0.0.vxr"] {
        fs::write(loose.join(name), head_of(2, |_| Entry::default())).unwrap();
    }
    let deep = deep::sink(&loose, &path, "r.0.0.0.vxr");
    let checked = run(&["check".as_ref(), "--format=jsonl".as_ref(), deep.as_ref()]);
    assert_eq!(checked.status.code(), Some(8), "{}{}", checked.out, checked.err);
    assert!(checked.out.contains("file-unreadable") && checked.out.contains("r.10.0.0.vxr"), "{}", checked.out);
    assert!(checked.peak < MOST);
    let checked = run(&["check".as_ref(), deep.join("r.10.0.0.vxr").as_ref()]);
    assert_eq!(checked.status.code(), Some(8));
    assert!(checked.err.contains("r.10.0.0.vxr") && checked.err.contains("too long"), "{}", checked.err);
    let listed = run(&["ls".as_ref(), deep.as_ref()]);
    assert!(!listed.err.contains("panicked"), "{}", listed.err);
}

/// What a terminal acts on: a colour, a title, C1 controls, line breaks, text that runs backwards.
const EVIL: &str = "\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}2J\u{85}\r\n\t\u{8}\u{7f}\u{202e}\u{200b}";

#[test]
fn names_that_move_the_cursor() {
    let (_dir, path) = temp();
    let save = path.join(format!("save{EVIL}"));
    let lod = save.join("regions/lod0");
    fs::create_dir_all(&lod).unwrap();
    let mut container = Vec::new();
    container::encode(Mode::Lz4, &block(), &mut container);
    let data = filled(format(2), 3, &container);
    fs::write(lod.join("r.0.0.0.vxr"), &data).unwrap();
    fs::write(lod.join(format!("r.{EVIL}.vxr")), &data).unwrap();
    fs::write(lod.join(OsStr::from_bytes(b"r.\xff\x1b[2J\xc2.vxr")), &data).unwrap();
    fs::write(save.join("regions").join(format!("lod{EVIL}")), b"").unwrap();
    fs::write(save.join("meta.vxrm"), format!("{{{}:1}}", serde_json::to_string(EVIL).unwrap())).unwrap();
    every_command(&save);
    finds(&save, "name-region");
    let evil = lod.join(format!("r.{EVIL}.vxr"));
    every_command(&evil);
    every_command(&lod);
    // What does not exist or is wrong is repeated in messages.
    let name: OsString = path.join(format!("none{EVIL}")).into();
    for arguments in [
        &["check".as_ref(), name.as_ref()][..],
        &["show".as_ref(), name.as_ref(), "--block=0,0,0".as_ref()],
        &[name.as_ref()],
        &["demo".as_ref(), "--write".as_ref(), save.as_ref()],
    ] {
        assert_eq!(run(arguments).status.code(), Some(8));
    }
    for arguments in [&["explain", EVIL][..], &["ls", ".", EVIL], &[EVIL, EVIL], &["check", &format!("--{EVIL}")]] {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let run = run_capped(&arguments);
        assert_eq!(run.status.code(), Some(16), "{arguments:?} {}", run.err);
        plain(&run.out);
        plain(&run.err);
    }
}

#[test]
fn metadata_that_moves_the_cursor() {
    let dictionary = Variant::dictionary(vec![
        (Variant::string(EVIL), Variant::string_name(EVIL)),
        (Variant::node_path(true, &[EVIL], &[EVIL]), Variant::object(EVIL, vec![])),
        (Variant::packed_strings(&[EVIL]), Variant::signal(EVIL, 1)),
        (Variant::int(1), Variant::packed_bytes(EVIL.as_bytes().to_vec())),
    ]);
    let mut body = Vec::new();
    let mut one = vec![32];
    dictionary.encode(Dialect::Godot4, &mut one);
    body.extend(&one);
    body.extend([1, 0, 1, 0, 1, 0]);
    body.extend(&one);
    let (_dir, path) = file(&with_metadata(&body));
    every_command(&path);
    let shown = run(&["show".as_ref(), path.as_ref(), "--block=0,0,0".as_ref(), "--format=json".as_ref()]);
    assert!(shown.out.contains("\\u202e"), "{}", shown.out);
}
