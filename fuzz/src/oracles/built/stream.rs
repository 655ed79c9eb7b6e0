//! SQLite streams of all formats of keys, written here by the description of the file format: a leaf page each for the
//! schema, the settings, the blocks, the channels and the index, and overflow pages.

use std::collections::{BTreeMap, BTreeSet};

use arbitrary::{Result, Unstructured};
use voxscope::bytes::Span;
use voxscope::check;
use voxscope::damage::Code;
use voxscope::godot::stream::loc::{Format, Owned, Place};
use voxscope::limits::Limits;
use voxscope::save::{Beside, Options, Save, Stream as Open, StreamScratch};
use voxscope::world::World;

use super::{Kind, Model, Seen};
use crate::oracles::{disk, limits, stream as raw};

/// Pages of the tables, by number.
pub(super) const SCHEMA: usize = 1;
pub(super) const META: usize = 2;
pub(super) const BLOCKS: usize = 3;
const CHANNELS: usize = 4;
const INDEX: usize = 5;

/// A stream.
#[derive(Debug)]
pub struct Stream {
    pub(super) page_size: usize,
    pub(super) format: Format,
    version: u8,
    po2: u8,
    pub(super) rows: Vec<Row>,
}

/// A row of it.
#[derive(Clone, Debug)]
pub struct Row {
    pub(super) place: Place,
    pub(super) voxels: Vec<u8>,
    instances: Option<Vec<u8>>,
}

/// Where things of a built stream stand.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// By row: offsets of the serial type of `vb`, of the key (where it is in the record), and of the cell, and its end.
    pub(super) cells: Vec<Cell>,
    /// Offset of the record of the settings, behind its header.
    pub(super) meta: usize,
    pub(super) pages: usize,
}

/// Where a row stands.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) serial: usize,
    pub(super) key: usize,
    /// Its overflow pages, from the first on.
    pub(super) overflow: Vec<usize>,
}

fn varint(n: u64) -> Vec<u8> {
    // As the description says: seven bits a byte, all nine bytes when they are not enough.
    if n >> 56 != 0 {
        let mut out: Vec<u8> = (0..8).rev().map(|i| (n >> (8 + 7 * i)) as u8 | 0x80).collect();
        out.push(n as u8);
        return out;
    }
    let mut out = vec![n as u8 & 0x7f];
    let mut rest = n >> 7;
    while rest > 0 {
        out.insert(0, rest as u8 | 0x80);
        rest >>= 7;
    }
    out
}

/// A value of a record.
enum Value<'v> {
    Null,
    Int(i64),
    Text(&'v [u8]),
    Blob(&'v [u8]),
}

/// A record, and where its header ends and each value begins.
fn record(values: &[Value<'_>]) -> (Vec<u8>, Vec<usize>) {
    let mut types = Vec::new();
    let mut body = Vec::new();
    let mut at = Vec::new();
    for value in values {
        at.push(body.len());
        match value {
            Value::Null => types.extend(varint(0)),
            Value::Int(n) if i8::try_from(*n).is_ok() => {
                types.extend(varint(1));
                body.push(*n as u8);
            }
            Value::Int(n) => {
                types.extend(varint(6));
                body.extend(n.to_be_bytes());
            }
            Value::Text(bytes) => {
                types.extend(varint(13 + 2 * bytes.len() as u64));
                body.extend(*bytes);
            }
            Value::Blob(bytes) => {
                types.extend(varint(12 + 2 * bytes.len() as u64));
                body.extend(*bytes);
            }
        }
    }
    // No header here is so long that its own length takes two bytes.
    let header = 1 + types.len();
    let all = [&[header as u8][..], &types, &body].concat();
    (all, at.into_iter().map(|n| n + header).collect())
}

/// A file in the making.
struct Pages {
    size: usize,
    bytes: Vec<u8>,
}

impl Pages {
    /// Puts cells (a prefix and a payload each) into a leaf; gives where each begins in the file, and its overflow pages.
    fn leaf(&mut self, page: usize, kind: u8, cells: &[(Vec<u8>, Vec<u8>)]) -> Option<Vec<(usize, Vec<usize>)>> {
        let start = (page - 1) * self.size;
        let header = start + if page == 1 { 100 } else { 0 };
        let mut end = self.size;
        let mut places = Vec::new();
        for (prefix, payload) in cells {
            let local = local(payload.len(), self.size, kind == 10);
            let overflow = if local < payload.len() { 4 } else { 0 };
            let len = (prefix.len() + local + overflow).max(4);
            end = end.checked_sub(len)?;
            if start + end < header + 8 + 2 * cells.len() {
                return None;
            }
            let chain = self.chain(&payload[local..]);
            let mut cell = [&prefix[..], &payload[..local]].concat();
            if let Some(first) = chain.first() {
                cell.extend((*first as u32).to_be_bytes());
            }
            self.bytes[start + end..start + end + cell.len()].copy_from_slice(&cell);
            let pointer = header + 8 + 2 * places.len();
            self.bytes[pointer..pointer + 2].copy_from_slice(&(end as u16).to_be_bytes());
            places.push((start + end, chain));
        }
        self.bytes[header] = kind;
        self.bytes[header + 3..header + 5].copy_from_slice(&(cells.len() as u16).to_be_bytes());
        self.bytes[header + 5..header + 7].copy_from_slice(&(end as u16).to_be_bytes());
        Some(places)
    }

    /// Overflow pages for what does not fit.
    fn chain(&mut self, rest: &[u8]) -> Vec<usize> {
        let each = self.size - 4;
        let first = self.bytes.len() / self.size + 1;
        let count = rest.len().div_ceil(each);
        for (n, part) in rest.chunks(each).enumerate() {
            let next = if n + 1 < count { first + n + 1 } else { 0 };
            self.bytes.extend((next as u32).to_be_bytes());
            self.bytes.extend(part);
            self.bytes.resize(self.bytes.len().next_multiple_of(self.size), 0);
        }
        (first..first + count).collect()
    }
}

/// The description's P, U, X, M and K.
fn local(p: usize, u: usize, is_index: bool) -> usize {
    let x = if is_index { (u - 12) * 64 / 255 - 23 } else { u - 35 };
    let m = (u - 12) * 32 / 255 - 23;
    if p <= x {
        return p;
    }
    let k = m + (p - m) % (u - 4);
    if k <= x { k } else { m }
}

impl Stream {
    fn key(&self, place: Place) -> Option<Owned> {
        self.format.encode(place)
    }

    pub(super) fn has_index(&self) -> bool {
        matches!(self.format, Format::Text | Format::Blob)
    }

    /// Voxels along an axis.
    fn side(&self) -> u16 {
        1 << self.po2
    }

    /// The whole file; `None` where the rows do not fit into one page.
    pub(super) fn build(&self) -> Option<(Vec<u8>, Map)> {
        let tables = if self.has_index() { INDEX } else { CHANNELS };
        let mut pages = Pages { size: self.page_size, bytes: vec![0; self.page_size * tables] };
        let kind = match self.format {
            Format::Int16 | Format::Int19 => "INTEGER",
            Format::Text => "TEXT",
            Format::Blob => "BLOB",
        };
        let third = if self.version == 0 { "" } else { ", coordinate_format INTEGER" };
        let mut schema = vec![
            (
                "table",
                "meta",
                "meta",
                META,
                format!("CREATE TABLE meta (version INTEGER, block_size_po2 INTEGER{third})"),
            ),
            (
                "table",
                "blocks",
                "blocks",
                BLOCKS,
                format!("CREATE TABLE blocks (loc {kind} PRIMARY KEY, vb BLOB, instances BLOB)"),
            ),
            (
                "table",
                "channels",
                "channels",
                CHANNELS,
                "CREATE TABLE channels (idx INTEGER PRIMARY KEY, depth INTEGER)".to_owned(),
            ),
        ];
        if self.has_index() {
            schema.push(("index", "sqlite_autoindex_blocks_1", "blocks", INDEX, String::new()));
        }
        let row =
            |rowid: u64, payload: &[u8]| ([varint(payload.len() as u64), varint(rowid)].concat(), payload.to_vec());
        let cells: Vec<_> = (1..)
            .zip(&schema)
            .map(|(n, (kind, name, of, root, sql))| {
                let sql = if sql.is_empty() { Value::Null } else { Value::Text(sql.as_bytes()) };
                let values = [
                    Value::Text(kind.as_bytes()),
                    Value::Text(name.as_bytes()),
                    Value::Text(of.as_bytes()),
                    Value::Int(*root as i64),
                    sql,
                ];
                row(n, &record(&values).0)
            })
            .collect();
        pages.leaf(SCHEMA, 13, &cells)?;
        let mut settings = vec![Value::Int(self.version.into()), Value::Int(self.po2.into())];
        if self.version > 0 {
            settings.push(Value::Int(self.format.code().into()));
        }
        let (settings, values) = record(&settings);
        let at = pages.leaf(META, 13, &[row(1, &settings)])?;
        let mut map = Map { meta: at[0].0 + 2 + values[0], ..Map::default() };
        pages.leaf(CHANNELS, 13, &[])?;

        // Keys in their order: numbers of rows are keys, or count from 1.
        let mut keyed = BTreeMap::new();
        for (n, r) in self.rows.iter().enumerate() {
            let rowid = match self.key(r.place)? {
                Owned::Int(key) => key,
                _ => n as i64 + 1,
            };
            keyed.insert(rowid, (n, r));
        }
        let mut cells = Vec::new();
        let mut inside = Vec::new();
        for (rowid, (n, r)) in &keyed {
            let owned = self.key(r.place)?;
            let key = match &owned {
                Owned::Int(_) => Value::Null,
                Owned::Text(text) => Value::Text(text.as_bytes()),
                Owned::Blob(bytes) => Value::Blob(bytes),
            };
            let instances = r.instances.as_deref().map_or(Value::Null, Value::Blob);
            let (payload, values) = record(&[key, Value::Blob(&r.voxels), instances]);
            let cell = row(rowid.cast_unsigned(), &payload);
            inside.push((*n, cell.0.len(), values[0]));
            cells.push(cell);
        }
        let places = pages.leaf(BLOCKS, 13, &cells)?;
        map.cells = vec![Cell::default(); self.rows.len()];
        for (((n, prefix, key), (start, overflow)), (_, payload)) in inside.into_iter().zip(places).zip(&cells) {
            let end = start + prefix + local(payload.len(), self.page_size, false);
            // The header's length takes a byte, and so does the type of every key.
            map.cells[n] = Cell { start, end, serial: start + prefix + 2, key: start + prefix + key, overflow };
        }
        if self.has_index() {
            let mut entries: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            for (rowid, (_, r)) in &keyed {
                let (bytes, payload) = match self.key(r.place)? {
                    Owned::Text(text) => {
                        let payload = record(&[Value::Text(text.as_bytes()), Value::Int(*rowid)]).0;
                        (text.into_bytes(), payload)
                    }
                    Owned::Blob(key) => (key.to_vec(), record(&[Value::Blob(&key), Value::Int(*rowid)]).0),
                    Owned::Int(_) => continue,
                };
                entries.push((bytes, payload));
            }
            entries.sort();
            let cells: Vec<_> =
                entries.into_iter().map(|(_, payload)| (varint(payload.len() as u64), payload)).collect();
            pages.leaf(INDEX, 10, &cells)?;
        }
        map.pages = pages.bytes.len() / self.page_size;
        let mut header = b"SQLite format 3\0".to_vec();
        header.extend((self.page_size as u16).to_be_bytes());
        header.extend([1, 1, 0, 64, 32, 32]);
        for n in [1, map.pages as u32, 0, 0, 1, 4, 0, 0, 1, 0, 0, 0] {
            header.extend(n.to_be_bytes());
        }
        header.resize(92, 0);
        header.extend(1u32.to_be_bytes());
        header.extend(3_045_000u32.to_be_bytes());
        pages.bytes[..100].copy_from_slice(&header);
        Some((pages.bytes, map))
    }

    /// Adds a block of a LOD above 0 and one of LOD 0 that lies below it.
    fn add_lods(&mut self, lod: u8) {
        let above = Place { lod, position: [3, -2, 5] };
        let below = Place { lod: 0, position: above.position.map(|v| v << lod) };
        for (salt, place) in [(1, above), (2, below)] {
            self.rows.push(Row { place, voxels: block(self.side(), false, salt), instances: None });
        }
    }

    /// The same stream as the engine wrote it in 2021: keys above LOD 0 have the position times 2^LOD. Blocks whose position has
    /// no such key are left out. `None` if the keys do not show by which rule they are.
    pub(super) fn by_the_old_rule(&self) -> Option<Self> {
        let mut old = Self { rows: Vec::new(), ..*self };
        for row in &self.rows {
            let scaled = row.place.position.map(|v| v.checked_mul(1 << row.place.lod));
            let [Some(x), Some(y), Some(z)] = scaled else { continue };
            let place = Place { position: [x, y, z], ..row.place };
            if self.key(place).is_some() {
                old.rows.push(Row { place, ..row.clone() });
            }
        }
        let ground: Vec<[i32; 3]> =
            old.rows.iter().filter(|row| row.place.lod == 0).map(|row| row.place.position).collect();
        let is_above = |lod: u8, position: [i32; 3]| ground.iter().any(|below| below.map(|v| v >> lod) == position);
        let (mut by_old, mut by_new) = (false, false);
        for Place { lod, position } in old.rows.iter().map(|row| row.place).filter(|place| place.lod > 0) {
            let fits_old = is_above(lod, position.map(|v| v >> lod));
            let fits_new = is_above(lod, position);
            by_old |= fits_old && !fits_new;
            by_new |= fits_new && !fits_old;
        }
        (by_old && !by_new).then_some(old)
    }

    /// All streams of a directory are found, whatever their names are, and each of them is checked and read.
    fn compare_in_a_directory(&self, bytes: &[u8]) {
        disk::clean();
        let dir = disk::directory("any");
        let path = disk::write(&dir, "maps/save.file", bytes);
        let of_region = disk::write(&dir, "ships/r.0.0.0.vxr", bytes);
        // No stream has this version.
        let mut damaged = bytes.to_vec();
        damaged[self.map().meta] = 9;
        let damaged = disk::write(&dir, "ships/ship.sqlite", &damaged);
        let save = Save::open(&dir, &Options::default().limits(limits()));
        let save = save.unwrap_or_else(|error| panic!("no save: {error}"));
        let found: Vec<_> = save.streams.iter().map(|stream| &stream.path).collect();
        assert_eq!(found, [&path, &of_region, &damaged], "other streams in the directory");
        let mut found = Vec::new();
        check::run(&save, &check::Options::default(), |finding| found.push(finding));
        let of_version = found.iter().filter(|finding| finding.code() == Code::StreamMetaField);
        let files: BTreeSet<&str> = of_version.map(|finding| &*finding.file).collect();
        assert_eq!(files, BTreeSet::from([&*save.shown(&damaged)]), "settings of other streams are damaged: {found:?}");
        let (worlds, _) = World::all_readable(&save);
        for path in [&path, &of_region] {
            let world = worlds.iter().find(|world| world.path() == path).expect("a whole stream is a world");
            let lods: BTreeSet<u8> = self.rows.iter().map(|row| row.place.lod).collect();
            let blocks: usize = lods.into_iter().map(|lod| world.index(lod).blocks.len()).sum();
            assert_eq!(blocks, self.rows.len(), "other blocks in {}", path.display());
        }
        disk::clean();
    }

    /// Where things stand in it.
    pub(super) fn map(&self) -> Map {
        self.build().map(|(_, map)| map).unwrap_or_default()
    }

    /// The bytes of a page.
    pub(super) fn page(&self, number: usize) -> Span {
        Span::sized(((number - 1) * self.page_size) as u64, self.page_size as u64)
    }

    /// The last page of the tables.
    pub(super) fn tables(&self) -> usize {
        if self.has_index() { INDEX } else { CHANNELS }
    }
}

/// A block of uniform channels, one of which may be raw, in a container of mode 0.
fn block(side: u16, raw: bool, salt: u8) -> Vec<u8> {
    let mut out = vec![0, 4];
    (0..3).for_each(|_| out.extend(side.to_le_bytes()));
    for channel in 0..8 {
        if raw && channel == 2 {
            out.push(0);
            out.extend(super::filled(salt, usize::from(side).pow(3)));
        } else {
            out.extend([1, salt]);
        }
    }
    out.extend([0x0d, 0xf0, 0x0d, 0x90]);
    out
}

impl Model for Stream {
    fn make(u: &mut Unstructured<'_>) -> Result<Self> {
        let (bits, format_bits, po2): (u8, u8, u8) = u.arbitrary()?;
        let format = Format::ALL[usize::from(format_bits % 4)];
        let mut stream = Self {
            page_size: [1024, 4096, 32_768][usize::from(bits >> 1) % 3],
            format,
            // Version 0 has one format of keys.
            version: u8::from(format != Format::Int16 || bits & 1 == 1),
            po2: 1 + po2 % 4,
            rows: Vec::new(),
        };
        if format_bits & 0x80 != 0 {
            stream.add_lods(1 + (format_bits >> 4 & 7));
        }
        for _ in 0..u.arbitrary::<u8>()? % 6 {
            let (lod, position, bits, salt): (u8, [i16; 3], u8, u8) = u.arbitrary()?;
            let place = Place { lod: lod % 24, position: position.map(i32::from) };
            if stream.rows.iter().any(|row| row.place == place) {
                continue;
            }
            let instances = (bits & 2 == 2).then(|| {
                let data = [1, 0, 0, 0, 0x80, 0x41, 0x0d, 0xf0, 0x0d, 0x90];
                [&[0][..], &data].concat()
            });
            let voxels = block(stream.side(), bits & 1 == 1, salt);
            stream.rows.push(Row { place, voxels, instances });
        }
        while stream.build().is_none() && stream.rows.pop().is_some() {}
        Ok(stream)
    }

    fn bytes(&self) -> Vec<u8> {
        self.build().map(|(bytes, _)| bytes).unwrap_or_default()
    }

    fn look(&self, bytes: &[u8]) -> Vec<Seen> {
        let options = Options::default().limits(limits());
        check::stream_bytes(bytes, "s", &options).iter().map(Seen::from).collect()
    }

    fn compare(&self, bytes: &[u8]) {
        let limits: Limits = limits();
        let open = Open::load(bytes, Beside::default(), &limits, &mut Vec::new());
        let Ok(Some(open)) = open else { panic!("it is not read at all") };
        assert_eq!((open.format, open.meta.block_size()), (Some(self.format), Some(self.side())));
        assert_eq!(open.rows.len(), self.rows.len(), "other rows");
        self.compare_in_a_directory(bytes);
        let mut scratch = StreamScratch::default();
        for row in &self.rows {
            let found = open.find(row.place).and_then(|at| open.rows.get(at));
            let found = found.unwrap_or_else(|| panic!("no row at {:?}", row.place));
            let Ok(()) = open.fetch(&found, &mut scratch) else { unreachable!("memory does not fail") };
            assert_eq!(open.voxel_bytes(&scratch), Some(&row.voxels[..]), "{:?}", row.place);
            assert_eq!(open.instance_bytes(&scratch), row.instances.as_deref(), "{:?}", row.place);
        }
    }

    fn any(&self, bytes: &[u8]) {
        raw::with(bytes);
    }

    fn kinds() -> &'static [Kind<Self>] {
        &super::stream_kinds::ALL
    }
}
