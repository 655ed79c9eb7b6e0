use voxscope::demo::maps::array;
use voxscope::voxel_map::npy::{Dtype, Npy};

use super::{Seeds, Set, cut};

pub(super) fn seeds() -> Seeds {
    let mut set = Set::default();
    let raw = |bits: u8, data: &[u8], index: &[u8], depth: &[u8]| {
        let mut out = vec![bits, 3, 2, 1];
        out.extend((data.len() as u16).to_le_bytes());
        out.extend((index.len() as u16).to_le_bytes());
        [&out, data, index, depth].concat()
    };
    let dense = array(&Npy::new(Dtype::I64, &[4, 3, 2]), |at| at[0] | at[1] << 33);
    let water = array(&Npy::new(Dtype::I32, &[4, 3, 2]), |_| 1);
    set.add("healthy_dense", raw(0, &water, &[], &[]));
    let big = Npy { big_endian: true, ..Npy::new(Dtype::I32, &[4, 3, 2]) };
    set.add("healthy_dense_big_endian", raw(0, &array(&big, |at| 1 + (at[0] << 1)), &[], &[]));
    let block = array(&Npy::new(Dtype::I32, &[1, 16, 16, 16]), |_| 0);
    set.add("sparse_cut_in_the_depths", raw(3, &block[..1000], &[], &[1, 2, 3]));
    let depth = array(&Npy::new(Dtype::F32, &[4, 2]), |at| (at[0] as f32).to_bits().into());
    let index = array(&Npy::new(Dtype::I32, &[2, 3]), |at| at[0]);
    let part = array(&Npy::new(Dtype::I32, &[1, 16, 16, 16]), |at| at[2]);
    set.add("dense", raw(2, &dense, &[], &depth));
    set.add("dense_no_dim", raw(4, &dense, &[], &[]));
    set.add("dense_cut", raw(0, &cut(&dense, 13), &[], &[]));
    set.add("sparse", raw(3, &part[..4000], &index, &depth));
    set.add("sparse_index_cut", raw(1, &part[..2000], &cut(&index, 5), &[]));
    let text = |shape: &str, order: &str| {
        let header = format!("{{'descr': '>i4', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &[1; 200]].concat()
    };
    set.add("shape_of_zeros", raw(0, &text("(0, 0, 0)", "True"), &[], &[]));
    for descr in ["i1", "i2", "u1", "u2", "u4", "u8", "f2", "f8", "c8", "c16", "b1", "?", "O", "S3", "i4"] {
        let header = format!("{{\"descr\": \"<{descr}\", 'fortran_order': False, 'shape': (4, 3, 2)}}");
        let array =
            [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &[1; 96]].concat();
        let name = descr.to_lowercase().replace('?', "bool");
        set.add(format!("type_{name}"), raw(2, &water, &[], &array));
    }
    for (name, shape) in
        [("none", "()"), ("one", "(24,)"), ("two", "(4, 6)"), ("four", "(4, 3, 2, 1)"), ("five", "(1, 1, 1, 1, 1)")]
    {
        set.add(format!("dimensions_{name}"), raw(2, &water, &[], &text(shape, "False")));
        set.add(format!("dimensions_{name}_of_the_index"), raw(1, &part[..2000], &text(shape, "False"), &[]));
    }
    set.add("name_twice", raw(2, &water, &[], &text("(1,), 'shape': (1,)", "True")));
    set.add("name_unknown", raw(2, &water, &[], &text("(1,), 'more': (1,)", "True")));
    set.add("boolean_a_number", raw(2, &water, &[], &text("(1,)", "0")));
    set.add("shape_no_numbers", raw(2, &water, &[], &text("(a, b)", "True")));
    set.add("shape_not_closed", raw(2, &water, &[], &text("(1, 2", "True")));
    set.add("shape_of_2_to_the_64", raw(4, &text("(4294967296, 4294967296, 2)", "False"), &[], &[]));
    set.add("shape_mixed", raw(0, &text("(1099511627776, 1, 4)", "True"), &[], &[]));
    set.add("rows_of_nothing", raw(1, &text("(9, 16, 16, 16)", "False"), &text("(4294967295, 3)", "True"), &[]));
    set.add("zeros", [0; 63]);
    set.add("empty", []);
    set.0
}
