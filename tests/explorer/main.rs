//! The explorer without a terminal: keys go in, screens come out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod blocks;
mod channels;
mod depth;
mod difference;
mod findings;
mod repair;
mod sectors;
mod slice;

#[path = "../common/edit.rs"]
mod edit;

mod anything;
mod document;
mod screens;

use std::path::Path;

use ratatui::crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
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

/// Selects the first file whose name ends like this.
fn select(driver: &mut Driver, end: &str) {
    let index = driver.app.index.clone().unwrap();
    let item = (0..index.items.len()).find(|item| index.shown(*item).ends_with(end)).unwrap();
    driver.app.select_node(index.node_of(item).unwrap());
    driver.settle();
}

/// The line of the screen that has a text in it.
fn row_with(driver: &Driver, text: &str) -> String {
    let screen = driver.text_screen();
    let row = screen.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no {text} in\n{screen}"));
    row.to_owned()
}

/// Where a text begins on the screen, right of a column and not in the frame of the pane.
fn find(driver: &Driver, text: &str, left: usize) -> Option<(u16, u16)> {
    let screen = driver.text_screen();
    let mut rows = screen.lines().enumerate().skip(3);
    rows.find_map(|(y, line)| {
        let line: Vec<char> = line.chars().collect();
        let text: Vec<char> = text.chars().collect();
        let x = (left..line.len()).find(|x| line[*x..].starts_with(&text))?;
        Some((u16::try_from(x).unwrap(), u16::try_from(y).unwrap()))
    })
}

fn mouse_press(column: u16, row: u16) -> MouseEvent {
    let kind = MouseEventKind::Down(MouseButton::Left);
    MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }
}

#[test]
fn it_opens_a_save_and_says_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    voxscope::demo::write_forest(&dir.path().join("world"), &voxscope::demo::ForestSpec::default(), None).unwrap();
    let mut driver = driver(dir.path());
    driver.keys("tab down down");
    assert!(driver.text_screen().contains("nothing wrong"));
}
