//! Saves that the program makes itself: [terrain](Terrain) in [forests](ForestSpec) of every version, healthy ones and
//! damaged ones, for trying the program, for its tests and for its benchmarks.
//!
//! Only this module writes files, only new ones, and only where it is told to.

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
pub use forest::{Extent, ForestSpec, Progress, Stats, write_forest};
pub use healthy::HEALTHY;
pub use owned::{OwnedBlock, OwnedChannel};
pub use terrain::{Material, Terrain};

use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::damage::Code;

/// A save that shows one thing.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Its name, also that of its directory.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// Whether there is nothing worse than a note in it.
    pub healthy: bool,
    /// Findings that checking it must give; it may give more.
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

/// Writes every sample below `dir`, which is made when it is not there: `healthy/NAME` and `damaged/NAME`.
///
/// # Errors
/// When `dir` is there and not an empty directory, and when writing fails. Nothing is ever overwritten.
pub fn write_all(dir: &Path) -> io::Result<Vec<&'static Sample>> {
    forest::empty_directory(dir)?;
    let all: Vec<&'static Sample> = samples().collect();
    all.par_iter().try_for_each(|sample| {
        let dir = dir.join(sample.path());
        forest::empty_directory(&dir)?;
        (sample.make)(&dir)
    })?;
    Ok(all)
}

#[cfg(test)]
mod tests;
