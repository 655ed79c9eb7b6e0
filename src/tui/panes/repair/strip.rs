//! The sectors of a file before or after a repair, a letter for each block of the result.

use crate::repair::preview::{PartFate, SectorFate};
use crate::tui::App;
use crate::tui::canvas::Canvas;
use crate::tui::numbers::grouped;
use crate::tui::theme::Role;

/// Draws a title and the sectors below it; those of the line under the cursor are highlighted.
pub(super) fn draw(
    app: &App,
    title: &str,
    (parts, all): &(Vec<SectorFate>, u64),
    line: Option<usize>,
    canvas: &mut Canvas<'_>,
) {
    let columns = columns(canvas.width());
    let rows = u64::from(canvas.height().saturating_sub(1));
    let mut per = 1u64;
    while all.div_ceil(per) > columns.saturating_mul(rows).max(1) && per < 1 << 40 {
        per *= 2;
    }
    let count = if *all == 1 { "1 sector".to_owned() } else { format!("{} sectors", grouped(*all)) };
    let scale = if per == 1 { String::new() } else { format!("{}{per} a cell", app.glyphs.dot) };
    canvas.line(1, 0, &[(Role::Strong, title), (Role::Dim, "  "), (Role::Dim, &count), (Role::Dim, &scale)]);
    for cell in 0..all.div_ceil(per).min(columns.saturating_mul(rows)) {
        let (glyph, role) = cell_appearance(app, parts, cell.saturating_mul(per), per, line);
        let x = u16::try_from(cell % columns).unwrap_or(u16::MAX);
        let y = u16::try_from(cell / columns).unwrap_or(u16::MAX);
        canvas.put(1 + x, 1 + y, &glyph, role);
    }
}

/// Cells in a row of a picture so wide.
pub(super) fn columns(width: u16) -> u64 {
    u64::from(width.saturating_sub(2)).max(1)
}

/// The worst in a cell: its letter, and how it looks.
fn cell_appearance(app: &App, parts: &[SectorFate], from: u64, per: u64, line: Option<usize>) -> (String, Role) {
    let end = from.saturating_add(per);
    // Parts are in order, and none is longer than 255 sectors: few of them can reach into a cell from before it.
    let upto = parts.partition_point(|part| part.first < end);
    let here = parts.get(..upto).unwrap_or_default().iter().rev().take_while(|part| part.first + 70_000 > from);
    let here = here.take(512).filter(|part| part.first + part.count > from);
    let worst = here.max_by_key(|part| (line.is_some() && part.line == line, part.what, part.first));
    let Some(part) = worst else { return (app.glyphs.stale.to_owned(), Role::Stale) };
    let letter = char::from(b'a' + u8::try_from(part.number % 26).unwrap_or(0));
    let (glyph, role) = match part.what {
        PartFate::Old => (app.glyphs.stale.to_owned(), Role::Stale),
        PartFate::Header => (app.glyphs.header.to_owned(), Role::Header),
        PartFate::Kept => {
            (letter.to_string(), if part.number.is_multiple_of(2) { Role::Block } else { Role::BlockOther })
        }
        PartFate::PutRight => (letter.to_ascii_uppercase().to_string(), Role::Good),
        PartFate::Likely => ("~".to_owned(), Role::Warning),
        PartFate::Lost => ("?".to_owned(), Role::Unowned),
    };
    (glyph, if line.is_some() && part.line == line { Role::Selected } else { role })
}

/// Fate the letters and marks mean.
pub(super) fn legend(app: &App, y: u16, canvas: &mut Canvas<'_>) {
    canvas.line(
        1,
        y,
        &[
            (Role::Block, "a"),
            (Role::Dim, " a block  "),
            (Role::Good, "A"),
            (Role::Dim, " put right  "),
            (Role::Warning, "~"),
            (Role::Dim, " likely  "),
            (Role::Unowned, "?"),
            (Role::Dim, " lost+found  "),
            (Role::Stale, app.glyphs.stale),
            (Role::Dim, " of no use"),
        ],
    );
}
