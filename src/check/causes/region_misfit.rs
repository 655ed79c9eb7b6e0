//! Options of region files and block files that do not fit them: a layout by which their blocks cannot be read although they can be
//! by the layout that the save shows, and a slot formula that did not place them.

use std::ops::RangeInclusive;
use std::path::Path;

use crate::check::causes::evidence::SEARCHED;
use crate::godot::block::{Block, BlockLayout};
use crate::godot::channel::CHANNELS;
use crate::godot::container::Decoder;
use crate::godot::region::{Format, Header, MAX_HEADER_BYTES};
use crate::godot::slots::SlotFormula;
use crate::recover::slots::infer_formula;
use crate::save::bare::{self, BareKind};
use crate::save::{Forest, Kind, Listed, Options, Region, RegionFile, Save, Scratch, open_region};
use crate::source::{FileSource, Source};

/// Blocks of a file that are read, spread over its table.
const ASKED: usize = 8;

/// The least number of blocks that agree on another layout; one block alone may be the damaged one.
const LEAST: usize = 2;

/// The options of region files and block files that do not fit the first file that shows another value. `has_findings` says whether
/// the check found something above a note in a file.
pub(super) fn region_misfit(save: &Save, has_findings: impl Fn(&str) -> bool) -> Vec<String> {
    layout_misfit(save, has_findings).into_iter().chain(slots_misfit(save)).collect()
}

/// The options of the layout that do not fit the first file that shows another one.
fn layout_misfit(save: &Save, has_findings: impl Fn(&str) -> bool) -> Vec<String> {
    let Some(given) = save.options.format else { return Vec::new() };
    // Of a single file, nothing but the option may give the layout.
    let own = Save::open(&save.path, &Options { format: None, ..save.options.clone() }).ok();
    let files = save.forests.iter().flat_map(|forest| forest.regions.iter().map(move |file| (forest, file)));
    let suspect = files.filter(|(forest, file)| has_findings(&save.shown(&forest.dir.join(&file.name))));
    let misfits = suspect.take(SEARCHED).find_map(|(forest, file)| {
        let is_block = forest.kind == Kind::BlockFiles;
        // The header of version 3 stores the layout, so that no option changes it.
        let is_given = |header: &&Header| (is_block || header.version < 3) && header.format.layout() == given.layout();
        let header = file.header.as_ref().filter(is_given)?;
        let other = own
            .iter()
            .flat_map(|own| &own.forests)
            .filter(|other| other.dir == forest.dir)
            .flat_map(|forest| &forest.regions);
        let other = other.filter(|other| other.name == file.name).find_map(|file| file.header.as_ref());
        let path = forest.dir.join(&file.name);
        let options = match other {
            Some(other) => differing(&path, file, header, other, save)?,
            None => of_blocks(&path, file, header, save).or_else(|| of_table(&path, file, header, save))?,
        };
        let mut options: Vec<LayoutOption> = options.into_iter().filter(|option| option.is_of(is_block)).collect();
        // Depths that nobody gave are wrong with a given size, or alone.
        let is_given = |option: &LayoutOption| !matches!(option, LayoutOption::Depths { .. });
        if save.options.assumes_depths && options.iter().any(is_given) {
            options.retain(is_given);
        }
        let what: Vec<String> = options.into_iter().map(|option| option.words(save.options.assumes_depths)).collect();
        (!what.is_empty()).then(|| what.into_iter().map(|what| format!("{} {what}", save.shown(&path))).collect())
    });
    misfits.unwrap_or_default()
}

/// What shows that the layout in the meta file of a forest is not that of its files, and the options that have the right one:
/// by the former most blocks cannot be read, by the latter those of a file can. `has_findings` says whether the check found something above a note in
/// a file.
pub(super) fn meta_misfit(save: &Save, has_findings: impl Fn(&str) -> bool) -> Vec<String> {
    if save.options.format.is_some() {
        return Vec::new();
    }
    let of_forest = |forest: &Forest| {
        let is_block = forest.kind == Kind::BlockFiles;
        let path = |file: &RegionFile| forest.dir.join(&file.name);
        // The header of version 3 stores the layout itself.
        let files = forest.regions.iter().filter_map(|file| Some((file, file.header.as_ref()?)));
        let old = files.filter(|(_, header)| is_block || header.version < 3);
        let asked: Vec<(&RegionFile, &Header)> = old.filter(|(file, _)| file.len > 0).take(SEARCHED).collect();
        if !asked.iter().any(|(file, _)| has_findings(&save.shown(&path(file)))) {
            return None;
        }
        // Some blocks can be read by any layout: the first one of a file, those of one value, and those of other entries.
        let sum = |(whole, all): (usize, usize), (file, header): &(&RegionFile, &Header)| {
            let of_file = whole_blocks(&path(file), file, header, save);
            (whole + of_file.0, all + of_file.1)
        };
        let (whole, all) = asked.iter().fold((0, 0), sum);
        // Each block of a later version stores its own depths.
        let differs = |(file, header): &(&RegionFile, &Header)| of_blocks(&path(file), file, header, save).is_some();
        let are_other = || is_block && asked.len() >= LEAST && asked.iter().all(differs);
        if whole * 4 >= all * 3 && all > 0 && !are_other() {
            return None;
        }
        asked.into_iter().find_map(|(file, header)| {
            let options = of_blocks(&path(file), file, header, save)
                .or_else(|| of_table(&path(file), file, header, save).filter(|_| !is_block))?;
            let options: Vec<LayoutOption> = options.into_iter().filter(|option| option.is_of(is_block)).collect();
            let shown = save.shown(&path(file));
            let what: Vec<String> =
                options.iter().map(|option| format!("{shown} {}", option.words_of_meta())).collect();
            (!what.is_empty()).then(|| [what, vec![fitting_options(header, &options, is_block)]].concat())
        })
    };
    save.forests.iter().find_map(of_forest).unwrap_or_default()
}

/// The options for a layout that differs from that of a header, in words.
fn fitting_options(header: &Header, options: &[LayoutOption], is_block: bool) -> String {
    let Format { mut block_size_po2, mut region_size, mut sector_size, .. } = header.format;
    let mut bits = depths(&header.format.layout(), ",");
    for option in options {
        match option {
            LayoutOption::BlockSize { own, .. } => block_size_po2 = own.trailing_zeros() as u8,
            LayoutOption::RegionSize { own, .. } => region_size = *own,
            LayoutOption::SectorSize { own, .. } => sector_size = *own,
            LayoutOption::Depths { own, .. } => bits = own.replace(", ", ","),
        }
    }
    let block_size = 1u32 << block_size_po2;
    let of_regions =
        if is_block { String::new() } else { format!(" --region-size {} --sector-size {sector_size}", region_size[0]) };
    format!("the files fit `--block-size {block_size}{of_regions} --depths {bits}`")
}

/// An option and what the file has.
enum LayoutOption {
    BlockSize { own: u16, given: u16 },
    RegionSize { own: [u16; 3], given: u16 },
    SectorSize { own: u32, given: u32 },
    Depths { own: String, given: String },
}

impl LayoutOption {
    /// Whether it is for block files if `is_block`, and for region files otherwise.
    const fn is_of(&self, is_block: bool) -> bool {
        matches!(self, Self::BlockSize { .. } | Self::Depths { .. }) || !is_block
    }

    /// What the file has, and what the meta file says, a clause.
    fn words_of_meta(&self) -> String {
        match self {
            Self::BlockSize { own, given } => {
                format!("has blocks of {own} voxels along each axis; the meta file says {given}")
            }
            Self::RegionSize { own: [x, ..], given } => {
                format!("has {x} blocks along each axis; the meta file says {given}")
            }
            Self::SectorSize { own, given } => format!("has sectors of {own} bytes; the meta file says {given}"),
            Self::Depths { own, given } => format!("has channels of {own} bits; the meta file says {given}"),
        }
    }

    /// What does not fit, a clause; `assumes_depths` says whether no depths were given.
    fn words(&self, assumes_depths: bool) -> String {
        match self {
            Self::BlockSize { own, given } => {
                format!("has blocks of {own} x {own} x {own} voxels, which `--block-size {given}` does not fit")
            }
            Self::RegionSize { own: [x, y, z], given } => {
                format!("has {x} x {y} x {z} blocks, which `--region-size {given}` does not fit")
            }
            Self::SectorSize { own, given } => {
                format!("has sectors of {own} bytes, which `--sector-size {given}` does not fit")
            }
            Self::Depths { own, .. } if assumes_depths => {
                format!("has channels of {own} bits, which the given layout does not fit without `--depths`")
            }
            Self::Depths { own, given } => {
                format!("has channels of {own} bits, which `--depths {given}` does not fit")
            }
        }
    }
}

fn depths(layout: &BlockLayout, separator: &str) -> String {
    layout.depths.map(|depth| depth.bits().to_string()).join(separator)
}

fn layout_options(own: &BlockLayout, given: &BlockLayout) -> Vec<LayoutOption> {
    let mut options = Vec::new();
    if own.size != given.size {
        options.push(LayoutOption::BlockSize { own: own.size[0], given: given.size[0] });
    }
    if own.depths != given.depths {
        options.push(LayoutOption::Depths { own: depths(own, ", "), given: depths(given, ",") });
    }
    options
}

/// The options in which the given layout differs from that of the save, if more blocks of a file can be read by the latter.
fn differing(path: &Path, file: &RegionFile, given: &Header, own: &Header, save: &Save) -> Option<Vec<LayoutOption>> {
    let (given_format, own_format): (Format, Format) = (given.format, own.format);
    if own_format == given_format {
        return None;
    }
    let [(by_own, asked), (by_given, _)] = [own, given].map(|header| whole_blocks(path, file, header, save));
    if by_own <= by_given || by_own < LEAST.min(asked) || by_own * 4 < asked * 3 {
        return None;
    }
    let mut options = layout_options(&own_format.layout(), &given_format.layout());
    options.extend(size_options(&own_format, &given_format));
    Some(options)
}

/// Sizes of regions and sectors that are tried where the save shows none, as powers of two.
const REGION_SIZES: RangeInclusive<u32> = 1..=6;
const SECTOR_SIZES: RangeInclusive<u32> = 6..=12;

/// The sizes in which the given layout differs from the only other one by which most blocks of a file can be read. The table of
/// version 1 or 2 has a place for each block of a region, and the sectors follow it: with a wrong size no entry leads to a block.
fn of_table(path: &Path, file: &RegionFile, given: &Header, save: &Save) -> Option<Vec<LayoutOption>> {
    if given.version > 2 || given.is_single_block() {
        return None;
    }
    let (by_given, _) = whole_blocks(path, file, given, save);
    // No other layout can have more.
    if by_given >= ASKED {
        return None;
    }
    let mut prefix = Vec::new();
    let (source, _) = open_region(path).ok()?;
    source.read_into(0, MAX_HEADER_BYTES, &mut prefix).ok()?;
    let sizes = REGION_SIZES.flat_map(|region| SECTOR_SIZES.map(move |sector| (1u16 << region, 1u32 << sector)));
    let whole = |(region, sector_size): (u16, u32)| {
        let format = Format { region_size: [region; 3], sector_size, ..given.format };
        let header = Header::decode(&prefix, source.len(), Some(&format)).value?;
        let (whole, asked) = whole_blocks(path, file, &header, save);
        (whole >= LEAST && whole > by_given && whole * 4 >= asked * 3).then_some((whole, format))
    };
    let mut fitting: Vec<(usize, Format)> = sizes.filter_map(whole).collect();
    let most = fitting.iter().map(|(whole, _)| *whole).max()?;
    fitting.retain(|(whole, _)| *whole == most);
    let [(_, own)] = &fitting[..] else { return None };
    Some(size_options(own, &given.format))
}

/// The options for sizes of regions and sectors in which two layouts differ.
fn size_options(own: &Format, given: &Format) -> Vec<LayoutOption> {
    let mut options = Vec::new();
    if own.region_size != given.region_size {
        options.push(LayoutOption::RegionSize { own: own.region_size, given: given.region_size[0] });
    }
    if own.sector_size != given.sector_size {
        options.push(LayoutOption::SectorSize { own: own.sector_size, given: given.sector_size });
    }
    options
}

/// A region as a header describes it.
fn open(path: &Path, file: &RegionFile, header: &Header, save: &Save) -> Option<Region<FileSource>> {
    let (source, _) = open_region(path).ok()?;
    Region::load(source, header.clone(), file.lod, file.position, &save.options).ok()
}

/// How many blocks can be read completely by a header, of how many that are asked.
fn whole_blocks(path: &Path, file: &RegionFile, header: &Header, save: &Save) -> (usize, usize) {
    let Some(region) = open(path, file, header, save) else { return (0, 0) };
    let mut scratch = Scratch::default();
    let is_read = |listed: &&Listed| {
        let view = region.view(listed.entry, &mut scratch);
        view.is_ok_and(|view| view.is_readable() && view.block.as_ref().is_some_and(is_whole))
    };
    (asked(&region).filter(is_read).count(), asked(&region).count())
}

/// The blocks of a region that are read.
fn asked(region: &Region<FileSource>) -> impl Iterator<Item = &Listed> {
    let step = region.entries.len().div_ceil(ASKED).max(1);
    region.entries.iter().step_by(step)
}

fn is_whole(block: &Block<'_>) -> bool {
    block.epilogue.is_some() && block.whole_channels() == CHANNELS
}

/// The options in which the given layout differs from the one that the blocks of a file have or show, if they agree on it.
fn of_blocks(path: &Path, file: &RegionFile, given: &Header, save: &Save) -> Option<Vec<LayoutOption>> {
    let region = open(path, file, given, save)?;
    let mut scratch = Scratch::default();
    let mut found: Vec<BlockLayout> = Vec::new();
    for listed in asked(&region) {
        let Ok(view) = region.view(listed.entry, &mut scratch) else { continue };
        let plain = view.container.filter(|container| container.whole).map(|container| container.plain);
        found.extend(plain.and_then(|plain| layout_of(plain, save)));
    }
    let own = *found.first()?;
    let agree = found.len() >= LEAST.min(region.entries.len()) && found.iter().all(|layout| *layout == own);
    Some(layout_options(&own, &given.format.layout())).filter(|options| agree && !options.is_empty())
}

/// The layout that block data stores, or, of version 1, the only usual one by which it can be read.
fn layout_of(plain: &[u8], save: &Save) -> Option<BlockLayout> {
    let (mut decoder, mut reversed) = (Decoder::default(), Vec::new());
    let read = bare::read(BareKind::Block, plain, None, &save.options.limits, &mut decoder, &mut reversed);
    let block = read.block.filter(is_whole)?;
    match (block.version, read.layout) {
        (1, shown) => shown.filter(|shown| shown.is_only).map(|shown| shown.layout),
        _ => {
            let mut layout = BlockLayout { size: block.size, depths: Default::default() };
            for (depth, channel) in layout.depths.iter_mut().zip(&block.channels) {
                *depth = channel.depth;
            }
            Some(layout)
        }
    }
}

/// What shows that another slot formula than the given one placed the blocks of a save.
fn slots_misfit(save: &Save) -> Option<String> {
    let given = save.options.slots?;
    let own = Save::open(&save.path, &Options { slots: None, ..save.options.clone() }).ok()?;
    own.forests.iter().filter(|forest| forest.kind != Kind::BlockFiles).find_map(|forest| {
        let shown = |file: &RegionFile| own.shown(&forest.dir.join(&file.name));
        let argument = match given {
            SlotFormula::Legacy => "`--slots old` does not fit",
            SlotFormula::Euclidean => "`--slots new` does not fit",
        };
        let mut scratch = Scratch::default();
        for file in forest.regions.iter().filter(|file| file.position.iter().any(|n| *n < 0)).take(SEARCHED) {
            let Some(mut region) = own.region(forest, file).ok().flatten() else { continue };
            // Without an option it follows from the version of the file or of its blocks.
            let of_version = region.own_slots(&mut scratch).ok().flatten().filter(|_| region.is_negative());
            if of_version.is_some_and(|formula| formula != given) {
                return Some(format!(
                    "{} is of a version that used the old formula only, which {argument}",
                    shown(file)
                ));
            }
        }
        let found = infer_formula(&own, forest, &|| false).slots()?;
        let of = if own.forests.len() > 1 { format!("{}: ", own.shown(&forest.dir)) } else { String::new() };
        let what = "the borders between blocks show that the other formula placed them";
        (found != given).then(|| format!("{of}{what}, which {argument}"))
    })
}
