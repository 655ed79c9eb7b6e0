//! Descriptions of voxel maps, as text.

use arbitrary::{Result, Unstructured};
use voxscope::bytes::Span;
use voxscope::damage::{Code, Space};
use voxscope::voxel_map::map_json::{Format, MapData, layer_spans};

use super::{Case, Dice, Kind, Model, Place, Seen};
use crate::oracles::map_json as raw;

type Fields = Vec<(&'static str, String)>;

/// A description: its own fields, and those of each layer, the first of which is `global`.
#[derive(Debug)]
pub struct Map {
    own: Fields,
    layers: Vec<Layer>,
    space: &'static str,
    mark: bool,
}

/// A layer: what it should be read as, and its fields as text.
#[derive(Clone, Debug)]
struct Layer {
    dense: bool,
    dim: [u32; 3],
    blocks: u64,
    origin: [f32; 3],
    step: [f32; 3],
    fields: Fields,
}

/// Fields that a description and a layer must have.
const OWN: [&str; 2] = ["mapID", "timestamp"];
const OF_LAYER: [&str; 9] = ["name", "type", "format", "blockSize", "dataFile", "blockCount", "origin", "step", "dim"];

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

impl Layer {
    fn make(u: &mut Unstructured<'_>, n: usize) -> Result<Self> {
        let (bits, dim, blocks): (u8, [u16; 3], u16) = u.arbitrary()?;
        let (origin, step): ([i16; 3], [u8; 3]) = u.arbitrary()?;
        let mut layer = Self {
            dense: bits & 1 == 1,
            dim: dim.map(|n| 1 + u32::from(n)),
            blocks: blocks.into(),
            origin: origin.map(|n| f32::from(n) / 8.0),
            step: step.map(|n| (1.0 + f32::from(n)) / 4.0),
            fields: Vec::new(),
        };
        let names = ["", "\u{6e56} [1]", "a (b)", ".x"];
        let file = |what: &str| quoted(&format!("{}{n}{what}.npy", names[usize::from(bits >> 1 & 3)]));
        let triple = |numbers: [f32; 3]| format!("{numbers:?}");
        layer.fields = vec![
            ("name", quoted(&format!("Lake {n}"))),
            ("type", quoted(if n == 0 { "Global" } else { "LocalStock" })),
            ("format", quoted(if layer.dense { "dense" } else { "block_sparse" })),
            ("blockSize", if layer.dense { "0" } else { "16" }.to_owned()),
            ("dataFile", file("d")),
            ("depthFile", if bits & 8 == 8 { file("z") } else { quoted("") }),
            ("indexFile", if layer.dense { quoted("") } else { file("i") }),
            ("blockCount", layer.blocks.to_string()),
            ("origin", triple(layer.origin)),
            ("step", triple(layer.step)),
            ("dim", format!("{:?}", layer.dim)),
        ];
        let len = layer.fields.len();
        layer.fields.rotate_left(usize::from(bits >> 4) % len);
        Ok(layer)
    }
}

impl Map {
    /// The text, and where each layer is in it.
    fn text(&self) -> (Vec<u8>, Vec<Span>) {
        let s = self.space;
        let mut out = if self.mark { "\u{feff}" } else { "" }.to_owned();
        let fields = |fields: &Fields| {
            fields.iter().map(|(name, value)| format!("{s}\"{name}\":{s}{value}")).collect::<Vec<_>>().join(",")
        };
        let mut spans = Vec::new();
        let mut put = |out: &mut String, layer: &Layer| {
            let start = out.len() as u64;
            out.push_str(&format!("{{{}{s}}}", fields(&layer.fields)));
            spans.push(Span::new(start, out.len() as u64));
        };
        out.push_str(&format!("{{{}", fields(&self.own)));
        let comma = if self.own.is_empty() { "" } else { "," };
        let mut layers = self.layers.iter();
        if let Some(global) = layers.next() {
            out.push_str(&format!("{comma}{s}\"global\":{s}"));
            put(&mut out, global);
        }
        out.push_str(&format!(",{s}\"locals\":{s}["));
        for (n, layer) in layers.enumerate() {
            out.push_str(if n > 0 { "," } else { "" });
            put(&mut out, layer);
        }
        out.push_str(&format!("{s}]{s}}}"));
        (out.into_bytes(), spans)
    }

    /// A copy, to be damaged.
    fn copy(&self) -> Self {
        Self { own: self.own.clone(), layers: self.layers.clone(), ..*self }
    }

    /// Some layer of a copy.
    fn layer(&self, dice: &mut Dice) -> (Self, usize) {
        let n = dice.below(self.layers.len());
        (self.copy(), n)
    }
}

impl Model for Map {
    fn make(u: &mut Unstructured<'_>) -> Result<Self> {
        let (bits, id, level): (u8, u32, i16) = u.arbitrary()?;
        let mut own = vec![("mapID", id.to_string()), ("timestamp", quoted("2024-01-02 03:04:05"))];
        own.extend((bits & 1 == 1).then(|| ("waterSurfaceLevel", format!("{:?}", f64::from(level) / 16.0))));
        let mut layers = Vec::new();
        for n in 0..=usize::from(bits >> 1 & 3) {
            layers.push(Layer::make(u, n)?);
        }
        let space = ["", " ", "\n    ", "\r\n\t"][usize::from(bits >> 3 & 3)];
        Ok(Self { own, layers, space, mark: bits >> 5 == 7 })
    }

    fn bytes(&self) -> Vec<u8> {
        self.text().0
    }

    fn look(&self, bytes: &[u8]) -> Vec<Seen> {
        let mut damage = Vec::new();
        let _ = MapData::decode(bytes).report_to(&mut damage);
        damage.into_iter().map(Seen::from).collect()
    }

    fn compare(&self, bytes: &[u8]) {
        let mut damage = Vec::new();
        let Some(found) = MapData::decode(bytes).report_to(&mut damage) else { panic!("not read: {damage:?}") };
        assert_eq!(damage, [], "of a healthy description");
        assert_eq!(layer_spans(bytes), self.text().1, "layers elsewhere");
        assert_eq!(found.layers().count(), self.layers.len());
        for (found, layer) in found.layers().zip(&self.layers) {
            let format = if layer.dense { Format::Dense } else { Format::BlockSparse };
            assert_eq!(
                (found.format, found.dim, found.block_count),
                (Some(format), Some(layer.dim), Some(layer.blocks))
            );
            assert_eq!((found.origin, found.step), (Some(layer.origin), Some(layer.step)));
            let Some(frame) = found.frame() else { panic!("no frame of {found:?}") };
            cells(layer, &frame);
        }
        let again = MapData::decode(&found.encode()).report_to(&mut damage);
        assert_eq!((again.as_ref(), damage.as_slice()), (Some(&found), &[][..]), "not read as it was written");
        raw::check(bytes);
    }

    fn any(&self, bytes: &[u8]) {
        raw::check(bytes);
    }

    fn kinds() -> &'static [Kind<Self>] {
        const {
            &[
                Kind { name: "field_missing", apply: field_missing },
                Kind { name: "field_of_another_type", apply: field_of_another_type },
                Kind { name: "layer_field_missing", apply: layer_field_missing },
                Kind { name: "layer_field_of_another_type", apply: layer_field_of_another_type },
                Kind { name: "layer_field_out_of_range", apply: layer_field_out_of_range },
                Kind { name: "layer_format_unknown", apply: layer_format_unknown },
                Kind { name: "layer_field_unknown", apply: layer_field_unknown },
                Kind { name: "layer_names_the_same", apply: layer_names_the_same },
                Kind { name: "field_unknown", apply: field_unknown },
                Kind { name: "file_cut", apply: file_cut },
                Kind { name: "byte_out_of_place", apply: byte_out_of_place },
                Kind { name: "no_object", apply: no_object },
            ]
        }
    }
}

/// Positions in the world are in the cells that the description puts them in: all numbers here are exact in 32 bits.
fn cells(layer: &Layer, frame: &voxscope::voxel_map::place::Frame) {
    let cell = [0, 1, 2].map(|axis| layer.dim[axis] / 2);
    let place = |inside: f64| {
        [0, 1, 2]
            .map(|axis| f64::from(layer.origin[axis]) + (f64::from(cell[axis]) + inside) * f64::from(layer.step[axis]))
    };
    for inside in [0.0, 0.25, 0.75] {
        assert_eq!(frame.cell(place(inside)), Some(cell), "cell at {inside} of {layer:?}");
    }
    let below = [0, 1, 2].map(|axis| f64::from(layer.origin[axis]) - f64::from(layer.step[axis]) / 4.0);
    assert_eq!(frame.cell(below), None, "below the origin there is nothing");
}

fn set(fields: &mut Fields, name: &str, value: &str) {
    fields.iter_mut().filter(|field| field.0 == name).for_each(|field| field.1 = value.to_owned());
}

/// A field of the description as such: its damage is at all of the file.
fn own(map: &Map, field: &'static str, code: Code) -> Option<Case> {
    let bytes = map.text().0;
    let span = Span::sized(0, bytes.len() as u64);
    Some(Case::of(bytes, &[code], Place::FieldAt(field, span)))
}

/// A field of a layer: its damage is at the layer.
fn of_layer(map: &Map, n: usize, field: &'static str, code: Code) -> Option<Case> {
    let (bytes, spans) = map.text();
    Some(Case::of(bytes, &[code], Place::FieldAt(field, *spans.get(n)?)))
}

fn field_missing(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut map = map.copy();
    let name = dice.one(&OWN)?;
    map.own.retain(|field| field.0 != name);
    own(&map, name, Code::MapField)
}

fn field_of_another_type(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut map = map.copy();
    let name = dice.one(&map.own)?.0;
    let value =
        dice.one(if name == "timestamp" { &["1", "null", "{}", "[]"] } else { &["\"1\"", "null", "{}", "[]"] })?;
    set(&mut map.own, name, value);
    own(&map, name, Code::MapField)
}

fn layer_field_missing(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (mut map, n) = map.layer(dice);
    let name = dice.one(&OF_LAYER)?;
    map.layers[n].fields.retain(|field| field.0 != name);
    of_layer(&map, n, name, Code::MapField)
}

fn layer_field_of_another_type(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (mut map, n) = map.layer(dice);
    let name = dice.one(&map.layers[n].fields)?.0;
    let value = dice.one(&["true", "null", "{}", "[1]", "[1, 2, \"3\"]", "[1, 2, 3, 4]", "[]"])?;
    set(&mut map.layers[n].fields, name, value);
    of_layer(&map, n, name, Code::MapField)
}

fn layer_field_out_of_range(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (mut map, n) = map.layer(dice);
    let (name, value) = dice.one(&[
        ("dim", "[0, 1, 1]"),
        ("dim", "[1, 2147483648, 1]"),
        ("dim", "[1, 1, -1]"),
        ("dim", "[1, 1.5, 1]"),
        ("step", "[1, 0, 1]"),
        ("step", "[1, 1, -0.5]"),
        ("step", "[1e39, 1, 1]"),
        ("step", "[1, 1e-60, 1]"),
        ("origin", "[1, 1e39, 1]"),
        ("blockSize", "-16"),
        ("blockSize", "4294967296"),
        ("blockCount", "-1"),
        ("blockCount", "0.5"),
    ])?;
    set(&mut map.layers[n].fields, name, value);
    of_layer(&map, n, name, Code::MapField)
}

fn layer_format_unknown(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (mut map, n) = map.layer(dice);
    let value = dice.one(&["\"octree\"", "\"\"", "\"Dense\"", "\"block_sparse \""])?;
    set(&mut map.layers[n].fields, "format", value);
    of_layer(&map, n, "format", Code::MapFormat)
}

/// A name that is nobody's, somewhere among fields.
fn foreign(fields: &mut Fields, dice: &mut Dice) -> Option<()> {
    let name = dice.one(&["mods", "Dim", "", "\\u001b[2J", "global2"])?;
    fields.insert(dice.below(fields.len() + 1), (name, "[{\"dim\": 1}, \"}\"]".to_owned()));
    Some(())
}

fn layer_field_unknown(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (mut map, n) = map.layer(dice);
    foreign(&mut map.layers[n].fields, dice)?;
    of_layer(&map, n, "number of unknown fields", Code::MapExtra)
}

fn field_unknown(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut map = map.copy();
    foreign(&mut map.own, dice)?;
    own(&map, "number of unknown fields", Code::MapExtra)
}

fn layer_names_the_same(map: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (mut map, n) = map.layer(dice);
    let other = dice.below(map.layers.len());
    if other == n {
        return None;
    }
    set(&mut map.layers[n].fields, "name", &format!("\"Lake {other}\""));
    own(&map, "layers with a name that was there before", Code::MapLayerName)
}

fn file_cut(_: &Map, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    bytes.truncate(dice.below(bytes.len()));
    let end = bytes.len() as u64;
    Some(Case::of(bytes, &[Code::MapUnreadable], Place::Touching(Span::new(end, end))))
}

fn byte_out_of_place(map: &Map, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    // Half a byte order mark is none, and all of it out of place.
    let at = dice.within(if map.mark { 3 } else { 0 }, bytes.len() - 1);
    bytes[at] = dice.one(&[0, 1, 7, 0x1f])?;
    let end = bytes.len() as u64;
    Some(Case::of(bytes, &[Code::MapUnreadable], Place::At(Space::File, Span::new(at as u64, end))))
}

fn no_object(_: &Map, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let bytes = dice.one(&["[]", "3", "\"mapID\"", "null", "[{\"mapID\": 3}]"])?.as_bytes().to_vec();
    let span = Span::sized(0, bytes.len() as u64);
    Some(Case::of(bytes, &[Code::MapUnreadable], Place::At(Space::File, span)))
}
