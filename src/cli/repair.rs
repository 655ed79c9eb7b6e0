//! `repair`: a whole, healthy copy of a save, built beside it.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use voxscope::beside;
use voxscope::repair::{self, Accepted, Error, Plan, Progress};

use super::check::cancelled_by_signals;
use super::exit::{Exit, Failure};
use super::output::{BOLD, GOOD, count, stdout, wrapped};
use super::target;

/// Arguments of `repair`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The save; it is only read
    source: PathBuf,
    /// Where the repaired copy goes, which does not exist yet: a directory, or a file where the save is one stream
    #[arg(long, value_name = "DST", required_unless_present = "plan")]
    out: Option<PathBuf>,
    /// Only say what would be done
    #[arg(long)]
    plan: bool,
    /// How sure the place of a block must be
    #[arg(long, value_name = "LEVEL", default_value = "certain")]
    level: Level,
    /// A backup of the same save, which is only read: it tells whose blocks are, and gives older states of lost ones
    #[arg(long, value_name = "PATH")]
    from_backup: Option<PathBuf>,
    /// Put the block at a sector of a region file at this position, whatever the level; several times for several blocks
    #[arg(long, value_name = "X,Y,Z@LOD=FILE:SECTOR", allow_hyphen_values = true)]
    accept: Vec<Accepted>,
    /// Threads; as many as there are cores when not given
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    options: target::Options,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Level {
    /// Only what leaves no choice
    Certain,
    /// What is likely too; it is marked in repair.json
    Likely,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let save = arguments.options.open(&arguments.source)?;
    let backup = arguments.from_backup.as_ref().map(|path| arguments.options.open(path)).transpose()?;
    if backup.as_ref().is_some_and(|backup| backup.forests.is_empty() && backup.streams.is_empty()) {
        return Err(Failure::Usage("--from-backup must be a save of Godot Voxel".to_owned()));
    }
    let cancel = cancelled_by_signals();
    let pool = target::pool(arguments.jobs)?;
    let bar = bar();
    let step = AtomicU8::new(u8::MAX);
    let progress = |of: Progress| {
        // Whoever comes first with a new step says its name.
        if step.swap(of.step as u8, Ordering::Relaxed) != of.step as u8 {
            bar.reset();
            bar.set_length(of.all);
            bar.set_message(of.step.name());
        }
        bar.inc(of.more);
    };
    let options = repair::Options {
        likely: arguments.level == Level::Likely,
        backup: backup.as_ref(),
        accept: &arguments.accept,
        cancel: Some(&cancel),
        progress: Some(&progress),
    };
    for left in arguments.out.as_deref().map(repair::leftovers).unwrap_or_default() {
        let left = voxscope::printable::path(&left);
        eprintln!("{left}: left by a repair that was killed, unless one is still running; it can be removed.");
    }
    let done = pool.install(|| match &arguments.out {
        Some(out) if !arguments.plan => repair::run(&save, out, &options).map(|o| (o.plan, Some(o.check))),
        _ => repair::plan(&save, &options).map(|plan| (plan, None)),
    });
    bar.finish_and_clear();
    let (plan, check) = match done {
        Ok(done) => done,
        Err(Error::Build(beside::Error::Interrupted)) => return Ok(Exit::INTERRUPTED),
        Err(error @ (Error::Build(beside::Error::Destination { .. }) | Error::Accept { .. })) => {
            return Err(Failure::Usage(error.to_string()));
        }
        Err(error) => return Err(Failure::Failed(error.to_string())),
    };
    let mut out = stdout();
    say(&mut out, &plan)?;
    let mut exit = Exit::REPAIRED.when(!plan.changes_nothing()).and(Exit::DAMAGED.when(plan.leaves_damage()));
    if let Some(check) = check {
        let left = check.counts.errors + check.counts.warnings;
        let clean = left == 0;
        let verdict = if clean { "checked, clean".to_owned() } else { count(left, "finding") + " left" };
        let at = arguments.out.as_deref().map(voxscope::printable::path).unwrap_or_default();
        writeln!(out, "{BOLD}{at}{BOLD:#}: {GOOD}{verdict}{GOOD:#} · {}", count(check.stats.blocks, "block"))?;
        exit = exit.and(Exit::DAMAGED.when(!clean)).and(Exit::FAILED.when(check.unread > 0));
    }
    out.flush()?;
    Ok(exit)
}

/// A bar whose message is the step.
fn bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg} {bar:30} {bytes} of {total_bytes}, {eta} left");
    ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn say(out: &mut impl Write, plan: &Plan) -> Result<(), Failure> {
    let lines = repair::words(plan);
    if lines.is_empty() {
        writeln!(out, "Nothing to repair.")?;
    }
    for line in lines {
        writeln!(out, "{}", wrapped(&line, "  "))?;
    }
    Ok(())
}
