//! Sectors that no table entry claims: unowned blocks in gaps and after the last block, and old bytes.
//!
//! The engine never shortens a file, so old copies of blocks after the last one are normal. A whole block there
//! that is not a copy of a listed one is an old state, or a block that was saved after the table was last written: the
//! bytes do not show which. It is a note in a region without other damage, and a warning if the table is
//! empty, has gaps or is otherwise damaged, since the table is then probably older than the sectors.

use std::io;

use crate::bytes::{Span, index};
use crate::check::Options;
use crate::check::report::Report;
use crate::damage::{Code, Damage, Value};
use crate::godot::container::{LEAST, is_container};
use crate::godot::region::{MOST_SECTORS, sectors_for};
use crate::save::{Listed, Owner, Region, Run, Scratch};
use crate::source::Source;

/// Bytes per read while searching for the beginnings of blocks.
const READ: usize = 256 << 10;

/// Decompressed bytes that the search of one file may cost.
const BUDGET: u64 = 256 << 20;

/// Number of listed blocks of the same size that a block is compared with.
const COMPARISONS: usize = 64;

/// An unowned block.
struct Found {
    span: Span,
    sector: u64,
    owner: Owner,
    /// Whether a listed block has the same bytes.
    copy: bool,
}

/// `sizes` are the size prefixes of the listed blocks.
pub(super) fn check<S: Source>(
    region: &Region<S>,
    by_sector: &[Listed],
    mut sizes: Vec<(u32, Listed)>,
    options: &Options<'_>,
    report: &mut Report,
) {
    let runs = unclaimed(region, by_sector);
    if runs.is_empty() {
        return;
    }
    // Blocks of one size are in the order of their sectors.
    sizes.sort_by_key(|(size, _)| *size);
    let mut walk = Walk {
        region,
        sizes,
        scratch: Scratch::default(),
        window: Window::default(),
        other: Vec::new(),
        budget: BUDGET,
    };
    let mut found = Vec::new();
    for run in &runs {
        match walk.run(run, options, &mut found) {
            Ok(true) => {}
            Ok(false) => {
                let span = region.header.sector_span(run.first, run.count);
                let damage = Damage::new(Code::OverLimit, span, "bytes that unlisted blocks decode to")
                    .expected(Value::AtMost(BUDGET));
                report.file(damage, None);
                break;
            }
            Err(error) => report.unreadable(region.header.sector_span(run.first, run.count), &error),
        }
    }
    judge(region, &runs, &found, report);
}

/// The sectors of the file that no entry claims; those after the last block come last.
fn unclaimed<S: Source>(region: &Region<S>, by_sector: &[Listed]) -> Vec<Run> {
    let in_file = region.sectors_in_file();
    let mut runs = Vec::new();
    let mut reach = 0u64;
    let mut push = |first: u64, end: u64, owner| {
        if end > first {
            runs.push(Run { first, count: end - first, owner });
        }
    };
    for entry in by_sector.iter().map(|listed| listed.entry).filter(|entry| entry.count() > 0) {
        push(reach, in_file.min(entry.first().into()), Owner::Free);
        reach = reach.max(entry.end().into());
    }
    push(reach, in_file, Owner::Stale);
    runs
}

fn judge<S: Source>(region: &Region<S>, runs: &[Run], found: &[Found], report: &mut Report) {
    let empty = region.entries.is_empty() && !found.is_empty();
    if empty {
        let damage = Damage::new(Code::TableEmpty, region.header.table, "entries of the table in use")
            .expected(Value::AtLeast(1))
            .found(Value::Number(0));
        report.file(damage, Some(format!("{} the table.", blocks(found.len()))));
    }
    let trouble = empty || report.has_trouble();
    for block in found.iter().filter(|block| !block.copy) {
        let code = if trouble || block.owner == Owner::Free { Code::BlockOrphan } else { Code::BlockUnlisted };
        let damage = Damage::new(code, block.span, "first sector of the block").found(Value::Number(block.sector));
        report.unowned(damage, None);
    }
    for run in runs.iter().filter(|run| run.owner == Owner::Stale) {
        let span = region.header.sector_span(run.first, run.count);
        let span = Span::new(span.start, span.end.min(region.source.len()));
        // Where a save went wrong, what follows the last block may be the newest state of a block.
        if trouble && found.iter().any(|block| !block.copy && span.contains(&block.span)) {
            continue;
        }
        let copies = found.iter().filter(|b| b.copy && span.contains(&b.span)).count();
        let damage = Damage::new(Code::StaleTail, span, "their length").found(Value::Bytes(span.len()));
        let remark = (copies > 0).then(|| format!("They hold {} of listed blocks.", copies_of(copies)));
        report.file(damage, remark);
    }
}

fn blocks(n: usize) -> String {
    if n == 1 { "One whole block follows".to_owned() } else { format!("{n} whole blocks follow") }
}

fn copies_of(n: usize) -> String {
    if n == 1 { "a copy".to_owned() } else { format!("{n} copies") }
}

struct Walk<'r, S> {
    region: &'r Region<S>,
    /// Listed blocks by their sizes.
    sizes: Vec<(u32, Listed)>,
    scratch: Scratch,
    window: Window,
    other: Vec<u8>,
    budget: u64,
}

/// A part of the file that is in memory.
#[derive(Default)]
struct Window {
    at: u64,
    bytes: Vec<u8>,
}

impl Window {
    fn has(&self, at: u64) -> bool {
        (self.at..self.at + self.bytes.len() as u64).contains(&at)
    }

    /// The bytes from `at` on, at least `len` unless the file ends before.
    fn get<S: Source>(&mut self, source: &S, at: u64, len: usize) -> io::Result<&[u8]> {
        let end = self.at + self.bytes.len() as u64;
        if at < self.at || at.saturating_add(len as u64).min(source.len()) > end {
            self.at = at;
            source.read_into(at, READ.max(len), &mut self.bytes)?;
        }
        Ok(self.bytes.get(index(at - self.at)..).unwrap_or_default())
    }
}

impl<S: Source> Walk<'_, S> {
    /// Searches the sectors of a run; false if the budget is used up.
    fn run(&mut self, run: &Run, options: &Options<'_>, found: &mut Vec<Found>) -> io::Result<bool> {
        let header = &self.region.header;
        let end = run.first + run.count;
        let mut sector = run.first;
        while sector < end && !options.cancelled() {
            let at = header.sector_span(sector, 1).start;
            if !self.window.has(at) {
                // No block begins in a hole: its size prefix would be zero.
                let data = self.region.source.next_data(at).saturating_sub(header.sectors_at());
                let next = data / u64::from(header.format.sector_size).max(1);
                if next > sector {
                    sector = next;
                    continue;
                }
            }
            let last = header.sector_span(end, 0).end.min(self.region.source.len());
            let Some(size) = self.candidate(at, last)? else {
                sector += 1;
                continue;
            };
            let span = Span::sized(at, 4 + u64::from(size));
            if self.budget == 0 {
                return Ok(false);
            }
            if self.is_whole(span)? {
                let copy = self.is_copy(span, size)?;
                found.push(Found { span, sector, owner: run.owner, copy });
                sector += sectors_for(size.into(), header.format.sector_size);
            } else {
                sector += 1;
            }
        }
        Ok(true)
    }

    /// The size prefix at `at`, if a block could begin there and end before `last`. Decodes nothing.
    fn candidate(&mut self, at: u64, last: u64) -> io::Result<Option<u32>> {
        let head = self.window.get(&self.region.source, at, 16)?;
        let Some(([s0, s1, s2, s3], container)) = head.split_first_chunk::<4>() else { return Ok(None) };
        let size = u32::from_le_bytes([*s0, *s1, *s2, *s3]);
        let fits = size >= LEAST
            && at + 4 + u64::from(size) <= last
            && sectors_for(size.into(), self.region.header.format.sector_size) <= MOST_SECTORS;
        Ok((fits && is_container(container, size)).then_some(size))
    }

    fn is_whole(&mut self, span: Span) -> io::Result<bool> {
        let len = index(span.len());
        let bytes = self.window.get(&self.region.source, span.start, len)?;
        let Some(bytes) = bytes.get(..len) else { return Ok(false) };
        let view = self.scratch.interpret_bytes(bytes, span.start, &self.region.header, None, &self.region.limits);
        let plain = view.container.map_or(0, |c| c.plain.len() as u64);
        let whole = view.container.is_some_and(|c| c.whole)
            && view.block.is_some_and(|block| block.epilogue.is_some())
            && view.damage.iter().all(|d| !d.code.hides_data());
        // Also charge blocks that fail to decode at once.
        self.budget = self.budget.saturating_sub(plain.max(1 << 10));
        Ok(whole)
    }

    /// Whether a listed block has the same stored bytes.
    fn is_copy(&mut self, span: Span, size: u32) -> io::Result<bool> {
        let from = self.sizes.partition_point(|(other, _)| *other < size);
        let same = self.sizes.get(from..).unwrap_or_default().iter().take_while(|(other, _)| *other == size);
        for (_, listed) in same.take(COMPARISONS) {
            let other = self.region.span(listed.entry);
            self.region.source.read_into(other.start, index(span.len()), &mut self.other)?;
            let bytes = self.window.get(&self.region.source, span.start, index(span.len()))?;
            if bytes.get(..index(span.len())) == Some(&self.other[..]) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
