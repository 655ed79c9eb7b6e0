//! What has no owner, or is torn: its bytes, its voxels as arrays, and what is known of it.

use crate::godot::block::Block;
use crate::godot::channel::{NAMES, Storage};
use crate::godot::region::Header;
use crate::limits::Limits;
use crate::repair::out;
use crate::repair::plan::LostBlock;
use crate::save::Scratch;
use crate::voxel_map::npy;

/// The files that hold one lost block: endings of their names, and their bytes.
pub(super) fn files(
    header: &Header,
    block: &LostBlock,
    stored: &[u8],
    region: &str,
    limits: &Limits,
) -> Vec<(String, Vec<u8>)> {
    let mut scratch = Scratch::default();
    let view = scratch.interpret_bytes(stored, 0, header, None, limits);
    let mut files = vec![(".bin".to_owned(), stored.to_vec())];
    let (channels, arrays) = view.block.as_ref().map(arrays).unwrap_or_default();
    files.extend(arrays);
    let about = serde_json::json!({
        "region": region,
        "sector": block.sector,
        "bytes": block.pieces.iter().map(|p| [p.start, p.end]).collect::<Vec<_>>(),
        "whole": block.whole,
        "why": block.why,
        "version": view.block.as_ref().map(|b| b.version),
        "size": view.block.as_ref().map(|b| b.size),
        "axes": "z, x, y",
        "channels": channels,
        "candidates": block.candidates.iter().map(|(at, p)| serde_json::json!({"position": at, "probability": rounded(*p)})).collect::<Vec<_>>(),
    });
    files.push((".json".to_owned(), out::json(&about)));
    files
}

/// The channels of a block as JSON, and as `.npy` files those that are not uniform: endings of their names, and their
/// bytes. What is cut off is zero.
pub(crate) fn arrays(block: &Block<'_>) -> (Vec<serde_json::Value>, Vec<(String, Vec<u8>)>) {
    let (mut channels, mut files) = (Vec::new(), Vec::new());
    let [x, y, z] = block.size.map(u64::from);
    for (name, channel) in NAMES.iter().zip(&block.channels) {
        let raw = channel.storage == Storage::Raw;
        channels.push(serde_json::json!({
            "name": name,
            "depth_bits": channel.depth.bits(),
            "uniform": if raw { None } else { channel.value(0).map(|v| v.to_string()) },
            "array": raw.then(|| format!(".{name}.npy")),
            "whole": channel.is_whole(),
        }));
        if raw {
            let mut bytes = npy::header(channel.depth.npy(), &[z, x, y]);
            bytes.extend_from_slice(channel.data);
            let missing = usize::try_from(channel.size).unwrap_or(0).saturating_sub(channel.data.len());
            bytes.resize(bytes.len() + missing, 0);
            files.push((format!(".{name}.npy"), bytes));
        }
    }
    (channels, files)
}

/// A probability as it is shown: four digits, so that the last bits of sums do not matter.
pub(crate) fn rounded(p: f64) -> f64 {
    (p.clamp(0.0, 1.0) * 1e4).round() / 1e4
}
