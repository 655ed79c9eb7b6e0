//! `repair`: a whole, healthy copy of a save, built beside it.

use std::io::Write;
use std::path::{Path, PathBuf};

use voxscope::check::{self, Summary, Totals};
use voxscope::damage::Code;
use voxscope::draft;
use voxscope::godot::slots::SlotFormula;
use voxscope::recover::solutions::Solutions;
use voxscope::repair::preview::FILES_MISSING;
use voxscope::repair::{self, Accepted, Error, Plan, Written};
use voxscope::save::{Forest, Kind, Save, Scratch};
use voxscope::watch::Watch;

use super::effort::Effort;
use super::exit::{Exit, Failure};
use super::output::{
    BOLD, GOOD, after_reading, after_report, complain_of_lost, complain_of_uncopied, complain_of_unread_beside, count,
    level_style, stdout, wrapped, write_json, write_json_pretty,
};
use super::pool;
use super::progress::{Bar, cancelled_by_signals};
use super::target;

const WARNING: anstyle::Style = level_style(voxscope::damage::Level::Warning);

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    /// Sentences for people
    #[value(aliases = ["human", "table"])]
    Text,
    /// One JSON object, indented
    Json,
    /// The same object on one line
    Jsonl,
}

const AFTER_HELP: &str = "\
Examples:
  voxscope repair world --plan
  voxscope repair world --out world-repaired --from-backup world-backup";

/// Arguments of `repair`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The save, which is only read
    source: PathBuf,
    /// Write the repaired copy here, a new directory, or a new file if the save is one stream
    #[arg(long, value_name = "DST")]
    out: Option<PathBuf>,
    /// Print what would be done and write nothing
    #[arg(long)]
    plan: bool,
    /// How certain the position of a block must be
    #[arg(long, value_name = "LEVEL", default_value = "certain")]
    level: Level,
    /// How much work to spend on blocks whose places are hard to decide
    #[arg(long, value_name = "EFFORT", default_value = "normal")]
    effort: Effort,
    /// A backup of the same save, which is only read: it identifies blocks and supplies older states of lost ones
    #[arg(long, value_name = "PATH")]
    from_backup: Option<PathBuf>,
    /// Write the block at this sector of a region file to this position, whatever its certainty; `FILE:@BYTE` for a block
    /// that begins at no sector; may be repeated
    #[arg(long, value_name = "X,Y,Z@LOD=FILE:SECTOR", allow_hyphen_values = true)]
    accept: Vec<Accepted>,
    /// Form of the output; json is the object of `repair.json`, also for a plan
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Number of threads [default: one per core]
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    options: target::Options,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Level {
    /// Only positions that are certain
    Certain,
    /// Also positions that are at least 98 % likely; they are marked in repair.json
    Likely,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    if arguments.out.is_none() && !arguments.plan {
        let why = "give --out NEW to write a repaired copy, or --plan to print what it would do and write nothing";
        return Err(Failure::Usage(why.to_owned()));
    }
    let save = arguments.options.open(&arguments.source)?;
    repair::check_alone(&save).map_err(|error| Failure::Usage(error.to_string()))?;
    let backup = arguments.from_backup.as_ref().map(|path| arguments.options.open(path)).transpose()?;
    // First, so that nothing that follows is taken for all of the save.
    let of_backup = backup.as_ref().map_or(Exit::CLEAN, complain_of_unread_beside);
    let unread = complain_of_uncopied(&save).and(complain_of_lost(&save)).and(of_backup);
    if backup.as_ref().is_some_and(|backup| backup.forests.is_empty() && backup.streams.is_empty()) {
        if of_backup == Exit::FAILED {
            return Err(Failure::Failed("nothing of the backup can be read".to_owned()));
        }
        let path = arguments.from_backup.as_deref().map(voxscope::printable::path).unwrap_or_default();
        let is = backup.as_ref().map_or("no save", kind_of);
        return Err(Failure::Usage(format!("--from-backup {path}: it is {is}, and must be a save of Godot Voxel")));
    }
    if let (Some(backup), Some(path)) = (&backup, &arguments.from_backup) {
        let has = |save: &Save, is_block_files: bool| {
            save.forests.iter().any(|forest| (forest.kind == Kind::BlockFiles) == is_block_files)
        };
        let has_same = (has(&save, false) && has(backup, false))
            || (has(&save, true) && has(backup, true))
            || (!save.streams.is_empty() && !backup.streams.is_empty());
        if !has_same {
            let (of, path) = (kind_of(&save), voxscope::printable::path(path));
            let why = format!("--from-backup {path}: it is {}, and the save is {of}", kind_of(backup));
            return Err(Failure::Usage(why));
        }
    }
    let cancel = cancelled_by_signals();
    let pool = pool::start(arguments.jobs)?;
    let bar = Bar::new();
    let progress = |progress| bar.show(progress);
    let solutions = Solutions::default();
    let options_of = |likely| {
        repair::Options::default()
            .likely(likely)
            .backup(backup.as_ref())
            .accept(&arguments.accept)
            .effort(arguments.effort.to_library())
            .watch(Watch::default().cancel(&cancel).progress(&progress))
            .solutions(&solutions)
    };
    let options = options_of(arguments.level == Level::Likely);
    let mut more = More::default();
    let done = pool.install(|| match &arguments.out {
        Some(out) if !arguments.plan => repair::run(&save, out, &options).map(|done| {
            let few = repair::totals(&save, &done.plan);
            // What the copy lacks may be there at the level likely. The regions are already solved.
            if arguments.level == Level::Certain
                && done.plan.leaves_damage()
                && let Ok(likely) = repair::plan(&save, &options_of(true))
            {
                more.totals = beyond(few, repair::outlook(few, repair::totals(&save, &likely)));
            }
            more.has_cause = done.has_cause;
            (done.plan, Some(done.check))
        }),
        // Without and with the likely places: the regions are solved once for both.
        _ if arguments.level == Level::Certain => repair::plan_both(&save, &options).map(|[certain, likely]| {
            let [few, many] = [&certain, &likely].map(|plan| repair::totals(&save, plan));
            let outlook = repair::outlook(few, many);
            let copy = outlook.advises_likely().then_some(many);
            more = More { totals: beyond(few, outlook), copy, ..More::default() };
            (certain, None)
        }),
        _ => repair::plan(&save, &options).map(|plan| (plan, None)),
    });
    bar.clear();
    let (plan, check) = match done {
        Ok(done) => done,
        Err(Error::Build(draft::Error::Interrupted)) => return Ok(Exit::INTERRUPTED),
        Err(error @ (Error::Build(draft::Error::Destination { .. }) | Error::Accept { .. } | Error::Misfit { .. })) => {
            return Err(Failure::Usage(error.to_string()));
        }
        Err(error) => return Err(Failure::Failed(error.to_string())),
    };
    // A plan leaves what a repair does not mend. The check of a copy counts it.
    let (left, exit) = match &check {
        Some(check) => (None, exit_of_copy(&save, &plan, check)),
        None => {
            let options = check::Options::default()
                .level(check::Level::Semantic)
                .effort(options.effort)
                .watch(Watch::default().cancel(&cancel))
                .solutions(&solutions);
            let left = pool.install(|| repair::expected_check(&save, &plan, &options));
            let Some(left) = left.map_err(|error| Failure::Failed(error.to_string()))? else {
                return Ok(Exit::INTERRUPTED);
            };
            let exit = exit_of_plan(&save, &plan, &left.summary);
            // Without a backup: what is missing then is not in there either.
            more.lacks_files = backup.is_none() && has_damage(&left.summary) && left.lacks_files;
            (Some(left.summary), exit)
        }
    };
    let exit = exit.and(unread);
    let printed = match arguments.format {
        Format::Text => report(arguments, &save, &plan, &more, check.as_ref(), left.as_ref()),
        form => {
            print_json(form, &repair::report(&save, &plan, &options, &repair::totals(&save, &plan), check.as_ref()))
        }
    };
    match &arguments.out {
        Some(out) if check.is_some() => Ok(after_report(out, exit, printed)),
        _ => Ok(after_reading(exit, printed)),
    }
}

/// What only other options write than those of a plan.
#[derive(Default)]
struct More {
    /// What only `--level likely` writes.
    totals: Totals,
    /// The copy at the level likely, if that is the one to write.
    copy: Option<Totals>,
    /// Whether files are missing that a backup may have.
    lacks_files: bool,
    /// Whether the check of the copy shows that something happened to the save, so that it does not call it clean.
    has_cause: bool,
}

/// An outlook on both levels with what the level likely writes beyond the totals `certain` of the other.
const fn beyond(certain: Totals, outlook: Totals) -> Totals {
    Totals { likely: outlook.likely.saturating_sub(certain.likely), ..outlook }
}

/// What to do with a copy before a current engine opens it, if negative blocks of it are in the slots of the old formula, as the check
/// of the copy says too.
fn conversion_words(save: &Save, copy: &Path) -> Option<String> {
    // Options that give a formula are about the save.
    let mut options = save.options.clone().slots(None);
    options.inferred_slots = None;
    let copy = Save::open(copy, &options).ok()?;
    let mut scratch = Scratch::default();
    let has_old = copy.regions().filter_map(|(forest, file)| copy.region(forest, file).ok()?).any(|mut region| {
        let is_concerned = region.is_negative() && !region.entries.is_empty();
        is_concerned && matches!(region.own_slots(&mut scratch), Ok(Some(SlotFormula::Legacy)))
    });
    has_old.then(|| check::first_step(Code::SlotsOld.next(), &check::SaveArguments::new(&copy)))
}

/// What a save is, in words.
fn kind_of(save: &Save) -> &'static str {
    let is_block_files = |forest: &Forest| forest.kind == Kind::BlockFiles;
    match () {
        () if save.forests.iter().any(is_block_files) => "a save of block files",
        () if !save.forests.is_empty() => "a forest or region files",
        () if !save.streams.is_empty() => "a stream",
        () if !save.pak_dirs.is_empty() => "a room of pak regions",
        () => "a voxel map",
    }
}

/// The exit code of a repair whose copy was checked.
fn exit_of_copy(save: &Save, plan: &Plan, check: &Summary) -> Exit {
    Exit::REPAIRED
        .when(!plan.changes_nothing())
        .and(Exit::DAMAGED.when(plan.leaves_damage() || has_damage(check) || is_empty(check, save)))
        .and(Exit::FAILED.when(check.unread > 0))
}

/// The exit code that the repair of a plan will have; `left` is the check that its copy is expected to have.
fn exit_of_plan(save: &Save, plan: &Plan, left: &Summary) -> Exit {
    if plan.changes_nothing() {
        return exit_of_copy(save, plan, left);
    }
    // A copy without a block has nothing that could be checked.
    let writes_nothing = repair::expected_copy(save, &repair::totals(save, plan)) == Written::NoBlock;
    Exit::REPAIRED
        .and(Exit::DAMAGED.when(plan.leaves_damage() || writes_nothing || has_damage(left)))
        .and(Exit::FAILED.when(left.unread > 0))
}

const fn has_damage(check: &Summary) -> bool {
    check.counts.errors + check.counts.warnings > 0
}

/// Whether a copy has nothing that could be checked.
fn is_empty(check: &Summary, save: &Save) -> bool {
    check.files == 0 || (check.stats.blocks == 0 && save.maps.is_empty())
}

/// Prints what is done in one of the machine formats.
fn print_json(form: Format, report: &impl serde::Serialize) -> Result<(), Failure> {
    let mut out = stdout();
    match form {
        Format::Jsonl => write_json(&mut out, report)?,
        _ => write_json_pretty(&mut out, report)?,
    }
    Ok(out.flush()?)
}

/// Prints what was done, or would be.
fn report(
    arguments: &Arguments,
    save: &Save,
    plan: &Plan,
    more: &More,
    check: Option<&Summary>,
    left: Option<&Summary>,
) -> Result<(), Failure> {
    let mut out = stdout();
    print_plan(&mut out, save, plan, more)?;
    if let Some(left) = left.map(|left| left.counts.errors + left.counts.warnings).filter(|left| *left > 0) {
        let (findings, it) = (count(left, "finding"), if left == 1 { "it" } else { "them" });
        let command = check::SaveArguments::new(save).at(&arguments.source).command("check");
        // Other options may mend it.
        let what = if more.copy.is_some() || more.lacks_files { "this plan" } else { "a repair" };
        let line = format!("{findings} that {what} does not mend: `{command}` lists {it}.");
        writeln!(out, "{}", wrapped(&line, "  "))?;
    }
    if let Some(advice) = check::lone_name_advice(save) {
        writeln!(out, "{}", wrapped(advice, "  "))?;
    }
    if let Some(check) = check {
        let left = check.counts.errors + check.counts.warnings;
        let (style, verdict) = match () {
            () if left > 0 => (WARNING, count(left, "finding") + " left"),
            () if repair::uncopied(save).next().is_some() => {
                (WARNING, "checked; it lacks what was not read".to_owned())
            }
            () if is_empty(check, save) => (WARNING, "there is no block in it".to_owned()),
            () if more.has_cause => (WARNING, "checked, no errors or warnings".to_owned()),
            () => (GOOD, "checked, clean".to_owned()),
        };
        let at = arguments.out.as_deref().map(voxscope::printable::path).unwrap_or_default();
        writeln!(out, "{BOLD}{at}{BOLD:#}: {style}{verdict}{style:#} · {}", count(check.stats.blocks, "block"))?;
    }
    let has_backup = arguments.from_backup.is_some();
    let needs_likely = more.totals.needs_likely;
    let totals = (!plan.changes_nothing()).then(|| Totals { has_backup, needs_likely, ..repair::totals(save, plan) });
    let is_region = repair::is_region_file(save);
    let written = check.map(|check| match is_empty(check, save) {
        true => Written::NoBlock,
        false if is_region => Written::RegionFile,
        false => Written::Save,
    });
    let mut lines: Vec<String> = totals.iter().flat_map(|totals| repair::total_words(totals, written)).collect();
    // The last one of a copy says what to do with it.
    let likely_at = lines.len().saturating_sub(usize::from(written.is_some()));
    lines.splice(likely_at..likely_at, likely_words(&more.totals));
    for line in lines {
        writeln!(out, "{}", wrapped(&line, "  "))?;
    }
    let end = match check {
        Some(_) => {
            let out = arguments.out.as_deref().filter(|_| totals.is_some());
            out.and_then(|out| conversion_words(save, out)).into_iter().collect()
        }
        None => plan_end(arguments, save, totals.as_ref(), more),
    };
    for line in end {
        writeln!(out, "{}", wrapped(&line, "  "))?;
    }
    Ok(out.flush()?)
}

/// The end of a plan, a line a sentence: the options that write a copy, and what to do with it. `totals` are those of the plan, if it
/// changes something.
fn plan_end(arguments: &Arguments, save: &Save, totals: Option<&Totals>, more: &More) -> Vec<String> {
    let mut lines = Vec::new();
    if more.lacks_files {
        lines.push(FILES_MISSING.to_owned());
    }
    let has_backup = arguments.from_backup.is_some();
    let copy = more.copy.map(|likely| Totals { has_backup, ..likely });
    let is_likely = copy.is_some();
    let Some(copy) = copy.or_else(|| totals.copied()) else { return lines };
    if more.totals.needs_likely {
        lines.push("Without `--level likely` the copy would lack most blocks of the save.".to_owned());
    }
    let words = match &arguments.out {
        // Without `--plan` the command has all that it needs.
        Some(out) if is_likely => {
            let out = voxscope::printable::path(out);
            format!("With `--level likely` in place of `--plan`, {out} is a copy with what is only likely.")
        }
        Some(out) => format!("Without `--plan`, {} is this copy.", voxscope::printable::path(out)),
        None => {
            let out = check::repaired_path(&arguments.source);
            match is_likely {
                true => {
                    format!("`--level likely --out {out}` in place of `--plan` writes a copy with what is only likely.")
                }
                false => format!("`--out {out}` in place of `--plan` writes this copy."),
            }
        }
    };
    lines.push(format!("Nothing is written. {words}"));
    lines.push(repair::advice_on_copy(&copy, repair::expected_copy(save, &copy), false));
    lines
}

/// What `--level likely` would write beyond a plan, a line a sentence.
fn likely_words(more: &Totals) -> Vec<String> {
    let mut lines = Vec::new();
    if more.likely > 0 {
        let (blocks, its) = (count(more.likely, "block"), voxscope::printable::its(more.likely));
        lines.push(format!("`--level likely` would also write {blocks}, with {its} place or content only likely."));
    }
    if more.salvaged_likely > 0 {
        let blocks = count(more.salvaged_likely, "block");
        lines.push(format!("`--level likely` would also write {blocks} in part."));
    }
    if more.files_likely > 0 && lines.is_empty() {
        let files = count(more.files_likely, "file");
        let also = if more.files_changed_for_certain() > 0 { "also " } else { "" };
        lines.push(format!("`--level likely` would {also}change {files}, with what is only likely."));
    }
    lines
}

fn print_plan(out: &mut impl Write, save: &Save, plan: &Plan, more: &More) -> Result<(), Failure> {
    let lines = repair::words(plan);
    if plan.changes_nothing() {
        let all = repair::uncopied(save).next().is_none() && plan.links.is_empty() && plan.special.is_empty();
        let nothing = match () {
            () if !all => "Nothing to repair in what was read.",
            () if more.copy.is_some() => "Nothing to repair for certain.",
            () if more.lacks_files => "Nothing to repair without a backup.",
            () => "Nothing to repair.",
        };
        writeln!(out, "{nothing}")?;
    }
    for line in lines {
        writeln!(out, "{}", wrapped(&line, "  "))?;
    }
    Ok(())
}
