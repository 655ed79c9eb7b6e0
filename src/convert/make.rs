//! Makes blocks of the result from blocks of the source.

use crate::axes;
use crate::convert::before::{Before, bits};
use crate::convert::block::{cut_distances, far_distances, of_today, without_equal};
use crate::convert::channels::Data;
use crate::convert::items::{Items, Left};
use crate::convert::report::{Kind, Listed, Report};
use crate::convert::{Error, ForestLayout, OutputLayout, Work};
use crate::draft::Draft;
use crate::godot::block::{self, Block};
use crate::godot::channel::{CHANNELS, Depth, NAMES, SDF};
use crate::godot::container;
use crate::godot::variant::Dialect;
use crate::parallel;
use crate::printable::triple;
use crate::resize::{Cube, Fill, VERSION, has_old_sdf};
use crate::save::View;
use crate::world::{At, Buffer, unreadable};

/// Voxels of a block of the result from which on units are converted one at a time, so that threads do not hold several of them.
const LARGE: u64 = 1 << 20;

/// A block of the result.
pub(super) struct Made {
    /// Its position.
    pub position: [i32; 3],
    /// Its container.
    pub container: Vec<u8>,
    /// Its decompressed bytes and the bytes of its metadata, if they differ from the source.
    plain: u64,
    metadata: u64,
    /// The bytes of its instances.
    #[cfg_attr(not(feature = "sqlite"), allow(dead_code))]
    pub instances: Option<Vec<u8>>,
}

/// Buffers of one thread.
#[derive(Default)]
pub(super) struct Buffers {
    block: Buffer,
    sdf: Vec<u8>,
    plain: Vec<u8>,
    uniform: Vec<u8>,
    changed: Data,
}

/// The blocks made from one unit: one block of the source, or all that form one block of the result.
pub(super) struct Maker<'m> {
    pub work: &'m Work<'m>,
    pub lod: u8,
    pub fill: &'m Fill,
    pub before: &'m Before,
    /// Number of units that are converted before their results are passed on.
    pub window: usize,
}

/// Whether a position of the result is wanted.
pub(super) type IsWanted<'k> = &'k (dyn Fn([i32; 3]) -> bool + Sync);

impl Maker<'_> {
    /// Makes the blocks of units and passes them on in order; the progress is in blocks read.
    pub fn make_all(
        &self,
        units: &[&[At]],
        draft: &Draft<'_>,
        keep: IsWanted<'_>,
        report: &mut Report,
        sink: &mut dyn FnMut(Made, &mut Report) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let is_large = u64::from(self.work.layout.to).pow(3) > LARGE;
        let window = if is_large { 1 } else { self.window.max(1) };
        for window in units.chunks(window) {
            let parts = parallel::map_with(window, |buffers: &mut Buffers, unit| {
                draft.go_on()?;
                let mut report = Report::default();
                let made = self.make_unit(unit, buffers, &mut report, keep)?;
                Ok::<_, Error>((made, report))
            });
            for part in parts {
                let (made, part) = part?;
                report.merge(part);
                made.into_iter().try_for_each(|made| sink(made, report))?;
            }
            self.work.watch.advance(window.iter().map(|unit| unit.len() as u64).sum());
        }
        Ok(())
    }

    /// Makes the blocks of a unit.
    fn make_unit(
        &self,
        unit: &[At],
        buffers: &mut Buffers,
        report: &mut Report,
        keep: IsWanted<'_>,
    ) -> Result<Vec<Made>, Error> {
        let OutputLayout { from, to, .. } = *self.work.layout;
        let mut made = match unit {
            [] => Vec::new(),
            [at, ..] if from > to => self.split(at, buffers, report, keep)?,
            [at, ..] if from < to => self.join(at, unit, buffers, report)?.into_iter().collect(),
            [at, ..] => self.same(at, buffers, report)?.into_iter().collect(),
        };
        // The result could not be read again.
        let limits = self.work.world.limits();
        made.retain(|made| {
            let fits = made.plain <= limits.block_bytes && made.metadata <= limits.metadata_bytes;
            if !fits {
                self.list(report, Kind::TooLarge, made.position, "it has more bytes than a block can have".to_owned());
            }
            fits
        });
        report.written += made.len() as u64;
        Ok(made)
    }

    fn list(&self, report: &mut Report, kind: Kind, block: [i32; 3], why: String) {
        report.list(kind, self.lod, block, why);
    }

    /// The instance bytes of the fetched block, if the result can store them.
    pub fn instances(&self, at: &At, buffer: &mut Buffer, report: &mut Report) -> Option<Vec<u8>> {
        let OutputLayout { from, to, keys, .. } = *self.work.layout;
        let world = self.work.world;
        // The index lists them under the position of their block.
        if world.instances_are_of_another(at) {
            return None;
        }
        if from == to && keys.is_some() {
            let container = world.decode_instances(buffer).and_then(|view| view.container);
            if container.is_some_and(|container| container.mode == Some(container::Mode::Lz4WrongOrder)) {
                return world.instances(buffer).map(container::with_readable_mode);
            }
            if let Some(why) = world.damaged_instances(buffer) {
                self.list(report, Kind::DamagedInstances, at.position, why);
            }
            return world.instances(buffer).map(<[u8]>::to_vec);
        }
        if world.are_instances(buffer) {
            let why =
                if keys.is_none() { "a forest has no place for them" } else { "they belong to blocks of another size" };
            self.list(report, Kind::Instances, at.position, why.to_owned());
        }
        None
    }

    fn left(&self, report: &mut Report, kind: Kind, block: [i32; 3], left: Vec<Left>) {
        report.listed.extend(left.into_iter().map(|left| Listed {
            voxel: left.voxel,
            bytes: Some(left.bytes),
            ..Listed::new(kind, self.lod, block, left.why.to_owned())
        }));
    }

    /// Whether a block can be converted; records statistics and losses in the report.
    fn admit(&self, at: &At, view: &View<'_>, report: &mut Report) -> bool {
        report.read += 1;
        if let Some(why) = unreadable(view, Some(self.work.layout.from)) {
            self.list(report, Kind::Damaged, at.position, why);
            return false;
        }
        let Some(block) = &view.block else { return false };
        if let Some(n) = report.versions.get_mut(usize::from(block.version)) {
            *n += 1;
        }
        report.sdf += u64::from(has_old_sdf(block));
        let cut = cut_distances(block);
        if cut > 0 {
            report.cut += cut;
            let why = format!("{cut} voxels, whose distance was a step above 1: the fixed point of today ends there");
            self.list(report, Kind::Cut, at.position, why);
        }
        let own = block.channels.get(SDF).map_or(Depth::Bits8, |channel| channel.depth);
        let to = self.work.layout.change.depth(SDF, own);
        let (far, farthest) = far_distances(block, to);
        if far > 0 {
            let voxels = if far == 1 { "voxel" } else { "voxels" };
            let why = format!("{far} {voxels}, whose distance is beyond {farthest}: {} bits end there", to.bits());
            self.list(report, Kind::Far, at.position, why);
        }
        for (c, (channel, declared)) in block.channels.iter().zip(self.work.layout.depths).enumerate() {
            let change = &self.work.layout.change;
            let depth = change.depth(c, channel.depth);
            if change.is_changed(c, channel.depth) {
                *report.forms.entry((c, channel.depth, depth, change.changes_textures(c))).or_default() += 1;
            }
            if depth != declared {
                let name = NAMES.get(c).unwrap_or(&"");
                let why = format!("{name} has {depth}, and {declared} is what is declared");
                self.list(report, Kind::Depth, at.position, why);
            }
        }
        if let Some(metadata) = block.metadata.as_ref().filter(|metadata| metadata.dialect == Dialect::Godot3) {
            report.godot3 += 1;
            let voxels = metadata.voxels.iter().map(|voxel| (Some(voxel.position), &voxel.item));
            for (voxel, item) in metadata.block.iter().map(|item| (None, item)).chain(voxels) {
                let n = without_equal(item);
                if n > 0 {
                    let why = format!("{n} numbers of resources or objects");
                    report.listed.push(Listed { voxel, ..Listed::new(Kind::NoEqual, self.lod, at.position, why) });
                }
            }
        }
        if self.work.layout.tree == ForestLayout::Engine
            && let Some(metadata) = &block.metadata
        {
            let items = metadata.block.iter().chain(metadata.voxels.iter().map(|voxel| &voxel.item));
            let n = items.filter(|item| item.is_of_port()).count();
            if n > 0 {
                let why = format!("{n} {} of types of the Rust port", if n == 1 { "item" } else { "items" });
                self.list(report, Kind::PortItems, at.position, why);
            }
        }
        true
    }

    /// The block with the channels that get another form.
    fn change<'a>(&self, at: &At, block: Block<'a>, data: &'a mut Data) -> Result<Block<'a>, Error> {
        let change = self.work.layout.change;
        let refused = |why: String| {
            Error::Request(format!("block {} of LOD {} cannot be converted: {why}", triple(at.position), self.lod))
        };
        match change.refusal(&block) {
            Some(why) => Err(refused(why)),
            None => change.apply(block, data).map_err(refused),
        }
    }

    /// Makes a block of the same size.
    fn same(&self, at: &At, buffers: &mut Buffers, report: &mut Report) -> Result<Option<Made>, Error> {
        let Buffers { block, sdf, plain, changed, .. } = buffers;
        let mode = self.work.layout.mode;
        self.work.world.fetch(at, block)?;
        let instances = self.instances(at, block, report);
        let view = self.work.world.decode(at, block);
        if !self.admit(at, &view, report) {
            return Ok(None);
        }
        let of_today_already = view.block.as_ref().is_some_and(|block| block.version == VERSION);
        let mode_already = view.container.is_some_and(|c| c.whole && c.mode == Some(mode));
        let mut packed = Vec::new();
        let unchanged = self.work.layout.change.is_nothing();
        let packed_anew = !(of_today_already && mode_already && unchanged && view.damage.is_empty());
        if !packed_anew {
            report.copied += 1;
            packed.extend_from_slice(self.work.world.container(block));
        } else if let Some(block) = view.block {
            plain.clear();
            block::encode(&self.change(at, of_today(block, sdf), changed)?, plain);
            container::encode(mode, plain, &mut packed);
        }
        let plain = if packed_anew { plain.len() as u64 } else { 0 };
        Ok(Some(Made { position: at.position, container: packed, plain, metadata: 0, instances }))
    }

    /// Splits a larger block.
    fn split(
        &self,
        at: &At,
        buffers: &mut Buffers,
        report: &mut Report,
        keep: IsWanted<'_>,
    ) -> Result<Vec<Made>, Error> {
        let OutputLayout { from, to, mode, .. } = *self.work.layout;
        let Buffers { block, sdf, plain, uniform, changed } = buffers;
        let Some(first) = self.work.target(at.position) else { return Ok(Vec::new()) };
        self.work.world.fetch(at, block)?;
        // A block may have parts in several regions: report it in the first of them only.
        let mut said = Report::default();
        let here = if keep(first) { &mut *report } else { &mut said };
        self.instances(at, block, here);
        let view = self.work.world.decode(at, block);
        if !self.admit(at, &view, here) {
            return Ok(Vec::new());
        }
        let Some(block) = view.block else { return Ok(Vec::new()) };
        let block = self.change(at, of_today(block, sdf), changed)?;
        let n = from / to;
        let mut made = Vec::new();
        for (z, x, y) in (0..n).flat_map(|z| (0..n).flat_map(move |x| (0..n).map(move |y| (z, x, y)))) {
            let step = [x, y, z];
            let position = axes::combine(first, step, |n, by| n.saturating_add(i32::from(by)));
            if !keep(position) {
                continue;
            }
            let corner = step.map(|n| n * to);
            let cube = Cube::cut(&block, corner.map(usize::from), to);
            let mut items = Items::default();
            let mut left = Vec::new();
            items.add_from(&block, corner, to, [0; 3], &mut left);
            let part = (z * n + x) * n + y;
            if items.is_empty() && self.before.is_filling(self.lod, at.position, part.into(), &cube) {
                report.emptied += 1;
                continue;
            }
            let apart = self.before.items(self.lod, position);
            let taken = items.put_back(apart, to);
            report.put_back += (apart.len() - taken.len()) as u64;
            self.left(report, Kind::Apart, position, taken);
            made.push(pack(position, &cube, items, uniform, plain, mode, &mut left));
            self.left(report, Kind::Metadata, at.position, left);
        }
        Ok(made)
    }

    /// Joins smaller blocks.
    fn join(&self, first: &At, unit: &[At], buffers: &mut Buffers, report: &mut Report) -> Result<Option<Made>, Error> {
        let OutputLayout { from, to, mode, depths, .. } = *self.work.layout;
        let Some(target) = self.work.target(first.position) else { return Ok(None) };
        let Buffers { block, sdf, plain, uniform, changed } = buffers;
        let mut cube = Cube::new(to, depths);
        let mut items = Items::default();
        let mut before = Vec::new();
        for at in unit {
            self.work.world.fetch(at, block)?;
            self.instances(at, block, report);
            let view = self.work.world.decode(at, block);
            if !self.admit(at, &view, report) {
                continue;
            }
            let Some(block) = view.block else { continue };
            let block = self.change(at, of_today(block, sdf), changed)?;
            let inside = |n: i32| u16::try_from((i64::from(n) * i64::from(from)).rem_euclid(i64::from(to)));
            let corner = at.position.map(|n| inside(n).unwrap_or(0));
            cube.put(corner.map(usize::from), &block, &before, self.fill);
            before.push(corner.map(usize::from));
            let mut left = Vec::new();
            items.add_from(&block, [0; 3], from, corner, &mut left);
            self.left(report, Kind::Metadata, at.position, left);
        }
        if before.is_empty() {
            return Ok(None);
        }
        let all = usize::from(to / from).pow(3);
        if before.len() < all {
            let why = format!("{} of the {all} blocks that make it up are not there", all - before.len());
            let n = usize::from(to / from);
            let there = before.iter().map(|corner| corner.map(|v| v / usize::from(from)));
            report.listed.push(Listed {
                bytes: Some(bits(all, there.map(|[x, y, z]| (z * n + x) * n + y))),
                values: Some(cube.filling(self.fill)),
                ..Listed::new(Kind::Filled, self.lod, target, why)
            });
        }
        cube.finish(&before, from, self.fill);
        let mut left = Vec::new();
        let made = pack(target, &cube, items, uniform, plain, mode, &mut left);
        self.left(report, Kind::Metadata, first.position, left);
        Ok(Some(made))
    }
}

fn pack(
    position: [i32; 3],
    cube: &Cube,
    items: Items,
    uniform: &mut Vec<u8>,
    plain: &mut Vec<u8>,
    mode: container::Mode,
    left: &mut Vec<Left>,
) -> Made {
    let block: Block<'_> = cube.block(uniform);
    debug_assert_eq!(block.channels.len(), CHANNELS);
    plain.clear();
    let metadata = items.encode(&block, plain, left);
    let mut container = Vec::new();
    container::encode(mode, plain, &mut container);
    Made { position, container, plain: plain.len() as u64, metadata, instances: None }
}
