//! Which findings pass the words of a filter.

use crate::check::Finding;
use crate::damage::{Code, Level};

/// The words of a filter, all of which must fit: a level, a code, or a part of file, place or message.
#[derive(Clone, Debug, Default)]
pub struct FindingFilter(Vec<Term>);

#[derive(Clone, Debug)]
enum Term {
    Level(Level),
    Code(Code),
    Text(String),
}

impl FindingFilter {
    /// Reads a filter.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text = text.to_lowercase();
        let words = text.split_whitespace().map(|word| {
            let level = [Level::Error, Level::Warning, Level::Note]
                .into_iter()
                .find(|level| word == level.name() || word.strip_suffix('s') == Some(level.name()));
            match (level, Code::from_name(word)) {
                (Some(level), _) => Term::Level(level),
                (None, Some(code)) => Term::Code(code),
                (None, None) => Term::Text(word.to_owned()),
            }
        });
        Self(words.collect())
    }

    /// Whether a finding passes.
    #[must_use]
    pub fn fit(&self, finding: &Finding) -> bool {
        let mut text = None;
        self.0.iter().all(|word| match word {
            Term::Level(level) => finding.level() == *level,
            Term::Code(code) => finding.code() == *code,
            Term::Text(part) => {
                let text = text.get_or_insert_with(|| format!("{finding} {}", finding.code().name()).to_lowercase());
                text.contains(part.as_str())
            }
        })
    }
}
