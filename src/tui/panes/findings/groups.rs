//! The findings that are shown, by cause once the check is through, and by file: the files with errors first, then those with warnings, then those with notes;
//! within a file the errors about the file itself, then the worst. What comes later never changes the order of what is there among its like.

use std::collections::{HashMap, HashSet};

use crate::check::Finding;
use crate::damage::Level;
use crate::tui::data::ItemId;

/// Which findings of a file come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// An error about the file itself: it often explains the others.
    OfFile,
    /// Another finding.
    Level(Level),
}

impl Rank {
    /// That of a finding.
    #[must_use]
    pub fn of(finding: &Finding) -> Self {
        let is_of_file = finding.block.is_none() && finding.span.is_none_or(|span| span.is_empty());
        if is_of_file && finding.level() == Level::Error { Self::OfFile } else { Self::Level(finding.level()) }
    }

    const fn place(self) -> usize {
        match self {
            Self::OfFile => 0,
            Self::Level(level) => 1 + place(level),
        }
    }
}

impl From<Level> for Rank {
    fn from(level: Level) -> Self {
        Self::Level(level)
    }
}

/// The findings of a file below one heading, by their numbers.
#[derive(Debug, Default)]
pub struct Group {
    heading: Option<usize>,
    /// The number of its first finding, for the file's name.
    pub first: u32,
    by_rank: [Vec<u32>; 4],
    /// How many more the check counted without listing them, by level.
    unlisted: [u64; 3],
}

impl Group {
    fn numbers_at(&self, rank: Rank) -> &[u32] {
        self.by_rank.get(rank.place()).map_or(&[], Vec::as_slice)
    }

    /// How many findings of a level, those that are not listed included.
    #[must_use]
    pub fn count(&self, level: Level) -> u64 {
        let unlisted = self.unlisted.get(place(level)).copied().unwrap_or(0);
        let of_file = if level == Level::Error { self.numbers_at(Rank::OfFile).len() } else { 0 };
        unlisted.saturating_add((of_file + self.numbers_at(level.into()).len()) as u64)
    }

    /// How many findings are listed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_rank.iter().map(Vec::len).sum()
    }

    fn get(&self, mut at: usize) -> Option<u32> {
        for numbers in &self.by_rank {
            match numbers.get(at) {
                Some(number) => return Some(*number),
                None => at -= numbers.len(),
            }
        }
        None
    }

    fn worst(&self) -> usize {
        // Errors about the file itself are errors.
        self.by_rank.iter().position(|numbers| !numbers.is_empty()).map_or(3, |place| place.saturating_sub(1))
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
pub enum FindingLine {
    /// A cause, or findings that no cause explains: the number of the heading.
    Heading(usize),
    /// The name of a file: its group.
    File(usize),
    /// A finding, by its number.
    Finding(u32),
}

/// The identity of a file: its item, or its name where the tree does not have it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FileKey {
    /// A file of the tree.
    Item(ItemId),
    /// Another file.
    Name(std::sync::Arc<str>),
}

/// A part of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Heading(usize),
    Group(usize),
}

/// Findings by file.
#[derive(Debug, Default)]
pub struct Groups {
    groups: Vec<Group>,
    by_file: HashMap<(Option<usize>, FileKey), usize>,
    /// Whether each heading is unfolded; none while causes are not known.
    open: Vec<bool>,
    /// Whether each heading is shown without findings too.
    always: Vec<bool>,
    /// Whether the user folded or unfolded something. Until then the first heading is unfolded, so that a finding is visible.
    is_chosen: bool,
    /// What is shown in this order, with the number of the first line of each.
    order: Vec<(Piece, usize)>,
    lines: usize,
    findings: usize,
    unlisted: u64,
}

impl Groups {
    /// Groups below headings, each with whether it is shown without findings too.
    pub fn below(always: Vec<bool>) -> Self {
        let mut groups = Self { open: vec![false; always.len()], always, ..Self::default() };
        groups.sort();
        groups
    }

    /// Adds a finding. [`Self::sort`] is to be called after the last one.
    pub fn add(&mut self, heading: Option<usize>, file: FileKey, number: u32, rank: impl Into<Rank>) {
        let group = self.group_of(heading, file, number);
        if let Some(numbers) = group.and_then(|group| group.by_rank.get_mut(rank.into().place())) {
            numbers.push(number);
            self.findings += 1;
        }
    }

    /// Counts findings that the check does not list, below the heading and the file of those that it lists. `number` is the finding
    /// that counts them.
    pub fn add_unlisted(&mut self, heading: Option<usize>, file: FileKey, number: u32, level: Level, n: u64) {
        let group = self.group_of(heading, file, number);
        if let Some(unlisted) = group.and_then(|group| group.unlisted.get_mut(place(level))) {
            *unlisted = unlisted.saturating_add(n);
            self.unlisted = self.unlisted.saturating_add(n);
        }
    }

    fn group_of(&mut self, heading: Option<usize>, file: FileKey, number: u32) -> Option<&mut Group> {
        let next = self.groups.len();
        let at = *self.by_file.entry((heading, file)).or_insert(next);
        if at == next {
            self.groups.push(Group { first: number, heading, ..Group::default() });
        }
        self.groups.get_mut(at)
    }

    /// Brings the groups into their order.
    pub fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by_key(|at| self.groups.get(*at).map(|group| (group.heading, group.worst())));
        let has_groups: HashSet<usize> = self.groups.iter().filter_map(|group| group.heading).collect();
        let is_shown =
            |(heading, always): (usize, &bool)| (*always || has_groups.contains(&heading)).then_some(heading);
        let shown: Vec<usize> = self.always.iter().enumerate().filter_map(is_shown).collect();
        if !self.is_chosen {
            let first = shown.first().copied();
            self.open.iter_mut().enumerate().for_each(|(heading, open)| *open = Some(heading) == first);
        }
        self.lines = 0;
        self.order.clear();
        let mut rest = order.into_iter().peekable();
        for heading in std::iter::once(None).chain(shown.into_iter().map(Some)) {
            if let Some(heading) = heading {
                self.order.push((Piece::Heading(heading), self.lines));
                self.lines += 1;
            }
            let is_open = heading.is_none_or(|heading| self.is_open(heading));
            while let Some(at) = rest.next_if(|at| self.groups.get(*at).is_some_and(|group| group.heading == heading)) {
                if let Some(group) = self.groups.get(at).filter(|_| is_open) {
                    self.order.push((Piece::Group(at), self.lines));
                    self.lines += 1 + group.len();
                }
            }
        }
    }

    /// Whether a heading is unfolded.
    #[must_use]
    pub fn is_open(&self, heading: usize) -> bool {
        self.open.get(heading).copied().unwrap_or(true)
    }

    /// Folds or unfolds a heading.
    pub fn unfold(&mut self, heading: usize, open: bool) {
        self.is_chosen = true;
        if let Some(to) = self.open.get_mut(heading) {
            *to = open;
        }
        self.sort();
    }

    /// Unfolds every heading.
    pub fn unfold_all(&mut self) {
        self.is_chosen = true;
        self.open.fill(true);
        self.sort();
    }

    /// How many findings of a level are below a heading.
    #[must_use]
    pub fn count_below(&self, heading: usize, level: Level) -> u64 {
        self.groups.iter().filter(|group| group.heading == Some(heading)).map(|group| group.count(level)).sum()
    }

    /// The line of a heading.
    #[must_use]
    pub fn line_of_heading(&self, heading: usize) -> Option<usize> {
        self.order.iter().find(|(piece, _)| *piece == Piece::Heading(heading)).map(|(_, line)| *line)
    }

    /// Lines, those with names included.
    #[must_use]
    pub const fn lines(&self) -> usize {
        self.lines
    }

    /// Findings that are listed.
    #[must_use]
    pub const fn findings(&self) -> usize {
        self.findings
    }

    /// Findings, those that are not listed included.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.unlisted.saturating_add(self.findings as u64)
    }

    /// Files.
    #[must_use]
    pub fn files(&self) -> usize {
        let files: HashSet<&FileKey> = self.by_file.keys().map(|(_, file)| file).collect();
        files.len()
    }

    /// A group.
    #[must_use]
    pub fn group(&self, at: usize) -> Option<&Group> {
        self.groups.get(at)
    }

    /// A line.
    #[must_use]
    pub fn line(&self, line: usize) -> Option<FindingLine> {
        let at = self.order.partition_point(|(_, from)| *from <= line).checked_sub(1)?;
        let (piece, from) = *self.order.get(at)?;
        let group = match piece {
            Piece::Heading(heading) => return Some(FindingLine::Heading(heading)).filter(|_| line == from),
            Piece::Group(group) => group,
        };
        match line - from {
            0 => Some(FindingLine::File(group)),
            below => self.groups.get(group)?.get(below - 1).map(FindingLine::Finding),
        }
    }

    /// The line of a finding.
    #[must_use]
    pub fn line_of(&self, heading: Option<usize>, file: &FileKey, number: u32, rank: impl Into<Rank>) -> Option<usize> {
        let rank = rank.into();
        let group = *self.by_file.get(&(heading, file.clone()))?;
        let (_, from) = self.order.iter().find(|(piece, _)| *piece == Piece::Group(group))?;
        let group = self.groups.get(group)?;
        let before: usize = group.by_rank.iter().take(rank.place()).map(Vec::len).sum();
        let at = group.numbers_at(rank).binary_search(&number).ok()?;
        Some(from + 1 + before + at)
    }

    /// The nearest line with a finding from a line on, forward or back.
    #[must_use]
    pub fn finding_from(&self, line: usize, forward: bool) -> Option<(usize, u32)> {
        let mut at = line;
        loop {
            match self.line(at)? {
                FindingLine::Finding(number) => return Some((at, number)),
                _ if forward => at += 1,
                _ => at = at.checked_sub(1)?,
            }
        }
    }

    /// The nearest line that the cursor can be on from a line on, forward or back: a finding or a heading.
    #[must_use]
    pub fn stop_from(&self, line: usize, forward: bool) -> Option<usize> {
        let mut at = line;
        loop {
            match self.line(at)? {
                FindingLine::Finding(_) | FindingLine::Heading(_) => return Some(at),
                _ if forward => at += 1,
                _ => at = at.checked_sub(1)?,
            }
        }
    }

    /// The line of the next heading or file, or of the one that a line belongs to or follows.
    #[must_use]
    pub fn other_part(&self, line: usize, forward: bool) -> Option<usize> {
        let lines = || self.order.iter().map(|(_, from)| *from);
        if forward {
            return lines().find(|from| *from > line);
        }
        let here = lines().rfind(|from| *from <= line)?;
        // From the first finding of a file to what is before it.
        if line > here + 1 { Some(here) } else { lines().rfind(|from| *from < here) }
    }

    /// All findings in the order in which they are shown.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        let mut all: Vec<&Group> = self.groups.iter().collect();
        all.sort_by_key(|group| (group.heading, group.worst()));
        all.into_iter().flat_map(|group| group.by_rank.iter().flatten()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_errors_come_first_and_stay_in_their_order() {
        let mut groups = Groups::default();
        let file = FileKey::Item;
        groups.add(None, file(5), 0, Level::Note);
        groups.add(None, file(6), 1, Level::Error);
        groups.add(None, file(5), 2, Level::Note);
        groups.add(None, file(7), 3, Level::Note);
        groups.add(None, file(7), 4, Level::Error);
        groups.sort();
        assert_eq!(groups.numbers().collect::<Vec<_>>(), [1, 4, 3, 0, 2]);
        let lines: Vec<FindingLine> = (0..groups.lines()).filter_map(|line| groups.line(line)).collect();
        assert_eq!(lines.len(), 8);
        assert_eq!(lines[..3], [FindingLine::File(1), FindingLine::Finding(1), FindingLine::File(2)]);
        assert_eq!(groups.line_of(None, &file(7), 3, Level::Note), Some(4));
        assert_eq!(groups.finding_from(0, true), Some((1, 1)));
        assert_eq!(groups.finding_from(2, false), Some((1, 1)));
        assert_eq!(groups.finding_from(0, false), None);
        assert_eq!((groups.other_part(1, true), groups.other_part(4, false)), (Some(2), Some(2)));
        assert_eq!((groups.other_part(3, false), groups.other_part(6, true)), (Some(0), None));
        assert_eq!(groups.line(8), None);
    }

    #[test]
    fn an_error_about_the_file_itself_is_the_first() {
        let mut groups = Groups::default();
        groups.add(None, FileKey::Item(5), 0, Level::Error);
        groups.add(None, FileKey::Item(5), 1, Level::Warning);
        groups.add(None, FileKey::Item(5), 2, Rank::OfFile);
        groups.add(None, FileKey::Item(6), 3, Level::Error);
        groups.sort();
        assert_eq!(groups.numbers().collect::<Vec<_>>(), [2, 0, 1, 3]);
        assert_eq!(groups.line_of(None, &FileKey::Item(5), 2, Rank::OfFile), Some(1));
        assert_eq!(groups.line_of(None, &FileKey::Item(5), 0, Level::Error), Some(2));
        assert_eq!(groups.group(0).map(|group| group.count(Level::Error)), Some(2));
    }

    #[test]
    fn findings_that_are_not_listed_count() {
        let mut groups = Groups::default();
        groups.add(None, FileKey::Item(5), 0, Level::Error);
        groups.add(None, FileKey::Item(5), 1, Level::Note);
        groups.add_unlisted(None, FileKey::Item(5), 1, Level::Error, 3998);
        groups.sort();
        assert_eq!((groups.lines(), groups.findings(), groups.count()), (3, 2, 4000));
        let count = |level| groups.group(0).map(|group| group.count(level));
        assert_eq!((count(Level::Error), count(Level::Note)), (Some(3999), Some(1)));
    }

    #[test]
    fn headings_fold_their_findings() {
        let mut groups = Groups::below(vec![true, true, true, false]);
        groups.add(Some(1), FileKey::Item(5), 0, Level::Error);
        groups.add(Some(0), FileKey::Item(5), 1, Level::Note);
        groups.add(Some(0), FileKey::Item(6), 2, Level::Warning);
        groups.sort();
        assert_eq!(groups.line_of_heading(1), Some(5), "the first heading is unfolded until the user chooses");
        assert_eq!(groups.finding_from(0, true), Some((2, 2)));
        groups.unfold(0, false);
        assert_eq!((groups.lines(), groups.files(), groups.findings()), (3, 2, 3));
        assert_eq!(groups.line(1), Some(FindingLine::Heading(1)));
        assert_eq!(groups.line(2), Some(FindingLine::Heading(2)), "a cause without findings");
        assert_eq!(groups.line_of_heading(3), None, "no finding is without a cause");
        assert_eq!(groups.finding_from(0, true), None);
        assert_eq!(groups.count_below(0, Level::Warning), 1);
        groups.unfold(0, true);
        assert_eq!((groups.lines(), groups.line_of_heading(1)), (7, Some(5)));
        assert_eq!(groups.line_of(Some(0), &FileKey::Item(6), 2, Level::Warning), Some(2));
        assert_eq!((groups.stop_from(1, true), groups.stop_from(1, false)), (Some(2), Some(0)));
        assert_eq!(groups.stop_from(5, true), Some(5), "a folded heading");
        assert_eq!((groups.other_part(4, false), groups.other_part(2, false)), (Some(1), Some(0)));
        assert_eq!((groups.other_part(2, true), groups.other_part(4, true)), (Some(3), Some(5)));
        assert_eq!(groups.numbers().collect::<Vec<_>>(), [2, 1, 0]);
    }
}
