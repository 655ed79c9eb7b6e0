use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::container::{Mode, encode};
use voxscope::godot::region::{Builder, Entry, Format, Header, PALETTE_BYTES};

use super::block::Plan;
use super::{Seeds, Set, cut, joined, noise, patched};
use crate::oracles::region::OUTSIDE;

fn format() -> Format {
    let mut depths = [Depth::Bits8; CHANNELS];
    depths[1] = Depth::Bits16;
    Format { block_size_po2: 1, region_size: [2; 3], depths, sector_size: 32 }
}

fn container(mode: Mode, plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(mode, plain, &mut out);
    out
}

fn block(version: u8) -> Vec<u8> {
    container(Mode::Lz4, &Plan::new(version).bytes())
}

fn file(header: Header, blocks: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut builder = Builder::new(header);
    for (slot, container) in blocks {
        assert!(builder.push(*slot, container).is_some(), "slot {slot} cannot be written");
    }
    builder.finish().unwrap()
}

fn v3(blocks: &[(u32, Vec<u8>)]) -> Vec<u8> {
    file(Header::new(3, format()), blocks)
}

/// Where the table begins, and where the sectors do.
const TABLE: usize = 20;
const SECTORS: usize = 20 + 8 * 4;

/// A file with another entry in a slot.
fn entry(file: &[u8], slot: usize, first: u32, count: u8) -> Vec<u8> {
    patched(file, TABLE + slot * 4, &Entry::new(first, count).0.to_le_bytes())
}

pub(super) fn seeds() -> Seeds {
    let mut set = Set::default();
    let three = [(0, block(4)), (5, container(Mode::Lz4, &Plan::new(4).with_metadata().bytes())), (7, block(4))];
    let healthy = v3(&three);
    let used: Vec<Entry> = [0, 5, 7]
        .map(|slot| TABLE + slot * 4)
        .map(|at| Entry(u32::from_le_bytes([healthy[at], healthy[at + 1], healthy[at + 2], healthy[at + 3]])))
        .into();
    set.add("healthy", healthy.clone());
    set.add("empty_table", v3(&[]));
    set.add("one_block_healthy", v3(&three[..1]));
    set.add("full_healthy", v3(&(0..8).map(|slot| (slot, block(4))).collect::<Vec<_>>()));
    set.add("blocks_in_another_order_healthy", v3(&[(7, block(4)), (0, block(4)), (3, block(4))]));
    for version in 1..=4 {
        set.add(format!("blocks_of_version_{version}"), v3(&[(0, block(version)), (6, block(version))]));
    }
    for mode in Mode::ALL {
        let containers = [(1, container(mode, &Plan::new(4).bytes())), (2, container(mode, &Plan::new(1).bytes()))];
        set.add(format!("containers_{}_healthy", mode.name().replace('-', "_")), v3(&containers));
    }
    set.add("block_versions_mixed", v3(&[(0, block(4)), (1, block(2))]));
    layouts(&mut set, &three);
    headers(&mut set, &healthy);
    tables(&mut set, &healthy, &used);
    sectors(&mut set, &healthy, &used);
    set.0
}

fn layouts(set: &mut Set, three: &[(u32, Vec<u8>)]) {
    let mut add = |name: &str, format: Format, blocks: &[(u32, Vec<u8>)]| {
        set.add(format!("layout_{name}"), file(Header::new(3, format), blocks));
    };
    add("sectors_of_1_byte", Format { sector_size: 1, ..format() }, three);
    add("sectors_of_512_bytes", Format { sector_size: 512, ..format() }, three);
    add("region_1_2_3", Format { region_size: [1, 2, 3], ..format() }, &three[..2]);
    add("region_8_8_8", Format { region_size: [8; 3], ..format() }, &[(511, block(4)), (0, block(4))]);
    add("region_255_1_1", Format { region_size: [255, 1, 1], ..format() }, &[(254, block(4))]);
    // With its size in front the block fills a sector to the last byte, or is one byte too long for it.
    let filled = block(4).len() as u32 + 4;
    add("sector_filled_healthy", Format { sector_size: filled, ..format() }, three);
    add("one_byte_over_healthy", Format { sector_size: filled - 1, ..format() }, three);
    let mut big = Plan::new(4);
    big.size = [16; 3];
    let big = [(0, container(Mode::Lz4, &big.bytes()))];
    add("blocks_of_16", Format { block_size_po2: 4, sector_size: 512, ..format() }, &big);
    let mut palette = Header::new(3, format());
    palette.palette = Some(noise(PALETTE_BYTES as usize).into());
    set.add("palette", file(palette.clone(), three));
    set.add("palette_cut", cut(&file(palette, &[]), 40));
    for version in [1, 2] {
        let blocks = |v| [(0, block(v)), (3, block(v))];
        let old = file(Header::new(version, OUTSIDE), &blocks(version));
        let mut plan = Plan::new(version);
        plan.depths = OUTSIDE.depths;
        let fitting = [(5, container(Mode::Headerless, &plan.bytes())), (1, container(Mode::Lz4, &plan.bytes()))];
        set.add(format!("version_{version}_healthy"), file(Header::new(version, OUTSIDE), &fitting));
        set.add(format!("version_{version}_empty_healthy"), file(Header::new(version, OUTSIDE), &[]));
        set.add(format!("version_{version}_noise"), joined(&old[..5], &noise(400)));
        set.add(format!("version_{version}_other_depths"), old.clone());
        set.add(format!("version_{version}_cut"), cut(&old, 50));
        set.add(format!("version_{version}_table_cut"), old[..20].to_vec());
        set.add(format!("version_{version}_blocks_of_version_4"), file(Header::new(version, OUTSIDE), &blocks(4)));
    }
}

fn headers(set: &mut Set, healthy: &[u8]) {
    let mut add = |name: &str, bytes: Vec<u8>| set.add(format!("header_{name}"), bytes);
    add("no_bytes", vec![]);
    add("magic_only", healthy[..4].to_vec());
    add("five_bytes", healthy[..5].to_vec());
    add("cut", healthy[..19].to_vec());
    add("and_nothing_else", healthy[..20].to_vec());
    add("zeros", vec![0; 300]);
    add("wrong_magic", patched(healthy, 0, b"VXR-"));
    add("digit_in_the_magic", patched(healthy, 3, b"7"));
    add("of_a_rig", b"VXR9\x04\0\0\0walk\x01\0\0\0body.vxm\0".to_vec());
    add("of_a_rig_of_version_1", b"VXR6\x01\0\0\0walk\x01\0\0\0body.vxm\0".to_vec());
    add("version_0", patched(healthy, 4, &[0]));
    add("version_4", patched(healthy, 4, &[4]));
    add("block_size_0", patched(healthy, 5, &[0]));
    add("block_size_9", patched(healthy, 5, &[9]));
    add("block_size_8", patched(healthy, 5, &[8]));
    add("region_size_0", patched(healthy, 6, &[0]));
    add("region_size_255", patched(healthy, 6, &[255; 3]));
    add("depth_4", patched(healthy, 9, &[4]));
    add("depths_255", patched(healthy, 9, &[255; 8]));
    add("other_depths", patched(healthy, 9, &[3; 8]));
    add("sector_size_0", patched(healthy, 17, &[0, 0]));
    add("sector_size_65535", patched(healthy, 17, &[0xff, 0xff]));
    add("sector_size_31", patched(healthy, 17, &[31, 0]));
    add("palette_byte_1", patched(healthy, 19, &[1]));
    add("palette_not_there", patched(healthy, 19, &[0xff]));
}

fn tables(set: &mut Set, healthy: &[u8], used: &[Entry]) {
    let mut add = |name: &str, bytes: Vec<u8>| set.add(format!("table_{name}"), bytes);
    let (first, last) = (used[0], used[2]);
    add("cut", healthy[..SECTORS - 9].to_vec());
    add("cut_in_an_entry", healthy[..SECTORS - 2].to_vec());
    add("all_zero", patched(healthy, TABLE, &[0; 32]));
    add("all_ones", patched(healthy, TABLE, &[0xff; 32]));
    add("noise", patched(healthy, TABLE, &noise(32)));
    add("entry_beyond_end", entry(healthy, 3, 5000, 2));
    add("entry_far_beyond_end", entry(healthy, 3, 0xff_ffff, 255));
    add("entry_at_the_end", entry(healthy, 3, last.end(), 1));
    add("entry_half_beyond_end", entry(healthy, 7, last.first(), 200));
    add("count_0", entry(healthy, 0, 3, 0));
    add("count_too_large", entry(&entry(healthy, 5, 0, 0), 0, 0, first.count() + 1));
    add("count_too_small", entry(healthy, 0, 0, first.count() - 1));
    add("same_sectors_twice", entry(healthy, 3, 0, first.count()));
    add("same_sectors_eight_times", patched(healthy, TABLE, &first_entry(first).repeat(8)));
    add("overlap_by_one", entry(healthy, 3, first.end() - 1, first.count()));
    add("inside_another", entry(healthy, 3, 1, 1));
    add("gap", entry(healthy, 5, 0, 0));
    add("gap_at_the_start", entry(healthy, 0, 0, 0));
    add("stale_tail", entry(healthy, 7, 0, 0));
    add("swapped", entry(&entry(healthy, 0, last.first(), last.count()), 7, first.first(), first.count()));
    let shifted = entry(&entry(healthy, 5, used[1].first() - 1, used[1].count()), 7, last.first() - 1, last.count());
    add("old_under_moved_sectors", shifted);
}

fn first_entry(first: Entry) -> [u8; 4] {
    // Sector 0 with a count: never zero, so every slot is in use.
    first.0.to_le_bytes()
}

fn sectors(set: &mut Set, healthy: &[u8], used: &[Entry]) {
    let mut add = |name: &str, bytes: Vec<u8>| set.add(format!("sector_{name}"), bytes);
    let at = |i: usize| SECTORS + used[i].first() as usize * 32;
    add("last_cut", cut(healthy, 20));
    add("last_block_cut", cut(healthy, 40));
    add("last_block_gone", healthy[..at(2)].to_vec());
    add("prefix_cut", healthy[..at(2) + 2].to_vec());
    add("all_gone", healthy[..SECTORS].to_vec());
    add("prefix_0", patched(healthy, at(0), &[0; 4]));
    add("prefix_4gib", patched(healthy, at(0), &[0xff; 4]));
    add("prefix_beyond_the_sectors", patched(healthy, at(0), &[0xc8, 0, 0, 0]));
    add("prefix_one_more", patched(healthy, at(1), &[healthy[at(1)] + 1]));
    add("prefix_one_less", patched(healthy, at(1), &[healthy[at(1)] - 1]));
    add("prefix_small", patched(healthy, at(1), &[1]));
    add("zeroed", patched(healthy, at(1), &vec![0; at(2) - at(1)]));
    add("noise", patched(healthy, at(1), &noise(at(2) - at(1))));
    add("mode_unknown", patched(healthy, at(1) + 4, &[9]));
    add("declared_4gib", patched(healthy, at(1) + 5, &[0xff; 4]));
    add("declared_0", patched(healthy, at(1) + 5, &[0; 4]));
    add("padding_not_zero", patched(healthy, at(2) - 1, &[0xee]));
    add("stale_bytes_after", joined(healthy, &noise(100)));
    add("whole_block_after", joined(healthy, &healthy[at(0)..at(1)]));

    let damaged = |plain: Vec<u8>| v3(&[(0, block(4)), (1, container(Mode::Lz4, &plain)), (2, block(4))]);
    let plain = Plan::new(4).with_metadata().bytes();
    let mut block = |name: &str, plain: Vec<u8>| set.add(format!("block_{name}"), damaged(plain));
    block("wrong_epilogue", patched(&plain, plain.len() - 4, &[0; 4]));
    block("channel_cut", plain[..20].to_vec());
    block("metadata_cut", cut(&plain, 20));
    block("version_9", patched(&plain, 0, &[9]));
    block("another_size", patched(&plain, 1, &[1, 0]));
    block("empty", vec![]);
    block("metadata_lies", patched(&plain, Plan::new(4).bytes().len() - 4, &[0xff; 4]));
    let mut other = Plan::new(4);
    other.depths = [Depth::Bits32; CHANNELS];
    block("other_depths", other.bytes());
    other.size = [4, 4, 4];
    block("larger", other.bytes());
    // Many entries share one block that is as large as the caps of the oracles allow.
    let large = container(Mode::Zstd, &vec![0; 200_000]);
    let format = Format { region_size: [8; 3], sector_size: 512, ..format() };
    let bomb = file(Header::new(3, format), &[(0, large)]);
    let one = bomb[TABLE..TABLE + 4].to_vec();
    set.add("block_bomb_in_every_slot", patched(&bomb, TABLE, &one.repeat(512)));
}
