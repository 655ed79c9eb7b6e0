//! Places of a world whose blocks are not known because a file or directory was not read.

use std::path::Path;

use super::{Fault, Store, World};
use crate::axes;
use crate::godot::slots::{self, SlotFormula};
use crate::save;

impl World<'_> {
    /// What of the save was not read when it was opened, whatever the LOD: links, unreadable directories, what is no file.
    #[must_use]
    pub fn unread(&self) -> Vec<Fault> {
        let worlds = self.save.forests.len() + self.save.streams.len();
        let own = self.path().as_os_str().as_encoded_bytes();
        // Beside other worlds, only what is in the directory of this one, or has the name of its file, concerns it.
        let concerns = |path: &Path| worlds < 2 || path.as_os_str().as_encoded_bytes().starts_with(own);
        self.save.unread().filter(|fault| concerns(&fault.path)).map(|fault| self.fault(fault)).collect()
    }

    fn fault(&self, fault: &save::Fault) -> Fault {
        Fault { file: self.save.shown(&fault.path), why: fault.why() }
    }

    /// What was not read and may hold the block of a position that the index does not have. In a stream, a page that cannot be read
    /// and a row whose key is no place may hold any of them.
    #[must_use]
    pub fn may_be_unread(&self, lod: u8, position: [i32; 3]) -> Option<Fault> {
        self.may_be_unread_in(lod, [position; 2])
    }

    /// The same for positions from the first to the last along each axis.
    #[must_use]
    pub(crate) fn may_be_unread_in(&self, lod: u8, [first, last]: [[i32; 3]; 2]) -> Option<Fault> {
        let regions = match &self.store {
            Store::Forest(regions) => regions,
            Store::Stream(rows) => return rows.unread(&self.name).into_iter().next(),
        };
        let size = regions.format(self.save.options.format.is_some()).map(|format| format.region_size);
        let region_of = |position| Some(slots::place_block(position, size?, SlotFormula::default())?.0);
        let range = region_of(first).zip(region_of(last));
        // Without a known layout, any region of the LOD may have it.
        let has = |at: [i32; 3]| {
            range.is_none_or(|(low, high)| {
                axes::combine(low, at, |low, n| low <= n) == [true; 3]
                    && axes::combine(high, at, |high, n| n <= high) == [true; 3]
            })
        };
        let dir = &regions.forest.dir;
        let unread = self.save.unread().filter(|fault| fault.path.starts_with(dir)).find(|fault| {
            if fault.is_misnamed() {
                let above = fault.path.parent().map(save::region_of_path);
                return above.and_then(|(of, _)| of).is_none_or(|of| of == lod);
            }
            match save::region_of_path(&fault.path) {
                (Some(of), Some(at)) => of == lod && has(at),
                (Some(of), None) => of == lod,
                // The directory of all LODs, or the forest itself.
                (None, at) => at.is_none_or(has) && !fault.path.is_file(),
            }
        });
        unread.map(|fault| self.fault(fault)).or_else(|| {
            let mut files = regions.forest.regions.iter().filter(|file| file.lod == lod && has(file.position));
            let file = files.find(|file| file.header.is_none() && !file.damage.is_empty())?;
            let why = file.damage.first().map(ToString::to_string).unwrap_or_default();
            Some(Fault { file: self.save.shown(&dir.join(&file.name)), why })
        })
    }
}
