//! LZ4 blocks without a frame: decodes them, and recovers what it can from blocks that do not decode.
//!
//! ```text
//! sequence: token u8 (literals << 4 | match - 4) · more literal lengths · literals · offset u16 · more match lengths
//! the last sequence has only literals; a length nibble of 15 is followed by bytes that add up until one is under 255
//! ```
//!
//! What [`unpack`] refuses is left to `lz4_flex`, which stops at a fault without its position. [`walk`] reads the sequences
//! without copying anything: it finds the length of the output and the first fault. [`salvage`] terminates the part before
//! the fault with a last sequence, so that a decoder returns all the bytes before the fault.

use crate::bytes::{Cursor, Short, len64};
use crate::godot::unpack::unpack;

/// The most bytes that one byte of LZ4 can expand to.
pub const MAX_EXPANSION: u64 = 255;

/// The result of a walk over the sequences of an LZ4 block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Bytes that the sequences before the fault (or all of them) decode to.
    pub output: u64,
    /// Offset of the first fault in the input, and its kind.
    pub fault: Option<(u64, &'static str)>,
    /// Bytes of input up to the end of the last whole match.
    matched: u64,
    /// Whole literals that follow it before the fault: offset and count.
    literals: (u64, u64),
}

/// Decodes into `out`, which must have exactly the expected size. `None` when the data is faulty or longer than that.
pub fn decode_into(input: &[u8], out: &mut [u8]) -> Option<usize> {
    if unpack(input, out).is_some() {
        return Some(out.len());
    }
    lz4_flex::block::decompress_into(input, out).ok()
}

/// Compresses `plain` and appends the block to `out`.
pub fn encode(plain: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&lz4_flex::block::compress(plain));
}

/// Reads the sequences without producing output, up to the end, the first fault, or `cap` bytes of output.
#[must_use]
pub fn walk(input: &[u8], cap: u64) -> Walk {
    let mut cursor = Cursor::new(input);
    let mut walk = Walk { output: 0, fault: None, matched: 0, literals: (0, 0) };
    loop {
        let at = cursor.offset();
        match sequence(&mut cursor, &mut walk, cap) {
            Ok(Step::More) => {}
            Ok(Step::End) => return walk,
            Err(Fault::Short) => {
                walk.fault = Some((at, "the data ends inside a sequence"));
                return walk;
            }
            Err(Fault::At(offset, what)) => {
                walk.fault = Some((offset, what));
                return walk;
            }
        }
    }
}

enum Step {
    More,
    End,
}

enum Fault {
    Short,
    At(u64, &'static str),
}

impl From<Short> for Fault {
    fn from(_: Short) -> Self {
        Self::Short
    }
}

fn sequence(cursor: &mut Cursor<'_>, walk: &mut Walk, cap: u64) -> Result<Step, Fault> {
    let token = cursor.u8()?;
    let literals = length(cursor, token >> 4)?;
    let at = cursor.offset();
    let there = literals.min(len64(cursor.peek()));
    let room = cap.saturating_sub(walk.output);
    walk.literals = (at, there.min(room));
    walk.output = walk.output.saturating_add(there.min(room));
    if there > room {
        return Err(Fault::At(at, "the output is larger than allowed"));
    }
    cursor.take(crate::bytes::index(literals))?;
    if cursor.is_empty() {
        return Ok(Step::End);
    }
    let at = cursor.offset();
    let offset = u64::from(cursor.u16()?);
    let matched = length(cursor, token & 15)?.saturating_add(4);
    if offset == 0 || offset > walk.output {
        return Err(Fault::At(at, "a match reaches before the start of the output"));
    }
    if matched > cap.saturating_sub(walk.output) {
        return Err(Fault::At(at, "the output is larger than allowed"));
    }
    walk.output = walk.output.saturating_add(matched);
    walk.matched = cursor.offset();
    walk.literals = (cursor.offset(), 0);
    Ok(Step::More)
}

fn length(cursor: &mut Cursor<'_>, nibble: u8) -> Result<u64, Short> {
    let mut n = u64::from(nibble);
    if nibble == 15 {
        loop {
            let more = cursor.u8()?;
            n = n.saturating_add(u64::from(more));
            if more < 255 {
                break;
            }
        }
    }
    Ok(n)
}

/// The part of `input` before the fault that `walk` found, as a whole LZ4 block that decodes to `walk.output` bytes.
#[must_use]
pub fn salvage(input: &[u8], walk: &Walk) -> Vec<u8> {
    let (from, count) = walk.literals;
    let whole = input.get(..crate::bytes::index(walk.matched)).unwrap_or_default();
    let end = crate::bytes::index(from.saturating_add(count));
    let literals = input.get(crate::bytes::index(from)..end).unwrap_or_default();
    let mut block = Vec::with_capacity(input.len());
    block.extend_from_slice(whole);
    if let Ok(small @ 0..15) = u8::try_from(count) {
        block.push(small << 4);
    } else {
        block.push(0xf0);
        let mut left = count.saturating_sub(15);
        while left >= 255 {
            block.push(255);
            left = left.saturating_sub(255);
        }
        block.push(u8::try_from(left).unwrap_or_default());
    }
    block.extend_from_slice(literals);
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Vec<u8>, Vec<u8>) {
        let plain: Vec<u8> = (0..3000u32).flat_map(|i| [(i / 7) as u8, (i * i % 251) as u8, 0, 0]).collect();
        let mut packed = Vec::new();
        encode(&plain, &mut packed);
        (plain, packed)
    }

    #[test]
    fn a_walk_agrees_with_the_decoder_on_whole_data() {
        let (plain, packed) = sample();
        let walk = walk(&packed, 1 << 20);
        assert_eq!((walk.output, walk.fault), (plain.len() as u64, None));
    }

    #[test]
    fn whatever_is_cut_off_the_rest_comes_back() {
        let (plain, packed) = sample();
        let mut last = 0;
        for cut in 0..packed.len() {
            let walk = walk(&packed[..cut], 1 << 20);
            let mut out = vec![0; walk.output as usize];
            if cut > 0 && walk.output > 0 {
                let n = decode_into(&salvage(&packed[..cut], &walk), &mut out);
                assert_eq!(n, Some(out.len()), "cut at {cut}");
            }
            assert_eq!(out, plain[..out.len()], "cut at {cut}");
            assert!(walk.output >= last, "cut at {cut}: a longer input gives no less");
            last = walk.output;
        }
        assert!(last as usize > plain.len() - 64);
    }

    #[test]
    fn a_match_before_the_start_is_found_where_it_is() {
        // One literal, then a match 9 bytes back.
        let walk = walk(&[0x10, 7, 9, 0, 0], 100);
        assert_eq!(walk.fault, Some((2, "a match reaches before the start of the output")));
        assert_eq!(walk.output, 1);
        assert_eq!(salvage(&[0x10, 7, 9, 0, 0], &walk), [0x10, 7]);
    }

    #[test]
    fn output_over_the_cap_is_a_fault_and_costs_nothing() {
        let mut bomb = vec![0x1f, 0, 1, 0];
        bomb.extend([255; 10_000]);
        bomb.extend([0, 0]);
        let walk = walk(&bomb, 1 << 16);
        assert_eq!(walk.fault.map(|f| f.1), Some("the output is larger than allowed"));
        assert!(walk.output <= 1 << 16);
    }
}
