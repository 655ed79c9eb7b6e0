//! What the caller learns about a drawn map.

use std::path::PathBuf;

use super::Drawing;
use crate::export::picture_faults::PictureFaults;
use crate::picture::Look;
use crate::picture::legend::Entry;
use crate::picture::paint::Window;
use crate::repair;
use crate::save::Save;

/// What was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct MapSummary {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// What matter went by.
    pub matter: String,
    /// What the darkest and the brightest colour of a scale mean, of a picture that has one.
    pub scale: Option<String>,
    /// Of the look `repair`: blocks of the drawn part that the save lists or holds and that the repair loses.
    pub lost: u64,
    /// The second file, of an array.
    pub description: Option<PathBuf>,
    /// What it lacks.
    pub faults: PictureFaults,
}

impl Drawing<'_> {
    /// Number of blocks of the drawn part that the repair loses, of the look `repair`. Those without a known position count too.
    pub(super) fn lost(&self, save: &Save) -> u64 {
        let mut lost = 0;
        if let Some(plan) = &self.plan {
            repair::fates(save, plan, &mut |block| {
                let is_drawn = block.position.is_none_or(|at| self.shows(&self.source, block.lod, [at; 2]));
                lost += u64::from(block.fate == repair::Fate::Lost && block.lod == self.request.lod && is_drawn);
            });
        }
        lost
    }

    /// What the ends of the scale of the picture mean, if its colours are those of a scale.
    pub(super) fn scale_words(&self) -> Option<String> {
        if !matches!(self.request.look, Look::Height | Look::Depth | Look::Size) {
            return None;
        }
        // The scales of these looks are those of the whole world.
        let empty = Window { width: 0, pixels: Vec::new() };
        self.style().legend(&empty).into_iter().find_map(|entry| match entry {
            Entry::Scale(_, low, high) => Some(format!("from {low} (dark) to {high} (bright)")),
            Entry::Color { text, .. } => Some(format!("all of it {text}")),
            _ => None,
        })
    }
}
