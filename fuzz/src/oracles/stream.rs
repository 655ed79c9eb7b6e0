//! SQLite streams: pages, rows, sector map, blocks, instances, keys, settings and the checker. No SQLite is asked.

use voxscope::bytes::Span;
use voxscope::check;
use voxscope::damage::{Code, Level};
use voxscope::godot::stream::loc::{Format, Key};
use voxscope::save::{Beside, Options, Stream, StreamScratch};
use voxscope::sqlite::{journal, wal};

use super::{Reach, findings_inside, limits, worst_of};

/// Rows that are looked at in one file.
const ROWS: usize = 128;

/// The input is a whole database; it is its own journal and log too.
pub fn check(data: &[u8]) -> Reach {
    keys(data);
    let twice = Beside { journal: Some(data), wal: Some(data) };
    let loaded = Stream::load(data, twice, &limits(), &mut Vec::new());
    assert!(loaded.is_ok(), "memory does not fail");
    with(data)
}

/// A key that is a place is the key of that place, and a place has one key.
fn keys(data: &[u8]) {
    let number = data.first_chunk::<8>().map_or(0, |bytes| i64::from_be_bytes(*bytes));
    let blob = data.get(..10).unwrap_or(data);
    let text = data.get(..data.len().min(40)).unwrap_or_default();
    for key in [Key::Int(number), Key::Blob(blob), Key::Text(text), Key::Null, Key::Float(0.5)] {
        for format in Format::ALL {
            let close = format.decode_close(key);
            match format.decode(key) {
                Ok(place) => {
                    let again = format.encode(place);
                    assert_eq!(again.as_ref().map(|key| key.as_key()), Some(key), "{format:?} of {place:?}");
                    assert_eq!(close, Some(place));
                }
                Err(why) => assert!(!why.is_empty(), "no reason"),
            }
            if let Some(place) = close {
                let key = format.encode(place).expect("a place has a key");
                assert_eq!(format.decode(key.as_key()), Ok(place), "{format:?}");
            }
        }
    }
}

/// The input is a journal or a log. Its pages are in its file, whatever it says.
pub fn check_log(data: &[u8]) -> Reach {
    let mut reach = Reach::Refused;
    for found in [journal::read(data), wal::read(data)] {
        let Ok(found) = found else { unreachable!("memory does not fail") };
        match found {
            journal::Found::Pages(overlay, size) => {
                for (page, at) in overlay.at {
                    assert!(page > 0 && at + u64::from(size) <= data.len() as u64, "page {page} at {at}");
                    reach = Reach::Healthy;
                }
                reach = reach.max(Reach::Header);
            }
            journal::Found::Unusable(why) => assert!(!why.is_empty(), "no reason"),
            journal::Found::Nothing => {}
        }
    }
    reach
}

pub(super) fn with(data: &[u8]) -> Reach {
    let mut damage = Vec::new();
    let loaded = Stream::load(data, Beside::default(), &limits(), &mut damage);
    let Ok(loaded) = loaded else { unreachable!("memory does not fail") };
    let options = Options::default().limits(limits());
    let findings = check::stream_bytes(data, "s", &options);
    findings_inside(&findings, data.len(), limits().block_bytes);
    let Some(stream) = loaded else {
        let said = |code| damage.iter().any(|d| d.code == code);
        let codes = [Code::StreamEmpty, Code::StreamNotDatabase, Code::StreamHeader, Code::StreamCut];
        assert!(codes.into_iter().any(said), "nothing is read, and nobody says why: {damage:?}");
        return Reach::Refused;
    };
    assert!(damage.is_empty(), "damage of a stream that was loaded is its own: {damage:?}");
    let pages = stream.pages.count();
    assert_eq!(stream.owners.iter().count(), pages as usize, "a page without a use, or a use without a page");
    sectors(&stream);
    let places: Vec<_> = stream.rows.iter().map(|row| (row.place.is_none(), row.place)).collect();
    assert!(places.is_sorted(), "rows out of order");
    let mut scratch = StreamScratch::default();
    let mut read = 0;
    let file = Span::sized(0, data.len() as u64);
    for row in stream.rows.iter().take(ROWS) {
        let Ok(()) = stream.fetch(&row, &mut scratch) else { unreachable!("memory does not fail") };
        assert!(row.page > 0 && row.page <= pages);
        for part in scratch.parts() {
            assert!(file.contains(part), "a part {part} outside of the file");
        }
        let voxels = stream.voxel_bytes(&scratch).map_or(0, <[u8]>::len);
        assert!(voxels as u64 <= row.voxels.len().into(), "more bytes than the row says");
        if let Some(place) = row.place {
            let at = stream.find(place).and_then(|at| stream.rows.get(at));
            assert!(at.is_some_and(|at| at.place == Some(place)), "{place:?} is not found");
        }
        let mut faults = Vec::new();
        stream.faults(&row, &scratch, &mut faults);
        let mut all = faults;
        let view = stream.block(&mut scratch);
        read += usize::from(view.block.is_some());
        all.extend_from_slice(view.damage);
        all.extend_from_slice(stream.instances(&mut scratch).damage);
        // The checker reads no further along a chain than to a page that something else has: what stands there is not the
        // row's.
        let at = row.place.map(|place| (place.lod, place.position));
        let is_its = |f: &check::Finding| f.block.and_then(|b| Some((b.lod, b.position?))) == at;
        let chained = findings.iter().any(|f| f.code() == Code::StreamChain && is_its(f));
        let excused = super::has_cut(&findings) || chained;
        for d in all {
            assert!(findings.iter().any(|f| f.code() == d.code) || excused, "{d:?} is no finding");
        }
    }
    let passed = worst_of(&findings).is_none_or(|level| level == Level::Note);
    match (passed, read > 0, stream.rows.is_empty()) {
        (true, true, _) => Reach::Healthy,
        (_, true, _) => Reach::Content,
        _ => Reach::Header,
    }
}

fn sectors(stream: &Stream<&[u8]>) {
    let map = stream.sector_map();
    let mut at = 0;
    for run in &map.runs {
        assert!(run.count > 0 && run.first == at, "pages {at}..{} have no run", run.first);
        at = run.first + run.count;
    }
    assert_eq!(at, map.in_file, "pages without a run");
}
