use super::btree::{Kind, Page, local_len};
use super::header::{HEADER_BYTES, Header, MAGIC};
use super::journal::{self, Found};
use super::pages::Pages;
use super::payload::Payload;
use super::record::{self, Type, Value, varint};
use super::wal;
use super::walk::{self, Owners, Use};
use crate::bytes::Span;
use crate::damage::{Code, Damage};

#[test]
fn numbers_have_one_to_nine_bytes() {
    for (bytes, n) in [
        (&[0x00][..], 0),
        (&[0x7f], 127),
        (&[0x81, 0x00], 128),
        (&[0x82, 0x80, 0x01], 0x8001),
        (&[0xff; 9], -1),
        (&[0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], 1 << 57),
    ] {
        assert_eq!(varint(bytes), Some((n, bytes.len())), "{bytes:02x?}");
    }
    assert_eq!(varint(&[]), None);
    assert_eq!(varint(&[0x80; 8]), None);
}

#[test]
fn the_part_of_a_payload_in_its_page_is_that_of_the_description() {
    // U = 512: X = 477 in tables, 102 in indexes; M = 39.
    for (payload, table, index) in [(0, 0, 0), (102, 102, 102), (103, 103, 39), (300, 300, 39)] {
        assert_eq!(local_len(payload, 512, false), table, "{payload}");
        assert_eq!(local_len(payload, 512, true), index, "{payload}");
    }
    assert_eq!((local_len(477, 512, false), local_len(478, 512, false)), (477, 39));
    // K = 39 + (P - 39) % 508 is taken where it is not more than X.
    assert_eq!(local_len(39 + 508, 512, false), 39);
    assert_eq!(local_len(39 + 508 + 438, 512, false), 477);
    assert_eq!(local_len(39 + 508 + 439, 512, false), 39);
    assert_eq!(local_len(1000, 0, true), 0, "no page at all");
}

#[test]
fn a_record_has_a_type_for_each_column() {
    // Header of 7 bytes: NULL, 1, 0, i16 -2, text "ab", blob of 1 byte.
    let bytes = [7, 0, 9, 8, 2, 17, 14, 0xff, 0xfe, b'a', b'b', 0x55];
    let columns = record::columns(&bytes, 12).unwrap();
    let values: Vec<Value<'_>> = columns.iter().map(|column| column.value(&bytes)).collect();
    let expected =
        [Value::Null, Value::Int(1), Value::Int(0), Value::Int(-2), Value::Text(b"ab"), Value::Blob(&[0x55])];
    assert_eq!(values, expected);
    assert_eq!(columns[5].kind(), Type::Blob);
    assert_eq!(record::columns(&bytes, 11), None, "values beyond the payload");
    assert_eq!(record::columns(&bytes[..5], 12), None, "a header beyond its bytes");
    assert_eq!(record::columns(&[0], 12), None, "a header without its own length");
    // A record of 6 columns in which a 7th is looked for must end behind the 6th.
    let of_row =
        |payload: u64, wanted: usize| record::columns_of_row(&bytes, payload, wanted).map(|columns| columns.len());
    assert_eq!([of_row(12, 7), of_row(13, 7), of_row(13, 6), of_row(11, 6)], [Some(6), None, Some(6), None]);
    assert_eq!(record::columns_of_row(&[1], 1, 3), Some(Vec::new()), "no column at all");
    assert_eq!(record::columns_of_row(&[1, 0], 2, 3), None);
}

/// The header of a database of so many pages of 512 bytes.
fn header(pages: u32) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend([2, 0, 1, 1, 0, 64, 32, 32]);
    for n in [1, pages, 0, 0, 0, 4, 0, 0, 1, 0, 0, 0] {
        out.extend(n.to_be_bytes());
    }
    out.resize(92, 0);
    out.extend(1u32.to_be_bytes());
    out.resize(HEADER_BYTES, 0);
    out
}

/// Pages of 512 bytes: the first one with its header, and others as they are given.
fn database(pages: &[Vec<u8>]) -> Vec<u8> {
    let mut out = header(1 + u32::try_from(pages.len()).unwrap());
    out.resize(512, 0);
    for page in pages {
        out.extend(page);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out
}

/// A page of a table with cells at its end.
fn page(kind: u8, right: Option<u32>, cells: &[&[u8]]) -> Vec<u8> {
    let mut out = vec![0; 512];
    out[0] = kind;
    out[4] = u8::try_from(cells.len()).unwrap();
    let mut array = 8;
    if let Some(right) = right {
        out[8..12].copy_from_slice(&right.to_be_bytes());
        array = 12;
    }
    let mut end = 512;
    for cell in cells {
        end -= cell.len();
        out[end..end + cell.len()].copy_from_slice(cell);
        out[array..array + 2].copy_from_slice(&u16::try_from(end).unwrap().to_be_bytes());
        array += 2;
    }
    out
}

fn pages_of(data: &[u8]) -> Pages<&[u8]> {
    let header = Header::decode(data).report_to(&mut Vec::new()).unwrap();
    Pages { source: data, header, overlay: None }
}

#[test]
fn each_fault_of_the_header_has_its_code_and_place() {
    let good = header(3);
    assert!(
        Header::decode(&good)
            .report_to(&mut Vec::new())
            .is_some_and(|header| header.page_size == 512 && header.pages == 3)
    );
    for (at, bytes, code, span) in [
        (0, &b"X"[..], Code::StreamNotDatabase, (0, 16)),
        (16, &[3, 0], Code::StreamHeader, (16, 18)),
        (16, &[0, 0], Code::StreamHeader, (16, 18)),
        (18, &[9], Code::StreamHeader, (18, 19)),
        (20, &[33], Code::StreamHeader, (20, 21)),
        (21, &[63], Code::StreamHeader, (21, 24)),
        (56, &[0, 0, 0, 4], Code::StreamHeader, (56, 60)),
    ] {
        let mut data = good.clone();
        data[at..at + bytes.len()].copy_from_slice(bytes);
        let mut damage = Vec::new();
        let _ = Header::decode(&data).report_to(&mut damage);
        let [one] = damage[..] else { panic!("{at}: {damage:?}") };
        assert_eq!((one.code, one.span), (code, Span::new(span.0, span.1)), "{at}");
    }
    let mut large = good;
    large[16..18].copy_from_slice(&[0, 1]);
    assert_eq!(Header::decode(&large).report_to(&mut Vec::new()).map(|header| header.page_size), Some(65_536));
    // The number of pages holds only together with the change counter.
    large[95] = 7;
    assert_eq!(Header::decode(&large).report_to(&mut Vec::new()).map(|header| header.pages), Some(0));
}

/// Rows by their numbers, what is wrong, and whose the pages are.
fn walked(data: &[u8], root: u32) -> (Vec<i64>, Vec<Damage>, Vec<Use>) {
    let pages = pages_of(data);
    let (mut owners, mut damage, mut rows) = (Owners::new(&pages), Vec::new(), Vec::new());
    walk::tree(&pages, root, false, &mut owners, &mut damage, &mut |_, _, cell| rows.push(cell.rowid));
    (rows, damage, owners.iter().map(|(_, is)| is).collect())
}

#[test]
fn a_tree_is_walked_in_the_order_of_its_rows() {
    let leaf = |rows: &[u8]| {
        let cells: Vec<[u8; 4]> = rows.iter().map(|row| [2, *row, 2, 0]).collect();
        page(13, None, &cells.iter().map(|cell| &cell[..]).collect::<Vec<_>>())
    };
    let data = database(&[page(5, Some(4), &[&[0, 0, 0, 3, 2]]), leaf(&[1, 2]), leaf(&[3, 4])]);
    let (rows, damage, uses) = walked(&data, 2);
    assert_eq!((rows, damage), (vec![1, 2, 3, 4], vec![]));
    assert_eq!(uses, [Use::Nothing, Use::TableInterior, Use::TableLeaf, Use::TableLeaf]);
}

#[test]
fn a_tree_that_leads_in_a_circle_or_to_nowhere_ends() {
    for right in [2, 0, 9, u32::MAX] {
        let data = database(&[page(5, Some(right), &[&[0, 0, 0, 2, 2]])]);
        let (rows, damage, _) = walked(&data, 2);
        assert!(rows.is_empty() && damage.len() == 2, "{right}: {damage:?}");
        assert!(damage.iter().all(|d| d.code == Code::StreamPage && d.span == Span::sized(512, 512)));
    }
}

#[test]
fn cells_outside_of_their_page_are_left_out_and_said() {
    let mut leaf = page(13, None, &[&[2, 1, 2, 0], &[2, 2, 2, 0]]);
    leaf[10..12].copy_from_slice(&[0x02, 0x00]);
    let (rows, damage, _) = walked(&database(&[leaf]), 2);
    assert_eq!((rows, damage.len()), (vec![1], 1));
    assert!(Page::parse(2, &[13, 0, 0, 0xff, 0xff, 0, 0, 0]).is_err(), "more cells than fit");
    assert!(Page::parse(2, &[]).is_err());
    assert_eq!(Page::parse(2, &page(10, None, &[])).map(|page| page.kind), Ok(Kind::IndexLeaf));
}

#[test]
fn a_damaged_list_of_free_blocks_hides_no_row() {
    // The cells begin at 508 and 504; the list of free blocks, at 1, may lead to what is before them.
    let good = page(13, None, &[&[2, 1, 2, 0], &[2, 2, 2, 0]]);
    let of = |first: u16, block: &[u8; 4]| {
        let mut leaf = good.clone();
        put(&mut leaf, 1, first);
        if let Some(at) = leaf.get_mut(usize::from(first)..usize::from(first) + 4) {
            at.copy_from_slice(block);
        }
        walked(&database(&[leaf]), 2)
    };
    assert!(of(496, &[0, 0, 0, 8]).1.is_empty(), "a free block before the cells");
    // With the beginning of the cells' content: a block before it, none although there is room, and one that is too short.
    let with_content = |content: u16, first: u16, block: &[u8; 4]| {
        let mut leaf = good.clone();
        put(&mut leaf, 5, content);
        put(&mut leaf, 1, first);
        if first > 0 {
            leaf[usize::from(first)..usize::from(first) + 4].copy_from_slice(block);
        }
        walked(&database(&[leaf]), 2)
    };
    assert!(with_content(504, 0, &[0; 4]).1.is_empty());
    assert!(with_content(496, 496, &[0, 0, 0, 8]).1.is_empty());
    for (content, first, block) in [(504, 496, [0, 0, 0, 8]), (496, 0, [0; 4]), (496, 496, [0, 0, 0, 5])] {
        let (rows, damage, _) = with_content(content, first, &block);
        assert_eq!((rows, damage.len()), (vec![1, 2], 1), "{content} {first} {block:?}");
    }
    let wrong: [(u16, [u8; 4]); 5] = [
        (0x7fff, [0; 4]),
        (496, [0, 0, 0, 9]),
        (496, [0, 0, 0, 3]),
        (496, [0, 100, 0, 4]),
        (496, [0x01, 0xf4, 0, 200]),
    ];
    for (first, block) in wrong {
        let (rows, damage, _) = of(first, &block);
        assert_eq!((rows, damage.len()), (vec![1, 2], 1), "{first} {block:?}");
        assert!(damage[0].code == Code::StreamPage && !walk::hides_cells(&damage[0]), "{damage:?}");
    }
}

/// Changes two bytes of a page.
fn put(page: &mut [u8], at: usize, n: u16) {
    page[at..at + 2].copy_from_slice(&n.to_be_bytes());
}

#[test]
fn an_offset_is_read_without_the_bits_that_no_page_has() {
    // SQLite reads a cell at `offset & (page size - 1)`. The cells begin at 508 and 504.
    let good = page(13, None, &[&[2, 1, 2, 0], &[2, 2, 2, 0]]);
    let of = |offset: u16, change: &dyn Fn(&mut Vec<u8>)| {
        let mut leaf = good.clone();
        put(&mut leaf, 10, offset);
        change(&mut leaf);
        walked(&database(&[leaf]), 2)
    };
    for high in 1..128u16 {
        let (rows, damage, _) = of(high << 9 | 504, &|_| {});
        assert_eq!((rows, damage.len()), (vec![1, 2], 1), "{high}");
        assert!(damage[0].code == Code::StreamPage && !walk::hides_cells(&damage[0]), "{damage:?}");
    }
    // The offset of the other cell, the array of offsets, an offset before the content of cells, and a free block.
    let content = |leaf: &mut Vec<u8>| put(leaf, 5, 504);
    let free = |leaf: &mut Vec<u8>| {
        put(leaf, 1, 504);
        leaf[504..508].copy_from_slice(&[0, 0, 0, 4]);
    };
    for (offset, change) in [
        (0x8000 | 508, &content as &dyn Fn(&mut Vec<u8>)),
        (0x8000 | 509, &content),
        (0x8000 | 10, &content),
        (0x8000 | 400, &content),
        (0x8000 | 504, &free),
    ] {
        let (rows, damage, _) = of(offset, change);
        assert_eq!((rows, damage.len()), (vec![1], 1), "{offset:x}");
        assert!(walk::hides_cells(&damage[0]), "{damage:?}");
    }
    // Of two such offsets of one cell, one is believed.
    let twice = |leaf: &mut Vec<u8>| put(leaf, 8, 0x8000 | 504);
    assert_eq!(of(0x4000 | 504, &twice).0, [2]);
    // The mask is that of the whole page, also if bytes at its end are not used.
    let mut leaf = good;
    leaf.copy_within(496..512, 464);
    put(&mut leaf, 8, 0xfe00 | 476);
    put(&mut leaf, 10, 472);
    let mut data = database(&[leaf]);
    data[20] = 32;
    assert_eq!(walked(&data, 2).0, [1, 2]);
}

#[test]
fn a_cell_that_is_too_long_does_not_hide_the_next_one() {
    // Row 2 begins at 502, row 1 behind it at 507. Both are records of 3 bytes: header of 2 bytes, number of 1 byte.
    let good = page(13, None, &[&[3, 1, 2, 1, 7], &[3, 2, 2, 1, 7]]);
    for payload in 4..=8 {
        let mut leaf = good.clone();
        leaf[502] = payload;
        let (rows, damage, _) = walked(&database(&[leaf]), 2);
        assert_eq!((rows, damage.len()), (vec![1, 2], 1), "{payload}");
        assert!(!walk::hides_cells(&damage[0]));
    }
    // An offset into a cell that is exactly as long as its record leads nowhere.
    let mut leaf = good;
    put(&mut leaf, 8, 504);
    assert_eq!(walked(&database(&[leaf]), 2).0, [2]);
    // However many cells reach to the end of the page, few of them are given.
    let many: Vec<[u8; 5]> = (1..=60).map(|row| [3, row, 2, 1, 7]).collect();
    let mut leaf = page(13, None, &many.iter().map(|cell| &cell[..]).collect::<Vec<_>>());
    for cell in (0..60).step_by(2) {
        leaf[512 - 5 * (cell + 1)] = u8::try_from(5 * cell + 3).unwrap_or(127).min(127);
    }
    let bytes = pages_of(&database(&[leaf.clone()])).header.usable() as usize;
    let given: usize = Page::parse(2, &leaf).unwrap().all().flatten().map(|cell| cell.local.len()).sum();
    assert!(given < 3 * bytes, "{given}");
}

#[test]
fn a_number_of_cells_that_is_too_large_does_not_hide_cells() {
    // Cells from byte 30 on; the header says so.
    let mut leaf = page(13, None, &[&[2, 1, 2, 0], &[2, 2, 2, 0]]);
    leaf.copy_within(504..512, 30);
    leaf[504..512].fill(0);
    for (at, n) in [(5, 30), (8, 34), (10, 30)] {
        put(&mut leaf, at, n);
    }
    for cells in [2, 3, 11, 12, 40, 169] {
        put(&mut leaf, 3, cells);
        assert_eq!(walked(&database(&[leaf.clone()]), 2).0, [1, 2], "{cells}");
    }
}

#[test]
fn a_page_of_a_payload_stays_one_if_a_tree_leads_to_it() {
    let data = database(&[page(5, Some(4), &[&[0, 0, 0, 3, 2]]), vec![0], page(13, None, &[&[2, 3, 2, 0]])]);
    let pages = pages_of(&data);
    let (mut owners, mut damage) = (Owners::new(&pages), Vec::new());
    walk::tree(&pages, 2, false, &mut owners, &mut damage, &mut |_, _, _| {});
    assert_eq!((damage.len(), owners.page_use(3)), (1, Some(Use::Damaged)));
    assert!(owners.claim_payload(3, Use::Overflow(None)) && !owners.claim_payload(3, Use::Overflow(None)));
    assert!(!owners.claim_payload(4, Use::Overflow(None)));
}

#[test]
fn free_pages_are_listed_once() {
    let trunk = |next: u32, pages: &[u32]| {
        let mut out = next.to_be_bytes().to_vec();
        out.extend(u32::try_from(pages.len()).unwrap().to_be_bytes());
        pages.iter().for_each(|page| out.extend(page.to_be_bytes()));
        out
    };
    let with = |first: u32, count: u32, pages: &[Vec<u8>]| {
        let mut data = database(pages);
        data[32..36].copy_from_slice(&first.to_be_bytes());
        data[36..40].copy_from_slice(&count.to_be_bytes());
        let pages = pages_of(&data);
        let (mut owners, mut damage) = (Owners::new(&pages), Vec::new());
        walk::free_pages(&pages, &mut owners, &mut damage);
        (damage.len(), owners.page_use(3))
    };
    assert_eq!(with(2, 3, &[trunk(0, &[3, 4]), vec![0], vec![0]]), (0, Some(Use::Free)));
    assert_eq!(with(2, 2, &[trunk(3, &[]), trunk(0, &[])]), (0, Some(Use::FreeTrunk)));
    for (first, count, page) in
        [(9, 1, trunk(0, &[])), (2, 1, trunk(2, &[])), (2, 2, trunk(0, &[2])), (2, 7, trunk(0, &[]))]
    {
        assert!(with(first, count, &[page, vec![0]]).0 > 0, "{first} {count}");
    }
    assert_eq!(with(2, 1, &[vec![0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]]).0, 1, "more than fit");
}

#[test]
fn a_chain_in_a_circle_ends_and_is_said() {
    // A payload of 60,000 bytes, 39 + (60000 - 39) % 508 of them in the page, and the rest in page 3 again and again.
    let local = local_len(60_000, 512, false);
    let mut cell = vec![0x83, 0xd4, 0x60, 1];
    cell.extend(vec![7; local]);
    cell.extend(3u32.to_be_bytes());
    let data = database(&[page(13, None, &[&cell]), 3u32.to_be_bytes().to_vec()]);
    let pages = pages_of(&data);
    let leaf = &data[512..1024];
    let cell = Page::parse(2, leaf).unwrap().cell(0).unwrap();
    assert_eq!((cell.payload, cell.overflow), (60_000, Some(3)));
    let mut payload = Payload::default();
    payload.read(&pages, 2, &cell, 1 << 20).unwrap();
    assert_eq!(payload.broken.map(|(page, _)| page), Some(3));
    assert!(payload.bytes.len() < 2000);
    let parts = [local as u64, 508];
    assert_eq!(payload.parts.iter().take(2).map(Span::len).collect::<Vec<_>>(), parts);
    assert_eq!(payload.in_file(Span::sized(parts[0], 4)), Span::sized(1028, 4));
}

#[test]
fn a_journal_gives_the_pages_that_are_whole() {
    let (one, two) = ([1; 512], [2; 512]);
    let whole = journal::encode(&[(2, &one), (3, &two)], 5, 512);
    let pages = |bytes: &[u8]| match journal::read(bytes).unwrap() {
        Found::Pages(overlay, 512) => {
            assert_eq!(overlay.pages, 5);
            let mut numbers: Vec<u32> = overlay.at.keys().copied().collect();
            numbers.sort_unstable();
            numbers
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(pages(&whole), [2, 3]);
    assert_eq!(pages(&whole[..whole.len() - 1]), [2], "cut in the second");
    let mut wrong = whole.clone();
    wrong[512 + 4 + 112] ^= 1;
    assert_eq!(pages(&wrong), [0; 0], "a wrong sum ends it");
    assert!(matches!(journal::read(&[0u8; 600][..]).unwrap(), Found::Nothing));
    assert!(matches!(journal::read(&[][..]).unwrap(), Found::Nothing));
    assert!(matches!(journal::read(&[1u8; 600][..]).unwrap(), Found::Unusable(_)));
    // A super-journal is a file that SQLite would delete.
    assert!(matches!(journal::read(&[&whole[..], &journal::MAGIC].concat()[..]).unwrap(), Found::Unusable(_)));
}

#[test]
fn a_log_gives_the_pages_of_finished_saves() {
    let (one, two) = ([1; 512], [2; 512]);
    let whole = wal::encode(&[(2, &one), (3, &two)], 5, 512);
    assert!(
        matches!(wal::read(&whole[..]).unwrap(), Found::Pages(overlay, 512) if overlay.pages == 5 && overlay.at.len() == 2)
    );
    // Without its last page the save has no end.
    assert!(matches!(wal::read(&whole[..whole.len() - 1]).unwrap(), Found::Nothing));
    // A frame of another salt is of a log before this one.
    let mut older = whole.clone();
    older[32 + 8] ^= 1;
    assert!(matches!(wal::read(&older[..]).unwrap(), Found::Nothing));
    // The header, then contents of the only save.
    for at in [0, 8, 24, 32 + 24, whole.len() - 1] {
        let mut wrong = whole.clone();
        wrong[at] ^= 1;
        assert!(matches!(wal::read(&wrong[..]).unwrap(), Found::Unusable(_)), "{at}");
    }
}

/// What a log gives: of each page, its last finished content; and the pages of the database.
fn log(bytes: &[u8]) -> (Vec<(u32, u8)>, u32) {
    match wal::read(bytes).unwrap() {
        Found::Pages(overlay, 512) => {
            let mut all: Vec<(u32, u8)> =
                overlay.at.iter().map(|(page, at)| (*page, bytes[usize::try_from(*at).unwrap()])).collect();
            all.sort_unstable();
            (all, overlay.pages)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn frames_after_the_last_end_of_a_save_do_not_count() {
    let [one, two, three] = [[1; 512], [2; 512], [3; 512]];
    for big in [true, false] {
        // A save of pages 2 and 3, and the beginning of another one, all of it whole.
        let frames = [(2, 0, &one[..]), (3, 5, &two[..]), (2, 0, &three[..]), (4, 0, &three[..])];
        let whole = wal::encode_frames(&frames, 512, big);
        assert_eq!(log(&whole), (vec![(2, 1), (3, 2)], 5), "{big}");
        // Two saves: the second one counts where both have a page, and says how many there are.
        let frames = [(2, 0, &one[..]), (3, 5, &two[..]), (2, 6, &three[..])];
        let whole = wal::encode_frames(&frames, 512, big);
        assert_eq!(log(&whole), (vec![(2, 3), (3, 2)], 6), "{big}");
        let frame = 24 + 512;
        // The second save is damaged, or of an older log, which has another salt: the first one stays.
        for at in [32 + 2 * frame + 8, 32 + 2 * frame + 16, 32 + 2 * frame + 24, whole.len() - 1] {
            let mut wrong = whole.clone();
            wrong[at] ^= 1;
            assert_eq!(log(&wrong), (vec![(2, 1), (3, 2)], 5), "{big} {at}");
        }
        // A frame of page 0 is none, whatever its checksum.
        let frames = [(2, 5, &one[..]), (0, 6, &two[..]), (3, 7, &three[..])];
        assert_eq!(log(&wal::encode_frames(&frames, 512, big)), (vec![(2, 1)], 5), "{big}");
    }
}

#[test]
fn numbers_of_every_width_are_read() {
    // Serial types 1 to 6 are numbers of 1, 2, 3, 4, 6 and 8 bytes.
    for (serial, bytes) in (1..=6).zip([1u32, 2, 3, 4, 6, 8]) {
        let largest = i64::MAX >> (64 - 8 * bytes);
        for number in [0, 1, -1, largest, -largest - 1, largest / 3, -largest / 3] {
            let all = number.to_be_bytes();
            let stored = &all[8 - bytes as usize..];
            let payload = [&[2, serial][..], stored].concat();
            let columns = record::columns(&payload, payload.len() as u64).unwrap();
            assert_eq!((columns.len(), columns[0].len), (1, u64::from(bytes)));
            assert_eq!(columns[0].value(&payload), Value::Int(number), "{serial}");
        }
    }
}

#[test]
fn pointer_maps_come_at_regular_distances() {
    // A pointer map has five bytes for each page after it, up to the next one.
    for (page_size, reserved, each) in
        [(512, 0, 103), (1024, 0, 205), (4096, 0, 820), (512, 12, 101), (1 << 16, 0, 13_108)]
    {
        let header = Header { largest_root: 3, reserved, ..Header::of_page_size(page_size) };
        let maps: Vec<u32> = (1..=4 * each).filter(|page| header.is_pointer_map(*page)).collect();
        assert_eq!(maps, [2, 2 + each, 2 + 2 * each, 2 + 3 * each], "{page_size} {reserved}");
        let none = Header { largest_root: 0, ..header };
        assert!(!(1..=each + 2).any(|page| none.is_pointer_map(page)));
    }
}

/// What can be damaged in a frame of a log.
#[derive(Clone, Copy, Debug)]
enum FrameDamage {
    Page,
    Ends,
    Salt,
    Checksum,
    Content,
    Cut,
    Exchanged,
}

const FRAME_DAMAGE: [FrameDamage; 7] = [
    FrameDamage::Page,
    FrameDamage::Ends,
    FrameDamage::Salt,
    FrameDamage::Checksum,
    FrameDamage::Content,
    FrameDamage::Cut,
    FrameDamage::Exchanged,
];

proptest::proptest! {
    /// Whatever is damaged in whatever frame: the log gives the saves that ended before it, and nothing of what follows.
    #[test]
    fn a_damaged_log_gives_the_saves_that_ended_before_the_damage(
        frames in proptest::collection::vec((1u32..6, proptest::bool::ANY, 0u8..255), 1..9),
        kind in 0usize..7,
        nth in 0usize..8,
        bit in 0usize..8,
        place in 0usize..512,
        big in proptest::bool::ANY,
    ) {
        const FRAME: usize = 24 + 512;
        // No two frames are equal.
        let contents: Vec<[u8; 512]> = (0u8..).zip(&frames).map(|(n, frame)| {
            let mut page = [frame.2; 512];
            page[1] = n;
            page
        }).collect();
        let of = |n: usize| if frames[n].1 { n as u32 + 6 } else { 0 };
        let all: Vec<wal::Frame<'_>> = (0..frames.len()).map(|n| (frames[n].0, of(n), &contents[n][..])).collect();
        let mut bytes = wal::encode_frames(&all, 512, big);
        let mut hit = nth % frames.len();
        let at = |field: usize| 32 + hit * FRAME + field;
        match FRAME_DAMAGE[kind] {
            FrameDamage::Page => bytes[at(place % 4)] ^= 1 << bit,
            FrameDamage::Ends => bytes[at(4 + place % 4)] ^= 1 << bit,
            FrameDamage::Salt => bytes[at(8 + place % 8)] ^= 1 << bit,
            FrameDamage::Checksum => bytes[at(16 + place % 8)] ^= 1 << bit,
            FrameDamage::Content => bytes[at(24 + place)] ^= 1 << bit,
            FrameDamage::Cut => bytes.truncate(at(place)),
            FrameDamage::Exchanged if hit + 1 < frames.len() => {
                bytes[at(0)..at(2 * FRAME)].rotate_left(FRAME);
            }
            FrameDamage::Exchanged => hit = frames.len(),
        }
        let saved = frames[..hit].iter().rposition(|frame| frame.1).map_or(0, |last| last + 1);
        match wal::read(&bytes[..]).unwrap() {
            Found::Nothing => proptest::prop_assert_eq!(saved, 0),
            Found::Pages(overlay, _) => {
                proptest::prop_assert_eq!(overlay.pages, of(saved - 1));
                let expected: std::collections::HashMap<u32, u64> =
                    (0..saved).map(|n| (frames[n].0, (32 + n * FRAME + 24) as u64)).collect();
                proptest::prop_assert_eq!(overlay.at, expected);
            }
            // Its first save was finished, and is not whole.
            Found::Unusable(_) => proptest::prop_assert_eq!(saved, 0),
        }
    }

    /// The same of a journal: its records up to the first whose checksum does not match, or that is cut.
    #[test]
    fn a_damaged_journal_gives_the_pages_before_the_damage(
        pages in proptest::collection::vec(0u8..255, 1..9),
        cut in proptest::bool::ANY,
        nth in 0usize..8,
        place in 0usize..512,
    ) {
        let contents: Vec<[u8; 512]> = pages.iter().map(|fill| [*fill; 512]).collect();
        let all: Vec<(u32, &[u8])> = (2u32..).zip(&contents).map(|(number, page)| (number, &page[..])).collect();
        let mut bytes = journal::encode(&all, 20, 512);
        let hit = nth % pages.len();
        let record = 512 + hit * (4 + 512 + 4);
        match cut {
            true => bytes.truncate(record + place),
            false => bytes[record + 4 + 512 + place % 4] ^= 1,
        }
        let mut numbers: Vec<u32> = match journal::read(&bytes[..]).unwrap() {
            Found::Pages(overlay, _) => overlay.at.keys().copied().collect(),
            Found::Nothing => Vec::new(),
            Found::Unusable(why) => panic!("{why}"),
        };
        numbers.sort_unstable();
        let expected: Vec<u32> = (2u32..).take(hit).collect();
        proptest::prop_assert_eq!(numbers, expected);
    }
}
