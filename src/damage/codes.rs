//! The table of codes: name, level, title, what to do next, and the long story that `voxscope explain CODE` tells.

use super::Level;
use super::code::codes;

codes! {
    // Files and names.
    FileUnreadable = "file-unreadable", Error, "the file cannot be read",
        next: "Look at its permissions and at the disk (`dmesg`, SMART), copy the save elsewhere and check the copy.",
        story: "The operating system refused to open or to read the file, so nothing can be said about what is in it. A permission that is missing is harmless; an input/output error means that the disk or its file system is failing. In that case copy the whole save to another disk before anything else, and work on the copy. `check` exits with 8 for this, beside 4 for damage that it did find.";
    FileChanged = "file-changed", Error, "the file changed while it was read",
        next: "Stop the game or the server, or check a copy of the save.",
        story: "The length or the time of the file was another after the check than before. A game has it open and is saving. What was read is a mixture of two states, so the other findings of this file may be false. Nothing locks a save: an editor and a game that have the same one open write over each other.";
    NotAFile = "not-a-file", Error, "not a regular file",
        next: "See what it is and move it out of the save; nothing is lost by that.",
        story: "Something with the name of a region file or of the meta file is a directory, a pipe, a socket or a device. It is never opened: reading a pipe can wait for ever. The engine cannot use it either, and treats the place as empty or fails to save there.";
    LinkSkipped = "link-skipped", Warning, "a symbolic link, not followed",
        next: "If the link is meant, name its target to voxscope directly.",
        story: "Inside a save, symbolic links are not followed: a save may come from anywhere, and a link in it can point at any file of this machine, or in a circle. The engine follows links. The path that is given on the command line may itself be a link.";
    NameRegion = "name-region", Warning, "a name the game does not look for",
        next: "If it is a region file, give it the name `r.X.Y.Z.vxr` of its region; the game ignores it as it is.",
        story: "The engine looks for `r.X.Y.Z.vxr` with three plain decimal numbers (no plus sign, no leading zero, no capital letters), directly in `regions/lodN`, N from 0 to 23. A file or directory that is close to that, but not it, is never read by the game: often a copy made by hand (`r.0.0.0 (1).vxr`, `r.0.0.0.vxr.bak`) or a file moved by mistake.";
    NameForeign = "name-foreign", Note, "a file that does not belong to the format",
        next: "Nothing; the game ignores it.",
        story: "The save holds a file that is no part of the format, such as one that a desktop puts into every directory. It is left alone and not read.";
    OverLimit = "over-limit", Error, "more than voxscope is willing to read",
        next: "If the file is what it says, report it: the limit can be raised. If not, it is damaged or hostile.",
        story: "A size, a count or a depth that a file declares is over one of the caps in `Limits`, which are well above what the engine writes. This is not the same as damage: the data may be whole. It is refused so that no file can make the program use more memory or time than it justifies.";
    FindingsCut = "findings-cut", Note, "more findings than are listed",
        next: "Mend or set aside the file's larger damage first, then check again.",
        story: "One file gave more findings than the cap for one file. The first ones are listed, the rest are counted by code. The exit code and the summary count all of them.";

    // The meta file of a forest.
    MetaMissing = "meta-missing", Error, "the meta file is missing",
        next: "Put back `meta.vxrm` from a backup before the game is started: without it the game loses the session.",
        story: "There is a `regions` directory and no `meta.vxrm`. The engine then takes its own settings, and if these differ from those of the files it refuses every load and every save without telling the player: a whole session is lost silently. Version 3 region files carry all that the meta file says, so it can be written anew from them; versions 1 and 2 do not.";
    MetaUnreadable = "meta-unreadable", Error, "the meta file is not readable JSON",
        next: "Put back `meta.vxrm` from a backup before the game is started.",
        story: "`meta.vxrm` is a JSON object. It is empty, cut off, too large, not UTF-8 or not JSON at the place that is named. A game killed while it wrote the file leaves it empty or cut. The region files of version 3 carry the same settings, so they are still read here; the game does not start from them.";
    MetaVersion = "meta-version", Error, "unknown version of the meta file",
        next: "See whether a newer voxscope knows this version.",
        story: "Versions 1, 2 and 3 of `meta.vxrm` are known. Another number means a newer engine or a damaged file. What can be read is still read.";
    MetaField = "meta-field", Error, "a field of the meta file is missing or impossible",
        next: "Correct the field: the region files of version 3 say what it must be.",
        story: "A field that the engine needs is not there, has the wrong type, or holds a value that the format does not have: block_size_po2 1 to 8, region_size_po2 1 to 7, sector_size 1 to 65535, channel_depths eight codes from 0 to 3, lod_count 1 to 24. 65536 as sector size does not fit the 16 bits of the region header and becomes 0 there.";
    MetaExtra = "meta-extra", Note, "a field of the meta file that is not known",
        next: "Nothing; it is kept.",
        story: "The meta file has a field that is not part of the format as it is known. The engine ignores it.";
    MetaDiffers = "meta-differs", Warning, "the meta file and a region file disagree",
        next: "Find out which is right before the game is started: the file's own header is believed here, and the game refuses the region.",
        story: "A region file of version 3 carries block size, region size, sector size and depths in its header, and they are not those of `meta.vxrm`. The header is right for the layout of its own file, so that is what is read here. The engine refuses to read or to write such a region. It comes about when settings were changed, or files of two saves were mixed, or the header or the meta file is damaged.";
    MetaLods = "meta-lods", Warning, "a LOD that the meta file does not have",
        next: "If these files belong to the save, correct lod_count in `meta.vxrm`.",
        story: "There are region files in `regions/lodN` for an N that is not below the `lod_count` of the meta file. The engine never looks there.";

    ConversionLeft = "conversion-left", Note, "the save as it was before a conversion is beside it",
        next: "If blocks are missing here, look there: `voxscope repair --from-backup` takes them from it.",
        story: "When the settings of a stream are changed, the engine converts a save: it gives the old directory the name `NAME_old` (`NAME_old1` and so on where that is taken), and writes every block into a new one. When the game is killed meanwhile, the new save is half-filled and the old one still has everything. When the conversion came to its end, the old save is only a copy, which the engine does not remove.";

    // The header of a region file.
    RegionEmpty = "region-empty", Error, "an empty file",
        next: "Take the file from a backup; nothing is in this one. The game will treat the region as new or fail to open it.",
        story: "The file has no byte. It was created, or truncated by a failing disk or a power loss, and nothing was written. There is nothing to bring back from the file itself.";
    RegionNotRegion = "region-not-region", Error, "not a region file",
        next: "See what the file is; if it should be a region, take it from a backup.",
        story: "A region file begins with the four bytes `VXR_`. These are others: the file is of another kind, or its first sector was overwritten or lost. Zero bytes point to a power loss. The blocks behind the header may still be whole.";
    RegionVersion = "region-version", Error, "unknown version of the region file",
        next: "See whether a newer voxscope knows this version.",
        story: "Versions 1, 2 and 3 of the region file are known. Another number means a newer engine or a damaged fifth byte. Nothing behind it can be located without knowing the version.";
    RegionHeaderCut = "region-header-cut", Error, "the header is cut short",
        next: "Take the file from a backup; no block is in this one.",
        story: "The file ends inside its header, before the table of blocks. No block can be in it.";
    RegionNeverStored = "region-never-stored", Warning, "a header and nothing else",
        next: "Look at the settings of the stream: the engine refused them when it wanted to write the first block.",
        story: "The file ends right after the 20 bytes of its header (1,044 with a palette): the region was created and nothing was ever stored. The engine does this when it refuses the settings at the first write, because the sector size is too small for the block size (a block has at most 255 sectors) or the region is too large. Nothing was lost in this file, but whatever the game wanted to save there was.";
    RegionBlockSize = "region-block-size", Error, "an impossible block size",
        next: "Compare with `meta.vxrm` and with the sizes that the blocks themselves declare.",
        story: "The header gives the block size as a power of two, 1 to 8 (2 to 256 voxels). Blocks of version 2 and later carry their own size and are read by that.";
    RegionSize = "region-size", Error, "an impossible region size",
        next: "Compare with `meta.vxrm`; without the right size the table has no end and no block can be located.",
        story: "The header gives the number of blocks along x, y and z. A zero makes the table empty. The place of every block follows from the size of the table.";
    RegionSectorSize = "region-sector-size", Error, "a sector size of zero",
        next: "Take the sector size from `meta.vxrm`: 65536 there does not fit the 16 bits here.",
        story: "The header's sector size is zero, so that no block can be located. A sector size of 65536 in the meta file is stored as 0 in 16 bits; the engine lets that happen.";
    RegionDepth = "region-depth", Error, "an impossible channel depth",
        next: "Compare with `meta.vxrm`; blocks of version 2 and later carry their own depths.",
        story: "The header gives a depth code for each of the eight channels: 0, 1, 2, 3 for 8, 16, 32 and 64 bits. Any other number is damage.";
    RegionPalette = "region-palette", Error, "an impossible palette byte",
        next: "Compare with other region files of the save; 0x00 is what nearly all have.",
        story: "The byte before the table says whether a palette of 1,024 bytes comes first: 0x00 no, 0xff yes. Any other value is damage. It is read as no palette, as the engine does.";
    RegionFormatUnknown = "region-format-unknown", Error, "the layout of the region is not known",
        next: "Give --block-size, --region-size, --sector-size and --depths, or put `meta.vxrm` back.",
        story: "Region files of versions 1 and 2 do not say how large blocks, regions and sectors are; `meta.vxrm` of the forest does. It is not there or not readable, so no block can be located.";
    RegionTableCut = "region-table-cut", Error, "the table of blocks is cut short",
        next: "Take the file from a backup; entries that were cut off are lost, and so is all data.",
        story: "The file ends inside its table of blocks. All blocks are stored behind the table, so none of them is in the file. The entries that are there are listed.";

    // The table of blocks.
    TableEmpty = "table-empty", Error, "an empty table with blocks behind it",
        next: "Do not start the game: it would write over the blocks. Copy the save first.",
        story: "No entry of the table is in use, and whole blocks stand behind it. The game was killed before it wrote the table for the first time; it writes it only when it flushes or closes. A game that opens this file believes it to be empty and writes from the first sector on, over the blocks.";
    TableCountZero = "table-count-zero", Error, "a table entry with no sectors",
        next: "The block cannot be read through this entry; look among the unlisted blocks.",
        story: "The entry names a first sector and a count of zero sectors. The engine writes either a whole entry of zero (no block) or a count of at least one.";
    TableBeyondEnd = "table-beyond-end", Error, "a block that lies beyond the end of the file",
        next: "Take the file from a backup; what is there of the block is still shown by `show`.",
        story: "The entry's sectors reach past the end of the file. The file was cut (disk full, interrupted copy), or the entry is damaged. When only the end is missing, the start of the block may hold whole channels.";
    SectorCut = "sector-cut", Warning, "a last sector that is cut short",
        next: "The block is whole; see that the disk is not full.",
        story: "The file ends inside the last sector of a block, after the block's data. The engine pads sectors, so the end of the file was cut off, and only padding with it. The block is whole.";
    TableOverlap = "table-overlap", Error, "two blocks claim the same sectors",
        next: "Do not trust either block before both were looked at; do not let the game save into this file.",
        story: "Two entries of the table claim the same sectors. At most one of them is right. The engine never writes this: the table is older than the sectors (a game killed while saving), was torn, or two programs wrote to the save at once.";
    TableCount = "table-count", Warning, "a sector count that disagrees with the block's size",
        next: "The block is readable; that the table disagrees means that it may be older than the sectors.",
        story: "An entry's count of sectors is ceil((4 + size) / sector size), with the size that stands before the block. This one claims more sectors than its block needs. Either the entry is damaged, or the table is older than the sectors: the game was killed after a save and before it wrote the table. In that case other blocks of the region may be in the wrong place although they decode.";
    TableGap = "table-gap", Error, "a gap that makes the next save overwrite a live block",
        next: "Do not start the game on this save: its next append to this region writes over a live block. Copy the save first.",
        story: "The engine packs sectors without holes and appends a new block at the sum of all sector counts. Here there is a gap between blocks, so the sum lies before the end of the last block, and the next block that the game appends will be written over one that is in use. An entry was lost or damaged.";

    // The size prefix and the sectors of a block.
    BlockPrefixCut = "block-prefix-cut", Error, "the block's size prefix is cut short",
        next: "Take the file from a backup.",
        story: "A block begins with its size in four bytes. The file ends before them.";
    BlockPrefix = "block-prefix", Error, "a size that runs past the block's sectors",
        next: "The entry or the prefix is wrong; see what the neighbouring findings say of this region.",
        story: "The size that stands before the block is larger than the sectors of its table entry, or than what is left of the file. Most often the entry points into the middle of another block, because the table is older than the sectors: the game was killed after it moved blocks and before it wrote the table.";
    BlockZeroed = "block-zeroed", Error, "a block of zero bytes",
        next: "The block's bytes are gone; take it from a backup.",
        story: "All sectors of the block are zero. This is what a power loss leaves when the file system had made the file longer and had not yet written the data. Nothing can be read from it.";
    StaleTail = "stale-tail", Note, "old bytes after the last block",
        next: "Nothing; the game leaves them there.",
        story: "The engine never makes a file shorter. When blocks shrink, the sectors after the last one keep their old bytes: old copies of blocks or parts of them. That is normal.";
    BlockUnlisted = "block-unlisted", Note, "a whole block after the last one, in no table entry",
        next: "Usually an old state. If the game crashed, it may be the newest: look at it before the game runs again.",
        story: "After the last block that the table knows stands a whole block that decodes and that is not a copy of a listed one. In a healthy file this is the old state of a block, left behind when the file's blocks shrank. After a crash it may also be a block that was saved after the table was last written. The bytes alone do not tell which. The next save of the game may overwrite it.";
    BlockOrphan = "block-orphan", Warning, "a whole block that no table entry points to",
        next: "Do not let the game save into this file: it may write over the block. Copy the save first.",
        story: "A whole block that decodes stands where no entry of the table points, in a region whose table is damaged or older than its sectors. It is probably a live block that lost its entry, or one that was saved after the table was last written. A block on disk does not say where it belongs.";
    BlockMisplaced = "block-misplaced", Error, "a whole block of another place",
        next: "Copy the save before the game runs again, then let `voxscope repair` put the blocks right in a copy.",
        story: "The block decodes, but the order of the blocks in the file, or the voxels at the borders of its neighbours, say that it belongs elsewhere. The game was killed after it moved blocks and before it wrote the table, so that entries give blocks of other places as if nothing were wrong. A block on disk does not say where it belongs: the finding names the evidence and how likely it makes the place. Found by `check --level semantic`.";
    BlockMoved = "block-moved", Warning, "a block that stands elsewhere than the table says",
        next: "Let `voxscope repair` put it right in a copy of the save; the game itself does not find it.",
        story: "The table's entry leads to bytes that are no whole block, and the block that belongs to the position stands elsewhere in the file: later blocks were moved down when one shrank, or it grew and was appended at the end, and the game was killed before it wrote the table. The finding names the sector and how likely it is. Found by `check --level semantic`.";
    BlockTorn = "block-torn", Error, "a block that was being written when the game was killed",
        next: "Let `voxscope repair` keep what is whole of it in a copy of the save; otherwise take the block from a backup.",
        story: "The game writes a block piece by piece. Killed meanwhile, it leaves half of the new state over half of the old one: the rest of the older one is gone. The part before the tear decodes and often holds whole channels. Found by `check --level semantic`.";
    BlockHalfMoved = "block-half-moved", Error, "a block of which only a part was moved",
        next: "Let `voxscope repair` join it in a copy of the save: all of it is there.",
        story: "When a block shrinks or grows, the game moves all later sectors down, one at a time. Killed meanwhile, it leaves a block of which the first sectors stand where they go and the others where they were, with sectors between that stand there twice. Both parts are whole, so the block can be joined again. Found by `check --level semantic`.";
    BlockDoubled = "block-doubled", Warning, "a whole block that stands there twice",
        next: "Nothing is lost; let `voxscope repair` build a copy of the save without the second one.",
        story: "The game was killed while it moved later sectors down, and the last ones that it moved still stand where they were too. The finding names the position whose block it is. An old table can lead to either of the two, or between them. Found by `check --level semantic`.";
    BlockOwnerless = "block-ownerless", Warning, "a whole block whose position nothing tells",
        next: "Do not let the game save into this file. `voxscope repair` keeps the block in `lost+found` of a copy, and `--from-backup` can tell whose it is.",
        story: "The block was saved after the table was last written, and no entry leads to it. It is a block that grew and was appended at the end, or a new one, and neither the order of the blocks nor the voxels at the borders of its neighbours say where it belongs. A block on disk does not carry its position. Found by `check --level semantic`.";
    PlaceDoubt = "place-doubt", Warning, "a block whose place is in doubt",
        next: "Compare with a backup; `voxscope repair` writes such a block only with `--level likely`, or keeps it in lost+found.",
        story: "The table of this region is older than its sectors, and what stands where this entry points may or may not belong there: the order of the blocks and the borders with the neighbours do not say enough. It may be right, it may be the block of another place. Found by `check --level semantic`.";

    // The compressed container.
    ContainerEmpty = "container-empty", Error, "an empty container",
        next: "The block is lost here; take it from a backup.",
        story: "The block's size is zero, so that not even the byte that names the compression is there.";
    ContainerMode = "container-mode", Error, "an unknown kind of compression",
        next: "If the block's entry is right, its first byte is damaged: `show --hex` shows what is there.",
        story: "The first byte of a stored block is 0 (as it is), 1 or 2 (LZ4) or 3 (Zstandard). Before 2021-01-31 there was no such byte and the size came first; that was tried and did not hold either. Most often the table entry points into the middle of another block.";
    ContainerCut = "container-cut", Error, "the container's header is cut short",
        next: "The block is lost here; take it from a backup.",
        story: "After the byte that names the compression come four bytes with the decompressed size, and the data ends inside them.";
    ContainerDeclared = "container-declared", Error, "a declared size that the format cannot justify",
        next: "The size or the bytes after it are damaged; what decodes is still shown.",
        story: "The container declares a decompressed size that its bytes cannot give: LZ4 expands at most 255 times. Nothing is allocated for it. The engine's own reader trusts this number up to 4 GiB.";
    ContainerCorrupt = "container-corrupt", Error, "compressed data that does not decode",
        next: "`show` lists the channels that are whole in the part that decodes; take the block from a backup.",
        story: "The LZ4 block or the Zstandard frame is damaged at the place that is named. The part before it decodes, and it often holds whole channels, since TYPE and SDF come first. Either the bytes were overwritten (the game was killed while it rewrote the block), or the table entry points at other data.";
    ContainerLength = "container-length", Error, "data that does not decode to the declared size",
        next: "Compare what `show` lists with a backup of the block.",
        story: "The compressed data decodes, but to another size than was declared before it. The declared size, or the compressed bytes, were altered. The engine refuses the block.";
    ContainerChecksum = "container-checksum", Error, "a checksum that does not fit",
        next: "Some voxels of the block are not what was saved; take it from a backup.",
        story: "The Zstandard frame carries a checksum of its content and the content has another one. It decodes, but some byte of it is not what was saved.";
    ContainerTrailing = "container-trailing", Warning, "bytes after the compressed data",
        next: "Nothing is lost; the extra bytes are ignored.",
        story: "The size before the block counts more bytes than the Zstandard frame needs.";

    // Block data.
    BlockVersion = "block-version", Error, "an unknown version of block data",
        next: "See whether a newer voxscope knows it; otherwise the block's first byte is damaged.",
        story: "Block data begins with its version, 2, 3 or 4; version 1 has none and begins with the storage of its first channel, 0 or 1. Another value means a newer engine, or bytes that are no block.";
    BlockHeaderCut = "block-header-cut", Error, "the block's header is cut short",
        next: "The block is lost here; take it from a backup.",
        story: "The block data ends inside its version and size, before the first channel. There is nothing of it to show.";
    BlockSizeZero = "block-size-zero", Error, "a block without voxels",
        next: "Take the block from a backup.",
        story: "The block declares a size of zero along an axis. The engine never writes such a block.";
    BlockSize = "block-size", Error, "a size that is not the region's",
        next: "Compare the block with its neighbours; it may belong to another save.",
        story: "The block declares another size than its region (or its meta file) has for all blocks. The engine stores blocks of one size in a region; a block of another size is from another save, or the block's or the region's header is damaged. It is read by its own size.";
    BlockDepth = "block-depth", Warning, "a channel depth that is not the region's",
        next: "Nothing is lost: the block is read by its own depth. Look at what changed the depth.",
        story: "The block stores a channel with another depth than the region's header names. The engine refuses to write that. The block is read by its own depth.";
    ChannelStorage = "channel-storage", Error, "an unknown channel storage",
        next: "The channels before it are whole; take the block from a backup.",
        story: "A channel is stored raw (0) or uniform (1). Another value means damage, and since the length of the channel is then unknown, nothing after it can be located from here.";
    ChannelDepth = "channel-depth", Error, "an impossible channel depth in the block",
        next: "The channels before it are whole; take the block from a backup.",
        story: "The upper half of a channel's format byte is its depth, 0 to 3 for 8 to 64 bits. Another value means damage, and since the length of the channel is then unknown, nothing after it can be located from here.";
    ChannelCut = "channel-cut", Error, "channel data cut short",
        next: "The channels before it are whole; take the block from a backup.",
        story: "The block ends inside the data of a channel. The voxels that are there are still shown.";
    BlockEpilogue = "block-epilogue", Error, "a wrong epilogue",
        next: "The engine refuses the block; its channels may be whole: see `show`.",
        story: "The last four bytes of a block are 0x900df00d. Others stand here, so the block was cut, overwritten or altered. The engine refuses to load it. Its channels may be whole all the same, because they come before.";
    BlockEpilogueMissing = "block-epilogue-missing", Error, "a missing epilogue",
        next: "The engine refuses the block; its channels may be whole: see `show`.",
        story: "The block ends before the four bytes 0x900df00d that close it. It was cut.";

    // Metadata of a block.
    MetadataCut = "metadata-cut", Error, "metadata cut short",
        next: "The channels are whole; items before this one are listed. Take the block's metadata from a backup.",
        story: "The metadata ends inside the item that is named. What comes before is whole. The engine drops the rest, or refuses the block.";
    MetadataSize = "metadata-size", Error, "a metadata size beyond the block",
        next: "The channels are whole; what can be read of the metadata is listed.",
        story: "The size that stands before the metadata is larger than what is left of the block before its epilogue.";
    MetadataType = "metadata-type", Error, "an unknown type of metadata",
        next: "Items before this one are listed; nothing after it can be read.",
        story: "In blocks of version 4 each item has a type: 0 empty, 1 a 64-bit number, 32 a Variant, 33 and above defined by the application. 2 to 31 do not exist, so the length of the item is unknown and nothing after it can be read.";
    MetadataCustom = "metadata-custom", Note, "metadata that only its game can read",
        next: "Nothing; its bytes are shown as they are.",
        story: "Types from 33 on are defined by the application, and their length is not stored. The item and everything after it are shown as bytes.";
    MetadataPosition = "metadata-position", Error, "metadata for a voxel outside the block",
        next: "The item is listed; the engine loses it and what follows.",
        story: "An item of metadata names a voxel that the block does not have. The engine skips the position and then reads the item's bytes as the next position, so that it loses all that follows. Here the item is read and listed.";
    MetadataTrailing = "metadata-trailing", Warning, "bytes between the metadata and the epilogue",
        next: "Nothing is lost; the extra bytes are ignored here. The engine refuses the block.",
        story: "The metadata's size leaves bytes between its end and the epilogue. The size or the data was altered.";
    MetadataDialect = "metadata-dialect", Note, "metadata of the other engine generation",
        next: "Nothing; it was read as what it is.",
        story: "Blocks of version 2 hold Variants of Godot 3, and of Godot 4 in the last weeks before version 3. The two number their types differently. The reading that uses up exactly the metadata's size was taken.";

    // Variants.
    VariantCut = "variant-cut", Error, "a Variant cut short",
        next: "What comes before it is listed; take the block's metadata from a backup.",
        story: "A Variant ends inside the field that is named: a length or a count is larger than the bytes that follow, or the data was cut.";
    VariantType = "variant-type", Error, "an unknown type of Variant",
        next: "What comes before it is listed; nothing after it can be read.",
        story: "The type number of a Variant is not one that the engine has. Godot 3 has 27 types and Godot 4 has 39, with other numbers.";
    VariantFlags = "variant-flags", Error, "impossible flags of a Variant",
        next: "What comes before it is listed; nothing after it can be read.",
        story: "The upper half of a Variant's header holds flags: 64-bit numbers, objects stored as ids, and the kinds of typed arrays and dictionaries. These do not exist.";
    VariantDepth = "variant-depth", Error, "a Variant nested too deep",
        next: "The engine cannot load this either; take the block's metadata from a backup.",
        story: "Arrays, dictionaries and objects are nested deeper than the engine's own limit of 1,024. A deeper one would make a reader that follows it run out of stack.";
    VariantText = "variant-text", Error, "text that is not UTF-8",
        next: "The bytes are kept and shown with replacement characters.",
        story: "A string in a Variant is not valid UTF-8. The engine shows it altered. Its length is known, so that what follows is read.";
    VariantPadding = "variant-padding", Note, "padding that is not zero",
        next: "Nothing; the bytes are kept.",
        story: "Strings and byte arrays are padded to a multiple of four. Godot 3 leaves whatever was in memory in the padding of node paths.";

    // Negative coordinates.
    SlotsOld = "slots-old", Note, "negative blocks in the slots of the old formula",
        next: "Nothing to read it here. An engine of today shows these blocks moved by one: convert before use.",
        story: "From 2019-08-17 to 2024-03-30 the engine put a block with a negative coordinate one slot too low in its region, turning around at the region's edge, and read it with the same formula. Block versions 1 to 3 were always written so. Positions here are those the game knew. For blocks of version 4 the file does not tell; `--slots old` reads them so.";
    SlotsMixed = "slots-mixed", Warning, "block versions of both slot formulas in one region",
        next: "Positions of the newer blocks may be off by one along negative axes: compare with `--slots old` and `--slots new`.",
        story: "A region with negative coordinates holds blocks of versions 1 to 3, which the old formula placed, and of version 4, which either formula may have placed. One formula is used for the whole region, that of its first readable block.";
    SlotsTold = "slots-told", Note, "the seams tell which formula placed negative blocks",
        next: "If it is the old formula, read the save with `--slots old`; `convert` puts the blocks right.",
        story: "Blocks of version 4 with negative coordinates may have been placed by the old formula (Godot Voxel before 1.2) or by that of today, and the file does not say. The two make different blocks neighbours at the edges of regions. The seams between these were compared by how seams look elsewhere in the save: where the voxels go on from block to block, one of the formulas stands out.";

    // Pak regions.
    PakHeaderCut = "pak-header-cut", Error, "the header of the pak region is cut short",
        next: "Take the file from a backup; no chunk is in this one.",
        story: "A pak region begins with 16 bytes: a tag, the version, the number of records and the first block. The file ends before or inside them, so nothing in it can be located. An empty file is what a power loss, or a disk that was full, leaves behind.";
    PakVersion = "pak-version", Warning, "unknown version of the pak region",
        next: "See whether the chunks make sense; a newer voxscope may know this version.",
        story: "Versions 6 and 7 of the pak region are known; they differ only in what is inside the chunks. The file is read as these are. Where the other fields make no sense either, the file is something else or its first bytes were overwritten.";
    PakRecordCount = "pak-record-count", Error, "an impossible number of records",
        next: "Take the file from a backup, or compare the number with that of its neighbours: today's files have 1024.",
        story: "The header gives the number of records as a signed number. This one is zero, negative or larger than the 32,768 blocks that a record can name. Nothing is reserved for it. When the version is a known one, the 1,024 records of today's files are read instead, as far as the file holds them, and this is said.";
    PakCountLow = "pak-count-low", Error, "records behind the last that the header counts",
        next: "Do not let the game save into this file; `voxscope repair` puts the number right.",
        story: "The header gives a number of records that can be, but behind the last of them stand more, and each names a place and a length at which a whole chunk of just that length stands. The number was overwritten. The game would not see these chunks, and may write over their blocks, which count as free. Files have 1,024 or 4,096 records.";
    PakRecordsCut = "pak-records-cut", Error, "the records are cut short",
        next: "Take the file from a backup; all data stands behind the records, so none is in this one.",
        story: "The file ends inside its records, 8 bytes for each chunk behind the header. All data lies behind them. The records that are there are listed.";
    PakFirstBlock = "pak-first-block", Error, "an impossible first block",
        next: "Compare the header with that of its neighbours: with 1024 records the first block is 3.",
        story: "The header says where the data begins, in blocks of 4,096 bytes (some writers: in bytes). The number is negative, so the records point before the start of the file or into the header, and most chunks cannot be located.";
    PakOffsetReading = "pak-offset-reading", Note, "a first block that can be read in two ways",
        next: "Nothing when the chunks decode; if they do not, try `--pak-offset bytes` or `--pak-offset blocks`.",
        story: "The format's notes contradict themselves: the first block is counted in blocks of 4,096 bytes in one passage and in bytes in another. Blocks are taken unless only bytes make sense, which means that the data of all records then fits the file and clears the header. Here bytes were taken, or both readings fit, or neither does. `--pak-offset` decides it by hand.";
    PakRecordOffset = "pak-record-offset", Error, "an impossible block in a record",
        next: "The chunk cannot be located; take the file from a backup.",
        story: "A record gives its first block as a signed number of 16 bits, and -1 says that there is no chunk. Other negative numbers do not exist: the record was overwritten, or the header's number of records is wrong and this is no record.";
    PakRecordBlocks = "pak-record-blocks", Error, "an impossible number of blocks in a record",
        next: "What the record's length in bytes covers is read all the same: see whether the chunk decodes.",
        story: "A record that has a chunk gives at least one block for it. This one gives zero or a negative number. The number of blocks is taken from the record's length in bytes where that makes sense.";
    PakFileLength = "pak-file-length", Error, "a length that is larger than the record's blocks",
        next: "All blocks of the record are read instead: see whether the chunk decodes.",
        story: "A record gives the length of its compressed stream in bytes, which must be at least 1 and fit into the record's blocks of 4,096 bytes. This one is zero, negative or larger. Since a zlib stream says itself where it ends, all blocks of the record are read, and nothing is read that another record may own.";
    PakInHeader = "pak-in-header", Error, "a chunk that lies in the header",
        next: "Do not trust this record; try the other reading with `--pak-offset` if there are many of them.",
        story: "The data of a record begins before the end of the header and the records, where no chunk can be. The record, or the header's first block, was overwritten, or the first block is counted in another unit than was taken.";
    PakBeyondEnd = "pak-beyond-end", Error, "a chunk that lies beyond the end of the file",
        next: "Take the file from a backup; what is there of the chunk is still shown by `show`.",
        story: "The data of a record reaches past the end of the file. The file was cut (disk full, interrupted copy), or the record is damaged. When only the end of the stream is missing, the part before it decodes.";
    PakOverlap = "pak-overlap", Error, "two records claim the same blocks",
        next: "Do not trust either chunk before both were looked at; do not let the game save into this file.",
        story: "Two records claim the same blocks of the file. At most one of them is right. Either a record was overwritten, or the records are older than the blocks: the game was stopped while it saved.";
    PakUnlisted = "pak-unlisted", Note, "a whole chunk that no record owns",
        next: "Usually an old state. If the game crashed, it may be the newest: look at it before the game runs again.",
        story: "In blocks that no record claims stands a whole zlib stream whose checksum fits. In a healthy file this is an old state of a chunk, left behind when it was saved elsewhere. After a crash it may also be a chunk that was saved after the records were last written. A chunk on disk does not say where it belongs.";
    PakOrphan = "pak-orphan", Warning, "a whole chunk that lost its record",
        next: "Do not let the game save into this file: it may write over the chunk. `voxscope repair` keeps it in lost+found.",
        story: "In blocks that no record claims stands a whole zlib stream whose checksum fits, in a file whose header or records are damaged, or are older than its blocks. It is probably a live chunk whose record was lost. A chunk on disk does not say where it belongs; where a damaged record has just its length, that is named as a candidate.";
    PakZlib = "pak-zlib", Error, "zlib data that does not decode",
        next: "The part before the fault is shown; take the chunk from a backup.",
        story: "The compressed data of a chunk is no zlib stream, or is damaged at the place that is named. The part before it decodes and is kept. Either the bytes were overwritten, or the record points at other data.";
    PakZlibCut = "pak-zlib-cut", Error, "a zlib stream that is cut short",
        next: "The part that is there is shown; take the chunk from a backup.",
        story: "The bytes of the record end before the zlib stream does: the file was cut, or the record's length is smaller than what was written. The part that is there decodes and is kept.";
    PakZlibTrailing = "pak-zlib-trailing", Warning, "bytes after the zlib stream",
        next: "Nothing is lost; the extra bytes are ignored.",
        story: "The record's length counts more bytes than the zlib stream needs. The chunk is whole. The length, or the stream, was altered, or an older and longer chunk stood here before.";
    PakZlibChecksum = "pak-zlib-checksum", Error, "a checksum that does not fit the chunk",
        next: "Some bytes of the chunk are not what was saved; take it from a backup.",
        story: "A zlib stream ends with the Adler-32 of its content, and the content has another one. It decodes, but some byte of it, or the checksum itself, is not what was saved. The game refuses such a chunk.";
    PakShape = "pak-shape", Warning, "a length that fits no shape of a chunk",
        next: "The bytes are shown as hex; give `--chunk-shape` and `--voxel-bytes` if you know them.",
        story: "A chunk is a plain array of voxels of which neither the shape nor the voxel size is stored. Known are 32 x 32 x 32 voxels of 1, 2, 4 or 8 bytes, and 16 x n x 16 with n a multiple of 16. The decompressed length fits none of these, or not the shape that was given. The chunk may be of another kind or cut when it was written.";
    PakName = "pak-name", Warning, "a name that the game does not look for",
        next: "If it is a pak region, give it the name `xX_yY_zZ.region` of its place; the game ignores it as it is.",
        story: "The game looks for `xX_yY_zZ.region` with three plain decimal numbers: no plus sign, no leading zero, no capital letters. A name that is close to that, but not it, is never read by the game. It is often a copy made by hand, or a file moved by mistake.";
    PakPlace = "pak-place", Warning, "a place in the file's name that its chunks cannot have",
        next: "Compare with the neighbouring files; the file was probably renamed by hand.",
        story: "The name of a pak region is its place in regions. The chunks of such a place must have coordinates that fit 32 bits, and a file of 1,024 records holds one layer of chunks only, that with y = 0, so its name has y0. The name says something else. The chunks are read all the same, at the place that the name gives where there is one.";
    PakDuplicate = "pak-duplicate", Warning, "two files for one region",
        next: "See which of the two the game reads, the one with the plain name, and move the other out of the directory.",
        story: "Two files of the directory name the same region, such as `x0_y0_z0.region` and `x00_y0_z0.region`. The game reads only the one whose name it writes itself. The other is often a copy, and may be older or newer.";

    // Instance data.
    InstancesVersion = "instances-version", Error, "unknown version of instance data",
        next: "See whether a newer voxscope knows it; the voxels of the block are not concerned.",
        story: "Instance data begins with its version: 0, where all numbers are big-endian, or 1, which is written today. Another value means a newer engine or a damaged first byte. The engine refuses the data, and the plants and stones of this block are missing in the game.";
    InstancesCut = "instances-cut", Error, "instance data cut short",
        next: "The instances before the cut are listed; take the rest from a backup.",
        story: "The data ends inside the field that is named, or a layer declares more instances than bytes follow: 11 for each. Nothing is reserved for a count that the data does not bear out. The engine reads on over the end. The voxels of the block are not concerned.";
    InstancesRange = "instances-range", Error, "an impossible range of positions",
        next: "The instances are listed, but where they stand is not known; take them from a backup.",
        story: "Positions of instances are stored as parts of a range, which is the size of the block in voxels. It is negative, infinite or no number, so the positions are not either. The engine writes 0.01 at least.";
    InstancesScale = "instances-scale", Error, "impossible scales of instances",
        next: "Positions and rotations of the layer are whole; take the scales from a backup.",
        story: "A layer gives its smallest and its largest scale, between which each instance has its own. The smallest is larger than the largest, or one of them is infinite or no number. The engine refuses all instances of the block.";
    InstancesFormat = "instances-format", Error, "an unknown format of instances",
        next: "The layers before it are listed; nothing after it can be read.",
        story: "Each layer says in which format its instances are stored, and only 0, of 11 bytes, exists. The length of the layer is unknown with another one, so nothing after it can be located. The engine refuses all instances of the block.";
    InstancesTwice = "instances-twice", Warning, "two layers of one kind of instance",
        next: "Nothing is lost: both are read. In the game one of them may replace the other.",
        story: "Each layer has the number of an item of the instancer's library, and two have the same. The engine writes each item once. The data was altered, or two states were put together.";
    InstancesEpilogue = "instances-epilogue", Error, "instance data with a wrong epilogue",
        next: "The layers are listed; the engine refuses them.",
        story: "Instance data ends with 0x900df00d, in the byte order of its version. Others stand there or nothing, so the data was cut or altered. The engine refuses all instances of the block.";
    InstancesTrailing = "instances-trailing", Warning, "bytes after the instance data",
        next: "Nothing is lost; the extra bytes are ignored.",
        story: "More bytes follow the epilogue of the instance data. The engine does not look at them.";

    // SQLite streams: the file.
    StreamEmpty = "stream-empty", Error, "an empty database",
        next: "Take the file from a backup before the game runs: it silently makes a new world in an empty file.",
        story: "The file has no byte. SQLite takes an empty file for a new database, so the game starts a new world in it without a word. It was created and never written, or truncated by a failing disk or a power loss.";
    StreamNotDatabase = "stream-not-database", Error, "not an SQLite database",
        next: "See what the file is. If it was the save, its other pages are still read here: copy it before anything else.",
        story: "An SQLite database begins with the 16 bytes `SQLite format 3` and a zero. Others are here: the file is of another kind, is encrypted, or its first page was overwritten. The game refuses to open it. Where the other pages look like those of a stream, the size of pages is guessed and all blocks that they hold are read.";
    StreamHeader = "stream-header", Error, "an impossible field of the database header",
        next: "Copy the save before the game runs; what can be read is read all the same.",
        story: "The first 100 bytes of a database say how large its pages are and how it was written. The field that is named holds a value that SQLite does not have. Where it is the size of pages, the one with which most pages make sense is taken.";
    StreamCut = "stream-cut", Error, "a database that is shorter than it says",
        next: "Take the file from a backup; blocks on the pages that are there are still read.",
        story: "The header of the database counts more pages than the file has. The end of the file was cut off: the disk was full, or a copy was interrupted. SQLite calls such a database malformed as soon as it needs a page that is missing.";
    StreamPage = "stream-page", Error, "a damaged page",
        next: "Copy the save; blocks around the page are read, and `voxscope ls` says which they are.",
        story: "A page of a table or an index is not what it must be: its kind is unknown, its cells lie outside of it, it leads to a page that does not exist, or two places lead to it. SQLite stops with `database disk image is malformed` when it comes there. Here the cells that can be read are read, and the pages that only this one led to are found by looking at every page of the file.";
    StreamChain = "stream-chain", Error, "a blob that breaks off",
        next: "What is there of it is decoded and shown by `show`; take the block from a backup.",
        story: "A blob that does not fit into its page goes on in a chain of overflow pages. The chain ends before the blob does, leads to a page that does not exist, runs in a circle or into the pages of another blob. The bytes before that are read.";
    StreamRowLost = "stream-row-lost", Error, "a row that its table does not lead to any more",
        next: "The block is read here, and the game does not find it: copy the save before the game runs.",
        story: "The row stands on a page that can be read, but the tree of its table has lost that page, because a page above it is damaged. SQLite and the game do not find the row. It was found by looking at every page of the file. It may be older than the rest if the page had been given up; where the table has a row of the same key, that one is taken.";
    StreamIndex = "stream-index", Error, "an index that does not fit its table",
        next: "Copy the save, then let SQLite make the index anew in the copy (`REINDEX`).",
        story: "Streams whose keys are texts or blobs find their rows by an index. The index has no entry for a row, or one that leads to no row. The game does not find the block, and saves it a second time.";
    StreamFreelist = "stream-freelist", Error, "a damaged list of free pages",
        next: "Do not start the game on this save: it may write over pages in use. Copy it first.",
        story: "Pages that are not in use are kept in a list. It leads to a page that does not exist, runs in a circle, has another length than the header says, or holds pages that are in use. SQLite takes the next page it needs from there, and would write over what is in it.";
    StreamUnused = "stream-unused", Warning, "pages that belong to nothing",
        next: "Nothing is lost; `VACUUM` in a copy frees them.",
        story: "No table, index or list of free pages has these pages. SQLite never leaves any, so a table or a list lost them: something that led to them was overwritten.";
    StreamJournal = "stream-journal", Warning, "a save that was not finished, with its journal",
        next: "Keep the database and its journal together, also in copies. The game will undo the unfinished save when it opens them.",
        story: "Beside the database lies a journal with the pages as they were before a save that was not finished: the game was killed meanwhile. Opening the database for writing puts these pages back and deletes the journal, and so does the game. Here the journal is only read: what is shown is the state before the unfinished save. A database that is copied without its journal is a mixture of two states.";
    StreamJournalUnusable = "stream-journal-unusable", Warning, "a journal that cannot be used",
        next: "Copy the save with all its files; what is shown is the database as it is.",
        story: "Beside the database lies a journal or a write-ahead log that is not of this database or is damaged at its start, so that it cannot be applied. If it belonged to an unfinished save, the database is a mixture of two states.";
    StreamWal = "stream-wal", Note, "a write-ahead log beside the database",
        next: "Keep the files together, also in copies.",
        story: "Saves that were finished but not yet moved into the database stand in a write-ahead log beside it (`-wal`). The database is read with it, as SQLite does. A copy without the log lacks these saves.";

    // SQLite streams: what is in it.
    StreamTable = "stream-table", Error, "a table that a stream needs is missing or different",
        next: "See whether the file is a voxel stream at all; rows that look like blocks are listed.",
        story: "A stream has the tables `meta` and `blocks`, and `blocks` has the columns `loc`, `vb` and `instances` in this order. One of these is not there: the page with the schema is damaged, or the database is of another program. The game refuses it or makes the table anew, empty.";
    StreamForeign = "stream-foreign", Note, "a table, index or column that is no part of a stream",
        next: "Nothing; it is kept and not read.",
        story: "The database has something that the engine does not make. It is left alone. A game may keep its own tables beside those of the stream.";
    StreamMetaMissing = "stream-meta-missing", Error, "the row of settings is missing",
        next: "Copy the save before the game runs: it would write its own settings, and read all keys by them.",
        story: "The table `meta` has one row with the version, the size of blocks and the format of keys. There is none that can be read. The engine takes the database for a new one, writes its own settings into it, and where these name another format of keys, it finds none of the blocks. The format is inferred here from the keys.";
    StreamMetaTwice = "stream-meta-twice", Error, "more than one row of settings",
        next: "Find out which row is right (the keys tell) and remove the others in a copy.",
        story: "The table `meta` must have one row. There are several, equal or not. The engine goes by the last one. Two programs that made the same new database at once leave this.";
    StreamMetaField = "stream-meta-field", Error, "an impossible setting",
        next: "Compare with another save of the same game; the blocks themselves carry their size.",
        story: "A field of the row of settings is not a number or is out of its range: versions 0 and 1 are known, blocks have 2 to 256 voxels along an axis (block_size_po2 1 to 8; the engine uses 4 and 5), and there are the formats of keys 0 to 3, only 0 in version 0. With an unknown format the one is taken that fits the keys.";
    StreamKey = "stream-key", Error, "a key that is no place",
        next: "The blocks before and after it are not concerned; `voxscope ls` shows what is in this one.",
        story: "The key of a row says where its block is, in one of four formats: two kinds of 64-bit numbers, a text `x,y,z,lod`, a blob of 10 bytes. This key has another type or length, is written in another way than the engine writes it, or names a LOD above 23. The engine never looks it up. Many of them mean that the format in `meta` is not that of the keys.";
    StreamKeyTwice = "stream-key-twice", Error, "two rows for one place",
        next: "Compare the two blocks; the game reads the one whose key it writes itself.",
        story: "The keys of two rows name the same place. SQLite keeps equal keys apart, so they are written in two ways, or one of the rows was found outside of the table. At most one of them is what the game shows there.";
    StreamValue = "stream-value", Error, "a value of the wrong type",
        next: "The row's other values are read; take the block from a backup.",
        story: "The columns `vb` and `instances` hold blobs, or nothing. This one holds a number or a text, which the engine never writes.";
    StreamRowEmpty = "stream-row-empty", Note, "a row with neither voxels nor instances",
        next: "Nothing; the game takes the place for empty.",
        story: "Both values of the row are NULL. The engine leaves this where all instances of a block were removed and its voxels were never changed.";

    // Voxel maps.
    MapUnreadable = "map-unreadable", Error, "the map's description is not readable JSON",
        next: "Export the map again, or take `map_data.json` from a backup; the `.npy` files beside it are whole on their own.",
        story: "`map_data.json` is a JSON object that says which layers there are, where they lie and in which files. It is empty, cut off, not UTF-8 or not JSON at the place that is named, so no layer can be located. The arrays themselves are in the `.npy` files and are not touched by this.";
    MapField = "map-field", Error, "a field of the map's description is missing or has the wrong type",
        next: "Correct the field in `map_data.json`, or export the map again.",
        story: "A field of `map_data.json` that is needed is not there, has the wrong type, or holds a value that cannot be: origin and step are three finite numbers, the step larger than zero, dim three whole numbers from 1 up, blockSize and blockCount whole numbers from 0 up, file names are text. What can be read without the field is still read.";
    MapFormat = "map-format", Error, "an unknown format of layer",
        next: "See whether a newer voxscope knows this format.",
        story: "A layer's format is `dense` or `block_sparse`. Another word means a newer exporter or a damaged description. How the arrays of such a layer are to be read is not known, so they are not read.";
    MapExtra = "map-extra", Note, "fields of the map's description that are not known",
        next: "Nothing; they are kept.",
        story: "`map_data.json` or one of its layers has fields that are not part of the format as it is known. They are kept, also when the description is written anew.";
    MapLayerName = "map-layer-name", Note, "layers of the same name",
        next: "Nothing; tell such layers apart by their place or by the name of their data file.",
        story: "Two or more layers of a map have the same name. Real exports do this: the same zone is exported once for each place that it has in the scene, with its own origin and its own data file.";
    MapFileName = "map-file-name", Error, "a file name that is not a plain name",
        next: "If the map is meant to be so, move the file beside `map_data.json` and give its plain name; otherwise do not trust this map.",
        story: "The files of a layer lie beside `map_data.json` and are given by their plain names. This name is empty where a file is needed, or has a separator, a drive, `..` or a zero byte in it, and so could lead out of the directory of the map to any file of this machine. It is refused and nothing is opened.";
    MapFileMissing = "map-file-missing", Error, "a file of the map is missing",
        next: "Put the file back beside `map_data.json`, or export the map again.",
        story: "A layer names a file that is not in the directory of the map. Exports are often copied by hand and a file is left behind, or it was renamed. What the layer's other files hold is still read.";
    MapDtype = "map-dtype", Error, "an array of the wrong type of number",
        next: "Export the layer again; the array is whole but is not what its place asks for.",
        story: "Voxels are 32-bit or 64-bit integers, block coordinates 32-bit integers (64-bit ones are read too), depths 32-bit floating-point numbers. The array has another of these types than its place in the layer asks for: perhaps two files were mixed up.";
    MapShape = "map-shape", Error, "an array whose shape does not fit the layer",
        next: "Find out which of the two is right; what both have in common is read.",
        story: "A dense layer's data has the shape of dim, a sparse layer's data is [blocks, 16, 16, 16] and its index [blocks, 3], a depth map is [dim x, dim z]. This array has another shape: the description and the array are of different exports, or one of them is damaged. Positions outside either are not read.";
    MapBlockSize = "map-block-size", Warning, "a block size that the format does not have",
        next: "Compare with the shape of the data, by which blocks are read.",
        story: "A layer with sparse blocks has blocks of 16 voxels along each axis, and a dense layer gives its block size as 0. Another number is in the description. The shape of the data says what the blocks are.";
    MapBlockCount = "map-block-count", Error, "counts of blocks that disagree",
        next: "Blocks without an index row have no place and rows without a block have no voxels; export the layer again.",
        story: "The description's blockCount, the rows of the index and the blocks of the data are one number in a healthy layer (0 in the description of a dense one). They are not, so a file was cut or is of another export. As many blocks are read as both the index and the data have.";
    MapIndexTwice = "map-index-twice", Error, "two blocks at the same place",
        next: "Compare the blocks; the first is the one that is read here.",
        story: "Two or more rows of the index have the same block coordinates, and only one of their blocks can be at that place. The one in the first row is read. Which one a game takes depends on how it loads the index.";
    MapIndexRange = "map-index-range", Error, "a block outside the layer",
        next: "Its voxels cannot be reached by any position; look at them by their number.",
        story: "A row of the index has a negative coordinate, or one at or beyond dim divided by 16. No position in the layer leads to that block. The row is damaged, or dim is too small.";
    MapBeyondDim = "map-beyond-dim", Warning, "voxels set beyond the layer's extent",
        next: "Nothing is lost if the extent is right; if not, correct dim.",
        story: "Where dim is no multiple of 16, the blocks at the edge reach beyond it, and what is there should be 0. Voxels are set there. No position leads to them. The extent may be too small, or the exporter filled whole blocks.";
    MapFlagUnknown = "map-flag-unknown", Warning, "flags that are not known",
        next: "See whether a newer voxscope knows them; if the exporter is not new, suspect damage.",
        story: "Bits 0 to 24 of a voxel have a meaning. Higher ones are set here: a newer exporter, or damaged data. In 64-bit data whose upper half holds the depth, only the lower half is meant.";
    MapFlagDry = "map-flag-dry", Note, "structures without water",
        next: "Nothing; real exports have such voxels.",
        story: "Voxels have structure flags but not WATER. They are air, ground or culled whatever else is set. The exporter marks the inside of stones, piers and the like, so that every real export has them.";
    MapWaterDepth = "map-water-depth", Warning, "water without a depth",
        next: "Compare the depth map with the layer: they may be of different exports.",
        story: "Voxels are water and the depth of their column is 0, negative, infinite or not a number. The depth comes from the depth map, or from the upper half of 64-bit voxels. Bottom and surface cannot be told apart there.";
    MapPackedDepth = "map-packed-depth", Note, "depths in the upper half of the voxels",
        next: "Nothing; this is inferred from the numbers, the file does not say it.",
        story: "Some exports with 64-bit voxels put the depth, in centimetres, into the upper 32 bits and the flags into the lower 32. Nothing in the files says so. It is inferred when at least half of the water has a plausible number there.";
    MapNoDepth = "map-no-depth", Note, "sparse blocks without a depth map",
        next: "Nothing, unless the export should have depths.",
        story: "The layer names no depth file. Dense layers often have none; layers of sparse blocks usually do. Flags are read all the same, and depths are not known.";
    NpyCut = "npy-cut", Error, "an array file that ends in its header",
        next: "Export the layer again or take the file from a backup: no number of the array is in it.",
        story: "The file is empty or ends before its header does, so nothing of the array is in it. It was created or copied and never written to the end.";
    NpyMagic = "npy-magic", Error, "not a NumPy array file",
        next: "See what the file is; if it should be an array, export it again.",
        story: "A `.npy` file begins with the byte 0x93 and the letters NUMPY. These bytes are others: the file is of another kind, or its beginning was overwritten. Zero bytes point to a power loss.";
    NpyVersion = "npy-version", Error, "unknown version of the array file",
        next: "See whether a newer voxscope knows this version.",
        story: "Versions 1.0, 2.0 and 3.0 of `.npy` are known, and NumPy has no other. They differ in how the length of the header is written, so that nothing behind it can be located without knowing the version.";
    NpyHeader = "npy-header", Error, "an impossible header of an array file",
        next: "Export the layer again; if the shape is known, a new header can be written before the same data.",
        story: "The header of a `.npy` file is a dictionary of exactly `descr`, `fortran_order` and `shape`, followed by spaces and a line break. It is not that here. It is also refused when it is 10,000 bytes or longer, as NumPy does: a hostile header can keep a reader busy for minutes.";
    NpyShape = "npy-shape", Error, "an impossible shape of an array",
        next: "Export the layer again; the numbers behind the header may be whole.",
        story: "The shape has more than four dimensions, or so many numbers that their size in bytes does not fit 64 bits. No file can hold such an array.";
    NpyDtype = "npy-dtype", Error, "a type of number that maps do not have",
        next: "Export the layer with int32, int64 or float32.",
        story: "Voxel maps have arrays of int32, int64 (flags and coordinates) and float32 (depths), little-endian or big-endian. The header says another type. The array is not read, because it would not mean what is read into it.";
    NpyTruncated = "npy-truncated", Error, "an array file that is cut short",
        next: "Export the layer again or take the file from a backup; what is there is read.",
        story: "The header claims more numbers than the file holds: the file was cut (disk full, interrupted copy), or the shape is damaged. Numbers up to the end of the file are read, the others are missing. Nothing is allocated from the claim.";
    NpyTrailing = "npy-trailing", Note, "bytes behind the array",
        next: "Nothing; they are not read.",
        story: "The file is longer than its header says. Unity's exporter leaves bytes behind the array when it writes over a longer file. NumPy ignores them too. If the shape is too small by damage, the layer's dim disagrees with it and that is reported.";
    NpyBigEndian = "npy-big-endian", Note, "a big-endian array",
        next: "Nothing; it is read correctly.",
        story: "The numbers of the array are stored with the highest byte first. NumPy reads both orders, and so does voxscope. The exporter writes the lowest byte first, so that the file went through another program.";
    NpyFortran = "npy-fortran", Note, "an array in Fortran order",
        next: "Nothing; it is read correctly, only more slowly where blocks are looked up.",
        story: "The first index of the array runs fastest instead of the last. NumPy reads both orders, and so does voxscope. The exporter writes the last index fastest, so that the file went through another program, such as `np.save` of a transposed array.";
}
