//! The check of the whole save, in the background: findings come as they are found.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::app::{App, Effect};
use super::data::Index;
use super::jobs::{Kind, Worker, apart};
use crate::check::{Finding, Options, Summary, run, total_bytes, walk};
use crate::damage::Level;

/// How often progress is told: often enough to be seen, seldom enough not to be felt over a slow line.
const PAUSE: Duration = Duration::from_millis(100);

/// Checks the save that is open; an older check ends.
pub fn start(app: &mut App) {
    let Some(index) = app.index.clone() else { return };
    app.findings.begin(&index, 0);
    let generation = app.generation;
    app.job(
        Kind::Check,
        move |worker| check(&index, generation, worker),
        |app, why| {
            app.findings.running = false;
            app.findings.stopped = true;
            app.say(why);
        },
    );
}

/// Stops the check.
pub fn stop(app: &mut App) {
    app.effects.push(Effect::Cancel(Kind::Check));
}

struct Told {
    at: Instant,
    waiting: Vec<Finding>,
}

fn check(index: &Arc<Index>, generation: u64, worker: &Worker<'_>) {
    let save = Arc::clone(&index.save);
    let total = total_bytes(&save, crate::check::Level::Semantic);
    worker.answer(move |app| {
        if app.generation == generation {
            app.findings.total = total;
        }
    });
    let done = AtomicU64::new(0);
    let told = Mutex::new(Told { at: Instant::now(), waiting: Vec::new() });
    let tell = |finding: Option<Finding>, now: bool| {
        // Whoever comes while somebody tells has nothing to add but progress, which is told the next time.
        let Ok(mut told) = (if finding.is_some() || now { told.lock().ok() } else { told.try_lock().ok() }).ok_or(())
        else {
            return;
        };
        told.waiting.extend(finding);
        if now || told.at.elapsed() >= PAUSE || told.waiting.len() >= 1000 {
            told.at = Instant::now();
            let findings = std::mem::take(&mut told.waiting);
            let (done, index) = (done.load(Ordering::Relaxed), Arc::clone(index));
            worker.answer(move |app| {
                if app.generation == generation {
                    app.findings.done = done;
                    if !findings.is_empty() {
                        app.findings.add(&index, findings);
                    }
                }
            });
        }
    };
    let progress = |bytes| {
        done.fetch_add(bytes, Ordering::Relaxed);
        tell(None, false);
    };
    let options = Options { cancel: Some(worker.cancel()), progress: Some(&progress), ..Options::default() };
    let check = || {
        // First every block, so that what is plainly wrong is seen soon; then what only the sectors of all regions tell.
        let mut errors = HashSet::new();
        let mut summary = run(&save, &options, |finding| {
            if let (Level::Error, Some(block)) = (finding.level(), finding.block) {
                errors.insert((Arc::clone(&finding.file), block.position));
            }
            tell(Some(finding), false);
        });
        if !summary.interrupted {
            let known = |file: &str, position| errors.contains(&(Arc::from(file), position));
            let counts = walk(&save, &options, known, |finding| tell(Some(finding), false));
            summary.counts.merge(&counts);
            summary.interrupted = worker.is_cancelled();
        }
        summary
    };
    let summary = apart(check);
    tell(None, true);
    worker.answer(move |app| {
        if app.generation == generation {
            ended(app, summary);
        }
    });
}

fn ended(app: &mut App, summary: Summary) {
    app.findings.running = false;
    app.findings.stopped = summary.interrupted;
    app.findings.summary = Some(summary);
    app.findings.version += 1;
}
