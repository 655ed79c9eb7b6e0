//! The write-ahead log: saves that were finished and not yet moved into the database.
//!
//! ```text
//! magic u32 (its lowest bit: checksums of big-endian numbers) · version u32 · page size u32 · checkpoint u32
//! salt u32 x 2 · checksum u32 x 2
//! frames x (page u32 · pages of the database, where a save ends here, else 0, u32 · salt u32 x 2 · checksum u32 x 2 · content)
//! ```
//!
//! Frames are valid up to the last end of a save, if their salt is that of the log and their running checksum matches. A log that
//! was begun again has frames of another salt behind the new ones. One of the same salt whose checksum does not match was changed.

use std::collections::HashMap;
use std::io;

use crate::bytes::{Cursor, index, len64};
use crate::source::Source;
use crate::sqlite::header::is_page_size;
use crate::sqlite::journal::Found;
use crate::sqlite::pages::Overlay;

const HEADER: usize = 32;
const FRAME: u64 = 24;

/// Reads a log.
///
/// # Errors
/// I/O errors.
pub fn read<S: Source>(source: S) -> io::Result<Found<S>> {
    let mut bytes = Vec::new();
    source.read_into(0, HEADER, &mut bytes)?;
    if bytes.is_empty() {
        return Ok(Found::Nothing);
    }
    let words = be_words(&bytes);
    let [magic, version, page_size, _, salt_a, salt_b, sum_a, sum_b] = words[..] else {
        return Ok(Found::Unusable("it is shorter than its header"));
    };
    if magic & !1 != 0x377f_0682 || version != 3_007_000 || !is_page_size(page_size) {
        return Ok(Found::Unusable("its first bytes are not those of a write-ahead log"));
    }
    let big = magic & 1 == 1;
    let mut sum = checksum(bytes.get(..24).unwrap_or_default(), big, [0; 2]);
    if sum != [sum_a, sum_b] {
        return Ok(Found::Unusable("the checksum of its header does not match"));
    }
    let mut saved: HashMap<u32, u64> = HashMap::new();
    // Frames after the last end of a save.
    let mut open: Vec<(u32, u64)> = Vec::new();
    let mut pages = None;
    let mut at = u64::try_from(HEADER).unwrap_or(0);
    let frame = FRAME.saturating_add(page_size.into());
    loop {
        source.read_into(at, index(frame), &mut bytes)?;
        if len64(&bytes) < frame {
            break;
        }
        let (head, content) = bytes.split_at_checked(index(FRAME)).unwrap_or_default();
        let [number, ends, a, b, frame_a, frame_b] = be_words(head)[..] else { break };
        sum = checksum(head.get(..8).unwrap_or_default(), big, sum);
        sum = checksum(content, big, sum);
        if [a, b] != [salt_a, salt_b] || number == 0 {
            break;
        }
        if sum != [frame_a, frame_b] {
            if pages.is_none() && has_end(&source, at, frame, [salt_a, salt_b])? {
                return Ok(Found::Unusable("the checksum of a frame of its first save does not match"));
            }
            break;
        }
        open.push((number, at.saturating_add(FRAME)));
        if ends > 0 {
            saved.extend(open.drain(..));
            pages = Some(ends);
        }
        at = at.saturating_add(frame);
    }
    Ok(match pages {
        None => Found::Nothing,
        Some(pages) => Found::Pages(Overlay { source, at: saved, pages }, page_size),
    })
}

/// Whether a frame of a log, from a byte on, ends a save: what is before it was finished once.
fn has_end<S: Source>(source: &S, mut at: u64, frame: u64, salt: [u32; 2]) -> io::Result<bool> {
    let mut bytes = Vec::new();
    loop {
        source.read_into(at, index(FRAME), &mut bytes)?;
        let [number, ends, a, b, ..] = be_words(&bytes)[..] else { return Ok(false) };
        if [a, b] != salt || number == 0 {
            return Ok(false);
        }
        if ends > 0 {
            return Ok(true);
        }
        at = at.saturating_add(frame);
    }
}

/// A log of one save: pages of a size, with their numbers, of a database that has `after` pages then.
#[must_use]
pub fn encode(pages: &[(u32, &[u8])], after: u32, page_size: u32) -> Vec<u8> {
    let last = pages.len().saturating_sub(1);
    let ends = (0..).map(|at| if at == last { after } else { 0 });
    let frames: Vec<Frame<'_>> = pages.iter().zip(ends).map(|(&(page, content), ends)| (page, ends, content)).collect();
    encode_frames(&frames, page_size, true)
}

/// A frame of a log: its page, the pages of the database if a save ends with it, else 0, and the content of the page.
pub type Frame<'a> = (u32, u32, &'a [u8]);

/// A log of any frames, with checksums of big-endian or of little-endian numbers.
#[must_use]
pub fn encode_frames(frames: &[Frame<'_>], page_size: u32, big: bool) -> Vec<u8> {
    const SALT: [u32; 2] = [0x1234_5678, 0x9abc_def0];
    let mut out = Vec::new();
    let put = |out: &mut Vec<u8>, words: &[u32]| {
        words.iter().for_each(|word| out.extend_from_slice(&word.to_be_bytes()));
    };
    let [salt_a, salt_b] = SALT;
    put(&mut out, &[0x377f_0682 | u32::from(big), 3_007_000, page_size, 0, salt_a, salt_b]);
    let mut sum = checksum(&out, big, [0; 2]);
    put(&mut out, &sum);
    for (page, ends, content) in frames {
        let mut head = Vec::new();
        put(&mut head, &[*page, *ends]);
        sum = checksum(content, big, checksum(&head, big, sum));
        put(&mut head, &[salt_a, salt_b]);
        put(&mut head, &sum);
        out.extend_from_slice(&head);
        out.extend_from_slice(content);
    }
    out
}

fn be_words(bytes: &[u8]) -> Vec<u32> {
    let mut cursor = Cursor::new(bytes);
    std::iter::from_fn(|| cursor.array().ok().map(u32::from_be_bytes)).collect()
}

fn checksum(bytes: &[u8], big: bool, [mut a, mut b]: [u32; 2]) -> [u32; 2] {
    let (pairs, _) = bytes.as_chunks::<8>();
    for &[p, q, r, s, t, u, v, w] in pairs {
        let word = |bytes: [u8; 4]| if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
        a = a.wrapping_add(word([p, q, r, s])).wrapping_add(b);
        b = b.wrapping_add(word([t, u, v, w])).wrapping_add(a);
    }
    [a, b]
}
