//! States of the sectors: 3, 4, 5, 6, 8, 9.

use voxscope::damage::Code;
use voxscope::repair::{self, Origin};
use voxscope::save::{Options, Save};

use super::world::{Land, all_codes, assert_kept, assert_right, codes, entries, lost, mend, plain};

/// A block with more than one sector, with others before and behind it, and its first byte in the file.
fn victim(land: &mut Land) -> (u32, usize, usize) {
    let header = land.header();
    let all = entries(land.disk());
    let mut order: Vec<_> = all.into_iter().collect();
    order.sort_by_key(|(_, e)| e.first());
    let inner = &order[2..order.len() - 2];
    let (slot, entry) = inner.iter().max_by_key(|(_, e)| e.count()).unwrap();
    let span = header.sector_span(entry.first().into(), entry.count().into());
    (*slot, span.start as usize, span.end as usize)
}

fn position(slot: u32) -> [i32; 3] {
    voxscope::godot::slots::position([4; 3], slot).unwrap().map(i32::from)
}

/// A block whose last bytes are zero.
fn half_written() -> (Land, [i32; 3], Vec<u8>) {
    let mut land = Land::full();
    let (slot, start, end) = victim(&mut land);
    let disk = land.disk();
    let size = u32::from_le_bytes(disk[start..start + 4].try_into().unwrap()) as usize;
    // Those of the epilogue and of the uniform channels.
    disk[start + 4 + size - 12..end].fill(0);
    let raw = disk[start..end].to_vec();
    (land, position(slot), raw)
}

/// 3: new bytes up to a border of pages, old ones behind it. What decodes there is nonsense, and none of it is written.
#[test]
fn what_stands_behind_the_tear_is_not_believed() {
    let (mut made, mut salvaged) = (0, 0);
    for (k, at) in (0..16).map(|k| [k % 4, k / 4 % 2, (k * 7 + k / 4) % 4]).enumerate() {
        let format = voxscope::godot::region::Format { block_size_po2: 4, sector_size: 256, ..super::world::format() };
        let mut land = Land::new(format, [0; 3], [4; 3]);
        let old = land.disk().clone();
        // A few voxels get another type, which takes no more bytes.
        land.voxels.edit([at[0] * 16 + 8, at[1] * 16 + 8, at[2] * 16 + 1], 3, 0);
        land.save(at);
        let header = land.header();
        let slot = voxscope::godot::slots::index([4; 3], at.map(|n| n as u16)).unwrap();
        let entry = entries(&old)[&slot];
        let span = header.sector_span(entry.first().into(), entry.count().into());
        // The C library writes whole pages of the file.
        let tear = (span.start as usize + 1).next_multiple_of(4096);
        let write = land.world.writes.iter().find(|w| w.at == span.start as usize).map(|w| w.bytes.clone());
        let Some(new) = write.filter(|new| span.start as usize + new.len() > tear && tear < span.end as usize) else {
            continue;
        };
        made += 1;
        let mut torn = old;
        torn[span.start as usize..tear].copy_from_slice(&new[..tear - span.start as usize]);
        *land.disk() = torn;
        let source = land.write(&format!("world{k}"));
        let mended = plain(&source);
        if let Some(block) = mended.blocks.get(&at) {
            salvaged += 1;
            assert_eq!(block, &land.truth[&at]);
        }
        assert_right(&mended, &land.truth, &[]);
    }
    assert!(made > 2, "{made} torn");
    println!("{salvaged} of {made} salvaged");
}

/// 3: a block was rewritten half-way.
#[test]
fn a_block_whose_end_does_not_decode() {
    let (land, at, raw) = half_written();
    let source = land.write("world");
    let codes = codes(&source);
    let torn = |c: &Code| ["container-", "channel-", "block-"].iter().any(|start| c.name().starts_with(start));
    assert!(codes.iter().any(torn), "{codes:?}");
    let mended = plain(&source);
    assert_right(&mended, &land.truth, &[at]);
    assert_eq!(mended.blocks.len(), land.truth.len());
    // TYPE and SDF are what was saved; the others are what all blocks have.
    assert_eq!(mended.blocks[&at], land.truth[&at]);
    let decision = mended.plan.regions[0].blocks.iter().find(|d| d.position == at).unwrap();
    assert_eq!(decision.origin, Origin::Salvaged);
    let salvaged = &mended.json["regions"][0]["salvaged"][0];
    assert_eq!(salvaged["kept"][0], "TYPE");
    assert_eq!(salvaged["kept"][1], "SDF");
    assert!(!salvaged["filled"].as_array().unwrap().is_empty(), "{salvaged}");
    // The bytes as they were are kept.
    let kept =
        std::fs::read_dir(mended.path.join("lost+found")).unwrap().map(|e| std::fs::read(e.unwrap().path()).unwrap());
    assert!(kept.into_iter().any(|bytes| bytes == raw), "the torn bytes are gone");
}

/// 3, with a backup: the older state, whole, rather than a part of the newest.
#[test]
fn a_torn_block_with_a_backup() {
    let healthy = Land::full();
    let backup = healthy.write("backup");
    let (land, at, _) = half_written();
    let source = land.write("world");
    let backup = Save::open(&backup, &Options::default()).unwrap();
    let options = repair::Options::default().backup(&backup);
    let mended = mend(&source, &options, &Options::default());
    assert_eq!(mended.blocks, land.truth);
    let put_right = mended.json["regions"][0]["put_right"].as_array().unwrap();
    let one = put_right.iter().find(|b| b["position"] == serde_json::json!(at)).unwrap();
    assert_eq!((&one["certainty"], &one["from_backup"]), (&"backup".into(), &true.into()));
    assert_eq!(put_right.iter().filter(|b| b["from_backup"] == true).count(), 1, "only what was missing");
}

/// 3: nothing of the block decodes.
#[test]
fn a_block_of_noise_is_kept_as_it_is() {
    let mut land = Land::full();
    let (slot, start, end) = victim(&mut land);
    let noise: Vec<u8> = (0..end - start).map(|i| (i * 37 % 251) as u8 | 0x80).collect();
    land.disk()[start..end].copy_from_slice(&noise);
    let source = land.write("world");
    assert!(!codes(&source).is_empty());
    let mended = plain(&source);
    assert_right(&mended, &land.truth, &[]);
    assert!(!mended.blocks.contains_key(&position(slot)));
    assert_kept(&mended, &land.truth, &[position(slot)]);
    let files = std::fs::read_dir(mended.path.join("lost+found")).unwrap();
    assert!(files.into_iter().any(|e| std::fs::read(e.unwrap().path()).unwrap() == noise));
}

/// 4: a block shrank, and the table is old.
#[test]
fn one_constant_shift() {
    let mut land = Land::full();
    land.shrink([1, 0, 1]);
    let source = land.write("world");
    assert!(
        codes(&source).iter().any(|c| matches!(c, Code::BlockMoved | Code::BlockMisplaced)),
        "{:?}",
        codes(&source)
    );
    let mended = plain(&source);
    assert_right(&mended, &land.truth, &[]);
    assert_kept(&mended, &land.truth, &[]);
    assert!(mended.blocks.len() > 60, "{}", mended.blocks.len());
}

/// 5: a block grew, and the table is old.
#[test]
fn one_block_at_the_end() {
    let mut land = Land::full();
    land.grow([1, 1, 1]);
    let source = land.write("world");
    assert!(!codes(&source).is_empty());
    let mended = plain(&source);
    assert_right(&mended, &land.truth, &[]);
    assert_kept(&mended, &land.truth, &[]);
    assert!(mended.blocks.len() > 60, "{}", mended.blocks.len());
}

/// 6: killed while sectors moved.
#[test]
fn killed_while_sectors_move() {
    let mut land = Land::full();
    let flushed = land.disk().clone();
    let from = land.world.writes.len();
    land.grow([1, 1, 1]);
    let writes = &land.world.writes[from..];
    let half = &writes[..writes.len() / 2];
    let mut disk = flushed;
    half.iter().for_each(|w| crate::common::writer::put(&mut disk, w.at, &w.bytes));
    *land.disk() = disk;
    let source = land.write("world");
    assert!(!codes(&source).is_empty());
    let mended = plain(&source);
    // The block that grew is gone.
    assert_right(&mended, &land.truth, &[]);
    assert!(!mended.blocks.contains_key(&[1, 1, 1]));
    assert_kept(&mended, &land.truth, &[[1, 1, 1]]);
    assert!(mended.blocks.len() > 58, "{}", mended.blocks.len());
}

/// 8: the disk was full, the last blocks are not there.
#[test]
fn entries_beyond_the_end() {
    let mut land = Land::full();
    let header = land.header();
    let mut order: Vec<_> = entries(land.disk()).into_iter().collect();
    order.sort_by_key(|(_, e)| e.first());
    let (slot, cut) = order[order.len() - 9..].iter().max_by_key(|(_, e)| e.count()).copied().unwrap();
    let start = header.sector_span(cut.first().into(), 0).start as usize;
    let behind: Vec<[i32; 3]> =
        order.iter().filter(|(_, e)| e.first() >= cut.first()).map(|(slot, _)| position(*slot)).collect();
    land.disk().truncate(start + 40);
    let source = land.write("world");
    assert!(codes(&source).contains(&Code::TableBeyondEnd));
    let mended = plain(&source);
    assert_right(&mended, &land.truth, &[position(slot)]);
    assert_kept(&mended, &land.truth, &behind);
    let whole = land.truth.len() - behind.len();
    assert!((whole..=whole + 1).contains(&mended.blocks.len()), "{} of {whole}", mended.blocks.len());
    let files = std::fs::read_dir(mended.path.join("lost+found")).unwrap().map(|e| e.unwrap().path());
    let raw: Vec<Vec<u8>> = files.map(|p| std::fs::read(p).unwrap()).collect();
    assert!(raw.contains(&land.disk()[start..].to_vec()), "what is left of the last block is gone");
}

/// 9: a power loss left zeros.
#[test]
fn runs_of_zero() {
    let mut land = Land::full();
    let header = land.header();
    let mut order: Vec<_> = entries(land.disk()).into_iter().collect();
    order.sort_by_key(|(_, e)| e.first());
    let run = &order[20..25];
    let from = header.sector_span(run[0].1.first().into(), 0).start as usize;
    let to = header.sector_span(run[4].1.end().into(), 0).start as usize;
    let gone: Vec<[i32; 3]> = run.iter().map(|(slot, _)| position(*slot)).collect();
    land.disk()[from..to].fill(0);
    let source = land.write("world");
    let zeroed = all_codes(&source).iter().filter(|(code, _)| *code == Code::BlockZeroed).count();
    assert_eq!(zeroed, 1, "one finding for the run");
    let mended = plain(&source);
    assert_right(&mended, &land.truth, &[]);
    assert_kept(&mended, &land.truth, &gone);
    assert_eq!(mended.blocks.len(), land.truth.len() - gone.len());
    assert!(lost(&mended.path).is_empty(), "zeros are not worth keeping");
}
