//! A compact JSON form, for programs.

use serde_json::Value;

use super::text::{kind, number};
use super::{Array, Component, Dialect, Dictionary, Float, Kind, Object, Packed, Type, Variant};

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
        match self {
            Self::Array(array) => array_json(array, dialect),
            Self::Dictionary(dictionary) => dictionary_json(dictionary, dialect),
            Self::Object(Object::Whole { class, properties }) => {
                let mut values = Vec::new();
                for (name, value) in properties {
                    values.push(pair(text(name), value.to_json(dialect)));
                }
                whole_json(text(class), Value::Array(values))
            }
            _ => self.plain_json(dialect),
        }
    }

    /// Writes what [`Variant::to_json`] gives, without a value of all of it in memory.
    pub fn write_json(&self, dialect: Dialect, out: &mut Vec<u8>) {
        match self {
            Self::Array(array) => {
                begin_array(&array.kind, dialect, out);
                for (n, item) in array.items.iter().enumerate() {
                    separate(n, out);
                    item.write_json(dialect, out);
                }
                out.extend_from_slice(if matches!(array.kind, Kind::Untyped) { b"]" } else { b"]}" });
            }
            Self::Dictionary(dictionary) => {
                begin_dictionary(dictionary, dialect, out);
                for (n, (key, value)) in dictionary.pairs.iter().enumerate() {
                    separate(n, out);
                    out.push(b'[');
                    key.write_json(dialect, out);
                    out.push(b',');
                    value.write_json(dialect, out);
                    out.push(b']');
                }
                out.extend_from_slice(b"]}");
            }
            Self::Object(Object::Whole { class, properties }) => {
                begin_object(class, out);
                for (n, (name, value)) in properties.iter().enumerate() {
                    separate(n, out);
                    out.push(b'[');
                    put(&text(name), out);
                    out.push(b',');
                    value.write_json(dialect, out);
                    out.push(b']');
                }
                out.extend_from_slice(b"]}}");
            }
            Self::Packed(packed) if packed.ty != Type::PackedByteArray => {
                write_packed(packed, self.type_().name(dialect), out);
            }
            _ => put(&self.plain_json(dialect), out),
        }
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
            Self::Packed(packed) => packed_json(packed),
            Self::Nil | Self::Array(_) | Self::Dictionary(_) => return Value::Null,
        };
        wrap(self.type_().name(dialect), value)
    }
}

/// Writes a value that is small.
#[inline(never)]
fn put(value: &Value, out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(out, value);
}

fn separate(n: usize, out: &mut Vec<u8>) {
    if n > 0 {
        out.push(b',');
    }
}

/// Begins `{"type":T,"of":OF,"value":`; without `of` if that is null.
#[inline(never)]
fn begin(ty: &str, of: &Value, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":");
    put(&ty.into(), out);
    if !of.is_null() {
        out.extend_from_slice(b",\"of\":");
        put(of, out);
    }
    out.extend_from_slice(b",\"value\":");
}

#[inline(never)]
fn begin_array(declared: &Kind<'_>, dialect: Dialect, out: &mut Vec<u8>) {
    if !matches!(declared, Kind::Untyped) {
        begin("Array", &kind(declared, dialect, "").into(), out);
    }
    out.push(b'[');
}

#[inline(never)]
fn begin_dictionary(dictionary: &Dictionary<'_>, dialect: Dialect, out: &mut Vec<u8>) {
    let of = match (&dictionary.key, &dictionary.value) {
        (Kind::Untyped, Kind::Untyped) => Value::Null,
        (key, value) => pair(kind(key, dialect, "Variant").into(), kind(value, dialect, "Variant").into()),
    };
    begin("Dictionary", &of, out);
    out.push(b'[');
}

#[inline(never)]
fn begin_object(class: &super::Text<'_>, out: &mut Vec<u8>) {
    begin("Object", &Value::Null, out);
    out.extend_from_slice(b"{\"class\":");
    put(&text(class), out);
    out.extend_from_slice(b",\"properties\":[");
}

#[inline(never)]
fn write_packed(packed: &Packed<'_>, ty: &str, out: &mut Vec<u8>) {
    begin(ty, &Value::Null, out);
    out.push(b'[');
    let width = packed.width();
    if packed.ty == Type::PackedStringArray {
        for (n, string) in packed.strings().enumerate() {
            separate(n, out);
            put(&text(&string), out);
        }
    } else if width <= 1 {
        for (n, number) in packed.components().enumerate() {
            separate(n, out);
            put(&component(number), out);
        }
    } else {
        let mut components = packed.components();
        for n in 0.. {
            let element: Vec<Value> = components.by_ref().take(width).map(component).collect();
            if element.is_empty() {
                break;
            }
            separate(n, out);
            put(&Value::Array(element), out);
        }
    }
    out.extend_from_slice(b"]}");
}

/// An object of these fields; they are moved, not copied as `json!` does.
#[inline(never)]
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

// The functions that recurse are plain loops: chains of iterators take much more stack for every level.

fn array_json(array: &Array<'_>, dialect: Dialect) -> Value {
    let mut items = Vec::new();
    for item in &array.items {
        items.push(item.to_json(dialect));
    }
    declared_array(&array.kind, Value::Array(items), dialect)
}

fn dictionary_json(dictionary: &Dictionary<'_>, dialect: Dialect) -> Value {
    let mut pairs = Vec::new();
    for (key, value) in &dictionary.pairs {
        pairs.push(pair(key.to_json(dialect), value.to_json(dialect)));
    }
    declared_dictionary(&dictionary.key, &dictionary.value, Value::Array(pairs), dialect)
}

#[inline(never)]
fn declared_array(declared: &Kind<'_>, items: Value, dialect: Dialect) -> Value {
    match declared {
        Kind::Untyped => items,
        typed => wrap_typed("Array", kind(typed, dialect, "").into(), items),
    }
}

#[inline(never)]
fn declared_dictionary(key: &Kind<'_>, value: &Kind<'_>, pairs: Value, dialect: Dialect) -> Value {
    match (key, value) {
        (Kind::Untyped, Kind::Untyped) => wrap("Dictionary", pairs),
        _ => {
            let of = pair(kind(key, dialect, "Variant").into(), kind(value, dialect, "Variant").into());
            wrap_typed("Dictionary", of, pairs)
        }
    }
}

#[inline(never)]
fn whole_json(class: Value, properties: Value) -> Value {
    wrap("Object", object([("class", class), ("properties", properties)]))
}

fn wrap(ty: &str, value: Value) -> Value {
    object([("type", ty.into()), ("value", value)])
}

fn wrap_typed(ty: &str, of: Value, value: Value) -> Value {
    object([("type", ty.into()), ("of", of), ("value", value)])
}

fn pair(key: Value, value: Value) -> Value {
    Value::Array(vec![key, value])
}

fn text(text: &super::Text<'_>) -> Value {
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

fn packed_json(packed: &Packed<'_>) -> Value {
    match packed.ty {
        Type::PackedByteArray => {
            let mut hex = String::new();
            for byte in packed.raw() {
                for digit in [byte >> 4, byte & 15] {
                    hex.extend(char::from_digit(u32::from(digit), 16));
                }
            }
            hex.into()
        }
        Type::PackedStringArray => packed.strings().map(|string| text(&string)).collect(),
        _ => {
            let mut components = packed.components();
            let width = packed.width();
            if width <= 1 {
                return components.map(component).collect();
            }
            let mut elements = Vec::new();
            loop {
                let element: Vec<Value> = components.by_ref().take(width).map(component).collect();
                if element.is_empty() {
                    return Value::Array(elements);
                }
                elements.push(Value::Array(element));
            }
        }
    }
}
