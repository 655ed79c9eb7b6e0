//! `info`: what a save is made of. Reads tables, no blocks.

mod maps;
mod pak_dirs;
mod streams;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use voxscope::check::{self, SaveArguments};
use voxscope::damage::{self, Code, Damage, Value};
use voxscope::godot::region::Format;
use voxscope::godot::slots::SlotFormula;
use voxscope::printable::triple;
use voxscope::save::{Error, Fault, File, Forest, ForestLayout, Kind, Owner, RegionFile, Save, Scratch};

use super::exit::{Exit, Failure};
use super::output::{
    Align, BOLD, DIM, complain_of_file_once, complain_of_parts, complain_of_unread, count, grouped, size, stdout,
    table, write_json, write_json_pretty, write_table,
};
use super::target;

const AFTER_HELP: &str = "\
Examples:
  voxscope info world
  voxscope info world.sqlite --format json";

/// Arguments of `info`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The save: its directory, one of its files, or a directory that contains several saves
    path: Option<PathBuf>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
    #[command(flatten)]
    options: target::Options,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum OutputFormat {
    /// Text for people
    #[value(aliases = ["human", "table"])]
    Text,
    /// One JSON document
    Json,
    /// The same on one line
    Jsonl,
}

/// The content of a save.
#[derive(Serialize)]
struct Info {
    path: String,
    forests: Vec<ForestInfo>,
    #[serde(rename = "rooms")]
    pak_dirs: Vec<pak_dirs::PakDirInfo>,
    streams: Vec<streams::StreamInfo>,
    maps: Vec<maps::MapInfo>,
    /// Files and directories with findings of their own.
    faults: usize,
    /// Whether no block was found.
    empty: bool,
    /// The command that checks the save: `info` decodes no block.
    next: String,
}

#[derive(Serialize)]
struct ForestInfo {
    path: String,
    kind: &'static str,
    /// Whose folders it has.
    folders: &'static str,
    meta_version: Option<u8>,
    /// Whether `meta.vxrm` is missing. JSON has no version then.
    #[serde(skip)]
    lacks_meta: bool,
    lod_count: Option<u8>,
    layout: Option<RegionLayout>,
    lods: Vec<LodInfo>,
    /// Only where there is one region file.
    sectors: Option<Sectors>,
    /// Files of which no block is counted although they hold some.
    left_out: Vec<check::LeftOut>,
}

#[derive(Serialize, PartialEq)]
struct RegionLayout {
    block_size: u16,
    region_size: [u16; 3],
    sector_size: u32,
    depth_bits: [u8; 8],
}

#[derive(Serialize)]
struct LodInfo {
    lod: u8,
    /// Whether the LOD is assumed, because no directory or name shows it.
    lod_assumed: bool,
    files: usize,
    bytes: u64,
    blocks: u64,
    /// First and last block along each axis.
    extent: Option<[[i32; 3]; 2]>,
    /// Files whose header is damaged or that cannot be read.
    damaged_files: usize,
    /// Those of them that are of other programs.
    foreign_files: usize,
    /// Versions of the region files.
    versions: Vec<u8>,
}

#[derive(Serialize, Default)]
struct Sectors {
    size: u32,
    header_bytes: u64,
    in_file: u64,
    used: u64,
    shared: u64,
    free: u64,
    stale: u64,
    beyond_end: u64,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let given = target::path_or_here(arguments.path.as_ref());
    let save = arguments.options.open_as_placed(given)?;
    let info = gather(&save, given);
    let mut out = stdout();
    match arguments.format {
        OutputFormat::Json => write_json_pretty(&mut out, &info)?,
        OutputFormat::Jsonl => write_json(&mut out, &info)?,
        OutputFormat::Text => print(&mut out, &info, &SaveArguments::new(&save).at(given))?,
    }
    out.flush()?;
    // What could be read is not opened a second time.
    let paks = save.pak_dirs.iter().zip(&info.pak_dirs).flat_map(|(dir, info)| {
        let files = dir.files.iter().zip(info.is_read()).filter(|(_, is_read)| !is_read);
        files.map(move |(file, _)| File::Pak(dir, file))
    });
    let streams = save.streams.iter().zip(&info.streams).filter(|(_, info)| !info.is_read());
    let mut exit = complain_of_unread(&save);
    let regions = save.regions().map(|(forest, file)| File::Region(forest, file));
    for file in regions.chain(paks).chain(streams.map(|(file, _)| File::Stream(file))) {
        if let Some(damage) = check::find_unlocated(&save, file) {
            complain_of_file_once(&save.shown(&file.path()), &damage.to_string());
            exit = exit.and(Exit::FAILED);
        }
    }
    let parts = info.forests.iter().flat_map(|forest| forest.left_out.iter().cloned());
    let parts = parts.chain(info.pak_dirs.iter().flat_map(pak_dirs::PakDirInfo::left_out));
    let parts = parts.chain(info.streams.iter().filter_map(streams::StreamInfo::left_out));
    let parts: Vec<check::LeftOut> = parts.chain(info.maps.iter().flat_map(maps::MapInfo::left_out)).collect();
    Ok(exit.and(complain_of_parts(&parts)))
}

/// `voxscope [PATH]`: what `info` prints, until there is an explorer.
pub fn browse(path: Option<PathBuf>, options: target::Options) -> Result<Exit, Failure> {
    if path.is_some() {
        return run(&Arguments { path, format: OutputFormat::Text, options });
    }
    // Here means here: not what may lie somewhere below.
    let mut options = options.to_library()?;
    options.limits.directory_depth = 1;
    let mut out = stdout();
    match Save::open(target::path_or_here(None), &options) {
        Ok(save) => print(&mut out, &gather(&save, &save.path), &SaveArguments::new(&save).at(&save.path))?,
        Err(Error::NothingHere(_)) => nothing_here(&mut out)?,
        Err(error) => return Err(error.into()),
    }
    out.flush()?;
    Ok(Exit::CLEAN)
}

fn nothing_here(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "There is no save in this directory.")?;
    writeln!(out)?;
    writeln!(out, "  voxscope PATH                describe the save at PATH")?;
    writeln!(out, "  voxscope check PATH          check every block of it")?;
    writeln!(out, "  voxscope demo                explore generated saves, some of them damaged")?;
    writeln!(out, "  voxscope demo --write DIR    write these saves into DIR")?;
    writeln!(out, "  voxscope --help              everything else")
}

/// A save of `VoxelStreamBlockFiles`, in words.
const BLOCK_FILES: &str = "block files";

/// Gathers what is known of a save; `given` is the path that the user gave, by which things are named.
fn gather(save: &Save, given: &Path) -> Info {
    let mut scratch = Scratch::default();
    let forests = save.forests.iter().map(|forest| forest_info(save, forest, &mut scratch)).collect();
    let pak_dirs = save.pak_dirs.iter().map(|pak_dir| pak_dirs::gather(save, pak_dir, given)).collect();
    let streams = save.streams.iter().map(|file| streams::gather(save, file)).collect();
    let maps = save.maps.iter().map(|map| maps::gather(save, map, given)).collect();
    let path = voxscope::printable::path(given);
    let next = SaveArguments::new(save).at(given).command("check");
    let mut info = Info { path, forests, pak_dirs, streams, maps, faults: count_faults(save), empty: false, next };
    info.empty = !info.has_blocks();
    info
}

impl Info {
    /// Whether there is a block, or a file that may hold some although none is counted.
    fn has_blocks(&self) -> bool {
        let in_forest = |forest: &ForestInfo| {
            let has = |lod: &LodInfo| lod.blocks > 0 || lod.damaged_files > 0;
            !forest.left_out.is_empty() || forest.lods.iter().any(has)
        };
        self.forests.iter().any(in_forest)
            || self.pak_dirs.iter().any(pak_dirs::PakDirInfo::has_chunks)
            || self.streams.iter().any(streams::StreamInfo::has_blocks)
            || !self.maps.is_empty()
    }
}

/// How many files and directories have findings of their own: those of their names, and what is wrong with their headers,
/// descriptions and tables.
fn count_faults(save: &Save) -> usize {
    let mut files: BTreeSet<String> = save.faults.iter().map(|fault| save.shown(&fault.path)).collect();
    check::run(save, &check::Options::default().level(check::Level::Header), |finding| {
        if finding.level() > damage::Level::Note && finding.block.is_none() {
            files.insert(finding.file.to_string());
        }
    });
    files.len()
}

/// The path of a directory, by the path that the user gave: the one of a single file is opened by its whole path.
fn shown_by(save: &Save, given: &Path, dir: &Path) -> String {
    let above = given.parent().filter(|_| save.path.is_file() && given.is_relative());
    let above = above.map(|above| if above.as_os_str().is_empty() { Path::new(".") } else { above });
    voxscope::printable::path(above.unwrap_or(dir))
}

/// What the text calls a directory: a save that is one file has the name of that file.
fn title(save: &Save, given: &Path, dir: &Path) -> String {
    if save.path.is_file() { voxscope::printable::path(given) } else { shown_by(save, given, dir) }
}

fn forest_info(save: &Save, forest: &Forest, scratch: &mut Scratch) -> ForestInfo {
    let mut lods: Vec<LodInfo> = Vec::new();
    let mut sectors = None;
    let mut left_out = Vec::new();
    for file in &forest.regions {
        if lods.last().is_none_or(|last| last.lod != file.lod) {
            lods.push(LodInfo {
                lod: file.lod,
                lod_assumed: false,
                files: 0,
                bytes: 0,
                blocks: 0,
                extent: None,
                damaged_files: 0,
                foreign_files: 0,
                versions: Vec::new(),
            });
        }
        if let Some(lod) = lods.last_mut() {
            let why = add_file(save, forest, file, lod, scratch, &mut sectors);
            let file = || save.shown(&forest.dir.join(&file.name));
            left_out.extend(why.map(|why| check::LeftOut { file: file(), why }));
        }
    }
    if forest.regions.len() != 1 {
        sectors = None;
    }
    let own = forest.regions.iter().find_map(|file| file.header.as_ref().map(|header| header.format));
    let own = own.filter(|format| format.block_size_po2 > 0 || forest.kind != Kind::BlockFiles);
    ForestInfo {
        path: save.shown(&forest.dir),
        kind: match forest.kind {
            Kind::Forest => "forest",
            Kind::Loose => "region files",
            Kind::BlockFiles => BLOCK_FILES,
        },
        folders: match forest.layout {
            ForestLayout::Engine => "engine",
            ForestLayout::Port => "port",
        },
        lacks_meta: save.faults.iter().any(|fault| is_lacking_meta(fault, forest)),
        meta_version: forest.meta.as_ref().and_then(|meta| meta.version),
        lod_count: forest.meta.as_ref().and_then(|meta| meta.lod_count),
        layout: forest.format.or(own).map(layout),
        lods,
        sectors,
        left_out,
    }
}

fn is_lacking_meta(fault: &Fault, forest: &Forest) -> bool {
    fault.damage.code == Code::MetaMissing && fault.path.parent() == Some(&forest.dir)
}

fn layout(format: Format) -> RegionLayout {
    RegionLayout {
        block_size: format.block_size(),
        region_size: format.region_size,
        sector_size: format.sector_size,
        depth_bits: format.depths.map(|depth| depth.bits()),
    }
}

/// Adds a file to its LOD; returns what of it is left out, in words.
fn add_file(
    save: &Save,
    forest: &Forest,
    file: &RegionFile,
    lod: &mut LodInfo,
    scratch: &mut Scratch,
    sectors: &mut Option<Sectors>,
) -> Option<String> {
    lod.files += 1;
    lod.lod_assumed |= file.assumes_lod;
    lod.bytes += file.len;
    // Zeros or a flipped bit do not show another program; the scan names an SQLite database in words.
    let is_database = |damage: &Damage| damage.code == Code::RegionNotRegion && matches!(damage.found, Value::Words(_));
    let foreign = |damage: &Damage| damage.code == Code::RegionVoxedit || is_database(damage);
    lod.foreign_files += usize::from(file.damage.iter().any(foreign));
    let Ok(Some(mut region)) = save.region(forest, file) else {
        lod.damaged_files += 1;
        return None;
    };
    lod.damaged_files += usize::from(!file.damage.is_empty());
    if !lod.versions.contains(&region.header.version) {
        lod.versions.push(region.header.version);
    }
    lod.blocks += region.entries.len() as u64;
    let slots = region.slots(scratch).unwrap_or(SlotFormula::Euclidean);
    for listed in &region.entries {
        if let Some(position) = region.block_position(listed.slot, slots) {
            let [low, high] = lod.extent.get_or_insert([position; 2]);
            for ((low, high), p) in low.iter_mut().zip(high).zip(position) {
                *low = p.min(*low);
                *high = p.max(*high);
            }
        }
    }
    let map = region.sector_map();
    *sectors = Some(Sectors {
        size: map.sector_size,
        header_bytes: map.header_bytes,
        in_file: map.in_file,
        used: map.count(|owner| matches!(owner, Owner::Block(_))),
        shared: map.count(|owner| owner == Owner::Shared),
        free: map.count(|owner| owner == Owner::Free),
        stale: map.count(|owner| owner == Owner::Stale),
        beyond_end: map.count(|owner| matches!(owner, Owner::BeyondEnd(_))),
    });
    check::unlisted_blocks(&region)
}

fn print(out: &mut impl Write, info: &Info, subject: &SaveArguments) -> io::Result<()> {
    for (i, forest) in info.forests.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        print_forest(out, info, forest)?;
    }
    for (i, pak_dir) in info.pak_dirs.iter().enumerate() {
        if i + info.forests.len() > 0 {
            writeln!(out)?;
        }
        pak_dirs::print(out, pak_dir)?;
    }
    for (i, stream) in info.streams.iter().enumerate() {
        if i + info.forests.len() + info.pak_dirs.len() > 0 {
            writeln!(out)?;
        }
        streams::print(out, stream)?;
    }
    for (i, map) in info.maps.iter().enumerate() {
        if i + info.forests.len() + info.pak_dirs.len() + info.streams.len() > 0 {
            writeln!(out)?;
        }
        maps::print(out, map)?;
    }
    if info.faults > 0 {
        writeln!(out)?;
        let faults = match info.faults {
            1 => "1 file or directory has findings of its own".to_owned(),
            n => format!("{} files and directories have findings of their own", grouped(n as u64)),
        };
        let command = subject.command("check --notes");
        writeln!(out, "{faults}: `{command}` lists them.")?;
    }
    writeln!(out)?;
    if info.empty {
        return writeln!(out, "There is no block, so there is nothing to check. This says why:\n  {}", info.next);
    }
    writeln!(out, "No block was decoded. This checks all of them, and their places:\n  {}", info.next)
}

fn print_forest(out: &mut impl Write, info: &Info, forest: &ForestInfo) -> io::Result<()> {
    let name = if info.forests.len() == 1 { &info.path } else { &forest.path };
    let version = match forest.meta_version {
        Some(version) => format!(" of version {version}"),
        None if forest.lacks_meta => " · meta.vxrm is missing".to_owned(),
        None => String::new(),
    };
    let lods = forest.lod_count.map_or_else(String::new, |n| format!(" · {} by the meta file", count(n.into(), "LOD")));
    let folders = if forest.folders == "port" { " · folders of the Rust port" } else { "" };
    writeln!(out, "{BOLD}{name}{BOLD:#} · {}{version}{folders}{lods}", forest.kind)?;
    match &forest.layout {
        None => writeln!(out, "  The layout is unknown: neither a meta file nor a file of blocks shows it.")?,
        Some(layout) => {
            let bits = layout.depth_bits.map(|bits| bits.to_string()).join(", ");
            if forest.kind == BLOCK_FILES {
                writeln!(out, "  blocks of {0} x {0} x {0} voxels · channels of {bits} bits", layout.block_size)?;
            } else {
                writeln!(
                    out,
                    "  blocks of {0} x {0} x {0} voxels · regions of {1} x {2} x {3} blocks",
                    layout.block_size, layout.region_size[0], layout.region_size[1], layout.region_size[2],
                )?;
                let sector = count(layout.sector_size.into(), "byte");
                writeln!(out, "  sectors of {sector} · channels of {bits} bits")?;
            }
        }
    }
    writeln!(out)?;
    if forest.lods.is_empty() {
        return writeln!(out, "  There is no file of a block.");
    }
    let columns = [
        ("  lod", Align::Right),
        ("files", Align::Right),
        ("size", Align::Right),
        ("blocks", Align::Right),
        ("version", Align::Left),
        ("from block", Align::Left),
        ("to block", Align::Left),
        ("", Align::Left),
    ];
    let mut rows = table(&columns);
    for lod in &forest.lods {
        let [low, high] = lod.extent.map_or(["-".to_owned(), "-".to_owned()], |extent| extent.map(triple));
        let damaged = lod.damaged_files - lod.foreign_files;
        let notes = [(damaged, "with a damaged header"), (lod.foreign_files, "of another program")];
        let notes = notes.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
        let notes = notes.chain(lod.lod_assumed.then(|| "LOD assumed: no directory or name shows it".to_owned()));
        rows.add_row([
            lod.lod.to_string(),
            grouped(lod.files as u64),
            size(lod.bytes),
            grouped(lod.blocks),
            lod.versions.iter().map(u8::to_string).collect::<Vec<_>>().join(", "),
            low,
            high,
            notes.collect::<Vec<_>>().join(", "),
        ]);
    }
    write_table(out, &rows)?;
    // A block file has neither a table nor sectors.
    if let Some(sectors) = forest.sectors.as_ref().filter(|_| forest.kind != BLOCK_FILES) {
        writeln!(out)?;
        print_sectors(out, sectors)?;
    }
    Ok(())
}

fn print_sectors(out: &mut impl Write, sectors: &Sectors) -> io::Result<()> {
    write!(out, "  header and table {} · {}", size(sectors.header_bytes), count(sectors.in_file, "sector"))?;
    let parts = [
        (sectors.used, "in use"),
        (sectors.shared, "shared"),
        (sectors.free, "in gaps"),
        (sectors.stale, "stale"),
        (sectors.beyond_end, "beyond the end"),
    ];
    for (n, word) in parts {
        if n > 0 {
            write!(out, "{DIM} ·{DIM:#} {} {word}", grouped(n))?;
        }
    }
    writeln!(out)
}
