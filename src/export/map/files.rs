//! The rows of a picture as a PNG, or as an array with its description.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, SyncSender};

use serde_json::json;

use super::{Drawing, Drawn, NOTHING};
use crate::draft::{self, Draft};
use crate::export::voxels::Error;
use crate::picture::color::{self, Rgb};
use crate::picture::difference;
use crate::picture::paint::{Painter, Window};
use crate::picture::{Layer, Look, Pixel};
use crate::voxel_map::npy;
use crate::watch::Watch;

/// The most parts of a picture that wait to be painted, and that wait to be compressed, so that reading goes on meanwhile.
const WAITING: usize = 8;

/// Pixels that are handed on at once, if a row has no more.
const BATCH: usize = 1 << 15;

/// The background, where no block is.
const EMPTY: [u8; 4] = [0; 4];

/// Rows of pixels, one after the other, with the same rows of the world that it is compared with.
struct Batch {
    pixels: Vec<Pixel>,
    others: Vec<Pixel>,
}

impl Drawing<'_> {
    pub(super) fn write_png(&self, draft: &Draft<'_>, name: &Path, watch: &Watch<'_>) -> Result<Drawn, Error> {
        let (file, path) = draft.create(name)?;
        // One thread paints and another one compresses while blocks are read.
        let (to_painter, rows) = mpsc::sync_channel(WAITING);
        let (to_writer, bytes) = mpsc::sync_channel(WAITING);
        let (drawn, written) = std::thread::scope(|scope| {
            let written = scope.spawn(|| self.compress(&file, &path, bytes));
            scope.spawn(move || self.paint(rows, to_writer));
            let drawn = self.send_rows(to_painter, watch);
            (drawn, written.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        // If the writer failed, nothing takes the rows; if a row failed, the file is not complete.
        let drawn = match drawn {
            Ok(drawn) => drawn,
            Err(None) => return Err(written.err().map_or_else(|| draft::Error::Interrupted.into(), Error::from)),
            Err(Some(error)) => return Err(error),
        };
        written?;
        file.sync_all().map_err(draft::Error::write(&path))?;
        Ok(drawn)
    }

    /// Hands the rows of the picture over. The error is `None` if nothing takes them.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "when this returns, the painter knows that there are no more rows"
    )]
    fn send_rows(&self, to: SyncSender<Batch>, watch: &Watch<'_>) -> Result<Drawn, Option<Error>> {
        let new_batch = || Batch { pixels: Vec::with_capacity(BATCH + self.width()), others: Vec::new() };
        let mut batch = new_batch();
        let mut is_gone = false;
        let drawn = self.rows(watch, &mut |pixels, other| {
            batch.pixels.extend_from_slice(pixels);
            if self.other.is_some() {
                let others = other.unwrap_or_default();
                batch.others.extend_from_slice(others);
                batch.others.resize(batch.pixels.len(), Pixel::NONE);
            }
            if batch.pixels.len() >= BATCH && to.send(std::mem::replace(&mut batch, new_batch())).is_err() {
                is_gone = true;
                return Err(draft::Error::Interrupted.into());
            }
            Ok(())
        });
        match drawn {
            Ok(drawn) => to.send(batch).map(|()| drawn).map_err(|_| None),
            Err(_) if is_gone => Err(None),
            Err(error) => Err(Some(error)),
        }
    }

    /// Paints rows, in order, and hands their bytes over, as long as these are taken.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "when this returns, the writer knows that there are no more bytes"
    )]
    fn paint(&self, rows: Receiver<Batch>, to: SyncSender<Vec<u8>>) {
        let width = self.width();
        let mut painter = Painter::new(self.style());
        // A row is painted when the one below it is known: slopes need both neighbours.
        let (mut last, mut here, mut here_of_other) = (Vec::new(), Vec::new(), Vec::new());
        let mut number = 0;
        let mut bytes = Vec::new();
        let mut paint = |south: &[Pixel], south_of_other: &[Pixel], bytes: &mut Vec<u8>| {
            if !here.is_empty() {
                let colors = painter.row([&last, &here, south], 0);
                self.put_row(colors, [&here, &here_of_other], number, bytes);
                number += 1;
            }
            std::mem::swap(&mut last, &mut here);
            south.clone_into(&mut here);
            south_of_other.clone_into(&mut here_of_other);
        };
        for batch in rows {
            let mut others = batch.others.chunks(width.max(1));
            for row in batch.pixels.chunks(width.max(1)) {
                paint(row, others.next().unwrap_or_default(), &mut bytes);
            }
            if to.send(std::mem::take(&mut bytes)).is_err() {
                return;
            }
        }
        paint(&[], &[], &mut bytes);
        // If nothing takes the last row, the file has an error that is reported.
        let _ = to.send(bytes);
    }

    /// Adds the bytes of row `number` of the picture, with the marks over its colours.
    fn put_row(&self, colors: &mut [Option<Rgb>], [row, other]: [&[Pixel]; 2], number: i64, bytes: &mut Vec<u8>) {
        let rises = self.grid.layer.rises();
        let v = if rises { self.high[1] - 1 - number } else { self.low[1] + number };
        if self.other.is_some() {
            let window = |pixels: &[Pixel]| Window { width: pixels.len(), pixels: pixels.to_vec() };
            difference::paint(self.grid.layer, colors, &window(row), &window(other), 0);
        }
        if !self.marks.is_empty() {
            for (column, color) in (0i64..).zip(colors.iter_mut()) {
                *color = self.marked(*color, [self.low[0] + column, v], [column, v]);
            }
        }
        let start = bytes.len();
        bytes.resize(start + 4 * colors.len(), 0);
        let places = bytes.get_mut(start..).unwrap_or_default().as_chunks_mut::<4>().0;
        for (place, color) in places.iter_mut().zip(colors.iter()) {
            *place = color.map_or(EMPTY, |[r, g, b]| [r, g, b, 255]);
        }
    }

    /// Compresses the rows of the picture, in order, into a file.
    fn compress(&self, file: &File, path: &Path, rows: Receiver<Vec<u8>>) -> Result<(), draft::Error> {
        let [width, height] = [0, 1].map(|i| u32::try_from(self.high[i] - self.low[i]).unwrap_or(u32::MAX));
        let failed = |error: png::EncodingError| draft::Error::write(path)(std::io::Error::other(error));
        let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
        encoder.set_color(png::ColorType::Rgba);
        // Choosing a filter for each row would take as long as painting it.
        encoder.set_compression(png::Compression::Fastest);
        let (look, matter, lod) = (self.request.look.name(), self.matter_name(), self.request.lod);
        let s = if self.grid.step == 1 { "" } else { "s" };
        let scale = self.scale_words().map_or_else(String::new, |scale| format!(", {scale}"));
        let about = format!("{look} of LOD {lod}, {matter}, {} voxel{s} a pixel{scale}", self.grid.step);
        encoder.add_text_chunk("Description".to_owned(), about).map_err(failed)?;
        let mut writer = encoder.write_header().map_err(failed)?;
        let mut stream = writer.stream_writer().map_err(failed)?;
        for rows in rows {
            stream.write_all(&rows).map_err(draft::Error::write(path))?;
        }
        stream.finish().map_err(failed)?;
        writer.finish().map_err(failed)
    }

    /// A colour with the mark of its blocks over it: hatched, so that it is seen without colours too.
    fn marked(&self, color: Option<Rgb>, pixel: [i64; 2], [x, y]: [i64; 2]) -> Option<Rgb> {
        if matches!(self.grid.layer, Layer::Cut { .. }) {
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
        if let (Look::Depth, Some(object)) = (self.request.look, json.as_object_mut()) {
            object.insert("unit".to_owned(), json!("m"));
        }
        json
    }
}
