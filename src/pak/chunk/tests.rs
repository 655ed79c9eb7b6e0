use super::*;

fn shape(size: [u32; 3], voxel_bytes: u8) -> Shape {
    Shape { size, voxel_bytes }
}

fn plain(len: u64) -> Option<Inferred<Shape>> {
    let mut damage = Vec::new();
    let inferred = infer(len, true, Given::default()).report_to(&mut damage);
    assert_eq!(damage.is_empty(), inferred.is_some());
    if let Some(damage) = damage.first() {
        assert_eq!((damage.code, damage.span), (Code::PakShape, Span::new(0, len)));
        assert_eq!(damage.space, crate::damage::Space::Block);
    }
    inferred
}

#[test]
fn cubes_of_32_go_first() {
    for voxel_bytes in VOXEL_BYTES {
        let inferred = plain(32_768 * u64::from(voxel_bytes)).unwrap();
        assert_eq!((inferred.value, inferred.how), (shape([32; 3], voxel_bytes), How::Inferred));
        assert!(inferred.alternatives.contains(&shape([16, 128, 16], voxel_bytes)), "it fits as well");
        assert!(inferred.alternatives.iter().all(|other| other.bytes() == inferred.value.bytes()));
    }
}

#[test]
fn columns_are_taken_with_the_smallest_voxels() {
    let inferred = plain(4096).unwrap();
    assert_eq!((inferred.value, inferred.how), (shape([16; 3], 1), How::Inferred));
    assert_eq!(inferred.alternatives, []);
    let inferred = plain(8192).unwrap();
    assert_eq!((inferred.value, inferred.how), (shape([16, 32, 16], 1), How::Assumed));
    assert_eq!(inferred.alternatives, [shape([16; 3], 2)]);
    let inferred = plain(256 * 48).unwrap();
    assert_eq!((inferred.value.size, inferred.alternatives.len()), ([16, 48, 16], 0));
}

#[test]
fn lengths_that_fit_nothing_are_told() {
    for len in [0, 1, 255, 256, 4095, 4097, 256 * 17, 32_767, 32_769, u64::MAX] {
        assert_eq!(plain(len), None, "{len}");
    }
    let mut damage = Vec::new();
    assert_eq!(infer(4000, false, Given::default()).report_to(&mut damage), None);
    assert_eq!(damage, [], "the length of a cut chunk says nothing");
}

#[test]
fn what_is_given_is_taken() {
    let ask = |len, size, voxel_bytes| {
        let mut damage = Vec::new();
        let inferred = infer(len, true, Given { size, voxel_bytes }).report_to(&mut damage).map(|i| (i.value, i.how));
        (inferred, damage.len())
    };
    let size = Some([4, 5, 6]);
    assert_eq!(ask(240, size, Some(2)), (Some((shape([4, 5, 6], 2), How::Given)), 0));
    assert_eq!(ask(241, size, Some(2)), (Some((shape([4, 5, 6], 2), How::Given)), 1));
    assert_eq!(ask(480, size, None), (Some((shape([4, 5, 6], 4), How::Inferred)), 0));
    assert_eq!(ask(481, size, None), (Some((shape([4, 5, 6], 1), How::Assumed)), 1));
    assert_eq!(ask(8192, None, Some(2)), (Some((shape([16; 3], 2), How::Inferred)), 0));
    assert_eq!(ask(32_768, None, Some(2)), (Some((shape([16, 64, 16], 2), How::Inferred)), 0));
    assert_eq!(ask(4096, None, Some(3)), (None, 1));
    // Sizes beyond counting.
    assert_eq!(ask(5, Some([u32::MAX; 3]), None), (Some((shape([u32::MAX; 3], 1), How::Assumed)), 1));
}

#[test]
fn voxels_are_read_in_the_stated_order() {
    let data: Vec<u8> = (0..2 * 3 * 4 * 2u8).collect();
    let voxels = |order| Voxels { data: &data, shape: shape([2, 3, 4], 2), order };
    // Voxel number n holds the bytes 2n and 2n + 1.
    let number = |v: u64| (v & 0xff) / 2;
    for (order, [x, y, z]) in [
        (Order::Yzx, [1, 8, 2]),
        (Order::Zyx, [1, 2, 6]),
        (Order::Zxy, [3, 1, 6]),
        (Order::Xzy, [12, 1, 3]),
        (Order::Yxz, [4, 8, 1]),
        (Order::Xyz, [12, 4, 1]),
    ] {
        let voxels = voxels(order);
        for at in [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 2, 3]] {
            let [a, b, c] = at.map(u64::from);
            assert_eq!(voxels.get(at).map(number), Some(a * x + b * y + c * z), "{order:?} {at:?}");
        }
        assert_eq!(voxels.get([0, 0, 0]), Some(0x0100), "little-endian");
        for outside in [[2, 0, 0], [0, 3, 0], [0, 0, 4], [u32::MAX; 3]] {
            assert_eq!((voxels.get(outside), voxels.span(outside)), (None, None));
        }
        assert_eq!(Order::from_name(order.name()), Some(order));
    }
    assert_eq!(voxels(Order::Yzx).count(), 24);
}

#[test]
fn voxels_behind_the_end_are_not_there() {
    let data = [1, 2, 3];
    let voxels = Voxels { data: &data, shape: shape([32; 3], 2), order: Order::Yzx };
    assert_eq!((voxels.get([0, 0, 0]), voxels.get([1, 0, 0]), voxels.count()), (Some(0x0201), None, 1));
    let voxels = Voxels { data: &data, shape: shape([u32::MAX; 3], 255), order: Order::Zyx };
    assert_eq!((voxels.get([0, 0, 0]), voxels.get([u32::MAX - 1; 3])), (None, None));
    let voxels = Voxels { data: &data, shape: shape([1; 3], 0), order: Order::Zyx };
    assert_eq!((voxels.get([0, 0, 0]), voxels.count()), (Some(0), 0));
}

/// Ground of a sloping height: 1 below, 0 above; the voxels of a chunk at a position, written in an order.
fn ground(shape: Shape, chunk: [i32; 3], order: Order) -> Vec<u8> {
    let mut data = vec![0; usize::try_from(shape.bytes()).unwrap()];
    let voxels = Voxels { data: &[], shape, order };
    let [sx, sy, sz] = shape.size;
    for (x, y, z) in (0..sx).flat_map(|x| (0..sy).flat_map(move |y| (0..sz).map(move |z| (x, y, z)))) {
        let along = |chunk: i32, size: u32, v: u32| chunk * i32::try_from(size).unwrap() + i32::try_from(v).unwrap();
        let height = 5 + (along(chunk[0], sx, x) + 2 * along(chunk[2], sz, z)) / 9;
        let span = voxels.span([x, y, z]).unwrap();
        data[usize::try_from(span.start).unwrap()] = u8::from(along(chunk[1], sy, y) < height);
    }
    data
}

#[test]
fn columns_show_the_order_of_their_voxels() {
    let columns = shape([16, 64, 16], 2);
    for order in [Order::Xyz, Order::Yzx] {
        let mut inside = OrderEvidence::default();
        inside.add_inside(&ground(columns, [0; 3], order), &columns);
        let inferred = infer_order(&columns, &inside, &OrderEvidence::default());
        assert_eq!((inferred.value, inferred.how), (order, How::Inferred));
    }
    // Without evidence it is that of the notes.
    let none = OrderEvidence::default();
    let inferred = infer_order(&columns, &none, &none);
    assert_eq!((inferred.value, inferred.how), (Order::Xyz, How::Documented));
    let mut empty = OrderEvidence::default();
    empty.add_inside(&[0; 16 * 64 * 16 * 2], &columns);
    empty.add_inside(&[1, 2, 3], &columns);
    assert_eq!(empty.order(), None, "air has no order");
}

#[test]
fn seams_of_cubes_show_the_order_of_their_voxels() {
    let cube = shape([32; 3], 1);
    for order in [Order::Xyz, Order::Yzx] {
        let mut seams = OrderEvidence::default();
        let mut inside = OrderEvidence::default();
        for (axis, next) in [(0, [1, 0, 0]), (2, [0, 0, 1])] {
            let (first, second) = (ground(cube, [0; 3], order), ground(cube, next, order));
            seams.add_seam(&first, &second, &cube, axis);
            inside.add_inside(&first, &cube);
        }
        assert_eq!(inside, OrderEvidence::default(), "the steps of a cube are the same by every order");
        let inferred = infer_order(&cube, &inside, &seams);
        assert_eq!((inferred.value, inferred.how), (order, How::Inferred));
    }
    assert_eq!(infer_order(&cube, &OrderEvidence::default(), &OrderEvidence::default()).value, Order::Yzx);
}

#[test]
fn the_size_of_voxels_is_settled_by_the_voxels() {
    // Layers of stone, earth and air in 16 x 32 x 16 voxels.
    let kind = |n: u16| match n % 32 {
        0..12 => 300u16,
        12..20 => 7,
        _ => 0,
    };
    let words: Vec<u8> = (0..16 * 32 * 16).flat_map(|n| kind(n / 16).to_le_bytes()).collect();
    let bytes: Vec<u8> = (0..16 * 64 * 16u16).map(|n| kind(n / 16).to_le_bytes()[0]).collect();
    let of = |data: &[u8], given| {
        let shape = infer(data.len() as u64, true, given).report_to(&mut Vec::new()).unwrap();
        settle_voxel_bytes(shape, data)
    };
    let found = of(&words, Given::default());
    assert_eq!((found.value, found.how), (Shape { size: [16, 32, 16], voxel_bytes: 2 }, How::Inferred));
    assert!(found.alternatives.contains(&Shape { size: [16, 64, 16], voxel_bytes: 1 }), "{found:?}");
    let found = of(&bytes, Given::default());
    assert_eq!((found.value.voxel_bytes, found.how), (1, How::Inferred));
    // Nothing decides, or the user did.
    let zeros = vec![0; words.len()];
    assert_eq!((of(&zeros, Given::default()).value.voxel_bytes, of(&zeros, Given::default()).how), (1, How::Assumed));
    let given = Given { voxel_bytes: Some(1), ..Given::default() };
    assert_eq!(of(&words, given).value.voxel_bytes, 1);
}
