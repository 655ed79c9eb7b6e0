//! Blocks that somebody looked at and put in their places.

use std::path::Path;
use std::process::{Command, Output};

use crate::common;
use crate::common::terrain::{Ground, Terrain};
use crate::common::trees::{mend, trouble};
use voxscope::godot::region::{Header, MAX_HEADER_BYTES};
use voxscope::repair::{Action, LostBlock, RegionPlan};
use voxscope::save::{BlockStart, Options, Save, Scratch};

fn repair(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_voxscope")).arg("repair").args(arguments).output().unwrap()
}

#[test]
fn an_accepted_block_is_written_and_marked_and_what_cannot_be_is_refused() {
    let mut seen = 0;
    for group in ["crash_terrain", "crash_random", "crash_noise"] {
        let cases = common::directories(&common::golden(group));
        seen += cases.iter().take(4).filter(|case| accepts(case)).count();
    }
    assert!(seen > 0, "no case leaves anything open");
}

/// Accepts a block where a case leaves one open.
fn accepts(case: &Path) -> bool {
    let world = case.join("world");
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("copy");
    let plan = mend(&world, &dir.path().join("plain"), false).plan;
    // A whole block without an owner, and a place that nobody has: whichever the case leaves.
    let free = |region: &RegionPlan, at: &[i32; 3]| region.blocks.iter().all(|block| block.position != *at);
    let choice = plan.regions.iter().find_map(|region| {
        let whole = region.lost.iter().filter(|lost| lost.whole && lost.pieces.len() == 1);
        let at = |lost: &LostBlock| lost.candidates.iter().map(|(at, _)| *at).find(|at| free(region, at));
        whole.filter_map(|lost| Some((region, lost.clone(), at(lost)?))).next()
    });
    let Some((region, lost, position)) = choice else { return false };
    let (left_out, lost_before) = (region.missing.len(), region.lost.len());
    let (lod, origin) = (region.lod, region.name.to_str().unwrap().replace('\\', "/"));
    let file = origin.as_str();

    let place = format!("{},{},{}", position[0], position[1], position[2]);
    let start = region.start_of(&lost.pieces).argument();
    let accept = format!("{place}@{lod}={file}:{start}");
    let [source, out] = [&world, &to].map(|path| path.to_str().unwrap());
    let done = repair(&[source, "--out", out, "--accept", &accept]);
    assert!(to.exists() && done.status.code().is_some_and(|code| code & 1 == 1), "{done:?}");
    assert_eq!(trouble(&to), []);
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(to.join("repair.json")).unwrap()).unwrap();
    let regions = report["regions"].as_array().unwrap();
    let region = regions.iter().find(|region| region["file"] == file).unwrap();
    let put = region["put_right"].as_array().unwrap();
    let marked: Vec<_> = put.iter().filter(|one| one["certainty"] == "accepted").collect();
    assert_eq!((marked.len(), &marked[0]["position"]), (1, &serde_json::json!(position)));
    assert_eq!(region["lost_and_found"], lost_before - 1);
    assert!(region["missing"].as_array().unwrap().len() <= left_out);

    // The block is there, with the bytes that stood at the sector.
    let save = Save::open(&to, &Options::default()).unwrap();
    let (forest, of) = save.regions().find(|(forest, f)| forest.dir.join(&f.name) == to.join(file)).unwrap();
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
        format!("{place}@{lod}={file}:7777"),
        format!("{place}@{lod}={file}:@7"),
        format!("{place}@0=regions/lod0/r.9.9.9.vxr:1"),
        format!("{place}@7={file}:{start}"),
        format!("99999,0,0@{lod}={file}:{start}"),
        "nonsense".to_owned(),
    ] {
        let refused = repair(&[source, "--out", next.to_str().unwrap(), "--accept", &wrong]);
        assert_eq!(refused.status.code(), Some(16), "{wrong}: {refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(&wrong) && !next.exists(), "{refused:?}");
    }
    true
}

#[test]
fn a_block_off_the_grid_has_its_byte_and_is_accepted_by_it() {
    let dir = tempfile::tempdir().unwrap();
    let [world, to] = ["world", "copy"].map(|name| dir.path().join(name));
    let terrain = Terrain::small(Ground::Smooth, 7);
    terrain.write(&world, &[[0, 0, 0]]);
    let file = "regions/lod0/r.0.0.0.vxr";
    let path = world.join(file);
    let mut bytes = std::fs::read(&path).unwrap();
    let header = Header::decode(&bytes[..MAX_HEADER_BYTES], bytes.len() as u64, None).value.unwrap();
    let (table, sector) = (header.table, u64::from(header.format.sector_size));
    // The last entry is lost, and bytes are inserted into the first block: the header may as well be wrong.
    let entries = bytes[table.start as usize..table.end as usize].chunks(4);
    let mut entries: Vec<(u32, usize)> = entries
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .zip(0..)
        .filter(|(entry, _)| *entry != 0)
        .collect();
    entries.sort_unstable();
    let (last, slot) = *entries.last().unwrap();
    let inside = header.sectors_at() + u64::from(entries[0].0 >> 8) * sector + 2;
    let first = header.sectors_at() + u64::from(last >> 8) * sector + 7;
    bytes[table.start as usize + 4 * slot..][..4].fill(0);
    bytes.splice(inside as usize..inside as usize, *b"garbage");
    std::fs::write(&path, bytes).unwrap();

    let plan = mend(&world, &dir.path().join("plain"), false).plan;
    let region = plan.regions.iter().find(|region| region.action == Action::Rebuild).unwrap();
    let starts = region.lost.iter().map(|lost| region.start_of(&lost.pieces));
    let blocks = region.blocks.iter().map(|block| region.start(block));
    assert!(starts.chain(blocks).any(|start| start == BlockStart::Byte(first)), "{:?}", region.lost);
    let place = terrain_position(slot as u32, header.format.region_size);
    let accept = format!("{place}@0={file}:@{first}");
    let [source, out] = [&world, &to].map(|path| path.to_str().unwrap());
    let done = repair(&[source, "--out", out, "--accept", &accept]);
    assert!(to.exists() && done.status.code().is_some_and(|code| code & 1 == 1), "{done:?}");
    assert_eq!(trouble(&to), []);
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(to.join("repair.json")).unwrap()).unwrap();
    let put = report["regions"][0]["put_right"].as_array().unwrap();
    let block = put.iter().find(|block| block["offset"] == first).unwrap_or_else(|| panic!("{report}"));
    assert_eq!(block["sector"], serde_json::Value::Null);
    let named = std::fs::read_dir(to.join("lost+found")).unwrap().map(|entry| entry.unwrap().file_name());
    let named: Vec<String> = named.map(|name| name.into_string().unwrap()).collect();
    assert!(named.iter().all(|name| name.contains(".sector-") || name.contains(".byte-")), "{named:?}");
}

/// The position of a slot in the region at the origin, as an argument.
fn terrain_position(slot: u32, size: [u16; 3]) -> String {
    let [x, y, _] = size.map(u32::from);
    format!("{},{},{}", slot / y % x, slot % y, slot / y / x)
}

#[test]
fn blocks_of_an_empty_table_are_accepted_for_positions_of_their_region() {
    let dir = tempfile::tempdir().unwrap();
    let (save, to) = (dir.path().join("save"), dir.path().join("copy"));
    let sample = voxscope::demo::samples().find(|sample| sample.name == "table-empty").unwrap();
    (sample.make)(&save).unwrap();
    let accept = |position: &str| {
        let accept = format!("{position}@0=regions/lod0/r.0.0.0.vxr:0");
        repair(&[save.to_str().unwrap(), "--out", to.to_str().unwrap(), "--accept", &accept])
    };
    for elsewhere in ["-1,0,0", "4,0,0"] {
        let refused = accept(elsewhere);
        assert_eq!(refused.status.code(), Some(16), "{refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("the position is none of this file"), "{refused:?}");
    }
    let done = accept("1,0,1");
    assert_eq!(done.status.code(), Some(5), "{done:?}");
    let copy = Save::open(&to, &Options::default()).unwrap();
    let (forest, file) = copy.regions().find(|(_, file)| file.position == [0; 3]).unwrap();
    let mut region = copy.region(forest, file).unwrap().unwrap();
    let slots = region.slots(&mut Scratch::default()).unwrap();
    let at: Vec<_> = region.entries.iter().map(|listed| region.block_position(listed.slot, slots).unwrap()).collect();
    assert_eq!(at, [[1, 0, 1]]);
}
