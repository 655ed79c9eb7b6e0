//! How much work the solver may spend on what it cannot decide at once. It counts steps, never time, so that the same save
//! gives the same result on every machine.

use crate::printable::count;

/// A multiple of the usual number of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Effort(u64);

impl Effort {
    /// No step: all that takes a search stays undecided.
    pub const NONE: Self = Self(0);

    /// The usual number of steps.
    pub const NORMAL: Self = Self(1);

    /// 16 times the usual number.
    pub const HIGH: Self = Self(16);

    /// The factor of the usual number of steps.
    #[must_use]
    pub const fn factor(self) -> u64 {
        self.0
    }

    /// The argument of a command that asks for it, with a space before it; nothing if it is the usual one.
    #[must_use]
    pub const fn argument(self) -> &'static str {
        if self.0 >= Self::HIGH.0 { " --effort high" } else { "" }
    }

    /// Says that blocks are left undecided, and what would decide more of them; `None` if there are none.
    #[must_use]
    pub fn undecided_words(self, blocks: u64) -> Option<String> {
        let more = if self.0 < Self::HIGH.0 { "; `--effort high` may decide them" } else { "" };
        (blocks > 0).then(|| format!("{} not decided within the budget of steps{more}", count(blocks, "block")))
    }
}

impl Default for Effort {
    fn default() -> Self {
        Self::NORMAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_undecided_is_said_with_the_option_that_may_decide_it() {
        assert_eq!(Effort::NORMAL.undecided_words(0), None);
        let words = Effort::NORMAL.undecided_words(12).unwrap();
        assert_eq!(words, "12 blocks not decided within the budget of steps; `--effort high` may decide them");
        assert_eq!(Effort::HIGH.undecided_words(1).unwrap(), "1 block not decided within the budget of steps");
        assert_eq!((Effort::HIGH.argument(), Effort::default().argument()), (" --effort high", ""));
    }
}
