//! A model of the engine's writer of region files, as docs/recovery.md describes it: it records every write to the disk,
//! so that a test can kill the game after each of them.

use std::collections::HashMap;

use voxscope::godot::block::{self, Block};
use voxscope::godot::channel::{CHANNELS, Channel, Depth, Storage};
use voxscope::godot::container::{self, Mode};
use voxscope::godot::region::{Entry, Format, Header, sectors_for};
use voxscope::godot::slots::{self, SlotFormula};

pub use super::random::Random;

/// A write to the disk.
pub struct Write {
    pub region: usize,
    pub at: usize,
    pub bytes: Vec<u8>,
    /// Saves that had begun.
    pub saves: usize,
}

/// A region file that the engine has open.
pub struct File {
    pub position: [i32; 3],
    pub header: Header,
    pub disk: Vec<u8>,
    table: Vec<Entry>,
    used: u32,
}

/// A world, its files and what was written.
pub struct World {
    pub files: Vec<File>,
    pub writes: Vec<Write>,
    pub saves: Vec<([i32; 3], Vec<u8>)>,
    pub mode: Mode,
    recording: bool,
    by_position: HashMap<[i32; 3], usize>,
    format: Format,
}

impl World {
    pub fn new(format: Format, mode: Mode) -> Self {
        Self {
            files: vec![],
            writes: vec![],
            saves: vec![],
            mode,
            recording: false,
            by_position: HashMap::new(),
            format,
        }
    }

    fn file(&mut self, position: [i32; 3]) -> usize {
        if let Some(&i) = self.by_position.get(&position) {
            return i;
        }
        let header = Header::new(3, self.format);
        let mut disk = Vec::new();
        // The engine keeps the low 16 bits of a sector size.
        let mut wire = header.clone();
        wire.format.sector_size &= 0xffff;
        wire.encode(&mut disk).unwrap();
        disk.resize(header.sectors_at() as usize, 0);
        let table = vec![Entry::default(); header.format.table_len() as usize];
        self.files.push(File { position, header, disk, table, used: 0 });
        self.by_position.insert(position, self.files.len() - 1);
        self.files.len() - 1
    }

    /// Writes the tables; what is written from now on is recorded.
    pub fn flush(&mut self) {
        for file in &mut self.files {
            let at = file.header.table.start as usize;
            for (to, entry) in file.disk[at..].chunks_exact_mut(4).zip(&file.table) {
                to.copy_from_slice(&entry.0.to_le_bytes());
            }
        }
        self.recording = true;
    }

    fn write(&mut self, region: usize, at: usize, bytes: &[u8]) {
        if self.recording {
            self.writes.push(Write { region, at, bytes: bytes.to_vec(), saves: self.saves.len() });
        }
        put(&mut self.files[region].disk, at, bytes);
    }

    /// Saves a block as the engine does. False when it takes too many sectors.
    pub fn save(&mut self, position: [i32; 3], plain: Vec<u8>) -> bool {
        let size = self.format.region_size;
        let place = [0, 1, 2].map(|a| slots::place(position[a], size[a], SlotFormula::Euclidean).unwrap());
        let mut stored = vec![0; 4];
        container::encode(self.mode, &plain, &mut stored);
        let len = stored.len() as u32 - 4;
        stored[..4].copy_from_slice(&len.to_le_bytes());
        let sector = self.format.sector_size;
        let Ok(count) = u8::try_from(sectors_for(len.into(), sector)) else { return false };
        let region = self.file(place.map(|p| p.0));
        let slot = slots::index(size, place.map(|p| p.1)).unwrap() as usize;
        if self.recording {
            self.saves.push((position, plain));
        }
        let old = self.files[region].table[slot];
        let append = !old.is_used() || count > old.count();
        if append {
            self.release(region, slot, old.count());
            let first = self.files[region].used;
            self.files[region].table[slot] = Entry::new(first, count);
            self.files[region].used += u32::from(count);
            // Only what is appended is padded.
            stored.resize(usize::from(count) * sector as usize, 0);
        } else {
            self.release(region, slot, old.count() - count);
        }
        let first = self.files[region].table[slot].first();
        let at = self.files[region].header.sector_span(first.into(), 1).start as usize;
        self.write(region, at, &stored);
        true
    }

    /// Takes the last `count` sectors from a block; every later sector moves down, one at a time.
    fn release(&mut self, region: usize, slot: usize, count: u8) {
        let (gone, entry) = (u32::from(count), self.files[region].table[slot]);
        if gone == 0 {
            return;
        }
        for sector in entry.end()..self.files[region].used {
            let file = &self.files[region];
            let from = file.header.sector_span(sector.into(), 1);
            let to = file.header.sector_span((sector - gone).into(), 1).start as usize;
            let bytes = file.disk[from.start as usize..from.end as usize].to_vec();
            self.write(region, to, &bytes);
        }
        let file = &mut self.files[region];
        file.used -= gone;
        let left = entry.count() - count;
        file.table[slot] = if left == 0 { Entry::default() } else { Entry::new(entry.first(), left) };
        for other in &mut file.table {
            if other.is_used() && other.first() > entry.first() {
                *other = Entry::new(other.first() - gone, other.count());
            }
        }
    }
}

/// Writes bytes into a file, which grows when it must.
pub fn put(disk: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if disk.len() < at + bytes.len() {
        disk.resize(at + bytes.len(), 0);
    }
    disk[at..at + bytes.len()].copy_from_slice(bytes);
}

/// A block of version 4 with a TYPE and an SDF channel; uniform where all values are the same.
pub fn plain(side: u16, kinds: &[u8], sdf: Option<&[i16]>) -> Vec<u8> {
    let sdf: Vec<u8> = sdf.map_or(vec![0xff, 0x7f], |s| s.iter().flat_map(|v| v.to_le_bytes()).collect());
    let mut channels = Vec::new();
    let zero = [0u8];
    for i in 0..CHANNELS {
        let (depth, data): (Depth, &[u8]) = match i {
            0 => (Depth::Bits8, kinds),
            1 => (Depth::Bits16, &sdf),
            _ => (Depth::Bits8, &zero),
        };
        let width = depth.bytes();
        let uniform = data.chunks(width).all(|v| v == &data[..width]);
        let (storage, data) = if uniform { (Storage::Uniform, &data[..width]) } else { (Storage::Raw, data) };
        channels.push(Channel { depth, storage, data, offset: 0, size: data.len() as u64 });
    }
    let block = Block { version: 4, size: [side; 3], channels, metadata: None, epilogue: None };
    let mut out = Vec::new();
    block::encode(&block, &mut out);
    out
}

/// What fills a world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content {
    /// Hills that a player digs in and builds on.
    Terrain { smooth: bool },
    /// Noise: voxels of neighbouring blocks are unrelated.
    Noise,
}

/// The voxels of a world.
pub struct Voxels {
    content: Content,
    side: i32,
    wave: [f64; 6],
    edits: Vec<([i32; 3], i32, u8)>,
    seed: u64,
}

impl Voxels {
    pub fn new(content: Content, side: u16, random: &mut Random) -> Self {
        let wave = [0; 6].map(|_| 0.5 + random.below(1000) as f64 / 1000.0);
        Self { content, side: side.into(), wave, edits: vec![], seed: random.next() }
    }

    /// A player digs or builds at a voxel; gives the blocks that change.
    pub fn edit(&mut self, at: [i32; 3], radius: i32, kind: u8) -> Vec<[i32; 3]> {
        self.edits.push((at, radius, kind));
        let low = at.map(|v| (v - radius).div_euclid(self.side));
        let high = at.map(|v| (v + radius).div_euclid(self.side));
        let mut blocks = Vec::new();
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                blocks.extend((low[2]..=high[2]).map(|z| [x, y, z]));
            }
        }
        blocks
    }

    fn ground(&self, [x, y, z]: [i32; 3]) -> (u8, i16) {
        let [a, b, c, d, e, f] = self.wave;
        let (u, v) = (f64::from(x), f64::from(z));
        let s = f64::from(self.side);
        let height = s * 0.9 * (u / (s * 1.1 * a) + e * 6.0).sin()
            + s * 0.7 * (v / (s * 1.3 * b) + f * 6.0).sin()
            + s * 0.3 * ((u + v) / (s * 0.5 * c)).sin();
        let depth = height - f64::from(y);
        let hash = (x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ (y as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
            ^ (z as u64).wrapping_mul(0x1656_67b1_9e37_79f9)
            ^ self.seed;
        let ore = (hash.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 40) % 100 < 4;
        let kind = match depth {
            t if t < 0.0 => 0,
            t if t < 1.5 => 1,
            t if t < 2.0 + 2.0 * d => 2,
            _ if ore => 4,
            _ => 3,
        };
        (kind, (-depth * 600.0).clamp(-32767.0, 32767.0) as i16)
    }

    fn voxel(&self, p: [i32; 3]) -> (u8, i16) {
        let (mut kind, mut sdf) = self.ground(p);
        for (at, radius, with) in &self.edits {
            let d: i32 = (0..3).map(|a| (p[a] - at[a]).pow(2)).sum();
            if d <= radius * radius {
                kind = *with;
                sdf = (if *with == 0 { 1 } else { -1 })
                    * (f64::from(radius * radius - d).sqrt() * 600.0).min(32000.0) as i16;
            }
        }
        (kind, sdf)
    }

    /// The data of a block.
    pub fn block(&self, block: [i32; 3], random: &mut Random) -> Vec<u8> {
        let side = self.side;
        let volume = side.pow(3) as usize;
        let (mut kinds, mut sdf) = (vec![0; volume], vec![0i16; volume]);
        if self.content == Content::Noise {
            let busy = random.below(volume) + 1;
            kinds[..busy].iter_mut().for_each(|v| *v = random.next() as u8);
            return plain(side as u16, &kinds, None);
        }
        for (i, (kind, distance)) in kinds.iter_mut().zip(&mut sdf).enumerate() {
            let (y, x, z) = (i as i32 % side, i as i32 / side % side, i as i32 / side / side);
            (*kind, *distance) = self.voxel([block[0] * side + x, block[1] * side + y, block[2] * side + z]);
        }
        let smooth = self.content == Content::Terrain { smooth: true };
        plain(side as u16, &kinds, smooth.then_some(&sdf))
    }
}

/// A history: a world that was saved and flushed, and what was saved after that.
pub struct History {
    pub world: World,
    /// What was on disk when the tables were written, by region.
    pub flushed: Vec<Vec<u8>>,
    /// The blocks as they were then.
    pub before: HashMap<[i32; 3], Vec<u8>>,
}

impl History {
    pub fn random(seed: u64, content: Content) -> Self {
        let random = &mut Random::new(seed);
        let po2 = [2u8, 3, 3, 4][random.below(4)];
        let side = 1u16 << po2;
        let region = [2u16, 3, 4, 5, 8][random.below(5)];
        let volume = u64::from(side).pow(3);
        let least = (volume * 5 / 255 + 16) as u32;
        let sector = [16, 32, 64, 128, 256, 512, 1024, 4096][random.below(8)].max(least.div_ceil(16) * 16);
        let mut depths = [Depth::Bits8; CHANNELS];
        depths[1] = Depth::Bits16;
        let format = Format { block_size_po2: po2, region_size: [region; 3], depths, sector_size: sector };
        let mode = [Mode::Lz4, Mode::Lz4, Mode::Lz4, Mode::Plain][random.below(4)];
        let mut world = World::new(format, mode);
        let mut voxels = Voxels::new(content, side, random);
        let extent = [2 + random.below(5) as i32, 1 + random.below(3) as i32, 2 + random.below(5) as i32];
        let origin = [0; 3].map(|_| -(random.below(4) as i32));
        let origin = [origin[0], -extent[1] / 2 - random.below(2) as i32, origin[2]];
        let mut all = Vec::new();
        for x in 0..extent[0] {
            for z in 0..extent[2] {
                all.extend((0..extent[1]).map(|y| [origin[0] + x, origin[1] + y, origin[2] + z]));
            }
        }
        if random.chance(0.6) {
            // As a player walks, rather than row by row.
            for i in (1..all.len()).rev() {
                all.swap(i, random.below(i + 1));
            }
        }
        if random.chance(0.3) {
            all.truncate(all.len() * 3 / 4 + 1);
        }
        let mut before = HashMap::new();
        for &p in &all {
            let data = voxels.block(p, random);
            if world.save(p, data.clone()) {
                before.insert(p, data);
            }
        }
        if random.chance(0.4) {
            for _ in 0..random.below(12) {
                let (p, data) = step(&mut voxels, &all, random);
                if before.contains_key(&p) && world.save(p, data.clone()) {
                    before.insert(p, data);
                }
            }
        }
        world.flush();
        let flushed = world.files.iter().map(|f| f.disk.clone()).collect();
        let saves = 1 + random.below(all.len() / 3 + 2);
        let with_new = random.chance(0.2);
        for _ in 0..saves {
            let (mut p, data) = step(&mut voxels, &all, random);
            if with_new && random.chance(0.2) {
                p[1] += extent[1];
            } else if !before.contains_key(&p) {
                continue;
            }
            let data = if p[1] >= origin[1] + extent[1] { voxels.block(p, random) } else { data };
            let slots = world.files.len();
            let region = p.map(|v| v.div_euclid(i32::from(region)));
            if world.files.iter().any(|f| f.position == region) {
                world.save(p, data);
            }
            assert_eq!(world.files.len(), slots);
        }
        Self { world, flushed, before }
    }

    /// The files after some of the writes, the last one cut to `cut` bytes.
    pub fn killed(&self, writes: usize, cut: usize) -> Vec<Vec<u8>> {
        let mut disks = self.flushed.clone();
        for (i, write) in self.world.writes[..writes].iter().enumerate() {
            let bytes = if i + 1 == writes { &write.bytes[..cut.min(write.bytes.len())] } else { &write.bytes };
            put(&mut disks[write.region], write.at, bytes);
        }
        disks
    }
}

fn step(voxels: &mut Voxels, all: &[[i32; 3]], random: &mut Random) -> ([i32; 3], Vec<u8>) {
    let p = all[random.below(all.len())];
    if voxels.content != Content::Noise && random.chance(0.85) {
        let side = voxels.side;
        let at = [0, 1, 2].map(|a| p[a] * side + random.below(side as usize) as i32);
        let radius = 1 + random.below((side / 3).max(1) as usize) as i32;
        let kind = [0, 0, 3, 5][random.below(4)];
        voxels.edit(at, radius, kind);
    }
    (p, voxels.block(p, random))
}
