//! The headings of the list: causes, and in a directory of several saves the causes of each save, before the findings that none of
//! them explains.

use crate::check::{Cause, is_of};

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The save, by its printable path, in a directory of several.
    pub save: Option<String>,
    /// The number of the cause; `None` for findings that no cause explains.
    pub cause: Option<usize>,
}

/// The headings in their order, save by save: those with a cause first.
#[derive(Debug, Default)]
pub struct Headings {
    all: Vec<Heading>,
    /// The heading of each cause.
    of_causes: Vec<usize>,
    /// The headings for findings of the saves that no cause explains, in the order of the saves.
    others: Vec<(String, usize)>,
}

impl Headings {
    /// Headings of causes. `saves` are the printable paths of the saves, sorted; none if there is only one.
    pub fn new(causes: &[Cause], saves: &[String]) -> Self {
        let mut out = Self { of_causes: vec![0; causes.len()], ..Self::default() };
        let has_cause = |save: &String| causes.iter().any(|cause| cause.save.as_ref() == Some(save));
        let (damaged, rest): (Vec<&String>, Vec<&String>) = saves.iter().partition(|save| has_cause(save));
        let names = damaged.into_iter().map(Some).chain([None]).chain(rest.into_iter().map(Some));
        for name in names {
            for (number, cause) in causes.iter().enumerate().filter(|(_, cause)| cause.save.as_ref() == name) {
                if let Some(heading) = out.of_causes.get_mut(number) {
                    *heading = out.all.len();
                }
                out.all.push(Heading { save: cause.save.clone(), cause: Some(number) });
            }
            if let Some(name) = name {
                out.others.push((name.clone(), out.all.len()));
                out.all.push(Heading { save: Some(name.clone()), cause: None });
            }
        }
        // A save within another one has the longer name.
        out.others.sort();
        out.all.push(Heading { save: None, cause: None });
        out
    }

    /// Whether each of them is a cause, which is shown without findings too.
    pub fn are_causes(&self) -> Vec<bool> {
        self.all.iter().map(|heading| heading.cause.is_some()).collect()
    }

    /// A heading.
    pub fn get(&self, at: usize) -> Option<&Heading> {
        self.all.get(at)
    }

    /// The heading of a cause.
    pub fn of_cause(&self, cause: usize) -> Option<usize> {
        self.of_causes.get(cause).copied()
    }

    /// The heading of what no cause explains in a file.
    pub fn of_other(&self, file: &str) -> usize {
        let of_save = self.others.iter().rfind(|(save, _)| is_of(file, save)).map(|(_, heading)| *heading);
        of_save.unwrap_or(self.all.len().saturating_sub(1))
    }
}
