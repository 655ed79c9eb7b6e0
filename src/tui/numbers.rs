//! How numbers are written.

use indicatif::HumanCount;

use crate::printable::{count, size};

/// Bytes as people read them: exact where the number is short.
#[must_use]
pub fn bytes(n: u64) -> String {
    if n < 100_000 { count(n, "byte") } else { size(n) }
}

/// A number with its digits in groups of three.
#[must_use]
pub fn grouped(n: u64) -> String {
    HumanCount(n).to_string()
}

/// A share in percent; what occurs is never 0 %.
#[must_use]
pub fn percent(share: f32) -> String {
    if share < 0.01 { "<1 %".to_owned() } else { format!("{:.0} %", share * 100.0) }
}

/// A number without zeros at its end.
#[must_use]
pub fn short(n: f64) -> String {
    let text = format!("{n:.3}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}
