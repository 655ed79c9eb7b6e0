//! What a check, a comparison or a repair says of blocks, as marks on a picture.

use std::collections::{HashMap, HashSet};

use super::color::Rgb;
use super::source::Source;
use crate::check::{BlockAt, Finding};
use crate::damage::{Code, Level};
use crate::repair::{Action, Certainty, Fate, Plan, fates};
use crate::save::Save;

/// What is to be said of a block, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// Only the second save has it.
    Added,
    /// Only the first save has it.
    Removed,
    /// It differs.
    Changed,
    /// A repair puts it in its place.
    Placed,
    /// A repair puts it in a place that is likely.
    Likely,
    /// A repair has no place for it, or nothing for the place.
    Missing,
    /// Its region file is missing, or nothing in it can be read.
    NoFile,
    /// Readable, but against the format.
    Warning,
    /// No table entry points to it.
    Unowned,
    /// It cannot be read.
    Unreadable,
    /// Its file ends before it, or has no whole block for its position.
    Absent,
    /// It may be in a wrong place.
    Doubtful,
    /// The table has another block or another place for it: what is read at its place cannot be its content.
    Misplaced,
    /// It was being written when the game ended.
    Torn,
}

impl Mark {
    /// The mark of a finding about a block; `None` where there is nothing to see.
    #[must_use]
    pub fn for_code(code: Code) -> Option<Self> {
        Some(match code {
            Code::BlockMisplaced | Code::BlockMoved | Code::PakMisplaced | Code::StreamMisplaced => Self::Misplaced,
            // If two entries, records or rows claim one place, at most one of them is right.
            Code::PlaceDoubt | Code::TableOverlap | Code::PakOverlap | Code::StreamKeyTwice => Self::Doubtful,
            Code::BlockTorn | Code::BlockHalfMoved => Self::Torn,
            Code::TableBeyondEnd => Self::Absent,
            // It is about a further copy: the block itself is whole and in its place.
            Code::BlockDoubled => return None,
            code if code.is_unowned() => Self::Unowned,
            code if code.hides_data() => Self::Unreadable,
            code if code.level() >= Level::Warning => Self::Warning,
            _ => return None,
        })
    }

    /// A letter, for terminals without colours.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Added => '+',
            Self::Removed => '-',
            Self::Changed | Self::Likely => '~',
            Self::Placed => '=',
            Self::Missing => 'x',
            Self::NoFile => 'm',
            Self::Warning => '!',
            Self::Unowned => 'u',
            Self::Doubtful => 'd',
            Self::Misplaced => '?',
            Self::Torn => 't',
            Self::Absent => 'n',
            Self::Unreadable => '/',
        }
    }

    /// What it says.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Placed => "put in place",
            Self::Likely => "in a likely place",
            Self::Missing => "missing",
            Self::NoFile => "its file is lost",
            Self::Warning => "against the format",
            Self::Unowned => "unowned",
            Self::Doubtful => "in doubt",
            Self::Misplaced => "in a wrong place",
            Self::Torn => "torn",
            Self::Absent => "not in its file",
            Self::Unreadable => "unreadable",
        }
    }

    /// Its colour.
    #[must_use]
    pub const fn color(self) -> Rgb {
        match self {
            Self::Added | Self::Placed => [70, 190, 110],
            // Not red: side by side with what was added, few can distinguish red from green.
            Self::Removed => [96, 140, 240],
            Self::Unreadable => [232, 64, 60],
            Self::Changed | Self::Likely => [240, 180, 60],
            Self::Missing => [200, 70, 160],
            Self::NoFile => [90, 120, 200],
            Self::Warning => [226, 200, 70],
            Self::Unowned => [170, 110, 230],
            Self::Doubtful => [214, 170, 120],
            Self::Misplaced => [250, 130, 40],
            Self::Torn => [240, 90, 130],
            Self::Absent => [130, 150, 170],
        }
    }
}

/// The most blocks that are marked by a plan, for the memory that they take.
const MOST_DAMAGED: usize = 1 << 17;

/// The marks of a LOD.
#[derive(Clone, Debug, Default)]
struct OfLod {
    lod: u8,
    /// The worst one of each column of blocks: x and z.
    columns: HashMap<[i32; 2], Mark>,
    /// The worst one of each block.
    blocks: HashMap<[i32; 3], Mark>,
}

/// The worst marks of blocks and of columns of blocks, by LOD.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    lods: Vec<OfLod>,
}

impl Marks {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lods.iter().all(|of| of.columns.is_empty())
    }

    /// Marks a block; its worst mark stays, and that of its column.
    pub fn put(&mut self, lod: u8, position: [i32; 3], mark: Mark) {
        let at = self.lods.iter().position(|of| of.lod == lod);
        let at = at.unwrap_or_else(|| {
            self.lods.push(OfLod { lod, ..OfLod::default() });
            self.lods.len() - 1
        });
        if let Some(of) = self.lods.get_mut(at) {
            let to = of.columns.entry([position[0], position[2]]).or_insert(mark);
            *to = (*to).max(mark);
            let to = of.blocks.entry(position).or_insert(mark);
            *to = (*to).max(mark);
        }
    }

    /// What a plan does with each block of the regions that it rewrites.
    #[must_use]
    pub fn of_plan(plan: &Plan) -> Self {
        let mut marks = Self::default();
        for region in plan.regions.iter().filter(|region| region.action != Action::Copy) {
            for decision in &region.blocks {
                let mark = match (decision.certainty, decision.moved || decision.listed_at.is_some()) {
                    (Certainty::Certain, false) => continue,
                    (Certainty::Certain, true) => Mark::Placed,
                    _ => Mark::Likely,
                };
                marks.put(region.lod, decision.position, mark);
            }
            for (position, _) in &region.missing {
                marks.put(region.lod, *position, Mark::Missing);
            }
        }
        marks
    }

    /// The blocks that the figures of a verdict count as damaged, in their words, by plans without and with likely blocks; `None`
    /// where a save is several worlds, or where more are damaged than a picture distinguishes.
    #[must_use]
    pub fn of_damage(save: &Save, certain: &Plan, likely: &Plan) -> Option<Self> {
        if save.forests.len() + save.pak_dirs.len() + save.streams.len() != 1 {
            return None;
        }
        // Without likely blocks, a plan leaves out those that are unowned and have likely places, and those whose places are in doubt.
        let (mut unowned, mut doubtful) = (HashSet::new(), HashSet::new());
        fates(save, likely, &mut |block| {
            let to = match () {
                () if block.unowned && block.fate != Fate::Kept => &mut unowned,
                () if block.in_doubt => &mut doubtful,
                () => return,
            };
            if to.len() <= MOST_DAMAGED {
                to.extend(block.position.map(|position| (block.lod, position)));
            }
        });
        let holds = |blocks: &HashSet<(u8, [i32; 3])>, lod, position: Option<[i32; 3]>| {
            position.is_some_and(|at| blocks.contains(&(lod, at)))
        };
        let (mut marks, mut count) = (Self::default(), 0);
        fates(save, certain, &mut |block| {
            let mark = match () {
                // The picture shows blocks of the old formula where they belong.
                () if block.fate == Fate::Kept || block.in_old_slot => return,
                () if block.torn => Mark::Torn,
                () if block.beyond_end || block.not_found => Mark::Absent,
                () if block.odd => Mark::Warning,
                () if block.unowned || holds(&unowned, block.lod, block.position) => Mark::Unowned,
                () if block.in_doubt || holds(&doubtful, block.lod, block.position) => Mark::Doubtful,
                () => Mark::Misplaced,
            };
            if let Some(position) = block.position.filter(|_| count <= MOST_DAMAGED) {
                marks.put(block.lod, position, mark);
                count += 1;
            }
        });
        (count <= MOST_DAMAGED).then_some(marks)
    }

    /// Takes the marks of a plan for the blocks that it does not keep as they are. What it keeps has at most a warning.
    pub fn correct(&mut self, by: &Self) {
        for of in &by.lods {
            for (position, mark) in &of.blocks {
                self.put(of.lod, *position, *mark);
            }
        }
        for own in &mut self.lods {
            own.blocks.values_mut().for_each(|mark| *mark = (*mark).min(Mark::Warning));
            own.blocks.extend(by.lods.iter().filter(|of| of.lod == own.lod).flat_map(|of| &of.blocks));
            own.columns.clear();
            for (position, mark) in &own.blocks {
                let to = own.columns.entry([position[0], position[2]]).or_insert(*mark);
                *to = (*to).max(*mark);
            }
        }
    }

    /// Marks the block of a finding, when it is about one.
    pub fn add(&mut self, finding: &Finding) {
        let block = finding.block.and_then(BlockAt::place);
        if let (Some((lod, position)), Some(mark)) = (block, Mark::for_code(finding.code())) {
            self.put(lod, position, mark);
        }
    }

    /// The mark of a block.
    #[must_use]
    pub fn of_block(&self, lod: u8, position: [i32; 3]) -> Option<Mark> {
        self.lods.iter().find(|of| of.lod == lod)?.blocks.get(&position).copied()
    }

    /// The worst mark of the blocks over a column of voxels of the world.
    #[must_use]
    pub fn at(&self, source: &Source, column: [i64; 2]) -> Option<Mark> {
        let here = |of: &OfLod| {
            let [x, _, z] = source.block_at(of.lod, [column[0], 0, column[1]])?;
            of.columns.get(&[x, z]).copied()
        };
        self.lods.iter().filter(|of| !of.columns.is_empty()).filter_map(here).max()
    }

    /// The worst mark of the blocks that a voxel of the world is in.
    #[must_use]
    pub fn at_voxel(&self, source: &Source, voxel: [i64; 3]) -> Option<Mark> {
        let here = |of: &OfLod| of.blocks.get(&source.block_at(of.lod, voxel)?).copied();
        self.lods.iter().filter(|of| !of.blocks.is_empty()).filter_map(here).max()
    }

    /// How many blocks have which mark, the worst first.
    #[must_use]
    pub fn counts(&self) -> Vec<(Mark, usize)> {
        let mut counts: HashMap<Mark, usize> = HashMap::new();
        for mark in self.lods.iter().flat_map(|of| of.blocks.values()) {
            *counts.entry(*mark).or_default() += 1;
        }
        let mut counts: Vec<(Mark, usize)> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|(mark, _)| std::cmp::Reverse(*mark));
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_in_a_wrong_place_is_not_called_unreadable() {
        let mut marks = Marks::default();
        // Where the table points into the middle of another block, its size prefix is wrong too.
        for code in [Code::BlockPrefix, Code::BlockMoved] {
            marks.put(0, [0, 0, 0], Mark::for_code(code).unwrap());
        }
        for code in [Code::BlockMisplaced, Code::BlockPrefix] {
            marks.put(0, [0, 1, 0], Mark::for_code(code).unwrap());
        }
        for code in [Code::ContainerCorrupt, Code::BlockTorn] {
            marks.put(0, [1, 1, 0], Mark::for_code(code).unwrap());
        }
        marks.put(0, [2, 0, 0], Mark::for_code(Code::BlockEpilogue).unwrap());
        marks.put(0, [3, 0, 0], Mark::for_code(Code::BlockPrefix).unwrap());
        assert_eq!(marks.counts(), [(Mark::Torn, 1), (Mark::Misplaced, 2), (Mark::Unreadable, 2)]);
        // What a plan knows better replaces what the findings say, also where that is worse; what it keeps is whole.
        let mut plan = Marks::default();
        plan.put(0, [2, 0, 0], Mark::Misplaced);
        plan.put(0, [1, 1, 0], Mark::Warning);
        plan.put(1, [0, 0, 0], Mark::Torn);
        marks.correct(&plan);
        assert_eq!(marks.counts(), [(Mark::Torn, 1), (Mark::Misplaced, 1), (Mark::Warning, 4)]);
    }

    #[test]
    fn a_place_in_doubt_is_not_called_wrong() {
        for code in [Code::PlaceDoubt, Code::TableOverlap, Code::PakOverlap, Code::StreamKeyTwice] {
            let mark = Mark::for_code(code).unwrap();
            assert_ne!(mark, Mark::Misplaced);
            assert_ne!((mark.letter(), mark.words()), (Mark::Misplaced.letter(), Mark::Misplaced.words()));
        }
        // What is known of a place counts more than what may be.
        let mut marks = Marks::default();
        for code in [Code::PlaceDoubt, Code::BlockMisplaced, Code::TableOverlap] {
            marks.put(0, [0, 0, 0], Mark::for_code(code).unwrap());
        }
        assert_eq!(marks.counts(), [(Mark::Misplaced, 1)]);
    }

    #[test]
    fn a_block_behind_the_end_of_its_file_is_not_called_misplaced() {
        let mut marks = Marks::default();
        for code in [Code::BlockPrefix, Code::TableBeyondEnd] {
            marks.put(0, [0, 0, 0], Mark::for_code(code).unwrap());
        }
        assert_eq!(marks.counts(), [(Mark::Absent, 1)]);
        assert_eq!(Mark::Absent.letter(), 'n');
    }
}
