//! How things look: a style for each role, and the glyphs, with a plain set for terminals without Unicode.
//!
//! Colours are the terminal's own sixteen. Colour is never the only sign: every role that means something has a
//! letter, a shape or a word beside it.

use ratatui::style::{Color, Modifier, Style};

use crate::damage::Level;
use crate::save::{Owner, PageKind};

/// What a piece of the screen is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Ordinary text.
    Text,
    /// Text of less weight: units, hints, what is not in the focus.
    Dim,
    /// Headings, names.
    Strong,
    /// Lines around what does not have the focus.
    Border,
    /// Lines around what has the focus.
    Focus,
    /// The row or cell under the cursor.
    Cursor,
    /// The same where the focus is elsewhere.
    CursorAway,
    /// A key that can be pressed.
    Key,
    /// Something cannot be read.
    Error,
    /// Against the format.
    Warning,
    /// Worth knowing.
    Note,
    /// In order.
    Good,
    /// Header and table of a file.
    Header,
    /// A block.
    Block,
    /// Every second block, so that neighbours can be told apart.
    BlockOther,
    /// The area of a block on the sector map.
    BlockArea,
    /// That of every second block.
    BlockOtherArea,
    /// The selected block, or the selected bytes.
    Selected,
    /// The bytes of the field under the cursor.
    Field,
    /// Nobody's.
    Free,
    /// Old bytes.
    Stale,
    /// More than one block's.
    Shared,
    /// A block without an owner.
    Unowned,
    /// Beyond the end of the file.
    Beyond,
    /// A byte of zero.
    Zero,
    /// A byte that is a printable character.
    Printable,
    /// Another byte of ASCII.
    Control,
    /// A byte from 128 on.
    High,
    /// A number or a value.
    Value,
    /// The type of a value.
    Type,
}

/// The colours that a terminal has, for pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorMode {
    /// Any colour.
    #[default]
    True,
    /// 256 of them.
    Indexed,
    /// 16 of them.
    Sixteen,
    /// None: letters.
    None,
}

impl ColorMode {
    /// What a terminal says of itself by `COLORTERM` and `TERM`.
    #[must_use]
    pub fn of_terminal(colorterm: Option<&str>, term: Option<&str>) -> Self {
        match (colorterm, term.unwrap_or_default()) {
            (Some("truecolor" | "24bit"), _) => Self::True,
            (_, "dumb") => Self::None,
            (_, term) if term.contains("direct") || term.contains("kitty") || term.contains("alacritty") => Self::True,
            (_, term) if term.contains("256") => Self::Indexed,
            _ => Self::Sixteen,
        }
    }
}

/// A set of styles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// The terminal's sixteen colours.
    #[default]
    Terminal,
    /// The same with the bright ones, for dark backgrounds and bad screens.
    Bright,
    /// The dark ones, for light backgrounds.
    Light,
    /// No colour at all: bold, dim, reverse and underlined.
    Mono,
}

impl Theme {
    /// Every theme with its name.
    pub const ALL: [(&'static str, Self); 4] =
        [("terminal", Self::Terminal), ("bright", Self::Bright), ("light", Self::Light), ("mono", Self::Mono)];

    /// The theme of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(n, _)| *n == name).map(|(_, theme)| theme)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, theme)| *theme == self).map_or("terminal", |(name, _)| name)
    }

    /// The theme after this one.
    #[must_use]
    pub fn next(self) -> Self {
        let at = Self::ALL.into_iter().position(|(_, theme)| theme == self).unwrap_or(0);
        Self::ALL.into_iter().cycle().nth(at + 1).map_or(self, |(_, theme)| theme)
    }

    /// The style of a role.
    #[must_use]
    pub fn style(self, role: Role) -> Style {
        let plain = Style::new();
        let (fg, modifier) = match role {
            Role::Text => (None, Modifier::empty()),
            Role::Dim | Role::Border | Role::Stale | Role::Free | Role::Zero => (Some(Color::DarkGray), Modifier::DIM),
            Role::Strong => (None, Modifier::BOLD),
            Role::Focus => (Some(Color::Cyan), Modifier::BOLD),
            // The colours go, or a row of many would be a patchwork of backgrounds.
            Role::Cursor => {
                return plain.fg(Color::Reset).bg(Color::Reset).add_modifier(Modifier::REVERSED);
            }
            Role::Field if self == Self::Mono => return plain.add_modifier(Modifier::UNDERLINED),
            Role::Field if self == Self::Light => return plain.fg(Color::Black).bg(Color::LightCyan),
            Role::Field => return plain.fg(Color::White).bg(Color::Blue),
            Role::CursorAway => return plain.add_modifier(Modifier::UNDERLINED),
            Role::Key => (Some(Color::Cyan), Modifier::BOLD),
            Role::Error | Role::Beyond => (Some(Color::Red), Modifier::BOLD),
            Role::Warning | Role::Shared => (Some(Color::Yellow), Modifier::BOLD),
            // The plain blue of most terminals cannot be read on black.
            Role::Note => (Some(Color::LightBlue), Modifier::empty()),
            Role::Good => (Some(Color::Green), Modifier::empty()),
            Role::Header => (Some(Color::LightBlue), Modifier::empty()),
            Role::Block => (Some(Color::Green), Modifier::empty()),
            Role::BlockOther => (Some(Color::Cyan), Modifier::empty()),
            Role::BlockArea => (Some(Color::Green), Modifier::REVERSED),
            Role::BlockOtherArea => (Some(Color::Cyan), Modifier::REVERSED),
            Role::Selected => (Some(Color::Yellow), Modifier::REVERSED),
            Role::Unowned => (Some(Color::Magenta), Modifier::BOLD),
            Role::Printable => (Some(Color::Cyan), Modifier::empty()),
            Role::Control => (Some(Color::Green), Modifier::empty()),
            Role::High => (Some(Color::Yellow), Modifier::empty()),
            Role::Value => (Some(Color::Yellow), Modifier::empty()),
            Role::Type => (Some(Color::Cyan), Modifier::empty()),
        };
        match (self, fg) {
            (Self::Mono, _) | (_, None) => {
                // Dim text of dim text is unreadable on some terminals without colours.
                let modifier = if self == Self::Mono { modifier } else { modifier - Modifier::DIM };
                plain.add_modifier(modifier)
            }
            // A grey of the sixteen colours is dim enough.
            (_, Some(Color::DarkGray)) => plain.fg(if self == Self::Bright { Color::Gray } else { Color::DarkGray }),
            (Self::Bright, Some(color)) => plain.fg(bright(color)).add_modifier(modifier),
            (Self::Light, Some(Color::Yellow)) => plain.fg(Color::Magenta).add_modifier(modifier),
            (Self::Light, Some(Color::LightBlue)) => plain.fg(Color::Blue).add_modifier(modifier),
            (Self::Light, Some(Color::Cyan)) => plain.fg(Color::Blue).add_modifier(modifier),
            (_, Some(color)) => plain.fg(color).add_modifier(modifier),
        }
    }
}

const fn bright(color: Color) -> Color {
    match color {
        Color::Red => Color::LightRed,
        Color::Green => Color::LightGreen,
        Color::Yellow => Color::LightYellow,
        Color::Blue => Color::LightBlue,
        Color::Magenta => Color::LightMagenta,
        Color::Cyan => Color::LightCyan,
        other => other,
    }
}

/// The role of a level; `None` is "nothing is wrong".
#[must_use]
pub const fn level_role(level: Option<Level>) -> Role {
    match level {
        Some(Level::Error) => Role::Error,
        Some(Level::Warning) => Role::Warning,
        Some(Level::Note) => Role::Note,
        None => Role::Good,
    }
}

/// The role and the words of an owner of sectors.
#[must_use]
pub const fn owner_role(owner: Owner) -> (Role, &'static str) {
    match owner {
        Owner::Header => (Role::Header, "header"),
        Owner::Block(_) => (Role::Block, "a block"),
        Owner::Shared => (Role::Shared, "shared by blocks"),
        Owner::Free => (Role::Free, "free"),
        Owner::Stale => (Role::Stale, "stale"),
        Owner::BeyondEnd(_) => (Role::Beyond, "beyond the end"),
        Owner::Lost => (Role::Unowned, "unowned"),
        Owner::Page(PageKind::Damaged) => (Role::Error, "damaged"),
        Owner::Page(PageKind::FreeTrunk) => (Role::Free, "free"),
        Owner::Page(_) => (Role::Header, "tables"),
    }
}

/// The characters that are not letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// Whether these are plain ASCII.
    pub ascii: bool,
    /// An open and a closed branch of a tree.
    pub open: &'static str,
    /// A closed one.
    pub closed: &'static str,
    /// Marks of an error, a warning, a note, of nothing wrong, and of what is not checked yet.
    pub error: &'static str,
    /// A warning.
    pub warning: &'static str,
    /// A note.
    pub note: &'static str,
    /// Nothing is wrong.
    pub good: &'static str,
    /// Not checked yet.
    pub unknown: &'static str,
    /// Between the parts of a path.
    pub into: &'static str,
    /// Between things in a line.
    pub dot: &'static str,
    /// A text that goes on.
    pub more: &'static str,
    /// Sorted upward and downward.
    pub up: &'static str,
    /// Sorted downward.
    pub down: &'static str,
    /// Header sectors.
    pub header: &'static str,
    /// The selected block's sectors.
    pub selected: &'static str,
    /// Stale sectors.
    pub stale: &'static str,
    /// Free sectors.
    pub free: &'static str,
    /// Shared sectors.
    pub shared: &'static str,
    /// Sectors of a block that nobody owns.
    pub unowned: &'static str,
    /// Sectors beyond the end.
    pub beyond: &'static str,
    /// Bars of growing length or height, from nothing to full.
    pub bars: [&'static str; 9],
    /// A cell's upper half.
    pub half: &'static str,
}

impl Glyphs {
    /// For terminals with Unicode.
    pub const UNICODE: Self = Self {
        ascii: false,
        open: "▾",
        closed: "▸",
        error: "✗",
        warning: "!",
        note: "i",
        good: "·",
        unknown: " ",
        into: " › ",
        dot: " · ",
        more: "…",
        up: "▲",
        down: "▼",
        header: "▓",
        selected: "█",
        stale: "·",
        free: "░",
        shared: "&",
        unowned: "?",
        beyond: "×",
        bars: [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
        half: "▀",
    };

    /// For terminals without.
    pub const ASCII: Self = Self {
        ascii: true,
        open: "-",
        closed: "+",
        error: "X",
        warning: "!",
        note: "i",
        good: ".",
        unknown: " ",
        into: " > ",
        dot: " - ",
        more: "~",
        up: "^",
        down: "v",
        header: "H",
        selected: "#",
        stale: ".",
        free: "_",
        shared: "&",
        unowned: "?",
        beyond: "*",
        bars: [" ", ".", ".", ":", "-", "=", "+", "*", "#"],
        half: "^",
    };

    /// The mark of a level; `None` is "nothing is wrong".
    #[must_use]
    pub const fn level(&self, level: Option<Level>) -> &'static str {
        match level {
            Some(Level::Error) => self.error,
            Some(Level::Warning) => self.warning,
            Some(Level::Note) => self.note,
            None => self.good,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_say_what_colours_they_have() {
        for (colorterm, term, mode) in [
            (Some("truecolor"), Some("xterm-256color"), ColorMode::True),
            (Some("24bit"), None, ColorMode::True),
            (None, Some("xterm-256color"), ColorMode::Indexed),
            (None, Some("xterm-kitty"), ColorMode::True),
            (Some(""), Some("xterm"), ColorMode::Sixteen),
            (None, Some("dumb"), ColorMode::None),
            (None, None, ColorMode::Sixteen),
        ] {
            assert_eq!(ColorMode::of_terminal(colorterm, term), mode, "{colorterm:?} {term:?}");
        }
    }

    #[test]
    fn a_name_leads_back_to_its_theme() {
        for (name, theme) in Theme::ALL {
            assert_eq!(Theme::from_name(name), Some(theme));
            assert_eq!(theme.name(), name);
        }
        assert_eq!(Theme::from_name("dark"), None);
        assert_eq!(Theme::Mono.next(), Theme::Terminal);
    }

    #[test]
    fn without_colours_there_are_none() {
        for role in [Role::Error, Role::Selected, Role::Cursor, Role::Zero, Role::Key, Role::Note, Role::High] {
            let style = Theme::Mono.style(role);
            assert!(style.fg.is_none_or(|color| color == Color::Reset), "{role:?}");
            assert!(style.bg.is_none_or(|color| color == Color::Reset), "{role:?}");
        }
    }

    #[test]
    fn plain_glyphs_are_plain() {
        let Glyphs { open, closed, error, warning, note, good, into, dot, more, up, down, header, selected, .. } =
            Glyphs::ASCII;
        let Glyphs { stale, free, shared, unowned, beyond, bars, half, .. } = Glyphs::ASCII;
        let all = [open, closed, error, warning, note, good, into, dot, more, up, down, header, selected];
        for glyph in all.into_iter().chain([stale, free, shared, unowned, beyond, half]).chain(bars) {
            assert!(glyph.is_ascii(), "{glyph}");
        }
    }
}
