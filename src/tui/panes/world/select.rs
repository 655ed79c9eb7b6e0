//! The cursor and the selection: each follows the other.

use crate::check::BlockAt;
use crate::damage::Space;
use crate::godot::textures::{INDICES, WEIGHTS};
use crate::picture::legend::lods;
use crate::picture::{Layer, Look, Mark, Part, Pixel, TileKey};
use crate::printable::triple;
use crate::tui::action::Action;
use crate::tui::data::{Item, ItemId, Part as FilePart};
use crate::tui::go;
use crate::tui::pane::InspectorLines;
use crate::tui::pane::Pane;
use crate::tui::theme::{Role, level_role};
use crate::tui::{App, Bytes};
use crate::voxel_map::flags;
use crate::world::At;

/// The block under the cursor: its LOD and position. From above it is the one with the highest matter, or the highest.
fn block_under_cursor(app: &App) -> Option<(u8, At)> {
    let ready = super::ready(app)?;
    let world = &app.panes.world;
    for table in &ready.source.tables {
        let at = ready.source.block_at(table.lod, world.cursor)?;
        if let Some(block) = table.find(at) {
            return Some((table.lod, *block));
        }
        if world.look != Look::Cut {
            let column = |block: &&At| block.position[0] == at[0] && block.position[2] == at[2];
            let from = table.blocks.partition_point(|block| (block.position[2], block.position[0]) < (at[2], at[0]));
            if let Some(block) = table.blocks.get(from..)?.iter().take_while(column).last() {
                return Some((table.lod, *block));
            }
        }
    }
    None
}

/// The block that is said to be under the cursor: the selected one while the cursor is in it. Another pane may have chosen it although the
/// picture shows one of a lower LOD there.
fn described_block(app: &App) -> Option<(u8, At)> {
    let selected = || {
        let ((lod, position), ready) = (selected_block(app)?, super::ready(app)?);
        let is_here = ready.source.block_at(lod, app.panes.world.cursor) == Some(position);
        let table = ready.source.tables.iter().find(|table| is_here && table.lod == lod)?;
        table.find(position).filter(|block| item(app, Some(block)) == app.selected_item()).map(|block| (lod, *block))
    };
    selected().or_else(|| block_under_cursor(app))
}

/// What is at the cursor in the picture, as far as it is there.
fn pixel(app: &App) -> Option<Pixel> {
    pixel_of(app, super::sheets::shown(app).first()?).map(|(pixel, _)| pixel)
}

/// The height of a pixel, with the voxels across of which it is the highest where these are several.
fn height(pixel: Pixel, step: i64) -> String {
    if step > 1 { format!("y {}, highest of {step} x {step}", pixel.y) } else { format!("y {}", pixel.y) }
}

/// The same of one of the worlds that are shown, and the voxels that a pixel has along each axis.
fn pixel_of(app: &App, sheet: &super::sheets::Sheet) -> Option<(Pixel, i64)> {
    let world = &app.panes.world;
    let layer = world.layer(super::ready(app)?);
    let (source, step) = (&sheet.ready.source, world.view?.step());
    let mut grids = super::load::grids(source, layer, step);
    // Where the LOD that is shown has no block, a higher one is seen.
    let lod = block_under_cursor(app).map(|(lod, _)| lod);
    if let Some(grid) = super::load::coarser(source, layer, step).into_iter().find(|grid| Some(grid.lod) == lod) {
        grids = vec![grid];
    }
    let place = world.place();
    let mut pyramid = sheet.pyramid.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for grid in grids {
        let Some(tile) = pyramid.get(&TileKey { grid, at: grid.tile_at(place) }) else { continue };
        let side = grid.side.max(1);
        let [x, y] = place.map(|n| n.div_euclid(grid.step.max(1)).rem_euclid(side).unsigned_abs());
        let pixel = tile.pixels.get(crate::bytes::index(y * side.unsigned_abs() + x))?;
        return Some((*pixel, grid.step));
    }
    None
}

/// Selects the block under the cursor, in its file.
pub fn select_under_cursor(app: &mut App) {
    if app.panes.world.look != Look::Cut
        && let Some(pixel) = pixel(app).filter(Pixel::is_there)
        && matches!(super::ready(app).map(|ready| app.panes.world.layer(ready)), Some(Layer::Top(_)))
    {
        app.panes.world.cursor[1] = i64::from(pixel.y);
    }
    let Some((lod, block)) = block_under_cursor(app) else { return };
    // The cursor goes to the height of the block, so that it is in the block that it selects.
    if let Some(ready) = super::ready(app).cloned() {
        let (low, high) = (ready.source.corner(lod, block.position)[1], ready.source.block(lod)[1]);
        let y = &mut app.panes.world.cursor[1];
        *y = (*y).clamp(low, low.saturating_add(high - 1));
    }
    let selected =
        app.selected_slot().filter(|slot| slot.position == Some(block.position) && slot.lod == slot_lod(app, lod));
    if selected.is_none() || app.selected_item() != item(app, Some(&block)) {
        select_block(app, lod, &block);
    }
    app.panes.world.selected = app.block_key();
}

/// The file of a block; without a block, that of a world that is one file.
fn item(app: &App, block: Option<&At>) -> Option<ItemId> {
    let index = app.index.as_ref()?;
    let file = block.map(|block| crate::bytes::index(block.file_number().into()));
    let item = match app.panes.world.part? {
        Part::Forest(forest) => Item::Region(forest, file?),
        Part::Stream(stream) => Item::Stream(stream),
        Part::PakDir(dir) => Item::Pak(dir, file?),
        Part::Layer(map, layer) => Item::Layer(map, layer),
    };
    index.items.iter().position(|other| *other == item)
}

/// Selects a block in its file, which may have to be opened first.
fn select_block(app: &mut App, lod: u8, block: &At) {
    let Some(item) = item(app, Some(block)) else { return };
    match app.panes.world.part {
        Some(Part::Forest(_)) => {
            go::to_block(app, lod, block.position);
        }
        Some(Part::Layer(..)) => {
            if let Some(node) = app.index.as_ref().and_then(|index| index.node_of(item)) {
                app.select_node(node);
            }
            app.selection.voxel = voxel(app.panes.world.cursor);
        }
        _ => go::to_slot(app, item, u32::try_from(block.row()).unwrap_or(u32::MAX)),
    }
}

/// The LOD as tables have it: 0 where a file has one LOD only.
fn slot_lod(app: &App, lod: u8) -> u8 {
    if app.opened_item().is_some_and(|opened| opened.stream().is_some()) { lod } else { 0 }
}

fn voxel(cell: [i64; 3]) -> Option<[u32; 3]> {
    let [x, y, z] = cell.map(|n| u32::try_from(n).ok());
    Some([x?, y?, z?])
}

/// Moves the cursor of the first view to the surface, once the picture has it, unless it was moved before.
fn move_to_surface(app: &mut App) {
    let Some(at) = app.panes.world.unsettled else { return };
    if app.panes.world.cursor != at || app.selection.finding.is_some() || app.panes.world.look == Look::Cut {
        app.panes.world.unsettled = None;
    } else if let Some(pixel) = pixel(app).filter(Pixel::is_there)
        && matches!(super::ready(app).map(|ready| app.panes.world.layer(ready)), Some(Layer::Top(_)))
    {
        app.panes.world.unsettled = None;
        app.panes.world.cursor[1] = i64::from(pixel.y);
        let found =
            block_under_cursor(app).and_then(|(lod, block)| Some((lod, block.position, item(app, Some(&block))?)));
        // The directory stays selected in the tree.
        if let Some((lod, position, item)) = found.filter(|_| app.selects_directory()) {
            go::to_block_of(app, item, lod, position);
            app.panes.world.selected = app.block_key();
        }
    }
}

/// Moves the cursor to the place of the selected finding, if its block is unowned and no table entry selects it.
fn follow_finding(app: &mut App) {
    let finding = app.selection.finding.filter(|_| app.selection.slot.is_none() && app.pending_target.is_none());
    if finding == app.panes.world.followed {
        return;
    }
    app.panes.world.followed = finding;
    let block = finding.and_then(|number| app.findings.list.get(number)?.block);
    let place = block.and_then(BlockAt::place);
    let (Some((lod, position)), Some(ready)) = (place, super::ready(app).cloned()) else { return };
    let (corner, block) = (ready.source.corner(lod, position), ready.source.block(lod));
    app.panes.world.cursor = [0, 1, 2].map(|i| corner[i].saturating_add(block[i] / 2));
    show_cursor(app);
    app.panes.world.selected = None;
}

/// Shows the cursor, which another pane or a typed place moved.
fn show_cursor(app: &mut App) {
    let (place, pixels) = (app.panes.world.place(), super::pixel_size(app));
    if let Some(view) = &mut app.panes.world.view {
        view.reveal(place, pixels);
    }
}

/// Moves the cursor to what was selected elsewhere, and names the voxel of the selected block.
pub fn follow_selection(app: &mut App) {
    follow_finding(app);
    move_to_surface(app);
    let key = app.block_key();
    let (Some((lod, position)), Some(ready)) = (selected_block(app), super::ready(app).cloned()) else { return };
    let block = ready.source.block(lod);
    let corner = ready.source.corner(lod, position);
    let inside =
        |cursor: [i64; 3]| (0..3).all(|i| (corner[i]..corner[i].saturating_add(block[i])).contains(&cursor[i]));
    // The first block of a file, which nobody chose, does not lead away from where most blocks are.
    let [low, high] = ready.bulk.unwrap_or_default();
    let is_far = (0..3).any(|i| corner[i] < low[i] || corner[i] >= high[i]);
    if is_far && app.panes.world.selected.is_none() && app.selection.finding.is_none() {
        app.panes.world.selected = key;
        select_under_cursor(app);
        return;
    }
    if app.panes.world.selected != key {
        let is_first = key.is_some_and(|(item, _)| app.first_selected == Some(item));
        let is_new = app.panes.world.selected.is_none() && app.selection.finding.is_none();
        app.panes.world.selected = key;
        if !inside(app.panes.world.cursor) {
            app.panes.world.cursor = [0, 1, 2].map(|i| corner[i].saturating_add(block[i] / 2));
            show_cursor(app);
        }
        let nobody_chose = is_first && is_new && app.selects_directory();
        app.panes.world.unsettled = nobody_chose.then_some(app.panes.world.cursor);
    }
    if app.pane == Pane::World && inside(app.panes.world.cursor) {
        let local = voxel([0, 1, 2].map(|i| (app.panes.world.cursor[i] - corner[i]) >> lod.min(40)));
        if app.selection.voxel != local {
            app.selection.voxel = local;
            // The bytes of the voxel are selected once its block is there.
            app.panes.world.place_bytes = app.panes.world.look == Look::Cut;
        }
    }
    if let (true, Some(at), Some(block)) =
        (app.panes.world.place_bytes, app.selection.voxel, app.selected_block().cloned())
    {
        app.panes.world.place_bytes = false;
        if let Layer::Cut { channel, .. } = app.panes.world.layer(&ready) {
            let span = block.place(channel.into(), at);
            app.selection.bytes = span.map(|span| Bytes { space: Space::Block, part: FilePart::Data, span });
        }
    }
}

/// Goes to a voxel of the world, typed as x,y,z.
///
/// # Errors
/// A sentence, when there is nothing there.
pub fn go_to(app: &mut App, place: [i64; 3]) -> Result<(), String> {
    let ready = super::ready(app).cloned().ok_or("the tables of the save are not read yet")?;
    let [low, high] = ready.source.extent().ok_or("there is no block")?;
    if (0..3).any(|i| place[i] < low[i] || place[i] >= high[i]) {
        let last = high.map(|n| n - 1);
        let shown = |[x, y, z]: [i64; 3]| format!("({x}, {y}, {z})");
        return Err(format!("the world goes from {} to {}; {} is outside", shown(low), shown(last), shown(place)));
    }
    app.panes.world.cursor = place;
    show_cursor(app);
    let Some((lod, block)) = block_under_cursor(app) else { return Ok(()) };
    select_block(app, lod, &block);
    app.panes.world.selected = app.block_key();
    Ok(())
}

/// Goes to what is under the cursor: its channels, or in a cut the bytes of the voxel.
pub fn enter(app: &mut App) -> bool {
    let described = described_block(app).map(|(lod, block)| (lod, block.position));
    if described.is_none() || described != selected_block(app) {
        select_under_cursor(app);
    }
    if described.is_none() {
        app.show_message("There is no block here.".into());
        return true;
    }
    app.panes.follow_selection();
    let in_block = app.selection.bytes.is_some_and(|bytes| bytes.space == Space::Block);
    let pane = if app.panes.world.look == Look::Cut && in_block { Pane::Hex } else { Pane::Channels };
    app.act(Action::Pane(pane));
    true
}

/// What is copied: the place, or while a block is tried the command of the repair.
pub fn copy(app: &App) -> Option<String> {
    if app.has_candidate() {
        return Some(crate::tui::panes::repair::command(app));
    }
    let [x, y, z] = app.panes.world.cursor;
    super::ready(app).map(|_| format!("{x},{y},{z}"))
}

/// What is under the cursor, for the inspector.
pub fn under_cursor(app: &App) -> Option<(String, InspectorLines)> {
    let ready = super::ready(app).filter(|_| app.pane == Pane::World)?;
    let world = &app.panes.world;
    let [x, y, z] = world.cursor;
    let mut out: InspectorLines = Vec::new();
    out.extend(crate::tui::panes::repair::trial_words(app));
    let found = super::sheets::shown(app).first().and_then(|sheet| pixel_of(app, sheet));
    let (pixel, step) = (found.map(|(pixel, _)| pixel), found.map_or(1, |(_, step)| step));
    let there = pixel.filter(Pixel::is_there);
    match world.layer(ready) {
        Layer::Top(matter) => match there {
            Some(pixel) => {
                out.push(("height", height(pixel, step), Role::Text));
                let textures = match matter {
                    crate::picture::Matter::Channel(channel) => textures(app, channel),
                    crate::picture::Matter::Value => None,
                };
                match textures {
                    Some(words) => out.extend(words),
                    None => out.extend(value(app, pixel.value, matter == crate::picture::Matter::Channel(1))),
                }
                if ready.source.has_depth() && pixel.more.is_finite() {
                    out.push(("depth", format!("{:.2} m", pixel.more), Role::Text));
                }
            }
            None if pixel.is_some() => out.push(("", "no matter in this column".into(), Role::Dim)),
            None => {}
        },
        Layer::Cut { channel, .. } => {
            if let Some(pixel) = there {
                if channel == 1 && ready.source.has_channels() {
                    out.push(("distance", format!("{:.3} voxels", f32::from_bits(pixel.value)), Role::Value));
                } else if let Some(words) = textures(app, channel.into()) {
                    out.extend(words);
                } else {
                    out.extend(value(app, pixel.value, false));
                }
            }
        }
        Layer::Size => {
            // A map in one array has no columns of blocks.
            let of = if ready.source.layer().is_some() { "" } else { " in the column of blocks" };
            let words = |bytes: u32| format!("{}{of}", crate::printable::count(bytes.into(), "byte"));
            out.extend(there.map(|pixel| ("stored", words(pixel.value), Role::Text)));
        }
        Layer::Coverage => out.extend(there.map(|pixel| ("", lods(pixel.value), Role::Text))),
    }
    if let Some(other) = super::sheets::shown(app).get(1) {
        let there = pixel_of(app, other).map(|(pixel, _)| pixel).filter(Pixel::is_there);
        out.push(("in B", in_words(app, world.layer(ready), there), Role::Text));
    }
    out.extend(crate::tui::panes::diff::says_at(app, world.cursor).map(|text| ("change", text, Role::Warning)));
    // A dense layer is one array: the parts that it is drawn in are no blocks of it.
    let is_one_array = app.selected_slot().is_some_and(|slot| slot.position.is_none());
    let block = described_block(app).filter(|_| !is_one_array);
    if let Some((lod, block)) = block {
        out.push(("block", block_name(lod, block.position), Role::Text));
    }
    // Where the cursor is in no block, a file may be selected all the same.
    let file = item(app, block.as_ref().map(|(_, block)| block));
    let name = file.and_then(|item| Some(app.index.as_ref()?.shown(item)));
    out.extend(crate::tui::panes::repair::tried_file(app).or(name).map(|name| ("file", name, Role::Text)));
    let worst = world.marks.at(&ready.source, [x, z]);
    let mark = block.map_or(worst, |(lod, block)| world.marks.of_block(lod, block.position));
    let state = match mark {
        Some(mark) => {
            let role = if matches!(mark, Mark::Warning | Mark::NoFile) { Role::Warning } else { Role::Error };
            (format!("{} {}", mark.letter(), mark.words()), role)
        }
        None if app.findings.running => ("not checked yet".to_owned(), Role::Dim),
        None => (format!("{} nothing wrong", app.glyphs.good), Role::Good),
    };
    out.push(("state", state.0, state.1));
    if let Some(worst) = worst.filter(|worst| Some(*worst) != mark) {
        out.push(("column", format!("{} {}", worst.letter(), worst.words()), Role::Warning));
    }
    out.extend(finding_under_cursor(app, ready, file, block.map(|(lod, block)| (lod, block.position))));
    Some((format!("({x}, {y}, {z})"), out))
}

/// The selected finding, if it is about the block or the file under the cursor; of another block there, such as one of a higher LOD, with
/// its name.
fn finding_under_cursor(
    app: &App,
    ready: &super::Ready,
    file: Option<ItemId>,
    block: Option<(u8, [i32; 3])>,
) -> Option<(&'static str, String, Role)> {
    let number = app.selection.finding?;
    let finding = app.findings.list.get(number)?;
    let item = app.findings.items.get(number).copied().flatten();
    let name = match finding.block.and_then(BlockAt::place) {
        None => (item == file).then(String::new)?,
        about if about == block => String::new(),
        Some((lod, position)) => {
            let index = app.index.as_ref()?;
            let is_of_world = super::load::part_of(index, index.node_of(item?)?) == app.panes.world.part;
            let is_here = ready.source.block_at(lod, app.panes.world.cursor) == Some(position);
            (is_of_world && is_here).then(|| format!("block {}: ", block_name(lod, position)))?
        }
    };
    let level = Some(finding.level());
    Some(("", format!("{} {name}{}", app.glyphs.level(level), finding.message()), level_role(level)))
}

/// The position of a block, with its LOD above 0.
fn block_name(lod: u8, position: [i32; 3]) -> String {
    let of = if lod > 0 { format!(" of LOD {lod}") } else { String::new() };
    format!("{}{of}", triple(position))
}

/// What a pixel shows, in a few words.
fn in_words(app: &App, layer: Layer, pixel: Option<Pixel>) -> String {
    let Some(pixel) = pixel else { return "nothing".into() };
    let value = || value(app, pixel.value, false).map(|(_, text, _)| text).unwrap_or_default();
    match layer {
        Layer::Cut { channel: 1, .. } => format!("distance {:.3} voxels", f32::from_bits(pixel.value)),
        Layer::Top(crate::picture::Matter::Channel(1)) => format!("y {}", pixel.y),
        Layer::Top(_) => format!("{}, y {}", value(), pixel.y),
        _ => value(),
    }
}

/// The textures of the voxel under the cursor and their weights, in a cut through either.
fn textures(app: &App, channel: usize) -> Option<InspectorLines> {
    // The cursor may be outside the selected block.
    let (lod, under) = described_block(app)?;
    selected_block(app).filter(|selected| *selected == (lod, under.position))?;
    let (block, [x, y, z]) = (app.selected_block()?, app.selection.voxel?);
    block.textures().filter(|_| channel == INDICES || channel == WEIGHTS)?;
    let words = |channel| block.describe_value(channel, block.voxel(channel, [x, y, z])?);
    Some([INDICES, WEIGHTS].into_iter().filter_map(words).map(|words| ("", words, Role::Value)).collect())
}

/// The selected block: its LOD in the world and its position.
pub fn selected_block(app: &App) -> Option<(u8, [i32; 3])> {
    let slot = app.selected_slot()?;
    let lod = match app.selected_item().and_then(|item| app.index.as_ref()?.file(item)) {
        Some(crate::save::File::Region(_, file)) => file.lod,
        _ => slot.lod,
    };
    Some((lod, slot.position?))
}

/// A value in words: the name of a type, or flags.
fn value(app: &App, value: u32, is_distance: bool) -> Option<(&'static str, String, Role)> {
    let ready = super::ready(app)?;
    if is_distance {
        return None;
    }
    if ready.source.layer().is_some() {
        let names: Vec<&str> = flags::names(u64::from(value)).map(|flag| flag.name).collect();
        return Some(("flags", if names.is_empty() { "none".into() } else { names.join(", ") }, Role::Value));
    }
    let name = app.settings.names.name(value.into()).map_or_else(String::new, |name| format!(" {name}"));
    Some(("value", format!("{value}{name}"), Role::Value))
}
