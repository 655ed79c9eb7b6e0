//! The zlib streams of a pak region, found by looking where blocks begin.
//!
//! A stream encodes its own end, and its checksum (Adler-32) that all of it is what was written, so that one that is whole
//! is no accident. It does not say whose it is.

use std::io;

use crate::bytes::{Span, index, len64};
use crate::damage::Code;
use crate::limits::Limits;
use crate::pak::BLOCK_BYTES;
use crate::parallel;
use crate::save::PakScratch;
use crate::source::Source;

/// Bytes that are read of a stream whose length is not known before more are.
const FIRST: u64 = 64 << 10;

/// Places that are looked at before what they cost is counted: the same whatever the number of threads.
const PART: usize = 32;

/// Streams that take more than this, stored or not, are looked at one at a time.
const LARGE: u64 = 1 << 20;

/// Blocks that records can name, and the most that can be before them.
const REACH: u64 = 1 << 17;

/// How a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a checksum that fits.
    Whole,
    /// With another checksum.
    Checksum,
    /// It breaks off, or does not decode from some place on.
    Torn,
    /// It decodes to more than is read.
    Over,
}

/// A zlib stream, or what begins like one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Its bytes in the file; of one that has no end, those up to where it breaks.
    pub span: Span,
    /// Bytes that it decompresses to, as far as it goes.
    pub plain: u64,
    /// How it ends.
    pub ending: Ending,
}

impl Stream {
    /// Whether its end is known.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        matches!(self.ending, Ending::Whole | Ending::Checksum)
    }

    /// Whether it is what was written.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        matches!(self.ending, Ending::Whole)
    }
}

/// What is at `start`, up to `end` at most; `hint` is how long it may be. `None` when nothing of it decodes.
pub(super) fn at<S: Source>(
    source: &S,
    start: u64,
    hint: Option<u64>,
    end: u64,
    limits: &Limits,
    scratch: &mut PakScratch,
) -> io::Result<Option<Stream>> {
    let small =
        Limits { block_bytes: limits.block_bytes.min(LARGE), stored_bytes: limits.stored_bytes.min(LARGE), ..*limits };
    let (stream, more) = within(source, start, hint, end, &small, scratch)?;
    if more && small != *limits {
        return PakScratch::large(|scratch| within(source, start, hint, end, limits, scratch))
            .map(|(stream, _)| stream);
    }
    Ok(stream)
}

/// The same within limits; whether larger ones would give more.
fn within<S: Source>(
    source: &S,
    start: u64,
    hint: Option<u64>,
    end: u64,
    limits: &Limits,
    scratch: &mut PakScratch,
) -> io::Result<(Option<Stream>, bool)> {
    let (stored, decoder) = scratch.parts();
    let all = end.min(source.len()).saturating_sub(start);
    let most = all.min(limits.stored_bytes);
    let mut len = hint.unwrap_or(FIRST).max(2).min(most);
    loop {
        source.read_into(start, index(len), stored)?;
        let mut damage = Vec::new();
        let payload = decoder.decode(stored, false, limits).report_to(&mut damage);
        let cut = damage.iter().any(|d| d.code == Code::PakZlibCut);
        if cut && len < most {
            len = most.min(len.saturating_mul(4).max(FIRST));
            continue;
        }
        let over = damage.iter().any(|d| d.code == Code::OverLimit);
        let ending = match (payload.whole, payload.complete) {
            (true, _) => Ending::Whole,
            (false, true) => Ending::Checksum,
            _ if over => Ending::Over,
            _ => Ending::Torn,
        };
        let stream = Stream { span: Span::sized(start, payload.used), plain: len64(payload.plain), ending };
        return Ok(((stream.plain > 0 || stream.is_complete()).then_some(stream), over || (cut && most < all)));
    }
}

/// All streams with an end that begin in these areas, at a multiple of a block's length from one of `phases`; streams
/// inside of others are left out. Looking stops when streams have decoded to more than `budget` bytes.
pub(super) fn walk<S: Source>(
    source: &S,
    areas: &[Span],
    phases: &[u64],
    limits: &Limits,
    budget: u64,
    stop: &(dyn Fn() -> bool + Sync),
) -> io::Result<Vec<Stream>> {
    let mut starts = Vec::new();
    let last = source.len().min(REACH * BLOCK_BYTES);
    for area in areas {
        for phase in phases {
            let first = area.start.saturating_sub(*phase).div_ceil(BLOCK_BYTES) * BLOCK_BYTES + phase;
            starts.extend((first..area.end.min(last)).step_by(index(BLOCK_BYTES)));
        }
    }
    starts.sort_unstable();
    starts.dedup();
    let mut streams: Vec<Stream> = Vec::new();
    let mut spent = 0u64;
    for part in starts.chunks(PART) {
        if stop() || spent > budget {
            break;
        }
        let found = parallel::try_map_with(part, |scratch: &mut PakScratch, start| {
            let mut head = [0; 2];
            let there = source.read_at(*start, &mut head)? == 2;
            if there && is_zlib(head) { at(source, *start, None, u64::MAX, limits, scratch) } else { Ok(None) }
        })?;
        for stream in found.into_iter().flatten() {
            // Even one that fails at once costs something.
            spent = spent.saturating_add(stream.plain.max(1 << 10));
            let inside = streams.last().is_some_and(|before| stream.span.start < before.span.end);
            if stream.is_complete() && !inside {
                streams.push(stream);
            }
        }
    }
    Ok(streams)
}

/// Whether a stream can begin so: deflate with a window of at most 32 KiB, no dictionary, a sum that fits (RFC 1950).
fn is_zlib([cmf, flg]: [u8; 2]) -> bool {
    cmf & 0x0f == 8 && cmf >> 4 <= 7 && flg & 0x20 == 0 && u16::from_be_bytes([cmf, flg]).is_multiple_of(31)
}
