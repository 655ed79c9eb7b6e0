//! Writes a rebuilt region file: its header, a table without gaps, and the blocks in order.

use std::collections::HashMap;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;

use crate::bytes::index;
use crate::godot::region::{Entry, Header, sectors_for};
use crate::limits::Limits;
use crate::recover::walk;
use crate::repair::decision::{Decision, RegionPlan};
use crate::repair::mend::Job;
use crate::save::open_region;
use crate::source::FileSource;

/// The source of a region's blocks.
pub(super) struct Blocks<'b> {
    plan: &'b RegionPlan,
    source: &'b FileSource,
    limits: &'b Limits,
    others: HashMap<PathBuf, FileSource>,
}

/// Why a block cannot be written.
pub(super) enum Failed {
    /// Reading it.
    Read(PathBuf, io::Error),
    /// Writing it.
    Write(io::Error),
}

impl<'b> Blocks<'b> {
    pub fn new(plan: &'b RegionPlan, source: &'b FileSource, limits: &'b Limits) -> Self {
        Self { plan, source, limits, others: HashMap::new() }
    }

    /// The size prefix and the container of a block as written.
    fn stored(&mut self, block: &Decision, from: &Header, to: &Header) -> Result<Vec<u8>, Failed> {
        let mut bytes = Vec::new();
        let (path, source, header) = match block.backup.as_deref() {
            None => (&self.plan.path, self.source, from),
            Some((path, header)) => {
                if !self.others.contains_key(path) {
                    let opened = open_region(path);
                    let (opened, _) = opened.map_err(|error| Failed::Read(path.clone(), io::Error::other(error)))?;
                    self.others.insert(path.clone(), opened);
                }
                let gone = || Failed::Read(path.clone(), io::ErrorKind::NotFound.into());
                (path, self.others.get(path).ok_or_else(gone)?, header)
            }
        };
        let failed = |error| Failed::Read(path.clone(), error);
        walk::read_pieces(source, &block.pieces, &mut bytes).map_err(failed)?;
        let Some(mend) = &block.mend else { return Ok(bytes) };
        let job = Job { stored: &bytes, from: header, to: &to.format, limits: self.limits };
        // The plan tested this: another result means that the source changed.
        job.apply(mend).ok_or_else(|| failed(io::Error::other("the file changed while it was read")))
    }
}

/// Writes a region of blocks. The last sector of each is padded with zeros.
pub(super) fn pack(
    blocks: &mut Blocks<'_>,
    from: &Header,
    to: &Header,
    out: &mut (impl Write + Seek),
) -> Result<(), Failed> {
    let sector = to.format.sector_size;
    let mut table = vec![Entry::default(); index(u64::from(to.format.table_len()))];
    let mut bytes = Vec::new();
    to.encode(&mut bytes).map_err(|error| Failed::Write(error.into()))?;
    bytes.resize(index(to.sectors_at()), 0);
    out.write_all(&bytes).map_err(Failed::Write)?;
    let mut first = 0u32;
    let plan = blocks.plan;
    for block in &plan.blocks {
        let mut bytes = blocks.stored(block, from, to)?;
        let sectors = sectors_for((bytes.len() as u64).saturating_sub(4), sector);
        let count = u8::try_from(sectors).map_err(|e| Failed::Write(io::Error::other(e)))?;
        if first >= 1 << 24 {
            return Err(Failed::Write(io::Error::other("the region has more sectors than a table can count")));
        }
        if let Some(entry) = table.get_mut(index(u64::from(block.slot))) {
            *entry = Entry::new(first, count);
        }
        first = first.saturating_add(u32::from(count));
        bytes.resize(index(sectors * u64::from(sector)), 0);
        out.write_all(&bytes).map_err(Failed::Write)?;
    }
    let table: Vec<u8> = table.iter().flat_map(|entry| entry.0.to_le_bytes()).collect();
    out.seek(SeekFrom::Start(to.table.start)).and_then(|_| out.write_all(&table)).map_err(Failed::Write)
}
