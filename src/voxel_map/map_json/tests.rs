use super::*;
use crate::voxel_map::map_json::slice;

const SMALL: &str = r#"{
    "mapID": 7,
    "timestamp": "2026-01-07 15:40:37",
    "global": {
        "name": "Global",
        "type": "Global",
        "format": "block_sparse",
        "blockSize": 16,
        "dataFile": "a, } data.npy",
        "depthFile": "深 (1).npy",
        "indexFile": "i.npy",
        "blockCount": 3,
        "origin": [
            12.599998474121094,
            -6.0,
            1e-3
        ],
        "step": [
            1.5,
            1.0,
            1.5
        ],
        "dim": [
            17,
            16,
            1
        ]
    },
    "locals": []
}"#;

fn decode(text: &str) -> (Option<MapData>, Vec<Damage>) {
    let mut damage = Vec::new();
    let map = MapData::decode(text.as_bytes()).report_to(&mut damage);
    (map, damage)
}

fn faults(text: &str) -> Vec<(Code, &'static str)> {
    decode(text).1.iter().map(|damage| (damage.code, damage.field)).collect()
}

#[test]
fn a_healthy_description_is_read_and_written() {
    let (map, damage) = decode(SMALL);
    let map = map.unwrap();
    assert_eq!(damage, []);
    let layer = map.global.as_ref().unwrap();
    assert_eq!(map.map_id, Some(7));
    assert_eq!(layer.format, Some(Format::BlockSparse));
    assert_eq!(layer.depth_file.as_deref(), Some("深 (1).npy"));
    assert_eq!(layer.dim, Some([17, 16, 1]));
    assert_eq!(layer.origin, Some([12.599_998, -6.0, 1e-3]));
    let text = map.encode();
    assert_eq!(MapData::decode(&text).report_to(&mut Vec::new()), Some(map));
}

#[test]
fn what_cannot_be_read_stays_as_it_stands() {
    let text = SMALL
        .replace("\"mapID\": 7", "\"mapID\": \"seven\", \"tool\": {\"v\": [1, null]}")
        .replace("\"block_sparse\"", "\"octree\"")
        .replace("1.5,\n            1.0", "0.0,\n            1.0")
        .replace("\"blockCount\": 3,", "\"blockCount\": -3, \"lod\": 1,");
    let (map, damage) = decode(&text);
    let map = map.unwrap();
    let found: Vec<_> = damage.iter().map(|d| (d.code, d.field)).collect();
    assert_eq!(
        found,
        [
            (Code::MapField, "mapID"),
            (Code::MapExtra, "number of unknown fields"),
            (Code::MapFormat, "format"),
            (Code::MapField, "blockCount"),
            (Code::MapField, "step"),
            (Code::MapExtra, "number of unknown fields"),
        ]
    );
    // The bytes are those of the layer.
    let span = damage[2].span;
    let layer = std::str::from_utf8(slice(text.as_bytes(), span)).unwrap();
    assert!(
        layer.starts_with("{\n        \"name\"") && layer.ends_with(']'.to_string().as_str()) || layer.ends_with('}')
    );
    assert_eq!(layer_spans(text.as_bytes()), [span]);
    let again = MapData::decode(&map.encode()).report_to(&mut Vec::new()).unwrap();
    assert_eq!(again, map);
    assert_eq!(again.extra["tool"]["v"][0], 1);
    assert_eq!(again.global.unwrap().extra["format"], "octree");
}

#[test]
fn numbers_that_cannot_be() {
    let field = |from: &str, to: &str| faults(&SMALL.replacen(from, to, 1));
    assert_eq!(field("-6.0", "1e300"), [(Code::MapField, "origin")]);
    assert_eq!(field("-6.0", "null"), [(Code::MapField, "origin")]);
    assert_eq!(field("-6.0,", ""), [(Code::MapField, "origin")]);
    assert_eq!(field("            1.0,", "            -1.0,"), [(Code::MapField, "step")]);
    // So small that a 32-bit number of it is 0.
    assert_eq!(field("            1.0,", "            1e-60,"), [(Code::MapField, "step")]);
    for dim in ["0", "-1", "1.5", "2147483648", "\"16\""] {
        assert_eq!(field("            16,", &format!("            {dim},")), [(Code::MapField, "dim")], "{dim}");
    }
    assert_eq!(field("-6.0", "1e999"), [(Code::MapUnreadable, "map_data.json")]);
    assert_eq!(field("-6.0", "NaN"), [(Code::MapUnreadable, "map_data.json")]);
    assert_eq!(field("\"locals\": []", "\"locals\": [3]"), [(Code::MapField, "layer")]);
    assert_eq!(field("\"locals\": []", "\"locals\": {}"), [(Code::MapField, "locals")]);
    assert_eq!(field("\"locals\": []", "\"extra\": 0").len(), 2);
}

#[test]
fn layers_of_one_name_are_a_note() {
    let (map, _) = decode(SMALL);
    let mut map = map.unwrap();
    map.locals = vec![map.global.clone().unwrap(); 2];
    let text = String::from_utf8(map.encode()).unwrap();
    let (_, damage) = decode(&text);
    assert_eq!(damage.len(), 1);
    assert_eq!((damage[0].code, damage[0].found), (Code::MapLayerName, Value::Number(2)));
    let spans = layer_spans(text.as_bytes());
    assert_eq!(spans.len(), 3);
    for span in spans {
        let layer: Json = serde_json::from_slice(slice(text.as_bytes(), span)).unwrap();
        assert_eq!(layer["name"], "Global");
    }
}

#[test]
fn a_byte_order_mark_is_no_damage() {
    let text = [BYTE_ORDER_MARK, SMALL.as_bytes()].concat();
    let mut damage = Vec::new();
    assert!(MapData::decode(&text).report_to(&mut damage).is_some());
    assert_eq!(damage, []);
}

#[test]
fn every_cut_is_damage_and_says_where() {
    for end in 0..SMALL.len() {
        let Some(text) = SMALL.get(..end) else { continue };
        let (map, damage) = decode(text);
        assert_eq!((map, damage.len()), (None, 1), "{end}");
        assert_eq!(damage[0].code, Code::MapUnreadable);
        assert!(damage[0].span.end == end as u64 && damage[0].span.start <= end as u64);
        let _ = layer_spans(text.as_bytes());
    }
    assert_eq!(faults("[]"), [(Code::MapUnreadable, "JSON")]);
    assert_eq!(faults("{\"a\": \"\u{0}\"}").len(), 1);
}

#[test]
fn a_deep_or_wide_text_costs_little() {
    let deep = "[".repeat(1 << 20);
    assert_eq!(faults(&deep), [(Code::MapUnreadable, "map_data.json")]);
    assert_eq!(faults(&format!("{{\"global\": {deep}")), [(Code::MapUnreadable, "map_data.json")]);
    assert!(layer_spans(deep.as_bytes()).is_empty());
    let many = format!("{{\"locals\": [{}{{}}]}}", "{},".repeat(1 << 15));
    let (map, damage) = decode(&many);
    assert_eq!(map.unwrap().locals.len(), Limits::DEFAULT.map_layers);
    assert_eq!(damage.iter().filter(|damage| damage.code == Code::OverLimit).count(), 1);
    assert!(damage.len() < 50_000);
}

#[test]
fn only_plain_names_are_opened() {
    for name in ["a.npy", "Fishing (3)_-2166.npy", "水 [1].npy", "..a", ".a", "a..b", "a b", "-"] {
        assert_eq!(plain_name(name), Ok(()), "{name}");
    }
    for name in [
        "", ".", "..", "...", ".. ", " ", "a/b", "/a", "../a", "a\\b", "..\\a", "C:a", "C:\\a", "a:b", "a\0b", "/",
        "\\\\x\\y",
    ] {
        assert!(plain_name(name).is_err(), "{name:?}");
    }
}
