//! Which chunk a record is: region coordinates in the file's name, chunk coordinates, numbers of records.
//!
//! ```text
//! name:           x%d_y%d_z%d.region, the region's coordinates
//! region:         v >= 0 ? v / 32 : (v + 1) / 32 - 1, for each coordinate of the chunk
//! 1,024 records:  record x + z * 32, with x and z the Euclidean remainders of the chunk's coordinates by 32, and y = 0
//! 4,096 records:  record x + 16 * (z + 16 * y), 16 chunks along each axis: an assumption, for version 6
//! ```
//!
//! The chunks of files with other numbers of records have numbers, and no coordinates.

use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::pak::Inferred;

/// Records of a current file: a layer of 32 x 32 chunks.
pub const LAYER_RECORDS: u32 = 1024;

/// Records of older files.
pub const CUBE_RECORDS: u32 = 4096;

/// How the chunks of a region are laid out in its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grid {
    /// 32 x 32 chunks along x and z, all with y = 0 in their region.
    Layer,
    /// 16 x 16 x 16 chunks.
    Cube,
}

impl Grid {
    /// The layout of a file with so many records; `None` when its chunks have only numbers.
    #[must_use]
    pub fn from_record_count(records: u32) -> Option<Inferred<Self>> {
        match records {
            LAYER_RECORDS => Some(Inferred::deduced(Self::Layer, "1,024 records are a layer of 32 x 32 chunks")),
            CUBE_RECORDS => Some(Inferred::assumed(Self::Cube, "4,096 records may be 16 x 16 x 16 chunks")),
            _ => None,
        }
    }

    /// Chunks along x, y and z that have a record.
    #[must_use]
    pub const fn size(self) -> [u32; 3] {
        match self {
            Self::Layer => [32, 1, 32],
            Self::Cube => [16, 16, 16],
        }
    }

    /// How far regions are apart, in chunks, along each axis.
    #[must_use]
    pub const fn side(self) -> i32 {
        match self {
            Self::Layer => 32,
            Self::Cube => 16,
        }
    }

    /// Position inside the region of a record.
    #[must_use]
    pub fn position(self, record: u32) -> Option<[u32; 3]> {
        let [sx, sy, sz] = self.size();
        let row = record.checked_div(sx)?;
        let (x, z, y) = (record.checked_rem(sx)?, row.checked_rem(sz)?, row.checked_div(sz)?);
        (y < sy).then_some([x, y, z])
    }

    /// Record of a position inside the region.
    #[must_use]
    pub fn record(self, [x, y, z]: [u32; 3]) -> Option<u32> {
        let [sx, sy, sz] = self.size();
        if x >= sx || y >= sy || z >= sz {
            return None;
        }
        y.checked_mul(sz)?.checked_add(z)?.checked_mul(sx)?.checked_add(x)
    }

    /// Coordinates of the chunk of a record; `None` when they do not fit 32 bits.
    #[must_use]
    pub fn chunk(self, region: [i32; 3], record: u32) -> Option<[i32; 3]> {
        let [x, y, z] = self.position(record)?;
        let [rx, ry, rz] = region;
        let along =
            |region: i32, inside: u32| region.checked_mul(self.side())?.checked_add(i32::try_from(inside).ok()?);
        Some([along(rx, x)?, along(ry, y)?, along(rz, z)?])
    }

    /// Region and record of a chunk; no record if the layer of 32 x 32 does not contain it.
    #[must_use]
    pub fn find(self, chunk: [i32; 3]) -> ([i32; 3], Option<u32>) {
        let region = chunk.map(|v| region_of(v, self.side()));
        let inside = chunk.map(|v| v.checked_rem_euclid(self.side()).and_then(|v| u32::try_from(v).ok()));
        let record = match inside {
            [Some(x), Some(y), Some(z)] => self.record([x, y, z]),
            _ => None,
        };
        (region, record)
    }
}

/// The region of a chunk along one axis, as the game computes it: `v >= 0 ? v / side : (v + 1) / side - 1`.
#[must_use]
pub fn region_of(v: i32, side: i32) -> i32 {
    let quotient = |v: i32| v.checked_div(side).unwrap_or(0);
    if v >= 0 { quotient(v) } else { quotient(v.saturating_add(1)).saturating_sub(1) }
}

/// The region's coordinates in the name of its file, as the game writes it.
#[must_use]
pub fn parse_name(name: &str) -> Option<[i32; 3]> {
    let (x, y, z) = split(name)?;
    let canonical = |text: &str| text.parse().ok().filter(|n: &i32| n.to_string() == text);
    Some([canonical(x)?, canonical(y)?, canonical(z)?])
}

/// The room and the region's coordinates in the name of a file: the game joins the path of a room and `x%d_y%d_z%d.region`
/// without a separator, so `cavex0_y0_z0.region` is a region of the room `cave`. The last character of a room is a letter
/// or a digit, so that the names of copies are not mistaken for rooms.
#[must_use]
pub fn parse_room_name(name: &str) -> Option<(&str, [i32; 3])> {
    let y = name.rfind("_y")?;
    let x = name.get(..y)?.rfind('x')?;
    let (room, rest) = name.split_at_checked(x)?;
    let region = parse_name(rest)?;
    let joined = room.is_empty() || room.chars().last().is_some_and(char::is_alphanumeric);
    joined.then_some((room, region))
}

/// The region's coordinates in a name that is one or close to one: capital letters, plus signs and leading zeros are
/// let pass.
#[must_use]
pub fn parse_close_name(name: &str) -> Option<[i32; 3]> {
    let name = name.to_ascii_lowercase();
    let (x, y, z) = split(&name)?;
    Some([x.parse().ok()?, y.parse().ok()?, z.parse().ok()?])
}

/// The region's coordinates that a name means, although the game does not look for it: one close to a valid name, or one
/// with a suffix that a copy adds, such as `x1_y2_z3 (1).region` or `x1_y2_z3.region.bak`.
#[must_use]
pub fn parse_meant_name(name: &str) -> Option<[i32; 3]> {
    if let Some(region) = parse_close_name(name) {
        return Some(region);
    }
    let name = name.to_ascii_lowercase();
    let (numbers, more) = name.split_once(".region")?;
    let (x, rest) = numbers.strip_prefix('x')?.split_once("_y")?;
    let (y, rest) = rest.split_once("_z")?;
    let sign = usize::from(rest.starts_with(['-', '+']));
    let digits = rest.chars().skip(sign).take_while(char::is_ascii_digit).count();
    let (z, between) = rest.split_at_checked(sign.checked_add(digits)?)?;
    // What programs add begins so; another number is another name.
    let is_added = |text: &str| text.is_empty() || text.starts_with([' ', '(', '_', '~', '-', '.', '[']);
    (is_added(between) && is_added(more)).then_some([x.parse().ok()?, y.parse().ok()?, z.parse().ok()?])
}

/// Whether a name is meant to be that of a pak region, though the game may not look for it: it has the ending, or begins
/// as `x1_y2_z3.region (copy)` does.
#[must_use]
pub fn is_close(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let places = || {
        let (x, rest) = name.strip_prefix('x')?.split_once("_y")?;
        let (y, rest) = rest.split_once("_z")?;
        rest.contains(".region").then_some([x, y])
    };
    name.ends_with(".region") || places().is_some_and(|texts| texts.iter().all(|text| text.parse::<i64>().is_ok()))
}

fn split(name: &str) -> Option<(&str, &str, &str)> {
    let (x, rest) = name.strip_prefix('x')?.strip_suffix(".region")?.split_once("_y")?;
    let (y, z) = rest.split_once("_z")?;
    Some((x, y, z))
}

/// The name of a region's file.
#[must_use]
pub fn name([x, y, z]: [i32; 3]) -> String {
    format!("x{x}_y{y}_z{z}.region")
}

/// Checks that chunks of a file with this many records can have the positions that its name implies.
#[must_use]
pub fn check_name(region: [i32; 3], records: u32) -> Option<Damage> {
    let grid = Grid::from_record_count(records)?.value;
    let damage = Damage::new(Code::PakPlace, Span::default(), "region in the file's name").found(Value::triple(region));
    let last = grid.size().into_iter().fold(1, u32::saturating_mul).saturating_sub(1);
    if grid.chunk(region, 0).is_none() || grid.chunk(region, last).is_none() {
        return Some(damage.expected(Value::Words("a region whose chunks have 32-bit coordinates")));
    }
    let [_, y, _] = region;
    (grid == Grid::Layer && y != 0).then(|| damage.expected(Value::Words("y = 0, as in all files of 1,024 records")))
}

#[cfg(test)]
mod tests;
