//! The command line: a file a command.

mod check;
mod convert;
mod demo;
mod diff;
mod exit;
mod explain;
#[cfg(feature = "tui")]
mod explore;
mod export;
mod info;
mod ls;
mod output;
mod repair;
mod show;
mod target;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use exit::{Exit, Failure};

const AFTER_HELP: &str = "\
Exit codes, OR-ed: 0 clean, 1 repaired, 4 damage found or left, 8 something could not be done, 16 wrong usage, 32 interrupted.
A save is never written to.";

/// Look inside voxel-game saves: what is in them, what is damaged, and why.
#[derive(Parser)]
#[command(version, about, after_help = AFTER_HELP, args_conflicts_with_subcommands = true, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// A save: a directory or a file of one, or a directory that holds several
    path: Option<PathBuf>,
    #[command(flatten)]
    options: target::Options,
    #[cfg(feature = "tui")]
    #[command(flatten)]
    look: explore::Look,
    #[cfg(feature = "tui")]
    #[command(flatten)]
    against: explore::Two,
    /// When to use colours
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    color: Color,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
enum Command {
    /// Check every block and say what is damaged, why, and what to do
    Check(check::Arguments),
    /// What a save is made of
    Info(info::Arguments),
    /// List blocks
    Ls(ls::Arguments),
    /// Look at one block or one voxel
    Show(show::Arguments),
    /// The long story behind a finding's code
    Explain(explain::Arguments),
    /// Write voxels, metadata and tables as files for other programs
    Export(export::Arguments),
    /// What differs between two saves, block by block and voxel by voxel
    Diff(diff::Arguments),
    /// Write a save anew in another form: a forest or a stream of today, other sizes of blocks
    Convert(convert::Arguments),
    /// Build a whole, healthy copy of a save beside it, as far as its bytes tell
    Repair(repair::Arguments),
    /// Sample saves, healthy and damaged, that the program makes itself
    Demo(demo::Arguments),
}

/// Runs the program.
pub fn main() -> ExitCode {
    let given = attach_negatives(std::env::args_os());
    let arguments = match Arguments::try_parse_from(&given) {
        Ok(arguments) => arguments,
        Err(error) => {
            // The message repeats arguments as they are, so it is made anew of printable ones.
            let error = Arguments::try_parse_from(given.iter().map(printable)).err().unwrap_or(error);
            // Help and version are no errors; where they cannot be printed there is nobody to tell.
            let _ = error.print();
            return if error.use_stderr() { Exit::USAGE.into() } else { Exit::CLEAN.into() };
        }
    };
    let color = arguments.color;
    match color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    let result = match arguments.command {
        Some(Command::Check(arguments)) => check::run(&arguments),
        Some(Command::Info(arguments)) => info::run(&arguments),
        Some(Command::Ls(arguments)) => ls::run(&arguments),
        Some(Command::Show(arguments)) => show::run(&arguments),
        Some(Command::Explain(arguments)) => explain::run(&arguments),
        Some(Command::Export(arguments)) => export::run(&arguments),
        Some(Command::Diff(arguments)) => diff::run(&arguments, color),
        Some(Command::Convert(arguments)) => convert::run(&arguments),
        Some(Command::Repair(arguments)) => repair::run(&arguments),
        Some(Command::Demo(arguments)) => demo::run(&arguments, color),
        #[cfg(feature = "tui")]
        None => explore::run(arguments.path, arguments.options, &arguments.against, &arguments.look, color),
        #[cfg(not(feature = "tui"))]
        None => info::browse(arguments.path, arguments.options),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(Failure::ClosedPipe) => Exit::FAILED.into(),
        Err(failure) => {
            anstream::eprintln!("voxscope: {failure}");
            failure.exit().into()
        }
    }
}

fn printable(argument: &OsString) -> String {
    voxscope::printable::path(argument.as_ref())
}

/// Attaches the value in `--block -1,0,2`, so that a negative number after a space is not taken for an option.
fn attach_negatives(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let takes_triple = |s: &OsString| ["--block", "--voxel", "--at", "--box"].iter().any(|name| s == name);
    let is_negative =
        |s: &str| s.strip_prefix('-').is_some_and(|s| s.starts_with(|c: char| c.is_ascii_digit() || c == '.'));
    let mut out: Vec<OsString> = Vec::new();
    for argument in arguments {
        match out.last_mut() {
            Some(last) if takes_triple(last) && argument.to_str().is_some_and(is_negative) => {
                last.push("=");
                last.push(argument);
            }
            _ => out.push(argument),
        }
    }
    out
}
