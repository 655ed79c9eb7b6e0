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
    // Block sizes are compared here.
    let said = std::mem::take(&mut stream.meta.block_size_po2);
    let mut healthy = true;
    let examined = examine::each(stream, &options.watch, &mut |_, seen| {
        healthy = is_plain(&seen, certain);
        healthy
    });
    stream.meta.block_size_po2 = said;
    let (shared, owners) = examined?;
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
    /// Whether all rows were asked for them, not the row of settings alone.
    pub by_rows: bool,
}

impl CertainSettings {
    /// The settings of a stream of very many rows: those of the row of settings if it is whole and the keys have its format, or
    /// what the rows show, of which no more is kept than how many show what. `None` if these leave a choice.
    ///
    /// # Errors
    /// I/O errors.
    pub fn find(stream: &mut Stream<FileSource>, options: &Options<'_>) -> std::io::Result<Option<Self>> {
        let settled = settings::decide_settings(stream, &Evidence::default())?;
        // Other settings count only if most keys are no positions, or no neighbours, by these.
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
        // Block sizes are compared once these are decided.
        let said = std::mem::take(&mut stream.meta.block_size_po2);
        let mut evidence = Evidence::default();
        let examined = examine::each(stream, &options.watch, &mut |_, seen| {
            evidence.add(&seen);
            true
        });
        stream.meta.block_size_po2 = said;
        examined?;
        Ok(Self::of(settings::decide_settings(stream, &evidence)?, true))
    }

    fn of(settled: Settled, by_rows: bool) -> Option<Self> {
        let (format, side) = (settled.meta.format?, settled.meta.block_size()?);
        settled.unsettled.is_none().then_some(Self { settled, format, side, by_rows })
    }
}
