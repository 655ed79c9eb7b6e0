//! Folding findings into causes.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::check::cause::{Cause, CauseKind, is_of, saves_of};
use crate::check::finding::Finding;
use crate::damage::{Code, Level, Value};
use crate::save::{Fault, File, Save};
use crate::source::{FileSource, Source};

/// Damaged files that are searched for converted line breaks.
const SEARCHED: usize = 32;

/// Bytes of each that are searched.
const PREFIX: usize = 256 << 10;

/// Line feeds from which on their neighbours say something: of random bytes, one in 256 is a carriage return.
const LINE_FEEDS: usize = 8;

/// Torn blocks in one file from which on more happened than one interrupted write.
const MANY_TORN: u64 = 2;

/// Unowned blocks from which on a second writer is likely, if there are twice as many of them as displaced blocks.
const MANY_UNOWNED: u64 = 8;

/// Buffers of programs that copy: the length of a copy that was cut off is a multiple of the first.
const COPY_BUFFER: u64 = 4096;

/// Findings of a save, counted as they come, from which [`Findings::causes`] infers what happened.
#[derive(Debug, Default)]
pub struct Findings {
    files: Vec<(Arc<str>, Counts)>,
}

type Counts = BTreeMap<Code, u64>;

impl Findings {
    /// Counts a finding.
    pub fn add(&mut self, finding: &Finding) {
        match self.files.last_mut() {
            Some((file, counts)) if *file == finding.file => *counts.entry(finding.code()).or_default() += 1,
            _ => self.files.push((Arc::clone(&finding.file), Counts::from([(finding.code(), 1)]))),
        }
    }

    /// What was counted of one of several saves in a directory, with the names that its files have when it is opened alone:
    /// `prefix` is its path below the directory.
    #[must_use]
    pub fn below(&self, prefix: &str) -> Self {
        let inside = |file: &str| Some(Arc::from(file.strip_prefix(prefix)?.strip_prefix('/')?));
        Self { files: self.files.iter().filter_map(|(file, counts)| Some((inside(file)?, counts.clone()))).collect() }
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
        for (file, counts) in &self.files {
            by_save.entry(owner(file)).or_default().files.push((Arc::clone(file), counts.clone()));
        }
        let named = |(n, findings): (usize, Self)| {
            let of = names.get(n).cloned();
            findings.causes_of_one(save).into_iter().map(move |cause| Cause { save: of.clone(), ..cause })
        };
        by_save.into_iter().flat_map(named).collect()
    }

    fn causes_of_one(&self, save: &Save) -> Vec<Cause> {
        let evidence = Evidence::gather(self, save);
        let mut causes = Vec::new();
        causes.extend(evidence.in_use());
        causes.extend(evidence.text());
        let copy = evidence.copy();
        // Blocks that are torn where bytes are missing were not torn by a game.
        let shifted = evidence.count(&SHIFTED) > 0 && evidence.displaced + evidence.unowned == 0;
        let table = evidence.garbage + evidence.of_another;
        let text = !evidence.converted.is_empty() || evidence.count(&TEXT) > 0;
        let whole = evidence.cut == 0 && table == 0 && !text && !shifted;
        let writing = if whole { evidence.writing() } else { Vec::new() };
        causes.extend(copy);
        causes.extend(writing);
        causes.extend(evidence.engine());
        if causes.is_empty() {
            causes.extend(evidence.unexplained());
        }
        causes
    }
}

/// Codes that an interrupted save causes.
const WRITING: [Code; 15] = [
    Code::BlockMisplaced,
    Code::BlockMoved,
    Code::BlockHalfMoved,
    Code::BlockOrphan,
    Code::BlockOwnerless,
    Code::BlockTorn,
    Code::BlockZeroed,
    Code::PageZeroed,
    Code::BlockDoubled,
    Code::BlockUnlisted,
    Code::TableEmpty,
    Code::TableGap,
    Code::TableOverlap,
    Code::PlaceDoubt,
    Code::StreamJournal,
];

impl CauseKind {
    /// Whether findings with a code are evidence of it, or follow from it.
    #[must_use]
    pub fn explains(self, code: Code) -> bool {
        match self {
            Self::InUse => matches!(code, Code::FileChanged | Code::StreamWal),
            Self::TextConverted => TEXT.contains(&code) || UNREADABLE.contains(&code),
            Self::CopyIncomplete => {
                const MISSING: [Code; 6] = [
                    Code::BlockFilesMeta,
                    Code::MetaMissing,
                    Code::MapFileMissing,
                    Code::RegionMissing,
                    Code::ForestEmpty,
                    Code::LodGap,
                ];
                MISSING.contains(&code)
            }
            Self::Renamed => RENAMED.contains(&code),
            Self::CopyCut | Self::DiskFull => CUT.contains(&code),
            Self::Mixed => matches!(code, Code::MetaDiffers | Code::MetaLods),
            Self::Migration => WRITING.contains(&code) || UNREADABLE.contains(&code),
            Self::Killed | Self::PowerLost => {
                WRITING.contains(&code)
                    || BARE.contains(&code)
                    || matches!(code, Code::MetaUnreadable | Code::SectorCut)
            }
            Self::TwoWriters => WRITING.contains(&code),
            Self::TableChanged => {
                WRITING.contains(&code)
                    || matches!(code, Code::TableBeyondEnd | Code::TableCount | Code::TableCountZero)
            }
            Self::Conversion | Self::Converted => code == Code::ConversionLeft,
            Self::OldSlots => code == Code::SlotsMixed,
            Self::Storage => UNREADABLE.contains(&code) || HEADER.contains(&code) || SHIFTED.contains(&code),
            Self::Foreign => FOREIGN.contains(&code),
            Self::Settings => SETTINGS.contains(&code),
            Self::OldKeys => code == Code::StreamKeyRule,
            Self::OldStates => code == Code::BlockUnlisted,
        }
    }
}

/// Codes of files that have the names of others, or names that the game does not look for.
const RENAMED: [Code; 6] =
    [Code::BlockFileName, Code::CopyName, Code::PakDuplicate, Code::PakName, Code::PakPlace, Code::RegionMisnamed];

/// Codes of settings with which the engine does not save.
const SETTINGS: [Code; 3] = [Code::RegionNeverStored, Code::RegionSectorSize, Code::RegionRefused];

/// Codes of files that were created, and into which nothing was written.
const BARE: [Code; 2] = [Code::RegionEmpty, Code::StreamEmpty];

/// Codes of data that another program or engine writes.
const FOREIGN: [Code; 12] = [
    Code::BlockByteOrder,
    Code::BlockDepth,
    Code::BlockVersion,
    Code::ContainerByteOrder,
    Code::LinkSkipped,
    Code::MetaVersion,
    Code::NotAFile,
    Code::PakShape,
    Code::PakVersion,
    Code::RegionVersion,
    Code::RegionVoxedit,
    Code::StreamForeign,
];

/// Entries that lead into each other, and as many that lead beyond the end of the file, from which on a table holds garbage.
const GARBAGE: u64 = 2;

/// Codes that a table which fits its sectors does not have, whatever blocks its entries lead to.
const MISFIT: [Code; 13] = [
    Code::BlockMoved,
    Code::BlockHalfMoved,
    Code::BlockOrphan,
    Code::BlockOwnerless,
    Code::BlockTorn,
    Code::BlockZeroed,
    Code::BlockDoubled,
    Code::BlockUnlisted,
    Code::TableGap,
    Code::TableOverlap,
    Code::TableBeyondEnd,
    Code::TableEmpty,
    Code::StaleTail,
];

/// What findings of all files add up to.
#[derive(Default)]
struct Evidence {
    all: Counts,
    /// Blocks whose entry leads to another block, or to none, while their own is elsewhere.
    displaced: u64,
    /// Those of them in files whose tables fit their sectors.
    exchanged: u64,
    /// Files with entries that lead beyond the end of the file although their blocks are before it.
    of_another: u64,
    /// Whole blocks that no entry points to, in files with other trouble.
    unowned: u64,
    /// Blocks that are torn because bytes were inserted into them or cut out of them.
    torn_by_shift: u64,
    /// The most torn blocks in one file.
    torn_in_one: u64,
    /// Damaged blocks in region files of versions 1 and 2.
    old_version: u64,
    /// Entries of tables that lead into each other and beyond the end of their file, in files that have both.
    garbage: u64,
    /// Damaged region files whose length is a multiple of a page of a disk.
    at_page: u64,
    /// Findings above note that no rule explains: those of unknown data, and all others.
    foreign: u64,
    damaged: u64,
    /// Files that end too early, and those of them whose length is a multiple of a copy buffer.
    cut: u64,
    cut_at_buffer: u64,
    /// Files whose line feeds all follow carriage returns: their names.
    converted: Vec<Arc<str>>,
    /// Meta files of block files that are missing.
    no_block_meta: u64,
}

/// Codes of files that end too early.
const CUT: [Code; 11] = [
    Code::CopyCut,
    Code::TableBeyondEnd,
    Code::RegionHeaderCut,
    Code::RegionTableCut,
    Code::BlockPrefixCut,
    Code::StreamCut,
    Code::PakBeyondEnd,
    Code::PakRecordsCut,
    Code::NpyTruncated,
    Code::NpyCut,
    Code::PakHeaderCut,
];

/// Codes of files that a copy converted as text.
const TEXT: [Code; 3] = [Code::CopyCrlf, Code::CopyLf, Code::CopyEncoding];

/// Codes of bytes that were inserted or cut out.
const SHIFTED: [Code; 3] = [Code::PakShifted, Code::RegionShifted, Code::StreamShifted];

/// Codes of damaged bytes in the header of a region file.
const HEADER: [Code; 5] =
    [Code::RegionBlockSize, Code::RegionDepth, Code::RegionLayout, Code::RegionPalette, Code::RegionSize];

/// Codes that converted line breaks cause.
const UNREADABLE: [Code; 9] = [
    Code::ContainerCorrupt,
    Code::ContainerMode,
    Code::ContainerDeclared,
    Code::BlockPrefix,
    Code::NpyMagic,
    Code::NpyHeader,
    Code::StreamPage,
    Code::PakZlib,
    Code::RegionNotRegion,
];

fn count(counts: &Counts, codes: &[Code]) -> u64 {
    codes.iter().filter_map(|code| counts.get(code)).sum()
}

/// `1 block`, `2 blocks`.
fn number(n: u64, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

impl Evidence {
    fn gather(findings: &Findings, save: &Save) -> Self {
        let mut evidence = Self::default();
        let files: BTreeMap<String, File<'_>> = save.files().map(|file| (save.shown(&file.path()), file)).collect();
        let mut searched = 0;
        for (name, counts) in &findings.files {
            let is_missing =
                |fault: &&Fault| fault.damage.found == Value::Words("missing") && save.shown(&fault.path) == **name;
            if counts.contains_key(&Code::BlockFilesMeta) && save.faults.iter().any(|fault| is_missing(&fault)) {
                evidence.no_block_meta += 1;
            }
            for (code, n) in counts {
                *evidence.all.entry(*code).or_default() += n;
            }
            let displaced = count(counts, &[Code::BlockMisplaced, Code::BlockMoved, Code::BlockHalfMoved]);
            evidence.displaced += displaced;
            evidence.exchanged += if count(counts, &MISFIT) == 0 { displaced } else { 0 };
            evidence.unowned += count(counts, &[Code::BlockOrphan, Code::BlockOwnerless]);
            evidence.torn_in_one = evidence.torn_in_one.max(count(counts, &[Code::BlockTorn]));
            evidence.torn_by_shift += count(counts, &SHIFTED).min(count(counts, &[Code::BlockTorn]));
            evidence.foreign += count(counts, &FOREIGN);
            let above_note = counts.iter().filter(|(code, _)| code.level() > Level::Note);
            evidence.damaged += above_note.map(|(_, n)| n).sum::<u64>();
            let entries = [count(counts, &[Code::TableOverlap]), count(counts, &[Code::TableBeyondEnd])];
            let garbage = entries.iter().all(|n| *n >= GARBAGE);
            evidence.garbage += if garbage { entries.iter().sum() } else { 0 };
            let Some(file) = files.get(&**name) else { continue };
            if let File::Region(_, region) = file
                && region.header.as_ref().is_some_and(|header| header.version < 3)
            {
                let unreadable = [Code::ContainerCorrupt, Code::ContainerEmpty, Code::ContainerMode, Code::BlockPrefix];
                evidence.old_version += count(counts, &unreadable);
            }
            if let File::Region(_, region) = file {
                let is = region.len > 0 && region.len.is_multiple_of(COPY_BUFFER);
                evidence.at_page += u64::from(is && count(counts, &WRITING) > 0);
            }
            // Of a file that was cut off, what its entries lead to beyond the end is nowhere else.
            let beyond = count(counts, &[Code::TableBeyondEnd]);
            let of_another = !garbage && displaced > 0 && beyond > count(counts, &[Code::BlockTorn]);
            evidence.of_another += u64::from(of_another);
            // Garbage in a table says nothing about the end of its file.
            if count(counts, &CUT) > 0 && !garbage && !of_another {
                evidence.cut += 1;
                evidence.cut_at_buffer += u64::from(!file.is_empty() && file.len().is_multiple_of(COPY_BUFFER));
            }
            if count(counts, &UNREADABLE) > 0 && searched < SEARCHED {
                searched += 1;
                if has_converted_lines(*file) {
                    evidence.converted.push(Arc::clone(name));
                }
            }
        }
        evidence
    }

    fn count(&self, codes: &[Code]) -> u64 {
        count(&self.all, codes)
    }

    fn has(&self, code: Code) -> bool {
        self.all.contains_key(&code)
    }

    fn in_use(&self) -> Option<Cause> {
        let changed = self.count(&[Code::FileChanged]);
        if changed > 0 {
            let evidence = vec![format!("{} changed while it was read", number(changed, "file"))];
            return Some(Cause::new(CauseKind::InUse, 0, evidence, &[]));
        }
        // A program that closes a database moves its log into it.
        let logs = self.count(&[Code::StreamWal]);
        let evidence = vec![format!("{} of saves that are not in the database yet", number(logs, "write-ahead log"))];
        (logs > 0).then(|| Cause::new(CauseKind::InUse, 0, evidence, &[CauseKind::Killed]))
    }

    fn text(&self) -> Option<Cause> {
        let rewritten = self.count(&TEXT);
        let mut evidence = Vec::new();
        if rewritten > 0 {
            evidence.push(format!("the bytes of {} were converted as text", number(rewritten, "file")));
        }
        if let Some(name) = self.converted.first() {
            evidence.push(format!("every line feed in {name} follows a carriage return"));
        }
        if evidence.is_empty() {
            return None;
        }
        let blocks = self.count(&UNREADABLE);
        Some(Cause::new(CauseKind::TextConverted, blocks, evidence, &[]))
    }

    /// What copying and moving of files did.
    fn copy(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        let missing = self.count(&[Code::MetaMissing, Code::MapFileMissing]).saturating_add(self.no_block_meta);
        let mut evidence = Vec::new();
        if self.has(Code::ForestEmpty) {
            evidence.push("the forest has no block: it is new, or its region files were not copied".to_owned());
        }
        if self.has(Code::LodGap) {
            evidence.push("a LOD has no region file although a higher one has blocks".to_owned());
        }
        if missing > 0 {
            evidence.push(format!("{missing} of the files that the save needs {} missing", are(missing)));
        }
        let regions = self.count(&[Code::RegionMissing]);
        if regions > 0 {
            evidence.push(format!("{} {} missing", number(regions, "region file"), are(regions)));
        }
        if !evidence.is_empty() {
            causes.push(Cause::new(CauseKind::CopyIncomplete, 0, evidence, &[]));
        }
        causes.extend(self.renamed());
        let shifted = self.count(&SHIFTED);
        if shifted > 0 {
            let evidence = format!("bytes were inserted or cut out at {}", number(shifted, "place"));
            causes.push(Cause::new(CauseKind::Storage, self.torn_by_shift, vec![evidence], &[]));
        }
        if self.garbage > 0 {
            // There are at least twice as many as [`GARBAGE`].
            let evidence =
                format!("{} entries of tables lead into each other or beyond the end of the file", self.garbage);
            causes.push(Cause::new(CauseKind::Storage, 0, vec![evidence], &[CauseKind::PowerLost]));
        }
        if self.of_another > 0 {
            let evidence = format!(
                "{} {} beyond the end of the file to blocks that are before it",
                number(self.of_another, "table"),
                if self.of_another == 1 { "leads" } else { "lead" }
            );
            let others = [CauseKind::Mixed, CauseKind::DiskFull];
            causes.push(Cause::new(CauseKind::TableChanged, self.displaced, vec![evidence], &others));
        }
        // The engine never truncates, so a file is cut off by something else.
        if self.cut > 0 {
            let blocks = self.count(&[Code::TableBeyondEnd, Code::PakBeyondEnd, Code::BlockPrefixCut]);
            let mut evidence =
                vec![format!("{} {} before its last block does", number(self.cut, "file"), ends(self.cut))];
            let buffer = self.cut_at_buffer == self.cut || self.has(Code::CopyCut);
            if buffer {
                evidence.push("the length is one that a copy which broke off has".to_owned());
            }
            let (kind, other) = match buffer {
                true => (CauseKind::CopyCut, CauseKind::DiskFull),
                false => (CauseKind::DiskFull, CauseKind::CopyCut),
            };
            causes.push(Cause::new(kind, blocks, evidence, &[other]));
        }
        if self.has(Code::MetaDiffers) || self.has(Code::MetaLods) {
            let n = self.count(&[Code::MetaDiffers, Code::MetaLods]);
            let evidence = vec![format!("the layout of {} differs from that of the meta file", number(n, "file"))];
            causes.push(Cause::new(CauseKind::Mixed, 0, evidence, &[]));
        }
        causes
    }

    /// Files whose names are not those that the game gave them.
    fn renamed(&self) -> Option<Cause> {
        let has = |n| if n == 1 { "has" } else { "have" };
        let mut evidence = Vec::new();
        let misnamed = self.count(&[Code::RegionMisnamed]);
        if misnamed > 0 {
            let files = number(misnamed, "region file");
            evidence.push(format!("{files} {} borders that continue those of other places", has(misnamed)));
        }
        let copied = self.count(&[Code::CopyName]);
        if copied > 0 {
            evidence.push(format!("a copy changed the name of {}", number(copied, "file")));
        }
        let elsewhere = self.count(&[Code::PakPlace]);
        if elsewhere > 0 {
            let files = number(elsewhere, "pak region");
            evidence.push(format!("the chunks of {files} cannot be where the name of the file has them"));
        }
        let paks = self.count(&[Code::PakName, Code::PakDuplicate]);
        for (names, file) in [(paks, "pak region"), (self.count(&[Code::BlockFileName]), "block file")] {
            if names > 0 {
                let what = if names == 1 { "a name" } else { "names" };
                evidence.push(format!("{} {} {what} that the game does not look for", number(names, file), has(names)));
            }
        }
        (!evidence.is_empty()).then(|| Cause::new(CauseKind::Renamed, 0, evidence, &[]))
    }

    /// What happened while a game saved.
    fn writing(&self) -> Vec<Cause> {
        let torn = self.count(&[Code::BlockTorn]).saturating_sub(self.torn_by_shift);
        let zeroed = self.count(&[Code::BlockZeroed, Code::PageZeroed]);
        let empty = self.has(Code::TableEmpty);
        let mut evidence = Vec::new();
        let mut add = |n: u64, words: String| {
            if n > 0 {
                evidence.push(words);
            }
        };
        add(u64::from(empty), "a table is empty although blocks follow it".to_owned());
        add(self.displaced, format!("{} not where the table has {}", verb(self.displaced), them(self.displaced)));
        add(self.unowned, format!("{} that no table entry points to", number(self.unowned, "whole block")));
        add(torn, format!("{} written in part", verb(torn)));
        add(zeroed, format!("{} of zeros where data was", number(zeroed, "run")));
        let table = self.count(&[Code::TableGap, Code::TableOverlap]);
        add(table, format!("{} of table entries that contradict each other", number(table, "pair")));
        let doubled = self.count(&[Code::BlockDoubled]);
        add(doubled, format!("{} stored twice", verb(doubled)));
        let bare = self.count(&BARE);
        add(bare, format!("{} without a byte in {}", number(bare, "file"), them(bare)));
        let hot = self.count(&[Code::StreamJournal]);
        add(hot, "a journal of a save that was not finished".to_owned());
        let blocks = self.displaced + self.unowned + torn + zeroed;

        let second = self.has(Code::TableOverlap)
            || (!empty && torn > 0 && self.unowned >= MANY_UNOWNED && self.unowned > self.displaced.saturating_mul(2));
        // A killed game loses whole buffers too, so zeros in a file whose blocks moved are no sign of a power loss.
        let zeros = self.has(Code::BlockZeroed) || (self.has(Code::PageZeroed) && self.displaced == 0);
        // A killed game tears one block of a file and leaves many behind that are displaced.
        let torn_alone = torn >= MANY_TORN && torn >= self.displaced;
        let power = zeros || self.torn_in_one >= MANY_TORN || torn_alone;
        let by_table = empty || self.displaced > 0 || self.unowned > 0 || doubled > 0 || self.has(Code::TableGap);
        // No save leaves a table that fits its sectors and leads to blocks of other positions, unless all take as many.
        let exchanged = self.exchanged > 0 && self.exchanged == self.displaced;
        let exchanged = exchanged && !empty && self.unowned + torn + zeroed + table + doubled == 0;
        let (kind, others): (_, &[CauseKind]) = match () {
            () if self.old_version > 0 && (by_table || torn > 0 || self.has(Code::PlaceDoubt)) => {
                add_version(&mut evidence, self.old_version);
                (CauseKind::Migration, &[CauseKind::Killed])
            }
            () if second && power => (CauseKind::PowerLost, &[CauseKind::TwoWriters, CauseKind::Killed]),
            () if exchanged => {
                evidence.push("every entry of their tables leads to a whole block, and every block has one".to_owned());
                (CauseKind::TableChanged, &[CauseKind::Killed])
            }
            () if second && torn == 0 => (CauseKind::TwoWriters, &[CauseKind::Killed, CauseKind::TableChanged]),
            () if second => (CauseKind::TwoWriters, &[CauseKind::Killed]),
            () if power && by_table => (CauseKind::PowerLost, &[CauseKind::Killed]),
            () if power => (CauseKind::PowerLost, &[CauseKind::Killed, CauseKind::Storage]),
            // What needs no new room works on a full disk; the file ends with the last page that it got.
            () if by_table && !empty && self.displaced == 0 && torn == 0 && self.at_page > 0 => {
                evidence.push("the file ends at a page of the disk".to_owned());
                (CauseKind::DiskFull, &[CauseKind::Killed])
            }
            // Where no block moved, a hole in a table is an entry that was lost.
            () if by_table && self.has(Code::TableGap) && self.displaced == 0 => {
                (CauseKind::Killed, &[CauseKind::TableChanged])
            }
            () if by_table => (CauseKind::Killed, &[]),
            () if hot > 0 => (CauseKind::Killed, &[CauseKind::InUse]),
            () if torn > 0 => (CauseKind::Killed, &[CauseKind::Storage]),
            () if self.has(Code::BlockUnlisted) => {
                let n = self.count(&[Code::BlockUnlisted]);
                let words = format!("{} behind the last listed one", number(n, "whole block"));
                let evidence = vec![words];
                return vec![Cause::new(CauseKind::Killed, n, evidence, &[CauseKind::OldStates])];
            }
            () if bare > 0 => (CauseKind::Killed, &[CauseKind::PowerLost, CauseKind::DiskFull]),
            () if self.has(Code::MetaUnreadable) => {
                evidence.push("the meta file is empty or ends too early".to_owned());
                (CauseKind::Killed, &[CauseKind::DiskFull, CauseKind::Storage])
            }
            () if self.has(Code::SectorCut) => {
                evidence.push("a file ends inside the last sector of a whole block".to_owned());
                (CauseKind::Killed, &[CauseKind::CopyCut, CauseKind::DiskFull])
            }
            () => return Vec::new(),
        };
        vec![Cause::new(kind, blocks, evidence, others)]
    }

    /// What is left when no rule names a cause: bytes that no program writes so, or data of another program.
    fn unexplained(&self) -> Option<Cause> {
        let foreign = format!("{} of data that another program or engine writes", number(self.foreign, "finding"));
        let rest = self.damaged.saturating_sub(self.foreign);
        let damaged = format!("{} that nothing else explains", number(rest, "finding"));
        let header = self.count(&HEADER);
        Some(match (self.foreign, rest) {
            (0, 0) => return None,
            (0, n) if n == header => {
                let evidence = format!("{} in headers of region files, and none elsewhere", number(n, "finding"));
                Cause::new(CauseKind::Storage, 0, vec![evidence], &[])
            }
            (0, _) => Cause::new(CauseKind::Storage, 0, vec![damaged], &[CauseKind::Foreign]),
            (_, 0) => Cause::new(CauseKind::Foreign, 0, vec![foreign], &[CauseKind::Storage]),
            _ => Cause::new(CauseKind::Storage, 0, vec![damaged, foreign], &[CauseKind::Foreign]),
        })
    }

    /// What an engine left, or did with another formula.
    fn engine(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        if self.has(Code::ConversionLeft) {
            let evidence = vec!["the save as it was before a conversion is beside it".to_owned()];
            causes.push(Cause::new(CauseKind::Conversion, 0, evidence, &[CauseKind::Converted]));
        }
        let refused = self.count(&SETTINGS);
        if refused > 0 {
            let evidence = vec![format!("the engine does not save into {}", number(refused, "file"))];
            causes.push(Cause::new(CauseKind::Settings, 0, evidence, &[]));
        }
        let keys = self.count(&[Code::StreamKeyRule]);
        if keys > 0 {
            let has = if keys == 1 { "has" } else { "have" };
            let evidence = format!("{} {has} keys above LOD 0 by the rule of that time", number(keys, "stream"));
            causes.push(Cause::new(CauseKind::OldKeys, 0, vec![evidence], &[]));
        }
        let slots = self.count(&[Code::SlotsMixed]);
        if slots > 0 && self.displaced == 0 {
            let evidence =
                vec![format!("{} with blocks of engines before and after the change", number(slots, "file"))];
            causes.push(Cause::new(CauseKind::OldSlots, 0, evidence, &[]));
        }
        causes
    }
}

fn add_version(evidence: &mut Vec<String>, n: u64) {
    evidence.push(format!("{} in region files of an older version", number(n, "damaged block")));
}

const fn are(n: u64) -> &'static str {
    if n == 1 { "is" } else { "are" }
}

const fn ends(n: u64) -> &'static str {
    if n == 1 { "ends" } else { "end" }
}

const fn them(n: u64) -> &'static str {
    if n == 1 { "it" } else { "them" }
}

fn verb(n: u64) -> String {
    format!("{} {}", number(n, "block"), are(n))
}

/// Whether all line feeds at the beginning of a file follow carriage returns.
fn has_converted_lines(file: File<'_>) -> bool {
    if matches!(file, File::Map(_)) {
        return false;
    }
    let mut bytes = Vec::new();
    let read = FileSource::open(&file.path()).ok().and_then(|source| source.read_into(0, PREFIX, &mut bytes).ok());
    let pairs = || bytes.windows(2).filter(|pair| pair.get(1) == Some(&b'\n'));
    read.is_some() && pairs().count() >= LINE_FEEDS && pairs().all(|pair| pair.first() == Some(&b'\r'))
}
