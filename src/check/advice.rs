//! What to do about a finding, with the paths of the save in the commands.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::check::cause::{is_of, saves_of};
use crate::check::finding::Finding;
use crate::check::verdict::repair_command;
use crate::damage::Code;
use crate::printable::argument;
use crate::save::Save;

/// The command whose destination is that of a repair; the other commands have another one.
const REPAIR: &str = "voxscope repair SAVE --out NEW";

/// What to do about a block that cannot be read and has a file of its own.
const UNREAD_BLOCK_FILE: &str = "Run `voxscope repair SAVE --out NEW`: it moves the file to lost+found as it is, because it copies a block file whole or not at all, and keeps all others. Add `--from-backup OLD` to take the block from a backup.";

/// What to do about a block that can be read and has a file of its own.
const READ_BLOCK_FILE: &str = "The block can be read, and `repair` copies its file as it is. Run `voxscope convert SAVE --out NEW`: it writes the block anew in a forest or a stream.";

/// What to do about a finding, with placeholders. A repair does not change block files, so that the general advice about blocks
/// does not apply to them.
#[must_use]
pub fn advice_about(finding: &Finding) -> &'static str {
    let code = finding.code();
    let is_of_block = finding.file.ends_with(".vxb") && finding.block.is_some() && code.next().contains("repair");
    match code {
        Code::BlockFileHeader | Code::BlockFileName | Code::BlockFileTrailing | Code::RegionFormatUnknown => {
            code.next()
        }
        _ if !is_of_block || code.is_unread() => code.next(),
        _ if code.hides_data() => UNREAD_BLOCK_FILE,
        _ => READ_BLOCK_FILE,
    }
}

/// A text of advice with the path of a save in place of SAVE, and a path beside it in place of NEW, both quoted for a shell.
#[must_use]
pub fn with_paths(text: &str, save: &Path) -> String {
    insert_paths(text, save)
}

/// What to do about a code, with the path of a save in place of SAVE, and a path beside it in place of NEW, both quoted for a
/// shell.
#[must_use]
pub fn next_step(code: Code, save: &Path) -> String {
    insert_paths(code.next(), save)
}

/// Replaces the placeholders of a text in one pass: the path of a save may have the same letters.
fn insert_paths(text: &str, save: &Path) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.char_indices().map(|(at, _)| at).find(|at| placeholder(rest, *at).is_some()) {
        let (before, from) = rest.split_at(at);
        let found = placeholder(rest, at).unwrap_or_default();
        out.push_str(before);
        out.push_str(&match found {
            REPAIR => repair_command(save),
            "SAVE" => argument(save),
            _ => argument(&converted(save)),
        });
        rest = from.strip_prefix(found).unwrap_or_default();
    }
    out + rest
}

/// The placeholder, or the command with two of them, that begins at a byte of a text.
fn placeholder(text: &str, at: usize) -> Option<&'static str> {
    let (before, from) = text.split_at_checked(at)?;
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    if before.ends_with(is_of_word) {
        return None;
    }
    let is_here = |word: &&str| from.strip_prefix(*word).is_some_and(|rest| !rest.starts_with(is_of_word));
    [REPAIR, "SAVE", "NEW"].into_iter().find(is_here)
}

/// Where the result of a conversion may be: beside the save.
fn converted(save: &Path) -> PathBuf {
    let Some(name) = save.file_stem().filter(|_| save.file_name().is_some()) else {
        return Path::new("..").join("converted");
    };
    let name = if save.is_file() { name } else { save.file_name().unwrap_or(name) };
    let mut name = OsString::from(name);
    name.push("-converted");
    save.with_file_name(name)
}

/// Where the files of a part of a forest are below the forest.
fn part_below(part: &Path, forest: &Path) -> Option<PathBuf> {
    let dir = if part.is_dir() { part } else { part.parent()? };
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let below = |(dir, forest): (&Path, &Path)| dir.strip_prefix(forest).ok().map(Path::to_path_buf);
    below((dir, forest)).or_else(|| below((&real(dir)?, &real(forest)?)))
}

/// The saves of a path, for advice about what was found in them.
#[derive(Clone, Debug, Default)]
pub struct Advice {
    root: PathBuf,
    /// Where what was opened is below the root; empty unless it is a part of a forest that is repaired as a whole.
    below: PathBuf,
    /// The saves of a directory that has several, by their printable paths.
    saves: Vec<(String, PathBuf)>,
}

impl Advice {
    /// Those of a save, or of a directory of saves.
    #[must_use]
    pub fn new(save: &Save) -> Self {
        // A name that was made printable leads to no file.
        let path = |name: &String| Some(save.path.join(name)).filter(|path| path.exists());
        let named = saves_of(save).into_iter().map(|name| (path(&name).unwrap_or_else(|| save.path.clone()), name));
        let above = save.forest_above();
        let below = above.as_deref().and_then(|forest| part_below(&save.path, forest)).unwrap_or_default();
        let root = above.unwrap_or_else(|| save.path.clone());
        Self { root, below, saves: named.map(|(path, name)| (name, path)).collect() }
    }

    /// What a repair must be given: what was opened, or the forest that it is a part of.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The printable path of a file below the root.
    #[must_use]
    pub fn below_root(&self, file: &str) -> String {
        let parts = [crate::printable::path(&self.below), file.to_owned()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
    }

    /// What to do about a finding, with the path of the save that it is in.
    #[must_use]
    pub fn next(&self, finding: &Finding) -> String {
        // A save within another one has the longer name, and comes later.
        let of = self.saves.iter().rfind(|(name, _)| is_of(&finding.file, name));
        insert_paths(advice_about(finding), of.map_or(&self.root, |(_, path)| path))
    }

    /// What to do about a code, with the path that was opened.
    #[must_use]
    pub fn next_of(&self, code: Code) -> String {
        next_step(code, &self.root)
    }

    /// A finding with what to do about it.
    #[must_use]
    pub fn about<'f>(&self, finding: &'f Finding) -> Advised<'f> {
        Advised { finding, next: self.next(finding) }
    }
}

/// A finding with what to do about it.
#[derive(Clone, Debug)]
pub struct Advised<'f> {
    /// The finding.
    pub finding: &'f Finding,
    /// What to do.
    pub next: String,
}

/// The form of `--format jsonl`; see OUTPUT.md.
impl serde::Serialize for Advised<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.finding.serialize_with(&self.next, serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_inserted_once_and_quoted() {
        let text = "Run `voxscope repair SAVE --out NEW --level likely`, `voxscope check SAVE`, `voxscope convert SAVE --out NEW`.";
        for (save, expected) in [
            (
                "w",
                "Run `voxscope repair w --out w-repaired --level likely`, `voxscope check w`, `voxscope convert w --out w-converted`.",
            ),
            (
                "MY SAVE",
                "Run `voxscope repair 'MY SAVE' --out 'MY SAVE-repaired' --level likely`, `voxscope check 'MY SAVE'`, `voxscope convert 'MY SAVE' --out 'MY SAVE-converted'`.",
            ),
            (
                "a&b;'c",
                r"Run `voxscope repair 'a&b;'\''c' --out 'a&b;'\''c-repaired' --level likely`, `voxscope check 'a&b;'\''c'`, `voxscope convert 'a&b;'\''c' --out 'a&b;'\''c-converted'`.",
            ),
        ] {
            assert_eq!(insert_paths(text, Path::new(save)), expected);
        }
        assert_eq!(insert_paths("A NEWER SAVED world", Path::new("w")), "A NEWER SAVED world");
    }
}
