//! Keys: how they are written, and which action they mean.

use std::fmt;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key with its modifiers, as it is written in help and in the configuration: `q`, `ctrl-r`, `alt-left`, `f5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The key.
    pub code: KeyCode,
    /// Control and alt; shift only for keys that have no character of their own with it.
    pub modifiers: KeyModifiers,
}

/// Keys that have names, with these names; the first of several is the one that is shown.
const NAMED: [(&str, KeyCode); 20] = [
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("backtab", KeyCode::BackTab),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("space", KeyCode::Char(' ')),
    ("minus", KeyCode::Char('-')),
    ("plus", KeyCode::Char('+')),
    ("comma", KeyCode::Char(',')),
    ("null", KeyCode::Null),
];

impl Key {
    /// The key without modifiers.
    #[must_use]
    pub const fn plain(code: KeyCode) -> Self {
        Self { code, modifiers: KeyModifiers::NONE }
    }

    /// The key of an event.
    #[must_use]
    pub fn from_event(event: &KeyEvent) -> Self {
        let mut modifiers = event.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        let mut code = event.code;
        if let KeyCode::Char(c) = code {
            // The character already includes shift.
            modifiers -= KeyModifiers::SHIFT;
            if modifiers.contains(KeyModifiers::CONTROL) {
                code = KeyCode::Char(c.to_ascii_lowercase());
            }
        }
        if code == KeyCode::BackTab {
            modifiers -= KeyModifiers::SHIFT;
        }
        Self { code, modifiers }
    }

    /// Reads a key as it is written.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let shown = crate::printable::printable(text);
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = text;
        loop {
            let found =
                [("ctrl-", KeyModifiers::CONTROL), ("alt-", KeyModifiers::ALT), ("shift-", KeyModifiers::SHIFT)]
                    .into_iter()
                    .find_map(|(prefix, modifier)| Some((rest.strip_prefix(prefix)?, modifier)));
            let Some((after, modifier)) = found.filter(|(after, _)| !after.is_empty()) else { break };
            rest = after;
            modifiers |= modifier;
        }
        let mut characters = rest.chars();
        let code = match (characters.next(), characters.next()) {
            (Some(c), None) if !c.is_control() => KeyCode::Char(c),
            _ => named(rest).ok_or_else(|| {
                let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
                format!("`{shown}` is no key: a character, f1 to f12, or one of {}", names.join(", "))
            })?,
        };
        Ok(Self { code, modifiers })
    }
}

fn named(text: &str) -> Option<KeyCode> {
    if let Some(number) = text.strip_prefix('f').and_then(|n| n.parse().ok()).filter(|n| (1..=12).contains(n)) {
        return Some(KeyCode::F(number));
    }
    NAMED.into_iter().find(|(name, _)| *name == text).map(|(_, code)| code)
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, text) in
            [(KeyModifiers::CONTROL, "ctrl-"), (KeyModifiers::ALT, "alt-"), (KeyModifiers::SHIFT, "shift-")]
        {
            if self.modifiers.contains(modifier) {
                f.write_str(text)?;
            }
        }
        match self.code {
            KeyCode::Char(c) if c != ' ' => write!(f, "{c}"),
            KeyCode::F(n) => write!(f, "f{n}"),
            code => {
                let name = NAMED.iter().find(|(_, known)| *known == code).map_or("?", |(name, _)| name);
                f.write_str(name)
            }
        }
    }
}

/// How a key is shown where there is little room: arrows as arrows.
#[must_use]
pub fn short(key: Key, ascii: bool) -> String {
    let arrow = match key.code {
        KeyCode::Up => "↑",
        KeyCode::Down => "↓",
        KeyCode::Left => "←",
        KeyCode::Right => "→",
        _ => "",
    };
    if arrow.is_empty() || ascii || !key.modifiers.is_empty() { key.to_string() } else { arrow.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for text in [
            "q",
            "?",
            ":",
            "ctrl-r",
            "alt-left",
            "f5",
            "f12",
            "enter",
            "space",
            "shift-up",
            "-",
            "[",
            "é",
            "ctrl-alt-x",
        ] {
            let key = Key::parse(text).unwrap();
            assert_eq!(Key::parse(&key.to_string()), Ok(key), "{text}");
        }
        assert_eq!(Key::parse("minus"), Ok(Key::plain(KeyCode::Char('-'))));
    }

    #[test]
    fn what_is_no_key_is_named() {
        for text in ["", "f13", "f0", "qq", "ctrl-", "hyper-x", "\u{1b}"] {
            assert!(Key::parse(text).unwrap_err().contains("is no key"), "{text:?}");
        }
    }

    #[test]
    fn a_character_says_itself_that_shift_was_held() {
        let event = |code, modifiers| Key::from_event(&KeyEvent::new(code, modifiers));
        assert_eq!(event(KeyCode::Char('N'), KeyModifiers::SHIFT), Key::parse("N").unwrap());
        assert_eq!(event(KeyCode::Char('R'), KeyModifiers::CONTROL), Key::parse("ctrl-r").unwrap());
        assert_eq!(event(KeyCode::BackTab, KeyModifiers::SHIFT), Key::parse("backtab").unwrap());
        assert_eq!(event(KeyCode::Up, KeyModifiers::SHIFT), Key::parse("shift-up").unwrap());
    }
}
