//! What a repair does, as `repair.json` and in words.

use std::path::{Path, PathBuf};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use crate::check::{self, identical_words};
use crate::godot::channel::NAMES;
use crate::printable::{self, capitalize, grouped, triple};
use crate::recover::decide::Certainty;
use crate::repair::decision::{Action, Decision, Origin, RegionPlan, exchanged_in};
use crate::repair::listed::{LISTED, in_place, more};
use crate::repair::lost::rounded;
use crate::repair::plan::Plan;
use crate::repair::uncopied;
use crate::repair::why::{FileReason, doubt, likeliest};
use crate::repair::{MissingReason, Options, map, pak, stream};
use crate::save::{Save, first_byte};

/// `repair.json`: see OUTPUT.md. It is written as it is made: a region may lack a quarter of a million blocks.
pub(super) struct Report<'r> {
    pub save: &'r Save,
    pub plan: &'r Plan,
    pub options: &'r Options<'r>,
    pub totals: &'r check::Totals,
    pub check: Option<&'r check::Summary>,
}

/// What a plan does, as the object of `repair.json`; see OUTPUT.md. `check` is the summary of the check of the copy, which a plan
/// alone does not have.
pub fn report<'r>(
    save: &'r Save,
    plan: &'r Plan,
    options: &'r Options<'r>,
    totals: &'r check::Totals,
    check: Option<&'r check::Summary>,
) -> impl Serialize {
    Report { save, plan, options, totals, check }
}

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { save, plan, options, totals, check } = self;
        let unread = uncopied(save).map(|fault| json!({ "file": save.shown(&fault.path), "why": fault.why() }));
        let backup = options.backup.iter().flat_map(|backup| backup.unread().map(move |fault| (backup, fault)));
        let backup = backup.map(|(backup, fault)| json!({ "file": backup.shown(&fault.path), "why": fault.why() }));
        let paths = |paths: &[PathBuf]| paths.iter().map(|path| printable::path(path)).collect::<Vec<_>>();
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("type", "repair")?;
        map.serialize_entry("level", if options.likely { "likely" } else { "certain" })?;
        map.serialize_entry("backup", &options.backup.is_some())?;
        map.serialize_entry("backup_compared", &plan.compared)?;
        let copied = plan.regions.iter().filter(|r| r.is_unchanged()).count() as u64 + plan.copied;
        map.serialize_entry("copied", &copied)?;
        map.serialize_entry("regions", &Regions(&plan.regions))?;
        map.serialize_entry("paks", &pak::reports(&plan.paks))?;
        map.serialize_entry("maps", &map::reports(&plan.maps))?;
        map.serialize_entry("streams", &stream::reports(&plan.streams))?;
        let metas: Vec<String> = plan.metas.iter().map(|meta| printable::path(&meta.name)).collect();
        map.serialize_entry("meta_files", &metas)?;
        map.serialize_entry("set_aside", &paths(&[&plan.strange[..], &plan.no_files].concat()))?;
        map.serialize_entry("links", &paths(&[&plan.links[..], &plan.special].concat()))?;
        map.serialize_entry("files_unread", &unread.collect::<Vec<_>>())?;
        map.serialize_entry("backup_files_unread", &backup.collect::<Vec<_>>())?;
        map.serialize_entry("totals", totals)?;
        let found = check.map(|check| {
            json!({
                "errors": check.counts.errors,
                "warnings": check.counts.warnings,
                "notes": check.counts.notes,
                "blocks": check.stats.blocks,
            })
        });
        map.serialize_entry("check", &found)?;
        map.end()
    }
}

/// The region files that are not just copied.
struct Regions<'r>(&'r [RegionPlan]);

impl Serialize for Regions<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().filter(|region| !region.is_unchanged()).map(RegionReport::new))
    }
}

/// A region file that is not just copied.
#[derive(serde::Serialize)]
struct RegionReport {
    file: String,
    lod: u8,
    action: &'static str,
    why: &'static str,
    /// The name that the file has in the save, if it is another one.
    renamed_from: Option<String>,
    blocks: usize,
    put_right: Vec<BlockReport>,
    salvaged: Vec<SalvagedReport>,
    missing: Vec<MissingReport>,
    undecided: u64,
    lost_and_found: usize,
    /// How many more blocks have the same content as one of these, which is kept once.
    lost_and_found_identical: u64,
}

/// A block whose entry, bytes or position changes, or is not certain.
#[derive(serde::Serialize)]
struct BlockReport {
    position: [i32; 3],
    slot: u32,
    /// `None` if it begins at none.
    sector: Option<u32>,
    offset: u64,
    listed_sector: Option<u32>,
    moved: bool,
    certainty: &'static str,
    probability: f64,
    from_backup: bool,
    matched_by_backup: bool,
    rewritten: bool,
    /// Why its position is not certain.
    doubt: Option<String>,
}

/// A torn block of which a part is written.
#[derive(serde::Serialize)]
struct SalvagedReport {
    position: [i32; 3],
    sector: Option<u32>,
    offset: u64,
    kept: Vec<&'static str>,
    filled: Vec<FilledChannel>,
    metadata: bool,
}

/// A channel that is filled with one value, as text: JSON numbers do not hold 64 bits everywhere.
#[derive(serde::Serialize)]
pub(super) struct FilledChannel {
    channel: &'static str,
    value: String,
}

/// Why a position of a region has no block in the result.
#[derive(serde::Serialize)]
pub(super) struct MissingReport {
    position: [i32; 3],
    why: MissingReason,
    /// The block that fits best.
    likeliest: Option<String>,
    /// The same in a few words.
    #[serde(skip)]
    short: Option<String>,
    /// Why that is not certain.
    doubt: Option<&'static str>,
}

fn channel_name(number: usize) -> &'static str {
    NAMES.get(number).copied().unwrap_or_default()
}

impl FilledChannel {
    /// The channels that a rewritten block is filled with.
    pub fn all(filled: &[(usize, u64)]) -> Vec<Self> {
        filled.iter().map(|(at, n)| Self { channel: channel_name(*at), value: n.to_string() }).collect()
    }
}

impl RegionReport {
    fn new(region: &RegionPlan) -> Self {
        let put_right = |b: &&Decision| {
            let sure = matches!(b.origin, Origin::Found) && b.certainty == Certainty::Certain;
            region.changes_slots || b.listed_at.is_some() || b.moved || !sure || b.is_changed()
        };
        let salvaged = region.blocks.iter().filter(|b| matches!(b.origin, Origin::Salvaged | Origin::Voxels));
        let renamed = region.path.file_name().filter(|name| Some(*name) != region.name.file_name());
        Self {
            file: printable::path(&region.name),
            lod: region.lod,
            action: region.action.name(),
            why: region.why.words(),
            renamed_from: renamed.map(|name| printable::path(Path::new(name))),
            blocks: region.blocks.len(),
            put_right: region.blocks.iter().filter(put_right).map(|b| BlockReport::new(region, b)).collect(),
            salvaged: salvaged.map(|b| SalvagedReport::new(region, b)).collect(),
            missing: region.missing.iter().map(|missing| MissingReport::new(missing, region)).collect(),
            undecided: region.undecided,
            lost_and_found: region.lost.len(),
            lost_and_found_identical: region.identical(),
        }
    }
}

impl MissingReport {
    pub fn new(&(position, why): &([i32; 3], MissingReason), region: &RegionPlan) -> Self {
        let open = matches!(why, MissingReason::Uncertain | MissingReason::InDoubt | MissingReason::NotFound);
        let (likeliest, short, doubt) = open
            .then(|| likeliest(position, region))
            .flatten()
            .map_or((None, None, None), |found| (Some(found.words), Some(found.short), Some(found.doubt)));
        Self { position, why, likeliest, short, doubt }
    }

    /// The same as [`Self::words`] in a few words, for a row of a list.
    pub fn short(&self) -> &str {
        self.short.as_deref().unwrap_or_else(|| self.why.short())
    }

    /// Why the position has no block, with the likeliest one and why that is not certain.
    pub fn words(&self) -> String {
        let likeliest = self.likeliest.iter().map(|likeliest| format!("; {likeliest}"));
        let why = match self.why {
            // That one was found, if it is hardly likely.
            MissingReason::NotFound if self.likeliest.is_some() => MissingReason::Uncertain,
            why => why,
        };
        why.to_string() + &likeliest.chain(self.doubt.map(|doubt| format!(": {doubt}"))).collect::<String>()
    }
}

impl BlockReport {
    fn new(region: &RegionPlan, b: &Decision) -> Self {
        Self {
            position: b.position,
            slot: b.slot,
            sector: region.start(b).sector(),
            offset: first_byte(&b.pieces),
            listed_sector: b.listed_at,
            moved: b.moved,
            certainty: certainty(b.origin, b.certainty),
            probability: rounded(b.probability),
            from_backup: b.origin == Origin::Backup,
            matched_by_backup: b.origin == Origin::Matched,
            rewritten: b.mend.is_some(),
            doubt: doubt(b),
        }
    }
}

impl SalvagedReport {
    fn new(region: &RegionPlan, b: &Decision) -> Self {
        let filled: &[(usize, u64)] = b.mend.as_ref().map_or(&[], |mend| &mend.filled);
        let is_filled = |i: &usize| filled.iter().any(|(channel, _)| channel == i);
        Self {
            position: b.position,
            sector: region.start(b).sector(),
            offset: first_byte(&b.pieces),
            kept: (0..NAMES.len()).filter(|i| !is_filled(i)).map(channel_name).collect(),
            filled: FilledChannel::all(filled),
            metadata: b.mend.as_ref().is_some_and(|mend| mend.metadata),
        }
    }
}

/// What a repair does, a line a sentence.
#[must_use]
pub fn words(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(compared) = plan.compared.filter(|compared| compared.is_strange()) {
        let (same, of) = (grouped(compared.same as u64), grouped(compared.blocks as u64));
        let then = if compared.is_of_another_world() {
            "It is of another world, so nothing is taken from it."
        } else {
            "It may be of another world, and then what is taken from it does not belong in this one."
        };
        lines.push(format!("The backup has {same} of {of} blocks of the save that were looked for in it. {then}"));
    }
    for meta in &plan.metas {
        lines.push(format!("{}: {}.", printable::path(&meta.name), meta.from));
    }
    for path in &plan.strange {
        lines.push(format!("{}: the game does not look for it; kept in lost+found.", printable::path(path)));
    }
    for path in &plan.no_files {
        lines.push(format!("{}: a directory in the place of a file; kept in lost+found.", printable::path(path)));
    }
    for path in &plan.special {
        lines.push(format!("{}: not a regular file; it is not copied.", printable::path(path)));
    }
    for path in &plan.links {
        lines.push(format!("{}: a symbolic link; it is not followed and not copied.", printable::path(path)));
    }
    for region in plan.regions.iter().filter(|region| region.region.is_some()) {
        let (name, from) = (printable::path(&region.name), printable::path(&own_file(region)));
        lines.push(format!(
            "{name}: its blocks are in {from}, by the borders with its neighbours; the file is renamed."
        ));
    }
    for region in plan.regions.iter().filter(|r| r.action != Action::Copy) {
        let name = printable::path(&region.name);
        match whole(region.action, &name, region.why.words()) {
            Some(line) => lines.push(line),
            None => rebuilt(region, &name, &mut lines),
        }
    }
    lines.extend(unknown_layout_words(plan));
    for region in &plan.regions {
        let undecided = plan.effort.undecided_words(region.undecided);
        lines.extend(undecided.map(|words| format!("{}: {words}.", printable::path(&region.name))));
    }
    lines.extend(pak::words(&plan.paks));
    lines.extend(map::words(&plan.maps));
    lines.extend(stream::words(&plan.streams));
    lines
}

/// The name of the file of a region in the save, with its directory if that is another one than in the copy.
fn own_file(region: &RegionPlan) -> PathBuf {
    let file = PathBuf::from(region.path.file_name().unwrap_or_default());
    let [own, new] = [&region.path, &region.name].map(|path| path.parent().and_then(Path::file_name));
    own.filter(|own| Some(*own) != new).map_or(file.clone(), |own| Path::new(own).join(&file))
}

/// How many files are copied although the layout of their blocks is not known, and which options give it.
fn unknown_layout_words(plan: &Plan) -> Vec<String> {
    let (mut regions, mut blocks) = (0, 0);
    for region in plan.regions.iter().filter(|region| region.why == FileReason::UnknownLayout) {
        let is_block = region.path.extension().is_some_and(|ending| ending == "vxb");
        *if is_block { &mut blocks } else { &mut regions } += 1;
    }
    let line = |n: u64, thing: &str, options: &str| {
        let (are, their) = if n == 1 { ("is", "its") } else { ("are", "their") };
        (n > 0).then(|| {
            let files = printable::count(n, thing);
            format!("{files} {are} copied without a change: the layout of {their} blocks is not known. Give it: `{options} --depths BITS`.")
        })
    };
    let regions = line(regions, "region file", "--block-size N --region-size N --sector-size N");
    regions.into_iter().chain(line(blocks, "block file", "--block-size N")).collect()
}

/// How sure what is written is, in the word that the report has for it.
pub(super) const fn certainty(origin: Origin, certainty: Certainty) -> &'static str {
    match (origin, certainty) {
        (Origin::Salvaged | Origin::Voxels, _) => "salvaged",
        (Origin::Backup, _) => "backup",
        (Origin::Accepted, _) => "accepted",
        (_, Certainty::Certain) => "certain",
        _ => "likely",
    }
}

/// What is said of a file with which one thing is done as a whole.
pub(super) fn whole(action: Action, name: &str, why: &str) -> Option<String> {
    match action {
        Action::SetAside => Some(format!("{name}: {why}; kept in lost+found.")),
        Action::FromBackup => Some(format!("{name}: {why}; that of the backup, an older state, takes its place.")),
        Action::Restore => Some(format!("{name}: {why}; written with the bytes that it had before.")),
        Action::Copy | Action::Rebuild => None,
    }
}

fn rebuilt(region: &RegionPlan, name: &str, lines: &mut Vec<String>) {
    let count = |is: &dyn Fn(&Decision) -> bool| region.blocks.iter().filter(|b| is(b)).count();
    let mut of_them = Vec::new();
    let exchanged = exchanged_in(&region.blocks);
    let found = if exchanged > 0 { 0 } else { count(&|b| b.listed_at.is_some()) };
    let salvaged = count(&|b| b.origin == Origin::Salvaged);
    let whole_channels = format!("damaged, written with {} whole channels", printable::its(salvaged as u64));
    for (n, what) in [
        (exchanged, "had entries of other positions"),
        (found, "found at other sectors than the table gives"),
        (count(&|b| b.moved && b.listed_at.is_none()), "had no entry in the table"),
        (count(&|b| b.short_entry), "had an entry with too few sectors"),
        (count(&|b| b.origin == Origin::Matched), "known by the backup"),
        (count(&|b| b.origin == Origin::Backup), "from the backup, an older state"),
        (salvaged, &*whole_channels),
        (
            count(&|b| b.origin == Origin::Voxels),
            "written without metadata, since several blocks with the same voxels fit",
        ),
        (count(&|b| b.origin == Origin::Found && b.mend.is_some()), "rewritten without what is against the format"),
        (count(&|b| b.origin == Origin::Found && b.certainty < Certainty::Certain), "only likely"),
    ] {
        if n > 0 {
            of_them.push(format!("{} {what}", grouped(n as u64)));
        }
    }
    let of_them = if of_them.is_empty() { String::new() } else { format!(" ({})", of_them.join(", ")) };
    let aside = match region.lost.len() {
        0 => String::new(),
        1 => "; 1 goes to lost+found".to_owned(),
        n => format!("; {} go to lost+found", grouped(n as u64)),
    } + &identical_words(region.identical());
    let kept = capitalize(&in_place(region));
    lines.push(format!("{name}: {}. {kept}{of_them}{aside}.", region.why));
    let doubted = || region.blocks.iter().filter_map(|block| Some((block.position, doubt(block)?)));
    for (at, why) in doubted().take(LISTED) {
        lines.push(format!("  {}: only likely: {why}.", triple(at)));
    }
    lines.extend(more(doubted().count(), " that are only likely"));
    for missing in region.missing.iter().take(LISTED) {
        lines.push(format!("  {}: {}.", triple(missing.0), MissingReport::new(missing, region).words()));
    }
    lines.extend(more(region.missing.len(), ""));
}
