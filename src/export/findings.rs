//! Findings as lines; as JSON they are those of `voxscope check --format jsonl`.

use std::borrow::Cow;

use super::Record;
use crate::check::Advised;
use crate::damage::Space;

impl Record for Advised<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "level",
        "code",
        "file",
        "start",
        "end",
        "block_start",
        "block_end",
        "lod",
        "x",
        "y",
        "z",
        "field",
        "expected",
        "found",
        "message",
        "next",
    ];

    fn cells(&self) -> Vec<Cow<'_, str>> {
        let ends = |span: Option<crate::bytes::Span>| {
            span.map_or_else(Default::default, |span| [span.start.to_string(), span.end.to_string()])
        };
        let finding = self.finding;
        let [start, end] = ends(finding.span);
        let [block_start, block_end] = ends((finding.damage.space == Space::Block).then_some(finding.damage.span));
        let position = finding.block.and_then(|block| block.position);
        let [x, y, z] = position.map_or_else(Default::default, |p| p.map(|n| n.to_string()));
        vec![
            finding.level().name().into(),
            finding.code().name().into(),
            Cow::Borrowed(&*finding.file),
            start.into(),
            end.into(),
            block_start.into(),
            block_end.into(),
            finding.block.map_or_else(String::new, |block| block.lod.to_string()).into(),
            x.into(),
            y.into(),
            z.into(),
            finding.damage.field.into(),
            finding.damage.expected.to_string().into(),
            finding.damage.found.to_string().into(),
            finding.message().into(),
            Cow::Borrowed(&self.next),
        ]
    }
}
