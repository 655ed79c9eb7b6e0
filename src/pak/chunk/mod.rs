//! A decompressed chunk: a plain array of voxels, whose shape and voxel size are not stored.
//!
//! ```text
//! today:  32 x 32 x 32 voxels:   32,768 bytes times 1, 2, 4 or 8
//! older:  16 x n x 16 voxels:    256 bytes times n, n a multiple of 16
//! ```
//!
//! Source: the published notes on the format. Many lengths fit several shapes: the cube goes first, then the column of
//! the smallest voxels; whatever else fits is listed. For the order of the voxels see [`Order`].

mod order;

use crate::bytes::{Span, index, len64};
use crate::damage::{Code, Damage, Decoded, Value};
use crate::pak::{How, Inferred};
pub use order::{Evidence as OrderEvidence, Order, infer as infer_order};

/// Voxel sizes that are known, in bytes.
pub const VOXEL_BYTES: [u8; 4] = [1, 2, 4, 8];

/// Voxels along x, y, z of a chunk, and bytes of a voxel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Shape {
    /// Voxels along x, y and z.
    pub size: [u32; 3],
    /// Bytes of a voxel.
    pub voxel_bytes: u8,
}

impl Shape {
    /// Bytes of a chunk of this shape; `u64::MAX` on overflow.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.size.into_iter().map(u64::from).fold(u64::from(self.voxel_bytes), u64::saturating_mul)
    }
}

/// The shape given by options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Voxels along x, y and z.
    pub size: Option<[u32; 3]>,
    /// Bytes of a voxel.
    pub voxel_bytes: Option<u8>,
}

impl Given {
    fn allows(&self, shape: &Shape) -> bool {
        self.size.is_none_or(|size| size == shape.size) && self.voxel_bytes.is_none_or(|n| n == shape.voxel_bytes)
    }
}

/// All known shapes of `len` bytes, the preferred one first.
#[must_use]
pub fn shapes_of(len: u64) -> Vec<Shape> {
    let cubes = VOXEL_BYTES.into_iter().map(|voxel_bytes| Shape { size: [32; 3], voxel_bytes });
    let columns = VOXEL_BYTES.into_iter().filter_map(|voxel_bytes| {
        let n = len.checked_div(u64::from(voxel_bytes).checked_mul(256)?)?;
        let n = u32::try_from(n).ok().filter(|n| *n > 0 && n.is_multiple_of(16))?;
        Some(Shape { size: [16, n, 16], voxel_bytes })
    });
    cubes.chain(columns).filter(|shape| shape.bytes() == len).collect()
}

/// The shape of a chunk of `len` decompressed bytes; if none fits, there is damage with a span in bytes of the chunk.
///
/// A given shape is used even if it does not fit the length. A shape is inferred only from the length of a whole
/// chunk: for one that is not `complete`, none is inferred and no damage is pushed.
pub fn infer(len: u64, complete: bool, given: Given) -> Decoded<Option<Inferred<Shape>>> {
    Decoded::collect(|damage| infer_into(len, complete, given, damage))
}

fn infer_into(len: u64, complete: bool, given: Given, damage: &mut Vec<Damage>) -> Option<Inferred<Shape>> {
    let fault = |expected| {
        Damage::new(Code::PakShape, Span::sized(0, len), "chunk").expected(expected).found(Value::Bytes(len)).in_block()
    };
    if let Some(size) = given.size {
        let fits = |n: &u8| Shape { size, voxel_bytes: *n }.bytes() == len;
        let by_length = VOXEL_BYTES.into_iter().find(fits).filter(|_| complete);
        let voxel_bytes = given.voxel_bytes.or(by_length);
        let shape = Shape { size, voxel_bytes: voxel_bytes.unwrap_or(1) };
        if complete && shape.bytes() != len {
            damage.push(fault(Value::Bytes(shape.bytes())));
        }
        return Some(match (given.voxel_bytes, voxel_bytes) {
            (Some(_), _) => Inferred::given(shape),
            (None, Some(_)) => Inferred::deduced(shape, "given, with the voxel size that makes it fit the length"),
            (None, None) => Inferred::assumed(shape, "given, with voxels of one byte: no voxel size makes it fit"),
        });
    }
    if !complete {
        return None;
    }
    let mut fitting = shapes_of(len).into_iter().filter(|shape| given.allows(shape));
    let Some(shape) = fitting.next() else {
        damage.push(fault(Value::Words("32,768 times 1, 2, 4 or 8, or 256 times a multiple of 16")));
        return None;
    };
    let others: Vec<Shape> = fitting.collect();
    let inferred = if shape.size == [32; 3] {
        Inferred::deduced(shape, "the length is that of a cube of 32")
    } else if others.is_empty() {
        Inferred::deduced(shape, "the length is that of 16 x n x 16 voxels, and no other shape fits")
    } else {
        Inferred::assumed(shape, "the length is that of 16 x n x 16 voxels, and the smallest that fit are taken")
    };
    Some(inferred.or(others))
}

/// Bytes at the beginning of a chunk whose voxels are compared.
const COMPARED: usize = 1 << 16;

/// Settles the size of the voxels of a 16 x n x 16 chunk, where its length leaves several, by the voxels themselves: with
/// the right size, fewer of those that follow each other differ. A smaller size compares different bytes of one voxel, and
/// a larger one compares several voxels at once. Where that decides nothing, the assumption stays.
#[must_use]
pub fn settle_voxel_bytes(inferred: Inferred<Shape>, data: &[u8]) -> Inferred<Shape> {
    if inferred.how != How::Assumed || inferred.value.size == [32; 3] {
        return inferred;
    }
    let compared = data.get(..COMPARED.min(data.len())).unwrap_or_default();
    // Of a million.
    let differing = |shape: &Shape| {
        let voxels = || compared.chunks_exact(shape.voxel_bytes.max(1).into());
        let differ = voxels().zip(voxels().skip(1)).filter(|(one, next)| one != next).count();
        let pairs = voxels().count().saturating_sub(1).max(1);
        differ.saturating_mul(1_000_000).checked_div(pairs).unwrap_or(0)
    };
    let mut shapes: Vec<(usize, Shape)> =
        [inferred.value].iter().chain(&inferred.alternatives).map(|shape| (differing(shape), *shape)).collect();
    shapes.sort_by_key(|(differing, shape)| (*differing, shape.voxel_bytes));
    let [(least, best), (next, _), ..] = shapes.as_slice() else { return inferred };
    let best = *best;
    // A larger size is only believed if it makes a clear difference; the smallest is assumed anyway.
    let smaller = shapes.iter().filter(|(_, shape)| shape.voxel_bytes < best.voxel_bytes).map(|(n, _)| *n).min();
    let is_clear = least < next && smaller.is_none_or(|smaller| least.saturating_mul(2) < smaller);
    if !is_clear {
        return inferred;
    }
    let others = shapes.into_iter().map(|(_, shape)| shape).filter(|shape| *shape != best).collect();
    Inferred::deduced(
        best,
        "the length is that of 16 x n x 16 voxels, and fewer that follow each other differ with this size",
    )
    .or(others)
}

/// The voxels of a chunk, read on demand.
#[derive(Clone, Copy, Debug)]
pub struct Voxels<'a> {
    /// The decompressed bytes, as far as they exist.
    pub data: &'a [u8],
    /// The shape.
    pub shape: Shape,
    /// The order.
    pub order: Order,
}

impl Voxels<'_> {
    /// The bytes of the voxel at a position, in the decompressed chunk; `None` outside of its shape.
    #[must_use]
    pub fn span(&self, at: [u32; 3]) -> Option<Span> {
        let [a, b, c] = self.order.fastest_first(at);
        let [sa, sb, sc] = self.order.fastest_first(self.shape.size);
        if a >= sa || b >= sb || c >= sc {
            return None;
        }
        let [a, b, c, sa, sb] = [a, b, c, sa, sb].map(u64::from);
        let number = c.checked_mul(sb)?.checked_add(b)?.checked_mul(sa)?.checked_add(a)?;
        let width = u64::from(self.shape.voxel_bytes);
        Some(Span::sized(number.checked_mul(width)?, width))
    }

    /// The voxel at a position, little-endian; `None` outside of the shape, behind the end of the data, and for voxels of
    /// more than eight bytes.
    #[must_use]
    pub fn get(&self, at: [u32; 3]) -> Option<u64> {
        let span = self.span(at)?;
        let bytes = self.data.get(index(span.start)..index(span.end))?;
        let mut number = [0; 8];
        number.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(number))
    }

    /// Number of whole voxels.
    #[must_use]
    pub fn count(&self) -> u64 {
        len64(self.data).min(self.shape.bytes()).checked_div(u64::from(self.shape.voxel_bytes)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
