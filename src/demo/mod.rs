//! Saves that the program makes itself: [terrain](Terrain) in [forests](ForestSpec) of every version, healthy ones and
//! damaged ones, for trying the program, for its tests and for its benchmarks.
//!
//! Only this module writes files, only new ones, and only where it is told to.

pub mod forest;
pub mod noise;
pub mod owned;
pub mod terrain;

pub use forest::{Extent, ForestSpec, Progress, Stats, write_forest};
pub use owned::{OwnedBlock, OwnedChannel};
pub use terrain::{Material, Terrain};

#[cfg(test)]
mod tests;
