//! `diff`: what differs between two saves.

mod paks;
mod print;

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use voxscope::check::Misplaced;
use voxscope::diff::{self, Change, Options, Side, Summary};
use voxscope::save::Save;
use voxscope::watch::Watch;
use voxscope::world::{self, World};

use crate::cli::Color;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{BOLD, complain, stdout, warn_of_misplaced, warn_of_twice};
use crate::cli::pool;
use crate::cli::progress::{Bar, cancelled_by_signals};
use crate::cli::scope::Scope;
use crate::cli::target;
use print::{Objects, Printer};

const AFTER_HELP: &str = "\
Examples:
  voxscope diff before after
  voxscope diff before after --lod 0 --format jsonl

Exit codes are those of diff(1): 0 the saves are equal, 1 they differ, 2 something could not be compared.
8 means that the output cannot be written.";

/// Arguments of `diff`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The first save
    a: PathBuf,
    /// The second save
    b: PathBuf,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    #[command(flatten)]
    scope: Scope,
    /// List the changed voxels of a block if there are at most this many
    #[arg(long, value_name = "N", default_value_t = 8)]
    list: u16,
    /// Number of threads [default: one per core]
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    /// Show what differs in the explorer: a map of the blocks, and each block in both saves
    #[cfg(feature = "tui")]
    #[arg(long)]
    tui: bool,
    #[cfg(feature = "tui")]
    #[command(flatten)]
    look: crate::cli::explore::ThemeArgs,
    #[command(flatten)]
    options: target::Options,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    /// Columns for people
    #[value(aliases = ["human", "table"])]
    Text,
    /// One JSON array of the objects of jsonl
    Json,
    /// One JSON object per line; the last line is the summary
    Jsonl,
}

pub fn run(arguments: &Arguments, color: Color) -> Result<Exit, Failure> {
    #[cfg(feature = "tui")]
    if arguments.tui {
        let Arguments { a, b, scope, options, look, .. } = arguments;
        return crate::cli::explore::two(a, b, options, scope, look, color);
    }
    let _ = color;
    match compare(arguments) {
        Err(Failure::Failed(text)) => Err(Failure::Trouble(text)),
        other => other,
    }
}

fn compare(arguments: &Arguments) -> Result<Exit, Failure> {
    let first = arguments.options.open_as_placed(&arguments.a)?;
    let second = arguments.scope.second(&arguments.options).open_as_placed(&arguments.b)?;
    if paks::is_of_paks(&first) && paks::is_of_paks(&second) {
        return paks::compare(arguments, &first, &second);
    }
    if [&first, &second].iter().all(|save| save.forests.len() + save.streams.len() > 1) {
        let [(all_a, lost_a), (all_b, lost_b)] = [&first, &second].map(World::all_readable);
        for (side, error) in lost_a.iter().map(|e| (Side::A, e)).chain(lost_b.iter().map(|e| (Side::B, e))) {
            complain(&format_args!("{}: {error}", side.name()));
        }
        let any_lost = !lost_a.is_empty() || !lost_b.is_empty();
        // What is lost on one side is not called missing there.
        let [lost_a, lost_b] = [&lost_a, &lost_b].map(|errors| names_of_lost(errors));
        let partners = Partners::find([&all_a, &all_b]);
        // A world that only one of them has is not compared.
        let [of_a, of_b] = [(&all_a, &partners.of[0]), (&all_b, &partners.of[1])].map(|(all, others)| {
            let in_both = all.iter().zip(others).filter(|(_, other)| other.is_some());
            in_both.map(|(world, _)| world).collect::<Vec<_>>()
        });
        let left_out =
            complain_of_left_out(Side::A, &first, &of_a, false) | complain_of_left_out(Side::B, &second, &of_b, false);
        let exit = compare_all(arguments, &partners, (&all_a, &lost_a), (&all_b, &lost_b))?;
        return Ok(with_left_out(exit, left_out || any_lost));
    }
    let only = |side: Side, save| {
        World::only(save).map_err(|error| {
            // It may be in what was not read.
            complain_of_left_out(side, save, &[], false);
            match Failure::from(error) {
                Failure::Failed(why) => Failure::Failed(format!("{}: {why}", side.name())),
                other => other,
            }
        })
    };
    let (a, b) = (only(Side::A, &first), only(Side::B, &second));
    let (a, b) = (a?, b?);
    let left_out = [(Side::A, &first, &a), (Side::B, &second, &b)]
        .map(|(side, save, world)| complain_of_left_out(side, save, &[world], false));
    let mut objects = Objects::new(arguments.format);
    let exit = compare_worlds(arguments, &mut objects, &a, &b, None)?;
    finish(&objects)?;
    Ok(with_left_out(exit, left_out.contains(&true)))
}

/// Says what of a save is not compared: voxel maps, pak regions if these are not what is compared, and what was not read and is in
/// none of the worlds. Returns whether there is something.
fn complain_of_left_out(side: Side, save: &Save, worlds: &[&World<'_>], has_paks: bool) -> bool {
    let paks = save.pak_dirs.iter().map(|dir| &dir.dir).filter(|_| !has_paks);
    let others = paks.chain(save.maps.iter().map(|map| &map.dir));
    let why = || match has_paks {
        true => "voxel maps are not compared".to_owned(),
        false => "pak regions are compared with pak regions only, and voxel maps not at all".to_owned(),
    };
    let others = others.map(|path| (save.shown(path), why()));
    let told: HashSet<String> = worlds.iter().flat_map(|world| world.unread()).map(|fault| fault.file).collect();
    let unread = save.unread().map(|fault| (save.shown(&fault.path), fault.why()));
    let all: Vec<_> = others.chain(unread.filter(|(file, _)| !told.contains(file))).collect();
    for (file, why) in &all {
        complain(&format_args!("{}: {file}: {why}", side.name()));
    }
    !all.is_empty()
}

/// The names of the saves that cannot be read.
fn names_of_lost(errors: &[world::Error]) -> HashSet<String> {
    let name = |error: &world::Error| match error {
        world::Error::Read(name, _) => Some(name.clone()),
        _ => None,
    };
    errors.iter().filter_map(name).collect()
}

/// The exit code of two comparisons: what could not be compared outweighs what differs.
fn worst(one: Exit, other: Exit) -> Exit {
    if [one, other].contains(&Exit::TROUBLE) { Exit::TROUBLE } else { one.and(other) }
}

/// The exit code when something was not compared.
fn with_left_out(exit: Exit, left_out: bool) -> Exit {
    if left_out && exit != Exit::INTERRUPTED { Exit::TROUBLE } else { exit }
}

/// Ends the output.
fn finish(objects: &Objects) -> Result<(), Failure> {
    let mut out = stdout();
    objects.end(&mut out)?;
    Ok(out.flush()?)
}

/// Which worlds of two directories are compared: those of the same path below their directories, and, if neither has such a
/// partner, a stream and a forest of the same path but for the ending of the stream, as `convert` names its results.
struct Partners {
    /// For each world of the first directory, the number of its partner in the second, and the reverse.
    of: [Vec<Option<usize>>; 2],
}

impl Partners {
    fn find(all: [&[World<'_>]; 2]) -> Self {
        let mut of = all.map(|worlds| vec![None; worlds.len()]);
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        for (b, world) in all[1].iter().enumerate() {
            by_name.entry(&world.name).or_insert(b);
        }
        for (a, world) in all[0].iter().enumerate() {
            if let Some(&b) = by_name.get(world.name.as_str()) {
                (of[0][a], of[1][b]) = (Some(b), Some(a));
            }
        }
        let stem = |world: &World<'_>| match world.has_instances() {
            true => Path::new(&world.name).with_extension(""),
            false => PathBuf::from(&world.name),
        };
        // Of two streams that differ in their endings only, neither is meant.
        let mut free: HashMap<PathBuf, [Vec<usize>; 2]> = HashMap::new();
        for side in 0..2 {
            for (n, world) in all[side].iter().enumerate().filter(|(n, _)| of[side][*n].is_none()) {
                free.entry(stem(world)).or_default()[side].push(n);
            }
        }
        for [a, b] in free.into_values() {
            if let (&[a], &[b]) = (a.as_slice(), b.as_slice()) {
                (of[0][a], of[1][b]) = (Some(b), Some(a));
            }
        }
        Self { of }
    }
}

/// Compares the worlds of two directories that have the same path below them. The second part of each side are the names of
/// worlds that cannot be read.
fn compare_all(
    arguments: &Arguments,
    partners: &Partners,
    (all_a, lost_a): (&[World<'_>], &HashSet<String>),
    (all_b, lost_b): (&[World<'_>], &HashSet<String>),
) -> Result<Exit, Failure> {
    let mut exit = Exit::CLEAN;
    let mut objects = Objects::new(arguments.format);
    for (a, b) in all_a.iter().zip(&partners.of[0]) {
        let Some(b) = b.and_then(|b| all_b.get(b)) else {
            if !lost_b.contains(&a.name) {
                exit = worst(exit, report_lone(arguments, &mut objects, &a.name, "A")?);
            }
            continue;
        };
        let compared = compare_worlds(arguments, &mut objects, a, b, Some(&a.name))?;
        if compared == Exit::INTERRUPTED {
            finish(&objects)?;
            return Ok(compared);
        }
        exit = worst(exit, compared);
    }
    let only_b = all_b.iter().zip(&partners.of[1]).filter(|(b, a)| a.is_none() && !lost_a.contains(&b.name));
    for (b, _) in only_b {
        exit = worst(exit, report_lone(arguments, &mut objects, &b.name, "B")?);
    }
    finish(&objects)?;
    Ok(exit)
}

/// Reports a save that only one side has: they differ.
fn report_lone(arguments: &Arguments, objects: &mut Objects, name: &str, side: &str) -> Result<Exit, Failure> {
    let mut out = stdout();
    match arguments.format {
        Format::Json | Format::Jsonl => {
            objects.write(&mut out, &json!({ "type": "only", "save": name, "side": side }))?;
        }
        Format::Text => writeln!(out, "{name}: only in {side}")?,
    }
    out.flush()?;
    Ok(Exit::DIFFERENT)
}

/// Compares two worlds; `name` is what they are called if there are several.
fn compare_worlds(
    arguments: &Arguments,
    objects: &mut Objects,
    a: &World<'_>,
    b: &World<'_>,
    name: Option<&str>,
) -> Result<Exit, Failure> {
    let side = [a.block_size(), b.block_size()].into_iter().flatten().next().unwrap_or(1);
    compare_with(arguments, objects, side, name, |options, found| diff::run(a, b, options, found))
}

/// Compares two saves by a function, and prints what it finds. Blocks have `side` voxels along each axis.
fn compare_with(
    arguments: &Arguments,
    objects: &mut Objects,
    side: u16,
    name: Option<&str>,
    compare: impl FnOnce(&Options<'_>, &mut dyn FnMut(Change)) -> Result<Summary, diff::Error> + Send,
) -> Result<Exit, Failure> {
    let cancel = cancelled_by_signals();
    let bar = Bar::new();
    let progress = |progress| bar.show(progress);
    let options = Options::default()
        .lods(arguments.scope.lod.clone())
        .channels(arguments.scope.channels.clone())
        .list(arguments.list.into())
        .watch(Watch::default().cancel(&cancel).progress(&progress));
    let pool = pool::start(arguments.jobs)?;
    let mut printer = Printer {
        out: stdout(),
        format: arguments.format,
        objects,
        sides: side,
        lines: 0,
        name: name.map(str::to_owned),
    };
    if let (Some(name), Format::Text) = (name, arguments.format) {
        writeln!(printer.out, "{BOLD}{name}{BOLD:#}")?;
    }
    let work = |found: &mut dyn FnMut(Change)| compare(&options, found);
    let summary = pool.stream(&cancel, work, |change| bar.suspend(|| printer.change(&change)));
    bar.clear();
    let summary = summary?
        .map_err(|_| Failure::Failed("the comparison ended unexpectedly; please report it".to_owned()))?
        .map_err(|error| Failure::Failed(error.to_string()))?;
    for (side, fault) in &summary.faults {
        complain(&format_args!("{}: {}: {}", side.name(), fault.file, fault.why));
    }
    // What is said of no file names the save where there are several.
    let of_save = name.map_or_else(String::new, |name| format!("{name}: "));
    for (side, twice) in [Side::A, Side::B].into_iter().zip(summary.twice) {
        warn_of_twice(&format!("{}: {of_save}", side.name()), "block", twice);
    }
    for (side, unowned) in [Side::A, Side::B].into_iter().zip(summary.unowned) {
        let of = format!("{}: {of_save}", side.name());
        warn_of_misplaced(&of, "block", &Misplaced { unowned, ..Misplaced::default() }, "compared");
    }
    for (side, fault) in &summary.corrected {
        complain(&format_args!(
            "{}: {}: {}: corrected; no block is missing because of it",
            side.name(),
            fault.file,
            fault.why
        ));
    }
    let lods = &arguments.scope.lod;
    // Nothing is the same where nothing was compared. Of several saves, some may have fewer LODs.
    let is_empty = name.is_none() && !lods.is_empty() && summary.blocks == [0, 0] && !summary.interrupted;
    if is_empty {
        let lods: Vec<String> = lods.iter().map(|lod| format!("LOD {lod}")).collect();
        complain(&format_args!("neither save has a block of {}", lods.join(" or ")));
    }
    printer.summary(&summary)?;
    Ok(if summary.interrupted {
        Exit::INTERRUPTED
    } else if summary.trouble() || is_empty {
        Exit::TROUBLE
    } else {
        Exit::DIFFERENT.when(summary.differs())
    })
}
