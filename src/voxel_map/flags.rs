//! The meaning of a voxel's bits.
//!
//! ```text
//! bit 0        WATER: without it the voxel is air, ground or culled, whatever else is set
//! bits 1..=24  structures
//! bits 25..    not known (where the upper 32 bits hold a depth, they are no flags)
//! ```
//!
//! Source: the format's published page. Open water is derived: WATER and no structure.

use std::fmt;

/// Number of flags that are known.
pub const FLAGS: usize = 25;

/// The bit of WATER.
pub const WATER: u64 = 1;

/// The bits that are known.
pub const KNOWN: u64 = (1 << FLAGS) - 1;

/// The bits of the structures: all that are known but WATER.
pub const STRUCTURES: u64 = KNOWN & !WATER;

/// The name of open water, which is no flag of its own.
pub const OPEN_WATER: (&str, &str) = ("OPEN_WATER", "开放水域");

/// One flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The number of its bit.
    pub bit: u8,
    /// Its English name.
    pub name: &'static str,
    /// Its Chinese name.
    pub chinese: &'static str,
}

impl Flag {
    /// The value with this flag alone.
    #[must_use]
    pub fn mask(self) -> u64 {
        1u64.checked_shl(u32::from(self.bit)).unwrap_or(0)
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

const fn flag(bit: u8, name: &'static str, chinese: &'static str) -> Flag {
    Flag { bit, name, chinese }
}

/// All flags, in the order of their bits.
pub const ALL: [Flag; FLAGS] = [
    flag(0, "WATER", "有效水域"),
    flag(1, "WATER_GRASS", "水草区"),
    flag(2, "STONE", "石头区"),
    flag(3, "DRIFTWOOD", "浮木区"),
    flag(4, "PIER", "码头/栈桥附近"),
    flag(5, "DEEP_PIT", "深坑结构"),
    flag(6, "RIDGE", "坎结构"),
    flag(7, "FAULT", "断层结构"),
    flag(8, "ROCK_SHELF", "乱石底/石架"),
    flag(9, "BAY", "湾结构"),
    flag(10, "MUD", "泥底"),
    flag(11, "GRAVEL", "碎石底"),
    flag(12, "DAM", "水坝"),
    flag(13, "MOUTH_OF_SPRING", "泉眼"),
    flag(14, "VORTEX", "旋涡"),
    flag(15, "SANDBAR", "沙洲"),
    flag(16, "SHOAL", "浅滩"),
    flag(17, "DUCKWEED", "浮萍"),
    flag(18, "REED", "芦苇"),
    flag(19, "PRECIPICE", "悬崖"),
    flag(20, "WHARF", "码头"),
    flag(21, "WATER_INLET", "进水口"),
    flag(22, "WATER_OUTLET", "出水口"),
    flag(23, "DARK_ISLAND", "暗岛"),
    flag(24, "SAND_BOTTOM", "沙底"),
];

/// The flags that are set, in the order of their bits.
pub fn names(flags: u64) -> impl Iterator<Item = Flag> {
    ALL.into_iter().filter(move |flag| flags & flag.mask() != 0)
}

/// The bits that have no meaning.
#[must_use]
pub const fn unknown(flags: u64) -> u64 {
    flags & !KNOWN
}

/// Whether it is water.
#[must_use]
pub const fn is_water(flags: u64) -> bool {
    flags & WATER != 0
}

/// Whether it is open water: WATER and no structure.
#[must_use]
pub const fn is_open_water(flags: u64) -> bool {
    flags & KNOWN == WATER
}

/// Whether it has a structure and is no water.
#[must_use]
pub const fn is_dry(flags: u64) -> bool {
    flags & WATER == 0 && flags & STRUCTURES != 0
}

/// Number of voxels with each flag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Voxels that were counted.
    pub voxels: u64,
    /// Those that are not 0 (where the upper half holds a depth, whose flags are not 0).
    pub set: u64,
    /// Those with each flag, by bit.
    pub flags: [u64; FLAGS],
    /// Those that are open water.
    pub open_water: u64,
    /// Those with a structure and no water.
    pub dry: u64,
    /// Those with a bit that is not known.
    pub unknown: u64,
}

impl Histogram {
    /// Counts `times` voxels of these flags.
    pub fn add(&mut self, flags: u64, times: u64) {
        let count = |to: &mut u64, is: bool| *to = to.saturating_add(if is { times } else { 0 });
        count(&mut self.voxels, true);
        if flags == 0 {
            return;
        }
        count(&mut self.set, true);
        for (to, flag) in self.flags.iter_mut().zip(ALL) {
            count(to, flags & flag.mask() != 0);
        }
        count(&mut self.open_water, is_open_water(flags));
        count(&mut self.dry, is_dry(flags));
        count(&mut self.unknown, unknown(flags) != 0);
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        let Self { voxels, set, flags, open_water, dry, unknown } = other;
        let pairs = [
            (&mut self.voxels, voxels),
            (&mut self.set, set),
            (&mut self.open_water, open_water),
            (&mut self.dry, dry),
            (&mut self.unknown, unknown),
        ];
        for (to, from) in pairs.into_iter().chain(self.flags.iter_mut().zip(flags)) {
            *to = to.saturating_add(*from);
        }
    }

    /// Voxels with WATER.
    #[must_use]
    pub const fn water(&self) -> u64 {
        let [water, ..] = self.flags;
        water
    }

    /// The names of flags that some voxel has, with their counts; open water, which is derived, at the end.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let open = (OPEN_WATER.0, self.open_water);
        let flags = self.counted().map(|(flag, count)| (flag.name, count));
        flags.chain([open]).filter(|(_, count)| *count > 0)
    }

    /// The flags that occur, with how often, in the order of their bits.
    pub fn counted(&self) -> impl Iterator<Item = (Flag, u64)> {
        ALL.into_iter().zip(self.flags).filter(|&(_, n)| n > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_bits() {
        for (bit, flag) in ALL.iter().enumerate() {
            assert_eq!(usize::from(flag.bit), bit);
            assert_eq!(ALL.iter().filter(|other| other.name == flag.name).count(), 1);
        }
        assert_eq!(ALL.iter().map(|flag| flag.mask()).sum::<u64>(), KNOWN);
    }

    #[test]
    fn names_and_what_is_derived() {
        let of = |flags| names(flags).map(|flag| flag.name).collect::<Vec<_>>();
        assert_eq!(of(0x0805), ["WATER", "STONE", "GRAVEL"]);
        assert_eq!(of(1 << 24), ["SAND_BOTTOM"]);
        assert!(of(0xffff_ffff_fe00_0000).is_empty());
        assert_eq!(unknown(0x8200_0001), 0x8200_0000);
        assert!(is_open_water(1) && is_open_water(1 | 1 << 30) && !is_open_water(3) && !is_open_water(2));
        assert!(is_dry(2) && !is_dry(3) && !is_dry(0) && !is_dry(1 << 25));
    }

    #[test]
    fn a_histogram_counts() {
        let mut all = Histogram::default();
        all.add(0, 4);
        all.add(1, 3);
        let mut more = Histogram::default();
        more.add(0x0804, 2);
        more.add(1 << 40 | 1, 1);
        all.merge(&more);
        assert_eq!((all.voxels, all.set, all.water(), all.open_water, all.dry, all.unknown), (10, 6, 4, 4, 2, 1));
        let counted: Vec<_> = all.counted().map(|(flag, n)| (flag.name, n)).collect();
        assert_eq!(counted, [("WATER", 4), ("STONE", 2), ("GRAVEL", 2)]);
    }
}
