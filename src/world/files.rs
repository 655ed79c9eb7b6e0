//! A cache of a bounded number of open files.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::save::open_region;
use crate::source::{FileSource, OpenError};

/// Files that are kept open: with two worlds and the files of a result, fewer than the 64 that some systems allow.
const OPEN: usize = 16;

/// A cache of open files, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Files(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    open: HashMap<u32, (Arc<FileSource>, u64)>,
    clock: u64,
    changed: Option<u32>,
}

impl Files {
    /// The file with this number; opens it if needed.
    pub fn open(&self, number: u32, path: &Path) -> Result<Arc<FileSource>, OpenError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.clock += 1;
        let now = state.clock;
        if let Some((source, used)) = state.open.get_mut(&number) {
            *used = now;
            return Ok(Arc::clone(source));
        }
        let source = Arc::new(open_region(path)?.0);
        if state.open.len() >= OPEN
            && let Some(oldest) = state.open.iter().min_by_key(|(_, (_, used))| *used).map(|(n, _)| *n)
            && let Some((source, _)) = state.open.remove(&oldest)
            && source.changed().unwrap_or(true)
        {
            state.changed = Some(oldest);
        }
        state.open.insert(number, (Arc::clone(&source), now));
        Ok(source)
    }

    /// The number of a file that changed while it was open.
    pub fn changed(&self) -> Option<u32> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = || state.open.iter().find(|(_, (source, _))| source.changed().unwrap_or(true)).map(|(n, _)| *n);
        state.changed.or_else(now)
    }
}
