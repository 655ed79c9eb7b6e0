//! The save that is compared with, and the comparison, in the background: what differs comes as it is found.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::data::Index;
use super::data::difference::{Difference, FoundChange, Lod};
use super::jobs::{JobKind, Worker, run_in_own_pool};
use super::pane::Pane;
use super::{App, Effect};
use crate::diff;
use crate::printable;
use crate::recover::slots::{Purpose, by_old_formula};
use crate::save::{Options, Save};
use crate::watch::Progress;
use crate::world::World;

/// How often progress is found.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// Changes that are handed over at once, at most.
const BATCH: usize = 4096;

/// A save that another one is compared with, and how.
#[derive(Clone, Debug, Default)]
pub struct CompareWith {
    /// What to open.
    pub path: PathBuf,
    /// How.
    pub options: Options,
    /// The LODs; all when it is empty.
    pub lods: Vec<u8>,
    /// The channels; all when it is empty.
    pub channels: Vec<usize>,
}

/// The reading of the first and of the second save that a comparison is of.
type Key = (u64, u64);

/// Two saves side by side.
#[derive(Debug, Default)]
pub struct Comparison {
    /// The second save, or why it cannot be opened.
    pub other: Option<Result<Arc<Index>, String>>,
    /// How often it was read.
    pub readings: u64,
    /// Whether the comparison runs.
    pub running: bool,
    /// Whether it was stopped before its end.
    pub stopped: bool,
    /// Why there is none.
    pub failure: Option<String>,
    /// What differs, as far as it is known; after a change, that of before until all is compared again.
    shown: Option<Difference>,
    /// What was found since.
    coming: Option<Difference>,
    key: Key,
}

impl Comparison {
    /// What differs, as far as it is known.
    #[must_use]
    pub const fn difference(&self) -> Option<&Difference> {
        match &self.shown {
            None => self.coming.as_ref(),
            there => there.as_ref(),
        }
    }

    /// The share that has been compared, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.coming.as_ref().map_or(0.0, Difference::share)
    }

    fn begin(&mut self, key: Key, saves: [Arc<Save>; 2]) {
        (self.running, self.stopped, self.failure, self.key) = (true, false, None, key);
        self.coming = Some(Difference::new(key, saves));
    }

    fn end(&mut self, result: Result<diff::Summary, String>) {
        self.running = false;
        let coming = self.coming.take();
        match result {
            Ok(summary) => {
                self.stopped = summary.interrupted;
                self.shown = coming.map(|mut coming| {
                    coming.version += 1;
                    coming.summary = Some(summary);
                    coming
                });
            }
            Err(why) => (self.shown, self.failure) = (None, Some(why)),
        }
    }
}

impl App {
    /// Whether there are two saves.
    #[must_use]
    pub const fn has_other(&self) -> bool {
        self.settings.against.is_some()
    }

    /// Whether the two are one world each, so that one picture shows both.
    #[must_use]
    pub fn has_pair(&self) -> bool {
        let is_one = |index: &Arc<Index>| !World::are_several(&index.save);
        let other = self.comparison.other.as_ref().and_then(|other| other.as_ref().ok());
        self.has_other() && self.index.as_ref().is_none_or(is_one) && other.is_none_or(is_one)
    }

    /// Whether two saves are shown side by side.
    #[must_use]
    pub fn in_diff(&self) -> bool {
        self.pane == Pane::Diff && self.has_other()
    }

    /// Whether there is a list of what differs, with a LOD.
    #[must_use]
    pub fn has_difference(&self) -> bool {
        self.in_diff() && self.comparison.difference().is_some_and(|difference| !difference.lods.is_empty())
    }

    /// Whether there are changes to go through, or places of a block that is tried.
    #[must_use]
    pub fn can_step(&self) -> bool {
        if self.has_candidate() { crate::tui::panes::repair::has_other_places(self) } else { self.has_changes() }
    }

    /// Whether there are changes to go through.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        (self.in_diff() || self.in_world())
            && self.comparison.difference().is_some_and(|difference| !difference.is_empty())
    }

    /// Whether there is a pane.
    #[must_use]
    pub fn has_pane(&self, pane: Pane) -> bool {
        match pane {
            Pane::Diff => self.has_other(),
            _ => true,
        }
    }

    /// Whether the picture can go from one of two saves to the other.
    #[must_use]
    pub fn can_switch(&self) -> bool {
        self.in_world() && self.has_pair()
    }
}

/// Opens the save that is compared with; the first one is open. In the job that opened that one.
pub fn open(against: &CompareWith, worker: &Worker<'_>) {
    let index = Save::open(&against.path, &against.options)
        .and_then(|save| Ok(by_old_formula(&save, Purpose::Reading, &|| worker.is_cancelled())?.unwrap_or(save)))
        .map_err(|error| error.to_string())
        .map(Index::new);
    worker.answer(move |app| {
        let index = index.map(Arc::new);
        app.comparison.failure = index.as_ref().err().cloned();
        app.comparison.other = Some(index);
        app.comparison.readings += 1;
        start(app);
    });
}

/// Compares the two saves that are open; an older comparison ends.
pub fn start(app: &mut App) {
    let Some(against) = app.settings.against.clone() else { return };
    let (Some(one), Some(Ok(other))) = (&app.index, &app.comparison.other) else { return };
    let saves = [Arc::clone(&one.save), Arc::clone(&other.save)];
    let key = (app.generation, app.comparison.readings);
    app.comparison.begin(key, saves.clone());
    app.job(
        JobKind::Diff,
        move |worker| {
            let result = compare(&saves, &against, key, worker);
            worker.answer(move |app| {
                if app.comparison.key == key {
                    app.comparison.end(result);
                }
            });
        },
        |app, why| app.comparison.end(Err(why)),
    );
}

/// Stops the comparison; what it found stays.
pub fn stop(app: &mut App) {
    app.effects.push(Effect::Cancel(JobKind::Diff));
    let comparison = &mut app.comparison;
    (comparison.running, comparison.stopped) = (false, true);
    if let Some(coming) = comparison.coming.take().filter(|_| comparison.shown.is_none()) {
        comparison.shown = Some(coming);
    }
}

/// What was found and not handed over yet.
struct PendingChanges {
    at: Instant,
    found: Vec<FoundChange>,
    /// Blocks that are compared, of all LODs.
    done: u64,
}

fn compare(
    saves: &[Arc<Save>; 2],
    against: &CompareWith,
    key: Key,
    worker: &Worker<'_>,
) -> Result<diff::Summary, String> {
    let [a, b] = saves;
    if World::are_several(a) || World::are_several(b) {
        return Err(several_words(a, b));
    }
    let worlds = World::only(a).and_then(|a| Ok((a, World::only(b)?)));
    let (a, b) = worlds.map_err(|error| error.to_string())?;
    run_in_own_pool(|| run([&a, &b], against, key, worker))
}

/// The commands that compare directories with several worlds, and two of these worlds here.
fn several_words(a: &Save, b: &Save) -> String {
    let one = if World::are_several(a) { a } else { b };
    let (shown, [path_a, path_b]) = (printable::path(&one.path), [a, b].map(|save| printable::argument(&save.path)));
    let names = |save| -> Vec<PathBuf> {
        let all = World::all_readable(save).0.into_iter();
        let names = all.filter_map(|world| world.path().strip_prefix(&save.path).ok().map(Path::to_owned));
        names.filter(|name| *name != Path::new("")).collect()
    };
    let others = names(b);
    let pair = names(a).into_iter().find(|name| others.contains(name));
    let pair = pair.map_or_else(String::new, |name| {
        let [a, b] = [a, b].map(|save| printable::argument(&save.path.join(&name)));
        format!(" `voxscope {a} --against {b}` shows two of them here.")
    });
    format!(
        "{shown} holds several saves, but the explorer compares two. `voxscope diff {path_a} {path_b}` compares the saves of equal \
         names.{pair}"
    )
}

fn run(worlds: [&World<'_>; 2], against: &CompareWith, key: Key, worker: &Worker<'_>) -> Result<diff::Summary, String> {
    let [a, b] = worlds;
    let mut numbers = a.lods();
    numbers.extend(b.lods());
    numbers.sort_unstable();
    numbers.dedup();
    numbers.retain(|lod| against.lods.is_empty() || against.lods.contains(lod));
    let side = a.block_size().or(b.block_size());
    let sizes = [a, b].map(|world| world.block_size().or(side).unwrap_or(1));
    let lods: Vec<Lod> =
        numbers.into_iter().map(|lod| Lod::new(lod, [a, b].map(|world| Arc::new(world.index(lod))), sizes)).collect();
    let total = lods.iter().map(|lod| lod.blocks.iter().map(|blocks| blocks.blocks.len()).max().unwrap_or(0) as u64);
    let total = total.sum::<u64>();
    answer(worker, key, move |all| (all.lods, all.side, all.done) = (lods, side, [0, total]));
    let waiting = Mutex::new(PendingChanges { at: Instant::now(), found: Vec::new(), done: 0 });
    let report = |change: &mut dyn FnMut(&mut PendingChanges), now: bool| {
        let Ok(mut waiting) = waiting.lock() else { return };
        change(&mut waiting);
        if now || waiting.found.len() >= BATCH || waiting.at.elapsed() >= REPORT_INTERVAL {
            waiting.at = Instant::now();
            let found = std::mem::take(&mut waiting.found);
            let done = waiting.done;
            answer(worker, key, move |all| {
                all.done = [done.min(total), total];
                if !found.is_empty() {
                    all.add(found);
                }
            });
        }
    };
    // The total of all LODs is known, so the beginning of each says nothing new.
    let progress = |progress| {
        if let Progress::Advanced(more) = progress {
            report(&mut |waiting| waiting.done = waiting.done.saturating_add(more), false);
        }
    };
    let options = diff::Options::default()
        .lods(against.lods.clone())
        .channels(against.channels.clone())
        .watch(worker.watch().progress(&progress));
    let result = diff::run(a, b, &options, |change| {
        report(&mut |waiting| waiting.found.extend(FoundChange::all(&change)), false);
    });
    report(&mut |_| {}, true);
    result.map_err(|error| error.to_string())
}

/// Hands something over to the comparison that this is still about.
fn answer(worker: &Worker<'_>, key: Key, change: impl FnOnce(&mut Difference) + Send + 'static) {
    worker.answer(move |app| {
        if app.comparison.key == key
            && let Some(coming) = &mut app.comparison.coming
        {
            change(coming);
        }
    });
}
