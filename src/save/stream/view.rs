//! One row of a stream: its key, its block, its instances, with buffers that are used again.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Mutex, PoisonError};

use super::rows::{COLUMNS, key_of};
use super::{Blob, Stream, StreamRow};
use crate::bytes::{Span, index, len64};
use crate::damage::{Code, Damage, Value};
use crate::godot::byte_order::ByteOrder;
use crate::godot::container::{Container, Decoder, Mode};
use crate::godot::instances::Instances;
use crate::godot::stream::loc::Key;
use crate::limits::Limits;
use crate::save::byte_order::{MOST_STORED, Sample};
use crate::save::view::{Stored, View, decode_in_order};
use crate::source::Source;
use crate::sqlite::btree::Page;
use crate::sqlite::pages::Pages;
use crate::sqlite::payload::Payload;
use crate::sqlite::record::{self, Column};
use crate::sqlite::walk::{self, Owners};

/// Buffers above this are given back after a row that needed more.
const KEEP: usize = 1 << 20;

/// Stored bytes above which a row is large.
const LARGE_ROW: u64 = 8 << 20;

/// Held while a large row is in memory.
static LARGE: Mutex<()> = Mutex::new(());

/// Buffers for reading row after row, and what was wrong with the last one.
#[derive(Default)]
pub struct StreamScratch {
    /// Damage of what was decoded last, in the order it was met.
    pub damage: Vec<Damage>,
    page: Vec<u8>,
    payload: Payload,
    columns: Vec<Column>,
    rowid: i64,
    /// The key as UTF-8, where it is a text in UTF-16.
    text: Option<Vec<u8>>,
    decoder: Decoder,
    /// Decompressed bytes of a big-endian block, with little-endian channels.
    reversed: Vec<u8>,
}

/// The instance data of a row with all that is around it.
#[derive(Clone, Debug)]
pub struct InstancesView<'a> {
    /// Where it is stored.
    pub stored: Stored,
    /// Its container, when there is one.
    pub container: Option<Container<'a>>,
    /// Its layers, as far as it decodes; `None` when nothing was decompressed.
    pub instances: Option<Instances<'a>>,
    /// Its damage, in the order in which it was found.
    pub damage: &'a [Damage],
}

impl InstancesView<'_> {
    /// Whether its container is whole and its layers decode to the end.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.container.is_some_and(|c| c.whole) && self.instances.as_ref().is_some_and(|i| i.epilogue.is_some())
    }

    /// Whether it is in a container that the engine refuses because its size is in the wrong byte order.
    #[must_use]
    pub fn is_in_wrong_order(&self) -> bool {
        self.container.is_some_and(|c| c.mode == Some(Mode::Lz4WrongOrder))
    }
}

impl StreamScratch {
    /// The overflow pages of the row that was fetched last.
    #[must_use]
    pub fn pages(&self) -> &[u32] {
        &self.payload.pages
    }

    /// Where the parts of the row that was fetched last are in the file: that in its page, then an overflow page each.
    #[must_use]
    pub fn parts(&self) -> &[Span] {
        &self.payload.parts
    }

    /// Whether all bytes of the row that was fetched last are there.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.columns.is_empty() && self.payload.broken.is_none()
    }

    /// The span of a value of the row that was fetched last, limited to the page of the row.
    #[must_use]
    pub fn value_at(&self, column: usize) -> Option<Span> {
        self.columns.get(column).map(|column| self.payload.in_file(span(column)))
    }

    /// Gives back what a large row has taken.
    fn shrink(&mut self) {
        self.decoder.shrink(KEEP);
        if self.reversed.capacity() > KEEP {
            self.reversed = Vec::new();
        }
        if self.payload.bytes.capacity() > KEEP {
            self.payload.bytes = Vec::new();
        }
    }
}

impl<S: Source> Stream<S> {
    /// Works on a row with buffers. A large row waits until no other thread holds one, and its buffers are freed afterwards, so
    /// `work` must not wait for other threads.
    pub(crate) fn with_row<R>(
        &self,
        row: &StreamRow,
        scratch: &mut StreamScratch,
        work: impl FnOnce(&mut StreamScratch) -> R,
    ) -> R {
        if u64::from(row.payload) <= LARGE_ROW {
            return work(scratch);
        }
        let _alone = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
        let result = work(scratch);
        scratch.shrink();
        result
    }

    /// Reads a row. What follows is of this row, until another one is fetched.
    ///
    /// # Errors
    /// I/O errors.
    pub fn fetch(&self, row: &StreamRow, scratch: &mut StreamScratch) -> io::Result<()> {
        self.fetch_from(&self.pages, None, row, scratch)
    }

    /// The same from pages that were read already, without the overflow pages of a row whose first one has an owner: no
    /// number of rows can make the same pages be decoded again and again.
    pub(crate) fn fetch_from<T: Source>(
        &self,
        pages: &Pages<T>,
        owners: Option<&Owners>,
        row: &StreamRow,
        scratch: &mut StreamScratch,
    ) -> io::Result<()> {
        scratch.shrink();
        let StreamScratch { page, payload, columns, rowid, text, .. } = scratch;
        columns.clear();
        *text = None;
        *rowid = row.rowid;
        pages.read(row.page, page)?;
        let parsed = Page::parse_part(row.page, page, index(pages.header.usable().into())).ok();
        let Some(cell) = parsed.and_then(|page| page.cell(row.cell)) else {
            // It was there when the keys were read.
            *payload = Payload::default();
            return Ok(());
        };
        let limit = self.limits.stored_bytes.saturating_mul(2).saturating_add(1 << 12);
        let owned =
            |page: &u32| owners.and_then(|owners| owners.page_use(*page)).is_some_and(|is| !is.can_be_payload());
        match cell.overflow.filter(owned) {
            Some(first) => {
                payload.read(pages, row.page, &cell, len64(cell.local))?;
                payload.broken = Some((first, "it points to a page that is in use elsewhere"));
            }
            None => payload.read(pages, row.page, &cell, limit)?,
        }
        columns.extend(record::columns_of_row(cell.local, cell.payload, COLUMNS).unwrap_or_default());
        if let Key::Text(bytes) = key_of(columns, &payload.bytes, *rowid, self.rowid_keys)
            && let Cow::Owned(utf8) = self.pages.header.utf8(bytes)
        {
            *text = Some(utf8);
        }
        Ok(())
    }

    /// The key of the row that was fetched.
    #[must_use]
    pub fn key<'a>(&self, scratch: &'a StreamScratch) -> Key<'a> {
        match &scratch.text {
            Some(text) => Key::Text(text),
            None => key_of(&scratch.columns, &scratch.payload.bytes, scratch.rowid, self.rowid_keys),
        }
    }

    /// All values of the row that was fetched, as many as it has.
    pub fn values<'a>(&self, scratch: &'a StreamScratch) -> impl ExactSizeIterator<Item = Key<'a>> {
        scratch.columns.iter().map(|column| column.value(&scratch.payload.bytes))
    }

    /// The stored bytes of the block of the row that was fetched, a container; `None` where there is none.
    #[must_use]
    pub fn voxel_bytes<'a>(&self, scratch: &'a StreamScratch) -> Option<&'a [u8]> {
        bytes(&scratch.payload, scratch.columns.get(1)?)
    }

    /// The stored bytes of the instances of the row that was fetched, a container; `None` where there are none.
    #[must_use]
    pub fn instance_bytes<'a>(&self, scratch: &'a StreamScratch) -> Option<&'a [u8]> {
        bytes(&scratch.payload, scratch.columns.get(2)?)
    }

    /// The byte order of blocks that show none themselves: that of the other blocks. Reads a few of them when it is called first.
    pub fn byte_order(&self) -> ByteOrder {
        *self.order.get_or_init(|| {
            let (mut sample, mut scratch) = (Sample::new(), StreamScratch::default());
            let limits = Sample::limits(&self.limits);
            let is_read = |row: &StreamRow| !row.lost && matches!(row.voxels, Blob::Bytes(_));
            let read = || self.rows.iter().filter(is_read);
            let picked: Vec<usize> = Sample::pick_of(read().count()).collect();
            let sorted: BTreeSet<usize> = picked.iter().copied().collect();
            let numbered = read().enumerate().filter(|(number, _)| sorted.contains(number));
            let rows: BTreeMap<usize, StreamRow> = numbered.collect();
            for row in picked.iter().filter_map(|number| rows.get(number)) {
                if u64::from(row.payload) > MOST_STORED || self.fetch(row, &mut scratch).is_err() {
                    continue;
                }
                sample.add(&self.decode_block(&mut scratch, &limits, ByteOrder::default));
                if sample.is_complete() {
                    break;
                }
            }
            sample.votes.order().unwrap_or_default()
        })
    }

    /// Decodes the block of the row that was fetched, as far as it goes.
    pub fn block<'a>(&self, scratch: &'a mut StreamScratch) -> View<'a> {
        self.block_within(scratch, &self.limits)
    }

    /// The same with lower limits.
    pub(crate) fn block_within<'a>(&self, scratch: &'a mut StreamScratch, limits: &Limits) -> View<'a> {
        self.decode_block(scratch, limits, || self.byte_order())
    }

    fn decode_block<'a>(
        &self,
        scratch: &'a mut StreamScratch,
        limits: &Limits,
        of_file: impl FnOnce() -> ByteOrder,
    ) -> View<'a> {
        let StreamScratch { damage, payload, columns, decoder, reversed, .. } = scratch;
        damage.clear();
        let stored = stored(payload, columns.get(1));
        let mut container = container(payload, columns.get(1), "vb", decoder, limits, damage);
        let from = damage.len();
        let block = container.as_mut().and_then(|container| {
            let readable = container.mode.is_some() && (container.whole || !container.plain.is_empty());
            readable.then(|| decode_in_order(&mut container.plain, reversed, None, limits, damage, of_file))
        });
        let size = self.meta.block_size().map(|size| [size; 3]);
        if let (Some(block), Some(size)) = (&block, size)
            && block.size != size
            && block.version >= 2
            && !block.size.contains(&0)
            && damage.iter().skip(from).all(|d| d.code != Code::BlockHeaderCut)
        {
            let damaged = Damage::new(Code::BlockSize, Span::new(1, 7), "block size").in_block();
            damage.push(damaged.expected(Value::triple(size)).found(Value::triple(block.size)));
        }
        let bytes = columns.get(1).and_then(|column| bytes(payload, column)).unwrap_or_default();
        View { stored, bytes, container, block, damage }
    }

    /// Decodes the instances of the row that was fetched, as far as they go.
    pub fn instances<'a>(&self, scratch: &'a mut StreamScratch) -> InstancesView<'a> {
        let StreamScratch { damage, payload, columns, decoder, .. } = scratch;
        damage.clear();
        let stored = stored(payload, columns.get(2));
        let container = container(payload, columns.get(2), "instances", decoder, &self.limits, damage);
        let instances = container.and_then(|container| {
            let readable = container.mode.is_some() && (container.whole || !container.plain.is_empty());
            readable.then(|| Instances::decode(container.plain).report_to(damage))
        });
        InstancesView { stored, container, instances, damage }
    }

    /// Reads and decodes the block of a row as far as it goes.
    ///
    /// # Errors
    /// I/O errors.
    pub fn view<'a>(&self, row: &StreamRow, scratch: &'a mut StreamScratch) -> io::Result<View<'a>> {
        self.fetch(row, scratch)?;
        Ok(self.block(scratch))
    }

    /// Damage of a row as such: its key, its place in the file, its values.
    pub fn faults(&self, row: &StreamRow, scratch: &StreamScratch, damage: &mut Vec<Damage>) {
        let StreamScratch { payload, columns, .. } = scratch;
        let span = payload.parts.first().copied().unwrap_or_else(|| self.pages.span_in_file(row.page));
        if columns.is_empty() {
            damage.push(walk::fault(&self.pages, row.page, "row of the table `blocks`", "cannot be read"));
            return;
        }
        if let Err(why) = self.place(self.key(scratch)) {
            let expected = Value::Words(self.format.map_or("a position", |format| format.name()));
            let damaged = Damage::new(Code::StreamKey, span, "key of the row").found(Value::Words(why));
            damage.push(damaged.expected(expected));
        }
        if row.lost {
            damage.push(Damage::new(Code::StreamRowLost, span, "row of the table `blocks`"));
        }
        if row.voxels == Blob::Null && row.instances == Blob::Null {
            let damaged = Damage::new(Code::StreamRowEmpty, span, "vb and instances");
            damage.push(damaged.found(Value::Words("NULL")));
        }
        if let Some((page, why)) = payload.broken {
            let at = if page == 0 || !self.pages.has(page) { span } else { self.pages.span_in_file(page) };
            damage.push(
                Damage::new(Code::StreamChain, at, "chain of overflow pages")
                    .expected(Value::Words("a chain to the end of the row"))
                    .found(Value::Words(why)),
            );
        }
    }
}

fn span(column: &Column) -> Span {
    Span::sized(column.at, column.len)
}

/// The bytes of a blob, as far as they are there.
fn bytes<'p>(payload: &'p Payload, column: &Column) -> Option<&'p [u8]> {
    if column.kind() != record::Type::Blob {
        return None;
    }
    let span = span(column);
    let rest = payload.bytes.get(index(span.start)..)?;
    Some(rest.get(..index(span.len())).unwrap_or(rest))
}

fn stored(payload: &Payload, column: Option<&Column>) -> Stored {
    let here = column.map_or_else(Span::default, |column| payload.in_file(span(column)));
    let size = column.filter(|column| column.kind() == record::Type::Blob).map(|column| column.len);
    Stored { size: size.map(|len| u32::try_from(len).unwrap_or(u32::MAX)), span: here }
}

/// The container of a blob; `None` where there is none.
fn container<'a>(
    payload: &'a Payload,
    column: Option<&Column>,
    field: &'static str,
    decoder: &'a mut Decoder,
    limits: &Limits,
    damage: &mut Vec<Damage>,
) -> Option<Container<'a>> {
    let column = column?;
    let here = span(column);
    let found = match column.kind() {
        record::Type::Null => return None,
        record::Type::Blob => bytes(payload, column)?,
        other => {
            let found = match other {
                record::Type::Int => "an integer",
                record::Type::Float => "a floating-point number",
                _ => "a text",
            };
            let damaged = Damage::new(Code::StreamValue, payload.in_file(here), field);
            damage.push(damaged.expected(Value::Words("a blob or NULL")).found(Value::Words(found)));
            return None;
        }
    };
    if here.len() > limits.stored_bytes {
        let damaged = Damage::new(Code::OverLimit, payload.in_file(here), field);
        damage.push(damaged.expected(Value::AtMost(limits.stored_bytes)).found(Value::Number(here.len())));
        return None;
    }
    let from = damage.len();
    // Where the chain broke off, what is there of the blob decodes as far as it goes.
    let container = decoder.decode(found, limits).report_to(damage);
    let cut = len64(found) < here.len();
    if cut {
        // The broken chain says it all.
        damage.truncate(from);
    }
    for d in damage.iter_mut().skip(from) {
        d.span =
            payload.in_file(Span::new(here.start.saturating_add(d.span.start), here.start.saturating_add(d.span.end)));
    }
    Some(container)
}
