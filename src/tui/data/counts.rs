//! Counts of the flags of all voxels of a layer, by a pass over them in the background.

use std::sync::atomic::{AtomicU64, Ordering};

use super::cell::{LoadState, Loaded};
use crate::limits::Limits;
use crate::tui::jobs::JobKind;
use crate::tui::{App, ItemKey};
use crate::voxel_map::scan::{Report, scan};
use crate::watch::Progress;

/// Reports of progress in a pass.
const STEPS: u64 = 50;

/// The counts of a layer, and how far the pass over it is.
#[derive(Debug, Default)]
pub struct Counts {
    cell: Loaded<ItemKey, Report>,
    /// From 0 to 1.
    share: f64,
}

impl Counts {
    /// The counts of a layer, when they are there.
    #[must_use]
    pub fn get(&self, key: &ItemKey) -> Option<&Report> {
        self.cell.get(key).map(AsRef::as_ref)
    }

    /// Why there are none yet.
    #[must_use]
    pub fn words(&self, key: &ItemKey) -> Option<String> {
        match self.cell.state(key) {
            LoadState::Ready(_) => None,
            LoadState::Failed(why) => Some(why.to_owned()),
            LoadState::Loading => Some(format!("counting, {:.0} %", (self.share * 100.0).floor())),
            LoadState::NotRequested => Some("not counted".into()),
        }
    }
}

/// Asks for the counts of the open layer, if they are not there or on their way.
pub fn request_counts(app: &mut App) {
    let (Some(key), Some(opened)) = (app.item_key(), app.opened_item().cloned()) else { return };
    let Some(total) = opened.grid().map(|grid| grid.data.as_ref().map_or(0, |data| data.npy.data.len())) else {
        return;
    };
    if !app.counts.cell.request(&key) {
        return;
    }
    app.counts.share = 0.0;
    let limits = app.index.as_ref().map_or(Limits::DEFAULT, |index| index.save.options.limits);
    app.job(
        JobKind::Counts,
        move |worker| {
            let Some(grid) = opened.grid() else { return };
            let done = AtomicU64::new(0);
            let progress = |progress| {
                let Progress::Advanced(read) = progress else { return };
                let before = done.fetch_add(read, Ordering::Relaxed);
                let step = |n: u64| n.saturating_mul(STEPS).checked_div(total).unwrap_or(STEPS);
                let after = before.saturating_add(read);
                if step(after) > step(before) {
                    let share = (after as f64 / total.max(1) as f64).min(1.0);
                    worker.answer(move |app| app.counts.share = share);
                }
            };
            let report = scan(grid, &limits, &worker.watch().progress(&progress));
            if !report.stopped {
                worker.answer(move |app| app.counts.cell.store(key, Ok(report)));
            }
        },
        |app, why| app.counts.cell.fail(why),
    );
}
