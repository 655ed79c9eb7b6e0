//! Makes text from a file printable, so that it cannot move the cursor of a terminal, or hide or imitate other text.
//!
//! Takes text from a file; gives text and JSON that are safe to print. It knows neither formats nor terminals.

pub(crate) mod json;

use std::fmt::{self, Write};
use std::path::Path;

pub use json::{write_json, write_json_pretty};

/// Bytes as hexadecimal digits, two each.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// `text` with control characters, line breaks and the characters that reorder or hide text shown as escapes.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_plain(c) {
            out.push(c);
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "{}", c.escape_unicode());
        }
    }
    out
}

/// A path, made printable; bytes that are not UTF-8 are shown as `\xNN`.
#[must_use]
pub fn path(path: &Path) -> String {
    let mut out = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        out.push_str(&printable(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// A name of a file that is written for one of a save: what [`path`] escapes is replaced by `_`, because a backslash
/// separates directories on some systems. A name without such characters stays as it is.
#[must_use]
pub fn file_name(name: &Path) -> String {
    let mut out = String::new();
    for chunk in name.as_os_str().as_encoded_bytes().utf8_chunks() {
        out.extend(chunk.valid().chars().map(|c| if is_plain(c) { c } else { '_' }));
        out.extend(chunk.invalid().iter().map(|_| '_'));
    }
    out
}

/// A path as an argument for a shell, made printable. A name with characters that are not printable, or bytes that are not UTF-8, is in
/// the quotes `$'...'` of POSIX shells, in which escapes stand for these bytes. One that would be read as an option begins with `./`.
#[must_use]
pub fn argument(file: &Path) -> String {
    let bytes = file.as_os_str().as_encoded_bytes();
    if bytes.starts_with(b"-") {
        return argument(&Path::new(".").join(file));
    }
    if std::str::from_utf8(bytes).is_ok_and(|text| text.chars().all(is_plain)) {
        return shell_word(path(file));
    }
    let mut out = "$'".to_owned();
    let escape = |out: &mut String, bytes: &[u8]| {
        for byte in bytes {
            let _ = write!(out, "\\x{byte:02x}");
        }
    };
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\'' | '\\' => out.extend(['\\', c]),
                c if is_plain(c) => out.push(c),
                c => escape(&mut out, c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        escape(&mut out, chunk.invalid());
    }
    out.push('\'');
    out
}

/// A printable word as an argument for a shell.
#[must_use]
pub fn shell_word(text: String) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Whether a character may reach the terminal as it is.
#[must_use]
pub fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A position or a size as `(x, y, z)`.
#[must_use]
pub fn triple<T: fmt::Display>([x, y, z]: [T; 3]) -> String {
    format!("({x}, {y}, {z})")
}

/// A number with a comma between groups of three digits.
#[must_use]
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The possessive that agrees with a number.
#[must_use]
pub const fn its(n: u64) -> &'static str {
    if n == 1 { "its" } else { "their" }
}

/// The verb that agrees with a number.
#[must_use]
pub const fn are(n: u64) -> &'static str {
    if n == 1 { "is" } else { "are" }
}

/// A number with its noun: `1 block`, `2 blocks`.
#[must_use]
pub fn count(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// A text that begins with a capital letter.
#[must_use]
pub fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A number of bytes for people: `17.3 MiB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (mut n, mut unit) = (bytes as f64 / 1024.0, 0);
    while n >= 1024.0 && unit + 1 < UNITS.len() {
        n /= 1024.0;
        unit += 1;
    }
    format!("{n:.1} {}", UNITS.get(unit).unwrap_or(&"TiB"))
}

/// A probability for people: `98.2 %`. What is not certain is never called 100 %.
#[must_use]
pub fn likelihood(p: f64) -> String {
    format!("{:.1} %", (p * 100.0).clamp(0.0, 99.9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_certain_is_not_all() {
        for (p, text) in [(0.0, "0.0 %"), (0.981_6, "98.2 %"), (0.999_99, "99.9 %"), (1.0, "99.9 %")] {
            assert_eq!(likelihood(p), text);
        }
    }

    #[test]
    fn digits_are_grouped_by_three() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(n), text);
        }
    }

    #[test]
    fn sizes_have_binary_units() {
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(17 << 20 | 1 << 18), "17.2 MiB");
    }

    #[test]
    fn nothing_that_moves_a_cursor_gets_through() {
        assert_eq!(printable("体素 é"), "体素 é");
        assert_eq!(printable("a\x1b[31mb\r\n\u{202e}\u{9b}"), "a\\u{1b}[31mb\\u{d}\\u{a}\\u{202e}\\u{9b}");
    }

    #[test]
    fn arguments_for_a_shell_name_their_file() {
        assert_eq!(argument(Path::new("a/b.vxr")), "a/b.vxr");
        assert_eq!(argument(Path::new("-a b")), "'./-a b'");
        assert_eq!(argument(Path::new("it's é")), r"'it'\''s é'");
        assert_eq!(argument(Path::new("a\nb'c\\ \u{202e}")), r"$'a\x0ab\'c\\ \xe2\x80\xae'");
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf8_are_shown_byte_by_byte() {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::OsStr::from_bytes(b"r.\xff\x1b.vxr");
        assert_eq!(path(Path::new(name)), "r.\\xff\\u{1b}.vxr");
        assert_eq!(argument(Path::new(name)), r"$'r.\xff\x1b.vxr'");
    }
}
