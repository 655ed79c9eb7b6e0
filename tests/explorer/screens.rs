//! What every pane looks like on every format, at three sizes, with its styles.

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
    driver.run_until_idle();
    let opened = driver.app.opened_item().unwrap().clone();
    let slot = subject.slot.filter(|slot| opened.slot(*slot).is_some());
    driver.app.select_slot(slot.unwrap_or_else(|| opened.slots[0].slot));
    // Commands are shown with the path: it must be the same every time.
    driver.app.settings.path = "world".into();
    driver.run_until_idle();
    (dir, driver)
}

#[test]
fn every_pane_on_every_format_speaks_of_the_selection() {
    for subject in SUBJECTS {
        for pane in Pane::ALL {
            let (_dir, mut driver) = look_at(subject);
            // A picture has too many colours to be compared as text; `world.rs` looks at it.
            if !driver.app.has_pane(pane) || pane == Pane::World {
                continue;
            }
            driver.keys(&pane.number().to_string());
            for (columns, rows) in SIZES {
                driver.event(&Event::Resize(columns, rows));
                let at = format!("{} {pane:?} {columns} x {rows}", subject.name);
                let screen = driver.text_screen();
                let shown = super::pane_text(&driver);
                assert!(!shown.trim().is_empty(), "{at}\n{screen}");
                for words in ["Choose a", "Reading", "Opening"] {
                    assert!(!shown.contains(words), "{at}: {words}\n{screen}");
                }
                let tabs = screen.lines().nth(1).unwrap_or_default();
                assert!(tabs.contains(pane.title()) || tabs.contains(pane.short_title()), "{at}\n{screen}");
                let help = screen.lines().last().unwrap_or_default();
                assert!(help.contains("? help"), "{at}\n{screen}");
            }
        }
    }
}

#[test]
fn popups_keep_their_frame_at_every_size() {
    let (_dir, mut driver) = look_at(&SUBJECTS[0]);
    for (keys, title) in [("?", "Help"), ("esc :", "Commands"), ("esc n e", "Explain")] {
        driver.keys(keys);
        for (columns, rows) in SIZES {
            driver.event(&Event::Resize(columns, rows));
            let screen = driver.text_screen();
            let top = screen.lines().find(|line| line.contains(title)).unwrap_or_else(|| panic!("{title}\n{screen}"));
            assert!(top.contains('┌') && top.contains('┐'), "{title} {columns} x {rows}\n{screen}");
        }
    }
}

#[test]
fn a_finding_is_explained() {
    let (_dir, mut driver) = look_at(&SUBJECTS[1]);
    driver.event(&Event::Resize(120, 60));
    driver.keys("n e");
    let code = driver.app.findings.list[driver.app.selection.finding.unwrap()].code();
    let screen = driver.text_screen();
    // What is in the frame of the popup, not what is seen beside it.
    let top: Vec<char> = screen.lines().find(|line| line.contains("Explain")).unwrap().chars().collect();
    let title = top.windows(7).position(|part| part.iter().collect::<String>() == "Explain").unwrap();
    let left = top[..title].iter().rposition(|c| *c == '┌').unwrap();
    let right = title + top[title..].iter().position(|c| *c == '┐').unwrap();
    let inside = |line: &str| line.chars().take(right).skip(left + 1).collect::<String>();
    let inside: Vec<String> = screen.lines().map(inside).collect();
    let words = inside.iter().flat_map(|line| line.split_whitespace()).collect::<Vec<_>>().join(" ");
    // The path of the save is in the command, so what is behind it is compared.
    let next = code.next().split_once("`: ").map_or(code.next(), |(_, behind)| behind);
    assert!(!words.contains("repair SAVE"), "{screen}");
    for text in [code.name(), code.title(), next] {
        assert!(words.contains(&text.split_whitespace().collect::<Vec<_>>().join(" ")), "{text}\n{screen}");
    }
}
