//! Questions to the terminal: whether its background is light (OSC 11), and its name (XTVERSION), which says whether it draws
//! pixels. The answers arrive among the keys.
//!
//! Nothing waits for an answer, so that a terminal that gives none delays nothing, and keys that are typed before it are kept.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// How long the program waits for an outstanding answer when it ends, so that the answer does not reach the shell.
pub const TIME_LIMIT: Duration = Duration::from_millis(120);

/// Characters of an answer, at most.
const MAX_ANSWER: usize = 80;

/// The questions whose answers are outstanding.
static EXPECTED: AtomicU8 = AtomicU8::new(0);

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The colour of the background.
    Background,
    /// The name of the terminal.
    Name,
}

impl Question {
    const fn bit(self) -> u8 {
        match self {
            Self::Background => 1,
            Self::Name => 2,
        }
    }

    const fn bytes(self) -> &'static [u8] {
        match self {
            Self::Background => b"\x1b]11;?\x1b\\",
            Self::Name => b"\x1b[>0q",
        }
    }
}

/// Asks the terminal. Returns the time until which its answers are waited for at the end, if it was asked.
///
/// # Errors
/// The error of the operating system.
pub fn ask(questions: &[Question]) -> io::Result<Option<Instant>> {
    let name = |variable: &str| std::env::var(variable).unwrap_or_default();
    let terminal = name("TERM");
    // These print the question or drop it.
    let is_deaf = matches!(terminal.as_str(), "" | "dumb" | "linux")
        || terminal.starts_with("eterm")
        || (terminal.starts_with("screen") && name("TMUX").is_empty());
    if is_deaf || cfg!(not(unix)) || questions.is_empty() {
        return Ok(None);
    }
    let mut out = io::stdout();
    for question in questions {
        EXPECTED.fetch_or(question.bit(), Ordering::Relaxed);
        out.write_all(question.bytes())?;
    }
    out.flush()?;
    Ok(Instant::now().checked_add(TIME_LIMIT))
}

/// Whether an answer is outstanding.
pub fn is_expected() -> bool {
    EXPECTED.load(Ordering::Relaxed) != 0
}

/// What the terminal answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Whether the background is light, if the answer says so.
    Light(Option<bool>),
    /// The name and the version of the terminal.
    Name(String),
}

/// What a key turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    /// Typed keys, which are a few if they looked like an answer at first.
    Keys(Vec<KeyEvent>),
    /// A part of an answer.
    Part,
    /// The end of an answer.
    Answer(Answer),
}

/// Finds answers among the keys. That about the background begins with escape and `]`, that about the name with escape and
/// `P>|`; both end with escape and `\`, the first one also with a bell.
#[derive(Debug, Default)]
pub struct AnswerParser {
    question: Option<Question>,
    keys: Vec<KeyEvent>,
}

impl AnswerParser {
    /// Takes the next key.
    pub fn take(&mut self, key: KeyEvent) -> Taken {
        let expected = EXPECTED.load(Ordering::Relaxed);
        if expected == 0 {
            return Taken::Keys(vec![key]);
        }
        let taken = self.parse(key, expected);
        if let Taken::Answer(answer) = &taken {
            let question = match answer {
                Answer::Light(_) => Question::Background,
                Answer::Name(_) => Question::Name,
            };
            EXPECTED.fetch_and(!question.bit(), Ordering::Relaxed);
        }
        taken
    }

    fn parse(&mut self, key: KeyEvent, expected: u8) -> Taken {
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let is_expected = |question: Question| expected & question.bit() != 0;
        match (self.question, key.code) {
            (None, KeyCode::Char(']')) if alt && is_expected(Question::Background) => {
                self.question = Some(Question::Background);
            }
            (None, KeyCode::Char('P')) if alt && is_expected(Question::Name) => self.question = Some(Question::Name),
            (Some(question), KeyCode::Char('\\')) if alt => return Taken::Answer(self.end(question)),
            (Some(Question::Background), KeyCode::Char('g')) if control => {
                return Taken::Answer(self.end(Question::Background));
            }
            (Some(question), KeyCode::Char(c)) if !alt && !control && self.fits(question, c) => {}
            _ => {
                self.question = None;
                let mut keys = std::mem::take(&mut self.keys);
                keys.push(key);
                return Taken::Keys(keys);
            }
        }
        self.keys.push(key);
        Taken::Part
    }

    /// Whether a character can be the next one of the answer to a question.
    fn fits(&self, question: Question, c: char) -> bool {
        let at = self.keys.len();
        at < MAX_ANSWER
            && match question {
                Question::Background => c.is_ascii_hexdigit() || matches!(c, 'r' | 'g' | 'b' | ':' | ';' | '/'),
                // The second and third character tell it from keys that are typed.
                Question::Name => match at {
                    1 => c == '>',
                    2 => c == '|',
                    _ => c == ' ' || c.is_ascii_graphic(),
                },
            }
    }

    fn end(&mut self, question: Question) -> Answer {
        self.question = None;
        let text = self.keys.drain(..).skip(1).filter_map(|key| key.code.as_char()).collect::<String>();
        match question {
            Question::Background => Answer::Light(is_light(&text)),
            Question::Name => Answer::Name(text.strip_prefix(">|").unwrap_or_default().to_owned()),
        }
    }
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
        assert_eq!(parser.parse(plain('1'), 3), Taken::Keys(vec![plain('1')]));
        assert_eq!(parser.parse(alt(']'), 3), Taken::Part);
        assert!("11;rgb:ffff/f0f0/ffff".chars().all(|c| parser.parse(plain(c), 3) == Taken::Part));
        assert_eq!(parser.parse(alt('\\'), 3), Taken::Answer(Answer::Light(Some(true))));
        assert_eq!(parser.parse(plain('1'), 3), Taken::Keys(vec![plain('1')]));
        let end = KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL);
        parser.parse(alt(']'), 3);
        "11;rgb:10/10/20".chars().for_each(|c| drop(parser.parse(plain(c), 3)));
        assert_eq!(parser.parse(end, 3), Taken::Answer(Answer::Light(Some(false))));
    }

    #[test]
    fn keys_that_look_like_an_answer_are_not_lost() {
        let mut parser = AnswerParser::default();
        assert_eq!((parser.parse(alt(']'), 3), parser.parse(plain('1'), 3)), (Taken::Part, Taken::Part));
        assert_eq!(parser.parse(plain('q'), 3), Taken::Keys(vec![alt(']'), plain('1'), plain('q')]));
    }

    #[test]
    fn the_name_of_the_terminal_is_found_between_keys() {
        let mut parser = AnswerParser::default();
        assert_eq!(parser.parse(plain('2'), 3), Taken::Keys(vec![plain('2')]));
        assert_eq!(parser.parse(alt('P'), 3), Taken::Part);
        assert!(">|kitty(0.35.2)".chars().all(|c| parser.parse(plain(c), 3) == Taken::Part));
        assert_eq!(parser.parse(alt('\\'), 3), Taken::Answer(Answer::Name("kitty(0.35.2)".to_owned())));
        // Alt and P, typed, is a key as soon as the next one is no part of an answer.
        assert_eq!(parser.parse(alt('P'), 3), Taken::Part);
        assert_eq!(parser.parse(plain('j'), 3), Taken::Keys(vec![alt('P'), plain('j')]));
        assert_eq!(parser.parse(alt('P'), 1), Taken::Keys(vec![alt('P')]), "nobody asked for the name");
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
