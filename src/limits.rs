//! All caps on reading. Data above a cap is reported as [`Code::OverLimit`](crate::damage::Code::OverLimit), which
//! does not mean that it is corrupt.

/// Caps on the cost of reading, independent of what a file declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one decompressed block, whatever its size in voxels.
    pub block_bytes: u64,
    /// Bytes of metadata that one decompressed block may have in addition to its channels at their largest.
    pub metadata_bytes: u64,
    /// Bytes of one compressed block: 255 sectors of 65,535 bytes.
    pub stored_bytes: u64,
    /// Table entries in use in one region file: all of one of 64 x 64 x 64 blocks.
    pub entries: usize,
    /// Nested arrays, dictionaries and objects in a Variant; the engine's own limit.
    pub variant_depth: usize,
    /// Values in one block's metadata.
    pub variant_values: usize,
    /// Bytes of a `meta.vxrm`.
    pub meta_bytes: u64,
    /// Files in one save.
    pub files: usize,
    /// Depth to which a directory of saves is searched.
    pub directory_depth: usize,
    /// Findings listed for one file; further ones are only counted.
    pub findings_per_file: usize,
    /// Rows of a stream.
    pub stream_rows: usize,
    /// Bytes of a voxel map's `map_data.json`.
    pub map_json_bytes: u64,
    /// Layers of a voxel map.
    pub map_layers: usize,
    /// Blocks in one layer of a voxel map.
    pub map_blocks: usize,
    /// Cells of one depth map.
    pub map_depth_cells: u64,
}

impl Limits {
    /// The caps that the program uses.
    pub const DEFAULT: Self = Self {
        block_bytes: 16 << 20,
        metadata_bytes: 4 << 20,
        stored_bytes: 255 * 65_535,
        entries: 1 << 18,
        variant_depth: 1024,
        variant_values: 1 << 17,
        meta_bytes: 1 << 20,
        files: 200_000,
        directory_depth: 6,
        findings_per_file: 10_000,
        stream_rows: 1 << 22,
        map_json_bytes: 4 << 20,
        map_layers: 4096,
        map_blocks: 1 << 21,
        map_depth_cells: 1 << 28,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
