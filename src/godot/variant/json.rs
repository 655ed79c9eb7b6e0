//! A compact JSON form, for programs.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::text::{kind, number};
use super::{Array, Component, Dialect, Dictionary, Float, Kind, Object, Packed, Text, Type, Variant};

impl Variant<'_> {
    /// The value as JSON.
    ///
    /// - null, bool, int, float, String: what JSON has for them. A float that is not finite is a string: `"inf"`,
    ///   `"-inf"`, `"nan"`. Bytes that are not UTF-8 become U+FFFD.
    /// - Array: an array. One that declares a type: `{"type":"Array","of":"int","value":[1,2]}`.
    /// - Dictionary: `{"type":"Dictionary","value":[[key,value],...]}` in stored order; with `"of":["String","int"]`
    ///   when it declares types.
    /// - All others: `{"type":T,"value":V}` with the type's name in the dialect and as V
    ///   - vectors and the like: their numbers, `[1.0,2.0,3.0]`;
    ///   - StringName, NodePath: a string;
    ///   - RID: its number;
    ///   - Object: null, `{"id":1}`, or `{"class":"Node","properties":[[name,value],...]}`;
    ///   - Callable: null; Signal: `{"name":"hit","object":1}`;
    ///   - PackedByteArray: its bytes as lower-case hex; other packed arrays: their numbers or strings, with one array
    ///     for each vector or colour, `[[1.0,2.0],[3.0,4.0]]`.
    #[must_use]
    pub fn to_json(&self, dialect: Dialect) -> Value {
        // What can be written can be a value.
        serde_json::to_value(self.as_json(dialect)).unwrap_or_default()
    }

    /// What [`Variant::to_json`] gives, to be written without a value of all of it in memory.
    #[must_use]
    pub const fn as_json(&self, dialect: Dialect) -> AsJson<'_> {
        AsJson { value: self, dialect }
    }

    #[inline(never)]
    fn plain_json(&self, dialect: Dialect) -> Value {
        let value = match self {
            Self::Bool(value) => return Value::Bool(*value != 0),
            Self::Int { value, .. } => return Value::from(*value),
            Self::Float(Float::Single(bits)) => return float(f64::from(f32::from_bits(*bits))),
            Self::Float(Float::Double(bits)) => return float(f64::from_bits(*bits)),
            Self::String(string) => return text(string),
            Self::StringName(name) => text(name),
            Self::Math(math) => Value::Array(math.components().map(component).collect()),
            Self::NodePath(path) => path.lossy().into(),
            Self::Rid(id) => Value::from(*id),
            Self::Object(Object::Id(id)) => object([("id", Value::from(*id))]),
            Self::Object(_) | Self::Callable => Value::Null,
            Self::Signal { name, object: id } => object([("name", text(name)), ("object", Value::from(*id))]),
            Self::Nil | Self::Packed(_) | Self::Array(_) | Self::Dictionary(_) => return Value::Null,
        };
        wrap(self.type_().name(dialect), value)
    }
}

/// An object of these fields; they are moved, not copied as `json!` does.
#[inline(never)]
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A Variant that is written as JSON.
#[derive(Clone, Copy, Debug)]
pub struct AsJson<'v> {
    value: &'v Variant<'v>,
    dialect: Dialect,
}

impl Serialize for AsJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let dialect = self.dialect;
        match self.value {
            Variant::Array(Array { kind: Kind::Untyped, items, .. }) => Items(items, dialect).serialize(to),
            Variant::Array(Array { kind: of, items, .. }) => {
                typed(to, "Array", Some(&kind(of, dialect, "")), &Items(items, dialect))
            }
            Variant::Dictionary(Dictionary { key: Kind::Untyped, value: Kind::Untyped, pairs, .. }) => {
                typed(to, "Dictionary", None::<&()>, &Pairs(pairs, dialect))
            }
            Variant::Dictionary(Dictionary { key, value, pairs, .. }) => {
                let of = [kind(key, dialect, "Variant"), kind(value, dialect, "Variant")];
                typed(to, "Dictionary", Some(&of), &Pairs(pairs, dialect))
            }
            Variant::Object(Object::Whole { class, properties }) => {
                typed(to, "Object", None::<&()>, &Whole(class, properties, dialect))
            }
            Variant::Packed(packed) => typed(to, self.value.type_().name(dialect), None::<&()>, &Elements(packed)),
            _ => self.value.plain_json(dialect).serialize(to),
        }
    }
}

/// `{"type":T,"of":OF,"value":V}`, without `of` if there is none.
#[inline(never)]
fn typed<S: Serializer>(
    to: S,
    ty: &str,
    of: Option<&impl Serialize>,
    value: &impl Serialize,
) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(None)?;
    map.serialize_entry("type", ty)?;
    if let Some(of) = of {
        map.serialize_entry("of", of)?;
    }
    map.serialize_entry("value", value)?;
    map.end()
}

struct Items<'v>(&'v [Variant<'v>], Dialect);

impl Serialize for Items<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|item| item.as_json(self.1)))
    }
}

struct Pairs<'v>(&'v [(Variant<'v>, Variant<'v>)], Dialect);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|(key, value)| (key.as_json(self.1), value.as_json(self.1))))
    }
}

struct Whole<'v>(&'v Text<'v>, &'v [(Text<'v>, Variant<'v>)], Dialect);

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("class", &text(self.0))?;
        map.serialize_entry("properties", &Properties(self.1, self.2))?;
        map.end()
    }
}

struct Properties<'v>(&'v [(Text<'v>, Variant<'v>)], Dialect);

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|(name, value)| (text(name), value.as_json(self.1))))
    }
}

/// The elements of a packed array.
struct Elements<'v>(&'v Packed<'v>);

impl Serialize for Elements<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let packed = self.0;
        match packed.ty {
            Type::PackedByteArray => to.serialize_str(&crate::printable::hex(packed.raw())),
            Type::PackedStringArray => to.collect_seq(packed.strings().map(|string| text(&string))),
            _ if packed.width() <= 1 => to.collect_seq(packed.components().map(component)),
            _ => {
                let mut components = packed.components();
                let next = || {
                    let element: Vec<Value> = components.by_ref().take(packed.width()).map(component).collect();
                    (!element.is_empty()).then_some(element)
                };
                to.collect_seq(std::iter::from_fn(next))
            }
        }
    }
}

fn wrap(ty: &str, value: Value) -> Value {
    object([("type", ty.into()), ("value", value)])
}

fn text(text: &Text<'_>) -> Value {
    text.lossy().into()
}

/// With the digits that the number needs: an f32 of 0.1 is 0.1, not 0.10000000149011612.
fn float(value: f64) -> Value {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.into();
    }
    number(value).parse::<f64>().map_or(Value::Null, Value::from)
}

fn component(component: Component) -> Value {
    match component {
        Component::Int(n) => n.into(),
        Component::Single(n) => float(f64::from(n)),
        Component::Double(n) => float(n),
    }
}
