//! `explain CODE`: a detailed explanation.

use std::io::Write;

use voxscope::check::CauseKind;
use voxscope::damage::Code;

use super::exit::{Exit, Failure};
use super::output::{Align, BOLD, level_style, paragraph, stdout, table, write_table};
use super::suggest::suggest;

const AFTER_HELP: &str = "\
Examples:
  voxscope explain                          list all codes
  voxscope explain block-epilogue
  voxscope explain power-lost               a cause that check names";

/// Arguments of `explain`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Code of a finding, such as block-epilogue, or name of a cause, such as power-lost; without it, all codes are listed
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
            let name = &name.to_lowercase();
            let code = Code::from_name(name);
            let cause = CauseKind::ALL.iter().find(|kind| kind.name() == name);
            if let Some(code) = code {
                let style = level_style(code.level());
                writeln!(out, "{BOLD}{code}{BOLD:#} · {style}{}{style:#} · {}", code.level(), code.title())?;
                writeln!(out, "\n{}", paragraph(code.explanation()))?;
                writeln!(out, "\n{}", paragraph(&format!("{BOLD}Next:{BOLD:#} {}", code.next())))?;
            }
            // A cause may have the name of a code.
            if let Some(cause) = cause {
                let gap = if code.is_some() { "\n" } else { "" };
                writeln!(out, "{gap}{BOLD}{cause}{BOLD:#} · cause · {}", cause.sentence())?;
                for (title, text) in [
                    ("What shows it", cause.tell_apart()),
                    ("Lost", cause.lost()),
                    ("What can come back", cause.comes_back()),
                ] {
                    writeln!(out, "\n{}", paragraph(&format!("{BOLD}{title}:{BOLD:#} {text}.")))?;
                }
                if code.is_none_or(|code| code.next() != cause.next()) {
                    writeln!(out, "\n{}", paragraph(&format!("{BOLD}Next:{BOLD:#} {}", cause.next())))?;
                }
            }
            if code.is_none() && cause.is_none() {
                return Err(Failure::Usage(unknown_code(name)));
            }
        }
    }
    out.flush()?;
    Ok(Exit::CLEAN)
}

/// The sentence for a code that does not exist, with the codes that are spelled like it.
fn unknown_code(name: &str) -> String {
    let codes = Code::ALL.iter().map(|code| code.name());
    let names: Vec<&str> = codes.chain(CauseKind::ALL.iter().map(|kind| kind.name())).collect();
    let near = suggest(name, &names, 5);
    let near = if near.is_empty() { String::new() } else { format!(" did you mean {near}?") };
    format!("unknown code `{}`;{near} `voxscope explain` lists all codes", voxscope::printable::printable(name))
}
