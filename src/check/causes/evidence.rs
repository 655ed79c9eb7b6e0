//! What the findings of all files add up to.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::check::cause::CauseKind;
use crate::check::causes::codes::{CUT, HEADER, MISFIT, SHIFTED, TEXT, WRITING};
use crate::check::causes::settings::{agreeing_files, differing_forest, refused_code};
use crate::check::causes::start::{Start, Starts, is_unread};
use crate::check::causes::text::Converted;
use crate::check::causes::{Counts, Findings, NamedBlock};
use crate::damage::{Code, CodeSet, Level, Value};
use crate::save::{Fault, File, Forest, Kind, Save};
use crate::voxel_map::Map;
use crate::voxel_map::map_json::plain_name;

/// Damaged files that are searched for converted text, or for what an option does not fit.
pub(super) const SEARCHED: usize = 32;

/// Buffers of programs that copy: the length of a copy that was cut off is a multiple of the first.
const COPY_BUFFER: u64 = 4096;

/// Entries that lead into each other, and as many that lead beyond the end of the file, from which on a table holds garbage.
const GARBAGE: u64 = 2;

/// What findings of all files add up to.
#[derive(Default)]
pub(super) struct Evidence {
    pub all: Counts,
    /// The codes of the blocks that findings name, and how many have them.
    pub blocks: Vec<(CodeSet, u64)>,
    /// Blocks whose entry leads to another block, or to none, while their own is elsewhere.
    pub displaced: u64,
    /// Those of them in files whose tables fit their sectors.
    pub exchanged: u64,
    /// Files with entries that lead beyond the end of the file although their blocks are before it.
    pub of_another: u64,
    /// Blocks that are not where their entries say in files that have the tables of others.
    pub displaced_by_table: u64,
    /// Whole blocks that no entry points to, in files with other trouble.
    pub unowned: u64,
    /// Blocks that are torn because bytes were inserted into them or cut out of them.
    pub torn_by_shift: u64,
    /// Blocks that are not where their entries say, in such files.
    pub displaced_by_shift: u64,
    /// The most torn blocks in one file.
    pub torn_in_one: u64,
    /// Damaged blocks in region files of versions 1 and 2.
    pub old_version: u64,
    /// Entries of tables that lead into each other and beyond the end of their file, in files that have both.
    pub garbage: u64,
    /// Damaged region files whose length is a multiple of a page of a disk.
    pub at_page: u64,
    /// All findings above note.
    pub above_note: u64,
    /// Files that end too early, and those of them whose length is a multiple of a copy buffer.
    pub cut: u64,
    pub cut_at_buffer: u64,
    /// Those of them that are block files.
    pub cut_block_files: u64,
    /// Damaged files that a program converted as text.
    pub converted: Vec<Converted>,
    /// Forests whose seams show that the old formula placed negative blocks.
    pub old_formula: u64,
    /// Region files whose blocks are in the slots of the old formula by an option only.
    pub given_formula: u64,
    /// Meta files of block files that are missing.
    pub no_block_meta: u64,
    /// LODs that meta files count and that have no file.
    pub lods_missing: u64,
    /// Files whose settings the engine refuses, and a code that says so.
    pub refused: u64,
    pub refused_by: Option<Code>,
    /// Region files whose layout differs from that of the meta file.
    pub differing: u64,
    /// Meta files that have another layout than the options by which the save is read.
    pub against_options: u64,
    /// Region files that all have one layout, while the meta file differs; 0 where region files differ from each other.
    pub agreeing: u64,
    /// Files whose header or text cannot be read, and what their beginnings show: those without a byte, those with zeros, texts that end
    /// too early, and those that are text in the place of something else.
    pub unread: u64,
    pub empty: u64,
    pub zeroed: u64,
    pub cut_texts: u64,
    pub texts: u64,
    /// Findings about changed bytes or other programs in the latter.
    pub of_texts: u64,
    /// Files that something other than a game damaged: their names.
    pub spoiled: HashSet<Arc<str>>,
}

pub(super) fn count(counts: &Counts, codes: &[Code]) -> u64 {
    codes.iter().filter_map(|code| counts.get(code)).sum()
}

/// The files of a save that have findings, by their names in these.
pub(super) type Files<'s> = BTreeMap<String, File<'s>>;

pub(super) fn files_by_name<'s>(save: &'s Save, findings: &Findings) -> Files<'s> {
    let named: HashSet<&str> = findings.files.iter().map(|(name, _)| &**name).collect();
    let files = save.files().map(|file| (save.shown(&file.path()), file));
    files.filter(|(name, _)| named.contains(&**name)).collect()
}

impl Evidence {
    /// What the counts of findings show; no file is read.
    pub fn gather(findings: &Findings, save: &Save, files: &Files<'_>, starts: &Starts) -> Self {
        let mut evidence = Self::default();
        let mut blocks: HashMap<(&str, NamedBlock), CodeSet> = HashMap::new();
        // The forests whose meta files differ from region files.
        let mut disagreeing: Vec<&Forest> = Vec::new();
        for (name, found) in &findings.files {
            let counts = &found.counts;
            for (block, codes) in &found.blocks {
                let all = blocks.entry((name, *block)).or_default();
                codes.iter().for_each(|code| all.insert(code));
            }
            evidence.blocks.extend_from_slice(&found.others);
            let start = starts.get(name).copied();
            evidence.unread += u64::from(is_unread(counts));
            evidence.count_start(start);
            if start == Some(Start::Text) {
                let rest = counts.iter().filter(|(code, _)| CauseKind::is_rest(**code));
                evidence.of_texts += rest.map(|(_, n)| n).sum::<u64>();
            }
            let is_missing =
                |fault: &&Fault| fault.damage.found == Value::Words("missing") && save.shown(&fault.path) == **name;
            if counts.contains_key(&Code::BlockFilesMeta) && save.faults.iter().any(|fault| is_missing(&fault)) {
                evidence.no_block_meta += 1;
            }
            // Faults of opening the save: a LOD between others that nothing counts is a finding of the check.
            let is_counted =
                |fault: &&Fault| fault.damage.code == Code::LodMissing && save.shown(&fault.path) == **name;
            if counts.contains_key(&Code::LodMissing) {
                evidence.lods_missing += save.faults.iter().filter(is_counted).count() as u64;
            }
            let refused = refused_code(save, files, name, counts);
            evidence.refused += u64::from(refused.is_some());
            evidence.refused_by = evidence.refused_by.max(refused);
            // A header that differs from all others, with settings that the engine refuses, is damaged.
            let is_odd = counts.contains_key(&Code::RegionRefused) && refused.is_none();
            let is_damaged = is_odd || count(counts, &HEADER) > 0;
            let differs = counts.contains_key(&Code::MetaDiffers) && !is_damaged;
            let is_region = matches!(files.get(&**name), Some(File::Region(..)));
            evidence.differing += u64::from(differs && is_region);
            evidence.against_options += u64::from(differs && !is_region);
            disagreeing.extend(differing_forest(save, files, name, counts));
            evidence.old_formula += u64::from(found.old_formula);
            evidence.given_formula += u64::from(found.given_formula);
            for (code, n) in counts {
                *evidence.all.entry(*code).or_default() += n;
            }
            let displaced = count(counts, &[Code::BlockMisplaced, Code::BlockMoved, Code::BlockHalfMoved]);
            let has_other_table = counts.contains_key(&Code::TableForeign);
            let (displaced, by_table) = if has_other_table { (0, displaced) } else { (displaced, 0) };
            evidence.displaced += displaced;
            evidence.displaced_by_table += by_table;
            evidence.exchanged += if count(counts, &MISFIT) == 0 { displaced } else { 0 };
            evidence.torn_in_one = evidence.torn_in_one.max(count(counts, &[Code::BlockTorn]));
            let shifts = count(counts, &SHIFTED);
            evidence.torn_by_shift += shifts.min(count(counts, &[Code::BlockTorn]));
            evidence.displaced_by_shift += if shifts > 0 { displaced } else { 0 };
            let above_note = counts.iter().filter(|(code, _)| code.level() > Level::Note);
            evidence.above_note += above_note.map(|(_, n)| n).sum::<u64>();
            let entries = [count(counts, &[Code::TableOverlap]), count(counts, &[Code::TableBeyondEnd])];
            let garbage = !has_other_table && entries.iter().all(|n| *n >= GARBAGE);
            evidence.garbage += if garbage { entries.iter().sum() } else { 0 };
            let unowned = count(counts, &[Code::BlockOrphan, Code::BlockOwnerless]) - found.unowned_again;
            evidence.unowned += if has_other_table { 0 } else { unowned };
            let file = files.get(&**name);
            if let Some(File::Region(_, region)) = file {
                if region.header.as_ref().is_some_and(|header| header.version < 3) {
                    let unreadable =
                        [Code::ContainerCorrupt, Code::ContainerEmpty, Code::ContainerMode, Code::BlockPrefix];
                    evidence.old_version += count(counts, &unreadable);
                }
                let is_at_page = region.len > 0 && region.len.is_multiple_of(COPY_BUFFER);
                evidence.at_page += u64::from(is_at_page && count(counts, &WRITING) > 0);
            }
            // Of a file that was cut off, what its entries lead to beyond the end is nowhere else.
            let beyond = count(counts, &[Code::TableBeyondEnd]);
            let of_another = file.is_some() && !garbage && displaced > 0 && beyond > count(counts, &[Code::BlockTorn]);
            evidence.of_another += u64::from(of_another);
            // Such a table says nothing about the end of its file.
            let is_of_table = garbage || of_another || has_other_table;
            let is_short = counts.contains_key(&Code::RegionNeverStored) && refused.is_none();
            // The size of a block file's data is stored in its header.
            let is_cut_block = matches!(file, Some(File::Region(forest, _)) if forest.kind == Kind::BlockFiles)
                && counts.contains_key(&Code::BlockPrefix);
            let ends_early = (is_short || is_cut_block || count(counts, &CUT) > found.found_elsewhere) && !is_of_table;
            let ends_early = ends_early && start != Some(Start::Empty);
            let cut = ends_early.then(|| file.map(File::len).or_else(|| array_len(save, name))).flatten();
            if let Some(len) = cut {
                evidence.cut += 1;
                evidence.cut_block_files += u64::from(is_cut_block);
                evidence.cut_at_buffer += u64::from(len > 0 && len.is_multiple_of(COPY_BUFFER));
            }
            // A shift explains torn blocks, and blocks that entries behind a change of the table lead to: no game left them.
            if is_of_table || shifts > 0 || cut.is_some() || count(counts, &TEXT) > 0 {
                evidence.spoiled.insert(Arc::clone(name));
            }
        }
        evidence.blocks.extend(blocks.into_values().map(|codes| (codes, 1)));
        disagreeing.sort_unstable_by_key(|forest| &forest.dir);
        disagreeing.dedup_by_key(|forest| &forest.dir);
        let agreeing: Option<Vec<u64>> = disagreeing.into_iter().map(agreeing_files).collect();
        evidence.agreeing = agreeing.unwrap_or_default().iter().sum();
        evidence
    }

    fn count_start(&mut self, start: Option<Start>) {
        let files = match start {
            Some(Start::Empty) => &mut self.empty,
            Some(Start::Zeros) => &mut self.zeroed,
            Some(Start::Cut) => &mut self.cut_texts,
            Some(Start::Text) => &mut self.texts,
            None => return,
        };
        *files += 1;
    }

    /// Blocks that have a finding whose code is one of these.
    pub fn blocks_with(&self, is: impl Fn(Code) -> bool) -> u64 {
        self.blocks.iter().filter(|(codes, _)| codes.iter().any(&is)).map(|(_, n)| n).sum()
    }

    pub fn count(&self, codes: &[Code]) -> u64 {
        count(&self.all, codes)
    }

    pub fn has(&self, code: Code) -> bool {
        self.all.contains_key(&code)
    }
}

/// The path of an array of a voxel map, by the name of its file in findings.
pub(super) fn array_path(save: &Save, name: &str) -> Option<PathBuf> {
    let of_map = |map: &Map| {
        let names = map.layers().flat_map(|layer| [&layer.data_file, &layer.index_file, &layer.depth_file]);
        let mut paths = names.flatten().filter(|name| plain_name(name).is_ok()).map(|name| map.dir.join(name));
        paths.find(|path| save.shown(path) == name)
    };
    save.maps.iter().find_map(of_map)
}

/// Its bytes.
fn array_len(save: &Save, name: &str) -> Option<u64> {
    std::fs::metadata(array_path(save, name)?).ok().map(|file| file.len())
}
