//! What SQLite streams are made of.

use std::io::{self, Write};

use serde::Serialize;
use voxscope::check::{self, LeftOut};
use voxscope::godot::stream::loc::{self, KeyRule};
use voxscope::printable::triple;
use voxscope::save::{Blob, Owner, PageKind, Save, StreamFile};

use crate::cli::output::{Align, BOLD, DIM, count, grouped, size, table, write_table};

#[derive(Serialize)]
pub struct StreamInfo {
    path: String,
    bytes: u64,
    /// What is known when the database can be read.
    stream: Option<Contents>,
}

impl StreamInfo {
    /// Whether something of the database can be read.
    pub const fn is_read(&self) -> bool {
        self.stream.is_some()
    }

    /// Whether it has a block, or cannot be read as a whole.
    pub fn has_blocks(&self) -> bool {
        let may_have = |stream: &Contents| stream.rows > 0 || stream.pages_unread > 0 || stream.rows_unread > 0;
        self.stream.as_ref().is_none_or(may_have)
    }

    /// What is left out of it.
    pub fn left_out(&self) -> Option<LeftOut> {
        let stream = self.stream.as_ref()?;
        let why = check::unread_rows(stream.pages_unread, stream.rows_unread)?;
        Some(LeftOut { file: self.path.clone(), why })
    }
}

#[derive(Serialize)]
struct Contents {
    version: Option<u8>,
    block_size: Option<u16>,
    coordinate_format: Option<u8>,
    /// Whether the format of keys was inferred from them.
    inferred: bool,
    /// How keys store positions above LOD 0.
    key_rule: KeyRule,
    /// Whether that was given by an option.
    key_rule_given: bool,
    /// Whether it is read through a journal or a write-ahead log.
    journal: bool,
    rows: usize,
    /// Rows whose key is no place.
    odd_keys: usize,
    /// Rows that the table does not lead to.
    lost: usize,
    /// Pages of tables that cannot be read or are missing: rows on them are not counted.
    pages_unread: u64,
    /// Rows that an index names and that cannot be read.
    rows_unread: u64,
    lods: Vec<LodInfo>,
    pages: Pages,
}

#[derive(Serialize)]
struct LodInfo {
    lod: u8,
    blocks: u64,
    with_voxels: u64,
    with_instances: u64,
    /// Bytes of both as stored.
    bytes: u64,
    /// First and last block along each axis.
    extent: [[i32; 3]; 2],
}

#[derive(Serialize)]
struct Pages {
    size: u32,
    in_file: u64,
    schema: u64,
    interior: u64,
    leaf: u64,
    index: u64,
    overflow: u64,
    free: u64,
    lost: u64,
    damaged: u64,
}

pub fn gather(save: &Save, file: &StreamFile) -> StreamInfo {
    let opened = save.stream(file, &mut Vec::new()).ok().flatten();
    let stream = opened.map(|stream| {
        let mut lods: Vec<LodInfo> = Vec::new();
        for row in &stream.rows {
            let Some(place) = row.place else { continue };
            if lods.last().is_none_or(|last| last.lod != place.lod) {
                lods.push(LodInfo {
                    lod: place.lod,
                    blocks: 0,
                    with_voxels: 0,
                    with_instances: 0,
                    bytes: 0,
                    extent: [place.position; 2],
                });
            }
            let Some(lod) = lods.last_mut() else { continue };
            lod.blocks += 1;
            lod.with_voxels += u64::from(row.voxels != Blob::Null);
            lod.with_instances += u64::from(row.instances != Blob::Null);
            lod.bytes += u64::from(row.voxels.len()) + u64::from(row.instances.len());
            let [low, high] = &mut lod.extent;
            for ((low, high), p) in low.iter_mut().zip(high).zip(place.position) {
                *low = p.min(*low);
                *high = p.max(*high);
            }
        }
        let map = stream.sector_map();
        let kind = |kind| map.count(|owner| owner == Owner::Page(kind));
        Contents {
            version: stream.meta.version,
            block_size: stream.meta.block_size(),
            coordinate_format: stream.format.map(loc::Format::code),
            inferred: stream.is_inferred(),
            key_rule: stream.rule,
            key_rule_given: save.options.key_rule.is_some(),
            journal: stream.pages.overlay.is_some(),
            rows: stream.rows.len(),
            odd_keys: stream.rows.iter().filter(|row| row.place.is_none()).count(),
            lost: stream.rows.iter().filter(|row| row.lost).count(),
            pages_unread: stream.unread_table_pages(),
            rows_unread: stream.unread_rows(),
            pages: Pages {
                size: map.sector_size,
                in_file: map.in_file,
                schema: map.count(|owner| owner == Owner::Header),
                interior: kind(PageKind::Interior),
                leaf: kind(PageKind::Leaf),
                index: kind(PageKind::Index),
                overflow: kind(PageKind::Overflow) + map.count(|owner| matches!(owner, Owner::Block(_))),
                free: kind(PageKind::FreeTrunk) + map.count(|owner| owner == Owner::Free),
                lost: map.count(|owner| owner == Owner::Lost),
                damaged: kind(PageKind::Damaged),
            },
            lods,
        }
    });
    StreamInfo { path: save.shown(&file.path), bytes: file.len, stream }
}

pub fn print(out: &mut impl Write, info: &StreamInfo) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{BOLD:#} · SQLite stream · {}", info.path, size(info.bytes))?;
    let Some(stream) = &info.stream else {
        return writeln!(out, "  It cannot be read: `voxscope check` says why.");
    };
    let unknown = || "unknown".to_owned();
    let version = stream.version.map_or_else(unknown, |n| n.to_string());
    let blocks = stream.block_size.map_or_else(unknown, |n| format!("{n} x {n} x {n} voxels"));
    writeln!(out, "  version {version} · blocks of {blocks}")?;
    let format = stream.coordinate_format.and_then(|code| loc::Format::from_code(code.into()));
    let how = if stream.inferred { " (by the keys themselves)" } else { "" };
    writeln!(out, "  keys are {}{how}", format.map_or("unknown", loc::Format::name))?;
    if stream.key_rule_given || stream.key_rule == KeyRule::Old {
        let how = if stream.key_rule_given { "given" } else { "inferred" };
        let rule = match stream.key_rule {
            KeyRule::Old => "by the rule of 2021, the position times 2^LOD",
            KeyRule::New => "as they are",
        };
        writeln!(out, "  positions above LOD 0 are read {rule} ({how})")?;
    }
    if stream.journal {
        writeln!(out, "  read through the journal or log beside it: `voxscope check` says more")?;
    }
    writeln!(out)?;
    let columns = [
        ("  lod", Align::Right),
        ("blocks", Align::Right),
        ("voxels", Align::Right),
        ("instances", Align::Right),
        ("stored", Align::Right),
        ("from block", Align::Left),
        ("to block", Align::Left),
    ];
    let mut rows = table(&columns);
    for lod in &stream.lods {
        let [low, high] = lod.extent.map(triple);
        rows.add_row([
            lod.lod.to_string(),
            grouped(lod.blocks),
            grouped(lod.with_voxels),
            grouped(lod.with_instances),
            size(lod.bytes),
            low,
            high,
        ]);
    }
    write_table(out, &rows)?;
    if stream.odd_keys > 0 {
        let (key_is, it) = if stream.odd_keys == 1 { ("its key is", "it") } else { ("their keys are", "them") };
        let rows = count(stream.odd_keys as u64, "more row");
        writeln!(out, "  {rows}: {key_is} no position, so that no LOD has {it}; `ls` and `check` count {it} too")?;
    }
    if stream.lost > 0 {
        writeln!(out, "  {} that the table has lost", count(stream.lost as u64, "row"))?;
    }
    if stream.pages_unread == 0 && stream.rows_unread > 0 {
        let are = if stream.rows_unread == 1 { "it is" } else { "they are" };
        let rows = count(stream.rows_unread, "row");
        writeln!(out, "  {rows} that the index names cannot be read: {are} not counted")?;
    }
    if stream.pages_unread > 0 {
        let (pages, them) = (count(stream.pages_unread, "page"), if stream.pages_unread == 1 { "it" } else { "them" });
        writeln!(
            out,
            "  {pages} of tables cannot be read: rows on {them} are not counted, and their LODs are not known"
        )?;
    }
    writeln!(out)?;
    let pages = &stream.pages;
    write!(out, "  {} of {}", count(pages.in_file, "page"), count(pages.size.into(), "byte"))?;
    let parts = [
        (pages.leaf, "leaves"),
        (pages.interior, "interior"),
        (pages.index, "index"),
        (pages.overflow, "overflow"),
        (pages.free, "free"),
        (pages.lost, "lost"),
        (pages.damaged, "damaged"),
    ];
    for (n, word) in parts {
        if n > 0 {
            write!(out, "{DIM} ·{DIM:#} {} {word}", grouped(n))?;
        }
    }
    writeln!(out)
}
