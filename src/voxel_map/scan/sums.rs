//! How often each bit is set in many words.
//!
//! Counting bit by bit costs a pass a bit. Instead, words are added up as binary digits: a carry-save adder takes three
//! words and gives two, in which each bit is the sum (1) and the carry (2) of the three bits above it. Of eight words one
//! is left whose bits count for eight, and only that one is counted bit by bit, together with what is left at the end.
//! (Harley and Seal's method, held for each bit apart.)

/// Lanes that go side by side, so that a compiler can do several of them at once.
const LANES: usize = 8;

type Lanes = [u32; LANES];

/// How often each bit is set in `make(word)`, for fewer than 2^32 words that have no bit but those in `which`.
pub(super) fn count_bits(words: &[u32], which: u32, make: impl Fn(u32) -> u32) -> [u32; 32] {
    let mut counts = [0u32; 32];
    let (mut ones, mut twos, mut fours) = ([0; LANES], [0; LANES], [0; LANES]);
    let (rows, rest) = words.as_chunks::<LANES>();
    let (eights, rows) = rows.as_chunks::<8>();
    for [a, b, c, d, e, f, g, h] in eights {
        let row = |row: &Lanes| row.map(&make);
        let two_a = add(&mut ones, row(a), row(b));
        let two_b = add(&mut ones, row(c), row(d));
        let four_a = add(&mut twos, two_a, two_b);
        let two_a = add(&mut ones, row(e), row(f));
        let two_b = add(&mut ones, row(g), row(h));
        let four_b = add(&mut twos, two_a, two_b);
        let eight = add(&mut fours, four_a, four_b);
        count(&mut counts, which, &eight, 8);
    }
    count(&mut counts, which, &ones, 1);
    count(&mut counts, which, &twos, 2);
    count(&mut counts, which, &fours, 4);
    for row in rows {
        count(&mut counts, which, &row.map(&make), 1);
    }
    for &word in rest {
        count(&mut counts, which, &[make(word)], 1);
    }
    counts
}

/// Adds two rows to a sum; the carries are the result.
#[inline(always)]
fn add(sum: &mut Lanes, a: Lanes, b: Lanes) -> Lanes {
    let mut carry = [0; LANES];
    for (((sum, carry), a), b) in sum.iter_mut().zip(&mut carry).zip(a).zip(b) {
        let half = *sum ^ a;
        *carry = (*sum & a) | (half & b);
        *sum = half ^ b;
    }
    carry
}

/// Adds the bits of these words to the counts, each for `weight`; only those in `which` are looked at.
fn count(counts: &mut [u32; 32], which: u32, words: &[u32], weight: u32) {
    let mut left = which;
    while left != 0 {
        let mask = left & left.wrapping_neg();
        left ^= mask;
        let set = words.iter().fold(0u32, |n, &word| n.wrapping_add(u32::from(word & mask != 0)));
        if let Some(to) = counts.get_mut(crate::bytes::index(u64::from(mask.trailing_zeros()))) {
            *to = to.wrapping_add(set.wrapping_mul(weight));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_counting_bit_by_bit() {
        let mut word = 12345u32;
        let words: Vec<u32> = std::iter::repeat_with(|| {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            word & word.rotate_left(7)
        })
        .take(5000)
        .collect();
        for len in [0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 4095, 4096, 5000] {
            let words = &words[..len];
            let counts = count_bits(words, u32::MAX, |word| !word);
            for (bit, &n) in counts.iter().enumerate() {
                assert_eq!(n as usize, words.iter().filter(|&word| !word >> bit & 1 == 1).count(), "{len}, bit {bit}");
            }
        }
        assert_eq!(count_bits(&[u32::MAX; 4096], u32::MAX, |word| word), [4096; 32]);
    }
}
