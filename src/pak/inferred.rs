//! A value that the file does not store: whether it was given, inferred, documented or assumed, and the alternatives.

/// Whether a value was given, inferred, documented or assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// Given by an option.
    Given,
    /// Inferred from other fields of the file, by a rule of the format's notes.
    Inferred,
    /// Stated by the notes on the format for every file of this kind.
    Documented,
    /// Assumed: the usual value.
    Assumed,
}

impl How {
    /// `given`, `inferred`, `documented` or `assumed`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Inferred => "inferred",
            Self::Documented => "documented",
            Self::Assumed => "assumed",
        }
    }
}

/// A value that the file does not state.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Inferred<T> {
    /// The value.
    pub value: T,
    /// Whether it was given, inferred, documented or assumed.
    pub how: How,
    /// Why, in a few words.
    pub why: &'static str,
    /// Other values that fit too.
    pub alternatives: Vec<T>,
}

impl<T> Inferred<T> {
    /// A value that the user gave.
    #[must_use]
    pub const fn given(value: T) -> Self {
        Self { value, how: How::Given, why: "by an option", alternatives: Vec::new() }
    }

    /// A value that the file's other fields give.
    #[must_use]
    pub const fn deduced(value: T, why: &'static str) -> Self {
        Self { value, how: How::Inferred, why, alternatives: Vec::new() }
    }

    /// A value that the notes on the format state.
    #[must_use]
    pub const fn documented(value: T, why: &'static str) -> Self {
        Self { value, how: How::Documented, why, alternatives: Vec::new() }
    }

    /// An assumed value.
    #[must_use]
    pub const fn assumed(value: T, why: &'static str) -> Self {
        Self { value, how: How::Assumed, why, alternatives: Vec::new() }
    }

    /// The same, with other values that fit too.
    #[must_use]
    pub fn or(mut self, alternatives: Vec<T>) -> Self {
        self.alternatives = alternatives;
        self
    }
}
