//! Values of the Godot engine, as its `encode_variant` writes them.
//!
//! | bytes | |
//! |---|---|
//! | 4 | header: low 8 bits the [`Type`], high 16 bits flags, rest zero |
//! | n | the value; always a multiple of four bytes |
//!
//! | type | value |
//! |---|---|
//! | Nil, Callable, RID of Godot 3 | nothing |
//! | bool | `u32` |
//! | int, float | `i32`, `f32`; `i64`, `f64` with bit 16 |
//! | String, StringName | a [`Text`]: `u32` bytes, UTF-8, padding to four |
//! | vectors and the like | a [`Math`]: their numbers, `f32` or `i32`; `f64` with bit 16 (Godot 4 built with doubles) |
//! | NodePath | a [`NodePath`] |
//! | RID of Godot 4 | `u64` |
//! | Object | an [`Object`] |
//! | Signal | a string and the `u64` id of its object |
//! | Dictionary | kinds by bits 16-17 (key) and 18-19 (value), `u32` count, then key and value of each |
//! | Array | kind by bits 16-17, `u32` count, then the values |
//! | packed arrays | a [`Packed`]: `u32` count, then the elements |
//!
//! All numbers are little-endian. Source: `core/io/marshalls.cpp` of the engine, versions 3 and 4.

mod build;
mod decode;
mod encode;
mod json;
mod text;
mod types;
mod values;

#[cfg(test)]
#[allow(clippy::as_conversions, clippy::arithmetic_side_effects)]
mod tests;

pub(in crate::godot) use decode::decode_into;
pub use decode::{Budget, decode};
pub use text::escape;
pub use types::Type;
pub use values::{Array, Component, Components, Dictionary, Float, Kind, Math, NodePath, Object, Packed, Text, Texts};

/// Which generation of the engine wrote a value. The two number their types differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// Godot 3: 27 types.
    Godot3,
    /// Godot 4: 39 types.
    Godot4,
}

impl Dialect {
    /// `Godot 3` or `Godot 4`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Godot3 => "Godot 3",
            Self::Godot4 => "Godot 4",
        }
    }
}

/// One value, borrowed from the bytes it was read from. Equal means: the same bytes when written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Variant<'a> {
    /// `null`.
    #[default]
    Nil,
    /// `bool`; the engine writes 0 and 1 and takes anything else for true.
    Bool(u32),
    /// `int`.
    Int {
        /// Its value.
        value: i64,
        /// Whether it is stored in 64 bits.
        wide: bool,
    },
    /// `float`.
    Float(Float),
    /// `String`.
    String(Text<'a>),
    /// `StringName` (Godot 4).
    StringName(Text<'a>),
    /// A vector, rectangle, plane, quaternion, box, basis, transform, projection or colour.
    Math(Math<'a>),
    /// `NodePath`.
    NodePath(NodePath<'a>),
    /// `RID`; Godot 3 stores no number.
    Rid(u64),
    /// `Object`.
    Object(Object<'a>),
    /// `Callable` (Godot 4): stored without any content.
    Callable,
    /// `Signal` (Godot 4).
    Signal {
        /// Its name.
        name: Text<'a>,
        /// The id of its object.
        object: u64,
    },
    /// `Dictionary`.
    Dictionary(Dictionary<'a>),
    /// `Array`.
    Array(Array<'a>),
    /// A packed array.
    Packed(Packed<'a>),
}

impl Variant<'_> {
    /// Its type.
    #[must_use]
    pub const fn type_(&self) -> Type {
        match self {
            Self::Nil => Type::Nil,
            Self::Bool(_) => Type::Bool,
            Self::Int { .. } => Type::Int,
            Self::Float(_) => Type::Float,
            Self::String(_) => Type::String,
            Self::StringName(_) => Type::StringName,
            Self::Math(math) => math.ty,
            Self::NodePath(_) => Type::NodePath,
            Self::Rid(_) => Type::Rid,
            Self::Object(_) => Type::Object,
            Self::Callable => Type::Callable,
            Self::Signal { .. } => Type::Signal,
            Self::Dictionary(_) => Type::Dictionary,
            Self::Array(_) => Type::Array,
            Self::Packed(packed) => packed.ty,
        }
    }
}
