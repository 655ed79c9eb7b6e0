//! The faults that `fuzz/prove` plants still fit the library, and every target has some to find. That they are found is
//! shown by the script: it takes minutes.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use voxscope_fuzz::faults;
use voxscope_fuzz::oracles::ALL;

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

#[test]
fn every_fault_can_be_planted_and_every_target_has_one() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = faults::all(fuzz).unwrap();
    let to = fuzz.join("work/planted");
    let _ = fs::remove_dir_all(&to);
    copy(&fuzz.join("../src"), &to.join("src")).unwrap();
    faults::plant(&all, &to).unwrap();
    // Once planted, the text is no longer there: planting says so.
    assert!(faults::plant(&all, &to).is_err());
    fs::remove_dir_all(&to).unwrap();

    let known: BTreeSet<&str> = ALL.iter().map(|target| target.name).collect();
    let named: BTreeSet<&str> = all.iter().flat_map(|fault| &fault.targets).map(String::as_str).collect();
    assert_eq!(named, known, "targets without a fault, or faults of no target");
    // `fuzz/prove` runs a target for minutes for each.
    for target in known {
        let count = all.iter().filter(|fault| fault.targets.iter().any(|name| name == target)).count();
        assert!(count <= 5, "{target} has {count} faults: one for each form that it reads shows that it finds any");
    }
}
