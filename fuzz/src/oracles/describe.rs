//! What is read of bytes as they are, in words: the structure, and the damage up to where the reading stops.

use std::fmt::Write as _;

use voxscope::bytes::Cursor;
use voxscope::check;
use voxscope::damage::Damage;
use voxscope::godot::block_files::{self, decode_block_file};
use voxscope::godot::container::Decoder;
use voxscope::godot::forest::Meta;
use voxscope::godot::region::{Header, MAX_HEADER_BYTES};
use voxscope::godot::variant::{Budget, Dialect};
use voxscope::pak::header;
use voxscope::save::{Beside, Options, Pak, PakOptions, Region, Scratch, Stream};
use voxscope::sqlite::{journal, wal};
use voxscope::voxel_map::map_json::MapData;

use super::limits;
use super::region::OUTSIDE;

fn listed(out: &mut String, damage: &[Damage]) {
    let _ = writeln!(out, "damage: {}", damage.len());
    for d in damage {
        let _ = writeln!(out, "  {} at {} of the {:?}: {d}", d.code, d.span, d.space);
    }
}

fn findings(out: &mut String, findings: &[check::Finding]) {
    let _ = writeln!(out, "findings: {}", findings.len());
    for finding in findings {
        let _ = writeln!(out, "  {}: {finding}", finding.code());
    }
}

/// A block, behind its options.
pub fn block(data: &[u8]) -> String {
    let (layout, dialect, data) = super::block::options(data);
    let mut damage = Vec::new();
    let block = voxscope::godot::block::decode(data, layout.as_ref(), dialect, &limits()).report_to(&mut damage);
    let mut out = format!("layout: {layout:?}\ndialect: {dialect:?}\nblock of {} bytes: {block:#?}\n", data.len());
    listed(&mut out, &damage);
    out
}

/// The files of a save of block files.
pub fn block_files(data: &[u8]) -> String {
    let files = super::block_files::Files::parse(data);
    let (mut out, mut damage) = (String::new(), Vec::new());
    let meta = files.meta.as_deref().and_then(|meta| block_files::Meta::decode(meta).report_to(&mut damage));
    let _ = writeln!(out, "meta file: {:?}\n{meta:?}", files.meta.as_deref().map(<[u8]>::escape_ascii));
    for (path, file) in &files.blocks {
        let start = &file[..file.len().min(9)];
        let format = meta.and_then(|meta| meta.format());
        let header = decode_block_file(start, file.len() as u64, format.as_ref()).report_to(&mut damage);
        let _ = writeln!(out, "{}: {} bytes, {}", path.escape_ascii(), file.len(), start.escape_ascii());
        if let Some(Ok(region)) = header.map(|h| Region::load(&file[..], h, 0, [0; 3], &Options::default())) {
            findings(&mut out, &check::region(&region, "block"));
        }
    }
    listed(&mut out, &damage);
    out
}

/// A container.
pub fn container(data: &[u8]) -> String {
    let (mut decoder, mut damage) = (Decoder::default(), Vec::new());
    let found = decoder.decode(data, &limits()).report_to(&mut damage);
    let (mode, declared, plain) = (found.mode, found.declared, found.plain);
    let start = &plain[..plain.len().min(64)];
    let mut out = format!("mode: {mode:?}\ndeclared: {declared:?}\nplain: {} bytes, {start:02x?}\n", plain.len());
    listed(&mut out, &damage);
    out
}

/// Instance data.
pub fn instances(data: &[u8]) -> String {
    let mut damage = Vec::new();
    let read = voxscope::godot::instances::Instances::decode(data).report_to(&mut damage);
    let mut out = format!("{read:#?}\n");
    listed(&mut out, &damage);
    out
}

/// A stream.
pub fn stream(data: &[u8]) -> String {
    let mut damage = Vec::new();
    let loaded = Stream::load(data, Beside::default(), &limits(), &mut damage);
    let mut out = String::new();
    if let Ok(Some(stream)) = loaded {
        let _ = writeln!(out, "header: {:?}\nsettings: {:?}, {:?}", stream.pages.header, stream.meta, stream.format);
        let _ = writeln!(out, "tables: {:#?}\npages: {:?}\nrows: {:#?}", stream.tables, stream.owners, stream.rows);
    }
    listed(&mut out, &damage);
    findings(&mut out, &check::stream_bytes(data, "s", &Options::default().limits(limits())));
    out
}

/// A journal or a log of a stream.
pub fn stream_log(data: &[u8]) -> String {
    format!("journal: {:#?}\nlog: {:#?}\n", journal::read(data), wal::read(data))
}

/// A meta file.
pub fn forest(data: &[u8]) -> String {
    let mut damage = Vec::new();
    let mut out = format!("text: {}\nmeta: {:#?}\n", data.escape_ascii(), Meta::decode(data).report_to(&mut damage));
    listed(&mut out, &damage);
    out
}

/// The description of a map.
pub fn map_json(data: &[u8]) -> String {
    let mut damage = Vec::new();
    let mut out = format!("text: {}\nmap: {:#?}\n", data.escape_ascii(), MapData::decode(data).report_to(&mut damage));
    listed(&mut out, &damage);
    out
}

/// A layer with its arrays.
pub fn npy_map(data: &[u8]) -> String {
    let Ok((layer, files)) = super::npy_map::files(&mut arbitrary::Unstructured::new(data)) else {
        return "too short\n".to_owned();
    };
    let mut out = format!("layer: {layer:#?}\n");
    for (name, bytes) in &files {
        let _ = writeln!(out, "file {name}: {} bytes, {}", bytes.len(), bytes[..bytes.len().min(200)].escape_ascii());
    }
    let (grid, report) = super::npy_map::open(&layer, &files);
    let _ = writeln!(out, "faults: {:#?}", grid.faults.iter().chain(&report.faults).collect::<Vec<_>>());
    out
}

/// A pak region, spread or not.
pub fn pak(data: &[u8]) -> String {
    let data = super::pak::whole(data);
    let mut damage = Vec::new();
    let mut out = format!("header: {:#?}\n", header::Header::decode(&data, data.len() as u64).report_to(&mut damage));
    let open = Pak::load(&data[..], [0; 3], &PakOptions::default(), &limits(), &mut Vec::new());
    if let Ok(Some(open)) = open {
        let _ = writeln!(out, "reading: {:?}", open.reading);
        for (number, record) in open.present().take(20) {
            let _ = writeln!(out, "record {number}: {record:?}");
        }
    }
    let options = Options::default().limits(limits());
    findings(&mut out, &check::pak_bytes(&data, "pak", [0; 3], &options));
    out
}

/// A region file.
pub fn region(data: &[u8]) -> String {
    let mut damage = Vec::new();
    let prefix = &data[..data.len().min(MAX_HEADER_BYTES)];
    let header = Header::decode(prefix, data.len() as u64, Some(&OUTSIDE)).report_to(&mut damage);
    let options = Options::default().limits(limits()).format(OUTSIDE);
    let mut out = format!("header: {header:#?}\n");
    if let Some(Ok(region)) = header.map(|header| Region::load(data, header, 0, [0; 3], &options)) {
        let mut scratch = Scratch::default();
        for listed in region.by_sector().into_iter().take(20) {
            let (first, count) = (listed.entry.first(), listed.entry.count());
            let _ = writeln!(out, "slot {}: {count} sectors from {first} on", listed.slot);
            if let Ok(view) = region.view(listed.entry, &mut scratch) {
                let block = view.block.map(|block| (block.version, block.size, block.whole_channels()));
                let _ = writeln!(out, "  stored {:?}, version, size and whole channels {block:?}", view.stored);
            }
        }
    }
    findings(&mut out, &check::region_bytes(data, "region", 0, [0; 3], &options));
    out
}

/// A Variant of Godot 3.
pub fn variant_3(data: &[u8]) -> String {
    variant(data, Dialect::Godot3)
}

/// A Variant of Godot 4.
pub fn variant_4(data: &[u8]) -> String {
    variant(data, Dialect::Godot4)
}

fn variant(data: &[u8], dialect: Dialect) -> String {
    let (mut cursor, mut damage) = (Cursor::new(data), Vec::new());
    let found =
        voxscope::godot::variant::decode(&mut cursor, dialect, &mut Budget::from(&limits())).report_to(&mut damage);
    let mut out = format!("value: {found:#?}\n{} of {} bytes are left\n", cursor.remaining(), data.len());
    listed(&mut out, &damage);
    out
}
