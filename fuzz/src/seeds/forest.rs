use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::forest::Meta;

use super::{Seeds, Set, cut};

pub(super) fn seeds() -> Seeds {
    let mut set = Set::default();
    let healthy = |version| Meta {
        version: Some(version),
        block_size_po2: Some(4),
        region_size_po2: Some(4),
        sector_size: Some(512),
        depths: Some([Depth::Bits16; CHANNELS]),
        lod_count: None,
        extra: Vec::new(),
    };
    for version in 1..=3 {
        set.add(format!("v{version}_healthy"), healthy(version).encode());
        set.add(format!("v{version}_lods"), Meta { lod_count: Some(8), ..healthy(version) }.encode());
        set.add(format!("v{version}_no_depths"), Meta { depths: None, ..healthy(version) }.encode());
    }
    let text = String::from_utf8(Meta { lod_count: Some(8), ..healthy(3) }.encode()).unwrap_or_default();
    let mut with = |name: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{name}: no {from} in the meta file");
        set.add(name, text.replacen(from, to, 1));
    };
    with("numbers_as_floats", ": 4", ": 4.0");
    with("number_with_exponent", ": 4", ": 0.4e1");
    with("number_as_string", ": 4", ": \"4\"");
    with("number_negative", ": 4", ": -4");
    with("number_halves", ": 4", ": 4.5");
    with("number_huge", ": 512", ": 1e308");
    with("number_beyond_64_bits", ": 512", ": 99999999999999999999");
    with("number_null", ": 512", ": null");
    with("sector_size_0", ": 512", ": 0");
    with("sector_size_65535", ": 512", ": 65535");
    with("sector_size_65536", ": 512", ": 65536");
    with("sector_size_65537", ": 512", ": 65537");
    with("sector_size_missing", "\t\"sector_size\": 512,\n", "");
    with("block_size_0", "\"block_size_po2\": 4", "\"block_size_po2\": 0");
    with("block_size_8", "\"block_size_po2\": 4", "\"block_size_po2\": 8");
    with("block_size_9", "\"block_size_po2\": 4", "\"block_size_po2\": 9");
    with("block_size_missing", "\"block_size_po2\": 4,", "");
    with("region_size_0", "\"region_size_po2\": 4", "\"region_size_po2\": 0");
    with("region_size_7", "\"region_size_po2\": 4", "\"region_size_po2\": 7");
    with("region_size_8", "\"region_size_po2\": 4", "\"region_size_po2\": 8");
    with("region_size_255", "\"region_size_po2\": 4", "\"region_size_po2\": 255");
    with("lod_count_0", "\"lod_count\": 8", "\"lod_count\": 0");
    with("lod_count_24", "\"lod_count\": 8", "\"lod_count\": 24");
    with("lod_count_25", "\"lod_count\": 8", "\"lod_count\": 25");
    with("version_0", "\"version\": 3", "\"version\": 0");
    with("version_4", "\"version\": 3", "\"version\": 4");
    with("version_256", "\"version\": 3", "\"version\": 256");
    with("version_missing", ",\n\t\"version\": 3", "");
    with("version_twice", "\"version\": 3", "\"version\": 1, \"version\": 3");
    with("depth_code_4", "\t\t1,\n", "\t\t4,\n");
    with("depth_a_string", "\t\t1,\n", "\t\t\"1\",\n");
    with("depths_seven", "\t\t1,\n", "");
    with("depths_nine", "\t\t1,\n", "\t\t1,\n\t\t1,\n");
    with("depths_not_a_list", "[", "{\"a\": [");
    with("extra_field", "\"version\"", "\"mods\": {\"a\": [1, 2]}, \"version\"");
    with("extra_field_hostile_name", "\"version\"", "\"\\u001b[2J\\u202e\": 0, \"version\"");
    with("comment", "{", "{ // why");
    with("comma_at_the_end", "\"version\": 3", "\"version\": 3,");
    with("byte_order_mark", "{", "\u{feff}{");
    with("spaces", "{", " \r\n\t{");
    set.add("cut", cut(text.as_bytes(), 20));
    set.add("cut_by_one", cut(text.as_bytes(), 1));
    set.add("twice", text.repeat(2));
    set.add("trailing_zeros", [text.as_bytes(), &[0; 16]].concat());
    set.add("not_utf8", text.replace("version", "versi\u{f6}n").chars().map(|c| c as u8).collect::<Vec<u8>>());
    set.add("empty", []);
    set.add("zeros", [0; 64]);
    set.add("empty_object", "{}");
    set.add("a_list", "[]");
    set.add("a_number", "3");
    set.add("open_brace", "{");
    set.add("nested_deep", "[".repeat(4000));
    set.add("nested_deep_inside", format!("{{\"version\": {}", "[".repeat(120) + &"]".repeat(120) + "}"));
    set.0
}
