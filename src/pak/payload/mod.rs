//! The stored bytes of a chunk: a zlib stream.
//!
//! ```text
//! CMF u8 · FLG u8 (together a multiple of 31) · deflate blocks · Adler-32 u32, big-endian
//! ```
//!
//! Source: RFC 1950. `flate2` decodes, with the backend `zlib-rs`. It does not treat a stream that is cut, or bytes
//! after its end, as errors, so both are recognised by the number of bytes it used. This module decides which error it is, by the
//! header and by its own Adler-32. The size of the data is not stored:
//! memory grows with the data, up to the cap.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::bytes::{Span, index, len64};
use crate::damage::{Code, Damage, Decoded, Value};
use crate::limits::Limits;

/// The most bytes that one byte of deflate can expand to: 258 for two bits.
pub const MAX_EXPANSION: u64 = 1032;

/// Bytes of output that the first attempt has room for: a chunk of 32 x 32 x 32 voxels of two bytes.
const FIRST_ROOM: u64 = 1 << 16;

/// Bytes per step when only the end of a stream is needed.
const PART: usize = 1 << 14;

/// The content of a zlib stream.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a> {
    /// The decompressed bytes, or as many as could be decoded.
    pub plain: &'a [u8],
    /// Bytes of the input that belong to the stream.
    pub used: u64,
    /// Whether the stream reached its end, so that `plain` has the length that was written.
    pub complete: bool,
    /// Whether it is complete and its checksum matches.
    pub whole: bool,
}

/// A decoder with its buffers, to be used again for chunk after chunk.
#[derive(Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    inflate: Option<Decompress>,
}

/// How the stream ended.
enum End {
    Whole,
    Checksum,
    Corrupt(Fault),
    Cut,
    Cap,
}

/// Why a stream cannot be decoded further.
#[derive(Clone, Copy)]
enum Fault {
    /// The two bytes of the header are not a multiple of 31.
    Header,
    /// The header asks for something else than deflate.
    Method,
    /// The header asks for a larger window than deflate has.
    Window,
    /// The stream needs a dictionary that is stored elsewhere.
    Dictionary,
    /// The deflate blocks are invalid from here on.
    Data,
}

impl Fault {
    /// What is wrong with the header of a stream; `None` when nothing is.
    fn of_header(input: &[u8]) -> Option<Self> {
        let &[cmf, flg, ..] = input else { return None };
        if u16::from_be_bytes([cmf, flg]).checked_rem(31) != Some(0) {
            Some(Self::Header)
        } else if cmf & 0x0f != 8 {
            Some(Self::Method)
        } else if cmf >> 4 > 7 {
            Some(Self::Window)
        } else {
            (flg & 0x20 != 0).then_some(Self::Dictionary)
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Header => "incorrect header check",
            Self::Method => "unknown compression method",
            Self::Window => "invalid window size",
            Self::Dictionary => "it needs a preset dictionary",
            Self::Data => "invalid deflate data from here on",
        }
    }
}

impl Decoder {
    /// Decodes `input`; spans of damage count bytes of the input. `exact` says whether `input` is
    /// the stream and nothing else; where it is not, bytes after the stream are no damage.
    ///
    /// Allocates at most `limits.block_bytes` (and one), and no more than the input can give.
    pub fn decode<'a>(&'a mut self, input: &[u8], exact: bool, limits: &Limits) -> Decoded<Payload<'a>> {
        Decoded::collect(|damage| self.decode_into(input, exact, limits, damage))
    }

    fn decode_into<'a>(
        &'a mut self,
        input: &[u8],
        exact: bool,
        limits: &Limits,
        damage: &mut Vec<Damage>,
    ) -> Payload<'a> {
        let cap = limits.block_bytes;
        let (len, used, end) = self.run(input, cap);
        let plain = self.buffer.get(..index(len.min(cap))).unwrap_or_default();
        let all = len64(input);
        let rest = Span::new(used, all);
        let at = |code, span| Damage::new(code, span, "zlib stream");
        match end {
            End::Whole if exact && !rest.is_empty() => damage.push(
                Damage::new(Code::PakZlibTrailing, rest, "bytes after the zlib stream").found(Value::Bytes(rest.len())),
            ),
            End::Whole => {}
            End::Checksum => damage.push(checksum(input, used, plain)),
            End::Corrupt(fault) => damage.push(at(Code::PakZlib, rest).found(Value::Words(fault.words()))),
            End::Cut => damage
                .push(at(Code::PakZlibCut, Span::new(0, all)).expected(Value::Words("more")).found(Value::Bytes(all))),
            End::Cap => damage.push(
                Damage::new(Code::OverLimit, Span::new(0, all), "decompressed chunk")
                    .expected(Value::AtMost(cap))
                    .found(Value::AtLeast(cap.saturating_add(1))),
            ),
        }
        let whole = matches!(end, End::Whole);
        Payload { plain, used, complete: whole || matches!(end, End::Checksum), whole }
    }

    /// Frees memory above `keep` bytes, after an unusually large chunk.
    pub fn shrink(&mut self, keep: usize) {
        self.buffer.truncate(keep);
        self.buffer.shrink_to(keep);
    }

    /// Decodes until the end, a fault or the cap. Returns the number of decoded bytes of the buffer, the number of input bytes
    /// are used, and how it ended.
    fn run(&mut self, input: &[u8], cap: u64) -> (u64, u64, End) {
        let inflate = self.inflate.get_or_insert_with(|| Decompress::new(true));
        inflate.reset(true);
        // One byte more than is allowed, so that a larger chunk is noticed.
        let most = len64(input).saturating_mul(MAX_EXPANSION).min(cap).saturating_add(1);
        let mut room = most.min(FIRST_ROOM.max(len64(&self.buffer)));
        loop {
            let (used, len) = (inflate.total_in(), inflate.total_out());
            if !grow(&mut self.buffer, room) {
                return (len, used, End::Cap);
            }
            let rest = input.get(index(used)..).unwrap_or_default();
            let out = self.buffer.get_mut(index(len)..index(room)).unwrap_or_default();
            let result = inflate.decompress(rest, out, FlushDecompress::Finish);
            let (now_used, now_len) = (inflate.total_in(), inflate.total_out());
            let end = match result {
                Ok(_) if now_len > cap => End::Cap,
                Ok(Status::StreamEnd) => End::Whole,
                Ok(_) if now_len >= room && room < most => {
                    room = most.min(room.saturating_mul(4));
                    continue;
                }
                // There was room left for output, so input is missing.
                Ok(_) if now_used >= len64(input) => End::Cut,
                Ok(_) if (now_used, now_len) != (used, len) => continue,
                Ok(_) => End::Corrupt(Fault::Data),
                Err(_) => match Fault::of_header(input) {
                    Some(fault) => End::Corrupt(fault),
                    None if has_other_checksum(input, now_used, self.buffer.get(..index(now_len))) => End::Checksum,
                    None => End::Corrupt(Fault::Data),
                },
            };
            return (now_len, now_used, end);
        }
    }
}

/// Whether the deflate blocks of a stream that was refused after `used` bytes are whole, and only its Adler-32 is not that
/// of `plain`. The backend says so in words only, so the blocks are decoded once more, without the checksum.
fn has_other_checksum(input: &[u8], used: u64, plain: Option<&[u8]>) -> bool {
    let (Some(plain), Some(blocks)) = (plain, input.get(2..index(used.saturating_sub(4)))) else { return false };
    let mut inflate = Decompress::new(false);
    let mut part = vec![0; PART];
    loop {
        let rest = blocks.get(index(inflate.total_in())..).unwrap_or_default();
        let before = (inflate.total_in(), inflate.total_out());
        match inflate.decompress(rest, &mut part, FlushDecompress::None) {
            Ok(Status::StreamEnd) => break,
            Ok(_) if (inflate.total_in(), inflate.total_out()) != before => {}
            _ => return false,
        }
    }
    let stored = input.get(index(used.saturating_sub(4))..).and_then(<[u8]>::first_chunk);
    inflate.total_in() == len64(blocks)
        && inflate.total_out() == len64(plain)
        && stored.is_some_and(|stored| u32::from_be_bytes(*stored) != adler32(plain))
}

/// Grows `buffer` to at least `len` bytes; old bytes are not cleared. `false` if there is not enough memory.
fn grow(buffer: &mut Vec<u8>, len: u64) -> bool {
    let len = index(len);
    if buffer.len() < len {
        if buffer.try_reserve_exact(len.saturating_sub(buffer.len())).is_err() {
            return false;
        }
        buffer.resize(len, 0);
    }
    true
}

fn checksum(input: &[u8], used: u64, plain: &[u8]) -> Damage {
    let span = Span::new(used.saturating_sub(4), used);
    let stored = input.get(index(span.start)..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
    Damage::new(Code::PakZlibChecksum, span, "Adler-32")
        .expected(Value::Hex32(adler32(plain)))
        .found(Value::Hex32(u32::from_be_bytes(stored)))
}

/// The checksum of RFC 1950.
#[must_use]
pub fn adler32(data: &[u8]) -> u32 {
    const BASE: u32 = 65_521;
    // The most bytes after which the sums still fit 32 bits.
    const RUN: usize = 5552;
    let (mut a, mut b) = (1u32, 0u32);
    for run in data.chunks(RUN) {
        for &byte in run {
            a = a.wrapping_add(u32::from(byte));
            b = b.wrapping_add(a);
        }
        (a, b) = (a % BASE, b % BASE);
    }
    b << 16 | a
}

/// Compresses `plain` into a zlib stream.
#[must_use]
pub fn encode(plain: &[u8]) -> Vec<u8> {
    let mut deflate = Compress::new(Compression::default(), true);
    let mut out = Vec::with_capacity(plain.len() / 2);
    loop {
        out.reserve(4096);
        let rest = plain.get(index(deflate.total_in())..).unwrap_or_default();
        // Deflate does not fail while there is room.
        match deflate.compress_vec(rest, &mut out, FlushCompress::Finish) {
            Ok(Status::Ok | Status::BufError) => {}
            Ok(Status::StreamEnd) | Err(_) => return out,
        }
    }
}

#[cfg(test)]
mod tests;
