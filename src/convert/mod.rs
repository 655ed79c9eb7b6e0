//! Converts any save of the Godot Voxel family into a region forest or a stream of the current version, with blocks, regions
//! and sectors of other sizes if requested. The result is built next to its destination, read back, compared voxel by voxel,
//! and only then renamed to its final name.
//!
//! Fixed-point SDF of block versions 1 and 2 keeps its normalised value, as the engine's own migration intends
//! (which changes the wrong channel), so that surfaces stay in place.
//!
//! Takes a [world](crate::world::World) and a [target](Target); gives a new save and a [report](Report) of what it could not
//! hold. It knows neither findings nor repair, and no terminal.

mod before;
mod block;
mod channels;
mod forest;
mod groups;
mod items;
mod make;
mod report;
#[cfg(feature = "sqlite")]
mod stream;
mod verify;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::check;
use crate::diff;
use crate::draft::{self, Draft};
use crate::godot::channel::{CHANNELS, Depth, SDF};
use crate::godot::container::Mode;
use crate::godot::forest::MAX_LODS;
use crate::godot::region::{Format, refusal_words};
use crate::godot::slots::SlotFormula;
use crate::godot::stream::loc;
#[cfg(feature = "sqlite")]
use crate::godot::stream::loc::KeyRule;
use crate::godot::textures::INDICES;
use crate::printable;
use crate::recover::slots::{FormulaEvidence, infer_formula};
use crate::resize;
use crate::save::{self, ForestLayout, Save};
use crate::watch::Watch;
use crate::world::{self, World};

pub use report::{Kind, Listed, Report};

/// The options of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Voxels along each axis of a block; by default as in the source.
    pub block_size: Option<u16>,
    /// Blocks along each axis of a region; by default as in the source.
    pub region_size: Option<u16>,
    /// Bytes per sector; by default as in the source, or as many as the largest block needs.
    pub sector_size: Option<u16>,
    /// The compression of blocks.
    pub mode: Mode,
    /// The key format of a stream; by default that of the source, or integers with 19 bits per coordinate, or
    /// texts if those do not fit.
    pub keys: Option<loc::Format>,
    /// Where a forest has its region files. That of the Rust port also gives SDF 32 bits.
    pub layout: ForestLayout,
    /// Channels that get another form.
    pub change: VoxelChange,
    /// Whether the result may have more than [`LARGE`] bytes.
    pub large: bool,
}

/// The depth of SDF in every save of the Rust port.
const PORT_SDF: Depth = Depth::Bits32;

/// Bytes of a result beyond which a conversion asks first.
pub const LARGE: u64 = 4 << 30;

/// Channels that a conversion gives another form; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VoxelChange {
    /// The depths of channels that get another one.
    pub depths: [Option<Depth>; CHANNELS],
    /// Whether [textures](crate::godot::textures) of Mixel4 become Single: the texture of the largest weight.
    pub single_textures: bool,
}

impl Default for Target {
    fn default() -> Self {
        let layout = ForestLayout::Engine;
        let change = VoxelChange::default();
        Self {
            block_size: None,
            region_size: None,
            sector_size: None,
            mode: Mode::Lz4,
            keys: None,
            layout,
            change,
            large: false,
        }
    }
}

/// Why a conversion failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The result cannot be built.
    #[error(transparent)]
    Beside(#[from] draft::Error),
    /// Something cannot be read.
    #[error(transparent)]
    World(#[from] world::Error),
    /// The result cannot be opened again.
    #[error(transparent)]
    Save(#[from] save::Error),
    /// The result cannot be compared with the source.
    #[error(transparent)]
    Diff(#[from] diff::Error),
    /// The requested options are not possible.
    #[error("{0}")]
    Request(String),
    /// No block of a save can be read although it has some, or may: what is in its report.
    #[error("{}: no block can be read, so nothing is converted", .0.source())]
    Unread(Box<Report>),
    /// The result differs from the source.
    #[error("the result differs from the source at block {} of LOD {}: {}; nothing is left of it", crate::printable::triple(*.position), .lod, .why)]
    Differs {
        /// The LOD.
        lod: u8,
        /// The block of the source, or of the result if there is none in the source.
        position: [i32; 3],
        /// How, in words.
        why: String,
    },
}

/// The complete layout of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputLayout {
    /// Voxels along each axis of a block of the source.
    pub from: u16,
    /// Voxels along each axis of a block of the result.
    pub to: u16,
    /// Blocks along each axis of a region.
    pub region: u16,
    /// Bytes per sector.
    pub sector: u16,
    /// The depths that the result declares.
    pub depths: [Depth; CHANNELS],
    /// The compression of blocks.
    pub mode: Mode,
    /// The key format of a stream; `None` for a forest.
    pub keys: Option<loc::Format>,
    /// Where a forest has its region files.
    pub tree: ForestLayout,
    /// Channels that get another form.
    pub change: VoxelChange,
}

impl OutputLayout {
    /// The layout of the region files.
    pub fn format(&self) -> Format {
        Format {
            block_size_po2: u8::try_from(self.to.trailing_zeros()).unwrap_or(0),
            region_size: [self.region; 3],
            depths: self.depths,
            sector_size: self.sector.into(),
        }
    }
}

/// The inputs of a conversion.
#[derive(Clone, Copy)]
pub(crate) struct Work<'w> {
    pub world: &'w World<'w>,
    pub layout: &'w OutputLayout,
    pub watch: &'w Watch<'w>,
}

impl Work<'_> {
    /// Position of the result block that contains the corner of a source block.
    fn target(&self, position: [i32; 3]) -> Option<[i32; 3]> {
        resize::containing_block(position, self.layout.from, self.layout.to)
    }
}

/// Converts a world into a region forest at `to`, which must not exist.
///
/// # Errors
/// If the destination cannot be used, something cannot be read or written, or the result differs from the source. Then
/// the destination does not exist. Damaged blocks are not an error: they are listed and left out.
pub fn to_forest(world: &World<'_>, target: &Target, to: &Path, watch: &Watch<'_>) -> Result<Report, Error> {
    draft::check_destination(&[world.path()], to)?;
    let wanted = layout(world, target)?;
    let mut layout = accepted(wanted, target)?;
    check_size(world, target, to)?;
    let slots = slots(world, watch);
    let misplaced = check::misplaced(world.save, world.forest(), watch);
    if let Some(lod) = world.lods().iter().find(|&&lod| lod >= MAX_LODS) {
        return Err(Error::Request(format!("LOD {lod} is more than a forest has: at most {MAX_LODS}")));
    }
    loop {
        let draft = Draft::new(&[world.path()], to, watch)?;
        let work = Work { world, layout: &layout, watch };
        let mut report = Report::new(world, &layout, slots.clone());
        report.misplaced.clone_from(&misplaced);
        if let Some(sector) = forest::write(&work, &draft, &mut report)?
            && target.sector_size.is_none()
            && sector > layout.sector
        {
            // A block needs more than 255 sectors: start again with larger sectors.
            layout.sector = sector;
            continue;
        }
        if report.reads_nothing() {
            return Err(Error::Unread(Box::new(report)));
        }
        report.enlarged =
            (layout != wanted).then_some([(wanted.region, wanted.sector), (layout.region, layout.sector)]);
        let result = Save::open(draft.root(), &save::Options::default())?;
        verify::verify(&work, &World::only(&result)?, &report)?;
        if let Some(file) = world.changed() {
            return Err(draft::Error::Changed(PathBuf::from(file)).into());
        }
        draft.file(Path::new(report::NAME), &report.json())?;
        draft.finish()?;
        return Ok(report);
    }
}

/// Refuses results that are larger than anybody may want unless they are asked for, and those that do not fit on the disk. The
/// result has about as many bytes as the files of the source have on the disk; Zstandard makes them half as many.
fn check_size(world: &World<'_>, target: &Target, to: &Path) -> Result<(), Error> {
    let bytes: u64 = world.files().map(|(path, len)| draft::bytes_on_disk(&path, len)).sum();
    let least = if target.mode == Mode::Zstd { bytes / 2 } else { bytes };
    if least > LARGE && !target.large {
        let size = printable::size(least);
        return Err(Error::Request(format!("the result would have about {size}: give --yes to write it")));
    }
    Ok(draft::check_space(to, least)?)
}

/// The layout with a sector size with which the engine saves into regions, and if none is large enough with smaller regions,
/// as far as these are not given.
fn accepted(layout: OutputLayout, target: &Target) -> Result<OutputLayout, Error> {
    let format = layout.format();
    let Some(why) = refusal_words(&format) else { return Ok(layout) };
    if target.sector_size.is_none() {
        let smaller = (1..8).rev().map(|po2| 1u16 << po2).filter(|size| *size < layout.region);
        let smaller = smaller.filter(|_| target.region_size.is_none());
        for region in std::iter::once(layout.region).chain(smaller) {
            let format = Format { region_size: [region; 3], ..format };
            if let Some(sector) = format.accepted_sector_size() {
                return Ok(OutputLayout { region, sector, ..layout });
            }
        }
    }
    Err(Error::Request(format!("the engine refuses to save with these settings. {}", why.trim_end_matches('.'))))
}

/// Converts a world into an SQLite stream, a file at `to`; the report is written next to it, `NAME.convert.json`. Neither
/// of the two may exist.
///
/// # Errors
/// As those of [`to_forest`].
#[cfg(feature = "sqlite")]
pub fn to_stream(world: &World<'_>, target: &Target, to: &Path, watch: &Watch<'_>) -> Result<Report, Error> {
    let sources = [world.path()];
    let beside_it = report::report_of(to, false);
    draft::check_database(&sources, to)?;
    draft::check_beside(&beside_it)?;
    check_size(world, target, to)?;
    let draft = Draft::new(&sources, to, watch)?;
    let mut layout = layout(world, target)?;
    let slots = slots(world, watch);
    layout.keys = Some(target.keys.unwrap_or_else(|| stream::keys(world, &layout)));
    let work = Work { world, layout: &layout, watch };
    let mut report = Report::new(world, &layout, slots);
    report.misplaced = check::misplaced(world.save, world.forest(), watch);
    let path = stream::write(&work, &draft, &mut report)?;
    if report.reads_nothing() {
        return Err(Error::Unread(Box::new(report)));
    }
    let result = Save::open(&path, &save::Options::default().key_rule(KeyRule::New))?;
    verify::verify(&work, &World::only(&result)?, &report)?;
    if let Some(file) = world.changed() {
        return Err(draft::Error::Changed(PathBuf::from(file)).into());
    }
    draft.file(Path::new(report::NAME), &report.json())?;
    draft.finish_files(&[(Path::new(report::NAME), &beside_it), (Path::new(stream::NAME), to)])?;
    Ok(report)
}

/// The form of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultForm {
    /// A region forest.
    Forest,
    /// An SQLite stream.
    #[cfg(feature = "sqlite")]
    Stream,
}

/// Converts every world of a directory that holds several. The results have the same paths below `to`, which must not exist; the
/// name of a stream becomes that of its forest, and the reverse. Either all of them are written or none; those of which nothing
/// can be read are left out: [`World::all_readable`] names them, or they have a report that [`Report::reads_nothing`].
///
/// # Errors
/// As those of [`to_forest`], and if no world can be read. A directory with damaged blocks is not an error.
pub fn to_directory(
    save: &Save,
    target: &Target,
    form: ResultForm,
    to: &Path,
    watch: &Watch<'_>,
) -> Result<Vec<(PathBuf, Report)>, Error> {
    let draft = Draft::new(&[&save.path], to, watch)?;
    let mut done: Vec<(PathBuf, Report)> = Vec::new();
    let mut taken: HashSet<PathBuf> = HashSet::new();
    let mut unread: Vec<(PathBuf, Report)> = Vec::new();
    let (mut worlds, unreadable) = World::all_readable(save);
    if let (true, Some(error)) = (worlds.is_empty(), unreadable.into_iter().next()) {
        return Err(error.into());
    }
    // The directory of a result is there before others are written into it.
    worlds.sort_by_key(|world| world.path_of_result().components().count());
    for world in worlds {
        let mut below = below(&world, form, target.layout);
        // A stream may have the name of a forest, with another ending.
        if world.forest().is_none() && taken.contains(&below) {
            let mut name = below.into_os_string();
            name.push("-stream");
            below = name.into();
        }
        if !taken.insert(below.clone()) {
            let name = printable::path(&below);
            return Err(Error::Request(format!("two saves would both become {name}: convert them one by one")));
        }
        if let Some(parent) = below.parent() {
            draft.directory(parent)?;
        }
        let to = draft.root().join(&below);
        let converted = match form {
            ResultForm::Forest => to_forest(&world, target, &to, watch),
            #[cfg(feature = "sqlite")]
            ResultForm::Stream => to_stream(&world, target, &to, watch),
        };
        match converted {
            Ok(report) => done.push((below, report)),
            Err(Error::Unread(report)) => unread.push((below, *report)),
            Err(error) => return Err(error),
        }
    }
    if done.is_empty()
        && let Some((_, report)) = unread.pop()
    {
        return Err(Error::Unread(Box::new(report)));
    }
    draft.finish()?;
    done.extend(unread);
    Ok(done)
}

/// The path of a result below the directory of all.
fn below(world: &World<'_>, form: ResultForm, layout: ForestLayout) -> PathBuf {
    let path = world.path_of_result();
    match form {
        ResultForm::Forest => {
            let path = if world.forest().is_none() { path.with_extension("") } else { path };
            // The directories of LODs of the Rust port are in the forest's directory itself.
            let is_taken = layout == ForestLayout::Port && path.file_name() == Some(OsStr::new(save::REGIONS));
            if is_taken { path.with_file_name(world::REGIONS_OF_RESULT) } else { path }
        }
        #[cfg(feature = "sqlite")]
        ResultForm::Stream if world.forest().is_none() => path,
        #[cfg(feature = "sqlite")]
        ResultForm::Stream => {
            let mut name = path.into_os_string();
            name.push(".sqlite");
            name.into()
        }
    }
}

/// Infers the slot formula of blocks with negative coordinates and sets it. Returns it in words, if it makes a
/// difference.
fn slots(world: &World<'_>, watch: &Watch<'_>) -> Option<String> {
    let forest = world.forest().filter(|forest| forest.kind != save::Kind::BlockFiles)?;
    if !forest.regions.iter().any(|file| file.position.iter().any(|&p| p < 0)) {
        return None;
    }
    if let Some(given) = world.save.options.slots {
        return Some(format!("placed by {}, as given", formula(given)));
    }
    Some(match infer_formula(world.save, forest, &|| watch.is_cancelled()) {
        FormulaEvidence::Known => "placed by the old formula, which the version of the blocks implies".to_owned(),
        FormulaEvidence::Seams { slots, seams, odds } => {
            world.tell_slots(slots);
            let odds = odds.abs().exp();
            format!(
                "placed by {}: {seams} borders between blocks fit it better than the other one ({odds:.1} to 1 on average)",
                formula(slots)
            )
        }
        FormulaEvidence::Nothing => {
            let formula = formula(SlotFormula::Euclidean);
            format!(
                "placed by {formula}, because neither the version nor the borders of the blocks show which one applies; if the terrain is shifted there, convert again with `--slots old`"
            )
        }
    })
}

const fn formula(slots: SlotFormula) -> &'static str {
    match slots {
        SlotFormula::Legacy => "the old formula",
        SlotFormula::Euclidean => "the new formula",
    }
}

/// The layout of the result, from the options and the source.
fn layout(world: &World<'_>, target: &Target) -> Result<OutputLayout, Error> {
    let request = |why: &str| Err(Error::Request(why.to_owned()));
    let Some(from) = world.block_size() else {
        // No option gives the block size of a stream.
        if world.forest().is_none() {
            let why = "the size of its blocks is unknown, because neither its settings nor its blocks show it";
            return Err(world::Error::Read(world.name.clone(), why.to_owned()).into());
        }
        return request(
            "the block size of the source is unknown: pass --from-block-size, --from-region-size and --from-sector-size (of block files --from-block-size alone), and --from-depths",
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
    let mut depths = world.depths().unwrap_or_default();
    let Target { mode, layout: tree, mut change, .. } = *target;
    if change.single_textures && change.depths[INDICES].is_some_and(|depth| depth != Depth::Bits8) {
        return request("textures of Single have 8 bits in INDICES: leave out its depth, or give INDICES=8");
    }
    if tree == ForestLayout::Port {
        match change.depths[SDF] {
            None if depths[SDF] != PORT_SDF => change.depths[SDF] = Some(PORT_SDF),
            Some(depth) if depth != PORT_SDF => {
                return request("the Rust port stores SDF in 32 bits only: leave out its depth, or give SDF=32");
            }
            _ => {}
        }
    }
    for (c, depth) in depths.iter_mut().enumerate() {
        *depth = change.depth(c, *depth);
    }
    Ok(OutputLayout { from, to, region, sector, depths, mode, keys: None, tree, change })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::source::opened;

    /// The work for one of many saves in a directory does not depend on how many others there are.
    #[test]
    fn files_of_one_save_are_opened_as_often_beside_many_others() {
        let opened: Vec<usize> = [2, 5]
            .into_iter()
            .map(|saves| {
                let dir = tempfile::tempdir().unwrap();
                let source = dir.path().join("saves");
                let sample = crate::demo::samples().find(|sample| sample.name == "lods").unwrap();
                for n in 0..saves {
                    (sample.make)(&source.join(format!("w{n}"))).unwrap();
                }
                let (first, target) = (source.join("w0"), Target::default());
                let save = Save::open(&source, &save::Options::default()).unwrap();
                let before = opened::below(&first);
                let to = dir.path().join("to");
                let done = to_directory(&save, &target, ResultForm::Forest, &to, &Watch::default()).unwrap();
                assert_eq!(done.len(), saves);
                opened::below(&first) - before
            })
            .collect();
        assert!(opened[0] > 0);
        assert_eq!(opened[0], opened[1]);
    }
}
