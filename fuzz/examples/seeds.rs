//! Writes `corpus/`, without what is no longer a seed. `corpus/regressions/` is left alone.

use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    for (target, seeds) in voxscope_fuzz::seeds::all() {
        let dir = corpus.join(target);
        fs::create_dir_all(&dir)?;
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            if path.file_name().and_then(|name| name.to_str()).is_none_or(|name| !seeds.contains_key(name)) {
                fs::remove_file(path)?;
            }
        }
        for (name, bytes) in &seeds {
            fs::write(dir.join(name), bytes)?;
        }
        let bytes: usize = seeds.values().map(Vec::len).sum();
        println!("{target}: {} seeds, {bytes} bytes", seeds.len());
    }
    Ok(())
}
