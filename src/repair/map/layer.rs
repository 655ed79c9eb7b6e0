//! Plans one layer of a voxel map, from its arrays and its description.

use std::ops::Range;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::draft;
use crate::limits::Limits;
use crate::printable::grouped;
use crate::recover::map::{self as told, Array, Role};
use crate::repair::map::{ArrayPlan, LayerPlan, TakenOut};
use crate::repair::{Error, Options};
use crate::source::{FileSource, OpenError};
use crate::voxel_map::grid::{BLOCK, BLOCK_VOXELS, Index, is_inside};
use crate::voxel_map::map_json::{Format, Layer, plain_name};
use crate::voxel_map::npy::Npy;

/// A cut array is filled up to this many bytes, or to [`TIMES`] its present size: a header's claim does not justify more.
const FILL: u64 = 64 << 20;
const TIMES: u64 = 8;

/// Bytes of a side of the blocks in a shape.
const SIDE: u64 = BLOCK as u64;

/// The result of opening a file.
enum Found {
    There(FileSource, Array),
    /// It exists and cannot be used.
    Useless(&'static str),
    Missing(&'static str),
}

/// The state of planning a layer.
struct LayerExam<'l> {
    dir: &'l Path,
    layer: &'l Layer,
    plan: LayerPlan,
    limits: &'l Limits,
    options: &'l Options<'l>,
}

/// Plans a layer. `damaged` says that the description had to be recovered.
pub(super) fn plan(
    dir: &Path,
    layer: &Layer,
    number: usize,
    damaged: bool,
    limits: &Limits,
    options: &Options<'_>,
) -> Result<LayerPlan, Error> {
    let name = crate::printable::printable(layer.name.as_deref().unwrap_or("without a name"));
    let mut look = LayerExam { dir, layer, limits, options, plan: LayerPlan { number, name, ..LayerPlan::default() } };
    let placed = layer.origin.is_some() && layer.step.is_some();
    if damaged && !placed {
        look.plan.left_out = Some("its place was cut off with the end of the description");
        return Ok(look.plan);
    }
    let Some(format) = look.format()? else { return Ok(look.plan) };
    let dim = match format {
        Format::Dense => look.dense()?,
        Format::BlockSparse => look.sparse()?,
    };
    if look.plan.left_out.is_none() {
        if damaged && dim.is_none() {
            look.plan.left_out = Some("its size was cut off with the end of the description");
        } else if let Some(dim) = dim {
            look.depth(dim)?;
        }
    }
    if look.plan.left_out.is_some() {
        (look.plan.fields, look.plan.arrays) = (Vec::new(), Vec::new());
    }
    Ok(look.plan)
}

impl LayerExam<'_> {
    fn put(&mut self, field: &'static str, value: Json) {
        self.plan.fields.push((field, value));
    }

    fn note(&mut self, name: &str, words: impl Into<String>) {
        self.plan.notes.push((crate::printable::printable(name), words.into()));
    }

    /// Opens a file of the layer and reads it as `role`.
    fn open(&self, name: Option<&str>, role: Role, asked: &[Vec<u64>]) -> Result<Found, Error> {
        self.options.go_on()?;
        let Some(name) = name.filter(|name| plain_name(name).is_ok()) else {
            return Ok(Found::Missing("the description names no file for it"));
        };
        let path = self.dir.join(name);
        let source = match FileSource::open_restored(&path) {
            Ok((source, _)) => source,
            Err(OpenError::Io(error)) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(draft::Error::read(&path)(error).into());
            }
            Err(OpenError::Io(_)) => return Ok(Found::Missing("the file is missing")),
            Err(_) => return Ok(Found::Missing("it is no regular file")),
        };
        Ok(match told::array(&source, role, asked).map_err(draft::Error::read(&path))? {
            Ok(array) if array.is_seven_bits && !self.options.likely => Found::Useless(
                "the highest bit of each of its bytes is lost, so that its numbers may have changed; `--level likely` keeps them",
            ),
            Ok(array) => {
                let rewritten = source.restoration().map(|_| "a copy rewrote its bytes as text");
                let header = array.header.or(rewritten);
                Found::There(source, Array { header, ..array })
            }
            Err(why) => Found::Useless(why),
        })
    }

    /// How the voxels are stored: as the description says, or where it does not, as only the arrays can be read.
    fn format(&mut self) -> Result<Option<Format>, Error> {
        if self.layer.format.is_some() {
            return Ok(self.layer.format);
        }
        // An unknown word may be from a newer exporter.
        if self.layer.extra.contains_key("format") && !self.options.likely {
            return Ok(None);
        }
        let index = self.open(self.layer.index_file.as_deref(), Role::Index, &[])?;
        let Found::There(_, data) = self.open(self.layer.data_file.as_deref(), Role::Data, &[])? else {
            return Ok(None);
        };
        let format = match (data.npy.shape.as_slice(), index) {
            ([n, SIDE, SIDE, SIDE], Found::There(_, index)) if index.npy.shape == [*n, 3] => Format::BlockSparse,
            ([_, _, _], Found::Missing(_)) => Format::Dense,
            _ => return Ok(None),
        };
        self.put("format", json!(format.name()));
        Ok(Some(format))
    }

    /// Plans a dense layer; returns its size.
    fn dense(&mut self) -> Result<Option<[u32; 3]>, Error> {
        let asked: Vec<Vec<u64>> = self.layer.dim.iter().map(|dim| dim.map(u64::from).to_vec()).collect();
        let name = self.layer.data_file.clone().unwrap_or_default();
        let array = match self.open(Some(&name), Role::Data, &asked)? {
            Found::There(_, array) => array,
            Found::Useless(why) | Found::Missing(why) => return self.without("its voxels are lost", &name, why),
        };
        let size = |n: &u64| u32::try_from(*n).ok().filter(|n| *n > 0 && i32::try_from(*n).is_ok());
        let [Some(x), Some(y), Some(z)] = array.npy.shape.iter().map(size).collect::<Vec<_>>()[..] else {
            return self.without("its voxels are lost", &name, "it has another number of dimensions");
        };
        if !self.whole_array(&name, &array, "cells") {
            return self.without("its voxels are lost", &name, "too little of it is there");
        }
        let dim = [x, y, z];
        if self.layer.dim != Some(dim) {
            self.put("dim", json!(dim));
        }
        if self.layer.block_size != Some(0) {
            self.put("blockSize", json!(0));
        }
        if self.layer.block_count.is_none() {
            self.put("blockCount", json!(0));
        }
        Ok(Some(dim))
    }

    /// Leaves the layer out.
    fn without(&mut self, why: &'static str, name: &str, detail: &'static str) -> Result<Option<[u32; 3]>, Error> {
        self.plan.left_out = Some(why);
        self.note(name, detail);
        Ok(None)
    }

    /// Plans an array all rows of which are kept; `false` when too much of it is missing.
    fn whole_array(&mut self, name: &str, array: &Array, what: &str) -> bool {
        let size = array.npy.dtype.size();
        let bytes = array.npy.declared().saturating_mul(size);
        if array.missing > 0 && bytes > FILL && bytes / TIMES > array.npy.data.len() {
            return false;
        }
        if array.missing > 0 {
            let all = array.npy.declared();
            let (missing, all) = (grouped(array.missing), grouped(all));
            self.note(name, format!("cut short; {missing} of {all} {what} are filled with 0"));
            self.plan.lost_numbers = self.plan.lost_numbers.saturating_add(array.missing);
        }
        if let Some(why) = array.header {
            self.note(name, why);
        }
        self.count_zeroed(name, array);
        if array.missing > 0 || array.header.is_some() {
            self.keep_behind(name, array);
            self.plan.arrays.push(ArrayPlan {
                name: name.to_owned(),
                source: array.npy.clone(),
                keep: None,
                new_header: array.header.is_some(),
                fill: array.missing,
            });
        }
        true
    }

    /// Counts the numbers that were lost with the header.
    fn count_zeroed(&mut self, name: &str, array: &Array) {
        if array.zeroed > 0 {
            let n = crate::printable::count(array.zeroed, "number");
            let verb = if array.zeroed == 1 { "is" } else { "are" };
            self.note(name, format!("{n} behind the header {verb} zero as the header was"));
            self.plan.lost_numbers = self.plan.lost_numbers.saturating_add(array.zeroed);
        }
    }

    /// Lists the bytes behind an array that is written anew.
    fn keep_behind(&mut self, name: &str, array: &Array) {
        if array.behind > 0 {
            let n = crate::printable::count(array.behind, "byte");
            let verb = if array.behind == 1 { "goes" } else { "go" };
            self.note(name, format!("{n} behind the array {verb} to lost+found"));
        }
    }

    /// Plans a layer of blocks; returns its size if the description has it.
    fn sparse(&mut self) -> Result<Option<[u32; 3]>, Error> {
        let (index_name, data_name) =
            (self.layer.index_file.clone().unwrap_or_default(), self.layer.data_file.clone().unwrap_or_default());
        let declared = self.layer.block_count;
        let rows_of = |found: &Found| match found {
            Found::There(_, array) if array.header.is_none() && array.missing == 0 => array.npy.shape.first().copied(),
            _ => None,
        };
        // Either array may give the number of blocks that the other one needs.
        let first = self.open(Some(&data_name), Role::Data, &[])?;
        let asked: Vec<u64> = declared.into_iter().chain(rows_of(&first)).collect();
        let shapes: Vec<Vec<u64>> = asked.iter().map(|n| vec![*n, 3]).collect();
        let index = match self.open(Some(&index_name), Role::Index, &shapes)? {
            Found::There(source, array) => (source, array),
            Found::Useless(why) | Found::Missing(why) => {
                return self.without("the places of its blocks are lost", &index_name, why);
            }
        };
        let asked = declared.into_iter().chain(index.1.npy.shape.first().copied());
        let shapes: Vec<Vec<u64>> = asked.map(|n| vec![n, SIDE, SIDE, SIDE]).collect();
        let data = match self.open(Some(&data_name), Role::Data, &shapes)? {
            Found::There(source, array) => (source, array),
            Found::Useless(why) | Found::Missing(why) => return self.without("its voxels are lost", &data_name, why),
        };
        let (&[listed, 3], &[stored, SIDE, SIDE, SIDE]) = (index.1.npy.shape.as_slice(), data.1.npy.shape.as_slice())
        else {
            return self.without("its voxels cannot be located", &data_name, "its shape is not that of blocks");
        };
        if listed.min(stored) > self.limits.map_blocks as u64 {
            // More blocks than the limit: the layer is copied.
            return Ok(self.layer.dim);
        }
        self.blocks((&index_name, index, listed), (&data_name, data, stored))
    }

    fn blocks(
        &mut self,
        (index_name, (index_source, index), listed): (&str, (FileSource, Array), u64),
        (data_name, (data_source, data), stored): (&str, (FileSource, Array), u64),
    ) -> Result<Option<[u32; 3]>, Error> {
        let rows = Index::read_rows(&index_source, &index.npy, self.limits.map_blocks)
            .map_err(draft::Error::read(&self.dir.join(index_name)))?;
        let by_depths = self.dim_by_depths()?.filter(|dim| rows.rows().all(|(_, block)| is_inside(block, *dim)));
        let dim = by_depths.or(self.layer.dim);
        if let Some(dim) = by_depths {
            self.put("dim", json!(dim));
        }
        let known = u64::from(rows.len());
        let begun = if data.npy.fortran { stored } else { data.npy.there().div_ceil(BLOCK_VOXELS).min(stored) };
        // Blocks that are cut off are filled with 0, unless far too many are missing.
        let bytes = stored.saturating_mul(BLOCK_VOXELS).saturating_mul(data.npy.dtype.size());
        let fill = bytes <= FILL || bytes / TIMES <= data.npy.data.len();
        let usable = if fill { stored } else { begun };
        let mut gone: Vec<TakenOut> = Vec::new();
        let beyond = |block: &[i32; 3]| dim.is_some_and(|dim| !is_inside(*block, dim));
        let negative = |block: &[i32; 3]| block.iter().any(|n| *n < 0);
        let far = rows.rows().filter(|(_, block)| beyond(block) && !negative(block)).count() as u64;
        // Most blocks are outside of the layer: its size is wrong, or the index belongs to another layer. Nothing decides
        // which.
        let trust_dim = far * 2 <= known;
        for (row, block) in rows.rows() {
            let first = rows.find(block).filter(|first| *first < row);
            let number = u64::from(row);
            let there = number < begun;
            let why = if number >= usable {
                Some(("its voxels are not in the data", false))
            } else if let Some(first) = first {
                let path = self.dir.join(data_name);
                let same = told::same_rows(&data_source, &data.npy, u64::from(first), number)
                    .map_err(draft::Error::read(&path))?;
                Some(if same {
                    ("the same block as an earlier row", false)
                } else {
                    ("another block at the place of an earlier row", there)
                })
            } else if negative(&block) || (trust_dim && beyond(&block)) {
                Some(("a place outside of the layer", there))
            } else {
                None
            };
            if let Some((why, voxels)) = why {
                gone.push(TakenOut { row: number, block: Some(block), why, voxels });
            }
        }
        gone.extend((known..begun).map(|row| TakenOut {
            row,
            block: None,
            why: "no row of the index says where it belongs",
            voxels: true,
        }));
        let end = known.min(usable);
        let keep = kept(end, &gone);
        let count: u64 = keep.iter().map(|run| run.end - run.start).sum();
        if count == 0 && listed.max(stored) > 0 {
            self.plan.taken_out = gone;
            return self.without("no block of it is left", data_name, "none of its blocks can be used");
        }
        let missing = |last: u64| {
            let there = data.npy.there();
            if data.npy.fortran { data.missing } else { (last * BLOCK_VOXELS).saturating_sub(there) }
        };
        let last = keep.last().map_or(0, |run| run.end);
        for (name, array, rows, fill) in [(index_name, &index, listed, 0), (data_name, &data, stored, missing(last))] {
            // No gap before the last row, and none after it.
            let same_rows = last == count && count == rows;
            if same_rows && fill == 0 && array.header.is_none() {
                continue;
            }
            if fill > 0 {
                let are = if fill == 1 { "is" } else { "are" };
                self.note(name, format!("cut short; {} {are} filled with 0", crate::printable::count(fill, "voxel")));
                self.plan.lost_numbers = self.plan.lost_numbers.saturating_add(fill);
            }
            if let Some(why) = array.header {
                self.note(name, why);
            }
            if name == data_name {
                self.count_zeroed(name, array);
            }
            if !same_rows && name == index_name {
                let n = crate::printable::count(rows.saturating_sub(count), "row");
                let verb = if rows.saturating_sub(count) == 1 { "is" } else { "are" };
                self.note(name, format!("{n} {verb} taken out"));
            }
            self.keep_behind(name, array);
            self.plan.arrays.push(ArrayPlan {
                name: name.to_owned(),
                source: array.npy.clone(),
                keep: (!same_rows).then(|| keep.clone()),
                new_header: array.header.is_some(),
                fill,
            });
        }
        if !gone.is_empty() {
            let n = gone.len();
            self.note(
                data_name,
                if n == 1 { "1 block is taken out".into() } else { format!("{n} blocks are taken out") },
            );
        }
        self.plan.taken_out = gone;
        if self.layer.block_count != Some(count) {
            self.put("blockCount", json!(count));
        }
        if self.layer.block_size != Some(BLOCK) {
            self.put("blockSize", json!(BLOCK));
        }
        Ok(dim)
    }

    /// The size of a layer of blocks by its depth map, if that disagrees with the description, and its header with the length of its
    /// file does not.
    fn dim_by_depths(&mut self) -> Result<Option<[u32; 3]>, Error> {
        let Some([x, y, z]) = self.layer.dim else { return Ok(None) };
        let Some(name) = self.layer.depth_file.clone().filter(|name| !name.is_empty()) else { return Ok(None) };
        let Found::There(_, array) = self.open(Some(&name), Role::Depth, &[])? else { return Ok(None) };
        let size = |n: &u64| u32::try_from(*n).ok().filter(|n| *n > 0);
        let [Some(wide), Some(deep)] = array.npy.shape.iter().map(size).collect::<Vec<_>>()[..] else {
            return Ok(None);
        };
        let is_whole = array.header.is_none() && array.missing == 0 && array.behind == 0;
        Ok((is_whole && [wide, deep] != [x, z]).then_some([wide, y, deep]))
    }

    /// Plans the depth map of a layer of this size; a layer may go without one.
    fn depth(&mut self, [dx, _, dz]: [u32; 3]) -> Result<(), Error> {
        let Some(name) = self.layer.depth_file.clone().filter(|name| !name.is_empty()) else { return Ok(()) };
        let shape = vec![u64::from(dx), u64::from(dz)];
        let why = match self.open(Some(&name), Role::Depth, std::slice::from_ref(&shape))? {
            Found::There(_, array) if array.npy.shape != shape => "its shape is not that of the layer",
            Found::There(_, array) => {
                if self.whole_array(&name, &array, "depths") {
                    return Ok(());
                }
                "too little of it is there"
            }
            Found::Useless(why) | Found::Missing(why) => why,
        };
        self.put("depthFile", json!(""));
        self.note(&name, format!("{why}; the layer goes without depths"));
        self.plan.given_up.push(name);
        self.plan.loses_depths = true;
        Ok(())
    }
}

/// The rows up to `end` that are not taken out, in runs.
fn kept(end: u64, gone: &[TakenOut]) -> Vec<Range<u64>> {
    let mut runs = Vec::new();
    let mut at = 0;
    for row in gone.iter().map(|t| t.row).filter(|row| *row < end).chain([end]) {
        if row > at {
            runs.push(at..row);
        }
        at = row + 1;
    }
    runs
}

/// The header of an array with other rows.
pub(super) fn with_rows(npy: &Npy, rows: u64) -> Npy {
    let mut shape = npy.shape.clone();
    if let Some(first) = shape.first_mut() {
        *first = rows;
    }
    Npy { shape, ..npy.clone() }
}
