//! Findings of unowned blocks of a first pass, which wait for those of a second pass that say more of the same blocks.

use std::collections::HashMap;
use std::sync::Arc;

use crate::check::Finding;
use crate::damage::Code;

/// The file and the byte where an unowned block begins.
type Start = (Arc<str>, u64);

/// Findings that wait.
#[derive(Default)]
pub(crate) struct Waiting {
    findings: Vec<Option<Finding>>,
    at: HashMap<Start, usize>,
}

impl Waiting {
    /// Keeps a finding that a later one may replace; gives others back.
    #[must_use]
    pub fn keep(&mut self, finding: Finding) -> Option<Finding> {
        let Some(start) = start(&finding, Code::BlockOrphan) else { return Some(finding) };
        self.at.insert(start, self.findings.len());
        self.findings.push(Some(finding));
        None
    }

    /// Drops the finding that this one replaces; whether there was one. Both have the same level.
    pub fn replace(&mut self, by: &Finding) -> bool {
        let at = start(by, Code::BlockOwnerless).and_then(|start| self.at.remove(&start));
        at.and_then(|at| self.findings.get_mut(at)?.take()).is_some()
    }

    /// The findings that nothing replaced, in the order in which they came.
    pub fn rest(self) -> impl Iterator<Item = Finding> {
        self.findings.into_iter().flatten()
    }
}

fn start(finding: &Finding, code: Code) -> Option<Start> {
    let start = finding.span.filter(|_| finding.code() == code)?.start;
    Some((Arc::clone(&finding.file), start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Span;
    use crate::damage::Damage;

    fn finding(code: Code, start: u64) -> Finding {
        Finding::of_file("r.vxr".into(), Damage::new(code, Span::new(start, start + 9), "first sector"), None)
    }

    #[test]
    fn an_unowned_block_has_one_finding() {
        let mut waiting = Waiting::default();
        let of_table = finding(Code::TableCount, 10);
        assert_eq!(waiting.keep(of_table.clone()), Some(of_table));
        for start in [10, 20] {
            assert_eq!(waiting.keep(finding(Code::BlockOrphan, start)), None);
        }
        assert!(!waiting.replace(&finding(Code::BlockTorn, 20)));
        assert!(!waiting.replace(&finding(Code::BlockOwnerless, 30)));
        assert!(waiting.replace(&finding(Code::BlockOwnerless, 20)));
        assert!(!waiting.replace(&finding(Code::BlockOwnerless, 20)));
        assert_eq!(waiting.rest().collect::<Vec<_>>(), [finding(Code::BlockOrphan, 10)]);
    }
}
