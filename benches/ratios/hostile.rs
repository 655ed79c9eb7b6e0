//! What the commands need on saves that are made to hurt: a few bytes that stand for much, or very many of something.

use std::fs;
use std::path::Path;
use std::process::Command;

use voxscope::demo::{ForestSpec, OwnedChannel};
use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::container::{self, Mode};
use voxscope::godot::region::{Builder, Entry, Format, Header};

use super::memory_of_any;

/// What `check` may have in memory, in MiB.
const CHECK: f64 = 64.0;

/// What other commands may have in memory, in MiB.
const OTHER: f64 = 256.0;

/// A name, and what writes the save into a directory.
type Hostile = (&'static str, fn(&Path));

pub fn measure() {
    println!();
    let saves: &[Hostile] = &[
        ("one sector for 64^3 entries", one_sector),
        ("262,144 equal blocks", |dir| blocks(dir, |_| 0)),
        ("262,144 different blocks", |dir| blocks(dir, |n| n)),
        ("small items of metadata", items),
        ("map_data.json of 4 MiB", description),
        ("100,000 region files", regions),
        #[cfg(feature = "sqlite")]
        ("4,100,000 empty rows", |dir| rows(dir, 4_100_000, "INTEGER")),
        #[cfg(feature = "sqlite")]
        ("1,000,000 text keys", |dir| rows(dir, 1_000_000, "TEXT")),
        #[cfg(feature = "sqlite")]
        ("1,500 tables", tables),
    ];
    for (name, make) in saves {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let save = dir.path().join("save");
        fs::create_dir(&save).unwrap();
        make(&save);
        let to = |name: &str| dir.path().join(name).into_os_string();
        let path = save.as_os_str();
        for (what, arguments, most) in [
            ("check", vec!["check".into(), path.to_owned()], CHECK),
            ("info", vec!["info".into(), path.to_owned()], OTHER),
            ("ls", vec!["ls".into(), path.to_owned(), "--format=csv".into()], OTHER),
            ("show", vec!["show".into(), path.to_owned(), "--block=0,0,0".into()], OTHER),
            ("repair", vec!["repair".into(), path.to_owned(), "--out".into(), to("copy")], OTHER),
            ("convert", vec!["convert".into(), path.to_owned(), "--out".into(), to("forest")], OTHER),
            ("export", vec!["export".into(), path.to_owned(), "--out".into(), to("arrays")], OTHER),
            (
                "export --table",
                vec!["export".into(), path.to_owned(), "--table".into(), "--out".into(), to("t.csv")],
                OTHER,
            ),
            ("export --map", vec!["export".into(), path.to_owned(), "--map".into(), to("map.png")], OTHER),
            ("diff", vec!["diff".into(), path.to_owned(), path.to_owned()], OTHER),
        ] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_voxscope"));
            memory_of_any(command.args(arguments), &format!("{what}, {name}"), most);
        }
    }
}

fn write(dir: &Path, format: Format, region: &[u8]) {
    let meta = voxscope::godot::forest::Meta {
        version: Some(3),
        block_size_po2: Some(format.block_size_po2),
        region_size_po2: Some(u8::try_from(format.region_size[0].trailing_zeros()).unwrap()),
        sector_size: Some(format.sector_size),
        depths: Some(format.depths),
        ..Default::default()
    };
    fs::create_dir_all(dir.join("regions/lod0")).unwrap();
    fs::write(dir.join("meta.vxrm"), meta.encode()).unwrap();
    fs::write(dir.join("regions/lod0/r.0.0.0.vxr"), region).unwrap();
}

fn format(side: u16, sector_size: u32) -> Format {
    Format { block_size_po2: 4, region_size: [side; 3], depths: [Depth::Bits8; CHANNELS], sector_size }
}

/// A block of 16 x 16 x 16 voxels without values, and `metadata` behind them.
fn block(value: u32, metadata: &[u8]) -> Vec<u8> {
    let mut block = ForestSpec::default().block(0, [0; 3]);
    block.channels =
        std::array::from_fn(|n| OwnedChannel::uniform(Depth::Bits8, u64::from(value >> (8 * n.min(3)) & 255)));
    block.metadata = None;
    let mut plain = block.encode();
    if !metadata.is_empty() {
        let epilogue = plain.split_off(plain.len() - 4);
        plain.extend(u32::try_from(metadata.len()).unwrap().to_le_bytes());
        plain.extend(metadata);
        plain.extend(epilogue);
    }
    let mut packed = Vec::new();
    container::encode(Mode::Lz4, &plain, &mut packed);
    packed
}

fn one_sector(dir: &Path) {
    let header = Header::new(3, format(64, 512));
    let mut region = Vec::new();
    header.encode(&mut region).unwrap();
    region.extend([Entry::new(0, 1).0.to_le_bytes(); 64 * 64 * 64].concat());
    let packed = block(0, &[]);
    region.extend(u32::try_from(packed.len()).unwrap().to_le_bytes());
    region.extend(&packed);
    region.resize(region.len().next_multiple_of(512) + 512, 0);
    write(dir, header.format, &region);
}

/// Blocks in every slot of a region of 64 x 64 x 64, by their number.
fn blocks(dir: &Path, value: fn(u32) -> u32) {
    let format = format(64, 64);
    let mut builder = Builder::new(Header::new(3, format));
    for slot in 0..64 * 64 * 64 {
        builder.push(slot, &block(value(slot).wrapping_mul(0x9e37_79b9), &[])).unwrap();
    }
    write(dir, format, &builder.finish().unwrap());
}

/// Blocks of as many items of metadata as there may be, each of the fewest bytes.
fn items(dir: &Path) {
    let format = format(4, 512);
    let mut builder = Builder::new(Header::new(3, format));
    let items: Vec<u8> = [&[0][..], &[0, 0, 0, 0, 0, 0, 0].repeat((1 << 17) - 2)].concat();
    for slot in 0..16 {
        builder.push(slot, &block(slot, &items)).unwrap();
    }
    write(dir, format, &builder.finish().unwrap());
}

fn description(dir: &Path) {
    let lists = "[0],".repeat((1 << 20) - 100);
    fs::write(dir.join("map_data.json"), format!("{{\"mapID\": 1, \"more\": [{lists}0], \"locals\": []}}")).unwrap();
}

/// Region files with one block each.
fn regions(dir: &Path) {
    let format = format(2, 512);
    let mut builder = Builder::new(Header::new(3, format));
    builder.push(0, &block(0, &[])).unwrap();
    let region = builder.finish().unwrap();
    write(dir, format, &region);
    for n in 1..100_000 {
        let (x, y, z) = (n % 50, n / 50 % 50, n / 2_500);
        fs::write(dir.join(format!("regions/lod0/r.{x}.{y}.{z}.vxr")), &region).unwrap();
    }
}

#[cfg(feature = "sqlite")]
fn database(dir: &Path, key: &str, format: u8) -> rusqlite::Connection {
    let db = rusqlite::Connection::open(dir.join("world.sqlite")).unwrap();
    db.execute_batch(&format!(
        "PRAGMA synchronous = off; BEGIN;
         CREATE TABLE meta (version INTEGER, block_size_po2 INTEGER, coordinate_format INTEGER);
         CREATE TABLE blocks (loc {key} PRIMARY KEY, vb BLOB, instances BLOB);
         CREATE TABLE channels (idx INTEGER PRIMARY KEY, depth INTEGER);
         INSERT INTO meta VALUES (1, 4, {format});"
    ))
    .unwrap();
    db
}

/// Rows without a value.
#[cfg(feature = "sqlite")]
fn rows(dir: &Path, count: u32, key: &str) {
    let db = database(dir, key, if key == "TEXT" { 2 } else { 0 });
    let key = if key == "TEXT" { "(n % 100) || ',' || (n / 100 % 100) || ',' || (n / 10000) || ',0'" } else { "n" };
    db.execute_batch(&format!(
        "WITH RECURSIVE a(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM a WHERE n + 1 < {count})
         INSERT INTO blocks SELECT {key}, NULL, NULL FROM a; COMMIT;"
    ))
    .unwrap();
}

/// Tables of 600 columns that are not of a stream.
#[cfg(feature = "sqlite")]
fn tables(dir: &Path) {
    let db = database(dir, "INTEGER", 0);
    let columns: Vec<String> = (0..600).map(|n| format!("c{n}")).collect();
    for n in 0..1500 {
        db.execute_batch(&format!("CREATE TABLE t{n} ({});", columns.join(","))).unwrap();
    }
    db.execute_batch("COMMIT").unwrap();
}
