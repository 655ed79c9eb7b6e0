//! Texts of codes for the header of a region file, its table of blocks, and the slots of negative coordinates.

use crate::damage::text::{Text, any, when};

pub(super) const MISNAMED: Text = Text {
    messages: &[
        when("LOD of the blocks", "blocks of the file belong to another LOD", "{found}; the name says {expected}"),
        when("borders of the blocks", "blocks of the file continue none of the neighbouring regions", ""),
        any("blocks of the file belong to another region", "{found}; the name says {expected}"),
    ],
    next: "Run `voxscope repair SAVE --out NEW`: it gives the file the name of the region that its blocks belong to.",
    explanation: "Only the name of a file gives the coordinates of its region. The borders of this file do not continue the neighbouring regions, or other LODs have other terrain there, and at another place they agree: files were exchanged or renamed, by hand or by a restored backup. The game shows the terrain of the file in the wrong place, with cliffs at its borders. Regions of a save are compared if it has at most about 6,800 region files.",
};

pub(super) const COPIED: Text = Text {
    messages: &[any("blocks of the file are also in another region file", "that of region {found}")],
    next: "Run `voxscope repair SAVE --out NEW`: it moves the file to lost+found if its borders or other LODs show that its blocks belong to the other place. With `--from-backup OLD` it takes the file that was there before. If it keeps both files, look at both places in the game and move the wrong file out of the save.",
    explanation: "Two region files have the same blocks in the same slots, although these are neither of one kind of voxel nor alike: a file was copied over another one, to a new name, or into the directory of another LOD. Where borders with neighbouring regions, or other LODs of the same place, show which of the two files is wrong, the finding says so, and if they leave no doubt, `repair` moves that file to lost+found. The blocks that the game had saved under its name are lost unless there is a backup. Worlds that repeat themselves are not reported.",
};

pub(super) const MISSING: Text = Text {
    messages: &[any("region file is missing", "{found|coarser block has|coarser blocks have} no children")],
    next: "Before the game starts, run `voxscope repair SAVE --out NEW --from-backup OLD`: it takes the file from the backup.",
    explanation: "A coarser LOD has blocks where this LOD has no file. The engine makes the blocks of a LOD from those of the next finer one, so there was a file, and a copy or a cleanup left it out. The game shows the coarse blocks from a distance and new terrain nearby. This is reported where every other coarse block has children, where the hole ends exactly at the borders of the file's region, or where that region is the only one without blocks at a corner of eight regions. Where there is no coarser LOD, nothing shows that a file is missing.",
};

pub(super) const EMPTY: Text = Text {
    messages: &[any("file is empty", "")],
    next: "Run `voxscope repair SAVE --out NEW --from-backup OLD`: it takes the whole file from the backup. Without a backup its blocks are lost, and the file is moved to lost+found.",
    explanation: "The file is 0 bytes long. It was created, or truncated by a failing disk or a power loss, and nothing was written to it. Nothing can be recovered from the file itself. The game treats the region as new or fails to open it.",
};

pub(super) const NOT_REGION: Text = Text {
    messages: &[any("first four bytes are not those of a region file", "{found}; expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: if the blocks are still there, it writes the header of the other region files in front of them. Otherwise add `--from-backup OLD`.",
    explanation: "A region file begins with the four bytes `VXR_`. This file is of another kind, or its first sector was overwritten or lost. Zero bytes indicate a power loss. The blocks after the header may still be whole.",
};

pub(super) const VOXEDIT: Text = Text {
    messages: &[any("file is a rig of Sandbox's VoxEdit and not a region file", "it begins with VXR{found}")],
    next: "Move the file out of the save: VoxEdit opens it, and there is no block in it to repair. If it replaced a region file, run `voxscope repair SAVE --out NEW --from-backup OLD`.",
    explanation: "VoxEdit of The Sandbox stores rigs in files that end in `.vxr` too. They begin with `VXR` and a digit, the version, where a region file begins with `VXR_`. Somebody put the file here by mistake. The game cannot open it as a region, so the blocks of a region of that name are not loaded, and new ones cannot be saved.",
};

pub(super) const VERSION: Text = Text {
    messages: &[any("version of the region file is unknown", "{found}; expected {expected}")],
    next: "If a newer engine wrote the save, use a newer voxscope. Otherwise run `voxscope repair SAVE --out NEW`: it writes the header of the other region files in front of the blocks.",
    explanation: "Versions 1, 2 and 3 of the region file are known. Another number means a newer engine or a damaged fifth byte. Nothing after it can be located without knowing the version.",
};

pub(super) const HEADER_CUT: Text = Text {
    messages: &[any("{field} of the region is cut short", "{found|byte}; expected {expected|byte}")],
    next: "Run `voxscope repair SAVE --out NEW --from-backup OLD`: it takes the whole file from the backup. Without a backup the file is moved to lost+found; no block is in it.",
    explanation: "The file ends inside its header, before the table of blocks, so it cannot contain a block.",
};

pub(super) const NEVER_STORED: Text = Text {
    messages: &[any("file ends after its header", "{found|byte} of the table; expected {expected|byte}")],
    next: "Run `voxscope repair SAVE --out NEW --from-backup OLD`: it takes the whole file from the backup. Without a backup the file is moved to lost+found; no block is in it. If the check also says that the engine refuses the settings, correct those of the stream in the game.",
    explanation: "The file ends right after the 20 bytes of its header (1,044 with a palette), so it has neither a table nor a block. The engine leaves this when it refuses the settings at the first write, because the sector size is too small for the block size (a block has at most 255 sectors) or the region is too large: everything the game tried to save into the file is lost. If the engine accepts the settings, the file was cut off: by a full disk, a power loss or an interrupted copy.",
};

pub(super) const REFUSED: Text = Text {
    messages: &[any("engine refuses to save with these settings", "")],
    next: "Run `voxscope convert SAVE --out NEW`: it writes every block with a sector size that the engine accepts. Then set the same sector size in the stream of the game.",
    explanation: "Before it writes to a region, the engine computes how many sectors a block without compression takes, and how many all blocks of the region take. An entry of the table counts 255 sectors and points to sector 16,777,215 at most. With settings that can exceed this, the engine refuses every save into the region: loading prints an error for each block, a new region file stays at 20 bytes, and the game can abort. The blocks themselves are whole.",
};

pub(super) const BLOCK_SIZE: Text = Text {
    messages: &[any("block size exponent of the region is out of range", "{found}; expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: it writes the header from `meta.vxrm` and keeps every block.",
    explanation: "The header stores the block size as a power of two, 1 to 8 (2 to 256 voxels). Blocks of version 2 and later store their own size and are read by that.",
};

pub(super) const SIZE: Text = Text {
    messages: &[any("region size {found} is out of range", "expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: it writes the header from `meta.vxrm` and keeps every block.",
    explanation: "The header stores the number of blocks along x, y and z. A zero makes the table empty. The position of every block in the file depends on the size of the table, so without it no block can be located.",
};

pub(super) const SECTOR_SIZE: Text = Text {
    messages: &[any("sector size of the region is {found}", "expected {expected|byte}")],
    next: "Run `voxscope repair SAVE --out NEW`: it writes the header from `meta.vxrm` and keeps every block.",
    explanation: "The header's sector size is 0, so no block can be located. A sector size of 65,536 in the meta file does not fit the 16 bits of the header and is stored as 0; the engine does not notice.",
};

pub(super) const DEPTH: Text = Text {
    messages: &[any("depth code of a channel is out of range", "{found}; expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: it writes the header from `meta.vxrm` and keeps every block.",
    explanation: "The header stores a depth code for each of the eight channels: 0, 1, 2 or 3 for 8, 16, 32 or 64 bits. Any other number is damage. Blocks of version 2 and later store their own depths.",
};

pub(super) const LAYOUT: Text = Text {
    messages: &[
        when(
            "block size (power of two)",
            "block size of the header differs from that of its blocks",
            "exponent {found}; the blocks have {expected}",
        ),
        when(
            "region size in blocks",
            "region size of the header contradicts the table and the blocks",
            "{found}; they fit {expected}",
        ),
        when(
            "sector size",
            "sector size of the header contradicts the table and the blocks",
            "{found|byte}; they fit {expected|byte}",
        ),
        when(
            "region size in blocks, by other files",
            "region size of the header is not the one that the tables of the other region files fit",
            "{found}; they fit {expected}",
        ),
        when(
            "sector size, by other files",
            "sector size of the header is not the one that the tables of the other region files fit",
            "{found|byte}; they fit {expected|byte}",
        ),
        any(
            "depth code of a channel in the header differs from that of its blocks",
            "{found}; the blocks have {expected}",
        ),
    ],
    next: "Run `voxscope repair SAVE --out NEW`: it writes the header anew; no block is lost by this damage.",
    explanation: "Here the file itself, or the other region files, show that the header is wrong. Blocks of version 2 and later store their own size and depths: at least three quarters of up to eight blocks of the file have another layout than the header. Or the entries of the table lead to blocks of the right length only with another region size or sector size: that of the meta file, of most other region files, or one that differs by a bit. Or a killed game left a table that fits no size, and only with other sizes each block begins where the one before it ends, and the first one where the table ends. A byte of the header was damaged; the blocks are whole, and are read with the right values. The engine compares the header with its settings and refuses the file.",
};

pub(super) const SHIFTED: Text = Text {
    messages: &[
        when("bytes inserted before this offset", "{found|byte was|bytes were} inserted before this offset", ""),
        when("bytes missing before this offset", "{found|byte is|bytes are} missing before this offset", ""),
        when(
            "bytes inserted before this offset, perhaps in the table",
            "{found|byte was|bytes were} inserted before the first block, perhaps in the table: entries behind them may be those of other positions",
            "",
        ),
        when(
            "bytes missing before this offset, perhaps in the table",
            "{found|byte is|bytes are} missing before the first block, perhaps in the table: entries behind them may be those of other positions",
            "",
        ),
        any("blocks of the file are shifted", "{found|byte}"),
    ],
    next: "Run `voxscope repair SAVE --out NEW`: it reads every block at its present place and writes the file anew.",
    explanation: "From some byte on, the blocks are a number of bytes away from where the table says, with the sizes that the table says. Bytes were put into the file or cut out of it: a damaged disk, a program that treats the file as text, or an interrupted download. voxscope reads the file as it was; offsets in findings count bytes of the file as it was. Only the block in which the change is can be damaged. The game cannot read the blocks that are shifted, and writes new ones over them.",
};

pub(super) const PALETTE: Text = Text {
    messages: &[any("palette byte is not valid", "{found}; expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: it writes the header from `meta.vxrm` and keeps every block.",
    explanation: "The byte before the table says whether a palette of 1,024 bytes comes first: 0x00 no, 0xff yes. Any other value is damage. voxscope reads it as no palette, as the engine does.",
};

pub(super) const FORMAT_UNKNOWN: Text = Text {
    messages: &[
        when(
            "size and depths of the block",
            "size and depths of the block are unknown: blocks of version 1 do not store them",
            "",
        ),
        any("layout of the region is unknown: versions 1 and 2 do not store it, and meta.vxrm cannot be read", ""),
    ],
    next: "Run `voxscope check SAVE --block-size N --region-size N --sector-size N --depths BITS` with the layout of the game (of block files `--block-size N --depths BITS`), or restore the meta file from a backup. Once it reads the blocks, `voxscope repair SAVE --out NEW --block-size N --region-size N --sector-size N --depths BITS` with the same values repairs them.",
    explanation: "Region files of versions 1 and 2 do not store the sizes of blocks, regions and sectors; `meta.vxrm` of the forest does. It is missing or not readable, so no block can be located.",
};

pub(super) const TABLE_CUT: Text = Text {
    messages: &[any("table of blocks is cut short", "{found|byte}; expected {expected|byte}")],
    next: "Run `voxscope repair SAVE --out NEW --from-backup OLD`: it takes the whole file from the backup. Without a backup the file is moved to lost+found; no block is in it.",
    explanation: "The file ends inside its table of blocks. All blocks are stored after the table, so none of them is in the file. The entries that are there are listed.",
};

pub(super) const TABLE_EMPTY: Text = Text {
    messages: &[any("no table entry is in use although blocks follow the table", "")],
    next: "Do not start the game: it would overwrite the blocks. Run `voxscope repair SAVE --out NEW`: it keeps the blocks in lost+found. `--from-backup OLD` restores those that a backup has.",
    explanation: "No entry of the table is in use, and whole blocks follow the table. The game was killed before it wrote the table for the first time; it writes the table only when it flushes or closes. A game that opens this file believes it to be empty and writes from the first sector on, over the blocks. A block does not store its position, so few of them can be restored without a backup.",
};

pub(super) const TABLE_COUNT_ZERO: Text = Text {
    messages: &[any("table entry has a first sector but a count of 0 sectors", "")],
    next: "Run `voxscope repair SAVE --out NEW`: it clears the entry and keeps the unowned block in lost+found. Add `--from-backup OLD` to take the block from a backup.",
    explanation: "The entry names a first sector and a count of zero sectors. The engine writes either an entry of all zeros (no block) or a count of at least one. The block cannot be read through this entry; it may be among the unowned blocks.",
};

pub(super) const TABLE_FOREIGN: Text = Text {
    messages: &[
        when("region of the same table", "table is a copy of another file's", "of region {found}"),
        any("table does not fit the blocks in the file", "another file's, of region {found}, does"),
    ],
    next: "Copy the save before the game runs again: its next save overwrites blocks of this file. Then run `voxscope repair SAVE --out NEW`: it places the blocks by the table that fits them, or by their borders if that is lost.",
    explanation: "Most entries of the file's table lead to no block, or to blocks of other lengths, but nearly all entries of another region's table lead to whole blocks of their length here. So the two files have each other's tables, or each other's blocks: a disk or a tool exchanged parts of them. The blocks are placed by the table that fits. Whether they belong to this region or to the other one is shown by their borders and by other LODs; where nothing shows it, no place is certain. Where the file has the same table as another one, which it fits, a copy replaced its own table: its blocks are placed by their borders alone. This is reported only where the lengths of the blocks differ so much that it cannot be chance.",
};

pub(super) const TABLE_BEYOND_END: Text = Text {
    messages: &[any(
        "sectors of the block run past the end of the file",
        "they end at byte {found}; the file ends at byte {expected!}",
    )],
    next: "Run `voxscope repair SAVE --out NEW`: it looks for the block elsewhere in the file and otherwise keeps the channels that are whole. Add `--from-backup OLD` to take the block from a backup.",
    explanation: "The entry's sectors reach past the end of the file. The file was cut off (disk full, interrupted copy), or the entry is damaged. If only the end is missing, the start of the block may hold whole channels; `voxscope show` lists them.",
};

pub(super) const SECTOR_CUT: Text = Text {
    messages: &[any("last sector is cut short", "ends at byte {found}; the file ends at byte {expected!}")],
    next: "Run `voxscope repair SAVE --out NEW`: it pads the sector; no block is lost. Check that the disk is not full.",
    explanation: "The file ends inside the last sector of a block, after the block's data. The engine pads sectors with zeros, so only padding is missing. The block is whole.",
};

pub(super) const TABLE_OVERLAP: Text = Text {
    messages: &[any(
        "block starts inside the sectors of another block",
        "sector {found}; expected sector {expected!} or later",
    )],
    next: "Do not let the game save into this file. Run `voxscope repair SAVE --out NEW`: it keeps the blocks whose position is certain and moves the others to lost+found; `--level likely` and `--from-backup OLD` settle more.",
    explanation: "Two entries of the table claim the same sectors, so at most one of them is right. The engine never writes this: the table is older than the sectors (the game was killed while saving), the table was torn, or two programs wrote to the save at once.",
};

pub(super) const TABLE_COUNT: Text = Text {
    messages: &[any(
        "sector count of the table entry does not match the block's size",
        "{found|sector}; expected {expected|sector}",
    )],
    next: "Run `voxscope repair SAVE --out NEW`: it writes a table that matches the blocks whose position is certain.",
    explanation: "An entry's sector count is ceil((4 + size) / sector size), where size is the block's size prefix. This entry claims more sectors than its block needs. Either the entry is damaged, or the table is older than the sectors: the game was killed after a save and before it wrote the table. In that case other blocks of the region may be in the wrong place although they decode.",
};

pub(super) const TABLE_GAP: Text = Text {
    messages: &[any("gap of {found|sector} between blocks", "")],
    next: "Do not start the game: its next save to this region overwrites a block. Run `voxscope repair SAVE --out NEW`: it writes the region without gaps and keeps unowned blocks in lost+found.",
    explanation: "The engine packs blocks without gaps and appends a new block at the sum of all sector counts. With a gap between blocks, that sum lies before the end of the last block, so the next block that the game appends overwrites one that is in use. An entry was lost or damaged.",
};

pub(super) const SLOTS_OLD: Text = Text {
    messages: &[any("blocks with negative coordinates are in the slots of the old formula", "")],
    next: "Nothing to do to read it here. Before a current engine opens the save, run `voxscope convert SAVE --out NEW`: it moves these blocks to the slots of the new formula.",
    explanation: "From 2019-08-17 to 2024-03-30 the engine put a block with a negative coordinate one slot too low in its region, wrapping around at the region's edge, and read it with the same formula. Blocks of versions 1 to 3 were always written this way. voxscope shows the positions that the game showed. A current engine shows these blocks moved by one. Blocks of version 4 do not say which formula placed them; `--slots old` reads them with the old formula.",
};

pub(super) const SLOTS_MIXED: Text = Text {
    messages: &[any("region mixes block versions of both slot formulas", "")],
    next: "Compare `voxscope ls SAVE --slots old` with `voxscope ls SAVE --slots new`: positions of the newer blocks may be off by one along negative axes. `repair` does not separate them.",
    explanation: "A region with negative coordinates contains blocks of versions 1 to 3, which the old formula placed, and of version 4, which either formula may have placed. One formula is used for the whole region, that of its first readable block.",
};

pub(super) const SLOTS_TOLD: Text = Text {
    messages: &[any("seams between blocks show which formula placed negative blocks: {found}", "")],
    next: "Nothing to do for the new formula. For the old one, run `voxscope repair SAVE --out NEW` before an engine of today opens the save, because it reads these blocks one slot away: the copy has them in the slots of the new formula. Every command reads them by the formula found; `--slots` overrides it.",
    explanation: "Blocks of version 4 with negative coordinates may have been placed by the old formula (Godot Voxel before 1.2) or by the new one, and the file does not say which. The two formulas make different blocks neighbours at the edges of regions. voxscope compared the seams between these blocks with seams elsewhere in the save: voxels continue across the seams of the right formula.",
};
