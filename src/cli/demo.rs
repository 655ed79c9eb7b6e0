//! `demo`: sample saves that the program makes itself, to explore, to check where there is no terminal, or to keep.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use voxscope::check;
use voxscope::damage::{Code, Level};
use voxscope::demo::{self, Sample};
use voxscope::save::{Options, Save};
#[cfg(feature = "tui")]
use voxscope::tui::Settings;

use super::Color;
use super::exit::{Exit, Failure};
#[cfg(feature = "tui")]
use super::explore;
use super::output::{BOLD, DIM, GOOD, count, level_style, stdout};

/// Arguments of `demo`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Write the saves into this directory, which must be new or empty
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    #[cfg(feature = "tui")]
    #[command(flatten)]
    look: explore::Look,
}

pub fn run(arguments: &Arguments, color: Color) -> Result<Exit, Failure> {
    if let Some(dir) = &arguments.write {
        return write(dir);
    }
    let dir = TemporaryDirectory::new()?;
    #[cfg(feature = "tui")]
    if explore::has_terminal() {
        let greeting = "Made-up saves, many of them damaged: n goes to the next finding, ? shows all keys.";
        let settings = Settings {
            path: dir.0.clone(),
            prepare: Some(|dir| demo::write_all(dir).map(|_| ())),
            greeting: Some(greeting.to_owned()),
            ..Settings::default()
        };
        return explore::explore(settings, &arguments.look, color);
    }
    let _ = color;
    tour(&dir.0)
}

fn write(dir: &Path) -> Result<Exit, Failure> {
    let samples = make(dir)?;
    let shown = voxscope::printable::path(dir);
    let mut out = stdout();
    writeln!(out, "{} in {shown}. Try:", count(samples.len() as u64, "save"))?;
    writeln!(out, "  voxscope check {shown}/healthy")?;
    writeln!(out, "  voxscope check {shown}/damaged/block-epilogue")?;
    writeln!(out, "  voxscope {shown}/healthy/current")?;
    out.flush()?;
    Ok(Exit::CLEAN)
}

/// Makes the samples and says what a check finds in each.
fn tour(dir: &Path) -> Result<Exit, Failure> {
    let mut out = stdout();
    for sample in make(dir)? {
        let path = dir.join(sample.path());
        let codes = check_sample(&path)?;
        writeln!(out, "{BOLD}{}{BOLD:#} {DIM}·{DIM:#} {}", voxscope::printable::path(&sample.path()), sample.about)?;
        let worst = codes.iter().filter(|code| code.level() > Level::Note);
        let names: Vec<String> = worst
            .map(|code| {
                let style = level_style(code.level());
                format!("{style}{} {code}{style:#}", code.level())
            })
            .collect();
        if names.is_empty() {
            writeln!(out, "  {GOOD}clean{GOOD:#}")?;
        } else {
            writeln!(out, "  {}", names.join(", "))?;
        }
    }
    writeln!(out)?;
    writeln!(out, "voxscope demo --write DIR writes these saves; voxscope explain CODE tells what a code means.")?;
    out.flush()?;
    Ok(Exit::CLEAN)
}

fn make(dir: &Path) -> Result<Vec<&'static Sample>, Failure> {
    demo::write_all(dir).map_err(|error| Failure::Failed(error.to_string()))
}

/// Each code that a check of a save gives, once.
fn check_sample(path: &Path) -> Result<Vec<Code>, Failure> {
    let save = Save::open(path, &Options::default())?;
    let mut codes = Vec::new();
    check::run(&save, &check::Options::default(), |finding| {
        if !codes.contains(&finding.code()) {
            codes.push(finding.code());
        }
    });
    Ok(codes)
}

/// A new directory that is removed at the end.
struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    fn new() -> Result<Self, Failure> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let path = std::env::temp_dir().join(format!("voxscope-demo-{}-{now}", std::process::id()));
        // Fails when it exists, so that nothing of somebody else's is used or removed.
        std::fs::create_dir(&path)
            .map_err(|error| Failure::Failed(format!("{}: {error}", voxscope::printable::path(&path))))?;
        Ok(Self(path))
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's own cleaning.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
