//! The picture of a whole world as a PNG, or its numbers as an array; written row of tiles by row of tiles.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::picture_faults::{self, PictureFaults};
use super::voxels::{Area, Error, Odd};
use crate::check;
use crate::draft::{self, Draft};
use crate::parallel;
use crate::picture::color::{self, Rgb};
use crate::picture::difference;
use crate::picture::paint::{Style, Window};
use crate::picture::palette::Palette;
use crate::picture::source::{Part, Reader, Scratch, Source};
use crate::picture::tile::Grid;
use crate::picture::{Layer, Look, Marks, Matter, Pixel, Probe, certain_matter};
use crate::repair;
use crate::save::{RegionFile, Save};
use crate::voxel_map::npy;
use crate::watch::{Step, Watch};
use crate::world;

/// The most pixels of a picture.
const PIXELS: i64 = 1 << 28;

/// Pixels that are painted at once.
const BATCH: usize = 1 << 17;

/// The height of a column without matter.
pub const NOTHING: i32 = i32::MIN;

/// The background, where no block is.
const EMPTY: [u8; 4] = [0; 4];

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

/// What was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct MapSummary {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// What matter went by.
    pub matter: String,
    /// The second file, of an array.
    pub description: Option<PathBuf>,
    /// What it lacks.
    pub faults: PictureFaults,
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
        description: None,
        faults: PictureFaults::default(),
    };
    // A picture is compressed: less than a thousandth of its pixels is none.
    let pixels = u64::from(width).saturating_mul(u64::from(height));
    draft::check_space(to, if is_array { pixels.saturating_mul(4) } else { pixels / 1000 })?;
    let name = Path::new("picture");
    if is_array {
        let damaged = drawing.write_array(&draft, name, watch)?;
        summary.faults = drawing.faults(damaged, watch);
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
        let damaged = drawing.write_png(&draft, name, watch)?;
        summary.faults = drawing.faults(damaged, watch);
        draft.finish_files(&[(name, to)])?;
    }
    Ok(summary)
}

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
        if source.table(request.lod).is_none() {
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
        let [mut low, mut high] = extent(&source, request)?;
        if let Some(Ok([from, to])) = other.as_ref().map(|other| extent(other, request)) {
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
        let mut marks = plan.map(|plan| Marks::of_plan(&plan)).unwrap_or_default();
        if request.look == Look::Health || request.health {
            let options = check::Options::default().watch(watch.quiet());
            check::run(save, &options, |finding| marks.add(&finding));
            // As in the explorer: a block is marked as the verdict counts it.
            if !marks.is_empty()
                && request.look != Look::Repair
                && let Ok(plan) = repair::plan(save, &repair::Options::default().watch(watch.quiet()))
                && let Some(damaged) = Marks::of_damage(save, &plan)
            {
                marks.correct(&damaged);
            }
        }
        Ok(Self { request, source, other, grid, probe, marks, low, high })
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
    fn rows(
        &self,
        watch: &Watch<'_>,
        mut each: impl FnMut(&[Pixel], Option<&[Pixel]>) -> Result<(), Error>,
    ) -> Result<Vec<Odd>, Error> {
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
        Ok(damaged.map(|(block, why)| Odd { block, why }).collect())
    }

    /// What the picture lacks, with blocks that were not drawn completely.
    fn faults(&self, damaged: Vec<Odd>, watch: &Watch<'_>) -> PictureFaults {
        let is_of_chunks = matches!(self.source.part, Part::PakDir(_));
        let mut faults = PictureFaults { damaged, is_of_chunks, ..PictureFaults::default() };
        for source in std::iter::once(&self.source).chain(&self.other) {
            let tables = || {
                let all = self.grid.layer == Layer::Coverage;
                let tables = source.tables.iter().chain(&source.without_blocks);
                tables.filter(move |table| all || table.lod == self.request.lod)
            };
            world::add_new(&mut faults.files, tables().flat_map(|table| table.faults.iter().cloned()));
            faults.twice += tables().map(|table| table.twice).sum::<u64>();
            world::add_new(&mut faults.corrected, tables().flat_map(|table| table.corrected.iter().cloned()));
            if let (Part::Layer(number, _), Some((grid, layer))) = (source.part, source.layer())
                && let Some(map) = source.save.maps.get(number)
            {
                faults.layers.extend(picture_faults::layer_faults(&source.save, map, layer, grid));
            }
            // A repair has put the blocks where they belong.
            if let (Part::Forest(number), true) = (source.part, self.request.look != Look::Repair)
                && let Some(forest) = source.save.forests.get(number)
            {
                let drawn = tables()
                    .flat_map(|table| table.blocks.iter().filter(|at| self.shows(source, table.lod, [at.position; 2])));
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
                faults.misplaced.add(picture_faults::misplaced(&source.save, forest, drawn, is_in_picture, watch));
            }
            if let (Part::PakDir(number), true) = (source.part, self.request.look != Look::Repair)
                && let Some(dir) = source.save.pak_dirs.get(number)
            {
                let drawn = tables()
                    .flat_map(|table| table.blocks.iter().filter(|at| self.shows(source, table.lod, [at.position; 2])));
                let drawn = drawn.filter_map(|at| Some((at.file_number(), u32::try_from(at.row()).ok()?)));
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

    fn write_png(&self, draft: &Draft<'_>, name: &Path, watch: &Watch<'_>) -> Result<Vec<Odd>, Error> {
        let (file, path) = draft.create(name)?;
        let [width, height] = [0, 1].map(|i| u32::try_from(self.high[i] - self.low[i]).unwrap_or(u32::MAX));
        let failed = |error: png::EncodingError| draft::Error::write(&path)(std::io::Error::other(error));
        let mut encoder = png::Encoder::new(BufWriter::new(&file), width, height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_compression(png::Compression::Fast);
        let (look, matter, lod) = (self.request.look.name(), self.matter_name(), self.request.lod);
        let s = if self.grid.step == 1 { "" } else { "s" };
        let about = format!("{look} of LOD {lod}, {matter}, {} voxel{s} a pixel", self.grid.step);
        encoder.add_text_chunk("Description".to_owned(), about).map_err(failed)?;
        let mut writer = encoder.write_header().map_err(failed)?;
        let mut stream = writer.stream_writer().map_err(failed)?;
        let io = |error: std::io::Error| draft::Error::write(&path)(error);
        // A row is painted when the one below it is known: slopes need both neighbours. Several rows are painted at once.
        let columns = self.width();
        let padded = columns + 2;
        let batch = (BATCH / padded).clamp(1, 64);
        let start = Window { width: padded, pixels: vec![Pixel::NONE; padded] };
        let mut windows = [start.clone(), start];
        let mut painted = 0usize;
        let mut paint = |windows: &mut [Window; 2]| -> Result<(), Error> {
            let count = windows[0].height().saturating_sub(2);
            for bytes in parallel::map_indices(count, |row| self.paint_row(windows, row, painted + row)) {
                stream.write_all(&bytes).map_err(io)?;
            }
            windows
                .iter_mut()
                .for_each(|window| drop(window.pixels.drain(..(count * padded).min(window.pixels.len()))));
            painted += count;
            Ok(())
        };
        let push = |window: &mut Window, pixels: Option<&[Pixel]>| {
            window.pixels.push(Pixel::NONE);
            match pixels {
                Some(pixels) => window.pixels.extend_from_slice(pixels),
                None => window.pixels.resize(window.pixels.len() + columns, Pixel::NONE),
            }
            window.pixels.push(Pixel::NONE);
        };
        let damaged = self.rows(watch, |pixels, other| {
            push(&mut windows[0], Some(pixels));
            if self.other.is_some() {
                push(&mut windows[1], other);
            }
            if windows[0].height() < batch + 2 { Ok(()) } else { paint(&mut windows) }
        })?;
        push(&mut windows[0], None);
        push(&mut windows[1], None);
        paint(&mut windows)?;
        stream.finish().map_err(failed)?;
        writer.finish().map_err(failed)?;
        file.sync_all().map_err(io)?;
        Ok(damaged)
    }

    /// The bytes of a row of the picture: the one below row `at` of the windows, number `row` of all.
    fn paint_row(&self, [window, other]: &[Window; 2], at: usize, row: usize) -> Vec<u8> {
        let part = |window: &Window| {
            let pixels = window.pixels.get(at * window.width..(at + 3) * window.width).unwrap_or_default();
            Window { width: window.width, pixels: pixels.to_vec() }
        };
        let window = part(window);
        let mut colors = self.style().paint(&window, 1);
        if self.other.is_some() {
            difference::paint(self.grid.layer, &mut colors, &window, &part(other), 1);
        }
        let row = i64::try_from(row).unwrap_or(0);
        let row = if self.grid.layer.rises() { self.high[1] - 1 - row } else { self.low[1] + row };
        let marked = (0i64..).zip(colors).map(|(column, color)| {
            let color = self.marked(color, [self.low[0] + column, row], [column, row]);
            color.map_or(EMPTY, |[r, g, b]| [r, g, b, 255])
        });
        marked.flatten().collect()
    }

    /// A colour with the mark of its blocks over it: hatched, so that it is seen without colours too.
    fn marked(&self, color: Option<Rgb>, pixel: [i64; 2], [x, y]: [i64; 2]) -> Option<Rgb> {
        if self.marks.is_empty() || matches!(self.grid.layer, Layer::Cut { .. }) {
            return color;
        }
        let Some(mark) = self.marks.at(&self.source, pixel.map(|n| n * self.grid.step)) else { return color };
        let base = color.unwrap_or([30, 32, 36]);
        let strong = (x + y).rem_euclid(6) < 2;
        Some(color::mix(base, mark.color(), if strong { 0.7 } else { 0.16 }))
    }

    fn write_array(&self, draft: &Draft<'_>, name: &Path, watch: &Watch<'_>) -> Result<Vec<Odd>, Error> {
        let (file, path) = draft.create(name)?;
        let mut out = BufWriter::with_capacity(1 << 16, &file);
        let io = |error: std::io::Error| draft::Error::write(&path)(error);
        let [width, height] = [0, 1].map(|i| (self.high[i] - self.low[i]).unsigned_abs());
        let dtype = self.dtype()?;
        out.write_all(&npy::header(dtype, &[height, width])).map_err(io)?;
        let mut bytes = Vec::new();
        let damaged = self.rows(watch, |pixels, _| {
            bytes.clear();
            for pixel in pixels {
                bytes.extend_from_slice(&self.number(*pixel));
            }
            out.write_all(&bytes).map_err(io)?;
            Ok(())
        })?;
        out.flush().map_err(io)?;
        drop(out);
        file.sync_all().map_err(io)?;
        Ok(damaged)
    }

    fn dtype(&self) -> Result<&'static str, Error> {
        Ok(match self.request.look {
            Look::Height => "<i4",
            Look::Depth => "<f4",
            Look::Size | Look::Coverage => "<u4",
            other => {
                let why = format!("an array has numbers, and the look {} has colours", other.name());
                return Err(Error::Request(format!("{why}: choose --look height, depth, size or coverage")));
            }
        })
    }

    fn number(&self, pixel: Pixel) -> [u8; 4] {
        match self.request.look {
            Look::Height => if pixel.is_there() { pixel.y } else { NOTHING }.to_le_bytes(),
            Look::Depth => {
                let known = pixel.is_there() || pixel.more != 0.0;
                if known { pixel.more } else { f32::NAN }.to_le_bytes()
            }
            _ => if pixel.is_there() { pixel.value } else { 0 }.to_le_bytes(),
        }
    }

    /// What the array means.
    fn describe(&self) -> serde_json::Value {
        let [x, z] = self.low.map(|n| n * self.grid.step);
        let y = self.source.extent().map_or(0, |[low, _]| low[1]);
        let place = self.source.layer().map(|(_, layer)| json!({ "origin": layer.origin, "step": layer.step }));
        let mut json = json!({
            "type": "map",
            "look": self.request.look.name(),
            "dtype": self.dtype().unwrap_or("<u4"),
            "shape": [self.high[1] - self.low[1], self.high[0] - self.low[0]],
            "axes": ["z", "x"],
            "origin": [x, y, z],
            "step": self.grid.step,
            "lod": self.request.lod,
        });
        if let (Some(object), Some(place)) = (json.as_object_mut(), place) {
            // Cells are the voxels of a layer.
            object.insert("layer".to_owned(), place);
        }
        if let (Look::Height, Some(object)) = (self.request.look, json.as_object_mut()) {
            object.insert("nothing".to_owned(), json!(NOTHING));
            object.insert("matter".to_owned(), json!(self.matter_name()));
        }
        json
    }
}

/// The box that is drawn, in voxels of the world.
fn extent(source: &Source, request: &MapRequest) -> Result<Area, Error> {
    let nothing = || Error::Missing("there is no block".to_owned());
    let all = match (source.table(request.lod).and_then(world::Index::extent), source.dim()) {
        (_, Some(dim)) => [[0; 3], dim.map(i64::from)],
        (Some([low, high]), None) => {
            let block = source.block(request.lod);
            let last = source.corner(request.lod, high);
            [source.corner(request.lod, low), [0, 1, 2].map(|i| last[i] + block[i])]
        }
        (None, None) => return Err(nothing()),
    };
    let Some([from, to]) = request.area else { return Ok(all) };
    let step = 1i64 << request.lod.min(40);
    let low = [0, 1, 2].map(|i| from[i].saturating_mul(step).max(all[0][i]));
    let high = [0, 1, 2].map(|i| to[i].saturating_mul(step).min(all[1][i]));
    if (0..3).any(|i| low[i] >= high[i]) {
        return Err(Error::Missing("nothing of the box is there".to_owned()));
    }
    Ok([low, high])
}
