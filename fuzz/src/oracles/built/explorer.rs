//! Damaged region files in the explorer: the key `n` goes to each finding, and the selection follows the finding's place.

use arbitrary::{Result, Unstructured};
use voxscope::save::Options;
use voxscope::tui::update::Event;
use voxscope::tui::{Driver, Settings};

use super::region::Region;
use super::{Case, Dice, Kind, Model, Seen, region_kinds};
use crate::oracles::{disk, explorer, limits};

/// The most findings that are visited.
const MOST: usize = 12;

/// A region file of version 3 for the explorer.
#[derive(Debug)]
pub struct Explorer(Region<3>);

impl Model for Explorer {
    fn make(choices: &mut Unstructured<'_>) -> Result<Self> {
        Region::make(choices).map(Self)
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.bytes()
    }

    fn look(&self, bytes: &[u8]) -> Vec<Seen> {
        let file = &self.0.0;
        let [x, y, z] = file.region;
        let path = disk::write(&disk::directory("file"), format!("r.{x}.{y}.{z}.vxr"), bytes);
        let options = Options::default().limits(limits()).slots(file.slots);
        let mut driver = Driver::new(Settings { path, options, ..Settings::default() }, 80, 24);
        explorer::is_clean(&driver);
        let findings = driver.app.findings.list.clone();
        for number in 0..findings.len().clamp(1, MOST) {
            driver.keys("n");
            explorer::is_clean(&driver);
            let gone_to = driver.app.selection.finding.and_then(|number| findings.get(number));
            if let Some(finding) = gone_to {
                let place = finding.block.and_then(|block| Some((block.lod, block.position?)));
                let selected = driver.app.selected_slot();
                let opened = driver.app.opened_item();
                match place.and_then(|(lod, position)| opened?.at(lod, position)) {
                    Some(slot) => assert_eq!(selected.map(|slot| slot.slot), Some(slot.slot), "{finding}"),
                    // No entry has the place of an unowned block: its bytes are selected.
                    None if place.is_some() => assert!(driver.app.selection.bytes.is_some(), "{finding}"),
                    None => {}
                }
            }
            assert!(gone_to.is_some() || findings.is_empty(), "n goes to no finding of {}", findings.len());
            // Every pane shows the same place; `n` does not leave the last of them.
            let (columns, rows) = if number % 2 == 0 { (40, 10) } else { (80, 24) };
            driver.event(&Event::Resize(columns, rows));
            for pane in ["tab", "tab", "2", "3", "4", "5", "7", "1", "6"] {
                driver.keys(pane);
                explorer::is_clean(&driver);
            }
        }
        disk::clean();
        findings.iter().map(|finding| Seen::from(&**finding)).collect()
    }

    fn compare(&self, bytes: &[u8]) {
        let seen = self.look(bytes);
        assert!(seen.iter().all(|seen| seen.damage.code.level() == voxscope::damage::Level::Note), "{seen:?}");
    }

    fn kinds() -> &'static [Kind<Self>] {
        const KINDS: [Kind<Explorer>; region_kinds::ALL.len()] = kinds();
        &KINDS
    }
}

/// The kinds of damage of a region file, by number.
const fn kinds() -> [Kind<Explorer>; region_kinds::ALL.len()] {
    macro_rules! each {
        ($($n:literal)*) => {
            [$(Kind { name: region_kinds::ALL[$n].0, apply: apply::<$n> }),*]
        };
    }
    each!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34)
}

fn apply<const N: usize>(model: &Explorer, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    (region_kinds::ALL[N].1)(&model.0.0, bytes, dice)
}
