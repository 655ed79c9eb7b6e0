//! The sectors of the open file with the findings about them: damaged blocks, and unowned ones.

use std::collections::HashMap;

use crate::damage::{Code, Level};
use crate::save::{Owner, PageKind, Run};
use crate::tui::data::{Opened, Part};
use crate::tui::findings::Tally;
use crate::tui::theme::{Glyphs, Role};
use crate::tui::{App, ItemKey};

/// Stands where there is no finding.
const NONE: u32 = u32::MAX;

/// What is known of the open file.
#[derive(Debug, Default)]
pub struct MarksState {
    made_of: Option<(ItemKey, u64, Tally)>,
    /// The marks.
    pub marks: Marks,
}

/// What a sector is, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SectorKind {
    /// Header and table.
    Header,
    /// Old bytes after the last block.
    Stale,
    /// Nobody's, between blocks.
    Free,
    /// A block's.
    Block,
    /// That of a block with a warning.
    Warning,
    /// That of a block with an error.
    Damaged,
    /// More than one block's.
    Shared,
    /// That of a block that nobody owns.
    Unowned,
    /// Beyond the end of the file.
    Beyond,
    /// Of a stream: rows of a table.
    Leaf,
    /// Of a stream: leads to others.
    Tree,
}

impl SectorKind {
    /// Every kind, in the order of the legend.
    pub const ALL: [Self; 11] = [
        Self::Header,
        Self::Leaf,
        Self::Tree,
        Self::Block,
        Self::Warning,
        Self::Damaged,
        Self::Shared,
        Self::Unowned,
        Self::Beyond,
        Self::Free,
        Self::Stale,
    ];

    /// Its glyph, its role and its words; a block alone in its cell has a letter instead.
    #[must_use]
    pub const fn appearance(self, glyphs: &Glyphs) -> (&'static str, Role, &'static str) {
        match self {
            Self::Header => (glyphs.header, Role::Header, "header"),
            Self::Stale => (glyphs.stale, Role::Stale, "stale"),
            Self::Free => (glyphs.free, Role::Free, "free"),
            Self::Block => ("+", Role::Block, "several blocks"),
            Self::Warning => (glyphs.warning, Role::Warning, "warning"),
            Self::Damaged => (glyphs.error, Role::Error, "damaged"),
            Self::Shared => (glyphs.shared, Role::Shared, "shared"),
            Self::Unowned => (glyphs.unowned, Role::Unowned, "unowned"),
            Self::Beyond => (glyphs.beyond, Role::Beyond, "beyond the end"),
            Self::Leaf => ("=", Role::Block, "rows"),
            Self::Tree => ("<", Role::Header, "tree and index"),
        }
    }
}

/// The kind of sectors of an owner; `worst` is the level of the worst finding about them.
#[must_use]
pub fn kind_of_owner(owner: Owner, worst: Option<Level>) -> SectorKind {
    match owner {
        Owner::Header => SectorKind::Header,
        Owner::Block(_) => with_level(SectorKind::Block, worst),
        Owner::Shared => SectorKind::Shared,
        Owner::Free | Owner::Page(PageKind::FreeTrunk) => SectorKind::Free,
        Owner::Stale => SectorKind::Stale,
        Owner::BeyondEnd(_) => SectorKind::Beyond,
        Owner::Lost => SectorKind::Unowned,
        Owner::Page(PageKind::Damaged) => SectorKind::Damaged,
        Owner::Page(PageKind::Leaf) => with_level(SectorKind::Leaf, worst),
        Owner::Page(_) => with_level(SectorKind::Tree, worst),
    }
}

/// The kind of sectors, or that of the worst finding about them.
#[must_use]
pub const fn with_level(kind: SectorKind, worst: Option<Level>) -> SectorKind {
    match worst {
        Some(Level::Error) => SectorKind::Damaged,
        Some(Level::Warning) => SectorKind::Warning,
        Some(Level::Note) | None => kind,
    }
}

/// The sectors of a file, with what is wrong with them.
#[derive(Debug, Default)]
pub struct Marks {
    /// The runs of the sector map, where blocks that nobody owns are runs of their own.
    pub runs: Vec<Run>,
    /// The place of each run: its first sector, counted without the gap between the end of the file and what claims to be
    /// beyond it. A single wrong entry would otherwise make of the file itself one cell.
    places: Vec<u64>,
    /// The worst finding above a note for each run, by its number.
    findings: Vec<u32>,
    /// The level of that finding.
    levels: Vec<Option<Level>>,
    /// How many sectors are of each kind.
    counts: [u64; SectorKind::ALL.len()],
    /// The worst finding about the bytes before sector 0, or about the whole file.
    pub header: Option<usize>,
}

impl Marks {
    /// The number of the run that a sector is in.
    #[must_use]
    pub fn run_at(&self, sector: u64) -> Option<usize> {
        let at = self.runs.partition_point(|run| run.first <= sector).checked_sub(1)?;
        let run = self.runs.get(at)?;
        (sector - run.first < run.count).then_some(at)
    }

    /// The finding about a run.
    #[must_use]
    pub fn finding(&self, run: usize) -> Option<usize> {
        let number = self.findings.get(run).copied().filter(|number| *number != NONE)?;
        usize::try_from(number).ok()
    }

    /// What a run is.
    #[must_use]
    pub fn kind(&self, run: usize) -> Option<SectorKind> {
        Some(kind_of_owner(self.runs.get(run)?.owner, self.levels.get(run).copied().flatten()))
    }

    /// How many sectors are of a kind.
    #[must_use]
    pub fn count(&self, kind: SectorKind) -> u64 {
        self.counts.get(kind as usize).copied().unwrap_or(0)
    }

    /// How many places there are, with those of sectors that only the table knows.
    #[must_use]
    pub fn len(&self) -> u64 {
        let last = self.places.last().zip(self.runs.last());
        last.map_or(0, |(place, run)| place.saturating_add(run.count))
    }

    /// The place of a sector.
    #[must_use]
    pub fn place_of(&self, sector: u64) -> Option<u64> {
        let run = self.run_at(sector)?;
        Some(self.places.get(run)? + (sector - self.runs.get(run)?.first))
    }

    /// The sector at a place.
    #[must_use]
    pub fn sector_at(&self, place: u64) -> Option<u64> {
        let run = self.run_at_place(place)?;
        Some(self.runs.get(run)?.first + (place - self.places.get(run)?))
    }

    /// The number of the run at a place.
    #[must_use]
    pub fn run_at_place(&self, place: u64) -> Option<usize> {
        let at = self.places.partition_point(|first| *first <= place).checked_sub(1)?;
        (place - self.places.get(at)? < self.runs.get(at)?.count).then_some(at)
    }

    /// The runs from one on, with their numbers and places.
    pub fn from(&self, run: usize) -> impl Iterator<Item = (usize, u64, Run)> {
        // From slices: an iterator would walk over all earlier runs for each cell.
        let (runs, places) = (self.runs.get(run..), self.places.get(run..));
        let both = runs.unwrap_or_default().iter().copied().zip(places.unwrap_or_default().iter().copied());
        (run..).zip(both).map(|(at, (run, place))| (at, place, run))
    }

    fn new(app: &App, opened: &Opened) -> Self {
        let mut marks = Self::default();
        let about = app.findings.items.iter().enumerate().filter(|(_, item)| **item == Some(opened.item));
        let about: Vec<usize> = about.map(|(number, _)| number).collect();
        let finding = |number: usize| app.findings.list.get(number);
        let mut unowned: Vec<Run> = Vec::new();
        for finding in about.iter().filter_map(|number| finding(*number)) {
            if matches!(finding.code(), Code::BlockUnlisted | Code::BlockOrphan)
                && let Some(span) = finding.span
                && let Some(first) = opened.sector_at(span.start)
                && let Some(last) = opened.sector_at(span.end.saturating_sub(1).max(span.start))
            {
                unowned.push(Run { first, count: last.saturating_sub(first) + 1, owner: Owner::Lost });
            }
        }
        unowned.sort_unstable_by_key(|run| run.first);
        marks.runs = overlay_unowned(&opened.sectors.runs, &unowned);
        marks.findings = vec![NONE; marks.runs.len()];
        let mut place = 0u64;
        for run in &marks.runs {
            marks.places.push(place);
            place = place.saturating_add(run.count);
        }
        let mut worst: Option<Level> = None;
        // Only a finding about the table needs the block's place looked up.
        let mut places: Option<HashMap<[i32; 3], u64>> = None;
        for number in about {
            let Some(finding) = finding(number) else { continue };
            let level = finding.level();
            if level == Level::Note {
                continue;
            }
            // A finding about a block inside is shown at all of its sectors.
            let span = finding.span.filter(|_| is_in_data(app, number, opened));
            let sector = span.and_then(|span| opened.sector_at(span.start));
            let run = sector.and_then(|sector| marks.run_at(sector));
            let position = finding.block.and_then(|block| block.position).filter(|_| run.is_none());
            let by_place = position.and_then(|position| {
                let places = places.get_or_insert_with(|| {
                    opened.slots.iter().filter_map(|slot| Some((slot.position?, slot.first))).collect()
                });
                marks.run_at(*places.get(&position)?)
            });
            match run.or(by_place) {
                Some(run) => marks.mark(run, number, level, app),
                None if worst < Some(level) => (marks.header, worst) = (Some(number), Some(level)),
                None => {}
            }
        }
        marks.spread(opened);
        let level = |run| marks.finding(run).and_then(finding).map(|finding| finding.level());
        marks.levels = (0..marks.runs.len()).map(level).collect();
        for (at, run) in marks.runs.iter().enumerate() {
            if let Some(count) = marks.kind(at).and_then(|kind| marks.counts.get_mut(kind as usize)) {
                *count = count.saturating_add(run.count);
            }
        }
        marks
    }

    fn mark(&mut self, run: usize, number: usize, level: Level, app: &App) {
        let before = self.finding(run).and_then(|before| app.findings.list.get(before)).map(|before| before.level());
        if before < Some(level)
            && let Some(place) = self.findings.get_mut(run)
        {
            *place = u32::try_from(number).unwrap_or(NONE);
        }
    }

    /// Gives all runs of a block what one of them has.
    fn spread(&mut self, opened: &Opened) {
        for at in 0..self.runs.len() {
            let (Some(number), Some(run)) = (self.finding(at), self.runs.get(at).copied()) else { continue };
            let (Owner::Block(slot) | Owner::BeyondEnd(slot)) = run.owner else { continue };
            let Some(slot) = opened.slot(slot) else { continue };
            let from = self.run_at(slot.first).unwrap_or(at);
            let end = slot.first.saturating_add(slot.count);
            for other in from..self.runs.len() {
                let Some(next) = self.runs.get(other).filter(|next| next.first < end) else { break };
                if next.owner == Owner::Block(slot.slot)
                    && self.finding(other).is_none()
                    && let Some(place) = self.findings.get_mut(other)
                {
                    *place = u32::try_from(number).unwrap_or(NONE);
                }
            }
        }
    }
}

/// Whether a finding's bytes are those of the file that the sectors are in.
fn is_in_data(app: &App, number: usize, opened: &Opened) -> bool {
    let crate::tui::data::Store::Layer(_, layer) = &opened.store else { return true };
    let Some(finding) = app.findings.list.get(number) else { return false };
    let name = layer.data_file.as_deref().map(crate::printable::printable);
    name.is_some_and(|name| finding.file.ends_with(&name)) && opened.source(Part::Data).is_some()
}

/// The runs with others laid over those that no block owns.
fn overlay_unowned(runs: &[Run], unowned: &[Run]) -> Vec<Run> {
    let mut out = Vec::with_capacity(runs.len() + unowned.len() * 2);
    let mut push = |first: u64, end: u64, owner: Owner| {
        if end > first {
            out.push(Run { first, count: end - first, owner });
        }
    };
    let mut unowned = unowned.iter().peekable();
    for run in runs {
        let (mut at, end) = (run.first, run.first.saturating_add(run.count));
        if matches!(run.owner, Owner::Free | Owner::Stale) {
            while let Some(next) = unowned.peek().filter(|next| next.first < end) {
                let (from, to) = (next.first.max(at), next.first.saturating_add(next.count));
                push(at, from, run.owner);
                push(from, to.min(end), Owner::Lost);
                at = to.min(end).max(at);
                if to > end {
                    break;
                }
                unowned.next();
            }
        }
        push(at, end, run.owner);
    }
    out
}

/// Finds the marks of the open file, if they are not those of the newest findings.
pub fn request_missing(app: &mut App) {
    let (Some(key), Some(opened)) = (app.item_key(), app.opened_item().cloned()) else { return };
    let made_of = (key, app.findings.run, app.findings.tally(app.selection.node));
    if app.panes.marks.made_of == Some(made_of) {
        return;
    }
    let marks = Marks::new(app, &opened);
    app.panes.marks = MarksState { made_of: Some(made_of), marks };
}

/// The marks of the open file, when they are there.
#[must_use]
pub fn current(app: &App) -> Option<&Marks> {
    let state = &app.panes.marks;
    let (key, ..) = state.made_of?;
    (Some(key) == app.item_key()).then_some(&state.marks)
}

/// Selects the finding about a sector, if there is one. If a block is selected, findings about other blocks in the same sector are
/// left out.
pub fn select_finding(app: &mut App, sector: u64) {
    let block = app.selected_slot().and_then(|slot| Some((slot.lod, slot.position?)));
    let of_block = || {
        let (lod, position) = block?;
        app.findings.about_block(app.selected_item()?, lod, position)
    };
    let of_sector = || {
        let marks = current(app)?;
        let number = marks.finding(marks.run_at(sector)?)?;
        let about = app.findings.list.get(number)?.block.and_then(|about| Some((about.lod, about.position?)));
        (about.is_none() || block.is_none() || about == block).then_some(number)
    };
    app.selection.finding = of_block().or_else(of_sector);
}

/// Selects the finding about a block, if there is one.
pub fn select_finding_of_slot(app: &mut App, slot: u32) {
    if let Some(at) = app.opened_item().and_then(|opened| opened.slot(slot)) {
        let first = at.first;
        select_finding(app, first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_blocks_are_laid_over_what_nobody_owns() {
        let run = |first, count, owner| Run { first, count, owner };
        let runs =
            [run(0, 4, Owner::Block(1)), run(4, 6, Owner::Free), run(10, 2, Owner::Block(2)), run(12, 8, Owner::Stale)];
        let unowned =
            [run(2, 1, Owner::Lost), run(5, 2, Owner::Lost), run(12, 3, Owner::Lost), run(18, 9, Owner::Lost)];
        let expected = [
            run(0, 4, Owner::Block(1)),
            run(4, 1, Owner::Free),
            run(5, 2, Owner::Lost),
            run(7, 3, Owner::Free),
            run(10, 2, Owner::Block(2)),
            run(12, 3, Owner::Lost),
            run(15, 3, Owner::Stale),
            run(18, 2, Owner::Lost),
        ];
        assert_eq!(overlay_unowned(&runs, &unowned), expected);
        assert_eq!(overlay_unowned(&runs, &[]), runs);
    }
}
