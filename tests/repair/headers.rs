//! Headers of region files with a wrong region size or sector size. Their tables, their blocks, the meta file and the other
//! files show the right one, and the copy has every block where the copy of the undamaged save has it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use voxscope::damage::Code;
use voxscope::godot::forest::Meta;
use voxscope::godot::region::Format;
use voxscope::save::{Options, Save};

use crate::common::truth::{Signature, placed};
use crate::common::{copy_dir, golden, sampled};
use crate::{count, mend, tree};

/// Healthy and killed saves of one region file and of several, with the region size and the sector size that they have.
const SAVES: [(&str, u16, u16); 5] = [
    ("godot_voxel/forest_rewritten", 16, 512),
    ("crash_random/r3/world", 16, 512),
    ("crash_noise/mixed_1/world", 16, 512),
    ("crash_terrain/t1/world", 16, 512),
    ("crash_sizes/bs16_rs8_s256_self_2/world", 8, 256),
];

/// Where the header of version 3 has the region size and the sector size.
const SIZE: usize = 6;
const SECTOR: usize = 17;

fn region_files(world: &Path) -> impl Iterator<Item = PathBuf> {
    let world = world.to_owned();
    let files = tree(&world, false).into_keys().map(move |name| world.join(name));
    files.filter(|path| path.extension().is_some_and(|ending| ending == "vxr"))
}

/// Puts bytes into the header of each region file.
fn put(world: &Path, at: usize, bytes: &[u8]) {
    for path in region_files(world) {
        let mut file = fs::read(&path).unwrap();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        fs::write(&path, file).unwrap();
    }
}

type Placed = HashMap<(u8, [i32; 3]), Signature>;

/// Where the copy of the undamaged save has which block.
fn right(save: &str) -> Placed {
    let dir = tempfile::tempdir().unwrap();
    let (world, copy) = (golden(save), dir.path().join("copy"));
    mend(&world, &copy, false);
    placed(if copy.exists() { &copy } else { &world })
}

/// `in_meta` is what the meta file has as well; otherwise it is right in one save and missing in another one.
fn is_put_right(save: &str, right: &Placed, at: usize, bytes: &[u8], in_meta: Option<Format>) {
    let what = format!("{save}: {bytes:?} at byte {at}");
    let dir = tempfile::tempdir().unwrap();
    let [damaged, copy, alone] = ["damaged", "copy", "alone"].map(|name| dir.path().join(name));
    copy_dir(golden(save), &damaged);
    put(&damaged, at, bytes);
    assert!(count(&damaged, Code::RegionLayout) > 0, "{what}");
    let path = damaged.join("meta.vxrm");
    let meta = fs::read(&path).unwrap();
    if let Some(format) = in_meta {
        let mut meta = Meta::decode(&meta).value.unwrap();
        meta.sector_size = Some(format.sector_size);
        meta.region_size_po2 = Some(format.region_size[0].trailing_zeros() as u8);
        fs::write(&path, meta.encode()).unwrap();
    } else {
        mend(&damaged, &copy, false);
        assert_eq!(&placed(&copy), right, "{what}");
        assert_eq!(fs::read(copy.join("meta.vxrm")).unwrap(), meta, "{what}");
        fs::remove_file(path).unwrap();
    }
    mend(&damaged, &alone, false);
    assert_eq!(&placed(&alone), right, "{what}, in the meta file: {in_meta:?}");
}

fn format(save: &str) -> Format {
    Save::open(&golden(save), &Options::default()).unwrap().forests[0].format.unwrap()
}

#[test]
fn a_wrong_region_size_is_put_right() {
    for (save, size, _) in sampled(SAVES, 2) {
        let right = right(save);
        let (own, half) = (size as u8, size as u8 / 2);
        for wrong in sampled([[2, 2, 2], [own + 1, own, own]], 2) {
            is_put_right(save, &right, SIZE, &wrong, None);
        }
        let format = Format { region_size: [half.into(); 3], ..format(save) };
        is_put_right(save, &right, SIZE, &[half; 3], Some(format));
    }
}

/// Under no region size does the table of a killed game fit the sectors, but its blocks begin right behind the table.
#[test]
fn a_wrong_region_size_of_a_killed_game_is_put_right() {
    for (save, wrong) in [
        ("crash_random/r3/world", [2, 2, 2]),
        ("crash_random/r3/world", [16, 16, 8]),
        ("crash_noise/mixed_1/world", [32; 3]),
    ] {
        is_put_right(save, &right(save), SIZE, &wrong, None);
    }
}

#[test]
fn a_wrong_sector_size_is_put_right() {
    for (save, _, sector) in sampled(SAVES, 2) {
        let right = right(save);
        for wrong in sampled([sector * 2, sector ^ 8], 2) {
            is_put_right(save, &right, SECTOR, &wrong.to_le_bytes(), None);
        }
        let half = sector / 2;
        let format = Format { sector_size: half.into(), ..format(save) };
        is_put_right(save, &right, SECTOR, &half.to_le_bytes(), Some(format));
    }
}

/// One file alone differs, and its few entries fit both sizes.
#[test]
fn a_file_of_few_blocks_gets_the_sizes_of_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let [damaged, copy] = ["damaged", "copy"].map(|name| dir.path().join(name));
    let world = golden("godot_voxel/forest_lz4");
    copy_dir(&world, &damaged);
    fs::remove_file(damaged.join("meta.vxrm")).unwrap();
    let path = region_files(&damaged).min_by_key(|path| fs::metadata(path).unwrap().len()).unwrap();
    let mut file = fs::read(&path).unwrap();
    file[SECTOR..SECTOR + 2].copy_from_slice(&1024u16.to_le_bytes());
    fs::write(&path, file).unwrap();
    mend(&damaged, &copy, false);
    assert_eq!(placed(&copy), placed(&world));
    assert_eq!(fs::read(copy.join("meta.vxrm")).unwrap(), fs::read(world.join("meta.vxrm")).unwrap());
}

/// The files of two worlds are in one directory, and a killed game left a table that does not fit its blocks.
#[test]
fn sizes_of_another_world_are_not_taken() {
    let dir = tempfile::tempdir().unwrap();
    let world = dir.path().join("world");
    copy_dir(golden("crash_sizes/bs16_rs8_s256_self_2/world"), &world);
    fs::remove_file(world.join("meta.vxrm")).unwrap();
    let killed = dir.path().join("killed");
    copy_dir(golden("crash_random/r3/world"), &killed);
    fs::copy(killed.join("regions/lod0/r.0.0.0.vxr"), world.join("regions/lod0/r.9.9.9.vxr")).unwrap();
    assert_eq!(count(&world, Code::RegionLayout), 0);
}
