//! The meta file and the header of a block of `VoxelStreamBlockFiles`.

use super::Bytes;

/// LODs, block size as a power of two, depth of each channel.
pub type Meta = (u8, u8, [u8; 8]);

/// A meta file in one of the three forms of version 1; `None` for anything else.
pub fn meta(data: &[u8]) -> Option<Meta> {
    let mut bytes = Bytes::new(data);
    if bytes.take(5)? != b"VXBM\x01" {
        return None;
    }
    let lods = bytes.u8().filter(|n| (1..=32).contains(n))?;
    // 2019: three sizes, and channels of 8 bits.
    if bytes.left() == 12 {
        let sizes = [bytes.u32()?, bytes.u32()?, bytes.u32()?];
        let po2 = (1..=8).find(|po2| sizes == [1 << po2; 3])?;
        return Some((lods, po2, [0; 8]));
    }
    let po2 = bytes.u8().filter(|n| (1..=8).contains(n))?;
    // Until 2020-01-25 there were no depths.
    let depths = match bytes.left() {
        0 => [0; 8],
        8 => <[u8; 8]>::try_from(bytes.take(8)?).ok().filter(|codes| codes.iter().all(|code| *code < 4))?,
        _ => return None,
    };
    Some((lods, po2, depths))
}

/// The file of a block: its container, as far as it is there, and how many bytes are missing or follow.
#[derive(Debug, PartialEq, Eq)]
pub struct BlockFile<'a> {
    pub container: &'a [u8],
    pub missing: u64,
    pub trailing: u64,
}

/// Reads the file of a block; `None` for anything else.
pub fn block(data: &[u8]) -> Option<BlockFile<'_>> {
    let mut bytes = Bytes::new(data);
    if bytes.take(5)? != b"VXB_\x01" {
        return None;
    }
    let size = u64::from(bytes.u32()?);
    let left = bytes.left() as u64;
    let container = bytes.take(size.min(left) as usize)?;
    Some(BlockFile { container, missing: size.saturating_sub(left), trailing: left.saturating_sub(size) })
}
