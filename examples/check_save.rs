//! Checks a save and prints what is wrong with it: `cargo run --example check_save -- SAVE`.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use voxscope::check::{self, Level};
use voxscope::save::{self, Save};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let path = PathBuf::from(std::env::args_os().nth(1).ok_or("usage: check_save SAVE")?);
    let save = Save::open(&path, &save::Options::default())?;
    let mut options = check::Options::default();
    options.level = Level::Semantic;
    let summary = check::run(&save, &options, |finding| println!("{finding}"));
    let counts = summary.counts;
    println!("{} errors, {} warnings in {} blocks", counts.errors, counts.warnings, summary.stats.blocks);
    Ok(if counts.errors + counts.warnings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
