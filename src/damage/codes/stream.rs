//! Texts of codes for SQLite streams: the file, its pages and its rows.

use crate::damage::text::{Text, any, when};

/// What `repair` does with a database whose pages are damaged.
const REBUILD: &str = "Run `voxscope repair SAVE --out NEW`: it writes a new database with every row that can be read and keeps pages that cannot be in lost+found. Add `--from-backup OLD` for the rows that are gone.";

pub(super) const EMPTY: Text = Text {
    messages: &[any("database is empty", "{found|byte}")],
    next: "Before the game runs, run `voxscope repair SAVE --out NEW --from-backup OLD`: it takes the database from the backup. The game silently creates a new world in an empty file.",
    explanation: "The file is 0 bytes long. SQLite treats an empty file as a new database, so the game starts a new world in it without a warning. The file was created and never written, or truncated by a failing disk or a power loss.",
};

pub(super) const NOT_DATABASE: Text = Text {
    messages: &[any("first bytes of the file are not those of an SQLite database", "expected {expected}")],
    next: "If the file was the save, run `voxscope repair SAVE --out NEW`: it writes a new database with every row that can be read from the other pages. Add `--from-backup OLD` for the rows that are gone.",
    explanation: "An SQLite database begins with the 16 bytes `SQLite format 3` and a zero. This file is of another kind, is encrypted, or its first page was overwritten. The game refuses to open it. If the other pages look like those of a stream, voxscope infers the page size and reads all their blocks.",
};

pub(super) const HEADER: Text = Text {
    messages: &[any("{field} in the database header is not valid", "{found}; expected {expected}")],
    next: REBUILD,
    explanation: "The first 100 bytes of a database store the page size and how it was written. The field named has a value that SQLite does not use. If it is the page size, voxscope uses the size with which most pages make sense.",
};

pub(super) const SHIFTED: Text = Text {
    messages: &[
        when("bytes inserted before this offset", "{found|byte was|bytes were} inserted before this offset", ""),
        when("bytes missing before this offset", "{found|byte is|bytes are} missing before this offset", ""),
        any("pages of the database are shifted", "{found|byte}"),
    ],
    next: "Run `voxscope repair SAVE --out NEW`: it reads every page at its present place and writes the rows into a new database.",
    explanation: "The pages of a database are at multiples of their size. From this offset on they are shifted: a program inserted bytes or cut bytes out, in the middle of the file or before its first page. SQLite reads garbage from there on. The pages themselves are whole, except for the one with the change, so voxscope searches for them at every byte and reads them where they are. Offsets of other findings of this file count the bytes as they were before the change.",
};

pub(super) const CUT: Text = Text {
    messages: &[
        when("pages of the file", "database is cut short", "{found|page}; the header counts {expected|page}"),
        any("{field} is cut short", "{found|byte}; expected {expected|byte}"),
    ],
    next: REBUILD,
    explanation: "The header of the database counts more pages than the file has. The end of the file was cut off: the disk was full, or a copy was interrupted. SQLite calls such a database malformed as soon as it needs a missing page.",
};

pub(super) const PAGE: Text = Text {
    messages: &[any("{field} is damaged", "{found}")],
    next: REBUILD,
    explanation: "A page of a table or an index is not valid: its type is unknown, its cells lie outside of it, it points to a page that does not exist, or two places point to it. SQLite stops with `database disk image is malformed` when it reaches the page. If only the pointer to a cell or its size is damaged, SQLite still reads the row or the next one, and so does voxscope. A damaged list of free blocks hides no row, but SQLite puts new cells where it leads, over others, or refuses to write. voxscope reads the cells that can be read, and finds the pages that only this one pointed to by looking at every page of the file.",
};

pub(super) const CHAIN: Text = Text {
    messages: &[any("chain of overflow pages is broken", "{found}; expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: it keeps the block if its bytes are whole, and otherwise what can be read of it in lost+found. Add `--from-backup OLD` to take the row from a backup.",
    explanation: "A blob that does not fit its page continues in a chain of overflow pages. The chain ends before the blob does, points to a page that does not exist, forms a loop, or runs into the pages of another blob. The bytes before that are read.",
};

pub(super) const ROW_LOST: Text = Text {
    messages: &[any("table no longer leads to this row", "")],
    next: "Do not let the game save into this file. Run `voxscope repair SAVE --out NEW`: it writes the row into a new table, where the game finds it, if a page above it is damaged. A row that may have been deleted goes to lost+found instead; `convert` and `export` read such rows with `--stale-rows`.",
    explanation: "The page of the row can be read, but the tree of its table no longer reaches that page, because a page above it is damaged. SQLite and the game do not find the row. voxscope found it by looking at every page of the file. It may be older than the rest if the page had been freed; if the table has a row of the same key, that row is used.",
};

pub(super) const INDEX: Text = Text {
    messages: &[
        when("number of rows that the index does not have", "index lacks {found|row}", ""),
        any("index has {found|entry|entries} without a row", ""),
    ],
    next: "Run `voxscope repair SAVE --out NEW`: it writes a new table and a new index. `REINDEX` in a copy of the database does the same if nothing else is damaged.",
    explanation: "Streams whose keys are texts or blobs find their rows by an index. The index lacks a row, or has an entry that leads to no row. The game does not find the block, and saves it a second time.",
};

pub(super) const FREELIST: Text = Text {
    messages: &[any("list of free pages is damaged", "{found}")],
    next: "Do not start the game: it may overwrite pages in use. Run `voxscope repair SAVE --out NEW`: it writes a new database with every row.",
    explanation: "Pages that are not in use are kept in a list. The list points to a page that does not exist, forms a loop, has another length than the header says, or contains pages in use. SQLite takes the next page it needs from this list, and would overwrite that page.",
};

pub(super) const UNUSED: Text = Text {
    messages: &[any("nothing points to {found|page}", "")],
    next: "Run `voxscope repair SAVE --out NEW`: it writes a new database and keeps the pages, and whole rows on them, in lost+found: such rows may have been deleted. `convert` and `export` read them with `--stale-rows`.",
    explanation: "No table, index or list of free pages contains these pages. SQLite never leaves such pages, so a table or a list lost them: whatever pointed to them was overwritten. They may hold rows.",
};

pub(super) const JOURNAL: Text = Text {
    messages: &[any("a save was interrupted and its journal is still there", "it restores {found|page}")],
    next: "Keep the database and its journal together, also in copies: the game undoes the interrupted save when it opens them. `voxscope repair SAVE --out NEW` writes the state before that save.",
    explanation: "A journal next to the database holds the pages as they were before a save that was not finished: the game was killed meanwhile. Opening the database for writing, as the game does, restores these pages and deletes the journal. voxscope only reads the journal and shows the state before the interrupted save. A database that is copied without its journal mixes two states.",
};

pub(super) const JOURNAL_UNUSABLE: Text = Text {
    messages: &[any("journal or log next to the database cannot be used", "{found}")],
    next: "Copy the save with all its files, then run `voxscope check SAVE`: the database may mix two states. `voxscope repair SAVE --out NEW` writes the database as it is, without the journal: keep the save too.",
    explanation: "Next to the database is a journal or a write-ahead log that belongs to another database or is damaged at its start, so it cannot be applied. If it belonged to an interrupted save, the database mixes two states.",
};

pub(super) const WAL: Text = Text {
    messages: &[any("a write-ahead log is next to the database", "{found|page}")],
    next: "Keep the files together, also in copies. `voxscope repair SAVE --out NEW` writes one database with the saves of the log.",
    explanation: "Saves that were finished but not yet moved into the database are in a write-ahead log next to it (`-wal`). voxscope reads the database with the log, as SQLite does. A copy without the log lacks these saves.",
};

pub(super) const TABLE: Text = Text {
    messages: &[any("{field} is not that of a stream", "{found}")],
    next: "If the file is a voxel stream, run `voxscope repair SAVE --out NEW`: it writes a new database with the tables of a stream and every row that looks like a block.",
    explanation: "A stream has the tables `meta` and `blocks`, and `blocks` has the columns `loc`, `vb` and `instances` in this order. One of these is missing: the page with the schema is damaged, or the database is of another program. The game refuses it or creates an empty one.",
};

pub(super) const FOREIGN: Text = Text {
    messages: &[any("database has {found}", "")],
    next: "Nothing to do: it is kept and not read.",
    explanation: "The database has a table, index or column that the engine does not create. A game may keep its own tables next to those of the stream.",
};

pub(super) const META_MISSING: Text = Text {
    messages: &[any("row of settings is missing", "")],
    next: "Before the game runs, run `voxscope repair SAVE --out NEW`: it writes the row from the keys and the blocks. The game would write its own settings and read all keys by them.",
    explanation: "The table `meta` has one row with the version, the block size and the format of keys. None can be read here. The engine treats the database as a new one and writes its own settings into it; if these name another format of keys, it finds none of the blocks. voxscope infers the format from the keys.",
};

pub(super) const META_TWICE: Text = Text {
    messages: &[any("{found|row|rows} of settings instead of {expected}", "")],
    next: "Run `voxscope repair SAVE --out NEW`: it writes one row, with the values that all rows agree on or that the keys and the blocks show. Where these do not show a value, it leaves the rows as they are and says so.",
    explanation: "The table `meta` must have one row. It has several, equal or not. The engine uses the last one. Two programs that created the same new database at once leave this.",
};

pub(super) const META_FIELD: Text = Text {
    messages: &[any("{field} is not valid", "{found}; expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: it corrects the setting if the keys and the blocks show it.",
    explanation: "A field of the row of settings is not a number or is out of range: versions 0 and 1 are known, blocks have 2 to 256 voxels along an axis (block_size_po2 is 1 to 8; the engine uses 4 and 5), and the format of keys is 0 to 3, only 0 in version 0. If the format is unknown, voxscope uses the one that fits the keys. A valid format is reported if no block has a neighbour by it, while most have one by the other format of integers: the game then finds the blocks far away.",
};

pub(super) const KEY: Text = Text {
    messages: &[any("key of the row is not a position", "{found}; expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: it corrects a key that can mean only one position, and otherwise keeps the row in lost+found. Add `--from-backup OLD` to match its block with a backup.",
    explanation: "The key of a row stores the position of its block, in one of four formats: two kinds of 64-bit numbers, a text `x,y,z,lod`, or a blob of 10 bytes. This key has another type or length, is written differently from how the engine writes it, or names a LOD above 23. The engine never looks it up. If many keys are like this, the format in `meta` is not that of the keys.",
};

pub(super) const KEY_RULE: Text = Text {
    messages: &[any("{found|key|keys} above LOD 0 by the rule of 2021: the position times 2^LOD", "")],
    next: "Run `voxscope repair SAVE --out NEW` or `voxscope convert SAVE --out NEW.sqlite`: the copy has the keys of today. With `--key-rule new` the keys are read as they are.",
    explanation: "From 2021-01-28 to 2021-10-04 the engine stored a block above LOD 0 under its position times 2^LOD. An engine of today looks for it elsewhere and shows it at a wrong place, often in the air. Unless `--key-rule` gives the rule, it is inferred: every key above LOD 0 is divisible by 2^LOD, at least one lies above blocks of LOD 0 only if it is read by the old rule, and none only by the new one. Instances were always stored under the position of their block.",
};

pub(super) const KEY_MIXED: Text = Text {
    messages: &[
        when(
            "keys by the new rule",
            "{found|key|keys} above LOD 0 cannot be by the rule of 2021 and {found!|is|are} read as {found!|it is|they are}",
            "",
        ),
        any("{found|key|keys} above LOD 0 may be by the rule of 2021 although others are not", ""),
    ],
    next: "Look at the LODs above 0. If blocks are at wrong places, run `voxscope repair SAVE --key-rule old --out NEW`: it writes all keys by the rule of today; those that cannot be by the old rule keep their positions.",
    explanation: "From 2021-01-28 to 2021-10-04 the engine stored a block above LOD 0 under its position times 2^LOD. A save of that time that a later engine went on with has keys of both rules. voxscope reads all keys by one rule: by the new one, unless all fit the old one, or `--key-rule old` is given; then keys that are not divisible by 2^LOD, which no engine of that time wrote, are read as they are. Keys count as those of the old rule if they are above blocks of LOD 0 by it only, and no other key has that place.",
};

pub(super) const KEY_TWICE: Text = Text {
    messages: &[any("two rows have the position {found}", "")],
    next: "Run `voxscope repair SAVE --out NEW`: it keeps the row that decodes; if both do, the one that the game finds. The other row goes to lost+found, unless both are equal.",
    explanation: "The keys of two rows name the same position. SQLite rejects equal keys, so the keys are written in two ways, or one of the rows was found outside the table. At most one of them is what the game shows there.",
};

pub(super) const MISPLACED: Text = Text {
    messages: &[any("key of the row is that of another block", "block belongs to {found}; the key says {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: it gives the rows whose places are certain their keys. Add `--level likely` for likely ones, `--from-backup OLD` to fill positions that lack their block then.",
    explanation: "Only the key of a row gives the position of its block. The voxels at the borders of the block do not continue those of the blocks beside its key, and at the key of another row they do: a program exchanged the keys of rows, or wrote values into other rows. The game shows such blocks in the wrong places, with cliffs at their borders. A block does not store its position, so a row is reported only if all rows that changed places with it are known, and other places fit much worse. Blocks of more than 1 MiB stored or 4 MiB decompressed are not compared. `check --level decode` does not find it.",
};

pub(super) const VALUE: Text = Text {
    messages: &[any("column {field} has the wrong type", "{found}; expected {expected}")],
    next: "Run `voxscope repair SAVE --out NEW`: it keeps the row's other columns and puts this value into lost+found. Add `--from-backup OLD` to take the row from a backup.",
    explanation: "The columns `vb` and `instances` hold blobs or NULL. This one holds a number or a text, which the engine never writes.",
};

pub(super) const NO_VOXELS: Text = Text {
    messages: &[any("no row of the stream has voxels", "")],
    next: "Nothing has to be done if the world has only instances of its own. Otherwise look for a backup: the file has no voxels to restore.",
    explanation: "The column `vb` of every row is NULL. The game writes such rows for blocks of which it saves only instances. If the world had voxels, a program removed them: the game generates its terrain anew, without what players built.",
};

pub(super) const ROW_EMPTY: Text = Text {
    messages: &[any("row has neither voxels nor instances", "")],
    next: "Nothing to do: the game treats the block as empty.",
    explanation: "Both values of the row are NULL. The engine leaves this when all instances of a block were removed and its voxels were never changed.",
};
