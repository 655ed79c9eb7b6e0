//! Planes through blocks: one with what lies around it, or all that the cut meets.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::super::opened::{Opened, Store};
use super::{Axis, Plane, Request, Sample, Scope};
use crate::bytes::index;
use crate::godot::channel::{SDF, Storage, sdf};
use crate::pak::chunk::{Order, Voxels};
use crate::save::{PakScratch, Scratch, StreamScratch, View};

/// Blocks that are looked at for a channel that is not the same everywhere.
const PROBES: usize = 8;

/// Buffers for block after block.
#[derive(Default)]
struct Buffers {
    region: Scratch,
    pak: PakScratch,
    stream: StreamScratch,
}

/// A block that the cut meets: its slot, its corner in the plane's coordinates, columns and rows of the window in it.
struct Part {
    slot: u32,
    corner: [i64; 3],
    columns: std::ops::Range<u32>,
    rows: std::ops::Range<u32>,
}

/// Reads the blocks that the window meets.
pub(super) fn read(opened: &Opened, request: &Request, plane: &mut Plane, cancel: &AtomicBool) {
    let parts = parts(opened, request);
    plane.channel = request.channel.unwrap_or_else(|| first_channel(opened, &parts));
    let channel = plane.channel;
    // Neighbours of another size do not fit around the block.
    let size = match request.scope {
        Scope::Block(_) => Some(request.bounds.high),
        Scope::Whole => None,
    };
    let read_part = |buffers: &mut Buffers, part: &Part| {
        let mut samples = Vec::new();
        if cancel.load(Ordering::Relaxed) {
            return samples;
        }
        let own = request.scope == Scope::Block(part.slot);
        with_block(opened, part.slot, channel, buffers, &mut |block, voxel| {
            if !own && size.is_some() && block.is_some() && block != size {
                return;
            }
            for row in part.rows.clone() {
                for column in part.columns.clone() {
                    let at = request.window.cell(column, row);
                    let local = |axis: Axis| u32::try_from(axis.of(at).checked_sub(axis.of(part.corner))?).ok();
                    if let (Some(x), Some(y), Some(z)) = (local(Axis::X), local(Axis::Y), local(Axis::Z)) {
                        samples.push((column, row, voxel([x, y, z])));
                    }
                }
            }
        });
        samples
    };
    // Not many blocks' samples at once: what a block gives goes into the plane before the next ones are read.
    for some in parts.chunks(256) {
        let read: Vec<_> = some.par_iter().map_init(Buffers::default, read_part).collect();
        for (column, row, sample) in read.into_iter().flatten() {
            plane.set(column, row, sample);
        }
    }
}

/// The blocks that a window meets.
fn parts(opened: &Opened, request: &Request) -> Vec<Part> {
    let window = &request.window;
    let (size, corner, own) = match request.scope {
        Scope::Block(slot) => (request.bounds.high, opened.slot(slot).and_then(|slot| slot.position), Some(slot)),
        Scope::Whole => match (opened.block_size(), first_block(opened)) {
            (Some(size), Some(corner)) => (size, Some(corner), None),
            _ => return Vec::new(),
        },
    };
    let [right, down] = window.axis.across();
    let Some(layer) = window.cut.checked_div_euclid(window.axis.of(size).into()) else { return Vec::new() };
    let mut by_position: HashMap<[i32; 3], u32> = HashMap::new();
    if let Some(corner) = corner {
        let wanted = i64::from(window.axis.of(corner)).saturating_add(layer);
        let lod = own.and_then(|own| opened.slot(own)).map_or(0, |slot| slot.lod);
        for slot in opened.slots.iter().rev().filter(|slot| slot.lod == lod) {
            if let Some(position) = slot.position.filter(|at| i64::from(window.axis.of(*at)) == wanted) {
                by_position.insert(position, slot.slot);
            }
        }
    }
    let mut out = Vec::new();
    for (row_block, rows) in window.down.runs(down.of(size)) {
        for (column_block, columns) in window.right.runs(right.of(size)) {
            let at = down.with(right.with(window.axis.with([0; 3], layer), column_block), row_block);
            let slot = match own.filter(|_| at == [0; 3]) {
                Some(slot) => Some(slot),
                None => corner.and_then(|corner| by_position.get(&add(corner, at)?)).copied(),
            };
            if let Some(slot) = slot {
                let corner = |axis: Axis| axis.of(at).saturating_mul(axis.of(size).into());
                let corner = [corner(Axis::X), corner(Axis::Y), corner(Axis::Z)];
                out.push(Part { slot, corner, columns: columns.clone(), rows: rows.clone() });
            }
        }
    }
    out
}

/// The position of the block in a region's corner.
pub(in crate::tui) fn first_block(opened: &Opened) -> Option<[i32; 3]> {
    let region = opened.region()?;
    let one = |axis: Axis| axis.of(region.position).checked_mul(axis.of(region.header.format.region_size).into());
    Some([one(Axis::X)?, one(Axis::Y)?, one(Axis::Z)?])
}

fn add([x, y, z]: [i32; 3], [dx, dy, dz]: [i64; 3]) -> Option<[i32; 3]> {
    let one = |at: i32, by: i64| i32::try_from(i64::from(at).checked_add(by)?).ok();
    Some([one(x, dx)?, one(y, dy)?, one(z, dz)?])
}

/// The first channel with more than one value in some block that the cut meets; in a block by itself, of that.
fn first_channel(opened: &Opened, parts: &[Part]) -> usize {
    let mut buffers = Buffers::default();
    for part in parts.iter().take(PROBES) {
        let Some(view) = view(opened, part.slot, &mut buffers) else { continue };
        let raw = |block: crate::godot::block::Block<'_>| {
            block.channels.iter().position(|channel| channel.storage == Storage::Raw)
        };
        if let Some(channel) = view.block.and_then(raw) {
            return channel;
        }
    }
    0
}

/// A block of a region or of a stream.
fn view<'b>(opened: &Opened, slot: u32, buffers: &'b mut Buffers) -> Option<View<'b>> {
    match &opened.store {
        Store::Region(region, _) => region.view(region.find(slot)?.entry, &mut buffers.region).ok(),
        Store::Stream(stream) => stream.view(stream.rows.get(index(slot.into()))?, &mut buffers.stream).ok(),
        _ => None,
    }
}

/// What is done with a block's size and its voxels.
type Then<'t> = dyn FnMut(Option<[u32; 3]>, &dyn Fn([u32; 3]) -> Sample) + 't;

/// Reads a block and gives its size and its voxels; without a size when nothing of it can be read.
fn with_block(opened: &Opened, slot: u32, channel: usize, buffers: &mut Buffers, then: &mut Then<'_>) {
    let unreadable = |_| Sample::Unreadable;
    match &opened.store {
        Store::Region(..) | Store::Stream(_) => {
            let Some(block) =
                view(opened, slot, buffers).and_then(|view| view.block).filter(|block| !block.channels.is_empty())
            else {
                then(None, &unreadable);
                return;
            };
            let size = block.size.map(u32::from);
            let depth = block.channels.get(channel).map(|channel| channel.depth).unwrap_or_default();
            then(Some(size), &|at| {
                if at.iter().zip(size).any(|(at, size)| *at >= size) {
                    return Sample::Nothing;
                }
                let small = at.map(|n| u16::try_from(n).unwrap_or(u16::MAX));
                match block.voxel(channel, small) {
                    Some(raw) => Sample::Value(raw, (channel == SDF).then(|| sdf(block.version, depth, raw) as f32)),
                    None => Sample::Unreadable,
                }
            });
        }
        Store::Pak(pak) => {
            let record = pak.records.get(index(slot.into())).copied();
            let view = record.and_then(|record| pak.view(slot, record, &mut buffers.pak).ok());
            let shaped = view.and_then(|view| Some((view.payload?.plain, view.shape?.value)));
            let Some((data, shape)) = shaped else {
                then(None, &unreadable);
                return;
            };
            let voxels = Voxels { data, shape, order: Order::default() };
            then(Some(shape.size), &|at| match (voxels.span(at), voxels.get(at)) {
                (None, _) => Sample::Nothing,
                (_, Some(raw)) => Sample::Value(raw, None),
                (_, None) => Sample::Unreadable,
            });
        }
        Store::Layer(..) | Store::Bytes(_) => {}
    }
}
