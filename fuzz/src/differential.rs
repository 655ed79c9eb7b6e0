//! Decoders of others, held against what the library makes of the same bytes. Not among the oracles: the tests of the
//! library take those in, and need none of these crates.

use voxscope::godot::container::{Decoder, Mode};
use voxscope::voxel_map::npy::{Npy, PREFIX_BYTES};

use crate::naive::lz4 as naive;
use crate::oracles::limits;

/// What another decoder has to say of an input of this target.
pub fn check(target: &str, data: &[u8]) {
    match target {
        "container" => {
            lz4(data.get(5..).unwrap_or_default());
            container(data);
        }
        "npy_map" => {
            // Files begin with the magic; where is not asked.
            let magic = data.windows(6).position(|bytes| bytes == voxscope::voxel_map::npy::MAGIC);
            npy(&data[magic.unwrap_or(data.len())..]);
        }
        _ => {}
    }
}

/// A block of LZ4 by the library's decoder, by the C library and by the naive one.
fn lz4(packed: &[u8]) {
    let naive = naive::decode(packed, 1 << 16);
    // Behind a size that is right the library takes just what the naive decoder takes.
    let declared = naive.as_ref().map_or(1, Vec::len) as u32;
    let container = [&[2][..], &declared.to_le_bytes(), packed].concat();
    let (mut decoder, mut damage) = (Decoder::default(), Vec::new());
    let found = decoder.decode(&container, &limits(), &mut damage);
    if found.mode == Some(Mode::Lz4) {
        assert_eq!(found.whole.then_some(found.plain), naive.as_deref().ok(), "LZ4 data, {damage:?}");
    }
    c_lz4(packed, naive.as_deref());
}

/// The C library refuses what the format forbids at the end of a block (no match in the last bytes) and others let pass,
/// so it is asked only for what it takes; and it takes a match of no bytes back.
#[cfg(feature = "reference")]
fn c_lz4(packed: &[u8], naive: Result<&[u8], &naive::Fault>) {
    let theirs = lzzzz::lz4::decompress;
    let mut out = vec![0; 1 << 16];
    if let Ok(n) = theirs(packed, &mut out) {
        let lax = naive == Err(&naive::Fault::Zero);
        assert!(lax || naive == Ok(&out[..n]), "the C library reads other LZ4 data");
    }
}

#[cfg(not(feature = "reference"))]
fn c_lz4(_: &[u8], _: Result<&[u8], &naive::Fault>) {}

/// A container by the C libraries.
#[cfg(feature = "reference")]
fn container(data: &[u8]) {
    let (mut decoder, mut damage) = (Decoder::default(), Vec::new());
    let found = decoder.decode(data, &limits(), &mut damage);
    let (Some(mode), Some(declared)) = (found.mode, found.declared) else { return };
    let body = &data[usize::try_from(found.body.start).unwrap_or(0)..];
    if u64::from(declared) > limits().block_bytes {
        return;
    }
    let mut out = vec![0; declared as usize + 1];
    let theirs = match mode {
        Mode::Zstd => zstd::bulk::decompress_to_buffer(body, &mut out).ok(),
        _ => lzzzz::lz4::decompress(body, &mut out).ok(),
    };
    match theirs {
        Some(n) if n == declared as usize && mode != Mode::Zstd => {
            let lax = naive::decode(body, out.len()) == Err(naive::Fault::Zero);
            assert!(
                lax || found.whole && found.plain == &out[..n],
                "the C library reads it, the library says {damage:?}"
            );
        }
        // Of frames one after the other the C library reads all, the format knows one.
        Some(n) if found.whole && damage.is_empty() => assert_eq!(found.plain, &out[..n], "another content"),
        // The C library refuses some tables of symbols that `ruzstd` reads; where both read, they agree.
        _ => {}
    }
}

#[cfg(not(feature = "reference"))]
fn container(data: &[u8]) {
    let _ = (data, Mode::ALL, Decoder::default, limits);
}

/// An array by `npyz`, which is shown only headers that the library has passed: others cost it minutes.
pub fn npy(data: &[u8]) {
    let mut damage = Vec::new();
    let Some(found) = Npy::decode(&data[..data.len().min(PREFIX_BYTES)], data.len() as u64, &mut damage) else {
        return;
    };
    let errors = damage.iter().any(|d| d.code.level() == voxscope::damage::Level::Error);
    if errors || found.declared() > 1 << 16 {
        return;
    }
    let numbers = &data[usize::try_from(found.data.start).unwrap_or(0)..usize::try_from(found.data.end).unwrap_or(0)];
    let ours: Vec<u64> = found.bits(numbers).collect();
    let open = || npyz::NpyFile::new(data);
    let theirs: Option<Vec<u64>> = match found.dtype {
        voxscope::voxel_map::npy::Dtype::I32 => open()
            .ok()
            .and_then(|file| file.into_vec::<i32>().ok())
            .map(|all| all.into_iter().map(|n| u64::from(n.cast_unsigned())).collect()),
        voxscope::voxel_map::npy::Dtype::I64 => open()
            .ok()
            .and_then(|file| file.into_vec::<i64>().ok())
            .map(|all| all.into_iter().map(i64::cast_unsigned).collect()),
        voxscope::voxel_map::npy::Dtype::F32 => open()
            .ok()
            .and_then(|file| file.into_vec::<f32>().ok())
            .map(|all| all.into_iter().map(|n| u64::from(n.to_bits())).collect()),
    };
    // Types without a byte order it does not read.
    if let Some(theirs) = theirs {
        assert_eq!(ours, theirs, "`npyz` reads other numbers");
    }
}
