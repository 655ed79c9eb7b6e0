//! Writing: the inverse of reading, byte for byte.

use super::decode::{FLAG_64, SHARED};
use super::{Array, Dialect, Dictionary, Float, Kind, NodePath, Object, Packed, Text, Type, Variant};

impl Variant<'_> {
    /// Appends its bytes. What [`decode`](super::decode()) read in a dialect is written to the same bytes in it.
    ///
    /// A type that the dialect does not have (see [`Type::number`]) is written as null, and what only Godot 4 has of
    /// others (the declared kinds of arrays and dictionaries, the number of a RID) is omitted for Godot 3. Lengths are
    /// 32 bits: a value of more than 4 GiB cannot be written.
    pub fn encode(&self, dialect: Dialect, out: &mut Vec<u8>) {
        let Some(number) = self.type_().number(dialect) else {
            put(out, 0);
            return;
        };
        match self {
            Self::Array(array) => array.encode(number, dialect, out),
            Self::Dictionary(dictionary) => dictionary.encode(number, dialect, out),
            Self::Object(object) => object.encode(number, dialect, out),
            _ => {
                put(out, number | if self.is_wide() { FLAG_64 } else { 0 });
                self.encode_plain(dialect, out);
            }
        }
    }

    fn is_wide(&self) -> bool {
        match self {
            Self::Int { value, wide } => *wide || i32::try_from(*value).is_err(),
            Self::Float(Float::Double(_)) => true,
            Self::Math(math) => math.wide,
            Self::Packed(packed) => packed.wide,
            _ => false,
        }
    }

    fn encode_plain(&self, dialect: Dialect, out: &mut Vec<u8>) {
        match self {
            Self::Bool(value) => put(out, *value),
            Self::Int { value, wide } => match i32::try_from(*value) {
                Ok(value) if !wide => out.extend_from_slice(&value.to_le_bytes()),
                _ => out.extend_from_slice(&value.to_le_bytes()),
            },
            Self::Float(Float::Single(bits)) => put(out, *bits),
            Self::Float(Float::Double(bits)) => out.extend_from_slice(&bits.to_le_bytes()),
            Self::String(text) | Self::StringName(text) => text.encode(out),
            Self::Math(math) => out.extend_from_slice(&math.raw),
            Self::NodePath(path) => path.encode(out),
            Self::Rid(id) if dialect == Dialect::Godot4 => out.extend_from_slice(&id.to_le_bytes()),
            Self::Signal { name, object } => {
                name.encode(out);
                out.extend_from_slice(&object.to_le_bytes());
            }
            Self::Packed(packed) => packed.encode(out),
            Self::Nil | Self::Rid(_) | Self::Callable | Self::Array(_) | Self::Dictionary(_) | Self::Object(_) => {}
        }
    }
}

fn put(out: &mut Vec<u8>, n: u32) {
    out.extend_from_slice(&n.to_le_bytes());
}

/// A length as it is stored.
pub(super) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn put_count(out: &mut Vec<u8>, n: usize, shared: bool) {
    put(out, (count(n) & !SHARED) | if shared { SHARED } else { 0 });
}

impl Text<'_> {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put(out, count(self.bytes.len()));
        out.extend_from_slice(&self.bytes);
        out.extend_from_slice(self.padding());
    }
}

impl NodePath<'_> {
    fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.names | SHARED);
        put(out, self.subnames);
        put(out, self.flags);
        out.extend_from_slice(&self.texts.raw);
    }
}

impl Packed<'_> {
    fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.count);
        out.extend_from_slice(&self.raw);
        out.extend_from_slice(self.padding());
    }
}

impl Object<'_> {
    fn encode(&self, number: u32, dialect: Dialect, out: &mut Vec<u8>) {
        match self {
            Self::Null => {
                put(out, number);
                put(out, 0);
            }
            Self::Id(id) => {
                put(out, number | FLAG_64);
                out.extend_from_slice(&id.to_le_bytes());
            }
            Self::Whole { class, properties } => {
                put(out, number);
                class.encode(out);
                put(out, count(properties.len()));
                for (name, value) in properties {
                    name.encode(out);
                    value.encode(dialect, out);
                }
            }
        }
    }
}

impl Array<'_> {
    fn encode(&self, number: u32, dialect: Dialect, out: &mut Vec<u8>) {
        put(out, number | (self.kind.bits(dialect) << 16));
        self.kind.encode(dialect, out);
        put_count(out, self.items.len(), self.shared);
        for item in &self.items {
            item.encode(dialect, out);
        }
    }
}

impl Dictionary<'_> {
    fn encode(&self, number: u32, dialect: Dialect, out: &mut Vec<u8>) {
        put(out, number | (self.key.bits(dialect) << 16) | (self.value.bits(dialect) << 18));
        self.key.encode(dialect, out);
        self.value.encode(dialect, out);
        put_count(out, self.pairs.len(), self.shared);
        for (key, value) in &self.pairs {
            key.encode(dialect, out);
            value.encode(dialect, out);
        }
    }
}

impl Kind<'_> {
    fn bits(&self, dialect: Dialect) -> u32 {
        match (dialect, self) {
            (Dialect::Godot3, _) | (_, Self::Untyped) => 0,
            (_, Self::Builtin(_)) => 1,
            (_, Self::Class(_)) => 2,
            (_, Self::Script(_)) => 3,
        }
    }

    fn encode(&self, dialect: Dialect, out: &mut Vec<u8>) {
        match (dialect, self) {
            (Dialect::Godot3, _) | (_, Self::Untyped) => {}
            (_, Self::Builtin(ty)) => put(out, Type::number(*ty, dialect).unwrap_or(0)),
            (_, Self::Class(text) | Self::Script(text)) => text.encode(out),
        }
    }
}
