//! What the checker keeps of one examined block or chunk.

use std::io;

use crate::bytes::Span;
use crate::check::Inside;
use crate::damage::Damage;
use crate::godot::block::Block;
use crate::godot::container::Mode;
use crate::godot::textures;
use crate::godot::verify::Verified;
use crate::recover::quick::Print;
use crate::recover::scaled::Drawn;
use crate::recover::sketch::Sketch;
use crate::save::View;

/// The result of examining a block.
#[derive(Default)]
pub(super) struct Outcome {
    /// Its size prefix; 0 if there is none.
    pub size: u32,
    /// Where it is stored.
    pub stored: Span,
    /// Bytes after decompression.
    pub plain: u64,
    /// Its compression.
    pub container: Option<&'static str>,
    /// Version of the block; 0 if unknown.
    pub version: u8,
    /// Its size, channels and metadata.
    pub inside: Inside,
    /// Number of whole channels, if it is damaged.
    pub whole_channels: Option<usize>,
    /// What is wrong with it.
    pub damage: Vec<Damage>,
    /// Further information, in a sentence.
    pub remark: Option<String>,
    /// Whether it was found whole, elsewhere in its file.
    pub is_found: bool,
    /// Why it could not be read.
    pub error: Option<io::Error>,
    /// A print of its stored bytes, if it was requested and the block is whole.
    pub print: Option<Print>,
    /// Some voxels of its sides, if they were requested and the block is whole.
    pub sketch: Option<Sketch>,
    /// Some voxels that other LODs have as well, likewise.
    pub drawn: Option<Box<Drawn>>,
}

impl Outcome {
    pub fn from_view(view: io::Result<View<'_>>) -> Self {
        match view {
            Ok(view) => Self {
                size: view.stored.size.unwrap_or(0),
                stored: view.stored.span,
                plain: view.container.map_or(0, |c| c.plain.len() as u64),
                container: view.container.and_then(|c| c.mode).map(Mode::name),
                version: view.block.as_ref().map_or(0, |block| block.version),
                inside: view.block.as_ref().map(Inside::from_block).unwrap_or_default(),
                whole_channels: (!view.damage.is_empty()).then(|| view.block.as_ref().map_or(0, Block::whole_channels)),
                damage: view.damage.iter().copied().chain(view.block.as_ref().and_then(textures::repeated)).collect(),
                remark: None,
                is_found: false,
                error: None,
                print: None,
                sketch: None,
                drawn: None,
            },
            Err(error) => Self { error: Some(error), ..Self::default() },
        }
    }

    /// A block that was proved healthy without decoding it.
    pub fn from_verified(verified: &Verified, stored: &[u8], span: Span) -> Self {
        Self {
            size: u32::from_le_bytes(stored.first_chunk().copied().unwrap_or_default()),
            stored: span,
            plain: verified.plain.into(),
            container: Some(Mode::Lz4.name()),
            version: verified.version,
            inside: Inside::from_verified(verified),
            ..Self::default()
        }
    }

    /// The same with a print, if the block is whole and has the length of its entry, and with what `draw` makes of it.
    pub fn with_print(
        view: io::Result<View<'_>>,
        sector_size: u32,
        draw: impl FnOnce(&Block<'_>) -> (Option<Sketch>, Option<Drawn>),
    ) -> Self {
        let whole = view.as_ref().ok().filter(|view| view.damage.is_empty());
        let print = whole.map(|view| Print::new(view.bytes, sector_size));
        let (sketch, drawn) = whole.and_then(|view| view.block.as_ref()).map(draw).unwrap_or_default();
        Self { print, sketch, drawn: drawn.map(Box::new), ..Self::from_view(view) }
    }
}
