//! What to do about a finding, with the paths of the save in the commands.

use std::path::{Path, PathBuf};

use crate::check::cause::{is_of, saves_of};
use crate::check::causes::OLD_FORMULA;
use crate::check::finding::{BlockAt, Finding};
use crate::check::save_arguments::{SaveArguments, converted_path, copied_path, old_path, repaired_path};
use crate::damage::{Code, Damage, Value};
use crate::printable::argument;
use crate::save::{Save, TOO_DEEP};

/// What to do about a block that cannot be read and has a file of its own.
const UNREAD_BLOCK_FILE: &str = "Run `voxscope repair SAVE --out NEW`: it moves the file to lost+found as it is, because it copies a block file whole or not at all, and keeps all others. Add `--from-backup OLD` to take the block from a backup.";

/// What to do about a block that can be read and has a file of its own.
const READ_BLOCK_FILE: &str = "The block can be read, and `repair` copies its file as it is. Run `voxscope convert SAVE --out NEW`: it writes the block anew in a forest or a stream.";

/// What to do about the name of a region file that was opened alone.
const LONE_REGION: &str = "Rename the file to `r.X.Y.Z.vxr` with the coordinates of its region, in `regions/lodN` of its save: a repair of a single file keeps its name. `voxscope check` of the directory of the save names the region files that are missing.";

/// What to do about the name of a pak region that was opened alone and whose name does not show its region.
const LONE_PAK: &str = "Rename the file to `xX_yY_zZ.region` with the coordinates of its region: its name does not show them, and a repair of a single file keeps such a name.";

/// What to do about the name of a block file that was opened alone.
const LONE_BLOCK: &str = "Name the file by the position of its block with a sign before each number, such as `+0-1+12.vxb`, in `blocks/lodN` of its save: a repair of a single file keeps its name.";

/// What to do where the old formula placed negative blocks, and where the new one did.
const OLD_SLOTS: &str = "Before an engine of today opens the save, run `voxscope repair SAVE --out NEW`: such an engine reads these blocks one slot away, and the copy has them in the slots of the new formula. Every command of voxscope reads them by the old one; `--slots` overrides it.";
const NEW_SLOTS: &str =
    "Nothing to do: engines of today read these blocks by the same formula. `--slots` overrides it.";

/// What to do about a chunk that exceeds a limit.
const CHUNK_OVER_LIMIT: &str = "If the chunk is valid, report the limit as a bug; otherwise copy the file from a backup. A repair copies the chunk as it is, because it cannot be read.";

/// What to do about directories that are not searched.
const DIRECTORIES_TOO_DEEP: &str =
    "If there are saves in deeper directories, run `voxscope check` on these directories.";

/// What to do about a finding, with placeholders. A repair changes neither block files nor the names of single files, so that
/// the general advice does not apply to them.
#[must_use]
pub fn advice_about(finding: &Finding, save: &SaveArguments) -> &'static str {
    name_advice(&finding.damage).filter(|_| save.is_file()).unwrap_or_else(|| general_advice(finding))
}

/// What to do about a finding in any save.
pub(super) fn general_advice(finding: &Finding) -> &'static str {
    let code = finding.code();
    if code == Code::OverLimit && matches!(finding.damage.field, "decompressed chunk" | "stored chunk") {
        return CHUNK_OVER_LIMIT;
    }
    if code == Code::OverLimit && finding.damage.field == TOO_DEEP {
        return DIRECTORIES_TOO_DEEP;
    }
    let is_of_block = finding.file.ends_with(".vxb") && finding.block.is_some() && code.next().contains("repair");
    match code {
        Code::SlotsTold if finding.damage.found == OLD_FORMULA => OLD_SLOTS,
        Code::SlotsTold => NEW_SLOTS,
        Code::BlockFileHeader | Code::BlockFileName | Code::BlockFileTrailing | Code::RegionFormatUnknown => {
            code.next()
        }
        _ if !is_of_block || code.is_unread() => code.next(),
        _ if code.hides_data() => UNREAD_BLOCK_FILE,
        _ => READ_BLOCK_FILE,
    }
}

/// What to do about the name of a file that was opened alone, if that is what the damage is about and a repair keeps it.
const fn name_advice(damage: &Damage) -> Option<&'static str> {
    match (damage.code, damage.found) {
        (Code::NameRegion, _) => Some(LONE_REGION),
        (Code::BlockFileName, _) => Some(LONE_BLOCK),
        // A repair gives the file the name of the region that its own name shows.
        (Code::PakName, Value::Nothing) => Some(LONE_PAK),
        _ => None,
    }
}

/// What to do about the name of a single file, if the game does not look for it and a repair keeps it.
#[must_use]
pub fn lone_name_advice(save: &Save) -> Option<&'static str> {
    let advice = save.faults.iter().find_map(|fault| name_advice(&fault.damage));
    advice.filter(|_| SaveArguments::new(save).is_file())
}

/// What to do about a finding, with the paths of its save and the position of its block.
#[must_use]
pub fn advise(finding: &Finding, save: &SaveArguments) -> String {
    let text = with_paths(advice_about(finding, save), save);
    let block = finding.block.and_then(BlockAt::place);
    with_block(text, block)
}

/// What a text of advice says where the position of the block is not known.
const BLOCK_OF_FINDING: &str = "--block X,Y,Z` with the block of the finding";

/// A text of advice with the LOD and the position of a block, if they are known, in its commands.
pub(super) fn with_block(text: String, block: Option<(u8, [i32; 3])>) -> String {
    let Some((lod, [x, y, z])) = block else { return text };
    let lod = if lod == 0 { String::new() } else { format!(" --lod {lod}") };
    text.replace(BLOCK_OF_FINDING, &format!("--block {x},{y},{z}{lod}`"))
}

/// A text of advice with the path of a save in place of SAVE, a path beside it in place of NEW, and the name that the engine gives
/// a save before it converts it in place of SAVE_old, all quoted for a shell. Commands about the save repeat the options with which
/// it was opened.
#[must_use]
pub fn with_paths(text: &str, save: &SaveArguments) -> String {
    let mut out = String::with_capacity(text.len());
    // A command without a destination of its own is about the last one.
    let mut destination: fn(&Path) -> String = converted_path;
    // Every second part is between backticks.
    for (number, part) in text.split('`').enumerate() {
        let is_command = number % 2 == 1;
        if number > 0 {
            out.push('`');
        }
        if is_command && part.starts_with("voxscope repair SAVE") {
            destination = repaired_path;
        } else if is_command && part.starts_with("voxscope convert SAVE") {
            destination = converted_path;
        } else if is_command && part.starts_with("cp -rL SAVE") {
            destination = copied_path;
        }
        let words = insert_paths(part, save.path(), destination);
        let is_about_save = is_command && part.starts_with("voxscope ") && has_placeholder(part, "SAVE");
        out.push_str(&if is_about_save { save.with_options(words) } else { words });
    }
    out
}

/// What to do about a code, with the path of a save in place of SAVE, and a path beside it in place of NEW, both quoted for a
/// shell.
#[must_use]
pub fn next_step(code: Code, save: &SaveArguments) -> String {
    with_paths(code.next(), save)
}

/// The first sentence of a text of advice that says to do something; if that shows or converts something, also the next one, which
/// says what to do then.
#[must_use]
pub fn first_step(advice: &str, save: &SaveArguments) -> String {
    let mut sentences = advice.split_inclusive(". ").map(str::trim_end);
    let first = sentences.clone().next().unwrap_or_default();
    let step = sentences.find(|sentence| !sentence.starts_with("Nothing ")).unwrap_or(first);
    const NEEDS_MORE: [&str; 5] = ["diff", "show", "info", "ls", "convert"];
    let needs_more = NEEDS_MORE.iter().any(|command| step.contains(&format!("`voxscope {command} ")));
    let then = sentences.next().filter(|then| needs_more && !then.starts_with("Nothing "));
    with_paths(&[Some(step), then].into_iter().flatten().collect::<Vec<_>>().join(" "), save)
}

/// What is left to do where a repair changes nothing, if the first step of a text of advice is one; `None` if it is another one.
#[must_use]
pub fn step_without_repair(advice: &str, save: &SaveArguments) -> Option<String> {
    let is_repair = |sentence: &str| sentence.contains("`voxscope repair SAVE --out NEW`");
    let mut sentences = advice.split_inclusive(". ").filter(|sentence| !sentence.starts_with("Nothing "));
    sentences.next().filter(|first| is_repair(first))?;
    let rest: String = sentences.filter(|sentence| !is_repair(sentence)).collect();
    let rest = if rest.is_empty() { "Look for a backup.".to_owned() } else { with_paths(&rest, save) };
    Some(format!("A repair changes nothing here. {rest}"))
}

/// Replaces the placeholders of a text in one pass: the path of a save may have the same letters.
fn insert_paths(text: &str, save: &Path, destination: fn(&Path) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.char_indices().map(|(at, _)| at).find(|at| placeholder(rest, *at).is_some()) {
        let (before, from) = rest.split_at(at);
        let found = placeholder(rest, at).unwrap_or_default();
        out.push_str(before);
        out.push_str(&match found {
            "SAVE" => argument(save),
            "SAVE_old" => old_path(save),
            _ => destination(save),
        });
        rest = from.strip_prefix(found).unwrap_or_default();
    }
    out + rest
}

fn has_placeholder(text: &str, word: &str) -> bool {
    text.char_indices().any(|(at, _)| placeholder(text, at) == Some(word))
}

/// The placeholder that begins at a byte of a text.
fn placeholder(text: &str, at: usize) -> Option<&'static str> {
    let (before, from) = text.split_at_checked(at)?;
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    if before.ends_with(is_of_word) {
        return None;
    }
    let is_here = |word: &&str| from.strip_prefix(*word).is_some_and(|rest| !rest.starts_with(is_of_word));
    ["SAVE", "SAVE_old", "NEW"].into_iter().find(is_here)
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
    root: SaveArguments,
    /// Where what was opened is below the root; empty unless it is a part of a forest that is repaired as a whole.
    below: PathBuf,
    /// The saves of a directory that has several, by their printable paths.
    saves: Vec<(String, SaveArguments)>,
}

impl Advice {
    /// Those of a save, or of a directory of saves.
    #[must_use]
    pub fn new(save: &Save) -> Self {
        // A name that was made printable leads to no file.
        let path = |name: &String| Some(save.path.join(name)).filter(|path| path.exists());
        let named = saves_of(save).into_iter().map(|name| (path(&name).unwrap_or_else(|| save.path.clone()), name));
        let root = SaveArguments::new(save);
        let is_part = save.forest_above().is_some();
        let below = is_part.then(|| part_below(&save.path, root.path())).flatten().unwrap_or_default();
        let saves = named.map(|(path, name)| (name, root.at(&path))).collect();
        Self { root, below, saves }
    }

    /// What a repair must be given: what was opened, or the forest that it is a part of.
    #[must_use]
    pub const fn root(&self) -> &SaveArguments {
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
        let save = of.map_or(&self.root, |(_, save)| save);
        advise(finding, save)
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

    fn subject(path: &str) -> SaveArguments {
        SaveArguments::of_path(Path::new(path))
    }

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
            assert_eq!(with_paths(text, &subject(save)), expected);
        }
        assert_eq!(with_paths("A NEWER SAVED world", &subject("w")), "A NEWER SAVED world");
    }

    #[test]
    fn a_command_about_the_result_names_where_the_command_before_it_put_it() {
        for (text, expected) in [
            (
                "`voxscope repair SAVE --out NEW`, then `voxscope check NEW`.",
                "`voxscope repair w --out w-repaired`, then `voxscope check w-repaired`.",
            ),
            ("`voxscope repair SAVE --key-rule old --out NEW`", "`voxscope repair w --key-rule old --out w-repaired`"),
            (
                "`voxscope convert SAVE --out NEW.sqlite`; move NEW.sqlite",
                "`voxscope convert w --out w-converted.sqlite`; move w-converted.sqlite",
            ),
            (
                "`voxscope diff SAVE_old SAVE`; `voxscope convert SAVE_old --out NEW`",
                "`voxscope diff w_old w`; `voxscope convert w_old --out w-converted`",
            ),
        ] {
            assert_eq!(with_paths(text, &subject("w")), expected);
        }
    }

    #[test]
    fn a_step_that_changes_nothing_is_left_out() {
        for (text, expected) in [
            (
                "Run `voxscope repair SAVE --out NEW`: it mends. If not, move SAVE.",
                Some("A repair changes nothing here. If not, move w."),
            ),
            (
                "Nothing to do now. Run `voxscope repair SAVE --out NEW`: it mends.",
                Some("A repair changes nothing here. Look for a backup."),
            ),
            ("Run `voxscope repair SAVE --out NEW --from-backup OLD`: it takes the file.", None),
            ("Rename the file.", None),
        ] {
            assert_eq!(step_without_repair(text, &subject("w")).as_deref(), expected);
        }
    }

    #[test]
    fn a_command_about_a_block_has_its_position() {
        let at = |lod, position| BlockAt { lod, position };
        let advise = |block| {
            let damage = Damage::new(Code::InstancesTwice, crate::bytes::Span::default(), "layer");
            let finding = Finding::of_block("r.0.0.0.vxr".into(), block, crate::bytes::Span::default(), damage);
            advise(&finding, &subject("w"))
        };
        for (block, expected) in [
            (at(2, Some([-1, 0, 7])), "Run `voxscope show w --block -1,0,7 --lod 2`: it lists"),
            (at(0, Some([3, 4, 5])), "Run `voxscope show w --block 3,4,5`: it lists"),
            (at(0, None), "Run `voxscope show w --block X,Y,Z` with the block of the finding: it lists"),
        ] {
            assert!(advise(block).starts_with(expected), "{}", advise(block));
        }
    }
}
