//! Who watches over what is being built.

use std::sync::atomic::{AtomicBool, Ordering};

/// How work that takes long is stopped, and tells how far it is.
#[derive(Clone, Copy, Default)]
pub struct Watch<'a> {
    /// Stops it soon after it is set.
    pub cancel: Option<&'a AtomicBool>,
    /// Told of how much is done, and of how much.
    pub progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
}

impl Watch<'_> {
    /// Whether it was stopped.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    /// Tells that so much is done.
    pub fn tell(&self, done: u64, all: u64) {
        if let Some(progress) = self.progress {
            progress(done, all);
        }
    }
}
