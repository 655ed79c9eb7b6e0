//! What `export` is told: its arguments, and how they are parsed.

use std::path::{Path, PathBuf};

use voxscope::export::voxels::Area;
use voxscope::godot::channel::{CHANNELS, NAMES};
use voxscope::picture;

use crate::cli::target::{self, parse_triple};

const AFTER_HELP: &str = "\
Examples:
  voxscope export world --out arrays --channel TYPE
  voxscope export world --map world.png
  voxscope export world --map heights.npy --look height
  voxscope export world --out y12.png --slice y=12

Arrays have the shape (z, x, y) in C order. Voxels without a block have the value of --fill.
Chunks of pak regions are exported one by one, with the shape (y, z, x).
OUTPUT.md describes the files.";

const OTHER: &str = "Instead of arrays of voxels";

/// What a slice or a map looks like.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
pub enum LookArgument {
    /// Of --slice: a colour for each value; distances by their sign and size
    Palette,
    /// Of --slice: grey from the smallest value to the largest
    Scale,
    /// Of --map: from above, the highest matter of each column, lit from the north-west
    Surface,
    /// Of --map: a cut, at the place that --slice gives
    Cut,
    /// Of --map: the y of the highest matter of each column
    Height,
    /// Of --map: the depth of the water, in voxel maps
    Depth,
    /// Of --map: the worst finding of each block
    Health,
    /// Of --map: which LODs exist
    Coverage,
    /// Of --map: bytes that the blocks of a column take
    Size,
    /// Of --map: what differs from the save that --against names
    Difference,
    /// Of --map: the save as a repair would write it, with what it changes
    Repair,
}

impl LookArgument {
    /// The look of a map; `None` for those of a slice.
    pub(super) const fn of_map(self) -> Option<picture::Look> {
        Some(match self {
            Self::Palette | Self::Scale => return None,
            Self::Surface => picture::Look::Surface,
            Self::Cut => picture::Look::Cut,
            Self::Height => picture::Look::Height,
            Self::Depth => picture::Look::Depth,
            Self::Health => picture::Look::Health,
            Self::Coverage => picture::Look::Coverage,
            Self::Size => picture::Look::Size,
            Self::Difference => picture::Look::Difference,
            Self::Repair => picture::Look::Repair,
        })
    }
}

/// Arguments of `export`.
#[derive(Clone, clap::Args)]
#[command(after_help = AFTER_HELP, group = clap::ArgGroup::new("destination").args(["out", "map"]).required(true))]
pub struct Arguments {
    /// The save, which is only read
    pub(super) source: PathBuf,
    /// Write the result here, a new directory, or a new file for --slice, --table and --instances
    #[arg(long, value_name = "DST")]
    pub(super) out: Option<PathBuf>,
    /// A picture of the whole world: OUT ends in .png, or in .npy for the numbers of --look height (the default then), depth, size,
    /// coverage
    #[arg(long, value_name = "OUT", help_heading = OTHER)]
    #[arg(conflicts_with_all = ["out", "table", "lost", "instances", "block", "distances"])]
    pub(super) map: Option<PathBuf>,
    /// Of --map: so many voxels of the LOD a pixel, along each side
    #[arg(long, value_name = "N", default_value_t = 1, requires = "map", help_heading = OTHER)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) scale: u32,
    /// Names and colours of types: TOML, or the JSON of the engine's id map; override those in the save
    #[arg(long, value_name = "FILE")]
    pub(super) names: Option<PathBuf>,
    /// Of --look difference: the save to compare with
    #[arg(long, value_name = "SAVE", requires = "map", help_heading = OTHER)]
    pub(super) against: Option<PathBuf>,
    /// Write a plane as a PNG, such as y=12, in voxels of the LOD; shows TYPE unless --channel is given
    #[arg(long, value_name = "AXIS=N", value_parser = parse_slice, help_heading = OTHER)]
    pub(super) slice: Option<(usize, i64)>,
    /// What a slice or a map looks like; palette and surface when not given, and height for numbers
    #[arg(long, value_name = "LOOK", help_heading = OTHER)]
    pub(super) look: Option<LookArgument>,
    /// Write a table of all blocks; DST ends in .csv, .jsonl or .sqlite
    #[arg(long, conflicts_with_all = ["slice", "block", "area", "channel", "layer", "lost"], help_heading = OTHER)]
    pub(super) table: bool,
    /// Write a layer of a voxel map, by name or number, with its depths
    #[arg(long, value_name = "NAME", conflicts_with_all = ["block", "channel", "lost", "instances"], help_heading = OTHER)]
    pub(super) layer: Option<String>,
    /// Write the instances of an SQLite stream, of --lod or of all LODs; DST ends in .csv or .jsonl
    #[arg(long, conflicts_with_all = ["table", "slice", "block", "area", "channel", "lost"], help_heading = OTHER)]
    pub(super) instances: bool,
    /// Write what a repair sets aside, unowned blocks as arrays: what is in lost+found of a repaired save, or what a repair of a
    /// damaged save would put there
    #[arg(long, conflicts_with_all = ["slice", "block", "area", "channel"], help_heading = OTHER)]
    pub(super) lost: bool,
    /// Export one block, by its position in blocks of its LOD; in pak regions one chunk
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_triple, allow_hyphen_values = true)]
    pub(super) block: Option<[i32; 3]>,
    /// Export the voxels of the LOD from the first corner up to, but not including, the second [default: all]
    #[arg(long = "box", value_name = "X,Y,Z..X,Y,Z", value_parser = parse_box, allow_hyphen_values = true)]
    #[arg(conflicts_with = "block")]
    pub(super) area: Option<Area>,
    /// LOD to export [default: 0]
    #[arg(long, value_name = "N")]
    pub(super) lod: Option<u8>,
    /// Export this channel, by name or number; may be repeated [default: channels that are not uniform]
    #[arg(long, alias = "channels", value_name = "NAME", value_parser = parse_channel)]
    pub(super) channel: Vec<usize>,
    /// Value of voxels without a block [default: 0]
    #[arg(long, value_name = "N")]
    pub(super) fill: Option<u64>,
    /// Write SDF as distances in 32-bit floats instead of raw values
    #[arg(long)]
    pub(super) distances: bool,
    /// Also write textures of Mixel4 and their weights unpacked: four numbers a voxel, of shape (z, x, y, 4)
    #[arg(long, conflicts_with_all = ["map", "slice", "table", "layer", "instances", "lost"])]
    pub(super) unpack_textures: bool,
    /// Do not wait until the arrays are on the disk: faster, but a power loss can leave zeros in them
    #[arg(long)]
    pub(super) no_sync: bool,
    /// Write arrays of more than 4 GiB
    #[arg(long)]
    pub(super) yes: bool,
    #[command(flatten)]
    pub(super) options: target::Options,
}

impl Arguments {
    /// The destination; there is one unless --map has its own.
    pub(super) fn out(&self) -> &Path {
        self.out.as_deref().unwrap_or(Path::new(""))
    }
}

/// `AXIS=N`.
fn parse_slice(text: &str) -> Result<(usize, i64), String> {
    let parts = text.split_once('=').and_then(|(axis, at)| {
        let axis = ["x", "y", "z"].iter().position(|name| name.eq_ignore_ascii_case(axis.trim()))?;
        Some((axis, at.trim().parse().ok()?))
    });
    parts.ok_or_else(|| "expected an axis and a position on it, such as y=12".to_owned())
}

/// `X,Y,Z..X,Y,Z`.
fn parse_box(text: &str) -> Result<Area, String> {
    let corner = |text: &str| {
        let numbers: Option<Vec<i64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
        numbers.and_then(|numbers| <[i64; 3]>::try_from(numbers).ok())
    };
    let corners = text.split_once("..").and_then(|(from, to)| Some([corner(from)?, corner(to)?]));
    corners.ok_or_else(|| "expected two corners separated by .., such as -16,0,-16..16,32,16".to_owned())
}

/// A channel by its name or number.
pub fn parse_channel(text: &str) -> Result<usize, String> {
    let by_name = NAMES.iter().position(|name| name.eq_ignore_ascii_case(text));
    let found = by_name.or_else(|| text.parse().ok().filter(|&n| n < CHANNELS));
    found.ok_or_else(|| format!("expected one of {}, or the number of a channel", NAMES.join(", ")))
}
