//! Blocks that somebody looked at and put in their places.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use std::process::{Command, Output};

use common::trees::{mend, trouble};
use voxscope::save::{Options, Save, Scratch};

fn repair(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_voxscope")).arg("repair").args(arguments).output().unwrap()
}

#[test]
fn an_accepted_block_is_written_and_marked_and_what_cannot_be_is_refused() {
    let Some(case) = common::golden("crash_terrain/t1") else { return };
    let world = case.join("world");
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("copy");
    let plan = mend(&world, &dir.path().join("plain"), false).plan;
    let region = plan.regions.iter().find(|r| r.name.ends_with("lod0/r.0.0.0.vxr")).unwrap();
    let lost = region.lost[0].clone();
    let (position, _) = lost.candidates[0];
    assert!(region.blocks.iter().all(|block| block.position != position));

    let place = format!("{},{},{}", position[0], position[1], position[2]);
    let file = "regions/lod0/r.0.0.0.vxr";
    let accept = format!("{place}@0={file}:{}", lost.sector);
    let [source, out] = [&world, &to].map(|path| path.to_str().unwrap());
    let done = repair(&[source, "--out", out, "--accept", &accept]);
    assert!(done.status.code().is_some_and(|code| code & 1 == 1), "{done:?}");
    assert_eq!(trouble(&to), []);
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(to.join("repair.json")).unwrap()).unwrap();
    let regions = report["regions"].as_array().unwrap();
    let region = regions.iter().find(|region| region["file"] == file).unwrap();
    let put = region["put_right"].as_array().unwrap();
    let marked: Vec<_> = put.iter().filter(|one| one["certainty"] == "accepted").collect();
    assert_eq!((marked.len(), &marked[0]["position"]), (1, &serde_json::json!(position)));
    assert_eq!((&region["lost_and_found"], region["missing"].as_array().unwrap().len()), (&serde_json::json!(0), 0));

    // The block is there, with the bytes that stood at the sector.
    let save = Save::open(&to, &Options::default()).unwrap();
    let (forest, of) = save.regions().find(|(_, f)| f.lod == 0 && f.position == [0; 3]).unwrap();
    let mut opened = save.region(forest, of).unwrap().unwrap();
    let slots = opened.slots(&mut Scratch::default()).unwrap();
    let listed = opened.entries.iter().find(|l| opened.block_position(l.slot, slots) == Some(position)).unwrap();
    let span = opened.span(listed.entry);
    let copy = std::fs::read(to.join(file)).unwrap();
    let original = std::fs::read(world.join(file)).unwrap();
    let piece = lost.pieces[0];
    let (from, len) = (piece.start as usize, piece.len() as usize);
    assert_eq!(copy[span.start as usize..][..len], original[from..from + len]);

    let next = dir.path().join("next");
    for wrong in [
        format!("{place}@0={file}:7777"),
        format!("{place}@0=regions/lod0/r.9.9.9.vxr:1"),
        format!("{place}@1={file}:{}", lost.sector),
        format!("999,0,0@0={file}:{}", lost.sector),
        "nonsense".to_owned(),
    ] {
        let refused = repair(&[source, "--out", next.to_str().unwrap(), "--accept", &wrong]);
        assert_eq!(refused.status.code(), Some(16), "{wrong}: {refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(&wrong) && !next.exists(), "{refused:?}");
    }
}
