//! What the pane keeps: the tables of the world, the view, the cursor, and what was drawn.

use std::sync::{Arc, Mutex, OnceLock};

use super::overview::Outline;
use super::sheets::{self, Side};
use super::view::View;
use super::{image, load};
use crate::picture::pyramid::Pyramid;
use crate::picture::{Layer, Look, Marks, Matter, Part, Probe, Source};
use crate::tui::data::Loaded;

/// The tables of a world, and what it is like.
#[derive(Debug)]
pub struct Ready {
    /// The tables.
    pub source: Arc<Source>,
    /// What some of its blocks tell.
    pub probe: Probe,
    /// What matter goes by.
    pub matter: Matter,
    /// Whether blocks that were read later changed that: they do so once.
    pub is_revised: bool,
    /// The box of the bulk of the blocks.
    pub bulk: Option<[[i64; 3]; 2]>,
    /// Middles of blocks outside of it, some of them.
    pub far: Vec<[i64; 3]>,
    /// Where blocks are, as seen along x, y and z, once that is shown.
    outlines: Arc<Outlines>,
}

type Outlines = [OnceLock<Option<Outline>>; 3];

impl Ready {
    /// Looks at the tables of a world.
    pub fn new(source: Source) -> Self {
        let probe = Probe::new(&source, None);
        let matter = probe.matter(&source);
        let bulk = source.bulk();
        let far = bulk.filter(|bulk| Some(*bulk) != source.extent()).map(|bulk| far(&source, bulk)).unwrap_or_default();
        let outlines = Arc::<Outlines>::default();
        // What is seen from above is shown first.
        outlines[1].get_or_init(|| Outline::new(&source, [0, 2]));
        Self { source: Arc::new(source), probe, matter, is_revised: false, bulk, far, outlines }
    }

    /// Where blocks are on the plane of a layer.
    pub fn outline(&self, layer: Layer) -> Option<&Outline> {
        let axes = layer.axes();
        let along = self.outlines.get(3usize.saturating_sub(axes[0] + axes[1]))?;
        along.get_or_init(|| Outline::new(&self.source, axes)).as_ref()
    }

    /// The same world by other matter, which blocks that were read since show.
    pub fn revised(&self, matter: Matter) -> Self {
        let channel = if let Matter::Channel(channel) = matter { Some(channel) } else { None };
        let probe = Probe::new(&self.source, channel);
        let (source, outlines) = (Arc::clone(&self.source), Arc::clone(&self.outlines));
        Self { source, probe, matter, is_revised: true, bulk: self.bulk, far: self.far.clone(), outlines }
    }
}

/// Blocks outside of the bulk that the edges of the picture point to.
const FAR: usize = 256;

fn far(source: &Source, [low, high]: [[i64; 3]; 2]) -> Vec<[i64; 3]> {
    let middles = source.tables.iter().flat_map(|table| {
        let block = source.block(table.lod);
        table.blocks.iter().map(move |at| {
            let corner = source.corner(table.lod, at.position);
            [0, 1, 2].map(|i| corner[i].saturating_add(block[i] / 2))
        })
    });
    let is_far = |at: &[i64; 3]| (0..3).any(|i| at[i] < low[i] || at[i] >= high[i]);
    middles.filter(is_far).take(FAR).collect()
}

/// What the pane keeps.
#[derive(Debug)]
pub struct WorldState {
    pub(super) source: Loaded<(u64, Part), Ready>,
    pub(super) part: Option<Part>,
    pub(super) pyramid: Arc<Mutex<Pyramid>>,
    /// Counts what came from the background.
    pub(super) arrived: u64,
    pub(super) asked: Option<load::Request>,
    pub(super) complete: bool,
    pub(super) look: Look,
    pub(super) axis: usize,
    pub(super) channel: Option<usize>,
    pub(super) view: Option<View>,
    /// In voxels of the world.
    pub(super) cursor: [i64; 3],
    /// What was selected when the pane last looked: what is selected elsewhere moves the cursor.
    pub(super) selected: Option<(crate::tui::ItemKey, u32)>,
    /// Where the cursor of the first view is, until it is on the surface.
    pub(super) unsettled: Option<[i64; 3]>,
    /// The finding about an unowned block that the cursor went to.
    pub(super) followed: Option<usize>,
    /// Whether blocks with findings are marked; by whether there are some, when nobody chose.
    pub(super) health: Option<bool>,
    pub(super) marks: Marks,
    /// The check, and how many of its findings are in the marks.
    pub(super) marked: (u64, usize, Option<Part>),
    /// The open layer of a map whose blocks the marks were looked up in.
    pub(super) marked_layer: Option<crate::tui::ItemKey>,
    /// Whether the marks are those that the verdict counts.
    pub(super) is_corrected: bool,
    pub(super) drag: Option<[u16; 2]>,
    pub(super) image: Option<image::Image>,
    /// The picture in pixels of the terminal.
    #[cfg(feature = "graphics")]
    pub(super) drawn: super::pixels::State,
    /// Where the legend is.
    pub(super) legend: image::LegendPlace,
    /// The view of the bulk, as the pane was when it was last drawn.
    pub(super) fitted: Option<View>,
    /// Worlds beside that of the save.
    pub(super) sheets: sheets::Sheets,
    /// Which of two saves is shown, when somebody chose.
    pub(super) side: Option<Side>,
    /// The line of the legend that stands out.
    pub(super) spot: Option<usize>,
    /// Whether the bytes of the voxel are to be selected once its block is there.
    pub(super) place_bytes: bool,
}

impl Default for WorldState {
    fn default() -> Self {
        Self {
            source: Loaded::default(),
            part: None,
            pyramid: Arc::new(Mutex::new(Pyramid::default())),
            arrived: 0,
            asked: None,
            complete: false,
            look: Look::Surface,
            axis: 1,
            channel: None,
            view: None,
            cursor: [0; 3],
            selected: None,
            followed: None,
            unsettled: None,
            health: None,
            marks: Marks::default(),
            marked: (0, 0, None),
            marked_layer: None,
            is_corrected: false,
            drag: None,
            image: None,
            #[cfg(feature = "graphics")]
            drawn: super::pixels::State::default(),
            legend: image::LegendPlace::Below(1),
            fitted: None,
            sheets: sheets::Sheets::default(),
            side: None,
            spot: None,
            place_bytes: false,
        }
    }
}

impl WorldState {
    /// Forgets the picture in pixels, so that it is made again.
    #[cfg(feature = "graphics")]
    pub fn forget_pixels(&mut self) {
        self.drawn.clear();
    }

    /// The world that is shown.
    #[must_use]
    pub const fn part(&self) -> Option<Part> {
        self.part
    }

    pub(super) fn shows_health(&self) -> bool {
        self.look == Look::Health || self.health.unwrap_or(!self.marks.is_empty())
    }

    pub(super) fn layer(&self, ready: &Ready) -> Layer {
        let matter = match self.channel {
            Some(channel) if ready.source.has_channels() => Matter::Channel(channel),
            _ => ready.matter,
        };
        let channel = match matter {
            Matter::Channel(channel) => channel,
            Matter::Value => 0,
        };
        load::layer(self.look, matter, self.axis, self.cursor[self.axis], channel)
    }

    /// The axes of the picture.
    pub(super) fn axes(&self) -> [usize; 2] {
        load::layer(self.look, Matter::Value, self.axis, 0, 0).axes()
    }

    pub(super) fn rises(&self) -> bool {
        self.axes()[1] == 1
    }

    /// The cursor on the picture.
    pub(super) fn place(&self) -> [i64; 2] {
        self.axes().map(|axis| self.cursor[axis])
    }

    pub(super) fn set_place(&mut self, place: [i64; 2]) {
        let axes = self.axes();
        for (axis, n) in axes.into_iter().zip(place) {
            self.cursor[axis] = n;
        }
    }
}
