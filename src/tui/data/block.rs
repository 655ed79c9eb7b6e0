//! One block, decoded and held: its bytes, its channels, its metadata, what is wrong with it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::metadata::{self, MetaLine};
use super::opened::{Opened, Slot, Store};
use crate::bytes::{Span, index, len64};
use crate::damage::Damage;
use crate::godot::block::Block;
use crate::godot::channel::{CHANNELS, Channel, Depth, NAMES, Range, SDF, Storage, TYPE, index_zxy};
use crate::godot::textures::{INDICES, Textures, WEIGHTS};
use crate::pak::Inferred;
use crate::pak::chunk::{Order, Shape, Voxels};
use crate::save::{PakScratch, Scratch, Stream, StreamScratch, View};
use crate::source::FileSource;
use crate::voxel_map::flags::Histogram;

/// Bars of a channel's histogram.
pub const HISTOGRAM: usize = 16;

/// The order of the voxels of a channel in its bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum VoxelOrder {
    /// Of a Godot block.
    Zxy,
    /// Of a pak chunk.
    Chunk(Shape, Order),
    /// Of a map's block: x, y, z, the last running fastest.
    Xyz,
}

/// A channel of a block.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelData {
    /// Its name.
    pub name: &'static str,
    /// Bits a voxel.
    pub bits: u8,
    /// The bits a voxel that region and meta file declare.
    pub declared: Option<u8>,
    /// Raw or uniform.
    pub storage: Storage,
    /// Its values in the decompressed block.
    pub span: Span,
    /// Bytes that it should have.
    pub size: u64,
    /// Smallest, largest, and how many different ones.
    pub range: Option<Range>,
    /// How many voxels have values in each sixteenth of the range, of the distances where there are some.
    pub histogram: [u64; HISTOGRAM],
    /// Values of TYPE with the voxels that have them, the most frequent first.
    pub types: Vec<(u64, u64)>,
    /// The smallest and the largest distance.
    pub distances: Option<(f64, f64)>,
}

/// A block that was read.
#[derive(Debug)]
pub struct BlockData {
    /// Its slot.
    pub slot: Slot,
    /// Its bytes in the file, with the size prefix.
    pub stored: Span,
    /// Its stored bytes, if they are others than those of `stored`.
    own_bytes: Option<u64>,
    /// How it is packed.
    pub container: Option<&'static str>,
    /// The packed data in the file, behind the container's own fields.
    pub body: Span,
    /// The decompressed size that the container declares.
    pub declared: Option<u64>,
    /// Whether everything decoded.
    pub whole: bool,
    /// The decompressed bytes, as far as they decode.
    pub plain: Vec<u8>,
    /// Version of the block data; 0 where there is none.
    pub version: u8,
    /// Voxels along x, y, z.
    pub size: [u32; 3],
    /// The channels that could be located.
    pub channels: Vec<ChannelData>,
    /// Metadata as lines of a tree.
    pub metadata: Vec<MetaLine>,
    /// The bytes of the epilogue, when it is right.
    pub epilogue: Option<Span>,
    /// What is wrong.
    pub damage: Vec<Damage>,
    /// How many voxels have which flags; only in maps.
    pub flags: Option<Histogram>,
    /// Of a map's block: whether the upper half of a voxel is a depth.
    pub packed: bool,
    /// The shape of a pak's chunk, and how it was inferred.
    pub shape: Option<Inferred<Shape>>,
    /// The order of the voxels of a pak's chunk, and how it was inferred.
    pub chunk_order: Option<Inferred<Order>>,
    order_of_voxels: VoxelOrder,
}

impl BlockData {
    /// Reads a block of an open file.
    ///
    /// # Errors
    /// A sentence, when the block is not there or cannot be read.
    pub fn read(opened: &Opened, slot: u32) -> Result<Self, String> {
        let at = *opened.slot(slot).ok_or_else(|| format!("there is no block in slot {slot}"))?;
        match &opened.store {
            Store::Region(..) => Self::read_region(opened, at),
            Store::Pak(_) => Self::read_pak(opened, at),
            Store::Stream(stream) => Self::read_stream(stream, at),
            Store::Layer(..) => Self::read_layer(opened, at),
            Store::Bytes(_) => Err("this file has no blocks".into()),
        }
    }

    /// Its stored bytes, without a size prefix.
    pub fn stored_bytes(&self) -> u64 {
        self.own_bytes.unwrap_or_else(|| self.stored.len())
    }

    fn new(slot: Slot, order_of_voxels: VoxelOrder) -> Self {
        Self {
            slot,
            stored: Span::default(),
            own_bytes: None,
            container: None,
            body: Span::default(),
            declared: None,
            whole: false,
            plain: Vec::new(),
            version: 0,
            size: [0; 3],
            channels: Vec::new(),
            metadata: Vec::new(),
            epilogue: None,
            damage: Vec::new(),
            flags: None,
            packed: false,
            shape: None,
            chunk_order: None,
            order_of_voxels,
        }
    }

    fn read_region(opened: &Opened, slot: Slot) -> Result<Self, String> {
        let region = opened.region().ok_or("this file is no region")?;
        let entry = region.find(slot.slot).ok_or("the entry is gone")?.entry;
        let mut scratch = Scratch::default();
        let view = region.view(entry, &mut scratch).map_err(|error| error.to_string())?;
        // The size prefix comes first.
        Ok(Self::from_view(slot, &view, 4, Some(region.header.format.depths)))
    }

    fn read_stream(stream: &Stream<FileSource>, slot: Slot) -> Result<Self, String> {
        let row = stream.rows.get(index(slot.slot.into())).ok_or("the row is gone")?;
        let mut scratch = StreamScratch::default();
        stream.fetch(&row, &mut scratch).map_err(|error| error.to_string())?;
        let mut faults = Vec::new();
        stream.faults(&row, &scratch, &mut faults);
        let key = metadata::key(stream.key(&scratch));
        let mut out = Self::from_view(slot, &stream.block(&mut scratch), 0, None);
        let view = stream.instances(&mut scratch);
        faults.append(&mut out.damage);
        faults.extend_from_slice(view.damage);
        out.damage = faults;
        out.metadata.insert(0, key);
        out.metadata.extend(view.instances.as_ref().map(metadata::instances).unwrap_or_default());
        if out.container.is_none() {
            out.stored = view.stored.span;
        }
        Ok(out)
    }

    /// A block, before whose container so many bytes are stored with it.
    pub(super) fn from_view(slot: Slot, view: &View<'_>, before: u64, depths: Option<[Depth; CHANNELS]>) -> Self {
        let mut out = Self::new(slot, VoxelOrder::Zxy);
        out.stored = view.stored.span;
        // A row of a stream can lie in several pages, of which `stored` is the first.
        let of_row = view.stored.size.map(u64::from);
        out.own_bytes = if before > 0 { Some(out.stored.len().saturating_sub(before)) } else { of_row };
        out.damage = view.damage.to_vec();
        if let Some(container) = &view.container {
            out.container = container.mode.map(|mode| mode.name());
            out.declared = container.declared.map(u64::from);
            let start = view.stored.span.start.saturating_add(before);
            out.body = Span::sized(start.saturating_add(container.body.start), container.body.len());
            out.whole = container.whole;
            out.plain = container.plain.to_vec();
        }
        if let Some(block) = &view.block {
            out.fill(block, depths);
        }
        out
    }

    fn fill(&mut self, block: &Block<'_>, depths: Option<[Depth; CHANNELS]>) {
        self.version = block.version;
        self.size = block.size.map(u32::from);
        self.epilogue = block.epilogue;
        let declared = |i: usize| depths.and_then(|depths| Some(depths.get(i)?.bits()));
        let channels = block.channels.iter().zip(NAMES).enumerate();
        self.channels = channels.map(|(i, (channel, name))| describe_channel(channel, name, declared(i))).collect();
        if let (Some(to), Some(channel)) = (self.channels.get_mut(SDF), block.channels.get(SDF)) {
            measure_distances(to, channel, block.version);
        }
        self.metadata = block.metadata.as_ref().map(metadata::lines).unwrap_or_default();
    }

    fn read_pak(opened: &Opened, slot: Slot) -> Result<Self, String> {
        let Store::Pak(pak) = &opened.store else { return Err("this file is no pak region".into()) };
        let record = *pak.records.get(index(slot.slot.into())).ok_or("the record is gone")?;
        let mut scratch = PakScratch::default();
        let view = pak.view(slot.slot, record, &mut scratch).map_err(|error| error.to_string())?;
        let shape = view.shape.as_ref().map(|shape| shape.value);
        let inferred = view.shape.clone();
        let order = shape.map(|shape| pak.order(&shape));
        let voxels = shape.zip(order.as_ref()).map(|(shape, order)| VoxelOrder::Chunk(shape, order.value));
        let mut out = Self::new(slot, voxels.unwrap_or(VoxelOrder::Zxy));
        out.chunk_order = order;
        out.stored = view.located.map(|located| located.stored).unwrap_or_default();
        out.damage = view.damage.to_vec();
        out.container = Some("zlib");
        out.shape = inferred;
        if let Some(payload) = &view.payload {
            out.whole = payload.whole;
            out.plain = payload.plain.to_vec();
        }
        if let Some(shape) = shape
            && let Some(depth) = depth_from_bytes(shape.voxel_bytes)
        {
            out.size = shape.size;
            let channel = Channel { depth, storage: Storage::Raw, data: &out.plain, offset: 0, size: shape.bytes() };
            out.channels = vec![describe_channel(&channel, "VOXELS", None)];
        }
        Ok(out)
    }

    fn read_layer(opened: &Opened, slot: Slot) -> Result<Self, String> {
        let Store::Layer(grid, _) = &opened.store else { return Err("this is no layer".into()) };
        let mut out = Self::new(slot, VoxelOrder::Xyz);
        out.packed = grid.packed;
        if grid.index.is_empty() {
            // A dense layer is too large to hold; its voxels are read from the file.
            out.stored = grid.data.as_ref().map(|data| data.npy.data).unwrap_or_default();
            out.size = grid.dim.unwrap_or_default();
            return Ok(out);
        }
        let mut buffer = Vec::new();
        let mut voxels = Vec::new();
        grid.read_block(slot.slot, &mut buffer, &mut voxels).map_err(|error| error.to_string())?;
        out.stored = grid.block_span(slot.slot);
        out.size = [crate::voxel_map::grid::BLOCK; 3];
        let wide = grid.data.as_ref().is_some_and(|data| data.npy.dtype.size() == 8);
        let depth = if wide { Depth::Bits64 } else { Depth::Bits32 };
        let bytes = depth.bytes();
        out.plain = voxels.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(bytes)).collect();
        out.whole = voxels.len() == 4096;
        let mut flags = Histogram::default();
        voxels.iter().for_each(|&bits| flags.add(grid.flags(bits), 1));
        out.flags = Some(flags);
        let size = crate::voxel_map::grid::BLOCK_VOXELS.saturating_mul(u64::from(depth.bits() / 8));
        let channel = Channel { depth, storage: Storage::Raw, data: &out.plain, offset: 0, size };
        out.channels = vec![describe_channel(&channel, "FLAGS", None)];
        Ok(out)
    }

    /// The raw value of a voxel, by its position in the block.
    #[must_use]
    pub fn voxel(&self, channel: usize, at: [u32; 3]) -> Option<u64> {
        let info = self.channels.get(channel)?;
        let data = self.plain.get(index(info.span.start)..index(info.span.end))?;
        let depth = depth_from_bytes(info.bits / 8)?;
        if at.iter().zip(&self.size).any(|(at, size)| at >= size) {
            return None;
        }
        if info.storage == Storage::Uniform {
            return depth.value(data);
        }
        let place = self.place(channel, at)?;
        depth.value(self.plain.get(index(place.start)..index(place.end))?)
    }

    /// The bytes of a voxel in the decompressed block; of a uniform channel, those of its one value.
    #[must_use]
    pub fn place(&self, channel: usize, at: [u32; 3]) -> Option<Span> {
        let info = self.channels.get(channel)?;
        let width = u64::from(info.bits / 8);
        let [sx, sy, sz] = self.size;
        let [x, y, z] = at;
        if x >= sx || y >= sy || z >= sz {
            return None;
        }
        if info.storage == Storage::Uniform {
            return Some(info.span);
        }
        let number = match self.order_of_voxels {
            VoxelOrder::Zxy => {
                let small = |n: u32| u16::try_from(n).ok();
                let size = [small(sx)?, small(sy)?, small(sz)?];
                u64::try_from(index_zxy(size, [small(x)?, small(y)?, small(z)?])?).ok()?
            }
            VoxelOrder::Chunk(shape, order) => return Voxels { data: &self.plain, shape, order }.span(at),
            VoxelOrder::Xyz => u64::from(x)
                .checked_mul(sy.into())?
                .checked_add(y.into())?
                .checked_mul(sz.into())?
                .checked_add(z.into())?,
        };
        let start = info.span.start.checked_add(number.checked_mul(width)?)?;
        Some(Span::sized(start, width))
    }

    /// The voxel whose bytes in a raw channel begin at an offset of the decompressed block.
    #[must_use]
    pub fn voxel_at(&self, channel: usize, offset: u64) -> Option<[u32; 3]> {
        let start = self.channels.get(channel)?.span.start;
        let mut rest = offset.checked_sub(start)?;
        // The distance of neighbours along each axis in bytes; an axis of one voxel has none.
        let stride = |axis: usize| {
            let mut at = [0u32; 3];
            *at.get_mut(axis)? = 1;
            self.place(channel, at).and_then(|span| span.start.checked_sub(start)).filter(|&n| n > 0)
        };
        let mut axes: Vec<(u64, usize)> = (0..3).filter_map(|axis| Some((stride(axis)?, axis))).collect();
        axes.sort_unstable_by(|a, b| b.cmp(a));
        let mut at = [0u32; 3];
        for (stride, axis) in axes {
            *at.get_mut(axis)? = u32::try_from(rest / stride).ok()?;
            rest %= stride;
        }
        (self.place(channel, at)?.start == offset).then_some(at)
    }

    /// Whether a channel holds distances.
    #[must_use]
    pub fn is_sdf(&self, channel: usize) -> bool {
        self.version > 0 && channel == SDF
    }

    /// What the engine makes of a raw value of the SDF channel.
    #[must_use]
    pub fn sdf(&self, channel: usize, raw: u64) -> Option<f64> {
        let bits = self.channels.get(channel)?.bits;
        self.is_sdf(channel)
            .then(|| crate::godot::channel::sdf(self.version, depth_from_bytes(bits / 8).unwrap_or_default(), raw))
    }

    /// What INDICES and WEIGHTS mean; `None` if the depths imply nothing.
    #[must_use]
    pub fn textures(&self) -> Option<Textures> {
        let depth = |channel: usize| depth_from_bytes(self.channels.get(channel)?.bits / 8);
        Textures::of_depths(self.version, depth(INDICES)?, depth(WEIGHTS)?)
    }

    /// What a raw value of a channel means, in words: a distance, textures, weights.
    #[must_use]
    pub fn describe_value(&self, channel: usize, raw: u64) -> Option<String> {
        let distance = self.sdf(channel, raw).map(|sdf| format!("distance {sdf:.4}"));
        distance.or_else(|| self.textures()?.describe(channel, raw))
    }
}

/// The depth of voxels of so many bytes.
fn depth_from_bytes(bytes: u8) -> Option<Depth> {
    Depth::ALL.into_iter().find(|depth| depth.bits() / 8 == bytes)
}

/// Types that are kept of a block, at most.
const TYPES: usize = 64;

/// The values of a channel with the voxels that have them, the most frequent first.
fn count_values(channel: &Channel<'_>) -> Vec<(u64, u64)> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    channel.values().for_each(|value| *counts.entry(value).or_default() += 1);
    let mut counts: Vec<(u64, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts.truncate(TYPES);
    counts
}

fn describe_channel(channel: &Channel<'_>, name: &'static str, declared: Option<u8>) -> ChannelData {
    let range = channel.range();
    let is_type = NAMES.get(TYPE) == Some(&name);
    let mut histogram = [0u64; HISTOGRAM];
    if let Some(range) = range {
        // In 128 bits, so that a range of all values of 64 has room.
        let width = u128::from(range.max.saturating_sub(range.min)) + 1;
        for value in channel.values() {
            let at = u128::from(value.saturating_sub(range.min)) * 16 / width;
            if let Some(bar) = usize::try_from(at).ok().and_then(|at| histogram.get_mut(at)) {
                *bar += 1;
            }
        }
    }
    ChannelData {
        name,
        bits: channel.depth.bits(),
        declared,
        storage: channel.storage,
        span: Span::sized(channel.offset, len64(channel.data)),
        size: channel.size,
        range,
        histogram,
        types: if is_type { count_values(channel) } else { Vec::new() },
        distances: None,
    }
}

/// The range of distances and how many there are in each sixteenth of it: raw values of both signs have no such order.
fn measure_distances(to: &mut ChannelData, channel: &Channel<'_>, version: u8) {
    let distances = || channel.values().map(|raw| crate::godot::channel::sdf(version, channel.depth, raw));
    let finite = || distances().filter(|d| d.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    if low > high {
        return;
    }
    to.distances = Some((low, high));
    to.histogram = [0; HISTOGRAM];
    let bars = 16.0;
    for distance in finite() {
        let share = if high > low { (distance - low) / (high - low) } else { 0.0 };
        // From 0 to 15, also where rounding would give more.
        let at = (share * bars).clamp(0.0, bars - 1.0) as usize;
        if let Some(bar) = to.histogram.get_mut(at) {
            *bar = bar.saturating_add(1);
        }
    }
}
