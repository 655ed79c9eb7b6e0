//! Options of an export that do not go together, and names whose endings do not say what is written.

use std::path::Path;

use voxscope::printable;

use super::arguments::{Arguments, LookArgument};
use crate::cli::exit::Failure;

/// Whether a name has an ending, in letters of either case.
pub(super) fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending))
}

/// Whether the ending of a picture's name says what is written.
pub(super) fn check_ending(to: &Path) -> Result<(), Failure> {
    if ["png", "npy"].iter().any(|known| has_ending(to, known)) {
        return Ok(());
    }
    let name = printable::path(to);
    Err(Failure::Usage(format!("--map {name}: the name ends in .png for a picture, or in .npy for numbers")))
}

/// Refuses a name of a slice with another ending than `.png`. A name without an ending is that of a directory for several saves.
pub(super) fn check_slice(arguments: &Arguments) -> Result<(), Failure> {
    let to = arguments.out.as_deref().filter(|_| arguments.slice.is_some());
    match to.filter(|to| to.extension().is_some() && !has_ending(to, "png")) {
        Some(to) => {
            Err(Failure::Usage(format!("--out {}: a slice is a PNG, so the name ends in .png", printable::path(to))))
        }
        None => Ok(()),
    }
}

/// Refuses --look, --scale and --against where they have no effect.
pub(super) fn check_look(arguments: &Arguments) -> Result<(), Failure> {
    // Checked here: the parser does not enforce that an option requires --map if --out, which conflicts with --map, is given.
    let is_difference = arguments.map.is_some() && matches!(arguments.look, Some(LookArgument::Difference));
    if arguments.map.is_none() && arguments.scale != 1 {
        return Err(Failure::Usage("--scale goes with --map".to_owned()));
    }
    if arguments.against.is_some() && !is_difference {
        return Err(Failure::Usage("--against goes with --map and --look difference".to_owned()));
    }
    let Some(look) = arguments.look else { return Ok(()) };
    let wrong = match (&arguments.map, arguments.slice, look.of_map()) {
        (Some(_), _, None) => {
            "--look palette and scale go with --slice alone; --map has surface, cut, height and others"
        }
        (None, _, Some(_)) => "this look goes with --map; --slice has palette and scale",
        (None, None, None) => "--look goes with --slice or --map",
        _ => return Ok(()),
    };
    Err(Failure::Usage(wrong.to_owned()))
}

/// Refuses options of arrays where something else is written, and more channels than a picture shows.
pub(super) fn check_arrays(arguments: &Arguments) -> Result<(), Failure> {
    let others = [
        (arguments.map.is_some(), "--map"),
        (arguments.slice.is_some(), "--slice"),
        (arguments.table, "--table"),
        (arguments.layer.is_some(), "--layer"),
        (arguments.instances, "--instances"),
        (arguments.lost, "--lost"),
    ];
    let Some((_, other)) = others.into_iter().find(|(is_given, _)| *is_given) else { return Ok(()) };
    let given = [
        (arguments.fill.is_some(), "--fill"),
        (arguments.distances, "--distances"),
        (arguments.no_sync, "--no-sync"),
        (arguments.table && arguments.lod.is_some(), "--lod"),
    ];
    if let Some((_, option)) = given.into_iter().find(|(is_given, _)| *is_given) {
        return Err(Failure::Usage(format!("{option} has no effect beside {other}")));
    }
    match arguments.channel.len() {
        0 | 1 => Ok(()),
        _ => Err(Failure::Usage(format!("{other} shows one channel: give --channel once"))),
    }
}
