//! A backup of the same save: who owned which content, and older states of what is lost.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bytes::Span;
use crate::godot::region::{Format, Header};
use crate::repair::survey::{Solved, Walk, open, solve, stands_as_listed, sure};
use crate::repair::{Error, Options};
use crate::save::{Forest, Save};
use crate::trace::decide::Certainty;
use crate::trace::walk;

/// A region file of the backup.
#[derive(Debug)]
pub(super) struct File {
    /// Where it is.
    pub path: Arc<Path>,
    /// Its path below its forest.
    pub name: PathBuf,
    pub lod: u8,
    pub position: [i32; 3],
    pub header: Header,
    /// Whether it can be copied as it is.
    pub healthy: bool,
    /// Its blocks whose places are certain.
    pub blocks: Vec<[i32; 3]>,
}

/// A block of the backup.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// Index of its file.
    pub file: usize,
    pub sector: u32,
    pub pieces: Vec<Span>,
}

/// What a forest of the backup holds.
#[derive(Debug, Default)]
pub(super) struct Store {
    pub files: Vec<File>,
    pub blocks: HashMap<(u8, [i32; 3]), Held>,
    /// The only position that has a content; `None` when several have it.
    owners: HashMap<u128, Option<(u8, [i32; 3])>>,
    /// The bytes of its meta file.
    pub meta: Option<PathBuf>,
    pub format: Option<Format>,
}

impl Store {
    /// Reads the forest of a backup that stands for one of the save: the only one, or that of the same path.
    pub fn read(save: &Save, forest: &Forest, backup: &Save, options: &Options<'_>) -> Result<Option<Self>, Error> {
        let below = |save: &Save, forest: &Forest| forest.dir.strip_prefix(&save.path).map(Path::to_path_buf).ok();
        let same = |other: &&Forest| below(backup, other) == below(save, forest);
        let other = match &backup.forests[..] {
            [one] if save.forests.len() == 1 => Some(one),
            all => all.iter().find(same),
        };
        let Some(other) = other else { return Ok(None) };
        let mut walks = Vec::new();
        for file in &other.regions {
            options.go_on()?;
            walks.extend(open(backup, other, file, None, false)?);
        }
        // Faces only where something has to be told.
        if walks.iter().any(|walk| !walk.case.is_intact()) {
            walks.clear();
            for file in &other.regions {
                options.go_on()?;
                walks.extend(open(backup, other, file, None, true)?);
            }
        }
        walks.sort_by_key(|walk| (walk.file.lod, walk.file.position));
        let all: Vec<&Walk<'_>> = walks.iter().collect();
        let mut store = Self { format: other.format, ..Self::default() };
        store.meta = other.meta.as_ref().map(|_| other.dir.join(super::meta::NAME));
        for (walk, solved) in walks.iter().zip(solve(&all)) {
            store.add(walk, &solved);
        }
        Ok(Some(store))
    }

    fn add(&mut self, walk: &Walk<'_>, solved: &Solved) {
        let case = &walk.case;
        let path: Arc<Path> = walk.path().into();
        let mut positions = Vec::new();
        for placed in sure(walk, solved, Certainty::Certain) {
            let block = &case.walk.blocks[placed.block];
            let place = (walk.file.lod, placed.position);
            let virtual_pieces = walk::pieces(&walk.region.header, block);
            let pieces = virtual_pieces.into_iter().flat_map(|p| walk.region.source.real(p)).collect();
            let held = Held { file: self.files.len(), sector: block.first, pieces };
            self.owners.entry(block.content).and_modify(|owner| *owner = None).or_insert(Some(place));
            self.blocks.insert(place, held);
            positions.push(placed.position);
        }
        positions.sort_unstable();
        self.files.push(File {
            path,
            name: walk.file.name.to_path_buf(),
            lod: walk.file.lod,
            position: walk.file.position,
            header: walk.region.header.clone(),
            healthy: (case.is_intact() || stands_as_listed(walk, solved)) && walk.is_sound() && !walk.is_odd(),
            blocks: positions,
        });
    }

    /// The position that alone had a content.
    pub fn owner(&self, content: u128) -> Option<(u8, [i32; 3])> {
        self.owners.get(&content).copied().flatten()
    }

    /// The positions of a region that the backup has blocks of.
    pub fn positions(&self, lod: u8, region: [i32; 3], size: [u16; 3]) -> Vec<[i32; 3]> {
        let inside = |at: &[i32; 3]| (0..3).all(|a| at[a].div_euclid(i32::from(size[a].max(1))) == region[a]);
        let near =
            |file: &&File| file.lod == lod && (file.header.format.region_size != size || file.position == region);
        let all = self.files.iter().filter(near).flat_map(|file| &file.blocks);
        let mut found: Vec<[i32; 3]> = all.copied().filter(inside).collect();
        found.sort_unstable();
        found
    }
}
