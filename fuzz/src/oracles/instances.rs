//! Instance data.

use voxscope::damage::{Code, Space};
use voxscope::godot::instances::{INSTANCE_BYTES, Instances};

use super::{Reach, damage_inside, has};

/// The input is instance data as it is after decompression.
pub fn check(data: &[u8]) -> Reach {
    let mut damage = Vec::new();
    let read = Instances::decode(data).report_to(&mut damage);
    damage_inside(&damage, Space::Block, data.len());
    let (mut at, mut whole) = (6u64, true);
    for layer in &read.layers {
        let there = layer.instances().len();
        assert_eq!(layer.data.len(), there * INSTANCE_BYTES, "a part of an instance");
        assert!(there <= usize::from(layer.count), "more instances than are declared");
        assert_eq!((layer.span.start, layer.span.len()), (at, 13 + layer.data.len() as u64), "layers with gaps");
        assert_eq!(
            layer.format != 0,
            has(&damage, Code::InstancesFormat) && layer.data.is_empty() && layer.format != 0
        );
        at = layer.span.end;
        whole &= layer.is_whole();
        for instance in layer.instances() {
            let length: f32 = instance.rotation().iter().map(|v| v * v).sum();
            assert!((length - 1.0).abs() < 1e-4, "a rotation of length {length}");
            assert_eq!(instance.position(65_535.0), instance.position.map(f32::from));
        }
    }
    assert!(whole || !damage.is_empty(), "not whole, and nobody says why");
    // The epilogue is found at the end, whatever comes before it.
    let epilogue = [[0x0d, 0xf0, 0x0d, 0x90], [0x90, 0x0d, 0xf0, 0x0d]];
    if let Some(span) = read.epilogue {
        let found = super::bytes(data, span);
        assert_eq!(found, epilogue[usize::from(read.version == 0)], "no epilogue at {span}");
    }
    let mut again = Vec::new();
    read.encode(&mut again);
    let mut damage_again = Vec::new();
    let second = Instances::decode(&again).report_to(&mut damage_again);
    if read.version <= 1 {
        assert_eq!(second.layers.len(), read.layers.len());
        for (a, b) in read.layers.iter().zip(&second.layers) {
            assert!((a.id, a.data) == (b.id, b.data) && b.is_whole() | (b.format != 0), "another layer");
        }
    }
    if damage.is_empty() {
        assert_eq!(again, data, "healthy, and written in another way");
        return Reach::Healthy;
    }
    match (read.layers.is_empty(), data.len() >= 6 && read.version <= 1) {
        (false, _) => Reach::Content,
        (true, true) => Reach::Header,
        (true, false) => Reach::Refused,
    }
}
