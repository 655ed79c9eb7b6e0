//! The program with limits that the system enforces, and the most memory that it had.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// After this a run counts as hung: it waits for something that never comes. It is no measure of speed, since the machine may
/// do much else.
const HUNG: Duration = Duration::from_secs(900);

/// What the system lets a run have.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Heap and stacks, in KiB: the stacks of threads count in full, used or not.
    pub data: u64,
    /// Processor time in seconds.
    pub processor: Option<u64>,
}

/// What a run of the program came to.
pub struct Run {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
    /// The most memory that it had, in KiB.
    pub peak: u64,
}

fn reader(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

/// A command that runs the program within limits.
pub fn command(program: &OsStr, arguments: &[impl AsRef<OsStr>], limits: Limits) -> Command {
    let processor = limits.processor.map(|seconds| format!(" && ulimit -t {seconds}")).unwrap_or_default();
    let script = format!("ulimit -d {}{processor} && exec \"$@\"", limits.data);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &script, "sh"]).arg(program).args(arguments).env("RAYON_NUM_THREADS", "4");
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
    command
}

/// Runs it to its end.
pub fn run(mut command: Command) -> Run {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let out = reader(child.stdout.take().unwrap());
    let err = reader(child.stderr.take().unwrap());
    let (status, peak) = wait(&mut child, &command);
    let text = |handle: JoinHandle<Vec<u8>>| String::from_utf8(handle.join().unwrap()).expect("UTF-8");
    Run { status, out: text(out), err: text(err), peak }
}

fn wait(child: &mut Child, command: &Command) -> (ExitStatus, u64) {
    let start = Instant::now();
    let mut peak = 0;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (status, peak);
        }
        peak = peak.max(high_water(child.id()));
        if start.elapsed() > HUNG {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("still running after {HUNG:?}: {command:?}");
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// The most memory that a process has had, in KiB; it is kept by the system, so that looking now and then is enough.
fn high_water(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    // Until it is the program, the memory is that of the test it comes from.
    if !status.starts_with("Name:\tvoxscope") {
        return 0;
    }
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}
