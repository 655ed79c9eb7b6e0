//! Questions to the terminal: whether its background is light (OSC 11), and its name (XTVERSION), which says whether it draws
//! pixels. The answers arrive between the keys.
//!
//! Nothing waits for an answer, so that a terminal that gives none delays nothing, and keys that are typed before it are kept.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::Event;

/// How long the program waits for an outstanding answer when it ends, so that the answer does not reach the shell.
pub const TIME_LIMIT: Duration = Duration::from_millis(120);

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

/// What the terminal sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// A key, the mouse, or a paste.
    Event(Event),
    /// A control string, such as an answer to a question: the character behind its escape, and its text.
    Answer(char, String),
}

impl From<Event> for Received {
    fn from(event: Event) -> Self {
        Self::Event(event)
    }
}

/// What the terminal answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Whether the background is light, if the answer says so.
    Light(Option<bool>),
    /// The name and the version of the terminal.
    Name(String),
}

/// The answer to an outstanding question that a control string is: that about the background follows `ESC ]`, that about the name
/// `ESC P`.
pub fn answer(kind: char, text: &str) -> Option<Answer> {
    let (question, answer) = parse(kind, text)?;
    let expected = EXPECTED.fetch_and(!question.bit(), Ordering::Relaxed);
    (expected & question.bit() != 0).then_some(answer)
}

fn parse(kind: char, text: &str) -> Option<(Question, Answer)> {
    match kind {
        ']' if text.starts_with("11;") => Some((Question::Background, Answer::Light(is_light(text)))),
        'P' => Some((Question::Name, Answer::Name(text.strip_prefix(">|")?.to_owned()))),
        _ => None,
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

    #[test]
    fn answers_are_distinguished() {
        let light = |light| Some((Question::Background, Answer::Light(light)));
        assert_eq!(parse(']', "11;rgb:ffff/f0f0/ffff"), light(Some(true)));
        assert_eq!(parse(']', "11;rgb:10/10/20"), light(Some(false)));
        assert_eq!(parse('P', ">|kitty(0.35.2)"), Some((Question::Name, Answer::Name("kitty(0.35.2)".to_owned()))));
        for (kind, text) in [(']', "10;rgb:ff/ff/ff"), ('P', "1$r"), ('P', "11;"), (']', ">|x"), ('_', "G")] {
            assert_eq!(parse(kind, text), None, "{kind}{text}");
        }
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
