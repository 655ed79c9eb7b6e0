//! The explorer without a terminal: events go in, jobs are done at once, screens come out. For tests, benchmarks and
//! fuzzing.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

use super::draw::draw;
use super::jobs::{self, Answer, Job};
use super::keys::Key;
use super::layout::Size;
use super::update::{Event, request_missing, update};
use super::{App, Effect, Settings};

/// The explorer without a terminal.
pub struct Driver {
    /// The state.
    pub app: App,
    /// What was put on the clipboard last.
    pub copied: Option<String>,
    /// Whether it was left.
    pub left: bool,
}

impl Driver {
    /// Starts the explorer and does all that it asks for.
    #[must_use]
    pub fn new(settings: Settings, columns: u16, rows: u16) -> Self {
        let mut driver = Self { app: App::new(settings, Size::to_draw(columns, rows)), copied: None, left: false };
        driver.run_until_idle();
        driver
    }

    /// Lets an event happen, and does all that is asked for.
    pub fn event(&mut self, event: &Event) {
        update(&mut self.app, event);
        self.run_until_idle();
    }

    /// Presses keys, with spaces between them, as they are written in the configuration. What is no key is left out.
    pub fn keys(&mut self, keys: &str) {
        for key in keys.split_whitespace().filter_map(|key| Key::parse(key).ok()) {
            self.event(&Event::Key(KeyEvent::new(key.code, key.modifiers)));
        }
    }

    /// Types a text into a line, character by character.
    pub fn text(&mut self, text: &str) {
        for c in text.chars() {
            let key = Key::plain(ratatui::crossterm::event::KeyCode::Char(c));
            self.event(&Event::Key(KeyEvent::new(key.code, key.modifiers)));
        }
    }

    /// Does what the mouse does.
    pub fn mouse(&mut self, mouse: MouseEvent) {
        self.event(&Event::Mouse(mouse));
    }

    /// Does what is asked for until nothing is.
    pub fn run_until_idle(&mut self) {
        // What is asked for again and again without an end would be a fault; it ends here all the same.
        for _ in 0..100 {
            request_missing(&mut self.app);
            let effects = std::mem::take(&mut self.app.effects);
            if effects.is_empty() {
                return;
            }
            for effect in effects {
                match effect {
                    Effect::Job(job) => self.run(job),
                    Effect::Copy(text) => self.copied = Some(text),
                    Effect::Quit => self.left = true,
                    Effect::Cancel(_) | Effect::Redraw | Effect::Suspend => {}
                }
            }
        }
    }

    fn run(&mut self, job: Job) {
        let answers: Mutex<Vec<Answer>> = Mutex::new(Vec::new());
        jobs::run(job, &AtomicBool::new(false), &|answer| {
            if let Ok(mut answers) = answers.lock() {
                answers.push(answer);
            }
        });
        for answer in answers.into_inner().unwrap_or_default() {
            answer(&mut self.app);
        }
    }

    /// The screen.
    #[must_use]
    pub fn screen(&self) -> Buffer {
        let Size { columns, rows } = self.app.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        draw(&self.app, &mut buffer);
        buffer
    }

    /// The characters of the screen, a line a row, without spaces at the ends.
    #[must_use]
    pub fn text_screen(&self) -> String {
        let screen = self.screen();
        let mut out = String::new();
        for y in 0..screen.area.height {
            let mut line = String::new();
            for x in 0..screen.area.width {
                line.push_str(screen.cell((x, y)).map_or(" ", |cell| cell.symbol()));
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}
