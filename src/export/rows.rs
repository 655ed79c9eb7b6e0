//! Rows of the block table as lines.

use std::borrow::Cow;

use super::Record;
use crate::check::Row;
use crate::damage::Code;

impl Record for Row {
    const COLUMNS: &'static [&'static str] = &[
        "file",
        "lod",
        "x",
        "y",
        "z",
        "slot",
        "sector",
        "sectors",
        "bytes",
        "plain",
        "ratio",
        "version",
        "container",
        "state",
        "codes",
        "flags",
        "instances",
        "size_x",
        "size_y",
        "size_z",
        "depths",
        "storage",
        "metadata_bytes",
        "metadata_items",
        "coordinate_format",
        "offset",
    ];

    fn cells(&self) -> Vec<Cow<'_, str>> {
        let [x, y, z] = self.position.map_or_else(Default::default, |p| p.map(|n| n.to_string()));
        let [size_x, size_y, size_z] = self.inside().size.map_or_else(Default::default, |p| p.map(|n| n.to_string()));
        let channels = || self.inside().channels();
        vec![
            Cow::Borrowed(&*self.file),
            self.lod.to_string().into(),
            x.into(),
            y.into(),
            z.into(),
            self.slot.to_string().into(),
            self.sector.map_or_else(String::new, |n| n.to_string()).into(),
            self.sectors.to_string().into(),
            self.bytes.to_string().into(),
            self.plain.to_string().into(),
            format!("{:.3}", self.ratio()).into(),
            self.version.map_or_else(String::new, |v| v.to_string()).into(),
            self.container.unwrap_or("").into(),
            self.state().into(),
            codes(self, " ").into(),
            flags(self, "=", " ").into(),
            self.instances.map_or_else(String::new, |n| n.to_string()).into(),
            size_x.into(),
            size_y.into(),
            size_z.into(),
            channels().map(|(_, depth, _)| depth.bits().to_string()).collect::<Vec<_>>().join(" ").into(),
            channels().map(|(.., storage)| storage.name()).collect::<Vec<_>>().join(" ").into(),
            self.inside().metadata_bytes.to_string().into(),
            self.inside().metadata_items.to_string().into(),
            self.key.map_or_else(String::new, |key| key.code().to_string()).into(),
            self.offset.map_or_else(String::new, |n| n.to_string()).into(),
        ]
    }
}

/// The flags of a block of a voxel map, with their counts.
#[must_use]
pub fn flags(row: &Row, is: &str, between: &str) -> String {
    let flags = row.flags.iter().flat_map(|counts| counts.named());
    flags.map(|(name, count)| format!("{name}{is}{count}")).collect::<Vec<_>>().join(between)
}

/// The codes of a block's findings.
#[must_use]
pub fn codes(row: &Row, between: &str) -> String {
    row.codes.iter().map(Code::name).collect::<Vec<_>>().join(between)
}
