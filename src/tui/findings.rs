//! What the check has found so far, by file and by line of the tree.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::data::{Index, ItemId, NodeId};
use super::verdict::{self, Verdict};
use crate::check::{Advice, Counts, Finding, Summary};
use crate::damage::{Code, CodeSet, Level};
use crate::picture::Mark;

/// Findings that are kept; what is beyond is counted. `voxscope check` prints all of them.
pub const MAX_FINDINGS: usize = 100_000;

/// How many findings of each level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// By level: notes, warnings, errors.
    pub notes: u32,
    /// Warnings.
    pub warnings: u32,
    /// Errors.
    pub errors: u32,
}

impl Tally {
    /// The worst level; `None` when there is nothing.
    #[must_use]
    pub const fn worst(self) -> Option<Level> {
        match self {
            Self { errors: 1.., .. } => Some(Level::Error),
            Self { warnings: 1.., .. } => Some(Level::Warning),
            Self { notes: 1.., .. } => Some(Level::Note),
            Self { .. } => None,
        }
    }

    fn add(&mut self, level: Level, n: u64) {
        let to = match level {
            Level::Note => &mut self.notes,
            Level::Warning => &mut self.warnings,
            Level::Error => &mut self.errors,
        };
        *to = to.saturating_add(u32::try_from(n).unwrap_or(u32::MAX));
    }
}

/// Whole blocks of a region file to which no table leads.
#[derive(Debug, Default)]
struct UnownedBlocks {
    /// Where they begin in the file: two findings may be about one block.
    starts: HashSet<u64>,
    /// Those whose findings are not listed.
    unlisted: u64,
}

/// What is wrong, as far as it is known.
#[derive(Debug, Default)]
pub struct Findings {
    /// The findings, in the order in which they came.
    pub list: Vec<Arc<Finding>>,
    /// The files that they are about.
    pub items: Vec<Option<ItemId>>,
    /// How many there are beyond those that are kept.
    pub dropped: u64,
    /// By level.
    pub counts: Counts,
    /// Whether the check runs.
    pub running: bool,
    /// Whether it was stopped before its end.
    pub stopped: bool,
    /// Bytes that were checked.
    pub done: u64,
    /// Bytes that there are.
    pub total: u64,
    /// What it came to.
    pub summary: Option<Summary>,
    /// Changes whenever findings are added or a check begins.
    pub version: u64,
    /// How many checks there were.
    pub run: u64,
    /// The saves that advice is about.
    pub advice: Advice,
    /// What happened to the save.
    pub verdict: Verdict,
    /// What happened to the one of several saves that is shown.
    pub shown: verdict::OfShown,
    by_node: Vec<Tally>,
    unowned: HashMap<ItemId, UnownedBlocks>,
    by_block: HashMap<BlockKey, CodeSet>,
}

/// A file, a LOD, and a position in blocks of it.
pub type BlockKey = (ItemId, u8, [i32; 3]);

/// How much a code says about a block beside other codes about it: a wrong place explains all that is read there.
#[must_use]
pub fn severity(code: Code) -> impl Ord {
    let is_about_place = matches!(Mark::for_code(code), Some(Mark::Misplaced | Mark::Doubtful));
    (code.level(), is_about_place, std::cmp::Reverse(code))
}

impl Findings {
    /// Forgets everything: a check begins.
    pub fn begin(&mut self, index: &Index, total: u64) {
        let (version, run) = (self.version + 1, self.run + 1);
        *self = Self {
            running: true,
            total,
            version,
            run,
            advice: Advice::new(&index.save),
            by_node: vec![Tally::default(); index.nodes.len()],
            ..Self::default()
        };
    }

    /// Adds findings.
    pub fn add(&mut self, index: &Index, findings: Vec<Finding>) {
        self.version += 1;
        for finding in findings {
            // Those that are not listed count too, as in the summary of `voxscope check`.
            let unlisted = finding.unlisted.iter().map(|(code, n)| (code.level(), *n));
            let counted: Vec<(Level, u64)> = unlisted.chain([(finding.level(), 1)]).collect();
            for &(level, n) in &counted {
                match level {
                    Level::Error => self.counts.errors += n,
                    Level::Warning => self.counts.warnings += n,
                    Level::Note => self.counts.notes += n,
                }
            }
            let item = index.by_name(&finding.file);
            if let Some(item) = item {
                self.count_unowned(item, &finding);
            }
            let mut node = Some(item.and_then(|item| index.node_of(item)).unwrap_or(0));
            while let Some(at) = node {
                if let Some(tally) = self.by_node.get_mut(at) {
                    counted.iter().for_each(|&(level, n)| tally.add(level, n));
                }
                node = index.nodes.get(at).and_then(|node| node.parent);
            }
            let block = finding.block.and_then(|block| Some((item?, block.lod, block.position?)));
            if let Some(block) = block {
                self.by_block.entry(block).or_default().insert(finding.code());
            }
            if self.list.len() < MAX_FINDINGS {
                self.list.push(Arc::new(finding));
                self.items.push(item);
            } else {
                self.dropped += 1;
            }
        }
    }

    fn count_unowned(&mut self, item: ItemId, finding: &Finding) {
        const CODES: [Code; 2] = [Code::BlockOrphan, Code::BlockOwnerless];
        let unlisted = finding.unlisted.iter().filter(|(code, _)| CODES.contains(code));
        let unlisted: u64 = unlisted.map(|(_, n)| n).sum();
        let start = finding.span.map(|span| span.start).filter(|_| CODES.contains(&finding.code()));
        if unlisted > 0 || start.is_some() {
            let of_file = self.unowned.entry(item).or_default();
            of_file.starts.extend(start);
            of_file.unlisted += unlisted;
        }
    }

    /// How many whole blocks of some files no table leads to, so far.
    #[must_use]
    pub fn unowned(&self, is_counted: impl Fn(ItemId) -> bool) -> u64 {
        let counted = self.unowned.iter().filter(|(item, _)| is_counted(**item));
        counted.map(|(_, blocks)| blocks.starts.len() as u64 + blocks.unlisted).sum()
    }

    /// The codes of what the check found about a block of a file, so far.
    #[must_use]
    pub fn codes_of(&self, item: ItemId, lod: u8, position: [i32; 3]) -> CodeSet {
        self.by_block.get(&(item, lod, position)).copied().unwrap_or_default()
    }

    /// The codes of what the check found about blocks, so far.
    pub const fn all_codes(&self) -> &HashMap<BlockKey, CodeSet> {
        &self.by_block
    }

    /// The worst finding above a note about a block of a file.
    #[must_use]
    pub fn about_block(&self, item: ItemId, lod: u8, position: [i32; 3]) -> Option<usize> {
        let worst = self.codes_of(item, lod, position).iter().max_by_key(|code| severity(*code))?;
        let about = |finding: &Finding| {
            finding.code() == worst
                && finding.block.is_some_and(|block| block.lod == lod && block.position == Some(position))
        };
        let mut all = self.items.iter().zip(&self.list);
        all.position(|(of, finding)| *of == Some(item) && about(finding)).filter(|_| worst.level() > Level::Note)
    }

    /// Whether nothing was found.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many findings there are about a line of the tree and all below it.
    #[must_use]
    pub fn tally(&self, node: NodeId) -> Tally {
        self.by_node.get(node).copied().unwrap_or_default()
    }

    /// The share of the check that is done, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.total == 0 { 1.0 } else { (self.done as f64 / self.total as f64).min(1.0) }
    }
}
