//! `diff` of two rooms of pak regions, or of two directories with several of them.

use std::path::PathBuf;

use voxscope::diff::{self, Side};
use voxscope::save::{PakDir, Save};

use super::print::Objects;
use super::{Arguments, compare_with, complain_of_left_out, finish, report_lone, with_left_out, worst};
use crate::cli::exit::{Exit, Failure};

/// Voxels along each axis of a chunk, which nothing uses: differing voxels of a chunk are counted, not listed.
const SIDE: u16 = 1;

/// Whether a save has pak regions, and no blocks of Godot Voxel.
pub(super) fn is_of_paks(save: &Save) -> bool {
    save.forests.is_empty() && save.streams.is_empty() && !save.pak_dirs.is_empty()
}

/// Compares the rooms of two saves: the only ones, or those with the same path and the same name.
pub(super) fn compare(arguments: &Arguments, first: &Save, second: &Save) -> Result<Exit, Failure> {
    let left_out =
        [(Side::A, first), (Side::B, second)].map(|(side, save)| complain_of_left_out(side, save, &[], true));
    let mut objects = Objects::new(arguments.format);
    let mut exit = Exit::CLEAN;
    if let ([a], [b]) = (&first.pak_dirs[..], &second.pak_dirs[..]) {
        exit = rooms(arguments, &mut objects, (first, a), (second, b), None)?;
    } else {
        for a in &first.pak_dirs {
            let name = name(first, a);
            let compared = match second.pak_dirs.iter().find(|b| key(first, a) == key(second, b)) {
                Some(b) => rooms(arguments, &mut objects, (first, a), (second, b), Some(&name))?,
                None => report_lone(arguments, &mut objects, &name, "A")?,
            };
            if compared == Exit::INTERRUPTED {
                finish(&objects)?;
                return Ok(compared);
            }
            exit = worst(exit, compared);
        }
        for b in second.pak_dirs.iter().filter(|b| first.pak_dirs.iter().all(|a| key(first, a) != key(second, b))) {
            exit = worst(exit, report_lone(arguments, &mut objects, &name(second, b), "B")?);
        }
    }
    finish(&objects)?;
    Ok(with_left_out(exit, left_out.contains(&true)))
}

/// The path of a room below its save, and its name.
fn key<'s>(save: &Save, dir: &'s PakDir) -> (PathBuf, &'s str) {
    (dir.dir.strip_prefix(&save.path).map_or_else(|_| PathBuf::new(), PathBuf::from), &dir.room)
}

/// What a room is called if there are several.
fn name(save: &Save, dir: &PakDir) -> String {
    let path = save.shown(&dir.dir);
    if dir.room.is_empty() { path } else { format!("{path}/{}", voxscope::printable::printable(&dir.room)) }
}

fn rooms(
    arguments: &Arguments,
    objects: &mut Objects,
    a: (&Save, &PakDir),
    b: (&Save, &PakDir),
    name: Option<&str>,
) -> Result<Exit, Failure> {
    compare_with(arguments, objects, SIDE, name, |options, found| diff::chunks(a, b, options, found))
}
