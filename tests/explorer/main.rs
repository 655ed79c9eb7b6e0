//! The explorer without a terminal: keys go in, screens come out.

mod anything;
mod document;
mod screens;

use std::path::Path;

use voxscope::tui::{Driver, Settings};

fn driver(path: &Path) -> Driver {
    Driver::new(Settings { path: path.to_owned(), ..Settings::default() }, 120, 40)
}

#[test]
fn it_opens_a_save_and_says_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    voxscope::demo::write_forest(&dir.path().join("world"), &voxscope::demo::ForestSpec::default(), None).unwrap();
    let mut driver = driver(dir.path());
    driver.keys("tab down down");
    assert!(driver.text_screen().contains("nothing wrong"));
}
