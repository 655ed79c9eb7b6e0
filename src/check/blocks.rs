//! Examining the listed blocks of a region, in parallel and in the order of their sectors, several with one read.

use std::cell::RefCell;
use std::io;

use rayon::prelude::*;

use crate::bytes::{Span, index};
use crate::check::{Inside, Options};
use crate::damage::Damage;
use crate::godot::block::Block;
use crate::godot::container::Mode;
use crate::limits::Limits;
use crate::save::{Listed, Region, Scratch, View, wanted};
use crate::source::Source;
use crate::trace::quick::Print;

/// Bytes that are read at once.
const READ: u64 = 256 << 10;

/// Bytes between two blocks that are read along rather than skipped.
const SKIP: u64 = 16 << 10;

/// Blocks that are stored in more than this, or of regions whose blocks have more voxel bytes than [`LARGE_PLAIN`], are
/// examined one at a time.
const LARGE: u64 = 1 << 20;
const LARGE_PLAIN: u64 = 3 << 20;

/// What is kept of an examined block.
#[derive(Default)]
pub(super) struct Outcome {
    /// The size before it; 0 when there is none.
    pub size: u32,
    /// Where it is stored.
    pub stored: Span,
    /// Bytes after decompression.
    pub plain: u64,
    /// How it is packed.
    pub container: Option<&'static str>,
    /// Version of the block; 0 when it is not known.
    pub version: u8,
    /// Its size, channels and metadata.
    pub inside: Inside,
    /// Channels that are whole, when something is wrong with it.
    pub whole_channels: Option<usize>,
    /// What is wrong with it.
    pub damage: Vec<Damage>,
    /// What else is known of it, in a sentence.
    pub remark: Option<String>,
    /// Why it could not be read.
    pub error: Option<io::Error>,
    /// What it looks like as it is stored, when that was asked for and it is whole.
    pub print: Option<Print>,
}

impl Outcome {
    pub fn of(view: io::Result<View<'_>>) -> Self {
        match view {
            Ok(view) => Self {
                size: view.stored.size.unwrap_or(0),
                stored: view.stored.span,
                plain: view.container.map_or(0, |c| c.plain.len() as u64),
                container: view.container.and_then(|c| c.mode).map(Mode::name),
                version: view.block.as_ref().map_or(0, |block| block.version),
                inside: view.block.as_ref().map(Inside::of).unwrap_or_default(),
                whole_channels: (!view.damage.is_empty()).then(|| view.block.as_ref().map_or(0, Block::whole_channels)),
                damage: view.damage.to_vec(),
                remark: None,
                error: None,
                print: None,
            },
            Err(error) => Self { error: Some(error), ..Self::default() },
        }
    }

    /// The same with its print, when it is whole and as long as its entry says.
    pub fn with_print(view: io::Result<View<'_>>, sector_size: u32) -> Self {
        let print = match &view {
            Ok(view) if view.damage.is_empty() => Some(Print::of(view.bytes, sector_size)),
            _ => None,
        };
        Self { print, ..Self::of(view) }
    }
}

thread_local! {
    /// Buffers of this thread: the bytes of a run of blocks, and those for decoding.
    static BUFFERS: RefCell<(Vec<u8>, Scratch)> = RefCell::default();
}

/// Examines blocks and keeps what `keep` makes of each, in the order given (which should be that of the sectors).
/// `None` for blocks that were not come to because the check was stopped, and those without sectors in the file.
pub(super) fn examine<S: Source, T: Send>(
    region: &Region<S>,
    by_sector: &[Listed],
    options: &Options<'_>,
    keep: impl Fn(io::Result<View<'_>>) -> T + Sync,
) -> Vec<Option<T>> {
    let end = region.source.len();
    let runs = runs(region, by_sector, end);
    let one_by_one = region.header.format.most_channel_bytes().is_none_or(|n| n > LARGE_PLAIN);
    let work = |run: &Run<'_>| -> Vec<Option<T>> {
        if options.cancelled() {
            return run.blocks.iter().map(|_| None).collect();
        }
        let kept = BUFFERS.with_borrow_mut(|(bytes, scratch)| examine_run(region, run, bytes, scratch, &keep));
        options.advance(run.span.len());
        kept
    };
    let is_large = |run: &Run<'_>| one_by_one || run.span.len() > LARGE;
    let mut results: Vec<Option<Vec<Option<T>>>> =
        runs.par_iter().map(|run| (!is_large(run)).then(|| work(run))).collect();
    let mut kept = Vec::with_capacity(by_sector.len());
    for (run, result) in runs.iter().zip(&mut results) {
        kept.extend(result.take().unwrap_or_else(|| work(run)));
    }
    kept
}

/// Blocks that are read at once.
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
    bytes: &mut Vec<u8>,
    scratch: &mut Scratch,
    keep: &impl Fn(io::Result<View<'_>>) -> T,
) -> Vec<Option<T>> {
    // A run that cannot be read as a whole is read block by block, so that one bad sector costs one block.
    let readable = region.source.read_into(run.span.start, index(run.span.len()), bytes).is_ok();
    let run_bytes = Bytes { bytes, at: run.span.start, file_end: region.source.len(), readable };
    let mut kept = Vec::with_capacity(run.blocks.len());
    for &listed in run.blocks {
        let span = region.span(listed.entry);
        // The table's own rules say all there is to say of these.
        if span.is_empty() || span.start >= region.source.len() {
            kept.push(None);
            continue;
        }
        let view = match run_bytes.of_block(span, &region.limits) {
            Some(block) => {
                Ok(scratch.interpret_bytes(block, span.start, &region.header, Some(listed.entry), &region.limits))
            }
            None => region.view(listed.entry, scratch),
        };
        kept.push(Some(keep(view)));
    }
    if bytes.capacity() as u64 > LARGE {
        *bytes = Vec::new();
    }
    kept
}

/// The bytes of a run.
struct Bytes<'b> {
    bytes: &'b [u8],
    at: u64,
    file_end: u64,
    readable: bool,
}

impl<'b> Bytes<'b> {
    /// The bytes of a block in the sectors of `span`, and those beyond them that its size prefix asks for, when the run
    /// has them or the file has no more.
    fn of_block(&self, span: Span, limits: &Limits) -> Option<&'b [u8]> {
        let here = self.bytes.get(index(span.start.checked_sub(self.at)?)..).filter(|_| self.readable)?;
        let sectors = here.get(..index(span.len())).unwrap_or(here);
        let reach = wanted(sectors, limits).max(sectors.len());
        let at_end = span.start + sectors.len() as u64 >= self.file_end;
        here.get(..reach).or_else(|| at_end.then_some(sectors))
    }
}
