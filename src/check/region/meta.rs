//! Compares the header of a region file, and a layout that is given by options, with the meta file of a forest.

use crate::bytes::Span;
use crate::check::finding::Finding;
use crate::check::report::Report;
use crate::damage::{Code, Damage, Value};
use crate::save::{Forest, RegionFile, Save};

pub(super) fn compare(forest: &Forest, file: &RegionFile, report: &mut Report) {
    let (Some(meta), Some(header)) = (&forest.meta, &file.header) else { return };
    if header.version < 3 {
        return;
    }
    let format = &header.format;
    let mut differs = |span: Span, field: &'static str, expected: Value, found: Value| {
        report.file(Damage::new(Code::MetaDiffers, span, field).expected(expected).found(found), None);
    };
    let number = |n: u32| Value::Number(u64::from(n));
    if let Some(po2) = meta.block_size_po2
        && po2 != format.block_size_po2
        && format.block_size_po2 > 0
    {
        let (expected, found) = (number(po2.into()), number(format.block_size_po2.into()));
        differs(Span::new(5, 6), "block size (power of two) against that of the meta file", expected, found);
    }
    if let Some(size) = meta.region_size_po2.and_then(|po2| 1u16.checked_shl(po2.into()))
        && [size; 3] != format.region_size
    {
        let (expected, found) = (Value::triple([size; 3]), Value::triple(format.region_size));
        differs(Span::new(6, 9), "region size against that of the meta file", expected, found);
    }
    if let Some(size) = meta.sector_size
        && size != format.sector_size
    {
        differs(
            Span::new(17, 19),
            "sector size against that of the meta file",
            number(size),
            number(format.sector_size),
        );
    }
    for (i, (own, other)) in format.depths.iter().zip(meta.depths.iter().flatten()).enumerate() {
        if own != other {
            let (expected, found) = (number(other.code().into()), number(own.code().into()));
            let field = "depth code of a channel against that of the meta file";
            differs(Span::sized(9 + i as u64, 1), field, expected, found);
        }
    }
}

/// One finding for each meta file that has another layout than the options by which its blocks are read.
pub(in crate::check) fn against_options(save: &Save) -> Vec<Finding> {
    let wrong = |forest: &Forest| {
        forest.format_against_meta(&save.options)?;
        let damage = Damage::new(Code::MetaDiffers, Span::default(), "layout given by options");
        let path = forest.dir.join(forest.kind.meta_name()?);
        Some(Finding::of_file(save.shown(&path).into(), damage, None))
    };
    save.forests.iter().filter_map(wrong).collect()
}
