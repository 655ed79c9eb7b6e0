//! Says what an input of a target stands for, runs its oracle, and says whether a property failed:
//! `explain TARGET FILE`. With `--name` it gives a name for the input instead, from what failed.

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::Mutex;

use voxscope_fuzz::oracles::find;

/// What the last panic said.
static SAID: Mutex<String> = Mutex::new(String::new());

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let only_name = args.first().is_some_and(|first| first == "--name");
    if only_name {
        args.remove(0);
    }
    let [name, file] = args.as_slice() else {
        eprintln!("usage: explain [--name] TARGET FILE");
        return ExitCode::from(2);
    };
    let (Some(target), Ok(data)) = (find(name), std::fs::read(file)) else {
        eprintln!("there is no target {name} or no file {file}");
        return ExitCode::from(2);
    };
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut said) = SAID.lock() {
            *said = info.to_string();
        }
    }));
    let said = || SAID.lock().map(|said| said.clone()).unwrap_or_default();
    let failed = catch_unwind(|| voxscope_fuzz::fuzz(name, &data)).is_err();
    if only_name {
        println!("{}", slug((target.kind_of)(&data), &said(), &data));
        return ExitCode::SUCCESS;
    }
    println!("{name}: {} bytes", data.len());
    // What the panic cuts short is described as far as it goes.
    match catch_unwind(|| (target.describe)(&data)) {
        Ok(text) => print!("{text}"),
        Err(_) => println!("it cannot be described: {}", said()),
    }
    if failed {
        println!("failed: {}", said());
        return ExitCode::FAILURE;
    }
    println!("every property holds");
    ExitCode::SUCCESS
}

/// A name of a few words: the damage, where there is one, what failed, and a number of its own.
fn slug(kind: Option<&str>, said: &str, data: &[u8]) -> String {
    let message = said.lines().nth(1).unwrap_or("holds");
    let words = message.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 1).take(5);
    let words: Vec<String> = kind.map(str::to_owned).into_iter().chain(words.map(str::to_lowercase)).collect();
    let number = data.iter().fold(0x811c_9dc5_u32, |n, &byte| (n ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{}_{number:08x}", words.join("_"))
}
