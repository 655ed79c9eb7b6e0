//! What the terminal sends, decoded from its bytes: keys, the mouse, pasted text, and answers to questions.
//!
//! An escape sequence that never ends must not lock the keys: one without an end is dropped after [`UNFINISHED_LIMIT`], and a
//! control character or a new escape ends it at once. No sequence takes more than a fixed amount of memory.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use ratatui::crossterm::event::{Event, KeyCode, KeyModifiers};

use super::query::Received;
use super::sequences::{character, control_sequence, key, mouse, named_key};

/// How long the rest of an escape sequence or of a paste is awaited after its last byte.
const UNFINISHED_LIMIT: Duration = Duration::from_millis(500);

/// Bytes of the parameters of an escape sequence, at most; further ones are dropped.
const MAX_PARAMETERS: usize = 64;

/// Bytes of an answer, at most; a longer one is dropped.
const MAX_ANSWER: usize = 256;

/// Bytes of a paste, at most; further ones are dropped.
const MAX_PASTE: usize = 1 << 20;

/// What ends a paste.
const PASTE_END: &[u8] = b"\x1b[201~";

const CTRL_C: u8 = 3;

const BELL: u8 = 7;

/// Reads what the terminal sends.
pub struct EventReader {
    chunks: Receiver<io::Result<Vec<u8>>>,
    decoder: Decoder,
    received: std::vec::IntoIter<Received>,
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
        Ok(Self { chunks, decoder: Decoder::default(), received: Vec::new().into_iter() })
    }

    /// Waits for the next event or answer.
    ///
    /// # Errors
    /// The error of the operating system; also at the end of the input.
    pub fn read(&mut self) -> io::Result<Received> {
        loop {
            if let Some(received) = self.received.next() {
                return Ok(received);
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
            self.received = events.into_iter();
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
    /// `ESC P`, `ESC ]` and the like: a control string, by the byte behind its escape.
    Text(u8),
    /// An escape in such a string, which a backslash makes its end.
    TextEscape(u8),
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
    fn decode(&mut self, chunk: &[u8], events: &mut Vec<Received>) {
        for byte in chunk {
            self.take(*byte, events);
        }
        // Terminals write the bytes of a sequence together, so that an escape without any is the key.
        if self.state == State::Escape {
            self.state = State::Ground;
            events.push(key(KeyCode::Esc, KeyModifiers::NONE).into());
        }
    }

    /// Ends what nothing follows any more.
    fn end_unfinished(&mut self, events: &mut Vec<Received>) {
        let bytes = std::mem::take(&mut self.bytes);
        match std::mem::take(&mut self.state) {
            State::Escape | State::TextEscape(_) => events.push(key(KeyCode::Esc, KeyModifiers::NONE).into()),
            State::FunctionKey => events.push(character('O', KeyModifiers::ALT).into()),
            State::Control if bytes.is_empty() => events.push(character('[', KeyModifiers::ALT).into()),
            State::Text(byte) if bytes.is_empty() => events.push(character(char::from(byte), KeyModifiers::ALT).into()),
            State::Paste => events.push(Event::Paste(String::from_utf8_lossy(&bytes).into_owned()).into()),
            State::Ground
            | State::Control
            | State::ConsoleKey
            | State::OldMouse
            | State::Character(_)
            | State::Text(_) => {}
        }
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.bytes.clear();
    }

    fn take(&mut self, byte: u8, events: &mut Vec<Received>) {
        match self.state {
            State::Ground if byte == 0x1b => self.enter(State::Escape),
            State::Ground => self.take_key(byte, KeyModifiers::NONE, events),
            State::Escape => match byte {
                b'[' => self.enter(State::Control),
                b'O' => self.enter(State::FunctionKey),
                0x1b => events.push(key(KeyCode::Esc, KeyModifiers::NONE).into()),
                b'P' | b']' | b'X' | b'^' | b'_' => self.enter(State::Text(byte)),
                _ => self.take_key(byte, KeyModifiers::ALT, events),
            },
            State::Text(kind) => match byte {
                0x1b => self.state = State::TextEscape(kind),
                BELL => self.end_text(kind, events),
                0x20.. if self.bytes.len() <= MAX_ANSWER => self.bytes.push(byte),
                0x20.. => {}
                _ => self.restart(byte, events),
            },
            State::TextEscape(kind) if byte == b'\\' => self.end_text(kind, events),
            // Ctrl-C ends an unfinished answer, and is not Alt-Ctrl-C although an escape is before it.
            State::TextEscape(_) if byte == CTRL_C => self.restart(byte, events),
            State::TextEscape(_) => {
                self.enter(State::Escape);
                self.take(byte, events);
            }
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
                        events.push(character(c, modifiers).into());
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
                    let event = mouse(u16::from(button).saturating_sub(32), at(column), at(row), false);
                    events.extend(event.map(Received::from));
                }
            }
            _ if !matches!(byte, 0x20..=0x7e) => self.restart(byte, events),
            State::FunctionKey => {
                self.state = State::Ground;
                events.extend(named_key(byte, KeyModifiers::NONE).map(Received::from));
            }
            State::ConsoleKey => {
                self.state = State::Ground;
                if let Some(number @ 0..=4) = byte.checked_sub(b'A') {
                    events.push(key(KeyCode::F(number.saturating_add(1)), KeyModifiers::NONE).into());
                }
            }
            State::Control => match byte {
                b'[' if self.bytes.is_empty() => self.enter(State::ConsoleKey),
                b'M' if self.bytes.is_empty() => self.enter(State::OldMouse),
                b'~' if self.bytes == b"200" => self.enter(State::Paste),
                0x40.. => {
                    self.state = State::Ground;
                    events.extend(control_sequence(&self.bytes, byte).map(Received::from));
                }
                _ if self.bytes.len() < MAX_PARAMETERS => self.bytes.push(byte),
                _ => {}
            },
        }
    }

    /// Drops what is unfinished, and takes a byte that cannot continue it.
    fn restart(&mut self, byte: u8, events: &mut Vec<Received>) {
        self.enter(State::Ground);
        self.take(byte, events);
    }

    fn take_key(&mut self, byte: u8, modifiers: KeyModifiers, events: &mut Vec<Received>) {
        self.enter(State::Ground);
        let control = modifiers | KeyModifiers::CONTROL;
        // The letter or digit that control makes of this byte.
        let letter = |base: u8| KeyCode::Char(char::from(byte.saturating_add(base)));
        let event = match byte {
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
        };
        events.push(event.into());
    }

    /// Ends a control string; one that is too long is dropped.
    fn end_text(&mut self, kind: u8, events: &mut Vec<Received>) {
        self.state = State::Ground;
        if self.bytes.len() <= MAX_ANSWER {
            let text = String::from_utf8_lossy(&self.bytes).into_owned();
            events.push(Received::Answer(char::from(kind), text));
        }
    }

    fn take_pasted(&mut self, byte: u8, events: &mut Vec<Received>) {
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

#[cfg(test)]
mod tests {
    use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

    use super::*;

    /// What bytes that arrive together are, and the silence after them.
    fn receive(bytes: &[u8]) -> Vec<Received> {
        let (mut decoder, mut received) = (Decoder::default(), Vec::new());
        decoder.decode(bytes, &mut received);
        decoder.end_unfinished(&mut received);
        received
    }

    /// The events among it.
    fn events(received: Vec<Received>) -> Vec<Event> {
        let event = |received| if let Received::Event(event) = received { Some(event) } else { None };
        received.into_iter().filter_map(event).collect()
    }

    fn decode(bytes: &[u8]) -> Vec<Event> {
        events(receive(bytes))
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
        let (mut decoder, mut received) = (Decoder::default(), Vec::new());
        for part in [&b"\x1b["[..], b"1;", b"2", b"C\xc3", b"\xa9"] {
            decoder.decode(part, &mut received);
        }
        assert_eq!(events(received), [key(KeyCode::Right, KeyModifiers::SHIFT), plain('é')]);
    }

    #[test]
    fn nothing_unfinished_keeps_the_next_keys() {
        let control_c = key(KeyCode::Char('c'), KeyModifiers::CONTROL);
        let begins: [&[u8]; 13] = [
            b"\x1b[<",
            b"\x1b[?",
            b"\x1b[1;",
            b"\x1b[200~",
            b"\x1b[M",
            b"\x1b[[",
            b"\x1bO",
            b"\xe2\x82",
            b"\x1b[<0;1",
            b"\x1bP",
            b"\x1bP>|x",
            b"\x1b]11;rgb:",
            b"\x1b]11;\x1b",
        ];
        for begin in begins {
            let name = begin.escape_ascii();
            // At once, for a control character.
            assert_eq!(decode(&[begin, b"\x03"].concat()).last(), Some(&control_c), "{name}");
            // After a moment, for every key.
            let (mut decoder, mut received) = (Decoder::default(), Vec::new());
            decoder.decode(begin, &mut received);
            assert!(decoder.is_unfinished(), "{name}");
            decoder.end_unfinished(&mut received);
            decoder.decode(b"q", &mut received);
            assert_eq!(events(received).last(), Some(&plain('q')), "{name}");
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
    fn a_control_string_is_an_answer() {
        let text = |kind, text: &str| Received::Answer(kind, text.to_owned());
        assert_eq!(
            receive(b"2\x1b]11;rgb:ff/ff/ff\x1b\\\x1b]11;rgb:0/0/0\x07\x1bP>|kitty(0.35.2)\x1b\\3"),
            [
                plain('2').into(),
                text(']', "11;rgb:ff/ff/ff"),
                text(']', "11;rgb:0/0/0"),
                text('P', ">|kitty(0.35.2)"),
                plain('3').into()
            ]
        );
        // An escape that no backslash follows begins a key.
        assert_eq!(decode(b"\x1b]11;\x1b[A"), [key(KeyCode::Up, KeyModifiers::NONE)]);
        // The end of a string may arrive later.
        let (mut decoder, mut received) = (Decoder::default(), Vec::new());
        for part in [&b"\x1b]11;"[..], b"x\x1b", b"\\q"] {
            decoder.decode(part, &mut received);
        }
        assert_eq!(received, [text(']', "11;x"), plain('q').into()]);
    }

    #[test]
    fn a_string_without_an_end_takes_little_memory_and_gives_no_events() {
        let control_c = key(KeyCode::Char('c'), KeyModifiers::CONTROL);
        for begin in [&b"\x1bP"[..], b"\x1b]11;", b"\x1bX", b"\x1b^", b"\x1b_", b"\x1b[1;", b"\x1b[<"] {
            let name = begin.escape_ascii();
            let (mut decoder, mut received) = (Decoder::default(), Vec::new());
            decoder.decode(begin, &mut received);
            for _ in 0..1000 {
                decoder.decode(&[b'1'; 1000], &mut received);
                assert!(decoder.bytes.len() <= MAX_ANSWER + 1, "{name}");
            }
            assert!(received.is_empty(), "{name}: {} events", received.len());
            // Nothing of the million bytes is looked at again.
            assert!(decoder.bytes.capacity() <= 4 * MAX_ANSWER, "{name}");
            decoder.decode(b"\x03", &mut received);
            assert_eq!(received, [control_c.clone().into()], "{name}");
        }
        let long = [&b"\x1b]11;"[..], &[b'1'; 1_000_000], b"\x1b\\q"].concat();
        assert_eq!(receive(&long), [plain('q').into()]);
    }

    #[test]
    fn answers_of_the_terminal_are_no_keys() {
        for answer in ["\x1b[?62;4c", "\x1b[24;80R", "\x1b[?1u", "\x1b[8;24;80t", "\x1b[I", "\x1b[O"] {
            let events = decode(answer.as_bytes());
            assert!(events.is_empty(), "{answer:?}: {events:?}");
        }
    }
}
