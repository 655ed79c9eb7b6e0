//! The stored bytes of a chunk: a zlib stream.
//!
//! ```text
//! CMF u8 · FLG u8 (together a multiple of 31) · deflate blocks · Adler-32 u32, big-endian
//! ```
//!
//! Source: RFC 1950. `flate2` decodes, with the backend `zlib-rs`. It does not treat a stream that is cut, or bytes
//! after its end, as errors, so both are told from how many bytes it used. The size of the data is declared nowhere:
//! memory grows while data comes, and stops at the cap.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::bytes::{Span, index, len64};
use crate::damage::{Code, Damage, Value};
use crate::limits::Limits;

/// The most bytes that one byte of deflate can stand for: 258 for two bits.
pub const MAX_EXPANSION: u64 = 1032;

/// Bytes of output that the first attempt has room for: a chunk of 32 x 32 x 32 voxels of two bytes.
const FIRST_ROOM: u64 = 1 << 16;

/// The words with which the backend says that the Adler-32 is another; a test holds it to them.
const CHECKSUM_WORDS: &str = "incorrect data check";

/// What a zlib stream holds.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a> {
    /// The decompressed bytes, or as many as could be decoded.
    pub plain: &'a [u8],
    /// Bytes of the input that the stream takes.
    pub used: u64,
    /// Whether the stream reached its end, so that the length of `plain` is what was written.
    pub complete: bool,
    /// Whether it is complete and the checksum fits.
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
    Corrupt(&'static str),
    Cut,
    Cap,
}

impl Decoder {
    /// Decodes `input`, pushing what is wrong with it; spans count bytes of the input. `exact` says whether `input` is
    /// the stream and nothing else; where it is not, bytes after the stream are no damage.
    ///
    /// Allocates at most `limits.block_bytes` (and one), and no more than the input can give.
    pub fn decode<'a>(
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
            End::Corrupt(words) => damage.push(at(Code::PakZlib, rest).found(Value::Words(words))),
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

    /// Gives back memory above `keep` bytes, after an unusually large chunk.
    pub fn shrink(&mut self, keep: usize) {
        self.buffer.truncate(keep);
        self.buffer.shrink_to(keep);
    }

    /// Decodes until the end, a fault or the cap. Gives how many bytes of the buffer are decoded, how many of the input
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
                // Room was left, so it is input that is missing.
                Ok(_) if now_used >= len64(input) => End::Cut,
                Ok(_) if (now_used, now_len) != (used, len) => continue,
                Ok(_) => End::Corrupt("no progress"),
                Err(error) if error.needs_dictionary().is_some() => End::Corrupt("it needs a preset dictionary"),
                Err(error) => match error.message() {
                    Some(CHECKSUM_WORDS) => End::Checksum,
                    words => End::Corrupt(known(words)),
                },
            };
            return (now_len, now_used, end);
        }
    }
}

/// The backend's words for a fault, as words that live for ever.
fn known(words: Option<&str>) -> &'static str {
    const WORDS: [&str; 14] = [
        "incorrect header check",
        "unknown compression method",
        "invalid window size",
        "invalid block type",
        "invalid stored block lengths",
        "too many length or distance symbols",
        "invalid code lengths set",
        "invalid bit length repeat",
        "invalid code -- missing end-of-block",
        "invalid literal/lengths set",
        "invalid distances set",
        "invalid literal/length code",
        "invalid distance code",
        "invalid distance too far back",
    ];
    let words = words.unwrap_or_default().trim_end_matches('\0');
    WORDS.into_iter().find(|known| *known == words).unwrap_or("not a zlib stream from here on")
}

/// Makes `buffer` at least `len` bytes long; what is there is not cleared. `false` when there is no memory.
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
        // Deflate refuses nothing while there is room.
        match deflate.compress_vec(rest, &mut out, FlushCompress::Finish) {
            Ok(Status::Ok | Status::BufError) => {}
            Ok(Status::StreamEnd) | Err(_) => return out,
        }
    }
}

#[cfg(test)]
mod tests;
