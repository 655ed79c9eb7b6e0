//! Every number that decides how evidence is weighed when blocks are put into places, with its meaning, unit and origin.

use crate::recover::evidence::Rates;

/// The numbers by which blocks are placed. Odds are natural logarithms.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// Least probability of a place that is written without being asked for. Chosen: 1 wrong in 10,000.
    pub certain: f64,
    /// The same for a place by seams in a region of which most blocks moved after its table was written, so that few of them are known:
    /// what the game saved anew continues its neighbours less. Measured on killed games of small regions without other LODs: of 15 wrong
    /// blocks of such regions in 60 worlds, 14 were below it, and 94 of some 600 right ones.
    pub certain_if_moved: f64,
    /// Least probability of a place that is written when asked for. Chosen: 1 wrong in 50.
    pub likely: f64,
    /// Least probability at which a block is offered as a candidate and helps to place its neighbours. Chosen.
    pub candidate: f64,
    /// Log-odds that an entry of a table that fits its sectors leads to the right block. Chosen: exchanged entries are rare.
    pub entry_right: f64,
    /// Log-odds that an entry which differs from a block's sectors by one bit is the block's own. Rule of chance: 32 bits
    /// times the blocks of a region, against 24 bits of sectors.
    pub one_bit: f64,
    /// The same for two bits.
    pub two_bits: f64,
    /// Log-odds that a slot whose entry is damaged holds a block. Measured on damaged tables.
    pub damaged_entry: f64,
    /// Log-odds that a whole block before the table's end is in use when whole blocks fill all sectors up to there. Rule of
    /// the writer: it leaves no holes.
    pub live_tiled: f64,
    /// The same when other sectors up to there are damaged.
    pub live_inside: f64,
    /// The same for a block behind the table's end in a table that is damaged. Measured on stale tails.
    pub live_behind: f64,
    /// The same for a block behind it whose content is already placed. Chosen: stale copies are common.
    pub live_copy: f64,
    /// Most that one seam may say, either way. Chosen: a few thousand seams cannot show more.
    pub seam_clip: f64,
    /// The sum of the seams of a placed block at which its place is looked at again. Chosen.
    pub suspect: f64,
    /// Seams between known neighbours below which seams of blocks are not believed. Chosen.
    pub least_seams: usize,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            certain: 0.9999,
            certain_if_moved: 0.999_999,
            likely: 0.98,
            candidate: 0.6,
            entry_right: 6.0,
            one_bit: 14.0,
            two_bits: 6.0,
            damaged_entry: 3.0,
            live_tiled: 9.0,
            live_inside: 4.0,
            live_behind: -2.0,
            live_copy: -3.0,
            seam_clip: 9.0,
            suspect: 0.0,
            least_seams: 12,
        }
    }
}

/// The numbers by which the ways to read a walk are weighed before the table is compared. All are logarithms of odds that
/// are subtracted, and chosen: rarer events cost more.
pub(super) struct ReadingWeights {
    /// All that follows a hole is old, although whole blocks follow it.
    pub rest_is_old: f64,
    /// A hole is torn blocks that entries tile, and for each of them.
    pub tiled: f64,
    pub tile: f64,
    /// The holes are tiled in another way than the likeliest. Chosen: if seams decide nothing, the
    /// other ways together weigh little.
    pub other_way: f64,
    /// A hole is one torn block.
    pub torn: f64,
    /// A hole is what was being moved.
    pub moved: f64,
    /// Sectors are there twice because the game was killed while it moved them.
    pub doubled: f64,
    /// The same where the second ones are damaged.
    pub doubled_broken: f64,
    /// Each sector that is missing of the second ones, up to 8.
    pub doubled_short: f64,
    /// The most that common content says against a move.
    pub common: f64,
    /// The start of one block was moved over another one.
    pub overlaid: f64,
    /// Sum from which on a walk counts as doubled.
    pub is_doubled: f64,
}

pub(super) const READING: ReadingWeights = ReadingWeights {
    rest_is_old: 2.0,
    tiled: 3.0,
    tile: 0.5,
    other_way: 4.0,
    torn: 3.5,
    moved: 7.0,
    doubled: 3.0,
    doubled_broken: 1.0,
    doubled_short: 0.5,
    common: 40.0,
    overlaid: 3.0,
    is_doubled: -9.0,
};

/// The numbers by which the order of a table is compared with that of a walk. Probabilities from 0 to 1 where nothing else is
/// said; `_odds` are logarithms of odds.
pub(super) struct OrderWeights {
    /// Least share of entries that stay as they are, whatever the rates. Chosen.
    pub least_kept: f64,
    /// Least share of appended blocks that fit an entry that is gone. Chosen.
    pub least_found: f64,
    /// A kept entry whose block is torn, as a killed game leaves one or two. Chosen.
    pub torn_odds: f64,
    /// An entry that is gone was written again with fewer sectors: a share of the rate of shrinking. Chosen.
    pub shrank_first: f64,
    /// The same where the block was written over a longer one. Chosen.
    pub shrank_later: f64,
    /// An entry was taken out and not written again where its sectors were being moved, and where they were not. Rule of the
    /// writer: a block that grows is taken out, sectors move down, and then it is appended.
    pub lost_while_moving: f64,
    pub lost_otherwise: f64,
    /// The same where the file ends before the sectors that would have moved. Rule of the writer.
    pub lost_beyond_end: f64,
    /// An appended block of a length that no other block has. Chosen.
    pub rare_length_odds: f64,
    /// An appended block that is not padded with zeros, so that it was written once more. Rule of the writer.
    pub unpadded_odds: f64,
    /// The first entry that is lost, while sectors were being moved and otherwise, and each further one. Rule of the writer:
    /// one block at a time.
    pub first_lost_moving_odds: f64,
    pub first_lost_odds: f64,
    pub next_lost_odds: f64,
    /// A block that is new. Chosen.
    pub new_odds: f64,
    /// A copy of an earlier block after the table's end, before it, and a block that is no copy, is an old one. Chosen.
    pub old_copy_behind_odds: f64,
    pub old_copy_odds: f64,
    pub old_odds: f64,
    /// A block written over a longer one: not padded, padded and of one value, and padded for each byte of up to 8 that may be
    /// zero by chance. Rule of the writer: it pads what it appends.
    pub unpadded: f64,
    pub padded_plain: f64,
    pub padded_byte: f64,
    /// The most that a seam says for or against an appended block (log-odds). Chosen.
    pub seam_clip: f64,
    /// Weight of an appended block that belongs to no entry. Chosen.
    pub no_entry: f64,
    /// Each appended block that a drawn assignment leaves without an entry although one is gone. Chosen.
    pub unassigned_odds: f64,
    /// Entries in addition to those of the region, in the first guess of the rates, and the largest guess. Chosen.
    pub first_rate: f64,
    pub largest_first_rate: f64,
}

/// Entries, or blocks, from which on a region is large. All numbers of entries gone then share the odds that an entry is gone: of many, one
/// more or less does not change them. Chosen.
pub(super) const LARGE: usize = 1024;

/// The numbers by which the lost entries of a table are counted (`gaps.rs`). Probabilities from 0 to 1; the others are logarithms of odds.
pub(super) struct GapWeights {
    /// First guesses of the shares of entries that are gone, and that shrank; measured anew in each of so many rounds. Chosen.
    pub rates: Rates,
    pub rounds: usize,
    /// A length that nothing else has, a block and a sector of a hole that belong to no entry, and a block that was appended. Chosen.
    pub rare: f64,
    pub skipped: f64,
    pub skipped_sector: f64,
    /// An entry whose block is damaged, in a hole. Chosen: hardly less than one that is kept, since something was in the hole.
    pub damaged: f64,
    pub appended: f64,
    /// How many blocks must be in the order of the table for each block or sector of a hole that belongs to no entry. Chosen.
    pub kept_per_skipped: usize,
}

pub(super) const GAPS: GapWeights = GapWeights {
    rates: Rates { gone: 0.1, shrunk: 0.05 },
    rounds: 3,
    rare: -6.0,
    skipped: -6.0,
    skipped_sector: -2.0,
    damaged: -1.0,
    appended: -0.5,
    kept_per_skipped: 20,
};

pub(super) const ORDER: OrderWeights = OrderWeights {
    least_kept: 0.05,
    least_found: 0.05,
    torn_odds: -3.0,
    shrank_first: 0.3,
    shrank_later: 0.05,
    lost_while_moving: 0.5,
    lost_otherwise: 0.005,
    lost_beyond_end: 1e-4,
    rare_length_odds: -6.0,
    unpadded_odds: -1.5,
    first_lost_moving_odds: -0.5,
    first_lost_odds: -1.5,
    next_lost_odds: -7.0,
    new_odds: -2.5,
    old_copy_behind_odds: -0.1,
    old_copy_odds: -0.3,
    old_odds: -2.5,
    unpadded: 0.7,
    padded_plain: -0.3,
    padded_byte: -0.9,
    seam_clip: 12.0,
    no_entry: 0.05,
    unassigned_odds: -9.5,
    first_rate: 3.0,
    largest_first_rate: 0.15,
};

/// The numbers by which what order and seams say is certain, likely or neither. Probabilities from 0 to 1; `_seam` are sums of
/// log-odds of a block's seams. Chosen on histories of the model of the writer, to have no wrong block that is certain.
pub(super) struct DecisionWeights {
    /// Entries from which on a region is not small: in a small one, few saves can turn everything around.
    pub many: usize,
    /// Least probability of a place that is certain, in a region of many entries and in a small one.
    pub enough: f64,
    pub enough_small: f64,
    /// Least probability at which a place is certain, if the game had saved much of the region.
    pub pessimistic: f64,
    /// The same for a small region without continuity between blocks: the order of few blocks of the same length is no
    /// evidence.
    pub pessimistic_noise: f64,
    /// Least probability at which a place is likely, where voxels continue from block to block, and where the order is the only
    /// evidence: what it leaves open stays open.
    pub likely: f64,
    pub likely_noise: f64,
    /// Trust in seams from which on voxels are said to continue.
    pub trusted: f64,
    /// A moved block: seams alone identify it.
    pub moved: f64,
    pub moved_seam: f64,
    /// A block that stayed: no seam may contradict the order.
    pub kept_seam: f64,
    /// The same where the order alone is this sure.
    pub kept_by_order: f64,
    pub kept_by_order_seam: f64,
    /// Seams at which a block is not believed to be where the table has it, although nothing else contradicts that.
    pub contradicted_seam: f64,
    /// Probability of a block where the table has it: the least that counts as certain.
    pub as_listed: f64,
    /// How much better the seams of another block must be than those of an unowned one.
    pub clear_seam: f64,
    /// Probability from which on a block counts as appended, below which as without an entry, and below which an entry's block
    /// may be another one.
    pub appended: f64,
    pub owned: f64,
    pub alone: f64,
}

pub(super) const DECISION: DecisionWeights = DecisionWeights {
    many: 12,
    enough: 0.999,
    enough_small: 0.9998,
    pessimistic: 0.95,
    pessimistic_noise: 0.9995,
    likely: 0.6,
    likely_noise: 0.95,
    trusted: 0.5,
    moved: 0.97,
    moved_seam: 3.0,
    kept_seam: -6.0,
    kept_by_order: 0.99,
    kept_by_order_seam: -3.0,
    contradicted_seam: -3.0,
    as_listed: 0.9999,
    clear_seam: 6.0,
    appended: 0.5,
    owned: 0.9,
    alone: 0.99,
};

/// The numbers by which the odds of classes of seams are learned and trusted. Chosen.
pub(super) struct SeamWeights {
    /// The most that one seam says, either way (log-odds).
    pub clip: f64,
    /// Seams between known neighbours, and between strangers, below which nothing can be measured.
    pub least: f64,
    pub least_random: f64,
    /// All seams inside blocks together count as so many seams between neighbours, each at most as `most_inside`.
    pub inside: f64,
    pub most_inside: f64,
    /// Seams between strangers of each class before any is counted.
    pub random: f64,
    /// Seams between neighbours, distributed as between strangers, before any is counted, and of each class.
    pub null: f64,
    pub each_class: f64,
    /// Trust: standard errors subtracted from what seams gain, the gain at which trust begins, and over which it becomes full
    /// (log-odds a seam).
    pub doubt: f64,
    pub gain: f64,
    pub full: f64,
}

pub(super) const SEAM: SeamWeights = SeamWeights {
    clip: 3.5,
    least: 6.0,
    least_random: 20.0,
    inside: 200.0,
    most_inside: 0.5,
    random: 0.5,
    null: 6.0,
    each_class: 0.02,
    doubt: 1.5,
    gain: 0.1,
    full: 0.4,
};

/// The numbers by which distances of blocks from their entries are followed. Probabilities from 0 to 1 where nothing else is said.
/// Measured on a model of power loss, in which each page is of a moment of its own.
pub(super) struct ShiftWeights {
    /// The least support of a distance that is followed (log-odds): two blocks of uncommon lengths. Chosen.
    pub least_support: f64,
    /// The next block lies at the same distance. Chosen: pages hold a few blocks.
    pub stay: f64,
    /// An entry leads to a block of its length where the distance is right, and to a shorter one. Chosen: the rest was rewritten, is
    /// torn, or is of another moment.
    pub same_length: f64,
    pub shorter: f64,
    /// How often a block at the distance of its neighbours is of another moment, if all lengths were the same. Measured: 6 in 1,000
    /// of the blocks of one sector were, none in 3,500 of three sectors or more.
    pub another: f64,
    /// The least probability of a place that is given, and the most that a distance says for it (log-odds). Chosen.
    pub least: f64,
    pub most: f64,
    /// How uncommon the length of a block is (odds) and the least probability of its place that is taken for right. Measured: of
    /// 2,800 such places none was wrong.
    pub sure: (f64, f64),
    /// The same where the order is not asked. Measured: of 650 such places 2 were wrong.
    pub sure_if_mixed: (f64, f64),
    /// The least odds (logarithm) at which a distance agrees with an entry, or leads elsewhere. Chosen.
    pub clear: f64,
    /// Places at odds with what is certain by the order from which on that is not asked. Chosen: a single one may be that of an
    /// older copy.
    pub contradictions: usize,
    /// How many times the distance has to grow from one block to the next before a region counts as written by two programs, and the least
    /// probability of the distances that are compared. Chosen.
    pub returns: usize,
    pub shown: f64,
    /// The fewest blocks inside that belong to no entry, how many of them suffice if the distance grows once, and their least share.
    /// Chosen: none of 26 saves of killed games and 12 after a loss of power counts as written by two programs.
    pub others: [usize; 2],
    pub share_of_others: f64,
    /// The least log-odds of a place in such a region, by the distance alone, that may be certain. Chosen.
    pub alone: f64,
    /// The least number of blocks at a distance whose places may be certain there, and the log-odds of places at other distances at most.
    /// Chosen.
    pub support: f64,
    pub few: f64,
    /// Entries that lead exactly to whole blocks of uncommon lengths and that the order does not keep, and how many lengths these have,
    /// from which on it is not asked; and by how many standard deviations they have to exceed what chance gives. Chosen: none of the
    /// golden saves of killed games comes near.
    pub against_order: (usize, usize),
    pub beyond_chance: f64,
    /// How many distances, in sectors, show what chance gives after several blocks were taken out, and the share of them that it must
    /// not exceed. Chosen: in full regions of smooth terrain after 100 changes, chance gives six times what one change gives.
    pub chance_distances: usize,
    pub chance_share: f64,
}

pub(super) const SHIFT: ShiftWeights = ShiftWeights {
    least_support: 4.0,
    stay: 0.9,
    same_length: 0.85,
    shorter: 0.03,
    another: 0.1,
    least: 0.5,
    most: 9.0,
    sure: (20.0, 0.999),
    sure_if_mixed: (8.0, 0.9999),
    clear: 2.0,
    contradictions: 2,
    returns: 2,
    shown: 0.8,
    others: [4, 10],
    share_of_others: 0.1,
    alone: 3.0,
    support: 4.0,
    few: 3.5,
    against_order: (5, 3),
    beyond_chance: 4.0,
    chance_distances: 256,
    chance_share: 0.9,
};

/// The numbers by which a run of keys whose values moved on by one is found in a stream. Cells are those of sketches, 16 of each side.
pub(super) struct RunWeights {
    /// The fewest keys of a run, less one. Two keys that were exchanged are left to the solver. Chosen.
    pub least: usize,
    /// How many fewer cells must differ once a run is moved back. Chosen: four whole sides.
    pub gain: u32,
    /// The fewest seams that arise by that. Chosen.
    pub seams: u64,
    /// The largest part of the cells that differed before that may differ then, of the seams that change. Chosen: as for two
    /// blocks of a region.
    pub rest: f64,
    /// Cells that a block of a run may differ more in its new place than in its old one. Chosen: chance at the ends of rows of blocks.
    pub slack: u32,
    /// Keys before and after each end of a run that may be its end as well, and by how many cells the run must be better than with
    /// another end. Chosen.
    pub ends: usize,
    pub clear: u32,
    /// The probability that is stated for a row at an end in doubt. Chosen: the least that counts as likely.
    pub likely: f64,
    /// Keys from which a run is followed: those at which its first block gains most, and the cells that it must gain. Chosen: one
    /// whole side.
    pub starts: usize,
    pub start: i64,
    /// Cells by which a run may gain less than it did before it is followed no further. Chosen: blocks beside a run that are not
    /// yet in it differ from its blocks.
    pub drop: i64,
}

pub(super) const RUN: RunWeights = RunWeights {
    least: 2,
    gain: 64,
    seams: 8,
    rest: 0.4,
    slack: 6,
    ends: 8,
    clear: 20,
    likely: 0.98,
    starts: 48,
    start: 16,
    drop: 4096,
};

/// The numbers by which region files with the names of others are found. A weight of 1 is one seam between blocks that continue each
/// other, or that does not.
pub(super) struct NameWeights {
    /// The most files in doubt of a LOD, and the most empty places, that are tried. Chosen: bounds the time.
    pub files: usize,
    pub empty: usize,
    /// The most times that files in doubt are looked for: a file that was moved may leave others without a neighbour. Chosen.
    pub rounds: usize,
    /// The least gain (weight) at which a file is tried in another place. Chosen: less is chance.
    pub step: f64,
    /// The least gain in the weight of all pairs with which files are reported, and the fewest blocks that must go together. Chosen: two
    /// borders of eight blocks.
    pub sure: f64,
    pub blocks: u32,
    /// The fewest blocks that contradict a place, if nothing in it is to be certain. Chosen: half of what shows another place.
    pub contradicted: u32,
    /// How many times what supports a place must exceed what contradicts it. Chosen: players build across borders.
    pub against: f64,
}

pub(super) const NAME: NameWeights =
    NameWeights { files: 128, empty: 512, rounds: 4, step: 0.5, sure: 16.0, blocks: 8, contradicted: 8, against: 4.0 };

/// The numbers by which region files are said to go together. Shares are those of cells that differ. A pair that differs as much as
/// neighbours do scores 0, one that differs as much as strangers scores 1.
pub(super) struct LikenessWeights {
    /// The fewest seams, by their cells, to learn from, and the same for blocks of two LODs. Chosen.
    pub seams: u64,
    pub scaled: u64,
    /// The least difference between the shares of strangers and of neighbours. Chosen: below it borders show nothing.
    pub telling: f64,
    /// The most that blocks differ from what the next LOD has of them, as a part of how much they differ from others. Chosen: a few
    /// files may have wrong names when it is learned.
    pub near: f64,
    /// What a block that is compared with another LOD counts, in seams. Rule of chance: it has four times as many cells, which are not
    /// independent.
    pub of_block: f64,
    /// The highest score of a pair that goes together, and the lowest of one that does not. Chosen: a third on either side.
    pub joined: f64,
    pub refuted: f64,
    /// The fewest blocks with which a pair counts, and the most that add to its weight. Chosen.
    pub fewest: u32,
    pub most: u32,
}

pub(super) const LIKENESS: LikenessWeights = LikenessWeights {
    seams: 64,
    scaled: 8,
    telling: 0.1,
    near: 0.25,
    of_block: 2.0,
    joined: 0.35,
    refuted: 0.65,
    fewest: 3,
    most: 16,
};

/// The numbers by which region files with the blocks of others are found.
pub(super) struct CopyWeights {
    /// The fewest different blocks, and the bytes of sectors from which on fewer are enough. Chosen: a few small blocks may be alike by
    /// chance.
    pub blocks: usize,
    pub bytes: u64,
    /// The most files with the same blocks, and one in how many of the files with enough blocks. Chosen: more are a world that repeats
    /// itself.
    pub files: usize,
    pub share: usize,
    /// The least weight with which borders and other LODs contradict a place for certain (seams). Chosen: as for names.
    pub sure: f64,
    /// How many times what supports a place must exceed what contradicts it. Chosen.
    pub against: f64,
}

pub(super) const COPY: CopyWeights =
    CopyWeights { blocks: 4, bytes: 8192, files: 3, share: 4, sure: 8.0, against: 2.0 };

/// The numbers by which region files are found that have each other's tables.
pub(super) struct ForeignTableWeights {
    /// How many pairs of a first sector and a count are compared. Chosen: bounds the memory.
    pub drawn: usize,
    /// Files up to which each is compared with each. Chosen: bounds the time.
    pub files: usize,
    /// The largest share of entries that lead to whole blocks of their length by chance, and the least share of a table that is the
    /// region's own. Chosen: of tables of full regions, a quarter to a half of the entries fit another region.
    pub own: f64,
    pub other: f64,
    /// By how much the share is larger of the table of a file that is known to have that of another one. Chosen.
    pub nearer: f64,
    /// By how much the share of entries is larger in the file that a table with at least so many entries was copied from. Chosen.
    pub owner: f64,
    pub many: usize,
    /// The fewest entries of a table that was copied over another one, and how many lengths they have. Chosen: fewer are the same by
    /// chance.
    pub entries: usize,
    pub lengths: usize,
    /// The least probability that an entry fits by chance, and the log-odds from which on a table does not. Chosen: 1 in 160,000.
    pub chance: f64,
    pub sure: f64,
}

pub(super) const FOREIGN_TABLE: ForeignTableWeights = ForeignTableWeights {
    drawn: 256,
    files: 1024,
    own: 0.6,
    other: 0.95,
    nearer: 0.1,
    owner: 0.2,
    many: 6,
    entries: 4,
    lengths: 3,
    chance: 0.2,
    sure: 12.0,
};
