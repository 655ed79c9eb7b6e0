//! The tree of a save: what there is to open, in the order in which it is shown.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::godot::container::Decoder;
use crate::printable::printable;
use crate::recover::solutions::Solutions;
use crate::save::{File, Forest, Kind, Options, PakDir, Save, bare};
use crate::voxel_map::Map;
use crate::voxel_map::map_json::{FILE_NAME, Layer, plain_name};

/// Something that can be opened, by its number in [`Index::items`].
pub type ItemId = usize;

/// A line of the tree, by its number in [`Index::nodes`].
pub type NodeId = usize;

/// Something that can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// A region file: its forest and its number there.
    Region(usize, usize),
    /// A pak region: its pak_dir and its number there.
    Pak(usize, usize),
    /// An SQLite stream: its number.
    Stream(usize),
    /// A layer of a map: the map and the number of the layer.
    Layer(usize, usize),
    /// A file that describes others: `meta.vxrm`, `map_data.json`.
    Plain,
}

/// The kind of a line of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// All that was opened.
    Save,
    /// A forest, or loose region files.
    Forest(usize),
    /// A LOD of a forest.
    Lod(usize, u8),
    /// A directory of pak regions.
    PakDir(usize),
    /// A voxel map.
    Map(usize),
    /// Something that can be opened.
    Item(ItemId),
}

/// A line of the tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its kind.
    pub kind: NodeKind,
    /// Its name, printable.
    pub label: Box<str>,
    /// How deep it is; the save is at 0.
    pub depth: u8,
    /// The line above it that it belongs to.
    pub parent: Option<NodeId>,
    /// One past the last line that belongs to it.
    pub end: NodeId,
    /// The items that are it or belong to it.
    pub items: Range<ItemId>,
}

/// The tree of a save.
#[derive(Debug)]
pub struct Index {
    /// The save, as its voxels are read.
    pub save: Arc<Save>,
    /// The save as its options read it, which check and repair go by: another reading is one of their findings.
    pub checked: Arc<Save>,
    /// Where the blocks of its damaged regions belong, once a check or a plan found it.
    pub solutions: Solutions,
    /// What can be opened, in the order of the tree.
    pub items: Vec<Item>,
    /// Their paths.
    pub paths: Vec<PathBuf>,
    /// The lines, each before those that belong to it.
    pub nodes: Vec<Node>,
    /// Of a file that is no save: each kind that it was read as, and why it is not of it.
    pub tried: Vec<String>,
    /// Of a file that is no save but bare data: its kind and what was read of it, a clause each.
    pub bare: Vec<String>,
    node_of: Vec<NodeId>,
    by_name: HashMap<String, ItemId>,
}

/// The names of saves in a directory that may have several.
struct Labels<'s> {
    save: &'s Save,
    /// The number of saves of each directory.
    dirs: HashMap<&'s Path, usize>,
}

impl<'s> Labels<'s> {
    fn new(save: &'s Save) -> Self {
        let forests = save.forests.iter().map(|forest| &forest.dir);
        let others = save.pak_dirs.iter().map(|dir| &dir.dir).chain(save.maps.iter().map(|map| &map.dir));
        let mut dirs = HashMap::new();
        forests.chain(others).for_each(|dir| *dirs.entry(dir.as_path()).or_default() += 1);
        Self { save, dirs }
    }

    /// The name of a directory, with what is in it where it has several saves.
    fn label(&self, dir: &Path, what: &str) -> String {
        let name = self.save.shown(dir);
        if self.dirs.get(dir).is_some_and(|n| *n > 1) { format!("{name} ({what})") } else { name }
    }
}

impl Index {
    /// The tree of a save that is read otherwise than check and repair read it.
    #[must_use]
    pub fn read_as(save: Save, checked: Arc<Save>) -> Self {
        Self { checked, ..Self::new(save) }
    }

    /// Makes the tree of a save.
    #[must_use]
    pub fn new(save: Save) -> Self {
        let save = Arc::new(save);
        let mut index = Self {
            items: Vec::new(),
            paths: Vec::new(),
            nodes: Vec::new(),
            tried: Vec::new(),
            bare: Vec::new(),
            node_of: Vec::new(),
            by_name: HashMap::new(),
            save: Arc::clone(&save),
            checked: Arc::clone(&save),
            solutions: Solutions::default(),
        };
        let name = save
            .path
            .file_name()
            .map_or_else(|| crate::printable::path(&save.path), |name| crate::printable::path(name.as_ref()));
        // One forest, pak_dir or map that is all there is needs no line above it.
        let alone = save.count_saves() == 1;
        let dir = save.forests.first().map(|forest| &forest.dir);
        let dir = dir.or(save.pak_dirs.first().map(|pak_dir| &pak_dir.dir)).or(save.maps.first().map(|map| &map.dir));
        let dir = dir.or(save.streams.first().map(|stream| &stream.path));
        if alone && dir == Some(&save.path) {
            if let Some(forest) = save.forests.first() {
                index.forest(None, &name, 0, forest);
            }
            if let Some(pak_dir) = save.pak_dirs.first() {
                index.pak_dir(None, &name, 0, pak_dir);
            }
            if let Some(stream) = save.streams.first() {
                index.item_at(None, Item::Stream(0), stream.path.clone(), &name);
            }
            if let Some(map) = save.maps.first() {
                index.map(None, &name, 0, map);
            }
            return index;
        }
        let root = index.push(NodeKind::Save, &name, None);
        let labels = Labels::new(&save);
        for (number, forest) in save.forests.iter().enumerate() {
            let what = match forest.kind {
                Kind::Forest => "region forest",
                Kind::BlockFiles => "block files",
                Kind::Loose => "region files",
            };
            index.forest(Some(root), &labels.label(&forest.dir, what), number, forest);
        }
        for (number, pak_dir) in save.pak_dirs.iter().enumerate() {
            let room = printable(&pak_dir.room);
            let what = if room.is_empty() { "pak regions".to_owned() } else { format!("pak regions of room {room}") };
            index.pak_dir(Some(root), &labels.label(&pak_dir.dir, &what), number, pak_dir);
        }
        for (number, stream) in save.streams.iter().enumerate() {
            index.item(root, Item::Stream(number), stream.path.clone(), &save.shown(&stream.path));
        }
        for (number, map) in save.maps.iter().enumerate() {
            index.map(Some(root), &labels.label(&map.dir, "voxel map"), number, map);
        }
        index.close(root);
        index
    }

    /// Makes the tree of one file that is no save, to look at its bytes.
    ///
    /// # Errors
    /// A sentence, if the file cannot be read.
    pub fn of_bytes(path: &Path, options: &Options) -> Result<Self, String> {
        let shown = crate::printable::path(path);
        let bytes = bare::read_file(path, &options.limits).map_err(|error| format!("{shown}: {error}"))?;
        let layout = options.format.map(|format| format.layout());
        let mut index = Self::new(Save::of_nothing(path, options));
        index.nodes.clear();
        let name = path.file_name().map_or_else(|| shown.clone(), |name| crate::printable::path(name.as_ref()));
        // The path given by the user may be a link.
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        index.item_at(None, Item::Plain, real, &name);
        match bare::infer(&bytes, layout.as_ref(), &options.limits) {
            Ok((kind, why)) => {
                let (mut decoder, mut reversed) = (Decoder::default(), Vec::new());
                let read =
                    bare::read(kind, &bytes, layout.as_ref(), &options.limits, &mut decoder, &mut reversed).words();
                index.bare.push(format!("{}, inferred: {why}", kind.name()));
                index.bare.extend(read);
                index.bare.push(format!("`voxscope show {}` prints it", crate::printable::argument(path)));
            }
            Err(tried) => {
                index.tried.push("no file of a save, by its name and first bytes".to_owned());
                index.tried.extend(tried.iter().map(|tried| format!("not {}: {}", tried.kind.name(), tried.why)));
            }
        }
        Ok(index)
    }

    /// Whether this is the tree of a save, and not of one other file.
    #[must_use]
    pub const fn is_save(&self) -> bool {
        self.tried.is_empty() && self.bare.is_empty()
    }

    fn pak_dir(&mut self, root: Option<NodeId>, name: &str, number: usize, pak_dir: &PakDir) {
        let node = self.push(NodeKind::PakDir(number), name, root);
        for (at, file) in pak_dir.files.iter().enumerate() {
            self.item(node, Item::Pak(number, at), pak_dir.dir.join(&file.name), &crate::printable::path(&file.name));
        }
        self.close(node);
    }

    fn map(&mut self, root: Option<NodeId>, name: &str, number: usize, map: &Map) {
        let node = self.push(NodeKind::Map(number), name, root);
        self.item(node, Item::Plain, map.dir.join(FILE_NAME), FILE_NAME);
        for (at, layer) in map.layers().enumerate() {
            self.layer(node, number, at, layer);
        }
        self.close(node);
    }

    fn forest(&mut self, root: Option<NodeId>, name: &str, number: usize, forest: &Forest) {
        let node = self.push(NodeKind::Forest(number), name, root);
        if let Some(name) = forest.kind.meta_name() {
            let meta = forest.dir.join(name);
            if std::fs::symlink_metadata(&meta).is_ok_and(|data| data.is_file()) {
                self.item(node, Item::Plain, meta, name);
            }
        }
        let mut parent = node;
        let mut lod = None;
        for (at, file) in forest.regions.iter().enumerate() {
            if forest.kind != Kind::Loose && lod != Some(file.lod) {
                if lod.is_some() {
                    self.close(parent);
                }
                lod = Some(file.lod);
                parent = self.push(NodeKind::Lod(number, file.lod), &format!("lod{}", file.lod), Some(node));
            }
            let name = file.name.file_name().map_or_else(String::new, |name| crate::printable::path(name.as_ref()));
            self.item(parent, Item::Region(number, at), forest.dir.join(&file.name), &name);
        }
        if parent != node {
            self.close(parent);
        }
        self.close(node);
    }

    fn layer(&mut self, node: NodeId, map: usize, at: usize, layer: &Layer) {
        let save = Arc::clone(&self.save);
        let Some(dir) = save.maps.get(map).map(|map| map.dir.clone()) else { return };
        let plain = |name: &Option<String>| name.clone().filter(|name| plain_name(name).is_ok());
        let data = plain(&layer.data_file).map_or_else(|| dir.join(FILE_NAME), |name| dir.join(name));
        let label = layer.name.as_deref().map_or_else(|| format!("layer {at}"), printable);
        let item = self.item(node, Item::Layer(map, at), data, &label);
        // A finding may be about any of a layer's files.
        for name in [&layer.index_file, &layer.depth_file].into_iter().filter_map(plain) {
            self.by_name.entry(save.shown(&dir.join(name))).or_insert(item);
        }
    }

    fn push(&mut self, kind: NodeKind, label: &str, parent: Option<NodeId>) -> NodeId {
        let id = self.nodes.len();
        let depth = parent.and_then(|parent| self.nodes.get(parent)).map_or(0, |node| node.depth.saturating_add(1));
        let items = self.items.len()..self.items.len();
        self.nodes.push(Node { kind, label: label.into(), depth, parent, end: id + 1, items });
        id
    }

    fn item(&mut self, parent: NodeId, item: Item, path: PathBuf, label: &str) -> ItemId {
        self.item_at(Some(parent), item, path, label)
    }

    fn item_at(&mut self, parent: Option<NodeId>, item: Item, path: PathBuf, label: &str) -> ItemId {
        let id = self.items.len();
        self.by_name.entry(self.save.shown(&path)).or_insert(id);
        self.items.push(item);
        self.paths.push(path);
        let node = self.push(NodeKind::Item(id), label, parent);
        if let Some(node) = self.nodes.get_mut(node) {
            node.items = id..id + 1;
        }
        self.node_of.push(node);
        id
    }

    /// What was pushed since a line belongs to it.
    fn close(&mut self, node: NodeId) {
        let (end, items) = (self.nodes.len(), self.items.len());
        if let Some(node) = self.nodes.get_mut(node) {
            node.end = end;
            node.items.end = items;
        }
    }

    /// The line of an item.
    #[must_use]
    pub fn node_of(&self, item: ItemId) -> Option<NodeId> {
        self.node_of.get(item).copied()
    }

    /// The item of a line, when it is one.
    #[must_use]
    pub fn item_of(&self, node: NodeId) -> Option<ItemId> {
        match self.nodes.get(node)?.kind {
            NodeKind::Item(item) => Some(item),
            _ => None,
        }
    }

    /// The first file with blocks below a line, or the first of all.
    #[must_use]
    pub fn first_with_blocks(&self, node: NodeId) -> Option<ItemId> {
        let items = self.nodes.get(node)?.items.clone();
        let has_blocks = |item: &ItemId| !matches!(self.items.get(*item), Some(Item::Plain) | None);
        items.clone().find(has_blocks).or_else(|| items.into_iter().next())
    }

    /// The item that a finding's file is.
    #[must_use]
    pub fn by_name(&self, shown: &str) -> Option<ItemId> {
        self.by_name.get(shown).copied()
    }

    /// Whether it is a directory of several saves.
    #[must_use]
    pub fn has_several_saves(&self) -> bool {
        self.save.count_saves() > 1
    }

    /// The name of an item, as findings have it.
    #[must_use]
    pub fn shown(&self, item: ItemId) -> String {
        self.paths.get(item).map_or_else(String::new, |path| self.save.shown(path))
    }

    /// The file of an item, when it has blocks and is not one of several in it.
    #[must_use]
    pub fn file(&self, item: ItemId) -> Option<File<'_>> {
        match *self.items.get(item)? {
            Item::Region(forest, file) => {
                let forest = self.save.forests.get(forest)?;
                Some(File::Region(forest, forest.regions.get(file)?))
            }
            Item::Pak(pak_dir, file) => {
                let pak_dir = self.save.pak_dirs.get(pak_dir)?;
                Some(File::Pak(pak_dir, pak_dir.files.get(file)?))
            }
            Item::Stream(file) => Some(File::Stream(self.save.streams.get(file)?)),
            Item::Layer(map, _) => Some(File::Map(self.save.maps.get(map)?)),
            Item::Plain => None,
        }
    }

    /// Whether an item is a file in which a block of a LOD has its place.
    #[must_use]
    pub fn has_place(&self, item: ItemId, lod: u8, position: [i32; 3]) -> bool {
        match self.file(item) {
            Some(File::Region(_, file)) => {
                let size = file.header.as_ref().map(|header| header.format.region_size);
                size.is_some_and(|size| {
                    let mut axes = position.iter().zip(size).zip(file.position);
                    let inside = |((at, size), of): ((&i32, u16), i32)| at.div_euclid(i32::from(size).max(1)) == of;
                    file.lod == lod && axes.all(inside)
                })
            }
            Some(File::Stream(_)) => true,
            _ => false,
        }
    }

    /// The line that is the same in another tree: by the paths, or the nearest line above it that is still there.
    #[must_use]
    pub fn same_node(&self, other: &Self, node: NodeId) -> NodeId {
        let mut at = Some(node);
        while let Some(id) = at {
            let Some(line) = self.nodes.get(id) else { break };
            let found = match line.kind {
                NodeKind::Item(item) => {
                    let path = self.paths.get(item);
                    let same = |(_, p): &(ItemId, &PathBuf)| Some(*p) == path;
                    // Layers of a map can share a file: the same number among these.
                    let nth = self.paths.iter().take(item).filter(|p| Some(*p) == path).count();
                    other.paths.iter().enumerate().filter(same).nth(nth).and_then(|(item, _)| other.node_of(item))
                }
                kind => other.nodes.iter().position(|n| n.kind == kind && n.label == line.label),
            };
            if let Some(found) = found {
                return found;
            }
            at = line.parent;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saves_of_one_directory_have_different_names() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["current", "block-files", "pak-numbers", "map-sparse"] {
            let sample = crate::demo::samples().find(|sample| sample.name == name).unwrap();
            (sample.make)(dir.path()).unwrap();
        }
        let index = Index::new(Save::open(dir.path(), &Options::default()).unwrap());
        let branches = index.nodes.iter().filter(|node| node.depth == 1);
        let mut labels: Vec<&str> = branches.map(|node| &*node.label).collect();
        labels.sort_unstable();
        let all = labels.len();
        labels.dedup();
        assert_eq!((all, labels.len()), (4, 4), "{labels:?}");
        for what in ["region forest", "block files", "pak regions", "voxel map"] {
            assert!(labels.iter().any(|label| label.ends_with(&format!("({what})"))), "{labels:?}");
        }
    }
}
