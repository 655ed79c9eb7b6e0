//! The compressed container, all modes.

use voxscope::bytes::Span;
use voxscope::damage::{Code, Damage, Space, Value};
use voxscope::godot::container::{self, Container, Decoder, Mode};

use super::{Reach, bytes, damage_inside, limits, verified};
use crate::naive::lz4;

/// The input is one container.
pub fn check(data: &[u8]) -> Reach {
    let limits = limits();
    let (mut decoder, mut damage) = (Decoder::default(), Vec::new());
    let found = decoder.decode(data, &limits).report_to(&mut damage);
    damage_inside(&damage, Space::File, data.len());
    assert!(damage.len() <= 1, "one container, several damages: {damage:?}");
    sizes(data, &found, limits.block_bytes);
    words(data, &found, &damage);
    used_decoder(data, &found, &damage);
    verified::container(data);

    let Some(mode) = found.mode else { return Reach::Refused };
    another_claim(mode, data, found.plain);
    if found.whole || !found.plain.is_empty() {
        round_trip(mode, found.whole, data, found.plain);
    }
    match damage.first() {
        None => Reach::Healthy,
        Some(_) if found.whole || !found.plain.is_empty() => Reach::Content,
        Some(_) if found.declared.is_some() => Reach::Header,
        Some(_) => Reach::Refused,
    }
}

fn sizes(data: &[u8], found: &Container<'_>, cap: u64) {
    let (input, plain) = (data.len() as u64, found.plain.len() as u64);
    assert!(Span::sized(0, input).contains(&found.body), "the body {} lies outside the input", found.body);
    match found.mode {
        None => assert!(found.plain.is_empty() && !found.whole, "no mode, and yet data"),
        // Not a copy: it costs nothing, however long it is.
        Some(Mode::Plain) => assert_eq!(found.plain, bytes(data, found.body), "mode 0 is the data as it is"),
        Some(mode) => {
            assert!(plain <= cap, "{plain} bytes of plain data, over the cap");
            let lz4 = mode != Mode::Zstd;
            assert!(!lz4 || plain <= input * 255, "{plain} bytes out of {input} bytes of LZ4");
        }
    }
}

/// The fields of the result agree with the damage.
fn words(data: &[u8], found: &Container<'_>, damage: &[Damage]) {
    let fatal = damage.iter().find(|d| !matches!(d.code, Code::ContainerTrailing | Code::ContainerByteOrder));
    assert_eq!(found.whole, fatal.is_none(), "whole: {}, damage: {damage:?}", found.whole);
    if let (true, Some(declared)) = (found.whole, found.declared) {
        assert_eq!(found.plain.len() as u64, u64::from(declared), "whole, but not of the declared size");
    }
    // Whole sequences decode to the length that they declare.
    if let (Some(Mode::Lz4 | Mode::Lz4BigEndian), Some(d)) = (found.mode, damage.first())
        && d.code == Code::ContainerLength
    {
        assert_eq!(d.found, Value::Bytes(found.plain.len() as u64), "another length than that of the data");
    }
    if let (Some(mode), Some(declared), Some(size)) = (found.mode, found.declared, data.get(1..5))
        && !matches!(mode, Mode::Headerless | Mode::Plain)
    {
        let mut size = [size[0], size[1], size[2], size[3]];
        if mode == Mode::Lz4BigEndian {
            size.reverse();
        }
        assert_eq!(declared, u32::from_le_bytes(size), "another size than is declared");
    }
    let nameless = matches!(damage.first().map(|d| d.code), Some(Code::ContainerMode | Code::ContainerEmpty));
    assert_eq!(found.mode.is_none(), nameless, "mode {:?}, damage {damage:?}", found.mode);
    let wrong_order = found.mode == Some(Mode::Lz4WrongOrder);
    assert_eq!(wrong_order, damage.iter().any(|d| d.code == Code::ContainerByteOrder), "{damage:?}");
    if wrong_order {
        assert!(found.whole && data[0] == 1, "the wrong order only holds for whole data of mode 1");
        wrong_order_read_by_others(data, found.plain);
        return;
    }
    let headerless = found.mode == Some(Mode::Headerless);
    assert!(!headerless || found.whole, "the headerless reading only stands when it holds");
    if !headerless && let (Some(mode), Some(first)) = (found.mode, data.first()) {
        assert_eq!(Mode::ALL.get(usize::from(*first)), Some(&mode), "the first byte says another mode");
    }
}

/// Mode 1 with a little-endian size: the naive decoder reads the same data behind it, and it is healthy as mode 2.
fn wrong_order_read_by_others(data: &[u8], plain: &[u8]) {
    let naive = lz4::decode(&data[5..], plain.len());
    assert_eq!(naive.as_deref(), Ok(plain), "the naive decoder gives something else");
    let (mut decoder, mut damage) = (Decoder::default(), Vec::new());
    let readable = container::with_readable_mode(data);
    let found = decoder.decode(&readable, &limits()).report_to(&mut damage);
    assert!(damage.is_empty() && found.mode == Some(Mode::Lz4), "not healthy as mode 2: {damage:?}");
    assert!(found.plain == plain, "mode 2 gives other data");
}

/// A used decoder gives the same result as a new one.
fn used_decoder(data: &[u8], found: &Container<'_>, damage: &[Damage]) {
    let limits = limits();
    let mut decoder = Decoder::default();
    let mut other = Vec::new();
    container::encode(Mode::Zstd, &[0x5a; 3000], &mut other);
    let before = [other.as_slice(), &other[..other.len() / 2], &data[..data.len() / 2], data];
    for (i, dirt) in before.into_iter().enumerate() {
        let _ = decoder.decode(dirt, &limits).report_to(&mut Vec::new());
        if i == 2 {
            decoder.shrink(16);
        }
    }
    let mut again = Vec::new();
    let second = decoder.decode(data, &limits).report_to(&mut again);
    assert_eq!(second.plain, found.plain, "a used decoder gives other data");
    assert_eq!(
        (second.mode, second.declared, second.body, second.whole, again.as_slice()),
        (found.mode, found.declared, found.body, found.whole, damage),
        "a used decoder says something else"
    );
}

/// The declared length does not decide what is decoded: with another one the same bytes come out, or more.
fn another_claim(mode: Mode, data: &[u8], plain: &[u8]) {
    let (true, Some((head, rest))) =
        (matches!(mode, Mode::Lz4BigEndian | Mode::Lz4 | Mode::Zstd), data.split_at_checked(5))
    else {
        return;
    };
    let lie = [&head[..1], &[0xff; 4], rest].concat();
    let (mut decoder, mut damage) = (Decoder::default(), Vec::new());
    let found = decoder.decode(&lie, &limits()).report_to(&mut damage);
    damage_inside(&damage, Space::File, lie.len());
    assert!(!found.whole && damage.len() == 1, "4 GiB are declared, and it is whole: {damage:?}");
    assert!(found.plain.starts_with(plain), "less comes out because more is declared");
}

/// The plain data packed again is healthy, reads the same, and mode 0 gives the very bytes.
fn round_trip(mode: Mode, whole: bool, data: &[u8], plain: &[u8]) {
    if mode == Mode::Plain {
        let mut packed = Vec::new();
        container::encode(mode, plain, &mut packed);
        assert_eq!(packed, data, "mode 0 does not write what it read");
        return;
    }
    // Cut data has lost the epilogue by which a headerless container is known.
    let mode = if whole { mode.writable() } else { Mode::Lz4 };
    let mut packed = Vec::new();
    container::encode(mode, plain, &mut packed);
    let (mut decoder, mut damage) = (Decoder::default(), Vec::new());
    let again = decoder.decode(&packed, &limits()).report_to(&mut damage);
    assert_eq!(damage, [], "{} does not read what it wrote", mode.name());
    assert!(again.whole && again.plain == plain, "{} reads other data than it wrote", mode.name());
    assert_eq!(again.mode, Some(mode), "{} is taken for another mode", mode.name());

    // The last byte is part of the data or of its checksum, and nothing may follow it.
    let last = packed.len() - 1;
    let noticed = |what: &str, bytes: &[u8]| {
        let mut damage = Vec::new();
        let found = Decoder::default().decode(bytes, &limits()).report_to(&mut damage).mode;
        assert!(found != Some(mode) || damage.len() == 1, "{what}, and {} is healthy", mode.name());
    };
    noticed("a byte is missing", &packed[..last]);
    noticed("a byte is too many", &[packed.as_slice(), &[0]].concat());
    if mode == Mode::Zstd {
        packed[last] ^= 0x10;
        noticed("the checksum is wrong", &packed);
    }
}
