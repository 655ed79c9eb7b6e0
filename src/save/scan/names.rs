//! Names of directories of LODs and of region files: as the engine writes them, and as copies change them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use crate::godot::forest::MAX_LODS;

/// `lodN`, N from 0 to 23 as the engine writes it.
pub(crate) fn parse_lod(name: &OsStr) -> Option<u8> {
    let digits = name.to_str()?.strip_prefix("lod")?;
    canonical(digits)?.try_into().ok().filter(|&lod: &u8| lod < MAX_LODS)
}

/// The LOD that the directory of a region file or block file shows, or otherwise the name of the file: a copy of a single file may
/// be anywhere. Both may have more in their names, such as `lod2-backup` and `lod2_r.0.0.0.vxr`.
pub(super) fn lod_shown_by(dir: &Path, file: &OsStr) -> Option<u8> {
    let dir = dir.file_name().unwrap_or_default();
    parse_lod(dir).or_else(|| lod_within(dir)).or_else(|| lod_within(file))
}

/// The LOD in a name whose words are divided by other characters, if it names only one.
fn lod_within(name: &OsStr) -> Option<u8> {
    let name = name.to_str()?.to_ascii_lowercase();
    let words = name.split(|c: char| !c.is_alphanumeric());
    let mut lods = words.filter_map(|word| parse_lod(OsStr::new(word)));
    lods.next().filter(|_| lods.next().is_none())
}

/// The LOD of the directory that a path is, or is in, and the region that its name is of.
pub(crate) fn region_of_path(path: &Path) -> (Option<u8>, Option<[i32; 3]>) {
    let region = path.file_name().and_then(parse_region);
    let dir = if region.is_some() { path.parent() } else { Some(path) };
    (dir.and_then(Path::file_name).and_then(parse_lod), region)
}

/// `r.X.Y.Z.vxr` as the engine writes it.
pub(super) fn parse_region(name: &OsStr) -> Option<[i32; 3]> {
    let mut parts = name.to_str()?.strip_prefix("r.")?.strip_suffix(".vxr")?.split('.');
    let position = [canonical(parts.next()?)?, canonical(parts.next()?)?, canonical(parts.next()?)?];
    parts.next().is_none().then_some(position)
}

/// `r.X.Y.Z.vxr` as a copy or a program that synchronizes directories changes it: other letter case, something behind the
/// numbers or behind the name.
pub(super) fn parse_copied(name: &OsStr) -> Option<[i32; 3]> {
    let name = name.to_str()?.to_ascii_lowercase();
    let (numbers, more) = name.strip_prefix("r.")?.split_once(".vxr")?;
    let mut parts = numbers.splitn(3, '.');
    let (x, y, z) = (parts.next()?, parts.next()?, parts.next()?);
    let end =
        z.char_indices().find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && *c == '-'))).map_or(z.len(), |(at, _)| at);
    let (z, between) = z.split_at_checked(end)?;
    // What programs put there begins with a space, a bracket, a point or the like; another number is another name.
    let put_in = |text: &str| text.is_empty() || text.starts_with([' ', '(', '_', '~', '-', '.', '[']);
    let another = between.strip_prefix('.').is_some_and(|rest| canonical(rest).is_some());
    (put_in(between) && put_in(more) && !another).then_some([canonical(x)?, canonical(y)?, canonical(z)?])
}

/// A decimal number without plus sign, leading zeros or anything else.
pub(super) fn canonical(text: &str) -> Option<i32> {
    text.parse().ok().filter(|n: &i32| n.to_string() == text)
}

/// Whether a name is that of a directory of a LOD, or close to it.
pub(crate) fn is_like_lod(name: &OsStr) -> bool {
    name.to_string_lossy().to_lowercase().starts_with("lod")
}

/// Whether a directory named `regions` may be that of a forest: it is empty, cannot be listed, or has a directory of a LOD or
/// a name close to it. Other programs name directories so too.
pub(super) fn may_have_lods(dir: &Path) -> bool {
    let Ok(list) = fs::read_dir(dir) else { return true };
    let mut is_empty = true;
    for entry in list {
        is_empty = false;
        let Ok(entry) = entry else { return true };
        if is_like_lod(&entry.file_name()) {
            return true;
        }
    }
    is_empty
}

/// The names in a directory; none if it cannot be listed.
pub(super) fn names_in(dir: &Path) -> impl Iterator<Item = OsString> {
    fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.file_name())
}

/// Whether a directory has one that is named as that of a LOD.
pub(super) fn has_lod(dir: &Path) -> bool {
    names_in(dir).any(|name| parse_lod(&name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_copy_changed_still_say_which_region_it_is() {
        for (name, position) in [
            ("R.0.0.0.VXR", Some([0, 0, 0])),
            ("r.0.-1.2 (conflicted copy).vxr", Some([0, -1, 2])),
            ("r.0.0.-3 (Anna's conflicted copy 2024-05-01).vxr", Some([0, 0, -3])),
            ("r.0.0.0.sync-conflict-20240501-101010-ABCDEFG.vxr", Some([0, 0, 0])),
            ("r.0.0.0 - Copy.vxr", Some([0, 0, 0])),
            ("r.0.0.0.vxr.bak", Some([0, 0, 0])),
            ("r.0.0.0.vxr~", Some([0, 0, 0])),
            ("r.0.0.0.0.vxr", None),
            ("r.01.0.0 (1).vxr", None),
            ("r.0.0.vxr", None),
            ("notes.txt", None),
        ] {
            assert_eq!(parse_copied(OsStr::new(name)), position, "{name}");
        }
    }

    #[test]
    fn a_copy_shows_its_lod_by_its_directory_or_its_name() {
        for (dir, file, lod) in [
            ("lod2", "r.0.0.0.vxr", Some(2)),
            ("LOD2", "r.0.0.0.vxr", Some(2)),
            ("world-lod3 (1)", "r.0.0.0.vxr", Some(3)),
            ("lod2", "lod1_r.0.0.0.vxr", Some(2)),
            ("copies", "regions_lod4_r.0.0.0.vxr", Some(4)),
            ("copies", "r.0.0.0.lod1.vxr", Some(1)),
            ("copies", "r.0.0.0.vxr", None),
            ("lod1 and lod2", "r.0.0.0.vxr", None),
            ("explod2", "r.0.0.0.vxr", None),
            ("lod99", "r.0.0.0.vxr", None),
        ] {
            assert_eq!(lod_shown_by(Path::new(dir), OsStr::new(file)), lod, "{dir}/{file}");
        }
    }

    #[test]
    fn only_the_names_that_the_engine_writes_are_taken() {
        for (name, position) in [
            ("r.0.0.0.vxr", Some([0, 0, 0])),
            ("r.-1.20.-300.vxr", Some([-1, 20, -300])),
            ("r.+1.0.0.vxr", None),
            ("r.01.0.0.vxr", None),
            ("r.-0.0.0.vxr", None),
            ("r.0.0.vxr", None),
            ("r.0.0.0.0.vxr", None),
            ("r.0.0.0.vxr.bak", None),
            ("R.0.0.0.vxr", None),
            ("r.0.0.2147483648.vxr", None),
            ("r.0.0. 0.vxr", None),
        ] {
            assert_eq!(parse_region(OsStr::new(name)), position, "{name}");
        }
        assert_eq!(parse_lod(OsStr::new("lod23")), Some(23));
        for name in ["lod24", "lod-1", "lod", "lod01", "LOD0", "lod0 "] {
            assert_eq!(parse_lod(OsStr::new(name)), None, "{name}");
        }
    }
}
