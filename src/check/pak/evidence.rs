//! Evidence from the blocks of a pak region: unowned chunks, and what is known of chunks whose
//! records are damaged.

use std::collections::{BTreeMap, HashMap};
use std::io;

use crate::check::{Level, Options, Report};
use crate::damage::{Code, Damage, Value};
use crate::pak::claims::Uncounted;
use crate::printable::count;
use crate::recover::pak::{self, PakAnalysis, Verdict};
use crate::save::Pak;
use crate::source::Source;

/// Decompressed bytes that the search of one file may cost.
const BUDGET: u64 = 256 << 20;

/// The analysis of one file.
pub(super) struct Evidence {
    analysis: PakAnalysis,
    by_record: HashMap<u32, Verdict>,
}

impl Evidence {
    /// Analyses the file if it is damaged or has a zlib stream in blocks that no record claims.
    pub fn gather<S: Source>(pak: &Pak<S>, trouble: bool, options: &Options<'_>) -> io::Result<Option<Self>> {
        let stop = || options.cancelled();
        let how = pak::Options { budget: BUDGET, stop: &stop };
        if !trouble && options.level < Level::Semantic && !pak::has_leftovers(pak, &how)? {
            return Ok(None);
        }
        let analysis = pak::read(pak, &how)?;
        let by_record = analysis.records.iter().map(|(number, _, verdict)| (*number, *verdict)).collect();
        Ok(Some(Self { analysis, by_record }))
    }

    /// What the analysis found of a record's chunk, in a sentence.
    pub fn describe_record(&self, number: u32) -> Option<String> {
        match self.by_record.get(&number)? {
            Verdict::Fits(stream) => Some(format!("A whole chunk is at bytes {}.", stream.span)),
            Verdict::Mended(stream, why) => Some(format!("Its chunk is whole, at bytes {}: {why}.", stream.span)),
            Verdict::Checksum(stream) => Some(format!("It decodes to its end, {}.", count(stream.plain, "byte"))),
            Verdict::Part(stream, why) => Some(format!("{} of it decode; {why}.", count(stream.plain, "byte"))),
            Verdict::Shared(_) => Some("It is not known which of the records its chunk belongs to.".to_owned()),
            Verdict::Lost(why) => Some(format!("Nothing of the chunk was found: {why}.")),
            Verdict::Over(_) => None,
        }
    }

    /// Whether the whole chunk of a record was found.
    pub fn has_chunk(&self, number: u32) -> bool {
        matches!(self.by_record.get(&number), Some(Verdict::Fits(_) | Verdict::Mended(..)))
    }

    /// What the analysis found of a damaged header field, in a sentence.
    pub fn of_header<S: Source>(&self, pak: &Pak<S>, code: Code) -> Option<String> {
        let analysis = &self.analysis;
        let right = analysis.records.iter().filter(|(_, _, v)| matches!(v, Verdict::Fits(_))).count();
        if right == 0 {
            return None;
        }
        let fits = format!("match {right} of {} by place and length", count(analysis.records.len() as u64, "chunk"));
        match code {
            Code::PakRecordCount => Some(format!("{} records would {fits}.", analysis.layout.count)),
            Code::PakFirstBlock => Some(format!("Data beginning at byte 0x{:x} would {fits}.", analysis.layout.base)),
            Code::PakOffsetReading if analysis.layout.base != base(pak) => {
                Some(format!("Data beginning at byte 0x{:x} would {fits}.", analysis.layout.base))
            }
            _ => None,
        }
    }

    /// The findings about unowned chunks, and about records that the header does not count.
    pub fn leftovers<S: Source>(&self, pak: &Pak<S>, report: &mut Report) {
        let analysis = &self.analysis;
        let declared = pak.header.records().value;
        if analysis.layout.count > declared && pak.damage.iter().all(|d| d.code != Code::PakRecordCount) {
            let damage = Uncounted::damage(analysis.layout.count, declared);
            let behind = analysis.records.iter().filter(|(number, ..)| *number >= declared).count();
            report.file(damage, Some(uncounted_words(behind as u64)));
        }
        for placed in &analysis.placed {
            let [here, next] = placed.differ.map(|share| format!("{:.1} %", share * 100.0));
            let odds = format!(
                "{here} of its outer voxels differ from those of its neighbours; at the next best place {next} do."
            );
            let (code, remark) = match placed.from {
                Some(from) => (Code::PakMisplaced, format!("The chunk of this place is that of record {from}: {odds}")),
                None => (Code::PakOrphan, format!("It belongs to record {}, which is empty: {odds}", placed.record)),
            };
            let damage = Damage::new(code, placed.stream.span, "chunk").found(Value::Bytes(placed.stream.plain));
            match placed.from {
                Some(_) => report.slot(placed.record, damage, Some(remark)),
                None => report.unowned(damage, Some(remark)),
            }
        }
        let code = if analysis.is_sound() { Code::PakUnlisted } else { Code::PakOrphan };
        for orphan in &analysis.orphans {
            let damage = Damage::new(code, orphan.stream.span, "chunk").found(Value::Bytes(orphan.stream.plain));
            let names: Vec<String> = orphan.candidates.iter().take(4).map(|(n, _)| format!("record {n}")).collect();
            let remark = (!names.is_empty()).then(|| format!("It may belong to {}.", names.join(" or ")));
            report.unowned(damage, remark);
        }
    }
}

/// Records whose chunks are those of other places, as their neighbours show.
pub(in crate::check) fn chunks_of_others<S: Source>(
    pak: &Pak<S>,
    options: &Options<'_>,
) -> io::Result<BTreeMap<u32, Code>> {
    let stop = || options.cancelled();
    let analysis = pak::read(pak, &pak::Options { budget: BUDGET, stop: &stop })?;
    let moved = analysis.placed.iter().filter_map(|placed| Some([placed.record, placed.from?]));
    Ok(moved.flatten().map(|number| (number, Code::PakMisplaced)).collect())
}

/// How many chunks the records that the header does not count have, in a sentence.
pub(in crate::check) fn uncounted_words(chunks: u64) -> String {
    match chunks {
        1 => "1 whole chunk belongs to a record that the header does not count.".to_owned(),
        n => format!("{} belong to records that the header does not count.", count(n, "whole chunk")),
    }
}

fn base<S: Source>(pak: &Pak<S>) -> i64 {
    pak.reading.value.start(&pak.header, 0).map_or(-1, u64::cast_signed)
}
