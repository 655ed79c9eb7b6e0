//! Simulates a game that saves into a region file: the table stays in memory until it is flushed, sectors are
//! packed, and the file is never truncated.

use crate::godot::region::{Entry, Header, sectors_for};
use crate::save::Region;

/// An open region file.
pub(super) struct Game {
    /// The file on disk.
    pub bytes: Vec<u8>,
    header: Header,
    table: Vec<Entry>,
}

impl Game {
    pub fn open(region: Region<Vec<u8>>) -> Self {
        let slots = region.header.format.table_len() as usize;
        let mut table = vec![Entry::default(); slots];
        for listed in &region.entries {
            table[listed.slot as usize] = listed.entry;
        }
        Self { bytes: region.source, header: region.header, table }
    }

    /// Saves a block: in place if it needs no more sectors than before, otherwise at the end. The table on disk
    /// does not change.
    pub fn save(&mut self, slot: u32, container: &[u8]) {
        let old = self.table[slot as usize];
        let count = sectors_for(container.len() as u64, self.header.format.sector_size) as u8;
        let mut first = old.first();
        if old.is_used() && count <= old.count() {
            self.release(old.first() + u32::from(count), old.count() - count, u32::MAX);
        } else {
            self.release(old.first(), old.count(), u32::MAX);
            first = self.used();
        }
        let appended = first == self.used();
        let start = self.offset(first);
        let mut stored = (container.len() as u32).to_le_bytes().to_vec();
        stored.extend_from_slice(container);
        if appended {
            // The engine pads appended blocks; a block rewritten in place keeps old bytes in its last sector.
            stored.resize(usize::from(count) * self.header.format.sector_size as usize, 0);
        }
        let end = start + stored.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[start..end].copy_from_slice(&stored);
        self.table[slot as usize] = Entry::new(first, count);
    }

    /// The first steps of saving a block that grew: its sectors are freed, which moves later ones down, but the
    /// game is killed after `steps` sectors have moved.
    pub fn killed_while_moving(&mut self, slot: u32, steps: u32) {
        let old = self.table[slot as usize];
        self.release(old.first(), old.count(), steps);
    }

    /// Writes the table.
    pub fn flush(&mut self) {
        let at = self.header.table.start as usize;
        for (to, entry) in self.bytes[at..].chunks_exact_mut(4).zip(&self.table) {
            to.copy_from_slice(&entry.0.to_le_bytes());
        }
    }

    /// Entries in use, by slot.
    pub fn entry(&self, slot: u32) -> Entry {
        self.table[slot as usize]
    }

    /// Sectors in use: where the next block is appended.
    fn used(&self) -> u32 {
        self.table.iter().map(|entry| u32::from(entry.count())).sum()
    }

    fn offset(&self, sector: u32) -> usize {
        self.header.sector_span(u64::from(sector), 1).start as usize
    }

    /// Frees sectors: every later one moves down, one at a time.
    fn release(&mut self, first: u32, count: u8, steps: u32) {
        let (gone, used) = (u32::from(count), self.used());
        if gone == 0 {
            return;
        }
        let size = self.header.format.sector_size as usize;
        for sector in (first + gone..used).take(steps as usize) {
            let from = self.offset(sector);
            let to = self.offset(sector - gone);
            let end = (from + size).min(self.bytes.len());
            self.bytes.copy_within(from..end, to);
        }
        for entry in &mut self.table {
            if entry.first() > first {
                *entry = Entry::new(entry.first() - gone, entry.count());
            } else if entry.is_used() && entry.end() >= first + gone {
                *entry = Entry::new(entry.first(), entry.count() - count);
            }
        }
    }
}
