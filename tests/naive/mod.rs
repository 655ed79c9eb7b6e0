//! Second readers of the formats, written once more from their description and as plainly as that goes: no limits, no
//! salvage, no speed. Where one of them and the library disagree, one of both is wrong.
//!
//! Nothing here uses the library. The oracles of fuzzing and the tests hold both against each other.

#![allow(dead_code, missing_docs)]

pub mod block;
pub mod block_files;
pub mod lz4;
pub mod region;
pub mod variant;

/// Bytes that are read from the front; `None` when there are too few.
pub struct Bytes<'a> {
    pub all: &'a [u8],
    pub at: usize,
}

impl<'a> Bytes<'a> {
    pub fn new(all: &'a [u8]) -> Self {
        Self { all, at: 0 }
    }

    pub fn left(&self) -> usize {
        self.all.len() - self.at
    }

    pub fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(n).filter(|&end| end <= self.all.len())?;
        let bytes = &self.all[self.at..end];
        self.at = end;
        Some(bytes)
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.take(2).map(|b| u16::from_le_bytes([b[0], b[1]]))
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.take(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }
}
