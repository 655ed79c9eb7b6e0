//! What events do to the state.

use ratatui::crossterm::event::KeyEventKind;
pub use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::action::Action;
use super::jobs::JobKind;
use super::keys::Key;
use super::layout::{Size, inside};
use super::pane::Pane;
use super::panes::{self, Click};
use super::popup::{self, Explained, Popup};
use super::prompt::{KeyResult, Prompt, Purpose, remember_line};
use super::theme::Glyphs;
use super::{App, Effect, Focus};
use super::{check, go, verdict};

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
                let (purpose, text) = (prompt.purpose, prompt.text().to_owned());
                apply_while_typed(app, purpose, &text);
            }
        }
        Event::Resize(columns, rows) => app.size = Size::to_draw(*columns, *rows),
        Event::Changed => {
            app.show_message("The files changed on disk; everything is read again and the place is kept.".into());
            app.open_save();
        }
    }
    request_missing(app);
}

/// Requests what the screen needs and does not have. To be called after answers of jobs too.
pub fn request_missing(app: &mut App) {
    app.request_item();
    go::finish_navigation(app);
    app.select_first_block();
    app.request_block();
    panes::request_missing(app);
    verdict::request_missing(app);
}

fn on_key(app: &mut App, event: &KeyEvent) {
    if app.prompt.is_some() {
        on_prompt_key(app, event);
        return;
    }
    if let Some(action) = app.settings.keymap.action(Key::from_event(event)) {
        act(app, action);
    }
}

fn on_prompt_key(app: &mut App, event: &KeyEvent) {
    match &mut app.popup {
        Some(Popup::Commands(chosen)) => match event.code {
            KeyCode::Up => *chosen = chosen.saturating_sub(1),
            KeyCode::Down => *chosen += 1,
            _ => {}
        },
        Some(Popup::Help { line, .. }) => match event.code {
            KeyCode::Up => *line = line.saturating_sub(1),
            KeyCode::Down => *line = line.saturating_add(1),
            _ => {}
        },
        _ => {}
    }
    let Some(prompt) = &mut app.prompt else { return };
    match prompt.handle_key(event, &app.prompt_history) {
        KeyResult::Edited => {
            if let Some(Popup::Commands(chosen)) = &mut app.popup {
                *chosen = 0;
            }
            let (purpose, text) = (prompt.purpose, prompt.text().to_owned());
            apply_while_typed(app, purpose, &text);
        }
        KeyResult::Unused => {}
        KeyResult::Cancelled => {
            let (purpose, before) = (prompt.purpose, prompt.before.clone());
            let selection = prompt.selection_before.take();
            app.prompt = None;
            apply_while_typed(app, purpose, &before);
            // Rows that a filter hides take the cursor, and with it the selection, to one that passes.
            if let Some((_, selection)) = selection.filter(|(generation, _)| *generation == app.generation) {
                app.selection = selection;
                app.panes.follow_selection();
            }
            if matches!(app.popup, Some(Popup::Commands(_))) {
                app.popup = None;
            }
        }
        KeyResult::Submitted => {
            let done = prompt.clone();
            remember_line(&mut app.prompt_history, done.purpose, done.text());
            finish(app, &done);
        }
    }
}

/// Filters apply while they are typed; a term that is not complete yet changes nothing.
fn apply_while_typed(app: &mut App, purpose: Purpose, text: &str) {
    match purpose {
        Purpose::FilterBlocks => {
            let _ = panes::blocks::filter(app, text);
        }
        Purpose::FilterFindings => panes::findings::filter(app, text),
        Purpose::FilterTree => panes::tree::filter(app, text),
        Purpose::SearchHelp => {
            if let Some(Popup::Help { line, search }) = &mut app.popup {
                (*line, *search) = (0, text.to_owned());
            }
        }
        Purpose::GoTo | Purpose::FindBytes | Purpose::Export | Purpose::Command => {}
    }
}

/// Does what a line was typed for; a line that means nothing stays, with what is wrong.
fn finish(app: &mut App, prompt: &Prompt) {
    let result = match prompt.purpose {
        Purpose::GoTo => go::to(app, prompt.text()),
        Purpose::FilterBlocks => panes::blocks::filter(app, prompt.text()),
        Purpose::FindBytes => panes::hex::find(app, prompt.text()),
        Purpose::FilterFindings | Purpose::FilterTree | Purpose::SearchHelp => {
            apply_while_typed(app, prompt.purpose, prompt.text());
            Ok(())
        }
        Purpose::Export => panes::export(app, prompt.text()),
        Purpose::Command => {
            let chosen = if let Some(Popup::Commands(chosen)) = app.popup { chosen } else { 0 };
            let found = popup::commands(app, prompt.text());
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
        Action::Help => app.popup = Some(Popup::Help { line: 0, search: String::new() }),
        Action::Commands => {
            app.popup = Some(Popup::Commands(0));
            app.prompt = Some(Prompt::new(Purpose::Command, ""));
        }
        Action::Explain if panes::findings::is_at_heading(app) => {
            match panes::findings::cause_at_cursor(app).cloned() {
                Some(cause) => app.popup = Some(Popup::Explain(Explained::Cause(cause), 0)),
                None => app.show_message("No cause explains these findings; e on one of them explains it.".into()),
            }
        }
        Action::Explain => match app.selection.finding.and_then(|at| app.findings.list.get(at)) {
            Some(finding) => app.popup = Some(Popup::Explain(Explained::Code(finding.code()), 0)),
            None => app.show_message("No finding is selected; n goes to the next one.".into()),
        },
        Action::Theme => {
            app.settings.theme = app.settings.theme.next();
            app.show_message(format!("Theme {}.", app.settings.theme.name()));
        }
        Action::Ascii => {
            app.glyphs = if app.glyphs.ascii { Glyphs::UNICODE } else { Glyphs::ASCII };
        }
        Action::Reload => {
            app.show_message("Everything is read again.".into());
            app.open_save();
        }
        Action::Check if app.can_check() => check::start(app),
        Action::Check => app.show_message("A check is running already; ctrl-c stops it.".into()),
        Action::Cancel if app.comparison.running && (app.in_diff() || !app.is_checking()) => {
            super::compare::stop(app);
            app.show_message("The comparison is stopped; R begins it again.".into());
        }
        Action::Cancel if app.is_checking() && !app.findings.stopped => {
            app.findings.stopped = true;
            check::stop(app);
            app.show_message("The check is being stopped. Again leaves the program.".into());
        }
        Action::Cancel if panes::repair::is_planning(app) => {
            app.effects.push(Effect::Cancel(JobKind::Plan));
            app.show_message("The preview is being stopped.".into());
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
        Action::GoTo => app.show_message("No file is open yet.".into()),
        Action::GoBack => go::back(app),
        Action::GoForward => go::forward(app),
        Action::Filter if app.can_filter() => {
            let (purpose, text) = match (app.focus, app.pane) {
                (Focus::Tree, _) => (Purpose::FilterTree, app.panes.tree.filter().to_owned()),
                (Focus::Pane, Pane::Findings) => (Purpose::FilterFindings, panes::findings::filter_text(app)),
                (Focus::Pane, Pane::Hex) => (Purpose::FindBytes, panes::hex::pattern(app)),
                (Focus::Pane, _) => (Purpose::FilterBlocks, panes::blocks::filter_text(app)),
            };
            let mut prompt = Prompt::new(purpose, &text);
            if matches!(purpose, Purpose::FilterBlocks | Purpose::FilterFindings) {
                prompt.selection_before = Some((app.generation, app.selection.clone()));
            }
            app.prompt = Some(prompt);
        }
        Action::Filter => app.show_message("The tree, blocks and findings can be filtered, bytes searched.".into()),
        Action::Export if app.can_export() => app.prompt = Some(Prompt::new(Purpose::Export, "")),
        Action::Copy => match panes::copy(app) {
            Some(text) => {
                app.show_message(format!("Copied: {}", short(&text)));
                app.effects.push(Effect::Copy(text));
            }
            None => app.show_message("There is nothing to copy here.".into()),
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

/// Esc where nothing is open on top: one step back, to where the user was before, and from there to the tree.
fn close(app: &mut App) {
    if app.can_go_back() {
        go::back(app);
    } else if app.index.is_some() {
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

/// Actions while a popup is open; true when it handled them.
fn on_popup(app: &mut App, action: Action) -> bool {
    let page = app.size.rows.saturating_sub(6).max(1);
    let closes = match &mut app.popup {
        None => return false,
        Some(Popup::Commands(_)) => true,
        Some(Popup::Help { line: _, search }) if action == Action::Filter => {
            app.prompt = Some(Prompt::new(Purpose::SearchHelp, search));
            false
        }
        Some(Popup::Help { line, search }) if action == Action::Close && !search.is_empty() => {
            (*line, *search) = (0, String::new());
            false
        }
        Some(Popup::Help { line, .. } | Popup::Explain(_, line)) => {
            match action {
                Action::Up => *line = line.saturating_sub(1),
                Action::Down => *line = line.saturating_add(1),
                Action::PageUp => *line = line.saturating_sub(page),
                Action::PageDown => *line = line.saturating_add(page),
                Action::First => *line = 0,
                Action::Last => *line = u16::MAX,
                Action::Quit | Action::Close | Action::Help | Action::Explain | Action::Enter => {
                    app.popup = None;
                }
                // Navigation actions close the popup, then run.
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
    let last = super::overlay::last_line(app);
    if let Some(Popup::Help { line, .. } | Popup::Explain(_, line)) = &mut app.popup {
        *line = last.min(*line);
    }
    true
}

fn on_mouse(app: &mut App, mouse: MouseEvent) {
    let at = Position { x: mouse.column, y: mouse.row };
    let click = match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => Click::Press,
        MouseEventKind::Drag(MouseButton::Left) => {
            if app.popup.is_none() && app.pane == Pane::World {
                with_place(inside(app.layout().pane), at, |x, y| panes::click(app, Click::Drag, x, y));
            }
            return;
        }
        MouseEventKind::ScrollUp => Click::Wheel(true),
        MouseEventKind::ScrollDown => Click::Wheel(false),
        _ => return,
    };
    if app.popup.is_some() {
        match click {
            Click::Press => (app.popup, app.prompt) = (None, None),
            Click::Drag => {}
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
