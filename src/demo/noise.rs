//! Value noise over whole numbers, without tables or platform-dependent mathematics.
//!
//! A hash of the position, and no generator with a state such as `fastrand`: blocks are made in any order by any number of
//! threads, and the samples must have the same bytes in every version.

/// A pseudo-random number from a seed and a position.
#[must_use]
pub fn hash(seed: u64, [x, y, z]: [i64; 3]) -> u64 {
    let mut h = seed;
    for n in [x, y, z] {
        h = mix(h ^ n as u64);
    }
    h
}

/// The finaliser of SplitMix64.
fn mix(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

/// From -1 to 1.
fn lattice(seed: u64, place: [i64; 3]) -> f64 {
    (hash(seed, place) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Cell and smoothed position inside it.
fn cell(n: i64, size: i64) -> (i64, f64) {
    let t = n.rem_euclid(size) as f64 / size as f64;
    (n.div_euclid(size), t * t * (3.0 - 2.0 * t))
}

fn lerp(a: f64, b: f64, t: f64) -> f64 {
    a + (b - a) * t
}

/// Smooth noise over a plane, from -1 to 1, with a random value every `size` voxels.
#[must_use]
pub fn flat(seed: u64, x: i64, z: i64, size: i64) -> f64 {
    let ((cx, tx), (cz, tz)) = (cell(x, size), cell(z, size));
    let row = |z| lerp(lattice(seed, [cx, 0, z]), lattice(seed, [cx + 1, 0, z]), tx);
    lerp(row(cz), row(cz + 1), tz)
}

/// Smooth noise in space along a column of voxels: `ys` are its heights in rising order, `give` gets each one's index
/// and noise. The four edges of a cell are computed once for all voxels in it.
pub fn column(seed: u64, [x, z]: [i64; 2], size: i64, ys: impl Iterator<Item = i64>, mut give: impl FnMut(usize, f64)) {
    let ((cx, tx), (cz, tz)) = (cell(x, size), cell(z, size));
    let level = |y| {
        let row = |z| lerp(lattice(seed, [cx, y, z]), lattice(seed, [cx + 1, y, z]), tx);
        lerp(row(cz), row(cz + 1), tz)
    };
    let mut known: Option<(i64, f64, f64)> = None;
    for (i, y) in ys.enumerate() {
        let (cy, ty) = cell(y, size);
        let (below, above) = match known {
            Some((at, below, above)) if at == cy => (below, above),
            Some((at, _, above)) if at + 1 == cy => (above, level(cy + 1)),
            _ => (level(cy), level(cy + 1)),
        };
        known = Some((cy, below, above));
        give(i, lerp(below, above, ty));
    }
}
