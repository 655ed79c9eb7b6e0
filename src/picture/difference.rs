//! What differs between the pictures of two saves, pixel by pixel.

use super::color::{self, Rgb};
use super::look::{COLOR, Layer};
use super::marks::Mark;
use super::paint::Window;
use super::tile::Pixel;
use crate::godot::channel::SDF;

/// Whether a pixel shows matter.
fn is_matter(layer: Layer, pixel: &Pixel) -> bool {
    match layer {
        _ if !pixel.is_there() => false,
        Layer::Cut { channel, .. } if usize::from(channel) == SDF => f32::from_bits(pixel.value) < 0.0,
        Layer::Cut { channel, .. } if usize::from(channel) == COLOR => pixel.value & 0xff != 0,
        Layer::Cut { .. } => pixel.value != 0,
        _ => true,
    }
}

/// How a pixel differs between two pictures; `None` when it does not.
#[must_use]
pub fn turn(layer: Layer, a: &Pixel, b: &Pixel) -> Option<Mark> {
    let same = (a.y, a.value) == (b.y, b.value);
    match (is_matter(layer, a), is_matter(layer, b)) {
        _ if same => None,
        (false, true) => Some(Mark::Added),
        (true, false) => Some(Mark::Removed),
        // Air of one kind is as good as air of another, but a distance is a value.
        (false, false) if !a.is_there() || !b.is_there() => None,
        _ => Some(Mark::Changed),
    }
}

/// Puts the marks of what differs over the colours of the first picture; gives how many pixels have which mark. The windows
/// have a border of so many pixels, which the colours have not.
pub fn paint(layer: Layer, colors: &mut [Option<Rgb>], a: &Window, b: &Window, border: usize) -> Vec<(Mark, usize)> {
    let inner = a.width.saturating_sub(2 * border).max(1);
    let mut counts = vec![(Mark::Added, 0), (Mark::Removed, 0), (Mark::Changed, 0)];
    for (at, color) in colors.iter_mut().enumerate() {
        let from = (at / inner + border) * a.width + at % inner + border;
        let (Some(one), Some(other)) = (a.pixels.get(from), b.pixels.get(from)) else { continue };
        let Some(mark) = turn(layer, one, other) else { continue };
        *color = Some(color.map_or(mark.color(), |color| color::mix(color, mark.color(), 0.85)));
        if let Some((_, count)) = counts.iter_mut().find(|(other, _)| *other == mark) {
            *count += 1;
        }
    }
    counts.retain(|(_, count)| *count > 0);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::look::Matter;

    fn window(values: &[Option<u32>]) -> Window {
        let pixels = values.iter().map(|value| value.map_or(Pixel::NONE, |value| Pixel { y: 3, value, more: 0.0 }));
        Window { width: values.len(), pixels: pixels.collect() }
    }

    #[test]
    fn what_came_went_and_changed_is_marked() {
        let (a, b) = (window(&[None, Some(1), Some(1), Some(1)]), window(&[Some(1), None, Some(2), Some(1)]));
        let mut colors = vec![None; 4];
        let counts = paint(Layer::Top(Matter::Channel(0)), &mut colors, &a, &b, 0);
        assert_eq!(counts, [(Mark::Added, 1), (Mark::Removed, 1), (Mark::Changed, 1)]);
        assert_eq!(colors[0], Some(Mark::Added.color()));
        assert_eq!(colors[3], None);
    }

    #[test]
    fn of_distances_the_sign_says_what_is_ground() {
        let layer = Layer::Cut { axis: 1, at: 0, channel: 1 };
        let pixel = |d: f32| Pixel { y: 0, value: d.to_bits(), more: 0.0 };
        assert_eq!(turn(layer, &pixel(0.5), &pixel(-0.5)), Some(Mark::Added));
        assert_eq!(turn(layer, &pixel(-0.5), &pixel(0.5)), Some(Mark::Removed));
        assert_eq!(turn(layer, &pixel(-0.5), &pixel(-1.5)), Some(Mark::Changed));
        assert_eq!(turn(layer, &pixel(0.5), &pixel(0.5)), None);
    }
}
