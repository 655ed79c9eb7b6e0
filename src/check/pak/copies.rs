//! Finds pak regions that are copies of others: the same chunks in the same records, so that one of the two files is not what the
//! game saved. Nothing in a pak region shows which.

use std::collections::BTreeMap;
use std::io;

use xxhash_rust::xxh3::xxh3_64;

use crate::bytes::{Span, index};
use crate::check::finding::Finding;
use crate::damage::{Code, Damage, Value};
use crate::parallel;
use crate::recover::copies::{self, Content};
use crate::recover::weights::COPY;
use crate::save::{PakDir, PakFile, Save};
use crate::source::Source;

/// Chunks with more stored bytes are not compared. Those of the game have at most a quarter of it.
const LARGE: u64 = 1 << 20;

/// The findings about copied files of a save.
pub(in crate::check) fn copied(save: &Save, is_cancelled: &(dyn Fn() -> bool + Sync)) -> Vec<Finding> {
    save.pak_dirs.iter().flat_map(|dir| copied_in(save, dir, is_cancelled)).collect()
}

fn copied_in(save: &Save, dir: &PakDir, is_cancelled: &(dyn Fn() -> bool + Sync)) -> Vec<Finding> {
    // A copy has the length of its original.
    let mut by_length: BTreeMap<u64, Vec<&PakFile>> = BTreeMap::new();
    dir.files.iter().filter(|file| file.is_placed).for_each(|file| by_length.entry(file.len).or_default().push(file));
    by_length.retain(|_, files| files.len() > 1);
    let asked: Vec<&PakFile> = by_length.into_values().flatten().collect();
    let numbers = parallel::map(&asked, |file| match is_cancelled() {
        true => None,
        false => number_of(save, dir, file).ok().flatten(),
    });
    let mut same: BTreeMap<u64, Vec<&PakFile>> = BTreeMap::new();
    for (file, number) in asked.iter().zip(numbers) {
        number.into_iter().for_each(|number| same.entry(number).or_default().push(file));
    }
    same.retain(|_, files| files.len() > 1);
    let repeated: usize = same.values().map(Vec::len).sum();
    if copies::is_pattern(repeated, dir.files.len()) {
        return Vec::new();
    }
    let mut found: Vec<(&PakFile, &PakFile)> = Vec::new();
    for group in same.values().filter(|group| group.len() <= COPY.files) {
        let others = |file: &PakFile| group.iter().find(|other| other.region != file.region).copied();
        found.extend(group.iter().filter_map(|file| Some((*file, others(file)?))));
    }
    found.sort_unstable_by_key(|(file, _)| file.region);
    let finding = |(file, other): (&PakFile, &PakFile)| {
        let damage = Damage::new(Code::PakCopied, Span::default(), "region of the other file");
        let damage = damage.found(Value::triple(other.region));
        let name = |file: &PakFile| save.shown(&dir.dir.join(&file.name));
        let remark = format!("The other file is {}. Nothing shows which of the two is right.", name(other));
        Finding::of_file(name(file).into(), damage, Some(remark))
    };
    found.into_iter().map(finding).collect()
}

/// A number that only files with the same chunks in the same records have; `None` if few chunks differ.
fn number_of(save: &Save, dir: &PakDir, file: &PakFile) -> io::Result<Option<u64>> {
    let Ok(Some(pak)) = save.pak(dir, file, &mut Vec::new()) else { return Ok(None) };
    let (mut content, mut bytes) = (Content::default(), Vec::new());
    for (number, record) in pak.present() {
        let Some(located) = pak.locate(number, record, &mut Vec::new()) else { continue };
        if located.stored.len() <= LARGE {
            pak.source.read_into(located.stored.start, index(located.stored.len()), &mut bytes)?;
            content.add(number, xxh3_64(&bytes), located.stored.len());
        }
    }
    Ok(content.number())
}
