//! Rules over a stream: its pages, its settings, its keys, and all blocks with their instances.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::ops::Range;

use crate::bytes::{Span, index};
use crate::check::outcome::Outcome;
use crate::check::row::sector_at;
use crate::check::{BlockAt, Level, Options, Report, Row, TakeRows, copied, unchanged};
use crate::damage::{Code, CodeSet, Damage, Value};
use crate::godot::stream::loc::KeyRule;
use crate::parallel;
use crate::printable::{grouped, triple};
use crate::recover::decide::{Certainty, how_likely};
use crate::recover::keys::{self, WrongKey};
use crate::save::{Blob, Save, Stream, StreamFile, StreamRow, StreamScratch};
use crate::source::{OpenError, Source, Windowed};
use crate::sqlite::pages::Pages;
use crate::sqlite::walk::{Owners, TABLE_PAGE, Use};

/// Number of rows that are examined before their results become findings.
const ROWS: usize = 1 << 12;

/// Bytes of rows that may always be examined together.
const BATCH: u64 = 64 << 20;

/// Bytes per read of rows' pages and the pages after them.
const READ: u32 = 128 << 10;
const BEHIND: u64 = 16 << 10;

thread_local! {
    /// Buffers of this thread: the bytes of a group of pages, and those for decoding.
    static BUFFERS: RefCell<(Vec<u8>, StreamScratch)> = RefCell::default();
}

/// The result of examining a row.
#[derive(Default)]
struct Examined {
    /// Damage of the row as such.
    faults: Vec<Damage>,
    block: Outcome,
    /// Damage of its instances, and where they are stored.
    instances: Outcome,
    /// Its overflow pages.
    pages: Vec<u32>,
}

/// All rules over one file that is a stream.
pub(super) fn check_file(
    save: &Save,
    file: &StreamFile,
    options: &Options<'_>,
    report: &mut Report,
    rows: Option<&mut dyn TakeRows>,
) -> Result<(), OpenError> {
    let mut damage = Vec::new();
    let stream = save.stream(file, &mut damage)?;
    for damage in damage {
        report.file(damage, None);
    }
    match stream {
        None => options.advance(file.len),
        Some(stream) => {
            check(&stream, options, report, rows);
            copied::zeroed_pages(&stream, report);
            copied::cut(&stream.pages.source, report);
            unchanged(&stream.pages.source, report);
            if let Some(overlay) = &stream.pages.overlay {
                unchanged(&overlay.source, report);
            }
        }
    }
    Ok(())
}

pub(super) fn check<S: Source>(
    stream: &Stream<S>,
    options: &Options<'_>,
    report: &mut Report,
    mut rows: Option<&mut dyn TakeRows>,
) {
    let is_counted = stream.unread_table_pages() == 0;
    for (damage, times) in once(&stream.damage) {
        let again = if times > 1 { format!(" It does so {} times.", grouped(times)) } else { String::new() };
        report.file(damage, page_of(stream, &damage, is_counted).map(|page| page + &again));
    }
    if options.level == Level::Header {
        options.advance(stream.pages.source.len());
        return;
    }
    if !stream.rows.is_empty() && stream.rows.iter().all(|row| row.voxels == Blob::Null) {
        report.file(Damage::new(Code::StreamNoVoxels, Span::default(), "column `vb`"), None);
    }
    // Rows whose numbers are in the order of their pages are complete with the others that are examined together.
    let passes_on =
        !report.keeps_findings() && rows.as_deref().is_some_and(TakeRows::passes_on) && stream.has_rows_by_page();
    if let Some(rows) = rows.as_deref_mut() {
        rows.expect_offsets(0, stream.pages.header.page_size.into());
        if !passes_on {
            rows.reserve(stream.rows.len());
        }
    }
    if !passes_on {
        twice(stream, 0..stream.rows.len(), report);
    }
    // The seams of all rows are compared before any row is reported.
    let wrong_keys = find_wrong_keys(stream, options);
    let mut owners = stream.owners.clone();
    let step = (stream.pages.source.len() / (stream.rows.len() as u64).max(1)).max(1);
    let mut reported = 0;
    // Examine rows in the order of their pages, several with one read.
    for part in batches(stream) {
        if let Some((first, _)) = part.first().filter(|_| passes_on) {
            twice(stream, *first as usize..*first as usize + part.len(), report);
        }
        let groups = groups(stream, &part);
        let before = &owners;
        let work = |group: &&[(u32, StreamRow)]| {
            let examined = (!options.cancelled()).then(|| examine_group(stream, before, group, options.level));
            options.advance(step * group.len() as u64);
            examined
        };
        let examined = parallel::map(&groups, work);
        reported += step * part.len() as u64;
        for (group, examined) in groups.into_iter().zip(examined) {
            let mut examined = examined.unwrap_or_default().into_iter();
            for (number, row) in group {
                let examined = examined.next();
                report.stats.blocks += 1;
                if let Some(rows) = rows.as_deref_mut() {
                    rows.push(block_row(report, stream, *number, row, examined.as_ref()));
                }
                if let Some(examined) = examined {
                    report_row(stream, (*number, row), examined, &mut owners, report);
                }
                if let Some(wrong) = wrong_keys.get(number) {
                    report_wrong_key(stream, row, wrong, report);
                }
            }
        }
        if let Some(rows) = rows.as_deref_mut().filter(|_| passes_on) {
            rows.arrange(&report.take_codes(), None);
        }
    }
    options.advance(stream.pages.source.len().saturating_sub(reported));
    if let Some(rows) = rows {
        rows.arrange(report.codes(), None);
    }
    if report.keeps_findings() && !options.cancelled() {
        unused(stream, &owners, report);
    }
    report.place_at(|slot| {
        let place = stream.rows.get(slot as usize).and_then(|row| row.place);
        BlockAt { lod: place.map_or(0, |place| place.lod), position: place.map(|place| place.position) }
    });
}

/// Each damage once, and how often it is there: a page may lead to several others that are not in the file.
fn once(damage: &[Damage]) -> Vec<(Damage, u64)> {
    let mut all: Vec<(Damage, u64)> = Vec::new();
    let mut at: HashMap<(u64, String), usize> = HashMap::new();
    for one in damage {
        let known = at.entry((one.span.start, one.to_string())).or_insert(all.len());
        match all.get_mut(*known).filter(|(of, _)| of == one) {
            Some((_, times)) => *times += 1,
            None => all.push((*one, 1)),
        }
    }
    all
}

/// The page of a fault, in a sentence; `is_counted` is whether the rows of the pages that cannot be read are known.
fn page_of<S: Source>(stream: &Stream<S>, damage: &Damage, is_counted: bool) -> Option<String> {
    let size = u64::from(stream.pages.header.page_size);
    let is_page = damage.code == Code::StreamPage && damage.span.len() == size;
    let rows =
        if is_counted || damage.field != TABLE_PAGE { "" } else { " Rows that were on the lost page are not counted." };
    is_page.then(|| format!("It is page {}.{rows}", damage.span.start / size + 1))
}

/// Which of some rows have the position of the row before: rows with the same position are adjacent.
fn twice<S: Source>(stream: &Stream<S>, numbers: Range<usize>, report: &mut Report) {
    let from = numbers.start.max(1);
    let pairs = stream.rows.iter_from(from - 1).zip(stream.rows.iter_from(from));
    for (number, (first, second)) in (from as u32..numbers.end as u32).zip(pairs) {
        let Some(place) = second.place.filter(|_| first.place == second.place) else { continue };
        let span = stream.pages.span_in_file(second.page);
        // By the old rule, voxels and instances of one block have two rows.
        let is_bare = |row: &StreamRow| row.voxels == Blob::Null;
        if stream.rule == KeyRule::Old && place.lod > 0 && is_bare(&first) != is_bare(&second) {
            continue;
        }
        let damage = Damage::new(Code::StreamKeyTwice, span, "place of the row").found(Value::triple(place.position));
        let remark =
            format!("Row {} has the position {} of LOD {} too.", first.rowid, triple(place.position), place.lod);
        report.slot(number, damage, Some(remark));
    }
}

/// The rows with their numbers, in the order of their pages, as many at once as are examined together: as many as a part of the
/// file could hold by their declared sizes. Rows that share overflow pages with earlier ones are then known before the next rows
/// are read.
pub(crate) fn batches<S: Source>(stream: &Stream<S>) -> impl Iterator<Item = Vec<(u32, StreamRow)>> {
    let most = (stream.pages.source.len() / 4).max(BATCH);
    let mut rest = stream.rows_by_page().peekable();
    std::iter::from_fn(move || {
        let mut batch: Vec<(u32, StreamRow)> = rest.next().into_iter().collect();
        let mut sum = batch.first().map(|(_, row)| u64::from(row.payload))?;
        while batch.len() < ROWS {
            let fits = |(_, row): &(u32, StreamRow)| {
                sum += u64::from(row.payload);
                sum <= most
            };
            let Some(row) = rest.next_if(fits) else { break };
            batch.push(row);
        }
        Some(batch)
    })
}

/// Groups rows whose pages are close together.
fn groups<'n, S: Source>(stream: &Stream<S>, rows: &'n [(u32, StreamRow)]) -> Vec<&'n [(u32, StreamRow)]> {
    let most = (READ / stream.pages.header.page_size.max(1)).max(1);
    let mut groups = Vec::new();
    let mut rest = rows;
    while let Some((_, first)) = rest.first() {
        let len = rest.partition_point(|(_, row)| row.page - first.page < most).max(1);
        let (group, after) = rest.split_at_checked(len).unwrap_or((rest, &[]));
        groups.push(group);
        rest = after;
    }
    groups
}

/// Examines rows whose pages are close together, with one read if possible.
fn examine_group<S: Source>(
    stream: &Stream<S>,
    owners: &Owners,
    group: &[(u32, StreamRow)],
    level: Level,
) -> Vec<Examined> {
    BUFFERS.with_borrow_mut(|(bytes, scratch)| {
        let rows = || group.iter().map(|(_, row)| row);
        let (Some(first), Some(last)) = (rows().next(), rows().next_back()) else { return Vec::new() };
        // Overflow pages usually follow the page of their row.
        let span = Span::new(stream.pages.span(first.page).start, stream.pages.span(last.page).end + BEHIND);
        let alone = stream.pages.overlay.is_some() || group.len() == 1;
        if alone || stream.pages.source.read_into(span.start, index(span.len()), bytes).is_err() {
            return rows().map(|row| examine(stream, &stream.pages, owners, row, level, scratch)).collect();
        }
        let source = Windowed { source: &stream.pages.source, at: span.start, bytes };
        let pages = Pages { source, header: stream.pages.header, overlay: None };
        rows().map(|row| examine(stream, &pages, owners, row, level, scratch)).collect()
    })
}

fn examine<S: Source, T: Source>(
    stream: &Stream<S>,
    pages: &Pages<T>,
    owners: &Owners,
    row: &StreamRow,
    level: Level,
    scratch: &mut StreamScratch,
) -> Examined {
    stream.with_row(row, scratch, |scratch| {
        let mut faults = Vec::new();
        if let Err(error) = stream.fetch_from(pages, Some(owners), row, scratch) {
            let block = Outcome { stored: stream.pages.span(row.page), error: Some(error), ..Outcome::default() };
            return Examined { block, ..Examined::default() };
        }
        stream.faults(row, scratch, &mut faults);
        let pages = scratch.pages().to_vec();
        if level < Level::Decode {
            return Examined { faults, pages, ..Examined::default() };
        }
        let block = Outcome::from_view(io::Result::Ok(stream.block(scratch)));
        let view = stream.instances(scratch);
        let instances = Outcome {
            stored: view.stored.span,
            plain: view.container.map_or(0, |container| container.plain.len() as u64),
            damage: view.damage.to_vec(),
            ..Outcome::default()
        };
        Examined { faults, block, instances, pages }
    })
}

/// Turns the result of examining a row into findings.
fn report_row<S: Source>(
    stream: &Stream<S>,
    (number, row): (u32, &StreamRow),
    examined: Examined,
    owners: &mut Owners,
    report: &mut Report,
) {
    let Examined { faults, block, instances, pages } = examined;
    for damage in faults {
        report.slot(number, damage, None);
    }
    for page in pages {
        if !owners.claim_payload(page, Use::Overflow(Some(number))) {
            let damage = Damage::new(Code::StreamChain, stream.pages.span_in_file(page), "chain of overflow pages")
                .expected(Value::Words("pages of its own"))
                .found(Value::Words("it contains a page that is in use elsewhere"));
            report.slot(number, damage, Some(format!("It is page {page}.")));
            break;
        }
    }
    report.stats.stored_bytes += u64::from(row.voxels.len()) + u64::from(row.instances.len());
    report.stats.plain_bytes += block.plain + instances.plain;
    report.block(number, block);
    report.block(number, instances);
}

/// Rows with the keys of other blocks, by their numbers. Other rules report rows that cannot be read.
fn find_wrong_keys<S: Source>(stream: &Stream<S>, options: &Options<'_>) -> HashMap<u32, WrongKey> {
    if options.level < Level::Semantic {
        return HashMap::new();
    }
    let found = keys::find_wrong_keys(stream, options.effort.factor(), &options.watch.quiet());
    found.unwrap_or_default().into_iter().map(|wrong| (wrong.row, wrong)).collect()
}

fn report_wrong_key<S: Source>(stream: &Stream<S>, row: &StreamRow, wrong: &WrongKey, report: &mut Report) {
    let Some(own) = row.place else { return };
    let damage = Damage::new(Code::StreamMisplaced, stream.pages.span_in_file(row.page), "key of the row")
        .expected(Value::triple(own.position))
        .found(Value::triple(wrong.place.position));
    let lod =
        if wrong.place.lod == own.lod { String::new() } else { format!("It is a block of LOD {}. ", wrong.place.lod) };
    let sure = match wrong.certainty {
        Certainty::Certain => "certain".to_owned(),
        _ => how_likely(wrong.p),
    };
    let remark = format!("{lod}This is {sure}: its borders match those of its neighbours there.");
    report.slot(wrong.row, damage, Some(remark));
}

/// Pages that nothing points to, unless a damaged page explains them.
fn unused<S: Source>(stream: &Stream<S>, owners: &Owners, report: &mut Report) {
    let lost = |d: &Damage| matches!(d.code, Code::StreamPage | Code::StreamNotDatabase | Code::StreamFreelist);
    if report.has_trouble() && (stream.damage.iter().any(lost) || report.has(Code::StreamChain)) {
        return;
    }
    let declared = stream.pages.declared();
    let mut pages = owners.iter().filter(|(page, is)| *is == Use::Nothing && *page <= declared).map(|(page, _)| page);
    let Some(first) = pages.next() else { return };
    let count = pages.count() as u64 + 1;
    let damage =
        Damage::new(Code::StreamUnused, stream.pages.span_in_file(first), "number of pages that nothing leads to")
            .expected(Value::Number(0))
            .found(Value::Number(count));
    report.file(damage, Some(format!("The first one is page {first}.")));
}

fn block_row<S: Source>(
    report: &Report,
    stream: &Stream<S>,
    number: u32,
    row: &StreamRow,
    examined: Option<&Examined>,
) -> Row {
    let page = stream.pages.span_in_file(row.page);
    let offset = stream.pages.source.stored_offset(page.start);
    let block = examined.map(|examined| &examined.block);
    Row {
        file: report.name(),
        lod: row.place.map_or(0, |place| place.lod),
        position: row.place.map(|place| place.position),
        slot: number,
        sector: sector_at(offset, row.page.saturating_sub(1), 0, stream.pages.header.page_size.into()),
        sectors: examined.map_or(1, |examined| examined.pages.len() as u32 + 1),
        offset,
        bytes: row.voxels.len().into(),
        plain: block.map_or(0, |block| block.plain),
        version: block.map(|block| block.version).filter(|&version| version > 0),
        container: block.and_then(|block| block.container),
        codes: CodeSet::default(),
        flags: None,
        instances: (!row.instances.is_empty()).then(|| row.instances.len().into()),
        known: block.and_then(|block| block.inside.boxed()),
        key: stream.format,
    }
}
