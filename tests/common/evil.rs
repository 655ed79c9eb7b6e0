//! Control characters in the texts of a save.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

/// What a terminal acts on: a colour, a title, C1 controls, line breaks, text that runs backwards or is hidden.
pub const EVIL: &str = "\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}2J\u{85}\r\n\t\u{8}\u{7f}\u{202e}\u{200b}";

/// Puts them into every text of a document, and into a key of every object.
fn plant(json: &mut Json) {
    match json {
        Json::String(text) => text.push_str(EVIL),
        Json::Array(all) => all.iter_mut().for_each(plant),
        Json::Object(all) => {
            all.iter_mut().for_each(|(_, value)| plant(value));
            all.insert(EVIL.to_owned(), EVIL.into());
        }
        _ => {}
    }
}

/// Spoils a file of a save, and puts files with such names beside it.
pub fn spoil(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    if let Ok(mut json) = serde_json::from_slice::<Json>(&bytes) {
        plant(&mut json);
        fs::write(path, serde_json::to_vec(&json).unwrap()).unwrap();
    } else if bytes.starts_with(b"\x93NUMPY") {
        let evil = EVIL.as_bytes();
        bytes[20..20 + evil.len()].copy_from_slice(evil);
        fs::write(path, bytes).unwrap();
    }
    let name = path.file_name().unwrap().to_str().unwrap();
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, "bin"));
    for name in [format!("{EVIL}{name}"), format!("{stem}{EVIL}.{ending}"), format!("{name}{EVIL}")] {
        fs::write(path.with_file_name(name), b"\x1b[2J").unwrap();
    }
}
