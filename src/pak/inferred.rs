//! A value that the file does not state: how it was come by, and what else it could be.

/// How a value was come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// The user said so.
    Given,
    /// The file's other fields say so, by a rule of the format's notes.
    Inferred,
    /// Nothing says so; it is the usual value.
    Assumed,
}

impl How {
    /// `given`, `inferred` or `assumed`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Inferred => "inferred",
            Self::Assumed => "assumed",
        }
    }
}

/// A value that the file does not state.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Inferred<T> {
    /// What was taken.
    pub value: T,
    /// How it was come by.
    pub how: How,
    /// Why, in a few words.
    pub why: &'static str,
    /// What fits as well.
    pub alternatives: Vec<T>,
}

impl<T> Inferred<T> {
    /// A value that the user gave.
    #[must_use]
    pub const fn given(value: T) -> Self {
        Self { value, how: How::Given, why: "given", alternatives: Vec::new() }
    }

    /// A value that the file's other fields give.
    #[must_use]
    pub const fn deduced(value: T, why: &'static str) -> Self {
        Self { value, how: How::Inferred, why, alternatives: Vec::new() }
    }

    /// A value that nothing gives.
    #[must_use]
    pub const fn assumed(value: T, why: &'static str) -> Self {
        Self { value, how: How::Assumed, why, alternatives: Vec::new() }
    }

    /// The same, with what fits as well.
    #[must_use]
    pub fn or(mut self, alternatives: Vec<T>) -> Self {
        self.alternatives = alternatives;
        self
    }
}
