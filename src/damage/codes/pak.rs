//! Texts of codes for pak regions.

use crate::damage::text::{Text, any, when};

/// What `repair` does with a chunk that its record does not lead to.
const FIND_CHUNK: &str = "Run `voxscope repair SAVE --out NEW`: it corrects the record if exactly one chunk of the file fits it. Otherwise the chunk is left out: take the file from a backup.";

pub(super) const HEADER_CUT: Text = Text {
    messages: &[any("header of the pak region is cut short", "{found|byte}; expected {expected|byte}")],
    next: "Take the file from a backup: no chunk is in this one. `voxscope repair SAVE --out NEW` moves it to lost+found.",
    explanation: "A pak region begins with 16 bytes: a tag, the version, the number of records and the first block. The file ends before or inside them, so nothing in it can be located. A power loss or a full disk leaves an empty file.",
};

pub(super) const VERSION: Text = Text {
    messages: &[any("version of the pak region is unknown", "{found}; expected {expected}")],
    next: "Run `voxscope ls SAVE` to see whether its chunks decode. A newer version may exist: `repair` keeps the number unless other fields of the header are damaged too. Then it takes the version of the other files.",
    explanation: "Versions 6 and 7 of the pak region are known; they differ only in the content of chunks. The file is read as one of these. If the other header fields make no sense either, the file is something else or its first bytes were overwritten.",
};

pub(super) const RECORD_COUNT: Text = Text {
    messages: &[any("number of records is out of range", "{found}; expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: it corrects the number if the chunks of the file show it. Otherwise take the file from a backup.",
    explanation: "The header stores the number of records as a signed number. This one is zero, negative or larger than the 32,768 blocks that records can address. Nothing is allocated for it. If the version is known, 1,024 records, as in current files, are read instead, as far as the file holds them, and the finding says so.",
};

pub(super) const RECORDS_OTHER: Text = Text {
    messages: &[any("number of records has no known layout", "{found}; known are {expected}")],
    next: "Nothing to do. The chunks have numbers instead of positions.",
    explanation: "A region has 1,024 records, one for each chunk of a layer of 32 x 32, or in version 6 perhaps 4,096. The header may have another number than records_per_region of the game. Which chunk a record is, is not known then.",
};

pub(super) const SIZES_DIFFER: Text = Text {
    messages: &[any("most regions of the room have another number of records", "{found}; the others have {expected}")],
    next: "Nothing to do if games of different versions wrote the room.",
    explanation: "The regions of a room usually have the same number of records. Another number means that another version of the game wrote this file, or that it belongs to another room.",
};

pub(super) const COUNT_LOW: Text = Text {
    messages: &[any("number of records is too low", "{found}; the file has {expected}")],
    next: "Do not let the game save into this file: it may overwrite chunks. Run `voxscope repair SAVE --out NEW`: it corrects the number and keeps every chunk.",
    explanation: "The number of records in the header is possible, but more records follow the last one that it counts, and each of them gives the place and length of a whole chunk. The number was overwritten. The game does not see these chunks and may overwrite their blocks, which count as free. Files have 1,024 or 4,096 records.",
};

pub(super) const RECORDS_CUT: Text = Text {
    messages: &[any("records are cut short", "{found|byte}; expected {expected|byte}")],
    next: "Take the file from a backup: all data follows the records, so none is in this file. `voxscope repair SAVE --out NEW` leaves the file out of the copy and keeps what is there of it in lost+found.",
    explanation: "The file ends inside its records, which follow the header with 8 bytes for each chunk. All chunks follow the records. The records that are there are listed.",
};

pub(super) const FIRST_BLOCK: Text = Text {
    messages: &[any("first block of the pak region is out of range", "{found}; expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: it corrects the first block if the chunks of the file show it. With 1,024 records it is 3.",
    explanation: "The header stores where the data begins, in blocks of 4,096 bytes (some writers: in bytes). The number is negative, so the records point before the start of the file or into the header, and most chunks cannot be located.",
};

pub(super) const OFFSET_READING: Text = Text {
    messages: &[any("unit of first_block_offset is not certain: {found}", "")],
    next: "Nothing to do if the chunks decode. If they do not, run `voxscope check SAVE --pak-offset bytes` and `--pak-offset blocks` and keep the one with fewer findings.",
    explanation: "The notes on the format contradict themselves: one passage counts the first block in blocks of 4,096 bytes, another in bytes. voxscope uses blocks unless only bytes make sense, that is, unless only then the data of all records lies inside the file and after the header. The finding is reported when bytes were used, when both units fit, or when neither does. `--pak-offset` overrides the choice.",
};

pub(super) const RECORD_OFFSET: Text = Text {
    messages: &[any("block offset of the record is out of range", "{found}; expected {expected}")],
    next: FIND_CHUNK,
    explanation: "A record stores its first block as a signed number of 16 bits; -1 says that there is no chunk. Other negative numbers do not exist: the record was overwritten, or the header's number of records is wrong and this is not a record.",
};

pub(super) const RECORD_BLOCKS: Text = Text {
    messages: &[any("block count of the record is out of range", "{found}; expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: it corrects the record if its chunk decodes.",
    explanation: "A record that has a chunk counts at least one block for it. This count is zero or negative. voxscope infers the number of blocks from the record's length in bytes where that makes sense.",
};

pub(super) const FILE_LENGTH: Text = Text {
    messages: &[any("length in the record does not fit its blocks", "{found|byte}; expected {expected|byte}")],
    next: "Run `voxscope repair SAVE --out NEW`: it corrects the length if the chunk decodes, since a zlib stream marks its own end.",
    explanation: "A record stores the length of its compressed stream in bytes, which is at least 1 and fits the record's blocks of 4,096 bytes. This length is zero, negative or larger. Since a zlib stream marks its own end, all blocks of the record are read, and no block that another record may own.",
};

pub(super) const IN_HEADER: Text = Text {
    messages: &[
        when("record", "chunk begins before the start of the file", ""),
        any("chunk begins inside the header", "byte {found}; the header and the records end at byte {expected!}"),
    ],
    next: "Run `voxscope repair SAVE --out NEW`: it corrects the record or the header's first block if the chunks of the file show it. If many records are affected, run `voxscope check SAVE --pak-offset bytes` too.",
    explanation: "The data of a record begins before the end of the header and the records, where no chunk can be. The record or the header's first block was overwritten, or the first block is counted in another unit than voxscope assumed.",
};

pub(super) const BEYOND_END: Text = Text {
    messages: &[any(
        "chunk runs past the end of the file",
        "it ends at byte {found}; the file ends at byte {expected!}",
    )],
    next: FIND_CHUNK,
    explanation: "The data of a record reaches past the end of the file. The file was cut off (disk full, interrupted copy), or the record is damaged. If only the end of the stream is missing, the part before it decodes and `voxscope show` shows it.",
};

pub(super) const OVERLAP: Text = Text {
    messages: &[any("blocks of the record belong to another record too", "{found|byte} shared")],
    next: "Do not let the game save into this file. Run `voxscope repair SAVE --out NEW`: if two records claim one chunk, neither keeps it, and the chunk goes to lost+found with both records as candidates.",
    explanation: "Two records claim the same blocks of the file, so at most one of them is right. Either a record was overwritten, or the records are older than the blocks: the game was stopped while it saved.",
};

pub(super) const UNLISTED: Text = Text {
    messages: &[any("no record points to this whole chunk", "{found|byte} decompressed")],
    next: "Usually nothing to do: it is an old state. If the game crashed, copy the save before the game runs again: the chunk may be the newest state.",
    explanation: "Blocks that no record claims contain a whole zlib stream whose checksum matches. In a healthy file this is the old state of a chunk, left when the chunk was saved elsewhere. After a crash it may also be a chunk that was saved after the records were last written. A chunk does not store its position.",
};

pub(super) const ORPHAN: Text = Text {
    messages: &[any("whole chunk lost its record", "{found|byte} decompressed")],
    next: "Do not let the game save into this file: it may overwrite the chunk. Run `voxscope repair SAVE --out NEW`: it corrects the record of the chunk if only one can be meant, and otherwise keeps the chunk in lost+found.",
    explanation: "Blocks that no record claims contain a whole zlib stream whose checksum matches, in a file whose header or records are damaged or older than its blocks. It is probably a live chunk whose record was lost. A chunk does not store its position; a damaged record with exactly its length is named as a candidate.",
};

pub(super) const SHIFTED: Text = Text {
    messages: &[
        when("bytes inserted before this offset", "{found|byte was|bytes were} inserted before this offset", ""),
        when("bytes missing before this offset", "{found|byte is|bytes are} missing before this offset", ""),
        any("chunks of the pak region are shifted", "{found|byte}"),
    ],
    next: "Run `voxscope repair SAVE --out NEW`: it reads every chunk at its present place and writes the file anew.",
    explanation: "From some byte on, the chunks are a number of bytes away from where their records say, with the lengths that the records say and with checksums that match. Bytes were put into the file or cut out of it: a damaged disk, a program that treats the file as text, or an interrupted download. voxscope reads the file as it was; offsets in findings count bytes of the file as it was. The chunk in which the change is can be restored if bytes were put into it: its checksum proves which. The game cannot read the chunks that are shifted.",
};

pub(super) const MISPLACED: Text = Text {
    messages: &[any("record points to the chunk of another record", "{found|byte} decompressed")],
    next: "Run `voxscope repair SAVE --out NEW`: it gives each of the two records the chunk that continues its neighbours.",
    explanation: "The chunk decodes, but its outer voxels do not match the chunks around it; they match those around another record, whose chunk fits here. The two records were exchanged. A chunk does not store its position; this is reported only if the next best position is much worse. `check --level decode` does not find it.",
};

pub(super) const ZLIB: Text = Text {
    messages: &[any("zlib stream of the chunk cannot be decoded", "{found}")],
    next: FIND_CHUNK,
    explanation: "The compressed data of a chunk is not a zlib stream, or is damaged at the position given. The part before it decodes and is kept. Either the bytes were overwritten, or the record points to other data.",
};

pub(super) const ZLIB_CUT: Text = Text {
    messages: &[any("zlib stream does not end inside its record", "{found|byte} read")],
    next: "Run `voxscope repair SAVE --out NEW`: it corrects the record's length if the stream continues after it. Otherwise the part that decodes goes to lost+found: take the file from a backup.",
    explanation: "The bytes of the record end before the zlib stream does: the file was cut off, or the record's length is smaller than what was written. The part that is there decodes and is kept.",
};

pub(super) const ZLIB_TRAILING: Text = Text {
    messages: &[any("{found|byte follows|bytes follow} the zlib stream", "")],
    next: "Nothing is lost. Run `voxscope repair SAVE --out NEW`: it corrects the length in the record.",
    explanation: "The record's length counts more bytes than the zlib stream needs. The chunk is whole. The length or the stream was altered, or an older and longer chunk was stored here before.",
};

pub(super) const ZLIB_CHECKSUM: Text = Text {
    messages: &[any(
        "checksum of the chunk does not match its content",
        "Adler-32 {found}; the content has {expected}",
    )],
    next: "Run `voxscope repair SAVE --out NEW`: it leaves the chunk out and keeps its bytes in lost+found. If all of the chunk decodes, `--level likely` keeps it with a new checksum; one of its bytes may be another than was saved. To be sure of them, take the file from a backup.",
    explanation: "A zlib stream ends with the Adler-32 checksum of its content, and the content has another one. The stream decodes, but some byte of it, or the checksum itself, is not what was saved. The game refuses such a chunk.",
};

pub(super) const SHAPE: Text = Text {
    messages: &[any("length of the chunk fits no known shape", "{found|byte}; expected {expected|byte}")],
    next: "If you know the shape, run `voxscope check SAVE --chunk-shape X,Y,Z --voxel-bytes N`. Otherwise the chunk is shown as hex, and `repair` keeps it as it is.",
    explanation: "A chunk is a plain array of voxels; neither its shape nor the voxel size is stored. Known are 32 × 32 × 32 voxels of 1, 2, 4 or 8 bytes, and 16 × n × 16 with n a multiple of 16. The decompressed length fits none of these, or not the shape given by an option. The chunk may be of another kind, or was cut off when it was written.",
};

pub(super) const NAME: Text = Text {
    messages: &[any("the game does not look for this name", "")],
    next: "Run `voxscope repair SAVE --out NEW`: the file gets the name of its region if its own name shows which one it is and no other file claims it; otherwise it goes to lost+found as it is. Rename it by hand if you know its region.",
    explanation: "The game looks for `xX_yY_zZ.region` with three plain decimal numbers: no plus sign, no leading zero, no capital letters. A file with a similar name is never read by the game. It is often a copy made by hand, or a file moved by mistake. Its chunks are whole: nothing is lost, but the game does not find them.",
};

pub(super) const PLACE: Text = Text {
    messages: &[any("file name gives region {found}, where its chunks cannot be", "expected {expected}")],
    next: "Run `voxscope info SAVE`: it lists the regions of all files, which show the one that is missing. Rename the file to its region, then run `voxscope check SAVE`: it was probably renamed by hand. `repair` does not change the name.",
    explanation: "The name of a pak region is its position, counted in regions. The chunks of that region must have coordinates that fit 32 bits, and a file of 1,024 records holds only the layer of chunks with y = 0, so its name contains y0. This name says something else. The chunks are still read, at the position that the name gives if there is one.",
};

pub(super) const COPIED: Text = Text {
    messages: &[any("chunks of the file are also in another pak region", "that of region {found}")],
    next: "Run `voxscope SAVE`, or start the game, and look at both places: the wrong file does not continue those beside it. Take it from a backup, or move it out of the save.",
    explanation: "Two pak regions of a room have the same chunks in the same records, at least four different ones, or 8 KiB of them: a file was copied over another one, or to a second name. The file does not show which of the two the game wrote, so `repair` keeps both. The chunks that the game had saved under the name of the copy are lost unless there is a backup. Rooms in which more than a quarter of the files are like others repeat themselves, and are not reported; one pair beside other files is.",
};

pub(super) const DUPLICATE: Text = Text {
    messages: &[any("another file has the name of the same region {found}", "")],
    next: "Keep the file with the plain name, which is the one the game reads, and move the other out of the save. `voxscope repair SAVE --out NEW` moves it to lost+found.",
    explanation: "Two files of the directory name the same region, such as `x0_y0_z0.region` and `x00_y0_z0.region`. The game reads only the one whose name it writes itself. The other is often a copy, and may be older or newer.",
};
