//! `demo`: sample saves that the program makes itself.

use std::path::PathBuf;

use super::exit::{Exit, Failure};

/// Arguments of `demo`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Write the saves into this directory, which must be new or empty
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let _ = &arguments.write;
    Ok(Exit::CLEAN)
}
