//! A model of the engine's writer, killed after every write of random histories: no block may end in a wrong place.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

mod lods;
mod models;
mod reliability;

use std::collections::{HashMap, HashSet};

use common::reliability::Reliability;
use common::writer::{Content, History};
use rayon::prelude::*;
use voxscope::limits::Limits;
use voxscope::recover::decide::{Certainty, decide};
use voxscope::recover::region::Case;
use voxscope::recover::solve;
use voxscope::recover::walk;
use voxscope::save::{Options, Region, Scratch};

#[derive(Default, Clone, Copy)]
pub struct Score {
    cases: u64,
    present: u64,
    right: u64,
    older: u64,
    wrong: u64,
    unsaved: u64,
    unsaved_right: u64,
    invented: u64,
    torn: u64,
    stated: Reliability,
    stated_moved: Reliability,
}

impl std::ops::AddAssign for Score {
    fn add_assign(&mut self, o: Self) {
        self.cases += o.cases;
        self.present += o.present;
        self.right += o.right;
        self.older += o.older;
        self.wrong += o.wrong;
        self.unsaved += o.unsaved;
        self.unsaved_right += o.unsaved_right;
        self.invented += o.invented;
        self.torn += o.torn;
        self.stated += o.stated;
        self.stated_moved += o.stated_moved;
    }
}

impl std::fmt::Debug for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "cases {} present {} right {} older {} wrong {} torn {} invented {}",
            self.cases, self.present, self.right, self.older, self.wrong, self.torn, self.invented
        )
    }
}

fn score(history: &History, disks: &[Vec<u8>], saves: usize, scores: &mut [Score; 2], name: &str) {
    let mut states: HashMap<[i32; 3], Vec<&Vec<u8>>> = history.before.iter().map(|(p, b)| (*p, vec![b])).collect();
    for (p, data) in &history.world.saves[..saves] {
        states.entry(*p).or_default().push(data);
    }
    let saved: HashSet<&Vec<u8>> = states.values().flatten().copied().collect();
    let mut cases = Vec::new();
    let mut plains: Vec<Vec<Vec<u8>>> = Vec::new();
    for (file, disk) in history.world.files.iter().zip(disks) {
        let region = Region::load(disk, file.header.clone(), 0, file.position, &Options::default()).unwrap();
        let slots = region.known_slots().unwrap_or_default();
        let options = walk::Options::FACES;
        let case = Case::read(&region, slots, &Limits::DEFAULT, options).unwrap();
        assert_eq!(case.entries.len(), region.entries.len(), "an entry without a place");
        let w = &case.walk;
        let mut scratch = Scratch::default();
        plains.push(
            w.blocks
                .iter()
                .map(|b| {
                    let bytes: Vec<u8> = walk::pieces(&file.header, b)
                        .iter()
                        .flat_map(|s| disk[s.start as usize..s.end as usize].to_vec())
                        .collect();
                    scratch
                        .interpret_bytes(&bytes, 0, &file.header, None, &Limits::DEFAULT)
                        .container
                        .unwrap()
                        .plain
                        .to_vec()
                })
                .collect(),
        );
        cases.push(case);
    }
    let refs: Vec<&Case> = cases.iter().collect();
    let solver = solve::solve(&refs, &voxscope::watch::Watch::default());
    for (level, score) in [Certainty::Certain, Certainty::Likely].into_iter().zip(scores) {
        score.cases += 1;
        for (r, file) in history.world.files.iter().enumerate() {
            let placed: HashMap<[i32; 3], _> =
                decide(&solver, r).into_iter().filter(|p| p.certainty >= level).map(|p| (p.position, p)).collect();
            score.invented += placed.keys().filter(|p| !states.contains_key(*p)).count() as u64;
            let size = i32::from(file.header.format.region_size[0]);
            for (p, states) in states.iter().filter(|(p, _)| p.map(|v| v.div_euclid(size)) == file.position) {
                let newest = *states.last().unwrap();
                let present = plains[r].iter().any(|b| b == newest);
                let unsaved = states.len() == 1 && present;
                score.present += u64::from(present);
                score.unsaved += u64::from(unsaved);
                let Some(put) = placed.get(p) else { continue };
                let got = &plains[r][put.block];
                // Half of the old, half of the new, and it decodes: that is no question of its place.
                if level == Certainty::Likely && saved.contains(got) {
                    let right = states.contains(&got);
                    score.stated.add(put.p, right);
                    let listed = cases[r].entries.iter().find(|entry| entry.position == *p).map(|entry| entry.first);
                    if listed != Some(cases[r].walk.blocks[put.block].first) {
                        score.stated_moved.add(put.p, right);
                    }
                }
                if got == newest {
                    score.right += 1;
                    score.unsaved_right += u64::from(unsaved);
                } else if states.contains(&got) {
                    score.older += u64::from(present);
                } else if !saved.contains(got) {
                    // Half of the old, half of the new, and it decodes: nothing tells.
                    score.torn += 1;
                } else {
                    score.wrong += 1;
                    if level == Certainty::Certain {
                        println!("{name}: {p:?} in region {:?} has another's block, p {}", file.position, put.p);
                    }
                }
            }
        }
    }
}

fn run(seed: u64, content: Content, scores: &mut [Score; 2]) {
    let history = History::random(seed, content);
    let writes = &history.world.writes;
    // Moves come by the hundred and look alike: after the first of a row some are left out.
    let step = (writes.len() / 60).max(1);
    let mut at = 0;
    for n in 0..=writes.len() {
        let last = n.checked_sub(1).map(|i| &writes[i]);
        let ends = n == writes.len()
            || last.is_none_or(|w| writes[n].saves != w.saves || w.bytes.len() != writes[n].bytes.len());
        if !(ends || n >= at) {
            continue;
        }
        at = n + step;
        let len = last.map_or(0, |w| w.bytes.len());
        let saves = last.map_or(0, |w| w.saves);
        score(&history, &history.killed(n, len), saves, scores, &format!("{content:?} {seed} {n}/{len}"));
        for cut in (0..len).step_by(4096).skip(1) {
            score(&history, &history.killed(n, cut), saves, scores, &format!("{content:?} {seed} {n}/{cut}"));
        }
    }
}

#[test]
fn killed_after_every_write() {
    // More of them, or others, are asked for from outside.
    let number = |name, or| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(or);
    let (from, n) = (number("FROM", 0), number("SEEDS", 4));
    let mut wrong = Vec::new();
    for content in [Content::Terrain { smooth: false }, Content::Terrain { smooth: true }, Content::Noise] {
        let all: Vec<[Score; 2]> = (from..from + n)
            .into_par_iter()
            .map(|seed| {
                let mut scores = [Score::default(); 2];
                run(seed, content, &mut scores);
                scores
            })
            .collect();
        let mut total = [Score::default(); 2];
        for s in &all {
            for k in 0..2 {
                total[k] += s[k];
            }
        }
        for (level, s) in ["certain", "likely"].iter().zip(&total) {
            println!(
                "{content:?} {level} {s:?} right {:.2} % unsaved {:.2} % wrong {:.3} per 1000",
                100.0 * s.right as f64 / s.present.max(1) as f64,
                100.0 * s.unsaved_right as f64 / s.unsaved.max(1) as f64,
                1000.0 * s.wrong as f64 / s.present.max(1) as f64
            );
        }
        println!("{content:?}, all placements:\n{}", total[1].stated);
        println!("{content:?}, not as the table has it:\n{}", total[1].stated_moved);
        wrong.push((content, total[0].wrong, total[0].invented));
    }
    assert!(wrong.iter().all(|(_, wrong, invented)| (*wrong, *invented) == (0, 0)), "{wrong:?}");
}
