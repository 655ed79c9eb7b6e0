//! All caps on reading. Data above a cap is reported as [`Code::OverLimit`](crate::damage::Code::OverLimit), which
//! does not mean that it is corrupt.

use serde::de::IgnoredAny;

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
    /// Values in a JSON text: as a tree, each may take a hundred times its bytes.
    pub json_values: usize,
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
        directory_depth: 64,
        findings_per_file: 10_000,
        stream_rows: 1 << 22,
        map_json_bytes: 4 << 20,
        json_values: 1 << 17,
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

/// The byte order mark that some editors write before a text. Godot's `String` skips it.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What is found of a JSON text that ends too early.
pub const CUT_OFF: &str = "cut off";

/// A JSON text as a tree, or the number of its values if they are more than [`Limits::json_values`]: as a tree, they would take
/// too much memory.
///
/// # Errors
/// When it is no JSON.
pub fn parse_json(text: &[u8]) -> serde_json::Result<Result<serde_json::Value, u64>> {
    let values = count_json_values(text);
    if values > Limits::DEFAULT.json_values {
        return serde_json::from_slice::<IgnoredAny>(text).map(|_| Err(u64::try_from(values).unwrap_or(u64::MAX)));
    }
    serde_json::from_slice(text).map(Ok)
}

/// At least as many as the values of a JSON text, counted without building them.
#[must_use]
pub fn count_json_values(text: &[u8]) -> usize {
    let (mut quoted, mut escaped, mut count) = (false, false, 1_usize);
    for byte in text {
        match byte {
            _ if quoted => {
                quoted = escaped || *byte != b'"';
                escaped = !escaped && *byte == b'\\';
            }
            b'"' => quoted = true,
            b'[' | b'{' | b',' => count = count.saturating_add(1),
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::count_json_values;

    #[test]
    fn no_text_has_more_values_than_are_counted() {
        for (text, least) in
            [("1", 1), (r#"[1, "a,[\"{", []]"#, 4), (r#"{"a": {"b,": [0, 0]}, "c": "\\"}"#, 6), (r#"["open, [[["#, 1)]
        {
            let counted = count_json_values(text.as_bytes());
            assert!(counted >= least && counted <= least + 2, "{text}: {counted}");
        }
    }
}
