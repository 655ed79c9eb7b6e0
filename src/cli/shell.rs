//! `completions` and `man`: what shells and the manual know of the commands, made from the table of arguments.

use std::io::Write;

use clap_complete::Shell;

use super::exit::{Exit, Failure};
use super::suggest::suggest;

/// The name under which the program is installed.
const NAME: &str = "voxscope";

const COMPLETIONS_HELP: &str = "\
Examples:
  voxscope completions bash > ~/.local/share/bash-completion/completions/voxscope
  voxscope completions fish > ~/.config/fish/completions/voxscope.fish";

const MAN_HELP: &str = "\
Examples:
  voxscope man > voxscope.1
  voxscope man check | man -l -";

/// Arguments of `completions`.
#[derive(clap::Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

/// Arguments of `man`.
#[derive(clap::Args)]
#[command(after_help = MAN_HELP)]
pub struct ManArguments {
    /// A command; the program as a whole when not given
    command: Option<String>,
}

/// Prints the completions for a shell.
pub fn completions(arguments: &CompletionsArguments, mut command: clap::Command) -> Result<Exit, Failure> {
    // The generator panics when its output is closed, so it writes into memory.
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, NAME, &mut text);
    print(&text)
}

/// Prints a manual page in the format of `man`.
pub fn man(arguments: &ManArguments, mut command: clap::Command) -> Result<Exit, Failure> {
    // Gives every command its full name.
    command.build();
    let page = match &arguments.command {
        None => command,
        Some(name) => {
            let found = command.find_subcommand(name).cloned();
            let unknown = || Failure::Usage(unknown_command(name, &command));
            found.ok_or_else(unknown)?
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    print(&text)
}

fn unknown_command(name: &str, command: &clap::Command) -> String {
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let near = match suggest(name, &names, 1) {
        near if near.is_empty() => String::new(),
        near => format!("; did you mean {near}?"),
    };
    format!("there is no command `{}`{near}", voxscope::printable::printable(name))
}

fn print(text: &[u8]) -> Result<Exit, Failure> {
    // Scripts have tabs, and nothing of a save.
    let mut out = std::io::stdout();
    out.write_all(text)?;
    out.flush()?;
    Ok(Exit::CLEAN)
}
