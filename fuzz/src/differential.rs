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
    let found = decoder.decode(&container, &limits()).report_to(&mut damage);
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
    let found = decoder.decode(data, &limits()).report_to(&mut damage);
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
    let Some(found) = Npy::decode(&data[..data.len().min(PREFIX_BYTES)], data.len() as u64).report_to(&mut damage)
    else {
        return;
    };
    let errors = damage.iter().any(|d| d.code.level() == voxscope::damage::Level::Error);
    if errors || found.declared() > 1 << 16 {
        return;
    }
    let numbers = &data[usize::try_from(found.data.start).unwrap_or(0)..usize::try_from(found.data.end).unwrap_or(0)];
    let ours: Vec<u64> = found.bits(numbers).collect();
    use voxscope::voxel_map::npy::Dtype;
    let theirs = match found.dtype {
        Dtype::I8 => read(data, |n: i8| u64::from(n.cast_unsigned())),
        Dtype::I16 => read(data, |n: i16| u64::from(n.cast_unsigned())),
        Dtype::I32 => read(data, |n: i32| u64::from(n.cast_unsigned())),
        Dtype::I64 => read(data, i64::cast_unsigned),
        Dtype::U8 => read(data, |n: u8| u64::from(n)),
        Dtype::U16 => read(data, |n: u16| u64::from(n)),
        Dtype::U32 => read(data, |n: u32| u64::from(n)),
        Dtype::U64 => read(data, |n: u64| n),
        Dtype::F32 => read(data, |n: f32| u64::from(n.to_bits())),
    };
    // Types without a byte order it does not read.
    if let Some(theirs) = theirs {
        assert_eq!(ours, theirs, "`npyz` reads other numbers");
    }
}

/// All numbers of an array by `npyz`, as bits.
fn read<T: npyz::Deserialize>(data: &[u8], bits: impl Fn(T) -> u64) -> Option<Vec<u64>> {
    let all = npyz::NpyFile::new(data).ok()?.into_vec::<T>().ok()?;
    Some(all.into_iter().map(bits).collect())
}
