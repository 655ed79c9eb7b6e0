//! What a code is, whatever codes there are: the table of [`codes`](super::codes) is made into a type here.

use std::fmt;

use super::Code;

/// Makes the type [`Code`] of a table: name, level, title, what to do next, story.
macro_rules! codes {
    ($($variant:ident = $name:literal, $level:ident, $title:literal, next: $next:literal, story: $story:literal;)*) => {
        /// A kind of damage. The name is a contract: it never changes its meaning and is never used again for another.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

            /// A few words that say what it is.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// What to do next, in a sentence.
            #[must_use]
            pub const fn next(self) -> &'static str {
                match self { $(Self::$variant => $next,)* }
            }

            /// What it means, how it comes about and what can be done.
            #[must_use]
            pub const fn story(self) -> &'static str {
                match self { $(Self::$variant => $story,)* }
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

#[cfg(test)]
mod tests {
    use super::*;
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
    fn every_code_says_what_it_is_and_what_to_do() {
        for &code in Code::ALL {
            assert!(code.next().ends_with('.'), "{code}: a sentence");
            assert!(code.story().ends_with('.') && code.story().len() > 60, "{code}: a story");
            assert!(!code.title().ends_with('.'), "{code}: a few words, no sentence");
        }
    }
}
