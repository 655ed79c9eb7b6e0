//! Region files whose blocks belong to another place, or are those of another file.

use std::collections::{HashMap, HashSet};

use crate::bytes::Span;
use crate::check::first::{Glance, named};
use crate::damage::{Code, Damage, Value};
use crate::printable::{count, grouped};
use crate::recover::copies::{self, Copied};
use crate::recover::foreign_table::TableOf;
use crate::recover::names::{self, Misnamed};
use crate::recover::screen::Screened;
use crate::save::{Forest, RegionFile, Save};

/// A finding about a file as a whole, and what shows it.
pub(super) type OfFile = (Damage, String);

/// The numbers of the region files of a forest whose names are in doubt by their tables.
pub(super) fn in_doubt(forest: &Forest, glance: &Glance) -> HashSet<u32> {
    let named = named(forest, |file| glance.seams(file));
    names::in_doubt(&named).into_iter().map(|file| named[file].file.number).collect()
}

/// Region files, by their numbers, whose blocks are those of another region; `placed` has the seams of those whose tables do not show
/// theirs.
pub(super) fn misnamed(forest: &Forest, glance: &Glance, placed: &HashMap<u32, Screened>) -> Vec<(u32, OfFile)> {
    let named = named(forest, |file| placed.get(&file.number).or_else(|| glance.seams(file)));
    let doubt = |found: Misnamed| {
        let file = named[found.file].file;
        let damage = if found.lod == file.lod {
            Damage::new(Code::RegionMisnamed, Span::default(), "region of the blocks")
                .expected(Value::triple(file.position))
                .found(Value::triple(found.region))
        } else {
            Damage::new(Code::RegionMisnamed, Span::default(), "LOD of the blocks")
                .expected(Value::Number(file.lod.into()))
                .found(Value::Number(found.lod.into()))
        };
        let remark = why_misnamed(&found);
        (file.number, (damage, remark))
    };
    names::misnamed(&named).into_iter().map(doubt).collect()
}

/// The numbers of damaged region files whose borders and other LODs contradict their places once their blocks are placed, although no
/// other place is known to be right.
pub(super) fn contradicted(forest: &Forest, glance: &Glance, placed: &HashMap<u32, Screened>) -> HashSet<u32> {
    if placed.is_empty() {
        return HashSet::new();
    }
    let named = named(forest, |file| placed.get(&file.number).or_else(|| glance.seams(file)));
    if !names::misnamed(&named).is_empty() {
        return HashSet::new();
    }
    let numbers = names::contradicted(&named).into_iter().map(|file| named[file].file.number);
    numbers.filter(|number| placed.contains_key(number)).collect()
}

/// The numbers of those of some files that nothing supports where their names put them, once their blocks are placed.
pub(super) fn unsupported(
    forest: &Forest,
    glance: &Glance,
    placed: &HashMap<u32, Screened>,
    of: &HashSet<u32>,
) -> HashSet<u32> {
    if !of.iter().any(|number| placed.contains_key(number)) {
        return HashSet::new();
    }
    let named = named(forest, |file| placed.get(&file.number).or_else(|| glance.seams(file)));
    let is_asked = |number: u32| of.contains(&number) && placed.contains_key(&number);
    let asked = (0..named.len()).filter(|&i| is_asked(named[i].file.number));
    names::unsupported(&named, asked).into_iter().map(|file| named[file].file.number).collect()
}

pub(super) fn contradiction() -> OfFile {
    let damage = Damage::new(Code::RegionMisnamed, Span::default(), "borders of the blocks");
    let remark = "Once the blocks are where the solver puts them, no border continues a neighbour, and other LODs have other \
                  terrain there. No other place is known to be right, so no place in the file is certain.";
    (damage, remark.to_owned())
}

/// Region files, by their numbers, with the blocks of another file.
pub(super) fn copied(save: &Save, forest: &Forest, glance: &Glance) -> Vec<(u32, OfFile)> {
    let named = named(forest, |file| glance.seams(file));
    let doubt = |found: Copied| {
        let (file, other) = (named[found.file].file, named[found.other].file);
        let damage = Damage::new(Code::RegionCopied, Span::default(), "region of the other file");
        let damage = damage.found(Value::triple(other.position));
        let name = save.shown(&forest.dir.join(&other.name));
        let remark = match found.is_of_other {
            true => format!("The other file is {name}: its borders and other LODs fit the blocks there, and not here."),
            false => format!("The other file is {name}. Nothing shows which of the two files is right."),
        };
        (file.number, (damage, remark))
    };
    copies::copied(&named).into_iter().map(doubt).collect()
}

/// The finding about a file whose blocks the table of another one fits.
pub(super) fn other_table(save: &Save, forest: &Forest, table: &TableOf, other: &RegionFile) -> OfFile {
    let field = if table.is_copy { "region of the same table" } else { "region of the table that fits" };
    let damage = Damage::new(Code::TableForeign, Span::default(), field);
    let [fit, own] = [table.fit, table.own].map(|fit| {
        let [fitting, entries] = [fit.fitting, fit.entries].map(|n| grouped(n as u64));
        format!("{fitting} of {entries}")
    });
    let name = save.shown(&forest.dir.join(&other.name));
    let remark = match table.is_copy {
        true => {
            format!("The other file is {name}: there {fit} entries lead to whole blocks of their length, here {own}.")
        }
        false => format!(
            "The other table is in {name}: {fit} of its entries lead to whole blocks of their length here; of this file's own \
             entries, {own}."
        ),
    };
    (damage.found(Value::triple(other.position)), remark)
}

/// What shows that a file has the name of another one.
fn why_misnamed(found: &Misnamed) -> String {
    let borders = || {
        let (blocks, regions) =
            (count(found.seams.into(), "block"), count(found.neighbours.into(), "neighbouring region"));
        format!("{blocks} at its borders continue {regions}")
    };
    let scaled = || {
        let is = if found.scaled == 1 { "is" } else { "are" };
        format!("{} {is} what other LODs have there", count(found.scaled.into(), "block"))
    };
    match (found.neighbours, found.scaled) {
        (0, 0) => "Other files of the same directory show it.".to_owned(),
        (_, 0) => {
            format!("At that place {}; at the place of its name, no border continues a neighbour.", borders())
        }
        (0, _) => format!("At that place {}.", scaled()),
        _ => format!("At that place {}, and {}.", borders(), scaled()),
    }
}
