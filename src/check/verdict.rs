//! The end of a check: what happened, what is damaged, and which command to run next.

use std::collections::HashSet;

use crate::check::advice::{first_step, step_without_repair, with_block};
use crate::check::cause::{Cause, CauseKind, NextStep};
use crate::check::outlook::{files_outlook, foreign_outlook, outlook, repair};
use crate::check::save_arguments::SaveArguments;
use crate::check::sentence::{Figures, RepairWords, Sentence, plain};
use crate::check::totals::Totals;
use crate::printable::{argument, count, grouped, its};
use crate::recover::effort::Effort;

/// Causes that are named for a directory of several saves, behind the first one.
const MOST_SAVES: usize = 15;

/// The sentences at the end of a check: each cause, what distinguishes similar ones, and with `totals` what is damaged and
/// what the repair brings back; `step` is said where nothing else says what to do. Empty when there is nothing to say.
#[must_use]
pub fn sentences(
    causes: &[Cause],
    totals: Option<&Totals>,
    step: Option<&NextStep>,
    save: &SaveArguments,
    effort: Effort,
) -> Vec<Sentence> {
    if let [cause] = causes
        && cause.save.is_none()
        && is_misfit(cause)
    {
        return misfit_sentences(cause, save).into();
    }
    let mut lines = Vec::new();
    let is_in_use = |cause: &Cause| cause.kind == CauseKind::InUse || cause.alternatives.contains(&CauseKind::InUse);
    if causes.iter().any(is_in_use) {
        lines.push(plain(
            "Close the game and every editor that has the save open, copy the save with all of its files, and check the copy.",
        ));
    }
    let damaged = totals.filter(|totals| totals.source > totals.kept);
    // Where nothing else happened, the old formula explains each block that is elsewhere.
    let elsewhere = match causes {
        [Cause { kind: CauseKind::OldFormula, .. }] => [
            "is in its slot of the old formula",
            "are in their slots of the old formula",
            "in slots of the old formula",
        ],
        _ => ["is in the wrong place", "are in the wrong place", "in the wrong place"],
    };
    let mut figures = damaged.map(|totals| figures(totals, elsewhere));
    // The figures follow the cause that did the damage; where several did, they follow all of them.
    let concerned: Vec<usize> = (0..).zip(causes).filter(|(_, cause)| cause.blocks > 0).map(|(n, _)| n).collect();
    let of_figures = match (&concerned[..], causes) {
        ([one], _) => Some(*one),
        (_, [_]) => Some(0),
        _ => None,
    };
    let has_saves = causes.first().is_some_and(|first| first.save.is_some());
    let shown = if has_saves { MOST_SAVES.saturating_add(1) } else { usize::MAX };
    let mut told: HashSet<String> = HashSet::new();
    for (n, cause) in causes.iter().enumerate().take(shown) {
        let figures = figures.take_if(|_| of_figures == Some(n) && cause.save.is_none());
        let is_plain = cause.alternatives.is_empty() && cause.blocks > 0;
        match figures {
            _ if is_misfit(cause) => lines.extend(misfit_sentences(cause, save)),
            Some(figures) if is_plain => lines.push(Sentence::Cause(cause.sentence(), Some(figures))),
            // Two sentences are easier to read than a long one.
            Some(figures) => {
                lines.extend([Sentence::Cause(cause.sentence(), None), Sentence::Figures(figures)]);
            }
            None => lines.push(Sentence::Cause(cause.sentence_with_save(), None)),
        }
        let text = cause.tell_apart().filter(|text| told.insert(text.clone()));
        lines.extend(text.map(|text| Sentence::TellApart(format!("{text}."))));
    }
    if causes.len() > shown {
        let more = count((causes.len() - shown) as u64, "more cause");
        lines.push(plain(format!(
            "And {more}: `--format jsonl` lists all causes. To see those of one save, check that save alone."
        )));
    }
    lines.extend(figures.map(|figures| match causes {
        [] => Sentence::Cause("The findings do not show what happened".to_owned(), Some(figures)),
        _ => Sentence::Figures(figures),
    }));
    let unreadable = totals.map_or(0, |totals| totals.unreadable);
    if unreadable > 0 {
        let [parts, it] = match unreadable {
            1 => ["1 file or directory of the save cannot be read".to_owned(), "it".to_owned()],
            n => [format!("{} files or directories of the save cannot be read", grouped(n)), "them".to_owned()],
        };
        lines.push(plain(format!(
            "{parts}: make {it} readable and check again. A repair writes nothing before, so that it replaces nothing that it could not read."
        )));
        return lines;
    }
    if totals.is_none() && causes.iter().any(is_misfit) {
        lines.push(plain(
            "A repair of all saves writes nothing before that. Check and repair the other saves one by one.",
        ));
        return lines;
    }
    let without_step = lines.len();
    let incomplete = causes.iter().filter(|cause| cause.kind == CauseKind::CopyIncomplete);
    let of = |cause: &Cause| cause.save.as_ref().map_or_else(String::new, |save| format!("{save}: "));
    for cause in incomplete {
        if cause.alternatives.contains(&CauseKind::NewWorld) {
            let from = "copy the region files from the original, then check again";
            lines.push(plain(format!("{}If the game has saved blocks, {from}.", of(cause))));
            continue;
        }
        let again = "Copy the missing files from the original, then check again";
        lines.push(plain(format!("{}Missing: {}. {again}.", of(cause), cause.evidence.join("; "))));
        // Where a repair has nothing else to do, its command is not said below.
        let takes = |totals: &Totals| {
            !totals.refuses_backup && totals.source == totals.kept && totals.files_changed_for_certain() == 0
        };
        if cause.save.is_none() && totals.is_some_and(takes) {
            let command = repair(save, effort);
            lines.push(plain(format!("From a backup, {command} --from-backup OLD takes them.")));
        }
    }
    lines.extend(damaged.map(|totals| outlook(totals, save, effort)));
    let unknown = totals.map_or(0, |totals| totals.unknown_layout);
    if unknown > 0 {
        let (files, have) = (count(unknown, "file"), if unknown == 1 { "has" } else { "have" });
        lines.push(plain(format!(
            "{files} {have} blocks whose layout is not known. Give it to every command: `--block-size N --region-size N --sector-size N --depths BITS`."
        )));
    }
    let unread = totals.filter(|totals| totals.files_changed_for_certain() == 0 && totals.source == totals.kept);
    let unread = unread.map_or(0, |totals| totals.layers_lost);
    if unread > 0 {
        let (layers, its) = (count(unread, "layer"), its(unread));
        lines.push(plain(format!(
            "{layers} cannot be read, and a repair does not change that. Look for a backup of {its} files."
        )));
    }
    let mended = totals.filter(|totals| damaged.is_none() && totals.files_changed_for_certain() > 0);
    lines.extend(mended.map(|totals| files_outlook(totals, save, effort)));
    let whole = totals.filter(|totals| damaged.is_none() && totals.files_changed_for_certain() == 0);
    lines.extend(whole.filter(|totals| totals.files_likely > 0).map(|totals| {
        let (files, its) = (count(totals.files_likely, "file"), its(totals.files_likely));
        Sentence::Repair(RepairWords {
            only_likely: true,
            ..RepairWords::new(save, effort, format!("mends {files}; {its} content is only likely then"))
        })
    }));
    let is_unchanged = whole.is_some_and(|totals| totals.files_likely == 0);
    // If only blocks behind the last listed one suggest damage, no command changes the save.
    let is_behind = |cause: &Cause| cause.alternatives.contains(&CauseKind::OldStates);
    if is_unchanged && causes.iter().any(is_behind) {
        lines.push(plain(
            "Every block is where the table has it, so a repair changes nothing. If the game was killed, the last changes before that are lost: look for a backup.",
        ));
    }
    // What each finding says of lost+found is true of its block alone.
    if causes.first().is_some_and(|first| first.kind == CauseKind::Migration)
        && mended.is_some_and(|totals| totals.set_aside == 0)
    {
        lines.push(plain(
            "The findings about blocks are those of the unfinished file. The repair reads it as it was before its bytes were moved, so no block goes to lost+found.",
        ));
    }
    lines.extend(totals.filter(|totals| totals.foreign > 0).map(|totals| plain(foreign_outlook(totals, save, effort))));
    // A verdict ends with something to do, also where a repair mends nothing.
    if lines.len() == without_step {
        let of_cause = |cause: &Cause| {
            let step = NextStep { advice: cause.step?.next(), save: cause.save.clone(), block: None };
            Some(say_step(&step, save, is_unchanged))
        };
        let of_causes = causes.iter().take(shown).filter_map(of_cause);
        lines.extend(of_causes.filter(|step| told.insert(step.clone())).map(plain));
    }
    if lines.len() == without_step && !causes.iter().any(is_in_use) {
        lines.extend(step.map(|step| plain(say_step(step, save, is_unchanged))));
    }
    lines
}

/// Whether the findings of a save come from a layout that it does not have.
const fn is_misfit(cause: &Cause) -> bool {
    matches!(cause.kind, CauseKind::MetaMisfit | CauseKind::OptionMisfit)
}

/// What shows that a save is read by a layout that it does not have, and what to do about it.
fn misfit_sentences(cause: &Cause, save: &SaveArguments) -> [Sentence; 2] {
    let next = match cause.kind {
        CauseKind::MetaMisfit => {
            "The findings say nothing about the blocks. Restore the meta file from a backup, or give these options to every command."
                .to_owned()
        }
        _ => format!(
            "The findings say nothing about the save. Run `voxscope check {}` without the option, or with the value of the save.",
            argument(save.path())
        ),
    };
    let evidence = cause.evidence.join("; ");
    [
        Sentence::Cause(cause.sentence_with_save(), Some(Figures { full: evidence.clone(), short: evidence })),
        plain(next),
    ]
}

/// The advice of a step, with the paths of the save, or of the one below it, and the position of the block. A repair that changes
/// nothing is no step.
fn say_step(step: &NextStep, save: &SaveArguments, is_unchanged: bool) -> String {
    let below = step.save.as_ref().map(|below| save.at(&save.path().join(below)));
    let save = below.as_ref().unwrap_or(save);
    let other = if is_unchanged { step_without_repair(step.advice, save) } else { None };
    with_block(other.unwrap_or_else(|| first_step(step.advice, save)), step.block)
}

/// The same sentences as text.
#[must_use]
pub fn verdict(
    causes: &[Cause],
    totals: Option<&Totals>,
    step: Option<&NextStep>,
    save: &SaveArguments,
    effort: Effort,
) -> Vec<String> {
    sentences(causes, totals, step, save, effort).iter().map(ToString::to_string).collect()
}

/// How many blocks there are, right and damaged; `elsewhere` says of one block, of several, and in short that they are not where the
/// table has them.
fn figures(totals: &Totals, elsewhere: [&str; 3]) -> Figures {
    let right = match totals.kept {
        0 => "none is right as it is".to_owned(),
        1 => "1 is right as it is".to_owned(),
        n => format!("{} are right as they are", grouped(n)),
    };
    let (mut parts, mut short) = (vec![right], vec![format!("{} right", grouped(totals.kept))]);
    let misplaced = totals.misplaced().saturating_sub(totals.wrong_records);
    let unowned = totals.unowned.min(misplaced);
    let in_doubt = totals.in_doubt.min(misplaced - unowned);
    for (n, [one, several, few_words]) in [
        (misplaced - unowned - in_doubt, elsewhere),
        (in_doubt, ["may be in the wrong place", "may be in the wrong place", "in doubt"]),
        (unowned, ["is unowned", "are unowned", "unowned"]),
        (totals.wrong_records, ["has a wrong record", "have wrong records", "with wrong records"]),
        (
            totals.odd.saturating_sub(totals.odd_rows),
            ["is against the format", "are against the format", "against the format"],
        ),
        (totals.odd_rows, ["has to be written anew", "have to be written anew", "to be written anew"]),
        (totals.torn.saturating_sub(totals.damaged), ["is torn", "are torn", "torn"]),
        (totals.beyond_end + totals.not_found, ["is not in its file", "are not in their files", "not in their files"]),
        (totals.damaged, ["is damaged", "are damaged", "damaged"]),
    ] {
        if n > 0 {
            parts.push(format!("{} {}", grouped(n), if n == 1 { one } else { several }));
            let few_words = if n == 1 { few_words.replace("their files", "its file") } else { few_words.to_owned() };
            short.push(format!("{} {few_words}", grouped(n)));
        }
    }
    let text = match parts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => parts.concat(),
    };
    let blocks = count(totals.source, "block");
    Figures { full: format!("of {blocks} {text}"), short: format!("{blocks}: {}", short.join(", ")) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::damage::Code;

    fn save(path: &str) -> SaveArguments {
        SaveArguments::of_path(Path::new(path))
    }

    /// A verdict on a save in which no finding has a step of its own.
    fn verdict(causes: &[Cause], totals: Option<&Totals>, save: &SaveArguments, effort: Effort) -> Vec<String> {
        super::verdict(causes, totals, None, save, effort)
    }

    #[test]
    fn the_step_of_a_finding_is_said_where_nothing_else_says_what_to_do() {
        let advice = Code::InstancesTwice.next();
        let step = NextStep { advice, save: Some("b".to_owned()), block: Some((2, [-1, 0, 7])) };
        let say = |causes: &[Cause], totals: Option<&Totals>| {
            super::verdict(causes, totals, Some(&step), &save("saves"), Effort::NORMAL)
        };
        let kept = Totals { source: 3, kept: 3, ..Totals::default() };
        let expected = "Run `voxscope show saves/b --block -1,0,7 --lod 2`: it lists both layers.";
        assert_eq!(say(&[], Some(&kept)), [expected]);
        let damaged = Totals { kept: 1, lost: 2, ..kept };
        assert!(
            say(&[], Some(&damaged)).iter().all(|line| !line.contains("voxscope show")),
            "{:?}",
            say(&[], Some(&damaged))
        );
        let open = Cause::new(CauseKind::InUse, 0, vec!["1 file".to_owned()], &[]);
        assert!(say(&[open], None).iter().all(|line| !line.contains("show")));
    }

    const KILLED: Totals = Totals {
        source: 75,
        kept: 28,
        put_right: 43,
        likely: 3,
        older: 0,
        added: 0,
        salvaged: 0,
        lost: 1,
        set_aside: 2,
        set_aside_identical: 0,
        torn: 3,
        odd: 0,
        files_changed: 4,
        files_lost: 0,
        files_aside: 0,
        set_aside_rewritten: 0,
        beyond_end: 0,
        not_found: 0,
        layers_lost: 0,
        depths_lost: 0,
        values_lost: 0,
        foreign: 0,
        instances_lost: 0,
        pages_lost: 0,
        pages_aside: 0,
        damaged: 0,
        odd_rows: 0,
        unowned: 0,
        in_doubt: 0,
        wrong_records: 0,
        misnamed: 0,
        unplaced: 0,
        saves_lacking: 0,
        has_maps: false,
        unknown_layout: 0,
        salvaged_likely: 0,
        files_likely: 0,
        tables_lost: 0,
        unreadable: 0,
        has_backup: false,
        lost_chunks: 0,
        set_aside_likely: 3,
        is_backup_strange: false,
        needs_likely: false,
        refuses_backup: false,
    };

    #[test]
    fn a_misfit_of_one_of_several_saves_stops_the_repair_of_all() {
        let of = |kind, save: &str| Cause {
            save: Some(save.to_owned()),
            ..Cause::new(kind, 0, vec!["why".to_owned()], &[])
        };
        let advice = Code::BlockPrefix.next();
        let step = NextStep { advice, save: Some("a".to_owned()), block: None };
        let causes = [of(CauseKind::MetaMisfit, "a"), of(CauseKind::Killed, "b")];
        assert_eq!(
            super::verdict(&causes, None, Some(&step), &save("saves"), Effort::NORMAL),
            [
                "a: The meta file describes another layout than the files have: why.",
                "The findings say nothing about the blocks. Restore the meta file from a backup, or give these options to every command.",
                "b: The game was killed while it saved.",
                "A repair of all saves writes nothing before that. Check and repair the other saves one by one.",
            ]
        );
    }

    #[test]
    fn a_killed_game_has_its_figures_and_its_command() {
        let cause = Cause::new(CauseKind::Killed, 47, vec!["44 blocks".to_owned()], &[]);
        assert_eq!(
            verdict(&[cause], Some(&KILLED), &save("t6"), Effort::NORMAL),
            [
                "The game was killed while it saved: of 75 blocks 28 are right as they are, 44 are in the wrong place and 3 are torn.",
                "voxscope repair t6 --out t6-repaired puts 43 right for certain, 3 more with --level likely; 1 is lost even with it, and 4 without it; 2 blocks or parts of blocks go to lost+found with it, and 5 without it. If there is a backup, `--from-backup OLD` can fill positions that lack their block.",
            ]
        );
    }

    #[test]
    fn the_command_has_the_level_that_keeps_most_blocks() {
        let totals = Totals { put_right: 20, likely: 26, kept: 10, lost: 19, needs_likely: true, ..KILLED };
        assert_eq!(
            verdict(&[], Some(&totals), &save("t6"), Effort::NORMAL).last().unwrap(),
            "voxscope repair t6 --out t6-repaired --level likely puts 20 right for certain, 26 more whose places or contents are only likely; \
             19 are lost, and 45 without --level likely; 2 blocks or parts of blocks go to lost+found, and 5 without --level likely. Without \
             `--level likely` the copy would lack most blocks of the save. If there is a backup, `--from-backup OLD` can fill positions that \
             lack their block.",
        );
        let chunks = Totals { source: 3, lost: 2, kept: 1, refuses_backup: true, ..Totals::default() };
        let said = verdict(&[], Some(&chunks), &save("room"), Effort::NORMAL).concat();
        assert!(said.ends_with("leave the save where it is, and copy its files from a backup."), "{said}");
    }

    #[test]
    fn a_save_whose_blocks_are_all_right_has_the_command_that_mends_its_files() {
        let totals = Totals { source: 6, kept: 6, files_changed: 1, ..Totals::default() };
        assert_eq!(
            verdict(&[], Some(&totals), &save("world"), Effort::NORMAL),
            ["voxscope repair world --out world-repaired mends 1 file and keeps all 6 blocks."]
        );
        let map = Totals { files_changed: 2, has_maps: true, ..Totals::default() };
        assert_eq!(
            verdict(&[], Some(&map), &save("map"), Effort::NORMAL),
            ["voxscope repair map --out map-repaired changes 2 files."]
        );
    }

    #[test]
    fn findings_of_an_unfinished_migration_are_not_what_the_repair_does() {
        let say = |totals: Totals| {
            let cause = Cause::new(CauseKind::Migration, 5, vec!["5 blocks".to_owned()], &[CauseKind::Killed]);
            verdict(&[cause], Some(&totals), &save("world"), Effort::NORMAL).concat()
        };
        let kept = Totals { source: 12, kept: 12, files_changed: 1, ..Totals::default() };
        assert!(say(kept).ends_with("so no block goes to lost+found."), "{}", say(kept));
        for other in [Totals { kept: 11, lost: 1, ..kept }, Totals { set_aside: 1, ..kept }] {
            assert!(!say(other).contains("no block goes to lost+found"), "{}", say(other));
        }
    }

    #[test]
    fn nothing_is_lost_only_where_all_of_it_comes_back() {
        let say = |totals: Totals| verdict(&[], Some(&totals), &save("world"), Effort::NORMAL).concat();
        let all = Totals { source: 6, kept: 4, put_right: 2, ..Totals::default() };
        assert!(say(all).ends_with(" puts 2 right for certain; no block is lost."), "{}", say(all));
        let likely = Totals { put_right: 1, likely: 1, ..all };
        assert!(
            say(likely).ends_with(" 1 more with --level likely; no block is lost with it, but 1 is without it."),
            "{}",
            say(likely)
        );
        let part = Totals { put_right: 1, salvaged: 1, ..all };
        let backup = "If there is a backup, `--from-backup OLD` can supply what is missing.";
        let end = format!(" salvages 1 in part; nothing else is lost. {backup}");
        assert!(say(part).ends_with(&end), "{}", say(part));
        // A part of a map comes from the files of a backup.
        let layer =
            Totals { has_maps: true, refuses_backup: true, depths_lost: 1, files_changed: 1, ..Totals::default() };
        let end =
            "the depths of 1 layer are lost. If there is a backup, copy the files that lack blocks or layers from it.";
        assert!(say(layer).ends_with(end), "{}", say(layer));
        // No repair takes chunks of a pak from a backup, and one that was given has no block for the others.
        let chunk = Totals { put_right: 1, lost: 1, lost_chunks: 1, ..all };
        assert!(!say(chunk).contains("--from-backup"), "{}", say(chunk));
        assert!(!say(Totals { has_backup: true, ..part }).contains("If there is a backup"));
    }

    #[test]
    fn what_a_lost_file_held_is_not_called_nothing() {
        let say = |totals: Totals| verdict(&[], Some(&totals), &save("world"), Effort::NORMAL).concat();
        let file = Totals { source: 6, kept: 6, files_changed: 1, files_lost: 1, ..Totals::default() };
        let backup = " If there is a backup, `--from-backup OLD` can supply what is missing.";
        let end = format!("; how many blocks 1 lost file held is not known.{backup}");
        assert!(say(file).ends_with(&end), "{}", say(file));
        let more = Totals { kept: 4, put_right: 2, files_lost: 2, ..file };
        let end = format!("; no other block is lost; how many blocks 2 lost files held is not known.{backup}");
        assert!(say(more).ends_with(&end), "{}", say(more));
        let layer = Totals { has_maps: true, layers_lost: 1, ..Totals::default() };
        assert!(say(layer).starts_with("1 layer cannot be read"), "{}", say(layer));
        let changed = Totals { files_changed: 2, ..layer };
        assert!(say(changed).contains(" changes 2 files; 1 layer is lost. If there is a backup,"), "{}", say(changed));
        let none = Totals { source: 3, lost: 3, torn: 3, files_changed: 1, ..Totals::default() };
        assert!(
            say(none).contains("There is no block left that a repair could write: 3 are lost. Look"),
            "{}",
            say(none)
        );
    }

    #[test]
    fn no_repair_is_promised_where_no_block_is_left() {
        let say = |totals: Totals| verdict(&[], Some(&totals), &save("world"), Effort::NORMAL).concat();
        let empty = Totals { files_changed: 1, ..Totals::default() };
        assert_eq!(say(empty), "There is no block left that a repair could write. Look for a backup of the save.");
        let unowned = say(Totals { set_aside: 1_494, ..empty });
        assert!(unowned.starts_with("voxscope repair world --out world-repaired finds no block"), "{unowned}");
        assert!(unowned.contains("; 1,494 blocks or parts of blocks go to lost+found. Look for a backup"), "{unowned}");
    }

    #[test]
    fn numbers_have_separators_and_blocks_that_are_only_likely_a_verb() {
        let totals = Totals { source: 4_606, kept: 3_430, likely: 5, lost: 1_171, torn: 1_100, ..Totals::default() };
        let lines = verdict(&[], Some(&totals), &save("world"), Effort::NORMAL);
        assert!(lines[0].contains("of 4,606 blocks 3,430 are right as they are"), "{lines:?}");
        let end =
            " --level likely puts 5 right, which are only likely; 1,171 are lost, and 1,176 without --level likely. ";
        assert!(lines[1].contains(end), "{lines:?}");
    }

    #[test]
    fn two_causes_that_fit_are_both_named_with_what_tells_them_apart() {
        let cause = Cause::new(CauseKind::Killed, 6, vec!["6 whole blocks".to_owned()], &[CauseKind::OldStates]);
        let lines = verdict(&[cause], None, &save("world"), Effort::NORMAL);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].contains("killed") && lines[0].contains("or the blocks behind"), "{lines:?}");
        assert!(lines[1].contains("old-states if the game ended as usual"), "{lines:?}");
    }

    #[test]
    fn a_save_in_use_is_to_be_closed_first() {
        let cause = Cause::new(CauseKind::InUse, 0, vec!["1 file".to_owned()], &[]);
        assert!(verdict(&[cause], None, &save("world"), Effort::NORMAL)[0].starts_with("Close the game"));
    }

    #[test]
    fn one_block_is_the_block_whose_position_is_known() {
        let totals = Totals { source: 1, kept: 1, set_aside: 1, files_changed: 1, ..Totals::default() };
        let line = verdict(&[], Some(&totals), &save("world"), Effort::NORMAL).concat();
        assert!(line.contains(" mends 1 file and keeps the block whose position is known; "), "{line}");
    }

    #[test]
    fn missing_files_are_those_of_a_save() {
        let cause = Cause::new(CauseKind::CopyIncomplete, 0, vec!["the folder of LOD 1".to_owned()], &[]);
        let cause = Cause { save: Some("saves/a".to_owned()), ..cause };
        let lines = verdict(&[cause], None, &save("saves"), Effort::NORMAL);
        assert!(lines.iter().any(|line| line.starts_with("saves/a: Missing: the folder of LOD 1. Copy")), "{lines:?}");
    }

    #[test]
    fn nothing_is_said_of_a_healthy_save() {
        let totals = Totals { source: 9, kept: 9, ..Totals::default() };
        assert_eq!(verdict(&[], Some(&totals), &save("world"), Effort::NORMAL), Vec::<String>::new());
    }

    #[test]
    fn every_cause_has_a_name_of_its_own_and_sentences() {
        let names: HashSet<&str> = CauseKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), CauseKind::ALL.len());
        for kind in CauseKind::ALL {
            assert!(kind.sentence().starts_with(char::is_uppercase) && !kind.sentence().ends_with('.'), "{kind}");
            assert!(!kind.lost().is_empty() && !kind.comes_back().is_empty() && !kind.tell_apart().is_empty());
        }
    }
}
