//! The list of findings.

use std::sync::Arc;

use voxscope::check::Finding;
use voxscope::damage::{Code, Level};
use voxscope::tui::Driver;
use voxscope::tui::pane::Pane;

use super::{on, row_with};

fn selected(driver: &Driver) -> Code {
    driver.app.findings.list[driver.app.selection.finding.unwrap()].code()
}

#[test]
fn a_newcomer_finds_the_damaged_block_at_once() {
    for (columns, rows) in [(80, 24), (120, 40), (40, 10)] {
        // By the list: the first screen says that there is something, and Enter on the finding leads to it.
        let (mut driver, _dir) = on("block-epilogue", columns, rows);
        assert!(driver.text_screen().lines().next().unwrap().contains('✗'), "{}", driver.text_screen());
        driver.keys("7 right");
        assert!(driver.text_screen().contains("✗ block") || driver.text_screen().contains("✗ error"));
        driver.keys("enter");
        assert_eq!(driver.app.pane, Pane::Hex);
        assert!(driver.app.selected_slot().is_some());
        // By the key that is offered.
        let (mut driver, _dir) = on("block-epilogue", columns, rows);
        driver.keys("n");
        assert_eq!(driver.app.pane, Pane::Sectors);
        assert!(driver.app.selected_slot().is_some());
        assert_eq!(selected(&driver), Code::BlockEpilogue);
    }
}

#[test]
fn findings_stand_below_their_files_the_worst_first() {
    let dir = super::samples(&["stale-tail", "block-epilogue", "table-gap"]);
    let mut driver = super::sized(dir.path(), 100, 40);
    driver.keys("7");
    let screen = driver.text_screen();
    let line =
        |text: &str| screen.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{text}: {screen}"));
    // First those of which it is known what happened.
    let files = [
        "▾ block-epilogue: ",
        " block-epilogue/regions/lod0/r.0.0.0.vxr",
        "▾ table-gap: The game was killed",
        " table-gap/regions/lod0/r.0.0.0.vxr",
        "▾ stale-tail: other findings",
        " stale-tail/regions",
    ];
    assert!(files.windows(2).all(|pair| line(pair[0]) < line(pair[1])), "{screen}");
    // All of them, forth and back, in the order in which they are shown.
    let all = driver.app.findings.list.len();
    let mut forth = Vec::new();
    for _ in 0..all {
        driver.keys("n");
        forth.push(driver.app.selection.finding.unwrap());
    }
    let mut sorted = forth.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..all).collect::<Vec<_>>());
    driver.keys("n");
    assert_eq!(driver.app.selection.finding, Some(forth[0]), "and around");
    driver.keys("N");
    assert_eq!(driver.app.selection.finding, forth.last().copied());
    driver.keys("7 home");
    let mut down = Vec::new();
    // Two more headings are between them.
    for _ in 0..all + 2 {
        driver.keys("down");
        down.push(driver.app.selection.finding.unwrap());
    }
    down.dedup();
    assert_eq!(down, forth);
    // From the heading to its first finding, to the next heading, to its first finding.
    driver.keys("home right right right");
    assert_ne!(
        driver.app.findings.list[driver.app.selection.finding.unwrap()].file,
        driver.app.findings.list[down[0]].file
    );
    // Back to that heading, and to the finding before it.
    driver.keys("left up");
    assert!(driver.app.findings.list[driver.app.selection.finding.unwrap()].file.starts_with("block-epilogue"));
}

#[test]
fn a_line_says_once_what_is_wrong_and_in_full_where_there_is_room() {
    let mut driver = super::sized(&crate::repair::crash("crash_terrain/t1"), 200, 60);
    driver.keys("7");
    let pane = crate::pane_text(&driver);
    let row = pane.lines().find(|line| line.contains("block (-1, -1, 1)")).unwrap();
    assert!(row.contains("size prefix runs past the block's sectors (") && row.contains(" fit)"), "{row}");
    assert_eq!(row.matches("size prefix").count(), 1, "{row}");
}

#[test]
fn words_levels_and_codes_filter() {
    let (mut driver, _dir) = on("table-gap", 120, 40);
    let all = driver.app.findings.list.len();
    assert!(all > 1);
    for (text, code) in
        [("error", Code::TableGap), ("block-orphan", Code::BlockOrphan), ("ENTRY points", Code::BlockOrphan)]
    {
        driver.keys("7 /");
        driver.text(text);
        driver.keys("enter home");
        assert!(driver.text_screen().contains(&format!(" of {all} findings")), "{text}: {}", driver.text_screen());
        assert_eq!(selected(&driver), code, "{text}");
        driver.keys("7 esc");
    }
    driver.keys("/");
    driver.text("nothing-like-this");
    driver.keys("enter");
    assert!(row_with(&driver, "No finding fits").contains("nothing-like-this"));
    driver.keys("n");
    assert!(driver.text_screen().contains("No finding fits"));
    driver.keys("7 esc");
    assert!(driver.text_screen().contains(&format!("{all} findings in")), "{}", driver.text_screen());
}

#[test]
fn a_place_is_shown_by_the_pane_that_tells_most() {
    for (name, pane) in [
        ("table-overlap", Pane::Sectors),
        ("region-not-region", Pane::Hex),
        ("container-corrupt", Pane::Hex),
        ("pak-overlap", Pane::Sectors),
    ] {
        let (mut driver, _dir) = on(name, 120, 40);
        driver.keys("n 7 enter");
        assert_eq!(driver.app.pane, pane, "{name}\n{}", driver.text_screen());
        assert!(driver.app.selected_item().is_some(), "{name}");
        driver.keys("backspace");
        assert_eq!(driver.app.pane, Pane::Findings, "and back");
    }
}

#[test]
fn a_healthy_save_is_said_to_be_one() {
    let (mut driver, _dir) = on("pak-room", 80, 24);
    assert!(driver.text_screen().lines().next().unwrap().contains("nothing wrong"), "{}", driver.text_screen());
    driver.keys("7");
    let screen = driver.text_screen();
    assert!(screen.contains("Nothing is wrong.") && screen.contains("Checked: 4 files"), "{screen}");
    // A note is nothing wrong either.
    let (driver, _dir) = on("current", 80, 24);
    assert!(driver.text_screen().contains("nothing wrong"), "{}", driver.text_screen());
}

#[test]
fn a_save_that_something_happened_to_is_not_called_one_with_nothing_wrong() {
    // Both have notes only: the file ends with other blocks, or a write-ahead log is beside the database.
    for name in ["block-unlisted", "stream-wal"] {
        let (mut driver, _dir) = on(name, 80, 24);
        driver.keys("7");
        let counts = driver.app.findings.counts;
        assert_eq!((counts.errors, counts.warnings), (0, 0), "{name}");
        assert!(!driver.app.findings.verdict.causes.is_empty(), "{name}");
        let screen = driver.text_screen();
        assert!(screen.lines().next().unwrap().contains("no errors or warnings"), "{screen}");
        assert!(!screen.contains("nothing wrong"), "{screen}");
    }
}

/// What happened is what a user needs first: its heading is under the cursor, with all that is known of it below.
#[test]
fn the_only_cause_is_shown_in_full_and_folds_by_the_keyboard() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let mut driver = super::sized(&super::repair::crash("crash_terrain/t1"), columns, rows);
        driver.keys("7");
        let shows_all = |driver: &Driver| {
            let pane = super::pane_text(driver);
            ["Evidence: ", "Lost: the block", "What can come back: "].iter().all(|text| pane.contains(text))
        };
        assert!(shows_all(&driver), "{}", driver.text_screen());
        assert!(row_with(&driver, "▾ The game was killed").contains('✗'), "{}", driver.text_screen());
        let pane = |driver: &Driver| super::pane_text(driver);
        for (key, open) in [("enter", false), ("enter", true), ("left", false), ("right", true)] {
            driver.keys(key);
            let sign = if open { "▾ The game" } else { "▸ The game" };
            assert!(pane(&driver).contains(sign) && shows_all(&driver), "{key}: {}", driver.text_screen());
            assert_eq!(driver.app.pane, Pane::Findings);
        }
        // From the heading to its findings, and back.
        driver.keys("down");
        assert!(!shows_all(&driver), "{}", driver.text_screen());
        driver.keys("up");
        assert!(shows_all(&driver), "{}", driver.text_screen());
        driver.keys("right left");
        assert!(shows_all(&driver), "{}", driver.text_screen());
    }
}

/// The same cause of several saves is told apart by their names.
#[test]
fn causes_of_several_saves_are_grouped_by_save() {
    let dir = super::samples(&["block-epilogue", "container-corrupt", "channel-cut"]);
    let mut driver = super::sized(dir.path(), 100, 40);
    driver.keys("7");
    let pane = super::pane_text(&driver);
    let headings: Vec<&str> = pane.lines().filter_map(|line| line.trim_start().strip_prefix(['▾', '▸'])).collect();
    assert!(headings.len() >= 3, "{pane}");
    let names: Vec<&str> = headings.iter().map(|line| line.trim().split(": ").next().unwrap()).collect();
    let mut saves = names.clone();
    saves.dedup();
    assert_eq!(saves, ["block-epilogue", "channel-cut", "container-corrupt"], "{pane}");
}

/// A verdict of one sentence has the rows that a cause does not need.
#[test]
fn a_verdict_of_one_sentence_is_not_cut() {
    let (mut driver, _dir) = on("map-dtype", 100, 24);
    driver.keys("1");
    let words = driver.text_screen().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the depths of 1 layer are lost."), "{words}");
}

/// A finding about the directory of a save is one of that save.
#[test]
fn a_save_from_before_a_conversion_is_in_the_verdict() {
    let (mut driver, _dir) = on("conversion-left", 120, 40);
    driver.keys("7");
    let screen = driver.text_screen();
    assert!(screen.contains("voxscope diff "), "{screen}");
}

#[test]
fn findings_are_written_to_a_new_file() {
    let (mut driver, _dir) = on("table-gap", 120, 40);
    driver.keys("7");
    let out = tempfile::tempdir().unwrap();
    let all = driver.app.findings.list.len();
    for (name, lines) in [("findings.csv", all + 1), ("findings.jsonl", all)] {
        let path = out.path().join(name);
        driver.keys("w");
        driver.text(path.to_str().unwrap());
        driver.keys("enter");
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), lines, "{text}");
        assert!(text.contains("table-gap") && text.contains("block-orphan"), "{text}");
        driver.keys("w");
        driver.text(path.to_str().unwrap());
        driver.keys("enter");
        assert!(driver.app.message.as_ref().unwrap().contains("there already"), "{:?}", driver.app.message);
    }
}

#[test]
fn no_size_is_too_small() {
    for name in ["block-epilogue", "pak-overlap", "map-dense", "region-not-region"] {
        for (columns, rows) in [(1, 1), (2, 5), (3, 3), (8, 4), (12, 6), (40, 10), (61, 8), (80, 24)] {
            let (mut driver, _dir) = on(name, columns, rows);
            for keys in
                ["7 down up enter", "1 end home + - down right enter", "2 s s S end up enter", "n n N 7 pagedown"]
            {
                driver.keys(keys);
                assert!(!driver.text_screen().is_empty());
            }
            driver.keys("tab home esc 3 right down enter 2 end enter 3 pagedown pageup");
            assert!(!driver.text_screen().is_empty());
        }
    }
}

#[test]
fn the_first_of_many_findings_is_selected_and_shown_in_full() {
    let mut driver = super::driver(&super::repair::crash("crash_terrain/t1"));
    driver.keys("7");
    assert!(driver.text_screen().contains("▾ The game was killed"), "{}", driver.text_screen());
    let finding = driver.app.findings.list[driver.app.selection.finding.unwrap()].clone();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&super::inspector_text(&driver)).contains(&words(&finding.message())), "{}", driver.text_screen());
}

/// The panes show a block meanwhile; the inspector does not say that the finding is about it.
#[test]
fn a_finding_about_a_file_is_not_shown_as_one_of_a_block() {
    for (name, code) in [("block-file-name", Code::BlockFileName), ("stream-cut", Code::StreamCut)] {
        let (mut driver, _dir) = on(name, 120, 40);
        for _ in 0..driver.app.findings.list.len() {
            driver.keys("n");
            if selected(&driver) == code {
                break;
            }
        }
        assert_eq!(selected(&driver), code);
        let screen = driver.text_screen();
        assert!(!screen.contains(" Block (") && !screen.contains(" Block 0"), "{name}: {screen}");
    }
}

/// What has a cause, even one that no rule names, does not appear beside it.
#[test]
fn findings_of_damaged_samples_are_below_their_causes() {
    let mut wrong = Vec::new();
    for sample in voxscope::demo::samples().filter(|sample| !sample.healthy) {
        let dir = tempfile::tempdir().unwrap();
        (sample.make)(dir.path()).unwrap();
        let mut driver = super::sized(dir.path(), 120, 60);
        driver.keys("7");
        let findings = &driver.app.findings;
        let causes = &findings.verdict.causes;
        if causes.is_empty() {
            continue;
        }
        let has_cause = |finding: &Finding| causes.iter().any(|cause| cause.explains(&finding.file, finding.code()));
        for finding in findings.list.iter().filter(|finding| finding.level() > Level::Note && !has_cause(finding)) {
            let is_placed = finding.block.is_some_and(|block| block.position.is_some());
            let of_block = |other: &Arc<Finding>| other.file == finding.file && other.block == finding.block;
            if !is_placed || !findings.list.iter().any(|other| of_block(other) && has_cause(other)) {
                let kinds: Vec<_> = causes.iter().map(|cause| cause.kind).collect();
                wrong.push(format!("{}: {} beside {kinds:?}", sample.name, finding.code()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn findings_that_are_not_listed_are_counted_as_the_check_counts_them() {
    let (mut driver, dir) = on("findings-cut", 120, 40);
    let save = voxscope::save::Save::open(dir.path(), &voxscope::save::Options::default()).unwrap();
    let options = voxscope::check::Options::default().level(voxscope::check::Level::Semantic);
    let checked = voxscope::check::run(&save, &options, |_| {}).counts;
    assert!(checked.errors > save.options.limits.findings_per_file as u64, "{checked:?}");
    let counts = driver.app.findings.counts;
    assert_eq!((counts.errors, counts.warnings, counts.notes), (checked.errors, checked.warnings, checked.notes));
    assert_eq!(u64::from(driver.app.findings.tally(0).errors), checked.errors);
    // The line above all panes, and in the pane the summary, the cause and the file.
    driver.keys("7");
    let errors = voxscope::printable::grouped(checked.errors);
    let all = voxscope::printable::grouped(checked.errors + checked.warnings + checked.notes);
    let screen = driver.text_screen();
    assert!(screen.lines().next().unwrap().contains(&format!("{errors} errors")), "{screen}");
    assert!(screen.contains(&format!("{all} findings in 1 file")), "{screen}");
    assert!(row_with(&driver, "regions/lod0/r.0.0.0.vxr  ✗").contains(&format!("✗ {errors}")), "{screen}");
}

#[test]
fn a_cause_explains_no_finding_of_a_save_with_a_longer_name() {
    let dir = super::samples(&["block-epilogue", "block-epilogue-missing"]);
    let mut driver = super::sized(dir.path(), 200, 40);
    driver.keys("7");
    for name in ["block-epilogue: ", "block-epilogue-missing: "] {
        let heading = row_with(&driver, name);
        assert!(heading.contains("✗ 2"), "{heading}");
    }
}

#[test]
fn a_finding_of_a_description_is_titled_by_its_file() {
    let (mut driver, _dir) = on("map-layer-name", 120, 40);
    driver.keys("7");
    assert_eq!(selected(&driver), Code::MapLayerName);
    let title = super::inspector_text(&driver);
    assert!(driver.text_screen().contains("map_data.json ─"), "{}", driver.text_screen());
    assert!(!driver.text_screen().contains("Sector 0"), "{title}");
    driver.keys("enter");
    assert!(!super::pane_text(&driver).contains("sector 0"), "{}", super::pane_text(&driver));
}

#[test]
fn a_cause_is_explained_and_its_findings_are_counted() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let mut driver = super::sized(&super::repair::crash("crash_terrain/t1"), columns, rows);
        driver.keys("7 home");
        let screen = driver.text_screen();
        assert!(screen.contains("killed-while-saving") && screen.contains("Enter folds its findings"), "{screen}");
        driver.keys("e");
        let screen = driver.text_screen();
        assert!(screen.contains("cause: killed-while-saving") && screen.contains("What can come back"), "{screen}");
    }
}

#[test]
fn the_verdict_of_a_save_that_a_repair_does_not_mend_says_what_to_do() {
    for (sample, step) in [("instances-twice", "voxscope show "), ("map-field", "voxscope info ")] {
        let (driver, _dir) = on(sample, 120, 40);
        let screen = driver.text_screen();
        assert!(screen.contains(step), "{sample}: {screen}");
    }
}

#[test]
fn an_explanation_leaves_the_verdict_visible() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let (mut driver, _dir) = on("crash-wrong-places", columns, rows);
        driver.keys("7");
        let verdict = "The game was killed while it saved";
        assert!(driver.text_screen().lines().rev().take(6).any(|line| line.contains(verdict)));
        driver.keys("e");
        let screen = driver.text_screen();
        assert!(screen.lines().rev().take(6).any(|line| line.contains(verdict)), "{screen}");
        assert!(screen.lines().last().unwrap().contains("esc"), "{screen}");
    }
}

#[test]
fn the_verdict_names_the_options_that_fit_where_there_is_little_room() {
    let dir = super::sample("old-2020");
    let path = dir.path().join("meta.vxrm");
    let mut meta: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    meta["region_size_po2"] = 3.into();
    std::fs::write(&path, meta.to_string()).unwrap();
    for pane in ["1", "7"] {
        let mut driver = super::sized(dir.path(), 80, 24);
        driver.keys(pane);
        let screen = driver.text_screen();
        let end: Vec<&str> = screen.lines().skip(18).flat_map(str::split_whitespace).collect();
        let options =
            "or give `--block-size 16 --region-size 4 --sector-size 512 --depths 8,8,8,8,8,8,8,8` to every command.";
        assert!(end.join(" ").contains(options), "{screen}");
    }
}
