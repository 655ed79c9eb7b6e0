//! Region forests on disk, written as the engine would.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::bytes::len64;
use crate::demo::noise;
use crate::demo::owned::OwnedBlock;
use crate::demo::terrain::Terrain;
use crate::godot::channel::{CHANNELS, Depth};
use crate::godot::container::{self, Mode};
use crate::godot::forest::Meta;
use crate::godot::region::{Builder, Format, Header, name_of};
use crate::godot::slots::{self, SlotFormula};
use crate::parallel;
use crate::watch::{Step, Watch};

/// A box of blocks: from the first up to, not including, the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The lowest block.
    pub from: [i32; 3],
    /// Just past the highest block.
    pub to: [i32; 3],
}

/// The specification of a forest.
#[derive(Clone, Debug, PartialEq)]
pub struct ForestSpec {
    /// The land.
    pub terrain: Terrain,
    /// Version of `meta.vxrm`, 1 to 3. Version 1 has no depths: they must all be 8 bit then.
    pub meta_version: u8,
    /// Version of the region files, 1 to 3.
    pub region_version: u8,
    /// Version of the block data, 1 to 4.
    pub block_version: u8,
    /// The compression of blocks.
    pub mode: Mode,
    /// Blocks along each axis of a region, as a power of two, 1 to 7.
    pub region_size_po2: u8,
    /// Voxels along each axis of a block, as a power of two, 1 to 8.
    pub block_size_po2: u8,
    /// Bytes per sector.
    pub sector_size: u16,
    /// Depth of each channel.
    pub depths: [Depth; CHANNELS],
    /// The blocks of each LOD, from LOD 0 on.
    pub lods: Vec<Extent>,
    /// Whether `meta.vxrm` has the `lod_count` that older engines wrote.
    pub lod_count: bool,
    /// Whether some blocks have metadata.
    pub metadata: bool,
    /// Whether region files have a palette (version 3 only).
    pub palette: bool,
    /// The slot formula.
    pub slots: SlotFormula,
}

/// Totals of a written forest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Blocks.
    pub blocks: u64,
    /// Files, with the meta file.
    pub files: u64,
    /// Bytes of all files.
    pub stored_bytes: u64,
    /// Bytes of all blocks, decompressed.
    pub plain_bytes: u64,
}

/// The default depths of the engine.
pub const DEPTHS: [Depth; CHANNELS] = [
    Depth::Bits16,
    Depth::Bits16,
    Depth::Bits8,
    Depth::Bits16,
    Depth::Bits16,
    Depth::Bits8,
    Depth::Bits8,
    Depth::Bits8,
];

impl Default for ForestSpec {
    /// A forest of the current engine: two LODs of a small world around the origin.
    fn default() -> Self {
        Self {
            terrain: Terrain::new(1),
            meta_version: 3,
            region_version: 3,
            block_version: 4,
            mode: Mode::Lz4,
            region_size_po2: 2,
            block_size_po2: 4,
            sector_size: 512,
            depths: DEPTHS,
            lods: vec![Extent { from: [-2, -1, -2], to: [2, 2, 2] }, Extent { from: [-1, -1, -1], to: [1, 1, 1] }],
            lod_count: false,
            metadata: true,
            palette: false,
            slots: SlotFormula::Euclidean,
        }
    }
}

/// A region file before it is written: its blocks by slot.
struct Plan {
    lod: u8,
    region: [i32; 3],
    blocks: Slotted,
}

/// Slots and block positions.
type Slotted = Vec<(u32, [i32; 3])>;

impl ForestSpec {
    /// The forest that the benchmarks read: 20,480 blocks of 16 x 16 x 16 voxels in two LODs, most of them with raw
    /// TYPE and SDF: 287 MB decompressed, 100 MB stored.
    #[must_use]
    pub fn bench() -> Self {
        let terrain = Terrain { base: 7.0, relief: 30.0, reach: 8.25, ..Terrain::new(20_480) };
        Self {
            terrain,
            region_size_po2: 4,
            lods: vec![
                Extent { from: [-32, -2, -32], to: [32, 2, 32] },
                Extent { from: [-16, -2, -16], to: [16, 2, 16] },
            ],
            ..Self::default()
        }
    }

    /// Number of blocks.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.lods.iter().map(Extent::volume).sum()
    }

    /// The layout of its region files.
    #[must_use]
    pub fn format(&self) -> Format {
        Format {
            block_size_po2: self.block_size_po2,
            region_size: [1u16.checked_shl(u32::from(self.region_size_po2)).unwrap_or(0); 3],
            depths: self.depths,
            sector_size: u32::from(self.sector_size),
        }
    }

    /// Its meta file.
    #[must_use]
    pub fn meta(&self) -> Meta {
        Meta {
            version: Some(self.meta_version),
            block_size_po2: Some(self.block_size_po2),
            region_size_po2: Some(self.region_size_po2),
            sector_size: Some(u32::from(self.sector_size)),
            depths: (self.meta_version > 1).then_some(self.depths),
            lod_count: self.lod_count.then(|| u8::try_from(self.lods.len()).unwrap_or(u8::MAX)),
            extra: Vec::new(),
        }
    }

    /// The block at a position, as it is written.
    #[must_use]
    pub fn block(&self, lod: u8, position: [i32; 3]) -> OwnedBlock {
        let size = self.format().block_size();
        let mut block = self.terrain.block(lod, position, size, &self.depths, self.block_version);
        if self.metadata {
            block.metadata = self.terrain.metadata(lod, position, &block);
        }
        block
    }

    /// The region files, in order, each with its blocks in the order of their positions.
    fn plans(&self) -> io::Result<Vec<Plan>> {
        let size = self.format().region_size;
        let mut regions: BTreeMap<(u8, [i32; 3]), Slotted> = BTreeMap::new();
        for (lod, extent) in (0u8..).zip(&self.lods) {
            for position in extent.positions() {
                let placed = slots::place_block(position, size, self.slots);
                let (region, slot) = placed.ok_or_else(|| impossible("a block position outside all regions"))?;
                regions.entry((lod, region)).or_default().push((slot, position));
            }
        }
        Ok(regions.into_iter().map(|((lod, region), blocks)| Plan { lod, region, blocks }).collect())
    }

    fn header(&self) -> Header {
        if self.palette && self.region_version >= 3 {
            return Header::with_palette(self.format(), palette());
        }
        Header::new(self.region_version, self.format())
    }

    /// A region file, and the decompressed size of its blocks.
    fn region(&self, plan: &Plan, done: &impl Fn()) -> io::Result<(Vec<u8>, u64)> {
        let mut builder = Builder::new(self.header());
        let mut plain_bytes = 0;
        let mut container = Vec::new();
        for &(slot, position) in &plan.blocks {
            let plain = self.block(plan.lod, position).encode();
            plain_bytes += len64(&plain);
            container.clear();
            container::encode(self.mode, &plain, &mut container);
            let pushed = builder.push(slot, &container);
            pushed.ok_or_else(|| impossible("a block that takes more than 255 sectors"))?;
            done();
        }
        Ok((builder.finish()?, plain_bytes))
    }

    fn check(&self) -> io::Result<()> {
        let fits = (1..=3).contains(&self.meta_version)
            && (1..=3).contains(&self.region_version)
            && (1..=4).contains(&self.block_version)
            && (1..=7).contains(&self.region_size_po2)
            && (1..=8).contains(&self.block_size_po2)
            && self.sector_size > 0
            && self.lods.len() <= 24
            && (self.meta_version > 1 || self.depths == [Depth::Bits8; CHANNELS]);
        if fits { Ok(()) } else { Err(impossible("a forest of settings that the format does not have")) }
    }

    /// All files in memory, by their paths below the forest's directory; for small forests.
    ///
    /// # Errors
    /// If the settings are not valid.
    pub fn build(&self) -> io::Result<BTreeMap<PathBuf, Vec<u8>>> {
        self.check()?;
        let mut files = BTreeMap::from([(PathBuf::from("meta.vxrm"), self.meta().encode())]);
        for plan in self.plans()? {
            files.insert(plan.path(), self.region(&plan, &|| {})?.0);
        }
        Ok(files)
    }
}

impl Plan {
    fn path(&self) -> PathBuf {
        PathBuf::from(format!("regions/lod{}/{}", self.lod, name_of(self.region)))
    }
}

impl Extent {
    /// Number of blocks.
    #[must_use]
    pub fn volume(&self) -> u64 {
        let axis = |a: i32, b: i32| u64::try_from(i64::from(b) - i64::from(a)).unwrap_or(0);
        let ([ax, ay, az], [bx, by, bz]) = (self.from, self.to);
        axis(ax, bx) * axis(ay, by) * axis(az, bz)
    }

    /// Its blocks; y runs fastest, then x, then z.
    pub fn positions(self) -> impl Iterator<Item = [i32; 3]> {
        let ([ax, ay, az], [bx, by, bz]) = (self.from, self.to);
        (az..bz).flat_map(move |z| (ax..bx).flat_map(move |x| (ay..by).map(move |y| [x, y, z])))
    }
}

/// 256 colours: those of the materials first.
fn palette() -> [u8; 1024] {
    let materials: [[u8; 3]; 9] = [
        [0, 0, 0],
        [86, 152, 64],
        [121, 85, 58],
        [125, 125, 125],
        [240, 245, 250],
        [219, 207, 163],
        [50, 90, 200],
        [40, 40, 40],
        [190, 150, 120],
    ];
    let colour = |i: usize| {
        let random = noise::hash(0, [i as i64, 0, 0]).to_le_bytes();
        let [r, g, b] = materials.get(i).copied().unwrap_or([random[0], random[1], random[2]]);
        [r, g, b, if i == 0 { 0 } else { 255 }]
    };
    let mut palette = [0; 1024];
    for (i, rgba) in palette.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        *rgba = colour(i);
    }
    palette
}

fn impossible(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("cannot write {what}"))
}

/// Writes a forest into a directory, which is made when it is not there. Region files are made in parallel and are not
/// kept in memory; the bytes do not depend on the number of threads.
///
/// # Errors
/// When the settings are impossible, when `dir` is there and not an empty directory, and when writing fails. Nothing is
/// ever overwritten.
pub fn write_forest(dir: &Path, spec: &ForestSpec, watch: Option<&Watch<'_>>) -> io::Result<Stats> {
    spec.check()?;
    empty_directory(dir)?;
    let watch = watch.copied().unwrap_or_default();
    watch.begin(Step::Writing, spec.blocks());
    let done = || watch.advance(1);
    let meta = spec.meta().encode();
    write_new(dir, Path::new("meta.vxrm"), &meta)?;
    let first = Stats { blocks: 0, files: 1, stored_bytes: len64(&meta), plain_bytes: 0 };
    let one = |plan: &Plan| -> io::Result<Stats> {
        let (bytes, plain_bytes) = spec.region(plan, &done)?;
        write_new(dir, &plan.path(), &bytes)?;
        Ok(Stats { blocks: plan.blocks.len() as u64, files: 1, stored_bytes: len64(&bytes), plain_bytes })
    };
    let written = parallel::try_map(&spec.plans()?, one)?;
    Ok(written.into_iter().fold(first, Stats::plus))
}

impl Stats {
    fn plus(self, other: Self) -> Self {
        Self {
            blocks: self.blocks + other.blocks,
            files: self.files + other.files,
            stored_bytes: self.stored_bytes + other.stored_bytes,
            plain_bytes: self.plain_bytes + other.plain_bytes,
        }
    }
}

/// Creates the directory, or uses it if it exists and is empty.
///
/// # Errors
/// If `dir` exists and is not an empty directory, or cannot be created.
pub fn empty_directory(dir: &Path) -> io::Result<()> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", crate::printable::path(dir)));
    match fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                format!("{}: the directory is not empty; name one that is, or a new one", crate::printable::path(dir)),
            )),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(dir).map_err(named),
        Err(error) => Err(named(error)),
    }
}

/// Writes a new file, with its parent directories.
///
/// # Errors
/// I/O errors, with the path.
pub fn write_new(dir: &Path, below: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = dir.join(below);
    let write = || {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        OpenOptions::new().write(true).create_new(true).open(&path)?.write_all(bytes)
    };
    write().map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", crate::printable::path(&path))))
}
