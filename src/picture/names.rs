//! Names and colours of voxels from files: of the user, of the save, of the engine.
//!
//! ```toml
//! [types]
//! 1 = "grass"
//! 2 = { name = "stone", color = "#7f7f7f" }
//! ```
//!
//! or the JSON that the engine's `VoxelBlockyTypeLibrary.serialize_id_map_to_json` gives: `{"map": ["air", "grass", ...]}`,
//! an array in which the place of a name is its id, and an empty one is free.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::color::Rgb;
use super::palette::{Entry, Palette};
use crate::printable::{self, printable};
use crate::source::{FileSource, Source};

/// Bytes of such a file that are read at most.
const LIMIT: u64 = 1 << 20;

/// Characters of a name that are kept.
const NAME: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Toml {
    #[serde(default)]
    types: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Name(String),
    Both {
        name: Option<String>,
        #[serde(alias = "colour")]
        color: Option<String>,
    },
}

#[derive(Deserialize)]
struct IdMap {
    map: Vec<String>,
}

impl Palette {
    /// Reads a file of names and colours that the user names; a symbolic link is followed.
    ///
    /// # Errors
    /// A sentence with the file's name that says what is wrong.
    pub fn read(path: &Path) -> Result<Self, String> {
        let followed = std::fs::canonicalize(path).map_err(|error| format!("{}: {error}", printable::path(path)))?;
        Self::read_as(&followed, path)
    }

    /// Reads the file at `at`, no symbolic link, which is called `path` in errors.
    fn read_as(at: &Path, path: &Path) -> Result<Self, String> {
        let shown = printable::path(path);
        let failed = |why: &dyn std::fmt::Display| format!("{shown}: {why}");
        let file = FileSource::open(at).map_err(|error| failed(&error))?;
        if file.len() > LIMIT {
            return Err(failed(&format_args!(
                "{} bytes are too many for names of voxels: at most {LIMIT}",
                file.len()
            )));
        }
        let mut bytes = Vec::new();
        file.read_into(0, crate::bytes::index(file.len()), &mut bytes).map_err(|error| failed(&error))?;
        let text = String::from_utf8(bytes).map_err(|_| failed(&"it is not UTF-8"))?;
        Self::parse(&text).map_err(|why| failed(&why))
    }

    /// Reads the text of such a file: TOML, or the engine's JSON.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut palette = Self::default();
        if text.trim_start().starts_with('{') {
            let ids: IdMap = serde_json::from_str(text).map_err(|error| printable(&error.to_string()))?;
            for (id, name) in (0u64..).zip(ids.map).filter(|(_, name)| !name.is_empty()) {
                palette.types.insert(id, Entry { name: Some(short(&name)), color: None });
            }
            return Ok(palette);
        }
        let toml: Toml = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text.get(..span.start).unwrap_or(text).matches('\n').count() + 1);
            format!("line {line}: {}", printable(error.message()))
        })?;
        for (id, value) in toml.types {
            let number = id.trim().parse().map_err(|_| format!("`{}` is no id of a type", printable(&id)))?;
            let (name, color) = match value {
                Value::Name(name) => (Some(name), None),
                Value::Both { name, color } => (name, color),
            };
            let color = color.map(|text| parse_color(&text)).transpose()?;
            palette.types.insert(number, Entry { name: name.map(|name| short(&name)), color });
        }
        Ok(palette)
    }

    /// The names and colours that a save brings along, `SAVE/voxscope.toml` or `FILE.voxscope.toml`, and what is wrong with
    /// them; then those of the user.
    ///
    /// # Errors
    /// A sentence, when the file that the user named cannot be read. What is wrong with that of the save comes second.
    pub fn of_save(save: &Path, named: Option<&Path>) -> Result<(Self, Option<String>), String> {
        let beside = names_path(save);
        let found = std::fs::symlink_metadata(&beside).is_ok_and(|data| data.is_file());
        let (mut palette, wrong) = match found.then(|| Self::read_as(&beside, &beside)) {
            Some(Ok(palette)) => (palette, None),
            Some(Err(why)) => (Self::default(), Some(why)),
            None => (Self::default(), None),
        };
        if let Some(path) = named {
            palette.merge(Self::read(path)?);
        }
        Ok((palette, wrong))
    }
}

/// Where the names of a save are.
fn names_path(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.join("voxscope.toml");
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".voxscope.toml");
    path.with_file_name(name)
}

fn short(name: &str) -> String {
    printable(&name.chars().take(NAME).collect::<String>())
}

/// `#rrggbb`.
fn parse_color(text: &str) -> Result<Rgb, String> {
    let wrong = || format!("`{}` is no colour: one is written as #7f7f7f", printable(text));
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii()).ok_or_else(wrong)?;
    let number = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
    let [_, r, g, b] = number.to_be_bytes();
    Ok([r, g, b])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_colours_are_read_from_both_forms() {
        let palette = Palette::parse(
            "[types]\n1 = 'grass'\n2 = { name = 'stone', color = '#7f8001' }\n3 = { colour = '#000000' }",
        )
        .unwrap();
        assert_eq!((palette.name(1), palette.name(2), palette.name(3)), (Some("grass"), Some("stone"), None));
        assert_eq!((palette.color(2), palette.color(3)), ([127, 128, 1], [0, 0, 0]));
        let mut palette = Palette::parse(r#"{"map": ["air", "", "wood\u001b[2J"]}"#).unwrap();
        assert_eq!((palette.name(0), palette.name(1)), (Some("air"), None));
        assert!(!palette.name(2).unwrap().contains('\u{1b}'));
        palette.merge(Palette::parse("[types]\n0 = { color = '#010203' }").unwrap());
        assert_eq!((palette.name(0), palette.color(0)), (Some("air"), [1, 2, 3]));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, word) in [
            ("[types]\nx = 'a'", "no id"),
            ("[types]\n1 = { color = 'red' }", "no colour"),
            ("[types]\n1 = 2\n", "line"),
            ("\n[kinds]", "line 2"),
            ("{\"map\": 1}", "invalid type"),
        ] {
            let error = Palette::parse(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
