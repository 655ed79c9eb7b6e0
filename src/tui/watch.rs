//! Files that change on disk: the operating system reports them, and the explorer waits until they are quiet.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use notify::event::ModifyKind;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::data::Index;

/// Directories that are watched; a save has few, and what the system grants is shared by all programs.
const MAX_DIRECTORIES: usize = 500;

/// How long files have to be quiet.
const QUIET_TIME: Duration = Duration::from_millis(400);

/// How long we wait at most while they never are.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// A watch over the directories of a save.
pub struct FileWatcher {
    _watcher: RecommendedWatcher,
}

impl FileWatcher {
    /// Watches directories and calls `changed` when something of the save changes in them. `None` where the operating
    /// system cannot; then there is still the key to read everything again.
    pub fn new(indexes: &[&Index], directories: &[PathBuf], changed: impl Fn() + Send + 'static) -> Option<Self> {
        let files: HashSet<PathBuf> = indexes.iter().flat_map(|index| index.paths.iter().cloned()).collect();
        let watched: HashSet<PathBuf> = directories.iter().cloned().collect();
        let single = indexes.iter().all(|index| index.save.path.is_file());
        let handler = move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            // Reading is no change; and beside a file that was opened by itself others may change as they like.
            let counts = matches!(event.kind, EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_));
            // A directory that is deleted or renamed takes its files with it.
            let is_gone = matches!(event.kind, EventKind::Modify(ModifyKind::Name(_)) | EventKind::Remove(_));
            let ours = |path: &PathBuf| {
                files.contains(path) || (!single && belongs_to_save(path)) || (is_gone && watched.contains(path))
            };
            if counts && event.paths.iter().any(ours) {
                changed();
            }
        };
        let mut watcher = notify::recommended_watcher(handler).ok()?;
        let mut any = false;
        for directory in directories.iter().take(MAX_DIRECTORIES).filter(|path| path.is_dir()) {
            any |= watcher.watch(directory, RecursiveMode::NonRecursive).is_ok();
        }
        any.then_some(Self { _watcher: watcher })
    }
}

/// Whether a file of that name can belong to a save.
fn belongs_to_save(path: &std::path::Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("vxr" | "vxrm" | "region" | "npy" | "json"))
}

/// Waits until changes have ended for a moment.
#[derive(Debug, Default)]
pub struct Debounce {
    since: Option<(Instant, Instant)>,
}

impl Debounce {
    /// Something changed.
    pub fn touch(&mut self) {
        let now = Instant::now();
        let first = self.since.map_or(now, |(first, _)| first);
        self.since = Some((first, now));
    }

    /// How long to wait; `None` when nothing changed.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        let (first, last) = self.since?;
        Some(QUIET_TIME.saturating_sub(last.elapsed()).min(MAX_WAIT.saturating_sub(first.elapsed())))
    }

    /// Whether changes have ended, or have not for too long. Once.
    pub fn take_elapsed(&mut self) -> bool {
        let over = self.remaining().is_some_and(|left| left.is_zero());
        if over {
            self.since = None;
        }
        over
    }
}
