//! Options that do not fit the files that they were given for. Findings of a check with such options do not show damage.

use crate::check::cause::{Cause, CauseKind};
use crate::check::causes::evidence::SEARCHED;
use crate::check::causes::region_misfit::{meta_misfit, region_misfit};
use crate::pak::chunk::Shape;
use crate::pak::offset::Reading;
use crate::pak::{HEADER_BYTES, How};
use crate::printable::count;
use crate::save::{Pak, PakOptions, PakScratch, Save};
use crate::source::FileSource;

/// The options that do not fit the first file that shows another value, if there is one. `has_findings` says whether the check found
/// something above a note in a file; a slot formula that does not fit leads to no finding.
pub(super) fn find_misfit(save: &Save, has_any: bool, has_findings: impl Fn(&str) -> bool) -> Option<Cause> {
    let of_pak = if has_any { pak_misfit(save) } else { Vec::new() };
    let evidence: Vec<String> = of_pak.into_iter().chain(region_misfit(save, &has_findings)).collect();
    if !evidence.is_empty() {
        return Some(Cause::new(CauseKind::OptionMisfit, 0, evidence, &[]));
    }
    let evidence = if has_any { meta_misfit(save, has_findings) } else { Vec::new() };
    (!evidence.is_empty()).then(|| Cause::new(CauseKind::MetaMisfit, 0, evidence, &[]))
}

/// What shows that the layout in a meta file is not that of its files, in words, whatever a check found. Blocks that are read by it
/// seem to be damaged or elsewhere.
pub(crate) fn misfit_of_meta(save: &Save) -> Option<String> {
    let evidence = meta_misfit(save, |_| true);
    (!evidence.is_empty()).then(|| evidence.join("; "))
}

/// The options of region files that do not fit the first file that shows another value, in words, whatever a check found. By such
/// options blocks are in other places or cannot be read.
pub(crate) fn misfit_of_regions(save: &Save) -> Option<String> {
    let evidence = region_misfit(save, |_| true);
    (!evidence.is_empty()).then(|| evidence.join("; "))
}

/// The unit of offsets that was given for pak regions and does not fit the first file that shows another one, in words, whatever a
/// check found. By such a unit no chunk is where its record says.
pub(crate) fn misfit_of_paks(save: &Save) -> Option<String> {
    save.options.pak.reading?;
    find_pak(save, |name, pak| Some(format!("{name} {}", reading_misfit(&save.options.pak, pak)?)))
}

/// The options of pak regions that do not fit the first file that shows another value.
fn pak_misfit(save: &Save) -> Vec<String> {
    let given = &save.options.pak;
    if given.reading.is_none() && given.shape.size.is_none() && given.shape.voxel_bytes.is_none() {
        return Vec::new();
    }
    let misfits = find_pak(save, |name, pak| {
        let all = reading_misfit(given, pak).into_iter().chain(shape_misfit(given, pak));
        let evidence: Vec<String> = all.map(|what| format!("{name} {what}")).collect();
        (!evidence.is_empty()).then_some(evidence)
    });
    misfits.unwrap_or_default()
}

/// The first pak region, read without options, of which `show` gives something, with its name.
fn find_pak<R>(save: &Save, show: impl Fn(&str, &Pak<FileSource>) -> Option<R>) -> Option<R> {
    let files = save.pak_dirs.iter().flat_map(|dir| dir.files.iter().map(move |file| (dir, file)));
    files.take(SEARCHED).find_map(|(dir, file)| {
        let path = dir.dir.join(&file.name);
        let source = FileSource::open(&path).ok()?;
        let inferred = PakOptions::default();
        let pak = Pak::load(source, file.region, &inferred, &save.options.limits, &mut Vec::new()).ok()??;
        show(&save.shown(&path), &pak)
    })
}

/// How the file counts its first block, if that is not the given unit and its header is whole without it.
fn reading_misfit(given: &PakOptions, pak: &Pak<FileSource>) -> Option<String> {
    let own = pak.reading.value;
    let given = given.reading.filter(|given| *given != own && pak.reading.how != How::Assumed)?;
    let is_whole = pak.damage.iter().all(|damage| damage.span.start >= HEADER_BYTES || !damage.code.hides_data());
    let [given, own] = [given, own].map(Reading::name);
    is_whole.then(|| format!("counts its first block in {own}, which `--pak-offset {given}` does not fit"))
}

/// The shape that the chunks have, if they cannot have the given one.
fn shape_misfit(given: &PakOptions, pak: &Pak<FileSource>) -> Option<String> {
    let own = pak.first_shape(&mut PakScratch::default())?.value;
    let size = given.shape.size.unwrap_or(own.size);
    let voxel = given.shape.voxel_bytes.unwrap_or(own.voxel_bytes);
    let mut options = Vec::new();
    options.extend(given.shape.size.map(|[x, y, z]| format!("`--chunk-shape {x},{y},{z}`")));
    options.extend(given.shape.voxel_bytes.map(|bytes| format!("`--voxel-bytes {bytes}`")));
    let is_other = !options.is_empty() && Shape { size, voxel_bytes: voxel }.bytes() != own.bytes();
    let [x, y, z] = own.size;
    let does = if options.len() == 1 { "does" } else { "do" };
    is_other.then(|| {
        let (bytes, options) = (count(own.voxel_bytes.into(), "byte"), options.join(" with "));
        format!("has chunks of {x} x {y} x {z} voxels of {bytes}, which {options} {does} not fit")
    })
}
