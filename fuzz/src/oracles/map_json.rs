//! The description of a voxel map.

use voxscope::damage::{Code, Space};
use voxscope::voxel_map::map_json::{MapData, layer_spans, plain_name};

use super::{Reach, damage_inside, has};

/// The input is a whole `map_data.json`.
pub fn check(data: &[u8]) -> Reach {
    let mut damage = Vec::new();
    let map = MapData::decode(data).report_to(&mut damage);
    damage_inside(&damage, Space::File, data.len());
    // Whatever the text is: no panic, and inside.
    let spans = layer_spans(data);
    assert!(spans.iter().all(|span| span.start <= span.end && span.end <= data.len() as u64), "{spans:?}");
    let Some(map) = map else {
        assert!(matches!(damage.as_slice(), [d] if d.code == Code::MapUnreadable), "not read, and why: {damage:?}");
        return Reach::Refused;
    };
    assert!(!has(&damage, Code::MapUnreadable), "read in spite of {damage:?}");
    let layers = map.layers().count();
    if !has(&damage, Code::OverLimit) && map.extra.get("locals").is_none() {
        assert_eq!(spans.len(), layers, "layers that are not where the text has them");
    }
    for layer in map.layers() {
        if let Some(frame) = layer.frame() {
            let sane = frame.step.iter().all(|&n| n > 0.0 && n.is_finite()) && frame.dim.iter().all(|&n| n > 0);
            let [low, high] = frame.extent();
            assert_eq!((frame.corner([0; 3]), frame.corner(frame.dim)), (low, high));
            let inside = |axis: usize| (low[axis]..=high[axis]).contains(&frame.centre([0; 3])[axis]);
            assert!((0..3).all(inside), "the middle of the first cell lies outside {frame:?}");
            let product = frame.dim.iter().map(|&n| u128::from(n)).product::<u128>();
            assert_eq!(frame.cells().map(u128::from), u64::try_from(product).ok().map(u128::from));
            assert!(sane && frame.origin.iter().all(|n| n.is_finite()), "a place that cannot be: {frame:?}");
        }
        for name in [&layer.data_file, &layer.index_file, &layer.depth_file].into_iter().flatten() {
            if plain_name(name).is_ok() {
                // Only a plain name is opened: one component, which is itself.
                let mut parts = std::path::Path::new(name).components();
                let one = parts.next();
                let plain = matches!(one, Some(std::path::Component::Normal(part)) if part.to_str() == Some(name));
                assert!(plain && parts.next().is_none() && !name.contains('\\'), "{name:?} is not plain");
            }
        }
    }

    // What could be read is written and read again, whatever was wrong with the rest.
    let written = map.encode();
    let mut second = Vec::new();
    let again = MapData::decode(&written).report_to(&mut second);
    assert_eq!(again.as_ref(), Some(&map), "read otherwise than it was written");
    assert_eq!(again.map(|again| again.encode()), Some(written), "not written the same twice");
    if damage.iter().all(|d| matches!(d.code, Code::MapExtra | Code::MapLayerName)) {
        let codes = |damage: &[voxscope::damage::Damage]| damage.iter().map(|d| d.code).collect::<Vec<_>>();
        assert_eq!(codes(&second), codes(&damage), "healthy before it was written, damaged after");
        let whole = map.layers().all(|l| l.frame().is_some() && l.format.is_some() && l.data_file.is_some());
        assert!(whole && map.map_id.is_some() && map.global.is_some(), "healthy, but not whole: {map:?}");
    }
    match layers {
        _ if damage.is_empty() => Reach::Healthy,
        0 => Reach::Header,
        _ => Reach::Content,
    }
}
