//! `explain CODE`: the long story.

use std::io::Write;

use voxscope::damage::Code;

use super::exit::{Exit, Failure};
use super::output::{Align, BOLD, level_style, paragraph, stdout, table, write_table};

/// Arguments of `explain`.
#[derive(clap::Args)]
pub struct Arguments {
    /// A code, such as block-epilogue; without one, all codes are listed
    code: Option<String>,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let mut out = stdout();
    match &arguments.code {
        None => {
            let mut list = table(&[("code", Align::Left), ("level", Align::Left), ("", Align::Left)]);
            for code in Code::ALL {
                list.add_row([code.name(), code.level().name(), code.title()]);
            }
            write_table(&mut out, &list)?;
        }
        Some(name) => {
            let Some(code) = Code::from_name(name) else {
                return Err(Failure::Usage(format!(
                    "there is no code `{}`; did you mean `{}`? `voxscope explain` lists all of them",
                    voxscope::printable::printable(name),
                    closest(name),
                )));
            };
            let style = level_style(code.level());
            writeln!(out, "{BOLD}{code}{BOLD:#} · {style}{}{style:#} · {}", code.level(), code.title())?;
            writeln!(out, "\n{}", paragraph(code.story()))?;
            writeln!(out, "\n{}", paragraph(&format!("{BOLD}Next:{BOLD:#} {}", code.next())))?;
        }
    }
    out.flush()?;
    Ok(Exit::CLEAN)
}

/// The code that shares the most words, and then the longest beginning, with `name`; of several the shortest.
fn closest(name: &str) -> Code {
    let words: Vec<&str> = name.split(['-', '_', ' ']).collect();
    let likeness = |code: &&Code| {
        let shared = code.name().split('-').filter(|word| words.contains(word)).count();
        let prefix = code.name().bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
        (shared, prefix, std::cmp::Reverse(code.name().len()))
    };
    Code::ALL.iter().max_by_key(likeness).copied().unwrap_or(Code::BlockEpilogue)
}
