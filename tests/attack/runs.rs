//! The commands that are run on a mutant, and what must be true of each run.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value as Json;

use crate::limited::{self, Limits, Run};

/// What `check` may need, in KiB.
const CHECK: u64 = 64 << 10;

/// What the other commands may need, in KiB.
const OTHER: u64 = 256 << 10;

/// What the system lets a run have for heap and stacks, in KiB.
const HARD: u64 = 2 * OTHER;

/// A user who is not the superuser.
const NOBODY: u32 = 65_534;

pub struct Attack {
    pub program: PathBuf,
    pub is_superuser: bool,
    /// Seconds of processor time that a run may have.
    pub processor: Option<u64>,
    pub runs: AtomicU64,
}

/// What is there below a directory: the length and time of each file, or what else it is.
type State = BTreeMap<PathBuf, String>;

fn state(dir: &Path, all: &mut State) {
    for entry in fs::read_dir(dir).into_iter().flatten().map(Result::unwrap) {
        let path = entry.path();
        let meta = fs::symlink_metadata(&path).unwrap();
        let what =
            format!("{:?} {} {:?} {:?}", meta.file_type(), meta.len(), meta.permissions(), meta.modified().unwrap());
        if meta.is_dir() {
            state(&path, all);
        }
        all.insert(path, what);
    }
}

fn head(text: &str) -> String {
    text.chars().take(700).collect::<String>().escape_debug().to_string().replace("\\n", "\n    ")
}

impl Attack {
    /// Runs a command; says what is wrong with the run.
    fn run(&self, arguments: &[&OsStr], wrong: &mut Vec<String>) -> (i32, Run) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let limits = Limits { data: HARD, processor: self.processor };
        let mut command = limited::command(self.program.as_os_str(), arguments, limits);
        if self.is_superuser {
            command.uid(NOBODY).gid(NOBODY);
        }
        let run = limited::run(command);
        let is_check = arguments.first() == Some(&OsStr::new("check"));
        let most = if is_check { CHECK } else { OTHER };
        let code = run.status.code().unwrap_or(-1);
        let mut expect = |right: bool, what: &str| {
            if !right {
                let status = run.status;
                wrong.push(format!("{what}: {arguments:?}: {status}, {} KiB\n    {}", run.peak, head(&run.err)));
            }
        };
        expect(run.status.code().is_some(), "ended by the system");
        expect(!run.err.contains("panicked"), "panic");
        expect((0..64).contains(&code), "exit code");
        expect(run.peak < most, "memory");
        let is_plain = |text: &str| text.chars().all(|c| c == '\n' || voxscope::printable::is_plain(c));
        expect(is_plain(&run.out) && is_plain(&run.err), "control characters");
        expect(code & 8 == 0 || !run.err.is_empty() || is_check, "exit code 8 without a word");
        (code, run)
    }

    /// What is wrong with the program on a damaged save; `base` is the save that it was made of.
    pub fn judge(&self, base: &Path, save: &Path, dir: &Path) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut before = State::new();
        state(save, &mut before);
        let out = |name: &str| dir.join(name);
        let o = OsStr::new;
        let wrong_ = &mut wrong;
        let (_, checked) = self.run(&[o("check"), save.as_ref(), o("--format=json"), o("--notes"), o("--all")], wrong_);
        let unread = unread(&checked.out);
        // Commands that read all of a save say that something of it was not read; 16 where they refuse it before they do.
        let reports = |code: i32, run: &Run, what: &str, wrong: &mut Vec<String>| {
            if unread.is_some_and(|n| n > 0) && (code & (8 | 16) == 0 || run.err.is_empty()) {
                wrong.push(format!(
                    "{what} ends with {code}, and does not say what was not read:\n    {}",
                    head(&run.out)
                ));
            }
        };
        self.run(&[o("check"), save.as_ref()], wrong_);
        self.run(&[o("info"), save.as_ref(), o("--format=json")], wrong_);
        self.run(&[o("ls"), save.as_ref(), o("--format=csv")], wrong_);
        self.run(&[o("show"), save.as_ref(), o("--block=0,0,0"), o("--hex")], wrong_);
        self.run(&[o("show"), save.as_ref(), o("--voxel=1,1,1"), o("--format=json")], wrong_);
        self.run(&[save.as_ref()], wrong_);
        for (n, arguments) in [
            &["info"][..],
            &["ls"],
            &["repair", "--plan"],
            &["convert", "--out", "forest"],
            #[cfg(feature = "sqlite")]
            &["convert", "--out", "stream.sqlite"],
            &["export", "--out", "arrays"],
            &["export", "--table", "--out", "table.csv"],
            &["export", "--out", "slice.png", "--slice=y=0"],
            &["export", "--map", "map.png"],
        ]
        .into_iter()
        .enumerate()
        {
            let to = arguments.last().map(|name| out(&format!("{n}-{name}"))).unwrap();
            let mut all: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
            if let Some(at) = arguments.iter().position(|argument| matches!(*argument, "--out" | "--map")) {
                all[at + 1] = to.as_ref();
            }
            all.insert(1, save.as_ref());
            let (code, run) = self.run(&all, wrong_);
            reports(code, &run, &arguments.join(" "), wrong_);
        }
        self.run(&[o("export"), save.as_ref(), o("--lost"), o("--out"), out("lost").as_ref()], wrong_);
        let (code, run) = self.run(&[o("diff"), base.as_ref(), save.as_ref(), o("--format=jsonl")], wrong_);
        if unread.is_some_and(|n| n > 0) && code & (2 | 16) == 0 {
            wrong_.push(format!("diff ends with {code}, and does not say what was not read:\n    {}", head(&run.out)));
        }
        self.repaired(save, &out("copy"), unread, wrong_);
        let mut after = State::new();
        state(save, &mut after);
        if before != after {
            wrong.push("the save was changed".to_owned());
        }
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            if entry.file_name().to_string_lossy().contains(".voxscope-") {
                wrong.push(format!("a draft is left: {:?}", entry.file_name()));
            }
        }
        wrong
    }

    /// Repairs a save, and judges the copy.
    fn repaired(&self, save: &Path, to: &Path, unread: Option<u64>, wrong: &mut Vec<String>) {
        let o = OsStr::new;
        let (code, run) = self.run(&[o("repair"), save.as_ref(), o("--out"), to.as_ref()], wrong);
        if unread.is_some_and(|n| n > 0) && (code & (8 | 16) == 0 || run.out.contains("checked, clean")) {
            wrong.push(format!("repair ends with {code}, and does not say what was not read:\n    {}", head(&run.out)));
        }
        if !to.exists() {
            return;
        }
        let (code, checked) = self.run(&[o("check"), to.as_ref()], wrong);
        if !matches!(code, 0 | 4) {
            wrong.push(format!("check of the copy ends with {code}:\n    {}", head(&(checked.out + &checked.err))));
        }
        let (again, plan) = self.run(&[o("repair"), to.as_ref(), o("--plan")], wrong);
        if again & 1 != 0 || !plan.out.contains("Nothing to repair") {
            let said = head(&format!("{}\nthen {}", run.out, plan.out));
            wrong.push(format!("repair of the copy ends with {again}:\n    {said}"));
        }
        if again & 4 != code & 4 {
            wrong.push(format!("check of the copy ends with {code}, repair --plan with {again}"));
        }
    }
}

/// The number of places that `check` did not read, but for files with names that are no positions: a repair keeps these in
/// lost+found. `None` where there was no save.
fn unread(json: &str) -> Option<u64> {
    let all: Json = serde_json::from_str(json).ok()?;
    let findings = all["findings"].as_array().map_or(&[][..], Vec::as_slice);
    let is_misnamed = |line: &&Json| line["code"] == "name-region" || line["code"] == "block-file-name";
    let misnamed = findings.iter().filter(is_misnamed).count() as u64;
    Some(all["summary"]["files_unread"].as_u64()?.saturating_sub(misnamed))
}
