//! One picture of the world with several looks, of any save: a forest, a stream, pak regions, a layer of a voxel map.
//!
//! A [`source::Source`] holds the tables of a save: which blocks exist, by LOD and position. A [`tile`] is a square of
//! pixels that is computed from blocks: the highest matter of each column, a cut, sizes, or which LODs exist.
//! [`pyramid`] keeps tiles up to a number of bytes, [`paint`] turns pixels into colours, and [`legend`] says what the
//! colours mean. Coordinates are voxels of the world, which are those of LOD 0.
//!
//! Takes a save and a look; gives tiles of pixels, colours and legends. It knows neither the terminal nor who asks for tiles.

pub mod color;
pub(crate) mod columns;
pub mod difference;
pub mod legend;
pub mod look;
pub mod marks;
mod missing_files;
#[cfg(feature = "cli")]
mod names;
pub mod paint;
pub mod palette;
pub mod planned;
mod probe;
pub mod pyramid;
pub mod source;
pub mod tile;

pub use look::{Layer, Look, Matter};
pub use marks::{Mark, Marks};
pub use missing_files::mark_missing_file;
pub use probe::{Probe, certain_matter};
pub use source::{Part, Source};
pub use tile::{Pixel, Tile, TileKey};
