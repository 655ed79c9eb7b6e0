//! What is shown while a plan is made: which step of reading it is, and how far.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::repair::{Progress, Step};
use crate::tui::canvas::Canvas;
use crate::tui::inspector::bytes;
use crate::tui::jobs::Worker;
use crate::tui::theme::Role;

/// How often it is told: often enough to be seen, seldom enough not to be felt over a slow line.
const PAUSE: Duration = Duration::from_millis(100);

/// A step, the bytes of it that are done, and all of them.
pub type Far = Option<(Step, u64, u64)>;

/// Tells the screen how far the plan is, now and then; threads that come while one tells add to it.
pub fn teller<'w>(worker: &'w Worker<'w>) -> impl Fn(Progress) + Sync + 'w {
    let told = Mutex::new((Instant::now(), None));
    move |of: Progress| {
        let Ok(mut told) = told.lock() else { return };
        let (at, far): &mut (Instant, Far) = &mut told;
        let before = far.filter(|(step, ..)| *step == of.step).map_or(0, |(_, done, _)| done);
        *far = Some((of.step, before.saturating_add(of.more), of.all));
        if at.elapsed() >= PAUSE {
            *at = Instant::now();
            let far = *far;
            worker.answer(move |app| app.panes.repair.far = far);
        }
    }
}

/// Draws it.
pub fn draw(far: Far, canvas: &mut Canvas<'_>) {
    canvas.wrap(1, 1, "Reading everything, to see what a repair would do. Nothing is written.", Role::Dim);
    let Some((step, done, all)) = far.filter(|(.., all)| *all > 0) else { return };
    let percent = (done.min(all) as f64 / all as f64 * 100.0).floor();
    let words = match step {
        Step::Walking => "walking over the sectors of what is not explained",
        _ => "looking for what its table does not explain",
    };
    canvas.wrap(1, 4, &format!("{percent:.0} % of {} · {words}", bytes(all)), Role::Dim);
}
