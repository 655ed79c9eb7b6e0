//! A block in both saves in words: which cut, what the marks stand for, the voxel at the cursor.

use ratatui::style::Color;
use unicode_width::UnicodeWidthStr;

use super::picture::{self, Key, Scene, View};
use crate::godot::channel::{NAMES, SDF};
use crate::printable::triple;
use crate::tui::app::App;
use crate::tui::canvas::Canvas;
use crate::tui::data::difference::Fate;
use crate::tui::data::pair::{Pair, Turn};
use crate::tui::inspector::grouped;
use crate::tui::panes::raster::Raster;
use crate::tui::panes::slice::{joined, number, short, world};
use crate::tui::theme::Role;

/// Columns of what stands before the values of the voxel.
const LEFT: u16 = 24;

/// What is said where there are no voxels to draw.
pub(super) fn nothing(pair: &Pair, canvas: &mut Canvas<'_>) {
    let mut y = 2;
    for (letter, side) in ["A", "B"].into_iter().zip(&pair.sides) {
        let text = match side {
            Err(why) => format!("{letter}: {why}"),
            Ok(Some(_)) => format!("{letter}: it has no voxels"),
            Ok(None) => format!("{letter}: no block here"),
        };
        y = canvas.wrap(1, y, &text, Role::Warning);
    }
}

/// Which cut, what differs in it, and how much in each of the others.
pub(super) fn cut_line(pair: &Pair, scene: &Scene, canvas: &mut Canvas<'_>) {
    let cuts = pair.cuts(scene.channel, scene.axis);
    let here = cuts.get(usize::try_from(scene.cut).unwrap_or(usize::MAX)).copied().unwrap_or(0);
    let differ = match (here, pair.voxels(scene.channel)) {
        (_, 0) => (Role::Dim, "nothing differs in this channel".to_owned()),
        (0, _) => (Role::Dim, "nothing differs in this cut".to_owned()),
        (1, _) => (Role::Warning, "1 voxel differs here".to_owned()),
        (n, _) => (Role::Warning, format!("{} voxels differ here", grouped(n.into()))),
    };
    let cut = format!("{} = {} of {}", scene.axis.name(), scene.cut, scene.depth);
    let name = NAMES.get(scene.channel).copied().unwrap_or_default();
    let channel = (Role::Text, format!("channel {} {name}", scene.channel));
    let pieces = [(Role::Key, cut), differ, channel];
    let count = joined(canvas, 1, &pieces);
    let dot = canvas.glyphs.dot.width();
    let taken: usize = pieces.iter().take(count).map(|(_, text)| text.width() + dot).sum();
    let left = u16::try_from(taken + 2).unwrap_or(u16::MAX);
    // Behind that, or on a line of their own.
    let room = canvas.width().saturating_sub(1 + if scene.cuts.is_some() { 20 } else { left });
    let most = cuts.iter().copied().max().unwrap_or(0);
    if cuts.is_empty() || most == 0 || room < 8 {
        return;
    }
    // Of as many cuts a column as it takes.
    let per = cuts.len().div_ceil(usize::from(room.min(64))).max(1);
    let columns = u16::try_from(cuts.len().div_ceil(per)).unwrap_or(u16::MAX);
    let (y, start) = match scene.cuts {
        Some(y) => {
            (y, canvas.line(1, y, &[(Role::Dim, "cuts along "), (Role::Dim, scene.axis.name()), (Role::Dim, "  ")]))
        }
        None => (1, canvas.width().saturating_sub(columns + 1)),
    };
    for (x, (number, part)) in (start..).zip(cuts.chunks(per).enumerate()) {
        let n = part.iter().copied().max().unwrap_or(0);
        let eighths = usize::try_from(u64::from(n) * 8 / u64::from(most)).unwrap_or(8).clamp(1, 8);
        let here = usize::try_from(scene.cut).is_ok_and(|cut| cut / per == number);
        let glyph = if n == 0 { canvas.glyphs.good } else { canvas.glyphs.bars.get(eighths).copied().unwrap_or(" ") };
        let role = match (here, n) {
            (true, _) => Role::Key,
            (false, 0) => Role::Dim,
            (false, _) => Role::Warning,
        };
        canvas.put(x, y, glyph, role);
    }
}

/// The title of a picture, and why it is not there.
pub(super) fn title(pair: &Pair, view: View, raster: &Raster, names: &[String; 2], y: u16, canvas: &mut Canvas<'_>) {
    let [a, b] = names;
    let (letter, name, side) = match view {
        View::A => ("A ", a.as_str(), Some(0)),
        View::Between => ("", "what differs", None),
        View::B => ("B ", b.as_str(), Some(1)),
    };
    let x = canvas.put(raster.left, y, letter, Role::Key);
    let room = raster.columns.saturating_sub(x - raster.left);
    canvas.put_within(x, y, room, name, if side.is_some() { Role::Strong } else { Role::Dim });
    let (words, role) = match side.and_then(|side| pair.sides.get(side)) {
        Some(Ok(None)) => ("no block here", Role::Dim),
        Some(Err(why)) => (why.as_str(), Role::Error),
        None if pair.odd.is_some() => (pair.odd.unwrap_or_default(), Role::Warning),
        None if pair.block(0).is_none() || pair.block(1).is_none() => ("not compared", Role::Dim),
        _ => return,
    };
    canvas.part(raster.left, y + 1, raster.columns, raster.lines).wrap(0, 0, words, role);
}

/// What a turn looks like.
pub(super) const fn turned(turn: Turn) -> (Color, &'static str, Role) {
    match turn {
        Turn::Came => (Color::Green, "+", Role::Good),
        Turn::Went => (Color::Red, "-", Role::Error),
        Turn::Other => (Color::Yellow, "~", Role::Warning),
    }
}

/// What a turn means in a channel.
const fn means(turn: Turn, channel: usize) -> &'static str {
    match (turn, channel == SDF) {
        (Turn::Came, true) => "filled",
        (Turn::Went, true) => "dug out",
        (Turn::Other, true) => "other distance",
        (Turn::Came, false) => "was 0",
        (Turn::Went, false) => "is 0",
        (Turn::Other, false) => "other value",
    }
}

/// What the marks between the pictures stand for.
pub(super) fn legend(pair: &Pair, scene: &Scene, y: u16, fate: Option<Fate>, canvas: &mut Canvas<'_>) {
    if pair.voxels(scene.channel) == 0 && !pair.metadata.is_empty() {
        metadata(pair, y, canvas);
        return;
    }
    if pair.voxels(scene.channel) == 0 {
        let words = match fate {
            Some(Fate::Added) => "The whole block is new.",
            Some(Fate::Removed) => "The whole block is gone.",
            Some(Fate::Moved) => "The same block stands at another place in B.",
            Some(Fate::Unreadable) => "It is not compared: one of the two cannot be read.",
            Some(Fate::Changed) if pair.changes.iter().all(|changes| changes.voxels == 0) => "No voxel differs.",
            Some(Fate::Changed) | None => "c goes to the next channel.",
        };
        canvas.put(1, y, words, Role::Dim);
        return;
    }
    let mut x = 1;
    for turn in [Turn::Came, Turn::Went, Turn::Other] {
        let (_, mark, role) = turned(turn);
        x = canvas.line(
            x,
            y,
            &[(role, mark), (Role::Text, " "), (Role::Text, means(turn, scene.channel)), (Role::Text, "   ")],
        );
    }
    let raster = scene.views.first().map(|(_, raster)| raster);
    let same = match raster {
        Some(raster) if raster.letters => ":",
        Some(raster) if raster.zoom.wide() > 1 => "░",
        _ => "█",
    };
    canvas.line(x, y, &[(Role::Border, same), (Role::Dim, " the same")]);
}

/// The first of the metadata that differs, and how much more there is.
fn metadata(pair: &Pair, y: u16, canvas: &mut Canvas<'_>) {
    let Some((path, values)) = pair.metadata.first() else { return };
    let [a, b] = values.each_ref().map(|value| value.as_deref().unwrap_or("nothing"));
    let arrow = if canvas.glyphs.ascii { "->" } else { "→" };
    let more = match pair.metadata.len().saturating_sub(1) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let room = canvas.width().saturating_sub(2 + u16::try_from(more.len()).unwrap_or(0));
    let text = format!("metadata {path}: {a} {arrow} {b}");
    canvas.put_within(1, y, room, &text, Role::Warning);
    let end = room.min(u16::try_from(text.width()).unwrap_or(u16::MAX));
    canvas.put(end.saturating_add(1), y, &more, Role::Dim);
}

/// The value of a side at the cursor, in words.
fn value(pair: &Pair, side: usize, channel: usize, at: [u32; 3]) -> (Role, String) {
    let Some(block) = pair.block(side) else {
        let words = if matches!(pair.sides.get(side), Some(Err(_))) { "not readable" } else { "no block" };
        return (Role::Dim, words.into());
    };
    let Some(raw) = block.voxel(channel, at) else { return (Role::Error, "not readable".into()) };
    let bits = block.channels.get(channel).map_or(8, |channel| channel.bits);
    let mut text = number(raw, bits);
    if let Some(distance) = block.sdf(channel, raw) {
        let solid = if distance < 0.0 { "inside" } else { "outside" };
        text = format!("distance {}, {solid}", short(distance));
    }
    (Role::Value, text)
}

/// The voxel at the cursor: where it is, its value in both.
pub(super) fn words(pair: &Pair, scene: &Scene, key: Key, canvas: &mut Canvas<'_>) {
    let [y, lines] = scene.words;
    if lines == 0 {
        return;
    }
    let at = scene.voxel;
    let turn = pair.turn(scene.channel, at);
    let (mark, role) = turn.map_or((" ", Role::Dim), |turn| {
        let (_, mark, role) = turned(turn);
        (mark, role)
    });
    let place = format!("voxel {}", triple(at));
    let x = canvas.line(1, y, &[(role, mark), (Role::Text, " "), (Role::Strong, &place), (Role::Text, "  ")]);
    let (one, other) = (value(pair, 0, scene.channel, at), value(pair, 1, scene.channel, at));
    if lines == 1 {
        canvas.line(x, y, &[(Role::Key, "A "), (one.0, &one.1), (Role::Key, "  B "), (other.0, &other.1)]);
        return;
    }
    let (_, lod, [position, _]) = key;
    let world = format!("world {}", triple(world(position, pair.size, at, lod)));
    let second = canvas.line(3, y + 1, &[(Role::Dim, &world), (Role::Text, "  ")]);
    let x = x.max(second).max(LEFT);
    let same = if one == other { " the same" } else { "" };
    canvas.line(x, y, &[(Role::Key, "A "), (one.0, &one.1)]);
    let x = canvas.line(x, y + 1, &[(Role::Key, "B "), (other.0, &other.1), (Role::Dim, same)]);
    let means = turn.map_or("", |turn| means(turn, scene.channel));
    if usize::from(x) + means.len() + 3 <= usize::from(canvas.width()) {
        canvas.put(x + 2, y + 1, means, role);
    }
}

/// The voxel at the cursor with its values, to be copied.
pub(super) fn copy(app: &App) -> Option<String> {
    let (pair, scene) = (picture::pair(app)?, picture::scene(app)?);
    let name = NAMES.get(scene.channel).copied().unwrap_or_default();
    let [a, b] = [0, 1].map(|side| value(pair, side, scene.channel, scene.voxel).1);
    Some(format!("voxel {} {name}: {a} in A, {b} in B", triple(scene.voxel)))
}
