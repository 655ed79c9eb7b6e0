//! The block table of a file: a row for each entry of its table.

use std::collections::HashMap;
use std::sync::Arc;

use crate::check::left_out::{
    LeftOut, uncounted_chunks, unlisted_blocks, unlisted_blocks_in, unread_layers, unread_rows,
};
use crate::check::pass_on::PassOn;
use crate::check::row::Row;
use crate::check::{BlockAt, Finding, Level, Options, Report, RowTable, check_into, map, pak, region, run, stream};
use crate::damage::{self, Code, CodeSet, Damage};
use crate::save::{File, Kind, RegionFile, Save};
use crate::source::OpenError;

/// The rows of one file, by slot; empty if its header does not locate blocks.
///
/// # Errors
/// When the file cannot be opened.
pub fn rows(save: &Save, file: File<'_>, options: &Options<'_>) -> Result<Vec<Row>, OpenError> {
    list(save, file, options).map(|listing| listing.rows)
}

/// The rows of one file, and what is left out of it.
#[derive(Debug, Default)]
pub struct Listing {
    /// The rows, by slot.
    pub rows: Vec<Row>,
    /// What of the file has no row although it holds blocks, or may.
    pub left_out: Vec<LeftOut>,
}

/// The rows of one file, as [`rows`], with what is left out of it.
///
/// # Errors
/// When the file cannot be opened.
pub fn list(save: &Save, file: File<'_>, options: &Options<'_>) -> Result<Listing, OpenError> {
    let mut rows = Vec::new();
    let left_out = list_each(save, file, options, &mut |row| rows.push(row))?;
    Ok(Listing { rows, left_out })
}

/// Passes the rows of one file to `each`, by slot, and returns what is left out of it. Of a stream whose rows are in the order of
/// its pages, a part of the rows is in memory at once.
///
/// # Errors
/// When the file cannot be opened.
pub fn list_each(
    save: &Save,
    file: File<'_>,
    options: &Options<'_>,
    each: &mut dyn FnMut(Row),
) -> Result<Vec<LeftOut>, OpenError> {
    // A row shows what its block alone says, so healthy blocks are verified without their voxels.
    let options = &if options.level == Level::Semantic { options.level(Level::Decode) } else { *options };
    let mut rows = Vec::new();
    let path = file.path();
    let mut left_out = Vec::new();
    let mut report = Report::of_codes(save.shown(&path).into(), file.lod());
    match file {
        File::Region(forest, file) => {
            if let Some(region) = save.region(forest, file)? {
                region::check(&region, options, &mut report, Some(&mut rows));
                left_out.extend(unlisted_blocks(&region).map(|why| LeftOut { file: save.shown(&path), why }));
            }
            if forest.kind == Kind::BlockFiles {
                add_codes_of_file(&mut rows, file);
            }
        }
        File::Pak(pak_dir, file) => {
            if let Some(region) = save.pak(pak_dir, file, &mut Vec::new())? {
                pak::check(&region, options, &mut report, Some(&mut rows));
                let why = uncounted_chunks(&region)?;
                left_out.extend(why.map(|why| LeftOut { file: save.shown(&path), why }));
            }
        }
        File::Stream(file) => {
            let mut any = false;
            if let Some(opened) = save.stream(file, &mut Vec::new())? {
                let mut pass = |row: Row| {
                    any = true;
                    let place = opened.rows.get(row.slot as usize).and_then(|row| row.place);
                    each(Row { position: place.map(|place| place.position), ..row });
                };
                stream::check(&opened, options, &mut report, Some(&mut PassOn::new(&mut pass)));
                let why = unread_rows(opened.unread_table_pages(), opened.unread_rows());
                left_out.extend(why.map(|why| LeftOut { file: save.shown(&path), why }));
            }
            if any {
                return Ok(left_out);
            }
        }
        File::Map(map) => {
            rows = map::rows(save, map, options);
            left_out = unread_layers(save, map);
        }
    }
    if rows.is_empty() {
        let damage = find_unlocated(save, file);
        left_out.extend(damage.map(|damage| LeftOut { file: save.shown(&path), why: damage.to_string() }));
    }
    rows.into_iter().for_each(each);
    Ok(left_out)
}

/// The rows of one file, as [`rows`], in columns.
///
/// # Errors
/// When the file cannot be opened.
pub fn row_table(save: &Save, file: File<'_>, options: &Options<'_>) -> Result<RowTable, OpenError> {
    let options = &if options.level == Level::Semantic { options.level(Level::Decode) } else { *options };
    let mut table = RowTable::default();
    let mut report = Report::of_codes(save.shown(&file.path()).into(), file.lod());
    match file {
        File::Region(forest, region) if forest.kind != Kind::BlockFiles => {
            if let Some(region) = save.region(forest, region)? {
                region::check(&region, options, &mut report, Some(&mut table));
            }
        }
        File::Stream(stream) => {
            if let Some(opened) = save.stream(stream, &mut Vec::new())? {
                stream::check(&opened, options, &mut report, Some(&mut table));
            }
        }
        // These have few rows.
        File::Region(..) | File::Pak(..) | File::Map(_) => return Ok(rows(save, file, options)?.into_iter().collect()),
    }
    Ok(table)
}

/// Adds the codes of the file of one block to the row of the block.
fn add_codes_of_file(rows: &mut [Row], file: &RegionFile) {
    for row in rows {
        file.damage.iter().for_each(|damage| row.codes.insert(damage.code));
    }
}

/// Why no block of a file can be located, if that is so: its header, its records or its tables cannot be read.
#[must_use]
pub fn find_unlocated(save: &Save, file: File<'_>) -> Option<Damage> {
    let mut damage = Vec::new();
    let is_located = match file {
        File::Region(_, file) => {
            damage.clone_from(&file.damage);
            file.header.is_some() || file.detail.is_some()
        }
        File::Pak(pak_dir, file) => !matches!(save.pak(pak_dir, file, &mut damage), Ok(None)),
        File::Stream(file) => !matches!(save.stream(file, &mut damage), Ok(None)),
        File::Map(_) => true,
    };
    // The name hides nothing of a file that is read.
    let hides = |damage: &Damage| damage.code.level() == damage::Level::Error && damage.code != Code::CopyName;
    damage.into_iter().filter(|_| !is_located).find(hides)
}

/// The block table of one file and all findings about the file.
#[derive(Debug, Default)]
pub struct FileTable {
    /// The rows, by slot.
    pub rows: RowTable,
    /// The findings about the file, each with the slot of its block.
    pub findings: Vec<(Option<u32>, Finding)>,
    /// What of a region, a pak region or a voxel map has no row although it holds blocks.
    pub left_out: Vec<LeftOut>,
}

/// The rows of one file with its findings. A file that cannot be opened has one finding, which says so.
#[must_use]
pub fn table(save: &Save, file: File<'_>, options: &Options<'_>) -> FileTable {
    let mut rows = RowTable::default();
    let cap = save.options.limits.findings_per_file;
    let mut report = Report::of_both(save.shown(&file.path()).into(), file.lod(), cap);
    check_into(save, file, options, &mut report, Some(&mut rows));
    let mut left_out = Vec::new();
    match file {
        File::Map(map) => {
            rows = map::rows(save, map, options).into_iter().collect();
            left_out = unread_layers(save, map);
        }
        File::Region(forest, file) if forest.kind == Kind::BlockFiles => {
            let mut all: Vec<Row> = rows.iter().collect();
            add_codes_of_file(&mut all, file);
            rows = all.into_iter().collect();
        }
        File::Region(forest, file) => {
            let shown = save.shown(&forest.dir.join(&file.name));
            left_out.extend(unlisted_blocks_in(&report).map(|why| LeftOut { file: shown, why }));
        }
        File::Pak(pak_dir, file) => {
            // What cannot be opened is a finding.
            let pak = save.pak(pak_dir, file, &mut Vec::new()).ok().flatten();
            let why = pak.and_then(|pak| uncounted_chunks(&pak).ok().flatten());
            let shown = save.shown(&pak_dir.dir.join(&file.name));
            left_out.extend(why.map(|why| LeftOut { file: shown, why }));
        }
        File::Stream(_) => {}
    }
    report.finish();
    FileTable { rows, findings: report.with_slots(), left_out }
}

/// Findings about blocks that only the other blocks of the save show: a block decodes, but belongs elsewhere.
#[derive(Debug, Default)]
pub struct Compared {
    codes: HashMap<(Arc<str>, u8, [i32; 3]), CodeSet>,
}

impl Compared {
    /// Checks the whole save at the level `semantic`.
    #[must_use]
    pub fn new(save: &Save, options: &Options<'_>) -> Self {
        let mut codes: HashMap<_, CodeSet> = HashMap::new();
        run(save, &options.level(Level::Semantic), |finding| {
            // An unowned block is in no row, whatever position it belongs to.
            let block = finding.block.filter(|_| !finding.code().is_unowned());
            if let Some((lod, position)) = block.and_then(BlockAt::place) {
                codes.entry((Arc::clone(&finding.file), lod, position)).or_default().insert(finding.code());
            }
        });
        Self { codes }
    }

    /// Adds the codes to the rows of a file.
    pub fn add_to(&self, rows: &mut [Row]) {
        for row in rows {
            let key = row.position.map(|position| (Arc::clone(&row.file), row.lod, position));
            if let Some(codes) = key.and_then(|key| self.codes.get(&key)) {
                codes.iter().for_each(|code| row.codes.insert(code));
            }
        }
    }
}
