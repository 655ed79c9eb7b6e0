//! `ls`, `show`, `info` and `explain`.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use voxscope::check::CauseKind;
use voxscope::damage::Code;
use voxscope::save::{Options, Save, Scratch};

use crate::common::{golden, json_lines};
use crate::{Demo, FINDING, command, finish, joined, keys, lines, output, run};

#[test]
fn the_three_forms_of_ls_agree() {
    let demo = Demo::new();
    for below in ["healthy/current", "damaged/block-epilogue", "damaged/container-mode"] {
        let path = demo.path(below);
        let json = lines(&output(&["ls", &path, "--format=jsonl"]));
        let array: Vec<serde_json::Value> = serde_json::from_str(&output(&["ls", &path, "--format=json"])).unwrap();
        assert_eq!(array, json);
        let csv = output(&["ls", &path, "--format=csv"]);
        let table = output(&["ls", &path]);
        let mut csv = csv.lines();
        let head: Vec<&str> = csv.next().unwrap().split(',').collect();
        let csv: Vec<BTreeMap<&str, &str>> =
            csv.map(|line| head.iter().copied().zip(line.split(',')).collect()).collect();
        // Rows begin with the LOD; headings and names of files do not begin with a number.
        let rows = table.lines().filter_map(|line| {
            let cells: Vec<&str> = line.split_whitespace().collect();
            cells[..].first()?.parse::<u8>().ok().filter(|_| cells.len() >= 11).map(|_| cells)
        });
        let rows: Vec<Vec<&str>> = rows.collect();
        assert!(json.len() > 4, "{below}");
        assert_eq!((csv.len(), rows.len()), (json.len(), json.len()), "{below}");
        for ((json, csv), row) in json.iter().zip(&csv).zip(&rows) {
            let text = |json: &Json| match json {
                Json::Null => String::new(),
                Json::String(text) => text.clone(),
                other => other.to_string(),
            };
            for key in ["file", "lod", "slot", "sector", "sectors", "bytes", "plain", "version", "container"] {
                assert_eq!(text(&json[key]), csv[key], "{below} {key}");
            }
            for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
                assert_eq!(text(&json["position"][i]), csv[axis]);
                assert_eq!(csv[axis], row[i + 1]);
            }
            let codes: Vec<&str> =
                json["codes"].as_array().unwrap().iter().map(|code| code.as_str().unwrap()).collect();
            assert_eq!(codes.join(" "), csv["codes"]);
            assert_eq!(codes.join(", "), row[11..].join(" "));
            assert_eq!((csv["lod"], csv["sector"], csv["sectors"], csv["state"]), (row[0], row[4], row[5], row[10]));
            assert_eq!((csv["bytes"], csv["plain"]), (&*row[6].replace(',', ""), &*row[7].replace(',', "")));
        }
        assert!(table.trim_end().ends_with(&format!("{} blocks", json.len())), "{below}");
    }
}

#[test]
fn filters_of_ls() {
    let demo = Demo::new();
    let path = demo.path("damaged/block-epilogue");
    let count = |filter: &[&str]| {
        let arguments = [&["ls", &path, "--format=jsonl"][..], filter].concat();
        lines(&output(&arguments)).len()
    };
    let all = count(&[]);
    assert_eq!(count(&["state!=ok"]), 1);
    assert_eq!(count(&["code=block-epilogue"]), 1);
    assert_eq!(count(&["state=ok"]), all - 1);
    assert_eq!(count(&["x<0"]) + count(&["x>=0"]), all);
    assert!(count(&["x<0"]) > 0);
    assert_eq!(count(&["x<0", "lod=0"]), count(&["x<0 lod=0"]));
    assert_eq!(count(&["lod=9"]), 0);
    assert_eq!(count(&["file=r.0.0.0"]) + count(&["file!=r.0.0.0"]), all);
}

#[test]
fn show_takes_negative_blocks_with_a_space_and_with_an_equals_sign() {
    let demo = Demo::new();
    let path = demo.path("healthy/current");
    let spaced = output(&["show", &path, "--block", "-1,0,-1", "--format", "json"]);
    assert_eq!(spaced, output(&["show", &path, "--block=-1,0,-1", "--format", "json"]));
    let json: Json = serde_json::from_str(&spaced).unwrap();
    assert_eq!(json["position"], serde_json::json!([-1, 0, -1]));
    assert_eq!(json["channels"].as_array().unwrap().len(), 8);
    assert_eq!(json["findings"], serde_json::json!([]));
    assert!(output(&["show", &path, "--block", "-1,0,-1"]).contains("block (-1, 0, -1) of LOD 0"));
    let run = run(&["show", &path, "--block", "-90,0,-1"]);
    assert_eq!(run.code, Some(8));
    assert!(run.err.contains("(-90, 0, -1)"), "{}", run.err);
    let bad = lines(&finish(command(&["check", &demo.path("damaged/block-epilogue"), "--format=jsonl"])).out);
    let finding = bad.iter().find(|line| line["code"] == "block-epilogue").unwrap();
    let at: Vec<String> = finding["block"].as_array().unwrap().iter().map(Json::to_string).collect();
    let shown = output(&["show", &demo.path("damaged/block-epilogue"), "--block", &at.join(","), "--format=json"]);
    let shown: Json = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["findings"][0]["code"], "block-epilogue");
    assert_eq!(keys(&shown["findings"][0]), FINDING);
}

/// Both blocks claim one sector: the data of each is right, the place of one is not.
#[test]
fn show_does_not_call_a_block_right_whose_place_it_does_not_check() {
    let demo = Demo::new();
    let path = demo.path("damaged/two-writers");
    let shown = output(&["show", &path, "--block", "0,2,0"]);
    let advice = format!("`voxscope check {path}` finds out whether the block is in the right place.");
    assert!(shown.contains("Nothing is wrong with its data.") && shown.contains(&advice), "{shown}");
}

/// What `show --voxel` says of a voxel, by channel.
fn voxel(path: &str, at: [i32; 3], lod: u8) -> Vec<u64> {
    let [x, y, z] = at;
    let (at, lod) = (format!("{x},{y},{z}"), lod.to_string());
    let json: Json =
        serde_json::from_str(&output(&["show", path, "--voxel", &at, "--lod", &lod, "--format=json"])).unwrap();
    json["channels"].as_array().unwrap().iter().map(|channel| channel["value"].as_u64().expect("a value")).collect()
}

#[test]
fn voxels_are_those_of_the_blocks() {
    let demo = Demo::new();
    let path = demo.path("healthy/current");
    let save = Save::open(path.as_ref(), &Options::default()).unwrap();
    let mut scratch = Scratch::default();
    let mut seen = 0;
    for (forest, file) in save.regions() {
        let mut region = save.region(forest, file).unwrap().unwrap();
        let slots = region.slots(&mut scratch).unwrap();
        let listed = region.entries[region.entries.len() / 2];
        let block_at = region.block_position(listed.slot, slots).unwrap();
        let block = region.view(listed.entry, &mut scratch).unwrap().block.unwrap();
        let inside = [3u16, 14, 9];
        let world = [0, 1, 2].map(|i| (block_at[i] * 16 + i32::from(inside[i])) << file.lod);
        let expected: Vec<u64> = (0..8).map(|channel| block.voxel(channel, inside).unwrap()).collect();
        assert_eq!(voxel(&path, world, file.lod), expected, "{world:?} of LOD {}", file.lod);
        seen += 1;
    }
    assert!(seen > 8);
}

#[test]
fn voxels_are_what_the_engine_says() {
    let dir = golden("godot_voxel");
    let mut seen = 0;
    for truth in json_lines(&dir.join("truth.jsonl")).iter().filter(|t| t["save"] == "forest_lz4").take(12) {
        let path = dir.join("forest_lz4");
        let lod = u8::try_from(truth["lod"].as_u64().unwrap()).unwrap();
        let block = [0, 1, 2].map(|i| i32::try_from(truth["position"][i].as_i64().unwrap()).unwrap());
        for (i, channel) in truth["channels"].as_array().unwrap().iter().enumerate() {
            for sample in channel["samples"].as_array().into_iter().flatten().take(2) {
                let world =
                    [0, 1, 2].map(|i| (block[i] * 16 + i32::try_from(sample[i].as_i64().unwrap()).unwrap()) << lod);
                let value: u64 = sample[3].as_str().unwrap().parse().unwrap();
                assert_eq!(voxel(path.to_str().unwrap(), world, lod)[i], value, "{block:?} {sample}");
                seen += 1;
            }
        }
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn info_says_what_a_save_is_made_of() {
    let demo = Demo::new();
    let path = demo.path("healthy/current");
    let info: Json = serde_json::from_str(&output(&["info", &path, "--format=json"])).unwrap();
    assert_eq!(keys(&info), ["path", "forests", "rooms", "streams", "maps", "faults", "empty", "next"]);
    let forest = &info["forests"][0];
    assert_eq!(
        keys(forest),
        ["path", "kind", "folders", "meta_version", "lod_count", "layout", "lods", "sectors", "left_out"]
    );
    assert_eq!((&forest["kind"], &forest["meta_version"], &info["faults"]), (&"forest".into(), &3.into(), &0.into()));
    assert_eq!(forest["layout"]["block_size"], 16);
    let blocks: u64 = forest["lods"].as_array().unwrap().iter().map(|lod| lod["blocks"].as_u64().unwrap()).sum();
    assert_eq!(blocks, lines(&output(&["ls", &path, "--format=jsonl"])).len() as u64);
    // Without a command, the same for people.
    assert_eq!(output(&[&path]), output(&["info", &path]));
    let mut here = command(&[]);
    here.current_dir(&path);
    assert!(finish(here).out.contains("forest of version 3"));
}

#[test]
fn explain_tells_of_every_code() {
    let all = output(&["explain"]);
    for &code in Code::ALL {
        assert!(all.lines().any(|line| line.split_whitespace().next() == Some(code.name())), "{code}");
        let story = output(&["explain", code.name()]);
        assert!(story.starts_with(&format!("{code} · {} · {}", code.level(), code.title())), "{story}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
        assert!(
            words(&story).contains(&words(code.explanation())) && words(&story).contains(&words(code.next())),
            "{story}"
        );
        assert!(story.lines().all(|line| line.chars().count() <= 110), "{story}");
    }
    assert_eq!(all.lines().count(), Code::ALL.len() + 1);
}

#[test]
fn explain_knows_every_cause_that_check_names() {
    for kind in CauseKind::ALL {
        let text = output(&["explain", kind.name()]);
        assert!(text.contains(&format!("{kind} · cause · {}", kind.sentence())), "{text}");
        let words = joined(&text);
        assert!(words.contains(kind.lost()) && words.contains(kind.comes_back()), "{text}");
        let (_, next) = words.rsplit_once(" Next: ").expect("what to do");
        assert!(next.contains("`voxscope ") || next.starts_with("Nothing"), "{text}");
    }
    // One name is a code and a cause.
    assert!(output(&["explain", "slots-mixed"]).starts_with("slots-mixed · warning · "));
}

#[test]
fn chunks_and_pak_directories_say_how_their_order_is_known() {
    let demo = Demo::new();
    for (save, known) in [
        ("healthy/pak-room", "yzx · inferred: fewer voxels differ where two chunks meet"),
        ("healthy/pak-version-6", "xyz · inferred: fewer neighbouring voxels differ inside chunks"),
        ("healthy/pak-numbers", "yzx · assumed: records have the same order"),
    ] {
        let path = demo.path(save);
        let record = output(&["ls", &path, "--format=jsonl"]);
        let record = lines(&record)[0]["slot"].to_string();
        for text in [output(&["info", &path]), output(&["show", &path, "--record", &record])] {
            assert!(text.contains(&format!("order of voxels, the last axis fastest: {known}")), "{save}: {text}");
        }
    }
    let given = output(&["show", &demo.path("healthy/pak-room"), "--block=0,0,0", "--chunk-order=xyz"]);
    assert!(given.contains("xyz · given: by an option"), "{given}");
    let info: serde_json::Value =
        serde_json::from_str(&output(&["info", &demo.path("healthy/pak-numbers"), "--format=json"])).unwrap();
    let order = &info["rooms"][0]["files"][0]["header"]["order"];
    assert_eq!((&order["value"], &order["how"]), (&"yzx".into(), &"assumed".into()), "{info}");
}

#[test]
fn a_rig_of_voxedit_is_to_be_moved_out_and_nothing_is_repaired() {
    let demo = Demo::new();
    let save = demo.path("damaged/region-voxedit");
    let done = run(&["check", &save]);
    assert_eq!(done.code, Some(4));
    assert!(done.out.contains("Sandbox's VoxEdit") && done.out.contains("Move the file out"), "{}", done.out);
    assert!(!done.out.contains(" mends "), "{}", done.out);
    // Under a name that no region has.
    let stray = format!("{}/regions/lod0/knight.vxr", demo.path("healthy/current"));
    std::fs::copy(format!("{save}/regions/lod0/r.0.0.0.vxr"), &stray).unwrap();
    let found = run(&["check", &demo.path("healthy/current")]).out;
    assert!(found.contains("It is a rig of Sandbox's VoxEdit (VXR9): move it out"), "{found}");
    let alone = run(&["check", &stray]).out;
    assert!(alone.contains("region-voxedit") && !alone.contains("name-region"), "{alone}");
}

#[test]
fn a_number_out_of_range_is_named_with_the_range() {
    for option in ["--block", "--voxel"] {
        let shown = run(&["show", "save", option, "99999999999,0,0"]);
        assert_eq!(shown.code, Some(16), "{}", shown.err);
        assert!(shown.err.contains("each of the three numbers must be -2147483648 to 2147483647"), "{}", shown.err);
        let shown = run(&["show", "save", option, "99999999999,0"]);
        assert!(shown.err.contains("expected three whole numbers"), "{}", shown.err);
    }
}
