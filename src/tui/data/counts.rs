//! What all voxels of a layer come to, by a pass over them in the background.

use std::sync::atomic::{AtomicU64, Ordering};

use super::cell::{Cell, State};
use crate::limits::Limits;
use crate::tui::app::{App, ItemKey};
use crate::tui::jobs::Kind;
use crate::voxel_map::scan::{Report, scan};

/// How often a pass says how far it is.
const STEPS: u64 = 50;

/// The counts of a layer, and how far the pass over it is.
#[derive(Debug, Default)]
pub struct Counts {
    cell: Cell<ItemKey, Report>,
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
            State::Ready(_) => None,
            State::Failed(why) => Some(why.to_owned()),
            State::Reading => Some(format!("counting, {:.0} %", (self.share * 100.0).floor())),
            State::Unasked => Some("not counted".into()),
        }
    }
}

/// Asks for the counts of the open layer, if they are not there or on their way.
pub fn want_counts(app: &mut App) {
    let (Some(key), Some(opened)) = (app.item_key(), app.opened_item().cloned()) else { return };
    let Some(total) = opened.grid().map(|grid| grid.data.as_ref().map_or(0, |data| data.npy.data.len())) else {
        return;
    };
    if !app.counts.cell.want(&key) {
        return;
    }
    app.counts.share = 0.0;
    let limits = app.index.as_ref().map_or(Limits::DEFAULT, |index| index.save.options.limits);
    app.job(
        Kind::Counts,
        move |worker| {
            let Some(grid) = opened.grid() else { return };
            let done = AtomicU64::new(0);
            let report = scan(grid, &limits, &|read| {
                let before = done.fetch_add(read, Ordering::Relaxed);
                let step = |n: u64| n.saturating_mul(STEPS).checked_div(total).unwrap_or(STEPS);
                let after = before.saturating_add(read);
                if step(after) > step(before) {
                    let share = (after as f64 / total.max(1) as f64).min(1.0);
                    worker.answer(move |app| app.counts.share = share);
                }
                !worker.is_cancelled()
            });
            if !report.stopped {
                worker.answer(move |app| app.counts.cell.put(key, Ok(report)));
            }
        },
        |app, why| app.counts.cell.fail(why),
    );
}
