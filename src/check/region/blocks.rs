//! Examines the listed blocks of a region in parallel, in the order of their sectors, several with one read.

use std::cell::RefCell;
use std::io;

use crate::bytes::{Span, index};
use crate::check::Options;
use crate::godot::byte_order::ByteOrder;
use crate::godot::region::{Entry, sectors_for};
use crate::godot::verify::{Verified, Verifier};
use crate::limits::Limits;
use crate::parallel;
use crate::save::{Listed, Region, Scratch, View, wanted};
use crate::source::Source;

/// Bytes that are read at once.
const READ: u64 = 256 << 10;

/// Largest gap in bytes between two blocks that one read covers.
const SKIP: u64 = 16 << 10;

/// Blocks with more stored bytes than this, or of regions whose blocks have more voxel bytes than [`LARGE_PLAIN`], are
/// examined one at a time.
const LARGE: u64 = 1 << 20;
const LARGE_PLAIN: u64 = 3 << 20;

/// Buffers of a thread.
#[derive(Default)]
struct Buffers {
    /// Bytes of a run of blocks.
    run: Vec<u8>,
    scratch: Scratch,
    verifier: Verifier,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

/// Examines blocks and keeps what `verified`, if it is given, makes of a block that is proved healthy without decoding it, and
/// `keep` of every other one, in the order given (which should be that of the sectors).
/// `None` for blocks that were not examined because the check was stopped, and for those without sectors in the file.
pub(super) fn examine<S: Source, T: Send>(
    region: &Region<S>,
    by_sector: &[Listed],
    options: &Options<'_>,
    verified: Option<&(impl Fn(&Verified, &[u8], Span) -> T + Sync)>,
    keep: impl Fn(Listed, io::Result<View<'_>>) -> T + Sync,
) -> Vec<Option<T>> {
    let end = region.source.len();
    let runs = runs(region, by_sector, end);
    // Every block of a big-endian file is decoded: those that show no order are findings too.
    let verified = verified.filter(|_| region.header.byte_order == ByteOrder::Little);
    let one_by_one = region.header.format.most_channel_bytes().is_none_or(|n| n > LARGE_PLAIN);
    let work = |run: &Run<'_>| -> Vec<Option<T>> {
        if options.cancelled() {
            return run.blocks.iter().map(|_| None).collect();
        }
        let kept = BUFFERS.with_borrow_mut(|buffers| examine_run(region, run, buffers, verified, &keep));
        options.advance(run.span.len());
        kept
    };
    let is_large = |run: &Run<'_>| one_by_one || run.span.len() > LARGE;
    let mut results = parallel::map(&runs, |run| (!is_large(run)).then(|| work(run)));
    let mut kept = Vec::with_capacity(by_sector.len());
    for (run, result) in runs.iter().zip(&mut results) {
        kept.extend(result.take().unwrap_or_else(|| work(run)));
    }
    kept
}

/// Blocks that are read together.
struct Run<'l> {
    span: Span,
    blocks: &'l [Listed],
}

fn runs<'l, S: Source>(region: &Region<S>, by_sector: &'l [Listed], end: u64) -> Vec<Run<'l>> {
    let mut runs: Vec<Run<'l>> = Vec::new();
    let mut from = 0;
    let mut current: Option<Span> = None;
    for (i, listed) in by_sector.iter().enumerate() {
        let span = region.span(listed.entry);
        let span = Span::new(span.start.min(end), span.end.min(end));
        if let Some(run) = current {
            let joined = Span::new(run.start, run.end.max(span.end));
            if joined.len() <= READ && span.start <= run.end.saturating_add(SKIP) {
                current = Some(joined);
                continue;
            }
            runs.push(Run { span: run, blocks: by_sector.get(from..i).unwrap_or_default() });
            from = i;
        }
        current = Some(span);
    }
    if let Some(span) = current {
        runs.push(Run { span, blocks: by_sector.get(from..).unwrap_or_default() });
    }
    runs
}

fn examine_run<S: Source, T>(
    region: &Region<S>,
    run: &Run<'_>,
    buffers: &mut Buffers,
    verified: Option<&impl Fn(&Verified, &[u8], Span) -> T>,
    keep: &impl Fn(Listed, io::Result<View<'_>>) -> T,
) -> Vec<Option<T>> {
    let Buffers { run: bytes, scratch, verifier } = buffers;
    let layout = region.header.format.layout();
    // If a run cannot be read, its blocks are read one by one, so that a bad sector affects only one block.
    let readable = region.source.read_into(run.span.start, index(run.span.len()), bytes).is_ok();
    let run_bytes = Bytes { bytes, at: run.span.start, file_end: region.source.len(), readable };
    let mut kept = Vec::with_capacity(run.blocks.len());
    for &listed in run.blocks {
        let span = region.span(listed.entry);
        // The rules of the table report these.
        if span.is_empty() || span.start >= region.source.len() {
            kept.push(None);
            continue;
        }
        let block = run_bytes.of_block(span, &region.limits);
        let healthy = block.zip(verified).and_then(|(block, verified)| {
            let stored = stored_block(block, listed.entry, region.header.format.sector_size)?;
            let found = verifier.verify(stored.get(4..)?, &layout, &region.limits)?;
            Some(verified(&found, stored, Span::sized(span.start, stored.len() as u64)))
        });
        if healthy.is_some() {
            kept.push(healthy);
            continue;
        }
        let view = match block {
            Some(block) => {
                Ok(scratch.interpret_bytes(block, span.start, &region.header, Some(listed.entry), &region.limits))
            }
            None => region.view(listed.entry, scratch),
        };
        kept.push(Some(keep(listed, view)));
    }
    if bytes.capacity() as u64 > LARGE {
        *bytes = Vec::new();
    }
    kept
}

/// The size prefix and the container of a block, where they take just the sectors of its entry.
fn stored_block(bytes: &[u8], entry: Entry, sector_size: u32) -> Option<&[u8]> {
    let size = u32::from_le_bytes(*bytes.first_chunk::<4>()?);
    let fits = sectors_for(size.into(), sector_size) == u64::from(entry.count());
    bytes.get(..index(u64::from(size) + 4)).filter(|_| fits)
}

/// The bytes of a run.
struct Bytes<'b> {
    bytes: &'b [u8],
    at: u64,
    file_end: u64,
    readable: bool,
}

impl<'b> Bytes<'b> {
    /// The bytes of a block in the sectors of `span`, and those after them that its size prefix asks for, if the run
    /// contains them or the file ends there.
    fn of_block(&self, span: Span, limits: &Limits) -> Option<&'b [u8]> {
        let here = self.bytes.get(index(span.start.checked_sub(self.at)?)..).filter(|_| self.readable)?;
        let sectors = here.get(..index(span.len())).unwrap_or(here);
        let reach = wanted(sectors, limits).max(sectors.len());
        let at_end = span.start + sectors.len() as u64 >= self.file_end;
        here.get(..reach).or_else(|| at_end.then_some(sectors))
    }
}
