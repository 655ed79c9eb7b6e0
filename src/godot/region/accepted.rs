//! The settings that the engine accepts. It computes the worst case, a block without compression and metadata, before it
//! writes to a region (`RegionFormat::validate`), and refuses to save when the table could not express it.

use super::Format;

/// The largest sector count of a table entry, which has eight bits.
pub const MOST_SECTORS: u64 = 255;

/// The highest first sector of a table entry.
const LAST_SECTOR: u64 = (1 << 24) - 1;

/// Why the engine refuses settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A block can take more sectors than an entry counts.
    Block {
        /// The sectors that it can take.
        sectors: u64,
    },
    /// All blocks of a region can take more sectors than an entry can point to.
    Region {
        /// The sectors that they can take.
        sectors: u64,
    },
}

impl Format {
    /// Bytes that the channels of a block take without compression.
    fn raw_bytes(&self) -> u64 {
        let side = u64::from(self.block_size());
        let voxel: u64 = self.depths.iter().map(|depth| u64::from(depth.bits() / 8)).sum();
        side.saturating_mul(side).saturating_mul(side).saturating_mul(voxel)
    }

    /// Why the engine refuses to save with these settings; `None` when it accepts them.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        let block = self.raw_bytes().div_ceil(u64::from(self.sector_size.max(1)));
        if block > MOST_SECTORS {
            return Some(Refusal::Block { sectors: block });
        }
        let sectors = block.saturating_mul(u64::from(self.table_len()));
        (sectors > LAST_SECTOR).then_some(Refusal::Region { sectors })
    }

    /// The smallest power of two, not below the sector size of these settings, with which the engine accepts them; that
    /// sector size itself when it does. `None` when no sector size of 16 bits is large enough.
    #[must_use]
    pub fn accepted_sector_size(&self) -> Option<u16> {
        let larger = (0..16).map(|po2| 1u32 << po2).filter(|size| *size > self.sector_size);
        let sizes = std::iter::once(self.sector_size).chain(larger).chain([u32::from(u16::MAX)]);
        let mut accepted = sizes.filter(|size| Self { sector_size: *size, ..*self }.refusal().is_none());
        accepted.find_map(|size| u16::try_from(size).ok())
    }
}

/// The reason as a sentence, which names the settings.
#[must_use]
pub fn refusal_words(format: &Format) -> Option<String> {
    let larger = match format.accepted_sector_size() {
        Some(size) => format!("It accepts sectors of {size} bytes."),
        None => "No sector size is large enough.".to_owned(),
    };
    Some(match format.refusal()? {
        Refusal::Block { sectors } => format!(
            "The sector size of {} bytes is too small: a block can take {sectors} sectors, and the table counts to \
             {MOST_SECTORS}. {larger}",
            format.sector_size
        ),
        Refusal::Region { sectors } => {
            let [x, y, z] = format.region_size;
            format!(
                "The region size of ({x}, {y}, {z}) blocks is too large for sectors of {} bytes: they can take {sectors} \
                 sectors, and the table counts to {LAST_SECTOR}. {larger}",
                format.sector_size
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::godot::channel::{CHANNELS, Depth};

    fn format(block_size_po2: u8, region: u16, sector_size: u32) -> Format {
        Format { block_size_po2, region_size: [region; 3], depths: [Depth::Bits8; CHANNELS], sector_size }
    }

    #[test]
    fn the_limits_of_the_table_are_those_of_the_engine() {
        for (block, region, sector, refused, fits) in [
            (4, 16, 512, false, Some(512)),
            (5, 16, 512, true, Some(2048)),
            (5, 16, 1029, false, Some(1029)),
            (5, 16, 1028, true, Some(2048)),
            (6, 16, 512, true, Some(16384)),
            (7, 16, 512, true, None),
            (4, 16, 128, true, Some(256)),
            // 64 sectors for each of 64^3 blocks are one more than an entry can point to.
            (4, 64, 512, true, Some(1024)),
            (4, 128, 512, true, Some(8192)),
            (5, 128, 2048, true, Some(65535)),
        ] {
            let format = format(block, region, sector);
            assert_eq!(format.refusal().is_some(), refused, "{format:?}");
            assert_eq!(format.accepted_sector_size(), fits, "{format:?}");
            assert_eq!(refusal_words(&format).is_some(), refused);
        }
    }
}
