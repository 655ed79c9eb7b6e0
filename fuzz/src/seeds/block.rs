use voxscope::bytes::Span;
use voxscope::godot::block::{Block, EPILOGUE, encode};
use voxscope::godot::channel::{CHANNELS, Channel, Depth, Storage};
use voxscope::godot::metadata::{Item, Metadata, VoxelItem};
use voxscope::godot::variant::{Dialect, Variant};

use super::{Seeds, Set, cut, joined, noise, patched};

/// The block's own item, and those of voxels.
type Items = (Item<'static>, Vec<([u16; 3], Item<'static>)>);

/// A block that is to be: which channels are raw, and what metadata it has.
pub(super) struct Plan {
    pub version: u8,
    pub size: [u16; 3],
    pub depths: [Depth; CHANNELS],
    pub raw: [bool; CHANNELS],
    pub metadata: Option<Items>,
}

impl Plan {
    /// A small block with raw TYPE and SDF of 16 bits.
    pub fn new(version: u8) -> Self {
        let mut depths = [Depth::Bits8; CHANNELS];
        depths[1] = Depth::Bits16;
        let mut raw = [false; CHANNELS];
        raw[0] = true;
        raw[1] = true;
        Self { version, size: [2; 3], depths, raw, metadata: None }
    }

    pub fn with_metadata(mut self) -> Self {
        self.metadata = Some(metadata(self.version));
        self
    }

    pub fn dialect(&self) -> Dialect {
        if self.version >= 3 { Dialect::Godot4 } else { Dialect::Godot3 }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let volume = self.size.iter().map(|&n| usize::from(n)).product::<usize>();
        let length = |i: usize| self.depths[i].bytes() * if self.raw[i] { volume } else { 1 };
        let data: [Vec<u8>; CHANNELS] = std::array::from_fn(|i| {
            // Half of the values repeat, as in a world.
            (0..length(i)).map(|n| if n % 4 < 2 { i as u8 } else { (n / 3) as u8 }).collect()
        });
        let channel = |i: usize| Channel {
            depth: self.depths[i],
            storage: if self.raw[i] { Storage::Raw } else { Storage::Uniform },
            data: &data[i],
            offset: 0,
            size: data[i].len() as u64,
        };
        let voxel = |(position, item): &([u16; 3], Item<'static>)| VoxelItem {
            position: *position,
            item: item.clone(),
            span: Span::default(),
        };
        let metadata = self.metadata.as_ref().map(|(block, voxels)| Metadata {
            declared: 0,
            dialect: self.dialect(),
            block: Some(block.clone()),
            voxels: voxels.iter().map(voxel).collect(),
            unread: (0, &[]),
        });
        let channels = (0..CHANNELS).map(channel).collect();
        let mut out = Vec::new();
        encode(&Block { version: self.version, size: self.size, channels, metadata, epilogue: None }, &mut out);
        out
    }

    /// Options of the input that say this layout.
    pub fn layout(&self) -> Vec<u8> {
        let codes = (0..CHANNELS).fold(0u16, |codes, i| codes | u16::from(self.depths[i].code()) << (2 * i));
        let [x, y, z] = self.size.map(|n| n as u8);
        let [d0, d1] = codes.to_le_bytes();
        vec![1, x, y, z, d0, d1]
    }
}

fn metadata(version: u8) -> Items {
    let string = Item::Variant(Variant::string("chest"));
    let pairs = vec![
        (Variant::string("items"), Variant::array(vec![Variant::int(3), Variant::int(1 << 40)])),
        (Variant::string("open"), Variant::bool(true)),
    ];
    let dictionary = Item::Variant(Variant::dictionary(pairs));
    if version < 4 {
        return (dictionary, vec![([0, 1, 0], string.clone()), ([1, 1, 1], string)]);
    }
    (Item::Empty, vec![([0, 1, 0], string), ([1, 0, 1], Item::Number(77)), ([1, 1, 1], dictionary)])
}

/// A block with the options that read it: version 1 needs a layout.
fn input(plan: &Plan, block: &[u8]) -> Vec<u8> {
    if plan.version == 1 { joined(&plan.layout(), block) } else { joined(&[0], block) }
}

pub(super) fn seeds() -> Seeds {
    let mut set = Set::default();
    for version in 1..=4 {
        let (bare, full) = (Plan::new(version), Plan::new(version).with_metadata());
        let (b, f) = (bare.bytes(), full.bytes());
        let mut add = |name: &str, block: Vec<u8>| set.add(format!("v{version}_{name}"), input(&bare, &block));
        add("healthy", b.clone());
        add("metadata", f.clone());
        add("wrong_epilogue", patched(&b, b.len() - 4, &[0; 4]));
        add("epilogue_one_bit", patched(&b, b.len() - 1, &[0x91]));
        add("epilogue_missing", cut(&b, 4));
        add("epilogue_cut", cut(&b, 1));
        add("metadata_cut", cut(&f, 13));
        add("metadata_cut_epilogue_there", joined(&cut(&f, 13), &EPILOGUE.to_le_bytes()));
        add("metadata_size_only", [&b[..b.len() - 4], &[0; 4], &EPILOGUE.to_le_bytes()].concat());
        add("metadata_size_cut", [&b[..b.len() - 4], &[9; 2], &EPILOGUE.to_le_bytes()].concat());
        let size_at = b.len() - 4;
        let declared = (f.len() - b.len() - 4) as u32;
        add("metadata_size_4gib", patched(&f, size_at, &u32::MAX.to_le_bytes()));
        add("metadata_size_one_more", patched(&f, size_at, &(declared + 1).to_le_bytes()));
        add("metadata_size_one_less", patched(&f, size_at, &(declared - 1).to_le_bytes()));
        add("metadata_trailing", [&f[..f.len() - 4], &[7; 5], &EPILOGUE.to_le_bytes()].concat());
        add("channel_cut", b[..b.len() / 2].to_vec());
        add("channel_cut_epilogue_there", joined(&b[..b.len() / 2], &EPILOGUE.to_le_bytes()));
        let mut plan = Plan::new(version).with_metadata();
        if let Some((_, voxels)) = &mut plan.metadata {
            voxels.insert(0, ([9, 0, 0], voxels[0].1.clone()));
        }
        add("metadata_position_outside", plan.bytes());
        add("storage_2", patched(&b, if version == 1 { 0 } else { 7 }, &[if version == 1 { 5 } else { 2 }]));
        set.add(format!("v{version}_layout_same"), joined(&bare.layout(), &b));
        set.add(format!("v{version}_layout_other"), [&[1, 3, 2, 2, 0xff, 0xff], b.as_slice()].concat());
        for (flag, name) in [(2, "godot_3"), (4, "godot_4")] {
            let mut options = if version == 1 { bare.layout() } else { vec![0] };
            options[0] |= flag;
            set.add(format!("v{version}_metadata_as_{name}"), joined(&options, &f));
        }
    }
    versions_2_to_4(&mut set);
    shapes(&mut set);
    version_4_items(&mut set);

    let unread = Plan::new(1).bytes();
    set.add("v1_without_layout", joined(&[0], &unread));
    set.add("version_0_size_0", [1, 0, 0, 0, 0, 0]);
    set.add("version_5", joined(&[0], &patched(&Plan::new(4).bytes(), 0, &[5])));
    set.add("version_255", joined(&[0], &noise(64)));
    set.add("empty", []);
    set.add("no_block", [0]);
    set.0
}

fn versions_2_to_4(set: &mut Set) {
    for version in 2..=4 {
        let bytes = Plan::new(version).bytes();
        for n in [1, 3, 6] {
            set.add(format!("v{version}_header_cut_at_{n}"), joined(&[0], &bytes[..n]));
        }
        set.add(format!("v{version}_size_zero"), joined(&[0], &patched(&bytes, 3, &[0, 0])));
        set.add(format!("v{version}_size_65535"), joined(&[0], &patched(&bytes, 1, &[0xff; 6])));
        // A volume of 2^32 voxels: none, in 32 bits.
        set.add(format!("v{version}_size_of_33_bits"), joined(&[0], &patched(&bytes, 1, &[0, 8, 0, 8, 0, 4])));
        set.add(format!("v{version}_depth_code_4"), joined(&[0], &patched(&bytes, 7, &[0x40])));
    }
    // Version 2 of the last weeks: Variants of Godot 4. A Vector3 is type 7 in one, 9 in the other.
    let item = || Item::Variant(Variant::vector3([1.0, 2.0, 3.0]));
    let mut plan = Plan::new(4);
    plan.version = 3;
    plan.metadata = Some((item(), vec![([1, 1, 1], item())]));
    set.add("v2_metadata_of_godot_4", joined(&[0], &patched(&plan.bytes(), 0, &[2])));
}

fn shapes(set: &mut Set) {
    for (i, depth) in Depth::ALL.into_iter().enumerate() {
        let mut plan = Plan::new(4);
        plan.depths = [depth; CHANNELS];
        plan.raw = [true; CHANNELS];
        set.add(format!("v4_all_raw_{}_bit", depth.bits()), joined(&[0], &plan.bytes()));
        plan.raw = [false; CHANNELS];
        plan.size = [255 << i; 3];
        set.add(format!("v4_all_uniform_{}_bit", depth.bits()), joined(&[0], &plan.bytes()));
        plan.version = 1;
        plan.size = [1, 2, 3];
        plan.raw[i] = true;
        set.add(format!("v1_{}_bit", depth.bits()), joined(&plan.layout(), &plan.bytes()));
    }
    let mut plan = Plan::new(4);
    plan.size = [3, 1, 5];
    set.add("v4_not_a_cube", joined(&[0], &plan.bytes()));
    plan.size = [65535, 1, 1];
    plan.raw = [false; CHANNELS];
    set.add("v4_a_line", joined(&[0], &plan.bytes()));
}

fn version_4_items(set: &mut Set) {
    let mut with = |name: &str, item: Item<'static>, voxels: Vec<([u16; 3], Item<'static>)>| {
        let mut plan = Plan::new(4);
        plan.metadata = Some((item, voxels));
        let bytes = joined(&[0], &plan.bytes());
        set.add(format!("v4_{name}"), bytes.clone());
        bytes
    };
    with("item_number", Item::Number(u64::MAX), vec![]);
    with("item_variant", Item::Variant(Variant::Nil), vec![]);
    with("item_of_the_game", Item::Custom { kind: 33, bytes: b"anything" }, vec![]);
    with("voxel_item_of_the_game", Item::Empty, vec![([0; 3], Item::Custom { kind: 255, bytes: &[1, 2, 3] })]);
    // The length of an item of the Rust port decides where the next one begins.
    let texts = vec![([0, 1, 0], Item::Text("iron")), ([1, 0, 1], Item::Bytes(b"ore")), ([1; 3], Item::Empty)];
    with("items_of_the_port", Item::Float(2.5f64.to_bits()), texts);
    let empty = with("voxel_items_empty", Item::Empty, vec![([1; 3], Item::Empty); 40]);
    let one = with("item_empty", Item::Empty, vec![]);
    set.add("v4_item_type_2", patched(&one, one.len() - 5, &[2]));
    set.add("v4_item_type_31", patched(&one, one.len() - 5, &[31]));
    set.add("v4_item_number_cut", patched(&one, one.len() - 5, &[1]));
    set.add("v4_item_variant_cut", patched(&one, one.len() - 5, &[32]));
    // Cut in the middle of a position, with the size made to fit.
    let bare = Plan::new(4).bytes().len() - 4 + 1;
    let body = &empty[bare + 4..bare + 4 + 1 + 7 * 3 + 4];
    let size = (body.len() as u32).to_le_bytes();
    set.add("v4_position_cut", [&empty[..bare], &size, body, &EPILOGUE.to_le_bytes()].concat());
    // More items than `limits()` allows.
    let items = [0].into_iter().chain([0u8; 7].into_iter().cycle().take(7 * 1100)).collect::<Vec<u8>>();
    let size = (items.len() as u32).to_le_bytes();
    set.add("v4_1100_items", [&empty[..bare], &size, &items, &EPILOGUE.to_le_bytes()].concat());
}
