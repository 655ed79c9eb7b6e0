//! Whether a whole block begins at a byte of a region file, on a sector or not. The block is decoded.

use std::io;

use crate::bytes::index;
use crate::godot::region::{Header, sectors_for};
use crate::limits::Limits;
use crate::save::Scratch;
use crate::save::table_fits::Place;
use crate::source::Source;

/// Reads single blocks of a file by where they begin and how many sectors they have.
pub(super) struct SingleBlock<'b, S> {
    source: &'b S,
    header: &'b Header,
    scratch: Scratch,
    bytes: Vec<u8>,
}

impl<'b, S: Source> SingleBlock<'b, S> {
    pub fn new(source: &'b S, header: &'b Header) -> Self {
        Self { source, header, scratch: Scratch::default(), bytes: Vec::new() }
    }

    /// Whether the size prefix at a byte asks for so many sectors.
    pub fn prefix_fits(&mut self, (at, count): Place) -> io::Result<bool> {
        self.source.read_into(at, 4, &mut self.bytes)?;
        let size = self.bytes.first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        Ok(size > 0 && sectors_for(size.into(), self.header.format.sector_size) == u64::from(count))
    }

    /// Whether a whole block of so many sectors begins at a byte.
    pub fn is_whole(&mut self, place: Place) -> io::Result<bool> {
        if !self.prefix_fits(place)? {
            return Ok(false);
        }
        let (at, count) = place;
        let len = self.header.sector_span(0, count.into()).len();
        self.source.read_into(at, index(len), &mut self.bytes)?;
        let bytes = std::mem::take(&mut self.bytes);
        let whole = self.decodes(&bytes);
        self.bytes = bytes;
        Ok(whole)
    }

    /// Whether the bytes of its sectors are a whole block without damage.
    pub fn decodes(&mut self, bytes: &[u8]) -> bool {
        let view = self.scratch.interpret_bytes(bytes, 0, self.header, None, &Limits::DEFAULT);
        view.container.is_some_and(|container| container.whole)
            && view.block.as_ref().is_some_and(|block| block.epilogue.is_some() && block.whole_channels() == 8)
            && view.damage.is_empty()
    }
}
