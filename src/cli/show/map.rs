//! `show` for voxel maps: what is at a position in the world, or at a cell of the grid, in every layer that has it.

use std::io::{self, Write};

use serde_json::{Value as Json, json};
use voxscope::check::{self, LeftOut};
use voxscope::printable::{printable, triple};
use voxscope::save::Save;
use voxscope::voxel_map::Map;
use voxscope::voxel_map::flags::{self, OPEN_WATER};
use voxscope::voxel_map::grid::Voxel;
use voxscope::voxel_map::map_json::Layer;

use super::block::number;
use super::{Arguments, Format};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{BOLD, DIM, complain_of_parts};

/// A layer that contains the position.
struct Hit<'m> {
    layer: &'m Layer,
    cell: [u32; 3],
    voxel: Voxel,
    /// Why nothing of the layer's voxels is read.
    unread: Option<LeftOut>,
}

/// Shows the requested cell in each layer of a map; returns how many layers contain it, with the exit code for those that cannot be
/// read.
pub fn show(out: &mut impl Write, arguments: &Arguments, save: &Save, map: &Map) -> Result<(usize, Exit), Failure> {
    let mut hits = Vec::new();
    if let (None, Some(LeftOut { file, why })) = (&map.data, check::unread_layers(save, map).pop()) {
        return Err(Failure::Failed(format!("{file}: {why}")));
    }
    for layer in map.layers() {
        let Some(cell) = cell(arguments, layer) else { continue };
        let grid = map.grid(layer, &save.options.limits);
        let unread = check::unread_layer(save, map, layer, &grid);
        let name = layer.data_file.as_deref().map(printable).unwrap_or_default();
        let failed = |error: io::Error| Failure::Failed(format!("{name}: {error}"));
        if let Some(voxel) = grid.voxel(cell).map_err(failed)? {
            hits.push(Hit { layer, cell, voxel, unread });
        }
    }
    if hits.is_empty() {
        return Ok((0, Exit::CLEAN));
    }
    match arguments.format {
        Format::Text => print(out, arguments, map, &hits)?,
        _ => arguments.format.write(out, &to_json(arguments, map, &hits))?,
    }
    let unread: Vec<LeftOut> = hits.into_iter().filter_map(|hit| hit.unread).collect();
    Ok((1, complain_of_parts(&unread)))
}

fn cell(arguments: &Arguments, layer: &Layer) -> Option<[u32; 3]> {
    match (arguments.at, arguments.voxel) {
        (Some(world), _) => layer.frame()?.cell(world),
        (None, Some(voxel)) => {
            let [x, y, z] = voxel.map(|v| u32::try_from(v).ok());
            Some([x?, y?, z?])
        }
        (None, None) => None,
    }
}

/// That nothing is at the requested position, and where the layers are.
pub fn outside(arguments: &Arguments, save: &Save) -> String {
    let mut text = format!("{} is outside of every layer", asked(arguments));
    if arguments.at.is_none() {
        text.push_str("; `voxscope info` has their sizes");
    }
    let layers = save.maps.iter().flat_map(Map::layers).filter_map(|layer| Some((layer, layer.frame()?)));
    for (layer, frame) in layers.take(LISTED).filter(|_| arguments.at.is_some()) {
        let name = printable(layer.name.as_deref().unwrap_or("a layer without a name"));
        let ends = [[0; 3], frame.dim].map(|corner| frame.corner(corner).map(|n| format!("{n:.2}")).join(", "));
        text.push_str(&format!("\n  {name} goes from ({}) to ({}), in metres", ends[0], ends[1]));
    }
    text
}

/// Layers of which the extent is named.
const LISTED: usize = 8;

fn asked(arguments: &Arguments) -> String {
    match (arguments.at, arguments.voxel) {
        (Some(world), _) => format!("world {}", triple(world)),
        (None, voxel) => format!("cell {}", triple(voxel.unwrap_or_default())),
    }
}

fn print(out: &mut impl Write, arguments: &Arguments, map: &Map, hits: &[Hit<'_>]) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{BOLD:#} · {}", asked(arguments), voxscope::printable::path(&map.dir))?;
    for Hit { layer, cell, voxel, unread } in hits {
        writeln!(out)?;
        let name = printable(layer.name.as_deref().unwrap_or("a layer without a name"));
        writeln!(
            out,
            "  {BOLD}{name}{BOLD:#} {DIM}· {}{DIM:#}",
            layer.data_file.as_deref().map(printable).unwrap_or_default()
        )?;
        let block =
            voxel.block.map_or_else(String::new, |(row, block)| format!(" · block {}, row {row}", triple(block)));
        writeln!(out, "    cell {}{block}", triple(*cell))?;
        match voxel.bits {
            None if unread.is_some() => writeln!(out, "    the voxels of the layer cannot be read")?,
            None => writeln!(out, "    nothing is stored there")?,
            Some(_) if flags::is_water(voxel.flags) => writeln!(out, "    flags 0x{:x}", voxel.flags)?,
            Some(_) => writeln!(out, "    flags 0x{:x} {DIM}· no water: air, ground or culled{DIM:#}", voxel.flags)?,
        }
        for flag in flags::names(voxel.flags) {
            writeln!(out, "      {:<15} {}", flag.name, flag.chinese)?;
        }
        if flags::is_open_water(voxel.flags) {
            writeln!(out, "      {:<15} {} {DIM}derived: water and nothing else{DIM:#}", OPEN_WATER.0, OPEN_WATER.1)?;
        }
        if flags::unknown(voxel.flags) != 0 {
            writeln!(out, "      unknown bits 0x{:x}", flags::unknown(voxel.flags))?;
        }
        if let Some(depth) = voxel.depth {
            writeln!(out, "    water depth {depth:.2} m")?;
        }
    }
    Ok(())
}

fn to_json(arguments: &Arguments, map: &Map, hits: &[Hit<'_>]) -> Json {
    let layers = hits.iter().map(|Hit { layer, cell, voxel, unread }| {
        let names: Vec<&str> = flags::names(voxel.flags).map(|flag| flag.name).collect();
        json!({
            "layer": layer.name,
            "data_file": layer.data_file,
            "cell": cell,
            "block": voxel.block.map(|(_, block)| block),
            "row": voxel.block.map(|(row, _)| row),
            "stored": voxel.bits.is_some(),
            "left_out": unread,
            "flags": voxel.flags,
            "flag_names": names,
            "open_water": flags::is_open_water(voxel.flags),
            "water_depth": voxel.depth.map(|depth| number(depth.into())),
        })
    });
    json!({
        "map": voxscope::printable::path(&map.dir),
        "at": arguments.at,
        "voxel": arguments.voxel,
        "layers": layers.collect::<Vec<_>>(),
    })
}
