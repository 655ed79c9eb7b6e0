//! The save that a command works on, and the options of all commands that open one.

use std::path::{Path, PathBuf};

use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::region::Format;
use voxscope::godot::slots::SlotFormula;
use voxscope::godot::stream::loc::KeyRule;
use voxscope::pak::chunk::{Given, Order};
use voxscope::pak::offset::Reading;
use voxscope::picture::palette::Palette;
use voxscope::recover::slots::{Purpose, by_old_formula};
use voxscope::save::{self, PakOptions, Save};

use super::exit::Failure;
use super::output::complain;
use super::pool;

const HEADING: &str = "Layout of old region files";
const PAK: &str = "Pak regions";
const STREAMS: &str = "Streams";

/// Options of every command that opens a save.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// Voxels along each axis of a block, for region files of versions 1 and 2 without meta.vxrm
    #[arg(long, value_name = "N", help_heading = HEADING)]
    block_size: Option<u16>,
    /// Blocks along each axis of a region
    #[arg(long, value_name = "N", help_heading = HEADING)]
    region_size: Option<u16>,
    /// Bytes per sector
    #[arg(long, value_name = "BYTES", help_heading = HEADING)]
    sector_size: Option<u32>,
    /// Bits per value of the eight channels, such as 16,16,8,8,8,8,8,8
    #[arg(long, value_name = "BITS", value_delimiter = ',', help_heading = HEADING)]
    depths: Option<Vec<u8>>,
    /// Slot formula of blocks with negative coordinates [default: inferred from block versions]
    #[arg(long, value_name = "FORMULA", help_heading = HEADING)]
    slots: Option<SlotsArgument>,
    /// Voxels along x, y and z of a chunk [default: inferred from the length of chunks]
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_triple, help_heading = PAK)]
    chunk_shape: Option<[i32; 3]>,
    /// Bytes per voxel
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8), help_heading = PAK)]
    voxel_bytes: Option<u8>,
    /// Order of the voxels of a chunk, the last axis fastest [default: inferred from the voxels, or from the shape]
    #[arg(long, value_name = "ORDER", help_heading = PAK)]
    chunk_order: Option<ChunkOrder>,
    /// Unit of first_block_offset [default: inferred from the file]
    #[arg(long, value_name = "UNIT", help_heading = PAK)]
    pak_offset: Option<PakOffset>,
    /// Include rows that may have been deleted (on pages that nothing points to)
    #[arg(long, help_heading = STREAMS)]
    stale_rows: bool,
    /// How keys store positions above LOD 0 [default: inferred from the keys]
    #[arg(long, value_name = "RULE", help_heading = STREAMS)]
    key_rule: Option<KeyRuleArgument>,
    /// Prefix of the layout options; `convert` has its own options of these names.
    #[arg(skip)]
    from: &'static str,
}

/// The same for `convert`, where the plain names are those of the result.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Source {
    /// Voxels along each axis of a block of the save, for region files of versions 1 and 2 without meta.vxrm
    #[arg(long, value_name = "N", help_heading = HEADING)]
    from_block_size: Option<u16>,
    /// Blocks along each axis of a region
    #[arg(long, value_name = "N", help_heading = HEADING)]
    from_region_size: Option<u16>,
    /// Bytes per sector
    #[arg(long, value_name = "BYTES", help_heading = HEADING)]
    from_sector_size: Option<u32>,
    /// Bits per value of the eight channels, such as 16,16,8,8,8,8,8,8
    #[arg(long, value_name = "BITS", value_delimiter = ',', help_heading = HEADING)]
    from_depths: Option<Vec<u8>>,
    /// Slot formula of blocks with negative coordinates [default: inferred from block versions and seams]
    #[arg(long, value_name = "FORMULA", help_heading = HEADING)]
    slots: Option<SlotsArgument>,
    /// Include rows that may have been deleted (on pages that nothing points to)
    #[arg(long, help_heading = STREAMS)]
    stale_rows: bool,
    /// How keys store positions above LOD 0 [default: inferred from the keys]
    #[arg(long, value_name = "RULE", help_heading = STREAMS)]
    key_rule: Option<KeyRuleArgument>,
}

impl Source {
    /// Opens the save at `path`.
    pub fn open(&self, path: &Path) -> Result<Save, Failure> {
        pool::can_start_threads();
        let Self { from_block_size, from_region_size, from_sector_size, from_depths, slots, stale_rows, key_rule } =
            self.clone();
        let options = Options {
            block_size: from_block_size,
            region_size: from_region_size,
            sector_size: from_sector_size,
            depths: from_depths,
            slots,
            stale_rows,
            key_rule,
            from: "from-",
            ..Options::default()
        };
        options.open(path)
    }
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ChunkOrder {
    /// x slowest, z fastest: that of chunks of 16 x n x 16
    Xyz,
    /// y slowest, x fastest: that of cubes of 32
    Yzx,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum PakOffset {
    /// Blocks of 4,096 bytes
    Blocks,
    /// Bytes
    Bytes,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum KeyRuleArgument {
    /// The engine of 2021-01-28 to 2021-10-04: times 2^LOD
    Old,
    /// The engine since: as it is
    New,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum SlotsArgument {
    /// The formula of the engine of 2019 to 2024
    Old,
    /// The formula since 2024: the Euclidean remainder
    New,
}

impl Options {
    /// Opens the save at `path`.
    pub fn open(&self, path: &Path) -> Result<Save, Failure> {
        pool::can_start_threads();
        // A block file has no region and no sectors.
        let alone = self.block_size.is_some() && self.region_size.is_none() && self.sector_size.is_none();
        let options = self.for_bare_data()?;
        // What a killed command left is beside the save, or in the directory that is opened.
        let above = path.parent().map(|dir| if dir.as_os_str().is_empty() { Path::new(".") } else { dir });
        for dir in above.into_iter().chain(path.is_dir().then_some(path)) {
            super::output::complain_of_leftovers(dir);
        }
        let save = Save::open(path, &options)?;
        let block_files = save.forests.iter().all(|forest| forest.kind == save::Kind::BlockFiles);
        if alone && (save.forests.is_empty() || !block_files) {
            self.to_library()?;
        }
        self.complain_of_idle(&save);
        Ok(save)
    }

    /// Names the options that have no effect on a save, because it has nothing that they are for.
    fn complain_of_idle(&self, save: &Save) {
        let from = self.from;
        let of_regions = [
            (self.block_size.is_some(), format!("--{from}block-size")),
            (self.region_size.is_some(), format!("--{from}region-size")),
            (self.sector_size.is_some(), format!("--{from}sector-size")),
            (self.depths.is_some(), format!("--{from}depths")),
            (self.slots.is_some(), "--slots".to_owned()),
        ];
        let of_paks = [
            (self.chunk_shape.is_some(), "--chunk-shape".to_owned()),
            (self.voxel_bytes.is_some(), "--voxel-bytes".to_owned()),
            (self.chunk_order.is_some(), "--chunk-order".to_owned()),
            (self.pak_offset.is_some(), "--pak-offset".to_owned()),
        ];
        let of_streams =
            [(self.stale_rows, "--stale-rows".to_owned()), (self.key_rule.is_some(), "--key-rule".to_owned())];
        let groups = [
            (save.forests.is_empty(), "region file or block file", &of_regions[..]),
            (save.pak_dirs.is_empty(), "pak region", &of_paks[..]),
            (save.streams.is_empty(), "SQLite stream", &of_streams[..]),
        ];
        for (_, what, options) in groups.into_iter().filter(|(is_without, ..)| *is_without) {
            let given: Vec<&str> = options.iter().filter(|(given, _)| *given).map(|(_, name)| name.as_str()).collect();
            if !given.is_empty() {
                let has = if given.len() == 1 { "has" } else { "have" };
                complain(&format_args!(
                    "{} {has} no effect: {} has no {what}",
                    given.join(", "),
                    voxscope::printable::path(&save.path)
                ));
            }
        }
    }

    /// Opens the save at `path` by the slot formula that its blocks show, where their version does not say which one placed
    /// those with negative coordinates.
    pub fn open_as_placed(&self, path: &Path) -> Result<Save, Failure> {
        let save = self.open(path)?;
        let Some(placed) = by_old_formula(&save, Purpose::Reading, &|| false)? else { return Ok(save) };
        let of_several: Vec<_> = placed.forests.iter().filter(|forest| forest.inferred_slots.is_some()).collect();
        for forest in &of_several {
            complain(&format_args!(
                "{}: the borders between its blocks show that the old formula placed those with negative coordinates, so it is used",
                voxscope::printable::path(&forest.dir)
            ));
        }
        if !of_several.is_empty() {
            return Ok(placed);
        }
        complain(&format_args!(
            "{}: the borders between its blocks show that the old formula placed those with negative coordinates, so it is used (`--slots new` uses the other one)",
            voxscope::printable::path(path)
        ));
        Ok(placed)
    }

    /// The options of the library for a file that is no save: a lone block has no region and no sectors, so the size of a
    /// block is enough.
    pub fn for_bare_data(&self) -> Result<save::Options, Failure> {
        let alone = self.block_size.is_some() && self.region_size.is_none() && self.sector_size.is_none();
        let filled = Self { region_size: Some(16), sector_size: Some(512), ..self.clone() };
        if alone { filled.to_library() } else { self.to_library() }
    }

    /// The options of the library for a file, if it is no save.
    pub fn of_bare_data(&self, path: &Path) -> Option<save::Options> {
        let library = self.for_bare_data().ok().filter(|_| path.is_file())?;
        matches!(Save::open(path, &library), Err(save::Error::NotASave(_))).then_some(library)
    }

    /// The same options with another slot formula.
    #[must_use]
    pub fn with_slots(&self, slots: SlotsArgument) -> Self {
        Self { slots: Some(slots), ..self.clone() }
    }

    /// The same options with another rule of keys.
    #[must_use]
    pub fn with_key_rule(&self, rule: KeyRuleArgument) -> Self {
        Self { key_rule: Some(rule), ..self.clone() }
    }

    /// The options of the library.
    pub fn to_library(&self) -> Result<save::Options, Failure> {
        let slots = self.slots.map(|slots| match slots {
            SlotsArgument::Old => SlotFormula::Legacy,
            SlotsArgument::New => SlotFormula::Euclidean,
        });
        let rule = self.key_rule.map(|rule| match rule {
            KeyRuleArgument::Old => KeyRule::Old,
            KeyRuleArgument::New => KeyRule::New,
        });
        let options = save::Options::default().format(self.format()?).assumes_depths(self.depths.is_none());
        let options = options.slots(slots).pak(self.pak()?);
        Ok(options.stale_rows(self.stale_rows).key_rule(rule))
    }

    fn pak(&self) -> Result<PakOptions, Failure> {
        let reading = self.pak_offset.map(|unit| match unit {
            PakOffset::Blocks => Reading::Blocks,
            PakOffset::Bytes => Reading::Bytes,
        });
        let size = match self.chunk_shape {
            None => None,
            Some(size) if size.iter().all(|n| (1..=4096).contains(n)) => Some(size.map(i32::unsigned_abs)),
            Some(_) => return usage("--chunk-shape must be three numbers of 1 to 4096"),
        };
        let order = self.chunk_order.map(|order| match order {
            ChunkOrder::Xyz => Order::Xyz,
            ChunkOrder::Yzx => Order::Yzx,
        });
        let shape = Given { size, voxel_bytes: self.voxel_bytes };
        Ok(PakOptions::default().reading(reading).shape(shape).order(order))
    }

    fn format(&self) -> Result<Option<Format>, Failure> {
        let from = self.from;
        let (block_size, region_size, sector_size) = match (self.block_size, self.region_size, self.sector_size) {
            (None, None, None) if self.depths.is_none() => return Ok(None),
            (Some(block_size), Some(region_size), Some(sector_size)) => (block_size, region_size, sector_size),
            _ => {
                return usage(&format!(
                    "--{from}block-size, --{from}region-size and --{from}sector-size must be given together; --{from}depths is optional"
                ));
            }
        };
        if !block_size.is_power_of_two() || !(2..=256).contains(&block_size) {
            return usage(&format!("--{from}block-size must be a power of two from 2 to 256"));
        }
        if !(1..=255).contains(&region_size) {
            return usage(&format!("--{from}region-size must be 1 to 255"));
        }
        if !(1..=65_535).contains(&sector_size) {
            return usage(&format!("--{from}sector-size must be 1 to 65535"));
        }
        let block_size_po2 = u8::try_from(block_size.trailing_zeros()).unwrap_or(0);
        let depths = match &self.depths {
            None => [Depth::Bits8; CHANNELS],
            Some(bits) => match parse_depths(bits) {
                Some(depths) => depths,
                None => return usage(&format!("--{from}depths must be eight numbers, each 8, 16, 32 or 64")),
            },
        };
        Ok(Some(Format { block_size_po2, region_size: [region_size; 3], depths, sector_size }))
    }
}

fn parse_depths(bits: &[u8]) -> Option<[Depth; CHANNELS]> {
    let find = |bits: &u8| Depth::ALL.into_iter().find(|depth| depth.bits() == *bits);
    bits.iter().map(find).collect::<Option<Vec<_>>>()?.try_into().ok()
}

fn usage<T>(text: &str) -> Result<T, Failure> {
    Err(Failure::Usage(text.to_owned()))
}

/// Reads the names of types: those in the save, overridden by those in `file`. A broken file in the save is only a warning.
pub fn read_names(save: &Path, file: Option<&Path>) -> Result<Palette, Failure> {
    let (names, wrong) = Palette::of_save(save, file).map_err(Failure::Usage)?;
    if let Some(why) = wrong {
        complain(&why);
    }
    Ok(names)
}

/// The given path, or the current directory.
pub fn path_or_here(path: Option<&PathBuf>) -> &Path {
    path.map_or(Path::new("."), PathBuf::as_path)
}

/// `X,Y,Z` as three numbers.
pub fn parse_position(text: &str) -> Result<[f64; 3], String> {
    let numbers: Option<Vec<f64>> =
        text.split(',').map(|part| part.trim().parse().ok().filter(|n: &f64| n.is_finite())).collect();
    numbers
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| "expected three numbers separated by commas, such as 79.5,-2,-90.25".to_owned())
}

/// `X,Y,Z` as three whole numbers.
pub fn parse_triple(text: &str) -> Result<[i32; 3], String> {
    let parts = || text.split(',').map(str::trim);
    let numbers: Option<Vec<i32>> = parts().map(|part| part.parse().ok()).collect();
    let is_whole = |part: &str| {
        let digits = part.strip_prefix(['-', '+']).unwrap_or(part);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let are_whole = parts().count() == 3 && parts().all(is_whole);
    numbers.and_then(|numbers| numbers.try_into().ok()).ok_or_else(|| match are_whole {
        true => format!("each of the three numbers must be {} to {}", i32::MIN, i32::MAX),
        false => "expected three whole numbers separated by commas, such as 3,-1,12".to_owned(),
    })
}
