//! What a copy that broke off, or pages that were never written, leave in a file that is damaged anyway.

use crate::bytes::{Span, index};
use crate::check::report::Report;
use crate::damage::{Code, Damage, Level, Value};
use crate::printable::grouped;
use crate::save::{Region, Scratch, Stream, wanted};
use crate::source::{FileSource, Source};

/// The smallest buffer that programs copy with, and the size of the pages that systems write.
const PAGE: u64 = 4096;
/// The smallest buffer for files whose length is a multiple of a page anyway.
const BUFFER: u64 = 1 << 16;
/// Bytes of a block in a page that must be zero for the page to be a lost one.
const LEAST: usize = 64;

/// Reports that a file ends where the copy of it broke off, when something beyond its end is named.
pub(super) fn cut(source: &FileSource, report: &mut Report) {
    let beyond = [Code::TableBeyondEnd, Code::SectorCut, Code::PakBeyondEnd, Code::StreamCut];
    let Some(code) = beyond.into_iter().find(|code| report.has(*code)) else { return };
    let buffer = if matches!(code, Code::PakBeyondEnd | Code::StreamCut) { BUFFER } else { PAGE };
    let len = source.len_on_disk();
    if len > 0 && len.is_multiple_of(buffer) && source.restoration().is_none() {
        let largest = 1u64 << len.trailing_zeros().min(20);
        let damage = Damage::new(Code::CopyCut, Span::new(len, len), "length of the file").found(Value::Bytes(len));
        let remark =
            format!("That is a multiple of {} bytes, and data that the file names lies behind it.", grouped(largest));
        report.file(damage, Some(remark));
    }
}

/// Reports pages of zeros within blocks that are damaged.
pub(super) fn zeroed<S: Source>(region: &Region<S>, report: &mut Report) {
    if !report.has_trouble() || !report.keeps_findings() {
        return;
    }
    let (mut bytes, mut scratch, mut pages) = (Vec::new(), Scratch::default(), Vec::new());
    let sector = index(region.header.format.sector_size.into());
    for listed in region.by_sector() {
        let span = region.span(listed.entry);
        if listed.entry.count() == 0 || region.source.read_into(span.start, index(span.len()), &mut bytes).is_err() {
            continue;
        }
        // Padding behind the block's own bytes may be anything; a size that was lost says nothing.
        let own = wanted(&bytes, &region.limits);
        let own = if (5..=bytes.len()).contains(&own) { own } else { without_padding(&bytes, sector) };
        let mut lost = Vec::new();
        let mut at = span.start / PAGE * PAGE;
        while at < span.start + own as u64 {
            let (from, to) = (at.max(span.start), (at + PAGE).min(span.start + own as u64));
            let part = bytes.get(index(from - span.start)..index(to - span.start)).unwrap_or_default();
            if part.len() >= LEAST && part.iter().all(|byte| *byte == 0) {
                lost.push(at);
            }
            at += PAGE;
        }
        let damaged = |scratch: &mut Scratch| {
            region
                .view(listed.entry, scratch)
                .is_ok_and(|view| view.damage.iter().any(|d| d.code.level() == Level::Error))
        };
        if !lost.is_empty() && damaged(&mut scratch) {
            pages.append(&mut lost);
        }
    }
    report_zeroed(pages, PAGE, report);
}

/// The bytes of a block of unknown size without zeros at the end of its last sector, which may be padding.
fn without_padding(bytes: &[u8], sector: usize) -> usize {
    let data = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    data.max(bytes.len().saturating_sub(sector.saturating_sub(1)))
}

/// Reports pages of a stream that hold zeros instead of what leads to them says.
pub(super) fn zeroed_pages<S: Source>(stream: &Stream<S>, report: &mut Report) {
    let size = u64::from(stream.pages.header.page_size).max(1);
    let mut bytes = Vec::new();
    let faults = stream.damage.iter().filter(|d| matches!(d.code, Code::StreamPage | Code::StreamNotDatabase));
    let mut pages: Vec<u64> = faults.map(|d| d.span.start / size * size).collect();
    pages.retain(|at| {
        let read = stream.pages.source.read_into(*at, index(size), &mut bytes);
        read.is_ok() && bytes.len() as u64 == size && bytes.iter().all(|byte| *byte == 0)
    });
    report_zeroed(pages, size, report);
}

/// One finding for each run of pages.
fn report_zeroed(mut pages: Vec<u64>, size: u64, report: &mut Report) {
    pages.sort_unstable();
    pages.dedup();
    let mut runs: Vec<Span> = Vec::new();
    for at in pages {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end = at + size,
            _ => runs.push(Span::sized(at, size)),
        }
    }
    runs.into_iter().for_each(|run| report_zeroed_run(run, report));
}

/// Reports bytes that are zero in place of what a program wrote.
pub(super) fn report_zeroed_run(run: Span, report: &mut Report) {
    let damage = Damage::new(Code::PageZeroed, run, "zero bytes in place of data").found(Value::Bytes(run.len()));
    report.file(damage, None);
}

#[cfg(test)]
mod tests {
    use super::without_padding;

    #[test]
    fn zeros_of_the_last_sector_may_be_padding() {
        assert_eq!(without_padding(&[7, 7, 0, 0], 4), 2);
        assert_eq!(without_padding(&[7, 7, 0, 0, 0, 0, 0, 0], 4), 5, "padding is shorter than a sector");
        assert_eq!(without_padding(&[7, 0, 0, 0, 0, 0, 7, 7], 4), 8);
        assert_eq!(without_padding(&[0; 8], 8), 1);
        assert_eq!(without_padding(&[], 8), 0);
    }
}
