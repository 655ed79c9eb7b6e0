//! The table of a region file, sector by sector, and where blocks are in the world.

/// What an entry of the table says: first sector and how many.
pub type Entry = (u64, u64);

/// What the table of a file with room for `in_file` sectors has of each fault.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Sectors that two entries claim.
    pub shared: bool,
    /// Sectors in the file, before the last that is claimed, that nobody claims.
    pub gap: bool,
}

/// Looks at each sector by itself. `None` where there are too many of them for that.
pub fn faults(entries: &[Entry], in_file: u64) -> Option<Faults> {
    let end = entries.iter().filter(|e| e.1 > 0).map(|e| e.0 + e.1).max().unwrap_or(0);
    let mut claims = vec![0u8; usize::try_from(end).ok().filter(|&n| n < 1 << 16)?];
    for &(first, count) in entries {
        for sector in first..first + count {
            let claim = &mut claims[sector as usize];
            *claim = claim.saturating_add(1);
        }
    }
    // A gap is one that a block follows which begins in the file: what lies beyond its end is another fault.
    let starts = entries.iter().filter(|e| e.1 > 0).map(|e| e.0);
    let gap = starts.into_iter().any(|first| first > 0 && first < in_file && claims[first as usize - 1] == 0);
    Some(Faults { shared: claims.iter().any(|&n| n > 1), gap })
}

/// The slot inside its region, along one axis, in which the engine puts a block, as its source has it; the old formula
/// is that of 2019 to 2024.
pub fn slot(block: i32, size: u16, old: bool) -> u32 {
    if old {
        (block as u32).wrapping_sub(u32::from(block < 0)) % u32::from(size)
    } else {
        block.rem_euclid(i32::from(size)) as u32
    }
}

/// The block of a slot along one axis: the one of the region's blocks that the engine puts there.
pub fn block(region: i32, at: u32, size: u16, old: bool) -> Option<i32> {
    let first = region * i32::from(size);
    (first..first + i32::from(size)).find(|&block| slot(block, size, old) == at)
}

/// The block of an index in the table: y runs fastest, then x, then z.
pub fn position(region: [i32; 3], size: [u16; 3], index: u32, old: bool) -> Option<[i32; 3]> {
    let [sx, sy, _] = size.map(u32::from);
    let inside = [index / sy % sx, index % sy, index / sy / sx];
    let mut position = [0; 3];
    for axis in 0..3 {
        position[axis] = block(region[axis], inside[axis], size[axis], old)?;
    }
    Some(position)
}
