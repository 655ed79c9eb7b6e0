//! What a repair does, in words.

use super::{key, shows_whole};
use crate::check::Totals;
use crate::printable::{capitalize, count, grouped};
use crate::repair::preview::{FILES_MISSING, Preview, takes_from_backup};
use crate::tui::App;
use crate::tui::action::Action;

/// What a repair does, in a sentence: with the whole save, or with the selected file.
pub(super) fn summary(app: &App, preview: &Preview) -> String {
    let planned = app.panes.repair.plan.get(&key(app)).filter(|_| shows_whole(app));
    let changed = planned.filter(|planned| !planned.plan.changes_nothing());
    let of_file = preview.totals.filter(|_| !shows_whole(app));
    let totals = changed.map(|planned| planned.totals).or(of_file).filter(|totals| totals.source > 0);
    // What is missing at this level alone.
    let of_verdict = app.findings.verdict.totals.filter(|_| !app.panes.repair.likely && shows_whole(app));
    let likely = of_verdict.map_or(0, |totals| totals.likely);
    let blocks = match totals {
        Some(totals) => short_totals(&totals, likely),
        None => copied_words(app, preview).unwrap_or_else(|| preview.summary.clone()),
    };
    let switch = switch_words(app);
    let more = planned.map(|planned| {
        let advice = switch.as_ref().or(planned.advice.as_ref());
        planned.losses.iter().chain(advice).map(String::as_str)
    });
    let accepted = match app.panes.repair.accepted.len() {
        0 => None,
        1 => Some("The accepted place is not in these figures.".to_owned()),
        n => Some(format!("The {} accepted places are not in these figures.", grouped(n as u64))),
    };
    let missing = lacks_files(app) && shows_whole(app);
    let missing = missing.then_some(FILES_MISSING);
    let unread = preview.unread.as_ref().map(|words| format!("{}.", capitalize(words)));
    let before = unread.as_deref().into_iter().chain(accepted.as_deref());
    let more: Vec<&str> = before.chain(more.into_iter().flatten()).chain(missing).collect();
    if more.is_empty() { blocks } else { format!("{}. {}", capitalize(&blocks), more.join(" ")) }
}

/// What is said of a file or a save that has findings and is copied as it is.
fn copied_words(app: &App, preview: &Preview) -> Option<String> {
    let index = app.index.as_ref().filter(|_| preview.unchanged && !app.findings.running)?;
    let node = match app.selected_item().filter(|_| !shows_whole(app)) {
        Some(item) => index.node_of(item)?,
        None => 0,
    };
    let tally = app.findings.tally(node);
    let found = u64::from(tally.errors) + u64::from(tally.warnings);
    let does = if found == 1 { "it" } else { "them" };
    let repair = match () {
        () if advises_switch(app) => "this level",
        () if lacks_files(app) => "a repair without a backup",
        () => "a repair",
    };
    (found > 0).then(|| format!("{}: {repair} does not mend {does}", count(found, "finding")))
}

/// Whether files are missing that a backup may have.
fn lacks_files(app: &App) -> bool {
    app.findings.list.iter().any(|finding| takes_from_backup(finding.code()))
}

/// Whether only the other level restores anything, or keeps most blocks, as the verdict says.
fn advises_switch(app: &App) -> bool {
    !app.panes.repair.likely && app.findings.verdict.totals.is_some_and(|totals| totals.advises_likely())
}

/// What to do where the level likely is the one to write a copy with.
fn switch_words(app: &App) -> Option<String> {
    let totals = app.findings.verdict.totals.filter(|_| advises_switch(app))?;
    let [why, does] = match totals.needs_likely {
        true => [
            "The copy would lack most blocks of the save.",
            "at the level likely it has most of them, some where they are only likely.",
        ],
        false => ["Nothing comes back for certain.", "the level likely restores what is only likely."],
    };
    Some(match app.key_name(Action::Certainty) {
        Some(key) => format!("{why} Press {key}: {does}"),
        None => format!("{why} {}", capitalize(does)),
    })
}

/// The totals of a repair in one row, in the words that the lines below have; `likely` of the missing blocks have likely places.
fn short_totals(totals: &Totals, likely: u64) -> String {
    let missing = match likely {
        0 => "missing".to_owned(),
        n => format!("missing ({} with {})", grouped(n), if n == 1 { "a likely place" } else { "likely places" }),
    };
    let parts = [
        (totals.kept, "kept"),
        (totals.put_right, "put right"),
        (totals.likely, "only likely"),
        (totals.older, "older"),
        (totals.salvaged, "in part"),
        (totals.lost, &*missing),
    ];
    let parts = parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, words)| format!("{} {words}", grouped(n)));
    let parts = parts.collect::<Vec<_>>().join(", ");
    let aside = match totals.set_aside {
        0 => String::new(),
        n => format!("; {} to lost+found", grouped(n)),
    };
    format!("{}: {parts}{aside}", count(totals.source, "block"))
}
