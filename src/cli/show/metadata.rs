//! Metadata as a tree.

use std::io::{self, Write};

use voxscope::godot::metadata::{Item, Metadata};
use voxscope::godot::variant::{Dialect, Variant};
use voxscope::printable::{hex, printable, triple};

use crate::cli::output::{BOLD, DIM, count};

/// Depth from which on arrays and dictionaries are shown on one line.
const DEPTH: usize = 12;

/// Characters of a value on one line.
const WIDTH: usize = 160;

/// Voxels whose metadata is listed; the others are only counted.
const VOXELS: usize = 1000;

pub fn print(out: &mut impl Write, metadata: &Metadata<'_>) -> io::Result<()> {
    let dialect = metadata.dialect;
    let size = count(metadata.declared.into(), "byte");
    writeln!(out, "{BOLD}metadata{BOLD:#} {DIM}· {size} · {}{DIM:#}", dialect.name())?;
    match &metadata.block {
        None => writeln!(out, "  block: cannot be read")?,
        Some(value) => item(out, "  ", "block", value, dialect)?,
    }
    for voxel in metadata.voxels.iter().take(VOXELS) {
        item(out, "  ", &format!("voxel {}", triple(voxel.position)), &voxel.item, dialect)?;
    }
    if metadata.voxels.len() > VOXELS {
        writeln!(
            out,
            "  and {} more (--format json lists all)",
            count((metadata.voxels.len() - VOXELS) as u64, "voxel")
        )?;
    }
    let (at, unread) = metadata.unread;
    if !unread.is_empty() {
        writeln!(out, "  not read: {} from decompressed byte 0x{at:x} on", count(unread.len() as u64, "byte"))?;
    }
    Ok(())
}

/// One item, as a tree; also used for a single voxel.
pub fn item(out: &mut impl Write, indent: &str, name: &str, item: &Item<'_>, dialect: Dialect) -> io::Result<()> {
    match item {
        Item::Empty => writeln!(out, "{indent}{name}: nothing"),
        Item::Number(n) => writeln!(out, "{indent}{name}: {n} {DIM}64-bit number{DIM:#}"),
        Item::Float(bits) => writeln!(out, "{indent}{name}: {} {DIM}64-bit float{DIM:#}", f64::from_bits(*bits)),
        Item::Text(text) => writeln!(out, "{indent}{name}: \"{}\" {DIM}text{DIM:#}", one_line(text)),
        Item::Bytes(bytes) => writeln!(out, "{indent}{name}: {} {DIM}bytes{DIM:#}", one_line(&hex(bytes))),
        Item::Custom { kind, bytes } => {
            let bytes = count(bytes.len() as u64, "byte");
            writeln!(out, "{indent}{name}: application-defined type {kind}, {bytes}")
        }
        Item::Variant(value) => variant(out, indent, name, value, dialect, 0),
    }
}

fn variant(
    out: &mut impl Write,
    indent: &str,
    name: &str,
    value: &Variant<'_>,
    dialect: Dialect,
    depth: usize,
) -> io::Result<()> {
    let kind = value.type_().name(dialect);
    let deeper = format!("{indent}  ");
    match value {
        Variant::Dictionary(map) if depth < DEPTH && !map.pairs.is_empty() => {
            writeln!(out, "{indent}{name}: {DIM}{kind} of {}{DIM:#}", map.pairs.len())?;
            for (key, value) in &map.pairs {
                variant(out, &deeper, &one_line(&key.text(dialect)), value, dialect, depth + 1)?;
            }
            Ok(())
        }
        Variant::Array(list) if depth < DEPTH && !list.items.is_empty() => {
            writeln!(out, "{indent}{name}: {DIM}{kind} of {}{DIM:#}", list.items.len())?;
            for (i, value) in list.items.iter().enumerate() {
                variant(out, &deeper, &i.to_string(), value, dialect, depth + 1)?;
            }
            Ok(())
        }
        _ => writeln!(out, "{indent}{name}: {} {DIM}{kind}{DIM:#}", one_line(&value.text(dialect))),
    }
}

/// The text of a value on one line of limited length.
fn one_line(text: &str) -> String {
    let text = text.replace('\n', " ");
    let mut short: String = text.chars().take(WIDTH).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    printable(&short)
}
