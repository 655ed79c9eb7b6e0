//! Runs the committed inputs of a target, or of all of them, and nothing else: what is reached then is reached by the
//! corpus alone. With `WORK` set also those in `fuzz/work`. What fails is left to the tests.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use voxscope_fuzz::oracles::{ALL, find};

fn main() -> ExitCode {
    let name = env::args().nth(1).unwrap_or_else(|| "all".to_owned());
    let one: Vec<_> = find(&name).into_iter().collect();
    let targets = if name == "all" { ALL } else { one.as_slice() };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut inputs = 0;
    for target in targets {
        let mut directories = vec!["corpus", "corpus/regressions"];
        directories.extend(env::var_os("WORK").map(|_| "fuzz/work"));
        for directory in directories {
            for entry in fs::read_dir(root.join(directory).join(target.name)).into_iter().flatten().flatten() {
                let Ok(data) = fs::read(entry.path()) else { continue };
                let _ = std::panic::catch_unwind(|| voxscope_fuzz::fuzz(target.name, &data));
                inputs += 1;
            }
        }
    }
    println!("{} targets, {inputs} inputs", targets.len());
    if inputs == 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
