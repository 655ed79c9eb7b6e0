//! The dictionary in the header of an array: a flat one of exactly `descr`, `fortran_order` and `shape`.
//!
//! Accepts what NumPy writes and a little more (any order, either quote, any space), but no nesting, so that no header costs
//! more than reading it once.

use crate::damage::{ShortText, Value};
use crate::voxel_map::npy::Dtype;

/// The content of the dictionary.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dictionary<'a> {
    pub(super) descr: &'a str,
    pub(super) fortran: bool,
    pub(super) shape: Vec<u64>,
}

/// Why it cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Offset in the header.
    pub(super) at: usize,
    pub(super) field: &'static str,
    pub(super) expected: &'static str,
}

/// Reads a header, without the bytes before it.
pub(super) fn parse(text: &[u8]) -> Result<Dictionary<'_>, Fault> {
    let mut words = Tokens { text, rest: text };
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    words.expect(b'{', "header", "a dictionary")?;
    loop {
        if words.eat(b'}') {
            break;
        }
        let key = words.string("a name in quotes")?;
        words.expect(b':', "header", "`:` behind the name")?;
        let twice = match key {
            "descr" => descr.replace(words.string("a plain type in quotes")?).is_some(),
            "fortran_order" => fortran.replace(words.boolean()?).is_some(),
            "shape" => shape.replace(words.tuple()?).is_some(),
            _ => return Err(words.fault("header", "exactly descr, fortran_order and shape")),
        };
        if twice {
            return Err(words.fault("header", "each name once"));
        }
        if !words.eat(b',') {
            words.expect(b'}', "header", "`,` or the end of the dictionary")?;
            break;
        }
    }
    words.skip_space();
    if !words.rest.is_empty() {
        return Err(words.fault("header", "nothing but spaces behind the dictionary"));
    }
    match (descr, fortran, shape) {
        (Some(descr), Some(fortran), Some(shape)) => Ok(Dictionary { descr, fortran, shape }),
        _ => Err(words.fault("header", "exactly descr, fortran_order and shape")),
    }
}

/// The type of number that a `descr` means, and whether it is big-endian; without a byte order it is that of the machine
/// which wrote it, taken to be little-endian.
pub(super) fn dtype(descr: &str) -> Option<(Dtype, bool)> {
    let (big, code) = match descr.split_at_checked(1) {
        Some((">", code)) => (true, code),
        Some(("<" | "=" | "|", code)) => (false, code),
        _ => (false, descr),
    };
    let dtype = Dtype::ALL.into_iter().find(|dtype| dtype.code() == code)?;
    // A byte has no order.
    let big = big && dtype.size() > 1;
    Some((dtype, big))
}

/// Another type, in words where it has a name.
pub(super) fn describe(descr: &str) -> Value {
    let name = match descr.trim_start_matches(['<', '>', '=', '|']) {
        "f2" => "float16",
        "f8" => "float64",
        "c8" | "c16" => "complex",
        "b1" | "?" => "bool",
        "O" => "Python objects",
        _ => return Value::Text(ShortText::new(descr)),
    };
    Value::Words(name)
}

struct Tokens<'a> {
    text: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    fn fault(&self, field: &'static str, expected: &'static str) -> Fault {
        Fault { at: self.text.len().saturating_sub(self.rest.len()), field, expected }
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(&[byte]);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, byte: u8, field: &'static str, expected: &'static str) -> Result<(), Fault> {
        if self.eat(byte) { Ok(()) } else { Err(self.fault(field, expected)) }
    }

    /// Text in quotes, without escapes.
    fn string(&mut self, expected: &'static str) -> Result<&'a str, Fault> {
        let Some((&quote @ (b'\'' | b'"'), inside)) = self.trimmed().split_first() else {
            return Err(self.fault("header", expected));
        };
        let end = inside.iter().position(|&b| b == quote || !(b' '..=b'~').contains(&b) || b == b'\\');
        let string = end.and_then(|end| inside.split_at_checked(end)).and_then(|(string, rest)| {
            self.rest = rest.strip_prefix(&[quote])?;
            std::str::from_utf8(string).ok()
        });
        string.ok_or_else(|| self.fault("header", expected))
    }

    fn boolean(&mut self) -> Result<bool, Fault> {
        for (word, value) in [(&b"True"[..], true), (&b"False"[..], false)] {
            if let Some(rest) = self.trimmed().strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(self.fault("fortran_order", "True or False"))
    }

    /// `()`, `(1,)`, `(1, 2)` or `(1, 2,)`, of whole numbers from 0; `(1)` is none.
    fn tuple(&mut self) -> Result<Vec<u64>, Fault> {
        const EXPECTED: &str = "whole numbers from 0 in brackets";
        let mut numbers = Vec::new();
        self.expect(b'(', "shape", EXPECTED)?;
        if self.eat(b')') {
            return Ok(numbers);
        }
        loop {
            let digits = self.trimmed().iter().take_while(|b| b.is_ascii_digit()).count();
            let (number, rest) = self.rest.split_at_checked(digits).unwrap_or_default();
            let number = std::str::from_utf8(number).ok().filter(|n| *n == "0" || !n.starts_with('0'));
            let Some(number) = number.and_then(|n| n.parse().ok()) else {
                return Err(self.fault("shape", EXPECTED));
            };
            self.rest = rest;
            numbers.push(number);
            let comma = self.eat(b',');
            if self.eat(b')') && (comma || numbers.len() > 1) {
                return Ok(numbers);
            }
            if !comma {
                return Err(self.fault("shape", EXPECTED));
            }
        }
    }

    fn trimmed(&mut self) -> &'a [u8] {
        self.skip_space();
        self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_numpy_reads_is_read() {
        let expected = Dictionary { descr: "<i4", fortran: false, shape: vec![134, 8, 134] };
        for text in [
            "{'descr': '<i4', 'fortran_order': False, 'shape': (134, 8, 134), }   \n",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (134, 8, 134)}",
            "{\"shape\":(134,8,134,),'fortran_order':False,\n 'descr':\"<i4\"}\n",
        ] {
            assert_eq!(parse(text.as_bytes()).as_ref(), Ok(&expected), "{text}");
        }
        for (shape, numbers) in [("()", vec![]), ("(0,)", vec![0]), ("( 7 , )", vec![7]), ("(1,2)", vec![1, 2])] {
            let text = format!("{{'descr': 'f4', 'fortran_order': True, 'shape': {shape}}}");
            assert_eq!(parse(text.as_bytes()).unwrap().shape, numbers);
        }
    }

    #[test]
    fn what_is_no_flat_dictionary_is_refused() {
        for text in [
            "",
            "{",
            "{}",
            "[[[[",
            "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<i4', 'fortran_order': False}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
            "{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<i4', 'fortran_order': 0, 'shape': (1,)}",
            "{'descr': '<i4', 'fortran_order': Falsely, 'shape': (1,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (1)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (01,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (1.0,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (1,,2)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': ((1,),)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': [1]}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (18446744073709551616,)}",
            "{'descr': '<\\x694', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (1,)} x",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (1,)}}",
            "{'descr': '<i4' 'fortran_order': False, 'shape': (1,)}",
            "{, 'descr': '<i4', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<i4",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn types() {
        assert_eq!(dtype("<i4"), Some((Dtype::I32, false)));
        assert_eq!(dtype(">i8"), Some((Dtype::I64, true)));
        assert_eq!(dtype("=f4"), Some((Dtype::F32, false)));
        assert_eq!(dtype("|i4"), Some((Dtype::I32, false)));
        assert_eq!(dtype("i8"), Some((Dtype::I64, false)));
        for (descr, expected) in [
            ("|i1", (Dtype::I8, false)),
            (">u1", (Dtype::U8, false)),
            (">i2", (Dtype::I16, true)),
            ("<u2", (Dtype::U16, false)),
            (">u4", (Dtype::U32, true)),
            ("u8", (Dtype::U64, false)),
        ] {
            assert_eq!(dtype(descr), Some(expected), "{descr}");
        }
        for other in ["", "<", "<f8", "u3", "<i44", "<<i4", "ü", "i"] {
            assert_eq!(dtype(other), None, "{other}");
        }
        assert_eq!(describe(">f8").to_string(), "float64");
        assert_eq!(describe("|S4").to_string(), "|S4");
    }
}
