//! Files that change underneath: told by the operating system, and believed once they have been quiet for a moment.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::data::Index;

/// Directories that are watched; a save has few, and what the system grants is shared by all programs.
const MOST: usize = 500;

/// How long files have to be quiet.
const QUIET: Duration = Duration::from_millis(400);

/// How long we wait at most while they never are.
const LONGEST: Duration = Duration::from_secs(3);

/// A watch over the directories of a save.
pub struct Watch {
    _watcher: RecommendedWatcher,
}

impl Watch {
    /// Watches directories and calls `changed` when something of the save changes in them. `None` where the operating
    /// system cannot; then there is still the key to read everything again.
    pub fn new(indexes: &[&Index], directories: &[PathBuf], changed: impl Fn() + Send + 'static) -> Option<Self> {
        let files: HashSet<PathBuf> = indexes.iter().flat_map(|index| index.paths.iter().cloned()).collect();
        let single = indexes.iter().all(|index| index.save.path.is_file());
        let handler = move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            // Reading is no change; and beside a file that was opened by itself others may change as they like.
            let counts = matches!(event.kind, EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_));
            let ours = |path: &PathBuf| files.contains(path) || (!single && is_of_a_save(path));
            if counts && event.paths.iter().any(ours) {
                changed();
            }
        };
        let mut watcher = notify::recommended_watcher(handler).ok()?;
        let mut any = false;
        for directory in directories.iter().take(MOST).filter(|path| path.is_dir()) {
            any |= watcher.watch(directory, RecursiveMode::NonRecursive).is_ok();
        }
        any.then_some(Self { _watcher: watcher })
    }
}

/// Whether a file of that name can belong to a save.
fn is_of_a_save(path: &std::path::Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("vxr" | "vxrm" | "region" | "npy" | "json"))
}

/// Waits until changes have ended for a moment.
#[derive(Debug, Default)]
pub struct Quiet {
    since: Option<(Instant, Instant)>,
}

impl Quiet {
    /// Something changed.
    pub fn disturb(&mut self) {
        let now = Instant::now();
        let first = self.since.map_or(now, |(first, _)| first);
        self.since = Some((first, now));
    }

    /// How long to wait; `None` when nothing changed.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        let (first, last) = self.since?;
        Some(QUIET.saturating_sub(last.elapsed()).min(LONGEST.saturating_sub(first.elapsed())))
    }

    /// Whether changes have ended, or have not for too long. Once.
    pub fn is_over(&mut self) -> bool {
        let over = self.left().is_some_and(|left| left.is_zero());
        if over {
            self.since = None;
        }
        over
    }
}
