//! Any save of the Godot Voxel family as one of another form: a region forest or a stream of today, with blocks, regions
//! and sectors of other sizes, built beside the source, read back and compared voxel for voxel, and only then given its
//! name.
//!
//! Fixed-point SDF of block versions 1 and 2 keeps its normalised value, which is what the engine's own migration means
//! to do (and does to the wrong channel), so that surfaces stay where they were.

mod before;
mod block;
mod forest;
mod groups;
mod items;
mod make;
mod report;
#[cfg(feature = "sqlite")]
mod stream;
mod verify;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::beside::{self, Draft};
use crate::diff;
use crate::godot::channel::{CHANNELS, Depth};
use crate::godot::container::Mode;
use crate::godot::forest::MAX_LODS;
use crate::godot::slots::Slots;
use crate::godot::stream::loc::Format;
use crate::resize;
use crate::save::{self, Save};
use crate::trace::slots::{Told, told};
use crate::world::{self, World};

/// How to convert.
pub use crate::beside::Watch as Options;
pub use report::{Kind, Listed, Report};

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Voxels along each axis of a block; those of the source when not given.
    pub block_size: Option<u16>,
    /// Blocks along each axis of a region; those of the source when not given.
    pub region_size: Option<u16>,
    /// Bytes of a sector; those of the source when not given, or as many as the largest block needs.
    pub sector_size: Option<u16>,
    /// How blocks are packed.
    pub mode: Mode,
    /// How a stream writes the positions of its blocks; as the source does when not given, or by numbers of 19 bits, or by
    /// texts where these do not do.
    pub keys: Option<Format>,
}

impl Default for Target {
    fn default() -> Self {
        Self { block_size: None, region_size: None, sector_size: None, mode: Mode::Lz4, keys: None }
    }
}

/// Why a conversion gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The result cannot be built.
    #[error(transparent)]
    Beside(#[from] beside::Error),
    /// Something cannot be read.
    #[error(transparent)]
    World(#[from] world::Error),
    /// The result cannot be opened again.
    #[error(transparent)]
    Save(#[from] save::Error),
    /// The result cannot be compared with the source.
    #[error(transparent)]
    Diff(#[from] diff::Error),
    /// What was asked for is not possible.
    #[error("{0}")]
    Request(String),
    /// The result is not what was meant to be written.
    #[error("the result differs from the source at block {} of LOD {}: {}; nothing is left of it", crate::printable::triple(*.position), .lod, .why)]
    Differs {
        /// The LOD.
        lod: u8,
        /// The block of the source, or of the result where there is none.
        position: [i32; 3],
        /// How, in words.
        why: String,
    },
}

/// What is written, with nothing left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Voxels along each axis of a block of the source.
    pub from: u16,
    /// Voxels along each axis of a block of the result.
    pub to: u16,
    /// Blocks along each axis of a region.
    pub region: u16,
    /// Bytes of a sector.
    pub sector: u16,
    /// The depths that the result declares.
    pub depths: [Depth; CHANNELS],
    /// How blocks are packed.
    pub mode: Mode,
    /// How a stream writes positions; `None` for a forest.
    pub keys: Option<Format>,
}

/// What a conversion works with.
#[derive(Clone, Copy)]
pub(crate) struct Work<'w> {
    pub world: &'w World<'w>,
    pub layout: &'w Layout,
    pub options: &'w Options<'w>,
}

impl Work<'_> {
    fn stopped(&self) -> bool {
        self.options.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    /// The position in the result of the block that holds the corner of a block of the source.
    fn target(&self, position: [i32; 3]) -> Option<[i32; 3]> {
        resize::place(position, self.layout.from, self.layout.to)
    }
}

/// Converts a world into a region forest at `to`, which must not exist.
///
/// # Errors
/// When the destination cannot be used, something cannot be read or written, or the result is not what the source was.
/// There is nothing under the destination's name then. Damaged blocks are no error: they are listed and left out.
pub fn to_forest(world: &World<'_>, target: &Target, to: &Path, options: &Options<'_>) -> Result<Report, Error> {
    beside::usable(&[world.path()], to)?;
    let mut layout = layout(world, target)?;
    let slots = slots(world, options);
    if let Some(lod) = world.lods().iter().find(|&&lod| lod >= MAX_LODS) {
        return Err(Error::Request(format!("LOD {lod} is more than a forest has: at most {MAX_LODS}")));
    }
    loop {
        let draft = Draft::new(&[world.path()], to, "convert", options.cancel)?;
        let work = Work { world, layout: &layout, options };
        let mut report = Report::new(world, &layout, slots.clone());
        if let Some(sector) = forest::write(&work, &draft, &mut report)?
            && target.sector_size.is_none()
            && sector > layout.sector
        {
            // A block takes more than 255 sectors: all anew with larger ones.
            layout.sector = sector;
            continue;
        }
        let result = Save::open(draft.root(), &save::Options::default())?;
        verify::verify(&work, &World::only(&result)?, &report)?;
        if let Some(file) = world.changed() {
            return Err(beside::Error::Changed(PathBuf::from(file)).into());
        }
        draft.file(Path::new(report::NAME), &report.json())?;
        draft.finish()?;
        return Ok(report);
    }
}

/// Converts a world into an SQLite stream, a file at `to`; the report is written beside it, `NAME.convert.json`. Neither
/// of the two must exist.
///
/// # Errors
/// As those of [`to_forest`].
#[cfg(feature = "sqlite")]
pub fn to_stream(world: &World<'_>, target: &Target, to: &Path, options: &Options<'_>) -> Result<Report, Error> {
    let sources = [world.path()];
    let beside_it = report::report_of(to, false);
    beside::usable(&sources, &beside_it)?;
    let draft = Draft::new(&sources, to, "convert", options.cancel)?;
    let mut layout = layout(world, target)?;
    let slots = slots(world, options);
    layout.keys = Some(target.keys.unwrap_or_else(|| stream::keys(world, &layout)));
    let work = Work { world, layout: &layout, options };
    let mut report = Report::new(world, &layout, slots);
    let path = stream::write(&work, &draft, &mut report)?;
    let result = Save::open(&path, &save::Options::default())?;
    verify::verify(&work, &World::only(&result)?, &report)?;
    if let Some(file) = world.changed() {
        return Err(beside::Error::Changed(PathBuf::from(file)).into());
    }
    draft.file(Path::new(report::NAME), &report.json())?;
    draft.finish_files(&[(Path::new(report::NAME), &beside_it), (Path::new(stream::NAME), to)])?;
    Ok(report)
}

/// Finds out which formula placed the blocks of negative coordinates, and has them read by it. In words, where it makes a
/// difference.
fn slots(world: &World<'_>, options: &Options<'_>) -> Option<String> {
    let forest = world.forest()?;
    if !forest.regions.iter().any(|file| file.position.iter().any(|&p| p < 0)) {
        return None;
    }
    if let Some(given) = world.save.options.slots {
        return Some(format!("read by the formula that was given, {}", formula(given)));
    }
    let stop = || options.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed));
    Some(match told(world.save, forest, &stop) {
        Told::Known => "read by the old formula, which the versions of the blocks imply".to_owned(),
        Told::Seams { slots, seams, odds } => {
            world.tell_slots(slots);
            let odds = odds.abs().exp();
            format!("read by {}, as {seams} seams tell, with odds of {odds:.1} to 1 for each", formula(slots))
        }
        Told::Nothing => {
            let formula = formula(Slots::New);
            format!(
                "read by {formula}: neither the version of the blocks nor their seams tell; `--slots old` if it is wrong"
            )
        }
    })
}

const fn formula(slots: Slots) -> &'static str {
    match slots {
        Slots::Old => "the old formula",
        Slots::New => "the formula of today",
    }
}

/// What is written, from what was asked for and what the source has.
fn layout(world: &World<'_>, target: &Target) -> Result<Layout, Error> {
    let request = |why: &str| Err(Error::Request(why.to_owned()));
    let Some(from) = world.block_size() else {
        return request(
            "nothing says how large the blocks of the source are: give --from-block-size, --from-region-size and --from-sector-size",
        );
    };
    let to = target.block_size.unwrap_or(from);
    if !to.is_power_of_two() || !(2..=256).contains(&to) {
        return request("the block size must be a power of two from 2 to 256");
    }
    let same = |size: [u16; 3]| size == [size[0]; 3] && size[0].is_power_of_two() && (2..=128).contains(&size[0]);
    let own = world.format().map(|format| format.region_size).filter(|size| same(*size)).map(|[size, ..]| size);
    let region = target.region_size.or(own).unwrap_or(16);
    if !same([region; 3]) {
        return request("the region size must be a power of two from 2 to 128");
    }
    let own = world.format().and_then(|format| u16::try_from(format.sector_size).ok());
    let sector = target.sector_size.or(own).unwrap_or(512);
    if sector == 0 {
        return request("the sector size must be 1 to 65535");
    }
    let depths = world.depths().unwrap_or_default();
    Ok(Layout { from, to, region, sector, depths, mode: target.mode, keys: None })
}
