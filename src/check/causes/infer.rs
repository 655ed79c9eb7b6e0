//! The rules that infer causes from evidence.

use crate::check::cause::{Cause, CauseKind};
use crate::check::causes::codes::{CUT, FOREIGN, HEADER, META, SHIFTED, TEXT, UNREADABLE};
use crate::check::causes::evidence::Evidence;
use crate::damage::Code;
use crate::printable::{are, count, grouped, its};

/// Torn blocks in one file from which on more happened than one interrupted write.
const MANY_TORN: u64 = 2;

/// Least number of unowned blocks that suggests a second writer, if at least half as many blocks are unowned as displaced.
const MANY_UNOWNED: u64 = 8;

impl Evidence {
    pub(super) fn in_use(&self) -> Option<Cause> {
        let changed = self.count(&[Code::FileChanged]);
        if changed > 0 {
            let evidence = vec![format!("{} changed while it was read", count(changed, "file"))];
            return Some(Cause::new(CauseKind::InUse, 0, evidence, &[]));
        }
        // A program that closes a database moves its log into it.
        let logs = self.count(&[Code::StreamWal]);
        let evidence = vec![format!("{} of saves that are not in the database yet", count(logs, "write-ahead log"))];
        (logs > 0).then(|| Cause::new(CauseKind::InUse, 0, evidence, &[CauseKind::Killed]))
    }

    pub(super) fn text(&self) -> Option<Cause> {
        let rewritten = self.count(&TEXT);
        let mut evidence = Vec::new();
        if rewritten > 0 {
            evidence.push(format!("the bytes of {} were converted as text", count(rewritten, "file")));
        }
        if let Some((_, sign)) = self.converted.first() {
            evidence.push(sign.clone());
        }
        if evidence.is_empty() {
            return None;
        }
        let blocks = self.blocks_with(|code| UNREADABLE.contains(&code));
        Some(Cause::new(CauseKind::TextConverted, blocks, evidence, &[]))
    }

    /// What copying and moving of files did.
    pub(super) fn copy(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        let missing = self.count(&[Code::MetaMissing, Code::MapFileMissing]).saturating_add(self.no_block_meta);
        let mut evidence = Vec::new();
        if self.has(Code::ForestEmpty) {
            evidence.push("the forest has no block".to_owned());
        }
        if self.has(Code::LodGap) {
            evidence.push("a LOD has no region file although a higher one has blocks".to_owned());
        }
        if missing == 1 && self.has(Code::MetaMissing) {
            evidence.push("`meta.vxrm` is missing".to_owned());
        } else if missing > 0 {
            evidence.push(format!("{missing} of the files that the save needs {} missing", are(missing)));
        }
        let regions = self.count(&[Code::RegionMissing]);
        if regions > 0 {
            evidence.push(format!("{} {} missing", count(regions, "region file"), are(regions)));
        }
        if !evidence.is_empty() {
            // Alone it shows nothing: a LOD may never have been saved.
            let lods = self.lods_missing;
            if lods > 0 {
                evidence.push(format!("{lods} of the LODs that the meta file counts {} no file", has(lods)));
            }
            let is_empty_only = self.has(Code::ForestEmpty) && missing + regions == 0 && !self.has(Code::LodGap);
            let others: &[CauseKind] = if is_empty_only { &[CauseKind::NewWorld] } else { &[] };
            causes.push(Cause::new(CauseKind::CopyIncomplete, 0, evidence, others));
        }
        causes.extend(self.renamed());
        let [regions, paks] = [Code::RegionCopied, Code::PakCopied].map(|code| self.count(&[code]));
        if regions + paks > 0 {
            let mut evidence = Vec::new();
            if regions > 0 {
                evidence.push(format!("{} {} the blocks of another one", count(regions, "region file"), has(regions)));
            }
            if paks > 0 {
                evidence.push(format!("{} {} the chunks of another one", count(paks, "pak region"), has(paks)));
            }
            let step = if regions > 0 { Code::RegionCopied } else { Code::PakCopied };
            causes.push(Cause::new(CauseKind::Copied, 0, evidence, &[]).with_step(Some(step)));
        }
        let shifted = self.count(&SHIFTED);
        if shifted > 0 {
            let mut evidence = vec![format!("bytes were inserted or cut out at {}", count(shifted, "place"))];
            if self.displaced_by_shift > 0 {
                let blocks = count(self.displaced_by_shift, "block");
                evidence.push(format!("behind such a place in a table, entries lead to {blocks} of other positions"));
            }
            let blocks = self.torn_by_shift.max(self.blocks_with(|code| CauseKind::Storage.explains(code)));
            let cause = Cause::new(CauseKind::Storage, blocks.max(self.displaced_by_shift), evidence, &[]);
            // The changed table explains the misplaced blocks.
            causes.push(Cause { covers_rest: self.displaced_by_shift > 0, ..cause });
        }
        if self.garbage > 0 {
            // There are at least twice as many as [`GARBAGE`].
            let evidence =
                format!("{} entries of tables lead into each other or beyond the end of the file", self.garbage);
            let blocks = self.blocks_with(|code| matches!(code, Code::TableOverlap | Code::TableBeyondEnd));
            let cause = Cause::new(CauseKind::Storage, blocks, vec![evidence], &[CauseKind::PowerLost]);
            // The damaged entries explain the damaged blocks.
            causes.push(Cause { covers_rest: true, ..cause });
        }
        if self.of_another > 0 {
            let evidence = format!(
                "{} {} beyond the end of the file to blocks that are before it",
                count(self.of_another, "table"),
                if self.of_another == 1 { "leads" } else { "lead" }
            );
            let others = [CauseKind::Mixed, CauseKind::DiskFull];
            causes.push(Cause::new(CauseKind::TableChanged, self.displaced, vec![evidence], &others));
        }
        let tables = self.count(&[Code::TableForeign]);
        if tables > 0 {
            let what = if tables == 1 { "the table" } else { "the tables" };
            let evidence = format!("the blocks of {} fit {what} of others", count(tables, "region file"));
            let cause = Cause::new(CauseKind::TableChanged, self.displaced_by_table, vec![evidence], &[]);
            // What such a table leads to needs no other cause.
            causes.push(Cause { covers_rest: true, ..cause }.with_step(Some(Code::TableForeign)));
        }
        let keys = self.count(&[Code::StreamMisplaced]);
        if keys > 0 {
            let evidence = match keys {
                1 => "1 row of a stream has the key of another block".to_owned(),
                n => format!("{} rows of streams have the keys of other blocks", grouped(n)),
            };
            causes.push(Cause::new(CauseKind::TableChanged, keys, vec![evidence], &[]));
        }
        // The engine never truncates, so a file is cut off by something else.
        if self.cut > 0 {
            let blocks = self.blocks_with(|code| CUT.contains(&code)).saturating_add(self.cut_block_files);
            let mut evidence =
                vec![format!("{} {} before its last block does", count(self.cut, "file"), ends(self.cut))];
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
        if self.agreeing == 0 {
            let evidence = self.differing_files();
            causes.extend((!evidence.is_empty()).then(|| Cause::new(CauseKind::Mixed, 0, evidence, &[])));
        }
        causes
    }

    /// A meta file that differs from all region files, which agree with each other.
    pub(super) fn changed_meta(&self) -> Option<Cause> {
        if self.against_options > 0 {
            let evidence = vec!["the meta file has another layout than the options that were given".to_owned()];
            return Some(Cause::new(CauseKind::Foreign, 0, evidence, &[]));
        }
        if self.agreeing == 0 {
            return None;
        }
        let mut evidence = self.differing_files();
        let files = count(self.agreeing, "region file");
        evidence.push(format!("{files} agree with each other, so that the meta file was changed or replaced"));
        let step = [Code::MetaDiffers, Code::MetaLods].into_iter().find(|code| self.has(*code));
        Some(Cause::new(CauseKind::Foreign, 0, evidence, &[CauseKind::Mixed]).with_step(step))
    }

    /// What differs from the meta files.
    fn differing_files(&self) -> Vec<String> {
        let mut evidence = Vec::new();
        if self.differing > 0 {
            let files = count(self.differing, "region file");
            evidence.push(format!("the layout of {files} differs from that of the meta file"));
        }
        let lods = self.count(&[Code::MetaLods]);
        if lods > 0 {
            let what = count(lods, "LOD");
            evidence.push(format!("{what} with region files {} beyond the LODs that the meta file counts", are(lods)));
        }
        evidence
    }

    /// Files whose names are not those that the game gave them.
    fn renamed(&self) -> Option<Cause> {
        let mut evidence = Vec::new();
        let misnamed = self.count(&[Code::RegionMisnamed]);
        if misnamed > 0 {
            let files = count(misnamed, "region file");
            evidence.push(format!("{files} {} borders that continue those of other places", has(misnamed)));
        }
        let copied = self.count(&[Code::CopyName]);
        if copied > 0 {
            evidence.push(format!("a copy changed the name of {}", count(copied, "file")));
        }
        let unread = self.count(&[Code::NameRegion]);
        if unread > 0 {
            let (files, what) = (count(unread, "file"), if unread == 1 { "a name" } else { "names" });
            evidence.push(format!("{files} {} {what} that the game does not look for", has(unread)));
        }
        let elsewhere = self.count(&[Code::PakPlace]);
        if elsewhere > 0 {
            let files = count(elsewhere, "pak region");
            evidence.push(format!("the chunks of {files} cannot be where the name of the file has them"));
        }
        let paks = self.count(&[Code::PakName, Code::PakDuplicate]);
        for (names, file) in [(paks, "pak region"), (self.count(&[Code::BlockFileName]), "block file")] {
            if names > 0 {
                let what = if names == 1 { "a name" } else { "names" };
                evidence.push(format!("{} {} {what} that the game does not look for", count(names, file), has(names)));
            }
        }
        let codes = [Code::NameRegion, Code::PakPlace, Code::PakName, Code::PakDuplicate, Code::BlockFileName];
        let step = codes.into_iter().find(|code| self.has(*code));
        (!evidence.is_empty()).then(|| Cause::new(CauseKind::Renamed, 0, evidence, &[]).with_step(step))
    }

    /// What happened while a game saved.
    pub(super) fn writing(&self) -> Vec<Cause> {
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
        // These are entries of tables and places in files. Only a repair shows how many blocks are concerned.
        add(
            self.displaced,
            match self.displaced {
                1 => "1 table entry does not lead to the block of its position".to_owned(),
                n => format!("{} table entries do not lead to the blocks of their positions", grouped(n)),
            },
        );
        add(
            self.unowned,
            format!("{}, maybe of older saves, that no table entry points to", count(self.unowned, "whole block")),
        );
        add(torn, format!("{} where a block was written in part", count(torn, "place")));
        add(zeroed, format!("{} of zeros where data was", count(zeroed, "run")));
        let table = self.count(&[Code::TableGap, Code::TableOverlap]);
        add(table, format!("{} of table entries that contradict each other", count(table, "pair")));
        let doubled = self.count(&[Code::BlockDoubled]);
        add(doubled, format!("{} stored twice", verb(doubled)));
        add(self.empty, format!("{} without a byte in {}", count(self.empty, "file"), them(self.empty)));
        add(self.zeroed, format!("{} with zeros at {} beginning", count(self.zeroed, "file"), its(self.zeroed)));
        let hot = self.count(&[Code::StreamJournal]);
        add(hot, "a journal of a save that was not finished".to_owned());
        let blocks = self.displaced + self.unowned + torn + zeroed;

        let second = self.has(Code::TableOverlap)
            || (!empty && torn > 0 && self.unowned >= MANY_UNOWNED && self.unowned > self.displaced.saturating_mul(2));
        // A killed game loses whole buffers too, so zeros in a file whose blocks moved are no sign of a power loss.
        let zeros = self.has(Code::BlockZeroed) || (self.has(Code::PageZeroed) && self.displaced == 0);
        // A killed game tears one block of a file and leaves many behind that are displaced.
        let torn_alone = torn >= MANY_TORN && torn >= self.displaced;
        let power = zeros || self.zeroed > 0 || self.torn_in_one >= MANY_TORN || torn_alone;
        let by_table = empty || self.displaced > 0 || self.unowned > 0 || doubled > 0 || self.has(Code::TableGap);
        // No save leaves a table that fits its sectors and leads to blocks of other positions, unless all take as many.
        let exchanged = self.exchanged > 0 && self.exchanged == self.displaced;
        let exchanged = exchanged && !empty && self.unowned + torn + zeroed + table + doubled == 0;
        let (kind, others): (_, &[CauseKind]) = match () {
            // A migration moves all blocks, and leaves more of them unreadable than torn.
            () if self.old_version > torn && (by_table || torn > 0 || self.has(Code::PlaceDoubt)) => {
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
            () if power && by_table && self.unowned >= MANY_UNOWNED && 2 * self.unowned >= self.displaced => {
                (CauseKind::PowerLost, &[CauseKind::TwoWriters, CauseKind::Killed])
            }
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
                let words = format!("{} behind the last listed one", count(n, "whole block"));
                let evidence = vec![words];
                return vec![Cause::new(CauseKind::Killed, n, evidence, &[CauseKind::OldStates])];
            }
            () if self.empty > 0 => (CauseKind::Killed, &[CauseKind::PowerLost, CauseKind::DiskFull]),
            () if self.cut_texts > 0 => {
                let n = self.cut_texts;
                evidence.push(format!("the JSON text of {} {} too early", count(n, "file"), ends(n)));
                (CauseKind::Killed, &[CauseKind::DiskFull, CauseKind::CopyCut])
            }
            () if self.has(Code::SectorCut) => {
                evidence.push("a file ends inside the last sector of a whole block".to_owned());
                (CauseKind::Killed, &[CauseKind::CopyCut, CauseKind::DiskFull])
            }
            () => return Vec::new(),
        };
        let shown = self.empty + self.zeroed + self.cut_texts;
        // What cannot be read of such files needs no other cause.
        let covers_rest = shown > 0 && shown == self.unread;
        vec![Cause { covers_rest, ..Cause::new(kind, blocks, evidence, others) }]
    }

    /// What is left of the damage that causes do not explain: bytes that no program writes so, or data of another program. `None`
    /// where nothing shows that bytes were changed.
    pub(super) fn unexplained(&self, causes: &[Cause]) -> Option<Cause> {
        let is_explained = |code: Code| {
            let by_meta =
                self.agreeing + self.against_options > 0 && (META.contains(&code) || code == Code::RegionRefused);
            by_meta || causes.iter().any(|cause| cause.kind.explains(code))
        };
        let all = || self.all.iter().filter(|(code, _)| CauseKind::is_rest(**code) && !is_explained(**code));
        let of =
            |is_foreign: bool| all().filter(|(code, _)| FOREIGN.contains(code) == is_foreign).map(|(_, n)| n).sum();
        let (unknown, rest): (u64, u64) = (of(true), of(false));
        // No disk and no transfer makes text of a file.
        if self.texts > 0 && self.of_texts == unknown + rest {
            let (files, are) = (count(self.texts, "file"), are(self.texts));
            let evidence = vec![format!("{files} that should hold data {are} text")];
            let cause = Cause::new(CauseKind::Foreign, self.blocks_with(CauseKind::is_rest), evidence, &[]);
            return Some(Cause { covers_rest: true, ..cause });
        }
        let foreign = format!("{} of data that another program or engine writes", count(unknown, "finding"));
        let damaged = format!("{} of bytes that no engine writes", count(rest, "finding"));
        // Without a cause of its own, a header that differs from the meta file is damaged.
        let is_of_header = |code: Code| HEADER.contains(&code) || code == Code::MetaDiffers;
        let header: u64 = all().filter(|(code, _)| is_of_header(**code)).map(|(_, n)| n).sum();
        let blocks = self.blocks_with(CauseKind::is_rest);
        let cause = match (unknown, rest) {
            (0, 0) => return None,
            (0, n) if n == header => {
                let evidence = format!("{} in headers of region files, and none elsewhere", count(n, "finding"));
                Cause::new(CauseKind::Storage, blocks, vec![evidence], &[])
            }
            (0, _) => Cause::new(CauseKind::Storage, blocks, vec![damaged], &[CauseKind::Foreign]),
            (_, 0) => Cause::new(CauseKind::Foreign, blocks, vec![foreign], &[CauseKind::Storage]),
            _ => Cause::new(CauseKind::Storage, blocks, vec![damaged, foreign], &[CauseKind::Foreign]),
        };
        Some(Cause { covers_rest: true, ..cause })
    }

    /// Damaged headers of region files beside what other causes did: no game writes the header of a file a second time.
    pub(super) fn headers(&self, causes: &[Cause]) -> Option<Cause> {
        let is_explained = |code: Code| {
            causes.iter().any(|cause| cause.kind.explains(code) || (cause.covers_rest && CauseKind::is_rest(code)))
        };
        let codes: Vec<Code> = HEADER.into_iter().filter(|code| self.has(*code) && !is_explained(*code)).collect();
        let n = self.count(&codes);
        let evidence = format!("{} in headers of region files", count(n, "finding"));
        (n > 0).then(|| Cause::new(CauseKind::Storage, 0, vec![evidence], &[]))
    }

    /// What an engine left, or did with another formula.
    pub(super) fn engine(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        if self.has(Code::ConversionLeft) {
            let evidence = vec!["the save as it was before a conversion is beside it".to_owned()];
            causes.push(
                Cause::new(CauseKind::Conversion, 0, evidence, &[CauseKind::Converted])
                    .with_step(Some(Code::ConversionLeft)),
            );
        }
        if self.refused > 0 {
            let evidence = vec![format!("the engine does not save into {}", count(self.refused, "file"))];
            causes.push(Cause::new(CauseKind::Settings, 0, evidence, &[]).with_step(self.refused_by));
        }
        let keys = self.count(&[Code::StreamKeyRule]);
        if keys > 0 {
            let has = if keys == 1 { "has" } else { "have" };
            let evidence = format!("{} {has} keys above LOD 0 by the rule of that time", count(keys, "stream"));
            causes.push(Cause::new(CauseKind::OldKeys, 0, vec![evidence], &[]));
        }
        if self.old_formula + self.given_formula > 0 {
            let evidence = match self.given_formula {
                0 => "borders between blocks continue by the old formula only".to_owned(),
                n => format!("`--slots old` says so of the blocks of {}", count(n, "file")),
            };
            causes.push(Cause::new(CauseKind::OldFormula, 0, vec![evidence], &[]));
        }
        let slots = self.count(&[Code::SlotsMixed]);
        if slots > 0 && self.displaced == 0 {
            let evidence = vec![format!("{} with blocks of engines before and after the change", count(slots, "file"))];
            causes.push(Cause::new(CauseKind::OldSlots, 0, evidence, &[]).with_step(Some(Code::SlotsMixed)));
        }
        causes
    }
}

fn add_version(evidence: &mut Vec<String>, n: u64) {
    evidence.push(format!("{} in region files of an older version", count(n, "damaged block")));
}

const fn has(n: u64) -> &'static str {
    if n == 1 { "has" } else { "have" }
}

const fn ends(n: u64) -> &'static str {
    if n == 1 { "ends" } else { "end" }
}

const fn them(n: u64) -> &'static str {
    if n == 1 { "it" } else { "them" }
}

fn verb(n: u64) -> String {
    format!("{} {}", count(n, "block"), are(n))
}
