//! What a repair brings back, in words: a part of the verdict.

use crate::check::save_arguments::SaveArguments;
use crate::check::sentence::{RepairWords, Sentence, plain};
use crate::check::totals::Totals;
use crate::printable::{are, count, grouped};
use crate::recover::effort::Effort;

/// Rigs of VoxEdit that are named.
const MOST_RIGS: usize = 3;

impl RepairWords {
    /// What the command does, and nothing else.
    pub(super) fn new(save: &SaveArguments, effort: Effort, does: String) -> Self {
        let command = repair(save, effort);
        Self {
            command,
            only_likely: false,
            does,
            doubt: "",
            lost: String::new(),
            unknown: String::new(),
            rest: String::new(),
            advice: String::new(),
            backup: String::new(),
        }
    }
}

/// The command that repairs a save with an effort.
pub(super) fn repair(save: &SaveArguments, effort: Effort) -> String {
    format!("{}{}", save.repair_command(), effort.argument())
}

/// What to do about files of other programs.
pub(super) fn foreign_outlook(totals: &Totals, save: &SaveArguments, effort: Effort) -> String {
    let files = count(totals.foreign, "file");
    let [what, replaced, these] = match totals.foreign {
        1 => [
            "is a rig of VoxEdit in the place of a region file: move it out of the save",
            "it replaced a region file",
            "that",
        ],
        _ => [
            "are rigs of VoxEdit in the place of region files: move them out of the save",
            "they replaced region files",
            "these",
        ],
    };
    let names = match save.rigs() {
        names if names.is_empty() => String::new(),
        names if names.len() > MOST_RIGS => format!(" ({}, …)", names[..MOST_RIGS].join(", ")),
        names => format!(" ({})", names.join(", ")),
    };
    let command = repair(save, effort);
    format!("{files}{names} {what}. If {replaced}, {command} --from-backup OLD takes {these} from a backup.")
}

/// What the repair does with a save of which every block is right as it is.
pub(super) fn files_outlook(totals: &Totals, save: &SaveArguments, effort: Effort) -> Sentence {
    let unknown = unknown_loss(totals);
    let of_files = |does: String, unknown: String| {
        let (rest, advice, backup) = (set_aside(totals), advice(totals), backup(totals));
        Sentence::Repair(RepairWords { unknown, rest, advice, backup, ..RepairWords::new(save, effort, does) })
    };
    let blocks = match totals.source {
        0 if !totals.has_maps && totals.misnamed > 0 && totals.misnamed == totals.set_aside => {
            let blocks = count(totals.misnamed, "block");
            let are = are(totals.misnamed);
            return plain(format!(
                "{blocks} of files with other names {are} whole: nothing is lost. Rename the files to those of their regions."
            ));
        }
        0 if !totals.has_maps && totals.set_aside > 0 => {
            let does = "finds no block whose position is certain".to_owned();
            let words = RepairWords::new(save, effort, does);
            return Sentence::Repair(RepairWords {
                rest: set_aside(totals),
                advice: " Look for a backup of the save.".to_owned(),
                ..words
            });
        }
        0 if !totals.has_maps => {
            return plain("There is no block left that a repair could write. Look for a backup of the save.");
        }
        // Of a map this may be only the parts that are left.
        0 => {
            let files = count(totals.files_changed_for_certain(), "file");
            return of_files(format!("changes {files}"), unknown);
        }
        1 if totals.set_aside > totals.misnamed => " and keeps the block whose position is known".to_owned(),
        n if totals.set_aside > totals.misnamed => {
            format!(" and keeps the {} blocks whose positions are known", grouped(n))
        }
        1 if unknown.is_empty() && totals.files_lost == 0 => " and keeps its block".to_owned(),
        n if unknown.is_empty() && totals.files_lost == 0 => format!(" and keeps all {} blocks", grouped(n)),
        // What a lost page or file held is not known.
        1 => " and keeps the block that can be read".to_owned(),
        n => format!(" and keeps the {} blocks that can be read", grouped(n)),
    };
    let changed = totals.files_changed_for_certain();
    let aside = totals.files_aside.min(changed);
    let does = match (changed - aside, aside) {
        (mended, 0) => format!("mends {}", count(mended, "file")),
        (0, aside) => format!("sets {} aside", count(aside, "file")),
        (mended, aside) => format!("mends {}, sets {aside} aside", count(mended, "file")),
    };
    of_files(does + &blocks, unknown)
}

/// What to do beside the repair, where it brings back little.
fn advice(totals: &Totals) -> String {
    if totals.needs_likely {
        " Without `--level likely` the copy would lack most blocks of the save.".to_owned()
    } else if totals.lacks_most(totals.lost) {
        format!(" Most blocks would be missing: leave the save where it is, and {}.", totals.backup_words())
    } else if totals.saves_lacking > 0 {
        let saves = count(totals.saves_lacking, "save");
        format!(" Of {saves} most blocks would be missing: check and repair each save alone to see which.")
    } else {
        String::new()
    }
}

/// What to say about a backup, with a space before it; empty where there is nothing to say.
fn backup(totals: &Totals) -> String {
    totals.backup_advice().map_or_else(String::new, |advice| format!(" {advice}"))
}

/// What is lost beside whole blocks, or without a number of them.
fn unknown_loss(totals: &Totals) -> String {
    let mut text = String::new();
    if totals.instances_lost > 0 {
        text.push_str(&format!("; the instances of {} are lost", count(totals.instances_lost, "block")));
    }
    if totals.pages_lost > 0 {
        text.push_str(&format!("; how many rows {} held is not known", count(totals.pages_lost, "lost page")));
    }
    if totals.tables_lost > 0 {
        text.push_str(&format!("; how many blocks {} listed is not known", count(totals.tables_lost, "lost table")));
    }
    if totals.files_lost > 0 {
        text.push_str(&format!("; how many blocks {} held is not known", count(totals.files_lost, "lost file")));
    }
    if totals.layers_lost > 0 {
        let are = are(totals.layers_lost);
        text.push_str(&format!("; {} {are} lost", count(totals.layers_lost, "layer")));
    }
    if totals.depths_lost > 0 {
        text.push_str(&format!("; the depths of {} are lost", count(totals.depths_lost, "layer")));
    }
    if totals.values_lost > 0 {
        let are = if totals.values_lost == 1 { "is lost and becomes" } else { "are lost and become" };
        text.push_str(&format!("; {} of voxel maps {are} 0", count(totals.values_lost, "value")));
    }
    text
}

/// Says how many blocks have the same content as one in `lost+found`, as a part of the sentence about these; empty if there are none.
#[must_use]
pub fn identical_words(n: u64) -> String {
    match n {
        0 => String::new(),
        1 => " (1 more with the same content is not kept twice)".to_owned(),
        n => format!(" ({} more with the same content are not kept twice)", grouped(n)),
    }
}

/// What goes to `lost+found`.
fn set_aside(totals: &Totals) -> String {
    let pages = match totals.pages_aside {
        0 => String::new(),
        1 => "; 1 page of unknown content goes to lost+found".to_owned(),
        n => format!("; {} pages of unknown content go to lost+found", grouped(n)),
    };
    blocks_set_aside(totals) + &pages
}

fn blocks_set_aside(totals: &Totals) -> String {
    match totals.set_aside {
        0 => String::new(),
        n if n == totals.set_aside_rewritten => {
            format!("; the old bytes of {} go to lost+found", count(n, "rewritten block"))
        }
        n if n == totals.misnamed => format!(
            "; {} of files with other names {} to lost+found as {} {}, and nothing of {} is lost",
            count(n, "whole block"),
            if n == 1 { "goes" } else { "go" },
            if n == 1 { "it" } else { "they" },
            are(n),
            if n == 1 { "it" } else { "them" },
        ),
        1 => {
            "; 1 block or part of a block goes to lost+found".to_owned() + &identical_words(totals.set_aside_identical)
        }
        n => {
            let identical = identical_words(totals.set_aside_identical);
            format!("; {} blocks or parts of blocks go to lost+found{identical}", grouped(n))
        }
    }
}

/// A clause about blocks that only `--level likely` writes.
const fn only_likely_words(blocks: u64) -> &'static str {
    if blocks == 1 { "whose place or content is only likely" } else { "whose places or contents are only likely" }
}

/// What a repair does with a save that has damaged blocks.
pub(super) fn outlook(totals: &Totals, save: &SaveArguments, effort: Effort) -> Sentence {
    let written = totals.source - totals.lost.min(totals.source);
    if written == 0 && !totals.has_maps {
        let are = are(totals.lost);
        let (lost, aside) = (grouped(totals.lost), set_aside(totals));
        return plain(format!(
            "There is no block left that a repair could write: {lost} {are} lost{aside}. Look for a backup of the save."
        ));
    }
    let in_part = totals.salvaged.saturating_sub(totals.salvaged_likely);
    let has_likely = totals.likely + totals.salvaged_likely > 0;
    let only_likely = has_likely && totals.put_right + totals.older + in_part == 0;
    let with_level = totals.advises_likely();
    let mut parts = Vec::new();
    let mut add = |n: u64, words: String| {
        if n > 0 {
            parts.push(words);
        }
    };
    add(totals.put_right, format!("puts {} right for certain", grouped(totals.put_right)));
    let likely = grouped(totals.likely);
    add(
        totals.likely,
        match totals.put_right {
            0 if only_likely => format!("puts {likely} right"),
            0 if with_level => format!("puts {likely} right {}", only_likely_words(totals.likely)),
            _ if with_level => format!("{likely} more {}", only_likely_words(totals.likely)),
            0 => format!("puts {likely} right with --level likely"),
            _ => format!("{likely} more with --level likely"),
        },
    );
    add(in_part, format!("salvages {} in part", grouped(in_part)));
    let salvaged = grouped(totals.salvaged_likely);
    add(
        totals.salvaged_likely,
        match in_part {
            0 if only_likely => format!("salvages {salvaged} in part"),
            0 if with_level => format!("salvages {salvaged} in part, with what is only likely"),
            _ if with_level => format!("{salvaged} more in part, with what is only likely"),
            0 => format!("salvages {salvaged} in part with --level likely"),
            _ => format!("{salvaged} more in part with --level likely"),
        },
    );
    if parts.is_empty() {
        parts.push(format!("keeps the {} that {} right", grouped(totals.kept), are(totals.kept)));
    }
    let unknown = unknown_loss(totals);
    // Each figure names its level.
    let [with, without] = match (has_likely, with_level) {
        (false, _) => ["", ""],
        (_, true) => ["", "without --level likely"],
        (_, false) => [" with it", "without it"],
    };
    let lost = match totals.lost {
        0 if totals.tables_lost + totals.pages_aside > 0 => "no known block is lost".to_owned(),
        0 if !unknown.is_empty() => "no other block is lost".to_owned(),
        0 if totals.unplaced > 0 => format!("no listed block is lost{with}"),
        0 if totals.salvaged > 0 => "nothing else is lost".to_owned(),
        0 => format!("no block is lost{with}"),
        // The option is not what loses them.
        n if with.is_empty() => format!("{} {} lost", grouped(n), are(n)),
        n => format!("{} {} lost even{with}", grouped(n), are(n)),
    };
    let mut rest = String::new();
    // The totals are those of both levels; the command may be run without one.
    if has_likely && unknown.is_empty() && !(totals.lost == 0 && totals.unplaced + totals.salvaged > 0) {
        let lost = totals.lost_for_certain();
        rest.push_str(&match totals.lost {
            0 => format!(", but {} {} {without}", grouped(lost), are(lost)),
            _ => format!(", and {} {without}", grouped(lost)),
        });
    }
    rest.push_str(&set_aside(totals));
    // The words about files with other names include these files.
    match if totals.misnamed > 0 { 0 } else { totals.files_aside } {
        0 => {}
        1 => rest.push_str("; 1 file goes to lost+found as it is"),
        n => rest.push_str(&format!("; {} files go to lost+found as they are", grouped(n))),
    }
    if totals.set_aside_likely > 0 {
        let all = totals.set_aside + totals.set_aside_likely;
        match totals.set_aside {
            0 if all == 1 => rest.push_str(&format!("; {without} 1 goes to lost+found")),
            0 => rest.push_str(&format!("; {without} {} go to lost+found", grouped(all))),
            _ => rest.push_str(&format!("{with}, and {} {without}", grouped(all))),
        }
    }
    let doubt = match totals.likely {
        1 if only_likely && totals.salvaged_likely == 0 => ", which is only likely",
        n if only_likely && n > 0 && totals.salvaged_likely == 0 => ", which are only likely",
        n if only_likely && n > 0 => ", all of which is only likely",
        _ => "",
    };
    Sentence::Repair(RepairWords {
        only_likely: with_level,
        doubt,
        lost: format!("; {lost}"),
        unknown,
        rest,
        backup: backup(totals),
        advice: advice(totals),
        ..RepairWords::new(save, effort, parts.join(", "))
    })
}
