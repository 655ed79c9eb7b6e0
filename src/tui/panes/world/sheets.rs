//! What a picture is made of: the save, the one that it is compared with, or what a repair would write.

use std::sync::{Arc, Mutex};

use super::Ready;
use crate::picture::planned::Trial;
use crate::picture::pyramid::Pyramid;
use crate::picture::{Look, Part, Source};
use crate::tui::App;
use crate::tui::data::Loaded;
use crate::tui::jobs::JobKind;
use crate::tui::panes::repair;

/// Which of two saves is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// The first one.
    #[default]
    A,
    /// The first one with what differs in the second.
    Both,
    /// The second one.
    B,
}

impl Side {
    /// Its name in the title.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::Both => "A and B",
            Self::B => "B",
        }
    }
}

/// A world and what is known of its picture.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// The world.
    pub ready: Arc<Ready>,
    /// Its tiles.
    pub pyramid: Arc<Mutex<Pyramid>>,
}

/// What the picture of a repair is made for: the reading of the save, its part, whether what is likely is written, and the
/// block that is tried.
type PlannedKey = (u64, Part, bool, Option<Trial>);

/// Worlds beside that of the save.
#[derive(Debug, Default)]
pub struct Sheets {
    other: Loaded<(u64, Part), Ready>,
    other_tiles: Arc<Mutex<Pyramid>>,
    planned: Loaded<PlannedKey, Ready>,
    planned_tiles: Arc<Mutex<Pyramid>>,
}

/// What of two saves is shown; one save has one side.
pub fn side(app: &App) -> Side {
    let world = &app.panes.world;
    match world.side {
        _ if !app.has_pair() => Side::A,
        Some(side) => side,
        None if world.look == Look::Difference => Side::Both,
        None => Side::A,
    }
}

/// Whether the picture is of what a repair would write.
pub fn is_planned(app: &App) -> bool {
    app.panes.world.look == Look::Repair || repair::trial(app).is_some()
}

fn planned_key(app: &App) -> Option<PlannedKey> {
    Some((app.generation, app.panes.world.part?, repair::is_likely(app), repair::trial(app)))
}

fn other_key(app: &App) -> Option<(u64, Part)> {
    let Some(Ok(index)) = &app.comparison.other else { return None };
    Some((app.comparison.readings, Part::first(&index.save)?))
}

/// Asks for the worlds that the look needs beside that of the save.
pub fn request(app: &mut App) {
    if side(app) != Side::A
        && let Some(key) = other_key(app)
        && app.panes.world.sheets.other.request(&key)
    {
        app.panes.world.sheets.other_tiles = Arc::default();
        let Some(Ok(index)) = app.comparison.other.clone() else { return };
        app.job(
            JobKind::OtherSource,
            move |worker| {
                let opened = Source::open(&index.save, key.1).map(Ready::new);
                worker.answer(move |app| app.panes.world.sheets.other.store(key, opened));
            },
            |app, why| app.panes.world.sheets.other.fail(why),
        );
    }
    if !is_planned(app) {
        return;
    }
    repair::request_plan(app);
    let (Some(plan), Some(key), Some(index)) = (repair::plan(app).cloned(), planned_key(app), app.index.clone()) else {
        return;
    };
    if app.panes.world.sheets.planned.request(&key) {
        app.panes.world.sheets.planned_tiles = Arc::default();
        app.job(
            JobKind::OtherSource,
            move |worker| {
                let opened = Source::planned(&index.save, key.1, &plan, key.3.clone()).map(Ready::new);
                worker.answer(move |app| app.panes.world.sheets.planned.store(key, opened));
            },
            |app, why| app.panes.world.sheets.planned.fail(why),
        );
    }
}

/// What is shown, the world that is painted first; until another one is there, that of the save.
pub fn shown(app: &App) -> Vec<Sheet> {
    let Some(ready) = super::ready(app) else { return Vec::new() };
    let world = &app.panes.world;
    let this = Sheet { ready: Arc::clone(ready), pyramid: Arc::clone(&world.pyramid) };
    if is_planned(app) {
        let planned = planned_key(app).and_then(|key| world.sheets.planned.get(&key));
        let sheet =
            planned.map(|ready| Sheet { ready: Arc::clone(ready), pyramid: Arc::clone(&world.sheets.planned_tiles) });
        return vec![sheet.unwrap_or(this)];
    }
    let other = other_key(app).and_then(|key| world.sheets.other.get(&key));
    let other = other.map(|ready| Sheet { ready: Arc::clone(ready), pyramid: Arc::clone(&world.sheets.other_tiles) });
    match (side(app), other) {
        (Side::Both, Some(other)) => vec![this, other],
        (Side::B, Some(other)) => vec![other],
        _ => vec![this],
    }
}
