//! Region files that are read with the meta file of a forest above them, without the rest of the forest.

use std::fs;
use std::path::{Path, PathBuf};

use super::scan::meta_above;
use super::{Kind, Save};

impl Save {
    /// The directory of the forest that a repair must be given instead of this save, if a copy of this save alone could not be
    /// read: versions 1 and 2 of region files do not store their layout, and it was read from a meta file above the save.
    #[must_use]
    pub fn forest_above(&self) -> Option<PathBuf> {
        // An option gives the layout of the copy too.
        if self.options.format.is_some() {
            return None;
        }
        let loose = self.forests.iter().filter(|forest| forest.kind == Kind::Loose && forest.format.is_some());
        let is_old = |version: u8| version < 3;
        let mut old = loose.filter(|forest| {
            forest.regions.iter().filter_map(|file| file.header.as_ref()).any(|header| is_old(header.version))
        });
        old.find_map(|forest| self.forest_outside(&forest.dir))
    }

    /// The directory of the meta file above a directory, if it is not in this save; as the save was named, if possible.
    fn forest_outside(&self, dir: &Path) -> Option<PathBuf> {
        let above = meta_above(dir)?.parent()?.to_owned();
        let real = |path: &Path| fs::canonicalize(path).ok();
        if self.path.is_dir() && above.starts_with(real(&self.path)?) {
            return None;
        }
        let named = self.path.ancestors().skip(1).find(|dir| real(dir).is_some_and(|dir| dir == above));
        Some(named.map_or(above, Path::to_owned))
    }
}
