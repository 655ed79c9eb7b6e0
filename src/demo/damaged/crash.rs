//! Saves of a game that was killed, or whose disk was full, while it saved.

use std::io;
use std::path::Path;

use crate::damage::Code;
use crate::demo::draft::{At, Draft, REGION, alter_of, put, put_u32, region, region_of, spec, unmade, victim};
use crate::demo::forest::{Extent, ForestSpec};
use crate::demo::game::Game;
use crate::demo::{Sample, healthy};
use crate::godot::container::{self, Mode};
use crate::godot::region::{Entry, HEADER_BYTES};
use crate::godot::slots;

/// The write size of the C library.
const PAGE: usize = 4096;

pub(super) const SAMPLES: &[Sample] = &[
    Sample::damaged(
        "crash-half-written",
        "A block was rewritten, and the game was killed when half of it was on disk.",
        &[Code::ContainerCorrupt, Code::BlockTorn],
        half_written,
    ),
    Sample::damaged(
        "crash-shrunk",
        "A block shrank and the table was not written: every later entry points a few sectors too far.",
        &[Code::TableCount],
        |dir| {
            session(dir, &spec(), |game, draft, at| {
                game.save(at.slot, &healthy::smaller(&spec(), draft, at.slot)?);
                Ok(())
            })
        },
    ),
    Sample::damaged(
        "crash-grown",
        "A block grew and the table was not written: it is at the end now, and later ones have moved down.",
        &[Code::BlockPrefix, Code::BlockMoved],
        |dir| {
            session(dir, &spec(), |game, _, at| {
                let larger = spec().block(0, [1, 1, 1]).pack(Mode::Plain);
                game.save(at.slot, &larger);
                Ok(())
            })
        },
    ),
    Sample::damaged(
        "crash-wrong-places",
        "All blocks take the same sectors and one of them grew: later entries give whole blocks of other places.",
        &[Code::BlockPrefix, Code::BlockMisplaced, Code::PlaceDoubt],
        |dir| {
            let spec = ForestSpec { mode: Mode::Plain, terrain: raw(), ..spec() };
            session(dir, &spec, |game, draft, _| {
                let blocks = draft.blocks(REGION)?;
                let first = blocks.first().ok_or_else(|| unmade("an empty region"))?;
                let mut larger = draft.plain(REGION, *first)?;
                larger.insert(0, 0);
                let epilogue = larger.split_off(larger.len() - 4);
                larger.extend(600u32.to_le_bytes());
                larger.push(40);
                larger.resize(larger.len() + 599, 7);
                larger.extend(epilogue);
                game.save(first.slot, &larger);
                Ok(())
            })
        },
    ),
    Sample::damaged(
        "crash-moving",
        "A block grew, and the game was killed while later sectors moved down: some are there twice.",
        &[Code::TableCount, Code::BlockHalfMoved],
        |dir| {
            session(dir, &spec(), |game, _, at| {
                game.killed_while_moving(at.slot, u32::from(at.entry.count()) + 3);
                Ok(())
            })
        },
    ),
    Sample::damaged(
        "crash-doubled",
        "A block grew, and the game was killed when the next two had moved down: they are there twice.",
        &[Code::BlockDoubled],
        |dir| {
            session(dir, &spec(), |game, draft, at| {
                let blocks = draft.blocks(REGION)?;
                let behind = blocks.iter().filter(|next| next.entry.first() >= at.entry.end()).take(2);
                game.killed_while_moving(at.slot, behind.map(|next| u32::from(next.entry.count())).sum());
                Ok(())
            })
        },
    ),
    Sample::damaged(
        "crash-new-block",
        "A block shrank and a new one was appended; the table was not written, and nothing tells whose the new one is.",
        &[Code::BlockOwnerless],
        |dir| {
            session(dir, &spec(), |game, draft, at| {
                let position = [0, 0, 2];
                let slot = slots::index(spec().format().region_size, position.map(|n| n as u16));
                let slot = slot.ok_or_else(|| unmade("a block outside the region"))?;
                game.save(at.slot, &healthy::smaller(&spec(), draft, at.slot)?);
                game.save(slot, &spec().block(0, position).pack(spec().mode));
                Ok(())
            })
        },
    ),
    Sample::damaged(
        "crash-torn-table",
        "A block shrank, and of the new table only the first 4,096 bytes of the file were written.",
        &[Code::TableGap, Code::BlockPrefix],
        torn_table,
    ),
    Sample::damaged(
        "crash-migration",
        "A game was killed while it made room for the header of version 3 in a file of version 2.",
        &[Code::ContainerEmpty],
        migration,
    ),
    Sample::damaged(
        "disk-full",
        "The disk was full: the file ends in the middle of its blocks.",
        &[Code::TableBeyondEnd],
        |dir| region(dir, |bytes, _, at| bytes.truncate((at.start + at.end) / 2)),
    ),
    Sample::damaged(
        "two-writers",
        "An editor and a game saved into one file: the table of one stands over the sectors of both.",
        &[Code::TableOverlap],
        two_writers,
    ),
    Sample::damaged(
        "power-loss",
        "After a power loss the last pages of the file are zero.",
        &[Code::BlockZeroed],
        |dir| {
            region(dir, |bytes, blocks, _| {
                // The last page that begins before the last two blocks, and everything after it.
                let from = blocks.iter().rev().nth(2).map_or(0, |at| at.start.next_multiple_of(PAGE));
                bytes[from..].fill(0);
            })
        },
    ),
];

/// Terrain in which no block of the small forest has a uniform channel that matters.
fn raw() -> crate::demo::Terrain {
    crate::demo::Terrain { base: 20.0, reach: 200.0, grain: 2.0, ..crate::demo::Terrain::new(5) }
}

/// A game that opens the region of a forest, does something and is killed.
fn session(
    dir: &Path,
    spec: &ForestSpec,
    play: impl FnOnce(&mut Game, &mut Draft, At) -> io::Result<()>,
) -> io::Result<()> {
    alter_of(spec, dir, |draft| {
        let at = victim(&draft.blocks(REGION)?)?;
        let mut game = Game::open(draft.read(REGION)?);
        play(&mut game, draft, at)?;
        draft.put(REGION, game.bytes);
        Ok(())
    })
}

/// The first half of the new state over the old one.
fn half_written(dir: &Path) -> io::Result<()> {
    session(dir, &spec(), |game, draft, at| {
        let mut data = draft.plain(REGION, at)?;
        // A player fills some columns with another material.
        for column in data[8..8200].chunks_exact_mut(32).skip(60).step_by(3).take(60) {
            column.fill(1);
        }
        let mut packed = Vec::new();
        container::encode(Mode::Lz4, &data, &mut packed);
        put_u32(&mut game.bytes, at.start, packed.len() as u32);
        put(&mut game.bytes, at.start + 4, &packed[..packed.len() / 2]);
        Ok(())
    })
}

/// A table of 16 KiB with blocks on both sides of the border between its pages.
fn torn_table(dir: &Path) -> io::Result<()> {
    let lods = vec![Extent { from: [0, 0, 3], to: [2, 2, 5] }];
    let spec = ForestSpec { region_size_po2: 4, lods, ..spec() };
    session(dir, &spec, |game, draft, _| {
        let blocks = draft.blocks(REGION)?;
        let old = game.bytes.clone();
        let at = blocks.first().ok_or_else(|| unmade("an empty region"))?;
        game.save(at.slot, &healthy::smaller(&spec, draft, at.slot)?);
        game.flush();
        let table = PAGE..blocks.iter().map(|at| at.entry_at + 4).max().unwrap_or(PAGE);
        put(&mut game.bytes, table.start, &old[table]);
        Ok(())
    })
}

/// The engine moves the file up from its end, piece by piece: what is behind the last piece moved is 15 bytes further on,
/// what is before it is still at its old place.
fn migration(dir: &Path) -> io::Result<()> {
    let spec = ForestSpec { meta_version: 2, region_version: 2, lod_count: true, ..spec() };
    region_of(&spec, dir, |bytes, _, at| {
        let moved = (bytes.len() - at.end) / 512 * 512;
        let from = bytes.len() - moved;
        let doubled = bytes[from..from + HEADER_BYTES as usize - 5].to_vec();
        bytes.splice(from..from, doubled);
    })
}

/// Both append a new block at the same place; the table that is written last contains only its own, and the entry of the
/// other stays if its page of the table was not written again.
fn two_writers(dir: &Path) -> io::Result<()> {
    session(dir, &spec(), |game, draft, _| {
        let blocks = draft.blocks(REGION)?;
        let used = blocks.iter().map(|at| at.entry.end()).max().unwrap_or(0);
        let block = spec().block(0, [0, 0, 2]).pack(Mode::Lz4);
        let free: Vec<u32> =
            (0..spec().format().table_len()).filter(|&slot| !game.entry(slot).is_used()).take(2).collect();
        let [first, second] = free[..] else { return Err(unmade("a region without free slots")) };
        game.save(first, &block);
        game.flush();
        let at = HEADER_BYTES as usize + second as usize * 4;
        let entry = Entry::new(used, game.entry(first).count());
        put_u32(&mut game.bytes, at, entry.0);
        Ok(())
    })
}
