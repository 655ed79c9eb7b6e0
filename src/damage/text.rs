//! The texts of a code, and how a message is put together from the clause and the values of a [`Damage`].

use std::fmt::{self, Write as _};

use super::{Damage, Value};
use crate::printable::grouped;

/// What voxscope says about one code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    /// One form for each field that needs its own, then the form for all other fields.
    pub messages: &'static [Message],
    /// An instruction: the commands to run, in order, and what each brings back.
    pub next: &'static str,
    /// What the damage means, and how it happens.
    pub explanation: &'static str,
}

/// A clause and the values that follow it in parentheses.
///
/// A placeholder is `{field}`, `{found}` or `{expected}`. `{found|byte}` adds a unit that agrees in number,
/// `{found|byte follows|bytes follow}` gives both forms, `{expected!}` is the bare number of a limit or of a count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    /// The field that this form is for; every field when empty.
    field: &'static str,
    /// What is wrong.
    clause: &'static str,
    /// The value found and the value expected, separated by `; `. A part whose value is missing is dropped.
    values: &'static str,
}

/// The form for every field.
pub(super) const fn any(clause: &'static str, values: &'static str) -> Message {
    Message { field: "", clause, values }
}

/// The form for one field.
pub(super) const fn when(field: &'static str, clause: &'static str, values: &'static str) -> Message {
    Message { field, clause, values }
}

impl Text {
    /// Writes the message of a damage: `epilogue of the block is wrong (0x00000000; expected 0x900df00d)`.
    pub fn write_message(&self, damage: &Damage, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let matches = |message: &&Message| message.field.is_empty() || message.field == damage.field;
        let Some(message) = self.messages.iter().find(matches) else { return f.write_str(damage.code.title()) };
        f.write_str(&fill(message.clause, damage))?;
        let there = |part: &&str| {
            let lacks = |name: &str, value| part.contains(name) && value == Value::Nothing;
            !part.is_empty() && !lacks("{found", damage.found) && !lacks("{expected", damage.expected)
        };
        let parts: Vec<String> = message.values.split("; ").filter(there).map(|part| fill(part, damage)).collect();
        if parts.is_empty() { Ok(()) } else { write!(f, " ({})", parts.join("; ")) }
    }
}

/// Replaces the placeholders of a template.
fn fill(template: &str, damage: &Damage) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (placeholder, behind) = after.split_once('}').unwrap_or((after, ""));
        text.push_str(before);
        let (name, units) = placeholder.split_once('|').unwrap_or((placeholder, ""));
        match name {
            "field" => text.push_str(damage.field),
            "found" => push_value(&mut text, damage.found, units),
            "expected" => push_value(&mut text, damage.expected, units),
            "found!" => push_value(&mut text, bare(damage.found), units),
            _ => push_value(&mut text, bare(damage.expected), units),
        }
        rest = behind;
    }
    text + rest
}

/// The number of a limit or a count, without the words around it.
const fn bare(value: Value) -> Value {
    match value {
        Value::AtMost(n) | Value::AtLeast(n) | Value::Bytes(n) => Value::Number(n),
        other => other,
    }
}

/// A value with its unit, digits in groups of three: `1 byte`, `at most 6,652 bytes`.
fn push_value(text: &mut String, value: Value, units: &str) {
    let mut counted = |before: &str, n: u64, units: &str| {
        let (one, many) =
            units.split_once('|').map_or_else(|| (units, format!("{units}s")), |(a, b)| (a, b.to_owned()));
        let unit = if n == 1 { one } else { &many };
        let space = if units.is_empty() { "" } else { " " };
        let unit = if units.is_empty() { "" } else { unit };
        let _ = write!(text, "{before}{}{space}{unit}", grouped(n));
    };
    match value {
        Value::Number(n) => counted("", n, units),
        Value::Bytes(n) => counted("", n, if units.is_empty() { "byte" } else { units }),
        Value::AtMost(n) => counted("at most ", n, units),
        Value::AtLeast(n) => counted("at least ", n, units),
        Value::Range(a, b) if a == b => counted("", b, units),
        Value::Range(a, b) => counted(&format!("{} to ", grouped(a)), b, units),
        Value::Signed(n) => {
            counted(if n < 0 { "-" } else { "" }, n.unsigned_abs(), units);
        }
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Span;
    use crate::damage::Code;

    fn message(code: Code, field: &'static str, found: Value, expected: Value) -> String {
        Damage::new(code, Span::default(), field).found(found).expected(expected).to_string()
    }

    #[test]
    fn a_message_names_the_value_found_and_the_value_expected() {
        assert_eq!(
            message(Code::BlockPrefix, "size before the block", Value::Number(16_777_215), Value::AtMost(6652)),
            "size prefix runs past the block's sectors (16,777,215 bytes; at most 6,652 bytes fit)"
        );
        assert_eq!(
            message(Code::BlockEpilogue, "epilogue", Value::Hex32(0), Value::Hex32(0x900d_f00d)),
            "epilogue of the block is wrong (0x00000000; expected 0x900df00d)"
        );
    }

    #[test]
    fn a_message_agrees_in_number() {
        let trailing = |n| message(Code::ContainerTrailing, "bytes after the frame", Value::Bytes(n), Value::Nothing);
        assert_eq!(trailing(1), "1 byte follows the compressed data");
        assert_eq!(trailing(4), "4 bytes follow the compressed data");
    }

    #[test]
    fn a_message_leaves_out_values_that_are_missing() {
        for &code in Code::ALL {
            let text = message(code, "field", Value::Nothing, Value::Nothing);
            assert!(!text.contains(['{', '}']) && !text.ends_with("()"), "{code}: {text}");
            assert!(!text.ends_with('.') && !text.is_empty(), "{code}: a clause");
        }
    }

    #[test]
    fn every_code_has_a_form_for_every_field() {
        for &code in Code::ALL {
            let forms = code.text().messages;
            assert!(forms.last().is_some_and(|form| form.field.is_empty()), "{code}");
            for form in forms {
                for part in form.values.split("; ") {
                    assert!(part.is_empty() || part.contains('{'), "{code}: a part without a value: {part}");
                }
            }
        }
    }
}
