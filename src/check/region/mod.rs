//! Rules over a region file: its header, its table, its blocks, and the sectors that no entry claims.
//!
//! Each file is checked for itself. What regions say of each other's tables is the concern of the semantic level.

mod blocks;
pub(super) mod conversion;
mod leftovers;
pub(super) mod meta;
pub(super) mod missing;
mod table;

use std::collections::HashSet;
use std::io;

use crate::bytes::Span;
use crate::check::causes::GIVEN_FORMULA;
use crate::check::outcome::Outcome;
use crate::check::{Level, Options, Report, Row, TakeRows, copied, unchanged};
use crate::damage::{Code, Damage};
use crate::godot::region::{Entry, Format, refusal_words};
use crate::godot::slots::{self, SlotFormula};
use crate::godot::verify::Verified;
use crate::recover::copies::Content;
use crate::recover::quick::{self, Glance, Print};
use crate::recover::scaled::Drawn;
use crate::recover::screen::{self, Screened};
use crate::recover::sketch::Sketch;
use crate::save::{Forest, Listed, Region, RegionFile, SLOT_PROBES, Save, Scratch, View, slots_of_version};
use crate::source::{OpenError, Source};

/// Number of blocks of a file that are examined before their results become findings.
const BLOCKS: usize = 1 << 13;

/// All rules over one region file.
pub(super) fn check_file(
    save: &Save,
    forest: &Forest,
    file: &RegionFile,
    options: &Options<'_>,
    report: &mut Report,
    rows: Option<&mut dyn TakeRows>,
) -> Result<(), OpenError> {
    for damage in &file.damage {
        let mut detail = damage.span.is_empty().then(|| file.detail.clone()).flatten();
        if damage.code == Code::RegionNeverStored {
            detail = file.header.as_ref().and_then(|header| refusal_words(&header.format));
        }
        report.file(*damage, detail);
    }
    meta::compare(forest, file, report);
    if options.level == Level::Header {
        options.advance(file.len);
        return Ok(());
    }
    match save.region(forest, file)? {
        None => options.advance(file.len),
        Some(mut region) => {
            if options.level < Level::Decode {
                check_structure(&mut region, report);
                options.advance(file.len);
            } else {
                let seen = options.witness.map(|witness| |entry, view: &View<'_>| witness(file, entry, view));
                check_seen(&region, options, report, rows, seen.as_ref().map(|seen| seen as &SeenBlock<'_>));
                copied::zeroed(&region, report);
            }
            copied::cut(&region.source, report);
            unchanged(&region.source, report);
        }
    }
    Ok(())
}

/// Applies the rules over the table of one region. Only the block that implies the slot formula
/// is decoded: without the formula, the positions in findings would be wrong.
fn check_structure<S: Source>(region: &mut Region<S>, report: &mut Report) {
    for damage in &region.damage {
        report.file(*damage, None);
    }
    let by_sector = region.by_sector();
    table::check(region, &by_sector, report);
    report.stats.blocks += by_sector.len() as u64;
    match region.slots(&mut Scratch::default()) {
        Ok(slots) => report.place(|slot| region.block_position(slot, slots)),
        Err(error) => report.unreadable(region.header.table, &error),
    }
}

/// Sees a block of a region that was decoded, with its entry.
type SeenBlock<'a> = dyn Fn(Entry, &View<'_>) + Sync + 'a;

/// Applies all rules to one region; fills `rows` with its block table, if requested.
pub(super) fn check<S: Source>(
    region: &Region<S>,
    options: &Options<'_>,
    report: &mut Report,
    rows: Option<&mut dyn TakeRows>,
) {
    check_seen(region, options, report, rows, None);
}

/// The same, with something that sees each block that is decoded.
fn check_seen<S: Source>(
    region: &Region<S>,
    options: &Options<'_>,
    report: &mut Report,
    mut rows: Option<&mut dyn TakeRows>,
    seen: Option<&SeenBlock<'_>>,
) {
    let by_sector = region.by_sector();
    for damage in &region.damage {
        report.file(*damage, None);
    }
    table::check(region, &by_sector, report);

    report.stats.blocks += by_sector.len() as u64;
    if let Some(rows) = rows.as_deref_mut() {
        rows.reserve(by_sector.len());
        rows.expect_offsets(region.header.sectors_at(), region.header.format.sector_size.into());
    }
    // Unowned blocks have no row.
    let leftovers = rows.is_none() || report.keeps_findings();
    let mut sizes = Vec::new();
    let (mut versions, mut probed) = (0u8, None);
    let mut prints = Vec::new();
    let mut content = Content::default();
    // To see whether blocks continue each other, they have to be decoded.
    let has_sketches = options.level == Level::Semantic && by_sector.len() <= screen::MOST;
    let (mut sketches, mut drawn) = (Vec::new(), Vec::new());
    let Format { sector_size, region_size, .. } = region.header.format;
    let keep = |listed: Listed, view: io::Result<View<'_>>| {
        if let (Some(seen), Ok(view)) = (seen, &view) {
            seen(listed.entry, view);
        }
        match options.level {
            Level::Semantic => Outcome::with_print(view, sector_size, |block| {
                let at = slots::position(region_size, listed.slot).filter(|_| has_sketches);
                let draw = |at| (Sketch::draw(block), Drawn::draw(block, at, region_size, by_sector.len()));
                at.map(draw).unwrap_or_default()
            }),
            _ => Outcome::from_view(view),
        }
    };
    let verified = |verified: &Verified, stored: &[u8], span: Span| {
        let print = (options.level == Level::Semantic).then(|| Print::new(stored, sector_size));
        Outcome { print, ..Outcome::from_verified(verified, stored, span) }
    };
    let blocks = by_sector.chunks(BLOCKS).flat_map(|part| {
        let verified = (!has_sketches).then_some(&verified);
        blocks::examine(region, part, options, verified, keep)
    });
    for (i, (listed, block)) in by_sector.iter().zip(blocks).enumerate() {
        if let Some(rows) = rows.as_deref_mut() {
            rows.push(Row::new(report.name(), region, *listed, block.as_ref()));
        }
        let Some(mut block) = block else { continue };
        if let (Some(print), Some(Sketch::Sides(_))) = (&block.print, &block.sketch) {
            let bytes = u64::from(listed.entry.count()) * u64::from(sector_size);
            content.add(listed.slot, print.all, bytes);
        }
        sketches.extend(block.sketch.take().map(|sketch| (listed.slot, sketch)));
        drawn.extend(block.drawn.take().map(|drawn| (listed.slot, *drawn)));
        // An entry that leads into the middle of a block may show any version.
        if !block.damage.iter().any(|damage| damage.code.hides_data()) {
            versions |= 1u8.checked_shl(u32::from(block.version)).unwrap_or(0);
        }
        if i < SLOT_PROBES && probed.is_none() && block.version > 0 {
            probed = Some(block.version);
        }
        if leftovers {
            sizes.push((block.size, *listed));
        }
        prints.extend(block.print.map(|print| (listed.entry.first(), listed.entry.count().into(), print)));
        report.stats.add(&block);
        report.block(listed.slot, block);
    }
    // A block that was not examined leaves a gap in the order.
    let look = quick::glance(&prints, region.sectors_in_file());
    report.look = if report.has_trouble() { Glance::Unclear } else { look };
    if leftovers {
        leftovers::check(region, &by_sector, sizes, options, report);
    }
    report.screened = screen(region, probed, sketches, drawn);
    report.screened.content = content.number();
    name_blocks(region, versions, probed, report, rows);
}

/// Looks at the seams of a region. Where the slots of the old formula are, blocks next to each other are not those of
/// neighbouring slots.
fn screen<S: Source>(
    region: &Region<S>,
    probed: Option<u8>,
    sketches: Vec<(u32, Sketch)>,
    drawn: Vec<(u32, Drawn)>,
) -> Screened {
    let size = region.header.format.region_size;
    if region.slots_with(probed) == SlotFormula::Legacy {
        return Screened::default();
    }
    let (sketches, drawn) = (placed(size, sketches), placed(size, drawn));
    let known: HashSet<[u16; 3]> = sketches.iter().map(|(at, _)| *at).collect();
    let slots = region.entries.iter().filter_map(|listed| slots::position(size, listed.slot));
    let unknown: Vec<[u16; 3]> = slots.filter(|at| !known.contains(at)).collect();
    Screened::new(&sketches, size).with_scaled(&drawn, size, region.entries.len()).with_unknown(&unknown, size)
}

/// What blocks show, with their positions in the region.
fn placed<T>(size: [u16; 3], of_slots: Vec<(u32, T)>) -> Vec<([u16; 3], T)> {
    of_slots.into_iter().filter_map(|(slot, shown)| Some((slots::position(size, slot)?, shown))).collect()
}

/// Sets the positions of blocks in findings, once block versions imply the slot formula.
fn name_blocks<S: Source>(
    region: &Region<S>,
    versions: u8,
    probed: Option<u8>,
    report: &mut Report,
    rows: Option<&mut dyn TakeRows>,
) {
    let known = region.known_slots();
    let slots = region.slots_with(probed);
    if let Some(rows) = rows {
        rows.arrange(report.codes(), Some(region.slot_positions(slots)));
    }
    report.place(|slot| region.block_position(slot, slots));
    if !region.is_negative() || region.entries.is_empty() {
        return;
    }
    let span = region.header.table;
    // What seams show is a finding about the whole save.
    let (old, new) = (versions & 0b0_1110 != 0, versions & 0b1_0000 != 0);
    if known.unwrap_or_else(|| slots_of_version(probed)) == SlotFormula::Legacy {
        let found = Damage::new(Code::SlotsOld, span, "table of blocks");
        // Only the option says so of blocks of version 4. A repair moves these.
        let is_given = known.is_some() && region.header.version == 3 && new && !old;
        report.file(if is_given { found.found(GIVEN_FORMULA) } else { found }, None);
    }
    if known.is_none() && old && new {
        report.file(Damage::new(Code::SlotsMixed, span, "table of blocks"), None);
    }
}
