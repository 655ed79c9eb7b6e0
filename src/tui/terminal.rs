//! The terminal: made ours, and given back as it was, however the program ends.

use std::io::{self, Stdout, Write, stdout};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;

use base64::Engine;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture};
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute, queue};
use ratatui::layout::Position;
use unicode_width::UnicodeWidthStr;

use super::app::App;
use super::draw::draw;
use super::layout::Size;

/// Whether the terminal is ours now, so that it is given back once.
static OURS: AtomicBool = AtomicBool::new(false);

/// The thread that draws.
static DRAWING: OnceLock<ThreadId> = OnceLock::new();

/// Bytes that are put on the clipboard at most: what terminals commonly take.
const CLIPBOARD: usize = 74_000;

/// The terminal while it is ours.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    /// Where the second columns of wide characters were in the last frame.
    wide: Vec<Position>,
}

impl Screen {
    /// Takes the terminal. A panic gives it back before it says anything.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn take() -> io::Result<Self> {
        // Somebody who has taken it before has set the hook already.
        if DRAWING.set(std::thread::current().id()).is_ok() {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                // Panics elsewhere are caught, and told on the screen.
                if DRAWING.get() == Some(&std::thread::current().id()) || !OURS.load(Ordering::Relaxed) {
                    give_back();
                    before(panic);
                }
            }));
        }
        enter()?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        Ok(Self { terminal, wide: Vec::new() })
    }

    /// Draws the state.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn draw(&mut self, app: &mut App) -> io::Result<()> {
        let size = self.terminal.size()?;
        app.size = Size { columns: size.width, rows: size.height };
        if size.width == 0 || size.height == 0 {
            return Ok(());
        }
        // Where terminals know it, nothing half drawn is ever seen.
        queue!(stdout(), BeginSynchronizedUpdate)?;
        let wide = &mut self.wide;
        self.terminal.draw(|frame| {
            let buffer = frame.buffer_mut();
            draw(app, buffer);
            *wide = heal(buffer, wide);
        })?;
        execute!(stdout(), EndSynchronizedUpdate)
    }

    /// Makes the next drawing draw every cell.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn forget(&mut self) -> io::Result<()> {
        // Made anew rather than cleared: clearing asks the terminal where its cursor is and waits for the answer.
        execute!(stdout(), Clear(ClearType::All))?;
        self.terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        Ok(())
    }

    /// Takes the terminal again after [`give_back`].
    ///
    /// # Errors
    /// What the operating system says.
    pub fn retake(&mut self) -> io::Result<()> {
        enter()?;
        self.forget()
    }
}

/// Has the second column of a wide character that has gone drawn anew, since not every terminal clears it by itself.
/// Gives where there are such columns now.
fn heal(buffer: &mut Buffer, before: &[Position]) -> Vec<Position> {
    let mut now = Vec::new();
    for (at, cell) in buffer.content.iter().enumerate() {
        if cell.symbol().len() > 1 && cell.symbol().width() == 2 {
            let (x, y) = buffer.pos_of(at);
            now.push(Position { x: x.saturating_add(1), y });
        }
    }
    for position in before.iter().filter(|position| !now.contains(position)) {
        if let Some(cell) = buffer.cell_mut(*position) {
            cell.set_diff_option(CellDiffOption::AlwaysUpdate);
        }
    }
    now
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    OURS.store(true, Ordering::Relaxed);
    execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste, cursor::Hide)
}

/// Gives the terminal back as it was. Harmless when that was done already.
pub fn give_back() {
    if OURS.swap(false, Ordering::Relaxed) {
        // Where the terminal is gone there is nobody to tell.
        let _ = execute!(
            stdout(),
            EndSynchronizedUpdate,
            DisableBracketedPaste,
            DisableMouseCapture,
            LeaveAlternateScreen,
            cursor::Show
        );
        let _ = disable_raw_mode();
    }
}

/// Puts a text on the clipboard of the terminal, which may be at the other end of a line (OSC 52).
///
/// # Errors
/// What the operating system says.
pub fn copy(text: &str) -> io::Result<()> {
    let end = (0..=text.len().min(CLIPBOARD)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let text = text.get(..end).unwrap_or_default();
    let encoded = base64::engine::general_purpose::STANDARD.encode(text);
    let mut out = stdout();
    write!(out, "\x1b]52;c;{encoded}\x07")?;
    out.flush()
}
