//! The verdict: what a check ends with, and what a repair brings back, in the sentences of `voxscope check`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::App;
use super::action::Action;
use super::canvas::Canvas;
use super::data::Loaded;
use super::jobs::{JobKind, run_in_own_pool};
use super::layout::ScreenAreas;
use super::pane::Pane;
use super::panes::world;
use super::theme::Role;
use super::wrap::wrap;
use crate::check::{self, Cause, NextStep, Sentence, Totals};
use crate::picture::Marks;
use crate::repair;
use crate::save::Save;

/// What happened to the save, once the check is through.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// The causes, the likeliest first.
    pub causes: Vec<Cause>,
    /// What to do where neither the causes nor the totals say it.
    pub step: Option<NextStep>,
    /// What a repair would bring back, once it is planned.
    pub totals: Option<Totals>,
    /// The blocks that the totals count as damaged, where they are of one world.
    pub damaged: Option<Marks>,
}

/// What a repair of a save would bring back, and the blocks that are damaged by that.
fn planned(save: &Save, options: &repair::Options<'_>) -> (Option<Totals>, Option<Marks>) {
    let planned = run_in_own_pool(|| {
        let [certain, likely] = repair::plan_both(save, options).ok()?;
        let totals = repair::outlook(repair::totals(save, &certain), repair::totals(save, &likely));
        Some((totals, Marks::of_damage(save, &certain, &likely)))
    });
    planned.map_or((None, None), |(totals, damaged)| (Some(totals), damaged))
}

/// The blocks that the figures of the verdict count as damaged.
pub fn damaged(app: &App) -> Option<&Marks> {
    shown(app)?.0.damaged.as_ref()
}

/// The verdict of the one of several saves that is shown.
#[derive(Debug, Default)]
pub struct OfShown {
    /// What the check counted in all of them, once it is through.
    counted: Option<Arc<check::Findings>>,
    /// The verdict of a directory, by the number of the check.
    verdict: Loaded<(u64, PathBuf), Verdict>,
    /// Whether the totals of all of them were asked for.
    has_asked_all: bool,
}

impl OfShown {
    /// What the check counted.
    #[must_use]
    pub fn new(counted: check::Findings) -> Self {
        Self { counted: Some(Arc::new(counted)), ..Self::default() }
    }
}

/// The verdict that is shown, and the path that its command names. In a directory of several saves it is of the one on the
/// World pane.
fn shown(app: &App) -> Option<(&Verdict, &Path)> {
    match world::directory(app) {
        Some(dir) => {
            let key = (app.findings.run, dir);
            let verdict = app.findings.shown.verdict.get(&key)?;
            app.findings.shown.verdict.latest().map(|((_, dir), _)| (&**verdict, dir.as_path()))
        }
        None => Some((&app.findings.verdict, app.findings.advice.root().path())),
    }
}

/// Asks for what the verdict needs, once the check is through.
pub fn request_missing(app: &mut App) {
    if app.findings.running || app.findings.stopped {
        return;
    }
    let Some(counted) = app.findings.shown.counted.clone() else { return };
    match world::directory(app) {
        None if !app.findings.shown.has_asked_all => {
            app.findings.shown.has_asked_all = true;
            request_totals(app);
        }
        Some(dir) if shows(app.pane) => request_shown(app, dir, counted),
        _ => {}
    }
}

/// Infers what happened to one of several saves, as if it had been opened alone.
fn request_shown(app: &mut App, dir: PathBuf, counted: Arc<check::Findings>) {
    let Some(index) = app.index.clone() else { return };
    let key = (app.findings.run, dir);
    if !app.findings.shown.verdict.request(&key) {
        return;
    }
    let effort = app.settings.effort;
    app.job(
        JobKind::Totals,
        move |worker| {
            let found = Save::open(&key.1, &index.checked.options).map_err(|error| error.to_string()).map(|save| {
                let counted = counted.below(&index.save.shown(&key.1));
                let (causes, step) = (counted.causes(&save), counted.next_step(&save));
                let options =
                    repair::Options::default().effort(effort).watch(worker.watch()).solutions(&index.solutions);
                let (totals, damaged) = planned(&save, &options);
                Verdict { causes, step, totals, damaged }
            });
            worker.answer(move |app| app.findings.shown.verdict.store(key, found));
        },
        |app, why| app.findings.shown.verdict.fail(why),
    );
}

/// Plans the repair of a damaged save, for what it would bring back.
fn request_totals(app: &mut App) {
    let counts = &app.findings.counts;
    let happened = counts.errors + counts.warnings > 0 || !app.findings.verdict.causes.is_empty();
    let Some(index) = app.index.clone().filter(|_| happened) else { return };
    let run = app.findings.run;
    let effort = app.settings.effort;
    app.job(
        JobKind::Totals,
        move |worker| {
            let options = repair::Options::default().effort(effort).watch(worker.watch()).solutions(&index.solutions);
            let (totals, damaged) = planned(&index.checked, &options);
            worker.answer(move |app| {
                if app.findings.run == run {
                    (app.findings.verdict.totals, app.findings.verdict.damaged) = (totals, damaged);
                }
            });
        },
        |_, _| {},
    );
}

/// What a check that is through came to, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// Nothing is wrong, and nothing has to be done.
    Healthy,
    /// There is no block.
    Empty,
    /// Nothing violates the format, and still something happened to the save.
    NoDamage,
    /// There are errors or warnings.
    Damaged,
}

/// What the check came to, as the last lines of `voxscope check` say it.
#[must_use]
pub fn conclusion(app: &App) -> Conclusion {
    let findings = &app.findings;
    let Verdict { causes, totals, .. } = &findings.verdict;
    let has_maps = app.index.as_ref().is_some_and(|index| !index.save.maps.is_empty());
    if findings.counts.errors + findings.counts.warnings > 0 {
        Conclusion::Damaged
    } else if findings.summary.as_ref().is_some_and(|summary| summary.stats.blocks == 0) && !has_maps {
        Conclusion::Empty
    } else if !causes.is_empty() || totals.is_some_and(|totals| totals.source > totals.kept) {
        Conclusion::NoDamage
    } else {
        Conclusion::Healthy
    }
}

/// The sentences of the verdict.
fn sentences(app: &App) -> Vec<Sentence> {
    if app.findings.running || app.findings.summary.is_none() {
        return Vec::new();
    }
    let Some((Verdict { causes, totals, step, .. }, path)) = shown(app) else { return Vec::new() };
    let effort = app.settings.effort;
    let undecided = app.findings.summary.as_ref().map_or(0, |summary| summary.undecided);
    let save = app.findings.advice.root().at(path);
    let mut sentences = check::sentences(causes, totals.as_ref(), step.as_ref(), &save, effort);
    sentences.extend(effort.undecided_words(undecided).map(|words| Sentence::Plain(format!("{words}."))));
    // What tells causes apart is on the pane of findings.
    sentences.retain(|sentence| !matches!(sentence, Sentence::TellApart(_)));
    sentences
}

/// Prints sentences; in a directory of several saves the first one with the name of the save that it is about.
fn print(app: &App, sentences: &[Sentence], is_short: bool) -> Vec<String> {
    let text = |sentence: &Sentence| if is_short { shorten(app, sentence) } else { sentence.to_string() };
    let mut lines: Vec<String> = sentences.iter().map(text).collect();
    if let (Some(dir), Some(index), Some(first)) = (world::directory(app), &app.index, lines.first_mut()) {
        first.insert_str(0, &format!("{}: ", index.save.shown(&dir)));
    }
    lines
}

/// The sentences of the verdict, as they are where there is room for all of them.
#[must_use]
pub fn lines(app: &App) -> Vec<String> {
    print(app, &sentences(app), false)
}

/// Panes that show the verdict.
const fn shows(pane: Pane) -> bool {
    matches!(pane, Pane::World | Pane::Findings)
}

/// The text, wrapped to a width.
fn wrapped(app: &App, width: u16) -> Vec<(Role, String)> {
    let width = usize::from(width.saturating_sub(2)).max(1);
    // The check speaks of files that are no longer there.
    if let Some(why) = &app.outdated {
        let again = app.key_name(Action::Reload).map(|key| format!(" {key} reads it again.")).unwrap_or_default();
        let words = format!("{why}. What is shown was read before that.{again}");
        return wrap(&words, width).into_iter().map(|row| (Role::Error, row)).collect();
    }
    if !shows(app.pane) {
        return Vec::new();
    }
    let mut sentences = sentences(app);
    let rows = |lines: &[String]| lines.iter().map(|line| wrap(line, width).len()).sum::<usize>();
    let mut texts = print(app, &sentences, false);
    // What does not fit into two rows is shorter: the pane of the repair has the command.
    if rows(&texts) > 2 {
        texts = print(app, &sentences, true);
    }
    // The pane of findings has the evidence.
    if let (true, Some(Sentence::Cause(_, figures))) = (rows(&texts) > 2, sentences.first_mut())
        && let Some(evidence) = figures.take_if(|figures| figures.full == figures.short)
    {
        name_options(&mut sentences, &evidence.full);
        texts = print(app, &sentences, true);
    }
    // The counts say more than further causes, which the pane of findings lists.
    let is_long = rows(&texts) > usize::from(most_rows(app));
    let of_sentence = |(sentence, text): (&Sentence, &String)| {
        let role = if matches!(sentence, Sentence::Repair(_)) { Role::Key } else { Role::Strong };
        let mut rows = wrap(text, width);
        if is_long && matches!(sentence, Sentence::Cause(..)) && rows.len() > 1 {
            rows.truncate(1);
            rows.iter_mut().for_each(|row| *row = format!("{row} {}", app.glyphs.more));
        }
        rows.into_iter().map(move |row| (role, row)).collect::<Vec<_>>()
    };
    // The sentence of the tour comes first, in a row of its own.
    let note = world::note(app).map(|note| (Role::Focus, note.to_owned()));
    note.into_iter().chain(sentences.iter().zip(&texts).flat_map(of_sentence)).collect()
}

/// Writes the options that the evidence names into the sentence that speaks of them, so that the evidence can be left out.
fn name_options(sentences: &mut [Sentence], evidence: &str) {
    let Some(options) = evidence.rsplit('`').nth(1).filter(|quoted| quoted.starts_with("--")) else { return };
    for sentence in sentences {
        if let Sentence::Plain(text) = sentence {
            *text = text.replace("these options", &format!("`{options}`"));
        }
    }
}

/// Prints a sentence in short, and one about a repair with the key of the Repair pane in place of its command. That pane also shows what goes to `lost+found`, and what
/// is lost without `--level likely`.
fn shorten(app: &App, sentence: &Sentence) -> String {
    let key = |action| app.key_name(action);
    match sentence {
        Sentence::Figures(figures) => return format!("{}.", figures.short),
        Sentence::Cause(cause, Some(figures)) if figures.short != figures.full => {
            return format!("{cause}. {}.", figures.short);
        }
        _ => {}
    }
    let (Sentence::Repair(words), Some(repair)) = (sentence, key(Action::Pane(Pane::Repair))) else {
        return sentence.to_string();
    };
    let then = key(Action::Certainty).filter(|_| words.only_likely);
    let keys = then.map_or_else(|| repair.clone(), |level| format!("{repair}, then {level},"));
    format!("{keys} shows a repair that {}{}{}{}.{}", words.does, words.doubt, words.lost, words.unknown, words.advice)
}

/// Rows that the verdict has at most.
fn most_rows(app: &App) -> u16 {
    ScreenAreas::verdict_rows(app.size.rows).min(5)
}

/// Rows that the verdict wants.
#[must_use]
pub fn rows(app: &App) -> u16 {
    u16::try_from(wrapped(app, app.size.columns).len()).unwrap_or(u16::MAX).min(5)
}

/// Draws the verdict; where it has too few rows, its first sentence and the command.
pub fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let lines = wrapped(app, canvas.width());
    let room = usize::from(canvas.height());
    let (command, first): (Vec<_>, Vec<_>) = lines.iter().partition(|(role, _)| *role == Role::Key);
    let of_command = command.len().min(room.div_ceil(2).max(room.saturating_sub(first.len())));
    let of_first = room - of_command;
    let width = canvas.width().saturating_sub(2);
    let mut y = 0;
    for (lines, room) in [(first, of_first), (command, of_command)] {
        for (number, (role, line)) in lines.iter().take(room).enumerate() {
            // What has no row is not left out without a sign.
            let is_cut = number + 1 == room && lines.len() > room && !line.ends_with(canvas.glyphs.more);
            let line = if is_cut { format!("{line} {}", canvas.glyphs.more) } else { line.clone() };
            canvas.put_within(1, y, width, &line, *role);
            y += 1;
        }
    }
}
