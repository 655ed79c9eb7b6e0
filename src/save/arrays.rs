//! Arrays of a voxel map without its `map_data.json`: what their names, headers and values show.

use std::path::{Path, PathBuf};

use crate::printable::{self, printable};
use crate::source::{FileSource, Source};
use crate::voxel_map::flags::{self, KNOWN, WATER};
use crate::voxel_map::names;
use crate::voxel_map::npy::{Dtype, Npy};

/// Numbers of an array that are looked at.
const NUMBERS: u64 = 1 << 20;

/// Arrays of a directory that are compared with each other.
const ARRAYS: usize = 64;

/// What an array of this type and shape is in a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Blocks,
    Index,
    Dense,
    Depths,
    Unknown,
}

impl Role {
    fn infer(npy: &Npy) -> Self {
        match (npy.dtype.is_integer(), npy.shape.as_slice()) {
            (true, [_, 16, 16, 16]) => Self::Blocks,
            (true, [_, 3]) => Self::Index,
            (true, [_, _, _]) => Self::Dense,
            (false, [_, _]) => Self::Depths,
            _ => Self::Unknown,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Blocks => "voxels of sparse blocks",
            Self::Index => "positions of sparse blocks",
            Self::Dense => "voxels of a dense layer",
            Self::Depths => "depths",
            Self::Unknown => "no array of a layer by its shape",
        }
    }
}

/// What the name, the header and the values of a file show.
#[must_use]
pub fn describe(path: &Path) -> String {
    let Ok(source) = FileSource::open(path) else { return "it cannot be read".to_owned() };
    let npy = match open(&source) {
        Ok(npy) => npy,
        Err(why) => return why,
    };
    let shape = npy.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let mut words = vec![format!("{} [{shape}]", npy.dtype.name())];
    words.extend(describe_values(&npy, &source));
    words.extend(name_words(path));
    words.join(", ")
}

fn open(source: &FileSource) -> Result<Npy, String> {
    let mut damage = Vec::new();
    let npy = Npy::open(source).map_err(|error| error.to_string())?.report_to(&mut damage);
    let why = || damage.first().map_or_else(String::new, |damage| format!(": {damage}"));
    npy.ok_or_else(|| format!("its header cannot be read{}", why()))
}

/// What the shape and the values of an array show, a clause each.
#[must_use]
pub fn describe_values<S: Source + ?Sized>(npy: &Npy, source: &S) -> Vec<String> {
    let mut words = Vec::new();
    let mut bytes = Vec::new();
    let role = Role::infer(npy);
    if npy.read(source, 0, NUMBERS, &mut bytes).is_ok() {
        words.extend(range(npy, &bytes));
    }
    words.push(role.words().to_owned());
    if matches!(role, Role::Blocks | Role::Dense) {
        words.extend(flag_words(npy, &bytes));
    }
    let looked_at = npy.there().min(NUMBERS);
    if looked_at < npy.declared() {
        words.push(format!("of the first {} of {}", numbers(looked_at), numbers(npy.declared())));
    }
    words
}

fn numbers(n: u64) -> String {
    printable::count(n, "number")
}

/// The lowest and the highest number.
fn range(npy: &Npy, bytes: &[u8]) -> Option<String> {
    if npy.dtype == Dtype::U64 {
        return Some(format!("{} to {}", npy.bits(bytes).min()?, npy.bits(bytes).max()?));
    }
    if npy.dtype.is_integer() {
        return Some(format!("{} to {}", npy.integers(bytes).min()?, npy.integers(bytes).max()?));
    }
    let fold = |better: fn(f32, f32) -> f32| npy.floats(bytes).filter(|n| n.is_finite()).reduce(better);
    Some(format!("{} to {}", fold(f32::min)?, fold(f32::max)?))
}

/// The flags that are set, and whether the upper half holds something else.
fn flag_words(npy: &Npy, bytes: &[u8]) -> Vec<String> {
    let (mut all, mut water) = (0, 0u64);
    for bits in npy.bits(bytes) {
        all |= bits;
        water = water.saturating_add(u64::from(bits & WATER != 0));
    }
    let mut words = Vec::new();
    let low = all & u64::from(u32::MAX);
    if low & KNOWN != 0 {
        let set: Vec<&str> = flags::names(low & KNOWN).map(|flag| flag.name).collect();
        words.push(format!("{} with WATER, flags {}", numbers(water).replace("number", "voxel"), set.join(" ")));
    }
    if low & !KNOWN != 0 {
        words.push("bits that are no known flag".to_owned());
    }
    if all > low && npy.dtype.size() == 8 {
        words.push("the upper 32 bits are used, as for depths in centimetres".to_owned());
    }
    words
}

/// Scene, map and layer by the name of the file.
fn name_words(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let named = names::of_file(name)?;
    let layer = match named.layer.strip_prefix("LocalStock_") {
        Some(local) => format!("the local layer `{}`", printable(local)),
        None => format!("the layer `{}`", printable(named.layer)),
    };
    Some(format!("by its name {layer} of map {} in scene `{}`", named.id, printable(named.scene)))
}

/// Which arrays of a directory belong together by their shapes, and what is missing; nothing if there are none.
#[must_use]
pub fn describe_together(dir: &Path) -> Vec<String> {
    let list = std::fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    let is_file = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    let mut paths: Vec<PathBuf> = list.filter(is_file).map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy")));
    paths.sort_unstable();
    paths.truncate(ARRAYS);
    let arrays: Vec<(String, Npy)> = paths
        .iter()
        .filter_map(|path| {
            let npy = open(&FileSource::open(path).ok()?).ok()?;
            Some((printable::path(Path::new(path.file_name()?)), npy))
        })
        .collect();
    if arrays.is_empty() {
        return Vec::new();
    }
    let of = |role: Role| arrays.iter().filter(move |(_, npy)| Role::infer(npy) == role);
    let at = |npy: &Npy, axis: usize| npy.shape.get(axis).copied();
    let mut lines = Vec::new();
    let mut join = |part: &str, what: &str, others: Vec<&str>| {
        if !others.is_empty() {
            lines.push(format!("{part} may be {what} of {}: their shapes fit", others.join(" or ")));
        }
    };
    for (name, index) in of(Role::Index) {
        let blocks = of(Role::Blocks).filter(|(_, blocks)| at(blocks, 0) == at(index, 0));
        join(name, "the index", blocks.map(|(name, _)| name.as_str()).collect());
    }
    for (name, depths) in of(Role::Depths) {
        let fits = |dense: &Npy| at(dense, 0) == at(depths, 0) && at(dense, 2) == at(depths, 1);
        let dense = of(Role::Dense).filter(|(_, dense)| fits(dense)).map(|(name, _)| name.as_str());
        join(name, "the depths", dense.collect());
    }
    if arrays.iter().any(|(_, npy)| Role::infer(npy) != Role::Unknown) {
        let scale = "origin, step and size of the layers are stored only there";
        lines.push(format!("To open the arrays as a map, put its map_data.json beside them: {scale}."));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::index;
    use crate::voxel_map::npy::header;

    fn array(descr: &str, shape: &[u64], values: impl IntoIterator<Item = u64>) -> Vec<u8> {
        let width = index(u64::from(descr.as_bytes()[2] - b'0'));
        let mut bytes = header(descr, shape);
        for value in values {
            bytes.extend_from_slice(&value.to_le_bytes()[..width]);
        }
        bytes
    }

    #[test]
    fn values_show_flags_water_and_depths_in_the_upper_half() {
        let bytes = array("<i8", &[2, 1, 2], [0, 1, 5, 150 << 32 | 1]);
        let npy = Npy::decode(&bytes, bytes.len() as u64).report_to(&mut Vec::new()).unwrap();
        assert_eq!(
            describe_values(&npy, &bytes),
            [
                "0 to 644245094401",
                "voxels of a dense layer",
                "3 voxels with WATER, flags WATER STONE",
                "the upper 32 bits are used, as for depths in centimetres"
            ]
        );
        let cut = &bytes[..bytes.len() - 8];
        let npy = Npy::decode(cut, cut.len() as u64).report_to(&mut Vec::new()).unwrap();
        assert!(describe_values(&npy, cut).contains(&"of the first 3 numbers of 4 numbers".to_owned()));
    }

    #[test]
    fn a_directory_says_which_arrays_belong_together() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: Vec<u8>| std::fs::write(dir.path().join(name), bytes).unwrap();
        write("Lake_2001_LocalStock_pier_-12.npy", array("<i4", &[2, 16, 16, 16], vec![1; 8192]));
        write("rows.npy", array("<i4", &[2, 3], [0, 0, 0, 1, 0, 0]));
        write("Lake_2001_Global.npy", array("<u2", &[2, 1, 3], [0, 1, 1, 1, 0, 1 << 13]));
        write("water.npy", array("<f4", &[2, 3], [0x3f80_0000; 6]));
        write("names.npy", array("<i4", &[2], [1, 2]));
        write("broken.npy", b"\x93NUMPY".to_vec());
        let together = describe_together(dir.path());
        assert_eq!(together.len(), 3, "{together:?}");
        assert!(together[0].starts_with("rows.npy may be the index of Lake_2001_LocalStock_pier_-12.npy"));
        assert!(together[1].starts_with("water.npy may be the depths of Lake_2001_Global.npy"), "{together:?}");
        assert!(together[2].contains("map_data.json"));
        let of = |name: &str| describe(&dir.path().join(name));
        assert_eq!(
            of("Lake_2001_LocalStock_pier_-12.npy"),
            "int32 [2, 16, 16, 16], 1 to 1, voxels of sparse blocks, 8,192 voxels with WATER, flags WATER, \
             by its name the local layer `pier_-12` of map 2001 in scene `Lake`"
        );
        assert!(of("Lake_2001_Global.npy").contains("3 voxels with WATER, flags WATER MOUTH_OF_SPRING"));
        assert!(of("water.npy").contains("1 to 1, depths"));
        assert!(of("broken.npy").contains("its header cannot be read"));
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(describe_together(empty.path()), Vec::<String>::new());
    }
}
