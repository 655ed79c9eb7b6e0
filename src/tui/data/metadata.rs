//! Metadata as the lines of a tree.

use crate::bytes::Span;
use crate::godot::instances::Instances;
use crate::godot::metadata::{Item, Metadata};
use crate::godot::stream::loc::Key;
use crate::godot::variant::{Dialect, Variant};
use crate::printable::{grouped, printable, triple};

/// Lines that one block's metadata may take; the last one counts what is beyond.
const LINES: usize = 20_000;

/// Characters of a value that are kept.
const WIDTH: usize = 400;

/// A line of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct MetaLine {
    /// How deep it is.
    pub depth: u8,
    /// The name: a key, an index, a voxel. Printable.
    pub name: String,
    /// The type.
    pub kind: String,
    /// The value on one line, printable; empty for what has lines below it.
    pub value: String,
    /// The voxel that it, or what it is in, belongs to.
    pub voxel: Option<[u16; 3]>,
    /// Its bytes in the decompressed block, where they are known.
    pub span: Option<Span>,
}

/// The key of a stream's row.
pub(super) fn key(key: Key<'_>) -> MetaLine {
    let (kind, value) = match key {
        Key::Null => ("NULL", String::new()),
        Key::Int(n) => ("number", n.to_string()),
        Key::Float(n) => ("number", n.to_string()),
        Key::Text(bytes) => ("text", printable(&String::from_utf8_lossy(bytes))),
        Key::Blob(bytes) => ("blob", bytes.iter().take(WIDTH / 2).map(|byte| format!("{byte:02x}")).collect()),
    };
    line(0, "key", kind, value, None)
}

fn line(depth: u8, name: &str, kind: &str, value: String, span: Option<Span>) -> MetaLine {
    MetaLine { depth, name: name.into(), kind: kind.into(), value, voxel: None, span }
}

/// The layers of a block's instances; their bytes are not those of the decompressed block.
pub(super) fn instances(data: &Instances<'_>) -> Vec<MetaLine> {
    let layers = data.layers.len();
    let words = format!("version {}, {layers} layer{}", data.version, if layers == 1 { "" } else { "s" });
    let mut out = vec![line(0, "instances", "instance data", words, None)];
    for layer in &data.layers {
        let (id, count) = (layer.id, layer.count);
        let scales = format!("{count}, scaled {} to {}", layer.scale_min, layer.scale_max);
        out.push(line(1, &format!("layer {id}"), "instances", scales, None));
        for (number, instance) in layer.instances().enumerate() {
            if out.len() >= LINES {
                out.push(line(0, "and more", "instances", String::new(), None));
                return out;
            }
            let [x, y, z] = instance.position(data.position_range);
            let scale = instance.scale(layer.scale_min, layer.scale_max);
            let [i, j, k, w] = instance.rotation();
            let words = format!("({x:.2}, {y:.2}, {z:.2}) scale {scale:.2} rotation ({i:.2}, {j:.2}, {k:.2}, {w:.2})");
            out.push(line(2, &number.to_string(), "instance", words, None));
        }
    }
    out
}

/// The lines of a block's metadata.
pub(super) fn lines(metadata: &Metadata<'_>) -> Vec<MetaLine> {
    let mut out = LineBuilder { lines: Vec::new(), left: 0, voxel: None };
    if let Some(item) = &metadata.block {
        out.item("block", item, metadata.dialect, 0, None);
    }
    for voxel in &metadata.voxels {
        out.voxel = Some(voxel.position);
        out.item(&format!("voxel {}", triple(voxel.position)), &voxel.item, metadata.dialect, 0, Some(voxel.span));
    }
    out.voxel = None;
    let (at, unread) = metadata.unread;
    if !unread.is_empty() {
        let span = Span::sized(at, crate::bytes::len64(unread));
        out.push(0, "could not be read", "bytes", format!("{} from {at:#x} on", unread.len()), Some(span));
    }
    if out.left > 0 {
        let left = out.left;
        out.lines.push(MetaLine {
            depth: 0,
            name: "and more".into(),
            kind: "lines".into(),
            value: left.to_string(),
            voxel: None,
            span: None,
        });
    }
    out.lines
}

struct LineBuilder {
    lines: Vec<MetaLine>,
    left: usize,
    voxel: Option<[u16; 3]>,
}

impl LineBuilder {
    fn push(&mut self, depth: u8, name: &str, kind: &str, value: String, span: Option<Span>) {
        if self.lines.len() >= LINES {
            self.left += 1;
            return;
        }
        self.lines.push(MetaLine {
            depth,
            name: printable(name),
            kind: printable(kind),
            value,
            voxel: self.voxel,
            span,
        });
    }

    fn item(&mut self, name: &str, item: &Item<'_>, dialect: Dialect, depth: u8, span: Option<Span>) {
        match item {
            Item::Empty => self.push(depth, name, "empty", String::new(), span),
            Item::Number(n) => self.push(depth, name, "u64", n.to_string(), span),
            Item::Float(bits) => self.push(depth, name, "f64", f64::from_bits(*bits).to_string(), span),
            Item::Text(text) => self.push(depth, name, "text", one_line(text), span),
            Item::Bytes(bytes) => self.push(depth, name, "bytes", one_line(&crate::printable::hex(bytes)), span),
            Item::Custom { kind, bytes } => {
                self.push(
                    depth,
                    name,
                    &format!("type {kind} of the game's own"),
                    crate::printable::count(bytes.len() as u64, "byte"),
                    span,
                );
            }
            Item::Variant(value) => self.variant(name, value, dialect, depth, span),
        }
    }

    fn variant(&mut self, name: &str, value: &Variant<'_>, dialect: Dialect, depth: u8, span: Option<Span>) {
        let kind = value.type_().name(dialect);
        let below = depth.saturating_add(1);
        match value {
            Variant::Dictionary(dictionary) if self.lines.len() < LINES => {
                self.push(
                    depth,
                    name,
                    kind,
                    match dictionary.pairs.len() {
                        1 => "1 entry".to_owned(),
                        n => format!("{} entries", grouped(n as u64)),
                    },
                    span,
                );
                for (key, value) in &dictionary.pairs {
                    self.variant(&one_line(&key.text(dialect)), value, dialect, below, None);
                }
            }
            Variant::Array(array) if self.lines.len() < LINES => {
                self.push(depth, name, kind, format!("{} items", array.items.len()), span);
                for (i, value) in array.items.iter().enumerate() {
                    self.variant(&format!("[{i}]"), value, dialect, below, None);
                }
            }
            _ => self.push(depth, name, kind, one_line(&value.text(dialect)), span),
        }
    }
}

/// A text on one line that is not too long.
fn one_line(text: &str) -> String {
    let short: String = text.chars().take(WIDTH).map(|c| if c == '\n' { ' ' } else { c }).collect();
    printable(&short)
}
