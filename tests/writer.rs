//! A model of the engine's writer, killed after every write of random histories: no block may end in a wrong place.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "common/writer.rs"]
mod writer;

use std::collections::HashMap;

use rayon::prelude::*;
use voxscope::limits::Limits;
use voxscope::save::{Options, Region, Scratch};
use voxscope::trace::decide::{Certainty, decide};
use voxscope::trace::region::Case;
use voxscope::trace::solve::Solver;
use voxscope::trace::walk;
use writer::{Content, History};

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
    bins: [[u64; 2]; 24],
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
        for (a, b) in self.bins.iter_mut().zip(o.bins) {
            a[0] += b[0];
            a[1] += b[1];
        }
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
    let mut cases = Vec::new();
    let mut plains: Vec<Vec<Vec<u8>>> = Vec::new();
    for (file, disk) in history.world.files.iter().zip(disks) {
        let region = Region::load(disk, file.header.clone(), 0, file.position, &Options::default()).unwrap();
        let slots = region.known_slots().unwrap_or_default();
        let options = walk::Options { faces: true, budget: u64::MAX };
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
    let solver = Solver::solve(&refs);
    if std::env::var("AT").is_ok() {
        for (r, file) in history.world.files.iter().enumerate() {
            if std::env::var("REGION").is_ok_and(|s| s != format!("{:?}", file.position)) {
                continue;
            }
            let c = &cases[r];
            println!(
                "== region {:?} sectors {} T: {}",
                file.position,
                c.walk.sectors,
                c.entries
                    .iter()
                    .map(|e| format!("{}+{}:{:?}", e.first, e.count, e.position))
                    .collect::<Vec<_>>()
                    .join(" ")
            );
            println!(
                "W: {}",
                c.walk
                    .blocks
                    .iter()
                    .enumerate()
                    .map(|(i, b)| {
                        let who = states
                            .iter()
                            .flat_map(|(p, s)| {
                                s.iter()
                                    .enumerate()
                                    .filter(|(_, x)| ***x == plains[r][i])
                                    .map(move |(k, _)| format!("{p:?}.{}", k as i32 - s.len() as i32 + 1))
                            })
                            .take(3)
                            .collect::<Vec<_>>()
                            .join("|");
                        format!(
                            "{}+{}{}{}:{who}",
                            b.first,
                            b.count,
                            if b.padded { "" } else { "*" },
                            if b.splice.is_some() { "S" } else { "" }
                        )
                    })
                    .collect::<Vec<_>>()
                    .join(" ")
            );
            println!(
                "intact {} rates {:?} lost {:.3}",
                c.is_intact(),
                solver.states[r].rates,
                solver.states[r].posterior.lost
            );
            for rd in &solver.states[r].readings {
                println!(
                    "  reading prior {:.2} items {} moving {:?} torn {}",
                    rd.prior,
                    rd.items.len(),
                    rd.moving,
                    rd.torn
                );
            }
            for (i, e) in c.entries.iter().enumerate() {
                println!(
                    "  {:?} gone {:.4} torn {:.4} {:?} seams {:?}",
                    e.position,
                    solver.states[r].posterior.gone[i],
                    solver.states[r].posterior.torn[i],
                    solver.states[r].options[i].iter().take(4).map(|o| (o.block, o.p, o.moved)).collect::<Vec<_>>(),
                    solver.states[r].seams[i]
                );
            }
        }
        println!("saves {:?}", history.world.saves[..saves].iter().map(|s| s.0).collect::<Vec<_>>());
    }
    for (r, file) in history.world.files.iter().enumerate() {
        for put in decide(&solver, r) {
            let k = [0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999]
                .iter()
                .filter(|t| put.p > **t)
                .count();
            let ok = states.get(&put.position).is_some_and(|s| s.iter().any(|s| **s == plains[r][put.block]));
            let _ = file;
            scores[0].bins[k + 12 * usize::from(put.moved)][usize::from(ok)] += 1;
        }
    }
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
                if got == newest {
                    score.right += 1;
                    score.unsaved_right += u64::from(unsaved);
                } else if states.contains(&got) {
                    score.older += u64::from(present);
                    if level == Certainty::Certain && std::env::var("OLDER").is_ok() {
                        println!(
                            "OLDER {name} region {:?} block {p:?} p {} moved {} present {present} entries {}",
                            file.position,
                            put.p,
                            put.moved,
                            cases[r].entries.len()
                        );
                    }
                } else if history.world.saves[..saves].last().is_some_and(|s| s.0 == *p) {
                    // Half of the old, half of the new, in its own place: and it decodes: nothing tells.
                    score.torn += 1;
                } else {
                    score.wrong += 1;
                    if level == Certainty::Certain || std::env::var("LIKELY").is_ok() {
                        println!(
                            "WRONG {name} region {:?} block {p:?} p {} moved {} present {present} of {} saved {} trust {} entries {}",
                            file.position,
                            put.p,
                            put.moved,
                            placed.len(),
                            states.len() - 1,
                            solver.odds.trust,
                            cases[r].entries.len()
                        );
                    }
                }
            }
        }
    }
}

fn run(seed: u64, content: Content, scores: &mut [Score; 2]) {
    let history = History::random(seed, content);
    let writes = &history.world.writes;
    let only: Option<usize> = std::env::var("AT").ok().and_then(|s| s.parse().ok());
    // Moves come by the hundred and look alike: after the first of a row some are left out.
    let step = (writes.len() / 60).max(1);
    let mut at = 0;
    for n in 0..=writes.len() {
        let last = n.checked_sub(1).map(|i| &writes[i]);
        let ends = n == writes.len()
            || last.is_none_or(|w| writes[n].saves != w.saves || w.bytes.len() != writes[n].bytes.len());
        if !(ends || n >= at) || only.is_some_and(|o| o != n) {
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
    let n: u64 = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(4);
    if let Ok(one) = std::env::var("ONE") {
        println!("only {one}");
    }
    let from: u64 = std::env::var("FROM").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let mut wrong = Vec::new();
    for content in [Content::Terrain { smooth: false }, Content::Terrain { smooth: true }, Content::Noise] {
        if std::env::var("ONE")
            .is_ok_and(|one| one != format!("{content:?}").chars().filter(|c| c.is_alphanumeric()).collect::<String>())
        {
            continue;
        }
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
            let bins: Vec<String> = s
                .bins
                .chunks(12)
                .map(|b| b.iter().map(|[w, r]| format!("{w}/{}", w + r)).collect::<Vec<_>>().join(" "))
                .collect();
            println!("   kept {} | moved {}", bins[0], bins[1]);
            println!(
                "{content:?} {level} {s:?} right {:.2} % unsaved {:.2} % wrong {:.3} per 1000",
                100.0 * s.right as f64 / s.present.max(1) as f64,
                100.0 * s.unsaved_right as f64 / s.unsaved.max(1) as f64,
                1000.0 * s.wrong as f64 / s.present.max(1) as f64
            );
        }
        wrong.push((content, total[0].wrong, total[0].invented));
    }
    assert!(wrong.iter().all(|(_, wrong, invented)| (*wrong, *invented) == (0, 0)), "{wrong:?}");
}
