//! Voxel maps.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::{MOST, every_command, finds, repairs, run_capped, temp};

const MAP: &str = "map_data.json";

/// A map of one layer whose format and files are given.
fn description(format: &str, blocks: u64, dim: [u64; 3]) -> String {
    format!(
        r#"{{"mapID":1,"timestamp":"","global":{{"name":"G","type":"Global","format":"{format}","blockSize":16,
        "dataFile":"d.npy","indexFile":"i.npy","depthFile":"z.npy","blockCount":{blocks},
        "origin":[0,0,0],"step":[1,1,1],"dim":{dim:?}}},"locals":[]}}"#
    )
}

fn map(description: &str, files: &[(&str, &[u8])]) -> (TempDir, PathBuf) {
    let (dir, path) = temp();
    fs::write(path.join(MAP), description).unwrap();
    for (name, data) in files {
        fs::write(path.join(name), data).unwrap();
    }
    (dir, path)
}

/// An array file of version 2 whose header says this, and `data` behind it.
fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let len = u32::try_from(header.len()).unwrap();
    [b"\x93NUMPY\x02\x00", &len.to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn says(descr: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n")
}

fn sparse(path: &Path, len: u64) {
    File::options().write(true).open(path).unwrap().set_len(len).unwrap();
}

/// A layer of one block, whose cells are as many as the description says.
fn layer_of_one_block(dim: [u64; 3]) -> (TempDir, PathBuf) {
    let cells: Vec<u8> = [1u64; 4096].iter().flat_map(|cell| cell.to_le_bytes()).collect();
    let data = npy(&says("<i8", "(1, 16, 16, 16)"), &cells);
    let index = npy(&says("<i4", "(1, 3)"), &[0; 12]);
    map(&description("block_sparse", 1, dim), &[("d.npy", &data), ("i.npy", &index)])
}

/// An export of a layer is refused if it is larger than anybody may want, and takes no memory for a layer as a whole.
#[test]
fn layers_of_many_cells() {
    let export = |path: &Path| {
        let to = path.with_extension("out");
        let done = run_capped(&["export".as_ref(), path.as_ref(), "--layer=0".as_ref(), "--out".as_ref(), to.as_ref()]);
        assert!(done.peak < MOST, "{} KiB", done.peak);
        (done, to)
    };
    for dim in [[2_000_000_000, 12, 28], [1 << 20, 100, 100]] {
        let (_dir, path) = layer_of_one_block(dim);
        let (refused, to) = export(&path);
        assert!(refused.status.code() == Some(16) && !to.exists(), "{}", refused.err);
        assert!(refused.err.contains("give --yes"), "{}", refused.err);
    }
    let (_dir, path) = layer_of_one_block([20, 1_400, 1_400]);
    let (done, to) = export(&path);
    assert!(done.err.is_empty() || done.status.code() == Some(4), "{}", done.err);
    let array = fs::read(to.join("FLAGS.npy")).unwrap();
    let data = &array[array.len() - 20 * 1_400 * 1_400 * 8..];
    let set: Vec<usize> =
        data.chunks(8).enumerate().filter(|(_, cell)| cell.iter().any(|byte| *byte != 0)).map(|(at, _)| at).collect();
    let at = |x: usize, y: usize, z: usize| (x * 1_400 + y) * 1_400 + z;
    let all = (0..16).flat_map(|x| (0..16).flat_map(move |y| (0..16).map(move |z| at(x, y, z))));
    assert!(set.into_iter().eq(all));
}

#[test]
fn headers_that_lie() {
    let huge = [1 << 20; 3];
    let nested = "[".repeat(60);
    let mut long = npy("{", &[]);
    long[8..12].fill(0xff);
    for (code, data) in [
        ("npy-header", npy(&nested, &[])),
        ("npy-header", npy(&"[".repeat(9_990), &[])),
        ("npy-header", long),
        ("npy-shape", npy(&says("<i8", "(4294967296, 4294967296, 4294967296)"), &[])),
        ("npy-truncated", npy(&says("<i8", "(65536, 65536, 64)"), &[0; 64])),
    ] {
        for format in ["dense", "block_sparse"] {
            let (_dir, path) = map(&description(format, 1 << 40, huge), &[("d.npy", &data), ("i.npy", &data)]);
            finds(&path, code);
            every_command(&path);
            repairs(&path);
        }
    }
}

#[test]
fn arrays_that_are_there_and_empty() {
    // Two million blocks of zeros, which take no room on the disk, and depths for a million columns.
    let blocks = 1u64 << 21;
    let index = npy(&says("<i4", &format!("({blocks}, 3)")), &[]);
    let data = npy(&says("<i8", &format!("({}, 16, 16, 16)", 1 << 12)), &[]);
    let depth = npy(&says("<f4", "(1024, 1024)"), &[]);
    let files = [("d.npy", &data[..]), ("i.npy", &index), ("z.npy", &depth)];
    let (_dir, path) = map(&description("block_sparse", blocks, [1024, 16, 1024]), &files);
    sparse(&path.join("i.npy"), index.len() as u64 + blocks * 12);
    sparse(&path.join("d.npy"), data.len() as u64 + (32 << 10 << 12));
    sparse(&path.join("z.npy"), depth.len() as u64 + (4 << 20));
    finds(&path, "map-index-twice");
    let checked = Command::new(super::BIN).arg("info").arg(&path).output().unwrap();
    assert!(checked.status.success());
}

#[test]
fn descriptions_that_never_end() {
    let many = format!("{{\"mapID\":1,\"locals\":[{}{{}}]}}", "{},".repeat(60_000));
    for (code, text) in [
        ("map-unreadable", "[".repeat(1 << 20)),
        ("map-unreadable", "{\"global\":".repeat(100_000)),
        ("over-limit", format!("{{\"mapID\":{}}}", "1".repeat(5 << 20))),
        ("map-field", many),
        ("over-limit", format!("{{\"mapID\":1,\"a\":[{}0]}}", "[0],".repeat((1 << 20) - 100))),
        ("over-limit", format!("{{\"locals\":[{}0]}}", "{\"a\":0},".repeat((1 << 19) - 100))),
    ] {
        let (_dir, path) = map(&text, &[]);
        finds(&path, code);
        every_command(&path);
        repairs(&path);
    }
}

#[test]
fn files_that_are_no_files() {
    let text = description("dense", 0, [4, 4, 4]);
    let (_dir, path) = map(&text, &[]);
    assert!(Command::new("mkfifo").arg(path.join("d.npy")).status().unwrap().success());
    finds(&path, "not-a-file");
    every_command(&path);
    let (_dir, path) = map(&text.replace("d.npy", "../d.npy"), &[]);
    finds(&path, "map-file-name");
    every_command(&path);
    let (_dir, path) = map("", &[]);
    fs::remove_file(path.join(MAP)).unwrap();
    assert!(Command::new("mkfifo").arg(path.join(MAP)).status().unwrap().success());
    finds(&path, "not-a-file");
}
