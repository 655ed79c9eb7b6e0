//! Instance data: the plants and stones of a `VoxelInstancer`, stored next to the voxels of a block.
//!
//! ```text
//! version u8 (0: big-endian throughout, 1: little-endian) · layer_count u8 · position_range f32
//! layer_count x ( id u16 · count u16 · scale_min f32 · scale_max f32 · format u8 (0)
//!                 count x (x, y, z u16 · scale u8 · rotation x, y, z, w u8) )
//! epilogue u32 0x900df00d
//! ```
//!
//! Source: Godot Voxel's page "Instance blocks format" and the engine's own reader. It is in a
//! [container](crate::godot::container), as block data does.

use crate::bytes::{Cursor, Short, Span, len64};
use crate::damage::{Code, Damage, Decoded, Value};
use crate::godot::block::EPILOGUE;

/// Bytes of one instance.
pub const INSTANCE_BYTES: usize = 11;

/// The order of bytes, by the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Big,
    Little,
}

/// The content of instance data, as far as it could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Instances<'a> {
    /// 0 or 1.
    pub version: u8,
    /// Positions are parts of this many voxels.
    pub position_range: f32,
    /// The layers whose header could be read, in order.
    pub layers: Vec<Layer<'a>>,
    /// The bytes of the epilogue, if it is right.
    pub epilogue: Option<Span>,
}

/// The instances of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer<'a> {
    /// Which kind, by the instancer's library.
    pub id: u16,
    /// How many instances it declares.
    pub count: u16,
    /// Scale of an instance whose scale is 0.
    pub scale_min: f32,
    /// Scale of an instance whose scale is 255.
    pub scale_max: f32,
    /// Format of the instances; only 0 exists.
    pub format: u8,
    /// The bytes of the whole instances, [`INSTANCE_BYTES`] each.
    pub data: &'a [u8],
    /// The bytes of its header and its instances.
    pub span: Span,
    order: Order,
}

/// One instance, as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instance {
    /// Parts of 65,535 of the position range, along x, y, z.
    pub position: [u16; 3],
    /// Parts of 255 of the way from the smallest to the largest scale.
    pub scale: u8,
    /// A quaternion x, y, z, w.
    pub rotation: [u8; 4],
}

impl Instance {
    /// Position in the block, in voxels.
    #[must_use]
    pub fn position(&self, range: f32) -> [f32; 3] {
        self.position.map(|v| f32::from(v) / 65_535.0 * range)
    }

    /// Its scale.
    #[must_use]
    pub fn scale(&self, min: f32, max: f32) -> f32 {
        f32::from(self.scale) / 255.0 * (max - min) + min
    }

    /// Its rotation as a unit quaternion (x, y, z, w); the identity if all four are zero.
    #[must_use]
    pub fn rotation(&self) -> [f32; 4] {
        let [x, y, z, w] = self.rotation.map(|v| (f32::from(v) - 127.0) / 127.0);
        let length = (x * x + y * y + z * z + w * w).sqrt();
        if length > 0.0 { [x, y, z, w].map(|v| v / length) } else { [0.0, 0.0, 0.0, 1.0] }
    }
}

impl Layer<'_> {
    /// The instances that could be read.
    pub fn instances(&self) -> impl ExactSizeIterator<Item = Instance> {
        let (records, _) = self.data.as_chunks::<INSTANCE_BYTES>();
        records.iter().map(|&[x0, x1, y0, y1, z0, z1, scale, rx, ry, rz, rw]| Instance {
            position: [[x0, x1], [y0, y1], [z0, z1]].map(|bytes| self.order.u16(bytes)),
            scale,
            rotation: [rx, ry, rz, rw],
        })
    }

    /// Whether it has all instances that it declares.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.instances().len() == usize::from(self.count)
    }
}

impl Order {
    const fn for_version(version: u8) -> Self {
        if version == 0 { Self::Big } else { Self::Little }
    }

    const fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Big => u16::from_be_bytes(bytes),
            Self::Little => u16::from_le_bytes(bytes),
        }
    }

    const fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Big => u32::from_be_bytes(bytes),
            Self::Little => u32::from_le_bytes(bytes),
        }
    }

    fn read_u16(self, cursor: &mut Cursor<'_>) -> Result<u16, Short> {
        cursor.array().map(|bytes| self.u16(bytes))
    }

    fn read_f32(self, cursor: &mut Cursor<'_>) -> Result<f32, Short> {
        cursor.array().map(|bytes| f32::from_bits(self.u32(bytes)))
    }

    fn put_u16(self, n: u16, out: &mut Vec<u8>) {
        out.extend_from_slice(&if self == Self::Big { n.to_be_bytes() } else { n.to_le_bytes() });
    }

    fn put_u32(self, n: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(&if self == Self::Big { n.to_be_bytes() } else { n.to_le_bytes() });
    }
}

impl<'a> Instances<'a> {
    /// Decodes instance data as far as possible; spans count decompressed bytes.
    pub fn decode(data: &'a [u8]) -> Decoded<Self> {
        Decoded::collect(|damage| Self::decode_into(data, damage))
    }

    fn decode_into(data: &'a [u8], damage: &mut Vec<Damage>) -> Self {
        let from = damage.len();
        let mut read = Self { version: 0, position_range: 0.0, layers: Vec::new(), epilogue: None };
        let mut cursor = Cursor::new(data);
        let mut whole = false;
        match read.header(&mut cursor, damage) {
            Ok(Some(count)) => whole = read.all_layers(&mut cursor, count, damage),
            Ok(None) => {}
            Err(short) => damage.push(Damage::short(Code::InstancesCut, short, "header of the instance data")),
        }
        if whole {
            read.tail(cursor, damage);
        } else {
            // The bytes in between are unknown, but the epilogue can still be checked.
            let epilogue = Cursor::at(data.last_chunk::<4>().map_or(&[], |last| last), len64(data).saturating_sub(4));
            let order = Order::for_version(read.version);
            let right = data.last_chunk::<4>().is_some_and(|last| order.u32(*last) == EPILOGUE);
            read.epilogue = right.then(|| epilogue.span());
        }
        for d in damage.iter_mut().skip(from) {
            *d = d.in_block();
        }
        read
    }

    /// Reads version, number of layers and range; returns the number of layers, or `None` if nothing more can be read.
    fn header(&mut self, cursor: &mut Cursor<'_>, damage: &mut Vec<Damage>) -> Result<Option<u8>, Short> {
        self.version = cursor.u8()?;
        if self.version > 1 {
            damage.push(
                Damage::new(Code::InstancesVersion, Span::new(0, 1), "version of the instance data")
                    .expected(Value::Range(0, 1))
                    .found(Value::Number(self.version.into())),
            );
            return Ok(None);
        }
        let count = cursor.u8()?;
        let at = cursor.offset();
        self.position_range = Order::for_version(self.version).read_f32(cursor)?;
        if !self.position_range.is_finite() || self.position_range < 0.0 {
            damage.push(
                Damage::new(Code::InstancesRange, Span::sized(at, 4), "position range of the instances")
                    .expected(Value::Words("a finite number of voxels"))
                    .found(Value::Words(odd(self.position_range))),
            );
        }
        Ok(Some(count))
    }

    /// Reads all layers. False if one of them could not be read to its end.
    fn all_layers(&mut self, cursor: &mut Cursor<'a>, count: u8, damage: &mut Vec<Damage>) -> bool {
        for _ in 0..count {
            match self.layer(cursor, damage) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(short) => {
                    damage.push(Damage::short(Code::InstancesCut, short, "header of a layer of instances"));
                    return false;
                }
            }
        }
        true
    }

    fn layer(&mut self, cursor: &mut Cursor<'a>, damage: &mut Vec<Damage>) -> Result<bool, Short> {
        let order = Order::for_version(self.version);
        let start = cursor.offset();
        let id = order.read_u16(cursor)?;
        let count = order.read_u16(cursor)?;
        let scales = cursor.offset();
        let (scale_min, scale_max) = (order.read_f32(cursor)?, order.read_f32(cursor)?);
        let at = cursor.offset();
        let format = cursor.u8()?;
        if self.layers.iter().any(|layer| layer.id == id) {
            let span = Span::sized(start, 2);
            let damaged = Damage::new(Code::InstancesTwice, span, "id of a layer of instances");
            damage.push(damaged.found(Value::Number(id.into())).expected(Value::Words("an id of its own")));
        }
        // `!(a <= b)` is true for NaN too.
        let ordered = scale_min <= scale_max && scale_min.is_finite() && scale_max.is_finite();
        if !ordered {
            let found = if scale_min > scale_max { "the smallest is larger than the largest" } else { "not a number" };
            damage.push(
                Damage::new(Code::InstancesScale, Span::sized(scales, 8), "scales of a layer of instances")
                    .expected(Value::Words("a smallest and a largest scale"))
                    .found(Value::Words(found)),
            );
        }
        let needed = usize::from(count).saturating_mul(INSTANCE_BYTES);
        let known = format == 0;
        let whole = needed <= cursor.remaining();
        let there = if whole {
            needed
        } else {
            cursor.remaining().saturating_sub(cursor.remaining().checked_rem(INSTANCE_BYTES).unwrap_or(0))
        };
        if !known {
            damage.push(
                Damage::new(Code::InstancesFormat, Span::sized(at, 1), "format of a layer of instances")
                    .expected(Value::Number(0))
                    .found(Value::Number(format.into())),
            );
        } else if !whole {
            let short = Short {
                offset: cursor.offset(),
                needed: u64::try_from(needed).unwrap_or(u64::MAX),
                left: len64(cursor.peek()),
            };
            damage.push(Damage::short(Code::InstancesCut, short, "instances of a layer"));
        }
        let data = if known { cursor.take(there)? } else { &[] };
        let span = Span::new(start, cursor.offset());
        self.layers.push(Layer { id, count, scale_min, scale_max, format, data, span, order });
        Ok(known && whole)
    }

    fn tail(&mut self, mut cursor: Cursor<'_>, damage: &mut Vec<Damage>) {
        let span = Span::sized(cursor.offset(), 4);
        match cursor.array::<4>().map(|bytes| Order::for_version(self.version).u32(bytes)) {
            Ok(EPILOGUE) => {
                self.epilogue = Some(span);
                if !cursor.is_empty() {
                    damage.push(
                        Damage::new(Code::InstancesTrailing, cursor.span(), "bytes after the epilogue")
                            .expected(Value::Bytes(0))
                            .found(Value::Bytes(len64(cursor.peek()))),
                    );
                }
            }
            Ok(found) => damage.push(
                Damage::new(Code::InstancesEpilogue, span, "epilogue of the instance data")
                    .expected(Value::Hex32(EPILOGUE))
                    .found(Value::Hex32(found)),
            ),
            Err(short) => {
                damage.push(Damage::short(Code::InstancesEpilogue, short, "epilogue of the instance data"));
            }
        }
    }

    /// Encodes it in its own version and appends it to `out`; of more than 255 layers, the first ones. What is written is
    /// canonical: data that was read without damage is written to the same bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let order = Order::for_version(self.version);
        let count = u8::try_from(self.layers.len()).unwrap_or(u8::MAX);
        out.extend_from_slice(&[self.version, count]);
        order.put_u32(self.position_range.to_bits(), out);
        for layer in self.layers.iter().take(count.into()) {
            let instances = layer.instances();
            order.put_u16(layer.id, out);
            order.put_u16(u16::try_from(instances.len()).unwrap_or(u16::MAX), out);
            order.put_u32(layer.scale_min.to_bits(), out);
            order.put_u32(layer.scale_max.to_bits(), out);
            out.push(layer.format);
            for instance in instances.take(usize::from(u16::MAX)) {
                instance.position.into_iter().for_each(|v| order.put_u16(v, out));
                out.push(instance.scale);
                out.extend_from_slice(&instance.rotation);
            }
        }
        order.put_u32(EPILOGUE, out);
    }
}

fn odd(n: f32) -> &'static str {
    if n.is_nan() {
        "not a number"
    } else if n.is_infinite() {
        "infinite"
    } else {
        "negative"
    }
}

#[cfg(test)]
mod tests;
