//! An open pak region: its records, and its chunks on demand.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::axes;
use crate::bytes::{Span, index, len64};
use crate::damage::{Code, Damage, Value};
use crate::limits::Limits;
use crate::pak::chunk::{self, Order, OrderEvidence, Shape};
use crate::pak::claims::{self, Overlap, Uncounted};
use crate::pak::header::{Header, MAX_PREFIX_BYTES};
use crate::pak::offset::{self, Located, Reading};
use crate::pak::payload::{Decoder, Payload};
use crate::pak::place::Grid;
use crate::pak::record::{self, Record};
use crate::pak::{BLOCK_BYTES, Inferred};
use crate::save::sectors::{Owner, Run, SectorMap, runs};
use crate::source::Source;

/// Options that override what is inferred of pak regions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PakOptions {
    /// How `first_block_offset` is counted.
    pub reading: Option<Reading>,
    /// The shape of chunks.
    pub shape: chunk::Given,
    /// The order of the voxels of a chunk.
    pub order: Option<Order>,
}

impl PakOptions {
    /// Sets how `first_block_offset` is counted.
    #[must_use]
    pub fn reading(mut self, reading: impl Into<Option<Reading>>) -> Self {
        self.reading = reading.into();
        self
    }

    /// Sets the shape of chunks.
    #[must_use]
    pub fn shape(mut self, shape: chunk::Given) -> Self {
        self.shape = shape;
        self
    }

    /// Sets the order of the voxels of a chunk.
    #[must_use]
    pub fn order(mut self, order: impl Into<Option<Order>>) -> Self {
        self.order = order.into();
        self
    }
}

/// A pak region whose records have been read.
#[derive(Debug)]
pub struct Pak<S> {
    /// The source of its bytes.
    pub source: S,
    /// Its header.
    pub header: Header,
    /// Its region, from the file's name; (0, 0, 0) if the name has none.
    pub region: [i32; 3],
    /// Its records, as many as there are in the file.
    pub records: Vec<Record>,
    /// How `first_block_offset` is counted.
    pub reading: Inferred<Reading>,
    /// How records map to positions; `None` if that is unknown.
    pub grid: Option<Inferred<Grid>>,
    /// Damage of the header and the records as a whole.
    pub damage: Vec<Damage>,
    /// Caps.
    pub limits: Limits,
    shape: chunk::Given,
    order: Option<Order>,
    inferred_order: OnceLock<[OrderEvidence; 2]>,
    overlaps: OnceLock<Vec<Overlap>>,
}

/// Chunks that are read to find one that has a shape.
const SHAPE_CHUNKS: usize = 64;
/// Chunks that are read to infer the order of voxels, and the most bytes of one.
const ORDER_CHUNKS: usize = 24;
const ORDER_BYTES: u64 = 1 << 20;

/// Reusable buffers for reading chunks, and the damage of the last one.
#[derive(Default)]
pub struct PakScratch {
    damage: Vec<Damage>,
    stored: Vec<u8>,
    decoder: Decoder,
}

/// The buffers for large chunks. There is one set, so that threads cannot hold many large chunks in memory, and it is
/// kept: if threads freed and allocated such buffers in turn, the allocator would keep memory for each thread.
static ONE_LARGE: Mutex<Option<PakScratch>> = Mutex::new(None);

impl PakScratch {
    /// Runs a function with the only set of buffers for large chunks.
    pub(crate) fn large<T>(use_it: impl FnOnce(&mut Self) -> T) -> T {
        let mut one = ONE_LARGE.lock().unwrap_or_else(PoisonError::into_inner);
        use_it(one.get_or_insert_default())
    }

    /// The buffers for stored bytes and for decoding.
    pub(crate) const fn parts(&mut self) -> (&mut Vec<u8>, &mut Decoder) {
        (&mut self.stored, &mut self.decoder)
    }
}

/// A chunk with its record and its damage.
#[derive(Debug)]
pub struct PakView<'a> {
    /// Where it is stored; `None` if the record does not locate a chunk.
    pub located: Option<Located>,
    /// Its bytes, as far as they decode.
    pub payload: Option<Payload<'a>>,
    /// Its shape, if it was given or its length implies one.
    pub shape: Option<Inferred<Shape>>,
    /// What is wrong with it; spans of [`Space::Block`](crate::damage::Space::Block) count decompressed bytes.
    pub damage: &'a [Damage],
}

impl PakView<'_> {
    /// Why it cannot be read completely, as codes; `None` if it can: if its stream is whole, a wrong record hides nothing of it.
    pub(crate) fn fault(&self) -> Option<String> {
        if self.payload.is_some_and(|payload| payload.whole) {
            return None;
        }
        let codes: Vec<&str> = self.damage.iter().filter(|d| d.code.hides_data()).map(|d| d.code.name()).collect();
        (!codes.is_empty()).then(|| codes.join(" "))
    }
}

impl<S: Source> Pak<S> {
    /// Reads header and records; `Ok(None)` when the file ends inside the header, with the damage in `damage`.
    ///
    /// # Errors
    /// I/O errors.
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
        let Some(header) = Header::decode(&prefix, source.len()).report_to(&mut own) else {
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
        let grid = Grid::from_record_count(header.records().value);
        if grid.is_none() && own.iter().all(|d| d.code != Code::PakRecordCount) {
            let count = header.records().value;
            let damaged = Damage::new(Code::PakRecordsOther, Span::sized(8, 4), "number of records");
            own.push(damaged.expected(Value::Words("1,024 or 4,096")).found(Value::Number(count.into())));
        }
        let limits = *limits;
        Ok(Some(Self {
            source,
            header,
            region,
            records,
            reading,
            grid,
            damage: own,
            limits,
            shape: options.shape,
            order: options.order,
            inferred_order: OnceLock::new(),
            overlaps: OnceLock::new(),
        }))
    }

    /// Records that have a chunk.
    pub fn present(&self) -> impl Iterator<Item = (u32, Record)> {
        (0u32..).zip(self.records.iter().copied()).filter(|(_, record)| !record.is_absent())
    }

    /// Records of which nothing shows whether they had a chunk; see [`zeroed_runs`](record::zeroed_runs).
    #[must_use]
    pub fn zeroed_runs(&self) -> Vec<Range<u32>> {
        record::zeroed_runs(self.present())
    }

    /// Coordinates of the chunk of a record, in chunks.
    #[must_use]
    pub fn chunk(&self, record: u32) -> Option<[i32; 3]> {
        self.grid.as_ref().and_then(|grid| grid.value.chunk(self.region, record))
    }

    /// Where the data of a record is.
    pub fn locate(&self, number: u32, record: Record, damage: &mut Vec<Damage>) -> Option<Located> {
        record.locate(number, &self.header, self.reading.value, self.source.len(), damage)
    }

    /// What is wrong with the blocks that a record claims: another record claims them too.
    pub fn overlap(&self, number: u32) -> Option<&Overlap> {
        let overlaps = self.overlaps.get_or_init(|| {
            let blocks = |number, record| Some(self.locate(number, record, &mut Vec::new())?.blocks);
            let claims = self.present().filter_map(|(number, record)| Some((blocks(number, record)?, number)));
            claims::find_overlaps(claims.collect(), self.source.len())
        });
        let at = overlaps.binary_search_by_key(&number, |overlap| overlap.record).ok()?;
        overlaps.get(at)
    }

    /// Records behind those that the header counts, if they lead to chunks.
    ///
    /// # Errors
    /// I/O errors.
    pub fn uncounted(&self) -> io::Result<Option<Uncounted>> {
        let (mut stored, mut start, mut failed) = (Vec::new(), Vec::new(), None);
        for (count, span) in claims::larger_counts(&self.header, self.reading.value, self.source.len()) {
            self.source.read_into(span.start, index(span.len()), &mut stored)?;
            let begins = |at: u64| {
                failed = failed.take().or_else(|| self.source.read_into(at, 2, &mut start).err());
                claims::begins_stream(&start)
            };
            let (header, reading) = (&self.header, self.reading.value);
            let found = claims::find_uncounted(header, reading, self.source.len(), (count, &stored), begins);
            if let Some(error) = failed {
                return Err(error);
            }
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Reads and decodes a chunk as far as it goes.
    ///
    /// # Errors
    /// I/O errors.
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
        damage.extend(self.overlap(number).map(|overlap| overlap.damage));
        let Some(Located { stored: span, exact, .. }) = located.filter(|located| !located.stored.is_empty()) else {
            return Ok(PakView { located, payload: None, shape: None, damage });
        };
        let len = span.len().min(limits.stored_bytes);
        self.source.read_into(span.start, index(len), stored)?;
        let from = damage.len();
        let over = len < span.len();
        let payload = decoder.decode(stored, exact && !over, limits).report_to(damage);
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
        let shape = chunk::infer(len64(payload.plain), payload.complete, self.shape).report_to(damage);
        let shape = shape.map(|shape| chunk::settle_voxel_bytes(shape, payload.plain));
        Ok(PakView { located, payload: Some(payload), shape, damage })
    }

    /// The shape of the first of the leading chunks that has one.
    pub fn first_shape(&self, scratch: &mut PakScratch) -> Option<Inferred<Shape>> {
        self.present().take(SHAPE_CHUNKS).find_map(|(number, record)| self.view(number, record, scratch).ok()?.shape)
    }

    /// The order of the voxels of chunks of this shape: as given, or as the first chunks of the file show it.
    pub fn order(&self, shape: &Shape) -> Inferred<Order> {
        if let Some(order) = self.order {
            return Inferred::given(order);
        }
        let [inside, seams] = self.inferred_order.get_or_init(|| self.order_evidence());
        chunk::infer_order(shape, inside, seams)
    }

    /// What the voxels of some chunks show of their order: inside of each, and where two meet. Chunks that cannot be read
    /// are left out.
    fn order_evidence(&self) -> [OrderEvidence; 2] {
        let [mut inside, mut seams] = [OrderEvidence::default(); 2];
        let limits = Limits { block_bytes: self.limits.block_bytes.min(ORDER_BYTES), ..self.limits };
        let mut scratch = PakScratch::default();
        let mut known: HashMap<[i32; 3], (Shape, Vec<u8>)> = HashMap::new();
        for (number, record) in self.present().take(ORDER_CHUNKS) {
            let Ok(view) = self.view_within(number, record, &limits, &mut scratch) else { continue };
            let (Some(shape), Some(payload)) = (view.shape, view.payload.filter(|payload| payload.whole)) else {
                continue;
            };
            if len64(payload.plain) != shape.value.bytes() {
                continue;
            }
            inside.add_inside(payload.plain, &shape.value);
            if let Some(chunk) = self.chunk(number) {
                known.insert(chunk, (shape.value, payload.plain.to_vec()));
            }
        }
        for (chunk, (shape, first)) in &known {
            for axis in 0..3 {
                if let Some((_, second)) = known.get(&axes::next(*chunk, axis)).filter(|(other, _)| other == shape) {
                    seams.add_seam(first, second, shape, axis);
                }
            }
        }
        [inside, seams]
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
        // Blocks that no record claims are free: the notes on the format do not say how the game finds room.
        all.extend(runs(claims, header, in_file).into_iter().map(|run| match run.owner {
            Owner::Stale => Run { owner: Owner::Free, ..run },
            _ => run,
        }));
        SectorMap { header_bytes: 0, sector_size: 4096, in_file, runs: all }
    }
}
