//! `diff`: what differs between two saves.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::{Value as Json, json};
use voxscope::diff::{self, BlockChange, Change, Options, Summary, What};
use voxscope::godot::channel::NAMES;
use voxscope::printable::{printable, triple};
use voxscope::world::World;

use super::Color;
use super::check::cancelled_by_signals;
use super::exit::{Exit, Failure};
use super::export::{parse_channel, progress_bar};
use super::output::{DIM, count, grouped, stdout, wrapped, write_json};
use super::target::{self, SlotsArgument};

/// Of options that two saves have and one has not.
pub const HEADING: &str = "Two saves";

const AFTER_HELP: &str = "\
Exit codes are those of diff(1): 0 nothing differs, 1 something does, 2 something could not be compared.";

/// Arguments of `diff`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// A save
    a: PathBuf,
    /// Another one
    b: PathBuf,
    /// What to print
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    #[command(flatten)]
    scope: Scope,
    /// Voxels of a block that are listed one by one when no more than that changed
    #[arg(long, value_name = "N", default_value_t = 8)]
    list: u16,
    /// Threads; as many as there are cores when not given
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    /// Explores what differs on the terminal: a map of the blocks, and each of them in both saves
    #[cfg(feature = "tui")]
    #[arg(long)]
    tui: bool,
    #[cfg(feature = "tui")]
    #[command(flatten)]
    look: super::explore::Look,
    #[command(flatten)]
    options: target::Options,
}

/// What of two saves is compared, and how the second one is read.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Scope {
    /// A LOD; several may be given, all without one
    #[arg(long, value_name = "N", help_heading = HEADING)]
    pub lod: Vec<u8>,
    /// Channels by name or number, all when not given
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = parse_channel, help_heading = HEADING)]
    pub channels: Vec<usize>,
    /// The formula of slots in the second save, when it is another one than in the first
    #[arg(long, value_name = "FORMULA", help_heading = HEADING)]
    pub slots_b: Option<SlotsArgument>,
}

impl Scope {
    /// Whether nothing of it was given.
    #[cfg(feature = "tui")]
    pub const fn is_empty(&self) -> bool {
        self.lod.is_empty() && self.channels.is_empty() && self.slots_b.is_none()
    }

    /// The options for the second save, by those for the first.
    pub fn second(&self, first: &target::Options) -> target::Options {
        self.slots_b.map_or_else(|| first.clone(), |slots| first.with_slots(slots))
    }
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    /// Columns
    Table,
    /// A JSON object a line; the last one is the summary
    Jsonl,
}

pub fn run(arguments: &Arguments, color: Color) -> Result<Exit, Failure> {
    #[cfg(feature = "tui")]
    if arguments.tui {
        let Arguments { a, b, scope, options, look, .. } = arguments;
        return super::explore::two(a, b, options, scope, look, color);
    }
    let _ = color;
    match compare(arguments) {
        Err(Failure::Failed(text) | Failure::Usage(text)) => Err(Failure::Trouble(text)),
        other => other,
    }
}

fn compare(arguments: &Arguments) -> Result<Exit, Failure> {
    let first = arguments.options.open(&arguments.a)?;
    let second = arguments.scope.second(&arguments.options).open(&arguments.b)?;
    let failed = |error: voxscope::world::Error| Failure::Failed(error.to_string());
    let (a, b) = (World::only(&first).map_err(failed)?, World::only(&second).map_err(failed)?);
    let cancel = cancelled_by_signals();
    let bar = progress_bar("comparing");
    let progress = |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    };
    let options = Options {
        lods: arguments.scope.lod.clone(),
        channels: arguments.scope.channels.clone(),
        list: arguments.list.into(),
        cancel: Some(&cancel),
        progress: Some(&progress),
    };
    let pool = target::pool(arguments.jobs)?;
    let mut printer = Printer {
        out: stdout(),
        format: arguments.format,
        sides: [a.block_size(), b.block_size()].into_iter().flatten().next().unwrap_or(1),
        lines: 0,
    };
    let mut broken = None;
    // The sink is called by the thread that compares, so that lines come in order.
    let summary = std::thread::scope(|scope| {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1024);
        let (pool, a, b, options) = (&pool, &a, &b, &options);
        let comparer =
            scope.spawn(move || pool.install(|| diff::run(a, b, options, |change| drop(sender.send(change)))));
        for change in receiver {
            if broken.is_none()
                && let Err(error) = bar.suspend(|| printer.change(&change))
            {
                broken = Some(error);
                cancel.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        }
        comparer.join()
    });
    bar.finish_and_clear();
    if let Some(error) = broken {
        return Err(error.into());
    }
    let summary = summary
        .map_err(|_| Failure::Failed("the comparison ended unexpectedly; please report it".to_owned()))?
        .map_err(|error| Failure::Failed(error.to_string()))?;
    for (side, fault) in &summary.faults {
        anstream::eprintln!("voxscope: {}: {}: {}", side.name(), fault.file, fault.why);
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

struct Printer<W: Write> {
    out: W,
    format: Format,
    /// Voxels along each axis of a block.
    sides: u16,
    lines: u64,
}

impl<W: Write> Printer<W> {
    fn change(&mut self, change: &Change) -> io::Result<()> {
        match self.format {
            Format::Jsonl => {
                let json = self.json(change);
                write_json(&mut self.out, &json)
            }
            Format::Table => self.row(change),
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
            Format::Jsonl => {
                let faults = summary.faults.iter();
                let faults: Vec<Json> =
                    faults.map(|(side, f)| json!({ "side": side, "file": f.file, "why": f.why })).collect();
                write_json(
                    &mut self.out,
                    &json!({
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
                        "files_unread": faults,
                        "interrupted": summary.interrupted,
                    }),
                )?;
            }
            Format::Table => {
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
                    n => format!(" · {} of a larger one not there, compared as convert fills them", count(n, "block")),
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
