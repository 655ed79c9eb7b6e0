//! The progress bar of long commands, and cancelling them by signals.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
#[cfg(unix)]
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use voxscope::watch::Progress;

use super::exit::Exit;

/// A progress bar on standard error; hidden if that is no terminal.
pub struct Bar(ProgressBar);

impl Bar {
    pub fn new() -> Self {
        let shown = std::io::stderr().is_terminal();
        Self(if shown { ProgressBar::no_length() } else { ProgressBar::hidden() })
    }

    /// Shows the progress of work, with the name of its step.
    pub fn show(&self, progress: Progress) {
        match progress {
            Progress::Began { step, all } => {
                let amount = if step.counts_bytes() { "{bytes} of {total_bytes}" } else { "{percent} %" };
                let style = ProgressStyle::with_template(&format!("{{msg}} {{bar:30}} {amount}, {{eta}} left"));
                self.0.reset();
                self.0.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                self.0.set_length(all);
                self.0.set_message(step.name());
            }
            Progress::Advanced(more) => self.0.inc(more),
        }
    }

    /// Prints while the bar is not in the way.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    /// Removes it.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

/// Makes a write beyond the largest size that the system allows for a file an error, which a command reports, in place of a
/// signal that ends the program.
pub fn ignore_file_size_signal() {
    #[cfg(unix)]
    {
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    }
}

/// How long work may go on after a signal. Some of it, such as the search for pages in a file of terabytes, does not ask whether
/// it is cancelled.
const GRACE: Duration = Duration::from_secs(5);

/// Signals so soon after the first are the same request: programs that pass one on, such as `timeout`, send it to a process and to
/// its group.
#[cfg(unix)]
const SAME: Duration = Duration::from_millis(500);

/// Set by the first SIGINT or SIGTERM, on Unix also by SIGHUP. A second signal ends the program, and on Unix so does the end of
/// [`GRACE`]. The draft of a result then stays beside its destination, as if the program had been killed.
pub fn cancelled_by_signals() -> Arc<AtomicBool> {
    use signal_hook::consts;
    let cancel = Arc::new(AtomicBool::new(false));
    let mut signals = vec![consts::SIGINT, consts::SIGTERM];
    #[cfg(unix)]
    signals.push(consts::SIGHUP);
    for &signal in &signals {
        // In this order, so that the first signal does not end the program. Where no handler can be set, the signal ends
        // the program at once, which loses nothing.
        #[cfg(not(unix))]
        let _ = signal_hook::flag::register_conditional_shutdown(signal, Exit::INTERRUPTED.code(), Arc::clone(&cancel));
        let _ = signal_hook::flag::register(signal, Arc::clone(&cancel));
    }
    #[cfg(unix)]
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(signals) {
        std::thread::spawn(move || {
            let mut first = None;
            for _ in signals.forever() {
                let first = *first.get_or_insert_with(|| {
                    std::thread::spawn(|| {
                        std::thread::sleep(GRACE);
                        end_at_once();
                    });
                    Instant::now()
                });
                if first.elapsed() > SAME {
                    end_at_once();
                }
            }
        });
    }
    cancel
}

/// Ends the program while it works.
#[cfg(unix)]
fn end_at_once() -> ! {
    use std::io::Write;
    let words = "voxscope: ended by a signal while it worked; a directory whose name contains `.voxscope-` may be left beside the destination. The next run with the same destination removes it.";
    let _ = writeln!(std::io::stderr(), "{words}");
    std::process::exit(Exit::INTERRUPTED.code());
}
