//! A picture of cells: how large a cell is drawn, which part is seen, and how it is painted. Two cells a character with
//! half blocks, one where there are only letters.

use ratatui::style::{Color, Modifier, Style};

use crate::tui::app::App;
use crate::tui::canvas::Canvas;
use crate::tui::data::plane::Steps;
use crate::tui::scroll::follow;
use crate::tui::theme::{Role, Theme};

/// The largest that a voxel is drawn, as a power of two.
const NEAREST: u8 = 3;

/// How large things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zoom {
    /// So many voxels along each side of a cell, of which one is shown.
    Out(u32),
    /// A voxel has 2 to this power cells along each side.
    In(u8),
}

impl Zoom {
    /// Voxels from one cell to the next.
    #[must_use]
    pub const fn stride(self) -> u32 {
        match self {
            Self::Out(0) | Self::In(_) => 1,
            Self::Out(n) => n,
        }
    }

    /// One step nearer.
    #[must_use]
    pub const fn nearer(self) -> Self {
        match self {
            Self::Out(0 | 1) => Self::In(1),
            Self::Out(n) => Self::Out(n / 2),
            Self::In(n) if n < NEAREST => Self::In(n + 1),
            Self::In(n) => Self::In(n),
        }
    }

    /// One step farther, while there is more than a cell to see.
    #[must_use]
    pub fn farther(self, size: [u32; 2]) -> Self {
        match self {
            Self::In(0 | 1) => Self::Out(1),
            Self::In(n) => Self::In(n - 1),
            Self::Out(n) if n < size.into_iter().max().unwrap_or(1) => Self::Out(n.saturating_mul(2).max(2)),
            Self::Out(n) => Self::Out(n),
        }
    }

    /// Columns of a voxel.
    const fn wide(self) -> u16 {
        match self {
            Self::Out(_) => 1,
            Self::In(n) => 1 << (if n > NEAREST { NEAREST } else { n }),
        }
    }

    /// Rows of a voxel, of which there are two in a line with half blocks.
    const fn tall(self, letters: bool) -> u16 {
        let wide = self.wide();
        if letters && wide > 1 { wide / 2 } else { wide }
    }

    /// In words.
    #[must_use]
    pub fn words(self, letters: bool, thing: &str) -> String {
        match self {
            Self::Out(0 | 1) => format!("1 cell = 1 {thing}"),
            Self::Out(n) => format!("1 cell = {n} x {n} {thing}s"),
            Self::In(_) => format!("1 {thing} = {} x {} cells", self.wide(), self.tall(letters)),
        }
    }
}

/// Whether there are letters only: where there are no colours, or no half blocks.
#[must_use]
pub fn letters(app: &App) -> bool {
    app.glyphs.ascii || app.settings.theme == Theme::Mono
}

/// Where a picture stands, and what of it is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raster {
    /// Its place in the pane.
    pub left: u16,
    /// Its place in the pane.
    pub top: u16,
    /// Characters.
    pub columns: u16,
    /// Lines.
    pub lines: u16,
    /// One cell a character.
    pub letters: bool,
    /// Voxels to the right and down.
    pub size: [u32; 2],
    /// How large.
    pub zoom: Zoom,
    /// Voxels around the picture.
    pub ring: u32,
    /// The first column and row of cells that is seen.
    pub first: [usize; 2],
}

impl Raster {
    /// A picture in a place, with as much of it as fits, or as near as is asked for.
    #[must_use]
    pub fn new(place: [u16; 4], letters: bool, size: [u32; 2], zoom: Option<Zoom>, most_ring: u32) -> Self {
        let [left, top, columns, lines] = place;
        let mut out = Self { left, top, columns, lines, letters, size, zoom: Zoom::Out(1), ring: 0, first: [0; 2] };
        let fits = |out: &Self, ring: u32| {
            let [across, down] = out.room();
            let [w, h] = size.map(|n| n.saturating_add(2 * ring).div_ceil(out.zoom.stride()));
            w <= across && h <= down
        };
        out.zoom = zoom.unwrap_or_else(|| {
            let near = [Zoom::In(2), Zoom::In(1), Zoom::Out(1)].into_iter();
            let ring = most_ring.min(1);
            let found = near.filter(|zoom| fits(&Self { zoom: *zoom, ..out }, ring)).next();
            found.unwrap_or_else(|| {
                let [across, down] = out.room().map(|n| n.max(1));
                let [w, h] = size;
                Zoom::Out(w.div_ceil(across).max(h.div_ceil(down)).max(1))
            })
        });
        if out.zoom.stride() == 1 {
            out.ring = (0..=most_ring).rev().find(|ring| *ring == 0 || fits(&out, *ring)).unwrap_or(0);
        }
        out
    }

    /// Cells that fit.
    fn room(&self) -> [u32; 2] {
        let per_line = if self.letters { 1 } else { 2 };
        let rows = self.lines.saturating_mul(per_line) / self.zoom.tall(self.letters).max(1);
        [u32::from(self.columns / self.zoom.wide().max(1)), u32::from(rows)]
    }

    /// Cells that there are, with those around.
    fn all(&self) -> [u32; 2] {
        let stride = self.zoom.stride();
        self.size.map(|n| n.div_ceil(stride).saturating_add(2 * self.ring))
    }

    /// Cells that are seen.
    #[must_use]
    pub fn seen(&self) -> [u32; 2] {
        let [[across, down], [w, h]] = [self.room(), self.all()];
        [across.min(w), down.min(h)]
    }

    /// Whether some of the picture is outside.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.seen() != self.all()
    }

    /// The cell, counted from the first around the picture, of a voxel.
    fn cell_of(&self, at: [u32; 2]) -> [u32; 2] {
        at.map(|n| (n / self.zoom.stride()).saturating_add(self.ring))
    }

    /// Moves what is seen so that a voxel is.
    pub fn follow(&mut self, first: [usize; 2], at: [u32; 2]) {
        let number = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        let ([x, y], [cx, cy]) = (first, self.cell_of(at).map(number));
        let ([sx, sy], [ax, ay]) = (self.seen().map(number), self.all().map(number));
        self.first = [follow(x, cx, sx, ax), follow(y, cy, sy, ay)];
    }

    /// The coordinates that are seen along one side, of a picture that begins at `low`; `rises`: the highest come first.
    #[must_use]
    pub fn steps(&self, side: usize, low: u32, rises: bool) -> Steps {
        let pick = |pair: [u32; 2]| pair.get(side).copied().unwrap_or(0);
        let stride = i64::from(self.zoom.stride());
        let first = self.first.get(side).copied().and_then(|n| i64::try_from(n).ok()).unwrap_or(0);
        let from = first.saturating_sub(self.ring.into()).saturating_mul(stride);
        let count = pick(self.seen());
        if rises {
            let last = i64::from(low).saturating_add(pick(self.size).into()).saturating_sub(1);
            Steps { first: last.saturating_sub(from), step: -stride, count }
        } else {
            Steps { first: i64::from(low).saturating_add(from), step: stride, count }
        }
    }

    /// The voxel, counted from the picture's corner, that a place of the pane shows.
    #[must_use]
    pub fn at(&self, x: u16, y: u16) -> Option<[u32; 2]> {
        let (x, y) = (x.checked_sub(self.left)?, y.checked_sub(self.top)?);
        if x >= self.columns || y >= self.lines {
            return None;
        }
        let per_line = if self.letters { 1 } else { 2 };
        let column = x / self.zoom.wide().max(1);
        let row = y.saturating_mul(per_line) / self.zoom.tall(self.letters).max(1);
        let one = |side: usize, cell: u16| {
            let first = u64::try_from(self.first.get(side).copied()?).ok()?;
            let cell = first.checked_add(cell.into())?.checked_sub(self.ring.into())?;
            let at = u32::try_from(cell.checked_mul(self.zoom.stride().into())?).ok()?;
            (at < self.size.get(side).copied()?).then_some(at)
        };
        Some([one(0, column)?, one(1, row)?])
    }

    /// The cell of the window that a voxel is in.
    fn window_cell(&self, at: [u32; 2]) -> Option<[u32; 2]> {
        let [x, y] = self.cell_of(at);
        let [fx, fy] = self.first.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        let ([x, y], [w, h]) = ([x.checked_sub(fx)?, y.checked_sub(fy)?], self.seen());
        (x < w && y < h).then_some([x, y])
    }

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
        Ink::Solid(color, letter) => (letter, colour(color)),
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
            Ink::Solid(color, _) | Ink::Beyond(color, _) => {
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
        Ink::Beyond(color, _) => ("░", Style::new().fg(color)),
    }
}

/// Two voxels, one above the other; the cursor on the upper or the lower one.
fn halves(canvas: &Canvas<'_>, upper: Ink, lower: Ink, cursor: Option<bool>) -> (&'static str, Style) {
    let theme = canvas.theme;
    let colour = |ink: Ink| match ink {
        Ink::Solid(color, _) => Some(color),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_picture_is_drawn_large_and_a_large_one_with_strides() {
        let zoom = |w, h| Raster::new([0, 0, 40, 20], false, [w, h], None, 0).zoom;
        assert_eq!(zoom(8, 8), Zoom::In(2));
        assert_eq!(zoom(16, 16), Zoom::In(1));
        assert_eq!(zoom(40, 40), Zoom::Out(1));
        assert_eq!(zoom(41, 40), Zoom::Out(2));
        assert_eq!(zoom(4096, 16), Zoom::Out(103));
        assert_eq!(zoom(u32::MAX, 1), Zoom::Out(107_374_183));
    }

    #[test]
    fn a_place_leads_to_the_voxel_that_is_drawn_there() {
        for (letters, zoom) in [(false, 1), (false, 3), (true, 1), (true, 2)] {
            let mut raster = Raster::new([2, 1, 10, 5], letters, [100, 90], Some(Zoom::Out(zoom)), 0);
            raster.follow([0; 2], [60, 60]);
            let steps = raster.steps(0, 7, false);
            let rising = raster.steps(1, 7, true);
            let [x, y] = raster.at(4, 2).unwrap();
            assert_eq!(steps.at(2), i64::from(x + 7));
            let row = if letters { 1 } else { 2 };
            assert_eq!(rising.at(row), i64::from(7 + 90 - 1 - y));
            assert_eq!(raster.window_cell([x, y]), Some([2, row]));
            assert_eq!(raster.at(1, 2), None);
            assert_eq!(raster.at(12, 2), None);
        }
    }

    #[test]
    fn no_size_and_no_zoom_overflows() {
        for zoom in [None, Some(Zoom::In(9)), Some(Zoom::Out(0)), Some(Zoom::Out(u32::MAX))] {
            for place in [[0; 4], [0, 0, 1, 1], [u16::MAX; 4]] {
                for size in [[0, 0], [1, u32::MAX], [u32::MAX; 2]] {
                    let mut raster = Raster::new(place, false, size, zoom, 2);
                    raster.follow([usize::MAX; 2], [u32::MAX; 2]);
                    raster.steps(1, u32::MAX, true);
                    raster.at(u16::MAX, u16::MAX);
                    raster.zoom.nearer();
                    raster.zoom.farther(size);
                }
            }
        }
    }
}
