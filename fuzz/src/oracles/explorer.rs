//! The explorer: any save, any keys, clicks and sizes.
//!
//! ```text
//! kind u8 (from 128 on, the file is compared with itself, one byte of it turned) · number of events u8 · events u8[3][number] · the file
//! event: below 200 the index of a bound key; above that the mouse, a size, or a typed line
//! ```

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use voxscope::printable::is_plain;
use voxscope::save::Options;
use voxscope::tui::action::ACTIONS;
use voxscope::tui::keys::Key;
use voxscope::tui::prompt::Purpose;
use voxscope::tui::update::{Event, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use voxscope::tui::{CompareWith, Driver, Settings};

use super::disk::{clean, directory};
use super::{Reach, limits};

/// The most events of one input: the target limits the cost of an event, not of many.
const MOST: usize = 64;

/// From this kind on, the input stands for two files.
const TWO: u8 = 128;

/// Lines to type.
const LINES: [&str; 12] = [
    "0x40",
    "s3",
    "b1",
    "0,0,0",
    "-1,0,7",
    "end-16",
    "lod=0",
    "bytes>1 state!=ok",
    "error",
    "水",
    "99999999999999999999",
    "",
];

/// A description of a layer whose arrays are the input.
const MAP: &str = r#"{"mapID":1,"timestamp":"t","global":{"name":"L","type":"Global","format":"FORMAT","blockSize":BLOCK,
"dataFile":"voxels.npy","depthFile":"depth.npy","indexFile":"index.npy","blockCount":BLOCKS,"origin":[0,0,0],
"step":[0.5,0.5,0.5],"dim":[16,10,16]},"locals":[]}"#;

/// The input is a file and the events while the explorer shows it.
pub fn check(data: &[u8]) -> Reach {
    let Some((events, file, kind)) = parts(data) else { return Reach::Refused };
    let mut driver = start(kind, file);
    is_clean(&driver);
    if driver.app.index.is_none() {
        clean();
        return Reach::Refused;
    }
    for event in events {
        happen(&mut driver, *event);
        // The input must not choose where a file is written.
        if driver.app.prompt.as_ref().is_some_and(|prompt| prompt.purpose == Purpose::Export) {
            driver.app.prompt = None;
        }
        is_clean(&driver);
    }
    clean();
    match driver.app.opened_item() {
        None => Reach::Header,
        Some(opened) if opened.slots.is_empty() => Reach::Content,
        Some(_) => Reach::Healthy,
    }
}

/// The events of an input in words, and the last screen.
pub fn describe(data: &[u8]) -> String {
    let Some((events, file, kind)) = parts(data) else { return "no file".into() };
    let mut driver = start(kind, file);
    let mut out = format!("kind {kind}, {} bytes, events:\n", file.len());
    for event in events {
        let [key, a, b] = *event;
        let keys = keys();
        let named = keys.get(usize::from(key) % keys.len().max(1)).filter(|_| key < 200);
        out.push_str(&named.map_or_else(|| format!("  {key} {a} {b}\n"), |key| format!("  {key}\n")));
        happen(&mut driver, *event);
    }
    clean();
    out + &driver.text_screen()
}

/// Opens a file in the explorer, compared with a second one if the kind asks for it.
fn start(kind: u8, file: &[u8]) -> Driver {
    let path = write("a", kind % TWO, file);
    let options = Options::default().limits(limits());
    let against = (kind >= TWO).then(|| {
        let mut other = file.to_vec();
        let middle = other.len() / 2;
        if let Some(byte) = other.get_mut(middle) {
            *byte = !*byte;
        }
        CompareWith { path: write("b", kind % TWO, &other), options: options.clone(), ..CompareWith::default() }
    });
    Driver::new(Settings { path, options, against, ..Settings::default() }, 80, 24)
}

/// Events, the file, its kind.
type Parts<'a> = (&'a [[u8; 3]], &'a [u8], u8);

/// The events, the file, and what kind of file it is.
fn parts(data: &[u8]) -> Option<Parts<'_>> {
    let (&[kind, number], rest) = data.split_first_chunk::<2>()?;
    let (events, file) = rest.split_at_checked(usize::from(number).min(MOST) * 3)?;
    Some((events.as_chunks().0, file, kind % TWO % 5 + kind / TWO * TWO))
}

/// Writes the files of an input and returns the path to open.
fn write(name: &str, kind: u8, file: &[u8]) -> PathBuf {
    let dir = directory(&format!("{name}{kind}"));
    let put = |path: &Path, bytes: &[u8]| std::fs::write(path, bytes).expect("a temporary file can be written");
    let map = |format: &str, block: &str, blocks: &str| {
        MAP.replace("FORMAT", format).replace("BLOCKS", blocks).replace("BLOCK", block)
    };
    match kind {
        0 => put(&dir.join("r.-1.0.0.vxr"), file),
        1 => put(&dir.join("x-1_y0_z0.region"), file),
        2 => put(&dir.join("map_data.json"), file),
        3 => {
            put(&dir.join("map_data.json"), map("dense", "0", "0").as_bytes());
            put(&dir.join("voxels.npy"), file);
            put(&dir.join("depth.npy"), file);
        }
        _ => {
            put(&dir.join("map_data.json"), map("block_sparse", "16", "1").as_bytes());
            // An array and, behind it, another one: the voxels, and the coordinates of their blocks.
            let at = file
                .windows(6)
                .skip(1)
                .position(|bytes| bytes == voxscope::voxel_map::npy::MAGIC)
                .map_or(0, |at| at + 1);
            let (voxels, index) = file.split_at_checked(at).unwrap_or((file, &[]));
            put(&dir.join("voxels.npy"), voxels);
            put(&dir.join("index.npy"), index);
        }
    }
    dir
}

/// All bound keys.
fn keys() -> &'static [Key] {
    static KEYS: OnceLock<Vec<Key>> = OnceLock::new();
    KEYS.get_or_init(|| ACTIONS.iter().flat_map(|spec| spec.keys).filter_map(|key| Key::parse(key).ok()).collect())
}

fn happen(driver: &mut Driver, [kind, a, b]: [u8; 3]) {
    match kind {
        0..200 => {
            let keys = keys();
            if let Some(key) = keys.get(usize::from(kind) % keys.len().max(1)) {
                driver.event(&Event::Key(KeyEvent::new(key.code, key.modifiers)));
            }
        }
        200..220 => {
            let kinds = [MouseEventKind::Down(MouseButton::Left), MouseEventKind::ScrollDown, MouseEventKind::ScrollUp];
            let kind = kinds.get(usize::from(kind) % 3).copied().unwrap_or(MouseEventKind::ScrollUp);
            driver.mouse(MouseEvent { kind, column: a.into(), row: b.into(), modifiers: KeyModifiers::NONE });
        }
        220..240 => driver.event(&Event::Resize(u16::from(a) % 140, u16::from(b) % 50)),
        240.. => {
            driver.keys(if a & 1 == 0 { "@" } else { "/" });
            driver.text(LINES.get(usize::from(b) % LINES.len()).copied().unwrap_or_default());
            driver.keys("enter esc");
        }
    }
}

/// Every cell of the screen holds a printable character of the cell's width.
pub fn is_clean(driver: &Driver) {
    for cell in &driver.screen().content {
        assert!(cell.symbol().chars().all(is_plain), "{:?} on the screen", cell.symbol());
    }
    let copied = driver.copied.as_deref().unwrap_or_default();
    assert!(copied.chars().all(|c| c == '\n' || is_plain(c)), "{copied:?} on the clipboard");
}
