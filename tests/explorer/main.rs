//! The explorer without a terminal: keys go in, screens come out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod blocks;
mod bytes;
mod channels;
mod cut;
mod difference;
mod findings;
mod legend;
mod map_files;
mod repair;
mod repair_line;
mod sectors;
mod selection;
mod tour;
mod tree;
mod world;

#[path = "../common/mod.rs"]
mod common;

mod anything;
mod document;
mod screens;

use std::path::Path;

use ratatui::crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;
use voxscope::tui::layout::inside;
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

/// Makes samples below one directory, each in a directory of its name.
fn samples(names: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in names {
        let sample = voxscope::demo::samples().find(|sample| sample.name == *name).unwrap();
        (sample.make)(&dir.path().join(name)).unwrap();
    }
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
    driver.run_until_idle();
}

/// The line of the screen that has a text in it.
fn row_with(driver: &Driver, text: &str) -> String {
    let screen = driver.text_screen();
    let row = screen.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no {text} in\n{screen}"));
    row.to_owned()
}

/// The characters of a part of the screen, a line a row, without spaces at the ends.
fn area_text(driver: &Driver, area: Rect) -> String {
    let screen = driver.screen();
    let row = |y: u16| {
        let line: String =
            (area.left()..area.right()).filter_map(|x| screen.cell((x, y))).map(|cell| cell.symbol()).collect();
        line.trim_end().to_owned() + "\n"
    };
    (area.top()..area.bottom()).map(row).collect()
}

/// What is inside the frame of the pane.
fn pane_text(driver: &Driver) -> String {
    area_text(driver, inside(driver.app.layout().pane))
}

/// What the inspector says; beside the pane it has a frame.
fn inspector_text(driver: &Driver) -> String {
    let layout = driver.app.layout();
    area_text(driver, if layout.inspector_below { layout.inspector } else { inside(layout.inspector) })
}

/// What is inside the frame of the tree.
fn tree_text(driver: &Driver) -> String {
    area_text(driver, inside(driver.app.layout().tree))
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
