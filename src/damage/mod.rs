//! What can be wrong with a save: stable codes, the place of the damage, the value found and the value expected.
//!
//! Decoders, checker and error messages share this vocabulary. A [`Damage`] is small and `Copy`. It stores no text of
//! the file, so a hostile file cannot put text into a message.
//!
//! It knows neither formats nor saves.

mod code;
mod codes;
mod decoded;
mod set;
mod short_text;
mod text;

use std::fmt;

use crate::bytes::{Short, Span};
pub use code::with_titles;
pub use codes::Code;
pub use decoded::Decoded;
pub use set::CodeSet;
pub use short_text::ShortText;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Normal, worth knowing.
    Note,
    /// Readable, but against the format.
    Warning,
    /// Something cannot be read, is in the wrong place, or will be destroyed by the game's next save.
    Error,
}

impl Level {
    /// `note`, `warning` or `error`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which bytes a [`Span`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// Bytes of the file as it is on disk (of the input, where there is no file).
    File,
    /// Bytes of the block after decompression.
    Block,
}

/// One side of "expected this, found that".
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Nothing to say.
    Nothing,
    /// A plain number.
    Number(u64),
    /// A number that may be negative.
    Signed(i64),
    /// A count of bytes.
    Bytes(u64),
    /// A byte, shown as hex.
    Hex8(u8),
    /// Four bytes, shown as hex.
    Hex32(u32),
    /// An inclusive range of numbers.
    Range(u64, u64),
    /// At most this number.
    AtMost(u64),
    /// At least this number.
    AtLeast(u64),
    /// A size or a position, x, y, z.
    Triple([i64; 3]),
    /// Some words.
    Words(&'static str),
    /// The beginning of a text of the file.
    Text(ShortText),
}

impl Value {
    /// A triple of any integers.
    pub fn triple<T: Into<i64>>(v: [T; 3]) -> Self {
        Self::Triple(v.map(Into::into))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Nothing => Ok(()),
            Self::Number(n) => write!(f, "{n}"),
            Self::Signed(n) => write!(f, "{n}"),
            Self::Bytes(1) => f.write_str("1 byte"),
            Self::Bytes(n) => write!(f, "{n} bytes"),
            Self::Hex8(n) => write!(f, "0x{n:02x}"),
            Self::Hex32(n) => write!(f, "0x{n:08x}"),
            Self::Range(a, b) if a == b => write!(f, "{a}"),
            Self::Range(a, b) => write!(f, "{a} to {b}"),
            Self::AtMost(n) => write!(f, "at most {n}"),
            Self::AtLeast(n) => write!(f, "at least {n}"),
            Self::Triple([x, y, z]) => write!(f, "({x}, {y}, {z})"),
            Self::Words(s) => f.write_str(s),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// One thing that is wrong, as a decoder sees it: it knows its own bytes, not the file they came from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Damage {
    /// What kind of damage; its meaning never changes.
    pub code: Code,
    /// The bytes concerned; empty, at the place, where bytes are missing.
    pub span: Span,
    /// What `span` counts.
    pub space: Space,
    /// The field, in the format's own words.
    pub field: &'static str,
    /// What the format asks for.
    pub expected: Value,
    /// What was there.
    pub found: Value,
}

impl Damage {
    /// Damage at bytes of the file (or of a decoder's input, which the caller can [`shift`](Self::shifted)).
    #[must_use]
    pub const fn new(code: Code, span: Span, field: &'static str) -> Self {
        Self { code, span, space: Space::File, field, expected: Value::Nothing, found: Value::Nothing }
    }

    /// The same, with what was expected.
    #[must_use]
    pub const fn expected(mut self, expected: Value) -> Self {
        self.expected = expected;
        self
    }

    /// The same, with what was found.
    #[must_use]
    pub const fn found(mut self, found: Value) -> Self {
        self.found = found;
        self
    }

    /// The same, in bytes of the decompressed block.
    #[must_use]
    pub const fn in_block(mut self) -> Self {
        self.space = Space::Block;
        self
    }

    /// The same, `by` bytes further on.
    #[must_use]
    pub const fn shifted(mut self, by: u64) -> Self {
        self.span = Span::new(self.span.start.saturating_add(by), self.span.end.saturating_add(by));
        self
    }

    /// `code` because a read ran into the end: the span is the bytes that were left.
    #[must_use]
    pub const fn short(code: Code, short: Short, field: &'static str) -> Self {
        Self::new(code, Span::sized(short.offset, short.left), field)
            .expected(Value::Bytes(short.needed))
            .found(Value::Bytes(short.left))
    }
}

/// The message, a clause: `epilogue of the block is wrong (0x00000000; expected 0x900df00d)`.
impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.code.text().write_message(self, f)
    }
}
