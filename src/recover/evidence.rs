//! What the alignment takes from elsewhere: how often blocks are saved, and how well blocks fit entries.

/// How often blocks are saved, and what of it changes their length.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Share of the entries that are taken out and appended.
    pub gone: f64,
    /// Share of the entries that shrink.
    pub shrunk: f64,
}

impl Rates {
    /// Estimates rates from how many of the entries are gone and shrank. Limits keep a region of few entries from ruling out either.
    pub fn estimate(gone: f64, shrunk: f64, entries: usize) -> Self {
        let n = entries.max(1) as f64;
        let share = |expected: f64| ((expected + 0.5) / (n + 1.0)).clamp(0.3 / n, 0.4);
        Self { gone: share(gone), shrunk: share(shrunk) }
    }
}

/// Log-odds that an entry has certain blocks.
#[derive(Clone, Copy, Debug)]
pub struct Row<'e> {
    /// Blocks with their log-odds, by block.
    pub seams: &'e [(usize, f64)],
    /// The log-odds of all other blocks.
    pub other: f64,
    /// Factor of `seams`.
    pub by: f64,
}

/// Log-odds of matches that come from elsewhere.
pub trait Evidence: Sync {
    /// What is known of an entry.
    fn row(&self, entry: usize) -> Row<'_>;

    /// Log-odds that a walked block belongs to an entry.
    fn seam_odds(&self, entry: usize, block: usize) -> f64 {
        let row = self.row(entry);
        match row.seams.binary_search_by_key(&block, |(b, _)| *b) {
            Ok(at) => row.seams[at].1 * row.by,
            Err(_) => row.other,
        }
    }
}

/// No evidence but the order.
pub struct Nothing;

impl Evidence for Nothing {
    fn row(&self, _: usize) -> Row<'_> {
        Row { seams: &[], other: 0.0, by: 1.0 }
    }
}

/// Log-odds of a block whose seams were not compared although those of others were: too unlikely to be compared.
const NOT_COMPARED: f64 = -2.0;

/// The seams of each entry with its possible blocks, believed in part.
pub struct Seams<'s> {
    /// For each entry its possible blocks with their log-odds, by block.
    pub rows: &'s [Vec<(usize, f64)>],
    /// How far they are believed, 0 to 1.
    pub by: f64,
}

impl Evidence for Seams<'_> {
    fn row(&self, entry: usize) -> Row<'_> {
        let seams = &self.rows[entry];
        Row { seams, other: if seams.is_empty() { 0.0 } else { NOT_COMPARED * self.by }, by: self.by }
    }
}
