//! How the cells of a picture become characters.

use ratatui::style::{Color, Modifier, Style};

use super::Raster;
use crate::tui::canvas::Canvas;
use crate::tui::theme::{Role, Theme};

impl Raster {
    /// Paints the picture, with what each cell of the window is, and a ring around the voxel at the cursor.
    pub fn paint(&self, canvas: &mut Canvas<'_>, cursor: Option<[u32; 2]>, cell: &dyn Fn(u32, u32) -> Ink) {
        let cursor = cursor.and_then(|at| self.window_cell(at));
        let [seen_across, seen_down] = self.seen();
        let ink = |column: u32, row: u32| {
            if column < seen_across && row < seen_down { cell(column, row) } else { Ink::Blank }
        };
        let wide = self.zoom.wide().max(1);
        let lines_of_voxel = if self.letters { self.zoom.tall(true) } else { (self.zoom.tall(false) / 2).max(1) };
        for y in 0..self.lines {
            for x in 0..self.columns {
                let column = u32::from(x / wide);
                let (symbol, style) = if !self.letters && wide == 1 {
                    let row = u32::from(y) * 2;
                    let here = cursor.filter(|[cx, cy]| *cx == column && cy / 2 == u32::from(y));
                    halves(canvas, ink(column, row), ink(column, row + 1), here.map(|[_, cy]| cy % 2 == 0))
                } else {
                    let row = u32::from(y / lines_of_voxel);
                    let here = cursor == Some([column, row]);
                    let (dx, dy) = (x % wide, y % lines_of_voxel);
                    if self.letters {
                        letter(canvas, ink(column, row), dx + dy == 0, here)
                    } else {
                        let corner = here.then(|| corner(dx, dy, wide, lines_of_voxel));
                        block(canvas, ink(column, row), dx + dy == 0, corner)
                    }
                };
                canvas.put_styled(self.left.saturating_add(x), self.top.saturating_add(y), symbol, style);
            }
        }
    }
}

/// What a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Nothing is there.
    Blank,
    /// Something of no weight: air, nothing that is switched on.
    Air,
    /// Something that cannot be read.
    Fault,
    /// A value, with its colour and its letter.
    Solid(Color, &'static str),
    /// A mark: its letter is there wherever there is room for one.
    Mark(Color, &'static str),
    /// The same beyond the edge.
    Beyond(Color, &'static str),
}

impl Ink {
    /// The same beyond the edge of what is looked at.
    #[must_use]
    pub const fn beyond(self) -> Self {
        match self {
            Self::Solid(color, letter) => Self::Beyond(color, letter),
            other => other,
        }
    }
}

/// A letter, or a shade.
fn letter(canvas: &Canvas<'_>, ink: Ink, is_first: bool, here: bool) -> (&'static str, Style) {
    let theme = canvas.theme;
    let colour = |color: Color| if theme == Theme::Mono { Style::new() } else { Style::new().fg(color) };
    let (symbol, style) = match ink {
        Ink::Blank => (" ", Style::new()),
        Ink::Air => (if is_first { "." } else { " " }, theme.style(Role::Dim)),
        Ink::Fault => ("?", theme.style(Role::Error)),
        Ink::Solid(color, letter) | Ink::Mark(color, letter) => (letter, colour(color)),
        Ink::Beyond(_, letter) => (letter, theme.style(Role::Dim).add_modifier(Modifier::DIM)),
    };
    (symbol, if here { style.add_modifier(Modifier::REVERSED | Modifier::BOLD) } else { style })
}

/// The corner of a ring around a voxel of several characters.
const fn corner(dx: u16, dy: u16, wide: u16, tall: u16) -> &'static str {
    let (left, right) = (dx == 0, dx + 1 == wide);
    match (tall, dy == 0, dy + 1 == tall) {
        (1, ..) if left => "[",
        (1, ..) if right => "]",
        (_, true, _) if left => "┌",
        (_, true, _) if right => "┐",
        (_, _, true) if left => "└",
        (_, _, true) if right => "┘",
        _ => " ",
    }
}

/// A character of a voxel that has several.
fn block(canvas: &Canvas<'_>, ink: Ink, is_first: bool, ring: Option<&'static str>) -> (&'static str, Style) {
    let theme = canvas.theme;
    if let Some(ring) = ring {
        return match ink {
            Ink::Solid(color, _) | Ink::Mark(color, _) | Ink::Beyond(color, _) => {
                (ring, Style::new().bg(color).fg(contrast(color)).add_modifier(Modifier::BOLD))
            }
            _ => (ring, theme.style(Role::Key)),
        };
    }
    match ink {
        Ink::Blank => (" ", Style::new()),
        Ink::Air => (if is_first { "·" } else { " " }, theme.style(Role::Dim)),
        Ink::Fault => (if is_first { "?" } else { " " }, theme.style(Role::Error)),
        Ink::Solid(color, _) => (" ", Style::new().bg(color)),
        Ink::Mark(color, letter) => (if is_first { letter } else { " " }, Style::new().bg(color).fg(contrast(color))),
        Ink::Beyond(color, _) => ("░", Style::new().fg(color)),
    }
}

/// A voxel as a letter.
pub fn letter_cell(canvas: &Canvas<'_>, ink: Ink) -> (&'static str, Style) {
    letter(canvas, ink, true, false)
}

/// Two voxels, one above the other, in one character.
pub fn pair_cell(canvas: &Canvas<'_>, upper: Ink, lower: Ink) -> (&'static str, Style) {
    halves(canvas, upper, lower, None)
}

/// Two voxels, one above the other; the cursor on the upper or the lower one.
fn halves(canvas: &Canvas<'_>, upper: Ink, lower: Ink, cursor: Option<bool>) -> (&'static str, Style) {
    let theme = canvas.theme;
    let colour = |ink: Ink| match ink {
        Ink::Solid(color, _) | Ink::Mark(color, _) => Some(color),
        Ink::Beyond(..) => Some(Color::DarkGray),
        _ => None,
    };
    if let Some(is_upper) = cursor {
        let at = colour(if is_upper { upper } else { lower });
        let mark = if is_upper { "▲" } else { "▼" };
        return match at {
            Some(color) => (mark, Style::new().bg(color).fg(contrast(color)).add_modifier(Modifier::BOLD)),
            None => (mark, theme.style(Role::Key)),
        };
    }
    if let (Ink::Mark(color, letter), true) = (upper, upper == lower) {
        return (letter, Style::new().bg(color).fg(contrast(color)));
    }
    match (colour(upper), colour(lower)) {
        (Some(upper), Some(lower)) => ("▀", Style::new().fg(upper).bg(lower)),
        (Some(upper), None) => ("▀", Style::new().fg(upper)),
        (None, Some(lower)) => ("▄", Style::new().fg(lower)),
        (None, None) if upper == Ink::Fault || lower == Ink::Fault => ("?", theme.style(Role::Error)),
        (None, None) if upper == Ink::Air || lower == Ink::Air => ("·", theme.style(Role::Dim)),
        (None, None) => (" ", Style::new()),
    }
}

/// A colour that can be read on another.
const fn contrast(color: Color) -> Color {
    match color {
        Color::Rgb(r, g, b) => {
            // The weights of the eye, in 1,000.
            let light = r as u32 * 299 + g as u32 * 587 + b as u32 * 114;
            if light > 128_000 { Color::Black } else { Color::White }
        }
        Color::Black | Color::DarkGray | Color::Blue | Color::Red | Color::Magenta => Color::White,
        _ => Color::Black,
    }
}
