//! The tree: the save, its forests, LODs and files, rooms, maps and layers, with a mark for the worst finding below.

use std::collections::HashSet;

use super::Click;
use crate::damage::Level;
use crate::tui::action::Action;
use crate::tui::app::{App, Focus};
use crate::tui::canvas::Canvas;
use crate::tui::data::{Index, NodeId, NodeKind};
use crate::tui::layout::inside;
use crate::tui::pane::Pane;
use crate::tui::scroll::follow;
use crate::tui::theme::{Role, level_role};
use unicode_width::UnicodeWidthStr;

/// A branch with more lines than this is closed at the start.
const MANY: usize = 100;

/// What the tree keeps: which branches are open, and the lines that are therefore seen.
#[derive(Debug, Default)]
pub struct Keep {
    open: HashSet<NodeId>,
    lines: Vec<NodeId>,
    first: usize,
}

impl Keep {
    /// Opens every branch that is not large.
    pub fn open_all_but_many(&mut self, index: &Index) {
        let branches = index
            .nodes
            .iter()
            .enumerate()
            .filter(|(id, node)| node.end - id > 1 && (*id == 0 || node.end - id <= MANY));
        self.open = branches.map(|(id, _)| id).collect();
        self.rebuild(index);
    }

    /// After the save was read again: what was open is open.
    pub fn reopen(&mut self, old: &Index, new: &Index) {
        self.open = self.open.iter().map(|&node| old.same_node(new, node)).collect();
        self.rebuild(new);
    }

    /// Opens the branches above a line, so that it is seen.
    pub fn show(&mut self, index: &Index, node: NodeId) {
        let mut changed = false;
        let mut at = index.nodes.get(node).and_then(|node| node.parent);
        while let Some(id) = at {
            changed |= self.open.insert(id);
            at = index.nodes.get(id).and_then(|node| node.parent);
        }
        if changed {
            self.rebuild(index);
        }
    }

    fn rebuild(&mut self, index: &Index) {
        self.lines.clear();
        let mut id = 0;
        while let Some(node) = index.nodes.get(id) {
            self.lines.push(id);
            id = if self.open.contains(&id) { id + 1 } else { node.end };
        }
    }

    fn row_of(&self, node: NodeId) -> usize {
        // Lines stand in the order of their numbers.
        self.lines.partition_point(|line| *line < node).min(self.lines.len().saturating_sub(1))
    }
}

/// Does an action; true when it meant something here.
pub fn act(app: &mut App, action: Action) -> bool {
    let Some(index) = app.index.clone() else { return false };
    let row = app.panes.tree.row_of(app.selection.node);
    let last = app.panes.tree.lines.len().saturating_sub(1);
    let page = usize::from(inside(app.layout().tree).height).max(1);
    let node = app.selection.node;
    let branch = index.nodes.get(node).is_some_and(|line| line.end - node > 1);
    match action {
        Action::Up => go(app, row.saturating_sub(1)),
        Action::Down => go(app, (row + 1).min(last)),
        Action::PageUp => go(app, row.saturating_sub(page)),
        Action::PageDown => go(app, (row + page).min(last)),
        Action::First => go(app, 0),
        Action::Last => go(app, last),
        Action::Right if branch && app.panes.tree.open.insert(node) => app.panes.tree.rebuild(&index),
        Action::Right if branch => go(app, (row + 1).min(last)),
        Action::Left if branch && app.panes.tree.open.remove(&node) => app.panes.tree.rebuild(&index),
        Action::Left => {
            if let Some(parent) = index.nodes.get(node).and_then(|line| line.parent) {
                app.select_node(parent);
            }
        }
        Action::Toggle if branch => toggle(app, &index, node),
        Action::Enter | Action::Right => look(app, branch),
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

/// Enter: into the pane that says most of what is selected.
fn look(app: &mut App, branch: bool) {
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
    if let Some(&node) = app.panes.tree.lines.get(row) {
        app.select_node(node);
    }
}

/// Keeps the selected line in sight.
fn scroll(app: &mut App) {
    let seen = usize::from(inside(app.layout().tree).height);
    let keep = &mut app.panes.tree;
    let row = keep.row_of(app.selection.node);
    keep.first = follow(keep.first, row, seen, keep.lines.len());
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
        Click::Press => {
            let Some(index) = app.index.clone() else { return };
            let Some(&node) = app.panes.tree.lines.get(app.panes.tree.first + usize::from(y)) else { return };
            let again = app.selection.node == node;
            app.select_node(node);
            let Some(line) = index.nodes.get(node) else { return };
            let branch = line.end - node > 1;
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
    let mut inside = canvas.frame(if folded { &[] } else { &[(Role::Strong, " Save ")] }, focused);
    let Some(index) = &app.index else { return };
    let keep = &app.panes.tree;
    let seen = usize::from(inside.height());
    let row = keep.row_of(app.selection.node);
    // The first line was chosen for a screen that may have had another size.
    let first = follow(keep.first, row, seen, keep.lines.len());
    for (y, &id) in keep.lines.iter().skip(first).take(seen).enumerate() {
        let Some(node) = index.nodes.get(id) else { continue };
        let y = u16::try_from(y).unwrap_or(u16::MAX);
        let tally = app.findings.of_node(id);
        let worst = tally.worst();
        let checked = app.findings.summary.is_some() || worst.is_some();
        let mark = if checked { app.glyphs.level(worst) } else { app.glyphs.unknown };
        let role = if worst.is_none() { Role::Dim } else { level_role(worst) };
        if folded {
            inside.put(0, y, mark, role);
        } else {
            let branch = node.end - id > 1;
            let sign = match (branch, keep.open.contains(&id)) {
                (false, _) => " ",
                (true, true) => app.glyphs.open,
                (true, false) => app.glyphs.closed,
            };
            let indent = u16::from(node.depth.min(6));
            let x = inside.line(indent, y, &[(Role::Dim, sign), (Role::Text, " ")]);
            let count = count(worst, tally.errors, tally.warnings);
            let right = inside.width().saturating_sub(u16::from(keep.lines.len() > seen));
            let end = right.saturating_sub(u16::try_from(count.len()).unwrap_or(0) + 3);
            let name = if matches!(node.kind, NodeKind::Item(_)) { Role::Text } else { Role::Strong };
            inside.put_within(x, y, end.saturating_sub(x), &node.label, name);
            if branch && !keep.open.contains(&id) {
                // What a closed branch holds cannot be seen otherwise.
                let files = format!(" {} files", node.items.len());
                let after = x.saturating_add(u16::try_from(node.label.width()).unwrap_or(u16::MAX));
                if after.saturating_add(u16::try_from(files.len()).unwrap_or(0)) <= end {
                    inside.put(after, y, &files, Role::Dim);
                }
            }
            inside.put_right(right, y, &format!("{mark} {count}"), role);
        }
        if id == app.selection.node
            || (first + usize::from(y) == row && app.selection.node >= id && node.end > app.selection.node)
        {
            inside.cursor_row(y, focused);
        }
    }
    if !folded {
        inside.scrollbar(first, seen, keep.lines.len());
    }
}

/// How many findings of the worst level, when it is one that counts.
fn count(worst: Option<Level>, errors: u32, warnings: u32) -> String {
    match worst {
        Some(Level::Error) => errors.to_string(),
        Some(Level::Warning) => warnings.to_string(),
        _ => String::new(),
    }
}
