//! Where a block begins in its file: at a sector, or at a byte off the grid of sectors. Every output takes it from here.

use std::fmt;

use crate::bytes::Span;
use crate::godot::region::Header;

/// Where a block begins in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockStart {
    /// At a sector.
    Sector(u32),
    /// At a byte that is the first of no sector: bytes were inserted before it, or cut out.
    Byte(u64),
}

impl BlockStart {
    /// Where a block with these bytes begins, by the sectors that the header of its file defines.
    #[must_use]
    pub fn new(header: &Header, pieces: &[Span]) -> Self {
        Self::on_grid(first_byte(pieces), header.sectors_at(), header.format.sector_size.into())
    }

    /// Where it begins if that is a byte, and sectors of a size begin at `first`.
    #[must_use]
    pub fn on_grid(byte: u64, first: u64, size: u64) -> Self {
        let inside = byte.checked_sub(first).filter(|inside| inside.is_multiple_of(size.max(1)));
        let sector = inside.and_then(|inside| inside.checked_div(size).and_then(|n| u32::try_from(n).ok()));
        sector.map_or(Self::Byte(byte), Self::Sector)
    }

    /// The sector, if it begins at one.
    #[must_use]
    pub const fn sector(self) -> Option<u32> {
        match self {
            Self::Sector(sector) => Some(sector),
            Self::Byte(_) => None,
        }
    }

    /// How the names of its files in `lost+found` end.
    #[must_use]
    pub fn suffix(self) -> String {
        match self {
            Self::Sector(sector) => format!("sector-{sector:06}"),
            Self::Byte(byte) => format!("byte-{byte:010}"),
        }
    }

    /// As `--accept` has it: `SECTOR` or `@BYTE`.
    #[must_use]
    pub fn argument(self) -> String {
        match self {
            Self::Sector(sector) => sector.to_string(),
            Self::Byte(byte) => format!("@{byte}"),
        }
    }

    /// Reads what [`Self::argument`] gives.
    #[must_use]
    pub fn from_argument(text: &str) -> Option<Self> {
        match text.strip_prefix('@') {
            Some(byte) => match byte.strip_prefix("0x") {
                // Digits alone: the parser would take a sign as well.
                Some(hex) if hex.starts_with(|c: char| c.is_ascii_hexdigit()) => {
                    u64::from_str_radix(hex, 16).ok().map(Self::Byte)
                }
                Some(_) => None,
                None => byte.parse().ok().map(Self::Byte),
            },
            None => text.parse().ok().map(Self::Sector),
        }
    }
}

impl fmt::Display for BlockStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sector(sector) => write!(f, "sector {sector}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// The first byte of a block in its file.
pub(crate) fn first_byte(pieces: &[Span]) -> u64 {
    pieces.first().map_or(0, |piece| piece.start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::godot::channel::{CHANNELS, Depth};
    use crate::godot::region::Format;

    #[test]
    fn a_block_off_the_grid_has_a_byte_and_no_sector() {
        let format =
            Format { block_size_po2: 4, region_size: [4; 3], depths: [Depth::Bits8; CHANNELS], sector_size: 512 };
        let header = Header::new(3, format);
        let at = |byte: u64| BlockStart::new(&header, &[Span::sized(byte, 100), Span::sized(1 << 30, 7)]);
        let first = header.sectors_at();
        assert_eq!(at(first), BlockStart::Sector(0));
        assert_eq!(at(first + 3 * 512), BlockStart::Sector(3));
        assert_eq!(at(first + 3 * 512 + 7), BlockStart::Byte(first + 3 * 512 + 7));
        assert_eq!(at(first - 7), BlockStart::Byte(first - 7), "before the first sector");
        assert_eq!(at(first + 7).sector(), None);
        for start in [at(first + 512), at(first + 7)] {
            assert_eq!(BlockStart::from_argument(&start.argument()), Some(start));
        }
        assert_eq!(BlockStart::from_argument("@0x14614"), Some(BlockStart::Byte(83476)));
        for text in ["", "@", "-1", "@-1", "1@", "@@1", "@0x", "@0x+1", "0x10"] {
            assert_eq!(BlockStart::from_argument(text), None, "{text}");
        }
    }
}
