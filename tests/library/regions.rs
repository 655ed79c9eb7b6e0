//! Open regions: who owns which sectors, where blocks are, and what is wrong with how they are stored.

use crate::common;
use crate::common::{codes, small_header, small_region, small_sector};
use proptest::prelude::*;
use voxscope::bytes::Span;
use voxscope::damage::{Code, Space, Value};
use voxscope::godot::container::Mode;
use voxscope::godot::region::{Entry, Header, MAX_HEADER_BYTES};
use voxscope::godot::slots::{self, SlotFormula};
use voxscope::limits::Limits;
use voxscope::save::{Options, Owner, Region, Run, Scratch, SectorMap};

/// Bytes of header and table of a small region.
const SECTORS_AT: u64 = 20 + 8 * 4;

fn load(data: Vec<u8>, position: [i32; 3], options: &Options) -> Region<Vec<u8>> {
    let mut damage = Vec::new();
    let prefix = &data[..data.len().min(MAX_HEADER_BYTES)];
    let header = Header::decode(prefix, data.len() as u64, Some(&common::SMALL)).report_to(&mut damage).unwrap();
    assert_eq!(damage, []);
    Region::load(data, header, 0, position, options).unwrap()
}

fn table(used: &[(usize, u32, u8)]) -> [(u32, u8); 8] {
    let mut entries = [(0, 0); 8];
    for &(slot, first, count) in used {
        entries[slot] = (first, count);
    }
    entries
}

/// A region whose table has these entries (slot, first sector, count) and that has room for `bytes` of sectors.
fn with_table(used: &[(usize, u32, u8)], bytes: usize) -> Region<Vec<u8>> {
    load(small_region(&small_header(), table(used), &vec![0; bytes]), [0; 3], &Options::default())
}

fn runs(used: &[(usize, u32, u8)], bytes: usize) -> Vec<(u64, u64, Owner)> {
    let map = with_table(used, bytes).sector_map();
    assert_eq!((map.header_bytes, map.sector_size), (SECTORS_AT, 64));
    assert_eq!(map.in_file, bytes.div_ceil(64) as u64);
    map.runs.iter().map(|run| (run.first, run.count, run.owner)).collect()
}

#[test]
fn blocks_one_after_the_other_and_a_stale_tail() {
    use Owner::{Block, Stale};
    assert_eq!(runs(&[(3, 0, 1), (5, 1, 2)], 5 * 64), [(0, 1, Block(3)), (1, 2, Block(5)), (3, 2, Stale)]);
    // Sectors in another order than slots, and the last one in part.
    assert_eq!(runs(&[(3, 2, 1), (5, 0, 2)], 2 * 64 + 1), [(0, 2, Block(5)), (2, 1, Block(3))]);
    assert_eq!(runs(&[], 65), [(0, 2, Stale)]);
    assert_eq!(runs(&[], 0), []);
}

#[test]
fn a_gap_is_free() {
    use Owner::{Block, Free, Stale};
    assert_eq!(runs(&[(0, 2, 1)], 4 * 64), [(0, 2, Free), (2, 1, Block(0)), (3, 1, Stale)]);
    assert_eq!(runs(&[(0, 0, 1), (7, 3, 1)], 4 * 64), [(0, 1, Block(0)), (1, 2, Free), (3, 1, Block(7))]);
    // An entry without sectors owns none.
    assert_eq!(runs(&[(0, 0, 1), (7, 3, 0)], 2 * 64), [(0, 1, Block(0)), (1, 1, Stale)]);
}

#[test]
fn overlapping_entries_share() {
    use Owner::{Block, Shared};
    assert_eq!(runs(&[(0, 0, 3), (1, 2, 2)], 4 * 64), [(0, 2, Block(0)), (2, 1, Shared), (3, 1, Block(1))]);
    // One inside another, and the outer one again after it.
    assert_eq!(runs(&[(6, 0, 4), (1, 1, 1)], 4 * 64), [(0, 1, Block(6)), (1, 1, Shared), (2, 2, Block(6))]);
    // The same sectors.
    assert_eq!(runs(&[(0, 0, 2), (7, 0, 2)], 2 * 64), [(0, 2, Shared)]);
    // Three, of which the last goes on alone.
    let three = runs(&[(1, 0, 2), (2, 1, 2), (3, 1, 4)], 5 * 64);
    assert_eq!(three.first(), Some(&(0, 1, Block(1))));
    assert_eq!(three.last(), Some(&(3, 2, Block(3))));
    assert!(three[1..three.len() - 1].iter().all(|run| run.2 == Shared));
}

#[test]
fn sectors_beyond_the_end_of_the_file() {
    use Owner::{BeyondEnd, Block, Free};
    assert_eq!(runs(&[(0, 0, 1), (4, 1, 4)], 3 * 64), [(0, 1, Block(0)), (1, 2, Block(4)), (3, 2, BeyondEnd(4))]);
    assert_eq!(runs(&[(4, 0x00ff_ffff, 255)], 64), [(0, 1, Free), (0x00ff_ffff, 255, BeyondEnd(4))]);
    assert_eq!(runs(&[(4, 0, 2)], 0), [(0, 2, BeyondEnd(4))]);
}

fn owner_of(map: &SectorMap, sector: u64) -> Option<Owner> {
    let mut owners = map.runs.iter().filter(|run| (run.first..run.first + run.count).contains(&sector));
    let owner = owners.next().map(|run| run.owner);
    assert_eq!(owners.next(), None, "sector {sector} twice");
    owner
}

proptest! {
    /// CompareWith the plainest way to say it: sector by sector.
    #[test]
    fn every_sector_has_the_owner_it_has(
        entries in proptest::array::uniform8((0_u32..14, 0_u8..5)),
        in_file in 0_u64..16,
    ) {
        let bytes = usize::try_from(in_file * 64).unwrap();
        let region = load(small_region(&small_header(), entries, &vec![0; bytes]), [0; 3], &Options::default());
        let map = region.sector_map();
        let mut at = 0;
        for Run { first, count, .. } in &map.runs {
            prop_assert!(*first >= at && *count > 0);
            at = first + count;
        }
        let spans: Vec<_> = entries.iter().map(|&(first, count)| u64::from(first)..u64::from(first) + u64::from(count)).collect();
        let end = spans.iter().filter(|span| !span.is_empty()).map(|span| span.end).max().unwrap_or(0);
        for sector in 0..20 {
            let owners: Vec<u32> = (0..8).filter(|&slot| spans[slot as usize].contains(&sector)).collect();
            let expected = match owners[..] {
                [] if sector >= in_file => None,
                [] if sector < end => Some(Owner::Free),
                [] => Some(Owner::Stale),
                [slot] if sector < in_file => Some(Owner::Block(slot)),
                [slot] => Some(Owner::BeyondEnd(slot)),
                _ => Some(Owner::Shared),
            };
            prop_assert_eq!(owner_of(&map, sector), expected, "sector {}", sector);
        }
    }
}

proptest! {
    /// Entries that overlap one or several others, and gaps between them: what the check finds is what the plainest way finds.
    #[test]
    fn every_overlap_and_gap_of_a_table_is_found_once(entries in proptest::array::uniform8((0_u32..9, 0_u8..6))) {
        use voxscope::check;
        let data = small_region(&small_header(), entries, &vec![0; 14 * 64]);
        let findings = check::region_bytes(&data, "r.0.0.0.vxr", 0, [0; 3], &Options::default());
        let of = |code| findings.iter().filter(move |finding| finding.code() == code);
        let mut used: Vec<(u32, u32)> =
            entries.iter().filter(|(_, count)| *count > 0).map(|&(first, count)| (first, first + u32::from(count))).collect();
        used.sort_unstable();
        let reach = |at: usize| used[..at].iter().map(|(_, end)| *end).max().unwrap_or(0);
        let begins = |at: usize| used[at].0;
        let overlaps = (0..used.len()).filter(|&at| begins(at) < reach(at)).count();
        prop_assert_eq!(of(Code::TableOverlap).count(), overlaps);
        let gaps: Vec<(u64, u64)> = (0..used.len())
            .filter(|&at| begins(at) > reach(at))
            .map(|at| (u64::from(reach(at)), u64::from(begins(at))))
            .collect();
        let sectors = |span: Span| ((span.start - SECTORS_AT) / 64, (span.end - SECTORS_AT) / 64);
        let found: Vec<(u64, u64)> = of(Code::TableGap).map(|finding| sectors(finding.span.unwrap())).collect();
        prop_assert_eq!(found, gaps);
        // The sectors that an entry shares reach to the furthest end before it, whatever comes between.
        for finding in of(Code::TableOverlap) {
            let (start, _) = sectors(finding.span.unwrap());
            let alone = used.iter().filter(|(first, _)| u64::from(*first) == start).count() == 1;
            let before = used.iter().filter(|(first, _)| u64::from(*first) < start).map(|(_, end)| *end).max();
            if alone {
                prop_assert_eq!(finding.damage.expected, Value::AtLeast(before.unwrap().into()));
            }
        }
    }
}

#[test]
fn the_table_is_read_as_far_as_it_is_there() {
    let whole = small_region(&small_header(), table(&[(1, 0, 1), (6, 1, 1)]), &[]);
    let region = load(whole.clone(), [0; 3], &Options::default());
    assert_eq!(
        region.entries.iter().map(|listed| (listed.slot, listed.entry)).collect::<Vec<_>>(),
        [(1, Entry::new(0, 1)), (6, Entry::new(1, 1)),]
    );
    assert_eq!((region.find(6).map(|l| l.entry), region.find(0), region.find(8)), (Some(Entry::new(1, 1)), None, None));
    assert_eq!((region.entry_span(0), region.entry_span(6)), (Span::new(20, 24), Span::new(44, 48)));
    assert_eq!(region.span(Entry::new(1, 2)), Span::new(SECTORS_AT + 64, SECTORS_AT + 192));
    let mut header = region.header;
    // Cut inside entry 6.
    let region = Region::load(whole[..47].to_vec(), header.clone(), 0, [0; 3], &Options::default()).unwrap();
    assert_eq!(region.entries.iter().map(|listed| listed.slot).collect::<Vec<_>>(), [1]);
    // A table that claims 255^3 entries costs nothing.
    header.format.region_size = [255; 3];
    header.table.end = 20 + 255 * 255 * 255 * 4;
    let region = Region::load(whole.clone(), header.clone(), 0, [0; 3], &Options::default()).unwrap();
    assert_eq!(region.entries.len(), 2);
    // More entries than the cap.
    let limits = Limits { entries: 1, ..Limits::DEFAULT };
    let region = Region::load(whole, header, 0, [0; 3], &Options::default().limits(limits)).unwrap();
    assert_eq!(region.entries.len(), 1);
    assert_eq!(region.damage.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::OverLimit]);
}

/// Reads the block of an entry in sector 0 of a region with these sectors.
fn stored(entry: Entry, sectors: &[u8], check: impl FnOnce(voxscope::save::View<'_>)) -> Vec<(Code, Span, Value)> {
    let region = load(
        small_region(&small_header(), table(&[(0, entry.first(), entry.count())]), sectors),
        [0; 3],
        &Options::default(),
    );
    let mut scratch = Scratch::default();
    check(region.view(entry, &mut scratch).unwrap());
    // The place in the file comes first; what that did to the block follows.
    assert!(scratch.damage.first().is_none_or(|d| d.space == Space::File));
    scratch.damage.iter().map(|d| (d.code, d.span, d.found)).collect()
}

#[test]
fn what_can_be_wrong_with_how_a_block_is_stored() {
    let one = small_sector(4, 9);
    let at = SECTORS_AT;
    let whole = |view: voxscope::save::View<'_>| {
        assert_eq!(view.stored.span, Span::sized(at, 4 + 28));
        assert_eq!(view.container.unwrap().mode, Some(Mode::Plain));
        assert_eq!(view.block.unwrap().voxel(0, [1; 3]), Some(9));
    };
    assert_eq!(stored(Entry::new(0, 1), &one, whole), []);
    // More sectors than it needs.
    let two = [&one[..], &[0; 64]].concat();
    let expected = [(Code::TableCount, Span::sized(at, 4), Value::Number(2))];
    assert_eq!(stored(Entry::new(0, 2), &two, whole), expected);
    // All zero.
    let found = stored(Entry::new(0, 2), &[0; 128], |view| {
        assert_eq!((view.stored.size, view.block.is_none()), (Some(0), true));
    });
    assert_eq!(found, [(Code::BlockZeroed, Span::sized(at, 128), Value::Words("all zero"))]);
    // A size that the entry has no room for, and that the file has not.
    let mut large = one.clone();
    large[0] = 200;
    let found = stored(Entry::new(0, 1), &large, |view| {
        assert_eq!((view.stored.size, view.stored.span), (Some(200), Span::sized(at, 64)));
        assert_eq!(view.block.unwrap().voxel(0, [1; 3]), Some(9), "what is there is read");
    });
    assert_eq!(found[0], (Code::BlockPrefix, Span::sized(at, 4), Value::Number(200)));
    // The entry has the room, the file ends before.
    let found = stored(Entry::new(0, 1), &one[..20], |view| assert_eq!(view.stored.span, Span::sized(at, 20)));
    assert_eq!(found[0], (Code::BlockPrefix, Span::sized(at, 4), Value::Number(28)));
    // Not even the size is there.
    for len in 0..4 {
        let found = stored(Entry::new(0, 1), &one[..len], |view| {
            assert_eq!((view.stored.size, view.container.is_none()), (None, true));
        });
        assert_eq!(found, [(Code::BlockPrefixCut, Span::sized(at, len as u64), Value::Bytes(len as u64))]);
    }
    // Beyond the end of the file.
    let found = stored(Entry::new(7, 1), &one, |view| assert!(view.block.is_none()));
    assert_eq!(found[0].0, Code::BlockPrefixCut);
}

#[test]
fn damage_inside_a_block_counts_bytes_of_the_block_and_of_a_container_those_of_the_file() {
    let mut wrong = small_sector(4, 9);
    wrong[4 + 28 - 1] = 0;
    let region = load(small_region(&small_header(), table(&[(0, 0, 1)]), &wrong), [0; 3], &Options::default());
    let mut scratch = Scratch::default();
    region.view(Entry::new(0, 1), &mut scratch).unwrap();
    assert_eq!(codes(&scratch.damage), [(Code::BlockEpilogue, Span::new(23, 27))]);
    assert_eq!(scratch.damage[0].space, Space::Block);
    wrong[4] = 77;
    let region = load(small_region(&small_header(), table(&[(0, 0, 1)]), &wrong), [0; 3], &Options::default());
    region.view(Entry::new(0, 1), &mut scratch).unwrap();
    assert_eq!(codes(&scratch.damage), [(Code::ContainerMode, Span::sized(SECTORS_AT + 4, 1))]);
    assert_eq!(scratch.damage[0].space, Space::File);
}

/// Which slot a block has and back: by both formulas, for every block of a region with a negative coordinate.
#[test]
fn blocks_are_found_by_their_positions_with_both_formulas() {
    let all: [(u32, u8); 8] = std::array::from_fn(|i| (i as u32, 1));
    let sectors: Vec<u8> = (0..8).flat_map(|i| small_sector(4, 100 + i)).collect();
    // The example of the format page with d = 2: by the old formula block -1 is in slot 0 and block -2 in slot 1.
    for (slots, x_of_slot) in [(SlotFormula::Legacy, [-1, -2]), (SlotFormula::Euclidean, [-2, -1])] {
        let options = Options::default().slots(slots);
        let mut region = load(small_region(&small_header(), all, &sectors), [-1, 0, 3], &options);
        let mut scratch = Scratch::default();
        assert_eq!(region.slots(&mut scratch).unwrap(), slots);
        let mut seen = Vec::new();
        for x in [-2, -1] {
            for y in [0, 1] {
                for z in [6, 7] {
                    let place = |n, size| slots::place(n, size, slots).unwrap();
                    let [(rx, px), (ry, py), (rz, pz)] = [place(x, 2), place(y, 2), place(z, 2)];
                    assert_eq!([rx, ry, rz], region.position);
                    let slot = slots::index([2; 3], [px, py, pz]).unwrap();
                    assert_eq!(region.block_position(slot, slots), Some([x, y, z]));
                    assert_eq!(x_of_slot[usize::from(px)], x);
                    // y + 2 * (x + 2 * z)
                    let px = x_of_slot.iter().position(|&n| n == x).unwrap();
                    let expected = y as u64 + 2 * (px as u64 + 2 * (z as u64 - 6));
                    let listed = region.find(slot).unwrap();
                    let view = region.view(listed.entry, &mut scratch).unwrap();
                    assert_eq!(view.block.unwrap().voxel(0, [0; 3]), Some(100 + expected));
                    seen.push(slot);
                }
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(region.block_position(8, slots), None);
    }
}

#[test]
fn the_formula_is_that_of_the_first_readable_block() {
    let damaged = [&[60, 0, 0, 0], &[9; 60][..]].concat();
    let entries = table(&[(0, 0, 1), (1, 1, 1)]);
    for (first, second, expected) in [
        (small_sector(2, 0), small_sector(4, 0), SlotFormula::Legacy),
        (small_sector(4, 0), small_sector(2, 0), SlotFormula::Euclidean),
        (small_sector(1, 0), small_sector(4, 0), SlotFormula::Legacy),
        (damaged.clone(), small_sector(3, 0), SlotFormula::Legacy),
        (damaged.clone(), small_sector(4, 0), SlotFormula::Euclidean),
        (damaged.clone(), damaged, SlotFormula::Euclidean),
    ] {
        let data = small_region(&small_header(), entries, &[first, second].concat());
        let mut scratch = Scratch::default();
        let mut region = load(data.clone(), [0, -1, 0], &Options::default());
        assert_eq!((region.is_negative(), region.known_slots()), (true, None));
        assert_eq!(region.slots(&mut scratch).unwrap(), expected);
        assert_eq!(region.known_slots(), Some(expected), "asked once");
        // Without a negative coordinate there is one formula.
        let mut region = load(data, [0; 3], &Options::default());
        assert_eq!(
            (region.known_slots(), region.slots(&mut scratch).unwrap()),
            (Some(SlotFormula::Euclidean), SlotFormula::Euclidean)
        );
    }
    // Files of versions 1 and 2 are from the time of the old one, whatever is in them.
    for version in [1, 2] {
        let data = small_region(&[b'V', b'X', b'R', b'_', version], entries, &[0; 128]);
        assert_eq!(load(data, [0, -1, 0], &Options::default()).known_slots(), Some(SlotFormula::Legacy));
    }
}
