//! Decides which row is written at which position.

use std::collections::{HashMap, HashSet};

use crate::damage::Code;
use crate::draft;
use crate::godot::stream::loc::{KeyRule, Place};
use crate::godot::stream::meta::Meta;
use crate::limits::Limits;
use crate::repair::decision::Origin;
use crate::repair::stream::examine::{BlobFault, Seen, SeenRows, State, Stored, Usual};
use crate::repair::stream::keys::{self, Reading};
use crate::repair::stream::plain::PlainRows;
use crate::repair::stream::wrong_keys::WrongKeys;
use crate::repair::stream::{LostPart, LostRow, Older, Part, StreamDecision, StreamPlan};
use crate::repair::{Certainty, Error, KeptReason, Options, RowReason};
use crate::save::{Blob, Stream, StreamScratch};
use crate::source::FileSource;
use crate::sqlite::walk;

const STALE: &str = "it is on a page that no table has, and may be an older state";
const SHARED: &str = "another row has some of its pages";
const MISPLACED: &str = "its number is out of order, so that its key may be damaged";
const SEVERAL: &str = "several rows have its place, and which is right is not known";
const OTHER: &str = "another row of its place is the one that the game reads";
const BETTER: &str = "another row of its place is whole";
const UNSURE_KEY: &str =
    "its key was that of another block, and its borders do not show for certain which one is its own";

/// The inputs of the decision about a stream.
pub(super) struct Deciding<'d> {
    pub stream: &'d Stream<FileSource>,
    pub seen: &'d SeenRows,
    /// Rows that are written as they are and need no decision.
    pub plain: &'d PlainRows,
    /// Rows with the keys of other blocks.
    pub wrong_keys: &'d WrongKeys,
    pub meta: Meta,
    pub usual: &'d Usual,
    pub options: &'d Options<'d>,
    pub limits: &'d Limits,
}

/// A row that may be written at a position.
#[derive(Clone, Copy)]
struct Claim {
    row: u32,
    /// 0: a row that the game finds there; 1: a row of its table; above: a row on a page without a table.
    rank: u8,
    certainty: Certainty,
    /// Why it is not more certain.
    doubt: &'static str,
    /// What was wrong with its key.
    why: Option<RowReason>,
    origin: Origin,
}

impl Deciding<'_> {
    /// Fills in what is done with each row.
    pub fn decide(&self, plan: &mut StreamPlan) -> Result<(), Error> {
        let mut claims: Vec<(Place, Claim)> = Vec::new();
        let mut unowned = Vec::new();
        let mut bare = Vec::new();
        for (number, seen) in self.seen.iter() {
            if !seen.readable {
                self.lose(plan, number, LostPart::Row, "it cannot be read", None);
                continue;
            }
            let (place, why) = match self.by_rule(seen, self.read(seen)) {
                Reading::Exact(place) => (place, None),
                Reading::Meant(place, why) => (place, Some(why)),
                Reading::Nothing(why) => {
                    unowned.push((number, why));
                    continue;
                }
            };
            if self.stream.rule == KeyRule::Old
                && place.lod > 0
                && seen.voxels == State::Null
                && seen.instances.is_read()
            {
                bare.push((place, number));
                continue;
            }
            // Seams were compared at the places that the keys have by the settings of the stream.
            let moved = self.wrong_keys.place(number).filter(|_| self.meta.format == self.stream.format);
            let (place, why) = moved.map_or((place, why), |(place, _)| (place, Some(RowReason::WrongKey)));
            match self.claim(number, why) {
                Some(claim) if moved.is_some_and(|(_, certainty)| certainty < claim.certainty) => {
                    claims.push((place, Claim { certainty: Certainty::Likely, doubt: UNSURE_KEY, ..claim }));
                }
                Some(claim) => claims.push((place, claim)),
                None => self.lose(plan, number, LostPart::Row, STALE, Some(place)),
            }
        }
        self.matched(plan, unowned, &mut claims)?;
        claims.sort_unstable_by_key(|(place, claim)| (*place, claim.row));
        let mut places: Vec<Place> = Vec::new();
        for claimed in claims.chunk_by(|a, b| a.0 == b.0) {
            self.options.go_on()?;
            let Some(&(place, _)) = claimed.first() else { continue };
            places.push(place);
            if let Some(claim) = self.choose(plan, place, claimed.iter().map(|(_, claim)| *claim).collect()) {
                self.write(plan, place, claim)?;
            }
        }
        drop(claims);
        self.instances_by_key(plan, bare);
        self.missing(plan, &places);
        self.older(plan)?;
        plan.rows.sort_by_key(|row| row.place);
        plan.missing.sort_unstable();
        plan.missing.dedup_by_key(|(place, _)| *place);
        plan.lost.sort_by_key(|lost| (lost.row, lost.part));
        Ok(())
    }

    /// Reads the key of a row. If the settings allow several formats, no key is corrected.
    fn read(&self, seen: &Seen) -> Reading {
        match (self.meta.format, self.stream.format) {
            (Some(format), _) => keys::read(format, seen.key.as_key()),
            (None, Some(format)) => match keys::read(format, seen.key.as_key()) {
                Reading::Exact(place) => Reading::Exact(place),
                _ => Reading::Nothing("nothing shows how keys are written"),
            },
            (None, None) => Reading::Nothing("nothing shows how keys are written"),
        }
    }

    /// The position of a row by the rule of the stream; rows without voxels have that of their key.
    fn by_rule(&self, seen: &Seen, reading: Reading) -> Reading {
        let key = match reading {
            Reading::Exact(key) | Reading::Meant(key, _) => key,
            Reading::Nothing(_) => return reading,
        };
        if self.stream.rule == KeyRule::New || key.lod == 0 || seen.voxels == State::Null {
            return reading;
        }
        match (KeyRule::Old.place(key), reading) {
            // A newer engine wrote it: no block has such a key by the rule of 2021.
            (None, _) => reading,
            (Some(place), Reading::Meant(_, why)) => Reading::Meant(place, why),
            (Some(place), _) if place == key => reading,
            (Some(place), _) => Reading::Meant(place, RowReason::OldRule),
        }
    }

    /// Whether a table lost pages, so that rows on pages without a table may belong to it.
    fn has_gaps(&self) -> bool {
        use Code::{StreamCut, StreamHeader, StreamNotDatabase, StreamShifted, StreamTable};
        let codes = [StreamNotDatabase, StreamHeader, StreamCut, StreamTable, StreamShifted];
        self.stream.damage.iter().any(|d| codes.contains(&d.code) || walk::hides_cells(d))
    }

    /// Keeps a row, or a part of one, in `lost+found`; `why` in words.
    fn lose(&self, plan: &mut StreamPlan, row: u32, part: LostPart, why: &'static str, place: Option<Place>) {
        self.keep(plan, row, part, KeptReason::Row(why), place);
    }

    fn keep(&self, plan: &mut StreamPlan, row: u32, part: LostPart, why: KeptReason, place: Option<Place>) {
        let page = self.stream.rows.get(row as usize).map_or(0, |row| row.page);
        plan.lost.push(LostRow { row, page, part, why, place });
    }

    /// The position that a row claims; `None` if it may have been deleted.
    fn claim(&self, number: u32, why: Option<RowReason>) -> Option<Claim> {
        let row = self.stream.rows.get(number as usize);
        let (lost, misplaced) = row.map_or((true, false), |row| (row.lost, row.misplaced));
        let shared = self.seen.get(number).is_some_and(|seen| seen.shared);
        let free_pages = self.stream.damage.iter().any(|d| d.code == Code::StreamFreelist);
        if lost && !self.has_gaps() {
            return None;
        }
        let (certainty, doubt) = match (lost && free_pages, shared) {
            (false, false) if misplaced => (Certainty::Likely, MISPLACED),
            (false, false) => (Certainty::Certain, ""),
            (true, _) => (Certainty::Likely, STALE),
            (false, true) => (Certainty::Likely, SHARED),
        };
        // A key of the old rule is what the game of its time wrote. The game does not find a row that is out of order.
        let rank = u8::from(lost) * 2 + u8::from(misplaced || why.is_some_and(|why| why != RowReason::OldRule));
        Some(Claim { row: number, rank, certainty, doubt, why, origin: Origin::Found })
    }

    /// Whether a part of a row can be used unchanged.
    fn is_whole(&self, claim: &Claim) -> bool {
        let Some(seen) = self.seen.get(claim.row) else { return false };
        match self.voxels(seen) {
            State::Null => matches!(seen.instances, State::Null | State::Whole | State::Odd),
            voxels => voxels.is_read(),
        }
    }

    /// The state of a row's block, including its size compared with the stream's.
    fn voxels(&self, seen: &Seen) -> State {
        match (seen.voxels, self.meta.block_size()) {
            (state, Some(side)) if state.is_read() && seen.side != side => State::Broken(BlobFault::Size),
            (state, _) => state,
        }
    }

    /// Decides the row of a position; the others go to `lost+found`.
    fn choose(&self, plan: &mut StreamPlan, place: Place, mut all: Vec<Claim>) -> Option<Claim> {
        all.sort_by_key(|claim| (claim.rank, claim.row));
        // Byte-identical rows count as one.
        let mut claims: Vec<Claim> = Vec::new();
        let mut contents: HashMap<u128, usize> = HashMap::new();
        for claim in all {
            let content = self.seen.get(claim.row).map_or(0, |seen| seen.content);
            match contents.get(&content).and_then(|at| claims.get_mut(*at)) {
                Some(other) => {
                    plan.doubled += 1;
                    other.certainty = other.certainty.max(claim.certainty);
                }
                None => {
                    contents.insert(content, claims.len());
                    claims.push(claim);
                }
            }
        }
        let whole: Vec<Claim> = claims.iter().copied().filter(|claim| self.is_whole(claim)).collect();
        let found: Vec<&Claim> = whole.iter().filter(|claim| claim.rank == 0).collect();
        let (chosen, others) = match (claims.as_slice(), whole.as_slice(), found.as_slice()) {
            ([one], ..) => (Some(*one), ""),
            (_, [one], _) => (Some(*one), BETTER),
            (_, _, [one]) => (Some(**one), OTHER),
            (_, [first, ..], _) => (Some(Claim { certainty: Certainty::Likely, doubt: SEVERAL, ..*first }), SEVERAL),
            _ => (None, SEVERAL),
        };
        let sure = chosen.filter(|claim| claim.certainty >= self.options.least());
        let doubt = chosen.map_or(others, |claim| claim.doubt);
        if sure.is_none() {
            plan.missing.push((place, doubt));
        }
        for claim in &claims {
            if chosen.is_none_or(|chosen| chosen.row != claim.row) {
                self.lose(plan, claim.row, LostPart::Row, others, Some(place));
            } else if sure.is_none() {
                self.lose(plan, claim.row, LostPart::Row, doubt, Some(place));
            }
        }
        sure
    }

    /// Decides what of a row is written.
    fn write(&self, plan: &mut StreamPlan, place: Place, claim: Claim) -> Result<(), Error> {
        let (Some(row), Some(seen)) = (self.stream.rows.get(claim.row as usize), self.seen.get(claim.row)) else {
            return Ok(());
        };
        let Claim { row: number, certainty, mut why, mut origin, .. } = claim;
        let mut voxels = Part::Kept;
        let state = self.voxels(seen);
        if let State::Odd | State::Broken(_) = state {
            let (part, lost, salvaged) = self.mended(plan, place, number, state)?;
            voxels = part;
            if let Some(lost) = lost {
                self.keep(plan, number, LostPart::Voxels, lost, Some(place));
            }
            if salvaged {
                origin = Origin::Salvaged;
            }
            if matches!(voxels, Part::Mended(_)) {
                why = why.or(Some(RowReason::Other("its block was against the format")));
            }
        }
        let mut instances = Part::Kept;
        if let State::Broken(broken) = seen.instances {
            instances = Part::LeftOut;
            why = why.or(Some(RowReason::Other("its instances were damaged")));
            origin = Origin::Salvaged;
            self.lose(plan, number, LostPart::Instances, broken.words(), Some(place));
        }
        if instances == Part::Kept && seen.rewrap_instances {
            instances = Part::Mended(Box::default());
            why = why.or(Some(RowReason::Other("its instances were against the format")));
            self.keep(plan, number, LostPart::Instances, KeptReason::Rewritten, Some(place));
        }
        if voxels == Part::LeftOut {
            let broken = if let State::Broken(fault) = state { fault.words() } else { "its block is damaged" };
            plan.missing.push((place, broken));
            why = Some(RowReason::Other("its block was damaged, its instances are kept"));
            if instances == Part::LeftOut || seen.instances == State::Null {
                return Ok(());
            }
        }
        if seen.broken {
            why = why.or(Some(RowReason::Other("the chain of its pages was damaged")));
        }
        if row.lost {
            why = why.or(Some(RowReason::Other("its table did not lead to it any more")));
        } else if certainty < Certainty::Certain {
            why = why.or(Some(RowReason::Other(claim.doubt)));
        }
        plan.rows.push(StreamDecision {
            place,
            row: Some(number),
            page: row.page,
            origin,
            certainty,
            why,
            voxels,
            instances,
        });
        Ok(())
    }

    /// Moves instances above LOD 0 to the position of their key, where the voxels of their row have another position by the
    /// rule of the stream.
    fn instances_by_key(&self, plan: &mut StreamPlan, bare: Vec<(Place, u32)>) {
        if self.stream.rule == KeyRule::New {
            return;
        }
        let rest = bare.into_iter().map(|(place, number)| {
            let page = self.stream.rows.get(number as usize).map_or(0, |row| row.page);
            (place, number, page, Certainty::Certain)
        });
        let mut apart: Vec<(Place, u32, u32, Certainty)> = rest.collect();
        for decision in plan.rows.iter_mut().filter(|d| d.place.lod > 0 && d.instances == Part::Kept) {
            let Some((number, seen)) = decision.row.and_then(|n| Some((n, self.seen.get(n)?))) else {
                continue;
            };
            let (Reading::Exact(key) | Reading::Meant(key, _)) = self.read(seen) else { continue };
            if seen.voxels != State::Null && seen.instances.is_read() && key != decision.place {
                decision.instances = Part::LeftOut;
                apart.push((key, number, decision.page, decision.certainty));
            }
        }
        let mut at: HashMap<Place, usize> = plan.rows.iter().enumerate().map(|(i, row)| (row.place, i)).collect();
        for (place, number, page, certainty) in apart {
            let has_none = |row: &StreamDecision| {
                row.instances == Part::LeftOut
                    || row.row.and_then(|n| self.seen.get(n)).is_none_or(|seen| seen.instances == State::Null)
            };
            match at.get(&place).and_then(|i| plan.rows.get_mut(*i)) {
                Some(row) if has_none(row) => row.instances = Part::Other(number),
                Some(_) => self.lose(plan, number, LostPart::Instances, OTHER, Some(place)),
                None => {
                    at.insert(place, plan.rows.len());
                    plan.rows.push(StreamDecision {
                        place,
                        row: None,
                        page,
                        origin: Origin::Found,
                        certainty,
                        why: Some(RowReason::OldRule),
                        voxels: Part::LeftOut,
                        instances: Part::Other(number),
                    });
                }
            }
        }
    }

    /// How a block that is not whole is written, why its bytes are kept, and whether parts of it are filled.
    fn mended(
        &self,
        plan: &StreamPlan,
        place: Place,
        number: u32,
        state: State,
    ) -> Result<(Part, Option<KeptReason>, bool), Error> {
        let left_out = |why| Ok((Part::LeftOut, Some(KeptReason::Row(why)), false));
        let (Some(row), Some(seen)) = (self.stream.rows.get(number as usize), self.seen.get(number)) else {
            return left_out("it cannot be read");
        };
        let mut scratch = StreamScratch::default();
        self.stream.fetch(&row, &mut scratch).map_err(draft::Error::read(&plan.path))?;
        let stored = self.stream.voxel_bytes(&scratch).zip(self.meta.block_size_po2);
        let (depths, order) = (&self.usual.depths, self.stream.byte_order());
        let stored = stored.map(|(bytes, po2)| Stored::new(bytes, po2, depths, order, self.limits));
        let State::Broken(fault) = state else {
            let mend = stored.and_then(|stored| stored.set_right(self.limits));
            return Ok(match mend {
                Some(mend) => (Part::Mended(Box::new(mend)), Some(KeptReason::Rewritten), false),
                None => (Part::Kept, None, false),
            });
        };
        let cut = !scratch.is_whole();
        if seen.refused || seen.shared || fault == BlobFault::Size {
            return left_out(fault.words());
        }
        let mend = stored.and_then(|stored| stored.salvage(cut, &self.usual.common, self.limits));
        // The backup has all of it, possibly in an older state.
        let held = plan.backup.as_deref().is_some_and(|older| older.places.contains(&place));
        match mend {
            Some(mend) if mend.filled.is_empty() && mend.metadata => {
                Ok((Part::Mended(Box::new(mend)), Some(KeptReason::Rewritten), false))
            }
            Some(mend) if !held => Ok((Part::Mended(Box::new(mend)), Some(KeptReason::Row(fault.words())), true)),
            _ => left_out(fault.words()),
        }
    }

    /// Rows without a valid key: the backup may have the same block at exactly one position.
    fn matched(
        &self,
        plan: &mut StreamPlan,
        unowned: Vec<(u32, &'static str)>,
        claims: &mut Vec<(Place, Claim)>,
    ) -> Result<(), Error> {
        if unowned.is_empty() {
            return Ok(());
        }
        let older = plan.backup.clone().filter(|_| self.meta.format.is_some());
        let owners = match older {
            Some(older) => older.owners().map_err(draft::Error::read(&older.path))?,
            None => HashMap::new(),
        };
        let block = |number: u32| self.seen.get(number).map_or(0, |seen| seen.block);
        let mut copies: HashMap<u128, usize> = HashMap::new();
        self.seen.as_slice().iter().for_each(|seen| *copies.entry(seen.block).or_default() += 1);
        let mut claimed: HashSet<Place> = HashSet::new();
        if !owners.is_empty() {
            claimed.extend(claims.iter().map(|(place, _)| *place));
        }
        for (number, why) in unowned {
            let alone = copies.get(&block(number)) == Some(&1);
            let place = owners.get(&block(number)).copied().flatten().filter(|place| alone && !claimed.contains(place));
            match place.zip(self.claim(number, Some(RowReason::Other("the backup has its block at this place only")))) {
                Some((place, claim)) => {
                    claimed.insert(place);
                    claims.push((place, Claim { origin: Origin::Matched, ..claim }));
                }
                None => self.lose(plan, number, LostPart::Row, why, None),
            }
        }
        Ok(())
    }

    /// Positions that only an index contains.
    fn missing(&self, plan: &mut StreamPlan, claimed: &[Place]) {
        if self.meta.format == self.stream.format {
            let is_plain = |place: Place| {
                let number = self.stream.find(place).and_then(|row| u32::try_from(row).ok());
                number.is_some_and(|number| self.plain.contains(number))
            };
            let is_gone = |place: &Place| claimed.binary_search(place).is_err() && !is_plain(*place);
            let gone = self.stream.indexed().into_iter().filter(is_gone);
            plan.missing.extend(gone.map(|place| (place, "an index names it, and no row of it can be read")));
        }
    }

    /// Positions without a block get that of the backup.
    fn older(&self, plan: &mut StreamPlan) -> Result<(), Error> {
        let (Some(older), Some(side), Some(format)) = (plan.backup.clone(), self.meta.block_size(), self.meta.format)
        else {
            return Ok(());
        };
        let older: &Older = &older;
        let missing: HashSet<Place> = plan.missing.iter().map(|(place, _)| *place).collect();
        let without_instances: HashSet<Place> = plan.without_instances().map(|row| row.place).collect();
        let at: HashMap<Place, usize> = plan.rows.iter().enumerate().map(|(i, row)| (row.place, i)).collect();
        let (mut scratch, mut filled) = (StreamScratch::default(), HashSet::new());
        for (number, place, row) in older.rows() {
            self.options.go_on()?;
            let there = at.get(&place).and_then(|i| plan.rows.get(*i));
            let bare = there.is_some_and(|row| row.voxels == Part::LeftOut);
            let lacks_instances = without_instances.contains(&place) && row.instances != Blob::Null;
            let wanted = bare || lacks_instances || there.is_none() && (missing.contains(&place) || self.has_gaps());
            if !wanted || format.encode(place).is_none() {
                continue;
            }
            let [voxels, instances] =
                older.whole_parts(&row, side, &mut scratch).map_err(draft::Error::read(&older.path))?;
            let takes_voxels = bare || there.is_none();
            if !(if takes_voxels { voxels } else { instances }) {
                continue;
            }
            filled.insert(place);
            let why = Some(RowReason::Other("from the backup, an older state"));
            match at.get(&place).and_then(|i| plan.rows.get_mut(*i)) {
                // The block is newer than the backup's.
                Some(row) if !bare => {
                    (row.instances, row.why) =
                        (Part::Older(number), Some(RowReason::Other("its instances are from the backup")));
                    if row.voxels == Part::Kept {
                        row.origin = Origin::Found;
                    }
                }
                Some(row) => {
                    (row.voxels, row.origin, row.why) = (Part::Older(number), Origin::Backup, why);
                }
                None => plan.rows.push(StreamDecision {
                    place,
                    row: None,
                    page: row.page,
                    origin: Origin::Backup,
                    certainty: Certainty::Likely,
                    why: if instances {
                        why
                    } else {
                        Some(RowReason::Other("from the backup, where its instances are damaged"))
                    },
                    voxels: Part::Older(number),
                    instances: if instances { Part::Older(number) } else { Part::LeftOut },
                }),
            }
        }
        plan.missing.retain(|(at, _)| !filled.contains(at));
        Ok(())
    }
}
