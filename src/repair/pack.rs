//! A region file built anew: its header, a table without gaps, and the blocks one after the other.

use std::io::{self, Write};

use crate::bytes::{Span, index};
use crate::godot::region::{Entry, Header, sectors_for};
use crate::repair::plan::Decision;
use crate::source::Source;

/// Writes a region of the blocks of a source. The last sector of each is padded with zeros.
pub(super) fn pack<S: Source>(
    source: &S,
    header: &Header,
    blocks: &[Decision],
    out: &mut impl Write,
) -> io::Result<()> {
    let sector = header.format.sector_size;
    let mut table = vec![Entry::default(); index(u64::from(header.format.slots()))];
    let mut first = 0u32;
    for block in blocks {
        let len: u64 = block.pieces.iter().map(Span::len).sum();
        let count = u8::try_from(sectors_for(len.saturating_sub(4), sector)).map_err(io::Error::other)?;
        if let Some(entry) = table.get_mut(index(u64::from(block.slot))) {
            *entry = Entry::new(first, count);
        }
        first = first.saturating_add(u32::from(count));
    }
    let mut bytes = Vec::new();
    header.encode(&mut bytes);
    for entry in &table {
        bytes.extend_from_slice(&entry.0.to_le_bytes());
    }
    out.write_all(&bytes)?;
    for block in blocks {
        read(source, &block.pieces, &mut bytes)?;
        let padded = sectors_for((bytes.len() as u64).saturating_sub(4), sector) * u64::from(sector);
        bytes.resize(index(padded), 0);
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// Reads pieces of a source one after the other.
pub(super) fn read<S: Source>(source: &S, pieces: &[Span], bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    let mut part = Vec::new();
    for piece in pieces {
        source.read_into(piece.start, index(piece.len()), &mut part)?;
        if part.len() as u64 != piece.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&part);
    }
    Ok(())
}
