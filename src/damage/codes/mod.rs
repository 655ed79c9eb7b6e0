//! The table of codes: name, level, title, and the texts that `voxscope explain CODE` prints.

mod block;
mod map;
mod metadata;
mod pak;
mod region;
mod save;
mod stream;

use super::Level;
use super::code::codes;
use super::text::Text;

codes! {
    // Files and names.
    FileUnreadable = "file-unreadable", Error, "the file cannot be read", save::FILE_UNREADABLE;
    FileChanged = "file-changed", Error, "the file changed while it was read", save::FILE_CHANGED;
    NotAFile = "not-a-file", Error, "not a regular file", save::NOT_A_FILE;
    LinkSkipped = "link-skipped", Warning, "a symbolic link that is not followed", save::LINK_SKIPPED;
    NameRegion = "name-region", Warning, "a name that the game does not look for", save::NAME_REGION;
    NameForeign = "name-foreign", Note, "a file that does not belong to the format", save::NAME_FOREIGN;
    CopyCrlf = "copy-crlf", Error, "line ends rewritten by a copy", save::COPY_CRLF;
    CopyLf = "copy-lf", Error, "carriage returns removed by a copy", save::COPY_LF;
    CopyEncoding = "copy-encoding", Error, "bytes turned into UTF-8 by a copy", save::COPY_ENCODING;
    CopyCut = "copy-cut", Error, "a copy that broke off", save::COPY_CUT;
    PageZeroed = "page-zeroed", Error, "pages of zeros in place of data", save::PAGE_ZEROED;
    CopyName = "copy-name", Error, "a name changed by a copy", save::COPY_NAME;
    OverLimit = "over-limit", Error, "a limit of voxscope is exceeded", save::OVER_LIMIT;
    FindingsCut = "findings-cut", Note, "more findings than are listed for one file", save::FINDINGS_CUT;

    // The meta file of a forest.
    MetaMissing = "meta-missing", Error, "the meta file is missing", save::META_MISSING;
    MetaUnreadable = "meta-unreadable", Error, "the meta file is not readable JSON", save::META_UNREADABLE;
    MetaVersion = "meta-version", Error, "unknown version of the meta file", save::META_VERSION;
    MetaField = "meta-field", Error, "a field of the meta file is missing or not valid", save::META_FIELD;
    MetaExtra = "meta-extra", Note, "an unknown field of the meta file", save::META_EXTRA;
    MetaDiffers = "meta-differs", Warning, "the meta file and a region file disagree", save::META_DIFFERS;
    MetaLods = "meta-lods", Warning, "a LOD beyond those of the meta file", save::META_LODS;
    LodMissing = "lod-missing", Note, "a LOD of the meta file without a region file", save::LOD_MISSING;
    BlockFilesRemoved = "block-files-removed", Note, "a save of block files, which the engine no longer reads", save::BLOCK_FILES_REMOVED;
    BlockFilesMeta = "block-files-meta", Error, "the meta file of a save of block files is missing or not valid", save::BLOCK_FILES_META;
    BlockFileName = "block-file-name", Warning, "a block file whose name is no position", save::BLOCK_FILE_NAME;
    BlockFileHeader = "block-file-header", Error, "a block file without a valid header", save::BLOCK_FILE_HEADER;
    BlockFileTrailing = "block-file-trailing", Warning, "bytes after the block in its file", save::BLOCK_FILE_TRAILING;
    ForestEmpty = "forest-empty", Warning, "a forest without a block", save::FOREST_EMPTY;
    LodGap = "lod-gap", Warning, "a LOD without a region file below one that has blocks", save::LOD_GAP;
    LayoutPort = "layout-port", Note, "region files where the Rust port has them", save::LAYOUT_PORT;
    ConversionLeft = "conversion-left", Note, "the save as it was before a conversion is still there", save::CONVERSION_LEFT;

    // The header of a region file.
    RegionMisnamed = "region-misnamed", Error, "a region file with the name of another", region::MISNAMED;
    RegionCopied = "region-copied", Warning, "a region file with the blocks of another", region::COPIED;
    RegionMissing = "region-missing", Warning, "a region file that is missing", region::MISSING;
    RegionEmpty = "region-empty", Error, "an empty file", region::EMPTY;
    RegionNotRegion = "region-not-region", Error, "not a region file", region::NOT_REGION;
    RegionVoxedit = "region-voxedit", Error, "a file of another program", region::VOXEDIT;
    RegionVersion = "region-version", Error, "unknown version of the region file", region::VERSION;
    RegionHeaderCut = "region-header-cut", Error, "the header is cut short", region::HEADER_CUT;
    RegionNeverStored = "region-never-stored", Warning, "a header and nothing else", region::NEVER_STORED;
    RegionRefused = "region-refused", Warning, "settings that the engine refuses", region::REFUSED;
    RegionBlockSize = "region-block-size", Error, "a block size out of range", region::BLOCK_SIZE;
    RegionSize = "region-size", Error, "a region size out of range", region::SIZE;
    RegionSectorSize = "region-sector-size", Error, "a sector size of zero", region::SECTOR_SIZE;
    RegionDepth = "region-depth", Error, "a channel depth out of range", region::DEPTH;
    RegionLayout = "region-layout", Error, "a header that its blocks contradict", region::LAYOUT;
    RegionShifted = "region-shifted", Error, "bytes inserted into a region file or cut out of it", region::SHIFTED;
    RegionPalette = "region-palette", Error, "an invalid palette byte", region::PALETTE;
    RegionFormatUnknown = "region-format-unknown", Error, "the layout of the region is unknown", region::FORMAT_UNKNOWN;
    RegionTableCut = "region-table-cut", Error, "the table of blocks is cut short", region::TABLE_CUT;

    // The table of blocks.
    TableEmpty = "table-empty", Error, "an empty table followed by blocks", region::TABLE_EMPTY;
    TableCountZero = "table-count-zero", Error, "a table entry with no sectors", region::TABLE_COUNT_ZERO;
    TableBeyondEnd = "table-beyond-end", Error, "a block beyond the end of the file", region::TABLE_BEYOND_END;
    SectorCut = "sector-cut", Warning, "a last sector that is cut short", region::SECTOR_CUT;
    TableOverlap = "table-overlap", Error, "two blocks claim the same sectors", region::TABLE_OVERLAP;
    TableCount = "table-count", Warning, "a sector count that does not match the block's size", region::TABLE_COUNT;
    TableForeign = "table-foreign", Error, "the table of another region", region::TABLE_FOREIGN;
    TableGap = "table-gap", Error, "a gap because of which the next save overwrites a block", region::TABLE_GAP;

    // The size prefix and the sectors of a block.
    BlockPrefixCut = "block-prefix-cut", Error, "the block's size prefix is cut short", block::PREFIX_CUT;
    BlockPrefix = "block-prefix", Error, "a size prefix that runs past the block's sectors", block::PREFIX;
    BlockZeroed = "block-zeroed", Error, "a block of zero bytes", block::ZEROED;
    StaleTail = "stale-tail", Note, "old bytes after the last block", block::STALE_TAIL;
    BlockUnlisted = "block-unlisted", Note, "an unowned block after the last one of the table", block::UNLISTED;
    BlockOrphan = "block-orphan", Warning, "an unowned block", block::ORPHAN;
    BlockMisplaced = "block-misplaced", Error, "a block of another position", block::MISPLACED;
    BlockMoved = "block-moved", Warning, "a block at another sector than the table gives", block::MOVED;
    BlockTorn = "block-torn", Error, "a block that was being written when the game was killed", block::TORN;
    BlockHalfMoved = "block-half-moved", Error, "a block of which only a part was moved", block::HALF_MOVED;
    BlockDoubled = "block-doubled", Warning, "a block that is stored twice", block::DOUBLED;
    BlockOwnerless = "block-ownerless", Warning, "an unowned block that the order of the blocks does not place", block::OWNERLESS;
    PlaceDoubt = "place-doubt", Warning, "a block whose position is in doubt", block::PLACE_DOUBT;

    // The compressed container.
    ContainerEmpty = "container-empty", Error, "an empty container", block::CONTAINER_EMPTY;
    ContainerMode = "container-mode", Error, "an unknown kind of compression", block::CONTAINER_MODE;
    ContainerCut = "container-cut", Error, "the container's header is cut short", block::CONTAINER_CUT;
    ContainerDeclared = "container-declared", Error, "a declared size that the compressed data cannot reach", block::CONTAINER_DECLARED;
    ContainerCorrupt = "container-corrupt", Error, "compressed data that does not decode", block::CONTAINER_CORRUPT;
    ContainerLength = "container-length", Error, "data that decodes to another size than declared", block::CONTAINER_LENGTH;
    ContainerChecksum = "container-checksum", Error, "a checksum that does not match", block::CONTAINER_CHECKSUM;
    ContainerByteOrder = "container-byte-order", Error, "a declared size in the byte order that the engine does not read", block::CONTAINER_BYTE_ORDER;
    ContainerTrailing = "container-trailing", Warning, "bytes after the compressed data", block::CONTAINER_TRAILING;

    // Block data.
    BlockVersion = "block-version", Error, "an unknown version of block data", block::VERSION;
    BlockHeaderCut = "block-header-cut", Error, "the block's header is cut short", block::HEADER_CUT;
    BlockSizeZero = "block-size-zero", Error, "a block without voxels", block::SIZE_ZERO;
    BlockSize = "block-size", Error, "a block size that is not the region's", block::SIZE;
    BlockDepth = "block-depth", Warning, "a channel depth that is not the region's", block::DEPTH;
    BlockByteOrder = "block-byte-order", Error, "values in the byte order of a big-endian machine", block::BYTE_ORDER;
    ChannelStorage = "channel-storage", Error, "an unknown channel storage", block::CHANNEL_STORAGE;
    ChannelDepth = "channel-depth", Error, "an unknown channel depth in the block", block::CHANNEL_DEPTH;
    ChannelCut = "channel-cut", Error, "channel data cut short", block::CHANNEL_CUT;
    BlockEpilogue = "block-epilogue", Error, "a wrong epilogue", block::EPILOGUE;
    BlockEpilogueMissing = "block-epilogue-missing", Error, "a missing epilogue", block::EPILOGUE_MISSING;
    TexturesRepeat = "textures-repeat", Note, "a texture index that occurs twice in a voxel", block::TEXTURES_REPEAT;

    // Metadata of a block.
    MetadataCut = "metadata-cut", Error, "metadata cut short", metadata::CUT;
    MetadataSize = "metadata-size", Error, "a metadata size beyond the block", metadata::SIZE;
    MetadataType = "metadata-type", Error, "an unknown type of metadata", metadata::TYPE;
    MetadataCustom = "metadata-custom", Note, "metadata of a type that the application defines", metadata::CUSTOM;
    MetadataPort = "metadata-port", Note, "metadata of a type of the Rust port", metadata::PORT;
    MetadataPosition = "metadata-position", Error, "metadata for a voxel outside the block", metadata::POSITION;
    MetadataTrailing = "metadata-trailing", Warning, "bytes between the metadata and the epilogue", metadata::TRAILING;
    MetadataDialect = "metadata-dialect", Note, "metadata of the other engine generation", metadata::DIALECT;

    // Variants.
    VariantCut = "variant-cut", Error, "a Variant cut short", metadata::VARIANT_CUT;
    VariantType = "variant-type", Error, "an unknown type of Variant", metadata::VARIANT_TYPE;
    VariantFlags = "variant-flags", Error, "unknown flags of a Variant", metadata::VARIANT_FLAGS;
    VariantDepth = "variant-depth", Error, "a Variant nested too deeply", metadata::VARIANT_DEPTH;
    VariantText = "variant-text", Error, "text that is not UTF-8", metadata::VARIANT_TEXT;
    VariantPadding = "variant-padding", Note, "padding that is not zero", metadata::VARIANT_PADDING;

    // Negative coordinates.
    SlotsOld = "slots-old", Note, "negative blocks in the slots of the old formula", region::SLOTS_OLD;
    SlotsMixed = "slots-mixed", Warning, "block versions of both slot formulas in one region", region::SLOTS_MIXED;
    SlotsTold = "slots-told", Note, "the formula that placed negative blocks, by their seams", region::SLOTS_TOLD;

    // Pak regions.
    PakHeaderCut = "pak-header-cut", Error, "the header of the pak region is cut short", pak::HEADER_CUT;
    PakVersion = "pak-version", Warning, "unknown version of the pak region", pak::VERSION;
    PakRecordCount = "pak-record-count", Error, "a number of records out of range", pak::RECORD_COUNT;
    PakRecordsOther = "pak-records-other", Note, "a number of records of which the layout is unknown", pak::RECORDS_OTHER;
    PakSizesDiffer = "pak-sizes-differ", Note, "regions of one room with different numbers of records", pak::SIZES_DIFFER;
    PakCountLow = "pak-count-low", Error, "more records than the header counts", pak::COUNT_LOW;
    PakRecordsCut = "pak-records-cut", Error, "the records are cut short", pak::RECORDS_CUT;
    PakFirstBlock = "pak-first-block", Error, "a first block out of range", pak::FIRST_BLOCK;
    PakOffsetReading = "pak-offset-reading", Note, "a first block whose unit is not certain", pak::OFFSET_READING;
    PakRecordOffset = "pak-record-offset", Error, "a block offset out of range", pak::RECORD_OFFSET;
    PakRecordBlocks = "pak-record-blocks", Error, "a block count out of range", pak::RECORD_BLOCKS;
    PakFileLength = "pak-file-length", Error, "a length that does not fit the record's blocks", pak::FILE_LENGTH;
    PakInHeader = "pak-in-header", Error, "a chunk inside the header", pak::IN_HEADER;
    PakBeyondEnd = "pak-beyond-end", Error, "a chunk beyond the end of the file", pak::BEYOND_END;
    PakOverlap = "pak-overlap", Error, "two records claim the same blocks", pak::OVERLAP;
    PakUnlisted = "pak-unlisted", Note, "a chunk without a record", pak::UNLISTED;
    PakOrphan = "pak-orphan", Warning, "a chunk that lost its record", pak::ORPHAN;
    PakMisplaced = "pak-misplaced", Error, "a chunk of another position", pak::MISPLACED;
    PakShifted = "pak-shifted", Error, "bytes inserted into a pak region or cut out of it", pak::SHIFTED;
    PakZlib = "pak-zlib", Error, "zlib data that does not decode", pak::ZLIB;
    PakZlibCut = "pak-zlib-cut", Error, "a zlib stream that is cut short", pak::ZLIB_CUT;
    PakZlibTrailing = "pak-zlib-trailing", Warning, "bytes after the zlib stream", pak::ZLIB_TRAILING;
    PakZlibChecksum = "pak-zlib-checksum", Error, "a checksum that does not match the chunk", pak::ZLIB_CHECKSUM;
    PakShape = "pak-shape", Warning, "a length that fits no shape of a chunk", pak::SHAPE;
    PakName = "pak-name", Warning, "a name that the game does not look for", pak::NAME;
    PakPlace = "pak-place", Warning, "a position in the file name that its chunks cannot have", pak::PLACE;
    PakCopied = "pak-copied", Warning, "a pak region with the chunks of another", pak::COPIED;
    PakDuplicate = "pak-duplicate", Warning, "two files for one region", pak::DUPLICATE;

    // Instance data.
    InstancesVersion = "instances-version", Error, "unknown version of instance data", metadata::INSTANCES_VERSION;
    InstancesCut = "instances-cut", Error, "instance data cut short", metadata::INSTANCES_CUT;
    InstancesRange = "instances-range", Error, "an invalid range of positions", metadata::INSTANCES_RANGE;
    InstancesScale = "instances-scale", Error, "invalid scales of instances", metadata::INSTANCES_SCALE;
    InstancesFormat = "instances-format", Error, "an unknown format of instances", metadata::INSTANCES_FORMAT;
    InstancesTwice = "instances-twice", Warning, "two layers of instances with one id", metadata::INSTANCES_TWICE;
    InstancesEpilogue = "instances-epilogue", Error, "instance data with a wrong epilogue", metadata::INSTANCES_EPILOGUE;
    InstancesTrailing = "instances-trailing", Warning, "bytes after the instance data", metadata::INSTANCES_TRAILING;

    // SQLite streams: the file.
    StreamEmpty = "stream-empty", Error, "an empty database", stream::EMPTY;
    StreamNotDatabase = "stream-not-database", Error, "not an SQLite database", stream::NOT_DATABASE;
    StreamHeader = "stream-header", Error, "an invalid field of the database header", stream::HEADER;
    StreamShifted = "stream-shifted", Error, "bytes inserted into a database or cut out of it", stream::SHIFTED;
    StreamCut = "stream-cut", Error, "a database that is cut short", stream::CUT;
    StreamPage = "stream-page", Error, "a damaged page", stream::PAGE;
    StreamChain = "stream-chain", Error, "a broken chain of overflow pages", stream::CHAIN;
    StreamRowLost = "stream-row-lost", Error, "a row that its table no longer leads to", stream::ROW_LOST;
    StreamIndex = "stream-index", Error, "an index that does not match its table", stream::INDEX;
    StreamFreelist = "stream-freelist", Error, "a damaged list of free pages", stream::FREELIST;
    StreamUnused = "stream-unused", Warning, "pages that nothing points to", stream::UNUSED;
    StreamJournal = "stream-journal", Warning, "an interrupted save with its journal", stream::JOURNAL;
    StreamJournalUnusable = "stream-journal-unusable", Warning, "a journal that cannot be used", stream::JOURNAL_UNUSABLE;
    StreamWal = "stream-wal", Note, "a write-ahead log next to the database", stream::WAL;

    // SQLite streams: what is in it.
    StreamTable = "stream-table", Error, "a table that a stream needs is missing or different", stream::TABLE;
    StreamForeign = "stream-foreign", Note, "a table, index or column that is not part of a stream", stream::FOREIGN;
    StreamMetaMissing = "stream-meta-missing", Error, "the row of settings is missing", stream::META_MISSING;
    StreamMetaTwice = "stream-meta-twice", Error, "more than one row of settings", stream::META_TWICE;
    StreamMetaField = "stream-meta-field", Error, "an invalid setting", stream::META_FIELD;
    StreamKey = "stream-key", Error, "a key that is not a position", stream::KEY;
    StreamKeyRule = "stream-key-rule", Error, "keys above LOD 0 by the rule of 2021", stream::KEY_RULE;
    StreamKeyMixed = "stream-key-mixed", Note, "keys above LOD 0 of two rules", stream::KEY_MIXED;
    StreamKeyTwice = "stream-key-twice", Error, "two rows for one position", stream::KEY_TWICE;
    StreamMisplaced = "stream-misplaced", Error, "a row with the key of another block", stream::MISPLACED;
    StreamValue = "stream-value", Error, "a value of the wrong type", stream::VALUE;
    StreamNoVoxels = "stream-no-voxels", Note, "a stream without voxels", stream::NO_VOXELS;
    StreamRowEmpty = "stream-row-empty", Note, "a row with neither voxels nor instances", stream::ROW_EMPTY;

    // Voxel maps.
    MapUnreadable = "map-unreadable", Error, "the map's description is not readable JSON", map::UNREADABLE;
    MapField = "map-field", Error, "a field of the map's description is missing or not valid", map::FIELD;
    MapFormat = "map-format", Error, "an unknown layer format", map::FORMAT;
    MapExtra = "map-extra", Note, "unknown fields of the map's description", map::EXTRA;
    MapLayerName = "map-layer-name", Note, "layers of the same name", map::LAYER_NAME;
    MapFileName = "map-file-name", Error, "a file name that is not plain", map::FILE_NAME;
    MapFileMissing = "map-file-missing", Error, "a file of the map is missing", map::FILE_MISSING;
    MapDtype = "map-dtype", Error, "an array of the wrong number type", map::DTYPE;
    MapDtypeOther = "map-dtype-other", Note, "an array of a number type that the exporter does not write, or writes in other layers", map::DTYPE_OTHER;
    MapShape = "map-shape", Error, "an array whose shape does not match the layer", map::SHAPE;
    MapBlockSize = "map-block-size", Warning, "an invalid block size of a layer", map::BLOCK_SIZE;
    MapBlockCount = "map-block-count", Error, "counts of blocks that disagree", map::BLOCK_COUNT;
    MapIndexTwice = "map-index-twice", Error, "two blocks at the same position", map::INDEX_TWICE;
    MapIndexRange = "map-index-range", Error, "a block outside the layer", map::INDEX_RANGE;
    MapBeyondDim = "map-beyond-dim", Warning, "voxels set beyond the layer's extent", map::BEYOND_DIM;
    MapFlagUnknown = "map-flag-unknown", Warning, "unknown flags", map::FLAG_UNKNOWN;
    MapFlagDry = "map-flag-dry", Note, "structures without water", map::FLAG_DRY;
    MapWaterDepth = "map-water-depth", Warning, "water without a depth", map::WATER_DEPTH;
    MapPackedDepth = "map-packed-depth", Note, "depths in the upper half of the voxels", map::PACKED_DEPTH;
    MapNoDepth = "map-no-depth", Note, "sparse blocks without a depth map", map::NO_DEPTH;
    MapLayerType = "map-layer-type", Note, "a layer of another type than its place in the description", map::LAYER_TYPE;
    MapName = "map-name", Note, "names that contradict the map's id or scene", map::NAME;
    MapFileUnnamed = "map-file-unnamed", Note, "an array that no layer names", map::FILE_UNNAMED;
    MapLayerOutside = "map-layer-outside", Note, "a layer that reaches beyond the global one", map::LAYER_OUTSIDE;
    MapLayerDisagrees = "map-layer-disagrees", Note, "a layer that disagrees with the global one", map::LAYER_DISAGREES;
    NpyCut = "npy-cut", Error, "an array file that ends in its header", map::NPY_CUT;
    NpyMagic = "npy-magic", Error, "not a NumPy array file", map::NPY_MAGIC;
    NpyVersion = "npy-version", Error, "unknown version of the array file", map::NPY_VERSION;
    NpyHeader = "npy-header", Error, "an invalid header of an array file", map::NPY_HEADER;
    NpyShape = "npy-shape", Error, "an invalid shape of an array", map::NPY_SHAPE;
    NpyDtype = "npy-dtype", Error, "a number type that maps do not have", map::NPY_DTYPE;
    NpyTruncated = "npy-truncated", Error, "an array file that is cut short", map::NPY_TRUNCATED;
    NpyTrailing = "npy-trailing", Note, "bytes after the array", map::NPY_TRAILING;
    NpyBigEndian = "npy-big-endian", Note, "a big-endian array", map::NPY_BIG_ENDIAN;
    NpyFortran = "npy-fortran", Note, "an array in Fortran order", map::NPY_FORTRAN;
}

impl Code {
    /// Whether it is about a block that no table entry, record or key leads to.
    #[must_use]
    pub const fn is_unowned(self) -> bool {
        matches!(self, Self::BlockOrphan | Self::BlockOwnerless | Self::PakOrphan | Self::StreamRowLost)
    }

    /// Whether data with this damage cannot be read completely: true for errors, except those that only the engine has
    /// trouble with.
    #[must_use]
    pub const fn hides_data(self) -> bool {
        matches!(self.level(), Level::Error)
            && !matches!(self, Self::BlockByteOrder | Self::ContainerByteOrder | Self::StreamKeyRule)
    }

    /// Whether it says that a part of the save was not read, or not reliably: blocks may be in there.
    #[must_use]
    pub const fn is_unread(self) -> bool {
        self.is_failure() || matches!(self, Self::LinkSkipped | Self::NotAFile | Self::StreamJournalUnusable)
    }

    /// Whether it says that reading failed, which says nothing about damage.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::FileUnreadable | Self::FileChanged)
    }
}
