//! A file with bytes left out or zeros put in, so that its sectors are where its table has them: what was inserted into
//! it or cut out of it, and what the engine doubled when it was killed while it made room for a longer header.

use std::io;

use crate::bytes::{Span, index};
use crate::godot::region::{HEADER_BYTES, Header};
use crate::source::{FileSource, Source};

/// Bytes by which everything after the header moves when a region is migrated to version 3.
pub(super) const ROOM: u64 = HEADER_BYTES - 5;

/// A run of bytes of a file, or of zeros.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Where it begins in the file as it is read.
    at: u64,
    len: u64,
    /// Where it is in the file as it is stored; `None` for zeros.
    from: Option<u64>,
}

/// A file, in pieces.
#[derive(Debug)]
pub(super) struct Parts {
    file: FileSource,
    pieces: Vec<Piece>,
}

impl Parts {
    pub fn whole(file: FileSource) -> Self {
        let pieces = vec![Piece { at: 0, len: file.len(), from: Some(0) }];
        Self { file, pieces }
    }

    /// The same file without the bytes of `gap`, as they are counted now.
    pub fn without(mut self, gap: Span) -> Self {
        let (head, rest) = self.split(gap.start);
        self.pieces = rest;
        let (_, mut tail) = self.split(gap.end);
        tail.iter_mut().for_each(|piece| piece.at = piece.at.saturating_sub(gap.len()));
        self.pieces = head.into_iter().chain(tail).collect();
        self
    }

    /// The same file with `len` zeros put in.
    pub fn with_zeros(mut self, at: u64, len: u64) -> Self {
        let (mut head, mut tail) = self.split(at);
        tail.iter_mut().for_each(|piece| piece.at = piece.at.saturating_add(len));
        head.push(Piece { at, len, from: None });
        head.append(&mut tail);
        self.pieces = head;
        self
    }

    /// Moves what begins at `at` by so many bytes: towards the end by zeros, towards the start over what is before it.
    pub fn shifted(self, at: u64, by: i64) -> Self {
        match by {
            0 => self,
            1.. => self.with_zeros(at, by.unsigned_abs()),
            _ => self.without(Span::new(at.saturating_sub(by.unsigned_abs()), at)),
        }
    }

    fn split(&self, at: u64) -> (Vec<Piece>, Vec<Piece>) {
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        for piece in &self.pieces {
            let cut = at.clamp(piece.at, piece.at.saturating_add(piece.len)) - piece.at;
            if cut > 0 {
                head.push(Piece { len: cut, ..*piece });
            }
            if cut < piece.len {
                let from = piece.from.map(|from| from.saturating_add(cut));
                tail.push(Piece { at: piece.at.saturating_add(cut), len: piece.len - cut, from });
            }
        }
        (head, tail)
    }

    pub const fn file(&self) -> &FileSource {
        &self.file
    }

    /// Whether it is the file as it is stored.
    pub fn is_plain(&self) -> bool {
        self.pieces.len() <= 1
    }

    /// Where bytes are in the file as it is stored; zeros that were put in are nowhere.
    pub fn real(&self, span: Span) -> impl Iterator<Item = Span> {
        self.pieces.iter().filter_map(move |piece| {
            let start = span.start.max(piece.at);
            let end = span.end.min(piece.at.saturating_add(piece.len));
            let from = piece.from?;
            (start < end).then(|| Span::new(from + (start - piece.at), from + (end - piece.at)))
        })
    }
}

impl Source for Parts {
    fn len(&self) -> u64 {
        self.pieces.last().map_or(0, |piece| piece.at.saturating_add(piece.len))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        for piece in &self.pieces {
            let at = offset.saturating_add(done as u64);
            let end = piece.at.saturating_add(piece.len);
            if at < piece.at || at >= end {
                continue;
            }
            let len = index(end - at).min(buf.len() - done);
            let part = &mut buf[done..done + len];
            let n = match piece.from {
                Some(from) => self.file.read_at(from + (at - piece.at), part)?,
                None => {
                    part.fill(0);
                    len
                }
            };
            done += n;
            if n < len || done == buf.len() {
                break;
            }
        }
        Ok(done)
    }

    fn stored_offset(&self, offset: u64) -> Option<u64> {
        let piece =
            self.pieces.iter().find(|piece| (piece.at..piece.at.saturating_add(piece.len)).contains(&offset))?;
        self.file.stored_offset(piece.from?.saturating_add(offset - piece.at))
    }

    fn next_data(&self, offset: u64) -> u64 {
        if self.is_plain() { self.file.next_data(offset) } else { offset }
    }
}

/// Places in `window` where the file may go on by [`ROOM`] bytes further: the bytes of each are there a second time
/// behind it. Where several in a row leave the same bytes, only the first is given.
pub(super) fn doubled(file: &FileSource, window: Span, most: usize) -> io::Result<Vec<Span>> {
    let mut bytes = Vec::new();
    file.read_into(window.start, index(window.len().saturating_add(2 * ROOM)), &mut bytes)?;
    let room = index(ROOM);
    let mut found = Vec::new();
    let mut last = false;
    for (at, two) in (window.start..).zip(bytes.windows(2 * room)) {
        let is = two[..room] == two[room..];
        if is && !last && found.len() < most {
            found.push(Span::sized(at, ROOM));
        }
        last = is;
    }
    Ok(found)
}

/// Whether a region with this header may have been in migration to version 3.
pub(super) fn may_be_moving(header: &Header) -> bool {
    header.version < 3
}
