//! Instance data of both versions, written here by the description.
//!
//! Not among the kinds of damage, because nothing shows them: other positions, scales and rotations; another id.

use arbitrary::{Result, Unstructured};
use voxscope::damage::{Code, Space};
use voxscope::godot::instances::Instances as Read;

use super::{Case, Dice, Kind, Model, Place, Seen};
use crate::oracles::instances as raw;

/// Instance data.
#[derive(Debug)]
pub struct Instances {
    big: bool,
    range: u16,
    layers: Vec<Layer>,
}

#[derive(Debug)]
struct Layer {
    id: u16,
    scales: [u8; 2],
    instances: Vec<[u8; 11]>,
}

impl Instances {
    fn u16(&self, n: u16) -> [u8; 2] {
        if self.big { n.to_be_bytes() } else { n.to_le_bytes() }
    }

    fn f32(&self, n: f32) -> [u8; 4] {
        if self.big { n.to_be_bytes() } else { n.to_le_bytes() }
    }

    /// Where a layer begins.
    fn layer(&self, n: usize) -> usize {
        6 + self.layers.iter().take(n).map(|layer| 13 + 11 * layer.instances.len()).sum::<usize>()
    }

    fn end(&self) -> usize {
        self.layer(self.layers.len())
    }
}

impl Model for Instances {
    fn make(u: &mut Unstructured<'_>) -> Result<Self> {
        let (bits, range): (u8, u16) = u.arbitrary()?;
        let mut layers: Vec<Layer> = Vec::new();
        for _ in 0..u.arbitrary::<u8>()? % 4 {
            let (id, a, b, count): (u16, u8, u8, u8) = u.arbitrary()?;
            if layers.iter().any(|layer| layer.id == id) {
                continue;
            }
            let instances = (0..count % 6).map(|_| u.arbitrary()).collect::<Result<_>>()?;
            layers.push(Layer { id, scales: [a.min(b), a.max(b)], instances });
        }
        Ok(Self { big: bits & 1 == 1, range, layers })
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = vec![u8::from(!self.big), self.layers.len() as u8];
        out.extend(self.f32(f32::from(self.range) / 8.0));
        for layer in &self.layers {
            out.extend(self.u16(layer.id));
            out.extend(self.u16(layer.instances.len() as u16));
            layer.scales.iter().for_each(|n| out.extend(self.f32(f32::from(*n) / 16.0)));
            out.push(0);
            out.extend(layer.instances.concat());
        }
        let epilogue = 0x900d_f00d_u32;
        out.extend(if self.big { epilogue.to_be_bytes() } else { epilogue.to_le_bytes() });
        out
    }

    fn look(&self, bytes: &[u8]) -> Vec<Seen> {
        let mut damage = Vec::new();
        let _ = Read::decode(bytes).report_to(&mut damage);
        damage.into_iter().map(Seen::from).collect()
    }

    fn compare(&self, bytes: &[u8]) {
        let read = Read::decode(bytes).report_to(&mut Vec::new());
        assert_eq!((read.version == 0, read.position_range), (self.big, f32::from(self.range) / 8.0));
        assert_eq!(read.layers.len(), self.layers.len());
        for (read, layer) in read.layers.iter().zip(&self.layers) {
            assert_eq!((read.id, read.scale_min), (layer.id, f32::from(layer.scales[0]) / 16.0));
            assert_eq!(read.instances().len(), layer.instances.len());
            for (read, bytes) in read.instances().zip(&layer.instances) {
                let word = |at: usize| {
                    let pair = [bytes[at], bytes[at + 1]];
                    if self.big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
                };
                assert_eq!(read.position, [word(0), word(2), word(4)]);
                assert_eq!((read.scale, &read.rotation[..]), (bytes[6], &bytes[7..]));
            }
        }
    }

    fn any(&self, bytes: &[u8]) {
        raw::check(bytes);
    }

    fn kinds() -> &'static [Kind<Self>] {
        &KINDS
    }
}

const KINDS: [Kind<Instances>; 10] = [
    Kind { name: "version_unknown", apply: version },
    Kind { name: "range_impossible", apply: range },
    Kind { name: "count_too_large", apply: count },
    Kind { name: "layers_too_many", apply: layers },
    Kind { name: "scales_swapped", apply: scales },
    Kind { name: "scale_no_number", apply: scale },
    Kind { name: "format_unknown", apply: format },
    Kind { name: "epilogue_changed", apply: epilogue },
    Kind { name: "end_cut", apply: cut },
    Kind { name: "bytes_behind", apply: trailing },
];

fn with(mut bytes: Vec<u8>, at: usize, new: &[u8]) -> Vec<u8> {
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

fn at(bytes: Vec<u8>, code: Code, start: usize, len: usize) -> Option<Case> {
    Some(Case::at(bytes, code, Space::Block, start, start + len))
}

fn version(_: &Instances, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let new = dice.within(2, 255) as u8;
    at(with(bytes, 0, &[new]), Code::InstancesVersion, 0, 1)
}

fn range(model: &Instances, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let new = dice.one(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0])?;
    at(with(bytes, 2, &model.f32(new)), Code::InstancesRange, 2, 4)
}

fn count(model: &Instances, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    // The epilogue would be read as a part of an instance, and so would a layer behind it.
    let last = model.layers.len().checked_sub(1)?;
    let new = dice.within(model.layers[last].instances.len() + 1, 65_535) as u16;
    let field = model.layer(last) + 2;
    Some(Case::of(with(bytes, field, &model.u16(new)), &[Code::InstancesCut], Place::Field("instances of a layer")))
}

fn layers(model: &Instances, bytes: Vec<u8>, _: &mut Dice) -> Option<Case> {
    let new = model.layers.len() as u8 + 1;
    at(with(bytes, 1, &[new]), Code::InstancesCut, model.end() + 4, 0)
}

fn scales(model: &Instances, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let n = dice.below(model.layers.len());
    let [low, high] = model.layers.get(n)?.scales;
    let field = model.layer(n) + 4;
    let new = [model.f32(f32::from(high) / 16.0), model.f32(f32::from(low) / 16.0)].concat();
    if low == high {
        return None;
    }
    at(with(bytes, field, &new), Code::InstancesScale, field, 8)
}

fn scale(model: &Instances, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let n = dice.below(model.layers.len());
    model.layers.get(n)?;
    let field = model.layer(n) + 4;
    let new = dice.one(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY])?;
    let second = dice.below(2) * 4;
    at(with(bytes, field + second, &model.f32(new)), Code::InstancesScale, field, 8)
}

fn format(model: &Instances, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let n = dice.below(model.layers.len());
    model.layers.get(n)?;
    let field = model.layer(n) + 12;
    at(with(bytes, field, &[dice.within(1, 255) as u8]), Code::InstancesFormat, field, 1)
}

fn epilogue(model: &Instances, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    bytes[model.end() + dice.below(4)] ^= 1 << dice.below(8);
    at(bytes, Code::InstancesEpilogue, model.end(), 4)
}

fn cut(model: &Instances, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let len = dice.below(bytes.len());
    bytes.truncate(len);
    let code = if len >= model.end() { Code::InstancesEpilogue } else { Code::InstancesCut };
    Some(Case::of(bytes, &[code], Place::Anywhere))
}

fn trailing(_: &Instances, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let len = bytes.len();
    bytes.extend(super::filled(dice.below(256) as u8, dice.within(1, 40)));
    let end = bytes.len();
    at(bytes, Code::InstancesTrailing, len, end - len)
}
