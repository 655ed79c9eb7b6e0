//! Why a plan keeps something in `lost+found`, and why a position stays without a block: what is decided by the reason is
//! decided by its variant, never by its words.

use std::borrow::Cow;
use std::fmt;

use crate::printable::likelihood;
use crate::recover::decide::{Certainty, how_likely};
use crate::repair::decision::{Decision, LostBlock, Origin, RegionPlan};

/// Why bytes are kept in `lost+found`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum KeptReason {
    /// The block is in the result, without what was against the format; these are its old bytes. The only reason that
    /// leaves nothing lost.
    Rewritten,
    /// A whole block that no table entry points to.
    Unowned,
    /// A whole block whose voxels are written. Other blocks have the same voxels and different metadata, and it is not known
    /// which of them belongs where.
    Alike,
    /// What is left of a torn block.
    Torn,
    /// Bytes that are not zero, between whole blocks.
    NoBlock,
    /// Bytes between the parts of a block that was being moved.
    BetweenParts,
    /// A whole block whose position the user gave to another one.
    Replaced,
    /// A row of a stream, or a part of one, that is not written; why, in words.
    Row(&'static str),
}

impl fmt::Display for KeptReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rewritten => "as it was: it is written without what is against the format",
            Self::Unowned => "it has no owner",
            Self::Alike => "its voxels are written, but other blocks have the same voxels and different metadata",
            Self::Torn => "it is torn",
            Self::NoBlock => "no whole block is there",
            Self::BetweenParts => "it is between the parts of a block that was being moved",
            Self::Replaced => "another block was accepted for its place",
            Self::Row(why) => why,
        })
    }
}

impl serde::Serialize for KeptReason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Why a position of a region's table has no block in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum MissingReason {
    /// Its block is torn.
    Torn,
    /// Its entry points past the end of the file, and its block is nowhere else.
    BeyondEnd,
    /// No block was found for it.
    NotFound,
    /// Several blocks are possible, and none is certain enough.
    Uncertain,
    /// Its entry leads to the likeliest block, which is not certain enough.
    InDoubt,
    /// Its entry has no sectors.
    NoSectors,
}

impl fmt::Display for MissingReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Torn => "its block is torn",
            Self::BeyondEnd => "its block is not in the file, which ends before it",
            Self::NotFound => "no block was found for it",
            Self::Uncertain | Self::InDoubt => "no block fits it well enough",
            Self::NoSectors => "its entry has no sectors",
        })
    }
}

impl MissingReason {
    /// It in a few words, for a row of a list.
    pub(super) const fn short(self) -> &'static str {
        match self {
            Self::Torn => "torn",
            Self::BeyondEnd => "not in the file, which ends before it",
            Self::NotFound => "not found",
            Self::Uncertain | Self::InDoubt => "no block is likely",
            Self::NoSectors => "no sectors",
        }
    }
}

impl serde::Serialize for MissingReason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Why a position that a block may belong to is not certain, as a clause: `moved` if the block was taken out and appended since the
/// table was written, or no entry leads to it.
const fn doubt_words(moved: bool, p: f64) -> &'static str {
    match moved {
        true => "the table does not list it there, so only its seams show its position",
        false if p < 0.99 => "order, length and seams allow other positions too",
        false => {
            "order and seams fit, but would not if the game saved most of the region, or another block fits as well"
        }
    }
}

/// Why a region file or a block file is copied, written anew or set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileReason {
    /// It is copied as it is: nothing is wrong with it.
    Healthy,
    /// It is copied as it is although no block can be located or read in it: neither the file nor the save gives the layout of its
    /// blocks, and options can.
    UnknownLayout,
    /// It is taken from the backup: the save does not have it.
    Missing,
    /// It is set aside: a rig of VoxEdit, which held no block.
    NoRegion,
    /// It is set aside: the engine never stored a block into it.
    NeverStored,
    /// It is set aside: its blocks belong to the place of another file, which has them too.
    Copied,
    /// Anything else, in words.
    Other(&'static str),
}

impl FileReason {
    /// It as a clause.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::UnknownLayout => "its layout is not known",
            Self::Missing => "it was missing",
            Self::NoRegion => "it is a rig of VoxEdit and no region file",
            Self::NeverStored => "nothing is behind its header",
            Self::Copied => "its blocks are those of another region file",
            Self::Other(words) => words,
        }
    }
}

impl fmt::Display for FileReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.words())
    }
}

/// What was corrected of a row of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowReason {
    /// Its key was that of the rule of 2021.
    OldRule,
    /// Its key was that of another block.
    WrongKey,
    /// Its key was not spelled as the engine does.
    KeySpelling,
    /// Its key was of another type.
    KeyType,
    /// Anything else, in words.
    Other(&'static str),
}

impl RowReason {
    /// It as a clause.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::OldRule => "its key was that of the rule of 2021",
            Self::WrongKey => "its key was that of another block",
            Self::KeySpelling => "its key was written in another way than the engine writes it",
            Self::KeyType => "its key was of another type",
            Self::Other(words) => words,
        }
    }
}

impl fmt::Display for RowReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.words())
    }
}

/// Why the position of a block that is written is not certain, as a clause without its probability; `None` if it is.
pub(super) fn doubt_of(block: &Decision) -> Option<&'static str> {
    let open = block.origin == Origin::Found && block.certainty != Certainty::Certain;
    open.then(|| doubt_words(block.moved, block.probability))
}

/// Why the position of a block that is written is not certain, as a clause; `None` if it is.
pub(super) fn doubt(block: &Decision) -> Option<String> {
    Some(format!("{} ({})", doubt_of(block)?, how_likely(block.probability)))
}

/// The positions that an unowned block may belong to, as they are shown, the likeliest first. Each probability comes from what is
/// known of its position alone, so together they may exceed 1. Then the likeliest keeps its own, which is also that of the findings,
/// and the others share what it leaves; if it is no likelier than the next one, all are reduced alike.
pub(super) fn shown_candidates(lost: &LostBlock) -> Cow<'_, [([i32; 3], f64)]> {
    let sum = |of: &[([i32; 3], f64)]| of.iter().map(|(_, p)| *p).sum::<f64>();
    let [(_, most), others @ ..] = lost.candidates.as_slice() else { return Cow::Borrowed(&[]) };
    let rest = sum(others);
    if most + rest <= 1.0 {
        return Cow::Borrowed(&lost.candidates);
    }
    let mut shown = lost.candidates.clone();
    let is_likeliest = others.first().is_none_or(|(_, next)| next < most);
    let from = usize::from(is_likeliest);
    let factor = if is_likeliest { (1.0 - most).max(0.0) / rest } else { 1.0 / (most + rest) };
    shown.iter_mut().skip(from).for_each(|(_, p)| *p *= factor);
    Cow::Owned(shown)
}

/// A block that may belong to a position without one, and why it is not written there.
pub(super) struct LikeliestBlock {
    /// Which one it is, with its probability, as a clause.
    pub words: String,
    /// The same in a few words.
    pub short: String,
    /// Why that is not certain, as a clause.
    pub doubt: &'static str,
}

/// The likeliest block for a position that has an entry and no block.
pub(super) fn likeliest(position: [i32; 3], region: &RegionPlan) -> Option<LikeliestBlock> {
    let fits = |lost: &LostBlock| {
        let candidates = shown_candidates(lost);
        let (_, p) = candidates.iter().find(|(at, _)| *at == position).filter(|_| lost.whole)?;
        Some((region.start_of(&lost.pieces), *p, lost.moved))
    };
    let (start, p, moved) = region.lost.iter().filter_map(fits).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let words = format!("the likeliest is the one at {start} ({})", how_likely(p));
    let short = format!("maybe {start}, {}", likelihood(p));
    Some(LikeliestBlock { words, short, doubt: doubt_words(moved, p) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_of_a_block_are_not_more_than_certain_together() {
        let shown = |all: &[f64]| {
            let candidates = (0..).zip(all).map(|(x, p)| ([x, 0, 0], *p)).collect();
            let (sector, pieces, why) = (0, Vec::new(), KeptReason::Unowned);
            let lost = LostBlock { sector, pieces, whole: true, why, candidates, moved: false, identical: 0 };
            shown_candidates(&lost).iter().map(|(_, p)| (p * 1000.0).round() / 1000.0).collect::<Vec<_>>()
        };
        for (known, expected) in [
            (&[][..], &[][..]),
            (&[0.4, 0.2], &[0.4, 0.2]),
            (&[0.998, 0.101], &[0.998, 0.002]),
            (&[0.6, 0.3, 0.3], &[0.6, 0.2, 0.2]),
            (&[0.9, 0.9], &[0.5, 0.5]),
            (&[1.0, 0.3], &[1.0, 0.0]),
        ] {
            assert_eq!(shown(known), expected);
        }
    }
}
