//! The findings of one file while it is checked.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::Arc;

use crate::bytes::Span;
use crate::check::finding::{BlockAt, Finding};
use crate::check::outcome::Outcome;
use crate::damage::{Code, CodeSet, Damage, Level};
use crate::printable::grouped;
use crate::recover::quick::Glance;
use crate::recover::screen::Screened;
use crate::save::INFERRED_ORDER;

/// Findings by level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Errors.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Notes.
    pub notes: u64,
    /// Those of the errors that say that reading failed.
    pub failures: u64,
}

impl Counts {
    pub(super) fn add(&mut self, finding: &Finding) {
        match finding.level() {
            Level::Error => self.errors += 1,
            Level::Warning => self.warnings += 1,
            Level::Note => self.notes += 1,
        }
        self.failures += u64::from(finding.code().is_failure());
    }

    /// Adds findings of one code about blocks.
    pub(super) const fn add_many(&mut self, code: Code, n: u64) {
        match code.level() {
            Level::Error => self.errors += n,
            Level::Warning => self.warnings += n,
            Level::Note => self.notes += n,
        }
    }

    /// Adds the counts of another part.
    pub fn merge(&mut self, other: &Self) {
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.notes += other.notes;
        self.failures += other.failures;
    }

    /// How many are of `level` or above, without failures to read, which are no damage.
    #[must_use]
    pub const fn damage_at_least(&self, level: Level) -> u64 {
        let errors = self.errors - self.failures;
        match level {
            Level::Error => errors,
            Level::Warning => errors + self.warnings,
            Level::Note => errors + self.warnings + self.notes,
        }
    }
}

/// Totals of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Stats {
    /// Blocks in tables.
    pub blocks: u64,
    /// Blocks with a finding above note.
    pub damaged: u64,
    /// Bytes as stored, with their size prefixes.
    pub stored_bytes: u64,
    /// Bytes after decompression.
    pub plain_bytes: u64,
}

impl Stats {
    pub(super) fn add(&mut self, block: &Outcome) {
        self.stored_bytes += block.stored.len();
        self.plain_bytes += block.plain;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.blocks += other.blocks;
        self.damaged += other.damaged;
        self.stored_bytes += other.stored_bytes;
        self.plain_bytes += other.plain_bytes;
    }
}

/// The result of the check of one file.
#[derive(Default)]
pub(super) struct Checked {
    pub findings: Vec<Finding>,
    pub counts: Counts,
    pub stats: Stats,
    /// 1 if the file could not be read, or changed while it was read.
    pub unread: u64,
}

impl Checked {
    /// Whether there is nothing but totals.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.counts == Counts::default() && self.unread == 0
    }
}

impl From<Report> for Checked {
    fn from(report: Report) -> Self {
        let Report { mut findings, counts, stats, unread, .. } = report;
        findings.shrink_to_fit();
        Self { findings, counts, stats, unread }
    }
}

/// Findings and totals of one file while it is checked.
pub(super) struct Report {
    pub findings: Vec<Finding>,
    pub counts: Counts,
    pub stats: Stats,
    /// 1 if the file could not be read, or changed while it was read.
    pub unread: u64,
    /// How the table of the file compares with its sectors.
    pub look: Glance,
    /// What a first look at the seams of a region shows.
    pub screened: Screened,
    name: Arc<str>,
    lod: u8,
    cap: usize,
    /// Slots of blocks, by index of their findings.
    slots: Vec<(usize, u32)>,
    /// Codes of blocks by slot, if findings are not kept.
    codes: Option<Vec<(u32, Code)>>,
    /// Slots with a finding above note.
    damaged: Vec<u32>,
    /// Number of zeroed blocks that follow the one found last.
    zeroed: u64,
    /// Number of big-endian blocks that do not show their byte order.
    inferred_orders: u64,
    /// The codes of the findings that are kept.
    listed: CodeSet,
    /// Number of findings that were not kept, by code.
    cut: BTreeMap<Code, u64>,
}

impl Report {
    pub fn new(name: Arc<str>, lod: u8, cap: usize) -> Self {
        Self {
            findings: Vec::new(),
            counts: Counts::default(),
            stats: Stats::default(),
            unread: 0,
            look: Glance::default(),
            screened: Screened::default(),
            name,
            lod,
            cap,
            slots: Vec::new(),
            codes: None,
            damaged: Vec::new(),
            zeroed: 0,
            inferred_orders: 0,
            listed: CodeSet::default(),
            cut: BTreeMap::new(),
        }
    }

    /// A report that keeps only codes, for all blocks.
    pub fn of_codes(name: Arc<str>, lod: u8) -> Self {
        Self { codes: Some(Vec::new()), ..Self::new(name, lod, 0) }
    }

    /// The name of the file in findings.
    pub fn name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    /// A report that keeps findings with the slots of their blocks, and the codes of all blocks.
    pub fn of_both(name: Arc<str>, lod: u8, cap: usize) -> Self {
        Self { codes: Some(Vec::new()), ..Self::new(name, lod, cap) }
    }

    /// Whether findings are kept, so that findings without a block are needed.
    pub const fn keeps_findings(&self) -> bool {
        self.cap > 0
    }

    /// The findings, with the slots of their blocks.
    pub fn with_slots(self) -> Vec<(Option<u32>, Finding)> {
        let mut slots = self.slots.into_iter().peekable();
        let with = |(at, finding)| (slots.next_if(|(of, _)| *of == at).map(|(_, slot)| slot), finding);
        self.findings.into_iter().enumerate().map(with).collect()
    }

    /// The codes of blocks, by slot; for a report of codes.
    pub fn codes(&self) -> &[(u32, Code)] {
        self.codes.as_deref().unwrap_or_default()
    }

    /// The codes of blocks that were found since these were taken last, by slot.
    pub fn take_codes(&mut self) -> Vec<(u32, Code)> {
        self.codes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Whether anything above a note was found.
    pub fn has_trouble(&self) -> bool {
        self.counts.errors + self.counts.warnings > 0
    }

    /// Adds a finding about the file.
    pub fn file(&mut self, damage: Damage, remark: Option<String>) {
        self.of_file(Arc::clone(&self.name), damage, remark);
    }

    /// Adds a finding about another file that belongs to this one.
    pub fn of_file(&mut self, name: Arc<str>, damage: Damage, remark: Option<String>) {
        self.push(Finding::of_file(name, damage, remark), None);
    }

    /// Adds a finding that a part of the file could not be read.
    pub fn unreadable(&mut self, span: Span, error: &io::Error) {
        self.file(Damage::new(Code::FileUnreadable, span, "file"), Some(error.to_string()));
    }

    /// Adds a finding about the block of a slot.
    pub fn slot(&mut self, slot: u32, damage: Damage, remark: Option<String>) {
        self.push(Finding::of_file(Arc::clone(&self.name), damage, remark), Some(slot));
    }

    /// Adds a finding about a block without a known slot.
    pub fn unowned(&mut self, damage: Damage, remark: Option<String>) {
        let mut finding = Finding::of_file(Arc::clone(&self.name), damage, remark);
        finding.block = Some(BlockAt { lod: self.lod, position: None });
        self.push(finding, None);
    }

    /// The positions of blocks with an error.
    pub fn errors_at(&self) -> HashSet<Option<[i32; 3]>> {
        let errors = self.findings.iter().filter(|finding| finding.level() == Level::Error);
        errors.filter_map(|finding| Some(finding.block?.position)).collect()
    }

    /// Counts findings that are not listed.
    pub fn count(&mut self, code: Code, n: u64) {
        self.counts.add_many(code, n);
        *self.cut.entry(code).or_default() += n;
    }

    /// How many findings of a code are not listed.
    pub fn cut(&self, code: Code) -> u64 {
        self.cut.get(&code).copied().unwrap_or(0)
    }

    /// Adds a finding about a block with a known position, or with `None` if it is certain that it is unknown.
    pub fn placed(&mut self, position: Option<[i32; 3]>, damage: Damage, remark: Option<String>) {
        let mut finding = Finding::of_file(Arc::clone(&self.name), damage, remark);
        finding.block = Some(BlockAt { lod: self.lod, position });
        self.push(finding, None);
    }

    /// Adds the result of examining a listed block.
    pub fn block(&mut self, slot: u32, block: Outcome) {
        if let Some(error) = &block.error {
            let damage = Damage::new(Code::FileUnreadable, block.stored, "sectors of the block");
            self.slot(slot, damage, Some(error.to_string()));
        }
        for damage in block.damage {
            if damage.code == Code::BlockZeroed && self.extend_zero_run(slot, block.stored) {
                continue;
            }
            self.inferred_orders += u64::from(damage.field == INFERRED_ORDER);
            let at = BlockAt { lod: self.lod, position: None };
            let mut finding = Finding::of_block(Arc::clone(&self.name), at, block.stored, damage);
            finding.is_found = block.is_found;
            let channels = block.whole_channels.filter(|_| is_inside(damage.code)).map(whole_channels);
            finding.remark = channels.or_else(|| block.remark.clone().filter(|_| damage.code.level() > Level::Note));
            self.push(finding, Some(slot));
        }
    }

    /// Adds a zeroed block to the finding of the one before it, so that a run of them is one finding.
    fn extend_zero_run(&mut self, slot: u32, stored: Span) -> bool {
        // If rows are requested, each block has its own finding.
        let last = self.findings.last_mut().filter(|last| self.codes.is_none() && last.code() == Code::BlockZeroed);
        let Some(last) = last.filter(|last| last.span.is_some_and(|span| span.end == stored.start)) else {
            return false;
        };
        last.span = last.span.map(|span| Span::new(span.start, stored.end));
        self.zeroed += 1;
        let s = if self.zeroed == 1 { "" } else { "s" };
        last.remark = Some(format!("The zero bytes continue over the next {} block{s}.", self.zeroed));
        self.damaged.push(slot);
        true
    }

    fn push(&mut self, mut finding: Finding, slot: Option<u32>) {
        self.zeroed = 0;
        self.counts.add(&finding);
        if finding.code().is_unread() {
            self.unread = 1;
        }
        if let Some(slot) = slot {
            finding.block = Some(BlockAt { lod: self.lod, position: None });
            if finding.level() > Level::Note && self.damaged.last() != Some(&slot) {
                self.damaged.push(slot);
            }
        }
        if let Some(codes) = &mut self.codes {
            codes.extend(slot.map(|slot| (slot, finding.code())));
            if self.cap == 0 {
                return;
            }
        }
        // The first one of each code is listed, however many there are of the others.
        if self.findings.len() >= self.cap && (self.cap == 0 || self.listed.contains(finding.code())) {
            *self.cut.entry(finding.code()).or_default() += 1;
            return;
        }
        self.listed.insert(finding.code());
        if let Some(slot) = slot {
            self.slots.push((self.findings.len(), slot));
        }
        self.findings.push(finding);
    }

    /// Adds the number of blocks whose byte order is inferred to the first finding about a byte order, which is always shown.
    fn count_inferred_orders(&mut self) {
        let remark = match self.inferred_orders {
            0 => return,
            1 => {
                "1 block of this file shows no byte order and is read as big-endian because of other blocks.".to_owned()
            }
            n => format!(
                "{} blocks of this file show no byte order and are read as big-endian because of other blocks.",
                grouped(n)
            ),
        };
        if let Some(finding) = self.findings.iter_mut().find(|finding| finding.code() == Code::BlockByteOrder) {
            finding.remark = Some(remark);
        }
    }

    /// Whether a finding of a code is listed.
    pub fn has(&self, code: Code) -> bool {
        self.findings.iter().any(|finding| finding.code() == code)
    }

    /// Sets the LODs and positions of blocks in findings.
    pub fn place_at(&mut self, place: impl Fn(u32) -> BlockAt) {
        for &(i, slot) in &self.slots {
            if let Some(finding) = self.findings.get_mut(i) {
                finding.block = Some(place(slot));
            }
        }
    }

    /// Sets the positions of blocks in findings.
    pub fn place(&mut self, position: impl Fn(u32) -> Option<[i32; 3]>) {
        let lod = self.lod;
        self.place_at(|slot| BlockAt { lod, position: position(slot) });
    }

    /// Adds the findings that depend on all others.
    pub fn finish(&mut self) {
        self.damaged.sort_unstable();
        self.damaged.dedup();
        self.stats.damaged += self.damaged.len() as u64;
        self.damaged.clear();
        self.count_inferred_orders();
        let Some(finding) = Finding::not_listed(Arc::clone(&self.name), &self.cut) else { return };
        self.counts.add(&finding);
        self.findings.push(finding);
    }
}

/// Whether damage with this code may leave some channels readable.
const fn is_inside(code: Code) -> bool {
    matches!(
        code,
        Code::BlockPrefix
            | Code::ContainerCorrupt
            | Code::ContainerLength
            | Code::ContainerDeclared
            | Code::BlockEpilogue
            | Code::BlockEpilogueMissing
            | Code::ChannelCut
            | Code::ChannelDepth
            | Code::ChannelStorage
            | Code::MetadataCut
            | Code::MetadataSize
    )
}

fn whole_channels(count: usize) -> String {
    match count {
        0 => "No channel is whole.".to_owned(),
        1 => "Channel 0 is whole.".to_owned(),
        8 => "All channels are whole.".to_owned(),
        2 => "Channels 0 and 1 are whole.".to_owned(),
        n => format!("Channels 0 to {} are whole.", n - 1),
    }
}
