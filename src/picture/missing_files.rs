//! Marks on the blocks of region files that are missing or empty, where the next coarser LOD has the parents.

use std::path::Path;

use super::marks::{Mark, Marks};
use super::source::{Part, Source};
use crate::check::Finding;
use crate::damage::Code;
use crate::godot::region::name_of;
use crate::save::{REGIONS, region_of_path};

/// Codes of files of which no block can be read.
const GONE: [Code; 5] =
    [Code::RegionMissing, Code::RegionEmpty, Code::RegionHeaderCut, Code::RegionNotRegion, Code::RegionNeverStored];

/// Marks the blocks of the region file that a finding is about, if it is a file of this world and is missing or empty.
pub fn mark_missing_file(marks: &mut Marks, source: &Source, finding: &Finding) {
    let Part::Forest(number) = source.part else { return };
    let Some(forest) = source.save.forests.get(number).filter(|_| GONE.contains(&finding.code())) else { return };
    let (Some(lod), Some(region)) = region_of_path(Path::new(&*finding.file)) else { return };
    let path = forest.dir.join(REGIONS).join(format!("lod{lod}")).join(name_of(region));
    let of_header = || forest.regions.iter().find_map(|file| Some(file.header.as_ref()?.format));
    let size = forest.format.or_else(of_header).map(|format| format.region_size);
    let parents = source.tables.iter().find(|table| Some(table.lod) == lod.checked_add(1));
    let (Some(size), Some(parents)) = (size, parents) else { return };
    if source.save.shown(&path) != *finding.file {
        return;
    }
    let first = [0, 1, 2].map(|axis| region[axis].saturating_mul(size[axis].into()));
    let end = [0, 1, 2].map(|axis| first[axis].saturating_add(size[axis].into()));
    let of_parents = |axis: usize| first[axis].div_euclid(2)..=end[axis].saturating_sub(1).div_euclid(2);
    let positions = of_parents(2).flat_map(|z| of_parents(0).flat_map(move |x| of_parents(1).map(move |y| [x, y, z])));
    for parent in positions.filter(|position| parents.find(*position).is_some()) {
        for child in 0..8 {
            let at = [0, 1, 2].map(|axis| parent[axis].saturating_mul(2).saturating_add(child >> axis & 1));
            if (0..3).all(|axis| (first[axis]..end[axis]).contains(&at[axis])) {
                marks.put(lod, at, Mark::NoFile);
            }
        }
    }
}
