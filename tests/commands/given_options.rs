//! Printed commands repeat the options that were given, so that they do what is promised when they are run as they are.

use std::fs;

use serde_json::Value as Json;

use crate::{Demo, Run, joined, run};

/// The last command that repairs in a text without line breaks, as arguments: that of the verdict.
fn repair_command(text: &str) -> Vec<&str> {
    let from = text.rfind("voxscope repair ").unwrap_or_else(|| panic!("no command in {text}"));
    let does = [" keeps ", " mends ", " puts ", " salvages "];
    let end = does.iter().filter_map(|word| text[from..].find(word)).min().unwrap();
    text[from..from + end].split(' ').skip(1).collect()
}

fn with<'a>(command: &[&'a str], options: &[&'a str]) -> Vec<&'a str> {
    [command, options].concat()
}

/// What to do about each finding of `check`.
fn advice(checked: &Run) -> Vec<String> {
    let checked: Json = serde_json::from_str(&checked.out).unwrap();
    let findings = checked["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["next"].as_str().unwrap().to_owned()).collect()
}

/// A forest of region files of version 2 without its meta file and with a block that does not decode.
fn old_forest() -> (Demo, String) {
    let demo = Demo::new();
    let save = demo.path("healthy/old-2020");
    fs::remove_file(demo.path("healthy/old-2020/meta.vxrm")).unwrap();
    let file = demo.path("healthy/old-2020/regions/lod0/r.0.0.0.vxr");
    let mut bytes = fs::read(&file).unwrap();
    let last = bytes.len() - 512;
    bytes[last..last + 64].iter_mut().for_each(|byte| *byte ^= 0x55);
    fs::write(&file, bytes).unwrap();
    (demo, save)
}

const LAYOUT: [&str; 8] =
    ["--block-size", "16", "--region-size", "4", "--sector-size", "512", "--depths", "8,8,8,8,8,8,8,16"];

#[test]
fn the_verdict_of_a_check_with_a_layout_has_a_command_with_it() {
    let (_demo, save) = old_forest();
    let layout = [&LAYOUT[..7], &["8,8,8,8,8,8,8,8"]].concat();
    let checked = run(&with(&["check", &save], &layout));
    let text = joined(&checked.out);
    let repair = repair_command(&text);
    let repaired = run(&repair);
    assert_eq!(repaired.code, Some(5), "{repair:?}: {}", repaired.out);
    assert!(repaired.out.contains("kept unchanged"), "{}", repaired.out);
}

#[test]
fn advice_in_every_format_repeats_the_layout() {
    let (_demo, save) = old_forest();
    let checked = run(&with(&["check", &save, "--format=json"], &LAYOUT));
    let commands = |text: &str| -> Vec<String> {
        let all = text.split('`').skip(1).step_by(2).filter(|part| part.starts_with("voxscope "));
        all.map(str::to_owned).collect()
    };
    let printed: Vec<String> = advice(&checked).iter().flat_map(|text| commands(text)).collect();
    assert!(!printed.is_empty(), "{}", checked.out);
    let layout = LAYOUT.join(" ");
    for command in printed.iter().filter(|command| !command.starts_with("voxscope convert")) {
        assert!(command.contains(&layout), "{command}");
    }
    // The options of a conversion have other names where the plain ones are those of the result.
    for command in printed.iter().filter(|command| command.starts_with("voxscope convert")) {
        assert!(command.contains("--from-block-size 16 --from-region-size 4"), "{command}");
    }
    let shown = run(&with(&["show", &save, "--block", "99,0,0"], &LAYOUT));
    assert!(joined(&shown.err).contains(&format!("lod=0 {layout}` lists")), "{}", shown.err);
}

#[cfg(feature = "sqlite")]
#[test]
fn the_command_for_a_stream_has_its_rule_of_keys() {
    let demo = Demo::new();
    let save = demo.path("healthy/stream-texts");
    let checked = run(&["check", &save, "--key-rule", "old"]);
    let text = joined(&checked.out);
    let repair = repair_command(&text);
    let repaired = run(&repair);
    assert_eq!(repaired.code, Some(1), "{repair:?}: {}", repaired.out);
}

#[test]
fn a_command_that_has_an_option_does_not_get_it_twice() {
    let demo = Demo::new();
    let save = demo.path("healthy/pak-room");
    let given = ["--chunk-shape", "5,5,5", "--voxel-bytes", "1"];
    let checked = run(&with(&["check", &save, "--format=json"], &given));
    let next = advice(&checked);
    assert!(next.iter().any(|text| text.contains("--voxel-bytes")), "{next:?}");
    for text in next {
        for command in text.split('`').skip(1).step_by(2).filter(|part| part.starts_with("voxscope ")) {
            for option in ["--chunk-shape", "--voxel-bytes"] {
                assert_eq!(command.matches(option).count(), 1, "{command}");
            }
        }
    }
}

#[test]
fn only_options_that_were_given_are_named_as_wrong() {
    let demo = Demo::new();
    let save = demo.path("healthy/block-files");
    let depths = ["--depths", "8,8,8,8,8,8,8,8"];
    for (given, named) in [(&["--block-size", "8"][..], false), (&[&["--block-size", "8"][..], &depths].concat(), true)]
    {
        let checked = joined(&run(&with(&["check", &save], given)).out);
        assert!(checked.contains("which `--block-size 8` does not fit"), "{checked}");
        assert_eq!(checked.contains("`--depths"), named, "{checked}");
    }
}
