//! The save that printed commands are about: its path, and the options with which it was opened.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::godot::channel::Depth;
use crate::godot::slots::SlotFormula;
use crate::godot::stream::loc::KeyRule;
use crate::pak::chunk::Order;
use crate::pak::offset::Reading;
use crate::printable::{self, argument};
use crate::save::{META, Options, Save};

/// Directories above a region file in which its forest may be.
const ABOVE: usize = 3;

/// Numbers in the names of copies that are tried.
const MOST_COPIES: u32 = 100;

/// A save as printed commands name it. A command repeats the options with which the save was opened, because without them it
/// would read something else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaveArguments {
    path: PathBuf,
    options: Vec<Argument>,
    /// Rigs of VoxEdit in the place of region files.
    rigs: Vec<PathBuf>,
}

/// An option of the command line with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Argument {
    name: &'static str,
    value: Option<String>,
    /// The name of it in `convert`, where the plain one may be that of the result; `None` if `convert` does not have it.
    in_convert: Option<&'static str>,
}

impl Argument {
    fn new(name: &'static str, value: &impl ToString, in_convert: impl Into<Option<&'static str>>) -> Self {
        Self { name, value: Some(value.to_string()), in_convert: in_convert.into() }
    }
}

impl SaveArguments {
    /// A save, or the forest that the layout of a lone region file is from.
    #[must_use]
    pub fn new(save: &Save) -> Self {
        let path = save.forest_above().unwrap_or_else(|| save.named.clone());
        let rigs = save.regions().filter(|(_, file)| file.is_rig());
        let rigs = rigs.map(|(forest, file)| forest.dir.join(&file.name)).collect();
        Self { path, options: arguments_of(save), rigs }
    }

    /// A path that was opened without options.
    #[cfg(test)]
    pub(super) fn of_path(path: &Path) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
    }

    /// Another path, opened with the same options: one of the saves of a directory.
    #[must_use]
    pub fn at(&self, path: &Path) -> Self {
        Self { path: path.to_owned(), ..self.clone() }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The rigs of VoxEdit in the place of its region files, by their printable paths below it.
    pub(super) fn rigs(&self) -> Vec<String> {
        let below = self.rigs.iter().filter_map(|rig| rig.strip_prefix(&self.path).ok().map(|below| (rig, below)));
        below.map(|(rig, below)| printable::path(if below.as_os_str().is_empty() { rig } else { below })).collect()
    }

    /// Whether it is a single file.
    pub(super) fn is_file(&self) -> bool {
        self.path.is_file()
    }

    /// A command of voxscope about it, with its path and options.
    #[must_use]
    pub fn command(&self, name: &str) -> String {
        self.with_options(format!("voxscope {name} {}", argument(&self.path)))
    }

    /// The command that repairs it.
    #[must_use]
    pub fn repair_command(&self) -> String {
        let command = format!("voxscope repair {} --out {}", argument(&self.path), repaired_path(&self.path));
        self.with_options(command)
    }

    /// A command of voxscope about the save, with the options that it does not have yet.
    #[must_use]
    pub fn with_options(&self, mut command: String) -> String {
        let is_convert = command.starts_with("voxscope convert ");
        for option in &self.options {
            let Some(name) = (if is_convert { option.in_convert } else { Some(option.name) }) else { continue };
            if command.split(' ').any(|word| word == name) {
                continue;
            }
            command.push(' ');
            command.push_str(name);
            if let Some(value) = &option.value {
                command.push(' ');
                command.push_str(value);
            }
        }
        command
    }
}

/// The options of a save that have an effect on it.
fn arguments_of(save: &Save) -> Vec<Argument> {
    let Options { format, slots, pak, stale_rows, key_rule, .. } = &save.options;
    let mut all = Vec::new();
    if let Some(format) = format.filter(|_| !save.forests.is_empty()) {
        let [size, ..] = format.region_size;
        all.push(Argument::new("--block-size", &(1_u32 << format.block_size_po2.min(8)), "--from-block-size"));
        all.push(Argument::new("--region-size", &size, "--from-region-size"));
        all.push(Argument::new("--sector-size", &format.sector_size, "--from-sector-size"));
        if format.depths.iter().any(|depth| *depth != Depth::Bits8) {
            let bits: Vec<String> = format.depths.iter().map(|depth| depth.bits().to_string()).collect();
            all.push(Argument::new("--depths", &bits.join(","), "--from-depths"));
        }
    }
    if let Some(slots) = slots.filter(|_| !save.forests.is_empty()) {
        let name = match slots {
            SlotFormula::Legacy => "old",
            SlotFormula::Euclidean => "new",
        };
        all.push(Argument::new("--slots", &name, "--slots"));
    }
    if !save.pak_dirs.is_empty() {
        let shape = pak.shape.size.map(|size| size.map(|n| n.to_string()).join(","));
        all.extend(shape.map(|shape| Argument::new("--chunk-shape", &shape, None)));
        all.extend(pak.shape.voxel_bytes.map(|bytes| Argument::new("--voxel-bytes", &bytes, None)));
        let order = pak.order.map(Order::name);
        all.extend(order.map(|order| Argument::new("--chunk-order", &order, None)));
        let unit = pak.reading.map(Reading::name);
        all.extend(unit.map(|unit| Argument::new("--pak-offset", &unit, None)));
    }
    if !save.streams.is_empty() {
        if *stale_rows {
            all.push(Argument { name: "--stale-rows", value: None, in_convert: Some("--stale-rows") });
        }
        let rule = key_rule.map(|rule| match rule {
            KeyRule::Old => "old",
            KeyRule::New => "new",
        });
        all.extend(rule.map(|rule| Argument::new("--key-rule", &rule, "--key-rule")));
    }
    all
}

/// Where [`SaveArguments::repair_command`] puts its result, as an argument for a shell: beside the save, with a name that no file
/// has yet.
#[must_use]
pub fn repaired_path(save: &Path) -> String {
    argument(&free_name(destination(save)))
}

/// A path with a number in its name if it is taken, such as by the copy of an earlier repair.
fn free_name(path: PathBuf) -> PathBuf {
    let is_free = |path: &Path| std::fs::symlink_metadata(path).is_err();
    if is_free(&path) {
        return path;
    }
    let ending = path.extension().filter(|_| path.is_file());
    let stem = if ending.is_some() { path.file_stem() } else { path.file_name() };
    let Some(stem) = stem else { return path };
    let numbered = |n: u32| {
        let mut name = stem.to_owned();
        name.push(format!("-{n}"));
        if let Some(ending) = ending {
            name.push(".");
            name.push(ending);
        }
        path.with_file_name(name)
    };
    (2..MOST_COPIES).map(numbered).find(|path| is_free(path)).unwrap_or_else(|| path.clone())
}

/// Where the result of a conversion may be, as an argument for a shell: beside the save.
pub(super) fn converted_path(save: &Path) -> String {
    path_beside(save, "converted")
}

/// Where a copy may be, as an argument for a shell: beside the save.
pub(super) fn copied_path(save: &Path) -> String {
    path_beside(save, "copy")
}

/// A path beside a save with its name and another word, as an argument for a shell.
fn path_beside(save: &Path, what: &str) -> String {
    let Some(name) = save.file_stem().filter(|_| save.file_name().is_some()) else {
        return argument(&Path::new("..").join(what));
    };
    let name = if save.is_file() { name } else { save.file_name().unwrap_or(name) };
    let mut name = OsString::from(name);
    name.push("-");
    name.push(what);
    argument(&save.with_file_name(name))
}

/// Where the engine moves a save before it converts it, as an argument for a shell.
pub(super) fn old_path(save: &Path) -> String {
    let real = || std::fs::canonicalize(save).ok()?.file_name().map(OsStr::to_owned);
    let (mut name, beside) = match save.file_name() {
        Some(name) => (name.to_owned(), save.to_path_buf()),
        None => (real().unwrap_or_else(|| OsString::from("save")), Path::new("..").join("save")),
    };
    name.push("_old");
    argument(&beside.with_file_name(name))
}

fn destination(save: &Path) -> PathBuf {
    let (Some(name), Some(stem)) = (save.file_name(), save.file_stem()) else {
        // `.`, `..` and the like have no name, and what is beside them may be in the save.
        let real = std::fs::canonicalize(save).ok().filter(|real| real.file_name().is_some());
        let Some(copy) = real.map(|real| destination(&real)) else { return Path::new("..").join("save-repaired") };
        let is_beside = |dir: &&Path| std::fs::canonicalize(dir).ok().as_deref() == copy.parent();
        let beside = save.join("..");
        let name = copy.file_name().unwrap_or_default();
        return [Path::new(".."), &beside].iter().find(|dir| is_beside(dir)).map_or(copy.clone(), |dir| dir.join(name));
    };
    let is_file = save.is_file();
    // Nothing is written into the forest that a region file or a directory of them is part of.
    let real = std::fs::canonicalize(save).ok();
    let above =
        |real: &Path| real.ancestors().skip(1).take(ABOVE).find(|dir| dir.join(META).is_file()).map(Path::to_owned);
    let mut whole = real.as_deref().and_then(above);
    // Nor beside the other files of a pak: the repair of one is a directory.
    if is_file && save.extension().is_some_and(|ending| ending == "region") {
        whole = real.as_deref().and_then(Path::parent).map(Path::to_owned);
    }
    if let Some(whole) = whole.filter(|whole| whole.file_name().is_some()) {
        // Not the name that the copy of the whole save has.
        let mut out = whole.file_name().unwrap_or_default().to_owned();
        out.push("-");
        out.push(if is_file { stem } else { name });
        out.push("-repaired");
        return as_named(save, whole).with_file_name(out);
    }
    // The repair of a region file is a directory.
    let is_file = is_file && save.extension().is_none_or(|ending| ending != "vxr");
    let mut out = if is_file { stem } else { name }.to_owned();
    out.push("-repaired");
    if is_file && let Some(ending) = save.extension() {
        out.push(".");
        out.push(ending);
    }
    save.with_file_name(out)
}

/// A directory above a save, by the path of the save if that leads there.
fn as_named(save: &Path, dir: PathBuf) -> PathBuf {
    let is_dir = |path: &&Path| path.file_name().is_some() && std::fs::canonicalize(path).is_ok_and(|real| real == dir);
    let named = save.ancestors().skip(1).find(is_dir).map(Path::to_owned);
    named.unwrap_or(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_given_to_a_shell() {
        let repair_command = |save: &str| SaveArguments::of_path(Path::new(save)).repair_command();
        assert_eq!(repair_command("a b/world"), "voxscope repair 'a b/world' --out 'a b/world-repaired'");
        let here = std::env::current_dir().unwrap();
        let name = here.file_name().unwrap().to_str().unwrap();
        assert_eq!(repair_command("."), format!("voxscope repair . --out ../{name}-repaired"));
        assert_eq!(repair_command("it's"), r"voxscope repair 'it'\''s' --out 'it'\''s-repaired'");
        // A directory with a dot in its name keeps it.
        assert_eq!(repair_command("v1.2"), "voxscope repair v1.2 --out v1.2-repaired");
    }

    #[test]
    fn a_copy_of_an_earlier_repair_keeps_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let world = dir.path().join("v1.2");
        std::fs::create_dir(&world).unwrap();
        let stream = dir.path().join("world.sqlite");
        std::fs::write(&stream, "").unwrap();
        let next = |save: &Path| repaired_path(save).rsplit('/').next().unwrap().to_owned();
        assert_eq!((&*next(&world), &*next(&stream)), ("v1.2-repaired", "world-repaired.sqlite"));
        std::fs::create_dir(dir.path().join("v1.2-repaired")).unwrap();
        std::fs::write(dir.path().join("world-repaired.sqlite"), "").unwrap();
        assert_eq!((&*next(&world), &*next(&stream)), ("v1.2-repaired-2", "world-repaired-2.sqlite"));
        std::fs::create_dir(dir.path().join("v1.2-repaired-2")).unwrap();
        assert_eq!(next(&world), "v1.2-repaired-3");
    }

    #[test]
    fn no_command_writes_into_the_save_that_it_is_about() {
        let dir = tempfile::tempdir().unwrap();
        let save = dir.path().join("world");
        std::fs::create_dir_all(save.join("regions/lod0")).unwrap();
        std::fs::write(save.join(META), "{}").unwrap();
        for (part, copy) in [("regions", "world-regions-repaired"), ("regions/lod0", "world-lod0-repaired")] {
            assert_eq!(destination(&save.join(part)), dir.path().join(copy), "{part}");
        }
        assert_eq!(destination(&save), dir.path().join("world-repaired"));
        let pak = dir.path().join("pak");
        std::fs::create_dir(&pak).unwrap();
        std::fs::write(pak.join("x0_y0_z0.region"), "").unwrap();
        assert_eq!(destination(&pak.join("x0_y0_z0.region")), dir.path().join("pak-x0_y0_z0-repaired"));
        assert_eq!(destination(&pak), dir.path().join("pak-repaired"));
    }

    #[test]
    fn a_command_repeats_each_option_once() {
        let options = vec![
            Argument::new("--block-size", &16, "--from-block-size"),
            Argument::new("--key-rule", &"old", "--key-rule"),
            Argument::new("--voxel-bytes", &2, None),
        ];
        let subject = SaveArguments { path: "w".into(), options, rigs: Vec::new() };
        let with = |command: &str| subject.with_options(command.to_owned());
        assert_eq!(
            subject.repair_command(),
            "voxscope repair w --out w-repaired --block-size 16 --key-rule old --voxel-bytes 2"
        );
        assert_eq!(
            with("voxscope convert w --out x"),
            "voxscope convert w --out x --from-block-size 16 --key-rule old",
            "the plain names are those of the result, and `convert` does not read pak regions"
        );
        assert_eq!(
            with("voxscope ls w --key-rule new"),
            "voxscope ls w --key-rule new --block-size 16 --voxel-bytes 2"
        );
    }
}
