//! Meta files as the engine wrote them over the years, and as it never did.

use super::*;
use crate::damage::{Level, Space};

/// What the engine of today writes.
const TODAY: &str = "{\n\t\"block_size_po2\": 4,\n\t\"channel_depths\": [\n\t\t0,\n\t\t1,\n\t\t2,\n\t\t3,\n\t\t0,\n\t\t0,\n\t\t0,\n\t\t0\n\t],\n\t\"region_size_po2\": 5,\n\t\"sector_size\": 512,\n\t\"version\": 3\n}";

const DEPTHS: [Depth; CHANNELS] =
    [Depth::Bits8, Depth::Bits16, Depth::Bits32, Depth::Bits64, Depth::Bits8, Depth::Bits8, Depth::Bits8, Depth::Bits8];

fn read(data: &[u8]) -> (Option<Meta>, Vec<Damage>) {
    let mut damage = Vec::new();
    let meta = Meta::decode(data).report_to(&mut damage);
    for d in &damage {
        assert_eq!(d.space, Space::File);
        assert!(Span::sized(0, len64(data)).contains(&d.span), "{d:?}");
    }
    (meta, damage)
}

fn healthy(text: &str) -> Meta {
    let (meta, damage) = read(text.as_bytes());
    assert_eq!(damage, [], "{text}");
    meta.unwrap()
}

/// The meta file and what is wrong with its fields; the span of each is the whole file.
fn fields(text: &str) -> (Meta, Vec<(Code, &'static str)>) {
    let (meta, damage) = read(text.as_bytes());
    assert!(damage.iter().all(|d| d.span == Span::sized(0, len64(text.as_bytes()))), "{damage:?}");
    (meta.unwrap(), damage.iter().map(|d| (d.code, d.field)).collect())
}

/// Where and why a meta file is not readable.
fn unreadable(data: &[u8]) -> (u64, Value) {
    let (meta, damage) = read(data);
    assert_eq!((meta, damage.len()), (None, 1));
    assert_eq!((damage[0].code, damage[0].span.end), (Code::MetaUnreadable, len64(data)));
    (damage[0].span.start, damage[0].found)
}

fn meta_of_today() -> Meta {
    Meta {
        version: Some(3),
        block_size_po2: Some(4),
        region_size_po2: Some(5),
        sector_size: Some(512),
        depths: Some(DEPTHS),
        lod_count: None,
        extra: Vec::new(),
    }
}

#[test]
fn the_file_of_today_is_read_and_written() {
    let meta = healthy(TODAY);
    assert_eq!(meta, meta_of_today());
    assert_eq!(String::from_utf8(meta.encode()).unwrap(), TODAY);
    let format = Format { block_size_po2: 4, region_size: [32; 3], depths: DEPTHS, sector_size: 512 };
    assert_eq!(meta.format(), Some(format));
}

#[test]
fn versions_2_and_3_with_and_without_a_lod_count() {
    for version in [2, 3] {
        for lods in [None, Some(1), Some(24)] {
            let field = lods.map_or_else(String::new, |n| format!("\t\"lod_count\": {n},\n"));
            let text = TODAY
                .replace("\t\"region", &format!("{field}\t\"region"))
                .replace("\"version\": 3", &format!("\"version\": {version}"));
            let meta = healthy(&text);
            assert_eq!(meta, Meta { version: Some(version), lod_count: lods, ..meta_of_today() });
            assert_eq!(String::from_utf8(meta.encode()).unwrap(), text);
        }
    }
}

#[test]
fn version_1_has_no_depths_and_8_bits_everywhere() {
    for lods in ["", r#""lod_count": 4, "#] {
        let text = format!(r#"{{"version": 1, {lods}"block_size_po2": 4, "region_size_po2": 4, "sector_size": 512}}"#);
        let meta = healthy(&text);
        assert_eq!((meta.version, meta.depths), (Some(1), Some([Depth::Bits8; CHANNELS])));
        assert_eq!(meta.lod_count, (!lods.is_empty()).then_some(4));
        assert_eq!(meta.format().unwrap().region_size, [16; 3]);
    }
}

#[test]
fn numbers_may_be_written_as_fractions() {
    let text =
        TODAY.replace(": 4", ": 4.0").replace(": 5,", ": 5.0,").replace("512", "5.12e2").replace("3\n}", "3.0\n}");
    let text = text.replace("\t\t2,", "\t\t2.0,");
    assert_eq!(text.matches('.').count(), 5);
    assert_eq!(healthy(&text), meta_of_today());
}

#[test]
fn meta_version() {
    for version in [0_u8, 4, 255] {
        let (meta, damage) = fields(&TODAY.replace("\"version\": 3", &format!("\"version\": {version}")));
        assert_eq!(damage, [(Code::MetaVersion, "version")]);
        // What can be read is still read.
        assert_eq!(meta, Meta { version: Some(version), ..meta_of_today() });
    }
}

/// The eight codes with their brackets.
fn codes_of_today() -> &'static str {
    &TODAY[TODAY.find('[').unwrap()..=TODAY.find(']').unwrap()]
}

#[test]
fn meta_field_missing() {
    let depths = format!("\t\"channel_depths\": {},\n", codes_of_today());
    type Without = fn(Meta) -> Meta;
    let all: [(&str, &str, Without); 5] = [
        ("version", ",\n\t\"version\": 3", |meta| Meta { version: None, ..meta }),
        ("block_size_po2", "\t\"block_size_po2\": 4,\n", |meta| Meta { block_size_po2: None, ..meta }),
        ("region_size_po2", "\t\"region_size_po2\": 5,\n", |meta| Meta { region_size_po2: None, ..meta }),
        ("sector_size", "\t\"sector_size\": 512,\n", |meta| Meta { sector_size: None, ..meta }),
        ("channel_depths", &depths, |meta| Meta { depths: None, ..meta }),
    ];
    for (name, text, without) in all {
        assert!(text.contains(name));
        let (meta, damage) = fields(&TODAY.replace(text, ""));
        assert_eq!(damage, [(Code::MetaField, name)]);
        assert_eq!(meta, without(meta_of_today()));
        assert_eq!(meta.format().is_some(), name == "version", "{name}");
    }
    let (meta, damage) = fields("{}");
    assert_eq!(damage.len(), 5);
    assert_eq!(meta, Meta::default());
}

#[test]
fn meta_field_impossible() {
    for (name, good, worst) in [
        ("version", "\"version\": 3", ["256", "-1", "3.5", "null"]),
        ("block_size_po2", "\"block_size_po2\": 4", ["0", "9", "4.5", "\"4\""]),
        ("region_size_po2", "\"region_size_po2\": 5", ["0", "8", "-5", "true"]),
        ("sector_size", "\"sector_size\": 512", ["0", "65537", "-512", "[512]"]),
        ("lod_count", "\"version\": 3", ["0", "25", "1.5", "{}"]),
    ] {
        for bad in worst {
            let bad = format!("\"{name}\": {bad}");
            // The LOD count is not there otherwise.
            let bad = if name == "lod_count" { format!("{good}, {bad}") } else { bad };
            let (meta, damage) = fields(&TODAY.replace(good, &bad));
            assert_eq!(damage, [(Code::MetaField, name)], "{bad}");
            let others = [
                (name != "version" && meta.version.is_none()),
                (name != "block_size_po2" && meta.block_size_po2.is_none()),
                (name != "region_size_po2" && meta.region_size_po2.is_none()),
                (name != "sector_size" && meta.sector_size.is_none()),
                meta.depths.is_none(),
                meta.lod_count.is_some(),
            ];
            assert_eq!(others, [false; 6], "{bad}");
        }
    }
}

#[test]
fn a_number_below_zero_is_named() {
    let (_, damage) = read(TODAY.replacen('{', r#"{"lod_count": -1,"#, 1).as_bytes());
    assert_eq!(damage.iter().map(|d| (d.field, d.found)).collect::<Vec<_>>(), [("lod_count", Value::Signed(-1))]);
}

#[test]
fn a_sector_size_of_65536_is_kept_although_no_header_can_hold_it() {
    let (meta, damage) = fields(&TODAY.replace("512", "65536"));
    assert_eq!(damage, [(Code::MetaField, "sector_size")]);
    assert_eq!(meta.sector_size, Some(65536));
    assert_eq!(healthy(&TODAY.replace("512", "65535")).sector_size, Some(65535));
}

#[test]
fn channel_depths_are_eight_codes() {
    let codes = codes_of_today();
    for bad in [
        "[]",
        "[0,0,0,0,0,0,0]",
        "[0,0,0,0,0,0,0,0,0]",
        "[0,0,0,0,0,0,0,4]",
        "[0,0,0,-1,0,0,0,0]",
        "8",
        "[[0],0,0,0,0,0,0,0]",
    ] {
        let (meta, damage) = fields(&TODAY.replace(codes, bad));
        assert_eq!(damage, [(Code::MetaField, "channel_depths")], "{bad}");
        assert_eq!(meta, Meta { depths: None, ..meta_of_today() });
    }
    // Version 1 too: absent is well, wrong is not.
    let (meta, damage) = fields(&TODAY.replace(codes, "7").replace("\"version\": 3", "\"version\": 1"));
    assert_eq!((damage, meta.depths), (vec![(Code::MetaField, "channel_depths")], None));
}

#[test]
fn meta_extra_is_a_note_with_the_names_kept() {
    let text = TODAY.replace("\"version\"", "\"zz\": [1, {}], \"Version\": 9, \"version\"");
    let (meta, damage) = fields(&text);
    assert_eq!(damage, [(Code::MetaExtra, "meta file"); 2]);
    assert_eq!(Code::MetaExtra.level(), Level::Note);
    assert_eq!(meta, Meta { extra: vec!["zz".to_owned(), "Version".to_owned()], ..meta_of_today() });
}

#[test]
fn a_file_that_is_cut_anywhere_is_not_readable() {
    assert_eq!(unreadable(b""), (0, Value::Words("empty")));
    for len in 1..TODAY.len() {
        let (at, found) = unreadable(&TODAY.as_bytes()[..len]);
        assert_eq!(found, Value::Words("cut off"), "{len} bytes");
        assert!(at.saturating_add(1) >= len64(&TODAY.as_bytes()[..len]), "{len} bytes: at {at}");
    }
}

#[test]
fn what_is_not_json_is_named_at_its_byte() {
    for (data, at) in [
        (&b"{\"version\": 3,\n  oops}"[..], 17),
        (b"\n\n!", 2),
        (b"{} {}", 3),
        (b"\xef\xbb\xbf{]", 4),
        (b"{\"a\": \"\xff\"}", 7),
        (b"\0\0\0\0\0\0\0\0", 0),
        (b"VXR_\x03", 0),
    ] {
        assert_eq!(unreadable(data), (at, Value::Words("not JSON here")), "{}", data.escape_ascii());
    }
    for data in [&b"[1, 2]"[..], b"3", b"null", b"\"text\""] {
        let (meta, damage) = read(data);
        assert_eq!(meta, None);
        assert_eq!((damage.len(), damage[0].code), (1, Code::MetaUnreadable));
        assert_eq!((damage[0].span.start, damage[0].expected), (0, Value::Words("an object")));
    }
}

#[test]
fn a_byte_order_mark_is_skipped_as_the_engine_does() {
    let with_mark = format!("\u{feff}{TODAY}");
    assert_eq!(read(with_mark.as_bytes()), (read(TODAY.as_bytes()).0, Vec::new()));
    assert_eq!(unreadable("\u{feff}".as_bytes()), (3, Value::Words("empty")));
}

#[test]
fn nesting_does_not_use_up_the_stack() {
    const MANY: usize = 1 << 16;
    let objects = "{\"a\":".repeat(MANY / 5);
    for text in [
        "[".repeat(MANY),
        objects,
        format!("{{\"channel_depths\": {}{}}}", "[".repeat(MANY / 2), "]".repeat(MANY / 2)),
        format!("{{\"version\": {}", "[{\"version\":".repeat(MANY / 12)),
    ] {
        let (at, _) = unreadable(text.as_bytes());
        assert!(at < 2000, "it stops early, not at {at}");
    }
}

#[test]
fn numbers_of_any_size_are_no_panic() {
    let digits = "9".repeat(1 << 20);
    for bad in ["1e18", "9007199254740993", "18446744073709551615", "18446744073709551616", "1e308", "-1e308", "1e-308"]
    {
        let (meta, damage) = fields(&TODAY.replace("\"version\": 3", &format!("\"version\": {bad}")));
        assert_eq!((damage, meta.version), (vec![(Code::MetaField, "version")], None), "{bad}");
    }
    for bad in ["1e999", "-1e999", &digits, "0x10", "4.", "NaN", "+4", "04"] {
        let (meta, damage) = read(TODAY.replace("\"version\": 3", &format!("\"version\": {bad}")).as_bytes());
        assert_eq!(meta, None);
        assert_eq!(damage.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::MetaUnreadable]);
    }
}

proptest::proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        version in 1_u8..=3,
        block in BLOCK_SIZE_PO2,
        region in 1_u8..=7,
        sector in 1_u32..=65535,
        codes in proptest::array::uniform8(0_u8..4),
        lods in proptest::option::of(1_u8..=24),
    ) {
        let meta = Meta {
            version: Some(version),
            block_size_po2: Some(block),
            region_size_po2: Some(region),
            sector_size: Some(sector),
            depths: Some(codes.map(|code| Depth::from_code(code).unwrap())),
            lod_count: lods,
            extra: Vec::new(),
        };
        proptest::prop_assert_eq!(healthy(&String::from_utf8(meta.encode()).unwrap()), meta);
    }

    #[test]
    fn one_wrong_byte_is_no_panic(at in 0..TODAY.len(), to in proptest::num::u8::ANY) {
        let mut data = TODAY.as_bytes().to_vec();
        data[at] = to;
        // The helper checks that the damage lies inside the file.
        let (meta, damage) = read(&data);
        proptest::prop_assert!(meta.is_some() || !damage.is_empty());
    }
}
