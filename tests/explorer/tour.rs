//! The guided tour of `voxscope demo`, and what is said of one of several saves in a directory.

use std::path::Path;

use voxscope::demo;
use voxscope::tui::{Driver, Settings};

/// The tour at a size of the screen.
fn tour(dir: &Path, columns: u16, rows: u16) -> Driver {
    let notes = demo::TOUR.iter().map(|(stop, _, words)| (Path::new(stop).to_owned(), *words)).collect();
    Driver::new(Settings { path: dir.to_owned(), notes, ..Settings::default() }, columns, rows)
}

/// Selects the first file of a stop.
fn go_to(driver: &mut Driver, stop: &str) {
    let index = driver.app.index.clone().unwrap();
    let item = (0..index.items.len()).find(|item| index.shown(*item).starts_with(stop)).unwrap();
    driver.app.select_node(index.node_of(item).unwrap());
    driver.run_until_idle();
}

#[test]
fn each_stop_has_its_sentence_its_own_verdict_and_the_keys() {
    let dir = tempfile::tempdir().unwrap();
    demo::write_tour(dir.path()).unwrap();
    for (columns, rows) in [(120, 40), (80, 24)] {
        let mut driver = tour(dir.path(), columns, rows);
        for (stop, sample, words) in demo::TOUR {
            go_to(&mut driver, stop);
            let screen = driver.text_screen();
            let below: Vec<&str> = screen.lines().skip(usize::from(rows) * 3 / 4).collect();
            assert!(below.iter().any(|line| line.trim() == words), "{columns} x {rows}: {screen}");
            assert!(below.last().unwrap().ends_with("q quit"), "{columns} x {rows}: {screen}");
            let repairs = below.iter().any(|line| line.contains("shows a repair") || line.contains("voxscope repair"));
            assert_eq!(repairs, sample != "lods", "{columns} x {rows}, {stop}: {screen}");
            // The line on top speaks of the world that is shown, and then of all of them.
            let top = screen.lines().next().unwrap();
            assert_eq!(top.contains("nothing wrong here"), sample == "lods", "{columns} x {rows}, {stop}: {screen}");
            assert!(top.contains("in all "), "{columns} x {rows}, {stop}: {screen}");
        }
    }
}

#[test]
fn it_begins_with_the_keys() {
    let dir = tempfile::tempdir().unwrap();
    demo::write_tour(dir.path()).unwrap();
    let old = demo::samples().find(|sample| sample.name == "blocks-v4-old-slots").unwrap();
    (old.make)(&dir.path().join("healthy/blocks-v4-old-slots")).unwrap();
    for (columns, rows) in [(120, 40), (80, 24)] {
        let driver = tour(dir.path(), columns, rows);
        let screen = driver.text_screen();
        let last = screen.lines().last().unwrap();
        assert!(last.contains("nearer") && !screen.contains("old slot formula"), "{columns} x {rows}: {screen}");
    }
}

#[test]
fn it_begins_with_a_world_that_has_colours() {
    let dir = tempfile::tempdir().unwrap();
    demo::write_tour(dir.path()).unwrap();
    let driver = tour(dir.path(), 120, 40);
    let screen = driver.text_screen();
    // Grass, snow, sand and water.
    for value in [1, 4, 5, 6] {
        assert!(screen.contains(&format!("■ {value} ")), "{value}: {screen}");
    }
}

#[test]
fn the_command_names_the_save_that_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    demo::write_tour(dir.path()).unwrap();
    let mut driver = tour(dir.path(), 200, 60);
    for (stop, ..) in demo::TOUR.into_iter().skip(1) {
        go_to(&mut driver, stop);
        let lines = voxscope::tui::verdict::lines(&driver.app);
        let command = format!("voxscope repair {} ", dir.path().join(stop).display());
        assert!(lines.iter().any(|line| line.starts_with(&command)), "{stop}: {lines:?}");
        assert!(lines.iter().any(|line| line.contains("blocks")), "{stop}: {lines:?}");
    }
}

#[test]
fn the_sentence_below_the_findings_is_about_the_selected_one() {
    let dir = tempfile::tempdir().unwrap();
    demo::write_tour(dir.path()).unwrap();
    let mut driver = tour(dir.path(), 120, 40);
    driver.keys("7");
    let screen = driver.text_screen();
    let [(_, _, healthy), (_, _, damaged), ..] = demo::TOUR;
    assert!(screen.contains(damaged) && !screen.contains(healthy), "{screen}");
}
