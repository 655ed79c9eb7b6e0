//! The threads of a command.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;

use super::exit::Failure;
use super::output::complain;

/// Threads that `--jobs` can ask for; more only cost memory.
const MOST_JOBS: usize = 256;

/// Results that wait to be taken.
const HELD: usize = 1024;

/// Starts the threads of a command.
pub fn start(jobs: Option<usize>) -> Result<Pool, Failure> {
    if !can_start_threads() {
        return Ok(Pool::Here);
    }
    let threads = rayon::ThreadPoolBuilder::new().num_threads(jobs.unwrap_or(0).min(MOST_JOBS)).build();
    threads.map(Pool::Threads).map_err(|error| Failure::Failed(format!("cannot start the threads: {error}")))
}

/// The threads that work on a save.
pub enum Pool {
    /// Threads of their own.
    Threads(rayon::ThreadPool),
    /// The calling thread, where the system starts no more.
    Here,
}

impl Pool {
    /// Does work with these threads.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self {
            Self::Threads(threads) => threads.install(work),
            Self::Here => work(),
        }
    }

    /// Does work whose results the calling thread takes, in order, so that writing them holds no thread that works. What
    /// cannot be taken ends the work by `cancel`.
    ///
    /// # Errors
    /// What `take` failed with. The result of the work is an error if it panicked.
    pub fn stream<T: Send, R: Send>(
        &self,
        cancel: &AtomicBool,
        work: impl FnOnce(&mut dyn FnMut(T)) -> R + Send,
        mut take: impl FnMut(T) -> io::Result<()>,
    ) -> io::Result<std::thread::Result<R>> {
        let mut taken = Ok(());
        let mut take = |result| {
            if taken.is_ok() {
                taken = take(result);
                if taken.is_err() {
                    cancel.store(true, Ordering::Relaxed);
                }
            }
        };
        let done = match self {
            Self::Here => Ok(work(&mut take)),
            Self::Threads(threads) => std::thread::scope(|scope| {
                let (sender, receiver) = sync_channel(HELD);
                // The receiver stays until this sender is gone.
                let worker = scope.spawn(move || threads.install(|| work(&mut |result| drop(sender.send(result)))));
                receiver.into_iter().for_each(&mut take);
                worker.join()
            }),
        };
        taken.map(|()| done)
    }
}

/// Whether the system starts threads. If it does not, the calling thread does all work: this has to be known before the first
/// parallel loop, which would end the program.
pub fn can_start_threads() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| {
        if rayon::ThreadPoolBuilder::new().build().is_ok() {
            return true;
        }
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
        if alone.is_ok() {
            complain(&format_args!("the system starts no more threads: one does all work"));
        }
        alone.is_err()
    })
}
