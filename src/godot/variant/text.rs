//! The engine's own text form, that of `var_to_str` (`var2str` in Godot 3).
//!
//! Two things differ from the engine on purpose. Control characters and those that turn the direction of text are
//! always escaped (`\n`, `\u001b`), so that a save cannot control a terminal; the engine's parser reads
//! these escapes. And floats of Godot 3 are written with as many digits as they need, where Godot 3 itself writes six.
//!
//! Source: `VariantWriter` in `core/variant_parser.cpp` (Godot 3), `core/variant/variant_parser.cpp` (Godot 4); the
//! shape of numbers is that of `String::num_scientific` of Godot 4.5 and later.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::{Array, Component, Dialect, Dictionary, Kind, Object, Packed, Type, Variant};

impl Variant<'_> {
    /// The engine's text form in that dialect: `Vector3(1, 2, 3)` in Godot 4, `Vector3( 1, 2, 3 )` in Godot 3.
    /// Dictionaries are sorted by their keys, as the engine does.
    #[must_use]
    pub fn text(&self, dialect: Dialect) -> String {
        let mut writer = Writer { out: String::new(), dialect };
        writer.value(self);
        writer.out
    }
}

/// Appends `text` with backslashes, quotes, control characters and invisible characters that change how text is shown
/// escaped as the engine's parser reads them back: `\\`, `\"`, `\n`, `\t`, `\r`, `\u001b`, `\U0e0001`.
pub fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_hostile(c) => {
                let code = u32::from(c);
                // Writing to a string does not fail.
                let _ = if code > 0xffff { write!(out, "\\U{code:06x}") } else { write!(out, "\\u{code:04x}") };
            }
            c => out.push(c),
        }
    }
}

/// Control characters, line separators, and those that turn the direction of text or are not seen.
fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The same number in 32 bits, if that is lossless.
#[allow(clippy::as_conversions, clippy::cast_possible_truncation, clippy::float_cmp)] // No other way to round to f32.
pub(super) fn narrow(value: f64) -> Option<f32> {
    let single = value as f32;
    (f64::from(single) == value).then_some(single)
}

/// A number as the engine writes it: shortest digits, `0` for both zeros, `inf`, `inf_neg`, `nan`.
pub(super) fn number(value: f64) -> String {
    match narrow(value) {
        _ if value == 0.0 => "0".to_owned(),
        _ if value.is_nan() => "nan".to_owned(),
        _ if value.is_infinite() => if value > 0.0 { "inf" } else { "inf_neg" }.to_owned(),
        Some(single) => shape(&format!("{single:e}")),
        None => shape(&format!("{value:e}")),
    }
}

/// From `-1.25e-7` to the shape of C's `%g`: plain between 0.0001 and 10^15, else with an exponent of two digits or
/// more.
fn shape(scientific: &str) -> String {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    if !(-4..15).contains(&exponent) {
        let side = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{mantissa}e{side}{:02}", exponent.unsigned_abs());
    }
    let digits = mantissa.replace('.', "");
    let shift = usize::try_from(exponent.unsigned_abs()).unwrap_or(0);
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", "0".repeat(shift.saturating_sub(1)));
    }
    let whole = shift.saturating_add(1);
    match digits.split_at_checked(whole) {
        Some((whole, "")) => format!("{sign}{whole}"),
        Some((whole, rest)) => format!("{sign}{whole}.{rest}"),
        None => format!("{sign}{digits}{}", "0".repeat(whole.saturating_sub(digits.len()))),
    }
}

/// The declared types of an array or dictionary, as written between square brackets.
pub(super) fn kind(kind: &Kind<'_>, dialect: Dialect, untyped: &str) -> String {
    match kind {
        Kind::Untyped => untyped.to_owned(),
        Kind::Builtin(ty) => ty.name(dialect).to_owned(),
        Kind::Class(class) => {
            let mut out = String::new();
            escape(&class.lossy(), &mut out);
            out
        }
        Kind::Script(path) => {
            let mut out = String::from("Resource(\"");
            escape(&path.lossy(), &mut out);
            out.push_str("\")");
            out
        }
    }
}

struct Writer {
    out: String,
    dialect: Dialect,
}

impl Writer {
    /// Kept small, because it recurses as deeply as the value is nested.
    fn value(&mut self, value: &Variant<'_>) {
        match value {
            Variant::Array(array) => self.array(array),
            Variant::Dictionary(dictionary) => self.dictionary(dictionary),
            Variant::Object(Object::Whole { class, properties }) => {
                self.out.push_str("Object(");
                escape(&class.lossy(), &mut self.out);
                for (name, value) in properties {
                    self.out.push(',');
                    self.quoted(&name.lossy());
                    self.out.push(':');
                    self.value(value);
                }
                self.out.push(')');
            }
            _ => self.plain(value),
        }
    }

    #[inline(never)]
    fn plain(&mut self, value: &Variant<'_>) {
        match value {
            Variant::Bool(value) => self.out.push_str(if *value == 0 { "false" } else { "true" }),
            Variant::Int { value, .. } => self.out.push_str(&value.to_string()),
            Variant::Float(float) => {
                let text = number(float.value());
                self.out.push_str(&text);
                if float.value().is_finite() && !text.contains(['.', 'e']) {
                    self.out.push_str(".0");
                }
            }
            Variant::String(text) => self.quoted(&text.lossy()),
            Variant::StringName(text) => {
                self.out.push('&');
                self.quoted(&text.lossy());
            }
            Variant::Math(math) => {
                self.open(math.ty);
                self.components(math.components());
                self.close();
            }
            Variant::NodePath(path) => {
                self.out.push_str("NodePath(");
                self.quoted(&path.lossy());
                self.out.push(')');
            }
            Variant::Rid(0) => self.out.push_str("RID()"),
            Variant::Rid(id) => {
                let _ = write!(self.out, "RID({id})");
            }
            Variant::Object(Object::Id(id)) if *id != 0 => {
                let _ = write!(self.out, "Object(EncodedObjectAsID,\"object_id\":{id})");
            }
            Variant::Callable => self.out.push_str("Callable()"),
            Variant::Signal { .. } => self.out.push_str("Signal()"),
            Variant::Packed(packed) => self.packed(packed),
            Variant::Nil | Variant::Object(_) | Variant::Array(_) | Variant::Dictionary(_) => {
                self.out.push_str("null");
            }
        }
    }

    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        escape(text, &mut self.out);
        self.out.push('"');
    }

    fn open(&mut self, ty: Type) {
        self.out.push_str(ty.name(self.dialect));
        self.out.push_str(if self.dialect == Dialect::Godot3 { "( " } else { "(" });
    }

    fn close(&mut self) {
        self.out.push_str(if self.dialect == Dialect::Godot3 { " )" } else { ")" });
    }

    fn components(&mut self, components: impl Iterator<Item = Component>) {
        for (i, component) in components.enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            match component {
                Component::Int(n) => {
                    let _ = write!(self.out, "{n}");
                }
                Component::Single(n) => self.out.push_str(&number(f64::from(n))),
                Component::Double(n) => self.out.push_str(&number(n)),
            }
        }
    }

    fn packed(&mut self, packed: &Packed<'_>) {
        self.open(packed.ty);
        self.components(packed.components());
        for (i, text) in packed.strings().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.quoted(&text.lossy());
        }
        self.close();
    }

    fn array(&mut self, array: &Array<'_>) {
        let typed = array.kind != Kind::Untyped;
        if typed {
            let _ = write!(self.out, "Array[{}](", kind(&array.kind, self.dialect, ""));
        }
        self.out.push_str(if self.dialect == Dialect::Godot3 { "[ " } else { "[" });
        for (i, item) in array.items.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.value(item);
        }
        self.out.push_str(if self.dialect == Dialect::Godot3 { " ]" } else { "]" });
        if typed {
            self.out.push(')');
        }
    }

    fn dictionary(&mut self, dictionary: &Dictionary<'_>) {
        let typed = dictionary.key != Kind::Untyped || dictionary.value != Kind::Untyped;
        if typed {
            let (key, value) = (&dictionary.key, &dictionary.value);
            let (key, value) = (kind(key, self.dialect, "Variant"), kind(value, self.dialect, "Variant"));
            let _ = write!(self.out, "Dictionary[{key}, {value}](");
        }
        let mut pairs: Vec<_> = dictionary.pairs.iter().collect();
        pairs.sort_by(|(a, _), (b, _)| order(a, b, self.dialect));
        self.out.push_str("{\n");
        for (i, (key, value)) in pairs.into_iter().enumerate() {
            if i > 0 {
                self.out.push_str(",\n");
            }
            self.value(key);
            self.out.push_str(": ");
            self.value(value);
        }
        if dictionary.pairs.is_empty() && self.dialect == Dialect::Godot4 {
            self.out.pop();
        } else {
            self.out.push('\n');
        }
        self.out.push('}');
        if typed {
            self.out.push(')');
        }
    }
}

/// The order in which the engine writes keys: by type, then by value. Keys that it does not order keep their stored order.
fn order(a: &Variant<'_>, b: &Variant<'_>, dialect: Dialect) -> Ordering {
    match (a, b) {
        (Variant::String(a) | Variant::StringName(a), Variant::String(b) | Variant::StringName(b)) => {
            a.bytes().cmp(b.bytes())
        }
        (Variant::Bool(a), Variant::Bool(b)) => (*a != 0).cmp(&(*b != 0)),
        (Variant::Int { value: a, .. }, Variant::Int { value: b, .. }) => a.cmp(b),
        (Variant::Float(a), Variant::Float(b)) => a.value().total_cmp(&b.value()),
        (Variant::Math(a), Variant::Math(b)) if a.ty == b.ty => a
            .components()
            .zip(b.components())
            .map(|pair| match pair {
                (Component::Int(a), Component::Int(b)) => a.cmp(&b),
                (a, b) => real(a).total_cmp(&real(b)),
            })
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal),
        _ => rank(a, dialect).cmp(&rank(b, dialect)),
    }
}

/// The rank of a type. StringName and String have the same rank: their values are compared with each other, and an order
/// must not run in a circle.
fn rank(value: &Variant<'_>, dialect: Dialect) -> Option<u32> {
    match value.type_() {
        Type::StringName => Type::String.number(dialect),
        ty => ty.number(dialect),
    }
}

fn real(component: Component) -> f64 {
    match component {
        Component::Int(_) => 0.0,
        Component::Single(n) => f64::from(n),
        Component::Double(n) => n,
    }
}
