//! What happened to a save: findings folded into causes, each with its evidence.

use std::fmt;

use serde::Serialize;
use serde::ser::SerializeStruct;

use crate::damage::Code;
use crate::save::Save;
use crate::sqlite::BESIDE;

/// A kind of event that damages saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CauseKind {
    /// A program has the save open.
    InUse,
    /// The game was killed while it saved.
    Killed,
    /// Power was lost before the disk had everything.
    PowerLost,
    /// Two programs wrote at once.
    TwoWriters,
    /// The disk was full.
    DiskFull,
    /// The copy ends too early.
    CopyCut,
    /// Files of the save were not copied.
    CopyIncomplete,
    /// The game has not saved a block yet: no damage.
    NewWorld,
    /// Files have the names of others, or names that the game does not look for.
    Renamed,
    /// A program converted line breaks or the encoding of a binary file, as if it were text.
    TextConverted,
    /// Files of different saves or times were mixed.
    Mixed,
    /// The engine was interrupted while it migrated region files to a newer version.
    Migration,
    /// The engine was interrupted while it converted the save to other settings.
    Conversion,
    /// The engine converted the save to other settings and kept the old one.
    Converted,
    /// Blocks of two slot formulas are in one file.
    OldSlots,
    /// Blocks of version 4 are in the slots of the old formula.
    OldFormula,
    /// The keys of a stream are those of an engine of 2021.
    OldKeys,
    /// Something other than the game changed entries of a table, or a table has those of another file.
    TableChanged,
    /// Storage or transfer changed bytes.
    Storage,
    /// Another program, or another engine, wrote parts of the save.
    Foreign,
    /// The engine refuses to save with the settings.
    Settings,
    /// The bytes behind the last block are old states, as the engine leaves them: no damage.
    OldStates,
    /// An option that was given does not fit the save: no damage.
    OptionMisfit,
    /// The meta file describes another layout than its files have.
    MetaMisfit,
    /// A region file was copied over another one, or to a second name.
    Copied,
}

impl CauseKind {
    /// Every kind.
    pub const ALL: &'static [Self] = &[
        Self::InUse,
        Self::Killed,
        Self::PowerLost,
        Self::TwoWriters,
        Self::DiskFull,
        Self::CopyCut,
        Self::CopyIncomplete,
        Self::NewWorld,
        Self::Renamed,
        Self::TextConverted,
        Self::Mixed,
        Self::Migration,
        Self::Conversion,
        Self::Converted,
        Self::OldSlots,
        Self::OldFormula,
        Self::OldKeys,
        Self::TableChanged,
        Self::Storage,
        Self::Foreign,
        Self::Settings,
        Self::OldStates,
        Self::OptionMisfit,
        Self::MetaMisfit,
        Self::Copied,
    ];

    /// The stable name, as in `--format jsonl`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InUse => "in-use",
            Self::Killed => "killed-while-saving",
            Self::PowerLost => "power-lost",
            Self::TwoWriters => "two-writers",
            Self::DiskFull => "disk-full",
            Self::CopyCut => "copy-cut",
            Self::CopyIncomplete => "copy-incomplete",
            Self::NewWorld => "new-world",
            Self::Renamed => "files-renamed",
            Self::TextConverted => "text-converted",
            Self::Mixed => "files-mixed",
            Self::Migration => "migration-interrupted",
            Self::Conversion => "conversion-interrupted",
            Self::Converted => "converted",
            Self::OldSlots => "slots-mixed",
            Self::OldFormula => "old-slots",
            Self::OldKeys => "old-keys",
            Self::TableChanged => "table-changed",
            Self::Storage => "storage-damaged",
            Self::Foreign => "foreign-data",
            Self::Settings => "settings-refused",
            Self::OldStates => "old-states",
            Self::OptionMisfit => "option-misfit",
            Self::MetaMisfit => "meta-misfit",
            Self::Copied => "file-copied",
        }
    }

    /// What happened, as a sentence without its full stop.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::InUse => "A program has the save open",
            Self::Killed => "The game was killed while it saved",
            Self::PowerLost => "The power was lost while data was not yet on the disk",
            Self::TwoWriters => "Two programs wrote to the save at once",
            Self::DiskFull => "The disk was full while the game saved",
            Self::CopyCut => "The copy of the save was cut off",
            Self::CopyIncomplete => "The copy of the save is incomplete",
            Self::NewWorld => "The world is new and has no block yet",
            Self::Renamed => "Files of the save have other names than the game gave them",
            Self::TextConverted => "A program converted a binary file as if it were text",
            Self::Mixed => "Files of different saves or times were mixed",
            Self::Migration => "The engine was interrupted while it migrated region files to a newer version",
            Self::Conversion => "The engine was interrupted while it converted the save to other settings",
            Self::Converted => "The engine converted the save to other settings and kept the old one",
            Self::OldKeys => "An old engine, of 2021-01-28 to 2021-10-04, wrote the keys of the stream",
            Self::OldFormula => {
                "An engine before March 2024 placed the blocks with negative coordinates, which engines of today read one slot away"
            }
            Self::OldSlots => "Engines with different slot formulas wrote the save",
            Self::TableChanged => {
                "Something other than the game changed the table of a region file or the keys of a stream"
            }
            Self::Storage => "Storage or a transfer changed bytes of the save",
            Self::Foreign => "Another program or engine wrote parts of the save",
            Self::Settings => "The engine refuses to save blocks with the settings of the save",
            Self::OldStates => "The blocks behind the last listed one are old states, which the engine leaves there",
            Self::OptionMisfit => "An option that was given does not fit the save",
            Self::MetaMisfit => "The meta file describes another layout than the files have",
            Self::Copied => "A region file was copied over another one or to a second name",
        }
    }

    /// What is lost by it, as a clause.
    #[must_use]
    pub const fn lost(self) -> &'static str {
        match self {
            Self::InUse
            | Self::NewWorld
            | Self::Renamed
            | Self::Converted
            | Self::OldStates
            | Self::OldFormula
            | Self::OldKeys
            | Self::OptionMisfit
            | Self::MetaMisfit => "nothing",
            Self::Killed => "the block that was being written, and saves that had not reached the file",
            Self::PowerLost => "pages of the file that had not reached the disk",
            Self::TwoWriters => "blocks of one program that the other overwrote",
            Self::DiskFull => "blocks that the full disk did not take",
            Self::CopyCut => "everything behind the end of the copy",
            Self::CopyIncomplete => "nothing, as long as the original has the missing files",
            Self::TextConverted => "nothing where each change can be undone; otherwise the blocks in which one cannot",
            Self::Mixed => "blocks of which only another file had the newest state",
            Self::Migration | Self::Conversion => "nothing that the old file or save still has",
            Self::OldSlots => "nothing; some blocks are one slot away from their position",
            Self::TableChanged => "no block, but the table no longer shows the positions of some",
            Self::Storage => "the blocks whose bytes changed",
            Self::Foreign => "nothing that the program that wrote it can read",
            Self::Settings => "blocks that the engine could not save",
            Self::Copied => "the blocks of the file that another one was copied over",
        }
    }

    /// What can come back, as a clause.
    #[must_use]
    pub const fn comes_back(self) -> &'static str {
        match self {
            Self::InUse => "everything: close the program, copy the save, check the copy",
            Self::Killed => "whole blocks, to the positions that order, seams and LODs prove",
            Self::PowerLost => "whole blocks; older states of the others from a backup",
            Self::TwoWriters => "blocks whose position is certain; the others are kept in lost+found",
            Self::DiskFull => "blocks before the end of the file, and whole channels of the last one",
            Self::CopyCut => "everything, from the original: copy it again",
            Self::TextConverted => {
                "every block whose bytes can be restored; everything from the original, copied as binary"
            }
            Self::CopyIncomplete => "everything, from the original: copy the missing files",
            Self::Renamed => "every block, in files with the right names",
            Self::Mixed => "everything, from a backup of one time",
            Self::Migration => "every whole block",
            Self::Conversion => "everything, from the old save beside this one: repair --from-backup",
            Self::OldSlots => "every block, with --slots",
            Self::OldFormula => "every block, in the slots of the new formula",
            Self::OldKeys => "every block, under the keys of today",
            Self::TableChanged => {
                "blocks whose position their borders or another table of the save show; all of them with a backup"
            }
            Self::Storage => "whole channels; everything from a backup",
            Self::Foreign => "what the format allows; the rest stays in lost+found",
            Self::Settings => "every block that a file has, with a sector size that the engine accepts",
            Self::Converted | Self::NewWorld | Self::OldStates => "nothing has to",
            Self::OptionMisfit => "everything: leave the option out, or give it the value of the save",
            Self::MetaMisfit => "everything, by the layout that the files have",
            Self::Copied => "the blocks of the file that was there before, from a backup",
        }
    }

    /// What to do first, as commands on the save `SAVE`, the copy `NEW` and the backup `OLD`.
    #[must_use]
    pub const fn next(self) -> &'static str {
        match self {
            Self::InUse => Code::FileChanged.next(),
            Self::Killed | Self::PowerLost | Self::TwoWriters | Self::TableChanged => Code::BlockMisplaced.next(),
            Self::DiskFull => {
                "Make room on the disk and copy the save before the game runs again, then run `voxscope repair SAVE --out NEW`. Add `--from-backup OLD` for the blocks that the disk did not take."
            }
            Self::CopyCut => Code::CopyCut.next(),
            Self::CopyIncomplete => {
                "Copy the missing files from the original, then run `voxscope check SAVE`. From a backup, `voxscope repair SAVE --out NEW --from-backup OLD` takes them."
            }
            Self::TextConverted => {
                "Copy the save again from the original, as binary. Where there is none, run `voxscope repair SAVE --out NEW`: it undoes the changes that it can."
            }
            Self::Mixed => {
                "Restore all files of the save from one backup. Where there is none, move foreign files out of the save, then run `voxscope repair SAVE --out NEW`."
            }
            Self::Renamed | Self::Foreign => {
                "Run `voxscope check SAVE --all`: each finding says what is expected. `voxscope repair SAVE --out NEW` gives files and blocks the places that their bytes show, and keeps the others in lost+found."
            }
            Self::Migration => {
                "Copy the save before an engine opens it again, then run `voxscope repair SAVE --out NEW`: it has every whole block."
            }
            Self::Storage => {
                "Copy the save from a backup if there is one. Otherwise run `voxscope repair SAVE --out NEW`; add `--from-backup OLD` for single blocks, and check the disk."
            }
            Self::Conversion | Self::Converted => Code::ConversionLeft.next(),
            Self::OldSlots => Code::SlotsMixed.next(),
            Self::OldFormula => Code::SlotsTold.next(),
            Self::OldKeys => Code::StreamKeyRule.next(),
            Self::Settings => Code::RegionRefused.next(),
            Self::Copied => Code::RegionCopied.next(),
            Self::NewWorld | Self::OldStates => "Nothing. If blocks are missing, look for a backup.",
            Self::OptionMisfit => "Run `voxscope check SAVE` without the option, or with the value of the save.",
            Self::MetaMisfit => {
                "Restore the meta file from a backup, or give the options that `voxscope check SAVE` names to every command. `voxscope repair SAVE --out NEW` repairs nothing without them."
            }
        }
    }

    /// What distinguishes it from another cause with the same evidence.
    #[must_use]
    pub const fn tell_apart(self) -> &'static str {
        match self {
            Self::InUse => "the files change between two checks",
            Self::Killed => "the game or the system ended without its usual save",
            Self::PowerLost => "the machine was switched off or restarted without a shutdown",
            Self::TwoWriters => "an editor, a server or a second game had the same save open",
            Self::DiskFull => "the game's log has write errors, and the disk has little room left",
            Self::CopyCut => "the original is longer than this file",
            Self::CopyIncomplete => "the original has more files than this copy",
            Self::NewWorld => "nobody has played in the world yet",
            Self::Renamed => "files were renamed or exchanged by hand, or by a program that restored them",
            Self::TextConverted => "the copy was made by FTP in text mode, by git, or by an editor",
            Self::Mixed => "the files have dates of different sessions",
            Self::Migration => "the save was opened by a newer engine for the first time",
            Self::Conversion => "the settings of the stream were changed, and blocks are missing since",
            Self::Converted => "no block is missing",
            Self::OldFormula => "the save was written before March 2024",
            Self::OldKeys => "the save was written between 2021-01-28 and 2021-10-04",
            Self::OldSlots => "the save was written by engines before and after March 2024",
            Self::TableChanged => "no game was saving when it happened: a tool, a disk or a transfer changed the file",
            Self::Storage => "only a few bytes differ from a backup, and the system log has disk errors",
            Self::Foreign => "an editor, a script or an engine of another version wrote the save",
            Self::Settings => "the game's log has errors about the sector size or the region size",
            Self::OldStates => "the game ended as usual after its last save",
            Self::OptionMisfit => "nothing is found without the option",
            Self::MetaMisfit => "blocks can be read by another layout than that of the meta file",
            Self::Copied => "files were copied by hand, or by a program that restored them",
        }
    }
}

impl fmt::Display for CauseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for CauseKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Whether a file is that of a save, both by their printable paths: the save itself, in it, or beside a database.
#[must_use]
pub fn is_of(file: &str, save: &str) -> bool {
    file.strip_prefix(save)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']) || BESIDE.contains(&rest))
}

/// The saves of a directory, by their printable paths, sorted; none if the path is one save.
#[must_use]
pub fn saves_of(save: &Save) -> Vec<String> {
    let forests = save.forests.iter().map(|forest| &forest.dir);
    let paks = save.pak_dirs.iter().map(|pak_dir| &pak_dir.dir);
    let dirs = forests.chain(paks).chain(save.maps.iter().map(|map| &map.dir));
    let streams = save.streams.iter().map(|stream| &stream.path);
    let mut all: Vec<String> = dirs.chain(streams).map(|path| save.shown(path)).collect();
    all.sort();
    all.dedup();
    if all.len() < 2 {
        all.clear();
    }
    all
}

/// What happened to a save, inferred from findings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cause {
    /// The printable path of the save that it happened to, in a directory of several; `None` for one save, and for what
    /// is in none of them.
    pub save: Option<String>,
    /// What happened.
    pub kind: CauseKind,
    /// What shows it, each a clause with its numbers.
    pub evidence: Vec<String>,
    /// Blocks that it concerns, as far as findings name blocks.
    pub blocks: u64,
    /// Other causes that fit the same evidence.
    pub alternatives: Vec<CauseKind>,
    /// Whether it stands for all damage that no rule explains.
    pub(super) covers_rest: bool,
    /// The code whose advice says what to do where a repair mends nothing.
    pub(super) step: Option<Code>,
}

/// What to do where neither a cause nor a repair says it: the advice for a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStep {
    /// The advice, with placeholders.
    pub(super) advice: &'static str,
    /// The path below a directory of several saves of the one that the finding is in.
    pub(super) save: Option<String>,
    /// LOD and position of the first block with such a finding; `None` for findings about files.
    pub(super) block: Option<(u8, [i32; 3])>,
}

impl Cause {
    pub(super) fn new(kind: CauseKind, blocks: u64, evidence: Vec<String>, alternatives: &[CauseKind]) -> Self {
        Self { save: None, kind, evidence, blocks, alternatives: alternatives.to_vec(), covers_rest: false, step: None }
    }

    /// The same with the code whose advice says what to do where a repair mends nothing.
    pub(super) fn with_step(self, step: Option<Code>) -> Self {
        Self { step, ..self }
    }

    /// Whether it may explain a finding of a file.
    #[must_use]
    pub fn explains(&self, file: &str, code: Code) -> bool {
        let is_rest = || self.covers_rest && CauseKind::is_rest(code);
        (self.kind.explains(code) || is_rest()) && self.save.as_deref().is_none_or(|save| is_of(file, save))
    }

    /// What happened, as a sentence without its full stop, with the save that it happened to; causes that fit as well are
    /// named.
    #[must_use]
    pub fn sentence_with_save(&self) -> String {
        match &self.save {
            Some(save) => format!("{save}: {}", self.sentence()),
            None => self.sentence(),
        }
    }

    /// What happened, as a sentence without its full stop; causes that fit as well are named.
    #[must_use]
    pub fn sentence(&self) -> String {
        let mut text = self.kind.sentence().to_owned();
        for other in &self.alternatives {
            let mut other = other.sentence().to_owned();
            if let Some(first) = other.get_mut(..1) {
                first.make_ascii_lowercase();
            }
            text.push_str(", or ");
            text.push_str(&other);
        }
        text
    }

    /// What distinguishes the causes that fit, as a sentence without its full stop; `None` when there is one only.
    #[must_use]
    pub fn tell_apart(&self) -> Option<String> {
        let all = std::iter::once(&self.kind).chain(&self.alternatives);
        let each = all.map(|kind| format!("{} if {}", kind.name(), kind.tell_apart()));
        (!self.alternatives.is_empty()).then(|| format!("To tell which: {}", each.collect::<Vec<_>>().join("; ")))
    }
}

/// The form of `--format jsonl`; see OUTPUT.md.
impl Serialize for Cause {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut s = serializer.serialize_struct("cause", 10)?;
        s.serialize_field("type", "cause")?;
        s.serialize_field("save", &self.save)?;
        s.serialize_field("cause", &self.kind)?;
        s.serialize_field("message", &self.sentence())?;
        s.serialize_field("evidence", &self.evidence)?;
        s.serialize_field("blocks", &self.blocks)?;
        s.serialize_field("lost", self.kind.lost())?;
        s.serialize_field("comes_back", self.kind.comes_back())?;
        s.serialize_field("alternatives", &self.alternatives)?;
        s.serialize_field("tell_apart", &self.tell_apart())?;
        s.end()
    }
}
