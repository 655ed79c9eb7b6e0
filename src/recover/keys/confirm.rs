//! A last look at what the solver says: every block that gets another key has to fit its new place.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::iter::successors;

use crate::godot::stream::loc::Place;
use crate::recover::keys::WrongKey;
use crate::recover::keys::blocks::step;
use crate::recover::keys::look::Sketches;
use crate::recover::screen::{MISFIT, directions, is_much_better};
use crate::save::Stream;
use crate::source::Source;

/// The largest part of the cells that differed beside its old key that may differ beside its new one, of a block that breaks more
/// than is usual, such as a part of a building. Chosen.
const BETTER: f64 = 0.5;

/// The rows among those found whose blocks fit their new places better than their old ones, with all that change places with them, and
/// as well as blocks usually fit theirs, or much better than before. `usual` is the share of cells that differ between neighbours, by LOD.
///
/// # Errors
/// I/O errors.
pub(super) fn keep_fitting<S: Source>(
    stream: &Stream<S>,
    found: Vec<WrongKey>,
    usual: &BTreeMap<u8, f64>,
) -> io::Result<Vec<WrongKey>> {
    let place = |row: u32| stream.rows.get(row as usize).and_then(|row| row.place);
    // What each place has in the end: the block that has its key now, if no other one belongs there.
    let moved: HashMap<Place, Place> = found.iter().filter_map(|of| Some((of.place, place(of.row)?))).collect();
    let beside = |at: Place| directions().filter_map(move |(axis, upper)| step(at, axis, upper));
    let needed = moved.iter().flat_map(|(to, from)| beside(*to).chain(beside(*from)).chain([*to, *from]));
    let sources = needed.flat_map(|at| [Some(at), moved.get(&at).copied()]).flatten();
    let rows: BTreeSet<u32> = sources.filter_map(|at| u32::try_from(stream.find(at)?).ok()).collect();
    let sketches = Sketches::read(stream, rows.into_iter())?;
    let now = |at: Place| sketches.get(at);
    let then = |at: Place| sketches.get(moved.get(&at).copied().unwrap_or(at));
    // The cells that differ before and after, if the block fits its new place.
    let fits = |to: Place, from: Place| {
        let own = now(from)?;
        let (before, after) = (Sketches::misfit(own, from, now), Sketches::misfit(own, to, then));
        let usual = usual.get(&to.lod).copied().unwrap_or(0.0);
        let fits_well = after.share() < usual + MISFIT || after.share() <= before.share() * BETTER;
        (fits_well && after.share() < before.share()).then_some([before.differ, after.differ])
    };
    let mut kept: HashSet<Place> = HashSet::new();
    for &first in moved.keys() {
        // All that goes round with this one.
        let next = |at: &Place| moved.get(at).copied().filter(|next| *next != first);
        let ring: Vec<Place> = successors(Some(first), next).take(moved.len()).collect();
        let cells: Option<Vec<[u32; 2]>> = ring.iter().map(|to| fits(*to, *moved.get(to)?)).collect();
        let sum = |side: fn(&[u32; 2]) -> u32| cells.iter().flatten().map(side).fold(0, u32::saturating_add);
        // Blocks that resemble each other, such as those of a maze, fit each other's places nearly as well.
        if cells.is_some() && is_much_better(sum(|[before, _]| *before), sum(|[_, after]| *after)) {
            kept.extend(ring);
        }
    }
    Ok(found.into_iter().filter(|of| kept.contains(&of.place)).collect())
}
