//! Findings of an earlier check, so that only what is new since is shown and counted.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use voxscope::check::{Counts, Finding};
use voxscope::damage::Level;

use crate::cli::exit::Failure;

/// Bytes of a baseline that are read at most: some 200,000 findings.
const MOST_BYTES: u64 = 64 << 20;

/// What makes two findings equal. Bytes do not count, because the game moves blocks when it saves.
#[derive(Debug, PartialEq, Eq, Hash, Deserialize)]
struct Key {
    file: String,
    code: String,
    lod: Option<u8>,
    block: Option<[i32; 3]>,
    field: String,
}

/// A line of a baseline.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Finding(Key),
    Cause {},
    Summary {},
}

/// Findings that were known before, with their counts: one more than before is new.
#[derive(Debug, Default)]
pub struct Baseline {
    known: HashMap<Key, u64>,
    /// Findings that were hidden, by level.
    pub hidden: Counts,
    /// Those of them that say that a part of the save was not read.
    unread: u64,
}

impl Baseline {
    /// Reads the lines that `check --format jsonl` printed.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let shown = voxscope::printable::printable(&path.to_string_lossy());
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text));
        let read = read.map_err(|error| Failure::Failed(format!("the baseline {shown} cannot be read: {error}")))?;
        if read as u64 > MOST_BYTES {
            return Err(Failure::Failed(format!("the baseline {shown} has more than {MOST_BYTES} bytes")));
        }
        Self::parse(&text).map_err(|n| {
            Failure::Usage(format!("line {n} of {shown} is not what `voxscope check --format jsonl` prints"))
        })
    }

    /// On failure, the number of the first line that is not a finding.
    fn parse(text: &str) -> Result<Self, usize> {
        let mut baseline = Self::default();
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            if let Line::Finding(key) = serde_json::from_str(line).map_err(|_| i + 1)? {
                *baseline.known.entry(key).or_default() += 1;
            }
        }
        Ok(baseline)
    }

    /// Whether a finding was known before and is hidden. A file that cannot be read is never hidden, because its present
    /// state is unknown.
    pub fn hides(&mut self, finding: &Finding) -> bool {
        if self.known.is_empty() || finding.code().is_failure() {
            return false;
        }
        let key = Key {
            file: finding.file.to_string(),
            code: finding.code().name().to_owned(),
            lod: finding.block.map(|block| block.lod),
            block: finding.block.and_then(|block| block.position),
            field: finding.damage.field.to_owned(),
        };
        let Some(left) = self.known.get_mut(&key).filter(|left| **left > 0) else { return false };
        *left -= 1;
        self.unread += u64::from(finding.code().is_unread());
        match finding.level() {
            Level::Error => self.hidden.errors += 1,
            Level::Warning => self.hidden.warnings += 1,
            Level::Note => self.hidden.notes += 1,
        }
        true
    }

    /// Parts of the save that were not read, of which that was known.
    pub const fn unread(&self) -> u64 {
        self.unread
    }

    /// How many findings were hidden.
    pub const fn count(&self) -> u64 {
        self.hidden.errors + self.hidden.warnings + self.hidden.notes
    }

    /// Counts without those that were hidden.
    pub const fn new_of(&self, all: Counts) -> Counts {
        Counts {
            errors: all.errors.saturating_sub(self.hidden.errors),
            warnings: all.warnings.saturating_sub(self.hidden.warnings),
            notes: all.notes.saturating_sub(self.hidden.notes),
            failures: all.failures,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use voxscope::bytes::Span;
    use voxscope::damage::{Code, Damage};

    fn finding(file: &str, code: Code) -> Finding {
        Finding::of_file(Arc::from(file), Damage::new(code, Span::new(1, 2), "field"), None)
    }

    #[test]
    fn a_finding_is_hidden_as_often_as_it_was_known() {
        let line = serde_json::to_string(&finding("a", Code::TableGap)).unwrap();
        let mut baseline = Baseline::parse(&format!("{line}\n\n{line}\n{{\"type\": \"summary\"}}\n")).unwrap();
        assert!(!baseline.hides(&finding("b", Code::TableGap)) && !baseline.hides(&finding("a", Code::TableOverlap)));
        assert!(baseline.hides(&finding("a", Code::TableGap)) && baseline.hides(&finding("a", Code::TableGap)));
        assert!(!baseline.hides(&finding("a", Code::TableGap)), "a third one is new");
        assert_eq!(baseline.count(), 2);
        let all = Counts { errors: 3, ..Counts::default() };
        assert_eq!(baseline.new_of(all).errors, 1);
    }

    #[test]
    fn what_cannot_be_read_stays() {
        let unread = finding("a", Code::FileUnreadable);
        let mut baseline = Baseline::parse(&serde_json::to_string(&unread).unwrap()).unwrap();
        assert!(!baseline.hides(&unread));
    }

    #[test]
    fn another_file_is_no_baseline() {
        assert_eq!(Baseline::parse("{\"type\": \"summary\"}\nrubbish").unwrap_err(), 2);
        assert_eq!(Baseline::parse("{\"type\": \"finding\"}").unwrap_err(), 1);
    }
}
