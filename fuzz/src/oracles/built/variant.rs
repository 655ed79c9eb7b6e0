//! Values of every type, nested, of both engines.

use arbitrary::{Result, Unstructured};
use voxscope::bytes::Cursor;
use voxscope::damage::{Code, Space};
use voxscope::godot::variant::{self, Budget, Dialect, Kind as Typed, Object, Text, Type, Variant};

use super::{Case, Dice, Kind, Model, Place, Seen};
use crate::naive::Bytes;
use crate::naive::variant::{Part, walk};
use crate::oracles::{limits, variant as raw};

/// A value of one engine.
#[derive(Debug)]
pub struct Value<const GODOT: u8> {
    value: Variant<'static>,
    bytes: Vec<u8>,
    parts: Vec<Part>,
}

const fn dialect(godot: u8) -> Dialect {
    if godot == 3 { Dialect::Godot3 } else { Dialect::Godot4 }
}

/// The most values inside one value.
const VALUES: usize = 40;

fn text(u: &mut Unstructured<'_>) -> Result<&'static str> {
    let texts = ["", "a", "it", "stone", "\u{77f3}\u{5934}", "\u{1b}[2J", "a longer one, of many bytes"];
    Ok(texts[usize::from(u.arbitrary::<u8>()?) % texts.len()])
}

fn value(u: &mut Unstructured<'_>, dialect: Dialect, depth: usize, room: &mut usize) -> Result<Variant<'static>> {
    *room = room.saturating_sub(1);
    let (number, n): (u8, u8) = u.arbitrary()?;
    let types = Type::all(dialect);
    let ty = types[usize::from(number) % types.len()];
    let wide = n & 1 == 1;
    let mut inside = |u: &mut Unstructured<'_>| value(u, dialect, depth + 1, room);
    let many = if depth > 6 { 0 } else { n >> 1 & 3 };
    Ok(match ty {
        Type::Nil => Variant::Nil,
        Type::Bool => Variant::bool(wide),
        Type::Int => Variant::Int { value: if wide { u.arbitrary()? } else { i64::from(u.arbitrary::<i32>()?) }, wide },
        Type::Float => Variant::float(u.arbitrary::<f32>()?.into()),
        Type::String => Variant::string(text(u)?),
        Type::StringName => Variant::string_name(text(u)?),
        Type::NodePath => Variant::node_path(wide, &[text(u)?, "x"][..usize::from(n >> 1 & 1) + 1], &[text(u)?]),
        Type::Rid => Variant::Rid(if dialect == Dialect::Godot4 { u.arbitrary()? } else { 0 }),
        Type::Callable => Variant::Callable,
        Type::Signal => Variant::signal(text(u)?, u.arbitrary()?),
        Type::Object if n >> 6 == 0 => Variant::Object(Object::Null),
        Type::Object if n >> 6 == 1 => Variant::Object(Object::Id(u.arbitrary()?)),
        Type::Object => {
            let mut properties = Vec::new();
            for _ in 0..many {
                properties.push((Text::new(text(u)?), inside(u)?));
            }
            Variant::object("Node", properties)
        }
        Type::Dictionary => {
            let mut pairs = Vec::new();
            for _ in 0..many {
                pairs.push((inside(u)?, inside(u)?));
            }
            let (key, to) = (typed(n >> 3, dialect), typed(n >> 5, dialect));
            Variant::typed_dictionary(key, to, pairs)
        }
        Type::Array => {
            let mut items = Vec::new();
            for _ in 0..many {
                items.push(inside(u)?);
            }
            Variant::typed_array(typed(n >> 3, dialect), items)
        }
        Type::PackedStringArray => Variant::packed_strings(&vec![text(u)?; usize::from(many)]),
        Type::PackedByteArray => Variant::packed_bytes(vec![n; usize::from(n % 9)]),
        _ => {
            // Doubles are of builds of Godot 4.
            let wide = wide && dialect == Dialect::Godot4;
            let made = |len| {
                let bytes = super::filled(n, len);
                Variant::math(ty, wide, bytes.clone()).or_else(|| Variant::packed(ty, wide, bytes))
            };
            (1..=64 * (1 + usize::from(many))).rev().find_map(made).or_else(|| {
                (1..=256).rev().find_map(|len| {
                    let bytes = super::filled(n, len);
                    Variant::math(ty, false, bytes.clone()).or_else(|| Variant::packed(ty, false, bytes))
                })
            })
        }
        .unwrap_or_default(),
    })
}

/// What a typed container declares; only Godot 4 has them.
fn typed(n: u8, dialect: Dialect) -> Typed<'static> {
    match n & 3 {
        _ if dialect == Dialect::Godot3 => Typed::Untyped,
        0 => Typed::Builtin(Type::Int),
        1 => Typed::Class(Box::new(Text::new("Node"))),
        2 => Typed::Script(Box::new(Text::new("res://a.gd"))),
        _ => Typed::Untyped,
    }
}

impl<const GODOT: u8> Model for Value<GODOT> {
    fn make(u: &mut Unstructured<'_>) -> Result<Self> {
        let value = value(u, dialect(GODOT), 0, &mut VALUES.clone())?;
        let (mut bytes, mut parts) = (Vec::new(), Vec::new());
        value.encode(dialect(GODOT), &mut bytes);
        let walked = walk(&mut Bytes::new(&bytes), GODOT == 4, &mut parts);
        assert_eq!(walked, Ok(()), "a naive walk over {value:?}");
        Ok(Self { value, bytes, parts })
    }

    fn bytes(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    fn look(&self, bytes: &[u8]) -> Vec<Seen> {
        let mut damage = Vec::new();
        let _ = variant::decode(&mut Cursor::new(bytes), dialect(GODOT), &mut Budget::from(&limits()))
            .report_to(&mut damage);
        damage.into_iter().map(Seen::from).collect()
    }

    fn compare(&self, bytes: &[u8]) {
        let (mut cursor, mut damage) = (Cursor::new(bytes), Vec::new());
        let found = variant::decode(&mut cursor, dialect(GODOT), &mut Budget::from(&limits())).report_to(&mut damage);
        assert_eq!((found.as_ref(), damage.as_slice()), (Some(&self.value), &[][..]), "another value");
        assert!(cursor.is_empty(), "{} bytes were left", cursor.remaining());
        raw::one(bytes, dialect(GODOT));
    }

    fn any(&self, bytes: &[u8]) {
        raw::one(bytes, dialect(GODOT));
    }

    fn kinds() -> &'static [Kind<Self>] {
        const {
            &[
                Kind { name: "cut", apply: cut },
                Kind { name: "type_unknown", apply: type_unknown },
                Kind { name: "flags_impossible", apply: flags_impossible },
                Kind { name: "count_too_large", apply: count_too_large },
                Kind { name: "text_not_utf8", apply: text_not_utf8 },
                Kind { name: "padding_not_zero", apply: padding_not_zero },
                Kind { name: "nested_too_deep", apply: nested_too_deep },
            ]
        }
    }
}

fn at(bytes: Vec<u8>, code: Code, start: usize, end: usize) -> Option<Case> {
    Some(Case::at(bytes, code, Space::Block, start, end))
}

/// Without its last bytes; the place of the damage depends on whether a count or the value itself is found too large.
fn cut<const GODOT: u8>(model: &Value<GODOT>, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    bytes.truncate(dice.below(model.bytes.len()));
    Some(Case::of(bytes, &[Code::VariantCut], Place::Anywhere))
}

fn header<const GODOT: u8>(model: &Value<GODOT>, dice: &mut Dice) -> Option<usize> {
    let of = |part: &Part| if let Part::Header(at, _) = part { Some(*at) } else { None };
    dice.one(&model.parts.iter().filter_map(of).collect::<Vec<_>>())
}

fn type_unknown<const GODOT: u8>(model: &Value<GODOT>, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let start = header(model, dice)?;
    bytes[start] = dice.within(Type::all(dialect(GODOT)).len(), 255) as u8;
    at(bytes, Code::VariantType, start, start + 4)
}

fn flags_impossible<const GODOT: u8>(model: &Value<GODOT>, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let start = header(model, dice)?;
    // Bits 8 to 15 and 20 to 31 mean nothing anywhere.
    let bit = dice.one(&(8..16).chain(20..32).collect::<Vec<usize>>())?;
    bytes[start + bit / 8] |= 1 << (bit % 8);
    at(bytes, Code::VariantFlags, start, start + 4)
}

fn count_too_large<const GODOT: u8>(model: &Value<GODOT>, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let of = |part: &Part| if let Part::Count(at, each) = part { Some((*at, *each)) } else { None };
    let (start, each) = dice.one(&model.parts.iter().filter_map(of).collect::<Vec<_>>())?;
    let room = (bytes.len() - start - 4) / each;
    let count = dice.one(&[room as u32 + 1, 1 << 20, 0x7fff_ffff])?;
    bytes[start..start + 4].copy_from_slice(&count.to_le_bytes());
    at(bytes, Code::VariantCut, start, start + 4)
}

fn text_not_utf8<const GODOT: u8>(model: &Value<GODOT>, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let of = |part: &Part| match part {
        Part::Text(at, len) if *len > 0 => Some(*at),
        _ => None,
    };
    let texts = model.parts.iter().filter_map(of).collect::<Vec<_>>();
    // Only the first damaged text of a value is reported, so only one is damaged.
    let start = dice.one(&texts)?;
    bytes[start] = 0xff;
    at(bytes, Code::VariantText, start, start + 1)
}

fn padding_not_zero<const GODOT: u8>(model: &Value<GODOT>, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let of = |part: &Part| match part {
        Part::Padding(at, len) if *len > 0 => Some((*at, *len)),
        _ => None,
    };
    let (start, len) = dice.one(&model.parts.iter().filter_map(of).collect::<Vec<_>>())?;
    bytes[start + dice.below(len)] = dice.within(1, 255) as u8;
    at(bytes, Code::VariantPadding, start, start + len)
}

/// The value inside more arrays than the limit of nesting.
fn nested_too_deep<const GODOT: u8>(model: &Value<GODOT>, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let levels = limits().variant_depth + dice.within(1, 20);
    let number = Type::Array.number(dialect(GODOT))?;
    let one = [number.to_le_bytes(), 1u32.to_le_bytes()].concat();
    let bytes = [one.repeat(levels), model.bytes.clone()].concat();
    let start = (limits().variant_depth + 1) * 8;
    at(bytes, Code::VariantDepth, start, start + 4)
}
