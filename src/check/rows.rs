//! The block table of a file: a row for each entry of its table.

use crate::check::row::Row;
use crate::check::{Finding, Options, Report, check_into, map, pak, region, stream};
use crate::save::{File, Save};
use crate::source::OpenError;

/// The rows of one file, by slot; empty if its header does not locate blocks.
///
/// # Errors
/// When the file cannot be opened.
pub fn rows(save: &Save, file: File<'_>, options: &Options<'_>) -> Result<Vec<Row>, OpenError> {
    let mut rows = Vec::new();
    let mut report = Report::of_codes(save.shown(&file.path()).into(), file.lod());
    match file {
        File::Region(forest, file) => {
            if let Some(region) = save.region(forest, file)? {
                region::check(&region, options, &mut report, Some(&mut rows));
            }
        }
        File::Pak(pak_dir, file) => {
            if let Some(region) = save.pak(pak_dir, file, &mut Vec::new())? {
                pak::check(&region, options, &mut report, Some(&mut rows));
            }
        }
        File::Stream(file) => {
            if let Some(opened) = save.stream(file, &mut Vec::new())? {
                stream::check(&opened, options, &mut report, Some(&mut rows));
            }
        }
        File::Map(map) => return Ok(map::rows(save, map, options)),
    }
    Ok(rows)
}

/// The block table of one file and all findings about the file.
#[derive(Debug, Default)]
pub struct FileTable {
    /// The rows, by slot.
    pub rows: Vec<Row>,
    /// The findings about the file, each with the slot of its block.
    pub findings: Vec<(Option<u32>, Finding)>,
}

/// The rows of one file with its findings. A file that cannot be opened has one finding, which says so.
#[must_use]
pub fn table(save: &Save, file: File<'_>, options: &Options<'_>) -> FileTable {
    let mut rows = Vec::new();
    let cap = save.options.limits.findings_per_file;
    let mut report = Report::of_both(save.shown(&file.path()).into(), file.lod(), cap);
    check_into(save, file, options, &mut report, Some(&mut rows));
    if let File::Map(map) = file {
        rows = map::rows(save, map, options);
    }
    report.finish();
    FileTable { rows, findings: report.with_slots() }
}
