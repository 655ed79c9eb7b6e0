//! Finds pak regions that are copies of others: the same chunks in the same records, so that one of the two files is not what the
//! game saved. Nothing in a pak region shows which.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::io;

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::bytes::{Span, index};
use crate::check::finding::Finding;
use crate::damage::{Code, Damage, Value};
use crate::parallel;
use crate::recover::copies::{Content, Same};
use crate::save::{PakDir, PakFile, Save};
use crate::source::Source;

/// Chunks with more stored bytes are not compared. Those of the game have at most a quarter of it.
const LARGE: u64 = 1 << 20;

/// The findings about copied files of a save.
pub(in crate::check) fn copied(save: &Save, is_cancelled: &(dyn Fn() -> bool + Sync)) -> Vec<Finding> {
    save.pak_dirs.iter().flat_map(|dir| copied_in(save, dir, is_cancelled)).collect()
}

fn copied_in(save: &Save, dir: &PakDir, is_cancelled: &(dyn Fn() -> bool + Sync)) -> Vec<Finding> {
    let number = |number: fn(&Save, &PakDir, &PakFile) -> io::Result<Option<u64>>| {
        move |file: usize| match is_cancelled() {
            true => None,
            false => number(save, dir, &dir.files[file]).ok().flatten(),
        }
    };
    // A copy has the length and the records of its original. Only the chunks of such files are read.
    let placed = (0..dir.files.len()).filter(|&file| dir.files[file].is_placed);
    let same_length = with_others(placed, |file| Some(dir.files[file].len));
    let same_records = with_others(same_length.into_iter().map(|(file, _)| file), number(number_of_records));
    let contents = with_others(same_records.into_iter().map(|(file, _)| file), number(number_of_chunks));
    let same = Same::group(contents, dir.files.len());
    if same.repeats {
        return Vec::new();
    }
    let mut found: Vec<(&PakFile, &PakFile)> = Vec::new();
    for group in &same.groups {
        let group = || group.iter().map(|&file| &dir.files[file]);
        let other = |file: &PakFile| group().find(|other| other.region != file.region);
        found.extend(group().filter_map(|file| Some((file, other(file)?))));
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

/// The files whose numbers other files have too, with these.
fn with_others(
    files: impl IntoIterator<Item = usize>,
    number: impl Fn(usize) -> Option<u64> + Sync,
) -> Vec<(usize, u64)> {
    let files: Vec<usize> = files.into_iter().collect();
    let numbers = parallel::filter_map(&files, |&file| Some((file, number(file)?)));
    let mut counts: HashMap<u64, usize> = HashMap::new();
    numbers.iter().for_each(|(_, number)| *counts.entry(*number).or_default() += 1);
    numbers.into_iter().filter(|(_, number)| counts[number] > 1).collect()
}

/// A number that only files with the same records have.
fn number_of_records(save: &Save, dir: &PakDir, file: &PakFile) -> io::Result<Option<u64>> {
    let Ok(Some(pak)) = save.pak(dir, file, &mut Vec::new()) else { return Ok(None) };
    let mut hasher = Xxh3Default::new();
    pak.records.hash(&mut hasher);
    Ok(Some(hasher.finish()))
}

/// A number that only files with the same chunks in the same records have; `None` if few chunks differ.
fn number_of_chunks(save: &Save, dir: &PakDir, file: &PakFile) -> io::Result<Option<u64>> {
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
