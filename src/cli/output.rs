//! Writing: styles, tables of text, machine formats, numbers for people.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use voxscope::check;
use voxscope::damage::Level;
pub use voxscope::printable::{size, write_json, write_json_pretty};
use voxscope::repair;
use voxscope::save::{Fault, Save};

use super::exit::{Exit, Failure};

/// Buffered standard output, with colours if they are enabled. What a terminal would act on is escaped, wherever it
/// comes from: libraries repeat names of a save in their errors.
pub fn stdout() -> impl Write {
    super::plain::PlainWriter::new(BufWriter::with_capacity(1 << 16, anstream::stdout()))
}

/// Set when standard error could not be written.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Prints a line about what went wrong on standard error. Text of a save and of libraries in it is made printable.
pub fn complain(text: &dyn std::fmt::Display) {
    let text: Vec<String> = text.to_string().split('\n').map(voxscope::printable::printable).collect();
    let mut err = anstream::stderr();
    if writeln!(err, "voxscope: {}", text.join("\n")).and_then(|()| err.flush()).is_err() {
        SILENT.store(true, Ordering::Relaxed);
    }
}

/// Says how many blocks, or what `what` names, are left out because another one has their position.
pub fn warn_of_twice(of: &str, what: &str, n: u64) {
    if n > 0 {
        complain(&format_args!("{of}{} left out because another one has the same position", count(n, what)));
    }
}

/// Whether something could not be said on standard error.
pub fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// What a line about one of several saves begins with: its name and a colon. Empty where there is only one.
pub fn of_several(save: &Save, name: &str) -> String {
    if save.forests.len() + save.streams.len() > 1 { format!("{name}: ") } else { String::new() }
}

/// Says on standard error that blocks, or what `what` names, are used where the tables or the names of files have them although they
/// belong elsewhere, or may, and that unowned ones are not used; returns the exit code for that. `of` names the save where there
/// are several, as in [`of_several`].
pub fn warn_of_misplaced(of: &str, what: &str, misplaced: &check::Misplaced, used: &str) -> Exit {
    for file in &misplaced.files {
        complain_of_file(&file.file, &file.why);
    }
    let n = misplaced.blocks;
    if n > 0 {
        let (are, it) = if n == 1 { ("is", "it") } else { ("are", "them") };
        complain(&format_args!(
            "{of}{} that can be read {are} in the wrong place, or may be, and {are} {used} where the save has {it}; run `voxscope repair` first and use its copy",
            count(n, what)
        ));
    }
    let unowned = misplaced.unowned;
    if unowned > 0 {
        let are = if unowned == 1 { "is" } else { "are" };
        complain(&format_args!(
            "{of}{} to which no table leads {are} not {used}; run `voxscope repair` first and use its copy",
            count(unowned, &format!("whole {what}"))
        ));
    }
    Exit::DAMAGED.when(n > 0 || unowned > 0)
}

/// Says on standard error which files are damaged and were read as a whole nevertheless.
pub fn warn_of_corrected(files: &[voxscope::world::Fault]) {
    for fault in files {
        complain(&format_args!("{}: {}: corrected; no block is missing because of it", fault.file, fault.why));
    }
}

/// Files that were named on standard error because they were not read.
static NAMED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Says on standard error why a file was not read, or not completely.
pub fn complain_of_file(file: &str, why: &str) {
    NAMED.lock().unwrap_or_else(PoisonError::into_inner).insert(file.to_owned());
    complain(&format_args!("{file}: {why}"));
}

/// The same, unless the file was named before.
pub fn complain_of_file_once(file: &str, why: &str) {
    if !NAMED.lock().unwrap_or_else(PoisonError::into_inner).contains(file) {
        complain_of_file(file, why);
    }
}

/// Says on standard error which parts of a save were not read, those left out that were named before, and returns the exit
/// code for that.
pub fn complain_of_unread(save: &Save) -> Exit {
    complain_of_faults(save.unread(), |path| save.shown(path))
}

/// The same of a repair, which keeps files of blocks whose names are no positions in `lost+found`.
pub fn complain_of_uncopied(save: &Save) -> Exit {
    complain_of_faults(repair::uncopied(save), |path| save.shown(path))
}

/// Says on standard error what is in `lost+found` of a save and is not copied, and returns the exit code for that.
pub fn complain_of_lost(save: &Save) -> Exit {
    let uncopied = repair::uncopied_of_lost(save);
    uncopied.iter().for_each(|(path, why)| complain_of_file_once(&save.shown(path), &why.to_string()));
    Exit::FAILED.when(!uncopied.is_empty())
}

/// The same of a second save, whose files are named by their whole paths.
pub fn complain_of_unread_beside(save: &Save) -> Exit {
    complain_of_faults(save.unread(), voxscope::printable::path)
}

/// Says on standard error what is left out of files, and returns the exit code for that.
pub fn complain_of_parts(left_out: &[check::LeftOut]) -> Exit {
    left_out.iter().for_each(|part| complain_of_file_once(&part.file, &part.why));
    Exit::FAILED.when(!left_out.is_empty())
}

fn complain_of_faults<'s>(faults: impl Iterator<Item = &'s Fault>, name: impl Fn(&Path) -> String) -> Exit {
    let mut exit = Exit::CLEAN;
    for fault in faults {
        complain_of_file_once(&name(&fault.path), &fault.why());
        exit = Exit::FAILED;
    }
    exit
}

/// Says on standard error which pak regions and voxel maps of a save are left out by a command that reads saves of Godot
/// Voxel only, and returns the exit code for that.
pub fn complain_of_others(save: &Save, why: &str) -> Exit {
    let others = save.pak_dirs.iter().map(|dir| &dir.dir).chain(save.maps.iter().map(|map| &map.dir));
    complain_of_left_out(save, others.map(PathBuf::as_path), why)
}

/// Says on standard error which parts of a save a command leaves out, each once, and returns the exit code for that.
pub fn complain_of_left_out<'p>(save: &Save, parts: impl Iterator<Item = &'p Path>, why: &str) -> Exit {
    let mut named = BTreeSet::new();
    for path in parts.filter(|path| named.insert(*path)) {
        // The parts of a directory may be in the directory itself.
        let name = if path == save.path { voxscope::printable::path(path) } else { save.shown(path) };
        complain(&format_args!("{name}: {why}"));
    }
    Exit::FAILED.when(!named.is_empty())
}

/// Says on standard error which saves cannot be read at all, and returns the exit code for that.
pub fn complain_of_unreadable(errors: &[voxscope::world::Error]) -> Exit {
    for error in errors {
        match error {
            voxscope::world::Error::Read(file, why) => complain_of_file_once(file, why),
            _ => complain(error),
        }
    }
    Exit::FAILED.when(!errors.is_empty())
}

/// Says on standard error which temporary directories in a directory were left by commands that were killed.
pub fn complain_of_leftovers(dir: &Path) {
    // Once for each directory, also where two saves are opened.
    static SEARCHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let real = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    if !SEARCHED.lock().unwrap_or_else(PoisonError::into_inner).insert(real) {
        return;
    }
    for left in voxscope::draft::leftovers_in(dir) {
        let left = voxscope::printable::path(&left);
        complain(&format_args!(
            "{left}: left by a command that was killed; the next one with the same destination removes it"
        ));
    }
}

/// The exit code of a command whose result at `path` is complete, after it printed its report: where that failed, the
/// result is not taken back.
pub fn after_report(path: &Path, exit: Exit, printed: Result<(), Failure>) -> Exit {
    match printed {
        Ok(()) => exit,
        Err(failure) => {
            complain(&format_args!("{} is complete, but {failure}", voxscope::printable::path(path)));
            exit.and(failure.exit())
        }
    }
}

/// The exit code of a command that only reads. What it found counts, also if its report could not be printed.
pub fn after_reading(exit: Exit, printed: Result<(), Failure>) -> Exit {
    printed.map_or_else(|failure| exit.and(complain_of_failure(&failure)), |()| exit)
}

/// Says why a command failed, unless the reader of its output closed it, and returns the exit code.
pub fn complain_of_failure(failure: &Failure) -> Exit {
    if !matches!(failure, Failure::ClosedPipe) {
        complain(failure);
    }
    failure.exit()
}

/// The style of a level; its name is always printed too.
pub const fn level_style(level: Level) -> Style {
    match level {
        Level::Error => AnsiColor::Red.on_default().bold(),
        Level::Warning => AnsiColor::Yellow.on_default(),
        Level::Note => AnsiColor::Cyan.on_default(),
    }
}

/// Names and headings.
pub const BOLD: Style = Style::new().bold();
/// Less important text.
pub const DIM: Style = Style::new().dimmed();
/// A good result.
pub const GOOD: Style = AnsiColor::Green.on_default();

/// How a column is aligned.
#[derive(Clone, Copy, PartialEq)]
pub enum Align {
    Left,
    Right,
}

/// An empty table without rules; columns are as wide as their content.
pub fn table(columns: &[(&str, Align)]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|(name, _)| *name));
    for (i, (_, align)) in columns.iter().enumerate() {
        if let Some(column) = table.column_mut(i) {
            column.set_padding((u16::from(i > 0), 1));
            if *align == Align::Right {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
    table
}

/// Writes a table without trailing spaces.
pub fn write_table(out: &mut impl Write, table: &Table) -> io::Result<()> {
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Width of the terminal in characters; `None` if the output is not a terminal.
fn terminal_width() -> Option<usize> {
    let size = if io::stdout().is_terminal() { terminal_size::terminal_size() } else { None };
    size.map(|(terminal_size::Width(width), _)| usize::from(width).clamp(40, 120))
}

/// Breaks a text into lines as wide as the terminal, later ones beginning with `indent`. Where the output is no
/// terminal it stays on one line, for `grep`.
pub fn wrapped(text: &str, indent: &str) -> String {
    terminal_width().map_or_else(|| text.to_owned(), |width| fill(text, indent, width))
}

/// Breaks a longer text into lines as wide as the terminal, or 100 characters.
pub fn paragraph(text: &str) -> String {
    fill(text, "", terminal_width().unwrap_or(100))
}

fn fill(text: &str, indent: &str, width: usize) -> String {
    let words = textwrap::WordSplitter::NoHyphenation;
    textwrap::fill(text, textwrap::Options::new(width).subsequent_indent(indent).word_splitter(words))
}

/// `1,234,567`.
pub fn grouped(n: u64) -> String {
    indicatif::HumanCount(n).to_string()
}

pub use voxscope::printable::count;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(count(1, "block"), "1 block");
        assert_eq!(count(1000, "block"), "1,000 blocks");
    }
}
