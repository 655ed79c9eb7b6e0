//! A short text from a file, kept beside the numbers of a damage.

use std::fmt;

use crate::printable::printable;

/// Bytes of a text that are kept.
const MOST: usize = 29;

/// The beginning of a text from a file, safe to print.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ShortText {
    bytes: [u8; MOST],
    len: u8,
    is_cut: bool,
}

impl ShortText {
    /// The beginning of a text, its control characters replaced.
    #[must_use]
    pub fn new(text: &str) -> Self {
        // Replacing a character never makes the text shorter.
        let head: String = text.chars().take(MOST + 1).collect();
        let shown = printable(&head);
        let mut bytes = [0; MOST];
        let mut len = 0;
        let fits = shown.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= MOST).last();
        for (to, from) in bytes.iter_mut().zip(shown.bytes().take(fits.unwrap_or(0))) {
            *to = from;
            len += 1;
        }
        let is_cut = fits.unwrap_or(0) < shown.len() || head.len() < text.len();
        Self { bytes, len, is_cut }
    }

    /// The text, without what was cut off.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl fmt::Debug for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

impl fmt::Display for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        f.write_str(if self.is_cut { "…" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_bounded_and_safe_to_print() {
        assert_eq!(ShortText::new("").to_string(), "");
        assert_eq!(ShortText::new("octree").to_string(), "octree");
        let exactly = "x".repeat(MOST);
        assert_eq!(ShortText::new(&exactly).to_string(), exactly);
        assert_eq!(ShortText::new(&format!("{exactly}x")).to_string(), format!("{exactly}…"));
        // Characters are kept whole: 14 of 2 bytes, and 1 byte is left over.
        assert_eq!(ShortText::new(&"ä".repeat(20)).to_string(), format!("{}…", "ä".repeat(14)));
        assert!(ShortText::new("\u{1b}[31m\n").to_string().chars().all(|c| !c.is_control()));
        assert!(ShortText::new(&"\u{1b}".repeat(1 << 20)).as_str().len() <= MOST);
    }
}
