//! `check`: every finding of a save, for people or as JSON lines.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{SyncSender, sync_channel};

use voxscope::check::{self, Cause, CauseKind, Finding, NextStep, Sentence, Summary, Totals};
use voxscope::damage::{Code, Level};
use voxscope::export;
use voxscope::recover::solutions::Solutions;
use voxscope::repair;
use voxscope::save::Save;
use voxscope::watch::Watch;

mod baseline;
mod saves;

use super::effort::Effort;
use super::exit::{Exit, Failure};
use super::output::{BOLD, DIM, GOOD, after_reading, count, grouped, level_style, size, stdout, wrapped, write_json};
use super::pool;
use super::progress::{Bar, cancelled_by_signals};
use super::target;
use baseline::Baseline;
use saves::Saves;

const AFTER_HELP: &str = "\
Examples:
  voxscope check world                      print errors and warnings, the cause, and what repair brings back
  voxscope check world --level decode       faster, but blocks in wrong places are not found";

/// Arguments of `check`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The save: its directory, one of its files, or a directory that contains several saves
    path: Option<PathBuf>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Exit with 4 if there is a finding of this level or above
    #[arg(long, value_name = "LEVEL", default_value = "warning")]
    fail_on: LevelArgument,
    /// How much to check: `decode` is faster and does not find blocks in wrong places
    #[arg(long, value_name = "LEVEL", default_value = "semantic")]
    level: Deep,
    /// How much work to spend on blocks whose places are hard to decide
    #[arg(long, value_name = "EFFORT", default_value = "normal")]
    effort: Effort,
    /// Hide findings of an earlier check, and do not count them (a file written by `--format jsonl`)
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Also print notes (JSON lines always contain them)
    #[arg(long)]
    notes: bool,
    /// List every finding, instead of one line for equal findings of several blocks
    #[arg(long)]
    all: bool,
    /// Leave out what `repair` would bring back, which takes as long as the check
    #[arg(long)]
    no_plan: bool,
    /// Number of threads [default: one per core]
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    options: target::Options,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    /// Text for people, by file
    #[value(aliases = ["human", "table"])]
    Text,
    /// One JSON object: findings, causes, summary
    Json,
    /// One JSON object per line; the last line is the summary
    Jsonl,
    /// Findings as comma-separated values with a header
    Csv,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Deep {
    /// Headers, descriptions and meta files only
    Header,
    /// Also tables, records and sectors, without decoding blocks
    Structure,
    /// Also the data of every block
    Decode,
    /// Also compare tables with sectors, to find blocks in wrong places
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
    // Read before signals only set a flag, so that a signal ends the wait for a pipe that nobody writes to.
    let mut baseline = arguments.baseline.as_deref().map_or_else(|| Ok(Baseline::default()), Baseline::read)?;
    let cancel = cancelled_by_signals();
    let mut out = stdout();
    let advice = check::Advice::new(&save);
    let mut printer = Printer {
        format: arguments.format,
        notes: arguments.notes,
        all: arguments.all,
        saves: Saves::new(&save),
        subject: advice.root().clone(),
        advice,
        file: None,
        advised: HashMap::new(),
        held: Vec::new(),
        hidden: 0,
    };
    if arguments.format == Format::Csv {
        export::write_csv::<check::Advised<'_>>(&mut out, None)?;
    }
    let mut findings = check::Findings::default();
    let level = arguments.level.level();
    let options = check::Options::default().level(level).effort(arguments.effort.to_library());
    let mut causes = Vec::new();
    let mut step = None;
    let mut take = |passed: Passed| {
        let finding = match &passed {
            Passed::Finding(finding) => finding,
            Passed::Checked(summary, answer) => {
                causes = findings.causes(&save);
                step = findings.next_step(&save);
                // What no rule explains may have its cause in what the deeper levels find.
                if level < check::Level::Semantic && save.regions().next().is_some() {
                    causes.retain(|cause| !matches!(cause.kind, CauseKind::Storage | CauseKind::Foreign));
                }
                let wanted = level == check::Level::Semantic && !arguments.no_plan && !summary.interrupted;
                let counts = baseline.new_of(summary.counts);
                // If the plan cannot be asked for, there is nobody who would make it.
                let _ = answer.try_send(wanted && (counts.errors + counts.warnings > 0 || !causes.is_empty()));
                return Ok(());
            }
        };
        if baseline.hides(finding) {
            return Ok(());
        }
        findings.add(finding);
        printer.finding(&mut out, finding)
    };
    let (mut summary, totals) = run_to(&save, arguments.jobs, options, &cancel, &mut take)?;
    summary.counts = baseline.new_of(summary.counts);
    summary.unread = summary.unread.saturating_sub(baseline.unread());
    let end = End {
        summary: &summary,
        causes: &causes,
        step,
        totals,
        save: &save,
        empty: is_empty(&save, &summary, level),
        level,
        effort: options.effort,
    };
    let printed = printer.end(&mut out, &end, baseline.count()).and_then(|()| out.flush());
    // Parts of the save are not there, so that no finding can name them.
    let incomplete = causes.iter().any(|cause| cause.kind == CauseKind::CopyIncomplete);
    let incomplete = incomplete && Level::from(arguments.fail_on) <= Level::Warning;
    let nothing = Exit::DAMAGED.when((end.empty || incomplete) && !summary.interrupted);
    Ok(after_reading(exit(&summary, arguments.fail_on.into()).and(nothing), printed.map_err(Failure::from)))
}

/// The result of a check.
struct End<'e> {
    summary: &'e Summary,
    causes: &'e [Cause],
    /// What to do where neither the causes nor the totals say it.
    step: Option<NextStep>,
    totals: Option<Totals>,
    save: &'e Save,
    /// Whether there was nothing to check.
    empty: bool,
    /// How deep it looked.
    level: check::Level,
    /// How much work it spent.
    effort: voxscope::recover::effort::Effort,
}

/// What a check says first of a save without an error or warning; `happened` is whether a cause or a repair is shown nevertheless.
pub(super) const fn words_without_damage(is_empty: bool, happened: bool) -> &'static str {
    match (is_empty, happened) {
        (true, _) => "nothing to check",
        // Nothing violates the format, and still a repair or the user has something to do.
        (false, true) => "no errors or warnings",
        (false, false) => "clean",
    }
}

/// Whether a save has no block that could have been checked.
pub(super) fn is_empty(save: &Save, summary: &Summary, level: check::Level) -> bool {
    // The levels before decode do not count the blocks of every format.
    let counted = level >= check::Level::Decode;
    summary.files == 0 || (counted && summary.stats.blocks == 0 && save.maps.is_empty() && summary.counts.errors == 0)
}

/// What the threads that check pass to the one that prints.
enum Passed {
    Finding(Finding),
    /// That was all. The answer says whether a repair is planned.
    Checked(Summary, SyncSender<bool>),
}

/// Checks with a progress bar on standard error, and passes each finding to `take` on the calling thread. Then plans a repair if
/// `take` asks for it; what it would bring back is `None` if it cannot be planned.
///
/// The thread that checked also plans: what one thread frees may not be used by another one, so both would take twice as much
/// memory.
fn run_to(
    save: &Save,
    jobs: Option<usize>,
    options: check::Options<'_>,
    cancel: &AtomicBool,
    take: &mut dyn FnMut(Passed) -> io::Result<()>,
) -> Result<(Summary, Option<Totals>), Failure> {
    let pool = pool::start(jobs)?;
    let bar = Bar::new();
    let progress = |progress| bar.show(progress);
    let (solutions, watch) = (Solutions::default(), Watch::default().cancel(cancel));
    let planned = repair::Options::default().effort(options.effort).watch(watch).solutions(&solutions);
    let options = options.watch(watch.progress(&progress)).solutions(&solutions);
    let work = |pass: &mut dyn FnMut(Passed)| {
        let summary = check::run(save, &options, |finding| pass(Passed::Finding(finding)));
        let (answer, is_wanted) = sync_channel(1);
        pass(Passed::Checked(summary.clone(), answer));
        let is_wanted = is_wanted.recv().unwrap_or(false);
        let totals = if is_wanted { repair::expected_totals(save, &planned).ok() } else { None };
        (summary, totals)
    };
    let take = |passed: Passed| match passed {
        Passed::Finding(_) => bar.suspend(|| take(passed)),
        Passed::Checked(..) => {
            bar.clear();
            take(passed)
        }
    };
    let done = pool.stream(cancel, work, take);
    bar.clear();
    done?.map_err(|_| Failure::Failed("the check ended unexpectedly; please report it with the file".to_owned()))
}

fn exit(summary: &Summary, fail_on: Level) -> Exit {
    Exit::DAMAGED
        .when(summary.counts.damage_at_least(fail_on) > 0)
        .and(Exit::FAILED.when(summary.unread > 0))
        .and(Exit::INTERRUPTED.when(summary.interrupted))
}

/// Width of a finding's level and the spaces around it.
const INDENT: &str = "           ";

/// Equal findings of blocks of one file from which on they are folded into one line.
const FOLDED: usize = 4;

/// Positions that a folded line names.
const NAMED: usize = 8;

/// Prints findings one by one; where there are several saves, save by save at the end.
pub struct Printer {
    format: Format,
    notes: bool,
    /// Whether equal findings are not folded.
    all: bool,
    /// The saves of a directory that has several of them.
    saves: Saves,
    /// The save that advice is about: what was checked, or one of its saves.
    subject: check::SaveArguments,
    /// The saves of what was checked.
    advice: check::Advice,
    /// The file whose findings are being printed.
    file: Option<Arc<str>>,
    /// Advice that is printed already, with the code that it was printed for.
    advised: HashMap<&'static str, Code>,
    /// Findings of that file that are not printed yet.
    held: Vec<Finding>,
    /// Notes that were not printed.
    hidden: u64,
}

impl Printer {
    fn finding(&mut self, out: &mut impl Write, finding: &Finding) -> io::Result<()> {
        match self.format {
            Format::Jsonl => return write_json(out, &self.advice.about(finding)),
            Format::Csv => return export::write_csv(out, Some(&self.advice.about(finding))),
            Format::Json => {
                let before = if self.file.is_some() { "," } else { "{\"findings\":[" };
                self.file = Some(Arc::clone(&finding.file));
                out.write_all(before.as_bytes())?;
                return write_json(out, &self.advice.about(finding));
            }
            Format::Text => {}
        }
        let level = finding.level();
        if level == Level::Note && !self.notes && finding.code() != Code::FindingsCut {
            self.hidden += 1;
            return Ok(());
        }
        if self.saves.hold(finding) { Ok(()) } else { self.text(out, finding) }
    }

    /// Prints a finding below the name of its file.
    fn text(&mut self, out: &mut impl Write, finding: &Finding) -> io::Result<()> {
        if self.file.as_ref() != Some(&finding.file) {
            self.release(out)?;
            let gap = if self.file.is_some() { "\n" } else { "" };
            writeln!(out, "{gap}{BOLD}{}{BOLD:#}", finding.file)?;
            self.file = Some(Arc::clone(&finding.file));
        }
        if !self.all && (finding.block.is_some() || finding.code() == Code::FindingsCut) {
            self.held.push(finding.clone());
            return Ok(());
        }
        self.print(out, finding)
    }

    /// Prints the findings of a file that are held, equal ones of several blocks as one line with a count.
    fn release(&mut self, out: &mut impl Write) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        let unlisted = |code| -> u64 {
            let all = held.iter().flat_map(|finding| &finding.unlisted);
            all.filter(|(of, _)| *of == code).map(|(_, n)| n).sum()
        };
        let mut order: Vec<Code> = Vec::new();
        for finding in &held {
            if !order.contains(&finding.code()) {
                order.push(finding.code());
            }
        }
        for code in order {
            let equal: Vec<&Finding> = held.iter().filter(|finding| finding.code() == code).collect();
            let shown = if equal.len() < FOLDED { equal.len() } else { 1 };
            for finding in equal.iter().take(shown) {
                self.print(out, finding)?;
            }
            let unlisted = unlisted(code);
            if shown < equal.len() || unlisted > 0 {
                let rest = &equal[shown..];
                let name = |finding: &&&Finding| {
                    let block = finding.block?;
                    let lod = if block.lod == 0 { String::new() } else { format!(" of LOD {}", block.lod) };
                    Some(voxscope::printable::triple(block.position?) + &lod)
                };
                let names: Vec<String> = rest.iter().take(NAMED).filter_map(|f| name(&f)).collect();
                let more = rest.len() as u64 + unlisted;
                let dots = if names.is_empty() || more <= names.len() as u64 { "" } else { ", …" };
                let colon = if names.is_empty() { "" } else { ": " };
                let blocks = count(more, "more block");
                let listed = match unlisted {
                    0 => "--all lists them".to_owned(),
                    _ if rest.is_empty() => "not listed".to_owned(),
                    _ => format!("--all lists {} of them", grouped(rest.len() as u64)),
                };
                let line = format!("{INDENT}{code} in {blocks}{colon}{}{dots} ({listed})", names.join(", "));
                writeln!(out, "{}", wrapped(&line, INDENT))?;
            }
        }
        Ok(())
    }

    /// Prints a finding and the advice about it, the same advice only once.
    fn print(&mut self, out: &mut impl Write, finding: &Finding) -> io::Result<()> {
        let level = finding.level();
        let (style, code, place) = (level_style(level), finding.code(), finding.place());
        let colon = if place.is_empty() { "" } else { ": " };
        let what = format!("  {style}{level:<7}{style:#}  {place}{colon}{}", finding.message());
        writeln!(out, "{}", wrapped(&what, INDENT))?;
        let advice = check::advice_about(finding, &self.subject);
        let next = match self.advised.get(advice) {
            None => check::advise(finding, &self.subject),
            Some(first) if *first == code => "see above".to_owned(),
            Some(first) => format!("see {first} above"),
        };
        self.advised.entry(advice).or_insert(code);
        let next = format!("{INDENT}{DIM}{code}:{DIM:#} {next}");
        writeln!(out, "{}", wrapped(&next, INDENT))
    }

    /// Prints the findings that are held, save by save, each below the name of the save and what it has.
    fn by_save(&mut self, out: &mut impl Write) -> io::Result<()> {
        for (name, findings) in self.saves.take() {
            self.release(out)?;
            self.advised.clear();
            // A name that was made printable leads to no file; nor does the title of what is in no save.
            let root = self.advice.root();
            let below = Some(root.path().join(&name)).filter(|save| save.exists());
            self.subject = below.map_or_else(|| root.clone(), |save| root.at(&save));
            let gap = if self.file.is_some() { "\n" } else { "" };
            let of = |level| findings.iter().filter(|finding| finding.level() == level).count() as u64;
            let levels = [(Level::Error, "error"), (Level::Warning, "warning"), (Level::Note, "note")];
            let counts = levels.map(|(level, word)| (of(level), word));
            let counts: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| count(*n, word)).collect();
            writeln!(out, "{gap}{BOLD}== {name}{BOLD:#} · {}", counts.join(", "))?;
            findings.iter().try_for_each(|finding| self.text(out, finding))?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut impl Write, end: &End<'_>, known: u64) -> io::Result<()> {
        let summary = end.summary;
        self.by_save(out)?;
        self.release(out)?;
        if self.format == Format::Json {
            out.write_all(if self.file.is_some() { b"],\"causes\":" } else { b"{\"findings\":[],\"causes\":" })?;
            write_json(out, &end.causes)?;
            out.write_all(b",\"summary\":")?;
            write_json(out, &self.summary_json(end, known))?;
            return out.write_all(b"}\n");
        }
        if self.format == Format::Csv {
            return Ok(());
        }
        if self.format == Format::Jsonl {
            for cause in end.causes {
                write_json(out, cause)?;
            }
            return write_json(out, &self.summary_json(end, known));
        }
        if self.file.is_some() {
            writeln!(out)?;
        }
        let Summary { counts, files, stats, interrupted, .. } = summary;
        let incomplete = end.causes.iter().any(|cause| cause.kind == CauseKind::CopyIncomplete);
        let clean = counts.errors + counts.warnings == 0 && !interrupted && (end.empty || !incomplete);
        let happened =
            known == 0 && (!end.causes.is_empty() || end.totals.is_some_and(|totals| totals.source > totals.kept));
        let mut verdict: Vec<String> = Vec::new();
        if *interrupted {
            verdict.push("interrupted before its end".to_owned());
        } else if end.empty || clean {
            // Only what was checked as a whole is clean.
            let is_whole = end.level == check::Level::Semantic || end.save.regions().next().is_none();
            verdict.push(match end.level {
                _ if end.empty || happened => words_without_damage(end.empty, happened).to_owned(),
                _ if known > 0 => "nothing new".to_owned(),
                _ if is_whole => words_without_damage(false, false).to_owned(),
                level => format!("nothing found at the level {}", level.name()),
            });
        }
        let levels = [(counts.errors, "error"), (counts.warnings, "warning"), (counts.notes, "note")];
        verdict.extend(levels.into_iter().filter(|(n, _)| *n > 0).map(|(n, word)| count(n, word)));
        let style = if clean && !end.empty && !happened { GOOD } else { level_style(Level::Error) };
        // The sentence about what happened counts the blocks, with those in wrong places.
        let counted = end.totals.as_ref().is_some_and(|totals| totals.source > totals.kept);
        let damaged =
            if stats.damaged > 0 && !counted { format!(", {} damaged", grouped(stats.damaged)) } else { String::new() };
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
        if let Some(totals) = end.totals.filter(|totals| {
            (counted && totals.source != stats.blocks)
                || (totals.source > stats.blocks && totals.files_changed_for_certain() > 0)
        }) {
            let line = difference_of_counts(end.save, stats.blocks, totals.source);
            writeln!(out, "{}", wrapped(&line, ""))?;
        }
        for sentence in self.verdict(end) {
            writeln!(out, "{}", wrapped(&sentence.to_string(), ""))?;
        }
        if let Some(words) = end.effort.undecided_words(summary.undecided) {
            writeln!(out, "{}", wrapped(&format!("{words}."), ""))?;
        }
        let deeper = end.level < check::Level::Semantic && end.save.regions().next().is_some();
        let found = counts.errors + counts.warnings > 0;
        let hints = [
            (deeper && found, "--level semantic finds out what happened, and what repair brings back"),
            (deeper && !found, "--level semantic checks every block and its place"),
            (self.hidden > 0, "--notes lists the notes"),
            (self.file.is_some(), "voxscope explain CODE tells more"),
        ];
        let hints: Vec<&str> = hints.into_iter().filter(|(show, _)| *show).map(|(_, hint)| hint).collect();
        if !hints.is_empty() {
            writeln!(out, "{DIM}{}{DIM:#}", hints.join(" · "))?;
        }
        Ok(())
    }

    /// What happened, what is damaged, and what to do next.
    fn verdict(&self, end: &End<'_>) -> Vec<Sentence> {
        let step = end.step.as_ref().filter(|_| !end.empty);
        let mut sentences = check::sentences(end.causes, end.totals.as_ref(), step, self.advice.root(), end.effort);
        // Not for a file that cannot be read, nor where a cause says what to do.
        if end.empty && sentences.is_empty() && end.summary.unread == 0 {
            let text = "If the game has saved blocks, they are not in this save: look for a backup.";
            sentences.push(Sentence::Plain(text.to_owned()));
        }
        sentences
    }

    /// The last line of `--format jsonl`; see OUTPUT.md.
    fn summary_json(&self, end: &End<'_>, known: u64) -> serde_json::Value {
        let Summary { counts, files, stats, unread, misnamed, undecided, interrupted } = end.summary;
        let verdict = self.verdict(end);
        let command = verdict.iter().find_map(|sentence| match sentence {
            Sentence::Repair(words) => Some(words.command_with_level()),
            _ => None,
        });
        serde_json::json!({
            "type": "summary",
            "errors": counts.errors,
            "warnings": counts.warnings,
            "notes": counts.notes,
            "files": files,
            "files_unread": unread + misnamed,
            "blocks": stats.blocks,
            "blocks_damaged": stats.damaged,
            "stored_bytes": stats.stored_bytes,
            "plain_bytes": stats.plain_bytes,
            "undecided": undecided,
            "interrupted": interrupted,
            "known": known,
            "empty": end.empty,
            "totals": end.totals,
            "verdict": verdict.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "command": command,
        })
    }
}

/// Why a repair counts another number of blocks than the check.
fn difference_of_counts(save: &Save, checked: u64, counted: u64) -> String {
    let checked = count(checked, "block");
    if !save.maps.is_empty() {
        return format!(
            "{checked} were checked. A repair counts {}: each position once, and no block of a voxel map.",
            grouped(counted)
        );
    }
    format!(
        "{checked} could be found. A repair counts {}: each position that has a block or had one.",
        grouped(counted)
    )
}
