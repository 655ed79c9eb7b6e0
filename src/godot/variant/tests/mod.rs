use super::*;
use crate::bytes::{Cursor, Span};
use crate::damage::{Code, Damage, Space, Value};
use crate::limits::Limits;

mod golden;
mod round_trip;

use Dialect::{Godot3, Godot4};

fn budget() -> Budget {
    Budget::from(&Limits::DEFAULT)
}

/// Decodes all of `bytes`, with its damage.
fn read(bytes: &[u8], dialect: Dialect) -> (Option<Variant<'_>>, Vec<Damage>) {
    let (mut cursor, mut damage) = (Cursor::new(bytes), Vec::new());
    let value = decode(&mut cursor, dialect, &mut budget()).report_to(&mut damage);
    if value.is_some() {
        assert!(cursor.is_empty(), "{} bytes left", cursor.remaining());
    }
    assert!(damage.iter().all(|d| d.space == Space::Block));
    (value, damage)
}

/// Decodes all of `bytes` without any damage, and checks that it is written to the same bytes.
fn whole(bytes: &[u8], dialect: Dialect) -> Variant<'_> {
    let (value, damage) = read(bytes, dialect);
    assert_eq!(damage, []);
    let value = value.unwrap();
    let mut out = Vec::new();
    value.encode(dialect, &mut out);
    assert_eq!(out, bytes);
    value
}

/// The one damage because of which nothing is returned.
fn refused(bytes: &[u8], dialect: Dialect) -> (Code, Span, &'static str) {
    let (value, damage) = read(bytes, dialect);
    assert_eq!(value, None);
    let [only] = damage[..] else { panic!("{damage:?}") };
    assert!(Span::sized(0, bytes.len() as u64).contains(&only.span), "{only:?}");
    (only.code, only.span, only.field)
}

/// Little-endian words.
fn words(all: &[u32]) -> Vec<u8> {
    all.iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn cat(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// One sample or more of every type of a dialect, by hand.
fn samples(dialect: Dialect) -> Vec<Vec<u8>> {
    let n = |ty: Type| ty.number(dialect).unwrap();
    let one = 1.0_f32.to_bits();
    let mut all = vec![
        words(&[0]),
        words(&[1, 1]),
        words(&[1, 7]),
        words(&[2, 5]),
        words(&[2 | 1 << 16, 5, 6]),
        words(&[3, one]),
        words(&[3, 0x7fc0_1234]),
        words(&[3 | 1 << 16, 1, 0x7ff8_0000]),
        cat(&[&words(&[4, 5]), b"stone\0\0\0"]),
        cat(&[&words(&[n(Type::NodePath), 1 | 1 << 31, 1, 1, 1]), b"a\0\0\0", &words(&[2]), b"bc\0\0"]),
        cat(&[&words(&[n(Type::NodePath), 1 | 1 << 31, 0, 2, 1]), b"a\0\0\0", &words(&[2]), b"bc\0\0"]),
        words(&[n(Type::Object) | 1 << 16, 9, 0]),
        words(&[n(Type::Object), 0]),
        cat(&[&words(&[n(Type::Object), 4]), b"Node", &words(&[0])]),
        cat(&[
            &words(&[n(Type::Object), 4]),
            b"Node",
            &words(&[2, 1]),
            b"a\0\0\0",
            &words(&[2, 5, 1]),
            b"b\0\0\0",
            &words(&[0]),
        ]),
        words(&[n(Type::Dictionary), 2, 2, 1, 2, 2, 2, 3, n(Type::Array), 0]),
        words(&[n(Type::Dictionary), 1 << 31]),
        words(&[n(Type::Array), 1 << 31 | 3, 0, 2, 5, n(Type::Array), 1, 0]),
        cat(&[&words(&[n(Type::PackedByteArray), 5]), &[1, 2, 3, 4, 5, 0, 0, 0]]),
        cat(&[&words(&[n(Type::PackedStringArray), 2, 2]), b"a\0\0\0", &words(&[4]), b"bcd\0"]),
    ];
    for &ty in Type::all(dialect) {
        let Some(layout) = ty.layout() else { continue };
        let (narrow, wide) = (layout.bytes(false), layout.bytes(true));
        let count: &[u32] = if ty.is_packed() { &[4] } else { &[] };
        let times = if ty.is_packed() { 4 } else { 1 };
        all.push(cat(&[&words(&[n(ty)]), &words(count), &vec![1; narrow * times]]));
        if wide != narrow && dialect == Godot4 {
            all.push(cat(&[&words(&[n(ty) | 1 << 16]), &words(count), &vec![1; wide * times]]));
        }
    }
    if dialect == Godot3 {
        all.push(words(&[16]));
        return all;
    }
    all.push(cat(&[&words(&[21, 5]), b"stone\0\0\0"]));
    all.push(words(&[23, 7, 0]));
    all.push(words(&[25]));
    all.push(cat(&[&words(&[26, 3]), b"hit\0", &words(&[8, 0])]));
    all.push(words(&[28 | 1 << 16, 2, 1, 2, 5]));
    all.push(cat(&[&words(&[28 | 2 << 16, 4]), b"Node", &words(&[0])]));
    all.push(cat(&[&words(&[28 | 3 << 16, 6]), b"res://\0\0", &words(&[0])]));
    all.push(words(&[27 | 1 << 16 | 1 << 18, 2, 2, 1, 2, 5, 2, 6]));
    all.push(cat(&[&words(&[27 | 1 << 18, 2, 0])]));
    all.push(cat(&[&words(&[27 | 2 << 16 | 3 << 18, 4]), b"Node", &words(&[6]), b"res://\0\0", &words(&[0])]));
    all
}

#[test]
fn every_type_is_read_and_written_again() {
    for dialect in [Godot3, Godot4] {
        let mut seen = std::collections::HashSet::new();
        for bytes in samples(dialect) {
            let value = whole(&bytes, dialect);
            assert_eq!(value.type_().number(dialect), Some(u32::from(bytes[0])));
            seen.insert(value.type_());
            assert!(!value.text(dialect).is_empty());
            assert_eq!(written(&value, dialect), value.to_json(dialect).to_string());
        }
        assert_eq!(seen.len(), Type::all(dialect).len(), "{dialect:?}");
    }
    assert_eq!((Type::all(Godot3).len(), Type::all(Godot4).len()), (27, 39));
}

#[test]
fn every_cut_is_refused_inside_the_input() {
    for dialect in [Godot3, Godot4] {
        for bytes in samples(dialect) {
            for cut in 0..bytes.len() {
                let (code, ..) = refused(&bytes[..cut], dialect);
                assert_eq!(code, Code::VariantCut, "{bytes:?} cut at {cut}");
            }
        }
    }
}

#[test]
fn no_flipped_byte_does_more_than_damage() {
    for dialect in [Godot3, Godot4] {
        for bytes in samples(dialect) {
            for at in 0..bytes.len() {
                for byte in [0, 1, 0x1b, 0x7f, 0x80, 0xff] {
                    let mut bad = bytes.clone();
                    bad[at] = byte;
                    let (mut cursor, mut damage) = (Cursor::at(&bad, 100), Vec::new());
                    match decode(&mut cursor, dialect, &mut budget()).report_to(&mut damage) {
                        Some(value) => {
                            let mut out = Vec::new();
                            value.encode(dialect, &mut out);
                            assert_eq!(out, bad[..bad.len() - cursor.remaining()]);
                            assert!(!value.text(dialect).chars().any(|c| c.is_control() && c != '\n'));
                            let _ = value.to_json(dialect);
                        }
                        None => assert!(!damage.is_empty()),
                    }
                    let all = Span::sized(100, bad.len() as u64);
                    assert!(damage.iter().all(|d| all.contains(&d.span)), "{damage:?}");
                }
            }
        }
    }
}

#[test]
fn a_type_the_dialect_does_not_have() {
    let header = (Code::VariantType, Span::new(0, 4), "variant type");
    assert_eq!(refused(&words(&[27, 0]), Godot3), header);
    assert_eq!(refused(&words(&[39, 0]), Godot4), header);
    assert_eq!(refused(&words(&[0xff]), Godot4), header);
    let typed = words(&[28 | 1 << 16, 39, 0]);
    assert_eq!(refused(&typed, Godot4), (Code::VariantType, Span::new(4, 8), "array element type"));
    let (_, damage) = read(&typed, Godot4);
    assert_eq!((damage[0].expected, damage[0].found), (Value::Range(0, 38), Value::Number(39)));
}

#[test]
fn flags_that_do_not_exist() {
    let header = (Code::VariantFlags, Span::new(0, 4), "variant header");
    for (dialect, bad) in [
        (Godot3, 7 | 1 << 16),
        (Godot3, 19 | 1 << 16),
        (Godot3, 2 | 1 << 17),
        (Godot4, 1 << 8),
        (Godot4, 1 | 1 << 16),
        (Godot4, 2 | 1 << 31),
        (Godot4, 10 | 1 << 16),
        (Godot4, 20 | 1 << 16),
        (Godot4, 37 | 1 << 16),
        (Godot4, 28 | 1 << 18),
        (Godot4, 27 | 1 << 20),
    ] {
        assert_eq!(refused(&words(&[bad, 0, 0, 0, 0]), dialect), header, "{bad:#x}");
    }
    let old_path = words(&[22, 0, 0, 0]);
    assert_eq!(refused(&old_path, Godot4), (Code::VariantFlags, Span::new(4, 8), "node path names"));
}

#[test]
fn text_that_is_not_utf8_is_kept_and_reported() {
    let bytes = cat(&[&words(&[4, 5]), b"ab\xffcd\0\0\0"]);
    let (value, damage) = read(&bytes, Godot4);
    let value = value.unwrap();
    assert_eq!(value.text(Godot4), "\"ab\u{fffd}cd\"");
    let mut out = Vec::new();
    value.encode(Godot4, &mut out);
    assert_eq!(out, bytes);
    let [only] = damage[..] else { panic!() };
    assert_eq!((only.code, only.span, only.found), (Code::VariantText, Span::new(10, 11), Value::Hex8(0xff)));

    let many = cat(&[&words(&[34, 3, 4]), b"\xff\xff\xff\xff", &words(&[4]), b"\xff\xff\xff\xff", &words(&[0])]);
    assert_eq!(read(&many, Godot4).1.len(), 1, "one finding for one array");
}

#[test]
fn padding_that_is_not_zero_is_kept_and_reported() {
    for (bytes, span, field) in [
        (cat(&[&words(&[4, 1]), b"a\0x\0"]), Span::new(9, 12), "string padding"),
        (cat(&[&words(&[29, 2]), b"abcd"]), Span::new(10, 12), "packed array padding"),
        (cat(&[&words(&[22, 1 | 1 << 31, 0, 0, 3]), b"abcd"]), Span::new(23, 24), "string padding"),
    ] {
        let (value, damage) = read(&bytes, Godot4);
        let mut out = Vec::new();
        value.unwrap().encode(Godot4, &mut out);
        assert_eq!(out, bytes);
        let [only] = damage[..] else { panic!() };
        assert_eq!((only.code, only.span, only.field), (Code::VariantPadding, span, field));
    }
}

#[test]
fn what_is_cut_short_says_which_field() {
    let cut = |bytes: &[u8]| refused(bytes, Godot4);
    assert_eq!(cut(&[1, 0]), (Code::VariantCut, Span::new(0, 2), "variant header"));
    assert_eq!(cut(&words(&[9, 0])), (Code::VariantCut, Span::new(4, 8), "Vector3"));
    assert_eq!(cut(&words(&[4, 5, 0])), (Code::VariantCut, Span::new(4, 8), "string length"));
    assert_eq!(cut(&[4, 0, 0, 0, 1, 0, 0, 0, b'a', 0]), (Code::VariantCut, Span::new(9, 10), "string padding"));
    assert_eq!(cut(&words(&[28, 2, 0])), (Code::VariantCut, Span::new(4, 8), "array count"));
    assert_eq!(cut(&words(&[27, 1, 0])), (Code::VariantCut, Span::new(4, 8), "dictionary count"));
    assert_eq!(cut(&words(&[28, 1, 2])), (Code::VariantCut, Span::new(12, 12), "int"));
    let (_, damage) = read(&[28, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0], Godot4);
    assert_eq!(damage[0].to_string(), "Variant is cut short: array count (2; expected at most 1)");
}

#[test]
fn four_billion_in_eight_bytes() {
    for dialect in [Godot3, Godot4] {
        for &ty in Type::all(dialect) {
            let counted =
                ty.is_packed() || matches!(ty, Type::String | Type::StringName | Type::Array | Type::Dictionary);
            if counted {
                let bytes = words(&[ty.number(dialect).unwrap(), u32::MAX]);
                let (code, span, _) = refused(&bytes, dialect);
                assert_eq!((code, span), (Code::VariantCut, Span::new(4, 8)), "{ty:?}");
            }
        }
        let path = words(&[Type::NodePath.number(dialect).unwrap(), u32::MAX, u32::MAX, 2]);
        assert_eq!(refused(&path, dialect), (Code::VariantCut, Span::new(4, 16), "node path names"));
    }
}

#[test]
fn a_hundred_thousand_deep() {
    let arrays = words(&[28, 1].repeat(100_000));
    assert_eq!(refused(&arrays, Godot4), (Code::VariantDepth, Span::new(1025 * 8, 1025 * 8 + 4), "variant nesting"));
    let dictionaries = words(&[27, 1].repeat(100_000));
    assert_eq!(refused(&dictionaries, Godot4).0, Code::VariantDepth);
    let object = cat(&[&words(&[24, 1]), b"a\0\0\0", &words(&[1, 0])]).repeat(100_000);
    assert_eq!(refused(&object, Godot4).0, Code::VariantDepth);
}

/// The text that is written without a value in memory.
fn written(value: &Variant<'_>, dialect: Dialect) -> String {
    let mut out = Vec::new();
    value.write_json(dialect, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn as_deep_as_allowed_in_a_small_stack() {
    // Keys, values, items and properties, 1,024 deep, in the stack that a worker thread has.
    let array = cat(&[&words(&[28, 1]).repeat(1024), &words(&[0])]);
    let key = cat(&[&words(&[27, 1]).repeat(1024), &words(&[0]).repeat(1025)]);
    let object = cat(&[&cat(&[&words(&[24, 1]), b"a\0\0\0", &words(&[1, 0])]).repeat(1024), &words(&[0])]);
    let works: [fn(&Variant<'_>); 6] = [
        |value| assert_eq!(*value, value.clone()),
        |value| assert!(value.text(Godot4).len() > 1024),
        |value| drop(value.to_json(Godot4)),
        |value| assert!(value.to_json(Godot4).to_string().len() > 1024),
        |value| assert!(written(value, Godot4).len() > 1024),
        |value| assert!(format!("{value:?}").len() > 1024),
    ];
    for bytes in [array, key, object] {
        for work in works {
            let bytes = bytes.clone();
            let work = move || work(&whole(&bytes, Godot4));
            std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
        }
    }
}

#[test]
fn more_values_than_the_budget() {
    let bytes = words(&[28, 3, 0, 0, 0]);
    let (mut cursor, mut damage) = (Cursor::new(&bytes), Vec::new());
    let mut small = Budget { depth: 8, values: 3 };
    assert_eq!(decode(&mut cursor, Godot4, &mut small).report_to(&mut damage), None);
    assert_eq!((damage[0].code, damage[0].span), (Code::OverLimit, Span::new(16, 20)));
    let mut enough = Budget { depth: 8, values: 5 };
    assert!(decode(&mut Cursor::new(&bytes), Godot4, &mut enough).report_to(&mut Vec::new()).is_some());
    assert_eq!(enough.values, 1, "the rest is for the next value");
}

#[test]
fn nothing_in_a_string_reaches_a_terminal() {
    let value = Variant::string("\u{1b}[2J\u{9b}31m\r\n\t\0\"\\\u{180e}\u{202e}\u{e0041}体");
    assert_eq!(value.text(Godot4), r#""\u001b[2J\u009b31m\r\n\t\u0000\"\\\u180e\u202e\U0e0041体""#);
    let path = Variant::node_path(true, &["\u{1b}"], &[]);
    assert_eq!(path.text(Godot4), r#"NodePath("/\u001b")"#);
    let typed = Variant::typed_array(Kind::Class(Box::new(Text::new("\u{1b}c"))), Vec::new());
    assert_eq!(typed.text(Godot4), r"Array[\u001bc]([])");
}

#[test]
fn numbers_have_the_shape_of_the_engine() {
    for (value, text) in [
        (0.0, "0.0"),
        (-0.0, "0.0"),
        (0.1, "0.1"),
        (f64::from(0.1_f32), "0.1"),
        (-1.5, "-1.5"),
        (100.0, "100.0"),
        (123_456_789_012_345.0, "123456789012345.0"),
        (1e15, "1e+15"),
        (0.0001, "0.0001"),
        (0.000_012_5, "1.25e-05"),
        (1e300, "1e+300"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "inf_neg"),
        (f64::NAN, "nan"),
    ] {
        assert_eq!(Variant::float(value).text(Godot4), text);
    }
}

#[test]
fn the_json_form() {
    let value = Variant::dictionary(vec![
        (Variant::string("b"), Variant::int(1)),
        (Variant::vector3i([1, 2, 3]), Variant::array(vec![Variant::Nil, Variant::bool(true), Variant::float(0.1)])),
        (Variant::string_name("n"), Variant::packed_bytes(vec![1, 0xfa])),
        (Variant::node_path(true, &["root"], &["x"]), Variant::packed_strings(&["a", ""])),
        (Variant::float(f64::NAN), Variant::packed(Type::PackedVector2Array, false, words(&[0; 4])).unwrap()),
        (Variant::Callable, Variant::signal("hit", 3)),
        (Variant::Object(Object::Id(5)), Variant::object("Node", vec![(Text::new("p"), Variant::Rid(7))])),
        (
            Variant::typed_array(Kind::Builtin(Type::Int), vec![Variant::int(4)]),
            Variant::typed_dictionary(Kind::Builtin(Type::String), Kind::Untyped, Vec::new()),
        ),
    ]);
    let expected = concat!(
        r#"{"type":"Dictionary","value":[["b",1],"#,
        r#"[{"type":"Vector3i","value":[1,2,3]},[null,true,0.1]],"#,
        r#"[{"type":"StringName","value":"n"},{"type":"PackedByteArray","value":"01fa"}],"#,
        r#"[{"type":"NodePath","value":"/root:x"},{"type":"PackedStringArray","value":["a",""]}],"#,
        r#"["nan",{"type":"PackedVector2Array","value":[[0.0,0.0],[0.0,0.0]]}],"#,
        r#"[{"type":"Callable","value":null},{"type":"Signal","value":{"name":"hit","object":3}}],"#,
        r#"[{"type":"Object","value":{"id":5}},"#,
        r#"{"type":"Object","value":{"class":"Node","properties":[["p",{"type":"RID","value":7}]]}}],"#,
        r#"[{"type":"Array","of":"int","value":[4]},{"type":"Dictionary","of":["String","Variant"],"value":[]}]]}"#,
    );
    assert_eq!(value.to_json(Godot4).to_string(), expected);
    assert_eq!(written(&value, Godot4), expected);
    let Variant::Dictionary(dictionary) = &value else { panic!() };
    assert_eq!(dictionary.get("n").map(Variant::type_), Some(Type::PackedByteArray));
}

#[test]
fn mixed_keys_have_an_order() {
    // A StringName between a String and a Vector2 must not send the sort in a circle.
    let keys = (0..60).map(|i| match i % 3 {
        0 => Variant::string_name(format!("{}", 97 - i)),
        1 => Variant::vector2([0.0, 1.0]),
        _ => Variant::string(format!("{i}")),
    });
    let value = Variant::dictionary(keys.map(|key| (key, Variant::Nil)).collect());
    assert!(value.text(Godot4).ends_with("Vector2(0, 1): null\n}"));
}
