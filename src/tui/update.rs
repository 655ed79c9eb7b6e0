//! What events do to the state.

use ratatui::crossterm::event::KeyEventKind;
pub use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::action::Action;
use super::app::{App, Effect, Focus};
use super::jobs::Kind;
use super::keys::Key;
use super::layout::{Size, inside};
use super::pane::Pane;
use super::panes::{self, Click};
use super::popup::{self, Popup};
use super::prompt::{Prompt, Purpose, Typed};
use super::theme::Glyphs;
use super::{check, go};

/// Something that happened outside.
#[derive(Clone, Debug)]
pub enum Event {
    /// A key.
    Key(KeyEvent),
    /// The mouse.
    Mouse(MouseEvent),
    /// Text that was pasted.
    Paste(String),
    /// The terminal has another size.
    Resize(u16, u16),
    /// Files of the save changed.
    Changed,
}

/// Lines that a step of the mouse's wheel moves.
const WHEEL: u16 = 3;

/// Lets an event change the state, and asks for what the screen then needs.
pub fn update(app: &mut App, event: &Event) {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => on_key(app, key),
        Event::Key(_) => {}
        Event::Mouse(mouse) => on_mouse(app, *mouse),
        Event::Paste(text) => {
            if let Some(prompt) = &mut app.prompt {
                prompt.insert(text);
                prompt.error = None;
            }
        }
        Event::Resize(columns, rows) => app.size = Size { columns: *columns, rows: *rows },
        Event::Changed => {
            app.say("The files changed underneath: everything is read again, the place is kept.".into());
            app.open_save();
        }
    }
    settle(app);
}

/// Asks for what the screen needs and does not have. To be called after answers of jobs too.
pub fn settle(app: &mut App) {
    app.want_item();
    go::arrive(app);
    app.want_block();
    panes::want(app);
}

fn on_key(app: &mut App, event: &KeyEvent) {
    if app.prompt.is_some() {
        on_prompt_key(app, event);
        return;
    }
    if let Some(action) = app.settings.keymap.action(Key::of(event)) {
        act(app, action);
    }
}

fn on_prompt_key(app: &mut App, event: &KeyEvent) {
    if let Some(Popup::Commands(chosen)) = &mut app.popup {
        match event.code {
            KeyCode::Up => *chosen = chosen.saturating_sub(1),
            KeyCode::Down => *chosen += 1,
            _ => {}
        }
    }
    let Some(prompt) = &mut app.prompt else { return };
    match prompt.key(event) {
        Typed::Edited => {
            if let Some(Popup::Commands(chosen)) = &mut app.popup {
                *chosen = 0;
            }
        }
        Typed::Nothing => {}
        Typed::GivenUp => {
            app.prompt = None;
            if matches!(app.popup, Some(Popup::Commands(_))) {
                app.popup = None;
            }
        }
        Typed::Done => {
            let done = prompt.clone();
            finish(app, &done);
        }
    }
}

/// Does what a line was typed for; a line that means nothing stays, with what is wrong.
fn finish(app: &mut App, prompt: &Prompt) {
    let result = match prompt.purpose {
        Purpose::GoTo => go::to(app, &prompt.text),
        Purpose::FilterBlocks => panes::blocks::filter(app, &prompt.text),
        Purpose::FilterFindings => {
            panes::findings::filter(app, &prompt.text);
            Ok(())
        }
        Purpose::Export => panes::export(app, &prompt.text),
        Purpose::Command => {
            let chosen = if let Some(Popup::Commands(chosen)) = app.popup { chosen } else { 0 };
            let found = popup::commands(app, &prompt.text);
            let chosen = chosen.min(found.len().saturating_sub(1));
            match found.get(chosen) {
                Some(spec) => {
                    (app.popup, app.prompt) = (None, None);
                    act(app, spec.action);
                    return;
                }
                None => Err("there is no such command here".to_owned()),
            }
        }
    };
    match result {
        Ok(()) => app.prompt = None,
        Err(error) => {
            if let Some(prompt) = &mut app.prompt {
                prompt.error = Some(error);
            }
        }
    }
}

/// Does an action.
pub fn act(app: &mut App, action: Action) {
    app.message = None;
    if on_popup(app, action) {
        return;
    }
    match action {
        Action::Quit => app.effects.push(Effect::Quit),
        Action::Suspend => app.effects.push(Effect::Suspend),
        Action::Redraw => app.effects.push(Effect::Redraw),
        Action::Help => app.popup = Some(Popup::Help(0)),
        Action::Commands => {
            app.popup = Some(Popup::Commands(0));
            app.prompt = Some(Prompt::new(Purpose::Command, ""));
        }
        Action::Explain => match app.selection.finding.and_then(|at| app.findings.list.get(at)) {
            Some(finding) => app.popup = Some(Popup::Explain(finding.code(), 0)),
            None => app.say("Choose a finding first: n goes to the next one.".into()),
        },
        Action::Theme => {
            app.settings.theme = app.settings.theme.next();
            app.say(format!("Theme {}.", app.settings.theme.name()));
        }
        Action::Ascii => {
            app.glyphs = if app.glyphs.ascii { Glyphs::UNICODE } else { Glyphs::ASCII };
        }
        Action::Reload => {
            app.say("Everything is read again.".into());
            app.open_save();
        }
        Action::Check if app.can_check() => check::start(app),
        Action::Check => app.say("A check is running already; ctrl-c stops it.".into()),
        Action::Cancel if app.comparison.running && (app.in_diff() || !app.is_checking()) => {
            super::compare::stop(app);
            app.say("The comparison is stopped; R begins it again.".into());
        }
        Action::Cancel if app.is_checking() && !app.findings.stopped => {
            app.findings.stopped = true;
            check::stop(app);
            app.say("The check is being stopped. Again leaves the program.".into());
        }
        Action::Cancel if panes::repair::is_planning(app) => {
            app.effects.push(Effect::Cancel(Kind::Plan));
            app.say("The preview is being stopped.".into());
        }
        Action::Cancel => app.effects.push(Effect::Quit),
        Action::NextFocus | Action::PreviousFocus => {
            app.focus = if app.focus == Focus::Tree { Focus::Pane } else { Focus::Tree };
        }
        Action::Pane(Pane::Repair) if app.pane == Pane::Findings && app.selection.finding.is_some() => {
            app.remember();
            app.selection.finding.into_iter().for_each(|number| go::to_finding(app, number));
            app.show(Pane::Repair);
        }
        Action::Pane(pane) => app.show(pane),
        Action::NextPane => turn(app, 1),
        Action::PreviousPane => turn(app, Pane::ALL.len() - 1),
        Action::NextFinding => panes::findings::step(app, true),
        Action::PreviousFinding => panes::findings::step(app, false),
        Action::GoTo if app.can_go_to() => app.prompt = Some(Prompt::new(Purpose::GoTo, "")),
        Action::GoTo => app.say("Choose a file in the tree first: there is nothing to go to yet.".into()),
        Action::GoBack => go::back(app),
        Action::GoForward => go::forward(app),
        Action::Filter if app.can_filter() => {
            let (purpose, text) = match app.pane {
                Pane::Findings => (Purpose::FilterFindings, panes::findings::filter_text(app)),
                _ => (Purpose::FilterBlocks, panes::blocks::filter_text(app)),
            };
            app.prompt = Some(Prompt::new(purpose, &text));
        }
        Action::Filter => app.say("Blocks (2) and findings (7) can be filtered.".into()),
        Action::Export if app.can_export() => app.prompt = Some(Prompt::new(Purpose::Export, "")),
        Action::Copy => match panes::copy(app) {
            Some(text) => {
                app.say(format!("Copied: {}", short(&text)));
                app.effects.push(Effect::Copy(text));
            }
            None => app.say("There is nothing to copy here.".into()),
        },
        _ => {
            let done = match app.focus {
                Focus::Tree => panes::tree::act(app, action),
                Focus::Pane => panes::act(app, action),
            };
            if !done && action == Action::Close {
                close(app);
            }
        }
    }
}

/// What is shown of a copied text.
fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let shown: String = line.chars().take(60).collect();
    if shown.len() < text.len() { shown + " ..." } else { shown }
}

/// Esc, where nothing is open: from the pane to the tree.
fn close(app: &mut App) {
    if app.focus == Focus::Pane && app.index.is_some() {
        app.focus = Focus::Tree;
    }
}

fn turn(app: &mut App, by: usize) {
    let works: Vec<Pane> = Pane::ALL.into_iter().filter(|pane| app.has_pane(*pane)).collect();
    let at = works.iter().position(|pane| *pane == app.pane).unwrap_or(0);
    let step = if by == 1 { 1 } else { works.len().saturating_sub(1) };
    if let Some(pane) = works.get((at + step) % works.len().max(1)) {
        app.show(*pane);
    }
}

/// Actions while something lies on top; true when that took them.
fn on_popup(app: &mut App, action: Action) -> bool {
    let page = app.size.rows.saturating_sub(6).max(1);
    let closes = match &mut app.popup {
        None => return false,
        Some(Popup::Commands(_)) => true,
        Some(Popup::Help(line) | Popup::Explain(_, line)) => {
            match action {
                Action::Up => *line = line.saturating_sub(1),
                Action::Down => *line = line.saturating_add(1),
                Action::PageUp => *line = line.saturating_sub(page),
                Action::PageDown => *line = line.saturating_add(page),
                Action::First => *line = 0,
                Action::Quit | Action::Close | Action::Help | Action::Explain | Action::Enter => {
                    app.popup = None;
                }
                // What leads elsewhere does so, and what lies on top goes.
                Action::Suspend | Action::Redraw | Action::Theme | Action::Ascii => return false,
                _ => {
                    app.popup = None;
                    return false;
                }
            }
            false
        }
    };
    if closes {
        (app.popup, app.prompt) = (None, None);
    }
    true
}

fn on_mouse(app: &mut App, mouse: MouseEvent) {
    let at = Position { x: mouse.column, y: mouse.row };
    let click = match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => Click::Press,
        MouseEventKind::ScrollUp => Click::Wheel(true),
        MouseEventKind::ScrollDown => Click::Wheel(false),
        _ => return,
    };
    if app.popup.is_some() {
        match click {
            Click::Press => (app.popup, app.prompt) = (None, None),
            Click::Wheel(up) => (0..WHEEL).for_each(|_| act(app, if up { Action::Up } else { Action::Down })),
        }
        return;
    }
    let layout = app.layout();
    if layout.tree.contains(at) {
        if click == Click::Press {
            app.focus = Focus::Tree;
        }
        with_place(inside(layout.tree), at, |x, y| panes::tree::click(app, click, x, y));
    } else if layout.pane.contains(at) {
        if at.y == layout.pane.y {
            if let Some(pane) = super::draw::tab_at(app, layout.pane, at.x)
                && click == Click::Press
            {
                app.show(pane);
            }
            return;
        }
        if click == Click::Press {
            app.focus = Focus::Pane;
        }
        with_place(inside(layout.pane), at, |x, y| panes::click(app, click, x, y));
    }
}

/// Calls with the place inside an area, when it is there.
fn with_place(area: Rect, at: Position, then: impl FnOnce(u16, u16)) {
    if area.contains(at) {
        then(at.x - area.x, at.y - area.y);
    }
}
