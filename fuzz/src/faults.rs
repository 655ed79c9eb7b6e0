//! Known faults that can be planted in a copy of the library, to see whether fuzzing finds them: `fuzz/faults/*.fault`.
//!
//! ```text
//! what: an off-by-one in the bound of the table
//! targets: region_v2_built region_v3_built
//! file: src/check/region/table.rs
//! <<<
//! the text as it stands, once in the file
//! ===
//! the text with the fault; PLANTED says whether it is this one that is asked for
//! >>>
//! ```
//!
//! All are planted in one copy, and the environment variable `VOXSCOPE_FAULT` says which one is awake. So one build does
//! for all of them.

use std::path::Path;
use std::{fs, io};

/// The variable that wakes a fault.
pub const VARIABLE: &str = "VOXSCOPE_FAULT";

/// What is added to the copy's root module.
const ROOT: &str = r#"
/// Whether this fault is the one that is asked for.
pub(crate) fn planted(name: &str) -> bool {
    static NAME: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    NAME.get_or_init(|| std::env::var("VOXSCOPE_FAULT").unwrap_or_default()) == name
}
"#;

/// A fault.
#[derive(Debug)]
pub struct Fault {
    /// Its name: that of its file.
    pub name: String,
    /// What it is.
    pub what: String,
    /// The targets that must find it.
    pub targets: Vec<String>,
    file: String,
    old: String,
    new: String,
}

fn wrong(name: &str, why: &str) -> io::Error {
    io::Error::other(format!("fault {name}: {why}"))
}

/// The faults of `fuzz/faults`, by name.
///
/// # Errors
/// What the operating system says, and a file that is not as it should be.
pub fn all(fuzz: &Path) -> io::Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for entry in fs::read_dir(fuzz.join("faults"))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        faults.push(parse(&name, &fs::read_to_string(&path)?).ok_or_else(|| wrong(&name, "not as it should be"))?);
    }
    faults.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(faults)
}

fn parse(name: &str, text: &str) -> Option<Fault> {
    let (head, body) = text.split_once("\n<<<\n")?;
    let (old, new) = body.strip_suffix("\n>>>\n")?.split_once("\n===\n")?;
    let field = |field: &str| head.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(": "));
    let targets: Vec<String> = field("targets")?.split(' ').map(str::to_owned).collect();
    let planted = format!("crate::planted(\"{name}\")");
    let new = new.replace("PLANTED", &planted);
    let of = |field: &str| field.to_owned();
    let whole = new.contains(&planted) && !targets.is_empty();
    let fault =
        Fault { name: of(name), what: of(field("what")?), targets, file: of(field("file")?), old: of(old), new };
    whole.then_some(fault)
}

/// Plants every fault in the copy of the library at `copy`.
///
/// # Errors
/// What the operating system says, and a fault whose text is not there just once: it is out of date.
pub fn plant(faults: &[Fault], copy: &Path) -> io::Result<()> {
    for fault in faults {
        let path = copy.join(&fault.file);
        let text = fs::read_to_string(&path)?;
        let times = text.matches(&fault.old).count();
        if times != 1 {
            return Err(wrong(&fault.name, &format!("its text is {times} times in {}, not once", fault.file)));
        }
        fs::write(&path, text.replace(&fault.old, &fault.new))?;
    }
    let root = copy.join("src/lib.rs");
    fs::write(&root, fs::read_to_string(&root)? + ROOT)
}
