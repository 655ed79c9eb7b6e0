//! The rows of a picture as a PNG, or as an array with its description.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, SyncSender};

use serde_json::json;

use super::{Drawing, Drawn, NOTHING};
use crate::draft::{self, Draft};
use crate::export::voxels::Error;
use crate::parallel;
use crate::picture::color::{self, Rgb};
use crate::picture::difference;
use crate::picture::paint::Window;
use crate::picture::{Layer, Look, Pixel};
use crate::voxel_map::npy;
use crate::watch::Watch;

/// Parts of a picture that wait to be compressed.
const WAITING: usize = 2;

/// Pixels that are painted at once.
const BATCH: usize = 1 << 17;

/// The background, where no block is.
const EMPTY: [u8; 4] = [0; 4];

impl Drawing<'_> {
    pub(super) fn write_png(&self, draft: &Draft<'_>, name: &Path, watch: &Watch<'_>) -> Result<Drawn, Error> {
        let (file, path) = draft.create(name)?;
        // The file is written on a thread of its own: compressing a picture cannot be shared out.
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        let (drawn, written) = std::thread::scope(|scope| {
            let written = scope.spawn(|| self.compress(&file, &path, receiver));
            let drawn = self.paint(&sender, watch);
            // The thread ends when no more rows can come.
            drop(sender);
            (drawn, written.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        // After an error of the thread, nothing takes the rows; after one of the rows, the file is not complete.
        let drawn = match drawn {
            Ok(drawn) => drawn,
            Err(None) => return Err(written.err().map_or_else(|| draft::Error::Interrupted.into(), Error::from)),
            Err(Some(error)) => return Err(error),
        };
        written?;
        file.sync_all().map_err(draft::Error::write(&path))?;
        Ok(drawn)
    }

    /// Compresses the rows of the picture, in order, into a file.
    fn compress(&self, file: &File, path: &Path, rows: Receiver<Vec<Vec<u8>>>) -> Result<(), draft::Error> {
        let [width, height] = [0, 1].map(|i| u32::try_from(self.high[i] - self.low[i]).unwrap_or(u32::MAX));
        let failed = |error: png::EncodingError| draft::Error::write(path)(std::io::Error::other(error));
        let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_compression(png::Compression::Fast);
        let (look, matter, lod) = (self.request.look.name(), self.matter_name(), self.request.lod);
        let s = if self.grid.step == 1 { "" } else { "s" };
        let about = format!("{look} of LOD {lod}, {matter}, {} voxel{s} a pixel", self.grid.step);
        encoder.add_text_chunk("Description".to_owned(), about).map_err(failed)?;
        let mut writer = encoder.write_header().map_err(failed)?;
        let mut stream = writer.stream_writer().map_err(failed)?;
        for row in rows.into_iter().flatten() {
            stream.write_all(&row).map_err(draft::Error::write(path))?;
        }
        stream.finish().map_err(failed)?;
        writer.finish().map_err(failed)
    }

    /// Paints the rows of the picture and hands them over. The error is `None` if nothing takes them.
    fn paint(&self, rows: &SyncSender<Vec<Vec<u8>>>, watch: &Watch<'_>) -> Result<Drawn, Option<Error>> {
        // A row is painted when the one below it is known: slopes need both neighbours. Several rows are painted at once.
        let columns = self.width();
        let padded = columns + 2;
        let batch = (BATCH / padded).clamp(1, 64);
        let start = Window { width: padded, pixels: vec![Pixel::NONE; padded] };
        let mut windows = [start.clone(), start];
        let mut painted = 0usize;
        let mut is_gone = false;
        let mut paint = |windows: &mut [Window; 2]| -> Result<(), Error> {
            let count = windows[0].height().saturating_sub(2);
            let bytes = parallel::map_indices(count, |row| self.paint_row(windows, row, painted + row));
            if rows.send(bytes).is_err() {
                is_gone = true;
                return Err(draft::Error::Interrupted.into());
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
        let drawn = self.rows(watch, &mut |pixels, other| {
            push(&mut windows[0], Some(pixels));
            if self.other.is_some() {
                push(&mut windows[1], other);
            }
            if windows[0].height() < batch + 2 { Ok(()) } else { paint(&mut windows) }
        });
        let drawn = drawn.and_then(|drawn| {
            push(&mut windows[0], None);
            push(&mut windows[1], None);
            paint(&mut windows).map(|()| drawn)
        });
        drawn.map_err(|error| (!is_gone).then_some(error))
    }

    /// The bytes of a row of the picture: the one below row `at` of the windows, number `row` of all.
    fn paint_row(&self, [window, other]: &[Window; 2], at: usize, row: usize) -> Vec<u8> {
        let style = self.style();
        let row = i64::try_from(row).unwrap_or(0);
        let row = if self.grid.layer.rises() { self.high[1] - 1 - row } else { self.low[1] + row };
        let mut bytes = Vec::with_capacity(self.width().saturating_mul(EMPTY.len()));
        let mut put = |(column, color): (i64, Option<Rgb>)| {
            let color = self.marked(color, [self.low[0] + column, row], [column, row]);
            bytes.extend_from_slice(&color.map_or(EMPTY, |[r, g, b]| [r, g, b, 255]));
        };
        if self.other.is_none() {
            (0i64..).zip(style.paint_row(window, at + 1, 1)).for_each(&mut put);
            return bytes;
        }
        let part = |window: &Window| {
            let pixels = window.pixels.get(at * window.width..(at + 3) * window.width).unwrap_or_default();
            Window { width: window.width, pixels: pixels.to_vec() }
        };
        let window = part(window);
        let mut colors = style.paint(&window, 1);
        difference::paint(self.grid.layer, &mut colors, &window, &part(other), 1);
        (0i64..).zip(colors).for_each(&mut put);
        bytes
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

    pub(super) fn write_array(&self, draft: &Draft<'_>, name: &Path, watch: &Watch<'_>) -> Result<Drawn, Error> {
        let (file, path) = draft.create(name)?;
        let mut out = BufWriter::with_capacity(1 << 16, &file);
        let io = |error: std::io::Error| draft::Error::write(&path)(error);
        let [width, height] = [0, 1].map(|i| (self.high[i] - self.low[i]).unsigned_abs());
        let dtype = self.dtype()?;
        out.write_all(&npy::header(dtype, &[height, width])).map_err(io)?;
        let mut bytes = Vec::new();
        let drawn = self.rows(watch, &mut |pixels, _| {
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
        Ok(drawn)
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
    pub(super) fn describe(&self) -> serde_json::Value {
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
