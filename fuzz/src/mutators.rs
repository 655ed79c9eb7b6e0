//! Mutators that change compressed data: they decompress a body, change the plain bytes, and compress it again. Without
//! them nearly every mutated input fails in the decompressor, and the code behind it is never reached.
//!
//! Each takes a buffer, its used length, its largest length, a random number, and a function that changes plain bytes
//! (libFuzzer's own mutations). Every second input is mutated without decompression, so that headers, tables and
//! compressed streams are mutated as well.

use std::ops::Range;

use voxscope::godot::container::{Decoder, Mode, encode};
use voxscope::pak::payload;

use crate::oracles::block_files::Files;
use crate::oracles::limits;

/// Changes the used bytes of a buffer, up to the given length; returns the new length.
pub type Mutate = fn(&mut [u8], usize, usize) -> usize;

/// Size of the buffer for plain bytes: more than inputs of a few KiB decompress to.
const PLAIN: usize = 1 << 16;

/// A container.
pub fn container(data: &mut [u8], size: usize, max_size: usize, seed: u32, mutate: Mutate) -> usize {
    changed(data, size, max_size, seed, mutate, |input| repacked(input, seed, mutate))
}

/// A save of block files: the container of one block, with a size that fits it.
pub fn block_files(data: &mut [u8], size: usize, max_size: usize, seed: u32, mutate: Mutate) -> usize {
    changed(data, size, max_size, seed, mutate, |input| {
        let mut files = Files::parse(input);
        let number = (seed >> 1) as usize % files.blocks.len().max(1);
        let (_, file) = files.blocks.get_mut(number)?;
        let packed = repacked(file.get(9..)?, seed, mutate)?;
        file.truncate(5);
        file.extend((packed.len() as u32).to_le_bytes());
        file.extend(packed);
        // A longer file does not fit its length.
        (file.len() <= usize::from(u16::MAX)).then(|| files.join())
    })
}

/// A region file: the container of one block, in the sectors that it has.
pub fn region(data: &mut [u8], size: usize, max_size: usize, seed: u32, mutate: Mutate) -> usize {
    changed(data, size, max_size, seed, mutate, |input| {
        // A block begins where a compression mode follows a size that fits; the table is not needed to find it.
        let mut blocks = Vec::new();
        let mut at = 0;
        while let Some(head) = input.get(at..at + 5) {
            let len = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
            if len > 8 && head[4] < 4 && at + 4 + len <= input.len() {
                blocks.push(at + 4..at + 4 + len);
                at += 4 + len;
            } else {
                at += 1;
            }
        }
        let block = pick(&blocks, seed)?;
        let packed = repacked(&input[block.clone()], seed, mutate)?;
        Some(replaced(input, block, &packed))
    })
}

/// A pak region, spread or not: one zlib stream.
pub fn pak(data: &mut [u8], size: usize, max_size: usize, seed: u32, mutate: Mutate) -> usize {
    changed(data, size, max_size, seed, mutate, |input| {
        let starts = input
            .windows(2)
            .enumerate()
            .filter(|(_, head)| head[0] == 0x78 && [1, 0x5e, 0x9c, 0xda].contains(&head[1]));
        let streams: Vec<usize> = starts.map(|(at, _)| at).collect();
        let at = pick(&streams, seed)?;
        let (mut decoder, mut damage) = (payload::Decoder::default(), Vec::new());
        let found = decoder.decode(&input[at..], false, &limits()).report_to(&mut damage);
        let stream = at..at + usize::try_from(found.used).ok()?;
        // Chunks are long and uniform: change only a part of one.
        let plain = found.plain.to_vec();
        let from = (seed >> 8) as usize % plain.len().max(1);
        let to = (from + 64).min(plain.len());
        let mut part = plain.get(from..to).filter(|part| !part.is_empty())?.to_vec();
        let len = part.len();
        let n = mutate(&mut part, len, len);
        // Keep the length, from which the shape of a chunk is inferred.
        part.truncate(n);
        part.resize(len, 0);
        let packed = payload::encode(&replaced(&plain, from..to, &part));
        Some(replaced(input, stream, &packed))
    })
}

/// Replaces a part of some bytes by others: padded with zeros if they are shorter, overwriting what follows if they are
/// longer, as a writer without a table would do.
fn replaced(input: &[u8], range: Range<usize>, with: &[u8]) -> Vec<u8> {
    let mut out = input.to_vec();
    let end = range.start + with.len();
    out.resize(out.len().max(end), 0);
    out[range.start..range.end.max(end)].fill(0);
    out[range.start..end].copy_from_slice(with);
    out
}

fn pick<T: Clone>(all: &[T], seed: u32) -> Option<T> {
    all.get((seed >> 1) as usize % all.len().max(1)).cloned()
}

/// Replaces the plain bytes of a container.
fn repacked(input: &[u8], seed: u32, mutate: Mutate) -> Option<Vec<u8>> {
    let (mut decoder, mut damage) = (Decoder::default(), Vec::new());
    let found = decoder.decode(input, &limits()).report_to(&mut damage);
    let mode = found.mode?;
    let mut plain = found.plain.get(..found.plain.len().min(PLAIN / 2))?.to_vec();
    let len = plain.len();
    plain.resize(PLAIN, 0);
    let len = mutate(&mut plain, len, PLAIN);
    // Sometimes use another compression mode.
    let mode = if seed >> 5 & 15 == 0 { pick(&Mode::ALL, seed >> 9)? } else { mode };
    let mut out = Vec::new();
    encode(mode, &plain[..len], &mut out);
    Some(out)
}

/// The input changed by `change`, or mutated without decompression if that fails.
fn changed(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    mutate: Mutate,
    change: impl FnOnce(&[u8]) -> Option<Vec<u8>>,
) -> usize {
    let new = if seed & 1 == 0 { change(&data[..size]) } else { None };
    match new {
        Some(new) if new.len() <= max_size.min(data.len()) => {
            data[..new.len()].copy_from_slice(&new);
            new.len()
        }
        _ => mutate(data, size, max_size),
    }
}
