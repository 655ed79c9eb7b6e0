//! The terminal: acquired, and restored however the program ends.

use std::io::{self, Stdout, Write, stdout};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;

use base64::Engine;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture};
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute, queue};
use ratatui::layout::{Position, Rect};
use ratatui::{Terminal, TerminalOptions, Viewport};
use unicode_width::UnicodeWidthStr;

use super::App;
use super::draw::draw;
use super::layout::Size;

/// Whether the terminal is acquired, so that it is restored once.
static ACQUIRED: AtomicBool = AtomicBool::new(false);

/// The thread that draws.
static DRAWING_THREAD: OnceLock<ThreadId> = OnceLock::new();

/// Bytes that are put on the clipboard at most: what terminals commonly take.
const MAX_CLIPBOARD_BYTES: usize = 74_000;

/// Standard output, whose errors are ignored once the terminal is restored: a [`Terminal`] that is dropped shows the cursor,
/// and prints to standard error if it cannot, which panics if the terminal is gone.
struct Output(Stdout);

impl Output {
    /// The result of writing; `done` in place of an error if nobody can see it any more.
    fn ignoring<T>(result: io::Result<T>, done: T) -> io::Result<T> {
        if ACQUIRED.load(Ordering::Relaxed) { result } else { result.or(Ok(done)) }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Self::ignoring(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::ignoring(self.0.flush(), ())
    }
}

/// The acquired terminal.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Output>>,
    /// Where the second columns of wide characters were in the last frame.
    wide: Vec<Position>,
    /// Whether the mouse is used.
    mouse: bool,
    /// What is drawn of the terminal.
    size: Size,
}

impl Screen {
    /// Acquires the terminal. A panic restores it before its message is printed.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn acquire(mouse: bool) -> io::Result<Self> {
        // Somebody who has taken it before has set the hook already.
        if DRAWING_THREAD.set(std::thread::current().id()).is_ok() {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                // Panics on other threads are caught and shown on the screen.
                if DRAWING_THREAD.get() == Some(&std::thread::current().id()) || !ACQUIRED.load(Ordering::Relaxed) {
                    restore();
                    before(panic);
                }
            }));
        }
        enter(mouse)?;
        let size = size_to_draw()?;
        Ok(Self { terminal: terminal(size)?, wide: Vec::new(), mouse, size })
    }

    /// Draws the state.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn draw(&mut self, app: &mut App) -> io::Result<()> {
        let size = size_to_draw()?;
        app.size = size;
        if size.columns == 0 || size.rows == 0 {
            return Ok(());
        }
        // Where terminals know it, nothing half drawn is ever seen.
        queue!(stdout(), BeginSynchronizedUpdate)?;
        if size != self.size {
            self.size = size;
            self.force_redraw()?;
        }
        let wide = &mut self.wide;
        self.terminal.draw(|frame| {
            let buffer = frame.buffer_mut();
            draw(app, buffer);
            *wide = redraw_vacated_columns(buffer, wide);
        })?;
        execute!(stdout(), EndSynchronizedUpdate)
    }

    /// Makes the next drawing draw every cell.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn force_redraw(&mut self) -> io::Result<()> {
        // Made new rather than cleared: clearing asks the terminal for its cursor and waits for the answer.
        execute!(stdout(), Clear(ClearType::All))?;
        // A cursor that is shown already is not shown by the drop, which panics if it cannot print its error.
        self.terminal.show_cursor()?;
        self.terminal = terminal(self.size)?;
        Ok(())
    }

    /// Acquires the terminal again after [`restore`].
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn reacquire(&mut self) -> io::Result<()> {
        enter(self.mouse)?;
        self.force_redraw()
    }
}

/// What is drawn of the terminal as it is now.
fn size_to_draw() -> io::Result<Size> {
    let (columns, rows) = ratatui::crossterm::terminal::size()?;
    Ok(Size::to_draw(columns, rows))
}

/// A terminal of which this much is drawn.
fn terminal(size: Size) -> io::Result<Terminal<CrosstermBackend<Output>>> {
    let viewport = Viewport::Fixed(Rect::new(0, 0, size.columns, size.rows));
    Terminal::with_options(CrosstermBackend::new(Output(stdout())), TerminalOptions { viewport })
}

/// Redraws the second column of a wide character that is gone, since not every terminal clears it by itself.
/// Returns the positions of such columns now.
fn redraw_vacated_columns(buffer: &mut Buffer, before: &[Position]) -> Vec<Position> {
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
        restore();
    }
}

fn enter(mouse: bool) -> io::Result<()> {
    enable_raw_mode()?;
    ACQUIRED.store(true, Ordering::Relaxed);
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)?;
    if mouse { execute!(stdout(), EnableMouseCapture) } else { Ok(()) }
}

/// Restores the terminal. Harmless when that was done already.
pub fn restore() {
    if ACQUIRED.swap(false, Ordering::Relaxed) {
        // Where the terminal is gone, the error has no reader.
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
/// The error of the operating system.
pub fn copy(text: &str) -> io::Result<()> {
    let end = (0..=text.len().min(MAX_CLIPBOARD_BYTES)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let text = text.get(..end).unwrap_or_default();
    let encoded = base64::engine::general_purpose::STANDARD.encode(text);
    let mut out = stdout();
    write!(out, "\x1b]52;c;{encoded}\x07")?;
    out.flush()
}
