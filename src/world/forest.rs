//! Blocks in region files.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::files::Files;
use super::{At, Buffer, Error, Fault, Index};
use crate::bytes::{Span, index};
use crate::damage::{Code, Damage, Level};
use crate::godot::region::{Entry, Format, Header};
use crate::godot::slots::SlotFormula;
use crate::parallel;
use crate::save::{Forest, Kind, RegionFile, Save, Scratch, wanted};
use crate::source::Source;

/// Bytes per read when blocks are read in the order of the file.
const RUN: usize = 128 << 10;

/// Largest gap in bytes between two blocks that one read covers.
const SKIP: u64 = 16 << 10;

/// A forest with its open files.
#[derive(Debug)]
pub(super) struct Regions<'s> {
    pub forest: &'s Forest,
    files: Arc<Files>,
    /// Distinguishes bytes that were read ahead for this forest from those of another one.
    number: u64,
}

/// Bytes that were read ahead, beyond the requested block.
#[derive(Default)]
pub(super) struct Ahead {
    bytes: Vec<u8>,
    at: u64,
    /// Forest and file.
    of: (u64, u32),
    /// Where the last block ended.
    end: u64,
}

impl Ahead {
    /// The bytes of a span, if they were read.
    fn get(&self, of: (u64, u32), span: Span) -> Option<&[u8]> {
        let from = index(span.start.checked_sub(self.at).filter(|_| of == self.of)?);
        self.bytes.get(from..from.checked_add(index(span.len()))?)
    }
}

static FORESTS: AtomicU64 = AtomicU64::new(1);

impl<'s> Regions<'s> {
    pub fn new(forest: &'s Forest) -> Self {
        Self::with_files(forest, Arc::default())
    }

    /// The same with files that are open already.
    pub fn with_files(forest: &'s Forest, files: Arc<Files>) -> Self {
        Self { forest, files, number: FORESTS.fetch_add(1, Ordering::Relaxed) }
    }

    fn file(&self, number: u32) -> Option<&'s RegionFile> {
        self.forest.regions.get(index(u64::from(number)))
    }

    /// The header of the file of a block; its byte order is not known.
    pub fn header(&self, at: &At) -> Option<&'s Header> {
        self.file(at.file).and_then(|file| file.header.as_ref())
    }

    /// The same with the byte order of blocks that show none.
    pub fn header_with_order(&self, save: &Save, at: &At) -> Option<&'s Header> {
        self.file(at.file).and_then(|file| save.header(self.forest, file))
    }

    pub fn lods(&self) -> Vec<u8> {
        let mut lods: Vec<u8> = self.forest.regions.iter().map(|file| file.lod).collect();
        lods.sort_unstable();
        lods.dedup();
        lods
    }

    /// A given formula applies only to files that do not imply one themselves.
    pub fn format(&self, given: bool) -> Option<Format> {
        let headers = || self.forest.regions.iter().filter_map(|file| file.header.as_ref());
        let own = headers().find(|header| given && header.version >= 3).map(|header| header.format);
        // Block files without a known layout have headers that say nothing of it.
        let mut known =
            headers().filter(|header| header.format.block_size_po2 > 0 || self.forest.kind != Kind::BlockFiles);
        own.or(self.forest.format).or_else(|| known.next().map(|header| header.format))
    }

    /// The path of a file that changed while it was open.
    pub fn changed(&self) -> Option<PathBuf> {
        self.files.changed().and_then(|number| self.file(number)).map(|file| self.forest.dir.join(&file.name))
    }

    pub fn fetch(&self, save: &Save, at: &At, buffer: &mut Buffer) -> Result<(), Error> {
        buffer.bytes.clear();
        let Some(file) = self.file(at.file) else { return Ok(()) };
        let Some(header) = &file.header else { return Ok(()) };
        let path = self.forest.dir.join(&file.name);
        let failed = |error: &dyn std::fmt::Display| Error::Read(save.shown(&path), error.to_string());
        let entry = Entry(at.entry);
        let span = header.sector_span(u64::from(entry.first()), u64::from(entry.count()));
        buffer.at = span.start;
        let (ahead, of) = (&mut buffer.ahead, (self.number, at.file));
        let follows = ahead.of == of && ahead.end == span.start;
        ahead.end = span.end;
        if let Some(bytes) = ahead.get(of, span) {
            buffer.bytes.extend_from_slice(bytes);
        }
        let source = self.files.open(at.file, &path).map_err(|error| failed(&error))?;
        if buffer.bytes.is_empty() && follows && span.len() < RUN as u64 {
            source.read_into(span.start, RUN, &mut ahead.bytes).map_err(|error| failed(&error))?;
            ahead.at = span.start;
            buffer.bytes.extend_from_slice(ahead.bytes.get(..index(span.len())).unwrap_or(&ahead.bytes));
        } else if buffer.bytes.is_empty() {
            (ahead.of, ahead.at) = (of, span.start);
            ahead.bytes.clear();
            source.read_into(span.start, index(span.len()), &mut buffer.bytes).map_err(|error| failed(&error))?;
        }
        // Read past its sectors if the size prefix asks for more, as the engine does.
        let wanted = wanted(&buffer.bytes, &save.options.limits);
        if wanted > buffer.bytes.len() && buffer.bytes.len() as u64 == span.len() {
            source.read_into(span.start, wanted, &mut buffer.bytes).map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// Where a block is stored.
    pub fn span(&self, at: &At) -> Option<Span> {
        let entry = Entry(at.entry);
        self.header(at).map(|header| header.sector_span(u64::from(entry.first()), u64::from(entry.count())))
    }

    /// Reads the first of these blocks, which are in stored order, and those that follow it
    /// closely. If the read fails, blocks are read one by one, so that a bad sector affects only one block.
    pub fn read_ahead(&self, blocks: &[At], buffer: &mut Buffer) {
        let ahead = &mut buffer.ahead;
        let Some((first, span)) = blocks.first().and_then(|first| Some((first, self.span(first)?))) else { return };
        let of = (self.number, first.file);
        if ahead.get(of, span).is_some() {
            return;
        }
        let mut run = span;
        for at in blocks.iter().skip(1).take_while(|at| at.file == first.file) {
            let Some(span) = self.span(at) else { break };
            let joined = Span::new(run.start, run.end.max(span.end));
            if joined.len() > RUN as u64 || span.start > run.end.saturating_add(SKIP) {
                break;
            }
            run = joined;
        }
        if run == span {
            return;
        }
        (ahead.of, ahead.at) = (of, run.start);
        ahead.bytes.clear();
        let path = self.file(first.file).map(|file| self.forest.dir.join(&file.name));
        if let Some(source) = path.and_then(|path| self.files.open(first.file, &path).ok()) {
            // If that fails, the buffer is empty; the block is then read on its own and reports the error.
            let _ = source.read_into(run.start, index(run.len()), &mut ahead.bytes);
        }
    }

    pub fn index(&self, save: &Save, lod: u8, slots: Option<SlotFormula>) -> Index {
        let files: Vec<(u32, &RegionFile)> =
            (0..).zip(&self.forest.regions).filter(|(_, file)| file.lod == lod).collect();
        let parts = parallel::map(&files, |(number, file)| of_region(save, self.forest, *number, file, slots));
        let mut all = OfRegion::default();
        all.blocks.reserve_exact(parts.iter().map(|part| part.blocks.len()).sum());
        for OfRegion { blocks, faults, corrected } in parts {
            all.blocks.extend(blocks);
            all.faults.extend(faults);
            all.corrected.extend(corrected);
        }
        let OfRegion { blocks, faults, corrected } = all;
        Index { corrected, ..Index::new(lod, blocks, Vec::new(), faults) }
    }
}

/// What the index of a LOD has of one region file.
#[derive(Default)]
struct OfRegion {
    blocks: Vec<At>,
    faults: Vec<Fault>,
    corrected: Vec<Fault>,
}

/// Whether a file with this damage is read as a whole if its header is known: the header was corrected, or what a copy changed
/// was undone.
const fn is_corrected(code: Code) -> bool {
    matches!(
        code,
        Code::RegionBlockSize
            | Code::RegionSize
            | Code::RegionSectorSize
            | Code::RegionDepth
            | Code::RegionLayout
            | Code::RegionPalette
            | Code::RegionShifted
            | Code::CopyCrlf
            | Code::CopyLf
            | Code::CopyEncoding
    )
}

fn of_region(save: &Save, forest: &Forest, number: u32, file: &RegionFile, slots: Option<SlotFormula>) -> OfRegion {
    let name = save.shown(&forest.dir.join(&file.name));
    let fault = |why: String| Fault { file: name.clone(), why };
    let mut found = OfRegion::default();
    if file.detail.is_some() {
        // One that could not be opened is among what was not read.
        return found;
    }
    // A file whose name a copy changed is read.
    let grave = |code: Code| code.level() >= Level::Error && code != Code::CopyName;
    let report = |found: &mut OfRegion, damage: &[Damage]| {
        for damage in damage.iter().filter(|d| grave(d.code)) {
            let is_read = file.header.is_some() && is_corrected(damage.code);
            let list = if is_read { &mut found.corrected } else { &mut found.faults };
            list.push(fault(damage.to_string()));
        }
    };
    report(&mut found, &file.damage);
    let trailing = file.damage.iter().filter(|damage| damage.code == Code::BlockFileTrailing);
    found.corrected.extend(trailing.map(|damage| fault(format!("{damage}, which are left out"))));
    let mut region = match save.region(forest, file) {
        Ok(Some(region)) => region,
        Ok(None) => return found,
        Err(error) => {
            found.faults.push(fault(error.to_string()));
            return found;
        }
    };
    report(&mut found, &region.damage);
    let known = match region.own_slots(&mut Scratch::default()) {
        Ok(Some(known)) => known,
        Ok(None) => slots.unwrap_or_else(|| region.assumed_slots()),
        Err(error) => {
            found.faults.push(fault(error.to_string()));
            SlotFormula::default()
        }
    };
    found.blocks.reserve(region.entries.len());
    let mut outside = 0u64;
    for listed in &region.entries {
        match region.block_position(listed.slot, known) {
            Some(position) => found.blocks.push(At { position, file: number, entry: listed.entry.0 }),
            None => outside += 1,
        }
    }
    if outside > 0 {
        found.faults.push(fault(format!("{outside} entries of the table have no position")));
    }
    found
}
