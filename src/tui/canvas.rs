//! A part of the screen to draw on: nothing that is drawn reaches outside.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::symbols::border;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Widget};
use unicode_width::UnicodeWidthStr;

use super::shorten::shorten_middle;
use super::theme::{Glyphs, Role, Theme};
use super::wrap::wrap;

/// A part of the screen. Places are counted from its own corner.
pub struct Canvas<'b> {
    /// The screen.
    pub buffer: &'b mut Buffer,
    /// The part.
    pub area: Rect,
    /// The colours.
    pub theme: Theme,
    /// The characters.
    pub glyphs: Glyphs,
}

impl<'b> Canvas<'b> {
    /// A part of the screen.
    pub fn new(buffer: &'b mut Buffer, area: Rect, theme: Theme, glyphs: Glyphs) -> Self {
        let area = area.intersection(buffer.area);
        Self { buffer, area, theme, glyphs }
    }

    /// A part of this part, counted from its corner.
    pub fn part(&mut self, x: u16, y: u16, width: u16, height: u16) -> Canvas<'_> {
        let x = self.area.x.saturating_add(x);
        let y = self.area.y.saturating_add(y);
        let area =
            Rect { x, y, width: width.min(u16::MAX - x), height: height.min(u16::MAX - y) }.intersection(self.area);
        Canvas { buffer: self.buffer, area, theme: self.theme, glyphs: self.glyphs }
    }

    /// Columns.
    #[must_use]
    pub const fn width(&self) -> u16 {
        self.area.width
    }

    /// Rows.
    #[must_use]
    pub const fn height(&self) -> u16 {
        self.area.height
    }

    /// Writes a text; one that reaches over the edge ends in a mark. Gives the column after it. Control characters are left out.
    pub fn put(&mut self, x: u16, y: u16, text: &str, role: Role) -> u16 {
        let room = self.area.width.saturating_sub(x);
        if room > 0 && text.trim_end().width() > usize::from(room) {
            self.put_within(x, y, room, text.trim_end(), role);
            return self.area.width;
        }
        self.put_styled(x, y, text, self.theme.style(role))
    }

    /// The same with a style of its own.
    pub fn put_styled(&mut self, x: u16, y: u16, text: &str, style: Style) -> u16 {
        if y >= self.area.height || x >= self.area.width {
            return x;
        }
        let room = usize::from(self.area.width - x);
        let (end, _) = self.buffer.set_stringn(self.area.x + x, self.area.y + y, text, room, style);
        end - self.area.x
    }

    /// Writes a text within a number of columns; one that is longer ends in a mark.
    pub fn put_within(&mut self, x: u16, y: u16, width: u16, text: &str, role: Role) {
        let width = width.min(self.area.width.saturating_sub(x));
        if text.width() <= usize::from(width) {
            self.put(x, y, text, role);
            return;
        }
        let style = self.theme.style(role);
        let more = self.glyphs.more;
        self.part(x, y, width.saturating_sub(1), 1).put_styled(0, 0, text, style);
        if width > 0 {
            self.put_styled(x + width - 1, y, more, style);
        }
    }

    /// Writes a text within a number of columns; one that is longer loses its middle.
    pub fn put_middle(&mut self, x: u16, y: u16, width: u16, text: &str, role: Role) {
        let width = width.min(self.area.width.saturating_sub(x));
        let room = usize::from(width);
        if text.width() <= room || room < 5 {
            self.put_within(x, y, width, text, role);
            return;
        }
        let short = shorten_middle(text, room, self.glyphs.more);
        self.put(x, y, &short, role);
    }

    /// Writes a text that ends at a column.
    pub fn put_right(&mut self, end: u16, y: u16, text: &str, role: Role) {
        let width = u16::try_from(text.width()).unwrap_or(u16::MAX);
        self.put(end.saturating_sub(width), y, text, role);
    }

    /// Writes pieces one after the other; gives the column after them.
    pub fn line(&mut self, x: u16, y: u16, pieces: &[(Role, &str)]) -> u16 {
        pieces.iter().fold(x, |x, (role, text)| self.put(x, y, text, *role))
    }

    /// Writes a text over several rows, between words; gives the row after it.
    pub fn wrap(&mut self, x: u16, y: u16, text: &str, role: Role) -> u16 {
        let width = usize::from(self.area.width.saturating_sub(x));
        if width == 0 {
            return y;
        }
        let mut y = y;
        for line in wrap(text, width) {
            if y >= self.area.height {
                break;
            }
            self.put(x, y, &line, role);
            y += 1;
        }
        y
    }

    /// Adds a style to cells that are drawn already.
    pub fn restyle(&mut self, x: u16, y: u16, width: u16, role: Role) {
        let style = self.theme.style(role);
        let part = self.part(x, y, width, 1);
        part.buffer.set_style(part.area, style);
    }

    /// Marks a whole row as the one under the cursor.
    pub fn cursor_row(&mut self, y: u16, has_focus: bool) {
        self.restyle(0, y, self.width(), if has_focus { Role::Cursor } else { Role::CursorAway });
    }

    /// Empties the part.
    pub fn clear(&mut self) {
        for row in self.area.rows() {
            for position in row.positions() {
                if let Some(cell) = self.buffer.cell_mut(position) {
                    cell.reset();
                }
            }
        }
    }

    /// Draws a frame with a title and gives what is inside.
    pub fn frame(&mut self, title: &[(Role, &str)], has_focus: bool) -> Canvas<'_> {
        let role = if has_focus { Role::Focus } else { Role::Border };
        let corner = "+";
        let ascii = border::Set {
            top_left: corner,
            top_right: corner,
            bottom_left: corner,
            bottom_right: corner,
            vertical_left: "|",
            vertical_right: "|",
            horizontal_top: "-",
            horizontal_bottom: "-",
        };
        let title: Vec<Span<'_>> = title
            .iter()
            .map(|(role, text)| Span::styled(*text, Style::reset().patch(self.theme.style(*role))))
            .collect();
        let block = Block::bordered()
            .border_set(if self.glyphs.ascii { ascii } else { border::PLAIN })
            .border_style(self.theme.style(role))
            .title(Line::from(title));
        let area = block.inner(self.area);
        block.render(self.area, self.buffer);
        Canvas { buffer: self.buffer, area, theme: self.theme, glyphs: self.glyphs }
    }

    /// Draws a scroll bar at the right edge.
    pub fn scrollbar(&mut self, first: usize, seen: usize, all: usize) {
        let height = usize::from(self.height());
        if all <= seen || height == 0 || self.width() == 0 {
            return;
        }
        let size = (height * seen / all).clamp(1, height);
        let top = (first.min(all - seen)) * (height - size) / (all - seen).max(1);
        let (bar, rest) = if self.glyphs.ascii { ("#", "|") } else { ("┃", "│") };
        for y in 0..height {
            let on = (top..top + size).contains(&y);
            let (glyph, role) = if on { (bar, Role::Text) } else { (rest, Role::Border) };
            let y = u16::try_from(y).unwrap_or(u16::MAX);
            self.put(self.width() - 1, y, glyph, role);
        }
    }

    /// Whether nothing can be drawn.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.area.width == 0 || self.area.height == 0
    }

    /// Underlines cells that are drawn already, on top of their style.
    pub fn underline(&mut self, x: u16, y: u16, width: u16) {
        let part = self.part(x, y, width, 1);
        part.buffer.set_style(part.area, Style::new().add_modifier(Modifier::UNDERLINED));
    }
}
