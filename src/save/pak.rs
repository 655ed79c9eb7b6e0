//! An open pak region: its records, and its chunks on demand.

use std::io;
use std::sync::{Mutex, PoisonError};

use crate::bytes::{Span, index, len64};
use crate::damage::{Code, Damage, Value};
use crate::limits::Limits;
use crate::pak::chunk::{self, Shape};
use crate::pak::header::{Header, MAX_PREFIX_BYTES};
use crate::pak::offset::{self, Reading};
use crate::pak::payload::{Decoder, Payload};
use crate::pak::place::Grid;
use crate::pak::record::{self, Located, Record};
use crate::pak::{BLOCK_BYTES, Inferred};
use crate::save::sectors::{Owner, Run, SectorMap, runs};
use crate::source::Source;

/// What the user says of pak regions, where otherwise it is inferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PakOptions {
    /// How `first_block_offset` is counted.
    pub reading: Option<Reading>,
    /// The shape of chunks.
    pub shape: chunk::Given,
}

/// A pak region whose records have been read.
#[derive(Debug)]
pub struct Pak<S> {
    /// Where its bytes come from.
    pub source: S,
    /// Its header.
    pub header: Header,
    /// Its region, from the file's name; (0, 0, 0) where that does not say.
    pub region: [i32; 3],
    /// Its records, as many as there are in the file.
    pub records: Vec<Record>,
    /// How `first_block_offset` is counted.
    pub reading: Inferred<Reading>,
    /// How chunks are laid out in the records; `None` when they have only numbers.
    pub grid: Option<Inferred<Grid>>,
    /// What is wrong with header and records as a whole.
    pub damage: Vec<Damage>,
    /// Caps.
    pub limits: Limits,
    shape: chunk::Given,
}

/// Buffers for reading chunk after chunk, and what was wrong with the last one.
#[derive(Default)]
pub struct PakScratch {
    damage: Vec<Damage>,
    stored: Vec<u8>,
    decoder: Decoder,
}

/// What large chunks are read with, so that no number of threads makes many of them be in memory. It is kept: given back
/// by one thread and taken by the next, the memory would stay with both.
static ONE_LARGE: Mutex<Option<PakScratch>> = Mutex::new(None);

impl PakScratch {
    /// Does something with the one set of buffers that large chunks are read with.
    pub(crate) fn large<T>(use_it: impl FnOnce(&mut Self) -> T) -> T {
        let mut one = ONE_LARGE.lock().unwrap_or_else(PoisonError::into_inner);
        use_it(one.get_or_insert_default())
    }

    /// The buffers for stored bytes and for decoding.
    pub(crate) const fn parts(&mut self) -> (&mut Vec<u8>, &mut Decoder) {
        (&mut self.stored, &mut self.decoder)
    }
}

/// A chunk with all that is around it.
#[derive(Debug)]
pub struct PakView<'a> {
    /// Where it is stored; `None` when the record locates nothing.
    pub located: Option<Located>,
    /// Its bytes, as far as they decode.
    pub payload: Option<Payload<'a>>,
    /// Its shape, when its length tells or it was given.
    pub shape: Option<Inferred<Shape>>,
    /// What is wrong with it; spans of [`Space::Block`](crate::damage::Space::Block) count decompressed bytes.
    pub damage: &'a [Damage],
}

impl<S: Source> Pak<S> {
    /// Reads header and records; `Ok(None)` when the file ends inside the header, with the damage in `damage`.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn load(
        source: S,
        region: [i32; 3],
        options: &PakOptions,
        limits: &Limits,
        damage: &mut Vec<Damage>,
    ) -> io::Result<Option<Self>> {
        let mut prefix = Vec::new();
        source.read_into(0, 16, &mut prefix)?;
        let mut own = Vec::new();
        let Some(header) = Header::decode(&prefix, source.len(), &mut own) else {
            damage.append(&mut own);
            return Ok(None);
        };
        source.read_into(0, index(header.end()).min(MAX_PREFIX_BYTES), &mut prefix)?;
        let records = record::decode_prefix(&header, &prefix);
        let reading = match options.reading {
            Some(reading) => Inferred::given(reading),
            None => offset::infer(&header, &records, source.len()),
        };
        own.extend(offset::note(&reading));
        let grid = Grid::of(header.records().value);
        let limits = *limits;
        Ok(Some(Self { source, header, region, records, reading, grid, damage: own, limits, shape: options.shape }))
    }

    /// Records that have a chunk.
    pub fn present(&self) -> impl Iterator<Item = (u32, Record)> {
        (0u32..).zip(self.records.iter().copied()).filter(|(_, record)| !record.is_absent())
    }

    /// Coordinates of the chunk of a record, in chunks.
    #[must_use]
    pub fn chunk(&self, record: u32) -> Option<[i32; 3]> {
        self.grid.as_ref().and_then(|grid| grid.value.chunk(self.region, record))
    }

    /// Where the data of a record lies.
    pub fn locate(&self, number: u32, record: Record, damage: &mut Vec<Damage>) -> Option<Located> {
        record.locate(number, &self.header, self.reading.value, self.source.len(), damage)
    }

    /// Reads and decodes a chunk as far as it goes.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn view<'a>(&self, number: u32, record: Record, scratch: &'a mut PakScratch) -> io::Result<PakView<'a>> {
        scratch.decoder.shrink(1 << 20);
        self.view_within(number, record, &self.limits, scratch)
    }

    /// As [`view`](Self::view), with other caps, and keeping the buffers of large chunks.
    pub(crate) fn view_within<'a>(
        &self,
        number: u32,
        record: Record,
        limits: &Limits,
        scratch: &'a mut PakScratch,
    ) -> io::Result<PakView<'a>> {
        let PakScratch { damage, stored, decoder } = scratch;
        damage.clear();
        let located = self.locate(number, record, damage);
        let Some(Located { stored: span, exact, .. }) = located.filter(|located| !located.stored.is_empty()) else {
            return Ok(PakView { located, payload: None, shape: None, damage });
        };
        let len = span.len().min(limits.stored_bytes);
        self.source.read_into(span.start, index(len), stored)?;
        let from = damage.len();
        let over = len < span.len();
        let payload = decoder.decode(stored, exact && !over, limits, damage);
        if over && (exact || !payload.whole) {
            damage.retain(|d| d.code != Code::PakZlibCut);
            damage.push(
                Damage::new(Code::OverLimit, Span::sized(0, len), "stored chunk")
                    .expected(Value::AtMost(limits.stored_bytes))
                    .found(Value::Number(span.len())),
            );
        }
        for d in damage.iter_mut().skip(from) {
            *d = d.shifted(span.start);
        }
        let shape = chunk::infer(len64(payload.plain), payload.complete, self.shape, damage);
        Ok(PakView { located, payload: Some(payload), shape, damage })
    }

    /// The blocks of the file: header, records' chunks by number, free ones, shared ones, and those beyond the end.
    #[must_use]
    pub fn sector_map(&self) -> SectorMap {
        let in_file = self.source.len().div_ceil(BLOCK_BYTES);
        let header = self.header.end().min(self.source.len()).div_ceil(BLOCK_BYTES);
        let claims = self.present().filter_map(|(number, record)| {
            let blocks = self.locate(number, record, &mut Vec::new())?.blocks;
            let end = blocks.end.div_ceil(BLOCK_BYTES);
            Some(((blocks.start / BLOCK_BYTES).max(header), end, number)).filter(|(first, end, _)| first < end)
        });
        let mut all = vec![Run { first: 0, count: header, owner: Owner::Header }];
        // What no record claims is free: the notes do not say how the game finds room.
        all.extend(runs(claims, header, in_file).into_iter().map(|run| match run.owner {
            Owner::Stale => Run { owner: Owner::Free, ..run },
            _ => run,
        }));
        SectorMap { header_bytes: 0, sector_size: 4096, in_file, runs: all }
    }
}
