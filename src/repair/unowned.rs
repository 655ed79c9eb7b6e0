//! Exports what a repair sets aside, unowned blocks as arrays: what is in `lost+found` of a repair, or what a repair of a damaged
//! save would put there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value as Json;

use crate::bytes::{Span, index};
use crate::draft::{self, Draft};
use crate::godot::metadata::Metadata;
use crate::godot::region::{Format, Header};
use crate::printable::write_json_pretty;
use crate::repair::plan::plan_of_readable;
use crate::repair::{Action, Error, Options, beside_copy, lost, map, out, pak, stream, write};
use crate::save::{Forest, LOST, Save, Scratch, first_byte};
use crate::source::Source;
use crate::watch::Watch;

/// What was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unowned {
    /// Blocks.
    pub blocks: u64,
    /// Number of whole blocks.
    pub whole: u64,
    /// Blocks with the same content as one of these, which are not written.
    pub identical: u64,
    /// Arrays.
    pub arrays: u64,
    /// Other files that a repair puts into `lost+found`: rows of streams, chunks of pak regions, parts of voxel maps, and whole
    /// files.
    pub files: u64,
}

/// Writes what a repair sets aside into a new directory: for each unowned block of a region `NAME.CHANNEL.npy` and `NAME.json`,
/// and `NAME.bin`, its stored bytes; all else as it is in `lost+found`.
///
/// # Errors
/// When the destination cannot be used, or something cannot be read or written.
pub fn export_unowned(save: &Save, to: &Path, watch: &Watch<'_>) -> Result<Unowned, Error> {
    let draft = Draft::new(&[&save.path], to, watch)?;
    let mut writing = Writing { save, draft: &draft, scratch: Scratch::default(), summary: Unowned::default() };
    let kept = if save.path.is_file() { beside_copy(&save.path, LOST) } else { save.path.join(LOST) };
    if kept.is_dir() {
        writing.kept(&kept)?;
    } else {
        writing.found(watch)?;
    }
    let summary = writing.summary;
    draft.finish()?;
    Ok(summary)
}

/// The description of an exported block; `found` is what was known of it where it was found.
#[derive(Serialize)]
struct UnownedReport<'r, F> {
    r#type: &'static str,
    whole: bool,
    findings: Vec<&'static str>,
    version: Option<u8>,
    size: Option<[u16; 3]>,
    axes: &'static str,
    channels: Vec<lost::ChannelReport>,
    metadata: Option<&'r Metadata<'r>>,
    found: &'r F,
}

/// Where a block of the save itself was found.
#[derive(Serialize)]
struct FoundReport<'r> {
    region: &'r str,
    sector: Option<u32>,
    offset: u64,
    candidates: Vec<lost::Candidate>,
}

struct Writing<'w> {
    save: &'w Save,
    draft: &'w Draft<'w>,
    scratch: Scratch,
    summary: Unowned,
}

impl Writing<'_> {
    /// Exports what is in `lost+found` of a repair.
    fn kept(&mut self, dir: &Path) -> Result<(), Error> {
        let mut exported = BTreeSet::new();
        let mut names = Vec::new();
        for entry in std::fs::read_dir(dir).map_err(draft::Error::read(dir))? {
            let name = entry.map_err(draft::Error::read(dir))?.file_name();
            names.extend(name.into_string().ok().filter(|name| name.ends_with(".bin")));
        }
        names.sort_unstable();
        let limits = &self.save.options.limits;
        for name in names {
            let path = dir.join(&name);
            let source = draft::open(&path)?;
            let mut stored = Vec::new();
            let most = source.len().min(limits.stored_bytes.saturating_add(4));
            source.read_into(0, index(most), &mut stored).map_err(draft::Error::read(&path))?;
            let stem = name.trim_end_matches(".bin");
            let about = dir.join(format!("{stem}.json"));
            let mut text = Vec::new();
            // A block is exported even if its description cannot be read.
            if let Ok(source) = draft::open(&about) {
                let most = source.len().min(limits.meta_bytes);
                source.read_into(0, index(most), &mut text).map_err(draft::Error::read(&about))?;
            }
            let about: Json = serde_json::from_slice(&text).unwrap_or(Json::Null);
            let is_other = about.is_null() && OTHERS.iter().any(|ending| name.ends_with(ending));
            if is_other || !(about.is_null() || about["region"].is_string()) {
                continue;
            }
            exported.insert(stem.to_owned());
            let region = about["region"].as_str().unwrap_or_default().to_owned();
            let header = header(self.save, Path::new(&region));
            self.summary.identical += about["identical"].as_u64().unwrap_or(0);
            self.block(stem, &stored, header.as_ref(), &about)?;
        }
        self.others(dir, &exported)
    }

    /// Copies the files in `lost+found` that are not of exported blocks.
    fn others(&mut self, dir: &Path, exported: &BTreeSet<String>) -> Result<(), Error> {
        let mut dirs = vec![PathBuf::new()];
        while let Some(below) = dirs.pop() {
            let from = dir.join(&below);
            for entry in std::fs::read_dir(&from).map_err(draft::Error::read(&from))? {
                let entry = entry.map_err(draft::Error::read(&from))?;
                let kind = entry.file_type().map_err(draft::Error::read(&entry.path()))?;
                let name = below.join(entry.file_name());
                let is_exported = name.to_str().is_some_and(|name| exported.contains(stem_of(name)));
                if kind.is_dir() {
                    dirs.push(name);
                } else if kind.is_file() && !is_exported {
                    self.draft.copy(&entry.path(), &name)?;
                    self.summary.files += 1;
                }
            }
        }
        Ok(())
    }

    /// Exports what a repair of the save itself would set aside.
    fn found(&mut self, watch: &Watch<'_>) -> Result<(), Error> {
        let options = Options::default().watch(watch.quiet());
        let plan = plan_of_readable(self.save, &options)?;
        stream::write_lost(self.draft, &plan.streams)?;
        pak::write_lost(self.draft, &plan.paks, &self.save.options.limits)?;
        map::write_lost(self.draft, &plan.maps)?;
        let aside = plan.regions.iter().filter(|region| region.action == Action::SetAside);
        let aside = aside.map(|region| (region.path.clone(), region.name.clone()));
        for (path, name) in aside.filter(|(path, _)| path.is_file()) {
            self.draft.copy(&path, &out::aside(self.draft, &name))?;
        }
        write::write_lost(self.draft, self.save, &plan)?;
        self.summary.files = self.draft.lift(Path::new(LOST))?;
        for region in &plan.regions {
            let shown = region.name.to_string_lossy();
            let header = header(self.save, &region.name);
            self.summary.identical += region.identical();
            for block in &region.lost {
                let source = draft::open(&region.path)?;
                let stored = read(&source, &block.pieces).map_err(draft::Error::read(&region.path))?;
                let kind = if block.whole { "" } else { ".torn" };
                let start = region.start_of(&block.pieces);
                let stem = format!("{}.{}{kind}", shown.replace(['/', '\\'], "_"), start.suffix());
                let candidates = lost::Candidate::all(&block.candidates);
                let offset = first_byte(&block.pieces);
                let about = FoundReport { region: &shown, sector: start.sector(), offset, candidates };
                self.block(&stem, &stored, header.as_ref(), &about)?;
            }
        }
        Ok(())
    }

    fn block(
        &mut self,
        stem: &str,
        stored: &[u8],
        header: Option<&Header>,
        found: &impl Serialize,
    ) -> Result<(), Error> {
        let unknown = Header::new(3, UNKNOWN);
        let limits = &self.save.options.limits;
        let view = self.scratch.interpret_bytes(stored, 0, header.unwrap_or(&unknown), None, limits);
        let (channels, arrays) = view.block.as_ref().map(lost::arrays).unwrap_or_default();
        let codes: Vec<&str> = view.damage.iter().map(|d| d.code.name()).collect();
        let block = view.block.as_ref();
        let own = UnownedReport {
            r#type: "lost",
            whole: view.is_readable(),
            findings: codes,
            version: block.map(|block| block.version),
            size: block.map(|block| block.size),
            axes: lost::AXES,
            channels,
            metadata: block.and_then(|block| block.metadata.as_ref()),
            found,
        };
        self.summary.blocks += 1;
        self.summary.whole += u64::from(view.is_readable());
        self.summary.arrays += arrays.len() as u64;
        self.draft.file(Path::new(&format!("{stem}.bin")), stored)?;
        for (ending, bytes) in arrays {
            self.draft.file(Path::new(&format!("{stem}{ending}")), &bytes)?;
        }
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = write_json_pretty(&mut text, &own);
        Ok(self.draft.file(Path::new(&format!("{stem}.json")), &text)?)
    }
}

/// Endings of files in `lost+found` that are no blocks.
const OTHERS: [&str; 5] = [".head.bin", ".rest.bin", ".pages.bin", ".header.bin", ".behind.bin"];

/// The name of a block in `lost+found` without what tells its files apart.
fn stem_of(name: &str) -> &str {
    match name.strip_suffix(".npy") {
        Some(array) => array.rsplit_once('.').map_or(array, |(stem, _)| stem),
        None => name.strip_suffix(".bin").or_else(|| name.strip_suffix(".json")).unwrap_or(name),
    }
}

/// A placeholder layout: blocks store their own.
const UNKNOWN: Format = Format {
    block_size_po2: 0,
    region_size: [1; 3],
    depths: [crate::godot::channel::Depth::Bits8; crate::godot::channel::CHANNELS],
    sector_size: 512,
};

/// The header of a region file, or the layout of the whole save.
fn header(save: &Save, name: &Path) -> Option<Header> {
    let own = save.regions().find(|(forest, file)| {
        let path = forest.dir.join(&file.name);
        path.strip_prefix(&save.path).is_ok_and(|below| below == name) || &*file.name == name
    });
    let format = |forest: &Forest| forest.format.map(|format| Header::new(3, format));
    own.and_then(|(forest, file)| save.header(forest, file).cloned()).or_else(|| save.forests.iter().find_map(format))
}

fn read(source: &impl Source, pieces: &[Span]) -> std::io::Result<Vec<u8>> {
    let (mut all, mut part) = (Vec::new(), Vec::new());
    for piece in pieces {
        source.read_into(piece.start, index(piece.len()), &mut part)?;
        all.extend_from_slice(&part);
    }
    Ok(all)
}
