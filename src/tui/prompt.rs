//! A line that the user types: a place, a filter, a pattern, a file name, a command.

use std::collections::HashMap;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use tui_input::backend::crossterm::to_input_request;
use tui_input::{Input, InputRequest};

use super::Selection;

/// Characters that one paste can add.
const MAX_PASTE: usize = 1000;

/// Bytes of a line, at most: each key takes time in proportion to them.
const MAX_LENGTH: usize = 4000;

/// Lines that are remembered for each purpose.
const MAX_HISTORY: usize = 50;

/// What a line is typed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A place to go to.
    GoTo,
    /// A filter for the table of blocks.
    FilterBlocks,
    /// A filter for findings.
    FilterFindings,
    /// A filter for the tree.
    FilterTree,
    /// Bytes to search for.
    FindBytes,
    /// Words to search the help for.
    SearchHelp,
    /// The file to write rows to.
    Export,
    /// A command, by a part of its name.
    Command,
}

impl Purpose {
    /// The label in front of the line.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::GoTo => "go to",
            Self::FilterBlocks => "filter blocks",
            Self::FilterFindings => "filter findings",
            Self::FilterTree => "filter tree",
            Self::FindBytes => "find bytes",
            Self::SearchHelp => "search help",
            Self::Export => "write rows to",
            Self::Command => "command",
        }
    }

    /// Examples of what can be typed.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            Self::GoTo => "0x1f40  s12  b3  x,y,z  end-16",
            Self::FilterBlocks => "lod=0 bytes>4096 state!=ok",
            Self::FilterFindings => "error  block-epilogue  r.0.0.0",
            Self::FilterTree => "a part of a name",
            Self::FindBytes => "0d f0 ?? 90, \"text\"; ? matches any digit",
            Self::SearchHelp => "a part of a name, key or sentence",
            Self::Export => "rows.csv or rows.jsonl, a new file",
            Self::Command => "",
        }
    }
}

/// Lines that were typed before, the newest last.
pub type History = HashMap<Purpose, Vec<String>>;

/// Remembers a line; a line that is there already moves to the end.
pub fn remember_line(history: &mut History, purpose: Purpose, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    let lines = history.entry(purpose).or_default();
    lines.retain(|line| line != text);
    lines.push(text.to_owned());
    if lines.len() > MAX_HISTORY {
        lines.remove(0);
    }
}

/// A line that the user types.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// What for.
    pub purpose: Purpose,
    /// The error in it.
    pub error: Option<String>,
    /// The text when typing began, which cancelling restores.
    pub before: String,
    /// The selection when typing began and the generation of the index that it is of, for filters that move it.
    pub selection_before: Option<(u64, Selection)>,
    input: Input,
    /// The remembered line that is shown, counted from the newest.
    recalled: Option<usize>,
}

/// The result of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyResult {
    /// The line changed, or the cursor moved.
    Edited,
    /// The line was submitted.
    Submitted,
    /// The line was cancelled.
    Cancelled,
    /// The key means nothing in a line.
    Unused,
}

impl Prompt {
    /// A line that begins with a text.
    #[must_use]
    pub fn new(purpose: Purpose, text: &str) -> Self {
        let (before, input) = (text.to_owned(), Input::new(text.to_owned()));
        Self { purpose, error: None, before, selection_before: None, input, recalled: None }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.input.value()
    }

    /// Characters before the cursor.
    #[must_use]
    pub fn cursor(&self) -> usize {
        self.input.cursor()
    }

    /// Handles a key.
    pub fn handle_key(&mut self, event: &KeyEvent, history: &History) -> KeyResult {
        let control = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Enter => return KeyResult::Submitted,
            KeyCode::Esc => return KeyResult::Cancelled,
            KeyCode::Char('c' | 'g') if control => return KeyResult::Cancelled,
            KeyCode::Up | KeyCode::Down => return self.recall(event.code == KeyCode::Up, history),
            _ => {}
        }
        let Some(request) = to_input_request(&Event::Key(*event)) else { return KeyResult::Unused };
        if matches!(request, InputRequest::InsertChar(_)) && self.is_full() {
            return KeyResult::Unused;
        }
        self.input.handle(request);
        (self.error, self.recalled) = (None, None);
        KeyResult::Edited
    }

    /// Shows the line before the one that is shown, or the one after it.
    fn recall(&mut self, older: bool, history: &History) -> KeyResult {
        let Some(lines) = history.get(&self.purpose).filter(|lines| !lines.is_empty()) else {
            return KeyResult::Unused;
        };
        self.recalled = match (self.recalled, older) {
            (None, true) => Some(0),
            (Some(back), true) => Some((back + 1).min(lines.len() - 1)),
            (Some(back), false) => back.checked_sub(1),
            (None, false) => return KeyResult::Unused,
        };
        let line = self.recalled.and_then(|back| lines.iter().rev().nth(back)).unwrap_or(&self.before);
        self.input = Input::new(line.clone());
        self.error = None;
        KeyResult::Edited
    }

    /// Whether no further character fits.
    fn is_full(&self) -> bool {
        self.text().len() >= MAX_LENGTH
    }

    /// Inserts pasted text at the cursor without its control characters.
    pub fn insert(&mut self, text: &str) {
        for c in text.chars().filter(|c| crate::printable::is_plain(*c)).take(MAX_PASTE) {
            if self.is_full() {
                break;
            }
            self.input.handle(InputRequest::InsertChar(c));
        }
        self.error = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(prompt: &mut Prompt, code: KeyCode) -> KeyResult {
        prompt.handle_key(&KeyEvent::new(code, KeyModifiers::NONE), &History::new())
    }

    #[test]
    fn a_line_is_edited_by_characters() {
        let mut prompt = Prompt::new(Purpose::GoTo, "水é");
        assert_eq!(press(&mut prompt, KeyCode::Left), KeyResult::Edited);
        press(&mut prompt, KeyCode::Char('x'));
        assert_eq!(prompt.text(), "水xé");
        press(&mut prompt, KeyCode::Backspace);
        press(&mut prompt, KeyCode::Delete);
        assert_eq!(prompt.text(), "水");
        press(&mut prompt, KeyCode::Backspace);
        press(&mut prompt, KeyCode::Backspace);
        assert_eq!((prompt.text(), prompt.cursor()), ("", 0));
        prompt.insert("a\u{1b}[2Jb\n");
        assert_eq!(prompt.text(), "a[2Jb");
        assert_eq!(press(&mut prompt, KeyCode::Esc), KeyResult::Cancelled);
    }

    #[test]
    fn a_line_does_not_grow_without_end() {
        let mut prompt = Prompt::new(Purpose::GoTo, "");
        let edited = (0..MAX_LENGTH * 3).filter(|_| press(&mut prompt, KeyCode::Char('x')) == KeyResult::Edited);
        assert_eq!(edited.count(), MAX_LENGTH);
        prompt.insert(&"y".repeat(MAX_PASTE));
        assert_eq!(prompt.text().len(), MAX_LENGTH);
        assert_eq!(press(&mut prompt, KeyCode::Backspace), KeyResult::Edited);
    }

    #[test]
    fn lines_typed_before_come_back() {
        let mut history = History::new();
        for line in ["lod=0", "bytes>1", " ", "lod=0"] {
            remember_line(&mut history, Purpose::FilterBlocks, line);
        }
        let mut prompt = Prompt::new(Purpose::FilterBlocks, "now");
        let mut press = |code| {
            prompt.handle_key(&KeyEvent::new(code, KeyModifiers::NONE), &history);
            prompt.text().to_owned()
        };
        let up = [(); 3].map(|()| press(KeyCode::Up));
        assert_eq!(up, ["lod=0", "bytes>1", "bytes>1"]);
        assert_eq!([press(KeyCode::Down), press(KeyCode::Down)], ["lod=0", "now"]);
    }
}
