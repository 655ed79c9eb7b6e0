//! The program: arguments to a command, an error to an exit code.
#![forbid(unsafe_code)]

#[cfg_attr(not(test), deny(clippy::disallowed_methods))]
mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
