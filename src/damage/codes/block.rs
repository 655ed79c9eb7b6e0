//! Texts of codes for a block in its sectors, its compressed container and its data.

use crate::damage::text::{Text, any, when};

/// What `repair` does with a block of which nothing, or too little, can be read.
const LEAVE_OUT: &str = "Run `voxscope repair SAVE --out NEW`: it leaves the block out and keeps its bytes in lost+found. Add `--from-backup OLD` to take the block from a backup.";

/// What `repair` does with a block that is damaged from some byte on.
const SALVAGE: &str = "Run `voxscope repair SAVE --out NEW`: it keeps the whole channels of the block if the others can be filled in, and otherwise moves the block to lost+found. Add `--from-backup OLD` to take the block from a backup.";

pub(super) const PREFIX_CUT: Text = Text {
    messages: &[any("size prefix of the block is cut short", "{found|byte}; expected {expected|byte}")],
    next: LEAVE_OUT,
    explanation: "A block begins with its size in four bytes. The file ends before or inside them.",
};

pub(super) const PREFIX: Text = Text {
    messages: &[
        when(
            "size in the block file",
            "size of the block runs past the end of the block file",
            "{found|byte}; {expected|byte} fit",
        ),
        any("size prefix runs past the block's sectors", "{found|byte}; {expected|byte} fit"),
    ],
    next: "Run `voxscope repair SAVE --out NEW`: it keeps the channels that are whole, or finds the block elsewhere if a region file has another block there. A block file goes to lost+found as it is. `--from-backup OLD` settles more.",
    explanation: "The size prefix of the block is larger than the rest of its file, or in a region file than the sectors of its table entry. A block file that is shorter than its size says was written in part: the game was killed meanwhile. In a region file, most often the entry points into the middle of another block, because the table is older than the sectors: the game was killed after it moved blocks and before it wrote the table. `voxscope check SAVE` shows where the blocks are.",
};

pub(super) const ZEROED: Text = Text {
    messages: &[
        when("bytes of the block file", "all bytes of the block are zero", ""),
        any("all sectors of the block are zero", ""),
    ],
    next: "Run `voxscope repair SAVE --out NEW --from-backup OLD`: it takes the block from the backup. Without a backup the block is lost, and the copy leaves it out.",
    explanation: "All sectors of the block are zero, or all bytes of it in a block file. A power loss leaves this when the file system had extended the file but not yet written the data. Nothing can be read from it.",
};

pub(super) const STALE_TAIL: Text = Text {
    messages: &[any("old bytes follow the last block", "{found|byte}")],
    next: "Nothing to do: this is normal.",
    explanation: "The engine never shortens a file. When blocks shrink, the sectors after the last one keep their old bytes: old copies of blocks or parts of them.",
};

pub(super) const UNLISTED: Text = Text {
    messages: &[any("a whole unowned block follows the last block of the table", "sector {found}")],
    next: "Usually nothing to do: it is an old state. If the game crashed, run `voxscope check SAVE` before the game runs again: the block may be the newest state.",
    explanation: "After the last block that the table lists is a whole block that decodes and is not a copy of a listed one. In a healthy file this is the old state of a block, left when the file's blocks shrank. After a crash it may also be a block that was saved after the table was last written. Its bytes alone do not say which. The game's next save may overwrite it.",
};

pub(super) const ORPHAN: Text = Text {
    messages: &[any("no table entry points to this whole block", "sector {found}")],
    next: "Do not let the game save into this file: it may overwrite the block. Run `voxscope repair SAVE --out NEW`: it puts the block into place where its position is certain, and otherwise keeps it in lost+found.",
    explanation: "No entry of the table points to this block, which decodes, in a region whose table is damaged or older than its sectors. It is probably a live block that lost its entry, or one that was saved after the table was last written. A block does not store its position.",
};

pub(super) const MISPLACED: Text = Text {
    messages: &[any("table entry points to the block of another position", "sector {found}")],
    next: "Copy the save before the game runs again, then run `voxscope repair SAVE --out NEW`: it puts the blocks whose position is certain into place. Add `--level likely` for likely ones, `--from-backup OLD` to settle more.",
    explanation: "The block decodes, but the order of the blocks in the file, or the voxels at the borders of its neighbours, show that it belongs elsewhere. Usually the game was killed after it moved blocks and before it wrote the table; entries may also have been exchanged, or the table be that of another file. The game shows blocks of other positions without an error. A block does not store its position: the finding names the evidence and how likely it makes the position. `check --level decode` does not find it.",
};

pub(super) const MOVED: Text = Text {
    messages: &[any("block is not at the sector that its table entry gives", "sector {found}")],
    next: "Run `voxscope repair SAVE --out NEW`: it puts the block into place if its position is certain, with `--level likely` also if it is likely. The game itself does not find the block.",
    explanation: "The table entry points to bytes that are not a whole block, and the block of this position is elsewhere in the file: later blocks were moved down when one shrank, or the block grew and was appended at the end, and the game was killed before it wrote the table. The finding names the sector and how likely it is. `check --level decode` does not find it.",
};

pub(super) const TORN: Text = Text {
    messages: &[any("block is torn: only a part of its bytes is its own", "sector {found}")],
    next: SALVAGE,
    explanation: "The game writes a block piece by piece. A game that is killed meanwhile leaves half of the new state over half of the old one; the rest of the old state is gone. A power failure, a disk or a transfer that changes bytes of a block leaves the same. The verdict at the end of `check` names the likeliest of these. The part before the tear decodes and often holds whole channels. `check --level decode` does not find it.",
};

pub(super) const HALF_MOVED: Text = Text {
    messages: &[any("only a part of the block was moved", "sector {found}")],
    next: "Run `voxscope repair SAVE --out NEW`: it joins the parts, and nothing of the block is lost.",
    explanation: "When a block shrinks or grows, the game moves all later sectors down, one at a time. A game that is killed meanwhile leaves a block whose first sectors are at their new place and whose other sectors are at the old one, with some sectors stored twice in between. Both parts are whole, so the block can be joined. `check --level decode` does not find it.",
};

pub(super) const DOUBLED: Text = Text {
    messages: &[any("second copy of a whole block", "sector {found}")],
    next: "Run `voxscope repair SAVE --out NEW`: it writes the region without the second copy. The block is whole.",
    explanation: "The game was killed while it moved later sectors down, and the last ones that it moved are still at their old place too. The finding names the position of the block. An old table can point to either copy, or between them. `check --level decode` does not find it.",
};

pub(super) const OWNERLESS: Text = Text {
    messages: &[any("whole block is unowned", "sector {found}")],
    next: "Do not let the game save into this file. Run `voxscope repair SAVE --out NEW`: it puts the block into place where its position is certain, and otherwise keeps it in lost+found. With `--from-backup OLD` it also puts it into place if the backup has the same block.",
    explanation: "No entry points to the block. It was probably saved after the table was last written: it is a block that grew and was appended at the end, or a new one. The order of the blocks does not show where it belongs. If the voxels at the borders of its neighbours do, the finding names the position; otherwise its position is unknown. A block does not store its position. `check --level decode` does not find it.",
};

pub(super) const PLACE_DOUBT: Text = Text {
    messages: &[any("position of the block is in doubt", "sector {found}")],
    next: "Run `voxscope repair SAVE --out NEW --level likely`: it writes the block if its position is at least 98 % likely, and marks it in repair.json. Without `--level likely` the block is kept in lost+found. `--from-backup OLD` settles more.",
    explanation: "The table of this region is older than its sectors, and the block that this entry points to may or may not belong here: the order of the blocks and the borders with the neighbours do not decide it. It may be right, or it may be the block of another position. `check --level decode` does not find it.",
};

pub(super) const CONTAINER_EMPTY: Text = Text {
    messages: &[any("container of the block is empty", "")],
    next: LEAVE_OUT,
    explanation: "The block's size is zero, so not even the byte that names the compression is there.",
};

pub(super) const CONTAINER_MODE: Text = Text {
    messages: &[any("compression byte of the block is unknown", "{found}; expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: if the table is older than the sectors, it finds the block by the order of the sectors; otherwise it leaves the block out and keeps its bytes in lost+found. Add `--from-backup OLD` to take it from a backup.",
    explanation: "The first byte of a stored block is 0 (not compressed), 1 or 2 (LZ4) or 3 (Zstandard). Before 2021-01-31 there was no such byte and the decompressed size came first; reading it that way failed too. Most often the table entry points into the middle of another block.",
};

pub(super) const CONTAINER_CUT: Text = Text {
    messages: &[any("{field} of the container is cut short", "{found|byte}; expected {expected|byte}")],
    next: LEAVE_OUT,
    explanation: "After the byte that names the compression come four bytes with the decompressed size, and the data ends inside them.",
};

pub(super) const CONTAINER_DECLARED: Text = Text {
    messages: &[any("declared size exceeds what the compressed data can expand to", "{found|byte}; {expected|byte}")],
    next: SALVAGE,
    explanation: "The container declares a decompressed size that its bytes cannot expand to: LZ4 expands at most 255 times. voxscope allocates nothing for it. The engine's own reader trusts this number up to 4 GiB.",
};

pub(super) const CONTAINER_CORRUPT: Text = Text {
    messages: &[any("{field} cannot be decoded", "{found}")],
    next: SALVAGE,
    explanation: "The LZ4 block or the Zstandard frame is damaged at the position given. The part before it decodes and often holds whole channels, since TYPE and SDF come first; `voxscope show` lists them. Either the bytes were overwritten (the game was killed while it wrote the block), or the table entry points to other data.",
};

pub(super) const CONTAINER_LENGTH: Text = Text {
    messages: &[
        when(
            "content size of the frame",
            "content size of the Zstandard frame is wrong",
            "{found|byte}; the content has {expected|byte}",
        ),
        any("decompressed size differs from the declared size", "{found|byte}; declared {expected|byte}"),
    ],
    next: SALVAGE,
    explanation: "The compressed data decodes, but to another size than the container declares. The declared size or the compressed bytes were altered. The engine refuses the block.",
};

pub(super) const CONTAINER_CHECKSUM: Text = Text {
    messages: &[any(
        "checksum of the Zstandard frame does not match its content",
        "{found}; the content has {expected}",
    )],
    next: LEAVE_OUT,
    explanation: "The Zstandard frame stores a checksum of its content, and the content has another one. The frame decodes, but some byte of it is not what was saved.",
};

pub(super) const CONTAINER_BYTE_ORDER: Text = Text {
    messages: &[any(
        "declared size is little-endian under mode 1",
        "the engine reads {found|byte}; the data has {expected|byte}",
    )],
    next: "Nothing is lost, but the engine cannot read it. Run `voxscope repair SAVE --out NEW`: it writes the data with mode 2 and keeps the old bytes in lost+found. Do not let the game save over it before.",
    explanation: "Mode 1 is LZ4 with a big-endian size. From 2025-10-18 to 2026-05-14 VoxelBlockSerializer with COMPRESSION_LZ4 (release 1.6 among others) wrote mode 1 with a little-endian size, and from 2025-10-18 to 2025-12-07 so did streams with the compression set to LZ4. The engine reads the size as big-endian and refuses the data. The data itself is complete, and voxscope reads it.",
};

pub(super) const BYTE_ORDER: Text = Text {
    messages: &[
        when(
            "raw values that show no byte order",
            "raw values of the block are {found}, as other blocks of the save show",
            "expected {expected}",
        ),
        any("{field} of the block are {found}", "expected {expected}"),
    ],
    next: "Nothing is lost, but the engine shows noise on a little-endian machine. Run `voxscope repair SAVE --out NEW`: it writes the values as little-endian and keeps the old bytes in lost+found. Do not let the game save over it before.",
    explanation: "The engine copies raw channels of more than 8 bits from memory, so a big-endian machine writes them in its own byte order; everything else in a block is little-endian on every machine. A block does not name its byte order. voxscope infers it from the distances: as big-endian they are a smooth field, or floats of a sane size, and as little-endian they are noise. It then reads all raw channels of that block as big-endian; the decompressed bytes that it shows are those after the correction. A block whose distances show nothing has the order of its file: big-endian if the blocks that show one are big-endian, all of them or at least 8 of 9, and otherwise little-endian. Where no block of the file shows one, other files of the save decide. If nothing else shows an order, many blocks of types do: types are small numbers, so that one half of their bytes is zero.",
};

pub(super) const CONTAINER_TRAILING: Text = Text {
    messages: &[any("{found|byte follows|bytes follow} the compressed data", "")],
    next: "Nothing is lost. Run `voxscope repair SAVE --out NEW`: it writes the block without the extra bytes and keeps the old bytes in lost+found.",
    explanation: "The size prefix of the block counts more bytes than the Zstandard frame needs. The extra bytes are ignored.",
};

pub(super) const VERSION: Text = Text {
    messages: &[any("version of the block is unknown", "{found}; expected {expected}")],
    next: "If a newer engine wrote the save, use a newer voxscope. Otherwise run `voxscope repair SAVE --out NEW`: it leaves the block out and keeps its bytes in lost+found. Add `--from-backup OLD` to take it from a backup.",
    explanation: "Block data begins with its version, 2, 3 or 4. Version 1 stores none and begins with the storage of its first channel, 0 or 1. Another value means a newer engine, or bytes that are not a block.",
};

pub(super) const HEADER_CUT: Text = Text {
    messages: &[any("header of the block is cut short", "{found|byte}; expected {expected|byte}")],
    next: LEAVE_OUT,
    explanation: "The block data ends inside its version and size, before the first channel, so nothing of the block can be shown.",
};

pub(super) const SIZE_ZERO: Text = Text {
    messages: &[any("block size {found} has an axis of 0 voxels", "")],
    next: LEAVE_OUT,
    explanation: "The block declares a size of zero along an axis. The engine never writes such a block.",
};

pub(super) const SIZE: Text = Text {
    messages: &[any("block size {found} differs from the {expected} of the save", "")],
    next: "Run `voxscope repair SAVE --out NEW`: it leaves the block out and keeps its bytes in lost+found. Add `--from-backup OLD` to take the block from a backup. If every block of the file has this size, the header is wrong instead.",
    explanation: "The block declares another size than its region (or its meta file) has for all blocks. The engine stores blocks of one size in a region, so this block is from another save, or the header of the block or the region is damaged. The block is read by its own size.",
};

pub(super) const DEPTH: Text = Text {
    messages: &[any("{field} has another depth than the region declares", "{found}; expected {expected}")],
    next: "Nothing is lost. Run `voxscope repair SAVE --out NEW`: it writes the block with the depths of the region where the values fit, and keeps the old bytes in lost+found.",
    explanation: "The block stores a channel with another depth than the region's header declares. The engine refuses to write that. The block is read by its own depth.",
};

pub(super) const CHANNEL_STORAGE: Text = Text {
    messages: &[any("{field} names an unknown storage", "{found}; expected {expected}")],
    next: SALVAGE,
    explanation: "A channel is stored raw (0) or uniform (1). Another value is damage. Since the length of the channel is then unknown, nothing after it can be located. The channels before it are whole.",
};

pub(super) const CHANNEL_DEPTH: Text = Text {
    messages: &[any("{field} names an unknown depth", "{found}; expected {expected}")],
    next: SALVAGE,
    explanation: "The upper half of a channel's format byte is its depth, 0 to 3 for 8 to 64 bits. Another value is damage. Since the length of the channel is then unknown, nothing after it can be located. The channels before it are whole.",
};

pub(super) const CHANNEL_CUT: Text = Text {
    messages: &[any("{field} is cut short", "{found|byte}; expected {expected|byte}")],
    next: SALVAGE,
    explanation: "The block ends inside the data of a channel. The channels before it are whole; the voxels that are there are still shown.",
};

pub(super) const EPILOGUE: Text = Text {
    messages: &[any("epilogue of the block is wrong", "{found}; expected {expected}")],
    next: SALVAGE,
    explanation: "The last four bytes of a block are 0x900df00d. This block ends with others, so it was cut off, overwritten or altered. The engine refuses to load it. Its channels may still be whole, because they come before; `voxscope show` lists them.",
};

pub(super) const EPILOGUE_MISSING: Text = Text {
    messages: &[any("epilogue of the block is missing", "{found|byte} left; expected {expected|byte}")],
    next: SALVAGE,
    explanation: "The block ends before the four bytes 0x900df00d that close it: it was cut off. The engine refuses to load it. Its channels may still be whole, because they come before; `voxscope show` lists them.",
};

pub(super) const TEXTURES_REPEAT: Text = Text {
    messages: &[any("INDICES repeat a texture in {found|voxel}", "")],
    next: "Nothing to do if the game does not use Mixel4. Otherwise paint these voxels again in the game, or run `voxscope convert SAVE --textures single --out NEW` if the project uses Single.",
    explanation: "With the texturing mode Mixel4, INDICES of 16 bits hold four texture indices of 4 bits and WEIGHTS their weights. An index must not occur twice in a voxel: the mesher then uses only one of its weights, and the voxel shows another mixture. Generators and scripts that set the channels themselves make this mistake; the engine checks it in debug builds only. A game that uses the channels for something else has such values as well.",
};
