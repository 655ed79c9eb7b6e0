//! Decodes LZ4 blocks of voxels: like `lz4_flex`, but faster where a match repeats the few bytes before it.
//!
//! Voxels of one value, such as a signed distance of 16 bits far from the surface, are matches at a distance of 2 or 4 that
//! overlap their own output. `lz4_flex` copies these byte by byte, which took 39 % of its time in the terrain of `just bench`.

use crate::bytes::index;
use crate::godot::sequences::{Parts, long, rest_of_length, short};

/// Bytes that are copied at once, if that much room is left: most literals and matches are shorter. What is written beyond their end
/// is overwritten next.
const AT_ONCE: usize = 32;

/// Bytes that are repeated at once where a match is near its output.
const NEAR: usize = 16;

/// Matches from this length on are copied by the system.
const LONG: usize = 256;

/// Decodes a block into `out`, all of which it must fill. `None` if anything is wrong with it.
pub(super) fn unpack(packed: &[u8], out: &mut [u8]) -> Option<()> {
    let most = u32::try_from(out.len()).ok()?;
    let (mut at, mut end) = (0, 0usize);
    loop {
        let Parts { literals, input, end: next, distance, nibble, more } = match short(packed, at) {
            Some(found) => found,
            None => long(packed, at, most)?,
        };
        let begin = end;
        end = begin.checked_add(index(literals.into()))?;
        copy_literals(packed.get(input..)?, out.get_mut(begin..)?, index(literals.into()))?;
        let Some(distance) = distance else { return (end == out.len()).then_some(()) };
        at = next;
        let mut length = usize::from(nibble).checked_add(more.into())?.checked_add(4)?;
        if more == 255 {
            length = length.checked_add(index(rest_of_length(packed, &mut at)?.into()))?;
        }
        let begin = end;
        end = begin.checked_add(length)?;
        copy_match(out, begin, end, index(distance.into()))?;
    }
}

#[inline]
fn copy_literals(from: &[u8], to: &mut [u8], count: usize) -> Option<()> {
    if count <= AT_ONCE
        && let (Some(from), Some(to)) = (from.first_chunk::<AT_ONCE>(), to.first_chunk_mut::<AT_ONCE>())
    {
        *to = *from;
    } else {
        to.get_mut(..count)?.copy_from_slice(from.get(..count)?);
    }
    Some(())
}

/// Writes a match from `begin` to `end`.
#[inline]
fn copy_match(out: &mut [u8], begin: usize, end: usize, distance: usize) -> Option<()> {
    let length = end.checked_sub(begin)?;
    let start = begin.checked_sub(distance).filter(|_| distance > 0)?;
    let room = out.len().checked_sub(end)?;
    if distance >= AT_ONCE && room >= AT_ONCE && length < LONG {
        return copy_parts::<AT_ONCE>(out, start, begin, end);
    }
    if distance >= NEAR && room >= NEAR && length < LONG {
        return copy_parts::<NEAR>(out, start, begin, end);
    }
    if distance >= length {
        out.copy_within(start..start.checked_add(length)?, begin);
        return Some(());
    }
    match distance {
        1 => repeat::<1>(out, begin, end),
        2 => repeat::<2>(out, begin, end),
        4 => repeat::<4>(out, begin, end),
        8 => repeat::<8>(out, begin, end),
        _ => {
            let copied = out.get_mut(start..end)?;
            let mut known = distance;
            // Twice as much each time.
            while known < copied.len() {
                let more = known.min(copied.len().saturating_sub(known));
                copied.copy_within(..more, known);
                known = known.saturating_add(more);
            }
            Some(())
        }
    }
}

/// Copies `N` bytes at a time from `from` to `begin` and on, up to `end` or a little further; the two are at least `N` bytes apart.
#[inline]
fn copy_parts<const N: usize>(out: &mut [u8], mut from: usize, mut begin: usize, end: usize) -> Option<()> {
    loop {
        let part: [u8; N] = *out.get(from..)?.first_chunk()?;
        *out.get_mut(begin..)?.first_chunk_mut()? = part;
        (from, begin) = (from.checked_add(N)?, begin.checked_add(N)?);
        if begin >= end {
            return Some(());
        }
    }
}

/// Repeats the `N` bytes before `begin` up to `end`; `N` divides the bytes that are repeated at once.
#[inline]
fn repeat<const N: usize>(out: &mut [u8], begin: usize, end: usize) -> Option<()> {
    let (before, after) = out.split_at_mut_checked(begin)?;
    let before: [u8; N] = *before.last_chunk()?;
    let mut pattern = [0; NEAR];
    pattern.as_chunks_mut::<N>().0.fill(before);
    let length = end.checked_sub(begin)?;
    let (chunks, rest) = after.as_chunks_mut::<NEAR>();
    let whole = length.div_ceil(NEAR);
    if let Some(chunks) = chunks.get_mut(..whole) {
        chunks.fill(pattern);
    } else {
        // The match is near the end of the output, and its last part may be shorter.
        let last = length.checked_sub(chunks.len().checked_mul(NEAR)?)?;
        chunks.fill(pattern);
        rest.get_mut(..last)?.copy_from_slice(pattern.get(..last)?);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::godot::sequences::tests::{assert_gives_what_the_format_says, assert_refuses_what_is_wrong};
    use proptest::prelude::*;

    fn output(packed: &[u8], plain: u32) -> Option<Vec<u8>> {
        let mut out = vec![0xee; index(plain.into())];
        unpack(packed, &mut out).map(|()| out)
    }

    #[test]
    fn hand_written_sequences_give_what_the_format_says() {
        assert_gives_what_the_format_says(output);
    }

    #[test]
    fn whatever_is_wrong_is_refused() {
        assert_refuses_what_is_wrong(output);
    }

    #[test]
    fn a_match_repeats_what_is_before_it_at_any_distance() {
        for distance in 1..40u8 {
            for length in 4..60u8 {
                let literals: Vec<u8> = (1..=distance).collect();
                let mut packed = vec![0xf0 | (length - 4).min(15), 0];
                (packed[0], packed[1]) = match distance.checked_sub(15) {
                    Some(more) => (packed[0], more),
                    None => (distance << 4 | packed[0] & 15, 0),
                };
                packed.truncate(if distance < 15 { 1 } else { 2 });
                packed.extend_from_slice(&literals);
                packed.extend([distance, 0]);
                packed.extend((length - 4).checked_sub(15));
                packed.extend([0x10, 99]);
                let mut expected: Vec<u8> =
                    literals.iter().copied().cycle().take(usize::from(distance) + usize::from(length)).collect();
                expected.push(99);
                assert_eq!(output(&packed, expected.len() as u32), Some(expected), "{length} bytes at {distance}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_lz4_flex_writes_comes_back(
            runs in prop::collection::vec((prop::collection::vec(any::<u8>(), 1..40), 1usize..600), 0..20),
        ) {
            let plain: Vec<u8> = runs.iter().flat_map(|(bytes, times)| bytes.repeat(*times)).collect();
            let packed = lz4_flex::block::compress(&plain);
            prop_assert_eq!(output(&packed, plain.len() as u32), Some(plain));
        }

        #[test]
        fn what_is_refused_or_given_is_what_lz4_flex_says(
            runs in prop::collection::vec((prop::collection::vec(any::<u8>(), 1..20), 1usize..60), 1..10),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        ) {
            let plain: Vec<u8> = runs.iter().flat_map(|(bytes, times)| bytes.repeat(*times)).collect();
            let mut packed = lz4_flex::block::compress(&plain);
            for (at, byte) in changes {
                let at = at.index(packed.len());
                packed[at] = byte;
            }
            if let Some(found) = output(&packed, plain.len() as u32) {
                let mut expected = vec![0; plain.len()];
                prop_assert_eq!(lz4_flex::block::decompress_into(&packed, &mut expected).ok(), Some(plain.len()));
                prop_assert_eq!(found, expected);
            }
        }
    }
}
