//! The directory of a map.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bytes::{Span, index, len64};
use crate::damage::{Code, Damage, Value};
use crate::limits::Limits;
use crate::source::{FileSource, OpenError, Restoration, Source};
use crate::voxel_map::grid::{Fault, Grid, LayerFile};
use crate::voxel_map::map_json::{FILE_NAME, Layer, MapData, layer_spans, plain_name};

/// A map with its description.
#[derive(Clone, Debug)]
pub struct Map {
    /// The directory.
    pub dir: PathBuf,
    /// The description, if it can be read.
    pub data: Option<MapData>,
    /// Damage of the description.
    pub damage: Vec<Damage>,
    /// The bytes of each layer in the description, if that has damage.
    layer_spans: Vec<Span>,
    /// Bytes of the description.
    pub len: u64,
    /// How arrays are read that are not read as they are on disk, by their names: as a repair would write them.
    pub(crate) rewritten: BTreeMap<String, Arc<Restoration>>,
}

impl Map {
    /// Reads the description of the map in a directory.
    ///
    /// # Errors
    /// When `map_data.json` cannot be opened or read. Damage in it is no error.
    pub fn open(dir: &Path, limits: &Limits) -> Result<Self, OpenError> {
        let file = FileSource::open(&dir.join(FILE_NAME))?;
        let len = file.len();
        let mut map = Self {
            dir: dir.to_owned(),
            data: None,
            damage: Vec::new(),
            layer_spans: Vec::new(),
            len,
            rewritten: BTreeMap::new(),
        };
        if len > limits.map_json_bytes {
            let damage = Damage::new(Code::OverLimit, Span::sized(0, len), FILE_NAME);
            map.damage.push(damage.expected(Value::AtMost(limits.map_json_bytes)).found(Value::Number(len)));
            return Ok(map);
        }
        let mut text = Vec::new();
        file.read_into(0, index(len), &mut text)?;
        map.decode(&text);
        Ok(map)
    }

    /// Decodes the description.
    pub(crate) fn decode(&mut self, text: &[u8]) {
        self.len = len64(text);
        self.damage.clear();
        self.data = MapData::decode(text).report_to(&mut self.damage);
        let has_damaged_layers = self.data.is_some() && !self.damage.is_empty();
        self.layer_spans = if has_damaged_layers { layer_spans(text) } else { Vec::new() };
    }

    /// Bytes of the description and of all files that it names, as the file system has them.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let names = |layer: &Layer| [layer.data_file.clone(), layer.index_file.clone(), layer.depth_file.clone()];
        let names = self.layers().flat_map(names).flatten().filter(|name| plain_name(name).is_ok());
        let sizes = names.filter_map(|name| std::fs::symlink_metadata(self.dir.join(name)).ok());
        sizes.fold(self.len, |sum, metadata| sum.saturating_add(metadata.len()))
    }

    /// Files that belong to it and are there: the description and the arrays that it names.
    #[must_use]
    pub fn files(&self) -> usize {
        let names = |layer: &Layer| [layer.data_file.clone(), layer.index_file.clone(), layer.depth_file.clone()];
        let named: std::collections::BTreeSet<String> = self.layers().flat_map(names).flatten().collect();
        let is_there = |name: &&String| plain_name(name).is_ok() && self.dir.join(name).is_file();
        named.iter().filter(is_there).count().saturating_add(1)
    }

    /// All layers that the description has: `global`, if there is one, and then `locals` in their order.
    pub fn layers(&self) -> impl Iterator<Item = &Layer> {
        self.data.iter().flat_map(MapData::layers)
    }

    /// The number of the layer in which a damage of the description is.
    #[must_use]
    pub fn layer_of(&self, damage: &Damage) -> Option<usize> {
        self.layer_spans.iter().position(|span| *span == damage.span)
    }

    /// Opens the files of a layer. Nothing outside the map's directory is opened.
    #[must_use]
    pub fn grid(&self, layer: &Layer, limits: &Limits) -> Grid<FileSource> {
        let mut undone = Vec::new();
        let mut grid = Grid::open(layer, limits, |name| {
            let path = self.dir.join(name);
            if let Some(restoration) = self.rewritten.get(name) {
                return Ok(FileSource::open(&path)?.restored(Some(Arc::clone(restoration))));
            }
            let (source, damage) = FileSource::open_restored(&path)?;
            let part = match Some(name) {
                name if name == layer.index_file.as_deref() => LayerFile::Index,
                name if name == layer.depth_file.as_deref() => LayerFile::Depth,
                _ => LayerFile::Data,
            };
            undone.extend(damage.into_iter().map(|damage| Fault::new(part, damage)));
            Ok(source)
        });
        grid.faults.splice(0..0, undone);
        grid
    }
}
