//! A backup of the same save: the positions of its contents, and older states of lost blocks.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bytes::Span;
use crate::godot::region::{Format, Header};
use crate::recover::decide::Certainty;
use crate::recover::walk;
use crate::repair::survey::{Listed, Sides, Solved, Standing, Walk, open, solve_all, sure};
use crate::repair::{Error, Options};
use crate::save::{Forest, Kind, META, Save};

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
    /// Its blocks whose positions are certain.
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

/// The only position with a content, by the hash of the content; `None` if several positions have it.
pub(super) type Owners = HashMap<u128, Option<(u8, [i32; 3])>>;

/// The content of a forest of the backup.
#[derive(Debug, Default)]
pub(super) struct Store {
    pub files: Vec<File>,
    pub blocks: HashMap<(u8, [i32; 3]), Held>,
    /// The position of each content.
    pub owners: Owners,
    /// The bytes of its meta file.
    pub meta: Option<PathBuf>,
    pub format: Option<Format>,
}

/// The forest of a backup that corresponds to one of the save and stores blocks in the same way: the only one, or the one with
/// the same path.
pub(super) fn corresponding<'b>(save: &Save, forest: &Forest, backup: &'b Save) -> Option<&'b Forest> {
    let below = |save: &Save, forest: &Forest| forest.dir.strip_prefix(&save.path).map(Path::to_path_buf).ok();
    let same = |other: &&Forest| below(backup, other) == below(save, forest);
    let is_alike = |other: &&Forest| (other.kind == Kind::BlockFiles) == (forest.kind == Kind::BlockFiles);
    match &backup.forests[..] {
        [one] if save.forests.len() == 1 => Some(one),
        all => all.iter().find(same),
    }
    .filter(is_alike)
}

impl Store {
    /// Reads the forest of a backup that corresponds to one of the save.
    pub fn read(save: &Save, forest: &Forest, backup: &Save, options: &Options<'_>) -> Result<Option<Self>, Error> {
        let Some(other) = corresponding(save, forest, backup) else { return Ok(None) };
        let empty = || Self {
            format: other.format,
            meta: other.meta.as_ref().map(|_| other.dir.join(META)),
            ..Self::default()
        };
        let as_listed = Solved { as_listed: true, ..Solved::default() };
        let files: Vec<Listed<'_>> = other.regions.iter().map(|file| (other, file, None)).collect();
        let (mut store, mut looks) = (empty(), Vec::with_capacity(files.len()));
        for (_, file, _) in &files {
            options.go_on()?;
            let walk = open(backup, other, file, None, None, Sides::None)?;
            looks.push(walk.as_ref().map_or(Standing::Nothing, |walk| walk.look(None)));
            walk.iter().for_each(|walk| store.add(walk, &as_listed));
        }
        // Most backups are healthy, and read once.
        if looks.iter().all(|look| matches!(look, Standing::Nothing | Standing::Healthy)) {
            return Ok(Some(store));
        }
        let (mut store, mut solved) = (empty(), HashSet::new());
        solve_all(backup, &files, &looks, options, |_, walk, of| {
            solved.insert(walk.path());
            store.add(walk, of);
            Ok(())
        })?;
        for (_, file, _) in files {
            options.go_on()?;
            if solved.contains(&other.dir.join(&file.name)) {
                continue;
            }
            if let Some(walk) = open(backup, other, file, None, None, Sides::None)? {
                store.add(&walk, &as_listed);
            }
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
            healthy: solved.as_listed && walk.is_sound() && !walk.is_odd(),
            blocks: positions,
        });
    }

    /// The only position with a content.
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
