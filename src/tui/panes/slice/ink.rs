//! Which colour and which letter a voxel has.

use ratatui::style::Color;

use super::super::raster::Ink;
use crate::bytes::index;
use crate::godot::channel::SDF;
use crate::tui::app::App;
use crate::tui::data::Store;
use crate::tui::data::plane::{Plane, Sample};
use crate::voxel_map::flags::{self, ALL, FLAGS, Flag};

/// Letters of values and flags.
const LETTERS: [&str; 52] = [
    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t", "u", "v", "w",
    "x", "y", "z", "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T",
    "U", "V", "W", "X", "Y", "Z",
];

/// Colours of values from 1 on.
const COLOURS: [Color; 13] = [
    Color::Green,
    Color::Yellow,
    Color::Gray,
    Color::White,
    Color::LightYellow,
    Color::Blue,
    Color::Magenta,
    Color::Red,
    Color::Cyan,
    Color::LightGreen,
    Color::LightMagenta,
    Color::LightRed,
    Color::LightCyan,
];

/// Colours of flags, by bit.
const FLAG_COLOURS: [Color; FLAGS] = [
    Color::Cyan,
    Color::Green,
    Color::Gray,
    Color::Yellow,
    Color::LightRed,
    Color::Magenta,
    Color::LightYellow,
    Color::Red,
    Color::White,
    Color::LightCyan,
    Color::Yellow,
    Color::Gray,
    Color::Red,
    Color::LightBlue,
    Color::LightMagenta,
    Color::LightYellow,
    Color::LightGreen,
    Color::Green,
    Color::LightGreen,
    Color::Magenta,
    Color::LightRed,
    Color::LightBlue,
    Color::LightMagenta,
    Color::White,
    Color::LightYellow,
];

/// What is shown of voxels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Raw values.
    Values,
    /// Signed distances.
    Distances,
    /// The flags of maps.
    Flags,
}

impl Mode {
    /// What is shown now.
    pub(super) fn of(app: &App) -> Self {
        let raw = app.panes.slice.raw;
        match app.opened_item().map(|opened| &opened.store) {
            Some(Store::Layer(..)) if !raw => Self::Flags,
            Some(Store::Region(..) | Store::Stream(_)) if !raw && super::channel(app) == SDF => Self::Distances,
            _ => Self::Values,
        }
    }

    /// In a word.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Distances => "distances",
            Self::Flags => "flags",
        }
    }
}

/// A line of the legend of flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// A flag.
    Flag(Flag),
    /// WATER and no structure.
    OpenWater,
    /// Bits without a meaning.
    Unknown,
}

impl Line {
    /// All lines, flags in the order of their bits.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.into_iter().map(Self::Flag).chain([Self::OpenWater, Self::Unknown])
    }

    /// Its bit in the set of what is switched off.
    #[must_use]
    pub fn mask(self) -> u32 {
        let bit = match self {
            Self::Flag(flag) => u32::from(flag.bit),
            Self::OpenWater => 30,
            Self::Unknown => 31,
        };
        1u32.checked_shl(bit).unwrap_or(0)
    }

    /// Its names, the second in Chinese.
    #[must_use]
    pub const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Flag(flag) => (flag.name, flag.chinese),
            Self::OpenWater => flags::OPEN_WATER,
            Self::Unknown => ("unknown bits", ""),
        }
    }

    /// Whether a voxel of these flags has it.
    #[must_use]
    pub fn is_in(self, flags: u64) -> bool {
        match self {
            Self::Flag(flag) => flags & flag.mask() != 0,
            Self::OpenWater => flags::is_open_water(flags),
            Self::Unknown => flags::unknown(flags) != 0,
        }
    }

    /// Its colour and its letter.
    #[must_use]
    pub fn look(self) -> (Color, &'static str) {
        match self {
            Self::Flag(flag) => {
                let bit = usize::from(flag.bit);
                let color = FLAG_COLOURS.get(bit).copied().unwrap_or(Color::White);
                (color, LETTERS.get(bit).copied().unwrap_or("#"))
            }
            Self::OpenWater => (Color::Blue, "~"),
            Self::Unknown => (Color::LightMagenta, "%"),
        }
    }
}

/// The line of the legend whose colour a voxel has: what is not known, then structures, then water.
fn line_of(flags: u64, off: u32) -> Option<Line> {
    let on = |line: &Line| line.is_in(flags) && off & line.mask() == 0;
    let water = |line: &Line| matches!(line, Line::Flag(flag) if flag.bit == 0);
    let rest = Line::all().filter(|line| matches!(line, Line::Flag(flag) if flag.bit > 0));
    let last = [Line::OpenWater].into_iter().chain(Line::all().filter(water));
    [Line::Unknown].into_iter().chain(rest).chain(last).find(on)
}

/// A value's colour and its letter; 0 has none.
#[must_use]
pub fn value_look(value: u64, palette: Option<&[u8]>) -> Option<(Color, &'static str)> {
    let from = value.saturating_sub(1);
    let letter = LETTERS.get(index(from % 52)).copied().unwrap_or("#");
    if let Some(&[r, g, b, a]) = palette.and_then(|palette| palette.as_chunks::<4>().0.get(index(value))) {
        return (a > 0).then_some((Color::Rgb(r, g, b), letter));
    }
    let color = COLOURS.get(index(from % 13)).copied().unwrap_or(Color::White);
    (value != 0).then_some((color, letter))
}

/// Bands of distance: what they are called, colour, letter. From deep inside to far outside.
pub(super) const BANDS: [(&str, Color, &str); 6] = [
    ("inside, far", Color::Red, "#"),
    ("inside", Color::Yellow, "*"),
    ("inside, near", Color::LightYellow, "+"),
    ("outside, near", Color::LightCyan, "-"),
    ("outside", Color::Cyan, ":"),
    ("outside, far", Color::Blue, ","),
];

/// How voxels are shown now.
pub(in crate::tui::panes) struct Look<'a> {
    pub mode: Mode,
    pub palette: Option<&'a [u8]>,
    off: u32,
    packed: bool,
    /// Up to here it is near, and up to there not far.
    pub limits: [f32; 2],
}

impl<'a> Look<'a> {
    pub fn new(app: &'a App, plane: &Plane) -> Self {
        let opened = app.opened_item();
        let most = plane.distances.map_or(0.0, |(a, b)| a.abs().max(b.abs()));
        Self {
            mode: Mode::of(app),
            palette: opened.and_then(|opened| opened.region()?.header.palette.as_deref()),
            off: app.panes.slice.off,
            packed: opened.and_then(|opened| opened.grid()).is_some_and(|grid| grid.packed),
            // Distances of some versions and depths end at 1, of others at 500.
            limits: [(most / 8.0).min(1.0), (most / 2.0).min(4.0)],
        }
    }

    /// Values, or distances up to `most`, outside of any file.
    pub fn plain(most: Option<f32>) -> Self {
        let mode = if most.is_some() { Mode::Distances } else { Mode::Values };
        let most = most.unwrap_or(0.0);
        Self { mode, palette: None, off: 0, packed: false, limits: [(most / 8.0).min(1.0), (most / 2.0).min(4.0)] }
    }

    /// How a voxel is shown.
    pub fn ink(&self, sample: Sample) -> Ink {
        let (raw, distance) = match sample {
            Sample::Nothing => return Ink::Blank,
            Sample::Unreadable => return Ink::Fault,
            Sample::Value(raw, distance) => (raw, distance),
        };
        match self.mode {
            Mode::Values => value_look(raw, self.palette).map_or(Ink::Air, |(color, letter)| Ink::Solid(color, letter)),
            Mode::Distances => match distance.and_then(|distance| self.band(distance)) {
                Some((_, color, letter)) => Ink::Solid(color, letter),
                None => Ink::Fault,
            },
            Mode::Flags => {
                let flags = if self.packed { raw & u64::from(u32::MAX) } else { raw };
                line_of(flags, self.off).map_or(Ink::Air, |line| {
                    let (color, letter) = line.look();
                    Ink::Solid(color, letter)
                })
            }
        }
    }

    fn band(&self, distance: f32) -> Option<(&'static str, Color, &'static str)> {
        if distance.is_nan() {
            return None;
        }
        let [near, far] = self.limits;
        let size = distance.abs();
        let away = if size <= near { 0 } else { 1 + usize::from(size > far) };
        let at = if distance < 0.0 { 2usize.saturating_sub(away) } else { 3 + away };
        BANDS.get(at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_switched_off_does_not_colour_a_voxel() {
        let all = 0b0110_0000_0101;
        let name = |flags, off| line_of(flags, off).map(|line| line.names().0);
        let off = |name: &str| Line::all().find(|line| line.names().0 == name).map_or(0, Line::mask);
        assert_eq!(name(all, 0), Some("STONE"));
        assert_eq!(name(all, off("STONE")), Some("BAY"));
        assert_eq!(name(all, off("STONE") | off("MUD") | off("BAY")), Some("WATER"));
        assert_eq!(name(1, 0), Some("OPEN_WATER"));
        assert_eq!(name(1, off("OPEN_WATER")), Some("WATER"));
        assert_eq!(name(1, off("OPEN_WATER") | off("WATER")), None);
        assert_eq!(name(1 << 40, 0), Some("unknown bits"));
        assert_eq!(name(0, 0), None);
    }

    #[test]
    fn every_line_has_a_bit_and_a_letter_of_its_own() {
        let lines: Vec<Line> = Line::all().collect();
        for (i, line) in lines.iter().enumerate() {
            let alike = |other: &&Line| other.mask() == line.mask() || other.look().1 == line.look().1;
            assert_eq!(lines.iter().filter(alike).count(), 1, "{i}");
        }
    }

    #[test]
    fn values_have_the_colours_of_the_palette() {
        let mut palette = vec![0u8; 1024];
        palette.splice(8..12, [10, 20, 30, 255]);
        assert_eq!(value_look(2, Some(&palette)).map(|(color, _)| color), Some(Color::Rgb(10, 20, 30)));
        assert_eq!(value_look(3, Some(&palette)), None, "nothing of it is seen");
        assert!(value_look(300, Some(&palette)).is_some() && value_look(u64::MAX, None).is_some());
        assert_eq!(value_look(0, None), None);
    }
}
