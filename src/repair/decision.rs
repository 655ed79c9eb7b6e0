//! What is decided about one file and one block: the words of plans, reports and writing.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bytes::Span;
use crate::godot::region::{Format, Header};
use crate::godot::slots::{self, SlotFormula};
use crate::recover::decide::Certainty;
use crate::repair::mend::Mend;
use crate::repair::out::below;
use crate::repair::why::{FileReason, KeptReason, MissingReason};
use crate::save::{BlockStart, Forest, Save, first_byte};

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// It is copied byte by byte.
    Copy,
    /// It is built anew from the blocks that were found.
    Rebuild,
    /// It is written as it was before a copy changed its bytes; all of these can be restored exactly.
    Restore,
    /// It holds nothing that the game could use; it is kept in `lost+found`.
    SetAside,
    /// It is taken from the backup; what is there instead, if anything, is kept in `lost+found`.
    FromBackup,
}

impl Action {
    /// Its name in `repair.json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Rebuild => "rebuild",
            Self::Restore => "restore",
            Self::SetAside => "set aside",
            Self::FromBackup => "from backup",
        }
    }
}

/// How a block came to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// It was found whole, and its place is as sure as the decision says.
    Found,
    /// Somebody looked at it and said that it belongs here.
    Accepted,
    /// The backup had the same bytes at this position.
    Matched,
    /// It is torn; what is whole of it is kept.
    Salvaged,
    /// Its voxels belong here, but several blocks have these voxels and different metadata. It is written without metadata.
    Voxels,
    /// It is the backup's, and so an older state.
    Backup,
}

impl Origin {
    /// Whether the whole block is written, in its newest state.
    #[must_use]
    pub const fn is_complete(self) -> bool {
        !matches!(self, Self::Salvaged | Self::Voxels | Self::Backup)
    }
}

/// A block that is written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Decision {
    /// Its slot.
    pub slot: u32,
    /// Its position in the world, in blocks of its LOD.
    pub position: [i32; 3],
    /// Its bytes in the source, or in the file of the backup, as [`Save::region`](crate::save::Save::region) reads it: the
    /// size and the container, in one or more pieces.
    pub pieces: Vec<Span>,
    /// Its first sector in the file as it is read, without bytes that were inserted; [`RegionPlan::start`] has the one in
    /// the file as it is stored.
    pub sector: u32,
    /// Where the table had it, when that was elsewhere.
    pub listed_at: Option<u32>,
    /// Its certainty.
    pub certainty: Certainty,
    /// How likely it is, 0 to 1.
    pub probability: f64,
    /// Whether it was taken out and appended since the table was written, or has no entry in it.
    pub moved: bool,
    /// Its origin.
    pub origin: Origin,
    /// The file of the backup that it is read from, with its header.
    pub backup: Option<Arc<(PathBuf, Header)>>,
    /// How it is written anew; `None` when its bytes are written as they are.
    pub mend: Option<Mend>,
    /// Whether its entry has fewer sectors than it, so that the engine does not read it.
    pub short_entry: bool,
}

impl Decision {
    /// Whether it, or its entry, is written differently although it is at the sector of its entry.
    pub(super) const fn is_changed(&self) -> bool {
        self.mend.is_some() || self.short_entry
    }
}

/// How many blocks have the entries of other positions, in a table whose entries lead to these blocks and to nothing else; 0
/// where some of the blocks are at other sectors.
pub(super) fn exchanged_in(blocks: &[Decision]) -> usize {
    let listed: HashSet<u32> = blocks.iter().map(|block| block.listed_at.unwrap_or(block.sector)).collect();
    let elsewhere = blocks.iter().filter(|block| block.listed_at.is_some());
    if elsewhere.clone().all(|block| listed.contains(&block.sector)) { elsewhere.count() } else { 0 }
}

/// A block, or what is left of one, that is kept in `lost+found`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LostBlock {
    /// Its first sector in the file as it is read; [`RegionPlan::start_of`] has the one in the file as it is stored.
    pub sector: u32,
    /// Its bytes in the source.
    pub pieces: Vec<Span>,
    /// Whether it is whole.
    pub whole: bool,
    /// The reason.
    pub why: KeptReason,
    /// Positions that it may belong to, the likeliest first, with their probabilities.
    pub candidates: Vec<([i32; 3], f64)>,
    /// Whether it was taken out and appended since the table was written, or no entry leads to it.
    pub moved: bool,
    /// How many more unowned blocks of the region have the same content. They are not kept apart.
    pub identical: u64,
}

/// A region, and the formula by which it places its blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegionPlace {
    pub region: [i32; 3],
    pub slots: SlotFormula,
}

impl RegionPlace {
    /// The slot of a position; `None` if it is in another region.
    pub fn slot(&self, format: &Format, position: [i32; 3]) -> Option<u32> {
        let (region, slot) = slots::place_block(position, format.region_size, self.slots)?;
        (region == self.region).then_some(slot)
    }
}

/// What is done with a region file.
#[derive(Debug)]
#[non_exhaustive]
pub struct RegionPlan {
    /// Its path below the save.
    pub name: PathBuf,
    /// Where it is.
    pub path: PathBuf,
    /// Its LOD.
    pub lod: u8,
    /// The region of its blocks, if its file has the name of another one.
    pub region: Option<[i32; 3]>,
    /// The action.
    pub action: Action,
    /// Why.
    pub why: FileReason,
    /// The header by which it is read, when it is built anew.
    pub source: Option<Header>,
    /// The header that is written, if the file is rebuilt.
    pub header: Option<Header>,
    /// The file of the backup that takes its place.
    pub backup: Option<Arc<Path>>,
    /// The blocks that are written, in the order of their sectors, those of the backup last.
    pub blocks: Vec<Decision>,
    /// What goes to `lost+found`.
    pub lost: Vec<LostBlock>,
    /// Positions that the table has and that are left out, with what is known of each.
    pub missing: Vec<([i32; 3], MissingReason)>,
    /// Blocks whose places the effort did not suffice to decide.
    pub undecided: u64,
    /// Where the blocks are that are written, and by which formula their slots are found, when it is built anew.
    pub(super) place: Option<RegionPlace>,
    /// Whether its blocks move from the slots of the old formula to those of the new one.
    pub changes_slots: bool,
    /// Whether its blocks are placed by the table of another file.
    pub by_other_table: bool,
}

impl RegionPlan {
    /// Whether nothing has to be said of the file: it is healthy and copied under its name.
    pub(super) fn is_plain(&self) -> bool {
        self.is_unchanged() && self.why == FileReason::Healthy && self.undecided == 0
    }

    /// Whether the copy has the same file under the same name.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.action == Action::Copy && self.region.is_none()
    }

    /// How many unowned blocks have the same content as one that goes to `lost+found`, and are not kept apart.
    #[must_use]
    pub fn identical(&self) -> u64 {
        self.lost.iter().map(|lost| lost.identical).sum()
    }

    /// Whether its table lists none of the blocks that are written, and bytes between them belong to no block: how many it listed is
    /// not known.
    pub(super) fn loses_table(&self) -> bool {
        let Some(source) = self.source.as_ref().filter(|_| self.action == Action::Rebuild) else { return false };
        let is_put = |block: &Decision| block.moved && block.listed_at.is_none() && block.backup.is_none();
        let is_lost = self.missing.is_empty() && !self.blocks.is_empty() && self.blocks.iter().all(is_put);
        is_lost && !self.fills_file(source)
    }

    /// Whether the blocks of the file follow each other from the end of its table on without a gap.
    fn fills_file(&self, source: &Header) -> bool {
        let size = u64::from(source.format.sector_size).max(1);
        let pieces = self.blocks.iter().map(|block| &block.pieces).chain(self.lost.iter().map(|lost| &lost.pieces));
        let mut pieces: Vec<Span> = pieces.flatten().copied().collect();
        pieces.sort_unstable();
        let base = source.sector_span(0, 0).start;
        let mut at = base;
        for piece in pieces {
            if piece.start != at {
                return false;
            }
            at = base.saturating_add(piece.end.saturating_sub(base).div_ceil(size).saturating_mul(size));
        }
        true
    }

    /// Whether the file is set aside although it may have held blocks.
    #[must_use]
    pub fn loses_file(&self) -> bool {
        self.action == Action::SetAside && !matches!(self.why, FileReason::NoRegion | FileReason::NeverStored)
    }

    /// Where a block of its file with these bytes begins.
    #[must_use]
    pub fn start_of(&self, pieces: &[Span]) -> BlockStart {
        let byte = BlockStart::Byte(first_byte(pieces));
        self.source.as_ref().map_or(byte, |header| BlockStart::new(header, pieces))
    }

    /// Where a block that is written begins in the file that it is read from.
    #[must_use]
    pub fn start(&self, block: &Decision) -> BlockStart {
        match &block.backup {
            Some(backup) => BlockStart::new(&backup.1, &block.pieces),
            None => self.start_of(&block.pieces),
        }
    }
}

/// The plan for a region file that is handled as a whole.
pub(super) fn simple(
    save: &Save,
    forest: &Forest,
    file: &Path,
    lod: u8,
    action: Action,
    why: FileReason,
) -> RegionPlan {
    let path = forest.dir.join(file);
    let name = below(&save.path, &path);
    RegionPlan {
        name,
        path,
        lod,
        region: None,
        action,
        why,
        source: None,
        header: None,
        backup: None,
        blocks: Vec::new(),
        lost: Vec::new(),
        missing: Vec::new(),
        undecided: 0,
        place: None,
        changes_slots: false,
        by_other_table: false,
    }
}
