//! The description of a map, `map_data.json`.
//!
//! ```text
//! { "mapID", "timestamp", "waterSurfaceLevel" (optional), "global": layer, "locals": [layer, ...] }
//! layer: "name", "type", "format", "blockSize", "dataFile", "depthFile", "indexFile", "blockCount",
//!        "origin": [f32; 3], "step": [f32; 3], "dim": [int; 3]
//! ```
//!
//! Source: the format's published page and real exports, which have no `depthFile` in dense layers. A file may begin with
//! a byte order mark. Unknown fields, and known fields with invalid values, are kept as they are.

mod spans;

use std::io;

use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map as Object, Number, Value as Json};

use crate::bytes::{Span, index, len64};
use crate::damage::{Code, Damage, Decoded, ShortText, Value};
use crate::limits::{BYTE_ORDER_MARK, CUT_OFF, Limits, parse_json};
use crate::voxel_map::place::{Frame, nearest};

pub use spans::layer_spans;

/// The name of the file.
pub const FILE_NAME: &str = "map_data.json";

/// The description of a map; a field that is missing or not valid is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapData {
    /// `mapID`.
    pub map_id: Option<i64>,
    /// The date of the export, as stored.
    pub timestamp: Option<String>,
    /// The height of the water's surface in the world.
    pub water_surface_level: Option<f64>,
    /// The layer of the whole map.
    pub global: Option<Layer>,
    /// Layers of parts of the map, finer than `global`.
    pub locals: Vec<Layer>,
    /// Unknown fields, and fields that could not be read, as stored.
    pub extra: Object<String, Json>,
}

/// The description of one layer; a field that is missing or not valid is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layer {
    /// Its name; several layers may have the same.
    pub name: Option<String>,
    /// `type`: `Global` or `LocalStock`.
    pub kind: Option<String>,
    /// How its voxels are stored.
    pub format: Option<Format>,
    /// Voxels along each axis of a block: 16, or 0 in a dense layer.
    pub block_size: Option<u32>,
    /// The file of the voxels. As it is written: see [`plain_name`].
    pub data_file: Option<String>,
    /// The file of the depths; empty or absent if there is none.
    pub depth_file: Option<String>,
    /// The file of the block coordinates; empty in a dense layer.
    pub index_file: Option<String>,
    /// Number of blocks, 0 in a dense layer.
    pub block_count: Option<u64>,
    /// The corner of cell (0, 0, 0) in the world.
    pub origin: Option<[f32; 3]>,
    /// Size of a cell in the world.
    pub step: Option<[f32; 3]>,
    /// Cells along each axis.
    pub dim: Option<[u32; 3]>,
    /// Unknown fields, and fields that could not be read, as stored.
    pub extra: Object<String, Json>,
}

/// How a layer's voxels are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One array of all cells.
    Dense,
    /// Blocks of 16 x 16 x 16, where there is something.
    BlockSparse,
}

impl Format {
    /// As it is written in the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::BlockSparse => "block_sparse",
        }
    }
}

/// Why a file name out of a map is not opened; `Ok` for a plain name, which stays inside the map's directory. Spaces,
/// brackets and any letters may be in it.
///
/// # Errors
/// What is wrong with the name.
pub fn plain_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("empty");
    }
    // Windows strips trailing dots and spaces, so `.. ` means `..` there.
    if name.trim_end_matches(['.', ' ']).is_empty() {
        return Err("a directory (`.` or `..`)");
    }
    if name.contains(['/', '\\']) {
        return Err("a path, not a plain name");
    }
    if name.contains(':') {
        return Err("a name with a drive");
    }
    if name.contains('\0') {
        return Err("a name with a zero byte");
    }
    Ok(())
}

impl Layer {
    /// Its place, if all fields for it can be read.
    #[must_use]
    pub fn frame(&self) -> Option<Frame> {
        Some(Frame { origin: self.origin?, step: self.step?, dim: self.dim? })
    }
}

impl MapData {
    /// Decodes a whole `map_data.json`; `None` when it is not a JSON object. The bytes of a
    /// damage are those of the layer it is in ([`layer_spans`] gives them in the order of [`layers`](Self::layers)).
    pub fn decode(data: &[u8]) -> Decoded<Option<Self>> {
        Decoded::collect(|damage| Self::decode_into(data, damage))
    }

    fn decode_into(data: &[u8], damage: &mut Vec<Damage>) -> Option<Self> {
        let all = Span::sized(0, len64(data));
        let text = data.strip_prefix(BYTE_ORDER_MARK).unwrap_or(data);
        let skipped = all.end.saturating_sub(len64(text));
        let object = match parse_json(text) {
            Ok(Ok(Json::Object(object))) => object,
            Ok(Err(values)) => {
                let most = u64::try_from(Limits::DEFAULT.json_values).unwrap_or(u64::MAX);
                let damaged = Damage::new(Code::OverLimit, all, "values of map_data.json");
                damage.push(damaged.expected(Value::AtMost(most)).found(Value::Number(values)));
                return None;
            }
            Ok(Ok(_)) => {
                damage.push(Damage::new(Code::MapUnreadable, all, "JSON").expected(Value::Words("an object")));
                return None;
            }
            Err(error) => {
                let at = skipped.saturating_add(offset_of(text, error.line(), error.column()));
                let found = match error.classify() {
                    _ if text.is_empty() => "empty",
                    serde_json::error::Category::Eof => CUT_OFF,
                    _ => "not JSON here",
                };
                damage.push(
                    Damage::new(Code::MapUnreadable, Span::new(at, all.end), "map_data.json")
                        .found(Value::Words(found)),
                );
                return None;
            }
        };
        let spans = layer_spans(data);
        let mut spans = spans.into_iter();
        let mut fields = Fields { object, span: all, damage };
        let map_id = fields.take("mapID", true, "a whole number", Json::as_i64);
        let timestamp = fields.text("timestamp", true);
        let water_surface_level = fields.take("waterSurfaceLevel", false, "a number", Json::as_f64);
        let global = fields.take_whole("global", "an object", Json::is_object);
        let locals = fields.take_whole("locals", "a list", Json::is_array);
        let extra = fields.rest(&["mapID", "timestamp", "waterSurfaceLevel", "global", "locals"]);
        let global = match global {
            Some(Json::Object(object)) => Some(Layer::decode(object, spans.next().unwrap_or(all), damage)),
            _ => None,
        };
        let locals = if let Some(Json::Array(locals)) = locals { locals } else { Vec::new() };
        let mut layers = Vec::new();
        for json in locals {
            let span = spans.next().unwrap_or(all);
            if layers.len() >= Limits::DEFAULT.map_layers {
                let limit = Value::AtMost(u64::try_from(Limits::DEFAULT.map_layers).unwrap_or(u64::MAX));
                damage.push(Damage::new(Code::OverLimit, Span::new(span.start, all.end), "layers").expected(limit));
                break;
            }
            if let Json::Object(object) = json {
                layers.push(Layer::decode(object, span, damage));
            } else {
                let fault = Damage::new(Code::MapField, span, "layer").expected(Value::Words("an object"));
                damage.push(fault.found(shown(&json)));
                layers.push(Layer::default());
            }
        }
        let map = Self { map_id, timestamp, water_surface_level, global, locals: layers, extra };
        map.same_names(all, damage);
        Some(map)
    }

    /// All layers: `global`, if there is one, and then `locals` in their order.
    pub fn layers(&self) -> impl Iterator<Item = &Layer> {
        self.global.iter().chain(&self.locals)
    }

    /// Encodes as the exporter does: the fields in its order, four spaces, no line break at the end. Fields that are
    /// `None` are left out, those in `extra` come last.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Object::new();
        put(&mut out, "mapID", self.map_id.map(Json::from));
        put(&mut out, "timestamp", self.timestamp.clone().map(Json::from));
        put(&mut out, "waterSurfaceLevel", self.water_surface_level.map(Json::from));
        put(&mut out, "global", self.global.as_ref().map(Layer::json));
        if !self.extra.contains_key("locals") {
            put(&mut out, "locals", Some(self.locals.iter().map(Layer::json).collect()));
        }
        keep(&mut out, &self.extra);
        let mut text = Vec::new();
        let mut to = Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(b"    "));
        // Writing JSON to memory cannot fail.
        let _ = serde::Serialize::serialize(&Json::Object(out), &mut to);
        text
    }

    /// One note for all names that more than one layer has.
    fn same_names(&self, all: Span, damage: &mut Vec<Damage>) {
        let mut names: Vec<&str> = self.layers().filter_map(|layer| layer.name.as_deref()).collect();
        names.sort_unstable();
        let same = names.iter().zip(names.iter().skip(1)).filter(|(a, b)| a == b).count();
        if same > 0 {
            let found = Value::Number(u64::try_from(same).unwrap_or(u64::MAX));
            damage.push(Damage::new(Code::MapLayerName, all, "layers with a name that was there before").found(found));
        }
    }
}

impl Layer {
    fn decode(object: Object<String, Json>, span: Span, damage: &mut Vec<Damage>) -> Self {
        let mut fields = Fields { object, span, damage };
        let whole = |json: &Json| json.as_u64();
        let mut layer = Self {
            name: fields.text("name", true),
            kind: fields.text("type", true),
            format: fields.format(),
            block_size: fields.take("blockSize", true, "a whole number from 0", |json| {
                json.as_u64().and_then(|n| u32::try_from(n).ok())
            }),
            data_file: fields.text("dataFile", true),
            depth_file: fields.text("depthFile", false),
            index_file: fields.text("indexFile", false),
            block_count: fields.take("blockCount", true, "a whole number from 0", whole),
            origin: fields.take("origin", true, "three finite numbers", |json| {
                triple(json, |n| n.as_f64().map(nearest).filter(|n| n.is_finite()))
            }),
            step: fields.take("step", true, "three finite numbers above 0", |json| {
                triple(json, |n| n.as_f64().map(nearest).filter(|n| n.is_finite() && *n > 0.0))
            }),
            dim: fields.take("dim", true, "three whole numbers from 1", |json| {
                triple(json, |n| {
                    n.as_u64().and_then(|n| i32::try_from(n).ok()?.try_into().ok()).filter(|&n: &u32| n > 0)
                })
            }),
            extra: Object::new(),
        };
        layer.extra = fields.rest(&KNOWN);
        layer
    }

    fn json(&self) -> Json {
        let mut out = Object::new();
        let text = |t: &Option<String>| t.clone().map(Json::from);
        let numbers = |n: [f32; 3]| n.map(|n| Number::from_f64(f64::from(n)).map_or(Json::Null, Json::Number)).into();
        let values = [
            text(&self.name),
            text(&self.kind),
            self.format.map(|format| Json::from(format.name())),
            self.block_size.map(Json::from),
            text(&self.data_file),
            text(&self.depth_file),
            text(&self.index_file),
            self.block_count.map(Json::from),
            self.origin.map(numbers),
            self.step.map(numbers),
            self.dim.map(|dim| dim.map(Json::from).into()),
        ];
        for (name, value) in KNOWN.into_iter().zip(values) {
            put(&mut out, name, value);
        }
        keep(&mut out, &self.extra);
        Json::Object(out)
    }
}

/// The fields of a layer, in the order in which the exporter writes them.
const KNOWN: [&str; 11] = [
    "name",
    "type",
    "format",
    "blockSize",
    "dataFile",
    "depthFile",
    "indexFile",
    "blockCount",
    "origin",
    "step",
    "dim",
];

/// The fields of an object that are still to be read.
struct Fields<'d> {
    object: Object<String, Json>,
    span: Span,
    damage: &'d mut Vec<Damage>,
}

impl Fields<'_> {
    /// Takes a field out; one that `read` cannot read is damage and stays.
    fn take<T>(
        &mut self,
        field: &'static str,
        required: bool,
        expected: &'static str,
        read: impl FnOnce(&Json) -> Option<T>,
    ) -> Option<T> {
        let value = self.object.get(field);
        let found = match value {
            None if !required => return None,
            None => Value::Words("missing"),
            Some(json) => {
                if let Some(value) = read(json) {
                    self.object.shift_remove(field);
                    return Some(value);
                }
                shown(json)
            }
        };
        self.fault(Code::MapField, field, expected, found);
        None
    }

    /// Takes a required field out as it is if it is of the right kind; otherwise it is damage and stays.
    fn take_whole(&mut self, field: &'static str, expected: &'static str, is: fn(&Json) -> bool) -> Option<Json> {
        if self.object.get(field).is_some_and(is) {
            return self.object.shift_remove(field);
        }
        self.take(field, true, expected, |_| None)
    }

    fn text(&mut self, field: &'static str, required: bool) -> Option<String> {
        self.take(field, required, "text", |json| json.as_str().map(str::to_owned))
    }

    fn format(&mut self) -> Option<Format> {
        let field = "format";
        let known = [Format::Dense, Format::BlockSparse];
        match self.object.get(field).and_then(Json::as_str) {
            None => self.text(field, true).and(None),
            Some(text) => {
                let format = known.into_iter().find(|format| format.name() == text);
                if format.is_some() {
                    self.object.shift_remove(field);
                } else {
                    self.fault(Code::MapFormat, field, "dense or block_sparse", Value::Text(ShortText::new(text)));
                }
                format
            }
        }
    }

    fn fault(&mut self, code: Code, field: &'static str, expected: &'static str, found: Value) {
        let fault = Damage::new(code, self.span, field).expected(Value::Words(expected)).found(found);
        self.damage.push(fault);
    }

    /// The remaining fields; pushes a note if some are unknown.
    fn rest(self, known: &[&str]) -> Object<String, Json> {
        let unknown = self.object.keys().filter(|key| !known.contains(&key.as_str())).count();
        if unknown > 0 {
            let found = Value::Number(u64::try_from(unknown).unwrap_or(u64::MAX));
            self.damage.push(Damage::new(Code::MapExtra, self.span, "number of unknown fields").found(found));
        }
        self.object
    }
}

fn triple<T>(json: &Json, read: impl Fn(&Json) -> Option<T>) -> Option<[T; 3]> {
    let [x, y, z] = json.as_array()?.as_slice() else { return None };
    Some([read(x)?, read(y)?, read(z)?])
}

/// The beginning of a value, for a message.
fn shown(json: &Json) -> Value {
    let mut head = Head::default();
    // A value that is longer than its beginning ends with an error.
    let _ = serde_json::to_writer(&mut head, json);
    Value::Text(ShortText::new(&String::from_utf8_lossy(&head.0)))
}

/// The first bytes of what is written into it.
#[derive(Default)]
struct Head(Vec<u8>);

/// Bytes of a value that are enough for a message.
const SHOWN: usize = 64;

impl io::Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() >= SHOWN {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.0.extend(bytes.iter().take(SHOWN));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn put(out: &mut Object<String, Json>, name: &str, value: Option<Json>) {
    if let Some(value) = value {
        out.insert(name.to_owned(), value);
    }
}

/// Adds fields that do not exist yet.
fn keep(out: &mut Object<String, Json>, extra: &Object<String, Json>) {
    for (name, value) in extra {
        out.entry(name.as_str()).or_insert_with(|| value.clone());
    }
}

/// The byte offset of a line and column, both counted from 1 as `serde_json` does (a column of 0 is the line's start).
fn offset_of(data: &[u8], line: usize, column: usize) -> u64 {
    let lines = data.split_inclusive(|&b| b == b'\n').take(line.saturating_sub(1));
    let before = lines.fold(0u64, |n, line| n.saturating_add(len64(line)));
    let column = u64::try_from(column.saturating_sub(1)).unwrap_or(u64::MAX);
    len64(data).min(before.saturating_add(column))
}

/// The bytes of a span.
fn slice(data: &[u8], span: Span) -> &[u8] {
    data.get(index(span.start)..index(span.end)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
