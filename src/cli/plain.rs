//! The last writer before standard output: it escapes what a terminal acts on, except the styles of this program.

use std::io::{self, Write};

use voxscope::printable::is_plain;

/// The sequences that this program's styles consist of.
const STYLES: [&str; 7] =
    ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m", "\u{1b}[36m"];

/// A writer of text in UTF-8 that passes on printable characters, line breaks and styles, and escapes everything else.
pub struct PlainWriter<W: Write> {
    inner: W,
    /// Bytes that may be the beginning of a character or a style.
    held: Vec<u8>,
}

impl<W: Write> PlainWriter<W> {
    /// A writer in front of `inner`.
    pub const fn new(inner: W) -> Self {
        Self { inner, held: Vec::new() }
    }

    /// Writes text that is complete.
    fn text(&mut self, mut text: &str) -> io::Result<()> {
        while let Some(at) = text.find(|c: char| c != '\n' && !is_plain(c)) {
            let (plain, rest) = text.split_at(at);
            self.inner.write_all(plain.as_bytes())?;
            if let Some(style) = STYLES.iter().find(|style| rest.starts_with(**style)) {
                self.inner.write_all(style.as_bytes())?;
                text = &rest[style.len()..];
                continue;
            }
            let mut rest = rest.chars();
            if let Some(c) = rest.next() {
                write!(self.inner, "{}", c.escape_unicode())?;
            }
            text = rest.as_str();
        }
        self.inner.write_all(text.as_bytes())
    }

    /// Writes bytes: what of them is no UTF-8 is shown byte by byte.
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        for chunk in bytes.utf8_chunks() {
            self.text(chunk.valid())?;
            for byte in chunk.invalid() {
                write!(self.inner, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// Where the part of some bytes begins that may go on in the next ones: an incomplete character, or an incomplete style.
fn incomplete(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(4);
    if let Some(at) = bytes[tail..].iter().rposition(|&b| b == 0x1b)
        && STYLES
            .iter()
            .any(|style| style.len() > bytes.len() - tail - at && style.as_bytes().starts_with(&bytes[tail + at..]))
    {
        return tail + at;
    }
    match std::str::from_utf8(&bytes[tail..]) {
        // A character that was cut at the beginning of the tail is complete.
        Err(error) if error.error_len().is_none() => tail + error.valid_up_to(),
        Err(_) => {
            let start = bytes[tail..].iter().rposition(|&b| b >= 0xc0).map_or(bytes.len(), |at| tail + at);
            let cut = std::str::from_utf8(&bytes[start..]).is_err_and(|error| error.error_len().is_none());
            if cut { start } else { bytes.len() }
        }
        Ok(_) => bytes.len(),
    }
}

impl<W: Write> Write for PlainWriter<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.held.is_empty() && buf.iter().all(|&b| b == b'\n' || (0x20..0x7f).contains(&b)) {
            self.inner.write_all(buf)?;
            return Ok(buf.len());
        }
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(buf);
        let complete = incomplete(&all);
        self.held.extend_from_slice(&all[complete..]);
        self.bytes(&all[..complete])?;
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        self.bytes(&held)?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(parts: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut writer = PlainWriter::new(&mut out);
        parts.iter().for_each(|part| writer.write_all(part).unwrap());
        writer.flush().unwrap();
        drop(writer);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn styles_pass_and_everything_else_that_a_terminal_acts_on_is_escaped() {
        let text = "\u{1b}[1mname\u{1b}[0m: 体\n\u{202e}\u{9b}2J\u{1b}[2Ja\tb\r";
        let expected = "\u{1b}[1mname\u{1b}[0m: 体\n\\u{202e}\\u{9b}2J\\u{1b}[2Ja\\u{9}b\\u{d}";
        assert_eq!(written(&[text.as_bytes()]), expected);
        // The same wherever the text is cut.
        for at in 0..text.len() {
            let (a, b) = text.as_bytes().split_at(at);
            assert_eq!(written(&[a, b]), expected, "{at}");
        }
        assert_eq!(written(&[b"a\xff", b"\x1b"]), "a\\xff\\u{1b}");
    }
}
