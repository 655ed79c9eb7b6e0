//! Folding findings into causes: the codes of each cause, the evidence that findings add up to, and the rules that infer
//! causes from it.

mod codes;
mod evidence;
mod infer;
mod misfit;
mod region_misfit;
mod settings;
mod start;
mod text;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::check::advice::general_advice;
use crate::check::cause::{Cause, NextStep, is_of, saves_of};
use crate::check::finding::Finding;
use crate::damage::{Code, CodeSet, Level, Value};
use crate::limits::CUT_OFF;
use crate::save::Save;
use codes::CUT;
use evidence::{Evidence, SEARCHED, files_by_name};
use misfit::find_misfit;
pub(crate) use misfit::{misfit_of_meta, misfit_of_paks, misfit_of_regions};

/// What [`Code::SlotsTold`] has found where the old formula placed negative blocks.
pub(in crate::check) const OLD_FORMULA: Value = Value::Words("the old formula");

/// What [`Code::SlotsOld`] has found where only an option gives the old formula.
pub(super) const GIVEN_FORMULA: Value = Value::Words("given by `--slots old`");

/// Blocks whose codes are kept apart, of all files: 3 MiB.
const MOST: usize = 1 << 15;

/// Findings of a save, counted as they come, from which [`Findings::causes`] infers what happened.
#[derive(Debug, Default)]
pub struct Findings {
    files: Vec<(Arc<str>, FileFindings)>,
    /// Where each file is among them: the findings of one may come in several passes.
    index: HashMap<Arc<str>, usize>,
    /// How many blocks are kept apart.
    apart: usize,
}

/// Findings by their codes.
type Counts = BTreeMap<Code, u64>;

/// A block that findings name: its LOD, and its position or, where that is not known, the first byte of the finding.
type NamedBlock = (u8, Option<[i32; 3]>, u64);

/// What was counted of a file.
#[derive(Clone, Debug, Default)]
struct FileFindings {
    counts: Counts,
    /// The codes of each block that a finding names.
    blocks: BTreeMap<NamedBlock, CodeSet>,
    /// The codes of blocks that are not kept apart, and how many have them.
    others: Vec<(CodeSet, u64)>,
    /// Whether seams show that the old formula placed negative blocks.
    old_formula: bool,
    /// Whether only an option says so.
    given_formula: bool,
    /// Whether a text ends too early.
    is_cut_text: bool,
    /// Findings of files that end too early whose blocks are whole all the same.
    found_elsewhere: u64,
    /// Where unowned blocks begin, and how many findings repeat one of them: the rules for one file and those for all regions may report
    /// the same block.
    unowned_at: HashSet<u64>,
    unowned_again: u64,
    /// What to do about findings whose advice is not that of their code.
    advice: BTreeMap<Code, &'static str>,
}

impl FileFindings {
    fn add(&mut self, finding: &Finding) {
        *self.counts.entry(finding.code()).or_default() += 1;
        for (code, n) in &finding.unlisted {
            *self.counts.entry(*code).or_default() += n;
        }
        self.old_formula |= finding.code() == Code::SlotsTold && finding.damage.found == OLD_FORMULA;
        self.given_formula |= finding.code() == Code::SlotsOld && finding.damage.found == GIVEN_FORMULA;
        self.is_cut_text |= finding.damage.found == Value::Words(CUT_OFF);
        self.found_elsewhere += u64::from(finding.is_found && CUT.contains(&finding.code()));
        let advice = general_advice(finding);
        if advice != finding.code().next() {
            self.advice.entry(finding.code()).or_insert(advice);
        }
        if matches!(finding.code(), Code::BlockOrphan | Code::BlockOwnerless) {
            let is_new = finding.span.is_none_or(|span| self.unowned_at.insert(span.start));
            self.unowned_again += u64::from(!is_new);
        }
        let Some(block) = finding.block else { return };
        let start = if block.position.is_some() { 0 } else { finding.span.map_or(0, |span| span.start) };
        self.blocks.entry((block.lod, block.position, start)).or_default().insert(finding.code());
    }

    /// LOD and position of the first block that has a finding with a code.
    fn first_block_with(&self, code: Code) -> Option<(u8, [i32; 3])> {
        let mut blocks = self.blocks.iter().filter(|(_, codes)| codes.iter().any(|other| other == code));
        blocks.find_map(|((lod, position, _), _)| Some((*lod, (*position)?)))
    }

    /// Keeps no block apart. One that a later finding names counts once more.
    fn fold(&mut self) {
        self.unowned_at = HashSet::new();
        for (_, codes) in std::mem::take(&mut self.blocks) {
            match self.others.iter_mut().find(|(of, _)| *of == codes) {
                Some((_, n)) => *n += 1,
                None => self.others.push((codes, 1)),
            }
        }
    }
}

impl Findings {
    /// Counts a finding.
    pub fn add(&mut self, finding: &Finding) {
        let next = self.files.len();
        let at = *self.index.entry(Arc::clone(&finding.file)).or_insert(next);
        if at == next {
            self.files.push((Arc::clone(&finding.file), FileFindings::default()));
        }
        if let Some((_, found)) = self.files.get_mut(at) {
            let before = found.blocks.len();
            found.add(finding);
            self.apart += found.blocks.len() - before;
        }
        if self.apart > MOST {
            self.files.iter_mut().for_each(|(_, found)| found.fold());
            self.apart = 0;
        }
    }

    /// What was counted of one of several saves in a directory, with the names that its files have when it is opened alone:
    /// `prefix` is its path below the directory.
    #[must_use]
    pub fn below(&self, prefix: &str) -> Self {
        let inside = |file: &str| {
            let below = match file.strip_prefix(prefix)? {
                // What is found of the save itself has its name.
                "" => prefix.rsplit('/').next().unwrap_or(prefix),
                rest => rest.strip_prefix('/')?,
            };
            Some(Arc::from(below))
        };
        let files = self.files.iter().filter_map(|(file, found)| Some((inside(file)?, found.clone())));
        Self { files: files.collect(), ..Self::default() }
    }

    /// What happened to the save, or to each save of a directory, the likeliest first; empty when nothing did, or the findings do not show it. Reads the
    /// beginnings of some damaged files.
    #[must_use]
    pub fn causes(&self, save: &Save) -> Vec<Cause> {
        let names = saves_of(save);
        if names.is_empty() {
            return self.causes_of_one(save);
        }
        // Of a save within another one the name is longer, and comes later.
        let owner = |file: &str| names.iter().rposition(|name| is_of(file, name)).unwrap_or(names.len());
        let mut by_save: BTreeMap<usize, Self> = BTreeMap::new();
        for (file, found) in &self.files {
            by_save.entry(owner(file)).or_default().files.push((Arc::clone(file), found.clone()));
        }
        let named = |(n, findings): (usize, Self)| {
            let of = names.get(n).cloned();
            findings.causes_of_one(save).into_iter().map(move |cause| Cause { save: of.clone(), ..cause })
        };
        by_save.into_iter().flat_map(named).collect()
    }

    /// What to do about the most frequent of the worst findings, for a verdict without another step.
    #[must_use]
    pub fn next_step(&self, save: &Save) -> Option<NextStep> {
        let names = saves_of(save);
        let owner = |file: &str| names.iter().rfind(|name| is_of(file, name)).cloned();
        let mut counts: BTreeMap<(Level, Code), (u64, &FileFindings, &str)> = BTreeMap::new();
        for (file, found) in &self.files {
            for (code, n) in &found.counts {
                // Notes ask for nothing, except that the old formula can be given.
                if *code != Code::FindingsCut && (code.level() > Level::Note || *code == Code::SlotsOld) {
                    counts.entry((code.level(), *code)).or_insert((0, found, file)).0 += n;
                }
            }
        }
        let worst = counts.into_iter().max_by_key(|((level, _), (n, ..))| (*level, *n));
        worst.map(|((_, code), (_, found, file))| NextStep {
            advice: found.advice.get(&code).copied().unwrap_or_else(|| code.next()),
            save: owner(file),
            block: found.first_block_with(code),
        })
    }

    /// The same without some files.
    fn without(&self, files: &HashSet<Arc<str>>) -> Self {
        let others = self.files.iter().filter(|(file, _)| !files.contains(file)).cloned();
        Self { files: others.collect(), ..Self::default() }
    }

    fn causes_of_one(&self, save: &Save) -> Vec<Cause> {
        let files = files_by_name(save, self);
        let starts = start::read_starts(self, save, &files);
        let mut evidence = Evidence::gather(self, save, &files, &starts);
        evidence.converted = text::find_converted(self, save, &files);
        evidence.spoiled.extend(evidence.converted.iter().map(|(name, _)| Arc::clone(name)));
        let has_findings = |file: &str| {
            let of_file = self.files.iter().filter(|(name, _)| **name == *file);
            of_file.flat_map(|(_, found)| found.counts.keys()).any(|code| code.level() > Level::Note)
        };
        if let Some(misfit) = find_misfit(save, evidence.above_note > 0, has_findings) {
            return vec![misfit];
        }
        let mut causes = Vec::new();
        causes.extend(evidence.in_use());
        causes.extend(evidence.text());
        // A conversion that cannot be undone changes the length of a file and the bytes of all of its blocks.
        let is_converted = |name: &Arc<str>| evidence.converted.iter().any(|(converted, _)| converted == name);
        let damaged = self.files.iter().filter(|(name, _)| has_findings(name));
        let are_all_converted = || damaged.clone().all(|(name, _)| is_converted(name));
        if evidence.converted.len() >= SEARCHED || (!evidence.converted.is_empty() && are_all_converted()) {
            return causes;
        }
        causes.extend(evidence.copy());
        // What a copy did to one file says nothing about the others.
        let writing = match evidence.spoiled.is_empty() {
            true => evidence.writing(),
            false => Evidence::gather(&self.without(&evidence.spoiled), save, &files, &starts).writing(),
        };
        causes.extend(writing);
        causes.extend(evidence.engine());
        let mut rest = match causes.iter().all(|cause| cause.kind.leaves_bytes()) {
            true => evidence.unexplained(&causes),
            false => evidence.headers(&causes),
        };
        match (&mut rest, evidence.changed_meta()) {
            (Some(rest), Some(meta)) if rest.kind == meta.kind => rest.evidence.extend(meta.evidence),
            (_, meta) => causes.extend(meta),
        }
        causes.extend(rest);
        causes
    }
}
