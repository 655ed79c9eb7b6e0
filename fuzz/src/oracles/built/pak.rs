//! Pak regions of versions 6 and 7, written here by the notes on the format.

use arbitrary::{Result, Unstructured};
use voxscope::bytes::Span;
use voxscope::check;
use voxscope::pak::build::Builder;
use voxscope::pak::chunk::{Order, OrderEvidence, Shape, Voxels, infer_order};
use voxscope::pak::offset::Reading;
use voxscope::pak::payload::{Decoder, encode};
use voxscope::save::{Options, Pak as Open, PakOptions, PakScratch};

use super::{Kind, Model, Seen};
use crate::oracles::{limits, pak as raw};

/// A pak region.
#[derive(Debug)]
pub struct Pak {
    pub(super) version: i32,
    pub(super) records: usize,
    pub(super) reading: Reading,
    pub(super) region: [i32; 3],
    /// In the order of their blocks.
    pub(super) chunks: Vec<Chunk>,
}

/// A chunk of it.
#[derive(Clone, Debug)]
pub struct Chunk {
    pub(super) number: usize,
    pub(super) len: usize,
    pub(super) salt: u8,
    pub(super) stream: Vec<u8>,
    /// Its first block, counted from where the data begins, and how many it has.
    pub(super) first: usize,
    pub(super) blocks: usize,
    /// Where it is in the world, when the number of records says it.
    pub(super) position: Option<[i32; 3]>,
}

impl Chunk {
    fn plain(&self) -> Vec<u8> {
        // Layers of one material, and some that do not compress.
        let noise = super::filled(self.salt, 64);
        (0..self.len).map(|n| if n < 64 { noise[n] } else { (n * 3 / self.len) as u8 ^ self.salt }).collect()
    }
}

impl Pak {
    /// Where the data begins.
    pub(super) fn data(&self) -> usize {
        (16 + 8 * self.records).next_multiple_of(4096)
    }

    /// Where a block of the data begins.
    pub(super) fn block(&self, n: usize) -> usize {
        self.data() + 4096 * n
    }

    /// All blocks of the data.
    pub(super) fn blocks(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.blocks).sum()
    }

    /// The bytes of a record.
    pub(super) fn record(&self, number: usize) -> usize {
        16 + 8 * number
    }

    /// The bytes of a chunk's blocks.
    pub(super) fn span(&self, first: usize, blocks: usize) -> Span {
        Span::new(self.block(first) as u64, self.block(first + blocks) as u64)
    }

    /// By the notes: x + z * 32 in a layer of 32 x 32; x + 16 * (z + 16 * y) in a cube of 16, which is assumed.
    fn position(&self, number: usize) -> Option<[i32; 3]> {
        let n = number as i32;
        let (side, inside) = match self.records {
            1024 => (32, [n % 32, 0, n / 32]),
            4096 => (16, [n % 16, n / 256, n / 16 % 16]),
            _ => return None,
        };
        Some([0, 1, 2].map(|axis| self.region[axis] * side + inside[axis]))
    }

    fn given(&self) -> PakOptions {
        // How it is read is inferred from records that may be damaged.
        PakOptions::default().reading(self.reading)
    }
}

/// The voxels of a hilly terrain in a chunk of 16 x `height` x 16 show the order that they are in. A cube shows nothing.
fn compare_order(height: u32, salt: u8) {
    let shape = Shape { size: [16, height, 16], voxel_bytes: 1 };
    let material = |x: u32, y: u32, z: u32| ((y + (x * 3 + z * 5 + u32::from(salt)) / 16) / 4) as u8;
    for order in [Order::Xyz, Order::Yzx] {
        let mut data = vec![0; 256 * height as usize];
        for (x, y, z) in (0..16).flat_map(|x| (0..height).flat_map(move |y| (0..16).map(move |z| (x, y, z)))) {
            let at = if order == Order::Xyz { (x * height + y) * 16 + z } else { (y * 16 + z) * 16 + x };
            data[at as usize] = material(x, y, z);
        }
        let mut inside = OrderEvidence::default();
        inside.add_inside(&data, &shape);
        let found = infer_order(&shape, &inside, &OrderEvidence::default());
        assert_eq!(found.value, order, "the order of 16 x {height} x 16 voxels");
        let voxels = Voxels { data: &data, shape, order: found.value };
        let at = [u32::from(salt) % 16, u32::from(salt) % height, 7];
        assert_eq!(voxels.get(at), Some(material(at[0], at[1], at[2]).into()), "the voxel {at:?}");
    }
}

impl Model for Pak {
    fn make(u: &mut Unstructured<'_>) -> Result<Self> {
        let (bits, records, region): (u8, u8, [i8; 3]) = u.arbitrary()?;
        let records = match records % 8 {
            0 => 1024,
            1 => 4096,
            n => usize::from(n) - 1,
        };
        let region = region.map(|n| i32::from(n) % 4);
        let mut pak = Self {
            version: 6 + i32::from(bits & 1),
            records,
            reading: Reading::ALL[usize::from(bits >> 1 & 1)],
            // A layer has no height.
            region: [region[0], if records == 1024 { 0 } else { region[1] }, region[2]],
            chunks: Vec::new(),
        };
        let mut first = 0;
        for _ in 0..u.arbitrary::<u8>()? % 4 {
            let (number, shape, salt): (u16, u8, u8) = u.arbitrary()?;
            let number = usize::from(number) % records;
            if pak.chunks.iter().any(|chunk| chunk.number == number) {
                continue;
            }
            let len = match shape % 8 {
                0 => 32_768,
                1 => 65_536,
                n => 4096 * usize::from(n),
            };
            let mut chunk = Chunk { number, len, salt, stream: Vec::new(), first, blocks: 0, position: None };
            chunk.position = pak.position(number);
            chunk.stream = encode(&chunk.plain());
            chunk.blocks = chunk.stream.len().div_ceil(4096);
            first += chunk.blocks;
            pak.chunks.push(chunk);
        }
        Ok(pak)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = b"pak\0".to_vec();
        let first = match self.reading {
            Reading::Blocks => self.data() / 4096,
            Reading::Bytes => self.data(),
        };
        for n in [self.version, self.records as i32, first as i32] {
            out.extend(n.to_le_bytes());
        }
        for number in 0..self.records {
            let chunk = self.chunks.iter().find(|chunk| chunk.number == number);
            out.extend(chunk.map_or(-1, |chunk| chunk.first as i16).to_le_bytes());
            out.extend(chunk.map_or(0, |chunk| chunk.blocks as i16).to_le_bytes());
            out.extend(chunk.map_or(0, |chunk| chunk.stream.len() as i32).to_le_bytes());
        }
        for chunk in &self.chunks {
            out.resize(self.block(chunk.first), 0);
            out.extend(&chunk.stream);
        }
        out.resize(self.block(self.blocks()), 0);
        out
    }

    fn look(&self, bytes: &[u8]) -> Vec<Seen> {
        let options = Options::default().pak(self.given()).limits(limits());
        check::pak_bytes(bytes, "p", self.region, &options).iter().map(Seen::from).collect()
    }

    fn compare(&self, bytes: &[u8]) {
        let mut builder = Builder::new(*b"pak\0", self.version, self.records as u32, self.reading);
        for chunk in &self.chunks {
            let record = builder.push_stored(chunk.number as u32, &chunk.stream);
            assert!(record.is_some(), "record {} cannot be written", chunk.number);
            let (mut decoder, mut damage) = (Decoder::default(), Vec::new());
            let payload = decoder.decode(&chunk.stream, true, &limits()).report_to(&mut damage);
            assert!(payload.whole && payload.plain == chunk.plain() && damage.is_empty(), "{damage:?}");
        }
        assert!(builder.finish() == bytes, "the library writes another file");
        let open = Open::load(bytes, self.region, &self.given(), &limits(), &mut Vec::new());
        let Ok(Some(open)) = open else { unreachable!("it has a header") };
        let mut scratch = PakScratch::default();
        for chunk in &self.chunks {
            let number = chunk.number as u32;
            assert_eq!(open.chunk(number), chunk.position, "the place of record {number}");
            let Ok(view) = open.view(number, open.records[chunk.number], &mut scratch) else {
                unreachable!("memory does not fail")
            };
            assert!(view.payload.is_some_and(|payload| payload.plain == chunk.plain()), "record {number}");
        }
        assert_eq!(open.present().count(), self.chunks.len(), "records that are not there");
        compare_order(16 * (2 + self.records as u32 % 7), self.chunks.first().map_or(0, |chunk| chunk.salt));
        // Without the option, the same reading or a note that it is uncertain.
        let inferred = voxscope::pak::offset::infer(&open.header, &open.records, bytes.len() as u64);
        let same = inferred.value == self.reading || inferred.alternatives.contains(&self.reading);
        assert!(same || self.chunks.is_empty(), "read as {inferred:?}");
    }

    fn any(&self, bytes: &[u8]) {
        raw::with(bytes, &self.given());
    }

    fn kinds() -> &'static [Kind<Self>] {
        &super::pak_kinds::ALL
    }
}
