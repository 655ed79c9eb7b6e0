//! What is done with one region that was walked over: which block is written where, and what is kept in `lost+found`.

use std::collections::{HashMap, HashSet};

use crate::bytes::{Span, index};
use crate::draft;
use crate::godot::region::{Format, Header, sectors_for};
use crate::godot::slots::SlotFormula;
use crate::recover::decide::{Certainty, REPORTED};
use crate::recover::explained::listed;
use crate::recover::region::{Case, Listing};
use crate::recover::walk;
use crate::repair::backup::Store;
use crate::repair::decision::{Action, Decision, LostBlock, Origin, RegionPlace, RegionPlan, exchanged_in, simple};
use crate::repair::mend::{Common, Job};
use crate::repair::survey::{Solved, Walk, sure};
use crate::repair::why::{FileReason, KeptReason, MissingReason};
use crate::repair::{Error, Options};
use crate::save::Save;

/// The least probability that a whole block of the file is that of an entry, at which the entry is said to be wrong and not the block
/// to be missing.
const PRESENT: f64 = 0.5;

/// A region while it is decided on.
pub(super) struct Placing<'p, 's> {
    pub save: &'p Save,
    pub walk: &'p Walk<'s>,
    pub solved: &'p Solved,
    pub store: Option<&'p Store>,
    /// The layout that is written.
    pub format: Format,
    pub blocks: Vec<Decision>,
    pub lost: Vec<LostBlock>,
    /// Positions of the source that have a block in the result.
    pub filled: HashSet<[i32; 3]>,
    /// The usual values, counted when they are needed.
    pub common: Option<Common>,
}

pub(super) fn region_plan(
    save: &Save,
    walk: &Walk<'_>,
    solved: &Solved,
    format: Option<&Format>,
    store: Option<&Store>,
    options: &Options<'_>,
) -> Result<RegionPlan, Error> {
    let mut plan = simple(save, walk.forest, &walk.file.name, walk.file.lod, Action::Copy, FileReason::Healthy);
    plan.undecided = solved.undecided as u64;
    let own = walk.region.header.format;
    let format = format.copied().unwrap_or(own);
    let sound = walk.is_sound() && format == own && !walk.is_displaced();
    let case = &walk.case;
    if case.is_intact() && solved.as_listed && sound && !walk.is_odd() {
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
    let garbage = case.garbage();
    placing.found(options.least());
    placing.matched();
    placing.voxels_alone(options.least())?;
    let mut by_slot: Vec<&Listing> = case.entries.iter().collect();
    by_slot.sort_by_key(|entry| entry.slot);
    let entry_of = |slot: u32| by_slot.binary_search_by_key(&slot, |entry| entry.slot).ok().map(|at| by_slot[at]);
    let fits = placing.blocks.iter().all(|d| {
        let listed = entry_of(d.slot).filter(|e| e.position == d.position);
        d.listed_at.is_none() && d.mend.is_none() && listed.is_some_and(|e| count(d, &own) == u64::from(e.count))
    });
    let as_listed = fits && placing.blocks.len() == case.entries.len();
    let packed = case.entries.iter().try_fold(0, |at, e| (e.first == at).then_some(at + e.count)).is_some();
    let unowned = placing.unowned();
    let appended = unowned.iter().any(|&b| case.entries.is_empty() || solved.appended[b] > 0.2);
    // The checker reports the likely position of a block without an entry; lost+found keeps the block with that position.
    let without_entry = solved.placed.iter().filter(|p| entry_of(p.slot).is_none());
    let likely: Vec<[i32; 3]> =
        without_entry.filter(|p| p.certainty >= Certainty::Likely).map(|p| p.position).collect();
    drop(by_slot);
    let odd = placing.set_right()?;
    if as_listed && packed && !appended && likely.is_empty() && sound && !odd {
        return Ok(plan);
    }
    plan.action = Action::Rebuild;
    // Where most blocks are where the table has them and nothing else is there, the table is not at fault.
    let has_most = !as_listed && placing.blocks.len().saturating_mul(2) >= case.entries.len();
    let only_blocks = fits && has_most && packed && sound && !odd && !appended && likely.is_empty();
    plan.changes_slots = walk.is_displaced();
    plan.by_other_table = solved.by_other_table;
    plan.why = FileReason::Other(match walk.remark {
        Some(remark) => remark,
        None if solved.by_other_table => "the table of another region file fits its blocks",
        None if packed && sound && !odd && exchanged_in(&placing.blocks) > 0 => {
            "its table leads to blocks of other positions"
        }
        None if only_blocks && placing.blocks.len() + 1 == case.entries.len() => "a block in it is damaged",
        None if only_blocks => "blocks in it are damaged",
        None if !case.is_intact() && !as_listed && walk.has_other_layout() => {
            "its header was damaged, and its table does not fit the sectors"
        }
        None if !case.is_intact() && !as_listed => "the table does not fit the sectors",
        None if sound && odd => "something in its blocks is against the format",
        None if sound => "the table does not fit the sectors",
        None if walk.is_displaced() => "its blocks were in the slots of the old formula",
        None if walk.is_sound() => "its layout was not that of the other files",
        None => walk.fault(),
    });
    placing.torn()?;
    placing.between_parts()?;
    placing.older_states()?;
    // The checker reports the same places.
    let reported: HashMap<u32, usize> =
        solved.placed.iter().filter(|p| p.p >= REPORTED).map(|p| (p.slot, p.block)).collect();
    let is_there =
        |entry: &Listing, block: usize| listed(case, entry).map(|b| case.content(b)) == Some(case.content(block));
    let mut candidates: HashMap<[i32; 3], f64> = HashMap::new();
    for (_, position, p) in &solved.candidates {
        *candidates.entry(*position).or_default() += p;
    }
    let by_seams = |position: [i32; 3]| candidates.get(&position).copied().unwrap_or(0.0);
    plan.missing.reserve_exact(case.entries.len().saturating_sub(placing.filled.len()));
    for (i, entry) in case.entries.iter().enumerate().filter(|(_, e)| !placing.filled.contains(&e.position)) {
        if garbage.contains(&entry.slot) || solved.void.binary_search(&entry.slot).is_ok() {
            continue;
        }
        let why = match () {
            () if reported.get(&entry.slot).is_some_and(|block| is_there(entry, *block)) => MissingReason::InDoubt,
            () if reported.contains_key(&entry.slot) => MissingReason::Uncertain,
            () if solved.is_torn(i) && entry.first >= case.walk.sectors => MissingReason::BeyondEnd,
            () if solved.is_torn(i) => MissingReason::Torn,
            () if solved.presence(i) < PRESENT && by_seams(entry.position) < PRESENT => MissingReason::NotFound,
            () => MissingReason::Uncertain,
        };
        plan.missing.push((entry.position, why));
    }
    for listed in walk.region.entries.iter().filter(|listed| listed.entry.count() == 0) {
        let position = walk.region.block_position(listed.slot, walk.slots);
        let position = position.filter(|at| !placing.filled.contains(at));
        plan.missing.extend(position.map(|at| (at, MissingReason::NoSectors)));
    }
    // A block without an entry whose position is likely is one of the save's blocks, whether it is written or not.
    let likely = likely.into_iter().filter(|at| !placing.filled.contains(at));
    plan.missing.extend(likely.map(|at| (at, MissingReason::Uncertain)));
    plan.missing.sort_unstable();
    // An entry without sectors may be that of a position that is likely for a block.
    plan.missing.dedup_by_key(|(position, _)| *position);
    placing.list_unowned(&unowned);
    placing.lost.sort_by_key(|lost| lost.sector);
    let Placing { mut blocks, lost, .. } = placing;
    blocks.sort_by_key(|d| (d.backup.is_some(), d.sector, d.slot));
    plan.source = Some(walk.region.header.clone());
    plan.header = Some(header(&walk.region.header, format));
    plan.place = Some(region_place(walk));
    plan.blocks = blocks;
    plan.lost = lost;
    Ok(plan)
}

/// Where the blocks of a region are in the file that is written.
fn region_place(walk: &Walk<'_>) -> RegionPlace {
    let slots = if walk.is_displaced() { SlotFormula::Euclidean } else { walk.slots };
    RegionPlace { region: walk.file.position, slots }
}

/// The header of the same version for a layout.
fn header(old: &Header, format: Format) -> Header {
    match old.palette.as_deref().and_then(|palette| <[u8; 1024]>::try_from(palette).ok()) {
        Some(palette) => Header::with_palette(format, palette),
        None => Header::new(old.version, format),
    }
}

/// Sectors of a block in a layout.
fn count(decision: &Decision, format: &Format) -> u64 {
    let len: u64 = decision.pieces.iter().map(Span::len).sum();
    sectors_for(len.saturating_sub(4), format.sector_size)
}

impl Placing<'_, '_> {
    pub fn case(&self) -> &Case {
        &self.walk.case
    }

    /// Where bytes that are counted without what was left out are in the file.
    pub fn real(&self, pieces: Vec<Span>) -> Vec<Span> {
        pieces.into_iter().flat_map(|piece| self.walk.region.source.real(piece)).collect()
    }

    pub fn pieces(&self, block: usize) -> Vec<Span> {
        self.real(walk::pieces(&self.walk.region.header, &self.case().walk.blocks[block]))
    }

    /// The slot of a position in the file that is written.
    pub fn slot(&self, position: [i32; 3]) -> Option<u32> {
        region_place(self.walk).slot(&self.format, position)
    }

    pub fn decision(&self, position: [i32; 3], block: usize, certainty: Certainty, p: f64) -> Option<Decision> {
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
            short_entry: false,
        })
    }

    /// The blocks whose places are sure enough.
    fn found(&mut self, least: Certainty) {
        let case = &self.walk.case;
        // A region may have very many entries, and hardly any block whose place is sure.
        let mut listed_by_position: Vec<([i32; 3], u32)> =
            (0u32..).zip(&case.entries).map(|(i, entry)| (entry.position, i)).collect();
        listed_by_position.sort_unstable();
        let entry_of = |position: [i32; 3]| {
            let next = listed_by_position.partition_point(|(other, _)| *other <= position);
            let &(_, i) = listed_by_position.get(next.checked_sub(1)?).filter(|(other, _)| *other == position)?;
            case.entries.get(index(i.into()))
        };
        let entries = self.walk.region.entries.iter();
        let without_sectors: HashSet<u32> = entries.filter(|e| e.entry.count() == 0).map(|e| e.slot).collect();
        for placed in sure(self.walk, self.solved, least) {
            let decision = self.decision(placed.position, placed.block, placed.certainty, placed.p);
            let Some(decision) = decision else { continue };
            let entry = entry_of(placed.position);
            // An entry that leads to a copy of the block has its content. One that leads to the block with a wrong number of
            // sectors is an entry of it.
            let content = self.case().content(placed.block);
            let there = |entry: &Listing| listed(case, entry).map(|block| case.content(block));
            let has_it = entry.is_some_and(|entry| entry.first == decision.sector || there(entry) == Some(content));
            let listed_at = entry.map(|entry| entry.first).filter(|_| !has_it);
            let moved = placed.moved && !has_it || without_sectors.contains(&placed.slot);
            self.filled.insert(placed.position);
            let sectors = self.case().walk.blocks[placed.block].count;
            let short_entry = entry.is_some_and(|e| e.first == decision.sector && 0 < e.count && e.count < sectors);
            self.blocks.push(Decision { listed_at, moved, short_entry, ..decision });
        }
    }

    /// Blocks whose voxels are sure enough, but not their metadata, because other blocks have the same voxels. They are written
    /// without metadata.
    fn voxels_alone(&mut self, least: Certainty) -> Result<(), draft::Error> {
        if self.solved.as_listed {
            return Ok(());
        }
        let solved = self.solved;
        let open = solved.placed.iter().filter(|placed| placed.certainty < least && placed.voxels >= least);
        for placed in open {
            if self.filled.contains(&placed.position) {
                continue;
            }
            let Some(decision) = self.decision(placed.position, placed.block, placed.voxels, placed.p) else {
                continue;
            };
            let stored = self.read(&decision.pieces)?;
            let Some(mend) = self.job(&stored).voxels_alone() else { continue };
            self.filled.insert(placed.position);
            let (mend, origin) = (Some(mend), Origin::Voxels);
            self.blocks.push(Decision { mend, origin, moved: placed.moved, ..decision });
        }
        Ok(())
    }

    /// Whole blocks that are written nowhere, each content once.
    fn unowned(&self) -> Vec<usize> {
        let with_metadata = self.blocks.iter().filter(|d| d.origin != Origin::Voxels);
        let sectors: HashSet<u32> = with_metadata.map(|d| d.sector).collect();
        let blocks = &self.case().walk.blocks;
        let mut placed: HashSet<u128> =
            blocks.iter().filter(|b| sectors.contains(&b.first)).map(|b| b.content).collect();
        (0..blocks.len()).filter(|&b| placed.insert(blocks[b].content)).collect()
    }

    pub fn read(&self, pieces: &[Span]) -> Result<Vec<u8>, draft::Error> {
        let mut bytes = Vec::new();
        let failed = |error| draft::Error::read(&self.walk.path())(error);
        walk::read_pieces(self.walk.region.source.file(), pieces, &mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    pub fn job<'j>(&'j self, stored: &'j [u8]) -> Job<'j> {
        Job { stored, from: &self.walk.region.header, to: &self.format, limits: &self.save.options.limits }
    }

    /// Makes blocks that are against the format healthy where that loses nothing; whether there are any.
    fn set_right(&mut self) -> Result<bool, draft::Error> {
        let odd: HashSet<u32> = self.case().walk.blocks.iter().filter(|b| b.odd).map(|b| b.first).collect();
        let mut any = false;
        for i in 0..self.blocks.len() {
            if !odd.contains(&self.blocks[i].sector) || self.blocks[i].origin == Origin::Voxels {
                continue;
            }
            let stored = self.read(&self.blocks[i].pieces)?;
            let Some(mend) = self.job(&stored).set_right() else { continue };
            any = true;
            self.keep(self.blocks[i].sector, self.blocks[i].pieces.clone(), true, KeptReason::Rewritten, Vec::new());
            self.blocks[i].mend = Some(mend);
        }
        Ok(any)
    }

    pub fn keep(&mut self, sector: u32, pieces: Vec<Span>, whole: bool, why: KeptReason, at: Vec<([i32; 3], f64)>) {
        self.lost.push(LostBlock { sector, pieces, whole, why, candidates: at, moved: false, identical: 0 });
    }

    /// Keeps whole blocks without an owner, with the positions that they may belong to.
    fn list_unowned(&mut self, blocks: &[usize]) {
        let found = self.blocks.iter().filter(|d| d.origin.is_complete());
        let taken: HashSet<[i32; 3]> = found.map(|d| d.position).collect();
        let mut candidates: HashMap<usize, HashMap<[i32; 3], f64>> = HashMap::new();
        let options = self.solved.options.iter().zip(&self.walk.case.entries);
        for (options, entry) in options.filter(|(_, entry)| !taken.contains(&entry.position)) {
            for option in options {
                *candidates.entry(option.block).or_default().entry(entry.position).or_default() += option.p;
            }
        }
        // Positions that are not sure enough to write, also those to which no entry leads.
        let placed = self.solved.placed.iter().map(|placed| (placed.block, placed.position, placed.p));
        let all = self.solved.candidates.iter().copied().chain(placed);
        for (block, position, p) in all.filter(|(_, at, _)| !taken.contains(at)) {
            let known = candidates.entry(block).or_default().entry(position).or_default();
            *known = known.max(p);
        }
        let alone = self.blocks.iter().filter(|d| d.origin == Origin::Voxels);
        let alone: HashSet<u32> = alone.map(|d| d.sector).collect();
        let walked = &self.walk.case.walk.blocks;
        let written: HashSet<u128> =
            walked.iter().filter(|block| alone.contains(&block.first)).map(|block| block.voxels).collect();
        // Of these contents no block is written.
        let mut copies: HashMap<u128, u64> = HashMap::new();
        walked.iter().for_each(|block| *copies.entry(block.content).or_default() += 1);
        for &b in blocks {
            let is_alike = written.contains(&walked[b].voxels);
            let likely = candidates.remove(&b).into_iter().flatten().filter(|(_, p)| is_alike || *p > 0.005);
            let mut at: Vec<([i32; 3], f64)> = likely.collect();
            at.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let why = if is_alike { KeptReason::Alike } else { KeptReason::Unowned };
            self.keep(walked[b].first, self.pieces(b), true, why, at);
            let placed = self.solved.placed.iter().find(|placed| placed.block == b);
            // An entry that leads to the block is an entry of it.
            let is_listed =
                |position| self.walk.case.entries.iter().any(|e| e.position == position && e.first == walked[b].first);
            let moved =
                placed.map_or(self.solved.appended[b] > 0.5, |placed| placed.moved && !is_listed(placed.position));
            if let (Some(kept), Some(n)) = (self.lost.last_mut(), copies.get(&walked[b].content)) {
                (kept.moved, kept.identical) = (moved, n.saturating_sub(1));
            }
        }
    }
}
