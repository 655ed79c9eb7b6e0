//! Whether the terminal draws pixels, and how. Its name, asked for with XTVERSION, decides it: unlike questions about each
//! protocol, this one is answered in a form that arrives as keys, and no terminal prints it.

/// A way of drawing pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The graphics of kitty, with Unicode placeholders.
    Kitty,
    /// The inline images of iTerm2.
    Iterm2,
    /// Sixel.
    Sixel,
}

/// What a terminal that draws pixels is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graphics {
    /// How it draws them.
    pub protocol: Protocol,
    /// Pixels of a cell, across and down.
    pub cell: [u16; 2],
}

impl Protocol {
    /// The protocol of a terminal, by its answer to XTVERSION.
    #[must_use]
    pub fn of_terminal(answer: &str) -> Option<Self> {
        let end = answer.find(['(', ' ']).unwrap_or(answer.len());
        let (name, version) = answer.split_at(end);
        let mut numbers = version.trim_matches(['(', ' ', ')']).split('.').map_while(|part| part.parse::<u32>().ok());
        match name {
            // Placeholders came with version 0.28.
            "kitty" => ([numbers.next()?, numbers.next()?] >= [0, 28]).then_some(Self::Kitty),
            "ghostty" => Some(Self::Kitty),
            "iTerm2" | "WezTerm" | "mintty" => Some(Self::Iterm2),
            "foot" | "contour" | "mlterm" => Some(Self::Sixel),
            _ => None,
        }
    }
}

impl Graphics {
    /// What a terminal is like: its protocol, its cells, and its pixels, which are 0 where it does not report them.
    #[must_use]
    pub fn new(protocol: Protocol, cells: [u16; 2], pixels: [u16; 2]) -> Option<Self> {
        let size = |i: usize| pixels.get(i)?.checked_div(*cells.get(i)?).filter(|n| (2..=256).contains(n));
        Some(Self { protocol, cell: [size(0)?, size(1)?] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_known_by_their_names() {
        for (answer, protocol) in [
            ("kitty(0.35.2)", Some(Protocol::Kitty)),
            ("kitty(0.27.1)", None),
            ("kitty", None),
            ("ghostty 1.1.3", Some(Protocol::Kitty)),
            ("iTerm2 3.5.10", Some(Protocol::Iterm2)),
            ("WezTerm 20240203-110809-5046fc22", Some(Protocol::Iterm2)),
            ("foot(1.20.2)", Some(Protocol::Sixel)),
            ("tmux 3.5a", None),
            ("XTerm(390)", None),
            ("", None),
        ] {
            assert_eq!(Protocol::of_terminal(answer), protocol, "{answer}");
        }
    }

    #[test]
    fn a_terminal_that_does_not_report_its_pixels_draws_none() {
        let graphics = |pixels| Graphics::new(Protocol::Sixel, [100, 30], pixels);
        assert_eq!(graphics([1000, 600]), Some(Graphics { protocol: Protocol::Sixel, cell: [10, 20] }));
        assert_eq!((graphics([0, 0]), graphics([1000, 0]), graphics([100, 600])), (None, None, None));
        assert_eq!(Graphics::new(Protocol::Kitty, [0, 0], [1000, 600]), None);
    }
}
