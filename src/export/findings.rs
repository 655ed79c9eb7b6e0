//! Findings as lines; as JSON they are those of `voxscope check --format jsonl`.

use std::borrow::Cow;

use super::Record;
use crate::check::Finding;
use crate::damage::Space;

impl Record for Finding {
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
        let [start, end] = ends(self.span);
        let [block_start, block_end] = ends((self.damage.space == Space::Block).then_some(self.damage.span));
        let position = self.block.and_then(|block| block.position);
        let [x, y, z] = position.map_or_else(Default::default, |p| p.map(|n| n.to_string()));
        vec![
            self.level().name().into(),
            self.code().name().into(),
            Cow::Borrowed(&*self.file),
            start.into(),
            end.into(),
            block_start.into(),
            block_end.into(),
            self.block.map_or_else(String::new, |block| block.lod.to_string()).into(),
            x.into(),
            y.into(),
            z.into(),
            self.damage.field.into(),
            self.damage.expected.to_string().into(),
            self.damage.found.to_string().into(),
            self.message().into(),
            self.code().next().into(),
        ]
    }
}
