//! Texts: UTF-8, or UTF-16 in either byte order, as the header declares.

use std::borrow::Cow;

use crate::sqlite::header::Header;

impl Header {
    /// Converts a text to UTF-8. Invalid UTF-16 becomes replacement characters, invalid UTF-8 stays as it is. If the header
    /// names no encoding, a text counts as UTF-16 if one of its first two bytes is 0.
    #[must_use]
    pub fn utf8<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let little = match (self.encoding, text) {
            (1, _) => return Cow::Borrowed(text),
            (2, _) => true,
            (3, _) => false,
            (_, [0, second, ..]) if *second != 0 => false,
            (_, [first, 0, ..]) if *first != 0 => true,
            _ => return Cow::Borrowed(text),
        };
        let (units, rest) = text.as_chunks::<2>();
        let units = units.iter().map(|unit| if little { u16::from_le_bytes(*unit) } else { u16::from_be_bytes(*unit) });
        let characters = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
        let cut = (!rest.is_empty()).then_some(char::REPLACEMENT_CHARACTER);
        Cow::Owned(characters.chain(cut).collect::<String>().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_the_header_says_or_as_they_look() {
        let of = |encoding, text: &[u8]| {
            let header = Header { encoding, ..Header::of_page_size(4096) };
            header.utf8(text).into_owned()
        };
        let le: Vec<u8> = "-1,ä𝄞".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = "-1,ä𝄞".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for encoding in [2, 0, 9] {
            assert_eq!(of(encoding, &le), "-1,ä𝄞".as_bytes());
        }
        for encoding in [3, 0, 9] {
            assert_eq!(of(encoding, &be), "-1,ä𝄞".as_bytes());
        }
        for encoding in [1, 0, 9] {
            assert_eq!(of(encoding, b"-1,0"), b"-1,0");
            assert_eq!(of(encoding, &[0xff, 0xfe]), [0xff, 0xfe]);
        }
        assert_eq!(of(2, &[0x31, 0, 0x32]), "1\u{fffd}".as_bytes(), "half a character");
        assert_eq!(of(2, &[0, 0xd8]), "\u{fffd}".as_bytes(), "half a pair");
    }
}
