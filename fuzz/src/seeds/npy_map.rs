use voxscope::demo::maps::array;
use voxscope::voxel_map::npy::{Dtype, Npy};

use super::{Seeds, Set, cut};
use crate::oracles::npy_map::{KINDS, RAW};

/// What the bits of the second byte mean.
const SPARSE: u8 = 1;
const WIDE: u8 = 2;
const BIG: u8 = 4;
const FORTRAN: u8 = 8;
const PACKED: u8 = 16;
const DEPTHS: u8 = 32;
const DRY: u8 = 64;
const SECOND: u8 = 128;

/// Choices of a model: 20 x 10 x 33 cells in two blocks, or 9 x 5 x 8 in a dense layer.
fn model(bits: u8, pattern: u8) -> Vec<u8> {
    let mut out =
        if bits & SPARSE == 0 { vec![0, bits, 8, 4, 7] } else { vec![0, bits, 19, 9, 32, 1, 1, 0, 2, 0, 0, 1] };
    out.extend([pattern, 5]);
    out
}

pub(super) fn seeds() -> Seeds {
    let mut set = Set::default();
    for bits in [0, WIDE, WIDE | PACKED, DRY, BIG, FORTRAN, BIG | FORTRAN | WIDE | PACKED, SECOND, DEPTHS] {
        set.add(format!("healthy_dense_{bits:03}"), model(bits, 2));
        set.add(format!("healthy_sparse_{bits:03}"), model(bits | SPARSE, 3));
        set.add(format!("healthy_sparse_depths_{bits:03}"), model(bits | SPARSE | DEPTHS, 2));
    }
    set.add("healthy_empty_voxels", model(SPARSE, 0));
    set.add("healthy_all_water", model(SPARSE | DEPTHS, 1));
    for kind in 0..KINDS {
        let damage = |file: u8, amount: u16| [&[kind, file][..], &amount.to_le_bytes()].concat();
        set.add(format!("damage_{kind:02}"), [model(SPARSE | DEPTHS | WIDE, 3), damage(kind, 37)].concat());
        set.add(format!("damage_{kind:02}_dense"), [model(BIG | DEPTHS, 2), damage(kind + 1, 3)].concat());
        set.add(format!("damage_{kind:02}_fortran"), [model(FORTRAN | SPARSE | DEPTHS, 2), damage(2, 500)].concat());
    }
    let raw = |bits: u8, data: &[u8], index: &[u8], depth: &[u8]| {
        let mut out = vec![RAW, bits, 3, 2, 1];
        out.extend((data.len() as u16).to_le_bytes());
        out.extend((index.len() as u16).to_le_bytes());
        [&out, data, index, depth].concat()
    };
    let dense = array(&Npy::new(Dtype::I64, &[4, 3, 2]), |at| at[0] | at[1] << 33);
    let depth = array(&Npy::new(Dtype::F32, &[4, 2]), |at| (at[0] as f32).to_bits().into());
    let index = array(&Npy::new(Dtype::I32, &[2, 3]), |at| at[0]);
    let part = array(&Npy::new(Dtype::I32, &[1, 16, 16, 16]), |at| at[2]);
    set.add("raw_dense", raw(2, &dense, &[], &depth));
    set.add("raw_dense_no_dim", raw(4, &dense, &[], &[]));
    set.add("raw_dense_cut", raw(0, &cut(&dense, 13), &[], &[]));
    set.add("raw_sparse", raw(3, &part[..4000], &index, &depth));
    set.add("raw_sparse_index_cut", raw(1, &part[..2000], &cut(&index, 5), &[]));
    let text = |shape: &str, order: &str| {
        let header = format!("{{'descr': '>i4', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &[1; 200]].concat()
    };
    set.add("raw_shape_of_zeros", raw(0, &text("(0, 0, 0)", "True"), &[], &[]));
    set.add("raw_shape_mixed", raw(0, &text("(1099511627776, 1, 4)", "True"), &[], &[]));
    set.add("raw_rows_of_nothing", raw(1, &text("(9, 16, 16, 16)", "False"), &text("(4294967295, 3)", "True"), &[]));
    set.add("raw_zeros", [RAW; 1].iter().copied().chain([0; 63]).collect::<Vec<u8>>());
    set.add("empty", []);
    set.0
}
