//! Faults on purpose, in debug builds only: what happens after them is tested in a real terminal.

use ratatui::crossterm::event::KeyCode;

use super::App;
use super::jobs::JobKind;
use super::update::Event;

/// The variable that names the key whose press is a fault: `job` or `screen`, then a character.
const VARIABLE: &str = "VOXSCOPE_TEST_FAULT";

/// Panics, or lets a job panic, when the key is pressed that the environment names.
#[expect(clippy::panic, reason = "this is what it is for")]
pub fn on_event(app: &mut App, event: &Event) {
    let Event::Key(key) = event else { return };
    if key.code != KeyCode::F(12) {
        return;
    }
    match std::env::var(VARIABLE).as_deref() {
        Ok("job") => app.job(JobKind::Extra, |_| panic!("on purpose"), App::show_message),
        Ok("screen") => panic!("on purpose"),
        _ => {}
    }
}
