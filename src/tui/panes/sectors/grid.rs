//! The sectors as cells in rows: sectors a cell, the areas of the pane, what a cell shows.

use ratatui::style::{Modifier, Style};

use super::super::marks::{Marks, SectorKind};
use crate::save::Owner;
use crate::tui::App;
use crate::tui::data::Opened;
use crate::tui::scroll;
use crate::tui::theme::{Glyphs, Role, Theme};

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridCell {
    /// The worst in it.
    pub kind: SectorKind,
    /// The first sector of that.
    pub sector: u64,
    /// Its run.
    pub run: usize,
    /// Whether blocks of more than one number are in it.
    pub several: bool,
    /// Whether the selected block is in it.
    pub selected: bool,
}

/// The areas of the pane.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Whether there is a line of figures above.
    pub summary: bool,
    /// Rows of cells that are seen.
    pub rows: u16,
    /// The line of words on what is under the cursor.
    pub words: Option<u16>,
    /// The first line of the legend.
    pub legend: u16,
    /// Columns of the numbers at the left.
    pub label: u16,
    /// Cells in a row.
    pub columns: u64,
    /// Characters a cell.
    pub wide: u16,
    /// Lines a cell.
    pub tall: u16,
    /// Sectors a cell.
    pub per: u64,
    /// Sectors a cell when all of the file is to be seen.
    pub fit: u64,
    /// All places.
    pub places: u64,
    /// The place under the cursor.
    pub cursor: u64,
    /// The first row that is seen.
    pub first: usize,
}

impl Grid {
    /// The parts of a pane of a size.
    #[must_use]
    pub fn new(app: &App, marks: &Marks, width: u16, height: u16, legend_lines: u16) -> Self {
        let places = marks.len();
        let summary = height >= 4;
        let has_words = height >= 12 || (height >= 5 && app.layout().inspector.area() == 0);
        let legend = match height {
            0..3 => 0,
            3..9 => 1,
            _ => legend_lines,
        };
        let taken = u16::from(summary) + u16::from(has_words) + legend;
        let rows = height.saturating_sub(taken);
        let last = marks.runs.last().map_or(0, |run| run.first);
        let label = u16::try_from(last.to_string().len()).unwrap_or(20).max(3) + 1;
        let room = u64::from(width.saturating_sub(label + 3));
        // A multiple of eight makes numbers at the left that are easy to count from.
        let count = |room: u64| if room >= 8 { room / 8 * 8 } else { room.max(1) };
        let columns = count(room);
        let seen = columns.saturating_mul(rows.into()).max(1);
        let mut fit = 1u64;
        while places.div_ceil(fit) > seen && fit < 1 << 40 {
            fit *= 2;
        }
        let per = app.panes.sectors.zoom.map_or(fit, |zoom| (1u64 << zoom.min(40)).min(fit));
        // One sector a cell leaves room for more characters, into which positions are written.
        let fits = |wide: &u16| *wide == 1 || places.div_ceil(count(room / u64::from(*wide))) <= u64::from(rows);
        let widest = (1..=MAX_WIDE).rev().find(fits).unwrap_or(1);
        let wide = if per > 1 { 1 } else { app.panes.sectors.wide.unwrap_or(widest) };
        let columns = count((room / u64::from(wide)).max(1));
        let needed = u16::try_from(places.div_ceil(columns)).unwrap_or(u16::MAX).max(1);
        let tall = if wide > 1 { (rows / needed).clamp(1, MAX_TALL) } else { 1 };
        let rows = rows / tall;
        let legend_at = height.saturating_sub(legend);
        let mut grid = Self {
            summary,
            rows,
            words: has_words.then(|| legend_at.saturating_sub(1)),
            legend: legend_at,
            label,
            columns,
            wide,
            tall,
            per,
            fit,
            places,
            cursor: marks.place_of(cursor(app)).unwrap_or(0),
            first: 0,
        };
        let cursor = usize::try_from(grid.cell_at_cursor() / columns).unwrap_or(usize::MAX - 1);
        grid.first = scroll::follow(app.panes.sectors.first, cursor, rows.into(), grid.all_rows());
        grid
    }

    /// The cell under the cursor.
    #[must_use]
    pub fn cell_at_cursor(&self) -> u64 {
        self.cursor.min(self.places.saturating_sub(1)) / self.per
    }

    /// How many cells there are.
    #[must_use]
    pub fn cells(&self) -> u64 {
        self.places.div_ceil(self.per)
    }

    /// How many rows there are.
    #[must_use]
    pub fn all_rows(&self) -> usize {
        usize::try_from(self.cells().div_ceil(self.columns)).unwrap_or(usize::MAX)
    }

    /// The first cell of a row of the screen.
    #[must_use]
    pub fn row_start(&self, row: u16) -> u64 {
        (self.first as u64).saturating_add(row.into()).saturating_mul(self.columns)
    }

    /// The cell at a place inside the pane.
    #[must_use]
    pub fn cell_at(&self, x: u16, y: u16) -> Option<u64> {
        let row = Some(y.checked_sub(self.summary.into())? / self.tall).filter(|row| *row < self.rows)?;
        let column = u64::from(x.checked_sub(self.label + 1)? / self.wide);
        let cell = self.row_start(row).saturating_add(column);
        (column < self.columns && cell < self.cells()).then_some(cell)
    }

    /// What a cell shows.
    #[must_use]
    pub fn cell(&self, marks: &Marks, cell: u64, slot: Option<u32>) -> Option<GridCell> {
        let start = cell.checked_mul(self.per)?;
        let end = start.saturating_add(self.per);
        let mut out: Option<GridCell> = None;
        let mut block = None;
        let mut several = false;
        let mut selected = false;
        let from = marks.run_at_place(start)?;
        for (at, place, run) in marks.from(from).take_while(|(_, place, _)| *place < end) {
            let kind = marks.kind(at)?;
            if let Owner::Block(owner) | Owner::BeyondEnd(owner) = run.owner {
                several |= block.is_some_and(|before| before != owner);
                block = Some(owner);
                selected |= slot == Some(owner);
            }
            if out.is_none_or(|worst| worst.kind < kind) {
                let sector = run.first.saturating_add(start.saturating_sub(place));
                out = Some(GridCell { kind, sector, run: at, several: false, selected: false });
            }
        }
        out.map(|worst| GridCell { several, selected, ..worst })
    }
}

/// Lines a cell, at most.
const MAX_TALL: u16 = 3;

/// Characters a cell, at most.
pub const MAX_WIDE: u16 = 12;

/// The sector under the cursor.
#[must_use]
pub fn cursor(app: &App) -> u64 {
    app.selection.sector.unwrap_or(0)
}

/// The glyph and the style of a cell.
#[must_use]
pub fn cell_appearance(
    cell: GridCell,
    marks: &Marks,
    opened: &Opened,
    theme: Theme,
    glyphs: &Glyphs,
) -> (String, Style) {
    let (glyph, role, _) = cell.kind.appearance(glyphs);
    let start = marks.runs.get(cell.run).is_none_or(|run| run.first == cell.sector);
    // A block with a finding has its mark at its first sector and its letter after it: neighbours can be told apart.
    let is_block =
        cell.kind == SectorKind::Block || (matches!(cell.kind, SectorKind::Damaged | SectorKind::Warning) && !start);
    let single = is_block && !cell.several;
    if !single {
        let style = theme.style(role);
        let style = if cell.selected { style.add_modifier(Modifier::REVERSED) } else { style };
        return (glyph.to_owned(), style);
    }
    // The parts of a block that something else lies between have one letter.
    let owner = marks.runs.get(cell.run).map(|run| run.owner);
    let slot = if let Some(Owner::Block(slot)) = owner { opened.slot(slot) } else { None };
    let number = slot.and_then(|slot| marks.run_at(slot.first)).unwrap_or(cell.run);
    let letter = u8::try_from(number % 26).map_or('a', |n| char::from(b'a' + n));
    if cell.selected {
        return (letter.to_ascii_uppercase().to_string(), theme.style(Role::Selected));
    }
    let role = match cell.kind {
        SectorKind::Damaged => Role::Error,
        SectorKind::Warning => Role::Warning,
        _ if cell.run.is_multiple_of(2) => Role::Block,
        _ => Role::BlockOther,
    };
    (letter.to_string(), theme.style(role))
}
