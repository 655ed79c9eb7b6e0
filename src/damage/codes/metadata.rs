//! Texts of codes for the metadata of a block, the Variants in it, and instance data.

use crate::damage::text::{Text, any, when};

/// What `repair` does with metadata that is damaged.
const KEEP_CHANNELS: &str = "Run `voxscope repair SAVE --out NEW`: it keeps the channels of the block and the metadata items before the damage, and puts the stored bytes into lost+found. Add `--from-backup OLD` to take the block from a backup.";

/// What `repair` does with instance data that is damaged.
const LEAVE_INSTANCES: &str = "Run `voxscope repair SAVE --out NEW`: it keeps the voxels of the block, leaves its instances out and puts the stored instance data into lost+found. Add `--from-backup OLD` to take the instances from a backup.";

pub(super) const CUT: Text = Text {
    messages: &[any("{field} is cut short", "{found|byte}; expected {expected|byte}")],
    next: KEEP_CHANNELS,
    explanation: "The metadata ends inside the item named. What comes before is whole. The engine drops the rest, or refuses the block.",
};

pub(super) const SIZE: Text = Text {
    messages: &[any("metadata size runs past the block", "{found|byte}; {expected|byte} fit")],
    next: KEEP_CHANNELS,
    explanation: "The size prefix of the metadata is larger than the rest of the block before its epilogue.",
};

pub(super) const TYPE: Text = Text {
    messages: &[any("type of a metadata item is unknown", "{found}; expected {expected}")],
    next: KEEP_CHANNELS,
    explanation: "In blocks of version 4 each item has a type: 0 empty, 1 a 64-bit number, 32 a Variant, 33 and above defined by the application. Types 2 to 31 do not exist, so the length of the item is unknown and nothing after it can be read.",
};

pub(super) const CUSTOM: Text = Text {
    messages: &[any("metadata item has a type defined by the application", "{found}")],
    next: "Nothing to do: the bytes are kept and shown as they are.",
    explanation: "Types from 33 on are defined by the application, and their length is not stored. The item and everything after it are shown as bytes.",
};

pub(super) const PORT: Text = Text {
    messages: &[any("metadata item has a type of the Rust port", "{found}")],
    next: "Nothing to do for the Rust port. The engine does not read such items: before a save moves to the engine, store their values in Variants with the port.",
    explanation: "The Rust port of Godot Voxel stores metadata in three types of its own: 40 a 64-bit float, 41 text, 42 bytes. The engine knows types from 33 on only if the game registers them, and reads no metadata of such a block. voxscope reads the items; `repair` and `convert` keep them, and `convert` lists them if its result is a save of the engine. Other applications may use these numbers for something else: voxscope takes them for those of the port if all metadata of the block then has exactly its stored size.",
};

pub(super) const POSITION: Text = Text {
    messages: &[any("metadata belongs to voxel {found}, which is outside the block", "")],
    next: KEEP_CHANNELS,
    explanation: "An item of metadata names a voxel that the block does not have. The engine skips the position and then reads the item's bytes as the next position, so it loses everything that follows. voxscope reads and lists the item.",
};

pub(super) const TRAILING: Text = Text {
    messages: &[any("{found|byte follows|bytes follow} the metadata", "")],
    next: "Nothing is lost. Run `voxscope repair SAVE --out NEW`: it writes the block without the extra bytes, so that the engine loads it, and keeps the old bytes in lost+found.",
    explanation: "The metadata's size leaves bytes between its end and the epilogue. The size or the data was altered. The engine refuses the block.",
};

pub(super) const DIALECT: Text = Text {
    messages: &[any("metadata of the other engine generation: {found}", "")],
    next: "Nothing to do: the metadata is read correctly.",
    explanation: "Blocks of version 2 store Variants of Godot 3, and in the last weeks before version 3 Variants of Godot 4. The two number their types differently. voxscope uses the dialect in which the Variants have exactly the stored size of the metadata.",
};

pub(super) const VARIANT_CUT: Text = Text {
    messages: &[any("Variant is cut short: {field}", "{found}; expected {expected}")],
    next: KEEP_CHANNELS,
    explanation: "A Variant ends inside the field named: a length or a count is larger than the bytes that follow, or the data was cut off.",
};

pub(super) const VARIANT_TYPE: Text = Text {
    messages: &[any("{field} is unknown", "{found}; expected {expected}")],
    next: KEEP_CHANNELS,
    explanation: "The engine has no Variant type of this number. Godot 3 has 27 types and Godot 4 has 39, with other numbers. Nothing after the type can be read.",
};

pub(super) const VARIANT_FLAGS: Text = Text {
    messages: &[
        when("node path names", "count of node path names lacks its flag", "{found}; expected {expected}"),
        any("{field} has unknown flags", "{found}"),
    ],
    next: KEEP_CHANNELS,
    explanation: "The upper half of a Variant's header holds flags: 64-bit numbers, objects stored as ids, and the kinds of typed arrays and dictionaries. The flags here do not exist, so nothing after them can be read.",
};

pub(super) const VARIANT_DEPTH: Text = Text {
    messages: &[any("Variant is nested too deeply", "{expected|level}")],
    next: KEEP_CHANNELS,
    explanation: "Arrays, dictionaries and objects are nested more deeply than the engine's own limit of 1,024 levels. A reader that follows such nesting would overflow its stack. The engine cannot load it either.",
};

pub(super) const VARIANT_TEXT: Text = Text {
    messages: &[any("{field} is not UTF-8", "first invalid byte {found}")],
    next: "Run `voxscope repair SAVE --out NEW`: it keeps the channels of the block, leaves this metadata out and keeps the stored bytes in lost+found. The text itself is shown with replacement characters.",
    explanation: "A string in a Variant is not valid UTF-8. The engine shows it altered. Its length is known, so what follows is read.",
};

pub(super) const VARIANT_PADDING: Text = Text {
    messages: &[any("{field} is not zero", "{found}")],
    next: "Nothing to do: the bytes are kept.",
    explanation: "Strings and byte arrays are padded to a multiple of four bytes. Godot 3 leaves whatever was in memory in the padding of node paths.",
};

pub(super) const INSTANCES_VERSION: Text = Text {
    messages: &[any("version of the instance data is unknown", "{found}; expected {expected}")],
    next: "If a newer engine wrote the save, use a newer voxscope. Otherwise run `voxscope repair SAVE --out NEW`: it keeps the voxels of the block, leaves the instances out and puts their bytes into lost+found. Add `--from-backup OLD` to take the instances from a backup.",
    explanation: "Instance data begins with its version: 0, where all numbers are big-endian, or 1, which the current engine writes. Another value means a newer engine or a damaged first byte. The engine refuses the data, so the plants and stones of this block are missing in the game. The voxels of the block are not affected.",
};

pub(super) const INSTANCES_CUT: Text = Text {
    messages: &[any("instance data is cut short: {field}", "{found|byte}; expected {expected|byte}")],
    next: LEAVE_INSTANCES,
    explanation: "The data ends inside the field named, or a layer declares more instances than its bytes can hold (11 bytes each). Nothing is allocated for such a count. The engine reads past the end. The voxels of the block are not affected.",
};

pub(super) const INSTANCES_RANGE: Text = Text {
    messages: &[any("position range of the instances is not valid", "{found}; expected {expected}")],
    next: LEAVE_INSTANCES,
    explanation: "Positions of instances are stored as fractions of a range, which is the size of the block in voxels. The range is negative, infinite or not a number, so the positions are unknown. The engine writes at least 0.01.",
};

pub(super) const INSTANCES_SCALE: Text = Text {
    messages: &[any("scales of a layer of instances are not valid", "{found}; expected {expected}")],
    next: LEAVE_INSTANCES,
    explanation: "A layer stores its smallest and its largest scale; each instance has a scale in between. The smallest is larger than the largest, or one of them is infinite or not a number. The engine refuses all instances of the block. Positions and rotations of the layer are whole.",
};

pub(super) const INSTANCES_FORMAT: Text = Text {
    messages: &[any("format of a layer of instances is unknown", "{found}; expected {expected}")],
    next: LEAVE_INSTANCES,
    explanation: "Each layer stores the format of its instances, and only format 0, of 11 bytes each, exists. With another one the length of the layer is unknown, so nothing after it can be located. The engine refuses all instances of the block.",
};

pub(super) const INSTANCES_TWICE: Text = Text {
    messages: &[any("two layers of instances have the same id", "{found}")],
    next: "Run `voxscope show SAVE --block X,Y,Z` with the block of the finding: it lists both layers. Nothing is lost, and `repair` keeps both. In the game one of them may replace the other.",
    explanation: "Each layer has the number of an item in the instancer's library, and two layers have the same. The engine writes each item once. The data was altered, or two states were mixed.",
};

pub(super) const INSTANCES_EPILOGUE: Text = Text {
    messages: &[any("epilogue of the instance data is wrong", "{found}; expected {expected}")],
    next: LEAVE_INSTANCES,
    explanation: "Instance data ends with 0x900df00d, in the byte order of its version. This data ends with other bytes, so it was cut off or altered. The engine refuses all instances of the block.",
};

pub(super) const INSTANCES_TRAILING: Text = Text {
    messages: &[any("{found|byte follows|bytes follow} the instance data", "")],
    next: "Run `voxscope show SAVE --block X,Y,Z` with the block of the finding: it lists the instances, all of which are whole. Nothing is lost: the engine ignores the extra bytes, and `repair` keeps them.",
    explanation: "More bytes follow the epilogue of the instance data. The engine does not read them.",
};
