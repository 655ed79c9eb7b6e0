//! Groups blocks of the source by the parts of the result that they form.

use std::collections::BTreeMap;

use crate::convert::Work;
use crate::convert::report::{Kind, Report};
use crate::world::{At, Index, order};

/// The blocks of the source by the regions of the result that they have voxels in, in the order ZXY of these; in a
/// region those together that form one block. Blocks that do not fit the coordinates of the result are listed.
pub(super) fn regions(work: &Work<'_>, index: &Index, report: &mut Report) -> BTreeMap<[i32; 3], Vec<At>> {
    let size = i32::from(work.layout.region);
    let mut regions: BTreeMap<[i32; 3], Vec<At>> = BTreeMap::new();
    for at in &index.blocks {
        let Some(ends) = ends(work, at) else {
            report.list(Kind::TooLarge, index.lod, at.position, OUTSIDE.to_owned());
            continue;
        };
        let [low, high] = ends.map(|at| at.map(|v| v.div_euclid(size)));
        for z in low[2]..=high[2] {
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    regions.entry([z, x, y]).or_default().push(*at);
                }
            }
        }
    }
    regions.values_mut().for_each(|sources| sort(work, sources));
    regions
}

/// The source blocks of each unit of work.
pub(super) fn units<'a>(work: &Work<'_>, sources: &'a [At]) -> Vec<&'a [At]> {
    if work.layout.from < work.layout.to {
        sources.chunk_by(|a, b| work.target(a.position) == work.target(b.position)).collect()
    } else {
        sources.chunks(1).collect()
    }
}

/// Whether some of the blocks to be joined do not exist.
pub(super) fn has_holes(work: &Work<'_>, sources: &[At]) -> bool {
    let all = usize::from(work.layout.to / work.layout.from.max(1)).pow(3);
    all > 1 && units(work, sources).iter().any(|unit| unit.len() < all)
}

/// The blocks of the source, with those adjacent that form one block of the result.
#[cfg(feature = "sqlite")]
pub(super) fn list_in_groups(work: &Work<'_>, index: &Index, report: &mut Report) -> Vec<At> {
    let mut sources: Vec<At> = Vec::with_capacity(index.blocks.len());
    for at in &index.blocks {
        if ends(work, at).is_some() {
            sources.push(*at);
        } else {
            report.list(Kind::TooLarge, index.lod, at.position, OUTSIDE.to_owned());
        }
    }
    sort(work, &mut sources);
    sources
}

const OUTSIDE: &str = "its position does not fit the result";

/// The lowest and the highest block of the result that have voxels of a block of the source.
fn ends(work: &Work<'_>, at: &At) -> Option<[[i32; 3]; 2]> {
    let n = i32::from(work.layout.from / work.layout.to).max(1);
    let low = work.target(at.position)?;
    let [x, y, z] = low.map(|v| v.checked_add(n - 1));
    Some([low, [x?, y?, z?]])
}

fn sort(work: &Work<'_>, sources: &mut [At]) {
    if work.layout.from < work.layout.to {
        sources.sort_by_key(|at| (work.target(at.position).map(order), order(at.position)));
    }
}
