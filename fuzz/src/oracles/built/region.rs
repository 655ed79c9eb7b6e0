//! Region files of versions 2 and 3, written here by the description, anywhere in the world.

use arbitrary::{Result, Unstructured};
use voxscope::bytes::Span;
use voxscope::check;
use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::container::Mode;
use voxscope::godot::region::{Builder, Format, Header};
use voxscope::godot::slots::SlotFormula;
use voxscope::godot::textures::{INDICES, WEIGHTS};
use voxscope::save::{ForestLayout, Options, Save};

use super::block::Plain;
use super::container::packed;
use super::{Kind, Model, Seen};
use crate::naive::region::position;
use crate::oracles::{disk, limits, region as raw};

/// A region file of a version.
#[derive(Debug)]
pub struct Region<const VERSION: u8>(pub File);

/// A region file, whatever its version.
#[derive(Debug)]
pub struct File {
    pub(super) version: u8,
    pub(super) format: Format,
    pub(super) palette: bool,
    pub(super) region: [i32; 3],
    /// The formula by which blocks of negative coordinates were placed.
    pub(super) slots: SlotFormula,
    /// In the order of their sectors.
    pub(super) blocks: Vec<Stored>,
}

/// A block of the file.
#[derive(Clone, Debug)]
pub struct Stored {
    pub(super) slot: u32,
    pub(super) mode: Mode,
    pub(super) plain: Plain,
    /// Its container.
    pub(super) container: Vec<u8>,
    /// Its sectors.
    pub(super) first: usize,
    pub(super) count: usize,
    /// Where it is in the world.
    pub(super) position: [i32; 3],
}

impl File {
    fn make(u: &mut Unstructured<'_>, version: u8) -> Result<Self> {
        let bits: u8 = u.arbitrary()?;
        let (sides, sector, codes): ([u8; 3], u16, u16) = u.arbitrary()?;
        let mut depths: [Depth; CHANNELS] = std::array::from_fn(|i| Depth::ALL[usize::from(codes >> (2 * i) & 3)]);
        if bits & 0x20 != 0 {
            // Textures in the form Mixel4.
            (depths[INDICES], depths[WEIGHTS]) = (Depth::Bits16, Depth::Bits16);
        }
        let format = Format {
            block_size_po2: 1 + (bits & 1),
            region_size: sides.map(|n| 1 + u16::from(n) % 3),
            depths,
            // No block takes more than 255 of the smallest.
            sector_size: 24 + u32::from(sector) % 600,
        };
        let region: [i8; 3] = u.arbitrary()?;
        let region = region.map(|n| i32::from(n) % 3);
        // Versions before 4 are placed by the old formula, and one region has blocks of one kind.
        let block_version = if version == 2 { [1, 2, 4, 4] } else { [4, 4, 3, 2] }[usize::from(bits >> 1 & 3)];
        let old = version < 3 || block_version < 4;
        let slots = if old { SlotFormula::Legacy } else { SlotFormula::Euclidean };
        let palette = version == 3 && bits >> 3 & 3 == 3;
        let mut file = Self { version, format, palette, region, slots, blocks: Vec::new() };
        let mut first = 0;
        for _ in 0..u.arbitrary::<u8>()? % 5 {
            let (slot, mode): (u8, u8) = u.arbitrary()?;
            let slot = u32::from(slot) % format.table_len();
            let plain = Plain::make(u, block_version, &format.layout())?;
            if file.blocks.iter().any(|block| block.slot == slot) {
                continue;
            }
            let mode = Mode::ALL[usize::from(mode) % Mode::ALL.len()];
            let container = packed(mode, &plain.written.bytes);
            let count = (container.len() + 4).div_ceil(format.sector_size as usize);
            let position = position(region, format.region_size, slot, old).unwrap_or_default();
            file.blocks.push(Stored { slot, mode, plain, container, first, count, position });
            first += count;
        }
        Ok(file)
    }

    /// Where the table begins.
    pub(super) fn table(&self) -> usize {
        match self.version {
            3 => 20 + if self.palette { 1024 } else { 0 },
            _ => 5,
        }
    }

    /// Where the sectors begin.
    pub(super) fn sectors_at(&self) -> usize {
        self.table() + 4 * self.format.table_len() as usize
    }

    /// Where a sector lies.
    pub(super) fn sector(&self, n: usize) -> usize {
        self.sectors_at() + n * self.format.sector_size as usize
    }

    /// All sectors.
    pub(super) fn sectors(&self) -> usize {
        self.blocks.iter().map(|block| block.count).sum()
    }

    /// The sectors of a block.
    pub(super) fn span(&self, first: usize, count: usize) -> Span {
        Span::new(self.sector(first) as u64, self.sector(first + count) as u64)
    }

    /// The bytes before the table.
    fn header(&self) -> Vec<u8> {
        let mut out = b"VXR_".to_vec();
        out.push(self.version);
        if self.version == 3 {
            out.push(self.format.block_size_po2);
            out.extend(self.format.region_size.map(|n| n as u8));
            out.extend(self.format.depths.map(Depth::code));
            out.extend((self.format.sector_size as u16).to_le_bytes());
            out.push(if self.palette { 0xff } else { 0 });
            out.extend((0..if self.palette { 1024 } else { 0 }).map(|n: usize| (n / 4) as u8));
        }
        out
    }

    /// The file, with other containers where they are given.
    pub(super) fn bytes_with(&self, other: impl Fn(usize) -> Option<Vec<u8>>) -> Vec<u8> {
        let sector = self.format.sector_size as usize;
        let mut out = self.header();
        out.resize(self.sectors_at(), 0);
        let mut first = 0;
        for (n, block) in self.blocks.iter().enumerate() {
            let container = other(n).unwrap_or_else(|| block.container.clone());
            let count = (container.len() + 4).div_ceil(sector);
            let at = self.table() + 4 * block.slot as usize;
            out[at..at + 4].copy_from_slice(&((first << 8 | count) as u32).to_le_bytes());
            out.extend((container.len() as u32).to_le_bytes());
            out.extend(container);
            first += count;
            out.resize(self.sector(first), 0);
        }
        out
    }

    fn options(&self) -> Options {
        Options::default().limits(limits()).format(self.format)
    }

    fn look(&self, bytes: &[u8]) -> Vec<Seen> {
        // Damaged blocks do not always imply the slot formula.
        let options = self.options().slots(self.slots);
        check::region_bytes(bytes, "r", 0, self.region, &options).iter().map(Seen::from).collect()
    }

    /// The builder of the library writes the same file, and each block is where the description has it.
    fn compare(&self, bytes: &[u8]) {
        let header = if self.palette {
            let mut palette = [0; 1024];
            palette.copy_from_slice(&bytes[20..1044]);
            Header::with_palette(self.format, palette)
        } else {
            Header::new(self.version, self.format)
        };
        let mut builder = Builder::new(header.clone());
        for block in &self.blocks {
            assert!(builder.push(block.slot, &block.container).is_some(), "slot {} cannot be written", block.slot);
        }
        assert!(builder.finish().unwrap() == bytes, "the library writes another file");
        let Ok(mut region) = voxscope::save::Region::load(bytes, header, 0, self.region, &self.options()) else {
            unreachable!("memory does not fail")
        };
        let mut scratch = voxscope::save::Scratch::default();
        let Ok(slots) = region.slots(&mut scratch) else { unreachable!("memory does not fail") };
        assert!(self.blocks.is_empty() || !region.is_negative() || slots == self.slots, "taken to be of {slots:?}");
        for block in &self.blocks {
            assert_eq!(region.block_position(block.slot, slots), Some(block.position), "slot {}", block.slot);
            let Some(listed) = region.find(block.slot) else { panic!("slot {} is not found", block.slot) };
            let Ok(view) = region.view(listed.entry, &mut scratch) else { unreachable!("memory does not fail") };
            let plain = view.container.map_or(&[][..], |container| container.plain);
            assert!(plain == block.plain.written.bytes, "slot {} holds something else", block.slot);
        }
        self.compare_in_layouts(bytes);
        self.any(bytes);
    }

    /// The file is found with its LOD and its position where the engine and where the Rust port put it.
    fn compare_in_layouts(&self, bytes: &[u8]) {
        let [x, y, z] = self.region;
        for (layout, directory) in [(ForestLayout::Engine, "regions/lod3"), (ForestLayout::Port, "lod3")] {
            disk::clean();
            let dir = disk::directory("forest");
            disk::write(&dir, "meta.vxrm", b"{}");
            disk::write(&dir, format!("{directory}/r.{x}.{y}.{z}.vxr"), bytes);
            let save = Save::open(&dir, &self.options()).unwrap_or_else(|error| panic!("no save: {error}"));
            let found = save.forests.iter().map(|forest| {
                (forest.layout, forest.regions.iter().map(|file| (file.lod, file.position)).collect::<Vec<_>>())
            });
            assert_eq!(found.collect::<Vec<_>>(), [(layout, vec![(3, self.region)])], "in {directory}");
        }
        disk::clean();
    }

    fn any(&self, bytes: &[u8]) {
        raw::with_layout(bytes, Some(&self.format));
    }
}

impl<const VERSION: u8> Model for Region<VERSION> {
    fn make(u: &mut Unstructured<'_>) -> Result<Self> {
        File::make(u, VERSION).map(Self)
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.bytes_with(|_| None)
    }

    fn look(&self, bytes: &[u8]) -> Vec<Seen> {
        self.0.look(bytes)
    }

    fn compare(&self, bytes: &[u8]) {
        self.0.compare(bytes);
    }

    fn any(&self, bytes: &[u8]) {
        self.0.any(bytes);
    }

    fn kinds() -> &'static [Kind<Self>] {
        let all: &'static [Kind<Self>] = const { &super::region_kinds::kinds::<VERSION>() };
        &all[..super::region_kinds::of(VERSION)]
    }
}
