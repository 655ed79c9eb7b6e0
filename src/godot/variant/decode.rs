//! Decodes without recursion: open values are on an explicit stack, so that nesting cannot overflow the thread's stack.
//!
//! A count is accepted only if the remaining bytes could hold that many elements; nothing is allocated for it.

use std::borrow::Cow;

use super::values::{Padding, padding_after};
use super::{Array, Dialect, Dictionary, Float, Kind, Math, NodePath, Object, Packed, Text, Texts, Type, Variant};
use crate::bytes::{Cursor, Short, Span, index, len64};
use crate::damage::{Code, Damage, Decoded, Value};
use crate::limits::Limits;

/// The cost that decoding may have. One budget can be shared by all Variants of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How deep a value may be nested; the outermost one is at 0.
    pub depth: usize,
    /// How many more values may be read, nested ones included.
    pub values: usize,
}

impl From<&Limits> for Budget {
    fn from(limits: &Limits) -> Self {
        Self { depth: limits.variant_depth, values: limits.variant_values }
    }
}

/// Reads one Variant and leaves the cursor after it.
///
/// Damage that does not prevent reading (text that is not UTF-8, padding that is not zero) is recorded, and the
/// value is still returned; of the strings of one packed array or node path, the first such is named.
///
/// `None` means that the value could not be read to its end. Then exactly one more damage, the last, says
/// why: [`VariantCut`](Code::VariantCut), [`VariantType`](Code::VariantType), [`VariantFlags`](Code::VariantFlags),
/// [`VariantDepth`](Code::VariantDepth) or [`OverLimit`](Code::OverLimit). The cursor is then somewhere inside the
/// value. All spans are in the cursor's offsets, taken as those of a decompressed block.
pub fn decode<'a>(cursor: &mut Cursor<'a>, dialect: Dialect, budget: &mut Budget) -> Decoded<Option<Variant<'a>>> {
    Decoded::collect(|damage| decode_into(cursor, dialect, budget, damage))
}

pub(in crate::godot) fn decode_into<'a>(
    cursor: &mut Cursor<'a>,
    dialect: Dialect,
    budget: &mut Budget,
    damage: &mut Vec<Damage>,
) -> Option<Variant<'a>> {
    let mut reader = Reader { cursor, dialect, budget, damage };
    let mut open: Vec<Frame<'a>> = Vec::new();
    loop {
        let mut value = match reader.value(open.len()).ok()? {
            Begun::Whole(value) => value,
            Begun::Open(frame) => {
                open.push(frame);
                continue;
            }
        };
        loop {
            let Some(mut frame) = open.pop() else { return Some(value) };
            frame.push(value);
            if frame.left > 0 {
                reader.next_name(&mut frame).ok()?;
                open.push(frame);
                break;
            }
            value = frame.close();
        }
    }
}

/// The value cannot be read; its damage is recorded already.
struct Fatal;

type Step<T> = Result<T, Fatal>;

/// A value that was begun.
enum Begun<'a> {
    Whole(Variant<'a>),
    Open(Frame<'a>),
}

/// A value whose content is being read.
struct Frame<'a> {
    /// Number of values that are left to read; a pair counts once, at its end.
    left: usize,
    part: Content<'a>,
}

enum Content<'a> {
    Array(Array<'a>),
    Dictionary { whole: Dictionary<'a>, key: Option<Variant<'a>> },
    Object { class: Text<'a>, properties: Vec<(Text<'a>, Variant<'a>)>, name: Text<'a> },
}

impl<'a> Frame<'a> {
    fn push(&mut self, value: Variant<'a>) {
        match &mut self.part {
            Content::Array(array) => array.items.push(value),
            Content::Dictionary { whole, key } => match key.take() {
                None => {
                    *key = Some(value);
                    return;
                }
                Some(key) => whole.pairs.push((key, value)),
            },
            Content::Object { properties, name, .. } => properties.push((std::mem::take(name), value)),
        }
        self.left = self.left.saturating_sub(1);
    }

    fn close(self) -> Variant<'a> {
        match self.part {
            Content::Array(array) => Variant::Array(array),
            Content::Dictionary { whole, .. } => Variant::Dictionary(whole),
            Content::Object { class, properties, .. } => Variant::Object(Object::Whole { class, properties }),
        }
    }
}

/// The names of a string's fields.
#[derive(Clone, Copy)]
struct FieldNames {
    length: &'static str,
    text: &'static str,
}

impl FieldNames {
    const STRING: Self = Self { length: "string length", text: "string" };
    const STRING_NAME: Self = Self { length: "string name length", text: "string name" };
    const NODE_PATH: Self = Self { length: "node path name length", text: "node path name" };
    const SIGNAL: Self = Self { length: "signal name length", text: "signal name" };
    const CLASS: Self = Self { length: "class name length", text: "class name" };
    const PROPERTY: Self = Self { length: "property name length", text: "property name" };
    const SCRIPT: Self = Self { length: "script path length", text: "script path" };
}

/// The first of a run of strings that has something wrong.
#[derive(Default)]
struct Flaws {
    text: Option<Damage>,
    padding: Option<Damage>,
}

struct Reader<'r, 'a> {
    cursor: &'r mut Cursor<'a>,
    dialect: Dialect,
    budget: &'r mut Budget,
    damage: &'r mut Vec<Damage>,
}

impl<'a> Reader<'_, 'a> {
    fn fail(&mut self, damage: Damage) -> Fatal {
        self.damage.push(damage.in_block());
        Fatal
    }

    fn need<T>(&mut self, read: Result<T, Short>, field: &'static str) -> Step<T> {
        read.map_err(|short| self.fail(Damage::short(Code::VariantCut, short, field)))
    }

    fn u32(&mut self, field: &'static str) -> Step<u32> {
        let read = self.cursor.u32();
        self.need(read, field)
    }

    fn u64(&mut self, field: &'static str) -> Step<u64> {
        let read = self.cursor.u64();
        self.need(read, field)
    }

    fn bytes(&mut self, n: usize, field: &'static str) -> Step<&'a [u8]> {
        let read = self.cursor.take(n);
        self.need(read, field)
    }

    /// Refuses a count, whose four bytes were just read, if the remaining bytes cannot hold that many elements.
    fn fits(&mut self, count: u64, each: usize, field: &'static str) -> Step<usize> {
        let each = u64::try_from(each.max(1)).unwrap_or(u64::MAX);
        let room = len64(self.cursor.peek()).checked_div(each).unwrap_or(0);
        if count > room {
            let span = Span::new(self.cursor.offset().saturating_sub(4), self.cursor.offset());
            let damage = Damage::new(Code::VariantCut, span, field);
            return Err(self.fail(damage.expected(Value::AtMost(room)).found(Value::Number(count))));
        }
        Ok(index(count))
    }

    /// A value's header and all of it, up to its nested values.
    fn value(&mut self, depth: usize) -> Step<Begun<'a>> {
        let at = self.cursor.offset();
        let header = self.u32("variant header")?;
        let span = Span::new(at, self.cursor.offset());
        let Some(ty) = Type::from_number(self.dialect, header & 0xff) else {
            return Err(self.unknown_type(span, header & 0xff, "variant type"));
        };
        if header & !0xff & !allowed_flags(ty, self.dialect) != 0 {
            let damage = Damage::new(Code::VariantFlags, span, "variant header");
            return Err(self.fail(damage.found(Value::Hex32(header))));
        }
        if depth > self.budget.depth {
            let limit = u64::try_from(self.budget.depth).unwrap_or(u64::MAX);
            let damage = Damage::new(Code::VariantDepth, span, "variant nesting");
            return Err(self.fail(damage.expected(Value::AtMost(limit))));
        }
        let Some(values) = self.budget.values.checked_sub(1) else {
            return Err(self.fail(Damage::new(Code::OverLimit, span, "number of variants")));
        };
        self.budget.values = values;
        let wide = header & FLAG_64 != 0;
        match ty {
            Type::Array => self.array(header),
            Type::Dictionary => self.dictionary(header),
            Type::Object => self.object(wide),
            _ => self.plain(ty, wide).map(Begun::Whole),
        }
    }

    fn unknown_type(&mut self, span: Span, number: u32, field: &'static str) -> Fatal {
        let last = u64::try_from(Type::all(self.dialect).len()).unwrap_or(u64::MAX).saturating_sub(1);
        let damage = Damage::new(Code::VariantType, span, field);
        self.fail(damage.expected(Value::Range(0, last)).found(Value::Number(u64::from(number))))
    }

    /// A value without nested ones.
    fn plain(&mut self, ty: Type, wide: bool) -> Step<Variant<'a>> {
        Ok(match ty {
            Type::Bool => Variant::Bool(self.u32("bool")?),
            Type::Int => {
                let value = if wide {
                    let read = self.cursor.i64();
                    self.need(read, "int")?
                } else {
                    let read = self.cursor.i32();
                    i64::from(self.need(read, "int")?)
                };
                Variant::Int { value, wide }
            }
            Type::Float if wide => Variant::Float(Float::Double(self.u64("float")?)),
            Type::Float => Variant::Float(Float::Single(self.u32("float")?)),
            Type::String => Variant::String(self.text(FieldNames::STRING)?),
            Type::StringName => Variant::StringName(self.text(FieldNames::STRING_NAME)?),
            Type::NodePath => Variant::NodePath(self.node_path()?),
            Type::Rid => Variant::Rid(match self.dialect {
                Dialect::Godot3 => 0,
                Dialect::Godot4 => self.u64("RID")?,
            }),
            Type::Callable => Variant::Callable,
            Type::Signal => {
                Variant::Signal { name: self.text(FieldNames::SIGNAL)?, object: self.u64("signal object")? }
            }
            ty if ty.is_packed() => Variant::Packed(self.packed(ty, wide)?),
            ty => match ty.layout() {
                Some(layout) => {
                    let raw = self.bytes(layout.bytes(wide), ty.name(self.dialect))?;
                    Variant::Math(Math { ty, wide, raw: Cow::Borrowed(raw) })
                }
                None => Variant::Nil,
            },
        })
    }

    fn array(&mut self, header: u32) -> Step<Begun<'a>> {
        let kind = self.kind(header >> 16, "array element type")?;
        let (count, shared) = self.shared_count("array count")?;
        let left = self.fits(count, 4, "array count")?;
        let array = Array { shared, kind, items: Vec::new() };
        Ok(if left == 0 {
            Begun::Whole(Variant::Array(array))
        } else {
            Begun::Open(Frame { left, part: Content::Array(array) })
        })
    }

    fn dictionary(&mut self, header: u32) -> Step<Begun<'a>> {
        let key = self.kind(header >> 16, "dictionary key type")?;
        let value = self.kind(header >> 18, "dictionary value type")?;
        let (count, shared) = self.shared_count("dictionary count")?;
        let left = self.fits(count, 8, "dictionary count")?;
        let whole = Dictionary { shared, key, value, pairs: Vec::new() };
        Ok(if left == 0 {
            Begun::Whole(Variant::Dictionary(whole))
        } else {
            Begun::Open(Frame { left, part: Content::Dictionary { whole, key: None } })
        })
    }

    fn object(&mut self, as_id: bool) -> Step<Begun<'a>> {
        if as_id {
            return Ok(Begun::Whole(Variant::Object(Object::Id(self.u64("object id")?))));
        }
        let class = self.text(FieldNames::CLASS)?;
        if class.bytes.is_empty() {
            return Ok(Begun::Whole(Variant::Object(Object::Null)));
        }
        let count = self.u32("property count")?;
        let left = self.fits(u64::from(count), 8, "property count")?;
        if left == 0 {
            return Ok(Begun::Whole(Variant::Object(Object::Whole { class, properties: Vec::new() })));
        }
        let name = self.text(FieldNames::PROPERTY)?;
        Ok(Begun::Open(Frame { left, part: Content::Object { class, properties: Vec::new(), name } }))
    }

    /// The name of an object's next property.
    fn next_name(&mut self, frame: &mut Frame<'a>) -> Step<()> {
        if let Content::Object { name, .. } = &mut frame.part {
            *name = self.text(FieldNames::PROPERTY)?;
        }
        Ok(())
    }

    fn shared_count(&mut self, field: &'static str) -> Step<(u64, bool)> {
        let count = self.u32(field)?;
        Ok((u64::from(count & !SHARED), count & SHARED != 0))
    }

    /// The kind that two bits of the header announce.
    fn kind(&mut self, bits: u32, field: &'static str) -> Step<Kind<'a>> {
        Ok(match bits & 3 {
            0 => Kind::Untyped,
            1 => {
                let at = self.cursor.offset();
                let number = self.u32(field)?;
                let Some(ty) = Type::from_number(self.dialect, number) else {
                    return Err(self.unknown_type(Span::new(at, self.cursor.offset()), number, field));
                };
                Kind::Builtin(ty)
            }
            2 => Kind::Class(Box::new(self.text(FieldNames::CLASS)?)),
            _ => Kind::Script(Box::new(self.text(FieldNames::SCRIPT)?)),
        })
    }

    fn node_path(&mut self) -> Step<NodePath<'a>> {
        let at = self.cursor.offset();
        let first = self.u32("node path names")?;
        if first & SHARED == 0 {
            let damage = Damage::new(Code::VariantFlags, Span::new(at, self.cursor.offset()), "node path names");
            return Err(self.fail(damage.expected(Value::Words("bit 31 set")).found(Value::Hex32(first))));
        }
        let names = first & !SHARED;
        let subnames = self.u32("node path subnames")?;
        let flags = self.u32("node path flags")?;
        let total = u64::from(names).saturating_add(u64::from(subnames)).saturating_add(u64::from(flags & 2 != 0));
        let room = len64(self.cursor.peek()) / 4;
        let Some(count) = u32::try_from(total).ok().filter(|_| total <= room) else {
            let damage = Damage::new(Code::VariantCut, Span::new(at, self.cursor.offset()), "node path names");
            return Err(self.fail(damage.expected(Value::AtMost(room)).found(Value::Number(total))));
        };
        Ok(NodePath { names, subnames, flags, texts: self.texts(count, FieldNames::NODE_PATH)? })
    }

    fn packed(&mut self, ty: Type, wide: bool) -> Step<Packed<'a>> {
        let count = self.u32("packed array count")?;
        let Some(layout) = ty.layout() else {
            self.fits(u64::from(count), 4, "packed array count")?;
            let Texts { raw, .. } = self.texts(count, FieldNames::STRING)?;
            return Ok(Packed { ty, wide, count, raw, padding: Padding::default() });
        };
        let each = layout.bytes(wide);
        let elements = self.fits(u64::from(count), each, "packed array count")?;
        let raw = self.bytes(elements.saturating_mul(each), "packed array")?;
        let at = self.cursor.offset();
        let padding = if each == 1 { self.bytes(padding_after(raw.len()), "packed array padding")? } else { &[] };
        self.damage.extend(padding_flaw(padding, at, "packed array padding"));
        Ok(Packed { ty, wide, count, raw: Cow::Borrowed(raw), padding: Padding::new(padding) })
    }

    /// A string, with its flaws reported.
    fn text(&mut self, words: FieldNames) -> Step<Text<'a>> {
        let mut flaws = Flaws::default();
        let text = self.flawed_text(words, &mut flaws)?;
        self.report(&flaws);
        Ok(text)
    }

    /// So many strings, with the first flaw of each kind reported.
    fn texts(&mut self, count: u32, words: FieldNames) -> Step<Texts<'a>> {
        let (from, at) = (self.cursor.peek(), self.cursor.offset());
        let mut flaws = Flaws::default();
        for _ in 0..count {
            self.flawed_text(words, &mut flaws)?;
        }
        self.report(&flaws);
        let used = index(self.cursor.offset().saturating_sub(at));
        Ok(Texts { count, raw: Cow::Borrowed(from.get(..used).unwrap_or_default()) })
    }

    fn report(&mut self, flaws: &Flaws) {
        self.damage.extend(flaws.text);
        self.damage.extend(flaws.padding);
    }

    fn flawed_text(&mut self, words: FieldNames, flaws: &mut Flaws) -> Step<Text<'a>> {
        let length = self.u32(words.length)?;
        let length = self.fits(u64::from(length), 1, words.length)?;
        let at = self.cursor.offset();
        let bytes = self.bytes(length, words.text)?;
        let end = self.cursor.offset();
        let padding = self.bytes(padding_after(length), "string padding")?;
        if flaws.text.is_none() {
            flaws.text = text_flaw(bytes, at, words.text);
        }
        if flaws.padding.is_none() {
            flaws.padding = padding_flaw(padding, end, "string padding");
        }
        Ok(Text { bytes: Cow::Borrowed(bytes), padding: Padding::new(padding) })
    }
}

/// Bit 16 of a header: 64 bits (int, float, vectors), or an object's id in place of the object.
pub(super) const FLAG_64: u32 = 1 << 16;

/// Bit 31 of a count: shared, in engines before Godot 3; and the mark of a node path.
pub(super) const SHARED: u32 = 1 << 31;

/// The bits above the type that a header of this type may have.
fn allowed_flags(ty: Type, dialect: Dialect) -> u32 {
    match (ty, dialect) {
        (Type::Int | Type::Float | Type::Object, _) => FLAG_64,
        (_, Dialect::Godot3) => 0,
        (Type::Array, Dialect::Godot4) => 3 << 16,
        (Type::Dictionary, Dialect::Godot4) => 15 << 16,
        (ty, Dialect::Godot4) if ty.layout().is_some_and(|l| l.bytes(true) != l.bytes(false)) => FLAG_64,
        _ => 0,
    }
}

fn text_flaw(bytes: &[u8], at: u64, field: &'static str) -> Option<Damage> {
    let error = std::str::from_utf8(bytes).err()?;
    let (_, bad) = bytes.split_at_checked(error.valid_up_to())?;
    let bad = bad.get(..error.error_len().unwrap_or(bad.len())).unwrap_or(bad);
    let start = at.saturating_add(u64::try_from(error.valid_up_to()).unwrap_or(u64::MAX));
    let damage = Damage::new(Code::VariantText, Span::sized(start, len64(bad)), field).in_block();
    Some(damage.expected(Value::Words("UTF-8")).found(Value::Hex8(*bad.first()?)))
}

fn padding_flaw(padding: &[u8], at: u64, field: &'static str) -> Option<Damage> {
    let found = *padding.iter().find(|&&byte| byte != 0)?;
    let damage = Damage::new(Code::VariantPadding, Span::sized(at, len64(padding)), field).in_block();
    Some(damage.expected(Value::Hex8(0)).found(Value::Hex8(found)))
}
