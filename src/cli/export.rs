//! `export`: voxels, metadata and tables of a save as files for other programs.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use voxscope::beside;
use voxscope::export::voxels::{self, Area, Error, Options, Request, Summary, Which};
use voxscope::godot::channel::{CHANNELS, NAMES};
use voxscope::printable;
use voxscope::world::World;

use super::check::cancelled_by_signals;
use super::exit::{Exit, Failure};
use super::output::{BOLD, count, stdout, wrapped};
use super::target::{self, parse_triple};

const AFTER_HELP: &str = "\
Arrays have the shape (z, x, y) in C order. Voxels without a block have the value of --fill.
OUTPUT.md describes the files.";

/// Arguments of `export`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The save; it is only read
    source: PathBuf,
    /// Where the files go: a directory that does not exist yet
    #[arg(long, value_name = "DST")]
    out: PathBuf,
    /// One block, by its position in blocks of its LOD
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_triple, allow_hyphen_values = true)]
    block: Option<[i32; 3]>,
    /// Voxels of the LOD from the first corner up to, not including, the second; all that is there when not given
    #[arg(long = "box", value_name = "X,Y,Z..X,Y,Z", value_parser = parse_box, allow_hyphen_values = true)]
    #[arg(conflicts_with = "block")]
    area: Option<Area>,
    /// The LOD
    #[arg(long, value_name = "N", default_value_t = 0)]
    lod: u8,
    /// A channel by name or number; several may be given. Without one, those that are not the same everywhere
    #[arg(long, value_name = "NAME", value_parser = parse_channel)]
    channel: Vec<usize>,
    /// The value of voxels without a block
    #[arg(long, value_name = "N", default_value_t = 0)]
    fill: u64,
    /// The SDF as distances in 32-bit floats instead of its raw values
    #[arg(long)]
    distances: bool,
    #[command(flatten)]
    options: target::Options,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let save = arguments.options.open(&arguments.source)?;
    let world = World::only(&save).map_err(|error| Failure::Failed(error.to_string()))?;
    let which = match (arguments.block, arguments.area) {
        (Some(block), _) => Which::Block(block),
        (None, Some(area)) => Which::Box(area),
        (None, None) => Which::All,
    };
    let request = Request {
        lod: arguments.lod,
        which,
        channels: arguments.channel.clone(),
        fill: arguments.fill,
        distances: arguments.distances,
    };
    let cancel = cancelled_by_signals();
    let bar = progress_bar("exporting");
    let progress = |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    };
    let options = Options { cancel: Some(&cancel), progress: Some(&progress) };
    let summary = voxels::export(&world, &request, &arguments.out, &options);
    bar.finish_and_clear();
    let summary = match summary {
        Ok(summary) => summary,
        Err(Error::Beside(beside::Error::Interrupted)) => return Ok(Exit::INTERRUPTED),
        Err(error @ Error::Beside(beside::Error::Destination { .. })) => return Err(Failure::Usage(error.to_string())),
        Err(error) => return Err(Failure::Failed(error.to_string())),
    };
    say(arguments, &summary)?;
    Ok(Exit::DAMAGED.when(!summary.damaged.is_empty()).and(Exit::FAILED.when(!summary.faults.is_empty())))
}

/// A bar on standard error, when that is a terminal.
pub fn progress_bar(what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(&format!("{what} {{bar:30}} {{percent}} %, {{eta}} left"));
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn say(arguments: &Arguments, summary: &Summary) -> Result<(), Failure> {
    let mut out = stdout();
    for fault in &summary.faults {
        anstream::eprintln!("voxscope: {}: {}", fault.file, fault.why);
    }
    for odd in summary.damaged.iter().take(8) {
        writeln!(out, "{}", wrapped(&format!("block {}: {}", printable::triple(odd.block), odd.why), "  "))?;
    }
    if summary.damaged.len() > 8 {
        writeln!(out, "and {} more; export.json lists them.", summary.damaged.len() - 8)?;
    }
    let files: Vec<&str> = summary.arrays.iter().filter_map(|array| array.file.as_deref()).collect();
    let holes = match summary.holes {
        0 => String::new(),
        n => format!(", {} without a block", count(n, "place")),
    };
    let [x, y, z] = [0, 1, 2].map(|i| summary.area[1][i] - summary.area[0][i]);
    let line = format!(
        "{BOLD}{}{BOLD:#}: {x} x {y} x {z} voxels · {}{holes} · {}",
        printable::path(&arguments.out),
        count(summary.blocks, "block"),
        if files.is_empty() { "every channel has one value".to_owned() } else { files.join(", ") },
    );
    writeln!(out, "{}", wrapped(&line, "  "))?;
    out.flush()?;
    Ok(())
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
