//! A Variant, walked over: where its parts lie. The values themselves are of no interest here.

use super::Bytes;

/// A part of a Variant and where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Type and flags: offset, number of the type.
    Header(usize, u32),
    /// A count or a length, offset of its four bytes, and how many bytes each needs at the least.
    Count(usize, usize),
    /// Text: offset and length.
    Text(usize, usize),
    /// Bytes that fill up to four: offset and length.
    Padding(usize, usize),
}

/// What each type holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Holds {
    Nothing,
    /// So many bytes, whatever the flags say.
    Fixed(usize),
    /// So many numbers of 4 bytes, or of 8 with the flag.
    Reals(usize),
    Text,
    Path,
    Object,
    Signal,
    Dictionary,
    Array,
    /// Bytes, filled up to four.
    Bytes,
    Texts,
    /// Elements of so many bytes.
    Elements(usize),
    /// Elements of so many numbers of 4 bytes, or of 8 with the flag.
    RealElements(usize),
}

use Holds::{
    Array, Bytes as Octets, Dictionary, Elements, Fixed, Nothing, Object, Path, RealElements, Reals, Signal, Text,
    Texts,
};

const GODOT_3: [Holds; 27] = [
    Nothing,
    Fixed(4),
    Reals(1),
    Reals(1),
    Text,
    Fixed(8),
    Fixed(16),
    Fixed(12),
    Fixed(24),
    Fixed(16),
    Fixed(16),
    Fixed(24),
    Fixed(36),
    Fixed(48),
    Fixed(16),
    Path,
    Nothing,
    Object,
    Dictionary,
    Array,
    Octets,
    Elements(4),
    Elements(4),
    Texts,
    Elements(8),
    Elements(12),
    Elements(16),
];

const GODOT_4: [Holds; 39] = [
    Nothing,
    Fixed(4),
    Reals(1),
    Reals(1),
    Text,
    Reals(2),
    Fixed(8),
    Reals(4),
    Fixed(16),
    Reals(3),
    Fixed(12),
    Reals(6),
    Reals(4),
    Fixed(16),
    Reals(4),
    Reals(4),
    Reals(6),
    Reals(9),
    Reals(12),
    Reals(16),
    Fixed(16),
    Text,
    Path,
    Fixed(8),
    Object,
    Nothing,
    Signal,
    Dictionary,
    Array,
    Octets,
    Elements(4),
    Elements(8),
    Elements(4),
    Elements(8),
    Texts,
    RealElements(2),
    RealElements(3),
    Elements(16),
    RealElements(4),
];

/// Why a walk stops.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    Cut,
    Type,
    Flags,
    /// Nested deeper than is walked over.
    Deep,
}

/// Nested values that are walked over.
const DEEPEST: usize = 1100;

/// Walks over the Variant at `bytes`, giving its parts to `parts`.
pub fn walk(bytes: &mut Bytes<'_>, godot_4: bool, parts: &mut Vec<Part>) -> Result<(), Stop> {
    value(bytes, godot_4, parts, 0)
}

fn value(bytes: &mut Bytes<'_>, godot_4: bool, parts: &mut Vec<Part>, depth: usize) -> Result<(), Stop> {
    if depth > DEEPEST {
        return Err(Stop::Deep);
    }
    let at = bytes.at;
    let header = bytes.u32().ok_or(Stop::Cut)?;
    let types: &[Holds] = if godot_4 { &GODOT_4 } else { &GODOT_3 };
    let holds = *types.get((header & 0xff) as usize).ok_or(Stop::Type)?;
    let number = header & 0xff;
    parts.push(Part::Header(at, number));
    // Bit 16 says 64 bits of int and float everywhere, and of the others in Godot 4; of arrays and dictionaries the bits
    // tell the kinds.
    let allowed = match holds {
        Object => 1 << 16,
        Reals(1) if number == 2 || number == 3 => 1 << 16,
        Reals(_) | RealElements(_) if godot_4 => 1 << 16,
        Array if godot_4 => 3 << 16,
        Dictionary if godot_4 => 15 << 16,
        _ => 0,
    };
    if header & !0xff & !allowed != 0 {
        return Err(Stop::Flags);
    }
    let flag = header >> 16 & 1 == 1;
    let real = if flag { 8 } else { 4 };
    match holds {
        Nothing => {}
        Fixed(n) => skip(bytes, n)?,
        Reals(n) => skip(bytes, n * real)?,
        Text => text(bytes, parts)?,
        Path => {
            let names = bytes.u32().ok_or(Stop::Cut)?;
            if names >> 31 == 0 {
                return Err(Stop::Flags);
            }
            let subnames = bytes.u32().ok_or(Stop::Cut)?;
            let flags = bytes.u32().ok_or(Stop::Cut)?;
            let all = u64::from(names & 0x7fff_ffff) + u64::from(subnames) + u64::from(flags >> 1 & 1);
            for _ in 0..all {
                text(bytes, parts)?;
            }
        }
        Object if flag => skip(bytes, 8)?,
        Object => {
            let class = bytes.at;
            text(bytes, parts)?;
            if bytes.all[class..class + 4] != [0; 4] {
                for _ in 0..count(bytes, parts, 8)? {
                    text(bytes, parts)?;
                    value(bytes, godot_4, parts, depth + 1)?;
                }
            }
        }
        Signal => {
            text(bytes, parts)?;
            skip(bytes, 8)?;
        }
        Dictionary => {
            kind(bytes, header >> 16, types, parts)?;
            kind(bytes, header >> 18, types, parts)?;
            for _ in 0..count(bytes, parts, 8)? & 0x7fff_ffff {
                value(bytes, godot_4, parts, depth + 1)?;
                value(bytes, godot_4, parts, depth + 1)?;
            }
        }
        Array => {
            kind(bytes, header >> 16, types, parts)?;
            for _ in 0..count(bytes, parts, 4)? & 0x7fff_ffff {
                value(bytes, godot_4, parts, depth + 1)?;
            }
        }
        Octets => {
            let n = count(bytes, parts, 1)? as usize;
            skip(bytes, n)?;
            padding(bytes, n, parts)?;
        }
        Texts => {
            for _ in 0..count(bytes, parts, 4)? {
                text(bytes, parts)?;
            }
        }
        Elements(each) => elements(bytes, parts, each)?,
        RealElements(n) => elements(bytes, parts, n * real)?,
    }
    Ok(())
}

fn skip(bytes: &mut Bytes<'_>, n: usize) -> Result<(), Stop> {
    bytes.take(n).map(|_| ()).ok_or(Stop::Cut)
}

fn count(bytes: &mut Bytes<'_>, parts: &mut Vec<Part>, each: usize) -> Result<u32, Stop> {
    let at = bytes.at;
    let n = bytes.u32().ok_or(Stop::Cut)?;
    parts.push(Part::Count(at, each));
    Ok(n)
}

fn elements(bytes: &mut Bytes<'_>, parts: &mut Vec<Part>, each: usize) -> Result<(), Stop> {
    let n = count(bytes, parts, each)? as usize;
    skip(bytes, n.checked_mul(each).ok_or(Stop::Cut)?)
}

fn text(bytes: &mut Bytes<'_>, parts: &mut Vec<Part>) -> Result<(), Stop> {
    let n = count(bytes, parts, 1)? as usize;
    parts.push(Part::Text(bytes.at, n));
    skip(bytes, n)?;
    padding(bytes, n, parts)
}

fn padding(bytes: &mut Bytes<'_>, len: usize, parts: &mut Vec<Part>) -> Result<(), Stop> {
    let n = (4 - len % 4) % 4;
    parts.push(Part::Padding(bytes.at, n));
    skip(bytes, n)
}

/// What the elements of a typed array or dictionary are.
fn kind(bytes: &mut Bytes<'_>, bits: u32, types: &[Holds], parts: &mut Vec<Part>) -> Result<(), Stop> {
    match bits & 3 {
        0 => Ok(()),
        1 => {
            let number = bytes.u32().ok_or(Stop::Cut)?;
            types.get(number as usize).map(|_| ()).ok_or(Stop::Type)
        }
        _ => text(bytes, parts),
    }
}
