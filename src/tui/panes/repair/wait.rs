//! What is shown while a plan is made: which step of reading it is, and how far.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::tui::canvas::Canvas;
use crate::tui::jobs::Worker;
use crate::tui::numbers::bytes;
use crate::tui::theme::Role;
use crate::watch::{Progress, Step};

/// Time between two reports: short enough to show that it moves, long enough for a slow line.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// A step, the bytes of it that are done, and all of them.
pub type PlanProgress = Option<(Step, u64, u64)>;

/// Reports the progress of the plan to the screen; threads that come in between add to the next report.
pub fn report_progress<'w>(worker: &'w Worker<'w>) -> impl Fn(Progress) + Sync + 'w {
    let reported = Mutex::new((Instant::now(), None));
    move |progress: Progress| {
        let Ok(mut reported) = reported.lock() else { return };
        let (at, far): &mut (Instant, PlanProgress) = &mut reported;
        match (progress, far.as_mut()) {
            (Progress::Began { step, all }, _) => *far = Some((step, 0, all)),
            (Progress::Advanced(more), Some((_, done, _))) => *done = done.saturating_add(more),
            (Progress::Advanced(_), None) => {}
        }
        if at.elapsed() >= REPORT_INTERVAL {
            *at = Instant::now();
            let far = *far;
            worker.answer(move |app| app.panes.repair.progress = far);
        }
    }
}

/// Draws it.
pub fn draw(far: PlanProgress, canvas: &mut Canvas<'_>) {
    canvas.wrap(1, 1, "Planning the repair: everything is read, nothing is written.", Role::Dim);
    let Some((step, done, all)) = far.filter(|(.., all)| *all > 0) else { return };
    let percent = (done.min(all) as f64 / all as f64 * 100.0).floor();
    let words = match step {
        Step::Walking => "walking over sectors that the table does not match",
        _ => "looking for sectors that the table does not match",
    };
    canvas.wrap(1, 4, &format!("{percent:.0} % of {} · {words}", bytes(all)), Role::Dim);
}
