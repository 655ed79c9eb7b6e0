//! Bytes inserted into the table of a region or cut out of it: the entries behind them lead to blocks of other positions.

use std::fs;

use rayon::prelude::*;

use crate::common::damage::table_at;
use crate::common::terrain::{Ground, Terrain};
use crate::common::trees::mend;
use crate::common::writer::Random;
use crate::common::{files_below, sampled};
use crate::least::by_table;

/// What happens within the table.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// So many random bytes are inserted, at any byte.
    Inserted(usize),
    /// An empty entry is inserted.
    Empty,
    /// So many entries are cut out.
    Cut(usize),
}

#[test]
fn entries_behind_a_change_of_the_table_get_their_slots_back() {
    let mut cases = Vec::new();
    for ground in [Ground::Smooth, Ground::Blocky] {
        for change in [
            Change::Inserted(1),
            Change::Inserted(4),
            Change::Inserted(8),
            Change::Empty,
            Change::Cut(1),
            Change::Cut(2),
        ] {
            // Near the start of the table, in its middle and near its end.
            for eighth in [1, 4, 6] {
                cases.push((ground, change, eighth));
            }
        }
    }
    sampled(cases, 7).par_iter().for_each(|&(ground, change, eighth)| {
        let dir = tempfile::tempdir().unwrap();
        let (healthy, damaged, copy) =
            (dir.path().join("healthy"), dir.path().join("damaged"), dir.path().join("copy"));
        let terrain = Terrain::new(ground, 40 + eighth as u64, 4, 8);
        for save in [&healthy, &damaged] {
            terrain.write(save, &[[0, 0, 0]]);
        }
        let mut random = Random::new(eighth as u64);
        for path in files_below(&damaged.join("regions")) {
            let mut file = fs::read(&path).unwrap();
            let table = table_at(&file);
            let at = table.start + table.len() / 8 * eighth + random.below(table.len() / 8);
            let entry = table.start + (at - table.start) / 4 * 4;
            match change {
                Change::Inserted(n) => {
                    let bytes: Vec<u8> = (0..n).map(|_| random.below(256) as u8).collect();
                    file.splice(at..at, bytes);
                }
                Change::Empty => drop(file.splice(entry..entry, [0; 4])),
                Change::Cut(n) => drop(file.drain(entry..entry + 4 * n)),
            }
            fs::write(path, file).unwrap();
        }
        mend(&damaged, &copy, false);
        let (before, after) = (by_table(&healthy), by_table(&copy));
        let wrong = after.iter().filter(|(at, block)| before.get(*at) != Some(*block)).count();
        assert_eq!(wrong, 0, "{ground:?}, {change:?} at {eighth}/8: {} of {} blocks", after.len(), before.len());
        assert!(
            after.len() + 12 >= before.len(),
            "{ground:?}, {change:?} at {eighth}/8: {} of {}",
            after.len(),
            before.len()
        );
    });
}
