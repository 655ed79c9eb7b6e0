//! Files in `lost+found` for unowned and torn blocks: their bytes, their voxels as arrays, and a description.

use serde::Serialize;

use crate::godot::block::Block;
use crate::godot::channel::{NAMES, Storage};
use crate::godot::region::Header;
use crate::limits::Limits;
use crate::repair::decision::LostBlock;
use crate::repair::{KeptReason, out};
use crate::save::{BlockStart, Scratch, first_byte};
use crate::voxel_map::npy;

/// An array of a channel that was cut off is filled up to this many times what is there, or to so many bytes.
const FILL: u64 = 64;
const LEAST: u64 = 1 << 20;

/// The order of the axes in every array of a block.
pub(super) const AXES: &str = "z, x, y";

/// What the description of a block in `lost+found` says.
#[derive(Serialize)]
struct LostReport<'r> {
    region: &'r str,
    sector: Option<u32>,
    offset: u64,
    bytes: Vec<[u64; 2]>,
    whole: bool,
    why: KeptReason,
    version: Option<u8>,
    size: Option<[u16; 3]>,
    axes: &'static str,
    channels: Vec<ChannelReport>,
    candidates: Vec<Candidate>,
    /// How many more unowned blocks of the region have the same content; only this one is kept.
    identical: u64,
}

/// What descriptions say of a channel.
#[derive(Serialize)]
pub(crate) struct ChannelReport {
    name: &'static str,
    depth_bits: u8,
    /// The only value, as text: JSON numbers do not hold 64 bits everywhere.
    uniform: Option<String>,
    /// The end of the name of its array.
    array: Option<String>,
    whole: bool,
}

/// A position that a block may belong to.
#[derive(Serialize)]
pub(crate) struct Candidate {
    position: [i32; 3],
    probability: f64,
}

impl Candidate {
    /// All candidates of a block.
    pub fn all(candidates: &[([i32; 3], f64)]) -> Vec<Self> {
        candidates.iter().map(|&(position, p)| Self { position, probability: rounded(p) }).collect()
    }
}

/// The files of one block in `lost+found`: suffixes of their names, and their bytes.
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
    let about = LostReport {
        region,
        sector: BlockStart::new(header, &block.pieces).sector(),
        offset: first_byte(&block.pieces),
        bytes: block.pieces.iter().map(|p| [p.start, p.end]).collect(),
        whole: block.whole,
        why: block.why,
        version: view.block.as_ref().map(|b| b.version),
        size: view.block.as_ref().map(|b| b.size),
        axes: AXES,
        channels,
        candidates: Candidate::all(&block.candidates),
        identical: block.identical,
    };
    files.push((".json".to_owned(), out::json(&about)));
    files
}

/// The channels of a block, and `.npy` files of those that are not uniform: suffixes of their names, and their
/// bytes. What is cut off is zero.
pub(crate) fn arrays(block: &Block<'_>) -> (Vec<ChannelReport>, Vec<(String, Vec<u8>)>) {
    let (mut channels, mut files) = (Vec::new(), Vec::new());
    let [x, y, z] = block.size.map(u64::from);
    for (name, channel) in NAMES.iter().zip(&block.channels) {
        // A size that the bytes do not justify makes no array; the bytes are kept as they are.
        let there = channel.data.len() as u64;
        let raw = channel.storage == Storage::Raw && channel.size <= there.saturating_mul(FILL).max(LEAST);
        let is_uniform = channel.storage != Storage::Raw;
        channels.push(ChannelReport {
            name,
            depth_bits: channel.depth.bits(),
            uniform: if is_uniform { channel.value(0).map(|v| v.to_string()) } else { None },
            array: raw.then(|| format!(".{name}.npy")),
            whole: channel.is_whole(),
        });
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

/// A probability rounded to four digits, so that rounding errors of sums do not show.
pub(crate) fn rounded(p: f64) -> f64 {
    (p.clamp(0.0, 1.0) * 1e4).round() / 1e4
}
