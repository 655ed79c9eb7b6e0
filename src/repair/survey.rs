//! Walking over the regions of a save and asking for the places of their blocks.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::bytes::Span;
use crate::check;
use crate::damage::{Code, Damage};
use crate::draft;
use crate::godot::region::{Format, Header, MAX_HEADER_BYTES};
use crate::godot::slots::SlotFormula;
use crate::limits::Limits;
use crate::parallel;
use crate::recover::assemble::forget_inner;
pub(super) use crate::recover::cluster::Sides;
use crate::recover::cluster::{Broken, Extent, Member, clusters_of, extent_of};
use crate::recover::copies::{self, Copied};
use crate::recover::decide::{Certainty, Placed};
use crate::recover::foreign_table::{self, Instead, OwnTable};
use crate::recover::names::{self, Misnamed, Named};
use crate::recover::placed_seams;
use crate::recover::quick;
use crate::recover::region::{Case, Listing};
use crate::recover::screen::{KeptSeams, Screened};
use crate::recover::solutions::solve_once;
pub(super) use crate::recover::solved::Solved;
use crate::recover::survey;
use crate::recover::torn_table::Split;
use crate::recover::weights::Weights;
use crate::repair::layout;
use crate::repair::parts::{self, Parts, doubled, may_be_moving};
use crate::repair::{Error, Options};
use crate::save::{Forest, Region, RegionFile, Save, Scratch, open_region};
use crate::source::{FileSource, Source};
use crate::watch::Step;

/// Files that are looked at before what they show is put together: results of threads take more memory than what is kept.
const WINDOW: usize = 1024;

/// Places that are tried where a file may go on a few bytes further.
const TRIES: usize = 256;

/// A region that was walked over.
pub(super) struct Walk<'s> {
    pub forest: &'s Forest,
    pub file: &'s RegionFile,
    pub region: Region<Parts>,
    pub slots: SlotFormula,
    pub case: Case,
    /// What had to be done before its blocks could be found.
    pub remark: Option<&'static str>,
    /// Its entries of two generations, when the table was written in part.
    pub split: Option<Split>,
    /// Its own table, while its blocks are placed by that of another file.
    own_table: Option<OwnTable>,
}

/// What a first look says of a region file.
pub(super) enum Standing {
    /// No block can be located in it.
    Nothing,
    /// Its table explains its sectors, and nothing is odd.
    Healthy,
    /// The same, but its seams suggest that blocks of it are exchanged.
    Exchanged,
    /// Its table explains its sectors, but its header or its blocks have to be written anew.
    Odd,
    /// Its table does not explain its sectors.
    Broken(Box<Broken>),
}

impl Standing {
    fn broken(&self) -> Option<&Broken> {
        if let Self::Broken(broken) = self { Some(broken) } else { None }
    }

    /// Whether its blocks are placed by the table of another file.
    pub fn has_other_table(&self) -> bool {
        self.broken().is_some_and(Broken::has_other_table)
    }
}

/// A region file, its forest, and the layout that its header should have.
pub(super) type Listed<'s> = (&'s Forest, &'s RegionFile, Option<Format>);

impl Walk<'_> {
    pub fn path(&self) -> PathBuf {
        self.forest.dir.join(&self.file.name)
    }

    /// The seams of its blocks where the solver placed them; `None` if that is where the table has them.
    pub fn placed_seams(&self, solved: &Solved, limits: &Limits) -> Result<Option<Screened>, Error> {
        let seams = placed_seams::screen_placed(&self.region.source, &self.region.header, &self.case, solved, limits);
        Ok(seams.map_err(draft::Error::read(&self.path()))?)
    }

    /// Whether its header is as it must be, all entries have sectors, and the last one is there to its end.
    pub fn is_sound(&self) -> bool {
        let (header, end) = (&self.region.header, u64::from(self.case.table_end()));
        let whole = header.sector_span(end, 0).start <= self.region.source.len();
        let listed = self.case.entries.len() == self.region.entries.len() && !self.has_entry_without_sectors();
        // What was not known when the save was opened is no fault of the file.
        let unknown = |damage: &Damage| damage.code == Code::RegionFormatUnknown;
        self.file.damage.iter().all(unknown) && self.remark.is_none() && whole && listed
    }

    fn has_entry_without_sectors(&self) -> bool {
        self.region.entries.iter().any(|listed| listed.entry.count() == 0)
    }

    /// Whether the header had another layout than the file.
    pub fn has_other_layout(&self) -> bool {
        self.file.damage.iter().any(|damage| damage.code == Code::RegionLayout)
    }

    /// What is wrong with a file that is not sound.
    pub fn fault(&self) -> &'static str {
        let copied = |damage: &Damage| matches!(damage.code, Code::CopyCrlf | Code::CopyLf | Code::CopyEncoding);
        match () {
            () if self.case.entries.len() != self.region.entries.len() || self.has_entry_without_sectors() => {
                "an entry of its table has no sectors"
            }
            () if self.file.damage.iter().any(copied) => "a copy converted it as text, which is undone",
            () if self.file.damage.iter().all(|damage| damage.code == Code::RegionShifted)
                && !self.file.damage.is_empty() =>
            {
                "bytes were inserted into it or cut out of it"
            }
            () if self.file.is_renamed && self.file.damage.iter().all(|damage| damage.code == Code::CopyName) => {
                "a copy changed its name"
            }
            () if !self.file.damage.is_empty() => "its header was damaged",
            () => "its last sector is cut off",
        }
    }

    pub fn look(&self, format: Option<&Format>) -> Standing {
        let other = format.is_some_and(|format| *format != self.region.header.format);
        if !self.case.is_intact() {
            Standing::Broken(Box::new(Broken::new(&self.case, self.region.header.format)))
        } else if other || !self.is_sound() || self.is_odd() {
            Standing::Odd
        } else {
            Standing::Healthy
        }
    }

    pub fn is_odd(&self) -> bool {
        self.case.walk.blocks.iter().any(|block| block.odd) || self.is_displaced()
    }

    /// Whether its blocks are in the slots of the old formula although their version does not say so.
    pub fn is_displaced(&self) -> bool {
        self.slots == SlotFormula::Legacy
            && self.region.is_negative()
            && self.region.header.version == 3
            && self.case.walk.blocks.iter().all(|block| block.version >= 4)
    }
}

/// Looks at all region files, without the outer layers of their blocks: most have nothing wrong. Also returns their seams.
pub(super) fn look(
    save: &Save,
    files: &[Listed<'_>],
    options: &Options<'_>,
) -> Result<(Vec<Standing>, Vec<KeptSeams>), Error> {
    options.watch.begin(Step::Looking, files.iter().map(|(_, file, _)| file.len).sum());
    let glance = |(forest, file, format): &Listed<'_>| {
        options.go_on()?;
        let (look, mut screened) = glance(save, forest, file, format.as_ref(), options)?;
        screened.shorten(files.len());
        // The first of two looks.
        options.watch.advance(file.len / 2);
        Ok::<_, Error>((look, screened))
    };
    let (mut glances, mut screened) = (Vec::with_capacity(files.len()), Vec::with_capacity(files.len()));
    for window in files.chunks(WINDOW) {
        for (look, seams) in parallel::try_map(window, glance)? {
            glances.push(look);
            screened.push(KeptSeams::from(seams));
        }
    }
    let explained = quick::tables_match(&glances.iter().collect::<Vec<_>>());
    let one = |i: &usize| {
        options.go_on()?;
        let (forest, file, format) = &files[*i];
        let walk = if explained[*i] { None } else { open(save, forest, file, format.as_ref(), None, Sides::None)? };
        options.watch.advance(file.len - file.len / 2);
        let look = match walk {
            _ if explained[*i] => Standing::Healthy,
            Some(walk) => walk.look(format.as_ref()),
            None => Standing::Nothing,
        };
        let has_exchanged = screened[*i].screened().has_exchanged && matches!(look, Standing::Healthy);
        Ok::<_, Error>(if has_exchanged { Standing::Exchanged } else { look })
    };
    let mut looks = Vec::with_capacity(files.len());
    for first in (0..files.len()).step_by(WINDOW) {
        let window: Vec<usize> = (first..files.len()).take(WINDOW).collect();
        looks.extend(parallel::try_map(&window, one)?);
    }
    let broken: Vec<Option<&Broken>> = looks.iter().map(Standing::broken).collect();
    let walk = |i: usize, other: Option<usize>| {
        options.go_on()?;
        let (forest, file, format) = &files[i];
        if other.is_some_and(|other| !std::ptr::eq(*forest, files[other].0)) {
            return Ok(None);
        }
        let table = other.map(|other| Instead::Table(files[other].1));
        let walk = open(save, forest, file, format.as_ref(), table, Sides::None)?;
        Ok::<_, Error>(walk.map(|walk| walk.case))
    };
    let by_other = foreign_table::find(&broken, walk, |i| foreign_table::hash_of_file(save, files[i].0, files[i].1))?;
    by_other.into_iter().for_each(|(i, broken)| looks[i] = Standing::Broken(Box::new(broken)));
    Ok((looks, screened))
}

fn named<'s>(forest: &'s Forest, seams: &'s [KeptSeams]) -> Vec<Named<'s>> {
    forest.regions.iter().zip(seams).map(|(file, seams)| Named::new(file, seams.screened())).collect()
}

/// The files of a forest that have the names of others, by the seams of all of them.
pub(super) fn misnamed(forest: &Forest, seams: &[KeptSeams]) -> Vec<Misnamed> {
    names::misnamed(&named(forest, seams))
}

/// The numbers of the files of a forest whose places nothing supports and much contradicts.
pub(super) fn contradicted(forest: &Forest, seams: &[KeptSeams]) -> HashSet<usize> {
    names::contradicted(&named(forest, seams)).into_iter().collect()
}

/// The numbers of those of some files that nothing supports where their names put them.
pub(super) fn unsupported(forest: &Forest, seams: &[KeptSeams], of: impl Iterator<Item = usize>) -> Vec<usize> {
    names::unsupported(&named(forest, seams), of)
}

/// The files of a forest with the blocks of others.
pub(super) fn copied(forest: &Forest, seams: &[KeptSeams]) -> Vec<Copied> {
    copies::copied(&named(forest, seams))
}

/// The numbers of the files of a forest whose names are in doubt.
pub(super) fn in_doubt(forest: &Forest, seams: &[KeptSeams]) -> HashSet<usize> {
    names::in_doubt(&named(forest, seams)).into_iter().collect()
}

/// What one look says of a region file.
fn glance(
    save: &Save,
    forest: &Forest,
    file: &RegionFile,
    format: Option<&Format>,
    options: &Options<'_>,
) -> Result<(quick::Glance, Screened), Error> {
    let usual = file.header.as_ref().is_some_and(|header| format.is_none_or(|format| *format == header.format));
    if !usual || save.options.has_slots() || forest.inferred_slots.is_some() {
        return Ok(Default::default());
    }
    let path = forest.dir.join(&file.name);
    let failed = |source| draft::Error::Open { path: path.clone(), source };
    let Some(region) = save.region(forest, file).map_err(failed)? else { return Ok(Default::default()) };
    let looked = check::look(&region, &save.shown(&path), &options.watch);
    draft::unchanged(&region.source, &path)?;
    // A damaged file is always walked over, but its borders are compared as those of others are.
    if !file.damage.is_empty() {
        return Ok((quick::Glance::default(), looked.1));
    }
    Ok(looked)
}

/// Walks over the regions that are not healthy, solves them together with those beside them, and passes each on with its number.
pub(super) fn solve_all<'s>(
    save: &Save,
    files: &[Listed<'s>],
    looks: &[Standing],
    options: &Options<'_>,
    mut each: impl FnMut(usize, &Walk<'s>, &Solved) -> Result<(), Error>,
) -> Result<(), Error> {
    // A region without a block shows nothing about the others.
    let known: Vec<usize> = (0..files.len()).filter(|&i| !matches!(looks[i], Standing::Nothing)).collect();
    let member = |k: usize| {
        let (file, look) = (files[known[k]].1, &looks[known[k]]);
        Member::new(file, look.broken(), matches!(look, Standing::Exchanged))
    };
    let of_known = |all: Vec<usize>| all.into_iter().map(|k| known[k]).collect::<Vec<usize>>();
    let mut clusters: Vec<(Vec<usize>, Vec<usize>)> =
        clusters_of(known.len(), member).into_iter().map(|c| (of_known(c.solved), of_known(c.near))).collect();
    let solved: HashSet<usize> = clusters.iter().flat_map(|(solved, _)| solved).copied().collect();
    let alone = |i: &usize| matches!(looks[*i], Standing::Odd) && !solved.contains(i);
    clusters.extend((0..files.len()).filter(alone).map(|i| (vec![i], Vec::new())));
    let bytes =
        |(solved, near): &(Vec<usize>, Vec<usize>)| -> u64 { solved.iter().chain(near).map(|&i| files[i].1.len).sum() };
    options.watch.begin(Step::Walking, clusters.iter().map(bytes).sum());
    for (solved, near) in &clusters {
        options.go_on()?;
        let extents: Vec<Extent> = solved.iter().filter_map(|&i| extent_of(files[i].1)).collect();
        let alone = matches!((&solved[..], &near[..]), ([i], []) if matches!(looks[*i], Standing::Odd));
        let all: Vec<(usize, bool)> =
            solved.iter().map(|&i| (i, false)).chain(near.iter().map(|&i| (i, true))).collect();
        let walks = parallel::try_map(&all, |&(i, near)| {
            options.go_on()?;
            let sides = match &looks[i] {
                _ if alone => Sides::None,
                _ if near => Sides::AtBorder(&extents),
                look => Sides::Of(look.broken()),
            };
            let (forest, file, format) = &files[i];
            let table = looks[i].broken().and_then(|broken| broken.table_of);
            let table = table.as_ref().map(|table| table.instead(files[table.index].1));
            let walk = open(save, forest, file, format.as_ref(), table, sides)?;
            // A cluster may have more regions than a process may have open files.
            walk.iter().for_each(|walk| walk.region.source.file().close());
            options.watch.advance(file.len);
            Ok::<_, Error>(walk.map(|walk| (walk, i, near)))
        })?;
        let mut walks: Vec<(Walk<'_>, usize, bool)> = walks.into_iter().flatten().collect();
        walks.sort_by_key(|(walk, ..)| (walk.file.lod, walk.file.position));
        forget_inner(walks.iter_mut().map(|(walk, ..)| &mut walk.case));
        let members: Vec<survey::Member<'_>> = walks
            .iter()
            .map(|(walk, _, near)| {
                let split = walk.split.as_ref().filter(|_| !near);
                survey::Member { case: &walk.case, split, near: *near }
            })
            .collect();
        let (effort, watch) = (options.effort.factor(), options.watch.quiet());
        let solved = solve_once(&members, &Weights::default(), effort, &watch, options.solutions);
        for ((walk, i, near), solved) in walks.iter_mut().zip(&*solved) {
            options.go_on()?;
            let by_own = walk.own_table.take().map(|own| foreign_table::restore(&mut walk.case, own, solved));
            let solved = by_own.as_ref().unwrap_or(solved);
            let healthy = matches!(looks[*i], Standing::Healthy | Standing::Exchanged) && walk.case.is_intact();
            if !*near && (!healthy || solved.is_contradicted()) {
                each(*i, walk, solved)?;
                walk.region.source.file().close();
            }
        }
    }
    Ok(())
}

/// The places that are sure enough. Where the table explains all that is there, what supports nothing better is no
/// reason to take a block out.
pub(super) fn sure(walk: &Walk<'_>, solved: &Solved, least: Certainty) -> Vec<Placed> {
    let case = &walk.case;
    if !solved.as_listed {
        return solved.placed.iter().filter(|p| p.certainty >= least).copied().collect();
    }
    case.entries.iter().filter_map(|entry| Placed::as_listed(case, entry)).collect()
}

/// Opens a region file and walks over it; `format` is the layout that its header should have, and `instead`
/// what its blocks are placed by, if that is not its own table. `None` when no block can be located.
pub(super) fn open<'s>(
    save: &Save,
    forest: &'s Forest,
    file: &'s RegionFile,
    format: Option<&Format>,
    instead: Option<Instead<'_>>,
    sides: Sides<'_>,
) -> Result<Option<Walk<'s>>, Error> {
    let path = forest.dir.join(&file.name);
    if file.detail.is_some() {
        return Ok(None);
    }
    let (opened, _) = open_region(&path).map_err(|source| draft::Error::Open { path: path.clone(), source })?;
    opened.close();
    let source = || opened.again();
    let read = |header: Header, source: Parts| -> Result<Option<Walk<'s>>, Error> {
        if header.table.end > source.len() {
            return Ok(None);
        }
        let failed = draft::Error::read;
        let region = Region::load(source, header, file.lod, file.position, &save.options);
        let mut region = region.map_err(failed(&path))?;
        region.header.byte_order = save.byte_order(forest, file);
        region.infer_slots(forest);
        let slots = region.slots(&mut Scratch::default()).map_err(failed(&path))?;
        let read = foreign_table::read(save, forest, &mut region, instead, slots, sides);
        let (case, own_table) = read.map_err(failed(&path))?;
        let split = Split::find(&region, &case);
        Ok(Some(Walk { forest, file, region, slots, case, remark: None, split, own_table }))
    };
    let found = match &file.header {
        Some(header) if may_be_moving(header) => None,
        header => layout::find(source(), header.as_ref(), format).map_err(draft::Error::read(&path))?,
    };
    if let Some(found) = found
        && let Some(mut walk) = read(found.header, found.parts)?
    {
        walk.remark = Some(found.remark);
        draft::unchanged(walk.region.source.file(), &path)?;
        return Ok(Some(walk));
    }
    let mut walk = match &file.header {
        Some(header) => read(header.clone(), Parts::whole(source()))?,
        None => None,
    };
    if walk.is_none()
        && let Some(header) = again(&source(), format).map_err(draft::Error::read(&path))?
    {
        walk = read(header, Parts::whole(source()))?;
    }
    if let Some(old) = &walk
        && may_be_moving(&old.region.header)
        && !table_matches_sectors(&old.case)
    {
        let header = &old.region.header;
        for gap in gaps(old).map_err(draft::Error::read(&path))? {
            let other = read(header.clone(), Parts::whole(source()).without(gap))?;
            if let Some(mut other) = other.filter(|other| table_matches_sectors(&other.case)) {
                other.remark = Some("the game was killed while it made room for a longer header");
                walk = Some(other);
                break;
            }
        }
    } else if walk.is_none()
        && let Some(format) = format
    {
        // What the other files say of this one's header, which is shorter before version 3.
        let other = |version| -> Result<Option<Walk<'s>>, Error> {
            let other = read(Header::new(version, *format), Parts::whole(source()))?;
            Ok(other.filter(|other| !other.case.walk.blocks.is_empty()))
        };
        let known = file.damage.iter().all(|d| d.code != Code::RegionVersion);
        let new = other(3)?;
        let is_new = new.as_ref().is_some_and(|other| table_matches_sectors(&other.case));
        let old = if is_new { None } else { other(2)?.filter(|other| table_matches_sectors(&other.case)) };
        walk = old.or_else(|| new.filter(|_| known || is_new)).map(|mut other| {
            other.remark = Some("its header was damaged, and is that of the other files now");
            other
        });
    }
    // A version that no file of this layout has is a damaged byte.
    if file.header.as_ref().is_some_and(may_be_moving)
        && !walk.as_ref().is_some_and(|walk| table_matches_sectors(&walk.case))
        && let Some(found) = layout::find(source(), None, format).map_err(draft::Error::read(&path))?
        && let Some(mut other) = read(found.header, found.parts)?
        && table_matches_sectors(&other.case)
    {
        other.remark = Some(found.remark);
        walk = Some(other);
    }
    if let Some(walk) = &walk {
        draft::unchanged(walk.region.source.file(), &path)?;
    }
    Ok(walk)
}

/// Whether the header of a file is damaged, and its table fits under another layout.
pub(super) fn has_other_layout(forest: &Forest, file: &RegionFile, format: &Format) -> bool {
    let path = forest.dir.join(&file.name);
    let Some(header) = file.header.as_ref().filter(|header| !may_be_moving(header)) else { return true };
    let Ok((source, _)) = open_region(&path) else { return false };
    let found = layout::find(source, Some(header), Some(format));
    found.is_ok_and(|found| found.is_some_and(|found| found.header.format == *format))
}

/// The header of a file of version 1 or 2, when its layout is known now and was not when the save was opened.
fn again(source: &FileSource, format: Option<&Format>) -> std::io::Result<Option<Header>> {
    let mut prefix = Vec::new();
    source.read_into(0, MAX_HEADER_BYTES, &mut prefix)?;
    let header = Header::decode(&prefix, source.len(), format).report_to(&mut Vec::new());
    Ok(header.filter(|header| header.version < 3))
}

/// Whether every entry of the table leads to a whole block of its length, and there is one.
pub(super) fn table_matches_sectors(case: &Case) -> bool {
    let whole = |e: &Listing| {
        let blocks = &case.walk.blocks;
        let at = blocks.binary_search_by_key(&e.first, |block| block.first);
        at.is_ok_and(|at| blocks[at].count == e.count && blocks[at].splice.is_none())
    };
    !case.entries.is_empty() && case.entries.iter().all(whole)
}

/// Where a file whose first entries are right may go on further behind.
fn gaps(walk: &Walk<'_>) -> std::io::Result<Vec<Span>> {
    let (header, case) = (&walk.region.header, &walk.case);
    let blocks = &case.walk.blocks;
    let right = case.entries.iter().zip(blocks).take_while(|(e, b)| (e.first, e.count) == (b.first, b.count)).count();
    let from = match right.checked_sub(1).and_then(|i| case.entries.get(i)) {
        Some(last) => header.sector_span(last.first.into(), 0).start,
        None => 5,
    };
    let end = case.entries.get(right).map_or(0, |e| e.first + e.count);
    let end = header.sector_span(end.into(), 0).start.max(header.table.end);
    doubled(walk.region.source.file(), Span::new(from, end.max(from) + parts::ROOM), TRIES)
}
