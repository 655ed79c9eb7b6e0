//! Writing: styles, tables of text, machine formats, numbers for people.

use std::io::{self, BufWriter, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use voxscope::damage::Level;
pub use voxscope::export::{write_json, write_json_pretty};

/// Standard output, coloured when that is wanted, buffered.
pub fn stdout() -> impl Write {
    BufWriter::with_capacity(1 << 16, anstream::stdout())
}

/// The style of a level; the level's name is always written beside it.
pub const fn level_style(level: Level) -> Style {
    match level {
        Level::Error => AnsiColor::Red.on_default().bold(),
        Level::Warning => AnsiColor::Yellow.on_default(),
        Level::Note => AnsiColor::Cyan.on_default(),
    }
}

/// Names and headings.
pub const BOLD: Style = Style::new().bold();
/// What is less important.
pub const DIM: Style = Style::new().dimmed();
/// All is well.
pub const GOOD: Style = AnsiColor::Green.on_default();

/// How a column is aligned.
#[derive(Clone, Copy, PartialEq)]
pub enum Align {
    Left,
    Right,
}

/// An empty table without lines, whose columns are as wide as what is in them.
pub fn table(columns: &[(&str, Align)]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|(name, _)| *name));
    for (i, (_, align)) in columns.iter().enumerate() {
        if let Some(column) = table.column_mut(i) {
            column.set_padding((u16::from(i > 0), 1));
            if *align == Align::Right {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
    table
}

/// Writes a table without the spaces at the ends of its lines.
pub fn write_table(out: &mut impl Write, table: &Table) -> io::Result<()> {
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Characters in a line of the terminal; `None` when the output is none.
fn terminal_width() -> Option<usize> {
    let size = if io::stdout().is_terminal() { terminal_size::terminal_size() } else { None };
    size.map(|(terminal_size::Width(width), _)| usize::from(width).clamp(40, 120))
}

/// Breaks a text into lines as wide as the terminal, later ones beginning with `indent`. Where the output is no
/// terminal it stays on one line, for `grep`.
pub fn wrapped(text: &str, indent: &str) -> String {
    terminal_width().map_or_else(|| text.to_owned(), |width| fill(text, indent, width))
}

/// Breaks a longer text into lines as wide as the terminal, or 100 characters.
pub fn paragraph(text: &str) -> String {
    fill(text, "", terminal_width().unwrap_or(100))
}

fn fill(text: &str, indent: &str, width: usize) -> String {
    let words = textwrap::WordSplitter::NoHyphenation;
    textwrap::fill(text, textwrap::Options::new(width).subsequent_indent(indent).word_splitter(words))
}

/// `1,234,567`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `1 block`, `2 blocks`.
pub fn count(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// `17.3 MiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (mut n, mut unit) = (bytes as f64 / 1024.0, 0);
    while n >= 1024.0 && unit + 1 < UNITS.len() {
        n /= 1024.0;
        unit += 1;
    }
    format!("{n:.1} {}", UNITS.get(unit).unwrap_or(&"TiB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(17 << 20 | 1 << 18), "17.2 MiB");
        assert_eq!(count(1, "block"), "1 block");
        assert_eq!(count(1000, "block"), "1,000 blocks");
    }
}
