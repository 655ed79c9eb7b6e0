//! Tiles of several planes and scales, kept up to a number of bytes: those that were used last.

use std::collections::HashMap;
use std::sync::Arc;

use super::tile::{Grid, Pixel, Tile, TileKey};

/// Bytes of tiles that the explorer keeps.
pub const LIMIT: usize = 40 << 20;

/// Tiles that are there.
#[derive(Debug)]
pub struct Pyramid {
    tiles: HashMap<TileKey, Kept>,
    bytes: usize,
    limit: usize,
    clock: u64,
    /// Changes whenever a tile comes.
    pub version: u64,
}

#[derive(Debug)]
struct Kept {
    tile: Arc<Tile>,
    used: u64,
}

/// A tile that was asked for last: its place, and the tile when it is there.
type Asked = ([i64; 2], Option<Arc<Tile>>);

impl Default for Pyramid {
    fn default() -> Self {
        Self::new(LIMIT)
    }
}

impl Pyramid {
    /// One that keeps so many bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { tiles: HashMap::new(), bytes: 0, limit, clock: 0, version: 0 }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self { version: self.version + 1, ..Self::new(self.limit) };
    }

    /// Bytes of the tiles that are kept.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a tile is there.
    #[must_use]
    pub fn has(&self, key: &TileKey) -> bool {
        self.tiles.contains_key(key)
    }

    /// Puts a tile in; those that were used longest ago go when there are too many.
    pub fn put(&mut self, key: TileKey, tile: Tile) {
        self.clock += 1;
        self.version += 1;
        let size = size(&tile);
        let kept = Kept { tile: Arc::new(tile), used: self.clock };
        if let Some(before) = self.tiles.insert(key, kept) {
            self.bytes = self.bytes.saturating_sub(self::size(&before.tile));
        }
        self.bytes += size;
        if self.bytes > self.limit {
            self.make_room();
        }
    }

    /// Drops a quarter of what is kept, so that this is not done for every tile.
    fn make_room(&mut self) {
        let mut by_use: Vec<(u64, TileKey, usize)> =
            self.tiles.iter().map(|(key, kept)| (kept.used, *key, size(&kept.tile))).collect();
        by_use.sort_unstable_by_key(|(used, ..)| *used);
        for (_, key, size) in by_use {
            if self.bytes <= self.limit / 4 * 3 {
                return;
            }
            self.tiles.remove(&key);
            self.bytes = self.bytes.saturating_sub(size);
        }
    }

    /// A tile, which counts as used now.
    pub fn get(&mut self, key: &TileKey) -> Option<Arc<Tile>> {
        self.clock += 1;
        let kept = self.tiles.get_mut(key)?;
        kept.used = self.clock;
        Some(Arc::clone(&kept.tile))
    }

    /// Pixels of a part of a plane, row by row: the first is at `origin`, counted in steps of `step` voxels. Where the
    /// first grid has no tile yet, the next ones are asked.
    pub fn window(&mut self, grids: &[Grid], step: i64, origin: [i64; 2], size: [usize; 2]) -> Vec<Pixel> {
        let mut out = Vec::with_capacity(size[0].saturating_mul(size[1]));
        let mut last: Vec<Option<Asked>> = vec![None; grids.len()];
        for row in 0..size[1] {
            let v = origin[1].saturating_add(i64::try_from(row).unwrap_or(0)).saturating_mul(step);
            for column in 0..size[0] {
                let u = origin[0].saturating_add(i64::try_from(column).unwrap_or(0)).saturating_mul(step);
                let mut pixel = Pixel::NONE;
                for (grid, last) in grids.iter().zip(&mut last) {
                    // The middle, where a tile of another scale is asked.
                    let half = if grid.step < step { step / 2 } else { 0 };
                    let place = [u.saturating_add(half), v.saturating_add(half)];
                    let at = grid.tile_at(place);
                    if last.as_ref().is_none_or(|(known, _)| *known != at) {
                        *last = Some((at, self.get(&TileKey { grid: *grid, at })));
                    }
                    if let Some((_, Some(tile))) = last {
                        let side = grid.side.max(1);
                        let [x, y] = place.map(|n| n.div_euclid(grid.step.max(1)).rem_euclid(side).unsigned_abs());
                        let at = crate::bytes::index(y * side.unsigned_abs() + x);
                        pixel = tile.pixels.get(at).copied().unwrap_or(Pixel::NONE);
                        break;
                    }
                }
                out.push(pixel);
            }
        }
        out
    }
}

fn size(tile: &Tile) -> usize {
    tile.pixels.capacity() * size_of::<Pixel>() + size_of::<TileKey>() + size_of::<Kept>() + 64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::look::{Layer, Matter};

    fn key(at: i64) -> TileKey {
        let grid = Grid { layer: Layer::Top(Matter::Value), lod: 0, step: 1, side: 4, fill: true };
        TileKey { grid, at: [at, 0] }
    }

    fn tile(y: i32) -> Tile {
        Tile { pixels: vec![Pixel { y, value: 0, more: 0.0 }; 16] }
    }

    #[test]
    fn what_was_used_last_is_kept_and_the_rest_stays_below_the_limit() {
        let mut pyramid = Pyramid::new(4000);
        for at in 0..100 {
            pyramid.put(key(at), tile(0));
            assert!(pyramid.get(&key(0)).is_some(), "used again and again");
            assert!(pyramid.bytes() <= 4000 + size(&tile(0)));
        }
        assert!(!pyramid.has(&key(1)));
        pyramid.clear();
        assert_eq!(pyramid.bytes(), 0);
    }

    #[test]
    fn a_window_is_put_together_from_tiles_and_what_else_is_there() {
        let mut pyramid = Pyramid::new(1 << 20);
        pyramid.put(key(-1), tile(5));
        let coarse = Grid { step: 8, ..key(0).grid };
        pyramid.put(TileKey { grid: coarse, at: [0, 0] }, tile(9));
        let window = pyramid.window(&[key(0).grid, coarse], 1, [-2, 0], [4, 1]);
        assert_eq!(window.iter().map(|pixel| pixel.y).collect::<Vec<_>>(), [5, 5, 9, 9]);
        assert!(!pyramid.window(&[key(0).grid], 1, [0, -1], [1, 1])[0].is_there());
    }
}
