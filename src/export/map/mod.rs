//! The picture of a whole world as a PNG, or its numbers as an array; drawn band by band or row of tiles by row of tiles.

mod bands;
mod files;
mod summary;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use self::bands::{Bands, Rows};
pub use self::summary::MapSummary;
use crate::check::{self, BlockObserver, Misplaced};
use crate::draft::{self, Draft};
use crate::export::picture_faults::{self, PictureFaults};
use crate::export::voxels::{Area, Error, Odd};
use crate::parallel;
use crate::picture::paint::Style;
use crate::picture::palette::Palette;
use crate::picture::source::{Part, Reader, Scratch, Source};
use crate::picture::tile::Grid;
use crate::picture::{Layer, Look, Marks, Matter, Pixel, Probe, certain_matter, mark_missing_file};
use crate::recover::solutions::Solutions;
use crate::repair;
use crate::save::{Forest, RegionFile, Save, View};
use crate::watch::{Step, Watch};
use crate::world::{self, At};

/// The most pixels of a picture.
const PIXELS: i64 = 1 << 28;

/// The height of a column without matter.
pub const NOTHING: i32 = i32::MIN;

/// What is drawn.
#[derive(Clone, Debug)]
pub struct MapRequest {
    /// What the picture shows.
    pub look: Look,
    /// The LOD.
    pub lod: u8,
    /// A box of voxels of the LOD; everything when there is none.
    pub area: Option<Area>,
    /// Voxels of the LOD a pixel, along each side.
    pub scale: u32,
    /// The channel that matter goes by, or that is cut.
    pub channel: Option<usize>,
    /// Where a cut is: axis and place, in voxels of the LOD.
    pub cut: Option<(usize, i64)>,
    /// Names and colours of voxels.
    pub palette: Palette,
    /// Whether blocks with findings are marked whatever the look.
    pub health: bool,
    /// The save that the look `difference` compares with.
    pub against: Option<Arc<Save>>,
}

impl MapRequest {
    /// The whole world at LOD 0, a voxel a pixel, with a look.
    #[must_use]
    pub fn new(look: Look) -> Self {
        Self {
            look,
            lod: 0,
            area: None,
            scale: 1,
            channel: None,
            cut: None,
            palette: Palette::default(),
            health: false,
            against: None,
        }
    }
}

/// A world that is about to be drawn.
struct Drawing<'r> {
    request: &'r MapRequest,
    source: Source,
    /// The world that it is compared with.
    other: Option<Source>,
    grid: Grid,
    probe: Probe,
    marks: Marks,
    /// Of the look `repair`: what is drawn.
    plan: Option<Arc<repair::Plan>>,
    /// The first and one past the last pixel, in steps of the grid.
    low: [i64; 2],
    high: [i64; 2],
}

/// Draws a world into a new file: a PNG, or an array where the name ends in `.npy`, with a description in JSON beside it.
///
/// # Errors
/// When the destination cannot be used, nothing is there, the picture is too large, or something cannot be read or written.
pub fn map(
    save: &Arc<Save>,
    part: Part,
    request: &MapRequest,
    to: &Path,
    watch: &Watch<'_>,
) -> Result<MapSummary, Error> {
    let is_array = to.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
    let draft = Draft::new(&[&save.path], to, watch)?;
    let drawing = Drawing::new(save, part, request, watch)?;
    let [width, height] = [0, 1].map(|i| u32::try_from(drawing.high[i] - drawing.low[i]).unwrap_or(u32::MAX));
    let mut summary = MapSummary {
        size: [width, height],
        matter: drawing.matter_name(),
        scale: drawing.scale_words().filter(|_| !is_array),
        lost: drawing.lost(save),
        description: None,
        faults: PictureFaults::default(),
    };
    // A picture is compressed: less than a thousandth of its pixels is none.
    let pixels = u64::from(width).saturating_mul(u64::from(height));
    draft::check_space(to, if is_array { pixels.saturating_mul(4) } else { pixels / 1000 })?;
    let name = Path::new("picture");
    if is_array {
        let drawn = drawing.write_array(&draft, name, watch)?;
        summary.faults = drawing.faults(drawn, watch);
        let described = to.with_extension("json");
        draft::check_destination(&[&save.path], &described)?;
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = crate::printable::write_json_pretty(&mut text, &drawing.describe());
        let about = Path::new("picture.json");
        draft.file(about, &text)?;
        draft.finish_files(&[(name, to), (about, &described)])?;
        summary.description = Some(described);
    } else {
        let drawn = drawing.write_png(&draft, name, watch)?;
        summary.faults = drawing.faults(drawn, watch);
        draft.finish_files(&[(name, to)])?;
    }
    Ok(summary)
}

/// What was found while rows of pixels were drawn.
struct Drawn {
    /// Blocks that could not be drawn completely.
    damaged: Vec<Odd>,
    /// Blocks in wrong places, if they were looked for.
    misplaced: Option<Misplaced>,
}

/// Takes a row of pixels, and the same row of the world that it is compared with.
type TakeRow<'r> = dyn FnMut(&[Pixel], Option<&[Pixel]>) -> Result<(), Error> + 'r;

impl<'r> Drawing<'r> {
    fn new(save: &Arc<Save>, part: Part, request: &'r MapRequest, watch: &Watch<'_>) -> Result<Self, Error> {
        let wrong = |why: String| Error::Request(why);
        let plan = match request.look {
            Look::Repair => {
                let options = repair::Options::default().watch(watch.quiet());
                Some(Arc::new(repair::plan(save, &options).map_err(|error| Error::Missing(error.to_string()))?))
            }
            _ => None,
        };
        let source = match &plan {
            Some(plan) => Source::planned(save, part, plan, None).map_err(wrong)?,
            None => Source::open(save, part).map_err(Error::Missing)?,
        };
        let other = match (request.look, &request.against) {
            (Look::Difference, Some(against)) => {
                let part = Part::first(against).ok_or_else(|| wrong("there is no world in the second save".into()))?;
                Some(Source::open(against, part).map_err(Error::Missing)?)
            }
            (Look::Difference, None) => {
                return Err(wrong("--look difference compares two saves: give the second one as --against".into()));
            }
            _ => None,
        };
        let shown = crate::printable::path(&save.path);
        let held = plan.as_deref().and_then(|plan| held_extent(save, plan, &source, request.lod));
        if source.table(request.lod).is_none() && held.is_none() {
            let lods: Vec<String> = source.lods().iter().map(u8::to_string).collect();
            let lods = match lods.join(", ") {
                lods if lods.is_empty() => "its blocks have no known positions".to_owned(),
                lods => format!("LODs: {lods}"),
            };
            let mut faults: Vec<world::Fault> = Vec::new();
            world::add_new(&mut faults, source.without_blocks.iter().flat_map(|table| table.faults.iter().cloned()));
            let unread: String = faults.iter().map(|fault| format!("; {}: {}", fault.file, fault.why)).collect();
            return Err(Error::Missing(format!("{shown}: there is no block of LOD {}; {lods}{unread}", request.lod)));
        }
        if request.look == Look::Depth && !source.has_depth() {
            return Err(wrong(format!("{shown}: no layer of it has depths: choose another --look")));
        }
        let matter = match request.channel {
            Some(channel) if source.has_channels() => Matter::Channel(channel),
            _ if matches!(request.look, Look::Coverage | Look::Size) => Matter::Value,
            _ => certain_matter(&source, watch),
        };
        let layer = match (request.look, request.cut) {
            (Look::Coverage, _) => Layer::Coverage,
            (Look::Size, _) => Layer::Size,
            (Look::Cut, Some((axis, at))) => {
                let at = at.saturating_mul(1 << request.lod.min(40));
                let channel = match (request.channel, matter) {
                    (Some(channel), _) | (None, Matter::Channel(channel)) => channel,
                    (None, Matter::Value) => 0,
                };
                let axis = u8::try_from(axis).unwrap_or(1);
                Layer::Cut { axis, at, channel: u8::try_from(channel).unwrap_or(0) }
            }
            (Look::Cut, None) => return Err(wrong("--look cut needs a place: give --slice y=N".to_owned())),
            _ => Layer::Top(matter),
        };
        let step = i64::from(request.scale.max(1)).saturating_mul(1 << request.lod.min(40));
        let grid = Grid::new(&source, layer, request.lod, step, false);
        let [mut low, mut high] = extent(&source, held, request)?;
        if let Some(Ok([from, to])) = other.as_ref().map(|other| extent(other, None, request)) {
            low = [0, 1, 2].map(|i| low[i].min(from[i]));
            high = [0, 1, 2].map(|i| high[i].max(to[i]));
        }
        let axes = layer.axes();
        let low = axes.map(|axis| low[axis].div_euclid(step));
        let high = axes.map(|axis| (high[axis] - 1).div_euclid(step) + 1);
        let size = [0, 1].map(|i| high[i].saturating_sub(low[i]));
        if size.iter().any(|n| *n <= 0) {
            return Err(Error::Missing("nothing of the box is there".to_owned()));
        }
        if size[0].saturating_mul(size[1]) > PIXELS {
            let [width, height] = size;
            let fits = |scale: &i64| (width / scale + 1).saturating_mul(height / scale + 1) <= PIXELS;
            let scale = (1..).map(|n| 1i64 << n).find(fits).unwrap_or(1 << 40);
            let scale = scale.saturating_mul(request.scale.max(1).into());
            let why =
                format!("the picture would have {width} x {height} pixels: give --scale {scale}, or a smaller --box");
            return Err(wrong(why));
        }
        let probe = Probe::new(&source, request.channel);
        let mut marks = plan.as_deref().map(Marks::of_plan).unwrap_or_default();
        if request.look == Look::Health || request.health {
            let solutions = Solutions::default();
            let options = check::Options::default().watch(watch.quiet()).solutions(&solutions);
            let planned = repair::Options::default().watch(watch.quiet()).solutions(&solutions);
            check::run(save, &options, |finding| {
                marks.add(&finding);
                mark_missing_file(&mut marks, &source, &finding);
            });
            // As in the explorer: a block is marked as the verdict counts it.
            if !marks.is_empty()
                && request.look != Look::Repair
                && let Ok([certain, likely]) = repair::plan_both(save, &planned)
                && let Some(damaged) = Marks::of_damage(save, &certain, &likely)
            {
                marks.correct(&damaged);
            }
        }
        Ok(Self { request, source, other, grid, probe, marks, plan, low, high })
    }

    fn matter_name(&self) -> String {
        let channel = |channel: usize| {
            let name = crate::godot::channel::NAMES.get(channel).filter(|_| self.source.has_channels());
            name.map_or_else(|| "values".to_owned(), |name| (*name).to_owned())
        };
        match self.grid.layer {
            Layer::Top(Matter::Channel(number)) => channel(number),
            Layer::Top(Matter::Value) => channel(usize::MAX),
            Layer::Cut { axis, at, channel: number } => {
                let axis = ["x", "y", "z"].get(usize::from(axis)).copied().unwrap_or("y");
                format!("{} at {axis}={at}", channel(number.into()))
            }
            Layer::Size => "stored bytes".to_owned(),
            Layer::Coverage => "LODs".to_owned(),
        }
    }

    fn width(&self) -> usize {
        crate::bytes::index((self.high[0] - self.low[0]).unsigned_abs())
    }

    /// Hands the rows of pixels out, from the smallest coordinate on; a y axis comes from its upper end.
    fn rows(&self, watch: &Watch<'_>, each: &mut TakeRow<'_>) -> Result<Drawn, Error> {
        // Of two worlds, both are read at once; a repair has nothing in a wrong place.
        let is_plain = self.other.is_none() && self.request.look != Look::Repair;
        let bands = is_plain.then(|| Bands::new(&self.source, &self.grid, self.low, self.high)).flatten();
        match bands {
            Some(bands) => self.rows_of_bands(&bands, watch, each),
            None => self.rows_of_tiles(watch, each),
        }
    }

    /// Draws the blocks while their region files are checked.
    fn rows_of_bands(&self, bands: &Bands<'_>, watch: &Watch<'_>, each: &mut TakeRow<'_>) -> Result<Drawn, Error> {
        let groups = bands.groups();
        watch.begin(Step::Drawing, groups.len() as u64);
        let reader = self.source.reader();
        let mut each = |pixels: &[Pixel]| each(pixels, None);
        let mut rows = Rows::new(self.low, self.high, self.grid.step, &mut each);
        let mut result = Ok(());
        let mut finish = |number: usize| {
            result = match watch.is_cancelled() {
                true => Err(draft::Error::Interrupted.into()),
                false => bands.finish(&reader, &mut rows),
            };
            watch.advance(1);
            bands.begin(number + 1);
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        bands.begin(0);
        let see = |file: &RegionFile, entry, view: &View<'_>| bands.see(file, entry, view);
        let observer = BlockObserver { groups, block: &see, group: &mut finish };
        let misplaced = self.misplaced(&self.source, bands.forest, Some(observer), watch);
        result?;
        rows.finish()?;
        let damaged = reader.into_damaged().into_iter().map(|(block, why)| Odd { block, why });
        Ok(Drawn { damaged: damaged.collect(), misplaced: Some(misplaced) })
    }

    /// Draws tile by tile; each block is read as far as it is not below others.
    fn rows_of_tiles(&self, watch: &Watch<'_>, each: &mut TakeRow<'_>) -> Result<Drawn, Error> {
        let side = self.grid.side;
        let reader = self.source.reader();
        let other = self.other.as_ref().map(Source::reader);
        let tiles = |i: usize| self.low[i].div_euclid(side)..=(self.high[i] - 1).div_euclid(side);
        let mut rows: Vec<i64> = tiles(1).collect();
        let rises = self.grid.layer.rises();
        if rises {
            rows.reverse();
        }
        let columns: Vec<i64> = tiles(0).collect();
        let width = self.width();
        let (mut strip, mut other_strip) = (Vec::new(), Vec::new());
        watch.begin(Step::Drawing, rows.len() as u64);
        for tv in &rows {
            if watch.is_cancelled() {
                return Err(draft::Error::Interrupted.into());
            }
            watch.advance(1);
            let pixels = width.saturating_mul(crate::bytes::index(side.unsigned_abs()));
            strip.clear();
            strip.resize(pixels, Pixel::NONE);
            self.load_strip(&reader, &columns, *tv, &mut strip);
            if let Some(other) = &other {
                other_strip.clear();
                other_strip.resize(pixels, Pixel::NONE);
                self.load_strip(other, &columns, *tv, &mut other_strip);
            }
            let others = other_strip.chunks(width.max(1)).map(Some).chain(std::iter::repeat(None));
            let lines = (tv * side..).zip(strip.chunks(width.max(1))).zip(others);
            let mut lines: Vec<_> = lines.map(|((v, line), other)| (v, line, other)).collect();
            if rises {
                lines.reverse();
            }
            for (v, line, other) in lines {
                if (self.low[1]..self.high[1]).contains(&v) {
                    each(line, other)?;
                }
            }
        }
        let damaged = std::iter::once(reader).chain(other).flat_map(Reader::into_damaged);
        Ok(Drawn { damaged: damaged.map(|(block, why)| Odd { block, why }).collect(), misplaced: None })
    }

    /// The tables that the picture is drawn from.
    fn tables<'s>(&self, source: &'s Source) -> impl Iterator<Item = &'s world::Index> {
        let (all, lod) = (self.grid.layer == Layer::Coverage, self.request.lod);
        source.tables.iter().chain(&source.without_blocks).filter(move |table| all || table.lod == lod)
    }

    /// The blocks that are in the drawn part of the world.
    fn drawn<'s>(&self, source: &'s Source) -> impl Iterator<Item = &'s At> {
        let blocks = self.tables(source).flat_map(|table| table.blocks.iter().map(|at| (table.lod, at)));
        blocks.filter(|(lod, at)| self.shows(source, *lod, [at.position; 2])).map(|(_, at)| at)
    }

    /// Blocks of a forest in wrong places; `observer` sees the drawn blocks while they are checked.
    fn misplaced(
        &self,
        source: &Source,
        forest: &Forest,
        observer: Option<BlockObserver<'_>>,
        watch: &Watch<'_>,
    ) -> Misplaced {
        let all = self.grid.layer == Layer::Coverage;
        let is_in_picture = |file: &RegionFile| {
            let is_of_lod = all || file.lod == self.request.lod;
            let corners = picture_faults::corners_of_region(file).filter(|_| is_of_lod);
            // The borders of a picture of the whole world are those of the blocks that were found.
            let is_whole = self.request.area.is_none();
            corners.is_some_and(|corners| match is_whole {
                true => self.is_cut(source, file.lod, corners),
                false => self.shows(source, file.lod, corners),
            })
        };
        picture_faults::misplaced(&source.save, forest, self.drawn(source), is_in_picture, observer, watch)
    }

    /// What the picture lacks, with what was found while it was drawn.
    fn faults(&self, drawn: Drawn, watch: &Watch<'_>) -> PictureFaults {
        let Drawn { damaged, misplaced } = drawn;
        let is_known = misplaced.is_some();
        let misplaced = misplaced.unwrap_or_default();
        let is_of_chunks = matches!(self.source.part, Part::PakDir(_));
        let mut faults = PictureFaults { damaged, misplaced, is_of_chunks, ..PictureFaults::default() };
        for source in std::iter::once(&self.source).chain(&self.other) {
            let tables = || self.tables(source);
            world::add_new(&mut faults.files, tables().flat_map(|table| table.faults.iter().cloned()));
            faults.twice += tables().map(|table| table.twice).sum::<u64>();
            world::add_new(&mut faults.corrected, tables().flat_map(|table| table.corrected.iter().cloned()));
            if let (Part::Layer(number, _), Some((grid, layer))) = (source.part, source.layer())
                && let Some(map) = source.save.maps.get(number)
            {
                faults.layers.extend(picture_faults::layer_faults(&source.save, map, layer, grid));
            }
            // A repair has put the blocks where they belong.
            if let (Part::Forest(number), true) = (source.part, self.request.look != Look::Repair && !is_known)
                && let Some(forest) = source.save.forests.get(number)
            {
                faults.misplaced.add(self.misplaced(source, forest, None, watch));
            }
            if let (Part::PakDir(number), true) = (source.part, self.request.look != Look::Repair)
                && let Some(dir) = source.save.pak_dirs.get(number)
            {
                let drawn = self.drawn(source).filter_map(|at| Some((at.file_number(), u32::try_from(at.row()).ok()?)));
                faults.misplaced.blocks += picture_faults::misplaced_chunks(&source.save, dir, drawn, watch);
            }
        }
        faults
    }

    /// Whether one of the blocks from a first to a last position is in the drawn part of the world.
    fn shows(&self, source: &Source, lod: u8, [first, last]: [[i32; 3]; 2]) -> bool {
        let (corner, far, block) = (source.corner(lod, first), source.corner(lod, last), source.block(lod));
        let step = self.grid.step;
        self.is_cut(source, lod, [first, last])
            && self.grid.layer.axes().iter().enumerate().all(|(i, &axis)| {
                let end = far[axis].saturating_add(block[axis]);
                corner[axis] < self.high[i].saturating_mul(step) && end > self.low[i].saturating_mul(step)
            })
    }

    /// Whether the plane of a cut goes through one of the blocks from a first to a last position; true without a cut.
    fn is_cut(&self, source: &Source, lod: u8, [first, last]: [[i32; 3]; 2]) -> bool {
        let Layer::Cut { axis, at, .. } = self.grid.layer else { return true };
        let axis = usize::from(axis);
        let end = source.corner(lod, last)[axis].saturating_add(source.block(lod)[axis]);
        (source.corner(lod, first)[axis]..end).contains(&at)
    }

    /// Computes a row of tiles, with all threads.
    fn load_strip(&self, reader: &Reader<'_>, columns: &[i64], tv: i64, strip: &mut [Pixel]) {
        let side = self.grid.side;
        let width = self.width();
        // Some at a time, so that only those and the strip are in memory.
        for some in columns.chunks(parallel::threads() * 4) {
            let load = |scratch: &mut Scratch, tu: &i64| (*tu, self.grid.load(reader, [*tu, tv], scratch));
            let tiles = parallel::map_with(some, load);
            for (tu, tile) in tiles {
                for (y, row) in tile.pixels.chunks(crate::bytes::index(side.unsigned_abs())).enumerate() {
                    for (x, pixel) in (tu * side..).zip(row) {
                        if (self.low[0]..self.high[0]).contains(&x) {
                            let at = y * width + crate::bytes::index((x - self.low[0]).unsigned_abs());
                            if let Some(to) = strip.get_mut(at) {
                                *to = *pixel;
                            }
                        }
                    }
                }
            }
        }
    }

    fn style(&self) -> Style<'_> {
        Style {
            look: self.request.look,
            layer: self.grid.layer,
            is_map: self.source.layer().is_some(),
            palette: &self.request.palette,
            probe: &self.probe,
            step: self.grid.step,
            spot: None,
        }
    }
}

/// The box of all blocks of a LOD that a save lists or holds, also of those that the repair loses, in voxels of the world.
fn held_extent(save: &Save, plan: &repair::Plan, source: &Source, lod: u8) -> Option<Area> {
    let mut held: Option<Area> = None;
    repair::fates(save, plan, &mut |block| {
        let of_lod = block.position.filter(|position| block.lod == lod && source.is_near(lod, *position));
        if let Some(position) = of_lod {
            held = union(held, Some(corners(source, lod, [position; 2])));
        }
    });
    held
}

/// The box of the blocks from a first to a last position, in voxels of the world.
fn corners(source: &Source, lod: u8, [first, last]: [[i32; 3]; 2]) -> Area {
    let (block, last) = (source.block(lod), source.corner(lod, last));
    [source.corner(lod, first), [0, 1, 2].map(|i| last[i] + block[i])]
}

/// The smallest box around two.
fn union(a: Option<Area>, b: Option<Area>) -> Option<Area> {
    let (Some([from, to]), Some([low, high])) = (a, b) else { return a.or(b) };
    Some([[0, 1, 2].map(|i| from[i].min(low[i])), [0, 1, 2].map(|i| to[i].max(high[i]))])
}

/// The box that is drawn, in voxels of the world; `held` has blocks that are not in the tables.
fn extent(source: &Source, held: Option<Area>, request: &MapRequest) -> Result<Area, Error> {
    let nothing = || Error::Missing("there is no block".to_owned());
    let all = match source.dim() {
        Some(dim) => [[0; 3], dim.map(i64::from)],
        None => {
            let listed = source.table(request.lod).and_then(world::Index::extent);
            let listed = listed.map(|ends| corners(source, request.lod, ends));
            union(listed, held).ok_or_else(nothing)?
        }
    };
    let Some([from, to]) = request.area else { return Ok(all) };
    if (0..3).any(|i| from[i] >= to[i]) {
        return Err(Error::Request("the box is empty".to_owned()));
    }
    let step = 1i64 << request.lod.min(40);
    let low = [0, 1, 2].map(|i| from[i].saturating_mul(step).max(all[0][i]));
    let high = [0, 1, 2].map(|i| to[i].saturating_mul(step).min(all[1][i]));
    if (0..3).any(|i| low[i] >= high[i]) {
        return Err(Error::Missing("nothing of the box is there".to_owned()));
    }
    Ok([low, high])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::{Extent, ForestSpec, write_forest};
    use crate::save::Options;

    /// The rows of a picture, its damaged blocks and how many are in wrong places.
    fn drawn(drawing: &Drawing<'_>, bands: Option<&Bands<'_>>) -> (Vec<Vec<Pixel>>, Vec<Odd>, u64) {
        let mut rows = Vec::new();
        let watch = Watch::default();
        let mut each = |pixels: &[Pixel], _: Option<&[Pixel]>| {
            rows.push(pixels.to_vec());
            Ok(())
        };
        let drawn = match bands {
            Some(bands) => drawing.rows_of_bands(bands, &watch, &mut each),
            None => drawing.rows_of_tiles(&watch, &mut each),
        };
        let faults = drawing.faults(drawn.unwrap(), &watch);
        (rows, faults.damaged, faults.misplaced.blocks)
    }

    #[test]
    fn blocks_that_are_drawn_while_they_are_checked_give_the_same_picture() {
        let dir = tempfile::tempdir().unwrap();
        let lods = vec![Extent { from: [-6, -3, -5], to: [5, 3, 6] }, Extent { from: [-3, -2, -3], to: [3, 2, 3] }];
        let spec = ForestSpec { region_size_po2: 2, lods, ..ForestSpec::default() };
        write_forest(dir.path(), &spec, None).unwrap();
        // Damaged blocks in some files, of which some are below others.
        let mut files: Vec<_> = std::fs::read_dir(dir.path().join("regions/lod0")).unwrap().flatten().collect();
        files.sort_by_key(std::fs::DirEntry::path);
        for (n, file) in files.iter().enumerate().step_by(2) {
            let mut bytes = std::fs::read(file.path()).unwrap();
            let (len, step) = (bytes.len(), 4001 + 512 * n);
            bytes.iter_mut().skip(len / 4).step_by(step).for_each(|byte| *byte ^= 0x5a);
            std::fs::write(file.path(), bytes).unwrap();
        }
        let save = Arc::new(Save::open(dir.path(), &Options::default()).unwrap());
        let all = MapRequest::new(Look::Surface);
        let part = Some([[-37, -200, -51], [21, 200, 44]]);
        let mut damaged = 0;
        for request in [
            all.clone(),
            MapRequest { scale: 3, ..all.clone() },
            MapRequest { scale: 16, ..all.clone() },
            MapRequest { lod: 1, ..all.clone() },
            MapRequest { lod: 1, scale: 5, ..all.clone() },
            MapRequest { look: Look::Height, area: part, ..all.clone() },
            MapRequest { channel: Some(1), area: part, scale: 7, ..all },
        ] {
            let drawing = Drawing::new(&save, Part::Forest(0), &request, &Watch::default()).unwrap();
            let bands = Bands::new(&drawing.source, &drawing.grid, drawing.low, drawing.high).unwrap();
            let (at_once, one_by_one) = (drawn(&drawing, Some(&bands)), drawn(&drawing, None));
            assert!(at_once == one_by_one, "{request:?}: {:?}, {:?}", at_once.1, one_by_one.1);
            assert!(at_once.0.iter().flatten().any(Pixel::is_there));
            damaged += at_once.1.len();
        }
        assert!(damaged > 10, "{damaged}");
    }
}
