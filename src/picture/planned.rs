//! A forest as a repair would write it: blocks where the plan puts them, and one more where somebody tries it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::source::{Part, Source};
use crate::bytes::{Span, index};
use crate::godot::block::Block;
use crate::godot::region::Header;
use crate::repair::{Action, Plan};
use crate::save::{self, Save, open_region};
use crate::source::{FileSource, Source as Bytes};
use crate::world::{At, Index};

/// Set in the number of a file whose blocks are where the plan puts them.
const PLANNED: u32 = 1 << 31;

/// The entry of the block that is tried.
const TRIED: u32 = u32::MAX;

/// A block that is tried at a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The number of its region in the plan.
    pub region: usize,
    /// Its bytes.
    pub pieces: Vec<Span>,
    /// Where it is tried.
    pub position: [i32; 3],
}

/// What a repair would write.
#[derive(Debug)]
pub struct Planned {
    plan: Arc<Plan>,
    trial: Option<Trial>,
}

/// Buffers for reading planned blocks.
#[derive(Default)]
pub struct Scratch {
    file: Option<(PathBuf, FileSource)>,
    stored: Vec<u8>,
    part: Vec<u8>,
    view: save::Scratch,
}

impl Source {
    /// The tables of a forest as a repair would write it.
    ///
    /// # Errors
    /// A sentence, when nothing of it can be read, or it is no forest.
    pub fn planned(save: &Arc<Save>, part: Part, plan: &Arc<Plan>, trial: Option<Trial>) -> Result<Self, String> {
        let Part::Forest(number) = part else {
            return Err(
                "the picture of a repair shows forests only; the plan of the repair lists what changes here".to_owned()
            );
        };
        let mut source = Self::open(save, part)?;
        let forest = save.forests.get(number).ok_or("this part of the save is gone")?;
        let rebuilt: HashSet<&Path> =
            plan.regions.iter().filter(|r| r.action != Action::Copy).map(|r| r.path.as_path()).collect();
        let rewritten: HashSet<u32> = (0u32..)
            .zip(&forest.regions)
            .filter(|(_, file)| rebuilt.contains(forest.dir.join(&file.name).as_path()))
            .map(|(number, _)| number)
            .collect();
        let mut tables: Vec<(u8, Vec<At>)> = source
            .tables
            .iter()
            .map(|table| {
                let kept = table.blocks.iter().filter(|at| !rewritten.contains(&at.file_number()));
                (table.lod, kept.copied().collect())
            })
            .collect();
        for (region, number) in plan.regions.iter().zip(0u32..) {
            if region.action == Action::Copy || !region.path.starts_with(&forest.dir) {
                continue;
            }
            let blocks = region.blocks.iter().zip(0u32..);
            let blocks = blocks.map(|(block, entry)| At::new(block.position, PLANNED | number, entry));
            let tried = trial.as_ref().filter(|trial| trial.region == index(number.into()));
            // The tried block comes first: it is seen instead of another one there.
            let all = tried.map(|trial| At::new(trial.position, PLANNED | number, TRIED)).into_iter().chain(blocks);
            match tables.iter_mut().find(|(lod, _)| *lod == region.lod) {
                Some((_, table)) => table.splice(0..0, all).for_each(drop),
                None => tables.push((region.lod, all.collect())),
            }
        }
        tables.sort_by_key(|(lod, _)| *lod);
        source.tables = tables.into_iter().map(|(lod, blocks)| Index::of_blocks(lod, blocks)).collect();
        source.planned = Some(Planned { plan: Arc::clone(plan), trial });
        source.drop_far();
        Ok(source)
    }
}

impl Planned {
    /// Whether a block is where a plan puts it.
    #[must_use]
    pub const fn has(at: &At) -> bool {
        at.file_number() & PLANNED != 0
    }

    /// The file, the bytes in it and the header of a block.
    fn locate(&self, at: &At) -> Option<(&Path, &[Span], &Header)> {
        let region = self.plan.regions.get(index((at.file_number() & !PLANNED).into()))?;
        let header = region.source.as_ref().or(region.header.as_ref());
        if at.row() == index(TRIED.into()) {
            return Some((&region.path, &self.trial.as_ref()?.pieces, header?));
        }
        let block = region.blocks.get(at.row())?;
        match &block.backup {
            Some(backup) => Some((&backup.0, &block.pieces, &backup.1)),
            None => Some((&region.path, &block.pieces, header?)),
        }
    }

    /// Stored bytes of a block.
    #[must_use]
    pub fn stored(&self, at: &At) -> u64 {
        self.locate(at).map_or(0, |(_, pieces, _)| pieces.iter().map(Span::len).sum())
    }

    /// Reads a block and does something with it; `None` when nothing of it can be read.
    pub fn block<T>(
        &self,
        save: &Save,
        at: &At,
        scratch: &mut Scratch,
        then: impl FnOnce(&Block<'_>) -> Option<T>,
    ) -> Option<T> {
        let (path, pieces, header) = self.locate(at)?;
        if scratch.file.as_ref().is_none_or(|(open, _)| open != path) {
            scratch.file = Some((path.to_owned(), open_region(path).ok()?.0));
        }
        let (_, file) = scratch.file.as_ref()?;
        scratch.stored.clear();
        for piece in pieces {
            file.read_into(piece.start, index(piece.len()), &mut scratch.part).ok()?;
            scratch.stored.extend_from_slice(&scratch.part);
        }
        let view = scratch.view.interpret_bytes(&scratch.stored, 0, header, None, &save.options.limits);
        then(view.block.as_ref()?)
    }
}
