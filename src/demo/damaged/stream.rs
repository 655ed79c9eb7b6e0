//! SQLite streams: pages, journals, settings, keys, values and instances.

use std::fs;
use std::io;
use std::path::Path;

use crate::damage::Code;
use crate::demo::Sample;
use crate::demo::draft::{put, unmade};
use crate::demo::forest::{Extent, ForestSpec};
use crate::demo::stream::{StreamSpec, instances, write_changed, write_stream};
use crate::godot::container::{self, Mode};
use crate::godot::stream::loc::{Format, Place};
use crate::limits::Limits;
use crate::save::{Beside, Stream};
use crate::sqlite::{journal, wal};

const FILE: &str = "world.sqlite";

pub(super) const SAMPLES: &[Sample] = &[
    Sample::damaged("stream-empty", "A stream without any byte.", &[Code::StreamEmpty], |dir| {
        fs::create_dir_all(dir)?;
        fs::write(dir.join(FILE), b"")
    }),
    Sample::damaged("stream-not-database", "The first page of a stream is lost.", &[Code::StreamNotDatabase], |dir| {
        alter(dir, |file, _| put(file, 0, &[0; 1024]))
    }),
    Sample::damaged("stream-header", "A stream with pages of 1,000 bytes.", &[Code::StreamHeader], |dir| {
        alter(dir, |file, _| put(file, 16, &1000u16.to_be_bytes()))
    }),
    Sample::damaged("stream-cut", "The last pages of a stream are missing.", &[Code::StreamCut], |dir| {
        alter(dir, |file, _| file.truncate(file.len().saturating_sub(2048)))
    }),
    Sample::damaged("stream-shifted", "Seven bytes were put into a stream.", &[Code::StreamShifted], |dir| {
        alter(dir, |file, _| {
            let at = file.len() / 2 + 100;
            file.splice(at..at, *b"garbage").for_each(drop);
        })
    }),
    Sample::damaged("stream-page", "A page of rows is lost.", &[Code::StreamPage], |dir| {
        alter(dir, |file, at| put(file, at.page, &[0; 1024]))
    }),
    Sample::damaged(
        "stream-row-lost",
        "The page that leads to all rows is lost.",
        &[Code::StreamPage, Code::StreamRowLost],
        |dir| alter(dir, |file, at| put(file, at.root, &[0xff; 1024])),
    ),
    Sample::damaged("stream-chain", "A blob breaks off.", &[Code::StreamChain], |dir| {
        alter_of(&StreamSpec::small(Format::Int16), dir, |file, at| {
            put(file, at.overflow.ok_or_else(|| unmade("a row that fits its page"))?, &[0, 0, 0, 9]);
            Ok(())
        })
    }),
    Sample::damaged("stream-index", "The index names another key than its row.", &[Code::StreamIndex], |dir| {
        alter_of(&StreamSpec::small(Format::Text), dir, |file, at| {
            let page = at.index.and_then(|index| file.get_mut(index..index + 1024));
            let page = page.ok_or_else(|| unmade("a stream without an index"))?;
            let key = page.windows(7).position(|bytes| bytes == b"0,0,0,0").ok_or_else(|| unmade("a key"))?;
            put(page, key, b"9");
            Ok(())
        })
    }),
    Sample::damaged(
        "stream-freelist",
        "The list of free pages is longer than counted.",
        &[Code::StreamFreelist],
        |dir| alter_sql(dir, "DELETE FROM blocks WHERE loc > 5", |file| put(file, 36, &[0; 4])),
    ),
    Sample::damaged("stream-unused", "The list of free pages is lost.", &[Code::StreamUnused], |dir| {
        alter_sql(dir, "DELETE FROM blocks WHERE loc > 5", |file| put(file, 32, &[0; 8]))
    }),
    Sample::damaged("stream-journal", "The game was killed while it saved.", &[Code::StreamJournal], |dir| {
        with_beside(dir, "-journal", |pages, count| journal::encode(pages, count, 1024))
    }),
    Sample::damaged(
        "stream-journal-unusable",
        "A journal that begins with noise.",
        &[Code::StreamJournalUnusable],
        |dir| {
            alter(dir, |_, _| {})?;
            fs::write(dir.join(FILE.to_owned() + "-journal"), [7; 600])
        },
    ),
    Sample::damaged("stream-wal", "A save still stands in the write-ahead log.", &[Code::StreamWal], |dir| {
        with_beside(dir, "-wal", |pages, count| wal::encode(pages, count, 1024))
    }),
    Sample::damaged("stream-table", "The table of blocks has other columns.", &[Code::StreamTable], |dir| {
        sql(dir, "ALTER TABLE blocks RENAME COLUMN vb TO voxels")
    }),
    Sample::damaged(
        "stream-foreign",
        "A game keeps a table of its own in the stream.",
        &[Code::StreamForeign],
        |dir| {
            sql(
                dir,
                "CREATE TABLE players (name TEXT, x REAL, y REAL, z REAL); INSERT INTO players VALUES ('a', 1, 2, 3)",
            )
        },
    ),
    Sample::damaged("stream-meta-missing", "The row of settings is gone.", &[Code::StreamMetaMissing], |dir| {
        sql(dir, "DELETE FROM meta")
    }),
    Sample::damaged("stream-meta-twice", "Two rows of settings contradict.", &[Code::StreamMetaTwice], |dir| {
        sql(dir, "INSERT INTO meta VALUES (1, 5, 0)")
    }),
    Sample::damaged("stream-meta-version", "A stream of version 7.", &[Code::StreamMetaField], |dir| {
        sql(dir, "UPDATE meta SET version = 7")
    }),
    Sample::damaged("stream-meta-format", "Keys of format 9.", &[Code::StreamMetaField], |dir| {
        sql(dir, "UPDATE meta SET coordinate_format = 9")
    }),
    Sample::damaged(
        "stream-meta-other-format",
        "Keys with 16 bits per coordinate that are read as keys with 19.",
        &[Code::StreamMetaField],
        |dir| sql(dir, "UPDATE meta SET coordinate_format = 1"),
    ),
    Sample::damaged("stream-key", "A key of LOD 99.", &[Code::StreamKey], |dir| {
        sql(dir, "UPDATE blocks SET loc = 99 << 48 WHERE loc = 0")
    }),
    Sample::damaged(
        "stream-key-rule",
        "A stream of 2021: keys above LOD 0 are the position times 2^LOD.",
        &[Code::StreamKeyRule],
        // LOD 1 has the blocks (-1, 0, 0) and (0, 0, 0); the first gets the key (-2, 0, 0).
        |dir| sql(dir, "UPDATE blocks SET loc = loc - (1 << 32) WHERE loc = (1 << 48) | (65535 << 32)"),
    ),
    Sample::damaged(
        "stream-key-mixed",
        "A stream of 2021 that a later engine went on with: keys above LOD 0 of both rules.",
        &[Code::StreamKeyMixed],
        // Besides the key (-2, 0, 0) of the block (-1, 0, 0), the key (1, 0, 0), which the engine of 2021 did not write.
        |dir| {
            sql(
                dir,
                "UPDATE blocks SET loc = loc - (1 << 32) WHERE loc = (1 << 48) | (65535 << 32);
                INSERT INTO blocks SELECT (1 << 48) | (1 << 32), vb, instances FROM blocks WHERE loc = 1 << 48",
            )
        },
    ),
    Sample::damaged("stream-key-twice", "Two keys for one place.", &[Code::StreamKey, Code::StreamKeyTwice], |dir| {
        sql(dir, "INSERT INTO blocks SELECT loc | (1 << 60), vb, instances FROM blocks WHERE loc = 0")
    }),
    Sample::damaged("stream-misplaced", "Two rows of a stream were exchanged.", &[Code::StreamMisplaced], |dir| {
        // The blocks (0, 0, 0) and (-2, -1, 1), as the keys have them.
        let [a, b] = ["0", "(65534 << 32) | (65535 << 16) | 1"];
        write_changed(
            &dir.join(FILE),
            &StreamSpec {
                blocks: ForestSpec {
                    lods: vec![Extent { from: [-3, -1, -3], to: [3, 1, 3] }],
                    ..ForestSpec::default()
                },
                ..StreamSpec::default()
            },
            &format!(
                "UPDATE blocks SET loc = -1 WHERE loc = {a};
                UPDATE blocks SET loc = {a} WHERE loc = {b};
                UPDATE blocks SET loc = {b} WHERE loc = -1"
            ),
        )
    }),
    Sample::damaged("stream-value", "A text where voxels should be.", &[Code::StreamValue], |dir| {
        sql(dir, "UPDATE blocks SET vb = 'voxels' WHERE loc = 0")
    }),
    Sample::damaged("stream-no-voxels", "A stream that has lost its voxels.", &[Code::StreamNoVoxels], |dir| {
        sql(dir, "DELETE FROM blocks WHERE loc >= 1 << 48; UPDATE blocks SET vb = NULL")
    }),
    Sample::damaged("stream-row-empty", "A row with neither voxels nor instances.", &[Code::StreamRowEmpty], |dir| {
        sql(dir, "UPDATE blocks SET vb = NULL, instances = NULL WHERE loc = 0")
    }),
    Sample::damaged("stream-blob", "Noise in the middle of a blob.", &[Code::ContainerCorrupt], |dir| {
        sql(
            dir,
            "UPDATE blocks SET vb = CAST(substr(vb, 1, 9) || x'ffffffffffffffffffff' || substr(vb, 20) AS BLOB) WHERE loc = 0",
        )
    }),
    Sample::damaged("instances-version", "Instance data of version 9.", &[Code::InstancesVersion], |dir| {
        of_instances(dir, |data| put(data, 0, &[9]))
    }),
    Sample::damaged("instances-cut", "A layer of 60,000 instances that are not there.", &[Code::InstancesCut], |dir| {
        of_instances(dir, |data| put(data, 8, &60_000u16.to_le_bytes()))
    }),
    Sample::damaged("instances-range", "An infinite range of positions.", &[Code::InstancesRange], |dir| {
        of_instances(dir, |data| put(data, 2, &f32::INFINITY.to_le_bytes()))
    }),
    Sample::damaged("instances-scale", "A smallest scale above the largest.", &[Code::InstancesScale], |dir| {
        of_instances(dir, |data| put(data, 10, &9.0f32.to_le_bytes()))
    }),
    Sample::damaged("instances-format", "A layer of an unknown format.", &[Code::InstancesFormat], |dir| {
        of_instances(dir, |data| put(data, 18, &[4]))
    }),
    Sample::damaged("instances-twice", "Two layers of one kind.", &[Code::InstancesTwice], |dir| {
        of_instances(dir, |data| put(data, 6, &7u16.to_le_bytes()))
    }),
    Sample::damaged("instances-epilogue", "Instance data with a wrong end.", &[Code::InstancesEpilogue], |dir| {
        of_instances(dir, |data| {
            let end = data.len();
            put(data, end - 4, &[0; 4]);
        })
    }),
    Sample::damaged("instances-trailing", "Bytes after the instance data.", &[Code::InstancesTrailing], |dir| {
        of_instances(dir, |data| data.extend([1, 2, 3]))
    }),
];

/// Offsets of pages of a small stream.
struct Places {
    /// The root of the table of blocks.
    root: usize,
    /// A page with rows.
    page: usize,
    /// The first overflow page of some row.
    overflow: Option<usize>,
    /// The page of the index of keys.
    index: Option<usize>,
}

fn sql(dir: &Path, sql: &str) -> io::Result<()> {
    write_changed(&dir.join(FILE), &StreamSpec::small(Format::Int16), sql)
}

/// Changes a small stream by SQL, and then its bytes.
fn alter_sql(dir: &Path, change: &str, bytes: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
    sql(dir, change)?;
    let path = dir.join(FILE);
    let mut file = fs::read(&path)?;
    bytes(&mut file);
    fs::write(path, file)
}

fn alter(dir: &Path, change: impl FnOnce(&mut Vec<u8>, Places)) -> io::Result<()> {
    alter_of(&StreamSpec::small(Format::Int16), dir, |file, at| {
        change(file, at);
        Ok(())
    })
}

fn alter_of(
    spec: &StreamSpec,
    dir: &Path,
    change: impl FnOnce(&mut Vec<u8>, Places) -> io::Result<()>,
) -> io::Result<()> {
    let path = dir.join(FILE);
    write_stream(&path, spec, None)?;
    let mut file = fs::read(&path)?;
    let places = places(&file)?.ok_or_else(|| unmade("a stream without rows"))?;
    change(&mut file, places)?;
    fs::write(path, file)
}

fn places(file: &[u8]) -> io::Result<Option<Places>> {
    let stream = Stream::load(file, Beside::default(), &Limits::DEFAULT, &mut Vec::new())?;
    let Some(stream) = stream else { return Ok(None) };
    let at = |page: u32| usize::try_from(stream.pages.span(page).start).unwrap_or(0);
    let Some(root) = stream.tables.iter().find(|table| table.is("blocks")) else { return Ok(None) };
    let index = stream.tables.iter().find(|table| table.is_index_of("blocks")).map(|index| at(index.root));
    let mut scratch = crate::save::StreamScratch::default();
    let mut overflow = None;
    for row in stream.rows.iter().filter(|row| stream.spills(row)) {
        stream.fetch(&row, &mut scratch)?;
        overflow = overflow.or(scratch.pages().first().map(|page| at(*page)));
    }
    let page = stream.rows.first().map(|row| at(row.page));
    Ok(page.map(|page| Places { root: at(root.root), page, overflow, index }))
}

/// A small stream with a file next to it that holds the pages before or after a change, and the stream without them.
fn with_beside(dir: &Path, ending: &str, encode: impl Fn(&[(u32, &[u8])], u32) -> Vec<u8>) -> io::Result<()> {
    let mut before = Vec::new();
    alter(dir, |file, at| {
        before.clone_from(file);
        put(file, at.page, &[0; 1024]);
    })?;
    let after = fs::read(dir.join(FILE))?;
    let pages: Vec<(u32, &[u8])> = (1u32..)
        .zip(before.chunks(1024).zip(after.chunks(1024)))
        .filter(|(_, (a, b))| a != b)
        .map(|(number, (a, _))| (number, a))
        .collect();
    let count = u32::try_from(before.len() / 1024).unwrap_or(0);
    fs::write(dir.join(FILE.to_owned() + ending), encode(&pages, count))
}

/// A small stream in which one row has different instance data.
fn of_instances(dir: &Path, change: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
    let mut data = instances(Place { lod: 0, position: [0; 3] }, 8);
    change(&mut data);
    let mut packed = Vec::new();
    container::encode(Mode::Lz4, &data, &mut packed);
    let hex: String = packed.iter().map(|byte| format!("{byte:02x}")).collect();
    sql(dir, &format!("UPDATE blocks SET instances = x'{hex}' WHERE loc = 0"))
}
