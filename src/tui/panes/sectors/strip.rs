//! The sectors of a file in one row: its table is read in the background, for the files that are shown.

use std::collections::HashMap;
use std::sync::Arc;

use crate::damage::Level;
use crate::tui::App;
use crate::tui::canvas::Canvas;
use crate::tui::data::{Index, ItemId, Opened, Part, Store};
use crate::tui::jobs::JobKind;
use crate::tui::panes::marks::{SectorKind, kind_of_owner, with_level};
use crate::tui::theme::{Glyphs, Role};

/// Parts that the sectors of a file are summed up in.
const BINS: u64 = 192;

/// The sectors of a file, summed up.
#[derive(Debug, Default)]
pub struct Strip {
    /// Blocks in its table; `None` of a file that holds no blocks.
    pub blocks: Option<u64>,
    /// Bytes of the file.
    pub bytes: u64,
    header_bytes: u64,
    sector_size: u64,
    sectors: u64,
    /// The worst kind in each part of the file.
    bins: Vec<SectorKind>,
}

/// The strips of files that were shown, of one reading of the save.
#[derive(Debug, Default)]
pub struct Strips {
    generation: u64,
    /// The strips; `None` while they are read.
    by_item: HashMap<ItemId, Option<Arc<Strip>>>,
}

impl Strips {
    /// The strip of a file, when it has been read.
    #[must_use]
    pub fn get(&self, generation: u64, item: ItemId) -> Option<&Arc<Strip>> {
        self.by_item.get(&item).filter(|_| self.generation == generation)?.as_ref()
    }
}

impl Strip {
    fn new(opened: &Opened) -> Self {
        let map = &opened.sectors;
        let end = map.runs.iter().map(|run| run.first.saturating_add(run.count)).max().unwrap_or(0);
        // What claims to be far beyond the end would leave no room for the file.
        let sectors = end.min(map.in_file.saturating_mul(2).max(1)).max(map.in_file);
        // A file that describes others has no parts.
        let is_described = matches!(opened.store, Store::Bytes(_));
        let count = if is_described { 0 } else { sectors.clamp(1, BINS) };
        let mut bins = vec![SectorKind::Header; crate::bytes::index(count)];
        let bin = |sector: u64| crate::bytes::index(sector.saturating_mul(count) / sectors.max(1));
        for run in &map.runs {
            let last = run.first.saturating_add(run.count).saturating_sub(1).min(sectors.saturating_sub(1));
            let kind = kind_of_owner(run.owner, None);
            let part = bins.get_mut(bin(run.first)..=bin(last)).unwrap_or_default();
            part.iter_mut().filter(|to| **to < kind).for_each(|to| *to = kind);
        }
        Self {
            blocks: (!is_described).then(|| u64::try_from(opened.slots.len()).unwrap_or(u64::MAX)),
            bytes: opened.len(Part::Data),
            header_bytes: map.header_bytes,
            sector_size: u64::from(map.sector_size).max(1),
            sectors,
            bins,
        }
    }

    /// Draws the strip over the width of the canvas; `found` are offsets of bytes with findings, and their levels.
    pub fn draw(&self, app: &App, found: &[(u64, Level)], canvas: &mut Canvas<'_>) {
        let width = usize::from(canvas.width()).min(self.bins.len().max(1) * 4);
        if width == 0 || self.bins.is_empty() {
            return;
        }
        let sector_of = |byte: u64| byte.saturating_sub(self.header_bytes) / self.sector_size;
        let found: Vec<(u64, Level)> = found.iter().map(|(byte, level)| (sector_of(*byte), *level)).collect();
        // A sector may have several cells, or a cell several sectors.
        let sector_at = |x: usize| (x as u64).saturating_mul(self.sectors.max(1)) / width as u64;
        let worst = |x: usize| {
            let (from, to) = (sector_at(x), sector_at(x + 1));
            let here = found.iter().filter(|(sector, _)| from <= *sector && *sector < to.max(from + 1));
            here.map(|(_, level)| *level).max()
        };
        for x in 0..width {
            let (from, to) = (x * self.bins.len() / width, (x + 1) * self.bins.len() / width);
            let part = self.bins.get(from..to.max(from + 1)).unwrap_or_default();
            let kind = part.iter().max().copied().unwrap_or(SectorKind::Stale);
            let kind = with_level(kind, worst(x));
            let (glyph, role) = glyph(kind, &app.glyphs);
            canvas.put(u16::try_from(x).unwrap_or(u16::MAX), 0, glyph, role);
        }
    }
}

fn glyph(kind: SectorKind, glyphs: &Glyphs) -> (&'static str, Role) {
    let (glyph, role, _) = kind.appearance(glyphs);
    match kind {
        SectorKind::Block => (if glyphs.ascii { "#" } else { "■" }, role),
        _ => (glyph, role),
    }
}

/// Reads the strips of files that are not there or on their way.
pub fn request(app: &mut App, index: &Arc<Index>, items: &[ItemId]) {
    let generation = app.generation;
    let strips = &mut app.panes.sectors.strips;
    if strips.generation != generation {
        *strips = Strips { generation, by_item: HashMap::new() };
    }
    let missing: Vec<ItemId> = items.iter().copied().filter(|item| !strips.by_item.contains_key(item)).collect();
    if missing.is_empty() {
        return;
    }
    // A job that comes later takes the place of one that runs: what that one has not read is asked for again.
    strips.by_item.retain(|_, strip| strip.is_some());
    let wanted: Vec<ItemId> = items.iter().copied().filter(|item| !strips.by_item.contains_key(item)).collect();
    wanted.iter().for_each(|item| {
        strips.by_item.insert(*item, None);
    });
    let index = Arc::clone(index);
    app.job(
        JobKind::Strips,
        move |worker| {
            for item in wanted {
                if worker.is_cancelled() {
                    return;
                }
                // A file that cannot be opened has a finding that says so.
                let strip = Opened::open(&index, item).map(|opened| Strip::new(&opened)).unwrap_or_default();
                worker.answer(move |app| {
                    let strips = &mut app.panes.sectors.strips;
                    if strips.generation == generation {
                        strips.by_item.insert(item, Some(Arc::new(strip)));
                    }
                });
            }
        },
        App::show_message,
    );
}

/// Where findings worse than notes are in some files, in bytes, and their levels.
pub fn found(app: &App, items: &[ItemId]) -> HashMap<ItemId, Vec<(u64, Level)>> {
    let mut out: HashMap<ItemId, Vec<(u64, Level)>> = HashMap::new();
    for (item, finding) in app.findings.items.iter().zip(&app.findings.list) {
        if let (Some(item), Some(span)) = (item, finding.span)
            && finding.level() > Level::Note
            && items.contains(item)
        {
            out.entry(*item).or_default().push((span.start, finding.level()));
        }
    }
    out
}

/// What the marks of the strips mean.
pub fn draw_legend(app: &App, y: u16, canvas: &mut Canvas<'_>) {
    let mut x = 1;
    let strips = || app.panes.sectors.strips.by_item.values().flatten();
    let occurs = |kind: SectorKind| match kind {
        SectorKind::Block => true,
        SectorKind::Damaged => app.findings.counts.errors > 0,
        SectorKind::Warning => app.findings.counts.warnings > 0,
        kind => strips().any(|strip| strip.bins.contains(&kind)),
    };
    for kind in [
        SectorKind::Block,
        SectorKind::Header,
        SectorKind::Leaf,
        SectorKind::Tree,
        SectorKind::Warning,
        SectorKind::Damaged,
        SectorKind::Shared,
        SectorKind::Unowned,
        SectorKind::Beyond,
        SectorKind::Free,
        SectorKind::Stale,
    ]
    .into_iter()
    .filter(|kind| occurs(*kind))
    {
        let (mark, role) = glyph(kind, &app.glyphs);
        let (.., words) = kind.appearance(&app.glyphs);
        let words = if kind == SectorKind::Block { "blocks" } else { words };
        if usize::from(x) + words.len() + 2 > usize::from(canvas.width()) {
            return;
        }
        x = canvas.line(x, y, &[(role, mark), (Role::Dim, " "), (Role::Dim, words), (Role::Dim, "  ")]);
    }
}
