//! What the commands print on a terminal of saves whose texts have control characters: no character of a save reaches it.

use std::path::Path;

use tempfile::tempdir;
use voxscope::demo;

use crate::common::evil::{EVIL, spoil};
use crate::common::files_below;
use crate::pty::Terminal;

/// The output without what the program itself tells a terminal: colours, and clearing lines for a progress bar.
fn without_own_sequences(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let mut rest = &*text;
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let parameters = after.find(|c: char| !(c.is_ascii_digit() || matches!(c, ';' | '?'))).unwrap_or(after.len());
        let (_, end) = after.split_at(parameters);
        match end.chars().next() {
            // Colour; clear and move within the line; hide and show the cursor.
            Some('m' | 'K' | 'G' | 'A' | 'l' | 'h') => rest = &end[1..],
            _ => {
                plain.push('\u{1b}');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    // A terminal ends lines with both.
    plain.replace("\r\n", "\n").replace('\r', "")
}

fn judge(save: &Path, dir: &Path) {
    let path = save.to_str().unwrap();
    let to = |name: &str| dir.join(format!("{name}{EVIL}")).to_str().unwrap().to_owned();
    for arguments in [
        &["check", path, "--notes", "--all"][..],
        &["info", path],
        &["ls", path],
        &["show", path, "--block=0,0,0"],
        &["repair", path, "--plan"],
        &["repair", path, "--out", &to("copy")],
        &["convert", path, "--out", &to("forest")],
        &["export", path, "--out", &to("arrays")],
        &["diff", path, path],
        &["check", &to("missing")],
    ] {
        let mut terminal = Terminal::start(arguments, &[], 100, 30);
        assert!(terminal.end().is_some(), "{arguments:?}");
        let said = without_own_sequences(&terminal.output());
        let bad = said.chars().find(|c| *c != '\n' && !voxscope::printable::is_plain(*c));
        assert_eq!(bad, None, "{arguments:?}: {said:?}");
    }
}

#[test]
fn control_characters_of_a_save_do_not_reach_the_terminal() {
    for name in ["current", "map-sparse", "pak-room", "meta-extra"] {
        let dir = tempdir().unwrap();
        let save = dir.path().join("save");
        (demo::samples().find(|sample| sample.name == name).unwrap().make)(&save).unwrap();
        files_below(&save).iter().for_each(|path| spoil(path));
        judge(&save, dir.path());
    }
}

/// A column's name reaches the output through the error messages of the database library.
#[cfg(feature = "sqlite")]
#[test]
fn control_characters_of_a_schema_do_not_reach_the_terminal() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("world.sqlite");
    (demo::samples().find(|sample| sample.name == "stream").unwrap().make)(dir.path()).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(&format!(
        "ALTER TABLE blocks ADD COLUMN \"a{EVIL}\" TEXT; CREATE TABLE \"t{EVIL}\" (\"c{EVIL}\"); DELETE FROM meta;"
    ))
    .unwrap();
    drop(db);
    judge(&path, dir.path());
}
