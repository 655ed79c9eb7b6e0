//! The world as one picture: any save, all its regions together, from the whole world to one voxel.

mod act;
mod draw;
mod image;
mod legend;
mod load;
mod overview;
#[cfg(feature = "graphics")]
mod pixels;
mod select;
mod sheets;
mod state;
mod view;

use std::path::PathBuf;
use std::sync::Arc;

use crate::check::Finding;
use crate::picture::{Layer, Look, Mark, Marks, Part, mark_missing_file};
use crate::printable::count;
use crate::tui::App;
use crate::tui::data::{Item, ItemId, LoadState, NodeId, NodeKind, Slot, difference::Fate};
use crate::tui::go::WorldTarget;

pub use act::{act, click};
use act::{after_turn, fitted, moved};
pub use draw::draw;
use image::LegendPlace;
pub use select::{copy, go_to, selected_block, under_cursor};
use sheets::Side;
pub use state::{Ready, WorldState};
use view::View;

/// The directory of the world that is shown, where it is one below that of several saves.
pub fn directory(app: &App) -> Option<PathBuf> {
    let index = app.index.as_ref()?;
    if !index.has_several_saves() {
        return None;
    }
    let save = &index.save;
    let dir = match app.panes.world.part? {
        Part::Forest(forest) => &save.forests.get(forest)?.dir,
        Part::PakDir(dir) => &save.pak_dirs.get(dir)?.dir,
        Part::Layer(map, _) => &save.maps.get(map)?.dir,
        Part::Stream(stream) => save.streams.get(stream)?.path.parent()?,
    };
    Some(dir.to_owned()).filter(|dir| *dir != save.path)
}

/// The line of the tree of the one of several saves that is shown.
#[must_use]
pub fn node_of_shown(app: &App) -> Option<NodeId> {
    let index = app.index.as_ref().filter(|index| index.has_several_saves())?;
    let part = app.panes.world.part?;
    let is_it = |kind: NodeKind| match (kind, part) {
        (NodeKind::Forest(node), Part::Forest(shown))
        | (NodeKind::PakDir(node), Part::PakDir(shown))
        | (NodeKind::Map(node), Part::Layer(shown, _)) => node == shown,
        (NodeKind::Item(item), Part::Stream(shown)) => {
            matches!(index.items.get(item), Some(Item::Stream(stream)) if *stream == shown)
        }
        _ => false,
    };
    index.nodes.iter().position(|node| is_it(node.kind))
}

/// What the tour says of the world that is shown; of the first one until its tables are there.
pub fn note(app: &App) -> Option<&'static str> {
    let notes = &app.settings.notes;
    let (Some(index), Some(_)) = (&app.index, app.panes.world.part) else {
        return notes.first().map(|(_, words)| *words);
    };
    let dir = directory(app)?;
    let dir = dir.strip_prefix(&index.save.path).ok()?;
    notes.iter().find(|(note, _)| dir.starts_with(note)).map(|(_, words)| *words)
}

/// The tables of the world that is shown, when they are there.
fn ready(app: &App) -> Option<&Arc<Ready>> {
    app.panes.world.source.get(&(app.generation, app.panes.world.part?))
}

/// Whether there is a world to show.
pub fn is_ready(app: &App) -> bool {
    ready(app).is_some()
}

/// Whether a cut is shown.
pub fn is_cut(app: &App) -> bool {
    app.panes.world.look == Look::Cut
}

/// Pixels of the picture, across and down.
fn pixel_size(app: &App) -> [i64; 2] {
    image::Areas::new(app.pane_inside(), app.panes.world.legend).pixels()
}

/// The looks that mean something for the world that is shown.
fn looks(app: &App) -> Vec<Look> {
    let has_depth = ready(app).is_some_and(|ready| ready.source.has_depth());
    let works = |look: &Look| match look {
        Look::Depth => has_depth,
        Look::Difference => app.has_pair(),
        Look::Repair => matches!(app.panes.world.part, Some(Part::Forest(_))) && has_damage(app),
        _ => true,
    };
    Look::ALL.into_iter().filter(works).collect()
}

/// Whether there is anything to repair, as far as it is known.
fn has_damage(app: &App) -> bool {
    super::repair::has_plan(app) || app.findings.counts.errors + app.findings.counts.warnings > 0
}

/// Goes to what another pane asked for, once the tables are there.
fn finish_pending(app: &mut App, ready: &Ready) {
    let Some(pending) = app.world_target.take() else { return };
    let before = app.panes.world.axes();
    let block = match pending {
        WorldTarget::Block(lod, position, look) => {
            app.panes.world.look = look;
            Some((lod, position))
        }
        WorldTarget::Change(lod, position, spot) => {
            let world = &mut app.panes.world;
            world.side = Some(Side::Both);
            world.look = if spot.is_some() { Look::Cut } else { Look::Difference };
            world.channel = spot.map(|(channel, _)| channel).or(world.channel);
            Some((lod, position))
        }
        WorldTarget::Cut(channel) => {
            app.panes.world.look = Look::Cut;
            app.panes.world.channel = channel.or(app.panes.world.channel);
            selected_block(app)
        }
    };
    after_turn(app, before);
    choose_legend_place(app, ready);
    let voxel = match pending {
        WorldTarget::Cut(_) => app.selection.voxel,
        WorldTarget::Change(_, _, spot) => spot.map(|(_, voxel)| voxel),
        WorldTarget::Block(..) => None,
    };
    let Some((lod, position)) = block.filter(|_| ready.source.layer().is_none()) else {
        if let Some(cell) = voxel {
            app.panes.world.cursor = cell.map(i64::from);
            moved(app);
        }
        return;
    };
    let (corner, block) = (ready.source.corner(lod, position), ready.source.block(lod));
    app.panes.world.cursor = [0, 1, 2].map(|i| match voxel {
        Some(voxel) => corner[i].saturating_add((i64::from(voxel[i]) << lod.min(40)).min(block[i] - 1)),
        None => corner[i].saturating_add(block[i] / 2),
    });
    let axes = app.panes.world.axes();
    // The block with a half of its neighbours around it.
    let low = axes.map(|axis| corner[axis].saturating_sub(block[axis] / 2));
    let high = axes.map(|axis| corner[axis].saturating_add(block[axis] + block[axis] / 2));
    let rises = app.panes.world.rises();
    app.panes.world.view = Some(View::fit([low, high], pixel_size(app), rises));
    app.panes.world.selected = app.block_key();
    if matches!(pending, WorldTarget::Change(_, _, Some(_))) {
        select::select_under_cursor(app);
    }
}

/// Shows the part of the save that the selected finding is about, or that the selected line of the tree belongs to.
pub fn follow_selection(app: &mut App) {
    let Some(index) = app.index.clone() else { return };
    let is_finding = app.pane == crate::tui::pane::Pane::Findings && app.selection.finding.is_some();
    let of_finding = app.selected_item().filter(|_| is_finding).and_then(|item| index.node_of(item));
    let node = of_finding.unwrap_or(app.selection.node);
    let part = load::part_of(&index, node).or(app.panes.world.part).or_else(|| Part::first(&index.save));
    let Some(part) = part else { return };
    if app.panes.world.part != Some(part) {
        let state = std::mem::take(&mut app.panes.world);
        app.panes.world = WorldState {
            part: Some(part),
            look: if state.look == Look::Depth { Look::Surface } else { state.look },
            source: state.source,
            health: state.health,
            ..WorldState::default()
        };
        if index.has_several_saves() {
            app.announce_old_formula();
        }
    }
}

/// Asks for what the pane needs, and draws the picture where something of it changed.
pub fn request_missing(app: &mut App) {
    follow_selection(app);
    let Some(part) = app.panes.world.part else { return };
    load::request_source(app, part);
    let Some(ready) = ready(app).cloned() else { return };
    if app.panes.world.asked.as_ref().is_some_and(|asked| asked.generation != app.generation) {
        app.panes.world.pyramid = Arc::default();
    }
    choose_legend_place(app, &ready);
    if app.panes.world.view.is_none() {
        begin(app, &ready);
    }
    refit(app);
    finish_pending(app, &ready);
    select::follow_selection(app);
    sheets::request(app);
    update_marks(app, part);
    let Some(view) = app.panes.world.view else { return };
    let pixels = pixel_size(app);
    let seen = view.seen(pixels);
    let layer = app.panes.world.layer(&ready);
    let shown = sheets::shown(app);
    load::request_tiles(app, &shown, part, layer, view.step(), seen);
    image::update(app, &shown, view, pixels, layer);
    place_legend(app, &shown, layer);
    #[cfg(feature = "graphics")]
    if let Some(view) = app.panes.world.view {
        pixels::request(app, &shown, view, layer);
    }
}

/// Gives the legend below the picture the rows that it needs, which are known once the picture is.
fn place_legend(app: &mut App, shown: &[sheets::Sheet], layer: Layer) {
    let (Some(view), LegendPlace::Below(now)) = (app.panes.world.view, app.panes.world.legend) else { return };
    let rows = app.panes.world.image.as_ref().map_or(1, |image| legend::rows(app, image, view));
    if rows > now || rows < now && are_enough(app, rows) {
        app.panes.world.legend = LegendPlace::Below(rows);
        refit(app);
        if let Some(view) = app.panes.world.view {
            image::update(app, shown, view, pixel_size(app), layer);
        }
    }
}

/// Whether the legend would still fit into fewer rows: the picture has more room then, so that a fitted view comes nearer,
/// and the scale beside the legend may be longer. Otherwise both would change in turns without end.
fn are_enough(app: &mut App, rows: u16) -> bool {
    let now = std::mem::replace(&mut app.panes.world.legend, LegendPlace::Below(rows));
    let is_fitted = app.panes.world.view == app.panes.world.fitted;
    let view = if is_fitted { fitted(app, false) } else { app.panes.world.view };
    app.panes.world.legend = now;
    let image = app.panes.world.image.as_ref();
    view.zip(image).is_none_or(|(view, image)| legend::rows(app, image, view) <= rows)
}

/// Puts the legend beside the picture where everything is larger then than above one of two rows.
fn choose_legend_place(app: &mut App, ready: &Ready) {
    let Some([low, high]) = ready.bulk else { return };
    let (axes, rises) = (app.panes.world.axes(), app.panes.world.rises());
    let pane = app.pane_inside();
    let zoom = |place| {
        let pixels = image::Areas::new(pane, place).pixels();
        View::fit([axes.map(|axis| low[axis]), axes.map(|axis| high[axis])], pixels, rises).zoom
    };
    let is_nearer = zoom(LegendPlace::Beside) < zoom(LegendPlace::Below(2));
    let world = &mut app.panes.world;
    world.legend = match world.legend {
        _ if is_nearer && pane.height >= 6 => LegendPlace::Beside,
        LegendPlace::Below(rows) => LegendPlace::Below(rows),
        LegendPlace::Beside => LegendPlace::Below(1),
    };
}

/// Fits a view that was fitted to what the pane is now: it may have another size.
fn refit(app: &mut App) {
    let fresh = fitted(app, false);
    let world = &mut app.panes.world;
    if world.view.is_some() && world.view == world.fitted {
        world.view = fresh;
    }
    world.fitted = fresh;
}

/// The first view: everything, with the cursor on the highest matter in the middle.
fn begin(app: &mut App, ready: &Ready) {
    let Some([low, high]) = ready.bulk else { return };
    app.panes.world.cursor = [0, 1, 2].map(|i| i64::midpoint(low[i], high[i]));
    app.panes.world.view = fitted(app, false);
    app.panes.world.fitted = app.panes.world.view;
    // A file that was chosen in the tree stays chosen.
    let chosen = !app.selects_directory() && app.index.as_ref().is_some_and(|index| index.items.len() > 1);
    let here = app.index.as_ref().and_then(|index| load::part_of(index, app.selection.node));
    if here.is_some() && !chosen && app.selection.slot.is_none() && app.selection.finding.is_none() {
        select::select_under_cursor(app);
    }
}

/// Takes in what the check found since, or what differs or a repair would do.
fn update_marks(app: &mut App, part: Part) {
    let Some(index) = app.index.clone() else { return };
    let (run, from, of) = app.panes.world.marked;
    let had_verdict = app.panes.world.is_corrected;
    // Findings about a layer of a map name bytes: its file says whose they are.
    let layer = app.item_key().filter(|_| matches!(part, Part::Layer(..)) && app.opened_item().is_some());
    let fresh = run != app.findings.run
        || of != Some(part)
        || app.panes.world.marked_layer != layer
        || from > app.findings.list.len()
        || had_verdict && crate::tui::verdict::damaged(app).is_none();
    let (mut marks, from) =
        if fresh { (Marks::default(), 0) } else { (std::mem::take(&mut app.panes.world.marks), from) };
    let source = ready(app).map(|ready| &ready.source).filter(|source| source.part == part);
    for (finding, item) in app.findings.list.iter().zip(&app.findings.items).skip(from) {
        let here = item.and_then(|item| index.node_of(item)).and_then(|node| load::part_of(&index, node));
        // A missing file is not in the index.
        if let Some(source) = source {
            mark_missing_file(&mut marks, source, finding);
        }
        if here == Some(part) {
            marks.add(finding);
            if let (Some(ready), Part::Layer(..), None) = (ready(app), part, finding.block) {
                mark_of_layer(app, ready, *item, finding, &mut marks);
            }
        }
    }
    // The legend counts what the verdict counts, once that is known.
    let damaged = crate::tui::verdict::damaged(app);
    let is_corrected = damaged.is_some();
    if let Some(damaged) = damaged.filter(|_| fresh || !app.panes.world.is_corrected || from < app.findings.list.len())
    {
        marks.correct(damaged);
    }
    app.panes.world.is_corrected = is_corrected;
    app.panes.world.marks = marks;
    app.panes.world.marked_layer = layer;
    app.panes.world.marked = (app.findings.run, app.findings.list.len(), Some(part));
}

/// Marks the block of a layer in whose bytes a finding is; of a layer that is one array all parts in which it is drawn.
fn mark_of_layer(app: &App, ready: &Ready, item: Option<ItemId>, finding: &Finding, marks: &mut Marks) {
    let Some(opened) = app.opened_item().filter(|opened| Some(opened.item) == item) else { return };
    let (Some(mark), Some(span)) = (Mark::for_code(finding.code()), finding.span) else { return };
    let sector = opened.sector_at(span.start);
    let holds = |slot: &&Slot| sector.is_some_and(|sector| slot.has_sector(sector));
    match opened.slots.iter().find(holds).map(|slot| slot.position) {
        Some(Some(position)) => marks.put(0, position, mark),
        Some(None) => {
            let tables = ready.source.tables.iter();
            let blocks = tables.flat_map(|table| table.blocks.iter().map(|block| (table.lod, block.position)));
            blocks.for_each(|(lod, position)| marks.put(lod, position, mark));
        }
        None => {}
    }
}

/// The marks that the picture shows now.
fn marks(app: &App) -> Marks {
    if let (Some((lod, position)), Some(mark)) = (super::repair::tried(app), super::repair::tried_mark(app)) {
        let mut marks = Marks::default();
        marks.put(lod, position, mark);
        return marks;
    }
    match app.panes.world.look {
        Look::Difference => {
            let mut marks = Marks::default();
            let lods = app.comparison.difference().map(|difference| difference.lods.iter());
            for lod in lods.into_iter().flatten() {
                for change in &lod.changes {
                    let mark = match change.fate {
                        Fate::Added => Mark::Added,
                        Fate::Removed => Mark::Removed,
                        Fate::Changed | Fate::Moved => Mark::Changed,
                        Fate::Unreadable => Mark::Unreadable,
                    };
                    marks.put(lod.lod, change.position, mark);
                }
            }
            marks
        }
        Look::Repair => super::repair::marks(app),
        // The second save is not checked.
        _ if app.panes.world.shows_health() && sheets::side(app) != Side::B => app.panes.world.marks.clone(),
        _ => Marks::default(),
    }
}

/// How many whole blocks of the world no table leads to, so that they are not drawn; the repair draws those that it puts into
/// place.
fn unowned_words(app: &App) -> Option<String> {
    let Part::Forest(forest) = app.panes.world.part? else { return None };
    let items = &app.index.as_ref()?.items;
    let blocks =
        app.findings.unowned(|item| matches!(items.get(item), Some(Item::Region(number, _)) if *number == forest));
    let are = if blocks == 1 { "is" } else { "are" };
    let is_shown = blocks > 0 && app.panes.world.look != Look::Repair && sheets::side(app) != Side::B;
    is_shown.then(|| format!("{} {are} not drawn", count(blocks, "unowned block")))
}

/// Why nothing is shown, when nothing is.
fn words(app: &App) -> Option<String> {
    let Some(part) = app.panes.world.part else { return Some("There is no world in this save.".into()) };
    match app.panes.world.source.state(&(app.generation, part)) {
        LoadState::Ready(ready) if ready.source.blocks() == 0 => Some(match part {
            Part::PakDir(_) if app.opened_item().is_some_and(|opened| !opened.slots.is_empty()) => {
                "The chunks have numbers and no positions: the pane of blocks lists them.".into()
            }
            _ => match unowned_words(app) {
                Some(unowned) => format!("There are no blocks in the tables: {unowned}."),
                None => "There are no blocks here.".into(),
            },
        }),
        LoadState::Ready(_) => None,
        LoadState::Failed(why) => Some(why.to_owned()),
        _ => Some("Reading the tables.".into()),
    }
}
