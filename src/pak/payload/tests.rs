use super::*;

/// "abcabcabc", as one stored block: RFC 1950 and 1951 by hand.
const STORED: [u8; 20] = *b"\x78\x01\x01\x09\0\xf6\xffabcabcabc\x11\x3d\x03\x73";

fn chunk() -> Vec<u8> {
    (0..32_768u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 29) as u8).collect()
}

fn decode(input: &[u8], limits: &Limits) -> (Vec<u8>, u64, bool, Vec<Damage>) {
    let mut damage = Vec::new();
    let mut decoder = Decoder::default();
    let payload = decoder.decode(input, true, limits).report_to(&mut damage);
    assert!(!payload.whole || payload.complete);
    (payload.plain.to_vec(), payload.used, payload.whole, damage)
}

fn codes(damage: &[Damage]) -> Vec<(Code, Span)> {
    damage.iter().map(|d| (d.code, d.span)).collect()
}

#[test]
fn the_backend_is_zlib_rs() {
    // Another crate of the build could switch the backend; only the debug text shows it.
    assert!(format!("{:?}", Decompress::new(true)).contains("zlib_rs"));
}

#[test]
fn a_stream_written_by_hand() {
    assert_eq!(adler32(b"abcabcabc"), 0x113d_0373);
    assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    assert_eq!(adler32(&[0xff; 100_000]), 0x149a_302c);
    assert_eq!(decode(&STORED, &Limits::DEFAULT), (b"abcabcabc".to_vec(), 20, true, vec![]));
}

#[test]
fn what_is_packed_comes_back() {
    let large: Vec<u8> = std::iter::repeat_with(chunk).take(40).flatten().collect();
    let mut decoder = Decoder::default();
    for plain in [vec![], vec![7], chunk(), large, vec![0; 300_000]] {
        let packed = encode(&plain);
        let mut damage = Vec::new();
        let payload = decoder.decode(&packed, true, &Limits::DEFAULT).report_to(&mut damage);
        assert!(payload.whole && payload.plain == plain, "{}", plain.len());
        assert_eq!((payload.used, damage), (packed.len() as u64, vec![]));
    }
    decoder.shrink(1000);
    assert!(decoder.buffer.capacity() < 5000);
    assert!(decoder.decode(&STORED, true, &Limits::DEFAULT).report_to(&mut Vec::new()).whole);
}

#[test]
fn a_cut_at_every_length_gives_the_start() {
    for packed in [STORED.to_vec(), encode(&chunk()), encode(&[5; 70_000])] {
        let whole = decode(&packed, &Limits::DEFAULT).0;
        let mut most = 0;
        for cut in 0..packed.len() {
            let (plain, _, complete, damage) = decode(&packed[..cut], &Limits::DEFAULT);
            assert_eq!(codes(&damage), [(Code::PakZlibCut, Span::new(0, cut as u64))]);
            assert!(!complete && whole.starts_with(&plain) && plain.len() >= most, "cut at {cut}");
            most = plain.len();
        }
        assert_eq!(most, whole.len(), "only the checksum is cut");
    }
}

#[test]
fn bytes_after_the_stream_are_a_warning() {
    for extra in [1, 5, 4096] {
        let packed = [&STORED[..], &vec![0; extra]].concat();
        let (plain, used, whole, damage) = decode(&packed, &Limits::DEFAULT);
        assert_eq!((plain.as_slice(), used, whole), (&b"abcabcabc"[..], 20, true));
        assert_eq!(codes(&damage), [(Code::PakZlibTrailing, Span::new(20, 20 + extra as u64))]);
        let mut damage = Vec::new();
        assert!(Decoder::default().decode(&packed, false, &Limits::DEFAULT).report_to(&mut damage).whole);
        assert_eq!(damage, [], "where the length is not known, it is padding");
    }
}

#[test]
fn a_wrong_adler_keeps_the_data() {
    for (plain, extra) in [(b"abcabcabc".to_vec(), 0), (chunk(), 0), (chunk(), 9), (vec![], 0)] {
        let mut packed = encode(&plain);
        let end = packed.len();
        packed[end - 1] ^= 0x10;
        let stored = u32::from_be_bytes(packed[end - 4..].try_into().unwrap());
        packed.resize(end + extra, 0xaa);
        let mut damage = Vec::new();
        let mut decoder = Decoder::default();
        let payload = decoder.decode(&packed, true, &Limits::DEFAULT).report_to(&mut damage);
        assert!(payload.complete && !payload.whole && payload.plain == plain);
        assert_eq!(codes(&damage), [(Code::PakZlibChecksum, Span::new(end as u64 - 4, end as u64))]);
        assert_eq!((damage[0].expected, damage[0].found), (Value::Hex32(stored ^ 0x10), Value::Hex32(stored)));
    }
}

#[test]
fn what_is_no_zlib_is_named() {
    for (bytes, words) in [
        (&b"\0\0\0\0\0\0"[..], "unknown compression method"),
        (b"\x78\x02\0\0\0\0", "incorrect header check"),
        (b"\x79\x18\0\0\0\0", "unknown compression method"),
        (b"\x78\x01\x07\0\0\0", "invalid deflate data from here on"),
        (b"\x78\x01\x01\x09\0\0\0", "invalid deflate data from here on"),
        (b"\x78\x20\0\0\0\0\0\0", "it needs a preset dictionary"),
        // A fixed block that copies from before the start.
        (b"\x78\x01\x03\x02\0\0\0\0\0", "invalid deflate data from here on"),
    ] {
        let (plain, used, whole, damage) = decode(bytes, &Limits::DEFAULT);
        assert_eq!(codes(&damage), [(Code::PakZlib, Span::new(used, bytes.len() as u64))], "{words}");
        assert_eq!((plain.len(), whole, damage[0].found), (0, false, Value::Words(words)));
    }
}

#[test]
fn the_part_before_a_fault_is_kept() {
    let plain = chunk();
    // A block that holds, and then a type of block that does not exist.
    let mut packed = vec![0x78, 0x01, 0x00, 0x00, 0x10, 0xff, 0xef];
    packed.extend(&plain[..0x1000]);
    packed.extend([0x07; 40]);
    let (part, used, whole, damage) = decode(&packed, &Limits::DEFAULT);
    assert!(!whole && part == plain[..0x1000]);
    assert_eq!(codes(&damage), [(Code::PakZlib, Span::new(used, packed.len() as u64))]);
    assert!((0x1007..0x1010).contains(&used));
}

#[test]
fn any_flipped_bit_is_told_and_kept_within_bounds() {
    let plain: Vec<u8> = chunk()[..600].to_vec();
    let packed = encode(&plain);
    let mut decoder = Decoder::default();
    for bit in 16..packed.len() * 8 {
        let mut broken = packed.clone();
        broken[bit / 8] ^= 1 << (bit % 8);
        let mut damage = Vec::new();
        let payload = decoder.decode(&broken, true, &Limits::DEFAULT).report_to(&mut damage);
        if damage.is_empty() {
            // Bits between the last block and the checksum mean nothing.
            assert!(payload.whole && payload.plain == plain && bit / 8 == packed.len() - 5, "bit {bit}");
            continue;
        }
        assert!(!(payload.whole && payload.plain != plain), "bit {bit}");
        let codes = [Code::PakZlib, Code::PakZlibCut, Code::PakZlibChecksum, Code::PakZlibTrailing];
        assert!(codes.contains(&damage[0].code) && damage[0].span.end <= broken.len() as u64, "bit {bit}");
    }
}

#[test]
fn a_bomb_stops_at_the_cap() {
    let packed = encode(&vec![0; 20 << 20]);
    assert!(packed.len() < 32 << 10);
    let (plain, _, whole, damage) = decode(&packed, &Limits::DEFAULT);
    assert_eq!((plain.len(), whole), (16 << 20, false));
    assert_eq!(codes(&damage), [(Code::OverLimit, Span::new(0, packed.len() as u64))]);

    let limits = Limits { block_bytes: 1000, ..Limits::DEFAULT };
    for (len, over) in [(999, false), (1000, false), (1001, true), (5000, true), (200_000, true)] {
        let packed = encode(&vec![1; len]);
        let mut decoder = Decoder::default();
        let mut damage = Vec::new();
        let payload = decoder.decode(&packed, true, &limits).report_to(&mut damage);
        assert_eq!((payload.plain.len(), payload.whole), (len.min(1000), !over));
        assert_eq!(damage.first().map(|d| d.code), over.then_some(Code::OverLimit), "{len}");
        assert!(decoder.buffer.capacity() <= 1001);
    }
}

#[test]
fn memory_is_what_the_input_can_give() {
    let mut decoder = Decoder::default();
    decoder.decode(&STORED[..10], true, &Limits::DEFAULT).report_to(&mut Vec::new());
    assert!(decoder.buffer.capacity() as u64 <= 10 * MAX_EXPANSION + 1);
    // The most that deflate can expand is not more than what is counted with.
    let packed = encode(&vec![0; 10 << 20]);
    assert!(packed.len() as u64 * MAX_EXPANSION >= 10 << 20);
}
