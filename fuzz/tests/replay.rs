//! Every oracle over every committed input, with the memory cap of fuzzing. One test alone: the cap is the process's.

use std::path::Path;

use voxscope_fuzz::oracles::replay;

fn main_directory() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the library is above")
}

#[test]
fn every_property_holds_for_the_corpus() {
    replay::replay(main_directory(), voxscope_fuzz::run);
}
