//! Plants every fault of `fuzz/faults` in the copy of the repository at the path that is given, and lists which target
//! has to find which: `name`, `target`, `what`, with tabs between them.

use std::io;
use std::path::Path;

use voxscope_fuzz::faults;

fn main() -> io::Result<()> {
    let copy = std::env::args().nth(1).ok_or_else(|| io::Error::other("usage: plant COPY"))?;
    let all = faults::all(Path::new(env!("CARGO_MANIFEST_DIR")))?;
    faults::plant(&all, Path::new(&copy))?;
    for fault in all {
        for target in &fault.targets {
            println!("{}\t{target}\t{}", fault.name, fault.what);
        }
    }
    Ok(())
}
