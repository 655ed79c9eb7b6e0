//! What a command works on: the save, opened by the options that all commands share.

use std::path::{Path, PathBuf};

use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::region::Format;
use voxscope::godot::slots::Slots;
use voxscope::pak::chunk::Given;
use voxscope::pak::offset::Reading;
use voxscope::save::{self, PakOptions, Save};

use super::exit::Failure;

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
    /// Bytes of a sector
    #[arg(long, value_name = "BYTES", help_heading = HEADING)]
    sector_size: Option<u32>,
    /// Bits of the eight channels, such as 16,16,8,8,8,8,8,8
    #[arg(long, value_name = "BITS", value_delimiter = ',', help_heading = HEADING)]
    depths: Option<Vec<u8>>,
    /// Formula that placed blocks of negative coordinates; by the version of the blocks when not given
    #[arg(long, value_name = "FORMULA", help_heading = HEADING)]
    slots: Option<SlotsArgument>,
    /// Voxels along x, y and z of a chunk; by the length of chunks when not given
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_triple, help_heading = PAK)]
    chunk_shape: Option<[i32; 3]>,
    /// Bytes of a voxel
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8), help_heading = PAK)]
    voxel_bytes: Option<u8>,
    /// How first_block_offset is counted; by what fits the file when not given
    #[arg(long, value_name = "UNIT", help_heading = PAK)]
    pak_offset: Option<PakOffset>,
    /// `export` and `diff` take rows too that may have been deleted: nothing leads to them, and nothing that did is damaged
    #[arg(long, help_heading = STREAMS)]
    stale_rows: bool,
    /// How the options of the layout begin: `convert` has its own of the same names.
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
    /// Bytes of a sector
    #[arg(long, value_name = "BYTES", help_heading = HEADING)]
    from_sector_size: Option<u32>,
    /// Bits of the eight channels, such as 16,16,8,8,8,8,8,8
    #[arg(long, value_name = "BITS", value_delimiter = ',', help_heading = HEADING)]
    from_depths: Option<Vec<u8>>,
    /// Formula that placed blocks of negative coordinates; by the version of the blocks and by seams when not given
    #[arg(long, value_name = "FORMULA", help_heading = HEADING)]
    slots: Option<SlotsArgument>,
    /// Take rows too that may have been deleted: nothing leads to them, and nothing that did is damaged
    #[arg(long, help_heading = STREAMS)]
    stale_rows: bool,
}

impl Source {
    /// Opens the save at `path`.
    pub fn open(&self, path: &Path) -> Result<Save, Failure> {
        let Self { from_block_size, from_region_size, from_sector_size, from_depths, slots, stale_rows } = self.clone();
        let options = Options {
            block_size: from_block_size,
            region_size: from_region_size,
            sector_size: from_sector_size,
            depths: from_depths,
            slots,
            stale_rows,
            from: "from-",
            ..Options::default()
        };
        options.open(path)
    }
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum PakOffset {
    /// Blocks of 4,096 bytes
    Blocks,
    /// Bytes
    Bytes,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum SlotsArgument {
    /// That of 2019 to 2024
    Old,
    /// The Euclidean remainder
    New,
}

impl Options {
    /// Opens the save at `path`.
    pub fn open(&self, path: &Path) -> Result<Save, Failure> {
        Ok(Save::open(path, &self.to_library()?)?)
    }

    /// The same with another formula of slots.
    #[must_use]
    pub fn with_slots(&self, slots: SlotsArgument) -> Self {
        Self { slots: Some(slots), ..self.clone() }
    }

    /// As the library takes them.
    pub fn to_library(&self) -> Result<save::Options, Failure> {
        let slots = self.slots.map(|slots| match slots {
            SlotsArgument::Old => Slots::Old,
            SlotsArgument::New => Slots::New,
        });
        let stale_rows = self.stale_rows;
        Ok(save::Options { format: self.format()?, slots, pak: self.pak()?, stale_rows, ..save::Options::default() })
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
        Ok(PakOptions { reading, shape: Given { size, voxel_bytes: self.voxel_bytes } })
    }

    fn format(&self) -> Result<Option<Format>, Failure> {
        let from = self.from;
        let (block_size, region_size, sector_size) = match (self.block_size, self.region_size, self.sector_size) {
            (None, None, None) if self.depths.is_none() => return Ok(None),
            (Some(block_size), Some(region_size), Some(sector_size)) => (block_size, region_size, sector_size),
            _ => {
                return usage(&format!(
                    "--{from}block-size, --{from}region-size and --{from}sector-size go together; --{from}depths may be added"
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

/// The threads that a command works with.
pub fn pool(jobs: Option<usize>) -> Result<rayon::ThreadPool, Failure> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(jobs.unwrap_or(0))
        .build()
        .map_err(|error| Failure::Failed(format!("the threads cannot be started: {error}")))
}

fn usage<T>(text: &str) -> Result<T, Failure> {
    Err(Failure::Usage(text.to_owned()))
}

/// The path that a command was given, or this directory.
pub fn path_or_here(path: Option<&PathBuf>) -> &Path {
    path.map_or(Path::new("."), PathBuf::as_path)
}

/// `X,Y,Z` as three numbers.
pub fn parse_position(text: &str) -> Result<[f64; 3], String> {
    let numbers: Option<Vec<f64>> =
        text.split(',').map(|part| part.trim().parse().ok().filter(|n: &f64| n.is_finite())).collect();
    numbers
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| "three numbers with commas between them are needed, such as 79.5,-2,-90.25".to_owned())
}

/// `X,Y,Z` as three whole numbers.
pub fn parse_triple(text: &str) -> Result<[i32; 3], String> {
    let numbers: Option<Vec<i32>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    numbers
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| "three whole numbers with commas between them are needed, such as 3,-1,12".to_owned())
}
