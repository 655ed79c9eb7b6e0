//! The findings that are shown, by file: the files with errors first, then those with warnings, then those with notes;
//! within a file the worst first. What comes later never changes the order of what is there among its like.

use std::collections::HashMap;

use crate::damage::Level;
use crate::tui::data::ItemId;

/// The findings of a file, by their numbers.
#[derive(Debug, Default)]
pub struct Group {
    /// The number of its first finding, for the file's name.
    pub first: u32,
    by_level: [Vec<u32>; 3],
}

impl Group {
    fn of_level(&self, level: Level) -> &[u32] {
        self.by_level.get(place(level)).map_or(&[], Vec::as_slice)
    }

    /// How many findings of a level.
    #[must_use]
    pub fn count(&self, level: Level) -> usize {
        self.of_level(level).len()
    }

    /// How many findings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_level.iter().map(Vec::len).sum()
    }

    fn get(&self, mut at: usize) -> Option<u32> {
        for numbers in &self.by_level {
            match numbers.get(at) {
                Some(number) => return Some(*number),
                None => at -= numbers.len(),
            }
        }
        None
    }

    fn worst(&self) -> usize {
        self.by_level.iter().position(|numbers| !numbers.is_empty()).unwrap_or(3)
    }
}

/// The place of a level, the worst first.
const fn place(level: Level) -> usize {
    match level {
        Level::Error => 0,
        Level::Warning => 1,
        Level::Note => 2,
    }
}

/// A line of the pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// The name of a file: its group.
    File(usize),
    /// A finding, by its number.
    Finding(u32),
}

/// What tells files apart: their items, or their names where the tree does not have them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FileKey {
    /// A file of the tree.
    Item(ItemId),
    /// Another file.
    Name(std::sync::Arc<str>),
}

/// Findings by file.
#[derive(Debug, Default)]
pub struct Groups {
    groups: Vec<Group>,
    by_file: HashMap<FileKey, usize>,
    /// Groups in the order in which they are shown, with the number of the first line of each.
    order: Vec<(usize, usize)>,
    lines: usize,
    findings: usize,
}

impl Groups {
    /// Adds a finding. [`Self::sort`] is to be called after the last one.
    pub fn add(&mut self, file: FileKey, number: u32, level: Level) {
        let next = self.groups.len();
        let at = *self.by_file.entry(file).or_insert(next);
        if at == next {
            self.groups.push(Group { first: number, ..Group::default() });
        }
        if let Some(numbers) = self.groups.get_mut(at).and_then(|group| group.by_level.get_mut(place(level))) {
            numbers.push(number);
            self.findings += 1;
        }
    }

    /// Brings the groups into their order.
    pub fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by_key(|at| self.groups.get(*at).map(Group::worst));
        self.lines = 0;
        self.order.clear();
        for at in order {
            self.order.push((at, self.lines));
            self.lines += 1 + self.groups.get(at).map_or(0, Group::len);
        }
    }

    /// Lines, those with names included.
    #[must_use]
    pub const fn lines(&self) -> usize {
        self.lines
    }

    /// Findings.
    #[must_use]
    pub const fn findings(&self) -> usize {
        self.findings
    }

    /// Files.
    #[must_use]
    pub const fn files(&self) -> usize {
        self.groups.len()
    }

    /// A group.
    #[must_use]
    pub fn group(&self, at: usize) -> Option<&Group> {
        self.groups.get(at)
    }

    /// A line.
    #[must_use]
    pub fn line(&self, line: usize) -> Option<Line> {
        let at = self.order.partition_point(|(_, from)| *from <= line).checked_sub(1)?;
        let (group, from) = *self.order.get(at)?;
        match line - from {
            0 => Some(Line::File(group)),
            below => self.groups.get(group)?.get(below - 1).map(Line::Finding),
        }
    }

    /// The line of a finding.
    #[must_use]
    pub fn line_of(&self, file: &FileKey, number: u32, level: Level) -> Option<usize> {
        let group = *self.by_file.get(file)?;
        let (_, from) = self.order.iter().find(|(at, _)| *at == group)?;
        let group = self.groups.get(group)?;
        let before: usize = group.by_level.iter().take(place(level)).map(Vec::len).sum();
        let at = group.of_level(level).binary_search(&number).ok()?;
        Some(from + 1 + before + at)
    }

    /// The nearest line with a finding from a line on, forth or back.
    #[must_use]
    pub fn finding_from(&self, line: usize, forth: bool) -> Option<(usize, u32)> {
        let mut at = line;
        // A name has a finding below it, and one above it unless it is the first line.
        for _ in 0..2 {
            match self.line(at)? {
                Line::Finding(number) => return Some((at, number)),
                Line::File(_) if forth => at += 1,
                Line::File(_) => at = at.checked_sub(1)?,
            }
        }
        None
    }

    /// The line with the name of the next file, or of the one that a line belongs to or follows.
    #[must_use]
    pub fn other_file(&self, line: usize, forth: bool) -> Option<usize> {
        let at = self.order.partition_point(|(_, from)| *from <= line);
        if forth {
            return self.order.get(at).map(|(_, from)| *from);
        }
        let (_, from) = self.order.get(at.checked_sub(1)?)?;
        // From the first finding of a file to the file before.
        if line > from + 1 { Some(*from) } else { self.order.get(at.checked_sub(2)?).map(|(_, from)| *from) }
    }

    /// All findings in the order in which they are shown.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.order
            .iter()
            .filter_map(|(at, _)| self.groups.get(*at))
            .flat_map(|group| group.by_level.iter().flatten())
            .copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_errors_come_first_and_stay_in_their_order() {
        let mut groups = Groups::default();
        let file = FileKey::Item;
        groups.add(file(5), 0, Level::Note);
        groups.add(file(6), 1, Level::Error);
        groups.add(file(5), 2, Level::Note);
        groups.add(file(7), 3, Level::Note);
        groups.add(file(7), 4, Level::Error);
        groups.sort();
        assert_eq!(groups.numbers().collect::<Vec<_>>(), [1, 4, 3, 0, 2]);
        let lines: Vec<Line> = (0..groups.lines()).filter_map(|line| groups.line(line)).collect();
        assert_eq!(lines.len(), 8);
        assert_eq!(lines[..3], [Line::File(1), Line::Finding(1), Line::File(2)]);
        assert_eq!(groups.line_of(&file(7), 3, Level::Note), Some(4));
        assert_eq!(groups.finding_from(0, true), Some((1, 1)));
        assert_eq!(groups.finding_from(2, false), Some((1, 1)));
        assert_eq!(groups.finding_from(0, false), None);
        assert_eq!((groups.other_file(1, true), groups.other_file(4, false)), (Some(2), Some(2)));
        assert_eq!((groups.other_file(3, false), groups.other_file(6, true)), (Some(0), None));
        assert_eq!(groups.line(8), None);
    }
}
