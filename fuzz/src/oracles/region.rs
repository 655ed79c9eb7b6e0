//! Region files: header, table, sector map and every block. Most inputs have version 3. Files that do not give their own
//! layout (versions 1 and 2, and headers with impossible fields) are read a second time with a layout from outside.

use voxscope::bytes::{Span, len64};
use voxscope::check;
use voxscope::damage::{Code, Damage, Level, Space};
use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::region::{Builder, Entry, Format, Header, MAX_HEADER_BYTES};
use voxscope::godot::slots::{self, SlotFormula};
use voxscope::save::{Listed, Options, Owner, Region, Scratch, View};

use super::{Reach, bytes, damage_inside, findings_inside, has, has_cut, limits, worse_than_note, worst_of};

/// The most blocks that are read of one file.
const BLOCKS: usize = 256;

/// Blocks that are read again, with new buffers and from memory.
const BLOCKS_AGAIN: usize = 16;

/// The layout from outside, small enough for a file of a few hundred bytes.
pub const OUTSIDE: Format =
    Format { block_size_po2: 1, region_size: [2; 3], depths: [Depth::Bits8; CHANNELS], sector_size: 64 };

/// Region positions for which block positions are computed: around zero and at both ends of 32 bits.
const POSITIONS: [[i32; 3]; 4] =
    [[0, 0, 0], [-1, 0, 2], [i32::MIN / 2, -3, i32::MAX / 2], [i32::MIN, i32::MAX, i32::MIN / 255]];

/// Whether the header says version 1 or 2.
fn is_old(data: &[u8]) -> bool {
    matches!(data.get(4), Some(1 | 2))
}

/// The input is a whole region file of version 1 or 2.
pub fn check_v2(data: &[u8]) -> Reach {
    if !is_old(data) {
        return Reach::Foreign;
    }
    assert_eq!(with_layout(data, None), Reach::Refused, "located without a layout");
    with_layout(data, Some(&OUTSIDE))
}

/// The input is a whole region file of version 3, or without a valid version.
pub fn check_v3(data: &[u8]) -> Reach {
    if is_old(data) {
        return Reach::Foreign;
    }
    let alone = with_layout(data, None);
    if alone == Reach::Refused { with_layout(data, Some(&OUTSIDE)) } else { alone }
}

pub(super) fn with_layout(data: &[u8], outside: Option<&Format>) -> Reach {
    let mut damage = Vec::new();
    let prefix = &data[..data.len().min(MAX_HEADER_BYTES)];
    let header = Header::decode(prefix, len64(data), outside).report_to(&mut damage);
    damage_inside(&damage, Space::File, data.len());
    rig_of_voxedit(data, outside, &damage);
    let Some(header) = header else {
        assert!(!damage.is_empty(), "no header, and nobody says why");
        return Reach::Refused;
    };
    let clean = damage.is_empty();
    if clean {
        let mut again = Vec::new();
        header.encode(&mut again).unwrap();
        let stored = bytes(data, Span::new(0, header.table.start));
        assert_eq!(again, stored, "the header is not written as it was read");
        assert!(header.sectors_at() <= len64(data), "a healthy table beyond the end");
    }

    let options = Options::default().limits(limits());
    let mut region = load(data.to_vec(), &header, POSITIONS[0], &options);
    damage_inside(&region.damage, Space::File, data.len());
    table(data, &region);
    sector_map(&region);
    for position in POSITIONS {
        region.position = position;
        positions(&region);
    }
    region.position = POSITIONS[0];
    let (views, clean_views) = blocks(data, &region);
    formula(data, &header, &options);

    checker(data, &region, outside, clean && clean_views);

    let clean = clean && region.damage.is_empty() && clean_views;
    if clean && region.entries.len() <= BLOCKS {
        rebuild(data, &region, &options);
    }
    match region.entries.as_slice() {
        _ if clean => Reach::Healthy,
        [] => Reach::Header,
        _ if views == 0 => Reach::Header,
        _ => Reach::Content,
    }
}

/// A file that begins with `VXR` and a digit is a rig of VoxEdit, unless only its fourth byte differs from a healthy header.
fn rig_of_voxedit(data: &[u8], outside: Option<&Format>, damage: &[Damage]) {
    let prefix = &data[..data.len().min(MAX_HEADER_BYTES)];
    let is_rig = match prefix {
        [b'V', b'X', b'R', b'0'..=b'9', rest @ ..] => {
            let mut other = Vec::new();
            let region = [b"VXR_", rest].concat();
            let header = Header::decode(&region, len64(data), outside).report_to(&mut other);
            header.is_none() || !other.is_empty()
        }
        _ => false,
    };
    assert_eq!(has(damage, Code::RegionVoxedit), is_rig, "a rig of VoxEdit: {damage:?}");
}

fn load(data: Vec<u8>, header: &Header, position: [i32; 3], options: &Options) -> Region<Vec<u8>> {
    let region = Region::load(data, header.clone(), 0, position, options);
    assert!(region.is_ok(), "memory does not fail: {:?}", region.as_ref().err());
    #[allow(clippy::unwrap_used)]
    region.unwrap()
}

/// The entries are those of the file, in order, each once.
fn table(data: &[u8], region: &Region<Vec<u8>>) {
    let span = Span::new(region.header.table.start, region.header.table.end.min(len64(data)));
    let words = if span.start <= len64(data) { bytes(data, span).as_chunks::<4>().0 } else { &[] };
    let entries = words.iter().map(|word| Entry(u32::from_le_bytes(*word)));
    let used = (0..).zip(entries).filter(|(_, entry)| entry.is_used()).map(|(slot, entry)| Listed { slot, entry });
    let expected: Vec<Listed> = used.take(limits().entries).collect();
    assert_eq!(region.entries, expected, "other entries than those of the file");
    for listed in &region.entries {
        assert!(listed.slot < region.header.format.table_len(), "slot {} is outside the region", listed.slot);
        assert_eq!(region.find(listed.slot), Some(*listed), "slot {} is not found", listed.slot);
        let start =
            region.header.table.end + u64::from(listed.entry.first()) * u64::from(region.header.format.sector_size);
        assert_eq!(region.span(listed.entry).start, start, "sectors begin behind the table");
        let stored = bytes(data, region.entry_span(listed.slot));
        assert_eq!(stored, listed.entry.0.to_le_bytes(), "slot {} is elsewhere", listed.slot);
        assert_eq!(
            Entry::new(listed.entry.first(), listed.entry.count()),
            listed.entry,
            "an entry is not what it says"
        );
    }
    let sorted = region.by_sector();
    assert_eq!(sorted.len(), region.entries.len(), "entries are lost when sorted");
    assert!(sorted.is_sorted_by_key(|listed| listed.entry.first()), "not in the order of sectors");
}

/// The map has every sector of the file once, and each run is owned by just those entries that claim it.
fn sector_map(region: &Region<Vec<u8>>) {
    let map = region.sector_map();
    let data = region.source.as_slice();
    let size = u64::from(map.sector_size);
    assert_eq!(map.in_file, region.sectors_in_file());
    let room = len64(data).saturating_sub(map.header_bytes);
    assert!(map.in_file * size >= room && map.in_file.saturating_sub(1) * size <= room, "{} sectors", map.in_file);
    let mut at = 0;
    for run in &map.runs {
        assert!(run.count > 0, "an empty run");
        // Beyond the end of the file, the map has claimed sectors only.
        assert!(run.first == at || run.first > at && at >= map.in_file, "sectors {at}..{} have no run", run.first);
        at = run.first + run.count;
        for sector in [run.first, at - 1] {
            let claims = |listed: &&Listed| {
                let first = u64::from(listed.entry.first());
                (first..first + u64::from(listed.entry.count())).contains(&sector)
            };
            let owners: Vec<u32> = region.entries.iter().filter(claims).map(|listed| listed.slot).take(2).collect();
            let last = region.entries.iter().filter(|l| l.entry.count() > 0).map(|l| u64::from(l.entry.end())).max();
            let before_last = sector < last.unwrap_or(0);
            let inside = sector < map.in_file;
            let expected = match *owners.as_slice() {
                [] if before_last => Owner::Free,
                [] => Owner::Stale,
                [one] if inside => Owner::Block(one),
                [one] => Owner::BeyondEnd(one),
                _ => Owner::Shared,
            };
            assert_eq!(run.owner, expected, "sector {sector}");
            assert!(inside || !owners.is_empty(), "sector {sector} is nobody's and not in the file");
        }
    }
    assert!(at >= map.in_file, "the last {} sectors have no run", map.in_file - at);
    let sum: u64 = map.runs.iter().map(|run| run.count).sum();
    assert_eq!(map.count(|_| true), sum, "runs do not add up");
}

/// A position in the world leads back to its slot, by either formula.
fn positions(region: &Region<Vec<u8>>) {
    let size = region.header.format.region_size;
    for listed in region.entries.iter().take(BLOCKS) {
        let inside = slots::position(size, listed.slot);
        assert_eq!(inside.and_then(|p| slots::index(size, p)), Some(listed.slot), "a slot is not its own");
        for formula in [SlotFormula::Legacy, SlotFormula::Euclidean] {
            let Some(block) = region.block_position(listed.slot, formula) else { continue };
            for axis in 0..3 {
                let expected = inside.map(|p| (region.position[axis], p[axis]));
                let found = slots::place(block[axis], size[axis], formula);
                assert_eq!(found, expected, "block {block:?} by the formula {formula:?}, axis {axis}");
            }
        }
    }
}

/// The slot formula inferred for a negative region is a possible one, and inferring it again gives the same.
fn formula(data: &[u8], header: &Header, options: &Options) {
    let mut region = load(data.to_vec(), header, POSITIONS[1], options);
    let mut scratch = Scratch::default();
    let first = region.slots(&mut scratch);
    assert!(first.is_ok() && first.ok() == region.known_slots(), "the formula of slots is not remembered");
}

/// Reads every block; its damage must lie inside it. Returns how many blocks decompressed, and whether all were healthy.
fn blocks(data: &[u8], region: &Region<Vec<u8>>) -> (usize, bool) {
    let mut scratch = Scratch::default();
    let (mut read, mut clean) = (0, true);
    for (i, listed) in region.by_sector().into_iter().take(BLOCKS).enumerate() {
        let Ok(view) = region.view(listed.entry, &mut scratch) else { unreachable!("memory does not fail") };
        read += usize::from(view.block.is_some());
        let snapshot = Seen::of(&view);
        let plain = view.container.map_or(0, |container| container.plain.len());
        let start = region.span(listed.entry).start;
        view_inside(data, start, plain, &snapshot, &scratch.damage);
        let fits = !has(&scratch.damage, Code::TableCount) && !has(&scratch.damage, Code::BlockPrefix);
        if let (true, true, Some(size)) = (fits, snapshot.block.is_some(), snapshot.stored.size) {
            let sectors = (u64::from(size) + 4).div_ceil(u64::from(region.header.format.sector_size));
            assert_eq!(u64::from(listed.entry.count()), sectors, "the count of slot {}, unnoticed", listed.slot);
        }
        clean &= scratch.damage.is_empty();
        if i < BLOCKS_AGAIN {
            again(data, region, listed.entry, &snapshot, &scratch.damage);
        }
    }
    (read, clean)
}

/// The checker reports the same damage as the views, inside the file, and a file without findings has none.
fn checker(data: &[u8], region: &Region<Vec<u8>>, outside: Option<&Format>, clean: bool) {
    let options = Options::default().limits(limits()).format(outside.copied());
    let findings = check::region_bytes(data, "r", 0, region.position, &options);
    findings_inside(&findings, data.len(), limits().block_bytes);
    let passed = worst_of(&findings).is_none_or(|level| level == Level::Note);
    assert!(!passed || !worse_than_note(&region.damage), "passed: {:?}", region.damage);
    assert!(clean || !findings.is_empty(), "damage was seen, and the checker says nothing");
    let mut scratch = Scratch::default();
    for listed in region.by_sector().into_iter().take(BLOCKS) {
        let Ok(_) = region.view(listed.entry, &mut scratch) else { unreachable!("memory does not fail") };
        assert!(!passed || !worse_than_note(&scratch.damage), "passed: {:?}", scratch.damage);
        let at = region.block_position(listed.slot, SlotFormula::Euclidean);
        for d in &scratch.damage {
            // A block without sectors in the file is not read: the checker reports that instead.
            let instead = |f: &check::Finding| {
                f.block.is_some_and(|block| block.position == at)
                    && matches!(f.code(), Code::TableCountZero | Code::TableBeyondEnd)
            };
            // A run of blocks of zeros is one finding.
            let within = |f: &check::Finding| {
                let covers = |span: Span| span.start <= d.span.start && d.span.end <= span.end;
                d.code == Code::BlockZeroed && f.code() == d.code && f.span.is_some_and(covers)
            };
            let found = findings.iter().any(|finding| finding.damage == *d || instead(finding) || within(finding));
            assert!(found || has_cut(&findings), "{d:?} of slot {} is not among the findings", listed.slot);
        }
    }
}

/// The part of a view that is compared; it outlives the buffers.
#[derive(PartialEq, Debug)]
struct Seen {
    stored: voxscope::save::Stored,
    whole: bool,
    plain: Vec<u8>,
    block: Option<String>,
}

impl Seen {
    fn of(view: &View<'_>) -> Self {
        let plain = view.container.map_or(&[][..], |container| container.plain);
        let block = view.block.as_ref().map(|b| format!("{} {:?} {:?}", b.version, b.size, b.epilogue));
        Self { stored: view.stored, whole: view.container.is_some_and(|c| c.whole), plain: plain.to_vec(), block }
    }
}

fn view_inside(data: &[u8], start: u64, plain: usize, seen: &Seen, damage: &[Damage]) {
    let beyond = |span: Span| span == Span::new(start, start) && start > len64(data);
    // A block beyond the end of the file is at its place, with no bytes.
    if beyond(seen.stored.span) {
        assert!(damage.iter().all(|d| beyond(d.span)) && !damage.is_empty(), "beyond the end: {damage:?}");
        return;
    }
    assert_eq!(seen.stored.span.start, start, "not stored where the table says");
    let _ = bytes(data, seen.stored.span);
    for d in damage {
        let len = if d.space == Space::Block { plain } else { data.len() };
        damage_inside(std::slice::from_ref(d), d.space, len);
    }
    if seen.block.is_none() {
        assert!(!damage.is_empty(), "no block, and nobody says why");
    }
}

/// New buffers, and bytes from memory instead of from the file, give the same view.
fn again(data: &[u8], region: &Region<Vec<u8>>, entry: Entry, seen: &Seen, damage: &[Damage]) {
    let mut scratch = Scratch::default();
    let Ok(view) = region.view(entry, &mut scratch) else { unreachable!("memory does not fail") };
    assert_eq!(&Seen::of(&view), seen, "new buffers give something else");
    assert_eq!(scratch.damage, damage, "new buffers give other damage");
    // Without a size prefix, the number of zeros behind the span decides.
    if seen.stored.size.is_some_and(|size| size > 0) {
        let stored = bytes(data, seen.stored.span);
        let at = seen.stored.span.start;
        let view = scratch.interpret_bytes(stored, at, &region.header, Some(entry), &region.limits);
        assert_eq!(&Seen::of(&view), seen, "the same bytes from memory give something else");
        assert_eq!(scratch.damage, damage, "the same bytes from memory give other damage");
    }
}

/// A region without damage, built anew from its containers, holds the same; where its sectors are packed, as the engine
/// leaves them, it is the same table as well.
fn rebuild(data: &[u8], region: &Region<Vec<u8>>, options: &Options) {
    let sector = region.header.format.sector_size;
    let mut builder = Builder::new(region.header.clone());
    let mut scratch = Scratch::default();
    let (mut next, mut packed) = (0, true);
    let mut containers = Vec::new();
    for listed in region.by_sector() {
        let Ok(view) = region.view(listed.entry, &mut scratch) else { unreachable!("memory does not fail") };
        let stored = bytes(data, view.stored.span);
        let entry = builder.push(listed.slot, &stored[4..]);
        assert!(entry.is_some(), "slot {} cannot be written again", listed.slot);
        let count = entry.map_or(0, Entry::count);
        assert_eq!(u64::from(count), len64(stored).div_ceil(u64::from(sector)), "sectors of slot {}", listed.slot);
        packed &= listed.entry.first() == next && listed.entry.count() == count;
        next = listed.entry.end();
        containers.push((listed.slot, stored.to_vec()));
    }
    let built = builder.finish().unwrap();
    let same = |end| bytes(data, Span::new(0, end)) == bytes(&built, Span::new(0, end));
    assert!(same(region.header.table.start), "another header");
    assert!(!packed || same(region.header.table.end), "packed sectors, and yet another table");
    let mut damage = Vec::new();
    let prefix = &built[..built.len().min(MAX_HEADER_BYTES)];
    let header = Header::decode(prefix, len64(&built), Some(&region.header.format)).report_to(&mut damage);
    assert!(damage.is_empty() && header.as_ref() == Some(&region.header), "the new header is damaged: {damage:?}");
    let again = load(built, &region.header, region.position, options);
    let (mut scratch, mut found) = (Scratch::default(), Vec::new());
    for listed in again.by_sector() {
        let Ok(view) = again.view(listed.entry, &mut scratch) else { unreachable!("memory does not fail") };
        found.push((listed.slot, bytes(&again.source, view.stored.span).to_vec()));
        assert_eq!(scratch.damage, [], "slot {} is damaged in the new file", listed.slot);
    }
    assert!(found == containers, "other blocks in the new file");
    let holes = again.sector_map().count(|owner| !matches!(owner, Owner::Block(_)));
    assert_eq!(holes, 0, "the new file is not packed");
}
