//! The loop: wait until something happens, take in all that has, draw once. Nothing ticks.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::Event as TerminalEvent;

use super::data::Index;
use super::graphics::{Graphics, Protocol};
#[cfg(unix)]
use super::input::EventReader;
use super::jobs::{Jobs, Message};
use super::layout::Size;
use super::query::{self, Answer, Question, Received};
use super::terminal::{Screen, copy, restore};
use super::theme::Theme;
use super::update::{Event, request_missing, update};
use super::watch::{Debounce, FileWatcher};
use super::{App, Effect, Settings};

/// How long events are taken in before what they did is drawn, when they do not end.
const BATCH_TIME: Duration = Duration::from_millis(10);

/// How the explorer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was left.
    Left,
    /// A signal ended it.
    Signal,
}

/// Why the explorer ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The save could not be opened, with a sentence.
    #[error("{0}")]
    Save(String),
    /// The terminal could not be acquired, drawn on or read.
    #[error("the terminal: {0}")]
    Terminal(#[from] io::Error),
}

/// What comes in, from whichever thread.
enum Input {
    Event(Event),
    Job(Message),
    Stop,
    Suspend,
    Changed,
    Lost(io::Error),
    /// The terminal answered a question.
    Answer(Answer),
}

/// Explores a save on the terminal until it is left.
///
/// # Errors
/// When the save cannot be opened, or the terminal cannot be used. The terminal is then as it was.
pub fn run(settings: Settings) -> Result<End, Error> {
    let (sender, receiver) = channel();
    let mut questions = Vec::new();
    if settings.detect_background {
        questions.push(Question::Background);
    }
    if cfg!(feature = "graphics") {
        questions.push(Question::Name);
    }
    // Before the terminal is acquired, so that no signal leaves it as it is then.
    let stop = Arc::new(AtomicBool::new(false));
    signals(&sender, &stop)?;
    let mut screen = Screen::acquire(!settings.no_mouse)?;
    let (columns, rows) = ratatui::crossterm::terminal::size()?;
    let mut app = App::new(settings, Size::to_draw(columns, rows));
    // Before anything is read, so that the user sees what the program waits for.
    screen.draw(&mut app)?;
    let asked = query::ask(&questions)?;
    keys(sender.clone())?;
    Loop {
        app,
        screen,
        jobs: Jobs::default(),
        stop,
        sender,
        watch: None,
        debounce: Debounce::default(),
        watched: (0, 0),
        paths: Vec::new(),
        protocol: None,
    }
    .run(&receiver, asked)
}

struct Loop {
    app: App,
    screen: Screen,
    jobs: Jobs,
    /// Whether a signal ended the program: keys that wait then do not count.
    stop: Arc<AtomicBool>,
    sender: Sender<Input>,
    watch: Option<FileWatcher>,
    debounce: Debounce,
    /// The readings of the saves whose directories are watched.
    watched: (u64, u64),
    paths: Vec<PathBuf>,
    /// How the terminal draws pixels, where it does.
    protocol: Option<Protocol>,
}

impl Loop {
    /// Runs until the end. An answer that the terminal still owes is awaited until `asked`, so that the shell does not get it.
    fn run(mut self, receiver: &Receiver<Input>, asked: Option<Instant>) -> Result<End, Error> {
        let end = self.until_end(receiver);
        while query::is_expected()
            && let Some(left) = asked.and_then(|until| until.checked_duration_since(Instant::now()))
            && receiver.recv_timeout(left).is_ok()
        {}
        end
    }

    fn until_end(&mut self, receiver: &Receiver<Input>) -> Result<End, Error> {
        if let Some(end) = self.effects()? {
            return Ok(end);
        }
        loop {
            let first = match self.debounce.remaining() {
                None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(left) => receiver.recv_timeout(left),
            };
            match first {
                Ok(input) => {
                    if let Some(end) = self.handle(input)? {
                        return Ok(end);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(End::Left),
            }
            let since = Instant::now();
            while since.elapsed() < BATCH_TIME
                && let Ok(input) = receiver.try_recv()
            {
                if let Some(end) = self.handle(input)? {
                    return Ok(end);
                }
            }
            if self.debounce.take_elapsed() {
                update(&mut self.app, &Event::Changed);
            }
            request_missing(&mut self.app);
            if let Some(end) = self.effects()? {
                return Ok(end);
            }
            if let (None, Some(why)) = (&self.app.index, &self.app.failure) {
                return Err(Error::Save(why.clone()));
            }
            self.watch();
            self.screen.draw(&mut self.app)?;
        }
    }

    fn handle(&mut self, input: Input) -> Result<Option<End>, Error> {
        let input = if self.stop.load(Ordering::Relaxed) { Input::Stop } else { input };
        match input {
            Input::Event(event) => {
                #[cfg(debug_assertions)]
                super::fault::on_event(&mut self.app, &event);
                if let Event::Resize(..) = event {
                    self.measure();
                }
                update(&mut self.app, &event);
                // What the event asked for is started before the next one, so that a key that stops a job finds it.
                return self.effects();
            }
            Input::Job(message) => {
                let sender = self.sender.clone();
                self.jobs.receive(message, &mut self.app, &job_sender(sender));
            }
            Input::Stop => {
                self.jobs.cancel_all();
                return Ok(Some(End::Signal));
            }
            Input::Suspend => self.suspend()?,
            Input::Changed => self.debounce.touch(),
            Input::Lost(error) => return Err(error.into()),
            Input::Answer(Answer::Name(name)) => {
                self.protocol = Protocol::of_terminal(&name);
                self.measure();
            }
            Input::Answer(Answer::Light(light)) => {
                // A theme that was chosen since is kept.
                if light == Some(true) && self.app.settings.theme == Theme::default() {
                    self.app.settings.theme = Theme::Light;
                }
            }
        }
        Ok(None)
    }

    /// Does what the state asks of the outside.
    fn effects(&mut self) -> Result<Option<End>, Error> {
        for effect in std::mem::take(&mut self.app.effects) {
            match effect {
                Effect::Job(job) => self.jobs.start(job, &job_sender(self.sender.clone())),
                Effect::Cancel(kind) => self.jobs.cancel(kind),
                Effect::Copy(text) => copy(&text)?,
                Effect::Redraw => {
                    self.app.redraw_pixels();
                    self.screen.force_redraw()?;
                }
                Effect::Suspend => self.suspend()?,
                Effect::Quit => {
                    self.jobs.cancel_all();
                    return Ok(Some(End::Left));
                }
            }
        }
        Ok(None)
    }

    /// Learns how large the cells of a terminal are that draws pixels: they change with the size of its letters.
    fn measure(&mut self) {
        let size =
            self.protocol.and_then(|protocol| Some((protocol, ratatui::crossterm::terminal::window_size().ok()?)));
        self.app.graphics = size
            .and_then(|(protocol, size)| Graphics::new(protocol, [size.columns, size.rows], [size.width, size.height]));
    }

    /// Restores the terminal and stops until the shell resumes the program.
    fn suspend(&mut self) -> Result<(), Error> {
        #[cfg(unix)]
        {
            restore();
            self.app.redraw_pixels();
            signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)?;
            self.screen.reacquire()?;
        }
        #[cfg(not(unix))]
        self.app.show_message("This terminal has no shell to go back to; q leaves.".into());
        Ok(())
    }

    /// Watches the directories of the saves that are open now.
    fn watch(&mut self) {
        let now = (self.app.generation, self.app.comparison.readings);
        let Some(index) = self.app.index.clone().filter(|_| self.watched != now) else { return };
        self.watched = now;
        let other = self.app.comparison.other.clone().and_then(Result::ok);
        let indexes: Vec<&Index> = std::iter::once(&*index).chain(other.as_deref()).collect();
        let paths = directories(&indexes);
        if paths == self.paths && self.watch.is_some() {
            return;
        }
        let sender = self.sender.clone();
        self.watch = FileWatcher::new(&indexes, &paths, move || {
            // After the end nobody listens any more.
            let _ = sender.send(Input::Changed);
        });
        self.paths = paths;
    }
}

/// The directories that the files of saves are in.
fn directories(indexes: &[&Index]) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = Vec::new();
    for index in indexes {
        out.extend(index.paths.iter().filter_map(|path| Some(path.parent()?.to_owned())));
        out.push(index.save.path.clone());
    }
    out.sort_unstable();
    out.dedup();
    out
}

fn job_sender(sender: Sender<Input>) -> impl Fn(Message) + Clone + Send + Sync + 'static {
    move |message| {
        let _ = sender.send(Input::Job(message));
    }
}

/// Reads the events of the terminal.
#[cfg(not(unix))]
struct EventReader;

#[cfg(not(unix))]
impl EventReader {
    fn start() -> io::Result<Self> {
        Ok(Self)
    }

    fn read(&mut self) -> io::Result<Received> {
        ratatui::crossterm::event::read().map(Received::Event)
    }
}

/// Reads keys and the mouse, on a thread of its own.
fn keys(sender: Sender<Input>) -> io::Result<()> {
    let mut events = EventReader::start()?;
    std::thread::spawn(move || {
        loop {
            let event = match events.read() {
                Ok(Received::Event(event)) => event,
                Ok(Received::Answer(kind, text)) => {
                    if let Some(answer) = query::answer(kind, &text)
                        && sender.send(Input::Answer(answer)).is_err()
                    {
                        return;
                    }
                    continue;
                }
                Err(error) => {
                    let _ = sender.send(Input::Lost(error));
                    return;
                }
            };
            let input = match event {
                TerminalEvent::Key(key) => Input::Event(Event::Key(key)),
                TerminalEvent::Mouse(mouse) => Input::Event(Event::Mouse(mouse)),
                TerminalEvent::Paste(text) => Input::Event(Event::Paste(text)),
                TerminalEvent::Resize(columns, rows) => Input::Event(Event::Resize(columns, rows)),
                TerminalEvent::FocusGained | TerminalEvent::FocusLost => continue,
            };
            if sender.send(input).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Listens for signals, on a thread of its own: those that end a program by default, so that the terminal is restored first, and
/// the one about the size of the terminal.
#[cfg(unix)]
fn signals(sender: &Sender<Input>, stop: &Arc<AtomicBool>) -> io::Result<()> {
    use signal_hook::consts::{
        SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGVTALRM, SIGWINCH, SIGXCPU,
    };
    let mut signals = signal_hook::iterator::Signals::new([
        SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGVTALRM, SIGWINCH, SIGXCPU,
    ])?;
    let (sender, stop) = (sender.clone(), Arc::clone(stop));
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let input = match signal {
                SIGTSTP => Input::Suspend,
                SIGWINCH => match ratatui::crossterm::terminal::size() {
                    Ok((columns, rows)) => Input::Event(Event::Resize(columns, rows)),
                    Err(_) => continue,
                },
                _ => {
                    stop.store(true, Ordering::Relaxed);
                    Input::Stop
                }
            };
            if sender.send(input).is_err() {
                return;
            }
        }
    });
    Ok(())
}

#[cfg(not(unix))]
fn signals(_sender: &Sender<Input>, _stop: &Arc<AtomicBool>) -> io::Result<()> {
    Ok(())
}
