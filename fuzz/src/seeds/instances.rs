use super::{Seeds, Set, cut, joined, noise, patched};

/// One layer of id 7 with so many instances.
fn one(big: bool, count: u16) -> Vec<u8> {
    let word = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let float = |n: f32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let mut out = vec![u8::from(!big), 1];
    out.extend(float(32.0));
    out.extend(word(7));
    out.extend(word(count));
    out.extend(float(1.5));
    out.extend(float(3.0));
    out.push(0);
    out.extend(noise(usize::from(count) * 11));
    out.extend(if big { [0x90, 0x0d, 0xf0, 0x0d] } else { [0x0d, 0xf0, 0x0d, 0x90] });
    out
}

pub(super) fn seeds() -> Seeds {
    let mut set = Set::default();
    for (name, big) in [("little", false), ("big", true)] {
        let healthy = one(big, 3);
        let end = healthy.len() - 4;
        let mut add = |what: &str, bytes: Vec<u8>| set.add(format!("{name}_{what}"), bytes);
        add("healthy", healthy.clone());
        add("no_instances_healthy", one(big, 0));
        add("no_layers_healthy", joined(&patched(&healthy[..6], 1, &[0]), &healthy[end..]));
        let layer = &healthy[6..end];
        let other = patched(layer, 0, &[9, 9]);
        let two = [&patched(&healthy[..6], 1, &[2])[..], layer, &other, &healthy[end..]].concat();
        add("two_layers_healthy", two.clone());
        add("two_of_one_id", patched(&two, 6 + layer.len(), &layer[..2]));
        add("count_too_large", patched(&healthy, 8, &[0xff, 0xff]));
        add("layers_too_many", patched(&healthy, 1, &[255]));
        add("range_no_number", patched(&healthy, 2, &[0xff; 4]));
        add("scales_swapped", patched(&healthy, 10, &[&healthy[14..18], &healthy[10..14]].concat()));
        add("format_1", patched(&healthy, 18, &[1]));
        add("epilogue", patched(&healthy, end, &[0; 4]));
        add("cut", cut(&healthy, 9));
        add("trailing", joined(&healthy, b"more"));
    }
    set.add("no_bytes", []);
    set.add("version_2", patched(&one(false, 1), 0, &[2]));
    set.add("noise", noise(200));
    set.0
}
