//! What the colours of a picture mean.

use std::collections::HashMap;

use super::color::{self, CIVIDIS, Rgb, Scale, VIRIDIS};
use super::look::{COLOR, Layer, Look, Matter};
use super::paint::{AIR, DRY, Style, Window, coverage, structure, texture};
use super::tile::{LAND, Pixel};
use crate::godot::channel::SDF;
use crate::godot::textures::WEIGHTS;
use crate::picture::Mark;
use crate::printable::grouped;
use crate::voxel_map::flags;

/// A line of a legend.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A colour and what it means.
    Color {
        /// The colour.
        color: Rgb,
        /// What it means.
        text: String,
        /// Its share of the picture, where that is inferred.
        share: Option<f32>,
        /// What pixels of this kind have in common; see [`Style::spot`].
        key: Option<u32>,
    },
    /// A mark of blocks, and what it says.
    Mark(Mark, String),
    /// A scale with the words at its ends.
    Scale(Scale, String, String),
    /// Words alone.
    Words(String),
    /// So many further values.
    More(usize),
}

impl Entry {
    /// A colour and what it means, without more.
    #[must_use]
    pub const fn plain(color: Rgb, text: String) -> Self {
        Self::Color { color, text, share: None, key: None }
    }

    /// A scale with the words at its ends; of a single value the colour alone, with the words of the lower end.
    fn scale(scale: Scale, is_single: bool, low: String, high: String) -> Self {
        if is_single { Self::plain(scale.at(0.5), low) } else { Self::Scale(scale, low, high) }
    }

    /// How many values it is about.
    #[must_use]
    pub const fn values(&self) -> usize {
        match self {
            Self::More(count) => *count,
            _ => 1,
        }
    }

    /// Whether it is about less than a hundredth of the picture.
    #[must_use]
    pub fn is_rare(&self) -> bool {
        match self {
            Self::Color { share, .. } => share.is_some_and(|share| share < 0.01),
            Self::More(_) => true,
            Self::Mark(..) | Self::Scale(..) | Self::Words(_) => false,
        }
    }

    /// What pixels of its kind have in common.
    #[must_use]
    pub const fn key(&self) -> Option<u32> {
        match self {
            Self::Color { key, .. } => *key,
            _ => None,
        }
    }
}

/// The most values that a legend names.
const VALUES: usize = 40;

impl Style<'_> {
    /// What the colours of a window mean, the most frequent first.
    #[must_use]
    pub fn legend(&self, window: &Window) -> Vec<Entry> {
        match (self.look, self.layer) {
            (Look::Height, _) => {
                let [low, high] = self.probe.heights.unwrap_or([0, 0]);
                vec![Entry::scale(VIRIDIS, low == high, format!("y {low}"), high.to_string())]
            }
            (Look::Depth, _) => {
                let [low, high] = self.probe.depths.unwrap_or([0.0, 0.0]);
                vec![Entry::scale(VIRIDIS, low == high, format!("{high:.1} m deep"), format!("{low:.1} m"))]
            }
            (Look::Size, _) => {
                let [low, high] = self.probe.sizes.unwrap_or([16, 64]);
                let most = format!("{} bytes a column", grouped(high.into()));
                // Layers of dense maps are one block.
                let least = if low == high { most.clone() } else { grouped(low.into()) };
                vec![Entry::scale(CIVIDIS, low == high, least, most)]
            }
            (Look::Coverage, _) => sets_of_lods(window),
            // The marks of findings come before.
            (Look::Health, _) => vec![Entry::plain([88, 88, 88], "without a finding".into())],
            (Look::Cut, Layer::Cut { channel, .. }) if usize::from(channel) == SDF && !self.is_map => vec![
                Entry::plain(color::INSIDE.at(0.5), "inside".into()),
                Entry::plain([255, 252, 240], "surface".into()),
                Entry::plain(color::OUTSIDE.at(0.5), "outside".into()),
            ],
            (_, Layer::Cut { channel, .. }) if usize::from(channel) == COLOR => {
                vec![Entry::Words("colours as stored".into())]
            }
            (_, Layer::Top(Matter::Channel(COLOR))) => vec![Entry::Words("colours as stored".into())],
            (_, Layer::Top(Matter::Channel(SDF))) => {
                let [low, high] = self.probe.heights.unwrap_or([0, 0]);
                vec![Entry::scale(color::GROUND, low == high, format!("y {low}"), high.to_string())]
            }
            _ if self.is_map => self.water(window),
            (_, Layer::Top(Matter::Channel(channel))) if self.shows_textures(channel) => self.textures(window, channel),
            (_, Layer::Cut { channel, .. }) if self.shows_textures(channel.into()) => {
                self.textures(window, channel.into())
            }
            _ => self.values(window),
        }
    }

    fn textures(&self, window: &Window, channel: usize) -> Vec<Entry> {
        if channel == WEIGHTS {
            return vec![Entry::Scale(VIRIDIS, "weight 0".into(), "15".into())];
        }
        Self::kinds(window, |value| (texture(channel, value), format!("texture {value}")))
    }

    fn values(&self, window: &Window) -> Vec<Entry> {
        Self::kinds(window, |value| {
            let value = u64::from(value);
            let name = self.palette.name(value).map_or_else(|| value.to_string(), |name| format!("{value} {name}"));
            (if value == 0 { AIR } else { self.palette.color(value) }, name)
        })
    }

    /// The most frequent values, with their colours and names.
    fn kinds(window: &Window, describe: impl Fn(u32) -> (Rgb, String)) -> Vec<Entry> {
        let there = window.pixels.iter().filter(|pixel| pixel.is_there());
        let count = count(there.map(|pixel| pixel.value));
        let all: usize = count.iter().map(|(_, n)| n).sum();
        let named = count.iter().take(VALUES).map(|(value, n)| {
            let (color, text) = describe(*value);
            Entry::Color { color, text, share: Some(*n as f32 / all.max(1) as f32), key: Some(*value) }
        });
        let mut out: Vec<Entry> = named.collect();
        if count.len() > VALUES {
            out.push(Entry::More(count.len() - VALUES));
        }
        out
    }

    fn water(&self, window: &Window) -> Vec<Entry> {
        let [low, high] = self.probe.depths.unwrap_or([0.0, 0.0]);
        let mut out = Vec::new();
        if high > low {
            out.push(Entry::Scale(color::WATER, "water".into(), format!("{high:.1} m deep")));
        } else if window.pixels.iter().any(|pixel| pixel.is_there() && flags::is_water(u64::from(pixel.value))) {
            out.push(Entry::plain(color::WATER.at(0.4), "water".into()));
        }
        if window.pixels.iter().any(|pixel| !pixel.is_there() && pixel.value == LAND) {
            out.push(Entry::plain(DRY, "no flags".into()));
        }
        let bits = window.pixels.iter().filter(|pixel| pixel.is_there());
        let bits = bits.flat_map(|pixel| flags::names(u64::from(pixel.value)).map(|flag| u32::from(flag.bit)));
        for (bit, _) in count(bits.filter(|bit| *bit > 0)) {
            if let Some(flag) = flags::ALL.iter().find(|flag| u32::from(flag.bit) == bit) {
                let name = flag.name.to_lowercase().replace('_', " ");
                out.push(Entry::Color { color: structure(flag.bit), text: name, share: None, key: Some(bit) });
            }
        }
        out
    }
}

/// Values by how often they are there, the most frequent first.
fn count(values: impl Iterator<Item = u32>) -> Vec<(u32, usize)> {
    let mut count: HashMap<u32, usize> = HashMap::new();
    for value in values {
        // Noise has as many values as pixels; the rest of it is not counted.
        if count.len() < 4096 || count.contains_key(&value) {
            *count.entry(value).or_default() += 1;
        }
    }
    let mut count: Vec<(u32, usize)> = count.into_iter().collect();
    count.sort_unstable_by_key(|(value, n)| (std::cmp::Reverse(*n), *value));
    count
}

/// The LODs of a set with a bit for each, in words.
#[must_use]
pub fn lods(set: u32) -> String {
    let lods: Vec<String> = (0..32).filter(|lod| set >> lod & 1 != 0).map(|lod: u32| lod.to_string()).collect();
    format!("{} {}", if lods.len() == 1 { "LOD" } else { "LODs" }, lods.join(", "))
}

fn sets_of_lods(window: &Window) -> Vec<Entry> {
    let sets = count(window.pixels.iter().filter(|pixel| pixel.is_there()).map(|pixel| pixel.value));
    let entry = |(set, _): &(u32, usize)| Entry::Color {
        color: coverage(*set),
        text: lods(*set),
        share: None,
        key: Some(*set),
    };
    let mut out: Vec<Entry> = sets.iter().map(entry).collect();
    if has_holes(window) {
        out.push(Entry::Words("blank: no block".into()));
    }
    out
}

/// Whether pixels without anything are between others, both in their row and in their column.
fn has_holes(window: &Window) -> bool {
    let width = window.width.max(1);
    let mut columns: Vec<Option<[usize; 2]>> = vec![None; width];
    for (y, row) in window.pixels.chunks(width).enumerate() {
        for (column, _) in columns.iter_mut().zip(row).filter(|(_, pixel)| pixel.is_there()) {
            *column = Some([column.map_or(y, |[first, _]| first), y]);
        }
    }
    window.pixels.chunks(width).enumerate().any(|(y, row)| {
        let first = row.iter().position(Pixel::is_there).unwrap_or(row.len());
        let last = row.iter().rposition(Pixel::is_there).unwrap_or(0);
        let is_inside = |column: &Option<[usize; 2]>| column.is_some_and(|[from, to]| (from..to).contains(&y));
        (first..last)
            .any(|x| row.get(x).is_some_and(|pixel| !pixel.is_there()) && columns.get(x).is_some_and(is_inside))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_is_surrounded_and_a_corner_is_none() {
        let window = |rows: [&str; 3]| {
            let there = Pixel { y: 0, ..Pixel::NONE };
            let pixels = rows.concat().chars().map(|c| if c == '#' { there } else { Pixel::NONE }).collect();
            Window { width: 4, pixels }
        };
        assert!(has_holes(&window(["####", "#.##", "####"])));
        assert!(!has_holes(&window(["####", "####", "####"])));
        assert!(!has_holes(&window(["###.", "####", "####"])));
        assert!(!has_holes(&window(["....", ".##.", "...."])));
    }
}
