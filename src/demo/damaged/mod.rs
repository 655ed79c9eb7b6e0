//! Damaged saves: one for every finding that a file on disk can have, and the states that a killed game leaves.
//!
//! | no sample for | because |
//! |---|---|
//! | `file-unreadable` | permissions do not stop an administrator, and a failing disk cannot be written |
//! | `file-changed` | it takes a second program that writes while the first one reads |
//! | `link-skipped`, where the system is not a Unix | making a link there takes a right that most users lack |
//!
//! Takes a directory; writes one damaged save into it. It knows formats and healthy samples, not what the checker reports.

mod block;
mod block_files;
mod container;
mod copy;
mod crash;
mod files;
mod header;
mod map;
mod metadata;
mod pak;
#[cfg(feature = "sqlite")]
mod stream;
mod table;

use crate::demo::Sample;

const GROUPS: &[&[Sample]] = &[
    files::SAMPLES,
    block_files::SAMPLES,
    header::SAMPLES,
    table::SAMPLES,
    container::SAMPLES,
    block::SAMPLES,
    metadata::SAMPLES,
    crash::SAMPLES,
    copy::SAMPLES,
    pak::SAMPLES,
    map::SAMPLES,
    #[cfg(feature = "sqlite")]
    stream::SAMPLES,
];

/// The damaged samples.
pub const SAMPLES: &[Sample] = &concat::<{ count() }>();

const fn count() -> usize {
    let (mut n, mut group) = (0, 0);
    while group < GROUPS.len() {
        n += GROUPS[group].len();
        group += 1;
    }
    n
}

const fn concat<const N: usize>() -> [Sample; N] {
    let mut all = [GROUPS[0][0]; N];
    let (mut n, mut group) = (0, 0);
    while group < GROUPS.len() {
        let mut i = 0;
        while i < GROUPS[group].len() {
            all[n] = GROUPS[group][i];
            (n, i) = (n + 1, i + 1);
        }
        group += 1;
    }
    all
}
