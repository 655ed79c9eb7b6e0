//! Texts of codes for files, names and the meta file of a forest.

use crate::damage::text::{Text, any, when};

pub(super) const FILE_UNREADABLE: Text = Text {
    messages: &[any("{field} cannot be read", "")],
    next: "Check the permissions of the file and the health of the disk (`dmesg`, SMART). Copy the save to another disk and run `voxscope check COPY`.",
    explanation: "The operating system refused to open or to read the file, so nothing is known about its content. A missing permission is harmless. An input/output error means that the disk or its file system is failing: copy the whole save to another disk first and work on the copy. `check` exits with 8 for this, combined with 4 when it found damage.",
};

pub(super) const FILE_CHANGED: Text = Text {
    messages: &[any("file changed while it was read", "{found}")],
    next: "Close the game or stop the server, then run `voxscope check SAVE` again, or check a copy of the save.",
    explanation: "The length or the modification time of the file differed before and after the check: a game has the save open and is writing. What was read mixes two states, so the other findings of this file may be false. Nothing locks a save: an editor and a game that open the same save overwrite each other's changes.",
};

pub(super) const NOT_A_FILE: Text = Text {
    messages: &[
        when("directory", "a file in the place of a directory", ""),
        any("not a regular file", "expected a {field}"),
    ],
    next: "Move it out of the save; no data of the save is lost by that. `voxscope repair SAVE --out NEW` moves a directory to lost+found, and leaves a pipe, a socket or a device out of the copy.",
    explanation: "A directory, pipe, socket or device has the name of a region file, a description or a meta file. It is never opened, because reading a pipe can block forever. The engine cannot use it either: it treats the place as empty or fails to save there.",
};

pub(super) const LINK_SKIPPED: Text = Text {
    messages: &[any("symbolic link is not followed", "")],
    next: "If the link is intended, run `cp -rL SAVE NEW`, which copies files in place of links, and then `voxscope check NEW`.",
    explanation: "Symbolic links inside a save are not followed: a save may come from anywhere, and a link in it can point at any file of this machine or back into the save. The engine does follow links. The path given on the command line may itself be a link. `repair` does not copy links.",
};

pub(super) const NAME_REGION: Text = Text {
    messages: &[
        when("place of the region file", "region file lies beside `regions`, where the game does not look for it", ""),
        when(
            "directory of region files",
            "directory of region files is not named `lodN` in `regions`, so the game does not read it",
            "",
        ),
        any("the game does not look for this name", ""),
    ],
    next: "If it is a region file, rename it to `r.X.Y.Z.vxr` with the coordinates of its region. If it is the directory of a LOD, move it to `regions/lodN`, N from 0 to 23. `voxscope repair SAVE --out NEW` moves a file to lost+found.",
    explanation: "The engine looks for `r.X.Y.Z.vxr` with three plain decimal numbers (no plus sign, no leading zero, no capital letters), directly in `regions/lodN`, N from 0 to 23. A file or directory with a similar name is never read by the game. It is often a copy made by hand (`r.0.0.0 (1).vxr`, `r.0.0.0.vxr.bak`) or a file moved by mistake.",
};

pub(super) const NAME_FOREIGN: Text = Text {
    messages: &[
        when(
            "directory of a LOD",
            "directory of a LOD lies beside `regions`, where only the Rust port looks for it",
            "",
        ),
        when("arrays", "arrays are no map, because the map_data.json that describes them is not here", ""),
        any("file does not belong to the format", ""),
    ],
    next: "Nothing to do: the game ignores the file. To read arrays as a map, put the map_data.json of their export beside them.",
    explanation: "The save contains a file that is not part of the format, such as one that a file manager creates in every directory. It is not read.",
};

pub(super) const COPY_CRLF: Text = Text {
    messages: &[any("a copy put {found|carriage return} before line feeds", "")],
    next: "Run `voxscope repair SAVE --out NEW`: it removes the carriage returns and writes the save as it was.",
    explanation: "A copy treated the file as text and put a carriage return before every line feed: version control with `autocrlf`, FTP in text mode, or an archive program that converts line ends. All later bytes are at larger offsets, so the game finds nothing. The change can be undone exactly, and the rest of this check reads the file as it was: offsets of other findings count the restored bytes. Carriage returns that were there before are recognised by the sectors, the sizes of blocks and their ends. Turn the conversion off for these files (`*.vxr binary` in `.gitattributes`) before you copy them again.",
};

pub(super) const COPY_LF: Text = Text {
    messages: &[any("a copy removed {found|carriage return} before line feeds", "")],
    next: "Run `voxscope repair SAVE --out NEW`: it restores each carriage return for which only one place makes its block whole.",
    explanation: "A copy treated the file as text and removed the carriage return before every line feed: version control with `autocrlf`, or FTP in text mode. Each of them moved all later bytes one byte towards the start. The table says where blocks should begin, and a block that lost a byte becomes whole with a carriage return before the right line feed. If several places make it whole, none is chosen, and only that block is damaged. The rest of this check reads the file as it was: offsets of other findings count the restored bytes.",
};

pub(super) const COPY_ENCODING: Text = Text {
    messages: &[any("a copy turned {found|byte} above 127 into UTF-8", "")],
    next: "Run `voxscope repair SAVE --out NEW`: it turns the characters back into bytes and writes the save as it was.",
    explanation: "A program read the file as text, each byte as one character of ISO 8859-1 or of Windows code page 1252, and wrote the text as UTF-8: every byte above 127 became two or three. No other file is valid UTF-8 from its first to its last byte by chance. The change is undone exactly, and the rest of this check reads the file as it was: offsets of other findings count the restored bytes.",
};

pub(super) const COPY_CUT: Text = Text {
    messages: &[any("copy of the file broke off", "{found|byte}")],
    next: "Copy the file again from the original. `voxscope repair SAVE --out NEW` keeps what is there.",
    explanation: "The file ends inside the data that its table, its records or its header lists, and its length is a multiple of the buffers that programs copy with. So the copy broke off: a full disk, a lost connection, a drive that was removed. Everything before the end is whole. The original may be whole as well.",
};

pub(super) const PAGE_ZEROED: Text = Text {
    messages: &[any("pages of the file are zero where data should be", "{found|byte}")],
    next: "Run `voxscope repair SAVE --out NEW`: its last lines say what is lost, if anything is. If blocks are, add `--from-backup OLD` to take them from a backup. If the save is a copy whose original is healthy, copy the file again instead. Check the disk (`dmesg`, SMART).",
    explanation: "Bytes from one multiple of the page size to another are zero, where a block, a chunk or a page of the database should be. A file system that lost power had extended the file and not yet written the data; a copy of a damaged disk skips what it cannot read; a download in parts lacks one. What only these pages held is lost; the rest of the file is not affected. Nothing is lost if they held what a repair writes anew, such as an index, or what nothing uses.",
};

pub(super) const COPY_NAME: Text = Text {
    messages: &[any("a copy changed the name of the file of region {found}", "")],
    next: "Run `voxscope repair SAVE --out NEW`: the file gets the name of its region if no other file has it, and goes to lost+found otherwise.",
    explanation: "The name is that of a region file with other letter case, or with a suffix that programs add when they synchronise directories or copy within one: `r.0.0.0 (conflicted copy).vxr`, `R.0.0.0.VXR`. The game does not find it. If no file has the right name, voxscope reads this one as the region. If one has, that one is used; the other may hold newer or older blocks, and the two are never merged. If several such files claim one region, none is used.",
};

pub(super) const OVER_LIMIT: Text = Text {
    messages: &[
        when("declared size", "declared size exceeds voxscope's limit", "{found|byte}; {expected|byte}"),
        when("decompressed chunk", "decompressed chunk exceeds voxscope's limit", "{found|byte}; {expected|byte}"),
        when("stored chunk", "stored chunk exceeds voxscope's limit", "{found|byte}; {expected|byte}"),
        when("meta file", "meta file exceeds voxscope's limit", "{found|byte}; {expected|byte}"),
        any("limit of voxscope exceeded: {field}", "{found}; {expected}"),
    ],
    next: "Run `voxscope repair SAVE --out NEW`: it keeps what is within the limit, and the file as it is where nothing in it can be changed. If the file is valid, report the limit as a bug.",
    explanation: "A size, count or depth that the file declares exceeds one of the caps in `Limits`, which are well above what the engine writes. The data may still be valid. It is refused so that no file can make the program use more memory or time than its size justifies.",
};

pub(super) const FINDINGS_CUT: Text = Text {
    messages: &[any("{found|finding|findings} of this file not listed", "")],
    next: "Run `voxscope repair SAVE --out NEW`, then `voxscope check NEW`.",
    explanation: "One file has more findings than are listed for one file. The first ones are listed, the others are counted by code. The exit code and the summary count all of them.",
};

pub(super) const META_MISSING: Text = Text {
    messages: &[any("meta.vxrm is missing", "")],
    next: "Before the game starts, run `voxscope repair SAVE --out NEW`: it writes `meta.vxrm` from the headers of the region files (version 3). For versions 1 and 2, add `--from-backup OLD` or the layout of the game: `--block-size N --region-size N --sector-size N --depths BITS`.",
    explanation: "There is a `regions` directory but no `meta.vxrm`. The engine then uses its own settings. If these differ from those of the region files, it refuses every load and every save without telling the player, and a whole session is lost. Region files of version 3 store all that the meta file says; versions 1 and 2 do not.",
};

pub(super) const META_UNREADABLE: Text = Text {
    messages: &[any("the meta file is not readable JSON", "{found}; expected {expected}")],
    next: "Before the game starts, run `voxscope repair SAVE --out NEW`: it writes `meta.vxrm` from the headers of the region files (version 3). For versions 1 and 2, add `--from-backup OLD` or the layout of the game: `--block-size N --region-size N --sector-size N --depths BITS`.",
    explanation: "`meta.vxrm` is a JSON object. This one is empty, cut short, too large, not UTF-8, or not JSON at the position given. A game that is killed while it writes the file leaves it empty or cut short. The game does not start from such a file. Region files of version 3 store the same settings, so voxscope still reads them.",
};

pub(super) const META_VERSION: Text = Text {
    messages: &[any("version of meta.vxrm is unknown", "{found}; expected {expected}")],
    next: "If a newer engine wrote the save, use a newer voxscope. Otherwise run `voxscope repair SAVE --out NEW`: it writes `meta.vxrm` from the headers of the region files (version 3).",
    explanation: "Versions 1, 2 and 3 of `meta.vxrm` are known. Another number means a newer engine or a damaged file. The fields that can be read are still used.",
};

pub(super) const META_FIELD: Text = Text {
    messages: &[any("field {field} of meta.vxrm is not valid", "{found}; expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: it writes `meta.vxrm` from the headers of the region files (version 3). For versions 1 and 2, correct the field by hand.",
    explanation: "A field that the engine needs is missing, has the wrong type, or has a value out of range: block_size_po2 is 1 to 8, region_size_po2 1 to 7, sector_size 1 to 65,535, channel_depths eight codes from 0 to 3, lod_count 1 to 24. A sector size of 65,536 does not fit the 16 bits of the region header, where it becomes 0.",
};

pub(super) const META_EXTRA: Text = Text {
    messages: &[any("meta.vxrm has an unknown field", "")],
    next: "Nothing to do: the engine ignores such fields.",
    explanation: "The meta file has a field that is not part of the format as voxscope knows it. The engine ignores it.",
};

pub(super) const META_DIFFERS: Text = Text {
    messages: &[
        when(
            "block size (power of two) against that of the meta file",
            "block size of the region differs from meta.vxrm",
            "exponent {found}; meta.vxrm has {expected}",
        ),
        when(
            "region size against that of the meta file",
            "region size {found} differs from the {expected} of meta.vxrm",
            "",
        ),
        when(
            "sector size against that of the meta file",
            "sector size of the region differs from meta.vxrm",
            "{found|byte}; meta.vxrm has {expected|byte}",
        ),
        when("layout given by options", "meta file has another layout than the options that were given", ""),
        any("region header differs from meta.vxrm: {field}", "{found}; meta.vxrm has {expected}"),
    ],
    next: "Before the game starts, run `voxscope repair SAVE --out NEW`: it makes `meta.vxrm` agree with the layout that most region files have, or that options give. If files of two saves were mixed, move the foreign ones out first.",
    explanation: "A region file of version 3 stores block size, region size, sector size and depths in its header, and they differ from those of `meta.vxrm`. The header describes its own file, so voxscope uses it. The engine refuses to read or to write such a region. This happens when settings were changed, when files of two saves were mixed, or when the header or the meta file is damaged.",
};

pub(super) const META_LODS: Text = Text {
    messages: &[any("region files in a LOD beyond lod_count of meta.vxrm", "LOD {found}; {expected}")],
    next: "If the files belong to the save, run `voxscope repair SAVE --out NEW`: it raises lod_count in `meta.vxrm`. Otherwise move `regions/lodN` out of the save.",
    explanation: "There are region files in `regions/lodN` for an N that is not below `lod_count` of the meta file. The engine never looks there.",
};

pub(super) const LOD_MISSING: Text = Text {
    messages: &[
        when(
            "files of a LOD between others",
            "LOD {found} has no file of a block although LOD {expected} has blocks",
            "",
        ),
        when(
            "region files of a LOD between others",
            "LOD {found} has no region file although LOD {expected} has blocks",
            "",
        ),
        when("files of the LOD", "LOD {found} has no file of a block", "the meta file counts {expected|LOD|LODs}"),
        any("LOD {found} has no region file", "the meta file counts {expected|LOD|LODs}"),
    ],
    next: "Compare the save with the one it was copied from: if that has the directory, copy it again. Nothing to do if this LOD was never saved.",
    explanation: "Older engines wrote the number of LODs into the meta file. Without that number, blocks of a higher LOD show that a LOD between it and LOD 0 is missing. A LOD without a region file may never have been saved, or a copy lacks its directory.",
};

pub(super) const FOREST_EMPTY: Text = Text {
    messages: &[any("forest has no block", "{found|region file|region files}")],
    next: "Run `voxscope check OLD` with the save that this one was copied from: if it has blocks, copy its whole directory again. Nothing to do for a world that was never saved.",
    explanation: "The meta file describes a save, and no region file has a block. A new world looks like this until the game saves it for the first time; so does a copy of which the directory `regions` was left out. There is nothing to check, so the check does not call the save clean.",
};

pub(super) const LOD_GAP: Text = Text {
    messages: &[
        when("files of the LOD", "LOD {found} has no file of a block although LOD {expected} has blocks", ""),
        any("LOD {found} has no region file although LOD {expected} has blocks", ""),
    ],
    next: "Compare the save with the one it was copied from: if that has the directory, copy it again. Otherwise, for region files, run `voxscope repair SAVE --out NEW --from-backup OLD`: it takes the region files of the LOD from the backup.",
    explanation: "The engine makes the blocks of a LOD from those of the next finer one, so the finer LOD existed, and a copy or a cleanup left it out. The game shows the coarse blocks from a distance and new terrain nearby; what players built there is gone from the copy.",
};

pub(super) const LAYOUT_PORT: Text = Text {
    messages: &[any("region files lie beside the meta file, as the Rust port has them", "")],
    next: "Nothing to do for the Rust port. For the engine, run `voxscope convert SAVE --out NEW`: it writes the directories that the engine looks for.",
    explanation: "The engine stores region files as regions/lodN/r.X.Y.Z.vxr. The Rust port of Godot Voxel stores them as lodN/r.X.Y.Z.vxr beside meta.vxrm, and older versions of it directly beside the meta file. The engine does not find these files.",
};

pub(super) const BLOCK_FILES_REMOVED: Text = Text {
    messages: &[any("blocks are stored in files of their own (VoxelStreamBlockFiles)", "")],
    next: "Run `voxscope convert SAVE --out NEW`: it writes a region forest or, if NEW ends in .sqlite, a stream, which the engine reads.",
    explanation: "`VoxelStreamBlockFiles` stored a directory with `meta.vxbm` and one file for each block, `blocks/lodN/+X-Y+Z.vxb`. The engine removed it on 2022-07-17, so no later engine opens such a save. voxscope reads, checks and converts it; the blocks in it have the same format as those of region files of their time.",
};

pub(super) const BLOCK_FILES_META: Text = Text {
    messages: &[
        when("file", "meta.vxbm is {found}", ""),
        when("LOD", "block files in a LOD beyond lod_count of meta.vxbm", "LOD {found}; {expected}"),
        when("length", "length of meta.vxbm is not valid", "{found}; expected {expected}"),
        when("first four bytes", "first four bytes of meta.vxbm are wrong", "{found}; expected {expected}"),
        any("{field} of meta.vxbm is wrong", "{found}; expected {expected}"),
    ],
    next: "Run `voxscope repair SAVE --out NEW`: it writes `meta.vxbm` where the blocks show their layout. Otherwise add the layout of the game: `--block-size N --depths BITS`.",
    explanation: "`meta.vxbm` has `VXBM`, the version 1, the number of LODs (1 to 32), the block size as a power of two (1 to 8) and the depth codes (0 to 3) of eight channels: 15 bytes. Files until 2020-01-25 have no depths, because every channel had 8 bits then; files until 2019-08-24 store the block size as three numbers of 32 bits. The engine of that time never looked in LODs beyond the number. Where the file does not say it, voxscope takes block size and depths from the first readable block of version 2 or later; of blocks of version 1, which do not store them, it takes the only usual layout by which their channels end where they do.",
};

pub(super) const BLOCK_FILE_NAME: Text = Text {
    messages: &[
        when("place of the file", "block file lies outside of `blocks/lodN`, where the game does not look for it", ""),
        any("name of the block file is not a position", ""),
    ],
    next: "If the file is a block of the save, move it to `blocks/lodN` and name it by its position with a sign before each number, such as `+0-1+12.vxb`. Otherwise move it out of the save. Then run `voxscope check SAVE`.",
    explanation: "The position of a block is stored nowhere but in the name of its file: x, y and z in blocks of its LOD, each with its sign, without separators or leading zeros. A copy made by hand has another name, and the engine never read it. voxscope does not read it either where the directory has other blocks.",
};

pub(super) const BLOCK_FILE_HEADER: Text = Text {
    messages: &[
        when("length", "block file is cut short", "{found}; {expected|byte}"),
        when("first four bytes", "first four bytes of the block file are wrong", "{found}; expected {expected}"),
        any("{field} of the block file is wrong", "{found}; expected {expected}"),
    ],
    next: "Run `voxscope repair SAVE --out NEW`: it moves the file to lost+found and keeps all others. Add `--from-backup OLD` to take the block from a backup. `convert` leaves the block out.",
    explanation: "A block file begins with `VXB_`, the version 1 and the size of the container that follows. The engine rewrote the whole file when a block changed, so a game that was killed meanwhile leaves an empty or a cut file. Only this one block is affected.",
};

pub(super) const BLOCK_FILE_TRAILING: Text = Text {
    messages: &[any("bytes after the block in its file", "{found|byte}")],
    next: "Nothing to do if the block is healthy: `voxscope convert SAVE --out NEW` leaves the bytes out.",
    explanation: "The size in the file covers fewer bytes than the file has. The engine truncated a file before it wrote the block, so it never left such bytes; the size is wrong, or another program appended something. voxscope reads the block by its size.",
};

pub(super) const CONVERSION_LEFT: Text = Text {
    messages: &[any("the save as it was before a conversion is next to this one", "")],
    next: "Run `voxscope diff SAVE_old SAVE`. If blocks are missing in SAVE, the conversion was interrupted: run `voxscope convert SAVE_old --out NEW` with the settings of SAVE. If none is missing, SAVE_old is only a copy.",
    explanation: "When the settings of a stream change, the engine converts the save: it renames the old directory to `NAME_old` (`NAME_old1` and so on when that is taken) and writes every block into a new one. If the game is killed meanwhile, the new save is half-filled and the old one still has every block. After a complete conversion the engine never uses the old save again.",
};
