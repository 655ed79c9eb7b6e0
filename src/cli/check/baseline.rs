//! Findings of an earlier check, so that only what is new since is shown and counted.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher, Hash};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use voxscope::check::{Counts, Finding};
use voxscope::damage::Level;

use crate::cli::exit::Failure;

/// Bytes of a baseline that are read at most: some 200,000 findings.
const MOST_BYTES: u64 = 64 << 20;

/// Bytes of a line of it that are read at most.
const MOST_OF_LINE: u64 = 1 << 20;

/// What makes two findings equal. Bytes do not count, because the game moves blocks when it saves.
#[derive(Debug, PartialEq, Eq, Hash, Deserialize)]
struct Key<'k> {
    #[serde(borrow)]
    file: Cow<'k, str>,
    #[serde(borrow)]
    code: Cow<'k, str>,
    lod: Option<u8>,
    block: Option<[i32; 3]>,
    #[serde(borrow)]
    field: Cow<'k, str>,
}

/// A line of a baseline.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'k> {
    Finding(#[serde(borrow)] Key<'k>),
    Cause {},
    Summary {},
}

/// Why a baseline cannot be used.
#[derive(Debug)]
enum Unusable {
    Read(io::Error),
    /// It has more bytes than are read.
    Large,
    /// The line of this number is not what a check prints.
    Line(usize),
}

/// Findings that were known before, with their counts: one more than before is new. Only their hashes are kept,
/// to limit the memory of a check.
#[derive(Debug, Default)]
pub struct Baseline {
    /// The hash of each known finding, in order, each once.
    known: Vec<u64>,
    /// How many findings of each hash are still hidden.
    left: Vec<u32>,
    state: RandomState,
    /// Findings that were hidden, by level.
    pub hidden: Counts,
    /// Those of them that say that a part of the save was not read.
    unread: u64,
}

impl Baseline {
    /// Reads the lines that `check --format jsonl` printed.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let shown = voxscope::printable::path(path);
        let file = File::open(path).map_err(Unusable::Read);
        let read = file.and_then(|file| Self::parse(BufReader::new(file)));
        read.map_err(|unusable| match unusable {
            Unusable::Read(error) => Failure::Failed(format!("the baseline {shown} cannot be read: {error}")),
            Unusable::Large => Failure::Failed(format!("the baseline {shown} has more than {MOST_BYTES} bytes")),
            Unusable::Line(n) => {
                Failure::Usage(format!("line {n} of {shown} is not what `voxscope check --format jsonl` prints"))
            }
        })
    }

    fn parse(mut text: impl BufRead) -> Result<Self, Unusable> {
        let mut baseline = Self::default();
        let (mut line, mut total) = (Vec::new(), 0u64);
        for n in 1.. {
            line.clear();
            let read = (&mut text).take(MOST_OF_LINE + 1).read_until(b'\n', &mut line).map_err(Unusable::Read)? as u64;
            if read == 0 {
                break;
            }
            total = total.saturating_add(read);
            if total > MOST_BYTES {
                return Err(Unusable::Large);
            }
            if read > MOST_OF_LINE {
                return Err(Unusable::Line(n));
            }
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            if let Line::Finding(key) = serde_json::from_slice(line).map_err(|_| Unusable::Line(n))? {
                baseline.known.push(baseline.state.hash_one(key));
            }
        }
        baseline.known.sort_unstable();
        let equal = baseline.known.chunk_by(|a, b| a == b);
        baseline.left = equal.map(|equal| u32::try_from(equal.len()).unwrap_or(u32::MAX)).collect();
        baseline.known.dedup();
        Ok(baseline)
    }

    /// Whether a finding was known before and is hidden. A file that cannot be read is never hidden, because its present
    /// state is unknown.
    pub fn hides(&mut self, finding: &Finding) -> bool {
        if self.known.is_empty() || finding.code().is_failure() {
            return false;
        }
        let key = Key {
            file: Cow::Borrowed(&finding.file),
            code: Cow::Borrowed(finding.code().name()),
            lod: finding.block.map(|block| block.lod),
            block: finding.block.and_then(|block| block.position),
            field: Cow::Borrowed(finding.damage.field),
        };
        let at = self.known.binary_search(&self.state.hash_one(key)).ok();
        let Some(left) = at.and_then(|at| self.left.get_mut(at)).filter(|left| **left > 0) else { return false };
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
        let mut baseline =
            Baseline::parse(format!("{line}\n\n{line}\n{{\"type\": \"summary\"}}\n").as_bytes()).unwrap();
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
        let mut baseline = Baseline::parse(serde_json::to_string(&unread).unwrap().as_bytes()).unwrap();
        assert!(!baseline.hides(&unread));
    }

    #[test]
    fn another_file_is_no_baseline() {
        let wrong = |text: &str| match Baseline::parse(text.as_bytes()) {
            Err(Unusable::Line(n)) => n,
            other => panic!("{other:?}"),
        };
        assert_eq!(wrong("{\"type\": \"summary\"}\nrubbish"), 2);
        assert_eq!(wrong("{\"type\": \"finding\"}"), 1);
        assert_eq!(wrong(&"[".repeat(3 << 20)), 1);
    }

    #[test]
    fn escaped_texts_are_equal_to_plain_ones() {
        let mut baseline = Baseline::parse(
            r#"{"type": "finding", "file": "\u0061", "code": "table-gap", "field": "field"}"#.as_bytes(),
        )
        .unwrap();
        assert!(baseline.hides(&finding("a", Code::TableGap)));
    }
}
