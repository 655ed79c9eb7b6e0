//! `show`: one block, or one voxel, with everything that can be said about it.

mod block;
mod map;
mod metadata;
mod pak;
mod stream;
mod voxel;

use std::io::Write;
use std::path::PathBuf;

use voxscope::bytes::Span;
use voxscope::check::Finding;
use voxscope::godot::slots;
use voxscope::printable::triple;
use voxscope::save::{Forest, Listed, Region, Save, Scratch};
use voxscope::source::{FileSource, Source};

use super::exit::{Exit, Failure};
use super::output::{DIM, level_style, stdout, wrapped};
use super::target::{self, parse_position, parse_triple};

/// Arguments of `show`.
#[derive(clap::Args)]
pub struct Arguments {
    /// A save: a directory or a file of one, or a directory that holds several
    path: PathBuf,
    /// A block, by its position in blocks of its LOD
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_triple, allow_hyphen_values = true)]
    #[arg(required_unless_present_any = ["voxel", "record", "at"], conflicts_with = "voxel")]
    block: Option<[i32; 3]>,
    /// A voxel, by its position in the world; in a voxel map, a cell of the grid
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_triple, allow_hyphen_values = true)]
    voxel: Option<[i32; 3]>,
    /// A position in the world of a voxel map
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_position, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["block", "voxel", "record"])]
    at: Option<[f64; 3]>,
    /// A chunk of a pak region, by the number of its record
    #[arg(long, value_name = "N", conflicts_with_all = ["block", "voxel"])]
    record: Option<u32>,
    /// The LOD to look in
    #[arg(long, value_name = "N", default_value_t = 0)]
    lod: u8,
    /// What to print
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
    /// Also the bytes of the block as they are stored
    #[arg(long, conflicts_with = "voxel")]
    hex: bool,
    #[command(flatten)]
    options: target::Options,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    /// Sentences and tables
    Human,
    /// A JSON object a block
    Json,
}

/// A block that was asked for and is in a table.
struct Place<'s> {
    forest: &'s Forest,
    /// The file's name as it is shown.
    file: String,
    region: Region<FileSource>,
    listed: Listed,
    lod: u8,
    position: [i32; 3],
}

/// Which block, whatever it is stored in.
struct Which<'a> {
    /// The file's name as it is shown.
    file: &'a str,
    lod: u8,
    position: [i32; 3],
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let save = arguments.options.open(&arguments.path)?;
    let mut out = stdout();
    let mut scratch = Scratch::default();
    let mut shown = 0;
    let mut failures = Vec::new();
    for forest in &save.forests {
        let Some(wanted) = wanted_block(arguments, forest) else { continue };
        match find(&save, forest, arguments.lod, wanted, &mut scratch) {
            Ok(Some(place)) => {
                if shown > 0 && arguments.format == Format::Human {
                    writeln!(out)?;
                }
                shown += 1;
                match arguments.voxel {
                    Some(voxel) => voxel::show(&mut out, arguments.format, &place, voxel, &mut scratch)?,
                    None => block::show(&mut out, arguments, &place, &mut scratch)?,
                }
            }
            Ok(None) => {}
            Err(failure) => failures.push(failure),
        }
    }
    for room in &save.rooms {
        match pak::show(&mut out, arguments, &save, room) {
            Ok(places) => shown += places,
            Err(failure) => failures.push(failure),
        }
    }
    for file in &save.streams {
        match stream::show(&mut out, arguments, &save, file) {
            Ok(blocks) => shown += blocks,
            Err(failure) => failures.push(failure),
        }
    }
    for map in &save.maps {
        match map::show(&mut out, arguments, &save, map) {
            Ok(layers) => shown += layers,
            Err(failure) => failures.push(failure),
        }
    }
    out.flush()?;
    match failures.into_iter().next() {
        Some(failure) => Err(failure),
        None if shown == 0 => Err(Failure::Failed(not_there(arguments, &save))),
        None => Ok(Exit::CLEAN),
    }
}

/// The block that is asked for, or the one that has the voxel, in blocks of the LOD.
fn wanted_block(arguments: &Arguments, forest: &Forest) -> Option<[i32; 3]> {
    match arguments.voxel {
        None => arguments.block,
        Some(voxel) => Some(voxel::block_of(voxel, arguments.lod, side(forest)?)),
    }
}

/// Voxels along each axis of the forest's blocks.
fn side(forest: &Forest) -> Option<u16> {
    let own = || forest.regions.iter().find_map(|file| file.header.as_ref().map(|header| header.format));
    forest.format.or_else(own).map(|format| format.block_size()).filter(|&side| side > 0)
}

fn find<'s>(
    save: &Save,
    forest: &'s Forest,
    lod: u8,
    position: [i32; 3],
    scratch: &mut Scratch,
) -> Result<Option<Place<'s>>, Failure> {
    for file in forest.regions.iter().filter(|file| file.lod == lod) {
        let Some(header) = &file.header else { continue };
        let size = header.format.region_size;
        // Both formulas agree on the region; which slot it is needs a look into the file.
        let regions =
            [0, 1, 2].map(|i| slots::place(position[i], size[i], slots::Slots::New).map(|(region, _)| region));
        if regions != file.position.map(Some) {
            continue;
        }
        let name = save.shown(&forest.dir.join(&file.name));
        let failed = |error: String| Failure::Failed(format!("{name}: {error}"));
        let Some(mut region) = save.region(forest, file).map_err(|error| failed(error.to_string()))? else { continue };
        let formula = region.slots(scratch).map_err(|error| failed(error.to_string()))?;
        let inside = [0, 1, 2].map(|i| slots::place(position[i], size[i], formula).map_or(0, |(_, slot)| slot));
        if let Some(listed) = slots::index(size, inside).and_then(|slot| region.find(slot)) {
            return Ok(Some(Place { forest, file: name, region, listed, lod, position }));
        }
    }
    Ok(None)
}

fn not_there(arguments: &Arguments, save: &Save) -> String {
    let path = voxscope::printable::path(&arguments.path);
    let lod = arguments.lod;
    match (arguments.voxel, arguments.block) {
        (Some(voxel), _) => {
            let block = save.forests.first().and_then(|forest| wanted_block(arguments, forest));
            let block = block.map_or_else(String::new, |block| format!(" {}", triple(block)));
            format!("{path}: voxel {} would be in block{block} of LOD {lod}, which is not in any table", triple(voxel))
        }
        (None, Some(block)) => format!(
            "{path}: block {} of LOD {lod} is not in any table; `voxscope ls {path} lod={lod}` lists those that are",
            triple(block)
        ),
        (None, None) if arguments.at.is_some() => format!("{path}: --at is for voxel maps, and there is none here"),
        (None, None) => {
            let record = arguments.record.map_or_else(String::new, |n| format!("{n} "));
            format!("{path}: no record {record}with a chunk in a pak region here")
        }
    }
}

/// What is wrong with a block, or that nothing is.
fn print_findings(out: &mut impl Write, findings: &[Finding]) -> std::io::Result<()> {
    if findings.is_empty() {
        writeln!(out, "Nothing is wrong with it.")?;
    }
    for finding in findings {
        let (level, style) = (finding.level(), level_style(finding.level()));
        writeln!(
            out,
            "{}",
            wrapped(&format!("{style}{level}{style:#}: {}: {}", finding.place(), finding.message()), "  ")
        )?;
        let next = format!("  {DIM}{}:{DIM:#} {}", finding.code(), finding.code().next());
        writeln!(out, "{}", wrapped(&next, "  "))?;
    }
    Ok(())
}

/// Bytes of a file: offset, 16 bytes, text.
fn print_hex(out: &mut impl Write, source: &impl Source, file: &str, span: Span) -> Result<(), Failure> {
    let end = span.end.min(source.len());
    let mut line = Vec::new();
    let mut at = span.start;
    while at < end {
        let len = usize::try_from((end - at).min(16)).unwrap_or(16);
        source.read_into(at, len, &mut line).map_err(|error| Failure::Failed(format!("{file}: {error}")))?;
        let bytes: Vec<String> = line.iter().map(|b| format!("{b:02x}")).collect();
        let text: String =
            line.iter().map(|&b| if b.is_ascii_graphic() || b == b' ' { char::from(b) } else { '.' }).collect();
        writeln!(out, "{DIM}{at:08x}{DIM:#}  {:<47}  {text}", bytes.join(" "))?;
        at += 16;
    }
    Ok(())
}
