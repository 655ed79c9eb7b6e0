//! Recognizes streams of very many rows that are copied unchanged, without holding what is found out about each row.

use super::plain::is_plain;
use super::settings::{self, Settled};
use super::{examine, has_unused};
use crate::damage::{Code, Level};
use crate::godot::stream::loc::{Format, KeyRule};
use crate::repair::Options;
use crate::save::Stream;
use crate::source::FileSource;

/// Rows above which a stream is looked through once before its rows are decided one by one.
pub(super) const MANY: usize = 1 << 18;

/// Whether nothing of a stream would change: its pages and settings are healthy, and each of its rows is whole and the only one
/// of its place. Where this is not certain, false.
///
/// # Errors
/// I/O errors.
pub(super) fn is_healthy(stream: &mut Stream<FileSource>, options: &Options<'_>) -> std::io::Result<bool> {
    let grave = |code: Code| code.level() >= Level::Warning || code == Code::StreamIndex;
    let is_odd = stream.pages.overlay.is_some() || stream.rule != KeyRule::New;
    if is_odd || stream.damage.iter().any(|d| grave(d.code)) {
        return Ok(false);
    }
    // No row can change settings that all of them fit.
    let Some((_, format, side)) = certain_settings(stream)? else { return Ok(false) };
    let mut last = None;
    for row in &stream.rows {
        if row.odd || row.lost || row.moved || row.place.is_none() || row.place == last {
            return Ok(false);
        }
        last = row.place;
    }
    // Block sizes are compared here.
    let said = std::mem::take(&mut stream.meta.block_size_po2);
    let mut healthy = true;
    let examined = examine::each(stream, &options.watch, &mut |_, seen| {
        healthy = is_plain(&seen, format, side);
        healthy
    });
    stream.meta.block_size_po2 = said;
    let (shared, owners) = examined?;
    Ok(healthy && shared.is_empty() && !has_unused(stream, &owners))
}

/// The settings, the format of keys and the size of blocks, if the row of settings is whole and the keys have its format.
///
/// # Errors
/// I/O errors.
pub(super) fn certain_settings(stream: &Stream<FileSource>) -> std::io::Result<Option<(Settled, Format, u16)>> {
    let settled = settings::decide_settings(stream, &[])?;
    let (Some(format), Some(side)) = (settled.meta.format, settled.meta.block_size()) else { return Ok(None) };
    let is_certain = settled.unsettled.is_none() && settled.put_right.is_empty() && stream.format == Some(format);
    Ok(is_certain.then_some((settled, format, side)))
}
