//! `convert`: a save in another form, built beside it.

use std::io::Write;
use std::path::{Path, PathBuf};

use voxscope::check::SaveArguments;
use voxscope::convert::{self, Error, Kind, Listed, Report, ResultForm, Target, VoxelChange};
use voxscope::damage::Code;
use voxscope::draft;
use voxscope::godot::channel::{Depth, NAMES};
use voxscope::godot::container::Mode;
use voxscope::godot::stream::loc::Format;
use voxscope::printable::{self, triple};
use voxscope::save::{Fault, ForestLayout, Save};
use voxscope::watch::Watch;
use voxscope::world::World;

use super::exit::{Exit, Failure};
use super::output::{
    BOLD, GOOD, after_report, complain, complain_of_file, complain_of_file_once, complain_of_others,
    complain_of_unread, complain_of_unreadable, count, grouped, of_several, stdout, warn_of_corrected,
    warn_of_misplaced, warn_of_twice, wrapped,
};
use super::pool;
use super::progress::{Bar, cancelled_by_signals};
use super::target;

const AFTER_HELP: &str = "\
Examples:
  voxscope convert old-world --out world    write a region forest of the current version
  voxscope convert world --out world.sqlite --block-size 32";

/// Arguments of `convert`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The save, which is only read
    source: PathBuf,
    /// Write the result here; the path must not exist yet. A directory of several saves becomes a directory
    #[arg(long, value_name = "DST")]
    out: PathBuf,
    /// Kind of save to write [default: an SQLite stream if DST ends in .sqlite, .sqlite3, .db or .db3, otherwise a forest]
    #[arg(long, value_name = "FORM")]
    to: Option<Form>,
    /// Key format of a stream: 0 and 1 integers, 2 texts, 3 blobs [default: that of the save, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=3))]
    coordinates: Option<u8>,
    /// Voxels along each axis of a block [default: as in the save]
    #[arg(long, value_name = "N")]
    block_size: Option<u16>,
    /// Blocks along each axis of a region
    #[arg(long, value_name = "N")]
    region_size: Option<u16>,
    /// Bytes per sector; chosen larger if a block needs it
    #[arg(long, value_name = "BYTES")]
    sector_size: Option<u16>,
    /// Where a forest has its region files
    #[arg(long, value_name = "LAYOUT", default_value = "engine")]
    layout: Layout,
    /// Bits per value of channels that get another depth, such as INDICES=8,SDF=32
    #[arg(long, value_name = "CHANNEL=BITS", value_delimiter = ',', value_parser = parse_depth)]
    depth: Vec<(usize, Depth)>,
    /// Write textures in another form: the one of the largest weight, for the texturing mode Single
    #[arg(long, value_name = "MODE")]
    textures: Option<TexturesArgument>,
    /// Compression of blocks
    #[arg(long, value_name = "MODE", default_value = "lz4")]
    container: Container,
    /// Write the result even if it has more than 4 GiB
    #[arg(long)]
    yes: bool,
    /// Number of threads [default: one per core]
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
        if voxscope::sqlite::is_named(path) { Self::Sqlite } else { Self::Forest }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum TexturesArgument {
    /// One texture a voxel: 8 bits in INDICES
    Single,
}

/// `CHANNEL=BITS`.
fn parse_depth(text: &str) -> Result<(usize, Depth), String> {
    let Some((name, bits)) = text.split_once('=') else {
        return Err(
            "name the channel, such as INDICES=8 (the depths of region files that do not store them are --from-depths here, and --depths in other commands)"
                .to_owned(),
        );
    };
    let channel = NAMES.iter().position(|other| other.eq_ignore_ascii_case(name.trim()));
    let channel = channel.ok_or_else(|| format!("there is no such channel; the channels are {}", NAMES.join(", ")))?;
    let depth = Depth::ALL.into_iter().find(|depth| depth.bits().to_string() == bits.trim());
    Ok((channel, depth.ok_or("the bits must be 8, 16, 32 or 64")?))
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Layout {
    /// regions/lodN/r.X.Y.Z.vxr
    Engine,
    /// lodN/r.X.Y.Z.vxr and SDF of 32 bits, for the Rust port of Godot Voxel
    Port,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Container {
    /// No compression
    Plain,
    /// What the engine writes by default
    Lz4,
    /// Smaller, but only current engines can read it
    Zstd,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let save = arguments.from.open(&arguments.source)?;
    let several = save.forests.len() + save.streams.len() > 1;
    let only = || {
        // It may be in what was not read.
        World::only(&save).inspect_err(|_| {
            complain_of_unread(&save);
        })
    };
    let world = if several { None } else { Some(only()?) };
    let left_out = complain_of_others(&save, "only saves of Godot Voxel are converted");
    let unreadable = if several { World::all_readable(&save).1 } else { Vec::new() };
    let left_out = left_out.and(complain_of_unreadable(&unreadable));
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
        layout: match arguments.layout {
            Layout::Engine => ForestLayout::Engine,
            Layout::Port => ForestLayout::Port,
        },
        change: change(arguments)?,
        large: arguments.yes,
    };
    let form = arguments.to.unwrap_or_else(|| Form::of_name(&arguments.out));
    if form == Form::Forest && arguments.coordinates.is_some() {
        return Err(Failure::Usage("--coordinates applies to streams only: see --to".to_owned()));
    }
    if form == Form::Sqlite && arguments.layout == Layout::Port {
        return Err(Failure::Usage("--layout applies to forests only: see --to".to_owned()));
    }
    if form == Form::Sqlite && (arguments.region_size.is_some() || arguments.sector_size.is_some()) {
        return Err(Failure::Usage("--region-size and --sector-size apply to forests only: see --to".to_owned()));
    }
    let cancel = cancelled_by_signals();
    let bar = Bar::new();
    let progress = |progress| bar.show(progress);
    let watch = Watch::default().cancel(&cancel).progress(&progress);
    let pool = pool::start(arguments.jobs)?;
    let done = pool.install(|| match &world {
        None => write_all(form, &save, &wanted, &arguments.out, &watch),
        Some(world) => write(form, world, &wanted, &arguments.out, &watch).map(|report| vec![(PathBuf::new(), report)]),
    });
    bar.clear();
    let reports = match done {
        Ok(reports) => reports,
        Err(Error::Beside(draft::Error::Interrupted)) => return Ok(Exit::INTERRUPTED),
        Err(error @ (Error::Beside(draft::Error::Destination { .. }) | Error::Request(_))) => {
            return Err(Failure::Usage(error.to_string()));
        }
        Err(Error::Unread(report)) => {
            warn_of_unread("", &report);
            complain_of_unread(&save);
            let path = printable::path(&arguments.source);
            return Err(Failure::Failed(format!("{path}: no block can be read, so nothing is converted")));
        }
        Err(error) => return Err(Failure::Failed(error.to_string())),
    };
    let damaged = reports.iter().any(|(_, report)| report.leaves_damage());
    let unread = reports.iter().any(|(_, report)| !report.faults.is_empty() || report.reads_nothing());
    let exit = Exit::DAMAGED.when(damaged).and(Exit::FAILED.when(unread)).and(left_out);
    let root = printable::path(&save.path);
    let printed = reports.iter().try_for_each(|(below, report)| {
        let of_all = below.as_os_str().is_empty();
        let out = if of_all { arguments.out.clone() } else { arguments.out.join(below) };
        let name = report.source().strip_prefix(&root).unwrap_or(report.source());
        let name = name.trim_start_matches(['/', '\\']);
        let name = if name.is_empty() { printable::path(below) } else { name.to_owned() };
        let of = of_several(&save, &name);
        if report.reads_nothing() {
            warn_of_unread(&of, report);
            complain(&format_args!("{of}no block can be read, so it is left out"));
            return Ok(());
        }
        print_report(&out, &of, report)
    });
    // Beside several saves, what was not read may concern none of them.
    let exit = exit.and(complain_of_unread(&save)).and(complain_of_other_lods(&save));
    let printed = printed.and_then(|()| advise_repair(&SaveArguments::new(&save).at(&arguments.source), &reports));
    Ok(after_report(&arguments.out, exit, printed))
}

/// Names the directories of LODs beside `regions`, in which the Rust port keeps region files: they are not converted.
fn complain_of_other_lods(save: &Save) -> Exit {
    let is_lod = |fault: &&Fault| fault.damage.code == Code::NameForeign && fault.damage.field == "directory of a LOD";
    let mut exit = Exit::CLEAN;
    for fault in save.faults.iter().filter(is_lod) {
        let why = "left out: a directory of a LOD beside `regions`, which is the one that is read";
        complain_of_file_once(&save.shown(&fault.path), why);
        exit = Exit::FAILED;
    }
    exit
}

/// Writes every save of a directory below `to`.
fn write_all(
    form: Form,
    save: &Save,
    wanted: &Target,
    to: &Path,
    watch: &Watch<'_>,
) -> Result<Vec<(PathBuf, Report)>, Error> {
    let form = match form {
        Form::Forest => ResultForm::Forest,
        #[cfg(feature = "sqlite")]
        Form::Sqlite => ResultForm::Stream,
        #[cfg(not(feature = "sqlite"))]
        Form::Sqlite => return Err(Error::Request("this build cannot write SQLite streams".to_owned())),
    };
    convert::to_directory(save, wanted, form, to, watch)
}

/// The channels that get another form.
fn change(arguments: &Arguments) -> Result<VoxelChange, Failure> {
    let mut change = VoxelChange { single_textures: arguments.textures.is_some(), ..VoxelChange::default() };
    for (channel, depth) in &arguments.depth {
        if let Some(of) = change.depths.get_mut(*channel)
            && of.replace(*depth).is_some_and(|before| before != *depth)
        {
            return Err(Failure::Usage("--depth has two depths for one channel".to_owned()));
        }
    }
    Ok(change)
}

fn write(form: Form, world: &World<'_>, wanted: &Target, to: &Path, watch: &Watch<'_>) -> Result<Report, Error> {
    match form {
        Form::Forest => convert::to_forest(world, wanted, to, watch),
        #[cfg(feature = "sqlite")]
        Form::Sqlite => convert::to_stream(world, wanted, to, watch),
        #[cfg(not(feature = "sqlite"))]
        Form::Sqlite => Err(Error::Request("this build cannot write SQLite streams".to_owned())),
    }
}

/// Names the command that may restore the blocks that are left out.
fn advise_repair(save: &SaveArguments, reports: &[(PathBuf, Report)]) -> Result<(), Failure> {
    if reports.iter().any(|(_, report)| report.count(Kind::Damaged) > 0) {
        let command = save.repair_command();
        let line = format!("Blocks that cannot be read are missing. {command} may restore them; convert its copy.");
        let mut out = stdout();
        writeln!(out, "{}", wrapped(&line, "  "))?;
        out.flush()?;
    }
    Ok(())
}

/// Entries of one kind that are listed on the terminal; convert.json lists all.
const MOST: usize = 4;

/// Names what cannot be read of a save that is not converted.
fn warn_of_unread(of: &str, report: &Report) {
    for fault in &report.faults {
        complain_of_file(&fault.file, &fault.why);
    }
    warn_of_misplaced(of, "block", &report.misplaced, "converted");
    warn_of_left_out(of, report, "");
}

/// Names the blocks that are not in the result; `listed` says where all of them are.
fn warn_of_left_out(of: &str, report: &Report, listed: &str) {
    for (kind, what) in [
        (Kind::Damaged, "cannot be read and is left out"),
        (Kind::TooLarge, "does not fit and is left out"),
        (Kind::StaleRow, "is left out"),
    ] {
        let (lines, more) = listed_lines(of, report, kind, what, listed);
        lines.chain(more).for_each(|line| complain(&line));
    }
    warn_of_twice(of, "block", report.twice);
}

/// Where all blocks are listed.
const IN_REPORT: &str = "; convert.json lists them";

/// A line for each of the first blocks of a kind, and one for those that are not listed; `listed` says where all of them are.
fn listed_lines(
    of: &str,
    report: &Report,
    kind: Kind,
    what: &str,
    listed: &str,
) -> (impl Iterator<Item = String>, Option<String>) {
    let part = if kind == Kind::Palette { "region" } else { "block" };
    let line = move |listed: &Listed| {
        format!(
            "{of}{part} {} of LOD {} {what}: {}",
            triple(listed.block),
            listed.lod,
            voxscope::damage::with_titles(&listed.why)
        )
    };
    let first = report.listed.iter().filter(move |listed| listed.kind == kind).take(MOST);
    let more = report.count(kind).saturating_sub(MOST as u64);
    let more = (more > 0).then(|| format!("{of}and {} more{listed}", grouped(more)));
    (first.map(line), more)
}

/// Prints what a conversion did; `of` is what the lines about one of several saves begin with.
fn print_report(to: &Path, of: &str, report: &Report) -> Result<(), Failure> {
    let mut out = stdout();
    for fault in report.faults.iter().chain(&report.damaged) {
        complain_of_file(&fault.file, &fault.why);
    }
    warn_of_corrected(&report.corrected);
    warn_of_misplaced(of, "block", &report.misplaced, "converted");
    warn_of_left_out(of, report, IN_REPORT);
    for (kind, what) in [
        (Kind::Filled, "is filled"),
        (Kind::Metadata, "has metadata that the result cannot store, kept in convert.json"),
        (
            Kind::Apart,
            "has other metadata where an item of the source's convert.json belongs; the item is kept in convert.json",
        ),
        (Kind::Palette, "has a palette that the result cannot store, kept in convert.json"),
        (Kind::NoEqual, "has metadata without an equivalent in Godot 4, now empty"),
        (Kind::PortItems, "has metadata that the engine does not read, unchanged"),
        (Kind::Instances, "has instances that the result cannot store; they are left out"),
        (Kind::Far, "has distances that the result cannot store; they end at the farthest one"),
        (Kind::DamagedInstances, "has damaged instances, copied unchanged"),
        (Kind::Depth, "has another depth"),
    ] {
        let (mut lines, more) = listed_lines(of, report, kind, what, IN_REPORT);
        lines.try_for_each(|line| writeln!(out, "{}", wrapped(&line, "  ")))?;
        if let Some(more) = more {
            writeln!(out, "  {more}.")?;
        }
    }
    if report.cut > 0 {
        let what = "had a distance one step above 1, which the current fixed point cannot store; it is now 1";
        let blocks = count(report.count(Kind::Cut), "block");
        let line = format!("{of}{} of {blocks} {what}. convert.json lists the blocks.", count(report.cut, "voxel"));
        writeln!(out, "{}", wrapped(&line, "  "))?;
    }
    for line in report.form_words() {
        writeln!(out, "{}", wrapped(&format!("{of}{line}."), "  "))?;
    }
    if let Some([(region, sector), (new_region, new_sector)]) = report.enlarged {
        let line = match new_region == region {
            true => format!("{of}Sectors have {new_sector} bytes: {sector} are too few for the table or the engine."),
            false => format!(
                "{of}Regions have {new_region} blocks along each axis and sectors {new_sector} bytes: the engine refuses {region} and {sector}."
            ),
        };
        writeln!(out, "{}", wrapped(&line, "  "))?;
    }
    if let Some(slots) = &report.slots {
        writeln!(out, "{}", wrapped(&format!("{of}Blocks of negative coordinates are {slots}."), "  "))?;
    }
    if report.put_back + report.emptied > 0 {
        let [items, blocks] = [count(report.put_back, "item"), count(report.emptied, "filled block")];
        let line = format!("{of}The convert.json of the source restores {items} of metadata and leaves out {blocks}.");
        writeln!(out, "{}", wrapped(&line, "  "))?;
    }
    let changed = [
        (report.sdf, "distances rescaled in"),
        (report.godot3, "metadata of Godot 3 in"),
        (report.copied, "copied unchanged:"),
    ];
    let changed: String =
        changed.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!(" · {what} {}", count(*n, "block"))).collect();
    let written = count(report.written, "block");
    // With blocks of another size, the numbers are not those of the same blocks.
    let blocks = match report.block_sizes() {
        Some([from, to]) => {
            format!("{written} of {to} x {to} x {to} voxels from {} of {from} x {from} x {from}", grouped(report.read))
        }
        None => format!("{written} of {}", grouped(report.read)),
    };
    let line =
        format!("{BOLD}{}{BOLD:#}: {GOOD}read back and compared{GOOD:#} · {blocks}{changed}", printable::path(to));
    writeln!(out, "{}", wrapped(&line, "  "))?;
    out.flush()?;
    Ok(())
}
