//! Any keys, clicks and sizes on any sample: nothing panics, and nothing that a file holds reaches the terminal raw.

use ratatui::crossterm::event::{KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use voxscope::tui::action::ACTIONS;
use voxscope::tui::keys::Key;
use voxscope::tui::update::Event;
use voxscope::tui::{CompareWith, Driver, Settings};

use crate::common::{sampled, samples};

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

fn is_clean(driver: &Driver) -> bool {
    let screen = driver.screen();
    screen.content.iter().all(|cell| cell.symbol().chars().all(voxscope::printable::is_plain))
}

#[test]
fn anything_may_be_done_on_any_sample() {
    anything(false);
}

#[test]
fn anything_may_be_done_on_any_two_samples() {
    anything(true);
}

fn anything(two: bool) {
    let dir = tempfile::tempdir().unwrap();
    let samples = samples::write(dir.path());
    let keys: Vec<Key> = ACTIONS.iter().flat_map(|spec| spec.keys).map(|key| Key::parse(key).unwrap()).collect();
    let texts =
        ["0x40", "s3", "b1", "0,0,0", "1,0,-1", "end-16", "lod=0", "bytes>1", "error", "水", "/nowhere/rows.csv"];
    let mut numbers = Numbers(1);
    for (number, sample) in sampled(samples.iter().enumerate(), 5) {
        let path = dir.path().join(sample.path());
        // With what stands before it, with itself, and with a healthy one: the same blocks, others, and other formats.
        let other = [samples[number.saturating_sub(1)], sample, samples[0]][number % 3];
        let against = two.then(|| CompareWith { path: dir.path().join(other.path()), ..CompareWith::default() });
        let mut driver = Driver::new(Settings { path, against, ..Settings::default() }, 80, 24);
        assert!(driver.app.index.is_some(), "{}: {:?}", sample.name, driver.app.failure);
        driver.keys(if two { "9" } else { "tab down down down enter" });
        for _ in 0..60 {
            match numbers.below(20) {
                0 => {
                    let (columns, rows) = (numbers.below(130), numbers.below(45));
                    driver.event(&Event::Resize(u16::try_from(columns).unwrap(), u16::try_from(rows).unwrap()));
                }
                1 => {
                    let kinds =
                        [MouseEventKind::Down(MouseButton::Left), MouseEventKind::ScrollDown, MouseEventKind::ScrollUp];
                    let kind = kinds[numbers.below(3)];
                    let (column, row) = (numbers.below(130), numbers.below(45));
                    let (column, row) = (u16::try_from(column).unwrap(), u16::try_from(row).unwrap());
                    driver.mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
                }
                2 => {
                    driver.keys(["@", "/"][numbers.below(2)]);
                    driver.text(texts[numbers.below(texts.len())]);
                    driver.keys("enter esc");
                }
                3 => driver.keys("n"),
                4 if two => driver.keys(["9", "9 enter", "9 ."][numbers.below(3)]),
                _ => {
                    let key = keys[numbers.below(keys.len())];
                    driver.event(&Event::Key(KeyEvent::new(key.code, key.modifiers)));
                }
            }
            assert!(is_clean(&driver), "{}:\n{}", sample.name, driver.text_screen());
        }
    }
}
