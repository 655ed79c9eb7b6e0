//! A block tried in one of the places that it may belong to: the World pane cuts through it and its neighbours there, as the
//! repair would write them.

use crate::picture::planned::Trial;
use crate::picture::{Look, Mark};
use crate::printable::triple;
use crate::recover::decide::{how_likely, is_likely};
use crate::repair::Accepted;
use crate::repair::preview::{PreviewLine, Subject};
use crate::tui::action::Action;
use crate::tui::go;
use crate::tui::pane::{InspectorLines, Pane};
use crate::tui::theme::Role;
use crate::tui::{App, Selection};

/// A block that is tried.
#[derive(Clone, Debug)]
pub(super) struct CandidateState {
    line: PreviewLine,
    /// The number of its region in the plan, and its LOD.
    region: usize,
    lod: u8,
    /// The number of the candidate.
    number: usize,
    /// What was selected before.
    selection: Selection,
}

fn state(app: &App) -> Option<&CandidateState> {
    app.panes.repair.candidate.as_ref()
}

/// Whether a block is tried.
pub(super) fn is_open(app: &App) -> bool {
    state(app).is_some()
}

/// Tries the block of a line in the first of its places; false when there is nothing to try.
pub(super) fn open(app: &mut App, number: usize) -> bool {
    let found = super::preview(app).and_then(|preview| {
        let line = preview.lines.get(number).filter(|line| !line.pieces.is_empty() && !line.candidates.is_empty())?;
        Some((line.region?, line.clone()))
    });
    let Some((region, line)) = found else { return false };
    let lod = super::plan(app).and_then(|plan| plan.regions.get(region)).map_or(0, |region| region.lod);
    let selection = app.selection.clone();
    app.panes.repair.candidate = Some(CandidateState { line, region, lod, number: 0, selection });
    show(app);
    true
}

/// Shows the block in its place.
fn show(app: &mut App) {
    if let Some((lod, position)) = tried(app) {
        go::to_world(app, go::WorldTarget::Block(lod, position, Look::Cut));
    }
}

/// The place in which a block is tried: a LOD and a position.
pub fn tried(app: &App) -> Option<(u8, [i32; 3])> {
    let state = state(app)?;
    Some((state.lod, state.line.candidates.get(state.number)?.0))
}

/// The mark of a block that is tried, by how sure its place is.
pub fn tried_mark(app: &App) -> Option<Mark> {
    let state = state(app)?;
    let (_, p) = state.line.candidates.get(state.number)?;
    Some(match state.line.subject {
        Subject::PutRight => Mark::Placed,
        _ if is_likely(*p) => Mark::Likely,
        _ => Mark::Doubtful,
    })
}

/// The file of the block that is tried.
pub fn tried_file(app: &App) -> Option<String> {
    let region = super::plan(app)?.regions.get(state(app)?.region)?;
    Some(crate::printable::path(&region.name))
}

/// What is tried, for the picture.
pub fn trial(app: &App) -> Option<Trial> {
    let (_, position) = tried(app)?;
    let state = state(app)?;
    Some(Trial { region: state.region, pieces: state.line.pieces.clone(), position })
}

/// Does an action on the World pane while a block is tried there; true when it meant something.
pub fn act_on_trial(app: &mut App, action: Action) -> bool {
    let Some(state) = &mut app.panes.repair.candidate else { return false };
    let last = state.line.candidates.len().saturating_sub(1);
    match action {
        Action::Close => {
            // The picture selected the block at the place that was tried.
            app.selection = state.selection.clone();
            app.panes.repair.candidate = None;
            app.pending_target = None;
            app.show(Pane::Repair);
        }
        Action::PreviousChange | Action::NextChange if last == 0 => {
            app.show_message("This block has one possible place only.".into());
        }
        Action::PreviousChange | Action::NextChange => {
            let next = if action == Action::NextChange { state.number + 1 } else { state.number.saturating_sub(1) };
            state.number = next.min(last);
            show(app);
        }
        Action::Accept => accept(app),
        _ => return false,
    }
    true
}

/// Whether the block that is tried has more than one place.
pub fn has_other_places(app: &App) -> bool {
    state(app).is_some_and(|state| state.line.candidates.len() > 1)
}

/// The block and the candidate that are looked at, as they are given to `repair`.
fn choice(app: &App) -> Option<Accepted> {
    let (lod, file, start) = state(app)?.line.place.clone()?;
    Some(Accepted { position: tried(app)?.1, lod, file, start })
}

/// Whether the block that is looked at can be put in a place by hand.
pub(super) fn can_accept(app: &App) -> bool {
    choice(app).is_some()
}

/// Why the list accepts no place for the block of a line.
pub(super) fn explain_accept(app: &App, number: usize) -> &'static str {
    let line = super::preview(app).and_then(|preview| preview.lines.get(number));
    if line.is_some_and(|line| line.place.is_some() && !line.candidates.is_empty()) {
        "A place is accepted where it is shown: enter tries the block in its likeliest place."
    } else {
        "Nothing to accept in this line: only an unowned block with a likely place can be accepted."
    }
}

/// Accepts the candidate, or takes that back. Nothing is written: the command gets an argument.
fn accept(app: &mut App) {
    let Some(choice) = choice(app) else {
        let is_unowned = state(app).is_some_and(|state| state.line.subject == Subject::Lost);
        let words = match is_unowned {
            true => "Nothing to accept: this block is not whole.",
            false => "Nothing to accept: this block already has a place.",
        };
        app.show_message(words.into());
        return;
    };
    let list = &mut app.panes.repair.accepted;
    let had = list.contains(&choice);
    // A block has one place, and a place one block.
    let other = |a: &Accepted| (a.lod, &a.file, a.start) != (choice.lod, &choice.file, choice.start);
    list.retain(|a| other(a) && (a.lod, a.position) != (choice.lod, choice.position));
    if had {
        app.show_message("Taken back.".into());
    } else {
        let said = format!("Accepted: the command now has --accept {choice}. Y copies it.");
        list.push(choice);
        app.show_message(said);
    }
}

/// What there is to say of the block that is tried.
pub fn trial_words(app: &App) -> InspectorLines {
    let (Some(state), Some((_, position))) = (state(app), tried(app)) else { return Vec::new() };
    let p = state.line.candidates.get(state.number).map_or(0.0, |(_, p)| *p);
    let block = format!("block {}", triple(position));
    let name = crate::printable::capitalize(&state.line.name);
    let head = if state.line.name == block { format!("{name} in its place") } else { format!("{name} as {block}") };
    let mut out = vec![("", head, Role::Strong)];
    let accepted = choice(app).is_some_and(|choice| app.panes.repair.accepted.contains(&choice));
    let word = if accepted { ", accepted" } else { "" };
    out.push(match state.line.subject {
        Subject::PutRight => ("is", "put right for certain".to_owned(), Role::Good),
        _ => ("is", how_likely(p) + word, Role::Warning),
    });
    let count = state.line.candidates.len();
    let keys = if count > 1 {
        format!("{} of {count}: . and , show the others", state.number + 1)
    } else {
        "the only one".into()
    };
    let accepts = if choice(app).is_some() { ", o accepts" } else { "" };
    out.push(("place", format!("{keys}{accepts}, esc goes back"), Role::Dim));
    out
}
