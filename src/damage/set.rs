//! A set of codes, of fixed size: a table of blocks has one for each of a quarter of a million rows.

use std::fmt;

use super::Code;

/// Words of 64 bits in a set.
const WORDS: usize = 4;

// A code more than this would have no place.
const _: () = assert!(Code::ALL.len() <= WORDS * 64);

/// A set of codes, in the order of their table.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CodeSet([u64; WORDS]);

impl CodeSet {
    /// Adds a code.
    pub fn insert(&mut self, code: Code) {
        let (word, bit) = word_and_bit(code);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    /// Whether a code is in it.
    #[must_use]
    pub fn contains(&self, code: Code) -> bool {
        let (word, bit) = word_and_bit(code);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The codes.
    pub fn iter(&self) -> impl Iterator<Item = Code> {
        Code::ALL.iter().copied().filter(|code| self.contains(*code))
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }
}

/// The word and the bit of a code.
const fn word_and_bit(code: Code) -> (usize, u64) {
    let number = code as usize;
    (number / 64, 1 << (number % 64))
}

impl FromIterator<Code> for CodeSet {
    fn from_iter<I: IntoIterator<Item = Code>>(codes: I) -> Self {
        let mut set = Self::default();
        codes.into_iter().for_each(|code| set.insert(code));
        set
    }
}

impl fmt::Debug for CodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl serde::Serialize for CodeSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_place_of_its_own() {
        for &code in Code::ALL {
            let one = CodeSet::from_iter([code]);
            assert_eq!(one.iter().collect::<Vec<_>>(), [code]);
        }
        let all: CodeSet = Code::ALL.iter().copied().collect();
        assert_eq!(all.iter().collect::<Vec<_>>(), Code::ALL);
        assert!(CodeSet::default().is_empty() && !all.is_empty());
    }
}
