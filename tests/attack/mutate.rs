//! Copies of saves, damaged.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

use crate::random::Random;

/// What a terminal acts on.
const EVIL: &str = "\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}2J\u{85}\r\n\t\u{8}\u{7f}\u{202e}\u{200b}";

/// Copies a directory with all that is in it.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy(&from, &to);
        } else if kind.is_symlink() {
            symlink(fs::read_link(&from).unwrap(), &to).unwrap();
        } else if kind.is_file() {
            fs::copy(&from, &to).unwrap();
            fs::set_permissions(&to, PermissionsExt::from_mode(0o644)).unwrap();
        }
    }
}

/// Regular files and directories below a directory, in order.
fn places(dir: &Path, files: &mut Vec<PathBuf>, dirs: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut entries: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            dirs.push(path.clone());
            places(&path, files, dirs);
        } else if kind.is_file() {
            files.push(path);
        }
    }
}

/// Damages a save in one to three ways; says how.
pub fn mutate(save: &Path, random: &mut Random) -> Vec<String> {
    let count = [1, 1, 1, 2, 3][random.below(5)];
    (0..count).map(|_| once(save, random)).collect()
}

fn once(save: &Path, random: &mut Random) -> String {
    let (mut files, mut dirs) = (Vec::new(), Vec::new());
    places(save, &mut files, &mut dirs);
    let Some(file) = files.get(random.below(files.len())).cloned() else { return "nothing left".to_owned() };
    let short = |path: &Path| path.strip_prefix(save).unwrap().display().to_string();
    let name = short(&file);
    match random.below(10) {
        // A place that is something else, or nothing, or cannot be read.
        0 => {
            let place = match dirs.get(random.below(dirs.len())) {
                Some(dir) if random.below(3) == 0 => dir.clone(),
                _ => file,
            };
            format!("{} {}", short(&place), replace(&place, random))
        }
        1 => {
            let other = files[random.below(files.len())].clone();
            let between = save.join("exchanged");
            fs::rename(&file, &between).unwrap();
            if file != other {
                fs::rename(&other, &file).unwrap();
            }
            fs::rename(&between, &other).unwrap();
            format!("{name} exchanged with {}", short(&other))
        }
        2 => {
            let named = file.file_name().unwrap().to_str().unwrap_or("x").to_owned();
            let ending = ["-journal", "-wal", "-shm", EVIL, ".bak"][random.below(5)];
            let to = file.with_file_name(format!("{named}{ending}"));
            if let Ok(mut bytes) = fs::read(&file) {
                spoil(&mut bytes, random);
                fs::write(to, bytes).unwrap();
            }
            format!("a damaged copy of {name} with {ending:?} behind its name")
        }
        3 => match fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<Json>(&bytes).ok()) {
            Some(mut json) => {
                plant(&mut json, random);
                fs::write(&file, serde_json::to_vec(&json).unwrap()).unwrap();
                format!("{name} with other values")
            }
            None => bytes_of(&file, &name, random),
        },
        _ => bytes_of(&file, &name, random),
    }
}

/// Replaces a file or directory by what is no file of a save; says by what.
fn replace(place: &Path, random: &mut Random) -> &'static str {
    let kind = random.below(8);
    if kind == 7 {
        fs::set_permissions(place, PermissionsExt::from_mode(0o0)).unwrap();
        return "is unreadable";
    }
    let apart = place.parent().unwrap().join("apart");
    if fs::rename(place, &apart).is_err() {
        return "stays";
    }
    match kind {
        0 => symlink(&apart, place).unwrap(),
        1 => symlink(place, place).unwrap(),
        2 => symlink("/dev/zero", place).unwrap(),
        3 => assert!(Command::new("mkfifo").arg(place).status().unwrap().success()),
        4 => fs::create_dir(place).unwrap(),
        5 => socket(place),
        _ => {}
    }
    if kind != 0 {
        let _ = if apart.is_dir() { fs::remove_dir_all(&apart) } else { fs::remove_file(&apart) };
    }
    [
        "is a link",
        "is a link to itself",
        "is a link to a device",
        "is a pipe",
        "is a directory",
        "is a socket",
        "is gone",
    ][kind]
}

/// A socket; the path of one is short, so it is made elsewhere.
fn socket(place: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let short = dir.path().join("s");
    drop(UnixListener::bind(&short).unwrap());
    if fs::rename(&short, place).is_err() {
        drop(UnixListener::bind(place).unwrap());
    }
}

fn bytes_of(file: &Path, name: &str, random: &mut Random) -> String {
    let Ok(mut bytes) = fs::read(file) else { return format!("{name} cannot be changed") };
    let how = spoil(&mut bytes, random);
    fs::write(file, bytes).unwrap();
    format!("{name} {how}")
}

/// Changes bytes, most often near the beginning, where headers and tables are.
fn spoil(bytes: &mut Vec<u8>, random: &mut Random) -> String {
    if bytes.is_empty() {
        return "empty".to_owned();
    }
    let near = [64, 300, bytes.len(), bytes.len()][random.below(4)].min(bytes.len());
    let at = random.below(near);
    let reach = random.below(12);
    let end = (at + 1 + random.below(1 << reach)).min(bytes.len());
    let len = end - at;
    let word = |bytes: &mut Vec<u8>, word: &[u8]| {
        let end = (at + word.len()).min(bytes.len());
        bytes[at..end].copy_from_slice(&word[..end - at]);
    };
    match random.below(12) {
        0 => {
            bytes.truncate(at);
            format!("cut to {at} bytes")
        }
        1 => {
            bytes[at..end].fill(0);
            format!("zero at {at:#x} for {len}")
        }
        2 => {
            bytes[at..end].fill_with(|| random.next() as u8);
            format!("random at {at:#x} for {len}")
        }
        3 | 4 => {
            bytes[at] ^= 1 << random.below(8);
            format!("a bit at {at:#x}")
        }
        5 => {
            bytes.splice(at..at, vec![0x5a; len]);
            format!("{len} bytes put in at {at:#x}")
        }
        6 => {
            bytes.drain(at..end);
            format!("{len} bytes cut out at {at:#x}")
        }
        7 => {
            let copy = bytes[at..end].to_vec();
            let to = random.below(bytes.len() - copy.len() + 1);
            bytes[to..to + copy.len()].copy_from_slice(&copy);
            format!("{len} bytes copied from {at:#x} to {to:#x}")
        }
        8 => {
            word(bytes, &[0xff, 0xff, 0xff, 0x7f]);
            format!("ff ff ff 7f at {at:#x}")
        }
        9 => {
            word(bytes, &[0xff; 8]);
            format!("eight bytes ff at {at:#x}")
        }
        10 => {
            word(bytes, EVIL.as_bytes());
            format!("control characters at {at:#x}")
        }
        _ => {
            bytes.extend(vec![0; 1 << reach]);
            format!("{} zeros behind it", 1 << reach)
        }
    }
}

/// Changes values of a document: control characters in texts, large and negative numbers, missing and further fields.
fn plant(json: &mut Json, random: &mut Random) {
    match json {
        Json::String(text) => text.push_str(EVIL),
        Json::Array(all) => {
            all.iter_mut().for_each(|value| plant(value, random));
            if random.below(4) == 0 {
                all.pop();
            }
        }
        Json::Object(all) => {
            let keys: Vec<String> = all.keys().cloned().collect();
            for key in keys {
                match random.below(6) {
                    0 => drop(all.remove(&key)),
                    1 | 2 => plant(&mut all[&key], random),
                    _ => {}
                }
            }
            all.insert(EVIL.to_owned(), EVIL.into());
        }
        Json::Number(number) => {
            let others: [serde_json::Number; 6] =
                [0.into(), (-1).into(), 255.into(), 65_536.into(), 2_147_483_647.into(), u64::MAX.into()];
            *number = others[random.below(others.len())].clone();
        }
        Json::Bool(_) | Json::Null => *json = EVIL.into(),
    }
}
