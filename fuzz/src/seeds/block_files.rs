use voxscope::godot::container::{Mode, encode};

use super::block::Plan;
use super::{Seeds, Set, cut, joined, patched};
use crate::oracles::block_files::Files;

/// The meta file of 2022 for blocks of 2 voxels along an axis, and with the depths of [`Plan`].
const META: &[u8] = b"VXBM\x01\x02\x01\x00\x01\x00\x00\x00\x00\x00\x00";
const PATH: &[u8] = b"blocks/lod0/+0-1+12.vxb";

fn packed(mode: Mode, version: u8) -> Vec<u8> {
    let mut out = Vec::new();
    encode(mode, &Plan::new(version).with_metadata().bytes(), &mut out);
    out
}

/// The file of a block around a container.
fn around(container: &[u8]) -> Vec<u8> {
    [b"VXB_\x01", (container.len() as u32).to_le_bytes().as_slice(), container].concat()
}

/// A save of one file.
fn save(meta: &[u8], path: &[u8], file: &[u8]) -> Vec<u8> {
    Files { meta: Some(meta.to_vec()), blocks: vec![(path.to_vec(), file.to_vec())] }.join()
}

pub(super) fn seeds() -> Seeds {
    let mut set = Set::default();
    let file = around(&packed(Mode::Lz4, 4));
    for version in 1..=4 {
        for mode in Mode::ALL {
            let healthy = save(META, PATH, &around(&packed(mode, version)));
            set.add(format!("v{version}_{}_healthy", mode.name().replace('-', "_")), healthy);
        }
    }
    let healthy = save(META, PATH, &file);
    let two = Files::parse(&healthy).blocks;
    let two = Files { meta: Some(META.to_vec()), blocks: [two.clone(), two].concat() }.join();
    set.add("two_files_healthy", two.clone());
    set.add("two_files_cut", cut(&two, 30));
    metas(&mut set, &file);
    files(&mut set, &file);
    for (name, path) in [
        ("zeros_before_the_number", b"blocks/lod0/+00-1+12.vxb".as_slice()),
        ("no_sign", b"blocks/lod0/0-1+12.vxb"),
        ("two_numbers", b"blocks/lod0/+0-1.vxb"),
        ("lowest", b"blocks/lod0/-2147483648-2147483648-2147483648.vxb"),
        ("beyond_32_bits", b"blocks/lod0/+2147483648+0+0.vxb"),
        ("path_outside", b"../../+0+0+0.vxb"),
        ("path_empty", b""),
    ] {
        set.add(format!("name_{name}"), save(META, path, &file));
    }
    set.add("empty", []);
    set.add("meta_alone", Files { meta: Some(META.to_vec()), blocks: Vec::new() }.join());
    set.add("meta_missing", Files { meta: None, ..Files::parse(&healthy) }.join());
    set.add("cut", cut(&healthy, 9));
    set.0
}

/// Meta files before a healthy block.
fn metas(set: &mut Set, file: &[u8]) {
    let bits8 = around(&packed(Mode::Headerless, 1));
    let mut old = Plan::new(1);
    old.depths[1] = old.depths[0];
    let mut container = Vec::new();
    encode(Mode::Headerless, &old.bytes(), &mut container);
    set.add("form_2020_healthy", save(b"VXBM\x01\x01\x01", PATH, &around(&container)));
    let sizes: &[u8] = b"VXBM\x01\x01\x02\0\0\0\x02\0\0\0\x02\0\0\0";
    set.add("form_2019_healthy", save(sizes, PATH, &around(&container)));
    set.add("form_2019_other_depths", save(sizes, PATH, &bits8));
    let mut add = |name: &str, meta: &[u8]| set.add(format!("meta_{name}"), save(meta, PATH, file));
    add("form_2019_no_cube", &patched(sizes, 10, &[4]));
    add("form_2019_no_power_of_two", &[&sizes[..6], [3, 0, 0, 0].repeat(3).as_slice()].concat());
    add("magic", &patched(META, 3, b"X"));
    add("version_2", &patched(META, 4, &[2]));
    for count in [0, 1, 32, 33, 255] {
        add(&format!("lods_{count}"), &patched(META, 5, &[count]));
    }
    for po2 in [0, 8, 9, 255] {
        add(&format!("block_size_{po2}"), &patched(META, 6, &[po2]));
    }
    add("depth_4", &patched(META, 14, &[4]));
    add("no_bytes", &[]);
    add("magic_alone", &META[..4]);
    add("header_alone", &META[..6]);
    add("depths_cut", &META[..12]);
    add("trailing", &joined(META, &[0; 5]));
}

/// Files of blocks behind a healthy meta file.
fn files(set: &mut Set, file: &[u8]) {
    let size = file.len() as u32 - 9;
    let mut add = |name: &str, file: &[u8]| set.add(format!("block_{name}"), save(META, PATH, file));
    add("no_bytes", &[]);
    add("magic_alone", &file[..4]);
    add("header_alone", &file[..9]);
    add("size_cut", &file[..8]);
    add("magic", &patched(file, 3, b"R"));
    add("version_2", &patched(file, 4, &[2]));
    add("size_one_more", &patched(file, 5, &(size + 1).to_le_bytes()));
    add("size_one_less", &patched(file, 5, &(size - 1).to_le_bytes()));
    add("size_zero", &patched(file, 5, &[0; 4]));
    add("size_4gib", &patched(file, 5, &[0xff; 4]));
    add("cut", &cut(file, 9));
    add("cut_by_one", &cut(file, 1));
    add("trailing", &joined(file, &[0; 64]));
    add("zeros", &joined(&file[..5], &[0; 60]));
    add("container_mode", &patched(file, 9, &[9]));
    let mut wrong_order = Vec::new();
    encode(Mode::Lz4WrongOrder, &Plan::new(4).bytes(), &mut wrong_order);
    add("mode1_wrong_order", &around(&wrong_order));
    add("container_of_no_bytes", &around(&[]));
}
