//! Every command gives the values of a save that a big-endian machine wrote.

use std::fs;

use serde_json::Value as Json;
use tempfile::tempdir;
use voxscope::godot::byte_order::ByteOrder;

use crate::common::big_endian::region_with_quiet;
use crate::{joined, lines, output, run};

/// Voxels of blocks that show no byte order: position, channel, raw value.
const VOXELS: [(&str, &str, u64); 3] =
    // Slots 8, 10 and 13 in a region of 4 x 4 x 4 blocks, in the order ZXY; the voxel (0, 5, 0) is number 5 of its block.
    [("32,5,0", "TYPE", 15), ("32,37,0", "COLOR", 0x0102_0309), ("48,21,0", "DATA5", (5 << 40) | 77)];

/// The raw value of a channel in what `show` says of a voxel.
fn value(voxel: &Json, channel: &str) -> Option<u64> {
    let all = voxel["channels"].as_array()?;
    all.iter().find(|own| own["name"] == channel)?["value"].as_u64()
}

#[test]
fn values_of_blocks_that_show_no_order_are_right_in_every_command() {
    let dir = tempdir().unwrap();
    let to = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let [little, big] = [("little", ByteOrder::Little), ("big", ByteOrder::Big)].map(|(name, order)| {
        let path = to(name);
        fs::create_dir(&path).unwrap();
        fs::write(dir.path().join(name).join("r.0.0.0.vxr"), region_with_quiet(order)).unwrap();
        path
    });
    for save in [&little, &big] {
        for (position, channel, expected) in VOXELS {
            let shown = run(&["show", save, "--voxel", position, "--format=jsonl"]);
            assert_eq!(value(&lines(&shown.out)[0], channel), Some(expected), "{save} {position}: {}", shown.out);
        }
    }
    // Arrays and pictures are the same, byte by byte.
    let export = |save: &str, of: &str| {
        let out = to(&format!("{}-{of}", if save == big { "big" } else { "little" }));
        let done = run(&["export", save, "--out", &out]);
        assert!(done.code.is_some_and(|code| code != 2), "{}", done.err);
        let mut files: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|ending| ending == "npy"));
        files.sort();
        let read = |path: &std::path::PathBuf| (path.file_name().unwrap().to_owned(), fs::read(path).unwrap());
        files.iter().map(read).collect::<Vec<_>>()
    };
    let arrays = export(&big, "arrays");
    assert_eq!(arrays.len(), 7);
    assert_eq!(arrays, export(&little, "arrays"));
    let slice = |save: &str, name: &str| {
        run(&["export", save, "--slice", "y=5", "--channel=TYPE", "--out", &to(name)]);
        fs::read(to(name)).unwrap()
    };
    assert_eq!(slice(&big, "big.png"), slice(&little, "little.png"));
    // Equal to its twin, and so is what is made of it.
    output(&["diff", &little, &big]);
    for (command, name, code) in [("convert", "converted", 0), ("repair", "repaired", 1)] {
        let done = run(&[command, &big, "--out", &to(name)]);
        assert_eq!(done.code, Some(code), "{command}: {}", done.err);
        output(&["diff", &little, &to(name)]);
        assert!(run(&["check", &to(name)]).code == Some(0), "{command}");
    }
    let checked = run(&["check", &big]);
    let counted = "7 blocks of this file show no byte order and are read as big-endian because of other blocks.";
    assert!(joined(&checked.out).contains(counted), "{}", checked.out);
    assert_eq!(run(&["check", &little]).code, Some(0));
}
