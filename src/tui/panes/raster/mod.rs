//! A picture of cells: how large a cell is drawn, which part is seen, and how it is painted. Two cells a character with
//! half blocks, one where there are only letters.

mod paint;
mod zoom;

use crate::tui::app::App;
use crate::tui::data::plane::Steps;
use crate::tui::scroll::follow;
use crate::tui::theme::Theme;

pub use paint::{Ink, letter_cell, pair_cell};
pub use zoom::Zoom;

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
            let ring = most_ring.min(1);
            let near = [Zoom::In(2), Zoom::In(1), Zoom::Out(1)];
            let found = near.into_iter().find(|zoom| fits(&Self { zoom: *zoom, ..out }, ring));
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
                    assert!(raster.steps(1, u32::MAX, true).count <= u32::from(u16::MAX) * 2);
                    let _ = raster.at(u16::MAX, u16::MAX);
                    assert!(raster.zoom.nearer().stride() > 0 && raster.zoom.farther(size).stride() > 0);
                }
            }
        }
    }
}
