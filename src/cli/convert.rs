//! `convert`: a save in another form, built beside it.

use std::io::Write;
use std::path::{Path, PathBuf};

use voxscope::beside;
use voxscope::convert::{self, Error, Kind, Options, Report, Target};
use voxscope::godot::container::Mode;
use voxscope::godot::stream::loc::Format;
use voxscope::printable::{self, triple};
use voxscope::world::World;

use super::check::cancelled_by_signals;
use super::exit::{Exit, Failure};
use super::export::progress_bar;
use super::output::{BOLD, GOOD, count, grouped, stdout, wrapped};
use super::target;

/// Arguments of `convert`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The save; it is only read
    source: PathBuf,
    /// Where the result goes; nothing of that name may exist
    #[arg(long, value_name = "DST")]
    out: PathBuf,
    /// What to write; an SQLite stream when DST ends in .sqlite, .sqlite3, .db or .db3, a forest otherwise
    #[arg(long, value_name = "FORM")]
    to: Option<Form>,
    /// How a stream writes positions: 0 and 1 numbers, 2 texts, 3 blobs; as the save does, or 1, when not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=3))]
    coordinates: Option<u8>,
    /// Voxels along each axis of a block; those of the save when not given
    #[arg(long, value_name = "N")]
    block_size: Option<u16>,
    /// Blocks along each axis of a region
    #[arg(long, value_name = "N")]
    region_size: Option<u16>,
    /// Bytes of a sector; larger ones are taken by themselves when a block needs them
    #[arg(long, value_name = "BYTES")]
    sector_size: Option<u16>,
    /// How blocks are packed
    #[arg(long, value_name = "MODE", default_value = "lz4")]
    container: Container,
    /// Threads; as many as there are cores when not given
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    from: target::Source,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Form {
    /// A directory with meta.vxrm and region files
    Forest,
    /// An SQLite stream
    Sqlite,
}

impl Form {
    fn of_name(path: &Path) -> Self {
        let ending = path.extension().unwrap_or_default();
        let is = ["sqlite", "sqlite3", "db", "db3"].iter().any(|name| ending.eq_ignore_ascii_case(name));
        if is { Self::Sqlite } else { Self::Forest }
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Container {
    /// Not packed
    Plain,
    /// What the engine writes by default
    Lz4,
    /// Smaller, and read by the engine of today only
    Zstd,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let save = arguments.from.open(&arguments.source)?;
    let world = World::only(&save).map_err(|error| Failure::Failed(error.to_string()))?;
    let wanted = Target {
        block_size: arguments.block_size,
        region_size: arguments.region_size,
        sector_size: arguments.sector_size,
        mode: match arguments.container {
            Container::Plain => Mode::Plain,
            Container::Lz4 => Mode::Lz4,
            Container::Zstd => Mode::Zstd,
        },
        keys: arguments.coordinates.and_then(|code| Format::from_code(code.into())),
    };
    let form = arguments.to.unwrap_or_else(|| Form::of_name(&arguments.out));
    if form == Form::Forest && arguments.coordinates.is_some() {
        return Err(Failure::Usage("--coordinates is for streams: see --to".to_owned()));
    }
    if form == Form::Sqlite && (arguments.region_size.is_some() || arguments.sector_size.is_some()) {
        return Err(Failure::Usage("--region-size and --sector-size are for forests: see --to".to_owned()));
    }
    let cancel = cancelled_by_signals();
    let bar = progress_bar("converting");
    let progress = |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    };
    let options = Options { cancel: Some(&cancel), progress: Some(&progress) };
    let pool = target::pool(arguments.jobs)?;
    let done = pool.install(|| write(form, &world, &wanted, &arguments.out, &options));
    bar.finish_and_clear();
    let report = match done {
        Ok(report) => report,
        Err(Error::Beside(beside::Error::Interrupted)) => return Ok(Exit::INTERRUPTED),
        Err(error @ (Error::Beside(beside::Error::Destination { .. }) | Error::Request(_))) => {
            return Err(Failure::Usage(error.to_string()));
        }
        Err(error) => return Err(Failure::Failed(error.to_string())),
    };
    say(arguments, &report)?;
    Ok(Exit::DAMAGED.when(report.leaves_damage()).and(Exit::FAILED.when(!report.faults.is_empty())))
}

fn write(form: Form, world: &World<'_>, wanted: &Target, to: &Path, options: &Options<'_>) -> Result<Report, Error> {
    match form {
        Form::Forest => convert::to_forest(world, wanted, to, options),
        #[cfg(feature = "sqlite")]
        Form::Sqlite => convert::to_stream(world, wanted, to, options),
        #[cfg(not(feature = "sqlite"))]
        Form::Sqlite => Err(Error::Request("this build cannot write SQLite streams".to_owned())),
    }
}

/// Things of a kind that are listed on the terminal; convert.json has all.
const MOST: usize = 4;

fn say(arguments: &Arguments, report: &Report) -> Result<(), Failure> {
    let mut out = stdout();
    for fault in &report.faults {
        anstream::eprintln!("voxscope: {}: {}", fault.file, fault.why);
    }
    for (kind, what) in [
        (Kind::Damaged, "cannot be read and is left out"),
        (Kind::TooLarge, "does not fit and is left out"),
        (Kind::StaleRow, "is left out"),
        (Kind::Filled, "is filled"),
        (Kind::Metadata, "has metadata without a place, kept in convert.json"),
        (Kind::Apart, "has other metadata in the place of what was apart, kept in convert.json"),
        (Kind::Palette, "has a palette without a place, kept in convert.json"),
        (Kind::NoEqual, "has metadata without an equal, now empty"),
        (Kind::Instances, "leaves its instances behind"),
        (Kind::DamagedInstances, "has damaged instances, taken over as they are"),
        (Kind::Depth, "has another depth"),
    ] {
        for listed in report.listed.iter().filter(|listed| listed.kind == kind).take(MOST) {
            let of = if kind == Kind::Palette { "region" } else { "block" };
            let line = format!("{of} {} of LOD {} {what}: {}", triple(listed.block), listed.lod, listed.why);
            writeln!(out, "{}", wrapped(&line, "  "))?;
        }
        let more = report.count(kind).saturating_sub(MOST as u64);
        if more > 0 {
            writeln!(out, "  and {} more; convert.json lists them.", grouped(more))?;
        }
    }
    if report.twice > 0 {
        let what = "left out because another one has the same position";
        writeln!(out, "{}", wrapped(&format!("{} {what}.", count(report.twice, "block")), "  "))?;
    }
    if report.cut > 0 {
        let what = "had a distance a step above 1, where the fixed point of today ends; it is 1 now";
        let blocks = count(report.count(Kind::Cut), "block");
        let line = format!("{} of {blocks} {what}. convert.json lists the blocks.", count(report.cut, "voxel"));
        writeln!(out, "{}", wrapped(&line, "  "))?;
    }
    if let Some(slots) = &report.slots {
        writeln!(out, "{}", wrapped(&format!("Blocks of negative coordinates are {slots}."), "  "))?;
    }
    if report.put_back + report.emptied > 0 {
        let [items, blocks] = [count(report.put_back, "item"), count(report.emptied, "filled block")];
        let line = format!("The convert.json of the source puts back {items} of metadata and leaves out {blocks}.");
        writeln!(out, "{}", wrapped(&line, "  "))?;
    }
    let changed = [
        (report.sdf, "distances rescaled in"),
        (report.godot3, "metadata of Godot 3 in"),
        (report.copied, "taken over as they were:"),
    ];
    let changed: String =
        changed.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!(" · {what} {}", count(*n, "block"))).collect();
    let line = format!(
        "{BOLD}{}{BOLD:#}: {GOOD}read back and compared{GOOD:#} · {} of {}{changed}",
        printable::path(&arguments.out),
        count(report.written, "block"),
        grouped(report.read),
    );
    writeln!(out, "{}", wrapped(&line, "  "))?;
    out.flush()?;
    Ok(())
}
