//! Text broken into rows: between words, and where a word is longer than a row, behind the `/` of a path.

use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter};
use unicode_width::UnicodeWidthStr;

/// The rows of a text at a width in columns.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    // At a hyphen, the name of a file would be broken.
    let options = Options::new(width.max(1)).word_splitter(WordSplitter::NoHyphenation);
    let fits = text.split(' ').all(|word| word.width() <= width);
    let separator = if fits { WordSeparator::AsciiSpace } else { WordSeparator::Custom(steps) };
    textwrap::wrap(text, options.word_separator(separator)).into_iter().map(std::borrow::Cow::into_owned).collect()
}

/// The words of a line, and the steps of a path as words of their own.
fn steps(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let mut rest = line;
    Box::new(std::iter::from_fn(move || {
        let ends = |(at, c): (usize, char)| {
            let after = rest.get(at + 1..)?;
            let is_end = c == '/' || (c == ' ' && !after.starts_with(' '));
            (is_end && !after.is_empty()).then_some(at + 1)
        };
        let end = rest.char_indices().find_map(ends).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end)?;
        rest = after;
        (!word.is_empty()).then(|| Word::from(word))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_broken_between_directories_and_never_at_hyphens() {
        assert_eq!(wrap("in regions/lod0/r.-1.-1.-1.vxr of it", 18), ["in regions/lod0/", "r.-1.-1.-1.vxr of", "it"]);
        assert_eq!(wrap("--out world-repaired", 15), ["--out", "world-repaired"]);
        // A word that is too long without a `/` is cut: nothing of it is left out.
        assert_eq!(wrap("0123456789", 4), ["0123", "4567", "89"]);
    }
}
