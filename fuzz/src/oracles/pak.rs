//! Pak regions: header, records, sector map, chunks and the checker.
//!
//! Blocks of 4,096 bytes leave no room for much in a small input. So one that begins with `~` (the tag means nothing) is
//! spread: each [`PAGE`] bytes of it are the beginning of a block, whose rest is [`FILL`], which reads as absent records.

use std::borrow::Cow;

use voxscope::bytes::len64;
use voxscope::check;
use voxscope::damage::{Code, Damage, Level, Space};
use voxscope::pak::build::Builder;
use voxscope::pak::chunk::{Given, Order, Voxels};
use voxscope::pak::offset::Reading;
use voxscope::pak::place::{self, Grid};
use voxscope::pak::record::{self, Record, blocks_for};
use voxscope::pak::{BLOCK_BYTES, payload, strings};
use voxscope::save::{Options, Owner, Pak, PakOptions, PakScratch, PakView};

use super::{Reach, bytes, damage_inside, findings_inside, has_cut, limits, worse_than_note, worst_of};

/// Bytes of an input that make a block.
pub const PAGE: usize = 128;

/// The byte that the rest of a block is filled with.
pub const FILL: u8 = 0xff;

/// The most chunks that are read of one file.
const CHUNKS: usize = 96;

/// Region positions for which chunk positions are computed: around zero and at both ends of 32 bits.
const REGIONS: [[i32; 3]; 4] = [[0; 3], [-1, 0, 2], [i32::MIN / 32, -3, i32::MAX / 32], [i32::MIN, i32::MAX, 7]];

/// The input is a whole file, or a spread one.
pub fn check(data: &[u8]) -> Reach {
    let data = whole(data);
    for reading in Reading::ALL {
        let shape = Given { size: Some([16, 3, 5]), voxel_bytes: None };
        with(&data, &PakOptions::default().reading(reading).shape(shape));
    }
    with(&data, &PakOptions::default())
}

/// The file that an input stands for.
pub(super) fn whole(data: &[u8]) -> Cow<'_, [u8]> {
    if data.first() == Some(&b'~') { spread(data) } else { Cow::Borrowed(data) }
}

fn spread(data: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Vec::new();
    for page in data.chunks(PAGE) {
        out.resize(out.len().next_multiple_of(BLOCK_BYTES as usize), FILL);
        out.extend_from_slice(page);
    }
    Cow::Owned(out)
}

pub(super) fn with(data: &[u8], options: &PakOptions) -> Reach {
    let mut damage = Vec::new();
    let loaded = Pak::load(data, REGIONS[1], options, &limits(), &mut damage);
    let Ok(loaded) = loaded else { unreachable!("memory does not fail") };
    damage_inside(&damage, Space::File, data.len());
    let options = Options::default().pak(*options).limits(limits());
    let findings = check::pak_bytes(data, "p", REGIONS[1], &options);
    findings_inside(&findings, data.len(), limits().block_bytes);
    let Some(mut pak) = loaded else {
        assert!(matches!(damage.as_slice(), [d] if d.code == Code::PakHeaderCut), "no header, and why: {damage:?}");
        assert!(findings.iter().any(|finding| finding.code() == Code::PakHeaderCut));
        return Reach::Refused;
    };
    assert!(damage.is_empty(), "damage of a region that was loaded is its own: {damage:?}");
    damage_inside(&pak.damage, Space::File, data.len());
    let mut again = Vec::new();
    pak.header.encode(&mut again);
    assert_eq!(again, data[..16], "the header is not written as it was read");
    records(&pak);
    sector_map(&pak);
    for reading in Reading::ALL {
        assert_eq!(Reading::from_name(reading.name()), Some(reading));
    }
    for region in REGIONS {
        let name = place::name(region);
        assert_eq!(place::parse_name(&name), Some(region), "{name}");
        let shouted = name.to_uppercase().replace("-0", "0");
        assert_eq!(place::parse_close_name(&shouted), Some(region), "{shouted}");
        assert!(place::is_close(&shouted) && place::is_close(&format!("{name} (copy)")));
        pak.region = region;
        places(&pak);
    }
    pak.region = REGIONS[1];

    let passed = worst_of(&findings).is_none_or(|level| level == Level::Note);
    let mut scratch = PakScratch::default();
    let (mut read, mut clean, mut chunks) = (0, !worse_than_note(&pak.damage), Vec::new());
    let zeroed = pak.zeroed_runs();
    for (number, record) in pak.present().take(CHUNKS) {
        let Ok(view) = pak.view(number, record, &mut scratch) else { unreachable!("memory does not fail") };
        view_inside(&pak, &view);
        read += usize::from(view.payload.is_some_and(|payload| !payload.plain.is_empty()));
        clean &= view.damage.is_empty();
        let at = pak.chunk(number);
        for d in view.damage {
            // Chunks that share their first block are examined once and reported as shared.
            // A run of zeroed records is one finding.
            let said = |f: &check::Finding| {
                let is_of_run = record::is_in_run(&zeroed, number) && f.code() == Code::PageZeroed;
                let is_of_block = f.block.is_some_and(|block| block.position == at);
                is_of_run || (is_of_block && (f.code() == d.code || f.code() == Code::PakOverlap))
            };
            assert!(findings.iter().any(said) || has_cut(&findings), "{d:?} of record {number} is no finding");
        }
        chunks.push((number, record, view.payload.map_or(&[][..], |payload| payload.plain).to_vec()));
        let (seen, damage) = (format!("{:?}", view.shape), view.damage.to_vec());
        if chunks.len() <= 8 {
            let mut scratch = PakScratch::default();
            let Ok(again) = pak.view(number, record, &mut scratch) else { unreachable!("memory does not fail") };
            assert_eq!(again.damage, damage, "new buffers give other damage");
            let plain = again.payload.map_or(&[][..], |payload| payload.plain);
            assert!(chunks.last().is_some_and(|last| last.2 == plain), "new buffers give other bytes");
            assert_eq!(format!("{:?}", again.shape), seen, "new buffers give another shape");
        }
    }
    assert!(!passed || clean, "the checker passes what is not clean");
    if passed && pak.present().count() <= CHUNKS {
        rebuild(&pak, chunks, &options);
    }
    match read {
        _ if passed => Reach::Healthy,
        0 => Reach::Header,
        _ => Reach::Content,
    }
}

/// The records are those of the file, in order.
fn records(pak: &Pak<&[u8]>) {
    let wanted = pak.header.records().value as usize;
    assert!(pak.records.len() <= wanted, "more records than there should be");
    let whole = pak.source.len().saturating_sub(16) / 8;
    assert_eq!(pak.records.len(), wanted.min(whole), "other records than the file has");
    for (number, record) in (0u32..).zip(&pak.records) {
        assert_eq!(bytes(pak.source, record::span(number)), record.encode(), "record {number} is another");
    }
}

/// A chunk leads back to its region and record.
fn places(pak: &Pak<&[u8]>) {
    let Some(grid) = &pak.grid else { return };
    assert_eq!(Grid::from_record_count(pak.header.records().value).as_ref(), Some(grid));
    for (number, _) in pak.present().take(CHUNKS) {
        match pak.chunk(number) {
            Some(chunk) => {
                assert_eq!(grid.value.find(chunk), (pak.region, Some(number)), "chunk {chunk:?} is elsewhere");
                for (v, region) in chunk.into_iter().zip(pak.region) {
                    assert_eq!(place::region_of(v, grid.value.side()), region);
                }
            }
            None => assert!(place::check_name(pak.region, pak.header.records().value).is_some(), "no place, unsaid"),
        }
    }
}

/// The map has every block of the file once, and each run is owned by just those records that claim it.
fn sector_map(pak: &Pak<&[u8]>) {
    let map = pak.sector_map();
    assert_eq!((map.header_bytes, u64::from(map.sector_size)), (0, BLOCK_BYTES));
    assert_eq!(map.in_file, blocks_for(len64(pak.source)));
    let header = blocks_for(pak.header.end().min(len64(pak.source)));
    let claims: Vec<(u32, u64, u64)> = pak
        .present()
        .filter_map(|(number, record)| {
            let blocks = pak.locate(number, record, &mut Vec::new())?.blocks;
            Some((number, blocks.start / BLOCK_BYTES, blocks.end.div_ceil(BLOCK_BYTES)))
        })
        .filter(|(_, first, end)| first < end)
        .collect();
    let mut at = 0;
    for run in &map.runs {
        assert!(run.count > 0, "an empty run");
        assert!(run.first == at || run.first > at && at >= map.in_file, "blocks {at}..{} have no run", run.first);
        at = run.first + run.count;
        for block in [run.first, at - 1] {
            let owners = claims.iter().filter(|(_, first, end)| (*first..*end).contains(&block));
            let owners: Vec<u32> = owners.map(|claim| claim.0).take(2).collect();
            let expected = match *owners.as_slice() {
                _ if block < header => Owner::Header,
                [] => Owner::Free,
                [one] if block < map.in_file => Owner::Block(one),
                [one] => Owner::BeyondEnd(one),
                _ => Owner::Shared,
            };
            assert_eq!(run.owner, expected, "block {block}");
            assert!(block < map.in_file || !owners.is_empty(), "block {block} is nobody's and not in the file");
        }
    }
    assert!(at >= map.in_file, "the last {} blocks have no run", map.in_file - at);
}

fn view_inside(pak: &Pak<&[u8]>, view: &PakView<'_>) {
    let plain = view.payload.map_or(&[][..], |payload| payload.plain);
    for d in view.damage {
        let len = if d.space == Space::Block { plain.len() } else { pak.source.len() };
        damage_inside(std::slice::from_ref::<Damage>(d), d.space, len);
    }
    let (Some(located), Some(payload)) = (view.located, view.payload) else {
        assert!(worse_than_note(view.damage), "nothing to decode, and nobody says why");
        return;
    };
    assert!(!located.exact || located.stored.len() <= located.blocks.len(), "more than the blocks of the record");
    let stored = bytes(pak.source, located.stored);
    assert!(payload.used <= len64(stored) && len64(plain) <= limits().block_bytes, "more than there may be");
    assert!(len64(plain) <= payload.used.max(1) * payload::MAX_EXPANSION, "more than deflate can give");
    assert!(payload.whole || worse_than_note(view.damage), "not whole, and nobody says why");
    let found = strings::find(plain, 20);
    assert!(found.texts.len() <= 20 && len64(plain) >= found.total, "{} texts", found.total);
    if payload.whole {
        let used = &stored[..payload.used as usize];
        assert!(used.ends_with(&payload::adler32(plain).to_be_bytes()), "whole, but its checksum is another");
    }
    if let Some(shape) = &view.shape {
        let voxels = Voxels { data: plain, shape: shape.value, order: Order::default() };
        let last = shape.value.size.map(|n| n.saturating_sub(1));
        assert!(!shape.how.name().is_empty());
        for order in Order::ALL {
            assert_eq!(Order::from_name(order.name()), Some(order));
            // The first voxel comes first and the last one last, whatever the order of the axes.
            let voxels = Voxels { data: plain, shape: shape.value, order };
            let ends = [voxels.span([0; 3]).map(|span| span.start), voxels.span(last).map(|span| span.end)];
            assert_eq!(ends, [Some(0), Some(shape.value.bytes())], "{order:?} of {shape:?}");
            assert!(voxels.count() * u64::from(shape.value.voxel_bytes) <= len64(plain));
        }
        let there = shape.value.bytes() <= len64(plain);
        assert_eq!(voxels.get(last).is_some(), there && shape.value.voxel_bytes <= 8, "the last voxel");
        assert_eq!(voxels.get(shape.value.size), None, "a voxel outside");
    }
}

/// A healthy region, built anew from its chunks, is healthy and holds the same; where the streams are those of our own
/// encoder, packed one after the other, its records are the same as well.
fn rebuild(pak: &Pak<&[u8]>, mut chunks: Vec<(u32, Record, Vec<u8>)>, options: &Options) {
    let header = &pak.header;
    chunks.sort_by_key(|(_, record, _)| record.block_offset);
    let mut builder = Builder::new(header.tag, header.version, header.records().value, pak.reading.value);
    let (mut next, mut canonical) = (0, true);
    let mut expected = Vec::new();
    for (number, record, plain) in &chunks {
        let made = builder.push(*number, plain);
        assert!(made.is_some(), "record {number} cannot be written again");
        canonical &=
            i32::from(record.block_offset) == next && made.is_some_and(|m| m.file_length == record.file_length);
        canonical &= made.is_some_and(|m| m.block_length == record.block_length);
        next += i32::from(record.block_length);
        expected.push((*number, *record));
    }
    let built = builder.finish();
    let findings = check::pak_bytes(&built, "p", pak.region, options);
    assert!(worst_of(&findings).is_none_or(|level| level == Level::Note), "the new file is damaged: {findings:?}");
    let given = PakOptions::default().reading(pak.reading.value);
    let Ok(Some(again)) = Pak::load(built.as_slice(), pak.region, &given, &limits(), &mut Vec::new()) else {
        unreachable!("it has a header")
    };
    let mut scratch = PakScratch::default();
    for (number, _, plain) in &chunks {
        let record = again.records[*number as usize];
        let Ok(view) = again.view(*number, record, &mut scratch) else { unreachable!("memory does not fail") };
        assert!(view.payload.is_some_and(|p| p.whole && p.plain == plain), "record {number} holds something else");
    }
    assert_eq!(again.present().count(), chunks.len(), "other records in the new file");
    if canonical {
        expected.sort_by_key(|(number, _)| *number);
        assert_eq!(again.present().collect::<Vec<_>>(), expected, "packed, and yet other records");
    }
    let holes = again.sector_map().count(|owner| !matches!(owner, Owner::Header | Owner::Block(_)));
    assert_eq!(holes, 0, "the new file is not packed");
}
