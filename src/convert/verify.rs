//! Reads the result back and compares it with the source, voxel by voxel.

use std::collections::{HashMap, HashSet};

use crate::axes;
use crate::convert::report::{Kind, Report};
use crate::convert::{Error, OutputLayout, VoxelChange, Work};
use crate::diff::{self, Side, What};
use crate::draft;
use crate::godot::block::Block;
use crate::godot::channel::{Channel, Storage, index_zxy};
use crate::godot::metadata::{Item, Metadata, encode_item};
use crate::godot::variant::Variant;
use crate::parallel;
use crate::resize::{VERSION, as_deep, rescale};
use crate::world::{At, Buffer, Index, World, unreadable};

/// An item of metadata in the source: its LOD, its block, its voxel.
type ItemPlace = (u8, [i32; 3], Option<[u16; 3]>);

/// Compares the result with the source. Only what the report lists as left out may be missing.
pub(super) fn verify(work: &Work<'_>, result: &World<'_>, report: &Report) -> Result<(), Error> {
    // The result has other values where channels get another form.
    if work.layout.from == work.layout.to && work.layout.change.is_nothing() {
        same(work, result, report)
    } else {
        resized(work, result, report)
    }
}

/// Blocks that are not in the result.
fn left_out(report: &Report) -> HashSet<(u8, [i32; 3])> {
    let gone = report.listed.iter().filter(|listed| matches!(listed.kind, Kind::Damaged | Kind::TooLarge));
    gone.map(|listed| (listed.lod, listed.block)).collect()
}

fn differs(lod: u8, position: [i32; 3], why: &str) -> Error {
    Error::Differs { lod, position, why: why.to_owned() }
}

fn same(work: &Work<'_>, result: &World<'_>, report: &Report) -> Result<(), Error> {
    let left_out = left_out(report);
    let mut wrong = None;
    let options = diff::Options::default().watch(*work.watch);
    let summary = diff::run(work.world, result, &options, |change| {
        let allowed = match &change.what {
            What::Removed | What::Unreadable { side: Side::A, .. } => left_out.contains(&(change.lod, change.position)),
            // Compare only what the result can store.
            What::Changed(block) => block.channels.is_empty() && block.metadata.is_empty() && !result.has_instances(),
            What::Added | What::Moved { .. } | What::Unreadable { side: Side::B, .. } => false,
        };
        if !allowed && wrong.is_none() {
            wrong = Some(differs(change.lod, change.position, &words(&change.what)));
        }
    })?;
    if summary.interrupted {
        return Err(draft::Error::Interrupted.into());
    }
    if let Some((_, fault)) = summary.faults.iter().find(|(side, _)| *side == Side::B) {
        return Err(differs(0, [0; 3], &format!("{}: {}", fault.file, fault.why)));
    }
    wrong.map_or(Ok(()), Err)
}

fn words(what: &What) -> String {
    match what {
        What::Added => "it is in the result only".to_owned(),
        What::Removed => "it is not in the result".to_owned(),
        What::Moved { .. } => "it is at another position in the result".to_owned(),
        What::Unreadable { why, .. } => format!("it cannot be read: {why}"),
        What::Changed(block) if block.channels.is_empty() && block.metadata.is_empty() => {
            "its instances differ".to_owned()
        }
        What::Changed(block) if block.channels.is_empty() => "its metadata differs".to_owned(),
        What::Changed(block) => format!("{} of its voxels differ", block.voxels),
    }
}

fn resized(work: &Work<'_>, result: &World<'_>, report: &Report) -> Result<(), Error> {
    // The report lists blocks that are too large by their position in the result.
    let damaged = report.listed.iter().filter(|listed| listed.kind == Kind::Damaged);
    let left_out: HashSet<(u8, [i32; 3])> = damaged.map(|listed| (listed.lod, listed.block)).collect();
    let apart: HashSet<ItemPlace> = report
        .listed
        .iter()
        .filter(|listed| listed.kind == Kind::Metadata)
        .map(|listed| (listed.lod, listed.block, listed.voxel))
        .collect();
    let whole = report.count(Kind::TooLarge) == 0;
    let (mut expected, mut compared) = (0, 0);
    for lod in work.world.lods() {
        let (source, made) = (work.world.index(lod), result.index(lod));
        if let Some(fault) = made.faults.first() {
            return Err(differs(lod, [0; 3], &format!("{}: {}", fault.file, fault.why)));
        }
        let verifying = Verifying { work, result, lod, source: &source, left_out: &left_out, apart: &apart };
        let voxels: Vec<u64> = parallel::try_map_with(&made.blocks, |buffers: &mut (Buffer, Buffer), at| {
            if work.watch.is_cancelled() {
                return Err(Error::from(draft::Error::Interrupted));
            }
            verifying.block(at, buffers)
        })?;
        let there = source.blocks.iter().filter(|at| !left_out.contains(&(lod, at.position))).count() as u64;
        expected += there * u64::from(work.layout.from).pow(3);
        compared += voxels.iter().sum::<u64>();
    }
    // Blocks that an earlier conversion filled are not part of the save.
    if whole && compared + report.emptied * u64::from(work.layout.to).pow(3) != expected {
        return Err(differs(0, [0; 3], "voxels of the source are not in the result"));
    }
    Ok(())
}

struct Verifying<'v> {
    work: &'v Work<'v>,
    result: &'v World<'v>,
    lod: u8,
    source: &'v Index,
    left_out: &'v HashSet<(u8, [i32; 3])>,
    apart: &'v HashSet<ItemPlace>,
}

impl Verifying<'_> {
    /// Compares a block of the result with the blocks of the source that it contains voxels of; returns how many were compared.
    fn block(&self, at: &At, (one, other): &mut (Buffer, Buffer)) -> Result<u64, Error> {
        let OutputLayout { from, to, .. } = *self.work.layout;
        let view = self.result.read(at, one)?;
        let fail = |why: &str| Err(differs(self.lod, at.position, why));
        if let Some(why) = unreadable(&view, Some(to)) {
            return fail(&why);
        }
        let Some(made) = &view.block else { return fail("it cannot be read") };
        let items = items_of(made);
        let low = at.position.map(|n| i64::from(n) * i64::from(to));
        let high = low.map(|n| n + i64::from(to) - 1);
        let block = |n: i64| i32::try_from(n.div_euclid(i64::from(from))).unwrap_or(i32::MAX);
        let (first, last) = (low.map(block), high.map(block));
        let side = from.min(to);
        let mut compared = 0;
        for z in first[2]..=last[2] {
            for x in first[0]..=last[0] {
                for y in first[1]..=last[1] {
                    let Some(at) = self.source.find([x, y, z]) else { continue };
                    if self.left_out.contains(&(self.lod, at.position)) {
                        continue;
                    }
                    let view = self.work.world.read(at, other)?;
                    let Some(source) = view.block.as_ref().filter(|_| view.is_readable()) else {
                        return fail("a block of the source cannot be read any more");
                    };
                    let own = at.position.map(|n| i64::from(n) * i64::from(from));
                    // The start of the common part in each block.
                    let part = |n: i64| u16::try_from(n.max(0)).unwrap_or(u16::MAX);
                    let in_source = axes::combine(low, own, |low, own| part(low - own));
                    let in_made = axes::combine(own, low, |own, low| part(own - low));
                    if !voxels_are_same(&self.work.layout.change, source, in_source, made, in_made, side) {
                        return fail("its voxels differ from those of the source");
                    }
                    if !self.metadata_is_same(at.position, source, in_source, (made, &items), in_made, side) {
                        return fail("its metadata differs from that of the source");
                    }
                    compared += u64::from(side).pow(3);
                }
            }
        }
        Ok(compared)
    }

    /// Whether every metadata item of a part of the source is in the result or in the report.
    fn metadata_is_same(
        &self,
        position: [i32; 3],
        source: &Block<'_>,
        in_source: [u16; 3],
        (made, items): (&Block<'_>, &HashMap<[u16; 3], Vec<&Item<'_>>>),
        in_made: [u16; 3],
        side: u16,
    ) -> bool {
        let Some(metadata) = &source.metadata else { return true };
        let apart = |voxel| self.apart.contains(&(self.lod, position, voxel));
        let own = metadata.block.as_ref().filter(|item| !matches!(item, Item::Empty | Item::Variant(Variant::Nil)));
        if let Some(item) = own
            && in_source == [0; 3]
            && !apart(None)
            && !made.metadata.as_ref().is_some_and(|m| is_same(metadata, item, m, m.block.as_ref()))
        {
            return false;
        }
        metadata.voxels.iter().all(|voxel| {
            let inside = axes::combine(voxel.position, in_source, |n, from| n.checked_sub(from).filter(|&n| n < side));
            let [Some(x), Some(y), Some(z)] = inside else { return true };
            let at = [in_made[0] + x, in_made[1] + y, in_made[2] + z];
            let there =
                made.metadata.as_ref().zip(items.get(&at)).is_some_and(|(m, others)| {
                    others.iter().any(|other| is_same(metadata, &voxel.item, m, Some(other)))
                });
            there || apart(Some(voxel.position))
        })
    }
}

/// The items of voxels by position.
fn items_of<'b, 'm>(block: &'b Block<'m>) -> HashMap<[u16; 3], Vec<&'b Item<'m>>> {
    let mut items: HashMap<[u16; 3], Vec<&'b Item<'m>>> = HashMap::new();
    for voxel in block.metadata.iter().flat_map(|metadata| &metadata.voxels) {
        items.entry(voxel.position).or_default().push(&voxel.item);
    }
    items
}

/// Whether two items have the same bytes in the current version.
fn is_same(of: &Metadata<'_>, item: &Item<'_>, made: &Metadata<'_>, other: Option<&Item<'_>>) -> bool {
    let bytes = |item: &Item<'_>| {
        let mut bytes = Vec::new();
        encode_item(item, VERSION, crate::godot::variant::Dialect::Godot4, &mut bytes);
        bytes
    };
    debug_assert!(made.dialect >= of.dialect);
    other.is_some_and(|other| bytes(item) == bytes(other))
}

/// Compares a part of a block of the source, after its channels got their form, with a part of a block of the result.
fn voxels_are_same(
    change: &VoxelChange,
    a: &Block<'_>,
    in_a: [u16; 3],
    b: &Block<'_>,
    in_b: [u16; 3],
    side: u16,
) -> bool {
    let mut sdf = Vec::new();
    let mut a = a.clone();
    rescale(&mut a, &mut sdf);
    a.version = VERSION;
    let channels = a.channels.iter().zip(&b.channels).enumerate();
    a.channels.len() == b.channels.len()
        && channels.into_iter().all(|(c, (one, other))| {
            let depth = change.depth(c, one.depth);
            let wanted = |index: usize| {
                let value = one.value(index).and_then(|_| change.value(&a, c, index).ok());
                value.map(|raw| as_deep(c, depth, raw, other.depth))
            };
            let is_uniform = |channel: &Channel<'_>| channel.storage == Storage::Uniform;
            // A texture of Mixel4 depends on two channels.
            if is_uniform(one) && is_uniform(other) && !change.single_textures {
                return wanted(0) == other.value(0);
            }
            (0..side).all(|z| {
                (0..side).all(|x| {
                    let row = |size, [cx, cy, cz]: [u16; 3]| index_zxy(size, [cx + x, cy, cz + z]);
                    let (Some(from), Some(to)) = (row(a.size, in_a), row(b.size, in_b)) else { return false };
                    (0..usize::from(side)).all(|y| wanted(from + y) == other.value(to + y))
                })
            })
        })
}
