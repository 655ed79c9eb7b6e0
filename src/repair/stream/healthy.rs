//! Recognizes streams of very many rows that are copied unchanged, without holding what is found out about each row.

use super::plain::is_plain;
use super::settings::{self, Evidence, Settled};
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
pub(super) fn is_healthy(
    stream: &mut Stream<FileSource>,
    certain: &CertainSettings,
    options: &Options<'_>,
) -> std::io::Result<bool> {
    let grave = |code: Code| code.level() >= Level::Warning || code == Code::StreamIndex;
    let is_odd = stream.pages.overlay.is_some() || stream.rule != KeyRule::New;
    if is_odd || stream.damage.iter().any(|d| grave(d.code)) {
        return Ok(false);
    }
    // No row can change settings that all of them fit.
    if !certain.settled.put_right.is_empty() {
        return Ok(false);
    }
    let mut last = None;
    for row in &stream.rows {
        if row.odd || row.lost || row.moved || row.place.is_none() || row.place == last {
            return Ok(false);
        }
        last = row.place;
    }
    let mut healthy = true;
    // `is_plain` compares the block sizes.
    let (shared, owners) = examine::without_size(stream, |stream| {
        examine::each(stream, &options.watch, &mut |_, seen| {
            healthy = is_plain(&seen, certain);
            healthy
        })
    })?;
    Ok(healthy && shared.is_empty() && !has_unused(stream, &owners))
}

/// Settings with which rows can be told apart one by one.
#[derive(Debug)]
pub(super) struct CertainSettings {
    pub settled: Settled,
    /// The format of keys.
    pub format: Format,
    /// Voxels along an axis of a block.
    pub side: u16,
    /// Whether all rows were compared with them, and not only the row of settings read.
    pub by_rows: bool,
}

impl CertainSettings {
    /// Finds the settings of a stream of very many rows: those of the row of settings if it is whole and the keys have its format, or
    /// those that the rows show. Keeps counts of the rows only. `None` if the rows leave a choice.
    ///
    /// # Errors
    /// I/O errors.
    pub fn find(stream: &mut Stream<FileSource>, options: &Options<'_>) -> std::io::Result<Option<Self>> {
        let settled = settings::decide_settings(stream, &Evidence::default())?;
        // The rows decide if most keys are no positions by the row of settings, or if their positions contradict it.
        let is_contradicted = stream.damage.iter().any(|d| d.code == Code::StreamMetaField);
        let placed = stream.rows.iter().filter(|row| row.place.is_some()).count();
        if settled.put_right.is_empty()
            && settled.meta.format == stream.format
            && !is_contradicted
            && placed >= stream.rows.len() / 2
            && let Some(certain) = Self::of(settled, false)
        {
            return Ok(Some(certain));
        }
        let mut evidence = Evidence::default();
        examine::without_size(stream, |stream| {
            examine::each(stream, &options.watch, &mut |_, seen| {
                evidence.add(&seen);
                true
            })
        })?;
        Ok(Self::of(settings::decide_settings(stream, &evidence)?, true))
    }

    fn of(settled: Settled, by_rows: bool) -> Option<Self> {
        let (format, side) = (settled.meta.format?, settled.meta.block_size()?);
        settled.unsettled.is_none().then_some(Self { settled, format, side, by_rows })
    }
}
