//! Making values from plain ones, for tests and for those who write samples.

use std::borrow::Cow;

use super::encode::count;
use super::text::narrow;
use super::values::Padding;
use super::{Array, Dictionary, Float, Kind, Math, NodePath, Object, Packed, Text, Texts, Type, Variant};

impl<'a> Variant<'a> {
    /// A `bool`.
    #[must_use]
    pub fn bool(value: bool) -> Self {
        Self::Bool(u32::from(value))
    }

    /// An `int`, in 32 bits if it fits, as the engine stores it.
    #[must_use]
    pub fn int(value: i64) -> Self {
        Self::Int { value, wide: i32::try_from(value).is_err() }
    }

    /// A `float`, in 32 bits if that loses nothing, as the engine stores it.
    #[must_use]
    pub fn float(value: f64) -> Self {
        Self::Float(narrow(value).map_or(Float::Double(value.to_bits()), |value| Float::Single(value.to_bits())))
    }

    /// A `String`.
    pub fn string(text: impl Into<Cow<'a, str>>) -> Self {
        Self::String(Text::new(text))
    }

    /// A `StringName`.
    pub fn string_name(text: impl Into<Cow<'a, str>>) -> Self {
        Self::StringName(Text::new(text))
    }

    /// A `NodePath` of names and subnames.
    #[must_use]
    pub fn node_path(absolute: bool, names: &[&str], subnames: &[&str]) -> Self {
        Self::NodePath(NodePath {
            names: count(names.len()),
            subnames: count(subnames.len()),
            flags: u32::from(absolute),
            texts: texts(names.iter().chain(subnames).map(|name| Text::new(*name))),
        })
    }

    /// A vector, rectangle, plane, quaternion, box, basis, transform, projection or colour from its stored bytes;
    /// `None` if `ty` is none of these, cannot be `wide`, or has another size.
    #[must_use]
    pub fn math(ty: Type, wide: bool, raw: impl Into<Cow<'a, [u8]>>) -> Option<Self> {
        let (layout, raw) = (ty.layout()?, raw.into());
        let can_be = !wide || layout.bytes(true) != layout.bytes(false);
        (ty.is_math() && can_be && raw.len() == layout.bytes(wide)).then_some(Self::Math(Math { ty, wide, raw }))
    }

    /// A `Vector2`.
    #[must_use]
    pub fn vector2(xy: [f32; 2]) -> Self {
        Self::singles(Type::Vector2, &xy)
    }

    /// A `Vector3`.
    #[must_use]
    pub fn vector3(xyz: [f32; 3]) -> Self {
        Self::singles(Type::Vector3, &xyz)
    }

    /// A `Vector3i` (Godot 4).
    #[must_use]
    pub fn vector3i(xyz: [i32; 3]) -> Self {
        let raw: Vec<u8> = xyz.iter().flat_map(|n| n.to_le_bytes()).collect();
        Self::Math(Math { ty: Type::Vector3i, wide: false, raw: Cow::Owned(raw) })
    }

    /// A `Color`: red, green, blue, alpha.
    #[must_use]
    pub fn color(rgba: [f32; 4]) -> Self {
        Self::singles(Type::Color, &rgba)
    }

    fn singles(ty: Type, numbers: &[f32]) -> Self {
        let raw: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        Self::Math(Math { ty, wide: false, raw: Cow::Owned(raw) })
    }

    /// An `Object` of a class with its properties; no class means null.
    pub fn object(class: impl Into<Cow<'a, str>>, properties: Vec<(Text<'a>, Self)>) -> Self {
        let class = Text::new(class);
        Self::Object(if class.bytes.is_empty() { Object::Null } else { Object::Whole { class, properties } })
    }

    /// A `Signal` (Godot 4).
    pub fn signal(name: impl Into<Cow<'a, str>>, object: u64) -> Self {
        Self::Signal { name: Text::new(name), object }
    }

    /// An `Array` of anything.
    #[must_use]
    pub fn array(items: Vec<Self>) -> Self {
        Self::typed_array(Kind::Untyped, items)
    }

    /// An `Array` with a declared element type (Godot 4.4 and later). The items are not checked.
    #[must_use]
    pub fn typed_array(kind: Kind<'a>, items: Vec<Self>) -> Self {
        Self::Array(Array { shared: false, kind, items })
    }

    /// A `Dictionary` of anything.
    #[must_use]
    pub fn dictionary(pairs: Vec<(Self, Self)>) -> Self {
        Self::typed_dictionary(Kind::Untyped, Kind::Untyped, pairs)
    }

    /// A `Dictionary` with declared types (Godot 4.4 and later). The pairs are not checked.
    #[must_use]
    pub fn typed_dictionary(key: Kind<'a>, value: Kind<'a>, pairs: Vec<(Self, Self)>) -> Self {
        Self::Dictionary(Dictionary { shared: false, key, value, pairs })
    }

    /// A packed array of numbers from its stored bytes; `None` when `ty` is none, cannot be `wide`, or the bytes are
    /// no whole number of elements.
    #[must_use]
    pub fn packed(ty: Type, wide: bool, raw: impl Into<Cow<'a, [u8]>>) -> Option<Self> {
        let (layout, raw) = (ty.layout()?, raw.into());
        let can_be = !wide || layout.bytes(true) != layout.bytes(false);
        let elements = raw.len().checked_div(layout.bytes(wide))?;
        let whole = raw.len().is_multiple_of(layout.bytes(wide));
        let packed = Packed { ty, wide, count: count(elements), raw, padding: Padding::default() };
        (ty.is_packed() && can_be && whole).then_some(Self::Packed(packed))
    }

    /// A `PackedByteArray`.
    pub fn packed_bytes(raw: impl Into<Cow<'a, [u8]>>) -> Self {
        let raw = raw.into();
        let (count, padding) = (count(raw.len()), Padding::default());
        Self::Packed(Packed { ty: Type::PackedByteArray, wide: false, count, raw, padding })
    }

    /// A `PackedStringArray`, each string with the zero byte at its end that the engine writes.
    #[must_use]
    pub fn packed_strings(strings: &[&str]) -> Self {
        let Texts { count, raw } = texts(strings.iter().map(|s| Text::new(format!("{s}\0"))));
        Self::Packed(Packed { ty: Type::PackedStringArray, wide: false, count, raw, padding: Padding::default() })
    }
}

fn texts<'t>(all: impl Iterator<Item = Text<'t>>) -> Texts<'static> {
    let (mut raw, mut n) = (Vec::new(), 0_usize);
    for text in all {
        text.encode(&mut raw);
        n = n.saturating_add(1);
    }
    Texts { count: count(n), raw: Cow::Owned(raw) }
}
