//! The first 100 bytes of a database.

use crate::bytes::{Cursor, Short, Span, len64};
use crate::damage::{Code, Damage, Decoded, Value};

/// The first bytes of every database.
pub const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Bytes of the header.
pub const HEADER_BYTES: usize = 100;

/// The fields of the header. Numbers are big-endian, like all numbers of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of a page, a power of two from 512 to 65,536.
    pub page_size: u32,
    /// Bytes at the end of each page that are not used.
    pub reserved: u8,
    /// Whether the write-ahead log is used for writing.
    pub wal: bool,
    /// Pages of the database; 0 if the header does not store it.
    pub pages: u32,
    /// First page of the list of free pages; 0 if there is none.
    pub freelist: u32,
    /// Free pages.
    pub free_pages: u32,
    /// Not 0 if the database has pointer map pages.
    pub largest_root: u32,
    /// Text is UTF-8 (1) or UTF-16 (2 little-endian, 3 big-endian); 0 if the header does not store it.
    pub encoding: u32,
    /// The number that names the application of the database; 0 if there is none.
    pub application: u32,
}

fn u32_at(data: &[u8], at: usize) -> u32 {
    let bytes = data.get(at..).and_then(<[u8]>::first_chunk::<4>);
    bytes.map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

impl Header {
    /// A header of which only the size of pages is known.
    #[must_use]
    pub const fn of_page_size(page_size: u32) -> Self {
        Self {
            page_size,
            reserved: 0,
            wal: false,
            pages: 0,
            freelist: 0,
            free_pages: 0,
            largest_root: 0,
            encoding: 0,
            application: 0,
        }
    }

    /// Decodes the header from the first bytes of a file. `None` when the size of pages is
    /// not known from it.
    pub fn decode(data: &[u8]) -> Decoded<Option<Self>> {
        Decoded::collect(|damage| Self::decode_into(data, damage))
    }

    fn decode_into(data: &[u8], damage: &mut Vec<Damage>) -> Option<Self> {
        if !data.starts_with(MAGIC) {
            damage.push(
                Damage::new(Code::StreamNotDatabase, Span::sized(0, len64(data).min(16)), "first bytes of the file")
                    .expected(Value::Words("`SQLite format 3`")),
            );
            return None;
        }
        if data.len() < HEADER_BYTES {
            let short = Short { offset: 16, needed: 84, left: len64(data).saturating_sub(16) };
            damage.push(Damage::short(Code::StreamCut, short, "header of the database"));
            return None;
        }
        let mut fields = Cursor::new(data.get(16..).unwrap_or_default());
        let raw = fields.array::<2>().map_or(0, u16::from_be_bytes);
        let page_size = page_size(raw);
        let [_, read_version, reserved] = fields.array::<3>().unwrap_or_default();
        let write_version = data.get(18).copied().unwrap_or(0);
        if !is_page_size(page_size) {
            damage.push(
                Damage::new(Code::StreamHeader, Span::sized(16, 2), "size of pages")
                    .expected(Value::Words("a power of two from 512 to 65536"))
                    .found(Value::Number(raw.into())),
            );
            return None;
        }
        let odd = |span: Span, field: &'static str, found: u64, expected: Value| {
            Damage::new(Code::StreamHeader, span, field).expected(expected).found(Value::Number(found))
        };
        for (at, field, version) in [(18, "write version", write_version), (19, "read version", read_version)] {
            if !(1..=2).contains(&version) {
                damage.push(odd(Span::sized(at, 1), field, version.into(), Value::Range(1, 2)));
            }
        }
        let reserved = if u32::from(reserved).saturating_add(480) > page_size {
            damage.push(odd(Span::sized(20, 1), "reserved bytes of pages", reserved.into(), Value::AtMost(32)));
            0
        } else {
            reserved
        };
        if data.get(21..24) != Some(&FRACTIONS) {
            let damaged = Damage::new(Code::StreamHeader, Span::sized(21, 3), "payload fractions");
            damage.push(damaged.expected(Value::Words("64, 32 and 32")));
        }
        let encoding = u32_at(data, 56);
        if encoding > 3 {
            damage.push(odd(Span::sized(56, 4), "encoding of texts", encoding.into(), Value::Range(1, 3)));
        }
        // The number of pages is valid only if it was written together with the change counter.
        let pages = if u32_at(data, 24) == u32_at(data, 92) { u32_at(data, 28) } else { 0 };
        Some(Self {
            page_size,
            reserved,
            wal: read_version == 2,
            pages,
            freelist: u32_at(data, 32),
            free_pages: u32_at(data, 36),
            largest_root: u32_at(data, 52),
            encoding,
            application: u32_at(data, 68),
        })
    }

    /// Bytes of a page that are used.
    #[must_use]
    pub fn usable(&self) -> u32 {
        self.page_size.saturating_sub(self.reserved.into())
    }

    /// Whether a page is a pointer map, which a database with auto-vacuum has at regular intervals.
    #[must_use]
    pub fn is_pointer_map(&self, page: u32) -> bool {
        if self.largest_root == 0 || page < 2 {
            return false;
        }
        let each = self.usable().checked_div(5).unwrap_or(0).saturating_add(1);
        page.saturating_sub(2).checked_rem(each) == Some(0)
    }

    /// The page that SQLite never uses, because it contains the lock bytes.
    #[must_use]
    pub fn is_lock_page(&self, page: u32) -> bool {
        (1u32 << 30).checked_div(self.page_size).is_some_and(|n| n.saturating_add(1) == page)
    }
}

/// Bytes that [`is_recognized`] looks at.
pub const RECOGNIZED_BYTES: usize = 24;

/// Bytes 21 to 23 of every database: how much of a page a cell may take.
const FRACTIONS: [u8; 3] = [64, 32, 32];

/// Whether the first bytes of a file are those of a database. If the magic is damaged, the size of pages and the fractions
/// decide.
#[must_use]
pub fn is_recognized(prefix: &[u8]) -> bool {
    let Some(&[high, low, _, _, _, fractions @ ..]) = prefix.get(16..).and_then(<[u8]>::first_chunk::<8>) else {
        return prefix.starts_with(MAGIC);
    };
    prefix.starts_with(MAGIC) || (fractions == FRACTIONS && is_page_size(page_size(u16::from_be_bytes([high, low]))))
}

/// A size of pages as the header stores it: 65,536 does not fit and is written as 1.
fn page_size(raw: u16) -> u32 {
    if raw == 1 { 1 << 16 } else { raw.into() }
}

/// Whether a number is a size of pages.
#[must_use]
pub const fn is_page_size(size: u32) -> bool {
    size.is_power_of_two() && size >= 512 && size <= 1 << 16
}
