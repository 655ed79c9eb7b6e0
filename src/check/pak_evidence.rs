//! What the blocks of a pak region tell beyond its records: streams that nobody owns, and what is known of chunks whose
//! records are wrong.

use std::collections::HashMap;
use std::io;

use crate::bytes::Span;
use crate::check::{Level, Options, Report};
use crate::damage::{Code, Damage, Value};
use crate::save::Pak;
use crate::source::Source;
use crate::trace::pak::{self, Told, Verdict};

/// Bytes that streams may decode to while the blocks of one file are looked through.
const BUDGET: u64 = 256 << 20;

/// What is known of one file.
pub(super) struct Evidence {
    told: Told,
    by_record: HashMap<u32, Verdict>,
}

impl Evidence {
    /// Looks, where there is reason to: something is wrong, or a stream stands where no record claims anything.
    pub fn ask<S: Source>(pak: &Pak<S>, trouble: bool, options: &Options<'_>) -> io::Result<Option<Self>> {
        let stop = || options.cancelled();
        let how = pak::Options { budget: BUDGET, stop: &stop };
        if !trouble && options.level < Level::Semantic && !pak::has_leftovers(pak, &how)? {
            return Ok(None);
        }
        let told = pak::read(pak, &how)?;
        let by_record = told.records.iter().map(|(number, _, verdict)| (*number, *verdict)).collect();
        Ok(Some(Self { told, by_record }))
    }

    /// What is known of the chunk of a record, in a sentence.
    pub fn of(&self, number: u32) -> Option<String> {
        match self.by_record.get(&number)? {
            Verdict::Fits(stream) => Some(format!("A whole chunk stands at bytes {}.", stream.span)),
            Verdict::Mended(stream, why) => Some(format!("Its chunk is whole, at bytes {}: {why}.", stream.span)),
            Verdict::Checksum(stream) => Some(format!("It decodes to its end, to {} bytes.", stream.plain)),
            Verdict::Part(stream, why) => Some(format!("{} bytes of it decode; {why}.", stream.plain)),
            Verdict::Shared(_) => Some("Nothing tells which of the records its chunk belongs to.".to_owned()),
            Verdict::Lost(why) => Some(format!("Nothing of the chunk was found: {why}.")),
            Verdict::Over(_) => None,
        }
    }

    /// What is known of a field of the header that is wrong, in a sentence.
    pub fn of_header<S: Source>(&self, pak: &Pak<S>, code: Code) -> Option<String> {
        let told = &self.told;
        let right = told.records.iter().filter(|(_, _, v)| matches!(v, Verdict::Fits(_))).count();
        if right == 0 {
            return None;
        }
        let fits = format!("fits {right} of {} chunks by place and length", told.records.len());
        match code {
            Code::PakRecordCount => Some(format!("{} records {fits}.", told.layout.count)),
            Code::PakFirstBlock => Some(format!("Data that begins at byte 0x{:x} {fits}.", told.layout.base)),
            Code::PakOffsetReading if told.layout.base != base(pak) => {
                Some(format!("Data that begins at byte 0x{:x} {fits}.", told.layout.base))
            }
            _ => None,
        }
    }

    /// The findings about streams that nobody owns, and about records that the header does not count.
    pub fn leftovers<S: Source>(&self, pak: &Pak<S>, report: &mut Report) {
        let told = &self.told;
        let declared = pak.header.records().value;
        if told.layout.count > declared && pak.damage.iter().all(|d| d.code != Code::PakRecordCount) {
            let damage = Damage::new(Code::PakCountLow, Span::new(8, 12), "record_count")
                .expected(Value::Number(u64::from(told.layout.count)))
                .found(Value::Number(u64::from(declared)));
            let behind = told.records.iter().filter(|(number, ..)| *number >= declared).count();
            report.file(damage, Some(format!("Whole chunks behind the last that it counts: {behind}.")));
        }
        let code = if told.is_sound() { Code::PakUnlisted } else { Code::PakOrphan };
        for orphan in &told.orphans {
            let damage = Damage::new(code, orphan.stream.span, "chunk").found(Value::Bytes(orphan.stream.plain));
            let names: Vec<String> = orphan.candidates.iter().take(4).map(|(n, _)| format!("record {n}")).collect();
            let remark = (!names.is_empty()).then(|| format!("It may belong to {}.", names.join(" or ")));
            report.homeless(damage, remark);
        }
    }
}

fn base<S: Source>(pak: &Pak<S>) -> i64 {
    pak.reading.value.start(&pak.header, 0).map_or(-1, u64::cast_signed)
}
