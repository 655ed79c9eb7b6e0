//! Generated saves: [terrain](Terrain) in [forests](ForestSpec) of every version, healthy and
//! damaged ones, for trying the program, for its tests and for its benchmarks.
//!
//! This module writes new files only, and only into the given directory.
//!
//! Takes a seed and a directory; gives saves. It knows neither the checker nor repair: its own tests compare the samples with
//! these.

pub mod block_files;
pub mod damaged;
mod draft;
pub mod forest;
mod game;
pub mod healthy;
pub mod maps;
pub mod noise;
pub mod owned;
mod pak;
#[cfg(feature = "sqlite")]
pub mod stream;
pub mod terrain;

pub use damaged::SAMPLES;
pub use forest::{Extent, ForestSpec, Stats, write_forest};
pub use healthy::HEALTHY;
pub use owned::{OwnedBlock, OwnedChannel};
pub use terrain::{Material, Terrain};

use std::io;
use std::path::{Path, PathBuf};

use crate::damage::Code;
use crate::parallel;

/// A sample save that demonstrates one thing.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Its name, also that of its directory.
    pub name: &'static str,
    /// A description, in a sentence.
    pub about: &'static str,
    /// Whether it has no finding above note.
    pub healthy: bool,
    /// Codes that a check of it must find; it may find more.
    pub expect: &'static [Code],
    /// Writes it into an empty directory.
    pub make: fn(&Path) -> io::Result<()>,
}

impl Sample {
    /// Its path below the directory of all samples: `healthy/NAME` or `damaged/NAME`.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        Path::new(if self.healthy { "healthy" } else { "damaged" }).join(self.name)
    }

    const fn healthy(
        name: &'static str,
        about: &'static str,
        expect: &'static [Code],
        make: fn(&Path) -> io::Result<()>,
    ) -> Self {
        Self { name, about, healthy: true, expect, make }
    }

    const fn damaged(
        name: &'static str,
        about: &'static str,
        expect: &'static [Code],
        make: fn(&Path) -> io::Result<()>,
    ) -> Self {
        Self { name, about, healthy: false, expect, make }
    }
}

/// All samples, the healthy ones first.
pub fn samples() -> impl Iterator<Item = &'static Sample> {
    HEALTHY.iter().chain(SAMPLES)
}

/// A guided tour: the directory of each stop, the sample that it is, and what to look at.
pub const TOUR: [(&str, &str, &str); 5] = [
    ("1-tour/1-healthy", "lods", "A healthy world: + and - zoom, v changes the look, tab leads to other worlds."),
    (
        "1-tour/2-wrong-places",
        "crash-wrong-places",
        "Killed while it saved: blocks are in each other's places; p shows the repair.",
    ),
    (
        "1-tour/3-torn-table",
        "crash-torn-table",
        "The table of blocks was torn: n goes to what is wrong, e explains it.",
    ),
    ("1-tour/4-zeroed", "block-zeroed-run", "Sectors became zeros, as after a power cut: look for the hatched blocks."),
    (
        "1-tour/5-half-written",
        "crash-half-written",
        "Blocks were being written when the game ended: p shows what comes back.",
    ),
];

/// Names and colours of the materials of all samples, as `voxscope.toml` has them.
pub const NAMES: &str = r##"[types]
1 = { name = "grass", color = "#7fa650" }
2 = { name = "dirt", color = "#8a6848" }
3 = { name = "stone", color = "#8c9198" }
4 = { name = "snow", color = "#eef3f6" }
5 = { name = "sand", color = "#dcc78c" }
6 = { name = "water", color = "#3d7db5" }
7 = { name = "coal", color = "#41464d" }
8 = { name = "iron", color = "#c28d6b" }
"##;

/// Writes the stops of the guided tour below `dir`.
///
/// # Errors
/// What the operating system says.
pub fn write_tour(dir: &Path) -> io::Result<()> {
    parallel::try_each(&TOUR, |(stop, name, _)| {
        let sample = samples().find(|sample| sample.name == *name).ok_or(io::ErrorKind::NotFound)?;
        let dir = dir.join(stop);
        std::fs::create_dir_all(&dir)?;
        (sample.make)(&dir)
    })
}

/// Writes every sample below `dir`, which is made when it is not there: `healthy/NAME` and `damaged/NAME`.
///
/// # Errors
/// When `dir` is there and not an empty directory, and when writing fails. Nothing is ever overwritten.
pub fn write_all(dir: &Path) -> io::Result<Vec<&'static Sample>> {
    forest::empty_directory(dir)?;
    let all: Vec<&'static Sample> = samples().collect();
    parallel::try_each(&all, |sample| {
        let dir = dir.join(sample.path());
        forest::empty_directory(&dir)?;
        (sample.make)(&dir)
    })?;
    Ok(all)
}

#[cfg(test)]
mod tests;
