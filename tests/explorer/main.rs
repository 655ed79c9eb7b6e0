//! The explorer without a terminal: keys go in, screens come out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod blocks;
mod channels;
mod depth;
mod findings;
mod look;
mod sectors;
mod slice;

mod anything;
mod document;
mod screens;

use std::path::Path;

use voxscope::tui::{Driver, Settings};

fn driver(path: &Path) -> Driver {
    sized(path, 120, 40)
}

fn sized(path: &Path, columns: u16, rows: u16) -> Driver {
    Driver::new(Settings { path: path.to_owned(), ..Settings::default() }, columns, rows)
}

/// Makes a sample, below a directory of its own.
fn sample(name: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let sample = voxscope::demo::samples().find(|sample| sample.name == name).unwrap_or_else(|| panic!("no {name}"));
    (sample.make)(dir.path()).unwrap();
    dir
}

/// The explorer on a sample.
fn on(name: &str, columns: u16, rows: u16) -> (Driver, tempfile::TempDir) {
    let dir = sample(name);
    (sized(dir.path(), columns, rows), dir)
}

#[test]
fn it_opens_a_save_and_says_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    voxscope::demo::write_forest(&dir.path().join("world"), &voxscope::demo::ForestSpec::default(), None).unwrap();
    let mut driver = driver(dir.path());
    driver.keys("tab down down");
    assert!(driver.text_screen().contains("nothing wrong"));
}
