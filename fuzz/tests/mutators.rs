//! What a mutator gives is still packed, and what is inside has changed.

use voxscope_fuzz::mutators;
use voxscope_fuzz::oracles::{Reach, find};
use voxscope_fuzz::seeds;

/// Changes one byte in the middle.
fn middle(data: &mut [u8], size: usize, _: usize) -> usize {
    data[size / 2] ^= 1;
    size
}

#[test]
fn changed_inputs_get_past_the_compression() {
    type Mutator = fn(&mut [u8], usize, usize, u32, mutators::Mutate) -> usize;
    let all: [(&str, Mutator); 5] = [
        ("block_files", mutators::block_files),
        ("container", mutators::container),
        ("region_v2", mutators::region),
        ("region_v3", mutators::region),
        ("pak", mutators::pak),
    ];
    let seeds = seeds::all();
    for (name, mutator) in all {
        let target = find(name).unwrap();
        let healthy: Vec<_> =
            seeds[name].iter().filter(|(name, _)| name.contains("healthy") && !name.contains("empty")).collect();
        let mut past = 0;
        for (_, seed) in &healthy {
            let mut data = seed.to_vec();
            let size = data.len();
            data.resize(1 << 16, 0);
            let most = data.len();
            let size = mutator(&mut data, size, most, 2, middle);
            past += usize::from((target.check)(&data[..size]) >= Reach::Content);
        }
        assert!(past * 2 > healthy.len(), "{name}: {past} of {} get past it", healthy.len());
    }
}
