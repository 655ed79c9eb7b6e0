use proptest::prelude::*;

use super::*;

/// Version 1, one layer with id 7, two instances; the range is 32, the scales 1.5 to 3.
#[rustfmt::skip]
const ONE: [u8; 45] = [
    1, 1, 0x00, 0x00, 0x00, 0x42,
    7, 0, 2, 0, 0x00, 0x00, 0xc0, 0x3f, 0x00, 0x00, 0x40, 0x40, 0,
    0xff, 0xff, 0x00, 0x00, 0xff, 0x7f, 255, 127, 127, 127, 254,
    0x34, 0x12, 0x00, 0x80, 0x01, 0x00, 0, 0, 127, 127, 127,
    0x0d, 0xf0, 0x0d, 0x90,
];

/// The same, big-endian.
#[rustfmt::skip]
const BIG: [u8; 45] = [
    0, 1, 0x42, 0x00, 0x00, 0x00,
    0, 7, 0, 2, 0x3f, 0xc0, 0x00, 0x00, 0x40, 0x40, 0x00, 0x00, 0,
    0xff, 0xff, 0x00, 0x00, 0x7f, 0xff, 255, 127, 127, 127, 254,
    0x12, 0x34, 0x80, 0x00, 0x00, 0x01, 0, 0, 127, 127, 127,
    0x90, 0x0d, 0xf0, 0x0d,
];

fn decode(data: &[u8]) -> (Instances<'_>, Vec<Damage>) {
    let mut damage = Vec::new();
    let read = Instances::decode(data).report_to(&mut damage);
    (read, damage)
}

fn codes(data: &[u8]) -> Vec<Code> {
    decode(data).1.iter().map(|d| d.code).collect()
}

/// `ONE` with bytes from `at` on replaced.
fn with(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut data = ONE.to_vec();
    data[at..at + bytes.len()].copy_from_slice(bytes);
    data
}

#[test]
fn both_byte_orders_give_the_same_instances_and_come_out_as_they_were() {
    for data in [&ONE, &BIG] {
        let (read, damage) = decode(data);
        assert_eq!(damage, []);
        assert_eq!((read.version, read.position_range, read.layers.len()), (data[0], 32.0, 1));
        let layer = &read.layers[0];
        assert_eq!((layer.id, layer.count, layer.scale_min, layer.scale_max), (7, 2, 1.5, 3.0));
        assert_eq!((layer.span, read.epilogue), (Span::new(6, 41), Some(Span::new(41, 45))));
        let [a, b] = layer.instances().collect::<Vec<_>>()[..] else { panic!("two instances") };
        assert_eq!(a.position(32.0), [32.0, 0.0, f32::from(0x7fff_u16) / 65_535.0 * 32.0]);
        assert_eq!((a.scale(1.5, 3.0), b.scale(1.5, 3.0)), (3.0, 1.5));
        assert_eq!(a.rotation(), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(b.position, [0x1234, 0x8000, 1]);
        assert_eq!(b.rotation(), [-1.0, 0.0, 0.0, 0.0]);
        let mut out = Vec::new();
        read.encode(&mut out);
        assert_eq!(out, *data);
    }
}

#[test]
fn a_rotation_of_zero_is_none() {
    let none = Instance { position: [0; 3], scale: 0, rotation: [127; 4] };
    assert_eq!(none.rotation(), [0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn data_without_layers_is_healthy() {
    assert_eq!(codes(&[1, 0, 0x00, 0x00, 0x80, 0x41, 0x0d, 0xf0, 0x0d, 0x90]), []);
}

#[test]
fn each_fault_has_its_code() {
    for (data, code) in [
        (with(0, &[2]), Code::InstancesVersion),
        (with(2, &[0, 0, 0x80, 0x7f]), Code::InstancesRange),
        (with(2, &[0, 0, 0xc0, 0x7f]), Code::InstancesRange),
        (with(2, &[0, 0, 0, 0xc2]), Code::InstancesRange),
        (with(10, &[0, 0, 0x80, 0x40]), Code::InstancesScale),
        (with(14, &[0, 0, 0x80, 0x7f]), Code::InstancesScale),
        (with(10, &[0, 0, 0xc0, 0x7f]), Code::InstancesScale),
        (with(18, &[1]), Code::InstancesFormat),
        (with(8, &[3, 0]), Code::InstancesCut),
        (with(41, &[0]), Code::InstancesEpilogue),
        ([&ONE[..], &[9]].concat(), Code::InstancesTrailing),
        (with(1, &[2]), Code::InstancesCut),
        (Vec::new(), Code::InstancesCut),
        (ONE[..41].to_vec(), Code::InstancesEpilogue),
    ] {
        let found = decode(&data).1;
        assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), [code], "{data:02x?}");
        assert!(found[0].span.end <= len64(&data) && found[0].space == crate::damage::Space::Block);
    }
}

#[test]
fn two_layers_of_one_id_are_both_read() {
    let twice = [&[1, 2], &ONE[2..41], &ONE[6..45]].concat();
    let (read, damage) = decode(&twice);
    assert_eq!(
        damage.iter().map(|d| (d.code, d.span)).collect::<Vec<_>>(),
        [(Code::InstancesTwice, Span::new(41, 43))]
    );
    assert!(read.layers.len() == 2 && read.layers.iter().all(Layer::is_whole));
}

/// Whether or not others come between them.
#[test]
fn layers_of_one_id_apart_are_both_read() {
    let layer = &ONE[6..41];
    // The first bytes of a layer are its id.
    let other = [&[99, 0], &layer[2..]].concat();
    let apart = [&[1, 3], &ONE[2..6], layer, &other, layer, &ONE[41..]].concat();
    let (read, damage) = decode(&apart);
    let start = 6 + 2 * 35;
    assert_eq!(
        damage.iter().map(|d| (d.code, d.span)).collect::<Vec<_>>(),
        [(Code::InstancesTwice, Span::new(start, start + 2))]
    );
    assert!(read.layers.len() == 3 && read.layers.iter().all(Layer::is_whole));
}

#[test]
fn a_count_beyond_the_data_leaves_the_instances_that_are_there() {
    let data = with(8, &[0xff, 0xff]);
    let (read, damage) = decode(&data);
    let [cut] = damage[..] else { panic!("{damage:?}") };
    assert_eq!((cut.expected, cut.found), (Value::Bytes(65_535 * 11), Value::Bytes(26)));
    assert_eq!((read.layers[0].instances().len(), read.layers[0].is_whole()), (2, false));
    // The end of the data is not lost on a reader that wants to know whether it was cut.
    assert_eq!(read.epilogue, Some(Span::new(41, 45)));
}

proptest! {
    #[test]
    fn what_decodes_without_damage_comes_out_as_it_was(data in proptest::collection::vec(any::<u8>(), 0..120)) {
        let (read, damage) = decode(&data);
        if damage.is_empty() {
            let mut out = Vec::new();
            read.encode(&mut out);
            prop_assert_eq!(out, data);
        }
    }
}
