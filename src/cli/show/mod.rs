//! `show`: one block, or one voxel, with everything that can be said about it.

mod bare;
mod block;
mod map;
mod metadata;
mod pak;
mod stream;
mod voxel;

use std::io::Write;
use std::path::PathBuf;

use voxscope::bytes::Span;
use voxscope::check::{Finding, SaveArguments};
use voxscope::damage::Code;
use voxscope::godot::slots;
use voxscope::picture::palette::Palette;
use voxscope::printable::triple;
use voxscope::save::{Forest, Kind, Listed, Region, Save, Scratch};
use voxscope::source::{FileSource, Source};
use voxscope::voxel_map::grid::BLOCK;

use super::exit::{Exit, Failure};
use super::output::{DIM, level_style, stdout, wrapped, write_json, write_json_pretty};
use super::target::{self, parse_position, parse_triple, read_names};

const AFTER_HELP: &str = "\
Examples:
  voxscope show world --block -1,0,2
  voxscope show world --voxel 10,64,-3 --format json
  voxscope show block.bin --as container    a block in a file of its own";

/// Arguments of `show`.
#[derive(Clone, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The save: its directory, one of its files, or a directory that contains several saves
    path: PathBuf,
    /// Show the block at this position, in blocks of its LOD
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_triple, allow_hyphen_values = true)]
    #[arg(conflicts_with = "voxel")]
    block: Option<[i32; 3]>,
    /// Show the voxel at this position in the world; in a voxel map, the cell of the grid
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_triple, allow_hyphen_values = true)]
    voxel: Option<[i32; 3]>,
    /// Show the cell at this position in the world of a voxel map
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_position, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["block", "voxel", "record"])]
    at: Option<[f64; 3]>,
    /// Show the chunk of the record with this number, in a pak region
    #[arg(long, value_name = "N", conflicts_with_all = ["block", "voxel"])]
    record: Option<u32>,
    /// Show a file that holds one block, container, array or instance data [default: inferred]
    #[arg(long = "as", value_name = "KIND", conflicts_with_all = ["block", "voxel", "record", "at"])]
    kind: Option<bare::KindArgument>,
    /// LOD of the block or the voxel
    #[arg(long, value_name = "N", default_value_t = 0)]
    lod: u8,
    /// Names of types: TOML, or the JSON of the engine's id map; override those in the save
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Also print the stored bytes of the block
    #[arg(long, conflicts_with = "voxel")]
    hex: bool,
    #[command(flatten)]
    options: target::Options,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    /// Text for people
    #[value(aliases = ["human", "table"])]
    Text,
    /// One JSON object for each place, indented
    Json,
    /// One JSON object for each place, on a line of its own
    Jsonl,
}

impl Format {
    /// Writes what is known of a place in one of the machine formats.
    fn write(self, out: &mut impl Write, place: &serde_json::Value) -> std::io::Result<()> {
        if self == Self::Jsonl { write_json(out, place) } else { write_json_pretty(out, place) }
    }
}

/// The requested block, if a table lists it.
struct FoundBlock<'s> {
    forest: &'s Forest,
    /// The printable name of the file.
    file: String,
    region: Region<FileSource>,
    listed: Listed,
    lod: u8,
    position: [i32; 3],
}

/// What is to be shown, and how texts about it name the save.
struct Request<'a> {
    arguments: &'a Arguments,
    /// Names of types.
    names: &'a Palette,
    /// The save with the path that was given, for commands.
    subject: SaveArguments,
}

/// A block of any kind of save.
struct Which<'a> {
    /// The printable name of the file.
    file: &'a str,
    lod: u8,
    position: [i32; 3],
    /// Names of types.
    names: &'a Palette,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let nothing = arguments.block.is_none() && arguments.voxel.is_none() && arguments.record.is_none();
    if nothing && arguments.at.is_none() {
        return match only_block(arguments) {
            Some(only) => run(&only),
            None => bare_data(arguments),
        };
    }
    let save = arguments.options.open_as_placed(&arguments.path)?;
    let names = read_names(&arguments.path, arguments.names.as_deref())?;
    let subject = SaveArguments::new(&save).at(&arguments.path);
    let request = Request { arguments, names: &names, subject };
    let mut out = stdout();
    let mut scratch = Scratch::default();
    let mut shown = 0;
    let (mut failures, mut exit) = (Vec::new(), Exit::CLEAN);
    for forest in &save.forests {
        let Some(wanted) = wanted_block(arguments, forest) else { continue };
        match find(&save, forest, arguments.lod, wanted, &mut scratch) {
            Ok(Some(place)) => {
                if shown > 0 && arguments.format == Format::Text {
                    writeln!(out)?;
                }
                shown += 1;
                match arguments.voxel {
                    Some(voxel) => voxel::show(&mut out, arguments.format, &place, voxel, &names, &mut scratch)?,
                    None => block::show(&mut out, &request, &place, &mut scratch)?,
                }
            }
            Ok(None) => {}
            Err(failure) => failures.push(failure),
        }
    }
    for pak_dir in &save.pak_dirs {
        match pak::show(&mut out, &request, &save, pak_dir) {
            Ok((places, uncounted)) => {
                shown += places;
                exit = exit.and(uncounted);
            }
            Err(failure) => failures.push(failure),
        }
    }
    for file in &save.streams {
        match stream::show(&mut out, &request, &save, file) {
            Ok(blocks) => shown += blocks,
            Err(failure) => failures.push(failure),
        }
    }
    for map in &save.maps {
        match map::show(&mut out, arguments, &save, map) {
            Ok((layers, unread)) => {
                shown += layers;
                exit = exit.and(unread);
            }
            Err(failure) => failures.push(failure),
        }
    }
    out.flush()?;
    match failures.into_iter().next() {
        Some(failure) => Err(failure),
        None if shown == 0 => Err(Failure::Failed(not_there(&request, &save))),
        None => Ok(exit),
    }
}

/// The arguments with the position of the only block, if the path is a file with one block.
fn only_block(arguments: &Arguments) -> Option<Arguments> {
    let save = Save::open(&arguments.path, &arguments.options.to_library().ok()?).ok()?;
    let [forest] = &save.forests[..] else { return None };
    let [file] = &forest.regions[..] else { return None };
    let only = arguments.kind.is_none() && forest.kind == Kind::BlockFiles && arguments.path.is_file();
    only.then(|| Arguments { block: Some(file.position), lod: file.lod, ..arguments.clone() })
}

/// Shows bare data, if no position is given and the path is a file.
fn bare_data(arguments: &Arguments) -> Result<Exit, Failure> {
    let options = arguments.options.for_bare_data()?;
    let is_save = || !matches!(Save::open(&arguments.path, &options), Err(voxscope::save::Error::NotASave(_)));
    if arguments.kind.is_none() && !arguments.path.is_file() {
        // What lies in a directory without a save says more than the options.
        Save::open(&arguments.path, &options)?;
    }
    if arguments.kind.is_none() && (!arguments.path.is_file() || is_save()) {
        let path = voxscope::printable::path(&arguments.path);
        if let Some(what) = rig_of_voxedit(arguments, &options) {
            return Err(Failure::Failed(format!("{path}: {what}")));
        }
        return Err(Failure::Usage(format!(
            "{path}: give --block, --voxel, --at or --record; for bare data, --as KIND"
        )));
    }
    let names = read_names(&arguments.path, arguments.names.as_deref())?;
    bare::show(&arguments.path, arguments.kind, arguments.format, arguments.hex, &names, &options)
}

/// What a file is that has the ending of a region file and is one of VoxEdit.
fn rig_of_voxedit(arguments: &Arguments, options: &voxscope::save::Options) -> Option<String> {
    let save = Save::open(&arguments.path, options).ok()?;
    let file = save.regions().map(|(_, file)| file).next().filter(|_| arguments.path.is_file())?;
    let damage = file.damage.iter().find(|damage| damage.code == Code::RegionVoxedit)?;
    Some(format!("{damage}: there is no block in it; move it out of the save"))
}

/// Shows the file at a path if it is no save; `None` if it is one, or if there is a terminal: the explorer shows it there.
pub fn bare_file(path: &std::path::Path, options: &target::Options) -> Option<Result<Exit, Failure>> {
    if has_explorer() {
        return None;
    }
    let library = options.of_bare_data(path)?;
    Some(bare::show(path, None, Format::Text, false, &Palette::default(), &library))
}

/// Whether the explorer runs where no command is given.
fn has_explorer() -> bool {
    #[cfg(feature = "tui")]
    return crate::cli::explore::has_terminal();
    #[cfg(not(feature = "tui"))]
    return false;
}

/// Position of the requested block, or of the block that contains the requested voxel.
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
) -> Result<Option<FoundBlock<'s>>, Failure> {
    for file in forest.regions.iter().filter(|file| file.lod == lod) {
        let Some(header) = &file.header else { continue };
        let size = header.format.region_size;
        // Both formulas agree on the region; which slot it is needs a look into the file.
        let regions = [0, 1, 2]
            .map(|i| slots::place(position[i], size[i], slots::SlotFormula::Euclidean).map(|(region, _)| region));
        if regions != file.position.map(Some) {
            continue;
        }
        let name = save.shown(&forest.dir.join(&file.name));
        let failed = |error: String| Failure::Failed(format!("{name}: {error}"));
        let Some(mut region) = save.region(forest, file).map_err(|error| failed(error.to_string()))? else { continue };
        let formula = region.slots(scratch).map_err(|error| failed(error.to_string()))?;
        let inside = [0, 1, 2].map(|i| slots::place(position[i], size[i], formula).map_or(0, |(_, slot)| slot));
        if let Some(listed) = slots::index(size, inside).and_then(|slot| region.find(slot)) {
            return Ok(Some(FoundBlock { forest, file: name, region, listed, lod, position }));
        }
    }
    Ok(None)
}

fn not_there(Request { arguments, subject, .. }: &Request<'_>, save: &Save) -> String {
    let path = voxscope::printable::path(&arguments.path);
    let lod = arguments.lod;
    let list_lod =
        || subject.with_options(format!("voxscope ls {} lod={lod}", voxscope::printable::argument(subject.path())));
    if let Some(what) = rig_of_voxedit(arguments, &save.options) {
        return format!("{path}: {what}");
    }
    let only_maps = save.forests.is_empty() && save.streams.is_empty() && save.pak_dirs.is_empty();
    if only_maps && (arguments.block.is_some() || arguments.record.is_some()) {
        let option = if arguments.block.is_some() { "--block" } else { "--record" };
        let block = arguments.block.map(|block| block.map(|n| i64::from(n) * i64::from(BLOCK)));
        let cell = block.filter(|block| block.iter().all(|n| *n >= 0)).map_or_else(String::new, |[x, y, z]| {
            format!(" (a block of a sparse layer has {BLOCK} cells along each axis: --voxel {x},{y},{z} is its first)")
        });
        return format!(
            "{path}: {option} is not for voxel maps, which are shown by cells: give --voxel, or --at for a position in the world{cell}"
        );
    }
    let only_paks = save.forests.is_empty() && save.streams.is_empty() && save.maps.is_empty();
    let unread = save.forests.iter().find_map(|forest| {
        let block = wanted_block(arguments, forest)?;
        Some((block, save.unread_file_of(forest, lod, block)?))
    });
    if let Some((block, (file, why))) = unread {
        let place = format!("block {} of LOD {lod}", triple(block));
        return match arguments.voxel {
            Some(voxel) => {
                format!("{path}: voxel {} would be in {place}, which is in {file}: {why}", triple(voxel))
            }
            None => format!("{path}: {place} would be in {file}: {why}"),
        };
    }
    match (arguments.voxel, arguments.block) {
        (Some(voxel), _) if only_paks => {
            format!("{path}: no record has a chunk with voxel {}, or its position is not known", triple(voxel))
        }
        (None, Some(block)) if only_paks => format!(
            "{path}: no record has chunk {}, or its position is not known; `{}` lists those that have one",
            triple(block),
            subject.command("ls")
        ),
        _ if only_maps && (arguments.voxel.is_some() || arguments.at.is_some()) => {
            format!("{path}: {}", map::outside(arguments, save))
        }
        (Some(voxel), _) => {
            let block = save.forests.first().and_then(|forest| wanted_block(arguments, forest));
            let voxel = triple(voxel);
            match block.map(triple) {
                Some(block) => {
                    format!("{path}: voxel {voxel} would be in block {block} of LOD {lod}, which is not in any table")
                }
                None => format!("{path}: voxel {voxel} is in no block of LOD {lod} that is in any table"),
            }
        }
        (None, Some(_)) if save.path.is_file() && is_of_block_files(save) => {
            format!("{path}: no block can be read in the file; `{}` says why", subject.command("check"))
        }
        (None, Some(block)) if is_of_block_files(save) => format!(
            "{path}: block {} of LOD {lod} has no file; `{}` lists those that have one",
            triple(block),
            list_lod()
        ),
        (None, Some(block)) => format!(
            "{path}: block {} of LOD {lod} is not in any table; `{}` lists those that are",
            triple(block),
            list_lod()
        ),
        (None, None) if arguments.at.is_some() => format!("{path}: --at is for voxel maps, and there is none here"),
        (None, None) if save.pak_dirs.is_empty() => {
            format!("{path}: --record is for pak regions, and there is none here")
        }
        (None, None) => {
            let record = arguments.record.map_or_else(String::new, |n| format!("{n} "));
            format!("{path}: no record {record}with a chunk in a pak region here")
        }
    }
}

/// Whether all blocks of a save have files of their own.
fn is_of_block_files(save: &Save) -> bool {
    let only_forests = save.pak_dirs.is_empty() && save.streams.is_empty() && save.maps.is_empty();
    only_forests && save.forests.iter().all(|forest| forest.kind == Kind::BlockFiles)
}

/// Findings as JSON, with the path that was given in the commands of what to do.
fn findings_json(findings: &[Finding], subject: &SaveArguments) -> serde_json::Value {
    let next = |finding: &Finding| voxscope::check::advise(finding, subject);
    let advised: Vec<_> =
        findings.iter().map(|finding| voxscope::check::Advised { finding, next: next(finding) }).collect();
    serde_json::json!(advised)
}

/// Prints the findings of the data of a block or a chunk, which `what` says, and which command checks its place: that is shown
/// only by what is around it.
fn print_findings_of_data(
    out: &mut impl Write,
    what: &str,
    findings: &[Finding],
    subject: &SaveArguments,
) -> std::io::Result<()> {
    if findings.is_empty() {
        writeln!(out, "Nothing is wrong with its data.")?;
    } else {
        print_findings(out, findings, |code| voxscope::check::next_step(code, subject))?;
    }
    let line = format!("`{}` finds out whether the {what} is in the right place.", subject.command("check"));
    writeln!(out, "{}", wrapped(&line, ""))
}

/// Prints the findings of a block, or that it has none.
fn print_findings(out: &mut impl Write, findings: &[Finding], next_of: impl Fn(Code) -> String) -> std::io::Result<()> {
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
        let next = format!("  {DIM}{}:{DIM:#} {}", finding.code(), next_of(finding.code()));
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
