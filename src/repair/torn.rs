//! What is done with sectors without a whole block.

use std::collections::HashSet;

use crate::bytes::Span;
use crate::draft;
use crate::recover::decide::Certainty;
use crate::recover::item::holes;
use crate::recover::region::Listing;
use crate::recover::walk;
use crate::repair::decision::{Decision, Origin};
use crate::repair::mend::Common;
use crate::repair::place::Placing;
use crate::repair::why::KeptReason;
use crate::save::Scratch;
use crate::source::Source;

/// Blocks of which the usual values of channels are taken.
const SAMPLES: usize = 256;

/// Bytes of a run of sectors that are kept in one file.
const PART: u32 = 16 << 20;

/// Where bytes are in the file, and the bytes.
type Raw = (Vec<Span>, Vec<u8>);

/// The first bytes of some pieces.
fn cut(pieces: Vec<Span>, mut len: u64) -> Vec<Span> {
    let part = |piece: Span| {
        let part = Span::sized(piece.start, piece.len().min(len));
        len -= part.len();
        part
    };
    pieces.into_iter().map(part).filter(|part| !part.is_empty()).collect()
}

impl Placing<'_, '_> {
    /// Sectors without a whole block: what of them can be used is used, and all that is not zero is kept.
    pub fn torn(&mut self) -> Result<(), draft::Error> {
        let left: Vec<usize> = self.unfilled().collect();
        if left.is_empty() {
            return Ok(());
        }
        let right = |d: &&Decision| d.certainty == Certainty::Certain && d.listed_at.is_none() && d.backup.is_none();
        let in_place: HashSet<[i32; 3]> = self.blocks.iter().filter(right).map(|d| d.position).collect();
        // Both the holes and the entries are in the order of their sectors.
        let mut left = left.into_iter().peekable();
        for (first, end) in self.holes() {
            let mut at = first;
            while let Some(i) = left.next_if(|&i| self.case().entries[i].first < end) {
                let entry = self.case().entries[i];
                if entry.first < at {
                    continue;
                }
                self.keep_raw(at, entry.first)?;
                let stop = (entry.first + entry.count).min(end);
                self.torn_entry(i, stop, &in_place)?;
                at = stop;
            }
            self.keep_raw(at, end)?;
        }
        Ok(())
    }

    /// Keeps sectors between the parts of blocks that were being moved, except copies of other sectors. A killed game leaves only
    /// copies there; after a power loss, older pages may be there.
    pub fn between_parts(&mut self) -> Result<(), draft::Error> {
        let walk = &self.case().walk;
        let spliced = walk.blocks.iter().filter_map(|block| Some((block.first, block.splice?)));
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for (first, splice) in spliced {
            let is_alone = |at: &u32| at.checked_sub(splice.gap).is_none_or(|from| !walk.same(from, *at, 1));
            for at in (splice.at..first.saturating_add(splice.gap)).filter(is_alone) {
                match runs.last_mut().filter(|(_, end)| *end == at) {
                    Some((_, end)) => *end += 1,
                    None => runs.push((at, at + 1)),
                }
            }
        }
        for (first, end) in runs {
            if let Some((pieces, _)) = self.raw(first, end)? {
                self.keep(first, pieces, false, KeptReason::BetweenParts, Vec::new());
            }
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
        let last = case.walk.blocks.last().map_or(0, walk::Walked::end).max(case.table_end());
        let holes = holes(&case.walk).into_iter().map(|hole| (hole.first, hole.end.min(last)));
        holes.filter(|(first, end)| first < end).collect()
    }

    /// The bytes of a run of sectors, those behind the end of the file left out; `None` when all of them are zero.
    fn raw(&self, first: u32, end: u32) -> Result<Option<Raw>, draft::Error> {
        let span = self.walk.region.header.sector_span(first.into(), end.saturating_sub(first).into());
        let span = Span::new(span.start, span.end.min(self.walk.region.source.len()));
        if span.start >= span.end || end <= first {
            return Ok(None);
        }
        let pieces = self.real(vec![span]);
        let bytes = self.read(&pieces)?;
        Ok(bytes.iter().any(|&b| b != 0).then_some((pieces, bytes)))
    }

    /// Keeps what is not zero of a run of sectors, in parts; holes of a sparse file are passed over.
    fn keep_raw(&mut self, first: u32, end: u32) -> Result<(), draft::Error> {
        let header = &self.walk.region.header;
        let size = header.format.sector_size.max(1);
        let mut at = first;
        while at < end {
            let data = self.walk.region.source.next_data(header.sector_span(at.into(), 0).start);
            let sector = data.saturating_sub(header.sectors_at()) / u64::from(size);
            if sector > at.into() {
                at = u32::try_from(sector).unwrap_or(end);
                continue;
            }
            let stop = end.min(at.saturating_add((PART / size).max(1)));
            if let Some((pieces, _)) = self.raw(at, stop)? {
                self.keep(at, pieces, false, KeptReason::NoBlock, Vec::new());
            }
            at = stop;
        }
        Ok(())
    }

    /// A block that is torn where the table says, up to the sector `stop`.
    fn torn_entry(&mut self, i: usize, stop: u32, in_place: &HashSet<[i32; 3]>) -> Result<(), draft::Error> {
        let entry = self.case().entries[i];
        let Some((pieces, bytes)) = self.raw(entry.first, stop)? else { return Ok(()) };
        self.keep(
            entry.first,
            pieces.clone(),
            false,
            KeptReason::Torn,
            vec![(entry.position, self.solved.torn[i].max(0.5))],
        );
        // A backup has the whole of it, if an older state.
        let held = self.store.is_some_and(|s| s.blocks.contains_key(&(self.walk.file.lod, entry.position)));
        if held || !self.is_in_place(i, in_place) {
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
            short_entry: false,
        });
        Ok(())
    }

    /// Whether the entries before and behind one lead to their own blocks, so that what is between is its own.
    fn is_in_place(&self, i: usize, in_place: &HashSet<[i32; 3]>) -> bool {
        let entries = &self.case().entries;
        let entry = entries[i];
        let right = |e: &Listing| in_place.contains(&e.position);
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

    fn count_common(&mut self) -> Result<(), draft::Error> {
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
}
