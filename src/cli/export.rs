//! `export`: voxels, metadata and tables of a save as files for other programs.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use voxscope::beside;
use voxscope::beside::Watch;
use voxscope::export::voxels::{self, Area, Error, Odd, Request, Summary, Which};
use voxscope::export::{self, Look, Picture, Slice};
use voxscope::godot::channel::{CHANNELS, NAMES};
use voxscope::printable;
use voxscope::save::Save;
use voxscope::world::{self, Fault, World};

use super::check::cancelled_by_signals;
use super::exit::{Exit, Failure};
use super::output::{BOLD, count, stdout, wrapped};
use super::target::{self, parse_triple};

const AFTER_HELP: &str = "\
Arrays have the shape (z, x, y) in C order. Voxels without a block have the value of --fill.
Chunks of pak regions are exported one by one, with the shape (y, z, x).
OUTPUT.md describes the files.";

const OTHER: &str = "Instead of arrays of voxels";

#[derive(Clone, Copy, clap::ValueEnum)]
enum LookArgument {
    /// A colour for each value; distances by their sign and size
    Palette,
    /// Grey from the smallest value to the largest
    Scale,
}

/// Arguments of `export`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The save; it is only read
    source: PathBuf,
    /// Where it goes: a directory, or a file for --slice and --table; nothing of that name may exist
    #[arg(long, value_name = "DST")]
    out: PathBuf,
    /// A plane as a PNG, such as y=12, in voxels of the LOD; of --channel, TYPE when not given
    #[arg(long, value_name = "AXIS=N", value_parser = parse_slice, help_heading = OTHER)]
    slice: Option<(usize, i64)>,
    /// What a slice looks like
    #[arg(long, value_name = "LOOK", default_value = "palette", requires = "slice", help_heading = OTHER)]
    look: LookArgument,
    /// A table of all blocks: DST ends in .csv, .jsonl or .sqlite
    #[arg(long, conflicts_with_all = ["slice", "block", "area", "channel", "layer", "lost"], help_heading = OTHER)]
    table: bool,
    /// A layer of a voxel map, by name or number, with its depths
    #[arg(long, value_name = "NAME", conflicts_with_all = ["block", "channel", "lost", "instances"], help_heading = OTHER)]
    layer: Option<String>,
    /// Instances of an SQLite stream, of --lod or of all LODs: DST ends in .csv or .jsonl
    #[arg(long, conflicts_with_all = ["table", "slice", "block", "area", "channel", "lost"], help_heading = OTHER)]
    instances: bool,
    /// Blocks without an owner: those in the lost+found of a repaired save, or those that a damaged save still has
    #[arg(long, conflicts_with_all = ["slice", "block", "area", "channel"], help_heading = OTHER)]
    lost: bool,
    /// One block, by its position in blocks of its LOD; of pak regions one chunk
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_triple, allow_hyphen_values = true)]
    block: Option<[i32; 3]>,
    /// Voxels of the LOD from the first corner up to, not including, the second; all that is there when not given
    #[arg(long = "box", value_name = "X,Y,Z..X,Y,Z", value_parser = parse_box, allow_hyphen_values = true)]
    #[arg(conflicts_with = "block")]
    area: Option<Area>,
    /// The LOD; 0 when not given
    #[arg(long, value_name = "N")]
    lod: Option<u8>,
    /// A channel by name or number; several may be given. Without one, those that are not the same everywhere
    #[arg(long, value_name = "NAME", value_parser = parse_channel)]
    channel: Vec<usize>,
    /// The value of voxels without a block
    #[arg(long, value_name = "N", default_value_t = 0)]
    fill: u64,
    /// The SDF as distances in 32-bit floats instead of its raw values
    #[arg(long)]
    distances: bool,
    /// Does not wait until the arrays are on the disk: faster, and a power cut can leave zeros in them
    #[arg(long)]
    no_sync: bool,
    #[command(flatten)]
    options: target::Options,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let save = arguments.options.open(&arguments.source)?;
    let cancel = cancelled_by_signals();
    let bar = progress_bar("exporting");
    let progress = |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    };
    let watch = Watch { cancel: Some(&cancel), progress: Some(&progress) };
    let paks_alone = save.forests.is_empty() && save.streams.is_empty() && !save.rooms.is_empty();
    let done = if arguments.table {
        table(arguments, &save, &watch)
    } else if let (Some(name), Some((axis, at))) = (&arguments.layer, arguments.slice) {
        let picture = export::slice_of_layer(&save, name, &slice(arguments, axis, at), &arguments.out, &watch);
        picture.map(|picture| (picture_words(arguments, picture, name), Exit::CLEAN))
    } else if arguments.layer.is_some() && arguments.area.is_some() {
        Err(Error::Request("a layer is exported whole: --box goes with --slice".to_owned()))
    } else if let Some(name) = &arguments.layer {
        layer(arguments, &save, name, &watch)
    } else if arguments.lost {
        lost(arguments, &save, &watch)
    } else if let (Some((axis, at)), true) = (arguments.slice, paks_alone) {
        let picture = export::slice_of_chunks(&save, &slice(arguments, axis, at), &arguments.out, &watch);
        picture.map(|picture| (picture_words(arguments, picture, "voxels"), Exit::CLEAN))
    } else if paks_alone && !arguments.instances {
        chunks(arguments, &save, &watch)
    } else {
        let world = World::only(&save).map_err(|error| nothing(&save, &error))?;
        match arguments.slice {
            _ if arguments.instances => instances(arguments, &world, &watch),
            Some((axis, at)) => picture(arguments, &world, axis, at, &watch),
            None => arrays(arguments, &world, &watch),
        }
    };
    bar.finish_and_clear();
    match done {
        Err(Error::Beside(beside::Error::Interrupted)) => Ok(Exit::INTERRUPTED),
        Err(error @ Error::Beside(beside::Error::Destination { .. })) => Err(Failure::Usage(error.to_string())),
        Err(error) => Err(Failure::Failed(error.to_string())),
        Ok((line, exit)) => {
            let mut out = stdout();
            let to = printable::path(&arguments.out);
            writeln!(out, "{}", wrapped(&format!("{BOLD}{to}{BOLD:#}: {line}"), "  "))?;
            out.flush()?;
            Ok(exit)
        }
    }
}

/// Why there are no blocks to export, and what there is instead.
fn nothing(save: &Save, error: &world::Error) -> Failure {
    let names: Vec<&str> =
        save.maps.iter().flat_map(|map| map.layers()).filter_map(|layer| layer.name.as_deref()).collect();
    let help = match (error, names.as_slice()) {
        (world::Error::Nothing(_), [_, ..]) => {
            format!("; a voxel map is exported layer by layer, by --layer: {}", printable::printable(&names.join(", ")))
        }
        (world::Error::Nothing(_), []) if !save.rooms.is_empty() => {
            "; chunks of pak regions are exported as arrays only".to_owned()
        }
        _ => String::new(),
    };
    Failure::Failed(format!("{error}{help}"))
}

/// What was done, in words, and the exit code.
type Done = Result<(String, Exit), Error>;

fn table(arguments: &Arguments, save: &Save, watch: &Watch<'_>) -> Done {
    let (rows, faults) = export::table(save, &arguments.out, watch)?;
    tell(&faults);
    Ok((count(rows, "block"), Exit::FAILED.when(!faults.is_empty())))
}

fn layer(arguments: &Arguments, save: &Save, name: &str, watch: &Watch<'_>) -> Done {
    let [x, y, z] = export::layer(save, name, &arguments.out, watch)?;
    Ok((format!("{x} x {y} x {z} cells of {}", printable::printable(name)), Exit::CLEAN))
}

fn lost(arguments: &Arguments, save: &Save, watch: &Watch<'_>) -> Done {
    let found = export::lost::lost(save, &arguments.out, watch)?;
    let (blocks, arrays) = (count(found.blocks, "block"), count(found.arrays, "array"));
    Ok((format!("{blocks} without an owner, {} whole · {arrays}", found.whole), Exit::CLEAN))
}

fn picture(arguments: &Arguments, world: &World<'_>, axis: usize, at: i64, watch: &Watch<'_>) -> Done {
    let slice = slice(arguments, axis, at);
    let picture = export::slice(world, &slice, &arguments.out, watch)?;
    Ok((picture_words(arguments, picture, NAMES.get(slice.channel).unwrap_or(&"")), Exit::CLEAN))
}

fn slice(arguments: &Arguments, axis: usize, at: i64) -> Slice {
    let look = match arguments.look {
        LookArgument::Palette => Look::Palette,
        LookArgument::Scale => Look::Scale,
    };
    let channel = arguments.channel.first().copied().unwrap_or(0);
    Slice { lod: arguments.lod.unwrap_or(0), axis, at, which: which(arguments), channel, look }
}

fn picture_words(arguments: &Arguments, picture: Picture, what: &str) -> String {
    let [width, height] = picture.size;
    let scale = match (picture.range, arguments.look) {
        (Some([low, high]), LookArgument::Scale) => format!(" · black is {low}, white is {high}"),
        _ => String::new(),
    };
    format!("{width} x {height} pixels of {}{scale}", printable::printable(what))
}

fn arrays(arguments: &Arguments, world: &World<'_>, watch: &Watch<'_>) -> Done {
    let request = Request {
        lod: arguments.lod.unwrap_or(0),
        which: which(arguments),
        channels: arguments.channel.clone(),
        fill: arguments.fill,
        distances: arguments.distances,
        sync: !arguments.no_sync,
    };
    let summary = voxels::export(world, &request, &arguments.out, watch)?;
    tell(&summary.faults);
    tell_damaged(&summary.damaged, "; export.json lists them");
    let exit = Exit::DAMAGED.when(!summary.damaged.is_empty()).and(Exit::FAILED.when(!summary.faults.is_empty()));
    Ok((words(&summary), exit))
}

fn instances(arguments: &Arguments, world: &World<'_>, watch: &Watch<'_>) -> Done {
    let summary = export::instances(world, arguments.lod, &arguments.out, watch)?;
    tell_damaged(&summary.damaged, "");
    let line = format!("{} in {}", count(summary.instances, "instance"), count(summary.blocks, "block"));
    Ok((line, Exit::DAMAGED.when(!summary.damaged.is_empty())))
}

fn chunks(arguments: &Arguments, save: &Save, watch: &Watch<'_>) -> Done {
    if arguments.area.is_some() || !arguments.channel.is_empty() || arguments.distances || arguments.lod.is_some() {
        let why = "chunks of pak regions have no LODs and channels, and are exported one by one: --block X,Y,Z, or all";
        return Err(Error::Request(why.to_owned()));
    }
    let summary = export::chunks(save, arguments.block, &arguments.out, watch)?;
    tell(&summary.faults);
    let not_whole = match summary.damaged {
        0 => String::new(),
        n => format!(", {n} of them not whole"),
    };
    let line = format!("{}{not_whole} · {}", count(summary.chunks, "chunk"), count(summary.arrays, "array"));
    let exit = Exit::DAMAGED.when(summary.damaged > 0).and(Exit::FAILED.when(!summary.faults.is_empty()));
    Ok((line, exit))
}

fn which(arguments: &Arguments) -> Which {
    match (arguments.block, arguments.area) {
        (Some(block), _) => Which::Block(block),
        (None, Some(area)) => Which::Box(area),
        (None, None) => Which::All,
    }
}

fn tell_damaged(damaged: &[Odd], where_all_are: &str) {
    for odd in damaged.iter().take(8) {
        anstream::eprintln!("voxscope: block {}: {}", printable::triple(odd.block), odd.why);
    }
    if damaged.len() > 8 {
        anstream::eprintln!("voxscope: and {} more{where_all_are}", damaged.len() - 8);
    }
}

fn tell(faults: &[Fault]) {
    for fault in faults {
        anstream::eprintln!("voxscope: {}: {}", fault.file, fault.why);
    }
}

/// A bar on standard error, when that is a terminal.
pub fn progress_bar(what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(&format!("{what} {{bar:30}} {{percent}} %, {{eta}} left"));
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn words(summary: &Summary) -> String {
    let files: Vec<&str> = summary.arrays.iter().filter_map(|array| array.file.as_deref()).collect();
    let holes = match summary.holes {
        0 => String::new(),
        n => format!(", {} without a block", count(n, "place")),
    };
    let [x, y, z] = [0, 1, 2].map(|i| summary.area[1][i] - summary.area[0][i]);
    let files = if files.is_empty() { "every channel has one value".to_owned() } else { files.join(", ") };
    format!("{x} x {y} x {z} voxels · {}{holes} · {files}", count(summary.blocks, "block"))
}

/// `AXIS=N`.
fn parse_slice(text: &str) -> Result<(usize, i64), String> {
    let parts = text.split_once('=').and_then(|(axis, at)| {
        let axis = ["x", "y", "z"].iter().position(|name| name.eq_ignore_ascii_case(axis.trim()))?;
        Some((axis, at.trim().parse().ok()?))
    });
    parts.ok_or_else(|| "an axis and a place on it are needed, such as y=12".to_owned())
}

/// `X,Y,Z..X,Y,Z`.
fn parse_box(text: &str) -> Result<Area, String> {
    let corner = |text: &str| {
        let numbers: Option<Vec<i64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
        numbers.and_then(|numbers| <[i64; 3]>::try_from(numbers).ok())
    };
    let corners = text.split_once("..").and_then(|(from, to)| Some([corner(from)?, corner(to)?]));
    corners.ok_or_else(|| "two corners with .. between them are needed, such as -16,0,-16..16,32,16".to_owned())
}

/// A channel by its name or number.
pub fn parse_channel(text: &str) -> Result<usize, String> {
    let by_name = NAMES.iter().position(|name| name.eq_ignore_ascii_case(text));
    let found = by_name.or_else(|| text.parse().ok().filter(|&n| n < CHANNELS));
    found.ok_or_else(|| format!("a channel is one of {}, or its number", NAMES.join(", ")))
}
