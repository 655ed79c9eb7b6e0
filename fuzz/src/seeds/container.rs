use voxscope::godot::container::{Mode, encode};

use super::block::Plan;
use super::{Seeds, Set, cut, joined, noise, patched};
use crate::oracles::limits;

fn packed(mode: Mode, plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(mode, plain, &mut out);
    out
}

fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Plain => "mode0",
        Mode::Lz4BigEndian => "mode1",
        Mode::Lz4 => "mode2",
        Mode::Zstd => "mode3",
        Mode::Headerless => "headerless",
        Mode::Lz4WrongOrder => "mode1_wrong_order",
    }
}

/// `declared` in the size field of a container.
fn declaring(mode: Mode, container: &[u8], declared: u32) -> Vec<u8> {
    match mode {
        Mode::Lz4BigEndian => patched(container, 1, &declared.to_be_bytes()),
        Mode::Headerless => patched(container, 0, &declared.to_le_bytes()),
        _ => patched(container, 1, &declared.to_le_bytes()),
    }
}

pub(super) fn seeds() -> Seeds {
    let mut set = Set::default();
    let plan = Plan::new(4).with_metadata();
    let plain = plan.bytes();
    let (size, end) = (plain.len() as u32, plain.len() - 4);
    let mut big = Plan::new(4);
    big.size = [16; 3];
    let big = big.bytes();
    for mode in Mode::ALL {
        let healthy = packed(mode, &plain);
        let mut add = |what: &str, bytes: Vec<u8>| set.add(format!("{}_{what}", name(mode)), bytes);
        add("healthy", healthy.clone());
        add("version_1", packed(mode, &Plan::new(1).bytes()));
        add("wrong_epilogue", packed(mode, &patched(&plain, end, &[0; 4])));
        add("no_data", packed(mode, &[]));
        add("three_bytes", packed(mode, &[1, 2, 3]));
        add("noise", packed(mode, &noise(300)));
        add("cut", cut(&healthy, 9));
        add("cut_by_one", cut(&healthy, 1));
        add("trailing", joined(&healthy, &[0; 5]));
        if mode == Mode::Plain {
            continue;
        }
        add("long", packed(mode, &big));
        add("zeros", packed(mode, &vec![0; 100_000]));
        add("header_only", healthy[..if mode == Mode::Headerless { 4 } else { 5 }].to_vec());
        add("header_cut", healthy[..3].to_vec());
        add("declared_one_more", declaring(mode, &healthy, size + 1));
        add("declared_one_less", declaring(mode, &healthy, size - 1));
        add("declared_0", declaring(mode, &healthy, 0));
        add("declared_4gib", declaring(mode, &healthy, u32::MAX));
        add("declared_2gib", declaring(mode, &healthy, 1 << 31));
        // All of it true, and more than the caps of the oracles allow.
        let over = limits().block_bytes as usize + 1;
        add("over_limit", packed(mode, &vec![1; over]));
        add("just_the_limit", packed(mode, &vec![1; over - 1]));
        add("twice_what_is_declared", declaring(mode, &packed(mode, &vec![1; over]), (over / 2) as u32));
        add("flipped_in_the_middle", patched(&healthy, healthy.len() / 2, &[!healthy[healthy.len() / 2]]));
    }
    let wrong_order = packed(Mode::Lz4WrongOrder, &plain);
    set.add("mode1_wrong_order_whole", wrong_order.clone());
    set.add("mode1_wrong_order_cut", cut(&wrong_order, 9));
    headerless(&mut set);
    lz4(&mut set);
    zstd(&mut set);
    set.add("empty", []);
    for mode in [4, 0x0d, 0x80, 0xff] {
        set.add(format!("mode_{mode}_unknown"), patched(&packed(Mode::Lz4, &plain), 0, &[mode]));
    }
    for mode in 0..4 {
        set.add(format!("mode{mode}_one_byte"), [mode]);
    }
    set.0
}

/// Headerless containers whose first byte, part of the size, looks like a mode.
fn headerless(set: &mut Set) {
    for size in [256, 257, 258, 259, 512] {
        let mut plain = vec![3; size - 4];
        plain.extend([0x0d, 0xf0, 0x0d, 0x90]);
        let first = size % 256;
        set.add(format!("headerless_{size}_bytes_like_mode_{first}"), packed(Mode::Headerless, &plain));
        plain[size - 1] = 0;
        set.add(format!("headerless_{size}_bytes_no_epilogue"), packed(Mode::Headerless, &plain));
    }
}

fn lz4(set: &mut Set) {
    let mut add = |name: &str, declared: u32, block: &[u8]| {
        set.add(format!("mode2_{name}"), [&[2], declared.to_le_bytes().as_slice(), block].concat());
    };
    add("match_before_start", 30, &[0x10, 7, 9, 0, 0]);
    add("match_offset_zero", 30, &[0x10, 7, 0, 0, 0]);
    add("offset_cut", 30, &[0x10, 7, 1]);
    add("literals_cut", 30, &[0xf0, 200, 1, 2, 3]);
    add("length_never_ends", 30, &[0xff; 40]);
    add("ends_with_a_match", 5, &[0x10, 7, 1, 0]);
    add("many_small_matches", 5 * 60, &[0x10, 7, 1, 0].repeat(60));
    let mut bomb = vec![0x1f, 0, 1, 0];
    bomb.extend([255; 6000]);
    bomb.extend([0, 0]);
    add("bomb", 1_500_000, &bomb);
    add("bomb_declared_small", 1000, &bomb);
    add("bomb_declared_4gib", u32::MAX, &bomb);
}

/// Frames by hand: magic, descriptor, window or size, blocks.
fn zstd(set: &mut Set) {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let mut add = |name: &str, declared: u32, rest: &[u8]| {
        set.add(format!("mode3_{name}"), [&[3], declared.to_le_bytes().as_slice(), &MAGIC, rest].concat());
    };
    // A block's header: last, kind (0 raw, 1 run, 2 compressed, 3 reserved), size.
    let block = |last: u32, kind: u32, size: u32| {
        let [a, b, c, _] = (last | kind << 1 | size << 3).to_le_bytes();
        [a, b, c]
    };
    let raw = [block(1, 0, 4).as_slice(), &[0x0d, 0xf0, 0x0d, 0x90]].concat();
    let run = |last, size| [block(last, 1, size).as_slice(), &[7]].concat();
    add("single_segment_raw", 4, &joined(&[0x20, 4], &raw));
    add("window_raw", 4, &joined(&[0x00, 0x00], &raw));
    add("window_run", 1000, &joined(&[0x00, 0x58], &run(1, 1000)));
    add("runs_over_limit", 128 << 10, &joined(&[0x00, 0x58], &run(0, 128 << 10).repeat(40)));
    add("window_huge", 4, &joined(&[0x00, 0xff], &raw));
    add("content_size_huge", 4, &[&[0xe0], [0xff; 8].as_slice(), &raw].concat());
    add("content_size_lies", 4, &joined(&[0x20, 200], &raw));
    add("dictionary", 4, &joined(&[0x21, 9, 4], &raw));
    add("reserved_block", 4, &[&[0x20, 4], block(1, 3, 4).as_slice(), &[0; 4]].concat());
    add("raw_block_cut", 400, &[&[0x20, 250], block(1, 0, 250).as_slice(), &[0; 9]].concat());
    add("no_last_block", 1000, &joined(&[0x00, 0x58], &run(0, 1000)));
    add("second_block_faulty", 1000, &[&[0x00, 0x58], run(0, 900).as_slice(), &block(1, 2, 3), &[9; 3]].concat());
    add("empty_blocks", 4, &[&[0x00, 0x58], block(0, 0, 0).repeat(200).as_slice(), &raw].concat());
    add("two_frames", 4, &[&[0x20, 4], raw.as_slice(), &MAGIC, &[0x20, 4], &raw].concat());
    let plain = Plan::new(4).bytes();
    let healthy = packed(Mode::Zstd, &plain);
    let last = healthy.len() - 1;
    set.add("mode3_wrong_checksum", patched(&healthy, last, &[!healthy[last]]));
    set.add("mode3_wrong_magic", patched(&healthy, 5, &[0x27]));
    set.add(
        "mode3_skippable_frame",
        [&[3, 4, 0, 0, 0, 0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0], [0; 4].as_slice()].concat(),
    );
}
