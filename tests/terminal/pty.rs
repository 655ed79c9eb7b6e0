//! A pseudo-terminal with a program in it, and an emulator of its screen.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};

/// After this, something that has to come counts as not coming: far more than it takes on any machine, however busy.
const LONG: Duration = Duration::from_secs(900);

/// A terminal with a program in it.
pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    reader: Receiver<Vec<u8>>,
    parser: vt100::Parser,
    output: Vec<u8>,
    modes: String,
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn program(arguments: &[&str], environment: &[(&str, &str)]) -> CommandBuilder {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_voxscope"));
    command.args(arguments);
    command.env_remove("NO_COLOR");
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    for (name, value) in environment {
        command.env(name, value);
    }
    command
}

impl Terminal {
    /// Starts the program.
    pub fn start(arguments: &[&str], environment: &[(&str, &str)], columns: u16, rows: u16) -> Self {
        Self::run(program(arguments, environment), size(columns, rows))
    }

    /// Starts the program in a terminal that reports the pixels of its cells.
    #[cfg(feature = "graphics")]
    pub fn with_pixels(
        arguments: &[&str],
        environment: &[(&str, &str)],
        columns: u16,
        rows: u16,
        cell: [u16; 2],
    ) -> Self {
        let pixels = PtySize { pixel_width: columns * cell[0], pixel_height: rows * cell[1], ..size(columns, rows) };
        Self::run(program(arguments, environment), pixels)
    }

    /// Waits until something was written that no screen shows.
    #[cfg(feature = "graphics")]
    pub fn wait_for_output(&mut self, what: &str, bytes: &str) {
        let since = Instant::now();
        while !String::from_utf8_lossy(&self.output).contains(bytes) {
            assert!(since.elapsed() < LONG, "{what}: {bytes:?} was not written:\n{}", self.screen());
            self.read(Duration::from_millis(20));
        }
    }

    /// Starts a shell with job control.
    pub fn shell(columns: u16, rows: u16) -> Self {
        let mut command = CommandBuilder::new("bash");
        command.args(["--norc", "--noprofile", "-i"]);
        command.env("PS1", "$ ");
        command.env("XDG_CONFIG_HOME", "/nonexistent");
        Self::run(command, size(columns, rows))
    }

    /// Starts the program in a terminal that can be closed before it ends.
    pub fn closable(arguments: &[&str], columns: u16, rows: u16) -> Self {
        Self::open(program(arguments, &[]), size(columns, rows)).0
    }

    fn run(command: CommandBuilder, size: PtySize) -> Self {
        let (terminal, slave) = Self::open(command, size);
        // The slave stays open until the end, so that the state of the terminal can still be asked for.
        std::mem::forget(slave);
        terminal
    }

    fn open(mut command: CommandBuilder, size: PtySize) -> (Self, Box<dyn SlavePty + Send>) {
        command.env("TERM", "xterm-256color");
        let pair = native_pty_system().openpty(size).unwrap();
        let modes = modes(&*pair.master);
        let child = pair.slave.spawn_command(command).unwrap();
        let mut from = pair.master.try_clone_reader().unwrap();
        let writer = pair.master.take_writer().unwrap();
        let (sender, reader) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = from.read(&mut buffer) {
                if sender.send(buffer[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        let parser = vt100::Parser::new(size.rows, size.cols, 0);
        (Self { master: pair.master, child, writer, reader, parser, output: Vec::new(), modes }, pair.slave)
    }

    /// Types keys.
    pub fn type_keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    /// Gives the terminal another size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.master.resize(size(columns, rows)).unwrap();
        self.parser.screen_mut().set_size(rows, columns);
        self.read(Duration::from_millis(50));
    }

    /// Gives the terminal another size, which the emulator of its screen does not get: it would take the memory of all cells.
    #[cfg(target_os = "linux")]
    pub fn resize_unseen(&mut self, columns: u16, rows: u16) {
        self.master.resize(size(columns, rows)).unwrap();
        self.read(Duration::from_millis(200));
    }

    /// The most memory that the program took so far, in bytes.
    #[cfg(target_os = "linux")]
    pub fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.process_id().unwrap())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
    }

    /// Types the same keys once a second until the program ends. Whether it ended after so many times.
    pub fn ends_after_keys(&mut self, keys: &str, times: usize) -> bool {
        (0..times).any(|_| {
            self.type_keys(keys);
            let since = Instant::now();
            while since.elapsed() < Duration::from_secs(1) {
                if self.child.try_wait().unwrap().is_some() {
                    return true;
                }
                self.read(Duration::from_millis(20));
            }
            false
        })
    }

    /// Sends the program a signal.
    pub fn signal(&self, name: &str) {
        let pid = self.child.process_id().unwrap();
        let status = std::process::Command::new("kill").args(["-s", name, &pid.to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Closes the terminal, and waits for the program's end; gives its exit code.
    pub fn hang_up(self) -> u32 {
        let Self { master, mut child, writer, reader, .. } = self;
        drop((master, writer, reader));
        child.wait().unwrap().exit_code()
    }

    /// Takes in what is written until nothing comes for a moment.
    fn read(&mut self, moment: Duration) -> bool {
        let mut any = false;
        loop {
            match self.reader.recv_timeout(moment) {
                Ok(bytes) => {
                    any = true;
                    self.parser.process(&bytes);
                    self.output.extend(bytes);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return any,
            }
        }
    }

    /// Waits until the screen is as it has to be.
    pub fn wait(&mut self, what: &str, is: impl Fn(&str) -> bool) {
        let since = Instant::now();
        while !is(&self.screen()) {
            assert!(since.elapsed() < LONG, "{what} did not come:\n{}", self.screen());
            self.read(Duration::from_millis(20));
        }
    }

    /// The characters of the screen.
    pub fn screen(&self) -> String {
        self.parser.screen().contents()
    }

    /// Everything that was written.
    pub fn output(&self) -> Vec<u8> {
        self.output.clone()
    }

    /// Whether the other screen is shown, that of programs that take all of it.
    pub fn is_alternate(&mut self) -> bool {
        self.read(Duration::from_millis(50));
        self.parser.screen().alternate_screen()
    }

    /// Whether no cell has a colour.
    pub fn is_colourless(&self) -> bool {
        let screen = self.parser.screen();
        let (rows, columns) = screen.size();
        (0..rows).all(|y| {
            (0..columns).all(|x| {
                let cell = screen.cell(y, x).unwrap();
                cell.fgcolor() == vt100::Color::Default && cell.bgcolor() == vt100::Color::Default
            })
        })
    }

    /// Waits for the program's end, and gives its exit code.
    pub fn end(&mut self) -> Option<u32> {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(since.elapsed() < LONG, "it did not end:\n{}", self.screen());
            self.read(Duration::from_millis(20));
        };
        self.read(Duration::from_millis(200));
        Some(status.exit_code())
    }

    /// Asserts that the terminal is as it was before the program: its modes, its screen, its cursor.
    pub fn is_as_it_was(&self) {
        let screen = self.parser.screen();
        assert!(!screen.alternate_screen(), "the other screen is still shown");
        assert!(!screen.hide_cursor(), "the cursor is hidden");
        assert!(!screen.bracketed_paste(), "pastes are still marked");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None, "the mouse is still told");
        assert_eq!(modes(&*self.master), self.modes, "the terminal's modes");
    }
}

/// The terminal's modes, in words.
fn modes(master: &(dyn MasterPty + Send)) -> String {
    let modes = master.get_termios().unwrap();
    format!("{:?} {:?} {:?} {:?}", modes.input_flags, modes.output_flags, modes.control_flags, modes.local_flags)
}
