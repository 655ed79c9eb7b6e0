//! A file with bytes left out: what the engine had doubled when it was killed while it made room for a longer header.

use std::io;

use crate::bytes::{Span, index};
use crate::godot::region::{HEADER_BYTES, Header};
use crate::source::{FileSource, Source};

/// Bytes by which everything behind the header moves when a region becomes one of version 3.
pub(super) const ROOM: u64 = HEADER_BYTES - 5;

/// A file, in one or two parts.
#[derive(Debug)]
pub(super) struct Parts {
    file: FileSource,
    gap: Span,
}

impl Parts {
    pub fn whole(file: FileSource) -> Self {
        let end = file.len();
        Self { file, gap: Span::new(end, end) }
    }

    /// The same file without the bytes of `gap`, which must lie inside of it.
    pub fn without(self, gap: Span) -> Self {
        Self { gap, ..self }
    }

    pub const fn file(&self) -> &FileSource {
        &self.file
    }

    /// Where bytes stand in the file.
    pub fn real(&self, span: Span) -> impl Iterator<Item = Span> {
        let head = Span::new(span.start, span.end.min(self.gap.start));
        let by = self.gap.len();
        let tail = Span::new(span.start.max(self.gap.start) + by, span.end + by);
        [head, tail].into_iter().filter(|part| part.start < part.end)
    }
}

impl Source for Parts {
    fn len(&self) -> u64 {
        self.file.len().saturating_sub(self.gap.len())
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        for part in self.real(Span::sized(offset, buf.len() as u64)) {
            let end = done + index(part.len());
            let n = self.file.read_at(part.start, &mut buf[done..end])?;
            done += n;
            if done < end {
                break;
            }
        }
        Ok(done)
    }

    fn next_data(&self, offset: u64) -> u64 {
        if offset >= self.gap.start || self.gap.is_empty() {
            offset
        } else {
            self.file.next_data(offset).min(self.gap.start)
        }
    }
}

/// Places in `window` where the file may go on by [`ROOM`] bytes further: what stands there stands behind that a second
/// time. Where several in a row leave the same bytes, only the first is given.
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

/// Whether a region of this header may have been on its way to version 3.
pub(super) fn may_be_moving(header: &Header) -> bool {
    header.version < 3
}
