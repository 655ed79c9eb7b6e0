//! What a terminal is sent, decoded, against the picture.

use std::io::Read;

use base64::Engine;
use ratatui::buffer::Buffer;

use super::*;

const SIZE: Size = Size::new(6, 3);

const CELL: [u16; 2] = [8, 16];

/// A picture of few colours, so that a palette has all of them.
fn picture() -> RgbaImage {
    let [width, height] = [u32::from(SIZE.width * CELL[0]), u32::from(SIZE.height * CELL[1])];
    RgbaImage::from_fn(width, height, |x, y| {
        let colors = [[200, 40, 40], [40, 160, 60], [30, 60, 220], [240, 240, 250]];
        let [r, g, b] = colors[((x / 7 + y / 5) % 4) as usize];
        Rgba([r, g, b, 255])
    })
}

/// The cells that a protocol draws the picture with.
fn drawn(protocol: Protocol) -> Buffer {
    let Pixels(encoded) = encode(picture(), SIZE, protocol).unwrap();
    let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 5));
    ImageWidget::new(&encoded).render(Rect::new(2, 1, SIZE.width, SIZE.height), &mut buffer);
    buffer
}

/// All that is sent, in the order of cells.
fn sent(buffer: &Buffer) -> String {
    let before = Buffer::empty(buffer.area);
    before.diff(buffer).into_iter().map(|(_, _, cell)| cell.symbol().to_owned()).collect()
}

#[test]
fn kitty_gets_the_pixels_and_a_placeholder_for_each_cell() {
    let buffer = drawn(Protocol::Kitty);
    let sent = sent(&buffer);
    let (mut keys, mut data) = (String::new(), String::new());
    for command in sent.split("\x1b_G").skip(1) {
        let (command, _) = command.split_once("\x1b\\").unwrap();
        let (control, payload) = command.split_once(';').unwrap();
        keys = keys + control + ",";
        data += payload;
    }
    let has = |key: &str| keys.split(',').any(|other| other == key);
    let [width, height] = [picture().width(), picture().height()];
    for key in ["U=1", "f=32", "o=z", &format!("i={IMAGE_NUMBER}"), &format!("s={width}"), &format!("v={height}")] {
        assert!(has(key), "{key} is not in {keys}");
    }
    let zlib = base64::engine::general_purpose::STANDARD.decode(data).unwrap();
    let mut pixels = Vec::new();
    flate2::read::ZlibDecoder::new(&zlib[..]).read_to_end(&mut pixels).unwrap();
    assert_eq!(pixels, picture().into_raw());
    assert_eq!(sent.matches('\u{10eeee}').count(), usize::from(SIZE.width * SIZE.height));
}

#[test]
fn iterm2_gets_the_pixels_as_a_png() {
    let sent = sent(&drawn(Protocol::Iterm2));
    let (_, file) = sent.split_once("\x1b]1337;File=").unwrap();
    let (arguments, rest) = file.split_once(':').unwrap();
    assert!(arguments.contains("inline=1"), "{arguments}");
    let png = base64::engine::general_purpose::STANDARD.decode(rest.split_once('\x07').unwrap().0).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    pixels.truncate(frame.buffer_size());
    assert_eq!(pixels, picture().into_raw());
}

#[test]
fn sixel_gets_the_pixels_in_bands_of_six_rows() {
    let sent = sent(&drawn(Protocol::Sixel));
    let start = sent.find("\x1bP").unwrap();
    let body = &sent[start..];
    let body = &body[body.find('q').unwrap() + 1..body.find("\x1b\\").unwrap()];
    let found = decode_sixel(body, picture().width(), picture().height());
    for (x, y, expected) in picture().enumerate_pixels() {
        let color = found[(y * picture().width() + x) as usize].unwrap_or_else(|| panic!("nothing at {x}, {y}"));
        // Sixel has colours in hundredths.
        let near = color.iter().zip(expected.0).all(|(a, b)| a.abs_diff(b) <= 4);
        assert!(near, "{color:?} at {x}, {y}, expected {expected:?}");
    }
}

/// Numbers at the beginning, separated by semicolons, and what follows.
fn numbers(text: &[u8]) -> (Vec<u32>, &[u8]) {
    let end = text.iter().position(|c| !c.is_ascii_digit() && *c != b';').unwrap_or(text.len());
    let list = std::str::from_utf8(&text[..end]).unwrap();
    (list.split(';').filter_map(|n| n.parse().ok()).collect(), &text[end..])
}

fn decode_sixel(body: &str, width: u32, height: u32) -> Vec<Option<[u8; 3]>> {
    let mut out = vec![None; (width * height) as usize];
    let (mut palette, mut color) = (std::collections::HashMap::new(), [0; 3]);
    let (mut x, mut y, mut times) = (0, 0, 1);
    let mut rest = body.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            b'"' => rest = numbers(rest).1,
            b'#' => {
                let (list, after) = numbers(rest);
                if let [number, 2, rgb @ ..] = &list[..] {
                    let part = |i: usize| u8::try_from((rgb[i] * 255 + 50) / 100).unwrap();
                    palette.insert(*number, [part(0), part(1), part(2)]);
                }
                (color, rest) = (palette[&list[0]], after);
            }
            b'!' => {
                let (list, after) = numbers(rest);
                (times, rest) = (list[0], after);
            }
            b'$' => x = 0,
            b'-' => (x, y) = (0, y + 6),
            63..=126 => {
                for column in x..x + times {
                    for bit in (0..6).filter(|bit| (first - 63) >> bit & 1 == 1) {
                        if column < width && y + bit < height {
                            out[((y + bit) * width + column) as usize] = Some(color);
                        }
                    }
                }
                (x, times) = (x + times, 1);
            }
            other => assert!(other.is_ascii_whitespace(), "{other} is no sixel"),
        }
    }
    out
}
