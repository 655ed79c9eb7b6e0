//! The decoders one by one: `cargo bench --bench decoders`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use voxscope::bytes::Cursor;
use voxscope::demo::ForestSpec;
use voxscope::godot::block::{self, BlockLayout};
use voxscope::godot::container::{self, Decoder, Mode};
use voxscope::godot::variant::{self, Budget, Dialect, Variant};
use voxscope::limits::Limits;

fn main() {
    divan::main();
}

/// A block of terrain at the surface, as it is in the forest of the ratios.
fn terrain() -> (Vec<u8>, BlockLayout) {
    let spec = ForestSpec::bench();
    let surface = spec.lods[0].positions().map(|position| spec.block(0, position));
    let block = surface.max_by_key(|block| block.encode().len()).unwrap();
    (block.encode(), spec.format().layout())
}

#[divan::bench(args = Mode::ALL)]
fn container(bencher: Bencher, mode: Mode) {
    let (plain, _) = terrain();
    let mut packed = Vec::new();
    container::encode(mode, &plain, &mut packed);
    let mut decoder = Decoder::default();
    bencher.counter(BytesCount::new(plain.len())).bench_local(|| {
        let mut damage = Vec::new();
        let plain = decoder.decode(black_box(&packed), &Limits::DEFAULT).report_to(&mut damage).plain.len();
        assert!(damage.is_empty());
        plain
    });
}

#[divan::bench]
fn block(bencher: Bencher) {
    let (plain, layout) = terrain();
    bencher.counter(BytesCount::new(plain.len())).bench_local(|| {
        let mut damage = Vec::new();
        let block = block::decode(black_box(&plain), Some(&layout), None, &Limits::DEFAULT).report_to(&mut damage);
        block.channels.len() + damage.len()
    });
}

#[divan::bench]
fn channel_range(bencher: Bencher) {
    let (plain, layout) = terrain();
    let block = block::decode(&plain, Some(&layout), None, &Limits::DEFAULT).report_to(&mut Vec::new());
    let channel = block.channels[1];
    bencher.counter(BytesCount::new(channel.data.len())).bench_local(|| black_box(channel).range());
}

#[divan::bench(args = [10, 1000, 100_000])]
fn variant_of_values(bencher: Bencher, values: usize) {
    let list = (0..values).map(|i| Variant::dictionary(vec![(Variant::string("n"), Variant::int(i as i64))]));
    let mut bytes = Vec::new();
    Variant::array(list.collect()).encode(Dialect::Godot4, &mut bytes);
    let budget = Budget { depth: 8, values: usize::MAX };
    bencher.counter(BytesCount::new(bytes.len())).bench_local(|| {
        let mut cursor = Cursor::new(black_box(&bytes));
        variant::decode(&mut cursor, Dialect::Godot4, &mut budget.clone()).report_to(&mut Vec::new()).unwrap().type_()
    });
}
