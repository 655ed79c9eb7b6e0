//! The columns of the table: which there are, which have room, what is in them.

use super::table::{Chunk, TableFacts};
use crate::check::Row;
use crate::damage::Code;
use crate::tui::findings::severity;
use crate::tui::numbers::grouped;
use crate::tui::theme::{Glyphs, Role, level_role};

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// The name of the file.
    File,
    /// The LOD.
    Lod,
    /// The position in blocks.
    Position,
    /// The first sector.
    Sector,
    /// How many sectors.
    Count,
    /// Bytes as stored.
    Bytes,
    /// Bytes after decompression.
    Plain,
    /// The one by the other.
    Ratio,
    /// The version of the block data.
    Version,
    /// How it is packed.
    Container,
    /// What is wrong.
    State,
    /// Flags and their counts.
    Flags,
}

/// A column that has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Which.
    pub column: Column,
    /// Where it begins.
    pub x: u16,
    /// How wide it is.
    pub width: u16,
}

/// All columns from left to right.
const ALL: [Column; 12] = [
    Column::File,
    Column::Lod,
    Column::Position,
    Column::Sector,
    Column::Count,
    Column::Bytes,
    Column::Plain,
    Column::Ratio,
    Column::Version,
    Column::Container,
    Column::State,
    Column::Flags,
];

/// The same, the most needed first: the last ones are left out first where there is little room.
const PRIORITY: [Column; 12] = [
    Column::Position,
    Column::Lod,
    Column::File,
    Column::State,
    Column::Bytes,
    Column::Flags,
    Column::Sector,
    Column::Plain,
    Column::Container,
    Column::Count,
    Column::Ratio,
    Column::Version,
];

/// Columns of the least that the last one, which takes what is left, needs.
const LAST: u16 = 12;

/// Columns of the state: `✗ block-misplaced`, which the check of the whole save finds after the rows are there.
const STATE: u16 = 17;

impl Column {
    /// Its heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Lod => "lod",
            Self::Position => "position",
            Self::Sector => "sector",
            Self::Count => "n",
            Self::Bytes => "stored",
            Self::Plain => "decompressed",
            Self::Ratio => "ratio",
            Self::Version => "ver",
            Self::Container => "container",
            Self::State => "state",
            Self::Flags => "flags",
        }
    }

    /// Its name in a sentence.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Count => "sectors",
            Self::Bytes => "stored bytes",
            Self::Plain => "decompressed bytes",
            Self::Version => "version",
            other => other.title(),
        }
    }

    /// Whether the largest come first when it is sorted by: where these are what one looks for.
    #[must_use]
    pub const fn begins_down(self) -> bool {
        matches!(self, Self::Count | Self::Bytes | Self::Plain | Self::Ratio | Self::State | Self::Flags)
    }

    /// Whether it is aligned to the right.
    #[must_use]
    pub const fn is_right(self) -> bool {
        !matches!(self, Self::File | Self::Container | Self::State | Self::Flags | Self::Position)
    }

    fn is_there(self, facts: TableFacts, files: usize) -> bool {
        match self {
            Self::File => files > 1,
            Self::Lod => facts.lods,
            Self::Sector | Self::Count => facts.sectors,
            Self::Plain | Self::Ratio => facts.states,
            Self::Version => facts.versions,
            Self::Container => facts.containers,
            // Of maps, what is wrong is known by file and not by block.
            Self::State => facts.states || !facts.flags,
            Self::Flags => facts.flags,
            Self::Position | Self::Bytes => true,
        }
    }

    fn width(self, facts: TableFacts) -> u16 {
        match self {
            Self::File => facts.name.clamp(6, 18),
            Self::Lod => 4,
            Self::Position => (u16::from(facts.digits.max(2)) + 1) * 3,
            Self::Sector => facts.sector.max(7),
            Self::Count => 3,
            Self::Bytes => facts.bytes.max(7),
            Self::Plain => facts.plain.max(13),
            Self::Ratio => 6,
            Self::Version => 4,
            Self::Container => 10,
            Self::State => (facts.code + 2).max(STATE),
            Self::Flags => LAST,
        }
    }
}

/// The columns that have room.
#[must_use]
pub fn fit(facts: TableFacts, files: usize, width: u16) -> Vec<Placed> {
    // A third of the width is for names before the columns that are needed least.
    let names = facts.name.clamp(6, (width / 3).max(18));
    let wanted = |column: Column| if column == Column::File { names } else { column.width(facts) };
    let mut left = width.saturating_sub(1);
    let mut chosen: Vec<Column> = Vec::new();
    for column in PRIORITY.into_iter().filter(|column| column.is_there(facts, files)) {
        let need = wanted(column) + 1;
        // What identifies a block is always there.
        if need <= left || matches!(column, Column::Position | Column::Lod) {
            left = left.saturating_sub(need);
            chosen.push(column);
        }
    }
    let mut x = 1;
    let mut out = Vec::new();
    let has_flags = chosen.contains(&Column::Flags);
    for column in ALL.into_iter().filter(|column| chosen.contains(column)) {
        let mut width = wanted(column);
        match column {
            // Names take what is left first, then the last column.
            Column::File => {
                let more = left.min(facts.name.saturating_sub(width));
                (width, left) = (width + more, left - more);
            }
            Column::Flags => width += left,
            Column::State if !has_flags => width += left,
            _ => {}
        }
        out.push(Placed { column, x, width });
        x += width + 1;
    }
    out
}

/// The text of a cell and its role; with `pages`, sectors are pages, which count from 1.
#[must_use]
pub fn cell(column: Column, chunk: &Chunk, row: &Row, glyphs: &Glyphs, digits: u8, pages: bool) -> (String, Role) {
    let unread = chunk.provisional;
    let text = match column {
        Column::File => {
            return (chunk.label.clone(), Role::Text);
        }
        Column::Lod => row.lod.to_string(),
        Column::Position => {
            let width = usize::from(digits.max(2));
            match row.position {
                Some(position) => return (position.map(|n| format!("{n:>width$} ")).concat(), Role::Text),
                None if row.flags.is_some() => return ("all".into(), Role::Dim),
                None => return ("?".into(), Role::Dim),
            }
        }
        Column::Sector => match row.sector {
            Some(sector) => grouped(u64::from(sector) + u64::from(pages)),
            // No sector begins there: the byte, as `--accept` has it.
            None => row.offset.map_or_else(|| "-".to_owned(), |byte| format!("@{}", grouped(byte))),
        },
        Column::Count => row.sectors.to_string(),
        _ if unread => return (glyphs.more.to_owned(), Role::Dim),
        Column::Bytes => grouped(row.bytes),
        Column::Plain => grouped(row.plain),
        Column::Ratio => format!("{:.1}", row.ratio()),
        Column::Version => row.version.map_or_else(|| "-".into(), |version| version.to_string()),
        Column::Container => row.container.unwrap_or("-").to_owned(),
        Column::State if row.flags.is_some() => return ("-".into(), Role::Dim),
        Column::State => {
            let level = row.level();
            let mark = glyphs.level(level);
            let worst = row.codes.iter().max_by_key(|code| severity(*code));
            let more = row.codes.iter().count().saturating_sub(1);
            let more = if more > 0 { format!(" +{more}") } else { String::new() };
            let role = if level.is_none() { Role::Dim } else { level_role(level) };
            return (format!("{mark} {}{more}", worst.map_or("", Code::name)), role);
        }
        Column::Flags => {
            let flags = row.flags.iter().flat_map(|counts| counts.named());
            let named: Vec<String> = flags.map(|(name, count)| format!("{name} {}", grouped(count))).collect();
            if row.flags.is_none() {
                return ("-".into(), Role::Dim);
            }
            if named.is_empty() {
                return ("none".into(), Role::Dim);
            }
            named.join(glyphs.dot)
        }
    };
    let role = match column {
        Column::Lod | Column::Version | Column::Container | Column::Ratio => Role::Dim,
        _ => Role::Text,
    };
    (text, role)
}
