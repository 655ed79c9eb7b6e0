//! Writing region files.

use super::{Entry, Header, Unfit, sectors_for};
use crate::bytes::{index, len64};

/// Builds a region file as the engine does when it saves block after block into a new one: packed sectors, the last
/// sector padded with zeros.
#[derive(Clone, Debug)]
pub struct Builder {
    header: Header,
    table: Vec<Entry>,
    sectors: Vec<u8>,
}

impl Builder {
    /// An empty region.
    #[must_use]
    pub fn new(header: Header) -> Self {
        let slots = index(u64::from(header.format.table_len()));
        Self { header, table: vec![Entry::default(); slots], sectors: Vec::new() }
    }

    /// Appends a block's container and enters it at `slot`. `None`, and nothing is changed, when the slot does not
    /// exist or the block takes more than 255 sectors.
    pub fn push(&mut self, slot: u32, container: &[u8]) -> Option<Entry> {
        let sector = self.header.format.sector_size;
        let count = u8::try_from(sectors_for(len64(container), sector)).ok()?;
        let first = u32::try_from(len64(&self.sectors).checked_div(u64::from(sector))?).ok()?;
        let entry = Entry::new(first, count);
        *self.table.get_mut(index(u64::from(slot)))? = entry;
        let size = u32::try_from(container.len()).ok()?;
        self.sectors.extend_from_slice(&size.to_le_bytes());
        self.sectors.extend_from_slice(container);
        let end = u64::from(entry.end()).saturating_mul(u64::from(sector));
        self.sectors.resize(index(end), 0);
        Some(entry)
    }

    /// The whole file.
    ///
    /// # Errors
    /// [`Unfit`] when the header cannot store the layout.
    pub fn finish(&self) -> Result<Vec<u8>, Unfit> {
        let mut out = Vec::new();
        self.header.encode(&mut out)?;
        for entry in &self.table {
            out.extend_from_slice(&entry.0.to_le_bytes());
        }
        out.extend_from_slice(&self.sectors);
        Ok(out)
    }
}
