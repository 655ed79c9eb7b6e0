//! The walk over the sectors of a region: every whole block, wherever it is, and what is between.

use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::io;
use std::sync::Arc;

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::bytes::{Span, index};
use crate::damage::Level;
use crate::godot::container::{LEAST, is_container};
use crate::godot::region::{Header, MOST_SECTORS, sectors_for};
use crate::limits::Limits;
use crate::recover::faces::Faces;
use crate::save::Scratch;
use crate::source::Source;

/// Bytes that are read at once.
const READ: usize = 1 << 20;

/// Most sectors whose hashes are kept to find those that are there twice.
const HASHED: u64 = 1 << 22;

/// A block that was being moved when the game was killed: `gap` sectors from `at` on are there a second time, and the
/// block goes on behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Splice {
    /// First sector of the second copy.
    pub at: u32,
    /// Its sectors.
    pub gap: u32,
}

/// A whole block that the walk met.
#[derive(Clone, Debug)]
pub struct Walked {
    /// Its first sector.
    pub first: u32,
    /// Sectors that its size asks for.
    pub count: u32,
    /// Its size without the four bytes before it.
    pub size: u32,
    /// Hash of the decompressed block.
    pub content: u128,
    /// Hash of the decompressed block without its metadata, if its sides were asked for; otherwise the same as `content`.
    pub voxels: u128,
    /// Bytes behind it in its last sector.
    pub slack: u32,
    /// Whether all of these are zero: the engine pads what it appends, not what it writes again.
    pub padded: bool,
    /// Whether it is stored as it is, so that zero bytes are common in it.
    pub plain: bool,
    /// Its version.
    pub version: u8,
    /// Whether something about it is against the format although all of it can be read.
    pub odd: bool,
    /// Where it is broken by sectors that are there twice.
    pub splice: Option<Splice>,
    /// Its outer layers, when they were asked for.
    pub faces: Option<Arc<Faces>>,
}

impl Hash for Walked {
    /// Of its outer layers, which the voxels settle, only whether they are there.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { first, count, size, content, voxels, slack, padded, plain, version, odd, splice, faces } = self;
        (first, count, size, content, voxels, slack).hash(hasher);
        (padded, plain, version, odd, splice, faces.is_some()).hash(hasher);
    }
}

impl Walked {
    /// A whole block of so many sectors of 512 bytes.
    #[cfg(test)]
    pub(super) fn whole(first: u32, count: u32, content: u128) -> Self {
        Self {
            first,
            count,
            size: count * 512 - 4,
            content,
            voxels: content,
            slack: 0,
            padded: true,
            plain: false,
            version: 4,
            odd: false,
            splice: None,
            faces: None,
        }
    }

    /// The sector after its last.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.first + self.count + self.splice.map_or(0, |splice| splice.gap)
    }
}

/// What the walk found.
#[derive(Clone, Debug, Default, Hash)]
pub struct Walk {
    /// Whole blocks, in the order of their sectors; they do not overlap.
    pub blocks: Vec<Walked>,
    /// Sectors that the file has room for, the last one possibly in part.
    pub sectors: u32,
    hashes: Vec<u64>,
    complete: bool,
}

impl Walk {
    /// Blocks of one sector each that are in a row.
    #[must_use]
    pub fn of_blocks(blocks: Vec<Walked>) -> Self {
        let sectors = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
        Self { blocks, sectors, complete: true, ..Self::default() }
    }

    /// Whether two runs of `count` sectors hold the same bytes; false where that is not known.
    #[must_use]
    pub fn same(&self, a: u32, b: u32, count: u32) -> bool {
        let run = |from: u32| self.hashes.get(from as usize..from.checked_add(count)? as usize);
        match (run(a), run(b)) {
            (Some(a), Some(b)) => a == b && !a.contains(&ZERO),
            _ => false,
        }
    }

    /// Whether the first sector of the block behind another one is inside of that too: it decodes, but the next
    /// block was being moved over its end.
    fn is_overrun(&self, block: &Walked, next: &Walked) -> bool {
        if block.end() != next.first || block.splice.is_some() {
            return false;
        }
        let own = self.hashes.get(block.first as usize + 1..(block.first + block.count) as usize);
        let next = self.hashes.get((block.first + block.count) as usize).filter(|h| **h != ZERO);
        match (own, next) {
            (Some(own), Some(next)) => own.contains(next),
            _ => false,
        }
    }

    /// Whether two sectors hold the same bytes, whatever these are.
    #[must_use]
    pub fn alike(&self, a: u32, b: u32) -> bool {
        let hash = |sector: u32| self.hashes.get(sector as usize);
        hash(a).is_some() && hash(a) == hash(b)
    }

    /// Whether sectors can be compared.
    #[must_use]
    pub const fn hashed(&self) -> bool {
        !self.hashes.is_empty()
    }

    /// Whether the whole file was looked at.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.complete
    }
}

/// The hash that stands for a sector of zeros, which are no evidence of anything.
const ZERO: u64 = 0;

/// Of which blocks the outer layers are kept.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'w> {
    /// Of none.
    None,
    /// Of all.
    All,
    /// Of those that begin at these sectors.
    At(&'w HashSet<u32>),
}

/// How to walk.
#[derive(Clone, Copy, Debug)]
pub struct Options<'w> {
    /// Whose outer layers are kept.
    pub faces: Wanted<'w>,
    /// Bytes that outer layers may take; those of further blocks are not kept.
    pub face_bytes: usize,
    /// Whether what other LODs have of a block is kept with its outer layers.
    pub lods: bool,
    /// Bytes that blocks may decode to; the walk ends there.
    pub budget: u64,
}

impl Options<'_> {
    /// A walk without outer layers, of files that decode to at most 64 GiB.
    pub const PLAIN: Self = Self { faces: Wanted::None, face_bytes: 0, lods: true, budget: 64 << 30 };
    /// The same with the outer layers of all blocks.
    pub const FACES: Self = Self { faces: Wanted::All, face_bytes: usize::MAX, ..Self::PLAIN };
}

/// Blocks of which layers from the middle are kept, and how many others there are for each one after them.
const INNER: usize = 512;
const INNER_STEP: usize = 16;

/// Walks over all sectors of a region file.
///
/// # Errors
/// What the operating system says.
pub fn walk<S: Source + ?Sized>(
    source: &S,
    header: &Header,
    limits: &Limits,
    options: Options<'_>,
) -> io::Result<Walk> {
    let sector = u64::from(header.format.sector_size.max(1));
    let sectors = source.len().saturating_sub(header.sectors_at()).div_ceil(sector);
    // An entry has 24 bits for a sector; what is beyond cannot be named.
    let sectors = u32::try_from(sectors).unwrap_or(u32::MAX).min(1 << 24);
    let mut walk = Walk { sectors, complete: true, ..Walk::default() };
    if u64::from(sectors) <= HASHED && sector >= 16 {
        walk.hashes = hashes(source, header, sectors)?;
    }
    let mut walker = Walker {
        source,
        header,
        limits,
        options,
        scratch: Scratch::default(),
        window: Vec::new(),
        at: 0,
        kept: 0,
        face_bytes: options.face_bytes,
        known_faces: HashMap::new(),
    };
    let mut budget = options.budget;
    let mut at = 0u32;
    while at < sectors {
        if budget == 0 {
            walk.complete = false;
            break;
        }
        let offset = header.sector_span(u64::from(at), 0).start;
        let data = source.next_data(offset).saturating_sub(header.sectors_at()) / sector;
        if data > u64::from(at) {
            at = u32::try_from(data).unwrap_or(u32::MAX);
            continue;
        }
        let found = match walker.block(at, &mut budget)? {
            Some(block) => Some(block),
            None => match walker.spliced(at, &walk, &mut budget)? {
                Some(block) if walker.hides_others(&block, &walk, &mut budget)? => None,
                spliced => spliced,
            },
        };
        match found {
            Some(block) => {
                at = block.end();
                walk.blocks.push(block);
            }
            None => at += 1,
        }
    }
    let mut keep: Vec<bool> = walk.blocks.windows(2).map(|w| !walk.is_overrun(&w[0], &w[1])).collect();
    keep.push(true);
    let mut keep = keep.into_iter();
    walk.blocks.retain(|_| keep.next().unwrap_or(true));
    Ok(walk)
}

fn hashes<S: Source + ?Sized>(source: &S, header: &Header, sectors: u32) -> io::Result<Vec<u64>> {
    let size = header.format.sector_size.max(1) as usize;
    let mut hashes = Vec::with_capacity(sectors as usize);
    let mut buffer = Vec::new();
    let step = (READ / size).max(1);
    for first in (0..sectors).step_by(step) {
        let span = header.sector_span(u64::from(first), step as u64);
        source.read_into(span.start, index(span.len()), &mut buffer)?;
        hashes.extend(buffer.chunks(size).map(|bytes| {
            if bytes.iter().all(|&b| b == 0) {
                return ZERO;
            }
            xxh3_64(bytes) | 1
        }));
    }
    hashes.truncate(sectors as usize);
    Ok(hashes)
}

struct Walker<'s, S: ?Sized> {
    source: &'s S,
    header: &'s Header,
    limits: &'s Limits,
    options: Options<'s>,
    scratch: Scratch,
    window: Vec<u8>,
    at: u64,
    /// Blocks whose outer layers were kept, and bytes that are left for others.
    kept: usize,
    face_bytes: usize,
    /// The outer layers that were read, with the bytes that they count, by the voxels of the block and whether layers from its
    /// middle are among them. Blocks of the same voxels share them.
    known_faces: HashMap<(u128, bool), (Arc<Faces>, usize)>,
}

impl<S: Source + ?Sized> Walker<'_, S> {
    fn bytes(&mut self, at: u64, len: usize) -> io::Result<&[u8]> {
        let end = self.at + self.window.len() as u64;
        if at < self.at || at.saturating_add(len as u64).min(self.source.len()) > end {
            self.at = at;
            self.source.read_into(at, READ.max(len), &mut self.window)?;
        }
        let bytes = self.window.get(index(at - self.at)..).unwrap_or_default();
        Ok(bytes.get(..len).unwrap_or(bytes))
    }

    /// The size prefix at a sector, when a block could begin there. Cheap: nothing is decoded.
    fn candidate(&mut self, at: u64) -> io::Result<Option<u32>> {
        let sector = self.header.format.sector_size;
        let head = self.bytes(at, 16)?;
        let Some((prefix, container)) = head.split_first_chunk::<4>() else { return Ok(None) };
        let size = u32::from_le_bytes(*prefix);
        let fits = size >= LEAST && sectors_for(size.into(), sector) <= MOST_SECTORS;
        Ok((fits && is_container(container, size)).then_some(size))
    }

    fn block(&mut self, first: u32, budget: &mut u64) -> io::Result<Option<Walked>> {
        let at = self.header.sector_span(u64::from(first), 0).start;
        let Some(size) = self.candidate(at)? else { return Ok(None) };
        let count = sectors_for(size.into(), self.header.format.sector_size) as u32;
        let stored = self.header.sector_span(u64::from(first), u64::from(count));
        if at + 4 + u64::from(size) > self.source.len() {
            return Ok(None);
        }
        let bytes = self.bytes(at, index(stored.len()))?.to_vec();
        Ok(self.decode(&bytes, first, size, count, None, budget))
    }

    /// A block of which the last sectors were still to be moved.
    fn spliced(&mut self, first: u32, walk: &Walk, budget: &mut u64) -> io::Result<Option<Walked>> {
        let at = self.header.sector_span(u64::from(first), 0).start;
        let Some(size) = self.candidate(at)? else { return Ok(None) };
        let count = sectors_for(size.into(), self.header.format.sector_size) as u32;
        let mut tears = Vec::new();
        for tear in first + 1..first + count {
            for gap in 1..=255u32.min(tear) {
                // What was moved last still is where it was moved from, and what comes next does not yet.
                let moved = gap.min(tear - first);
                let here = tear + gap < walk.sectors
                    && walk.same(tear - 1, tear + gap - 1, 1)
                    && !walk.alike(tear, tear + gap)
                    && (1..=moved).all(|k| walk.alike(tear - k, tear + gap - k));
                if !here {
                    continue;
                }
                let twice = (1..=gap.min(tear)).take_while(|k| walk.alike(tear - k, tear + gap - k)).count();
                let behind = self.header.sector_span(u64::from(first + count + gap), 0).start;
                let goes_on = self.candidate(behind)?.is_some() || behind >= self.source.len();
                tears.push((goes_on, twice, tear, gap));
            }
        }
        tears.sort_by_key(|&(goes_on, twice, tear, gap)| (!goes_on, std::cmp::Reverse(twice), tear, gap));
        let mut found: Option<Walked> = None;
        for (_, _, tear, gap) in tears.into_iter().take(64) {
            let head = self.header.sector_span(u64::from(first), u64::from(tear - first));
            let tail = self.header.sector_span(u64::from(tear + gap), u64::from(first + count - tear));
            let mut bytes = self.bytes(head.start, index(head.len()))?.to_vec();
            bytes.extend_from_slice(self.bytes(tail.start, index(tail.len()))?);
            let splice = Some(Splice { at: tear, gap });
            let block = self.decode(&bytes, first, size, count, splice, budget);
            match (&found, block) {
                (None, block) => found = block,
                // Without compression nearly anything decodes: then nothing shows where it was torn.
                (Some(one), Some(other)) if one.content != other.content => return Ok(None),
                _ => {}
            }
        }
        Ok(found)
    }

    /// Whether the first part of a spliced block is only a copied beginning of a whole block: between its parts are other whole
    /// blocks. A move leaves only copies of the blocks that it moved before.
    fn hides_others(&mut self, block: &Walked, walk: &Walk, budget: &mut u64) -> io::Result<bool> {
        let Some(splice) = block.splice else { return Ok(false) };
        let original = block.first + splice.gap;
        if self.block(original, budget)?.is_none_or(|other| other.content != block.content) {
            return Ok(false);
        }
        let moved = || walk.blocks.iter().rev().take(index(splice.gap.into()));
        let mut at = splice.at;
        while at < original {
            match self.block(at, budget)? {
                Some(other) if moved().all(|walked| walked.content != other.content) => return Ok(true),
                Some(other) => at = other.end(),
                None => at += 1,
            }
        }
        Ok(false)
    }

    fn decode(
        &mut self,
        sectors: &[u8],
        first: u32,
        size: u32,
        count: u32,
        splice: Option<Splice>,
        budget: &mut u64,
    ) -> Option<Walked> {
        let bytes = sectors.get(..4 + size as usize)?;
        let view = self.scratch.interpret_bytes(bytes, 0, self.header, None, self.limits);
        let container = view.container?;
        // Even a block that fails at once costs something.
        *budget = budget.saturating_sub((container.plain.len() as u64).max(1 << 10));
        let block = view.block?;
        let whole = container.whole && block.epilogue.is_some() && view.damage.iter().all(|d| !d.code.hides_data());
        if !whole {
            return None;
        }
        let slack = sectors.get(bytes.len()..).unwrap_or_default();
        let wanted = match self.options.faces {
            Wanted::None => false,
            Wanted::All => true,
            Wanted::At(sectors) => sectors.contains(&first),
        };
        let inner = self.kept < INNER || self.kept.is_multiple_of(INNER_STEP);
        let content = xxh3_128(container.plain);
        let channels = block.channels.last().and_then(|last| last.offset.checked_add(last.size));
        let channels = channels.filter(|_| wanted).and_then(|end| container.plain.get(..index(end)));
        let voxels = channels.map_or(content, xxh3_128);
        let faces = match self.known_faces.get(&(voxels, inner)) {
            _ if !wanted || self.face_bytes == 0 => None,
            Some(faces) => Some(faces.clone()),
            None => {
                let faces = Faces::read(&block, inner).map(|mut faces| {
                    // Which blocks are compared does not depend on what is kept of them.
                    let bytes = faces.bytes();
                    if !self.options.lods {
                        faces.forget_lods();
                    }
                    (Arc::new(faces), bytes)
                });
                self.known_faces.extend(faces.iter().map(|faces| ((voxels, inner), faces.clone())));
                faces
            }
        };
        let faces = faces.map(|(faces, bytes)| {
            self.kept += 1;
            self.face_bytes = self.face_bytes.saturating_sub(bytes);
            faces
        });
        Some(Walked {
            first,
            count,
            size,
            content,
            voxels,
            slack: slack.len() as u32,
            padded: slack.iter().all(|&b| b == 0),
            plain: container.declared.is_none(),
            version: block.version,
            odd: view.damage.iter().any(|d| d.code.level() > Level::Note),
            splice,
            faces,
        })
    }
}

/// The bytes of a walked block in the file, in one or two pieces: its size and its container.
#[must_use]
pub fn pieces(header: &Header, block: &Walked) -> Vec<Span> {
    let len = 4 + u64::from(block.size);
    let start = header.sector_span(u64::from(block.first), 0).start;
    match block.splice {
        None => vec![Span::sized(start, len)],
        Some(splice) => {
            let head = header.sector_span(u64::from(block.first), u64::from(splice.at - block.first));
            let tail = header.sector_span(u64::from(splice.at + splice.gap), 0).start;
            vec![head, Span::sized(tail, len.saturating_sub(head.len()))]
        }
    }
}

/// Reads pieces of a source one after the other.
///
/// # Errors
/// What the operating system says, and [`io::ErrorKind::UnexpectedEof`] if the source ends before a piece does.
pub fn read_pieces<S: Source>(source: &S, pieces: &[Span], bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    let mut part = Vec::new();
    for piece in pieces {
        source.read_into(piece.start, index(piece.len()), &mut part)?;
        if part.len() as u64 != piece.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&part);
    }
    Ok(())
}
