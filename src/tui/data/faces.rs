//! A block between the neighbours that it would have at a place: what tells whether it belongs there.

use std::path::Path;
use std::sync::Arc;

use super::plane::{Axis, Sample};
use crate::bytes::{Span, index};
use crate::godot::block::Block;
use crate::godot::channel::{SDF, Storage, sdf};
use crate::godot::region::Header;
use crate::repair::{Action, Plan};
use crate::save::{Forest, Region, Save, Scratch};
use crate::source::{FileSource, Source};

/// Where the block and its six neighbours stand.
const PLACES: [[i32; 3]; 7] = [[0; 3], [-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]];

/// What is asked for.
pub struct Request {
    /// What a repair does.
    pub plan: Arc<Plan>,
    /// The save.
    pub save: Arc<Save>,
    /// The number of the region in the plan.
    pub region: usize,
    /// The bytes of the block.
    pub pieces: Vec<Span>,
    /// The position to try.
    pub position: [i32; 3],
    /// The channel; without one, the first that is not the same everywhere.
    pub channel: Option<usize>,
}

/// The voxels of one channel of a block.
#[derive(Debug)]
struct Voxels {
    size: [u32; 3],
    samples: Vec<Sample>,
}

/// A block and its neighbours.
#[derive(Debug)]
pub struct Faces {
    /// Voxels along each axis.
    pub size: [u32; 3],
    /// The channel.
    pub channel: usize,
    /// The largest distance, where the channel has distances.
    pub most: Option<f32>,
    /// How many neighbours there are.
    pub neighbours: usize,
    /// For each axis the cut in which most changes from voxel to voxel, and how much.
    pub best: [(u32, u32); 3],
    blocks: Vec<Option<Voxels>>,
}

impl Faces {
    /// Reads the block and its neighbours, as the repair would have them.
    ///
    /// # Errors
    /// A sentence, when the block cannot be read.
    pub fn read(request: &Request) -> Result<Self, String> {
        let plan = request.plan.regions.get(request.region).ok_or("the region is gone")?;
        let header = plan.header.as_ref().ok_or("the region is copied as it is")?;
        let of = |forest: &&Forest| forest.regions.iter().any(|file| forest.dir.join(&file.name) == plan.path);
        let forest = request.save.forests.iter().find(of).ok_or("the region is gone")?;
        let mut scratch = Scratch::default();
        let stored = read(&plan.path, &request.pieces).map_err(|error| error.to_string())?;
        let limits = &request.save.options.limits;
        let view = scratch.interpret_bytes(&stored, 0, header, None, limits);
        let block = view.block.as_ref().ok_or("the block cannot be decoded")?;
        let channel = request
            .channel
            .unwrap_or_else(|| block.channels.iter().position(|channel| channel.storage == Storage::Raw).unwrap_or(0));
        let size = block.size.map(u32::from);
        let mut blocks = vec![Some(voxels(block, channel))];
        for place in &PLACES[1..] {
            let at = [0, 1, 2].map(|axis| request.position[axis].saturating_add(place[axis]));
            let neighbour = neighbour(request, forest, plan.lod, at, channel);
            blocks.push(neighbour.filter(|voxels| voxels.size == size));
        }
        let neighbours = blocks.iter().skip(1).flatten().count();
        let distances = blocks.iter().flatten().flat_map(|voxels| &voxels.samples).filter_map(|sample| match sample {
            Sample::Value(_, Some(d)) if d.is_finite() => Some(d.abs()),
            _ => None,
        });
        let most = (channel == SDF).then(|| distances.fold(0.0, f32::max));
        let mut faces = Self { size, channel, most, neighbours, best: [(0, 0); 3], blocks };
        faces.best = [Axis::X, Axis::Y, Axis::Z].map(|axis| faces.best_cut(axis));
        Ok(faces)
    }

    /// The cut in which most changes; of those that are alike, the one nearest to the middle.
    fn best_cut(&self, axis: Axis) -> (u32, u32) {
        let [right, down] = axis.across();
        let middle = axis.of(self.size) / 2;
        let changes = |cut: u32| {
            let at = |x: u32, y: u32| {
                let at = down.with(right.with(axis.with([0; 3], i64::from(cut)), i64::from(x)), i64::from(y));
                match self.at(at) {
                    // Of distances it is the sign that counts: it is the surface that is looked for.
                    Sample::Value(_, Some(d)) => u64::from(d < 0.0),
                    Sample::Value(raw, None) => raw,
                    _ => 0,
                }
            };
            let rows =
                (0..down.of(self.size)).map(|y| (1..right.of(self.size)).filter(|x| at(x - 1, y) != at(*x, y)).count());
            let columns =
                (0..right.of(self.size)).map(|x| (1..down.of(self.size)).filter(|y| at(x, y - 1) != at(x, *y)).count());
            u32::try_from(rows.chain(columns).sum::<usize>()).unwrap_or(u32::MAX)
        };
        let best = (0..axis.of(self.size))
            .map(|cut| (changes(cut), cut))
            .max_by_key(|(n, cut)| (*n, std::cmp::Reverse(cut.abs_diff(middle)), std::cmp::Reverse(*cut)));
        best.map_or((0, 0), |(n, cut)| (cut, n))
    }

    /// The voxel at a place, counted from the block's corner; outside of the block those of its neighbours.
    #[must_use]
    pub fn at(&self, at: [i64; 3]) -> Sample {
        let step =
            |axis: usize| i32::try_from(at[axis].div_euclid(i64::from(self.size[axis]).max(1))).unwrap_or(i32::MAX);
        let place = [step(0), step(1), step(2)];
        let Some(number) = PLACES.iter().position(|known| *known == place) else { return Sample::Nothing };
        let Some(Some(voxels)) = self.blocks.get(number) else { return Sample::Nothing };
        let inside = |axis: usize| at[axis].rem_euclid(i64::from(self.size[axis]).max(1)).unsigned_abs();
        let [sx, sy, _] = self.size.map(u64::from);
        let number = inside(0) + sx * (inside(1) + sy * inside(2));
        voxels.samples.get(index(number)).copied().unwrap_or_default()
    }
}

fn voxels(block: &Block<'_>, channel: usize) -> Voxels {
    let [sx, sy, sz] = block.size;
    let depth = block.channels.get(channel).map(|channel| channel.depth).unwrap_or_default();
    let mut samples = Vec::with_capacity(usize::from(sx) * usize::from(sy) * usize::from(sz));
    for z in 0..sz {
        for y in 0..sy {
            for x in 0..sx {
                samples.push(match block.voxel(channel, [x, y, z]) {
                    Some(raw) => Sample::Value(raw, (channel == SDF).then(|| sdf(block.version, depth, raw) as f32)),
                    None => Sample::Unreadable,
                });
            }
        }
    }
    Voxels { size: block.size.map(u32::from), samples }
}

/// The block at a position, as the repair would have it.
fn neighbour(request: &Request, forest: &Forest, lod: u8, at: [i32; 3], channel: usize) -> Option<Voxels> {
    let inside = |header: &Header, position: [i32; 3]| {
        (0..3).all(|axis| {
            let size = i32::from(header.format.region_size[axis]).max(1);
            at[axis].div_euclid(size) == position[axis]
        })
    };
    let file = forest
        .regions
        .iter()
        .find(|file| file.lod == lod && file.header.as_ref().is_some_and(|header| inside(header, file.position)))?;
    let path = forest.dir.join(&file.name);
    let plan = request.plan.regions.iter().find(|region| region.path == path)?;
    let mut scratch = Scratch::default();
    match plan.action {
        // What takes its place is not in this save.
        Action::SetAside | Action::FromBackup => None,
        Action::Rebuild => {
            let block = plan.blocks.iter().find(|block| block.position == at)?;
            let stored = read(&path, &block.pieces).ok()?;
            let limits = &request.save.options.limits;
            let view = scratch.interpret_bytes(&stored, 0, plan.header.as_ref()?, None, limits);
            view.block.as_ref().map(|block| voxels(block, channel))
        }
        Action::Copy => {
            let mut region: Region<FileSource> = request.save.region(forest, file).ok()??;
            let slots = region.slots(&mut scratch).ok()?;
            let listed = region.entries.iter().find(|l| region.block_position(l.slot, slots) == Some(at)).copied()?;
            let view = region.view(listed.entry, &mut scratch).ok()?;
            view.block.as_ref().map(|block| voxels(block, channel))
        }
    }
}

fn read(path: &Path, pieces: &[Span]) -> std::io::Result<Vec<u8>> {
    let source = FileSource::open(path).map_err(std::io::Error::other)?;
    let (mut all, mut part) = (Vec::new(), Vec::new());
    for piece in pieces {
        source.read_into(piece.start, index(piece.len()), &mut part)?;
        all.extend_from_slice(&part);
    }
    Ok(all)
}
