//! `diff`: what differs between two saves.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use voxscope::diff::{self, BlockChange, Change, Options, Side, Summary, What};
use voxscope::godot::channel::NAMES;
use voxscope::printable::{printable, triple};
use voxscope::save::Save;
use voxscope::watch::Watch;
use voxscope::world::{self, World};

use super::Color;
use super::exit::{Exit, Failure};
use super::output::{BOLD, DIM, complain, count, grouped, stdout, wrapped, write_json};
use super::pool;
use super::progress::{Bar, cancelled_by_signals};
use super::scope::Scope;
use super::target;

const AFTER_HELP: &str = "\
Examples:
  voxscope diff before after
  voxscope diff before after --lod 0 --format jsonl

Exit codes are those of diff(1): 0 the saves are equal, 1 they differ, 2 something could not be compared.";

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
    look: super::explore::ThemeArgs,
    #[command(flatten)]
    options: target::Options,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    /// Columns for people
    #[value(alias = "table")]
    Text,
    /// One JSON array of the objects of jsonl
    Json,
    /// One JSON object per line; the last line is the summary
    Jsonl,
}

/// Writes the objects of a machine format: a line for each, or the elements of one array.
struct Objects {
    is_array: bool,
    count: u64,
}

impl Objects {
    const fn new(format: Format) -> Self {
        Self { is_array: matches!(format, Format::Json), count: 0 }
    }

    fn write(&mut self, out: &mut impl Write, json: &Json) -> io::Result<()> {
        if self.is_array {
            out.write_all(if self.count == 0 { b"[" } else { b"," })?;
        }
        self.count += 1;
        write_json(out, json)
    }

    fn end(&self, out: &mut impl Write) -> io::Result<()> {
        match (self.is_array, self.count) {
            (false, _) => Ok(()),
            (true, 0) => out.write_all(b"[]\n"),
            (true, _) => out.write_all(b"]\n"),
        }
    }
}

pub fn run(arguments: &Arguments, color: Color) -> Result<Exit, Failure> {
    #[cfg(feature = "tui")]
    if arguments.tui {
        let Arguments { a, b, scope, options, look, .. } = arguments;
        return super::explore::two(a, b, options, scope, look, color);
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
        let left_out = complain_of_left_out(Side::A, &first, &of_a) | complain_of_left_out(Side::B, &second, &of_b);
        let exit = compare_all(arguments, &partners, (&all_a, &lost_a), (&all_b, &lost_b))?;
        return Ok(with_left_out(exit, left_out || any_lost));
    }
    let only = |side: Side, save| {
        World::only(save).map_err(|error| {
            // It may be in what was not read.
            complain_of_left_out(side, save, &[]);
            match Failure::from(error) {
                Failure::Failed(why) => Failure::Failed(format!("{}: {why}", side.name())),
                other => other,
            }
        })
    };
    let (a, b) = (only(Side::A, &first), only(Side::B, &second));
    let (a, b) = (a?, b?);
    let left_out = [(Side::A, &first, &a), (Side::B, &second, &b)]
        .map(|(side, save, world)| complain_of_left_out(side, save, &[world]));
    let mut objects = Objects::new(arguments.format);
    let exit = compare_worlds(arguments, &mut objects, &a, &b, None)?;
    finish(&objects)?;
    Ok(with_left_out(exit, left_out.contains(&true)))
}

/// Says what of a save is not compared: pak regions, voxel maps, and what was not read and is in none of the worlds. Returns
/// whether there is something.
fn complain_of_left_out(side: Side, save: &Save, worlds: &[&World<'_>]) -> bool {
    let others = save.pak_dirs.iter().map(|dir| &dir.dir).chain(save.maps.iter().map(|map| &map.dir));
    let why = || "pak regions and voxel maps are not compared".to_owned();
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
    let (mut differs, mut trouble) = (false, false);
    let mut objects = Objects::new(arguments.format);
    let lone = |objects: &mut Objects, name: &str, side: &str| -> Result<(), Failure> {
        let mut out = stdout();
        match arguments.format {
            Format::Json | Format::Jsonl => {
                objects.write(&mut out, &json!({ "type": "only", "save": name, "side": side }))?;
            }
            Format::Text => writeln!(out, "{name}: only in {side}")?,
        }
        out.flush()?;
        Ok(())
    };
    for (a, b) in all_a.iter().zip(&partners.of[0]) {
        let Some(b) = b.and_then(|b| all_b.get(b)) else {
            if !lost_b.contains(&a.name) {
                lone(&mut objects, &a.name, "A")?;
                differs = true;
            }
            continue;
        };
        let exit = compare_worlds(arguments, &mut objects, a, b, Some(&a.name))?;
        if exit == Exit::INTERRUPTED {
            finish(&objects)?;
            return Ok(exit);
        }
        differs |= exit == Exit::DIFFERENT;
        trouble |= exit == Exit::TROUBLE;
    }
    let only_b = all_b.iter().zip(&partners.of[1]).filter(|(b, a)| a.is_none() && !lost_a.contains(&b.name));
    for (b, _) in only_b {
        lone(&mut objects, &b.name, "B")?;
        differs = true;
    }
    finish(&objects)?;
    Ok(if trouble { Exit::TROUBLE } else { Exit::DIFFERENT.when(differs) })
}

/// Compares two worlds; `name` is what they are called if there are several.
fn compare_worlds(
    arguments: &Arguments,
    objects: &mut Objects,
    a: &World<'_>,
    b: &World<'_>,
    name: Option<&str>,
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
        sides: [a.block_size(), b.block_size()].into_iter().flatten().next().unwrap_or(1),
        lines: 0,
        name: name.map(str::to_owned),
    };
    if let (Some(name), Format::Text) = (name, arguments.format) {
        writeln!(printer.out, "{BOLD}{name}{BOLD:#}")?;
    }
    let work = |found: &mut dyn FnMut(Change)| diff::run(a, b, &options, found);
    let summary = pool.stream(&cancel, work, |change| bar.suspend(|| printer.change(&change)));
    bar.clear();
    let summary = summary?
        .map_err(|_| Failure::Failed("the comparison ended unexpectedly; please report it".to_owned()))?
        .map_err(|error| Failure::Failed(error.to_string()))?;
    for (side, fault) in &summary.faults {
        complain(&format_args!("{}: {}: {}", side.name(), fault.file, fault.why));
    }
    for (side, n) in [Side::A, Side::B].into_iter().zip(summary.twice).filter(|(_, n)| *n > 0) {
        let what = "left out because another one has the same position";
        complain(&format_args!("{}: {} {what}", side.name(), count(n, "block")));
    }
    for (side, fault) in &summary.corrected {
        complain(&format_args!(
            "{}: {}: {}: corrected; no block is missing because of it",
            side.name(),
            fault.file,
            fault.why
        ));
    }
    printer.summary(&summary)?;
    Ok(if summary.interrupted {
        Exit::INTERRUPTED
    } else if summary.trouble() {
        Exit::TROUBLE
    } else {
        Exit::DIFFERENT.when(summary.differs())
    })
}

struct Printer<'o, W: Write> {
    out: W,
    format: Format,
    objects: &'o mut Objects,
    /// Voxels along each axis of a block.
    sides: u16,
    lines: u64,
    /// The name of the world, if several are compared.
    name: Option<String>,
}

impl<W: Write> Printer<'_, W> {
    fn change(&mut self, change: &Change) -> io::Result<()> {
        match self.format {
            Format::Json | Format::Jsonl => {
                let mut json = self.json(change);
                if let Some(name) = &self.name {
                    json["save"] = name.as_str().into();
                }
                self.objects.write(&mut self.out, &json)
            }
            Format::Text => self.row(change),
        }
    }

    /// A voxel of a block as a voxel of the LOD.
    fn voxel(&self, change: &Change, inside: [u16; 3]) -> [i64; 3] {
        [0, 1, 2].map(|i| i64::from(change.position[i]) * i64::from(self.sides) + i64::from(inside[i]))
    }

    fn row(&mut self, change: &Change) -> io::Result<()> {
        if self.lines == 0 {
            writeln!(
                self.out,
                "{DIM}lod      x      y      z  what           voxels  where and in which channels{DIM:#}"
            )?;
        }
        self.lines += 1;
        let [x, y, z] = change.position;
        let (what, voxels, rest) = match &change.what {
            What::Added if change.across > 1 => {
                let low = self.voxel(change, [0; 3]);
                let high = low.map(|v| v + i64::from(change.across) * i64::from(self.sides));
                ("added", String::new(), format!("{}..{}", triple(low), triple(high)))
            }
            What::Added => ("added", String::new(), String::new()),
            What::Removed => ("removed", String::new(), String::new()),
            What::Moved { to } => ("moved", String::new(), format!("to {}", triple(*to))),
            What::Unreadable { side, why } => ("unreadable", String::new(), format!("in {}: {why}", side.name())),
            What::Changed(block) => {
                let place = block.bounds.map(|[low, high]| {
                    format!("{}..{} ", triple(self.voxel(change, low)), triple(self.voxel(change, high)))
                });
                let names: Vec<&str> = block.channels.iter().filter_map(|c| NAMES.get(c.channel)).copied().collect();
                let mut rest = place.unwrap_or_default() + &names.join(" ");
                if block.instances {
                    rest.push_str(" instances");
                }
                ("changed", grouped(block.voxels), rest.trim_start().to_owned())
            }
        };
        let line = format!("{:>3} {x:>6} {y:>6} {z:>6}  {what:<10} {voxels:>10}  {rest}", change.lod);
        writeln!(self.out, "{}", wrapped(line.trim_end(), &" ".repeat(51)))?;
        if let What::Changed(block) = &change.what {
            self.details(change, block)?;
        }
        Ok(())
    }

    fn details(&mut self, change: &Change, block: &BlockChange) -> io::Result<()> {
        let value = |value: Option<u64>| value.map_or_else(|| "nothing".to_owned(), |n| n.to_string());
        for voxel in &block.list {
            let at = triple(self.voxel(change, voxel.position));
            let name = NAMES.get(voxel.channel).unwrap_or(&"");
            let [a, b] = voxel.values.map(value);
            writeln!(self.out, "      voxel {at} {name}: {a} -> {b}")?;
        }
        let item = |item: &Option<Json>| item.as_ref().map_or_else(|| "nothing".to_owned(), short);
        for metadata in block.metadata.iter().take(MOST_METADATA) {
            let at = metadata
                .voxel
                .map_or_else(|| "the block".to_owned(), |voxel| format!("voxel {}", triple(self.voxel(change, voxel))));
            let line = format!("      metadata of {at}: {} -> {}", item(&metadata.items[0]), item(&metadata.items[1]));
            writeln!(self.out, "{}", wrapped(&line, "        "))?;
        }
        match block.metadata.len().saturating_sub(MOST_METADATA) {
            0 => Ok(()),
            n => writeln!(self.out, "      and metadata of {} more", count(n as u64, "voxel")),
        }
    }

    fn json(&self, change: &Change) -> Json {
        let (lod, position) = (change.lod, change.position);
        let mut json = match &change.what {
            What::Added => json!({ "type": "added", "lod": lod, "block": position }),
            What::Removed => json!({ "type": "removed", "lod": lod, "block": position }),
            What::Moved { to } => json!({ "type": "moved", "lod": lod, "block": position, "to": to }),
            What::Unreadable { side, why } => {
                json!({ "type": "unreadable", "lod": lod, "block": position, "side": side, "why": why })
            }
            What::Changed(block) => {
                let text = |value: Option<u64>| value.map(|n| n.to_string());
                let list: Vec<Json> = block
                    .list
                    .iter()
                    .map(|voxel| {
                        json!({
                            "voxel": self.voxel(change, voxel.position),
                            "channel": NAMES.get(voxel.channel),
                            "a": text(voxel.values[0]),
                            "b": text(voxel.values[1]),
                        })
                    })
                    .collect();
                let metadata: Vec<Json> = block
                    .metadata
                    .iter()
                    .map(|metadata| {
                        let voxel = metadata.voxel.map(|voxel| self.voxel(change, voxel));
                        json!({ "voxel": voxel, "a": metadata.items[0], "b": metadata.items[1] })
                    })
                    .collect();
                let channels = block.channels.iter();
                json!({
                    "type": "changed",
                    "lod": lod,
                    "block": position,
                    "voxels": block.voxels,
                    "box": block.bounds.map(|bounds| bounds.map(|corner| self.voxel(change, corner))),
                    "channels": channels.map(|c| json!({ "channel": NAMES.get(c.channel), "voxels": c.voxels })).collect::<Vec<_>>(),
                    "list": list,
                    "metadata": metadata,
                    "instances": block.instances,
                })
            }
        };
        if change.across > 1 {
            json["across"] = change.across.into();
        }
        json
    }

    fn summary(mut self, summary: &Summary) -> io::Result<()> {
        match self.format {
            Format::Json | Format::Jsonl => {
                let list = |faults: &[(Side, world::Fault)]| -> Vec<Json> {
                    let json = |(side, f): &(Side, world::Fault)| json!({ "side": side, "file": f.file, "why": f.why });
                    faults.iter().map(json).collect()
                };
                let mut json = json!({
                        "type": "summary",
                        "blocks_a": summary.blocks[0],
                        "blocks_b": summary.blocks[1],
                        "same": summary.same,
                        "changed": summary.changed,
                        "added": summary.added,
                        "removed": summary.removed,
                        "moved": summary.moved,
                        "unreadable": summary.unreadable,
                        "voxels": summary.voxels,
                        "holes": summary.holes,
                        "positions_twice": summary.twice,
                        "files_unread": list(&summary.faults),
                        "files_corrected": list(&summary.corrected),
                        "interrupted": summary.interrupted,
                });
                if let Some(name) = &self.name {
                    json["save"] = name.as_str().into();
                }
                self.objects.write(&mut self.out, &json)?;
            }
            Format::Text => {
                if self.lines > 0 {
                    writeln!(self.out)?;
                }
                let counts = [
                    (summary.changed, "changed"),
                    (summary.added, "added"),
                    (summary.removed, "removed"),
                    (summary.moved, "moved"),
                    (summary.unreadable, "not comparable"),
                    (summary.same, "the same"),
                ];
                let counts = counts.iter().filter(|(n, _)| *n > 0);
                let counts: Vec<String> = counts.map(|(n, what)| format!("{} {what}", grouped(*n))).collect();
                let voxels = match summary.voxels {
                    0 => String::new(),
                    n => format!(" · {}", count(n, "voxel")),
                };
                let stopped = if summary.interrupted { "interrupted before its end · " } else { "" };
                let counts = if counts.is_empty() { "no blocks".to_owned() } else { counts.join(", ") };
                let holes = match summary.holes {
                    0 => String::new(),
                    n => format!(
                        " · {} missing inside larger ones, compared with what `convert` fills in",
                        count(n, "block")
                    ),
                };
                writeln!(self.out, "{}", wrapped(&format!("{stopped}blocks: {counts}{voxels}{holes}"), ""))?;
            }
        }
        self.out.flush()
    }
}

/// Items of metadata of one block that a table has.
const MOST_METADATA: usize = 8;

/// Characters of an item on one line.
const WIDTH: usize = 60;

fn short(item: &Json) -> String {
    let text = item.get("value").map_or_else(|| item["kind"].as_str().unwrap_or("").to_owned(), Json::to_string);
    let mut cut: String = printable(&text).chars().take(WIDTH).collect();
    if text.chars().count() > WIDTH {
        cut.push('…');
    }
    cut
}
