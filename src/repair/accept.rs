//! Blocks that the user accepted for a position: this overrides what is certain or likely.

use std::fmt;
use std::str::FromStr;

use crate::bytes::Span;
use crate::printable;
use crate::repair::decision::{Decision, LostBlock, Origin, RegionPlan};
use crate::repair::out::below;
use crate::repair::{Certainty, Error, KeptReason};
use crate::save::{BlockStart, Forest, RegionFile, Save, first_byte};

/// A block, by where it begins, and the position that it was accepted for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Accepted {
    /// The position, in blocks of the LOD.
    pub position: [i32; 3],
    /// The LOD.
    pub lod: u8,
    /// The printable path of the region file, relative to the save.
    pub file: String,
    /// Where the block begins in it.
    pub start: BlockStart,
}

impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.position;
        write!(f, "{x},{y},{z}@{}={}:{}", self.lod, self.file, self.start.argument())
    }
}

impl FromStr for Accepted {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "it has the form X,Y,Z@LOD=FILE:SECTOR, or FILE:@BYTE for a block off the grid of sectors, such as \
            3,0,12@0=regions/lod0/r.0.0.0.vxr:41";
        let (place, block) = text.split_once('=').ok_or(FORM)?;
        let (position, lod) = place.split_once('@').ok_or(FORM)?;
        let (file, start) = block.rsplit_once(':').ok_or(FORM)?;
        let numbers: Vec<i32> = position.split(',').map(str::parse).collect::<Result<_, _>>().map_err(|_| FORM)?;
        let [x, y, z] = numbers[..] else { return Err(FORM) };
        let (lod, start) = (lod.parse().map_err(|_| FORM)?, BlockStart::from_argument(start).ok_or(FORM)?);
        if file.is_empty() { Err(FORM) } else { Ok(Self { position: [x, y, z], lod, file: file.to_owned(), start }) }
    }
}

/// Why a file takes no accepted blocks.
const NOTHING_TO_PLACE: &str = "nothing has to be placed in this file";

/// Moves accepted blocks to their positions.
///
/// # Errors
/// When there is no such block, or it cannot have that position.
pub(super) fn apply(save: &Save, regions: &mut [RegionPlan], accepted: &[Accepted]) -> Result<(), Error> {
    for one in accepted {
        let refuse = |why| Error::Accept { accepted: one.to_string(), why };
        let named = |region: &&mut RegionPlan| region.lod == one.lod && printable::path(&region.name) == one.file;
        let is_copied = || {
            let name = |forest: &Forest, file: &RegionFile| below(&save.path, &forest.dir.join(&file.name));
            save.regions().any(|(forest, file)| file.lod == one.lod && printable::path(&name(forest, file)) == one.file)
        };
        let region = regions
            .iter_mut()
            .find(named)
            .ok_or_else(|| refuse(if is_copied() { NOTHING_TO_PLACE } else { "there is no such file in the save" }))?;
        place(region, one).map_err(refuse)?;
    }
    Ok(())
}

fn place(region: &mut RegionPlan, one: &Accepted) -> Result<(), &'static str> {
    let (Some(header), Some(place)) = (&region.header, region.place) else {
        return Err(NOTHING_TO_PLACE);
    };
    let slot = place.slot(&header.format, one.position).ok_or("the position is none of this file")?;
    let taken = region.blocks.iter().position(|block| block.slot == slot);
    let is_it = |start: BlockStart, pieces: &[Span]| match one.start {
        BlockStart::Sector(_) => start == one.start,
        BlockStart::Byte(byte) => first_byte(pieces) == byte,
    };
    let written = |block: &Decision| block.backup.is_none() && is_it(region.start(block), &block.pieces);
    let is_whole = |block: &Decision| block.origin != Origin::Voxels && written(block);
    if taken.is_some_and(|at| is_whole(&region.blocks[at])) {
        return Ok(());
    }
    let found = |lost: &LostBlock| lost.whole && is_it(region.start_of(&lost.pieces), &lost.pieces);
    let found = region.lost.iter().position(found).ok_or("no unowned whole block begins there")?;
    let lost = region.lost.remove(found);
    if let Some(at) = taken {
        let other = region.blocks.remove(at);
        // Blocks of the backup need not be kept, and what is not written of a block is kept anyway.
        if other.origin.is_complete() {
            region.lost.push(LostBlock {
                sector: other.sector,
                pieces: other.pieces,
                whole: true,
                why: KeptReason::Replaced,
                candidates: vec![(other.position, other.probability)],
                moved: other.moved,
                identical: 0,
            });
            region.lost.sort_by_key(|lost| lost.sector);
        }
    }
    let likely = lost.candidates.iter().find(|(at, _)| *at == one.position).map_or(0.0, |(_, p)| *p);
    region.missing.retain(|(at, _)| *at != one.position);
    region.blocks.push(Decision {
        slot,
        position: one.position,
        pieces: lost.pieces,
        sector: lost.sector,
        listed_at: None,
        certainty: Certainty::Certain,
        probability: likely,
        moved: true,
        origin: Origin::Accepted,
        backup: None,
        mend: None,
        short_entry: false,
    });
    region.blocks.sort_by_key(|block| (block.sector, block.slot));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let one =
            Accepted { position: [3, -1, 12], lod: 2, file: "a=b@1/r.0:1.vxr".into(), start: BlockStart::Sector(41) };
        assert_eq!(one.to_string().parse(), Ok(one.clone()), "names may hold the signs");
        let one = Accepted { file: "regions/lod2/r.0.-1.0.vxr".into(), ..one };
        assert_eq!(one.to_string(), "3,-1,12@2=regions/lod2/r.0.-1.0.vxr:41");
        assert_eq!(one.to_string().parse(), Ok(one.clone()));
        let one = Accepted { start: BlockStart::Byte(16_411), ..one };
        assert_eq!(one.to_string(), "3,-1,12@2=regions/lod2/r.0.-1.0.vxr:@16411");
        assert_eq!(one.to_string().parse(), Ok(one));
        for text in
            ["", "1,2,3", "1,2@0=f:1", "1,2,3,4@0=f:1", "1,2,3@0=:1", "1,2,3@0=f:", "1,2,3@256=f:1", "a,b,c@0=f:1"]
        {
            assert!(text.parse::<Accepted>().is_err(), "{text}");
        }
    }
}
