//! The macro that makes the type [`Code`] of the table in [`codes`](super::codes).

use std::fmt;

use super::Code;

/// Makes the type [`Code`] of a table: name, level, title, texts.
macro_rules! codes {
    ($($variant:ident = $name:literal, $level:ident, $title:literal, $text:expr;)*) => {
        /// A kind of damage. The name is a contract: its meaning never changes, and it is never reused for another kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $title] $variant,)*
        }

        impl Code {
            /// Every code there is, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The stable name, as in `--format jsonl` and `voxscope explain`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// How bad it is.
            #[must_use]
            pub const fn level(self) -> Level {
                match self { $(Self::$variant => Level::$level,)* }
            }

            /// What it is, in a few words.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// What to do next: an instruction with the command in it.
            #[must_use]
            pub const fn next(self) -> &'static str {
                self.text().next
            }

            /// What the damage means and how it happens.
            #[must_use]
            pub const fn explanation(self) -> &'static str {
                self.text().explanation
            }

            /// All texts of the code.
            pub(super) const fn text(self) -> &'static Text {
                match self { $(Self::$variant => &$text,)* }
            }

            /// The code of that name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

pub(super) use codes;

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl serde::Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Why a block cannot be read, for people: names of codes, separated by spaces, each with its title in brackets. Other words stay.
#[must_use]
pub fn with_titles(why: &str) -> String {
    let titled = |name: &str| Some(format!("{name} ({})", Code::from_name(name)?.title()));
    let all: Option<Vec<String>> = why.split(' ').map(titled).collect();
    all.map_or_else(|| why.to_owned(), |all| all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::damage::Level;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_lead_back() {
        let mut seen = HashSet::new();
        for &code in Code::ALL {
            assert!(seen.insert(code.name()), "{code} twice");
            assert_eq!(Code::from_name(code.name()), Some(code));
            assert!(code.name().bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{code}");
        }
        assert_eq!(Code::from_name("no-such-code"), None);
    }

    #[test]
    fn every_code_has_a_title_an_instruction_and_an_explanation() {
        for &code in Code::ALL {
            assert!(code.next().ends_with('.'), "{code}: the instruction is a sentence");
            let explanation = code.explanation();
            assert!(explanation.ends_with('.') && explanation.len() > 60, "{code}: the explanation has sentences");
            assert!(!code.title().ends_with('.'), "{code}: the title is no sentence");
        }
    }

    #[test]
    fn codes_have_their_titles_for_people() {
        let [one, other] = [Code::BlockEpilogue, Code::BlockPrefix].map(|code| format!("{code} ({})", code.title()));
        assert_eq!(with_titles("block-epilogue block-prefix"), format!("{one}, {other}"));
        assert_eq!(with_titles("it cannot be read"), "it cannot be read");
    }

    #[test]
    fn an_error_always_has_something_to_do() {
        for &code in Code::ALL {
            let nothing = code.next().starts_with("Nothing to do");
            assert!(!nothing || code.level() != Level::Error, "{code}: {}", code.next());
        }
    }
}
