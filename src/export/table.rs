//! A table of all blocks of a save as a file.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use super::voxels::Error;
use super::{Format, Lines};
use crate::check::{self, Level, Row};
use crate::draft::{self, Draft};
use crate::picture::palette::Palette;
use crate::save::Save;
use crate::sqlite;
use crate::watch::{Step, Watch};
use crate::world::Fault;

/// The file while it is written.
const NAME: &str = "table";

/// Writes a row for each block into a new file: CSV, JSON lines, or an SQLite database with the tables `blocks`,
/// `channels`, `types` (those with names) and `findings`, by the file's extension. Rows are written file by file. Returns the number of
/// rows, and the files that could not be read.
///
/// # Errors
/// If the extension names no format, the destination cannot be used, or writing fails.
pub fn table(save: &Save, to: &Path, names: &Palette, watch: &Watch<'_>) -> Result<(u64, Vec<Fault>), Error> {
    let name = to.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let format = Format::of_name(&name);
    if format.is_none() && !sqlite::is_named(to) {
        let why = "the name of a table ends in .csv, .jsonl or .sqlite, which says what is written";
        return Err(Error::Request(why.to_owned()));
    }
    if format.is_none() {
        draft::check_database(&[&save.path], to)?;
    }
    let draft = Draft::new(&[&save.path], to, watch)?;
    watch.begin(Step::Exporting, check::total_bytes(save, Level::Decode));
    let options = check::Options::default().watch(*watch);
    let written = match format {
        Some(format) => lines(save, &draft, format, &options)?,
        None => database(save, &draft, names, &options)?,
    };
    draft.go_on()?;
    draft.sync(Path::new(NAME))?;
    draft.finish_files(&[(Path::new(NAME), to)])?;
    let (rows, found) = written;
    let unread = save.unread().map(|fault| Fault { file: save.shown(&fault.path), why: fault.why() });
    let mut faults: Vec<Fault> = unread.collect();
    for fault in found {
        if faults.iter().all(|known| known.file != fault.file) {
            faults.push(fault);
        }
    }
    Ok((rows, faults))
}

fn lines(
    save: &Save,
    draft: &Draft<'_>,
    format: Format,
    options: &check::Options<'_>,
) -> Result<(u64, Vec<Fault>), Error> {
    let (file, path) = draft.create(Path::new(NAME))?;
    let failed = draft::Error::write(&path);
    let mut out: Lines<BufWriter<File>, Row> =
        Lines::new(BufWriter::with_capacity(1 << 16, file), format).map_err(failed)?;
    let (mut count, mut faults) = (0u64, Vec::new());
    for of in save.files() {
        draft.go_on()?;
        let mut written = Ok(());
        let listed = check::list_each(save, of, options, &mut |row| {
            count += 1;
            if written.is_ok() {
                written = out.write(&row);
            }
        });
        written.map_err(draft::Error::write(&path))?;
        match listed {
            Ok(left_out) => {
                faults.extend(left_out.into_iter().map(|check::LeftOut { file, why }| Fault { file, why }));
            }
            Err(error) => faults.push(Fault { file: save.shown(&of.path()), why: error.to_string() }),
        }
    }
    out.finish().map_err(draft::Error::write(&path))?;
    Ok((count, faults))
}

/// A file of which no block can be located.
#[cfg(feature = "sqlite")]
fn find_unlocated(save: &Save, of: crate::save::File<'_>) -> Option<Fault> {
    let damage = check::find_unlocated(save, of)?;
    Some(Fault { file: save.shown(&of.path()), why: damage.to_string() })
}

#[cfg(not(feature = "sqlite"))]
fn database(_: &Save, _: &Draft<'_>, _: &Palette, _: &check::Options<'_>) -> Result<(u64, Vec<Fault>), Error> {
    Err(Error::Request("this build cannot write SQLite databases".to_owned()))
}

#[cfg(feature = "sqlite")]
fn database(
    save: &Save,
    draft: &Draft<'_>,
    names: &Palette,
    options: &check::Options<'_>,
) -> Result<(u64, Vec<Fault>), Error> {
    let (_, path) = draft.create(Path::new(NAME))?;
    let failed =
        |error: rusqlite::Error| Error::from(draft::Error::write(&path)(std::io::Error::other(error.to_string())));
    let database = super::database::Database::create(&path, check::Advice::new(save)).map_err(failed)?;
    database.types(names).map_err(failed)?;
    let (mut count, mut faults) = (0, Vec::new());
    for finding in check::of_save(save).chain(check::missing(save)) {
        database.finding(None, &finding).map_err(failed)?;
    }
    for of in save.files() {
        draft.go_on()?;
        let table = check::table(save, of, options);
        count += table.rows.len() as u64;
        let unread = table.findings.iter().find(|(slot, finding)| slot.is_none() && finding.code().is_unread());
        let unread = unread.map(|(_, finding)| Fault { file: finding.file.to_string(), why: finding.message() });
        faults.extend(unread.or_else(|| table.rows.is_empty().then(|| find_unlocated(save, of)).flatten()));
        database.file(&table).map_err(failed)?;
        faults.extend(table.left_out.into_iter().map(|check::LeftOut { file, why }| Fault { file, why }));
    }
    database.finish().map_err(failed)?;
    Ok((count, faults))
}
