//! A small map of everything, with the part that is seen.

use super::Ready;
use super::view::View;
use crate::picture::color::Rgb;
use crate::picture::{Layer, Source};

/// Pixels of the map at most.
const PIXELS: [i64; 2] = [18, 12];

/// A small map of everything.
#[derive(Debug)]
pub struct Overview {
    /// Pixels across.
    pub width: usize,
    /// Whether there is a block, row by row.
    pub there: Vec<bool>,
    /// The part that is seen, in pixels: two opposite corners.
    pub seen: [[i64; 2]; 2],
    /// Whether it is at the right end and at the lower end of the picture.
    pub corner: [bool; 2],
}

impl Overview {
    /// Rows of pixels.
    pub fn height(&self) -> usize {
        self.there.len().checked_div(self.width).unwrap_or(0)
    }

    /// Puts it into the corner where it hides least of a picture, at the upper right where that makes no difference.
    pub fn choose_corner(&mut self, colors: &[Option<Rgb>], picture: [usize; 2], fine: usize) {
        // Whole cells, with the frame around them.
        let size = [self.width + 2, self.height().next_multiple_of(2) + 4];
        let size = [0, 1].map(|i| (size[i] * fine).min(picture[i]));
        let hidden = |corner: &[bool; 2]| {
            let from = [0, 1].map(|i| if corner[i] { picture[i] - size[i] } else { 0 });
            let row = |y: usize| colors.iter().skip(y * picture[0] + from[0]).take(size[0]).flatten().count();
            (from[1]..from[1] + size[1]).map(row).sum::<usize>()
        };
        let corners = [[true, false], [true, true], [false, true], [false, false]];
        self.corner = corners.into_iter().min_by_key(hidden).unwrap_or(self.corner);
    }

    /// The colour of a pixel; `None` if it is outside the world and the frame of the visible part.
    pub fn color(&self, x: usize, y: usize) -> Option<Rgb> {
        let [low, high] = self.seen;
        let place = [x, y].map(|n| i64::try_from(n).unwrap_or(0));
        let seen = (0..2).all(|i| (low[i]..=high[i]).contains(&place[i]));
        match (self.there.get(y * self.width + x).copied().unwrap_or(false), seen) {
            (true, true) => Some([250, 210, 90]),
            (false, true) => Some([96, 84, 44]),
            (true, false) => Some([104, 116, 128]),
            (false, false) => None,
        }
    }
}

/// Where blocks are on a plane, in pixels of the small map; the rows in the order of the world.
#[derive(Debug)]
pub struct Outline {
    low: [i64; 2],
    high: [i64; 2],
    /// Voxels of the world a pixel.
    step: i64,
    size: [i64; 2],
    there: Vec<bool>,
}

impl Outline {
    /// Goes through all blocks; `None` if there is none.
    pub fn new(source: &Source, axes: [usize; 2]) -> Option<Self> {
        let [low, high] = source.extent()?.map(|corner| axes.map(|axis| corner[axis]));
        let voxels = [0, 1].map(|i| (high[i] - low[i]).max(1));
        let step = (voxels[0].div_euclid(PIXELS[0]) + 1).max(voxels[1].div_euclid(PIXELS[1]) + 1);
        let size @ [width, height] = voxels.map(|n| (n - 1).div_euclid(step) + 1);
        let mut there = vec![false; crate::bytes::index((width * height).unsigned_abs())];
        for table in &source.tables {
            let block = source.block(table.lod);
            for at in &table.blocks {
                let corner = source.corner(table.lod, at.position);
                let first = [0, 1].map(|i| (corner[axes[i]] - low[i]).div_euclid(step).max(0));
                let last = [0, 1].map(|i| (corner[axes[i]] + block[axes[i]] - 1 - low[i]).div_euclid(step));
                for v in first[1]..=last[1].min(height - 1) {
                    for u in first[0]..=last[0].min(width - 1) {
                        if let Some(to) = there.get_mut(crate::bytes::index((v * width + u).unsigned_abs())) {
                            *to = true;
                        }
                    }
                }
            }
        }
        Some(Self { low, high, step, size, there })
    }
}

/// The small map beside a view; `None` where all is seen, or the picture is small.
pub fn part(ready: &Ready, view: View, pixels: [i64; 2], layer: Layer) -> Option<Overview> {
    let &Outline { low, high, step, size: [width, height], ref there } = ready.outline(layer)?;
    let seen = view.seen(pixels);
    if (0..2).all(|i| seen[0][i] <= low[i] && seen[1][i] >= high[i]) || pixels[0] < 50 || pixels[1] < 30 {
        return None;
    }
    let row = |v: i64| if view.rises { height - 1 - v } else { v };
    let mut rows: Vec<&[bool]> = there.chunks(crate::bytes::index(width.unsigned_abs()).max(1)).collect();
    if view.rises {
        rows.reverse();
    }
    let of = |place: [i64; 2]| [0, 1].map(|i| (place[i] - low[i]).div_euclid(step));
    let (a, b) = (of(seen[0]), of(seen[1].map(|n| n - 1)));
    let (top, bottom) = (row(a[1]).min(row(b[1])), row(a[1]).max(row(b[1])));
    let seen =
        [[a[0].clamp(0, width - 1), top.clamp(0, height - 1)], [b[0].clamp(0, width - 1), bottom.clamp(0, height - 1)]];
    // Less than a pixel of the map is outside of the view.
    let is_all = seen == [[0, 0], [width - 1, height - 1]];
    (!is_all).then(|| Overview {
        width: crate::bytes::index(width.unsigned_abs()),
        there: rows.concat(),
        seen,
        corner: [true, false],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overview_is_in_the_corner_where_least_is_hidden() {
        let mut overview = Overview { width: 3, there: vec![true; 12], seen: [[0; 2]; 2], corner: [true, false] };
        // The picture is 20 x 20 pixels; the overview with its frame has 5 x 8.
        let mut colors = vec![Some([1, 2, 3]); 400];
        overview.choose_corner(&colors, [20, 20], 1);
        assert_eq!(overview.corner, [true, false], "everything is covered everywhere");
        colors[19 * 20] = None;
        overview.choose_corner(&colors, [20, 20], 1);
        assert_eq!(overview.corner, [false, true], "there is a pixel of nothing at the lower left");
        colors[..20].fill(None);
        overview.choose_corner(&colors, [20, 20], 1);
        assert_eq!(overview.corner, [true, false]);
    }
}
