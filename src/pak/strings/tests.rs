use super::*;

fn all(data: &[u8]) -> Vec<(u64, &str, Prefix)> {
    let found = find(data, 100);
    assert_eq!(found.total, found.texts.len() as u64);
    found.texts.into_iter().map(|t| (t.offset, t.text, t.prefix)).collect()
}

#[test]
fn lengths_before_strings_are_recognised() {
    assert_eq!(all(b"\x05Stone\0\x04Rock"), [(1, "Stone", Prefix::U8), (8, "Rock", Prefix::U8)]);
    assert_eq!(all(b"\x05\0Stone\0\0"), [(2, "Stone", Prefix::U16)]);
    assert_eq!(all(b"\x05\0\0\0Stone"), [(4, "Stone", Prefix::U32)]);
    assert_eq!(all(b"Stone\0Dirt\0"), [(0, "Stone", Prefix::None), (6, "Dirt", Prefix::None)]);
    assert_eq!(all(b"\x09Stone"), [(1, "Stone", Prefix::None)]);
}

#[test]
fn a_printable_length_is_no_part_of_the_string() {
    let long = "Game.Components.WaterBlockComponent+Data"; // 40 bytes, and 40 is "("
    let data = [b"\x01(".as_slice(), long.as_bytes()].concat();
    assert_eq!(all(&data), [(2, long, Prefix::U8)]);
    let data = [b"(\0\0\0".as_slice(), long.as_bytes()].concat();
    assert_eq!(all(&data), [(4, long, Prefix::U32)]);
}

#[test]
fn text_that_is_not_ascii_and_bytes_that_are_not_text() {
    assert_eq!(all("\u{6}水域\u{1}".as_bytes()), [(1, "水域", Prefix::U8)]);
    assert_eq!(all(b"\xff\xfeabc\xffde\x80fgh\xe6\xb0"), [(2, "abc", Prefix::None), (9, "fgh", Prefix::None)]);
    assert_eq!(all(b"ab\0c\0"), []);
    assert_eq!(all(b""), []);
    // Nothing that moves the cursor gets through.
    assert_eq!(all("abc\u{1b}def\u{9b}ghi\u{202e}jkl".as_bytes()).len(), 4);
    // A first character of two bytes whose first byte happens to be the length of the rest.
    let text = "é".repeat(98);
    assert_eq!(all(text.as_bytes()), [(0, text.as_str(), Prefix::None)]);
}

#[test]
fn only_so_many_are_listed() {
    let data = b"abc\0".repeat(1000);
    let found = find(&data, 7);
    assert_eq!((found.texts.len(), found.total), (7, 1000));
    assert_eq!(found.texts[6].offset, 24);
}
