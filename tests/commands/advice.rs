//! The first command of each explanation, run on the sample of its code: it does what the text says.

use std::fs;
use std::path::Path;
use std::process::Command;

use rayon::prelude::*;
use serde_json::Value as Json;
use tempfile::tempdir;
use voxscope::damage::{Code, Level};
use voxscope::demo;

use crate::common::sampled;
use crate::{Demo, Run, lines, run};

/// What a copy has too: the note names the formula of the copy.
const STAYS: [Code; 1] = [Code::SlotsTold];

/// The first command that a text has in backquotes, as arguments.
fn first_command(text: &str) -> Option<Vec<String>> {
    let commands = text.split('`').skip(1).step_by(2).filter_map(|part| part.strip_prefix("voxscope "));
    commands.map(|command| command.split(' ').map(str::to_owned).collect()).next()
}

/// The sample that shows a code: that of its name, otherwise the first one that must have it.
fn sample(code: Code) -> Option<&'static demo::Sample> {
    let with = || demo::samples().filter(|sample| sample.expect.contains(&code));
    with().find(|sample| sample.name == code.name()).or_else(|| with().next())
}

fn found(run: &Run, code: Code) -> usize {
    lines(&run.out).iter().filter(|line| line["code"] == code.name()).count()
}

/// What is wrong with the advice about a code.
fn judge(demo: &Demo, dir: &Path, code: Code) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut expect = |right: bool, what: String| {
        if !right {
            wrong.push(format!("{code}: {what}"));
        }
    };
    let text = code.next();
    let Some(sample) = sample(code) else {
        // Those that a file on disk cannot show.
        expect(matches!(code, Code::FileUnreadable | Code::FileChanged), "no sample".to_owned());
        return wrong;
    };
    let save = demo.path(sample.path().to_str().unwrap());
    let Some(command) = first_command(text) else {
        expect(code.level() == Level::Note, format!("no command: {text}"));
        return wrong;
    };
    let new = dir.join(code.name());
    let new = new.to_str().unwrap();
    let old = match code {
        Code::ConversionLeft => demo.path("damaged/conversion-left/world_old"),
        Code::StreamEmpty => demo.path("healthy/stream"),
        _ => demo.path("damaged/meta-extra"),
    };
    let save = if code == Code::ConversionLeft { format!("{save}/world") } else { save };
    if code == Code::LinkSkipped {
        // The command before it, which is not one of voxscope.
        assert!(text.contains("`cp -rL SAVE NEW`"), "{text}");
        let copied = Command::new("cp").args(["-rL", &save, new]).status().unwrap();
        assert!(copied.success());
    }
    let layout = ["16", "4", "512", "16,16,8,8,8,8,8,8"];
    let mut numbers = layout.iter();
    let arguments: Vec<&str> = command
        .iter()
        .map(|word| match word.as_str() {
            "SAVE" => save.as_str(),
            "NEW" => new,
            "OLD" | "SAVE_old" => old.as_str(),
            "X,Y,Z" if command[0] == "show" => "0,0,0",
            "X,Y,Z" => "16,16,16",
            "BITS" | "N" if command.contains(&"--voxel-bytes".to_owned()) => "1",
            "BITS" | "N" => numbers.next().unwrap(),
            word => word,
        })
        .collect();
    let done = run(&arguments);
    let said = format!("{arguments:?} exits with {:?}: {}{}", done.code, done.out, done.err);
    let exit = done.code.unwrap_or(255);
    expect(exit & 16 == 0, format!("wrong usage: {said}"));
    // A repair reports what is no file of the save, and leaves it out, as the text says.
    let unread = matches!(code, Code::NotAFile | Code::LinkSkipped | Code::StreamJournalUnusable);
    expect(exit & 8 == 0 || unread, format!("fails: {said}"));
    if arguments[0] == "repair" || arguments[0] == "convert" {
        let lost = new.to_owned() + "/lost+found";
        expect(Path::new(new).exists(), format!("no copy: {said}"));
        let checked = run(&["check", "--format=jsonl", new]);
        expect(matches!(checked.code, Some(0 | 4)), format!("check of the copy: {:?} {}", checked.code, checked.err));
        let left = found(&checked, code);
        expect(left == 0 || STAYS.contains(&code), format!("still there {left} times: {said}"));
        if arguments[0] == "repair" {
            expect(exit & 1 == 1, format!("nothing repaired: {said}"));
            let report: Json = serde_json::from_slice(&fs::read(format!("{new}/repair.json")).unwrap()).unwrap();
            let totals = &report["totals"];
            let whole = [
                "Nothing is lost",
                "keeps every block",
                "keeps every chunk",
                "no block is lost",
                "every row.",
                "as it was.",
            ];
            if whole.iter().any(|words| text.contains(words)) {
                expect(totals["lost"] == 0 && totals["salvaged"] == 0, format!("{totals}: {said}"));
            }
            let kept = [
                "keeps the old bytes in lost+found",
                "keeps its bytes in lost+found. Add",
                "puts the stored bytes into lost+found",
            ];
            let leaves_out = text.contains("it leaves the block out and keeps its bytes in lost+found");
            if kept.iter().any(|words| text.contains(words)) || leaves_out {
                expect(Path::new(&lost).is_dir(), format!("no lost+found: {said}"));
            }
            if text.contains("takes the whole file from the backup")
                || text.contains("it takes the file from the backup")
            {
                let older = totals["older"].as_u64().unwrap_or(0);
                expect(older > 0 && totals["lost"] == 0, format!("{totals}: {said}"));
            }
        } else {
            expect(exit == 0, said);
        }
    } else {
        // 8 for what is not read, such as a link.
        expect([0, 1, 4, 12].contains(&exit) && !done.out.is_empty(), said);
    }
    wrong
}

#[test]
fn the_first_command_of_each_explanation_does_what_the_text_says() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let wrong: Vec<String> =
        sampled(Code::ALL.iter().copied(), 2).par_iter().flat_map(|code| judge(&demo, dir.path(), *code)).collect();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// The path of the save is in the commands of every form of output, quoted for a shell.
#[test]
fn show_and_json_name_the_save_in_their_advice() {
    let dir = tempdir().unwrap();
    let save = dir.path().join("it's a SAVE & more");
    let sample = demo::samples().find(|sample| sample.name == "block-epilogue").unwrap();
    (sample.make)(&save).unwrap();
    let path = save.to_str().unwrap();
    let quoted = format!("'{}'", path.replace('\'', r"'\''"));
    let wanted = format!("voxscope repair {quoted} --out '");
    for arguments in [&["show", path, "--block=1,0,0"][..], &["check", path]] {
        let done = run(arguments);
        assert!(done.out.contains(&wanted) && !done.out.contains("repair SAVE"), "{arguments:?}: {}", done.out);
    }
    for (arguments, list) in
        [(&["show", path, "--block=1,0,0", "--format=jsonl"][..], true), (&["check", path, "--format=jsonl"], false)]
    {
        let all = lines(&run(arguments).out);
        let findings: Vec<&Json> = match list {
            true => all[0]["findings"].as_array().unwrap().iter().collect(),
            false => all.iter().filter(|line| line["type"] == "finding").collect(),
        };
        let is_named = |finding: &&Json| finding["next"].as_str().unwrap().contains(&wanted);
        assert!(findings.iter().any(is_named), "{arguments:?}: {findings:?}");
    }
}
