//! Compares the sectors of regions with their tables: blocks that decode but belong elsewhere, torn blocks, and
//! blocks whose position is in doubt.
//!
//! A region whose table matches its sectors gets no finding. Otherwise each entry is reported whose position is not certain:
//! a wrong block without a finding is worse than a needless warning in a damaged region.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;

use crate::bytes::Span;
use crate::check::Options;
use crate::check::causes::OLD_FORMULA;
use crate::check::file_names::{
    OfFile, contradicted, contradiction, copied, in_doubt, misnamed, other_table, unsupported,
};
use crate::check::first::Glance;
use crate::damage::{Code, Damage, Value};
use crate::godot::region::Header;
use crate::godot::slots::SlotFormula;
use crate::parallel;
use crate::printable::triple;
use crate::recover::assemble::forget_inner;
use crate::recover::cluster::{Broken, Member, Sides, clusters_of, extent_of, most_blocks};
use crate::recover::decide::{Certainty, Placed, REPORTED, how_likely};
use crate::recover::explained::listed;
use crate::recover::foreign_table::{self, Instead, OwnTable};
use crate::recover::placed_seams;
use crate::recover::region::{Case, Listing};
use crate::recover::screen::Screened;
use crate::recover::slots::{self, FormulaEvidence};
use crate::recover::solutions::solve_once;
use crate::recover::solved::Solved;
use crate::recover::survey;
use crate::recover::torn_table::Split;
use crate::recover::walk;
use crate::recover::weights::Weights;
use crate::save::{File, Forest, Kind, Region, RegionFile, Save, Scratch};
use crate::source::FileSource;

/// Entries from which on regions are walked one at a time, so that threads do not hold several of them in memory.
const LARGE: u64 = 1 << 15;

/// The least probability at which a block counts as saved after the table was written.
const SAVED_SINCE: f64 = 0.2;

/// A finding about one entry.
pub(super) struct Doubt {
    pub position: Option<[i32; 3]>,
    pub damage: Damage,
    pub remark: Option<String>,
    /// Whether it adds nothing to an error of the same block.
    pub weak: bool,
}

/// Findings of one file.
#[derive(Default)]
pub(super) struct FileDoubts {
    pub listed: Vec<Doubt>,
    /// How many more there are than are listed, by code.
    pub more: BTreeMap<Code, u64>,
}

/// Findings of all files.
#[derive(Default)]
pub(super) struct Doubts {
    /// By the numbers of the region files.
    by_file: HashMap<u32, FileDoubts>,
    /// Blocks that are not decided within the budget of the solver.
    pub undecided: u64,
}

/// A region that is solved, or that is next to one.
struct Opened<'s> {
    file: &'s RegionFile,
    near: bool,
    header: Header,
    /// What its blocks are read from again, if its name is in doubt.
    source: Option<FileSource>,
    case: Case,
    split: Option<Split>,
    /// Its own table, if its blocks are placed by that of another file.
    own_table: Option<OwnTable>,
}

impl Doubt {
    /// Whether it is about the file as a whole.
    pub fn is_of_file(&self) -> bool {
        matches!(self.damage.code, Code::SlotsTold | Code::RegionMisnamed | Code::RegionCopied | Code::TableForeign)
    }
}

impl Doubts {
    /// The findings of a file, if there are any.
    pub fn in_file(&self, file: File<'_>) -> Option<&FileDoubts> {
        let File::Region(_, file) = file else { return None };
        self.by_file.get(&file.number).filter(|doubts| !doubts.listed.is_empty())
    }
}

impl FileDoubts {
    /// Blocks that the table leads to and that belong elsewhere, or may.
    pub fn misplaced(&self) -> u64 {
        const CODES: [Code; 2] = [Code::BlockMisplaced, Code::PlaceDoubt];
        let listed = self.listed.iter().filter(|doubt| CODES.contains(&doubt.damage.code) && !doubt.weak).count();
        listed as u64 + CODES.iter().filter_map(|code| self.more.get(code)).sum::<u64>()
    }

    /// Blocks to which no table leads, without those that begin where they are counted already.
    pub fn unowned(&self, is_counted: impl Fn(u64) -> bool) -> u64 {
        let unowned = self.listed.iter().filter(|doubt| doubt.damage.code == Code::BlockOwnerless);
        let listed = unowned.filter(|doubt| !is_counted(doubt.damage.span.start)).count();
        listed as u64 + self.more.get(&Code::BlockOwnerless).unwrap_or(&0)
    }

    /// The finding that the file has the name of another one.
    pub fn misnamed(&self) -> Option<&Damage> {
        self.listed.iter().map(|doubt| &doubt.damage).find(|damage| damage.code == Code::RegionMisnamed)
    }

    /// Adds findings, of which no more are kept than a file lists.
    fn extend(&mut self, doubts: impl IntoIterator<Item = Doubt>, cap: usize) {
        for doubt in doubts {
            if self.listed.len() < cap {
                self.listed.push(doubt);
            } else if !doubt.weak {
                *self.more.entry(doubt.damage.code).or_default() += 1;
            }
        }
    }
}

/// Walks the regions of a save, except those whose tables match their sectors, and solves the positions of their blocks.
/// Regions that cannot be read are skipped: other rules report them.
pub(super) fn find_doubts(save: &Save, options: &Options<'_>, glance: &Glance) -> Doubts {
    let mut doubts = Doubts::default();
    save.forests.iter().for_each(|forest| doubts.add_forest(save, forest, options, glance));
    doubts
}

/// The same for the regions of one forest.
pub(super) fn find_doubts_of(save: &Save, forest: &Forest, options: &Options<'_>, glance: &Glance) -> Doubts {
    let mut doubts = Doubts::default();
    doubts.add_forest(save, forest, options, glance);
    doubts
}

impl Doubts {
    /// Adds what is in doubt about the regions of a forest. A file of one block leaves no doubt about its place.
    fn add_forest(&mut self, save: &Save, forest: &Forest, options: &Options<'_>, glance: &Glance) {
        if forest.kind == Kind::BlockFiles {
            return;
        }
        let cap = save.options.limits.findings_per_file;
        let files: Vec<&RegionFile> = forest.regions.iter().collect();
        if let Some((number, doubt)) = slots(save, forest, options) {
            self.by_file.entry(number).or_default().listed.push(doubt);
        }
        let mut broken = find_broken(save, forest, &files, options, glance);
        let member = |i: usize| Member::new(files[i], broken[i].as_deref(), glance.has_exchanged(files[i]));
        let clusters = clusters_of(files.len(), member);
        let mut doubtful = if clusters.is_empty() { HashSet::new() } else { in_doubt(forest, glance) };
        let by_other = |(file, broken): (&&RegionFile, &Option<Box<Broken>>)| {
            let table = broken.as_deref()?.table_of?;
            Some((file.number, other_table(save, forest, &table, files[table.index])))
        };
        let foreign: Vec<(u32, OfFile)> = files.iter().zip(&broken).filter_map(by_other).collect();
        // The blocks of a region with the table of another one may as well be those of that region.
        let by_other =
            files.iter().zip(&broken).filter(|(_, broken)| broken.as_deref().is_some_and(Broken::has_other_table));
        let by_other: HashSet<u32> = by_other.map(|(file, _)| file.number).collect();
        doubtful.extend(&by_other);
        // The seams of damaged regions in doubt, with their blocks where they belong.
        let mut placed: HashMap<u32, Screened> = HashMap::new();
        // What files say of each other's places is asked once.
        let is_whole = clusters.len() == 1;
        for cluster in clusters {
            if options.cancelled() {
                break;
            }
            let extents: Vec<_> = cluster.solved.iter().filter_map(|&i| extent_of(files[i])).collect();
            let sides = |i: usize, near| if near { Sides::AtBorder(&extents) } else { Sides::Of(broken[i].as_deref()) };
            let solved = cluster.solved.iter().map(|&i| (i, false));
            let opened: Vec<(usize, bool)> = solved.chain(cluster.near.iter().map(|&i| (i, true))).collect();
            let mut opened = parallel::filter_map(&opened, |&(i, near)| {
                let table = broken[i].as_deref().and_then(|broken| broken.table_of);
                let table = table.as_ref().map(|table| table.instead(files[table.index]));
                let (region, case, own_table) = open(save, forest, files[i], table, sides(i, near), options)?;
                let split = if near { None } else { Split::find(&region, &case) };
                // A cluster may have more regions than a process may have open files.
                region.source.close();
                let source = (!near && doubtful.contains(&files[i].number)).then_some(region.source);
                Some(Opened { file: files[i], near, header: region.header, source, case, split, own_table })
            });
            opened.sort_by_key(|of| (of.file.lod, of.file.position));
            forget_inner(opened.iter_mut().map(|of| &mut of.case));
            let members: Vec<survey::Member<'_>> = opened
                .iter()
                .map(|of| survey::Member { case: &of.case, split: of.split.as_ref(), near: of.near })
                .collect();
            let effort = options.effort.factor();
            let solved = solve_once(&members, &Weights::default(), effort, &options.watch, options.solutions);
            let solved: Vec<Cow<'_, Solved>> =
                opened.iter_mut().zip(&*solved).map(|(of, solved)| of.by_own_table(solved)).collect();
            for (of, solved) in opened.iter().zip(&solved) {
                self.undecided += solved.undecided as u64;
                if let Some(source) = &of.source
                    && of.is_judged(solved)
                    && !options.cancelled()
                {
                    let seams = placed_seams::screen_placed(source, &of.header, &of.case, solved, &save.options.limits);
                    source.close();
                    if let Ok(Some(mut seams)) = seams {
                        seams.shorten(files.len());
                        placed.insert(of.file.number, seams);
                    }
                }
            }
            let mut doubted = unsupported(forest, glance, &placed, &by_other);
            if is_whole {
                doubted.extend(contradicted(forest, glance, &placed));
            }
            for (of, solved) in opened.iter().zip(&solved) {
                if of.is_judged(solved) && !options.cancelled() {
                    let is_doubted = doubted.contains(&of.file.number);
                    let solved = if is_doubted { &solved.at_most_likely() } else { &**solved };
                    let doubts = self.by_file.entry(of.file.number).or_default();
                    judge(&of.header, &of.case, solved, cap, doubts);
                }
            }
            for i in cluster.solved {
                if let Some(broken) = &mut broken[i] {
                    broken.needed = None;
                }
            }
        }
        let contradicted = contradicted(forest, glance, &placed).into_iter().map(|number| (number, contradiction()));
        let others = copied(save, forest, glance).into_iter().chain(misnamed(forest, glance, &placed)).chain(foreign);
        for (number, (damage, remark)) in contradicted.chain(others) {
            let doubt = Doubt { position: None, damage, remark: Some(remark), weak: false };
            // The finding about the file comes before those about its blocks.
            self.by_file.entry(number).or_default().listed.insert(0, doubt);
        }
    }
}

impl Opened<'_> {
    /// What was found, by the table of its own file.
    fn by_own_table<'s>(&mut self, solved: &'s Solved) -> Cow<'s, Solved> {
        match self.own_table.take() {
            Some(table) => Cow::Owned(foreign_table::restore(&mut self.case, table, solved)),
            None => Cow::Borrowed(solved),
        }
    }

    /// Whether something may be in doubt about its blocks.
    fn is_judged(&self, solved: &Solved) -> bool {
        !self.near && (!self.case.is_intact() || solved.is_contradicted())
    }
}

/// Which regions do not fit their sectors. No sides are kept yet: most files are not damaged.
fn find_broken(
    save: &Save,
    forest: &Forest,
    files: &[&RegionFile],
    options: &Options<'_>,
    glance: &Glance,
) -> Vec<Option<Box<Broken>>> {
    let one = |file: &RegionFile| {
        let walked =
            if glance.is_explained(file) { None } else { open(save, forest, file, None, Sides::None, options) };
        options.advance(file.len);
        let (region, case, _) = walked.filter(|(_, case, _)| !case.is_intact())?;
        Some(Box::new(Broken::new(&case, region.header.format)))
    };
    let small = |file: &RegionFile| most_blocks(file) < LARGE;
    let mut found = parallel::map(files, |file| small(file).then(|| one(file)));
    let mut found: Vec<Option<Box<Broken>>> =
        files.iter().zip(&mut found).map(|(file, found)| found.take().unwrap_or_else(|| one(file))).collect();
    let broken: Vec<Option<&Broken>> = found.iter().map(Option::as_deref).collect();
    let walk = |i: usize, other: Option<usize>| {
        let table = other.map(|other| Instead::Table(files[other]));
        let walked = open(save, forest, files[i], table, Sides::None, options);
        Ok::<_, Infallible>(walked.map(|(_, case, _)| case))
    };
    let by_other = foreign_table::find(&broken, walk, |i| foreign_table::hash_of_file(save, forest, files[i]));
    let Ok(by_other) = by_other;
    by_other.into_iter().for_each(|(i, broken)| found[i] = Some(Box::new(broken)));
    found
}

/// The slot formula of blocks with negative coordinates, if seams show it; reported for the first file that has such blocks.
fn slots(save: &Save, forest: &Forest, options: &Options<'_>) -> Option<(u32, Doubt)> {
    let evidence = match options.formula {
        Some(evidence) => evidence,
        None => &slots::infer_formula(save, forest, &|| options.cancelled()),
    };
    let &FormulaEvidence::Seams { slots, seams, odds } = evidence else { return None };
    let file = forest.regions.iter().find(|file| file.position.iter().any(|&p| p < 0))?;
    let span = file.header.as_ref().map_or_else(Span::default, |header| header.table);
    let words = match slots {
        SlotFormula::Legacy => OLD_FORMULA,
        SlotFormula::Euclidean => Value::Words("the new formula"),
    };
    let found = Damage::new(Code::SlotsTold, span, "slots of negative coordinates").found(words);
    let remark = format!("{seams} seams were compared; the average odds are {:.1} to 1 per seam", odds.abs().exp());
    Some((file.number, Doubt { position: None, damage: found, remark: Some(remark), weak: false }))
}

/// Opens a region and walks over it, by what is given in place of its own table, if anything is.
fn open(
    save: &Save,
    forest: &Forest,
    file: &RegionFile,
    instead: Option<Instead<'_>>,
    sides: Sides<'_>,
    options: &Options<'_>,
) -> Option<(Region<FileSource>, Case, Option<OwnTable>)> {
    if options.cancelled() {
        return None;
    }
    let mut region = save.region(forest, file).ok()??;
    if region.header.table.end > file.len {
        return None;
    }
    let slots = region.slots(&mut Scratch::default()).ok()?;
    let (case, own) = foreign_table::read(save, forest, &mut region, instead, slots, sides).ok()?;
    Some((region, case, own))
}

/// Adds what is in doubt about the blocks of a solved region.
fn judge(header: &Header, case: &Case, solved: &Solved, cap: usize, doubts: &mut FileDoubts) {
    if solved.as_listed {
        return;
    }
    let placed: HashMap<u32, Placed> = solved.placed.iter().map(|p| (p.slot, *p)).collect();
    // Where each content belongs, by slot.
    let mut owners: HashMap<u128, Vec<Placed>> = HashMap::new();
    for p in solved.placed.iter().filter(|p| p.p >= REPORTED) {
        owners.entry(case.content(p.block)).or_default().push(*p);
    }
    let entries = case.entries.iter().enumerate();
    let each =
        entries.filter_map(|(i, e)| doubt(header, case, solved, e, placed.get(&e.slot), solved.is_torn(i), &owners));
    doubts.extend(each, cap);
    doubts.extend(placed_by_seams(header, case, solved, &placed), cap);
    doubts.extend(unowned(header, case, solved, &placed), cap);
}

/// Whole blocks to which no entry leads: saved since the table was written and nobody's, or there a second time.
fn unowned(header: &Header, case: &Case, solved: &Solved, placed: &HashMap<u32, Placed>) -> Vec<Doubt> {
    let blocks = &case.walk.blocks;
    let mut likely: Vec<&Placed> = placed.values().filter(|p| p.certainty >= Certainty::Likely).collect();
    // Of several owners of the same content, a finding names the one of the lowest slot, not that of the map's order.
    likely.sort_unstable_by_key(|p| p.slot);
    let mut owned: HashMap<u128, Vec<Placed>> = HashMap::new();
    likely.iter().for_each(|p| owned.entry(case.content(p.block)).or_default().push(**p));
    // Positions that the findings of entries name for these blocks, although they are not likely enough.
    let mut weak: Vec<&Placed> =
        placed.values().filter(|p| p.p >= REPORTED && p.certainty < Certainty::Likely).collect();
    weak.sort_unstable_by(|a, b| b.p.total_cmp(&a.p).then(a.slot.cmp(&b.slot)));
    let mut copies: HashMap<u128, usize> = HashMap::new();
    blocks.iter().for_each(|block| *copies.entry(block.content).or_default() += 1);
    // The finding of the entry that points to a block suffices, unless the block is a second copy of its own block.
    let listed_by: HashMap<usize, u32> = case.entries.iter().filter_map(|e| Some((listed(case, e)?, e.slot))).collect();
    let taken: HashSet<usize> = likely.iter().map(|p| p.block).collect();
    // Copies of blocks after the last owned block are an old tail.
    let end = likely.iter().filter_map(|p| blocks.get(p.block)).map(walk::Walked::end).max().unwrap_or(0);
    let saved = |b: usize| solved.appended.get(b).is_some_and(|p| *p > SAVED_SINCE);
    let doubt = |(b, block): (usize, &walk::Walked)| {
        let owners = owned.get(&block.content).map_or(&[][..], Vec::as_slice);
        let slot = listed_by.get(&b);
        let (code, position, remark) = match (owners, slot) {
            ([owner, ..], _) => {
                let own = owners.iter().find(|owner| Some(&owner.slot) == slot);
                let more = copies.get(&block.content).is_some_and(|n| *n > owners.len());
                if block.first >= end || !more || (slot.is_some() && own.is_none()) {
                    return None;
                }
                let owner = own.unwrap_or(owner);
                let sector = blocks.get(owner.block).map_or(0, |own| own.first);
                let remark = format!("The copy in use is at sector {sector}.");
                (Code::BlockDoubled, Some(owner.position), Some(remark))
            }
            ([], None) if saved(b) || block.first < case.table_end() => {
                let weak = weak.iter().find(|p| p.block == b);
                let remark =
                    weak.map(|p| format!("It may belong to {} ({}).", triple(p.position), evidence(p, solved)));
                (Code::BlockOwnerless, None, remark)
            }
            _ => return None,
        };
        let span = header.sector_span(block.first.into(), block.count.into());
        let damage = Damage::new(code, span, "first sector of the block").found(Value::Number(block.first.into()));
        Some(Doubt { position, damage, remark, weak: false })
    };
    blocks.iter().enumerate().filter(|(b, _)| !taken.contains(b)).filter_map(doubt).collect()
}

fn doubt(
    header: &Header,
    case: &Case,
    solved: &Solved,
    entry: &Listing,
    placed: Option<&Placed>,
    torn: bool,
    owners: &HashMap<u128, Vec<Placed>>,
) -> Option<Doubt> {
    let here = listed(case, entry);
    let likely = placed.filter(|p| p.p >= REPORTED);
    let same = |p: &Placed| here.is_some_and(|b| case.content(b) == case.content(p.block));
    let block = likely.and_then(|p| case.walk.blocks.get(p.block).map(|block| (p, block)));
    let stands = block.map(|(p, block)| {
        format!("The block of this position is at sector {} ({}).", block.first, evidence(p, solved))
    });
    let (code, remark) = match (block, here) {
        (Some((p, _)), Some(_)) if same(p) && p.certainty == Certainty::Certain => return None,
        (Some((p, _)), Some(_)) if same(p) => {
            (Code::PlaceDoubt, Some(format!("It is the likeliest block for this position ({}).", evidence(p, solved))))
        }
        (Some((_, block)), _) if block.splice.is_some() => (Code::BlockHalfMoved, stands),
        (stood, Some(b)) => match owners.get(&case.content(b)).map(Vec::as_slice).unwrap_or_default() {
            all if all.iter().any(|owner| owner.slot != entry.slot) => {
                // Where several have the same content, it belongs to one of them only if that is this very block.
                let alone = match all {
                    [owner] => Some(owner),
                    _ => all.iter().find(|owner| owner.block == b),
                };
                let own = alone.filter(|owner| owner.slot != entry.slot);
                let own =
                    own.map(|owner| format!("It belongs to {} ({}).", triple(owner.position), evidence(owner, solved)));
                let remark = [own, stands].into_iter().flatten().collect::<Vec<_>>().join(" ");
                (Code::BlockMisplaced, Some(remark).filter(|remark| !remark.is_empty()))
            }
            _ if stood.is_some() => (Code::BlockMisplaced, stands),
            _ => (Code::PlaceDoubt, None),
        },
        (Some(_), None) => (Code::BlockMoved, stands),
        // `table-beyond-end` reports such entries past the end of the file: no part of their blocks is there.
        (None, None) if torn && entry.first < case.walk.sectors => (Code::BlockTorn, None),
        (None, None) if torn => return None,
        (None, None) => (Code::PlaceDoubt, Some("There is no whole block at this sector.".to_owned())),
    };
    let span = header.sector_span(entry.first.into(), entry.count.into());
    let damage = Damage::new(code, span, "first sector of the block").found(Value::Number(entry.first.into()));
    let weak = block.is_none() && here.is_none() && code != Code::BlockTorn;
    Some(Doubt { position: Some(entry.position), damage, remark, weak })
}

/// Blocks that no entry points to and whose places the seams give.
fn placed_by_seams(header: &Header, case: &Case, solved: &Solved, placed: &HashMap<u32, Placed>) -> Vec<Doubt> {
    let slots: HashSet<u32> = case.entries.iter().map(|entry| entry.slot).collect();
    // Another table's entry that leads to a block has a finding of its own, which names the position of the block.
    let led_to = case.entries.iter().filter(|_| solved.by_other_table).filter_map(|entry| listed(case, entry));
    let led_to: HashSet<usize> = led_to.collect();
    let mut new: Vec<&Placed> =
        placed.values().filter(|p| p.certainty >= Certainty::Likely && !slots.contains(&p.slot)).collect();
    new.retain(|p| !led_to.contains(&p.block));
    new.sort_by_key(|p| p.slot);
    let doubt = |p: &Placed| {
        let block = case.walk.blocks.get(p.block)?;
        let span = header.sector_span(block.first.into(), block.count.into());
        let damage = Damage::new(Code::BlockOwnerless, span, "first sector of the block")
            .found(Value::Number(block.first.into()));
        let remark = format!("It belongs to {}: {}.", triple(p.position), evidence(p, solved));
        Some(Doubt { position: Some(p.position), damage, remark: Some(remark), weak: false })
    };
    new.into_iter().filter_map(doubt).collect()
}

/// How likely a place is, and by what, in words.
fn evidence(placed: &Placed, solved: &Solved) -> String {
    let by = match () {
        () if solved.by_other_table => "by the table that fits the blocks",
        () if placed.moved => "its borders match those of its neighbours",
        () => "from the order of the blocks in the file and the borders with the neighbours",
    };
    if placed.certainty == Certainty::Certain {
        return format!("certain: {by}");
    }
    // Never print more than the solver can know; what counts as likely begins at 98 %.
    let most = if placed.certainty < Certainty::Likely { 0.979 } else { 1.0 };
    format!("{}: {by}", how_likely(placed.p.min(most)))
}
