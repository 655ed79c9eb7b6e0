use proptest::prelude::*;

use super::loc::{Format, FormatEvidence, Key, KeyRule, Owned, Place};
use super::meta::Meta;
use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};

const PLACE: Place = Place { lod: 2, position: [5, -1, -7] };

#[test]
fn the_four_formats_are_those_of_the_page() {
    for (format, key) in [
        (Format::Int16, Owned::Int(0x0002_0005_ffff_fff9)),
        (Format::Int19, Owned::Int((2 << 57) | (5 << 38) | (0x7_ffff << 19) | 0x7_fff9)),
        (Format::Text, Owned::Text("5,-1,-7,2".to_owned())),
        // x = 5, y = 0x1ffffff, z = 0x1fffff9, lod = 2, from the lowest bit.
        (Format::Blob, Owned::Blob([5, 0, 0, 0xfe, 0xff, 0xff, 0xe7, 0xff, 0xff, 0x17])),
    ] {
        assert_eq!(format.encode(PLACE), Some(key.clone()), "{format:?}");
        assert_eq!(format.decode(key.as_key()), Ok(PLACE), "{format:?}");
        assert_eq!(Format::from_code(format.code().into()), Some(format));
    }
    assert_eq!(Format::from_code(4), None);
    assert_eq!(Format::from_code(-1), None);
}

#[test]
fn keys_of_2021_above_lod_0_are_the_position_times_two_to_the_lod() {
    let at = |lod: u8, position: [i32; 3]| Place { lod, position };
    // By hand: key (-4, 8, 0) of LOD 2 is block (-1, 2, 0).
    assert_eq!(KeyRule::Old.place(at(2, [-4, 8, 0])), Some(at(2, [-1, 2, 0])));
    assert_eq!(KeyRule::Old.place(at(2, [-3, 8, 0])), None, "no block of the engine had this key");
    assert_eq!(KeyRule::Old.place(at(0, [-3, 8, 1])), Some(at(0, [-3, 8, 1])));
    assert_eq!(KeyRule::New.place(at(2, [-3, 8, 0])), Some(at(2, [-3, 8, 0])));

    let ground: Vec<Place> = (-4..4).flat_map(|x| (-4..4).map(move |z| at(0, [x, 0, z]))).collect();
    let infer = |keys: &[Place]| KeyRule::infer(|| keys.iter().copied());
    let with = |above: &[Place]| infer(&[&ground, above].concat());
    // Block (1, 0, -1) of LOD 1 lies above (2..4, 0..2, -2..0); its old key is (2, 0, -2), which is above nothing by the new rule.
    assert_eq!(with(&[at(1, [2, 0, -2])]), KeyRule::Old);
    assert_eq!(with(&[at(1, [2, 0, -2]), at(2, [-4, 0, 0]), at(1, [0, 0, 0])]), KeyRule::Old);
    assert_eq!(with(&[at(1, [1, 0, -1])]), KeyRule::New);
    // Divisible and above blocks by both rules, or above none by either: no evidence.
    assert_eq!(with(&[at(1, [0, 0, 0])]), KeyRule::New);
    assert_eq!(with(&[at(1, [100, 0, 0])]), KeyRule::New);
    // One key that is not divisible, or that only the new rule explains, refutes the old rule.
    assert_eq!(with(&[at(1, [2, 0, -2]), at(1, [1, 0, 0])]), KeyRule::New);
    let far: Vec<Place> = [ground.clone(), vec![at(0, [20, 0, 0])]].concat();
    assert_eq!(infer(&[&far[..], &[at(1, [2, 0, -2]), at(1, [10, 0, 0])]].concat()), KeyRule::New);
    assert_eq!(infer(&ground), KeyRule::New);
    let old = |above: &[Place]| KeyRule::count_old(|| ground.iter().chain(above).copied());
    assert_eq!(old(&[at(1, [2, 0, -2]), at(1, [0, 0, 0])]), 1, "keys of both rules");
    assert_eq!(old(&[at(1, [2, 0, -2]), at(1, [1, 0, -1]), at(1, [0, 0, 0])]), 0, "its place by the old rule is taken");
    assert_eq!(old(&[at(1, [2, 0, -2])]), 0, "no key shows the new rule");
    assert_eq!(old(&[at(1, [100, 0, 0]), at(1, [1, 0, -1])]), 0, "far away");
    assert_eq!(infer(&[]), KeyRule::New);
    let far_up = at(23, [i32::MIN, i32::MAX, 0]);
    assert_eq!(infer(&[far_up, at(0, [i32::MIN, i32::MAX, 0])]), KeyRule::New);
}

#[test]
fn what_does_not_fit_has_no_key() {
    for format in Format::ALL {
        let [low, high] = format.range();
        for v in [low, high] {
            let place = Place { lod: 23, position: [v, 0, v] };
            assert_eq!(format.decode(format.encode(place).unwrap().as_key()), Ok(place));
        }
        assert_eq!(format.encode(Place { lod: 24, ..PLACE }), None);
        if format != Format::Text {
            assert_eq!(format.encode(Place { lod: 0, position: [0, high + 1, 0] }), None);
            assert_eq!(format.encode(Place { lod: 0, position: [0, 0, low - 1] }), None);
        }
    }
}

#[test]
fn keys_that_the_engine_does_not_write_are_no_places() {
    for (format, key) in [
        (Format::Int16, Key::Int(1 << 56)),
        (Format::Int16, Key::Int(-1)),
        (Format::Int16, Key::Int(24 << 48)),
        (Format::Int19, Key::Int(24 << 57)),
        (Format::Int16, Key::Text(b"0,0,0,0")),
        (Format::Int19, Key::Null),
        (Format::Int19, Key::Float(0.0)),
        (Format::Text, Key::Text(b"0,0,0")),
        (Format::Text, Key::Text(b"0,0,0,0,0")),
        (Format::Text, Key::Text(b"0,0,0,24")),
        (Format::Text, Key::Text(b"0,0,0,-1")),
        (Format::Text, Key::Text(b"+0,0,0,0")),
        (Format::Text, Key::Text(b"00,0,0,0")),
        (Format::Text, Key::Text(b"0, 0,0,0")),
        (Format::Text, Key::Text(b"2147483648,0,0,0")),
        (Format::Text, Key::Text(b"0,0,0,\xff")),
        (Format::Text, Key::Blob(b"0,0,0,0")),
        (Format::Blob, Key::Blob(&[0; 9])),
        (Format::Blob, Key::Blob(&[0; 11])),
        (Format::Blob, Key::Blob(&[0xff; 10])),
        (Format::Blob, Key::Int(0)),
    ] {
        assert!(format.decode(key).is_err(), "{format:?} {key:?}");
    }
}

#[test]
fn a_key_written_in_another_way_is_meant_to_be_a_place() {
    let at = Place { lod: 0, position: [1, -2, 3] };
    let place = Some(at);
    assert_eq!(Format::Text.decode_close(Key::Text(b"+1,-02, 3,0")), place);
    let key = Format::Int16.encode(at).unwrap();
    let Owned::Int(n) = key else { panic!("a number") };
    assert_eq!(Format::Int16.decode_close(Key::Int(n | (0x77 << 56))), place);
    assert_eq!(Format::Int16.decode_close(Key::Int(24 << 48)), None);
    assert_eq!(Format::Text.decode_close(Key::Text(b"1,2,3")), None);
    assert_eq!(Format::Blob.decode_close(Key::Blob(&[0; 9])), None);
}

fn decode(columns: &[Key<'_>]) -> (Meta, Vec<Damage>) {
    let columns: Vec<_> = columns.iter().map(|key| (*key, Span::new(40, 41))).collect();
    let mut damage = Vec::new();
    (Meta::decode(&columns).report_to(&mut damage), damage)
}

#[test]
fn the_row_of_settings_of_both_versions() {
    let (meta, damage) = decode(&[Key::Int(1), Key::Int(4), Key::Int(3)]);
    assert_eq!((meta.block_size(), meta.format, damage), (Some(16), Some(Format::Blob), vec![]));
    let (meta, damage) = decode(&[Key::Int(0), Key::Int(5)]);
    assert_eq!((meta.block_size(), meta.format, damage), (Some(32), Some(Format::Int16), vec![]));
}

#[test]
fn an_impossible_setting_is_named_and_the_others_are_read() {
    let (meta, damage) = decode(&[Key::Int(2), Key::Int(4), Key::Int(1)]);
    assert_eq!((meta.version, meta.block_size_po2, meta.format), (None, Some(4), Some(Format::Int19)));
    assert_eq!(
        damage.iter().map(|d| (d.code, d.found)).collect::<Vec<_>>(),
        [(Code::StreamMetaField, Value::Signed(2))]
    );
    for columns in [
        [Key::Int(1), Key::Int(0), Key::Int(0)],
        [Key::Int(1), Key::Int(9), Key::Int(0)],
        [Key::Int(1), Key::Int(4), Key::Int(4)],
        [Key::Int(1), Key::Int(4), Key::Null],
        [Key::Text(b"1"), Key::Int(4), Key::Int(0)],
        [Key::Int(0), Key::Int(4), Key::Int(1)],
    ] {
        assert_eq!(decode(&columns).1.len(), 1, "{columns:?}");
    }
    assert_eq!(decode(&[]).1.len(), 3);
}

#[test]
fn the_format_of_keys_is_inferred() {
    let infer = |keys: &[Key<'_>]| {
        let mut evidence = FormatEvidence::default();
        keys.iter().for_each(|key| evidence.add_key(*key));
        evidence.format()
    };
    let places = [PLACE, Place { lod: 0, position: [-3, 1, 2] }, Place { lod: 0, position: [40, 0, -9] }];
    for format in Format::ALL {
        let keys: Vec<Owned> = places.iter().map(|place| format.encode(*place).unwrap()).collect();
        assert_eq!(infer(&keys.iter().map(Owned::as_key).collect::<Vec<_>>()), Some(format));
    }
    assert_eq!(infer(&[Key::Null]), None);
}

proptest! {
    #[test]
    fn a_place_comes_back(lod in 0u8..24, position in any::<[i32; 3]>()) {
        let place = Place { lod, position };
        for format in Format::ALL {
            if let Some(key) = format.encode(place) {
                prop_assert_eq!(format.decode(key.as_key()), Ok(place));
            } else {
                prop_assert!(position.iter().any(|v| !(format.range()[0]..=format.range()[1]).contains(v)));
            }
        }
    }

    #[test]
    fn a_key_that_is_a_place_is_the_key_of_that_place(n in any::<i64>(), bytes in any::<[u8; 10]>(), text in "-?[0-9]{1,3},-?[0-9]{1,11},[0-9],[0-9]{1,2}") {
        for key in [Key::Int(n), Key::Blob(&bytes), Key::Text(text.as_bytes())] {
            for format in Format::ALL {
                if let Ok(place) = format.decode(key) {
                    let again = format.encode(place).unwrap();
                    prop_assert_eq!(again.as_key(), key);
                }
            }
        }
    }
}
