//! The meta file of a region forest.

use voxscope::damage::{Code, Space};
use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::forest::Meta;

use super::{Reach, damage_inside, has};

/// The input is a whole `meta.vxrm`.
pub fn check(data: &[u8]) -> Reach {
    let mut damage = Vec::new();
    let meta = Meta::decode(data).report_to(&mut damage);
    damage_inside(&damage, Space::File, data.len());
    let Some(meta) = meta else {
        assert!(matches!(damage.as_slice(), [d] if d.code == Code::MetaUnreadable), "not read, and why: {damage:?}");
        return Reach::Refused;
    };
    assert!(!has(&damage, Code::MetaUnreadable), "read in spite of {damage:?}");
    let extra = damage.iter().filter(|d| d.code == Code::MetaExtra).count();
    assert_eq!(extra, meta.extra.len(), "unknown fields that nobody speaks of");
    let all = [
        meta.version.is_some(),
        meta.block_size_po2.is_some(),
        meta.region_size_po2.is_some(),
        meta.sector_size.is_some(),
        meta.depths.is_some(),
    ];
    if !all.iter().all(|&there| there) {
        assert!(has(&damage, Code::MetaField), "a field is missing, and nobody says so");
    }
    if let Some(format) = meta.format() {
        let volume = format.region_size.map(u32::from).iter().product::<u32>();
        assert!(
            format.block_size().is_power_of_two() && format.table_len() == volume,
            "a layout that cannot be: {format:?}"
        );
    }

    // The fields that could be read are written and read again, whatever was wrong with the others.
    let written = meta.encode();
    let mut second = Vec::new();
    let again = Meta::decode(&written).report_to(&mut second);
    let mut expected = Meta { extra: Vec::new(), ..meta };
    if expected.version == Some(1) && expected.depths.is_none() {
        expected.depths = Some([Depth::Bits8; CHANNELS]);
    }
    assert_eq!(again.as_ref(), Some(&expected), "read otherwise than it was written");
    assert!(
        again.is_some_and(|again| again.encode() == written || meta.depths.is_none()),
        "not written the same twice"
    );
    if damage.iter().all(|d| d.code == Code::MetaExtra) {
        assert_eq!(second, [], "healthy before it was written, damaged after");
        // The ranges of the format's description.
        let within = meta.version.is_some_and(|n| (1..=3).contains(&n))
            && meta.block_size_po2.is_some_and(|n| (1..=8).contains(&n))
            && meta.region_size_po2.is_some_and(|n| (1..=7).contains(&n))
            && meta.sector_size.is_some_and(|n| (1..=65535).contains(&n))
            && meta.depths.is_some()
            && meta.lod_count.is_none_or(|n| (1..=24).contains(&n));
        assert!(within && meta.format().is_some(), "healthy, but not possible: {meta:?}");
    }
    match all.iter().filter(|&&there| there).count() {
        _ if damage.is_empty() => Reach::Healthy,
        0 => Reach::Header,
        _ => Reach::Content,
    }
}
