//! What of a damaged `map_data.json` can be read.

use serde_json::{Map as Object, Value as Json};

use crate::limits::{BYTE_ORDER_MARK, Limits, count_json_values};
use crate::voxel_map::map_json::MapData;

/// How deep brackets may nest.
const DEEPEST: usize = 64;

/// Fields that only a layer has.
const OF_A_LAYER: [&str; 2] = ["dataFile", "origin"];

/// Fields of the map beside its layers.
const OF_THE_MAP: [&str; 3] = ["mapID", "timestamp", "waterSurfaceLevel"];

/// The description as far as it can be read, for a text that is no JSON; `None` where not even the global layer can.
#[must_use]
pub fn recover(text: &[u8]) -> Option<Json> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    if count_json_values(text) > Limits::DEFAULT.json_values {
        return None;
    }
    let object = cut(text).or_else(|| pieces(text))?;
    object.get("global").filter(|global| is_layer(global))?;
    Some(Json::Object(object))
}

fn is_layer(json: &Json) -> bool {
    json.as_object().is_some_and(|object| OF_A_LAYER.iter().any(|field| object.contains_key(*field)))
}

/// A text that ends too early: what is complete before its end, with the brackets closed.
fn cut(text: &[u8]) -> Option<Object<String, Json>> {
    let error = serde_json::from_slice::<Json>(text).err()?;
    if !error.is_eof() {
        return None;
    }
    let (mut open, mut safe) = (Vec::new(), None);
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.iter().enumerate() {
        if quoted {
            quoted = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                open.pop();
                safe = Some((at + 1, open.clone()));
            }
            b',' => safe = Some((at, open.clone())),
            _ => {}
        }
        if open.len() > DEEPEST {
            return None;
        }
    }
    let (end, open) = safe?;
    let mut whole = text.get(..end)?.to_vec();
    whole.extend(open.iter().rev());
    match serde_json::from_slice(&whole).ok()? {
        Json::Object(mut object) => {
            // A layer that was cut has lost some of its fields; it is seen later whether the arrays show them.
            object.entry("locals").or_insert_with(|| Json::Array(Vec::new()));
            Some(object)
        }
        _ => None,
    }
}

/// A text that is damaged somewhere: the layers that are whole, and the fields of the map.
fn pieces(text: &[u8]) -> Option<Object<String, Json>> {
    let mut object = Object::new();
    for field in OF_THE_MAP {
        if let Some(value) = value_of(text, field).filter(|value| !value.is_object() && !value.is_array()) {
            object.insert(field.to_owned(), value);
        }
    }
    object.insert("global".to_owned(), value_of(text, "global")?);
    let mut locals = Vec::new();
    let from = find(text, b"\"locals\"").unwrap_or(text.len());
    let mut at = from;
    while let Some(next) = text.get(at..)?.iter().position(|b| *b == b'{') {
        at += next;
        match first_value(text.get(at..)?) {
            Some((json, len)) if is_layer(&json) => {
                locals.push(json);
                at += len;
            }
            _ => at += 1,
        }
    }
    object.insert("locals".to_owned(), Json::Array(locals));
    Some(object)
}

/// The value of the first field of this name.
fn value_of(text: &[u8], field: &str) -> Option<Json> {
    let quoted = format!("\"{field}\"");
    let rest = text.get(find(text, quoted.as_bytes())? + quoted.len()..)?.trim_ascii_start();
    Some(first_value(rest.strip_prefix(b":")?)?.0)
}

/// The JSON value that a text begins with, and how long it is.
fn first_value(text: &[u8]) -> Option<(Json, usize)> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Json>();
    let json = values.next()?.ok()?;
    Some((json, values.byte_offset()))
}

fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|part| part == word)
}

/// A description as it is read, from its JSON.
#[must_use]
pub fn data(json: &Json) -> Option<MapData> {
    MapData::decode(&serde_json::to_vec(json).ok()?).report_to(&mut Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"mapID": 7, "timestamp": "a, \"b\" }", "global": {"name": "g", "dataFile": "g.npy", "dim": [1, 2, 3]},
        "locals": [{"name": "l", "dataFile": "l.npy", "dim": [4, 5, 6]}, {"name": "m", "dataFile": "m.npy"}]}"#;

    #[test]
    fn a_text_that_is_cut_keeps_what_is_complete() {
        let whole: Json = serde_json::from_str(TEXT).unwrap();
        let mut best = 0;
        for len in 0..TEXT.len() {
            let Some(json) = recover(&TEXT.as_bytes()[..len]) else { continue };
            assert_eq!(json["global"]["name"], "g", "{len}");
            assert_eq!(json["timestamp"], whole["timestamp"]);
            let locals = json["locals"].as_array().unwrap();
            assert!(locals.len() >= best, "more text, fewer layers");
            best = locals.len();
            for (local, is) in locals.iter().zip(whole["locals"].as_array().unwrap()) {
                for (field, value) in local.as_object().unwrap() {
                    // The last list may be short of its end.
                    let short = value.as_array().is_some_and(|list| is[field].as_array().unwrap().starts_with(list));
                    assert!(short || *value == is[field], "{len}: {field}");
                }
            }
        }
        assert_eq!(best, 2);
    }

    #[test]
    fn a_text_that_is_damaged_keeps_the_layers_that_are_whole() {
        let json = recover(TEXT.replace("\"l.npy\"", "\u{1}l.npy\"").as_bytes()).unwrap();
        assert_eq!(json["mapID"], 7);
        assert_eq!(json["locals"].as_array().unwrap().len(), 1);
        assert_eq!(json["locals"][0]["name"], "m");
        assert!(recover(TEXT.replace("\"g.npy\"", "\u{1}g.npy\"").as_bytes()).is_none(), "no global layer");
        assert!(recover(b"").is_none() && recover(b"{{{{").is_none() && recover(&[b'['; 100_000]).is_none());
    }
}
