//! A line that is being typed.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a line is typed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A place to go to.
    GoTo,
    /// A filter for the table of blocks.
    FilterBlocks,
    /// A filter for findings.
    FilterFindings,
    /// The file to write rows to.
    Export,
    /// A command, by a part of its name.
    Command,
}

impl Purpose {
    /// What stands before the line.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::GoTo => "go to",
            Self::FilterBlocks => "filter blocks",
            Self::FilterFindings => "filter findings",
            Self::Export => "write rows to",
            Self::Command => "command",
        }
    }

    /// What can be typed.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            Self::GoTo => "0x1f40  s12  b3  x,y,z  end-16",
            Self::FilterBlocks => "lod=0 bytes>4096 state!=ok",
            Self::FilterFindings => "error  block-epilogue  r.0.0.0",
            Self::Export => "rows.csv or rows.jsonl, a new file",
            Self::Command => "",
        }
    }
}

/// A line that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// What for.
    pub purpose: Purpose,
    /// What is there.
    pub text: String,
    /// Characters before the cursor.
    pub cursor: usize,
    /// What is wrong with it.
    pub error: Option<String>,
}

/// What came of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// The line changed, or the cursor moved.
    Edited,
    /// It is done.
    Done,
    /// It is given up.
    GivenUp,
    /// The key means nothing here.
    Nothing,
}

impl Prompt {
    /// A line with something in it already.
    #[must_use]
    pub fn new(purpose: Purpose, text: &str) -> Self {
        Self { purpose, cursor: text.chars().count(), text: text.to_owned(), error: None }
    }

    /// Takes a key.
    pub fn key(&mut self, event: &KeyEvent) -> Typed {
        let control = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Enter => return Typed::Done,
            KeyCode::Esc => return Typed::GivenUp,
            KeyCode::Char('c' | 'g') if control => return Typed::GivenUp,
            KeyCode::Char('u') if control => {
                self.text = self.text.chars().skip(self.cursor).collect();
                self.cursor = 0;
            }
            KeyCode::Char('w') if control => {
                let before: String = self.text.chars().take(self.cursor).collect();
                let kept = before.trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 1);
                let after: String = self.text.chars().skip(self.cursor).collect();
                let before = before.get(..kept).unwrap_or_default().to_owned();
                self.cursor = before.chars().count();
                self.text = before + &after;
            }
            KeyCode::Char('a') if control => self.cursor = 0,
            KeyCode::Char('e') if control => self.cursor = self.text.chars().count(),
            KeyCode::Char(c) if !control && !c.is_control() => self.insert(&c.to_string()),
            KeyCode::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.remove();
            }
            KeyCode::Delete => self.remove(),
            KeyCode::Left => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Right => self.cursor = (self.cursor + 1).min(self.text.chars().count()),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.text.chars().count(),
            _ => return Typed::Nothing,
        }
        self.error = None;
        Typed::Edited
    }

    /// Puts text in at the cursor; control characters, which a paste may have, are left out.
    pub fn insert(&mut self, text: &str) {
        let text: String = text.chars().filter(|c| crate::printable::is_plain(*c)).take(1000).collect();
        let at = self.text.char_indices().nth(self.cursor).map_or(self.text.len(), |(at, _)| at);
        self.text.insert_str(at, &text);
        self.cursor += text.chars().count();
    }

    fn remove(&mut self) {
        if let Some((at, _)) = self.text.char_indices().nth(self.cursor) {
            self.text.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(prompt: &mut Prompt, code: KeyCode) -> Typed {
        prompt.key(&KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn a_line_is_edited_by_characters() {
        let mut prompt = Prompt::new(Purpose::GoTo, "水é");
        assert_eq!(typed(&mut prompt, KeyCode::Left), Typed::Edited);
        typed(&mut prompt, KeyCode::Char('x'));
        assert_eq!(prompt.text, "水xé");
        typed(&mut prompt, KeyCode::Backspace);
        typed(&mut prompt, KeyCode::Delete);
        assert_eq!(prompt.text, "水");
        typed(&mut prompt, KeyCode::Backspace);
        typed(&mut prompt, KeyCode::Backspace);
        assert_eq!((prompt.text.as_str(), prompt.cursor), ("", 0));
        prompt.insert("a\u{1b}[2Jb\n");
        assert_eq!(prompt.text, "a[2Jb");
        prompt.key(&KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL));
        assert_eq!(prompt.text, "");
        assert_eq!(typed(&mut prompt, KeyCode::Esc), Typed::GivenUp);
    }

    #[test]
    fn a_word_is_taken_off() {
        let mut prompt = Prompt::new(Purpose::FilterBlocks, "lod=0 bytes>4096 ");
        prompt.key(&KeyEvent::new(KeyCode::Char('w'), KeyModifiers::CONTROL));
        assert_eq!((prompt.text.as_str(), prompt.cursor), ("lod=0 ", 6));
    }
}
