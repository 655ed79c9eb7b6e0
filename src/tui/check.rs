//! The check of the whole save, in the background: findings come as they are found.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::data::Index;
use super::jobs::{JobKind, Worker, run_in_own_pool};
use super::verdict::{self, Verdict};
use super::{App, Effect};
use crate::check::{Finding, Options, Summary, run, total_bytes, walk};
use crate::damage::{Code, Level};
use crate::recover::effort::Effort;
use crate::watch::Progress;

/// Time between two reports: short enough to show that it moves, long enough for a slow line.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// Checks the save that is open; an older check ends.
pub fn start(app: &mut App) {
    let Some(index) = app.index.clone() else { return };
    app.findings.begin(&index, 0);
    app.selection.finding = None;
    let (generation, effort) = (app.generation, app.settings.effort);
    app.job(
        JobKind::Check,
        move |worker| check(&index, generation, effort, worker),
        |app, why| {
            app.findings.running = false;
            app.findings.stopped = true;
            app.show_message(why);
        },
    );
}

/// Stops the check.
pub fn stop(app: &mut App) {
    app.effects.push(Effect::Cancel(JobKind::Check));
}

struct PendingFindings {
    at: Instant,
    waiting: Vec<Finding>,
}

fn check(index: &Arc<Index>, generation: u64, effort: Effort, worker: &Worker<'_>) {
    let save = Arc::clone(&index.checked);
    let total = total_bytes(&save, crate::check::Level::Semantic);
    worker.answer(move |app| {
        if app.generation == generation {
            app.findings.total = total;
        }
    });
    let done = AtomicU64::new(0);
    let pending = Mutex::new(PendingFindings { at: Instant::now(), waiting: Vec::new() });
    let counted = Mutex::new(crate::check::Findings::default());
    let report = |finding: Option<Finding>, now: bool| {
        if let (Some(finding), Ok(mut counted)) = (&finding, counted.lock()) {
            counted.add(finding);
        }
        // A thread that finds the lock taken has only progress to add, which the next report includes.
        let Ok(mut pending) =
            (if finding.is_some() || now { pending.lock().ok() } else { pending.try_lock().ok() }).ok_or(())
        else {
            return;
        };
        pending.waiting.extend(finding);
        if now || pending.at.elapsed() >= REPORT_INTERVAL || pending.waiting.len() >= 1000 {
            pending.at = Instant::now();
            let findings = std::mem::take(&mut pending.waiting);
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
    // The total of both passes is known, so their beginnings say nothing new.
    let progress = |progress| {
        if let Progress::Advanced(bytes) = progress {
            done.fetch_add(bytes, Ordering::Relaxed);
            report(None, false);
        }
    };
    let options =
        Options::default().effort(effort).watch(worker.watch().progress(&progress)).solutions(&index.solutions);
    let check = || {
        // First every block, so that plain damage is seen soon; then what only the sectors of all regions show.
        let mut errors = HashSet::new();
        // What both passes do not list of a file is one finding.
        let mut unlisted: BTreeMap<Arc<str>, BTreeMap<Code, u64>> = BTreeMap::new();
        let mut pass_on = |finding: Finding| {
            if finding.code() != Code::FindingsCut {
                return report(Some(finding), false);
            }
            let of_file = unlisted.entry(Arc::clone(&finding.file)).or_default();
            finding.unlisted.iter().for_each(|(code, n)| *of_file.entry(*code).or_default() += n);
        };
        let mut summary = run(&save, &options, |finding| {
            if let (Level::Error, Some(block)) = (finding.level(), finding.block) {
                errors.insert((Arc::clone(&finding.file), block.position));
            }
            pass_on(finding);
        });
        if !summary.interrupted {
            let known = |file: &str, position| errors.contains(&(Arc::from(file), position));
            let (counts, undecided) = walk(&save, &options, known, &mut pass_on);
            summary.counts.merge(&counts);
            summary.undecided = undecided;
            summary.interrupted = worker.is_cancelled();
        }
        for (file, codes) in unlisted {
            report(Finding::not_listed(file, &codes), false);
        }
        summary
    };
    let summary = run_in_own_pool(check);
    report(None, true);
    let counted = counted.into_inner().unwrap_or_default();
    let (causes, step) = (counted.causes(&save), counted.next_step(&save));
    worker.answer(move |app| {
        if app.generation == generation {
            finish(app, summary, Verdict { causes, step, ..Verdict::default() }, counted);
        }
    });
}

fn finish(app: &mut App, summary: Summary, verdict: Verdict, counted: crate::check::Findings) {
    app.findings.shown = verdict::OfShown::new(counted);
    app.findings.verdict = verdict;
    app.findings.running = false;
    app.findings.stopped = summary.interrupted;
    app.findings.summary = Some(summary);
    app.findings.version += 1;
}
