//! JSON that may be printed: nothing in it that a terminal acts on.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Writes a value as JSON on a line of its own.
///
/// # Errors
/// Errors of the writer.
pub fn write_json(out: &mut impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    let text = serde_json::to_string(value).map_err(io::Error::other)?;
    writeln!(out, "{}", escape_json(&text))
}

/// Writes a value as JSON for people and machines.
///
/// # Errors
/// Errors of the writer.
pub fn write_json_pretty(out: &mut impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    let mut out = io::BufWriter::new(Escaping(out));
    // An error of the writer is passed on as it is.
    serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from)?;
    writeln!(out)?;
    out.flush()
}

/// Escapes what is written as JSON, bit by bit: a report may be larger than what memory it may take.
struct Escaping<W>(W);

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // What is written may end within a character, whose rest comes next.
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => match bytes.split_at_checked(error.valid_up_to()) {
                Some((valid @ [_, ..], _)) => std::str::from_utf8(valid).unwrap_or_default(),
                _ => return Err(io::ErrorKind::InvalidData.into()),
            },
        };
        self.0.write_all(escape_json(text).as_bytes())?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// JSON escapes control characters below 0x20 only; the others that a terminal acts on are escaped here, as JSON does.
pub(crate) fn escape_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || crate::printable::is_plain(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_cannot_carry_what_a_terminal_acts_on() {
        let mut out = Vec::new();
        write_json(&mut out, &"\u{9b}31m\u{202e}\u{1b}体\u{e0001}").unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "\"\\u009b31m\\u202e\\u001b体\\udb40\\udc01\"\n");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), "\u{9b}31m\u{202e}\u{1b}体\u{e0001}");
    }

    #[test]
    fn large_json_is_the_same_bit_by_bit() {
        // The buffer ends within characters of two, three and four bytes.
        for pad in 0..4 {
            let text = "x".repeat(pad) + &"é\u{202e}体\u{e0001}\u{9b}".repeat(5_000);
            let mut out = Vec::new();
            write_json_pretty(&mut out, &[&text, &text]).unwrap();
            let out = String::from_utf8(out).unwrap();
            assert!(out.chars().all(|c| c == '\n' || crate::printable::is_plain(c)));
            assert_eq!(serde_json::from_str::<[String; 2]>(&out).unwrap(), [text.clone(), text]);
        }
    }
}
