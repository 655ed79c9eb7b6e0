//! One verdict: check, the plan of a repair, its report and its exit code say the same.

use std::fs;

use rayon::prelude::*;
use serde_json::Value as Json;
use tempfile::tempdir;
use voxscope::demo;
use voxscope::repair;
use voxscope::save::{Options, Save};

use crate::common::sampled;
use crate::{Demo, joined, output, run};

/// What is wrong with the figures and exit codes of a sample.
fn judge(demo: &Demo, sample: &demo::Sample) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut expect = |right: bool, what: String| {
        if !right {
            wrong.push(format!("{}: {what}", sample.name));
        }
    };
    let path = demo.path(sample.path().to_str().unwrap());
    let out = tempdir().unwrap();
    let new = out.path().join("new");
    let plan = run(&["repair", &path, "--plan"]);
    let done = run(&["repair", &path, "--out", new.to_str().unwrap()]);
    expect(plan.code == done.code, format!("the plan ends with {:?}, the repair with {:?}", plan.code, done.code));
    let save = Save::open(path.as_ref(), &Options::default()).unwrap();
    let planned = repair::plan(&save, &repair::Options::default()).unwrap();
    let totals = repair::totals(&save, &planned);
    let report: Json = serde_json::from_slice(&fs::read(new.join("repair.json")).unwrap()).unwrap();
    let figures = serde_json::to_value(totals).unwrap();
    expect(report["totals"] == figures, format!("repair.json has {}, the plan {figures}", report["totals"]));
    // In words, but for what is only true afterwards.
    if !planned.changes_nothing() {
        for (words, text) in [
            (repair::total_words(&totals, None), &plan.out),
            (repair::total_words(&totals, Some(repair::Written::Save)), &done.out),
        ] {
            let words =
                words.iter().filter(|line| !line.starts_with("Move the copy") && !line.starts_with("The copy lacks"));
            for line in words {
                expect(joined(text).contains(&joined(line)), format!("no \"{line}\" in {text}"));
            }
        }
    }
    // The verdict has both levels.
    let checked: Json = serde_json::from_str(&run(&["check", "--format=json", &path]).out).unwrap();
    let both = &checked["summary"]["totals"];
    if !both.is_null() {
        let expected = repair::expected_totals(&save, &repair::Options::default()).unwrap();
        expect(*both == serde_json::to_value(expected).unwrap(), format!("check has {both}"));
        let likely = repair::plan(&save, &repair::Options::default().likely(true)).unwrap();
        levels_agree(both, [&figures, &serde_json::to_value(repair::totals(&save, &likely)).unwrap()], &mut expect);
    }
    // A plan that advises the level `likely` ends as a repair with that level.
    let done = match joined(&plan.out).contains("`--level likely --out ") {
        true => run(&["repair", &path, "--level", "likely", "--out", out.path().join("likely").to_str().unwrap()]),
        false => done,
    };
    let ends = |text: &str, words: &str| joined(text).contains(words);
    for words in
        ["ove the copy to where the save was", "ove the file to where the old one was", "eave the save where it is"]
    {
        expect(ends(&plan.out, words) == ends(&done.out, words), format!("{}, and then {}", plan.out, done.out));
    }
    if save.forests.is_empty() && save.streams.is_empty() {
        let checked = run(&["check", &path]).out;
        for text in [&checked, &plan.out, &done.out] {
            expect(!text.contains("--from-backup"), format!("a backup is refused: {text}"));
        }
    }
    wrong
}

/// Compares the totals of a check with those of the plans of both levels, key by key, as OUTPUT.md says it.
fn levels_agree(both: &Json, [certain, likely]: [&Json; 2], expect: &mut impl FnMut(bool, String)) {
    for (key, value) in both.as_object().unwrap() {
        let number = |json: &Json| json[key].as_u64().unwrap();
        let expected = match &**key {
            "kept" | "put_right" | "older" | "torn" | "beyond_end" | "odd" => number(certain),
            "source" | "salvaged" => number(certain).max(number(likely)),
            _ => number(likely),
        };
        expect(value.as_u64() == Some(expected), format!("check has {both}, the plans {certain} and {likely}: {key}"));
    }
}

#[test]
fn totals_of_damaged_golden_saves_are_those_of_both_plans() {
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut compared = 0;
    for case in [
        "crash_noise/mixed_1",
        "crash_random/r3",
        "crash_sizes/bs16_rs8_s256_self_2",
        "crash_sizes/bs8_rs8_s128_rand_2",
        "crash_terrain/t1",
        "disk_full/f1",
    ] {
        let dir = golden.join(case);
        let saves = ["world", "save", "damaged", "crashed", ""].map(|name| dir.join(name));
        let Some(save) = saves.iter().find_map(|path| Save::open(path, &Options::default()).ok()) else { continue };
        let options = repair::Options::default;
        let Ok(both) = repair::expected_totals(&save, &options()) else { continue };
        let plans = [false, true].map(|likely| repair::plan(&save, &options().likely(likely)).unwrap());
        let [certain, likely] = plans.map(|plan| serde_json::to_value(repair::totals(&save, &plan)).unwrap());
        let mut expect = |right: bool, what: String| assert!(right, "{case}: {what}");
        levels_agree(&serde_json::to_value(both).unwrap(), [&certain, &likely], &mut expect);
        compared += 1;
    }
    assert!(compared > 3, "{compared}");
}

#[test]
fn a_verdict_ends_with_a_step_also_where_a_repair_mends_nothing() {
    let demo = Demo::new();
    for (sample, step) in [
        ("block-file-name", "If the file is a block of the save, move it to `blocks/lodN`"),
        ("pak-place", "Run `voxscope info "),
        ("region-refused", "Run `voxscope convert "),
        ("slots-mixed", "Compare `voxscope ls "),
        ("conversion-left", "/conversion-left/world_old "),
        ("slots-old", "Before a current engine opens the save, run `voxscope convert "),
        ("instances-twice", "Run `voxscope show "),
        ("link-skipped", "If the link is intended, run `cp -rL "),
        ("map-field", "Run `voxscope info "),
        ("pak-shape", "If you know the shape, run `voxscope check "),
    ] {
        let text = run(&["check", &demo.path(&format!("damaged/{sample}"))]).out;
        let verdict = text.rsplit("\n\n").next().unwrap();
        assert!(joined(verdict).contains(step), "{sample}: {text}");
    }
}

#[test]
fn the_summary_has_the_sentences_of_the_text_and_a_command_that_repairs() {
    let demo = Demo::new();
    for (sample, has_command) in [("crash-wrong-places", true), ("slots-old", false), ("pak-misplaced", true)] {
        let path = demo.path(&format!("damaged/{sample}"));
        let text = joined(&run(&["check", &path]).out);
        let json: Json = serde_json::from_str(&run(&["check", "--format=json", &path]).out).unwrap();
        let lines = run(&["check", "--format=jsonl", &path]).out;
        let last: Json = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
        let summary = &json["summary"];
        assert_eq!(*summary, last);
        let verdict: Vec<&str> = summary["verdict"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
        assert!(!verdict.is_empty(), "{summary}");
        assert!(text.contains(&joined(&verdict.join(" "))), "{verdict:?} is not in {text}");
        assert_eq!(summary["command"].is_string(), has_command, "{summary}");
        let Some(command) = summary["command"].as_str() else { continue };
        assert!(verdict.iter().any(|sentence| sentence.starts_with(command)), "{verdict:?} and {command}");
        let arguments: Vec<&str> = command.split(' ').skip(1).collect();
        assert!(matches!(run(&arguments).code, Some(0..=7)), "{command}");
    }
    let clean: Json =
        serde_json::from_str(&run(&["check", "--format=json", &demo.path("healthy/current")]).out).unwrap();
    assert_eq!((&clean["summary"]["verdict"], &clean["summary"]["command"]), (&serde_json::json!([]), &Json::Null));
}

#[test]
fn every_damaged_sample_has_a_step_in_its_verdict() {
    let demo = Demo::new();
    let samples: Vec<&demo::Sample> = demo::samples().filter(|sample| sample.path().starts_with("damaged/")).collect();
    assert!(samples.len() > 150, "{}", samples.len());
    let without: Vec<String> = sampled(samples, 4)
        .par_iter()
        .filter_map(|sample| {
            let path = sample.path().display().to_string();
            let checked = run(&["check", &demo.path(&path)]);
            let verdict = checked.out.rsplit("\n\n").next().unwrap_or_default();
            // The first line counts, and the last one names options of the check.
            let lines: Vec<&str> =
                verdict.lines().skip(1).filter(|line| !line.contains("voxscope explain CODE")).collect();
            let says = joined(&lines.join("\n"));
            let has_step = ["voxscope ", "Copy ", "copy ", "Move ", "move ", "backup", "--block-size N"];
            (checked.code != Some(0) && !has_step.iter().any(|step| says.contains(step)))
                .then(|| format!("{path}: {verdict}"))
        })
        .collect();
    assert!(without.is_empty(), "{}", without.join("\n"));
}

#[test]
fn a_plan_counts_the_missing_files_of_the_tables_that_it_writes() {
    let dir = tempdir().unwrap();
    let save = dir.path().join("world");
    let lods = vec![
        demo::Extent { from: [0, 0, 0], to: [8, 8, 8] },
        demo::Extent { from: [0, 0, 0], to: [4, 4, 4] },
        demo::Extent { from: [0, 0, 0], to: [2, 2, 2] },
    ];
    let spec = demo::ForestSpec { region_size_po2: 2, lods, ..demo::ForestSpec::default() };
    demo::write_forest(&save, &spec, None).unwrap();
    let file = save.join("regions/lod2/r.0.0.0.vxr");
    let mut bytes = fs::read(&file).unwrap();
    // The header says that a palette follows, so the table is read elsewhere.
    bytes[19] = 0xff;
    fs::write(&file, bytes).unwrap();
    let (from, to) = (save.to_str().unwrap(), dir.path().join("new"));
    let (plan, done) = (run(&["repair", from, "--plan"]), run(&["repair", from, "--out", to.to_str().unwrap()]));
    assert_eq!(plan.code, done.code, "{}{}", plan.out, done.out);
    assert_eq!(plan.code, Some(1), "{}", plan.out);
    assert!(!plan.out.contains("does not mend"), "{}", plan.out);
}

#[test]
fn check_plan_and_repair_agree_in_figures_and_exit_codes() {
    let demo = Demo::new();
    let samples: Vec<demo::Sample> = sampled(demo::samples().copied(), 4);
    let wrong: Vec<String> = samples.par_iter().flat_map(|sample| judge(&demo, sample)).collect();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_log_beside_a_database_is_named_before_anything_else() {
    let demo = Demo::new();
    let run = run(&["check", &demo.path("damaged/stream-wal")]);
    assert_eq!(run.code, Some(0), "{}", run.out);
    let said = joined(&run.out);
    let close = said.find("Close the game and every editor").expect("what to do first");
    let cause = said.find("A program has the save open, or the game was killed").expect("the cause");
    let command = said.find("voxscope repair ").expect("the command");
    assert!(close < cause && cause < command, "{said}");
    assert!(said.contains(" mends 1 file and keeps all 8 blocks"), "{said}");
}

#[test]
fn the_copy_of_one_region_file_is_not_called_that_of_the_save() {
    let demo = Demo::new();
    let file = demo.path("damaged/crash-grown/regions/lod0/r.0.0.0.vxr");
    let said = joined(&run(&["check", &file]).out);
    assert!(said.contains("crash-grown-r.0.0.0-repaired puts 2 right for certain"), "{said}");
    let out = tempdir().unwrap();
    let done = run(&["repair", &file, "--out", out.path().join("new").to_str().unwrap()]);
    assert_eq!(done.code, Some(1), "{}", done.out);
    let said = joined(&done.out);
    assert!(said.contains("a copy of this region file alone") && !said.contains("where the save was"), "{said}");
}

#[test]
fn no_repair_is_advised_where_no_block_is_left() {
    let demo = Demo::new();
    // Advice about a finding may name a repair; the verdict does not.
    let recommends = |out: &str| out.lines().any(|line| line.starts_with("voxscope repair"));
    for sample in ["damaged/stream-empty", "damaged/pak-header-cut"] {
        let out = run(&["check", &demo.path(sample)]).out;
        let said = joined(&out);
        assert!(said.contains("There is no block left that a repair could write. Look for a backup"), "{said}");
        assert!(!recommends(&out), "{said}");
    }
    // Blocks whose layout nobody knows are not lost.
    let out = run(&["check", &demo.path("damaged/region-format-unknown")]).out;
    let said = joined(&out);
    assert!(said.contains("2 files have blocks whose layout is not known"), "{said}");
    assert!(!said.contains("no block left") && !recommends(&out), "{said}");
}

#[test]
fn a_torn_block_is_not_blamed_on_the_game() {
    // What tore it is said by the verdict, which has more to go by.
    let demo = Demo::new();
    for sample in ["damaged/power-loss", "damaged/container-corrupt"] {
        let said = output_of_damaged(&demo.path(sample));
        assert!(said.contains("block is torn: only a part of its bytes is its own"), "{said}");
    }
}

#[test]
fn a_conversion_counts_the_readable_blocks_in_wrong_places_that_check_reports() {
    let demo = Demo::new();
    for sample in ["crash-shrunk", "crash-doubled", "crash-moving"] {
        let path = demo.path(&format!("damaged/{sample}"));
        let checked: Json = serde_json::from_str(&run(&["check", "--format=json", "--no-plan", &path]).out).unwrap();
        let codes = checked["findings"].as_array().unwrap().iter().map(|finding| &finding["code"]);
        let found = codes.filter(|code| *code == "block-misplaced").count();
        assert!(found > 0, "{checked}");
        let out = tempdir().unwrap();
        let said = run(&["convert", &path, "--out", out.path().join("new").to_str().unwrap()]).err;
        let blocks = if found == 1 { "1 block that".to_owned() } else { format!("{found} blocks that") };
        assert!(said.contains(&format!("{blocks} can be read")), "{sample}: {found}: {said}");
    }
}

fn output_of_damaged(path: &str) -> String {
    let run = run(&["check", path]);
    assert_eq!(run.code, Some(4), "{}", run.out);
    joined(&run.out)
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = output(&["completions", shell]);
        for command in ["check", "repair", "convert", "explain"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    let page = output(&["man"]);
    assert!(page.contains(".TH voxscope") && page.contains("repair"), "{page}");
    assert!(output(&["man", "repair"]).contains("from"), "the page of a command");
}

#[test]
fn formats_have_the_same_names_in_every_command() {
    for command in ["check", "info", "ls", "show", "diff"] {
        let help = output(&[command, "--help"]);
        let at = help.find("--format <FORMAT>").expect("an option");
        let option: String = help[at..].lines().take(12).collect::<Vec<_>>().join(" ");
        for name in ["text", "json", "jsonl"] {
            assert!(option.contains(name), "{command}: {name}: {option}");
        }
        assert!(!option.contains("human"), "{command}: {option}");
    }
}

#[test]
fn commands_in_advice_name_the_save() {
    let demo = Demo::new();
    let save = demo.path("damaged/crash-wrong-places");
    let all = demo.path("damaged");
    for checked in [&save, &all] {
        let out = run(&["check", checked]).out;
        let words: Vec<&str> = out.split_whitespace().collect();
        let command = format!("voxscope repair {save} --out {save}-repaired");
        assert!(words.join(" ").contains(&command), "{command}: {out}");
        assert!(!words.contains(&"SAVE") && !out.contains("repair SAVE"), "{out}");
    }
}

/// Only blocks of regions are torn, and the place of a chunk or a row is its record or its key.
#[test]
fn the_words_for_damaged_blocks_are_those_of_their_format() {
    let demo = Demo::new();
    for (sample, words, wrong) in [
        ("pak-zlib", "1 is damaged", "torn"),
        ("pak-beyond-end", "1 has a wrong record", "torn"),
        ("pak-file-cut", "1 is damaged", "torn"),
        ("pak-file-length", "1 has a wrong record", "in the wrong place"),
        ("pak-name", "3 are in the wrong place", "wrong record"),
        ("block-file-cut", "1 is damaged", "torn"),
        ("block-epilogue", "1 is torn", "damaged."),
        ("crash-wrong-places", "in the wrong place", "wrong record"),
    ] {
        let text = joined(&run(&["check", &demo.path(&format!("damaged/{sample}"))]).out);
        let figures = text.split("of ").find(|part| part.contains("right as")).unwrap_or_default().to_owned();
        assert!(text.contains(words), "{sample}: {text}");
        assert!(!figures.contains(wrong), "{sample}: {figures}");
    }
    #[cfg(feature = "sqlite")]
    {
        let text = joined(&run(&["check", &demo.path("damaged/stream-row-lost")]).out);
        assert!(text.contains("8 have to be written anew"), "{text}");
    }
    #[cfg(feature = "sqlite")]
    for sample in ["stream-blob", "stream-key", "stream-row-lost"] {
        let text = joined(&run(&["check", &demo.path(&format!("damaged/{sample}"))]).out);
        assert!(!text.contains("is torn") && !text.contains("in the wrong place"), "{sample}: {text}");
    }
}

#[test]
fn the_verdict_names_the_next_step_for_a_rig_of_voxedit() {
    let demo = Demo::new();
    let save = demo.path("damaged/region-voxedit");
    let text = joined(&run(&["check", &save]).out);
    let command = format!("voxscope repair {save} --out {save}-repaired --from-backup OLD takes that from a backup");
    let verdict = text.split("foreign-data").last().unwrap();
    assert!(verdict.contains("move it out of the save") && verdict.contains(&command), "{text}");
}

#[test]
fn a_directory_says_of_how_many_saves_the_copy_lacks_most_blocks() {
    let demo = Demo::new();
    let dir = demo.root.join("saves");
    fs::create_dir(&dir).unwrap();
    for sample in ["damaged/table-empty", "damaged/crash-grown", "healthy/current"] {
        fs::rename(demo.path(sample), dir.join(sample.split_once('/').unwrap().1)).unwrap();
    }
    let save = dir.to_str().unwrap();
    let checked = joined(&run(&["check", save]).out);
    assert!(checked.contains("Of 1 save most blocks would be missing"), "{checked}");
    for arguments in
        [&["repair", save, "--plan"][..], &["repair", save, "--out", demo.root.join("copy").to_str().unwrap()]]
    {
        let said = joined(&run(arguments).out);
        assert!(said.contains("most blocks: leave that one where it is"), "{said}");
        assert!(
            said.ends_with("Move the copies of the others to where the saves were, and keep the originals."),
            "{said}"
        );
    }
}

#[test]
fn lost_values_of_a_map_are_in_the_verdict_and_at_the_end_of_a_repair() {
    let demo = Demo::new();
    let save = demo.path("damaged/npy-truncated");
    let json: Json = serde_json::from_str(&run(&["check", &save, "--format=json"]).out).unwrap();
    let lost = json["summary"]["totals"]["values_lost"].as_u64().unwrap();
    assert!(lost > 1000, "{json}");
    let lost = voxscope::printable::count(lost, "value");
    let text = joined(&run(&["check", &save]).out);
    assert!(text.contains(&format!("{lost} of voxel maps are lost and become 0")), "{text}");
    let plan = run(&["repair", &save, "--plan"]);
    assert!(joined(&plan.out).contains(&format!("{lost} of voxel maps are lost")), "{}", plan.out);
    assert_eq!(plan.code, Some(5));
}

#[test]
fn a_copy_that_lacks_most_blocks_is_not_to_take_the_place_of_the_save() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    // Of an empty table, no position is lost, and most whole blocks are in lost+found only.
    for sample in ["findings-cut", "table-garbage", "table-empty"] {
        let copy = dir.path().join(sample);
        let repaired = run(&["repair", &demo.path(&format!("damaged/{sample}")), "--out", copy.to_str().unwrap()]);
        let text = joined(&repaired.out);
        assert!(text.contains("The copy lacks most blocks of the save. Leave the save where it is"), "{text}");
        assert!(!text.contains("Move the copy") && !text.contains("0 of 0"), "{text}");
    }
}

#[test]
fn findings_of_an_interrupted_migration_promise_no_less_than_the_plan_keeps() {
    let demo = Demo::new();
    let save = demo.path("damaged/crash-migration");
    let checked = joined(&run(&["check", &save]).out);
    assert!(checked.contains("keeps all 12 blocks. The findings about blocks"), "{checked}");
    assert!(checked.contains("so no block goes to lost+found."), "{checked}");
    let plan = joined(&run(&["repair", &save, "--plan"]).out);
    assert!(plan.contains("12 blocks: 12 kept unchanged") && !plan.contains("lost+found"), "{plan}");
}

#[test]
fn lost_depths_of_a_layer_are_in_the_verdict_and_at_the_end_of_a_repair() {
    let demo = Demo::new();
    let save = demo.path("healthy/map-sparse");
    fs::write(std::path::Path::new(&save).join("Lake_Global_depth.npy"), b"nothing of an array").unwrap();
    let text = joined(&run(&["check", &save]).out);
    assert!(text.contains("the depths of 1 layer are lost"), "{text}");
    let plan = joined(&run(&["repair", &save, "--plan"]).out);
    assert!(plan.contains("1 layer of voxel maps has no depths in the copy."), "{plan}");
    let json: Json = serde_json::from_str(&run(&["check", &save, "--format=json"]).out).unwrap();
    let totals = &json["summary"]["totals"];
    assert_eq!((&totals["depths_lost"], &totals["layers_lost"]), (&1.into(), &0.into()), "{totals}");
}
