use super::*;

#[test]
#[ignore = "writes 100 MB; for measuring"]
fn measure_bench() {
    let dir = tempfile::tempdir().unwrap();
    let start = std::time::Instant::now();
    let stats = write_forest(dir.path(), &ForestSpec::bench(), None).unwrap();
    println!("{stats:?} in {:?}", start.elapsed());
}
