//! Applies a backup to a region: positions of unowned blocks, and older states of lost ones.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::bytes::index;
use crate::draft;
use crate::godot::region::Header;
use crate::recover::decide::Certainty;
use crate::recover::walk;
use crate::repair::backup::Held;
use crate::repair::decision::{Decision, Origin};
use crate::repair::mend::Job;
use crate::repair::place::Placing;

impl Placing<'_, '_> {
    /// Blocks in use whose content the backup has at exactly one position. No older copy precedes the
    /// last block in use, since the engine leaves no gaps.
    pub fn matched(&mut self) {
        let Some(store) = self.store else { return };
        let case = self.case();
        let (lod, size) = (self.walk.file.lod, self.format.region_size);
        let known = store.positions(lod, self.walk.file.position, size).len();
        // One block may have been taken out and not yet written.
        let least = case.entries.len().max(known).saturating_sub(1);
        let mut copies: HashMap<u128, usize> = HashMap::new();
        case.walk.blocks.iter().for_each(|b| *copies.entry(b.content).or_default() += 1);
        let (mut before, mut end) = (0usize, 0u32);
        let mut pins = Vec::new();
        for (b, block) in case.walk.blocks.iter().enumerate() {
            // At most as many torn blocks as a hole can contain.
            before += index(u64::from(block.first.saturating_sub(end)));
            end = block.end();
            if before >= least {
                break;
            }
            before += 1;
            let alone = copies.get(&block.content) == Some(&1) && block.splice.is_none();
            if let Some((_, position)) = store.owner(block.content).filter(|(l, _)| alone && *l == lod) {
                pins.push((b, position));
            }
        }
        let listed: HashMap<[i32; 3], u32> = case.entries.iter().map(|e| (e.position, e.first)).collect();
        let content: HashMap<u32, u128> = case.walk.blocks.iter().map(|b| (b.first, b.content)).collect();
        // Decisions by position and by sector; overruled ones are removed at the end.
        let mut at_position: HashMap<[i32; 3], usize> = HashMap::new();
        let mut at_sector: HashMap<u32, usize> = HashMap::new();
        for (i, d) in self.blocks.iter().enumerate() {
            at_position.insert(d.position, i);
            at_sector.insert(d.sector, i);
        }
        let mut out: HashSet<usize> = HashSet::new();
        for (b, position) in pins {
            let sector = self.case().walk.blocks[b].first;
            let certain = |d: &Decision| d.certainty == Certainty::Certain && d.origin == Origin::Found;
            let (here, there) = (at_position.get(&position).copied(), at_sector.get(&sector).copied());
            if let Some(at) = here
                && content.get(&self.blocks[at].sector) == content.get(&sector)
            {
                let here = &mut self.blocks[at];
                here.origin = if here.certainty == Certainty::Certain { here.origin } else { Origin::Matched };
                here.certainty = Certainty::Certain;
                continue;
            }
            // A position that is certain is not overruled: the block may have been saved again since the backup.
            let others = || [here, there].into_iter().flatten();
            let against = others().any(|i| certain(&self.blocks[i]));
            let Some(decision) = self.decision(position, b, Certainty::Certain, 1.0).filter(|_| !against) else {
                continue;
            };
            out.extend(others());
            let first = listed.get(&position).copied();
            let listed_at = first.filter(|first| *first != sector);
            self.blocks.push(Decision { listed_at, origin: Origin::Matched, ..decision });
        }
        let mut index = 0..;
        self.blocks.retain(|_| index.next().is_none_or(|i| !out.contains(&i)));
        self.filled = self.blocks.iter().map(|d| d.position).collect();
    }

    /// Positions without a block get that of the backup: the engine never removes a block.
    pub fn older_states(&mut self) -> Result<(), draft::Error> {
        let Some(store) = self.store else { return Ok(()) };
        let lod = self.walk.file.lod;
        let mut files: HashMap<usize, Arc<(PathBuf, Header)>> = HashMap::new();
        for position in store.positions(lod, self.walk.file.position, self.format.region_size) {
            let (Some(held), Some(slot)) = (store.blocks.get(&(lod, position)), self.slot(position)) else { continue };
            if self.filled.contains(&position) {
                continue;
            }
            let Held { file, sector, pieces, .. } = held;
            let Some(file_of) = store.files.get(*file) else { continue };
            let source = draft::open(&file_of.path)?;
            let mut stored = Vec::new();
            walk::read_pieces(&source, pieces, &mut stored).map_err(draft::Error::read(&file_of.path))?;
            let job =
                Job { stored: &stored, from: &file_of.header, to: &self.format, limits: &self.save.options.limits };
            let mend = if job.is_healthy() { Some(None) } else { job.set_right().map(Some) };
            let Some(mend) = mend else { continue };
            let shared =
                files.entry(*file).or_insert_with(|| Arc::new((file_of.path.to_path_buf(), file_of.header.clone())));
            self.filled.insert(position);
            self.blocks.push(Decision {
                slot,
                position,
                pieces: pieces.clone(),
                sector: *sector,
                listed_at: None,
                certainty: Certainty::Likely,
                probability: 1.0,
                moved: false,
                origin: Origin::Backup,
                backup: Some(Arc::clone(shared)),
                mend,
                short_entry: false,
            });
        }
        Ok(())
    }
}
