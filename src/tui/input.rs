//! Events of the terminal: keys, the mouse and pasted text, decoded from the bytes that it sends.
//!
//! An escape sequence that never ends must not lock the keys: one without an end is dropped after [`UNFINISHED_LIMIT`], and a
//! control character or a new escape ends it at once.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

/// How long the rest of an escape sequence or of a paste is awaited after its last byte.
const UNFINISHED_LIMIT: Duration = Duration::from_millis(500);

/// Bytes of the parameters of an escape sequence, at most; further ones are dropped.
const MAX_PARAMETERS: usize = 64;

/// Bytes of a paste, at most; further ones are dropped.
const MAX_PASTE: usize = 1 << 20;

/// What ends a paste.
const PASTE_END: &[u8] = b"\x1b[201~";

const CTRL_C: u8 = 3;

/// Reads events of the terminal.
pub struct EventReader {
    chunks: Receiver<io::Result<Vec<u8>>>,
    decoder: Decoder,
    events: std::vec::IntoIter<Event>,
}

impl EventReader {
    /// Starts a thread that reads the terminal: standard input, or else the terminal of the process.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn start() -> io::Result<Self> {
        let stdin = io::stdin();
        let mut terminal =
            if stdin.is_terminal() { File::from(stdin.as_fd().try_clone_to_owned()?) } else { File::open("/dev/tty")? };
        let (sender, chunks) = sync_channel(4);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                let chunk = match terminal.read(&mut buffer) {
                    Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(n) => Ok(buffer.get(..n).unwrap_or_default().to_vec()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        std::thread::sleep(Duration::from_millis(10));
                        continue;
                    }
                    Err(error) => Err(error),
                };
                let is_end = chunk.is_err();
                if sender.send(chunk).is_err() || is_end {
                    return;
                }
            }
        });
        Ok(Self { chunks, decoder: Decoder::default(), events: Vec::new().into_iter() })
    }

    /// Waits for the next event.
    ///
    /// # Errors
    /// The error of the operating system; also at the end of the input.
    pub fn read(&mut self) -> io::Result<Event> {
        loop {
            if let Some(event) = self.events.next() {
                return Ok(event);
            }
            let mut events = Vec::new();
            let chunk = if self.decoder.is_unfinished() {
                self.chunks.recv_timeout(UNFINISHED_LIMIT)
            } else {
                self.chunks.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            match chunk {
                Ok(chunk) => self.decoder.decode(&chunk?, &mut events),
                Err(RecvTimeoutError::Timeout) => self.decoder.end_unfinished(&mut events),
                Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
            self.events = events.into_iter();
        }
    }
}

/// What the bytes so far are the beginning of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing.
    #[default]
    Ground,
    /// An escape.
    Escape,
    /// `ESC O`: a function key.
    FunctionKey,
    /// `ESC [`: a control sequence; the decoder keeps its parameters.
    Control,
    /// `ESC [ [`: a function key of the Linux console.
    ConsoleKey,
    /// `ESC [ M`: the mouse, in three bytes.
    OldMouse,
    /// Pasted text.
    Paste,
    /// A character of several bytes, with the modifiers of its key.
    Character(KeyModifiers),
}

/// Decodes the bytes of a terminal.
#[derive(Debug, Default)]
struct Decoder {
    state: State,
    bytes: Vec<u8>,
}

impl Decoder {
    /// Whether the bytes so far are the beginning of something.
    fn is_unfinished(&self) -> bool {
        self.state != State::Ground
    }

    /// Decodes bytes that arrived together.
    fn decode(&mut self, chunk: &[u8], events: &mut Vec<Event>) {
        for byte in chunk {
            self.take(*byte, events);
        }
        // Terminals write the bytes of a sequence together, so that an escape without any is the key.
        if self.state == State::Escape {
            self.state = State::Ground;
            events.push(key(KeyCode::Esc, KeyModifiers::NONE));
        }
    }

    /// Ends what nothing follows any more.
    fn end_unfinished(&mut self, events: &mut Vec<Event>) {
        let bytes = std::mem::take(&mut self.bytes);
        match std::mem::take(&mut self.state) {
            State::Escape => events.push(key(KeyCode::Esc, KeyModifiers::NONE)),
            State::FunctionKey => events.push(key(KeyCode::Char('O'), KeyModifiers::ALT | KeyModifiers::SHIFT)),
            State::Control if bytes.is_empty() => events.push(key(KeyCode::Char('['), KeyModifiers::ALT)),
            State::Paste => events.push(Event::Paste(String::from_utf8_lossy(&bytes).into_owned())),
            State::Ground | State::Control | State::ConsoleKey | State::OldMouse | State::Character(_) => {}
        }
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.bytes.clear();
    }

    fn take(&mut self, byte: u8, events: &mut Vec<Event>) {
        match self.state {
            State::Ground if byte == 0x1b => self.enter(State::Escape),
            State::Ground => self.take_key(byte, KeyModifiers::NONE, events),
            State::Escape => match byte {
                b'[' => self.enter(State::Control),
                b'O' => self.enter(State::FunctionKey),
                0x1b => events.push(key(KeyCode::Esc, KeyModifiers::NONE)),
                _ => self.take_key(byte, KeyModifiers::ALT, events),
            },
            State::Paste => self.take_pasted(byte, events),
            State::Character(modifiers) => {
                if !matches!(byte, 0x80..=0xbf) {
                    return self.restart(byte, events);
                }
                self.bytes.push(byte);
                let length = match self.bytes.first() {
                    Some(0xf0..) => 4,
                    Some(0xe0..) => 3,
                    _ => 2,
                };
                if self.bytes.len() >= length {
                    self.state = State::Ground;
                    if let Some(c) = std::str::from_utf8(&self.bytes).ok().and_then(|text| text.chars().next()) {
                        events.push(character(c, modifiers));
                    }
                }
            }
            State::OldMouse => {
                if byte < 0x20 {
                    return self.restart(byte, events);
                }
                self.bytes.push(byte);
                if let &[button, column, row] = self.bytes.as_slice() {
                    self.state = State::Ground;
                    let at = |byte: u8| u16::from(byte).saturating_sub(33);
                    events.extend(mouse(u16::from(button).saturating_sub(32), at(column), at(row), false));
                }
            }
            _ if !matches!(byte, 0x20..=0x7e) => self.restart(byte, events),
            State::FunctionKey => {
                self.state = State::Ground;
                events.extend(named_key(byte, KeyModifiers::NONE));
            }
            State::ConsoleKey => {
                self.state = State::Ground;
                if let Some(number @ 0..=4) = byte.checked_sub(b'A') {
                    events.push(key(KeyCode::F(number.saturating_add(1)), KeyModifiers::NONE));
                }
            }
            State::Control => match byte {
                b'[' if self.bytes.is_empty() => self.enter(State::ConsoleKey),
                b'M' if self.bytes.is_empty() => self.enter(State::OldMouse),
                b'~' if self.bytes == b"200" => self.enter(State::Paste),
                0x40.. => {
                    self.state = State::Ground;
                    events.extend(control_sequence(&self.bytes, byte));
                }
                _ if self.bytes.len() < MAX_PARAMETERS => self.bytes.push(byte),
                _ => {}
            },
        }
    }

    /// Drops what is unfinished, and takes a byte that cannot continue it.
    fn restart(&mut self, byte: u8, events: &mut Vec<Event>) {
        self.enter(State::Ground);
        self.take(byte, events);
    }

    fn take_key(&mut self, byte: u8, modifiers: KeyModifiers, events: &mut Vec<Event>) {
        self.enter(State::Ground);
        let control = modifiers | KeyModifiers::CONTROL;
        // The letter or digit that control makes of this byte.
        let letter = |base: u8| KeyCode::Char(char::from(byte.saturating_add(base)));
        events.push(match byte {
            b'\r' => key(KeyCode::Enter, modifiers),
            b'\t' => key(KeyCode::Tab, modifiers),
            0x7f => key(KeyCode::Backspace, modifiers),
            0 => key(KeyCode::Char(' '), control),
            0x01..=0x1a => key(letter(b'a' - 1), control),
            0x1b => key(KeyCode::Esc, modifiers),
            0x1c..=0x1f => key(letter(b'4' - 0x1c), control),
            0x20..=0x7e => character(char::from(byte), modifiers),
            0xc2..=0xf4 => {
                self.state = State::Character(modifiers);
                self.bytes.push(byte);
                return;
            }
            _ => return,
        });
    }

    fn take_pasted(&mut self, byte: u8, events: &mut Vec<Event>) {
        self.bytes.push(byte);
        // Terminals remove control characters from what they paste: this one was typed.
        let kept = if byte == CTRL_C {
            self.bytes.len().saturating_sub(1)
        } else if self.bytes.ends_with(PASTE_END) {
            self.bytes.len().saturating_sub(PASTE_END.len())
        } else {
            if self.bytes.len() > MAX_PASTE {
                self.bytes.remove(MAX_PASTE.saturating_sub(PASTE_END.len()));
            }
            return;
        };
        self.bytes.truncate(kept);
        self.end_unfinished(events);
        if byte == CTRL_C {
            self.take(byte, events);
        }
    }
}

const fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
    Event::Key(KeyEvent::new(code, modifiers))
}

/// The key of a character: a capital is typed with shift.
fn character(c: char, modifiers: KeyModifiers) -> Event {
    let shift = if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
    key(KeyCode::Char(c), modifiers | shift)
}

/// A key that a letter names, after `ESC O` or at the end of a control sequence.
fn named_key(letter: u8, modifiers: KeyModifiers) -> Option<Event> {
    let code = match letter {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'P' => KeyCode::F(1),
        b'Q' => KeyCode::F(2),
        b'R' => KeyCode::F(3),
        b'S' => KeyCode::F(4),
        b'Z' => return Some(key(KeyCode::BackTab, modifiers | KeyModifiers::SHIFT)),
        _ => return None,
    };
    Some(key(code, modifiers))
}

/// A key that a number names, in a control sequence that ends with `~`.
fn numbered_key(number: u16, modifiers: KeyModifiers) -> Option<Event> {
    let function = |before: u16| Some(KeyCode::F(u8::try_from(number.checked_sub(before)?).ok()?));
    let code = match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => function(10)?,
        17..=21 => function(11)?,
        23..=26 => function(12)?,
        28..=29 => function(13)?,
        31..=34 => function(14)?,
        _ => return None,
    };
    Some(key(code, modifiers))
}

/// The event of a control sequence with these parameters and this last byte, if it has one: answers of the terminal have none.
fn control_sequence(parameters: &[u8], last: u8) -> Option<Event> {
    let text = std::str::from_utf8(parameters).ok()?;
    if let Some(report) = text.strip_prefix('<') {
        let [button, column, row] = numbers(report)?;
        let is_up = last == b'm';
        return (is_up || last == b'M')
            .then(|| mouse(button, column.saturating_sub(1), row.saturating_sub(1), is_up))
            .flatten();
    }
    if last == b'M' {
        let [button, column, row] = numbers(text)?;
        return mouse(button.checked_sub(32)?, column.saturating_sub(1), row.saturating_sub(1), false);
    }
    let mut fields = text.split(';');
    // A field may have further numbers behind a colon, which say nothing that is used here.
    let mut number = || fields.next().and_then(|field| field.split(':').next()?.parse::<u16>().ok());
    let first = number();
    let modifiers = number().map_or(KeyModifiers::NONE, modifiers);
    match last {
        b'~' => numbered_key(first?, modifiers),
        b'u' => Some(match char::from_u32(first?.into())? {
            '\r' => key(KeyCode::Enter, modifiers),
            '\t' => key(KeyCode::Tab, modifiers),
            '\x1b' => key(KeyCode::Esc, modifiers),
            '\x7f' => key(KeyCode::Backspace, modifiers),
            c => character(c, modifiers),
        }),
        // With two numbers it is where the cursor is, unless it is a key with modifiers.
        b'R' if first.is_some_and(|first| first != 1) => None,
        _ if text.starts_with('?') => None,
        _ => named_key(last, modifiers),
    }
}

/// Three numbers between semicolons.
fn numbers(text: &str) -> Option<[u16; 3]> {
    let numbers: Vec<u16> = text.split(';').map(|field| field.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// Modifiers as control sequences have them: one more than a sum of bits.
fn modifiers(number: u16) -> KeyModifiers {
    let bits = number.saturating_sub(1);
    [
        KeyModifiers::SHIFT,
        KeyModifiers::ALT,
        KeyModifiers::CONTROL,
        KeyModifiers::SUPER,
        KeyModifiers::HYPER,
        KeyModifiers::META,
    ]
    .into_iter()
    .enumerate()
    .filter(|(bit, _)| bits >> bit & 1 != 0)
    .fold(KeyModifiers::NONE, |all, (_, modifier)| all | modifier)
}

/// A report about the mouse.
fn mouse(button: u16, column: u16, row: u16, is_up: bool) -> Option<Event> {
    let number = button & 3 | (button & 0xc0) >> 4;
    let is_drag = button & 0x20 != 0;
    let held = match number {
        0 => Some(MouseButton::Left),
        1 => Some(MouseButton::Middle),
        2 => Some(MouseButton::Right),
        _ => None,
    };
    let kind = match (held, number, is_drag) {
        (Some(held), _, true) => MouseEventKind::Drag(held),
        (Some(held), _, false) if is_up => MouseEventKind::Up(held),
        (Some(held), _, false) => MouseEventKind::Down(held),
        (None, 3, false) => MouseEventKind::Up(MouseButton::Left),
        (None, 3..=5, true) => MouseEventKind::Moved,
        (None, 4, false) => MouseEventKind::ScrollUp,
        (None, 5, false) => MouseEventKind::ScrollDown,
        (None, 6, false) => MouseEventKind::ScrollLeft,
        (None, 7, false) => MouseEventKind::ScrollRight,
        _ => return None,
    };
    let bits = [(4, KeyModifiers::SHIFT), (8, KeyModifiers::ALT), (16, KeyModifiers::CONTROL)];
    let modifiers = bits
        .into_iter()
        .filter(|(bit, _)| button & bit != 0)
        .fold(KeyModifiers::NONE, |all, (_, modifier)| all | modifier);
    Some(Event::Mouse(MouseEvent { kind, column, row, modifiers }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of bytes that arrive together, and of the silence after them.
    fn decode(bytes: &[u8]) -> Vec<Event> {
        let (mut decoder, mut events) = (Decoder::default(), Vec::new());
        decoder.decode(bytes, &mut events);
        decoder.end_unfinished(&mut events);
        events
    }

    fn plain(c: char) -> Event {
        key(KeyCode::Char(c), KeyModifiers::NONE)
    }

    #[test]
    fn keys_are_decoded() {
        let none = KeyModifiers::NONE;
        let cases: [(&[u8], KeyCode, KeyModifiers); 22] = [
            (b"q", KeyCode::Char('q'), none),
            (b"Q", KeyCode::Char('Q'), KeyModifiers::SHIFT),
            ("é".as_bytes(), KeyCode::Char('é'), none),
            (b"\x03", KeyCode::Char('c'), KeyModifiers::CONTROL),
            (b"\0", KeyCode::Char(' '), KeyModifiers::CONTROL),
            (b"\x1c", KeyCode::Char('4'), KeyModifiers::CONTROL),
            (b"\r", KeyCode::Enter, none),
            (b"\t", KeyCode::Tab, none),
            (b"\x7f", KeyCode::Backspace, none),
            (b"\x1b", KeyCode::Esc, none),
            (b"\x1bx", KeyCode::Char('x'), KeyModifiers::ALT),
            (b"\x1b[", KeyCode::Char('['), KeyModifiers::ALT),
            (b"\x1b[A", KeyCode::Up, none),
            (b"\x1bOD", KeyCode::Left, none),
            (b"\x1b[1;2C", KeyCode::Right, KeyModifiers::SHIFT),
            (b"\x1b[1;5H", KeyCode::Home, KeyModifiers::CONTROL),
            (b"\x1b[Z", KeyCode::BackTab, KeyModifiers::SHIFT),
            (b"\x1b[5~", KeyCode::PageUp, none),
            (b"\x1b[24~", KeyCode::F(12), none),
            (b"\x1bOQ", KeyCode::F(2), none),
            (b"\x1b[[E", KeyCode::F(5), none),
            (b"\x1b[97;5u", KeyCode::Char('a'), KeyModifiers::CONTROL),
        ];
        for (bytes, code, modifiers) in cases {
            assert_eq!(decode(bytes), [key(code, modifiers)], "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn three_encodings_of_the_mouse_are_decoded() {
        let at = |kind, column, row| Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
        let left = MouseButton::Left;
        assert_eq!(
            decode(b"\x1b[<0;60;20M\x1b[<32;70;24M\x1b[<0;70;24m\x1b[<65;1;1M"),
            [
                at(MouseEventKind::Down(left), 59, 19),
                at(MouseEventKind::Drag(left), 69, 23),
                at(MouseEventKind::Up(left), 69, 23),
                at(MouseEventKind::ScrollDown, 0, 0),
            ]
        );
        assert_eq!(decode(b"\x1b[M !!"), [at(MouseEventKind::Down(left), 0, 0)]);
        assert_eq!(decode(b"\x1b[32;60;20M"), [at(MouseEventKind::Down(left), 59, 19)]);
    }

    #[test]
    fn a_sequence_that_arrives_in_parts_is_one_key() {
        let (mut decoder, mut events) = (Decoder::default(), Vec::new());
        for part in [&b"\x1b["[..], b"1;", b"2", b"C\xc3", b"\xa9"] {
            decoder.decode(part, &mut events);
        }
        assert_eq!(events, [key(KeyCode::Right, KeyModifiers::SHIFT), plain('é')]);
    }

    #[test]
    fn nothing_unfinished_keeps_the_next_keys() {
        let control_c = key(KeyCode::Char('c'), KeyModifiers::CONTROL);
        let begins: [&[u8]; 9] =
            [b"\x1b[<", b"\x1b[?", b"\x1b[1;", b"\x1b[200~", b"\x1b[M", b"\x1b[[", b"\x1bO", b"\xe2\x82", b"\x1b[<0;1"];
        for begin in begins {
            let name = begin.escape_ascii();
            // At once, for a control character.
            assert_eq!(decode(&[begin, b"\x03"].concat()).last(), Some(&control_c), "{name}");
            // After a moment, for every key.
            let (mut decoder, mut events) = (Decoder::default(), Vec::new());
            decoder.decode(begin, &mut events);
            assert!(decoder.is_unfinished(), "{name}");
            decoder.end_unfinished(&mut events);
            decoder.decode(b"q", &mut events);
            assert_eq!(events.last(), Some(&plain('q')), "{name}");
        }
    }

    #[test]
    fn pasted_text_is_one_event_and_has_no_keys() {
        let text = "q\x1b[Aé";
        let bytes = [b"1\x1b[200~", text.as_bytes(), PASTE_END, b"2"].concat();
        assert_eq!(decode(&bytes), [plain('1'), Event::Paste(text.to_owned()), plain('2')]);
        let long = [&b"\x1b[200~"[..], &vec![b'x'; 3 << 20], PASTE_END, b"2"].concat();
        let events = decode(&long);
        assert!(matches!(&events[..], [Event::Paste(text), key] if text.len() < MAX_PASTE && *key == plain('2')));
    }

    #[test]
    fn answers_of_the_terminal_are_no_keys() {
        for answer in ["\x1b[?62;4c", "\x1b[24;80R", "\x1b[?1u", "\x1b[8;24;80t", "\x1b[I", "\x1b[O"] {
            let events = decode(answer.as_bytes());
            assert!(events.is_empty(), "{answer:?}: {events:?}");
        }
    }
}
