//! What the picture needs, in the background: the tables of the save, then tiles, nearest first.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Ready;
use super::sheets::Sheet;
use super::view::steps_near;
use crate::parallel;
use crate::picture::source::{Scratch, Voxels};
use crate::picture::tile::Grid;
use crate::picture::{Layer, Look, Matter, Part, Probe, Source, TileKey};
use crate::tui::App;
use crate::tui::data::{Index, Item, NodeId, NodeKind};
use crate::tui::jobs::{JobKind, Worker, run_in_own_pool};

/// How often the screen is told of new tiles.
const PAUSE: Duration = Duration::from_millis(40);

/// Tiles that are computed between two looks at whether they are still wanted.
const SOME: usize = 8;

/// The part of a save that a line of the tree belongs to.
pub fn part_of(index: &Index, node: NodeId) -> Option<Part> {
    let line = index.nodes.get(node)?;
    let item = |item: usize| match *index.items.get(item)? {
        Item::Region(forest, _) => Some(Part::Forest(forest)),
        Item::Pak(dir, _) => Some(Part::PakDir(dir)),
        Item::Stream(stream) => Some(Part::Stream(stream)),
        Item::Layer(map, layer) => Some(Part::Layer(map, layer)),
        Item::Plain => None,
    };
    match line.kind {
        NodeKind::Save => None,
        NodeKind::Forest(forest) | NodeKind::Lod(forest, _) => Some(Part::Forest(forest)),
        NodeKind::PakDir(dir) => Some(Part::PakDir(dir)),
        NodeKind::Map(map) => Some(Part::Layer(map, 0)),
        NodeKind::Item(number) => item(number).or_else(|| part_of(index, line.parent?)),
    }
}

/// Asks for the tables of a part of the save.
pub fn request_source(app: &mut App, part: Part) {
    let Some(index) = app.index.clone() else { return };
    let key = (app.generation, part);
    if !app.panes.world.source.request(&key) {
        return;
    }
    app.job(
        JobKind::Source,
        move |worker| {
            // The first picture does not wait for other work.
            let opened = run_in_own_pool(|| Source::open(&index.save, part).map(Ready::new));
            worker.answer(move |app| app.panes.world.source.store(key, opened));
        },
        |app, why| app.panes.world.source.fail(why),
    );
}

/// What a look needs.
pub fn layer(look: Look, matter: Matter, axis: usize, at: i64, channel: usize) -> Layer {
    match look {
        Look::Cut => {
            Layer::Cut { axis: u8::try_from(axis).unwrap_or(1), at, channel: u8::try_from(channel).unwrap_or(0) }
        }
        Look::Size => Layer::Size,
        Look::Coverage => Layer::Coverage,
        _ => Layer::Top(matter),
    }
}

/// The lowest LOD that a scale does without lower ones for.
fn lod_for(source: &Source, step: i64) -> u8 {
    let lods = source.lods();
    let fits = lods.iter().copied().filter(|lod| 1i64 << lod.min(&40) <= step).max();
    fits.or(lods.first().copied()).unwrap_or(0)
}

/// The grids of higher LODs, the lowest first: what the LOD of a scale does not have is seen from these.
pub fn coarser(source: &Source, layer: Layer, step: i64) -> Vec<Grid> {
    if layer == Layer::Coverage {
        return Vec::new();
    }
    let from = lod_for(source, step);
    let higher = source.lods().into_iter().filter(|lod| *lod > from);
    higher.map(|lod| Grid::new(source, layer, lod, step.max(1 << lod.min(40)), true)).collect()
}

/// The grids that a scale is made of: the one that is wanted, then those that stand in for it, the better first.
pub fn grids(source: &Source, layer: Layer, step: i64) -> Vec<Grid> {
    let grid = |step: i64| Grid::new(source, layer, lod_for(source, step), step, true);
    let mut out = vec![grid(step)];
    let mut add = |grid: Grid| {
        if !out.contains(&grid) {
            out.push(grid);
        }
    };
    // What was seen a moment ago, from farther and from nearer.
    for other in steps_near(step) {
        add(grid(other));
    }
    if let Some(highest) = source.lods().last() {
        add(Grid::new(source, layer, *highest, step.max(1 << highest.min(&40)), true));
    }
    out
}

/// What is asked of the background.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The reading of the save.
    pub generation: u64,
    /// The part of it.
    part: Part,
    /// Of each world: where its tables are in memory, and the grids to fill, in this order.
    worlds: Vec<(usize, Vec<Grid>)>,
    /// The part of the plane, in tiles of the last grid.
    tiles: [[i64; 2]; 2],
}

/// Asks for the tiles of a part of the plane that are not there, of each world that is shown.
pub fn request_tiles(app: &mut App, shown: &[Sheet], part: Part, layer: Layer, step: i64, seen: [[i64; 2]; 2]) {
    let mut tiles = [[0; 2]; 2];
    let worlds = shown.iter().filter_map(|sheet| {
        let source = &sheet.ready.source;
        let grids = grids(source, layer, step);
        let wanted = grids.first().copied()?;
        let coverage = self::grids(source, Layer::Coverage, step).first().copied();
        let coarser = coarser(source, layer, step);
        tiles = [wanted.tile_at(seen[0]), wanted.tile_at(seen[1])];
        let order: Vec<Grid> = coverage.into_iter().chain(coarser.into_iter().rev()).chain([wanted]).collect();
        Some((Arc::as_ptr(source) as usize, order))
    });
    let worlds: Vec<(usize, Vec<Grid>)> = worlds.collect();
    let request = Request { generation: app.generation, part, worlds, tiles };
    if app.panes.world.asked.as_ref() == Some(&request) {
        return;
    }
    app.panes.world.asked = Some(request.clone());
    app.panes.world.complete = false;
    let sheets = shown.to_vec();
    app.job(
        JobKind::Picture,
        move |worker| {
            run_in_own_pool(|| {
                for (sheet, (_, grids)) in sheets.iter().zip(&request.worlds) {
                    load(sheet, grids, seen, worker);
                }
            });
            if !worker.is_cancelled() {
                worker.answer(move |app| {
                    let world = &mut app.panes.world;
                    world.complete = world.asked.as_ref() == Some(&request);
                    world.arrived += 1;
                });
            }
        },
        |app, why| app.show_message(why),
    );
}

/// Decides anew what matter goes by, where the blocks of the first picture left that open.
fn revise_matter(ready: &Ready, probe: &Mutex<Probe>, worker: &Worker<'_>) {
    let matter = probe.lock().unwrap_or_else(PoisonError::into_inner).matter(&ready.source);
    if matter == ready.matter {
        return;
    }
    let revised = ready.revised(matter);
    worker.answer(move |app| {
        let Some(now) = super::ready(app) else { return };
        if !now.is_revised && Arc::ptr_eq(&now.source, &revised.source) {
            let name = matter.name();
            app.show_message(format!("The surface goes by {name} now: further blocks differ in it."));
            app.panes.world.source.replace(revised);
        }
    });
}

/// Loads tiles of grids, the nearest first.
pub fn load(sheet: &Sheet, grids: &[Grid], seen: [[i64; 2]; 2], worker: &Worker<'_>) {
    let Sheet { ready, pyramid } = sheet;
    let source = &ready.source;
    let probe = Mutex::new(ready.probe.clone());
    let witness = |voxels: Voxels<'_>| probe.lock().unwrap_or_else(PoisonError::into_inner).see(voxels);
    let is_open = !ready.is_revised && !ready.probe.is_certain();
    let reader = if is_open { source.reader().with_witness(&witness) } else { source.reader() };
    let middle = [0, 1].map(|i| i64::midpoint(seen[0][i], seen[1][i]));
    // The tables, which come first, are shown as soon as they are there.
    let mut told = None;
    for grid in grids {
        let mut tiles = grid.tiles(source, seen);
        {
            let pyramid = pyramid.lock().unwrap_or_else(PoisonError::into_inner);
            tiles.retain(|at| !pyramid.has(&TileKey { grid: *grid, at: *at }));
        }
        let home = grid.tile_at(middle);
        tiles.sort_by_key(|at| (0..2).map(|i| at[i].abs_diff(home[i]).saturating_pow(2)).fold(0, u64::saturating_add));
        for some in tiles.chunks(SOME * parallel::threads()) {
            parallel::each_with(some, |scratch: &mut Scratch, at| {
                if worker.is_cancelled() {
                    return;
                }
                let tile = grid.load(&reader, *at, scratch);
                pyramid.lock().unwrap_or_else(PoisonError::into_inner).put(TileKey { grid: *grid, at: *at }, tile);
            });
            if worker.is_cancelled() {
                return;
            }
            if told.is_none_or(|told: Instant| told.elapsed() >= PAUSE) {
                told = Some(Instant::now());
                worker.answer(|app| app.panes.world.arrived += 1);
            }
        }
    }
    if is_open {
        revise_matter(ready, &probe, worker);
    }
}
