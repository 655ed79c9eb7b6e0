//! The sequences of an LZ4 block, from which any bytes of its output are fetched without writing the rest.
//!
//! [`lz4`](super::lz4) describes a sequence. A byte of a match is a copy of an earlier byte of the output; the chain of copies
//! ends at a literal in the input.

use crate::bytes::index;

/// Bytes of the output between two places where sequences are looked up, as a power of two. A sequence of terrain writes
/// some 30 bytes.
const STEP: u32 = 6;

/// One sequence: literals, then a match, which the last sequence does not have.
#[derive(Clone, Copy, Debug)]
struct Sequence {
    /// Where its output begins.
    output: u32,
    /// Where its literals begin in the input.
    input: u32,
    /// Number of literals.
    literals: u32,
    /// Distance of the match; 0 where there is none.
    distance: u32,
}

/// The sequences of an LZ4 block.
#[derive(Debug, Default)]
pub(super) struct Sequences {
    all: Vec<Sequence>,
    /// For every step of the output, the number of sequences up to the last one that begins there; 0 if none does.
    up_to: Vec<u32>,
}

impl Sequences {
    /// Reads all sequences of a block that decodes to `plain` bytes. `None` where anything is wrong with it.
    pub fn read(&mut self, packed: &[u8], plain: u32) -> Option<()> {
        // So that no offset in the input wraps.
        u32::try_from(packed.len()).ok()?;
        self.all.clear();
        self.up_to.clear();
        self.up_to.resize(index((plain >> STEP).into()).checked_add(1)?, 0);
        let (mut at, mut output) = (0, 0u32);
        loop {
            let Parts { literals, input, end, distance, nibble, more } = match short(packed, at) {
                Some(found) => found,
                None => long(packed, at, plain)?,
            };
            let begin = output;
            output = output.checked_add(literals)?;
            *self.up_to.get_mut(index((begin >> STEP).into()))? = u32::try_from(self.all.len()).ok()?.checked_add(1)?;
            let sequence = Sequence { output: begin, input: u32::try_from(input).ok()?, literals, distance: 0 };
            let Some(distance) = distance else {
                self.all.push(sequence);
                return (output == plain).then_some(());
            };
            if distance == 0 || distance > output {
                return None;
            }
            self.all.push(Sequence { distance, ..sequence });
            at = end;
            let mut length = u32::from(nibble).checked_add(more.into())?;
            if more == 255 {
                length = length.checked_add(rest_of_length(packed, &mut at)?)?;
            }
            output = output.checked_add(length)?.checked_add(4).filter(|output| *output <= plain)?;
        }
    }

    /// Fills `bytes` with the output from a position on.
    pub fn fill(&self, packed: &[u8], mut position: u32, mut bytes: &mut [u8]) -> Option<()> {
        while !bytes.is_empty() {
            let filled = self.fill_some(packed, position, bytes)?;
            position = position.checked_add(u32::try_from(filled).ok()?)?;
            bytes = bytes.get_mut(filled..)?;
        }
        Some(())
    }

    /// Fills `bytes`, or as much of it as one sequence gives, but at least one byte. The number of bytes that are filled.
    pub fn fill_some(&self, packed: &[u8], position: u32, bytes: &mut [u8]) -> Option<usize> {
        let (at, together) = self.literals(position, u32::try_from(bytes.len()).ok()?)?;
        let filled = bytes.get_mut(..index(together.into()))?;
        filled.copy_from_slice(packed.get(index(at.into())..)?.get(..filled.len())?);
        Some(filled.len())
    }

    /// Where the literal of the byte of the output at a position is in the input, and how many bytes, at most `most`, follow each
    /// other there as in the output.
    fn literals(&self, mut position: u32, most: u32) -> Option<(u32, u32)> {
        let mut together = most;
        loop {
            let (sequence, end) = self.at(position)?;
            let inside = position.checked_sub(sequence.output)?;
            let Some(in_match) = inside.checked_sub(sequence.literals) else {
                let left = sequence.literals.checked_sub(inside)?;
                return Some((sequence.input.checked_add(inside)?, together.min(left)));
            };
            // A match may overlap its own output: it repeats the bytes before it.
            let repeated = match sequence.distance {
                distance if in_match < distance => in_match,
                distance => in_match.checked_rem(distance)?,
            };
            let left = sequence.distance.checked_sub(repeated)?;
            together = together.min(left).min(end.checked_sub(position)?);
            let start = sequence.output.checked_add(sequence.literals)?;
            position = start.checked_sub(sequence.distance)?.checked_add(repeated)?;
        }
    }

    /// The sequence that writes the byte of the output at a position, and where the output of the next one begins.
    fn at(&self, position: u32) -> Option<(Sequence, u32)> {
        let mut at = index((*self.up_to.get(index((position >> STEP).into()))?).into());
        if at == 0 {
            at = self.all.partition_point(|sequence| sequence.output <= position);
        }
        let mut end = self.all.get(at).map_or(u32::MAX, |next| next.output);
        loop {
            at = at.checked_sub(1)?;
            let sequence = self.all.get(at)?;
            if sequence.output <= position {
                return Some((*sequence, end));
            }
            end = sequence.output;
        }
    }
}

/// The parts of a sequence in the input.
pub(super) struct Parts {
    /// Number of literals.
    pub literals: u32,
    /// Where they begin in the input.
    pub input: usize,
    /// Where what is read ends in the input: behind the first further byte of the match's length, if there is one.
    pub end: usize,
    /// Distance of the match, which the last sequence does not have.
    pub distance: Option<u32>,
    /// Nibble of the match's length.
    pub nibble: u8,
    /// First further byte of the match's length; 0 if there is none.
    pub more: u8,
}

/// Reads a sequence with fewer than 270 literals, which has a match. Which lengths have further bytes cannot be predicted,
/// so this does not branch on it.
#[inline]
pub(super) fn short(packed: &[u8], at: usize) -> Option<Parts> {
    // A further byte counts behind a nibble of 15 only.
    let further = |nibble: u8, byte: u8| {
        let there = u8::from(nibble == 15);
        (usize::from(there), byte & 0u8.wrapping_sub(there))
    };
    let [token, byte] = *packed.get(at..)?.first_chunk()?;
    let (there, more) = further(token >> 4, byte);
    if more == 255 {
        return None;
    }
    let literals = u32::from(token >> 4).checked_add(more.into())?;
    let input = at.checked_add(1)?.checked_add(there)?;
    let behind = input.checked_add(index(literals.into()))?;
    let [low, high, byte] = *packed.get(behind..)?.first_chunk()?;
    let nibble = token & 15;
    let (there, more) = further(nibble, byte);
    let end = behind.checked_add(2)?.checked_add(there)?;
    Some(Parts { literals, input, end, distance: Some(u16::from_le_bytes([low, high]).into()), nibble, more })
}

/// Reads any sequence of at most `most` literals. Few are long, and it must not take registers from the loop that reads the others.
#[cold]
#[inline(never)]
pub(super) fn long(packed: &[u8], mut at: usize, most: u32) -> Option<Parts> {
    let token = *packed.get(at)?;
    at = at.checked_add(1)?;
    let mut literals = u32::from(token >> 4);
    if literals == 15 {
        literals = literals.checked_add(rest_of_length(packed, &mut at)?).filter(|literals| *literals <= most)?;
    }
    let input = at;
    at = at.checked_add(index(literals.into()))?;
    if at == packed.len() {
        return Some(Parts { literals, input, end: at, distance: None, nibble: 0, more: 0 });
    }
    let distance = Some(u16::from_le_bytes(*packed.get(at..)?.first_chunk()?).into());
    at = at.checked_add(2)?;
    let nibble = token & 15;
    let mut more = 0;
    if nibble == 15 {
        more = *packed.get(at)?;
        at = at.checked_add(1)?;
    }
    Some(Parts { literals, input, end: at, distance, nibble, more })
}

/// Reads bytes that add up until one is under 255.
pub(super) fn rest_of_length(packed: &[u8], at: &mut usize) -> Option<u32> {
    let mut length = 0u32;
    loop {
        let more = *packed.get(*at)?;
        *at = at.checked_add(1)?;
        length = length.checked_add(more.into())?;
        if more < 255 {
            return Some(length);
        }
    }
}

#[cfg(test)]
pub(in crate::godot) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives the whole output of LZ4 data that decodes to so many bytes.
    type Decode = fn(&[u8], u32) -> Option<Vec<u8>>;

    fn output(packed: &[u8], plain: u32) -> Option<Vec<u8>> {
        let mut sequences = Sequences::default();
        sequences.read(packed, plain)?;
        let mut bytes = vec![0; plain as usize];
        sequences.fill(packed, 0, &mut bytes)?;
        Some(bytes)
    }

    #[test]
    fn sequences_give_what_the_format_says() {
        assert_gives_what_the_format_says(output);
    }

    #[test]
    fn whatever_is_wrong_is_refused() {
        assert_refuses_what_is_wrong(output);
    }

    pub fn assert_gives_what_the_format_says(output: Decode) {
        assert_eq!(output(&[0x30, 1, 2, 3], 3), Some(vec![1, 2, 3]), "literals alone");
        assert_eq!(output(&[0x00], 0), Some(vec![]), "nothing");
        // Two literals, a match of 4 + 3 bytes two back, which overlaps its own output, then one literal.
        let overlap = [0x23, 7, 8, 2, 0, 0x10, 9];
        assert_eq!(output(&overlap, 10), Some(vec![7, 8, 7, 8, 7, 8, 7, 8, 7, 9]));
        // Lengths of 15 + 255 + 0 literals, and of 15 + 255 + 1 + 4 bytes of a match.
        let mut long = vec![0xff, 255, 0];
        long.extend((0..270u16).map(|n| n as u8));
        long.extend([1, 0, 255, 1, 0x10, 77]);
        let mut expected: Vec<u8> = (0..270u16).map(|n| n as u8).collect();
        expected.extend([13; 275]);
        expected.push(77);
        assert_eq!(output(&long, 546), Some(expected));
    }

    pub fn assert_refuses_what_is_wrong(output: Decode) {
        let whole = [0x23, 7, 8, 2, 0, 0x10, 9];
        for end in 0..whole.len() {
            assert_eq!(output(&whole[..end], 10), None, "cut at {end}");
        }
        assert_eq!(output(&whole, 9), None, "more than declared");
        assert_eq!(output(&whole, 11), None, "less than declared");
        assert_eq!(output(&[0x23, 7, 8, 0, 0, 0x10, 9], 10), None, "no distance");
        assert_eq!(output(&[0x23, 7, 8, 3, 0, 0x10, 9], 10), None, "before the output");
        assert_eq!(output(&[&whole[..], &[0]].concat(), 10), None, "bytes behind");
        let mut endless = vec![0xf0];
        endless.extend([255; 1000]);
        assert_eq!(output(&endless, 100), None, "a length without an end");
    }

    proptest! {
        #[test]
        fn any_bytes_of_the_output_can_be_fetched(
            runs in prop::collection::vec((prop::collection::vec(any::<u8>(), 1..40), 1usize..60), 1..20),
            before in prop::collection::vec(any::<u8>(), 1..400),
        ) {
            let plain: Vec<u8> = runs.iter().flat_map(|(bytes, times)| bytes.repeat(*times)).collect();
            let mut sequences = Sequences::default();
            // The buffers hold another block's sequences already.
            for plain in [&before, &plain] {
                let packed = lz4_flex::block::compress(plain);
                sequences.read(&packed, plain.len() as u32).expect("a whole block");
                for length in [1, 2, 7, 24] {
                    for (at, expected) in plain.windows(length).enumerate() {
                        let mut bytes = [0; 24];
                        sequences.fill(&packed, at as u32, &mut bytes[..length]).expect("bytes within the output");
                        prop_assert_eq!(&bytes[..length], expected);
                    }
                }
            }
        }
    }
}
