//! Whatever is written is read back, with every offset where the format puts it.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// The item of a voxel, with its position.
type Placed = ([u16; 3], Item<'static>);

/// A block that owns its bytes.
#[derive(Clone, Debug)]
struct Plan {
    version: u8,
    size: [u16; 3],
    channels: Vec<(Storage, Depth, Vec<u8>)>,
    metadata: Option<(Item<'static>, Vec<Placed>)>,
}

fn dialect(version: u8) -> Dialect {
    if version < 3 { Dialect::Godot3 } else { Dialect::Godot4 }
}

fn variant() -> impl Strategy<Value = Variant<'static>> {
    let leaf = prop_oneof![
        Just(Variant::Nil),
        any::<bool>().prop_map(Variant::bool),
        any::<i64>().prop_map(Variant::int),
        any::<f64>().prop_map(Variant::float),
        ".{0,9}".prop_map(Variant::string),
        any::<[f32; 3]>().prop_map(Variant::vector3),
        vec(any::<u8>(), 0..9).prop_map(Variant::packed_bytes),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Variant::array),
            vec((inner.clone(), inner), 0..4).prop_map(Variant::dictionary),
        ]
    })
}

/// Before version 4 there are only Variants.
fn item(version: u8) -> BoxedStrategy<Item<'static>> {
    let variant = variant().prop_map(Item::Variant);
    if version < 4 {
        return variant.boxed();
    }
    prop_oneof![variant, any::<u64>().prop_map(Item::Number), Just(Item::Empty)].boxed()
}

fn plan() -> impl Strategy<Value = Plan> {
    (1_u8..=4, [1_u16..=4, 1..=4, 1..=4]).prop_flat_map(|(version, size)| {
        let [x, y, z] = size;
        let channel = (any::<bool>(), proptest::sample::select(&Depth::ALL[..])).prop_flat_map(move |(raw, depth)| {
            let values = if raw { usize::from(x * y * z) } else { 1 };
            let storage = if raw { Storage::Raw } else { Storage::Uniform };
            vec(any::<u8>(), values * depth.bytes()).prop_map(move |data| (storage, depth, data))
        });
        let voxels = vec(([0..x, 0..y, 0..z], item(version)), 0..4);
        let metadata = proptest::option::of((item(version), voxels));
        (vec(channel, CHANNELS), metadata).prop_map(move |(channels, metadata)| Plan {
            version,
            size,
            channels,
            metadata,
        })
    })
}

/// Bytes of an item, reckoned without the encoder of blocks.
fn item_len(item: &Item<'_>, version: u8) -> u64 {
    let tag = u64::from(version == 4);
    tag + match item {
        Item::Variant(variant) => {
            let mut out = Vec::new();
            variant.encode(dialect(version), &mut out);
            len64(&out)
        }
        Item::Number(_) => 8,
        Item::Empty => 0,
        Item::Float(_) | Item::Text(_) | Item::Bytes(_) | Item::Custom { .. } => unreachable!(),
    }
}

/// The block as it must be read.
fn block_of(plan: &Plan) -> Block<'_> {
    let mut at = if plan.version == 1 { 0 } else { 7 };
    let mut channels = Vec::new();
    for (storage, depth, data) in &plan.channels {
        let size = len64(data);
        channels.push(Channel { depth: *depth, storage: *storage, data, offset: at + 1, size });
        at += 1 + size;
    }
    let metadata = plan.metadata.as_ref().map(|(block, voxels)| {
        let start = at + 4;
        at = start + item_len(block, plan.version);
        let voxels = voxels
            .iter()
            .map(|(position, item)| {
                let end = at + 6 + item_len(item, plan.version);
                let voxel = VoxelItem { position: *position, item: item.clone(), span: Span::new(at, end) };
                at = end;
                voxel
            })
            .collect();
        Metadata {
            declared: u32::try_from(at - start).unwrap(),
            dialect: dialect(plan.version),
            block: Some(block.clone()),
            voxels,
            unread: (start, &[]),
        }
    });
    let epilogue = Some(Span::sized(at, 4));
    Block { version: plan.version, size: plan.size, channels, metadata, epilogue }
}

fn layout_of(plan: &Plan) -> BlockLayout {
    let mut depths = [Depth::Bits8; CHANNELS];
    for (to, (_, depth, _)) in depths.iter_mut().zip(&plan.channels) {
        *to = *depth;
    }
    BlockLayout { size: plan.size, depths }
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(plan in plan()) {
        let block = block_of(&plan);
        let bytes = written(&block);
        prop_assert_eq!(len64(&bytes), block.epilogue.unwrap().end);
        let (back, damage) = read_in(&bytes, Some(&layout_of(&plan)));
        prop_assert_eq!(damage, vec![]);
        prop_assert_eq!(&back, &block);
        prop_assert_eq!(written(&back), bytes);
    }

    #[test]
    fn one_wrong_byte_is_no_panic_and_stays_inside(plan in plan(), at in any::<proptest::sample::Index>(), to in any::<u8>()) {
        let layout = layout_of(&plan);
        let mut bytes = written(&block_of(&plan));
        let at = at.index(bytes.len());
        bytes[at] = to;
        // The helper checks that all damage lies inside the block.
        let (block, damage) = read_in(&bytes, Some(&layout));
        prop_assert!(block.channels.len() <= CHANNELS);
        prop_assert!(block.epilogue.is_some() || !damage.is_empty());
        let whole = block.whole_channels() == CHANNELS;
        prop_assert!(whole || !damage.is_empty());
    }

    #[test]
    fn any_bytes_are_no_panic(bytes in vec(prop_oneof![3 => 0_u8..5, 1 => any::<u8>()], 0..200)) {
        for layout in [None, Some(&LAYOUT)] {
            let (block, damage) = read_in(&bytes, layout);
            prop_assert!(block.epilogue.is_some() || !damage.is_empty());
        }
    }
}
