//! Blocks of a save, counted by what a repair does with them.

use serde::Serialize;

/// Blocks of a save by what a repair does with them. `source` is the sum of `kept`, `put_right`, `likely`, `older`,
/// `salvaged` and `lost`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Positions for which the save lists or holds a block.
    pub source: u64,
    /// Blocks copied as they are, to where the table has them.
    pub kept: u64,
    /// Blocks written to another place than the table has, or encoded again, for certain.
    pub put_right: u64,
    /// Blocks whose place is only likely; written with `--level likely`.
    pub likely: u64,
    /// Older states, from a backup.
    pub older: u64,
    /// Of the blocks from a backup, those of files that the save does not have.
    #[serde(skip)]
    pub added: u64,
    /// Blocks written with those of their channels that are whole.
    pub salvaged: u64,
    /// Positions without a block in the result.
    pub lost: u64,
    /// Blocks, and parts of blocks, in `lost+found`.
    pub set_aside: u64,
    /// Blocks with the same content as one in `lost+found`, where each content is kept once. They are not in `set_aside`.
    pub set_aside_identical: u64,
    /// Of the blocks that are not kept, those that are torn in the save.
    pub torn: u64,
    /// Of the blocks that are not kept, those whose entries point past the end of their file.
    pub beyond_end: u64,
    /// Of the blocks that are not kept, those to whose position none of the whole blocks of the file is likely to belong, although
    /// their entries do not point past its end.
    pub not_found: u64,
    /// Of the blocks that are not kept, those that are where the table has them and violate the format.
    pub odd: u64,
    /// Files that are not copied byte by byte.
    pub files_changed: u64,
    /// Files of which the copy has no block, although nothing shows how many they held: these are not in `lost`.
    pub files_lost: u64,
    /// Layers of voxel maps that the copy does not have, or has without voxels.
    pub layers_lost: u64,
    /// Layers of voxel maps that the copy has without their depths.
    pub depths_lost: u64,
    /// Values of arrays of voxel maps that are missing in the save and 0 in the copy.
    pub values_lost: u64,
    /// Blocks whose instances the copy does not have, because they are damaged. They count in `salvaged`.
    pub instances_lost: u64,
    /// Pages of tables of streams that cannot be read or are missing, so that the number of rows on them is not known: these are
    /// not in `lost`.
    pub pages_lost: u64,
    /// Pages of streams that are in `lost+found` because nothing shows what they hold.
    pub pages_aside: u64,
    /// Of what is set aside, the old bytes of blocks that are written anew.
    #[serde(skip)]
    pub set_aside_rewritten: u64,
    /// Of the changed files, those that go to `lost+found` as they are.
    #[serde(skip)]
    pub files_aside: u64,
    /// Of the torn blocks, those of formats that do not tear blocks: rows, chunks and files of blocks.
    #[serde(skip)]
    pub damaged: u64,
    /// Of the blocks against the format, rows of streams, whose keys, pages or data are wrong.
    #[serde(skip)]
    pub odd_rows: u64,
    /// Of the blocks that are not where the table has them, those for whose positions it has no entry.
    #[serde(skip)]
    pub unowned: u64,
    /// Of the blocks that are not certain, those that are where the table has them.
    #[serde(skip)]
    pub in_doubt: u64,
    /// Of the blocks in the wrong place, chunks of pak regions, whose records are wrong.
    #[serde(skip)]
    pub wrong_records: u64,
    /// Of the blocks that are set aside, those that are whole, in files of names that the game does not look for.
    #[serde(skip)]
    pub misnamed: u64,
    /// Whole blocks that are set aside because their positions are not known, or because no table leads to them any more.
    #[serde(skip)]
    pub unplaced: u64,
    /// In a directory of several saves, those of which the copy would lack most blocks.
    #[serde(skip)]
    pub saves_lacking: u64,
    /// Files of other programs in the place of region files: there is no block in them.
    #[serde(skip)]
    pub foreign: u64,
    /// Whether there are maps in the result, whose blocks are not counted.
    #[serde(skip)]
    pub has_maps: bool,
    /// Files whose blocks cannot be read because their layout is not known.
    #[serde(skip)]
    pub unknown_layout: u64,
    /// Of the salvaged blocks, those that are written with `--level likely` only.
    #[serde(skip)]
    pub salvaged_likely: u64,
    /// Files that are changed with `--level likely` only.
    #[serde(skip)]
    pub files_likely: u64,
    /// Tables of region files that list none of the blocks that are put right, and pak regions of which records in a row are
    /// zero: how many blocks they listed is not known.
    #[serde(skip)]
    pub tables_lost: u64,
    /// Files and directories that cannot be read. A repair writes nothing before they can.
    #[serde(skip)]
    pub unreadable: u64,
    /// Of the lost blocks, chunks of pak regions, which no repair takes from a backup.
    #[serde(skip)]
    pub lost_chunks: u64,
    /// Whether a backup was given.
    #[serde(skip)]
    pub has_backup: bool,
    /// Whether the backup may be of another world.
    #[serde(skip)]
    pub is_backup_strange: bool,
    /// Blocks, and parts of blocks, that are in `lost+found` without `--level likely` only.
    #[serde(skip)]
    pub set_aside_likely: u64,
    /// Whether only a copy with `--level likely` has most blocks of the save.
    #[serde(skip)]
    pub needs_likely: bool,
    /// Whether there is nothing that a repair could take from a backup: no region file, no block file and no stream.
    #[serde(skip)]
    pub refuses_backup: bool,
}

impl Totals {
    /// Blocks that are neither right as they are, nor torn, cut off or gone, nor against the format: the table has them elsewhere,
    /// or not at all.
    #[must_use]
    pub const fn misplaced(&self) -> u64 {
        self.source.saturating_sub(self.kept + self.torn + self.beyond_end + self.not_found + self.odd)
    }

    /// Whether the command that repairs a save has `--level likely`, as it is in a verdict: all that it restores is only likely, or
    /// the copy lacks most blocks without it. The totals are those of both levels.
    #[must_use]
    pub const fn advises_likely(&self) -> bool {
        if self.source == self.kept {
            return self.files_likely > 0 && self.files_changed_for_certain() == 0;
        }
        let for_certain = self.put_right + self.older + self.salvaged.saturating_sub(self.salvaged_likely);
        self.needs_likely || (self.likely + self.salvaged_likely > 0 && for_certain == 0)
    }

    /// Positions without a block in the result without `--level likely`.
    #[must_use]
    pub const fn lost_for_certain(&self) -> u64 {
        self.lost + self.likely + self.salvaged_likely
    }

    /// Files that are not copied byte by byte without `--level likely`.
    #[must_use]
    pub const fn files_changed_for_certain(&self) -> u64 {
        self.files_changed.saturating_sub(self.files_likely)
    }

    /// Whether a copy that lacks the blocks of so many positions lacks most of the save: of what it lists, or of whole blocks of which
    /// no position is known.
    #[must_use]
    pub const fn lacks_most(&self, lost: u64) -> bool {
        lost > self.source / 2 || self.unplaced + self.set_aside_identical > self.source.saturating_sub(lost)
    }

    /// What to say about a backup where something is lost that it may have; `None` where nothing is, where one was given, or where
    /// the copy lacks most blocks, which the advice on it says.
    #[must_use]
    pub const fn backup_advice(&self) -> Option<&'static str> {
        let lost_parts = self.salvaged + self.instances_lost + self.pages_lost + self.files_lost;
        let lost_layers = self.layers_lost + self.depths_lost + self.values_lost;
        if self.has_backup || (self.lost > 0 && self.lacks_most(self.lost)) {
            return None;
        }
        if !self.refuses_backup && self.lost > self.lost_chunks {
            return Some("If there is a backup, `--from-backup OLD` can fill positions that lack their block.");
        }
        if !self.refuses_backup && lost_parts > 0 {
            return Some("If there is a backup, `--from-backup OLD` can supply what is missing.");
        }
        match self.lost + lost_parts + lost_layers {
            0 => None,
            _ => Some("If there is a backup, copy the files that lack blocks or layers from it."),
        }
    }

    /// Where blocks may come from that a repair cannot write.
    #[must_use]
    pub const fn backup_words(&self) -> &'static str {
        if self.refuses_backup { "copy its files from a backup" } else { "look for a backup for `--from-backup`" }
    }
}
