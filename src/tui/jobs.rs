//! Work off the screen's thread: of each kind only the newest counts, an older one is cancelled, and one that panics
//! reports the fault instead of ending the program.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::App;
use crate::watch::Watch;

/// What a job is about. Of one kind there is one job that runs and at most one, the newest, that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Opening the save.
    Save,
    /// The check of the whole save.
    Check,
    /// Opening a file and reading its table.
    Item,
    /// The rows of the block table.
    Rows,
    /// Their order under sort and filter.
    Order,
    /// Which findings pass the filter.
    Findings,
    /// One block.
    Block,
    /// Bytes for the hex view.
    Bytes,
    /// Searching for bytes.
    Search,
    /// Counts of a layer's flags.
    Counts,
    /// The tables of a world.
    Source,
    /// The tables of a second save, or of what a repair would write.
    OtherSource,
    /// Tiles of the picture of a world.
    Picture,
    /// The picture of a world in pixels of the terminal.
    #[cfg(feature = "graphics")]
    Pixels,
    /// The sectors of files in a directory.
    Strips,
    /// Writing rows.
    Export,
    /// What a repair would do.
    Plan,
    /// What a repair would bring back.
    Totals,
    /// What differs between two saves.
    Diff,
    /// A block in two saves.
    Pair,
    /// The picture of a region file before and after a repair, and other things that are looked at once.
    Extra,
}

/// What a job gives back: a change of the state.
pub type Answer = Box<dyn FnOnce(&mut App) + Send>;

/// Something to be done in the background.
pub struct Job {
    /// What it is about.
    pub kind: JobKind,
    /// Does it.
    pub work: Box<dyn FnOnce(&Worker<'_>) + Send>,
    /// What to do with the sentence when it panics.
    pub failed: fn(&mut App, String),
}

/// What a job has to work with.
pub struct Worker<'a> {
    cancel: &'a AtomicBool,
    send: &'a (dyn Fn(Answer) + Sync),
}

impl Worker<'_> {
    /// Cancels the work of the job when nobody waits for it any more.
    #[must_use]
    pub fn watch(&self) -> Watch<'_> {
        Watch::default().cancel(self.cancel)
    }

    /// Whether nobody waits for the job any more.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Hands over an answer; a job may give several.
    pub fn answer(&self, answer: impl FnOnce(&mut App) + Send + 'static) {
        (self.send)(Box::new(answer));
    }
}

/// A message of a job: its number and its answer; `None` when it has ended.
pub struct Message {
    kind: JobKind,
    number: u64,
    answer: Option<Answer>,
}

/// The jobs that run, and those that wait for one of their kind to end.
#[derive(Default)]
pub struct Jobs {
    running: HashMap<JobKind, Running>,
    waiting: HashMap<JobKind, Job>,
    numbers: u64,
}

struct Running {
    number: u64,
    cancel: Arc<AtomicBool>,
}

impl Jobs {
    /// Starts a job, or lets it wait for the older one of its kind, which is cancelled.
    pub fn start(&mut self, job: Job, send: &(impl Fn(Message) + Clone + Send + Sync + 'static)) {
        if let Some(running) = self.running.get(&job.kind) {
            running.cancel.store(true, Ordering::Relaxed);
            self.waiting.insert(job.kind, job);
            return;
        }
        self.numbers += 1;
        let number = self.numbers;
        let cancel = Arc::new(AtomicBool::new(false));
        self.running.insert(job.kind, Running { number, cancel: Arc::clone(&cancel) });
        let kind = job.kind;
        let thread_send = send.clone();
        let spawned = std::thread::Builder::new().name(format!("{kind:?}")).spawn(move || {
            run(job, &cancel, &|answer| thread_send(Message { kind, number, answer: Some(answer) }));
            thread_send(Message { kind, number, answer: None });
        });
        if let Err(error) = spawned {
            send(Message {
                kind,
                number,
                answer: Some(Box::new(move |app| app.show_message(format!("no thread could be had: {error}")))),
            });
            send(Message { kind, number, answer: None });
        }
    }

    /// Applies the answer in a message to the state, unless its job was cancelled since.
    pub fn receive(
        &mut self,
        message: Message,
        app: &mut App,
        send: &(impl Fn(Message) + Clone + Send + Sync + 'static),
    ) {
        let current = self.running.get(&message.kind).filter(|running| running.number == message.number);
        let Some(running) = current else { return };
        match message.answer {
            Some(answer) => {
                if !running.cancel.load(Ordering::Relaxed) || message.kind == JobKind::Check {
                    answer(app);
                }
            }
            None => {
                self.running.remove(&message.kind);
                if let Some(job) = self.waiting.remove(&message.kind) {
                    self.start(job, send);
                }
            }
        }
    }

    /// Cancels the job of a kind, and drops the one that waits.
    pub fn cancel(&mut self, kind: JobKind) {
        self.waiting.remove(&kind);
        if let Some(running) = self.running.get(&kind) {
            running.cancel.store(true, Ordering::Relaxed);
        }
    }

    /// Cancels everything.
    pub fn cancel_all(&mut self) {
        self.waiting.clear();
        for running in self.running.values() {
            running.cancel.store(true, Ordering::Relaxed);
        }
    }
}

/// Does work with threads of its own, one fewer than there are processors: whoever looks at a block meanwhile does not
/// wait for it.
pub fn run_in_own_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    match rayon::ThreadPoolBuilder::new().num_threads(processors.saturating_sub(1).max(1)).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// Runs a job here and now.
pub fn run(job: Job, cancel: &AtomicBool, send: &(dyn Fn(Answer) + Sync)) {
    let Job { work, failed, kind } = job;
    // The state is changed by answers only, on another thread, so a panic leaves nothing half done behind.
    let done = catch_unwind(AssertUnwindSafe(|| work(&Worker { cancel, send })));
    if let Err(panic) = done {
        let what = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let what = what.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        let what = crate::printable::printable(&what);
        let sentence = format!("a fault in voxscope stopped this ({kind:?}): {what}. Please report it.");
        send(Box::new(move |app| failed(app, sentence)));
    }
}
