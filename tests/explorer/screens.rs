//! What every pane looks like on every format, at three sizes, with its styles.

use std::collections::BTreeMap;
use std::fmt::Write;

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};
use voxscope::tui::pane::Pane;
use voxscope::tui::update::Event;
use voxscope::tui::{Driver, Settings};

pub const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 10)];

/// A sample, the end of the name of the file that is looked at in it, and the slot of the block.
struct Subject {
    name: &'static str,
    sample: &'static str,
    file: &'static str,
    slot: Option<u32>,
}

const SUBJECTS: &[Subject] = &[
    Subject { name: "region", sample: "healthy/current", file: "lod0/r.0.0.0.vxr", slot: Some(0) },
    Subject { name: "damaged", sample: "damaged/block-epilogue", file: "lod0/r.0.0.0.vxr", slot: Some(1) },
    Subject { name: "pak-damaged", sample: "damaged/pak-orphan", file: ".region", slot: None },
    Subject { name: "pak", sample: "healthy/pak-room", file: ".region", slot: None },
    #[cfg(feature = "sqlite")]
    Subject { name: "stream", sample: "healthy/stream-texts", file: "world.sqlite", slot: Some(2) },
    #[cfg(feature = "sqlite")]
    Subject { name: "stream-lost", sample: "damaged/stream-row-lost", file: "world.sqlite", slot: Some(1) },
    Subject { name: "sparse", sample: "healthy/map-sparse", file: ".npy", slot: Some(0) },
    Subject { name: "dense", sample: "healthy/map-dense", file: ".npy", slot: Some(0) },
];

/// The explorer on a sample, with a file and a block selected.
fn look_at(subject: &Subject) -> (tempfile::TempDir, Driver) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("world");
    std::fs::create_dir(&path).unwrap();
    let is = |sample: &&&voxscope::demo::Sample| sample.path().to_str() == Some(subject.sample);
    let samples: Vec<_> = voxscope::demo::samples().collect();
    let sample = samples.iter().find(is).unwrap();
    (sample.make)(&path).unwrap();
    let mut driver = Driver::new(Settings { path, ..Settings::default() }, 80, 24);
    let index = driver.app.index.clone().unwrap();
    let item = (0..index.items.len()).find(|item| index.shown(*item).ends_with(subject.file)).unwrap();
    driver.app.select_node(index.node_of(item).unwrap());
    driver.settle();
    let opened = driver.app.opened_item().unwrap().clone();
    let slot = subject.slot.filter(|slot| opened.slot(*slot).is_some());
    driver.app.select_slot(slot.unwrap_or_else(|| opened.slots[0].slot));
    // Commands are shown with the path: it must be the same every time.
    driver.app.settings.path = "world".into();
    driver.settle();
    (dir, driver)
}

/// A screen as text: its characters, and under them which columns of a row have which style.
pub fn picture(screen: &Buffer) -> String {
    let mut out = String::new();
    let mut legend: BTreeMap<String, char> = BTreeMap::new();
    let mut styles = String::new();
    for y in 0..screen.area.height {
        let mut line = String::new();
        let mut runs: Vec<(char, u16)> = Vec::new();
        for x in 0..screen.area.width {
            let cell = screen.cell((x, y)).unwrap();
            line.push_str(cell.symbol());
            let mut style = String::new();
            if cell.fg != Color::Reset {
                write!(style, "{}", cell.fg).unwrap();
            }
            if cell.bg != Color::Reset {
                write!(style, " on {}", cell.bg).unwrap();
            }
            if cell.modifier != Modifier::empty() {
                write!(style, " {:?}", cell.modifier).unwrap();
            }
            let next = u32::try_from(legend.len()).unwrap();
            let letter = match style.is_empty() {
                true => '.',
                false => *legend.entry(style).or_insert_with(|| char::from_u32('a' as u32 + next).unwrap()),
            };
            match runs.last_mut() {
                Some((last, n)) if *last == letter => *n += 1,
                _ => runs.push((letter, 1)),
            }
        }
        writeln!(out, "|{line}|").unwrap();
        let runs: Vec<String> = runs.iter().map(|(letter, n)| format!("{n}{letter}")).collect();
        writeln!(styles, "{y:>2} {}", runs.join(" ")).unwrap();
    }
    out.push_str(&styles);
    let mut legend: Vec<(char, String)> = legend.into_iter().map(|(style, letter)| (letter, style)).collect();
    legend.sort_unstable();
    for (letter, style) in legend {
        writeln!(out, "{letter} {}", style.trim()).unwrap();
    }
    out
}

#[test]
fn every_pane_on_every_format() {
    for subject in SUBJECTS {
        for pane in Pane::ALL {
            let (_dir, mut driver) = look_at(subject);
            if !driver.app.has_pane(pane) {
                continue;
            }
            driver.keys(&pane.number().to_string());
            let mut all = String::new();
            for (columns, rows) in SIZES {
                driver.event(&Event::Resize(columns, rows));
                writeln!(all, "{columns} x {rows}\n{}", picture(&driver.screen())).unwrap();
            }
            insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
                insta::assert_snapshot!(format!("{}-{}", subject.name, pane.title().to_lowercase()), all);
            });
        }
    }
}

/// A picture of the screen in each of the sizes.
pub fn snapshot(driver: &mut Driver, name: &str) {
    let mut all = String::new();
    for (columns, rows) in SIZES {
        driver.event(&Event::Resize(columns, rows));
        writeln!(all, "{columns} x {rows}\n{}", picture(&driver.screen())).unwrap();
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, all);
    });
}

#[test]
fn what_lies_on_top_and_the_tree() {
    let (_dir, mut driver) = look_at(&SUBJECTS[1]);
    for (name, keys) in [("help", "?"), ("commands", ":"), ("explain", "esc esc n e"), ("tree", "esc tab")] {
        driver.keys(keys);
        snapshot(&mut driver, name);
    }
}
