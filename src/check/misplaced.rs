//! Blocks and chunks that a table leads to although they belong elsewhere, or may, and blocks to which no table leads: commands that
//! read what the tables have, where they have it, say so.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use serde::Serialize;

use crate::check::pak::chunks_of_others;
use crate::check::{BlockWitness, Finding, Level, Options, Report, first, semantic};
use crate::damage::Code;
use crate::godot::region::{Entry, sectors_for};
use crate::recover::names;
use crate::save::{File, Forest, Pak, RegionFile, Save};
use crate::source::Source;
use crate::watch::Watch;

/// Blocks of a forest that belong elsewhere, or may, and those to which no table leads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Misplaced {
    /// How many, with those of the files.
    pub blocks: u64,
    /// Files that have the names of others.
    pub files: Vec<MisplacedFile>,
    /// Whole blocks to which no table leads and that may be the newest state of a position, such as those after a table that is
    /// empty. Old states after the blocks of an undamaged table are not counted.
    pub unowned: u64,
}

impl Misplaced {
    /// Adds what another part of the work found.
    #[cfg(feature = "cli")]
    pub(crate) fn add(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.files.extend(other.files);
        self.unowned += other.unowned;
    }
}

/// A file that has the name of another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MisplacedFile {
    /// The file, below the save, made printable.
    pub file: String,
    /// What shows it, in words.
    pub why: String,
}

/// Blocks of a forest that the table or the name of their region file puts where they do not belong, or may not, and those to which
/// no table leads; nothing without a forest. Only its files are read.
#[must_use]
pub fn misplaced(save: &Save, forest: Option<&Forest>, watch: &Watch<'_>) -> Misplaced {
    forest.map(|forest| find(save, forest, &|_| Wanted::All, None, watch)).unwrap_or_default()
}

/// The same for some region files, by their paths; of `others` only the unowned blocks count. Only these files and their neighbours are
/// read unless one of them is not as it should be: the blocks of the rest may then say more.
#[must_use]
pub fn misplaced_in(
    save: &Save,
    forest: &Forest,
    paths: &HashSet<PathBuf>,
    others: &HashSet<PathBuf>,
    watch: &Watch<'_>,
) -> Misplaced {
    misplaced_observed(save, forest, paths, others, None, watch)
}

/// Something that sees the blocks of some region files while they are checked, so that nothing has to decode them again.
pub(crate) struct BlockObserver<'a> {
    /// The files, in the groups in which they are checked, each file once.
    pub groups: Vec<Vec<&'a RegionFile>>,
    /// Sees each block of these files that is decoded.
    pub block: &'a BlockWitness<'a>,
    /// Called with the number of a group when all its files are checked; whether the next group is to be checked.
    pub group: &'a mut dyn FnMut(usize) -> ControlFlow<()>,
}

/// As [`misplaced_in`], with something that sees the blocks; nothing is found if it ends the check.
pub(crate) fn misplaced_observed(
    save: &Save,
    forest: &Forest,
    paths: &HashSet<PathBuf>,
    others: &HashSet<PathBuf>,
    observer: Option<BlockObserver<'_>>,
    watch: &Watch<'_>,
) -> Misplaced {
    let wanted = |file: &RegionFile| {
        let path = forest.dir.join(&file.name);
        match (paths.contains(&path), others.contains(&path)) {
            (true, _) => Wanted::All,
            (false, true) => Wanted::Unowned,
            (false, false) => Wanted::Nothing,
        }
    };
    let is_wanted = |file: &RegionFile| wanted(file) != Wanted::Nothing;
    if forest.regions.iter().all(is_wanted) {
        return find(save, forest, &wanted, observer, watch);
    }
    match is_calm(save, forest, &is_wanted, observer, watch) {
        ControlFlow::Continue(false) => find(save, forest, &wanted, None, watch),
        _ => Misplaced::default(),
    }
}

/// How many whole blocks of a forest no table leads to, in some LODs, or in all if `lods` is empty: those of [`Misplaced::unowned`].
/// Only tables and size prefixes are read if the listed blocks take all sectors of each file.
#[must_use]
pub fn unowned(save: &Save, forest: Option<&Forest>, lods: &[u8], watch: &Watch<'_>) -> u64 {
    let Some(forest) = forest else { return 0 };
    let is_of_lod = |file: &RegionFile| lods.is_empty() || lods.contains(&file.lod);
    if forest.regions.iter().filter(|file| is_of_lod(file)).all(|file| takes_all_sectors(save, forest, file)) {
        return 0;
    }
    let wanted = |file: &RegionFile| if is_of_lod(file) { Wanted::Unowned } else { Wanted::Nothing };
    find(save, forest, &wanted, None, watch).unowned
}

/// Whether the blocks of the table, by their size prefixes, take all sectors of a file. Of a file that cannot be read, no block is
/// known.
fn takes_all_sectors(save: &Save, forest: &Forest, file: &RegionFile) -> bool {
    let Ok(Some(region)) = save.region(forest, file) else { return true };
    let mut entries: Vec<Entry> = region.entries.iter().map(|listed| listed.entry).collect();
    entries.sort_unstable_by_key(|entry| entry.first());
    let mut prefix = Vec::new();
    let mut at = 0u64;
    let in_row = entries.into_iter().all(|entry| {
        let is_next = u64::from(entry.first()) == at;
        at += u64::from(entry.count());
        let is_read = is_next && region.source.read_into(region.span(entry).start, 4, &mut prefix).is_ok();
        let size = prefix.first_chunk().copied().map(u32::from_le_bytes);
        let sectors = size.map(|size| sectors_for(size.into(), region.header.format.sector_size));
        is_read && sectors == Some(entry.count().into())
    });
    in_row && at == region.sectors_in_file()
}

/// The records of a pak region whose chunks belong to other records, or may, each with the code of its finding.
///
/// # Errors
/// I/O errors.
pub fn misplaced_chunks<S: Source>(pak: &Pak<S>, watch: &Watch<'_>) -> io::Result<BTreeMap<u32, Code>> {
    let mut found = chunks_of_others(pak, &Options::default().watch(watch.quiet()))?;
    let shared = pak.present().filter(|(number, _)| pak.overlap(*number).is_some());
    found.extend(shared.map(|(number, _)| (number, Code::PakOverlap)));
    Ok(found)
}

/// What of a file counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    All,
    /// Its unowned blocks.
    Unowned,
    Nothing,
}

/// What the blocks of a file are, by its table.
#[derive(Default)]
struct FileBlocks {
    /// Blocks to which the table leads.
    listed: u64,
    /// Where in the file unowned blocks begin.
    unowned: Box<[u64]>,
    /// Unowned blocks beyond those that the findings of a file list.
    more: u64,
}

/// A first look at some files of a forest, and the blocks of each by its number; `Break` if what sees the blocks ended it.
fn look(
    save: &Save,
    forest: &Forest,
    is_read: &dyn Fn(&RegionFile) -> bool,
    observer: Option<BlockObserver<'_>>,
    watch: &Watch<'_>,
) -> ControlFlow<(), (first::Glance, HashMap<u32, FileBlocks>)> {
    let options = Options { level: Level::Semantic, watch: watch.quiet(), ..Options::default() };
    let mut files: Vec<&RegionFile> = forest.regions.iter().filter(|file| is_read(file)).collect();
    let mut glances = first::Glances::new(files.len());
    let mut blocks = HashMap::new();
    let mut each = |file: File<'_>, report: Report| {
        let File::Region(_, file) = file else { return };
        let is_unowned = |finding: &&Finding| finding.code() == Code::BlockOrphan;
        let unowned = report.findings.iter().filter(is_unowned).filter_map(|finding| Some(finding.span?.start));
        let (listed, more) = (report.stats.blocks, report.cut(Code::BlockOrphan));
        blocks.insert(file.number, FileBlocks { listed, unowned: unowned.collect(), more });
    };
    if let Some(BlockObserver { groups, block, group }) = observer {
        let options = Options { witness: Some(block), ..options };
        let mut checked: HashSet<u32> = HashSet::new();
        for (number, files) in groups.into_iter().enumerate() {
            let files: Vec<&RegionFile> = files.iter().copied().filter(|file| is_read(file)).collect();
            glances.add(save, &files_of(forest, &files), &options, &mut each);
            checked.extend(files.iter().map(|file| file.number));
            group(number)?;
        }
        files.retain(|file| !checked.contains(&file.number));
    }
    glances.add(save, &files_of(forest, &files), &options, &mut each);
    ControlFlow::Continue((glances.finish(), blocks))
}

fn files_of<'f>(forest: &'f Forest, files: &[&'f RegionFile]) -> Vec<File<'f>> {
    files.iter().map(|file| File::Region(forest, file)).collect()
}

fn find(
    save: &Save,
    forest: &Forest,
    wanted: &dyn Fn(&RegionFile) -> Wanted,
    observer: Option<BlockObserver<'_>>,
    watch: &Watch<'_>,
) -> Misplaced {
    let ControlFlow::Continue((glance, blocks)) = look(save, forest, &|_| true, observer, watch) else {
        return Misplaced::default();
    };
    let options = Options { level: Level::Semantic, watch: watch.quiet(), ..Options::default() };
    let doubts = semantic::find_doubts_of(save, forest, &options, &glance);
    let mut found = Misplaced::default();
    for file in forest.regions.iter().filter(|file| wanted(file) != Wanted::Nothing) {
        let of_file = blocks.get(&file.number);
        found.unowned += of_file.map_or(0, |blocks| blocks.unowned.len() as u64 + blocks.more);
        let Some(doubts) = doubts.in_file(File::Region(forest, file)) else { continue };
        found.unowned += doubts.unowned(|start| of_file.is_some_and(|blocks| blocks.unowned.contains(&start)));
        match doubts.misnamed() {
            _ if wanted(file) == Wanted::Unowned => {}
            Some(damage) => {
                found.blocks += of_file.map_or(0, |blocks| blocks.listed);
                let file = save.shown(&forest.dir.join(&file.name));
                found.files.push(MisplacedFile { file, why: damage.to_string() });
            }
            None => found.blocks += doubts.misplaced(),
        }
    }
    found
}

/// Whether the tables of the wanted files match their sectors, and their borders continue those of their neighbours; `Break` if
/// what sees the blocks ended the check.
fn is_calm(
    save: &Save,
    forest: &Forest,
    is_wanted: &dyn Fn(&RegionFile) -> bool,
    observer: Option<BlockObserver<'_>>,
    watch: &Watch<'_>,
) -> ControlFlow<(), bool> {
    let wanted: HashSet<(u8, [i32; 3])> =
        forest.regions.iter().filter(|file| is_wanted(file)).map(|file| (file.lod, file.position)).collect();
    let is_near = |file: &RegionFile| {
        let at = |axis: usize, step: i32| {
            let mut at = file.position;
            at[axis] = at[axis].saturating_add(step);
            wanted.contains(&(file.lod, at))
        };
        is_wanted(file) || (0..3).any(|axis| at(axis, 1) || at(axis, -1))
    };
    let (glance, _) = look(save, forest, &is_near, observer, watch)?;
    let matches = |file: &RegionFile| glance.is_explained(file) && !glance.has_exchanged(file);
    if !forest.regions.iter().filter(|file| is_wanted(file)).all(matches) {
        return ControlFlow::Continue(false);
    }
    let files = first::named(forest, |file| glance.seams(file));
    let in_doubt = names::in_doubt(&files);
    ControlFlow::Continue(!in_doubt.into_iter().any(|file| files.get(file).is_some_and(|named| is_wanted(named.file))))
}
