//! Where the parts of the screen lie, by its size and by what has the focus.

use ratatui::layout::Rect;

use super::app::Focus;

/// Columns and rows of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

/// The parts of the screen; a part that has no room is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The line on top.
    pub path: Rect,
    /// The tree, with its frame.
    pub tree: Rect,
    /// Whether the tree shows its marks only.
    pub folded: bool,
    /// The pane, with its frame.
    pub pane: Rect,
    /// What is selected, in words, with its frame.
    pub inspector: Rect,
    /// The line at the bottom.
    pub hints: Rect,
}

/// From here on there is room for three columns.
const WIDE: u16 = 110;

/// Below this the tree and the pane take turns.
const NARROW: u16 = 60;

impl Layout {
    /// The layout of a screen.
    #[must_use]
    pub fn new(size: Size, focus: Focus) -> Self {
        let Size { columns, rows } = size;
        let row = |y: u16| if y < rows { Rect::new(0, y, columns, 1) } else { Rect::default() };
        let path = row(0);
        let hints = if rows >= 3 { row(rows - 1) } else { Rect::default() };
        let body = Rect::new(0, 1.min(rows), columns, rows.saturating_sub(2));
        let none = Rect::default();
        if columns >= WIDE {
            let tree = (columns / 5).clamp(24, 36);
            let inspector = (columns / 4).clamp(30, 44);
            let pane = columns.saturating_sub(tree + inspector);
            return Self {
                path,
                tree: Rect { width: tree, ..body },
                folded: false,
                pane: Rect { x: tree, width: pane, ..body },
                inspector: Rect { x: tree + pane, width: inspector, ..body },
                hints,
            };
        }
        let below = if body.height >= 18 { 6 } else { 0 };
        let upper = Rect { height: body.height - below, ..body };
        let inspector = if below == 0 { none } else { Rect { y: body.y + upper.height, height: below, ..body } };
        if columns < NARROW {
            let (tree, pane) = if focus == Focus::Tree { (upper, none) } else { (none, upper) };
            return Self { path, tree, folded: false, pane, inspector, hints };
        }
        let folded = focus != Focus::Tree;
        let tree = if folded { 3 } else { (columns / 2).min(36) };
        Self {
            path,
            tree: Rect { width: tree, ..upper },
            folded,
            pane: Rect { x: tree, width: columns - tree, ..upper },
            inspector,
            hints,
        }
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
    fn no_part_reaches_outside_at_any_size() {
        for columns in 0..140 {
            for rows in 0..40 {
                for focus in [Focus::Tree, Focus::Pane] {
                    let screen = Rect::new(0, 0, columns, rows);
                    let layout = Layout::new(Size { columns, rows }, focus);
                    for part in [layout.path, layout.tree, layout.pane, layout.inspector, layout.hints] {
                        assert_eq!(part.intersection(screen).area(), part.area(), "{columns} x {rows}: {part:?}");
                    }
                    let parts = [layout.path, layout.tree, layout.pane, layout.inspector, layout.hints];
                    let area: u32 = parts.iter().map(|part| u32::from(part.width) * u32::from(part.height)).sum();
                    assert!(area <= u32::from(columns) * u32::from(rows), "{columns} x {rows}: {layout:?}");
                }
            }
        }
    }

    #[test]
    fn at_80_columns_the_tree_folds() {
        let size = Size { columns: 80, rows: 24 };
        assert!(Layout::new(size, Focus::Pane).folded);
        assert!(!Layout::new(size, Focus::Tree).folded);
        assert_eq!(Layout::new(size, Focus::Pane).inspector.height, 6);
    }
}
