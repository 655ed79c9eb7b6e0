//! A finding: one thing that is wrong with a save, its place, its message, and what to do next.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::ser::SerializeStruct;

use crate::bytes::Span;
use crate::damage::{Code, Damage, Level, Space, Value};
use crate::printable::{grouped, triple};

/// Which block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BlockAt {
    /// Its LOD.
    pub lod: u8,
    /// Its position in blocks of that LOD; `None` when it is not known.
    pub position: Option<[i32; 3]>,
}

impl BlockAt {
    /// Its LOD and its position, if that is known.
    #[must_use]
    pub fn place(self) -> Option<(u8, [i32; 3])> {
        Some((self.lod, self.position?))
    }
}

/// One thing that is wrong with a save.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The file, below the save, made printable.
    pub file: Arc<str>,
    /// The affected bytes of the file; `None` for the whole file.
    pub span: Option<Span>,
    /// The affected block.
    pub block: Option<BlockAt>,
    /// What is wrong.
    pub damage: Damage,
    /// Further information, in sentences; made printable.
    pub remark: Option<String>,
    /// Whether the block or chunk that it is about was found whole, elsewhere in its file.
    pub is_found: bool,
    /// How many findings of each code are not listed; only of [`Code::FindingsCut`].
    pub unlisted: Box<[(Code, u64)]>,
}

impl Finding {
    /// A finding about a file.
    #[must_use]
    pub fn of_file(file: Arc<str>, damage: Damage, remark: Option<String>) -> Self {
        let span = (!damage.span.is_empty()).then_some(damage.span);
        Self { file, span, block: None, damage, remark, is_found: false, unlisted: Box::default() }
    }

    /// A finding about a block whose bytes are `stored`; damage in the decompressed block is shown at all stored bytes.
    #[must_use]
    pub fn of_block(file: Arc<str>, block: BlockAt, stored: Span, damage: Damage) -> Self {
        let span = match damage.space {
            Space::File => damage.span,
            Space::Block => stored,
        };
        let (remark, unlisted) = (None, Box::default());
        Self { file, span: Some(span), block: Some(block), damage, remark, is_found: false, unlisted }
    }

    /// The finding that counts those of a file that are not listed, by code; `None` if there are none.
    pub(crate) fn not_listed(file: Arc<str>, unlisted: &BTreeMap<Code, u64>) -> Option<Self> {
        let total: u64 = unlisted.values().sum();
        let by_code: Vec<String> = unlisted.iter().map(|(code, n)| format!("{} {code}", grouped(*n))).collect();
        let damage = Damage::new(Code::FindingsCut, Span::default(), "findings of this file that are not listed")
            .found(Value::Number(total));
        let remark = format!("Not listed: {}.", by_code.join(", "));
        let unlisted = unlisted.iter().map(|(code, n)| (*code, *n)).collect();
        (total > 0).then(|| Self { unlisted, ..Self::of_file(file, damage, Some(remark)) })
    }

    /// Its code.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.damage.code
    }

    /// How bad it is.
    #[must_use]
    pub const fn level(&self) -> Level {
        self.damage.code.level()
    }

    /// What is wrong, without where: `epilogue of the block is wrong (0x00000000; expected 0x900df00d).`
    #[must_use]
    pub fn message(&self) -> String {
        let mut text = format!("{}.", self.damage);
        if let Some(remark) = &self.remark {
            text.push(' ');
            text.push_str(remark);
            if !remark.ends_with('.') {
                text.push('.');
            }
        }
        text
    }

    /// Where it is: `block (3, 0, 12), bytes 0x9014..0x97d3`; empty for the whole file.
    #[must_use]
    pub fn place(&self) -> String {
        let mut parts = Vec::new();
        if let Some(BlockAt { lod, position }) = self.block {
            let lod = if lod > 0 { format!(" of LOD {lod}") } else { String::new() };
            match position {
                Some(position) => parts.push(format!("block {}{lod}", triple(position))),
                None => parts.push(format!("a block{lod}")),
            }
        }
        if let Some(span) = self.span {
            parts.push(if is_about_sectors(self.code()) {
                format!("sectors at bytes {span}")
            } else {
                format!("bytes {span}")
            });
        }
        if self.damage.space == Space::Block {
            parts.push(format!("decompressed bytes {}", self.damage.span));
        }
        parts.join(", ")
    }
}

/// Whether findings of a code are about the sectors of a block, whose last one its data may not fill.
const fn is_about_sectors(code: Code) -> bool {
    matches!(
        code,
        Code::BlockTorn
            | Code::BlockMisplaced
            | Code::BlockMoved
            | Code::BlockHalfMoved
            | Code::BlockDoubled
            | Code::BlockOwnerless
            | Code::PlaceDoubt
    )
}

/// A sentence with the file's name in it.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place();
        let comma = if place.is_empty() { "" } else { ", " };
        write!(f, "{}{comma}{place}: {}", self.file, self.message())
    }
}

/// The form of `--format jsonl`, without the path of the save in what to do.
impl Serialize for Finding {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize_with(self.code().next(), serializer)
    }
}

impl Finding {
    /// Serializes it with what to do about it.
    pub(super) fn serialize_with<S: serde::Serializer>(&self, next: &str, serializer: S) -> Result<S::Ok, S::Error> {
        let in_block = (self.damage.space == Space::Block).then_some(self.damage.span);
        let mut s = serializer.serialize_struct("finding", 12)?;
        s.serialize_field("type", "finding")?;
        s.serialize_field("code", &self.code())?;
        s.serialize_field("level", &self.level())?;
        s.serialize_field("file", &*self.file)?;
        s.serialize_field("bytes", &self.span.map(|s| [s.start, s.end]))?;
        s.serialize_field("block_bytes", &in_block.map(|s| [s.start, s.end]))?;
        s.serialize_field("lod", &self.block.map(|b| b.lod))?;
        s.serialize_field("block", &self.block.and_then(|b| b.position))?;
        s.serialize_field("field", self.damage.field)?;
        s.serialize_field("expected", &value_text(self.damage.expected))?;
        s.serialize_field("found", &value_text(self.damage.found))?;
        s.serialize_field("message", &self.message())?;
        s.serialize_field("next", next)?;
        s.end()
    }
}

fn value_text(value: Value) -> Option<String> {
    Some(value.to_string()).filter(|text| !text.is_empty())
}
