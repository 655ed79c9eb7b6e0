//! The keys and events of the mouse that the escape sequences of terminals stand for.

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

pub(super) const fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
    Event::Key(KeyEvent::new(code, modifiers))
}

/// The key of a character: a capital is typed with shift.
pub(super) fn character(c: char, modifiers: KeyModifiers) -> Event {
    let shift = if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
    key(KeyCode::Char(c), modifiers | shift)
}

/// A key that a letter names, after `ESC O` or at the end of a control sequence.
pub(super) fn named_key(letter: u8, modifiers: KeyModifiers) -> Option<Event> {
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
pub(super) fn control_sequence(parameters: &[u8], last: u8) -> Option<Event> {
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
pub(super) fn mouse(button: u16, column: u16, row: u16, is_up: bool) -> Option<Event> {
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
