//! The command line: one file per command.
//!
//! Takes arguments; gives text and machine formats on standard output, and exit codes. What a command does belongs into the
//! library, so that it can be tested without a process.

mod check;
mod convert;
#[allow(clippy::disallowed_methods)]
mod demo;
mod diff;
mod effort;
mod exit;
mod explain;
#[cfg(feature = "tui")]
mod explore;
mod export;
mod info;
mod ls;
mod output;
mod plain;
mod pool;
mod progress;
mod repair;
mod scope;
mod shell;
mod show;
mod suggest;
mod target;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use exit::{Exit, Failure};

const AFTER_HELP: &str = "\
Examples:
  voxscope world                            explore a save
  voxscope check world                      check it; `voxscope repair world --out NEW` writes a repaired copy

Exit codes (combined by OR): 0 clean, 1 repaired (with --plan: a repair would change something), 4 damage found or left,
8 failure, 16 wrong usage, 32 interrupted.
voxscope never writes into a save.";

/// Explore, check and repair saves of voxel games.
#[derive(Parser)]
#[command(version, about, after_help = AFTER_HELP, args_conflicts_with_subcommands = true, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// The save: its directory, one of its files, or a directory that contains several saves
    path: Option<PathBuf>,
    #[command(flatten)]
    options: target::Options,
    #[cfg(feature = "tui")]
    #[command(flatten)]
    look: explore::ThemeArgs,
    #[cfg(feature = "tui")]
    #[command(flatten)]
    against: explore::Two,
    /// When to print colours
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
    /// Check a save: list what is damaged, the cause, and what to do next
    Check(check::Arguments),
    /// Describe a save: its format, its layout and the number of blocks
    Info(info::Arguments),
    /// List blocks
    Ls(ls::Arguments),
    /// Show one block or one voxel
    Show(show::Arguments),
    /// A detailed explanation of a finding's code
    Explain(explain::Arguments),
    /// Export voxels, metadata and tables for other programs
    Export(export::Arguments),
    /// Compare two saves block by block and voxel by voxel
    Diff(diff::Arguments),
    /// Convert a save into a forest or a stream of the current version, or to another block size
    Convert(convert::Arguments),
    /// Write a repaired copy of a save
    Repair(repair::Arguments),
    /// Completions of commands and options for a shell, on standard output
    Completions(shell::CompletionsArguments),
    /// The manual page of the program or of a command, on standard output
    Man(shell::ManArguments),
    /// Open or write sample saves, healthy and damaged
    Demo(demo::Arguments),
}

/// Runs the program.
pub fn main() -> ExitCode {
    let given = attach_negatives(std::env::args_os());
    if let Some(sentence) = mistyped_command(&given) {
        output::complain(&sentence);
        return end(Exit::USAGE);
    }
    let arguments = match parse(given.clone()) {
        Ok(arguments) => arguments,
        Err(error) => {
            if let Some(sentence) = refused_format(&error, &given).or_else(|| bare_destination(&error, &given)) {
                output::complain(&sentence);
                return end(Exit::USAGE);
            }
            // The message repeats the arguments, so parse printable ones to build it.
            let error = parse(given.iter().map(|argument| printable(argument).into()).collect()).err().unwrap_or(error);
            // Help and version are no errors.
            let exit = if error.use_stderr() { Exit::USAGE } else { Exit::CLEAN };
            return end(exit.and(Exit::FAILED.when(error.print().is_err())));
        }
    };
    progress::ignore_file_size_signal();
    let color = arguments.color;
    match color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    // A file that is no save may hold a block alone.
    let path = arguments.path.as_deref().filter(|_| arguments.command.is_none());
    if let Some(shown) = path.and_then(|path| show::bare_file(path, &arguments.options)) {
        return finish(shown);
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
        Some(Command::Completions(arguments)) => shell::completions(&arguments, program()),
        Some(Command::Man(arguments)) => shell::man(&arguments, program()),
        Some(Command::Demo(arguments)) => demo::run(&arguments, color),
        #[cfg(feature = "tui")]
        None => explore::run(arguments.path, arguments.options, &arguments.against, &arguments.look, color),
        #[cfg(not(feature = "tui"))]
        None => info::browse(arguments.path, arguments.options),
    };
    finish(result)
}

/// Commands for which `--stale-rows` changes something. The others accept it, as they always did, and do not list it.
const WITH_STALE_ROWS: [&str; 3] = ["convert", "diff", "export"];

/// The program with all of its commands; the help of each lists its own options only.
fn program() -> clap::Command {
    let hide = |command: clap::Command| {
        let has = command.get_arguments().any(|argument| argument.get_id() == "stale_rows");
        if has { command.mut_arg("stale_rows", |argument| argument.hide(true)) } else { command }
    };
    let program = hide(Arguments::command());
    let names: Vec<String> = program.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names
        .into_iter()
        .filter(|name| !WITH_STALE_ROWS.contains(&name.as_str()))
        .fold(program, |program, name| program.mut_subcommand(name, hide))
}

fn parse(given: Vec<OsString>) -> Result<Arguments, clap::Error> {
    let mut program = program();
    let matches = program.try_get_matches_from_mut(given)?;
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut program))
}

/// Says why a command failed, and returns the exit code of the program.
fn finish(result: Result<Exit, Failure>) -> ExitCode {
    end(match result {
        Ok(exit) => exit,
        Err(failure) => output::complain_of_failure(&failure),
    })
}

/// The exit code of the program: what could not be said on standard error counts as a failure too.
fn end(exit: Exit) -> ExitCode {
    exit.and(Exit::FAILED.when(output::is_silent())).into()
}

/// Words for commands that other programs have, and the command that does the same here.
const SYNONYMS: [(&str, &str); 10] = [
    ("verify", "check"),
    ("validate", "check"),
    ("scan", "check"),
    ("fsck", "check"),
    ("fix", "repair"),
    ("restore", "repair"),
    ("recover", "repair"),
    ("list", "ls"),
    ("dir", "ls"),
    ("compare", "diff"),
];

/// The sentence for a name in the place of a command that is neither a command nor a path: it is spelled like a command or means the
/// same, or an argument follows it, or help on it is asked for.
fn mistyped_command(given: &[OsString]) -> Option<String> {
    let name = given.get(1)?;
    let (is_help, name) = if name == "help" { (true, given.get(2)?) } else { (false, name) };
    let text = name.to_str().filter(|text| text.bytes().all(|b| b.is_ascii_alphabetic()))?;
    let program = program();
    let commands: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
    if text == "help" || commands.contains(&text) || (!is_help && std::fs::symlink_metadata(name).is_ok()) {
        return None;
    }
    let same = SYNONYMS.iter().find(|(word, _)| *word == text);
    let near = same.map_or_else(|| suggest::suggest(text, &commands, 1), |(_, command)| format!("`{command}`"));
    let has_argument = given.get(2).is_some_and(|next| !next.to_string_lossy().starts_with('-'));
    match near {
        near if !near.is_empty() => Some(format!("unknown command `{text}`; did you mean {near}?")),
        _ if is_help || has_argument => Some(format!("unknown command `{text}`; `voxscope help` lists the commands")),
        _ => None,
    }
}

/// The text that an error of the arguments has about something.
fn text_of(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    }
}

/// The command among the arguments.
fn command_of(given: &[OsString]) -> Option<&str> {
    let program = program();
    let names: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
    given.iter().skip(1).filter_map(|word| word.to_str()).find(|word| names.contains(word))
}

/// The sentence for a destination that is given without its option, as other programs take it.
fn bare_destination(error: &clap::Error, given: &[OsString]) -> Option<String> {
    let argument = text_of(error, ContextKind::InvalidArg)?;
    let is_path = argument == "-o" || !argument.starts_with('-');
    let command = command_of(given).filter(|_| error.kind() == ErrorKind::UnknownArgument && is_path)?;
    let (source, option) = match command {
        "repair" | "convert" | "export" => (" SAVE", "--out"),
        "demo" => ("", "--write"),
        _ => return None,
    };
    let argument = voxscope::printable::printable(argument);
    Some(format!(
        "unexpected `{argument}`: `{option}` names the destination: `voxscope {command}{source} {option} NEW`"
    ))
}

/// The sentence for a value of `--format` that a command does not have: it names those that it has.
fn refused_format(error: &clap::Error, given: &[OsString]) -> Option<String> {
    let text = |kind| text_of(error, kind);
    if error.kind() != ErrorKind::InvalidValue || !text(ContextKind::InvalidArg)?.starts_with("--format ") {
        return None;
    }
    let Some(ContextValue::Strings(formats)) = error.get(ContextKind::ValidValue) else { return None };
    let (last, others) = formats.split_last()?;
    let command = command_of(given)?;
    let format = voxscope::printable::printable(text(ContextKind::InvalidValue)?);
    Some(format!("`voxscope {command}` has no format `{format}`: it writes {} or {last}", others.join(", ")))
}

fn printable(argument: &OsString) -> String {
    voxscope::printable::path(argument.as_ref())
}

/// Attaches the value in `--block -1,0,2`, so that a negative number is not parsed as an option.
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
