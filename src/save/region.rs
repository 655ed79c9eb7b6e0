//! An open region: its table, and its blocks on demand.

use std::io;

use crate::bytes::{Span, index};
use crate::damage::{Code, Damage, Value};
use crate::godot::region::{Entry, Header, MOST_SECTORS};
use crate::godot::slots::{self, SlotFormula};
use crate::limits::Limits;
use crate::save::view::{Scratch, View};
use crate::save::{Forest, Options};
use crate::source::Source;

/// Bytes of the table that are read at once.
const TABLE_CHUNK: usize = 1 << 16;

/// Blocks that are tried to find the version that implies the slot formula.
pub(crate) const SLOT_PROBES: usize = 64;

/// An entry of the table that is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Index in the table.
    pub slot: u32,
    /// The entry.
    pub entry: Entry,
}

/// A region file whose table has been read.
#[derive(Debug)]
pub struct Region<S> {
    /// The source of its bytes.
    pub source: S,
    /// Its header.
    pub header: Header,
    /// Its LOD.
    pub lod: u8,
    /// Its region coordinates.
    pub position: [i32; 3],
    /// The entries in use, by slot.
    pub entries: Vec<Listed>,
    /// Damage of the table as a whole.
    pub damage: Vec<Damage>,
    /// Caps.
    pub limits: Limits,
    slots: Option<SlotFormula>,
    inferred_slots: Option<SlotFormula>,
}

/// Where the slots of a region are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlotPositions {
    /// The coordinates of the region.
    pub region: [i32; 3],
    /// Its size, in blocks.
    pub size: [u16; 3],
    /// The formula of its slots.
    pub formula: SlotFormula,
}

impl SlotPositions {
    /// The number of slots.
    #[must_use]
    pub fn volume(&self) -> usize {
        self.size.iter().map(|&n| usize::from(n)).product()
    }

    /// Position of a slot in the world, in blocks of its LOD; `None` for a slot outside the region.
    #[must_use]
    pub fn position(&self, slot: u32) -> Option<[i32; 3]> {
        let Self { region: [rx, ry, rz], size, formula } = *self;
        let [x, y, z] = slots::position(size, slot)?;
        let [sx, sy, sz] = size;
        let block = |region, at, size| slots::block(region, at, size, formula);
        Some([block(rx, x, sx)?, block(ry, y, sy)?, block(rz, z, sz)?])
    }
}

impl<S: Source> Region<S> {
    /// Reads the table. Entries of zero are not stored, so memory is proportional to the entries in use.
    ///
    /// # Errors
    /// I/O errors.
    pub fn load(source: S, header: Header, lod: u8, position: [i32; 3], options: &Options) -> io::Result<Self> {
        let mut limits = options.limits;
        if !header.is_single_block() {
            // A larger size prefix is damaged: no block has more sectors. The bytes after them are not read.
            let most = u64::from(header.format.sector_size).saturating_mul(MOST_SECTORS);
            limits.stored_bytes = limits.stored_bytes.min(most);
        }
        let mut entries = Vec::new();
        let mut damage = Vec::new();
        let mut buffer = Vec::new();
        let mut slot = 0u32;
        let mut at = header.table.start;
        let end = header.table.end.min(source.len());
        'table: while at < end {
            let len = TABLE_CHUNK.min(index(end.saturating_sub(at)));
            source.read_into(at, len, &mut buffer)?;
            let (words, _) = buffer.as_chunks::<4>();
            for word in words {
                let entry = Entry(u32::from_le_bytes(*word));
                if entry.is_used() {
                    if entries.len() >= limits.entries {
                        let span = Span::new(at, end);
                        damage.push(
                            Damage::new(Code::OverLimit, span, "entries of the table in use")
                                .expected(Value::AtMost(limits.entries as u64)),
                        );
                        break 'table;
                    }
                    entries.push(Listed { slot, entry });
                }
                slot = slot.saturating_add(1);
            }
            if buffer.len() < len {
                break;
            }
            at = at.saturating_add(buffer.len() as u64);
        }
        if header.is_single_block() {
            entries.push(Listed { slot: 0, entry: Entry::new(0, 1) });
        }
        entries.shrink_to_fit();
        let slots = options.slots.or_else(|| (header.version < 3).then_some(SlotFormula::Legacy));
        let inferred_slots = options.inferred_slots;
        Ok(Self { source, header, lod, position, entries, damage, limits, slots, inferred_slots })
    }

    /// The span of a block's sectors in the file; it may reach beyond the end.
    #[must_use]
    pub fn span(&self, entry: Entry) -> Span {
        self.header.sector_span(u64::from(entry.first()), u64::from(entry.count()))
    }

    /// The span of an entry of the table in the file.
    #[must_use]
    pub fn entry_span(&self, slot: u32) -> Span {
        Span::sized(self.header.table.start.saturating_add(u64::from(slot).saturating_mul(4)), 4)
    }

    /// Sectors that the file has room for, the last one possibly in part.
    #[must_use]
    pub fn sectors_in_file(&self) -> u64 {
        let bytes = self.source.len().saturating_sub(self.header.sectors_at());
        bytes.div_ceil(u64::from(self.header.format.sector_size).max(1))
    }

    /// Whether the region has a negative coordinate, so that the slot formula matters.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        // In a region of one block, both formulas give slot 0.
        self.position.iter().zip(self.header.format.region_size).any(|(&p, size)| p < 0 && size > 1)
    }

    /// The slot formula that is known without reading a block: given by an option, or implied by the file version.
    #[must_use]
    pub fn known_slots(&self) -> Option<SlotFormula> {
        if self.is_negative() { self.slots } else { Some(SlotFormula::Euclidean) }
    }

    /// Sets the slot formula that seams of its forest show, if they do.
    pub(crate) fn infer_slots(&mut self, forest: &Forest) {
        self.inferred_slots = forest.inferred_slots.or(self.inferred_slots);
    }

    /// The slot formula of a region with negative coordinates whose blocks imply none: what seams of the save show, or
    /// the new one.
    #[must_use]
    pub fn assumed_slots(&self) -> SlotFormula {
        self.inferred_slots.unwrap_or_default()
    }

    /// The slot formula of this region if its first readable block has `version`.
    #[must_use]
    pub(crate) fn slots_with(&self, version: Option<u8>) -> SlotFormula {
        self.known_slots().unwrap_or_else(|| match slots_of_version(version) {
            SlotFormula::Legacy => SlotFormula::Legacy,
            SlotFormula::Euclidean => self.assumed_slots(),
        })
    }

    /// The slot formula of this region: given by an option, implied by the version of the file or of its first readable block,
    /// or inferred from seams.
    ///
    /// # Errors
    /// I/O errors.
    pub fn slots(&mut self, scratch: &mut Scratch) -> io::Result<SlotFormula> {
        let slots = self.own_slots(scratch)?.unwrap_or_else(|| self.assumed_slots());
        self.slots = Some(slots);
        Ok(slots)
    }

    /// As `slots`, but `None` if nothing implies a formula (blocks of version 4).
    ///
    /// # Errors
    /// I/O errors.
    pub fn own_slots(&mut self, scratch: &mut Scratch) -> io::Result<Option<SlotFormula>> {
        if let Some(slots) = self.known_slots() {
            return Ok(Some(slots));
        }
        let mut version = None;
        for listed in self.by_sector().into_iter().take(SLOT_PROBES) {
            let view = self.view(listed.entry, scratch)?;
            let Some(block) = view.block.filter(|block| block.version > 0) else { continue };
            // An entry that leads somewhere else may find a number there too; the end of a block is no chance.
            if block.epilogue.is_some() {
                version = Some(block.version);
                break;
            }
            version = version.or(Some(block.version));
        }
        self.slots = (slots_of_version(version) == SlotFormula::Legacy).then_some(SlotFormula::Legacy);
        Ok(self.slots)
    }

    /// Position of a slot in the world, in blocks of this LOD; `None` for a slot outside the region.
    #[must_use]
    pub fn block_position(&self, slot: u32, slots: SlotFormula) -> Option<[i32; 3]> {
        self.slot_positions(slots).position(slot)
    }

    /// Where the slots are by a formula.
    #[must_use]
    pub const fn slot_positions(&self, formula: SlotFormula) -> SlotPositions {
        SlotPositions { region: self.position, size: self.header.format.region_size, formula }
    }

    /// The entry of a slot, when it is in use.
    #[must_use]
    pub fn find(&self, slot: u32) -> Option<Listed> {
        let at = self.entries.binary_search_by_key(&slot, |listed| listed.slot).ok()?;
        self.entries.get(at).copied()
    }

    /// The entries in the order of their sectors.
    #[must_use]
    pub fn by_sector(&self) -> Vec<Listed> {
        let mut entries = self.entries.clone();
        entries.sort_unstable_by_key(|listed| (listed.entry.first(), listed.entry.count(), listed.slot));
        entries
    }

    /// Reads and decodes a block as far as possible; its damage is in `scratch.damage` afterwards.
    ///
    /// # Errors
    /// I/O errors.
    pub fn view<'a>(&self, entry: Entry, scratch: &'a mut Scratch) -> io::Result<View<'a>> {
        scratch.read(&self.source, self.span(entry), &self.limits)?;
        Ok(scratch.interpret(&self.header, Some(entry), &self.limits))
    }
}

/// The slot formula that a block version implies: versions 1 to 3 were always placed by the old formula.
pub(crate) const fn slots_of_version(version: Option<u8>) -> SlotFormula {
    match version {
        Some(1..=3) => SlotFormula::Legacy,
        _ => SlotFormula::Euclidean,
    }
}
