//! Zstandard frames: decodes with `ruzstd` (or, with the feature `zstd-c`, the C library for healthy frames), and
//! recovers what it can from frames that do not decode.
//!
//! ```text
//! frame: magic u32 0xfd2fb528 · descriptor u8 (bit 2: checksum) · window, dictionary, content size · blocks · checksum u32?
//! block: u24 (bit 0: last · bits 1-2: kind · size) · data
//! ```
//!
//! `ruzstd` does not verify the content's checksum, so this module does. To recover the data before a fault, the
//! frame is cut after its last whole block, that block is marked as the last one and the checksum flag is cleared: a
//! whole frame, which the same decoder decodes.

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::Read;

use crate::bytes::{Span, grow, index, len64};
use crate::damage::{Code, Damage, Value};
use crate::limits::Limits;

/// The smallest window that is always allowed: encoders that do not know the content size request this much.
const SMALL_WINDOW: u64 = 1 << 20;

/// The largest window that every decoder should support, by RFC 8878.
const LARGE_WINDOW: u64 = 8 << 20;

/// A decoder with its window, to be used again.
#[derive(Default)]
pub(super) struct Decoder {
    frame: Option<Box<FrameDecoder>>,
    /// The largest content so far.
    largest: u64,
    #[cfg(feature = "zstd-c")]
    fast: Option<::zstd::bulk::Decompressor<'static>>,
}

/// How far a frame decoded.
struct Outcome {
    /// Decoded bytes in the buffer.
    len: usize,
    /// Bytes of the frame that were used.
    used: u64,
    /// Offset of the last whole block, once there is one.
    last_block: Option<u64>,
    /// Why it stopped before its end.
    stopped: Option<Stop>,
}

#[derive(PartialEq)]
enum Stop {
    Header,
    Block,
    Cap,
    Checksum {
        stored: u32,
        computed: u32,
    },
    /// The content size in the frame's header, which `ruzstd` does not verify.
    Size {
        stored: u64,
    },
    /// A bit of the descriptor that must be zero.
    Reserved,
}

impl Decoder {
    /// Decodes a frame that should give `declared` bytes. Gives how many bytes of `buffer` are decoded and what was
    /// wrong, in bytes of `packed`.
    pub(super) fn decode(
        &mut self,
        packed: &[u8],
        declared: u32,
        buffer: &mut Vec<u8>,
        limits: &Limits,
    ) -> (usize, Option<Damage>) {
        let claim = u64::from(declared);
        #[cfg(feature = "zstd-c")]
        if claim <= limits.block_bytes && self.decode_fast(packed, grow(buffer, index(claim))) {
            return (index(claim), None);
        }
        // One byte more than declared, so that a longer content is noticed.
        let cap = claim.saturating_add(1).min(limits.block_bytes);
        let mut outcome = self.run(packed, buffer, cap);
        let end = len64(packed);
        let damage = match outcome.stopped {
            None if claim > limits.block_bytes => Some(over_limit(claim, limits)),
            None if len64_of(outcome.len) != claim => Some(length(outcome.used, claim, len64_of(outcome.len))),
            None if outcome.used < end => Some(
                Damage::new(Code::ContainerTrailing, Span::new(outcome.used, end), "bytes after the frame")
                    .found(Value::Bytes(end.saturating_sub(outcome.used))),
            ),
            None => None,
            Some(Stop::Cap) if claim >= limits.block_bytes => Some(over_limit(claim, limits)),
            Some(Stop::Cap) => Some(length(end, claim, len64_of(outcome.len))),
            Some(Stop::Checksum { stored, computed }) => Some(
                Damage::new(
                    Code::ContainerChecksum,
                    Span::new(outcome.used.saturating_sub(4), outcome.used),
                    "checksum",
                )
                .expected(Value::Hex32(computed))
                .found(Value::Hex32(stored)),
            ),
            Some(Stop::Size { stored }) => Some(
                Damage::new(Code::ContainerLength, Span::new(0, outcome.used), "content size of the frame")
                    .expected(Value::Number(len64_of(outcome.len)))
                    .found(Value::Number(stored)),
            ),
            Some(Stop::Reserved) => Some(corrupt(4, end, "a reserved bit of the frame's header is set")),
            Some(Stop::Header) => Some(corrupt(0, end, "it has no frame header")),
            Some(Stop::Block) => Some(corrupt(outcome.used, end, "a block of the frame does not decode")),
        };
        if outcome.stopped == Some(Stop::Block)
            && let Some(start) = outcome.last_block
            && let Some(mended) = mend(packed, start, outcome.used)
        {
            outcome = self.run(&mended, buffer, cap);
        }
        (outcome.len, damage)
    }

    /// Frees memory after an unusually large frame.
    pub(super) fn shrink(&mut self, keep: usize) {
        if self.largest > len64_of(keep) {
            self.frame = None;
            self.largest = 0;
        }
    }

    #[cfg(feature = "zstd-c")]
    fn decode_fast(&mut self, packed: &[u8], out: &mut [u8]) -> bool {
        if self.fast.is_none() {
            self.fast = ::zstd::bulk::Decompressor::new().ok();
        }
        // The C decoder verifies checksums. It also accepts several consecutive frames, which the format does not have.
        let single = ::zstd::zstd_safe::find_frame_compressed_size(packed).is_ok_and(|n| n == packed.len());
        single
            && self
                .fast
                .as_mut()
                .is_some_and(|fast| fast.decompress_to_buffer(packed, out).is_ok_and(|n| n == out.len()))
    }

    fn run(&mut self, packed: &[u8], buffer: &mut Vec<u8>, cap: u64) -> Outcome {
        self.largest = self.largest.max(cap);
        let frame = self.frame.get_or_insert_with(|| Box::new(FrameDecoder::new()));
        let mut outcome = Outcome { len: 0, used: 0, last_block: None, stopped: None };
        // The window is reserved before a byte is decoded, so a frame may not ask for one far beyond its content.
        frame.set_max_window_size(cap.saturating_mul(2).clamp(SMALL_WINDOW, LARGE_WINDOW));
        let mut input = packed;
        if frame.init(&mut input).is_err() {
            outcome.stopped = Some(Stop::Header);
            return outcome;
        }
        loop {
            outcome.used = len64(packed).saturating_sub(len64(input));
            if frame.is_finished() {
                break;
            }
            let at = outcome.used;
            if frame.decode_blocks(&mut input, BlockDecodingStrategy::UptoBlocks(1)).is_err() {
                outcome.stopped = Some(Stop::Block);
                break;
            }
            outcome.last_block = Some(at);
            if !drain(frame, buffer, &mut outcome.len, cap) {
                outcome.stopped = Some(Stop::Cap);
                return outcome;
            }
        }
        if !drain(frame, buffer, &mut outcome.len, cap) {
            outcome.stopped = Some(Stop::Cap);
        }
        if outcome.stopped.is_none()
            && let (Some(stored), Some(computed)) = (frame.get_checksum_from_data(), frame.get_calculated_checksum())
            && stored != computed
        {
            outcome.stopped = Some(Stop::Checksum { stored, computed });
        }
        // The engine's decoder refuses both.
        let descriptor = packed.get(4).copied().unwrap_or_default();
        let stored = (descriptor & 0b1110_0000 != 0).then(|| frame.content_size());
        if outcome.stopped.is_none()
            && let Some(stored) = stored.filter(|&stored| stored != len64_of(outcome.len))
        {
            outcome.stopped = Some(Stop::Size { stored });
        }
        if outcome.stopped.is_none() && descriptor & 0b1000 != 0 {
            outcome.stopped = Some(Stop::Reserved);
        }
        outcome
    }
}

/// Moves decoded bytes to `buffer[*len..]`; false if that exceeds the cap.
fn drain(frame: &mut FrameDecoder, buffer: &mut Vec<u8>, len: &mut usize, cap: u64) -> bool {
    loop {
        let ready = frame.can_collect();
        if ready == 0 {
            return true;
        }
        let left = index(cap).saturating_sub(*len);
        let want = len.saturating_add(ready.min(left));
        let out = grow(buffer, want).get_mut(*len..).unwrap_or_default();
        match frame.read(out) {
            Ok(n) if n > 0 => *len = len.saturating_add(n),
            _ => return left > 0,
        }
    }
}

/// The frame up to `end`, with the block at `start` marked as its last and without a checksum.
fn mend(packed: &[u8], start: u64, end: u64) -> Option<Vec<u8>> {
    let mut frame = packed.get(..index(end))?.to_vec();
    *frame.get_mut(4)? &= !0b100;
    *frame.get_mut(index(start))? |= 1;
    Some(frame)
}

fn len64_of(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn over_limit(claim: u64, limits: &Limits) -> Damage {
    Damage::new(Code::OverLimit, Span::default(), "declared size")
        .expected(Value::AtMost(limits.block_bytes))
        .found(Value::Number(claim))
}

fn length(end: u64, claim: u64, found: u64) -> Damage {
    let found = if found > claim { Value::AtLeast(found) } else { Value::Number(found) };
    Damage::new(Code::ContainerLength, Span::new(0, end), "length of the decompressed data")
        .expected(Value::Number(claim))
        .found(found)
}

fn corrupt(at: u64, end: u64, what: &'static str) -> Damage {
    Damage::new(Code::ContainerCorrupt, Span::new(at, end), "Zstandard data").found(Value::Words(what))
}

/// Compresses `plain` into one frame and appends it to `out`.
pub(super) fn encode(plain: &[u8], out: &mut Vec<u8>) {
    ruzstd::encoding::compress(plain, out, ruzstd::encoding::CompressionLevel::Fastest);
}
