//! Whether the terminal's background is light: it is asked (OSC 11), and has little time to answer.

use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use terminal_colorsaurus::{QueryOptions, ThemeMode, theme_mode};

/// How long a terminal has to answer; one that knows the question answers in a few milliseconds, and over a slow line the
/// default colours are better than waiting.
const TIME_LIMIT: Duration = Duration::from_millis(120);

/// Characters of an answer, at most.
const MAX_ANSWER: usize = 40;

/// Whether the terminal reports a light background. One that does not answer in time counts as dark.
#[must_use]
pub fn is_light() -> bool {
    let mut options = QueryOptions::default();
    options.timeout = TIME_LIMIT;
    matches!(theme_mode(options), Ok(ThemeMode::Light))
}

/// Drops an answer that comes after the time limit: it reads like keys that somebody types.
#[derive(Debug, Default)]
pub struct LateAnswer {
    /// Keys of the answer that were dropped; 0 outside of one.
    dropped: usize,
}

impl LateAnswer {
    /// Whether a key is a part of an answer, which begins with escape and `]` and ends with a bell or with escape and `\\`.
    pub fn takes(&mut self, key: &KeyEvent) -> bool {
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char(']') if alt && self.dropped == 0 => self.dropped = 1,
            KeyCode::Char('\\') if alt && self.dropped > 0 => self.dropped = 0,
            KeyCode::Char('g') if control && self.dropped > 0 => self.dropped = 0,
            KeyCode::Char('0'..='9' | 'a'..='f' | 'A'..='F' | 'r' | 'g' | 'b' | ':' | ';' | '/')
                if self.dropped > 0 && self.dropped < MAX_ANSWER && !alt && !control =>
            {
                self.dropped += 1;
            }
            _ => {
                self.dropped = 0;
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_answer_is_dropped_and_keys_are_not() {
        let mut late = LateAnswer::default();
        let mut takes = |c, modifiers| late.takes(&KeyEvent::new(KeyCode::Char(c), modifiers));
        assert!(!takes('1', KeyModifiers::NONE) && !takes('g', KeyModifiers::CONTROL));
        assert!(takes(']', KeyModifiers::ALT));
        assert!("11;rgb:ffff/ffff/ffff".chars().all(|c| takes(c, KeyModifiers::NONE)));
        assert!(takes('\\', KeyModifiers::ALT));
        assert!(!takes('1', KeyModifiers::NONE));
        assert!(takes(']', KeyModifiers::ALT) && !takes('q', KeyModifiers::NONE) && !takes('1', KeyModifiers::NONE));
    }
}
