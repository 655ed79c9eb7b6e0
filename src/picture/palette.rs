//! Names and colours of voxels, where somebody gave them.

use std::collections::BTreeMap;

use super::color::{self, Rgb};

/// What a value is called, and its colour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Its name, printable.
    pub name: Option<String>,
    /// Its colour.
    pub color: Option<Rgb>,
}

/// Names and colours by value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Palette {
    /// Of types, by id.
    pub types: BTreeMap<u64, Entry>,
}

impl Palette {
    /// The name of a type, where it has one.
    #[must_use]
    pub fn name(&self, value: u64) -> Option<&str> {
        self.types.get(&value)?.name.as_deref()
    }

    /// All types with names, by id.
    pub fn names(&self) -> impl Iterator<Item = (u64, &str)> {
        self.types.iter().filter_map(|(id, entry)| Some((*id, entry.name.as_deref()?)))
    }

    /// The colour of a type: the one that was given, or one that is always the same for it.
    #[must_use]
    pub fn color(&self, value: u64) -> Rgb {
        self.types.get(&value).and_then(|entry| entry.color).unwrap_or_else(|| color::kind(value))
    }

    /// Takes others in, which win where both have something.
    pub fn merge(&mut self, other: Self) {
        for (value, entry) in other.types {
            let to = self.types.entry(value).or_default();
            to.name = entry.name.or(to.name.take());
            to.color = entry.color.or(to.color);
        }
    }
}
