//! The values that the engines themselves wrote, with the engines' own text of each.

use std::path::PathBuf;

use super::*;

fn golden(name: &str) -> Vec<serde_json::Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/variants").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// A text with each number that has a point or an exponent cut down to six digits, as Godot 3 writes it.
fn six_digits(text: &str) -> String {
    let mut out = String::new();
    for part in text.split_inclusive([' ', ',']) {
        let end = part.trim_end_matches([' ', ',']);
        match end.parse::<f64>() {
            Ok(n) if end.contains(['.', 'e']) => out += &format!("{n:.5e}{}", &part[end.len()..]),
            _ => out += part,
        }
    }
    out
}

fn compare(name: &str, dialect: Dialect) {
    for line in golden(name) {
        let field = |key: &str| line[key].as_str().unwrap();
        let bytes = unhex(field("hex"));
        let (value, damage) = read(&bytes, dialect);
        let value = value.unwrap_or_else(|| panic!("{line}: {damage:?}"));
        // Godot 3 leaves what was in memory in the padding of node paths, and nowhere else.
        let dirty = dialect == Godot3 && value.type_() == Type::NodePath;
        assert!(damage.iter().all(|d| dirty && d.code == Code::VariantPadding), "{line}: {damage:?}");
        assert_eq!(value.type_().name(dialect), field("type"));
        let mut out = Vec::new();
        value.encode(dialect, &mut out);
        assert_eq!(out, bytes, "{line}");
        let text = value.text(dialect);
        match (dialect, field("text")) {
            // Godot 3 has no room for this number and calls it infinite.
            (Godot3, "-inf.0") => assert_eq!(text, "-1e+300"),
            (Godot3, expected) => assert_eq!(six_digits(&text), six_digits(expected), "{line}"),
            (Godot4, expected) => assert_eq!(text, expected, "{line}"),
        }
        for cut in 0..bytes.len() {
            assert_eq!(read(&bytes[..cut], dialect).0, None);
        }
    }
}

#[test]
fn what_godot_3_wrote() {
    compare("godot3_variants.jsonl", Godot3);
}

#[test]
fn what_godot_4_wrote() {
    compare("godot4_variants.jsonl", Godot4);
}
