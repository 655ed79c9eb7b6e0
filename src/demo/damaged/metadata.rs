//! Metadata of blocks and the Variants in it.

use std::io;
use std::path::Path;

use crate::damage::Code;
use crate::demo::Sample;
use crate::demo::draft::{REGION, alter_of, plain, spec, victim};
use crate::demo::forest::ForestSpec;
use crate::godot::block::EPILOGUE;
use crate::godot::metadata::{Item, Metadata};
use crate::godot::slots::SlotFormula;
use crate::godot::variant::{Dialect, Variant};

pub(super) const SAMPLES: &[Sample] = &[
    Sample::damaged("metadata-cut", "A number in the metadata lacks five bytes.", &[Code::MetadataCut], |dir| {
        with(dir, &[1, 7, 0, 0])
    }),
    Sample::damaged("metadata-size", "The metadata claims a megabyte.", &[Code::MetadataSize], |dir| {
        with_size(dir, 1 << 20, &item(&Variant::string("owner")))
    }),
    Sample::damaged("metadata-type", "An item has a type that does not exist.", &[Code::MetadataType], |dir| {
        with(dir, &[7, 1, 2, 3])
    }),
    Sample::damaged("metadata-custom", "An item that only its game can read.", &[Code::MetadataCustom], |dir| {
        with(dir, &[40, 1, 2, 3, 4, 5])
    }),
    Sample::damaged(
        "metadata-position",
        "An item names a voxel that the block does not have.",
        &[Code::MetadataPosition],
        |dir| {
            let mut body = vec![0];
            body.extend([200, 0, 1, 0, 1, 0]);
            body.extend(item(&Variant::string("lost")));
            with(dir, &body)
        },
    ),
    Sample::damaged("metadata-trailing", "Bytes follow the metadata.", &[Code::MetadataTrailing], |dir| {
        let mut body = item(&Variant::string("owner"));
        let size = body.len() as u32;
        body.extend([0xaa; 6]);
        with_size(dir, size, &body)
    }),
    Sample::damaged(
        "metadata-dialect",
        "Blocks of version 2 with metadata of Godot 4, as the last weeks of that version wrote it.",
        &[Code::MetadataDialect],
        dialect,
    ),
    Sample::damaged("variant-cut", "A string is longer than what is left.", &[Code::VariantCut], |dir| {
        let mut body = item(&Variant::string("a name of some length"));
        body[5] = 200;
        with(dir, &body)
    }),
    Sample::damaged("variant-type", "A Variant of type 200.", &[Code::VariantType], |dir| {
        with(dir, &[32, 200, 0, 0, 0])
    }),
    Sample::damaged("variant-flags", "A Variant with flags that do not exist.", &[Code::VariantFlags], |dir| {
        with(dir, &[32, 2, 0, 0x40, 0, 5, 0, 0, 0])
    }),
    Sample::damaged("variant-depth", "1,100 arrays inside one another.", &[Code::VariantDepth], |dir| {
        let mut body = vec![32];
        for _ in 0..1100 {
            body.extend([28, 0, 0, 0, 1, 0, 0, 0]);
        }
        body.extend([0; 4]);
        with(dir, &body)
    }),
    Sample::damaged("variant-text", "A string that is not UTF-8.", &[Code::VariantText], |dir| {
        let mut body = item(&Variant::string("owner=p0"));
        body[11] = 0xff;
        with(dir, &body)
    }),
    Sample::damaged("variant-padding", "A string with old memory in its padding.", &[Code::VariantPadding], |dir| {
        let mut body = item(&Variant::string("owner"));
        if let Some(last) = body.last_mut() {
            *last = 0x5a;
        }
        with(dir, &body)
    }),
    Sample::damaged("variant-count", "An array of four thousand million values.", &[Code::VariantCut], |dir| {
        with(dir, &[32, 28, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0])
    }),
];

/// A Variant as an item of a block of version 4.
fn item(value: &Variant<'_>) -> Vec<u8> {
    let mut out = vec![32];
    value.encode(Dialect::Godot4, &mut out);
    out
}

/// Gives a block this metadata.
fn with(dir: &Path, body: &[u8]) -> io::Result<()> {
    with_size(dir, body.len() as u32, body)
}

/// Gives a block this metadata, with a size of one's own.
fn with_size(dir: &Path, size: u32, body: &[u8]) -> io::Result<()> {
    plain(dir, |data| {
        data.truncate(data.len() - 4);
        data.extend(size.to_le_bytes());
        data.extend(body);
        data.extend(EPILOGUE.to_le_bytes());
    })
}

fn dialect(dir: &Path) -> io::Result<()> {
    let spec = ForestSpec { block_version: 2, slots: SlotFormula::Legacy, ..spec() };
    alter_of(&spec, dir, |draft| {
        let at = victim(&draft.blocks(REGION)?)?;
        let mut block = spec.block(0, [1, 1, 1]);
        block.metadata = Some(Metadata {
            declared: 0,
            dialect: Dialect::Godot4,
            block: Some(Item::Variant(Variant::vector3i([1, 2, 3]))),
            voxels: Vec::new(),
            unread: (0, &[]),
        });
        draft.replace(REGION, at.slot, &block.pack(spec.mode))
    })
}
