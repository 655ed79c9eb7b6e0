//! The areas of the screen, by its size, the focus and the pane.

use ratatui::layout::{Constraint, Layout, Rect};

use super::Focus;
use super::pane::Pane;

/// Columns and rows of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

/// Columns that are drawn, at most.
const MAX_COLUMNS: u16 = 1000;

/// Cells that are drawn, at most: a terminal may claim 65,535 columns and rows, whose cells would take terabytes.
const MAX_CELLS: u32 = 200_000;

impl Size {
    /// The part of a terminal that is drawn, at its top left: all of it, unless it is huge.
    #[must_use]
    pub fn to_draw(columns: u16, rows: u16) -> Self {
        let columns = columns.min(MAX_COLUMNS);
        let most = MAX_CELLS / u32::from(columns.max(1));
        Self { columns, rows: rows.min(u16::try_from(most).unwrap_or(u16::MAX)) }
    }
}

/// The parts of the screen; a part that has no room is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenAreas {
    /// The line on top.
    pub path: Rect,
    /// The tree, with its frame.
    pub tree: Rect,
    /// Whether the tree shows its marks only.
    pub folded: bool,
    /// The pane, with its frame.
    pub pane: Rect,
    /// What is selected, in words; with a frame when it is beside the pane.
    pub inspector: Rect,
    /// Whether the inspector is some lines below the pane, without a frame.
    pub inspector_below: bool,
    /// What the check came to, above the line at the bottom.
    pub verdict: Rect,
    /// The line at the bottom.
    pub hints: Rect,
}

/// From here on there is room for three columns.
const WIDE: u16 = 110;

/// Below this the tree and the pane take turns.
const NARROW: u16 = 60;

/// Columns of a tree that shows its marks only, with its frame.
const FOLDED: u16 = 3;

/// Lines of an inspector below the pane.
const LINES_BELOW: u16 = 2;

/// Columns that 32 bytes a row take, with the frame.
const WIDE_HEX: u16 = 144;

impl ScreenAreas {
    /// Rows that a verdict has at most on a screen of so many.
    #[must_use]
    pub const fn verdict_rows(rows: u16) -> u16 {
        match rows {
            30.. => rows / 6,
            24.. => 5,
            _ => rows / 8,
        }
    }

    /// The areas of a screen, by what has the focus, which pane is shown, and how many lines the verdict has.
    #[must_use]
    pub fn new(size: Size, focus: Focus, pane: Pane, verdict: u16) -> Self {
        let Size { columns, rows } = size;
        let screen = Rect::new(0, 0, columns, rows);
        let verdict = verdict.min(Self::verdict_rows(rows));
        let last = Constraint::Length(u16::from(rows >= 3));
        let bars = [Constraint::Length(1), Constraint::Min(0), Constraint::Length(verdict), last];
        let [path, body, verdict, hints] = Layout::vertical(bars).areas(screen);
        let (tree_focus, hex) = (focus == Focus::Tree, pane == Pane::Hex);
        if columns >= WIDE {
            // Rows of bytes need the room that names of files take.
            let folded = hex && !tree_focus;
            let tree = if folded { FOLDED } else { (columns / 5).clamp(24, 36) };
            let wanted = (columns / 4).clamp(30, 44);
            let left = columns.saturating_sub(FOLDED + WIDE_HEX);
            let inspector =
                if folded && left >= 30 { wanted.min(left) } else { wanted.min(if folded { 30 } else { 44 }) };
            let parts = [Constraint::Length(tree), Constraint::Min(0), Constraint::Length(inspector)];
            let [tree, pane, inspector] = Layout::horizontal(parts).areas(body);
            return Self { path, tree, folded, pane, inspector, inspector_below: false, verdict, hints };
        }
        let below = if body.height >= 14 { LINES_BELOW } else { 0 };
        let [upper, inspector] = Layout::vertical([Constraint::Min(0), Constraint::Length(below)]).areas(body);
        let none = Rect::default();
        if columns < NARROW {
            let (tree, pane) = if tree_focus { (upper, none) } else { (none, upper) };
            return Self { path, tree, folded: false, pane, inspector, inspector_below: true, verdict, hints };
        }
        let width = if tree_focus { (columns / 2).min(36) } else { FOLDED };
        let [tree, pane] = Layout::horizontal([Constraint::Length(width), Constraint::Min(0)]).areas(upper);
        Self { path, tree, folded: !tree_focus, pane, inspector, inspector_below: true, verdict, hints }
    }
}

/// What is inside a frame.
#[must_use]
pub const fn inside(area: Rect) -> Rect {
    if area.width < 2 || area.height < 2 {
        return Rect { width: 0, height: 0, ..area };
    }
    Rect { x: area.x + 1, y: area.y + 1, width: area.width - 2, height: area.height - 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_terminals_are_drawn_in_part() {
        for (columns, rows) in [(80, 24), (1, 1), (0, 0), (640, 216), (250, 800), (2, 65_535)] {
            assert_eq!(Size::to_draw(columns, rows), Size { columns, rows });
        }
        assert_eq!(Size::to_draw(2000, 500), Size { columns: 1000, rows: 200 });
        assert_eq!(Size::to_draw(65_535, 65_535), Size { columns: 1000, rows: 200 });
        assert_eq!(Size::to_draw(500, 65_535), Size { columns: 500, rows: 400 });
    }

    #[test]
    fn no_part_reaches_outside_at_any_size() {
        for columns in (0..150).step_by(3) {
            for rows in 0..24 {
                for focus in [Focus::Tree, Focus::Pane] {
                    let screen = Rect::new(0, 0, columns, rows);
                    let layout = ScreenAreas::new(Size { columns, rows }, focus, Pane::Blocks, 2);
                    let ScreenAreas { path, tree, pane, inspector, verdict, hints, .. } = layout;
                    let parts = [path, tree, pane, inspector, verdict, hints];
                    for part in parts {
                        assert_eq!(part.intersection(screen).area(), part.area(), "{columns} x {rows}: {part:?}");
                    }
                    let area: u32 = parts.iter().map(|part| u32::from(part.width) * u32::from(part.height)).sum();
                    assert!(area <= u32::from(columns) * u32::from(rows), "{columns} x {rows}: {layout:?}");
                }
            }
        }
    }

    #[test]
    fn at_80_columns_the_tree_folds() {
        let size = Size { columns: 80, rows: 24 };
        assert!(ScreenAreas::new(size, Focus::Pane, Pane::Blocks, 0).folded);
        assert!(!ScreenAreas::new(size, Focus::Tree, Pane::Blocks, 0).folded);
        assert_eq!(ScreenAreas::new(size, Focus::Pane, Pane::Blocks, 0).inspector.height, LINES_BELOW);
    }
}
