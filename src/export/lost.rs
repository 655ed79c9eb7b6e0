//! Blocks without an owner as arrays: those that a repair kept in `lost+found`, or those that a damaged save still has.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::beside::{self, Draft, Watch};
use crate::bytes::{Span, index};
use crate::godot::region::{Format, Header};
use crate::repair;
use crate::save::{Forest, Save, Scratch};
use crate::source::Source;

use super::voxels::Error;

/// Where a repair keeps what has no owner.
const LOST: &str = "lost+found";

/// What was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Blocks.
    pub blocks: u64,
    /// Those of them that are whole.
    pub whole: u64,
    /// Arrays.
    pub arrays: u64,
}

/// Writes what has no owner into a new directory: for each block `NAME.CHANNEL.npy` and `NAME.json`, and `NAME.bin`, its
/// bytes as they are stored.
///
/// # Errors
/// When the destination cannot be used, or something cannot be read or written.
pub fn lost(save: &Save, to: &Path, watch: &Watch<'_>) -> Result<Summary, Error> {
    let draft = Draft::new(&[&save.path], to, "export", watch.cancel)?;
    let mut writing = Writing { save, draft: &draft, scratch: Scratch::default(), summary: Summary::default() };
    let kept = save.path.join(LOST);
    if kept.is_dir() {
        writing.kept(&kept)?;
    } else {
        writing.found(watch)?;
    }
    let summary = writing.summary;
    draft.finish()?;
    Ok(summary)
}

struct Writing<'w> {
    save: &'w Save,
    draft: &'w Draft<'w>,
    scratch: Scratch,
    summary: Summary,
}

impl Writing<'_> {
    /// What a repair kept.
    fn kept(&mut self, dir: &Path) -> Result<(), Error> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(dir).map_err(beside::Error::read(dir))? {
            let name = entry.map_err(beside::Error::read(dir))?.file_name();
            names.extend(name.into_string().ok().filter(|name| name.ends_with(".bin")));
        }
        names.sort();
        let limits = &self.save.options.limits;
        for name in names {
            let path = dir.join(&name);
            let source = beside::open(&path)?;
            let mut stored = Vec::new();
            let most = source.len().min(limits.stored_bytes.saturating_add(4));
            source.read_into(0, index(most), &mut stored).map_err(beside::Error::read(&path))?;
            let stem = name.trim_end_matches(".bin");
            let about = dir.join(format!("{stem}.json"));
            let mut text = Vec::new();
            // A block is worth more than what was written about it.
            if let Ok(source) = beside::open(&about) {
                let most = source.len().min(limits.meta_bytes);
                source.read_into(0, index(most), &mut text).map_err(beside::Error::read(&about))?;
            }
            let about: Json = serde_json::from_slice(&text).unwrap_or(Json::Null);
            let region = about["region"].as_str().unwrap_or_default().to_owned();
            let header = header(self.save, Path::new(&region));
            self.block(stem, &stored, header.as_ref(), &about)?;
        }
        Ok(())
    }

    /// What has no owner in the save itself.
    fn found(&mut self, watch: &Watch<'_>) -> Result<(), Error> {
        let options = repair::Options { cancel: watch.cancel, ..repair::Options::default() };
        let plan = repair::plan(self.save, &options).map_err(|error| Error::Request(error.to_string()))?;
        for region in &plan.regions {
            let shown = region.name.to_string_lossy();
            let header = header(self.save, &region.name);
            for block in &region.lost {
                let source = beside::open(&region.path)?;
                let stored = read(&source, &block.pieces).map_err(beside::Error::read(&region.path))?;
                let kind = if block.whole { "" } else { ".torn" };
                let stem = format!("{}.sector-{:06}{kind}", shown.replace(['/', '\\'], "_"), block.sector);
                let candidates = block.candidates.iter();
                let candidates: Vec<Json> = candidates
                    .map(|(at, p)| json!({ "position": at, "probability": repair::lost::rounded(*p) }))
                    .collect();
                let about = json!({ "region": shown, "sector": block.sector, "candidates": candidates });
                self.block(&stem, &stored, header.as_ref(), &about)?;
            }
        }
        Ok(())
    }

    fn block(&mut self, stem: &str, stored: &[u8], header: Option<&Header>, about: &Json) -> Result<(), Error> {
        let unknown = Header::new(3, UNKNOWN);
        let limits = &self.save.options.limits;
        let view = self.scratch.interpret_bytes(stored, 0, header.unwrap_or(&unknown), None, limits);
        let (channels, arrays) = view.block.as_ref().map(repair::lost::arrays).unwrap_or_default();
        let codes: Vec<&str> = view.damage.iter().map(|d| d.code.name()).collect();
        let own = json!({
            "type": "lost",
            "whole": view.is_readable(),
            "findings": codes,
            "version": view.block.as_ref().map(|block| block.version),
            "size": view.block.as_ref().map(|block| block.size),
            "axes": "z, x, y",
            "channels": channels,
            "metadata": view.block.as_ref().and_then(|block| block.metadata.as_ref()).map(|m| m.to_json()),
            "found": about,
        });
        self.summary.blocks += 1;
        self.summary.whole += u64::from(view.is_readable());
        self.summary.arrays += arrays.len() as u64;
        self.draft.file(Path::new(&format!("{stem}.bin")), stored)?;
        for (ending, bytes) in arrays {
            self.draft.file(Path::new(&format!("{stem}{ending}")), &bytes)?;
        }
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = super::write_json_pretty(&mut text, &own);
        Ok(self.draft.file(Path::new(&format!("{stem}.json")), &text)?)
    }
}

/// A layout that says nothing: blocks carry their own.
const UNKNOWN: Format = Format {
    block_size_po2: 0,
    region_size: [1; 3],
    depths: [crate::godot::channel::Depth::Bits8; crate::godot::channel::CHANNELS],
    sector_size: 512,
};

/// The header of a region file, or what the save says of all of them.
fn header(save: &Save, name: &Path) -> Option<Header> {
    let own = save.regions().find(|(forest, file)| {
        let path = forest.dir.join(&file.name);
        path.strip_prefix(&save.path).is_ok_and(|below| below == name) || &*file.name == name
    });
    let format = |forest: &Forest| forest.format.map(|format| Header::new(3, format));
    own.and_then(|(_, file)| file.header.clone()).or_else(|| save.forests.iter().find_map(format))
}

fn read(source: &impl Source, pieces: &[Span]) -> std::io::Result<Vec<u8>> {
    let (mut all, mut part) = (Vec::new(), Vec::new());
    for piece in pieces {
        source.read_into(piece.start, index(piece.len()), &mut part)?;
        all.extend_from_slice(&part);
    }
    Ok(all)
}
