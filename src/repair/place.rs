//! What is done with one region that was walked over: which block is written where, and what is kept in `lost+found`.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::beside;
use crate::bytes::{Span, index};
use crate::godot::region::{Format, Header, sectors_for};
use crate::godot::slots::{self, Slots};
use crate::repair::backup::{Held, Store};
use crate::repair::mend::{Common, Job};
use crate::repair::pack;
use crate::repair::plan::{Action, Decision, LostBlock, Origin, RegionPlan, simple};
use crate::repair::survey::{Solved, Walk};
use crate::repair::{Error, Options};
use crate::save::{Save, Scratch};
use crate::source::Source;
use crate::trace::decide::Certainty;
use crate::trace::explained::{is_explained, listed};
use crate::trace::region::{Case, Listing};
use crate::trace::walk;

/// Why the bytes of a block that was written anew are kept.
pub(super) const AS_IT_WAS: &str = "as it was: it is written without what is against the format";

/// Blocks of which the usual values of channels are taken.
const SAMPLES: usize = 256;

/// Where bytes are in the file, and the bytes.
type Raw = (Vec<Span>, Vec<u8>);

/// A region while it is decided on.
struct Placing<'p, 's> {
    save: &'p Save,
    walk: &'p Walk<'s>,
    solved: &'p Solved,
    store: Option<&'p Store>,
    /// The layout that is written.
    format: Format,
    blocks: Vec<Decision>,
    lost: Vec<LostBlock>,
    /// Slots in the source that have a block, as they are written.
    filled: HashSet<[i32; 3]>,
    /// The usual values, counted when they are needed.
    common: Option<Common>,
}

pub(super) fn region_plan(
    save: &Save,
    walk: &Walk<'_>,
    solved: &Solved,
    format: Option<&Format>,
    store: Option<&Store>,
    options: &Options<'_>,
) -> Result<RegionPlan, Error> {
    let mut plan = simple(save, walk.forest, &walk.file.name, walk.file.lod, Action::Copy, "healthy");
    let own = walk.region.header.format;
    let format = format.copied().unwrap_or(own);
    let sound = walk.is_sound() && format == own && !walk.is_displaced();
    let case = &walk.case;
    if case.is_intact() && sound && !walk.is_odd() {
        return Ok(plan);
    }
    let mut placing = Placing {
        save,
        walk,
        solved,
        store,
        format,
        blocks: Vec::new(),
        lost: Vec::new(),
        filled: HashSet::new(),
        common: None,
    };
    placing.found(options.least());
    placing.matched();
    let by_slot: HashMap<u32, &Listing> = case.entries.iter().map(|e| (e.slot, e)).collect();
    let as_listed = placing.blocks.len() == case.entries.len()
        && placing.blocks.iter().all(|d| {
            let listed = by_slot.get(&d.slot).filter(|e| e.position == d.position);
            d.listed_at.is_none() && d.mend.is_none() && listed.is_some_and(|e| count(d, &own) == u64::from(e.count))
        });
    let packed = case.entries.iter().try_fold(0, |at, e| (e.first == at).then_some(at + e.count)).is_some();
    let homeless = placing.homeless();
    let appended = homeless.iter().any(|&b| case.entries.is_empty() || solved.appended[b] > 0.2);
    let odd = placing.set_right()?;
    if as_listed && packed && !appended && sound && !odd {
        return Ok(plan);
    }
    plan.action = Action::Rebuild;
    plan.why = match walk.remark {
        Some(remark) => remark,
        None if !case.is_intact() && !as_listed => "the table does not fit the sectors",
        None if sound && odd => "something in its blocks is against the format",
        None if sound => "the table does not fit the sectors",
        None if walk.is_displaced() => "its blocks stood in the slots of the old formula",
        None if walk.is_sound() => "its layout was not that of the other files",
        None => "the header or the last sector is damaged",
    };
    placing.torn()?;
    placing.fill_from_backup()?;
    for (i, entry) in case.entries.iter().enumerate().filter(|(_, e)| !placing.filled.contains(&e.position)) {
        let why = if solved.torn[i] > 0.5 || placing.lost.iter().any(|l| !l.whole && l.sector == entry.first) {
            "its block is torn"
        } else if solved.options[i].is_empty() {
            "no block was found for it"
        } else {
            "its block cannot be told for certain"
        };
        plan.missing.push((entry.position, why));
    }
    plan.missing.sort_unstable();
    for b in homeless {
        let lost = placing.ownerless(b);
        placing.lost.push(lost);
    }
    placing.lost.sort_by_key(|lost| lost.sector);
    let Placing { mut blocks, lost, .. } = placing;
    blocks.sort_by_key(|d| (d.backup.is_some(), d.sector, d.slot));
    plan.source = Some(walk.region.header.clone());
    plan.header = Some(header(&walk.region.header, format));
    plan.blocks = blocks;
    plan.lost = lost;
    Ok(plan)
}

/// The header of the same version for a layout.
fn header(old: &Header, format: Format) -> Header {
    match old.palette.as_deref().and_then(|palette| <[u8; 1024]>::try_from(palette).ok()) {
        Some(palette) => Header::with_palette(format, palette),
        None => Header::new(old.version, format),
    }
}

/// The first bytes of some pieces.
fn cut(pieces: Vec<Span>, mut len: u64) -> Vec<Span> {
    let part = |piece: Span| {
        let part = Span::sized(piece.start, piece.len().min(len));
        len -= part.len();
        part
    };
    pieces.into_iter().map(part).filter(|part| !part.is_empty()).collect()
}

/// Sectors of a block in a layout.
fn count(decision: &Decision, format: &Format) -> u64 {
    let len: u64 = decision.pieces.iter().map(Span::len).sum();
    sectors_for(len.saturating_sub(4), format.sector_size)
}

impl Placing<'_, '_> {
    fn case(&self) -> &Case {
        &self.walk.case
    }

    /// Where bytes that are counted without what was left out stand in the file.
    fn real(&self, pieces: Vec<Span>) -> Vec<Span> {
        pieces.into_iter().flat_map(|piece| self.walk.region.source.real(piece)).collect()
    }

    fn pieces(&self, block: usize) -> Vec<Span> {
        self.real(walk::pieces(&self.walk.region.header, &self.case().walk.blocks[block]))
    }

    /// The slot of a position in the file that is written.
    fn slot(&self, position: [i32; 3]) -> Option<u32> {
        let formula = if self.walk.is_displaced() { Slots::New } else { self.walk.slots };
        let size = self.format.region_size;
        let mut inside = [0; 3];
        for axis in 0..3 {
            let (region, at) = slots::place(position[axis], size[axis], formula)?;
            if region != self.walk.file.position[axis] {
                return None;
            }
            inside[axis] = at;
        }
        slots::index(size, inside)
    }

    fn decision(&self, position: [i32; 3], block: usize, certainty: Certainty, p: f64) -> Option<Decision> {
        let found = &self.case().walk.blocks[block];
        Some(Decision {
            slot: self.slot(position)?,
            position,
            pieces: self.pieces(block),
            sector: found.first,
            listed_at: None,
            certainty,
            probability: p,
            moved: false,
            origin: Origin::Found,
            backup: None,
            mend: None,
        })
    }

    /// The blocks whose places are sure enough. Where the table explains all that stands there, what speaks for nothing
    /// better is no reason to take a block out.
    fn found(&mut self, least: Certainty) {
        let by_slot = self.solved.placed.iter().map(|p| (p.slot, *p)).collect();
        if self.walk.split.is_none() && is_explained(self.case(), &by_slot) {
            for entry in self.case().entries.clone() {
                let block = listed(self.case(), &entry);
                let Some(block) = block else { continue };
                self.blocks.extend(self.decision(entry.position, block, Certainty::Certain, 1.0));
                self.filled.insert(entry.position);
            }
            return;
        }
        let listed: HashMap<[i32; 3], u32> = self.case().entries.iter().map(|e| (e.position, e.first)).collect();
        for placed in self.solved.placed.iter().filter(|p| p.certainty >= least) {
            let Some(decision) = self.decision(placed.position, placed.block, placed.certainty, placed.p) else {
                continue;
            };
            let first = listed.get(&placed.position).copied();
            let listed_at = first.filter(|first| *first != decision.sector);
            self.filled.insert(placed.position);
            self.blocks.push(Decision { listed_at, moved: placed.moved, ..decision });
        }
    }

    /// Blocks whose content the backup had at one position only, and that are in use: no older copy stands before the
    /// last block in use, for the engine leaves no holes.
    fn matched(&mut self) {
        let Some(store) = self.store else { return };
        let case = self.case();
        let (lod, size) = (self.walk.file.lod, self.format.region_size);
        let known = store.positions(lod, self.walk.file.position, size).len();
        // One block may have been taken out and not yet written again.
        let least = case.entries.len().max(known).saturating_sub(1);
        let mut copies: HashMap<u128, usize> = HashMap::new();
        case.walk.blocks.iter().for_each(|b| *copies.entry(b.content).or_default() += 1);
        let (mut before, mut end) = (0usize, 0u32);
        let mut pins = Vec::new();
        for (b, block) in case.walk.blocks.iter().enumerate() {
            // As many torn blocks as there may be in a hole.
            before += index(u64::from(block.first.saturating_sub(end)));
            end = block.end();
            if before >= least {
                break;
            }
            before += 1;
            let alone = copies.get(&block.content) == Some(&1) && block.splice.is_none();
            if let Some((_, position)) = store.owner(block.content).filter(|(l, _)| alone && *l == lod) {
                pins.push((b, position));
            }
        }
        let listed: HashMap<[i32; 3], u32> = case.entries.iter().map(|e| (e.position, e.first)).collect();
        let content: HashMap<u32, u128> = case.walk.blocks.iter().map(|b| (b.first, b.content)).collect();
        for (b, position) in pins {
            let sector = self.case().walk.blocks[b].first;
            let certain = |d: &Decision| d.certainty == Certainty::Certain && d.origin == Origin::Found;
            let at_position = self.blocks.iter().position(|d| d.position == position);
            if let Some(at) = at_position
                && content.get(&self.blocks[at].sector) == content.get(&sector)
            {
                let here = &mut self.blocks[at];
                here.origin = if here.certainty == Certainty::Certain { here.origin } else { Origin::Matched };
                here.certainty = Certainty::Certain;
                continue;
            }
            // What the sectors say for certain is not overruled: the block may have been saved anew since.
            let against = self.blocks.iter().any(|d| certain(d) && (d.position == position || d.sector == sector));
            let Some(decision) = self.decision(position, b, Certainty::Certain, 1.0).filter(|_| !against) else {
                continue;
            };
            self.blocks.retain(|d| d.position != position && d.sector != sector);
            let first = listed.get(&position).copied();
            let listed_at = first.filter(|first| *first != sector);
            self.blocks.push(Decision { listed_at, origin: Origin::Matched, ..decision });
        }
        self.filled = self.blocks.iter().map(|d| d.position).collect();
    }

    /// Whole blocks that are written nowhere, each content once.
    fn homeless(&self) -> Vec<usize> {
        let sectors: HashSet<u32> = self.blocks.iter().map(|d| d.sector).collect();
        let blocks = &self.case().walk.blocks;
        let mut placed: HashSet<u128> =
            blocks.iter().filter(|b| sectors.contains(&b.first)).map(|b| b.content).collect();
        (0..blocks.len()).filter(|&b| placed.insert(blocks[b].content)).collect()
    }

    fn read(&self, pieces: &[Span]) -> Result<Vec<u8>, beside::Error> {
        let mut bytes = Vec::new();
        let failed = |error| beside::Error::read(&self.walk.path())(error);
        pack::read(self.walk.region.source.file(), pieces, &mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    fn job<'j>(&'j self, stored: &'j [u8]) -> Job<'j> {
        Job { stored, from: &self.walk.region.header, to: &self.format, limits: &self.save.options.limits }
    }

    /// Makes blocks that are against the format healthy where that loses nothing; whether there are any.
    fn set_right(&mut self) -> Result<bool, beside::Error> {
        let odd: HashSet<u32> = self.case().walk.blocks.iter().filter(|b| b.odd).map(|b| b.first).collect();
        let mut any = false;
        for i in 0..self.blocks.len() {
            if !odd.contains(&self.blocks[i].sector) {
                continue;
            }
            let stored = self.read(&self.blocks[i].pieces)?;
            let Some(mend) = self.job(&stored).set_right() else { continue };
            any = true;
            self.keep(self.blocks[i].sector, self.blocks[i].pieces.clone(), true, AS_IT_WAS, Vec::new());
            self.blocks[i].mend = Some(mend);
        }
        Ok(any)
    }

    fn keep(&mut self, sector: u32, pieces: Vec<Span>, whole: bool, why: &'static str, at: Vec<([i32; 3], f64)>) {
        self.lost.push(LostBlock { sector, pieces, whole, why, candidates: at });
    }

    /// Sectors in which no whole block stands: what of them can be used is used, and all that is not zero is kept.
    fn torn(&mut self) -> Result<(), beside::Error> {
        let left: Vec<usize> = self.unfilled().collect();
        if left.is_empty() {
            return Ok(());
        }
        for (first, end) in self.holes() {
            let mut at = first;
            let inside: Vec<usize> =
                left.iter().copied().filter(|&i| (first..end).contains(&self.case().entries[i].first)).collect();
            for i in inside {
                let entry = self.case().entries[i];
                if entry.first < at {
                    continue;
                }
                self.keep_raw(at, entry.first)?;
                let stop = (entry.first + entry.count).min(end);
                self.torn_entry(i, stop)?;
                at = stop;
            }
            self.keep_raw(at, end)?;
        }
        Ok(())
    }

    fn unfilled(&self) -> impl Iterator<Item = usize> {
        let entries = self.case().entries.iter().enumerate();
        entries.filter(|(_, e)| !self.filled.contains(&e.position)).map(|(i, _)| i)
    }

    /// Runs of sectors without a whole block, up to the last block or entry.
    fn holes(&self) -> Vec<(u32, u32)> {
        let case = self.case();
        let blocks = &case.walk.blocks;
        let last = blocks.last().map_or(0, walk::Walked::end).max(case.table_end()).min(case.walk.sectors);
        let mut holes = Vec::new();
        let mut at = 0;
        for block in blocks {
            if block.first > at {
                holes.push((at, block.first));
            }
            at = block.end();
        }
        if last > at {
            holes.push((at, last));
        }
        holes
    }

    /// The bytes of a run of sectors, those behind the end of the file left out; `None` when all of them are zero.
    fn raw(&self, first: u32, end: u32) -> Result<Option<Raw>, beside::Error> {
        let span = self.walk.region.header.sector_span(first.into(), end.saturating_sub(first).into());
        let span = Span::new(span.start, span.end.min(self.walk.region.source.len()));
        if span.start >= span.end || end <= first {
            return Ok(None);
        }
        let pieces = self.real(vec![span]);
        let bytes = self.read(&pieces)?;
        Ok(bytes.iter().any(|&b| b != 0).then_some((pieces, bytes)))
    }

    fn keep_raw(&mut self, first: u32, end: u32) -> Result<(), beside::Error> {
        if let Some((pieces, _)) = self.raw(first, end)? {
            self.keep(first, pieces, false, "no whole block stands there", Vec::new());
        }
        Ok(())
    }

    /// A block that stands torn where the table says, up to the sector `stop`.
    fn torn_entry(&mut self, i: usize, stop: u32) -> Result<(), beside::Error> {
        let entry = self.case().entries[i];
        let Some((pieces, bytes)) = self.raw(entry.first, stop)? else { return Ok(()) };
        self.keep(
            entry.first,
            pieces.clone(),
            false,
            "it is torn",
            vec![(entry.position, self.solved.torn[i].max(0.5))],
        );
        // A backup has the whole of it, if an older state.
        let held = self.store.is_some_and(|s| s.blocks.contains_key(&(self.walk.file.lod, entry.position)));
        if held || !self.is_in_place(i) {
            return Ok(());
        }
        let to_the_end = pieces.last().is_some_and(|p| p.end == self.walk.region.source.file().len());
        let at = pieces.first().map_or(0, |p| p.start);
        let reliable = self.job(&bytes).reliable(at, to_the_end);
        if reliable == 0 {
            return Ok(());
        }
        self.count_common()?;
        let common = self.common.take().unwrap_or_default();
        let mend = self.job(&bytes[..reliable]).salvage(&common);
        self.common = Some(common);
        let pieces = cut(pieces, reliable as u64);
        let (Some(mend), Some(slot)) = (mend, self.slot(entry.position)) else { return Ok(()) };
        self.filled.insert(entry.position);
        self.blocks.push(Decision {
            slot,
            position: entry.position,
            pieces,
            sector: entry.first,
            listed_at: None,
            certainty: Certainty::Certain,
            probability: 1.0,
            moved: false,
            origin: Origin::Salvaged,
            backup: None,
            mend: Some(mend),
        });
        Ok(())
    }

    /// Whether the entries before and behind one lead to their own blocks, so that what stands between is its own.
    fn is_in_place(&self, i: usize) -> bool {
        let entries = &self.case().entries;
        let entry = entries[i];
        let right = |e: &Listing| {
            let own = self.blocks.iter().find(|d| d.position == e.position);
            own.is_some_and(|d| d.certainty == Certainty::Certain && d.listed_at.is_none() && d.backup.is_none())
        };
        let before = match i.checked_sub(1).and_then(|i| entries.get(i)) {
            Some(e) => e.first + e.count == entry.first && right(e),
            None => entry.first == 0,
        };
        let behind = match entries.get(i + 1) {
            Some(e) => entry.first + entry.count == e.first && right(e),
            // Nothing was appended behind the last one.
            None => self.case().walk.blocks.last().is_none_or(|b| b.first < entry.first),
        };
        before && behind
    }

    fn count_common(&mut self) -> Result<(), beside::Error> {
        if self.common.is_some() {
            return Ok(());
        }
        let mut common = Common::default();
        let mut scratch = Scratch::default();
        let step = self.blocks.len().div_ceil(SAMPLES).max(1);
        for decision in self.blocks.iter().filter(|d| d.origin != Origin::Salvaged).step_by(step) {
            let stored = self.read(&decision.pieces)?;
            common.add(&stored, &self.walk.region.header, &self.save.options.limits, &mut scratch);
        }
        self.common = Some(common);
        Ok(())
    }

    /// Positions without a block get that of the backup: the engine never takes one out for good.
    fn fill_from_backup(&mut self) -> Result<(), beside::Error> {
        let Some(store) = self.store else { return Ok(()) };
        let lod = self.walk.file.lod;
        let mut files: HashMap<usize, Arc<(PathBuf, Header)>> = HashMap::new();
        for position in store.positions(lod, self.walk.file.position, self.format.region_size) {
            let (Some(held), Some(slot)) = (store.blocks.get(&(lod, position)), self.slot(position)) else { continue };
            if self.filled.contains(&position) {
                continue;
            }
            let Held { file, sector, pieces, .. } = held;
            let Some(file_of) = store.files.get(*file) else { continue };
            let source = beside::open(&file_of.path)?;
            let mut stored = Vec::new();
            pack::read(&source, pieces, &mut stored).map_err(beside::Error::read(&file_of.path))?;
            let job =
                Job { stored: &stored, from: &file_of.header, to: &self.format, limits: &self.save.options.limits };
            let mend = if job.is_healthy() { Some(None) } else { job.set_right().map(Some) };
            let Some(mend) = mend else { continue };
            let shared =
                files.entry(*file).or_insert_with(|| Arc::new((file_of.path.to_path_buf(), file_of.header.clone())));
            self.filled.insert(position);
            self.blocks.push(Decision {
                slot,
                position,
                pieces: pieces.clone(),
                sector: *sector,
                listed_at: None,
                certainty: Certainty::Likely,
                probability: 1.0,
                moved: false,
                origin: Origin::Backup,
                backup: Some(Arc::clone(shared)),
                mend,
            });
        }
        Ok(())
    }

    /// A whole block without an owner.
    fn ownerless(&self, b: usize) -> LostBlock {
        let case = self.case();
        let block = &case.walk.blocks[b];
        let options = self.solved.options.iter().zip(&case.entries);
        let taken = |d: &&Decision| !matches!(d.origin, Origin::Salvaged | Origin::Backup);
        let taken: HashSet<[i32; 3]> = self.blocks.iter().filter(taken).map(|d| d.position).collect();
        let free = options.filter(|(_, entry)| !taken.contains(&entry.position));
        let mut candidates: Vec<([i32; 3], f64)> = free
            .filter_map(|(options, entry)| {
                let p: f64 = options.iter().filter(|o| o.block == b).map(|o| o.p).sum();
                (p > 0.005).then_some((entry.position, p))
            })
            .collect();
        candidates.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        LostBlock { sector: block.first, pieces: self.pieces(b), whole: true, why: "it has no owner", candidates }
    }
}
