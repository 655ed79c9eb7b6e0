//! Texts of codes for voxel maps and their NumPy arrays.

use crate::damage::text::{Text, any, when};

/// What `repair` does with an array whose header cannot be read.
const NEW_HEADER: &str = "Run `voxscope repair SAVE --out NEW`: it writes a new header if the description and the length of the file show what the array was. Otherwise a layer goes without such depths, and a local layer without such voxels or such an index is left out; the file is kept in lost+found. A global layer stays as it is. Export the layer again.";

pub(super) const UNREADABLE: Text = Text {
    messages: &[any("the description is not readable JSON", "{found}; expected {expected}")],
    next: "If layers can be read, as the finding says, run `voxscope repair SAVE --out NEW`: it writes a description of them. If none can, export the map again or take `map_data.json` from a backup.",
    explanation: "`map_data.json` is a JSON object that lists the layers, their positions and their files. It is empty, cut short, not UTF-8, or not JSON at the position given. The arrays themselves are in the `.npy` files and are not affected.",
};

pub(super) const FIELD: Text = Text {
    messages: &[any("field {field} of map_data.json is not valid", "{found}; expected {expected}")],
    next: "Run `voxscope info SAVE`: it shows what can be read of the map without the field. Correct the field in `map_data.json`, or export the map again, then run `voxscope check SAVE`. `repair` keeps the field as it is unless the arrays show its value.",
    explanation: "A field that `map_data.json` needs is missing, has the wrong type, or has a value out of range: origin and step are three finite numbers, the step larger than zero, dim three whole numbers from 1 up, blockSize and blockCount whole numbers from 0 up, and file names are text. What can be read without the field is still read.",
};

pub(super) const FORMAT: Text = Text {
    messages: &[any("format of the layer is unknown", "{found}; expected {expected}")],
    next: "If a newer exporter wrote the map, use a newer voxscope. Otherwise run `voxscope repair SAVE --out NEW --level likely`: it writes the format that the arrays of the layer show, if they show one. If they do not, correct the field in `map_data.json` or export the map again.",
    explanation: "A layer's format is `dense` or `block_sparse`. Another word means a newer exporter or a damaged description. voxscope does not know how to read the arrays of such a layer, so it does not read them.",
};

pub(super) const EXTRA: Text = Text {
    messages: &[any("{found|unknown field} in the description", "")],
    next: "Nothing to do: the fields are kept.",
    explanation: "`map_data.json` or one of its layers has fields that are not part of the format as voxscope knows it. They are kept, also when the description is rewritten.",
};

pub(super) const LAYER_NAME: Text = Text {
    messages: &[any("{found|layer has|layers have} the name of an earlier layer", "")],
    next: "Nothing to do: distinguish such layers by their position or by the name of their data file.",
    explanation: "Two or more layers of a map have the same name. Real exports do this: a zone is exported once for each position it has in the scene, with its own origin and its own data file.",
};

pub(super) const LAYER_TYPE: Text = Text {
    messages: &[any("type of a layer in `{field}` is not {expected}", "")],
    next: "Nothing to do: the layer is read by its format and its place.",
    explanation: "The layer `global` has the type `Global`, and those of `locals` have the type `LocalStock`. Another word comes from another exporter or from an edit by hand. The type has no effect on how the arrays are read.",
};

pub(super) const NAME: Text = Text {
    messages: &[
        when("directory", "name of the directory contradicts mapID", "{found}; mapID is {expected}"),
        when("data file", "name of a data file contradicts mapID", "{found}; mapID is {expected}"),
        any("names of the files and of the directory differ in the scene", ""),
    ],
    next: "Nothing to do if the directory was renamed. If files of two maps were mixed, export the map again.",
    explanation: "The exporter names files `SCENE_ID_LAYER.npy` with the name of the scene and the id of the map, which is also `mapID` in the description. A directory that is named `SCENE_ID` as well, or a file, has another id or scene. Somebody renamed it, or a description or an array of another map was copied over it.",
};

pub(super) const FILE_UNNAMED: Text = Text {
    messages: &[any("no layer names this array", "")],
    next: "Nothing to do for an array of an earlier export. If it belongs to a layer that is missing in `map_data.json`, export the map again.",
    explanation: "The directory of the map has an array that the description does not name. It is left of an earlier export, or the description lacks its layer. It is not read.",
};

pub(super) const LAYER_OUTSIDE: Text = Text {
    messages: &[any("layer reaches beyond the global one", "")],
    next: "Nothing to do if this part of the map lies at its edge on purpose. Otherwise export the map again.",
    explanation: "By their origin, step and dim, the global layer covers the whole map and each other layer a part of it. This one ends more than a cell of the global layer outside of it: its origin is wrong, or the global layer was exported with other settings.",
};

pub(super) const LAYER_DISAGREES: Text = Text {
    messages: &[any("layer disagrees with the global one about water", "{found} of {expected!} cells")],
    next: "Compare the origin of the layer with its place in the scene, then export the map again.",
    explanation: "Where a layer and the global one overlap, both say which cells are water. The finer layer has more detail, so up to a few cells of ten differ in real exports. Here more than half of the compared cells differ: the layer has another origin than it says, or it was exported from another state of the map.",
};

pub(super) const FILE_NAME: Text = Text {
    messages: &[any("{field} is not a plain file name", "{found}; expected {expected}")],
    next: "If you trust the map, move the file next to `map_data.json` and give its plain name. Otherwise do not use the map. `voxscope repair SAVE --out NEW` writes the layer without the file, or leaves the layer out if the file held its voxels.",
    explanation: "The files of a layer are next to `map_data.json` and are given by their plain names. This name is empty where a file is needed, or contains a separator, a drive, `..` or a zero byte, and so could point to any file of this machine. It is refused and nothing is opened.",
};

pub(super) const FILE_MISSING: Text = Text {
    messages: &[any("file of {field} is missing", "")],
    next: "Restore the file next to `map_data.json`, or export the map again. `voxscope repair SAVE --out NEW` writes the layer without depths. It leaves out a local layer whose voxels or index are missing, and keeps a global one as it is.",
    explanation: "A layer names a file that is not in the directory of the map. Exports are often copied by hand and a file is left behind, or the file was renamed. The layer's other files are still read.",
};

pub(super) const DTYPE: Text = Text {
    messages: &[any("array has the wrong number type", "{found}; expected {expected}")],
    next: "Export the layer again. `voxscope repair SAVE --out NEW` moves the array to lost+found and writes the layer without it, if its voxels are in another file.",
    explanation: "Voxels and block coordinates are integers of any width, and depths 32-bit floating-point numbers. The array has another type than its place in the layer needs: perhaps two files were mixed up.",
};

pub(super) const DTYPE_OTHER: Text = Text {
    messages: &[
        when(
            "type of the layer",
            "array has another number type than the layers before it",
            "{found}; these have {expected}",
        ),
        any("array has a number type that the exporter does not write", "{found}; usual is {expected}"),
    ],
    next: "Nothing to do: the array is read.",
    explanation: "The published page names uint64 and int64, and real exports have int64 or int32 voxels and int32 block coordinates. Another program may have written integers of another width or without a sign. One export has one type in all layers, so a layer of another type comes from another export or program. Their bits are the flags all the same; a type of 8 or 16 bits has no room for the flags above.",
};

pub(super) const SHAPE: Text = Text {
    messages: &[any("{field} does not match the layer", "{found}; expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: if the length of the file confirms the header of the array, it corrects the description, and the reverse. What both shapes have in common is read here.",
    explanation: "A dense layer's data has the shape of dim, a sparse layer's data is [blocks, 16, 16, 16] and its index [blocks, 3], and a depth map is [dim x, dim z]. This array has another shape: the description and the array are of different exports, or one of them is damaged. Positions outside either are not read.",
};

pub(super) const BLOCK_SIZE: Text = Text {
    messages: &[any("blockSize of the layer is not valid", "{found}; expected {expected}")],
    next: "Nothing is lost. Run `voxscope repair SAVE --out NEW`: it corrects blockSize in the description.",
    explanation: "A layer of sparse blocks has blocks of 16 voxels along each axis, and a dense layer stores 0 as its block size. The description has another number. The shape of the data gives the real size, by which the blocks are read.",
};

pub(super) const BLOCK_COUNT: Text = Text {
    messages: &[any("blockCount does not match the blocks of the layer", "{found}; expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: it corrects the count if the index and the data agree. Blocks without an index row have no position and go to lost+found.",
    explanation: "In a healthy layer, the description's blockCount, the rows of the index and the blocks of the data are the same number (0 in the description of a dense layer). They differ, so a file was cut off or is of another export. As many blocks are read as both the index and the data have.",
};

pub(super) const INDEX_TWICE: Text = Text {
    messages: &[any("{found|index row repeats|index rows repeat} the position of an earlier row", "")],
    next: "Run `voxscope repair SAVE --out NEW`: it keeps the first block of each position and puts the others into lost+found.",
    explanation: "Two or more rows of the index have the same block coordinates, and only one of their blocks can be at that position. voxscope reads the block of the first row. Which one a game uses depends on how it loads the index.",
};

pub(super) const INDEX_RANGE: Text = Text {
    messages: &[any("{found|index row is|index rows are} outside the layer", "")],
    next: "Run `voxscope repair SAVE --out NEW`: it takes the block out of the layer and keeps its voxels in lost+found, but not the last block of the global layer.",
    explanation: "A row of the index has a negative coordinate, or one at or beyond dim divided by 16. No position in the layer leads to that block. The row is damaged, or dim is too small.",
};

pub(super) const BEYOND_DIM: Text = Text {
    messages: &[any("{found|voxel is|voxels are} set beyond dim", "")],
    next: "Run `voxscope info SAVE`: it shows the dim of the layer. Nothing is lost if that is right. If it is too small, correct it in `map_data.json`, then run `voxscope check SAVE`. `repair` leaves both as they are.",
    explanation: "If dim is not a multiple of 16, the blocks at the edge reach beyond it, and voxels there should be 0. Some are set, and no position leads to them. dim may be too small, or the exporter filled whole blocks.",
};

pub(super) const FLAG_UNKNOWN: Text = Text {
    messages: &[any("{found|voxel has|voxels have} unknown flags", "")],
    next: "Run `voxscope show SAVE --voxel X,Y,Z` with the cell of the finding: it shows which bits are set. If a newer exporter wrote the map, use a newer voxscope. Otherwise the data is damaged: export the layer again. `repair` keeps the voxels as they are.",
    explanation: "Bits 0 to 24 of a voxel have a meaning. Higher bits are set here: a newer exporter, or damaged data. In 64-bit data whose upper half holds the depth, only the lower half is checked.",
};

pub(super) const FLAG_DRY: Text = Text {
    messages: &[any("{found|voxel has|voxels have} structure flags but not WATER", "")],
    next: "Nothing to do: real exports have such voxels.",
    explanation: "Voxels have structure flags but not the flag WATER. They are air, ground or culled, whatever else is set. The exporter marks the inside of stones, piers and similar objects this way.",
};

pub(super) const WATER_DEPTH: Text = Text {
    messages: &[any("{found|water voxel has|water voxels have} no depth", "")],
    next: "Run `voxscope show SAVE --voxel X,Y,Z` with the cell of the finding: it shows the flags and the depth. They may be of different exports; if so, export the map again. `repair` keeps both as they are.",
    explanation: "Voxels are water, and the depth of their column is 0, negative, infinite or not a number. The depth comes from the depth map, or from the upper half of 64-bit voxels. Bottom and surface cannot be distinguished there.",
};

pub(super) const PACKED_DEPTH: Text = Text {
    messages: &[any("upper half of the voxels holds {found}", "")],
    next: "Nothing to do: this is inferred from the numbers; the file does not say it.",
    explanation: "Some exports with 64-bit voxels store the depth, in centimetres, in the upper 32 bits and the flags in the lower 32. Nothing in the files says so. It is inferred if at least half of the water has a plausible number there.",
};

pub(super) const NO_DEPTH: Text = Text {
    messages: &[any("layer of sparse blocks has no depth map", "")],
    next: "Nothing to do, unless the export should have depths.",
    explanation: "The layer names no depth file. Dense layers often have none; layers of sparse blocks usually have one. Flags are still read, and depths are unknown.",
};

pub(super) const NPY_CUT: Text = Text {
    messages: &[any("{field} of the array is cut short", "{found|byte}; expected {expected|byte}")],
    next: "Export the layer again or copy the file from a backup, then run `voxscope check SAVE`: no number of the array is in the file. `repair` leaves a local layer out and keeps its files in lost+found; the global layer it keeps as it is.",
    explanation: "The file is empty or ends before its header does, so nothing of the array is in it. It was created or copied, and never written to the end.",
};

pub(super) const NPY_MAGIC: Text = Text {
    messages: &[any("first bytes are not those of a NumPy array", "{found}; expected {expected}")],
    next: NEW_HEADER,
    explanation: "A `.npy` file begins with the byte 0x93 and the letters NUMPY. This file is of another kind, or its beginning was overwritten. Zero bytes indicate a power loss.",
};

pub(super) const NPY_VERSION: Text = Text {
    messages: &[any("version of the array file is unknown", "{found}; expected {expected}")],
    next: NEW_HEADER,
    explanation: "Versions 1.0, 2.0 and 3.0 of `.npy` are known, and NumPy has no other. They store the length of the header differently, so nothing after it can be located without knowing the version.",
};

pub(super) const NPY_HEADER: Text = Text {
    messages: &[any("{field} of the array is not valid", "{found}; expected {expected}")],
    next: NEW_HEADER,
    explanation: "The header of a `.npy` file is a dictionary of exactly `descr`, `fortran_order` and `shape`, followed by spaces and a line break. A header of 10,000 bytes or more is refused too, as NumPy does: a hostile header can keep a reader busy for minutes.",
};

pub(super) const NPY_SHAPE: Text = Text {
    messages: &[any("{field} of the array is not valid", "{found}; expected {expected}")],
    next: NEW_HEADER,
    explanation: "The shape has more than four dimensions, or so many numbers that their size in bytes does not fit 64 bits. No file can hold such an array. The numbers after the header may be whole.",
};

pub(super) const NPY_DTYPE: Text = Text {
    messages: &[any("number type of the array is not one of a map", "{found}; expected {expected}")],
    next: NEW_HEADER,
    explanation: "Voxel maps have arrays of integers of 8 to 64 bits, signed or not (flags and coordinates), and float32 (depths), little-endian or big-endian. The header names another type, so the array is not read.",
};

pub(super) const NPY_TRUNCATED: Text = Text {
    messages: &[
        when("data", "array is cut short", "{found|byte}; expected {expected|byte}"),
        any("{field} of the array is cut short", "{found|byte}; expected {expected|byte}"),
    ],
    next: "Export the layer again or take the file from a backup. `voxscope repair SAVE --out NEW` keeps the numbers that are there and fills the others with 0, but keeps the array as it is if nothing of its layer is left.",
    explanation: "The header declares more numbers than the file holds: the file was cut off (disk full, interrupted copy), or the shape is damaged. Numbers up to the end of the file are read. Nothing is allocated for the missing ones.",
};

pub(super) const NPY_TRAILING: Text = Text {
    messages: &[any("{found|byte follows|bytes follow} the array", "")],
    next: "Nothing to do: the bytes are not read.",
    explanation: "The file is longer than its header says. Unity's exporter leaves bytes after the array when it overwrites a longer file. NumPy ignores them too. If damage made the shape too small, the layer's dim disagrees with it and that is reported.",
};

pub(super) const NPY_BIG_ENDIAN: Text = Text {
    messages: &[any("array is big-endian", "")],
    next: "Nothing to do: the array is read correctly.",
    explanation: "The numbers of the array are stored with the highest byte first. NumPy and voxscope read both byte orders. The exporter writes the lowest byte first, so another program wrote this file.",
};

pub(super) const NPY_FORTRAN: Text = Text {
    messages: &[any("array is in Fortran order", "")],
    next: "Nothing to do: the array is read correctly, only looking up blocks is slower.",
    explanation: "The first index of the array varies fastest instead of the last. NumPy and voxscope read both orders. The exporter lets the last index vary fastest, so another program wrote this file, for example `np.save` of a transposed array.",
};
