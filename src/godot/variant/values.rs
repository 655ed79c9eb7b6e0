//! The parts that a Variant is made of. All of them borrow from the input and keep every byte of it, so that what was
//! read can be written again to the same bytes.

use std::borrow::Cow;

use super::types::Scalar;
use super::{Type, Variant};
use crate::bytes::{Cursor, index};

/// How many zero bytes follow `len` bytes to fill up to a multiple of four.
pub(super) const fn padding_after(len: usize) -> usize {
    match len & 3 {
        1 => 3,
        2 => 2,
        3 => 1,
        _ => 0,
    }
}

/// Up to three bytes that fill up to a multiple of four, kept because Godot 3 does not always clear them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Padding([u8; 3]);

impl Padding {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut kept = [0; 3];
        for (to, from) in kept.iter_mut().zip(bytes) {
            *to = *from;
        }
        Self(kept)
    }

    /// The padding after `len` bytes.
    pub(super) fn after(&self, len: usize) -> &[u8] {
        self.0.get(..padding_after(len)).unwrap_or_default()
    }
}

/// A string: `u32` length in bytes, the bytes, padding to a multiple of four.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Text<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    pub(super) padding: Padding,
}

impl<'a> Text<'a> {
    /// A string with zero padding.
    pub fn new(text: impl Into<Cow<'a, str>>) -> Self {
        let bytes = match text.into() {
            Cow::Borrowed(s) => Cow::Borrowed(s.as_bytes()),
            Cow::Owned(s) => Cow::Owned(s.into_bytes()),
        };
        Self { bytes, padding: Padding::default() }
    }

    /// The bytes, normally UTF-8, without the padding.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The padding, 0 to 3 bytes, normally zero.
    #[must_use]
    pub fn padding(&self) -> &[u8] {
        self.padding.after(self.bytes.len())
    }

    /// The text, with U+FFFD for what is not UTF-8. Control characters are as they were stored: escape before showing.
    #[must_use]
    pub fn lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// Strings one after the other, each as [`Text`] describes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Texts<'a> {
    pub(super) count: u32,
    pub(super) raw: Cow<'a, [u8]>,
}

impl Texts<'_> {
    /// How many.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// Whether there are no items.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = Text<'_>> {
        let mut cursor = Cursor::new(&self.raw);
        (0..self.count).map_while(move |_| {
            let len = index(u64::from(cursor.u32().ok()?));
            let bytes = Cow::Borrowed(cursor.take(len).ok()?);
            let padding = Padding::new(cursor.take(padding_after(len)).ok()?);
            Some(Text { bytes, padding })
        })
    }
}

/// A floating-point number, by its exact bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Float {
    /// The bits of an f32.
    Single(u32),
    /// The bits of an f64.
    Double(u64),
}

impl Float {
    /// Its value.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Self::Single(bits) => f64::from(f32::from_bits(bits)),
            Self::Double(bits) => f64::from_bits(bits),
        }
    }
}

/// One number of a vector, matrix, colour or packed array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Component {
    /// A whole number (u8, i32 or i64).
    Int(i64),
    /// An f32.
    Single(f32),
    /// An f64.
    Double(f64),
}

/// The numbers of a [`Math`] or [`Packed`] value.
#[derive(Clone, Debug)]
pub struct Components<'a> {
    cursor: Cursor<'a>,
    scalar: Scalar,
    wide: bool,
}

impl<'a> Components<'a> {
    fn new(ty: Type, wide: bool, raw: &'a [u8]) -> Self {
        match ty.layout() {
            Some(layout) => Self { cursor: Cursor::new(raw), scalar: layout.scalar, wide },
            None => Self { cursor: Cursor::new(&[]), scalar: Scalar::Byte, wide },
        }
    }
}

impl Iterator for Components<'_> {
    type Item = Component;

    fn next(&mut self) -> Option<Component> {
        let c = &mut self.cursor;
        match (self.scalar, self.wide) {
            (Scalar::Byte, _) => c.u8().map(|n| Component::Int(i64::from(n))),
            (Scalar::Int32, _) => c.i32().map(|n| Component::Int(i64::from(n))),
            (Scalar::Int64, _) => c.i64().map(Component::Int),
            (Scalar::Single, _) | (Scalar::Real, false) => c.f32().map(Component::Single),
            (Scalar::Double, _) | (Scalar::Real, true) => c.f64().map(Component::Double),
        }
        .ok()
    }
}

/// A fixed run of numbers: a vector, rectangle, plane, quaternion, box, basis, transform, projection or colour.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Math<'a> {
    pub(super) ty: Type,
    pub(super) wide: bool,
    pub(super) raw: Cow<'a, [u8]>,
}

impl Math<'_> {
    /// Which of them.
    #[must_use]
    pub const fn type_(&self) -> Type {
        self.ty
    }

    /// Whether the numbers are f64, as an engine built with doubles writes them.
    #[must_use]
    pub const fn is_wide(&self) -> bool {
        self.wide
    }

    /// The numbers as they are stored, little-endian.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The numbers in the order in which they are stored.
    #[must_use]
    pub fn components(&self) -> Components<'_> {
        Components::new(self.ty, self.wide, &self.raw)
    }
}

/// A path to a node: names from the root or from a node, then subnames (properties).
///
/// `u32` names with bit 31 set, `u32` subnames, `u32` flags (bit 0: from the root; bit 1, old: one more subname), then
/// the strings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodePath<'a> {
    pub(super) names: u32,
    pub(super) subnames: u32,
    pub(super) flags: u32,
    pub(super) texts: Texts<'a>,
}

impl NodePath<'_> {
    /// Whether it begins at the root.
    #[must_use]
    pub const fn is_absolute(&self) -> bool {
        self.flags & 1 != 0
    }

    /// The names of nodes.
    pub fn names(&self) -> impl Iterator<Item = Text<'_>> {
        self.texts.iter().take(index(u64::from(self.names)))
    }

    /// The subnames.
    pub fn subnames(&self) -> impl Iterator<Item = Text<'_>> {
        self.texts.iter().skip(index(u64::from(self.names)))
    }

    /// As the engine writes it: `/root/World:position:x`. Control characters are as they were stored.
    #[must_use]
    pub fn lossy(&self) -> String {
        let mut path = String::from(if self.is_absolute() { "/" } else { "" });
        for (i, name) in self.names().enumerate() {
            if i > 0 {
                path.push('/');
            }
            path.push_str(&name.lossy());
        }
        for name in self.subnames() {
            path.push(':');
            path.push_str(&name.lossy());
        }
        path
    }
}

/// An object of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object<'a> {
    /// None: an empty class name.
    Null,
    /// By the id that it had in the process that wrote it (header bit 16): `u64`.
    Id(u64),
    /// Whole: the class name, `u32` count of properties, then name and value of each.
    Whole {
        /// Its class.
        class: Text<'a>,
        /// Name and value of each property.
        properties: Vec<(Text<'a>, Variant<'a>)>,
    },
}

/// The declared type of the elements of an array, or of the keys or values of a dictionary (Godot 4.4 and later).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind<'a> {
    /// Anything (0).
    #[default]
    Untyped,
    /// A type of the engine (1): `u32` type number.
    Builtin(Type),
    /// Objects of a class (2): its name.
    Class(Box<Text<'a>>),
    /// Objects with a script (3): its path.
    Script(Box<Text<'a>>),
}

/// Values in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Array<'a> {
    /// Bit 31 of the count, which current engines ignore.
    pub shared: bool,
    /// The declared type of the values.
    pub kind: Kind<'a>,
    /// The values.
    pub items: Vec<Variant<'a>>,
}

/// Keys and values in stored order. A key may occur twice; the engine keeps the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dictionary<'a> {
    /// Bit 31 of the count, which current engines ignore.
    pub shared: bool,
    /// The declared type of the keys.
    pub key: Kind<'a>,
    /// The declared type of the values.
    pub value: Kind<'a>,
    /// Key and value of each entry.
    pub pairs: Vec<(Variant<'a>, Variant<'a>)>,
}

impl<'a> Dictionary<'a> {
    /// The value of a key that is a string of these bytes; the last one, as in the engine.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Variant<'a>> {
        let found = self.pairs.iter().rev().find(|(k, _)| match k {
            Variant::String(text) | Variant::StringName(text) => text.bytes() == key.as_bytes(),
            _ => false,
        });
        found.map(|(_, value)| value)
    }
}

/// An array of plain values: `u32` count, then the elements; bytes are padded to a multiple of four.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Packed<'a> {
    pub(super) ty: Type,
    pub(super) wide: bool,
    pub(super) count: u32,
    pub(super) raw: Cow<'a, [u8]>,
    pub(super) padding: Padding,
}

impl Packed<'_> {
    /// Which of them.
    #[must_use]
    pub const fn type_(&self) -> Type {
        self.ty
    }

    /// Whether the numbers of vectors are f64, as an engine built with doubles writes them.
    #[must_use]
    pub const fn is_wide(&self) -> bool {
        self.wide
    }

    /// How many elements.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// Whether there are no items.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The elements as they are stored, little-endian.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The padding after bytes, normally zero.
    #[must_use]
    pub fn padding(&self) -> &[u8] {
        if self.ty == Type::PackedByteArray { self.padding.after(self.raw.len()) } else { &[] }
    }

    /// How many numbers one element has: 3 for a `Vector3`, 1 for a number, 0 for a string.
    #[must_use]
    pub fn width(&self) -> usize {
        self.ty.layout().map_or(0, |layout| layout.count)
    }

    /// All numbers, element after element; none for strings.
    #[must_use]
    pub fn components(&self) -> Components<'_> {
        Components::new(self.ty, self.wide, &self.raw)
    }

    /// The strings; none for numbers.
    ///
    /// Godot 4 stores each with a zero byte at its end, and that byte counts in its length. It is left out here (and
    /// with it the padding, which belongs to the length with it).
    pub fn strings(&self) -> impl Iterator<Item = Text<'_>> {
        let count = if self.ty == Type::PackedStringArray { self.count } else { 0 };
        let mut cursor = Cursor::new(&self.raw);
        (0..count).map_while(move |_| {
            let len = index(u64::from(cursor.u32().ok()?));
            let bytes = cursor.take(len).ok()?;
            cursor.take(padding_after(len)).ok()?;
            let bytes = Cow::Borrowed(bytes.strip_suffix(&[0]).unwrap_or(bytes));
            Some(Text { bytes, padding: Padding::default() })
        })
    }
}
