use super::*;

fn block() -> Vec<u8> {
    let mut plain: Vec<u8> = (0..2000u32).map(|i| (i / 9 % 200) as u8).collect();
    plain.extend(EPILOGUE.to_le_bytes());
    plain
}

fn decode(input: &[u8]) -> (Option<Mode>, Vec<u8>, bool, Vec<Damage>) {
    let mut decoder = Decoder::default();
    let mut damage = Vec::new();
    let c = decoder.decode(input, &Limits::DEFAULT).report_to(&mut damage);
    (c.mode, c.plain.to_vec(), c.whole, damage)
}

fn pack(mode: Mode, plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(mode, plain, &mut out);
    out
}

#[test]
fn bytes_from_the_format_page() {
    let epilogue = [0x0d, 0xf0, 0x0d, 0x90];
    // Mode 0: the data follows.
    let (mode, plain, whole, damage) = decode(&[0, 1, 2, 0x0d, 0xf0, 0x0d, 0x90]);
    assert_eq!((mode, whole, damage.len()), (Some(Mode::Plain), true, 0));
    assert_eq!(plain, [1, 2, 0x0d, 0xf0, 0x0d, 0x90]);
    // One LZ4 sequence of four literals, with the size big-endian, little-endian, and without a mode.
    let lz4 = [&[0x40][..], &epilogue].concat();
    for (head, mode) in
        [(&[1, 0, 0, 0, 4][..], Mode::Lz4BigEndian), (&[2, 4, 0, 0, 0], Mode::Lz4), (&[4, 0, 0, 0], Mode::Headerless)]
    {
        let input = [head, &lz4].concat();
        assert_eq!(decode(&input), (Some(mode), epilogue.to_vec(), true, vec![]), "{mode:?}");
    }
    // A Zstandard frame of one raw block: magic, descriptor (single segment), content size 4, block header, data.
    let frame = [&[3, 4, 0, 0, 0, 0x28, 0xb5, 0x2f, 0xfd, 0x20, 4, 0b10_0001, 0, 0][..], &epilogue].concat();
    assert_eq!(decode(&frame), (Some(Mode::Zstd), epilogue.to_vec(), true, vec![]));
}

#[test]
fn what_is_packed_comes_back_in_every_mode() {
    for mode in Mode::ALL {
        assert_eq!(decode(&pack(mode, &block())), (Some(mode), block(), true, vec![]), "{mode:?}");
    }
}

#[test]
fn a_headerless_size_that_begins_like_a_mode_is_told_apart() {
    // 258 bytes: the size begins with 2, the number of another mode.
    for size in [256, 257, 258, 259, 260] {
        let plain = [vec![7; size - 4], EPILOGUE.to_le_bytes().to_vec()].concat();
        let packed = pack(Mode::Headerless, &plain);
        assert_eq!(usize::from(packed[0]), size - 256);
        assert_eq!(decode(&packed), (Some(Mode::Headerless), plain, true, vec![]));
    }
}

#[test]
fn mode_1_with_a_little_endian_size_is_read_and_reported() {
    let epilogue = EPILOGUE.to_le_bytes();
    // One LZ4 sequence of four literals; the size 4 as release 1.6 wrote it.
    let input = [&[1, 4, 0, 0, 0, 0x40][..], &epilogue].concat();
    let (mode, plain, whole, damage) = decode(&input);
    assert_eq!((mode, whole), (Some(Mode::Lz4WrongOrder), true));
    assert_eq!(plain, epilogue);
    let expected = Damage::new(Code::ContainerByteOrder, Span::new(1, 5), "declared size")
        .expected(Value::Bytes(4))
        .found(Value::Bytes(4 << 24));
    assert_eq!(damage, [expected]);
    assert!(Code::ContainerByteOrder.level() == crate::damage::Level::Error && !Code::ContainerByteOrder.hides_data());
    // The same fields as mode 2.
    assert_eq!(decode(&with_readable_mode(&input)), (Some(Mode::Lz4), epilogue.to_vec(), true, vec![]));

    let packed = pack(Mode::Lz4WrongOrder, &block());
    let (mode, plain, whole, damage) = decode(&packed);
    assert_eq!((mode, plain, whole), (Some(Mode::Lz4WrongOrder), block(), true));
    assert_eq!(damage[0].code, Code::ContainerByteOrder);
}

#[test]
fn a_size_that_is_the_same_in_both_byte_orders_is_what_the_engine_reads() {
    // 0x01000001 bytes would be large; 0x00010100 is a size of 65,792 bytes that reads the same either way.
    let plain = [vec![7; 0x0001_0100 - 4], EPILOGUE.to_le_bytes().to_vec()].concat();
    let big = pack(Mode::Lz4BigEndian, &plain);
    assert_eq!(big, pack(Mode::Lz4WrongOrder, &plain));
    assert_eq!(decode(&big), (Some(Mode::Lz4BigEndian), plain, true, vec![]));
}

#[test]
fn a_size_that_fits_in_neither_byte_order_is_not_mistaken() {
    for size in [0u32, 1, 1999, 2003, 2005, 1 << 20, u32::MAX] {
        let mut packed = pack(Mode::Lz4WrongOrder, &block());
        packed[1..5].copy_from_slice(&size.to_le_bytes());
        let (mode, _, whole, damage) = decode(&packed);
        assert_eq!((mode, whole), (Some(Mode::Lz4BigEndian), false), "{size}");
        assert_ne!(damage[0].code, Code::ContainerByteOrder, "{size}");
    }
}

#[test]
fn an_unknown_mode_is_named() {
    let (mode, plain, whole, damage) = decode(&[9, 9, 9]);
    assert_eq!((mode, plain.len(), whole), (None, 0, false));
    assert_eq!((damage[0].code, damage[0].span), (Code::ContainerMode, Span::new(0, 1)));
    assert_eq!(decode(&[]).3[0].code, Code::ContainerEmpty);
    assert_eq!(decode(&[2, 0, 0]).3[0].code, Code::ContainerCut);
}

#[test]
fn a_declared_size_is_a_claim() {
    let mut packed = pack(Mode::Lz4, &block());
    packed[1..5].copy_from_slice(&u32::MAX.to_le_bytes());
    let (_, plain, whole, damage) = decode(&packed);
    assert_eq!((damage[0].code, damage[0].span), (Code::ContainerDeclared, Span::new(1, 5)));
    assert_eq!((plain, whole), (block(), false), "the data is shown all the same");

    let mut packed = pack(Mode::Zstd, &block());
    packed[1..5].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(decode(&packed).3[0].code, Code::OverLimit);

    for mode in [Mode::Lz4, Mode::Zstd] {
        for (delta, word) in [(-1, "too small"), (1, "too large")] {
            let mut packed = pack(mode, &block());
            let size = block().len() as i32 + delta;
            packed[1..5].copy_from_slice(&size.to_le_bytes());
            let (_, plain, whole, damage) = decode(&packed);
            assert_eq!(damage[0].code, Code::ContainerLength, "{mode:?} {word}");
            assert!(!whole && plain == block(), "{mode:?} {word}");
        }
    }
}

#[test]
fn a_cut_container_gives_the_start_of_its_data() {
    for mode in [Mode::Lz4BigEndian, Mode::Lz4] {
        let packed = pack(mode, &block());
        for cut in 5..packed.len() {
            let (found, plain, whole, damage) = decode(&packed[..cut]);
            assert_eq!((found, whole), (Some(mode), false), "cut at {cut}");
            // Cut after literals it is a whole block of LZ4, but a shorter one.
            let codes = [Code::ContainerCorrupt, Code::ContainerDeclared, Code::ContainerLength];
            assert!(codes.contains(&damage[0].code), "cut at {cut}");
            assert!(block().starts_with(&plain));
            assert!(damage[0].span.end <= cut as u64);
        }
    }
}

#[test]
fn a_cut_frame_gives_its_whole_blocks() {
    // Three raw blocks of 1,000 bytes; the third is cut.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x60, 0xb8, 0x0a];
    for (i, last) in [(1u8, 0u32), (2, 0), (3, 1)] {
        frame.extend(&(last | 1000 << 3).to_le_bytes()[..3]);
        frame.extend([i; 1000]);
    }
    let packed = [&[3][..], &3000u32.to_le_bytes(), &frame[..frame.len() - 1]].concat();
    let (mode, plain, whole, damage) = decode(&packed);
    assert_eq!((mode, whole), (Some(Mode::Zstd), false));
    assert_eq!(damage[0].code, Code::ContainerCorrupt);
    assert_eq!(plain, [vec![1; 1000], vec![2; 1000]].concat());
}

#[test]
fn a_wrong_checksum_and_trailing_bytes_are_seen() {
    // The frame of one raw block, with the checksum flag and a checksum of zero.
    let frame = [3, 4, 0, 0, 0, 0x28, 0xb5, 0x2f, 0xfd, 0x24, 4, 0b10_0001, 0, 0, 0x0d, 0xf0, 0x0d, 0x90, 0, 0, 0, 0];
    let (_, plain, whole, damage) = decode(&frame);
    assert_eq!((damage[0].code, damage[0].span), (Code::ContainerChecksum, Span::new(18, 22)));
    assert_eq!((plain.len(), whole), (4, false));

    let mut packed = pack(Mode::Zstd, &block());
    let len = packed.len() as u64;
    packed.extend([0; 3]);
    let (_, plain, whole, damage) = decode(&packed);
    assert_eq!((damage[0].code, damage[0].span), (Code::ContainerTrailing, Span::sized(len, 3)));
    assert!(whole && plain == block());
}

#[test]
fn a_bomb_stays_under_the_cap() {
    let limits = Limits { block_bytes: 1 << 16, ..Limits::DEFAULT };
    let mut decoder = Decoder::default();
    // LZ4: 100,000 bytes of match length. Zstandard: RLE blocks of 128 KiB.
    let mut lz4 = [&[2][..], &(20u32 << 20).to_le_bytes(), &[0x1f, 0, 1, 0]].concat();
    lz4.extend([255; 100_000]);
    let mut zstd = [&[3][..], &(20u32 << 20).to_le_bytes(), &[0x28, 0xb5, 0x2f, 0xfd, 0, 0]].concat();
    for _ in 0..200 {
        zstd.extend(&(1u32 << 1 | (128 << 10) << 3).to_le_bytes()[..3]);
        zstd.push(0);
    }
    for input in [lz4, zstd] {
        let mut damage = Vec::new();
        let plain = decoder.decode(&input, &limits).report_to(&mut damage).plain.len();
        assert!(plain <= 1 << 16, "{plain}");
        assert_eq!(damage.len(), 1);
    }
    assert!(decoder.buffer.capacity() <= 1 << 17);
}

#[test]
fn a_frame_whose_header_lies_is_no_whole_data() {
    // One raw block of four bytes, with a content size of a byte in a single segment.
    let frame = |descriptor: u8, size: u8| {
        let head = [&[3, 4, 0, 0, 0, 0x28, 0xb5, 0x2f, 0xfd, descriptor, size][..], &[0x21, 0, 0]].concat();
        [head, EPILOGUE.to_le_bytes().to_vec()].concat()
    };
    let decoded = |input: &[u8]| {
        let (mut decoder, mut damage) = (Decoder::default(), Vec::new());
        let found = decoder.decode(input, &Limits::DEFAULT).report_to(&mut damage);
        (found.whole, found.plain.to_vec(), damage.iter().map(|d| (d.code, d.span)).collect::<Vec<_>>())
    };
    let plain = EPILOGUE.to_le_bytes().to_vec();
    assert_eq!(decoded(&frame(0x20, 4)), (true, plain.clone(), vec![]));
    let length = vec![(Code::ContainerLength, Span::new(5, 18))];
    assert_eq!(decoded(&frame(0x20, 200)), (false, plain.clone(), length));
    let corrupt = vec![(Code::ContainerCorrupt, Span::new(9, 18))];
    assert_eq!(decoded(&frame(0x28, 4)), (false, plain, corrupt));
}
