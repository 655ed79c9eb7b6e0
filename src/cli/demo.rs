//! `demo`: sample saves that the program makes itself, to explore, to check where there is no terminal, or to keep.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use voxscope::check;
use voxscope::damage::{Code, Level};
use voxscope::demo::{self, Sample};
use voxscope::draft::Draft;
#[cfg(feature = "tui")]
use voxscope::picture::palette::Palette;
use voxscope::save::{Options, Save};
#[cfg(feature = "tui")]
use voxscope::tui::Settings;
use voxscope::watch::Watch;

use super::Color;
use super::check::{is_empty, words_without_damage};
use super::exit::{Exit, Failure};
#[cfg(feature = "tui")]
use super::explore;
use super::output::{BOLD, DIM, GOOD, count, level_style, stdout};

const AFTER_HELP: &str = "\
Examples:
  voxscope demo                             open the samples in the explorer
  voxscope demo --write samples             write them into a directory";

/// Arguments of `demo`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Write the samples into this directory, which must be new or empty
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    #[cfg(feature = "tui")]
    #[command(flatten)]
    look: explore::ThemeArgs,
}

pub fn run(arguments: &Arguments, color: Color) -> Result<Exit, Failure> {
    if let Some(dir) = &arguments.write {
        return write(dir);
    }
    let dir = TemporaryDirectory::new()?;
    #[cfg(feature = "tui")]
    if explore::has_terminal() {
        let settings = Settings {
            path: dir.saves(),
            prepare: Some(prepare),
            names: Palette::parse(demo::NAMES).unwrap_or_default(),
            notes: demo::TOUR.iter().map(|(stop, _, words)| (Path::new(stop).to_owned(), *words)).collect(),
            ..Settings::default()
        };
        return explore::explore(settings, &arguments.look, color);
    }
    let _ = color;
    tour(&dir.saves())
}

fn write(dir: &Path) -> Result<Exit, Failure> {
    let Some(samples) = write_beside(dir)? else { return Ok(Exit::INTERRUPTED) };
    let name = voxscope::printable::path(dir);
    let shown = voxscope::printable::argument(dir);
    let mut out = stdout();
    writeln!(out, "{} in {name}. Try:", count(samples.len() as u64, "save"))?;
    writeln!(out, "  voxscope check {shown}/healthy")?;
    writeln!(out, "  voxscope check {shown}/damaged/block-epilogue")?;
    writeln!(out, "  voxscope {shown}/healthy/current")?;
    out.flush()?;
    Ok(Exit::CLEAN)
}

/// Writes the samples and prints what a check finds in each.
fn tour(dir: &Path) -> Result<Exit, Failure> {
    let mut out = stdout();
    for sample in write_samples(dir)? {
        let path = dir.join(sample.path());
        let (codes, verdict) = check_sample(&path)?;
        writeln!(out, "{BOLD}{}{BOLD:#} {DIM}·{DIM:#} {}", voxscope::printable::path(&sample.path()), sample.about)?;
        let worst = codes.iter().filter(|code| code.level() > Level::Note);
        let names: Vec<String> = worst
            .map(|code| {
                let style = level_style(code.level());
                format!("{style}{} {code}{style:#}", code.level())
            })
            .collect();
        if names.is_empty() {
            writeln!(out, "  {GOOD}{verdict}{GOOD:#}")?;
        } else {
            writeln!(out, "  {}", names.join(", "))?;
        }
    }
    writeln!(out)?;
    writeln!(out, "voxscope demo --write DIR writes these saves; voxscope explain CODE explains a code.")?;
    out.flush()?;
    Ok(Exit::CLEAN)
}

fn write_samples(dir: &Path) -> Result<Vec<&'static Sample>, Failure> {
    demo::write_all(dir).map_err(|error| Failure::Failed(error.to_string()))
}

/// Bytes that the samples have at least.
const SAMPLE_BYTES: u64 = 8 << 20;

/// Writes the samples under a temporary name beside `dir`, so that there are all of them under its name, or none.
/// `None` if it was interrupted.
fn write_beside(dir: &Path) -> Result<Option<Vec<&'static Sample>>, Failure> {
    let failed = |error: voxscope::draft::Error| Failure::Failed(error.to_string());
    // The names of files that make a directory a save.
    const SAVES: [&str; 4] = ["meta.vxrm", "meta.vxbm", "map_data.json", "regions"];
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let above = absolute.ancestors().skip(1);
    if let Some(save) = above.into_iter().find(|above| SAVES.iter().any(|name| above.join(name).exists())) {
        let (dir, save) = (voxscope::printable::path(dir), voxscope::printable::path(save));
        return Err(Failure::Usage(format!(
            "{dir}: it is inside the save {save}; nothing is ever written into a save"
        )));
    }
    voxscope::draft::check_space(dir, SAMPLE_BYTES).map_err(failed)?;
    // An empty directory makes room for the result; one that cannot be removed, such as a mounted disk, is filled directly.
    let had = dir.is_dir();
    if had && std::fs::remove_dir(dir).is_err() {
        return write_samples(dir).map(Some);
    }
    if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        let failed = |error| Failure::Failed(format!("{}: {error}", voxscope::printable::path(parent)));
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    let cancel = super::progress::cancelled_by_signals();
    let written = Draft::new(&[], dir, &Watch::default()).map_err(failed).and_then(|draft| {
        let samples = write_samples(draft.root())?;
        if cancel.load(std::sync::atomic::Ordering::Relaxed) {
            // Dropping the draft removes what was written.
            return Ok(None);
        }
        draft.finish().map_err(failed)?;
        Ok(Some(samples))
    });
    if !matches!(written, Ok(Some(_))) && had {
        // As it was before.
        let _ = std::fs::create_dir(dir);
    }
    written
}

/// The codes that a check of a save finds, each once, and what it says first if there is no error or warning.
fn check_sample(path: &Path) -> Result<(Vec<Code>, &'static str), Failure> {
    let save = Save::open(path, &Options::default())?;
    let (mut codes, mut findings) = (Vec::new(), check::Findings::default());
    let level = check::Level::Semantic;
    let summary = check::run(&save, &check::Options::default().level(level), |finding| {
        findings.add(&finding);
        if !codes.contains(&finding.code()) {
            codes.push(finding.code());
        }
    });
    let is_empty = is_empty(&save, &summary, level);
    Ok((codes, words_without_damage(is_empty, !findings.causes(&save).is_empty())))
}

/// Whether the explorer has ended. It is locked while its samples are written, which a thread does in the background.
static ENDED: Mutex<bool> = Mutex::new(false);

/// Writes the samples of the explorer, unless it has ended.
#[cfg(feature = "tui")]
fn prepare(dir: &Path) -> std::io::Result<()> {
    let ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    if *ended {
        return Err(std::io::ErrorKind::Interrupted.into());
    }
    // The tour is written into the directory of the samples, which has to be empty before.
    demo::write_all(dir)?;
    demo::write_tour(dir)
}

/// A new directory that is removed at the end.
struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    /// The directory of the saves in it: the explorer shows its name.
    fn saves(&self) -> PathBuf {
        self.0.join("demo")
    }

    fn new() -> Result<Self, Failure> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let path = std::env::temp_dir().join(format!("voxscope-demo-{}-{now}", std::process::id()));
        // Fails when it exists, so that nothing of somebody else's is used or removed.
        let create = |path: &Path| {
            std::fs::create_dir(path)
                .map_err(|error| Failure::Failed(format!("{}: {error}", voxscope::printable::path(path))))
        };
        create(&path)?;
        let dir = Self(path);
        create(&dir.saves())?;
        Ok(dir)
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        // Nothing is written behind the one that removes.
        *ENDED.lock().unwrap_or_else(PoisonError::into_inner) = true;
        // What cannot be removed is left to the system's own cleaning.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
