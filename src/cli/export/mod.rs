//! `export`: voxels, metadata and tables of a save as files for other programs.

mod arguments;
mod left_out;
mod usage;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use voxscope::check;
use voxscope::draft::{self, Draft};
use voxscope::export::voxels::{self, Error, Odd, Request, Summary, Which};
use voxscope::export::{self, Coloring, MapRequest, Picture, PictureFaults, Slice};
use voxscope::godot::channel::NAMES;
use voxscope::picture::{self, Part, palette::Palette};
use voxscope::printable;
use voxscope::repair;
use voxscope::save::Save;
use voxscope::watch::Watch;
use voxscope::world::{self, Fault, World};

use super::exit::{Exit, Failure};
use super::output::{
    BOLD, after_report, complain, complain_of_file, complain_of_file_once, complain_of_unread,
    complain_of_unread_beside, complain_of_unreadable, count, grouped, of_several, stdout, warn_of_corrected,
    warn_of_misplaced, warn_of_twice, wrapped,
};
use super::progress::{Bar, cancelled_by_signals};
use super::target::read_names;
use arguments::LookArgument;

pub use arguments::{Arguments, parse_channel};

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    usage::check_look(arguments)?;
    usage::check_arrays(arguments)?;
    arguments.map.as_deref().map_or(Ok(()), usage::check_ending)?;
    usage::check_slice(arguments)?;
    let save = arguments.options.open_as_placed(&arguments.source)?;
    // A file of one LOD is exported as that LOD.
    let arguments = &Arguments { lod: arguments.lod.or_else(|| lod_of_file(&save)), ..arguments.clone() };
    if let Some(to) = &arguments.map {
        return map(arguments, save, to);
    }
    let names = read_names(&arguments.source, arguments.names.as_deref())?;
    let cancel = cancelled_by_signals();
    let bar = Bar::new();
    let progress = |progress| bar.show(progress);
    let watch = Watch::default().cancel(&cancel).progress(&progress);
    let paks_alone = save.forests.is_empty() && save.streams.is_empty() && !save.pak_dirs.is_empty();
    let done = if arguments.table {
        table(arguments, &save, &names, &watch)
    } else if let (Some(name), Some((axis, at))) = (&arguments.layer, arguments.slice) {
        let picture = export::slice_of_layer(&save, name, &slice(arguments, axis, at), arguments.out(), &watch);
        let of = export::name_of_layer(&save, name);
        let picture = picture.map(|picture| (picture_words(arguments, &picture, &of), lacking("", &picture.faults)));
        picture.map(|done| left_out::and(done, left_out::all_but_map(&save, name)))
    } else if arguments.layer.is_some() && arguments.area.is_some() {
        Err(Error::Request("a layer is exported whole: --box goes with --slice".to_owned()))
    } else if let Some(name) = &arguments.layer {
        layer(arguments, &save, name, &watch).map(|done| left_out::and(done, left_out::all_but_map(&save, name)))
    } else if arguments.lost {
        lost(arguments, &save, &watch)
    } else if let (Some((axis, at)), true) = (arguments.slice, paks_alone) {
        let picture = export::slice_of_chunks(&save, &slice(arguments, axis, at), arguments.out(), &watch);
        let picture =
            picture.map(|picture| (picture_words(arguments, &picture, "voxels"), lacking("", &picture.faults)));
        picture.map(|done| left_out::and(done, left_out::maps(&save)))
    } else if paks_alone && !arguments.instances {
        chunks(arguments, &save, &watch).map(|done| left_out::and(done, left_out::maps(&save)))
    } else if arguments.instances {
        instances_of_one(arguments, &save, &watch)
    } else if save.forests.len() + save.streams.len() > 1 {
        several(arguments, &save, &names, &watch)
    } else {
        let world = World::only(&save).map_err(|error| {
            complain_of_unread(&save);
            nothing(&save, &error)
        })?;
        let done = one(arguments, &world, &names, &watch);
        done.map(|done| left_out::and(done, left_out::others(&save)))
    };
    bar.clear();
    let unread = match &done {
        Err(Error::Beside(_) | Error::Request(_)) => Exit::CLEAN,
        // It may be in there that nothing was found.
        Ok(_) | Err(_) => complain_of_unread(&save),
    };
    if let Err(Error::Missing(_)) = &done {
        left_out::unlisted_blocks(&save, &save.forests);
    }
    let done = done.map_err(|error| named(error, &arguments.source));
    Ok(report(arguments.out(), done)?.and(unread))
}

/// Exports from one world: a slice, or arrays.
fn one(arguments: &Arguments, world: &World<'_>, names: &Palette, watch: &Watch<'_>) -> Done {
    match arguments.slice {
        Some((axis, at)) => picture(arguments, world, axis, at, watch),
        None => arrays(arguments, world, names, watch),
    }
}

/// Exports from every world of a directory, under its path below the destination. Worlds without what is asked for are left out.
fn several(arguments: &Arguments, save: &Save, names: &Palette, watch: &Watch<'_>) -> Done {
    let draft = Draft::new(&[&save.path], arguments.out(), watch)?;
    let (mut exit, mut exported, mut without) = (Exit::CLEAN, 0, 0);
    let (mut worlds, unreadable) = World::all_readable(save);
    exit = exit.and(complain_of_unreadable(&unreadable));
    // The directory of a result is there before others are written into it.
    worlds.sort_by_key(|world| world.path_of_result().components().count());
    for world in worlds {
        // A picture is a file, arrays are a directory; a stream and a forest may have the same name without its ending.
        let mut name = world.path_of_result().into_os_string();
        name.push(if arguments.slice.is_some() { ".png" } else { "" });
        let below = PathBuf::from(name);
        draft.directory(below.parent().unwrap_or(Path::new("")))?;
        let own = Arguments { out: Some(draft.root().join(&below)), ..arguments.clone() };
        match one(&own, &world, names, watch) {
            Ok((_, of_world)) => {
                exit = exit.and(of_world);
                exported += 1;
            }
            Err(Error::Missing(why)) => {
                let own = format!("{}: ", world.name);
                complain(&format_args!("{}: {}", printable::path(&below), why.strip_prefix(&own).unwrap_or(&why)));
                // It may be in files that cannot be read.
                for fault in world.index(arguments.lod.unwrap_or(0)).faults {
                    complain_of_file_once(&fault.file, &fault.why);
                    exit = exit.and(Exit::FAILED);
                }
                exit = exit.and(left_out::unlisted_blocks(save, world.forest()));
                without += 1;
            }
            Err(error) => return Err(error),
        }
    }
    exit = exit.and(left_out::others(save));
    if exported == 0 {
        return Err(Error::Missing("no save here has what is asked for".to_owned()));
    }
    draft.finish()?;
    let left =
        if without > 0 { format!(" · {} without what was asked for", count(without, "save")) } else { String::new() };
    Ok((format!("{}{left}", count(exported, "save")), exit))
}

/// The LOD of the only file of a save that is one region file or block file.
fn lod_of_file(save: &Save) -> Option<u8> {
    let [forest] = save.forests.as_slice() else { return None };
    let [file] = forest.regions.as_slice() else { return None };
    save.path.is_file().then_some(file.lod).filter(|lod| *lod > 0)
}

/// An error with the name of the save.
fn named(error: Error, save: &Path) -> Error {
    let name = printable::path(save);
    let short = Path::new(save.file_name().unwrap_or_default()).to_owned();
    // A single file is opened by its whole path.
    let names =
        [Some(short), std::fs::canonicalize(save).ok()].map(|path| Some(format!("{}: ", printable::path(&path?))));
    let with_name = |why: String| match names.iter().flatten().find_map(|name| why.strip_prefix(name.as_str())) {
        Some(why) => format!("{name}: {why}"),
        None if why.starts_with(&name) => why,
        None => format!("{name}: {why}"),
    };
    match error {
        Error::Request(why) => Error::Request(with_name(why)),
        Error::Missing(why) => Error::Missing(with_name(why)),
        error => error,
    }
}

/// Says what was written, or why not.
fn report(to: &Path, done: Done) -> Result<Exit, Failure> {
    match done {
        Err(Error::Beside(draft::Error::Interrupted)) => Ok(Exit::INTERRUPTED),
        Err(error @ (Error::Beside(draft::Error::Destination { .. }) | Error::Request(_))) => {
            Err(Failure::Usage(error.to_string()))
        }
        Err(error) => Err(Failure::Failed(error.to_string())),
        Ok((line, exit)) => {
            let line = format!("{BOLD}{}{BOLD:#}: {line}", printable::path(to));
            let mut out = stdout();
            let printed = writeln!(out, "{}", wrapped(&line, "  ")).and_then(|()| out.flush());
            Ok(after_report(to, exit, printed.map_err(Failure::from)))
        }
    }
}

/// The picture of the world.
fn map(arguments: &Arguments, save: Save, to: &Path) -> Result<Exit, Failure> {
    let cancel = cancelled_by_signals();
    let bar = Bar::new();
    let progress = |progress| bar.show(progress);
    let watch = Watch::default().cancel(&cancel).progress(&progress);
    let palette = read_names(&arguments.source, arguments.names.as_deref())?;
    let part = part(arguments, &save).inspect_err(|_| {
        // It may be in what was not read.
        complain_of_unread(&save);
    })?;
    let against = match &arguments.against {
        Some(path) => Some(Arc::new(Save::open(path, &save.options)?)),
        None => None,
    };
    // Of the surface, an array has the heights.
    let standard = match arguments.slice {
        Some(_) => picture::Look::Cut,
        None if usage::has_ending(to, "npy") => picture::Look::Height,
        None => picture::Look::Surface,
    };
    let request = MapRequest {
        lod: arguments.lod.unwrap_or(0),
        area: arguments.area,
        scale: arguments.scale,
        channel: arguments.channel.first().copied(),
        cut: arguments.slice,
        palette,
        against,
        ..MapRequest::new(arguments.look.and_then(LookArgument::of_map).unwrap_or(standard))
    };
    let save = Arc::new(save);
    let done = export::map(&save, part, &request, to, &watch);
    bar.clear();
    let left_out = match (&done, &arguments.layer) {
        (Ok(_), Some(name)) => left_out::all_but_map(&save, name),
        _ => Exit::CLEAN,
    };
    let done = done.map(|summary| {
        let [width, height] = summary.size;
        let beside = summary.description.map(|path| format!(", described in {}", printable::path(&path)));
        let scale = summary.scale.map_or_else(String::new, |scale| format!(", {scale}"));
        let words = format!("{width} x {height} pixels, look {}, {}{scale}", request.look.name(), summary.matter);
        let lost = left_out::lost_blocks(&save, &arguments.source, summary.lost);
        (words + &beside.unwrap_or_default(), lacking("", &summary.faults).and(left_out).and(lost))
    });
    if let Err(Error::Missing(_)) = &done {
        left_out::unlisted_blocks(&save, &save.forests);
    }
    let unread = match &done {
        Err(Error::Beside(_) | Error::Request(_)) => Exit::CLEAN,
        Ok(_) | Err(_) => {
            let other = request.against.as_deref().map_or(Exit::CLEAN, complain_of_unread_beside);
            complain_of_unread(&save).and(other)
        }
    };
    Ok(report(to, done.map_err(|error| named(error, &arguments.source)))?.and(unread))
}

/// The world of a save that a picture is made of.
fn part(arguments: &Arguments, save: &Save) -> Result<Part, Failure> {
    if let Some(name) = &arguments.layer {
        let layers = || {
            Part::all(save).into_iter().filter_map(|part| match part {
                Part::Layer(map, at) => Some((part, save.maps.get(map)?.layers().nth(at)?)),
                _ => None,
            })
        };
        let named = layers().find(|(_, layer)| layer.name.as_deref() == Some(name.as_str()));
        let numbered = || name.parse().ok().and_then(|n: usize| layers().nth(n));
        let none = || {
            Failure::Failed(format!(
                "{}: there is no layer {}",
                printable::path(&save.path),
                printable::printable(name)
            ))
        };
        return named.or_else(numbered).map(|(part, _)| part).ok_or_else(none);
    }
    let saves = save.count_saves();
    let shown = printable::path(&save.path);
    match Part::first(save) {
        Some(_) if saves > 1 => {
            let why = format!(
                "{shown}: there are {saves} saves here: name one of them (`voxscope info {}` lists them)",
                printable::argument(&save.path)
            );
            Err(Failure::Usage(why))
        }
        Some(part) => Ok(part),
        None => Err(Failure::Failed(format!("{shown}: there is nothing to draw{}", unread_maps(save)))),
    }
}

/// Why the voxel maps of a save have no layers, where their descriptions cannot be read.
fn unread_maps(save: &Save) -> String {
    let unread = save.maps.iter().filter(|map| map.data.is_none()).flat_map(|map| check::unread_layers(save, map));
    unread.map(|check::LeftOut { file, why }| format!("; {file}: {why}")).collect()
}

/// Why there are no blocks to export, and which options export what there is.
fn nothing(save: &Save, error: &world::Error) -> Failure {
    let names: Vec<&str> =
        save.maps.iter().flat_map(|map| map.layers()).filter_map(|layer| layer.name.as_deref()).collect();
    let help = match (error, names.as_slice()) {
        (world::Error::Nothing(_), [_, ..]) => {
            format!("; a voxel map is exported layer by layer, by --layer: {}", printable::printable(&names.join(", ")))
        }
        (world::Error::Nothing(_), []) if !save.pak_dirs.is_empty() => {
            "; chunks of pak regions are exported as arrays only".to_owned()
        }
        (world::Error::Nothing(_), []) if !save.maps.is_empty() => {
            return Failure::Failed(format!("{error}{}", unread_maps(save)));
        }
        _ => String::new(),
    };
    match (error, help.is_empty()) {
        (world::Error::Several(..), _) | (_, false) => Failure::Usage(format!("{error}{help}")),
        _ => Failure::Failed(error.to_string()),
    }
}

/// Prints what was done; returns the exit code.
type Done = Result<(String, Exit), Error>;

fn table(arguments: &Arguments, save: &Save, names: &Palette, watch: &Watch<'_>) -> Done {
    let (rows, faults) = export::table(save, arguments.out(), names, watch)?;
    warn_about_faults(&faults);
    Ok((count(rows, "block"), Exit::FAILED.when(!faults.is_empty())))
}

fn layer(arguments: &Arguments, save: &Save, name: &str, watch: &Watch<'_>) -> Done {
    let export::LayerSummary { name: of, dim: [x, y, z], faults } =
        export::layer(save, name, arguments.out(), arguments.yes, watch)?;
    warn_about_faults(&faults);
    let exit = Exit::DAMAGED.when(!faults.is_empty());
    // Where the layer was asked for by its number, its name says which it is.
    let of = of.unwrap_or_else(|| format!("layer {name}"));
    Ok((format!("{x} x {y} x {z} cells of {}", printable::printable(&of)), exit))
}

fn lost(arguments: &Arguments, save: &Save, watch: &Watch<'_>) -> Done {
    let found = repair::export_unowned(save, arguments.out(), watch).map_err(|error| match error {
        repair::Error::Build(error) => Error::Beside(error),
        error => Error::Missing(error.to_string()),
    })?;
    let (blocks, arrays) = (count(found.blocks, "unowned block"), count(found.arrays, "array"));
    let identical = check::identical_words(found.identical);
    let blocks = format!("{blocks}, {} whole{identical} · {arrays}", found.whole);
    let words = match (found.blocks, count(found.files, "other file")) {
        (_, _) if found.files == 0 => blocks,
        (0, _) => format!("{} that a repair puts into lost+found", count(found.files, "file")),
        (_, files) => format!("{blocks} · {files} that a repair puts into lost+found"),
    };
    Ok((words, Exit::CLEAN))
}

fn picture(arguments: &Arguments, world: &World<'_>, axis: usize, at: i64, watch: &Watch<'_>) -> Done {
    let slice = slice(arguments, axis, at);
    let picture = export::slice(world, &slice, arguments.out(), watch)?;
    let words = picture_words(arguments, &picture, NAMES.get(slice.channel).unwrap_or(&""));
    Ok((words, lacking(&of_several(world.save, &world.name), &picture.faults)))
}

/// Says what a picture of a save lacks; `of` names it where there are several. Returns the exit code for that.
fn lacking(of: &str, faults: &PictureFaults) -> Exit {
    let what = if faults.is_of_chunks { "chunk" } else { "block" };
    let misplaced = warn_of_misplaced(of, what, &faults.misplaced, "drawn");
    warn_of_corrected(&faults.corrected);
    warn_about_faults(&faults.files);
    warn_about_faults(&faults.layers);
    tell_damaged(of, what, &faults.damaged, "", "drawn");
    let damaged = !faults.damaged.is_empty() || !faults.layers.is_empty();
    warn_of_twice(of, what, faults.twice);
    let misplaced = misplaced.and(Exit::DAMAGED.when(faults.twice > 0));
    Exit::DAMAGED.when(damaged).and(misplaced).and(Exit::FAILED.when(!faults.files.is_empty()))
}

fn slice(arguments: &Arguments, axis: usize, at: i64) -> Slice {
    let look = match arguments.look {
        Some(LookArgument::Scale) => Coloring::Scale,
        _ => Coloring::Palette,
    };
    let channel = arguments.channel.first().copied().unwrap_or(0);
    Slice { lod: arguments.lod.unwrap_or(0), axis, at, which: which(arguments), channel, look }
}

fn picture_words(arguments: &Arguments, picture: &Picture, what: &str) -> String {
    let [width, height] = picture.size;
    let scale = match (picture.range, arguments.look) {
        (Some([low, high]), Some(LookArgument::Scale)) => format!(" · black is {low}, white is {high}"),
        _ => String::new(),
    };
    format!("{width} x {height} pixels of {}{scale}", printable::printable(what))
}

fn arrays(arguments: &Arguments, world: &World<'_>, names: &Palette, watch: &Watch<'_>) -> Done {
    let request = Request {
        lod: arguments.lod.unwrap_or(0),
        which: which(arguments),
        channels: arguments.channel.clone(),
        fill: arguments.fill.unwrap_or(0),
        distances: arguments.distances,
        sync: !arguments.no_sync,
        large: arguments.yes,
        unpack: arguments.unpack_textures,
        names: names.clone(),
    };
    let summary = voxels::export(world, &request, arguments.out(), watch)?;
    let of = of_several(world.save, &world.name);
    let misplaced = warn_of_misplaced(&of, "block", &summary.misplaced, "exported");
    warn_of_corrected(&summary.corrected);
    warn_about_faults(&summary.faults);
    tell_damaged(&of, "block", &summary.damaged, "; export.json lists them", "exported");
    let packed = arguments.unpack_textures && summary.arrays.iter().all(|array| array.unpacked.is_none());
    if packed {
        complain(&format_args!("--unpack-textures: the depths of the blocks do not show textures of Mixel4"));
    }
    let failed = packed || !summary.faults.is_empty();
    warn_of_twice(&of, "block", summary.twice);
    let misplaced = misplaced.and(Exit::DAMAGED.when(summary.twice > 0));
    let damaged = Exit::DAMAGED.when(!summary.damaged.is_empty()).and(misplaced);
    Ok((words(&summary), damaged.and(Exit::FAILED.when(failed))))
}

/// Exports the instances of the only stream of a save; other families have none.
fn instances_of_one(arguments: &Arguments, save: &Save, watch: &Watch<'_>) -> Done {
    let worlds = World::all(save)?;
    let streams: Vec<&World<'_>> = worlds.iter().filter(|world| world.has_instances()).collect();
    match streams.as_slice() {
        [stream] => instances(arguments, stream, watch),
        [] => Err(Error::Request("only SQLite streams keep instances, and there is none here".to_owned())),
        several => {
            let names: Vec<String> = several.iter().map(|world| save.shown(world.path())).collect();
            Err(Error::Request(format!(
                "--instances writes one file, and there are {} streams here: give the path of one ({})",
                several.len(),
                names.join(", ")
            )))
        }
    }
}

fn instances(arguments: &Arguments, world: &World<'_>, watch: &Watch<'_>) -> Done {
    let summary = export::instances(world, arguments.lod, arguments.out(), watch)?;
    tell_damaged("", "block", &summary.damaged, "", "exported");
    let line = format!("{} in {}", count(summary.instances, "instance"), count(summary.blocks, "block"));
    Ok((line, Exit::DAMAGED.when(!summary.damaged.is_empty())))
}

fn chunks(arguments: &Arguments, save: &Save, watch: &Watch<'_>) -> Done {
    if arguments.area.is_some() || !arguments.channel.is_empty() || arguments.distances || arguments.lod.is_some() {
        let why = "chunks of pak regions have no LODs and channels, and are exported one by one: --block X,Y,Z, or all";
        return Err(Error::Request(why.to_owned()));
    }
    if arguments.fill.is_some() || arguments.no_sync {
        return Err(Error::Request("--fill and --no-sync have no effect on chunks of pak regions".to_owned()));
    }
    let dirs: BTreeSet<&Path> = save.pak_dirs.iter().map(|pak_dir| pak_dir.dir.as_path()).collect();
    if dirs.len() > 1 && arguments.block.is_none() {
        return chunks_of_all(arguments, save, &dirs, watch);
    }
    told_chunks(&export::chunks(save, arguments.block, arguments.out(), watch)?)
}

/// Exports the chunks of each directory with pak regions, under its path below the destination.
fn chunks_of_all(arguments: &Arguments, save: &Save, dirs: &BTreeSet<&Path>, watch: &Watch<'_>) -> Done {
    let draft = Draft::new(&[&save.path], arguments.out(), watch)?;
    let mut exit = Exit::CLEAN;
    for dir in dirs {
        let below = dir.strip_prefix(&save.path).unwrap_or(dir);
        let below = if below.as_os_str().is_empty() { Path::new("world") } else { below };
        draft.directory(below.parent().unwrap_or(Path::new("")))?;
        let summary = export::chunks_in(save, dir, None, &draft.root().join(below), watch)?;
        exit = exit.and(told_chunks(&summary)?.1);
    }
    draft.finish()?;
    Ok((count(dirs.len() as u64, "save"), exit))
}

/// What was exported of pak regions, in words.
fn told_chunks(summary: &export::Chunks) -> Done {
    warn_about_faults(&summary.faults);
    let misplaced = warn_of_misplaced("", "chunk", &summary.misplaced, "exported");
    tell_damaged_parts("", &summary.first_damaged, summary.damaged, "; chunks.jsonl lists them", "exported");
    let not_whole = match summary.damaged {
        0 => String::new(),
        n => format!(", {n} of them not whole"),
    };
    let line = format!("{}{not_whole} · {}", count(summary.chunks, "chunk"), count(summary.arrays, "array"));
    let exit = Exit::DAMAGED.when(summary.damaged > 0).and(misplaced);
    Ok((line, exit.and(Exit::FAILED.when(!summary.faults.is_empty()))))
}

fn which(arguments: &Arguments) -> Which {
    match (arguments.block, arguments.area) {
        (Some(block), _) => Which::Block(block),
        (None, Some(area)) => Which::Box(area),
        (None, None) => Which::All,
    }
}

fn tell_damaged(of: &str, what: &str, damaged: &[Odd], where_all_are: &str, done: &str) {
    let first = damaged.iter().take(export::NAMED);
    let first: Vec<(String, String)> =
        first.map(|odd| (format!("{what} {}", printable::triple(odd.block)), odd.why.clone())).collect();
    tell_damaged_parts(of, &first, damaged.len() as u64, where_all_are, done);
}

/// Names the first of all damaged parts, each with the reason.
fn tell_damaged_parts(of: &str, first: &[(String, String)], all: u64, where_all_are: &str, done: &str) {
    for (part, why) in first {
        complain(&format_args!("{of}{part} is not {done} completely: {}", voxscope::damage::with_titles(why)));
    }
    let more = all.saturating_sub(first.len() as u64);
    if more > 0 {
        complain(&format_args!("{of}and {} more{where_all_are}", grouped(more)));
    }
}

fn warn_about_faults(faults: &[Fault]) {
    for fault in faults {
        complain_of_file(&fault.file, &fault.why);
    }
}

fn words(summary: &Summary) -> String {
    let unpacked = |array: &'_ voxels::Written| array.unpacked.as_ref().and_then(|of| of.file.clone());
    let files: Vec<String> =
        summary.arrays.iter().flat_map(|array| array.file.clone().into_iter().chain(unpacked(array))).collect();
    let holes = match summary.holes {
        0 => String::new(),
        n => format!(", {} without a block", count(n, "place")),
    };
    let [x, y, z] = [0, 1, 2].map(|i| summary.area[1][i] - summary.area[0][i]);
    let files = if files.is_empty() { "every channel has one value".to_owned() } else { files.join(", ") };
    format!("{x} x {y} x {z} voxels · {}{holes} · {files}", count(summary.blocks, "block"))
}
