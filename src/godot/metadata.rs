//! Metadata of a block and of its voxels.
//!
//! ```text
//! size u32 · the block's item · (x, y, z u16 · item) until `size` bytes are used up
//! item, versions 1 to 3:  a Variant
//! item, version 4:        type u8 · 0 nothing · 1 u64 · 32 a Variant · 33.. bytes of the application, of unknown length
//! of the Rust port:       40 f64 · 41 u32 length, UTF-8 · 42 u32 length, bytes
//! ```
//!
//! Source: Godot Voxel's page "Voxel block format". The engine writes nothing at all when no metadata is set. A position
//! outside the block is read here with its item; the engine skips it and takes the item's bytes for the next position.
//! Types 40 to 42 are those of `godot_voxel_rust`. They belong to any application, so they are read as the port's only where
//! all metadata of the block then fits its size exactly.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};

use crate::bytes::{Cursor, Span, index, len64};
use crate::damage::{Code, Damage, Value};
use crate::godot::variant::{self, Budget, Dialect, Variant};
use crate::limits::Limits;

/// The content of an item.
#[derive(Clone, Debug, PartialEq)]
pub enum Item<'a> {
    /// Type 0.
    Empty,
    /// Type 1.
    Number(u64),
    /// Type 32, and every item of versions 1 to 3.
    Variant(Variant<'a>),
    /// Type 40 of the Rust port: the bits of an `f64`.
    Float(u64),
    /// Type 41 of the Rust port.
    Text(&'a str),
    /// Type 42 of the Rust port.
    Bytes(&'a [u8]),
    /// Type 33 and above, defined by the application. The bytes extend to the end of the metadata.
    Custom {
        /// The type.
        kind: u8,
        /// All bytes to the end of the metadata.
        bytes: &'a [u8],
    },
}

/// The item of one voxel.
#[derive(Clone, Debug, PartialEq)]
pub struct VoxelItem<'a> {
    /// Position in the block.
    pub position: [u16; 3],
    /// Its content.
    pub item: Item<'a>,
    /// Its bytes in the block, with the position.
    pub span: Span,
}

/// All metadata of a block, as far as it could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata<'a> {
    /// The size that it declares, in bytes.
    pub declared: u32,
    /// The dialect its Variants were read in.
    pub dialect: Dialect,
    /// The block's own item; `None` when it could not be read.
    pub block: Option<Item<'a>>,
    /// The voxels' items, in their order in the file.
    pub voxels: Vec<VoxelItem<'a>>,
    /// The bytes that could not be read, from the item with the fault on, and their offset in the block.
    pub unread: (u64, &'a [u8]),
}

impl Item<'_> {
    /// As JSON: an object with `kind` (`empty`, `u64`, `f64`, `text`, `bytes`, `custom`, `variant`) and what belongs to it.
    #[must_use]
    pub fn to_json(&self, dialect: Dialect) -> Json {
        match self {
            Self::Empty => json!({ "kind": "empty" }),
            Self::Number(n) => json!({ "kind": "u64", "value": n }),
            Self::Float(bits) => {
                json!({ "kind": "f64", "value": Variant::float(f64::from_bits(*bits)).to_json(dialect) })
            }
            Self::Text(text) => json!({ "kind": "text", "value": text }),
            Self::Bytes(bytes) => json!({ "kind": "bytes", "value": crate::printable::hex(bytes) }),
            Self::Custom { kind, bytes } => json!({ "kind": "custom", "type": kind, "bytes": bytes.len() }),
            Self::Variant(value) => json!({
                "kind": "variant",
                "type": value.type_().name(dialect),
                "value": value.to_json(dialect),
            }),
        }
    }

    /// Writes what [`Item::to_json`] gives, without a value of all of it in memory.
    pub fn write_json(&self, dialect: Dialect, out: &mut Vec<u8>) {
        let Self::Variant(value) = self else {
            // Writing to memory cannot fail.
            let _ = serde_json::to_writer(out, &self.to_json(dialect));
            return;
        };
        out.extend_from_slice(b"{\"kind\":\"variant\",\"type\":");
        let _ = serde_json::to_writer(&mut *out, value.type_().name(dialect));
        out.extend_from_slice(b",\"value\":");
        value.write_json(dialect, out);
        out.push(b'}');
    }

    /// Whether it has a type of the Rust port, which the engine does not know.
    #[must_use]
    pub const fn is_of_port(&self) -> bool {
        matches!(self, Self::Float(_) | Self::Text(_) | Self::Bytes(_))
    }
}

impl Metadata<'_> {
    /// Number of items that are not empty.
    #[must_use]
    pub fn items(&self) -> u32 {
        let items = self.block.iter().chain(self.voxels.iter().map(|voxel| &voxel.item));
        u32::try_from(items.filter(|item| !matches!(item, Item::Empty)).count()).unwrap_or(u32::MAX)
    }

    /// As JSON, as it is serialized.
    #[must_use]
    pub fn to_json(&self) -> Json {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// As JSON: `declared`, `dialect`, `block`, `voxels` (`position` in the block, `item`), `unread_bytes`. Item by item: values of all
/// of them would take many times the bytes of the metadata.
impl Serialize for Metadata<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_struct("Metadata", 5)?;
        all.serialize_field("declared", &self.declared)?;
        all.serialize_field("dialect", self.dialect.name())?;
        all.serialize_field("block", &self.block.as_ref().map(|item| item.to_json(self.dialect)))?;
        all.serialize_field("voxels", &VoxelItems(self))?;
        all.serialize_field("unread_bytes", &self.unread.1.len())?;
        all.end()
    }
}

/// The items of voxels, each as an object.
struct VoxelItems<'m>(&'m Metadata<'m>);

impl Serialize for VoxelItems<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(Metadata { voxels, dialect, .. }) = self;
        let item = |voxel: &VoxelItem<'_>| json!({ "position": voxel.position, "item": voxel.item.to_json(*dialect) });
        serializer.collect_seq(voxels.iter().map(item))
    }
}

/// Decodes from `scope`, which holds everything between the channels and the epilogue; `version` and `size` are the
/// block's.
pub(super) fn decode<'a>(
    mut scope: Cursor<'a>,
    version: u8,
    size: [u16; 3],
    dialect: Option<Dialect>,
    limits: &Limits,
    damage: &mut Vec<Damage>,
) -> Metadata<'a> {
    let implied = if version >= 3 { Dialect::Godot4 } else { Dialect::Godot3 };
    let field = Span::sized(scope.offset(), len64(scope.peek()).min(4));
    let declared = match scope.u32() {
        Ok(declared) => declared,
        Err(short) => {
            damage.push(Damage::short(Code::MetadataCut, short, "metadata size"));
            let unread = (scope.offset(), scope.rest());
            return Metadata { declared: 0, dialect: implied, block: None, voxels: Vec::new(), unread };
        }
    };
    let there = len64(scope.peek());
    let end = u64::from(declared).min(there);
    if u64::from(declared) > there {
        damage.push(
            Damage::new(Code::MetadataSize, field, "metadata size")
                .expected(Value::AtMost(there))
                .found(Value::Number(u64::from(declared))),
        );
    }
    let Ok(body) = scope.scope(index(end)) else {
        // `end` is at most the number of bytes left.
        return Metadata { declared, dialect: implied, block: None, voxels: Vec::new(), unread: (field.end, &[]) };
    };
    let reader = Reader { version, size, declared, port: false, limits };
    let dialects = match (dialect, version) {
        (Some(dialect), _) => [dialect, dialect],
        (None, 2) => [Dialect::Godot3, Dialect::Godot4],
        (None, _) => [implied, implied],
    };
    let metadata = reader.read(body, dialects, damage);
    if !scope.is_empty() {
        damage.push(
            Damage::new(Code::MetadataTrailing, scope.span(), "bytes after the metadata")
                .expected(Value::Bytes(0))
                .found(Value::Bytes(len64(scope.peek()))),
        );
    }
    metadata
}

struct Reader<'l> {
    version: u8,
    size: [u16; 3],
    declared: u32,
    /// Whether types 40 to 42 are those of the Rust port.
    port: bool,
    limits: &'l Limits,
}

impl Reader<'_> {
    /// Reads in the first dialect. Uses the second one if it finds no damage and the first does, or if it
    /// consumes exactly the stored size and the first does not.
    fn read<'a>(&self, body: Cursor<'a>, [first, second]: [Dialect; 2], damage: &mut Vec<Damage>) -> Metadata<'a> {
        let from = damage.len();
        let span = body.span();
        let metadata = self.items(body.clone(), first, damage);
        if damage.iter().skip(from).any(|d| d.code == Code::MetadataCustom) {
            let mut other = Vec::new();
            let port = Reader { port: true, ..*self }.items(body.clone(), first, &mut other);
            let fits = port.block.is_some() && port.unread.1.is_empty();
            if fits && other.iter().all(|d| matches!(d.code, Code::MetadataPort | Code::MetadataCustom)) {
                damage.truncate(from);
                damage.append(&mut other);
                return port;
            }
        }
        if first == second || damage.len() == from {
            return metadata;
        }
        let mut other = Vec::new();
        let alternative = self.items(body, second, &mut other);
        let fits = |metadata: &Metadata<'_>| metadata.block.is_some() && metadata.unread.1.is_empty();
        if !other.is_empty() && (fits(&metadata) || !fits(&alternative)) {
            return metadata;
        }
        damage.truncate(from);
        damage.push(Damage::new(Code::MetadataDialect, span, "metadata").found(Value::Words("Variants of Godot 4")));
        damage.append(&mut other);
        alternative
    }

    fn items<'a>(&self, mut body: Cursor<'a>, dialect: Dialect, damage: &mut Vec<Damage>) -> Metadata<'a> {
        let mut budget = Budget::from(self.limits);
        let mut metadata = Metadata {
            declared: self.declared,
            dialect,
            block: None,
            voxels: Vec::new(),
            unread: (body.offset(), &[]),
        };
        // Start of the current item: a fault inside it leaves the whole item unread.
        let mut begin = body.clone();
        metadata.block = self.item(&mut body, dialect, &mut budget, damage);
        let mut go_on = metadata.block.is_some();
        while go_on && !body.is_empty() {
            begin = body.clone();
            go_on = self.voxel(&mut body, dialect, &mut budget, &mut metadata.voxels, damage);
        }
        if !go_on {
            metadata.unread = (begin.offset(), begin.rest());
        }
        metadata
    }

    fn voxel<'a>(
        &self,
        body: &mut Cursor<'a>,
        dialect: Dialect,
        budget: &mut Budget,
        voxels: &mut Vec<VoxelItem<'a>>,
        damage: &mut Vec<Damage>,
    ) -> bool {
        let start = body.offset();
        // Count every item, also an empty one of seven bytes.
        let Some(left) = budget.values.checked_sub(1) else {
            damage.push(
                Damage::new(Code::OverLimit, Span::sized(start, 0), "number of values in the metadata")
                    .expected(Value::AtMost(u64::try_from(self.limits.variant_values).unwrap_or(u64::MAX))),
            );
            return false;
        };
        budget.values = left;
        let position = match position(body) {
            Ok(position) => position,
            Err(short) => {
                damage.push(Damage::short(Code::MetadataCut, short, "position of a voxel's metadata"));
                return false;
            }
        };
        if position.iter().zip(self.size).any(|(&p, size)| p >= size) {
            damage.push(
                Damage::new(Code::MetadataPosition, Span::new(start, body.offset()), "position of a voxel's metadata")
                    .expected(Value::Words("a voxel of the block"))
                    .found(Value::triple(position)),
            );
        }
        let Some(item) = self.item(body, dialect, budget, damage) else { return false };
        voxels.push(VoxelItem { position, item, span: Span::new(start, body.offset()) });
        true
    }

    fn item<'a>(
        &self,
        body: &mut Cursor<'a>,
        dialect: Dialect,
        budget: &mut Budget,
        damage: &mut Vec<Damage>,
    ) -> Option<Item<'a>> {
        let start = body.offset();
        if self.version < 4 {
            return variant::decode_into(body, dialect, budget, damage).map(Item::Variant);
        }
        let cut = |short| Damage::short(Code::MetadataCut, short, "metadata item");
        match body.u8() {
            Err(short) => {
                damage.push(cut(short));
                None
            }
            Ok(0) => Some(Item::Empty),
            Ok(1) => body.u64().map(Item::Number).map_err(|short| damage.push(cut(short))).ok(),
            Ok(32) => variant::decode_into(body, dialect, budget, damage).map(Item::Variant),
            Ok(kind @ 40..=42) if self.port => {
                if damage.iter().all(|d| d.code != Code::MetadataPort) {
                    damage.push(
                        Damage::new(Code::MetadataPort, Span::sized(start, 1), "metadata type")
                            .found(Value::Number(u64::from(kind))),
                    );
                }
                item_of_port(kind, body).map_err(|short| damage.push(cut(short))).ok().flatten()
            }
            Ok(kind @ 33..) => {
                damage.push(
                    Damage::new(Code::MetadataCustom, Span::new(start, body.span().end), "metadata type")
                        .found(Value::Number(u64::from(kind))),
                );
                Some(Item::Custom { kind, bytes: body.rest() })
            }
            Ok(kind) => {
                damage.push(
                    Damage::new(Code::MetadataType, Span::sized(start, 1), "metadata type")
                        .expected(Value::Words("0, 1, 32 or above"))
                        .found(Value::Number(u64::from(kind))),
                );
                None
            }
        }
    }
}

/// The content of an item of the Rust port; `None` for text that is not UTF-8.
fn item_of_port<'a>(kind: u8, body: &mut Cursor<'a>) -> Result<Option<Item<'a>>, crate::bytes::Short> {
    if kind == 40 {
        return body.u64().map(|bits| Some(Item::Float(bits)));
    }
    let len = body.u32()?;
    let bytes = body.take(index(len.into()))?;
    Ok(if kind == 42 { Some(Item::Bytes(bytes)) } else { std::str::from_utf8(bytes).ok().map(Item::Text) })
}

fn position(body: &mut Cursor<'_>) -> Result<[u16; 3], crate::bytes::Short> {
    let [x0, x1, y0, y1, z0, z1] = body.array()?;
    Ok([u16::from_le_bytes([x0, x1]), u16::from_le_bytes([y0, y1]), u16::from_le_bytes([z0, z1])])
}

/// Encodes with its size in front and appends it to `out`.
pub(super) fn encode(metadata: &Metadata<'_>, version: u8, out: &mut Vec<u8>) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    let start = out.len();
    encode_item(metadata.block.as_ref().unwrap_or(&Item::Empty), version, metadata.dialect, out);
    for voxel in &metadata.voxels {
        for n in voxel.position {
            out.extend_from_slice(&n.to_le_bytes());
        }
        encode_item(&voxel.item, version, metadata.dialect, out);
    }
    let size = u32::try_from(out.len().saturating_sub(start)).unwrap_or(u32::MAX);
    if let Some(field) = out.get_mut(at..start) {
        field.copy_from_slice(&size.to_le_bytes());
    }
}

/// Whether bytes are just one item of version 4 with Variants of Godot 4.
pub(crate) fn is_item(bytes: &[u8], limits: &Limits) -> bool {
    let mut damage = Vec::new();
    let mut scope = Cursor::new(bytes);
    let reader = Reader { version: 4, size: [1; 3], declared: 0, port: false, limits };
    let item = reader.item(&mut scope, Dialect::Godot4, &mut Budget::from(limits), &mut damage);
    item.is_some_and(|item| item != Item::Empty)
        && scope.is_empty()
        && damage.iter().all(|d| d.code == Code::MetadataCustom)
}

/// Whether the stored bytes of one item have a type of the application, so that no item can follow it.
pub(crate) fn is_endless(bytes: &[u8]) -> bool {
    let mut body = Cursor::new(bytes);
    match body.u8() {
        Ok(kind @ 40..=42) => !matches!(item_of_port(kind, &mut body), Ok(Some(_)) if body.is_empty()),
        Ok(kind) => kind > 32,
        Err(_) => false,
    }
}

/// Encodes one item and appends it to `out`.
pub(crate) fn encode_item(item: &Item<'_>, version: u8, dialect: Dialect, out: &mut Vec<u8>) {
    match (item, version) {
        (Item::Variant(variant), 4..) => {
            out.push(32);
            variant.encode(dialect, out);
        }
        (Item::Variant(variant), _) => variant.encode(dialect, out),
        (Item::Number(n), 4..) => {
            out.push(1);
            out.extend_from_slice(&n.to_le_bytes());
        }
        (Item::Float(bits), 4..) => {
            out.push(40);
            out.extend_from_slice(&bits.to_le_bytes());
        }
        (Item::Text(text), 4..) => encode_bytes(41, text.as_bytes(), out),
        (Item::Bytes(bytes), 4..) => encode_bytes(42, bytes, out),
        (Item::Custom { kind, bytes }, 4..) => {
            out.push(*kind);
            out.extend_from_slice(bytes);
        }
        (Item::Empty, 4..) => out.push(0),
        // Before version 4 there were only Variants; null is the closest to empty.
        _ => Variant::Nil.encode(dialect, out),
    }
}

/// Encodes bytes of the Rust port with their type and length.
fn encode_bytes(kind: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(bytes);
}
