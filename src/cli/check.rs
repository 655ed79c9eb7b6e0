//! `check`: every finding of a save, for people or as JSON lines.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;

use indicatif::{ProgressBar, ProgressStyle};
use voxscope::check::{self, Finding, Summary};
use voxscope::damage::{Code, Level};
use voxscope::save::Save;

mod baseline;

use super::exit::{Exit, Failure};
use super::output::{BOLD, DIM, GOOD, count, grouped, level_style, size, stdout, wrapped, write_json};
use super::target;
use baseline::Baseline;

/// Arguments of `check`.
#[derive(clap::Args)]
pub struct Arguments {
    /// A save: a directory or a file of one, or a directory that holds several
    path: Option<PathBuf>,
    /// What to print
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
    /// Exit with 4 when there is a finding of this level or worse
    #[arg(long, value_name = "LEVEL", default_value = "warning")]
    fail_on: LevelArgument,
    /// How deep to look
    #[arg(long, value_name = "LEVEL", default_value = "decode")]
    level: Deep,
    /// Findings of an earlier check (`--format jsonl`), which are hidden and do not count
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// List notes too (for people; JSON lines have them always)
    #[arg(long)]
    notes: bool,
    /// Threads; as many as there are cores when not given
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    options: target::Options,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    /// Sentences, by file
    Human,
    /// A JSON object a line; the last one is the summary
    Jsonl,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Deep {
    /// Headers, descriptions and meta files
    Header,
    /// Tables, records and sectors too, without decoding blocks
    Structure,
    /// Every block too
    Decode,
    /// What the sectors say against the table too: blocks that decode and belong elsewhere
    Semantic,
}

impl Deep {
    const fn level(self) -> check::Level {
        match self {
            Self::Header => check::Level::Header,
            Self::Structure => check::Level::Structure,
            Self::Decode => check::Level::Decode,
            Self::Semantic => check::Level::Semantic,
        }
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum LevelArgument {
    Error,
    Warning,
    Note,
}

impl From<LevelArgument> for Level {
    fn from(level: LevelArgument) -> Self {
        match level {
            LevelArgument::Error => Self::Error,
            LevelArgument::Warning => Self::Warning,
            LevelArgument::Note => Self::Note,
        }
    }
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let save = arguments.options.open(target::path_or_here(arguments.path.as_ref()))?;
    let cancel = cancelled_by_signals();
    let mut out = stdout();
    let mut baseline = arguments.baseline.as_deref().map_or_else(|| Ok(Baseline::default()), Baseline::read)?;
    let mut printer = Printer { format: arguments.format, notes: arguments.notes, file: None, hidden: 0, unlisted: 0 };
    let mut summary = run_to(&save, arguments.jobs, arguments.level.level(), &cancel, &mut |finding| {
        if baseline.hides(finding) { Ok(()) } else { printer.finding(&mut out, finding) }
    })?;
    summary.counts = baseline.new_of(summary.counts);
    printer.summary(&mut out, &summary, baseline.count())?;
    out.flush()?;
    Ok(exit(&summary, arguments.fail_on.into()))
}

/// Checks with a progress bar on standard error, handing findings to `print` as they come, on the calling thread.
pub fn run_to(
    save: &Save,
    jobs: Option<usize>,
    level: check::Level,
    cancel: &AtomicBool,
    print: &mut dyn FnMut(&Finding) -> io::Result<()>,
) -> Result<Summary, Failure> {
    let pool = target::pool(jobs)?;
    let bar = progress_bar(save, level);
    let mut broken = None;
    let summary = std::thread::scope(|scope| {
        // Findings come through a channel, so that writing them holds no thread of the pool.
        let (sender, receiver) = sync_channel(1024);
        let bar = &bar;
        let checker = scope.spawn(move || {
            let advance = |bytes| bar.inc(bytes);
            let options = check::Options { level, cancel: Some(cancel), progress: Some(&advance) };
            // The receiver stays until this sender is gone.
            pool.install(|| check::run(save, &options, |finding| drop(sender.send(finding))))
        });
        for finding in receiver {
            if broken.is_none()
                && let Err(error) = bar.suspend(|| print(&finding))
            {
                broken = Some(error);
                cancel.store(true, Ordering::Relaxed);
            }
        }
        checker.join()
    });
    bar.finish_and_clear();
    if let Some(error) = broken {
        return Err(error.into());
    }
    summary.map_err(|_| Failure::Failed("the check ended unexpectedly; please report it with the file".to_owned()))
}

/// Set by the first SIGINT or SIGTERM; the second one ends the program.
pub fn cancelled_by_signals() -> Arc<AtomicBool> {
    let cancel = Arc::new(AtomicBool::new(false));
    let on_signal = Arc::clone(&cancel);
    // Where no handler can be set, the signal ends the program at once, which loses nothing.
    let _ = ctrlc::set_handler(move || {
        if on_signal.swap(true, Ordering::Relaxed) {
            std::process::exit(32);
        }
    });
    cancel
}

fn exit(summary: &Summary, fail_on: Level) -> Exit {
    Exit::DAMAGED
        .when(summary.counts.damage_at_least(fail_on) > 0)
        .and(Exit::FAILED.when(summary.unread > 0))
        .and(Exit::INTERRUPTED.when(summary.interrupted))
}

fn progress_bar(save: &Save, level: check::Level) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("checking {bar:30} {bytes} of {total_bytes}, {eta} left");
    ProgressBar::new(check::total_bytes(save, level)).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// As wide as a finding's level and the spaces around it.
const INDENT: &str = "           ";

/// Prints findings as they come.
pub struct Printer {
    format: Format,
    notes: bool,
    /// The file whose findings are being printed.
    file: Option<Arc<str>>,
    /// Notes that were not printed.
    hidden: u64,
    /// Those of them that say that a block stands after the last listed one.
    unlisted: u64,
}

impl Printer {
    fn finding(&mut self, out: &mut impl Write, finding: &Finding) -> io::Result<()> {
        if self.format == Format::Jsonl {
            return write_json(out, finding);
        }
        let level = finding.level();
        if level == Level::Note && !self.notes {
            self.hidden += 1;
            self.unlisted += u64::from(finding.code() == Code::BlockUnlisted);
            return Ok(());
        }
        if self.file.as_ref() != Some(&finding.file) {
            let gap = if self.file.is_some() { "\n" } else { "" };
            writeln!(out, "{gap}{BOLD}{}{BOLD:#}", finding.file)?;
            self.file = Some(Arc::clone(&finding.file));
        }
        let (style, code, place) = (level_style(level), finding.code(), finding.place());
        let colon = if place.is_empty() { "" } else { ": " };
        let what = format!("  {style}{level:<7}{style:#}  {place}{colon}{}", finding.message());
        writeln!(out, "{}", wrapped(&what, INDENT))?;
        let next = format!("{INDENT}{DIM}{code}:{DIM:#} {}", code.next());
        writeln!(out, "{}", wrapped(&next, INDENT))
    }

    fn summary(&self, out: &mut impl Write, summary: &Summary, known: u64) -> io::Result<()> {
        if self.format == Format::Jsonl {
            return write_json(out, &summary_json(summary, known));
        }
        if self.file.is_some() {
            writeln!(out)?;
        }
        let Summary { counts, files, stats, interrupted, .. } = summary;
        let clean = counts.errors + counts.warnings == 0 && !interrupted;
        let mut verdict: Vec<String> = Vec::new();
        if *interrupted {
            verdict.push("interrupted before its end".to_owned());
        } else if clean {
            verdict.push(if known > 0 { "nothing new" } else { "clean" }.to_owned());
        }
        let levels = [(counts.errors, "error"), (counts.warnings, "warning"), (counts.notes, "note")];
        verdict.extend(levels.into_iter().filter(|(n, _)| *n > 0).map(|(n, word)| count(n, word)));
        let style = if clean { GOOD } else { level_style(Level::Error) };
        let damaged = if stats.damaged > 0 { format!(", {} damaged", grouped(stats.damaged)) } else { String::new() };
        let line = format!(
            "{style}{}{style:#} · {}{damaged} · {} · {} stored, {} decompressed",
            verdict.join(", "),
            count(stats.blocks, "block"),
            count(*files, "file"),
            size(stats.stored_bytes),
            size(stats.plain_bytes),
        );
        writeln!(out, "{}", wrapped(&line, ""))?;
        if known > 0 {
            let was = if known == 1 { "was" } else { "were" };
            writeln!(out, "{} {was} known before and hidden.", count(known, "finding"))?;
        }
        if self.unlisted > 0 {
            let stand = if self.unlisted == 1 { "stands" } else { "stand" };
            writeln!(
                out,
                "{} {stand} after the last listed ones: old states, or saved after the table was last written.\n\
                 If the game crashed, look at them before it runs again.",
                count(self.unlisted, "whole block"),
            )?;
        }
        let hints =
            [(self.hidden > 0, "--notes lists the notes"), (self.file.is_some(), "voxscope explain CODE tells more")];
        let hints: Vec<&str> = hints.into_iter().filter(|(show, _)| *show).map(|(_, hint)| hint).collect();
        if !hints.is_empty() {
            writeln!(out, "{DIM}{}{DIM:#}", hints.join(" · "))?;
        }
        Ok(())
    }
}

/// The last line of `--format jsonl`; see the README.
fn summary_json(summary: &Summary, known: u64) -> serde_json::Value {
    let Summary { counts, files, stats, unread, interrupted } = summary;
    serde_json::json!({
        "type": "summary",
        "errors": counts.errors,
        "warnings": counts.warnings,
        "notes": counts.notes,
        "files": files,
        "files_unread": unread,
        "blocks": stats.blocks,
        "blocks_damaged": stats.damaged,
        "stored_bytes": stats.stored_bytes,
        "plain_bytes": stats.plain_bytes,
        "interrupted": interrupted,
        "known": known,
    })
}
