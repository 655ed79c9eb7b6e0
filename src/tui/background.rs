//! Whether the terminal's background is light: the program asks for it (OSC 11), and the answer arrives among the keys.
//!
//! Nothing waits for the answer, so that a terminal that gives none delays nothing, and keys that are typed before it are kept.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// How long the program waits for an outstanding answer when it ends, so that the answer does not reach the shell.
pub const TIME_LIMIT: Duration = Duration::from_millis(120);

/// Characters of an answer, at most.
const MAX_ANSWER: usize = 40;

/// Whether an answer is outstanding.
static EXPECTED: AtomicBool = AtomicBool::new(false);

/// Asks the terminal for its background. Returns the time until which its answer is waited for at the end, if it was asked.
///
/// # Errors
/// The error of the operating system.
pub fn ask() -> io::Result<Option<Instant>> {
    let name = |variable: &str| std::env::var(variable).unwrap_or_default();
    let terminal = name("TERM");
    // These print the question or drop it.
    let is_deaf = matches!(terminal.as_str(), "" | "dumb" | "linux")
        || terminal.starts_with("eterm")
        || (terminal.starts_with("screen") && name("TMUX").is_empty());
    if is_deaf || cfg!(not(unix)) {
        return Ok(None);
    }
    EXPECTED.store(true, Ordering::Relaxed);
    let mut out = io::stdout();
    out.write_all(b"\x1b]11;?\x1b\\")?;
    out.flush()?;
    Ok(Instant::now().checked_add(TIME_LIMIT))
}

/// Whether an answer is outstanding.
pub fn is_expected() -> bool {
    EXPECTED.load(Ordering::Relaxed)
}

/// What a key turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    /// Typed keys, which are a few if they looked like an answer at first.
    Keys(Vec<KeyEvent>),
    /// A part of an answer.
    Part,
    /// The end of an answer: whether the background is light, if the answer says so.
    Answer(Option<bool>),
}

/// Finds the answer among the keys: it begins with escape and `]`, and ends with a bell or with escape and `\`.
#[derive(Debug, Default)]
pub struct AnswerParser {
    keys: Vec<KeyEvent>,
}

impl AnswerParser {
    /// Takes the next key.
    pub fn take(&mut self, key: KeyEvent) -> Taken {
        if !is_expected() {
            return Taken::Keys(vec![key]);
        }
        let taken = self.parse(key);
        if matches!(taken, Taken::Answer(_)) {
            EXPECTED.store(false, Ordering::Relaxed);
        }
        taken
    }

    fn parse(&mut self, key: KeyEvent) -> Taken {
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let begun = !self.keys.is_empty();
        match key.code {
            KeyCode::Char(']') if alt && !begun => {}
            KeyCode::Char('\\') if alt && begun => return Taken::Answer(self.end()),
            KeyCode::Char('g') if control && begun => return Taken::Answer(self.end()),
            KeyCode::Char(c) if begun && self.keys.len() < MAX_ANSWER && !alt && !control && is_of_answer(c) => {}
            _ => {
                let mut keys = std::mem::take(&mut self.keys);
                keys.push(key);
                return Taken::Keys(keys);
            }
        }
        self.keys.push(key);
        Taken::Part
    }

    fn end(&mut self) -> Option<bool> {
        let text = self.keys.drain(..).skip(1).filter_map(|key| key.code.as_char()).collect::<String>();
        is_light(&text)
    }
}

const fn is_of_answer(c: char) -> bool {
    c.is_ascii_hexdigit() || matches!(c, 'r' | 'g' | 'b' | ':' | ';' | '/')
}

/// Whether a background such as `11;rgb:ffff/ffff/ffff` is light.
fn is_light(answer: &str) -> Option<bool> {
    let color = answer.strip_prefix("11;")?;
    let color = color.strip_prefix("rgb:").or_else(|| color.strip_prefix("rgba:"))?;
    let part = |text: &str| {
        let most = 16u32.checked_pow(u32::try_from(text.len()).ok()?)?.checked_sub(1).filter(|most| *most > 0)?;
        Some(f64::from(u32::from_str_radix(text, 16).ok()?) / f64::from(most))
    };
    let parts: Option<Vec<f64>> = color.split('/').take(3).map(part).collect();
    let &[red, green, blue] = parts?.as_slice() else { return None };
    Some(0.299 * red + 0.587 * green + 0.114 * blue > 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alt(c: char) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(c), KeyModifiers::ALT)
    }

    fn plain(c: char) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)
    }

    #[test]
    fn an_answer_is_found_between_keys() {
        let mut parser = AnswerParser::default();
        assert_eq!(parser.parse(plain('1')), Taken::Keys(vec![plain('1')]));
        assert_eq!(parser.parse(alt(']')), Taken::Part);
        assert!("11;rgb:ffff/f0f0/ffff".chars().all(|c| parser.parse(plain(c)) == Taken::Part));
        assert_eq!(parser.parse(alt('\\')), Taken::Answer(Some(true)));
        assert_eq!(parser.parse(plain('1')), Taken::Keys(vec![plain('1')]));
        let end = KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL);
        parser.parse(alt(']'));
        "11;rgb:10/10/20".chars().for_each(|c| drop(parser.parse(plain(c))));
        assert_eq!(parser.parse(end), Taken::Answer(Some(false)));
    }

    #[test]
    fn keys_that_look_like_an_answer_are_not_lost() {
        let mut parser = AnswerParser::default();
        assert_eq!((parser.parse(alt(']')), parser.parse(plain('1'))), (Taken::Part, Taken::Part));
        assert_eq!(parser.parse(plain('q')), Taken::Keys(vec![alt(']'), plain('1'), plain('q')]));
    }

    #[test]
    fn answers_that_say_nothing_change_nothing() {
        for text in ["", "11;", "11;rgb:", "11;rgb:ffff/ffff", "11;rgb:///", "10;rgb:ff/ff/ff", "11;rgb:123456789/1/1"]
        {
            assert_eq!(is_light(text), None, "{text}");
        }
        assert_eq!(is_light("11;rgba:ffff/ffff/ffff/0000"), Some(true));
    }
}
