//! The explorer: frames without a terminal, and the program in a real one.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use voxscope::demo::{Extent, ForestSpec, Terrain};
use voxscope::tui::pane::Pane;
use voxscope::tui::theme::ColorMode;
use voxscope::tui::{CompareWith, Driver, Settings};

use super::forest::{forest, large, million, two_thousand_regions};
use super::{TURNS, report, time};

pub fn measure() {
    println!();
    first("first frame, 2,000 regions", &forest("regions-2000", &two_thousand_regions()), "voxscope");
    // The picture of the tables.
    first("first picture, 20,480 blocks", &forest("bench", &ForestSpec::bench()), "\u{2580}\u{2580}\u{2580}");
    frames(&forest("million", &million()));
    world_frames(&forest("bench", &ForestSpec::bench()));
    keys_while_refining("163,840 blocks", &forest("large", &large()));
    keys_while_refining("1,048,576 blocks", &forest("million", &million()));
    keys_while_checking(&forest("large", &large()));
    idle_and_memory("163,840 blocks, 0.8 GB, all rows", &forest("large", &large()), 96.0);
    idle_and_memory("1,048,576 blocks, all rows", &forest("million", &million()), 128.0);
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// From the start of the program to a text on the screen.
fn first(what: &str, dir: &Path, text: &str) {
    let best = (0..TURNS).map(|_| {
        let since = Instant::now();
        let terminal = Terminal::start(dir, 120, 40);
        terminal.wait(text);
        // Without the end of the program, which waits for a signal.
        since.elapsed()
    });
    let best = best.min().unwrap();
    report(what, &millis(best), "under 50 ms", best < Duration::from_millis(50));
}

/// A frame of each pane, with the table of all blocks in memory.
fn frames(dir: &Path) {
    let settings = Settings { path: dir.to_owned(), ..Settings::default() };
    let mut driver = Driver::new(settings, 200, 60);
    driver.keys("2");
    let rows = driver.app.rows();
    println!("{:<58} {rows:>22}", "rows in the table");
    assert!(rows > 1_000_000);
    let worst = Duration::from_millis(8);
    for pane in Pane::ALL {
        if !driver.app.has_pane(pane) {
            continue;
        }
        // A file of a quarter of a million blocks and one of them, except where the table of all of them is shown.
        let index = driver.app.index.clone().unwrap();
        let file = if pane == Pane::Blocks { 0 } else { index.node_of(1).unwrap() };
        driver.app.select_node(file);
        driver.run_until_idle();
        driver.app.select_slot(1000);
        driver.run_until_idle();
        driver.keys(&pane.number().to_string());
        let rows = driver.app.rows();
        assert!(pane != Pane::Blocks || rows > 1_000_000, "{rows}");
        let best = (0..TURNS).map(|_| time(|| drop(std::hint::black_box(driver.screen())))).min().unwrap();
        let what = format!("a frame of {} at 200 x 60", pane.title());
        report(&what, &millis(best), "under 8 ms", best < worst);
    }
}

/// Frames of the World pane, painted anew because the picture moves by a few pixels.
fn world_frames(dir: &Path) {
    let settings = Settings { path: dir.to_owned(), colors: ColorMode::True, ..Settings::default() };
    let mut driver = Driver::new(settings, 200, 60);
    let worst = Duration::from_millis(8);
    for look in ["surface", "cut", "height", "health", "coverage", "size"] {
        assert!(driver.text_screen().contains(look), "{}", driver.text_screen());
        // To and fro: after the first turns all tiles are there.
        let frame = (0..TURNS).map(|turn| {
            let key = if turn % 2 == 0 { "shift-right" } else { "shift-left" };
            time(|| {
                driver.keys(key);
                drop(std::hint::black_box(driver.screen()));
            })
        });
        let best = frame.min().unwrap();
        let what = format!("a frame of the look {look}, panned, at 200 x 60");
        report(&what, &millis(best), "under 8 ms", best < worst);
        driver.keys("v");
    }
}

/// Two saves of small blocks that are all different.
fn two() -> [PathBuf; 2] {
    [1, 2].map(|seed| {
        let extent = Extent { from: [0, -12, 0], to: [80, 13, 80] };
        let terrain = Terrain { reach: 1e9, ..Terrain::new(seed) };
        let lods = vec![extent];
        let spec = ForestSpec {
            terrain,
            lods,
            block_size_po2: 2,
            sector_size: 64,
            region_size_po2: 6,
            ..ForestSpec::default()
        };
        forest(&format!("two-{seed}"), &spec)
    })
}

/// Frames of two saves of 160,000 blocks that are all different, and what a change takes in memory.
pub fn difference() {
    println!();
    let [path, other] = two();
    // The most that was ever resident: what the check of one save takes counts for both.
    let peak = || {
        let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
    };
    drop(Driver::new(Settings { path: path.clone(), ..Settings::default() }, 200, 60));
    let before = peak();
    let against = Some(CompareWith { path: other, ..CompareWith::default() });
    let mut driver = Driver::new(Settings { path, against, ..Settings::default() }, 200, 60);
    let changes = driver.app.comparison.difference().map_or(0, |difference| difference.len());
    println!("{:<58} {changes:>22}", "blocks that differ");
    assert!(changes > 150_000);
    let each = peak().saturating_sub(before) / changes as u64;
    report("memory a change, beyond that of one save", &format!("{each} bytes"), "under 512 bytes", each < 512);
    let worst = Duration::from_millis(8);
    for (what, keys) in
        [("the map", ""), ("a layer", "]"), ("the map, along z", "v z"), ("a block in both", "home enter")]
    {
        driver.keys(keys);
        let best = (0..TURNS).map(|_| time(|| drop(std::hint::black_box(driver.screen())))).min().unwrap();
        report(&format!("a frame of {what} at 200 x 60"), &millis(best), "under 8 ms", best < worst);
    }
    driver.keys("esc y");
    let key = (0..TURNS).map(|_| time(|| driver.keys("."))).max().unwrap();
    report("the next change, worst", &millis(key), "under 16 ms", key < 2 * worst);
}

/// The slowest answer to a key that moves the cursor while the picture is refined.
fn keys_while_refining(blocks: &str, dir: &Path) {
    let mut terminal = Terminal::start(dir, 200, 60);
    terminal.wait("refining");
    let mut times = Vec::new();
    for turn in 0..200 {
        // Nearer and farther, so that there is something to refine.
        if turn % 10 == 0 {
            terminal.keys(if turn % 20 == 0 { "++" } else { "--" });
            std::thread::sleep(Duration::from_millis(30));
            terminal.drain();
        }
        let (place, refines) = (terminal.place(), terminal.seen("refining"));
        let since = Instant::now();
        terminal.keys(if turn % 2 == 0 { "l" } else { "h" });
        while terminal.place() == place {
            assert!(terminal.next(), "the cursor did not move");
        }
        if refines {
            times.push(since.elapsed());
        }
    }
    times.sort_unstable();
    let (Some(middle), Some(worst)) = (times.get(times.len() / 2), times.last()) else { return };
    println!("{:<58} {:>22}", format!("answer to a key while refining, {blocks}, middle"), millis(*middle));
    let what = format!("answer to a key while refining, worst of {}", times.len());
    report(&what, &millis(*worst), "under 16 ms", *worst < Duration::from_millis(16));
}

/// The slowest answer to a key while everything is checked.
fn keys_while_checking(dir: &Path) {
    let mut terminal = Terminal::start(dir, 120, 40);
    terminal.wait("checking");
    let mut times = Vec::new();
    let mut checking = true;
    assert!(!terminal.seen("nothing wrong"), "the check was over before a key was pressed");
    while checking && times.len() < 200 {
        let since = Instant::now();
        // The help is a frame with much that is new.
        terminal.keys("?");
        terminal.wait("esc closes");
        times.push(since.elapsed());
        terminal.keys("q");
        while terminal.seen("esc closes") {
            assert!(terminal.next(), "the help did not go");
        }
        checking = !terminal.seen("nothing wrong");
    }
    times.sort_unstable();
    let (Some(middle), Some(worst)) = (times.get(times.len() / 2), times.last()) else { return };
    let what = format!("answer to a key while checking, worst of {} (middle {})", times.len(), millis(*middle));
    report(&what, &millis(*worst), "under 16 ms", *worst < Duration::from_millis(16));
}

fn idle_and_memory(blocks: &str, dir: &Path, most: f64) {
    let mut terminal = Terminal::start(dir, 120, 40);
    terminal.wait("nothing wrong");
    terminal.keys("2");
    std::thread::sleep(Duration::from_secs(5));
    terminal.drain();
    let before = terminal.wake_ups();
    std::thread::sleep(Duration::from_secs(3));
    if let (Some(before), Some(after)) = (before, terminal.wake_ups()) {
        let woken = after.saturating_sub(before);
        report("wake-ups of all threads in three idle seconds", &woken.to_string(), "none", woken == 0);
    }
    if let Some(peak) = terminal.peak() {
        let what = format!("memory of the explorer, {blocks}");
        report(&what, &format!("{peak:.1} MiB"), &format!("under {most:.0} MiB"), peak < most);
    }
}

/// The program in a pseudo-terminal.
struct Terminal {
    _master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    output: Receiver<Vec<u8>>,
    screen: std::cell::RefCell<vt100::Parser>,
}

impl Terminal {
    fn start(dir: &Path, columns: u16, rows: u16) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_voxscope"));
        command.arg(dir);
        command.env("TERM", "xterm-256color");
        command.env("XDG_CONFIG_HOME", "/nonexistent");
        let child = pair.slave.spawn_command(command).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 65536];
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        let writer = pair.master.take_writer().unwrap();
        Self { _master: pair.master, writer, child, output, screen: vt100::Parser::new(rows, columns, 0).into() }
    }

    /// Waits until a text is on the screen.
    fn wait(&self, text: &str) {
        while !self.seen(text) {
            assert!(self.next(), "{text} did not come");
        }
    }

    fn seen(&self, text: &str) -> bool {
        self.screen.borrow().screen().contents().contains(text)
    }

    /// Waits for something to be written.
    fn next(&self) -> bool {
        match self.output.recv_timeout(Duration::from_secs(20)) {
            Ok(bytes) => {
                self.screen.borrow_mut().process(&bytes);
                true
            }
            Err(_) => false,
        }
    }

    /// Takes in what has been written.
    fn drain(&self) {
        while let Ok(bytes) = self.output.try_recv() {
            self.screen.borrow_mut().process(&bytes);
        }
    }

    fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    /// The place in the title of the inspector.
    fn place(&self) -> Option<String> {
        let screen = self.screen.borrow().screen().contents();
        let title = screen.lines().nth(1)?;
        Some(title.get(title.rfind('(')?..)?.to_owned())
    }

    /// How often its threads went to sleep, so that they were woken; `None` where that cannot be asked for.
    fn wake_ups(&self) -> Option<u64> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.process_id()?)).ok()?;
        let of = |task: std::fs::DirEntry| {
            let status = std::fs::read_to_string(task.path().join("status")).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
            line.trim().parse::<u64>().ok()
        };
        Some(tasks.flatten().filter_map(of).sum())
    }

    /// The most memory that it has had, in MiB.
    fn peak(&self) -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.process_id()?)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kib: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib / 1024.0)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
