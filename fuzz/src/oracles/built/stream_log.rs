//! Write-ahead logs and rollback journals of SQLite, written here by the description of their formats, with checksums of their own:
//! which pages count after a frame, a commit, a salt or a checksum was damaged, is known for each damage.

use std::collections::BTreeMap;

use arbitrary::{Result, Unstructured};
use voxscope::sqlite::{journal, wal};

use super::{Dice, filled};
use crate::oracles::Reach;

/// Bytes of the header of a log, and of that of a frame.
const HEADER: usize = 32;
const FRAME: usize = 24;

/// Bytes of a sector of a journal.
const SECTOR: usize = 512;

/// A log or a journal.
#[derive(Debug)]
struct Model {
    is_journal: bool,
    page_size: usize,
    /// Whether the checksums of a log are those of big-endian numbers.
    is_big: bool,
    salt: [u32; 2],
    /// Saves of a log, segments of a journal.
    parts: Vec<Part>,
    /// Whether frames of the log before this one follow.
    has_older: bool,
}

/// Pages with what fills them, and the pages of the database after a save; of a journal before it.
#[derive(Debug)]
struct Part {
    pages: Vec<(u32, u8)>,
    size: u32,
}

/// What must be read.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Nothing,
    Unusable,
    /// Contents by page, and the pages of the database.
    Pages(BTreeMap<u32, Vec<u8>>, u32),
}

/// A frame of a log before its checksums are known.
struct Frame {
    page: u32,
    ends: u32,
    salt: [u32; 2],
    content: Vec<u8>,
}

/// A damaged file and what must be read of it.
type Case = (Vec<u8>, Outcome);

struct Kind {
    name: &'static str,
    apply: fn(&Model, &mut Dice) -> Option<Case>,
}

const KINDS: &[Kind] = &[
    Kind { name: "frame_checksum", apply: frame_checksum },
    Kind { name: "frame_content", apply: frame_content },
    Kind { name: "frame_salt", apply: frame_salt },
    Kind { name: "frame_page_zero", apply: frame_page_zero },
    Kind { name: "frame_cut", apply: frame_cut },
    Kind { name: "commit_lost", apply: commit_lost },
    Kind { name: "header_checksum", apply: header_checksum },
    Kind { name: "header_of_another_version", apply: header_version },
    Kind { name: "header_cut", apply: header_cut },
    Kind { name: "journal_checksum", apply: journal_checksum },
    Kind { name: "journal_content", apply: journal_content },
    Kind { name: "journal_page_zero", apply: journal_page_zero },
    Kind { name: "journal_count_zero", apply: journal_count_zero },
    Kind { name: "journal_cut", apply: journal_cut },
    Kind { name: "journal_of_several_databases", apply: journal_of_several },
    Kind { name: "journal_sector_size", apply: journal_sector_size },
    Kind { name: "journal_finished", apply: journal_finished },
];

/// Builds a file and reads it, damages it and reads it again.
pub fn check(data: &[u8]) -> Reach {
    let Ok((model, damage)) = made(data) else { return Reach::Refused };
    let healthy = model.bytes();
    assert_eq!(model.read(&healthy), model.outcome(model.parts.len()), "another healthy file: {model:?}");
    match damage {
        None => Reach::Healthy,
        Some((name, (bytes, expected))) => {
            assert_eq!(model.read(&bytes), expected, "{name} of {model:?}");
            Reach::Content
        }
    }
}

/// An input in words.
pub fn describe(data: &[u8]) -> String {
    match made(data) {
        Ok((model, damage)) => format!("model: {model:#?}\ndamage: {:?}\n", damage.map(|(name, _)| name)),
        Err(_) => "too short for a model\n".to_owned(),
    }
}

/// The name of the damage of an input, if any.
pub fn kind_of(data: &[u8]) -> Option<&'static str> {
    made(data).ok()?.1.map(|(name, _)| name)
}

/// The names of all kinds of damage.
pub fn names() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.name).collect()
}

fn made(data: &[u8]) -> Result<(Model, Option<(&'static str, Case)>)> {
    let mut choices = Unstructured::new(data);
    let number: u8 = choices.arbitrary()?;
    let mut dice = Dice::new(&mut choices)?;
    let model = Model::make(&mut choices)?;
    let kind = usize::from(number).checked_sub(1).map(|n| &KINDS[n % KINDS.len()]);
    let damaged = kind.and_then(|kind| Some((kind.name, (kind.apply)(&model, &mut dice)?)));
    Ok((model, damaged))
}

impl Model {
    fn make(u: &mut Unstructured<'_>) -> Result<Self> {
        let flags: u8 = u.arbitrary()?;
        let is_journal = flags & 1 != 0;
        let mut parts = Vec::new();
        for _ in 0..1 + u.arbitrary::<u8>()? % 4 {
            let count = 1 + u.arbitrary::<u8>()? % 4;
            let page = |u: &mut Unstructured<'_>| Ok((1 + u32::from(u.arbitrary::<u8>()? % 12), u.arbitrary()?));
            let pages = (0..count).map(|_| page(u)).collect::<Result<_>>()?;
            parts.push(Part { pages, size: 1 + u32::from(u.arbitrary::<u8>()? % 16) });
        }
        let page_size = if flags & 2 == 0 { 512 } else { 1024 };
        let (is_big, has_older) = (flags & 4 != 0, flags & 8 != 0);
        Ok(Self { is_journal, page_size, is_big, salt: u.arbitrary()?, parts, has_older })
    }

    fn content(&self, salt: u8) -> Vec<u8> {
        filled(salt, self.page_size)
    }

    fn frames(&self) -> Vec<Frame> {
        let of = |part: &Part| {
            let last = part.pages.len() - 1;
            let frame = |(n, (page, fill)): (usize, &(u32, u8))| {
                let ends = if n == last { part.size } else { 0 };
                Frame { page: *page, ends, salt: self.salt, content: self.content(*fill) }
            };
            part.pages.iter().enumerate().map(frame).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of).collect()
    }

    fn bytes(&self) -> Vec<u8> {
        if self.is_journal { self.journal(None) } else { self.log(&self.frames()) }
    }

    fn log(&self, frames: &[Frame]) -> Vec<u8> {
        let [a, b] = self.salt;
        let mut out = Vec::new();
        let put = |out: &mut Vec<u8>, words: &[u32]| words.iter().for_each(|word| out.extend(word.to_be_bytes()));
        put(&mut out, &[0x377f_0682 | u32::from(self.is_big), 3_007_000, self.page_size as u32, 0, a, b]);
        let mut sum = self.sum(&out, [0; 2]);
        put(&mut out, &sum);
        for frame in frames {
            let at = out.len();
            put(&mut out, &[frame.page, frame.ends]);
            sum = self.sum(&frame.content, self.sum(&out[at..], sum));
            put(&mut out, &frame.salt);
            put(&mut out, &sum);
            out.extend(&frame.content);
        }
        if self.has_older {
            put(&mut out, &[1, 1, a ^ 1, b, 0, 0]);
            out.extend(self.content(7));
        }
        out
    }

    /// The running checksum of SQLite's log over numbers of 32 bits in pairs.
    fn sum(&self, bytes: &[u8], [mut a, mut b]: [u32; 2]) -> [u32; 2] {
        for pair in bytes.chunks_exact(8) {
            let word = |from: usize| {
                let four = [pair[from], pair[from + 1], pair[from + 2], pair[from + 3]];
                if self.is_big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
            };
            a = a.wrapping_add(word(0)).wrapping_add(b);
            b = b.wrapping_add(word(4)).wrapping_add(a);
        }
        [a, b]
    }

    /// The journal; the count of the last segment may be another number.
    fn journal(&self, last_count: Option<u32>) -> Vec<u8> {
        let before = self.parts.first().map_or(1, |part| part.size);
        let mut out = Vec::new();
        for (n, part) in self.parts.iter().enumerate() {
            let count = part.pages.len() as u32;
            let count = if n + 1 == self.parts.len() { last_count.unwrap_or(count) } else { count };
            out.extend(journal::MAGIC);
            for word in [count, self.salt[0], before, SECTOR as u32, self.page_size as u32] {
                out.extend(word.to_be_bytes());
            }
            out.resize(out.len().next_multiple_of(SECTOR), 0);
            for (page, fill) in &part.pages {
                let content = self.content(*fill);
                out.extend(page.to_be_bytes());
                out.extend(&content);
                out.extend(self.journal_sum(&content).to_be_bytes());
            }
            out.resize(out.len().next_multiple_of(SECTOR), 0);
        }
        out
    }

    /// The nonce and every 200th byte, counted from the end of the page.
    fn journal_sum(&self, content: &[u8]) -> u32 {
        let bytes = content.iter().rev().skip(199).step_by(200);
        bytes.fold(self.salt[0], |sum, byte| sum.wrapping_add(u32::from(*byte)))
    }

    /// What must be read if only the first `saves` of a log count; all of a journal counts.
    fn outcome(&self, saves: usize) -> Outcome {
        self.outcome_of_pages(saves, usize::MAX)
    }

    /// The same with at most so many pages of a journal.
    fn outcome_of_pages(&self, parts: usize, most: usize) -> Outcome {
        let first = self.parts.first().map_or(1, |part| part.size);
        let counted = &self.parts[..parts];
        let pages = counted.iter().flat_map(|part| &part.pages).take(most);
        let pages = pages.filter(|(page, _)| !self.is_journal || *page <= first);
        let contents = pages.map(|(page, fill)| (*page, self.content(*fill))).collect();
        match (self.is_journal, counted.last()) {
            (true, _) => Outcome::Pages(contents, first),
            (false, Some(last)) => Outcome::Pages(contents, last.size),
            (false, None) => Outcome::Nothing,
        }
    }

    /// What the library reads.
    fn read(&self, bytes: &[u8]) -> Outcome {
        let found = if self.is_journal { journal::read(bytes) } else { wal::read(bytes) };
        let Ok(found) = found else { unreachable!("memory does not fail") };
        match found {
            journal::Found::Nothing => Outcome::Nothing,
            journal::Found::Unusable(why) => {
                assert!(!why.is_empty(), "no reason");
                Outcome::Unusable
            }
            journal::Found::Pages(overlay, size) => {
                assert_eq!(size as usize, self.page_size);
                let content = |at: u64| bytes[at as usize..at as usize + self.page_size].to_vec();
                Outcome::Pages(overlay.at.iter().map(|(page, at)| (*page, content(*at))).collect(), overlay.pages)
            }
        }
    }

    /// The number of a frame, where it begins, and how many saves end before it.
    fn a_frame(&self, dice: &mut Dice) -> Option<(usize, usize, usize)> {
        let frames = self.frames();
        let number = dice.below(frames.len());
        let before = frames[..number].iter().filter(|frame| frame.ends > 0).count();
        (!self.is_journal).then_some((number, HEADER + number * (FRAME + self.page_size), before))
    }

    /// A page of a journal: how many are before it, and where it begins.
    fn a_page(&self, dice: &mut Dice) -> Option<(usize, usize)> {
        let mut at = 0;
        let mut starts = Vec::new();
        for part in &self.parts {
            at += SECTOR;
            for _ in &part.pages {
                starts.push(at);
                at += self.page_size + 8;
            }
            at = at.next_multiple_of(SECTOR);
        }
        let number = dice.below(starts.len());
        self.is_journal.then_some((number, starts[number]))
    }

    /// What is read of a log of which a frame has a wrong checksum: a first save that was finished must not be passed over.
    fn without(&self, before: usize) -> Outcome {
        if before == 0 { Outcome::Unusable } else { self.outcome(before) }
    }
}

/// A log in which a byte of a frame was changed, one of `len` from a place of the frame on, and how many saves end before that frame.
fn changed_frame(model: &Model, dice: &mut Dice, from: usize, len: usize) -> Option<(Vec<u8>, usize)> {
    let (_, at, before) = model.a_frame(dice)?;
    let mut bytes = model.bytes();
    bytes[at + from + dice.below(len)] ^= dice.within(1, 255) as u8;
    Some((bytes, before))
}

fn frame_checksum(model: &Model, dice: &mut Dice) -> Option<Case> {
    let (bytes, before) = changed_frame(model, dice, 16, 8)?;
    Some((bytes, model.without(before)))
}

fn frame_content(model: &Model, dice: &mut Dice) -> Option<Case> {
    let (bytes, before) = changed_frame(model, dice, FRAME, model.page_size)?;
    Some((bytes, model.without(before)))
}

/// Frames of another salt are those of an older log.
fn frame_salt(model: &Model, dice: &mut Dice) -> Option<Case> {
    let (bytes, before) = changed_frame(model, dice, 8, 8)?;
    Some((bytes, model.outcome(before)))
}

fn frame_page_zero(model: &Model, dice: &mut Dice) -> Option<Case> {
    let (number, _, before) = model.a_frame(dice)?;
    let mut frames = model.frames();
    frames[number].page = 0;
    Some((model.log(&frames), model.outcome(before)))
}

fn frame_cut(model: &Model, dice: &mut Dice) -> Option<Case> {
    let (_, at, before) = model.a_frame(dice)?;
    let mut bytes = model.bytes();
    bytes.truncate(at + dice.below(FRAME + model.page_size));
    Some((bytes, model.outcome(before)))
}

/// The game was killed before the last save ended.
fn commit_lost(model: &Model, _: &mut Dice) -> Option<Case> {
    let mut frames = model.frames();
    frames.last_mut()?.ends = 0;
    (!model.is_journal).then(|| (model.log(&frames), model.outcome(model.parts.len() - 1)))
}

/// A log with another header, or none for a journal.
fn of_header(model: &Model, change: impl FnOnce(&mut Vec<u8>)) -> Option<Case> {
    let mut bytes = model.bytes();
    change(&mut bytes);
    (!model.is_journal).then_some((bytes, Outcome::Unusable))
}

fn header_checksum(model: &Model, dice: &mut Dice) -> Option<Case> {
    // The words of the checkpoint, of the salts and of the checksum itself.
    let (at, by) = (dice.within(12, HEADER - 1), dice.within(1, 255) as u8);
    of_header(model, |bytes| bytes[at] ^= by)
}

fn header_version(model: &Model, dice: &mut Dice) -> Option<Case> {
    let by = dice.within(1, 255) as u8;
    of_header(model, |bytes| {
        bytes[7] ^= by;
        let sum = model.sum(&bytes[..24], [0; 2]);
        bytes[24..28].copy_from_slice(&sum[0].to_be_bytes());
        bytes[28..32].copy_from_slice(&sum[1].to_be_bytes());
    })
}

fn header_cut(model: &Model, dice: &mut Dice) -> Option<Case> {
    let len = dice.within(1, HEADER - 1);
    of_header(model, |bytes| bytes.truncate(len))
}

fn journal_checksum(model: &Model, dice: &mut Dice) -> Option<Case> {
    let (number, at) = model.a_page(dice)?;
    let mut bytes = model.bytes();
    bytes[at + 4 + model.page_size + dice.below(4)] ^= dice.within(1, 255) as u8;
    Some((bytes, model.outcome_of_pages(model.parts.len(), number)))
}

fn journal_content(model: &Model, dice: &mut Dice) -> Option<Case> {
    let (number, at) = model.a_page(dice)?;
    let mut bytes = model.bytes();
    // The checksum has every 200th byte only.
    bytes[at + 4 + model.page_size - 200 * dice.within(1, 2)] ^= dice.within(1, 255) as u8;
    Some((bytes, model.outcome_of_pages(model.parts.len(), number)))
}

fn journal_page_zero(model: &Model, dice: &mut Dice) -> Option<Case> {
    let (number, at) = model.a_page(dice)?;
    let mut bytes = model.bytes();
    bytes[at..at + 4].fill(0);
    Some((bytes, model.outcome_of_pages(model.parts.len(), number)))
}

/// The count of a segment is written last: without it, the database was not changed.
fn journal_count_zero(model: &Model, _: &mut Dice) -> Option<Case> {
    let pages: usize = model.parts.iter().rev().skip(1).map(|part| part.pages.len()).sum();
    model.is_journal.then(|| (model.journal(Some(0)), model.outcome_of_pages(model.parts.len(), pages)))
}

fn journal_cut(model: &Model, dice: &mut Dice) -> Option<Case> {
    let (number, at) = model.a_page(dice)?;
    let mut bytes = model.bytes();
    bytes.truncate(at + dice.below(model.page_size + 8));
    Some((bytes, model.outcome_of_pages(model.parts.len(), number)))
}

fn journal_of_several(model: &Model, _: &mut Dice) -> Option<Case> {
    let mut bytes = model.bytes();
    bytes.extend(b"super-journal");
    bytes.extend(journal::MAGIC);
    model.is_journal.then_some((bytes, Outcome::Unusable))
}

fn journal_sector_size(model: &Model, dice: &mut Dice) -> Option<Case> {
    let size: u32 = dice.one(&[0, 16, 511, 513, 1 << 17, u32::MAX])?;
    let mut bytes = model.bytes();
    bytes.get_mut(20..24)?.copy_from_slice(&size.to_be_bytes());
    model.is_journal.then_some((bytes, Outcome::Unusable))
}

fn journal_finished(model: &Model, dice: &mut Dice) -> Option<Case> {
    let zeros = dice.within(1, SECTOR);
    let mut bytes = model.bytes();
    bytes.get_mut(..zeros)?.fill(0);
    model.is_journal.then_some((bytes, Outcome::Nothing))
}
