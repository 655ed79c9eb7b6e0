//! The tree: the save, its forests, LODs and files, pak_dirs, maps and layers, with a mark for the worst finding below.

use std::collections::{HashMap, HashSet};

use super::Click;
use crate::damage::Level;
use crate::printable::grouped;
use crate::tui::action::Action;
use crate::tui::canvas::Canvas;
use crate::tui::data::{Index, NodeId, NodeKind};
use crate::tui::layout::inside;
use crate::tui::pane::Pane;
use crate::tui::scroll::follow;
use crate::tui::shorten::shorten_apart;
use crate::tui::theme::{Role, level_role};
use crate::tui::{App, Focus};
use unicode_width::UnicodeWidthStr;

/// Files of one directory that are shown; the others are folded into one line.
const MAX_FILES: usize = 20;

/// A line of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TreeLine {
    /// A node.
    Node(NodeId),
    /// Files of a directory that are folded: the first of them, and how many.
    Folded(NodeId, usize),
}

impl TreeLine {
    /// The node, or the first of those that are folded.
    const fn node(self) -> NodeId {
        match self {
            Self::Node(node) | Self::Folded(node, _) => node,
        }
    }
}

/// The state of the tree: which branches are open, and the lines that are therefore shown.
#[derive(Debug, Default)]
pub struct TreeState {
    open: HashSet<NodeId>,
    /// Directories all of whose files are shown.
    unfolded: HashSet<NodeId>,
    filter: String,
    lines: Vec<TreeLine>,
    first: usize,
}

impl TreeState {
    /// Opens every branch.
    pub fn open_all(&mut self, index: &Index) {
        self.open = (0..index.nodes.len()).filter(|id| is_branch(index, *id)).collect();
        self.rebuild(index);
    }

    /// Opens the branches that were open before the save was read again.
    pub fn reopen(&mut self, old: &Index, new: &Index) {
        self.open = self.open.iter().map(|&node| old.same_node(new, node)).collect();
        self.unfolded = self.unfolded.iter().map(|&node| old.same_node(new, node)).collect();
        self.rebuild(new);
    }

    /// Opens and unfolds the branches above a node, so that it is shown.
    pub fn show(&mut self, index: &Index, node: NodeId) {
        let mut changed = false;
        let mut at = parent(index, node);
        while let Some(id) = at {
            changed |= self.open.insert(id);
            at = parent(index, id);
        }
        if self.lines.contains(&TreeLine::Node(node)) && !changed {
            return;
        }
        if let Some(id) = parent(index, node) {
            self.unfolded.insert(id);
        }
        if !self.filter.is_empty() {
            self.filter.clear();
        }
        self.rebuild(index);
    }

    /// Shows only nodes whose names contain a text, with the branches above them.
    pub fn set_filter(&mut self, index: &Index, text: &str) {
        text.trim().clone_into(&mut self.filter);
        self.rebuild(index);
    }

    /// The filter.
    #[must_use]
    pub fn filter(&self) -> &str {
        &self.filter
    }

    fn rebuild(&mut self, index: &Index) {
        self.lines.clear();
        if !self.filter.is_empty() {
            let text = self.filter.to_lowercase();
            let mut shown = HashSet::new();
            for (id, node) in index.nodes.iter().enumerate() {
                let mut at = node.label.to_lowercase().contains(&text).then_some(id);
                while let Some(id) = at.filter(|id| shown.insert(*id)) {
                    at = parent(index, id);
                }
            }
            self.lines = (0..index.nodes.len()).filter(|id| shown.contains(id)).map(TreeLine::Node).collect();
            return;
        }
        let mut files: HashMap<Option<NodeId>, usize> = HashMap::new();
        let mut id = 0;
        while let Some(node) = index.nodes.get(id) {
            let next = if self.open.contains(&id) { id + 1 } else { node.end };
            let unfolded = node.parent.is_none_or(|parent| self.unfolded.contains(&parent));
            let file = matches!(node.kind, NodeKind::Item(_)) && !unfolded;
            let count = files.entry(node.parent).or_default();
            *count += usize::from(file);
            let is_sibling = |id: &usize| {
                index.nodes.get(*id).is_some_and(|n| n.parent == node.parent && matches!(n.kind, NodeKind::Item(_)))
            };
            let last = if file && *count > MAX_FILES { (id..).find(|id| !is_sibling(id)).unwrap_or(id) } else { id };
            // A single file is shown rather than counted.
            if last > id + 1 {
                self.lines.push(TreeLine::Folded(id, last - id));
                id = last;
            } else {
                self.lines.push(TreeLine::Node(id));
                id = next;
            }
        }
    }

    fn row_of(&self, node: NodeId) -> usize {
        // Lines are in the order of their nodes.
        self.lines.partition_point(|line| line.node() <= node).saturating_sub(1)
    }
}

fn parent(index: &Index, node: NodeId) -> Option<NodeId> {
    index.nodes.get(node)?.parent
}

fn is_branch(index: &Index, node: NodeId) -> bool {
    index.nodes.get(node).is_some_and(|line| line.end - node > 1)
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    let Some(index) = app.index.clone() else { return false };
    let row = app.panes.tree.row_of(app.selection.node);
    let last = app.panes.tree.lines.len().saturating_sub(1);
    let page = usize::from(inside(app.layout().tree).height).max(1);
    let node = app.selection.node;
    let branch = is_branch(&index, node);
    if let Some(to) = action.over_lines(row, last, page) {
        go(app, to);
        scroll(app);
        return true;
    }
    match action {
        Action::Right if branch && app.panes.tree.open.insert(node) => app.panes.tree.rebuild(&index),
        Action::Right if branch => go(app, (row + 1).min(last)),
        Action::Left if branch && app.panes.tree.open.remove(&node) => app.panes.tree.rebuild(&index),
        Action::Left => {
            if let Some(parent) = index.nodes.get(node).and_then(|line| line.parent) {
                app.select_node(parent);
            }
        }
        Action::Toggle if branch => toggle(app, &index, node),
        Action::Enter | Action::Right => open_selected(app, branch),
        Action::Close if !app.panes.tree.filter.is_empty() => app.panes.tree.set_filter(&index, ""),
        Action::Close => app.focus = Focus::Pane,
        _ => return false,
    }
    scroll(app);
    true
}

fn toggle(app: &mut App, index: &Index, node: NodeId) {
    if !app.panes.tree.open.remove(&node) {
        app.panes.tree.open.insert(node);
    }
    app.panes.tree.rebuild(index);
}

/// Enter: focuses the pane that shows most of what is selected.
fn open_selected(app: &mut App, branch: bool) {
    app.focus = Focus::Pane;
    app.pane = match (branch, app.pane) {
        // A file that only has bytes is looked at as bytes.
        (false, Pane::Findings) => {
            let plain = app.opened_item().is_some_and(|opened| opened.slots.is_empty());
            if plain { Pane::Hex } else { Pane::Sectors }
        }
        (true, Pane::Findings) => Pane::Findings,
        (true, _) => Pane::Blocks,
        (false, pane) => pane,
    };
}

fn go(app: &mut App, row: usize) {
    let Some(line) = app.panes.tree.lines.get(row).copied() else { return };
    if let (TreeLine::Folded(node, _), Some(index)) = (line, app.index.clone()) {
        app.panes.tree.show(&index, node);
    }
    app.panes.findings.selected_elsewhere = true;
    app.selection.finding = None;
    app.select_node(line.node());
}

/// Keeps the selected line in sight.
fn scroll(app: &mut App) {
    let seen = usize::from(inside(app.layout().tree).height);
    let state = &mut app.panes.tree;
    let row = state.row_of(app.selection.node);
    state.first = follow(state.first, row, seen, state.lines.len());
}

/// Filters the tree by a part of its names.
pub fn filter(app: &mut App, text: &str) {
    let Some(index) = app.index.clone() else { return };
    app.panes.tree.set_filter(&index, text);
    scroll(app);
}

/// Does a click.
pub fn click(app: &mut App, click: Click, x: u16, y: u16) {
    match click {
        Click::Wheel(up) => {
            let all = app.panes.tree.lines.len();
            let seen = usize::from(inside(app.layout().tree).height);
            let first = app.panes.tree.first;
            app.panes.tree.first = if up { first.saturating_sub(3) } else { (first + 3).min(all.saturating_sub(seen)) };
        }
        Click::Press | Click::Drag => {
            let Some(index) = app.index.clone() else { return };
            let row = app.panes.tree.first + usize::from(y);
            let Some(node) = app.panes.tree.lines.get(row).map(|line| line.node()) else { return };
            let again = app.selection.node == node;
            go(app, row);
            let Some(line) = index.nodes.get(node) else { return };
            let branch = is_branch(&index, node);
            // On the mark that opens it, or on a branch that is selected already.
            if branch && (again || x <= u16::from(line.depth) + 1) {
                toggle(app, &index, node);
            }
        }
    }
}

/// Draws the tree; folded, only its marks.
pub fn draw(app: &App, canvas: &mut Canvas<'_>, folded: bool) {
    let focused = app.focus == Focus::Tree;
    let state = &app.panes.tree;
    let title = if state.filter.is_empty() { " Save ".to_owned() } else { format!(" Save: {} ", state.filter) };
    let title = [(Role::Strong, title.as_str())];
    let mut inside = canvas.frame(if folded { &[] } else { &title }, focused);
    let Some(index) = &app.index else { return };
    let seen = usize::from(inside.height());
    let row = state.row_of(app.selection.node);
    // The first line was chosen for a screen that may have had another size.
    let first = follow(state.first, row, seen, state.lines.len());
    if state.lines.is_empty() {
        inside.wrap(1, 0, "No name matches; esc shows all.", Role::Dim);
    }
    let right = inside.width().saturating_sub(u16::from(state.lines.len() > seen));
    let rows: Vec<Option<Row>> =
        state.lines.iter().skip(first).take(seen).map(|line| Row::of_line(app, index, *line)).collect();
    let names: Vec<(&str, usize)> = rows.iter().flatten().map(|row| (row.name, row.room(right).into())).collect();
    let mut names = shorten_apart(&names, app.glyphs.more).into_iter();
    for ((y, line), node) in (0u16..).zip(state.lines.iter().skip(first)).zip(&rows) {
        let name = node.as_ref().and_then(|_| names.next());
        match *line {
            TreeLine::Node(_) => match (node, name) {
                (Some(node), _) if folded => {
                    inside.put(0, y, node.mark.0, node.mark.1);
                }
                (Some(node), Some(name)) => node.draw(y, &name, right, &mut inside),
                _ => {}
            },
            TreeLine::Folded(..) if folded => {
                inside.put(0, y, app.glyphs.more, Role::Dim);
            }
            TreeLine::Folded(id, count) => {
                let depth = index.nodes.get(id).map_or(0, |node| node.depth.min(6));
                let text = format!("{} {count} more files", app.glyphs.more);
                inside.put(u16::from(depth) + 2, y, &text, Role::Dim);
            }
        }
        if first + usize::from(y) == row {
            inside.cursor_row(y, focused);
        }
    }
    if !folded {
        inside.scrollbar(first, seen, state.lines.len());
    }
}

/// The row of a node.
struct Row<'i> {
    /// The column after the sign of a branch.
    x: u16,
    /// What shows whether a branch is open.
    sign: &'static str,
    name: &'i str,
    role: Role,
    /// Files of a closed branch, which cannot be seen otherwise.
    files: Option<usize>,
    /// The mark of the worst finding, with its colour.
    mark: (&'static str, Role),
    /// How many findings of the worst level.
    count: String,
}

impl<'i> Row<'i> {
    fn of_line(app: &App, index: &'i Index, line: TreeLine) -> Option<Self> {
        let TreeLine::Node(id) = line else { return None };
        let node = index.nodes.get(id)?;
        let tally = app.findings.tally(id);
        let worst = tally.worst();
        let checked = app.findings.summary.is_some() || worst.is_some();
        let mark = if checked { app.glyphs.level(worst) } else { app.glyphs.unknown };
        let branch = is_branch(index, id);
        let open = app.panes.tree.open.contains(&id);
        Some(Self {
            x: u16::from(node.depth.min(6)) + 2,
            sign: match (branch, open) {
                (false, _) => " ",
                (true, true) => app.glyphs.open,
                (true, false) => app.glyphs.closed,
            },
            name: &node.label,
            role: if matches!(node.kind, NodeKind::Item(_)) { Role::Text } else { Role::Strong },
            files: (branch && !open).then_some(node.items.len()),
            mark: (mark, if worst.is_none() { Role::Dim } else { level_role(worst) }),
            count: count(worst, tally.errors, tally.warnings),
        })
    }

    /// The column where the name ends at the latest.
    fn end(&self, right: u16) -> u16 {
        right.saturating_sub(u16::try_from(self.count.len()).unwrap_or(0) + 3)
    }

    /// Columns of the name.
    fn room(&self, right: u16) -> u16 {
        self.end(right).saturating_sub(self.x)
    }

    /// Draws the row with its name, which is shortened already; `right` is the column after it.
    fn draw(&self, y: u16, name: &str, right: u16, inside: &mut Canvas<'_>) {
        let (mark, role) = self.mark;
        inside.put(self.x.saturating_sub(2), y, self.sign, Role::Dim);
        inside.put_within(self.x, y, self.room(right), name, self.role);
        if let Some(files) = self.files {
            let files = format!(" {files} files");
            let after = self.x.saturating_add(u16::try_from(self.name.width()).unwrap_or(u16::MAX));
            if after.saturating_add(u16::try_from(files.len()).unwrap_or(0)) <= self.end(right) {
                inside.put(after, y, &files, Role::Dim);
            }
        }
        inside.put_right(right, y, &format!("{mark} {}", self.count), role);
    }
}

/// How many findings of the worst level, when it is one that counts.
fn count(worst: Option<Level>, errors: u32, warnings: u32) -> String {
    match worst {
        Some(Level::Error) => grouped(errors.into()),
        Some(Level::Warning) => grouped(warnings.into()),
        _ => String::new(),
    }
}
