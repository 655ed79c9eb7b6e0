//! Streams: what is read of them, whatever is wrong with their pages, and that nothing is ever written.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::common;
use voxscope::check;
use voxscope::damage::{Code, Level};
use voxscope::godot::stream::loc::Place;
use voxscope::limits::Limits;
use voxscope::save::{Beside, Options, Stream, StreamScratch};

/// The golden streams.
fn golden_streams() -> Vec<PathBuf> {
    let dirs = [common::golden("godot_voxel_sqlite"), common::golden("instances")];
    let files = dirs.iter().flat_map(|dir| common::files_below(dir));
    files.filter(|path| path.extension().is_some_and(|e| e == "sqlite")).collect()
}

/// What is kept of a row.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    place: Option<Place>,
    voxels: Option<Vec<u8>>,
    instances: Option<Vec<u8>>,
    /// All pages that it is on.
    pages: Vec<u32>,
}

fn load(data: &[u8]) -> Option<Stream<&[u8]>> {
    Stream::load(data, Beside::default(), &Limits::DEFAULT, &mut Vec::new()).unwrap()
}

fn rows(data: &[u8]) -> BTreeMap<i64, Row> {
    let Some(stream) = load(data) else { return BTreeMap::new() };
    let mut scratch = StreamScratch::default();
    let row = |row: &voxscope::save::StreamRow, scratch: &mut StreamScratch| {
        stream.fetch(row, scratch).unwrap();
        let own = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
        Row {
            place: row.place,
            voxels: own(stream.voxel_bytes(scratch)),
            instances: own(stream.instance_bytes(scratch)),
            pages: [&[row.page], scratch.pages()].concat(),
        }
    };
    stream.rows.iter().map(|r| (r.rowid, row(&r, &mut scratch))).collect()
}

type Spoil = fn(&mut [u8]);

/// Damages each page in each of several ways, and looks at what is left.
#[test]
fn one_damaged_page_costs_the_rows_on_it_and_no_other() {
    for path in golden_streams() {
        let whole = std::fs::read(&path).unwrap();
        let before = rows(&whole);
        let size = load(&whole).unwrap().pages.header.page_size as usize;
        let meta = load(&whole).unwrap().tables.iter().find(|t| t.is("meta")).unwrap().root;
        let spoil: [(&str, Spoil); 4] = [
            ("flipped", |page| page.iter_mut().for_each(|b| *b = !*b)),
            ("zeroed", |page| page.fill(0)),
            ("header flipped", |page| page[..12].iter_mut().for_each(|b| *b = !*b)),
            ("noise", |page| {
                let mut n = 12345u32;
                page.iter_mut().for_each(|b| {
                    n = n.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    *b = n.to_be_bytes()[0];
                });
            }),
        ];
        for page in 1..=u32::try_from(whole.len() / size).unwrap() {
            for (how, spoil) in spoil {
                let mut data = whole.clone();
                let at = (page as usize - 1) * size;
                spoil(&mut data[at..at + size]);
                let what = format!("{} page {page} {how}", path.display());
                let after = rows(&data);
                for (rowid, row) in before.iter().filter(|(_, row)| !row.pages.contains(&page)) {
                    let found = after.get(rowid).unwrap_or_else(|| panic!("{what}: row {rowid} is gone"));
                    assert!(found.voxels == row.voxels && found.instances == row.instances, "{what}: row {rowid}");
                    // Without settings the format of keys is inferred.
                    if page != meta || !path.ends_with("stream_coord1.sqlite") {
                        assert_eq!(found.place, row.place, "{what}: row {rowid}");
                    }
                }
                let extra: Vec<_> = after.keys().filter(|rowid| !before.contains_key(rowid)).collect();
                assert!(extra.is_empty(), "{what}: rows from nowhere: {extra:?}");
                let findings = check::stream_bytes(&data, "a", &Options::default());
                let worst = findings.iter().map(|finding| finding.level()).max();
                assert!(worst >= Some(Level::Error), "{what}: {findings:?}");
            }
        }
    }
}

/// Every byte of the pages of trees flipped in one bit: nothing panics, and what is not on the page comes back.
#[test]
fn one_flipped_bit_costs_the_rows_on_its_page_and_no_other() {
    for path in golden_streams().into_iter().take(3) {
        let whole = std::fs::read(&path).unwrap();
        let before = rows(&whole);
        for at in (0..whole.len()).filter(|at| at % 4096 < 120 || at % 61 == 0) {
            let mut data = whole.clone();
            data[at] ^= 1 << (at % 8);
            let page = u32::try_from(at / 4096).unwrap() + 1;
            let after = rows(&data);
            for (rowid, row) in before.iter().filter(|(_, row)| !row.pages.contains(&page)) {
                let found = after.get(rowid).unwrap_or_else(|| panic!("byte {at}: row {rowid} is gone"));
                assert!(found.voxels == row.voxels, "byte {at}: row {rowid}");
            }
        }
    }
}

#[test]
fn a_file_cut_anywhere_is_read_as_far_as_it_goes() {
    for path in golden_streams().into_iter().take(3) {
        let whole = std::fs::read(&path).unwrap();
        let before = rows(&whole);
        for len in (0..whole.len()).step_by(997) {
            let data = &whole[..len];
            let after = rows(data);
            let last = u32::try_from(len / 4096).unwrap();
            for (rowid, row) in before.iter().filter(|(_, row)| row.pages.iter().all(|page| *page <= last)) {
                assert!(after.get(rowid).is_some_and(|found| found.voxels == row.voxels), "{len} bytes: row {rowid}");
            }
            let findings = check::stream_bytes(data, "a", &Options::default());
            assert!(findings.iter().any(|finding| finding.level() == Level::Error), "{len} bytes: {findings:?}");
        }
        let empty = check::stream_bytes(&[], "a", &Options::default());
        assert_eq!(empty.iter().map(|f| f.code()).collect::<Vec<_>>(), [Code::StreamEmpty]);
    }
}
