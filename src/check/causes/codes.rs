//! The codes that are evidence of each cause.

use crate::check::cause::CauseKind;
use crate::check::causes::start::{BARE, UNREAD_TEXT};
use crate::damage::{Code, Level};

/// Codes that an interrupted save causes.
pub(super) const WRITING: [Code; 15] = [
    Code::BlockMisplaced,
    Code::BlockMoved,
    Code::BlockHalfMoved,
    Code::BlockOrphan,
    Code::BlockOwnerless,
    Code::BlockTorn,
    Code::BlockZeroed,
    Code::PageZeroed,
    Code::BlockDoubled,
    Code::BlockUnlisted,
    Code::TableEmpty,
    Code::TableGap,
    Code::TableOverlap,
    Code::PlaceDoubt,
    Code::StreamJournal,
];

impl CauseKind {
    /// Whether findings with a code are evidence of it, or follow from it.
    #[must_use]
    pub fn explains(self, code: Code) -> bool {
        match self {
            Self::InUse => matches!(code, Code::FileChanged | Code::StreamWal),
            Self::TextConverted => TEXT.contains(&code) || UNREADABLE.contains(&code) || code == Code::MapUnreadable,
            Self::CopyIncomplete => {
                const MISSING: [Code; 7] = [
                    Code::BlockFilesMeta,
                    Code::MetaMissing,
                    Code::MapFileMissing,
                    Code::RegionFormatUnknown,
                    Code::RegionMissing,
                    Code::ForestEmpty,
                    Code::LodGap,
                ];
                MISSING.contains(&code)
            }
            Self::NewWorld => code == Code::ForestEmpty,
            Self::Renamed => RENAMED.contains(&code),
            Self::Copied => matches!(code, Code::RegionCopied | Code::PakCopied),
            Self::CopyCut | Self::DiskFull => {
                let is_of_file = matches!(code, Code::RegionNeverStored | Code::BlockPrefix);
                CUT.contains(&code) || PAGES.contains(&code) || is_of_file
            }
            Self::Mixed => META.contains(&code),
            Self::Migration => {
                let is_of_block = UNREADABLE.contains(&code) || code == Code::ContainerEmpty;
                WRITING.contains(&code) || COUNTS.contains(&code) || is_of_block
            }
            Self::Killed | Self::PowerLost => {
                WRITING.contains(&code)
                    || COUNTS.contains(&code)
                    || BARE.contains(&code)
                    || UNREAD_TEXT.contains(&code)
                    || code == Code::SectorCut
                    || (self == Self::PowerLost && PAGES.contains(&code))
            }
            Self::TwoWriters => WRITING.contains(&code) || COUNTS.contains(&code),
            Self::TableChanged => {
                WRITING.contains(&code)
                    || COUNTS.contains(&code)
                    || matches!(code, Code::TableBeyondEnd | Code::TableForeign | Code::StreamMisplaced)
            }
            Self::Conversion | Self::Converted => code == Code::ConversionLeft,
            Self::OldFormula => matches!(code, Code::SlotsTold | Code::SlotsOld),
            Self::OldSlots => code == Code::SlotsMixed,
            Self::Storage => UNREADABLE.contains(&code) || HEADER.contains(&code) || SHIFTED.contains(&code),
            Self::Foreign => FOREIGN.contains(&code) || META.contains(&code) || code == Code::RegionRefused,
            Self::Settings => SETTINGS.contains(&code),
            Self::OldKeys => code == Code::StreamKeyRule,
            Self::OldStates => code == Code::BlockUnlisted,
            // By a wrong option, anything may be found.
            Self::OptionMisfit | Self::MetaMisfit => {
                (code.level() > Level::Note && !code.is_failure()) || code == Code::SlotsOld
            }
        }
    }

    /// Whether it changes no byte within a file, so that damaged bytes need another cause.
    pub(super) const fn leaves_bytes(self) -> bool {
        matches!(
            self,
            Self::CopyIncomplete
                | Self::NewWorld
                | Self::Renamed
                | Self::Copied
                | Self::Mixed
                | Self::Settings
                | Self::Conversion
                | Self::Converted
                | Self::OldSlots
                | Self::OldFormula
                | Self::OldKeys
        )
    }

    /// Whether findings with a code show that bytes were changed, or that another program wrote them, if no rule names
    /// another cause.
    pub(in crate::check) fn is_rest(code: Code) -> bool {
        FOREIGN.contains(&code)
            || (code.level() > Level::Note && !UNCHANGED.contains(&code) && !RENAMED.contains(&code))
    }
}

/// Codes of entries whose sector count is that of another block, because their own block was moved or replaced.
const COUNTS: [Code; 2] = [Code::TableCount, Code::TableCountZero];

/// Codes of databases of which pages were lost.
const PAGES: [Code; 3] = [Code::StreamNotDatabase, Code::StreamPage, Code::StreamRowLost];

/// Codes of files that have the names of others, or names that the game does not look for.
pub(super) const RENAMED: [Code; 7] = [
    Code::BlockFileName,
    Code::CopyName,
    Code::NameRegion,
    Code::PakDuplicate,
    Code::PakName,
    Code::PakPlace,
    Code::RegionMisnamed,
];

/// Codes above note that do not show changed bytes: something is missing, unknown here, or disagrees with another part of the
/// save.
const UNCHANGED: [Code; 26] = [
    Code::InstancesTwice,
    Code::LinkSkipped,
    Code::MapBeyondDim,
    Code::MapBlockCount,
    Code::MapBlockSize,
    Code::MapDtype,
    Code::MapField,
    Code::MapFileMissing,
    Code::MapFileName,
    Code::MapFlagUnknown,
    Code::MapFormat,
    Code::MapIndexRange,
    Code::MapIndexTwice,
    Code::MapShape,
    Code::MapWaterDepth,
    Code::MetaField,
    Code::MetaMissing,
    Code::NotAFile,
    Code::NpyDtype,
    Code::NpyShape,
    Code::NpyVersion,
    Code::OverLimit,
    Code::PakCopied,
    Code::RegionCopied,
    Code::RegionFormatUnknown,
    Code::StreamMetaMissing,
];

/// Codes of meta files that differ from the region files.
pub(super) const META: [Code; 3] = [Code::MetaDiffers, Code::MetaField, Code::MetaLods];

/// Codes of settings with which the engine does not save.
pub(super) const SETTINGS: [Code; 3] = [Code::RegionNeverStored, Code::RegionSectorSize, Code::RegionRefused];

/// Codes of data that another program or engine writes.
pub(super) const FOREIGN: [Code; 9] = [
    Code::BlockByteOrder,
    Code::BlockDepth,
    Code::BlockVersion,
    Code::ContainerByteOrder,
    Code::MetaVersion,
    Code::PakShape,
    Code::PakVersion,
    Code::RegionVersion,
    Code::RegionVoxedit,
];

/// Codes that a table which fits its sectors does not have, whatever blocks its entries lead to.
pub(super) const MISFIT: [Code; 13] = [
    Code::BlockMoved,
    Code::BlockHalfMoved,
    Code::BlockOrphan,
    Code::BlockOwnerless,
    Code::BlockTorn,
    Code::BlockZeroed,
    Code::BlockDoubled,
    Code::BlockUnlisted,
    Code::TableGap,
    Code::TableOverlap,
    Code::TableBeyondEnd,
    Code::TableEmpty,
    Code::StaleTail,
];

/// Codes of files that end too early.
pub(super) const CUT: [Code; 11] = [
    Code::CopyCut,
    Code::TableBeyondEnd,
    Code::RegionHeaderCut,
    Code::RegionTableCut,
    Code::BlockPrefixCut,
    Code::StreamCut,
    Code::PakBeyondEnd,
    Code::PakRecordsCut,
    Code::NpyTruncated,
    Code::NpyCut,
    Code::PakHeaderCut,
];

/// Codes of files that a copy converted as text.
pub(super) const TEXT: [Code; 3] = [Code::CopyCrlf, Code::CopyLf, Code::CopyEncoding];

/// Codes of bytes that were inserted or cut out.
pub(super) const SHIFTED: [Code; 3] = [Code::PakShifted, Code::RegionShifted, Code::StreamShifted];

/// Codes of damaged bytes in the header of a region file.
pub(super) const HEADER: [Code; 6] = [
    Code::RegionBlockSize,
    Code::RegionDepth,
    Code::RegionLayout,
    Code::RegionPalette,
    Code::RegionSectorSize,
    Code::RegionSize,
];

/// Codes that converted line breaks cause.
pub(super) const UNREADABLE: [Code; 9] = [
    Code::ContainerCorrupt,
    Code::ContainerMode,
    Code::ContainerDeclared,
    Code::BlockPrefix,
    Code::NpyMagic,
    Code::NpyHeader,
    Code::StreamPage,
    Code::PakZlib,
    Code::RegionNotRegion,
];
